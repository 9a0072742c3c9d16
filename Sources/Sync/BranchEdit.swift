import Git
import Linux
import StringCatalog
import StringsTable

/// What became of an edit of a branch.
public enum BranchEdit: Sendable, Equatable {
    /// The branch is at this new commit.
    case moved(ObjectID)
    /// The catalog says so already.
    case unchanged
    /// The branch must not be moved; the sentence says why.
    case blocked(String)
}

/// Why a branch cannot be edited.
public enum BranchEditError: Error, Sendable, CustomStringConvertible {
    case git(GitError)
    case leaf(EditFault)
    /// There is no such branch, catalog, key or record; the sentence says what to do.
    case absent(String)

    public var description: String {
        switch self {
        case .git(let error): error.description
        case .leaf(let fault): fault.description
        case .absent(let sentence): sentence
        }
    }

    /// Runs what git does for an edit.
    static func wrapping<R>(_ body: () throws(GitError) -> R) throws(BranchEditError) -> R {
        do { return try body() } catch { throw .git(error) }
    }
}

/// A branch whose catalogs a person edits through the repository, without a work tree.
public struct CatalogBranch {
    private let files: LocalizedFiles
    public let name: RefName

    /// So many other writers in a row may be faster.
    private static let racesMax = 20

    private var repository: Repository { files.repository }

    /// - Parameter text: `main` or `refs/heads/main`.
    public init(_ text: String, in repository: Repository) throws(BranchEditError) {
        guard let name = text.hasPrefix("refs/") ? RefName(text) : RefName.branch(text), name.isBranch else { throw .absent("`\(text)` is not the name of a branch") }
        self.name = name
        files = LocalizedFiles(repository)
    }

    /// The commit at the tip. Throws `.absent` if there is no such branch.
    public func tip() throws(BranchEditError) -> ObjectID {
        guard let tip = try BranchEditError.wrapping({ () throws(GitError) in try repository.tip(of: name) }) else {
            throw .absent("there is no branch \(name.shorthand)")
        }
        return tip
    }

    /// Whether the tip has a file there.
    func hasFile(_ path: TreePath) throws(BranchEditError) -> Bool {
        try file(at: path, in: tree(of: tip())) != nil
    }

    private func tree(of commit: ObjectID) throws(BranchEditError) -> ObjectID {
        try BranchEditError.wrapping { () throws(GitError) in try repository.tree(of: commit) }
    }

    private func file(at path: TreePath, in tree: ObjectID) throws(BranchEditError) -> TreeEntry? {
        try BranchEditError.wrapping { () throws(GitError) in try repository.entry(at: path, in: tree) }.flatMap { $0.mode.isFile ? $0 : nil }
    }

    /// The language of a table on the branch.
    func language(ofTable path: TreePath) throws(BranchEditError) -> TableLanguage {
        let tip = try tip()
        return try BranchEditError.wrapping { () throws(GitError) in try SourceLanguages(in: tip, of: repository).table(at: path) }
    }

    /// Edits one file of texts and commits the result as `author`. If someone else moves the branch meanwhile, the edit is made again
    /// on what is there then; nobody's work is lost.
    ///
    /// - Parameters:
    ///   - first: what must be written before the branch moves, under its lock; see `Repository.compareAndSwap`.
    ///   - edit: the new bytes of the file; called again after a lost race.
    func edit(
        _ path: TreePath, message: String, author: Signature, first: () throws(GitError) -> Swap = { .swapped },
        _ edit: (LocalizedFile) throws(EditFault) -> Bytes
    ) throws(BranchEditError) -> BranchEdit {
        try change(message: message, author: author, first: first) { tree throws(BranchEditError) in
            guard let entry = try file(at: path, in: tree) else { throw .absent("\(name.shorthand) has no file \(path)") }
            let read = try BranchEditError.wrapping { () throws(GitError) in try files.file(entry, path: path) }
            guard let read else {
                let damage = try BranchEditError.wrapping { () throws(GitError) in try files.damage(of: entry, path: path) }
                throw .absent("\(path) on \(name.shorthand) cannot be read: \(damage ?? "")")
            }
            let bytes: Bytes
            do throws(EditFault) { bytes = try edit(read) } catch { throw .leaf(error) }
            guard bytes !== read.bytes, bytes.array != read.bytes.array else { return [] }
            let id = try BranchEditError.wrapping { () throws(GitError) in try bytes.withSpan { (span) throws(GitError) in try repository.write(blob: span) } }
            return [.put(TreeEntry(path: path, mode: entry.mode, id: id))]
        }
    }

    /// Changes the tree of the branch in one commit, again on what is there then if someone else moves the branch meanwhile.
    ///
    /// - Parameter edits: what is to change in a tree; nothing where the tree is so already.
    func change(
        message: String, author: Signature, first: () throws(GitError) -> Swap = { .swapped },
        _ edits: (ObjectID) throws(BranchEditError) -> [TreeEdit]
    ) throws(BranchEditError) -> BranchEdit {
        for _ in 0..<Self.racesMax {
            if let why = try BranchEditError.wrapping({ () throws(GitError) in try obstacle() }) { return .blocked(why) }
            let tip = try tip()
            let tree = try tree(of: tip)
            let edits = try edits(tree)
            let edit = try BranchEditError.wrapping { () throws(GitError) in
                try commit(edits, to: tree, on: tip, message: message, author: author, first: first)
            }
            if let edit { return edit }
        }
        return .blocked("\(name.shorthand) was moved by others again and again; try later")
    }

    /// Why the branch must not be moved now.
    private func obstacle() throws(GitError) -> String? {
        try repository.checkedOutBranches().first { $0.branch == name }.map {
            "\(name.shorthand) is checked out in \($0.workTree), and a branch is not moved under a work tree; edit it there"
        }
    }

    /// Moves the branch by one commit; `nil` when somebody else moved it first.
    private func commit(
        _ edits: [TreeEdit], to tree: ObjectID, on tip: ObjectID, message: String, author: Signature, first: () throws(GitError) -> Swap
    ) throws(GitError) -> BranchEdit? {
        let edited = try repository.write(tree: tree, with: edits)
        guard edited != tree else { return .unchanged }
        let commit = try repository.write(commit: edited, parents: [tip], author: author, committer: author, message: message)
        let subject = message.split(separator: "\n").first ?? ""
        switch try repository.compareAndSwap(name, from: tip, to: commit, by: author, reflog: "concord: \(subject)", first: first) {
        case .swapped: return .moved(commit)
        case .lost: return nil
        case .locked(let path, let age): return .blocked("\(path) is held by another process for \(age) s; if none is running, remove the file")
        }
    }

    /// The one file that has a key: at the given path, or else the only one in the tree. A table has it only if it is of the language.
    public func path(of key: String, language: String? = nil, named path: String?, preferring known: String? = nil) throws(BranchEditError) -> TreePath {
        let tip = try tip()
        let tree = try tree(of: tip)
        for text in [path, known].compactMap({ $0 }) {
            if let place = TreePath(text), try file(at: place, in: tree) != nil { return place }
            if text == path { throw .absent("\(name.shorthand) has no file \(text)") }
        }
        let found = try BranchEditError.wrapping { () throws(GitError) in try paths(of: key, language: language, in: tree, SourceLanguages(in: tip, of: repository)) }
        guard let first = found.first else { throw .absent("no catalog or table on \(name.shorthand) has the key \"\(key)\"; name one with --path") }
        guard found.count == 1 else {
            throw .absent("several files have the key \"\(key)\": \(found.map(\.description).joined(separator: ", ")); name one with --path")
        }
        return first
    }

    private func paths(of key: String, language: String?, in tree: ObjectID, _ languages: SourceLanguages) throws(GitError) -> [TreePath] {
        func isOfTexts(_ path: TreePath) -> Bool { TableKind(path: path.name) != nil || path.name.hasSuffix(".xcstrings") }
        var found: [TreePath] = []
        for entry in try repository.files(in: tree, where: isOfTexts) where entry.mode.isFile {
            let table = try languages.table(at: entry.path)
            if TableKind(path: entry.path.name) != nil {
                guard let language, let own = table.code, isSameLanguage(own, language) else { continue }
            }
            guard let file = try files.file(entry, path: entry.path) else { continue }
            if !file.leaves(of: key, language: nil, in: table).isEmpty || file.value(at: LeafPath(key: key)) != nil { found.append(entry.path) }
        }
        return found
    }
}

// MARK: - Restoring

extension LostText {
    /// Whether this loss is of a key and language; `nil` fits everything. Spellings of a language are equal.
    public func concerns(key: String?, language: String?) -> Bool {
        guard key == nil || leaf.key == key else { return false }
        return language.map { wanted in leaf.language.map { isSameLanguage($0, wanted) } ?? false } ?? true
    }
}

extension Ledger {
    /// Puts a lost text back on a branch: an edit of this one place, in a catalog marked `needs_review`, since the text was made
    /// for what was there before. A table whose key is gone gets all of it again, with its comment, as it was before the loss.
    ///
    /// - Parameter path: the file; `nil` for the one from which the text was lost, or else the only one that has the key.
    public func restore(_ lost: LostText, on branch: CatalogBranch, path: String?, by author: Signature) throws(BranchEditError) -> BranchEdit {
        guard let key = lost.leaf.key else { throw .absent("the lost text has no key") }
        let path = try branch.path(of: key, language: lost.leaf.language, named: path, preferring: lost.file)
        let message = """
            Restore "\(printable(key, lengthMax: 40))" \(lost.leaf.placeBelowKey)

            \(path): \(printable(lost.text))

            Concord-Restores: \(lost.sync.commit.hex)

            """
        let origin = try BranchEditError.wrapping { () throws(GitError) in try file(before: lost) }
        let language = try branch.language(ofTable: path)
        return try branch.edit(path, message: message, author: author) { file throws(EditFault) in
            let (leaf, text) = try lost.place(in: file)
            if case .table(let table, _) = file, case .table? = origin, let origin, !table.reaches(leaf) { return try file.taking(leaf, from: origin, in: language) }
            return try file.setting(text, state: "needs_review", at: leaf, in: language)
        }
    }

    /// The file that had the text when it was lost; `nil` where the commits of that time are no longer here.
    private func file(before lost: LostText) throws(GitError) -> LocalizedFile? {
        guard let path = TreePath(lost.file) else { return nil }
        let files = LocalizedFiles(repository)
        do throws(GitError) {
            let commit = try repository.commit(lost.sync.commit)
            for id in commit.parents + [PartialSync(commit)?.source].compactMap({ $0 }) + [commit.id] {
                guard let entry = try repository.entry(at: path, in: repository.tree(of: id)), entry.mode.isFile else { continue }
                guard let file = try files.file(entry, path: path), isSameText(file.value(at: lost.leaf), lost.text) else { continue }
                return file
            }
        } catch where error.kind == .notFound {
            // Collected, or a clone without that branch.
        }
        return nil
    }
}

extension LostText {
    /// The place of the text in a file of either form, and the text as it stands there: it may have been lost before the tables became
    /// a catalog.
    fileprivate func place(in file: LocalizedFile) throws(EditFault) -> (leaf: LeafPath, text: String) {
        guard (file.table == nil) != (TableKind(path: self.file) == nil) else { return (leaf, text) }
        guard let there = file.counterpart(of: leaf) else {
            throw .place("it was lost in \(self.file) as \(leaf.field ?? ""), and this file has another form; put in by hand: \(text)")
        }
        return (there.path, there.text(text))
    }
}
