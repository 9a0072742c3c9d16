/// How a file is written: what new text in it has to look like.
///
/// Xcode's own is two spaces of indent, `"key" : value`, and `{`, an empty line, `}` for an object without members.
struct Style {
    /// LF or CR LF; empty where the whole file is one line.
    var newline: [UInt8] = [10]
    /// One level of indent.
    var indent: [UInt8] = [0x20, 0x20]
    /// What stands between a name and its value.
    var colon: [UInt8] = [0x20, 0x3a, 0x20]
    /// Between the members of an object on one line, after the comma.
    var space: [UInt8] = [0x20]
    /// The text of an object without members, or nil for Xcode's three lines.
    var emptyObject: [UInt8]?
    /// Whether objects without objects in them, such as string units, stand on one line.
    var inlineLeaves = false
    /// What stands inside the braces of an object on one line.
    var inlinePadding: [UInt8] = [0x20]
    /// Whether `/` is written `\/`.
    var escapesSlash = false
    /// Whether everything that is not ASCII is written as `\uXXXX`.
    var escapesNonASCII = false

    static let xcode = Style()

    /// Reads the style off a document; what it does not show is as Xcode writes it.
    init(of document: CatalogDocument) {
        let bytes = document.bytes
        guard let first = document.top.first else { return }
        let lead = bytes.array(document.root.lowerBound + 1..<Int(first.nameStart) - 1)
        if let feed = lead.lastIndex(of: 10) {
            newline = feed > 0 && lead[feed - 1] == 13 ? [13, 10] : [10]
            indent = Array(lead[(feed + 1)...])
        } else {
            newline = []
            indent = []
            inlinePadding = lead
            emptyObject = Array("{}".utf8)
            space = Int(first.valueStart) - Int(first.nameEnd) > 2 ? [0x20] : []
        }
        colon = bytes.array(Int(first.nameEnd) + 1..<Int(first.valueStart))
        if document.top.count > 1, newline.isEmpty {
            space = bytes.array(Int(first.valueEnd)..<Int(document.top[1].nameStart) - 1).filter { $0 != 0x2c }
        }
        var seen = (empty: false, leaf: false)
        if colon != [0x20, 0x3a, 0x20], emptyObject == nil { emptyObject = Array("{}".utf8) }
        for entry in document.entries {
            if !seen.empty {
                let end = bytes.endOfSpace(Int(entry.valueStart) + 1)
                if end == Int(entry.valueEnd) - 1, bytes[Int(entry.valueStart)] == 0x7b {
                    let text = bytes.array(entry.value)
                    emptyObject = text.contains(10) ? nil : text
                    seen.empty = true
                }
            }
            if !seen.leaf, entry.value.count > 40 { seen.leaf = noteLeaf(entry, bytes) }
            if seen.empty && seen.leaf { break }
        }
        noteEscapes(bytes)
    }

    init() {}

    /// Looks at how the first string unit of an entry is laid out; false where the entry has none.
    private mutating func noteLeaf(_ entry: Member, _ bytes: Bytes) -> Bool {
        let sides = Sides(base: bytes, ours: bytes, theirs: bytes)
        guard let localizations = sides.member(Value(.ours, entry.value), "localizations"),
            let localization = sides.items(localizations).first?.value,
            let unit = sides.member(localization, "stringUnit"),
            let field = sides.items(unit).first
        else { return false }
        if !newline.isEmpty {
            inlineLeaves = !bytes.contains(10, in: unit.range)
            if inlineLeaves { inlinePadding = bytes.array(Int(unit.start) + 1..<field.member.whole.lowerBound) }
        }
        return true
    }

    /// Looks for `\/` and `\u`. Files with neither are the rule and cost one search.
    private mutating func noteEscapes(_ bytes: Bytes) {
        let found = bytes.escapes
        escapesSlash = found.slash
        escapesNonASCII = found.unicode && !found.nonASCII
    }

    /// A string's lexeme, with its quotes, as this file would write it.
    func restyled(_ lexeme: [UInt8]) -> [UInt8] {
        var escapes = false
        var slash = false
        var high = false
        var i = 1
        while i < lexeme.count - 1 {
            let byte = lexeme[i]
            if byte == 0x5c {
                let next = lexeme[i + 1]
                if next == 0x75 || next == 0x2f { escapes = true }
                i += 1
            } else if byte == 0x2f {
                slash = true
            } else if byte >= 0x80 {
                high = true
            }
            i += 1
        }
        guard escapes || (slash && escapesSlash) || (high && escapesNonASCII) else { return lexeme }
        let bytes = Bytes(lexeme)
        let text = decoded(bytes, 1..<lexeme.count - 1)
        guard let valid = String(validating: text, as: UTF8.self) else { return lexeme }
        return quoted(valid)
    }

    /// A text as a JSON string in this file's escapes.
    func quoted(_ text: String) -> [UInt8] {
        var out: [UInt8] = [0x22]
        func unit(_ value: UInt16) {
            let digits = String(value, radix: 16)
            out += Array("\\u".utf8) + [UInt8](repeating: 0x30, count: 4 - digits.utf8.count) + Array(digits.utf8)
        }
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22: out += [0x5c, 0x22]
            case 0x5c: out += [0x5c, 0x5c]
            case 0x0a: out += [0x5c, 0x6e]
            case 0x09: out += [0x5c, 0x74]
            case 0x0d: out += [0x5c, 0x72]
            case 0x2f where escapesSlash: out += [0x5c, 0x2f]
            case 0..<0x20: unit(UInt16(scalar.value))
            case 0x80... where escapesNonASCII: String(scalar).utf16.forEach(unit)
            default: out += Array(String(scalar).utf8)
            }
        }
        out.append(0x22)
        return out
    }
}
