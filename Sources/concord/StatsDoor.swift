// `concord stats`: how far each language is.

import StringCatalog
import Sync

/// Counts the texts of catalogs; see `concord help stats`.
func statsDoor(_ words: [String]) -> Int32 {
    let arguments: Arguments
    do { arguments = try Arguments(words, flags: ["--json"]) } catch { return usageFault("stats", error.sentence) }
    guard !arguments.files.isEmpty else { return usageFault("stats", "name the catalogs to count") }
    var status: Int32 = 0
    var counted: [(path: String, languages: [LanguageCoverage])] = []
    for path in arguments.files {
        do {
            counted.append((path, coverage(of: try readCatalog(path))))
        } catch {
            printError("concord stats: \(error.sentence)")
            status = 2
        }
    }
    if arguments.flags.contains("--json") {
        printOut(JSON.object(["files": .list(counted.map { json(path: $0.path, $0.languages) })]).description + "\n")
    } else {
        printOut(counted.map { "\($0.path)\n\(table($0.languages))" }.joined(separator: "\n"))
    }
    return status
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
