import MergeCases
import StringCatalog
import StringsTable
import Testing

extension MergeCase {
    fileprivate static let all = all(beside: #filePath)

    fileprivate func merged(_ ours: String, _ theirs: String, swapped: Bool) throws -> TableMerge {
        let kind = try #require(TableKind(path: "a.\(kind)"))
        func read(_ name: String) throws -> TableDocument? { try bytes(name).map { try TableDocument(parsing: Bytes($0)) } }
        let written = ours == "merged" ? try merged(swapped ? "theirs" : "ours", theirs, swapped: swapped).bytes.array : try #require(bytes(ours))
        return try merge(
            base: read("base"), ours: TableDocument(parsing: Bytes(written)), theirs: try #require(try read(theirs)), kind: kind, language: language,
            policy: policy(swapped: swapped))
    }

    /// `language = ru`, or for the source language `language = en source`; French where the case does not say.
    private var language: TableLanguage {
        get throws {
            let words = try options("language").first?.split(separator: " ").map(String.init) ?? ["fr"]
            return TableLanguage(code: words[0], isSource: words.count > 1)
        }
    }
}

@Suite struct `The corpus of situations of tables` {
    @Test func `holds cases`() { #expect(MergeCase.all.count > 40) }

    @Test(arguments: MergeCase.all)
    func `merges as the rules say`(_ situation: MergeCase) throws {
        let merged = try situation.merged("ours", "theirs", swapped: false)
        #expect(String(decoding: merged.bytes.array, as: UTF8.self) == String(decoding: situation.bytes("expected") ?? [], as: UTF8.self))
        #expect(merged.bytes.array == situation.bytes("expected"))
        #expect(try situation.differences(of: merged.report, swapped: false) == [])
        #expect(try situation.merged("merged", "theirs", swapped: false).isUnchanged)
    }

    @Test(arguments: MergeCase.all)
    func `merges the same with sides and roles exchanged`(_ situation: MergeCase) throws {
        let merged = try situation.merged("theirs", "ours", swapped: true)
        let expected = situation.bytes("swapped") ?? situation.bytes("expected")
        #expect(String(decoding: merged.bytes.array, as: UTF8.self) == String(decoding: expected ?? [], as: UTF8.self))
        #expect(try situation.differences(of: merged.report, swapped: true) == [])
        #expect(try situation.merged("merged", "ours", swapped: true).isUnchanged)
    }
}
