import CLinux
// Safe: Dispatch objects may be used from any thread; the Linux overlay has not been told so.
@unsafe @preconcurrency import Dispatch
import Glibc

/// The signals a daemon answers.
public enum Signal: Int32, Sendable, CaseIterable {
    case hangup = 1
    case interrupt = 2
    case terminate = 15

    /// The arrivals of the given signals from now on, which thereby lose their default action for the whole process.
    /// Several arrivals of one signal before they are read may count once, as signals do. Ask for it once in a process.
    public static func arrivals(of signals: [Signal]) throws(SystemError) -> AsyncStream<Signal> {
        let pipe = concord_signal_pipe()
        guard pipe >= 0 else { throw SystemError("cannot open the pipe for signals") }
        for signal in signals {
            guard concord_signal_route(signal.rawValue) == 0 else { throw SystemError("cannot catch signal", String(signal.rawValue)) }
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: pipe, queue: DispatchQueue(label: "concord.signals"))
        return AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
            source.setEventHandler { @Sendable in
                var byte: UInt8 = 0
                while unsafe read(pipe, &byte, 1) == 1 {
                    if let signal = Signal(rawValue: Int32(byte)) { continuation.yield(signal) }
                }
            }
            continuation.onTermination = { _ in source.cancel() }
            source.activate()
        }
    }

    /// Makes a write to a closed pipe or socket an error of that write, instead of the end of the process.
    public static func ignoreBrokenPipes() { _ = concord_signal_ignore(SIGPIPE) }
}
