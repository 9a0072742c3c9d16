import Glibc

/// A refusal of the kernel: which call was being made, on what, and why it failed.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The `errno` of the call.
    public let number: Int32
    /// What was being done, as the start of a sentence: `cannot open`.
    public let stage: String
    /// The path or name it was done to; `nil` when there is none.
    public let subject: String?

    public init(number: Int32, stage: String, subject: String? = nil) {
        self.number = number
        self.stage = stage
        self.subject = subject
    }

    /// Reads `errno`, so it must be made before any other call.
    init(_ stage: String, _ subject: String? = nil) {
        self.init(number: errno, stage: stage, subject: subject)
    }

    public var isAbsence: Bool { number == ENOENT || number == ENOTDIR }

    public var description: String {
        let reason = unsafe String(cString: strerror(number))
        return subject.map { "\(stage) \($0): \(reason)" } ?? "\(stage): \(reason)"
    }
}

/// A file descriptor that is closed when its owner goes.
public struct Descriptor: ~Copyable, Sendable {
    public let number: Int32

    /// Takes ownership of an open descriptor.
    public init(owning number: Int32) { self.number = number }

    /// Takes ownership of what a call returned, or throws the call's `errno`.
    init(_ result: Int32, _ stage: String, _ subject: String? = nil) throws(SystemError) {
        guard result >= 0 else { throw SystemError(stage, subject) }
        number = result
    }

    deinit { close(number) }
}
