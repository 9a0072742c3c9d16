import CLibGit2
import Glibc

/// An open repository: bare or with a work tree, or a linked work tree.
///
/// Not `Sendable`: one owner, typically an actor with a thread of its own, since every call blocks. Nothing that is read
/// from the repository is ever run: no hook, no filter, no merge driver.
@safe public final class Repository {
    /// The path as it was given.
    public let path: String
    /// The directory that holds refs and objects; for a linked work tree that of the repository it belongs to. Ends in `/`.
    public let gitDirectory: String
    /// Whether there is no main work tree.
    public let isBare: Bool

    private let handle: Handle<RepositoryKind>
    private let database: Handle<DatabaseKind>

    /// Opens the repository at exactly `path`: no parent directory is searched.
    ///
    /// Throws `.notFound`, `.foreignOwner`, or `.unsupported` for what libgit2 cannot handle without harm; the text says
    /// what is the matter and what can be done.
    ///
    /// With `keepingObjects` false, objects are written into memory and are gone with this repository: for whoever wants to know
    /// what a merge would give. What is on the disk then stays as it is, unless a ref is moved.
    public init(opening path: String, keepingObjects: Bool = true) throws(GitError) {
        try Library.ensureLoaded()
        let stage = "open \(path)"
        do throws(GitError) {
            handle = try unsafe Handle(stage) { unsafe git_repository_open(&$0, path) }
        } catch {
            throw Refusal.explain(error, path: path)
        }
        self.path = path
        let repository = unsafe handle.pointer
        unsafe gitDirectory = String(cString: git_repository_commondir(repository))
        unsafe isBare = git_repository_is_bare(repository) == 1
        database = try unsafe Handle(stage) { unsafe git_repository_odb(&$0, repository) }
        if let refusal = try Refusal.find(gitDirectory: gitDirectory, stage: stage) { throw refusal }
        if !keepingObjects { try keepObjectsInMemory(stage) }
    }

    private func keepObjectsInMemory(_ stage: String) throws(GitError) {
        var backend: UnsafeMutablePointer<git_odb_backend>?
        try check(unsafe git_mempack_new(&backend), stage)
        // Before all others, which have 1 and 2: the first that can write does. The database frees it.
        let priority: Int32 = 1000
        try check(unsafe git_odb_add_backend(objects, backend, priority), stage)
    }

    var pointer: OpaquePointer { unsafe handle.pointer }
    var objects: OpaquePointer { unsafe database.pointer }
}

/// Why a repository cannot be used, found in its files.
private enum Refusal {
    /// The fault in words that help, for a repository that did not open.
    static func explain(_ error: GitError, path: String) -> GitError {
        guard let directory = gitDirectory(of: path) else { return error }
        // Without any `safe.directory` this version reports a foreign owner as "not found".
        if error.kind == .foreignOwner || (error.kind == .notFound && isForeign(directory)) {
            return GitError(
                .foreignOwner, stage: error.stage,
                detail: "it belongs to another user; if it can be trusted, run `git config --global --add safe.directory "
                    + "\(path)` as the user of this process (`*` does not count here)")
        }
        return (try? find(gitDirectory: directory, stage: error.stage)) ?? error
    }

    /// What in the configuration or the files of the repository keeps it from being used.
    static func find(gitDirectory: String, stage: String) throws(GitError) -> GitError? {
        func refusal(_ what: GitError.Unsupported, _ detail: String) -> GitError {
            GitError(.unsupported(what), stage: stage, detail: detail)
        }
        let entries = exists(gitDirectory + "/config") ? try ConfigFile.read(gitDirectory + "/config") : []
        func last(_ section: String, _ name: String) -> String? {
            entries.last { $0.section == section && $0.subsection == nil && $0.name == name }?.value
        }
        if last("extensions", "objectformat").map({ $0 != "sha1" }) ?? false {
            return refusal(.sha256, "its objects are named by SHA-256, which libgit2 1.5 cannot read; clone it into a repository of `--object-format=sha1`")
        }
        if last("extensions", "refstorage").map({ $0 != "files" }) ?? false {
            return refusal(.reftable, "its refs are stored as reftable, which libgit2 1.5 cannot read; run `git refs migrate --ref-format=files`")
        }
        if isTrue(last("extensions", "worktreeconfig")) {
            return refusal(.worktreeConfig, "`extensions.worktreeConfig` is on, which libgit2 1.5 refuses; unset it, or use a bare clone")
        }
        let promises = entries.contains { $0.section == "remote" && $0.name == "promisor" && isTrue($0.value) }
        if promises || last("extensions", "partialclone") != nil {
            return refusal(.partialClone, "it is a partial clone, so objects are missing; make a full clone without `--filter`")
        }
        if exists(gitDirectory + "/shallow") {
            return refusal(.shallow, "it is a shallow clone, so merge bases can be missing; run `git fetch --unshallow`")
        }
        let unknown = entries.last { $0.section == "extensions" && !extensionsKnown.contains($0.name) }
        if let unknown, last("core", "repositoryformatversion") == "1" {
            return refusal(.extension(unknown.name), "it uses `extensions.\(unknown.name)`, which is not known here")
        }
        if let version = last("core", "repositoryformatversion"), !["0", "1"].contains(version) {
            return refusal(.formatVersion(version), "its format is version \(version); 0 and 1 are known here")
        }
        return nil
    }

    /// Extensions that do not change what is stored where.
    private static let extensionsKnown: Set = ["noop", "preciousobjects", "objectformat", "refstorage", "worktreeconfig", "partialclone"]

    private static func isTrue(_ value: String?) -> Bool {
        value.map { ["true", "yes", "on", "1", ""].contains($0.lowercased()) } ?? false
    }

    /// The directory with refs and objects of what stands at `path`, without the library's help.
    private static func gitDirectory(of path: String) -> String? {
        let candidates = [path + "/.git", path]
        for candidate in candidates {
            if exists(candidate + "/HEAD") { return common(of: candidate) }
            guard let link = TextFile.firstLine(of: candidate), link.hasPrefix("gitdir: ") else { continue }
            let target = String(link.dropFirst("gitdir: ".count))
            return common(of: target.hasPrefix("/") ? target : path + "/" + target)
        }
        return nil
    }

    private static func common(of directory: String) -> String {
        guard let link = TextFile.firstLine(of: directory + "/commondir") else { return directory }
        return link.hasPrefix("/") ? link : directory + "/" + link
    }

    private static func isForeign(_ directory: String) -> Bool {
        var status = stat()
        return unsafe stat(directory, &status) == 0 && status.st_uid != geteuid()
    }

    private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
}
