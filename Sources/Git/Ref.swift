import CLibGit2
import Glibc

/// A ref and what it points at.
public struct Ref: Hashable, Sendable {
    public let name: RefName
    /// The commit, or for an annotated tag the tag object.
    public let tip: ObjectID

    public init(name: RefName, tip: ObjectID) {
        self.name = name
        self.tip = tip
    }
}

/// How a compare-and-swap ended.
public enum Swap: Hashable, Sendable {
    /// The ref has the new value.
    case swapped
    /// Another writer was there first; the ref has this value, or `nil` if it is gone. Nothing was changed.
    case lost(now: ObjectID?)
    /// Another process holds the ref's lock file, and held it for as long as was waited. `ageSeconds` tells a busy
    /// neighbour from a lock left by a crash; the file is never removed. Nothing was changed.
    case locked(path: String, ageSeconds: Int)
}

/// A branch that some work tree has checked out.
public struct CheckedOutBranch: Hashable, Sendable {
    public let branch: RefName
    /// The work tree's path.
    public let workTree: String
}

extension Repository {
    /// The refs whose full name starts with `prefix`, sorted. Symbolic refs are followed; those that lead nowhere, and
    /// names that git would not accept or that are not UTF-8, are left out.
    public func refs(under prefix: String = "refs/heads/") throws(GitError) -> [Ref] {
        let stage = "list the refs under \(prefix)"
        let repository = unsafe pointer
        let iterator = try unsafe Handle<RefIteratorKind>(stage) { unsafe git_reference_iterator_glob_new(&$0, repository, prefix + "*") }
        var refs: [Ref] = []
        while true {
            var next: OpaquePointer?
            let status = unsafe git_reference_next(&next, iterator.pointer)
            if status == GIT_ITEROVER.rawValue { return refs.sorted { $0.name < $1.name } }
            // A ref that was there in the listing and is gone, or is no longer readable, belongs to someone's push.
            if status == GIT_ENOTFOUND.rawValue { continue }
            let reference = try unsafe Handle<ReferenceKind>(stage) { unsafe $0 = next; return status }
            guard let full = unsafe String(validatingCString: git_reference_name(reference.pointer)), let name = RefName(full) else { continue }
            if let tip = try target(of: reference) { refs.append(Ref(name: name, tip: tip)) }
        }
    }

    /// The commit that a ref leads to, through symbolic refs and tags; `nil` if there is no such ref. Throws `.corrupt`
    /// if it leads to an object that is missing or is no commit.
    public func tip(of ref: RefName) throws(GitError) -> ObjectID? {
        let stage = "read \(ref)"
        guard let reference = try self.reference(ref), try target(of: reference) != nil else { return nil }
        do throws(GitError) {
            let commit = try unsafe Handle<ObjectKind>(stage) { unsafe git_reference_peel(&$0, reference.pointer, GIT_OBJECT_COMMIT) }
            return unsafe ObjectID(git_object_id(commit.pointer).pointee)
        } catch where error.kind == .notFound || error.kind == .invalid || error.kind == .other {
            throw GitError(.corrupt, stage: stage, detail: error.detail)
        }
    }

    /// What a ref holds now, symbolic refs followed; `nil` if it leads nowhere.
    private func target(of reference: borrowing Handle<ReferenceKind>) throws(GitError) -> ObjectID? {
        if let direct = unsafe git_reference_target(reference.pointer) { return unsafe ObjectID(direct.pointee) }
        let symbolic = unsafe reference.pointer
        guard let resolved = try unsafe Handle<ReferenceKind>.ifFound("follow a symbolic ref", { unsafe git_reference_resolve(&$0, symbolic) })
        else { return nil }
        return unsafe git_reference_target(resolved.pointer).map { unsafe ObjectID($0.pointee) }
    }

    /// Makes the next look at the refs read `packed-refs` again.
    ///
    /// The library reads it again only if its time, size or inode differ. Time counts in clock ticks, and inodes are used
    /// again: of two `git pack-refs` in one tick the second can look like none. A reader may be late, but a swap that
    /// compares with an old value would drop a commit.
    private func forgetPackedRefs() throws(GitError) {
        let stage = "read the refs of \(path)"
        let repository = unsafe pointer
        let refs = try unsafe Handle<RefDatabaseKind>(stage) { unsafe git_refdb_open(&$0, repository) }
        try check(unsafe git_repository_set_refdb(repository, refs.pointer), stage)
    }

    private func reference(_ ref: RefName) throws(GitError) -> Handle<ReferenceKind>? {
        let repository = unsafe pointer
        return try unsafe Handle<ReferenceKind>.ifFound("read \(ref)") { unsafe git_reference_lookup(&$0, repository, ref.full) }
    }
}

enum RefDatabaseKind: HandleKind { static func free(_ pointer: OpaquePointer) { unsafe git_refdb_free(pointer) } }
enum RefIteratorKind: HandleKind { static func free(_ pointer: OpaquePointer) { unsafe git_reference_iterator_free(pointer) } }

// MARK: - Compare and swap

extension Repository {
    /// Moves `ref` from `old` to `new`, if it is still at `old`; a missing `old` creates it, a missing `new` deletes it.
    ///
    /// Waits a bounded time for another process that holds the lock. Symbolic refs are followed. `reflog` is written
    /// where the repository keeps reflogs, in the name of `committer`. Throws `.exists` if a branch cannot be created
    /// because another one has its name as a directory, or the other way round.
    ///
    /// `first` is called under the lock, once it is certain that `ref` is at `old`: what must never be missing when `ref` has
    /// its new value, such as another ref that tells of it, is written there. If it gives anything but `.swapped`, `ref` stays
    /// and that is the answer. A crash after it leaves what it wrote without the new value, never the other way round.
    public func compareAndSwap(
        _ ref: RefName, from old: ObjectID?, to new: ObjectID?, by committer: Signature? = nil, reflog: String,
        first: () throws(GitError) -> Swap = { .swapped }
    ) throws(GitError) -> Swap {
        let ref = try followed(ref)
        var backoff = Backoff()
        while true {
            do throws(GitError) {
                return try swapOnce(ref, from: old, to: new, by: committer, reflog: reflog, first: first)
            } catch where error.kind == .locked || error.kind == .modified {
                // Someone else is writing this ref, or packing all of them: that takes milliseconds, unless it crashed.
                guard backoff.wait() else { return try locked(ref, error) }
            }
        }
    }

    /// One attempt. The lock is taken first and the comparison made under it: `git_reference_create_matching` compares
    /// under the lock only where there is an old value, so two creations could both succeed.
    private func swapOnce(
        _ ref: RefName, from old: ObjectID?, to new: ObjectID?, by committer: Signature?, reflog: String, first: () throws(GitError) -> Swap
    ) throws(GitError) -> Swap {
        let stage = "update \(ref)"
        if old == nil, new != nil, let obstacle = try obstacle(to: ref) {
            throw GitError(.exists, stage: stage, detail: "\(obstacle) is there, and one of the names would be a directory of the other")
        }
        guard let new, ClaimedLock.canClaim(ref) else {
            return try swapByTransaction(ref, from: old, to: new, by: committer, reflog: reflog, first: first)
        }
        let lock = try ClaimedLock(ref, value: new, gitDirectory: gitDirectory)
        let now = try targetUnderLock(of: ref)
        // The lock is given back when it goes.
        guard now == old else { return .lost(now: now) }
        guard now != new else { return .swapped }
        var oid = new.oid
        guard unsafe git_odb_exists(objects, &oid) == 1 else {
            throw GitError(.notFound, stage: stage, detail: "there is no object \(new)")
        }
        let before = try first()
        guard before == .swapped else { return before }
        try log(ref, from: old, to: new, by: committer, reflog)
        try lock.commit()
        return .swapped
    }

    /// The library's own way, for deletions, which also need the lock of the packed refs.
    private func swapByTransaction(
        _ ref: RefName, from old: ObjectID?, to new: ObjectID?, by committer: Signature?, reflog: String, first: () throws(GitError) -> Swap
    ) throws(GitError) -> Swap {
        let stage = "update \(ref)"
        let repository = unsafe pointer
        let transaction = try unsafe Handle<TransactionKind>(stage) { unsafe git_transaction_new(&$0, repository) }
        try check(unsafe git_transaction_lock_ref(transaction.pointer, ref.full), stage)
        let now = try targetUnderLock(of: ref)
        // Freeing the transaction gives the lock back.
        guard now == old else { return .lost(now: now) }
        guard now != new else { return .swapped }
        if let new {
            var oid = new.oid
            let by = try SignatureHandle(committer ?? Signature(name: "", email: "", seconds: Int64(time(nil))))
            try check(unsafe git_transaction_set_target(transaction.pointer, ref.full, &oid, by.pointer, reflog), stage)
        } else {
            try check(unsafe git_transaction_remove(transaction.pointer, ref.full), stage)
        }
        let before = try first()
        guard before == .swapped else { return before }
        try check(unsafe git_transaction_commit(transaction.pointer), stage)
        return .swapped
    }

    private func targetUnderLock(of ref: RefName) throws(GitError) -> ObjectID? {
        try forgetPackedRefs()
        guard let reference = try reference(ref) else { return nil }
        return try target(of: reference)
    }

    /// Adds a line to the ref's log, if it has one, or should.
    private func log(_ ref: RefName, from old: ObjectID?, to new: ObjectID, by committer: Signature?, _ message: String) throws(GitError) {
        let hasLog = unsafe git_reference_has_log(pointer, ref.full) == 1
        let isWanted = try wantsLog(ref)
        guard hasLog || isWanted else { return }
        try check(unsafe git_reference_ensure_log(pointer, ref.full), "make the log of \(ref)")
        let by = committer ?? Signature(name: "", email: "", seconds: Int64(time(nil)))
        let zone = String(abs(by.offsetMinutes) / 60 * 100 + abs(by.offsetMinutes) % 60)
        let offset = (by.offsetMinutes < 0 ? "-" : "+") + String(repeating: "0", count: max(0, 4 - zone.count)) + zone
        let text = String(message.map { $0.isNewline ? " " : $0 })
        let zero = String(repeating: "0", count: 2 * ObjectID.byteCount)
        let line = Array("\(old?.hex ?? zero) \(new.hex) \(by.name) <\(by.email)> \(by.seconds) \(offset)\t\(text)\n".utf8)
        // As git does: one write to the end, without a lock.
        let descriptor = unsafe open(gitDirectory + "logs/" + ref.full, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = unsafe Glibc.write(descriptor, line, line.count)
    }

    /// The rule of `core.logAllRefUpdates`.
    private func wantsLog(_ ref: RefName) throws(GitError) -> Bool {
        let repository = unsafe pointer
        let config = try unsafe Handle<ConfigKind>("read the configuration of \(path)") { unsafe git_repository_config(&$0, repository) }
        var isOn: Int32 = 0
        let isSet = unsafe git_config_get_bool(&isOn, config.pointer, "core.logallrefupdates") == 0
        guard isSet ? isOn == 1 : !isBare else { return false }
        return ["refs/heads/", "refs/remotes/", "refs/notes/"].contains { ref.full.utf8.starts(with: $0.utf8) }
    }

    /// A ref that cannot be beside `ref`. The library looks at files only, and so would miss packed ones.
    private func obstacle(to ref: RefName) throws(GitError) -> RefName? {
        var parent = ref.full[...]
        while let slash = parent.lastIndex(of: "/") {
            parent = parent[..<slash]
            guard let name = RefName(String(parent)), name.full.utf8.count(where: { $0 == UInt8(ascii: "/") }) >= 2 else { break }
            if try reference(name) != nil { return name }
        }
        return try refs(under: ref.full + "/").first?.name
    }

    /// The direct ref behind a chain of symbolic ones; a swap of these would turn them into direct refs.
    private func followed(_ ref: RefName) throws(GitError) -> RefName {
        var ref = ref
        for _ in 0..<symbolicDepthMax {
            guard let reference = try reference(ref), let next = unsafe git_reference_symbolic_target(reference.pointer) else { return ref }
            let text = unsafe String(cString: next)
            guard let name = RefName(text) else {
                throw GitError(.invalid, stage: "follow \(ref)", detail: "it leads to \(text), outside refs/")
            }
            ref = name
        }
        throw GitError(.limit, stage: "follow \(ref)", detail: "more than \(symbolicDepthMax) symbolic refs in a row")
    }

    /// Which lock stood in the way; throws what was met last if there is none.
    private func locked(_ ref: RefName, _ fault: GitError) throws(GitError) -> Swap {
        // A deletion also needs the lock of the packed refs.
        for path in [gitDirectory + ref.full + ".lock", gitDirectory + "packed-refs.lock"] {
            if let age = LockFile.age(of: path) { return .locked(path: path, ageSeconds: age) }
        }
        throw fault
    }
}

/// As many as git follows.
private let symbolicDepthMax = 5

private enum LockFile {
    /// How long ago the file was made, in seconds; `nil` if it is not there.
    static func age(of path: String) -> Int? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return max(0, time(nil) - status.st_mtim.tv_sec)
    }
}

/// Growing, jittered waits with an end.
private struct Backoff {
    private var attempt = 0

    // Together about a second, ten times git's own patience for a ref, after which the lock is most likely a dead one.
    private static let attemptsMax = 12
    private static let delayMicrosecondsMin: UInt32 = 1_000
    private static let delayMicrosecondsMax: UInt32 = 128_000

    /// Blocks for the next wait; false, at once, if there is none left.
    mutating func wait() -> Bool {
        guard attempt < Self.attemptsMax else { return false }
        let ceiling = min(Self.delayMicrosecondsMin << UInt32(attempt), Self.delayMicrosecondsMax)
        attempt += 1
        // Two writers with equal waits would meet again and again.
        usleep(UInt32.random(in: ceiling / 2...ceiling))
        return true
    }
}

// MARK: - Work trees

extension Repository {
    /// The branches that must not move under someone's feet: those checked out in the main work tree, unless the
    /// repository is bare, and in linked ones; also while a rebase or a bisection runs there.
    public func checkedOutBranches() throws(GitError) -> [CheckedOutBranch] {
        var places: [(gitDirectory: String, workTree: String)] = []
        if !isMainBare {
            places.append((gitDirectory, String(gitDirectory.dropLast(gitDirectory.hasSuffix("/.git/") ? 6 : 0))))
        }
        for name in try linkedWorkTrees() {
            let directory = gitDirectory + "worktrees/" + name + "/"
            let link = TextFile.firstLine(of: directory + "gitdir") ?? directory
            places.append((directory, link.hasSuffix("/.git") ? String(link.dropLast(5)) : link))
        }
        return places.flatMap { place in
            Self.branches(in: place.gitDirectory).map { CheckedOutBranch(branch: $0, workTree: place.workTree) }
        }
    }

    /// Bareness of the repository itself; `isBare` of one opened through a linked work tree is always false.
    private var isMainBare: Bool {
        guard let entries = try? ConfigFile.read(gitDirectory + "config") else { return isBare }
        return entries.last { $0.section == "core" && $0.name == "bare" }.map { $0.value?.lowercased() == "true" } ?? isBare
    }

    private func linkedWorkTrees() throws(GitError) -> [String] {
        var names = unsafe git_strarray()
        try check(unsafe git_worktree_list(&names, pointer), "list the work trees")
        defer { unsafe git_strarray_dispose(&names) }
        return unsafe UnsafeBufferPointer(start: names.strings, count: names.count).compactMap { unsafe $0.map { unsafe String(cString: $0) } }
    }

    /// What `git worktree add` looks at before it refuses: HEAD, and what a rebase or a bisection will come back to.
    private static func branches(in gitDirectory: String) -> Set<RefName> {
        let head = TextFile.firstLine(of: gitDirectory + "HEAD").flatMap { line in
            line.hasPrefix("ref: ") ? RefName(String(line.dropFirst(5).drop { $0 == " " })) : nil
        }
        let rebased = ["rebase-merge/head-name", "rebase-apply/head-name"].map {
            TextFile.firstLine(of: gitDirectory + $0).flatMap { RefName($0) }
        }
        let bisected = TextFile.firstLine(of: gitDirectory + "BISECT_START").flatMap { RefName.branch($0) }
        return Set(([head, bisected] + rebased).compactMap { $0 })
    }
}
