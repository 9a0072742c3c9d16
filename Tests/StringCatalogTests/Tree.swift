// A second reader of JSON, which shares no code with the product: what a catalog says, for comparison, and a writer in
// the styles that are found in the wild.

/// What a JSON text says. Strings are UTF-8, so that NFC and NFD differ; numbers and words are their spelling.
indirect enum Tree {
    case object([(name: [UInt8], value: Tree)])
    case array([Tree])
    case string([UInt8])
    case word([UInt8])

    static func text(_ text: String) -> Tree { .string(Array(text.utf8)) }
    static func object(_ members: (String, Tree)...) -> Tree { .object(members.map { (Array($0.0.utf8), $0.1) }) }

    /// Reads a valid JSON text; nil where it is none.
    init?(_ bytes: [UInt8]) {
        var reader = Reader(bytes: bytes, at: bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0)
        guard let tree = reader.value() else { return nil }
        reader.space()
        guard reader.at == bytes.count else { return nil }
        self = tree
    }

    subscript(name: String) -> Tree? {
        get { if case .object(let members) = self { members.last { $0.name == Array(name.utf8) }?.value } else { nil } }
        set {
            guard case .object(var members) = self else { return }
            let key = Array(name.utf8)
            if let i = members.lastIndex(where: { $0.name == key }) {
                if let newValue { members[i].value = newValue } else { members.removeAll { $0.name == key } }
            } else if let newValue {
                members.append((key, newValue))
            }
            self = .object(members)
        }
    }

    var members: [(name: [UInt8], value: Tree)] { if case .object(let members) = self { members } else { [] } }
    var names: [String] { members.map { String(decoding: $0.name, as: UTF8.self) } }
    var string: String? { if case .string(let text) = self { String(decoding: text, as: UTF8.self) } else { nil } }

    /// One spelling of what it says: members sorted, of copies the last. Equal trees have equal bytes.
    var canonical: [UInt8] {
        switch self {
        case .string(let text): return Tree.quoted(text, TextStyle())
        case .word(let word): return word
        case .array(let elements): return [0x5b] + elements.map(\.canonical).joined(separator: [0x2c]) + [0x5d]
        case .object(let members):
            var last: [[UInt8]: Tree] = [:]
            for member in members { last[member.name] = member.value }
            // By the names themselves: two halves of a pair are written alike.
            let lines = last.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { (Tree.quoted($0.key, TextStyle()) + [0x3a], $0.value) }
            return [0x7b] + lines.map { $0.0 + $0.1.canonical }.joined(separator: [0x2c]) + [0x7d]
        }
    }

    /// All texts of the members `value`, and the elements of `values`.
    var texts: Set<[UInt8]> {
        var found: Set<[UInt8]> = []
        func walk(_ tree: Tree, _ name: [UInt8]) {
            switch tree {
            case .object: for (name, value) in tree.effective { walk(value, name) }
            case .array(let elements): elements.forEach { walk($0, name) }
            case .string(let text): if name == Array("value".utf8) || name == Array("values".utf8) { found.insert(text) }
            case .word: break
            }
        }
        walk(self, [])
        return found
    }

    /// The members that count: of several copies of a name the last.
    var effective: [(name: [UInt8], value: Tree)] {
        let members = members
        return members.enumerated().filter { i, member in !members[(i + 1)...].contains { $0.name == member.name } }.map(\.element)
    }

    private struct Reader {
        let bytes: [UInt8]
        var at: Int

        mutating func space() { while at < bytes.count, [0x20, 9, 10, 13].contains(bytes[at]) { at += 1 } }
        mutating func take(_ byte: UInt8) -> Bool {
            space()
            guard at < bytes.count, bytes[at] == byte else { return false }
            at += 1
            return true
        }

        mutating func value() -> Tree? {
            space()
            guard at < bytes.count else { return nil }
            switch bytes[at] {
            case 0x7b:
                at += 1
                var members: [(name: [UInt8], value: Tree)] = []
                if take(0x7d) { return .object(members) }
                repeat {
                    space()
                    guard let name = string(), take(0x3a), let value = value() else { return nil }
                    members.append((name, value))
                } while take(0x2c)
                return take(0x7d) ? .object(members) : nil
            case 0x5b:
                at += 1
                var elements: [Tree] = []
                if take(0x5d) { return .array(elements) }
                repeat {
                    guard let value = value() else { return nil }
                    elements.append(value)
                } while take(0x2c)
                return take(0x5d) ? .array(elements) : nil
            case 0x22: return string().map(Tree.string)
            default:
                let start = at
                while at < bytes.count, ![0x20, 9, 10, 13, 0x2c, 0x5d, 0x7d].contains(bytes[at]) { at += 1 }
                return at > start ? .word(Array(bytes[start..<at])) : nil
            }
        }

        mutating func string() -> [UInt8]? {
            guard at < bytes.count, bytes[at] == 0x22 else { return nil }
            at += 1
            var units: [UInt16] = []
            var out: [UInt8] = []
            func flushed() -> [UInt8] {
                // Half of a pair keeps its own three bytes, as no text has them.
                var bytes: [UInt8] = []
                var i = 0
                while i < units.count {
                    let unit = units[i]
                    if unit & 0xfc00 == 0xd800, i + 1 < units.count, units[i + 1] & 0xfc00 == 0xdc00 {
                        bytes += Array(String(decoding: units[i...(i + 1)], as: UTF16.self).utf8)
                        i += 2
                    } else {
                        bytes += unit & 0xf800 == 0xd800
                            ? [0xed, UInt8(0x80 | unit >> 6 & 0x3f), UInt8(0x80 | unit & 0x3f)] : Array(String(decoding: [unit], as: UTF16.self).utf8)
                        i += 1
                    }
                }
                return bytes
            }
            while at < bytes.count {
                let byte = bytes[at]
                at += 1
                if byte == 0x5c, at < bytes.count, bytes[at] == 0x75 {
                    guard at + 5 <= bytes.count, let unit = UInt16(String(decoding: bytes[(at + 1)..<(at + 5)], as: UTF8.self), radix: 16) else { return nil }
                    units.append(unit)
                    at += 5
                    continue
                }
                out += flushed()
                units = []
                if byte == 0x22 { return out }
                guard byte == 0x5c else {
                    out.append(byte)
                    continue
                }
                guard at < bytes.count else { return nil }
                let plain: [UInt8: UInt8] = [0x22: 0x22, 0x5c: 0x5c, 0x2f: 0x2f, 0x62: 8, 0x66: 12, 0x6e: 10, 0x72: 13, 0x74: 9]
                guard let meant = plain[bytes[at]] else { return nil }
                out.append(meant)
                at += 1
            }
            return nil
        }
    }
}

/// A way of writing a catalog; the default is Xcode's.
struct TextStyle {
    var newline = "\n"
    var indent = "  "
    var colon = " : "
    var emptyObject: String?
    var inlineLeaves = false
    var escapesSlash = false
    var escapesNonASCII = false
    var hasMark = false
    var final = ""

    /// Styles that catalogs are found in, with names for messages.
    static let all: [(name: String, style: TextStyle)] = [
        ("Xcode", TextStyle()),
        ("final newline", TextStyle(final: "\n")),
        ("narrow colon", TextStyle(colon: ": ", emptyObject: "{}", final: "\n")),
        ("tabs and CRLF", TextStyle(newline: "\r\n", indent: "\t", colon: ": ", emptyObject: "{}", final: "\r\n")),
        ("one line", TextStyle(newline: "", indent: "", colon: ":", emptyObject: "{}")),
        ("inline leaves", TextStyle(colon: ": ", emptyObject: "{}", inlineLeaves: true)),
        ("escaped slash", TextStyle(escapesSlash: true)),
        ("ASCII only", TextStyle(colon: ": ", emptyObject: "{}", escapesNonASCII: true)),
        ("byte order mark", TextStyle(hasMark: true)),
    ]
}

extension Tree {
    func written(_ style: TextStyle = TextStyle()) -> [UInt8] {
        (style.hasMark ? [0xef, 0xbb, 0xbf] : []) + rendered(style, 0) + Array(style.final.utf8)
    }

    private func rendered(_ style: TextStyle, _ depth: Int) -> [UInt8] {
        func block(_ lines: [[UInt8]], _ open: UInt8, _ close: UInt8, inline: Bool) -> [UInt8] {
            let gap = inline ? (style.newline.isEmpty ? "" : " ") : style.newline + String(repeating: style.indent, count: depth + 1)
            let end = inline ? gap : style.newline + String(repeating: style.indent, count: depth)
            return [open] + Array(gap.utf8) + Array(lines.joined(separator: [0x2c] + Array(gap.utf8))) + Array(end.utf8) + [close]
        }
        switch self {
        case .word(let word): return word
        case .string(let text): return Tree.quoted(text, style)
        case .array(let elements): return block(elements.map { $0.rendered(style, depth + 1) }, 0x5b, 0x5d, inline: false)
        case .object(let members):
            if members.isEmpty {
                return Array((style.emptyObject ?? "{" + style.newline + style.newline + String(repeating: style.indent, count: depth) + "}").utf8)
            }
            let isLeaf = members.allSatisfy { if case .object = $0.value { false } else if case .array = $0.value { false } else { true } }
            let lines = members.map { Tree.quoted($0.name, style) + Array(style.colon.utf8) + $0.value.rendered(style, depth + 1) }
            return block(lines, 0x7b, 0x7d, inline: style.inlineLeaves && isLeaf && depth > 0)
        }
    }

    static func quoted(_ text: [UInt8], _ style: TextStyle) -> [UInt8] {
        var out: [UInt8] = [0x22]
        func unit(_ value: UInt16) {
            let digits = String(value, radix: 16)
            out += Array(("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
        }
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            switch scalar {
            case "\"": out += Array("\\\"".utf8)
            case "\\": out += Array("\\\\".utf8)
            case "\n": out += Array("\\n".utf8)
            case "\t": out += Array("\\t".utf8)
            case "\r": out += Array("\\r".utf8)
            case "/" where style.escapesSlash: out += Array("\\/".utf8)
            default:
                if scalar.value < 0x20 || (scalar.value >= 0x80 && style.escapesNonASCII) {
                    String(scalar).utf16.forEach(unit)
                } else {
                    out += Array(String(scalar).utf8)
                }
            }
        }
        return out + [0x22]
    }
}
