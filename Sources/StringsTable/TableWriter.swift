// From a plan to bytes: the target's text with splices. New text is written as the target is: its line ends, its indent,
// its encoding, its form.

import StringCatalog

/// Writes plans into one document (`host`) with what comes from another (`donor`).
struct TableWriter {
    private let host, donor: TableDocument
    private var splices: [(range: Range<Int>, text: [UInt8], place: Place)] = []
    private let newline: [UInt8]
    private let unit, donorUnit: [UInt8]

    init(host: TableDocument, donor: TableDocument) {
        self.host = host
        self.donor = donor
        newline = TableWriter.newline(of: host) ?? TableWriter.newline(of: donor) ?? [10]
        unit = TableWriter.unit(of: host)
        donorUnit = TableWriter.unit(of: donor)
    }

    /// Of several splices at one offset, which comes first: what ends the row before, new rows, what begins the row behind.
    private enum Place: Int { case behind, between, before }

    /// The whole output.
    mutating func write(_ plan: TablePlan) -> Bytes {
        rows(of: host.root, plan, indent: nil)
        return Bytes(host.text.encoded(spliced()))
    }

    private func spliced() -> [UInt8] {
        let text = host.text.utf8
        var out: [UInt8] = []
        out.reserveCapacity(text.count + splices.reduce(0) { $0 + $1.text.count })
        var at = 0
        let ordered = splices.enumerated().sorted {
            ($0.element.range.lowerBound, $0.element.place.rawValue, $0.offset) < ($1.element.range.lowerBound, $1.element.place.rawValue, $1.offset)
        }
        for (_, splice) in ordered {
            if splice.range.lowerBound > at { out += text[at..<splice.range.lowerBound] }
            out += splice.text
            at = max(at, splice.range.upperBound)
        }
        return out + text[at...]
    }

    // MARK: Style

    private static func newline(of document: TableDocument) -> [UInt8]? {
        document.text.utf8.firstIndex(of: 10).map { $0 > 0 && document.text.utf8[$0 - 1] == 13 ? [13, 10] : [10] }
    }

    /// One level of indent.
    private static func unit(of document: TableDocument) -> [UInt8] {
        for row in document.rows {
            guard let inner = row.value.rows.first, let own = indent(of: row, document), let deeper = indent(of: inner, document),
                deeper.count > own.count
            else { continue }
            return Array(deeper[own.count...])
        }
        if let row = document.rows.first, let own = indent(of: row, document), !own.isEmpty, document.syntax != .plain { return own }
        return document.syntax == .xml ? [9] : [0x20, 0x20, 0x20, 0x20]
    }

    /// The white space before a row that begins its line; nil where something else stands before it.
    private static func indent(of row: Row, _ document: TableDocument) -> [UInt8]? {
        let block = row.block.lowerBound..<row.core.lowerBound
        return block.isEmpty && !isLineStart(block.lowerBound, document) ? nil : Array(document.text.utf8[block])
    }

    private static func isLineStart(_ offset: Int, _ document: TableDocument) -> Bool {
        offset == 0 || document.text.utf8[offset - 1] == 10 || document.text.utf8[offset - 1] == 13
    }

    private func isLineStart(_ offset: Int) -> Bool { TableWriter.isLineStart(offset, host) }

    // MARK: Rows

    /// Plans the splices of one dictionary.
    private mutating func rows(of node: Node, _ plan: TablePlan, indent: [UInt8]?) {
        let rows = node.rows
        /// The last row that went together with the empty lines behind it.
        var cleared = -1
        for (i, change) in plan.rows.sorted(by: { $0.key < $1.key }) {
            switch change {
            case .removed: if remove(i, of: rows, plan, start: node.inner.lowerBound, isCleared: cleared == i - 1 && i > 0) { cleared = i }
            case .edited(let edit): write(edit, over: rows[i])
            }
        }
        guard !plan.added.isEmpty else { return }
        if rows.isEmpty {
            fill(node, plan.added.map(\.row), outer: indent ?? [])
        } else {
            for item in plan.added { insert(item.row, after: item.after, among: rows, plan, start: node.inner.lowerBound) }
        }
    }

    /// Takes a row out, with its comment and the empty lines that set it off: those before it, but behind a header or at the
    /// start of the file those behind it.
    ///
    /// - Parameter isCleared: whether the row before went together with the empty lines between.
    /// - Returns: whether the empty lines behind the row went too.
    private mutating func remove(_ i: Int, of rows: [Row], _ plan: TablePlan, start: Int, isCleared: Bool) -> Bool {
        let text = host.text.utf8
        let row = rows[i]
        var range = row.block
        // What stands before, on another line than the row: a comment that is no row's must not become the next row's.
        let before = row.blankLines.lowerBound
        let followsRow = i > 0 && before <= rows[i - 1].block.upperBound
        var replacement: [UInt8] = []
        var clears = false
        if isLineStart(row.block.lowerBound), isLineStart(row.block.upperBound) || row.block.upperBound == text.count {
            let next = i + 1 < rows.count && rows[i + 1].blankLines.lowerBound == row.block.upperBound ? rows[i + 1].blankLines : nil
            let isFirst = !followsRow && (before <= start || text[start..<before].allSatisfy(isSpace))
            if isCleared {
                range = row.block.lowerBound..<(next?.upperBound ?? row.block.upperBound)
                clears = next != nil
            } else if followsRow {
                range = row.blankLines.lowerBound..<row.block.upperBound
            } else if let next, isFirst || !row.blankLines.isEmpty {
                // Of the empty lines before this row and before the next, one run stays.
                range = row.block.lowerBound..<next.upperBound
                clears = true
            }
            let kept = rows.indices[(i + 1)...].first { k in
                if case .removed = plan.rows[k] { false } else { true }
            }
            if !followsRow, !isFirst, row.blankLines.isEmpty, let kept, rows[kept].blankLines.isEmpty { replacement = newline }
        } else if row.block == row.core {
            // On a line with others: the space before it goes too.
            var from = range.lowerBound
            while from > start, isBlank(text[from - 1]) { from -= 1 }
            range = from..<range.upperBound
        }
        splices.append((range, replacement, .before))
        return clears
    }

    private mutating func insert(_ row: Row, after anchor: Int, among rows: [Row], _ plan: TablePlan, start: Int) {
        let text = host.text.utf8
        if anchor < 0 {
            let first = rows[0]
            let at = first.block.lowerBound
            let indent = TableWriter.indent(of: first, host)
            guard let indent else {
                guard text[start..<at].allSatisfy(isSpace), row.trailing == nil else {
                    // What stands before it on its line is nobody's, and stays so.
                    splices.append((at..<at, newline + newline + block(row, indent: []) + newline, .between))
                    return
                }
                let compact = compact(row)
                splices.append((at..<at, compact + (host.syntax == .xml ? [] : [0x20]), .between))
                return
            }
            var lead: [UInt8] = []
            // A comment that stands above, not set off, would become this row's, or one with its own of `//`.
            if row.comment?.isLine ?? true, first.blankLines.isEmpty, !text[start..<at].allSatisfy(isSpace) { lead = newline }
            let blank = following(row).map { blankLines(before: $0) } ?? blankLines(before: row)
            splices.append((at..<at, lead + block(row, indent: indent) + newline + blank, .between))
            return
        }
        let before = rows[anchor]
        let at = before.block.upperBound
        let isWholeLine = isLineStart(before.block.lowerBound) && (isLineStart(at) || at == text.count)
        let indent = TableWriter.indent(of: before, host) ?? TableWriter.indent(of: rows[0], host) ?? []
        if isWholeLine, isLineStart(at) {
            splices.append((at..<at, blankLines(before: row) + block(row, indent: indent) + newline, .between))
        } else if at == text.count {
            splices.append((at..<at, newline + blankLines(before: row) + block(row, indent: indent), .between))
        } else if before.trailing?.isLine == true || row.comment != nil || row.trailing?.isLine == true {
            // Behind the row before, its comment would be that row's, and one of `//` would hide what follows.
            splices.append((at..<at, newline + block(row, indent: indent) + (endsLine(at) ? [] : newline), .between))
        } else {
            splices.append((at..<at, (host.syntax == .xml ? [] : [0x20]) + compact(row), .between))
        }
    }

    /// Writes rows into a dictionary that has none.
    private mutating func fill(_ node: Node, _ rows: [Row], outer: [UInt8]) {
        let text = host.text.utf8
        if host.syntax == .plain {
            var out: [UInt8] = []
            if let last = text.last, last != 10, last != 13 { out += newline }
            // A comment that ends the file stays nobody's.
            if !text.allSatisfy(isSpace) {
                let lines = text.reversed().prefix { isSpace($0) }.count { $0 == 10 }
                if lines < 2 { out += newline }
            }
            for (i, row) in rows.enumerated() { out += (i == 0 ? [] : blankLines(before: row)) + block(row, indent: []) + newline }
            splices.append((text.count..<text.count, out, .between))
            return
        }
        let own = lineIndent(at: node.range.lowerBound)
        let deeper = own + (node.range == host.root.range && TableWriter.indent(of: donor.rows.first, donor)?.isEmpty == true ? [] : unit)
        var body: [UInt8] = newline
        for (i, row) in rows.enumerated() { body += (i == 0 ? [] : blankLines(before: row)) + block(row, indent: deeper) + newline }
        body += own
        if host.syntax == .xml, node.inner.isEmpty, node.inner.lowerBound == node.range.upperBound {
            splices.append((node.range, Array("<dict>".utf8) + body + Array("</dict>".utf8), .between))
        } else if text[node.inner].allSatisfy(isSpace) {
            splices.append((node.inner, body, .between))
        } else {
            // There are comments inside: they stay in front.
            var end = node.inner.upperBound
            while end > node.inner.lowerBound, isSpace(text[end - 1]) { end -= 1 }
            splices.append((end..<node.inner.upperBound, newline + body, .between))
        }
    }

    private func lineIndent(at offset: Int) -> [UInt8] {
        let text = host.text.utf8
        var start = offset
        while start > 0, text[start - 1] != 10, text[start - 1] != 13 { start -= 1 }
        return Array(text[start..<offset].prefix(while: isBlank))
    }

    // MARK: Edits

    private mutating func write(_ edit: RowEdit, over row: Row) {
        if let comment = edit.comment { write(comment, over: row) }
        let indent = lineIndent(at: row.range.lowerBound)
        if let renamed = edit.key { splices.append((row.keyRange, key(of: renamed) + (row.isShorthand && edit.value == nil ? value(of: row) : []), .before)) }
        switch edit.value {
        case nil: break
        case .taken(let node):
            let text = value(node, indent: indent, donorIndent: donorIndent(at: node.range.lowerBound))
            splices.append((row.value.range, row.isShorthand ? Array(" = ".utf8) + text : text, .before))
        case .literal(let text): splices.append((row.value.range, (row.isShorthand ? Array(" = ".utf8) : []) + string(text), .before))
        case .rows(let plan): rows(of: row.value, plan, indent: indent)
        }
        if let trailing = edit.trailing { write(trailing: trailing, over: row) }
    }

    private mutating func write(_ comment: Comment?, over row: Row) {
        let indent = lineIndent(at: row.range.lowerBound)
        switch (row.comment, comment) {
        case (let own?, let new?): splices.append((own.range, lexeme(new, indent: indent, isAlone: endsLine(own.range.upperBound)), .before))
        case (nil, let new?):
            if isLineStart(row.block.lowerBound) {
                // Nothing but the row's indent stands before it on its line.
                let lead = row.blankLines.isEmpty && row.block.lowerBound > 0 && !followsRowOrStart(row) ? newline : []
                splices.append((row.range.lowerBound..<row.range.lowerBound, lead + lexeme(new, indent: indent, isAlone: true) + newline + indent, .before))
            } else {
                splices.append((row.range.lowerBound..<row.range.lowerBound, newline + lexeme(new, indent: [], isAlone: true) + newline, .before))
            }
        case (let own?, nil):
            // A comment above that was nobody's must not take its place.
            let text = host.text.utf8
            var above = own.range.lowerBound
            while above > 0, isSpace(text[above - 1]) { above -= 1 }
            let lines = text[above..<own.range.lowerBound].count { $0 == 10 }
            let lead = lines < 2 && endsComment(above) ? [[UInt8]](repeating: newline, count: 2 - lines).flatMap { $0 } : []
            splices.append((own.range.lowerBound..<row.range.lowerBound, lead, .before))
        case (nil, nil): break
        }
    }

    /// Whether what ends directly above a row is a row, or nothing: then a new comment cannot run into an old one.
    private func followsRowOrStart(_ row: Row) -> Bool {
        let text = host.text.utf8
        var i = row.block.lowerBound
        while i > 0, isSpace(text[i - 1]) { i -= 1 }
        return !endsComment(i)
    }

    /// Whether a comment that is no row's ends here.
    private func endsComment(_ offset: Int) -> Bool {
        let text = host.text.utf8
        guard offset > 0, text.has("*/", at: offset - 2) || text.has("-->", at: offset - 3) || isInLineComment(offset) else { return false }
        return !host.rows.contains { $0.trailing?.range.upperBound == offset }
    }

    private func isInLineComment(_ offset: Int) -> Bool {
        let text = host.text.utf8
        var start = offset
        while start > 0, text[start - 1] != 10 { start -= 1 }
        return text[start..<offset].drop(while: isBlank).starts(with: [0x2f, 0x2f])
    }

    private mutating func write(trailing comment: Comment?, over row: Row) {
        let end = row.range.upperBound
        switch (row.trailing, comment) {
        case (let own?, let new?): splices.append((own.range, lexeme(new, indent: [], isAlone: endsLine(own.range.upperBound)), .behind))
        case (nil, let new?): splices.append((end..<end, [0x20] + lexeme(new, indent: [], isAlone: endsLine(end)), .behind))
        case (let own?, nil): splices.append((end..<own.range.upperBound, [], .behind))
        case (nil, nil): break
        }
    }

    private func endsLine(_ offset: Int) -> Bool {
        host.text.utf8[offset...].first { !isBlank($0) }.map { $0 == 10 || $0 == 13 } ?? true
    }

    // MARK: New text

    /// A comment as the host writes it. One of `//` needs the rest of its line for itself.
    private func lexeme(_ comment: Comment, indent: [UInt8], isAlone: Bool) -> [UInt8] {
        let raw = Array(donor.text.utf8[comment.range])
        switch (host.syntax, donor.syntax) {
        case (.xml, .xml): return raw.withLineEnds(newline)
        case (.xml, _):
            let text = comment.text.withLineEnds(newline)
            // "--" may not stand in a comment of XML.
            var out = Array("<!-- ".utf8)
            for byte in text { out += byte == 0x2d && out.last == 0x2d ? [0x20, byte] : [byte] }
            return out + Array(" -->".utf8)
        case (_, .xml): return Array("/* ".utf8) + comment.text.withLineEnds(newline) + Array(" */".utf8)
        default:
            guard comment.isLine else { return raw.withLineEnds(newline) }
            guard isAlone else { return Array("/* ".utf8) + comment.text.filter { $0 != 10 } + Array(" */".utf8) }
            // Several lines of `//`: each stands under the other.
            return Array(raw.withPlainLineEnds.split(separator: 10, omittingEmptySubsequences: false)
                .enumerated().map { $0.offset == 0 ? Array($0.element) : indent + Array($0.element).trimmed }
                .joined(separator: newline))
        }
    }

    private func isSameForm() -> Bool { (host.syntax == .xml) == (donor.syntax == .xml) }

    private func donorIndent(at offset: Int) -> [UInt8] {
        let text = donor.text.utf8
        var start = offset
        while start > 0, text[start - 1] != 10, text[start - 1] != 13 { start -= 1 }
        return Array(text[start..<offset].prefix(while: isBlank))
    }

    /// The row that follows in the donor's own order, where it does so at the top.
    private func following(_ row: Row) -> Row? {
        donor.rows.firstIndex { $0.range == row.range }.flatMap { $0 + 1 < donor.rows.count ? donor.rows[$0 + 1] : nil }
    }

    private func blankLines(before row: Row) -> [UInt8] {
        let count = donor.text.utf8[row.blankLines].count { $0 == 10 }
        return [[UInt8]](repeating: newline, count: count).flatMap { $0 }
    }

    /// A row of the donor with its comments, beginning with `indent`, without a last line end.
    private func block(_ row: Row, indent: [UInt8]) -> [UInt8] {
        let raw = donor.text.utf8[row.core]
        let own = donorIndent(at: row.core.lowerBound)
        if isSameForm(), own == indent || !raw.contains(10), (raw.contains(10) ? donorUnit == unit || host.syntax != .xml : true) {
            return indent + Array(raw).withLineEnds(newline)
        }
        return indent + rendered(row, indent: indent)
    }

    /// A row on one line among others.
    private func compact(_ row: Row) -> [UInt8] {
        var out: [UInt8] = []
        if let comment = row.comment { out += lexeme(comment, indent: [], isAlone: false) + [0x20] }
        if isSameForm() {
            out += Array(donor.text.utf8[row.range]).withLineEnds(newline)
        } else {
            out += rendered(row, indent: [], withComments: false)
        }
        if let trailing = row.trailing { out += [0x20] + lexeme(trailing, indent: [], isAlone: false) }
        return out
    }

    /// A row written anew, from the comment on; the first line is not indented.
    private func rendered(_ row: Row, indent: [UInt8], withComments: Bool = true) -> [UInt8] {
        var out: [UInt8] = []
        if withComments, let comment = row.comment { out += lexeme(comment, indent: indent, isAlone: true) + newline + indent }
        if host.syntax == .xml {
            out += key(of: row)
            out += newline + indent + value(row.value, indent: indent, donorIndent: donorIndent(at: row.range.lowerBound), isShorthand: row.isShorthand)
        } else {
            out += key(of: row)
            if !row.isShorthand {
                out += Array(" = ".utf8) + value(row.value, indent: indent, donorIndent: donorIndent(at: row.range.lowerBound))
            }
            out.append(0x3b)
        }
        if withComments, let trailing = row.trailing { out += [0x20] + lexeme(trailing, indent: [], isAlone: true) }
        return out
    }

    /// The key of a row of the donor.
    private func key(of row: Row) -> [UInt8] {
        if isSameForm() { return Array(donor.text.utf8[row.keyRange]) }
        return host.syntax == .xml ? Array("<key>".utf8) + XMLParser.escaped(row.key) + Array("</key>".utf8) : OldStyleParser.quoted(row.key)
    }

    /// The value that a row `key;` of the host has, written out: its key changes.
    private func value(of row: Row) -> [UInt8] { Array(" = ".utf8) + host.text.utf8[row.keyRange] }

    private func string(_ text: [UInt8]) -> [UInt8] {
        host.syntax == .xml ? Array("<string>".utf8) + XMLParser.escaped(text) + Array("</string>".utf8) : OldStyleParser.quoted(text)
    }

    /// A value of the donor; lines after the first are indented for a row at `indent`.
    private func value(_ node: Node, indent: [UInt8], donorIndent: [UInt8], isShorthand: Bool = false) -> [UInt8] {
        let raw = Array(donor.text.utf8[node.range])
        // The value of a row `key;` stands nowhere of its own.
        if isSameForm(), !isShorthand, !raw.isEmpty {
            switch node.content {
            case .text, .scalar: return raw.withLineEnds(newline)
            case .array, .dictionary:
                if !raw.contains(10) || (indent == donorIndent && donorUnit == unit) { return raw.withLineEnds(newline) }
            }
        }
        switch node.content {
        case .text(let text):
            return string(text)
        case .scalar(let lexeme):
            // Old-style lists have no numbers or truth values: they stand there as text.
            if isSameForm() { return raw.withLineEnds(newline) }
            return string(lexeme)
        case .array(let nodes):
            let inner = indent + unit
            let values = nodes.map { value($0, indent: inner, donorIndent: donorIndent) }
            if host.syntax == .xml {
                return Array("<array>".utf8) + values.flatMap { newline + inner + $0 } + newline + indent + Array("</array>".utf8)
            }
            return [0x28] + newline + Array(values.map { inner + $0 }.joined(separator: [0x2c] + newline)) + newline + indent + [0x29]
        case .dictionary(let rows):
            let inner = indent + unit
            let (open, close): ([UInt8], [UInt8]) = host.syntax == .xml ? (Array("<dict>".utf8), Array("</dict>".utf8)) : ([0x7b], [0x7d])
            return open + rows.flatMap { newline + inner + rendered($0, indent: inner) } + newline + indent + close
        }
    }
}

extension TableWriter {
    fileprivate static func indent(of row: Row?, _ document: TableDocument) -> [UInt8]? { row.flatMap { indent(of: $0, document) } }
}
