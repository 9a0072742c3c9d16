// The one file of this module that holds pointers. Everything above it speaks in offsets, which are checked here.
// Why pointers: a catalog of 10 MB is read in milliseconds only without bounds checks, and without a copy of the input.
//
// What keeps it sound: `Bytes` owns its memory for as long as it lives and never changes it; a `Scanner` lives inside
// one call and keeps `position <= count`; each read is behind a comparison with `count`.

import CScan

/// Immutable bytes with one owner: a file's contents, a blob, an output.
///
/// Sendable because nothing changes after `init`; the memory is given back once, by `deinit`.
@safe public final class Bytes: @unchecked Sendable {
    fileprivate let start: UnsafePointer<UInt8>
    /// How many bytes there are.
    public let count: Int
    private let release: () -> Void

    /// Copies an array.
    public convenience init(_ array: [UInt8]) {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(array.count, 1))
        _ = unsafe copy.initialize(from: array)
        unsafe self.init(borrowing: UnsafePointer(copy.baseAddress!), count: array.count) { unsafe copy.deallocate() }
    }

    /// Copies a span.
    public convenience init(_ span: RawSpan) {
        unsafe self.init(count: span.byteCount) { fresh in
            unsafe span.withUnsafeBytes { bytes in unsafe UnsafeMutableRawBufferPointer(fresh).copyMemory(from: bytes) }
        }
    }

    /// Takes `count` bytes over that `initialize` writes: no copy.
    public convenience init(count: Int, initialize: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
        guard let fresh = unsafe concord_allocate(count) else { fatalError("no memory for \(count) bytes") }
        let bytes = unsafe fresh.assumingMemoryBound(to: UInt8.self)
        unsafe initialize(UnsafeMutableBufferPointer(start: bytes, count: count))
        unsafe self.init(borrowing: UnsafePointer(bytes), count: count) { unsafe free(fresh) }
    }

    /// Borrows memory that stays valid and unchanged until `release` is called, which happens once.
    public init(borrowing start: UnsafePointer<UInt8>, count: Int, release: @escaping () -> Void) {
        unsafe self.start = start
        self.count = count
        self.release = release
    }

    deinit { release() }

    /// The byte at an offset below `count`.
    public subscript(_ offset: Int) -> UInt8 {
        precondition(offset >= 0 && offset < count)
        return unsafe start[offset]
    }

    /// A copy of a range.
    public func array(_ range: Range<Int>) -> [UInt8] {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return unsafe [UInt8](UnsafeBufferPointer(start: start + range.lowerBound, count: range.count))
    }

    /// A copy of all bytes.
    public var array: [UInt8] { array(0..<count) }

    /// A range as text; what is not UTF-8 becomes U+FFFD.
    func string(_ range: Range<Int>) -> String {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return unsafe String(decoding: UnsafeBufferPointer(start: start + range.lowerBound, count: range.count), as: UTF8.self)
    }

    /// Calls `body` with all bytes.
    public func withSpan<R, Failure: Error>(_ body: (RawSpan) throws(Failure) -> R) throws(Failure) -> R {
        try unsafe body(RawSpan(_unsafeStart: UnsafeRawPointer(start), byteCount: count))
    }

    /// Calls `body` with the memory, which is valid during the call only.
    public func withUnsafeBytes<R>(_ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
        try unsafe body(UnsafeBufferPointer(start: start, count: count))
    }

    /// Whether two ranges hold the same bytes.
    @inline(__always)
    func equal(_ range: Range<Int>, _ other: Bytes, _ otherRange: Range<Int>) -> Bool {
        guard range.count == otherRange.count else { return false }
        precondition(range.lowerBound >= 0 && range.upperBound <= count && otherRange.lowerBound >= 0 && otherRange.upperBound <= other.count)
        return unsafe memcmp(start + range.lowerBound, other.start + otherRange.lowerBound, range.count) == 0
    }

    /// How many bytes two ranges have in common at their beginning.
    func common(_ range: Range<Int>, _ other: Bytes, _ otherRange: Range<Int>) -> Int {
        precondition(range.lowerBound >= 0 && range.upperBound <= count && otherRange.lowerBound >= 0 && otherRange.upperBound <= other.count)
        return unsafe concord_common(start + range.lowerBound, other.start + otherRange.lowerBound, min(range.count, otherRange.count))
    }

    /// Where the string ends whose opening quote is at `offset`: behind the closing one. For bytes that were checked before.
    func endOfString(_ offset: Int) -> Int {
        precondition(offset >= 0 && offset < count)
        var high = false
        var i = offset + 1
        while true {
            unsafe i = concord_string_stop(start, i, count, &high)
            guard i < count, unsafe start[i] == 0x5c else { return min(i + 1, count) }
            i += 2
        }
    }

    /// Whether the range holds exactly this ASCII text.
    @inline(__always)
    func equal(_ range: Range<Int>, _ text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return unsafe memcmp(start + range.lowerBound, text.utf8Start, range.count) == 0
    }

    /// A hash of a range.
    @inline(__always)
    func hash(_ range: Range<Int>) -> UInt64 {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return unsafe concord_hash(start + range.lowerBound, range.count)
    }

    /// Where white space that begins at `offset` ends.
    func endOfSpace(_ offset: Int) -> Int {
        precondition(offset >= 0 && offset <= count)
        return unsafe concord_space_stop(start, offset, count)
    }

    /// Where a byte stands first in a range.
    func first(_ byte: UInt8, in range: Range<Int>) -> Int? {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return unsafe memchr(start + range.lowerBound, Int32(byte), range.count).map { unsafe UnsafePointer($0.assumingMemoryBound(to: UInt8.self)) - start }
    }

    /// Whether a byte stands in a range.
    func contains(_ byte: UInt8, in range: Range<Int>) -> Bool { first(byte, in: range) != nil }

    /// Which escapes the first 256 KiB hold: `\/`, `\u`; and whether anything stands raw there that is not ASCII.
    var escapes: (slash: Bool, unicode: Bool, nonASCII: Bool) {
        var found = (slash: false, unicode: false, nonASCII: false)
        var high = false
        var i = 0
        let count = min(count, 256 << 10)
        while i < count {
            guard let at = first(0x5c, in: i..<count) else { break }
            i = at
            if i + 1 < count {
                if unsafe start[i + 1] == 0x2f { found.slash = true }
                if unsafe start[i + 1] == 0x75 { found.unicode = true }
            }
            i += 2
        }
        i = 0
        while found.unicode, i < count, !high {
            i = unsafe concord_string_stop(start, i, count, &high) + 1
        }
        found.nonASCII = high
        return found
    }

    /// Line and column of an offset; see ``CatalogError``.
    func lineAndColumn(of offset: Int) -> (line: Int, column: Int) {
        var line = 1
        var column = 1
        // A byte order mark is no column: editors do not show it.
        var i = count >= 3 && self[0] == 0xef && self[1] == 0xbb && self[2] == 0xbf ? 3 : 0
        while i < min(offset, count) {
            let byte = self[i]
            if byte == 10 || (byte == 13 && !(i + 1 < count && self[i + 1] == 10)) {
                line += 1
                column = 1
            } else if byte & 0xc0 != 0x80 && byte != 13 {
                column += 1
            }
            i += 1
        }
        return (line, column)
    }

    /// Reads with a scanner that begins at `offset`.
    @inline(__always)
    func scan<R>(from offset: Int, depthMax: Int = 63, _ body: (inout Scanner) throws(CatalogError) -> R) throws(CatalogError) -> R {
        precondition(offset >= 0 && offset <= count)
        var scanner = unsafe Scanner(bytes: self, start: start, count: count, position: offset, depthMax: depthMax)
        return try body(&scanner)
    }
}

extension Bytes {
    /// Reads again what was checked when the document was read; nothing can be thrown.
    @inline(__always)
    func scanChecked(from offset: Int, _ body: (inout Scanner) -> Void) {
        precondition(offset >= 0 && offset <= count)
        var scanner = unsafe Scanner(bytes: self, start: start, count: count, position: offset, depthMax: 63, isUTF8: true)
        body(&scanner)
    }
}

extension CatalogPieces {
    /// Calls `body` with the memory of the pieces, for a gathering write; it is valid during the call only.
    public func withUnsafeBuffers<R>(_ body: ([UnsafeRawBufferPointer]) throws -> R) rethrows -> R {
        try unsafe body(runs.map { run in
            let bytes = bytes(of: run)
            precondition(run.start >= 0 && run.start <= run.end && run.end <= bytes.count)
            return unsafe UnsafeRawBufferPointer(start: bytes.start + run.start, count: run.range.count)
        })
    }

    /// Puts the pieces together in memory, in the `room` for them where that is enough.
    func gathered(in room: Room? = nil) -> Bytes {
        let count = count
        return unsafe withUnsafeBuffers { buffers in
            let fill: (UnsafeMutableBufferPointer<UInt8>) -> Void = { out in
                var at = 0
                for unsafe buffer in unsafe buffers where unsafe !buffer.isEmpty {
                    unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(out)[at..<at + buffer.count]).copyMemory(from: buffer)
                    at += buffer.count
                }
                precondition(at == count)
            }
            return unsafe room?.bytes(count: count, initialize: fill) ?? Bytes(count: count, initialize: fill)
        }
    }
}

/// Memory in which an output is going to be put together, made ready beforehand: asking for it page by page takes as long as
/// the copying. Sendable because nobody touches it between `init` and `bytes`, which is called once at most.
@safe final class Room: @unchecked Sendable {
    private let start: UnsafeMutablePointer<UInt8>
    private let capacity: Int

    /// An output may be so much longer than what its sides let expect.
    static let spareBytes = 64 << 10

    init?(capacity: Int) {
        guard let fresh = unsafe concord_allocate(capacity) else { return nil }
        unsafe start = fresh.assumingMemoryBound(to: UInt8.self)
        self.capacity = capacity
        let pageBytes = 4096
        for at in stride(from: 0, to: capacity, by: pageBytes) { unsafe start[at] = 0 }
    }

    deinit { unsafe free(start) }

    /// The first `count` bytes, which `initialize` writes; nil where there are not so many.
    func bytes(count: Int, initialize: (UnsafeMutableBufferPointer<UInt8>) -> Void) -> Bytes? {
        guard count <= capacity else { return nil }
        unsafe initialize(UnsafeMutableBufferPointer(start: start, count: count))
        return unsafe Bytes(borrowing: UnsafePointer(start), count: count) { withExtendedLifetime(self) {} }
    }
}

/// The place of one member of an object: `"name" : value`. Offsets are into the bytes that the member was read from.
struct Member {
    /// After the opening quote of the name.
    var nameStart: UInt32
    /// At the closing quote of the name.
    var nameEnd: UInt32
    var valueStart: UInt32
    var valueEnd: UInt32
    /// Whether the name holds a backslash: then its identity is its decoded form.
    var isEscaped: Bool

    var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
    var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
    /// From the opening quote of the name to the end of the value.
    var whole: Range<Int> { Int(nameStart) - 1..<Int(valueEnd) }
}

/// A strict reader of JSON (RFC 8259) that stands at one place and checks all that it passes. It builds nothing.
@safe struct Scanner: ~Copyable {
    let bytes: Bytes
    private let start: UnsafePointer<UInt8>
    let count: Int
    var position: Int
    let depthMax: Int
    /// Whether the bytes that are going to be read are known to be UTF-8.
    private(set) var isUTF8 = false

    fileprivate init(bytes: Bytes, start: UnsafePointer<UInt8>, count: Int, position: Int, depthMax: Int, isUTF8: Bool = false) {
        self.isUTF8 = isUTF8
        self.bytes = bytes
        unsafe self.start = start
        self.count = count
        self.position = position
        self.depthMax = depthMax
    }

    /// Looks at once whether all bytes from here to `end` are UTF-8. If not, the string that is not is found when it is read.
    mutating func checkUTF8(upTo end: Int) {
        isUTF8 = unsafe concord_is_utf8(start + position, end - position)
    }

    @inline(__always)
    mutating func skipSpace() {
        unsafe position = concord_space_stop(start, position, count)
    }

    /// The byte here, or 0 at the end: no byte of the grammar is 0.
    @inline(__always)
    var here: UInt8 { position < count ? unsafe start[position] : 0 }

    /// Passes one byte of the grammar, or says what was expected.
    @inline(__always)
    mutating func expect(_ byte: UInt8, _ what: @autoclosure () -> String) throws(CatalogError) {
        guard here == byte else { throw unexpected(what()) }
        position += 1
    }

    /// The fault at this place.
    func unexpected(_ what: String) -> CatalogError {
        if position >= count { return CatalogError(.expected(what + ", but the file ends here"), at: count, in: bytes) }
        if isConflictMarker { return CatalogError(.conflictMarker, at: position, in: bytes) }
        if unsafe here >= 0x80 && concord_utf8_stop(start, position, min(position + 4, count)) == position {
            return CatalogError(.badUTF8, at: position, in: bytes)
        }
        return CatalogError(.expected(what + ", found " + shown), at: position, in: bytes)
    }

    /// What stands here, for a message.
    private var shown: String {
        switch here {
        case 0..<0x20, 0x7f: return "a control character"
        case 0x21...0x7e: return "'\(Character(Unicode.Scalar(here)))'"
        default:
            var end = position + 1
            while end < count, unsafe start[end] & 0xc0 == 0x80 { end += 1 }
            return "'\(bytes.string(position..<end))'"
        }
    }

    /// Whether a line of a conflict (`<<<<<<<`, `|||||||`, `=======`, `>>>>>>>`) begins here.
    private var isConflictMarker: Bool {
        let byte = here
        guard byte == 0x3c || byte == 0x7c || byte == 0x3d || byte == 0x3e, position + 7 <= count else { return false }
        guard position == 0 || bytes[position - 1] == 10 || bytes[position - 1] == 13 else { return false }
        for i in 1..<7 where unsafe start[position + i] != byte { return false }
        return true
    }

    /// Passes a string whose opening quote is here; returns whether it holds an escape.
    @inline(__always)
    mutating func string() throws(CatalogError) -> Bool {
        var high = false
        let stop = unsafe concord_string_stop(start, position + 1, count, &high)
        if !high, stop < count, unsafe start[stop] == 0x22 {
            position = stop + 1
            return false
        }
        return try uncommonString(stop, high)
    }

    /// The same for a string with something else than ASCII in it: `stop` is where the first look at it ended.
    @inline(never)
    private mutating func uncommonString(_ stop: Int, _ high: Bool) throws(CatalogError) -> Bool {
        let opening = position
        var i = stop
        var high = high
        var escaped = false
        while true {
            guard i < count else { throw CatalogError(.unterminatedString, at: opening, in: bytes) }
            let byte = unsafe start[i]
            if byte == 0x22 { break }
            guard byte == 0x5c else { throw CatalogError(.controlCharacter(byte), at: i, in: bytes) }
            escaped = true
            i = try escape(at: i)
            i = unsafe concord_string_stop(start, i, count, &high)
        }
        if high, !isUTF8 {
            let stop = unsafe concord_utf8_stop(start, opening + 1, i)
            guard stop == i else { throw CatalogError(.badUTF8, at: stop, in: bytes) }
        }
        position = i + 1
        return escaped
    }

    /// The place after the escape at `i`.
    private func escape(at i: Int) throws(CatalogError) -> Int {
        guard i + 1 < count else { throw CatalogError(.badEscape, at: i, in: bytes) }
        switch unsafe start[i + 1] {
        case 0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74:
            return i + 2
        case 0x75:
            guard i + 6 <= count else { throw CatalogError(.badEscape, at: i, in: bytes) }
            for k in 2..<6 where hexDigit(unsafe start[i + k]) == nil { throw CatalogError(.badEscape, at: i, in: bytes) }
            return i + 6
        default:
            throw CatalogError(.badEscape, at: i, in: bytes)
        }
    }

    /// Passes an entry's value. Its localizations mostly look alike: each is held against the layouts seen before.
    mutating func entry(_ layouts: inout Layouts) throws(CatalogError) {
        guard here == 0x7b else { return try value() }
        position += 1
        try members { (scanner, member) throws(CatalogError) in
            guard scanner.here == 0x7b, scanner.bytes.equal(member.name, "localizations") else { return try scanner.value(depth: 1) }
            scanner.position += 1
            try scanner.members { (scanner, _) throws(CatalogError) in
                if scanner.passes(&layouts) { return }
                let from = scanner.position
                try scanner.value(depth: 2)
                layouts.note(from..<scanner.position, in: scanner.bytes)
            }
        }
    }

    /// Passes a value that is laid out like an earlier one, and tells whether it did. Head and tail of the earlier one were
    /// checked, and one string may stand for another: what matches is as well formed as that was.
    @inline(__always)
    mutating func passes(_ layouts: inout Layouts) -> Bool {
        next: for k in 0..<layouts.count {
            let head = layouts.piece(0, of: k)
            guard matches(head, of: bytes, at: position) else { continue }
            var high = false
            var at = position + head.count
            for i in 1..<layouts.pieces(of: k) {
                unsafe at = concord_string_stop(start, at, count, &high)
                while at + 1 < count, unsafe start[at] == 0x5c {
                    // Escapes that name one character; for others the strict reader has the word.
                    guard unsafe isPlainEscape(start[at + 1]) else { return false }
                    unsafe at = concord_string_stop(start, at + 2, count, &high)
                }
                let piece = layouts.piece(i, of: k)
                guard at < count, unsafe start[at] == 0x22, matches(piece, of: bytes, at: at) else { continue next }
                at += piece.count
            }
            if high, !isUTF8, unsafe concord_utf8_stop(start, position, at) != at { return false }
            position = at
            if k > 0 { layouts.raise(k) }
            return true
        }
        return false
    }

    /// Passes one value of any kind; `depth` is how deep it stands already.
    mutating func value(depth outer: Int = 0) throws(CatalogError) {
        // The loop that a whole catalog goes through: its place is kept in a local, and strings of ASCII, white space and
        // brackets are dealt with here. Whatever is rarer, and every fault, goes through the functions below.
        let start = unsafe self.start
        let count = self.count
        var i = position
        // One bit for each open container: 1 = object. The depth is bounded by the width of the word.
        var objects: UInt64 = 0
        var depth = 0
        let depthMax = self.depthMax - outer
        @inline(__always) func byte() -> UInt8 { i < count ? unsafe start[i] : 0 }
        @inline(__always) func space() { unsafe i = concord_space_stop(start, i, count) }
        while true {
            // A value begins here.
            var isOpen = false
            switch byte() {
            case 0x22:
                var high = false
                let stop = unsafe concord_string_stop(start, i + 1, count, &high)
                if !high, stop < count, unsafe start[stop] == 0x22 {
                    i = stop + 1
                } else {
                    position = i
                    _ = try uncommonString(stop, high)
                    i = position
                }
            case 0x7b, 0x5b:
                let isObject = unsafe start[i] == 0x7b
                depth += 1
                guard depth <= depthMax else { throw CatalogError(.tooDeep(limit: self.depthMax), at: i, in: bytes) }
                objects = objects << 1 | (isObject ? 1 : 0)
                i += 1
                space()
                if byte() == (isObject ? 0x7d : 0x5d) {
                    i += 1
                    depth -= 1
                    objects >>= 1
                } else {
                    isOpen = true
                }
            default:
                position = i
                try scalar()
                i = position
            }
            if !isOpen {
                // A value has ended here: close what ends with it, or go on with the next member.
                while true {
                    if depth == 0 {
                        position = i
                        return
                    }
                    space()
                    if byte() == 0x2c {
                        i += 1
                        space()
                        break
                    }
                    guard byte() == (objects & 1 == 1 ? 0x7d : 0x5d) else {
                        position = i
                        throw unexpected(objects & 1 == 1 ? "',' or '}'" : "',' or ']'")
                    }
                    i += 1
                    depth -= 1
                    objects >>= 1
                }
            }
            guard objects & 1 == 1 else { continue }
            // A member's name and colon.
            guard byte() == 0x22 else {
                position = i
                throw unexpected("a name in double quotes")
            }
            var high = false
            let stop = unsafe concord_string_stop(start, i + 1, count, &high)
            if !high, stop < count, unsafe start[stop] == 0x22 {
                i = stop + 1
            } else {
                position = i
                _ = try uncommonString(stop, high)
                i = position
            }
            space()
            guard byte() == 0x3a else {
                position = i
                throw unexpected("':' after a name")
            }
            i += 1
            space()
        }
    }

    /// Passes a number or a word.
    @inline(never)
    private mutating func scalar() throws(CatalogError) {
        switch here {
        case 0x74: try word("true")
        case 0x66: try word("false")
        case 0x6e: try word("null")
        case 0x2d, 0x30...0x39: try number()
        default: throw unexpected("a value")
        }
    }

    /// Passes one value of bytes that were checked before: only quotes and brackets are looked for.
    mutating func checkedValue() {
        var depth = 0
        var high = false
        while position < count {
            switch unsafe start[position] {
            case 0x22:
                position += 1
                while true {
                    unsafe position = concord_string_stop(start, position, count, &high)
                    guard position < count, unsafe start[position] == 0x5c else { break }
                    position += 2
                }
                position += 1
                if depth == 0 { return }
            case 0x7b, 0x5b:
                depth += 1
                position += 1
            case 0x7d, 0x5d:
                if depth == 0 { return }
                depth -= 1
                position += 1
                if depth == 0 { return }
            case 0x2c:
                if depth == 0 { return }
                position += 1
            case 0x20, 0x0a, 0x0d, 0x09:
                if depth == 0 { return }
                skipSpace()
            default:
                position += 1
            }
        }
    }

    private mutating func word(_ text: StaticString) throws(CatalogError) {
        let end = position + text.utf8CodeUnitCount
        guard end <= count, bytes.equal(position..<end, text) else { throw unexpected("a value") }
        position = end
    }

    private mutating func number() throws(CatalogError) {
        let first = position
        func digits(_ i: inout Int) -> Bool {
            let before = i
            while i < count, unsafe start[i] >= 0x30, unsafe start[i] <= 0x39 { i += 1 }
            return i > before
        }
        var i = position
        if unsafe start[i] == 0x2d { i += 1 }
        let leading = i
        guard digits(&i) else { throw CatalogError(.badNumber, at: first, in: bytes) }
        if unsafe start[leading] == 0x30 && i > leading + 1 { throw CatalogError(.badNumber, at: first, in: bytes) }
        if i < count, unsafe start[i] == 0x2e {
            i += 1
            guard digits(&i) else { throw CatalogError(.badNumber, at: first, in: bytes) }
        }
        if i < count, unsafe start[i] | 0x20 == 0x65 {
            i += 1
            if i < count, unsafe start[i] == 0x2b || start[i] == 0x2d { i += 1 }
            guard digits(&i) else { throw CatalogError(.badNumber, at: first, in: bytes) }
        }
        position = i
    }

    /// Passes the object that is open here (its brace is behind), calling `body` at each value, which `body` must pass.
    /// Stops before a name at the place `stop`.
    @inline(__always)
    mutating func members(
        until stop: Int = .max, _ body: (inout Scanner, inout Member) throws(CatalogError) -> Void
    ) throws(CatalogError) {
        skipSpace()
        if here == 0x7d {
            position += 1
            return
        }
        while position != stop {
            guard here == 0x22 else { throw unexpected("a name in double quotes") }
            var member = Member(nameStart: UInt32(truncatingIfNeeded: position + 1), nameEnd: 0, valueStart: 0, valueEnd: 0, isEscaped: false)
            member.isEscaped = try string()
            member.nameEnd = UInt32(truncatingIfNeeded: position - 1)
            skipSpace()
            try expect(0x3a, "':' after a name")
            skipSpace()
            member.valueStart = UInt32(truncatingIfNeeded: position)
            try body(&self, &member)
            skipSpace()
            if here == 0x2c {
                position += 1
                skipSpace()
                continue
            }
            guard here == 0x7d else { throw unexpected("',' or '}'") }
            position += 1
            return
        }
    }

    /// The same for bytes that were checked before.
    @inline(__always)
    mutating func checkedMembers(_ body: (inout Scanner, inout Member) -> Void) {
        skipSpace()
        var high = false
        while here == 0x22 {
            var member = Member(nameStart: UInt32(truncatingIfNeeded: position + 1), nameEnd: 0, valueStart: 0, valueEnd: 0, isEscaped: false)
            position += 1
            while true {
                unsafe position = concord_string_stop(start, position, count, &high)
                guard here == 0x5c else { break }
                member.isEscaped = true
                position += 2
            }
            member.nameEnd = UInt32(truncatingIfNeeded: position)
            position += 1
            skipSpace()
            position += 1
            skipSpace()
            member.valueStart = UInt32(truncatingIfNeeded: position)
            body(&self, &member)
            skipSpace()
            if here == 0x2c { position += 1 }
            skipSpace()
        }
        position += 1
    }

    /// Where in the second half of the bytes a member of the object that is open here may begin: one that is indented as the
    /// first one is. Nil where all is on one line.
    func laterMember() -> Int? {
        let end = bytes.endOfSpace(position)
        guard end < count, bytes.contains(10, in: position..<end) else { return nil }
        let lead = end - position
        let found = unsafe concord_find(start, position + (count - position) / 2, count, start + position, lead + 1)
        return found < count ? found + lead : nil
    }

    /// Whether the bytes from `offset` on are the same as a range of `other`, in which case the range is valid here too.
    @inline(__always)
    func matches(_ range: Range<Int>, of other: Bytes, at offset: Int) -> Bool {
        offset + range.count <= count && bytes.equal(offset..<offset + range.count, other, range)
    }
}

/// How localizations of one document are laid out: what stands before, between and behind the texts in which they differ.
///
///     {\n          "stringUnit" : {\n            "state" : "translated",\n            "value" : "Annuler"\n          }\n        }
///     └────────────────────────────────── piece 0 ────────────────────────────────────┘       └─── piece 1 ──────┘
///
/// A catalog has a handful of them, mostly one for each state and plural. Comparing is several times as fast as reading.
struct Layouts {
    private struct Piece {
        /// From the closing quote of a text, or the start of the value, to the opening quote of the next, or the end.
        var start: UInt32 = 0
        var end: UInt32 = 0
    }

    private static let knownMax = 8
    private static let piecesMax = 9
    private var known: InlineArray<72, Piece> = .init(repeating: Piece())
    private var sizes: InlineArray<8, Int> = .init(repeating: 0)
    /// How many of them there are.
    private(set) var count = 0
    private var looks = 0
    /// So many values are looked at for a layout; what a file has is seen by then.
    private static let looksMax = 96
    private static let bytesMax = 4096

    /// How many pieces a layout has: one more than there are texts.
    @inline(__always)
    func pieces(of k: Int) -> Int { sizes[k] }

    @inline(__always)
    func piece(_ i: Int, of k: Int) -> Range<Int> {
        let piece = known[k * Layouts.piecesMax + i]
        return Int(piece.start)..<Int(piece.end)
    }

    /// Puts a layout that matched nearer to the front.
    mutating func raise(_ k: Int) {
        for i in 0..<max(sizes[k], sizes[k - 1]) { known.swapAt(k * Layouts.piecesMax + i, (k - 1) * Layouts.piecesMax + i) }
        sizes.swapAt(k, k - 1)
    }

    /// Learns the layout of a value that was read. Its texts are the strings behind which an object ends.
    mutating func note(_ range: Range<Int>, in bytes: Bytes) {
        looks += 1
        guard looks <= Layouts.looksMax, range.count <= Layouts.bytesMax else { return }
        var found: InlineArray<9, Piece> = .init(repeating: Piece())
        var pieces = 0
        var from = range.lowerBound
        var at = range.lowerBound
        func add(upTo end: Int) {
            found[pieces] = Piece(start: UInt32(truncatingIfNeeded: from), end: UInt32(truncatingIfNeeded: end))
            pieces += 1
        }
        while at < range.upperBound, let quote = bytes.first(0x22, in: at..<range.upperBound) {
            at = bytes.endOfString(quote)
            guard at < range.upperBound, bytes[bytes.endOfSpace(at)] == 0x7d else { continue }
            guard pieces + 1 < Layouts.piecesMax else { return }
            add(upTo: quote + 1)
            from = at - 1
        }
        add(upTo: range.upperBound)
        // The one that matched least makes room.
        let k = min(count, Layouts.knownMax - 1)
        for i in 0..<pieces { known[k * Layouts.piecesMax + i] = found[i] }
        sizes[k] = pieces
        count = k + 1
    }
}

/// Whether this byte behind a backslash is a whole escape.
@inline(__always)
private func isPlainEscape(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74: true
    default: false
    }
}

/// The value of a hexadecimal digit.
@inline(__always)
func hexDigit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case 0x30...0x39: UInt32(byte) - 0x30
    case 0x41...0x46: UInt32(byte) - 0x37
    case 0x61...0x66: UInt32(byte) - 0x57
    default: nil
    }
}
