import Foundation
import Git
import StringCatalog
import Testing

@testable import Sync

@Suite(.timeLimit(.minutes(30))) struct `Policies` {
    private func policy(_ lines: String...) throws -> CatalogPolicy {
        CatalogPolicy(rules: try lines.flatMap { try CatalogPolicy(line: $0).rules })
    }

    /// Main says "main" and the branch says "branch" about each of these places.
    private func contradiction(_ places: [(key: String, language: String)], files: [String: String] = [:]) throws -> Fixture {
        let fixture = try Fixture(branches: ["l10n/fr"])
        let dev = try fixture.person("dev", on: "main"), marie = try fixture.person("marie", on: "l10n/fr")
        for (path, text) in files { try dev.pushFile(text, to: path) }
        try dev.push { catalog in for place in places { catalog[place.key, place.language] = "main" } }
        try marie.push { catalog in for place in places { catalog[place.key, place.language] = "branch" } }
        return fixture
    }

    @Test func `are lists, of which the first rule that fits and decides wins, by language, key and file`() throws {
        let fixture = try contradiction([("Bye", "fr"), ("Stop", "fr"), ("Bye", "de"), ("Hello", "it")])
        let rules = try policy("theirs language=DE", "ours key=S*p", "ours file=Other.xcstrings", "theirs file=*.xcstrings language=fr field=value", "conflict")
        let report = try fixture.pass(fixture.settings(back: false) { $0.policy = rules; $0.source = .none })
        let main = try fixture.catalog("main")
        #expect([main["Bye", "fr"], main["Stop", "fr"], main["Bye", "de"], main["Hello", "it"]] == ["branch", "main", "branch", "main"])
        #expect(report.held.flatMap(\.places).map { $0.leaf?.key } == ["Hello"])
    }

    @Test func `of a repository stand in its tree, after those of the configuration`() throws {
        let concord = """
            # Who decides.
            [concord]
                policy = theirs language=fr ; translators
                policy = ours language=de
                catalogs = "*.strings-catalog"

            """
        let fixture = try contradiction([("Bye", "fr"), ("Bye", "de")], files: [".concord": concord])
        let first = try policy("ours language=fr")
        var report = try fixture.pass(fixture.settings(back: false) { $0.source = .none; $0.policy = first })
        #expect(report.held.isEmpty && report.remarks.isEmpty)
        #expect(try fixture.catalog("main")["Bye", "fr"] == "main")
        #expect(try fixture.catalog("main")["Bye", "de"] == "main")
        let second = try contradiction([("Bye", "fr")], files: [".concord": concord])
        report = try second.pass(second.settings { $0.source = .none })
        #expect(report.held.isEmpty)
        #expect(try second.catalog("main")["Bye", "fr"] == "branch")
        #expect(TreeSettings(parsing: concord).catalogs == [PathGlob("*.strings-catalog")])
    }

    @Test func `of a translators' branch do not count`() throws {
        let fixture = try contradiction([("Bye", "fr")])
        try fixture.person("marie", on: "l10n/fr").pushFile("[concord]\npolicy = theirs\n", to: ".concord")
        let report = try fixture.pass(fixture.settings(back: false) { $0.source = .none; $0.take = .catalogs })
        #expect(report.held.flatMap(\.places).count == 1)
    }

    @Test func `in a tree that are not understood are reported, and are data whatever they say`() throws {
        let settings = TreeSettings(parsing: """
            [include]
                path = /etc/passwd
            [concord]
                polcy = ours
                policy = theirz language=fr
                policy = ours langage=fr
                command = rm -rf /
                catalogs
                policy = union
            [alias "x"]
                y = !sh
            """)
        #expect(settings.policy.rules.map(\.rule.choice) == [.union])
        #expect(settings.catalogs.isEmpty)
        #expect(settings.remarks == [
            ".concord:1: there is no section [include]; its lines have no effect", ".concord:4: there is no `polcy`; did you mean `policy`?",
            ".concord:5: `theirz` is no policy; did you mean `theirs`?", ".concord:6: a policy has no `langage`; did you mean `language`?",
            ".concord:7: there is no `command`", ".concord:8: `catalogs` has no value",
            ".concord:10: there is no section [alias \"x\"]; its lines have no effect",
        ])
        let fixture = try contradiction([("Bye", "fr")], files: [".concord": "[concord]\nnothing = 1\n"])
        let report = try fixture.pass()
        #expect(report.remarks == [".concord:2: there is no `nothing`"])
    }

    @Test func `of union keep a language that one side removed`() throws {
        for (name, expected) in [("standard", nil), ("union", "Au revoir")] as [(String, String?)] {
            let fixture = try Fixture(branches: ["l10n/fr"])
            try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
            try fixture.person("dev", on: "main").push { $0["Bye", "fr"] = nil }
            try fixture.pass(fixture.settings { $0.policy = CatalogPolicy(name: name)!; $0.source = .none })
            #expect(try fixture.catalog("l10n/fr")["Bye", "fr"] == expected, "\(name)")
        }
    }

    @Test(arguments: ["a*", "*a", "*", "a", "*b*", "a*a", "a*b*c"]) func `have globs of keys as a shell has them`(glob: String) throws {
        for key in ["", "a", "ab", "ba", "aba", "abc", "aXbYc", "b", "abab", "a b c"] {
            let escaped = NSRegularExpression.escapedPattern(for: glob).replacingOccurrences(of: "\\*", with: ".*")
            let expected = key.range(of: "^\(escaped)$", options: .regularExpression) != nil
            let rule = MergePolicy.Rule(keys: [glob], choice: .theirs)
            let base = try document(key, "x"), ours = try document(key, "y"), theirs = try document(key, "z")
            let merged = try merge(base: base, ours: ours, theirs: theirs, policy: MergePolicy(rules: [rule]))
            #expect(merged.hasConflicts == !expected, "\(glob) \(key)")
        }
    }

    private func document(_ key: String, _ text: String) throws -> CatalogDocument {
        try CatalogDocument(parsing: Bytes(Array("{\"strings\":{\"\(key)\":{\"localizations\":{\"fr\":{\"stringUnit\":{\"value\":\"\(text)\"}}}}}}".utf8)))
    }
}
