import StringCatalog
import StringsTable
import Testing

private func localized(_ language: String, _ text: String, _ kind: TableKind = .strings) throws -> LocalizedTable {
    LocalizedTable(language: language, kind: kind, document: try TableDocument(parsing: Bytes(Array(text.utf8))))
}

private func dict(_ inside: String) -> String { "<plist version=\"1.0\"><dict>\(inside)</dict></plist>" }

private func entry(_ key: String, _ format: String, _ variables: (name: String, type: String, categories: [(String, String)])...) -> String {
    "<key>\(key)</key><dict><key>NSStringLocalizedFormatKey</key><string>\(format)</string>"
        + variables.map { variable in
            "<key>\(variable.name)</key><dict><key>NSStringFormatSpecTypeKey</key><string>NSStringPluralRuleType</string>"
                + "<key>NSStringFormatValueTypeKey</key><string>\(variable.type)</string>"
                + variable.categories.map { "<key>\($0.0)</key><string>\($0.1)</string>" }.joined() + "</dict>"
        }.joined() + "</dict>"
}

private func text(_ bytes: Bytes) -> String { String(decoding: bytes.array, as: UTF8.self) }

@Suite struct `Migration to a catalog` {
    @Test func `is key for key in Xcode's bytes, with comments, states and order`() throws {
        let migration = try migrated([
            localized("fr", "cancel = \"Annuler\";\n"), localized("en", "/* Title */\ntitle = \"A \\\"b\\\"\";\n/* No comment provided by engineer. */\ncancel = \"Cancel\";\n"),
        ])
        #expect(text(migration.bytes) == """
            {
              "sourceLanguage" : "en",
              "strings" : {
                "cancel" : {
                  "extractionState" : "migrated",
                  "localizations" : {
                    "en" : {
                      "stringUnit" : {
                        "state" : "translated",
                        "value" : "Cancel"
                      }
                    },
                    "fr" : {
                      "stringUnit" : {
                        "state" : "translated",
                        "value" : "Annuler"
                      }
                    }
                  }
                },
                "title" : {
                  "comment" : "Title",
                  "extractionState" : "migrated",
                  "localizations" : {
                    "en" : {
                      "stringUnit" : {
                        "state" : "translated",
                        "value" : "A \\"b\\""
                      }
                    }
                  }
                }
              },
              "version" : "1.0"
            }
            """)
        #expect(migration.counts.map { "\($0.language) \($0.keys) \($0.texts)" } == ["en 2 2", "fr 1 1"])
        #expect(migration.left.isEmpty)
    }

    @Test func `makes plurals of one variable, and substitutions of more`() throws {
        let migration = try migrated([
            localized("en", dict(
                entry("files", "%#@n@", ("n", "d", [("one", "%d file"), ("other", "%d files")]))
                    + entry("both", "%1$#@a@ in %2$#@b@", ("a", "ld", [("other", "%ld files")]), ("b", "d", [("one", "one folder"), ("other", "%2$d folders, 100%%")]))
                    + entry("rest", "You have %#@n@", ("n", "lu", [("other", "%lu")]))), .stringsdict)
        ])
        let leaves = changes(from: nil, to: try CatalogDocument(parsing: migration.bytes))
            .filter { $0.path.language != nil && !$0.isOfState }.map { "\($0.path.key!) \($0.path.field!) = \($0.new!)" }
        #expect(Set(leaves) == [
            "both value = %1$#@a@ in %2$#@b@", "both substitutions.a.argNum = 1", "both substitutions.a.formatSpecifier = ld",
            "both substitutions.a.plural.other.value = %arg files", "both substitutions.b.argNum = 2", "both substitutions.b.formatSpecifier = d",
            "both substitutions.b.plural.one.value = one folder", "both substitutions.b.plural.other.value = %arg folders, 100%%",
            "files plural.one.value = %d file", "files plural.other.value = %d files",
            "rest value = You have %#@n@", "rest substitutions.n.formatSpecifier = lu", "rest substitutions.n.plural.other.value = %arg",
        ])
        #expect(migration.counts.map(\.texts) == [8])
    }

    @Test func `says what a catalog cannot hold`() throws {
        let migration = try migrated([
            localized("en", "a = 1;\na = 2;\nb = (x);\nfiles = \"plain\";\n"),
            localized("en", dict(
                "<key>w</key><dict><key>NSStringVariableWidthRuleType</key><dict><key>20</key><string>S</string></dict></dict>"
                    + entry("files", "%#@n@", ("n", "d", [("other", "%d files")]))
                    + "<key>d</key><dict><key>NSStringDeviceSpecificRuleType</key><dict><key>mac</key><string>Click</string><key>other</key><string>Tap</string></dict></dict>"), .stringsdict),
        ])
        #expect(migration.left.map(\.key) == ["a", "b", "w", "files"])
        let fields = changes(from: nil, to: try CatalogDocument(parsing: migration.bytes)).filter(\.isOfText).map { "\($0.path.key!) \($0.path.field!)" }
        #expect(Set(fields) == ["a value", "files plural.other.value", "d device.mac.value", "d device.other.value"])
    }
}

@Suite struct `A merge across the migration` {
    private let english = "cancel = Cancel;\ntitle = Title;\n"
    private let french = "cancel = Annuler;\ntitle = Titre;\n"
    private let plural = dict(entry("files", "%#@n@", ("n", "d", [("one", "%d fichier"), ("other", "%d fichiers")])))
    private let substituted = dict(entry("both", "%#@a@ %#@b@", ("a", "d", [("other", "%d a")]), ("b", "d", [("other", "%d b")])))

    @Test func `brings edits of tables into the catalog, to be reviewed`() throws {
        let base = [try localized("en", english), try localized("fr", french), try localized("fr", plural, .stringsdict)]
        let catalog = try CatalogDocument(parsing: migrated(base).bytes)
        let edited = [
            try localized("en", english + "done = Done;\n"),
            try localized("fr", french.replacing("Annuler", with: "\"Abandonner\"") + "done = Fini;\n"),
            try localized("fr", plural.replacing("%d fichiers", with: "%d documents"), .stringsdict),
        ]
        let merged = try mergeAcrossMigration(base: base, edited: edited, into: catalog)
        let changed = changes(from: catalog, to: try CatalogDocument(parsing: merged.bytes)).filter { !$0.isOfKey && $0.path.field != "extractionState" }
            .map { "\($0.path.key!) \($0.path.language!) \($0.path.field!) \($0.new!)" }
        #expect(Set(changed) == [
            "cancel fr state needs_review", "cancel fr value Abandonner", "done en state translated", "done en value Done", "done fr state needs_review",
            "done fr value Fini", "files fr plural.other.state needs_review", "files fr plural.other.value %d documents",
        ])
        #expect(merged.report.decisions.count { $0.rule.hasPrefix("edited in a table") } == 4)
        #expect(try mergeAcrossMigration(base: base, edited: edited, into: CatalogDocument(parsing: merged.bytes)).isUnchanged)
        #expect(try mergeAcrossMigration(base: base, edited: base, into: catalog).isUnchanged)
    }

    @Test func `brings edits of the catalog back into tables that have not migrated`() throws {
        let plain = try localized("fr", "/* C */\n\"cancel\" = \"Annuler\";\n\ntitle = Titre;\n")
        let files = dict("\n" + entry("files", "%#@n@", ("n", "d", [("one", "%d fichier"), ("other", "%d fichiers")])) + entry("both", "%#@a@ %#@b@", ("a", "d", [("other", "%d a")]), ("b", "d", [("other", "%d b")])) + "\n")
        let plurals = try localized("fr", files, .stringsdict)
        let base = try CatalogDocument(parsing: migrated([plain, plurals]).bytes)
        let edited = try CatalogDocument(parsing: Bytes(Array(text(base.bytes)
            .replacing("\"Annuler\"", with: "\"Abandonner « ça »\"").replacing("%d fichiers", with: "%d documents").replacing("%arg b", with: "%arg B")
            .replacing("\"title\" : {", with: "\"new\" : { \"comment\" : \"N\", \"localizations\" : { \"fr\" : { \"stringUnit\" : { \"state\" : \"translated\", \"value\" : \"Neuf\" } } } },\n\"title\" : {").utf8)))
        let back = try mergeAcrossMigration(base: base, edited: edited, into: plain, since: plain.document)
        #expect(text(back.bytes) == "/* C */\n\"cancel\" = \"Abandonner « ça »\";\n\ntitle = Titre;\n\n/* N */\n\"new\" = \"Neuf\";\n")
        let backPlurals = try mergeAcrossMigration(base: base, edited: edited, into: plurals, since: plurals.document)
        #expect(text(backPlurals.bytes) == files.replacing("%d fichiers", with: "%d documents").replacing("%d b", with: "%d B"))
        // A table that went on differently keeps what it did.
        let moved = try localized("fr", "title = \"Titre!\";\n\"cancel\" = \"Annuler\";\n")
        let merged = try mergeAcrossMigration(base: base, edited: edited, into: moved, since: plain.document)
        #expect(text(merged.bytes).hasPrefix("title = \"Titre!\";\n"))
        #expect(try TableDocument(parsing: merged.bytes).entries.map(\.text).contains("Abandonner « ça »"))
    }

    @Test func `adds plurals that are new in the catalog to a table of plurals`() throws {
        let empty = try localized("en", "<plist version=\"1.0\">\n<dict>\n</dict>\n</plist>\n", .stringsdict)
        let full = try localized("en", dict(entry("files", "%#@n@", ("n", "ld", [("one", "%ld file"), ("other", "%ld files")])) + entry("both", "%#@a@ of %#@b@", ("a", "d", [("other", "%d a")]), ("b", "d", [("other", "%d b")]))), .stringsdict)
        let base = try CatalogDocument(parsing: migrated([empty]).bytes)
        let edited = try CatalogDocument(parsing: migrated([full]).bytes)
        let back = try mergeAcrossMigration(base: base, edited: edited, into: empty, since: empty.document)
        let table = try TableDocument(parsing: back.bytes)
        #expect(Set(table.entries.map(\.key)) == ["files", "both"])
        #expect(try text(migrated([localized("en", text(back.bytes), .stringsdict)]).bytes) == text(edited.bytes))
    }

    @Test func `brings edits of substitutions, and keeps what the catalog's branch did`() throws {
        let base = [try localized("fr", substituted, .stringsdict)]
        let migratedText = text(try migrated(base).bytes)
        let catalog = try CatalogDocument(parsing: Bytes(Array(migratedText.replacing("%arg a", with: "%arg A").utf8)))
        let merged = try mergeAcrossMigration(base: base, edited: [localized("fr", substituted.replacing("%d b", with: "%d B"), .stringsdict)], into: catalog)
        #expect(!merged.hasConflicts)
        #expect(text(merged.bytes).contains("\"%arg A\""))
        #expect(text(merged.bytes).contains("\"state\" : \"needs_review\",\n                      \"value\" : \"%arg B\""))
    }
}
