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

    /// Gives `body` the bytes as a span, without a copy.
    public func withSpan<Value, Failure: Error>(_ body: (RawSpan) throws(Failure) -> Value) throws(Failure) -> Value {
        defer { withExtendedLifetime(self) {} }
        return try unsafe body(RawSpan(_unsafeBytes: bytes))
    }

    /// A copy of the bytes.
    public var array: [UInt8] { unsafe withBytes { unsafe Array($0) } }
}

extension Repository {
    /// The blob of this id. Throws `.limit` if it has more than `bytesMax` bytes, before it is read.
    public func blob(_ id: ObjectID, bytesMax: Int = .max) throws(GitError) -> Blob {
        let stage = "read blob \(id.short)"
        if bytesMax < .max {
            let count = try size(ofBlob: id)
            guard count <= bytesMax else {
                throw GitError(.limit, stage: stage, detail: "it has \(count) bytes; the limit is \(bytesMax)")
            }
        }
        let objects = unsafe objects
        var oid = id.oid
        let handle = try unsafe Handle<StoredObjectKind>(stage) { unsafe git_odb_read(&$0, objects, &oid) }
        let type = unsafe git_odb_object_type(handle.pointer)
        guard type == GIT_OBJECT_BLOB else { throw GitError(.invalid, stage: stage, detail: "it is not a blob") }
        return Blob(handle)
    }

    /// The number of bytes of a blob, without reading it.
    public func size(ofBlob id: ObjectID) throws(GitError) -> Int {
        let stage = "read the size of blob \(id.short)"
        var (count, type, oid) = (0, GIT_OBJECT_INVALID, id.oid)
        try check(unsafe git_odb_read_header(&count, &type, objects, &oid), stage)
        guard type == GIT_OBJECT_BLOB else { throw GitError(.invalid, stage: stage, detail: "it is not a blob") }
        return count
    }

    /// Stores a file's bytes and gives their id.
    public func write(blob bytes: [UInt8]) throws(GitError) -> ObjectID {
        let written = unsafe bytes.withUnsafeBytes { bytes in
            // `withUnsafeBytes` of an array does not rethrow typed errors.
            Result { () throws(GitError) in try unsafe write(blob: bytes) }
        }
        return try written.get()
    }

    /// Stores a file's bytes and gives their id, without a copy.
    public func write(blob bytes: RawSpan) throws(GitError) -> ObjectID {
        let written = unsafe bytes.withUnsafeBytes { bytes in
            Result { () throws(GitError) in try unsafe write(blob: bytes) }
        }
        return try written.get()
    }

    /// Stores a file's bytes from a buffer, without a copy.
    @unsafe public func write(blob bytes: UnsafeRawBufferPointer) throws(GitError) -> ObjectID {
        var id = git_oid()
        try check(unsafe git_odb_write(&id, objects, bytes.baseAddress, bytes.count, GIT_OBJECT_BLOB), "write a blob")
        return ObjectID(id)
    }
}
