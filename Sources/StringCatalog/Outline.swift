/// The members below one object at all depths, as one flat list in the file's order.
///
///     { "a" : { "b" : 1 }, "c" : 2 }      nodes: a (parent -1, end 2), b (parent 0, end 2), c (parent -1, end 3)
///
/// A check looks at every entry of a catalog: an array for each object would cost more than the reading.
struct Outline {
    struct Node {
        var member: Member
        /// The member around this one, or -1.
        let parent: Int
        /// The index behind the last member inside of this one.
        var end: Int
    }

    let bytes: Bytes
    private(set) var nodes: [Node] = []

    init(_ bytes: Bytes) { self.bytes = bytes }

    /// Reads the members of an object that was checked when its document was read; none of any other value.
    mutating func read(_ object: Range<Int>) {
        nodes.removeAll(keepingCapacity: true)
        guard bytes[object.lowerBound] == 0x7b else { return }
        bytes.scanChecked(from: object.lowerBound) { walk(&$0, parent: -1) }
    }

    private mutating func walk(_ scanner: inout Scanner, parent: Int) {
        scanner.position += 1
        scanner.checkedMembers { scanner, member in
            let i = nodes.count
            nodes.append(Node(member: member, parent: parent, end: i + 1))
            if scanner.here == 0x7b { walk(&scanner, parent: i) } else { scanner.checkedValue() }
            member.valueEnd = UInt32(truncatingIfNeeded: scanner.position)
            nodes[i].member = member
            nodes[i].end = nodes.count
        }
    }

    /// The first byte of a value: its kind.
    func kind(_ i: Int) -> UInt8 { bytes[Int(nodes[i].member.valueStart)] }
    func isObject(_ i: Int) -> Bool { kind(i) == 0x7b }
    func isString(_ i: Int) -> Bool { kind(i) == 0x22 }

    func isNamed(_ i: Int, _ text: StaticString) -> Bool { isName(nodes[i].member, text) }

    private func isName(_ member: Member, _ text: StaticString) -> Bool {
        member.isEscaped ? decoded(bytes, member.name).elementsEqual(text.description.utf8) : bytes.equal(member.name, text)
    }

    /// The decoded name of a member.
    func name(_ i: Int) -> String { String(decoding: decoded(bytes, nodes[i].member.name), as: UTF8.self) }

    /// Whether the value is this string.
    func holds(_ i: Int, _ text: StaticString) -> Bool {
        guard isString(i) else { return false }
        let inner = inside(i)
        return bytes.equal(inner, text) || (bytes.contains(0x5c, in: inner) && decoded(bytes, inner).elementsEqual(text.description.utf8))
    }

    /// What stands between the quotes of a string.
    func inside(_ i: Int) -> Range<Int> { Int(nodes[i].member.valueStart) + 1..<Int(nodes[i].member.valueEnd) - 1 }

    /// The decoded UTF-8 of a string.
    func text(_ i: Int) -> [UInt8] { decoded(bytes, inside(i)) }

    /// The members directly inside a member, or (-1) the outermost ones, in their order.
    func children(of i: Int) -> Children {
        Children(nodes: nodes, place: i + 1, end: i < 0 ? nodes.count : nodes[i].end)
    }

    struct Children: Sequence, IteratorProtocol {
        fileprivate let nodes: [Node]
        fileprivate var place: Int
        fileprivate let end: Int

        mutating func next() -> Int? {
            guard place < end else { return nil }
            defer { place = nodes[place].end }
            return place
        }
    }

    /// The member of this name directly inside another: of several copies the last, as JSON readers have it.
    func child(_ i: Int, _ text: StaticString) -> Int? {
        var found: Int?
        for child in children(of: i) where isNamed(child, text) { found = child }
        return found
    }

    /// The names from below `ancestor` to a member, as a leaf's path writes them: `variations.plural.one.stringUnit.value`.
    func path(to i: Int, below ancestor: Int) -> String {
        var names: [String] = []
        var at = i
        while at >= 0, at != ancestor {
            names.append(name(at))
            at = nodes[at].parent
        }
        return names.reversed().joined(separator: ".")
    }
}
