// What a merge changes in a table, and what the table says after it. The plan is applied twice: to the logical content,
// which is what should come out, and by the writer to bytes; then the two are held against each other.

/// What becomes of the rows of one dictionary of the target; rows that are not named stay.
struct TablePlan {
    /// Changes by index of the row.
    var rows: [Int: RowChange] = [:]
    /// Rows of the other document, by index there, in the order in which they are to stand.
    var added: [(row: Row, after: Int)] = []

    var isEmpty: Bool { rows.isEmpty && added.isEmpty }
}

/// What becomes of one row.
indirect enum RowChange {
    case removed
    case edited(RowEdit)
}

struct RowEdit {
    /// The row of the other document whose key this one gets.
    var key: Row?
    var value: ValueEdit?
    /// The comment of the other document that is taken; an inner nil takes that there is none.
    var comment: Comment??
    var trailing: Comment??

    var isEmpty: Bool { key == nil && value == nil && comment == nil && trailing == nil }
}

enum ValueEdit {
    /// The value of the other document, whole.
    case taken(Node)
    /// A text that stands in neither document.
    case literal([UInt8])
    /// A dictionary of the target with changes inside.
    case rows(TablePlan)
}

// MARK: Content

/// What a value says, without where it stands.
indirect enum Content: Equatable {
    case text([UInt8])
    case dictionary([ContentRow])
    case array([Content])
    case scalar([UInt8])

    init(_ node: Node) {
        switch node.content {
        case .text(let text): self = .text(text)
        case .dictionary(let rows): self = .dictionary(rows.map(ContentRow.init))
        case .array(let nodes): self = .array(nodes.map(Content.init))
        case .scalar(let lexeme): self = .scalar(lexeme)
        }
    }

    var rows: [ContentRow] {
        if case .dictionary(let rows) = self { rows } else { [] }
    }

    /// The member of a name that counts: the last.
    subscript(name: StaticString) -> Content? { rows.last { $0.key.elementsEqual(name.description.utf8) }?.value }
}

struct ContentRow: Equatable {
    var key: [UInt8]
    var value: Content
    var comment: [UInt8]?
    var trailing: [UInt8]?

    init(_ row: Row) {
        key = row.key
        value = Content(row.value)
        comment = row.comment?.text
        trailing = row.trailing?.text
    }
}

extension TablePlan {
    /// The rows after the plan, in their order.
    func applied(to rows: [Row]) -> [ContentRow] {
        var out: [ContentRow] = []
        var next = 0
        func add(after i: Int) {
            while next < added.count, added[next].after == i {
                out.append(ContentRow(added[next].row))
                next += 1
            }
        }
        add(after: -1)
        for (i, row) in rows.enumerated() {
            switch self.rows[i] {
            case nil: out.append(ContentRow(row))
            case .removed: break
            case .edited(let edit): out.append(edit.applied(to: row))
            }
            add(after: i)
        }
        return out
    }
}

extension RowEdit {
    func applied(to row: Row) -> ContentRow {
        var out = ContentRow(row)
        if let key { out.key = key.key }
        switch value {
        case nil: break
        case .taken(let node): out.value = Content(node)
        case .literal(let text): out.value = .text(text)
        case .rows(let plan): out.value = .dictionary(plan.applied(to: row.value.rows))
        }
        if let comment { out.comment = comment?.text }
        if let trailing { out.trailing = trailing?.text }
        return out
    }
}

/// Whether two values say the same: dictionaries as sets of members, of which the last copy counts.
func same(_ a: Node?, _ b: Node?) -> Bool {
    switch (a?.content, b?.content) {
    case (nil, nil): return true
    case (.text(let x), .text(let y)): return x == y
    case (.scalar(let x), .scalar(let y)): return x == y
    case (.array(let x), .array(let y)): return x.count == y.count && zip(x, y).allSatisfy { same($0, $1) }
    case (.dictionary(let x), .dictionary(let y)):
        let first = lastCopies(x)
        let second = lastCopies(y)
        return first.count == second.count && first.allSatisfy { key, i in second[key].map { same(x[i].value, y[$0].value) } ?? false }
    default: return false
    }
}

/// The row that counts for each key.
func lastCopies(_ rows: [Row]) -> [[UInt8]: Int] {
    var out: [[UInt8]: Int] = [:]
    out.reserveCapacity(rows.count)
    for (i, row) in rows.enumerated() { out[row.key] = i }
    return out
}
