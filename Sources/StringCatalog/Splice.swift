// From a plan to bytes. What the plan does not name is copied from the target as it stands, in long runs.

/// What a value becomes. `.value` of ours means: untouched.
enum Merged {
    case absent
    /// As it stands on a side.
    case value(Value)
    /// The object on a side, with some members changed, added or removed.
    case patched(Value, [Patch], MemberOrder)
    /// A new scalar, as it is to be written.
    case literal([UInt8])
    /// A new object.
    case fresh([Patch])

    var isAbsent: Bool { if case .absent = self { true } else { false } }
}

/// One member of an object and what becomes of it.
struct Patch {
    let name: Name
    let merged: Merged
}

/// Where a member that an object did not have is put: before the first one that sorts after it.
enum MemberOrder {
    case languages, codePoints
}

/// A new member of an object and the member of the target behind which it stands; -1 is the start.
struct NewMember {
    let name: Name
    let merged: Merged
    let after: Int
}

/// Everything that a merge changes in the target.
struct MergePlan {
    /// Changes of entries of the target; `.absent` removes.
    var entries: MemberChanges
    /// New entries in the order in which they are to stand.
    var added: [NewMember] = []
    /// Changes beside `strings` at the top level.
    var top: [Patch] = []

    init(for target: CatalogDocument) { entries = MemberChanges(count: target.entries.count) }

    var isEmpty: Bool { entries.isEmpty && added.isEmpty && top.isEmpty }
}

/// What becomes of the members of an object, by their places in it; the others stay.
///
/// Not a dictionary: the first use of one costs the process more than the merge of a small catalog.
struct MemberChanges {
    /// For each member where its change stands in `all`, or -1.
    private var places: [Int32]
    /// The changes in the order in which they were made.
    private(set) var all: [Merged] = []

    init(count: Int) { places = [Int32](repeating: -1, count: count) }

    var isEmpty: Bool { all.isEmpty }
    /// How many members go.
    var removals: Int { all.count(where: \.isAbsent) }
    /// The first member that changes.
    var first: Int? { places.firstIndex { $0 >= 0 } }

    subscript(i: Int) -> Merged? {
        places[i] < 0 ? nil : all[Int(places[i])]
    }

    /// Sets what becomes of a member, whatever was to become of it before.
    mutating func set(_ i: Int, _ merged: Merged) {
        if places[i] < 0 {
            places[i] = Int32(truncatingIfNeeded: all.count)
            all.append(merged)
        } else {
            all[Int(places[i])] = merged
        }
    }
}

/// The output of a merge before it is one run of bytes: ranges of the target, which are long, and new text between them.
public struct CatalogPieces: Sendable {
    let runs: [Run]
    let document: Bytes
    let fresh: Bytes

    /// A range of the target, or of the new text. Of plain numbers: the first array of ranges costs a process 0.1 ms.
    struct Run: Sendable {
        let isFresh: Bool
        let start: Int
        var end: Int

        var range: Range<Int> { start..<end }
    }

    /// How many bytes there are in all.
    public var count: Int { runs.reduce(0) { $0 + $1.range.count } }

    /// Where the bytes of a run stand.
    func bytes(of run: Run) -> Bytes { run.isFresh ? fresh : document }
}

/// Writes a plan as the target's bytes with splices.
struct Splicer {
    let sides: Sides
    let style: Style
    let document: CatalogDocument
    /// A line's end and the indent of the deepest line, and what stands between a name and its value, to compare with.
    private let lines, colon: Bytes
    private static let linesDepthMax = 24
    /// Runs of the output: of the target, or of `fresh`.
    private var runs: [CatalogPieces.Run] = []
    private var fresh: [UInt8] = []

    init(_ document: CatalogDocument, sides: Sides) {
        self.document = document
        self.sides = sides
        style = Style(of: document)
        lines = Bytes(style.newline + [[UInt8]](repeating: style.indent, count: Splicer.linesDepthMax).flatMap { $0 })
        colon = Bytes(style.colon)
    }

    /// The whole output.
    mutating func write(_ plan: MergePlan) -> CatalogPieces {
        keep(0..<document.root.lowerBound)
        var top = MemberChanges(count: document.top.count)
        var added: [NewMember] = []
        place(plan.top, in: document.top, Value(.ours, document.root), .codePoints, &top, &added)
        let document = self.document
        let stringsAt = document.stringsMember.flatMap { member in document.top.lastIndex { $0.nameStart == member.nameStart } }
        let changesStrings = !plan.entries.isEmpty || !plan.added.isEmpty
        members(of: document.root, document.top, depth: 0, changed: top, added: added) { splicer, i in
            guard i == stringsAt, changesStrings else { return false }
            splicer.members(
                of: document.top[i].value, document.entries, depth: 1, changed: plan.entries,
                added: plan.added)
            return true
        }
        keep(document.root.upperBound..<document.bytes.count)
        return CatalogPieces(runs: runs, document: document.bytes, fresh: Bytes(fresh))
    }

    // MARK: Runs

    private mutating func keep(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        add(CatalogPieces.Run(isFresh: false, start: range.lowerBound, end: range.upperBound))
    }

    private mutating func put(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        add(CatalogPieces.Run(isFresh: true, start: fresh.count, end: fresh.count + bytes.count))
        fresh += bytes
    }

    /// Adds a run; one that goes on where the last one ends makes that longer.
    private mutating func add(_ run: CatalogPieces.Run) {
        if let last = runs.last, last.isFresh == run.isFresh, last.end == run.start {
            runs[runs.count - 1].end = run.end
        } else {
            runs.append(run)
        }
    }

    // MARK: In place

    /// Sorts patches into changes of members that are there, by index, and new ones with their places.
    private func place(
        _ patches: [Patch], in members: [Member], _ object: Value, _ order: MemberOrder, _ changed: inout MemberChanges, _ added: inout [NewMember]
    ) {
        func name(_ member: Member) -> Name { .read(object.side, member.name, isEscaped: member.isEscaped) }
        for patch in patches {
            let copies = members.indices.filter { sides.isSame(name(members[$0]), patch.name) }
            if patch.merged.isAbsent {
                copies.forEach { changed.set($0, .absent) }
            } else if let last = copies.last {
                changed.set(last, patch.merged)
            }
        }
        for patch in patches where !patch.merged.isAbsent {
            guard !members.contains(where: { sides.isSame(name($0), patch.name) }) else { continue }
            let later = members.firstIndex { sorts(patch.name, before: name($0), order) } ?? members.count
            let new = NewMember(name: patch.name, merged: patch.merged, after: later - 1)
            // Several new ones at one place stand in their own order.
            let at = added.firstIndex { $0.after > new.after || ($0.after == new.after && sorts(new.name, before: $0.name, order)) } ?? added.count
            added.insert(new, at: at)
        }
    }

    private func sorts(_ a: Name, before b: Name, _ order: MemberOrder) -> Bool {
        switch order {
        case .languages: KeyOrder.xcode.isBefore(sides.bytes(of: a), sides.bytes(of: b))
        case .codePoints: sides.bytes(of: a).lexicographicallyPrecedes(sides.bytes(of: b))
        }
    }

    /// Writes an object of the target. Its members' own spacing stays; a new one is spaced like its neighbours.
    private mutating func members(
        of object: Range<Int>, _ members: [Member], depth: Int, changed: MemberChanges, added: [NewMember],
        special: (inout Splicer, Int) -> Bool = { _, _ in false }
    ) {
        let bytes = document.bytes
        if added.isEmpty && changed.removals == 0 {
            // Nothing comes or goes: only values change.
            var from = object.lowerBound
            for (i, member) in members.enumerated() {
                keep(from..<Int(member.valueStart))
                if let merged = changed[i] {
                    value(merged, over: Value(.ours, member.value), depth: depth + 1)
                } else if !special(&self, i) {
                    keep(member.value)
                }
                from = Int(member.valueEnd)
            }
            keep(from..<object.upperBound)
            return
        }
        let total = members.count + added.count - changed.removals
        guard total > 0 else {
            put(emptyObject(depth: depth))
            return
        }
        /// Between the comma (or brace) before a member and its name.
        func lead(_ i: Int) -> Range<Int> {
            let end = members[i].whole.lowerBound
            return (i == 0 ? object.lowerBound + 1 : comma(after: i - 1) + 1)..<end
        }
        func comma(after i: Int) -> Int { bytes.endOfSpace(Int(members[i].valueEnd)) }
        let newLine = style.newline + [[UInt8]](repeating: style.indent, count: depth + 1).flatMap { $0 }
        let firstLead = members.isEmpty ? (style.newline.isEmpty ? style.inlinePadding : newLine) : bytes.array(lead(0))
        let restLead =
            members.count > 1 ? bytes.array(lead(1)) : firstLead.contains(10) || members.isEmpty ? firstLead : style.space
        let colon = members.first.map { bytes.array(Int($0.nameEnd) + 1..<Int($0.valueStart)) } ?? style.colon

        var written = 0
        func separate(_ splicer: inout Splicer, lead own: Range<Int>?, wasFirst: Bool) {
            if written > 0 { splicer.put([0x2c]) }
            if let own, (written == 0) == wasFirst {
                splicer.keep(own)
            } else {
                splicer.put(written == 0 ? firstLead : restLead)
            }
            written += 1
        }
        var next = 0
        func putAdded(_ splicer: inout Splicer, after i: Int) {
            while next < added.count, added[next].after == i {
                separate(&splicer, lead: nil, wasFirst: false)
                splicer.put(splicer.lexeme(of: added[next].name) + colon)
                splicer.put(splicer.rendered(added[next].merged, depth: depth + 1))
                next += 1
            }
        }
        keep(object.lowerBound..<object.lowerBound + 1)
        putAdded(&self, after: -1)
        for (i, member) in members.enumerated() {
            let merged = changed[i]
            if merged?.isAbsent != true {
                // The comma belongs to the run of its member where both stay, so that long runs stay one run.
                if written > 0, i > 0, changed[i - 1]?.isAbsent != true, lastRunEnds(at: Int(members[i - 1].valueEnd)) {
                    keep(Int(members[i - 1].valueEnd)..<member.whole.lowerBound)
                    written += 1
                } else {
                    separate(&self, lead: lead(i), wasFirst: i == 0)
                }
                keep(member.whole.lowerBound..<Int(member.valueStart))
                if let merged {
                    value(merged, over: Value(.ours, member.value), depth: depth + 1)
                } else if !special(&self, i) {
                    keep(member.value)
                }
            }
            putAdded(&self, after: i)
        }
        if let last = members.last {
            keep(Int(last.valueEnd)..<object.upperBound)
        } else {
            let close = style.newline + [[UInt8]](repeating: style.indent, count: depth).flatMap { $0 }
            put((style.newline.isEmpty ? style.inlinePadding : close) + [0x7d])
        }
    }

    private func lastRunEnds(at offset: Int) -> Bool {
        runs.last.map { !$0.isFresh && $0.end == offset } ?? false
    }

    /// Writes what becomes of a value of the target, in its place.
    private mutating func value(_ merged: Merged, over own: Value, depth: Int) {
        switch merged {
        case .value(own): keep(own.range)
        case .value(let other):
            guard let strings = sides.differingStrings(own, other) else { return put(rendered(other, depth: depth)) }
            var from = own.range.lowerBound
            for (old, new) in strings {
                keep(from..<old.range.lowerBound)
                put(style.restyled(sides[new.side].array(new.range)))
                from = old.range.upperBound
            }
            keep(from..<own.range.upperBound)
        case .patched(own, let patches, let order):
            let members = sides.items(own).map(\.member)
            var changed = MemberChanges(count: members.count)
            var added: [NewMember] = []
            place(patches, in: members, own, order, &changed, &added)
            if changesLines(members, own, changed, added) {
                put(rendered(merged, depth: depth))
                return
            }
            self.members(of: own.range, members, depth: depth, changed: changed, added: added)
        default: put(rendered(merged, depth: depth))
        }
    }

    /// Whether an object on one line has to be written anew on several, since it gets an object of its own, or the other
    /// way round in a file that keeps objects without objects on one line.
    private func changesLines(_ members: [Member], _ own: Value, _ changed: MemberChanges, _ added: [NewMember]) -> Bool {
        guard !style.newline.isEmpty else { return false }
        if !document.bytes.contains(10, in: own.range), !members.isEmpty {
            return added.contains { !isScalar($0.merged) }
                || members.indices.contains { i in
                    switch changed[i] {
                    case .value(let other)?: !isScalar(.value(other)) && sides.differingStrings(Value(own.side, members[i].value), other) == nil
                    case .fresh?: true
                    case nil, .absent?, .literal?, .patched?: false
                    }
                }
        }
        guard style.inlineLeaves, !added.isEmpty || changed.removals > 0 else { return false }
        let kept = members.enumerated().compactMap { i, member -> Merged? in
            let merged = changed[i] ?? .value(Value(own.side, member.value))
            return merged.isAbsent ? nil : merged
        }
        return !(kept.isEmpty && added.isEmpty) && (kept + added.map(\.merged)).allSatisfy(isScalar)
    }

    // MARK: New text

    private func lexeme(of name: Name) -> [UInt8] {
        switch name {
        case .read(let side, let range, _):
            let quoted = sides[side].array(range.lowerBound - 1..<range.upperBound + 1)
            return side == .ours ? quoted : style.restyled(quoted)
        case .literal(let text): return [0x22] + Array(text.description.utf8) + [0x22]
        }
    }

    private func emptyObject(depth: Int) -> [UInt8] {
        if let empty = style.emptyObject { return empty }
        return [0x7b] + style.newline + style.newline + [[UInt8]](repeating: style.indent, count: depth).flatMap { $0 } + [0x7d]
    }

    /// The text of a value in the style of the target, with its first line at `depth`.
    private func rendered(_ merged: Merged, depth: Int) -> [UInt8] {
        switch merged {
        case .absent: return []
        case .literal(let bytes): return bytes
        case .value(let value): return rendered(value, depth: depth)
        case .fresh(let patches): return object(patches, depth: depth)
        case .patched(let host, let patches, let order):
            return object(composed(sides, host, patches) { sorts($0, before: $1, order) }, depth: depth)
        }
    }

    private func rendered(_ value: Value, depth: Int) -> [UInt8] {
        let bytes = sides[value.side]
        // Most new text is laid out as the target lays its own out.
        if isRendered(bytes, value.range, depth: depth) { return bytes.array(value.range) }
        switch bytes[Int(value.start)] {
        case 0x7b:
            return object(sides.effective(sides.items(value)).map { Patch(name: $0.name, merged: .value($0.value)) }, depth: depth)
        case 0x5b:
            let elements = sides.elements(value).map { rendered($0, depth: depth + 1) }
            return block(elements, open: 0x5b, close: 0x5d, depth: depth)
        case 0x22:
            return value.side == .ours ? bytes.array(value.range) : style.restyled(bytes.array(value.range))
        default: return bytes.array(value.range)
        }
    }

    /// Whether a value stands just as it would be rendered with its first line at `depth`, so that its bytes can be taken as
    /// they are. Says no where that is not soon clear.
    private func isRendered(_ bytes: Bytes, _ range: Range<Int>, depth outer: Int) -> Bool {
        guard !style.newline.isEmpty, !style.inlineLeaves, !style.escapesSlash, !style.escapesNonASCII, bytes[range.lowerBound] == 0x7b else { return false }
        var at = range.lowerBound
        // For each open object a filter of its names: a name that may stand twice has to be looked into.
        var names: InlineArray<12, UInt64> = .init(repeating: 0)
        var depth = 0
        func passes(_ text: Bytes, _ count: Int) -> Bool {
            guard at + count < range.upperBound, bytes.equal(at..<at + count, text, 0..<count) else { return false }
            at += count
            return true
        }
        func passesLine(_ depth: Int) -> Bool { passes(lines, style.newline.count + (outer + depth) * style.indent.count) && bytes[at] > 0x20 }
        func passesString() -> Bool {
            let end = bytes.endOfString(at)
            var i = at
            while i < end, bytes.contains(0x5c, in: i..<end) {
                while bytes[i] != 0x5c { i += 1 }
                if bytes[i + 1] == 0x2f || bytes[i + 1] == 0x75 { return false }
                i += 2
            }
            at = end
            return true
        }
        func passesName(_ seen: inout UInt64) -> Bool {
            guard bytes[at] == 0x22 else { return false }
            let end = bytes.endOfString(at)
            let bit: UInt64 = 1 << (bytes.hash(at..<end) & 63)
            guard seen & bit == 0, !bytes.contains(0x5c, in: at..<end) else { return false }
            seen |= bit
            at = end
            return passes(colon, colon.count)
        }
        while true {
            // A value, or the first name in an object.
            switch bytes[at] {
            case 0x22: guard passesString() else { return false }
            case 0x7b:
                depth += 1
                guard depth < names.count, outer + depth <= Splicer.linesDepthMax else { return false }
                names[depth] = 0
                at += 1
                guard passesLine(depth), passesName(&names[depth]) else { return false }
                continue
            case 0x5b: return false
            default: while at < range.upperBound, bytes[at] != 0x2c, bytes[at] > 0x20 { at += 1 }
            }
            // What ends here, and the next name.
            while bytes[at] != 0x2c {
                depth -= 1
                guard passesLine(depth), bytes[at] == 0x7d else { return false }
                at += 1
                if depth == 0 { return at == range.upperBound }
            }
            at += 1
            guard passesLine(depth), passesName(&names[depth]) else { return false }
        }
    }

    private func object(_ members: [Patch], depth: Int) -> [UInt8] {
        guard !members.isEmpty else { return emptyObject(depth: depth) }
        let isLeaf = style.inlineLeaves && members.allSatisfy { isScalar($0.merged) }
        let lines = members.map { lexeme(of: $0.name) + style.colon + rendered($0.merged, depth: depth + 1) }
        guard isLeaf else { return block(lines, open: 0x7b, close: 0x7d, depth: depth) }
        return [0x7b] + style.inlinePadding + Array(lines.joined(separator: [0x2c] + style.space)) + style.inlinePadding + [0x7d]
    }

    private func isScalar(_ merged: Merged) -> Bool {
        switch merged {
        case .literal: true
        case .value(let value): !sides.isObject(value) && sides[value.side][Int(value.start)] != 0x5b
        default: false
        }
    }

    private func block(_ lines: [[UInt8]], open: UInt8, close: UInt8, depth: Int) -> [UInt8] {
        if style.newline.isEmpty {
            return [open] + style.inlinePadding + Array(lines.joined(separator: [0x2c] + style.space)) + style.inlinePadding + [close]
        }
        let outer = style.newline + [[UInt8]](repeating: style.indent, count: depth).flatMap { $0 }
        guard !lines.isEmpty else { return [open] + style.newline + outer + [close] }
        return [open] + outer + style.indent + Array(lines.joined(separator: [0x2c] + outer + style.indent)) + outer + [close]
    }
}

/// The members of an object with its patches applied; new ones stand before the first that sorts after them.
func composed(_ sides: Sides, _ host: Value, _ patches: [Patch], sorts: (Name, Name) -> Bool) -> [Patch] {
    var members = sides.effective(sides.items(host)).map { Patch(name: $0.name, merged: .value($0.value)) }
    for patch in patches {
        if let i = members.firstIndex(where: { sides.isSame($0.name, patch.name) }) {
            if patch.merged.isAbsent { members.remove(at: i) } else { members[i] = Patch(name: members[i].name, merged: patch.merged) }
        } else if !patch.merged.isAbsent {
            members.insert(patch, at: members.firstIndex { sorts(patch.name, $0.name) } ?? members.count)
        }
    }
    return members
}
