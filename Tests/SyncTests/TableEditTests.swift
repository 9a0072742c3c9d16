import Foundation
import Git
import StringCatalog
import Testing

@testable import Sync

/// Decisions about tables of strings, and their lost texts.
@Suite(.timeLimit(.minutes(30))) struct `Tables of a branch` {
    private let french = "fr.lproj/A.strings"
    private let plurals = "fr.lproj/A.stringsdict"

    /// A table on main and on a branch, then changed on both.
    private func changed(_ base: String, main: String, branch: String, at path: String? = nil, branches: [String] = []) throws -> Fixture {
        let path = path ?? french
        let fixture = try Fixture(branches: [])
        let dev = try fixture.person("dev", on: "main")
        try dev.pushFile(base, to: path)
        try dev.git("push", "-q", "origin", "HEAD:refs/heads/l10n/fr")
        if branch != base { try fixture.person("marie", on: "l10n/fr").pushFile(branch, to: path) }
        if main != base { try dev.pushFile(main, to: path) }
        return fixture
    }

    private func decideAll(_ fixture: Fixture, _ settings: RepositorySettings, _ choice: ConflictChoice) throws {
        let repository = try fixture.open()
        let conflicts = Sync.Conflicts(in: repository, settings)
        for conflict in try conflicts.all().held { _ = try conflicts.decide(conflict, choice, on: CatalogBranch("main", in: repository), by: Fixture.dev) }
    }

    private func restore(_ fixture: Fixture, _ text: String) throws -> BranchEdit {
        let ledger = try Ledger(fixture.open())
        let lost = try #require(ledger.contents().losses.first { $0.text == text }, "\(text) is not in the ledger")
        return try ledger.restore(lost, on: CatalogBranch("main", in: fixture.open()), path: nil, by: Fixture.dev)
    }

    private func plural(_ one: String?, _ other: String) -> String { pluralTable(one: one, other: other) }

    // MARK: Conflicts

    @Test(arguments: [ConflictChoice.ours, .theirs, .text("À \"bientôt\"")])
    func `take what a person decided, in place, and never ask again in either direction`(choice: ConflictChoice) throws {
        func table(_ bye: String) -> String { "// Buttons\n\n/* Leaving */\nbye   = \(bye);   // short\n\"z\"=\"Z\";\n" }
        let fixture = try changed(table("\"Au revoir\""), main: table("'Adieu'"), branch: table("Salut"))
        let settings = fixture.settings { $0.source = .none }
        try fixture.git("branch", "release", "main")
        try fixture.git("branch", "old", "l10n/fr")
        try fixture.pass(settings)
        try decideAll(fixture, settings, choice)
        let expected = switch choice {
        case .ours: table("'Adieu'")
        case .theirs: table("Salut")
        case .text: table("\"À \\\"bientôt\\\"\"")
        }
        #expect(try fixture.text("main", french) == expected)
        if choice != .ours { #expect(try fixture.git("log", "-1", "--format=%an %s", "main") == "Dev Decide \"bye\" fr value") }
        #expect(try fixture.pass(settings).held.isEmpty)
        for branch in ["main", "l10n/fr"] { #expect(try fixture.text(branch, french) == expected, "\(branch)") }
        #expect(try fixture.pass(settings).moves.isEmpty)
        // On other branches with the same values it is decided too, though nobody edits them.
        let other = fixture.settings(from: "old", into: "release", back: false) { $0.source = .none }
        #expect(try fixture.pass(other).held.isEmpty)
        #expect(try fixture.text("release", french) == expected)
        try fixture.expectSound()
    }

    @Test(arguments: [ConflictChoice.ours, .theirs]) func `take a deleted key or its edit as was decided`(choice: ConflictChoice) throws {
        let fixture = try changed("\"a\" = \"1\";\n\"Gone\" = \"Parti\";\n", main: "\"a\" = \"1\";\n", branch: "\"a\" = \"1\";\n/* C */\n\"Gone\" = \"Perdu\";\n")
        let settings = fixture.settings { $0.source = .none }
        try fixture.pass(settings)
        let repository = try fixture.open()
        let conflict = try #require(Sync.Conflicts(in: repository, settings).all().held.first)
        #expect(throws: BranchEditError.self) { try Sync.Conflicts(in: repository, settings).decide(conflict, .text("x"), on: CatalogBranch("main", in: repository), by: Fixture.dev) }
        try decideAll(fixture, settings, choice)
        #expect(try fixture.pass(settings).held.isEmpty)
        for branch in ["main", "l10n/fr"] {
            #expect(try fixture.text(branch, french) == "\"a\" = \"1\";\n" + (choice == .ours ? "" : "/* C */\n\"Gone\" = \"Perdu\";\n"), "\(branch)")
        }
    }

    @Test(arguments: [ConflictChoice.ours, .theirs, .text("Nouveau")]) func `take a comment as was decided`(choice: ConflictChoice) throws {
        func table(_ comment: String) -> String { "/* \(comment) */\n\"a\" = \"1\";\n" }
        let fixture = try changed(table("Old"), main: table("Mine"), branch: table("Theirs"))
        let settings = fixture.settings { $0.source = .none }
        try fixture.pass(settings)
        try decideAll(fixture, settings, choice)
        #expect(try fixture.pass(settings).held.isEmpty)
        let expected = table(choice == .ours ? "Mine" : choice == .theirs ? "Theirs" : "Nouveau")
        for branch in ["main", "l10n/fr"] { #expect(try fixture.text(branch, french) == expected, "\(branch)") }
    }

    @Test(arguments: [ConflictChoice.ours, .theirs, .text("un seul fichier")]) func `take a plural category as was decided`(choice: ConflictChoice) throws {
        let fixture = try changed(plural("%d fichier", "%d fichiers"), main: plural("1 fichier", "%d fichiers"), branch: plural("un fichier", "%d fichiers !"), at: plurals)
        let settings = fixture.settings { $0.source = .none }
        try fixture.pass(settings)
        #expect(try Sync.Conflicts(in: fixture.open(), settings).all().held.map { $0.held.leaf } == [LeafPath(key: "files", language: "fr", field: "n.one")])
        try decideAll(fixture, settings, choice)
        #expect(try fixture.pass(settings).held.isEmpty)
        let expected = plural(choice == .ours ? "1 fichier" : choice == .theirs ? "un fichier" : "un seul fichier", "%d fichiers !")
        for branch in ["main", "l10n/fr"] { #expect(try fixture.text(branch, plurals) == expected, "\(branch)") }
    }

    @Test func `with a number that their form cannot hold keep the key, and it alone`() throws {
        let xml = "<plist><dict><key>a</key><string>1</string><key>n</key><integer>7</integer><key>b</key><string>new</string></dict></plist>\n"
        let fixture = try changed("\"a\" = \"1\";\n", main: "\"a\" = \"1\";\n", branch: xml)
        try fixture.person("dev", on: "main").pushFile("\"a\" = \"1\";\n\"c\" = \"3\";\n", to: french)
        let report = try fixture.pass(fixture.settings(back: false))
        #expect(report.held.flatMap(\.places).map { $0.leaf } == [LeafPath(key: "n", language: "fr")], "\(report.held)")
        #expect(try fixture.text("main", french).contains("\"b\" = \"new\";"))
    }

    // MARK: Lost texts

    @Test func `get a lost text back in its place`() throws {
        let fixture = try changed("a = 1;\nbye = \"Au revoir\"; // x\n", main: "a = 1;\nbye = \"Adieu\"; // x\n", branch: "a = 1;\nbye = \"Salut\"; // x\n")
        try fixture.pass()
        guard case .moved = try restore(fixture, "Adieu") else { return #expect(Bool(false), "not moved") }
        #expect(try fixture.text("main", french) == "a = 1;\nbye = \"Adieu\"; // x\n")
        #expect(try fixture.git("log", "-1", "--format=%an %s", "main") == "Dev Restore \"bye\" fr")
        #expect(try restore(fixture, "Adieu") == .unchanged)
    }

    @Test func `get a deleted key back with its comment, where it stood`() throws {
        let base = "a = 1;\n\n/* Leaving */\n\"bye\" = \"Salut\";\n\nz = 9;\n"
        let fixture = try changed(base, main: "a = 1;\n\nz = 9;\n", branch: base.replacingOccurrences(of: "1", with: "2"))
        try fixture.pass(fixture.settings(back: false))
        #expect(try fixture.text("main", french) == "a = 2;\n\nz = 9;\n")
        _ = try restore(fixture, "Salut")
        #expect(try fixture.text("main", french) == base.replacingOccurrences(of: "1", with: "2"))
    }

    @Test func `get a lost plural category back, and a whole entry with its variables`() throws {
        let base = plural("%d fichier", "%d fichiers")
        let other = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n<dict>\n</dict>\n</plist>\n"
        let fixture = try changed(base, main: other, branch: base.replacingOccurrences(of: "%d fichiers", with: "%d documents"), at: plurals)
        try fixture.pass(fixture.settings(back: false))
        #expect(try fixture.text("main", plurals) == other)
        _ = try restore(fixture, "%d documents")
        #expect(try fixture.text("main", plurals).contains("<string>%d documents</string>"))
        #expect(try fixture.text("main", plurals).contains("<string>%#@n@</string>"))

        let second = try changed(base, main: plural("1 fichier", "%d fichiers"), branch: plural("un fichier", "%d fichiers"), at: plurals)
        try second.pass(second.settings(back: false))
        _ = try restore(second, "1 fichier")
        #expect(try second.text("main", plurals) == plural("1 fichier", "%d fichiers"))
    }

    /// Replaces a table on main by a catalog with one text.
    private func migrate(_ fixture: Fixture, _ table: String, _ key: String, _ text: String) throws {
        let dev = try fixture.person("dev", on: "main")
        try dev.git("rm", "-q", table)
        var catalog = Catalog()
        catalog.keys = [key: ["fr": .init(value: text)]]
        try dev.pushFile(catalog.text, to: "A.xcstrings")
    }

    @Test func `get a text back in the catalog that has taken the place of the table, marked for review`() throws {
        let fixture = try changed("bye = \"Au revoir\";\n", main: "bye = \"Adieu\";\n", branch: "bye = \"Salut\";\n")
        try fixture.pass(fixture.settings(back: false))
        try migrate(fixture, french, "bye", "Salut")
        _ = try restore(fixture, "Adieu")
        #expect(try fixture.catalog("main", "A.xcstrings").keys == ["bye": ["fr": .init(value: "Adieu", state: "needs_review")]])
    }

    @Test func `get a plural category back in the catalog that has taken the place of the table, and the other way round`() throws {
        let fixture = try changed(plural("%d fichier", "x"), main: plural("1 fichier", "x"), branch: plural("un fichier", "x"), at: plurals)
        try fixture.pass(fixture.settings(back: false))
        let dev = try fixture.person("dev", on: "main")
        try dev.git("rm", "-q", plurals)
        func form(_ name: String, _ value: String) -> String { "\"\(name)\" : { \"stringUnit\" : { \"state\" : \"translated\", \"value\" : \"\(value)\" } }" }
        func catalog(_ language: String, _ inside: String) -> String {
            "{ \"sourceLanguage\" : \"en\", \"strings\" : { \"files\" : { \"localizations\" : { \"\(language)\" : { \(inside) } } } }, \"version\" : \"1.0\" }"
        }
        let forms = { (one: String) in "\"variations\" : { \"plural\" : { \(form("one", one)), \(form("other", "x")) } }" }
        try dev.pushFile(catalog("fr", forms("un fichier")), to: "A.xcstrings")
        _ = try restore(fixture, "1 fichier")
        #expect(try fixture.text("main", "A.xcstrings").contains("\"needs_review\", \"value\" : \"1 fichier\""))

        // In a catalog with substitutions the number has another name than in the table.
        let second = try changed(plural("%d fichier", "x"), main: plural("%d seul fichier", "x"), branch: plural("un fichier", "x"), at: plurals)
        try second.pass(second.settings(back: false))
        let other = try second.person("dev", on: "main")
        try other.git("rm", "-q", plurals)
        let text = "\"stringUnit\" : { \"state\" : \"translated\", \"value\" : \"%#@n@\" }"
        try other.pushFile(catalog("fr", "\(text), \"substitutions\" : { \"n\" : { \"formatSpecifier\" : \"d\", \(forms("un fichier")) } }"), to: "A.xcstrings")
        _ = try restore(second, "%d seul fichier")
        #expect(try second.text("main", "A.xcstrings").contains("\"needs_review\", \"value\" : \"%arg seul fichier\""))
    }

    @Test func `are restored in the language of their folder, as the project says it`() throws {
        let path = "Base.lproj/A.strings"
        let fixture = try Fixture(catalog: nil, branches: [])
        let dev = try fixture.person("dev", on: "main")
        try dev.pushFile("let package = Package(name: \"A\", defaultLocalization: \"de\")\n", to: "Package.swift")
        try dev.pushFile("bye = Tschüss;\n".replacingOccurrences(of: "Tschüss", with: "\"Tschüss\""), to: path)
        try dev.git("push", "-q", "origin", "HEAD:refs/heads/l10n/fr")
        try fixture.person("marie", on: "l10n/fr").pushFile("bye = \"Servus\";\n", to: path)
        try dev.pushFile("bye = \"Ade\";\n", to: path)
        try fixture.pass(fixture.settings(back: false))
        let losses = try Ledger(fixture.open()).contents().losses
        #expect(losses.map(\.leaf.language) == ["de"], "\(losses)")
        _ = try restore(fixture, "Servus")
        #expect(try fixture.text("main", path) == "bye = \"Servus\";\n")
        let branch = try CatalogBranch("main", in: fixture.open())
        #expect(try branch.path(of: "bye", language: "de", named: nil).description == path)
        #expect(throws: BranchEditError.self) { try branch.path(of: "bye", language: "en", named: nil) }
        #expect(try CatalogHistory(at: "main", in: fixture.open()).reasons(for: "bye", language: "de", at: TreePath(path)!).map(\.value) == ["Servus"])
    }

    @Test func `keep a lost text of another form out, and say what it was`() throws {
        let fixture = try changed(pluralTable(one: "%d fichier", other: "x"), main: pluralTable(one: "1 fichier", other: "x"), branch: pluralTable(one: "un fichier", other: "x"), at: plurals)
        try fixture.pass(fixture.settings(back: false))
        try migrate(fixture, plurals, "files", "x")
        let error = #expect(throws: BranchEditError.self) { try restore(fixture, "1 fichier") }
        #expect(error?.description.contains("put in by hand: 1 fichier") == true, "\(String(describing: error))")
    }
}

/// A file that is held as a whole, and the decision about it.
@Suite(.timeLimit(.minutes(30))) struct `A file held as a whole` {
    private let french = "fr.lproj/A.strings"

    /// Main deleted a file, the translators went on with it.
    private func deleted(_ path: String, onMain: Bool = true) throws -> (fixture: Fixture, settings: RepositorySettings) {
        let fixture = try Fixture(branches: [])
        let dev = try fixture.person("dev", on: "main")
        let isTable = path.hasSuffix(".strings")
        var catalog = Catalog()
        try dev.pushFile(isTable ? "a = 1;\n" : catalog.text, to: path)
        try dev.git("push", "-q", "origin", "HEAD:refs/heads/l10n/fr")
        catalog["Bye", "fr"] = "Salut"
        let marie = try fixture.person("marie", on: "l10n/fr")
        let (editor, remover) = onMain ? (marie, dev) : (dev, marie)
        try editor.pushFile(isTable ? "a = 2;\n" : catalog.text, to: path)
        try remover.git("rm", "-q", path)
        try remover.commit("Remove")
        try remover.git("push", "-q", "origin", "HEAD")
        return (fixture, fixture.settings { $0.source = .none })
    }

    private func decide(_ fixture: Fixture, _ settings: RepositorySettings, _ choice: ConflictChoice) throws -> BranchEdit {
        let repository = try fixture.open()
        let conflicts = Sync.Conflicts(in: repository, settings)
        let held = try conflicts.all().held
        #expect(held.count == 1)
        return try conflicts.decide(try #require(held.first), choice, on: CatalogBranch("main", in: repository), by: Fixture.dev)
    }

    @Test(arguments: ["App.xcstrings", "fr.lproj/A.strings"], [ConflictChoice.ours, .theirs])
    func `because one side deleted it takes the side that was chosen, on both branches and for good`(path: String, choice: ConflictChoice) throws {
        for onMain in [true, false] {
            let (fixture, settings) = try deleted(path, onMain: onMain)
            let report = try fixture.pass(settings)
            #expect(report.held.flatMap(\.places).allSatisfy { $0.isChoiceOfFile })
            let wanted = try fixture.git("rev-parse", "\(choice == .ours ? "main" : "l10n/fr")^{tree}")
            let edit = try decide(fixture, settings, choice)
            #expect((edit == .unchanged) == (choice == .ours))
            #expect(try fixture.pass(settings).held.isEmpty)
            for branch in ["main", "l10n/fr"] { #expect(try fixture.git("rev-parse", "\(branch)^{tree}") == wanted, "\(branch) \(onMain)") }
            #expect(try fixture.pass(settings).moves.isEmpty)
            try fixture.expectSound()
        }
    }

    @Test func `keeps the texts that lost by the decision in the ledger`() throws {
        for (path, text) in [("App.xcstrings", "Salut"), (french, "2")] {
            let (fixture, settings) = try deleted(path)
            _ = try decide(fixture, settings, .ours)
            try fixture.pass(settings)
            #expect(try fixture.ledger().losses.filter { $0.file == path }.map(\.text) == [text])
        }
    }

    @Test func `asks again when it was edited since the decision`() throws {
        let (fixture, settings) = try deleted(french)
        let repository = try fixture.open()
        let conflicts = Sync.Conflicts(in: repository, settings)
        let conflict = try #require(conflicts.all().held.first)
        _ = try conflicts.decide(conflict, .ours, on: CatalogBranch("main", in: repository), by: Fixture.dev)
        #expect(try conflicts.all().held.isEmpty)
        try fixture.person("marie", on: "l10n/fr").pushFile("a = 3;\n", to: french)
        #expect(try conflicts.all().held.count == 1)
    }

    @Test func `because it cannot be read has no side to take, and says where it was sound`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        let good = try fixture.git("rev-parse", "--short=10", "l10n/fr")
        try fixture.person("marie", on: "l10n/fr").pushFile("{ \"strings\" : {\n<<<<<<< HEAD\n", to: "Localizable.xcstrings")
        try fixture.person("dev", on: "main").push { $0["Bye", "fr"] = "Adieu" }
        let settings = fixture.settings(back: false)
        let error = #expect(throws: BranchEditError.self) { try decide(fixture, settings, .theirs) }
        #expect(error?.description.contains("line 2") == true && error?.description.contains("git show \(good):Localizable.xcstrings") == true, "\(String(describing: error))")
        #expect(error?.description.contains("repair it on l10n/fr") == true)
    }
}
