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

@Suite struct `The doors for files, with tables` {
    @Test func `diff shows tables by key, and says which language`() throws {
        let place = try Workplace()
        try place.write("fr.lproj/A.strings", "/* C */\na = Un;\nb = Deux;\n")
        try place.write("fr.lproj/B.strings", "b = Deux;\na = Une;\nc = Trois;\n")
        let ran = try place.concord("diff", "fr.lproj/A.strings", "fr.lproj/B.strings")
        #expect(ran.status == 1)
        #expect(ran.output == "~ \"a\"\n    fr comment: C → (absent)\n    fr value: Un → Une\n+ \"c\"\n    fr value: Trois\n")
        #expect(try place.concord("diff", "--stat", "fr.lproj/A.strings", "fr.lproj/B.strings").output == "1 key added\nfr: texts 1 added, 1 changed\n")
        #expect(try place.concord("diff", "fr.lproj/A.strings", "fr.lproj/A.strings").status == 0)
        #expect(try place.concord("diff", "fr.lproj/A.strings", "/dev/null").output.hasPrefix("- \"a\"\n"))
        try place.write("A.xcstrings", "{ \"sourceLanguage\" : \"en\", \"strings\" : { }, \"version\" : \"1.0\" }")
        let mixed = try place.concord("diff", "fr.lproj/A.strings", "A.xcstrings")
        #expect(mixed.status == 2 && mixed.errors.contains("only files of one kind"))
    }

    @Test func `stats counts the tables of one name together, against those of the source language`() throws {
        let place = try Workplace()
        try place.write("en.lproj/A.strings", "a = One;\nb = Two;\n")
        try place.write("fr.lproj/A.strings", "a = Un;\n")
        try place.write("de.lproj/A.strings", "a = Eins;\nb = Zwei;\n")
        try place.write("A.xcstrings", "{ \"sourceLanguage\" : \"en\", \"strings\" : { \"k\" : { } }, \"version\" : \"1.0\" }")
        let one = try place.concord("stats", "fr.lproj/A.strings")
        #expect(one.status == 0 && one.output.contains("*.lproj/A.strings(dict)") && one.output.contains("50.0 %") && !one.output.contains("de "))
        let all = try place.concord("stats", "--json", ".")
        #expect(all.status == 0 && all.output.contains("\"language\": \"de\"") && all.output.contains("A.xcstrings"), "\(all.output)")
        try place.write("Base.lproj/A.strings", "a = Hidden;\n")
        #expect(try place.concord("stats", "Base.lproj/A.strings", "en.lproj/A.strings").errors == "")
        try place.write("nl.lproj/Only.strings", "a = Een;\n")
        #expect(try !place.concord("stats", "nl.lproj/Only.strings").output.contains("(source)"))
    }

    @Test func `fmt leaves tables alone and says so, and does not fail because of them`() throws {
        let place = try Workplace()
        try place.write("fr.lproj/A.strings", "b=1;a  =  2;\n")
        try place.write("A.xcstrings", "{\"strings\":{},\"sourceLanguage\":\"en\",\"version\":\"1.0\"}")
        #expect(try place.concord("fmt", "--check", ".").output == "./A.xcstrings\n")
        let ran = try place.concord("fmt", "fr.lproj/A.strings", "A.xcstrings")
        #expect(ran.status == 0 && ran.errors == "concord fmt: fr.lproj/A.strings stays as it is: a table of strings has no canonical form\n", "\(ran.errors)")
        #expect(try place.read("fr.lproj/A.strings") == "b=1;a  =  2;\n")
        #expect(try place.concord("fmt", "--check", ".").status == 0)
    }

    @Test func `check walks a folder, and not what begins with a dot or is a link`() throws {
        let place = try Workplace()
        try place.write("App/fr.lproj/A.strings", "a = Un\n")
        try place.write("App/Deep/er/B.xcstrings", "{ \"sourceLanguage\" : \"en\", \"strings\" : { }, \"version\" : \"1.0\" }")
        try place.write("App/.build/C.strings", "nonsense")
        try place.write("App/readme.txt", "nonsense")
        try FileManager.default.createSymbolicLink(atPath: place.path + "/App/loop", withDestinationPath: "..")
        let ran = try place.concord("check", "App")
        #expect(ran.status == 1 && ran.output.contains("App/fr.lproj/A.strings:1:") && !ran.output.contains(".build") && ran.output.contains("2 catalogs"), "\(ran.output)")
        #expect(try place.concord("check", "App/Deep").status == 0)
        try place.write("Empty/readme.txt", "")
        let empty = try place.concord("check", "Empty")
        #expect(empty.status == 2 && empty.errors.contains("no catalog or table below Empty"))
    }

    @Test func `a pipe or device with a name is refused at once, standard input and what a shell opens are read`() throws {
        let place = try Workplace()
        try place.write("a.strings", "a = 1;\n")
        try place.run(URL(fileURLWithPath: "/usr/bin/mkfifo"), ["pipe.strings"])
        for command in ["check", "stats", "fmt", "textconv"] {
            for path in command == "fmt" ? ["pipe.xcstrings"] : ["pipe.strings", "/dev/zero"] {
                if path == "pipe.xcstrings" { try place.run(URL(fileURLWithPath: "/usr/bin/mkfifo"), [path]) }
                let ran = try place.concord(command, path)
                #expect(ran.status == 2 && ran.errors.contains("no regular file"), "\(command) \(path): \(ran)")
            }
        }
        func shell(_ line: String) throws -> Workplace.Ran { try place.run(URL(fileURLWithPath: "/bin/bash"), ["-c", "C=\(program.path); \(line)"]) }
        #expect(try shell("$C textconv - < a.strings").output == "\"a\": 1\n")
        #expect(try shell("cat a.strings | $C textconv /dev/stdin").output == "\"a\": 1\n")
        #expect(try shell("$C diff <(cat a.strings) <(echo 'a = 2;')").output == "~ \"a\"\n    value: 1 → 2\n")
        #expect(try shell("$C merge --base <(cat a.strings) --ours <(cat a.strings) --theirs <(echo 'a = 2;') --output - --path x.strings").output == "a = 2;\n")
    }

    @Test func `faults of the words are so outside of a repository too`() throws {
        let place = try Workplace()
        for words in [["conflicts"], ["conflicts", "--from", "a"], ["resolve"], ["resolve", "--ref", "main", "k", "--ours"], ["log"], ["explain"], ["restore"]] {
            #expect(try place.run(program, words).status == 64, "\(words)")
        }
        #expect(try place.concord("conflicts", "--from", "a", "--into", "b").status == 2)
    }

    @Test func `conflicts and resolve, log and explain speak of tables and of whole files`() throws {
        let place = try Workplace()
        try place.git("init", "-q", "-b", "main", "app")
        func commit(_ message: String, _ files: [String: String?]) throws {
            for (name, text) in files { if let text { try place.write("app/" + name, text) } else { try place.git("rm", "-q", name, in: "app") } }
            try place.git("add", "-A", in: "app")
            try place.git("commit", "-qm", message, in: "app")
        }
        let catalog = "{ \"sourceLanguage\" : \"en\", \"strings\" : { \"k\" : { \"localizations\" : { \"fr\" : { \"stringUnit\" : { \"state\" : \"translated\", \"value\" : \"Un\" } } } } }, \"version\" : \"1.0\" }"
        try commit("Base", ["fr.lproj/A.strings": "a = Un;\n", "Old.xcstrings": catalog, "New.xcstrings": catalog])
        try place.git("checkout", "-qb", "l10n", in: "app")
        try commit("Theirs", ["fr.lproj/A.strings": "a = Une;\n", "Old.xcstrings": catalog.replacingOccurrences(of: "Un\"", with: "Uno\""), "New.xcstrings": catalog.replacingOccurrences(of: "Un\"", with: "Uno\"")])
        try place.git("checkout", "-q", "main", in: "app")
        try commit("Ours", ["fr.lproj/A.strings": "a = Ung;\n", "Old.xcstrings": nil, "New.xcstrings": catalog.replacingOccurrences(of: "\"k\" : { \"localizations\" : { \"fr\" : { \"stringUnit\" : { \"state\" : \"translated\", \"value\" : \"Un\" } } } }", with: "")])
        try place.git("checkout", "-q", "--detach", in: "app")
        let listed = try place.concord("conflicts", "--from", "l10n", "--into", "main", in: "app")
        #expect(listed.status == 1)
        #expect(listed.output.contains("fr.lproj/A.strings  \"a\" fr value\n  base:   Un\n  ours:   Ung\n  theirs: Une\n"), "\(listed.output)")
        #expect(listed.output.contains("  ours:   (no file)\n"), "\(listed.output)")
        // A whole key is written for people, its texts on lines of their own.
        #expect(listed.output.contains("  theirs:\n      fr state: translated\n      fr value: Uno\n"), "\(listed.output)")
        func resolve(_ words: String...) throws -> Workplace.Ran { try place.run(program, ["resolve", "--ref", "main", "--from", "l10n"] + words, in: "app") }
        #expect(try resolve("a", "fr", "--text", "Un !").status == 0)
        #expect(try place.git("show", "main:fr.lproj/A.strings", in: "app") == "a = \"Un !\";\n")
        #expect(try resolve("Old.xcstrings", "--text", "x").errors.contains("--ours or --theirs decides"))
        #expect(try resolve("Old.xcstrings", "--theirs").status == 0)
        #expect(try place.git("show", "main:Old.xcstrings", in: "app").contains("Uno"))
        #expect(try resolve("k", "--theirs").status == 0)
        #expect(try place.concord("conflicts", "--from", "l10n", "--into", "main", in: "app").status == 0)
        let log = try place.concord("log", "--ref", "main", "fr.lproj/A.strings", "a", in: "app")
        #expect(log.output.contains("  fr value: Ung → Un !\n") && log.output.contains("Decide \"a\" fr value"), "\(log.output)")
        #expect(try place.concord("explain", "--ref", "main", "fr.lproj/A.strings", "a", "fr", in: "app").output.hasPrefix("fr value: Un !\n"))
    }
}
