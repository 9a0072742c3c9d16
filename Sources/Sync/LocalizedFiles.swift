import Git
import StringCatalog
import StringsTable

/// The files of texts in one repository, each version read once.
///
/// The steps of a look concern the same few versions: what one step merged is counted for its message, and comes in again on the
/// way back. A version never changes, so what was read is good as long as there is room for it.
final class LocalizedFiles {
    let repository: Repository
    /// Larger files are not read.
    let bytesMax: Int
    private var kept: [Version: LocalizedFile] = [:]
    private var keptBytes = 0

    /// So many bytes are kept, files of these sizes and what was found out about them; then all are forgotten.
    private static let keptBytesMax = 64 << 20

    private struct Version: Hashable {
        let blob: ObjectID
        let kind: TableKind?
    }

    init(_ repository: Repository, bytesMax: Int = RepositorySettings.catalogBytesMaxStandard) { (self.repository, self.bytesMax) = (repository, bytesMax) }

    /// The file as the form reads it that `path` says; `nil` when it is damaged, too large, or nothing of its kind. `like` is one that
    /// probably shares most of its bytes.
    func file(_ entry: TreeEntry, path: TreePath, like: LocalizedFile? = nil) throws(GitError) -> LocalizedFile? {
        let name = path.description
        let version = Version(blob: entry.id, kind: TableKind(path: name))
        if let known = kept[version] { return known }
        guard let bytes = try bytes(entry), let file = try? LocalizedFile(parsing: bytes, path: name, like: like) else { return nil }
        keep(file, as: version)
        return file
    }

    /// Why `file` gives nothing, as a sentence; `nil` where it gives the file.
    func damage(of entry: TreeEntry, path: TreePath) throws(GitError) -> String? {
        guard let bytes = try bytes(entry) else { return "\(try repository.size(ofBlob: entry.id)) bytes are more than the \(bytesMax) allowed" }
        do {
            _ = try LocalizedFile(parsing: bytes, path: path.description)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Stores a file, and gives the id of its blob.
    func write(_ file: LocalizedFile, path: TreePath) throws(GitError) -> ObjectID {
        let id = try file.bytes.withSpan { (span) throws(GitError) in try repository.write(blob: span) }
        keep(file, as: Version(blob: id, kind: TableKind(path: path.description)))
        return id
    }

    /// The bytes of a file; `nil` when they are too many.
    func bytes(_ entry: TreeEntry) throws(GitError) -> Bytes? {
        guard try repository.size(ofBlob: entry.id) <= bytesMax else { return nil }
        return try repository.blob(entry.id).withSpan { Bytes($0) }
    }

    private func keep(_ file: LocalizedFile, as version: Version) {
        if keptBytes + file.bytes.count > Self.keptBytesMax { (kept, keptBytes) = ([:], 0) }
        if kept.updateValue(file, forKey: version) == nil { keptBytes += file.bytes.count }
    }
}
