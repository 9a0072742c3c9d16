import CLinux
import Glibc
import Synchronization

/// The bytes of one file, at a stable address for as long as the object lives.
///
/// A regular file of some size is mapped, not read: pages that nobody looks at are never touched. A mapped file that
/// somebody truncates meanwhile ends the process with SIGBUS; git and editors replace files by renaming and do not do that.
/// Pipes and small files are read.
@safe public final class FileBytes: Sendable {
    public let count: Int
    /// The first byte. Valid while this object lives; nobody writes to it.
    public nonisolated(unsafe) let start: UnsafeRawPointer
    private let isMapped: Bool

    private static let mappedBytesMin = 64 * 1024
    private static let readBytesMin = 64 * 1024

    /// Opens and reads, or maps, the file at `path`.
    /// - Throws: `SystemError`; a file of more than `limit` bytes is `EFBIG`.
    public init(path: String, limit: Int = .max) throws(SystemError) {
        let file = try Descriptor(unsafe concord_open(path, O_RDONLY, 0), "cannot open", path)
        var status = stat()
        guard unsafe fstat(file.number, &status) == 0 else { throw SystemError("cannot examine", path) }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw SystemError(number: EISDIR, stage: "cannot read", subject: path) }
        let isRegular = status.st_mode & S_IFMT == S_IFREG
        let size = isRegular ? Int(status.st_size) : 0
        guard size <= limit else { throw SystemError(number: EFBIG, stage: "cannot read", subject: path) }

        if size >= Self.mappedBytesMin {
            // All pages at once: they are going to be read, and one by one they cost more than the reading.
            let mapping = unsafe mmap(nil, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.number, 0)
            guard let mapping = unsafe mapping, unsafe mapping != MAP_FAILED else { throw SystemError("cannot map", path) }
            unsafe start = UnsafeRawPointer(mapping)
            count = size
            isMapped = true
            return
        }
        // `/proc` files and pipes state no size; the file may also have grown since: read until the end.
        var capacity = max(size + 1, isRegular ? 1 : Self.readBytesMin)
        guard var buffer = unsafe malloc(capacity) else { throw SystemError("no memory for", path) }
        var filled = 0
        while true {
            let got = unsafe read(file.number, buffer + filled, capacity - filled)
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else {
                let error = SystemError("cannot read", path)
                unsafe free(buffer)
                throw error
            }
            if got == 0 { break }
            filled += got
            guard filled <= limit else {
                unsafe free(buffer)
                throw SystemError(number: EFBIG, stage: "cannot read", subject: path)
            }
            if filled == capacity {
                capacity *= 2
                guard let larger = unsafe realloc(buffer, capacity) else {
                    unsafe free(buffer)
                    throw SystemError(number: ENOMEM, stage: "no memory for", subject: path)
                }
                unsafe buffer = larger
            }
        }
        unsafe start = UnsafeRawPointer(buffer)
        count = filled
        isMapped = false
    }

    deinit {
        let pointer = unsafe UnsafeMutableRawPointer(mutating: start)
        if isMapped { unsafe munmap(pointer, count) } else { unsafe free(pointer) }
    }

    /// A copy of all bytes.
    public var array: [UInt8] { unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count)) }
}

/// A file that is being written beside the one whose place it is to take; nobody sees it before `commit`, and nothing is
/// left of it where that is not called.
@safe public final class PendingFile: Sendable {
    private let target: String
    private let temporary: String
    private let file: Descriptor
    private let isCommitted = Atomic(false)

    /// Begins a file that is to replace the one at `path`. The permissions of a file that is there stay, and a symbolic link
    /// goes on pointing to the file, also where it does not exist yet.
    /// - Returns: nil where `path` is no regular file (a pipe, a device) or one that is open, such as `/dev/stdout`: these can
    ///   only be written in place.
    public init?(replacing path: String) throws(SystemError) {
        guard case .file(let target) = destination(of: path) else { return nil }
        self.target = target
        var status = stat()
        let exists = unsafe stat(target, &status) == 0
        if exists && status.st_mode & S_IFMT != S_IFREG { return nil }
        temporary = directory(of: target) + ".concord-" + String(UInt64.random(in: .min ... .max), radix: 36)
        // What was not for everybody's eyes is not for a moment either.
        file = try Descriptor(unsafe concord_open(temporary, O_RDWR | O_CREAT | O_EXCL, exists ? 0o600 : 0o666), "cannot create", temporary)
        if exists {
            guard fchmod(file.number, status.st_mode & 0o7777) == 0 else { throw SystemError("cannot set the mode of", temporary) }
        }
    }

    deinit {
        if !isCommitted.load(ordering: .acquiring) { unsafe unlink(temporary) }
    }

    /// Appends pieces.
    public func append(_ pieces: [UnsafeRawBufferPointer]) throws(SystemError) {
        try unsafe Linux.write(pieces, to: file.number, target)
    }

    /// Gives the file its name, in one step; on the disk when `isDurable`.
    public func commit(isDurable: Bool) throws(SystemError) {
        if isDurable { guard fsync(file.number) == 0 else { throw SystemError("cannot flush", temporary) } }
        guard unsafe rename(temporary, target) == 0 else { throw SystemError("cannot replace", target) }
        isCommitted.store(true, ordering: .releasing)
        guard isDurable else { return }
        let folder = try Descriptor(unsafe concord_open(directory(of: target), O_RDONLY | O_DIRECTORY, 0), "cannot open", directory(of: target))
        guard fsync(folder.number) == 0 else { throw SystemError("cannot flush", directory(of: target)) }
    }
}

/// The folder of a path, with its slash.
private func directory(of path: String) -> String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./" }

/// What a path that is to be written leads to.
private enum Destination {
    case file(String)
    /// A file of this process that is open.
    case open(Int32)
}

/// Follows the symbolic links of a path, also where the last one points to nothing yet.
///
/// `/dev/stdout` and its like lead to a link in `/proc` that names what is open: a file of that name must not be replaced. The
/// shell that opened it would go on writing to the old one; and the link itself stands in the system's own folder.
private func destination(of path: String) -> Destination {
    let linksMax = 40
    var path = path
    for _ in 0..<linksMax {
        let name = path.lastIndex(of: "/").map { String(path[$0...].dropFirst()) } ?? path
        guard let folder = resolvedPath(directory(of: path)) else { break }
        if folder == "/proc/\(processID)/fd", let number = Int32(name) { return .open(number) }
        guard let next = linkTarget(of: path) else { break }
        path = next.hasPrefix("/") ? next : folder + "/" + next
    }
    return .file(resolvedPath(path) ?? path)
}

/// Replaces the file at `path` by the given pieces, or leaves it as it was: see `PendingFile`. A path that is no regular file,
/// or that names an open one, is written in place.
public func replaceFile(at path: String, with pieces: [UnsafeRawBufferPointer], isDurable: Bool = true) throws(SystemError) {
    // Where it stands: others may have written to it, and go on.
    if case .open(let number) = destination(of: path) { return try unsafe write(pieces, to: number, path) }
    guard let pending = try PendingFile(replacing: path) else {
        let file = try Descriptor(unsafe concord_open(path, O_WRONLY, 0), "cannot open", path)
        return try unsafe write(pieces, to: file.number, path)
    }
    try unsafe pending.append(pieces)
    try pending.commit(isDurable: isDurable)
}

/// The same for bytes in one array.
public func replaceFile(at path: String, with bytes: [UInt8], isDurable: Bool = true) throws(SystemError) {
    let result: Result<Void, SystemError> = unsafe bytes.withUnsafeBytes { buffer in
        do throws(SystemError) {
            try unsafe replaceFile(at: path, with: [buffer], isDurable: isDurable)
            return .success(())
        } catch { return .failure(error) }
    }
    try result.get()
}

/// Writes all pieces to a descriptor, many at a time, and goes on after short writes. The `subject` is for a message.
public func write(_ pieces: [UnsafeRawBufferPointer], to descriptor: Int32, _ subject: String?) throws(SystemError) {
    let vectorsMax = 1024
    var vectors = unsafe pieces.filter { unsafe !$0.isEmpty }
        .map { unsafe iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count) }
    var next = 0
    while unsafe next < vectors.count {
        let batch = unsafe min(vectorsMax, vectors.count - next)
        var written = unsafe vectors.withUnsafeBufferPointer { unsafe writev(descriptor, $0.baseAddress! + next, Int32(batch)) }
        if written < 0 && errno == EINTR { continue }
        guard written >= 0 else { throw SystemError("cannot write to", subject) }
        while unsafe next < vectors.count, unsafe written >= vectors[next].iov_len {
            written -= unsafe vectors[next].iov_len
            next += 1
        }
        if written > 0 {
            unsafe vectors[next].iov_base += written
            unsafe vectors[next].iov_len -= written
        }
    }
}

/// Writes the whole text to a descriptor in one call where the kernel allows it, so that lines of two writers do not mix.
/// A reader that has gone away is no error: what is logged to nobody is lost.
public func write(_ text: String, to descriptor: Int32) { _ = try? writeAll(text, to: descriptor, nil) }

/// The same, for texts that somebody waits for.
/// - Throws: `SystemError` with what was being written to, such as `standard output`; `EPIPE` when the reader has gone away.
public func writeAll(_ text: String, to descriptor: Int32, _ subject: String?) throws(SystemError) {
    var text = text
    let fault: SystemError? = text.withUTF8 { bytes in
        do throws(SystemError) {
            try unsafe write([UnsafeRawBufferPointer(bytes)], to: descriptor, subject)
            return nil
        } catch { return error }
    }
    if let fault { throw fault }
}

/// The names in a directory, sorted, without `.` and `..`.
public func entries(ofDirectory path: String) throws(SystemError) -> [String] {
    guard let directory = unsafe opendir(path) else { throw SystemError("cannot list", path) }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
            unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
}

/// What can stand at a path.
public enum FileKind: Sendable {
    case regular, directory, pipe, device, socket
}

/// What stands at a path, following symbolic links; `nil` where nothing does, or it cannot be seen.
public func kind(ofFile path: String) -> FileKind? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return .regular
    case S_IFDIR: return .directory
    case S_IFIFO: return .pipe
    case S_IFSOCK: return .socket
    default: return .device
    }
}

/// Whether `path` names a directory, following symbolic links.
public func isDirectory(_ path: String) -> Bool { kind(ofFile: path) == .directory }

/// The regular files in a directory and in those below it, sorted. What begins with a dot is left out, and symbolic links are
/// not followed: a tree of them has no end.
public func files(below path: String, where isWanted: (String) -> Bool) throws(SystemError) -> [String] {
    let depthMax = 64
    var found: [String] = []
    func walk(_ directory: String, _ depth: Int) throws(SystemError) {
        for name in try entries(ofDirectory: directory) where !name.hasPrefix(".") {
            let path = directory.hasSuffix("/") ? directory + name : directory + "/" + name
            var status = stat()
            guard unsafe lstat(path, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR, depth < depthMax {
                try walk(path, depth + 1)
            } else if status.st_mode & S_IFMT == S_IFREG, isWanted(name) {
                found.append(path)
            }
        }
    }
    try walk(path, 0)
    return found
}
