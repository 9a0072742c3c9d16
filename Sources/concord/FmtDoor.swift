// `concord fmt`: catalogs as Xcode writes them.

import StringCatalog
import StringsTable

/// Rewrites catalogs; see `concord help fmt`.
func fmtDoor(_ words: [String]) -> Int32 {
    let arguments: Arguments
    do { arguments = try Arguments(words, flags: ["--check"]) } catch { return usageFault("fmt", error.sentence) }
    guard !arguments.files.isEmpty else { return usageFault("fmt", "name the catalogs to rewrite") }
    let isCheck = arguments.flags.contains("--check")
    var status: Int32 = 0
    let paths: [String]
    do { paths = try namedFiles(arguments.files, "catalog or table", where: isCatalogOrTableName) } catch {
        printError("concord fmt: \(error.sentence)")
        return 2
    }
    // Xcode never rewrites a table: people do, and their order and spacing say something.
    let tables = paths.filter { TableKind(path: $0) != nil }
    if let first = tables.first {
        let stay = tables.count == 1 ? "\(first) stays as it is" : "\(tables.count) tables (\(first), …) stay as they are"
        printError("concord fmt: \(stay): a table of strings has no canonical form")
    }
    for path in paths where TableKind(path: path) == nil {
        do {
            let catalog = try readCatalog(path)
            let written = formatted(catalog)
            guard written.array != catalog.bytes.array else { continue }
            if isCheck {
                printOut("\(path)\n")
                status = max(status, 1)
            } else {
                try writeBytes(written, to: path)
            }
        } catch {
            printError("concord fmt: \(error.sentence)")
            status = 2
        }
    }
    return status
}
