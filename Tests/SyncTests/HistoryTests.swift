import Foundation
import Git
import StringCatalog
import Testing

@testable import Sync

@Suite(.timeLimit(.minutes(30))) struct `The history of one text` {
    private let path = TreePath("Localizable.xcstrings")!
    private let bye = LeafPath(key: "Bye", language: "fr", field: "stringUnit.value")

    private func history(_ fixture: Fixture, at name: String = "main") throws -> CatalogHistory { try CatalogHistory(at: name, in: fixture.open()) }

    @Test func `names each commit that changed it and no other, newest first`() throws {
        let fixture = try Fixture()
        let dev = try fixture.person("dev", on: "main")
        try dev.push("One") { $0["Bye", "fr"] = "Salut" }
        try dev.push("Two") { $0["Hello", "fr"] = "Bonjour" }
        try dev.pushFile("let app = 2\n", to: "App.swift")
        try dev.push("Three") { $0.keys["Bye"]?["fr"]?.state = "needs_review" }
        let events = try history(fixture).events(of: "Bye", language: "FR", at: path)
        #expect(events.map(\.commit.subject) == ["Three", "One", "Begin"])
        #expect(events[0].changes.map { $0.leaf.fieldInShort } == ["state"])
        #expect(events[1].changes.map(\.old) == ["Au revoir"] && events[1].changes.map(\.new) == ["Salut"])
        #expect(events[2].changes.allSatisfy { $0.old == nil })
        #expect(ParsedJSON(parsing: LeafEvent.json(events)) != nil)
    }

    @Test func `goes on behind a rename of the file, and a time without the key`() throws {
        let fixture = try Fixture()
        let dev = try fixture.person("dev", on: "main")
        try dev.push("Remove") { $0.keys["Bye"] = nil }
        try dev.push("Again") { $0["Bye", "fr"] = "Adieu" }
        try FileManager.default.createDirectory(atPath: dev.place + "/App", withIntermediateDirectories: true)
        try dev.git("mv", "Localizable.xcstrings", "App/Texts.xcstrings")
        try dev.commit("Move")
        try dev.git("push", "-q", "origin", "HEAD")
        let events = try history(fixture).events(of: "Bye", language: "fr", at: TreePath("App/Texts.xcstrings")!)
        #expect(events.map(\.commit.subject) == ["Again", "Remove", "Begin"])
        #expect(events.map(\.path.description) == ["Localizable.xcstrings", "Localizable.xcstrings", "Localizable.xcstrings"])
    }

    @Test(arguments: [SyncRule.Take.all, .catalogs]) func `leads through syncs to who wrote it`(take: SyncRule.Take) throws {
        let fixture = try Fixture()
        try fixture.person("dev", on: "main").push("Key") { $0.keys["Welcome"] = [:] }
        try fixture.person("marie", on: "l10n/fr").push("Traduire") { $0["Bye", "fr"] = "Salut" }
        try fixture.pass(fixture.settings(back: false) { $0.take = take })
        let reasons = try history(fixture).reasons(for: "Bye", language: "fr", at: path)
        #expect(reasons.map(\.leaf.field) == ["stringUnit.state", "stringUnit.value"])
        let text = try #require(reasons.last)
        #expect(text.value == "Salut" && text.event?.commit.subject == "Traduire" && text.event?.commit.author.name == "Marie")
        #expect(text.passages.map(\.commit.id.hex) == [try fixture.tip("main")])
        #expect(text.decisions.isEmpty && text.losses.isEmpty)
        #expect(reasons.first?.event?.commit.subject == "Begin" && reasons.first?.passages.isEmpty == true)
    }

    @Test func `knows what a sync decided, and what it replaced`() throws {
        let fixture = try Fixture()
        try fixture.person("dev", on: "main").push { $0["Bye", "fr"] = "Adieu" }
        try fixture.person("marie", on: "l10n/fr").push("Traduire") { $0["Bye", "fr"] = "Salut" }
        try fixture.pass()
        let text = try #require(try history(fixture).reasons(for: "Bye", language: "fr", at: path).last)
        #expect(text.event?.commit.subject == "Traduire")
        #expect(text.decisions.map(\.rule).contains("both sides changed the text"))
        #expect(text.losses.map(\.text) == ["Adieu"])
        // The log has both lines, and where they met.
        let events = try history(fixture).events(of: "Bye", language: "fr", at: path)
        let texts = events.map { $0.changes.last?.new }
        #expect(texts.first == "Salut" && texts.last == "Au revoir" && Set(texts.dropFirst().dropLast()) == ["Adieu", "Salut"])
        #expect(events[0].origin == text.event?.commit.id && events[1].origin == nil)
    }

    @Test func `is told of tables of strings too`() throws {
        let fixture = try Fixture()
        let dev = try fixture.person("dev", on: "main")
        try dev.pushFile("\"Bye\" = \"Au revoir\";\n\"Hi\" = \"Bonjour\";\n", to: "fr.lproj/A.strings")
        try dev.pushFile("\"Hi\" = \"Bonjour\";\n/* x */ \"Bye\" = \"Salut\";\n", to: "fr.lproj/A.strings")
        try dev.pushFile("\"Hi\" = \"Coucou\";\n\"Bye\" = \"Salut\";\n", to: "fr.lproj/A.strings")
        let events = try history(fixture).events(of: "Bye", language: "fr", at: TreePath("fr.lproj/A.strings")!)
        #expect(events.map { $0.changes.map(\.new) } == [["Salut"], ["Au revoir"]])
        #expect(try history(fixture).events(of: "Bye", language: "de", at: TreePath("fr.lproj/A.strings")!).isEmpty)
    }

    @Test func `of a text that is not there has no reason`() throws {
        let fixture = try Fixture()
        #expect(try history(fixture).reasons(for: "Nothing", language: nil, at: path).isEmpty)
        #expect(try history(fixture).events(of: "Nothing", language: nil, at: path).isEmpty)
        #expect(throws: BranchEditError.self) { try history(fixture, at: "nowhere") }
    }

    @Test func `agrees with git about who touched a text last, in random histories`() throws {
        for seed in 1...3 {
            var random = Seeded(seed)
            let fixture = try Fixture()
            let people = try [("dev", "main"), ("marie", "l10n/fr")].map { name, branch in (branch, try fixture.person(name, on: branch)) } as [(String, Person)]
            for round in 0..<5 {
                for (branch, person) in people {
                    try person.git("pull", "-q", "--ff-only", "origin", branch)
                    try person.push("\(branch) \(round)") { catalog in
                        catalog[["Bye", "Hello"].randomElement(using: &random)!, "fr"] = "\(branch) \(round)"
                    }
                }
                try fixture.pass()
            }
            // Texts name the commit that wrote them.
            for key in ["Bye", "Hello"] {
                for reason in try history(fixture).reasons(for: key, language: "fr", at: path) where reason.leaf.isText && reason.value != "Au revoir" {
                    #expect(reason.event?.commit.subject == reason.value, "seed \(seed)")
                }
            }
        }
    }
}

@Suite(.timeLimit(.minutes(30))) struct `The policy newest` {
    private func commit(_ person: Person, at date: String, _ edit: (inout Catalog) -> Void) throws {
        var catalog = try Catalog(reading: String(contentsOfFile: person.place + "/Localizable.xcstrings", encoding: .utf8))
        edit(&catalog)
        try person.write(catalog.text, to: "Localizable.xcstrings")
        try person.git("add", "-A")
        try person.git("commit", "-q", "-m", "Edit", "--date", date)
        try person.git("push", "-q", "origin", "HEAD")
    }

    @Test func `asks who changed that leaf last, not who committed last`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        let dev = try fixture.person("dev", on: "main"), marie = try fixture.person("marie", on: "l10n/fr")
        try commit(dev, at: "2026-03-01T12:00:00Z") { $0["Bye", "fr"] = "Adieu" }
        try commit(dev, at: "2026-01-01T12:00:00Z") { $0["Stop", "fr"] = "Halte" }
        try commit(marie, at: "2026-02-01T12:00:00Z") { $0["Bye", "fr"] = "Salut"; $0["Stop", "fr"] = "Stop" }
        // A later commit to another text does not make the first ones newer.
        try commit(marie, at: "2026-04-01T12:00:00Z") { $0["Hello", "fr"] = "Bonjour" }
        let settings = fixture.settings { $0.policy = CatalogPolicy(name: "newest")!; $0.source = .none }
        let report = try fixture.pass(settings)
        #expect(report.held.isEmpty)
        for branch in ["main", "l10n/fr"] {
            let catalog = try fixture.catalog(branch)
            #expect(catalog["Bye", "fr"] == "Adieu" && catalog["Stop", "fr"] == "Stop" && catalog["Hello", "fr"] == "Bonjour")
        }
        #expect(try Set(fixture.ledger().losses.map(\.text)).isSuperset(of: ["Salut", "Halte"]))
    }

    @Test func `leaves what was changed at one moment to the next rule`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        try commit(fixture.person("dev", on: "main"), at: "2026-03-01T12:00:00Z") { $0["Bye", "fr"] = "Adieu" }
        try commit(fixture.person("marie", on: "l10n/fr"), at: "2026-03-01T12:00:00Z") { $0["Bye", "fr"] = "Salut" }
        let report = try fixture.pass(fixture.settings { $0.policy = CatalogPolicy(name: "newest")!; $0.source = .none })
        #expect(report.held.map(\.step) == ["l10n/fr into main and back"])
    }
}

@Suite(.timeLimit(.minutes(30))) struct `The history of a text of a table` {
    private let english = "App/en.lproj/Main.strings"
    private let french = "App/fr.lproj/Main.strings"
    private let catalogPath = "App/Main.xcstrings"

    private func catalog(_ french: String) -> String {
        """
        { "sourceLanguage" : "en", "strings" : { "bye" : { "comment" : "Leaving", "extractionState" : "migrated", "localizations" : {
          "en" : { "stringUnit" : { "state" : "translated", "value" : "Bye" } },
          "fr" : { "stringUnit" : { "state" : "translated", "value" : "\(french)" } } } } }, "version" : "1.0" }
        """
    }

    private func events(_ fixture: Fixture, _ path: String, _ language: String? = "fr", at name: String = "main") throws -> [LeafEvent] {
        try CatalogHistory(at: name, in: fixture.open()).events(of: "bye", language: language, at: #require(TreePath(path)))
    }

    private func reason(_ fixture: Fixture, _ path: String, _ field: String, at name: String = "main") throws -> LeafReason {
        let reasons = try CatalogHistory(at: name, in: fixture.open()).reasons(for: "bye", language: "fr", at: #require(TreePath(path)))
        return try #require(reasons.first { $0.leaf.field == field }, "\(reasons)")
    }

    /// Tables that were edited, then migrated in one commit or in two, and a text that was edited in the catalog.
    private func migrated(together: Bool = true, removedFirst: Bool = false) throws -> Fixture {
        let fixture = try Fixture(catalog: nil, branches: [])
        let dev = try fixture.person("dev", on: "main")
        func commit(_ message: String) throws {
            try dev.commit(message)
            try dev.git("push", "-q", "origin", "HEAD")
        }
        try dev.write("/* Leaving */\n\"bye\" = \"Bye\";\n", to: english)
        try dev.write("\"bye\" = \"Au revoir\";\n\"other\" = \"Autre\";\n", to: french)
        try commit("Tables")
        try dev.write("\"bye\" = \"Salut\";\n\"other\" = \"Autre\";\n", to: french)
        try commit("Reword")
        try dev.write("\"bye\" = \"Salut\";\n\"other\" = \"Autre chose\";\n", to: french)
        try commit("Another key")
        if removedFirst {
            try dev.git("rm", "-q", english, french)
            try commit("Remove tables")
            try dev.write(catalog("Salut"), to: catalogPath)
        } else {
            try dev.write(catalog("Salut"), to: catalogPath)
            if together { try dev.git("rm", "-q", english, french) }
        }
        try commit("Migrate")
        if !together {
            try dev.git("rm", "-q", english, french)
            try commit("Remove tables")
        }
        try dev.write(catalog("Adieu"), to: catalogPath)
        try commit("Edit")
        return fixture
    }

    @Test func `is told by commits, and leads through syncs to who wrote it`() throws {
        let fixture = try Fixture(branches: [])
        let dev = try fixture.person("dev", on: "main")
        try dev.pushFile("\"bye\" = \"Au revoir\";\n", to: french)
        try dev.git("push", "-q", "origin", "HEAD:refs/heads/l10n/fr")
        try dev.pushFile("\"bye\" = \"Au revoir\";\n\"new\" = \"New\";\n", to: french)
        try fixture.person("marie", on: "l10n/fr").pushFile("/* C */\n\"bye\" = \"Salut\";\n", to: french)
        try fixture.pass(fixture.settings(back: false))
        #expect(try events(fixture, french).map(\.commit.author.name) == ["Marie", "Marie", "Dev"])
        #expect(try events(fixture, french).first?.changes.map(\.leaf.field) == ["value"])
        #expect(try events(fixture, french, nil).first?.changes.map(\.leaf.field) == ["comment", "value"])
        let reason = try reason(fixture, french, "value")
        #expect(reason.value == "Salut" && reason.event?.commit.author.name == "Marie" && reason.passages.count == 1)
        #expect(try events(fixture, french, "de").isEmpty)
    }

    @Test(arguments: [(true, false), (false, false), (true, true)])
    func `goes on in the tables of which a catalog was made, and says so`(together: Bool, removedFirst: Bool) throws {
        let fixture = try migrated(together: together, removedFirst: removedFirst)
        let events = try events(fixture, catalogPath)
        let subjects = events.map(\.commit.subject)
        #expect(subjects == (removedFirst ? ["Edit", "Migrate", "Remove tables", "Reword", "Tables"] : ["Edit", "Migrate", "Reword", "Tables"]))
        let reword = try #require(events.first { $0.commit.subject == "Reword" })
        #expect(reword.stoodIn.map(\.description) == [french] && reword.path.description == french)
        #expect(reword.changes.map(\.old) == ["Au revoir"] && reword.changes.map(\.new) == ["Salut"])
        #expect(reword.changes.map(\.leaf.field) == ["stringUnit.value"])
        if !removedFirst { #expect(events.first { $0.commit.subject == "Migrate" }?.migratedFrom.map(\.description) == [french]) }
        #expect(events.first?.migratedFrom.isEmpty == true && events.first?.stoodIn.isEmpty == true)
        #expect(ParsedJSON(parsing: LeafEvent.json(events)) != nil)
    }

    @Test func `of a catalog that was migrated names who wrote the text in the table`() throws {
        let fixture = try migrated()
        try fixture.git("branch", "-f", "main", "main~1")
        let reason = try reason(fixture, catalogPath, "stringUnit.value")
        #expect(reason.event?.commit.subject == "Reword" && reason.event?.stoodIn.map(\.description) == [french])
        #expect(reason.migration?.commit.subject == "Migrate")
        // A table has no states: that of the catalog began with it.
        #expect(try self.reason(fixture, catalogPath, "stringUnit.state").event?.commit.subject == "Migrate")
    }

    @Test func `that was edited in a table after the other branch migrated leads to its translator`() throws {
        let fixture = try migrated()
        try fixture.git("branch", "l10n/fr", "main~3")
        try fixture.git("branch", "-f", "main", "main~1")
        try fixture.person("marie", on: "l10n/fr").pushFile("\"bye\" = \"Tchao\";\n\"other\" = \"Autre\";\n", to: french)
        try fixture.pass(fixture.settings(back: false))
        #expect(try fixture.text("main", catalogPath).contains("Tchao"))
        let reason = try reason(fixture, catalogPath, "stringUnit.value")
        #expect(reason.event?.commit.author.name == "Marie" && reason.event?.stoodIn.map(\.description) == [french])
        #expect(reason.passages.count == 1)
    }

    @Test func `of a branch that keeps its tables leads to the catalog in which it was written`() throws {
        let fixture = try migrated()
        // Main keeps its tables; the branch has migrated and edited there.
        try fixture.git("branch", "l10n/fr", "main")
        try fixture.git("branch", "-f", "main", "main~2")
        try fixture.pass(fixture.settings(back: false))
        #expect(try fixture.text("main", french).contains("Adieu"))
        let events = try events(fixture, french)
        #expect(events.map(\.commit.subject).dropFirst() == ["Edit", "Reword", "Tables"], "\(events.map(\.commit.subject))")
        #expect(events.first { $0.commit.subject == "Edit" }?.stoodIn.map(\.description) == [catalogPath])
        let reason = try reason(fixture, french, "value")
        #expect(reason.value == "Adieu" && reason.event?.commit.subject == "Edit" && reason.passages.count == 1)
        #expect(try CatalogHistory(at: "l10n/fr", in: fixture.open()).catalog(inPlaceOf: TreePath(french)!)?.description == catalogPath)
    }

    @Test func `of a plural category goes on in the other form, in both directions`() throws {
        let plurals = french + "dict"
        func forms(_ one: String) -> String {
            func form(_ name: String, _ value: String) -> String { "\"\(name)\" : { \"stringUnit\" : { \"state\" : \"translated\", \"value\" : \"\(value)\" } }" }
            return "{ \"sourceLanguage\" : \"en\", \"strings\" : { \"files\" : { \"extractionState\" : \"migrated\", \"localizations\" : { \"fr\" : { \"variations\" : { \"plural\" : { \(form("one", one)), \(form("other", "%d fichiers")) } } } } } }, \"version\" : \"1.0\" }"
        }
        let fixture = try Fixture(catalog: nil, branches: [])
        let dev = try fixture.person("dev", on: "main")
        func commit(_ message: String) throws {
            try dev.commit(message)
            try dev.git("push", "-q", "origin", "HEAD")
        }
        try dev.write(pluralTable(one: "%d fichier", other: "%d fichiers"), to: plurals)
        try commit("Table")
        try dev.write(pluralTable(one: "un fichier", other: "%d fichiers"), to: plurals)
        try commit("Reword")
        try dev.git("push", "-q", "origin", "HEAD:refs/heads/tables")
        try dev.write(forms("un fichier"), to: catalogPath)
        try dev.git("rm", "-q", plurals)
        try commit("Migrate")
        try dev.write(forms("1 fichier"), to: catalogPath)
        try commit("Edit")
        func events(_ branch: String, _ path: String, _ field: String) throws -> [String] {
            try CatalogHistory(at: branch, in: fixture.open()).events(of: "files", language: "fr", at: TreePath(path)!)
                .filter { $0.changes.contains { $0.leaf.field == field } }.map(\.commit.subject)
        }
        #expect(try events("main", catalogPath, "variations.plural.one.stringUnit.value") == ["Edit", "Reword", "Table"])
        // The branch with the tables gets the edit of the catalog; who asks there is led to it.
        try fixture.pass(fixture.settings(from: "main", into: "tables", back: false) { $0.source = .from })
        #expect(try fixture.text("tables", plurals) == pluralTable(one: "1 fichier", other: "%d fichiers"))
        let back = try events("tables", plurals, "n.one")
        // Commits of one second have no order among the lines of a history.
        #expect(Set(back.dropFirst()) == ["Edit", "Reword", "Table"], "\(back)")
        let reasons = try CatalogHistory(at: "tables", in: fixture.open()).reasons(for: "files", language: "fr", at: TreePath(plurals)!)
        let reason = try #require(reasons.first { $0.leaf.field == "n.one" })
        #expect(reason.event?.commit.subject == "Edit" && reason.event?.stoodIn.map(\.description) == [catalogPath])
    }
}
