// The doors, as a person and git use them: the built program, real files, real git.

import Foundation
import Testing

/// The program that was built beside these tests.
let program: URL = {
    // The test bundle stands among the build products, and so does the program.
    let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? Bundle.main.executablePath ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("concord")
}()

/// A folder that goes with its owner, and programs run in it.
final class Workplace {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/concord-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path + "/home", withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    struct Ran {
        let status: Int32
        let output: String
        let errors: String
    }

    func write(_ name: String, _ text: String) throws {
        let file = URL(fileURLWithPath: path + "/" + name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    func read(_ name: String) throws -> String { String(decoding: try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)), as: UTF8.self) }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path + "/" + name) }

    @discardableResult
    func run(_ executable: URL, _ words: [String], in folder: String = "") throws -> Ran {
        let process = Process()
        process.executableURL = executable
        process.arguments = words
        process.currentDirectoryURL = URL(fileURLWithPath: path + "/" + folder)
        process.environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": path + "/home", "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org", "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.org",
            "TMPDIR": path,
        ]
        // Files, so that neither pipe can fill up.
        let names = ["out", "err"].map { path + "/home/\($0)-\(UUID().uuidString)" }
        for name in names { try Data().write(to: URL(fileURLWithPath: name)) }
        process.standardOutput = FileHandle(forWritingAtPath: names[0])
        process.standardError = FileHandle(forWritingAtPath: names[1])
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let texts = try names.map { String(decoding: try Data(contentsOf: URL(fileURLWithPath: $0)), as: UTF8.self) }
        return Ran(status: process.terminationStatus, output: texts[0], errors: texts[1])
    }

    @discardableResult
    func concord(_ words: String..., in folder: String = "") throws -> Ran { try run(program, words, in: folder) }

    @discardableResult
    func git(_ words: String..., in folder: String = "") throws -> String {
        let ran = try run(URL(fileURLWithPath: "/usr/bin/git"), words, in: folder)
        #expect(ran.status == 0, "git \(words.joined(separator: " ")): \(ran.errors)")
        return ran.output
    }
}

/// A catalog with one key, in Xcode's style: German and whatever is given.
func catalog(_ texts: [(language: String, text: String)], key: String = "Share") -> String {
    let units = texts.map { "        \"\($0.language)\" : {\n          \"stringUnit\" : {\n            \"state\" : \"translated\",\n            \"value\" : \"\($0.text)\"\n          }\n        }" }
    return "{\n  \"sourceLanguage\" : \"en\",\n  \"strings\" : {\n    \"\(key)\" : {\n      \"localizations\" : {\n\(units.joined(separator: ",\n"))\n      }\n    }\n  },\n  \"version\" : \"1.0\"\n}"
}

@Suite struct MergeDoorTests {
    private func merge(_ place: Workplace, _ more: String...) throws -> Workplace.Ran {
        try place.run(program, ["merge", "--base", "base", "--ours", "ours", "--theirs", "theirs", "--output", "out", "--report", "report.json"] + more)
    }

    @Test func `a clean merge exits 0 and writes the catalog and its report`() throws {
        let place = try Workplace()
        try place.write("base", catalog([("de", "Teilen")]))
        try place.write("ours", catalog([("de", "Teilen"), ("es", "Compartir")]))
        try place.write("theirs", catalog([("de", "Teilen"), ("fr", "Partager")]))
        let ran = try merge(place)
        #expect(ran.status == 0, "\(ran.errors)")
        #expect(try place.read("out") == catalog([("de", "Teilen"), ("es", "Compartir"), ("fr", "Partager")]))
        #expect(try place.read("report.json").contains("\"conflicts\": []"))
    }

    @Test func `standard output that is a file is written where it stands`() throws {
        let place = try Workplace()
        try place.write("base", catalog([("de", "Teilen")]))
        try place.write("theirs", catalog([("de", "Teilen"), ("fr", "Partager")]))
        try place.write("log", "before\n")
        let merge = "'\(program.path)' merge --base base --ours base --theirs theirs --output -"
        #expect(try place.run(URL(fileURLWithPath: "/bin/sh"), ["-c", "\(merge) >>log; (echo first; \(merge); echo last) >all"]).status == 0)
        let merged = try place.read("theirs")
        #expect(try place.read("log") == "before\n" + merged)
        #expect(try place.read("all") == "first\n" + merged + "last\n")
    }

    @Test func `a conflict exits 1, keeps ours and tells all three values`() throws {
        let place = try Workplace()
        try place.write("base", catalog([("fr", "Partage")]))
        try place.write("ours", catalog([("fr", "Partager")]))
        try place.write("theirs", catalog([("fr", "Faire suivre")]))
        let ran = try merge(place)
        #expect(ran.status == 1)
        #expect(try place.read("out") == place.read("ours"))
        for text in ["\"Share\", fr", "base: Partage", "ours: Partager", "theirs: Faire suivre"] { #expect(ran.errors.contains(text), "\(ran.errors)") }
        #expect(try place.read("report.json").contains("\"theirs\": \"Faire suivre\""))
    }

    @Test func `with roles the translators' text wins, whichever side it is on`() throws {
        let place = try Workplace()
        try place.write("base", catalog([("fr", "Partage")]))
        try place.write("ours", catalog([("fr", "Partager")]))
        try place.write("theirs", catalog([("fr", "Faire suivre")]))
        #expect(try merge(place, "--source-side", "ours").status == 0)
        #expect(try place.read("out") == place.read("theirs"))
        #expect(try merge(place, "--source-side=theirs").status == 0)
        #expect(try place.read("out") == place.read("ours"))
    }

    @Test func `an input that does not parse exits 2, names the place, and writes nothing`() throws {
        let place = try Workplace()
        try place.write("base", catalog([("fr", "Partage")]))
        try place.write("ours", catalog([("fr", "Partager")]))
        try place.write("theirs", "{\n  \"strings\" : {\n<<<<<<< HEAD\n    \"a\" : {}\n")
        let ran = try merge(place)
        #expect(ran.status == 2)
        #expect(ran.errors.contains("theirs:3:1") && ran.errors.contains("conflict"), "\(ran.errors)")
        #expect(!place.has("out") && !place.has("report.json"))
    }

    @Test(arguments: ["/dev/null", "empty"]) func `a missing base is an empty base`(base: String) throws {
        let place = try Workplace()
        try place.write("empty", "")
        try place.write("ours", catalog([("de", "Teilen")]))
        try place.write("theirs", catalog([("fr", "Partager")]))
        let ran = try place.concord("merge", "--base", base, "--ours", "ours", "--theirs", "theirs", "--output", "-")
        #expect(ran.status == 0, "\(ran.errors)")
        #expect(ran.output == catalog([("de", "Teilen"), ("fr", "Partager")]))
    }

    @Test(arguments: ["merge", "diff", "serve", "conflicts", "demo", "help", "version"])
    func `every command explains itself with --help`(command: String) throws {
        let place = try Workplace()
        let ran = try place.concord(command, "--help")
        #expect(ran.status == 0 && ran.output.hasPrefix("usage: concord \(command)"), "\(ran.output)\(ran.errors)")
        #expect(ran.output == (try place.concord("help", command).output))
    }

    @Test func `an answer that cannot be written is a fault`() throws {
        let place = try Workplace()
        try place.write("a.xcstrings", catalog([("de", "Teilen")]))
        let ran = try place.run(URL(fileURLWithPath: "/bin/sh"), ["-c", "'\(program.path)' stats a.xcstrings > /dev/full"])
        #expect(ran.status == 2 && ran.errors.contains("standard output"), "\(ran.errors)")
    }

    @Test func `a branch that is not there does not pass for one without conflicts`() throws {
        let place = try Workplace()
        try place.git("init", "-q", "-b", "main")
        try place.git("commit", "-q", "--allow-empty", "-m", "Begin")
        let ran = try place.concord("conflicts", "--from", "l10n/fr", "--into", "main")
        #expect(ran.status == 2 && ran.errors.contains("there is no branch l10n/fr"), "\(ran.errors)")
    }

    @Test func `the output of a merge is not written where its report cannot be`() throws {
        let place = try Workplace()
        for name in ["base", "ours", "theirs"] { try place.write(name, catalog([("de", "Teilen")])) }
        let ran = try place.concord("merge", "--base", "base", "--ours", "ours", "--theirs", "theirs", "--output", "out", "--report", "none/report")
        #expect(ran.status == 2)
        #expect(!place.has("out"))
    }

    @Test(arguments: [["merge"], ["merge", "--bsae", "x"], ["mrege"], ["merge", "--source-side", "both", "--base", "a", "--ours", "b", "--theirs", "c", "--output", "d"], ["diff", "a"], [], ["help", "mrege"], ["restore"], ["explain", "a"], ["resolve", "a", "--ours"]])
    func `a wrong command line exits 64 and says what to do`(words: [String]) throws {
        let place = try Workplace()
        let ran = try place.run(program, words)
        #expect(ran.status == 64)
        #expect(ran.errors.contains("concord"))
        if words.contains("--bsae") { #expect(ran.errors.contains("did you mean --base?")) }
        #expect(!ran.errors.contains("cannot open"), "the words are judged before the repository is: \(ran.errors)")
        if words.contains("mrege") { #expect(ran.errors.contains("did you mean 'merge'?")) }
    }
}

@Suite struct DriverDoorTests {
    /// A repository with two branches that change one entry at one place.
    private func diverged(_ place: Workplace, theirs: String = catalog([("de", "Teilen"), ("fr", "Partager")])) throws {
        try place.git("init", "-q", "-b", "main", "app")
        let steps = [("main", catalog([("de", "Teilen")])), ("l10n", theirs), ("main", catalog([("de", "Teilen"), ("es", "Compartir")]))]
        for (i, (branch, text)) in steps.enumerated() {
            if i > 0 { try place.git("checkout", "-q", branch == "l10n" ? "-b" : branch, branch == "l10n" ? branch : "--", in: "app") }
            try place.write("app/Localizable.xcstrings", text)
            try place.git("add", "-A", in: "app")
            try place.git("commit", "-qm", "step \(i)", in: "app")
        }
    }

    @Test(arguments: [false, true]) func `git merges with the driver what it cannot merge without`(isGlobal: Bool) throws {
        let place = try Workplace()
        try diverged(place)
        let without = try place.run(URL(fileURLWithPath: "/usr/bin/git"), ["merge", "-q", "l10n"], in: "app")
        #expect(without.status == 1)
        try place.git("merge", "--abort", in: "app")

        let installed = try place.run(program, ["install-driver"] + (isGlobal ? ["--global"] : []), in: "app")
        #expect(installed.status == 0, "\(installed.errors)")
        try place.git("merge", "-q", "-m", "merge", "l10n", in: "app")
        #expect(try place.read("app/Localizable.xcstrings") == catalog([("de", "Teilen"), ("es", "Compartir"), ("fr", "Partager")]))
        #expect(try place.git("status", "--porcelain", in: "app") == "")

        let shown = try place.git("diff", "HEAD^1", "HEAD", in: "app")
        #expect(shown.contains("+    fr value: Partager"), "\(shown)")
        #expect(try place.run(program, ["install-driver", "--uninstall"] + (isGlobal ? ["--global"] : []), in: "app").status == 0)
        let left = try place.run(URL(fileURLWithPath: "/usr/bin/git"), ["config", "--get-regexp", "concord"], in: "app")
        #expect(left.output == "")
    }

    @Test func `a conflict is git's conflict, and the file stays a catalog`() throws {
        let place = try Workplace()
        try diverged(place, theirs: catalog([("de", "Freigeben")]))
        try place.write("app/Localizable.xcstrings", catalog([("de", "Weitergeben"), ("es", "Compartir")]))
        try place.git("commit", "-qam", "ours too", in: "app")
        try place.concord("install-driver", in: "app")
        let ran = try place.run(URL(fileURLWithPath: "/usr/bin/git"), ["merge", "l10n"], in: "app")
        #expect(ran.status == 1)
        #expect(ran.errors.contains("theirs: Freigeben"), "\(ran.errors)")
        #expect(try place.read("app/Localizable.xcstrings") == catalog([("de", "Weitergeben"), ("es", "Compartir")]))
        #expect(try place.git("status", "--porcelain", in: "app") == "UU Localizable.xcstrings\n")
    }

    @Test func `what is no catalog goes to git's line merge with its markers`() throws {
        let place = try Workplace()
        try diverged(place, theirs: "not a catalog\n")
        try place.concord("install-driver", in: "app")
        let ran = try place.run(URL(fileURLWithPath: "/usr/bin/git"), ["merge", "l10n"], in: "app")
        #expect(ran.status == 1)
        #expect(try place.read("app/Localizable.xcstrings").contains("<<<<<<<"))
        #expect(ran.errors.contains("Localizable.xcstrings is left to git's line merge"), "\(ran.errors)")
    }

    @Test func `a program in the checkout is not registered`() throws {
        let place = try Workplace()
        try diverged(place)
        try FileManager.default.copyItem(atPath: program.path, toPath: place.path + "/app/concord")
        let ran = try place.run(URL(fileURLWithPath: place.path + "/app/concord"), ["install-driver"], in: "app")
        #expect(ran.status == 2)
        #expect(ran.errors.contains("lies in the checkout"), "\(ran.errors)")
        #expect(try place.run(URL(fileURLWithPath: "/usr/bin/git"), ["config", "--get-regexp", "concord"], in: "app").output == "")
    }

    @Test func `other lines of the attributes stay`() throws {
        let place = try Workplace()
        try diverged(place)
        try place.write("app/.git/info/attributes", "*.png binary\n")
        try place.concord("install-driver", in: "app")
        try place.concord("install-driver", in: "app")
        #expect(try place.read("app/.git/info/attributes") == "*.png binary\n" + ["xcstrings", "strings", "stringsdict"].map { "*.\($0) merge=concord diff=concord\n" }.joined())
        try place.concord("install-driver", "--uninstall", in: "app")
        #expect(try place.read("app/.git/info/attributes") == "*.png binary\n")
    }
}

@Suite struct DiffDoorTests {
    @Test func `a difference is told by key and language, and order is none`() throws {
        let place = try Workplace()
        try place.write("old", catalog([("de", "Teilen"), ("fr", "Partage")]))
        try place.write("new", catalog([("fr", "Partager"), ("de", "Teilen")]))
        let ran = try place.concord("diff", "old", "new")
        #expect(ran.status == 1)
        #expect(ran.output == "~ \"Share\"\n    fr value: Partage → Partager\n")
        try place.write("turned", catalog([("fr", "Partage"), ("de", "Teilen")]))
        let same = try place.concord("diff", "old", "turned")
        #expect(same.status == 0 && same.output == "")
    }

    @Test func `numbers are by language`() throws {
        let place = try Workplace()
        try place.write("old", catalog([("de", "Teilen")]))
        try place.write("new", catalog([("de", "Freigeben"), ("fr", "Partager")]))
        let ran = try place.concord("diff", "--stat", "old", "new")
        #expect(ran.output == "de: texts 1 changed, 0 states\nfr: texts 1 added, 1 state\n")
    }
}

@Suite struct StoryTests {
    @Test func `the demo's story comes out as it is told`() throws {
        let place = try Workplace()
        let ran = try place.concord("demo", "demo")
        #expect(ran.status == 0, "\(ran.errors)\n\(ran.output)")
        #expect(ran.output.contains("CONFLICT (content): Merge conflict in App/Localizable.xcstrings"))
        #expect(ran.output.contains("git fsck --strict: nothing to complain of"))
        #expect(try place.git("show", "main:App/Localizable.xcstrings", in: "demo/app.git").contains("\"value\" : \"Partager\""))
    }

    @Test func `every command has a page, and every page names its exit codes or its use`() throws {
        let place = try Workplace()
        let overview = try place.concord("help").output
        for line in overview.split(separator: "\n") where line.hasPrefix("  ") && !line.contains("help COMMAND") && !line.hasPrefix("  version") {
            let name = String(line.split(separator: " ")[0])
            let page = try place.concord("help", name)
            #expect(page.status == 0 && page.output.hasPrefix("usage: concord \(name)"), "\(name)")
        }
    }
}
