/// Merges two trees over a third: the result is ours with every change that theirs made.
///
/// The work is in proportion to what theirs changed, not to the size of the trees: subtrees with equal ids are never
/// looked into, and renames are searched for only where one would make a difference.
struct TreeMerger {
    let repository: Repository
    let base: ObjectID?
    let ours: ObjectID
    let theirs: ObjectID
    let scope: MergeScope
    /// 0 for a merge whose result counts; how deep in merge bases of merge bases otherwise.
    let virtualDepth: Int
    /// The commit whose `.gitattributes` count.
    let attributes: ObjectID?
    let isSelected: (TreePath) -> Bool
    let resolve: (FileMerge) throws(GitError) -> FileResolution

    /// Paths of ours that theirs deleted or moved.
    private var removed: Set<TreePath> = []
    /// Entries that come in, and the path in ours of the entry they replace.
    private var incoming: [TreePath: (entry: TreeEntry, replaced: TreePath?)] = [:]
    private var conflicts: Set<PathConflict> = []

    init(
        repository: Repository, base: ObjectID?, ours: ObjectID, theirs: ObjectID, scope: MergeScope, virtualDepth: Int, attributes: ObjectID?,
        isSelected: @escaping (TreePath) -> Bool, resolve: @escaping (FileMerge) throws(GitError) -> FileResolution
    ) {
        self.repository = repository
        self.base = base
        self.ours = ours
        self.theirs = theirs
        self.scope = scope
        self.virtualDepth = virtualDepth
        self.attributes = attributes
        self.isSelected = isSelected
        self.resolve = resolve
    }

    /// The merge whose result counts.
    mutating func merge() throws(GitError) -> TreeMerge {
        let tree = try mergedTree()
        return TreeMerge(tree: conflicts.isEmpty ? tree : nil, conflicts: conflicts.sorted { ($0.path, "\($0)") < ($1.path, "\($1)") })
    }

    /// The tree of a virtual base: where there is a conflict a guess, as git makes it.
    mutating func virtualTree() throws(GitError) -> ObjectID { try mergedTree() }

    private mutating func mergedTree() throws(GitError) -> ObjectID {
        guard base != theirs, ours != theirs else { return ours }
        let changes = try incomingChanges()
        let ourRenames = try renamesOfOurs(touchedBy: changes)
        for change in changes {
            try take(change, ours: ourEntry(for: change, ourRenames))
        }
        if virtualDepth == 0, scope == .wholeTree { try findDirectoryRenames(changes) }
        try findOccupiedPaths()
        let edits = removed.map(TreeEdit.remove) + incoming.values.map { .put($0.entry) }
        let written = try repository.write(base: ours, edits: edits)
        for path in written.taken { conflicts.insert(PathConflict(path: path, kind: .pathTaken)) }
        return written.tree
    }

    // MARK: What changed

    /// What theirs changed, with its renames where it matters whether something is one.
    private func incomingChanges() throws(GitError) -> [Change] {
        let changes = try repository.changes(from: base, to: theirs)
        guard try isRenameRelevant(in: changes) else { return changes }
        return try repository.changes(from: base, to: theirs, findingRenames: true)
    }

    /// A deletion and an addition give the same tree as a rename, unless ours changed the file, or the caller decides.
    private func isRenameRelevant(in changes: [Change]) throws(GitError) -> Bool {
        let deleted = changes.filter { $0.new == nil }
        guard !deleted.isEmpty, deleted.count < changes.count, changes.contains(where: { $0.old == nil }) else { return false }
        if changes.contains(where: { ($0.old == nil || $0.new == nil) && isSelected($0.path) }) { return true }
        for change in deleted where try repository.entry(at: change.path, in: ours) != change.old { return true }
        return false
    }

    /// Where ours moved the files that theirs touched and ours has no longer.
    private func renamesOfOurs(touchedBy changes: [Change]) throws(GitError) -> [TreePath: TreeEntry] {
        var isAnyMissing = false
        for change in changes {
            guard let old = change.old, !isAnyMissing else { continue }
            isAnyMissing = try repository.entry(at: old.path, in: ours).map { $0.mode == .tree } ?? true
        }
        guard isAnyMissing else { return [:] }
        var renames: [TreePath: TreeEntry] = [:]
        for case .renamed(let from, let to) in try repository.changes(from: base, to: ours, findingRenames: true) { renames[from.path] = to }
        return renames
    }

    private func ourEntry(for change: Change, _ renames: [TreePath: TreeEntry]) throws(GitError) -> TreeEntry? {
        let here = try repository.entry(at: change.path, in: ours)
        if let here, here.mode != .tree { return here }
        return change.old == nil ? nil : renames[change.path]
    }

    // MARK: One file

    private mutating func take(_ change: Change, ours: TreeEntry?) throws(GitError) {
        let (old, theirs) = (change.old, change.new)
        let selected = [old, ours, theirs].contains { $0.map { isSelected($0.path) } ?? false }
        guard selected || scope == .wholeTree else { return }
        if let theirs, let ours, ours == theirs { return }
        if theirs == nil, ours == nil { return }

        guard let path = resultPath(old, ours, theirs) else { return try renamedTwice(old, ours, theirs) }
        let file = FileMerge(path: path, base: old, ours: ours, theirs: theirs, isVirtual: virtualDepth > 0)
        guard selected, !(old.hasSameContent(as: theirs) && ours != nil) else { return try takeAsGit(file) }
        switch try resolve(file) {
        case .asGit: try takeAsGit(file)
        case .bytes(let bytes): put(try repository.write(blob: bytes), file.mergedFileMode, for: file)
        case .blob(let id): put(id, file.mergedFileMode, for: file)
        case .entry(let entry): put(entry.id, entry.mode, for: file)
        case .deleted: remove(file)
        case .conflict(let why): fail(file, .unresolved(why))
        }
    }

    /// Where the merged file stands; `nil` if each side has moved it elsewhere.
    private func resultPath(_ old: TreeEntry?, _ ours: TreeEntry?, _ theirs: TreeEntry?) -> TreePath? {
        guard let old, let ours, let theirs else { return (theirs ?? ours ?? old)?.path }
        if ours.path == theirs.path || theirs.path == old.path { return ours.path }
        return ours.path == old.path ? theirs.path : nil
    }

    private mutating func renamedTwice(_ old: TreeEntry?, _ ours: TreeEntry?, _ theirs: TreeEntry?) throws(GitError) {
        guard virtualDepth > 0, let ours else {
            for entry in [old, ours, theirs].compactMap({ $0 }) { conflicts.insert(PathConflict(path: entry.path, kind: .renamedTwice)) }
            return
        }
        try takeAsGit(FileMerge(path: ours.path, base: old, ours: ours, theirs: theirs, isVirtual: true))
    }

    /// git's own rules for one file.
    private mutating func takeAsGit(_ file: FileMerge) throws(GitError) {
        switch (file.base, file.ours, file.theirs) {
        case (let old?, let ours?, nil):
            if ours == old { remove(file) } else { fail(file, .deletedByThem) }
        case (nil, nil, let theirs?):
            put(theirs.id, theirs.mode, for: file)
        case (_?, nil, _?):
            fail(file, .deletedByUs)
        case (let old, let ours?, let theirs?):
            try takeBoth(file, old, ours, theirs)
        case (_, _, nil):
            break
        }
    }

    private mutating func takeBoth(_ file: FileMerge, _ old: TreeEntry?, _ ours: TreeEntry, _ theirs: TreeEntry) throws(GitError) {
        if old.hasSameContent(as: ours) { return put(theirs.id, theirs.mode, for: file) }
        if old.hasSameContent(as: theirs) || ours.hasSameContent(as: theirs) { return put(ours.id, ours.mode, for: file) }
        guard ours.mode.isFile == theirs.mode.isFile, ours.mode.isFile || ours.mode == theirs.mode else { return fail(file, .mode) }
        guard old != nil || virtualDepth > 0 else { return fail(file, .addedTwice) }
        let mode = file.mergedFileMode
        if ours.id == theirs.id || old?.id == theirs.id { return put(ours.id, mode, for: file) }
        if old?.id == ours.id { return put(theirs.id, mode, for: file) }
        guard ours.mode.isFile else { return fail(file, ours.mode == .submodule ? .submodule : .content) }
        guard old?.mode.isFile ?? true else { return fail(file, .content) }
        let attribute = try repository.mergeAttribute(of: file.path, in: attributes)
        switch try repository.mergeLines(base: old?.id, ours: ours.id, theirs: theirs.id, as: attribute, virtualDepth: virtualDepth) {
        case .merged(let id): put(id, mode, for: file)
        case .conflict: fail(file, .content)
        case .binary: fail(file, .binary)
        }
    }

    // MARK: What comes of it

    private mutating func put(_ id: ObjectID, _ mode: TreeEntry.Mode, for file: FileMerge) {
        guard file.path.isSafe else { return fail(file, .unsafePath) }
        if let ours = file.ours {
            if ours.path != file.path { removed.insert(ours.path) } else if ours.id == id, ours.mode == mode { return }
        }
        let entry = TreeEntry(path: file.path, mode: mode, id: id)
        if let other = incoming[file.path], other.entry != entry {
            conflicts.insert(PathConflict(path: file.path, kind: .pathTaken))
        }
        incoming[file.path] = (entry, file.ours?.path)
    }

    private mutating func remove(_ file: FileMerge) {
        if let ours = file.ours { removed.insert(ours.path) }
    }

    /// A conflict; in a virtual merge what git puts there instead: the base.
    private mutating func fail(_ file: FileMerge, _ kind: PathConflict.Kind) {
        guard virtualDepth > 0, file.path.isSafe else {
            conflicts.insert(PathConflict(path: file.path, kind: kind))
            return
        }
        if let base = file.base { put(base.id, base.mode, for: file) }
    }

    // MARK: Conflicts between files

    /// Entries that come to a path where ours has another file that stays.
    private mutating func findOccupiedPaths() throws(GitError) {
        for (path, (entry, replaced)) in incoming where replaced != path && !removed.contains(path) {
            guard let present = try repository.entry(at: path, in: ours), present.mode != .tree, present != entry else { continue }
            conflicts.insert(PathConflict(path: path, kind: .pathTaken))
        }
    }

    /// Files that one side added to a directory which the other has moved as a whole. git guesses that they should move
    /// too and, as it is a guess, leaves the merge unfinished (`merge.directoryRenames=conflict`).
    private mutating func findDirectoryRenames(_ changes: [Change]) throws(GitError) {
        try findDirectoryRenames(arriving: changes.arrivals, other: ours)
        guard changes.contains(where: { $0.new?.path != $0.old?.path && $0.old != nil }) else { return }
        try findDirectoryRenames(arriving: repository.changes(from: base, to: ours).arrivals, other: theirs)
    }

    private mutating func findDirectoryRenames(arriving paths: [TreePath], other: ObjectID) throws(GitError) {
        guard let base else { return }
        // As git: a file that came directly into the directory is in doubt, one in a new directory below is not.
        var vanished: [TreePath: Bool] = [:]
        for directory in Set(paths.compactMap(\.parent)) {
            let was = try repository.entry(at: directory, in: base)?.mode == .tree
            let isStill = try repository.entry(at: directory, in: other)?.mode == .tree
            vanished[directory] = was && !isStill
        }
        let suspects = paths.filter { $0.parent.map { vanished[$0] ?? false } ?? false }
        guard !suspects.isEmpty else { return }
        let moved = movedDirectories(try repository.changes(from: base, to: other, findingRenames: true))
        for path in suspects where path.parent.map(moved.contains) ?? false {
            conflicts.insert(PathConflict(path: path, kind: .directoryRenamed))
        }
    }

    /// Directories out of which a file was moved, and those above them as long as the names below stay the same.
    private func movedDirectories(_ changes: [Change]) -> Set<TreePath> {
        var moved: Set<TreePath> = []
        for case .renamed(let from, let to) in changes {
            var (old, new) = (from.path.parent, to.path.parent)
            while let directory = old, directory != new {
                moved.insert(directory)
                guard directory.components.last == new?.components.last else { break }
                (old, new) = (directory.parent, new?.parent)
            }
        }
        return moved
    }
}

extension Change {
    /// Where the file was, or is if it was nowhere.
    fileprivate var path: TreePath {
        switch self {
        case .added(let entry), .deleted(let entry), .modified(let entry, _), .renamed(let entry, _): entry.path
        }
    }
}

extension [Change] {
    /// The paths at which a file stands now and did not before.
    fileprivate var arrivals: [TreePath] { compactMap { $0.old?.path == $0.new?.path ? nil : $0.new?.path } }
}

extension TreeEntry {
    /// Whether both are the same but for their paths.
    fileprivate func hasSameContent(as other: TreeEntry?) -> Bool { other.map { $0.id == id && $0.mode == mode } ?? false }
}

extension TreeEntry? {
    fileprivate func hasSameContent(as other: TreeEntry?) -> Bool { self.map { $0.hasSameContent(as: other) } ?? false }
}

extension FileMerge {
    /// Theirs if they changed it, else ours.
    fileprivate var mergedFileMode: TreeEntry.Mode {
        guard let ours, let theirs else { return (ours ?? theirs ?? base)?.mode ?? .file }
        return base?.mode == ours.mode ? theirs.mode : ours.mode
    }
}
