import StringCatalog
import StringsTable
import Testing

private func merged(
    _ base: String?, _ ours: String, _ theirs: String, _ kind: TableKind = .strings, _ language: TableLanguage = TableLanguage(code: "fr"),
    source: SourceSide = .none, rules: [MergePolicy.Rule] = [], allowsDeletions: Bool = false
) throws -> TableMerge {
    try mergeTable(
        kind: kind, base: base.map { Bytes(Array($0.utf8)) }, ours: Bytes(Array(ours.utf8)), theirs: Bytes(Array(theirs.utf8)), language: language,
        policy: MergePolicy(sourceSide: source, rules: rules, allowsTranslationDeletions: allowsDeletions))
}

private func text(_ merge: TableMerge) -> String { String(decoding: merge.bytes.array, as: UTF8.self) }

/// An entry of a `.stringsdict` with one variable.
private func plural(_ key: String, _ categories: [(String, String)], format: String = "%#@n@", variable: String = "n", valueType: String = "d") -> String {
    """
    \t<key>\(key)</key>
    \t<dict>
    \t\t<key>NSStringLocalizedFormatKey</key>
    \t\t<string>\(format)</string>
    \t\t<key>\(variable)</key>
    \t\t<dict>
    \t\t\t<key>NSStringFormatSpecTypeKey</key>
    \t\t\t<string>NSStringPluralRuleType</string>
    \t\t\t<key>NSStringFormatValueTypeKey</key>
    \t\t\t<string>\(valueType)</string>
    \(categories.map { "\t\t\t<key>\($0.0)</key>\n\t\t\t<string>\($0.1)</string>\n" }.joined())\t\t</dict>
    \t</dict>

    """
}

private func dict(_ entries: String...) -> String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\n<dict>\n"
        + entries.joined() + "</dict>\n</plist>\n"
}

@Suite struct `Rules of tables` {
    @Test func `an error is new where neither side has it as often`() throws {
        func table(_ text: String) throws -> TableDocument { try TableDocument(parsing: Bytes(Array(text.utf8))) }
        let sound = try table("\"a\" = \"x\";\n")
        let twice = try table("\"a\" = \"x\";\n\"a\" = \"y\";\n")
        let thrice = try table("\"a\" = \"x\";\n\"a\" = \"y\";\n\"a\" = \"z\";\n")
        func new(_ ours: TableDocument, _ theirs: TableDocument, _ result: TableDocument) -> [String?] {
            worsens(ours: ours, theirs: theirs, result: result, kind: .strings, language: TableLanguage(code: "fr")).map(\.place.key)
        }
        #expect(new(sound, sound, twice) == ["a"])
        #expect(new(twice, sound, twice) == [])
        #expect(new(sound, twice, twice) == [])
        #expect(new(twice, sound, thrice) == ["a"])
    }

    // MARK: Texts

    @Test func `a text that one side changed comes over, and nothing else moves`() throws {
        let base = "/* a */\n\"a\"   =\t\"1\"  ;\n\n\n  b=two;c = three; // x\n"
        let result = try merged(base, base, base.replacing("two", with: "\"zwei \\U00e9\""))
        #expect(text(result) == "/* a */\n\"a\"   =\t\"1\"  ;\n\n\n  b=\"zwei \\U00e9\";c = three; // x\n")
    }

    @Test func `a text that both changed goes by role, is a conflict without roles, and a rule decides before either`() throws {
        let (base, ours, theirs) = ("a = 1;\n", "a = 2;\n", "a = 3;\n")
        let conflict = try merged(base, ours, theirs)
        #expect(conflict.isUnchanged)
        #expect(conflict.report.conflicts.map(\.path) == [LeafPath(key: "a", language: "fr", field: "value")])
        #expect(conflict.report.conflicts.map { [$0.base, $0.ours, $0.theirs] } == [["1", "2", "3"]])
        for (source, language, expected) in [
            (SourceSide.ours, TableLanguage(code: "fr"), theirs), (.theirs, TableLanguage(code: "fr"), ours),
            (.ours, TableLanguage(code: "en", isSource: true), ours), (.theirs, TableLanguage(code: "en", isSource: true), theirs),
        ] {
            let result = try merged(base, ours, theirs, .strings, language, source: source)
            #expect(text(result) == expected)
            #expect(result.report.losses.map(\.text) == [expected == ours ? "3" : "2"])
        }
        #expect(text(try merged(base, ours, theirs, rules: [.init(languages: ["FR"], choice: .theirs)])) == theirs)
    }

    @Test func `a no-break space and a space are different texts`() throws {
        let base = "\"a\" = \"10\u{a0}km\";\n"
        let spaced = "\"a\" = \"10 km\";\n"
        #expect(text(try merged(base, base, spaced)) == spaced)
        #expect(try merged(base, spaced, "\"a\" = \"10\u{a0}km!\";\n").hasConflicts)
        #expect(try merged(base, "\"a\" = \"10\\U00A0km\";\n", base).isUnchanged)
        let nfd = "\"a\" = \"e\u{301}\";\n"
        #expect(text(try merged("\"a\" = \"\u{e9}\";\n", "\"a\" = \"\u{e9}\";\n", nfd)).unicodeScalars.elementsEqual(nfd.unicodeScalars))
    }

    @Test func `line ends flipped on one side are no change against an edit on the other`() throws {
        let base = "\"a\" = \"1\nx\";\n\"b\" = \"2\";\n"
        let flipped = base.replacing("\n", with: "\r\n")
        let edited = base.replacing("\"2\"", with: "\"zwei\"")
        #expect(text(try merged(base, flipped, edited)) == flipped.replacing("\"2\"", with: "\"zwei\""))
        #expect(try merged(base, edited, flipped).isUnchanged)
    }

    @Test func `rows put into another order are no change against an edit on the other side`() throws {
        let base = "a = 1;\nb = 2;\nc = 3;\n"
        let result = try merged(base, "c = 3;\na = 1;\nb = 2;\n", "a = 1;\nb = two;\nc = 3;\n")
        #expect(text(result) == "c = 3;\na = 1;\nb = two;\n")
        #expect(try merged(base, "a = 1;\nb = two;\nc = 3;\n", "c = 3;\na = 1;\nb = 2;\n").isUnchanged)
    }

    // MARK: Keys

    @Test func `a new key stands behind the same row as in theirs, with its comment and its empty lines`() throws {
        let base = "/* A */\n\"a\" = \"1\";\n\n/* C */\n\"c\" = \"3\";\n"
        let theirs = "/* A */\n\"a\" = \"1\";\n\n\n/* B\n   two lines */\n\"b\" = \"2\"; // short\n\n/* C */\n\"c\" = \"3\";\n"
        #expect(text(try merged(base, base, theirs)) == theirs)
        #expect(text(try merged(base, base.replacing("\n", with: "\r\n"), theirs)) == theirs.replacing("\n", with: "\r\n"))
    }

    @Test func `new keys of both sides at one place stand in the same order whichever is merged first`() throws {
        let base = "a = 1;\nz = 9;\n"
        let one = "a = 1;\nm = 5;\nz = 9;\n"
        let two = "a = 1;\nb = 2;\nx = 8;\nz = 9;\n"
        let first = text(try merged(base, one, two))
        #expect(first == "a = 1;\nb = 2;\nm = 5;\nx = 8;\nz = 9;\n")
        #expect(text(try merged(base, two, one)) == first)
    }

    @Test(arguments: [
        ("", "a = 1;\n", "a = 1;\n"),
        ("/* only a header */", "/* only a header */\n\n/* x */\na = 1;\n", "/* only a header */\n\n/* x */\na = 1;\n"),
        ("a = 1;", "a = 1;\nb = 2;\n", "a = 1;\nb = 2;"),
        ("{\n    a = 1;\n}\n", "{\n  a = 1;\n  b = 2;\n}\n", "{\n    a = 1;\n    b = 2;\n}\n"),
        ("{}", "{ b = 2; }", "{\n    b = 2;\n}"),
        ("{ a = 1; }", "{ a = 1; b = 2; }", "{ a = 1; b = 2; }"),
        ("a = 1; c = 3;\n", "a = 1; b = 2; c = 3;\n", "a = 1; b = 2; c = 3;\n"),
        ("b = 1;\n", "a = 0;\nb = 1;\n", "a = 0;\nb = 1;\n"),
        ("/* header */\n/* B */\nb = 1;\n", "/* header */\n\na = 0;\n/* B */\nb = 1;\n", "/* header */\n\na = 0;\n/* B */\nb = 1;\n"),
    ])
    func `a new key fits into any layout`(_ ours: String, _ theirs: String, _ expected: String) throws {
        #expect(text(try merged(ours, ours, theirs)) == expected)
    }

    @Test func `a deleted key takes its comments and its empty lines along, and its text is a loss`() throws {
        let base = "/* H */\n\n/* A */\n\"a\" = \"1\"; // x\n\n/* B */\n\"b\" = \"2\";\n\n/* C */\n\"c\" = \"3\";\n"
        let result = try merged(base, base, "/* H */\n\n/* B */\n\"b\" = \"2\";\n\n/* C */\n\"c\" = \"3\";\n")
        #expect(text(result) == "/* H */\n\n/* B */\n\"b\" = \"2\";\n\n/* C */\n\"c\" = \"3\";\n")
        #expect(result.report.losses.map(\.text) == ["1"])
        #expect(text(try merged(base, base, "/* H */\n\n/* A */\n\"a\" = \"1\"; // x\n\n/* C */\n\"c\" = \"3\";\n"))
            == "/* H */\n\n/* A */\n\"a\" = \"1\"; // x\n\n/* C */\n\"c\" = \"3\";\n")
    }

    @Test func `a comment that is no row's stays nobody's when the row below it goes`() throws {
        let base = "a = 1;\n/* section */\n/* own */\nb = 2;\nc = 3;\n"
        let result = try merged(base, base, "a = 1;\n/* section */\n\nc = 3;\n")
        #expect(try TableDocument(parsing: result.bytes).entries.map(\.comment) == [nil, nil])
    }

    @Test func `a key that one side deleted and the other edited follows the roles`() throws {
        let (base, gone, edited) = ("a = 1;\nb = 2;\n", "b = 2;\n", "a = eins;\nb = 2;\n")
        #expect(try merged(base, gone, edited).report.conflicts.count == 1)
        #expect(try merged(base, edited, gone).report.conflicts.count == 1)
        // The developers deleted it: the edit is told.
        let deleted = try merged(base, edited, gone, source: .theirs)
        #expect(text(deleted) == gone)
        #expect(deleted.report.losses.map(\.text) == ["eins"])
        #expect(try merged(base, edited, gone, .strings, TableLanguage(code: "en", isSource: true), source: .theirs).report.conflicts.count == 1)
        // Translators delete nothing.
        #expect(text(try merged(base, edited, gone, source: .ours)) == edited)
        #expect(text(try merged(base, gone, edited, source: .theirs)) == edited)
        #expect(text(try merged(base, "a = 1;\nb = 2;\nc = 3;\n", gone, source: .ours, allowsDeletions: true)) == "b = 2;\nc = 3;\n")
    }

    @Test func `a partial export removes nothing, and neither does a file that came out empty`() throws {
        let base = "a = 1;\nb = 2;\nc = 3;\n"
        let partial = try merged(base, base, "c = drei;\n", source: .ours, allowsDeletions: true)
        #expect(text(partial) == "a = 1;\nb = 2;\nc = drei;\n")
        #expect(partial.report.decisions.map(\.rule) == ["a partial export removes nothing"])
        let empty = try mergeStrings(
            base: Bytes(Writing.utf16LittleMark.bytes(base)), ours: Bytes(Writing.utf16LittleMark.bytes(base)), theirs: Bytes([0xff, 0xfe]))
        #expect(empty.isUnchanged)
        #expect(empty.report.decisions.map(\.rule) == ["an empty file removes nothing"])
    }

    @Test func `a UTF-16 table merges with a UTF-8 one, and stays UTF-16`() throws {
        let base = "/* é */\n\"a\" = \"日本\";\n"
        let theirs = base + "\n/* neu */\n\"b\" = \"🌍\";\n"
        for target in Writing.allCases {
            for other in Writing.allCases {
                let result = try mergeStrings(base: Bytes(other.bytes(base)), ours: Bytes(target.bytes(base)), theirs: Bytes(other.bytes(theirs)))
                let isExact = result.bytes.array == target.bytes(theirs)
                #expect(isExact, "\(target) from \(other)")
            }
        }
    }

    @Test func `of a key that stands twice the last copy counts, and the merge adds none`() throws {
        let base = "a = 1;\nb = 2;\na = 3;\n"
        let result = try merged(base, base, "a = 1;\nb = 2;\na = drei;\nc = 4;\n")
        #expect(text(result) == "a = 1;\nb = 2;\na = drei;\nc = 4;\n")
        #expect(result.report.damages.contains { $0.contains("ours, line 1") })
        #expect(text(try merged(base, base, "b = 2;\n")) == "b = 2;\n")
    }

    @Test func `a renamed key takes the other side's edit along`() throws {
        let base = "\"old.title\" = \"Titel\";\nb = 2;\n"
        let renamed = "\"new.title\" = \"Titel\";\nb = 2;\n"
        let edited = "\"old.title\" = \"Überschrift\";\nb = 2;\n"
        let expected = "\"new.title\" = \"Überschrift\";\nb = 2;\n"
        for (ours, theirs) in [(renamed, edited), (edited, renamed)] {
            let result = try merged(base, ours, theirs)
            #expect(text(result) == expected)
            #expect(result.report.decisions.map(\.rule) == ["the key was renamed on the other side"])
        }
        #expect(try merged("Titel = Titel;\n", "Neu = Titel;\n", "Titel = Edit;\n").report.conflicts.count == 1)
    }

    // MARK: Comments

    @Test func `a comment comes and goes alone, before a row and behind it`() throws {
        let base = "/* A */\n\"a\" = \"1\";\n\"b\" = \"2\"; // two\n\"c\" = \"3\";\n"
        let theirs = "\"a\" = \"1\"; /* one */\n\"b\" = \"2\";\n// C\n// more\n\"c\" = \"3\";\n"
        #expect(text(try merged(base, base, theirs)) == theirs)
        #expect(text(try merged(theirs, theirs, base)) == base)
        // A text and a comment of one row, from either side.
        let ours = base.replacing("\"1\"", with: "\"eins\"")
        #expect(text(try merged(base, ours, theirs)) == theirs.replacing("\"1\"", with: "\"eins\""))
    }

    @Test func `of two changed comments the source side's counts, and a human's beats a generated one`() throws {
        let (base, ours, theirs) = ("/* x */\na = 1;\n", "/* y */\na = 1;\n", "/* z */\na = 1;\n")
        #expect(text(try merged(base, ours, theirs, source: .theirs)) == theirs)
        #expect(try merged(base, ours, theirs).report.conflicts.map(\.path.field) == ["comment"])
        let generated = "/* No comment provided by engineer. */\na = 1;\n"
        #expect(text(try merged(base, generated, theirs, source: .ours)) == theirs)
    }

    @Test func `a line comment that comes before other rows on its line becomes one with an end`() throws {
        let result = try merged("a = 1; b = 2;\n", "a = 1; b = 2;\n", "a = 1; // one\nb = 2;\n")
        #expect(text(result) == "a = 1; /* one */ b = 2;\n")
    }

    // MARK: Forms

    @Test func `a text table takes rows from an XML one, and the other way round`() throws {
        let xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n<dict>\n\t<key>a</key>\n\t<string>1</string>\n</dict>\n</plist>\n"
        let more = xml.replacing("</dict>", with: "\t<!-- B -->\n\t<key>b &amp; c</key>\n\t<string>2 &lt; \"3\"</string>\n</dict>")
        #expect(text(try merged(xml, "a = 1;\n", more)) == "a = 1;\n/* B */\n\"b & c\" = \"2 < \\\"3\\\"\";\n")
        #expect(text(try merged("a = 1;\n", xml, "a = 1;\n/* B */\n\"b & c\" = \"2 < \\\"3\\\"\";\n")) == more.replacing("\"3\"", with: "\"3\""))
    }

    @Test func `an XML table keeps its tabs, its DOCTYPE and its entities`() throws {
        let base = dict("\t<key>a</key>\n\t<string>&#x41; &amp; <![CDATA[<b>]]></string>\n\n\t<key>c</key>  <string>3</string>\n")
        let result = try merged(base, base, base.replacing(">3<", with: ">drei &gt; &quot;2&quot;<"), .strings)
        #expect(text(result) == base.replacing(">3<", with: ">drei &gt; &quot;2&quot;<"))
    }

    // MARK: Plurals

    @Test func `categories merge one by one`() throws {
        let base = dict(plural("k", [("one", "1"), ("other", "n")]))
        let ours = dict(plural("k", [("one", "eins"), ("other", "n")]))
        let theirs = dict(plural("k", [("one", "1"), ("few", "wenige"), ("other", "viele")]))
        let result = try merged(base, ours, theirs, .stringsdict, TableLanguage(code: "ru"))
        #expect(text(result) == dict(plural("k", [("one", "eins"), ("few", "wenige"), ("other", "viele")])))
        let conflict = try merged(base, ours, dict(plural("k", [("one", "uno"), ("other", "n")])), .stringsdict)
        #expect(conflict.report.conflicts.map(\.path.field) == ["n.one"])
    }

    @Test func `a language never loses other where two changes are put together, and an edited category stays where CLDR needs it`() throws {
        let base = dict(plural("k", [("one", "1"), ("few", "2"), ("other", "n")]))
        let withoutOther = dict(plural("k", [("one", "1"), ("few", "2")]))
        let withEdit = dict(plural("k", [("one", "eins"), ("few", "2"), ("other", "n")]))
        #expect(try merged(base, withEdit, withoutOther, .stringsdict).isUnchanged)
        #expect(text(try merged(base, withoutOther, withEdit, .stringsdict)) == withEdit)
        // A change of one side alone is taken as it is, as in a catalog; `check` reports what is missing.
        for source in [SourceSide.none, .ours, .theirs] {
            let taken = try merged(base, base, withoutOther, .stringsdict, source: source)
            #expect(text(taken) == withoutOther)
            #expect(taken.report.losses.map(\.text) == ["n"])
            #expect(try merged(base, withoutOther, base, .stringsdict, source: source).isUnchanged)
        }
        let edited = dict(plural("k", [("one", "1"), ("few", "zwei"), ("other", "n")]))
        let withoutFew = dict(plural("k", [("one", "1"), ("other", "n")]))
        #expect(try merged(base, edited, withoutFew, .stringsdict, TableLanguage(code: "ru")).isUnchanged)
        let french = try merged(base, edited, withoutFew, .stringsdict, TableLanguage(code: "fr"))
        #expect(text(french) == withoutFew)
        #expect(french.report.losses.map(\.text) == ["zwei"])
    }

    @Test func `a format must have its variables, and the variables a use`() throws {
        let base = dict(plural("k", [("other", "%d files")]))
        // One side renames the variable, the other edits the format: together they would not fit.
        let ours = dict(plural("k", [("other", "%d files")], format: "%#@m@", variable: "m"))
        let theirs = dict(plural("k", [("other", "%d files")], format: "In all: %#@n@"))
        let conflict = try merged(base, ours, theirs, .stringsdict, rules: [.init(choice: .theirs)])
        #expect(conflict.isUnchanged)
        #expect(conflict.report.conflicts.map(\.why).first?.contains("variable \"n\"") == true)
    }

    @Test func `what is wrong in a plural is found with its line: a missing variable, an unused one, ru without few`() throws {
        let document = try TableDocument(parsing: Bytes(Array(dict(
            plural("a", [("one", "1"), ("many", "5"), ("other", "n")]), plural("b", [("one", "1")], format: "%#@x@")).utf8)))
        let findings = document.findings(kind: .stringsdict, language: TableLanguage(code: "ru"))
        #expect(Set(findings.map { "\($0.key) \($0.rule.rawValue)" }) == ["a missing-category", "b missing-variable", "b unused-variable", "b missing-other", "b missing-category"])
        #expect(findings.first?.line == 5)
        #expect(findings.first?.sentence.contains("the category few, which ru needs") == true)
    }

    @Test func `a merge that leaves ru without few says so`() throws {
        let base = dict(plural("k", [("one", "1"), ("few", "2"), ("many", "5"), ("other", "n")]))
        let result = try merged(base, base, dict(plural("k", [("one", "1"), ("many", "5"), ("other", "n")])), .stringsdict, TableLanguage(code: "ru"))
        #expect(result.report.damages.contains { $0.contains("few") })
        #expect(result.report.losses.map(\.text) == ["2"])
    }

    @Test func `the type of a variable belongs to the source branch`() throws {
        func entry(_ type: String) -> String { dict(plural("k", [("other", "n")], valueType: type)) }
        #expect(text(try merged(entry("d"), entry("ld"), entry("lu"), .stringsdict, source: .theirs)) == entry("lu"))
        #expect(try merged(entry("d"), entry("ld"), entry("lu"), .stringsdict).hasConflicts)
    }

    @Test func `rules of width and device are merged by key`() throws {
        let width = "\t<key>w</key>\n\t<dict>\n\t\t<key>NSStringVariableWidthRuleType</key>\n\t\t<dict>\n\t\t\t<key>20</key>\n\t\t\t<string>S</string>\n\t\t\t<key>50</key>\n\t\t\t<string>Long</string>\n\t\t</dict>\n\t</dict>\n"
        let result = try merged(
            dict(width), dict(width.replacing(">S<", with: ">Short<")), dict(width.replacing(">Long<", with: ">Longer<")), .stringsdict)
        #expect(text(result) == dict(width.replacing(">S<", with: ">Short<").replacing(">Long<", with: ">Longer<")))
    }

    @Test func `a new plural is written in the target's indent`() throws {
        let spaced = dict(plural("a", [("other", "n")])).replacing("\t", with: "  ")
        let theirs = dict(plural("a", [("other", "n")]), plural("b", [("one", "1"), ("other", "n")]))
        #expect(text(try merged(dict(plural("a", [("other", "n")])), spaced, theirs, .stringsdict)) == theirs.replacing("\t", with: "  "))
        let empty = "<plist version=\"1.0\">\n<dict/>\n</plist>\n"
        let filled = try merged(empty, empty, theirs, .stringsdict)
        #expect(try TableDocument(parsing: filled.bytes).entries.map(\.key) == ["a", "b"])
    }

    // MARK: Inputs

    @Test func `an input that cannot be read is named with its place`() throws {
        let error = try #require(throws: TableInputError.self) { try merged("a = 1;\n", "a = 1;\n", "a = 1\nb = 2;\n") }
        #expect(error.description == "theirs: line 1, column 6: the ';' is missing after the value of \"a\"")
    }

    @Test(arguments: [
        ("App/fr.lproj/Localizable.strings", "fr", false), ("App/en.lproj/A.strings", "en", true), ("Base.lproj/A.strings", "en", true),
        ("App/Localizable.strings", nil, false), ("a/pt_BR.lproj/b/C.strings", "pt_BR", false),
    ] as [(String, String?, Bool)])
    func `a folder names the language`(_ path: String, _ code: String?, _ isSource: Bool) {
        let language = TableLanguage(path: path)
        #expect(language.code == code)
        #expect(language.isSource == isSource)
    }
}
