import CLinux
import Glibc

/// What a child process left behind.
public struct ChildExit: Sendable, Equatable {
    public enum End: Sendable, Equatable {
        case exited(code: Int32)
        case killed(signal: Int32)
        /// It ran longer than its deadline, and its whole process group was killed.
        case timedOut
    }

    public let end: End
    public let output: [UInt8]
    public let errors: [UInt8]

    public init(end: End, output: [UInt8], errors: [UInt8]) {
        self.end = end
        self.output = output
        self.errors = errors
    }

    public var isSuccess: Bool { end == .exited(code: 0) }
}

/// Runs a program to its end and returns what it wrote, at most `outputBytesMax` of each kind (the rest is read and dropped).
/// Blocks the calling thread; `deadline` bounds for how long. The program is found by `$PATH`, reads `input`, and has
/// exactly the given environment.
/// - Throws: `SystemError` when it cannot be started.
public func run(
    _ arguments: [String], input: [UInt8] = [], environment: [String], directory: String? = nil, deadline: Duration, outputBytesMax: Int = 16 << 20
) throws(SystemError) -> ChildExit {
    precondition(!arguments.isEmpty)
    // A file and no pipe: a child that reads late, or never, keeps nobody waiting.
    let source = try input.isEmpty
        ? Descriptor(unsafe concord_open("/dev/null", O_RDONLY, 0), "cannot open", "/dev/null")
        : Descriptor(unsafe concord_memory_file(input, input.count), "cannot write the input of", arguments[0])
    let (outputRead, outputWrite) = try pipe()
    let (errorRead, errorWrite) = try pipe()
    let output = Descriptor(owning: outputRead), errors = Descriptor(owning: errorRead)
    var process: pid_t = 0
    let inputNumber = source.number
    let status = unsafe withCStrings(arguments) { argv in
        unsafe withCStrings(environment) { envp in
            unsafe concord_spawn(&process, arguments[0], argv, envp, directory, inputNumber, outputWrite, errorWrite)
        }
    }
    let failure = status == 0 ? nil : SystemError("cannot start", arguments[0])
    close(outputWrite)
    close(errorWrite)
    if let failure { throw failure }
    var kept = (output: [UInt8](), errors: [UInt8]())
    let clock = ContinuousClock()
    let end = clock.now + deadline
    var isTimedOut = false
    var isOpen = (true, true)
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while isOpen.0 || isOpen.1 {
        let left = (end - clock.now) / .milliseconds(1)
        if left <= 0 {
            isTimedOut = true
            break
        }
        var polls = [
            pollfd(fd: isOpen.0 ? output.number : -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: isOpen.1 ? errors.number : -1, events: Int16(POLLIN), revents: 0),
        ]
        guard unsafe poll(&polls, 2, Int32(min(left + 1, 3_600_000))) > 0 else { continue }
        for index in 0..<2 where polls[index].revents != 0 {
            let got = unsafe chunk.withUnsafeMutableBytes { unsafe read(polls[index].fd, $0.baseAddress, $0.count) }
            if got < 0 && errno == EINTR { continue }
            if got <= 0 {
                if index == 0 { isOpen.0 = false } else { isOpen.1 = false }
            } else if index == 0 {
                kept.output += chunk[..<min(got, max(0, outputBytesMax - kept.output.count))]
            } else {
                kept.errors += chunk[..<min(got, max(0, outputBytesMax - kept.errors.count))]
            }
        }
    }
    // A child may close its outputs and live on: the deadline holds for it as well.
    if !isTimedOut {
        let handle = concord_pidfd_open(process)
        if handle >= 0 {
            var polls = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
            let left = max(0, (end - clock.now) / .milliseconds(1))
            isTimedOut = unsafe poll(&polls, 1, Int32(min(left + 1, 3_600_000))) == 0
            close(handle)
        }
    }
    if isTimedOut { kill(-process, SIGKILL) }
    var code: Int32 = 0, signal: Int32 = 0
    guard unsafe concord_wait(process, &code, &signal) == 0 else { throw SystemError("cannot wait for", arguments[0]) }
    return ChildExit(
        end: isTimedOut ? .timedOut : signal != 0 ? .killed(signal: signal) : .exited(code: code), output: kept.output, errors: kept.errors)
}

private func pipe() throws(SystemError) -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard unsafe concord_pipe(&ends) == 0 else { throw SystemError("cannot open a pipe") }
    return (ends[0], ends[1])
}

private func withCStrings<Result>(_ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result) -> Result {
    let copies: [UnsafeMutablePointer<CChar>?] = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { for unsafe copy in unsafe copies { unsafe free(copy) } }
    return unsafe copies.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
}
