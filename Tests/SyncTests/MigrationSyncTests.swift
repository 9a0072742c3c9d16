import Foundation
import Git
import StringCatalog
import Testing

@testable import Sync

/// One branch has migrated its tables to a string catalog, the other goes on with tables.
@Suite(.timeLimit(.minutes(30))) struct MigrationSyncTests {
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

    private func plural(one: String = "%d fichier", other: String = "%d fichiers") -> String { pluralTable(one: one, other: other) }

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

    /// The plural `files` in French, in the catalog.
    private func forms(_ one: String, _ other: String) -> (String, [String]) {
        func form(_ name: String, _ value: String) -> String { "\"\(name)\" : { \"stringUnit\" : { \"state\" : \"translated\", \"value\" : \"\(value)\" } }" }
        return ("files", ["\"fr\" : { \"variations\" : { \"plural\" : { \(form("one", one)), \(form("other", other)) } } }"])
    }

    @Test(arguments: [ConflictChoice.ours, .theirs, .text("une")], ["main", "l10n/fr"])
    func `a plural category that a person decided is so on both sides, whatever its form`(choice: ConflictChoice, on branch: String) throws {
        let fixture = try tables([plurals: plural()])
        let settings = fixture.settings(back: true) { $0.policy = CatalogPolicy(name: "conflict")! }
        let rest = [("a", [unit("en", "One"), unit("fr", "Un")]), ("b", [unit("en", "Two"), unit("fr", "Deux")])]
        try migrate(fixture, rest + [forms("un fichier", "%d fichiers")], removing: [plurals])
        try push(fixture.person("marie", on: "l10n/fr"), [plurals: plural(one: "1 fichier", other: "%d documents")])
        // It waits in the catalog on the way there and in the table on the way back, and is one place.
        #expect(try fixture.pass(settings).held.map(\.step) == ["l10n/fr into main and back"])
        let repository = try fixture.open()
        let conflicts = Sync.Conflicts(in: repository, settings)
        let found = try conflicts.all().held
        #expect(found.map(\.held.leaf?.field) == ["variations.plural.one.stringUnit.value"], "\(found)")
        var conflict = try #require(found.first)
        // As the branch with the tables has it: its own place and file.
        if branch == "l10n/fr" {
            let back = fixture.settings(from: "main", into: "l10n/fr", back: false) { $0.policy = CatalogPolicy(name: "conflict")!; $0.source = .from }
            conflict = try #require(try Sync.Conflicts(in: repository, back).all().held.first)
            #expect(conflict.held.leaf?.field == "n.one" && conflict.held.file.description == plurals)
        }
        _ = try conflicts.decide(conflict, choice, on: CatalogBranch(branch, in: repository), by: Fixture.dev)
        #expect(try fixture.pass(settings).held.isEmpty)
        let (ours, theirs) = branch == "main" ? ("un fichier", "1 fichier") : ("1 fichier", "un fichier")
        let text = choice == .ours ? ours : choice == .theirs ? theirs : "une"
        #expect(try leaves(fixture, "main").contains("files fr plural.one.value \(text)"))
        #expect(try fixture.text("l10n/fr", plurals) == plural(one: text, other: "%d documents"))
        #expect(try conflicts.all().held.isEmpty)
        try expectIdle(fixture, settings)
    }

    @Test func `a language may have another code in the catalog than its folder, where the tree says that they are one`() throws {
        let chinese = "App/zh-CN.lproj/Localizable.strings", chinesePlurals = "App/zh-CN.lproj/Localizable.stringsdict"
        let fixture = try tables([".concord": "[concord]\n    alias = zh-CN zh-Hans\n", chinese: "\"a\" = \"一\";\n\"b\" = \"二\";\n", chinesePlurals: pluralTable(one: nil, other: "%d 个文件")], branches: ["l10n/zh"])
        let plurals = { (text: String) in ("files", ["\"zh-Hans\" : { \"variations\" : { \"plural\" : { \"other\" : { \"stringUnit\" : { \"state\" : \"translated\", \"value\" : \"\(text)\" } } } } }"]) }
        func keys(_ a: String, _ b: String, _ files: String) -> [(key: String, localizations: [String])] {
            [("a", [unit("en", "One"), unit("fr", "Un"), unit("zh-Hans", a)]), ("b", [unit("en", "Two"), unit("fr", "Deux"), unit("zh-Hans", b)]), plurals(files)]
        }
        try migrate(fixture, keys("一", "二", "%d 个文件"), removing: [chinese, chinesePlurals])
        try expectIdle(fixture)
        // An edit of the table comes into the catalog under its own code.
        let wang = try fixture.person("wang", on: "l10n/zh")
        try push(wang, [chinese: "\"a\" = \"壹\";\n\"b\" = \"二\";\n", chinesePlurals: pluralTable(one: nil, other: "%d 份文件")])
        #expect(try fixture.pass().held.isEmpty)
        #expect(try leaves(fixture, "main").isSuperset(of: ["a zh-Hans value 壹", "a zh-Hans state needs_review", "files zh-Hans plural.other.value %d 份文件"]))
        #expect(try leaves(fixture, "main").allSatisfy { !$0.contains("zh-CN") })
        try expectIdle(fixture)
        let history = try CatalogHistory(at: "main", in: fixture.open())
        let reason = try #require(try history.reasons(for: "a", language: "zh-Hans", at: TreePath(path)!).first { $0.leaf.isText })
        #expect(reason.event?.commit.author.name == "Wang" && reason.event?.stoodIn.map(\.description) == [chinese])
        #expect(try history.events(of: "files", language: "zh-Hans", at: TreePath(path)!).last?.stoodIn.map(\.description) == [chinesePlurals])
        // An edit of the catalog goes back into the folder that is there, and makes no other.
        try push(fixture.person("dev", on: "main"), [path: catalog(keys("壹", "贰", "%d 个文档"))])
        #expect(try fixture.pass().held.isEmpty)
        #expect(try fixture.text("l10n/zh", chinese) == "\"a\" = \"壹\";\n\"b\" = \"贰\";\n")
        #expect(try fixture.text("l10n/zh", chinesePlurals) == pluralTable(one: nil, other: "%d 个文档"))
        #expect(try !files(fixture, "l10n/zh").contains { $0.contains("zh-Hans") })
        let back = try CatalogHistory(at: "l10n/zh", in: fixture.open()).reasons(for: "b", language: "zh-CN", at: TreePath(chinese)!)
        #expect(back.map(\.event?.commit.author.name) == ["Dev"] && back.first?.event?.stoodIn.map(\.description) == [path], "\(back)")
        try expectIdle(fixture)
        // The code changes in the catalog later: nothing is to be done, and edits go on.
        try push(fixture.person("dev", on: "main"), [path: try fixture.text("main", path).replacingOccurrences(of: "zh-Hans", with: "zh-CN")])
        try fixture.pass()
        try expectIdle(fixture)
        try wang.pull()
        try push(wang, [chinese: "\"a\" = \"壹\";\n\"b\" = \"二二\";\n"])
        try fixture.pass()
        #expect(try leaves(fixture, "main").contains("b zh-CN value 二二"))
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

    @Test(arguments: [ConflictChoice.ours, .theirs, .text("Unique")])
    func `a text that a person decided is so on both sides, whatever its form`(choice: ConflictChoice) throws {
        let fixture = try tables()
        let settings = fixture.settings(back: true) { $0.policy = CatalogPolicy(name: "conflict")! }
        try migrate(fixture, [("a", [unit("en", "One"), unit("fr", "Ung")]), ("b", [unit("en", "Two"), unit("fr", "Deux")])])
        try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Une\";\n\"b\" = \"Deux\";\n"])
        try fixture.pass(settings)
        let repository = try fixture.open()
        let conflicts = Sync.Conflicts(in: repository, settings)
        let conflict = try #require(try conflicts.all().held.first { $0.target.name.shorthand == "main" })
        _ = try conflicts.decide(conflict, choice, on: CatalogBranch("main", in: repository), by: Fixture.dev)
        #expect(try fixture.pass(settings).held.isEmpty)
        let text = choice == .ours ? "Ung" : choice == .theirs ? "Une" : "Unique"
        #expect(try leaves(fixture, "main").contains("a fr value \(text)"))
        #expect(try fixture.text("l10n/fr", french) == "\"a\" = \"\(text)\";\n\"b\" = \"Deux\";\n")
        #expect(try conflicts.all().held.isEmpty)
        try expectIdle(fixture, settings)
    }

    @Test func `what tables cannot say is held with a sentence`() throws {
        let fixture = try tables()
        let devices = "\"fr\" : { \"variations\" : { \"device\" : { \"mac\" : { \"variations\" : { \"plural\" : { \"other\" : { \"stringUnit\" : { \"state\" : \"translated\", \"value\" : \"%lld\" } } } } } } } }"
        try migrate(fixture, [("a", [unit("en", "One"), unit("fr", "Un")]), ("b", [unit("en", "Two"), unit("fr", "Deux !")]), ("c", [devices])])
        for _ in 0..<2 {
            let places = try fixture.pass().held.flatMap(\.places)
            #expect(places.map { $0.leaf?.key } == ["c"] && places[0].why.contains("tables of l10n/fr cannot say it"), "\(places)")
        }
        #expect(try fixture.text("l10n/fr", french) == "\"a\" = \"Un\";\n\"b\" = \"Deux !\";\n")
        try expectIdle(fixture)
        // A person can leave it so: then nobody is asked again, and what stays out is in the ledger.
        let repository = try fixture.open()
        let conflicts = Sync.Conflicts(in: repository, fixture.settings)
        let conflict = try #require(try conflicts.all().held.first)
        let branch = try CatalogBranch("l10n/fr", in: repository)
        #expect(throws: BranchEditError.self) { try conflicts.decide(conflict, .theirs, on: branch, by: Fixture.dev) }
        _ = try conflicts.decide(conflict, .ours, on: branch, by: Fixture.dev)
        #expect(try fixture.pass().held.isEmpty && conflicts.all().held.isEmpty)
        #expect(try fixture.ledger().losses.map(\.text) == ["%lld"])
        try expectIdle(fixture)
    }

    @Test func `a table is not emptied by the catalog, as an empty file removes nothing`() throws {
        let fixture = try tables(["App/fr.lproj/Only.strings": "\"x\" = \"X\";\n"])
        try push(fixture.person("dev", on: "main"), ["App/Only.xcstrings": catalog([("y", [unit("en", "Y")])]), "App/fr.lproj/Only.strings": nil])
        let places = try fixture.pass().held.flatMap(\.places)
        #expect(places.map { $0.leaf?.key } == ["x"] && places[0].why.hasPrefix("main removed it in the catalog, and it stays in the table of l10n/fr"), "\(places)")
        #expect(try fixture.text("l10n/fr", "App/fr.lproj/Only.strings") == "\"x\" = \"X\";\n")
        try expectIdle(fixture)
    }

    @Test func `tables at the top of the tree, in UTF-16, keep their encoding`() throws {
        let fixture = try tables()
        let table = "fr.lproj/Top.strings"
        func pushWide(_ person: Person, _ text: String) throws {
            let url = URL(fileURLWithPath: person.place + "/" + table)
            try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.data(using: .utf16)!.write(to: url)
            try person.commit("Texts")
            try person.git("push", "-q", "origin", "HEAD")
        }
        try pushWide(fixture.person("dev", on: "main"), "\"a\" = \"é\";\n\"b\" = \"ü\";\n")
        try fixture.pass()
        try push(fixture.person("dev", on: "main"), ["Top.xcstrings": catalog([("a", [unit("fr", "é")]), ("b", [unit("fr", "Ü")])]), table: nil])
        try pushWide(fixture.person("marie", on: "l10n/fr"), "\"a\" = \"è\";\n\"b\" = \"ü\";\n")
        try fixture.pass()
        #expect(try leaves(fixture, "main", "Top.xcstrings").isSuperset(of: ["a fr value è", "a fr state needs_review", "b fr value Ü"]))
        let marie = try fixture.person("marie", on: "l10n/fr")
        let data = try Data(contentsOf: URL(fileURLWithPath: marie.place + "/" + table))
        #expect(data == "\"a\" = \"è\";\n\"b\" = \"Ü\";\n".data(using: .utf16)!)
        try expectIdle(fixture)
    }

    @Test func `a damaged table holds its name, and nothing else`() throws {
        let fixture = try tables()
        try migrate(fixture)
        let before = try fixture.text("main", path)
        try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Une\"\n\"b\" = \"Deux\";\n", "Notes.txt": "New\n"])
        let report = try fixture.pass()
        #expect(report.held.flatMap(\.places).contains { $0.file.description == french && $0.why.hasPrefix("main has migrated to a catalog, and texts cannot be brought over: it cannot be read: line 1") }, "\(report.held)")
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

    @Test func `substitutions go both ways`() throws {
        func dict(_ a: String, _ b: String) -> String {
            func variable(_ name: String, _ other: String) -> String {
                "<key>\(name)</key><dict><key>NSStringFormatSpecTypeKey</key><string>NSStringPluralRuleType</string>"
                    + "<key>NSStringFormatValueTypeKey</key><string>d</string><key>other</key><string>\(other)</string></dict>\n"
            }
            return "<plist version=\"1.0\"><dict>\n<key>both</key><dict>\n<key>NSStringLocalizedFormatKey</key><string>%#@a@ dans %#@b@</string>\n"
                + variable("a", a) + variable("b", b) + "</dict>\n</dict></plist>\n"
        }
        func entry(_ a: String, _ b: String) -> String {
            func part(_ name: String, _ number: Int, _ other: String) -> String {
                "\"\(name)\" : { \"argNum\" : \(number), \"formatSpecifier\" : \"d\", \"variations\" : { \"plural\" : { \"other\" : { \"stringUnit\" : { \"state\" : \"translated\", \"value\" : \"\(other)\" } } } } }"
            }
            return "\"fr\" : { \"stringUnit\" : { \"state\" : \"translated\", \"value\" : \"%#@a@ dans %#@b@\" }, \"substitutions\" : { \(part("a", 1, a)), \(part("b", 2, b)) } }"
        }
        let fixture = try tables([plurals: dict("%d fichiers", "%d dossiers")])
        let rest = [("a", [unit("en", "One"), unit("fr", "Un")]), ("b", [unit("en", "Two"), unit("fr", "Deux")])]
        try migrate(fixture, rest + [("both", [entry("%arg fichiers", "%arg dossiers")])], removing: [plurals])
        try push(fixture.person("marie", on: "l10n/fr"), [plurals: dict("%d documents", "%d dossiers")])
        try fixture.pass()
        #expect(try leaves(fixture, "main").isSuperset(of: [
            "both fr substitutions.a.plural.other.value %arg documents", "both fr substitutions.a.plural.other.state needs_review",
            "both fr substitutions.b.plural.other.state translated",
        ]))
        try expectIdle(fixture)
        try push(fixture.person("dev", on: "main"), [path: catalog(rest + [("both", [entry("%arg documents", "%arg classeurs")])])])
        try fixture.pass()
        #expect(try fixture.text("l10n/fr", plurals) == dict("%d documents", "%d classeurs"))
        try expectIdle(fixture)
    }

    @Test func `a clone without the bases of earlier syncs finds them again`() throws {
        let fixture = try tables()
        let settings = fixture.settings { $0.policy = CatalogPolicy(name: "conflict")! }
        try migrate(fixture, [("a", [unit("en", "One"), unit("fr", "Ung")]), ("b", [unit("en", "Two!"), unit("fr", "Deux")])])
        try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Une\";\n\"b\" = \"Deux.\";\n"])
        try fixture.pass(settings)
        let bases = try fixture.git("for-each-ref", "--format=%(refname)", "refs/concord/base").split(separator: "\n")
        #expect(bases.count == 2)
        for base in bases { try fixture.git("update-ref", "-d", String(base)) }
        try fixture.git("-c", "gc.reflogExpire=now", "-c", "gc.pruneExpire=now", "gc", "-q", "--prune=now")
        try expectIdle(fixture, settings)
        try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Une\";\n\"b\" = \"Deux…\";\n"])
        #expect(Set(try fixture.pass(settings).held.flatMap(\.places).map { $0.leaf?.key }) == ["a"])
        #expect(try leaves(fixture, "main").contains("b fr value Deux…"))
        try expectIdle(fixture, settings)
    }

    @Test func `texts of Base.lproj are the source language's`() throws {
        let base = "App/Base.lproj/Menu.strings"
        let fixture = try tables([base: "\"open\" = \"Open\";\n", "App/fr.lproj/Menu.strings": "\"open\" = \"Ouvrir\";\n"])
        func menu(_ english: String, _ french: String) -> String { catalog([("open", [unit("en", english), unit("fr", french)])]) }
        try push(fixture.person("dev", on: "main"), ["App/Menu.xcstrings": menu("Open…", "Ouvrir"), base: nil, "App/fr.lproj/Menu.strings": nil])
        try push(fixture.person("marie", on: "l10n/fr"), ["App/fr.lproj/Menu.strings": "\"open\" = \"Ouvrir…\";\n"])
        let report = try fixture.pass()
        #expect(report.held.isEmpty && report.blocked.isEmpty, "\(report)")
        #expect(try leaves(fixture, "main", "App/Menu.xcstrings").isSuperset(of: ["open en value Open…", "open fr value Ouvrir…", "open fr state needs_review"]))
        #expect(try fixture.text("l10n/fr", base) == "\"open\" = \"Open…\";\n")
        #expect(try files(fixture, "l10n/fr").filter { $0.contains("Menu") } == [base, "App/fr.lproj/Menu.strings"])
        try expectIdle(fixture)
    }

    @Test func `a person decides a conflict across the forms`() throws {
        let fixture = try tables()
        let settings = fixture.settings { $0.policy = CatalogPolicy(name: "conflict")! }
        try migrate(fixture, [("a", [unit("en", "One"), unit("fr", "Ung")]), ("b", [unit("en", "Two"), unit("fr", "Deux")])])
        try push(fixture.person("marie", on: "l10n/fr"), [french: "\"a\" = \"Une\";\n\"b\" = \"Deux\";\n"])
        try fixture.pass(settings)
        let repository = try Repository(opening: fixture.bare)
        let conflicts = Sync.Conflicts(in: repository, settings)
        let conflict = try #require(try conflicts.all().held.first { $0.target.name.shorthand == "main" })
        #expect(conflict.held.ours == "Ung" && conflict.held.theirs == "Une")
        let branch = try CatalogBranch("main", in: repository)
        _ = try conflicts.decide(conflict, .theirs, on: branch, by: Signature(name: "Ann", email: "ann@example.org", seconds: 0))
        #expect(try leaves(fixture, "main").contains("a fr value Une"))
        #expect(try fixture.pass(settings).held.isEmpty)
        #expect(try leaves(fixture, "main").contains("a fr value Une"))
        #expect(try fixture.text("l10n/fr", french) == "\"a\" = \"Une\";\n\"b\" = \"Deux\";\n")
        try expectIdle(fixture, settings)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 9, 13, 17, 21, 25, 29, 33, 37, 41, 45, 49, 6, 10]) func `whatever both sides write, they come to the same texts and to rest`(seed: Int) throws {
        var random = Seeded(seed)
        func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        let fixture = try tables()
        var main = ["a": ["en": "One", "fr": "Un"], "b": ["en": "Two", "fr": "Deux"]]
        func migratedText() -> String {
            catalog(main.sorted { $0.key < $1.key }.map { key, texts in (key, texts.sorted { $0.key < $1.key }.map { unit($0.key, $0.value) }) })
        }
        try push(fixture.person("dev", on: "main"), [path: migratedText(), english: nil, french: nil])
        // With this policy a text that both sides wrote is held, and nothing else is.
        let holds = seed % 4 == 1
        let settings = fixture.settings {
            $0.take = seed % 3 == 0 ? .catalogs : .all
            if holds { $0.policy = CatalogPolicy(name: "conflict")! }
        }
        func row(_ key: String, _ text: String) -> String { "\"\(key)\" = \"\(text)\";\n" }
        func rows(_ table: String) throws -> [String: String] {
            var found: [String: String] = [:]
            for line in try fixture.text("l10n/fr", table).split(separator: "\n") {
                let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
                found[String(parts[1])] = String(parts[3])
            }
            return found
        }
        var moved = 0
        for round in 0..<5 {
            if below(4) > 0 {
                var table = try rows(french)
                for key in table.keys.sorted() where below(3) == 0 { table[key] = "fr \(round) \(below(100))" }
                if below(3) == 0 { table["m\(round)"] = "fr new \(round)" }
                let text = table.sorted { $0.key < $1.key }.map(row).joined()
                if text != (try fixture.text("l10n/fr", french)) { try push(fixture.person("marie", on: "l10n/fr"), [french: text]) }
            }
            if below(4) > 0 {
                main = [:]
                let document = try CatalogDocument(parsing: Bytes(Array(fixture.text("main", path).utf8)))
                for change in changes(from: nil, to: document) where change.isOfText { main[change.path.key!, default: [:]][change.path.language!] = change.new }
                for key in main.keys.sorted() {
                    switch below(8) {
                    case 0: main[key]!["en"] = "en \(round) \(below(100))"
                    case 1: main[key]!["fr"] = "FR \(round) \(below(100))"
                    case 2: if key != "a" { main[key] = nil }
                    default: break
                    }
                }
                if below(2) == 0 { main["d\(round)"] = ["en": "en new \(round)"] }
                if migratedText() != (try fixture.text("main", path)) { try push(fixture.person("dev", on: "main"), [path: migratedText()]) }
            }
            let report = try fixture.pass(settings)
            #expect(report.blocked.isEmpty && (holds || report.held.isEmpty), "seed \(seed), round \(round): \(report)")
            try expectIdle(fixture, settings)
            let texts = try leaves(fixture, "main").filter { $0.contains(" value ") }
            let both = try [("en", english), ("fr", french)].flatMap { language, table in try rows(table).map { "\($0.key) \(language) value \($0.value)" } }
            moved += report.moves.count
            let waiting = Set(report.held.flatMap(\.places).compactMap { $0.leaf?.key })
            let different = texts.symmetricDifference(both).filter { text in !waiting.contains { text.hasPrefix($0 + " ") } }
            #expect(different.isEmpty, "seed \(seed), round \(round): \(different.sorted())")
            #expect(try files(fixture, "main") == [path] && files(fixture, "l10n/fr") == [english, french])
        }
        #expect(moved > 0)
    }
}
