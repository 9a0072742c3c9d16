import Foundation
import Testing

@testable import Git

/// A directory that goes with its owner, and `git` in it, without anybody's configuration.
final class Scratch {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/git-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A fresh repository; bare unless there are arguments for `git init`.
    func repository(_ name: String = "repository.git", _ arguments: String...) throws -> Peer {
        let peer = Peer(path: path + "/" + name)
        try Peer(path: path).git(["init", "-q", "-b", "main"] + (arguments.isEmpty ? ["--bare"] : arguments) + [name])
        return peer
    }
}

/// A repository as the `git` program sees it: the oracle of these tests.
struct Peer: Sendable {
    let path: String

    struct Failure: Error, CustomStringConvertible { let description: String }

    @discardableResult
    func git(_ arguments: String..., input: String = "") throws -> String { try git(arguments, input: input) }

    @discardableResult
    func git(_ arguments: [String], input: String = "") throws -> String {
        let ran = try run(arguments, input: Data(input.utf8))
        guard ran.status == 0 else { throw Failure(description: "git \(arguments.joined(separator: " ")): \(ran.errors)") }
        return ran.output.trimmingCharacters(in: .newlines)
    }

    func run(_ arguments: [String], input: Data = Data(), seconds: Int = 1_700_000_000) throws -> (status: Int32, output: String, errors: String) {
        let process = try start(arguments, input: input, seconds: seconds)
        // Both are files, so that neither side of a pipe can wait for the other.
        process.waitUntilExit()
        return (process.terminationStatus, process.output, process.errors)
    }

    func start(_ arguments: [String], input: Data = Data(), seconds: Int = 1_700_000_000) throws -> GitProcess {
        try GitProcess(arguments, in: path, input: input, seconds: seconds)
    }

    func id(_ revision: String) throws -> ObjectID { try #require(ObjectID(hex: git("rev-parse", "--verify", revision))) }

    /// A commit made of files by path; on top of `parents`.
    func commit(_ files: [String: String], parents: [ObjectID] = [], message: String = "A change", seconds: Int = 1_700_000_000, ref: String? = nil) throws -> ObjectID {
        var stream = "commit \(ref ?? "refs/made/\(UUID().uuidString)")\nmark :1\n"
        stream += "author Ann <ann@example.org> \(seconds) +0100\ncommitter Bob <bob@example.org> \(seconds) +0000\n"
        stream += "data \(message.utf8.count)\n\(message)\n"
        for (index, parent) in parents.enumerated() { stream += "\(index == 0 ? "from" : "merge") \(parent)\n" }
        stream += "deleteall\n"
        for (path, content) in files.sorted(by: { $0.key < $1.key }) {
            let (mode, text) = content.hasPrefix("->") ? ("120000", String(content.dropFirst(2))) : content.hasPrefix("#!") ? ("100755", content) : ("100644", content)
            stream += "M \(mode) inline \(path)\ndata \(text.utf8.count)\n\(text)\n"
        }
        stream += "get-mark :1\n"
        let output = try git(["fast-import", "--quiet", "--force", "--date-format=raw"], input: stream)
        return try #require(ObjectID(hex: output))
    }

    func open() throws -> Repository { try Repository(opening: path) }

    func expectSound(_ location: SourceLocation = #_sourceLocation) throws {
        let found = try run(["fsck", "--strict", "--full", "--no-dangling"])
        #expect(found.status == 0 && found.output.isEmpty, "\(found.output)\(found.errors)", sourceLocation: location)
    }

    /// The files of a tree with their contents.
    func files(_ tree: ObjectID) throws -> [String: String] {
        var files: [String: String] = [:]
        for line in try git("ls-tree", "-r", tree.hex).split(separator: "\n") {
            let (left, path) = (line.split(separator: "\t")[0].split(separator: " "), String(line.split(separator: "\t")[1]))
            files[path] = try run(["cat-file", "blob", String(left[2])]).output
        }
        return files
    }
}

/// A running `git`.
final class GitProcess {
    private let process = Process()
    private let folder: String

    init(_ arguments: [String], in path: String, input: Data, seconds: Int) throws {
        folder = FileManager.default.temporaryDirectory.path + "/git-io-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, data) in [("in", input), ("out", Data()), ("err", Data())] { try data.write(to: URL(fileURLWithPath: folder + "/" + name)) }
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git", "-c", "safe.directory=*"] + arguments
        process.currentDirectoryURL = URL(fileURLWithPath: path)
        process.environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": path, "LC_ALL": "C",
            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org", "GIT_AUTHOR_DATE": "\(seconds) +0100",
            "GIT_COMMITTER_NAME": "Bob", "GIT_COMMITTER_EMAIL": "bob@example.org", "GIT_COMMITTER_DATE": "\(seconds) +0000",
        ]
        process.standardInput = FileHandle(forReadingAtPath: folder + "/in")
        process.standardOutput = FileHandle(forWritingAtPath: folder + "/out")
        process.standardError = FileHandle(forWritingAtPath: folder + "/err")
        try process.run()
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func waitUntilExit() { process.waitUntilExit() }
    var terminationStatus: Int32 { process.terminationStatus }
    var output: String { String(decoding: FileManager.default.contents(atPath: folder + "/out") ?? Data(), as: UTF8.self) }
    var errors: String { String(decoding: FileManager.default.contents(atPath: folder + "/err") ?? Data(), as: UTF8.self) }
}

/// Random numbers that a seed repeats.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension GitError.Kind {
    /// The kind of the error that `body` throws; `nil` if it throws none.
    static func thrown(by body: () throws(GitError) -> Void) -> GitError.Kind? {
        do throws(GitError) { try body(); return nil } catch { return error.kind }
    }
}
