import Git
import StringCatalog
import StringsTable

// The history of leaves: which commits gave a text or a state its value.
//
// As `git log FILE` does it, but by leaf: a commit in which the leaf is as in one of its parents has not touched it, and only
// that parent is followed. A sync of one parent has a second one in this sense, the source that it names in its trailer.

/// A commit in which leaves of one key became different, or in which their file became another.
public struct LeafEvent: Sendable {
    public let commit: Commit
    /// Where the file was then: of several tables the first that changed.
    public let path: TreePath
    /// What became different, against the first parent: the old and the new value, `nil` where there is none.
    public let changes: [(leaf: LeafPath, old: String?, new: String?)]
    /// The commit that the new values came from as they are, for a merge or a sync; `nil` where they were made here.
    public let origin: ObjectID?
    /// The files in which the texts stood, where they are of the other form than the one that was asked about: the tables from which
    /// a catalog was made, or the catalog from which texts came into a table.
    public var stoodIn: [TreePath] = []
    /// The tables from which this commit made the catalog: before it the history goes on in them. Empty for other commits.
    public var migratedFrom: [TreePath] = []
}

/// A commit by which a value came from another branch unchanged: a merge, or a sync of one parent.
public struct LeafPassage: Sendable {
    public let commit: Commit
    /// The commit that it came from.
    public let from: ObjectID
}

/// Where the leaves stand in a commit. Their places are named as in the file that was asked about, whatever the form is there.
enum LeafPlace: Hashable {
    case file(TreePath)
    /// Before a catalog was made of them: in the tables of all languages, which the catalog has under these codes.
    case tables(TableName, sourceLanguage: String, codes: [String])
    /// On a branch that has migrated: in the catalog from which they came into a table, of which this is the version they came into.
    case catalog(TreePath, asTable: TreeEntry)
}

/// The history of the leaves of one key, or of one language of it.
///
/// A working object: it keeps what it read of each version of the file as long as it lives.
final class LeafHistory {
    private let files: LocalizedFiles
    private let keys: Set<String>
    private let isMeant: (LocalizedFile, TableLanguage) -> [LeafPath: String]
    /// The language of a table.
    private let languageOfTable: (TreePath) throws(GitError) -> TableLanguage
    private let aliases: () throws(GitError) -> LanguageAliases
    private var leavesOfVersion: [Version: [LeafPath: String]] = [:]
    private var tableOfBlob: [ObjectID: TableDocument?] = [:]

    /// The blobs in which the leaves stand, and what they are read as.
    private struct Version: Hashable {
        let place: LeafPlace
        let blobs: [ObjectID]
    }

    private var repository: Repository { files.repository }

    /// More commits than this are not walked.
    static let commitsMax = 200_000
    /// Tables may have been removed so many commits before the catalog came.
    private static let migrationCommitsMax = 5

    /// - Parameter languages: those of the branch that one looks back from.
    init(of key: String, language: String?, in files: LocalizedFiles, languages: SourceLanguages) {
        self.files = files
        keys = [key]
        isMeant = { $0.leaves(of: key, language: language, in: $1) }
        languageOfTable = { path throws(GitError) in try languages.table(at: path) }
        aliases = { () throws(GitError) in try languages.aliases() }
    }

    /// Of these leaves and no others.
    init(of leaves: Set<LeafPath>, in files: LocalizedFiles, aliases: LanguageAliases = LanguageAliases()) {
        self.files = files
        keys = Set(leaves.compactMap(\.key))
        isMeant = { file, _ in
            leaves.reduce(into: [:]) { found, leaf in file.value(at: leaf, aliases: aliases).map { found[leaf] = $0 } }
        }
        languageOfTable = { path throws(GitError) in TableLanguage(path: path.description) }
        self.aliases = { () throws(GitError) in aliases }
    }

    /// What the leaves are in a commit; empty where the file, or the key in it, is not there or cannot be read.
    func leaves(in commit: ObjectID, at place: LeafPlace) throws(GitError) -> [LeafPath: String] {
        let entries = try entries(of: place, in: repository.tree(of: commit))
        guard !entries.isEmpty else { return [:] }
        let version = Version(place: place, blobs: entries.map(\.id))
        if let known = leavesOfVersion[version] { return known }
        let found = try leaves(in: entries, read: place)
        leavesOfVersion[version] = found
        return found
    }

    private func entries(of place: LeafPlace, in tree: ObjectID) throws(GitError) -> [TreeEntry] {
        switch place {
        case .file(let path), .catalog(let path, _):
            guard let entry = try repository.entry(at: path, in: tree), entry.mode.isFile else { return [] }
            return [entry]
        case .tables(let name, _, _): return try Standing(of: name, in: tree, repository).tables
        }
    }

    /// A version that cannot be read has no texts; the history goes on behind it.
    private func leaves(in entries: [TreeEntry], read place: LeafPlace) throws(GitError) -> [LeafPath: String] {
        switch place {
        case .file(let path):
            let language = try languageOfTable(path)
            return try files.file(entries[0], path: path).map { isMeant($0, language) } ?? [:]
        case .tables(_, let source, let codes):
            let tables = try tables(entries, source, codes).map(\.table)
            guard let catalog = try? CatalogDocument(parsing: migrated(tables, sourceLanguage: source).bytes) else { return [:] }
            // A table has no states: those that a migration gives are not of this time.
            return isMeant(.catalog(catalog), TableLanguage()).filter { $0.key.isText || $0.key.field == "comment" }
        case .catalog(let path, let table):
            guard let document = try files.file(entries[0], path: path)?.catalog else { return [:] }
            return try leaves(of: document, asIn: table)
        }
    }

    /// The leaves of a catalog as a table of one language names them; empty where they have no form there.
    private func leaves(of document: CatalogDocument, asIn entry: TreeEntry) throws(GitError) -> [LeafPath: String] {
        guard let kind = TableKind(path: entry.path.name), let model = try files.file(entry, path: entry.path)?.table else { return [:] }
        let source = document.sourceLanguage ?? "en"
        guard let own = TableLanguage(path: entry.path.description, sourceLanguage: source).code else { return [:] }
        let code = spelling(ofFolder: own, among: coverage(of: document).map(\.language), [own], try aliases())
        let language = TableLanguage(code: own, isSource: isSameLanguage(code, source))
        return (try? StringsTable.table(of: keys, in: document, like: LocalizedTable(language: code, kind: kind, document: model))).map { isMeant(.table($0, kind), language) } ?? [:]
    }

    /// The tables that count at run time, with nothing in them but the keys that are asked for.
    private func tables(_ entries: [TreeEntry], _ source: String, _ codes: [String]) throws(GitError) -> [(path: TreePath, table: LocalizedTable)] {
        var found: [(path: TreePath, table: LocalizedTable)] = []
        for entry in entries {
            guard entry.mode.isFile, let kind = TableKind(path: entry.path.name),
                let language = TableLanguage(path: entry.path.description, sourceLanguage: source).code, let document = try table(entry)
            else { continue }
            found.append((entry.path, LocalizedTable(language: language, kind: kind, document: document)))
        }
        let (folders, aliases) = (found.map(\.table.language), try aliases())
        found = found.map { path, table in
            (path, LocalizedTable(language: spelling(ofFolder: table.language, among: codes, folders, aliases), kind: table.kind, document: table.document))
        }
        return loaded(found, table: \.table) { $0.path.isInBaseFolder }
    }

    private func table(_ entry: TreeEntry) throws(GitError) -> TableDocument? {
        if let known = tableOfBlob[entry.id] { return known }
        let table = try files.file(entry, path: entry.path)?.table?.keeping(keys)
        tableOfBlob[entry.id] = .some(table)
        return table
    }

    /// The tables in which these leaves stand; all that have one of the keys where no leaves are given.
    private func paths(of leaves: [LeafPath]?, in commit: ObjectID, _ name: TableName, _ source: String, _ codes: [String]) throws(GitError) -> [TreePath] {
        try tables(Standing(of: name, in: repository.tree(of: commit), repository).tables, source, codes).filter { _, table in
            guard !table.document.entries.isEmpty else { return false }
            guard let languages = leaves?.compactMap(\.language), !languages.isEmpty else { return true }
            return languages.contains { isSameLanguage($0, table.language) }
        }.map(\.path)
    }

    /// Walks back from a commit and tells each event, each passage, and each migration, newest first, until the closure says that it has
    /// seen enough.
    ///
    /// - Parameters:
    ///   - leaf: the one leaf to follow; `nil` for all.
    ///   - everyLine: also follows what did not come out of a merge. A passage is then an event, against the first parent.
    func walk(
        from tip: ObjectID, at path: TreePath, following leaf: LeafPath? = nil, everyLine: Bool = false, _ tell: (LeafStep) -> Bool
    ) throws(GitError) {
        var queue = [(commit: try repository.commit(tip), place: LeafPlace.file(path))]
        var seen: Set<ObjectID> = [tip]
        var count = 0
        while let (commit, place) = queue.popLast() {
            count += 1
            guard count <= Self.commitsMax else {
                throw GitError(.limit, stage: "walk the history of \(path)", detail: "it has more than \(Self.commitsMax) commits")
            }
            let (steps, origins) = try steps(to: commit, at: place, following: leaf, everyLine: everyLine)
            for step in steps { guard tell(step) else { return } }
            for origin in origins {
                guard let place = origin.place, seen.insert(origin.id).inserted else { continue }
                let next = try repository.commit(origin.id)
                // Newest last, so that it is taken first; a history has few lines at a time.
                let at = queue.firstIndex { $0.commit.committer.seconds >= next.committer.seconds } ?? queue.count
                queue.insert((next, place), at: at)
            }
        }
    }

    /// A commit from which another one has its leaves.
    private typealias Origin = (id: ObjectID, place: LeafPlace?, leaves: [LeafPath: String])

    /// What a commit did to the leaves, and from where the history goes on.
    private func steps(
        to commit: Commit, at place: LeafPlace, following leaf: LeafPath?, everyLine: Bool
    ) throws(GitError) -> (steps: [LeafStep], origins: [Origin]) {
        func state(_ commit: ObjectID, _ place: LeafPlace?) throws(GitError) -> [LeafPath: String] {
            guard let place else { return [:] }
            let all = try leaves(in: commit, at: place)
            return leaf.map { leaf in all.filter { $0.key == leaf } } ?? all
        }
        let now = try state(commit.id, place)
        var origins: [Origin] = []
        for id in commit.parents + [PartialSync(commit)?.source].compactMap({ $0 }) {
            let place = try self.place(of: place, in: id, before: commit)
            origins.append((id, place, try state(id, place)))
        }
        let parents = origins.prefix(commit.parents.count)
        func migration() throws(GitError) -> [LeafStep] {
            try self.migration(commit, at: place, from: parents, of: leaf.map { [$0] } ?? Array(now.keys))
        }
        let same = origins.firstIndex { isSame($0.leaves, now) }
        if let same, !everyLine || same == 0 {
            let passage = same > 0 && !now.isEmpty ? [LeafStep.passage(LeafPassage(commit: commit, from: origins[same].id))] : []
            return (passage + (same < parents.count ? try migration() : []), everyLine ? origins : [origins[same]])
        }
        let old = origins.first?.leaves ?? [:]
        let changed = Set(old.keys).union(now.keys).sorted { $0.isListed(before: $1) }
            .filter { !isSameText(old[$0], now[$0]) }.map { (leaf: $0, old: old[$0], new: now[$0]) }
        guard !changed.isEmpty else { return ([], origins) }
        let event = try event(commit, place, changed, origin: same.map { origins[$0].id }, commit.parents.first)
        return (try [.event(event)] + migration(), origins)
    }

    /// The step of a commit that made its catalog of tables; none for other commits.
    private func migration(_ commit: Commit, at place: LeafPlace, from parents: ArraySlice<Origin>, of leaves: [LeafPath]) throws(GitError) -> [LeafStep] {
        guard case .file = place else { return [] }
        for origin in parents where !origin.leaves.isEmpty {
            guard case .tables(let name, let source, let codes)? = origin.place else { continue }
            let tables = try paths(of: leaves, in: origin.id, name, source, codes)
            return tables.isEmpty ? [] : [.migration(commit, tables)]
        }
        return []
    }

    private func event(
        _ commit: Commit, _ place: LeafPlace, _ changed: [(leaf: LeafPath, old: String?, new: String?)], origin: ObjectID?, _ parent: ObjectID?
    ) throws(GitError) -> LeafEvent {
        switch place {
        case .file(let path): return LeafEvent(commit: commit, path: path, changes: changed, origin: origin)
        case .tables(let name, let source, let codes):
            var tables = try paths(of: changed.map(\.leaf), in: commit.id, name, source, codes)
            // A text that went stood there before.
            if tables.isEmpty, let parent { tables = try paths(of: changed.map(\.leaf), in: parent, name, source, codes) }
            return LeafEvent(commit: commit, path: tables.first ?? name.catalog, changes: changed, origin: origin, stoodIn: tables)
        case .catalog(let path, _): return LeafEvent(commit: commit, path: path, changes: changed, origin: origin, stoodIn: [path])
        }
    }

    /// When each leaf was last touched, seen from a commit: the author's date. Leaves that never were there have none.
    func lastTouched(_ leaf: LeafPath, from tip: ObjectID, at path: TreePath) throws(GitError) -> Int64? {
        var seconds: Int64?
        try walk(from: tip, at: path, following: leaf) { step in
            guard case .event(let event) = step else { return true }
            seconds = event.commit.author.seconds
            return false
        }
        return seconds
    }

    /// Where the leaves were in a parent: at their path, or where the file was renamed from, or in the tables of which the commit
    /// made the catalog.
    private func place(of place: LeafPlace, in parent: ObjectID, before commit: Commit) throws(GitError) -> LeafPlace? {
        let tree = try repository.tree(of: parent)
        func formerPath(of path: TreePath) throws(GitError) -> TreePath? {
            try repository.changes(from: tree, to: commit.tree, findingRenames: true).first { $0.new?.path == path && $0.old != nil }?.old?.path
        }
        switch place {
        case .file(let path):
            if try repository.entry(at: path, in: tree) != nil { return place }
            guard let entry = try repository.entry(at: path, in: commit.tree) else { return nil }
            if let former = try formerPath(of: path), (TableKind(path: former.name) == nil) == (TableKind(path: path.name) == nil) { return .file(former) }
            guard let name = TableName(of: path) else { return nil }
            guard TableKind(path: path.name) == nil else {
                return try repository.entry(at: name.catalog, in: tree) != nil ? .catalog(name.catalog, asTable: entry) : nil
            }
            guard try hasTables(name, near: parent) else { return nil }
            let document = try files.file(entry, path: path)?.catalog
            return .tables(name, sourceLanguage: document?.sourceLanguage ?? "en", codes: document.map { coverage(of: $0).map(\.language) } ?? [])
        case .tables(let name, let source, let codes):
            let standing = try Standing(of: name, in: tree, repository)
            if !standing.tables.isEmpty { return place }
            if standing.catalog != nil { return .file(name.catalog) }
            for table in try Standing(of: name, in: commit.tree, repository).tables {
                if let former = try formerPath(of: table.path).flatMap({ TableName(of: $0) }) { return .tables(former, sourceLanguage: source, codes: codes) }
            }
            return try hasTables(name, near: parent) ? place : nil
        case .catalog(let path, let table):
            if try repository.entry(at: path, in: tree) != nil { return place }
            return try repository.entry(at: table.path, in: tree) != nil ? .file(table.path) : nil
        }
    }

    /// Whether a commit or one shortly before it has tables of a name: they may have been removed before the catalog came.
    private func hasTables(_ name: TableName, near commit: ObjectID) throws(GitError) -> Bool {
        var next: ObjectID? = commit
        for _ in 0..<Self.migrationCommitsMax {
            guard let id = next else { return false }
            if try !Standing(of: name, in: repository.tree(of: id), repository).tables.isEmpty { return true }
            next = try repository.commit(id).parents.first
        }
        return false
    }
}

/// What a walk tells.
enum LeafStep {
    case event(LeafEvent)
    case passage(LeafPassage)
    /// A commit that made the catalog of these tables; the walk goes on in them.
    case migration(Commit, [TreePath])
}

private func isSame(_ a: [LeafPath: String], _ b: [LeafPath: String]) -> Bool { a.count == b.count && a.allSatisfy { isSameText(b[$0.key], $0.value) } }

// MARK: - Questions

/// Why one leaf is as it is.
public struct LeafReason: Sendable {
    public let leaf: LeafPath
    public let value: String
    /// The commit that gave it this value; `nil` only in a history that is cut short.
    public let event: LeafEvent?
    /// By which merges and syncs the value came from there, the last one first.
    public let passages: [LeafPassage]
    /// The commit that brought it from a table into a catalog, and the table; `nil` where that never happened, or before it was set.
    public let migration: (commit: Commit, tables: [TreePath])?
    /// What syncs decided about it on the way, and what it took the place of.
    public let decisions: [RecordedDecision]
    public let losses: [LostText]
}

/// Questions about the texts of one branch, tag or commit.
public struct CatalogHistory {
    let repository: Repository
    /// The commit from which one looks back.
    public let tip: ObjectID

    /// - Parameter name: a branch (`main`), a ref (`refs/tags/v1`), or a commit in full.
    public init(at name: String, in repository: Repository) throws(BranchEditError) {
        self.repository = repository
        do throws(GitError) {
            let candidates = name.hasPrefix("refs/") ? [RefName(name)] : [RefName.branch(name), RefName("refs/tags/" + name), RefName("refs/remotes/" + name)]
            for case let ref? in candidates {
                if let found = try repository.tip(of: ref) {
                    tip = found
                    return
                }
            }
            guard let id = ObjectID(hex: name) else { throw GitError(.notFound, stage: "look at \(name)", detail: "it is no branch, tag or commit") }
            tip = try repository.commit(id).id
        } catch {
            throw .git(error)
        }
    }

    /// Whether the commit has a file there.
    public func hasFile(at path: TreePath) throws(GitError) -> Bool {
        try repository.entry(at: path, in: repository.tree(of: tip))?.mode.isFile == true
    }

    /// The catalog that has taken the place of a table; `nil` where there is none.
    public func catalog(inPlaceOf path: TreePath) throws(GitError) -> TreePath? {
        guard TableKind(path: path.name) != nil, let name = TableName(of: path) else { return nil }
        return try hasFile(at: name.catalog) ? name.catalog : nil
    }

    /// The history of a key, or of one language of it, newest first.
    public func events(of key: String, language: String?, at path: TreePath) throws(GitError) -> [LeafEvent] {
        var events: [LeafEvent] = []
        try LeafHistory(of: key, language: language, in: LocalizedFiles(repository), languages: SourceLanguages(in: tip, of: repository)).walk(from: tip, at: path, everyLine: true) { step in
            switch step {
            case .event(let event): events.append(event)
            case .passage: break
            case .migration(let commit, let tables):
                if events.last?.commit.id == commit.id {
                    events[events.count - 1].migratedFrom = tables
                } else {
                    events.append(LeafEvent(commit: commit, path: path, changes: [], origin: nil, migratedFrom: tables))
                }
            }
            return true
        }
        return events
    }

    /// Why each leaf of a key, or of one language of it, is as it is; empty where there is no such text.
    public func reasons(for key: String, language: String?, at path: TreePath) throws(GitError) -> [LeafReason] {
        let history = LeafHistory(of: key, language: language, in: LocalizedFiles(repository), languages: SourceLanguages(in: tip, of: repository))
        let ledger = try Ledger(repository).contents()
        let present = try history.leaves(in: tip, at: .file(path)).sorted { $0.key.isListed(before: $1.key) }
        var reasons: [LeafReason] = []
        for (leaf, value) in present {
            var event: LeafEvent?
            var passages: [LeafPassage] = []
            var migration: (commit: Commit, tables: [TreePath])?
            try history.walk(from: tip, at: path, following: leaf) { step in
                switch step {
                case .passage(let passage): passages.append(passage)
                case .event(let found): event = found
                case .migration(let commit, let tables): migration = (commit, tables)
                }
                return event == nil
            }
            let commits = Set(passages.map(\.commit.id) + [migration?.commit.id].compactMap { $0 } + [event?.commit.id].compactMap { $0 })
            func concerns(_ other: LeafPath) -> Bool {
                other.key == leaf.key && (other.language == nil || other.language == leaf.language)
                    && (other.field == nil || other.field == leaf.field || leaf.field?.hasPrefix(other.field! + ".") == true
                        // The same text in its other form.
                        || leaf.isCounterpart(ofCatalogLeaf: other) || other.isCounterpart(ofCatalogLeaf: leaf))
            }
            reasons.append(LeafReason(
                leaf: leaf, value: value, event: event, passages: passages, migration: migration,
                decisions: ledger.decisions.filter { commits.contains($0.sync.commit) && concerns($0.leaf) },
                losses: ledger.losses.filter { commits.contains($0.sync.commit) && concerns($0.leaf) }))
        }
        return reasons
    }
}

extension LeafEvent {
    /// The events as one JSON array, one object a line.
    public static func json(_ events: [LeafEvent]) -> String {
        let lines = events.map { event in
            JSON.object([
                "commit": .string(event.commit.id.hex), "author": .string("\(event.commit.author.name) <\(event.commit.author.email)>"),
                "time": .number(Int(event.commit.author.seconds)), "subject": .string(event.commit.subject), "file": .string(event.path.description),
                "stoodIn": .list(event.stoodIn.map { .string($0.description) }), "migratedFrom": .list(event.migratedFrom.map { .string($0.description) }),
                "changes": .list(event.changes.map { leaf, old, new in
                    .object([
                        "language": .string(ifPresent: leaf.language), "field": .string(ifPresent: leaf.field), "old": .string(ifPresent: old),
                        "new": .string(ifPresent: new),
                    ])
                }),
            ]).description
        }
        return lines.isEmpty ? "[]\n" : "[\n  " + lines.joined(separator: ",\n  ") + "\n]\n"
    }
}
