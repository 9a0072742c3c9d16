// `concord stats`: how far each language is.

import Linux
import StringCatalog
import StringsTable
import Sync

/// Counts the texts of catalogs; see `concord help stats`.
func statsDoor(_ words: [String]) -> Int32 {
    let arguments: Arguments
    do { arguments = try Arguments(words, flags: ["--json"]) } catch { return usageFault("stats", error.sentence) }
    guard !arguments.files.isEmpty else { return usageFault("stats", "name the catalogs or tables to count") }
    var status: Int32 = 0
    func fault(_ sentence: String) {
        printError("concord stats: \(sentence)")
        status = 2
    }
    var counted: [(path: String, languages: [LanguageCoverage])] = []
    let paths: [String]
    do { paths = try namedFiles(arguments.files, "catalog or table", where: isCatalogOrTableName) } catch {
        fault(error.sentence)
        return status
    }
    var tables: [TableGroup] = []
    for path in paths {
        if let group = TableGroup(of: path) {
            if let known = tables.firstIndex(where: { $0.pattern == group.pattern }) { tables[known].paths.append(path) } else { tables.append(group) }
            continue
        }
        do { counted.append((path, coverage(of: try readCatalog(path)))) } catch { fault(error.sentence) }
    }
    for group in tables {
        do {
            let (languages, left) = try group.coverage()
            counted.append((group.pattern, languages))
            guard left > 0 else { continue }
            let entries = left == 1 ? "1 entry is" : "\(left) entries are"
            printError("concord stats: \(group.pattern): \(entries) not counted: no text, or hidden by a later copy of the key")
        } catch { fault("\(error)") }
    }
    if arguments.flags.contains("--json") {
        printOut(JSON.object(["files": .list(counted.map { json(path: $0.path, $0.languages) })]).description + "\n")
    } else {
        printOut(counted.map { "\($0.path)\n\(table($0.languages))" }.joined(separator: "\n"))
    }
    return status
}

/// Tables of one name in the folders of several languages, which are counted together: what one of them lacks, the source has.
private struct TableGroup {
    /// `App/*.lproj/Main.strings(dict)`.
    let pattern: String
    var paths: [String]

    /// Nil for what is no table.
    init?(of path: String) {
        guard TableKind(path: path) != nil else { return nil }
        var parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if let folder = parts.dropLast().lastIndex(where: { $0.hasSuffix(".lproj") }) { parts[folder] = "*.lproj" }
        let name = parts[parts.count - 1]
        parts[parts.count - 1] = "\(name[..<(name.lastIndex(of: ".") ?? name.endIndex)]).strings(dict)"
        pattern = parts.joined(separator: "/")
        paths = [path]
    }

    /// Each language's coverage, and how many entries have no form that can be counted. The source language's tables are read even
    /// if nobody named them.
    func coverage() throws -> (languages: [LanguageCoverage], left: Int) {
        let sourceLanguage = sourceLanguageOnDisk(around: paths[0]) ?? "en"
        var all = paths
        for path in paths {
            for kind in ["strings", "stringsdict"] {
                let stem = path[..<(path.lastIndex(of: ".") ?? path.endIndex)]
                let source = sourceSiblings(of: "\(stem).\(kind)", sourceLanguage: sourceLanguage).first { Linux.kind(ofFile: $0) == .regular }
                if let source, !all.contains(source) { all.append(source) }
            }
        }
        let tables = try all.map { path in
            let language = TableLanguage(path: path, sourceLanguage: sourceLanguage)
            let table = LocalizedTable(
                language: language.code ?? sourceLanguage, kind: TableKind(path: path) ?? .strings, document: try parseTable(readBytes(path), path))
            return (table: table, isOfBase: path.split(separator: "/").contains("Base.lproj"), isSource: language.isSource || language.code == nil)
        }
        let migration = try migrated(loaded(tables, table: \.table, isOfBase: \.isOfBase).map(\.table), sourceLanguage: sourceLanguage)
        let languages = StringCatalog.coverage(of: try CatalogDocument(parsing: migration.bytes))
        // Without a table of the source language nothing is known of its texts.
        return (languages.filter { tables.contains(where: \.isSource) || !$0.isSource }, migration.left.count)
    }
}

/// A line for each language; the column of machine translations only where there are any.
private func table(_ languages: [LanguageCoverage]) -> String {
    let hasMachine = languages.contains { $0.machineTranslated > 0 }
    var rows = [["language", "texts", "translated"] + (hasMachine ? ["machine"] : []) + ["needs_review", "new", "missing", "stale", "percent"]]
    for language in languages {
        let counts = [language.texts, language.translated] + (hasMachine ? [language.machineTranslated] : [])
            + [language.needsReview, language.new, language.missing, language.stale]
        rows.append([language.language + (language.isSource ? " (source)" : "")] + counts.map(String.init) + [percent(language)])
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max()! }
    return rows.map { row in
        let cells = row.enumerated().map { i, cell in i == 0 ? padded(cell, widths[0]) : String(repeating: " ", count: widths[i] - cell.count) + cell }
        return "  " + cells.joined(separator: "  ") + "\n"
    }.joined()
}

private func percent(_ language: LanguageCoverage) -> String { "\(language.permille / 10).\(language.permille % 10) %" }

private func json(path: String, _ languages: [LanguageCoverage]) -> JSON {
    .object([
        "path": .string(path),
        "languages": .list(
            languages.map { language in
                .object([
                    "language": .string(language.language), "isSource": .boolean(language.isSource), "texts": .number(language.texts),
                    "translated": .number(language.translated), "machineTranslated": .number(language.machineTranslated),
                    "needsReview": .number(language.needsReview), "new": .number(language.new), "missing": .number(language.missing),
                    "stale": .number(language.stale), "permille": .number(language.permille),
                ])
            }),
    ])
}
