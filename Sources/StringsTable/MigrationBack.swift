// The other direction across a migration: what changed in the catalog of one branch, for the tables of a branch that has
// not migrated yet. The changes are made in the table as it was when the branches parted; what comes out is merged as any
// other change of a table.

import StringCatalog

/// Brings what changed in a catalog into a table of a branch that has not migrated.
///
/// Texts come back as texts, plural variations and substitutions into the variables of the `.stringsdict`. A key that is
/// new goes to the table of its kind. States do not exist in tables.
/// - Parameters:
///   - base: the catalog as it was made; the conversion of the tables at that time where the catalog came with edits.
///   - edited: the catalog as it is now.
///   - table: the table that is written, and its language.
///   - old: the same table as it was when the branches parted.
/// - Throws: `MergeFault` where a result does not pass its own check.
public func mergeAcrossMigration(
    base: CatalogDocument, edited: CatalogDocument, into table: LocalizedTable, since old: TableDocument, policy: MergePolicy = MergePolicy()
) throws -> TableMerge {
    let source = edited.sourceLanguage ?? base.sourceLanguage ?? "en"
    let isSource = isSameLanguage(table.language, source)
    var back = TableEdits(kind: table.kind, isSource: isSource)
    for change in changes(from: base, to: edited) {
        guard let key = change.path.key, change.path.language.map({ isSameLanguage($0, table.language) }) ?? true else { continue }
        back.note(change, key)
    }
    let theirs = try back.applied(to: old)
    return try merge(
        base: old, ours: table.document, theirs: theirs, kind: table.kind, language: TableLanguage(code: table.language, isSource: isSource), policy: policy)
}

/// What a catalog has of some keys in one language, as a table of that language has it: in its form, with its names for variables.
/// Keys that the catalog lacks in that language are not in it.
/// - Throws: where the texts cannot be written as a table.
package func table(of keys: Set<String>, in catalog: CatalogDocument, like model: LocalizedTable) throws -> TableDocument {
    func isSame(_ a: String, _ b: String) -> Bool { languageIdentity(Array(a.utf8)) == languageIdentity(Array(b.utf8)) }
    let source = catalog.sourceLanguage ?? "en"
    let rows = model.document.rows
    let kept = keys.filter { !catalog.leaves(of: $0, language: model.language).isEmpty }
    let own = try TableDocument(parsing: model.document.removing(rows.indices.filter { !kept.contains(rows[$0].key.string) }))
    let base = try CatalogDocument(
        parsing: migrated([LocalizedTable(language: model.language, kind: model.kind, document: own)], sourceLanguage: source).bytes)
    var back = TableEdits(kind: model.kind, isSource: isSame(model.language, source))
    for change in changes(from: base, to: catalog) {
        guard let key = change.path.key, kept.contains(key), change.path.language.map({ isSame($0, model.language) }) ?? true else { continue }
        back.note(change, key)
    }
    return try back.applied(to: own)
}

/// Changes of a catalog, by key, for one table.
struct TableEdits {
    let kind: TableKind
    let isSource: Bool
    private var order: [String] = []
    private var keys: [String: KeyEdit] = [:]

    private struct KeyEdit {
        var isAdded = false
        var isRemoved = false
        /// The new value by field; nil where it went.
        var leaves: [(field: String, new: String?)] = []
        var comment: String??
    }

    init(kind: TableKind, isSource: Bool) {
        self.kind = kind
        self.isSource = isSource
    }

    mutating func note(_ change: CatalogChange, _ key: String) {
        if keys[key] == nil { order.append(key) }
        var edit = keys[key] ?? KeyEdit()
        if change.isOfKey {
            if change.kind == .added { edit.isAdded = true } else { edit.isRemoved = true }
        } else if change.path.language == nil {
            if change.path.field == "comment" { edit.comment = .some(change.new) }
        } else if let field = change.path.field, !change.isOfState {
            edit.leaves.append((field, change.new))
        }
        keys[key] = edit
    }

    /// The table with these changes.
    func applied(to table: TableDocument) throws(MergeFault) -> TableDocument {
        let rows = table.rows
        let last = lastCopies(rows)
        // New rows are set off as the last ones are.
        var donor = Donor(isSpaced: rows.count > 1 && rows.last?.blankLines.isEmpty == false)
        // First the texts are written into a document of their own, then a plan takes them from there.
        var edits: [(row: Int, leaves: [(path: [String], slot: Int?)], comment: Int??)] = []
        var removed: [Int] = []
        var added: [Int] = []
        for key in order {
            guard let edit = keys[key] else { continue }
            guard let i = last[Array(key.utf8)] else {
                if let slot = donor.entry(key, edit.leaves, kind, isAddedInSource: isSource && edit.isAdded, comment: edit.comment ?? nil) { added.append(slot) }
                continue
            }
            let texts = edit.leaves.filter { $0.field == "value" || $0.field.hasSuffix(".value") }
            if edit.isRemoved {
                removed.append(i)
                continue
            }
            var leaves: [(path: [String], slot: Int?)] = []
            for leaf in texts {
                guard let place = TableEdits.place(of: leaf.field, in: rows[i].value) else { continue }
                leaves.append((place.path, leaf.new.map { donor.text(place.text($0), named: place.path.last ?? key) }))
            }
            let comment: Int?? = edit.comment.map { $0.map { donor.comment($0) } }
            if !leaves.isEmpty || comment != nil { edits.append((i, leaves, comment)) }
        }
        let texts: TableDocument
        do { texts = try donor.document() } catch { throw MergeFault(description: "texts of the catalog cannot be written as a table: \(error)") }
        var plan = TablePlan()
        for i in removed { plan.rows[i] = .removed }
        for edit in edits {
            var change = RowEdit()
            if let comment = edit.comment { change.comment = .some(comment.flatMap { texts.rows[$0].comment }) }
            change.value = TableEdits.value(rows[edit.row].value, edit.leaves, texts)
            // A language that went from a key takes the row along.
            if edit.leaves.contains(where: { $0.path.isEmpty && $0.slot == nil }) { plan.rows[edit.row] = .removed } else if !change.isEmpty { plan.rows[edit.row] = .edited(change) }
        }
        plan.added = added.map { (texts.rows[$0], rows.count - 1) }
        return plan.isEmpty ? table : try write(plan, into: table, from: texts)
    }

    /// Where a leaf of the catalog stands in a row, and how its text is written there; nil where the row has another form.
    static func place(of field: String, in node: Node) -> (path: [String], text: @Sendable (String) -> String)? {
        @Sendable func same(_ text: String) -> String { text }
        let parts = field.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard node.isDictionary else { return field == "value" ? ([], same) : nil }
        if field == "value" { return (["NSStringLocalizedFormatKey"], same) }
        if parts.first == "device", parts.count == 3 { return (["NSStringDeviceSpecificRuleType", parts[1]], same) }
        if parts.first == "plural", parts.count == 3 {
            let variables = node.rows.filter { isVariable(Content($0.value)) }
            return variables.count == 1 ? ([variables[0].key.string, parts[1]], same) : nil
        }
        guard parts.first == "substitutions", parts.count >= 5 else { return nil }
        let name = parts[1..<(parts.count - 3)].joined(separator: ".")
        guard let variable = node.rows.last(where: { $0.key.string == name })?.value else { return nil }
        var type = "d"
        if case .text(let text)? = variable.rows.last(where: { $0.key.string == "NSStringFormatValueTypeKey" })?.value.content { type = text.string }
        return ([name, parts[parts.count - 2]], { [type] in TableEdits.spelled($0, type) })
    }

    /// A text of a substitution as a variable has it.
    static func spelled(_ text: String, _ type: String) -> String {
        String(text.split(separator: "%arg", omittingEmptySubsequences: false).joined(separator: "%" + type))
    }

    private static func value(_ node: Node, _ leaves: [(path: [String], slot: Int?)], _ texts: TableDocument) -> ValueEdit? {
        if let whole = leaves.first(where: { $0.path.isEmpty }) { return whole.slot.map { .taken(texts.rows[$0].value) } }
        var plan = TablePlan()
        for (name, own) in Dictionary(grouping: leaves, by: { $0.path[0] }).sorted(by: { $0.key < $1.key }) {
            let inner = own.map { (path: Array($0.path.dropFirst()), slot: $0.slot) }
            if let i = node.rows.lastIndex(where: { $0.key.string == name }) {
                if inner.contains(where: { $0.path.isEmpty && $0.slot == nil }) {
                    // A variable without `other` has no form in a catalog: its next edit could not come back.
                    if name == "other", isVariable(Content(node)) { continue }
                    plan.rows[i] = .removed
                } else if let value = value(node.rows[i].value, inner, texts) {
                    plan.rows[i] = .edited(RowEdit(value: value))
                }
            } else if let slot = inner.first(where: { $0.path.isEmpty })?.slot {
                plan.added.append((texts.rows[slot], node.rows.count - 1))
            }
        }
        return plan.isEmpty ? nil : .rows(plan)
    }

    /// The texts that a plan takes, as a table.
    private struct Donor {
        private let isSpaced: Bool
        private var rows: [String] = []

        init(isSpaced: Bool) { self.isSpaced = isSpaced }

        func document() throws(TableError) -> TableDocument { try TableDocument(parsing: Bytes(Array(rows.joined(separator: "\n").utf8))) }

        private func quoted(_ text: String) -> String { OldStyleParser.quoted(Array(text.utf8)).string }

        mutating func text(_ text: String, named name: String) -> Int { put("\(quoted(name)) = \(quoted(text));") }

        mutating func comment(_ comment: String) -> Int { put("/* \(safe(comment)) */\n\(quoted("text")) = \(quoted(""));") }

        private func safe(_ comment: String) -> String { comment.split(separator: "*/", omittingEmptySubsequences: false).joined(separator: "* /") }

        private mutating func put(_ row: String) -> Int {
            rows.append(isSpaced ? "\n" + row : row)
            return rows.count - 1
        }

        /// A row for a new key; nil where it belongs into a table of the other kind, or into none.
        mutating func entry(_ key: String, _ leaves: [(field: String, new: String?)], _ kind: TableKind, isAddedInSource: Bool, comment: String?) -> Int? {
            var known: [String: String] = [:]
            for leaf in leaves { if let new = leaf.new { known[leaf.field] = new } }
            let texts = known.filter { $0.key == "value" || $0.key.hasSuffix(".value") }
            let isPlain = texts.keys.allSatisfy { $0 == "value" }
            let lead = comment.map { "/* \(safe($0)) */\n" } ?? ""
            if kind == .strings {
                // A source text that is the key itself need not stand in the catalog.
                guard isPlain, let text = texts["value"] ?? (isAddedInSource && texts.isEmpty ? key : nil) else { return nil }
                return put("\(lead)\(quoted(key)) = \(quoted(text));")
            }
            guard !isPlain else { return nil }
            func members(_ list: [(String, String)]) -> String { list.map { "\(quoted($0.0)) = \($0.1);" }.joined(separator: "\n") }
            func variable(_ type: String, _ prefix: String, spells: Bool) -> String? {
                let categories = PluralCategory.allCases.compactMap { category in
                    texts["\(prefix)plural.\(category).value"].map { ("\(category)", quoted(spells ? spelled($0, type) : $0)) }
                }
                guard !categories.isEmpty else { return nil }
                return "{\n" + members([("NSStringFormatSpecTypeKey", quoted("NSStringPluralRuleType")), ("NSStringFormatValueTypeKey", quoted(type))] + categories) + "\n}"
            }
            var inside: [(String, String)] = []
            let devices = texts.keys.filter { $0.hasPrefix("device.") }.sorted()
            if !devices.isEmpty {
                let rules = devices.map { ($0.split(separator: ".")[1].description, quoted(texts[$0] ?? "")) }
                guard devices.count == texts.count, devices.allSatisfy({ $0.split(separator: ".").count == 3 }) else { return nil }
                inside = [("NSStringDeviceSpecificRuleType", "{\n" + members(rules) + "\n}")]
            } else if let format = texts["value"] {
                inside = [("NSStringLocalizedFormatKey", quoted(format))]
                for name in substitutionsUsed(in: Array(format.utf8)).map(\.string).sorted() {
                    guard let made = variable(known["substitutions.\(name).formatSpecifier"] ?? "d", "substitutions.\(name).", spells: true) else { return nil }
                    inside.append((name, made))
                }
            } else if let other = texts["plural.other.value"], let made = variable(Donor.type(in: other), "", spells: false) {
                inside = [("NSStringLocalizedFormatKey", quoted("%#@value@")), ("value", made)]
            } else {
                return nil
            }
            return put("\(lead)\(quoted(key)) = {\n\(members(inside))\n};")
        }

        /// The type of the first placeholder of a text.
        private static func type(in text: String) -> String {
            let bytes = Array(text.utf8)
            var i = 0
            while i + 1 < bytes.count {
                guard bytes[i] == 0x25, bytes[i + 1] != 0x25 else {
                    i += bytes[i] == 0x25 ? 2 : 1
                    continue
                }
                let rest = bytes[(i + 1)...].drop { $0 == 0x24 || ($0 >= 0x30 && $0 <= 0x39) }
                let length = rest.prefix { "hlqLzjt".utf8.contains($0) }
                if let last = rest.dropFirst(length.count).first, "diuxXofFeEgGaA@".utf8.contains(last) { return (Array(length) + [last]).string }
                i += 1
            }
            return "d"
        }
    }
}
