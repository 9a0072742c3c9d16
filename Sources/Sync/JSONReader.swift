// Reads what `JSON` writes: the records of the ledger and of resolutions, which come back from a repository that anybody
// may have pushed to. Anything that is not JSON gives nil; nothing is guessed.

/// A JSON value that was read.
enum ParsedJSON: Equatable {
    case string(String), number(Int), boolean(Bool), list([ParsedJSON]), object([String: ParsedJSON])

    /// The value that a text is, as a whole; `nil` if it is none. Numbers are whole numbers; `null` members are left out.
    init?(parsing text: String) {
        var reader = JSONReader(Array(text.utf8))
        guard let value = reader.value(depth: 0), reader.isAtEnd else { return nil }
        self = value
    }

    /// The member of this name of an object.
    subscript(_ name: String) -> ParsedJSON? { if case .object(let members) = self { members[name] } else { nil } }

    var text: String? { if case .string(let text) = self { text } else { nil } }
    var int: Int? { if case .number(let number) = self { number } else { nil } }
}

private struct JSONReader {
    private let bytes: [UInt8]
    private var at = 0
    private static let depthMax = 16

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { bytes[at...].allSatisfy(Self.isSpace) }

    mutating func value(depth: Int) -> ParsedJSON? {
        guard depth < Self.depthMax, let first = next() else { return nil }
        switch first {
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: "["): return list(depth: depth)
        case UInt8(ascii: "{"): return object(depth: depth)
        case UInt8(ascii: "t"): return word("true") ? .boolean(true) : nil
        case UInt8(ascii: "f"): return word("false") ? .boolean(false) : nil
        default: return number()
        }
    }

    private mutating func object(depth: Int) -> ParsedJSON? {
        at += 1
        var members: [String: ParsedJSON] = [:]
        if take("}") { return .object(members) }
        repeat {
            guard next() == UInt8(ascii: "\""), let name = string(), take(":") else { return nil }
            if next() == UInt8(ascii: "n") {
                guard word("null") else { return nil }
            } else {
                guard let value = value(depth: depth + 1) else { return nil }
                members[name] = value
            }
        } while take(",")
        return take("}") ? .object(members) : nil
    }

    private mutating func list(depth: Int) -> ParsedJSON? {
        at += 1
        var items: [ParsedJSON] = []
        if take("]") { return .list(items) }
        repeat {
            guard let value = value(depth: depth + 1) else { return nil }
            items.append(value)
        } while take(",")
        return take("]") ? .list(items) : nil
    }

    private mutating func string() -> String? {
        at += 1
        var out: [UInt8] = []
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: out, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                out += Array(String(scalar).utf8)
            case 0..<0x20: return nil
            default: out.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard at < bytes.count else { return nil }
        let kind = bytes[at]
        at += 1
        switch kind {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(kind)
        case UInt8(ascii: "u"):
            guard let unit = unit() else { return nil }
            guard (0xD800..<0xDC00).contains(unit) else { return Unicode.Scalar(unit) }
            guard at + 1 < bytes.count, bytes[at] == UInt8(ascii: "\\"), bytes[at + 1] == UInt8(ascii: "u") else { return nil }
            at += 2
            guard let low = self.unit(), (0xDC00..<0xE000).contains(low) else { return nil }
            return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        default: return nil
        }
    }

    private mutating func unit() -> UInt32? {
        guard at + 4 <= bytes.count, let value = UInt32(String(decoding: bytes[at..<at + 4], as: UTF8.self), radix: 16) else { return nil }
        at += 4
        return value
    }

    private mutating func number() -> ParsedJSON? {
        let digits = bytes[at...].prefix { $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        at += digits.count
        return Int(String(decoding: digits, as: UTF8.self)).map { .number($0) }
    }

    private mutating func word(_ word: String) -> Bool {
        guard bytes[at...].starts(with: word.utf8) else { return false }
        at += word.utf8.count
        return true
    }

    private mutating func take(_ sign: Unicode.Scalar) -> Bool {
        guard next() == UInt8(ascii: sign) else { return false }
        at += 1
        return true
    }

    private mutating func next() -> UInt8? {
        while at < bytes.count, Self.isSpace(bytes[at]) { at += 1 }
        return at < bytes.count ? bytes[at] : nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
