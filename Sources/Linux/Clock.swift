import Glibc

/// Seconds since 1970, for what people read and git stores. Never used to measure how long something took.
public func wallClockSeconds() -> Int64 { Int64(time(nil)) }

/// The offset of local time from UTC at a moment, in minutes, as git writes it into a signature.
public func timeZoneOffsetMinutes(at seconds: Int64) -> Int {
    var moment = time_t(seconds)
    var parts = unsafe tm()
    unsafe localtime_r(&moment, &parts)
    return unsafe parts.tm_gmtoff / 60
}

/// How long to wait before the next try: doubling from `first` to `longest`, and a random half taken off, so that many
/// waiters that failed together do not come back together.
public struct Backoff: Sendable {
    public let first: Duration
    public let longest: Duration
    public private(set) var tries = 0

    public init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
    }

    /// The next pause. Random between half and the whole of the doubled time.
    public mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let doubled = min(first * (1 << min(tries, 20)), longest)
        tries += 1
        return doubled * Double.random(in: 0.5...1, using: &generator)
    }

    /// The next pause, from the system's random numbers.
    public mutating func next() -> Duration {
        var generator = SystemRandomNumberGenerator()
        return next(using: &generator)
    }

    /// Something worked: begin anew.
    public mutating func reset() { tries = 0 }
}

/// Blocks the calling thread; for a thread of one's own, and short.
public func pause(for duration: Duration) {
    let (seconds, attoseconds) = duration.components
    var wanted = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    var left = timespec()
    while unsafe nanosleep(&wanted, &left) != 0 && errno == EINTR { wanted = left }
}

/// Seconds of a clock that only goes forward.
public func monotonicSeconds() -> Int64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec)
}

/// Ends the process at once.
public func exitProcess(code: Int32) -> Never { exit(code) }
