import Git
import StringCatalog

// The history of leaves: which commits gave a text or a state its value.
//
// As `git log FILE` does it, but by leaf: a commit in which the leaf is as in one of its parents has not touched it, and only
// that parent is followed. A sync of one parent has a second one in this sense, the source that it names in its trailer.

/// A commit in which leaves of one key became different.
public struct LeafEvent: Sendable {
    public let commit: Commit
    /// Where the file was then.
    public let path: TreePath
    /// What became different, against the first parent: the old and the new value, `nil` where there is none.
    public let changes: [(leaf: LeafPath, old: String?, new: String?)]
    /// The commit that the new values came from as they are, for a merge or a sync; `nil` where they were made here.
    public let origin: ObjectID?
}

/// A commit by which a value came from another branch unchanged: a merge, or a sync of one parent.
public struct LeafPassage: Sendable {
    public let commit: Commit
    /// The commit that it came from.
    public let from: ObjectID
}

/// The history of the leaves of one key, or of one language of it.
///
/// A working object: it keeps what it read of each version of the file as long as it lives.
final class LeafHistory {
    private let repository: Repository
    private let isMeant: (LocalizedFile, TreePath) -> [LeafPath: String]
    private let bytesMax: Int
    private var leavesOfBlob: [ObjectID: [LeafPath: String]] = [:]

    /// More commits than this are not walked.
    static let commitsMax = 200_000

    init(of key: String, language: String?, in repository: Repository, bytesMax: Int = CatalogBranch.catalogBytesMax) {
        self.repository = repository
        self.bytesMax = bytesMax
        isMeant = { $0.leaves(of: key, language: language, at: $1) }
    }

    /// Of these leaves and no others.
    init(
        of leaves: Set<LeafPath>, in repository: Repository, aliases: LanguageAliases = LanguageAliases(), bytesMax: Int = CatalogBranch.catalogBytesMax
    ) {
        self.repository = repository
        self.bytesMax = bytesMax
        isMeant = { file, _ in
            leaves.reduce(into: [:]) { found, leaf in file.value(at: leaf, aliases: aliases).map { found[leaf] = $0 } }
        }
    }

    /// What the leaves are in a commit; empty where the file, or the key in it, is not there or cannot be read.
    func leaves(in commit: ObjectID, at path: TreePath) throws(GitError) -> [LeafPath: String] {
        guard let entry = try repository.entry(at: path, in: repository.tree(of: commit)), entry.mode.isFile else { return [:] }
        if let known = leavesOfBlob[entry.id] { return known }
        let bytes = try repository.blob(entry.id, bytesMax: bytesMax).array
        // A version that cannot be read has no texts; the history goes on behind it.
        let found = (try? LocalizedFile(parsing: Bytes(bytes), path: path.description)).map { isMeant($0, path) } ?? [:]
        leavesOfBlob[entry.id] = found
        return found
    }

    /// Walks back from a commit and tells each event, and each passage, newest first, until the closure says that it has seen enough.
    ///
    /// - Parameters:
    ///   - leaf: the one leaf to follow; `nil` for all.
    ///   - everyLine: also follows what did not come out of a merge. A passage is then an event, against the first parent.
    func walk(
        from tip: ObjectID, at path: TreePath, following leaf: LeafPath? = nil, everyLine: Bool = false, _ tell: (LeafStep) -> Bool
    ) throws(GitError) {
        func state(_ commit: ObjectID, _ path: TreePath?) throws(GitError) -> [LeafPath: String] {
            guard let path else { return [:] }
            let all = try leaves(in: commit, at: path)
            return leaf.map { leaf in all.filter { $0.key == leaf } } ?? all
        }
        var queue = [(commit: try repository.commit(tip), path: path)]
        var seen: Set<ObjectID> = [tip]
        var count = 0
        while let (commit, path) = queue.popLast() {
            count += 1
            guard count <= Self.commitsMax else {
                throw GitError(.limit, stage: "walk the history of \(path)", detail: "it has more than \(Self.commitsMax) commits")
            }
            let now = try state(commit.id, path)
            var origins: [(id: ObjectID, path: TreePath?, leaves: [LeafPath: String])] = []
            for id in commit.parents + [PartialSync(commit)?.source].compactMap({ $0 }) {
                let place = try self.place(of: path, in: id, before: commit)
                origins.append((id, place, try state(id, place)))
            }
            func follow(_ origin: (id: ObjectID, path: TreePath?, leaves: [LeafPath: String])) throws(GitError) {
                guard let place = origin.path, seen.insert(origin.id).inserted else { return }
                let next = try repository.commit(origin.id)
                // Newest last, so that it is taken first; a history has few lines at a time.
                let at = queue.firstIndex { $0.commit.committer.seconds >= next.committer.seconds } ?? queue.count
                queue.insert((next, place), at: at)
            }
            let same = origins.firstIndex { isSame($0.leaves, now) }
            if let same, !everyLine || same == 0 {
                if same > 0, !now.isEmpty, !tell(.passage(LeafPassage(commit: commit, from: origins[same].id))) { return }
                try follow(origins[same])
                if !everyLine { continue }
            }
            let old = origins.first?.leaves ?? [:]
            let changed = Set(old.keys).union(now.keys).sorted { ($0.language ?? "", $0.field ?? "") < ($1.language ?? "", $1.field ?? "") }
                .filter { !isSame(old[$0], now[$0]) }.map { (leaf: $0, old: old[$0], new: now[$0]) }
            let event = LeafEvent(commit: commit, path: path, changes: changed, origin: same.map { origins[$0].id })
            if !changed.isEmpty, !tell(.event(event)) { return }
            for origin in origins { try follow(origin) }
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

    /// Where the file was in a parent: at its path, or where it was renamed from.
    private func place(of path: TreePath, in parent: ObjectID, before commit: Commit) throws(GitError) -> TreePath? {
        let tree = try repository.tree(of: parent)
        if try repository.entry(at: path, in: tree) != nil { return path }
        guard try repository.entry(at: path, in: commit.tree) != nil else { return nil }
        return try repository.changes(from: tree, to: commit.tree, findingRenames: true).first { $0.new?.path == path && $0.old != nil }?.old?.path
    }
}

/// What a walk tells.
enum LeafStep {
    case event(LeafEvent)
    case passage(LeafPassage)
}

/// Texts are the same if their Unicode scalars are.
private func isSame(_ a: String?, _ b: String?) -> Bool {
    switch (a, b) {
    case (nil, nil): true
    case (let a?, let b?): a.utf8.elementsEqual(b.utf8)
    default: false
    }
}

private func isSame(_ a: [LeafPath: String], _ b: [LeafPath: String]) -> Bool { a.count == b.count && a.allSatisfy { isSame(b[$0.key], $0.value) } }

// MARK: - Questions

/// Why one leaf is as it is.
public struct LeafReason: Sendable {
    public let leaf: LeafPath
    public let value: String
    /// The commit that gave it this value; `nil` only in a history that is cut short.
    public let event: LeafEvent?
    /// By which merges and syncs the value came from there, the last one first.
    public let passages: [LeafPassage]
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

    /// The history of a key, or of one language of it, newest first.
    public func events(of key: String, language: String?, at path: TreePath) throws(GitError) -> [LeafEvent] {
        var events: [LeafEvent] = []
        try LeafHistory(of: key, language: language, in: repository).walk(from: tip, at: path, everyLine: true) { step in
            if case .event(let event) = step { events.append(event) }
            return true
        }
        return events
    }

    /// Why each leaf of a key, or of one language of it, is as it is; empty where there is no such text.
    public func reasons(for key: String, language: String?, at path: TreePath) throws(GitError) -> [LeafReason] {
        let history = LeafHistory(of: key, language: language, in: repository)
        let ledger = try Ledger(repository).contents()
        let present = try history.leaves(in: tip, at: path).sorted { ($0.key.language ?? "", $0.key.field ?? "") < ($1.key.language ?? "", $1.key.field ?? "") }
        var reasons: [LeafReason] = []
        for (leaf, value) in present {
            var event: LeafEvent?
            var passages: [LeafPassage] = []
            try history.walk(from: tip, at: path, following: leaf) { step in
                switch step {
                case .passage(let passage): passages.append(passage)
                case .event(let found): event = found
                }
                return event == nil
            }
            let commits = Set(passages.map(\.commit.id) + [event?.commit.id].compactMap { $0 })
            func concerns(_ other: LeafPath) -> Bool {
                other.key == leaf.key && (other.language == nil || other.language == leaf.language)
                    && (other.field == nil || other.field == leaf.field || leaf.field?.hasPrefix(other.field! + ".") == true)
            }
            reasons.append(LeafReason(
                leaf: leaf, value: value, event: event, passages: passages,
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
