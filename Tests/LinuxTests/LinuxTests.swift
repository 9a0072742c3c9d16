import Foundation
import Linux
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(30))) struct FileTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [0, 1, 4095, 65535, 65536, 65537, 1_000_000])
    func `a file of any size is read byte for byte`(size: Int) throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try Data(bytes).write(to: URL(fileURLWithPath: folder("f")))
        #expect(try FileBytes(path: folder("f")).array == bytes)
    }

    @Test func `a file that states no size is read to its end`() throws {
        #expect(try FileBytes(path: "/proc/self/status").count > 0)
        #expect(try FileBytes(path: "/dev/null").count == 0)
    }

    @Test func `a file beyond the limit, a directory and a missing file are told apart`() throws {
        try folder.put("12345", at: "f")
        #expect(throws: SystemError(number: EFBIG, stage: "cannot read", subject: folder("f"))) { try FileBytes(path: folder("f"), limit: 4) }
        #expect(throws: SystemError(number: EISDIR, stage: "cannot read", subject: folder.path)) { try FileBytes(path: folder.path) }
        #expect(throws: SystemError(number: ENOENT, stage: "cannot open", subject: folder("g"))) { try FileBytes(path: folder("g")) }
    }

    @Test func `a replaced file keeps its permissions and leaves nothing beside it`() throws {
        try folder.put("old", at: "f")
        #expect(unsafe chmod(folder("f"), 0o640) == 0)
        try replaceFile(at: folder("f"), with: Array("new".utf8))
        #expect(try folder.text(of: "f") == "new")
        #expect(try FileManager.default.attributesOfItem(atPath: folder("f"))[.posixPermissions] as? Int == 0o640)
        #expect(try entries(ofDirectory: folder.path) == ["f"])
    }

    @Test func `a symbolic link to a replaced file stays one`() throws {
        try folder.put("old", at: "f")
        #expect(unsafe symlink("f", folder("link")) == 0)
        try replaceFile(at: folder("link"), with: Array("new".utf8))
        #expect(try folder.text(of: "f") == "new")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder("link")) == "f")
    }

    @Test func `a symbolic link to a file that is not there yet stays one`() throws {
        #expect(unsafe symlink("f", folder("link")) == 0)
        try replaceFile(at: folder("link"), with: Array("new".utf8))
        #expect(try folder.text(of: "f") == "new")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder("link")) == "f")
    }

    @Test(arguments: ["/dev/fd/", "/proc/self/fd/"])
    func `what names an open file is written where that stands, and never replaced`(_ files: String) throws {
        try folder.put("", at: "f")
        let file = try FileHandle(forWritingTo: URL(filePath: folder("f")))
        try file.write(contentsOf: Data("before, ".utf8))
        try replaceFile(at: "\(files)\(file.fileDescriptor)", with: Array("new".utf8))
        try file.write(contentsOf: Data(", after".utf8))
        #expect(try folder.text(of: "f") == "before, new, after")
        // As `/dev/stdout` is such a link, where standard output is a file that somebody has removed.
        #expect(unsafe symlink("\(files)\(file.fileDescriptor)", folder("link")) == 0)
        #expect(unsafe unlink(folder("f")) == 0)
        try replaceFile(at: folder("link"), with: Array("more".utf8))
        #expect(try entries(ofDirectory: folder.path) == ["link"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder("link")) == "\(files)\(file.fileDescriptor)")
    }

    @Test func `a file that cannot be written stays as it was`() throws {
        #expect(throws: SystemError.self) { try replaceFile(at: folder("no/such/f"), with: [0]) }
        try replaceFile(at: "/dev/null", with: [1, 2, 3])
        #expect(throws: SystemError(number: ENOSPC, stage: "cannot write to", subject: "/dev/full")) { try replaceFile(at: "/dev/full", with: [1]) }
    }
}

@Suite(.timeLimit(.minutes(30))) struct ChildTests {
    let environment = ["PATH=/usr/bin:/bin"]

    @Test func `a child's outputs and exit code are kept`() throws {
        let exit = try run(["sh", "-c", "echo out; echo err >&2; exit 3"], environment: environment, deadline: .seconds(30))
        #expect(exit == ChildExit(end: .exited(code: 3), output: Array("out\n".utf8), errors: Array("err\n".utf8)))
    }

    @Test func `a child has exactly the environment it was given, an empty input and no other descriptor`() throws {
        let exit = try run(["sh", "-c", "cat; env | sort; ls /proc/self/fd"], environment: environment + ["A=b"], deadline: .seconds(30))
        #expect(String(decoding: exit.output, as: UTF8.self).hasPrefix("A=b\nPATH=/usr/bin:/bin\nPWD="))
        #expect(String(decoding: exit.output, as: UTF8.self).hasSuffix("0\n1\n2\n3\n"))
    }

    @Test func `a child reads its input whole, and one that reads none keeps nobody waiting`() throws {
        let input = [UInt8](repeating: 0x61, count: 300_000)
        #expect(try run(["wc", "-c"], input: input, environment: environment, deadline: .seconds(30)).output == Array("300000\n".utf8))
        #expect(try run(["true"], input: input, environment: environment, deadline: .seconds(30)).isSuccess)
    }

    @Test func `a child past its deadline is killed with its children`() throws {
        let exit = try run(["sh", "-c", "sleep 600 & sleep 600"], environment: environment, deadline: .milliseconds(50))
        #expect(exit.end == .timedOut)
    }

    @Test func `a child that closed its outputs is still bound by its deadline`() throws {
        let exit = try run(["sh", "-c", "exec >&- 2>&-; sleep 600"], environment: environment, deadline: .milliseconds(50))
        #expect(exit.end == .timedOut)
    }

    @Test func `more output than is kept does not block the child`() throws {
        let exit = try run(["sh", "-c", "head -c 3000000 /dev/zero"], environment: environment, deadline: .seconds(30), outputBytesMax: 10)
        #expect(exit.isSuccess && exit.output.count == 10)
    }

    @Test func `a program that is missing cannot be started`() {
        #expect(throws: SystemError(number: ENOENT, stage: "cannot start", subject: "no-such-program")) {
            try run(["no-such-program"], environment: environment, deadline: .seconds(30))
        }
    }
}

@Suite(.timeLimit(.minutes(30))) struct SocketTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `a request gets its answer, one after the other`() throws {
        let server = try LocalServer(path: folder("s")) { "<\($0)>" }
        for index in 0..<20 { #expect(try ask("\(index)", at: server.path) == "<\(index)>") }
    }

    @Test func `the socket is open to owner and group only`() throws {
        let server = try LocalServer(path: folder("s")) { $0 }
        #expect(try FileManager.default.attributesOfItem(atPath: server.path)[.posixPermissions] as? Int == 0o660)
    }

    @Test func `a request longer than allowed gets no answer and the next one does`() throws {
        let server = try LocalServer(path: folder("s")) { "<\($0)>" }
        let long = String(repeating: "x", count: LocalServer.requestBytesMax * 3)
        #expect((try? ask(long, at: server.path)) ?? "" == "")
        #expect(try ask("short", at: server.path) == "<short>")
    }

    @Test func `a second server is refused while the first lives, and replaces it when it died`() throws {
        let path = folder("s")
        do {
            let first = try LocalServer(path: path) { $0 }
            #expect(throws: SystemError(number: EADDRINUSE, stage: "cannot listen at", subject: path)) { try LocalServer(path: path) { $0 } }
            withExtendedLifetime(first) {}
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        // A crash leaves a socket file that nobody listens at.
        let left = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
        let bound = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(left, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
        #expect(bound == 0)
        close(left)
        let second = try LocalServer(path: path) { "second \($0)" }
        #expect(try ask("x", at: second.path) == "second x")
    }

    @Test func `a file that is no socket is never removed`() throws {
        try folder.put("precious", at: "s")
        #expect(throws: SystemError(number: EEXIST, stage: "cannot listen at", subject: folder("s"))) { try LocalServer(path: folder("s")) { $0 } }
        #expect(try folder.text(of: "s") == "precious")
    }

    @Test func `nobody at the other end is an error`() {
        #expect(throws: SystemError(number: ENOENT, stage: "cannot connect to", subject: folder("s"))) { try ask("x", at: folder("s")) }
    }
}

@Suite(.timeLimit(.minutes(30))) struct ServiceNotifyTests {
    /// Receives what a service says, at a path or an abstract address.
    func messages(at address: String, _ body: (ServiceNotify) -> Void) -> [String] {
        let receiver = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(receiver) }
        var place = sockaddr_un()
        place.sun_family = sa_family_t(AF_UNIX)
        let isAbstract = address.hasPrefix("@")
        let name = isAbstract ? [0] + Array(address.utf8.dropFirst()) : Array(address.utf8) + [0]
        unsafe withUnsafeMutableBytes(of: &place.sun_path) { unsafe $0.copyBytes(from: name) }
        let bound = unsafe withUnsafePointer(to: &place) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(receiver, $0, socklen_t(2 + name.count)) }
        }
        #expect(bound == 0)
        body(ServiceNotify(address: address))
        var all: [String] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let got = unsafe recv(receiver, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard got > 0 else { return all }
            all.append(String(decoding: buffer[..<got], as: UTF8.self))
        }
    }

    @Test(arguments: [true, false]) func `each message is one datagram, to a path and to an abstract address`(isAbstract: Bool) throws {
        let folder = try TemporaryFolder()
        let heard = messages(at: isAbstract ? "@concord-\(UUID().uuidString)" : folder("n")) { notify in
            notify.ready(status: "Two\nREADY=0")
            notify.status("All in step")
            notify.watchdog()
            notify.stopping()
        }
        #expect(heard == ["READY=1\nSTATUS=Two READY=0", "STATUS=All in step", "WATCHDOG=1", "STOPPING=1\nSTATUS=Stopping"])
    }

    @Test func `reloading carries the monotonic moment`() throws {
        let folder = try TemporaryFolder()
        let heard = messages(at: folder("n")) { $0.reloading() }
        #expect(heard.count == 1 && heard[0].hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
    }
}

@Suite(.timeLimit(.minutes(30))) struct TimeTests {
    struct Middle: RandomNumberGenerator { mutating func next() -> UInt64 { .max / 2 } }

    @Test func `a backoff doubles to its bound, and at most half is taken off`() {
        var backoff = Backoff(first: .seconds(1), longest: .seconds(60))
        for exponent in 0..<40 {
            let whole = min(Duration.seconds(1 << min(exponent, 20)), .seconds(60))
            let pause = backoff.next()
            #expect(pause >= whole / 2 && pause <= whole)
        }
        backoff.reset()
        #expect(backoff.next() <= .seconds(1))
    }

    @Test func `an alarm rings after it was set, and again after it was set again`() async {
        let bell = Bell()
        let alarm = Alarm { bell.ring() }
        for _ in 0..<3 {
            alarm.set(after: .milliseconds(1))
            for await _ in bell.rings { break }
        }
    }

    final class Counter: Sendable {
        let count = Mutex(0)
    }

    @Test func `a thread of one's own does one thing at a time, in the meantime others go on`() async {
        let thread = BlockingThread(label: "test"), counter = Counter()
        await withTaskGroup { group in
            for _ in 0..<1000 {
                group.addTask {
                    await thread.run {
                        let before = counter.count.withLock { $0 }
                        counter.count.withLock { $0 = before + 1 }
                    }
                }
            }
        }
        #expect(counter.count.withLock { $0 } == 1000)
    }

    @Test func `signals arrive as a sequence`() async throws {
        let arrivals = try Signal.arrivals(of: [.hangup])
        kill(getpid(), SIGHUP)
        for await signal in arrivals {
            #expect(signal == .hangup)
            break
        }
    }
}

@Suite(.timeLimit(.minutes(30))) struct SecondThreadTests {
    @Test func `work is done in its order, beside the first thread's`() throws {
        guard let second = SecondThread() else { return }
        let done = Mutex<[Int]>([])
        for i in 0..<1000 { second.start { done.withLock { $0.append(i) } } }
        second.finish()
        #expect(done.withLock { $0 } == Array(0..<1000))
        for i in 0..<1000 {
            var here = -1
            let there = Mutex(-1)
            second.run({ here = i }) { there.withLock { $0 = i } }
            #expect(here == i && there.withLock { $0 } == i)
        }
    }

    @Test func `whichever thread has fallen asleep over the other's work is woken`() throws {
        guard let second = SecondThread() else { return }
        // Much longer than either stays awake.
        @Sendable func long() -> UInt64 { (0..<1_000_000).reduce(UInt64(1)) { $0 &* 31 &+ UInt64($1) } }
        let done = Mutex<[UInt64]>([])
        for _ in 0..<4 {
            let here = long()
            second.start { done.withLock { $0.append(long()) } }
            second.finish()
            #expect(done.withLock { $0.last } == here)
        }
    }
}
