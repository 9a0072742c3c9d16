import Foundation
import Git
import StringCatalog
import StringsTable
import Testing

@testable import Sync

/// What the daemon does with tables of strings, and with merges that would make a catalog worse.
@Suite(.timeLimit(.minutes(30))) struct TableSyncTests {
    private let french = "App/fr.lproj/Localizable.strings"

    private func push(_ person: Person, _ files: [String: String]) throws {
        for (path, text) in files { try person.write(text, to: path) }
        try person.commit("Texts")
        try person.git("push", "-q", "origin", "HEAD")
    }

    @Test func `tables merge by key, where git's lines conflict, and the message counts their texts`() throws {
        let fixture = try Fixture()
        try push(fixture.person("dev", on: "main"), [french: "\"a\" = \"Un\";\n\"b\" = \"Deu\";\n"])
        try fixture.pass()
        try push(fixture.person("dev", on: "main"), [french: "\"a\" = \"Un\";\n\"new\" = \"New\";\n\"b\" = \"Deu\";\n"])
        try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Une\";\n\"b\" = \"Deux\";\n"])
        #expect(throws: (any Error).self) { try fixture.git("merge-tree", "--write-tree", "main", "l10n/fr") }
        try fixture.pass(fixture.settings(back: false))
        #expect(try fixture.text("main", french) == "\"a\" = \"Une\";\n\"new\" = \"New\";\n\"b\" = \"Deux\";\n")
        #expect(try fixture.message("main").hasPrefix("Sync l10n/fr into main: 2 texts in fr\n\n\(french)\n  fr: 2 texts changed\n"))
        try fixture.expectSound()
    }

    @Test func `a table in conflict holds its key, and the next merge asks about that key only`() throws {
        let fixture = try Fixture()
        let settings = fixture.settings(back: false) { $0.source = .none }
        try push(fixture.person("dev", on: "main"), [french: "\"a\" = \"Un\";\n\"b\" = \"Deu\";\n"])
        try fixture.pass()
        try push(fixture.person("dev", on: "main"), [french: "\"a\" = \"Ung\";\n\"b\" = \"Deu\";\n"])
        try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Une\";\n\"b\" = \"Deux\";\n"])
        for _ in 0..<2 {
            let report = try fixture.pass(settings)
            #expect(report.held.flatMap(\.places).map { $0.leaf?.key } == ["a"])
            #expect(try fixture.text("main", french) == "\"a\" = \"Ung\";\n\"b\" = \"Deux\";\n")
        }
        // What has arrived is not asked about again, though main goes on editing it.
        try push(fixture.person("dev", on: "main"), [french: "\"a\" = \"Ung\";\n\"b\" = \"Deux.\";\n"])
        #expect(try fixture.pass(settings).held.flatMap(\.places).map { $0.leaf?.key } == ["a"])
        #expect(try fixture.text("main", french) == "\"a\" = \"Ung\";\n\"b\" = \"Deux.\";\n")
    }

    @Test func `the date of each row decides, by the policy newest`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        try push(fixture.person("dev", on: "main"), [french: "/* x */\n\"a\" = \"1\";\n\"b\" = \"2\";\n"])
        try fixture.pass()
        let dev = try fixture.person("dev", on: "main"), marie = try fixture.person("marie", on: "l10n/fr")
        func commit(_ person: Person, _ day: String, _ text: String) throws {
            try person.write(text, to: french)
            try person.git("commit", "-qam", "Edit", "--date", "2026-\(day)T12:00:00Z")
            try person.git("push", "-q", "origin", "HEAD")
        }
        try commit(dev, "03-01", "/* y */\n\"a\" = \"un\";\n\"b\" = \"2\";\n")
        try commit(dev, "01-01", "/* y */\n\"a\" = \"un\";\n\"b\" = \"deux\";\n")
        try commit(marie, "02-01", "/* z */\n\"a\" = \"une\";\n\"b\" = \"deuxième\";\n")
        // A later commit to another row does not make the first ones newer.
        try commit(marie, "04-01", "/* z */\n\"a\" = \"une\";\n\"b\" = \"deuxième\";\n\"c\" = \"3\";\n")
        let report = try fixture.pass(fixture.settings { $0.policy = CatalogPolicy(name: "newest")!; $0.source = .none })
        #expect(report.held.isEmpty)
        for branch in ["main", "l10n/fr"] {
            #expect(try fixture.text(branch, french) == "/* y */\n\"a\" = \"un\";\n\"b\" = \"deuxième\";\n\"c\" = \"3\";\n")
        }
        #expect(try Set(fixture.ledger().losses.map(\.text)).isSuperset(of: ["une", "deux"]))
    }

    @Test(arguments: [
        ([:], nil, false), ([:], "de", true), (["App.xcodeproj/project.pbxproj": "\t\tdevelopmentRegion = de;\n"], nil, true),
        (["App.xcodeproj/project.pbxproj": "\t\tdevelopmentRegion = de;\n"], "en", false), ([".concord": "[concord]\n\tsourceLanguage = de\n"], nil, true),
    ] as [([String: String], String?, Bool)])
    func `the source texts belong to the developers, in whichever language they are`(_ files: [String: String], _ configured: String?, _ isGerman: Bool) throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        let german = "App/de.lproj/Localizable.strings"
        try push(fixture.person("dev", on: "main"), files.merging([german: "\"a\" = \"Eins\";\n"]) { $1 })
        var settings = fixture.settings
        settings.sourceLanguage = configured
        try fixture.pass(settings)
        try push(fixture.person("dev", on: "main"), [german: "\"a\" = \"Von den Entwicklern\";\n"])
        try push(fixture.person("marie", on: "l10n/fr"), [german: "\"a\" = \"Von den Übersetzern\";\n"])
        try fixture.pass(settings)
        #expect(try fixture.text("main", german) == "\"a\" = \"Von den \(isGerman ? "Entwicklern" : "Übersetzern")\";\n")
        #expect(try fixture.text("l10n/fr", german) == fixture.text("main", german))
    }

    @Test func `a folder that got another code of its language on one side takes the edits of the other along`() throws {
        let fixture = try Fixture(branches: ["l10n/zh"])
        let (old, new) = ("App/zh-CN.lproj/A.strings", "App/zh-Hans.lproj/A.strings")
        func table(_ first: String) -> String { "\"a\" = \"\(first)\";\n" + (0..<9).map { "\"key \($0)\" = \"文本 \($0)\";\n" }.joined() }
        try push(fixture.person("dev", on: "main"), [old: table("一")])
        try fixture.pass()
        let dev = try fixture.person("dev", on: "main")
        try dev.git("mv", "App/zh-CN.lproj", "App/zh-Hans.lproj")
        try dev.commit("Rename")
        try dev.git("push", "-q", "origin", "HEAD")
        try push(fixture.person("wang", on: "l10n/zh"), [old: table("壹")])
        try fixture.pass()
        for branch in ["main", "l10n/zh"] {
            #expect(try fixture.text(branch, new) == table("壹"))
            #expect(throws: (any Error).self) { try fixture.text(branch, old) }
        }
    }

    @Test func `what does not pass the engine's own check costs its key, not the file`() throws {
        func attempt(_ unsound: Set<String>, keyless: Bool = false) throws -> (held: [String: String], attempts: Int) {
            var policy = MergePolicy(), attempts = 0
            _ = try holdingWhatIsUnsound(&policy) { policy throws(MergeFault) in
                attempts += 1
                if let key = unsound.sorted().first(where: { policy.holding[$0] == nil }) { throw MergeFault(description: "it differs", key: keyless ? nil : key) }
            }
            return (policy.holding, attempts)
        }
        #expect(try attempt([]) == ([:], 1))
        #expect(try attempt(["a", "b"]).held == ["a": "it could not be merged soundly: it differs", "b": "it could not be merged soundly: it differs"])
        // Without a key, or with too many of them, it is the file.
        #expect(throws: MergeFault.self) { try attempt(["a"], keyless: true) }
        #expect(throws: MergeFault.self) { try attempt(Set("abcdefghijkl".map(String.init))) }
        // What is held stays in a table, whatever theirs did to it, and is a conflict.
        var policy = MergePolicy()
        policy.holding = ["a": "why", "b": "why", "c": "why", "d": "why", "e": "why"]
        func table(_ text: String) throws -> LocalizedFile { try LocalizedFile(parsing: Bytes(Array(text.utf8)), path: french) }
        let merged = try LocalizedMerge(
            base: table("a = 1;\nb = 2;\nd = 4;\ne = 5;\n"), ours: table("a = 1;\nb = 2;\ne = 5;\n"), theirs: table("a = un;\nc = 3;\nd = 44;\ne = 5;\nf = 6;\n"),
            language: TableLanguage(code: "fr"), policy: policy)
        #expect(String(decoding: merged.file.bytes.array, as: UTF8.self) == "a = 1;\nb = 2;\ne = 5;\nf = 6;\n")
        #expect(Set(merged.report.conflicts.map(\.path.key)) == ["a", "b", "c", "d"])
    }

    @Test func `a table that does not parse is held, and says line and column`() throws {
        let fixture = try Fixture()
        try push(fixture.person("dev", on: "main"), [french: "\"a\" = \"Un\";\n"])
        try fixture.pass()
        try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Une\"\n\"b\" = \"Deux\";\n"])
        let report = try fixture.pass()
        #expect(report.held.count == 1 && report.held.first?.places.first?.why.hasPrefix("cannot be read on l10n/fr: line 1") == true, "\(report.held)")
        #expect(try fixture.text("main", french) == "\"a\" = \"Un\";\n")
    }

    @Test func `a merge that would bring about a fault of neither side holds the key`() throws {
        let fixture = try Fixture()
        func catalog(_ english: String, _ french: String?) -> String {
            func unit(_ code: String, _ text: String) -> String { "\"\(code)\" : { \"stringUnit\" : { \"state\" : \"translated\", \"value\" : \"\(text)\" } }" }
            let units = [unit("en", english)] + (french.map { [unit("fr", $0)] } ?? [])
            return "{ \"sourceLanguage\" : \"en\", \"strings\" : { \"k\" : { \"extractionState\" : \"manual\", \"localizations\" : { \(units.joined(separator: ", ")) } } }, \"version\" : \"1.0\" }"
        }
        let path = "Localizable.xcstrings"
        try push(fixture.person("dev", on: "main"), [path: catalog("%lld files", "%lld fichiers")])
        try fixture.pass()
        // The source text takes another argument while the translator rewords for the old one: each side is sound alone.
        try push(fixture.person("dev", on: "main"), [path: catalog("%@ files", "%@ fichiers")])
        try push(fixture.person("marie", on: "l10n/fr"), [path: catalog("%lld files", "%lld documents")])
        let report = try fixture.pass(fixture.settings(back: false))
        #expect(report.held.flatMap(\.places).map { $0.leaf?.key } == ["k"], "\(report.held)")
        #expect(report.held.first?.places.first?.why.contains("a fault that neither side has") == true, "\(report.held)")
        #expect(try fixture.text("main", path) == catalog("%@ files", "%@ fichiers"))
    }
}
