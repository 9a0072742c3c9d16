// One place of a table at a time: what stands there, and the same table with another text there.
//
//     LeafPath(key: "bye", language: "fr", field: "value")            "bye" = "Salut";
//     LeafPath(key: "bye", language: "fr", field: "comment")          /* Said when leaving */
//     LeafPath(key: "files", language: "fr", field: "count.one")      the category one of the variable count
//
// Merges name places in this way in their reports, and so does the ledger. A field that is nil is all of a key, for a plain
// text the text itself. An edit is a plan like that of a merge, written by the same splices and read back in the same way.

import StringCatalog

extension TableDocument {
    /// All texts of a key by place, its comments too; empty where there is no such key. Of several copies the last counts.
    ///
    /// - Parameter language: what the places name as their language: a table's bytes do not say it.
    public func leaves(of key: String, language: String?) -> [LeafPath: String] {
        row(of: key).map { leaves(of: $0, language: language) } ?? [:]
    }

    func leaves(of row: Row, language: String?) -> [LeafPath: String] {
        let key = row.key.string
        var found: [LeafPath: String] = [:]
        func place(_ fields: [String]) -> LeafPath { LeafPath(key: key, language: language, field: fields.joined(separator: ".")) }
        func walk(_ content: TableContent, _ fields: [String]) {
            switch content {
            case .text(let text): found[place(fields.isEmpty ? ["value"] : fields)] = text
            case .other(let lexeme): found[place(fields.isEmpty ? ["value"] : fields)] = lexeme
            case .dictionary(let members): for (name, value) in members { walk(value, fields + [name]) }
            case .array(let items): for (index, item) in items.enumerated() { walk(item, fields + [String(index)]) }
            }
        }
        walk(content(of: row.value), [])
        for (name, comment) in [("comment", row.comment), ("trailing comment", row.trailing)] {
            guard let comment, found[place([name])] == nil else { continue }
            found[place([name])] = comment.text.string
        }
        return found
    }

    /// What stands at a place; nil where nothing does, and for a key as a whole whose value is not plain.
    public func value(at path: LeafPath) -> String? {
        guard let key = path.key else { return nil }
        let leaves = leaves(of: key, language: path.language)
        return leaves[path] ?? (path.field == nil ? leaves[LeafPath(key: key, language: path.language, field: "value")] : nil)
    }

    /// Whether the table has all that leads to a place: the key, and the entry or variable that the text belongs to.
    public func reaches(_ path: LeafPath) -> Bool {
        guard let key = path.key, let row = row(of: key) else { return false }
        return isTextOrComment(path, of: row) || names(to: path, in: row).dropLast().isEmpty || reached(path).field == path.field
    }

    /// This table with what stands at these places in another one, or without it where the other has nothing there. What is
    /// missing on the way to a place comes over whole.
    ///
    /// - Throws: ``EditFault/place(_:)`` where the result would have a fault that neither table has.
    public func taking(
        _ paths: Set<LeafPath>, from other: TableDocument, kind: TableKind, language: TableLanguage = TableLanguage()
    ) throws(EditFault) -> Bytes {
        var held: [[UInt8]: Set<String>] = [:]
        for path in paths {
            guard let key = path.key else { continue }
            held[Array(key.utf8), default: []].insert(reached(path).field ?? "")
        }
        if (syntax == .xml) != (other.syntax == .xml), other.rows.contains(where: { held[$0.key] != nil && $0.value.holdsScalars }) {
            throw .place(scalarsSentence)
        }
        return try edited(restoration(rows, to: other.rows, prefix: nil, held), from: other, kind, language)
    }

    /// This table with another text at one place, written as the table is: its encoding, order and style.
    ///
    /// A key that is missing is added at its sorted place, or at the end where the table has no order; a plural category after
    /// those that come before it.
    /// - Throws: ``EditFault/form(places:)`` where something else than a text stands there, ``EditFault/place(_:)`` where
    ///   nothing leads to the place, or the result would have a fault that the table does not have.
    public func setting(
        _ text: String, at path: LeafPath, kind: TableKind, language: TableLanguage = TableLanguage()
    ) throws(EditFault) -> Bytes {
        guard let key = path.key else { throw .place("a text stands at a key") }
        let own = row(of: key)
        var names = [Array(key.utf8)]
        if let own, path.field == "comment" || path.field == "trailing comment", isTextOrComment(path, of: own) {
            return try setting(comment: text, of: own, isTrailing: path.field != "comment", kind, language)
        }
        if let own { names += self.names(to: path, in: own) } else if let field = path.field, field != "value" {
            guard field != "comment", field != "trailing comment" else { throw .place("the table has no key \"\(key)\"") }
            names += field.split(separator: ".").map { Array($0.utf8) }
        }
        guard own != nil || (names.count == 1 && kind == .strings) else {
            throw .place("the table has no entry \"\(key)\", and one text does not make one: it needs its format and its variables")
        }
        let donor = try fragment(names, text)
        var plan = TablePlan()
        try set(names[...], donor.rows, in: rows, isTop: true, &plan)
        return try edited(plan, from: donor, kind, language)
    }

    // MARK: Plans

    private func set(_ names: ArraySlice<[UInt8]>, _ donor: [Row], in rows: [Row], isTop: Bool, _ plan: inout TablePlan) throws(EditFault) {
        guard let name = names.first, let new = donor.first else { return }
        guard let i = lastCopies(rows)[name] else {
            guard names.count == 1 else { throw .place("nothing leads to this place: \"\(name.string)\" is not there") }
            plan.added.append((new, isTop ? place(ofKey: name) : place(ofCategory: name, among: rows)))
            return
        }
        let value = rows[i].value
        if names.count == 1 {
            switch value.content {
            case .text, .scalar: break
            case .dictionary, .array: throw .form(places: isTop ? leaves(of: rows[i], language: nil).keys.compactMap(\.field).sorted() : value.rows.map(\.key.string))
            }
            if !same(value, new.value) { plan.rows[i] = .edited(RowEdit(value: .taken(new.value))) }
            return
        }
        guard value.isDictionary else { throw .place("\"\(name.string)\" is a plain text here") }
        var inner = TablePlan()
        try set(names.dropFirst(), new.value.rows, in: value.rows, isTop: false, &inner)
        if !inner.isEmpty { plan.rows[i] = .edited(RowEdit(value: .rows(inner))) }
    }

    private func setting(comment text: String, of row: Row, isTrailing: Bool, _ kind: TableKind, _ language: TableLanguage) throws(EditFault) -> Bytes {
        let donor = try fragment([row.key], "", comment: text)
        guard let i = lastCopies(rows)[row.key], let comment = donor.rows.first?.comment, comment.text == Array(text.utf8).withPlainLineEnds else {
            throw .place("a comment cannot say this: its own end stands in it, or white space at its ends")
        }
        guard comment.text != (isTrailing ? rows[i].trailing : rows[i].comment)?.text else { return bytes }
        let edit = isTrailing ? RowEdit(trailing: .some(comment)) : RowEdit(comment: .some(comment))
        return try edited(TablePlan(rows: [i: .edited(edit)]), from: donor, kind, language)
    }

    /// Writes a plan, reads it back, and refuses what would be worse than before.
    private func edited(_ plan: TablePlan, from donor: TableDocument, _ kind: TableKind, _ language: TableLanguage) throws(EditFault) -> Bytes {
        guard !plan.isEmpty else { return bytes }
        let result: TableDocument
        do throws(MergeFault) { result = try write(plan, into: self, from: donor) } catch { throw .unsound(error) }
        let known = Set([self, donor].flatMap { $0.findings(kind: kind, language: language).map(\.identity) })
        if let fault = result.findings(kind: kind, language: language).first(where: { !known.contains($0.identity) }) {
            throw .place("the table would be worse: \(fault.sentence)")
        }
        return result.bytes
    }

    /// A table in the form of this one with a single text. Its lines are those that the writer puts into any indent.
    private func fragment(_ names: [[UInt8]], _ text: String, comment: String? = nil) throws(EditFault) -> TableDocument {
        func source(_ names: ArraySlice<[UInt8]>) -> [UInt8] {
            guard let name = names.first else { return [] }
            let isLast = names.count == 1
            if syntax == .xml {
                let value = isLast
                    ? Array("<string>".utf8) + XMLParser.escaped(Array(text.utf8)) + Array("</string>".utf8)
                    : Array("<dict>\n".utf8) + source(names.dropFirst()) + Array("</dict>".utf8)
                return Array("<key>".utf8) + XMLParser.escaped(name) + Array("</key>\n".utf8) + value + [10]
            }
            let value = isLast ? OldStyleParser.quoted(Array(text.utf8)) : Array("{\n".utf8) + source(names.dropFirst()) + [0x7d]
            return OldStyleParser.quoted(name) + Array(" = ".utf8) + value + Array(";\n".utf8)
        }
        let (open, close) = syntax == .xml ? ("<!-- ", " -->\n") : ("/* ", " */\n")
        let body = (comment.map { Array((open + $0 + close).utf8) } ?? []) + source(names[...])
        let frame = syntax == .xml ? ("<plist version=\"1.0\">\n<dict>\n", "</dict>\n</plist>\n") : ("", "")
        do {
            return try TableDocument(parsing: Bytes(Array(frame.0.utf8) + body + Array(frame.1.utf8)))
        } catch {
            throw .place("a table cannot hold this text: \(error.sentence)")
        }
    }

    // MARK: Places

    private func row(of key: String) -> Row? { rows.last { $0.key.elementsEqual(key.utf8) } }

    /// Whether a place is that of a plain text, of a comment, or of the key as a whole, and not of a member of its dictionary.
    private func isTextOrComment(_ path: LeafPath, of row: Row) -> Bool {
        switch path.field {
        case nil: true
        case "value": !row.value.isDictionary
        case "comment", "trailing comment": !row.value.rows.contains { $0.key.elementsEqual(path.field!.utf8) }
        default: false
        }
    }

    /// The names that lead to a place below its key: as the table has them as far as it goes, then what stands between dots.
    private func names(to path: LeafPath, in row: Row) -> [[UInt8]] {
        guard !isTextOrComment(path, of: row) else { return [] }
        var rest = Array((path.field ?? "").utf8)[...]
        var rows = row.value.rows
        var names: [[UInt8]] = []
        while !rest.isEmpty {
            let known = rows.filter { rest.elementsEqual($0.key) || rest.starts(with: $0.key + [0x2e]) }.max { $0.key.count < $1.key.count }
            let name = known?.key ?? Array(rest.prefix { $0 != 0x2e })
            rows = known?.value.rows ?? []
            names.append(name)
            rest = rest.dropFirst(name.count + 1)
        }
        return names
    }

    /// The place itself, or the first one on the way to it that is missing here.
    private func reached(_ path: LeafPath) -> LeafPath {
        guard let key = path.key, let row = row(of: key) else { return LeafPath(key: path.key, language: path.language) }
        guard !isTextOrComment(path, of: row) else { return path }
        var rows = row.value.isDictionary ? row.value.rows : nil
        var way: [String] = []
        for name in names(to: path, in: row) {
            guard let level = rows else { break }
            way.append(name.string)
            rows = level.last { $0.key == name }.flatMap { $0.value.isDictionary ? $0.value.rows : nil }
        }
        return LeafPath(key: key, language: path.language, field: way.isEmpty ? nil : way.joined(separator: "."))
    }

    /// The row after which a new key stands; -1 is the start.
    private func place(ofKey key: [UInt8]) -> Int {
        guard let order = KeyOrder.detected(among: rows.prefix(500).map(\.key)), rows.count > 1 else { return rows.count - 1 }
        return (rows.firstIndex { order.isBefore(key, $0.key) } ?? rows.count) - 1
    }

    /// The row of a variable after which a plural category stands: the last of what comes before it in CLDR's order.
    private func place(ofCategory name: [UInt8], among rows: [Row]) -> Int {
        func rank(_ name: [UInt8]) -> Int {
            isType(name) ? -1 : PluralCategory.allCases.first { "\($0)".utf8.elementsEqual(name) }?.rawValue ?? PluralCategory.allCases.count
        }
        return rows.lastIndex { rank($0.key) < rank(name) } ?? -1
    }
}

let scalarsSentence = "a number, a date, data or a truth value cannot stand in a table of the other form; write it as a text on both sides"

extension Node {
    /// Whether there is a value in it that old-style lists and XML do not both have.
    var holdsScalars: Bool {
        switch content {
        case .scalar: true
        case .text: false
        case .array(let nodes): nodes.contains(where: \.holdsScalars)
        case .dictionary(let rows): rows.contains(where: \.value.holdsScalars)
        }
    }
}

// MARK: - Changes

/// The differences between two tables, in the order of the new one, removed keys last. Order, spacing and encoding do not
/// count. A missing table counts as an empty one.
///
/// Places are named as ``TableDocument/leaves(of:language:)`` names them.
public func changes(from old: TableDocument?, to new: TableDocument?, language: String? = nil) -> [CatalogChange] {
    var found: [CatalogChange] = []
    let before = lastCopies(old?.rows ?? [])
    let after = lastCopies(new?.rows ?? [])
    func add(_ key: [UInt8], _ was: [LeafPath: String], _ now: [LeafPath: String]) {
        let key = key.string
        if was.isEmpty != now.isEmpty {
            found.append(CatalogChange(path: LeafPath(key: key), old: nil, new: nil, kind: was.isEmpty ? .added : .removed))
        }
        for place in Set(was.keys).union(now.keys).sorted(by: { ($0.field ?? "") < ($1.field ?? "") }) {
            let (old, new) = (was[place], now[place])
            guard !isSameText(old, new) else { continue }
            found.append(CatalogChange(path: place, old: old, new: new, kind: old == nil ? .added : new == nil ? .removed : .changed))
        }
    }
    for (i, row) in (new?.rows ?? []).enumerated() where after[row.key] == i {
        let was = before[row.key].flatMap { old?.rows[$0] }
        if let was, same(was.value, row.value), was.comment?.text == row.comment?.text, was.trailing?.text == row.trailing?.text { continue }
        add(row.key, was.flatMap { old?.leaves(of: $0, language: language) } ?? [:], new?.leaves(of: row, language: language) ?? [:])
    }
    for (i, row) in (old?.rows ?? []).enumerated() where before[row.key] == i && after[row.key] == nil {
        add(row.key, old?.leaves(of: row, language: language) ?? [:], [:])
    }
    return found
}

extension CatalogChange {
    /// Whether it is a text that people read, in a table: no comment, and no type of a variable.
    public var isOfTableText: Bool {
        guard path.key != nil, let field = path.field, field != "comment", field != "trailing comment" else { return false }
        return !field.hasSuffix("NSStringFormatSpecTypeKey") && !field.hasSuffix("NSStringFormatValueTypeKey")
    }
}
