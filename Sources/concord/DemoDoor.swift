// `concord demo`: the whole story on a real repository. Everything is done by git, this program's own daemon and pushes;
// nothing is staged but the texts.

import Git
import Linux

/// Plays the story in a folder; see `concord help demo`. Returns 0 when every step came out as told.
func demoDoor(_ words: [String]) -> Int32 {
    guard words.count <= 1, words.first?.hasPrefix("-") != true else { return usageFault("demo", "it takes at most the folder to work in") }
    do {
        let folder = words.first ?? "\(environmentVariable("TMPDIR") ?? "/tmp")/concord-demo-\(wallClockSeconds())"
        guard (try? entries(ofDirectory: folder))?.isEmpty ?? true else { throw InputFault(sentence: "\(folder) is not empty; name a new folder") }
        try makeDirectories(folder)
        guard let path = resolvedPath(folder) else { throw InputFault(sentence: "\(folder) cannot be used") }
        var story = Story(folder: path)
        defer { story.stopDaemon() }
        try story.play()
        return 0
    } catch let fault as InputFault {
        printError("concord demo: \(fault.sentence)")
        return 2
    } catch {
        printError("concord demo: \(error)")
        return error is SystemError ? 2 : 3
    }
}

/// One run of the demo.
private struct Story {
    let folder: String
    var daemon: Int32?
    private let file = "App/Localizable.xcstrings"
    /// Long enough for two pushes, one after the other, to be one look.
    private let quiet = "400 ms"

    init(folder: String) { self.folder = folder }

    mutating func play() throws {
        printOut("""
            A developer and two translators push to one repository, each to a branch of their own. They change the same catalog, in
            ways that git cannot merge. Concord runs beside the repository and keeps the branches in step. All of it is real: git,
            the pushes, and the daemon of this program; the folder stays for you to look at.

            """)
        chapter("A bare repository with a catalog in English, German and French")
        try git("init", "-q", "--bare", "-b", "main", "\(folder)/app.git")
        try git("init", "-q", "-b", "main", "\(folder)/developer")
        try work("developer", as: "Dana Developer")
        try makeDirectories("\(folder)/developer/App")
        try replaceFile(at: "\(folder)/developer/\(file)", with: Array(demoCatalog.utf8))
        try commit("developer", "Start the app's texts")
        try git(in: "developer", "push", "-q", "origin", "main", "main:l10n/fr", "main:l10n/de")
        for (name, person, branch) in [("french", "Félix Traducteur", "l10n/fr"), ("german", "Gerda Übersetzerin", "l10n/de")] {
            try git("clone", "-q", "-b", branch, "\(folder)/app.git", "\(folder)/\(name)")
            try work(name, as: person)
        }
        say("\(folder)/app.git: main, l10n/fr and l10n/de; developers and translators have clones beside it")

        chapter("The developer adds a key and an English text; the French translator adds what is missing and mends a text")
        let german = "            \"value\" : \"Teilen\"\n          }\n        }"
        func unit(_ code: String, _ text: String) -> String { ",\n" + demoUnit(code, text) }
        try edit("developer", [
            (german, german + unit("en", "Share…")),
            ("    \"Cancel\" : {\n      \"comment\" : \"Closes a dialog\",", "    \"Cancel\" : {\n      \"comment\" : \"Closes a dialog without saving\","),
            (
                "    \"Copy\" : {",
                "    \"Connect\" : {\n      \"comment\" : \"Joins a shared library\",\n      \"localizations\" : {\n        \"de\" : {\n          \"stringUnit\" : {\n            \"state\" : \"new\",\n            \"value\" : \"Connect\"\n          }\n        }\n      }\n    },\n    \"Copy\" : {"
            ),
        ])
        try commit("developer", "Let people connect to a shared library")
        try edit("french", [("\"value\" : \"Anuler\"", "\"value\" : \"Annuler\""), (german, german + unit("fr", "Partager"))])
        try commit("french", "Traduit Share, corrige Cancel")
        try git(in: "developer", "fetch", "-q", "\(folder)/french", "l10n/fr:refs/demo/fr")
        try quoteConflict("main", "refs/demo/fr", in: "developer")

        chapter("The daemon starts on the repository, and both push")
        try startDaemon()
        say("after a push it waits until nothing came for \(quiet), so that these two are looked at together; 50 ms unless set otherwise")
        try git(in: "developer", "push", "-q", "origin", "main")
        let before = try tip("main")
        let seconds = try timeUntilMoved("main", from: before) { try git(in: "french", "push", "-q", "origin", "l10n/fr") }
        say("\(seconds) after the push of l10n/fr, main has the sync commit:")
        quote(try git(in: "app.git", "log", "-1", "--format=%h %s%n  author    %an%n  committer %cn%n%n%b", "main"))
        try quoteChange("main")
        say("\"Partager\" was made for \"Share\", which now reads \"Share…\" in English: the text needs another look, and says so")
        try waitUntil("l10n/fr and l10n/de have the new key") {
            try tip("l10n/fr") == tip("main") && tip("l10n/de") == tip("main")
        }
        say("l10n/fr and l10n/de have the developer's new key as well")

        chapter("The German translator translates the new key")
        try git(in: "german", "pull", "-q", "--ff-only")
        try edit("german", [("\"state\" : \"new\",\n            \"value\" : \"Connect\"", "\"state\" : \"translated\",\n            \"value\" : \"Verbinden\"")])
        try commit("german", "Verbinden")
        let again = try tip("main")
        let next = try timeUntilMoved("main", from: again) { try git(in: "german", "push", "-q", "origin", "l10n/de") }
        say("\(next) after the push, main is at \(try git(in: "app.git", "log", "-1", "--format=%h %s (%an)", "main"))")
        say("nobody else had changed anything, so main moved on to Gerda's own commit: a fast-forward, no sync commit")

        chapter("The developer rewords a comment while the French tool exports a file that dropped a key")
        try git(in: "developer", "pull", "-q", "--ff-only", "origin", "main")
        try edit("developer", [("\"Done\" : {\n      \"comment\" : \"Ends editing\"", "\"Done\" : {\n      \"comment\" : \"Ends editing and saves\"")])
        try commit("developer", "Say that Done saves")
        try git(in: "french", "pull", "-q", "--ff-only")
        try removeKey("french", "Done")
        try edit("french", [("\"value\" : \"Coller\"", "\"value\" : \"Coller ici\"")])
        try commit("french", "Export of the translation tool: it dropped a key")
        try git(in: "developer", "fetch", "-q", "\(folder)/french", "+l10n/fr:refs/demo/fr")
        try quoteConflict("main", "refs/demo/fr", in: "developer")
        try git(in: "developer", "push", "-q", "origin", "main")
        let third = try tip("main")
        let last = try timeUntilMoved("main", from: third) { try git(in: "french", "push", "-q", "origin", "l10n/fr") }
        say("\(last) after the push, main has \(try git(in: "app.git", "log", "-1", "--format=%h %s (%an)", "main"))")
        try quoteChange("main")
        let text = try git(in: "app.git", "show", "main:\(file)")
        guard text.contains("Coller ici"), text.contains("\"Done\""), text.contains("Ends editing and saves") else {
            throw InputFault(sentence: "the merge is not as it should be; look into \(folder)/app.git")
        }
        say("the new French text is on main, and the key that the tool dropped is still there: a translation branch never removes keys")
        try waitUntil("l10n/fr has the key again") { try tip("l10n/fr") == tip("main") }

        chapter("Two people give one text different words")
        try git(in: "developer", "pull", "-q", "--ff-only", "origin", "main")
        try edit("developer", [("\"value\" : \"Rechercher\"", "\"value\" : \"Chercher\"")])
        try commit("developer", "Shorten the French placeholder")
        try git(in: "french", "pull", "-q", "--ff-only")
        try edit("french", [("\"value\" : \"Rechercher\"", "\"value\" : \"Recherche\"")])
        try commit("french", "Recherche")
        try git(in: "developer", "push", "-q", "origin", "main")
        let fourth = try tip("main")
        let decided = try timeUntilMoved("main", from: fourth) { try git(in: "french", "push", "-q", "origin", "l10n/fr") }
        say("\(decided) after the push, main has \(try git(in: "app.git", "log", "-1", "--format=%h %s (%an)", "main"))")
        try quoteChange("main")
        say("unless a policy says otherwise, French is decided on the branch of the translators; what the developer wrote is kept:")
        let lost = try self.concord("lost", "--repository", "\(folder)/app.git")
        guard lost.contains("Chercher") else { throw InputFault(sentence: "the text that lost is not in the ledger; look into \(folder)/app.git") }
        quote(lost)
        say("`concord restore` puts such a text back")
        // The French branch has these very texts already, so it stays where it is: what counts is content.
        try waitUntil("the branches have the same texts") { try ["l10n/fr", "l10n/de"].allSatisfy { try files($0) == files("main") } }

        chapter("What the daemon says")
        quote(try self.concord("status", "--config", "\(folder)/concord.conf"))
        stopDaemon()
        let fsck = try git(in: "app.git", "fsck", "--strict", "--no-progress", "--no-dangling")
        say("git fsck --strict: \(fsck.isEmpty ? "nothing to complain of" : fsck)")
        printOut("""

            Everything is in \(folder) to look at:
              git -C \(folder)/app.git log --graph --oneline --all
              \(folder)/concord.conf, \(folder)/daemon.log
            What it does and how to set it up: README.md, `concord help`, Config/concord.conf

            """)
    }

    // MARK: The daemon

    private mutating func startDaemon() throws {
        let configuration = """
            [concord]
            \tsocket = \(folder)/socket
            \tquiet = \(quiet.replacing(" ", with: ""))
            [repository "app"]
            \tpath = \(folder)/app.git
            [sync "translations"]
            \trepository = app
            \tfrom = l10n/*
            \tinto = main
            \tback = true

            """
        try replaceFile(at: "\(folder)/concord.conf", with: Array(configuration.utf8))
        guard let program = executablePath() else { throw InputFault(sentence: "the path of this program cannot be found out (/proc/self/exe)") }
        let shell = "\"$0\" serve --config \"$1/concord.conf\" >\"$1/daemon.log\" 2>&1 </dev/null & echo $!"
        let child = try run(["sh", "-c", shell, program, folder], environment: processEnvironment(), deadline: .seconds(10))
        daemon = Int32(String(decoding: child.output, as: UTF8.self).split(separator: "\n").first ?? "")
        let path = folder
        try waitUntil("the daemon answers") { (try? ask("status", at: "\(path)/socket")) != nil }
        say("concord serve --config \(folder)/concord.conf")
    }

    mutating func stopDaemon() {
        if let daemon { terminate(process: daemon) }
        daemon = nil
    }

    private func concord(_ words: String...) throws -> String {
        guard let program = executablePath() else { return "" }
        return text(try run([program] + words, environment: processEnvironment(), deadline: .seconds(30)).output)
    }

    // MARK: Time

    private func tip(_ branch: String) throws -> ObjectID? {
        guard let ref = RefName.branch(branch) else { return nil }
        return try Repository(opening: "\(folder)/app.git").tip(of: ref)
    }

    private func files(_ branch: String) throws -> String { try git(in: "app.git", "rev-parse", "\(branch)^{tree}") }

    /// How long after `push` a branch moves to a commit of the daemon.
    private func timeUntilMoved(_ branch: String, from old: ObjectID?, after push: () throws -> Void) throws -> String {
        try push()
        let clock = ContinuousClock()
        let pushed = clock.now
        while try tip(branch) == old {
            guard clock.now - pushed < .seconds(20) else { throw InputFault(sentence: "\(branch) did not move in 20 s; see \(folder)/daemon.log") }
            pause(for: .milliseconds(1))
        }
        return "\((clock.now - pushed) / .milliseconds(1) < 1 ? "under 1" : String(Int((clock.now - pushed) / .milliseconds(1)))) ms"
    }

    private func waitUntil(_ what: String, _ holds: () throws -> Bool) throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(20)
        while try !holds() {
            guard clock.now < end else { throw InputFault(sentence: "waited 20 s until \(what); see \(folder)/daemon.log") }
            pause(for: .milliseconds(2))
        }
    }

    // MARK: git and files

    private func work(_ clone: String, as person: String) throws {
        try git(in: clone, "config", "user.name", person)
        try git(in: clone, "config", "user.email", "\(person.split(separator: " ")[0].lowercased())@example.com")
        if clone == "developer" { try git(in: clone, "remote", "add", "origin", "\(folder)/app.git") }
    }

    private func commit(_ clone: String, _ message: String) throws {
        try git(in: clone, "add", "-A")
        try git(in: clone, "commit", "-q", "-m", message)
        say("\(try git(in: clone, "log", "-1", "--format=%an commits on %D: %s"))".replacing("HEAD -> ", with: ""))
    }

    private func edit(_ clone: String, _ edits: [(String, String)]) throws {
        let path = "\(folder)/\(clone)/\(file)"
        var text = text(try FileBytes(path: path).array)
        for (old, new) in edits {
            guard text.contains(old) else { throw InputFault(sentence: "\(path) does not hold what the demo edits: \(old)") }
            text = text.replacing(old, with: new)
        }
        try replaceFile(at: path, with: Array(text.utf8))
    }

    private func removeKey(_ clone: String, _ key: String) throws {
        let path = "\(folder)/\(clone)/\(file)"
        let lines = text(try FileBytes(path: path).array).split(separator: "\n", omittingEmptySubsequences: false)
        guard let from = lines.firstIndex(of: "    \"\(key)\" : {"), let to = lines[from...].firstIndex(where: { $0 == "    }," || $0 == "    }" }) else { return }
        try replaceFile(at: path, with: Array((lines[..<from] + lines[(to + 1)...]).joined(separator: "\n").utf8))
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @discardableResult
    private func git(_ words: String...) throws -> String { try checked(words) }

    @discardableResult
    private func git(in clone: String, _ words: String...) throws -> String { try checked(["-C", "\(folder)/\(clone)"] + words) }

    /// What git prints, also where it does not succeed.
    private func tryGit(in clone: String, _ words: String...) throws -> String {
        text(try run(["git", "-C", "\(folder)/\(clone)"] + words, environment: environment, deadline: .seconds(30)).output)
    }

    private func checked(_ words: [String]) throws -> String {
        let child = try run(["git"] + words, environment: environment, deadline: .seconds(30))
        guard child.isSuccess else { throw InputFault(sentence: "git \(words.joined(separator: " ")): \(text(child.errors))") }
        return String(text(child.output).reversed().drop { $0 == "\n" }.reversed())
    }

    /// Without the hooks, templates and settings of whoever runs this.
    private var environment: [String] {
        processEnvironment().filter { !$0.hasPrefix("GIT_") } + ["GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"]
    }

    // MARK: Telling

    private func quoteConflict(_ ours: String, _ theirs: String, in clone: String) throws {
        say("what git says to this merge:")
        let verdict = try tryGit(in: clone, "merge-tree", "--write-tree", "--name-only", ours, theirs)
        quote(verdict.split(separator: "\n").filter { $0.hasPrefix("CONFLICT") }.joined(separator: "\n"))
    }

    /// The lines that the newest commit of a branch changes against what the branch was before.
    private func quoteChange(_ branch: String) throws {
        say("all that it changes on \(branch):")
        let lines = try git(in: "app.git", "diff", "--unified=0", "\(branch)^1", branch, "--", file).split(separator: "\n")
        quote(lines.filter { ($0.hasPrefix("+") || $0.hasPrefix("-")) && !$0.hasPrefix("+++") && !$0.hasPrefix("---") }.joined(separator: "\n"))
    }

    private func chapter(_ title: String) { printOut("\n== \(title)\n") }
    private func say(_ line: String) { printOut("   \(line)\n") }
    private func quote(_ text: String) {
        let text = String(text.reversed().drop(while: \.isNewline).reversed())
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) { printOut("   | \(line)\n") }
    }
}

/// A small app's catalog, as Xcode writes it.
private let demoCatalog: String = {
    let texts: [(key: String, comment: String, de: String, fr: String)] = [
        ("Cancel", "Closes a dialog", "Abbrechen", "Anuler"), ("Copy", "Menu item", "Kopieren", "Copie"), ("Delete", "Removes a photo", "Löschen", "Supprimer"),
        ("Done", "Ends editing", "Fertig", "Terminé"), ("Edit", "Starts editing", "Bearbeiten", "Modifier"), ("Favorites", "Name of an album", "Favoriten", "Favoris"),
        ("New Album", "Menu item", "Neues Album", "Nouvel album"), ("Paste", "Menu item", "Einsetzen", "Coller"), ("Search", "Placeholder of a field", "Suchen", "Rechercher"),
        ("Settings", "Title of a window", "Einstellungen", "Réglages"), ("Share", "Button", "Teilen", ""), ("Undo", "Menu item", "Widerrufen", "Annuler l’action"),
    ]
    let entries = texts.map { text in
        let units = [demoUnit("de", text.de)] + (text.fr.isEmpty ? [] : [demoUnit("fr", text.fr)])
        return "    \"\(text.key)\" : {\n      \"comment\" : \"\(text.comment)\",\n      \"localizations\" : {\n\(units.joined(separator: ",\n"))\n      }\n    }"
    }
    return "{\n  \"sourceLanguage\" : \"en\",\n  \"strings\" : {\n\(entries.joined(separator: ",\n"))\n  },\n  \"version\" : \"1.0\"\n}"
}()

/// One language of one key.
private func demoUnit(_ code: String, _ text: String) -> String {
    "        \"\(code)\" : {\n          \"stringUnit\" : {\n            \"state\" : \"translated\",\n            \"value\" : \"\(text)\"\n          }\n        }"
}
