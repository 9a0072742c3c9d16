import Foundation
import Synchronization

/// A folder that lives as long as its owner.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("concord-linux-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func callAsFunction(_ name: String) -> String { path + "/" + name }

    func makeDirectory(_ name: String) throws { try FileManager.default.createDirectory(atPath: self(name), withIntermediateDirectories: true) }

    func put(_ text: String, at name: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: self(name))) }

    func text(of name: String) throws -> String { try String(contentsOfFile: self(name), encoding: .utf8) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Lets a test wait for news from another thread, without polling.
final class Bell: Sendable {
    let rings: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (rings, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func ring() { continuation.yield() }
}
