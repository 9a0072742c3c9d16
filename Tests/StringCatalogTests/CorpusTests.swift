import Foundation
import Testing

import StringCatalog

/// One folder of `Corpus`: `base` (may be missing), `ours`, `theirs` and the `expected` catalog, the expected report, and
/// with sides and roles exchanged the `swapped` catalog where it is another one. `case` holds options, one a line.
struct CorpusCase: CustomTestStringConvertible, Sendable {
    let folder: URL
    var testDescription: String { folder.lastPathComponent }

    static let all: [CorpusCase] = {
        let corpus = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")
        let folders = (try? FileManager.default.contentsOfDirectory(at: corpus, includingPropertiesForKeys: nil)) ?? []
        return folders.filter { !$0.lastPathComponent.hasPrefix(".") }.sorted { $0.path < $1.path }.map(CorpusCase.init)
    }()

    func bytes(_ name: String) -> [UInt8]? { (try? Data(contentsOf: folder.appending(path: name))).map { Array($0) } }

    func document(_ name: String) throws -> CatalogDocument? {
        try bytes(name + ".xcstrings").map { try CatalogDocument(parsing: Bytes($0)) }
    }

    /// The policy of the file `case`, as it is or with the sides exchanged.
    func policy(swapped: Bool) throws -> MergePolicy {
        var policy = MergePolicy()
        for line in String(decoding: bytes("case") ?? [], as: UTF8.self).split(separator: "\n") {
            let (option, value) = try #require(halves(line, at: " = "), "a line of \"case\" is \"option = value\"")
            switch option {
            case "source-side": policy.sourceSide = (value == "ours") != swapped ? .ours : .theirs
            case "flag-stale": policy.flagsStale = value == "true"
            case "allow-translation-deletions": policy.allowsTranslationDeletions = value == "true"
            case "rule":
                let words = value.split(separator: " ")
                var rule = MergePolicy.Rule(choice: try #require(MergePolicy.Choice(rawValue: String(words[0]))))
                if swapped { rule.choice = rule.choice == .ours ? .theirs : rule.choice == .theirs ? .ours : rule.choice }
                for word in words.dropFirst() {
                    let (name, value) = try #require(halves(word, at: "="))
                    if name == "language" { rule.languages = [value] } else { rule.fields = [value] }
                }
                policy.rules.append(rule)
            default: Issue.record("\"\(option)\" is no option of a case")
            }
        }
        return policy
    }

    private func halves(_ line: Substring, at separator: String) -> (String, String)? {
        line.range(of: separator).map { (String(line[..<$0.lowerBound]), String(line[$0.upperBound...])) }
    }

    /// The rows of one list of the expected report: key, language, then field, text or rule.
    func expected(_ list: String) throws -> Set<[String?]> {
        let report = try #require(try JSONSerialization.jsonObject(with: Data(bytes("report.json") ?? [])) as? [String: Any])
        return Set((report[list] as? [[Any]] ?? []).map { row in row.map { $0 as? String } })
    }

    func expectedDamages() throws -> Int {
        let report = try #require(try JSONSerialization.jsonObject(with: Data(bytes("report.json") ?? [])) as? [String: Any])
        return report["damages"] as? Int ?? 0
    }
}

@Suite struct `The corpus of situations` {
    @Test func `holds cases`() { #expect(CorpusCase.all.count > 150) }

    @Test(arguments: CorpusCase.all)
    func `merges as the rules say`(_ situation: CorpusCase) throws {
        let ours = try #require(try situation.document("ours"))
        let theirs = try #require(try situation.document("theirs"))
        let merged = try merge(base: situation.document("base"), ours: ours, theirs: theirs, policy: situation.policy(swapped: false))
        let expected = try #require(situation.bytes("expected.xcstrings"))
        #expect(String(decoding: merged.bytes.array, as: UTF8.self) == String(decoding: expected, as: UTF8.self))
        let isExact = merged.bytes.array == expected
        #expect(isExact, "the bytes differ where the text seems equal")
        #expect(merged.isUnchanged == (expected == ours.bytes.array))
        try expectReport(merged.report, of: situation)
        try expectSettled(merged, situation, ours: ours, theirs: theirs, swapped: false)
    }

    @Test(arguments: CorpusCase.all)
    func `merges the same with sides and roles exchanged`(_ situation: CorpusCase) throws {
        let ours = try #require(try situation.document("theirs"))
        let theirs = try #require(try situation.document("ours"))
        let merged = try merge(base: situation.document("base"), ours: ours, theirs: theirs, policy: situation.policy(swapped: true))
        let expected = try #require(situation.bytes("swapped.xcstrings") ?? situation.bytes("expected.xcstrings"))
        let said = try #require(Tree(merged.bytes.array)).canonical
        #expect(String(decoding: said, as: UTF8.self) == String(decoding: try #require(Tree(expected)).canonical, as: UTF8.self))
        try expectReport(merged.report, of: situation)
        try expectSettled(merged, situation, ours: ours, theirs: theirs, swapped: true)
    }

    private func expectReport(_ report: MergeReport, of situation: CorpusCase) throws {
        func rows(_ list: [[String?]]) -> [String] { Set(list).map { row in row.map { $0 ?? "null" }.joined(separator: " | ") }.sorted() }
        #expect(rows(report.conflicts.map { [$0.path.key, $0.path.language, $0.path.field] }) == rows(Array(try situation.expected("conflicts"))))
        // What a conflict holds back stands in the conflict too.
        let losses = report.losses.filter { $0.rule != "held back by a conflict" }
        #expect(rows(losses.map { [$0.path.key, $0.path.language, $0.text] }) == rows(Array(try situation.expected("losses"))))
        #expect(rows(report.decisions.map { [$0.path.key, $0.path.language, $0.rule] }) == rows(Array(try situation.expected("decisions"))))
        #expect(report.damages.count == (try situation.expectedDamages()))
        let json = try JSONSerialization.jsonObject(with: Data(report.json(path: "a/b"))) as? [String: Any]
        #expect((json?["conflicts"] as? [Any])?.count == report.conflicts.count)
    }

    /// Merging the same again changes nothing, and asks for nothing new.
    private func expectSettled(_ merged: CatalogMerge, _ situation: CorpusCase, ours: CatalogDocument, theirs: CatalogDocument, swapped: Bool) throws {
        let again = try merge(
            base: situation.document("base"), ours: CatalogDocument(parsing: merged.bytes), theirs: theirs, policy: situation.policy(swapped: swapped))
        #expect(again.isUnchanged)
        #expect(Set(again.report.conflicts.map(\.path)) == Set(merged.report.conflicts.map(\.path)))
    }
}
