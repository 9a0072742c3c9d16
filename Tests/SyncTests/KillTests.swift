import Foundation
import Git
import Linux
import Testing

@testable import Sync

/// The daemon as its own process, killed without warning. `CONCORD_KILLS` sets how often, `CONCORD_SEED` repeats a run.
@Suite(.timeLimit(.minutes(30))) struct KillTests {
    /// Where SwiftPM puts the executable: beside the tests.
    static let binary = ProcessInfo.processInfo.environment["CONCORD_BINARY"]
        ?? URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("concord").path

    /// How often a daemon is killed, and the number that repeats a run.
    struct Chance {
        let kills: Int
        let seed: Int
        private var random: Seeded

        init(kills: Int) {
            let environment = ProcessInfo.processInfo.environment
            self.kills = Int(environment["CONCORD_KILLS"] ?? "") ?? kills
            seed = Int(environment["CONCORD_SEED"] ?? "") ?? .random(in: 0...(.max))
            random = Seeded(seed)
        }

        mutating func milliseconds(in range: ClosedRange<Int>) -> Duration { .milliseconds(Int.random(in: range, using: &random)) }
    }

    /// Lets people work while daemons are started and killed, each after a time in `milliseconds`, and gives what the people wrote.
    ///
    /// What a killed daemon had locked is given back by the next one: until then people cannot push, and try again.
    func written<Text: Sendable>(
        _ fixture: Fixture, configuration text: String, _ chance: inout Chance, milliseconds: ClosedRange<Int>,
        by people: [@Sendable (StopFlag) throws -> [Text]]
    ) async throws -> [Text] {
        let configuration = fixture.folder + "/concord.conf"
        try Data(text.utf8).write(to: URL(fileURLWithPath: configuration))
        return try await withThrowingTaskGroup(of: [Text].self) { group in
            let isOver = StopFlag()
            for (index, work) in people.enumerated() {
                // A thread for each, since they block: they would keep the killer from running.
                let thread = BlockingThread(label: "person \(index)")
                group.addTask { try await thread.run { Result { try work(isOver) } }.get() }
            }
            for _ in 0..<chance.kills {
                let daemon = Process()
                daemon.executableURL = URL(fileURLWithPath: Self.binary)
                daemon.arguments = ["serve", "--config", configuration]
                daemon.standardError = FileHandle.nullDevice
                daemon.standardOutput = FileHandle.nullDevice
                try daemon.run()
                // The moment is what is tested: from before the first look until after the last.
                try await Task.sleep(for: chance.milliseconds(in: milliseconds))
                kill(daemon.processIdentifier, SIGKILL)
                daemon.waitUntilExit()
            }
            // People may be waiting for a lock of the last one.
            try Repository(opening: fixture.bare).releaseDeadLocks()
            isOver.raise()
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Pushes one text after the other, and returns them.
    func push(_ person: Person, _ language: String, _ index: Int, until isOver: StopFlag) throws -> [(key: String, language: String, text: String)] {
        var texts: [(key: String, language: String, text: String)] = []
        for round in 0..<10_000 where !isOver.isRaised {
            try person.retryingPush { catalog in
                catalog["Text \(language) \(round)", language] = "\(language) \(round)"
                // A key that both sides give a different text is held, so that partial syncs are killed as well.
                if round % 7 == 3, language != "de" { catalog["Held \(round)", "fr"] = "by \(index)" }
            }
            texts.append(("Text \(language) \(round)", language, "\(language) \(round)"))
        }
        return texts
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: binary), "the executable is not built"))
    func `killed at random moments, the daemon comes to the same end state`() async throws {
        var chance = Chance(kills: 10)
        let fixture = try Fixture(branches: ["l10n/fr", "l10n/de"])
        let people = try [("fr", fixture.person("marie", on: "l10n/fr")), ("de", fixture.person("hans", on: "l10n/de")), ("en", fixture.person("dev", on: "main"))]
        let texts = try await written(
            fixture, configuration: fixture.configuration(sync: "  policy = conflict"), &chance, milliseconds: 0...400,
            by: people.enumerated().map { index, person in { try push(person.1, person.0, index, until: $0) } })
        try fixture.pass(fixture.settings { $0.policy = CatalogPolicy(name: "conflict")! })
        #expect(try fixture.pass(fixture.settings { $0.policy = CatalogPolicy(name: "conflict")! }).moves.isEmpty, "seed \(chance.seed)")
        for branch in ["main", "l10n/fr", "l10n/de"] {
            let catalog = try fixture.catalog(branch)
            for (key, language, text) in texts { #expect(catalog[key, language] == text, "\(branch), seed \(chance.seed)") }
        }
        #expect(texts.count > 3)
        let locks = try Fixture.run(["find", fixture.bare, "-name", "*.lock"], in: fixture.folder)
        #expect(locks == "", "a lock was left, seed \(chance.seed)")
        try fixture.expectSound()
    }
}
