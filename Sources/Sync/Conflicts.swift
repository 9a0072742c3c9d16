import Git
import Linux
import StringCatalog
import StringsTable

/// A place that a sync holds back until a person decides, with both ends of the sync.
public struct SyncConflict: Sendable {
    /// The branch that is written: "ours".
    public let target: Ref
    /// The branch whose change is held back: "theirs".
    public let source: Ref
    public let held: Held

    /// The same conflict as the sync the other way round has it.
    public var exchanged: SyncConflict {
        SyncConflict(
            target: source, source: target,
            held: Held(file: held.file, leaf: held.leaf, base: held.base, ours: held.theirs, theirs: held.ours, why: held.why, language: held.language))
    }

    /// One JSON object on one line.
    public var json: String {
        JSON.object([
            "target": .string(target.name.full), "source": .string(source.name.full), "file": .string(held.file.description),
            "key": .string(ifPresent: held.leaf?.key), "language": .string(ifPresent: held.leaf?.language), "field": .string(ifPresent: held.leaf?.field),
            "base": .string(ifPresent: held.base), "ours": .string(ifPresent: held.ours), "theirs": .string(ifPresent: held.theirs),
            "why": .string(held.why),
        ]).description
    }
}

/// The side that a person takes, or another text.
public enum ConflictChoice: Sendable, Equatable {
    case ours, theirs
    case text(String)
}

/// What waits for a person in a repository: found anew from its branches each time, since nothing else is stored.
public struct Conflicts {
    private let files: LocalizedFiles
    private let settings: RepositorySettings

    private var repository: Repository { files.repository }

    /// The conflicts of all syncs in `settings`.
    public init(in repository: Repository, _ settings: RepositorySettings) {
        files = LocalizedFiles(repository, bytesMax: settings.catalogBytesMax)
        self.settings = settings
    }

    /// One rule, `from` into `into`, as a configuration would have it.
    ///
    /// - Returns: `nil` if one of the names is no branch or pattern of branches.
    public static func settings(path: String, from: String, into: String, source: SyncRule.End, catalogs: [String] = []) -> RepositorySettings? {
        guard let from = RefPattern(from), let into = RefPattern(into) else { return nil }
        var settings = RepositorySettings(name: "repository", path: path)
        settings.rules = [SyncRule(name: "conflicts", from: from, into: into, source: source)]
        if !catalogs.isEmpty { settings.catalogs = catalogs.map { PathGlob($0) } }
        return settings
    }

    /// Every held place, and the sentences about syncs that are blocked as a whole. The way back of a sync holds the same places as
    /// the way there and is not listed again.
    public func all() throws(GitError) -> (held: [SyncConflict], blocked: [String]) {
        var found: [SyncConflict] = []
        var blocked: [String] = []
        let resolutions = try RememberedResolutions(repository).byFile()
        let files = LocalizedFiles(try Repository(opening: repository.path, keepingObjects: false), bytesMax: settings.catalogBytesMax)
        let (steps, _) = plan(settings.rules, tips: try repository.refs(under: "refs/heads/"))
        for step in steps {
            var reconciliation = Reconciliation(
                files: files, settings: settings, committer: .init(name: "Concord", email: "concord@localhost"), isDryRun: true,
                now: wallClockSeconds(), resolutions: resolutions)
            _ = try reconciliation.followTree(of: step)
            var held: [Held] = []
            switch try reconciliation.verdict(on: step) {
            case .inStep(let places, _): held = places
            case .move(let move): held = move.held
            case .blocked(let why): blocked.append("\(step): \(why)")
            }
            for place in held {
                let isKnown = found.contains {
                    $0.target.name == step.source.name && $0.source.name == step.target.name && $0.held.isSamePlace(as: place)
                }
                if !isKnown { found.append(SyncConflict(target: step.target, source: step.source, held: place)) }
            }
        }
        return (found, blocked)
    }

    /// Decides one conflict: commits what was chosen on its target, in the name of `person`, and remembers the decision. Where
    /// ours was chosen there is nothing to commit: the next sync does what was decided.
    ///
    /// Both are written under the lock of the branch, the memory first.
    public func decide(_ conflict: SyncConflict, _ choice: ConflictChoice, on branch: CatalogBranch, by person: Signature) throws(BranchEditError) -> BranchEdit {
        let held = conflict.held
        guard let leaf = held.leaf else { return try decideFile(conflict, choice, on: branch, by: person) }
        guard leaf.key != nil || leaf.field == "sourceLanguage" else { throw .absent("\(held.file): \(held.why); nothing can be decided about that here") }
        if case .text = choice, leaf.field == nil {
            throw .absent("it is about all of \(held.place), which --ours or --theirs decides; a text cannot")
        }
        let chosen: String? = switch choice {
        case .ours: held.ours
        case .theirs: held.theirs
        case .text(let text): text
        }
        let resolution = Resolution(path: leaf, base: held.base, one: held.ours, other: held.theirs, chosen: chosen)
        let memory = RememberedResolutions(repository)
        guard choice != .ours else { return try remember(resolution, held.file, by: person) }
        guard try branch.hasFile(held.file) else {
            throw .absent("\(branch.name.shorthand) has tables in the place of \(held.file), and they cannot say it; take --ours, or edit the tables by hand")
        }
        let incoming = choice == .theirs && leaf.key != nil ? try theirs(conflict) : nil
        if choice == .theirs, leaf.key != nil, leaf.field == nil, incoming == nil {
            throw .absent("a catalog cannot say what the tables of \(conflict.source.name.shorthand) have of \(held.place); take --ours, or put it in by hand and then take --ours")
        }
        let message = """
            Decide \(held.place)

            \(held.file): \(chosen.map { printable($0) } ?? "removed")
            \(conflict.target.name.shorthand) had: \(held.ours.map { printable($0) } ?? "nothing")
            \(conflict.source.name.shorthand) had: \(held.theirs.map { printable($0) } ?? "nothing")

            """
        let language = try language(of: held.file, on: branch)
        return try branch.edit(held.file, message: message, author: person) { () throws(GitError) in
            try memory.remember(resolution, file: held.file, by: person)
        } _: { file throws(EditFault) in
            // A text of a table has no state; nobody has looked at it here.
            guard let incoming else { return try file.setting(chosen ?? "", state: choice == .theirs ? "needs_review" : "translated", at: leaf, in: language) }
            return try file.taking(leaf, from: incoming, in: language)
        }
    }

    /// The language of a table; what the configuration says about source texts comes first.
    private func language(of path: TreePath, on branch: CatalogBranch) throws(BranchEditError) -> TableLanguage {
        guard let source = settings.sourceLanguage, TableKind(path: path.name) != nil else { return try branch.language(ofTable: path) }
        return TableLanguage(path: path.description, sourceLanguage: source)
    }

    /// Remembers a decision by which the target stays as it is.
    private func remember(_ resolution: Resolution, _ file: TreePath, by person: Signature) throws(BranchEditError) -> BranchEdit {
        let swap = try BranchEditError.wrapping { () throws(GitError) in try RememberedResolutions(repository).remember(resolution, file: file, by: person) }
        switch swap {
        case .swapped: return .unchanged
        case .lost: return .blocked("the decisions are being written by others; try later")
        case .locked(let path, let age): return .blocked("\(path) is held by another process for \(age) s; if none is running, remove the file")
        }
    }

    /// Decides about a file as a whole, where one side or the other can have it.
    private func decideFile(_ conflict: SyncConflict, _ choice: ConflictChoice, on branch: CatalogBranch, by person: Signature) throws(BranchEditError) -> BranchEdit {
        let held = conflict.held
        guard held.isChoiceOfFile else {
            let help = try BranchEditError.wrapping { () throws(GitError) in try remedy(for: conflict) }
            throw .absent("\(held.file) is held as a whole: \(held.why)\(help); no side can be taken for that")
        }
        if case .text = choice { throw .absent("it is about all of \(held.file), which --ours or --theirs decides; a text cannot") }
        let resolution = Resolution(path: .blob, base: held.base, one: held.ours, other: held.theirs, chosen: choice == .ours ? held.ours : held.theirs)
        guard choice != .ours else { return try remember(resolution, held.file, by: person) }
        let entry = try BranchEditError.wrapping { () throws(GitError) in try repository.entry(at: held.file, in: repository.tree(of: conflict.source.tip)) }
        guard entry?.id.hex == held.theirs else { throw .absent("\(held.file) has another path on \(conflict.source.name.shorthand); rename it there or here first") }
        let message = """
            Decide \(printable(held.file.description))

            \(entry == nil ? "Removed" : "Taken whole"), as on \(conflict.source.name.shorthand).

            """
        let memory = RememberedResolutions(repository)
        return try branch.change(message: message, author: person) { () throws(GitError) in
            try memory.remember(resolution, file: held.file, by: person)
        } _: { _ throws(BranchEditError) in [entry.map { .put($0) } ?? .remove(held.file)] }
    }

    /// What helps where the file of one end cannot be read: its last version there that can. Empty where both can.
    private func remedy(for conflict: SyncConflict) throws(GitError) -> String {
        let path = conflict.held.file
        for end in [conflict.target, conflict.source] {
            guard let entry = try file(path, in: end.tip), try files.damage(of: entry, path: path) != nil else { continue }
            let good = try lastReadable(path, before: end.tip).map { " (`git show \($0.short):\(path)` is its last version there that can be read)" }
            return "; repair it on \(end.name.shorthand) and push\(good ?? "")"
        }
        return ""
    }

    /// The newest commit along first parents whose file can be read; `nil` where none is soon found.
    private func lastReadable(_ path: TreePath, before tip: ObjectID) throws(GitError) -> ObjectID? {
        let commitsMax = 1_000
        var next = try repository.commit(tip).parents.first
        var unreadable: ObjectID?
        for _ in 0..<commitsMax {
            guard let id = next, let entry = try file(path, in: id) else { return nil }
            if entry.id != unreadable, try files.file(entry, path: path) != nil { return id }
            unreadable = entry.id
            next = try repository.commit(id).parents.first
        }
        return nil
    }

    private func file(_ path: TreePath, in commit: ObjectID) throws(GitError) -> TreeEntry? {
        try repository.entry(at: path, in: repository.tree(of: commit)).flatMap { $0.mode.isFile ? $0 : nil }
    }

    /// The file as the source has it; `nil` where the source has not migrated its tables and there is a text to be taken.
    private func theirs(_ conflict: SyncConflict) throws(BranchEditError) -> LocalizedFile? {
        let (path, source) = (conflict.held.file, conflict.source)
        guard let entry = try BranchEditError.wrapping({ () throws(GitError) in try file(path, in: source.tip) }) else {
            if conflict.held.theirs != nil { return nil }
            throw .absent("\(source.name.shorthand) has no file \(path)")
        }
        if let file = try BranchEditError.wrapping({ () throws(GitError) in try files.file(entry, path: path) }) { return file }
        let damage = try BranchEditError.wrapping { () throws(GitError) in try files.damage(of: entry, path: path) }
        throw .absent("\(path) on \(source.name.shorthand) cannot be read: \(damage ?? "")")
    }
}

extension Held {
    /// The place as people say it: `"Hello" fr value`.
    var place: String {
        leaf.map { $0.place { printable($0, lengthMax: 40) } } ?? file.description
    }
}

extension LeafPath {
    /// The single texts of a value that a merge reports for more than a text: all of a key, or of a language. Nil for a text.
    public func leaves(saying value: String, in file: TreePath) -> [LeafPath: String]? {
        guard let key, field == nil, value.utf8.first == UInt8(ascii: "{") else { return nil }
        if TableKind(path: file.name) != nil {
            // Reports write it as an old-style list, which is a table of its own.
            guard let table = try? TableDocument(parsing: Bytes(Array(value.utf8))) else { return nil }
            var found: [LeafPath: String] = [:]
            for entry in table.entries {
                for (place, text) in table.leaves(of: entry.key, language: nil) {
                    let field = place.field == "value" ? entry.key : "\(entry.key).\(place.field ?? "")"
                    found[LeafPath(key: key, field: field)] = text
                }
            }
            return found
        }
        func object(_ name: String, _ inner: String) -> String { "{\(JSON.string(name)): \(inner)}" }
        let entry = language.map { object("localizations", object($0, value)) } ?? value
        return (try? CatalogDocument(parsing: Bytes(Array(object("strings", object(key, entry)).utf8))))?.leaves(of: key)
    }
}
