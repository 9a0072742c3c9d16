// Values are places, not copies: a side and a range. What a merge does not have to look into is never read.

/// Which document a value stands in. `output` is the result that is being checked.
package enum Side: UInt8, Sendable {
    case base, ours, theirs, output

    /// The side across.
    package var other: Side { self == .ours ? .theirs : .ours }
}

/// One value of a name in base, ours and theirs; nil means absent and nothing else.
struct ThreeWay<Item> {
    var base: Item?
    var ours: Item?
    var theirs: Item?

    subscript(side: Side) -> Item? {
        switch side {
        case .base: base
        case .ours: ours
        case .theirs: theirs
        case .output: nil
        }
    }

    func map<R>(_ transform: (Item) -> R?) -> ThreeWay<R> {
        ThreeWay<R>(base: base.flatMap(transform), ours: ours.flatMap(transform), theirs: theirs.flatMap(transform))
    }
}

/// The place of a JSON value.
struct Value: Equatable {
    let side: Side
    let start: UInt32
    let end: UInt32

    init(_ side: Side, _ range: Range<Int>) {
        self.side = side
        start = UInt32(truncatingIfNeeded: range.lowerBound)
        end = UInt32(truncatingIfNeeded: range.upperBound)
    }

    var range: Range<Int> { Int(start)..<Int(end) }
}

/// A member's name: where it was read, or one that a rule makes.
enum Name {
    case read(Side, Range<Int>, isEscaped: Bool)
    case literal(StaticString)
}

/// One member of an object.
struct Item {
    let side: Side
    let member: Member

    init(_ side: Side, _ member: Member) {
        self.side = side
        self.member = member
    }

    var name: Name { .read(side, member.name, isEscaped: member.isEscaped) }
    var value: Value { Value(side, member.value) }
}

/// The documents of one merge, and what can be asked about values in them.
final class Sides {
    private let base, ours, theirs, output: Bytes
    /// The members of large objects that were read: an entry is looked at by the plan, the writer and the check.
    private var known = [KnownItems](repeating: KnownItems(), count: 4)
    private let aliases: LanguageAliases
    /// How the localizations of each side are laid out.
    private var layouts = [Layouts](repeating: Layouts(), count: 4)

    /// Objects below this size are read faster than found.
    private static let knownBytesMin = 400

    /// - Parameter knowing: sides with the same base and theirs, of which is kept what was read.
    init(base: Bytes, ours: Bytes, theirs: Bytes, output: Bytes? = nil, aliases: LanguageAliases = LanguageAliases(), knowing: Sides? = nil) {
        self.base = base
        self.ours = ours
        self.theirs = theirs
        self.output = output ?? ours
        self.aliases = aliases
        if let knowing {
            for side in [Side.base, .theirs] { known[side] = knowing.known[side] }
            if ours === knowing.ours { known[.ours] = knowing.known[.ours] }
        }
    }

    /// The same with an output; what is known of the inputs stays known.
    func with(output: Bytes) -> Sides {
        Sides(base: base, ours: ours, theirs: theirs, output: output, aliases: aliases, knowing: self)
    }

    subscript(side: Side) -> Bytes {
        switch side {
        case .base: base
        case .ours: ours
        case .theirs: theirs
        case .output: output
        }
    }

    func isObject(_ value: Value) -> Bool { self[value.side][Int(value.start)] == 0x7b }
    func isString(_ value: Value) -> Bool { self[value.side][Int(value.start)] == 0x22 }

    /// The members of an object in their order, copies of a name and all; empty for any other value.
    ///
    /// - Parameters:
    ///   - like: a similar object: what is the same there is recognised by comparison, not scanned.
    func items(_ value: Value, like other: Value? = nil) -> [Item] {
        guard isObject(value) else { return [] }
        if let found = recall(value) { return found }
        let known = other.map { items($0) } ?? []
        var found: [Item] = []
        if let other, let strings = differences(other, value) {
            found = moved(known, from: other, to: value, strings)
        } else {
            found.reserveCapacity(known.count)
            var none: [Item] = []
            read(value, like: known, into: &found, nested: nil, likeNested: [], into: &none)
        }
        remember(value, found)
        return found
    }

    /// The members of an entry, and with the same look those of its `localizations`.
    func entryItems(_ value: Value, like other: Value? = nil) -> (fields: [Item], languages: [Item]) {
        guard isObject(value) else { return ([], []) }
        let known = other.map { entryItems($0) } ?? (fields: [], languages: [])
        func localizations(_ fields: [Item]) -> Value? { fields.last { isNamed($0.name, "localizations") }?.value }
        if let fields = recall(value) { return (fields, localizations(fields).map { items($0, like: localizations(known.fields)) } ?? []) }
        var fields: [Item] = []
        var languages: [Item] = []
        if let other, let strings = differences(other, value) {
            fields = moved(known.fields, from: other, to: value, strings)
            languages = moved(known.languages, from: other, to: value, strings)
        } else {
            languages.reserveCapacity(known.languages.count)
            read(value, like: known.fields, into: &fields, nested: "localizations", likeNested: known.languages, into: &languages)
        }
        remember(value, fields)
        if let localizations = localizations(fields) { remember(localizations, languages) }
        return (fields, languages)
    }

    /// Members of one value at their places in another, which differs from it in these strings only.
    private func moved(_ items: [Item], from old: Value, to new: Value, _ strings: [(old: Value, new: Value)]) -> [Item] {
        var moved = items
        var shift = Int(new.start) - Int(old.start)
        var next = strings.startIndex
        func place(_ offset: UInt32, _ shift: Int) -> UInt32 { UInt32(truncatingIfNeeded: Int(offset) + shift) }
        for i in moved.indices {
            let member = items[i].member
            func pass(_ next: inout Int, _ shift: inout Int, before offset: UInt32) {
                while next < strings.count, strings[next].old.end <= offset {
                    shift += strings[next].new.range.count - strings[next].old.range.count
                    next += 1
                }
            }
            // A name is the same on both, and so is what stands between it and its value.
            pass(&next, &shift, before: member.nameStart)
            let before = shift
            pass(&next, &shift, before: member.valueEnd)
            moved[i] = Item(new.side, Member(
                nameStart: place(member.nameStart, before), nameEnd: place(member.nameEnd, before), valueStart: place(member.valueStart, before),
                valueEnd: place(member.valueEnd, shift), isEscaped: member.isEscaped))
        }
        return moved
    }

    private func recall(_ value: Value) -> [Item]? {
        guard value.end - value.start >= Sides.knownBytesMin else { return nil }
        return known[value.side][value.start]
    }

    private func remember(_ value: Value, _ items: [Item]) {
        guard value.end - value.start >= Sides.knownBytesMin else { return }
        known[value.side].insert(items, at: value.start)
    }

    private func read(
        _ value: Value, like: [Item], into items: inout [Item], nested: StaticString?, likeNested: [Item], into nestedItems: inout [Item]
    ) {
        let bytes = self[value.side]
        // The bytes were checked when the document was read, so that nothing is thrown here.
        bytes.scanChecked(from: Int(value.start) + 1) { scanner in
            scanner.checkedMembers { scanner, member in
                let i = items.count
                if let nested, scanner.here == 0x7b, bytes.equal(member.name, nested) {
                    nestedItems.removeAll(keepingCapacity: true)
                    scanner.position += 1
                    var known = layouts[Int(value.side.rawValue)]
                    scanner.checkedMembers { scanner, member in
                        if likeNested.isEmpty {
                            let from = scanner.position
                            if !scanner.passes(&known) {
                                scanner.checkedValue()
                                known.note(from..<scanner.position, in: bytes)
                            }
                            member.valueEnd = UInt32(truncatingIfNeeded: scanner.position)
                        } else {
                            pass(&scanner, &member, value.side, near: nestedItems.count, of: likeNested)
                        }
                        nestedItems.append(Item(value.side, member))
                    }
                    layouts[Int(value.side.rawValue)] = known
                    member.valueEnd = UInt32(truncatingIfNeeded: scanner.position)
                } else {
                    pass(&scanner, &member, value.side, near: i, of: like)
                }
                items.append(Item(value.side, member))
            }
        }
    }

    /// Passes a value; by comparison where a member like it stands at this place, or one place before or behind.
    @inline(__always)
    private func pass(_ scanner: inout Scanner, _ member: inout Member, _ side: Side, near i: Int, of like: [Item]) {
        let bytes = scanner.bytes
        var passed = false
        for k in max(i - 1, 0)..<max(min(i + 2, like.count), max(i - 1, 0)) {
            let twin = like[k]
            let other = self[twin.value.side]
            guard bytes.equal(member.name, other, twin.member.name) else { continue }
            let last = other[Int(twin.value.end) - 1]
            if last == 0x7d || last == 0x22, scanner.matches(twin.value.range, of: other, at: scanner.position) {
                scanner.position += twin.value.range.count
                passed = true
            }
            break
        }
        if !passed { scanner.checkedValue() }
        member.valueEnd = UInt32(truncatingIfNeeded: scanner.position)
    }

    /// Calls `body` with each text below: strings that are a member `value`, or stand in a member `values`; and with the
    /// names that lead to it.
    func eachText(in value: Value, _ body: ([Name], Value) -> Void) {
        guard isObject(value) else { return }
        var names: [Name] = []
        self[value.side].scanChecked(from: Int(value.start)) { walk(&$0, value.side, &names, body) }
    }

    /// Walks the object that begins here.
    private func walk(_ scanner: inout Scanner, _ side: Side, _ names: inout [Name], _ body: ([Name], Value) -> Void) {
        let bytes = scanner.bytes
        scanner.position += 1
        scanner.checkedMembers { scanner, member in
            names.append(.read(side, member.name, isEscaped: member.isEscaped))
            if scanner.here == 0x7b {
                walk(&scanner, side, &names, body)
            } else {
                let from = scanner.position
                scanner.checkedValue()
                let found = Value(side, from..<scanner.position)
                if bytes[from] == 0x22, hasName(bytes, member, "value") { body(names, found) }
                if bytes[from] == 0x5b, hasName(bytes, member, "values") { elements(found).filter(isString).forEach { body(names, $0) } }
            }
            names.removeLast()
        }
    }

    /// The elements of an array; empty for any other value.
    func elements(_ value: Value) -> [Value] {
        let bytes = self[value.side]
        guard bytes[Int(value.start)] == 0x5b else { return [] }
        var elements: [Value] = []
        bytes.scanChecked(from: Int(value.start) + 1) { scanner in
            scanner.skipSpace()
            while scanner.here != 0x5d {
                let start = scanner.position
                scanner.checkedValue()
                elements.append(Value(value.side, start..<scanner.position))
                scanner.skipSpace()
                if scanner.here == 0x2c { scanner.position += 1 }
                scanner.skipSpace()
            }
        }
        return elements
    }

    /// The last member of this name.
    func member(_ value: Value, _ name: StaticString) -> Value? {
        items(value).last { isNamed($0.name, name) }?.value
    }

    func isNamed(_ name: Name, _ text: StaticString) -> Bool {
        switch name {
        case .read(let side, let range, let isEscaped):
            isEscaped ? bytes(of: name).elementsEqual(text.description.utf8) : self[side].equal(range, text)
        case .literal(let literal): literal.description == text.description
        }
    }

    func isSame(_ a: Name, _ b: Name) -> Bool {
        if case .read(let x, let range, let escaped) = a, case .read(let y, let other, let otherEscaped) = b {
            if self[x].equal(range, self[y], other) { return true }
            if !escaped && !otherEscaped { return false }
        }
        return bytes(of: a) == bytes(of: b)
    }

    /// The form of a name in which all codes of one language are equal.
    func identity(of name: Name) -> [UInt8] { aliases.identity(of: bytes(of: name)) }

    /// Whether a name is the language of this identity.
    func isLanguage(_ name: Name, _ identity: [UInt8]) -> Bool {
        guard aliases.isEmpty else { return self.identity(of: name) == identity }
        guard case .read(let side, let range, isEscaped: false) = name else { return languageIdentity(bytes(of: name)) == identity }
        guard range.count == identity.count else { return false }
        let bytes = self[side]
        return identity.indices.allSatisfy { languageIdentity(bytes[range.lowerBound + $0]) == identity[$0] }
    }

    /// Whether two names are the same language: without regard to case, with `_` as `-`, or by an alias.
    func isSameLanguage(_ a: Name, _ b: Name) -> Bool {
        isSame(a, b) || identity(of: a) == identity(of: b)
    }

    /// The decoded UTF-8 of a name.
    func bytes(of name: Name) -> [UInt8] {
        switch name {
        case .read(let side, let range, _): decoded(self[side], range)
        case .literal(let text): Array(text.description.utf8)
        }
    }

    func text(_ name: Name) -> String { String(decoding: bytes(of: name), as: UTF8.self) }

    /// The decoded text of a string, or the bytes of any other value as they stand.
    func text(_ value: Value) -> String {
        isString(value)
            ? String(decoding: string(value), as: UTF8.self)
            : self[value.side].string(value.range)
    }

    /// The decoded UTF-8 of a string.
    func string(_ value: Value) -> [UInt8] {
        isString(value) ? decoded(self[value.side], Int(value.start) + 1..<Int(value.end) - 1) : self[value.side].array(value.range)
    }

    /// Whether a value stands on all three sides in the same bytes: nothing can come of looking into it.
    func areIdentical(_ v: ThreeWay<Value>) -> Bool {
        guard let b = v.base, let o = v.ours, let t = v.theirs else { return false }
        return self[o.side].equal(o.range, self[b.side], b.range) && self[o.side].equal(o.range, self[t.side], t.range)
    }

    /// The strings in which two values differ that are the same otherwise, byte for byte; nil where more differs. Two
    /// spellings of one string are no difference.
    func differingStrings(_ a: Value, _ b: Value) -> [(old: Value, new: Value)]? {
        differences(a, b)?.filter { !equal($0.old, $0.new) }
    }

    /// The same with strings that only are spelled in two ways. A name that differs is more than a string.
    private func differences(_ a: Value, _ b: Value) -> [(old: Value, new: Value)]? {
        let (x, y) = (self[a.side], self[b.side])
        var found: [(old: Value, new: Value)] = []
        // Both stand outside of strings, at the same place of the grammar.
        var i = Int(a.start)
        var j = Int(b.start)
        while true {
            let difference = i + x.common(i..<Int(a.end), y, j..<Int(b.end))
            if difference == Int(a.end) || j + difference - i == Int(b.end) {
                return difference == Int(a.end) && j + difference - i == Int(b.end) ? found : nil
            }
            // No string goes over a line's end: the one that holds the difference is found from there.
            var at = difference
            while at > i, x[at - 1] != 10 { at -= 1 }
            var end = at
            while at < difference {
                guard x[at] == 0x22 else {
                    at += 1
                    continue
                }
                end = x.endOfString(at)
                if end > difference { break }
                at = end
            }
            guard at < difference, x[x.endOfSpace(end)] != 0x3a else { return nil }
            let twin = j + at - i
            let old = Value(a.side, at..<end)
            let new = Value(b.side, twin..<y.endOfString(twin))
            found.append((old, new))
            i = end
            j = Int(new.end)
        }
    }

    /// Whether two values stand in the same bytes.
    func isSame(_ a: Value, _ b: Value) -> Bool { self[a.side].equal(a.range, self[b.side], b.range) }

    /// Whether two values say the same: objects as sets of members (the last of several copies counts), strings by their
    /// Unicode scalars, numbers and words as they are spelled.
    func equal(_ a: Value?, _ b: Value?) -> Bool {
        switch (a, b) {
        case (nil, nil): true
        case (let a?, let b?): equal(a, b, ignoringState: false)
        default: false
        }
    }

    /// The same, where `state` members do not count.
    func equalTexts(_ a: Value, _ b: Value) -> Bool { equal(a, b, ignoringState: true) }

    private func equal(_ a: Value, _ b: Value, ignoringState: Bool) -> Bool {
        let x = self[a.side]
        let y = self[b.side]
        if x.equal(a.range, y, b.range) { return true }
        let kind = x[Int(a.start)]
        guard kind == y[Int(b.start)] else { return false }
        switch kind {
        case 0x22:
            let first = Int(a.start) + 1..<Int(a.end) - 1
            let second = Int(b.start) + 1..<Int(b.end) - 1
            guard x.contains(0x5c, in: first) || y.contains(0x5c, in: second) else { return false }
            return decoded(x, first) == decoded(y, second)
        case 0x7b:
            let first = effective(items(a)).filter { !ignoringState || !isNamed($0.name, "state") }
            let second = effective(items(b)).filter { !ignoringState || !isNamed($0.name, "state") }
            guard first.count == second.count else { return false }
            return first.enumerated().allSatisfy { i, item in
                // Mostly the members stand in the same order.
                let twin = isSame(item.name, second[i].name) ? second[i] : second.first { isSame($0.name, item.name) }
                return twin.map { equal(item.value, $0.value, ignoringState: ignoringState) } ?? false
            }
        case 0x5b:
            let first = elements(a)
            let second = elements(b)
            return first.count == second.count && zip(first, second).allSatisfy { equal($0, $1, ignoringState: ignoringState) }
        default: return false
        }
    }

    /// The members that count: of several copies of a name the last.
    func effective(_ items: [Item]) -> [Item] {
        guard items.count > 1, mayRepeat(items) else { return items }
        return items.indices.filter { i in !items[(i + 1)...].contains { isSame($0.name, items[i].name) } }.map { items[$0] }
    }

    /// Whether a name may stand twice: false is certain. A filter of 256 bits, since all but damaged files have no copies.
    private func mayRepeat(_ items: [Item]) -> Bool {
        var seen: InlineArray<4, UInt64> = [0, 0, 0, 0]
        for (i, item) in items.enumerated() {
            let hash = nameHash(self[item.value.side], item.member)
            let word = Int(hash >> 6 & 3)
            let bit: UInt64 = 1 << (hash & 63)
            if seen[word] & bit != 0, items[..<i].contains(where: { isSame($0.name, item.name) }) { return true }
            seen[word] |= bit
        }
        return false
    }

    /// The members of three objects that have the same names in the same order, as most have; nil for all others.
    /// With `droppingSame` those that stand in the same bytes on all sides are left out.
    private func aligned(_ v: ThreeWay<[Item]>, droppingSame: Bool) -> [(name: Name, values: ThreeWay<Value>)]? {
        guard let b = v.base, let o = v.ours, let t = v.theirs, b.count == o.count, b.count == t.count, let first = o.first else { return nil }
        let (baseBytes, ourBytes, theirBytes) = (self[b[0].side], self[first.side], self[t[0].side])
        for i in o.indices {
            let name = o[i].member.name
            guard ourBytes.equal(name, baseBytes, b[i].member.name), ourBytes.equal(name, theirBytes, t[i].member.name) else { return nil }
        }
        guard o.count == 1 || !mayRepeat(o) else { return nil }
        var out: [(name: Name, values: ThreeWay<Value>)] = []
        for i in o.indices {
            if droppingSame, ourBytes.equal(o[i].member.value, baseBytes, b[i].member.value), ourBytes.equal(o[i].member.value, theirBytes, t[i].member.value) {
                continue
            }
            out.append((o[i].name, ThreeWay(base: b[i].value, ours: o[i].value, theirs: t[i].value)))
        }
        return out
    }

    /// The members of three objects side by side of which something may come: those that stand in the same bytes on all
    /// sides are left out where that is quickly told.
    func differing(_ v: ThreeWay<[Item]>, languages: Bool = false) -> [(name: Name, values: ThreeWay<Value>)] {
        aligned(v, droppingSame: true) ?? paired(v, languages: languages)
    }

    /// The members of three objects side by side, in the order of ours, then what only theirs has, then what only base has.
    func paired(_ v: ThreeWay<Value>, languages: Bool = false) -> [(name: Name, values: ThreeWay<Value>)] {
        paired(
            ThreeWay(base: v.base.map { items($0) }, ours: v.ours.map { items($0, like: v.base) }, theirs: v.theirs.map { items($0, like: v.base) }),
            languages: languages)
    }

    /// The same for members that are at hand.
    func paired(_ v: ThreeWay<[Item]>, languages: Bool = false) -> [(name: Name, values: ThreeWay<Value>)] {
        if let aligned = aligned(v, droppingSame: false) { return aligned }
        let lists = v.map { effective($0) }
        let base = lists.base ?? []
        let ours = lists.ours ?? []
        let theirs = lists.theirs ?? []
        var takenBase = [Bool](repeating: false, count: base.count)
        var takenTheirs = [Bool](repeating: false, count: theirs.count)

        func has(_ list: [Item], _ name: Name) -> Bool { list.contains { isSame($0.name, name) } }
        func twin(of item: Item, near i: Int, in list: [Item], _ taken: inout [Bool], from own: [Item], across: [Item]? = nil) -> Value? {
            if i < list.count, !taken[i], isSame(list[i].name, item.name) {
                taken[i] = true
                return list[i].value
            }
            for (k, other) in list.enumerated() where !taken[k] && isSame(other.name, item.name) {
                taken[k] = true
                return other.value
            }
            guard languages else { return nil }
            // Another spelling of the language, unless that spelling also stands on the side that asks.
            for (k, other) in list.enumerated() where isSameLanguage(other.name, item.name) {
                let isHere = has(own, other.name)
                if let across, has(across, item.name), isHere != has(across, other.name) {
                    // Of the sides that both have the new spelling one has the old one too: for either it comes from there.
                    return other.value
                }
                if isHere || taken[k] { continue }
                taken[k] = true
                return other.value
            }
            return nil
        }
        var out: [(name: Name, values: ThreeWay<Value>)] = []
        out.reserveCapacity(max(ours.count, theirs.count))
        for (i, item) in ours.enumerated() {
            let b = twin(of: item, near: i, in: base, &takenBase, from: ours, across: theirs)
            let t = twin(of: item, near: i, in: theirs, &takenTheirs, from: ours)
            out.append((item.name, ThreeWay(base: b, ours: item.value, theirs: t)))
        }
        for (i, item) in theirs.enumerated() where !takenTheirs[i] {
            let b = twin(of: item, near: i, in: base, &takenBase, from: theirs)
            out.append((item.name, ThreeWay(base: b, ours: nil, theirs: item.value)))
        }
        for (i, item) in base.enumerated() where !takenBase[i] {
            out.append((item.name, ThreeWay(base: item.value, ours: nil, theirs: nil)))
        }
        return out
    }
}

extension [KnownItems] {
    fileprivate subscript(side: Side) -> KnownItems {
        get { self[Int(side.rawValue)] }
        _modify { yield &self[Int(side.rawValue)] }
    }
}

/// An open-addressing table from where an object begins to its members; see ``MemberChanges`` for why it is no dictionary.
private struct KnownItems {
    private var places: [UInt32] = []
    private var items: [[Item]] = []
    private var count = 0
    /// No object begins here.
    private static let free = UInt32.max

    subscript(place: UInt32) -> [Item]? {
        guard count > 0 else { return nil }
        let i = slot(of: place)
        return places[i] == place ? items[i] : nil
    }

    mutating func insert(_ new: [Item], at place: UInt32) {
        if count * 2 >= places.count { grow() }
        let i = slot(of: place)
        if places[i] == KnownItems.free { count += 1 }
        places[i] = place
        items[i] = new
    }

    /// Where the items of a place are, or are to be.
    private func slot(of place: UInt32) -> Int {
        let mask = places.count - 1
        var i = Int(truncatingIfNeeded: UInt64(place) &* 0x9e37_79b9_7f4a_7c15 >> 32) & mask
        while places[i] != place && places[i] != KnownItems.free { i = (i + 1) & mask }
        return i
    }

    private mutating func grow() {
        let (oldPlaces, oldItems) = (places, items)
        places = [UInt32](repeating: KnownItems.free, count: max(64, oldPlaces.count * 2))
        items = [[Item]](repeating: [], count: places.count)
        count = 0
        for (place, items) in zip(oldPlaces, oldItems) where place != KnownItems.free { insert(items, at: place) }
    }
}

/// The form of a language code in which two spellings of one language are equal.
package func languageIdentity(_ code: [UInt8]) -> [UInt8] {
    code.map(languageIdentity)
}

/// Whether two codes are spellings of one language.
package func isSameLanguage(_ a: String, _ b: String) -> Bool { languageIdentity(Array(a.utf8)) == languageIdentity(Array(b.utf8)) }

private func languageIdentity(_ byte: UInt8) -> UInt8 { byte == 0x5f ? 0x2d : byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte }
