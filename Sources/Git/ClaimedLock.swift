import Glibc

// A lock on a ref that can be told from other people's.
//
// Git locks `refs/heads/main` by creating `refs/heads/main.lock`. A process that is killed in between leaves it behind, and
// from then on nobody can push to that branch. Nothing in the file says whose it was, so it can never be removed safely.
// Therefore ours is a hard link to a file of our own, the claim, which its owner holds by flock(2) as long as it lives:
//
//     concord-locks/4k2j…-refs%2Fheads%2Fmain    the claim: the new value of the ref, and the flock
//     refs/heads/main.lock                       the same inode, made by link(2), which fails where a lock is
//     refs/heads/main                            the same inode, once the lock was renamed
//
// A claim that nobody holds belongs to the dead. If the lock is the same inode, it is the dead one's, and both can go.

/// A lock of ours; given back when it goes, unless it became the ref.
struct ClaimedLock: ~Copyable {
    private let claim: String
    private let lock: String
    private let ref: String
    private let descriptor: Int32

    static let folder = "concord-locks/"

    /// Takes the lock of `ref`, which must be written as `value`. Throws `.locked` if someone has it, `.modified` if directories
    /// came and went meanwhile: try again.
    init(_ name: RefName, value: ObjectID, gitDirectory: String) throws(GitError) {
        let stage = "lock \(name)"
        let folder = gitDirectory + Self.folder
        // Kept, since a folder that may not be made looks below like one that was removed meanwhile.
        let folderFault = unsafe mkdir(folder, 0o777) == 0 || errno == EEXIST ? nil : Self.fault(stage, folder)
        claim = folder + String(UInt64.random(in: .min ... .max), radix: 36) + "-" + Self.escaped(name.full)
        ref = gitDirectory + name.full
        lock = ref + ".lock"
        descriptor = unsafe open(claim, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw folderFault ?? Self.fault(stage, claim) }
        // Everything is set: if this throws, `deinit` runs, and gives back what was taken. To do it here too would close a
        // descriptor twice, and the second time it may be another thread's.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw GitError(.modified, stage: stage, detail: "its claim was taken for a dead one") }
        let line = Array((value.hex + "\n").utf8)
        guard unsafe Glibc.write(descriptor, line, line.count) == line.count, fsync(descriptor) == 0 else { throw Self.fault(stage, claim) }
        try Self.makeParents(of: lock, stage)
        guard unsafe link(claim, lock) == 0 else { throw Self.fault(stage, lock) }
    }

    /// Makes the lock the ref.
    consuming func commit() throws(GitError) {
        var status = unsafe rename(lock, ref)
        if status != 0 && errno == EISDIR {
            // A nested branch that is gone leaves empty directories behind.
            Self.removeEmptyDirectories(ref)
            status = unsafe rename(lock, ref)
        }
        guard status == 0 else { throw Self.fault("update the ref", ref) }
        // The new name, too, has to reach the disk.
        let parent = unsafe open(String(ref[..<(ref.lastIndex(of: "/") ?? ref.endIndex)]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if parent >= 0 {
            fsync(parent)
            close(parent)
        }
    }

    deinit {
        // After `commit` the lock is another one's, or not there: only the same inode is removed.
        if Self.isSameFile(lock, claim) { unsafe unlink(lock) }
        unsafe unlink(claim)
        if descriptor >= 0 { close(descriptor) }
    }

    /// Whether a claim can be named after this ref.
    static func canClaim(_ name: RefName) -> Bool { escaped(name.full).utf8.count < 220 }

    /// Gives back what processes that were killed had locked, and says which refs that were.
    static func releaseDead(in gitDirectory: String) -> [RefName] {
        let folder = gitDirectory + Self.folder
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var released: [RefName] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard let dash = name.firstIndex(of: "-"), let ref = RefName(unescaped(String(name[name.index(after: dash)...]))) else { continue }
            let descriptor = unsafe open(folder + name, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { continue }
            if isSameFile(gitDirectory + ref.full + ".lock", folder + name), unsafe unlink(gitDirectory + ref.full + ".lock") == 0 { released.append(ref) }
            unsafe unlink(folder + name)
        }
        return released
    }

    private static func isSameFile(_ one: String, _ other: String) -> Bool {
        var (a, b) = (stat(), stat())
        return unsafe lstat(one, &a) == 0 && lstat(other, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev
    }

    private static func fault(_ stage: String, _ path: String) -> GitError {
        let number = errno
        let reason = unsafe String(cString: strerror(number))
        let kind: GitError.Kind = switch number {
        case EEXIST: .locked
        case ENOENT: .modified
        case ENOTDIR, EISDIR, ENOTEMPTY: .exists
        default: .io
        }
        return GitError(kind, stage: stage, detail: "\(path): \(reason)")
    }

    private static func makeParents(of path: String, _ stage: String) throws(GitError) {
        var missing: [String] = []
        var parent = path
        while let slash = parent.lastIndex(of: "/") {
            parent = String(parent[..<slash])
            if unsafe access(parent, F_OK) == 0 { break }
            missing.append(parent)
        }
        for directory in missing.reversed() {
            guard unsafe mkdir(directory, 0o777) == 0 || errno == EEXIST else { throw fault(stage, directory) }
        }
    }

    private static func removeEmptyDirectories(_ path: String) {
        guard let directory = unsafe opendir(path) else { return }
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { removeEmptyDirectories(path + "/" + name) }
        }
        unsafe closedir(directory)
        // Refuses a directory that is not empty, and a file.
        unsafe rmdir(path)
    }

    private static func escaped(_ text: String) -> String {
        text.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%25")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "%2F")
    }

    private static func unescaped(_ text: String) -> String {
        var out = "", rest = text[...]
        while let percent = rest.firstIndex(of: "%") {
            out += rest[..<percent]
            rest = rest[percent...]
            out += rest.hasPrefix("%2F") ? "/" : "%"
            rest = rest.dropFirst(3)
        }
        return out + rest
    }
}

extension Repository {
    /// Gives back the locks that killed processes of this program left on refs, and says which refs were locked. Locks
    /// of living processes, and of other programs, stay.
    @discardableResult public func releaseDeadLocks() -> [RefName] { ClaimedLock.releaseDead(in: gitDirectory) }
}
