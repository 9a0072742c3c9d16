// `concord conflicts` and `concord resolve`: what waits for a person, and the decision.

import Git
import StringCatalog
import Sync

/// Lists held places; see `concord help conflicts`.
func conflictsDoor(_ words: [String]) -> Int32 {
    let options = ["--config", "--from", "--into", "--source-side"]
    let checks = { (arguments: Arguments) throws(Arguments.Fault) in _ = try Ends(arguments, into: arguments["--into"]) }
    return repositoryDoor(
        "conflicts", words, valued: options, flags: ["--json"], files: 0...0, wanted: "it takes options only", checks: checks
    ) { arguments, repository in
        let settings = try settings(arguments, repository, into: arguments["--into"])
        let (held, blocked) = try Conflicts(in: repository, settings).all()
        if arguments.flags.contains("--json") {
            printOut(held.isEmpty ? "[]\n" : "[\n  " + held.map(\.json).joined(separator: ",\n  ") + "\n]\n")
        } else {
            printOut(held.map(\.listing).joined() + blocked.map { "blocked: \($0)\n" }.joined())
            if held.isEmpty && blocked.isEmpty { printOut("Nothing waits for a decision.\n") }
        }
        return held.isEmpty && blocked.isEmpty ? 0 : 1
    }
}

/// Decides one held place; see `concord help resolve`.
func resolveDoor(_ words: [String]) -> Int32 {
    let options = ["--config", "--from", "--ref", "--path", "--text", "--source-side"]
    let wanted = "it takes a key, perhaps a language and a field, or the path of a file that is held as a whole"
    let checks = { (arguments: Arguments) throws(Arguments.Fault) in
        _ = try choice(arguments)
        _ = try Ends(arguments, into: arguments["--ref"])
    }
    return repositoryDoor(
        "resolve", words, valued: options, flags: ["--ours", "--theirs"], files: 1...3, wanted: wanted, required: ["--ref"], checks: checks
    ) { arguments, repository in
        let choice = try choice(arguments)
        let branch = try CatalogBranch(arguments.required("--ref"), in: repository)
        _ = try branch.tip()
        let conflicts = Conflicts(in: repository, try settings(arguments, repository, into: branch.name.shorthand))
        let wanted = Wanted(words: arguments.files, path: arguments["--path"])
        let matches = try conflicts.all().held.compactMap { conflict in
            conflict.seen(from: branch.name).flatMap { wanted.fits($0) ? $0 : nil }
        }
        guard let conflict = matches.first else { throw BranchEditError.absent("there is no such conflict on \(branch.name.shorthand); `concord conflicts` lists them") }
        guard matches.count == 1 else {
            throw BranchEditError.absent("several conflicts are meant; name the language, the field, or the file:\n" + matches.map(\.listing).joined())
        }
        let edit = try conflicts.decide(conflict, choice, on: branch, by: identity(in: repository))
        return told(edit, "resolve", on: branch, done: "decided and remembered", unchanged: "the decision is remembered; \(branch.name.shorthand) has it so, or will after the next sync")
    }
}

/// What the words choose.
private func choice(_ arguments: Arguments) throws(Arguments.Fault) -> ConflictChoice {
    let choices = [
        arguments.flags.contains("--ours") ? ConflictChoice.ours : nil, arguments.flags.contains("--theirs") ? .theirs : nil,
        arguments["--text"].map { .text($0) },
    ].compactMap { $0 }
    guard choices.count == 1 else { throw Arguments.Fault(sentence: "it takes one of --ours, --theirs and --text") }
    return choices[0]
}

/// The two ends of a sync that the words name, where they name no configuration.
private struct Ends {
    let from: String
    let into: String
    let source: SyncRule.End

    /// Nil where there is a configuration.
    init?(_ arguments: Arguments, into: String?) throws(Arguments.Fault) {
        guard arguments["--config"] == nil else { return nil }
        guard let from = arguments["--from"], let into else { throw Arguments.Fault(sentence: "it needs --config, or the branches (--from and --into or --ref)") }
        guard from != into else { throw Arguments.Fault(sentence: "it needs two different branches") }
        guard let source = SyncRule.End(rawValue: arguments["--source-side"] ?? "none") else { throw Arguments.Fault(sentence: "--source-side is from, into or none") }
        (self.from, self.into, self.source) = (from, into, source)
    }
}

private struct Wanted {
    let words: [String]
    let path: String?

    func fits(_ conflict: SyncConflict) -> Bool {
        // What holds a file as a whole is named by the file.
        if conflict.held.leaf?.key == nil { return words == [conflict.held.file.description] }
        guard let leaf = conflict.held.leaf, leaf.key == words[0], path.map({ $0 == conflict.held.file.description }) ?? true else { return false }
        if words.count > 1, leaf.language?.lowercased() != words[1].lowercased(), !(words.count == 2 && leaf.language == nil && leaf.field == words[1]) { return false }
        return words.count < 3 || leaf.field == words[2] || leaf.fieldInShort == words[2]
    }
}

/// The syncs that are meant: those of a configuration that are for this repository, or one that the words name.
private func settings(_ arguments: Arguments, _ repository: Repository, into: String?) throws -> RepositorySettings {
    guard let ends = try Ends(arguments, into: into) else { return try settings(arguments.required("--config"), repository) }
    // A slip in a name must not pass for "nothing waits".
    for name in [ends.from, ends.into] where !name.contains("*") { _ = try CatalogBranch(name, in: repository).tip() }
    guard let settings = Conflicts.settings(path: repository.path, from: ends.from, into: ends.into, source: ends.source) else {
        throw Arguments.Fault(sentence: "`\(ends.from)` or `\(ends.into)` is no branch")
    }
    return settings
}

private func settings(_ configuration: String, _ repository: Repository) throws -> RepositorySettings {
    let meant = try Configuration(reading: configuration).repositories.first { try Repository(opening: $0.path).gitDirectory == repository.gitDirectory }
    guard let meant else { throw BranchEditError.absent("\(configuration) has no [repository] for \(repository.path)") }
    return meant
}

extension SyncConflict {
    /// The conflict as the sync into this branch has it; nil if it concerns other branches.
    fileprivate func seen(from branch: RefName) -> SyncConflict? {
        if target.name == branch { return self }
        return source.name == branch ? exchanged : nil
    }

    /// For people:
    ///
    ///     l10n/fr into main  Localizable.xcstrings  "Hello" fr value
    ///       base:   Allô
    ///       ours:   Salut
    ///       theirs: Bonjour
    ///       both sides changed the text differently
    fileprivate var listing: String {
        let head = "\(source.name.shorthand) into \(target.name.shorthand)  \(escaped(held.file.description))"
        func sides(_ said: (String?) -> String) -> String {
            [("base:  ", held.base), ("ours:  ", held.ours), ("theirs:", held.theirs)].map { label, value in
                let text = said(value)
                return text.hasPrefix("\n") ? "  \(label.prefix { $0 != " " })\(text)\n" : "  \(label) \(text)\n"
            }.joined()
        }
        if held.isChoiceOfFile { return "\(head)\n\(sides { $0.map { "blob \($0.prefix(10))" } ?? "(no file)" })  \(held.why)\n" }
        guard let leaf = held.leaf else { return "\(head)\n  \(held.why)\n" }
        return "\(head)  \(leaf.place(escaped))\n\(sides(said))  \(held.why)\n"
    }

    /// A value for people: a text on its line, the texts of a whole key or language each on one of their own.
    private func said(_ text: String?) -> String {
        guard let text else { return "(absent)" }
        guard let leaf = held.leaf, let leaves = leaf.leaves(saying: text, in: held.file) else { return escaped(text) }
        // The types of a variable say nothing to who decides.
        let lines = leaves.filter { $0.key.field?.hasSuffix("TypeKey") != true }.sorted { $0.key.isListed(before: $1.key) }
            .map { place, value in "\n      \(place.placeBelowKey): \(escaped(value))" }
        return lines.isEmpty ? "(nothing in it)" : lines.joined()
    }
}
