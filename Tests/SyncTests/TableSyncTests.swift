import Foundation
import Git
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
