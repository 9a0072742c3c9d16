import CLinux
// Safe: Dispatch objects may be used from any thread; the Linux overlay has not been told so.
@unsafe @preconcurrency import Dispatch
import Glibc

/// A Unix stream socket that answers each connection once: one line in, some text out, closed.
///
/// Bounded on every side, because anybody in the socket's group may connect: length of the request, time to send
/// it, connections served at once.
public final class LocalServer: Sendable {
    /// The longest request in bytes, without its line feed.
    public static let requestBytesMax = 4096
    /// A client that has not sent its line, or does not take its answer, within this time is dropped.
    public static let clientSecondsMax = 5
    private static let backlog = 16

    public let path: String
    private let source: any DispatchSourceRead

    /// Listens at `path` with the permissions 0660. The file of a daemon that crashed is replaced; a living one is `EADDRINUSE`.
    /// - Parameter answer: turns a request into its answer; one at a time, on a thread of the server, where it may block.
    public init(path: String, answer: @escaping @Sendable (String) -> String) throws(SystemError) {
        let listener = unsafe concord_unix_listen(path, path.utf8.count, 0o660, Int32(Self.backlog))
        guard listener >= 0 else { throw SystemError("cannot listen at", path) }
        self.path = path
        source = DispatchSource.makeReadSource(fileDescriptor: listener, queue: DispatchQueue(label: "concord.socket"))
        source.setEventHandler { @Sendable in
            while true {
                let accepted = concord_unix_accept(listener)
                guard accepted >= 0 else { return }
                let client = Descriptor(owning: accepted)
                _ = concord_socket_timeout(client.number, Int32(Self.clientSecondsMax * 1000))
                guard let request = try? readLine(from: client.number, limit: Self.requestBytesMax) else { continue }
                // A client that does not wait for its answer goes without.
                try? send(answer(request), to: client.number)
            }
        }
        source.setCancelHandler { @Sendable in close(listener) }
        source.activate()
    }

    /// Stops listening and removes the socket's file.
    deinit {
        source.cancel()
        if !path.hasPrefix("@") { unsafe unlink(path) }
    }
}

/// Sends one line to the server at `path` and returns its whole answer.
/// - Throws: `SystemError`; `ENOENT` or `ECONNREFUSED` when nobody listens there, `EFBIG` when the answer exceeds `limit`.
public func ask(_ request: String, at path: String, limit: Int = 64 << 20) throws(SystemError) -> String {
    let socket = try Descriptor(unsafe concord_unix_connect(path, path.utf8.count), "cannot connect to", path)
    _ = concord_socket_timeout(socket.number, Int32(LocalServer.clientSecondsMax * 1000))
    try send(request + "\n", to: socket.number)
    return String(decoding: try readAll(from: socket.number, limit: limit, until: nil), as: UTF8.self)
}

private func send(_ text: String, to descriptor: Int32) throws(SystemError) {
    let bytes = Array(text.utf8)
    guard unsafe concord_send_all(descriptor, bytes, bytes.count) == 0 else { throw SystemError("cannot write to the socket") }
}

/// One line without its end. A connection that closes before its line feed counts as a line.
private func readLine(from descriptor: Int32, limit: Int) throws(SystemError) -> String {
    String(decoding: try readAll(from: descriptor, limit: limit, until: UInt8(ascii: "\n")), as: UTF8.self)
}

private func readAll(from descriptor: Int32, limit: Int, until end: UInt8?) throws(SystemError) -> [UInt8] {
    var all: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
        let got = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        if got < 0 && errno == EINTR { continue }
        guard got >= 0 else { throw SystemError("cannot read from the socket") }
        let fresh = chunk[..<got]
        if let end, let position = fresh.firstIndex(of: end) { return all + fresh[..<position] }
        if got == 0 { return all }
        all += fresh
        guard all.count <= limit else { throw SystemError(number: EFBIG, stage: "cannot read from the socket") }
    }
}
