import Foundation
import Linux
import Synchronization
import Testing

@testable import Sync

/// A daemon in this process, on a configuration of a test, whose log can be waited for.
final class RunningDaemon: Sendable {
    let configurationPath: String
    let signals: AsyncStream<Signal>.Continuation
    private let lines: AsyncStream<String>
    private let seen = Mutex<[String]>([])
    private let task: Task<Int32, Never>

    init(_ fixture: Fixture, configuration: String) throws {
        configurationPath = fixture.folder + "/concord.conf"
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: configurationPath))
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        let (arrivals, signals) = AsyncStream.makeStream(of: Signal.self)
        (self.lines, self.signals) = (lines, signals)
        let daemon = try Daemon(configurationPath: configurationPath, log: Log { _, text in line.yield(text) }, notify: ServiceNotify(address: "@nobody"))
        task = Task { await daemon.run(signals: arrivals) }
    }

    /// Waits for a line that has all the words; the lines before it are taken too.
    @discardableResult func line(_ words: String...) async -> String {
        for await line in lines {
            seen.withLock { $0.append(line) }
            if words.allSatisfy({ line.contains($0) }) { return line }
        }
        return ""
    }

    func rewrite(_ configuration: String) throws {
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: configurationPath))
        signals.yield(.hangup)
    }

    func stop() async -> Int32 {
        signals.yield(.terminate)
        return await task.value
    }
}

extension Fixture {
    var socket: String { folder + "/socket" }

    /// A configuration with a short quiet period and a rescan that no test waits for.
    func configuration(repositories: [(name: String, path: String)]? = nil, concord: String = "", sync: String = "") -> String {
        "[concord]\n  socket = \(socket)\n  quiet = 10ms\n  rescan = 1h\n  email = concord@example.org\n\(concord)\n"
            + (repositories ?? [("app", bare)]).map { "[repository \"\($0.name)\"]\n  path = \($0.path)\n" }.joined()
            + "[sync \"l10n\"]\n  from = l10n/*\n  into = main\n  back = true\n\(sync)\n"
    }
}

@Suite(.timeLimit(.minutes(30))) struct DaemonTests {
    @Test func `a push is heard, and what it brings goes everywhere`() async throws {
        let fixture = try Fixture()
        let daemon = try RunningDaemon(fixture, configuration: fixture.configuration())
        await daemon.line("started")
        let marie = try fixture.person("marie", on: "l10n/fr")
        try marie.push { $0["Hello", "fr"] = "Bonjour" }
        await daemon.line("moved", "branch=l10n/de")
        #expect(try fixture.catalog("l10n/de")["Hello", "fr"] == "Bonjour")
        #expect(await daemon.stop() == 0)
        try fixture.expectSound()
    }

    @Test func `a branch that is new, nested and packed is heard too`() async throws {
        let fixture = try Fixture(branches: [])
        let daemon = try RunningDaemon(fixture, configuration: fixture.configuration())
        await daemon.line("started")
        let paolo = try fixture.person("paolo", on: "main")
        try paolo.git("checkout", "-q", "-b", "l10n/south/it")
        try paolo.push { $0["Hello", "it"] = "Ciao" }
        await daemon.line("moved", "branch=main")
        try fixture.git("pack-refs", "--all", "--prune")
        try paolo.push { $0["Bye", "it"] = "Addio" }
        await daemon.line("moved", "branch=main")
        #expect(try fixture.catalog("main")["Bye", "it"] == "Addio")
        #expect(await daemon.stop() == 0)
    }

    @Test func `work that was there before the start is done at the start`() async throws {
        let fixture = try Fixture()
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        let daemon = try RunningDaemon(fixture, configuration: fixture.configuration())
        await daemon.line("moved", "branch=main")
        #expect(await daemon.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: fixture.socket))
    }

    @Test func `one repository's trouble does not stop another's, and status tells both`() async throws {
        let fixture = try Fixture()
        let daemon = try RunningDaemon(
            fixture, configuration: fixture.configuration(repositories: [("gone", fixture.folder + "/gone.git"), ("app", fixture.bare)], concord: "  workers = 1"))
        await daemon.line("failed", "repository=gone")
        let marie = try fixture.person("marie", on: "l10n/fr")
        try marie.push { $0["Hello", "fr"] = "Bonjour" }
        await daemon.line("moved", "repository=app")
        let json = try #require(try JSONSerialization.jsonObject(with: Data(StatusClient.status(at: fixture.socket, asJSON: true).utf8)) as? [String: Any])
        let repositories = try #require(json["repositories"] as? [[String: Any]])
        #expect(repositories.map { $0["name"] as? String } == ["app", "gone"])
        #expect(repositories[1]["condition"] as? String == "failing")
        #expect(try StatusClient.status(at: fixture.socket, asJSON: false).contains("gone  failing   cannot open"))
        #expect(await daemon.stop() == 0)
    }

    @Test func `a repository that comes back is kept in step again without a restart`() async throws {
        let fixture = try Fixture()
        let aside = fixture.folder + "/aside.git"
        try FileManager.default.moveItem(atPath: fixture.bare, toPath: aside)
        let daemon = try RunningDaemon(fixture, configuration: fixture.configuration())
        await daemon.line("failed", "repository=app")
        try FileManager.default.moveItem(atPath: aside, toPath: fixture.bare)
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        await daemon.line("moved", "branch=main")
        #expect(await daemon.stop() == 0)
    }

    @Test func `a blocked sync is said once, and again only when it changed`() async throws {
        let fixture = try Fixture()
        try fixture.person("dev", on: "main").pushFile("let app = 2\n", to: "App.swift")
        let marie = try fixture.person("marie", on: "l10n/fr")
        try marie.pushFile("let app = 3\n", to: "App.swift")
        let daemon = try RunningDaemon(fixture, configuration: fixture.configuration())
        await daemon.line("blocked", "App.swift (changed on both sides)")
        await daemon.line("blocked", "main into l10n/fr")
        #expect(try StatusClient.look(at: fixture.socket) == "ok\n")
        try marie.pushFile("let app = 2\n", to: "App.swift")
        // The next line of any kind is not a third "blocked".
        #expect(await daemon.line().hasPrefix("moved"))
        #expect(await daemon.stop() == 0)
    }

    @Test func `reloading takes up what is new and lets go of what is gone`() async throws {
        let fixture = try Fixture(), other = try Fixture()
        let daemon = try RunningDaemon(fixture, configuration: fixture.configuration())
        await daemon.line("started")
        try daemon.rewrite(fixture.configuration(repositories: [("other", other.bare)]))
        await daemon.line("reloaded")
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        try other.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        await daemon.line("moved", "repository=other", "branch=main")
        #expect(try fixture.catalog("main")["Hello", "fr"] == nil)
        #expect(try !StatusClient.status(at: fixture.socket, asJSON: false).contains("app"))
        #expect(await daemon.stop() == 0)
    }

    @Test func `a bad new configuration leaves the old one running and says so`() async throws {
        let fixture = try Fixture()
        let daemon = try RunningDaemon(fixture, configuration: fixture.configuration())
        await daemon.line("started")
        try daemon.rewrite(fixture.configuration(concord: "  wrokers = 2"))
        await daemon.line("refused", "did you mean `workers`?")
        await daemon.line("kept")
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        await daemon.line("moved", "branch=main")
        #expect(try StatusClient.status(at: fixture.socket, asJSON: false).contains("refused configuration"))
        try daemon.rewrite(fixture.configuration())
        await daemon.line("reloaded")
        #expect(try !StatusClient.status(at: fixture.socket, asJSON: false).contains("refused configuration"))
        #expect(await daemon.stop() == 0)
    }

    @Test func `a bad first configuration does not start, with every fault`() throws {
        let fixture = try Fixture()
        #expect(throws: ConfigurationError.self) { try RunningDaemon(fixture, configuration: "[concord]\nx = 1\n") }
    }

    @Test func `a second daemon on one socket does not start, and on one repository does no harm`() async throws {
        let fixture = try Fixture()
        let first = try RunningDaemon(fixture, configuration: fixture.configuration())
        #expect(throws: SystemError.self) { try RunningDaemon(fixture, configuration: fixture.configuration()) }
        let second = try RunningDaemon(fixture, configuration: fixture.configuration().replacingOccurrences(of: "/socket", with: "/socket2"))
        let marie = try fixture.person("marie", on: "l10n/fr"), dev = try fixture.person("dev", on: "main")
        for round in 0..<10 {
            try marie.retryingPush { $0["Hello", "fr"] = "Bonjour \(round)" }
            try dev.retryingPush { $0.keys["Key \(round)"] = [:] }
        }
        #expect(await first.stop() == 0)
        #expect(await second.stop() == 0)
        try fixture.pass()
        let catalog = try fixture.catalog("main")
        #expect(catalog["Hello", "fr"] == "Bonjour 9")
        #expect((0..<10).allSatisfy { catalog.keys["Key \($0)"] != nil })
        try fixture.expectSound()
    }

    /// 4 people push at once, each to a branch that Concord writes to as well.
    @Test func `every text that four people push beside the daemon is in the end state`() async throws {
        let fixture = try Fixture(branches: ["l10n/fr", "l10n/de", "l10n/it"])
        let daemon = try RunningDaemon(fixture, configuration: fixture.configuration())
        let rounds = Int(ProcessInfo.processInfo.environment["CONCORD_PUSHES"] ?? "") ?? 12
        try await withThrowingTaskGroup { group in
            for language in ["fr", "de", "it"] {
                let person = try fixture.person("person-\(language)", on: "l10n/\(language)")
                let thread = BlockingThread(label: language)
                group.addTask {
                    try await thread.run {
                        Result { for round in 0..<rounds { try person.retryingPush { $0["Text \(language) \(round)", language] = "\(language) \(round)" } } }
                    }.get()
                }
            }
            let dev = try fixture.person("dev", on: "main")
            let thread = BlockingThread(label: "dev")
            group.addTask { try await thread.run { Result { for round in 0..<rounds { try dev.retryingPush { $0.keys["Key \(round)"] = [:] } } } }.get() }
            try await group.waitForAll()
        }
        #expect(await daemon.stop() == 0)
        try fixture.pass()
        #expect(try fixture.pass().moves.isEmpty)
        for branch in ["main", "l10n/fr", "l10n/de", "l10n/it"] {
            let catalog = try fixture.catalog(branch)
            for round in 0..<rounds {
                for language in ["fr", "de", "it"] { #expect(catalog["Text \(language) \(round)", language] == "\(language) \(round)") }
                #expect(catalog.keys["Key \(round)"] != nil)
            }
        }
        try fixture.expectSound()
    }
}

extension Person {
    /// Pushes as people do: when refused, takes over what came, and pushes again.
    func retryingPush(_ edit: (inout Catalog) -> Void) throws {
        try git("fetch", "-q")
        try git("reset", "-q", "--hard", "@{upstream}")
        var refusal = ""
        for _ in 0..<200 {
            do { return try push("Edit", edit) } catch {
                refusal = "\(error)"
                try git("fetch", "-q")
                try git("reset", "-q", "--hard", "@{upstream}")
            }
        }
        throw Fixture.Failure(description: "\(name) could not push: \(refusal)")
    }
}
