import StringCatalog
import StringsTable
import Testing

@Suite struct `The source language of a table` {
    private func find(_ files: [String: String], in folder: String) -> String? {
        sourceLanguage(
            ofTablesIn: folder,
            names: { folder in
                Set(files.keys.compactMap { path -> String? in
                    guard folder.isEmpty || path.hasPrefix(folder + "/") else { return nil }
                    return path.dropFirst(folder.isEmpty ? 0 : folder.count + 1).split(separator: "/").first.map(String.init)
                }).sorted()
            },
            read: { files[$0].map { Bytes(Array($0.utf8)) } })
    }

    private func project(_ region: String) -> String { "// !$*UTF8*$!\n{\n\tobjects = {\n\t\t\tdevelopmentRegion = \(region);\n\t\t\tknownRegions = (\n\t\t\t\ten,\n" }

    @Test func `is that of the nearest project or package above`() {
        let files = [
            "Shop/Shop.xcodeproj/project.pbxproj": project("de"), "Kit/Package.swift": "let package = Package(\n    name: \"Kit\",\n    defaultLocalization: \"fr\",\n",
            "Old.xcodeproj/project.pbxproj": project("English"), "Shop/Han/Han.xcodeproj/project.pbxproj": project("\"zh-Hans\""),
        ]
        #expect(find(files, in: "Shop/App/Resources") == "de")
        #expect(find(files, in: "Shop") == "de")
        #expect(find(files, in: "Shop/Han/App") == "zh-Hans")
        #expect(find(files, in: "Kit/Sources/Kit") == "fr")
        #expect(find(files, in: "Elsewhere") == "en")
        #expect(find(files, in: "") == "en")
    }

    @Test func `is that of the catalogs beside it before that of a project, and of catalogs elsewhere never`() {
        let catalog = "{\"sourceLanguage\":\"ja\",\"strings\":{},\"version\":\"1.0\"}"
        let files = ["App.xcodeproj/project.pbxproj": project("de"), "App/Localizable.xcstrings": catalog, "App/Broken.xcstrings": "{"]
        #expect(find(files, in: "App") == "ja")
        #expect(find(files, in: "App/Inner") == "de")
    }

    @Test func `is unknown where nothing tells, and where two contradict each other`() {
        #expect(find([:], in: "App") == nil)
        #expect(find(["a.xcodeproj/project.pbxproj": project("de"), "b.xcodeproj/project.pbxproj": project("fr")], in: "App") == nil)
        #expect(find(["a.xcodeproj/project.pbxproj": "developmentRegion", "Package.swift": "defaultLocalization: nil"], in: "") == nil)
        #expect(find(["a.xcodeproj/project.pbxproj": "developmentRegion = ;"], in: "") == nil)
        #expect(find(["app/.git": "", "a.xcodeproj/project.pbxproj": project("de")], in: "app") == nil)
    }

    @Test func `makes a folder the source's under its old name and under an alias`() {
        #expect(TableLanguage(path: "English.lproj/A.strings").isSource)
        #expect(TableLanguage(path: "en.lproj/A.strings", sourceLanguage: "English").isSource)
        #expect(TableLanguage(path: "de.lproj/A.strings", sourceLanguage: "de").isSource)
        #expect(!TableLanguage(path: "en.lproj/A.strings", sourceLanguage: "de").isSource)
        var aliases = LanguageAliases()
        aliases.unite(["zh-CN", "zh-Hans"])
        #expect(TableLanguage(path: "zh_CN.lproj/A.strings", sourceLanguage: "zh-Hans", aliases: aliases).isSource)
        #expect(!TableLanguage(path: "zh_CN.lproj/A.strings", sourceLanguage: "zh-Hans").isSource)
    }
}

@Suite struct `Aliases of languages` {
    @Test func `are one language whatever the order in which they were named`() {
        let lines = [["zh-CN", "zh-Hans"], ["zh", "zh_Hans"], ["pt", "PT-br"], ["no", "nb", "nn"]]
        for order in [lines, lines.reversed(), [lines[1], lines[3], lines[0], lines[2]]] {
            var aliases = LanguageAliases()
            for line in order { aliases.unite(line) }
            var expected = LanguageAliases()
            for line in lines { expected.unite(line) }
            #expect(aliases == expected)
            var half = LanguageAliases()
            half.unite(order[0])
            #expect(half.united(with: aliases) == expected)
        }
        var none = LanguageAliases()
        none.unite(["fr"])
        none.unite(["fr", "FR"])
        #expect(none.isEmpty)
    }
}
