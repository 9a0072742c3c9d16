// A catalog as it was read: its bytes, for ever, and an index of where its members stand.
//
//     {                                   top        sourceLanguage, strings, version
//       "sourceLanguage" : "en",
//       "strings" : {
//         "Cancel" : { … },               entries    one for each key, in the file's order
//         "Done" : { … }
//       },
//       "version" : "1.0"
//     }
//
// An entry's inside is checked when the file is read, but indexed only if a merge has to look into it.

import Synchronization

/// A string catalog: the bytes of one file and the places of its entries.
public struct CatalogDocument: Sendable {
    /// The file, unchanged.
    public let bytes: Bytes
    /// The top-level object, with its braces.
    let root: Range<Int>
    /// The members of the top-level object in the file's order.
    let top: [Member]
    /// The member that `strings` is, or nil where the file has none. The last one counts where there are several.
    let stringsMember: Member?
    /// The entries of `strings` in the file's order, also those that a later copy of their key hides.
    let entries: [Member]
    /// Finds the entry of a key: of several copies the last, as JSON readers and the run time do.
    let table: KeyTable
    /// How the entries relate to those of the document that this one was read beside.
    let alignment: Alignment?

    /// Reads a catalog strictly; nothing of the file is changed or repaired.
    ///
    /// - Parameters:
    ///   - bytes: the file. A byte order mark is allowed and stays.
    ///   - like: a document that probably shares most entries with this one, such as the merge base. What is the same,
    ///     byte for byte, is recognised by comparison instead of being scanned, and a merge need not look at it again.
    ///   - atOnce: where it is given, a large file is read in two halves.
    /// - Throws: the first fault, with its line and column.
    public init(
        parsing bytes: Bytes, limits: CatalogLimits = .standard, like: CatalogDocument? = nil, atOnce: AtOnce? = nil
    ) throws(CatalogError) {
        guard bytes.count <= limits.bytesMax else { throw CatalogError(.tooLarge(limit: limits.bytesMax), at: 0, in: bytes) }
        var top: [Member] = []
        var entries = EntryIndex(like: like, bytes: bytes)
        var stringsAt: Int?
        let mark = bytes.count >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf ? 3 : 0
        var rootStart = 0
        var rootEnd = 0
        try bytes.scan(from: mark, depthMax: limits.depthMax) { (scanner) throws(CatalogError) in
            scanner.skipSpace()
            guard scanner.position < scanner.count else { throw CatalogError(.empty, at: 0, in: bytes) }
            rootStart = scanner.position
            try scanner.expect(0x7b, "'{' at the start of a catalog")
            try scanner.members { (scanner, member) throws(CatalogError) in
                let isStrings = hasName(bytes, member, "strings")
                if isStrings {
                    guard scanner.here == 0x7b else {
                        throw CatalogError(.notACatalog("\"strings\" is not an object"), at: scanner.position, in: bytes)
                    }
                    entries = EntryIndex(like: like, bytes: bytes)
                    stringsAt = top.count
                    scanner.position += 1
                    try entries.read(&scanner, atOnce)
                } else {
                    try scanner.value()
                }
                member.valueEnd = UInt32(truncatingIfNeeded: scanner.position)
                top.append(member)
            }
            rootEnd = scanner.position
            scanner.skipSpace()
            guard scanner.position == scanner.count else {
                let fault = scanner.unexpected("the end of the file")
                throw fault.fault == .conflictMarker ? fault : CatalogError(.trailingText, at: scanner.position, in: bytes)
            }
        }
        self.bytes = bytes
        root = rootStart..<rootEnd
        self.top = top
        stringsMember = stringsAt.map { top[$0] }
        self.entries = entries.members
        table = entries.table
        alignment = entries.alignment
    }

    /// The catalog `{}`.
    init() {
        bytes = Bytes(Array("{}".utf8))
        root = 0..<2
        top = []
        stringsMember = nil
        entries = []
        table = KeyTable(capacity: 0)
        alignment = nil
    }

    /// The entry of a key, given by a member of any document.
    func entry(named member: Member, in other: Bytes) -> Int? {
        table.find(other, member, hash: nameHash(other, member), in: bytes, entries).map(Int.init)
    }

    /// The members of the top level, as those of the document on a side.
    func topItems(_ side: Side) -> [Item] {
        top.map { Item(side, $0) }
    }

    /// The last member of this name at the top level.
    func topMember(_ name: StaticString) -> Member? {
        top.last { hasName(bytes, $0, name) }
    }

    /// The decoded value of `sourceLanguage`, or nil where the file does not say.
    public var sourceLanguage: String? {
        guard let member = topMember("sourceLanguage"), bytes[Int(member.valueStart)] == 0x22 else { return nil }
        return String(decoding: decoded(bytes, Int(member.valueStart) + 1..<Int(member.valueEnd) - 1), as: UTF8.self)
    }

    /// How many keys the catalog has; copies of a key count once.
    public var keyCount: Int { table.count }

    /// Whether a key stands twice.
    public var hasDuplicates: Bool { table.count < entries.count }

    /// The entries that a later copy of their key hides.
    var duplicateEntries: [Int] {
        guard hasDuplicates else { return [] }
        var seen = KeyTable(capacity: entries.count)
        var hidden: [Int] = []
        for i in entries.indices.reversed() {
            let hash = nameHash(bytes, entries[i])
            if seen.find(bytes, entries[i], hash: hash, in: bytes, entries) != nil {
                hidden.append(i)
            } else {
                seen.insert(Int32(i), hash: hash, bytes, entries)
            }
        }
        return hidden.reversed()
    }
}

/// Runs two pieces of work at once, the first on the calling thread and the second on another; returns when both are done.
public typealias AtOnce = (_ here: () -> Void, _ there: @escaping @Sendable () -> Void) -> Void

/// The entries of `strings` while they are read.
private struct EntryIndex {
    let bytes: Bytes
    let like: CatalogDocument?
    var members: [Member] = []
    var table: KeyTable
    var alignment: Alignment?
    private var layouts = Layouts()
    /// The entry of `like` that comes next if the two go on alike.
    private var next = 0

    init(like: CatalogDocument?, bytes: Bytes) {
        self.bytes = bytes
        self.like = like
        members.reserveCapacity(like?.entries.count ?? bytes.count / 2048)
        table = KeyTable(capacity: like?.entries.count ?? 64)
        alignment = like.map { Alignment(count: $0.entries.count, reference: $0.bytes) }
    }

    /// Reads the entries of `strings`, whose brace is behind.
    mutating func read(_ scanner: inout Scanner, _ atOnce: AtOnce?) throws(CatalogError) {
        let halvedBytesMin = 4 << 20
        guard like == nil, let atOnce, bytes.count >= halvedBytesMin, let stop = scanner.laterMember() else {
            if like == nil { scanner.checkUTF8(upTo: bytes.count) }
            try scanner.members { (scanner, member) throws(CatalogError) in try entry(&scanner, &member) }
            return
        }
        // What looks like the beginning of an entry in the middle of the file is taken for one. If the first half comes to
        // stand just there, it was. If not, or if there is a fault behind it, that is found out in its turn.
        let bytes = bytes
        let depthMax = scanner.depthMax
        let from = scanner.position
        var first: Result<Half, CatalogError>?
        let second = Mutex<Result<Half, CatalogError>?>(nil)
        atOnce {
            first = Half.read(bytes, from: from, until: stop, depthMax: depthMax)
        } _: {
            let half = Half.read(bytes, from: stop, until: .max, depthMax: depthMax)
            second.withLock { $0 = half }
        }
        try take(first!.get(), &scanner)
        guard scanner.position == stop else { return }
        if case .success(let half)? = second.withLock({ $0 }) { return take(half, &scanner) }
        try scanner.members { (scanner, member) throws(CatalogError) in try entry(&scanner, &member) }
    }

    private mutating func take(_ half: Half, _ scanner: inout Scanner) {
        for (member, hash) in zip(half.members, half.hashes) {
            members.append(member)
            table.insert(Int32(truncatingIfNeeded: members.count - 1), hash: hash, bytes, members)
        }
        scanner.position = half.end
    }

    /// Reads one entry, whose value is here. It is first held against the entry of `like` that comes next.
    @inline(__always)
    private mutating func entry(_ scanner: inout Scanner, _ member: inout Member) throws(CatalogError) {
        let index = Int32(truncatingIfNeeded: members.count)
        let hash = nameHash(bytes, member)
        if let like {
            var twin = -1
            if next < like.entries.count, !like.hasDuplicates, sameName(bytes, member, like.bytes, like.entries[next]) {
                twin = next
            } else {
                twin = like.table.find(bytes, member, hash: hash, in: like.bytes, like.entries).map(Int.init) ?? -1
            }
            if twin >= 0 {
                next = twin + 1
                let other = like.entries[twin]
                // A number could go on behind the range that was compared; no entry is one, but a damaged file may hold it.
                let last = like.bytes[Int(other.valueEnd) - 1]
                let isClosed = last == 0x7d || last == 0x5d || last == 0x22
                let same = isClosed && scanner.matches(other.value, of: like.bytes, at: scanner.position)
                if same { scanner.position += other.value.count } else { try scanner.entry(&layouts) }
                alignment!.set(twin, entry: index, isSame: same)
            } else {
                try scanner.entry(&layouts)
                alignment!.added.append(index)
            }
        } else {
            try scanner.entry(&layouts)
        }
        member.valueEnd = UInt32(truncatingIfNeeded: scanner.position)
        members.append(member)
        table.insert(index, hash: hash, bytes, members)
    }

    /// The entries of one half of a file.
    private struct Half {
        var members: [Member] = []
        var hashes: [UInt64] = []
        /// Behind the brace that closes `strings`, or where reading stopped.
        var end = 0

        static func read(_ bytes: Bytes, from: Int, until stop: Int, depthMax: Int) -> Result<Half, CatalogError> {
            do throws(CatalogError) {
                var half = Half()
                half.members.reserveCapacity(bytes.count / 4096)
                half.hashes.reserveCapacity(bytes.count / 4096)
                var layouts = Layouts()
                try bytes.scan(from: from, depthMax: depthMax) { (scanner) throws(CatalogError) in
                    scanner.checkUTF8(upTo: min(stop, bytes.count))
                    try scanner.members(until: stop) { (scanner, member) throws(CatalogError) in
                        try scanner.entry(&layouts)
                        member.valueEnd = UInt32(truncatingIfNeeded: scanner.position)
                        half.members.append(member)
                        half.hashes.append(nameHash(bytes, member))
                    }
                    half.end = scanner.position
                }
                return .success(half)
            } catch { return .failure(error) }
        }
    }
}

/// How the entries of one document correspond to those of another, its reference.
struct Alignment: Sendable {
    /// The bytes of the reference: an alignment speaks of this document only.
    let reference: Bytes
    /// For each entry of the reference, the entry of the same key here, or -1.
    private(set) var entry: [Int32]
    /// For each entry of the reference, whether the value here is the same byte for byte.
    private(set) var isSame: [Bool]
    /// The entries here whose key the reference lacks, in order; copies of one key all stand here.
    var added: [Int32] = []
    /// Entries here that a later copy of their key hides.
    private(set) var hidden: [Int32] = []

    init(count: Int, reference: Bytes) {
        self.reference = reference
        entry = [Int32](repeating: -1, count: count)
        isSame = [Bool](repeating: false, count: count)
    }

    mutating func reset() { self = Alignment(count: entry.count, reference: reference) }

    mutating func set(_ index: Int, entry new: Int32, isSame same: Bool) {
        if entry[index] >= 0 { hidden.append(entry[index]) }
        entry[index] = new
        isSame[index] = same
    }
}

/// An open-addressing table from a key to the last entry that has it.
struct KeyTable: Sendable {
    private var slots: [Int32]
    /// How many different keys there are.
    private(set) var count = 0

    init(capacity: Int) {
        var size = 16
        while size < capacity * 2 { size *= 2 }
        slots = [Int32](repeating: -1, count: size)
    }

    func find(_ bytes: Bytes, _ member: Member, hash: UInt64, in owner: Bytes, _ entries: [Member]) -> Int32? {
        let mask = slots.count - 1
        var i = Int(truncatingIfNeeded: hash) & mask
        while slots[i] >= 0 {
            if sameName(bytes, member, owner, entries[Int(slots[i])]) { return slots[i] }
            i = (i + 1) & mask
        }
        return nil
    }

    /// Puts an entry in; it takes the place of an earlier one of the same key.
    mutating func insert(_ index: Int32, hash: UInt64, _ bytes: Bytes, _ entries: [Member]) {
        if count * 2 >= slots.count { grow(bytes, entries) }
        let mask = slots.count - 1
        var i = Int(truncatingIfNeeded: hash) & mask
        while slots[i] >= 0 {
            if sameName(bytes, entries[Int(index)], bytes, entries[Int(slots[i])]) {
                slots[i] = index
                return
            }
            i = (i + 1) & mask
        }
        slots[i] = index
        count += 1
    }

    private mutating func grow(_ bytes: Bytes, _ entries: [Member]) {
        let old = slots
        slots = [Int32](repeating: -1, count: old.count * 2)
        let mask = slots.count - 1
        for index in old where index >= 0 {
            var i = Int(truncatingIfNeeded: nameHash(bytes, entries[Int(index)])) & mask
            while slots[i] >= 0 { i = (i + 1) & mask }
            slots[i] = index
        }
    }
}

/// Whether two members have the same name: the same decoded string, scalar by scalar.
@inline(__always)
func sameName(_ a: Bytes, _ x: Member, _ b: Bytes, _ y: Member) -> Bool {
    if a.equal(x.name, b, y.name) { return true }
    guard x.isEscaped || y.isEscaped else { return false }
    return decoded(a, x.name) == decoded(b, y.name)
}

/// Whether a member has this name, also where it is written with escapes.
func hasName(_ bytes: Bytes, _ member: Member, _ name: StaticString) -> Bool {
    member.isEscaped ? decoded(bytes, member.name).elementsEqual(name.description.utf8) : bytes.equal(member.name, name)
}

/// A hash of a member's name that does not depend on how it is escaped.
@inline(__always)
func nameHash(_ bytes: Bytes, _ member: Member) -> UInt64 {
    guard member.isEscaped else { return bytes.hash(member.name) }
    let name = Bytes(decoded(bytes, member.name))
    return name.hash(0..<name.count)
}

/// The UTF-8 of a string whose quotes stand just outside of `range`. Half of a surrogate pair, which UTF-8 cannot
/// hold, becomes its three-byte form, so that it still differs from everything else.
func decoded(_ bytes: Bytes, _ range: Range<Int>) -> [UInt8] {
    guard bytes.contains(0x5c, in: range) else { return bytes.array(range) }
    var out: [UInt8] = []
    out.reserveCapacity(range.count)
    var i = range.lowerBound
    func unit(_ at: Int) -> UInt32 { (0..<4).reduce(0) { $0 << 4 | (hexDigit(bytes[at + $1]) ?? 0) } }
    while i < range.upperBound {
        let byte = bytes[i]
        guard byte == 0x5c else {
            out.append(byte)
            i += 1
            continue
        }
        let kind = bytes[i + 1]
        i += 2
        switch kind {
        case 0x62: out.append(8)
        case 0x66: out.append(12)
        case 0x6e: out.append(10)
        case 0x72: out.append(13)
        case 0x74: out.append(9)
        case 0x75:
            var scalar = unit(i)
            i += 4
            if scalar >= 0xd800, scalar < 0xdc00, i + 6 <= range.upperBound, bytes[i] == 0x5c, bytes[i + 1] == 0x75 {
                let low = unit(i + 2)
                if low >= 0xdc00, low < 0xe000 {
                    scalar = 0x10000 + (scalar - 0xd800) << 10 + (low - 0xdc00)
                    i += 6
                }
            }
            switch scalar {
            case 0..<0x80: out.append(UInt8(scalar))
            case 0..<0x800: out += [UInt8(0xc0 | scalar >> 6), UInt8(0x80 | scalar & 0x3f)]
            case 0..<0x10000: out += [UInt8(0xe0 | scalar >> 12), UInt8(0x80 | scalar >> 6 & 0x3f), UInt8(0x80 | scalar & 0x3f)]
            default:
                out += [UInt8(0xf0 | scalar >> 18), UInt8(0x80 | scalar >> 12 & 0x3f), UInt8(0x80 | scalar >> 6 & 0x3f), UInt8(0x80 | scalar & 0x3f)]
            }
        default: out.append(kind)
        }
    }
    return out
}
