import Git

// Where two branches last had everything in common, sync commits of one parent included.
//
// A sync commit C that took over only a part of the commit S (some keys are held, or only catalogs come over) must not
// name S as a parent: for git that would mean that all of S is in C. So C says it in trailers:
//
//     Concord-Source: refs/heads/l10n/fr 7f0c…    the commit S
//     Concord-Base: 99ab…                         a commit V: the part of S that is in C
//
// V has S as its parent and S's tree, with everything that is held put back to what it was in the base before. Merging over V
// therefore sees what came over as common, and what is held as a conflict, still. V is kept from collection by the ref
// `refs/concord/base/<target>/<source>`; where a clone lacks it, it is made again: it follows from C's parent, S and the base before.

/// The trailers of sync commits.
enum SyncTrailer {
    static let source = "Concord-Source"
    static let base = "Concord-Base"
    static let coAuthor = "Co-authored-by"
}

/// What a one-parent sync commit says about itself.
struct PartialSync: Hashable {
    /// The sync commit C.
    let commit: ObjectID
    /// C's parent: the target before.
    let parent: ObjectID
    /// The commit S whose changes came over in part.
    let source: ObjectID
    /// The commit V: the part that came over.
    let base: ObjectID

    /// `nil` for any commit that is not such a sync.
    init?(_ commit: Commit) {
        guard commit.parents.count == 1, commit.message.contains(SyncTrailer.base) else { return nil }
        guard let base = commit.trailers(SyncTrailer.base).last.flatMap({ ObjectID(hex: $0) }),
            let source = commit.trailers(SyncTrailer.source).last.flatMap({ $0.split(separator: " ").last }).flatMap({ ObjectID(hex: $0) })
        else { return nil }
        (self.commit, parent, self.source, self.base) = (commit.id, commit.parents[0], source, base)
    }
}

/// What two branches have in common, and what each has beyond it.
struct CommonHistory {
    /// A commit that both have: as it is, or the part of it that a sync took over.
    enum Ancestor: Hashable {
        case whole(ObjectID)
        case part(PartialSync)

        /// The commit that is an ancestor of both in this sense.
        var id: ObjectID {
            switch self {
            case .whole(let id): id
            case .part(let sync): sync.source
            }
        }
    }

    /// The newest common ancestors: none for unrelated histories, several after a criss-cross.
    let ancestors: [Ancestor]
    /// The commits of the source that the target has neither as such nor by a sync, newest first.
    let incoming: [Commit]
    /// The commits of the source of which the target has a part by a sync, and what was held of them not, newest first.
    let arrivedInPart: [Commit]

    /// More commits than this between two branches are refused.
    static let commitsMax = 200_000

    init(target: ObjectID, source: ObjectID, in repository: Repository) throws(GitError) {
        let bases = try repository.mergeBases(of: target, and: source)
        let fresh = try repository.commits(reachableFrom: [target, source], hiding: bases, limit: Self.commitsMax)
        let graph = Graph(fresh)
        let ours = graph.reachable(from: target), theirs = graph.reachable(from: source)

        // Newest first, so that of two syncs of one commit the later one counts: its V holds what is held now.
        var parts: [PartialSync] = []
        for sync in fresh.compactMap({ graph.syncs[$0.id] }) where !parts.contains(where: { $0.source == sync.source }) {
            let otherSide = ours.contains(sync.commit) ? theirs : ours
            if otherSide.contains(sync.source) { parts.append(sync) }
        }
        let all = bases.map(Ancestor.whole) + parts.map(Ancestor.part)
        let behind = parts.map { graph.ancestry(of: $0.source) }
        ancestors = all.filter { candidate in !behind.contains { $0.contains(candidate.id) } }
        let known = behind.reduce(into: Set(parts.map(\.source))) { $0.formUnion($1) }
        let beyond = fresh.filter { theirs.contains($0.id) && !ours.contains($0.id) }
        incoming = beyond.filter { !known.contains($0.id) }
        arrivedInPart = beyond.filter { known.contains($0.id) }
    }

    /// The commits beyond the merge bases, with the ties of git and those of syncs.
    private struct Graph {
        var parents: [ObjectID: [ObjectID]] = [:]
        var syncs: [ObjectID: PartialSync] = [:]

        init(_ commits: [Commit]) {
            for commit in commits {
                parents[commit.id] = commit.parents
                syncs[commit.id] = PartialSync(commit)
            }
        }

        /// The commits that git reaches from `tip`, itself included.
        func reachable(from tip: ObjectID) -> Set<ObjectID> { walk([tip]) { parents[$0] ?? [] }.filter { parents[$0] != nil } }

        /// What is in `commit` without being it: its ancestors, and what syncs brought to them.
        func ancestry(of commit: ObjectID) -> Set<ObjectID> {
            func ties(_ id: ObjectID) -> [ObjectID] { (parents[id] ?? []) + (syncs[id].map { [$0.source] } ?? []) }
            return walk(ties(commit), ties)
        }

        private func walk(_ start: [ObjectID], _ next: (ObjectID) -> [ObjectID]) -> Set<ObjectID> {
            var seen = Set(start), queue = start
            while let id = queue.popLast() {
                for parent in next(id) where seen.insert(parent).inserted { queue.append(parent) }
            }
            return seen
        }
    }
}
