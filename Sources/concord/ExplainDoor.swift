// `concord explain` and `concord log`: why a text is as it is, and what it was before.

import Git
import StringCatalog
import Sync

/// Says why a text is as it is; see `concord help explain`.
func explainDoor(_ words: [String]) -> Int32 {
    repositoryDoor("explain", words, valued: ["--ref"], flags: [], files: 2...3, wanted: "it takes a path, a key, and perhaps a language", required: ["--ref"]) { arguments, repository in
        let subject = try Subject(arguments)
        let history = try CatalogHistory(at: arguments.required("--ref"), in: repository)
        let reasons = try history.reasons(for: subject.key, language: subject.language, at: subject.path)
        guard !reasons.isEmpty else { throw try subject.absence(in: history) }
        printOut(reasons.map(\.listing).joined())
        return 0
    }
}

/// Tells the history of a text; see `concord help log`.
func logDoor(_ words: [String]) -> Int32 {
    repositoryDoor("log", words, valued: ["--ref"], flags: ["--json"], files: 2...3, wanted: "it takes a path, a key, and perhaps a language", required: ["--ref"]) { arguments, repository in
        let subject = try Subject(arguments)
        let history = try CatalogHistory(at: arguments.required("--ref"), in: repository)
        let events = try history.events(of: subject.key, language: subject.language, at: subject.path)
        guard !events.isEmpty else { throw try subject.absence(in: history) }
        printOut(arguments.flags.contains("--json") ? LeafEvent.json(events) : events.map(\.listing).joined())
        return 0
    }
}

/// Which text is meant.
private struct Subject {
    let path: TreePath
    let key: String
    let language: String?

    init(_ arguments: Arguments) throws(Arguments.Fault) {
        guard let path = TreePath(arguments.files[0]) else { throw Arguments.Fault(sentence: "\"\(arguments.files[0])\" is no path in a repository") }
        self.path = path
        key = arguments.files[1]
        language = arguments.files.count == 3 ? arguments.files[2] : nil
    }

    /// Why nothing was found: no such file, or no such text in it.
    func absence(in history: CatalogHistory) throws -> BranchEditError {
        guard try history.hasFile(at: path) else {
            if let catalog = try history.catalog(inPlaceOf: path) { return .absent("there is no file \(path) any more: its texts are in \(catalog), whose history goes back behind that") }
            return .absent("there is no file \(path); paths begin at the top of the repository")
        }
        return .absent("there is no text of \"\(escaped(key))\"\(language.map { " " + $0 } ?? "") in \(path)")
    }
}

/// `7f0c1d2e3f  2026-11-30 08:51  Marie <marie@example.org>  Traduire`
private func line(_ commit: Commit) -> String {
    "\(commit.id.short)  \(dateText(commit.author.seconds))  \(escaped(commit.author.name)) <\(escaped(commit.author.email))>  \(escaped(commit.subject))"
}

/// A few tables by name, the others by their number.
private func names(_ tables: [TreePath]) -> String {
    let namesMax = 3
    let named = tables.prefix(namesMax).map { escaped($0.description) }.joined(separator: ", ")
    return tables.count > namesMax ? "\(named) and \(tables.count - namesMax) more" : named
}

extension LeafEvent {
    ///     7f0c1d2e3f  2026-11-30 08:51  Marie <marie@example.org>  Traduire
    ///       in fr.lproj/Localizable.strings
    ///       fr value: Salut → Bonjour
    fileprivate var listing: String {
        let stood = stoodIn.isEmpty ? "" : "  in \(names(stoodIn))\n"
        let migration = migratedFrom.isEmpty ? "" : "  migrated: before this commit the text stood in \(names(migratedFrom))\n"
        let values = changes.map { leaf, old, new in
            "  \(leaf.placeBelowKey): \(old.map { escaped($0) + " → " } ?? "")\(new.map(escaped) ?? "(absent)")\n"
        }
        return line(commit) + "\n" + stood + values.joined() + migration
    }
}

extension LeafReason {
    ///     fr value: Bonjour
    ///       set by   7f0c1d2e3f  2026-11-30 08:51  Marie <marie@example.org>  Traduire  (was: Salut)
    ///       in       fr.lproj/Localizable.strings
    ///       migrated 5e0c44f0aa  2026-11-30 08:51  Dev <dev@example.org>  Migrate to a string catalog
    ///       came by  99ab01c2d3  2026-11-30 08:52  Marie <marie@example.org>  Sync l10n/fr into main: 1 text in fr
    ///       decided  both sides changed the text: theirs
    ///       replaced Adieu (text: the translation branch)
    fileprivate var listing: String {
        var lines = ["\(leaf.placeBelowKey): \(escaped(value))"]
        if let event {
            let old = event.changes.first { $0.leaf == leaf }?.old
            lines.append("  set by   \(line(event.commit))\(old.map { "  (was: \(escaped($0)))" } ?? "")")
        }
        if let event, !event.stoodIn.isEmpty { lines.append("  in       \(names(event.stoodIn))") }
        if let migration { lines.append("  migrated \(line(migration.commit))") }
        lines += passages.reversed().map { "  came by  \(line($0.commit))" }
        lines += decisions.map { "  decided  \($0.rule): \($0.outcome) (\($0.sync.source.shorthand) into \($0.sync.target.shorthand))" }
        lines += losses.map { "  replaced \(escaped($0.text)) (\($0.rule))" }
        return lines.map { $0 + "\n" }.joined()
    }
}
