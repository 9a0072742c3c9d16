import StringCatalog
import StringsTable
import Testing

@Suite struct `An edit of a table` {
    private func table(_ text: String) throws -> TableDocument { try TableDocument(parsing: Bytes(Array(text.utf8))) }

    private func set(_ text: String, _ key: String, _ field: String? = nil, in source: String, kind: TableKind = .strings) throws -> String {
        let bytes = try table(source).setting(text, at: LeafPath(key: key, language: "fr", field: field), kind: kind, language: TableLanguage(code: "fr"))
        return String(decoding: bytes.array, as: UTF8.self)
    }

    private let plural = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0">
        <dict>
          <key>files.in.folder</key>
          <dict>
            <key>NSStringLocalizedFormatKey</key>
            <string>%#@n@</string>
            <key>n</key>
            <dict>
              <key>NSStringFormatSpecTypeKey</key>
              <string>NSStringPluralRuleType</string>
              <key>NSStringFormatValueTypeKey</key>
              <string>d</string>
              <key>other</key>
              <string>%d &amp; fichiers</string>
            </dict>
          </dict>
        </dict>
        </plist>

        """

    @Test func `changes the text alone, in the form that the row has`() throws {
        for (source, expected) in [
            ("// top\n\n/* c */\na   =\t\"1\"  ; // x\r\nb=2;", "// top\n\n/* c */\na   =\t\"é \\\"q\\\"\\n\"  ; // x\r\nb=2;"),
            ("{ a = 1; b = 2; }", "{ a = \"é \\\"q\\\"\\n\"; b = 2; }"),
            ("a;\nb = 2;\n", "a = \"é \\\"q\\\"\\n\";\nb = 2;\n"),
            ("a = 0;\na = 1;\n", "a = 0;\na = \"é \\\"q\\\"\\n\";\n"),
            ("<plist><dict><key>a</key><string>1</string></dict></plist>", "<plist><dict><key>a</key><string>é \"q\"\n</string></dict></plist>"),
        ] {
            #expect(try set("é \"q\"\n", "a", in: source) == expected)
            #expect(try set("é \"q\"\n", "a", "value", in: source) == expected)
        }
    }

    @Test func `keeps the encoding and the mark`() throws {
        for isLittle in [true, false] {
            func encoded(_ text: String) -> [UInt8] { text.utf16.flatMap { isLittle ? [UInt8($0 & 0xff), UInt8($0 >> 8)] : [UInt8($0 >> 8), UInt8($0 & 0xff)] } }
            let document = try TableDocument(parsing: Bytes(encoded("\u{feff}\"a\" = \"1\";\n")))
            #expect(try document.setting("😀 é", at: LeafPath(key: "a"), kind: .strings).array == encoded("\u{feff}\"a\" = \"😀 é\";\n"))
        }
    }

    @Test func `gives the very bytes back where the text is so already`() throws {
        let document = try table("a = \"1\";\n")
        #expect(try document.setting("1", at: LeafPath(key: "a"), kind: .strings) === document.bytes)
        #expect(try document.taking([LeafPath(key: "a"), LeafPath(key: "none")], from: document, kind: .strings) === document.bytes)
    }

    @Test func `adds a key at its sorted place, or at the end where there is no order`() throws {
        #expect(try set("B", "b", in: "\"a\" = \"A\";\n\n\"c\" = \"C\";\n") == "\"a\" = \"A\";\n\"b\" = \"B\";\n\n\"c\" = \"C\";\n")
        #expect(try set("B", "b", in: "z = 1;\na = 2;\ny = 3;\nc = 4;\n") == "z = 1;\na = 2;\ny = 3;\nc = 4;\n\"b\" = \"B\";\n")
        #expect(try set("B", "b", in: "") == "\"b\" = \"B\";\n")
    }

    @Test func `changes a comment, and adds one`() throws {
        #expect(try set("New", "a", "comment", in: "/* Old */\na = 1;\n") == "/* New */\na = 1;\n")
        #expect(try set("New", "a", "comment", in: "a = 1;\n") == "/* New */\na = 1;\n")
        #expect(throws: EditFault.self) { try set("no */ end", "a", "comment", in: "a = 1;\n") }
        #expect(throws: EditFault.self) { try set("New", "b", "comment", in: "a = 1;\n") }
    }

    @Test func `reaches a plural category by variable and name, and adds one in its order`() throws {
        let other = plural.replacing("%d &amp; fichiers", with: "%d &lt; documents")
        #expect(try set("%d < documents", "files.in.folder", "n.other", in: plural, kind: .stringsdict) == other)
        let added = plural.replacing("      <key>other</key>", with: "      <key>one</key>\n      <string>un fichier</string>\n      <key>other</key>")
        #expect(try set("un fichier", "files.in.folder", "n.one", in: plural, kind: .stringsdict) == added)
        #expect(try table(added).leaves(of: "files.in.folder", language: "fr")[LeafPath(key: "files.in.folder", language: "fr", field: "n.one")] == "un fichier")
    }

    @Test func `that would break an entry is refused, with the reason`() throws {
        // A format without its variable.
        #expect(throws: EditFault.self) { try set("%#@m@", "files.in.folder", "NSStringLocalizedFormatKey", in: plural, kind: .stringsdict) }
        // One text makes no entry.
        #expect(throws: EditFault.self) { try set("x", "none", "n.one", in: plural, kind: .stringsdict) }
        // A text in the place of a dictionary.
        #expect(throws: EditFault.self) { try set("x", "files.in.folder", in: plural, kind: .stringsdict) }
        #expect(throws: EditFault.self) { try set("x", "a", "b", in: "a = 1;\n") }
    }

    @Test func `takes what another table has, in its own style, and removes what the other lacks`() throws {
        let xml = try table("<plist><dict><key>a</key><string>eins</string>\n<!-- C --><key>n</key><string>neu</string></dict></plist>")
        let plain = try table("a = 1;\nz = 26;\n")
        func taken(_ keys: String...) throws -> String {
            String(decoding: try plain.taking(Set(keys.map { LeafPath(key: $0) }), from: xml, kind: .strings).array, as: UTF8.self)
        }
        #expect(try taken("a") == "a = \"eins\";\nz = 26;\n")
        #expect(try taken("z") == "a = 1;\n")
        #expect(try taken("n") == "a = 1;\n/* C */\n\"n\" = \"neu\";\nz = 26;\n")
        let number = try table("<plist><dict><key>a</key><integer>1</integer></dict></plist>")
        #expect(throws: EditFault.self) { try plain.taking([LeafPath(key: "a")], from: number, kind: .strings) }
        #expect(try number.taking([LeafPath(key: "a")], from: plain, kind: .strings).array == Array("<plist><dict><key>a</key><string>1</string></dict></plist>".utf8))
    }
}

@Suite struct `The differences of two tables` {
    @Test func `are by key and place, whatever the form and the order`() throws {
        let old = try TableDocument(parsing: Bytes(Array("/* C */\na = 1;\nb = 2;\ngone = 3;\n".utf8)))
        let new = try TableDocument(parsing: Bytes(Array("<plist><dict><key>b</key><string>2</string>\n<!-- D --><key>a</key><string>eins</string><key>n</key><string>4</string></dict></plist>".utf8)))
        let found = changes(from: old, to: new, language: "de")
        #expect(found.map(\.path) == [
            LeafPath(key: "a", language: "de", field: "comment"), LeafPath(key: "a", language: "de", field: "value"), LeafPath(key: "n"),
            LeafPath(key: "n", language: "de", field: "value"), LeafPath(key: "gone"), LeafPath(key: "gone", language: "de", field: "value"),
        ])
        #expect(found.map(\.kind) == [.changed, .changed, .added, .added, .removed, .removed])
        #expect(found.filter(\.isOfTableText).map(\.new) == ["eins", "4", nil])
        #expect(changes(from: old, to: old).isEmpty && changes(from: nil, to: nil).isEmpty)
    }
}

@Suite struct `A merge of tables in two forms` {
    private let plain = Bytes(Array("a = 1;\n".utf8))

    @Test func `holds a key whose number, date or truth value the form cannot say, on either side`() throws {
        for value in ["<integer>7</integer>", "<true/>", "<date>2026-11-30T00:00:00Z</date>", "<data>AAAA</data>", "<dict><key>x</key><real>1.5</real></dict>"] {
            let xml = Bytes(Array("<plist><dict><key>a</key><string>2</string><key>n</key>\(value)</dict></plist>".utf8))
            let merged = try mergeStrings(base: plain, ours: plain, theirs: xml)
            #expect(merged.report.conflicts.map(\.path.key) == ["n"], "\(value)")
            #expect(String(decoding: merged.bytes.array, as: UTF8.self) == "a = \"2\";\n" || String(decoding: merged.bytes.array, as: UTF8.self) == "a = 2;\n")
            let next = try baseAfter(merged, base: TableDocument(parsing: plain), theirs: TableDocument(parsing: xml))
            let again = try mergeStrings(base: next, ours: merged.bytes, theirs: xml)
            #expect(again.report.conflicts.map(\.path.key) == ["n"] && again.isUnchanged)
        }
        let data = try mergeStrings(base: nil, ours: Bytes(Array("<plist><dict></dict></plist>".utf8)), theirs: Bytes(Array("d = <0a0b>;\n".utf8)))
        #expect(data.report.conflicts.map(\.path.key) == ["d"])
    }

    @Test func `that a person decided is so, also by a text of neither side, with both texts lost on record`() throws {
        var policy = MergePolicy()
        policy.resolutions = Resolutions([Resolution(path: LeafPath(key: "a", field: "value"), base: "1", one: "2", other: "3", chosen: "vier \"4\"")])
        let merged = try mergeStrings(base: plain, ours: Bytes(Array("a = 2; // x\n".utf8)), theirs: Bytes(Array("a = 3;\n".utf8)), policy: policy)
        #expect(String(decoding: merged.bytes.array, as: UTF8.self) == "a = \"vier \\\"4\\\"\"; // x\n" && !merged.hasConflicts)
        #expect(Set(merged.report.losses.map(\.text)) == ["2", "3"])
    }
}
