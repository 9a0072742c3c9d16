/// The full name of a ref, such as `refs/heads/l10n/fr`; always one that git accepts.
///
/// Names compare by their bytes, as git compares them: two spellings of one accented letter are two names.
public struct RefName: Sendable, CustomStringConvertible {
    /// The full name.
    public let full: String

    /// A full name under `refs/`; `nil` if `git check-ref-format` would refuse it.
    public init?(_ full: String) {
        guard full.utf8.starts(with: "refs/".utf8), Self.isWellFormed(full) else { return nil }
        self.full = full
    }

    /// The branch of this short name, `main` or `l10n/fr`; `nil` if it cannot be a branch.
    public static func branch(_ shorthand: String) -> RefName? {
        // `git branch` refuses these two, though `git check-ref-format` does not.
        guard !shorthand.utf8.starts(with: "-".utf8), shorthand != "HEAD" else { return nil }
        return RefName("refs/heads/" + shorthand)
    }

    /// Whether the ref is a branch.
    public var isBranch: Bool { full.utf8.starts(with: "refs/heads/".utf8) }

    /// What people call the ref: `main`, `v1.2`, `origin/main`, or the full name outside the well-known places.
    public var shorthand: String {
        for place in ["refs/heads/", "refs/tags/", "refs/remotes/"] where full.utf8.starts(with: place.utf8) {
            return String(decoding: full.utf8.dropFirst(place.utf8.count), as: UTF8.self)
        }
        return full
    }

    public var description: String { full }

    /// The rules of `git check-ref-format`.
    private static func isWellFormed(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard bytes.count <= lengthMax, bytes.last != UInt8(ascii: "."), bytes.last != UInt8(ascii: "/") else { return false }
        let forbidden = Array(" ~^:?*[\\".utf8)
        guard bytes.allSatisfy({ $0 > 0x1F && $0 != 0x7F && !forbidden.contains($0) }) else { return false }
        for (one, next) in zip(bytes, bytes.dropFirst()) {
            if one == UInt8(ascii: "."), next == one { return false }
            if one == UInt8(ascii: "@"), next == UInt8(ascii: "{") { return false }
        }
        return bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy {
            !$0.isEmpty && $0.first != UInt8(ascii: ".") && !$0.suffix(5).elementsEqual(".lock".utf8)
        }
    }

    /// Longer names cannot be files on Linux.
    private static let lengthMax = 1024
}

extension RefName: Hashable, Comparable {
    // Not the comparison of `String`, for which composed and decomposed letters are equal.
    public static func == (one: RefName, other: RefName) -> Bool { one.full.utf8.elementsEqual(other.full.utf8) }
    public static func < (one: RefName, other: RefName) -> Bool { one.full.utf8.lexicographicallyPrecedes(other.full.utf8) }
    public func hash(into hasher: inout Hasher) {
        for byte in full.utf8 { hasher.combine(byte) }
    }
}

/// A ref, or many of one shape: `main`, `l10n/*`, `refs/heads/release/*-strings`.
///
/// At most one `*`, which stands for one or more bytes, slashes among them, as in git's refspecs. A pattern that does
/// not start with `refs/` is one of branches. What the `*` of one pattern stood for fills the `*` of another:
///
///     let from = RefPattern("l10n/*")!, into = RefPattern("translated/*")!
///     into.ref(for: from.match(.branch("l10n/fr")!)!)      // refs/heads/translated/fr
public struct RefPattern: Hashable, Sendable, CustomStringConvertible {
    /// What a pattern's `*` stood for; `nil` if the pattern has none.
    public struct Match: Hashable, Sendable {
        public let wildcard: String?
    }

    private let before: String
    /// What follows the `*`; `nil` if there is none.
    private let after: String?
    public let description: String

    /// `nil` if there is more than one `*`, or if no valid name has this shape.
    public init?(_ text: String) {
        let full = text.utf8.starts(with: "refs/".utf8) ? text : "refs/heads/" + text
        let parts = full.split(separator: "*", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, RefName(parts.joined(separator: "x")) != nil else { return nil }
        guard text.utf8.starts(with: "refs/".utf8) || RefName.branch(text.split(separator: "*", omittingEmptySubsequences: false).joined(separator: "x")) != nil else { return nil }
        before = parts[0]
        after = parts.count == 2 ? parts[1] : nil
        description = text
    }

    /// Whether the pattern has a `*`.
    public var hasWildcard: Bool { after != nil }

    /// The one ref this pattern names; `nil` if it has a `*`.
    public var ref: RefName? { after == nil ? RefName(before) : nil }

    /// What every matching name starts with; says where to look.
    public var prefix: String { before }

    /// How `ref` fits this pattern; `nil` if it does not.
    public func match(_ ref: RefName) -> Match? {
        guard let after else { return ref.full.utf8.elementsEqual(before.utf8) ? Match(wildcard: nil) : nil }
        let name = Array(ref.full.utf8), head = before.utf8.count, tail = after.utf8.count
        guard name.count > head + tail, name.starts(with: before.utf8), name.suffix(tail).elementsEqual(after.utf8) else { return nil }
        return Match(wildcard: String(decoding: name[head..<(name.count - tail)], as: UTF8.self))
    }

    /// The ref that this pattern names with `match` for its `*`; `nil` if the match has nothing to fill it with, or if
    /// the result is no valid name.
    public func ref(for match: Match) -> RefName? {
        guard let after else { return ref }
        guard let wildcard = match.wildcard else { return nil }
        return RefName(before + wildcard + after)
    }
}
