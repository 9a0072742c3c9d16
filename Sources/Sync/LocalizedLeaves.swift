import Git
import StringCatalog
import StringsTable

// Where the texts of a file stand, and edits of one of them, in one way for both of its forms. A table has one language, that
// of its folder.

extension LocalizedFile {
    /// What stands at a place; `nil` where nothing does.
    func value(at leaf: LeafPath, aliases: LanguageAliases = LanguageAliases()) -> String? {
        switch self {
        case .catalog(let document): document.value(at: leaf, aliases: aliases)
        case .table(let document, _): document.value(at: leaf)
        }
    }

    /// All scalars of a key, or of one language of it.
    ///
    /// - Parameter table: the language of a table.
    func leaves(of key: String, language: String?, in table: TableLanguage) -> [LeafPath: String] {
        switch self {
        case .catalog(let document): return document.leaves(of: key, language: language)
        case .table(let document, _):
            let own = table.code
            guard let language else { return document.leaves(of: key, language: own) }
            guard let own, isSameLanguage(language, own) else { return [:] }
            // The comment is for all languages, here as in a catalog.
            return document.leaves(of: key, language: language).filter { !$0.key.isComment }
        }
    }

    /// The place of a text that stands, or stood, at a place of the other form; `nil` where this file has nothing of the kind.
    func counterpart(of leaf: LeafPath) -> Counterpart? {
        switch self {
        case .catalog(let document): document.counterpart(ofTableLeaf: leaf)
        case .table(let document, _): document.counterpart(ofCatalogLeaf: leaf)
        }
    }

    /// The file with another text at a place; see the edits of each form. A table has no states.
    func setting(_ text: String, state: String?, at leaf: LeafPath, in table: TableLanguage) throws(EditFault) -> Bytes {
        switch self {
        case .catalog(let document): try document.setting(text, state: state, at: leaf)
        case .table(let document, let kind): try document.setting(text, at: leaf, kind: kind, language: table)
        }
    }

    /// The file with what another one has at a place, a text with its state.
    func taking(_ leaf: LeafPath, from other: LocalizedFile, in table: TableLanguage) throws(EditFault) -> Bytes {
        switch (self, other) {
        case (.catalog(let document), .catalog(let other)):
            return try document.taking(Set([leaf, leaf.stateOfText].compactMap { $0 }), from: other)
        case (.table(let document, let kind), .table(let other, _)):
            return try document.taking([leaf], from: other, kind: kind, language: table)
        case (.catalog, .table), (.table, .catalog): throw .place("one side is a catalog, the other a table of strings")
        }
    }
}

extension LeafPath {
    /// Whether it is a comment of a table, which is about the key and no text of its language.
    var isComment: Bool { field == "comment" || field == "trailing comment" }
}
