/// The path of a file within a tree: bytes between slashes, relative, never one that leaves the tree or reaches into `.git`.
///
/// Paths compare by their bytes, as git compares them.
public struct TreePath: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The whole path.
    public let bytes: [UInt8]

    /// A path from its text; `nil` if it is empty, absolute, too long, or has a component that git refuses.
    public init?(_ text: String) { self.init(bytes: Array(text.utf8)) }

    /// A path from its bytes, which need not be UTF-8; `nil` as in `init(_:)`.
    public init?(bytes: [UInt8]) {
        self.init(unchecked: bytes)
        guard isSafe else { return nil }
    }

    /// A path as it was found in a tree, safe or not: what is there must be nameable, if only to be refused.
    init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// Whether this path may be written. Paths read from a tree need not be.
    public var isSafe: Bool {
        bytes.count <= Self.lengthMax && !bytes.contains(0) && components.allSatisfy { component in
            guard !component.isEmpty, !component.elementsEqual(".".utf8), !component.elementsEqual("..".utf8) else { return false }
            return !component.map(Self.lowercased).elementsEqual(".git".utf8)
        }
    }

    /// The names between the slashes.
    public var components: [ArraySlice<UInt8>] { bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) }

    /// The last component.
    public var name: String { String(decoding: components.last ?? [], as: UTF8.self) }

    /// The directory that holds this path; `nil` at the top of the tree.
    public var parent: TreePath? {
        bytes.lastIndex(of: UInt8(ascii: "/")).map { TreePath(unchecked: Array(bytes[..<$0])) }
    }

    /// The path as text; bytes that are not UTF-8 are shown as U+FFFD.
    public var description: String { String(decoding: bytes, as: UTF8.self) }

    public static func < (one: TreePath, other: TreePath) -> Bool { one.bytes.lexicographicallyPrecedes(other.bytes) }

    /// Linux's PATH_MAX.
    private static let lengthMax = 4096

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
    }

    func appending(_ component: some Collection<UInt8>) -> TreePath {
        TreePath(unchecked: bytes.isEmpty ? Array(component) : bytes + [UInt8(ascii: "/")] + component)
    }

    /// The top of a tree; never handed out.
    static let top = TreePath(unchecked: [])

    /// Gives `body` the path as the library takes it.
    func withCString<Value>(_ body: (UnsafePointer<CChar>) throws(GitError) -> Value) throws(GitError) -> Value {
        let text = bytes.map { CChar(bitPattern: $0) } + [0]
        return try unsafe text.withCString(body)
    }
}

extension [CChar] {
    /// As `withUnsafeBufferPointer`, for an array that ends in zero.
    func withCString<Value>(_ body: (UnsafePointer<CChar>) throws(GitError) -> Value) throws(GitError) -> Value {
        precondition(last == 0)
        return try unsafe withUnsafeBufferPointer { buffer throws(GitError) in
            // Not empty, so there is a first element.
            unsafe try body(buffer.baseAddress!)
        }
    }
}
