// The place of a text in the other form, for what was said of it before one became the other:
//
//     fr.lproj/Main.stringsdict   "files" fr count.one                              %d fichier
//     Main.xcstrings              "files" fr variations.plural.one.stringUnit.value  %d fichier
//                             or  "files" fr substitutions.count.variations.plural.one.stringUnit.value  %arg fichier
//
// Which of the two it is in the catalog only the catalog knows, and what the variable is called only the table.

import StringCatalog

/// A place in the other form, and how a text from here is written there.
public struct Counterpart: Sendable {
    public let path: LeafPath
    private let spelled: @Sendable (String) -> String

    init(_ path: LeafPath, spelled: @escaping @Sendable (String) -> String = { $0 }) { (self.path, self.spelled) = (path, spelled) }

    /// A text as it stands there.
    public func text(_ text: String) -> String { spelled(text) }
}

extension CatalogDocument {
    /// Where a text stands in this catalog that was at a place of a table; nil where the catalog has nothing of the kind. A text that
    /// is plain in the table has its place also where the catalog lacks its key or its language.
    public func counterpart(ofTableLeaf leaf: LeafPath, aliases: LanguageAliases = LanguageAliases()) -> Counterpart? {
        guard let key = leaf.key else { return nil }
        let all = leaves(of: key)
        // As the catalog spells it.
        let language = leaf.language.flatMap { own in all.keys.lazy.compactMap(\.language).first { aliases.areSame($0, own) } } ?? leaf.language
        func place(_ field: String) -> LeafPath { LeafPath(key: key, language: language, field: field) }
        guard let field = leaf.field, field != "value", field != formatName else { return Counterpart(place("stringUnit.value")) }
        if leaf.isTableComment { return Counterpart(LeafPath(key: key, field: "comment")) }
        let parts = field.split(separator: ".").map(String.init)
        guard let last = parts.last, parts.count > 1 else { return nil }
        func has(_ field: String) -> Bool { all.keys.contains { $0.language == language && $0.field?.hasPrefix(field) == true } }
        if parts[0] == deviceName { return has("variations.device.") ? Counterpart(place("variations.device.\(last).stringUnit.value")) : nil }
        let variable = parts.dropLast().joined(separator: ".")
        let substitution = "substitutions.\(variable)."
        guard has(substitution) else { return has("variations.plural.") ? Counterpart(place("variations.plural.\(last).stringUnit.value")) : nil }
        let specifier = Array((all[place(substitution + "formatSpecifier")] ?? "d").utf8)
        let argument = all[place(substitution + "argNum")].flatMap { Int($0) } ?? 1
        return Counterpart(place("\(substitution)variations.plural.\(last).stringUnit.value")) {
            StringsTable.withArgument(Array($0.utf8), specifier, argument).string
        }
    }
}

extension TableDocument {
    /// Where a text stands in this table that was at a place of a catalog; nil where the table has nothing of the kind. A text that is
    /// plain in the catalog has its place also where the table lacks its key.
    public func counterpart(ofCatalogLeaf leaf: LeafPath) -> Counterpart? {
        guard let key = leaf.key else { return nil }
        func place(_ path: [String]) -> LeafPath { LeafPath(key: key, language: leaf.language, field: path.isEmpty ? "value" : path.joined(separator: ".")) }
        guard let row = rows.last(where: { $0.key.elementsEqual(key.utf8) }) else { return leaf.fieldInShort == "value" || leaf.field == nil ? Counterpart(place([])) : nil }
        if leaf.language == nil, leaf.field == "comment" { return Counterpart(leaf) }
        guard let found = TableEdits.place(of: leaf.fieldInShort ?? "value", in: row.value) else { return nil }
        return Counterpart(place(found.path), spelled: found.text)
    }
}

extension LeafPath {
    /// Whether this place of a table may be that of the same text as a place in a catalog. The languages are not looked at.
    public func isCounterpart(ofCatalogLeaf other: LeafPath) -> Bool {
        guard key == other.key else { return false }
        let field = field ?? "value"
        let parts = (other.fieldInShort ?? "value").split(separator: ".").map(String.init)
        switch parts.first {
        case "value": return field == "value" || field == formatName
        case "comment": return isTableComment
        case "device": return parts.count == 3 && field == "\(deviceName).\(parts[1])"
        case "plural": return parts.count == 3 && field.hasSuffix(".\(parts[1])") && !field.hasPrefix(deviceName + ".")
        case "substitutions" where parts.count > 4: return field == "\(parts[1..<(parts.count - 3)].joined(separator: ".")).\(parts[parts.count - 2])"
        default: return false
        }
    }

    fileprivate var isTableComment: Bool { field == "comment" || field == "trailing comment" }
}

private let formatName = "NSStringLocalizedFormatKey"
private let deviceName = "NSStringDeviceSpecificRuleType"
