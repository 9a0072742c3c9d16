import Git
import StringCatalog
import StringsTable

/// The source languages of the tables in one tree.
///
/// A working object: it keeps what it found for each folder as long as it lives.
public final class SourceLanguages {
    private let repository: Repository
    private let commit: ObjectID
    private var known: [TreePath?: String] = [:]
    /// What `.concord` says, once it was read.
    private var settings: TreeSettings?

    /// An Xcode project of a large app has some megabytes.
    private static let bytesMax = 32 << 20

    /// Those in the tree of a commit.
    public init(in commit: ObjectID, of repository: Repository) {
        self.commit = commit
        self.repository = repository
    }

    /// Which languages the `.concord` of the tree says are one.
    func aliases() throws(GitError) -> LanguageAliases { try said().policy.aliases }

    private func said() throws(GitError) -> TreeSettings {
        if let settings { return settings }
        let read = try TreeSettings(in: commit, of: repository)
        settings = read
        return read
    }

    /// The language of a table, which its folder names.
    func table(at path: TreePath) throws(GitError) -> TableLanguage {
        guard TableKind(path: path.name) != nil else { return TableLanguage() }
        return TableLanguage(path: path.description, sourceLanguage: try language(ofTable: path))
    }

    /// The language of the source texts of a table, by the `.concord` of the tree, or by what stands around the table; English where
    /// nothing tells.
    public func language(ofTable path: TreePath) throws(GitError) -> String {
        var place = path.parent
        while let inner = place, !inner.name.hasSuffix(".lproj") { place = inner.parent }
        guard let place else { return "en" }
        if let language = try said().sourceLanguage { return language }
        let folder = place.parent
        if let found = known[folder] { return found }
        let tree = try repository.tree(of: commit)
        let found = try sourceLanguage(ofTablesIn: folder?.description ?? "") { path throws(GitError) in
            guard let directory = TreePath(path) else { return path.isEmpty ? try repository.entries(ofDirectory: nil, in: tree).map(\.path.name) : [] }
            return try repository.entries(ofDirectory: directory, in: tree).map(\.path.name)
        } read: { path throws(GitError) in
            guard let path = TreePath(path), let entry = try repository.entry(at: path, in: tree), entry.mode.isFile,
                try repository.size(ofBlob: entry.id) <= Self.bytesMax
            else { return nil }
            return Bytes(try repository.blob(entry.id, bytesMax: Self.bytesMax).array)
        }
        let language = found ?? "en"
        known[folder] = language
        return language
    }
}
