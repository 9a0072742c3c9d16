import CLibGit2

/// What stands at a path of a tree.
public struct TreeEntry: Hashable, Sendable {
    /// The kinds of entry that git knows.
    public enum Mode: UInt32, Hashable, Sendable {
        case file = 0o100644, executable = 0o100755, symlink = 0o120000, submodule = 0o160000, tree = 0o040000

        /// Whether the entry is a regular file.
        public var isFile: Bool { self == .file || self == .executable }
    }

    public let path: TreePath
    public let mode: Mode
    public let id: ObjectID

    public init(path: TreePath, mode: Mode, id: ObjectID) {
        self.path = path
        self.mode = mode
        self.id = id
    }
}

/// How one file differs between two trees.
public enum Change: Hashable, Sendable {
    case added(TreeEntry)
    case deleted(TreeEntry)
    case modified(from: TreeEntry, to: TreeEntry)
    /// Under another path, with the same or similar content.
    case renamed(from: TreeEntry, to: TreeEntry)

    /// The entry in the first tree.
    public var old: TreeEntry? {
        switch self {
        case .added: nil
        case .deleted(let entry), .modified(let entry, _), .renamed(let entry, _): entry
        }
    }

    /// The entry in the second tree.
    public var new: TreeEntry? {
        switch self {
        case .deleted: nil
        case .added(let entry), .modified(_, let entry), .renamed(_, let entry): entry
        }
    }
}

/// One file that becomes different in a new tree.
public enum TreeEdit: Hashable, Sendable {
    /// The entry stands at its path, whatever was there.
    case put(TreeEntry)
    /// Nothing stands at the path. Not a fault if nothing did.
    case remove(TreePath)
}

extension Repository {
    /// What stands at `path` in the tree; `nil` if nothing does.
    public func entry(at path: TreePath, in tree: ObjectID) throws(GitError) -> TreeEntry? { nil }

    /// Every entry but directories for which `isWanted` holds, in git's order. No blob is read.
    public func files(in tree: ObjectID, where isWanted: (TreePath) -> Bool = { _ in true }) throws(GitError) -> [TreeEntry] { [] }

    /// How `new` differs from `old`, sorted by path; a missing tree is an empty one. Without `findingRenames` a rename
    /// is a deletion and an addition, and no blob is read.
    public func changes(from old: ObjectID?, to new: ObjectID?, findingRenames: Bool = false) throws(GitError) -> [Change] { [] }

    /// Writes the tree that is `base` with these edits, and gives its id; a missing base is an empty tree. Of several
    /// edits of one path the last counts. Directories come and go with their files. Throws `.exists` if a file would stand where a directory is.
    public func write(tree base: ObjectID?, with edits: [TreeEdit]) throws(GitError) -> ObjectID {
        throw GitError(.other, stage: "write a tree", detail: "to come")
    }
}
