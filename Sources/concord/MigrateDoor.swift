// `concord migrate`: the tables of `.lproj` folders become catalogs, as Xcode's "Migrate to String Catalog" makes them.

import Linux
import StringCatalog
import StringsTable

/// Migrates the tables below a folder; see `concord help migrate`.
func migrateDoor(_ words: [String]) -> Int32 {
    let arguments: Arguments
    do { arguments = try Arguments(words, valued: ["--source-language"], flags: ["--dry-run", "--force"]) } catch { return usageFault("migrate", error.sentence) }
    guard arguments.files.count == 1 else { return usageFault("migrate", "one folder is needed: the one that holds the .lproj folders") }
    let folder = arguments.files[0]
    do {
        let tables = try TableSet(folder: folder, sourceLanguage: arguments["--source-language"] ?? sourceLanguageOnDisk(ofTablesIn: folder) ?? "en")
        guard !tables.names.isEmpty else { throw InputFault(sentence: "\(folder): no .lproj folder here holds a .strings or .stringsdict file") }
        var isComplete = true
        for name in tables.names {
            if let why = tables.skipped[name] {
                printOut("\(name): left as it is: \(why)\n")
                isComplete = false
                continue
            }
            let migration = try migrated(tables.tables(named: name), sourceLanguage: tables.sourceLanguage)
            let path = "\(folder)/\(name).xcstrings"
            if !arguments.flags.contains("--dry-run") {
                guard arguments.flags.contains("--force") || (try? readBytes(path)) == nil else {
                    throw InputFault(sentence: "\(path) is there already; --force replaces it")
                }
                try writeBytes(migration.bytes, to: path)
            }
            let counts = migration.counts.map { "\($0.language) \($0.keys)" }.joined(separator: ", ")
            printOut("\(path): keys by language: \(counts)\n")
            for leftover in migration.left { printOut("  not migrated: \(leftover)\n") }
            if !migration.left.isEmpty { isComplete = false }
        }
        return isComplete ? 0 : 1
    } catch let fault as InputFault {
        printError("concord migrate: \(fault.sentence)")
        return 2
    } catch {
        printError("concord migrate: \(error); nothing more was written. This is a fault of Concord, please report it.")
        return 3
    }
}

/// The tables that stand in the `.lproj` folders of one folder.
private struct TableSet {
    let sourceLanguage: String
    /// The names of tables, without their extensions.
    private(set) var names: [String] = []
    /// Tables that a catalog does not replace, and why.
    private(set) var skipped: [String: String] = [:]
    private var paths: [String: [(language: String, kind: TableKind, path: String)]] = [:]

    init(folder: String, sourceLanguage: String) throws(InputFault) {
        self.sourceLanguage = sourceLanguage
        let folders = try entries(of: folder).filter { $0.hasSuffix(".lproj") && isDirectory("\(folder)/\($0)") }
        let hasBase = folders.contains("Base.lproj")
        for lproj in folders {
            let language = TableLanguage(path: "\(lproj)/x", sourceLanguage: sourceLanguage).code ?? sourceLanguage
            for file in try entries(of: "\(folder)/\(lproj)") {
                let stem = String(file.prefix(while: { $0 != "." }))
                if file.hasSuffix(".storyboard") || file.hasSuffix(".xib") {
                    skipped[stem] = "it belongs to \(lproj)/\(file), whose texts Xcode migrates together with it"
                }
                guard let kind = TableKind(path: file), let dot = file.lastIndex(of: ".") else { continue }
                let name = String(file[..<dot])
                // Texts of Base.lproj are the source language's, but that language's own folder comes first at run time.
                if lproj == "Base.lproj", hasBase, folders.contains("\(sourceLanguage).lproj"),
                    try entries(of: "\(folder)/\(sourceLanguage).lproj").contains(file)
                { continue }
                paths[name, default: []].append((language, kind, "\(folder)/\(lproj)/\(file)"))
            }
        }
        names = paths.keys.sorted()
    }

    func tables(named name: String) throws(InputFault) -> [LocalizedTable] {
        var tables: [LocalizedTable] = []
        for item in paths[name] ?? [] {
            tables.append(LocalizedTable(language: item.language, kind: item.kind, document: try parseTable(readBytes(item.path), item.path)))
        }
        return tables
    }
}

private func entries(of folder: String) throws(InputFault) -> [String] {
    do { return try Linux.entries(ofDirectory: folder).sorted() } catch { throw InputFault(sentence: "\(error)") }
}
