// The XML form of a property list. Only what property lists use is known: elements without attributes that matter,
// the five entities and numbered characters, CDATA, comments, one DOCTYPE. There are no entities of one's own, so that
// nothing outside of the file is ever fetched and nothing grows when it is read.

/// A strict reader that stands at one place. It builds the index as it goes.
struct XMLParser {
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
    mutating func table() throws(TableError) -> Node {
        try skipProlog()
        guard position < text.count else { throw fault(.empty) }
        let start = position
        let plist = try openTag()
        guard plist.name == "plist" else { throw fault(.notATable("its outermost element is <\(plist.name)>, not <plist>"), at: start) }
        guard !plist.isEmpty else { throw fault(.notATable("<plist> is empty"), at: start) }
        try skipSpace()
        let node = try value()
        guard node.isDictionary else { throw fault(.notATable("it is no dictionary"), at: node.range.lowerBound) }
        try skipSpace()
        try close("plist")
        try skipSpace()
        guard position == text.count else { throw fault(isConflictMarker ? .conflictMarker : .trailingText) }
        return node
    }

    private var here: UInt8? { position < text.count ? text[position] : nil }

    private func fault(_ fault: TableError.Fault, at offset: Int? = nil) -> TableError {
        TableError(fault, at: offset ?? position, in: text)
    }

    // MARK: Around the list

    private mutating func skipProlog() throws(TableError) {
        while true {
            try skipSpace()
            if text.has("<?", at: position) {
                guard let end = text.offset(of: "?>", from: position) else { throw fault(.unterminatedElement("?xml")) }
                try checkEncoding(position..<end)
                position = end + 2
            } else if text.has("<!DOCTYPE", at: position) {
                let start = position
                while let byte = here, byte != 0x3e {
                    if byte == 0x5b { throw fault(.expected("'>': a DOCTYPE with definitions of its own is not read")) }
                    position += 1
                }
                guard here != nil else { throw fault(.unterminatedElement("!DOCTYPE"), at: start) }
                position += 1
            } else {
                return
            }
        }
    }

    private func checkEncoding(_ declaration: Range<Int>) throws(TableError) {
        guard let at = text.offset(of: "encoding", from: declaration.lowerBound), at < declaration.upperBound else { return }
        guard let open = text[at..<declaration.upperBound].firstIndex(where: { $0 == 0x22 || $0 == 0x27 }),
            let close = text[(open + 1)..<declaration.upperBound].firstIndex(of: text[open])
        else { return }
        let name = String(decoding: text[(open + 1)..<close], as: UTF8.self)
        guard ["utf-8", "utf8", "utf-16", "utf16", "us-ascii"].contains(name.lowercased()) else { throw fault(.otherEncoding(name), at: open + 1) }
    }

    private mutating func skipSpace() throws(TableError) {
        while let byte = here {
            if isSpace(byte) {
                position += 1
            } else if text.has("<!--", at: position) {
                guard let end = text.offset(of: "-->", from: position + 4) else { throw fault(.unterminatedComment) }
                comments.append(Comment(
                    range: position..<end + 3, isLine: false, text: Array(text[position + 4..<end]).trimmed.withPlainLineEnds))
                position = end + 3
            } else {
                return
            }
        }
    }

    private var isConflictMarker: Bool {
        text.has("<<<<<<<", at: position) || text.has("=======", at: position) || text.has(">>>>>>>", at: position) || text.has("|||||||", at: position)
    }

    // MARK: Elements

    private mutating func openTag() throws(TableError) -> (name: String, isEmpty: Bool) {
        let start = position
        if isConflictMarker { throw fault(.conflictMarker) }
        guard here == 0x3c else { throw fault(.expected("an element such as <key> or <string>")) }
        position += 1
        let from = position
        while let byte = here, byte != 0x3e, byte != 0x2f, !isSpace(byte) { position += 1 }
        let name = String(decoding: text[from..<position], as: UTF8.self)
        while let byte = here, byte != 0x3e {
            // An attribute's value may hold '>'.
            if byte == 0x22 || byte == 0x27 {
                position += 1
                while let inner = here, inner != byte { position += 1 }
            }
            position += 1
        }
        guard here != nil else { throw fault(.unterminatedElement(name), at: start) }
        position += 1
        return (name, text[position - 2] == 0x2f)
    }

    private mutating func close(_ name: StaticString) throws(TableError) {
        guard text.has("</", at: position), text.has(name, at: position + 2) else {
            throw fault(isConflictMarker ? .conflictMarker : .wrongEndTag(expected: name.description))
        }
        position += 2 + name.utf8CodeUnitCount
        while let byte = here, isSpace(byte) { position += 1 }
        guard here == 0x3e else { throw fault(.wrongEndTag(expected: name.description)) }
        position += 1
    }

    private mutating func value() throws(TableError) -> Node {
        let start = position
        let (name, isEmpty) = try openTag()
        switch name {
        case "dict":
            guard depth < depthMax else { throw fault(.tooDeep(limit: depthMax), at: start) }
            depth += 1
            defer { depth -= 1 }
            if isEmpty { return Node(range: start..<position, content: .dictionary([]), inner: position..<position) }
            let inner = position
            let rows = try rows(from: start)
            let end = position
            try close("dict")
            return Node(range: start..<position, content: .dictionary(rows), inner: inner..<end)
        case "array":
            guard depth < depthMax else { throw fault(.tooDeep(limit: depthMax), at: start) }
            depth += 1
            defer { depth -= 1 }
            var nodes: [Node] = []
            if isEmpty { return Node(range: start..<position, content: .array([])) }
            try skipSpace()
            while !text.has("</", at: position) {
                guard position < text.count else { throw fault(.unterminatedElement(name), at: start) }
                nodes.append(try value())
                try skipSpace()
            }
            try close("array")
            return Node(range: start..<position, content: .array(nodes))
        case "string":
            if !isEmpty { try characters("string", from: start) }
            return Node(range: start..<position, content: .text(XMLParser.decoded(element: Array(text[start..<position]), plainLineEnds: true)))
        case "integer": return try scalar("integer", start, isEmpty)
        case "real": return try scalar("real", start, isEmpty)
        case "date": return try scalar("date", start, isEmpty)
        case "data": return try scalar("data", start, isEmpty)
        case "true": return try scalar("true", start, isEmpty)
        case "false": return try scalar("false", start, isEmpty)
        default: throw fault(.unknownElement(name), at: start)
        }
    }

    private mutating func scalar(_ name: StaticString, _ start: Int, _ isEmpty: Bool) throws(TableError) -> Node {
        if !isEmpty { try characters(name, from: start) }
        return Node(range: start..<position, content: .scalar(text[start..<position].filter { !isSpace($0) }))
    }

    private mutating func rows(from start: Int) throws(TableError) -> [Row] {
        let outer = comments
        comments = []
        defer { comments = outer }
        let inner = position
        var rows: [Row] = []
        while true {
            try skipSpace()
            if text.has("</", at: position) { break }
            guard position < text.count else { throw fault(.unterminatedElement("dict"), at: start) }
            let keyStart = position
            let (name, isEmpty) = try openTag()
            guard name == "key" else { throw fault(.expected("<key>, not <\(name)>: each value in a <dict> follows its key"), at: keyStart) }
            if !isEmpty { try characters("key", from: keyStart) }
            let keyRange = keyStart..<position
            let key = XMLParser.decoded(element: Array(text[keyRange]), plainLineEnds: true)
            try skipSpace()
            if text.has("</", at: position) || text.has("<key", at: position) { throw fault(.missingValue(of: key.string), at: keyStart) }
            let value = try value()
            rows.append(Row(key: key, keyRange: keyRange, value: value, range: keyStart..<value.range.upperBound))
        }
        return attach(comments, to: rows, in: text, from: inner)
    }

    /// Passes text up to an element's end tag, and that.
    private mutating func characters(_ name: StaticString, from start: Int) throws(TableError) {
        while let byte = here {
            if byte == 0x26 {
                guard let end = text[position...].prefix(12).firstIndex(of: 0x3b),
                    XMLParser.entity(Array(text[(position + 1)..<end])) != nil
                else { throw fault(.badEntity(String(decoding: text[position...].prefix(12).prefix { $0 != 0x3c && !isSpace($0) }, as: UTF8.self))) }
                position = end + 1
            } else if text.has("<![CDATA[", at: position) {
                guard let end = text.offset(of: "]]>", from: position) else { throw fault(.unterminatedElement("![CDATA[")) }
                position = end + 3
            } else if text.has("<!--", at: position) {
                throw fault(.expected("text: Apple's reader takes no comment inside <\(name)>"))
            } else if byte == 0x3c {
                return try close(name)
            } else {
                position += 1
            }
        }
        throw fault(.unterminatedElement(name.description), at: start)
    }

    // MARK: Texts

    /// What an element of text says, given with its tags.
    ///
    /// - Parameter plainLineEnds: whether CR LF that stands raw in it counts as LF.
    static func decoded(element: [UInt8], plainLineEnds: Bool = false) -> [UInt8] {
        guard let open = element.firstIndex(of: 0x3e), element[open - 1] != 0x2f, let close = element.lastIndex(of: 0x3c) else { return [] }
        let raw = plainLineEnds ? Array(element[(open + 1)..<close]).withPlainLineEnds : Array(element[(open + 1)..<close])
        guard raw.contains(where: { $0 == 0x26 || $0 == 0x3c }) else { return raw }
        var out: [UInt8] = []
        var i = 0
        while i < raw.count {
            if raw[i] == 0x26, let end = raw[i...].firstIndex(of: 0x3b), let scalar = entity(Array(raw[(i + 1)..<end])) {
                TableText.append(scalar, to: &out)
                i = end + 1
            } else if raw.has("<![CDATA[", at: i), let end = raw.offset(of: "]]>", from: i) {
                out += raw[(i + 9)..<end]
                i = end + 3
            } else {
                out.append(raw[i])
                i += 1
            }
        }
        return out
    }

    /// The scalar of an entity's name; nil where there is none.
    private static func entity(_ name: [UInt8]) -> UInt32? {
        switch name.string {
        case "amp": return 0x26
        case "lt": return 0x3c
        case "gt": return 0x3e
        case "quot": return 0x22
        case "apos": return 0x27
        default:
            guard name.first == 0x23, name.count > 1 else { return nil }
            let isHex = name[1] == 0x78
            let digits = String(decoding: name[(isHex ? 2 : 1)...], as: UTF8.self)
            return UInt32(digits, radix: isHex ? 16 : 10).flatMap { Unicode.Scalar($0)?.value }
        }
    }

    /// A text as it stands between tags.
    static func escaped(_ text: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        for byte in text {
            switch byte {
            case 0x26: out += Array("&amp;".utf8)
            case 0x3c: out += Array("&lt;".utf8)
            case 0x3e: out += Array("&gt;".utf8)
            // Raw, it would be a line end.
            case 13: out += Array("&#13;".utf8)
            default: out.append(byte)
            }
        }
        return out
    }
}
