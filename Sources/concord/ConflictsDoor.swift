// `concord conflicts` and `concord resolve`: what waits for a person, and the decision.

import Git
import StringCatalog
import Sync

/// Lists held places; see `concord help conflicts`.
func conflictsDoor(_ words: [String]) -> Int32 {
    repositoryDoor("conflicts", words, valued: ["--config", "--from", "--into", "--source-side"], flags: ["--json"], files: 0...0, wanted: "it takes options only", checks: { arguments throws(Arguments.Fault) in try checkEnds(arguments, into: arguments["--into"]) }
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
    return repositoryDoor("resolve", words, valued: options, flags: ["--ours", "--theirs"], files: 1...3, wanted: "it takes a key, perhaps a language and a field, or the path of a file that is held as a whole", required: ["--ref"], checks: { arguments throws(Arguments.Fault) in
        _ = try choice(arguments)
        try checkEnds(arguments, into: arguments["--ref"])
    }) { arguments, repository in
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

/// Whether the words say which syncs are meant.
private func checkEnds(_ arguments: Arguments, into: String?) throws(Arguments.Fault) {
    guard arguments["--config"] == nil else { return }
    guard let from = arguments["--from"], let into else { throw Arguments.Fault(sentence: "it needs --config, or the branches (--from and --into or --ref)") }
    guard from != into else { throw Arguments.Fault(sentence: "it needs two different branches") }
    guard arguments["--source-side"].map({ SyncRule.End(rawValue: $0) != nil }) ?? true else { throw Arguments.Fault(sentence: "--source-side is from, into or none") }
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
    if let path = arguments["--config"] {
        let configuration = try Configuration(reading: path)
        let meant = try configuration.repositories.first { try Repository(opening: $0.path).gitDirectory == repository.gitDirectory }
        guard let meant else { throw BranchEditError.absent("\(path) has no [repository] for \(repository.path)") }
        return meant
    }
    try checkEnds(arguments, into: into)
    let (from, into) = (arguments["--from"] ?? "", into ?? "")
    let side = arguments["--source-side"].flatMap { SyncRule.End(rawValue: $0) } ?? SyncRule.End.none
    // A slip in a name must not pass for "nothing waits".
    for name in [from, into] where !name.contains("*") { _ = try CatalogBranch(name, in: repository).tip() }
    guard let settings = Conflicts.settings(path: repository.path, from: from, into: into, source: side) else {
        throw Arguments.Fault(sentence: "`\(from)` or `\(into)` is no branch")
    }
    return settings
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
        let place = [held.leaf?.key.map { "\"\(escaped($0))\"" }, held.leaf?.language, held.leaf?.fieldInShort].compactMap { $0 }.joined(separator: " ")
        let head = "\(source.name.shorthand) into \(target.name.shorthand)  \(escaped(held.file.description))"
        func sides(_ said: (String?) -> String) -> String {
            [("base:  ", held.base), ("ours:  ", held.ours), ("theirs:", held.theirs)].map { label, value in
                let text = said(value)
                return text.hasPrefix("\n") ? "  \(label.prefix { $0 != " " })\(text)\n" : "  \(label) \(text)\n"
            }.joined()
        }
        if held.isChoiceOfFile { return "\(head)\n\(sides { $0.map { "blob \($0.prefix(10))" } ?? "(no file)" })  \(held.why)\n" }
        guard held.leaf != nil else { return "\(head)\n  \(held.why)\n" }
        return "\(head)  \(place)\n\(sides(said))  \(held.why)\n"
    }

    /// A value for people: a text on its line, the texts of a whole key or language each on one of their own.
    private func said(_ text: String?) -> String {
        guard let text else { return "(absent)" }
        guard let leaf = held.leaf, let leaves = leaf.leaves(saying: text, in: held.file) else { return escaped(text) }
        // The types of a variable say nothing to who decides.
        let lines = leaves.filter { $0.key.field?.hasSuffix("TypeKey") != true }.sorted { ($0.key.language ?? "", $0.key.field ?? "") < ($1.key.language ?? "", $1.key.field ?? "") }
            .map { place, value in "\n      \([place.language, place.fieldInShort].compactMap { $0 }.joined(separator: " ")): \(escaped(value))" }
        return lines.isEmpty ? "(nothing in it)" : lines.joined()
    }
}
