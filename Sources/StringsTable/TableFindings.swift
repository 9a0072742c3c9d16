// What is wrong in a table that can be read: for `check`, and for the report of a merge.

import StringCatalog

/// One fault of a table that parses.
public struct TableFinding: Sendable, CustomStringConvertible {
    public enum Rule: String, Sendable {
        case duplicateKey = "duplicate-key"
        case unknownEscape = "unknown-escape"
        case missingVariable = "missing-variable"
        case unusedVariable = "unused-variable"
        case missingOther = "missing-other"
        case missingCategory = "missing-category"
        case missingType = "missing-type"
    }

    public let rule: Rule
    public let key: String
    public let line, column: Int
    /// One sentence, with the key.
    public let sentence: String
    public var description: String { "line \(line): \(sentence)" }

    var identity: String { "\(rule.rawValue) \(sentence)" }
}

extension TableDocument {
    /// The faults that the run time would not tell, in the file's order.
    ///
    /// - Parameter language: says which plural categories are needed; without one only `other` is.
    public func findings(kind: TableKind, language: TableLanguage = TableLanguage()) -> [TableFinding] {
        var found: [TableFinding] = []
        var places = LineCounter(text.utf8)
        let last = lastCopies(rows)
        for (i, row) in rows.enumerated() {
            let place = places.place(of: row.range.lowerBound)
            let name = row.key.string
            func note(_ rule: TableFinding.Rule, _ sentence: String) {
                found.append(TableFinding(rule: rule, key: name, line: place.line, column: place.column, sentence: sentence))
            }
            if last[row.key] != i { note(.duplicateKey, "the key \"\(name)\" stands more than once; its last copy counts") }
            if syntax != .xml, hasUnknownEscape(row.keyRange) || hasUnknownEscape(row.value.range) {
                note(.unknownEscape, "\"\(name)\" holds the escape \\u, which is read as the letter u; write \\U with four hex digits")
            }
            if kind == .stringsdict { noteFormat(Content(row.value), name, language, note) }
        }
        return found
    }

    private func noteFormat(_ entry: Content, _ name: String, _ language: TableLanguage, _ note: (TableFinding.Rule, String) -> Void) {
        let fault = formatUse(entry.rows)
        for variable in fault.missing { note(.missingVariable, "the format of \"\(name)\" uses the variable \"\(variable.string)\", which is not there") }
        for variable in fault.unused { note(.unusedVariable, "\"\(name)\" has the variable \"\(variable.string)\", which no text uses") }
        for variable in entry.rows where isVariable(variable.value) {
            let categories = Set(variable.value.rows.map(\.key).filter { !isType($0) }.map(\.string))
            let place = "the variable \"\(variable.key.string)\" of \"\(name)\""
            if variable.value["NSStringFormatValueTypeKey"] == nil { note(.missingType, "\(place) has no NSStringFormatValueTypeKey") }
            if !categories.contains("other") { note(.missingOther, "\(place) lacks the category other") }
            guard let code = language.code, let needed = pluralCategories(of: code) else { continue }
            for category in needed where category != .other && !categories.contains("\(category)") {
                note(.missingCategory, "\(place) lacks the category \(category), which \(code) needs")
            }
        }
    }

    private func hasUnknownEscape(_ range: Range<Int>) -> Bool {
        var i = range.lowerBound
        while i + 1 < range.upperBound {
            if text.utf8[i] == 0x5c {
                if text.utf8[i + 1] == 0x75 { return true }
                i += 1
            }
            i += 1
        }
        return false
    }
}

/// Whether a member of a variable says its type; all others are plural categories.
func isType(_ name: [UInt8]) -> Bool {
    name.elementsEqual("NSStringFormatSpecTypeKey".utf8) || name.elementsEqual("NSStringFormatValueTypeKey".utf8)
}

/// Whether a value is a variable with plural categories.
func isVariable(_ content: Content) -> Bool {
    guard case .dictionary = content else { return false }
    return content["NSStringFormatSpecTypeKey"] != nil || content["NSStringFormatValueTypeKey"] != nil
}

/// Which variables the texts of an entry use that it lacks, and which it has that nothing uses.
func formatUse(_ entry: [ContentRow]) -> (missing: [[UInt8]], unused: [[UInt8]]) {
    guard case .text(let format)? = Content.dictionary(entry)["NSStringLocalizedFormatKey"] else { return ([], []) }
    let variables = entry.filter { isVariable($0.value) }
    let names = Set(variables.map(\.key))
    var used = Set(substitutionsUsed(in: format))
    for variable in variables {
        for category in variable.value.rows where !isType(category.key) {
            if case .text(let text) = category.value { used.formUnion(substitutionsUsed(in: text)) }
        }
    }
    func sorted(_ names: Set<[UInt8]>) -> [[UInt8]] { names.sorted { $0.lexicographicallyPrecedes($1) } }
    return (sorted(used.subtracting(names)), sorted(names.subtracting(used)))
}

/// The first of these faults as a sentence; nil where format and variables fit.
func formatFault(_ entry: [ContentRow]) -> String? {
    let use = formatUse(entry)
    if let missing = use.missing.first { return "the merged format uses the variable \"\(missing.string)\", which one side removed" }
    if let unused = use.unused.first { return "the merged format no longer uses the variable \"\(unused.string)\"" }
    return nil
}
