// A catalog exactly as Xcode writes it: for people who ask for it. The daemon splices and never comes here.

/// Writes a catalog as Xcode would: its order of keys, its white space, its escapes.
///
/// What the catalog says stays the same, also properties that are not known, and copies of a name in their order. A byte
/// order mark and a final line feed go, since Xcode writes neither. Formatting the result again changes nothing.
public func formatted(_ document: CatalogDocument) -> Bytes {
    var writer = XcodeWriter(document.bytes)
    writer.object(document.root, .top, depth: 0)
    return Bytes(writer.out)
}

/// Which object of a catalog one is: that decides the order of its members.
private enum Level {
    case top, strings, entry, localizations, other

    /// Keys and languages stand as the Finder would sort them, all other names by code point.
    var order: KeyOrder {
        switch self {
        case .strings, .localizations: .xcode
        case .top, .entry, .other: .codePoints
        }
    }

    func below(_ name: [UInt8]) -> Level {
        switch self {
        case .top: name.elementsEqual("strings".utf8) ? .strings : .other
        case .strings: .entry
        case .entry: name.elementsEqual("localizations".utf8) ? .localizations : .other
        case .localizations, .other: .other
        }
    }
}

private struct XcodeWriter {
    let bytes: Bytes
    let sides: Sides
    var out: [UInt8] = []

    init(_ bytes: Bytes) {
        self.bytes = bytes
        sides = Sides(base: bytes, ours: bytes, theirs: bytes)
        out.reserveCapacity(bytes.count + bytes.count / 8)
    }

    mutating func object(_ range: Range<Int>, _ level: Level, depth: Int) {
        let members = sides.items(Value(.ours, range)).map { (name: decoded(bytes, $0.member.name), value: $0.value.range) }
        let order = level.order
        // Mostly the members stand in order. Copies of a name keep theirs, since the last one counts.
        let isSorted = zip(members, members.dropFirst()).allSatisfy { !order.isBefore($1.name, $0.name) }
        let sorted = isSorted ? Array(members.indices) : members.indices.sorted { a, b in
            members[a].name == members[b].name ? a < b : order.isBefore(members[a].name, members[b].name)
        }
        list(sorted.count, open: 0x7b, close: 0x7d, depth: depth) { writer, i in
            let member = members[sorted[i]]
            writer.string(member.name)
            writer.out += [0x20, 0x3a, 0x20]
            writer.value(member.value, level.below(member.name), depth: depth + 1)
        }
    }

    private mutating func value(_ range: Range<Int>, _ level: Level, depth: Int) {
        switch bytes[range.lowerBound] {
        case 0x22:
            let inside = range.lowerBound + 1..<range.upperBound - 1
            // Without a backslash a string is written as it stands.
            if bytes.contains(0x5c, in: inside) { string(decoded(bytes, inside)) } else { out += bytes.array(range) }
        case 0x7b: object(range, level, depth: depth)
        case 0x5b:
            let elements = sides.elements(Value(.ours, range))
            list(elements.count, open: 0x5b, close: 0x5d, depth: depth) { writer, i in writer.value(elements[i].range, .other, depth: depth + 1) }
        default: out += bytes.array(range)
        }
    }

    /// Writes a list of members or elements, each on a line of its own; an empty one as bracket, empty line, bracket.
    private mutating func list(_ count: Int, open: UInt8, close: UInt8, depth: Int, _ write: (inout XcodeWriter, Int) -> Void) {
        out.append(open)
        if count == 0 { out.append(10) }
        for i in 0..<count {
            if i > 0 { out.append(0x2c) }
            newLine(depth + 1)
            write(&self, i)
        }
        newLine(depth)
        out.append(close)
    }

    private mutating func newLine(_ depth: Int) {
        out.append(10)
        out.append(contentsOf: repeatElement(0x20, count: 2 * depth))
    }

    /// Writes a text with Xcode's escapes: those that JSON asks for, in their short forms.
    private mutating func string(_ text: [UInt8]) {
        out.append(0x22)
        for (i, byte) in text.enumerated() {
            switch byte {
            case 0x22, 0x5c: out += [0x5c, byte]
            case 0x08: out += [0x5c, 0x62]
            case 0x09: out += [0x5c, 0x74]
            case 0x0a: out += [0x5c, 0x6e]
            case 0x0c: out += [0x5c, 0x66]
            case 0x0d: out += [0x5c, 0x72]
            case 0..<0x20: escape(UInt16(byte))
            // Half of a surrogate pair, which UTF-8 cannot hold, arrives in its three-byte form and stays an escape.
            case 0xed where i + 2 < text.count && text[i + 1] >= 0xa0:
                escape(0xd000 | UInt16(text[i + 1] & 0x3f) << 6 | UInt16(text[i + 2] & 0x3f))
            case 0x80...0xbf where i >= 1 && text[i - 1] == 0xed && byte >= 0xa0: break
            case 0x80...0xbf where i >= 2 && text[i - 2] == 0xed && text[i - 1] >= 0xa0 && text[i - 1] < 0xc0: break
            default: out.append(byte)
            }
        }
        out.append(0x22)
    }

    private mutating func escape(_ unit: UInt16) {
        let digits = String(unit, radix: 16)
        out += Array("\\u".utf8) + [UInt8](repeating: 0x30, count: 4 - digits.utf8.count) + Array(digits.utf8)
    }
}
