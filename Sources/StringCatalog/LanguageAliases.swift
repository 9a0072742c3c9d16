/// Whether a word can be the code of a language, such as `fr` or `zh-Hans`: letters, digits, `-` and `_`.
public func isLanguageCode(_ word: String) -> Bool {
    !word.isEmpty && word.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
    }
}

/// Codes that count as one language although they are spelled differently, such as `zh-CN` and `zh-Hans`.
///
/// Without any, a code is the same language as another if they differ in case and in `_` for `-` at most.
public struct LanguageAliases: Hashable, Sendable {
    /// The code that stands for each of the others, in the form in which spellings are equal.
    private var names: [[UInt8]: [UInt8]] = [:]

    /// No aliases.
    public init() {}

    /// Whether there are none.
    public var isEmpty: Bool { names.isEmpty }

    /// Makes these codes one language, and with them all that were one with any of them before.
    public mutating func unite(_ codes: [String]) { unite(codes.map { Array($0.utf8) }) }

    private mutating func unite(_ codes: [[UInt8]]) {
        let united = Set(codes.map { identity(of: $0) })
        // Which code stands for the rest does not matter, as long as it does not depend on the order of the lines.
        let all = united.union(names.filter { united.contains($0.value) }.keys)
        guard all.count > 1, let first = all.min(by: { $0.lexicographicallyPrecedes($1) }) else { return }
        for code in all { names[code] = first }
    }

    /// The same with what others say too.
    public func united(with others: LanguageAliases) -> LanguageAliases {
        var both = self
        for (code, name) in others.names { both.unite([code, name]) }
        return both
    }

    /// The form of a code in which all that are one language are equal.
    package func identity(of code: [UInt8]) -> [UInt8] {
        let spelled = languageIdentity(code)
        return isEmpty ? spelled : names[spelled] ?? spelled
    }

    package func identity(of code: String) -> [UInt8] { identity(of: Array(code.utf8)) }

    /// Whether two codes are one language.
    package func areSame(_ a: String, _ b: String) -> Bool { identity(of: a) == identity(of: b) }
}
