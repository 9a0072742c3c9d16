import CLibGit2

/// The bytes of a stored file, kept in memory as long as this object lives.
///
/// The bytes never change and never move, so a view of them is good for the life of the blob.
@safe public final class Blob: @unchecked Sendable {
    // Proof for `@unchecked`: the library's object is immutable after it was read, belongs to no repository, and its
    // count of owners, the only thing that changes, is atomic in a library built with threads, as Debian's is.
    private let handle: Handle<StoredObjectKind>

    init(_ handle: consuming Handle<StoredObjectKind>) { self.handle = handle }

    /// The number of bytes.
    public var count: Int { unsafe git_odb_object_size(handle.pointer) }

    /// The bytes, without a copy; valid as long as something holds this blob.
    @unsafe public var bytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: git_odb_object_data(handle.pointer), count: count)
    }

    /// Gives `body` the bytes, without a copy.
    public func withBytes<Value, Failure: Error>(_ body: (UnsafeRawBufferPointer) throws(Failure) -> Value) throws(Failure) -> Value {
        defer { withExtendedLifetime(self) {} }
        return try unsafe body(bytes)
    }

    /// A copy of the bytes.
    public var array: [UInt8] { unsafe withBytes { unsafe Array($0) } }
}

extension Repository {
    /// The blob of this id. Throws `.limit` if it has more than `bytesMax` bytes, before it is read.
    public func blob(_ id: ObjectID, bytesMax: Int = .max) throws(GitError) -> Blob {
        throw GitError(.other, stage: "read blob \(id.short)", detail: "to come")
    }

    /// The number of bytes of a blob, without reading it.
    public func size(ofBlob id: ObjectID) throws(GitError) -> Int { 0 }

    /// Stores a file's bytes and gives their id.
    public func write(blob bytes: [UInt8]) throws(GitError) -> ObjectID {
        throw GitError(.other, stage: "write a blob", detail: "to come")
    }

    /// Stores a file's bytes from a buffer, without a copy.
    public func write(blob bytes: UnsafeRawBufferPointer) throws(GitError) -> ObjectID {
        throw GitError(.other, stage: "write a blob", detail: "to come")
    }
}
