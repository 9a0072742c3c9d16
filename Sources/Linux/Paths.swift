import Glibc

/// The path of the running program, with symbolic links followed; nil where `/proc` is not there.
public func executablePath() -> String? { resolvedPath("/proc/self/exe") }

/// The absolute path without symbolic links; nil where there is nothing.
public func resolvedPath(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
}

/// Where a symbolic link points, as it says; nil where there is none.
func linkTarget(of path: String) -> String? {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer -> String? in
        let count = unsafe readlink(path, buffer.baseAddress!, buffer.count)
        guard count >= 0 else { return nil }
        return unsafe String(decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]), as: UTF8.self)
    }
}

/// Makes a directory and those above it that are missing.
public func makeDirectories(_ path: String) throws(SystemError) {
    if path.isEmpty || isDirectory(path) { return }
    if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try makeDirectories(String(path[..<slash])) }
    guard unsafe mkdir(path, 0o777) == 0 || errno == EEXIST else { throw SystemError("cannot make the directory", path) }
}

/// The environment of this process, as `NAME=value`.
public func processEnvironment() -> [String] {
    var out: [String] = []
    var entry = unsafe environ
    while let text = unsafe entry.pointee {
        unsafe out.append(String(cString: text))
        unsafe entry += 1
    }
    return out
}

/// Asks a process to end (SIGTERM).
public func terminate(process: Int32) { kill(process, SIGTERM) }

/// The id of this process.
public var processID: Int32 { getpid() }
