import Git
import Linux
import StringCatalog

/// What is to be done about a step.
enum Verdict {
    /// Nothing: the target has all that may come over. Texts of the source that lost stay on its branch, until it moves on;
    /// they are to be recorded before.
    case inStep(held: [Held], losses: [LedgerRecord] = [])
    /// The target moves.
    case move(Move)
    /// A person must decide first; the sentence says what.
    case blocked(String)
}

/// One ref that moves to a commit that is already written.
struct Move {
    enum Kind: String {
        /// To the source's own commit.
        case fastForward = "fast-forward"
        /// To a merge of both.
        case merge
        /// To a commit of one parent with the part that could come over.
        case partial
    }

    let kind: Kind
    let step: Step
    let commit: ObjectID
    /// What happened, in one line.
    let subject: String
    let held: [Held]
    /// The commit to keep alive as the base of the next merge, for a partial sync.
    let base: ObjectID?
    /// What the ledger must have before the target moves.
    let records: [LedgerRecord]
}

/// Works one step out: merges the trees in memory, decides, and writes the objects. No ref moves here.
struct Reconciliation {
    let files: LocalizedFiles
    var settings: RepositorySettings
    let committer: Configuration.Person
    /// How the commits are signed that branches move to.
    var signing: CommitSigning? = nil
    /// Writes no commit; a move then names the target's own tip.
    let isDryRun: Bool
    let now: Int64
    /// What people decided before, by the path of the catalog.
    var resolutions: [String: Resolutions] = [:]
    /// What the branch of the developers says about its catalogs.
    var treeSettings = TreeSettings()

    var repository: Repository { files.repository }

    /// Follows what the `into` branch of a step says in its tree, after what the configuration says. Gives what in it was not understood.
    mutating func followTree(of step: Step) throws(GitError) -> [String] {
        treeSettings = try TreeSettings(in: step.isBack ? step.source.tip : step.target.tip, of: repository)
        settings.catalogs += treeSettings.catalogs
        return treeSettings.remarks
    }

    /// What the step asks for.
    func verdict(on step: Step) throws(GitError) -> Verdict {
        let (target, source) = (step.target.tip, step.source.tip)
        // Everything of the source is in the target's history already.
        if try repository.isAncestor(source, of: target) { return .inStep(held: []) }
        let history = try CommonHistory(target: target, source: source, in: repository)
        if history.ancestors.isEmpty && step.rule.take == .all {
            return .blocked("\(step.source.name.shorthand) and \(step.target.name.shorthand) have no commit in common")
        }
        let (ours, theirs) = (try repository.tree(of: target), try repository.tree(of: source))
        let merged = try merge(step, ours: ours, theirs: theirs, base: baseTree(of: step, history))
        guard let tree = merged.tree else { return .blocked(sentence(about: merged.conflicts, step)) }
        let aliases = policy(of: step).aliases
        let held = merged.held.map { place in
            var place = place
            place.language = place.leaf?.language.map(aliases.identity)
            return place
        }
        // A branch that keeps its tables has not all of one that migrated: for git they would otherwise be what it wants.
        let isWhole = step.rule.take == .all && held.isEmpty && !merged.migration.keepsTables
        if tree == ours, try isOnRecord(step, merged, held: held, history) {
            // Neither branch gets a commit to name: the one is named in which the texts stand.
            let seconds = try repository.commit(source).committer.seconds
            let mark = SyncMark(commit: source, target: step.target.name, source: step.source.name, seconds: seconds)
            return .inStep(held: held, losses: merged.records(mark))
        }
        if isWhole, tree == theirs, step.rule.allowsFastForward, try repository.isAncestor(target, of: source) {
            let subject = "Fast-forward \(step.target.name.shorthand) to \(step.source.name.shorthand)"
            return .move(Move(
                kind: .fastForward, step: step, commit: source, subject: subject, held: [], base: nil, records: records(of: merged, step, source)))
        }
        let base = isWhole || isDryRun ? nil : try writeBase(step, merged, theirs: theirs)
        let message = try SyncMessage(step: step, before: ours, after: tree, held: held, settings: settings, files: files, sourceLanguage: sourceLanguage(step))
        // What was held and is decided now arrives without a new commit.
        let people = Authors(of: history.incoming.isEmpty ? history.arrivedInPart : history.incoming, committer: committer)
        let commit = isDryRun ? target : try repository.write(
            commit: tree, parents: isWhole ? [target, source] : [target],
            author: people.author ?? signature(at: now), committer: signature(at: now),
            message: message.text(trailers: people.trailers + trailers(step, base)), signing: signing.map { $0.signature })
        return .move(Move(
            kind: isWhole ? .merge : .partial, step: step, commit: commit, subject: message.subject, held: held, base: base,
            records: records(of: merged, step, commit)))
    }

    private func records(of merged: MergedTrees, _ step: Step, _ commit: ObjectID) -> [LedgerRecord] {
        let mark = SyncMark(commit: commit, target: step.target.name, source: step.source.name, seconds: now)
        return merged.records(mark)
    }

    /// Whether later merges will know that the target has all of the source, though nothing came over now.
    ///
    /// Both may have come to the same by different ways, a held key among them that people agreed on. If that is not put on record, the next
    /// change to such a text is merged over the base from before, and looks like a contradiction. To put it on record is a
    /// commit without a difference; it ends there, because then the source is in the target's history.
    private func isOnRecord(_ step: Step, _ merged: MergedTrees, held: [Held], _ history: CommonHistory) throws(GitError) -> Bool {
        guard held.isEmpty else { return true }
        let migration = merged.migration
        guard step.rule.take == .all else { return migration.hasAllArrived ? try !wasHeld(history, besides: migration) : false }
        if migration.theirs == migration.base { return true }
        return try repository.isAncestor(step.target.tip, of: step.source.tip)
    }

    /// Whether the last partial sync between the two held something, in files that are in one form on both sides.
    private func wasHeld(_ history: CommonHistory, besides migration: MigrationSync) throws(GitError) -> Bool {
        for case .part(let sync) in history.ancestors {
            let (part, whole) = (try repository.tree(of: sync.base), try repository.tree(of: sync.source))
            if try repository.changes(from: part, to: whole).contains(where: {
                let path = ($0.new ?? $0.old)!.path
                return settings.isCatalog(path) && !migration.concerns(path)
            }) { return true }
        }
        return false
    }

    private func trailers(_ step: Step, _ base: ObjectID?) -> [Trailer] {
        [Trailer(key: SyncTrailer.source, value: "\(step.source.name.full) \(step.source.tip.hex)")]
            + (base.map { [Trailer(key: SyncTrailer.base, value: $0.hex)] } ?? [])
    }

    private func signature(at seconds: Int64) -> Signature {
        Signature(
            name: committer.name, email: committer.email, seconds: seconds, offsetMinutes: timeZoneOffsetMinutes(at: seconds))
    }

    private func sentence(about conflicts: [PathConflict], _ step: Step) -> String {
        let namesMax = 10
        let names = conflicts.prefix(namesMax).map { "\(printable($0.path.description)) (\($0.kind.words))" }
        let more = conflicts.count > namesMax ? " and \(conflicts.count - namesMax) more" : ""
        return "files other than catalogs conflict: \(names.joined(separator: ", "))\(more); merge \(step.source.name.shorthand) into "
            + "\(step.target.name.shorthand) by hand"
    }
}

// The base of a merge, and the base it leaves for the next one.
extension Reconciliation {
    struct MergedTrees {
        /// `nil` when files other than catalogs conflict.
        let tree: ObjectID?
        let conflicts: [PathConflict]
        let catalogs: [CatalogResult]
        let base: ObjectID?
        /// The trees that were merged: in one form where only one side has migrated its tables to a catalog.
        let migration: MigrationSync

        var held: [Held] { catalogs.flatMap(\.held) + migration.held }

        /// What the ledger is to have of it.
        func records(_ mark: SyncMark) -> [LedgerRecord] {
            (catalogs.map { ($0.file.path, $0.trace) } + migration.traces).flatMap { file, trace in trace.records(file: file, mark) }
        }
    }

    func merge(_ step: Step, ours: ObjectID, theirs: ObjectID, base: ObjectID?) throws(GitError) -> MergedTrees {
        let sync = catalogSync(step)
        let migration = try MigrationSync(step, base: base, ours: ours, theirs: theirs, sync: sync, isSelected: settings.isCatalog)
        var catalogs: [CatalogResult] = []
        let merged = try repository.merge(
            tree: migration.theirs, into: migration.ours, base: migration.base, taking: step.rule.take == .all ? .wholeTree : .selectedFiles,
            attributesOf: step.target.tip, selecting: settings.isCatalog
        ) { file throws(GitError) in
            let result = try migration.resolve(file, by: sync)
            catalogs.append(result)
            return result.resolution
        }
        return MergedTrees(tree: merged.tree, conflicts: merged.conflicts, catalogs: catalogs, base: base, migration: migration)
    }

    private func catalogSync(_ step: Step) -> CatalogSync {
        let side: SourceSide = step.isTargetTheSourceRole.map { $0 ? .ours : .theirs } ?? .none
        return CatalogSync(
            files: files, policy: policy(of: step), sourceSide: side,
            ends: (step.target.name.shorthand, step.source.name.shorthand),
            resolutions: resolutions,
            newer: { file, leaves throws(GitError) in try newer(leaves, of: file, step) },
            sourceLanguage: sourceLanguage(step))
    }

    private func policy(of step: Step) -> CatalogPolicy { step.rule.policy.followed(by: treeSettings.policy) }

    /// The source language of a table: what the configuration says, else what the tree of the developers says.
    private func sourceLanguage(_ step: Step) -> (TreePath) throws(GitError) -> String {
        if let language = settings.sourceLanguage ?? treeSettings.sourceLanguage { return { _ in language } }
        let languages = SourceLanguages(in: step.isTargetTheSourceRole == false ? step.source.tip : step.target.tip, of: repository)
        return { path throws(GitError) in try languages.language(ofTable: path) }
    }

    /// On which side of a step each leaf was changed last, by the dates of the authors.
    private func newer(_ leaves: Set<LeafPath>, of file: FileMerge, _ step: Step) throws(GitError) -> [LeafPath: SourceSide] {
        let history = LeafHistory(of: leaves, in: files, aliases: policy(of: step).aliases)
        var newer: [LeafPath: SourceSide] = [:]
        for leaf in leaves {
            let ours = try file.ours.flatMapThrowing { entry throws(GitError) in try history.lastTouched(leaf, from: step.target.tip, at: entry.path) }
            let theirs = try file.theirs.flatMapThrowing { entry throws(GitError) in try history.lastTouched(leaf, from: step.source.tip, at: entry.path) }
            guard let ours, let theirs, ours != theirs else {
                newer[leaf] = SourceSide.none
                continue
            }
            newer[leaf] = ours > theirs ? .ours : .theirs
        }
        return newer
    }

    /// The tree to merge over: what both branches have in common.
    func baseTree(of step: Step, _ history: CommonHistory, depth: Int = 0) throws(GitError) -> ObjectID? {
        let sync = catalogSync(step)
        func resolve(_ file: FileMerge) throws(GitError) -> FileResolution { try sync.resolveVirtually(file) }
        let isGitsOwn = history.ancestors.allSatisfy { if case .whole = $0 { true } else { false } }
        if isGitsOwn {
            return try repository.baseTree(
                of: step.target.tip, and: step.source.tip, selecting: settings.isCatalog, resolving: resolve)
        }
        var folded: (commit: ObjectID, tree: ObjectID)?
        for ancestor in history.ancestors {
            let commit = try standing(for: ancestor, step, depth: depth)
            let tree = try repository.tree(of: commit)
            guard let first = folded else {
                folded = (commit, tree)
                continue
            }
            let base = try repository.baseTree(of: first.commit, and: commit, selecting: settings.isCatalog, resolving: resolve)
            let merged = try repository.merge(
                tree: tree, into: first.tree, base: base, attributesOf: step.target.tip, selecting: settings.isCatalog, resolving: resolve)
            // Where the bases contradict each other one of them must do; what the other had comes up as a conflict.
            if let both = merged.tree { folded = (commit, both) }
        }
        return folded?.tree
    }

    /// The commit whose tree is what both sides have of an ancestor.
    private func standing(for ancestor: CommonHistory.Ancestor, _ step: Step, depth: Int) throws(GitError) -> ObjectID {
        guard case .part(let sync) = ancestor else { return ancestor.id }
        do throws(GitError) {
            if try repository.commit(sync.base).parents.first == sync.source { return sync.base }
        } catch where error.kind == .notFound {
            // A clone without `refs/concord`: make it again.
        }
        let depthMax = 64
        guard depth < depthMax else { return sync.source }
        let past = Step(
            target: Ref(name: step.target.name, tip: sync.parent), source: Ref(name: step.source.name, tip: sync.source),
            rule: step.rule, isBack: step.isBack)
        let history = try CommonHistory(target: sync.parent, source: sync.source, in: repository)
        let theirs = try repository.tree(of: sync.source)
        let merged = try merge(past, ours: repository.tree(of: sync.parent), theirs: theirs, base: baseTree(of: past, history, depth: depth + 1))
        return try writeBase(past, merged, theirs: theirs)
    }

    /// Writes V: the part of the source that is in the merge. The same inputs give the same commit, whoever writes it.
    private func writeBase(_ step: Step, _ merged: MergedTrees, theirs: ObjectID) throws(GitError) -> ObjectID {
        var edits: [TreeEdit] = []
        for catalog in merged.catalogs where !merged.migration.concerns(catalog.file.path) {
            let (base, incoming) = (catalog.file.base, catalog.file.theirs)
            let isWholeTree = step.rule.take == .all
            switch catalog.nextBase {
            case nil:
                if isWholeTree { continue }
                if let base, base.path != incoming?.path { edits.append(.remove(base.path)) }
                if let incoming { edits.append(.put(incoming)) }
            case .bytes(let bytes)?:
                guard let incoming else { continue }
                if !isWholeTree, let base, base.path != incoming.path { edits.append(.remove(base.path)) }
                edits.append(.put(TreeEntry(path: incoming.path, mode: incoming.mode, id: try repository.write(blob: bytes))))
            case .base?:
                guard isWholeTree else { continue }
                if let incoming { edits.append(.remove(incoming.path)) }
                if let base { edits.append(.put(base)) }
            }
        }
        edits += try merged.migration.nextBase(after: merged.catalogs)
        let tree = try repository.write(tree: step.rule.take == .all ? theirs : merged.base, with: edits)
        let seconds = try repository.commit(step.source.tip).committer.seconds
        let nobody = Signature(name: "Concord", email: "concord@localhost", seconds: seconds)
        return try repository.write(
            commit: tree, parents: [step.source.tip], author: nobody, committer: nobody,
            message: "What of \(step.source.tip.short) was taken over\n\nThe base of the next merge with it; no state that anybody had.\n")
    }
}

/// Whose work a sync brings.
struct Authors {
    /// Who wrote the newest of the commits that come over, at the time they did; `nil` when no commit does.
    let author: Signature?
    private let others: [Signature]

    /// A message names at most so many people.
    private static let peopleMax = 50

    init(of incoming: [Commit], committer: Configuration.Person) {
        // What Concord wrote carries other people's work: it counts only where nothing else comes.
        let own = incoming.filter { $0.committer.email == committer.email && $0.message.contains(SyncTrailer.source + ":") }
        let ownIDs = Set(own.map(\.id))
        let byPeople = incoming.filter { !ownIDs.contains($0.id) }
        let plain = byPeople.filter { $0.parents.count < 2 }
        let commits = !plain.isEmpty ? plain : !byPeople.isEmpty ? byPeople : own
        var people: [Signature] = []
        for commit in commits {
            let coAuthors = commit.trailers(SyncTrailer.coAuthor).compactMap(Self.person)
            for person in [commit.author] + coAuthors where people.count < Self.peopleMax && !people.contains(where: { $0.isSamePerson(as: person) }) {
                people.append(person)
            }
        }
        author = people.first
        others = Array(people.dropFirst())
    }

    var trailers: [Trailer] { others.map { Trailer(key: SyncTrailer.coAuthor, value: "\($0.name) <\($0.email)>") } }

    /// `Name <address>`.
    private static func person(_ text: String) -> Signature? {
        guard let open = text.lastIndex(of: "<"), let close = text.lastIndex(of: ">"), open < close else { return nil }
        return Signature(name: String(text[..<open]), email: String(text[text.index(after: open)..<close]), seconds: 0)
    }
}

extension PathConflict.Kind {
    /// As people say it.
    var words: String {
        switch self {
        case .content: "changed on both sides"
        case .binary: "no text, changed on both sides"
        case .addedTwice: "added on both sides"
        case .deletedByUs: "deleted here, changed there"
        case .deletedByThem: "changed here, deleted there"
        case .renamedTwice: "renamed on both sides"
        case .mode: "of different kinds"
        case .submodule: "a submodule, moved on both sides"
        case .pathTaken: "two files at one path"
        case .directoryRenamed: "its directory was renamed"
        case .unsafePath: "a path that must not be written"
        case .unresolved(let why): why
        }
    }
}

/// Text from a repository, for one line of a log, a message or a terminal: control characters are escaped, and what is very long is cut.
func printable(_ text: String, lengthMax: Int = 200) -> String {
    var out = ""
    for (count, scalar) in text.unicodeScalars.enumerated() {
        guard count < lengthMax else { return out + "…" }
        switch scalar {
        case "\n": out += "\\n"
        case "\t": out += "\\t"
        default:
            let isHidden = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || (0x2028...0x202E).contains(scalar.value)
                || (0x2066...0x2069).contains(scalar.value)
            if isHidden { out += "\\u{\(String(scalar.value, radix: 16))}" } else { out.unicodeScalars.append(scalar) }
        }
    }
    return out
}
