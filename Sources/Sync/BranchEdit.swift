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
}

/// A branch whose catalogs a person edits through the repository, without a work tree.
public struct CatalogBranch {
    let repository: Repository
    public let name: RefName

    /// So many other writers in a row may be faster.
    private static let racesMax = 20
    static let catalogBytesMax = 256 << 20

    /// - Parameter text: `main` or `refs/heads/main`.
    public init(_ text: String, in repository: Repository) throws(BranchEditError) {
        guard let name = text.hasPrefix("refs/") ? RefName(text) : RefName.branch(text), name.isBranch else { throw .absent("`\(text)` is not the name of a branch") }
        self.name = name
        self.repository = repository
    }

    /// The commit at the tip. Throws `.absent` if there is no such branch.
    public func tip() throws(BranchEditError) -> ObjectID {
        let tip: ObjectID?
        do { tip = try repository.tip(of: name) } catch { throw .git(error) }
        guard let tip else { throw .absent("there is no branch \(name.shorthand)") }
        return tip
    }

    /// Whether the tip has a file there.
    func hasFile(_ path: TreePath) throws(BranchEditError) -> Bool {
        let tip = try tip()
        do { return try repository.entry(at: path, in: repository.tree(of: tip))?.mode.isFile == true } catch { throw .git(error) }
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
            do {
                guard let entry = try repository.entry(at: path, in: tree), entry.mode.isFile else {
                    throw BranchEditError.absent("\(name.shorthand) has no file \(path)")
                }
                let file = try LocalizedFile(parsing: Bytes(repository.blob(entry.id, bytesMax: Self.catalogBytesMax).array), path: path.description)
                let bytes = try edit(file)
                guard bytes !== file.bytes, bytes.array != file.bytes.array else { return [] }
                return [.put(TreeEntry(path: path, mode: entry.mode, id: try repository.write(blob: bytes.array)))]
            } catch let error as BranchEditError {
                throw error
            } catch let error as GitError {
                throw .git(error)
            } catch let fault as EditFault {
                throw .leaf(fault)
            } catch {
                throw .absent("\(path) on \(name.shorthand) cannot be read: \(error)")
            }
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
            let tip = try tip()
            do {
                if let place = try repository.checkedOutBranches().first(where: { $0.branch == name }) {
                    return .blocked("\(name.shorthand) is checked out in \(place.workTree), and a branch is not moved under a work tree; edit it there")
                }
                let tree = try repository.tree(of: tip)
                let edited = try repository.write(tree: tree, with: edits(tree))
                guard edited != tree else { return .unchanged }
                let commit = try repository.write(commit: edited, parents: [tip], author: author, committer: author, message: message)
                let subject = message.split(separator: "\n").first ?? ""
                switch try repository.compareAndSwap(name, from: tip, to: commit, by: author, reflog: "concord: \(subject)", first: first) {
                case .swapped: return .moved(commit)
                case .lost: continue
                case .locked(let path, let age): return .blocked("\(path) is held by another process for \(age) s; if none is running, remove the file")
                }
            } catch let error as BranchEditError {
                throw error
            } catch let error as GitError {
                throw .git(error)
            } catch {
                throw .absent("\(error)")
            }
        }
        return .blocked("\(name.shorthand) was moved by others again and again; try later")
    }

    /// The one file that has a key: at the given path, or else the only one in the tree. A table has it only if it is of the language.
    public func path(of key: String, language: String? = nil, named path: String?, preferring known: String? = nil) throws(BranchEditError) -> TreePath {
        let tip = try tip()
        do {
            let tree = try repository.tree(of: tip)
            for text in [path, known].compactMap({ $0 }) {
                if let place = TreePath(text), try repository.entry(at: place, in: tree)?.mode.isFile == true { return place }
                if text == path { throw BranchEditError.absent("\(name.shorthand) has no file \(text)") }
            }
            func isCandidate(_ path: TreePath) -> Bool {
                guard TableKind(path: path.name) != nil else { return path.name.hasSuffix(".xcstrings") }
                guard let language, let own = TableLanguage(path: path.description).code else { return false }
                return isSameLanguage(own, language)
            }
            var found: [TreePath] = []
            for file in try repository.files(in: tree, where: isCandidate) where file.mode.isFile {
                guard let read = try? LocalizedFile(parsing: Bytes(repository.blob(file.id, bytesMax: Self.catalogBytesMax).array), path: file.path.description)
                else { continue }
                if !read.leaves(of: key, language: nil, at: file.path).isEmpty || read.value(at: LeafPath(key: key)) != nil { found.append(file.path) }
            }
            guard let first = found.first else { throw BranchEditError.absent("no catalog or table on \(name.shorthand) has the key \"\(key)\"; name one with --path") }
            guard found.count == 1 else {
                throw BranchEditError.absent("several files have the key \"\(key)\": \(found.map(\.description).joined(separator: ", ")); name one with --path")
            }
            return first
        } catch let error as BranchEditError {
            throw error
        } catch let error as GitError {
            throw .git(error)
        } catch {
            throw .absent("\(error)")
        }
    }
}

// MARK: - Restoring

extension LostText {
    /// Whether this loss is of a key and language; `nil` fits everything. Spellings of a language are equal.
    public func concerns(key: String?, language: String?) -> Bool {
        func same(_ a: String, _ b: String) -> Bool { a.lowercased().map { $0 == "_" ? "-" : $0 } == b.lowercased().map { $0 == "_" ? "-" : $0 } }
        guard key == nil || leaf.key == key else { return false }
        return language.map { wanted in leaf.language.map { same($0, wanted) } ?? false } ?? true
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
        let place = [lost.leaf.language, lost.leaf.fieldInShort].compactMap { $0 }.joined(separator: " ")
        let message = """
            Restore "\(printable(key, lengthMax: 40))" \(place)

            \(path): \(printable(lost.text))

            Concord-Restores: \(lost.sync.commit.hex)

            """
        let origin: LocalizedFile?
        do { origin = try file(before: lost) } catch { throw .git(error) }
        return try branch.edit(path, message: message, author: author) { file throws(EditFault) in
            let leaf = try lost.leaf(in: file)
            if case .table(let table, _) = file, case .table? = origin, let origin, !table.reaches(leaf) { return try file.taking(leaf, from: origin, path: path) }
            return try file.setting(lost.text, state: "needs_review", at: leaf, path: path)
        }
    }

    /// The file that had the text when it was lost; `nil` where the commits of that time are no longer here.
    private func file(before lost: LostText) throws(GitError) -> LocalizedFile? {
        guard let path = TreePath(lost.file) else { return nil }
        do throws(GitError) {
            let commit = try repository.commit(lost.sync.commit)
            for id in commit.parents + [PartialSync(commit)?.source].compactMap({ $0 }) + [commit.id] {
                guard let entry = try repository.entry(at: path, in: repository.tree(of: id)), entry.mode.isFile else { continue }
                let bytes = Bytes(try repository.blob(entry.id, bytesMax: CatalogBranch.catalogBytesMax).array)
                guard let file = try? LocalizedFile(parsing: bytes, path: lost.file), file.value(at: lost.leaf).map({ Array($0.utf8) }) == Array(lost.text.utf8) else { continue }
                return file
            }
        } catch where error.kind == .notFound {
            // Collected, or a clone without that branch.
        }
        return nil
    }
}

extension LostText {
    /// The place of the text in a file of either form: it may have been lost before the tables became a catalog.
    fileprivate func leaf(in file: LocalizedFile) throws(EditFault) -> LeafPath {
        let isPlain = leaf.field == nil || leaf.field == "value" || leaf.field == "stringUnit.value"
        switch (file, TableKind(path: self.file) != nil) {
        case (.catalog, false), (.table, true): return leaf
        case (.catalog, true) where isPlain: return LeafPath(key: leaf.key, language: leaf.language, field: "stringUnit.value")
        case (.table, false) where isPlain: return LeafPath(key: leaf.key, language: leaf.language, field: "value")
        case (_, _) where leaf.isComment: return LeafPath(key: leaf.key, language: TableKind(path: self.file) == nil ? leaf.language : nil, field: "comment")
        case (.catalog, _), (.table, _):
            throw .place("it was lost in \(self.file) as \(leaf.field ?? ""), and this file has another form; put in by hand: \(text)")
        }
    }
}
