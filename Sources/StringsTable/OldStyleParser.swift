// The text form of a property list, which NeXT left behind: `.strings` is one without its outer braces.
//
// Strings stand in `"` or `'`, or bare where they hold nothing but letters, digits and `_ $ / : . -`. Escapes are those
// of CoreFoundation: `\n`, `\"`, …, `\U00e9` (four hex digits, UTF-16), and octal `\351` in the NeXTSTEP encoding.
// `\u00e9` is none: the run time reads it as `u00e9`.

/// A strict reader that stands at one place. It builds the index as it goes.
struct OldStyleParser {
    private let text: [UInt8]
    private let depthMax: Int
    private var position = 0
    private var depth = 0
    private var comments: [Comment] = []

    init(_ text: [UInt8], depthMax: Int) {
        self.text = text
        self.depthMax = depthMax
    }

    /// The whole file.
    mutating func table() throws(TableError) -> (Node, TableSyntax) {
        try skipSpace()
        if here == 0x7b {
            let node = try value()
            try skipSpace()
            guard position == text.count else { throw fault(isConflictMarker(at: position) ? .conflictMarker : .trailingText) }
            return (node, .braces)
        }
        if here == 0x28 { throw fault(.notATable("it is an array")) }
        let start = 0
        position = start
        comments = []
        let rows = try rows(until: nil, from: start)
        return (Node(range: 0..<text.count, content: .dictionary(rows), inner: 0..<text.count), .plain)
    }

    private var here: UInt8? { position < text.count ? text[position] : nil }

    private func fault(_ fault: TableError.Fault, at offset: Int? = nil) -> TableError {
        TableError(fault, at: offset ?? position, in: text)
    }

    // MARK: Rows

    /// Rows up to a closing brace, or to the end of the file.
    private mutating func rows(until close: UInt8?, from start: Int) throws(TableError) -> [Row] {
        let outer = comments
        comments = []
        defer { comments = outer }
        var rows: [Row] = []
        while true {
            try skipSpace()
            guard let byte = here else {
                if close != nil { throw fault(.unterminatedDictionary, at: start - 1) }
                break
            }
            if byte == close { break }
            rows.append(try row())
        }
        return attach(comments, to: rows, in: text, from: start)
    }

    private mutating func row() throws(TableError) -> Row {
        let keyRange = try string("a key, '\"' or a letter")
        let key = OldStyleParser.decoded(Array(text[keyRange]), plainLineEnds: true)
        try skipSpace()
        if here == 0x3b {
            position += 1
            let value = Node(range: keyRange.upperBound..<keyRange.upperBound, content: .text(key))
            return Row(key: key, keyRange: keyRange, value: value, range: keyRange.lowerBound..<position)
        }
        guard here == 0x3d else { throw misplaced(after: keyRange, .missingEquals(after: key.string)) }
        position += 1
        try skipSpace()
        if here == 0x3b { throw fault(.expected("a value for \"\(key.string)\" before the ';'")) }
        let value = try value()
        try skipSpace()
        guard here == 0x3b else { throw misplaced(after: value.range, .missingSemicolon(after: key.string)) }
        position += 1
        return Row(key: key, keyRange: keyRange, value: value, range: keyRange.lowerBound..<position)
    }

    /// What is wrong where neither `=` nor `;` follows a string: the place where a person would put it right.
    private func misplaced(after range: Range<Int>, _ missing: TableError.Fault) -> TableError {
        if isConflictMarker(at: position) { return fault(.conflictMarker) }
        let isQuoted = text[range.lowerBound] == 0x22 || text[range.lowerBound] == 0x27
        guard isQuoted else {
            // A bare word ends at the first character that it cannot hold.
            return here.map { isSpace($0) || $0 == 0x22 || $0 == 0x7d || position > range.upperBound } ?? true
                ? fault(missing, at: range.upperBound)
                : fault(.expected("a quoted string: write '\"' around text with other characters than letters, digits and _ $ / : . -"), at: position)
        }
        // The string swallowed the rest of its line: its own closing quote is what is missing.
        if let end = lineEnd(in: range) {
            if let curly = curlyQuote(in: range.lowerBound..<end) { return curly }
            if position == range.upperBound || here.map({ $0 != 0x22 }) ?? false { return fault(.missingQuote, at: range.lowerBound) }
        }
        guard let byte = here else { return fault(missing, at: range.upperBound) }
        let sameLine = !text[range.upperBound..<position].contains { $0 == 10 || $0 == 13 }
        guard sameLine else { return fault(missing, at: range.upperBound) }
        if byte == 0x22 || byte == 0x27 {
            // `"a" = "b" "c" = "d";` lacks a semicolon; `"a" = "say "" now";` has a quote too many.
            var ahead = self
            let wanted: UInt8 = if case .missingEquals = missing { 0x3b } else { 0x3d }
            if (try? ahead.string("")) != nil, (try? ahead.skipSpace()) != nil, ahead.here == wanted { return fault(missing, at: range.upperBound) }
            return fault(.unescapedQuote, at: range.upperBound - 1)
        }
        if byte == 0x7d { return fault(missing, at: range.upperBound) }
        if byte == 0x3d { return fault(missing, at: range.upperBound) }
        if position > range.upperBound, OldStyleParser.isBare(byte) {
            // `"a" = "b" c = "d";` lacks a semicolon too.
            var ahead = self
            if (try? ahead.string("")) != nil, (try? ahead.skipSpace()) != nil, ahead.here == 0x3d { return fault(missing, at: range.upperBound) }
        }
        return fault(.unescapedQuote, at: range.upperBound - 1)
    }

    private func lineEnd(in range: Range<Int>) -> Int? { text[range].firstIndex { $0 == 10 || $0 == 13 } }

    private func curlyQuote(in range: Range<Int>) -> TableError? {
        range.first { curlyQuote(at: $0) != nil }.map { fault(.curlyQuote(curlyQuote(at: $0) ?? ""), at: $0) }
    }

    private func curlyQuote(at offset: Int) -> String? {
        for quote: StaticString in ["\u{201c}", "\u{201d}", "\u{201e}", "\u{2018}", "\u{2019}", "\u{ab}", "\u{bb}", "\u{201f}"] where text.has(quote, at: offset) {
            return quote.description
        }
        return nil
    }

    // MARK: Values

    private mutating func value() throws(TableError) -> Node {
        let start = position
        switch here {
        case 0x7b:
            guard depth < depthMax else { throw fault(.tooDeep(limit: depthMax)) }
            depth += 1
            defer { depth -= 1 }
            position += 1
            let rows = try rows(until: 0x7d, from: position)
            let inner = start + 1..<position
            position += 1
            return Node(range: start..<position, content: .dictionary(rows), inner: inner)
        case 0x28:
            guard depth < depthMax else { throw fault(.tooDeep(limit: depthMax)) }
            depth += 1
            defer { depth -= 1 }
            position += 1
            var nodes: [Node] = []
            try skipSpace()
            while here != 0x29 {
                guard position < text.count else { throw fault(.expected("')' at the end of the array")) }
                nodes.append(try value())
                try skipSpace()
                if here == 0x2c {
                    position += 1
                    try skipSpace()
                } else if here != 0x29 {
                    throw fault(.expected("',' or ')' in an array"))
                }
            }
            position += 1
            return Node(range: start..<position, content: .array(nodes))
        case 0x3c:
            position += 1
            while let byte = here, byte != 0x3e {
                guard isSpace(byte) || isHex(byte) else { throw fault(.expected("hex digits or '>' in data")) }
                position += 1
            }
            guard here != nil else { throw fault(.expected("'>' at the end of data")) }
            position += 1
            return Node(range: start..<position, content: .scalar(text[start..<position].filter { !isSpace($0) }))
        default:
            let range = try string("a value, '\"', '{', '(' or a letter")
            return Node(range: range, content: .text(OldStyleParser.decoded(Array(text[range]), plainLineEnds: true)))
        }
    }

    /// Passes a string with its quotes.
    private mutating func string(_ expected: String) throws(TableError) -> Range<Int> {
        let start = position
        if isConflictMarker(at: position) { throw fault(.conflictMarker) }
        guard let quote = here else { throw fault(.expected("\(expected), not the end of the file")) }
        if quote == 0x22 || quote == 0x27 {
            position += 1
            while let byte = here, byte != quote {
                position += byte == 0x5c ? 2 : 1
            }
            guard position < text.count else {
                position = start
                if let end = lineEnd(in: start..<text.count), let curly = curlyQuote(in: start..<end) { throw curly }
                if let curly = curlyQuote(in: start..<text.count) { throw curly }
                throw fault(.unterminatedString, at: start)
            }
            position += 1
            return start..<position
        }
        while let byte = here, OldStyleParser.isBare(byte) { position += 1 }
        if position == start {
            if let curly = curlyQuote(at: start) { throw fault(.curlyQuote(curly)) }
            throw fault(.expected("\(expected), not '\(String(decoding: text[start...].prefix(4), as: UTF8.self).prefix(1))'"))
        }
        return start..<position
    }

    private static func isBare(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f, 0x24, 0x2f, 0x3a, 0x2e, 0x2d: true
        default: false
        }
    }

    // MARK: Space

    private mutating func skipSpace() throws(TableError) {
        while let byte = here {
            if isSpace(byte) {
                position += 1
            } else if byte == 0xe2, text.has("\u{2028}", at: position) || text.has("\u{2029}", at: position) {
                position += 3
            } else if byte == 0x2f, position + 1 < text.count, text[position + 1] == 0x2f {
                let start = position
                while let byte = here, byte != 10, byte != 13 { position += 1 }
                comments.append(Comment(range: start..<position, isLine: true, text: Array(text[start + 2..<position]).trimmed))
            } else if byte == 0x2f, position + 1 < text.count, text[position + 1] == 0x2a {
                guard let end = text.offset(of: "*/", from: position + 2) else { throw fault(.unterminatedComment) }
                comments.append(Comment(
                    range: position..<end + 2, isLine: false, text: Array(text[position + 2..<end]).trimmed.withPlainLineEnds))
                position = end + 2
            } else {
                return
            }
        }
    }

    /// Whether a line of a merge that was committed unresolved begins here.
    private func isConflictMarker(at offset: Int) -> Bool {
        guard offset == 0 || text[offset - 1] == 10 || text[offset - 1] == 13 else { return false }
        return text.has("<<<<<<<", at: offset) || text.has("=======", at: offset) || text.has(">>>>>>>", at: offset) || text.has("|||||||", at: offset)
    }

    // MARK: Texts

    /// What a string says, given with its quotes, or bare.
    ///
    /// - Parameter plainLineEnds: whether CR LF that stands raw in it counts as LF.
    static func decoded(_ lexeme: [UInt8], plainLineEnds: Bool = false) -> [UInt8] {
        guard let quote = lexeme.first, quote == 0x22 || quote == 0x27 else { return lexeme }
        let raw = plainLineEnds ? Array(lexeme[1..<lexeme.count - 1]).withPlainLineEnds : Array(lexeme[1..<lexeme.count - 1])
        guard raw.contains(0x5c) else { return raw }
        var out: [UInt8] = []
        out.reserveCapacity(raw.count)
        var high: UInt32?
        var i = 0
        func digits(_ count: Int, _ isDigit: (UInt8) -> UInt32?, radix: UInt32, from start: Int) -> (value: UInt32, end: Int) {
            var value: UInt32 = 0
            var k = start
            while k < raw.count, k < start + count, let digit = isDigit(raw[k]) {
                value = value * radix + digit
                k += 1
            }
            return (value, k)
        }
        while i < raw.count {
            guard raw[i] == 0x5c, i + 1 < raw.count else {
                out.append(raw[i])
                high = nil
                i += 1
                continue
            }
            let kind = raw[i + 1]
            i += 2
            var nextHigh: UInt32?
            switch kind {
            case 0x61: out.append(7)
            case 0x62: out.append(8)
            case 0x66: out.append(12)
            case 0x6e: out.append(10)
            case 0x72: out.append(13)
            case 0x74: out.append(9)
            case 0x76: out.append(11)
            case 0x55:
                let unit = digits(4, hexDigit, radix: 16, from: i)
                i = unit.end
                if let first = high, unit.value >= 0xdc00, unit.value < 0xe000 {
                    out.removeLast(3)
                    TableText.append(0x10000 + (first - 0xd800) << 10 + (unit.value - 0xdc00), to: &out)
                } else {
                    TableText.append(unit.value, to: &out)
                    if unit.value >= 0xd800, unit.value < 0xdc00 { nextHigh = unit.value }
                }
            case 0x30...0x37:
                let octal = digits(3, { $0 >= 0x30 && $0 <= 0x37 ? UInt32($0 - 0x30) : nil }, radix: 8, from: i - 1)
                i = octal.end
                let byte = Int(octal.value & 0xff)
                TableText.append(byte < 0x80 ? UInt32(byte) : UInt32(nextStep[byte - 0x80]), to: &out)
            default: out.append(kind)
            }
            high = nextHigh
        }
        return out
    }

    /// A text as a quoted string; the escapes are those that Apple's tools write.
    static func quoted(_ text: [UInt8]) -> [UInt8] {
        var out: [UInt8] = [0x22]
        for byte in text {
            switch byte {
            case 0x22: out += [0x5c, 0x22]
            case 0x5c: out += [0x5c, 0x5c]
            case 10: out += [0x5c, 0x6e]
            case 9: out += [0x5c, 0x74]
            case 13: out += [0x5c, 0x72]
            default: out.append(byte)
            }
        }
        return out + [0x22]
    }
}

func hexDigit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case 0x30...0x39: UInt32(byte - 0x30)
    case 0x41...0x46: UInt32(byte - 0x41 + 10)
    case 0x61...0x66: UInt32(byte - 0x61 + 10)
    default: nil
    }
}

private func isHex(_ byte: UInt8) -> Bool { hexDigit(byte) != nil }

/// The upper half of the NeXTSTEP encoding, of which octal escapes speak.
private let nextStep: [UInt16] = [
    0x00a0, 0x00c0, 0x00c1, 0x00c2, 0x00c3, 0x00c4, 0x00c5, 0x00c7, 0x00c8, 0x00c9, 0x00ca, 0x00cb, 0x00cc, 0x00cd, 0x00ce, 0x00cf,
    0x00d0, 0x00d1, 0x00d2, 0x00d3, 0x00d4, 0x00d5, 0x00d6, 0x00d9, 0x00da, 0x00db, 0x00dc, 0x00dd, 0x00de, 0x00b5, 0x00d7, 0x00f7,
    0x00a9, 0x00a1, 0x00a2, 0x00a3, 0x2044, 0x00a5, 0x0192, 0x00a7, 0x00a4, 0x2019, 0x201c, 0x00ab, 0x2039, 0x203a, 0xfb01, 0xfb02,
    0x00ae, 0x2013, 0x2020, 0x2021, 0x00b7, 0x00a6, 0x00b6, 0x2022, 0x201a, 0x201e, 0x201d, 0x00bb, 0x2026, 0x2030, 0x00ac, 0x00bf,
    0x00b9, 0x02cb, 0x00b4, 0x02c6, 0x02dc, 0x00af, 0x02d8, 0x02d9, 0x00a8, 0x00b2, 0x02da, 0x00b8, 0x00b3, 0x02dd, 0x02db, 0x02c7,
    0x2014, 0x00b1, 0x00bc, 0x00bd, 0x00be, 0x00e0, 0x00e1, 0x00e2, 0x00e3, 0x00e4, 0x00e5, 0x00e7, 0x00e8, 0x00e9, 0x00ea, 0x00eb,
    0x00ec, 0x00c6, 0x00ed, 0x00aa, 0x00ee, 0x00ef, 0x00f0, 0x00f1, 0x0141, 0x00d8, 0x0152, 0x00ba, 0x00f2, 0x00f3, 0x00f4, 0x00f5,
    0x00f6, 0x00e6, 0x00f9, 0x00fa, 0x00fb, 0x0131, 0x00fc, 0x00fd, 0x0142, 0x00f8, 0x0153, 0x00df, 0x00fe, 0x00ff, 0xfffd, 0xfffd,
]
