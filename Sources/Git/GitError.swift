/// A fault met while working on a repository: what kind, while doing what, and what the library said.
///
/// Expected outcomes (a lost race, an absent ref, a conflict) are values of the calls concerned, never a `GitError`.
public struct GitError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What a caller can decide by.
    public enum Kind: Hashable, Sendable {
        /// An object, a path or the repository itself is not there.
        case notFound
        /// Something is there already.
        case exists
        /// Another process holds a lock, and kept it longer than was waited.
        case locked
        /// Something changed under the call.
        case modified
        /// Stored data does not read as what it must be.
        case corrupt
        /// The repository uses something that is not supported; it was not touched.
        case unsupported(Unsupported)
        /// The repository belongs to another user, and nobody declared it safe.
        case foreignOwner
        /// A bound on size, depth or number was passed.
        case limit
        /// A name, path or argument is not valid.
        case invalid
        /// The operating system refused: permissions, a full disk, a failing device.
        case io
        /// libgit2 cannot be loaded.
        case unavailable
        /// Any other fault; `detail` tells.
        case other
    }

    /// What a repository can have that keeps it from being opened.
    public enum Unsupported: Hashable, Sendable {
        case sha256, reftable, worktreeConfig, partialClone, shallow
        case `extension`(String)
        case formatVersion(String)
    }

    public let kind: Kind
    /// What was being done, as the words behind "cannot": `open /srv/app.git`.
    public let stage: String
    /// Why not, and where it helps what to do; a sentence without a full stop.
    public let detail: String

    public init(_ kind: Kind, stage: String, detail: String) {
        self.kind = kind
        self.stage = stage
        self.detail = detail
    }

    /// One sentence for people.
    public var description: String { "cannot \(stage): \(detail)" }
}
