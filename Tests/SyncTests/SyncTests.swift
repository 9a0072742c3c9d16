import Foundation
import Git
import Testing

@testable import Sync

@Suite(.timeLimit(.minutes(30))) struct SyncTests {
    @Test func `a translation arrives on main and new keys go back to every translator`() throws {
        let fixture = try Fixture()
        try fixture.person("dev", on: "main").push("Add a key") { $0.keys["Welcome"] = [:] }
        try fixture.person("marie", on: "l10n/fr").push("Traduire") { $0["Hello", "fr"] = "Bonjour" }
        try fixture.person("hans", on: "l10n/de").push("Übersetzen") { $0["Hello", "de"] = "Hallo" }
        try fixture.pass()
        for branch in ["main", "l10n/fr", "l10n/de"] {
            let catalog = try fixture.catalog(branch)
            #expect(catalog["Hello", "fr"] == "Bonjour" && catalog["Hello", "de"] == "Hallo" && catalog.keys["Welcome"] == [:])
        }
        #expect(try fixture.tip("main") == fixture.tip("l10n/fr"))
        try fixture.expectSound()
    }

    @Test func `the author of a sync is the person whose change arrives, and the committer is Concord`() throws {
        let fixture = try Fixture()
        try fixture.person("dev", on: "main").push { $0.keys["Welcome"] = [:] }
        let marie = try fixture.person("marie", on: "l10n/fr")
        try marie.push { $0["Hello", "fr"] = "Bonjour" }
        try fixture.person("paul", on: "l10n/fr").push { $0["Stop", "fr"] = "Stop" }
        let date = try fixture.git("log", "-1", "--format=%ad", "l10n/fr")
        try fixture.pass(fixture.settings(back: false))
        #expect(try fixture.git("log", "-1", "--format=%an <%ae>|%cn <%ce>|%ad", "main")
            == "Paul <paul@example.org>|Concord <concord@example.org>|\(date)")
        #expect(try fixture.git("log", "-1", "--format=%(trailers:key=Co-authored-by,valueonly)", "main").trimmingCharacters(in: .whitespacesAndNewlines)
            == "Marie <marie@example.org>")
    }

    @Test func `a whole merge has two parents, and its diff shows the changed texts and nothing else`() throws {
        let fixture = try Fixture()
        try fixture.person("dev", on: "main").push { $0.keys["Welcome"] = [:] }
        try fixture.person("marie", on: "l10n/fr").push { $0["Bye", "fr"] = "Salut" }
        let before = (main: try fixture.tip("main"), fr: try fixture.tip("l10n/fr"))
        try fixture.pass(fixture.settings(back: false))
        #expect(try fixture.parents("main") == [before.main, before.fr])
        let diff = try fixture.git("diff", "-U0", before.main, "main").split(separator: "\n").filter { $0.hasPrefix("+ ") || $0.hasPrefix("- ") }
        #expect(diff == [#"-            "value" : "Au revoir""#, #"+            "value" : "Salut""#])
    }

    @Test func `the message counts what came over, by file, language and kind`() throws {
        let fixture = try Fixture()
        try fixture.person("dev", on: "main").push { $0.keys["Welcome"] = [:] }
        let fr = try fixture.person("marie", on: "l10n/fr")
        try fr.push {
            $0["Hello", "fr"] = "Bonjour"
            $0["Bye", "fr"] = "Salut"
            $0["New", "fr"] = "Nouveau"
            $0.keys["Stop"]!["fr"]!.state = "needs_review"
            $0["Hello", "it"] = "Ciao"
        }
        let tip = try fixture.tip("l10n/fr")
        try fixture.pass(fixture.settings(back: false))
        #expect(try fixture.message("main") == """
            Sync l10n/fr into main: 1 key, 4 texts in fr, 1 in it

            Localizable.xcstrings
              1 key added
              fr: 2 texts added, 1 changed, 1 state changed
              it: 1 text added

            Concord-Source: refs/heads/l10n/fr \(tip)
            """)
    }

    @Test func `a branch without changes of its own moves to the other's commit, unless that is switched off`() throws {
        let fixture = try Fixture()
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        let fr = try fixture.tip("l10n/fr"), main = try fixture.tip("main")
        try fixture.pass(fixture.settings { $0.allowsFastForward = false })
        #expect(try fixture.parents("main") == [main, fr])
        let second = try Fixture()
        try second.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        try second.pass()
        #expect(try second.tip("main") == second.tip("l10n/fr"))
        #expect(try second.tip("main") == second.tip("l10n/de"))
    }

    @Test(arguments: [true, false]) func `passes over an idle repository make no commit and write no object`(allowsFastForward: Bool) throws {
        let fixture = try Fixture()
        let settings = fixture.settings { $0.allowsFastForward = allowsFastForward }
        try fixture.person("dev", on: "main").push { $0.keys["Welcome"] = [:] }
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        try fixture.pass(settings)
        let before = try fixture.everything()
        for _ in 0..<100 { #expect(try fixture.pass(settings).moves.isEmpty) }
        #expect(try fixture.everything() == before)
    }

    @Test func `a thousand passes with a memory of the last one make no commit`() throws {
        let fixture = try Fixture()
        try fixture.person("dev", on: "main").push { $0["Hello", "fr"] = "Salut" }
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        let settings = fixture.settings { $0.policy = CatalogPolicy(name: "conflict")! }
        var memo = StepMemo()
        let pass = Pass(settings: settings, committer: Fixture.committer, isStopped: { false }, moved: { _ in })
        _ = try pass.run(&memo)
        let before = try fixture.everything()
        for _ in 0..<1000 { #expect(try pass.run(&memo).moves.isEmpty) }
        #expect(try fixture.everything() == before)
    }

    @Test func `a dry run names the moves and makes none`() throws {
        let fixture = try Fixture()
        try fixture.person("dev", on: "main").push { $0.keys["Welcome"] = [:] }
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        var settings = fixture.settings
        settings.isDryRun = true
        // Neither refs nor objects: what is only planned is not written.
        let before = try fixture.everything()
        let report = try fixture.pass(settings)
        #expect(report.moves.map { "\($0.kind) \($0.source.shorthand) \($0.target.shorthand)" }
            == ["merge l10n/fr main", "fast-forward main l10n/de", "merge main l10n/fr"])
        #expect(!report.moves.contains { !$0.isPlanned })
        #expect(try fixture.everything() == before)
    }

    @Test func `a rule that is a dry run writes nothing beside one that is none`() throws {
        let fixture = try Fixture()
        try fixture.person("dev", on: "main").push { $0.keys["Welcome"] = [:] }
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        var settings = fixture.settings
        settings.rules[0].isDryRun = true
        settings.rules.append(SyncRule(name: "other", from: RefPattern("l10n/fr")!, into: RefPattern("l10n/de")!))
        let report = try fixture.pass(settings)
        #expect(Set(report.moves.filter { !$0.isPlanned }.map(\.target.shorthand)) == ["l10n/de"])
        #expect(try fixture.git("rev-list", "--all", "--objects", "--no-object-names").split(separator: "\n").count
            == fixture.git("cat-file", "--batch-all-objects", "--batch-check").split(separator: "\n").count)
        try fixture.expectSound()
    }

    @Test func `branches without a commit in common are blocked`() throws {
        let fixture = try Fixture()
        let dev = try fixture.person("dev")
        try dev.git("checkout", "-q", "--orphan", "l10n/it")
        try dev.commit("Other beginnings")
        try dev.git("push", "-q", "origin", "l10n/it")
        let report = try fixture.pass(fixture.settings(from: "l10n/it"))
        #expect(report.blocked.first?.why == "l10n/it and main have no commit in common")
    }

    @Test func `other files in conflict block that sync by name, and no other`() throws {
        let fixture = try Fixture()
        try fixture.person("dev", on: "main").pushFile("let app = 2\n", to: "App.swift")
        try fixture.person("marie", on: "l10n/fr").pushFile("let app = 3\n", to: "App.swift")
        try fixture.person("hans", on: "l10n/de").push { $0["Hello", "de"] = "Hallo" }
        let report = try fixture.pass()
        #expect(report.blocked.map(\.step) == ["l10n/fr into main", "main into l10n/fr"])
        #expect(report.blocked.first?.why
            == "files other than catalogs conflict: App.swift (changed on both sides); merge l10n/fr into main by hand")
        #expect(try fixture.catalog("main")["Hello", "de"] == "Hallo")
    }

    @Test func `a branch that a work tree has checked out is not moved under it`() throws {
        let fixture = try Fixture()
        try fixture.git("worktree", "add", "-q", fixture.folder + "/tree", "main")
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        let before = try fixture.tip("main")
        let report = try fixture.pass()
        #expect(report.blocked.first?.why == "main is checked out in \(fixture.folder)/tree, and a branch is not moved under a work tree")
        #expect(try fixture.tip("main") == before)
    }

    @Test func `with catalogs only, nothing else comes over and the source is no parent`() throws {
        let fixture = try Fixture()
        let settings = fixture.settings { $0.take = .catalogs }
        let marie = try fixture.person("marie", on: "l10n/fr")
        try marie.pushFile("let app = 3\n", to: "App.swift")
        try marie.push { $0["Hello", "fr"] = "Bonjour" }
        let main = try fixture.tip("main"), fr = try fixture.tip("l10n/fr")
        try fixture.pass(settings)
        #expect(try fixture.parents("main") == [main])
        #expect(try fixture.text("main", "App.swift") == "let app = 1\n")
        #expect(try fixture.catalog("main")["Hello", "fr"] == "Bonjour")
        #expect(try fixture.message("main").contains("Concord-Source: refs/heads/l10n/fr \(fr)"))

        // What came over is common from now on: main's later change of the same text is no conflict.
        try fixture.person("dev", on: "main").push { $0["Hello", "fr"] = "Salut" }
        try fixture.pass(settings)
        #expect(try fixture.catalog("l10n/fr")["Hello", "fr"] == "Salut")
        #expect(try fixture.catalog("main")["Hello", "fr"] == "Salut")
        try marie.pull()
        try marie.push { $0["Hello", "fr"] = "Coucou" }
        try fixture.pass(settings)
        #expect(try fixture.catalog("main")["Hello", "fr"] == "Coucou")
        #expect(try fixture.text("main", "App.swift") == "let app = 1\n")
        #expect(try fixture.text("l10n/fr", "App.swift") == "let app = 3\n")
        try fixture.expectSound()
    }
}

@Suite(.timeLimit(.minutes(30))) struct HeldTests {
    /// Both sides gave `Hello` a French text, and nobody may decide.
    let fixture: Fixture
    let settings: RepositorySettings
    let dev, marie: Person

    init() throws {
        fixture = try Fixture(branches: ["l10n/fr"])
        settings = fixture.settings { $0.policy = CatalogPolicy(name: "conflict")! }
        dev = try fixture.person("dev", on: "main")
        marie = try fixture.person("marie", on: "l10n/fr")
        try dev.push {
            $0["Hello", "fr"] = "Salut"
            $0.keys["Welcome"] = [:]
        }
        try marie.push {
            $0["Hello", "fr"] = "Bonjour"
            $0["Stop", "fr"] = "Stop"
        }
    }

    @Test func `a conflict holds its key only, on both branches, and is named`() throws {
        let report = try fixture.pass(settings)
        #expect(try fixture.catalog("main")["Hello", "fr"] == "Salut")
        #expect(try fixture.catalog("l10n/fr")["Hello", "fr"] == "Bonjour")
        for branch in ["main", "l10n/fr"] {
            let catalog = try fixture.catalog(branch)
            #expect(catalog["Stop", "fr"] == "Stop" && catalog.keys["Welcome"] == [:])
            #expect(try fixture.parents(branch).count == 1)
            #expect(try fixture.message(branch).contains("Localizable.xcstrings: \"Hello\" fr"))
        }
        // It waits in both directions, and is one thing to decide.
        #expect(report.held.map(\.step) == ["l10n/fr into main and back"])
        #expect(report.held.first?.places.map(\.leaf?.key) == ["Hello"])
        try fixture.expectSound()
    }

    @Test func `a held key stays a conflict through later syncs, however many`() throws {
        for round in 0..<4 {
            try fixture.pass(settings)
            try dev.pull()
            try dev.push { $0.keys["Key \(round)"] = [:] }
            try marie.pull()
            try marie.push { $0["Bye", "fr"] = "Salut \(round)" }
        }
        let report = try fixture.pass(settings)
        #expect(report.held.allSatisfy { $0.places.count == 1 } && report.held.map(\.step) == ["l10n/fr into main and back"])
        #expect(try fixture.catalog("main")["Hello", "fr"] == "Salut")
        #expect(try fixture.catalog("l10n/fr")["Hello", "fr"] == "Bonjour")
        #expect(try fixture.catalog("main")["Bye", "fr"] == "Salut 3")
        #expect(try fixture.catalog("l10n/fr").keys["Key 3"] == [:])
        #expect(try fixture.pass(settings).moves.isEmpty)
        try fixture.expectSound()
    }

    @Test func `once a person has decided, nothing is held and the next sync is a merge of two parents again`() throws {
        try fixture.pass(settings)
        try marie.pull()
        try marie.push("Decide") { $0["Hello", "fr"] = "Salut" }
        #expect(try fixture.pass(settings).held.isEmpty)
        try dev.pull()
        try dev.push { $0.keys["More"] = [:] }
        try marie.pull()
        try marie.push { $0["More", "fr"] = "Plus" }
        let report = try fixture.pass(settings)
        // The translators' branch has it all and is left where it is: their next push must not be refused without need.
        #expect(report.held.isEmpty && report.moves.map(\.kind) == ["merge"])
        #expect(try fixture.parents("main").count == 2)
        #expect(try fixture.git("rev-parse", "main^{tree}") == fixture.git("rev-parse", "l10n/fr^{tree}"))
        #expect(try fixture.catalog("main")["More", "fr"] == "Plus")
    }

    @Test func `a decision on main comes to the translators too`() throws {
        try fixture.pass(settings)
        try dev.pull()
        try dev.push("Decide") { $0["Hello", "fr"] = "Bonjour" }
        #expect(try fixture.pass(settings).held.isEmpty)
        try marie.pull()
        try marie.push { $0["Hello", "fr"] = "Bonjour à tous" }
        #expect(try fixture.pass(settings).held.isEmpty)
        #expect(try fixture.catalog("main")["Hello", "fr"] == "Bonjour à tous")
    }

    @Test func `a clone without Concord's refs finds the same bases again`() throws {
        try fixture.pass(settings)
        let copy = fixture.folder + "/copy.git"
        try fixture.git("init", "-q", "--bare", copy, in: fixture.folder)
        try fixture.git("push", "-q", copy, "refs/heads/*:refs/heads/*")
        try dev.pull()
        try dev.push { $0.keys["Late"] = [:] }
        try fixture.git("push", "-q", copy, "refs/heads/*:refs/heads/*")
        var elsewhere = settings
        elsewhere.path = copy
        try fixture.pass(settings)
        let report = try fixture.pass(elsewhere)
        #expect(report.held.allSatisfy { $0.places.count == 1 } && report.held.map(\.step) == ["l10n/fr into main and back"])
        #expect(try fixture.git("rev-parse", "main^{tree}", "l10n/fr^{tree}", in: copy) == fixture.git("rev-parse", "main^{tree}", "l10n/fr^{tree}"))
        try fixture.git("gc", "-q", "--prune=now")
        #expect(try fixture.pass(settings).moves.isEmpty)
        try fixture.expectSound()
    }

    @Test func `a branch that leads to no commit is told, and keeps no other from its sync`() throws {
        let fixture = try Fixture(branches: ["l10n/fr", "l10n/de"])
        let dev = try fixture.person("dev", on: "main")
        try dev.push { $0.keys["Welcome"] = [:] }
        let file = try fixture.git("rev-parse", "main:App.swift")
        try (file + "\n").write(toFile: fixture.bare + "/refs/heads/l10n/aa", atomically: true, encoding: .utf8)
        #expect(throws: GitError.self) { try fixture.pass() }
        #expect(try [fixture.tip("l10n/de"), fixture.tip("l10n/fr")] == [fixture.tip("main"), fixture.tip("main")])
    }

    @Test func `a branch whose name is not UTF-8 is left alone, and keeps no other from its sync`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        let dev = try fixture.person("dev", on: "main")
        try fixture.git("pack-refs", "--all")
        let packed = fixture.bare + "/packed-refs"
        let lines = try Data(contentsOf: URL(filePath: packed)).split(separator: 0x0a) + [Data("\(try fixture.tip("main")) refs/heads/l10n/z".utf8) + [0xff]]
        // The header, and then sorted, as git wants it: behind l10n/fr and before main.
        let (header, refs) = (lines.filter { $0.first == 0x23 }, lines.filter { $0.first != 0x23 })
        let sorted = refs.sorted { $0.dropFirst(40).lexicographicallyPrecedes($1.dropFirst(40)) }
        try (Data((header + sorted).joined(separator: [0x0a])) + [0x0a]).write(to: URL(filePath: packed))
        try dev.push { $0.keys["Welcome"] = [:] }
        #expect(try fixture.pass().moves.map(\.target.shorthand) == ["l10n/fr"])
    }

    @Test func `the name of a held file writes no lines into the message of the sync`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        let marie = try fixture.person("marie", on: "l10n/fr"), dev = try fixture.person("dev", on: "main")
        try marie.pushFile("no catalog", to: "a\n\nConcord-Base: b.xcstrings")
        try marie.push { $0.keys["From Marie"] = [:] }
        try dev.push { $0.keys["Welcome"] = [:] }
        try fixture.pass()
        let lines = try fixture.message("main").split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("  a\\n\\nConcord-Base: b.xcstrings: cannot be read on l10n/fr: ") })
        #expect(lines.count { $0.hasPrefix("Concord-Base: ") } == 1)
    }

    @Test func `a damaged catalog is held as a whole, and its repair arrives`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        let marie = try fixture.person("marie", on: "l10n/fr"), dev = try fixture.person("dev", on: "main")
        let sound = try fixture.text("l10n/fr")
        try marie.pushFile(sound + "<<<<<<<", to: "Localizable.xcstrings")
        try dev.push { $0.keys["Welcome"] = [:] }
        let report = try fixture.pass()
        #expect(report.held.first?.places.first?.why.contains("cannot be read on l10n/fr: line ") == true)
        #expect(try fixture.text("main").hasSuffix("}"))
        try marie.pull()
        try marie.pushFile(sound, to: "Localizable.xcstrings")
        #expect(try fixture.pass().held.isEmpty)
        #expect(try fixture.catalog("l10n/fr").keys["Welcome"] == [:])
    }
}
