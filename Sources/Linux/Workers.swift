// Safe: Dispatch objects may be used from any thread; the Linux overlay has not been told so.
@unsafe @preconcurrency import Dispatch

/// A thread of one's own for work that blocks (libgit2, children): the cooperative threads, of which there is one for each
/// core, must never wait. Idle, it costs no thread.
public actor BlockingThread {
    private let executor: BlockingExecutor
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    public init(label: String) { executor = BlockingExecutor(label: label) }

    /// Does `work` on this thread, after what it was given before.
    public func run<Result: Sendable>(_ work: @Sendable () -> Result) -> Result { work() }
}

private final class BlockingExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = unsafe asUnownedSerialExecutor()
        queue.async { unsafe job.runSynchronously(on: executor) }
    }
}

/// A timer that rings once, at the earliest moment asked for. Between rings nothing wakes up.
public final class Alarm: Sendable {
    private let source: any DispatchSourceTimer

    /// - Parameter ring: called on a thread of the alarm; it must only pass the news on.
    public init(ring: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "concord.alarm"))
        source.setEventHandler { @Sendable in ring() }
        source.schedule(deadline: .distantFuture)
        source.activate()
    }

    /// Sets the alarm to ring after `delay`, in place of what was set before; `nil` switches it off.
    public func set(after delay: Duration?) {
        guard let delay else { return source.schedule(deadline: .distantFuture) }
        let (seconds, attoseconds) = max(delay, .zero).components
        let nanoseconds = min(Int(seconds), 1_000_000_000) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        // A tenth of leeway lets the kernel wake once for several timers.
        source.schedule(deadline: .now() + .nanoseconds(nanoseconds), leeway: .nanoseconds(nanoseconds / 10))
    }

    deinit { source.cancel() }
}
