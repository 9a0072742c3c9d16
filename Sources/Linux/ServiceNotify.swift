import CLinux
import Glibc

/// Tells systemd how the service is, as sd_notify(3) does: lines `NAME=value` in one datagram to `$NOTIFY_SOCKET`.
///
///     READY=1
///     STATUS=3 repositories, all in step
///
/// Outside systemd every method does nothing. A message that cannot be delivered is lost: it is news, not state.
public struct ServiceNotify: Sendable {
    private let address: String?
    /// How often systemd wants to hear `watchdog()` at the least; `nil` when it does not watch this process.
    public let watchdogPeriod: Duration?

    /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`, and removes them, so that children do not speak for the service.
    public init() {
        address = environmentVariable("NOTIFY_SOCKET")
        let period = environmentVariable("WATCHDOG_USEC").flatMap { Int64($0) }
        let isMeant = environmentVariable("WATCHDOG_PID").map { Int32($0) == getpid() } ?? true
        watchdogPeriod = isMeant ? period.map { .microseconds($0) } : nil
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { unsafe unsetenv(name) }
    }

    /// Speaks to the given address; one that begins with `@` is abstract.
    public init(address: String, watchdogPeriod: Duration? = nil) {
        self.address = address
        self.watchdogPeriod = watchdogPeriod
    }

    /// The service has started, or has finished reloading.
    public func ready(status: String) { send("READY=1\nSTATUS=\(line(status))") }
    public func status(_ text: String) { send("STATUS=\(line(text))") }
    public func reloading() {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        // From systemd 253 on the moment is required; earlier versions ignore it.
        send("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)")
    }
    public func stopping() { send("STOPPING=1\nSTATUS=Stopping") }
    public func watchdog() { send("WATCHDOG=1") }

    /// A line feed would begin another assignment.
    private func line(_ text: String) -> String { String(text.map { $0.isNewline ? " " : $0 }) }

    private func send(_ message: String) {
        guard let address else { return }
        let bytes = Array(message.utf8)
        _ = unsafe concord_unix_send(address, address.utf8.count, bytes, bytes.count)
    }
}

/// The value of an environment variable; `nil` when it is not set.
public func environmentVariable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
}
