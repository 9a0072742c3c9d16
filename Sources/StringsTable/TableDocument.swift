// A table as it was read: its bytes, for ever, and an index of where its rows stand.
//
//     /* Title of the dialog */          comment      of the row below: nothing but a line end stands between
//     "title" = "About %@";              row
//
//     // Buttons                         no row's comment: an empty line follows
//
//     "ok" = "OK"; /* short */           row, with a comment behind it on its line
//
// All three forms of a table have the same index: text without braces (`.strings`), an old-style property list in
// braces, and an XML property list (`.stringsdict`, and some `.strings`).

import StringCatalog

/// The kinds of tables that Apple's `.lproj` folders hold.
public enum TableKind: Sendable {
    case strings, stringsdict

    /// The kind by a file's name; nil for any other file.
    public init?(path: String) {
        if path.hasSuffix(".strings") {
            self = .strings
        } else if path.hasSuffix(".stringsdict") {
            self = .stringsdict
        } else {
            return nil
        }
    }
}

/// A table of strings: the bytes of one file and the places of its rows.
public struct TableDocument: Sendable {
    /// The file, unchanged.
    public let bytes: Bytes
    let text: TableText
    let syntax: TableSyntax
    /// The dictionary that the file is.
    let root: Node

    /// Reads a table strictly; nothing of the file is changed or repaired.
    ///
    /// A `.strings` file without a row is a table, even one of no bytes; an empty `.stringsdict` is not.
    /// - Throws: the first fault, with its line and column.
    public init(parsing bytes: Bytes, limits: CatalogLimits = .standard) throws(TableError) {
        guard bytes.count <= limits.bytesMax else { throw TableError(.tooLarge(limit: limits.bytesMax), at: 0, in: []) }
        self.bytes = bytes
        if bytes.count >= 6, bytes.array(0..<6).has("bplist", at: 0) { throw TableError(.binary, at: 0, in: []) }
        text = try TableText(bytes)
        let first = text.utf8.firstIndex { !isSpace($0) } ?? text.utf8.count
        if text.utf8.has("<?xml", at: first) || text.utf8.has("<!DOCTYPE", at: first) || text.utf8.has("<plist", at: first) || text.utf8.has("<!--", at: first) {
            syntax = .xml
            var parser = XMLParser(text.utf8, depthMax: limits.depthMax)
            root = try parser.table()
        } else {
            var parser = OldStyleParser(text.utf8, depthMax: limits.depthMax)
            (root, syntax) = try parser.table()
        }
    }

    var rows: [Row] { root.rows }

    /// The same file with an index of some keys alone, for those who ask about nothing else.
    package func keeping(_ keys: Set<String>) -> TableDocument {
        var node = root
        node.content = .dictionary(rows.filter { keys.contains($0.key.string) })
        return TableDocument(bytes: bytes, text: text, syntax: syntax, root: node)
    }

    private init(bytes: Bytes, text: TableText, syntax: TableSyntax, root: Node) {
        (self.bytes, self.text, self.syntax, self.root) = (bytes, text, syntax, root)
    }

    /// The file, written from its text: always the same bytes, which is what edits of the text rest on.
    package var rewritten: [UInt8] { text.encoded(text.utf8) }

    /// The rows in the file's order, also those that a later copy of their key hides.
    public var entries: [TableEntry] {
        var last: [[UInt8]: Int] = [:]
        for (i, row) in rows.enumerated() { last[row.key] = i }
        var places = LineCounter(text.utf8)
        return rows.enumerated().map { i, row in
            let place = places.place(of: row.range.lowerBound)
            return TableEntry(
                key: row.key.string, content: content(of: row.value), comment: row.comment?.text.string, trailingComment: row.trailing?.text.string,
                line: place.line, column: place.column, isHidden: last[row.key] != i)
        }
    }

    func content(of node: Node) -> TableContent {
        switch node.content {
        case .text: .text(exactText(of: node).string)
        case .dictionary(let rows): .dictionary(rows.map { ($0.key.string, content(of: $0.value)) })
        case .array(let nodes): .array(nodes.map(content))
        case .scalar(let lexeme): .other(lexeme.string)
        }
    }

    /// The text as the run time reads it: with the line ends that stand in the string.
    private func exactText(of node: Node) -> [UInt8] {
        guard case .text(let text) = node.content else { return [] }
        let lexeme = self.text.utf8[node.range]
        guard lexeme.contains(13) else { return text }
        return syntax == .xml ? XMLParser.decoded(element: Array(lexeme)) : OldStyleParser.decoded(Array(lexeme))
    }
}

/// One key of a table and what it stands for.
public struct TableEntry: Sendable {
    public let key: String
    public let content: TableContent
    /// The comment directly before the row, without its delimiters; nil where there is none.
    public let comment: String?
    /// The comment behind the row on its line; nil where there is none.
    public let trailingComment: String?
    /// Where the row begins; a comment before it does not count.
    public let line, column: Int
    /// Whether a later row has the same key: then that one counts at run time, and this one is never seen.
    public let isHidden: Bool

    /// The text; nil where the entry is no plain text.
    public var text: String? {
        if case .text(let text) = content { text } else { nil }
    }
}

/// A value of a table.
public indirect enum TableContent: Sendable {
    case text(String)
    /// The members in the file's order, copies and all.
    case dictionary([(key: String, value: TableContent)])
    case array([TableContent])
    /// A number, a date, data or a truth value, as it stands.
    case other(String)

    /// The text below a path of keys; nil where no text stands there.
    public subscript(path: String...) -> String? {
        var value = self
        for key in path {
            guard case .dictionary(let members) = value, let next = members.last(where: { $0.key.utf8.elementsEqual(key.utf8) }) else { return nil }
            value = next.value
        }
        if case .text(let text) = value { return text }
        return nil
    }
}

// MARK: The index

/// How a table is written.
enum TableSyntax: Sendable {
    /// Rows without braces around them.
    case plain
    /// An old-style property list.
    case braces
    case xml
}

/// The place of a value, and what it says.
struct Node: Sendable {
    let range: Range<Int>
    var content: NodeContent
    /// Between the braces or the tags of a dictionary.
    var inner = 0..<0

    var rows: [Row] {
        if case .dictionary(let rows) = content { rows } else { [] }
    }

    var isDictionary: Bool {
        if case .dictionary = content { true } else { false }
    }
}

indirect enum NodeContent: Sendable {
    /// The decoded text; raw line ends in it as LF.
    case text([UInt8])
    case dictionary([Row])
    case array([Node])
    /// The lexeme of anything else.
    case scalar([UInt8])
}

/// The place of one member of a dictionary: `key = value;` or `<key>…</key> <string>…</string>`.
struct Row: Sendable {
    /// The decoded key.
    let key: [UInt8]
    let keyRange: Range<Int>
    /// Empty, just behind the key, where the row is `key;`: the value then is the key.
    let value: Node
    /// From the key to the semicolon, or to the end of the value.
    let range: Range<Int>
    /// The comment directly before it.
    var comment: Comment?
    /// The comment behind it on the same line.
    var trailing: Comment?
    /// All of the row: whole lines where nothing else stands on them.
    var block = 0..<0
    /// Empty lines directly before the block.
    var blankLines = 0..<0

    var isShorthand: Bool { value.range.isEmpty }
    /// The row with its comments, without the white space around.
    var core: Range<Int> { (comment?.range.lowerBound ?? range.lowerBound)..<(trailing?.range.upperBound ?? range.upperBound) }
}

struct Comment: Sendable {
    var range: Range<Int>
    /// Whether it is one of `//`, which ends with its line.
    var isLine: Bool
    /// What it says: without its delimiters and the white space around.
    var text: [UInt8]
}

/// Gives each comment to the row that it belongs to, and each row its lines.
///
/// A comment before a row belongs to it if no empty line stands between; lines of `//` directly below each other are one
/// comment. A comment behind a row on its line belongs to that row.
/// - Parameter start: where the dictionary's inside begins.
func attach(_ comments: [Comment], to rows: [Row], in text: [UInt8], from start: Int) -> [Row] {
    var rows = rows
    var next = 0
    var floor = start
    func newlines(_ range: Range<Int>) -> Int { text[range].count { $0 == 10 } + (text[range].contains(10) ? 0 : text[range].count { $0 == 13 }) }
    func isLineStart(_ offset: Int) -> Bool { offset == 0 || text[offset - 1] == 10 || text[offset - 1] == 13 }
    for i in rows.indices {
        let row = rows[i].range
        var before: [Comment] = []
        while next < comments.count, comments[next].range.lowerBound < row.lowerBound {
            if comments[next].range.lowerBound >= floor { before.append(comments[next]) }
            next += 1
        }
        if var comment = before.popLast(), newlines(comment.range.upperBound..<row.lowerBound) < 2 {
            while comment.isLine, let above = before.popLast(), above.isLine,
                newlines(above.range.upperBound..<comment.range.lowerBound) == 1
            {
                comment = Comment(
                    range: above.range.lowerBound..<comment.range.upperBound, isLine: true, text: above.text + [10] + comment.text)
            }
            rows[i].comment = comment
        }
        while next < comments.count, comments[next].range.lowerBound < row.upperBound { next += 1 }
        if next < comments.count, text[row.upperBound..<comments[next].range.lowerBound].allSatisfy(isBlank) {
            rows[i].trailing = comments[next]
            next += 1
        }
        let core = rows[i].core
        var from = core.lowerBound
        while from > floor, isBlank(text[from - 1]) { from -= 1 }
        let sharesLine = !isLineStart(from)
        if sharesLine { from = core.lowerBound }
        var to = core.upperBound
        while to < text.count, isBlank(text[to]) { to += 1 }
        if to < text.count, text[to] == 13 { to += 1 }
        if to < text.count, text[to] == 10 { to += 1 }
        // A row that ends a line which others begin leaves them their line end.
        if sharesLine || (to < text.count && !isLineStart(to)) { to = core.upperBound }
        rows[i].block = from..<to
        // Empty lines before: each ends with a line feed and holds nothing.
        var blank = from
        while isLineStart(blank), blank > floor {
            var k = blank - 1
            if k > floor, text[k] == 10, text[k - 1] == 13 { k -= 1 }
            while k > floor, isBlank(text[k - 1]) { k -= 1 }
            guard k >= floor, isLineStart(k) else { break }
            blank = k
        }
        rows[i].blankLines = isLineStart(from) ? blank..<from : from..<from
        floor = to
    }
    return rows
}

/// Lines and columns of offsets that only grow.
struct LineCounter {
    private let text: [UInt8]
    private var offset = 0
    private var line = 1
    private var column = 1

    init(_ text: [UInt8]) { self.text = text }

    mutating func place(of target: Int) -> (line: Int, column: Int) {
        while offset < target {
            let byte = text[offset]
            if byte == 10 || (byte == 13 && !(offset + 1 < text.count && text[offset + 1] == 10)) {
                line += 1
                column = 1
            } else if byte & 0xc0 != 0x80 && byte != 13 {
                column += 1
            }
            offset += 1
        }
        return (line, column)
    }
}
