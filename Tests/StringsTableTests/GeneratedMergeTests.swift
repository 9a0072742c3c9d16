import StringCatalog
import StringsTable
import Testing

/// A table as a list, from which files are written in any style: the outcome of a merge of edits that do not meet is known
/// before the engine says it.
private struct Model {
    struct Row {
        var key: String
        var text: String
        var comment: String?
        var trailing: String?
    }

    var rows: [Row]

    init(count: Int, _ random: inout Seeded) {
        rows = (0..<count).map { i in
            Row(
                key: "key.\(i)", text: "text \(i) " + Model.text(&random), comment: Bool.random(using: &random) ? "about \(i) ä" : nil,
                trailing: Int.random(in: 0..<4, using: &random) == 0 ? "behind \(i)" : nil)
        }
    }

    private static let pieces = ["é", "\u{a0}", " ", "日本", "😀", "%@", "%1$d", "<b>", "&", "\"", "\\", "\n", "'", "/* */", "//", ";", "=", "e\u{301}"]

    static func text(_ random: inout Seeded) -> String {
        (0..<Int.random(in: 0..<5, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }

    /// Changes, removes or adds at the places that this side owns.
    mutating func edit(_ side: String, owning: (Int) -> Bool, keeping: Model, _ random: inout Seeded) -> [(Int, Change)] {
        var changes: [(Int, Change)] = []
        for i in keeping.rows.indices where owning(i) {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: changes.append((i, .text("\(side) " + Model.text(&random))))
            case 1: changes.append((i, .removed))
            case 2: changes.append((i, .comment("\(side) says")))
            case 3: changes.append((i, .added(Row(key: "\(side).new.\(i)", text: "new " + Model.text(&random), comment: "new from \(side)"))))
            default: break
            }
        }
        self = keeping.applying(changes)
        return changes
    }

    enum Change {
        case text(String), comment(String), removed
        /// Behind the row at this place.
        case added(Row)
    }

    func applying(_ changes: [(Int, Change)]) -> Model {
        var out = self
        out.rows = []
        for (i, row) in rows.enumerated() {
            var row: Row? = row
            var behind: [Row] = []
            for (at, change) in changes where at == i {
                switch change {
                case .text(let text): row?.text = text
                case .comment(let comment): row?.comment = comment
                case .removed: row = nil
                case .added(let new): behind.append(new)
                }
            }
            out.rows += (row.map { [$0] } ?? []) + behind
        }
        return out
    }

    func strings(_ newline: String) -> String {
        func quoted(_ text: String) -> String {
            text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        }
        let blocks = rows.map { row in
            (row.comment.map { "/* \($0) */\(newline)" } ?? "") + "\"\(row.key)\" = \"\(quoted(row.text))\";" + (row.trailing.map { " // \($0)" } ?? "")
        }
        return "/* Header */\(newline)\(newline)" + blocks.map { $0 + newline }.joined(separator: newline)
    }

    func stringsdict(_ newline: String) -> String {
        func escaped(_ text: String) -> String { text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;") }
        let lines = rows.flatMap { row in
            (row.comment.map { ["\t<!-- \($0) -->"] } ?? []) + [
                "\t<key>\(row.key)</key>", "\t<dict>", "\t\t<key>NSStringLocalizedFormatKey</key>", "\t\t<string>%#@n@</string>", "\t\t<key>n</key>",
                "\t\t<dict>", "\t\t\t<key>NSStringFormatSpecTypeKey</key>", "\t\t\t<string>NSStringPluralRuleType</string>",
                "\t\t\t<key>NSStringFormatValueTypeKey</key>", "\t\t\t<string>d</string>", "\t\t\t<key>other</key>",
                "\t\t\t<string>\(escaped(row.text).replacing("\n", with: newline))</string>", "\t\t</dict>", "\t</dict>",
            ]
        }
        return (["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">",
            "<plist version=\"1.0\">", "<dict>"] + lines + ["</dict>", "</plist>", ""]).joined(separator: newline)
    }
}

@Suite struct `Generated merges of tables` {
    @Test(arguments: 0..<300)
    func `of edits that do not meet come out as known, in the target's encoding and line ends`(_ seed: Int) throws {
        var random = Seeded(seed: UInt64(seed))
        let base = Model(count: Int.random(in: 2..<12, using: &random), &random)
        // The two sides own places that are not neighbours, so that "behind the same row" has one meaning.
        let shift = Int.random(in: 0..<2, using: &random)
        var ours = base
        var theirs = base
        let ourChanges = ours.edit("ours", owning: { ($0 / 2 + shift) % 2 == 0 && $0 > 0 }, keeping: base, &random)
        let theirChanges = theirs.edit("theirs", owning: { ($0 / 2 + shift) % 2 == 1 && $0 > 0 }, keeping: base, &random)
        let expected = base.applying(ourChanges + theirChanges)
        let kind: TableKind = seed % 3 == 0 ? .stringsdict : .strings
        func written(_ model: Model, _ writing: Writing, _ newline: String) -> [UInt8] {
            writing.bytes(kind == .strings ? model.strings(newline) : model.stringsdict(newline))
        }
        func writing() -> Writing { Writing.allCases.randomElement(using: &random) ?? .utf8 }
        func newline() -> String { Bool.random(using: &random) ? "\n" : "\r\n" }
        let (target, ends) = (writing(), newline())
        let (other, otherEnds) = (writing(), newline())
        let merged = try mergeTable(
            kind: kind, base: Bytes(written(base, writing(), newline())), ours: Bytes(written(ours, target, ends)),
            theirs: Bytes(written(theirs, other, otherEnds)))
        #expect(!merged.hasConflicts, "seed \(seed)")
        let text = try TableDocument(parsing: merged.bytes).entries
        let wanted = try TableDocument(parsing: Bytes(written(expected, target, ends))).entries
        #expect(text.map(\.key) == wanted.map(\.key), "seed \(seed)")
        let isExact = merged.bytes.array == written(expected, target, ends)
        #expect(isExact, "seed \(seed): the bytes differ")

        // The other way round: the same content, in the other's bytes.
        let swapped = try mergeTable(
            kind: kind, base: Bytes(written(base, target, ends)), ours: Bytes(written(theirs, other, otherEnds)), theirs: Bytes(written(ours, target, ends)))
        let isExactSwapped = swapped.bytes.array == written(expected, other, otherEnds)
        #expect(isExactSwapped, "seed \(seed): the bytes differ with the sides exchanged")
    }

    @Test(arguments: 0..<300)
    func `of any edits lose no text: each is in the result, a loss or a conflict`(_ seed: Int) throws {
        var random = Seeded(seed: UInt64(seed + 1000))
        let base = Model(count: Int.random(in: 1..<8, using: &random), &random)
        var ours = base
        var theirs = base
        _ = ours.edit("ours", owning: { _ in true }, keeping: base, &random)
        _ = theirs.edit("theirs", owning: { _ in true }, keeping: base, &random)
        let policy = MergePolicy(sourceSide: [SourceSide.ours, .theirs, .none].randomElement(using: &random) ?? .none)
        let kind: TableKind = seed % 3 == 0 ? .stringsdict : .strings
        func bytes(_ model: Model) -> Bytes { Bytes(Array((kind == .strings ? model.strings("\n") : model.stringsdict("\n")).utf8)) }
        let merged = try mergeTable(kind: kind, base: bytes(base), ours: bytes(ours), theirs: bytes(theirs), policy: policy)
        let document = try TableDocument(parsing: merged.bytes)
        var kept = Set(document.entries.flatMap { texts($0.content) })
        kept.formUnion(merged.report.losses.map { Array($0.text.unicodeScalars) })
        kept.formUnion(merged.report.conflicts.flatMap { [$0.ours, $0.theirs].compactMap { $0.map { Array($0.unicodeScalars) } } })
        let old = Set(base.rows.map { Array($0.text.unicodeScalars) })
        for row in ours.rows + theirs.rows where !old.contains(Array(row.text.unicodeScalars)) {
            #expect(kept.contains(Array(row.text.unicodeScalars)), "seed \(seed): \(row.text.debugDescription)")
        }
        // What `check` calls an error in the result is one on a side already.
        func faults(_ bytes: Bytes) throws -> Set<String> {
            Set(try TableDocument(parsing: bytes).findings(kind: kind, language: TableLanguage(code: "ru")).filter { $0.rule != .missingCategory }.map(\.sentence))
        }
        #expect(try faults(merged.bytes).subtracting(faults(bytes(ours))).subtracting(faults(bytes(theirs))).isEmpty, "seed \(seed)")
        // What is held now comes up again, and nothing else does.
        let next = try baseAfter(merged, base: TableDocument(parsing: bytes(base)), theirs: TableDocument(parsing: bytes(theirs)))
        let again = try mergeTable(kind: kind, base: next, ours: merged.bytes, theirs: bytes(theirs), policy: policy)
        #expect(again.isUnchanged, "seed \(seed)")
        #expect(Set(again.report.conflicts.map(\.path)) == Set(merged.report.conflicts.map(\.path)), "seed \(seed)")
    }

    @Test(arguments: 0..<200)
    func `with the sides and their roles exchanged say the same, and take everything where only one side changed`(_ seed: Int) throws {
        var random = Seeded(seed: UInt64(seed + 2000))
        let base = Model(count: Int.random(in: 1..<8, using: &random), &random)
        var ours = base
        var theirs = base
        _ = ours.edit("ours", owning: { _ in true }, keeping: base, &random)
        _ = theirs.edit("theirs", owning: { _ in true }, keeping: base, &random)
        let kind: TableKind = seed % 3 == 0 ? .stringsdict : .strings
        func bytes(_ model: Model) -> Bytes { Bytes(Array((kind == .strings ? model.strings("\n") : model.stringsdict("\n")).utf8)) }
        func merged(_ a: Model, _ b: Model, _ source: SourceSide) throws -> TableMerge {
            try mergeTable(kind: kind, base: bytes(base), ours: bytes(a), theirs: bytes(b), policy: MergePolicy(sourceSide: source))
        }
        for (source, swapped) in [(SourceSide.ours, SourceSide.theirs), (.theirs, .ours), (.none, .none)] {
            let one = try merged(ours, theirs, source)
            let two = try merged(theirs, ours, swapped)
            #expect(Set(one.report.conflicts.map(\.path)) == Set(two.report.conflicts.map(\.path)), "seed \(seed)")
            // What a conflict holds back stands in the conflict too.
            func losses(_ merge: TableMerge) -> Set<String> { Set(merge.report.losses.filter { $0.rule != "held back by a conflict" }.map(\.text)) }
            #expect(losses(one) == losses(two), "seed \(seed)")
            guard !one.hasConflicts else { continue }
            func content(_ merge: TableMerge) throws -> [String: String] {
                Dictionary(try TableDocument(parsing: merge.bytes).entries.map { ($0.key, "\($0.content) \($0.comment ?? "")") }) { $1 }
            }
            #expect(try content(one) == content(two), "seed \(seed)")
            let isExact = one.bytes.array == two.bytes.array
            #expect(isExact, "seed \(seed): equal content in unequal bytes")
        }
        let all = try merged(base, theirs, .none)
        // A file that lost every row is held.
        let isTaken = all.bytes.array == bytes(theirs).array || theirs.rows.isEmpty
        #expect(isTaken, "seed \(seed)")
    }

    private func texts(_ content: TableContent) -> [[Unicode.Scalar]] {
        switch content {
        case .text(let text): [Array(text.unicodeScalars)]
        case .dictionary(let members): members.flatMap { texts($0.value) }
        case .array(let values): values.flatMap(texts)
        case .other: []
        }
    }
}
