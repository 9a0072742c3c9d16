import Testing

@testable import StringCatalog

/// Faults that people have reported of merges and translation platforms, rebuilt small, each with the right outcome.
@Suite("Reported faults") struct ReportedFaultsTests {
    /// A catalog in Xcode's style of entries that are given as their inner lines.
    private func catalog(_ entries: [(key: String, json: String)]) throws -> CatalogDocument {
        let body = entries.map { "    \"\($0.key)\" : \($0.json)" }.joined(separator: ",\n")
        return try CatalogDocument(parsing: Bytes(Array("{\n  \"sourceLanguage\" : \"en\",\n  \"strings\" : {\n\(body)\n  },\n  \"version\" : \"1.0\"\n}".utf8)))
    }

    private func entry(_ texts: [(String, String)], state: String? = "translated", fields: String = "") -> String {
        let units = texts.map { "\"\($0.0)\" : { \"stringUnit\" : { \(state.map { "\"state\" : \"\($0)\", " } ?? "")\"value\" : \"\($0.1)\" } }" }
        return "{ \(fields)\"localizations\" : { \(units.joined(separator: ", ")) } }"
    }

    private func text(_ merged: CatalogMerge, _ key: String, _ language: String, _ field: String = "stringUnit.value") -> String? {
        let document = try? CatalogDocument(parsing: merged.bytes)
        return document?.value(at: LeafPath(key: key, language: language, field: field))
    }

    @Test func `a key that both branches add far apart stands once, with the languages of both`() throws {
        let filler = (0..<30).map { (key: "k\($0)", json: "{\n\n    }") }
        let base = try catalog(filler)
        let ours = try catalog([(key: "New", json: entry([("de", "Neu")]))] + filler)
        let theirs = try catalog(filler + [(key: "New", json: entry([("fr", "Nouveau")]))])
        let merged = try merge(base: base, ours: ours, theirs: theirs)
        #expect(!merged.hasConflicts)
        #expect(try CatalogDocument(parsing: merged.bytes).hasDuplicates == false)
        #expect(text(merged, "New", "de") == "Neu" && text(merged, "New", "fr") == "Nouveau")
    }

    @Test func `a rename with ten languages arrives whole beside edits of other keys`() throws {
        let languages = ["de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt-BR", "ru"].map { ($0, "Text \($0)") }
        let base = try catalog([(key: "old", json: entry(languages)), (key: "other", json: entry([("de", "A")]))])
        let ours = try catalog([(key: "new", json: entry(languages)), (key: "other", json: entry([("de", "A")]))])
        let theirs = try catalog([(key: "old", json: entry(languages)), (key: "other", json: entry([("de", "B")]))])
        let merged = try merge(base: base, ours: ours, theirs: theirs)
        #expect(!merged.hasConflicts)
        for (language, expected) in languages {
            #expect(text(merged, "new", language) == expected)
            #expect(text(merged, "old", language) == nil)
        }
        #expect(text(merged, "other", "de") == "B")
    }

    @Test func `a non-breaking space is another text than a space, so that an export cannot replace an edit of it unseen`() throws {
        let base = try catalog([(key: "k", json: entry([("fr", "Prix : 5")]))])
        let ours = try catalog([(key: "k", json: entry([("fr", "Prix\u{a0}: 5")], state: "needs_review"))])
        let theirs = try catalog([(key: "k", json: entry([("fr", "Prix : 5")], state: "translated"))])
        // The export says what base said: the edit and its doubt stay.
        let kept = try merge(base: base, ours: ours, theirs: theirs)
        #expect(text(kept, "k", "fr") == "Prix\u{a0}: 5" && text(kept, "k", "fr", "stringUnit.state") == "needs_review")
        // Two edits that differ in this only are a conflict, not the same.
        let other = try catalog([(key: "k", json: entry([("fr", "Prix\u{202f}: 5")]))])
        #expect(try merge(base: base, ours: ours, theirs: other).report.conflicts.count == 1)
    }

    @Test func `a text that equals its source keeps its state`() throws {
        let base = try catalog([(key: "OK", json: entry([("de", "OK"), ("en", "OK")]))])
        let theirs = try catalog([(key: "OK", json: entry([("de", "OK"), ("en", "OK"), ("fr", "OK")]))])
        let merged = try merge(base: base, ours: base, theirs: theirs, policy: MergePolicy(sourceSide: .ours, flagsStale: true))
        #expect(text(merged, "OK", "de", "stringUnit.state") == "translated" && text(merged, "OK", "fr", "stringUnit.state") == "translated")
    }

    @Test func `an export without states takes none away, and its new texts need a look`() throws {
        let base = try catalog([(key: "k", json: entry([("de", "A"), ("fr", "B")]))])
        let theirs = try catalog([(key: "k", json: entry([("de", "A"), ("fr", "C")], state: nil))])
        let merged = try merge(base: base, ours: base, theirs: theirs, policy: MergePolicy(sourceSide: .ours))
        #expect(text(merged, "k", "de", "stringUnit.state") == "translated")
        #expect(text(merged, "k", "fr") == "C" && text(merged, "k", "fr", "stringUnit.state") == "needs_review")
    }

    @Test(arguments: ["\"extractionState\" : \"manual\", ", "\"comment\" : \"A button\", ", "\"shouldTranslate\" : false, ", "\"comment\" : \"A button\", \"isCommentAutoGenerated\" : true, "])
    func `an export that leaves fields of the source branch out removes none`(fields: String) throws {
        let base = try catalog([(key: "k", json: entry([("fr", "B")], fields: fields))])
        let theirs = try catalog([(key: "k", json: entry([("fr", "C")]))])
        let there = try merge(base: base, ours: base, theirs: theirs, policy: MergePolicy(sourceSide: .ours))
        let expected = try catalog([(key: "k", json: entry([("fr", "C")], fields: fields))])
        #expect(there.bytes.array == expected.bytes.array)
        // And on the way back they return to the translators' branch.
        let back = try merge(base: base, ours: theirs, theirs: base, policy: MergePolicy(sourceSide: .theirs))
        #expect(changes(from: try CatalogDocument(parsing: there.bytes), to: try CatalogDocument(parsing: back.bytes)).isEmpty)
    }

    @Test func `a new English text asks for another look at nine translations, if that is wanted, and at one that was made meanwhile always`() throws {
        let languages = ["de", "es", "fr", "it", "ja", "ko", "nl", "pl", "ru"]
        func texts(_ english: String, french: String = "fr") -> [(String, String)] {
            (["en"] + languages).sorted().map { ($0, $0 == "en" ? english : $0 == "fr" ? french : $0) }
        }
        let base = try catalog([(key: "k", json: entry(texts("Save")))])
        let ours = try catalog([(key: "k", json: entry(texts("Save a copy")))])
        let theirs = try catalog([(key: "k", json: entry(texts("Save", french: "Enregistrer")))])
        let merged = try merge(base: base, ours: ours, theirs: theirs, policy: MergePolicy(sourceSide: .ours))
        #expect(text(merged, "k", "fr") == "Enregistrer" && text(merged, "k", "fr", "stringUnit.state") == "needs_review")
        #expect(text(merged, "k", "de", "stringUnit.state") == "translated")
        let flagged = try merge(base: base, ours: ours, theirs: theirs, policy: MergePolicy(sourceSide: .ours, flagsStale: true))
        for language in languages { #expect(text(flagged, "k", language, "stringUnit.state") == "needs_review", "\(language)") }
    }

    @Test func `what is not translated is not filled with English`() throws {
        let base = try catalog([(key: "k", json: entry([("de", "A"), ("en", "X")]))])
        let ours = try catalog([(key: "k", json: entry([("de", "A"), ("en", "X")])), (key: "n", json: entry([("en", "New")]))])
        let theirs = try catalog([(key: "k", json: entry([("de", "B"), ("en", "X")]))])
        let merged = try merge(base: base, ours: ours, theirs: theirs, policy: MergePolicy(sourceSide: .ours))
        #expect(text(merged, "n", "de") == nil && text(merged, "k", "fr") == nil && text(merged, "k", "de") == "B")
    }
}
