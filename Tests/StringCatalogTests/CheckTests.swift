import MergeCases
import Testing

@testable import StringCatalog

/// A sound catalog with some entries, as Xcode would write it but for the white space.
private func catalog(_ entries: String, version: String = "1.0") -> String {
    #"{ "sourceLanguage" : "en", "strings" : { \#(entries) }, "version" : "\#(version)" }"#
}

/// One entry with its languages, each given as what stands in its localization.
private func entry(_ key: String, fields: String = "", _ languages: (String, String)...) -> String {
    let localizations = languages.map { #""\#($0.0)" : { \#($0.1) }"# }.joined(separator: ", ")
    return #""\#(key)" : { \#(fields.isEmpty ? "" : fields + ", ")"localizations" : { \#(localizations) } }"#
}

private func unit(_ text: String, state: String = "translated") -> String { #""stringUnit" : { "state" : "\#(state)", "value" : "\#(text)" }"# }

private func plural(_ categories: (String, String)...) -> String {
    #""variations" : { "plural" : { \#(categories.map { #""\#($0.0)" : { \#(unit($0.1)) }"# }.joined(separator: ", ")) } }"#
}

private func findings(_ text: String, policy: CheckPolicy = .standard) -> [Finding] { check(Bytes(Array(text.utf8)), policy: policy) }

/// The rules that speak, without those that only note something.
private func rules(_ text: String) -> [CheckRule] { findings(text).filter { $0.severity > .info }.map(\.rule) }

@Suite struct `The structure of a catalog` {
    @Test func `a sound catalog has no findings`() {
        let text = catalog(
            [
                entry("Cancel", ("en", unit("Cancel")), ("de", unit("Abbrechen"))),
                entry("%lld files", ("en", plural(("one", "%lld file"), ("other", "%lld files"))), ("de", plural(("one", "Eine Datei"), ("other", "%lld Dateien")))),
                #""Done" : { "shouldTranslate" : false }"#,
            ].joined(separator: ", "))
        #expect(findings(text).filter { $0.rule != .missingTranslation } == [])
    }

    @Test func `a fault of the grammar is told with its line and column`() {
        let found = findings("{\n  \"strings\" : {\n    \"é\" ; { }\n  }\n}")
        #expect(found.map(\.rule) == [.syntax])
        #expect(found.first.map { [$0.line, $0.column] } == [3, 9])
    }

    @Test func `each conflict left in a file is told with its line`() {
        let conflict = "<<<<<<< HEAD\n    \"a\" : { },\n=======\n    \"b\" : { },\n>>>>>>> l10n/fr\n"
        let found = findings("{\n  \"strings\" : {\n\(conflict)    \"c\" : { },\n\(conflict)    \"d\" : { }\n  }\n}")
        #expect(found.map(\.rule) == [.conflictMarker, .conflictMarker])
        #expect(found.map(\.line) == [3, 9])
    }

    @Test(arguments: [
        (catalog(#""a" : { }, "b" : { }, "a" : { }"#), .duplicateKey),
        // Two spellings of one string are one key.
        (catalog(#""a" : { }, "\u0061" : { }"#), .duplicateKey),
        (catalog(entry("a", ("fr", unit("x")), ("fr", unit("y")))), .duplicateLanguage),
        (catalog(entry("a", ("en", #""stringUnit" : { "state" : "new", "value" : "x", "value" : "y" }"#))), .duplicateMember),
        (catalog(#""a" : { "comment" : "x", "comment" : "y" }"#), .duplicateMember),
        (#"{ "sourceLanguage" : "en", "strings" : { }, "tool" : "x", "version" : "1.0" }"#, .strayMember),
        (#"{ "sourceLanguage" : "en", "strings" : { }, "Cancel" : { "extractionState" : "manual" }, "version" : "1.0" }"#, .strayKey),
        (catalog(#""" : { }"#), .emptyKey),
        (catalog("", version: "2.0"), .version), (catalog("", version: "1.2"), .newerVersion),
        (#"{ "sourceLanguage" : "en", "strings" : { } }"#, .version),
        (#"{ "strings" : { }, "version" : "1.0" }"#, .sourceLanguage),
        (catalog(#""a" : [ ]"#), .malformed), (catalog(#""a" : { "localizations" : { "fr" : "x" } }"#), .malformed),
        (catalog(entry("a", ("fr", #""stringUnit" : { "state" : "new" }"#))), .malformed),
        (catalog(entry("a", ("en", #""stringUnit" : { "value" : "x" }"#))), .missingState),
        (catalog(entry("a", ("en", unit("x", state: "done")))), .unknownState),
        (catalog(#""a" : { "extractionState" : "gone" }"#), .unknownState),
        (catalog(entry("%lld a", ("en", plural(("one", "%lld a"))))), .pluralOther),
        (catalog(entry("%lld a", ("en", plural(("one", "%lld a"), ("oter", "%lld b"), ("other", "%lld as"))))), .unknownVariation),
        (catalog(entry("a", ("en", #""variations" : { "device" : { "iphon" : { \#(unit("x")) }, "other" : { \#(unit("x")) } } }"#))), .unknownVariation),
    ] as [(String, CheckRule)])
    func `each fault is told by its rule, and no other rule speaks`(text: String, rule: CheckRule) { #expect(rules(text) == [rule]) }

    @Test func `of a copy that is hidden only this is told`() {
        let broken = entry("%@ a", ("de", unit("x", state: "done")))
        #expect(rules(catalog(broken + ", " + entry("%@ a", ("de", unit("x %@"))))) == [.duplicateKey])
        #expect(rules(catalog(entry("%@ a", ("de", unit("x %@"))) + ", " + broken)) == [.duplicateKey, .unknownState, .placeholderMissing])
    }

    @Test func `keys that slipped out of strings are told one by one`() {
        let strays = (1...95).map { #""key \#($0)" : { "localizations" : { } }"# }.joined(separator: ", ")
        let found = findings(#"{ "sourceLanguage" : "en", "strings" : { }, \#(strays), "version" : "1.0" }"#)
        #expect(found.count == 95)
        #expect(found.allSatisfy { $0.rule == .strayKey && $0.severity == .error })
        #expect(found.last?.place.key == "key 95")
    }

    @Test func `of two spellings of one language the rarer one is told once`() {
        let entries = [("a", "zh-CN"), ("b", "zh-CN"), ("c", "zh_CN"), ("d", "zh_CN"), ("e", "zh-CN")].map { entry($0, ($1, unit("x"))) }
        let found = findings(catalog(entries.joined(separator: ", "))).filter { $0.rule == .languageSpelling }
        #expect(found.map(\.place.language) == ["zh_CN"])
        let both = catalog(entry("a", ("zh-CN", unit("x")), ("zh_CN", unit("y"))))
        #expect(rules(both).contains(.duplicateLanguage))
    }

    @Test func `an empty object, an empty file and a file cut off are findings, not crashes`() {
        #expect(findings("").map(\.rule) == [.syntax])
        #expect(Set(findings("{}").map(\.rule)) == [.malformed, .sourceLanguage, .version])
        let whole = catalog(entry("a %@", ("en", unit("a %@")), ("fr", plural(("other", "b %@")))))
        for end in 0..<whole.utf8.count { #expect(!check(Bytes(Array(whole.utf8.prefix(end)))).isEmpty) }
    }
}

@Suite struct `Plural categories` {
    @Test(arguments: [
        ("ru", ["one", "other"], "few, many"), ("ru", ["one", "many", "other"], "few"), ("ar", ["one", "other"], "zero, two, few, many"),
        ("pl", ["one", "few", "other"], "many"), ("en", ["other"], "one"),
    ])
    func `one that the language counts with is missed`(language: String, categories: [String], missed: String) {
        let some = #""variations" : { "plural" : { \#(categories.map { #""\#($0)" : { \#(unit("%lld x")) }"# }.joined(separator: ", ")) } }"#
        let found = findings(catalog(entry("%lld a", (language, some)))).filter { $0.rule == .pluralCategory }
        #expect(found.count == 1)
        #expect(found.first?.sentence.hasSuffix("add a text for \(missed)") == true)
    }

    @Test(arguments: [("ja", ["other"]), ("en", ["one", "other"]), ("ru", ["one", "few", "many", "other"]), ("en", ["zero", "one", "other"]), ("cs", ["one", "few", "other"])])
    func `what the language needs is enough, and more is no fault`(language: String, categories: [String]) {
        let some = #""variations" : { "plural" : { \#(categories.map { #""\#($0)" : { \#(unit("%lld x")) }"# }.joined(separator: ", ")) } }"#
        #expect(rules(catalog(entry("%lld a", (language, some)))) == [])
    }

    @Test func `a category of fractions or millions is only noted`() {
        let found = findings(catalog(entry("%lld a", ("fr", plural(("one", "%lld x"), ("other", "%lld y"))))))
        #expect(found.filter { $0.severity > .info } == [])
        #expect(found.contains { $0.rule == .pluralCategoryRare && $0.place.field == "variations.plural" })
    }
}

@Suite struct `Placeholders` {
    @Test(arguments: [
        ("%@ has %lld", "%@ hat %lld", []), ("%@ has %lld", "%2$lld von %1$@", []), ("%@ has %lld", "%lld von %@", [.placeholderType]),
        ("%@ has %lld", "%@ hat", [.placeholderMissing]), ("%@", "%@ und %@", [.placeholderExtra]), ("Done", "Fertig %@", [.placeholderExtra]),
        ("%lld files", "%ld Dateien", []), ("%lld files", "%d Dateien", [.placeholderWidth]), ("%d files", "%u Dateien", []),
        ("%lld files", "%x Dateien", [.placeholderWidth]), ("%f", "%.2f", []), ("%f", "%lld", [.placeholderType]),
        ("%@ of %@", "%1$@ von %@", [.placeholderOrder, .placeholderMissing]), ("%lld %%", "%lld %", [.percentSign]), ("%lld %%", "%lld %%", []),
        ("100%", "100 % davon", []), ("100%% sure", "100% sûr", [.percentSign]), ("100%% sure", "100 %% sûr", []), ("50% off", "50% de remise", []), ("%@", "%1$@", []), ("%@", "%s", [.placeholderType]),
        ("%@", "%arg %@", [.placeholderExtra]), ("%*d x", "%*d y", []), ("%@ 100%% sure", "%@ 100 %% sicher", []),
        ("Version %1$@ (%2$lld)", "Версия %1$@ (%$11d)", [.placeholderMissing, .percentSign]),
    ] as [(String, String, [CheckRule])])
    func `of a translation are held against the source text`(source: String, translation: String, expected: [CheckRule]) {
        #expect(Set(rules(catalog(entry(source, ("en", unit(source)), ("de", unit(translation)))))) == Set(expected))
    }

    @Test func `the key says what is passed, also where the source language has another text`() {
        #expect(rules(catalog(entry("%@ a", ("en", unit("A")), ("de", unit("%@ b"))))) == [])
        #expect(rules(catalog(entry("%@ a", ("en", unit("%@ %@"))))) == [.placeholderExtra])
        #expect(rules(catalog(entry("%@ a", ("de", unit("b"))))) == [.placeholderMissing])
    }

    @Test func `a key that is a name says nothing`() {
        #expect(rules(catalog(entry("files.count", ("de", unit("%lld Dateien"))))) == [])
        #expect(rules(catalog(entry("files.count", ("en", unit("%lld files")), ("de", unit("%@ Dateien"))))) == [.placeholderType])
    }

    @Test func `a plural category may say its number in words, but other may not`() {
        let english = ("en", plural(("one", "%lld file"), ("other", "%lld files")))
        #expect(rules(catalog(entry("%lld files", english, ("de", plural(("one", "Eine Datei"), ("other", "%lld Dateien")))))) == [])
        #expect(rules(catalog(entry("%lld files", english, ("de", plural(("one", "Eine Datei"), ("other", "Dateien")))))) == [.placeholderMissing])
    }

    @Test func `where a category leaves its number out, what remains has to be numbered`() {
        let english = ("en", plural(("one", "%lld file in %@"), ("other", "%lld files in %@")))
        let wrong = catalog(entry("%lld files in %@", english, ("de", plural(("one", "Eine Datei in %@"), ("other", "%lld Dateien in %@")))))
        let found = findings(wrong).filter { $0.severity > .info }
        #expect(found.first?.rule == .placeholderType)
        #expect(found.first?.sentence.contains("%2$@") == true)
        #expect(found.first?.place.field == "variations.plural.one.stringUnit.value")
        #expect(rules(catalog(entry("%lld files in %@", english, ("de", plural(("one", "Eine Datei in %2$@"), ("other", "%lld Dateien in %@")))))) == [])
    }

    @Test func `a substitution has a use, and a use a substitution`() {
        func text(_ value: String, _ name: String) -> String {
            unit(value) + #", "substitutions" : { "\#(name)" : { "argNum" : 1, "formatSpecifier" : "lld", \#(plural(("one", "%arg file"), ("other", "%arg files"))) } }"#
        }
        #expect(rules(catalog(entry("%lld files", ("en", text("%#@files@", "files"))))) == [])
        #expect(rules(catalog(entry("%lld files", ("en", text("%#@files@ and %#@folders@", "files"))))) == [.substitutionMissing])
        #expect(rules(catalog(entry("%lld files", ("en", text("%#@files@", "files")), ("de", text("Dateien: %lld", "files"))))) == [.substitutionUnused])
        #expect(rules(catalog(entry("%lld files", ("en", text("%#@files@", "files")), ("de", unit("%#@files@"))))) == [.substitutionMissing])
        #expect(rules(catalog(entry("%lld files", ("en", text("%#@files@", "files")), ("de", unit("%lld Dateien"))))) == [])
    }

    @Test func `a substitution that counts without showing its number asks no translation to show it`() {
        let counted = unit("%#@n@") + #", "substitutions" : { "n" : { "formatSpecifier" : "lld", \#(plural(("one", "%2$@ follower"), ("other", "%2$@ followers"))) } }"#
        #expect(rules(catalog(entry("%lld %@", ("en", counted), ("ko", unit("%2$@ x"))))) == [])
        #expect(rules(catalog(entry("%lld %@", ("en", counted), ("ko", unit("x"))))) == [.placeholderMissing])
    }

    @Test func `a stale text is not held against its source`() {
        #expect(rules(catalog(entry("%@ a", fields: #""extractionState" : "stale""#, ("de", unit("b"))))) == [])
    }
}

@Suite struct `Texts beside their source` {
    private func notes(_ text: String) -> [CheckRule] { findings(text).map(\.rule).filter { $0 != .missingTranslation } }

    @Test(arguments: [
        ("Settings", "de", "Settings", "", [.equalToSource]), ("Settings", "en-GB", "Settings", "", []), ("Settings", "de", "Einstellungen", "", []),
        ("%lld %%", "de", "%lld %%", "", []), ("12:30", "de", "12:30", "", []), ("iCloud", "de", "iCloud", #""shouldTranslate" : false"#, []),
        ("Name: ", "de", "Name:", "", [.whitespace]), ("Name: ", "de", "Name:\u{a0}", "", [.whitespace]), ("a\\n", "de", "b", "", [.whitespace]),
        ("a ", "de", "b ", "", []), ("a", "de", "\u{a0}b", "", [.whitespace]),
    ] as [(String, String, String, String, [CheckRule])])
    func `equal texts and other white space are noted`(source: String, language: String, text: String, fields: String, expected: [CheckRule]) {
        #expect(notes(catalog(entry(source, fields: fields, ("en", unit(source)), (language, unit(text))))) == expected)
    }

    @Test func `what is not translated yet may still be the source text`() {
        #expect(notes(catalog(entry("Settings", ("de", unit("Settings", state: "new"))))) == [])
    }

    @Test func `a language that lacks texts is told with the first of them`() {
        let text = catalog([entry("a", ("de", unit("x"))), #""b" : { }"#, entry("c", ("fr", unit("y"))), #""d" : { "extractionState" : "stale" }"#].joined(separator: ", "))
        let found = findings(text).filter { $0.rule == .missingTranslation }
        #expect(found.map(\.place.language) == ["de", "fr"])
        #expect(found.first?.sentence == "2 of 3 texts are not translated (33 % are): \"b\", \"c\"")
    }

    @Test(arguments: [
        (["Allow uploads", "Allow Uploads"], 1), (["OK", "Ok"], 1), (["Glucose", "Glucose, "], 1), (["Glucose", "Glucose: %@"], 0),
        (["a.title", "a-title", "a_title"], 2), (["Save", "Saved"], 0), (["%@", "%lld"], 0),
    ])
    func `two keys of one Swift symbol are told`(keys: [String], count: Int) {
        let entries = keys.map { #""\#($0)" : { "extractionState" : "manual" }"# }.joined(separator: ", ")
        #expect(findings(catalog(entries)).count { $0.rule == .symbol } == count)
        // Keys that Xcode takes from the code get no symbols.
        #expect(findings(catalog(keys.map { #""\#($0)" : { }"# }.joined(separator: ", "))).count { $0.rule == .symbol } == 0)
    }
}

@Suite struct `Severities, baselines and merges` {
    private let faulty = catalog([entry("a", ("en", unit("x", state: "done"))), entry("%@ b", ("en", unit("%@ b")), ("de", unit("c")))].joined(separator: ", "))

    @Test func `a policy turns a rule off or changes how loud it is`() {
        var policy = CheckPolicy.standard
        policy[.unknownState] = nil
        policy[.placeholderMissing] = .warning
        #expect(findings(faulty, policy: policy).filter { $0.severity > .info }.map(\.rule) == [.placeholderMissing])
        #expect(findings(faulty, policy: policy).allSatisfy { $0.severity < .error })
        #expect(findings(faulty, policy: .structure).map(\.rule) == [.unknownState])
    }

    @Test func `a fault in a baseline stays known on another line, and a new one shows`() {
        var baseline = Baseline()
        baseline.add(findings(faulty), path: "a/b.xcstrings")
        let read = Baseline(parsing: baseline.text)
        let moved = "\n\n" + faulty
        #expect(read.new(in: findings(moved), path: "a/b.xcstrings").isEmpty)
        #expect(!read.new(in: findings(moved), path: "other.xcstrings").isEmpty)
        let worse = faulty.replacing(#""strings" : {"#, with: #""strings" : { "" : { },"#)
        #expect(read.new(in: findings(worse), path: "a/b.xcstrings").map(\.rule) == [.emptyKey])
    }

    @Test func `a baseline tells keys apart whatever characters they hold`() {
        let keys = ["", "-", "=", "a\\tb", "a\\nb", "a\\\\nb", "\u{2028}", "\u{85}"]
        let identities = Set(keys.flatMap { key in findings(catalog(entry(key, ("en", unit("x", state: "done"))))).filter { $0.rule == .unknownState }.map { $0.identity(path: "p") } })
        #expect(identities.count == keys.count)
        for key in keys {
            let found = findings(catalog(entry(key, ("en", unit("x", state: "done")))))
            var baseline = Baseline()
            baseline.add(found, path: "p")
            #expect(Baseline(parsing: baseline.text).new(in: found, path: "p").isEmpty)
        }
    }

    @Test func `a merge is worse only by errors that neither side has`() throws {
        func document(_ text: String) throws -> CatalogDocument { try CatalogDocument(parsing: Bytes(Array(text.utf8))) }
        let ours = catalog(entry("%@ a", ("en", unit("%@ a")), ("de", unit("x"))))
        let theirs = catalog(entry("%@ a", ("en", unit("%@ a")), ("fr", unit("y"))))
        let both = catalog(entry("%@ a", ("en", unit("%@ a")), ("de", unit("x")), ("fr", unit("y"))))
        #expect(try worsens(ours: document(ours), theirs: document(theirs), result: document(both)).isEmpty)
        let third = catalog(entry("%@ a", ("en", unit("%@ a")), ("de", unit("x")), ("it", unit("z"))))
        #expect(try worsens(ours: document(ours), theirs: document(theirs), result: document(third)).map(\.place.language) == ["it"])
        #expect(try worsens(ours: nil, theirs: nil, result: document(ours)).count == 1)
        // Warnings are no reason to hold a merge.
        #expect(try worsens(ours: nil, theirs: nil, result: document(catalog(#""" : { }"#))).isEmpty)
        // What ours has in the same bytes is not looked at, and a key of the same fault elsewhere does not stand for this one.
        let other = catalog(entry("%@ a", ("en", unit("%@ a")), ("de", unit("x"))) + ", " + entry("%@ b", ("en", unit("%@ b")), ("de", unit("x"))))
        #expect(try worsens(ours: document(ours), theirs: document(theirs), result: document(other)).map(\.place.key) == ["%@ b"])
        #expect(try worsens(ours: document(ours), theirs: document(other), result: document(other)).isEmpty)
        // In another source language the very same entry has another source text.
        let english = catalog(entry("k", ("en", unit("%@")), ("fr", unit("x"))))
        let french = english.replacing(#""sourceLanguage" : "en""#, with: #""sourceLanguage" : "fr""#)
        #expect(try worsens(ours: document(english), theirs: nil, result: document(french)).map(\.place.language) == ["en"])
    }
}

@Suite struct `The coverage of languages` {
    private func counted(_ text: String) throws -> [LanguageCoverage] { coverage(of: try CatalogDocument(parsing: Bytes(Array(text.utf8)))) }

    @Test func `a text counts by its least finished unit, and what need not be translated does not count`() throws {
        let text = catalog(
            [
                entry("a", ("de", unit("1")), ("fr", unit("1", state: "needs_review"))),
                entry("b", ("de", plural(("one", "1"), ("other", "2")))),
                #""c" : { "shouldTranslate" : false }"#,
                entry("d", fields: #""extractionState" : "stale""#, ("de", unit("1"))),
                entry("e", ("de", #""variations" : { "plural" : { "one" : { \#(unit("1", state: "new")) }, "other" : { \#(unit("2")) } } }"#), ("en", unit("e", state: "new"))),
                #""f" : { "localizations" : { "de" : { } } }"#,
            ].joined(separator: ", "))
        let languages = try counted(text)
        #expect(languages.map(\.language) == ["en", "de", "fr"])
        #expect(languages.map(\.texts) == [4, 4, 4])
        #expect(languages.map(\.translated) == [4, 2, 0])
        #expect(languages.map(\.needsReview) == [0, 0, 1])
        #expect(languages.map(\.new) == [0, 1, 0])
        #expect(languages.map(\.missing) == [0, 1, 3])
        #expect(languages.map(\.stale) == [0, 1, 0])
        #expect(languages.map(\.permille) == [1000, 500, 0])
        #expect(languages[2].openKeys == ["b", "e", "f"])
    }

    @Test func `two spellings are one language, and a hidden copy of a key does not count`() throws {
        let languages = try counted(catalog([entry("a", ("zh_CN", unit("1"))), entry("b", ("zh-CN", unit("1"))), entry("b", ("zh-CN", unit("1")))].joined(separator: ", ")))
        #expect(languages.map(\.language) == ["en", "zh_CN"])
        #expect(languages.map(\.translated) == [2, 2])
    }
}

@Suite struct `Damaged catalogs` {
    @Test(.timeLimit(.minutes(30)))
    func `of many members, languages or placeholders cost no more than their bytes`() {
        let count = 10_000
        func many(_ member: (Int) -> String) -> String { (0..<count).map(member).joined(separator: ", ") }
        let plain = #"{ "stringUnit" : { "state" : "new", "value" : "%#@a@" } }"#
        #expect(findings(#"{ "sourceLanguage" : "en", "strings" : { }, \#(many { "\"k\($0)\" : { }" }), "version" : "1.0" }"#).count == count)
        #expect(!findings(catalog(#""a" : { "localizations" : { \#(many { "\"l\($0)\" : \(plain)" }) } }"#)).isEmpty)
        #expect(findings(catalog(#""a" : { \#(many { "\"x\($0)\" : 1" }) }"#)) == [])
        #expect(findings(catalog(#""a" : { \#(many { "\"x\($0 / 2)\" : 1" }) }"#)).count == count / 2)
        let texts = (0..<count).map { "%#@s\($0)@ %\($0)$@" }.joined()
        let entries = many { #""s\#($0)" : { "formatSpecifier" : "lld", \#(plural(("other", "%arg"))) }"# }
        _ = findings(catalog(entry("a", ("en", unit(texts)), ("de", unit(texts) + #", "substitutions" : { \#(entries) }"#))))
    }

    @Test(arguments: 1...40)
    func `never end a check, a count or a formatting`(seed: Int) throws {
        var random = Seeded(seed)
        let pieces = [#"{"#, #"}"#, #"""#, #"\"#, ",", ":", "[", "]", "%", "%#@", "@", "%1$", "*", "\n", "\u{a0}", "null", "1e9", #""variations""#, #""plural""#, #""substitutions""#, #""localizations""#, #"\ud800"#, "<<<<<<< x\n"]
        for situation in MergeCase.all {
            guard var bytes = situation.bytes("ours.xcstrings"), !bytes.isEmpty else { continue }
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let at = Int.random(in: 0...bytes.count, using: &random)
                let end = min(at + Int.random(in: 0...4, using: &random), bytes.count)
                bytes.replaceSubrange(at..<end, with: Array(pieces.randomElement(using: &random)!.utf8))
            }
            let found = check(Bytes(bytes))
            guard let catalog = try? CatalogDocument(parsing: Bytes(bytes)) else {
                #expect(found.contains { $0.severity == .error }, "seed \(seed), \(situation)")
                continue
            }
            _ = coverage(of: catalog)
            let once = formatted(catalog)
            #expect(formatted(try CatalogDocument(parsing: once)).array == once.array, "seed \(seed), \(situation)")
            // Order and white space are no business of a check: it finds the same in both.
            let errors = { (findings: [Finding]) in findings.map { $0.identity(path: "") }.sorted() }
            #expect(errors(check(once)) == errors(found), "seed \(seed), \(situation)")
        }
    }
}
