import CLinux

/// A second thread for a process that lives for milliseconds: it begins at once, does one piece of work after the other, and is
/// quickly there for the next.
///
/// (Not a queue of Dispatch: its first use takes longer than the merge of a catalog of 1 MB.)
@safe public struct SecondThread: Sendable {
    // Sound because the C side keeps what it owns for as long as the process lives.
    private nonisolated(unsafe) let thread: OpaquePointer

    /// Begins the thread; nil where none is to be had, or where it would only take the processor from the first.
    public init?() {
        guard let thread = unsafe concord_second_thread_begin() else { return nil }
        unsafe self.thread = thread
    }

    /// Gives it a piece of work, to be done behind the last one. Only one thread may do that.
    public func start(_ work: @escaping @Sendable () -> Void) {
        let piece = unsafe Unmanaged.passRetained(Piece(work))
        unsafe concord_second_thread_give(thread, { argument in
            unsafe Unmanaged<Piece>.fromOpaque(argument!).takeRetainedValue().work()
        }, piece.toOpaque())
    }

    /// Waits until all is done.
    public func finish() { unsafe concord_second_thread_finish(thread) }

    /// Runs one piece of work here and one on the thread, and returns when both are done.
    public func run(_ here: () -> Void, _ there: @escaping @Sendable () -> Void) {
        start(there)
        here()
        finish()
    }
}

private final class Piece: Sendable {
    let work: @Sendable () -> Void

    init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}
