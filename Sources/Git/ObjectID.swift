import CLibGit2

/// The SHA-1 name of an object: twenty bytes.
public struct ObjectID: Hashable, Comparable, Sendable, CustomStringConvertible {
    // Three words instead of an array: an id is copied, compared and hashed all the time.
    private let high: UInt64
    private let middle: UInt64
    private let low: UInt32

    /// The number of bytes of an id.
    public static let byteCount = 20

    /// An id from twenty bytes; `nil` for any other number of them.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        var words: (UInt64, UInt64, UInt32) = (0, 0, 0)
        for (index, byte) in bytes.enumerated() {
            switch index {
            case 0..<8: words.0 = words.0 << 8 | UInt64(byte)
            case 8..<16: words.1 = words.1 << 8 | UInt64(byte)
            default: words.2 = words.2 << 8 | UInt32(byte)
            }
        }
        (high, middle, low) = words
    }

    /// An id from forty hexadecimal digits of either case; `nil` for anything else.
    public init?(hex: some StringProtocol) {
        let digits = hex.utf8.map(Self.value(ofDigit:))
        guard digits.count == 2 * Self.byteCount else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let first = digits[index], let second = digits[index + 1] else { return nil }
            bytes.append(first << 4 | second)
        }
        self.init(bytes: bytes)
    }

    init(_ oid: git_oid) {
        let id = oid.id
        self.init(words: id)
    }

    private init(words id: (
        UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8,
        UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
    )) {
        (high, middle, low) = unsafe withUnsafeBytes(of: id) { raw in
            unsafe (
                UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                UInt32(bigEndian: raw.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
            )
        }
    }

    /// The id as the library takes it.
    var oid: git_oid {
        var oid = git_oid()
        unsafe withUnsafeMutableBytes(of: &oid) { raw in
            unsafe raw.storeBytes(of: high.bigEndian, toByteOffset: 0, as: UInt64.self)
            unsafe raw.storeBytes(of: middle.bigEndian, toByteOffset: 8, as: UInt64.self)
            unsafe raw.storeBytes(of: low.bigEndian, toByteOffset: 16, as: UInt32.self)
        }
        return oid
    }

    /// The twenty bytes.
    public var bytes: [UInt8] { unsafe withUnsafeBytes(of: oid) { unsafe Array($0) } }

    /// Forty lower-case hexadecimal digits.
    public var hex: String {
        String(decoding: bytes.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The first ten digits: what people read.
    public var short: String { String(hex.prefix(10)) }

    public var description: String { hex }

    public static func < (one: ObjectID, other: ObjectID) -> Bool {
        (one.high, one.middle, one.low) < (other.high, other.middle, other.low)
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
