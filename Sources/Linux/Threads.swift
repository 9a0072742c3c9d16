import CLinux
import Glibc

/// Runs two pieces of work at once, the second on a thread of its own, and returns when both are done. Where no thread is to
/// be had, one runs after the other.
public func atOnce(_ here: () -> Void, _ there: @Sendable () -> Void) {
    withoutActuallyEscaping(there) { there in
        // Not a queue of Dispatch: its first use takes longer than the merge of a catalog of 1 MB.
        let work = unsafe Unmanaged.passRetained(Work(there))
        var thread = pthread_t()
        let failed = unsafe pthread_create(&thread, nil, { argument in
            unsafe Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().run()
            return nil
        }, work.toOpaque())
        here()
        if failed == 0 {
            pthread_join(thread, nil)
        } else {
            unsafe work.release()
            there()
        }
    }
}

/// Lets all threads take their memory from one heap: for a process that lives for milliseconds, giving each thread one of its
/// own costs more than waiting for each other.
public func shareOneHeap() { concord_share_one_heap() }

private final class Work: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
