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

    // MARK: Languages

    private let chinese = ["main": "zh-Hans", "l10n/zh": "zh-CN"]

    /// Main calls a language zh-Hans, the translators' branch zh-CN; both have changed its one text if told so.
    private func twoNames(_ edits: [String: String], files: [String: String] = [:]) throws -> Fixture {
        var start = Catalog()
        start.keys = ["Bye": ["zh-Hans": .init(value: "再见")], "Hello": [:]]
        let fixture = try Fixture(catalog: start.text, branches: ["l10n/zh"])
        let dev = try fixture.person("dev", on: "main"), wang = try fixture.person("wang", on: "l10n/zh")
        for (path, text) in files { try dev.pushFile(text, to: path) }
        if let text = edits["main"] { try dev.push { $0["Bye", "zh-Hans"] = text } }
        try wang.push { $0.keys["Bye"] = ["zh-CN": .init(value: edits["l10n/zh"] ?? "再见")] }
        return fixture
    }

    private func aliased(_ fixture: Fixture, _ change: (inout SyncRule) -> Void = { _ in }) throws -> RepositorySettings {
        var aliases = CatalogPolicy.standard
        try aliases.unite(line: "zh-CN zh-Hans")
        return fixture.settings { $0.policy = aliases; change(&$0) }
    }

    @Test func `know the aliases of a language, and each branch keeps its spelling`() throws {
        let fixture = try twoNames(["l10n/zh": "回头见"])
        try fixture.pass(aliased(fixture))
        #expect(try fixture.catalog("main").keys["Bye"] == ["zh-Hans": .init(value: "回头见")])
        #expect(try fixture.catalog("l10n/zh").keys["Bye"] == ["zh-CN": .init(value: "回头见")])
        // What has come over is not merged again, and comes back under the branch's own name.
        try fixture.person("dev", on: "main").push { $0["Bye", "zh-Hans"] = "拜拜" }
        try fixture.pass(aliased(fixture))
        #expect(try fixture.catalog("l10n/zh").keys["Bye"] == ["zh-CN": .init(value: "拜拜")])
        #expect(try fixture.pass(aliased(fixture)).moves.isEmpty)
    }

    @Test func `without aliases take two codes for two languages`() throws {
        let fixture = try twoNames(["l10n/zh": "回头见"])
        try fixture.pass(fixture.settings { $0.source = .none })
        #expect(try fixture.catalog("main").keys["Bye"] == ["zh-CN": .init(value: "回头见")])
    }

    @Test func `hold and decide a text whatever its language is called`() throws {
        let fixture = try twoNames(["main": "拜拜", "l10n/zh": "回头见"])
        let settings = try aliased(fixture) { $0.source = .none; $0.take = .catalogs }
        let repository = try fixture.open()
        #expect(try fixture.pass(settings).held.flatMap(\.places).map { $0.leaf?.language } == ["zh-Hans"])
        // On the way back it is the same place under its other code, and not listed again.
        #expect(try Sync.Conflicts(in: repository, settings).all().held.map(\.held.leaf?.language) == ["zh-Hans"])
        // The held place stays one: the base of the next merge has the old text under either name.
        try fixture.person("wang", on: "l10n/zh").push { $0["Hello", "zh-CN"] = "你好" }
        #expect(try fixture.pass(settings).held.flatMap(\.places).count == 1)
        #expect(try fixture.catalog("main")["Hello", "zh-CN"] == "你好")
        // A decision about one name holds for the other.
        let path = LeafPath(key: "Bye", language: "zh-Hans", field: "stringUnit.value")
        let decided = Resolution(path: path, base: "再见", one: "拜拜", other: "回头见", chosen: "回头见")
        #expect(try RememberedResolutions(repository).remember(decided, file: TreePath("Localizable.xcstrings")!, by: Fixture.dev) == .swapped)
        #expect(try fixture.pass(settings).held.isEmpty)
        #expect(try fixture.catalog("main")["Bye", "zh-Hans"] == "回头见")
    }

    @Test func `ask for the date of a text under either name`() throws {
        let fixture = try twoNames([:])
        for (branch, day) in [("main", "2026-03-01"), ("l10n/zh", "2026-02-01")] {
            let person = try fixture.person("someone", on: branch)
            var catalog = try fixture.catalog(branch)
            catalog["Bye", chinese[branch]!] = branch
            try person.write(catalog.text, to: "Localizable.xcstrings")
            try person.git("commit", "-qam", "Edit", "--date", "\(day)T12:00:00Z")
            try person.git("push", "-q", "origin", "HEAD")
        }
        let newest = try aliased(fixture) { $0.source = .none; $0.policy.rules = CatalogPolicy(name: "newest")!.rules }
        #expect(try fixture.pass(newest).held.isEmpty)
        #expect(try fixture.catalog("l10n/zh")["Bye", "zh-CN"] == "main")
    }

    @Test func `of a tree name aliases and the source language`() throws {
        let settings = TreeSettings(parsing: """
            [concord]
                alias = zh-CN, zh-Hans
                alias = pt
                alias = pt p/t
                sourceLanguage = de
                sourceLanguage = d e
            """)
        var expected = CatalogPolicy.standard
        try expected.unite(line: "zh-Hans zh-CN")
        #expect(settings.policy == expected && settings.sourceLanguage == "de")
        #expect(settings.remarks == [
            ".concord:3: an alias names two languages or more, as in zh-CN zh-Hans", ".concord:4: `p/t` is no code of a language, such as zh-Hans",
            ".concord:6: `sourceLanguage` is the code of a language, not `d e`",
        ])
        let fixture = try twoNames(["l10n/zh": "回头见"], files: [".concord": "[concord]\n\talias = zh-CN zh-Hans\n"])
        try fixture.pass(fixture.settings { $0.source = .none })
        #expect(try fixture.catalog("main").keys["Bye"] == ["zh-Hans": .init(value: "回头见")])
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
