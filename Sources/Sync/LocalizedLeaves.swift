import Git
import StringCatalog
import StringsTable

// Where the texts of a file stand, in one way for both of its forms. A table has one language, that of its folder, and its texts
// stand at their keys: the place of a plain one has no field.

extension LocalizedFile {
    /// What stands at a place; `nil` where nothing does.
    func value(at leaf: LeafPath, aliases: LanguageAliases = LanguageAliases()) -> String? {
        switch self {
        case .catalog(let document): return document.value(at: leaf, aliases: aliases)
        case .table(let document, _):
            guard let key = leaf.key else { return nil }
            let leaves = Self.leaves(of: key, in: document, language: leaf.language)
            if let found = leaves[leaf] { return found }
            // Reports name the field of a plain text, too, and that of a comment.
            switch leaf.field {
            case "value": return leaves[LeafPath(key: key, language: leaf.language)]
            case "comment": return Self.entry(key, in: document)?.comment
            case "trailing comment": return Self.entry(key, in: document)?.trailingComment
            case nil, _?: return nil
            }
        }
    }

    /// All scalars of a key, or of one language of it.
    func leaves(of key: String, language: String?, at path: TreePath) -> [LeafPath: String] {
        switch self {
        case .catalog(let document): return document.leaves(of: key, language: language)
        case .table(let document, _):
            let own = TableLanguage(path: path.description).code
            func identity(_ code: String?) -> String? { code.map { $0.lowercased().split(separator: "_", omittingEmptySubsequences: false).joined(separator: "-") } }
            guard language == nil || identity(language) == identity(own) else { return [:] }
            return Self.leaves(of: key, in: document, language: language ?? own)
        }
    }

    /// The row that counts for a key.
    private static func entry(_ key: String, in table: TableDocument) -> TableEntry? { table.entries.last { $0.key.utf8.elementsEqual(key.utf8) } }

    private static func leaves(of key: String, in table: TableDocument, language: String?) -> [LeafPath: String] {
        guard let entry = entry(key, in: table) else { return [:] }
        var found: [LeafPath: String] = [:]
        func walk(_ content: TableContent, _ fields: [String]) {
            let place = LeafPath(key: key, language: language, field: fields.isEmpty ? nil : fields.joined(separator: "."))
            switch content {
            case .text(let text): found[place] = text
            case .other(let lexeme): found[place] = lexeme
            case .dictionary(let members): for (name, value) in members { walk(value, fields + [name]) }
            case .array(let items): for (index, item) in items.enumerated() { walk(item, fields + [String(index)]) }
            }
        }
        walk(entry.content, [])
        return found
    }
}
