/// One file of a merge, shown to the caller for a decision: what it is on each side, under which path.
public struct FileMerge: Sendable {
    /// Where the result goes: renames on either side are followed.
    public let path: TreePath
    /// The entry in the merge base; `nil` if both sides added the file, or only theirs did.
    public let base: TreeEntry?
    /// The entry on the side that is written; `nil` if it is not there, or was deleted.
    public let ours: TreeEntry?
    /// The entry on the side that comes in; `nil` if it was deleted.
    public let theirs: TreeEntry?
    /// Whether this is a step towards a common base of a criss-cross history, so its result is never seen by anyone:
    /// there a guess is better than a conflict.
    public let isVirtual: Bool
}

/// What becomes of one file.
public enum FileResolution: Sendable {
    /// These bytes; the mode is merged.
    case bytes([UInt8])
    /// This blob, already stored; the mode is merged.
    case blob(ObjectID)
    /// This entry's content and mode.
    case entry(TreeEntry)
    /// No file.
    case deleted
    /// What git's line merge gives.
    case asGit
    /// No decision. The merge has a conflict; a virtual one goes on with the base.
    case conflict(String)
}

/// A path that cannot be merged, and why.
public struct PathConflict: Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        /// Both sides changed the same lines.
        case content
        /// Both sides changed a file that is not text.
        case binary
        /// Both sides added different files.
        case addedTwice
        /// We deleted what they changed or renamed.
        case deletedByUs
        /// They deleted what we changed or renamed.
        case deletedByThem
        /// Each side renamed the file to another path.
        case renamedTwice
        /// The sides disagree on whether it is a file, an executable, a symlink or a submodule.
        case mode
        /// Both sides moved a submodule.
        case submodule
        /// A file stands where the other side has a directory, or two files come to one path.
        case pathTaken
        /// One side renamed a directory in which the other added this file; git does not decide where it belongs.
        case directoryRenamed
        /// The path must not be written: `.git` and its like.
        case unsafePath
        /// The caller said so.
        case unresolved(String)
    }

    public let path: TreePath
    public let kind: Kind

    public init(path: TreePath, kind: Kind) {
        self.path = path
        self.kind = kind
    }

    public var description: String { "\(path): \(kind)" }
}

/// What a merge of two trees gives.
public struct TreeMerge: Hashable, Sendable {
    /// The merged tree; `nil` if there are conflicts.
    public let tree: ObjectID?
    /// Sorted by path.
    public let conflicts: [PathConflict]
}

/// Which of the incoming changes a merge takes.
public enum MergeScope: Hashable, Sendable {
    /// All of them: the result is what git's merge gives, the caller's files aside.
    case wholeTree
    /// Only those of files the caller selects; everything else stays as ours has it.
    case selectedFiles
}

extension Repository {
    /// Merges the commit `theirs` into the commit `ours` in memory, over their merge base; where there are several, over
    /// a virtual one made by merging them, as git does. Unrelated histories have an empty base.
    ///
    /// `resolving` decides about each selected file (by its path on any side) that theirs changed against the base, also
    /// when ours did not, or when a line merge would be clean. All other files merge as git merges them. Blobs and trees
    /// of the result are stored; no ref moves.
    public func merge(
        _ theirs: ObjectID, into ours: ObjectID, taking scope: MergeScope = .wholeTree,
        selecting isSelected: (TreePath) -> Bool = { _ in false },
        resolving resolve: (FileMerge) throws(GitError) -> FileResolution = { _ in .asGit }
    ) throws(GitError) -> TreeMerge {
        let base = try baseTree(of: ours, and: theirs, selecting: isSelected, resolving: resolve)
        return try merge(
            tree: tree(of: theirs), into: tree(of: ours), base: base, taking: scope, attributesOf: ours, selecting: isSelected, resolving: resolve)
    }

    /// As `merge(_:into:)`, but on trees, over a base that the caller chose; a missing base is an empty tree. `.gitattributes` are
    /// those of the commit `attributesOf`, if one is named: how other files merge (see `MergeAttribute`).
    public func merge(
        tree theirs: ObjectID, into ours: ObjectID, base: ObjectID?, taking scope: MergeScope = .wholeTree, attributesOf commit: ObjectID? = nil,
        selecting isSelected: (TreePath) -> Bool = { _ in false },
        resolving resolve: (FileMerge) throws(GitError) -> FileResolution = { _ in .asGit }
    ) throws(GitError) -> TreeMerge {
        try withoutActuallyEscaping(isSelected) { isSelected throws(GitError) in
            try withoutActuallyEscaping(resolve) { resolve throws(GitError) in
                var merger = TreeMerger(
                    repository: self, base: base, ours: ours, theirs: theirs, scope: scope, virtualDepth: 0, attributes: commit,
                    isSelected: isSelected, resolve: resolve)
                return try merger.merge()
            }
        }
    }

    /// The tree of the merge base of two commits: the virtual one where there are several, `nil` where there is none.
    public func baseTree(
        of one: ObjectID, and other: ObjectID,
        selecting isSelected: (TreePath) -> Bool = { _ in false },
        resolving resolve: (FileMerge) throws(GitError) -> FileResolution = { _ in .asGit }
    ) throws(GitError) -> ObjectID? {
        var stepsLeft = virtualStepsMax
        return try virtualTree(
            of: mergeBases(of: one, and: other), depth: 1, attributesOf: one, stepsLeft: &stepsLeft, selecting: isSelected, resolving: resolve)
    }

    /// The commits merged with each other, oldest first, each step over a base found in the same way.
    private func virtualTree(
        of commits: [ObjectID], depth: Int, attributesOf attributes: ObjectID, stepsLeft: inout Int,
        selecting isSelected: (TreePath) -> Bool, resolving resolve: (FileMerge) throws(GitError) -> FileResolution
    ) throws(GitError) -> ObjectID? {
        guard let newest = commits.first else { return nil }
        guard commits.count > 1 else { return try tree(of: newest) }
        var ordered: [(seconds: Int64, id: ObjectID)] = []
        for id in commits { ordered.append((try commit(id).committer.seconds, id)) }
        ordered.sort { $0 < $1 }

        var merged = [ordered[0].id]
        var tree = try self.tree(of: ordered[0].id)
        for next in ordered.dropFirst().map(\.id) {
            // Crossings nest and multiply; git follows them all, and so anyone could make it work for hours. What was
            // merged so far is a base too, only one that explains less.
            guard stepsLeft > 0 else { return tree }
            stepsLeft -= 1
            let bases = try mergeBases(of: next, andMergeOf: merged)
            let base = try virtualTree(
                of: bases, depth: depth + 1, attributesOf: attributes, stepsLeft: &stepsLeft, selecting: isSelected, resolving: resolve)
            let theirs = try self.tree(of: next)
            tree = try withoutActuallyEscaping(isSelected) { isSelected throws(GitError) in
                try withoutActuallyEscaping(resolve) { resolve throws(GitError) in
                    var merger = TreeMerger(
                        repository: self, base: base, ours: tree, theirs: theirs, scope: .wholeTree, virtualDepth: depth, attributes: attributes,
                        isSelected: isSelected, resolve: resolve)
                    return try merger.virtualTree()
                }
            }
            merged.append(next)
        }
        return tree
    }
}

/// How many merges may go into one virtual base.
private let virtualStepsMax = 64
