import StringCatalog
import StringsTable
import Testing

/// A writer's choices: what one and the same table can look like in bytes.
enum Writing: String, CaseIterable, Sendable {
    case utf8, utf8Mark, utf16LittleMark, utf16BigMark, utf16Little, utf16Big

    func bytes(_ text: String) -> [UInt8] {
        switch self {
        case .utf8: Array(text.utf8)
        case .utf8Mark: [0xef, 0xbb, 0xbf] + Array(text.utf8)
        case .utf16LittleMark: [0xff, 0xfe] + text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
        case .utf16BigMark: [0xfe, 0xff] + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
        case .utf16Little: text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
        case .utf16Big: text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
        }
    }
}

func table(_ text: String, _ writing: Writing = .utf8) throws -> TableDocument {
    try TableDocument(parsing: Bytes(writing.bytes(text)))
}

@Suite struct `Reading a table` {
    @Test(arguments: Writing.allCases)
    func `finds keys, texts, comments and lines in every encoding`(_ writing: Writing) throws {
        let document = try table("/* Title é */\n\"title\" = \"Über %@ 🌍\";\n\n// lonely\n\nkey_2 = bare; // behind\n\"c d\";\n", writing)
        let entries = document.entries
        #expect(entries.map(\.key) == ["title", "key_2", "c d"])
        #expect(entries.map(\.text) == ["Über %@ 🌍", "bare", "c d"])
        #expect(entries.map(\.comment) == ["Title é", nil, nil])
        #expect(entries.map(\.line) == [2, 6, 7])
        #expect(document.rewritten == document.bytes.array)
    }

    @Test(arguments: [
        (#""a" = "\n\t\"\\\'\a\b\f\v\r";"#, "\n\t\"\\'\u{7}\u{8}\u{c}\u{b}\r"),
        (#""a" = "\U00e9\U00A0x";"#, "é\u{a0}x"),
        (#""a" = "\UD83D\UDE00!";"#, "😀!"),
        (#""a" = "\101\200\341";"#, "A\u{a0}Æ"),
        (#""a" = "\u00e9";"#, "u00e9"),
        (#"a = 'it"s';"#, "it\"s"),
        ("\"a\" = \"l1\\\nl2\";", "l1\nl2"),
        ("{ a = http://x.y/z-1; }", "http://x.y/z-1"),
        ("\"a\" = \"x\r\ny\";", "x\r\ny"),
        ("<plist version=\"1.0\"><dict><key>a</key><string>&lt;b&gt; &amp;&#65;&#x42;<![CDATA[<&>]]></string></dict></plist>", "<b> &AB<&>"),
    ])
    func `decodes escapes as the run time does`(_ source: String, _ expected: String) throws {
        let text = try #require(try table(source).entries.first?.text)
        #expect(Array(text.unicodeScalars) == Array(expected.unicodeScalars))
    }

    @Test func `reads a file without rows, even one of no bytes`() throws {
        for text in ["", "\n", "/* nothing yet */\n"] { #expect(try table(text).entries.isEmpty) }
    }

    @Test func `gives the comment directly before a row to it, and no other`() throws {
        let document = try table("/* header */\n/* own */\n\"a\" = \"1\";\n/* set off */\n\n\"b\" = \"2\"; /* behind */\n// one\n// two\n\"c\" = \"3\";\n")
        #expect(document.entries.map(\.comment) == ["own", nil, "one\ntwo"])
        #expect(document.entries.map(\.trailingComment) == [nil, "behind", nil])
    }

    @Test func `says which copy of a key is hidden, and that there are two`() throws {
        let document = try table("\"a\" = \"1\";\n\"b\" = \"2\";\n\"\\U0061\" = \"3\";\n")
        #expect(document.entries.map(\.isHidden) == [true, false, false])
        let findings = document.findings(kind: .strings)
        #expect(findings.map(\.line) == [1])
        #expect(findings.map(\.rule) == [.duplicateKey])
    }

    @Test(arguments: [
        ("\"a\" = \"1\"\n\"b\" = \"2\";\n", 1, 10, "';' is missing after the value of \"a\""),
        ("\"a\" = \"1\";\n\"b\" = \"2\"\n", 2, 10, "';' is missing after the value of \"b\""),
        ("\"a\" = \"1\" \"b\" = \"2\";\n", 1, 10, "';' is missing"),
        ("\"é\" = 1\n\"b\" = \"2\";\n", 1, 8, "';' is missing"),
        ("\n\"a\" = \"say \"hi\" now\";\n", 2, 12, "write \\\" for a quote inside a string"),
        ("\"a\" = \"x\";\n\"b\" = \"open;\n\"c\" = \"3\";\n", 2, 7, "the closing '\"' is missing"),
        ("\"a = \"x\";\n\"c\" = \"3\";\n", 1, 6, "write \\\""),
        ("\"a\" = \"1\";\n“b” = “2”;\n", 2, 1, "straight quote"),
        ("\"a\" = “1”;\n", 1, 7, "straight quote"),
        ("\"a\" = \"1”;\n\"b\" = \"2\";\n", 1, 9, "straight quote"),
        ("\"a\" = \"1\";\n/* open\n\"b\" = \"2\";\n", 2, 1, "comment that begins here is not closed"),
        ("\"a\" = \"1\";\n\"b\" = \"2;\n", 2, 7, "not closed before the end"),
        ("\"a\" = \"1\";\n<<<<<<< HEAD\n\"b\" = \"2\";\n", 2, 1, "merge conflict"),
        ("\"a\" = \"1\";\n=======\n", 2, 1, "merge conflict"),
        ("\"a\" \"1\";\n", 1, 4, "expected '=' or ';' after the key \"a\""),
        ("\"a\" = ;\n", 1, 7, "a value for \"a\""),
        ("a b = c;\n", 1, 2, "expected '=' or ';'"),
        ("größe = c;\n", 1, 3, "quoted string"),
        ("{ a = b;\n", 1, 1, "'}' is missing"),
        ("{ a = b; }\nx\n", 2, 1, "text follows"),
        ("( a, b )", 1, 1, "array"),
        ("\"a\" = \"1\";\n;\n", 2, 1, "a key"),
    ])
    func `names the fault of a text table at its place`(_ source: String, _ line: Int, _ column: Int, _ part: String) throws {
        for writing in [Writing.utf8, .utf16LittleMark] {
            let error = try #require(throws: TableError.self) { try table(source, writing) }
            #expect((error.line, error.column) == (line, column), "\(source.debugDescription): \(error)")
            #expect(error.sentence.contains(part), "\(source.debugDescription): \(error)")
        }
        let flipped = try #require(throws: TableError.self) { try table(source.replacing("\n", with: "\r\n")) }
        #expect((flipped.line, flipped.column) == (line, column), "\(source.debugDescription): \(flipped)")
    }

    @Test(arguments: [
        ("<?xml version=\"1.0\"?>\n<plist><dict>\n<key>a</key>\n</dict></plist>", 3, 1, "\"a\" has no value"),
        ("<plist><dict>\n<string>a</string>\n</dict></plist>", 2, 1, "follows its key"),
        ("<plist><dict>\n<key>a</key><string>A & B</string></dict></plist>", 2, 23, "&amp;"),
        ("<plist><dict>\n<key>a</key><string>b</dict></plist>", 2, 22, "</string>"),
        ("<plist><dict>\n<key>a</key><text>b</text></dict></plist>", 2, 13, "<text>"),
        ("<plist><dict>\n<key>a</key><string>b</string>", 1, 8, "not closed"),
        ("<plist>\n<array/></plist>", 2, 1, "no dictionary"),
        ("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><plist><dict/></plist>", 1, 31, "ISO-8859-1"),
        ("<plist><dict>\n<<<<<<< ours\n</dict></plist>", 2, 1, "merge conflict"),
        ("<plist><dict/></plist>\nmore", 2, 1, "text follows"),
        ("<!DOCTYPE plist [ <!ENTITY a \"b\"> ]><plist><dict/></plist>", 1, 17, "DOCTYPE"),
    ])
    func `names the fault of an XML table at its place`(_ source: String, _ line: Int, _ column: Int, _ part: String) throws {
        let error = try #require(throws: TableError.self) { try table(source) }
        #expect((error.line, error.column) == (line, column), "\(source.debugDescription): \(error)")
        #expect(error.sentence.contains(part), "\(source.debugDescription): \(error)")
    }

    @Test(arguments: [
        (Array("\"a\" = \"1\";\n\"b\" = \"caf".utf8) + [0xe9] + Array("\";".utf8), 2, 11, "Latin-1"),
        ([0xff, 0xfe, 0, 0, 0x22, 0, 0, 0], 1, 1, "UTF-32"),
        ([0x22, 0, 0, 0, 0x61, 0, 0, 0, 0x22, 0, 0, 0, 0x3b, 0, 0, 0], 1, 1, "UTF-32"),
        ([0xff, 0xfe] + Writing.utf16Little.bytes("\"a\";\n") + [0x22], 2, 1, "odd number of bytes"),
        ([0xff, 0xfe, 0x22, 0, 0, 0xd8, 0x22, 0], 1, 2, "surrogate"),
        (Array("bplist00".utf8) + [0xd0, 8], 1, 1, "plutil -convert xml1"),
    ] as [([UInt8], Int, Int, String)])
    func `names the fault of an encoding at its place`(_ source: [UInt8], _ line: Int, _ column: Int, _ part: String) throws {
        let error = try #require(throws: TableError.self) { try TableDocument(parsing: Bytes(source)) }
        #expect((error.line, error.column) == (line, column), "\(error)")
        #expect(error.sentence.contains(part), "\(error)")
    }
}
