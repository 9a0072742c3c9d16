import Foundation
import Git
import Testing

@testable import Sync

@Suite struct ConfigurationTests {
    /// The configuration in `text`, or its faults, one line each, without the file's name.
    func read(_ text: String) throws -> (configuration: Configuration?, faults: [String]) {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("concord-\(UUID().uuidString).conf").path
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        do {
            return (try Configuration(reading: path), [])
        } catch {
            return (nil, error.faults.map { String($0.description.dropFirst(path.count + 1)) })
        }
    }

    let sound = """
        [repository "app"]
          path = /srv/git/app.git
        [sync "l10n"]
          from = l10n/*
          into = main

        """

    @Test func `the configuration that is shipped is sound and says the defaults`() throws {
        let shipped = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Config/concord.conf").path
        let configuration = try Configuration(reading: shipped)
        var expected = try #require(read(sound).configuration)
        expected.socket = "/run/concord/socket"
        expected.repositories[0].rules[0].name = "translations"
        expected.repositories[0].rules[0].goesBack = true
        #expect(configuration == expected)
    }

    @Test func `every value arrives where it belongs`() throws {
        let configuration = try #require(read("""
            [concord]
              socket = /run/c
              name = Robot
              email = robot@example.org
              quiet = 2s
              rescan = 1h
              workers = 4
            [repository "app"]
              path = /srv/app.git
              catalogs = App/*.xcstrings
              catalogs = Kit/**/*.xcstrings
              catalogBytesMax = 64m
            [repository "web"]
              path = /srv/web.git
              sourceLanguage = de
            [sync "a"]
              repository = a*
              from = l10n/*
              into = loc/*
              back
              source = from
              take = catalogs
              fastForward = no
              policy = theirs
              alias = zh-CN zh-Hans
              flagStale
              translatorsDelete = yes
              lossMax = 20%
            [sync "b"]
              from = main
              into = release/*
              dryRun = true

            """).configuration)
        #expect(configuration.socket == "/run/c" && configuration.committer == .init(name: "Robot", email: "robot@example.org"))
        #expect(configuration.quiet == .seconds(2) && configuration.rescan == .seconds(3600) && configuration.workers == 4)
        let (app, web) = (configuration.repositories[0], configuration.repositories[1])
        #expect(app.catalogs == [PathGlob("App/*.xcstrings"), PathGlob("Kit/**/*.xcstrings")] && app.catalogBytesMax == 64 << 20)
        #expect(app.rules.map(\.name) == ["a", "b"] && web.rules.map(\.name) == ["b"])
        let rule = app.rules[0]
        #expect(rule.goesBack && rule.source == .from && rule.take == .catalogs && !rule.allowsFastForward && rule.policy.rules == CatalogPolicy(name: "theirs")!.rules)
        let engine = rule.policy.mergePolicy(for: TreePath("A.xcstrings"), sourceSide: .ours)
        #expect(engine.flagsStale && engine.allowsTranslationDeletions && engine.lostShareMax == 0.2 && !engine.aliases.isEmpty)
        #expect(app.sourceLanguage == nil && web.sourceLanguage == "de" && app.rules[1].policy == .standard)
        #expect(app.rules[1].isDryRun && !rule.isDryRun)
    }

    @Test(arguments: [
        ("[concrod]\nworkers = 2", "2: there is no section [concrod]; did you mean `concord`?"),
        ("[concord]\nworker = 2", "2: [concord] has no `worker`; did you mean `workers`?"),
        ("[concord]\nworkers = many", "2: `concord.workers` is a number from 1 to 64, not `many`"),
        ("[concord]\nworkers = 0", "2: `concord.workers` is a number from 1 to 64, not `0`"),
        ("[concord]\nquiet = 2", "2: `concord.quiet` is a time such as 200ms, 2s, 5m or 1h, not `2`"),
        ("[concord]\nquiet = 9999999999s", "2: `concord.quiet` is a time such as 200ms, 2s, 5m or 1h, not `9999999999s`"),
        ("[concord]\nrescan = 0s", "2: `concord.rescan` is between 1.0 seconds and 86400.0 seconds, not `0s`"),
        ("[concord]\ndryRun = maybe", "2: `concord.dryrun` is true or false, not `maybe`"),
        ("[concord]\nsocket = run/socket", "2: `concord.socket` must be an absolute path, not `run/socket`"),
        ("[concord]\nname =", "2: `concord.name` has no value"),
        ("[concord]\nsigningKey = key\ngpgFormat = ssh", "3: with gpgFormat = ssh, `concord.signingKey` is the absolute path of a key's file, not `key`"),
        ("[concord]\ngpgFormat = x509", "2: `concord.gpgformat` is openpgp or ssh, not `x509`"),
        ("[concord]\ngpgFormat = ssh", "2: commits are signed with `concord.signingKey`, and there is none"),
        ("[concord \"x\"]\nname = y", "2: [concord] takes no name"),
        ("[repository]\npath = /x", "2: [repository] needs a name, as in [repository \"app\"]"),
        ("[repository \"web\"]\ncatalogs = *.xcstrings", "2: [repository \"web\"] has no `path`"),
        ("[repository \"app\"]\ncatalogBytesMax = big", "2: `repository.app.catalogbytesmax` is a size such as 64m, not `big`"),
        ("[sync \"x\"]\nfrom = main", "2: [sync \"x\"] has no `into`"),
        ("[sync \"x\"]\nfrom = main\ninto = main", "2: [sync \"x\"] goes from `main` into itself"),
        ("[sync \"x\"]\nfrom = l10n/*/*\ninto = main", "2: `l10n/*/*` is no branch and no pattern of branches (one `*` at most)"),
        ("[sync \"x\"]\nfrom = a\ninto = b\nsource = onto", "4: `sync.x.source` is from or into or none, not `onto`; did you mean `into`?"),
        ("[sync \"x\"]\nfrom = a\ninto = b\npolicy = their", "4: `their` is no policy; did you mean `theirs`?"),
        ("[sync \"x\"]\nfrom = a\ninto = b\nalias = zh-CN", "4: an alias names two languages or more, as in zh-CN zh-Hans"),
        ("[sync \"x\"]\nfrom = a\ninto = b\nlossMax = 0.5", "4: `sync.x.lossmax` is a share from 0% to 100%, not `0.5`"),
        ("[repository \"app\"]\nsourceLanguage = d/e", "2: `repository.app.sourcelanguage` is the code of a language, not `d/e`"),
        ("[sync \"x\"]\nfrom = a\ninto = b\nrepository = ap", "2: [sync \"x\"] is for repository `ap`, and there is none of that name; did you mean `app`?"),
    ])
    func `a fault is named with its line`(text: String, fault: String) throws {
        // The sound part comes last, so that lines count from the fault's own text.
        #expect(try read(text + "\n" + sound).faults == [fault])
    }

    @Test func `all faults are listed at once, in order`() throws {
        let faults = try read("[concord]\n  worker = 2\n  quiet = x\n[repositry \"a\"]\n  path = /a\n").faults
        #expect(faults == [
            "2: [concord] has no `worker`; did you mean `workers`?", "3: `concord.quiet` is a time such as 200ms, 2s, 5m or 1h, not `x`",
            "5: there is no section [repositry]; did you mean `repository`?", " it names no [repository]",
        ])
    }

    @Test func `a repository without a rule is a fault`() throws {
        #expect(try read("[repository \"web\"]\n  path = /w\n" + sound.replacingOccurrences(of: "from", with: "repository = app\n  from")).faults
            == ["2: no [sync] section is for repository \"web\""])
    }

    @Test func `one repository in two sections is a fault, by whichever path`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("concord-\(UUID().uuidString)").path
        let app = folder + "/app", link = folder + "/link"
        try FileManager.default.createDirectory(atPath: app + "/.git", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: app)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (path, other) in [(app, app), (app, app + "/"), (app, link), (link, app + "/.git"), ("/nonexistent/app.git", "/nonexistent//app.git/")] {
            let faults = try read("[repository \"a\"]\npath = \(path)\n[repository \"b\"]\npath = \(other)\n[sync \"x\"]\nfrom = l10n/*\ninto = main\n").faults
            #expect(faults == ["4: [repository \"b\"] is the repository of [repository \"a\"] again, at `\(other)`; two sections would sync it twice, so keep one, and write a [sync] for each of its rules"])
        }
        #expect(try read("[repository \"b\"]\npath = \(app)\n" + sound).faults.isEmpty)
    }

    @Test func `a file that is missing or not in git-config syntax is one fault`() throws {
        #expect(throws: ConfigurationError.self) { try Configuration(reading: "/nonexistent/concord.conf") }
        #expect(try read("[concord\nx").faults.count == 1)
    }

    @Test func `the socket is found in a file with faults, so that its daemon can be asked`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("concord-\(UUID().uuidString).conf").path
        try Data("[concord]\nworker = 2\nsocket = /run/a\nsocket = /run/b\n[repositry \"x\"]\n".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(throws: ConfigurationError.self) { try Configuration(reading: path) }
        #expect(try Configuration.socket(inFile: path) == "/run/b")
    }

    @Test(arguments: [
        ("*.xcstrings", "A/B/L.xcstrings", true), ("*.xcstrings", "L.xcstrings", true), ("*.xcstrings", "L.xcstrings.txt", false),
        ("App/*.xcstrings", "App/L.xcstrings", true), ("App/*.xcstrings", "App/B/L.xcstrings", false), ("App/*.xcstrings", "X/App/L.xcstrings", false),
        ("App/**/*.xcstrings", "App/L.xcstrings", true), ("App/**/*.xcstrings", "App/B/C/L.xcstrings", true), ("**/L.xcstrings", "L.xcstrings", true),
        ("/L.xcstrings", "L.xcstrings", true), ("/L.xcstrings", "A/L.xcstrings", false), ("?.xcstrings", "L.xcstrings", true),
        ("A?B/x", "A/B/x", false), ("Localizable.xcstrings", "MyLocalizable.xcstrings", false),
    ])
    func `a glob covers what it says`(glob: String, path: String, isCovered: Bool) throws {
        #expect(try PathGlob(glob).matches(#require(TreePath(path))) == isCovered)
    }
}

@Suite struct PlanTests {
    func ref(_ name: String, _ digit: Character) -> Ref { Ref(name: .branch(name)!, tip: ObjectID(hex: String(repeating: digit, count: 40))!) }

    func rule(_ from: String, _ into: String, back: Bool = false, source: SyncRule.End = .into) -> SyncRule {
        var rule = SyncRule(name: "r", from: RefPattern(from)!, into: RefPattern(into)!, goesBack: back)
        rule.source = source
        return rule
    }

    func steps(_ rules: [SyncRule], _ tips: [Ref]) -> [String] { plan(rules, tips: tips).steps.map(\.description) }

    @Test func `a wildcard matches the branches that exist, first all into, then all back`() {
        let tips = [ref("l10n/de", "1"), ref("l10n/fr", "2"), ref("main", "3"), ref("other", "4")]
        #expect(steps([rule("l10n/*", "main", back: true)], tips)
            == ["l10n/de into main", "l10n/fr into main", "main into l10n/de", "main into l10n/fr"])
    }

    @Test func `one branch goes into each that a wildcard matches, itself left out`() {
        let tips = [ref("main", "1"), ref("release/1", "2"), ref("release/2", "3")]
        #expect(steps([rule("main", "release/*")], tips) == ["main into release/1", "main into release/2"])
        #expect(steps([rule("main", "*")], tips) == ["main into release/1", "main into release/2"])
    }

    @Test func `a wildcard on both ends stands for the same on both`() {
        let tips = [ref("app/de", "1"), ref("app/fr", "2"), ref("l10n/fr", "3"), ref("l10n/it", "4")]
        #expect(steps([rule("l10n/*", "app/*")], tips) == ["l10n/fr into app/fr"])
    }

    @Test func `branches at one commit ask for nothing`() {
        #expect(steps([rule("l10n/*", "main", back: true)], [ref("l10n/de", "1"), ref("main", "1")]) == [])
    }

    @Test func `a branch that a rule names and that is not there is told`() {
        #expect(plan([rule("l10n/*", "main")], tips: [ref("l10n/de", "1")]).missing == [MissingBranch(branch: .branch("main")!, rule: "r")])
    }

    @Test(arguments: [(SyncRule.End.into, true, false), (.from, false, true)])
    func `the way back swaps the roles`(end: SyncRule.End, isSourceForth: Bool, isSourceBack: Bool) {
        let tips = [ref("l10n/de", "1"), ref("main", "2")]
        let steps = plan([rule("l10n/*", "main", back: true, source: end)], tips: tips).steps
        #expect(steps.map(\.isTargetTheSourceRole) == [isSourceForth, isSourceBack])
    }
}

@Suite struct AgendaTests {
    let start = ContinuousClock.now

    func agenda(_ names: String...) -> Agenda<String> {
        var agenda = Agenda<String>(quiet: .seconds(2), rescan: .seconds(300))
        for name in names {
            agenda.add(name, at: start)
            agenda.begin(name)
            agenda.end(name, at: start, retry: nil)
        }
        return agenda
    }

    @Test func `a new repository is due at once`() {
        var agenda = Agenda<String>(quiet: .seconds(2), rescan: .seconds(300))
        agenda.add("app", at: start)
        #expect(agenda.due(at: start) == ["app"])
    }

    @Test func `many news are one look, when it has been quiet`() {
        var agenda = agenda("app")
        for second in 0..<5 { agenda.note("app", at: start + .seconds(second)) }
        #expect(agenda.next == start + .seconds(6))
        #expect(agenda.due(at: start + .seconds(5.9)) == [])
        #expect(agenda.due(at: start + .seconds(6)) == ["app"])
    }

    @Test func `a repository that never falls quiet is looked at all the same`() {
        var agenda = agenda("app")
        for second in 0..<100 { agenda.note("app", at: start + .seconds(second)) }
        #expect(agenda.due(at: start + .seconds(20)) == ["app"])
    }

    @Test func `news during a look are answered by another look`() {
        var agenda = agenda("app")
        agenda.note("app", at: start)
        agenda.begin("app")
        agenda.note("app", at: start + .seconds(1))
        #expect(agenda.due(at: start + .seconds(100)) == [] && agenda.next == nil)
        agenda.end("app", at: start + .seconds(100), retry: nil)
        #expect(agenda.due(at: start + .seconds(100)) == ["app"])
    }

    @Test func `after a failure news do not shorten the pause`() {
        var agenda = agenda("app")
        agenda.begin("app")
        agenda.end("app", at: start, retry: .seconds(60))
        agenda.note("app", at: start + .seconds(1))
        #expect(agenda.next == start + .seconds(60))
        agenda.hurry("app", at: start + .seconds(5))
        #expect(agenda.due(at: start + .seconds(5)) == ["app"])
    }

    @Test func `a hundred idle minutes wake twenty times`() {
        var agenda = agenda("app", "web"), wakes = 0
        while let next = agenda.next, next <= start + .seconds(6000) {
            for name in agenda.due(at: next) {
                agenda.begin(name)
                agenda.end(name, at: next, retry: nil)
            }
            wakes += 1
        }
        #expect(wakes == 20)
    }

    @Test func `what is removed is never due`() {
        var agenda = agenda("app")
        agenda.remove("app")
        agenda.note("app", at: start)
        #expect(agenda.next == nil && agenda.due(at: start + .seconds(1000)) == [])
    }
}
