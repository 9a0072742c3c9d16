import Git
import StringCatalog
import StringsTable

// Syncs of two branches of which one has migrated its tables to a string catalog and the other has not:
//
//     base                            ours                      theirs
//     en.lproj/Localizable.strings    Localizable.xcstrings     en.lproj/Localizable.strings
//     fr.lproj/Localizable.strings                              fr.lproj/Localizable.strings    edited
//
// For git the tables are deleted here and changed there. Here the trees are first put into one form, and then merged as any
// others:
//
//     base                            ours                      theirs
//     Localizable.xcstrings           Localizable.xcstrings     Localizable.xcstrings           the edit, needs_review
//
// That form is the target's: a branch that has a catalog gets table edits in it, and a branch that has tables keeps them and
// gets what changed in the catalog. Where neither branch is the translators', the migration comes over like any change.
//
// A commit with tables that had a migrated branch as its parent would tell git that the migration was undone. So such a sync
// has one parent (see `SyncHistory`), and V, the base it leaves, has the texts in both forms: what the source had, and the same
// as it was brought over. The next merge sees from them what changed since, in whichever form.

/// The trees of a merge, in one form.
struct MigrationSync {
    let base: ObjectID?
    let ours: ObjectID
    let theirs: ObjectID
    /// What has no place in the form of the other side.
    var held: [Held] { crossings.flatMap(\.held) }
    private let crossings: [Crossing]
    private let sync: CatalogSync

    /// Looks for names of tables that only one side has migrated; where there are none, the trees stay as they are.
    init(
        _ step: Step, base: ObjectID?, ours: ObjectID, theirs: ObjectID, sync: CatalogSync, isSelected: (TreePath) -> Bool
    ) throws(GitError) {
        self.sync = sync
        var crossings: [Crossing] = []
        if let base {
            // A source that migrated has deleted tables, and one that has not matters only where it changed some. So what a merge
            // looks at anyway is enough.
            let names = Set(try sync.repository.changes(from: base, to: theirs).compactMap { ($0.old ?? $0.new).flatMap { TableName(of: $0.path) } })
            for name in names.sorted(by: { $0.catalog < $1.catalog }) {
                let sides = Standings(
                    base: try Standing(of: name, in: base, sync.repository), ours: try Standing(of: name, in: ours, sync.repository),
                    theirs: try Standing(of: name, in: theirs, sync.repository))
                guard let crossing = try Crossing(name, sides, step, sync, isSelected) else { continue }
                crossings.append(crossing)
            }
        }
        func tree(_ tree: ObjectID, _ side: (Standings) -> Standing) throws(GitError) -> ObjectID {
            var edits: [TreeEdit] = []
            for crossing in crossings {
                let (raw, merged) = (side(crossing.raw).files, side(crossing.merged).files)
                edits += raw.keys.filter { merged[$0] == nil }.sorted().map { .remove($0) }
                edits += merged.values.filter { raw[$0.path] != $0 }.sorted { $0.path < $1.path }.map { .put($0) }
            }
            return edits.isEmpty ? tree : try sync.repository.write(tree: tree, with: edits)
        }
        self.base = try base.flatMapThrowing { base throws(GitError) in try tree(base) { $0.base } }
        self.ours = try tree(ours) { $0.ours }
        self.theirs = try tree(theirs) { $0.theirs }
        self.crossings = crossings
    }

    /// Whether the target has tables that stay, though the source has migrated.
    var keepsTables: Bool { crossings.contains { $0.form == .tables } }

    /// Whether the target has everything of the source's texts in another form, as far as is on record.
    var hasAllArrived: Bool { crossings.allSatisfy { $0.held.isEmpty && $0.merged.base == $0.merged.theirs } }

    /// What a person decided to leave out, by catalog.
    var traces: [(file: TreePath, trace: MergeTrace)] { crossings.map { ($0.name.catalog, $0.trace) } }

    /// Whether a file is one whose form differs between the sides.
    func concerns(_ path: TreePath) -> Bool { crossings.contains { $0.concerns(path) } }

    /// Decides about one file, in the one form.
    func resolve(_ file: FileMerge, by sync: CatalogSync) throws(GitError) -> CatalogResult {
        guard let crossing = crossings.first(where: { $0.form == .catalog && $0.name.catalog == file.path }) else { return try sync.resolve(file) }
        // Only one side did more than to migrate: its own bytes are better than those that a conversion gives.
        if crossing.isOursConverted, let theirs = file.theirs, file.ours?.id == file.base?.id { return CatalogResult(file: file, resolution: .entry(theirs)) }
        var result = try sync.resolve(file)
        if let merged = result.merged { result.trace.decisions += crossing.decisions(in: merged) }
        return result
    }

    /// What the base of the next merge has of the texts that are in two forms.
    func nextBase(after results: [CatalogResult]) throws(GitError) -> [TreeEdit] {
        var edits: [TreeEdit] = []
        for crossing in crossings {
            let files = try crossing.nextBase(after: results, sync).files
            let gone = Set((crossing.raw.base.entries + crossing.raw.theirs.entries).map(\.path))
            edits += gone.filter { files[$0] == nil }.sorted().map { .remove($0) }
            edits += files.values.sorted { $0.path < $1.path }.map { .put($0) }
        }
        return edits
    }
}

/// A name that tables of all languages share, and the catalog in their place: `App/fr.lproj/Main.strings`, `App/Main.xcstrings`.
struct TableName: Hashable {
    let catalog: TreePath
    let folder: TreePath?
    let stem: String

    /// The name that a catalog or a table of a language has; `nil` for any other file.
    init?(of path: TreePath) {
        guard path.isSafe, Array(path.description.utf8) == path.bytes else { return nil }
        if path.name.hasSuffix(".xcstrings") {
            (catalog, folder, stem) = (path, path.parent, String(path.name.dropLast(".xcstrings".count)))
        } else {
            guard TableKind(path: path.name) != nil, let language = path.parent, language.name.hasSuffix(".lproj"), let dot = path.name.lastIndex(of: ".") else { return nil }
            (folder, stem) = (language.parent, String(path.name[..<dot]))
            guard let catalog = TreePath((folder.map { "\($0)/" } ?? "") + stem + ".xcstrings") else { return nil }
            self.catalog = catalog
        }
    }

    func path(_ language: String, _ kind: TableKind) -> TreePath? {
        TreePath((folder.map { "\($0)/" } ?? "") + "\(language).lproj/\(stem).\(kind == .strings ? "strings" : "stringsdict")")
    }
}

/// The code that a catalog has for the language of a `.lproj` folder; the folder's own where it has none. Of two folders for one language
/// the one with the catalog's own code is the catalog's.
func spelling(ofFolder own: String, among codes: [String], _ folders: [String], _ aliases: LanguageAliases) -> String {
    guard !codes.contains(where: { isSameLanguage($0, own) }), let code = codes.first(where: { aliases.areSame($0, currentCode(own)) }),
        !folders.contains(where: { $0 != own && aliases.areSame($0, code) })
    else { return own }
    return code
}

/// What a tree has of one name.
struct Standing: Equatable {
    var catalog: TreeEntry?
    var tables: [TreeEntry] = []

    init(catalog: TreeEntry? = nil, tables: [TreeEntry] = []) { (self.catalog, self.tables) = (catalog, tables) }

    init(of name: TableName, in tree: ObjectID, _ repository: Repository) throws(GitError) {
        catalog = try repository.entry(at: name.catalog, in: tree)
        for folder in try repository.entries(ofDirectory: name.folder, in: tree) where folder.mode == .tree && folder.path.name.hasSuffix(".lproj") {
            tables += try repository.entries(ofDirectory: folder.path, in: tree)
                .filter { ["\(name.stem).strings", "\(name.stem).stringsdict"].contains($0.path.name) }
        }
    }

    var entries: [TreeEntry] { [catalog].compactMap { $0 } + tables }
    var files: [TreePath: TreeEntry] { Dictionary(entries.map { ($0.path, $0) }) { $1 } }
    var isMigrated: Bool { catalog != nil && tables.isEmpty }
    var hasTablesOnly: Bool { catalog == nil && !tables.isEmpty }
}

/// What the three trees of a merge have of one name.
private struct Standings {
    let base, ours, theirs: Standing
    var all: [Standing] { [base, ours, theirs] }
}

extension TreePath {
    /// Whether it stands in `Base.lproj`.
    var isInBaseFolder: Bool { parent?.name == "Base.lproj" }
}

/// A table in a tree, read.
private struct ReadTable {
    let entry: TreeEntry
    let table: LocalizedTable
}

/// A text, or all of a key, that waits.
private struct HeldKey: Hashable {
    let key: String
    /// `nil` for every language.
    let language: String?

    func isIn(_ other: String) -> Bool { language.map { isSameLanguage($0, other) } ?? true }
}

/// Why a name cannot be brought into another form: as a whole it waits for a person.
private struct CrossingFault: Error {
    let file: TreePath
    let sentence: String
}

/// One name that only one side has migrated.
private struct Crossing {
    enum Form { case catalog, tables }

    let name: TableName
    /// The form in which the sides are merged.
    let form: Form
    /// Whether the target's tables become a catalog by this merge.
    let isOursConverted: Bool
    /// As the trees have it.
    let raw: Standings
    /// As it is merged.
    private(set) var merged: Standings
    private(set) var held: [Held] = []
    /// What is not held any more because a person decided about it.
    private(set) var trace = MergeTrace()

    /// The tables of the base and of the side that has them, and the catalogs that they or the base are.
    private var baseTables: [ReadTable] = []
    private var editedTables: [ReadTable] = []
    private var baseCatalog: CatalogDocument?
    private var editedCatalog: CatalogDocument?
    private var isFrozen = false

    /// `nil` where the sides are in one form, or nothing tells how the forms belong together.
    init?(_ name: TableName, _ sides: Standings, _ step: Step, _ sync: CatalogSync, _ isSelected: (TreePath) -> Bool) throws(GitError) {
        let (base, ours, theirs) = (sides.base, sides.ours, sides.theirs)
        guard !base.tables.isEmpty else { return nil }
        guard ours.isMigrated && theirs.hasTablesOnly || ours.hasTablesOnly && theirs.isMigrated else { return nil }
        guard [base, ours, theirs].flatMap(\.entries).allSatisfy({ isSelected($0.path) && $0.mode.isFile }) else { return nil }
        for entry in [base, ours, theirs].flatMap(\.entries) where try sync.isForeignFormat(entry) { return nil }
        (self.name, raw, merged) = (name, sides, sides)
        form = ours.isMigrated || step.isTargetTheSourceRole == nil ? .catalog : .tables
        isOursConverted = form == .catalog && !ours.isMigrated
        do {
            switch form {
            case .catalog: try bringIntoCatalog(sync)
            case .tables: try bringIntoTables(sync)
            }
            dropDecided(sync)
        } catch let error as GitError {
            throw error
        } catch {
            // Nothing comes over, and the next merge starts from the same base.
            let fault = error as? CrossingFault
            merged = Standings(base: base, ours: ours, theirs: base)
            isFrozen = true
            held = [Held(
                file: fault?.file ?? name.catalog, leaf: nil, base: nil, ours: nil, theirs: nil,
                why: "\(ours.isMigrated ? sync.ends.ours : sync.ends.theirs) has migrated to a catalog, and texts cannot be brought over: \(fault?.sentence ?? "\(error)")")]
        }
    }

    func concerns(_ path: TreePath) -> Bool {
        (raw.all + merged.all).contains { standing in standing.entries.contains { $0.path == path } }
    }

    /// What a person decided about these very values waits no longer. The text stays out for good, or was put in by hand.
    private mutating func dropDecided(_ sync: CatalogSync) {
        guard let known = sync.resolutions[name.catalog.description] else { return }
        held.removeAll { place in
            guard let leaf = place.leaf, known.resolution(at: leaf, base: place.base, ours: place.ours, theirs: place.theirs, aliases: sync.policy.aliases) != nil else { return false }
            if let text = place.theirs {
                trace.losses.append((Loss(path: leaf, text: text, from: "theirs", rule: "a person decided it"), place.base, place.ours, place.theirs))
            }
            return true
        }
    }

    // MARK: From tables into the catalog

    private mutating func bringIntoCatalog(_ sync: CatalogSync) throws {
        let (base, edited) = (raw.base, isOursConverted ? raw.ours : raw.theirs)
        guard let catalog = (isOursConverted ? raw.theirs : raw.ours).catalog else { return }
        let present = try Self.catalog(catalog, sync)
        let source = present.sourceLanguage ?? "en"
        baseTables = try Self.tables(base, source, spelledAsIn: present, sync)
        editedTables = try Self.tables(edited, source, spelledAsIn: present, sync)
        let (old, new) = (Self.effective(baseTables), Self.effective(editedTables))
        var common = try base.catalog.map { try Self.spelled(Self.catalog($0, sync), asIn: present, sync.policy.aliases) }
            ?? CatalogDocument(parsing: migrated(old, sourceLanguage: source).bytes)
        // The result follows the bytes of ours, so these have to follow the one catalog that people know.
        if isOursConverted { common = try CatalogDocument(parsing: merge(base: present, ours: present, theirs: common).bytes) }
        // What the base has in both forms is the same: the edit alone differs.
        let brought = try mergeAcrossMigration(base: old, edited: new, into: common, policy: MergePolicy(rules: [.init(choice: .theirs)]))
        baseCatalog = common
        editedCatalog = try CatalogDocument(parsing: brought.bytes)
        for conflict in brought.report.conflicts {
            held.append(Held(file: name.catalog, leaf: conflict.path, base: conflict.base, ours: conflict.ours, theirs: conflict.theirs, why: conflict.why))
        }
        holdLeftovers(
            try migrated(old, sourceLanguage: source).left, try migrated(new, sourceLanguage: source).left, on: isOursConverted ? sync.ends.ours : sync.ends.theirs)
        let standing = Standing(catalog: try entry(name.catalog, like: catalog, common.bytes, sync))
        let other = Standing(catalog: try entry(name.catalog, like: catalog, brought.bytes, sync))
        merged = Standings(base: standing, ours: isOursConverted ? other : raw.ours, theirs: isOursConverted ? raw.theirs : other)
    }

    /// Holds what changed in tables and has no form in a catalog.
    private mutating func holdLeftovers(_ old: [Migration.Leftover], _ new: [Migration.Leftover], on branch: String) {
        func content(_ tables: [ReadTable], _ leftover: Migration.Leftover) -> String? {
            let leaves = tables.filter { $0.table.language == leftover.language }.flatMap { $0.table.document.leaves(of: leftover.key, language: nil) }
            let lines = leaves.map { "\($0.key.field ?? ""): \($0.value)" }.sorted()
            return lines.isEmpty ? nil : lines.joined(separator: "\n")
        }
        let known = Set(old.map(\.description))
        // A copy of a key that a later one hides is no text for anybody.
        for leftover in new where !leftover.why.hasPrefix("a later copy") {
            if known.contains(leftover.description), content(baseTables, leftover) == content(editedTables, leftover) { continue }
            held.append(Held(
                file: name.catalog, leaf: LeafPath(key: leftover.key, language: leftover.language), base: content(baseTables, leftover), ours: nil,
                theirs: content(editedTables, leftover),
                why: "edited in a table on \(branch), and a catalog cannot say it: \(leftover.why)"))
        }
    }

    /// What is to be told of table edits that are in a merged catalog.
    func decisions(in result: CatalogDocument) -> [Decision] {
        guard let baseCatalog, let editedCatalog else { return [] }
        let arrived = changes(from: baseCatalog, to: result).filter(\.isOfText)
        return changes(from: baseCatalog, to: editedCatalog).filter { $0.isOfText && arrived.contains($0) }.map { change in
            Decision(
                path: change.leaf, rule: "edited in a table after the other branch migrated to a catalog",
                outcome: change.new.map { "\"\($0)\" came over" } ?? "removed")
        }
    }

    // MARK: From the catalog into tables

    private mutating func bringIntoTables(_ sync: CatalogSync) throws {
        let (base, ours) = (raw.base, raw.ours)
        guard let catalog = raw.theirs.catalog else { return }
        let edited = try Self.catalog(catalog, sync)
        let source = edited.sourceLanguage ?? "en"
        baseTables = try Self.tables(base, source, spelledAsIn: edited, sync)
        let common = try base.catalog.map { try Self.spelled(Self.catalog($0, sync), asIn: edited, sync.policy.aliases) }
            ?? CatalogDocument(parsing: migrated(Self.effective(baseTables), sourceLanguage: source).bytes)
        (baseCatalog, editedCatalog) = (common, edited)
        let changed = changes(from: common, to: edited)
        var brought: [(entry: TreeEntry, document: TableDocument)] = []
        let targets = Self.targets(baseTables, try Self.tables(ours, source, spelledAsIn: edited, sync), changed, name)
        let seen = Set(loaded(targets, table: \.table) { $0.entry.path.isInBaseFolder }.map(\.entry.path))
        for target in targets {
            // What the source language's own folder hides stays as it is.
            guard seen.contains(target.entry.path) else {
                brought.append((target.entry, target.table.document))
                continue
            }
            let result = try mergeAcrossMigration(base: common, edited: edited, into: target.table, since: target.table.document)
            guard !result.isUnchanged || !target.isNew else { continue }
            let document = result.isUnchanged ? target.table.document : try TableDocument(parsing: result.bytes)
            let made = result.isUnchanged ? target.entry : try entry(target.entry.path, like: target.entry, result.bytes, sync)
            brought.append((made, document))
        }
        editedTables = brought.compactMap { item in
            targets.first { $0.entry.path == item.entry.path }.map {
                ReadTable(entry: item.entry, table: LocalizedTable(language: $0.table.language, kind: $0.table.kind, document: item.document))
            }
        }
        try holdWhatTablesLack(changed, source, sync.ends)
        merged = Standings(base: Standing(tables: base.tables), ours: ours, theirs: Standing(tables: brought.map(\.entry)))
    }

    /// Holds texts of the catalog that read back from the tables are not what they were.
    private mutating func holdWhatTablesLack(_ changed: [CatalogChange], _ source: String, _ ends: (ours: String, theirs: String)) throws {
        struct Place: Hashable {
            let key, language: [UInt8]
            let field: String
        }
        func place(_ path: LeafPath) -> Place { Place(key: Array((path.key ?? "").utf8), language: languageIdentity(Array((path.language ?? "").utf8)), field: path.field ?? "") }
        let back = try CatalogDocument(parsing: migrated(Self.effective(editedTables), sourceLanguage: source).bytes)
        var texts: [Place: String] = [:]
        for change in changes(from: nil, to: back) where change.isOfText { texts[place(change.path)] = change.new }
        var seen: Set<HeldKey> = []
        for change in changed where change.isOfText && texts[place(change.path)] != change.new {
            guard let key = change.path.key, seen.insert(HeldKey(key: key, language: change.path.language)).inserted else { continue }
            held.append(Held(
                file: name.catalog, leaf: LeafPath(key: key, language: change.path.language), base: change.old, ours: texts[place(change.path)], theirs: change.new,
                why: change.new == nil
                    ? "\(ends.theirs) removed it in the catalog, and it stays in the table of \(ends.ours): neither the last text of a table is removed nor the category other"
                    : "\(ends.theirs) changed it in the catalog, and the tables of \(ends.ours) cannot say it as it is there (\(change.path.field ?? ""))"))
        }
    }

    /// The tables that changes of a catalog may go to, as they were in the base; those that it lacked are empty.
    private static func targets(
        _ base: [ReadTable], _ ours: [ReadTable], _ changed: [CatalogChange], _ name: TableName
    ) -> [(entry: TreeEntry, table: LocalizedTable, isNew: Bool)] {
        var targets = base.map { (entry: $0.entry, table: $0.table, isNew: false) }
        func add(_ language: String, _ kind: TableKind, _ path: TreePath?, like: TreeEntry?) {
            guard !targets.contains(where: { isSameLanguage($0.table.language, language) && $0.table.kind == kind }) else { return }
            // An empty table is a fixed text: that it cannot be read is impossible.
            guard let path, let model = like ?? base.first?.entry, let document = try? TableDocument(parsing: Bytes(Array(emptyTable(kind).utf8))) else { return }
            targets.append((TreeEntry(path: path, mode: .file, id: model.id), LocalizedTable(language: language, kind: kind, document: document), true))
        }
        for table in ours { add(table.table.language, table.table.kind, table.entry.path, like: table.entry) }
        var languages: [String] = base.map(\.table.language)
        for language in changed.filter(\.isOfText).compactMap(\.path.language) where !languages.contains(where: { isSameLanguage($0, language) }) {
            languages.append(language)
        }
        for language in languages {
            // The folder that the language has already, however it is spelled.
            let folder = (base + ours).first { isSameLanguage($0.table.language, language) }?.entry.path.parent
            for kind in [TableKind.strings, .stringsdict] {
                let path = folder.map { TreePath("\($0)/\(name.stem).\(kind == .strings ? "strings" : "stringsdict")") } ?? name.path(language, kind)
                add(language, kind, path, like: nil)
            }
        }
        return targets
    }

    private static func emptyTable(_ kind: TableKind) -> String {
        switch kind {
        case .strings: ""
        case .stringsdict:
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            </dict>
            </plist>

            """
        }
    }

    // MARK: The base of the next merge

    /// The texts in both forms, what is held as it was in the base in both.
    func nextBase(after results: [CatalogResult], _ sync: CatalogSync) throws(GitError) -> Standing {
        let unchanged = raw.base
        guard !isFrozen, let baseCatalog, let editedCatalog else { return unchanged }
        do {
            switch form {
            case .catalog: return try nextBaseOfCatalog(results.first { $0.file.path == name.catalog }, baseCatalog, editedCatalog, sync)
            case .tables: return try nextBaseOfTables(results, baseCatalog, editedCatalog, sync)
            }
        } catch let error as GitError {
            throw error
        } catch {
            // As if nothing had come over: what did is the same on both sides then.
            return unchanged
        }
    }

    private func nextBaseOfCatalog(_ result: CatalogResult?, _ old: CatalogDocument, _ new: CatalogDocument, _ sync: CatalogSync) throws -> Standing {
        guard let theirs = merged.theirs.catalog else { return raw.base }
        let catalog: TreeEntry?
        switch result?.nextBase {
        case nil: catalog = theirs
        case .bytes(let bytes)?: catalog = try entry(theirs.path, like: theirs, Bytes(bytes), sync)
        case .base?:
            guard !isOursConverted else { return Standing(catalog: merged.base.catalog) }
            return raw.base
        }
        // Both have the catalog now.
        if isOursConverted { return Standing(catalog: catalog) }
        let waiting = heldKeys(of: [result].compactMap { $0 })
        var tables: [TreeEntry] = []
        for table in editedTables {
            let before = baseTables.first { $0.entry.path == table.entry.path }
            let report = report(holding: waiting.filter { $0.isIn(table.table.language) })
            let merge = TableMerge(bytes: table.table.document.bytes, isUnchanged: true, report: report)
            let bytes = try baseAfter(merge, base: before?.table.document, theirs: table.table.document)
            tables.append(try entry(table.entry.path, like: table.entry, bytes, sync))
        }
        // A table that is gone stays as long as a text of it waits.
        tables += baseTables.filter { table in
            !editedTables.contains { $0.entry.path == table.entry.path } && waiting.contains { $0.isIn(table.table.language) }
        }.map(\.entry)
        return Standing(catalog: catalog, tables: tables)
    }

    private func nextBaseOfTables(_ results: [CatalogResult], _ old: CatalogDocument, _ new: CatalogDocument, _ sync: CatalogSync) throws -> Standing {
        guard let theirs = raw.theirs.catalog else { return raw.base }
        var waiting = heldKeys(of: [])
        var tables: [TreeEntry] = []
        for table in editedTables {
            let result = results.first { $0.file.path == table.entry.path }
            switch result?.nextBase {
            case nil: tables.append(table.entry)
            case .bytes(let bytes)?: tables.append(try entry(table.entry.path, like: table.entry, Bytes(bytes), sync))
            case .base?:
                if let before = raw.base.tables.first(where: { $0.path == table.entry.path }) { tables.append(before) }
                // All that changed in this language waits.
                for change in changes(from: old, to: new) {
                    if let key = change.path.key, let language = change.path.language, isSameLanguage(language, table.table.language) { waiting.insert(HeldKey(key: key, language: language)) }
                }
            }
            for place in result?.held ?? [] { if let key = place.leaf?.key { waiting.insert(HeldKey(key: key, language: table.table.language)) } }
        }
        let merge = CatalogMerge(bytes: new.bytes, isUnchanged: true, report: report(holding: waiting))
        let bytes = try baseAfter(merge, base: old, theirs: new)
        return Standing(catalog: try entry(name.catalog, like: theirs, bytes, sync), tables: tables)
    }

    private func heldKeys(of results: [CatalogResult]) -> Set<HeldKey> {
        Set((held + results.flatMap(\.held)).compactMap { place in place.leaf?.key.map { HeldKey(key: $0, language: place.leaf?.language) } })
    }

    /// A report that puts back these keys whole: a text of one form has no single place in the other.
    private func report(holding keys: Set<HeldKey>) -> MergeReport {
        var report = MergeReport()
        report.conflicts = Set(keys.map(\.key)).sorted().map { MergeConflict(path: LeafPath(key: $0), base: nil, ours: nil, theirs: nil, why: "held") }
        return report
    }

    // MARK: Files

    private func entry(_ path: TreePath, like: TreeEntry, _ bytes: Bytes, _ sync: CatalogSync) throws(GitError) -> TreeEntry {
        TreeEntry(path: path, mode: like.mode, id: try sync.repository.write(blob: bytes.array))
    }

    private static func catalog(_ entry: TreeEntry, _ sync: CatalogSync) throws -> CatalogDocument {
        do { return try CatalogDocument(parsing: bytes(entry, sync)) } catch let error as CatalogError { throw CrossingFault(file: entry.path, sentence: "it cannot be read: \(error)") }
    }

    /// The tables of a tree, each with the code that the catalog has for its language: `zh-CN.lproj` goes with `zh-Hans` where the
    /// configuration says that they are one.
    private static func tables(_ standing: Standing, _ source: String, spelledAsIn catalog: CatalogDocument, _ sync: CatalogSync) throws -> [ReadTable] {
        let codes = coverage(of: catalog).map(\.language)
        let tables: [ReadTable] = try standing.tables.compactMap { entry in
            guard let kind = TableKind(path: entry.path.name), let language = TableLanguage(path: entry.path.description, sourceLanguage: source).code else { return nil }
            do {
                return ReadTable(entry: entry, table: LocalizedTable(language: language, kind: kind, document: try TableDocument(parsing: bytes(entry, sync))))
            } catch let error as TableError {
                throw CrossingFault(file: entry.path, sentence: "it cannot be read: \(error)")
            }
        }
        let folders = tables.map(\.table.language)
        return tables.map { read in
            let code = spelling(ofFolder: read.table.language, among: codes, folders, sync.policy.aliases)
            return ReadTable(entry: read.entry, table: LocalizedTable(language: code, kind: read.table.kind, document: read.table.document))
        }
    }

    /// A catalog with the codes that another one has for its languages.
    private static func spelled(_ catalog: CatalogDocument, asIn other: CatalogDocument, _ aliases: LanguageAliases) throws -> CatalogDocument {
        let codes = coverage(of: other).map(\.language)
        let isOther = coverage(of: catalog).contains { own in
            !codes.contains { isSameLanguage($0, own.language) } && codes.contains { aliases.areSame($0, own.language) }
        }
        guard !aliases.isEmpty, isOther else { return catalog }
        // A merge follows the bytes of ours, and writes what theirs has in its spelling.
        var policy = MergePolicy(rules: [.init(choice: .theirs)])
        policy.aliases = aliases
        return try CatalogDocument(parsing: merge(base: other, ours: other, theirs: catalog, policy: policy).bytes)
    }

    private static func bytes(_ entry: TreeEntry, _ sync: CatalogSync) throws -> Bytes {
        guard let bytes = try sync.files.bytes(entry) else {
            throw CrossingFault(file: entry.path, sentence: "\(try sync.repository.size(ofBlob: entry.id)) bytes are more than the \(sync.bytesMax) allowed")
        }
        return bytes
    }

    private static func effective(_ tables: [ReadTable]) -> [LocalizedTable] {
        loaded(tables, table: \.table) { $0.entry.path.isInBaseFolder }.map(\.table)
    }
}

extension CatalogChange {
    /// The place with all that leads to it, as merges name it: `variations.plural.one.stringUnit.value`.
    var leaf: LeafPath {
        var out: [String] = []
        var isName = false
        for part in (path.field ?? "").split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
            if !isName, part == "plural" || part == "device" { out.append("variations") }
            if !isName, part == "value" { out.append("stringUnit") }
            out.append(part)
            isName = !isName && ["plural", "device", "substitutions"].contains(part)
        }
        return LeafPath(key: path.key, language: path.language, field: out.joined(separator: "."))
    }
}
