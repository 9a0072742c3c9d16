import Foundation
import Git
import StringCatalog
import Testing

@testable import Sync

/// One branch has migrated its tables to a string catalog, the other goes on with tables.
@Suite(.timeLimit(.minutes(5))) struct MigrationSyncTests {
    private let path = "App/Localizable.xcstrings"
    private let english = "App/en.lproj/Localizable.strings"
    private let french = "App/fr.lproj/Localizable.strings"
    private let german = "App/de.lproj/Localizable.strings"
    private let plurals = "App/fr.lproj/Localizable.stringsdict"

    private func push(_ person: Person, _ files: [String: String?]) throws {
        for (path, text) in files {
            if let text { try person.write(text, to: path) } else { try person.git("rm", "-q", path) }
        }
        try person.commit("Texts")
        try person.git("push", "-q", "origin", "HEAD")
    }

    private func plural(one: String = "%d fichier", other: String = "%d fichiers") -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0">
        <dict>
        \t<key>files</key>
        \t<dict>
        \t\t<key>NSStringLocalizedFormatKey</key>
        \t\t<string>%#@n@</string>
        \t\t<key>n</key>
        \t\t<dict>
        \t\t\t<key>NSStringFormatSpecTypeKey</key>
        \t\t\t<string>NSStringPluralRuleType</string>
        \t\t\t<key>NSStringFormatValueTypeKey</key>
        \t\t\t<string>d</string>
        \t\t\t<key>one</key>
        \t\t\t<string>\(one)</string>
        \t\t\t<key>other</key>
        \t\t\t<string>\(other)</string>
        \t\t</dict>
        \t</dict>
        </dict>
        </plist>

        """
    }

    /// A string unit of a language.
    private func unit(_ language: String, _ value: String, _ state: String = "translated") -> String {
        "\"\(language)\" : { \"stringUnit\" : { \"state\" : \"\(state)\", \"value\" : \"\(value)\" } }"
    }

    private func catalog(_ keys: [(key: String, localizations: [String])]) -> String {
        let entries = keys.map { "    \"\($0.key)\" : { \"extractionState\" : \"migrated\", \"localizations\" : { \($0.localizations.joined(separator: ", ")) } }" }
        return "{\n  \"sourceLanguage\" : \"en\",\n  \"strings\" : {\n\(entries.joined(separator: ",\n"))\n  },\n  \"version\" : \"1.0\"\n}"
    }

    /// Every branch has the same tables.
    private func tables(_ more: [String: String] = [:], branches: [String] = ["l10n/fr"]) throws -> Fixture {
        let fixture = try Fixture(catalog: nil, branches: branches)
        let texts = [english: "\"a\" = \"One\";\n\"b\" = \"Two\";\n", french: "\"a\" = \"Un\";\n\"b\" = \"Deux\";\n"].merging(more) { $1 }
        let dev = try fixture.person("dev", on: "main")
        try push(dev, texts)
        for branch in branches { try dev.git("push", "-q", "origin", "HEAD:refs/heads/\(branch)") }
        return fixture
    }

    /// The developer migrates on `main`.
    private func migrate(_ fixture: Fixture, on branch: String = "main", _ keys: [(key: String, localizations: [String])]? = nil, removing more: [String] = []) throws {
        let keys = keys ?? [("a", [unit("en", "One"), unit("fr", "Un")]), ("b", [unit("en", "Two"), unit("fr", "Deux")])]
        var files: [String: String?] = [path: catalog(keys), english: nil, french: nil]
        for path in more { files[path] = .some(nil) }
        try push(fixture.person("dev", on: branch), files)
    }

    private func leaves(_ fixture: Fixture, _ branch: String, _ path: String? = nil) throws -> Set<String> {
        let document = try CatalogDocument(parsing: Bytes(Array(fixture.text(branch, path ?? self.path).utf8)))
        return Set(changes(from: nil, to: document).filter { $0.path.language != nil }.map { "\($0.path.key!) \($0.path.language!) \($0.path.field!) \($0.new!)" })
    }

    private func files(_ fixture: Fixture, _ branch: String) throws -> [String] {
        try fixture.git("ls-tree", "-r", "--name-only", branch, "App").split(separator: "\n").map(String.init)
    }

    private func expectIdle(_ fixture: Fixture, _ settings: RepositorySettings? = nil, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let before = try fixture.git("for-each-ref")
        let report = try fixture.pass(settings)
        #expect(report.moves.isEmpty, "\(report.moves.map(\.subject))", sourceLocation: sourceLocation)
        #expect(try fixture.git("for-each-ref") == before, sourceLocation: sourceLocation)
        try fixture.expectSound(sourceLocation: sourceLocation)
    }

    @Test func `edits of tables land in the catalog for a review, the tables stay deleted, and each branch keeps its form`() throws {
        let fixture = try tables()
        try migrate(fixture)
        try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Une\";\n\"b\" = \"Deux\";\n"])
        let report = try fixture.pass()
        #expect(report.held.isEmpty && report.blocked.isEmpty, "\(report)")
        #expect(try leaves(fixture, "main").isSuperset(of: ["a fr value Une", "a fr state needs_review", "b fr value Deux", "b fr state translated"]))
        #expect(try files(fixture, "main") == [path])
        #expect(try fixture.parents("main").count == 2)
        #expect(try files(fixture, "l10n/fr") == [english, french])
        #expect(try fixture.text("l10n/fr", french) == "\"a\" = \"Une\";\n\"b\" = \"Deux\";\n")
        let decisions = try Ledger(Repository(opening: fixture.bare)).contents().decisions
        #expect(decisions.contains { $0.rule.hasPrefix("edited in a table") && $0.leaf == LeafPath(key: "a", language: "fr", field: "stringUnit.value") }, "\(decisions)")
        try expectIdle(fixture)
    }

    @Test func `a migration alone moves nothing on the branch of the translators`() throws {
        let fixture = try tables()
        try migrate(fixture)
        try expectIdle(fixture)
    }

    @Test func `edits of the catalog come back to the tables, with other files, and nothing goes round`() throws {
        let fixture = try tables()
        try migrate(fixture, [("a", [unit("en", "One"), unit("fr", "Un")]), ("b", [unit("en", "Two!"), unit("fr", "Deux !")]), ("c", [unit("en", "Three")])])
        try push(fixture.person("dev", on: "main"), ["App.swift": "let app = 2\n"])
        let report = try fixture.pass()
        #expect(report.held.isEmpty && report.blocked.isEmpty, "\(report)")
        #expect(try fixture.text("l10n/fr", english) == "\"a\" = \"One\";\n\"b\" = \"Two!\";\n\"c\" = \"Three\";\n")
        #expect(try fixture.text("l10n/fr", french) == "\"a\" = \"Un\";\n\"b\" = \"Deux !\";\n")
        #expect(try fixture.text("l10n/fr", "App.swift") == "let app = 2\n")
        #expect(try files(fixture, "l10n/fr") == [english, french])
        #expect(try fixture.parents("l10n/fr").count == 1)
        #expect(try files(fixture, "main") == [path])
        try expectIdle(fixture)
    }

    @Test func `both go on for many rounds, and each edit arrives once`() throws {
        let fixture = try tables()
        try migrate(fixture)
        for round in 1...3 {
            try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Un \(round)\";\n\"b\" = \"Deux\";\n"])
            try fixture.pass()
            try expectIdle(fixture)
            #expect(try leaves(fixture, "main").isSuperset(of: ["a fr value Un \(round)", "a fr state needs_review"]))
            // The developer approves, and changes the source text.
            let texts = [("a", [unit("en", "One \(round)"), unit("fr", "Un \(round)")]), ("b", [unit("en", "Two"), unit("fr", "Deux")])]
            try push(fixture.person("dev", on: "main"), [path: catalog(texts)])
            let tip = try fixture.tip("main")
            let report = try fixture.pass()
            #expect(report.held.isEmpty && report.blocked.isEmpty, "\(report)")
            #expect(try fixture.tip("main") == tip)
            #expect(try fixture.text("l10n/fr", english) == "\"a\" = \"One \(round)\";\n\"b\" = \"Two\";\n")
            #expect(try fixture.text("l10n/fr", french) == "\"a\" = \"Un \(round)\";\n\"b\" = \"Deux\";\n")
            try expectIdle(fixture)
        }
    }

    @Test func `plurals go both ways`() throws {
        let fixture = try tables([plurals: plural()])
        func forms(_ one: String, _ other: String) -> String {
            func form(_ name: String, _ value: String) -> String { "\"\(name)\" : { \"stringUnit\" : { \"state\" : \"translated\", \"value\" : \"\(value)\" } }" }
            return "\"fr\" : { \"variations\" : { \"plural\" : { \(form("one", one)), \(form("other", other)) } } }"
        }
        let rest = [("a", [unit("en", "One"), unit("fr", "Un")]), ("b", [unit("en", "Two"), unit("fr", "Deux")])]
        try migrate(fixture, rest + [("files", [forms("%d fichier", "%d fichiers")])], removing: [plurals])
        try push(fixture.person("marie", on: "l10n/fr"), [plurals: plural(other: "%d documents")])
        try fixture.pass()
        #expect(try leaves(fixture, "main").isSuperset(of: [
            "files fr plural.other.value %d documents", "files fr plural.other.state needs_review", "files fr plural.one.state translated",
        ]))
        try expectIdle(fixture)
        try push(fixture.person("dev", on: "main"), [path: catalog(rest + [("files", [forms("un fichier", "%d documents")])])])
        try fixture.pass()
        #expect(try fixture.text("l10n/fr", plurals) == plural(one: "un fichier", other: "%d documents"))
        try expectIdle(fixture)
    }

    @Test func `every language and every name of tables goes its own way`() throws {
        let info = "App/fr.lproj/InfoPlist.strings"
        let fixture = try tables([german: "\"a\" = \"Eins\";\n", info: "CFBundleName = \"Appli\";\n"], branches: ["l10n/fr", "l10n/de"])
        try migrate(fixture, [("a", [unit("de", "Eins"), unit("en", "One"), unit("fr", "Un")]), ("b", [unit("en", "Two"), unit("fr", "Deux")])], removing: [german])
        try push(fixture.person("dev", on: "main"), ["App/InfoPlist.xcstrings": catalog([("CFBundleName", [unit("fr", "Appli")])]), info: nil])
        try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Une\";\n\"b\" = \"Deux\";\n", info: "CFBundleName = \"Application\";\n"])
        try push(fixture.person("jan", on: "l10n/de"), [german: "\"a\" = \"Eins\";\n\"b\" = \"Zwei\";\n"])
        let report = try fixture.pass()
        #expect(report.held.isEmpty && report.blocked.isEmpty, "\(report)")
        #expect(try leaves(fixture, "main").isSuperset(of: ["a fr value Une", "b de value Zwei", "b de state needs_review"]))
        #expect(try leaves(fixture, "main", "App/InfoPlist.xcstrings") == ["CFBundleName fr value Application", "CFBundleName fr state needs_review"])
        #expect(try files(fixture, "main") == ["App/InfoPlist.xcstrings", path])
        // What the one translated comes to the other, in tables.
        #expect(try fixture.text("l10n/de", french) == "\"a\" = \"Une\";\n\"b\" = \"Deux\";\n")
        #expect(try fixture.text("l10n/fr", german) == "\"a\" = \"Eins\";\n\"b\" = \"Zwei\";\n")
        #expect(try fixture.text("l10n/de", info) == "CFBundleName = \"Application\";\n")
        try expectIdle(fixture)
    }

    @Test func `a language that is new in the catalog gets a table of its own`() throws {
        let fixture = try tables()
        try migrate(fixture, [("a", [unit("de", "Eins"), unit("en", "One"), unit("fr", "Un")]), ("b", [unit("en", "Two"), unit("fr", "Deux")])])
        try fixture.pass()
        #expect(try fixture.text("l10n/fr", german) == "\"a\" = \"Eins\";\n")
        try expectIdle(fixture)
    }

    @Test func `a text changed on both sides is held, alone, until one side gives in`() throws {
        let fixture = try tables()
        let settings = fixture.settings(back: true) { $0.policy = CatalogPolicy(name: "conflict")! }
        try migrate(fixture, [("a", [unit("en", "One"), unit("fr", "Ung")]), ("b", [unit("en", "Two"), unit("fr", "Deux")])])
        try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Une\";\n\"b\" = \"Deux.\";\n"])
        for _ in 0..<2 {
            let report = try fixture.pass(settings)
            #expect(Set(report.held.flatMap(\.places).map { $0.leaf?.key }) == ["a"], "\(report.held)")
            #expect(try leaves(fixture, "main").isSuperset(of: ["a fr value Ung", "b fr value Deux.", "b fr state needs_review"]))
            #expect(try fixture.text("l10n/fr", french) == "\"a\" = \"Une\";\n\"b\" = \"Deux.\";\n")
        }
        try expectIdle(fixture, settings)
        // What has arrived is not asked about again.
        try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Une\";\n\"b\" = \"Deux…\";\n"])
        #expect(Set(try fixture.pass(settings).held.flatMap(\.places).map { $0.leaf?.key }) == ["a"])
        #expect(try leaves(fixture, "main").contains("b fr value Deux…"))
        try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Ung\";\n\"b\" = \"Deux…\";\n"])
        #expect(try fixture.pass(settings).held.isEmpty)
        try expectIdle(fixture, settings)
    }

    @Test func `what tables cannot say is held with a sentence`() throws {
        let fixture = try tables()
        let devices = "\"fr\" : { \"variations\" : { \"device\" : { \"mac\" : { \"variations\" : { \"plural\" : { \"other\" : { \"stringUnit\" : { \"state\" : \"translated\", \"value\" : \"%lld\" } } } } } } } }"
        try migrate(fixture, [("a", [unit("en", "One"), unit("fr", "Un")]), ("b", [unit("en", "Two"), unit("fr", "Deux !")]), ("c", [devices])])
        for _ in 0..<2 {
            let places = try fixture.pass().held.flatMap(\.places)
            #expect(places.map { $0.leaf?.key } == ["c"] && places[0].why.contains("tables of this branch cannot say it"), "\(places)")
        }
        #expect(try fixture.text("l10n/fr", french) == "\"a\" = \"Un\";\n\"b\" = \"Deux !\";\n")
        try expectIdle(fixture)
    }

    @Test func `a damaged table holds its name, and nothing else`() throws {
        let fixture = try tables()
        try migrate(fixture)
        let before = try fixture.text("main", path)
        try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Une\"\n\"b\" = \"Deux\";\n", "Notes.txt": "New\n"])
        let report = try fixture.pass()
        #expect(report.held.flatMap(\.places).contains { $0.file.description == french && $0.why.contains("damaged") }, "\(report.held)")
        #expect(try fixture.text("main", path) == before)
        #expect(try fixture.text("main", "Notes.txt") == "New\n")
        try expectIdle(fixture)
        try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Une\";\n\"b\" = \"Deux\";\n"])
        #expect(try fixture.pass().held.isEmpty)
        #expect(try leaves(fixture, "main").contains("a fr value Une"))
        try expectIdle(fixture)
    }

    @Test func `between branches without roles the migration comes over, and edits of the target with it`() throws {
        let fixture = try tables(branches: ["l10n/fr"])
        let settings = fixture.settings { $0.source = .none }
        try migrate(fixture, on: "l10n/fr")
        let migrated = try fixture.tip("l10n/fr")
        try push(fixture.person("dev", on: "main"), [french: "\"a\" = \"Une\";\n\"b\" = \"Deux\";\n"])
        let report = try fixture.pass(settings)
        #expect(report.held.isEmpty && report.blocked.isEmpty, "\(report)")
        #expect(try files(fixture, "main") == [path])
        #expect(try leaves(fixture, "main").isSuperset(of: ["a fr value Une", "a fr state needs_review"]))
        #expect(try fixture.tip("main") == fixture.tip("l10n/fr"), "\(report.moves)")
        // The style of the catalog that came is the one that stays.
        #expect(try fixture.git("diff", "--numstat", "\(migrated)", "main", "--", path).hasPrefix("1\t1\t"))
    }

    @Test func `without edits a migration is a fast-forward between branches without roles`() throws {
        let fixture = try tables(branches: ["l10n/fr"])
        try migrate(fixture, on: "l10n/fr")
        try fixture.pass(fixture.settings { $0.source = .none })
        #expect(try fixture.tip("main") == fixture.tip("l10n/fr"))
    }

    @Test func `where only catalogs are taken over it is the same, and a pass comes to rest`() throws {
        let fixture = try tables()
        let settings = fixture.settings { $0.take = .catalogs }
        try migrate(fixture)
        try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Une\";\n\"b\" = \"Deux\";\n"])
        try fixture.pass(settings)
        #expect(try leaves(fixture, "main").isSuperset(of: ["a fr value Une", "a fr state needs_review"]))
        try expectIdle(fixture, settings)
        try push(fixture.person("dev", on: "main"), [path: catalog([("a", [unit("en", "One"), unit("fr", "Une")]), ("b", [unit("en", "Two"), unit("fr", "Deux !")])])])
        try fixture.pass(settings)
        #expect(try fixture.text("l10n/fr", french) == "\"a\" = \"Une\";\n\"b\" = \"Deux !\";\n")
        try expectIdle(fixture, settings)
    }

    @Test func `a branch that migrates later is merged catalog by catalog from then on`() throws {
        let fixture = try tables()
        try migrate(fixture)
        try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Une\";\n\"b\" = \"Deux\";\n"])
        try push(fixture.person("dev", on: "main"), ["App.swift": "let app = 2\n"])
        try fixture.pass()
        let marie = try fixture.person("marie", on: "l10n/fr")
        try push(marie, [path: try fixture.text("main", path).replacing("needs_review", with: "translated"), english: nil, french: nil])
        let report = try fixture.pass()
        #expect(report.held.isEmpty && report.blocked.isEmpty, "\(report)")
        #expect(try leaves(fixture, "main").contains("a fr state translated"))
        #expect(try files(fixture, "main") == [path] && files(fixture, "l10n/fr") == [path])
        try expectIdle(fixture)
    }
}
