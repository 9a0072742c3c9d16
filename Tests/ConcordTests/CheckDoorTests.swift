import Foundation
import Testing

private let sound = """
    {
      "sourceLanguage" : "en",
      "strings" : {
        "Done" : {
          "localizations" : {
            "de" : {
              "stringUnit" : {
                "state" : "translated",
                "value" : "Fertig"
              }
            }
          }
        }
      },
      "version" : "1.0"
    }
    """

private let faulty = sound.replacingOccurrences(of: "Fertig", with: "Fertig, %@")

@Suite struct `concord check` {
    private let desk: Workplace

    init() throws { desk = try Workplace() }

    @Test func `is quiet about a sound catalog and ends with 0`() throws {
        try desk.write("a.xcstrings", sound)
        let ran = try desk.concord("check", "a.xcstrings")
        #expect(ran.status == 0)
        #expect(ran.output == "1 catalog: 0 errors, 0 warnings, 0 notes\n")
        #expect(ran.errors == "")
    }

    @Test func `tells an error with file, line, column, key, language and rule, and ends with 1`() throws {
        try desk.write("a b.xcstrings", faulty)
        let ran = try desk.concord("check", "a b.xcstrings")
        #expect(ran.status == 1)
        let first = ran.output.split(separator: "\n").first ?? ""
        #expect(first.hasPrefix("a b.xcstrings:9:13: error: \"Done\", de, value: %@ reads argument 1"))
        #expect(first.hasSuffix("[placeholder-extra]"))
    }

    @Test func `ends with 2 where a file cannot be read, after it has told of the others`() throws {
        try desk.write("a.xcstrings", faulty)
        let ran = try desk.concord("check", "missing.xcstrings", "a.xcstrings")
        #expect(ran.status == 2)
        #expect(ran.errors.contains("missing.xcstrings"))
        #expect(ran.output.contains("[placeholder-extra]"))
        #expect(try desk.concord("check", "--baseline", "none", "a.xcstrings").status == 2)
    }

    @Test func `holds a table against that of the source language, which .concord or the project names`() throws {
        try desk.write("app/de.lproj/Main.strings", "\"files\" = \"%d Dateien\";\n")
        try desk.write("app/en.lproj/Main.strings", "\"files\" = \"%@ files\";\n")
        #expect(try desk.concord("check", "app").output.hasPrefix("app/de.lproj/Main.strings:1:1: error: \"files\", de: "))
        try desk.write("app/App.xcodeproj/project.pbxproj", "developmentRegion = de;\n")
        #expect(try desk.concord("check", "app").output.hasPrefix("app/en.lproj/Main.strings:1:1: error: \"files\", en: "))
        #expect(try desk.concord("stats", "app").output.contains("de (source)"))
        try desk.git("init", "-q", "app")
        try desk.write("app/.concord", "[concord]\n\tsourceLanguage = en\n")
        #expect(try desk.concord("check", "app").output.hasPrefix("app/de.lproj/Main.strings:1:1: error: \"files\", de: "))
        #expect(try desk.concord("stats", "app").output.contains("en (source)"))
        try desk.git("add", ".", in: "app")
        try desk.git("commit", "-qm", "App", in: "app")
        let branch = try desk.git("symbolic-ref", "HEAD", in: "app").trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try desk.concord("check", "--repository", "app", "--ref", branch).output.hasPrefix("de.lproj/Main.strings:1:1: error: \"files\", de: "))
    }

    @Test func `takes what comes through a pipe for what --path says`() throws {
        try desk.write("en.lproj/Main.strings", "\"files\" = \"%d files\";\n")
        try desk.write("piped", "\"files\" = \"%@ fichiers\";\n")
        let ran = try desk.run(URL(fileURLWithPath: "/bin/sh"), ["-c", "\"$0\" check - --path fr.lproj/Main.strings < piped", program.path])
        #expect(ran.status == 1)
        #expect(ran.output.hasPrefix("fr.lproj/Main.strings:1:1: error: \"files\", fr: ") && ran.output.contains("[placeholder-type]"), "\(ran.output)\(ran.errors)")
        #expect(try desk.concord("check", "piped", "--path", "fr.lproj/Main.strings").output == ran.output)
        #expect(try desk.concord("check", "piped", "en.lproj", "--path", "x").status == 64)
    }

    @Test func `names what is wrong with its words, and ends with 64`() throws {
        for (words, said) in [
            (["--severity", "placeholder-exta=off", "a"], "did you mean \"placeholder-extra\"?"), (["--severity", "syntax=loud", "a"], "error, warning, info or off"),
            (["--format", "xml", "a"], "human, json, sarif, github"), ([], "name the files"), (["--repository", "r"], "--ref"), (["--ref", "main"], "--repository"),
        ] {
            let ran = try desk.run(program, ["check"] + words)
            #expect(ran.status == 64)
            #expect(ran.errors.contains(said), "\(ran.errors)")
        }
    }

    @Test func `a severity of its own decides the end`() throws {
        try desk.write("a.xcstrings", faulty)
        #expect(try desk.concord("check", "--severity", "placeholder-extra=warning", "a.xcstrings").status == 0)
        #expect(try desk.concord("check", "--severity", "placeholder-extra=off", "--severity=missing-state=error", "a.xcstrings").output.contains("0 errors, 0 warnings"))
    }

    @Test func `faults of a baseline are silent, new ones are not`() throws {
        try desk.write("a.xcstrings", faulty)
        #expect(try desk.concord("check", "--write-baseline", "base", "a.xcstrings").status == 0)
        #expect(try desk.concord("check", "--baseline", "base", "a.xcstrings").status == 0)
        try desk.write("a.xcstrings", "\n" + faulty.replacingOccurrences(of: "\"version\" : \"1.0\"", with: "\"version\" : \"9\""))
        let ran = try desk.concord("check", "--baseline", "base", "a.xcstrings")
        #expect(ran.status == 1)
        #expect(ran.output.contains("[version]") && !ran.output.contains("[placeholder-extra]"))
    }

    @Test func `programs get JSON and SARIF with the same findings, forges their annotations`() throws {
        try desk.write("a, b.xcstrings", faulty)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(try desk.concord("check", "--json", "a, b.xcstrings").output.utf8)) as? [String: Any])
        #expect(json["errors"] as? Int == 1)
        let finding = try #require(((json["files"] as? [[String: Any]])?.first?["findings"] as? [[String: Any]])?.first)
        #expect(finding["rule"] as? String == "placeholder-extra")
        #expect(finding["key"] as? String == "Done" && finding["language"] as? String == "de" && finding["line"] as? Int == 9)

        let text = try desk.concord("check", "--format", "sarif", "a, b.xcstrings").output
        let sarif = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(sarif["version"] as? String == "2.1.0")
        let run = try #require((sarif["runs"] as? [[String: Any]])?.first)
        let result = try #require((run["results"] as? [[String: Any]])?.first)
        let rules = try #require(((run["tool"] as? [String: Any])?["driver"] as? [String: Any])?["rules"] as? [[String: Any]])
        #expect(rules[try #require(result["ruleIndex"] as? Int)]["id"] as? String == result["ruleId"] as? String)
        #expect(text.contains("\"uri\": \"a%2C%20b.xcstrings\""))

        let ran = try desk.concord("check", "--format", "github", "a, b.xcstrings")
        #expect(ran.status == 1)
        #expect(ran.output.hasPrefix("::error file=a%2C b.xcstrings,line=9,col=13,title=placeholder-extra::\"Done\", de, value: %25@ reads"))
    }

    @Test func `looks at every catalog of a ref in a bare repository`() throws {
        try desk.git("init", "-q", "-b", "main", "work")
        try desk.write("work/App/Localizable.xcstrings", faulty)
        try desk.write("work/Other.xcstrings", sound)
        try desk.write("work/README.md", "no catalog")
        try desk.git("-C", "work", "add", ".")
        try desk.git("-C", "work", "commit", "-qm", "one")
        try desk.git("-C", "work", "tag", "-am", "v", "v1")
        try desk.git("clone", "-q", "--bare", "work", "bare.git")
        let id = try desk.git("-C", "work", "rev-parse", "HEAD").trimmingCharacters(in: .newlines)
        for name in ["main", "refs/heads/main", "v1", id] {
            let ran = try desk.concord("check", "--repository", "bare.git", "--ref", name)
            #expect(ran.status == 1, "\(name): \(ran.errors)")
            #expect(ran.output.hasPrefix("App/Localizable.xcstrings:9:13: error"))
            #expect(ran.output.hasSuffix("2 catalogs: 1 error, 0 warnings, 0 notes\n"))
        }
        #expect(try desk.concord("check", "--repository", "bare.git", "--ref", "none").status == 2)
        #expect(try desk.concord("check", "--repository", "nowhere", "--ref", "main").status == 2)
    }

    @Test func `lists its rules`() throws {
        let ran = try desk.concord("check", "--rules")
        #expect(ran.status == 0)
        #expect(ran.output.contains("plural-other          error"))
    }
}

@Suite struct `concord stats` {
    private let desk: Workplace

    init() throws { desk = try Workplace() }

    @Test func `shows a line for each language, the source first`() throws {
        try desk.write("a.xcstrings", sound)
        let ran = try desk.concord("stats", "a.xcstrings")
        #expect(ran.status == 0)
        #expect(
            ran.output == """
                a.xcstrings
                  language     texts  translated  needs_review  new  missing  stale  percent
                  en (source)      1           1             0    0        0      0  100.0 %
                  de               1           1             0    0        0      0  100.0 %

                """)
    }

    @Test func `gives the same as JSON, and ends with 2 where a file is no catalog`() throws {
        try desk.write("a.xcstrings", sound)
        try desk.write("b.xcstrings", "{")
        let ran = try desk.concord("stats", "--json", "a.xcstrings", "b.xcstrings")
        #expect(ran.status == 2)
        #expect(ran.errors.contains("b.xcstrings:1:2"))
        let json = try #require(try JSONSerialization.jsonObject(with: Data(ran.output.utf8)) as? [String: Any])
        let languages = try #require((json["files"] as? [[String: Any]])?.first?["languages"] as? [[String: Any]])
        #expect(languages.map { $0["language"] as? String } == ["en", "de"])
        #expect(languages.map { $0["permille"] as? Int } == [1000, 1000])
    }
}

@Suite struct `concord fmt` {
    private let desk: Workplace

    init() throws { desk = try Workplace() }

    @Test func `rewrites what Xcode would write otherwise, and only names it with --check`() throws {
        try desk.write("a.xcstrings", sound)
        let other = sound.replacingOccurrences(of: " : ", with: ": ") + "\n"
        try desk.write("b.xcstrings", other)
        let checked = try desk.concord("fmt", "--check", "a.xcstrings", "b.xcstrings")
        #expect(checked.status == 1)
        #expect(checked.output == "b.xcstrings\n")
        #expect(try desk.read("b.xcstrings") == other)
        #expect(try desk.concord("fmt", "a.xcstrings", "b.xcstrings").status == 0)
        #expect(try desk.read("b.xcstrings") == sound)
        #expect(try desk.concord("fmt", "--check", "a.xcstrings", "b.xcstrings").status == 0)
    }

    @Test func `leaves what is no catalog as it is, and ends with 2`() throws {
        try desk.write("a.xcstrings", "{ \"strings\" : [ ] }")
        let ran = try desk.concord("fmt", "a.xcstrings")
        #expect(ran.status == 2)
        #expect(ran.errors.contains("a.xcstrings:1:15"))
        #expect(try desk.read("a.xcstrings") == "{ \"strings\" : [ ] }")
    }
}
