// `concord diff` and `concord textconv`: what changed, by key and language, for people.

import Linux
import StringCatalog
import StringsTable

/// Shows the differences of two files; see `concord help diff`.
func diffDoor(_ words: [String]) -> Int32 {
    do {
        let arguments: Arguments
        do { arguments = try Arguments(words, flags: ["--stat"]) } catch { return usageFault("diff", error.sentence) }
        guard arguments.files.count == 2 else { return usageFault("diff", "two files are needed") }
        let (changes, isTable) = try changes(from: arguments.files[0], to: arguments.files[1])
        printOut(arguments.flags.contains("--stat") ? summary(of: changes, isTable: isTable) : listing(of: changes))
        return changes.isEmpty ? 0 : 1
    } catch {
        printError("concord diff: \(error)")
        return 2
    }
}

/// The differences of two files of one kind, and whether they are tables. An empty file is of either kind.
private func changes(from oldPath: String, to newPath: String) throws(InputFault) -> (changes: [CatalogChange], isTable: Bool) {
    func ofTables(_ old: TableDocument?, _ new: TableDocument?) -> (changes: [CatalogChange], isTable: Bool) {
        let language = [newPath, oldPath].lazy.compactMap { tableLanguage(of: $0).code }.first
        return (StringsTable.changes(from: old, to: new, language: language), true)
    }
    switch (try readFile(oldPath), try readFile(newPath)) {
    case (.catalog(let old)?, .catalog(let new)?): return (StringCatalog.changes(from: old, to: new), false)
    case (nil, .catalog(let new)?): return (StringCatalog.changes(from: nil, to: new), false)
    case (.catalog(let old)?, nil): return (StringCatalog.changes(from: old, to: .empty), false)
    case (.table(let old)?, .table(let new)?): return ofTables(old, new)
    case (nil, .table(let new)?): return ofTables(nil, new)
    case (.table(let old)?, nil): return ofTables(old, nil)
    case (nil, nil): return ([], false)
    case (.catalog?, .table?): throw InputFault(sentence: "\(oldPath) is a catalog and \(newPath) a table of strings; only files of one kind can be compared")
    case (.table?, .catalog?): throw InputFault(sentence: "\(oldPath) is a table of strings and \(newPath) a catalog; only files of one kind can be compared")
    }
}

/// Prints one file as lines that `git diff` compares well: one leaf a line, led by its key and language.
func textconvDoor(_ words: [String]) -> Int32 {
    guard words.count == 1 else { return usageFault("textconv", "one file is needed") }
    do {
        let bytes = try readBytes(words[0])
        guard bytes.count > 0 else { return 0 }
        // git shows what this prints; a file that does not parse is shown as it is, so that nothing is hidden.
        guard let catalog = try? CatalogDocument(parsing: bytes) else {
            // git gives no name that would say of which kind the file is.
            if let table = try? TableDocument(parsing: bytes) { printOut(lines(of: table)) } else { try writeBytes(bytes, to: "-") }
            return 0
        }
        var lines: [String] = []
        for change in changes(from: nil, to: catalog) {
            if change.isOfKey {
                lines.append("\"\(escaped(change.path.key!))\"")
            } else {
                let place = [change.path.language, change.path.field].compactMap { $0 }.joined(separator: " ")
                lines.append("\(change.path.key == nil ? "" : "    ")\(place): \(escaped(change.new ?? ""))")
            }
        }
        printOut(lines.map { $0 + "\n" }.joined())
        return 0
    } catch {
        printError("concord textconv: \(error.sentence)")
        return 2
    }
}

/// A table with one leaf a line, each led by what leads to it.
private func lines(of table: TableDocument) -> String {
    func lines(_ name: String, _ content: TableContent, _ indent: String) -> String {
        switch content {
        case .text(let text): "\(indent)\(name): \(escaped(text))\n"
        case .other(let lexeme): "\(indent)\(name): \(escaped(lexeme))\n"
        case .array(let values): values.map { lines(name, $0, indent) }.joined()
        case .dictionary(let members): "\(indent)\(name)\n" + members.map { lines(escaped($0.key), $0.value, indent + "    ") }.joined()
        }
    }
    return table.entries.map { entry in
        lines("\"\(escaped(entry.key))\"", entry.content, "") + (entry.comment.map { "    comment: \(escaped($0))\n" } ?? "")
            + (entry.trailingComment.map { "    trailing comment: \(escaped($0))\n" } ?? "")
    }.joined()
}

/// The changes by key, as a person reads them:
///
///     ~ "Cancel"
///         fr value: Anuler → Annuler
///     + "Done"
///         de value: Fertig
private func listing(of changes: [CatalogChange]) -> String {
    var lines: [String] = []
    var key: String?
    var whole: CatalogChange.Kind?
    for change in changes {
        if change.isOfKey {
            key = change.path.key
            whole = change.kind
            lines.append("\(change.kind == .added ? "+" : "-") \"\(escaped(key!))\"")
            continue
        }
        if change.path.key != key {
            key = change.path.key
            whole = nil
            if let key { lines.append("~ \"\(escaped(key))\"") }
        }
        let place = [change.path.language, change.path.field].compactMap { $0 }.joined(separator: " ")
        let indent = change.path.key == nil ? "~ " : "    "
        switch change.kind {
        case .added: lines.append("\(indent)\(place): \(whole == .added ? "" : "(absent) → ")\(escaped(change.new ?? ""))")
        case .removed: lines.append("\(indent)\(place): \(escaped(change.old ?? ""))\(whole == .removed ? "" : " → (absent)")")
        case .changed: lines.append("\(indent)\(place): \(escaped(change.old ?? "")) → \(escaped(change.new ?? ""))")
        }
    }
    return lines.map { $0 + "\n" }.joined()
}

/// How much changed, by language; a table's is that of its folder, where it has one.
private func summary(of changes: [CatalogChange], isTable: Bool) -> String {
    let keys = changes.filter(\.isOfKey)
    var lines: [String] = []
    for (kind, word) in [(CatalogChange.Kind.added, "added"), (.removed, "removed")] {
        let count = keys.count { $0.kind == kind }
        if count > 0 { lines.append("\(count) \(count == 1 ? "key" : "keys") \(word)") }
    }
    let languages = Dictionary(grouping: changes.filter { isTable ? $0.isOfTableText : $0.path.language != nil }) { $0.path.language ?? "table" }
    for (language, own) in languages.sorted(by: { $0.key < $1.key }) {
        let parts = [("added", CatalogChange.Kind.added), ("changed", .changed), ("removed", .removed)].compactMap { word, kind in
            let count = own.count { (isTable || $0.isOfText) && $0.kind == kind }
            return count > 0 ? "\(count) \(word)" : nil
        }
        guard !isTable else {
            lines.append("\(language): texts \(parts.joined(separator: ", "))")
            continue
        }
        let states = own.count(where: \.isOfState)
        lines.append("\(language): texts \(parts.isEmpty ? "unchanged" : parts.joined(separator: ", ")), \(states) \(states == 1 ? "state" : "states")")
    }
    return lines.map { $0 + "\n" }.joined()
}

/// A text on one line, with its control characters as escapes.
func escaped(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\n": out += "\\n"
        case "\t": out += "\\t"
        case "\\": out += "\\\\"
        default:
            if scalar.value < 0x20 || (scalar.value >= 0x7f && scalar.value < 0xa0) {
                out += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
    }
    return out
}
