// `concord lost` and `concord restore`: the texts that syncs dropped, and the way back.

import Git
import Linux
import StringCatalog
import StringsTable
import Sync

/// Lists lost texts; see `concord help lost`.
func lostDoor(_ words: [String]) -> Int32 {
    repositoryDoor("lost", words, valued: [], flags: ["--json", "--pack"], files: 0...2, wanted: "it takes at most a key and a language") { arguments, repository in
        let ledger = Ledger(repository)
        if arguments.flags.contains("--pack") {
            let (before, after, swap) = try ledger.pack(by: identity(in: repository))
            guard swap == .swapped else {
                printError("concord lost: the ledger is being written by others; try later")
                return 1
            }
            printOut("\(before) files became \(after)\n")
            return 0
        }
        let contents = try ledger.contents()
        let losses = contents.losses.filter { $0.concerns(key: arguments.files.first, language: arguments.files.dropFirst().first) }
        if arguments.flags.contains("--json") {
            printOut(LostText.json(losses))
        } else {
            printOut(losses.isEmpty ? (contents.losses.isEmpty ? "Nothing was lost.\n" : "Nothing was lost of what you ask for.\n") : losses.enumerated().map { $1.listing(number: $0 + 1) }.joined())
        }
        if !contents.damagedLines.isEmpty { printError("concord lost: \(contents.damagedLines.count) lines of the ledger cannot be read") }
        return 0
    }
}

/// Puts a lost text back; see `concord help restore`.
func restoreDoor(_ words: [String]) -> Int32 {
    repositoryDoor("restore", words, valued: ["--ref", "--path", "--at"], flags: [], files: 2...2, wanted: "it takes a key and a language", required: ["--ref"]) { arguments, repository in
        let (key, language) = (arguments.files[0], arguments.files[1])
        let branch = try CatalogBranch(arguments.required("--ref"), in: repository)
        let number = arguments["--at"].map { Int($0) } ?? 1
        guard let number, number > 0 else { throw Arguments.Fault(sentence: "--at is a number from 1") }
        let ledger = Ledger(repository)
        let losses = try ledger.contents().losses.filter { $0.concerns(key: key, language: language) }
        guard !losses.isEmpty else { throw BranchEditError.absent("no text of \"\(escaped(key))\" \(language) is in the ledger") }
        guard number <= losses.count else { throw BranchEditError.absent("the lost texts of \"\(escaped(key))\" \(language) are numbered 1 to \(losses.count)") }
        let lost = losses[number - 1]
        let path = try branch.path(of: key, language: language, named: arguments["--path"], preferring: lost.file)
        let edit = try ledger.restore(lost, on: branch, path: path.description, by: identity(in: repository))
        let hasStates = TableKind(path: path.name) == nil
        return told(
            edit, "restore", on: branch, done: "\"\(escaped(key))\" \(language) is \"\(escaped(lost.text))\" again\(hasStates ? ", to be reviewed" : "")",
            unchanged: "\"\(escaped(key))\" \(language) is \"\(escaped(lost.text))\" already")
    }
}

extension LostText {
    /// For people:
    ///
    ///     1  2026-11-30 08:51  Localizable.xcstrings  "Hello" fr value
    ///          Salut
    ///        lost on main to: Bonjour
    ///        text: the translation branch (commit 7f0c1d2e3f, from l10n/fr)
    fileprivate func listing(number: Int) -> String {
        let winner = (from == "ours" ? theirs : ours).map { " to: \(escaped($0))" } ?? ""
        let margin = String(repeating: " ", count: String(number).count + 2)
        return """
            \(number)  \(dateText(sync.seconds))  \(escaped(file))  \(leaf.place(escaped))
            \(margin)  \(escaped(text))
            \(margin)lost on \(from == "ours" ? sync.target.shorthand : sync.source.shorthand)\(winner)
            \(margin)\(rule) (commit \(sync.commit.short), \(sync.source.shorthand) into \(sync.target.shorthand))

            """
    }
}
