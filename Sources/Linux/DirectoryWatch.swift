import CLinux
// Safe: Dispatch objects may be used from any thread; the Linux overlay has not been told so.
@unsafe @preconcurrency import Dispatch
import Glibc
import Synchronization

/// One inotify instance that watches directory trees for many owners and says whose trees changed.
///
/// What it says is only "look there". Files named `*.lock` are not news: git writes `refs/heads/main.lock` and renames it
/// to `main`, and the renaming is the news. A new nested directory is watched from then on and reported at once, because
/// something may have been put into it before the watch was there. When the kernel's queue overflows,
/// every owner is reported.
public final class DirectoryWatch<Owner: Hashable & Sendable>: Sendable {
    /// A directory to watch for an owner.
    public struct Place: Hashable, Sendable {
        public let path: String
        /// Only these names are news; `nil`: all.
        public let names: Set<String>?
        /// Whether nested directories are watched too, also those made later.
        public let isRecursive: Bool

        public init(path: String, names: Set<String>? = nil, isRecursive: Bool) {
            self.path = path
            self.names = names
            self.isRecursive = isRecursive
        }
    }

    private struct Watched {
        var path: String
        /// Two owners may share a directory: the kernel knows one watch for each directory.
        var places: [Owner: (names: Set<String>?, isRecursive: Bool)]
    }

    private struct State {
        var watched: [Int32: Watched] = [:]
        var changed: Set<Owner> = []
    }

    private let inotify: Int32
    private let source: any DispatchSourceRead
    private let state: Shared

    /// The part that the source's handler keeps alive.
    private final class Shared: Sendable { let mutex = Mutex(State()) }

    /// - Parameter changed: rung after one or more owners were added to the changed ones; `takeChanged` says which.
    public init(changed ring: @escaping @Sendable () -> Void) throws(SystemError) {
        let descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else { throw SystemError("cannot start watching (see fs.inotify.max_user_instances)") }
        let shared = Shared()
        inotify = descriptor
        state = shared
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: DispatchQueue(label: "concord.watch"))
        source.setEventHandler { @Sendable in
            let isNews = shared.mutex.withLock { state in
                let before = state.changed.count
                Self.drain(descriptor, into: &state)
                return state.changed.count > before
            }
            if isNews { ring() }
        }
        source.setCancelHandler { @Sendable in close(descriptor) }
        source.activate()
    }

    deinit { source.cancel() }

    /// Watches a place for `owner`. A directory that is missing is no error and not watched.
    /// - Throws: `ENOSPC` when the user's watches are used up; what was watched until then stays watched.
    public func watch(_ place: Place, for owner: Owner) throws(SystemError) {
        let result: Result<Void, SystemError> = state.mutex.withLock { state in
            do throws(SystemError) {
                try Self.add(place, for: owner, to: inotify, &state)
                return .success(())
            } catch { return .failure(error) }
        }
        try result.get()
    }

    /// Ends all watches of `owner`.
    public func forget(_ owner: Owner) {
        state.mutex.withLock { state in
            state.changed.remove(owner)
            for (number, var watched) in state.watched where watched.places.removeValue(forKey: owner) != nil {
                state.watched[number] = watched.places.isEmpty ? nil : watched
                if watched.places.isEmpty { inotify_rm_watch(inotify, number) }
            }
        }
    }

    /// The owners whose trees changed since the last call.
    public func takeChanged() -> Set<Owner> {
        state.mutex.withLock { state in
            let changed = state.changed
            state.changed = []
            return changed
        }
    }

    /// How many directories are watched.
    public var directoryCount: Int { state.mutex.withLock { $0.watched.count } }

    private static func add(_ place: Place, for owner: Owner, to inotify: Int32, _ state: inout State) throws(SystemError) {
        // IN_MODIFY is left out: a file that is being written is not yet news, one that was closed is.
        let mask = UInt32(IN_MOVED_TO) | UInt32(IN_MOVED_FROM) | UInt32(IN_CREATE) | UInt32(IN_DELETE)
            | UInt32(IN_CLOSE_WRITE) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR)
        let number = unsafe inotify_add_watch(inotify, place.path, mask)
        guard number >= 0 else {
            let error = SystemError("cannot watch", place.path)
            if error.isAbsence { return }
            throw error.number == ENOSPC
                ? SystemError(number: ENOSPC, stage: "no watch left (raise fs.inotify.max_user_watches) for", subject: place.path) : error
        }
        state.watched[number, default: Watched(path: place.path, places: [:])].path = place.path
        state.watched[number]?.places[owner] = (place.names, place.isRecursive)
        guard place.isRecursive else { return }
        for name in (try? entries(ofDirectory: place.path)) ?? [] {
            let nested = place.path + "/" + name
            guard isDirectory(nested) else { continue }
            try add(Place(path: nested, names: place.names, isRecursive: true), for: owner, to: inotify, &state)
        }
    }

    /// Reads all queued events. Each is a fixed header and a zero-padded name:
    ///
    ///     wd: Int32 · mask: UInt32 · cookie: UInt32 · length: UInt32 · name (length bytes)
    private static func drain(_ inotify: Int32, into state: inout State) {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let got = unsafe buffer.withUnsafeMutableBytes { unsafe read(inotify, $0.baseAddress, $0.count) }
            guard got > 0 else { return }
            var offset = 0
            while offset + 16 <= got {
                func field(_ at: Int) -> UInt32 {
                    unsafe buffer.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: offset + at, as: UInt32.self) }
                }
                let number = Int32(bitPattern: field(0)), mask = field(4), length = Int(field(12))
                let name = String(decoding: buffer[(offset + 16)..<min(offset + 16 + length, got)].prefix { $0 != 0 }, as: UTF8.self)
                offset += 16 + length
                note(number, mask, name, inotify, &state)
            }
        }
    }

    private static func note(_ number: Int32, _ mask: UInt32, _ name: String, _ inotify: Int32, _ state: inout State) {
        if mask & UInt32(IN_Q_OVERFLOW) != 0 {
            for watched in state.watched.values { state.changed.formUnion(watched.places.keys) }
            // Directories may have come whose creation is among the lost events.
            for watched in Array(state.watched.values) {
                for (owner, place) in watched.places where place.isRecursive {
                    try? add(Place(path: watched.path, names: place.names, isRecursive: true), for: owner, to: inotify, &state)
                }
            }
            return
        }
        guard let watched = state.watched[number] else { return }
        if mask & UInt32(IN_IGNORED) != 0 {
            state.watched[number] = nil
            state.changed.formUnion(watched.places.keys)
            return
        }
        let isDirectory = mask & UInt32(IN_ISDIR) != 0
        for (owner, place) in watched.places {
            if isDirectory {
                guard place.isRecursive else { continue }
                if mask & (UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)) != 0 {
                    // Out of watches: the daemon's rescan still looks there.
                    try? add(Place(path: watched.path + "/" + name, names: place.names, isRecursive: true), for: owner, to: inotify, &state)
                }
                state.changed.insert(owner)
            } else if mask & (UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)) != 0 {
                state.changed.insert(owner)
            } else if !name.hasSuffix(".lock"), place.names?.contains(name) ?? true,
                // A plain creation is an empty file; its closing is the news.
                mask & ~UInt32(IN_CREATE) & 0xfff != 0 {
                state.changed.insert(owner)
            }
        }
    }
}
