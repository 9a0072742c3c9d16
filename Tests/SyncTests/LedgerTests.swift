import Foundation
import Git
import StringCatalog
import Testing

@testable import Sync

extension Fixture {
    func open() throws -> Repository { try Repository(opening: bare) }

    func ledger() throws -> Ledger.Contents { try Ledger(open()).contents() }

    static let dev = Signature(name: "Dev", email: "dev@example.org", seconds: 1_764_492_000)
}

private func record(_ number: Int, text: String? = nil) -> LedgerRecord {
    .lost(LostText(
        file: "App/Localizable.xcstrings", leaf: LeafPath(key: "Key \(number)", language: "fr", field: "stringUnit.value"), text: text ?? "Texte \(number)",
        from: "ours", base: nil, ours: "Texte \(number)", theirs: "Autre\n\"x\" 😀", rule: "a rule",
        sync: SyncMark(
            commit: ObjectID(hex: String(repeating: "0", count: 40 - "\(number)".count) + "\(number)")!, target: RefName("refs/heads/main")!,
            source: RefName("refs/heads/l10n/fr")!, seconds: Int64(number))))
}

@Suite(.timeLimit(.minutes(30))) struct `The ledger` {
    @Test func `has the text that a tie dropped, with all three values, before the branch lost it`() throws {
        let fixture = try Fixture()
        try fixture.person("dev", on: "main").push { $0["Bye", "fr"] = "Adieu" }
        try fixture.person("marie", on: "l10n/fr").push { $0["Bye", "fr"] = "Salut" }
        let report = try fixture.pass()
        #expect(try fixture.catalog("main")["Bye", "fr"] == "Salut")
        let lost = try #require(fixture.ledger().losses.first)
        #expect(lost.text == "Adieu" && lost.base == "Au revoir" && lost.ours == "Adieu" && lost.theirs == "Salut" && lost.from == "ours")
        #expect(lost.leaf == LeafPath(key: "Bye", language: "fr", field: "stringUnit.value") && lost.file == "Localizable.xcstrings")
        #expect(lost.sync.target.shorthand == "main" && lost.sync.source.shorthand == "l10n/fr")
        #expect(try fixture.git("merge-base", "--is-ancestor", lost.sync.commit.hex, "main") == "")
        #expect(report.moves.first { $0.target.shorthand == "main" }?.lostCount == 1)
        try fixture.expectSound()
    }

    @Test func `has the translations of a key that was deleted`() throws {
        let fixture = try Fixture()
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        try fixture.person("dev", on: "main").push { $0.keys["Bye"] = nil }
        try fixture.pass()
        #expect(try Set(fixture.ledger().losses.map(\.text)).isSuperset(of: ["Au revoir", "Tschüss"]))
    }

    @Test func `of syncs that drop nothing is not there`() throws {
        let fixture = try Fixture()
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        try fixture.pass()
        #expect(try fixture.git("for-each-ref", "refs/concord/ledger") == "")
        #expect(try fixture.ledger().records.isEmpty)
    }

    @Test func `has the texts of tables of strings`() throws {
        let fixture = try Fixture(branches: [])
        let dev = try fixture.person("dev", on: "main")
        try dev.pushFile("\"Bye\" = \"Au revoir\";\n", to: "fr.lproj/A.strings")
        try dev.git("push", "-q", "origin", "HEAD:refs/heads/l10n/fr")
        try fixture.person("marie", on: "l10n/fr").pushFile("\"Bye\" = \"Salut\";\n", to: "fr.lproj/A.strings")
        try dev.pushFile("\"Bye\" = \"Adieu\";\n", to: "fr.lproj/A.strings")
        try fixture.pass()
        let lost = try #require(fixture.ledger().losses.first)
        #expect(lost.text == "Adieu" && lost.base == "Au revoir" && lost.ours == "Adieu" && lost.theirs == "Salut" && lost.file == "fr.lproj/A.strings")
    }

    @Test func `has once what lost without a commit, because it stays on its own branch`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        try fixture.person("dev", on: "main").push { $0["Bye", "fr"] = "Adieu" }
        let marie = try fixture.person("marie", on: "l10n/fr")
        try marie.push { $0["Bye", "fr"] = "Salut" }
        let settings = fixture.settings(back: false) { $0.policy = CatalogPolicy(name: "ours")!; $0.take = .catalogs }
        #expect(try fixture.pass(settings).moves.isEmpty)
        #expect(try fixture.ledger().losses.map(\.text) == ["Salut"])
        let before = try fixture.everything()
        for _ in 0..<3 { try fixture.pass(settings) }
        #expect(try fixture.everything() == before)
        try marie.pushFile("x", to: "README")
        try fixture.pass(settings)
        #expect(try fixture.ledger().losses.map(\.text) == ["Salut"])
    }

    @Test func `says the same after a record was written and read`() throws {
        let one = record(7, text: "a\u{1}\u{2028}\\\"\n")
        #expect(LedgerRecord(line: one.line) == one)
        #expect(!one.line.contains("\n"))
        #expect(LedgerRecord(line: "{\"what\": \"lost\"}") == nil)
        #expect(LedgerRecord(line: "nonsense") == nil)
    }

    @Test func `takes appends from many writers at once`() async throws {
        let fixture = try Fixture()
        let path = fixture.bare
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let ledger = try Ledger(Repository(opening: path))
                    for number in 0..<15 { #expect(try ledger.append([record(writer * 100 + number)], by: Fixture.dev) == .swapped) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try fixture.ledger().losses.count == 60)
        try fixture.expectSound()
    }

    @Test func `keeps every line when it is packed, also those appended meanwhile and those that cannot be read`() async throws {
        let fixture = try Fixture()
        let ledger = try Ledger(fixture.open())
        for number in 0..<20 { _ = try ledger.append([record(number), record(number + 1)], by: Fixture.dev) }
        let before = Set(try ledger.contents().losses)
        let path = fixture.bare
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let ledger = try Ledger(Repository(opening: path))
                for number in 100..<120 { _ = try ledger.append([record(number)], by: Fixture.dev) }
            }
            group.addTask {
                let ledger = try Ledger(Repository(opening: path))
                for _ in 0..<5 {
                    let packed = try ledger.pack(by: Fixture.dev)
                    #expect(packed.swap == .swapped)
                }
            }
            try await group.waitForAll()
        }
        let after = try ledger.pack(by: Fixture.dev)
        #expect(after.after == 1)
        #expect(try Set(ledger.contents().losses) == before.union((100..<120).map { if case .lost(let text) = record($0) { text } else { fatalError() } }))
    }

    @Test func `of two clones that both appended is the union of their trees`() throws {
        let fixture = try Fixture()
        let other = fixture.folder + "/other.git"
        _ = try Ledger(fixture.open()).append([record(1)], by: Fixture.dev)
        try fixture.git("clone", "-q", "--mirror", fixture.bare, other, in: fixture.folder)
        _ = try Ledger(fixture.open()).append([record(2)], by: Fixture.dev)
        _ = try Ledger(Repository(opening: other)).append([record(3)], by: Fixture.dev)
        try fixture.git("fetch", "-q", other, "refs/concord/ledger:refs/concord/theirs")
        let tree: String = try fixture.git("merge-tree", "--write-tree", "refs/concord/ledger", "refs/concord/theirs")
        let files = try fixture.git("ls-tree", "-r", "--name-only", tree).split(separator: "\n")
        #expect(files.count == 3)
    }

    @Test func `has no record of a move that lost its race`() throws {
        let fixture = try Fixture()
        let repository = try fixture.open()
        let main = RefName.branch("main")!
        let tip = try #require(try repository.tip(of: main))
        var wasAsked = false
        let swap = try repository.compareAndSwap(main, from: ObjectID(hex: String(repeating: "1", count: 40))!, to: tip, reflog: "") { () throws(GitError) in
            wasAsked = true
            return .swapped
        }
        #expect(swap == .lost(now: tip) && !wasAsked)
    }

    @Test func `keeps a branch where it is when it cannot be written`() throws {
        let fixture = try Fixture()
        try fixture.person("dev", on: "main").push { $0["Bye", "fr"] = "Adieu" }
        try fixture.person("marie", on: "l10n/fr").push { $0["Bye", "fr"] = "Salut" }
        let before = try fixture.tip("main")
        try FileManager.default.createDirectory(atPath: fixture.bare + "/refs/concord", withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: fixture.bare + "/refs/concord/ledger.lock"))
        #expect(throws: GitError.self) { try fixture.pass() }
        #expect(try fixture.tip("main") == before)
        try FileManager.default.removeItem(atPath: fixture.bare + "/refs/concord/ledger.lock")
        try fixture.pass()
        #expect(try fixture.tip("main") != before)
        #expect(try fixture.ledger().losses.contains { $0.text == "Adieu" })
    }

    @Test func `gives a text back, by an edit of its place alone and in the name of who asked`() throws {
        let fixture = try Fixture()
        try fixture.person("dev", on: "main").push { $0["Bye", "fr"] = "Adieu" }
        try fixture.person("marie", on: "l10n/fr").push { $0["Bye", "fr"] = "Salut" }
        try fixture.pass()
        let repository = try fixture.open()
        let before = try fixture.tip("main")
        let ledger = Ledger(repository)
        let lost = try #require(try ledger.contents().losses.first { $0.text == "Adieu" })
        let branch = try CatalogBranch("main", in: repository)
        guard case .moved = try ledger.restore(lost, on: branch, path: nil, by: Fixture.dev) else { throw Fixture.Failure(description: "not restored") }
        #expect(try fixture.catalog("main").keys["Bye"]?["fr"] == Catalog.Unit(value: "Adieu", state: "needs_review"))
        #expect(try fixture.git("diff", "--numstat", before, "main").hasPrefix("2\t2\t"))
        #expect(try fixture.git("log", "-1", "--format=%an %cn", "main") == "Dev Dev")
        #expect(try ledger.restore(lost, on: branch, path: nil, by: Fixture.dev) == .unchanged)
        // The text stays when the branches are brought into step again.
        try fixture.pass()
        for branch in ["l10n/fr", "main"] { #expect(try fixture.catalog(branch)["Bye", "fr"] == "Adieu") }
    }

    @Test func `gives a text of a deleted key back with the key, at its sorted place`() throws {
        let fixture = try Fixture()
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        try fixture.person("dev", on: "main").push { $0.keys["Bye"] = nil }
        try fixture.pass()
        let ledger = try Ledger(fixture.open())
        let lost = try #require(try ledger.contents().losses.first { $0.text == "Au revoir" })
        _ = try ledger.restore(lost, on: CatalogBranch("main", in: fixture.open()), path: nil, by: Fixture.dev)
        let text = try fixture.text("main")
        #expect(try fixture.catalog("main")["Bye", "fr"] == "Au revoir")
        let (bye, hello) = (try #require(text.range(of: "\"Bye\"")), try #require(text.range(of: "\"Hello\"")))
        #expect(bye.lowerBound < hello.lowerBound)
    }

    @Test func `with the tips has every text after random syncs`() throws {
        for seed in 1...6 {
            var random = Seeded(seed)
            let fixture = try Fixture()
            let people = try [("dev", "main"), ("marie", "l10n/fr"), ("hans", "l10n/de")].map { name, branch in (branch, try fixture.person(name, on: branch)) } as [(String, Person)]
            var writtenCount = 0
            let policies = ["standard", "ours", "theirs", "source-branch", "reviewed-wins", "newest", "draft", "conflict"]
            let settings = fixture.settings { 
                $0.policy = CatalogPolicy(name: policies.randomElement(using: &random)!)!
                $0.take = SyncRule.Take.allCases.randomElement(using: &random)!
            }
            for round in 0..<4 {
                // What somebody overwrote or deleted who had seen it is no loss of a sync; what was written in this round is.
                func texts() throws -> Set<String> { Set(try people.flatMap { try fixture.catalog($0.0).keys.values.flatMap { $0.values.map(\.value) } }) }
                let before = try texts()
                var atStake: [String: Set<String>] = [:]
                for (branch, person) in people {
                    try person.git("pull", "-q", "--ff-only", "origin", branch)
                    try person.push { catalog in
                        for edit in 0..<Int.random(in: 1...3, using: &random) {
                            let key = ["Bye", "Hello", "Stop", "New"].randomElement(using: &random)!
                            if Int.random(in: 0..<8, using: &random) == 0, catalog.keys.count > 1 { catalog.keys[key] = nil } else {
                                catalog[key, ["fr", "de"].randomElement(using: &random)!] = "\(branch) \(round) \(edit)"
                            }
                        }
                        catalog["Round", branch == "l10n/de" ? "de" : "fr"] = "\(branch) round \(round)"
                    }
                    atStake[branch] = Set(try fixture.catalog(branch).keys.values.flatMap { $0.values.map(\.value) }).subtracting(before)
                }
                try fixture.pass(settings)
                let kept = try texts().union(try fixture.ledger().losses.map(\.text))
                for (branch, texts) in atStake { #expect(texts.subtracting(kept).isEmpty, "seed \(seed), round \(round), \(branch)") }
                writtenCount += atStake.values.reduce(0) { $0 + $1.count }
            }
            #expect(writtenCount > 15)
            try fixture.expectSound()
        }
    }
}

/// The same numbers for the same seed.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: Int) { state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
