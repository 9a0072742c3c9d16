import Foundation
import MergeCases
import StringCatalog
import Testing

extension MergeCase {
    static let all = all(beside: #filePath)

    fileprivate func document(_ name: String) throws -> CatalogDocument? { try bytes(name).map { try CatalogDocument(parsing: Bytes($0)) } }
}

@Suite struct `The corpus of situations` {
    @Test func `holds cases`() { #expect(MergeCase.all.count > 150) }

    @Test(arguments: MergeCase.all)
    func `merges as the rules say`(_ situation: MergeCase) throws {
        let ours = try #require(try situation.document("ours"))
        let theirs = try #require(try situation.document("theirs"))
        let merged = try merge(base: situation.document("base"), ours: ours, theirs: theirs, policy: situation.policy(swapped: false))
        let expected = try #require(situation.bytes("expected"))
        #expect(String(decoding: merged.bytes.array, as: UTF8.self) == String(decoding: expected, as: UTF8.self))
        let isExact = merged.bytes.array == expected
        #expect(isExact, "the bytes differ where the text seems equal")
        #expect(merged.isUnchanged == (expected == ours.bytes.array))
        try expectReport(merged.report, of: situation, swapped: false)
        try expectSettled(merged, situation, ours: ours, theirs: theirs, swapped: false)
    }

    @Test(arguments: MergeCase.all)
    func `merges the same with sides and roles exchanged`(_ situation: MergeCase) throws {
        let ours = try #require(try situation.document("theirs"))
        let theirs = try #require(try situation.document("ours"))
        let merged = try merge(base: situation.document("base"), ours: ours, theirs: theirs, policy: situation.policy(swapped: true))
        let expected = try #require(situation.bytes("swapped") ?? situation.bytes("expected"))
        let said = try #require(Tree(merged.bytes.array)).canonical
        #expect(String(decoding: said, as: UTF8.self) == String(decoding: try #require(Tree(expected)).canonical, as: UTF8.self))
        try expectReport(merged.report, of: situation, swapped: true)
        try expectSettled(merged, situation, ours: ours, theirs: theirs, swapped: true)
    }

    private func expectReport(_ report: MergeReport, of situation: MergeCase, swapped: Bool) throws {
        #expect(try situation.differences(of: report, swapped: swapped) == [])
        let json = try JSONSerialization.jsonObject(with: Data(report.json(path: "a/b"))) as? [String: Any]
        #expect((json?["conflicts"] as? [Any])?.count == report.conflicts.count)
    }

    /// Merging the same again changes nothing, and asks for nothing new.
    private func expectSettled(_ merged: CatalogMerge, _ situation: MergeCase, ours: CatalogDocument, theirs: CatalogDocument, swapped: Bool) throws {
        let again = try merge(
            base: situation.document("base"), ours: CatalogDocument(parsing: merged.bytes), theirs: theirs, policy: situation.policy(swapped: swapped))
        #expect(again.isUnchanged)
        #expect(Set(again.report.conflicts.map(\.path)) == Set(merged.report.conflicts.map(\.path)))
    }
}
