import CLibGit2
import Glibc

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
    /// No file stands at the path. Not a fault if none did; a directory stays.
    case remove(TreePath)
}

extension Repository {
    /// What stands at `path` in the tree; `nil` if nothing does.
    public func entry(at path: TreePath, in tree: ObjectID) throws(GitError) -> TreeEntry? {
        let components = path.components
        var directory = tree
        var reached = TreePath.top
        for (depth, component) in components.enumerated() {
            reached = reached.appending(component)
            guard let entry = try entry(named: component, at: reached, in: directory) else { return nil }
            if depth == components.count - 1 { return entry }
            guard entry.mode == .tree else { return nil }
            directory = entry.id
        }
        return nil
    }

    /// Every entry but directories for which `isWanted` holds, in git's order. No blob is read. Throws `.limit` for more
    /// than a million entries.
    public func files(in tree: ObjectID, where isWanted: (TreePath) -> Bool = { _ in true }) throws(GitError) -> [TreeEntry] {
        var files: [TreeEntry] = []
        // The stack holds what is still to be listed, the next entry last; recursion would be bounded by the thread's.
        var pending = try entries(of: tree, at: .top).reversed() as [TreeEntry]
        var count = 0
        while let entry = pending.popLast() {
            count += 1
            guard count <= filesMax else {
                throw GitError(.limit, stage: "list tree \(tree.short)", detail: "it has more than \(filesMax) entries")
            }
            if entry.mode == .tree {
                guard entry.path.bytes.count <= pathBytesMax else {
                    throw GitError(.limit, stage: "list tree \(tree.short)", detail: "a path has more than \(pathBytesMax) bytes")
                }
                pending += try entries(of: entry.id, at: entry.path).reversed()
            } else if isWanted(entry.path) {
                files.append(entry)
            }
        }
        return files
    }

    /// The entries of the directory at `path`, or of the top for `nil`, in git's order, with paths from the top; none where no
    /// directory is there.
    public func entries(ofDirectory path: TreePath?, in tree: ObjectID) throws(GitError) -> [TreeEntry] {
        guard let path else { return try entries(of: tree, at: .top) }
        guard let directory = try entry(at: path, in: tree), directory.mode == .tree else { return [] }
        return try entries(of: directory.id, at: path)
    }

    /// The entries of one directory, in git's order; a missing tree has none.
    func entries(of tree: ObjectID?, at path: TreePath) throws(GitError) -> [TreeEntry] {
        guard let tree else { return [] }
        let handle = try treeHandle(tree)
        return unsafe (0..<git_tree_entrycount(handle.pointer)).map { index in
            // The index is below the count, so there is an entry, and it lives as long as the tree.
            let entry = unsafe git_tree_entry_byindex(handle.pointer, index)!
            return unsafe TreeEntry(entry, at: path.appending(Array(cString: git_tree_entry_name(entry))))
        }
    }

    private func entry(named name: ArraySlice<UInt8>, at path: TreePath, in tree: ObjectID) throws(GitError) -> TreeEntry? {
        let handle = try treeHandle(tree)
        return try unsafe TreePath(unchecked: Array(name)).withCString { name throws(GitError) in
            unsafe git_tree_entry_byname(handle.pointer, name).map { unsafe TreeEntry($0, at: path) }
        }
    }

    func treeHandle(_ id: ObjectID) throws(GitError) -> Handle<TreeKind> {
        let repository = unsafe pointer
        var oid = id.oid
        return try unsafe Handle<TreeKind>("read tree \(id.short)") { unsafe git_tree_lookup(&$0, repository, &oid) }
    }
}

/// What Linux can name; deeper trees are made to do harm.
private let pathBytesMax = 4096

/// A few small objects can stand for a tree of billions of files; no real one comes near this.
private let filesMax = 1_000_000

extension TreeEntry {
    fileprivate init(_ entry: OpaquePointer, at path: TreePath) {
        // The library normalises what old writers stored, such as group-writable files, to the five modes.
        let mode = unsafe Mode(rawValue: git_tree_entry_filemode(entry).rawValue) ?? .file
        unsafe self.init(path: path, mode: mode, id: ObjectID(git_tree_entry_id(entry).pointee))
    }
}

extension [UInt8] {
    init(cString: UnsafePointer<CChar>) {
        unsafe self = UnsafeBufferPointer(start: cString, count: strlen(cString)).map { UInt8(bitPattern: $0) }
    }
}

// MARK: - Differences

/// With how many deleted files an added one is compared in search of renames; git's own default for diffs. More would
/// take minutes where someone moved everything; a rename not seen is a conflict at worst.
private let renamesComparedMax = 1000

extension Repository {
    /// How `new` differs from `old`, sorted by path; a missing tree is an empty one. Without `findingRenames` a rename
    /// is a deletion and an addition, and no blob is read. Throws `.limit` for more than a million changes.
    public func changes(
        from old: ObjectID?, to new: ObjectID?, findingRenames: Bool = false
    ) throws(GitError) -> [Change] {
        let stage = "compare trees \(old?.short ?? "(none)") and \(new?.short ?? "(none)")"
        guard old != new else { return [] }
        let diff = try difference(from: old, to: new, stage)
        if findingRenames { try findRenames(in: diff, stage) }
        return unsafe (0..<git_diff_num_deltas(diff.pointer)).flatMap { index in
            unsafe Change.changes(git_diff_get_delta(diff.pointer, index)!.pointee)
        }
    }

    private func difference(from old: ObjectID?, to new: ObjectID?, _ stage: String) throws(GitError) -> Handle<DiffKind> {
        let repository = unsafe pointer
        let (one, other) = try (TreeBox(old, in: self), TreeBox(new, in: self))
        var options = unsafe git_diff_options()
        try check(unsafe git_diff_options_init(&options, UInt32(GIT_DIFF_OPTIONS_VERSION)), stage)
        unsafe options.flags = GIT_DIFF_INCLUDE_TYPECHANGE.rawValue | GIT_DIFF_SKIP_BINARY_CHECK.rawValue
        unsafe options.ignore_submodules = GIT_SUBMODULE_IGNORE_NONE
        // Asked before each change is added; a callback that says no ends the comparison with its own status.
        unsafe options.notify_cb = { found, _, _, _ in
            unsafe git_diff_num_deltas(found) < filesMax ? 0 : GIT_EUSER.rawValue
        }
        do throws(GitError) {
            return try unsafe Handle(stage) { unsafe git_diff_tree_to_tree(&$0, repository, one.pointer, other.pointer, &options) }
        } catch where error.kind == .limit {
            throw GitError(.limit, stage: stage, detail: "there are more than \(filesMax) changes")
        }
    }

    private func findRenames(in diff: borrowing Handle<DiffKind>, _ stage: String) throws(GitError) {
        var options = unsafe git_diff_find_options()
        try check(unsafe git_diff_find_options_init(&options, UInt32(GIT_DIFF_FIND_OPTIONS_VERSION)), stage)
        unsafe options.flags = GIT_DIFF_FIND_RENAMES.rawValue
        unsafe options.rename_threshold = 50
        unsafe options.rename_limit = renamesComparedMax
        try check(unsafe git_diff_find_similar(diff.pointer, &options), stage)
    }
}

/// A tree that may be missing, for calls that take NULL for an empty one.
@safe private final class TreeBox {
    private let handle: Handle<TreeKind>?
    init(_ id: ObjectID?, in repository: Repository) throws(GitError) {
        if let id { handle = try repository.treeHandle(id) } else { handle = nil }
    }
    var pointer: OpaquePointer? {
        switch handle {
        case .some(let handle): unsafe handle.pointer
        case .none: nil
        }
    }
}

extension Change {
    /// What a delta of the library says; two changes where git sees no rename in it.
    fileprivate static func changes(_ delta: git_diff_delta) -> [Change] {
        let (old, new) = unsafe (TreeEntry(delta.old_file), TreeEntry(delta.new_file))
        switch unsafe delta.status {
        case GIT_DELTA_ADDED: return [.added(new)]
        case GIT_DELTA_DELETED: return [.deleted(old)]
        case GIT_DELTA_RENAMED:
            // All empty files are alike; git's merge takes none for the renamed form of another.
            return old.id == emptyBlob ? [.deleted(old), .added(new)] : [.renamed(from: old, to: new)]
        default: return [.modified(from: old, to: new)]
        }
    }

    private static let emptyBlob = ObjectID(hex: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
}

extension TreeEntry {
    fileprivate init(_ file: git_diff_file) {
        let mode = unsafe Mode(rawValue: UInt32(file.mode)) ?? .file
        unsafe self.init(path: TreePath(unchecked: Array(cString: file.path)), mode: mode, id: ObjectID(file.id))
    }
}

// MARK: - Writing

extension Repository {
    /// Writes the tree that is `base` with these edits, and gives its id; a missing base is an empty tree. Of several
    /// edits of one path the last counts. Directories come and go with their files. Throws `.exists` if a file would
    /// stand where a directory is, and `.invalid` for a path that must not be written.
    public func write(tree base: ObjectID?, with edits: [TreeEdit]) throws(GitError) -> ObjectID {
        let written = try write(base: base, edits: edits)
        if let taken = written.taken.first {
            throw GitError(.exists, stage: "write a tree", detail: "\(taken) is a file and a directory at once")
        }
        return written.tree
    }

    /// As `write(tree:with:)`, but says which paths would be a file and a directory at once. The tree is of use only if
    /// there are none.
    func write(base: ObjectID?, edits: [TreeEdit]) throws(GitError) -> (tree: ObjectID, taken: [TreePath]) {
        var root = TreePlan()
        for edit in edits {
            switch edit {
            case .remove(let path): root.add(nil, at: path.components[...])
            case .put(let entry):
                guard entry.path.isSafe else {
                    throw GitError(.invalid, stage: "write a tree", detail: "\(entry.path) must not be in a tree")
                }
                root.add(entry, at: entry.path.components[...])
            }
        }
        var taken: [TreePath] = []
        let tree = try write(root, over: base, at: .top, taken: &taken)
        if let tree { return (tree, taken) }
        return (try write(emptyTree: ()), taken)
    }

    /// Writes one directory; `nil` if nothing is left in it.
    private func write(
        _ plan: TreePlan, over base: ObjectID?, at path: TreePath, taken: inout [TreePath]
    ) throws(GitError) -> ObjectID? {
        let stage = "write tree \(path)"
        let source = try TreeBox(base, in: self)
        let repository = unsafe pointer
        let builder = try unsafe Handle<TreeBuilderKind>(stage) { unsafe git_treebuilder_new(&$0, repository, source.pointer) }
        for (name, node) in plan.children {
            let place = path.appending(name)
            let present = try base.flatMap { base throws(GitError) in try entry(named: name[...], at: place, in: base) }
            let below = try node.children.isEmpty
                ? (present?.mode == .tree ? present?.id : nil)
                : write(TreePlan(children: node.children), over: present?.mode == .tree ? present?.id : nil, at: place, taken: &taken)
            let file: TreeEntry? =
                switch node.edit {
                case .some(let edit): edit
                case .none: present?.mode == .tree ? nil : present
                }
            if below != nil, file != nil { taken.append(place) }
            let result = file ?? below.map { TreeEntry(path: place, mode: .tree, id: $0) }
            try set(result, named: name, in: builder, isPresent: present != nil, stage)
        }
        guard unsafe git_treebuilder_entrycount(builder.pointer) > 0 else { return nil }
        var id = git_oid()
        try check(unsafe git_treebuilder_write(&id, builder.pointer), stage)
        return ObjectID(id)
    }

    private func set(
        _ entry: TreeEntry?, named name: [UInt8], in builder: borrowing Handle<TreeBuilderKind>, isPresent: Bool, _ stage: String
    ) throws(GitError) {
        let pointer = unsafe builder.pointer
        try unsafe TreePath(unchecked: name).withCString { name throws(GitError) in
            if let entry {
                var oid = entry.id.oid
                try check(unsafe git_treebuilder_insert(nil, pointer, name, &oid, git_filemode_t(entry.mode.rawValue)), stage)
            } else if isPresent {
                try check(unsafe git_treebuilder_remove(pointer, name), stage)
            }
        }
    }

    private func write(emptyTree: Void) throws(GitError) -> ObjectID {
        var id = git_oid()
        try check(unsafe git_odb_write(&id, objects, nil, 0, GIT_OBJECT_TREE), "write an empty tree")
        return ObjectID(id)
    }
}

/// The edits of one directory and those below it.
private struct TreePlan {
    /// What becomes of the entry itself: `nil` nothing, `.some(nil)` it goes.
    var edit: TreeEntry??
    var children: [[UInt8]: TreePlan] = [:]

    mutating func add(_ entry: TreeEntry?, at components: ArraySlice<ArraySlice<UInt8>>) {
        guard let first = components.first else { return edit = .some(entry) }
        children[Array(first), default: TreePlan()].add(entry, at: components.dropFirst())
    }
}
