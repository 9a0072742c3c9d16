// A file's characters. The parsers and the writer know UTF-8 only; what stands here brings every encoding there and
// back without loss, so that text which no edit touches comes out in the bytes it had.

import StringCatalog

/// The text of a file in UTF-8, and how the file writes it.
struct TableText: Sendable {
    enum Encoding: Sendable {
        case utf8, utf16LittleEndian, utf16BigEndian
    }

    let encoding: Encoding
    /// Whether the file begins with a byte order mark.
    let hasMark: Bool
    /// The text without the mark.
    let utf8: [UInt8]

    /// Reads bytes in the encoding that their mark names or, without one, that the zeros of ASCII characters betray.
    init(_ bytes: Bytes) throws(TableError) {
        let raw = bytes.array
        let (encoding, mark) = try TableText.detect(raw)
        self.encoding = encoding
        hasMark = mark > 0
        switch encoding {
        case .utf8: utf8 = try TableText.validated(Array(raw[mark...]))
        case .utf16LittleEndian: utf8 = try TableText.transcoded(raw[mark...], low: 0)
        case .utf16BigEndian: utf8 = try TableText.transcoded(raw[mark...], low: 1)
        }
    }

    /// Bytes in this file's encoding, with a mark where the file has one.
    func encoded(_ text: [UInt8]) -> [UInt8] {
        switch encoding {
        case .utf8: return (hasMark ? [0xef, 0xbb, 0xbf] : []) + text
        case .utf16LittleEndian, .utf16BigEndian:
            let isLittle = encoding == .utf16LittleEndian
            var out: [UInt8] = hasMark ? (isLittle ? [0xff, 0xfe] : [0xfe, 0xff]) : []
            out.reserveCapacity(text.count * 2 + 2)
            for unit in String(decoding: text, as: UTF8.self).utf16 {
                let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xff))
                out.append(isLittle ? low : high)
                out.append(isLittle ? high : low)
            }
            return out
        }
    }

    private static func detect(_ raw: [UInt8]) throws(TableError) -> (Encoding, mark: Int) {
        if raw.starts(with: [0xff, 0xfe, 0, 0]) || raw.starts(with: [0, 0, 0xfe, 0xff]) { throw TableError(.utf32, at: 0, in: []) }
        if raw.starts(with: [0xef, 0xbb, 0xbf]) { return (.utf8, 3) }
        if raw.starts(with: [0xff, 0xfe]) { return (.utf16LittleEndian, 2) }
        if raw.starts(with: [0xfe, 0xff]) { return (.utf16BigEndian, 2) }
        // Every table has ASCII in it (quotes, '=', ';', tags), and ASCII in UTF-16 has a zero in each unit.
        var zeros = [0, 0, 0, 0]
        for (i, byte) in raw.prefix(1024).enumerated() where byte == 0 { zeros[i & 3] += 1 }
        let (even, odd) = (zeros[0] + zeros[2], zeros[1] + zeros[3])
        guard even + odd > 0 else { return (.utf8, 0) }
        if zeros.count(where: { $0 * 5 > min(raw.count, 1024) }) >= 3 { throw TableError(.utf32, at: 0, in: []) }
        return (even > odd ? .utf16BigEndian : .utf16LittleEndian, 0)
    }

    private static func validated(_ text: [UInt8]) throws(TableError) -> [UInt8] {
        if String(validating: text, as: UTF8.self) != nil { return text }
        var parser = Unicode.UTF8.ForwardParser()
        var input = text.makeIterator()
        var offset = 0
        while true {
            switch parser.parseScalar(from: &input) {
            case .valid(let scalar): offset += scalar.count
            case .error: throw TableError(.notUTF8(text[offset]), at: offset, in: text)
            case .emptyInput: return text
            }
        }
    }

    private static func transcoded(_ raw: ArraySlice<UInt8>, low: Int) throws(TableError) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(raw.count)
        var i = raw.startIndex
        func unit(_ i: Int) -> UInt32 { UInt32(raw[i + 1 - low]) << 8 | UInt32(raw[i + low]) }
        while i + 1 < raw.endIndex {
            var scalar = unit(i)
            i += 2
            if scalar >= 0xd800, scalar < 0xe000 {
                guard scalar < 0xdc00, i + 1 < raw.endIndex, unit(i) >= 0xdc00, unit(i) < 0xe000 else {
                    throw TableError(.loneSurrogate, at: out.count, in: out)
                }
                scalar = 0x10000 + (scalar - 0xd800) << 10 + (unit(i) - 0xdc00)
                i += 2
            }
            append(scalar, to: &out)
        }
        guard i == raw.endIndex else { throw TableError(.oddLength, at: out.count, in: out) }
        return out
    }

    /// Appends a scalar as UTF-8; half of a surrogate pair, which an escape may name, in its three-byte form.
    static func append(_ scalar: UInt32, to out: inout [UInt8]) {
        switch scalar {
        case 0..<0x80: out.append(UInt8(scalar))
        case 0..<0x800: out += [UInt8(0xc0 | scalar >> 6), UInt8(0x80 | scalar & 0x3f)]
        case 0..<0x10000: out += [UInt8(0xe0 | scalar >> 12), UInt8(0x80 | scalar >> 6 & 0x3f), UInt8(0x80 | scalar & 0x3f)]
        default:
            out += [UInt8(0xf0 | scalar >> 18 & 7), UInt8(0x80 | scalar >> 12 & 0x3f), UInt8(0x80 | scalar >> 6 & 0x3f), UInt8(0x80 | scalar & 0x3f)]
        }
    }
}

extension [UInt8] {
    /// Whether these bytes begin at an offset.
    func has(_ text: StaticString, at offset: Int) -> Bool {
        let wanted = text.description.utf8
        return offset >= 0 && offset + wanted.count <= count && self[offset..<offset + wanted.count].elementsEqual(wanted)
    }

    /// The offset of the first place of a text at or after another.
    func offset(of text: StaticString, from start: Int) -> Int? {
        var i = start
        let wanted = Array(text.description.utf8)
        while i + wanted.count <= count {
            if self[i] == wanted[0], has(text, at: i) { return i }
            i += 1
        }
        return nil
    }

    /// CR LF as LF: line ends are how a file is written, not what it says.
    var withPlainLineEnds: [UInt8] {
        guard contains(13) else { return self }
        return indices.filter { !(self[$0] == 13 && $0 + 1 < count && self[$0 + 1] == 10) }.map { self[$0] }
    }

    /// With other line ends.
    func withLineEnds(_ newline: [UInt8]) -> [UInt8] {
        let plain = withPlainLineEnds
        return newline == [10] ? plain : plain.flatMap { $0 == 10 ? newline : [$0] }
    }

    /// Without white space around.
    var trimmed: [UInt8] {
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else { return [] }
        return Array(self[first...last])
    }

    var string: String { String(decoding: self, as: UTF8.self) }
}

func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (byte >= 9 && byte <= 13) }

/// Whether a byte is white space inside of a line.
func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 9 }
