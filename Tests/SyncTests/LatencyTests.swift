import Foundation
import Testing

@testable import Sync

/// How long a sync takes from the end of `git push`, as a table on standard output. Only with `CONCORD_LATENCY=<pushes>`,
/// and best with `CONCORD_BINARY` naming the release executable.
@Suite(.serialized, .timeLimit(.minutes(30))) struct LatencyTests {
    static let pushes = Int(ProcessInfo.processInfo.environment["CONCORD_LATENCY"] ?? "") ?? 0

    @Test(.enabled(if: pushes > 0), arguments: ["0ms", "50ms"])
    func `the time from a push to its sync`(quiet: String) async throws {
        var catalog = Catalog()
        for key in 0..<2000 {
            for language in ["de", "fr", "it"] { catalog["Key number \(key) of the catalog", language] = "Text \(key) in \(language), of some length" }
        }
        let fixture = try Fixture(catalog: catalog.text, branches: ["l10n/fr"])
        let configuration = fixture.folder + "/concord.conf"
        try Data(fixture.configuration().replacingOccurrences(of: "quiet = 10ms", with: "quiet = \(quiet)")
            .replacingOccurrences(of: "back = true", with: "back = false").utf8)
            .write(to: URL(fileURLWithPath: configuration))
        let daemon = Process()
        daemon.executableURL = URL(fileURLWithPath: KillTests.binary)
        daemon.arguments = ["serve", "--config", configuration]
        daemon.standardError = FileHandle.nullDevice
        daemon.standardOutput = FileHandle.nullDevice
        try daemon.run()
        defer { daemon.terminate() }
        let marie = try fixture.person("marie", on: "l10n/fr"), dev = try fixture.person("dev", on: "main")
        let clock = ContinuousClock()
        var syncs: [Duration] = [], merges: [Duration] = []
        for push in 0..<Self.pushes {
            // Both sides change something each time, so that every sync is a real merge.
            try dev.git("pull", "-q", "--ff-only")
            try edit(dev, "main", fixture) { $0["Key number \(push) of the catalog", "de"] = "Anders \(push)" }
            try edit(marie, "l10n/fr", fixture) { $0["Key number \(push + 1) of the catalog", "fr"] = "Autrement \(push)" }
            try dev.git("push", "-q")
            let before = try fixture.tip("main")
            try marie.git("push", "-q")
            let start = clock.now
            while try String(contentsOfFile: fixture.bare + "/refs/heads/main", encoding: .utf8).hasPrefix(before) {}
            syncs.append(clock.now - start)
            #expect(try fixture.parents("main").count == 2)
            merges.append(try clock.measure { try Fixture.run(["git", "merge-tree", "--write-tree", before, "l10n/fr"], in: fixture.bare, allowsFailure: true) })
        }
        func words(_ times: [Duration]) -> String {
            let sorted = times.sorted()
            func ms(_ time: Duration) -> String { "\((time / .microseconds(100)).rounded() / 10) ms" }
            return "median \(ms(sorted[sorted.count / 2])), worst \(ms(sorted[sorted.count - 1]))"
        }
        print("quiet \(quiet), \(catalog.text.utf8.count) bytes, \(Self.pushes) pushes: sync \(words(syncs)); git merge-tree \(words(merges))")
    }

    private func edit(_ person: Person, _ branch: String, _ fixture: Fixture, _ edit: (inout Catalog) -> Void) throws {
        var catalog = try fixture.catalog(branch)
        edit(&catalog)
        try person.write(catalog.text, to: "Localizable.xcstrings")
        try person.git("commit", "-qam", "Edit")
    }
}
