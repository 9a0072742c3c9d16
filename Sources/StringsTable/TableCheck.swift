// Is a table sound? Its own faults, and what its texts do beside those of the source language. For the second the two
// tables become a catalog in memory: all that is checked in a catalog is then checked in tables too, by the same rules.

import StringCatalog

/// The faults of a table, in the order of their places. A sound table has none.
///
/// - Parameters:
///   - source: the table of the source language with the same name; nil for the source itself, or where there is none.
public func check(
    _ bytes: Bytes, kind: TableKind, language: TableLanguage, source: TableDocument? = nil, policy: CheckPolicy = .standard
) -> [Finding] {
    let table: TableDocument
    do {
        table = try TableDocument(parsing: bytes)
    } catch {
        let rule: CheckRule = error.fault == .conflictMarker ? .conflictMarker : .syntax
        guard let severity = policy[rule] else { return [] }
        return [Finding(rule: rule, severity: severity, line: error.line, column: error.column, place: LeafPath(language: language.code), sentence: error.sentence)]
    }
    var found = table.findings(kind: kind, language: language).compactMap { finding in
        policy[finding.rule.checkRule].map {
            Finding(
                rule: finding.rule.checkRule, severity: $0, line: finding.line, column: finding.column,
                place: LeafPath(key: finding.key, language: language.code), sentence: finding.sentence)
        }
    }
    if let source, let code = language.code, !language.isSource { found += compared(table, kind, code, source, policy) }
    return found.enumerated().sorted { ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset) }.map(\.element)
}

/// The errors of a merged table that neither side has, each as often as it is new. What a table does beside that of the source
/// language is not looked at: the two change at different times.
public func worsens(ours: TableDocument, theirs: TableDocument, result: TableDocument, kind: TableKind, language: TableLanguage) -> [Finding] {
    func errors(_ table: TableDocument) -> [Finding] {
        check(table.bytes, kind: kind, language: language).filter { $0.severity == .error }
    }
    var new = errors(result)
    for side in [ours, theirs] where !new.isEmpty {
        var known = errors(side).map { "\($0.rule) \($0.sentence)" }
        new.removeAll { fault in
            guard let i = known.firstIndex(of: "\(fault.rule) \(fault.sentence)") else { return false }
            known.remove(at: i)
            return true
        }
    }
    return new
}

/// What the texts of a translation do that they should not, beside those of the source.
private func compared(_ table: TableDocument, _ kind: TableKind, _ code: String, _ source: TableDocument, _ policy: CheckPolicy) -> [Finding] {
    // The source must not be taken for the translation, also where that is English and the source is not.
    let sourceCode = "en" == code ? "en-x-source" : "en"
    let tables = [LocalizedTable(language: sourceCode, kind: kind, document: source), LocalizedTable(language: code, kind: kind, document: table)]
    guard let migration = try? migrated(tables, sourceLanguage: sourceCode) else { return [] }
    var places: [String: (line: Int, column: Int)] = [:]
    for entry in table.entries { places[entry.key] = (entry.line, entry.column) }
    return check(migration.bytes, policy: policy).compactMap { finding in
        guard finding.place.language == code, finding.rule.isComparison else { return nil }
        let place = finding.place.key.flatMap { places[$0] } ?? (1, 1)
        // Where a plain text stands in a catalog is nothing that a table's reader knows.
        var path = finding.place
        if path.field == "stringUnit.value" { path.field = nil }
        return Finding(rule: finding.rule, severity: finding.severity, line: place.line, column: place.column, place: path, sentence: finding.sentence)
    }
}

extension TableFinding.Rule {
    /// The rule of catalogs that says the same.
    var checkRule: CheckRule {
        switch self {
        case .duplicateKey: .duplicateKey
        case .unknownEscape, .missingType: .malformed
        case .missingVariable: .substitutionMissing
        case .unusedVariable: .substitutionUnused
        case .missingOther: .pluralOther
        case .missingCategory: .pluralCategory
        }
    }
}

extension CheckRule {
    /// Whether a rule holds a translation against its source text, or looks at how a text uses its arguments.
    fileprivate var isComparison: Bool {
        switch self {
        case .placeholderMissing, .placeholderExtra, .placeholderType, .placeholderWidth, .placeholderOrder, .percentSign, .missingTranslation, .equalToSource,
            .whitespace:
            true
        case .syntax, .conflictMarker, .duplicateKey, .duplicateLanguage, .duplicateMember, .strayKey, .strayMember, .version, .newerVersion,
            .sourceLanguage, .emptyKey, .malformed, .missingState, .unknownState, .languageSpelling, .pluralOther, .pluralCategory, .pluralCategoryRare,
            .unknownVariation, .substitutionMissing, .substitutionUnused, .symbol:
            false
        }
    }
}
