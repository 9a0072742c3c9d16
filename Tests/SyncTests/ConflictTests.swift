import Foundation
import Git
import StringCatalog
import Testing

@testable import Sync

@Suite(.timeLimit(.minutes(30))) struct `Conflicts` {
    /// Main and a branch contradict each other about one text, and nobody has a role.
    private func contradiction() throws -> (fixture: Fixture, settings: RepositorySettings) {
        let fixture = try Fixture(branches: ["l10n/fr"])
        try fixture.person("dev", on: "main").push { $0["Bye", "fr"] = "Adieu" }
        try fixture.person("marie", on: "l10n/fr").push { $0["Bye", "fr"] = "Salut" }
        return (fixture, fixture.settings { $0.source = .none })
    }

    private func only(_ fixture: Fixture, _ settings: RepositorySettings) throws -> SyncConflict {
        let all = try Sync.Conflicts(in: fixture.open(), settings).all()
        #expect(all.held.count == 1 && all.blocked.isEmpty)
        return try #require(all.held.first)
    }

    private func decide(_ fixture: Fixture, _ settings: RepositorySettings, _ choice: ConflictChoice) throws -> BranchEdit {
        let repository = try fixture.open()
        return try Sync.Conflicts(in: repository, settings).decide(only(fixture, settings), choice, on: CatalogBranch("main", in: repository), by: Fixture.dev)
    }

    @Test func `are found from the branches alone, with all three values, before and after a pass`() throws {
        let (fixture, settings) = try contradiction()
        for _ in 0..<2 {
            let conflict = try only(fixture, settings)
            #expect(conflict.target.name.shorthand == "main" && conflict.source.name.shorthand == "l10n/fr")
            #expect(conflict.held.leaf == LeafPath(key: "Bye", language: "fr", field: "stringUnit.value"))
            #expect([conflict.held.base, conflict.held.ours, conflict.held.theirs] == ["Au revoir", "Adieu", "Salut"])
            #expect(ParsedJSON(parsing: conflict.json)?["theirs"] == .string("Salut"))
            try fixture.pass(settings)
        }
    }

    @Test(arguments: [ConflictChoice.ours, .theirs, .text("À bientôt")])
    func `that a person decided never ask again, in either direction`(choice: ConflictChoice) throws {
        let (fixture, settings) = try contradiction()
        try fixture.pass(settings)
        let edit = try decide(fixture, settings, choice)
        let expected = switch choice {
        case .ours: "Adieu"
        case .theirs: "Salut"
        case .text(let text): text
        }
        if choice == .ours { #expect(edit == .unchanged) }
        #expect(try fixture.catalog("main")["Bye", "fr"] == expected)
        let report = try fixture.pass(settings)
        #expect(report.held.isEmpty)
        for branch in ["main", "l10n/fr"] { #expect(try fixture.catalog(branch)["Bye", "fr"] == expected, "\(branch)") }
        #expect(try Sync.Conflicts(in: fixture.open(), settings).all().held.isEmpty)
        #expect(try fixture.pass(settings).moves.isEmpty)
        try fixture.expectSound()
    }

    @Test func `that were decided do not ask again on other branches with the same values`() throws {
        let (fixture, settings) = try contradiction()
        try fixture.git("branch", "release", "main")
        try fixture.git("branch", "old", "l10n/fr")
        _ = try decide(fixture, settings, .text("À bientôt"))
        let other = fixture.settings(from: "old", into: "release", back: false) { $0.source = .none }
        let report = try fixture.pass(other)
        #expect(report.held.isEmpty)
        #expect(try fixture.catalog("release")["Bye", "fr"] == "À bientôt")
        // Both texts that were there before are in the ledger.
        #expect(try Set(fixture.ledger().losses.map(\.text)).isSuperset(of: ["Adieu", "Salut"]))
    }

    @Test func `that a person decided stay so under any policy`() throws {
        let (fixture, settings) = try contradiction()
        _ = try decide(fixture, settings, .text("À bientôt"))
        try fixture.pass(fixture.settings { $0.policy = CatalogPolicy(name: "theirs")! })
        for branch in ["main", "l10n/fr"] { #expect(try fixture.catalog(branch)["Bye", "fr"] == "À bientôt") }
    }

    @Test func `are found without a write`() throws {
        let (fixture, settings) = try contradiction()
        try fixture.person("dev", on: "main").push { $0["Stop", "fr"] = "Arrête" }
        let before = try fixture.everything()
        #expect(try !Sync.Conflicts(in: fixture.open(), settings).all().held.isEmpty)
        #expect(try fixture.everything() == before)
    }

    @Test func `with other values than those that were decided ask again`() throws {
        let (fixture, settings) = try contradiction()
        _ = try decide(fixture, settings, .ours)
        try fixture.pass(settings)
        try fixture.person("dev", on: "main").push { $0["Bye", "fr"] = "Ciao" }
        try fixture.person("marie", on: "l10n/fr").push { $0["Bye", "fr"] = "Tchao" }
        let report = try fixture.pass(settings)
        #expect(report.held.map(\.step) == ["l10n/fr into main and back"])
        #expect(try only(fixture, settings).held.base == "Adieu")
    }

    @Test(arguments: [ConflictChoice.ours, .theirs, .text("À bientôt")]) func `that were decided arrive in the name of who made the change`(choice: ConflictChoice) throws {
        let (fixture, settings) = try contradiction()
        // Of her commits all but the held text is on main already.
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        try fixture.pass(settings)
        _ = try decide(fixture, settings, choice)
        try fixture.pass(settings)
        #expect(try fixture.git("log", "-1", "--format=%an|%cn", "main") == "Marie|Concord")
    }

    @Test func `about the source language are decided, and then the rest of the file merges`() throws {
        for (choice, expected) in [(ConflictChoice.ours, "fr"), (.theirs, "de"), (.text("it"), "it")] {
            let (fixture, settings) = try contradiction()
            for (name, branch, language) in [("dev", "main", "fr"), ("marie", "l10n/fr", "de")] {
                let person = try fixture.person(name, on: branch)
                var catalog = try fixture.catalog(branch)
                catalog["Bye", "fr"] = "Au revoir"
                catalog["Hello", branch == "main" ? "it" : "es"] = "…"
                try person.pushFile(catalog.text.replacingOccurrences(of: "\"sourceLanguage\" : \"en\"", with: "\"sourceLanguage\" : \"\(language)\""), to: "Localizable.xcstrings")
            }
            try fixture.pass(settings)
            #expect(try only(fixture, settings).held.leaf == LeafPath(field: "sourceLanguage"))
            _ = try decide(fixture, settings, choice)
            #expect(try fixture.pass(settings).held.isEmpty)
            for branch in ["main", "l10n/fr"] {
                #expect(try fixture.text(branch).contains("\"sourceLanguage\" : \"\(expected)\""), "\(choice) \(branch)")
                #expect(try fixture.catalog(branch)["Hello", "it"] == "…" && fixture.catalog(branch)["Hello", "es"] == "…")
            }
        }
    }

    @Test func `about a deleted key are decided as a whole`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        try fixture.person("dev", on: "main").push { $0.keys["Bye"] = nil }
        try fixture.person("marie", on: "l10n/fr").push { $0["Bye", "fr"] = "Salut" }
        let settings = fixture.settings { $0.source = .none }
        try fixture.pass(settings)
        let conflict = try only(fixture, settings)
        #expect(conflict.held.leaf == LeafPath(key: "Bye") && conflict.held.ours == nil)
        _ = try decide(fixture, settings, .theirs)
        #expect(try fixture.catalog("main")["Bye", "fr"] == "Salut")
        #expect(try fixture.pass(settings).held.isEmpty)
    }

    @Test func `that a pass remembers are looked at again when a person has decided, though no branch moved`() throws {
        let (fixture, settings) = try contradiction()
        var memo = StepMemo()
        let pass = Pass(settings: settings, committer: Fixture.committer, isStopped: { false }, moved: { _ in })
        #expect(try !pass.run(&memo).held.isEmpty)
        _ = try decide(fixture, settings, .ours)
        #expect(try pass.run(&memo).held.isEmpty)
    }

    @Test func `are decided under a name, and only one file of memory is kept for each`() throws {
        let (fixture, settings) = try contradiction()
        _ = try decide(fixture, settings, .ours)
        let repository = try fixture.open()
        let again = Resolution(path: LeafPath(key: "Bye", language: "fr", field: "stringUnit.value"), base: "Au revoir", one: "Salut", other: "Adieu", chosen: "Salut")
        #expect(try RememberedResolutions(repository).remember(again, file: TreePath("Localizable.xcstrings")!, by: Fixture.dev) == .swapped)
        #expect(try fixture.git("ls-tree", "-r", "--name-only", "refs/concord/resolutions").split(separator: "\n").count == 1)
        #expect(try fixture.git("log", "-1", "--format=%an", "refs/concord/resolutions") == "Dev")
    }
}
