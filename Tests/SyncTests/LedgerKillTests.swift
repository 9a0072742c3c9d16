import Foundation
import Git
import Linux
import Testing

@testable import Sync

extension KillTests {
    /// Gives keys a text that the other side gives another one; a key that came from there already is left alone, since to overwrite
    /// what one has seen is no loss. Returns what was written.
    private func pushTies(_ person: Person, _ name: String, until isOver: StopFlag) throws -> [String] {
        var written: [String] = []
        for round in 0..<10_000 where !isOver.isRaised {
            var text: String?
            try person.retryingPush { catalog in
                let isFree = catalog["Tie \(round)", "fr"] == nil
                text = isFree ? "\(name) \(round)" : nil
                if isFree { catalog["Tie \(round)", "fr"] = "\(name) \(round)" }
                catalog["Own \(name) \(round)", "fr"] = "own \(name) \(round)"
            }
            if let text { written.append(text) }
        }
        return written
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: binary), "the executable is not built"))
    func `killed at random moments, the daemon loses no text without a record`() async throws {
        let environment = ProcessInfo.processInfo.environment
        let kills = Int(environment["CONCORD_KILLS"] ?? "") ?? 8
        let seed = UInt64(environment["CONCORD_SEED"] ?? "") ?? .random(in: 0...(.max))
        var random = KillTests.Seeded(state: seed)
        let fixture = try Fixture(branches: ["l10n/fr"])
        let configuration = fixture.folder + "/concord.conf"
        try Data(fixture.configuration().utf8).write(to: URL(fileURLWithPath: configuration))
        let people = try [("marie", fixture.person("marie", on: "l10n/fr")), ("dev", fixture.person("dev", on: "main"))]
        let written = try await withThrowingTaskGroup(of: [String].self) { group in
            let isOver = StopFlag()
            for (name, person) in people {
                let thread = BlockingThread(label: name)
                group.addTask { try await thread.run { Result { try pushTies(person, name, until: isOver) } }.get() }
            }
            for _ in 0..<kills {
                let daemon = Process()
                daemon.executableURL = URL(fileURLWithPath: Self.binary)
                daemon.arguments = ["serve", "--config", configuration]
                daemon.standardError = FileHandle.nullDevice
                daemon.standardOutput = FileHandle.nullDevice
                try daemon.run()
                try await Task.sleep(for: .milliseconds(Int.random(in: 50...600, using: &random)))
                kill(daemon.processIdentifier, SIGKILL)
                daemon.waitUntilExit()
            }
            try Repository(opening: fixture.bare).releaseDeadLocks()
            isOver.raise()
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let tips = try Set(["main", "l10n/fr"].flatMap { try fixture.catalog($0).keys.values.flatMap { $0.values.map(\.value) } })
        let lost = Set(try fixture.ledger().losses.map(\.text))
        let kept = tips.union(lost)
        print("written \(written.count), on no tip \(written.filter { !tips.contains($0) }.count)")
        let missing = written.filter { !kept.contains($0) }
        #expect(missing.isEmpty, "seed \(seed)")
        #expect(written.count > 3)
        try fixture.expectSound()
    }
}
