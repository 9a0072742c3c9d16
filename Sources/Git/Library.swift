import CLibGit2
import Glibc

/// The C library, for the whole process.
public enum Library {
    /// What holds for all repositories of the process; set once, before the first is opened.
    public struct Options: Hashable, Sendable {
        /// Objects and refs reach the disk before a call returns, so a crash of the machine leaves no ref without its
        /// objects. Costs some milliseconds for each sync.
        public var syncsToDisk = true
        /// Every object is hashed again when it is read. Off, as in git itself: zlib's checksum finds failing disks,
        /// and hashing costs a third of the time for reading a large file.
        public var verifiesHashes = false
        /// How many pack files may be open at once over all repositories.
        public var openPacksMax = 256
        /// How many bytes of trees and commits may stay in memory, over all repositories. Blobs never do.
        public var cacheBytesMax = 32 << 20

        public init() {}
    }

    /// Loads libgit2 and applies `options`. Opening a repository does it too, with the default options.
    public static func load(_ options: Options = Options()) throws(GitError) {
        try loaded.get()
        let stage = "set the options of libgit2"
        try check(concord_git_set_flag(GIT_OPT_ENABLE_FSYNC_GITDIR, options.syncsToDisk ? 1 : 0), stage)
        try check(concord_git_set_flag(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, options.verifiesHashes ? 1 : 0), stage)
        try check(concord_git_set_size(GIT_OPT_SET_MWINDOW_FILE_LIMIT, options.openPacksMax), stage)
        try check(concord_git_set_size(GIT_OPT_SET_CACHE_MAX_SIZE, options.cacheBytesMax), stage)
    }

    /// Loaded with the default options, unless `load` was called before.
    static func ensureLoaded() throws(GitError) { try loadedWithDefaults.get() }

    private static let loadedWithDefaults: Result<Void, GitError> = {
        do throws(GitError) { return .success(try load()) } catch { return .failure(error) }
    }()

    private static let loaded: Result<Void, GitError> = {
        let stage = "load libgit2"
        // The executable's calls are bound at their first use; RTLD_GLOBAL puts the library where that search looks.
        guard unsafe dlopen("libgit2.so.1.5", RTLD_NOW | RTLD_GLOBAL) != nil else {
            let why = unsafe dlerror().map { unsafe String(cString: $0) } ?? "no reason given"
            return .failure(GitError(.unavailable, stage: stage, detail: "\(why); install the package libgit2-1.5"))
        }
        do throws(GitError) {
            try check(git_libgit2_init(), stage)
            return .success(())
        } catch {
            return .failure(error)
        }
    }()
}
