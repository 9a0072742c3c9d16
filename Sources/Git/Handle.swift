import CLibGit2

/// How one type of libgit2 object is freed.
///
/// A protocol and not a stored function, because the address of a lazily bound function must not be taken.
protocol HandleKind {
    static func free(_ pointer: OpaquePointer)
}

/// Owns one libgit2 object and frees it at the end of its life.
@safe struct Handle<Kind: HandleKind>: ~Copyable {
    let pointer: OpaquePointer

    /// Takes over what `create` puts into the pointer it is given; throws if it returns a fault.
    init(_ stage: @autoclosure () -> String, _ create: (inout OpaquePointer?) -> Int32) throws(GitError) {
        var created: OpaquePointer? = nil
        try check(unsafe create(&created), stage())
        guard let made = unsafe created else {
            throw GitError(.other, stage: stage(), detail: "libgit2 gave no object")
        }
        unsafe pointer = made
    }

    /// As `init`, but `nil` where libgit2 says that there is no such thing.
    static func ifFound(
        _ stage: @autoclosure () -> String, _ create: (inout OpaquePointer?) -> Int32
    ) throws(GitError) -> Handle? {
        do throws(GitError) {
            return try unsafe Handle(stage(), create)
        } catch where error.kind == .notFound {
            return nil
        }
    }

    deinit { unsafe Kind.free(pointer) }
}

enum RepositoryKind: HandleKind { static func free(_ pointer: OpaquePointer) { unsafe git_repository_free(pointer) } }
enum DatabaseKind: HandleKind { static func free(_ pointer: OpaquePointer) { unsafe git_odb_free(pointer) } }
enum StoredObjectKind: HandleKind { static func free(_ pointer: OpaquePointer) { unsafe git_odb_object_free(pointer) } }
enum ObjectKind: HandleKind { static func free(_ pointer: OpaquePointer) { unsafe git_object_free(pointer) } }
enum CommitKind: HandleKind { static func free(_ pointer: OpaquePointer) { unsafe git_commit_free(pointer) } }
enum TreeKind: HandleKind { static func free(_ pointer: OpaquePointer) { unsafe git_tree_free(pointer) } }
enum TreeBuilderKind: HandleKind { static func free(_ pointer: OpaquePointer) { unsafe git_treebuilder_free(pointer) } }
enum DiffKind: HandleKind { static func free(_ pointer: OpaquePointer) { unsafe git_diff_free(pointer) } }
enum ReferenceKind: HandleKind { static func free(_ pointer: OpaquePointer) { unsafe git_reference_free(pointer) } }
enum WalkKind: HandleKind { static func free(_ pointer: OpaquePointer) { unsafe git_revwalk_free(pointer) } }
enum TransactionKind: HandleKind { static func free(_ pointer: OpaquePointer) { unsafe git_transaction_free(pointer) } }
enum ConfigKind: HandleKind { static func free(_ pointer: OpaquePointer) { unsafe git_config_free(pointer) } }

/// The one gate through which every status of libgit2 goes.
@discardableResult
func check(_ status: Int32, _ stage: @autoclosure () -> String) throws(GitError) -> Int32 {
    guard status < 0 else { return status }
    throw GitError(status: status, stage: stage())
}

extension GitError {
    init(status: Int32, stage: String) {
        var detail = "libgit2 gave status \(status)"
        var area: UInt32 = 0
        // The last error lives until the next call on this thread: its text is copied at once.
        if let last = unsafe git_error_last(), let message = unsafe last.pointee.message {
            unsafe detail = String(cString: message)
            unsafe area = UInt32(bitPattern: last.pointee.klass)
        }
        self.init(Kind(status: status, area: area), stage: stage, detail: detail)
    }
}

extension GitError.Kind {
    init(status: Int32, area: UInt32) {
        switch git_error_code(status) {
        case GIT_ENOTFOUND: self = .notFound
        case GIT_EEXISTS: self = .exists
        case GIT_ELOCKED: self = .locked
        case GIT_EMODIFIED: self = .modified
        case GIT_EMISMATCH: self = .corrupt
        case GIT_EINVALIDSPEC, GIT_EINVALID: self = .invalid
        case GIT_EOWNER: self = .foreignOwner
        // Given by our own callbacks only, when they have seen enough.
        case GIT_EUSER: self = .limit
        default:
            switch git_error_t(area) {
            case GIT_ERROR_OS, GIT_ERROR_FILESYSTEM: self = .io
            case GIT_ERROR_ODB, GIT_ERROR_ZLIB, GIT_ERROR_OBJECT, GIT_ERROR_SHA: self = .corrupt
            case GIT_ERROR_INVALID: self = .invalid
            default: self = .other
            }
        }
    }
}
