// The doors for `.strings` and `.stringsdict`: the built program, real files, real git.

import Foundation
import Testing

@Suite struct TableDoorTests {
    private func write(_ place: Workplace, _ name: String, _ text: String) throws {
        let file = URL(fileURLWithPath: place.path + "/" + name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try #require(text.data(using: .utf16LittleEndian)).write(to: file)
    }

    private func read(_ place: Workplace, _ name: String) throws -> String? {
        String(data: try Data(contentsOf: URL(fileURLWithPath: place.path + "/" + name)), encoding: .utf16LittleEndian)
    }

    @Test func `git merges tables in UTF-16, which are binary to it, and shows what changed`() throws {
        let place = try Workplace()
        let file = "fr.lproj/Localizable.strings"
        let mark = "\u{feff}"
        try place.git("init", "-q", "-b", "main", "app")
        try write(place, "app/" + file, mark + "/* A */\n\"a\" = \"1\";\n\n\"b\" = \"2\";\n")
        try place.git("add", "-A", in: "app")
        try place.git("commit", "-qm", "base", in: "app")
        try place.git("checkout", "-qb", "l10n", in: "app")
        try write(place, "app/" + file, mark + "/* A */\n\"a\" = \"1\";\n\n\"b\" = \"deux é\";\n")
        try place.git("commit", "-qam", "theirs", in: "app")
        try place.git("checkout", "-q", "main", in: "app")
        try write(place, "app/" + file, mark + "/* A */\n\"a\" = \"1\";\n\n/* new */\n\"a2\" = \"x\";\n\n\"b\" = \"2\";\n")
        try place.git("commit", "-qam", "ours", in: "app")
        #expect(try place.run(URL(fileURLWithPath: "/usr/bin/git"), ["merge", "-q", "l10n"], in: "app").status == 1)
        try place.git("merge", "--abort", in: "app")

        try place.concord("install-driver", in: "app")
        try place.git("merge", "-q", "-m", "merge", "l10n", in: "app")
        #expect(try read(place, "app/" + file) == mark + "/* A */\n\"a\" = \"1\";\n\n/* new */\n\"a2\" = \"x\";\n\n\"b\" = \"deux é\";\n")
        #expect(try place.git("diff", "HEAD^1", "HEAD", in: "app").contains("+\"b\": deux é"))
    }

    @Test func `git's own merge follows the .concord of the checkout`() throws {
        let place = try Workplace()
        func catalog(_ code: String, _ text: String) -> String {
            "{\n  \"sourceLanguage\" : \"en\",\n  \"strings\" : {\n    \"k\" : {\n      \"localizations\" : {\n        \"\(code)\" : {\n          \"stringUnit\" : {\n"
                + "            \"state\" : \"translated\",\n            \"value\" : \"\(text)\"\n          }\n        }\n      }\n    }\n  },\n  \"version\" : \"1.0\"\n}"
        }
        try place.git("init", "-q", "-b", "main", "app")
        try place.write("app/.concord", "[concord]\n\tpolicy = theirs language=zh-Hans\n\talias = zh-CN zh-Hans\n\tnonsense\n")
        try place.write("app/A.xcstrings", catalog("zh-Hans", "1"))
        try place.git("add", "-A", in: "app")
        try place.git("commit", "-qm", "base", in: "app")
        try place.git("checkout", "-qb", "l10n", in: "app")
        try place.write("app/A.xcstrings", catalog("zh-CN", "3"))
        try place.git("commit", "-qam", "theirs", in: "app")
        try place.git("checkout", "-q", "main", in: "app")
        try place.write("app/A.xcstrings", catalog("zh-Hans", "2"))
        try place.git("commit", "-qam", "ours", in: "app")
        try place.concord("install-driver", in: "app")
        try place.git("merge", "-q", "-m", "merge", "l10n", in: "app")
        #expect(try place.read("app/A.xcstrings") == catalog("zh-Hans", "3"))
    }

    @Test func `the name in --path says of which kind the files are, and of which language`() throws {
        let place = try Workplace()
        for (name, text) in [("base", "a = 1;\n"), ("ours", "a = 2;\n"), ("theirs", "a = 3;\n")] { try place.write(name, text) }
        func merge(_ more: String...) throws -> Workplace.Ran {
            try place.run(program, ["merge", "--base", "base", "--ours", "ours", "--theirs", "theirs", "--output", "out"] + more)
        }
        #expect(try merge().status == 2)
        #expect(try merge("--path", "de.lproj/A.strings").status == 1)
        #expect(try place.read("out") == "a = 2;\n")
        // Translations are the translators', source texts the developers'.
        #expect(try merge("--path", "de.lproj/A.strings", "--source-side", "ours").status == 0)
        #expect(try place.read("out") == "a = 3;\n")
        #expect(try merge("--path", "en.lproj/A.strings", "--source-side", "ours").status == 0)
        #expect(try place.read("out") == "a = 2;\n")
        #expect(try merge("--path", "de.lproj/A.strings", "--source-side", "ours", "--source-language", "de").status == 0)
        #expect(try place.read("out") == "a = 2;\n")
        // A project around the place of the file says so by itself.
        try place.write("App.xcodeproj/project.pbxproj", "developmentRegion = de;\n")
        try place.write("de.lproj/A.strings", "a = 1;\n")
        #expect(try merge("--path", "de.lproj/A.strings", "--source-side", "ours").status == 0)
        #expect(try place.read("out") == "a = 2;\n")
        // Rules, and names of languages.
        #expect(try merge("--path", "zh-CN.lproj/A.strings", "--policy", "ours key=b*", "--policy", "theirs language=zh-Hans", "--alias", "zh-CN zh-Hans").status == 0)
        #expect(try place.read("out") == "a = 3;\n")
        #expect(try merge("--policy", "their").errors.contains("`their` is no policy; did you mean `theirs`?"))
        #expect(try merge("--alias", "zh-CN").status == 64)
        try place.write("theirs", "a = 3\nb = 4;\n")
        let refused = try merge("--path", "de.lproj/A.strings")
        #expect(refused.status == 2)
        #expect(refused.errors.contains("theirs:1:6: the ';' is missing"), "\(refused.errors)")
    }

    @Test func `migrate makes a catalog of each table, counts the keys, and replaces nothing unasked`() throws {
        let place = try Workplace()
        try place.write("en.lproj/Localizable.strings", "/* C */\ncancel = Cancel;\n")
        try place.write("fr.lproj/Localizable.strings", "cancel = Annuler;\n")
        try place.write("en.lproj/InfoPlist.strings", "CFBundleName = App;\n")
        try place.write("Base.lproj/Main.storyboard", "<document/>")
        try place.write("fr.lproj/Main.strings", "\"x.title\" = \"Titre\";\n")
        #expect(try place.concord("migrate", "--dry-run", ".").output.contains("Localizable.xcstrings: keys by language: en 1, fr 1"))
        #expect(!place.has("Localizable.xcstrings"))
        let ran = try place.concord("migrate", ".")
        #expect(ran.status == 1)
        #expect(ran.output.contains("Main: left as it is: it belongs to Base.lproj/Main.storyboard"), "\(ran.output)")
        #expect(try place.read("Localizable.xcstrings").contains("\"value\" : \"Annuler\""))
        #expect(place.has("InfoPlist.xcstrings"))
        #expect(try place.concord("check", "Localizable.xcstrings", "InfoPlist.xcstrings").status == 0)
        #expect(try place.concord("fmt", "--check", "Localizable.xcstrings").status == 0)
        #expect(try place.concord("migrate", ".").errors.contains("--force replaces it"))
        #expect(try place.concord("migrate", "--force", ".").status == 1)
    }
}

@Suite struct TableCheckDoorTests {
    @Test func `check names the fault of a table at its place, and holds translations against the source beside them`() throws {
        let place = try Workplace()
        try place.write("en.lproj/A.strings", "greet = \"Hello %@, %d files\";\nbye = Bye;\n")
        try place.write("fr.lproj/A.strings", "bye = Salut;\ngreet = \"Bonjour %@\";\nbye = \"Au revoir\";\n")
        try place.write("de.lproj/A.strings", "greet = \"Hallo %@, %d Dateien\"\nbye = \"Tschüss\";\n")
        #expect(try place.concord("check", "en.lproj/A.strings").status == 0)
        let french = try place.concord("check", "fr.lproj/A.strings")
        #expect(french.status == 1)
        #expect(french.output.contains("fr.lproj/A.strings:1:1: error:") && french.output.contains("[duplicate-key]"), "\(french.output)")
        #expect(french.output.contains("fr.lproj/A.strings:2:1: error: \"greet\", fr") && french.output.contains("[placeholder-missing]"), "\(french.output)")
        let german = try place.concord("check", "de.lproj/A.strings")
        #expect(german.output.contains("de.lproj/A.strings:1:31: error:") && german.output.contains("the ';' is missing"), "\(german.output)")

        try place.git("init", "-q", "-b", "main")
        try place.git("add", "en.lproj", "fr.lproj", "de.lproj")
        try place.git("commit", "-qm", "tables")
        let tree = try place.concord("check", "--repository", ".", "--ref", "main")
        #expect(tree.output.contains("[placeholder-missing]") && tree.output.contains("[syntax]"), "\(tree.output)")
    }
}
