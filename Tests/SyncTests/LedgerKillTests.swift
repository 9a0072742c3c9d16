import Foundation
import Git
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
        var chance = Chance(kills: 8)
        let fixture = try Fixture(branches: ["l10n/fr"])
        let people = try [("marie", fixture.person("marie", on: "l10n/fr")), ("dev", fixture.person("dev", on: "main"))]
        let written = try await written(
            fixture, configuration: fixture.configuration(), &chance, milliseconds: 50...600,
            by: people.map { name, person in { try pushTies(person, name, until: $0) } })
        let tips = try Set(["main", "l10n/fr"].flatMap { try fixture.catalog($0).keys.values.flatMap { $0.values.map(\.value) } })
        let lost = Set(try fixture.ledger().losses.map(\.text))
        let kept = tips.union(lost)
        print("written \(written.count), on no tip \(written.filter { !tips.contains($0) }.count)")
        let missing = written.filter { !kept.contains($0) }
        #expect(missing.isEmpty, "seed \(chance.seed)")
        #expect(written.count > 3)
        try fixture.expectSound()
    }
}
