// From the tables of `.lproj` folders to a catalog, key for key, as Xcode's "Migrate to String Catalog" does:
//
//     en.lproj/Localizable.strings       "cancel" = "Cancel";
//     fr.lproj/Localizable.strings       "cancel" = "Annuler";
//
//     "cancel" : {
//       "extractionState" : "migrated",
//       "localizations" : {
//         "en" : { "stringUnit" : { "state" : "translated", "value" : "Cancel" } },
//         "fr" : { "stringUnit" : { "state" : "translated", "value" : "Annuler" } }
//       }
//     }
//
// An entry of a `.stringsdict` whose format is one variable and nothing else becomes plural variations; any other becomes
// a text with substitutions, in which `%arg` stands for the variable's own placeholder. Where a key stands in both kinds of
// tables the `.stringsdict` counts, as at run time.

import StringCatalog

/// One table of one language.
public struct LocalizedTable: Sendable {
    public let language: String
    public let kind: TableKind
    public let document: TableDocument

    public init(language: String, kind: TableKind, document: TableDocument) {
        self.language = language
        self.kind = kind
        self.document = document
    }
}

/// A catalog made from tables, and the account of it.
public struct Migration: Sendable {
    /// The catalog in Xcode's own bytes.
    public let bytes: Bytes
    /// How many keys and texts went over for each language, in the order of the languages.
    public let counts: [(language: String, keys: Int, texts: Int)]
    /// What a catalog cannot say, and what was hidden: it has to stay where it was, or to be looked at.
    public let left: [Leftover]

    public struct Leftover: Sendable, CustomStringConvertible {
        public let language: String
        public let key: String
        public let why: String
        public var description: String { "\(language), \"\(key)\": \(why)" }
    }
}

/// Makes a catalog of all tables of one name.
///
/// The comments are those of the source language's tables, or of the first other that has one. Every text is `translated`, as
/// all texts of tables are in use. Before it returns, the catalog is read again and its texts are counted.
/// - Throws: `MergeFault` where the count does not agree: a bug, and there is no result.
public func migrated(_ tables: [LocalizedTable], sourceLanguage: String = "en") throws(MergeFault) -> Migration {
    try migrated(tables, sourceLanguage: sourceLanguage, since: nil)
}

/// Brings what changed in tables since `base` into a catalog that was made of them on another branch.
///
/// Texts of translations arrive as `needs_review`, plurals and substitutions too; keys come and go by the usual rules. The
/// report has a decision for each text that came over.
/// - Parameters:
///   - base: the tables as they were when the branches parted.
///   - edited: the tables of the branch that has not migrated.
/// - Throws: `MergeFault` where a result does not pass its own check.
public func mergeAcrossMigration(
    base: [LocalizedTable], edited: [LocalizedTable], into catalog: CatalogDocument, policy: MergePolicy = MergePolicy()
) throws -> CatalogMerge {
    let source = catalog.sourceLanguage ?? "en"
    let old = try CatalogDocument(parsing: migrated(base, sourceLanguage: source).bytes)
    let new = try CatalogDocument(parsing: migrated(edited, sourceLanguage: source, since: base).bytes, like: old)
    var merged = try merge(base: old, ours: catalog, theirs: new, policy: policy)
    guard !merged.isUnchanged else { return merged }
    for change in changes(from: catalog, to: try CatalogDocument(parsing: merged.bytes)) where change.isOfText {
        merged.report.decisions.append(Decision(
            path: change.path, rule: "edited in a table after the other branch migrated to a catalog",
            outcome: change.new.map { "\"\($0)\" came over" } ?? "removed"))
    }
    return merged
}

/// Those of the tables of one name that are loaded at run time: one of `Base.lproj` is hidden by one of the source language's
/// own folder.
package func loaded<Item>(_ items: [Item], table: (Item) -> LocalizedTable, isOfBase: (Item) -> Bool) -> [Item] {
    let own = items.filter { !isOfBase($0) }.map(table)
    return items.filter { item in
        !isOfBase(item) || !own.contains { $0.language == table(item).language && $0.kind == table(item).kind }
    }
}

private func migrated(_ tables: [LocalizedTable], sourceLanguage: String, since base: [LocalizedTable]?) throws(MergeFault) -> Migration {
    var writer = CatalogWriter(sourceLanguage: sourceLanguage)
    // The source language first: its comments count.
    let isSource = { (table: LocalizedTable) in isSameLanguage(table.language, sourceLanguage) }
    for table in tables.filter(isSource) + tables.filter({ !isSource($0) }) {
        let old = base?.last { $0.language == table.language && $0.kind == table.kind }
        writer.add(table, reviewing: base == nil || isSource(table) ? nil : old?.document.rows ?? [])
    }
    let raw = Bytes(writer.json)
    let document: CatalogDocument
    do { document = try CatalogDocument(parsing: raw) } catch { throw MergeFault(description: "the migrated catalog does not parse: \(error)") }
    let bytes = formatted(document)
    var found: [String: Int] = [:]
    for change in changes(from: nil, to: document) where change.isOfText { found[change.path.language!, default: 0] += 1 }
    for count in writer.counts where found[count.language] ?? 0 != count.texts {
        throw MergeFault(description: "the tables of \(count.language) have \(count.texts) texts, the migrated catalog \(found[count.language] ?? 0)")
    }
    return Migration(bytes: bytes, counts: writer.counts, left: writer.left)
}

/// Collects entries and writes them as JSON; `formatted` gives that Xcode's order and spacing.
private struct CatalogWriter {
    let sourceLanguage: String
    private var order: [[UInt8]] = []
    private var entries: [[UInt8]: Entry] = [:]
    private(set) var left: [Migration.Leftover] = []

    private struct Entry {
        var comment: [UInt8]?
        var localizations: [(language: String, unit: Localization, kind: TableKind)] = []
    }

    init(sourceLanguage: String) { self.sourceLanguage = sourceLanguage }

    /// How many keys and texts each language has.
    var counts: [(language: String, keys: Int, texts: Int)] {
        var found: [String: (keys: Int, texts: Int)] = [:]
        for entry in entries.values {
            for localization in entry.localizations {
                found[localization.language, default: (0, 0)].keys += 1
                found[localization.language, default: (0, 0)].texts += localization.unit.textCount
            }
        }
        return found.map { ($0.key, $0.value.keys, $0.value.texts) }
            .sorted { KeyOrder.xcode.isBefore(Array($0.language.utf8), Array($1.language.utf8)) }
    }

    /// Adds the rows of a table. Those that differ from `old`, where there is one, need a review.
    mutating func add(_ table: LocalizedTable, reviewing old: [Row]?) {
        let rows = table.document.rows
        let last = lastCopies(rows)
        let known = old.map(lastCopies)
        for (i, row) in rows.enumerated() {
            guard last[row.key] == i else {
                leave(table, row, "a later copy of the key hides it")
                continue
            }
            let before = known.flatMap { known in known[row.key].flatMap { old?[$0] } }
            let isKnown = old == nil
            guard let unit = Localization(row.value, kind: table.kind, before: before?.value, isKnown: isKnown) else {
                leave(table, row, table.kind == .strings ? "it is no text" : "a catalog has no variations of this type")
                continue
            }
            add(unit, row, table)
        }
    }

    private mutating func add(_ unit: Localization, _ row: Row, _ table: LocalizedTable) {
        if entries[row.key] == nil { order.append(row.key) }
        var entry = entries[row.key] ?? Entry()
        if entry.comment == nil, let comment = row.comment, !comment.text.isEmpty, !comment.text.elementsEqual("No comment provided by engineer.".utf8) {
            entry.comment = comment.text
        }
        if let twin = entry.localizations.firstIndex(where: { $0.language == table.language }) {
            // At run time the plural hides the plain text.
            let plain = entry.localizations[twin].kind == .strings ? entry.localizations[twin].unit : unit
            if case .text(let text, _) = plain {
                left.append(.init(language: table.language, key: row.key.string, why: "the .stringsdict hides the text \"\(text.string)\" of the .strings file"))
            }
            if table.kind == .stringsdict { entry.localizations[twin] = (table.language, unit, table.kind) }
        } else {
            entry.localizations.append((table.language, unit, table.kind))
        }
        entries[row.key] = entry
    }

    private mutating func leave(_ table: LocalizedTable, _ row: Row, _ why: String) {
        left.append(.init(language: table.language, key: row.key.string, why: why))
    }

    var json: [UInt8] {
        var out = Array("{\"sourceLanguage\":".utf8) + quoted(Array(sourceLanguage.utf8)) + Array(",\"strings\":{".utf8)
        for (i, key) in order.enumerated() {
            guard let entry = entries[key] else { continue }
            if i > 0 { out.append(0x2c) }
            out += quoted(key) + Array(":{".utf8)
            if let comment = entry.comment { out += Array("\"comment\":".utf8) + quoted(comment) + [0x2c] }
            out += Array("\"extractionState\":\"migrated\",\"localizations\":{".utf8)
            for (k, localization) in entry.localizations.enumerated() {
                if k > 0 { out.append(0x2c) }
                out += quoted(Array(localization.language.utf8)) + [0x3a] + localization.unit.json
            }
            out += Array("}}".utf8)
        }
        return out + Array("},\"version\":\"1.0\"}".utf8)
    }
}

/// What a row becomes in one language of a catalog.
private indirect enum Localization {
    case text([UInt8], isReviewed: Bool)
    case plural([(category: [UInt8], unit: Localization)])
    case device([(device: [UInt8], unit: Localization)])
    case substitutions(Localization, [Substitution])

    struct Substitution {
        let name: [UInt8]
        let argument: Int?
        let specifier: [UInt8]
        let plural: Localization
    }

    /// - Parameters:
    ///   - before: the value that counts as seen; what differs from it needs a review.
    ///   - isKnown: whether everything counts as seen.
    init?(_ node: Node, kind: TableKind, before: Node?, isKnown: Bool) {
        if case .text(let text) = node.content {
            self = .text(text, isReviewed: isKnown || same(node, before))
            return
        }
        guard kind == .stringsdict, node.isDictionary else { return nil }
        func member(_ node: Node?, _ name: String) -> Node? { node?.rows.last { $0.key.elementsEqual(name.utf8) }?.value }
        func unit(_ node: Node?, _ before: Node?) -> Localization? {
            node.flatMap { Localization($0, kind: .strings, before: before, isKnown: isKnown) }
        }
        if let rules = member(node, "NSStringDeviceSpecificRuleType") {
            let units = rules.rows.compactMap { row in
                unit(row.value, member(member(before, "NSStringDeviceSpecificRuleType"), row.key.string)).map { (row.key, $0) }
            }
            guard units.count == rules.rows.count, !units.isEmpty else { return nil }
            self = .device(units)
            return
        }
        guard let format = member(node, "NSStringLocalizedFormatKey"), case .text(let text) = format.content, member(node, "NSStringVariableWidthRuleType") == nil
        else { return nil }
        let variables = node.rows.filter { isVariable(Content($0.value)) }
        guard !variables.isEmpty, variables.count == node.rows.count - 1, formatUse(Content(node).rows).missing.isEmpty else { return nil }
        let arguments = FormatArguments(text)
        var made: [Substitution] = []
        let isPlain = variables.count == 1 && arguments.isOnly(variables[0].key)
        for variable in variables {
            let oldVariable = member(before, variable.key.string)
            var categories: [(category: [UInt8], unit: Localization)] = []
            for row in variable.value.rows where !isType(row.key) {
                guard let category = unit(row.value, member(oldVariable, row.key.string)) else { return nil }
                categories.append((row.key, category))
            }
            guard categories.contains(where: { $0.category.elementsEqual("other".utf8) }) else { return nil }
            var specifier: [UInt8] = [0x64]
            if case .text(let type)? = member(variable.value, "NSStringFormatValueTypeKey")?.content { specifier = type }
            let argument = arguments.position[variable.key]
            if isPlain, Localization.speaks(categories, specifier) {
                self = .plural(categories)
                return
            }
            let renamed = categories.map { category in
                (category: category.category, unit: category.unit.mapped { withArgument($0, specifier, argument) })
            }
            made.append(Substitution(
                name: variable.key, argument: arguments.count > 1 || variables.count > 1 ? argument : nil, specifier: specifier, plural: .plural(renamed)))
        }
        guard let unit = unit(format, member(before, "NSStringLocalizedFormatKey")) else { return nil }
        self = .substitutions(unit, made)
    }

    /// Whether the number can be recognised in the texts: then they need no separate argument.
    private static func speaks(_ categories: [(category: [UInt8], unit: Localization)], _ specifier: [UInt8]) -> Bool {
        categories.contains { category in
            guard category.category.elementsEqual("other".utf8), case .text(let text, _) = category.unit else { return false }
            return withArgument(text, specifier, 1) != text && substitutionsUsed(in: text).isEmpty
        }
    }

    private func mapped(_ transform: ([UInt8]) -> [UInt8]) -> Localization {
        if case .text(let text, let isReviewed) = self { .text(transform(text), isReviewed: isReviewed) } else { self }
    }

    var textCount: Int {
        switch self {
        case .text: 1
        case .plural(let units): units.reduce(0) { $0 + $1.unit.textCount }
        case .device(let units): units.reduce(0) { $0 + $1.unit.textCount }
        case .substitutions(let unit, let list): list.reduce(unit.textCount) { $0 + $1.plural.textCount }
        }
    }

    var json: [UInt8] {
        switch self {
        case .text(let text, let isReviewed):
            Array("{\"stringUnit\":{\"state\":\"\(isReviewed ? "translated" : "needs_review")\",\"value\":".utf8) + quoted(text) + Array("}}".utf8)
        case .plural(let units): Array("{\"variations\":{\"plural\":".utf8) + object(units.map { ($0.category, $0.unit.json) }) + Array("}}".utf8)
        case .device(let units): Array("{\"variations\":{\"device\":".utf8) + object(units.map { ($0.device, $0.unit.json) }) + Array("}}".utf8)
        case .substitutions(let unit, let list):
            unit.json.dropLast() + Array(",\"substitutions\":".utf8)
                + object(list.map { item in
                    let argument = item.argument.map { "\"argNum\":\($0)," } ?? ""
                    let head = Array("{\(argument)\"formatSpecifier\":".utf8) + quoted(item.specifier) + [0x2c]
                    return (item.name, head + item.plural.json.dropFirst())
                }) + [0x7d]
        }
    }

    private func object(_ members: [([UInt8], [UInt8])]) -> [UInt8] {
        [0x7b] + Array(members.map { quoted($0.0) + [0x3a] + $0.1 }.joined(separator: [0x2c])) + [0x7d]
    }
}

/// The text with `%arg` for the variable's own placeholder: `%d`, or `%2$d` where it is the second argument.
func withArgument(_ text: [UInt8], _ specifier: [UInt8], _ argument: Int?) -> [UInt8] {
    var out: [UInt8] = []
    var i = 0
    while i < text.count {
        guard text[i] == 0x25 else {
            out.append(text[i])
            i += 1
            continue
        }
        if i + 1 < text.count, text[i + 1] == 0x25 {
            out += [0x25, 0x25]
            i += 2
            continue
        }
        var k = i + 1
        while k < text.count, text[k] >= 0x30, text[k] <= 0x39 { k += 1 }
        var start = i + 1
        if k > i + 1, k < text.count, text[k] == 0x24, Int(String(decoding: text[(i + 1)..<k], as: UTF8.self)) == argument { start = k + 1 }
        if text[start...].starts(with: specifier) {
            out += Array("%arg".utf8)
            i = start + specifier.count
        } else {
            out.append(0x25)
            i += 1
        }
    }
    return out
}

/// Which argument each variable of a format is: `%1$#@files@` says it, else they count from the left.
private struct FormatArguments {
    private(set) var position: [[UInt8]: Int] = [:]
    /// How many arguments the format takes.
    private(set) var count = 0
    private let text: [UInt8]

    init(_ text: [UInt8]) {
        self.text = text
        var next = 1
        var i = 0
        while i < text.count {
            guard text[i] == 0x25, i + 1 < text.count else {
                i += 1
                continue
            }
            if text[i + 1] == 0x25 {
                i += 2
                continue
            }
            var k = i + 1
            while k < text.count, text[k] >= 0x30, text[k] <= 0x39 { k += 1 }
            var explicit: Int?
            if k > i + 1, k < text.count, text[k] == 0x24 {
                explicit = Int(String(decoding: text[(i + 1)..<k], as: UTF8.self))
                k += 1
            } else {
                k = i + 1
            }
            let argument = explicit ?? next
            if text.has("#@", at: k), let end = text[(k + 2)...].firstIndex(of: 0x40) {
                let name = Array(text[(k + 2)..<end])
                if position[name] == nil { position[name] = argument }
                i = end + 1
            } else {
                i = k
            }
            next = max(next, argument + 1)
            count = max(count, argument)
        }
    }

    /// Whether the format is this variable and nothing else.
    func isOnly(_ name: [UInt8]) -> Bool {
        text == Array("%#@".utf8) + name + [0x40] || text == Array("%1$#@".utf8) + name + [0x40]
    }
}

/// A text as a JSON string.
private func quoted(_ text: [UInt8]) -> [UInt8] {
    var out: [UInt8] = [0x22]
    for byte in text {
        switch byte {
        case 0x22, 0x5c: out += [0x5c, byte]
        case 0..<0x20: out += Array("\\u00".utf8) + [byte < 16 ? 0x30 : 0x31] + Array(String(byte & 15, radix: 16).utf8)
        default: out.append(byte)
        }
    }
    return out + [0x22]
}
