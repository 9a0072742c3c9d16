import Foundation
import Testing

@testable import Sync

/// The rules about a file as a whole, for each form that a file of texts has; each pass goes both ways.
@Suite(.timeLimit(.minutes(30))) struct `Rules of whole files` {
    /// A file with these texts, by key.
    private static let forms: [(path: String, text: @Sendable ([String: String]) -> String)] = [
        ("Other.xcstrings", { texts in
            var catalog = Catalog()
            catalog.keys = texts.mapValues { ["fr": .init(value: $0)] }
            return catalog.text
        }),
        ("App/fr.lproj/A.strings", { texts in texts.sorted { $0.key < $1.key }.map { "\"\($0.key)\" = \"\($0.value)\";\n" }.joined() }),
        ("App/fr.lproj/A.stringsdict", { texts in
            let rows = texts.sorted { $0.key < $1.key }.map { "\t<key>\($0.key)</key>\n\t<string>\($0.value)</string>\n" }
            return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n<dict>\n\(rows.joined())</dict>\n</plist>\n"
        }),
    ]

    private func delete(_ path: String, as person: Person) throws {
        try person.git("rm", "-q", path)
        try person.commit("Delete")
        try person.git("push", "-q", "origin", "HEAD")
    }

    @Test(arguments: [0, 1, 2]) func `deleted on one side and edited on the other is a conflict for the file, and each keeps what it has`(form: Int) throws {
        let (path, text) = Self.forms[form]
        for deleter in ["main", "l10n/fr"] {
            let editor = deleter == "main" ? "l10n/fr" : "main"
            let fixture = try Fixture(branches: ["l10n/fr"])
            try fixture.person("dev", on: "main").pushFile(text(["a": "1", "b": "2"]), to: path)
            try fixture.pass()
            try delete(path, as: fixture.person("one", on: deleter))
            try fixture.person("other", on: editor).pushFile(text(["a": "un", "b": "2"]), to: path)
            let report = try fixture.pass(fixture.settings { $0.source = .none })
            #expect(report.held.flatMap(\.places).map { $0.leaf == nil } == [true], "\(report.held)")
            #expect(report.held.flatMap(\.places).allSatisfy { $0.why.contains("\(deleter) deleted it, \(editor) changed it") }, "\(report.held)")
            #expect(try fixture.text(editor, path) == text(["a": "un", "b": "2"]))
            #expect(throws: (any Error).self) { try fixture.text(deleter, path) }
        }
    }

    @Test(arguments: [0, 1, 2]) func `deleted on one side and untouched on the other goes, unless translators deleted it`(form: Int) throws {
        let (path, text) = Self.forms[form]
        for (deleter, source, goes) in [("main", SyncRule.End.into, true), ("l10n/fr", .into, false), ("main", .none, true), ("l10n/fr", .none, true)] {
            let fixture = try Fixture(branches: ["l10n/fr"])
            try fixture.person("dev", on: "main").pushFile(text(["a": "1"]), to: path)
            try fixture.pass()
            try delete(path, as: fixture.person("one", on: deleter))
            try fixture.pass(fixture.settings { $0.source = source })
            #expect(((try? fixture.text("main", path)) == nil) == goes, "\(deleter), \(source)")
            #expect(((try? fixture.text("l10n/fr", path)) == nil) == (goes || deleter != "main"), "\(deleter), \(source)")
        }
    }

    @Test(arguments: [0, 1, 2]) func `added on both sides is merged over an empty base`(form: Int) throws {
        let (path, text) = Self.forms[form]
        let fixture = try Fixture(branches: ["l10n/fr"])
        try fixture.person("dev", on: "main").pushFile(text(["a": "1", "b": "2", "x": "main"]), to: path)
        try fixture.person("marie", on: "l10n/fr").pushFile(text(["a": "1", "c": "3", "x": "branch"]), to: path)
        try fixture.pass()
        for branch in ["main", "l10n/fr"] { #expect(try fixture.text(branch, path) == text(["a": "1", "b": "2", "c": "3", "x": "branch"])) }
    }

    @Test(arguments: [0, 1, 2], ["main", "l10n/fr"]) func `with conflict markers is held as a whole, says the line, and nothing is repaired in silence`(form: Int, damaged: String) throws {
        let (path, text) = Self.forms[form]
        let fixture = try Fixture(branches: ["l10n/fr"])
        let other = damaged == "main" ? "l10n/fr" : "main"
        try fixture.person("dev", on: "main").pushFile(text(["a": "1", "b": "2"]), to: path)
        try fixture.pass()
        let broken = "<<<<<<< HEAD\n" + text(["a": "1", "b": "deux"])
        try fixture.person("one", on: damaged).pushFile(broken, to: path)
        try fixture.person("other", on: other).pushFile(text(["a": "un", "b": "2"]), to: path)
        let report = try fixture.pass()
        let sentences = report.held.flatMap(\.places).map(\.why)
        #expect(sentences.count == 1 && sentences.allSatisfy { $0.contains("cannot be read on \(damaged)") && $0.contains("line 1") }, "\(sentences)")
        #expect(try fixture.text(damaged, path) == broken)
        #expect(try fixture.text(other, path) == text(["a": "un", "b": "2"]))
    }

    @Test(arguments: [0, 1, 2], ["main", "l10n/fr"]) func `renamed on one side and edited on the other is followed`(form: Int, renamer: String) throws {
        let (path, text) = Self.forms[form]
        let fixture = try Fixture(branches: ["l10n/fr"])
        let texts = Dictionary(uniqueKeysWithValues: (0..<9).map { ("key \($0)", "texte \($0)") })
        try fixture.person("dev", on: "main").pushFile(text(texts), to: path)
        try fixture.pass()
        let one = try fixture.person("one", on: renamer)
        let new = "Moved/" + path
        try FileManager.default.createDirectory(atPath: one.place + "/" + URL(filePath: new).deletingLastPathComponent().relativePath, withIntermediateDirectories: true)
        try one.git("mv", path, new)
        try one.commit("Move")
        try one.git("push", "-q", "origin", "HEAD")
        let edited = texts.merging(["key 3": "trois"]) { $1 }
        try fixture.person("other", on: renamer == "main" ? "l10n/fr" : "main").pushFile(text(edited), to: path)
        try fixture.pass()
        for branch in ["main", "l10n/fr"] {
            #expect(try fixture.text(branch, new) == text(edited))
            #expect(throws: (any Error).self) { try fixture.text(branch, path) }
        }
    }
}
