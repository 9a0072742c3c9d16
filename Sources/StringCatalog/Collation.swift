// What ICU knows: the order of keys and the plural categories of languages. Besides the scanner this is the only file of
// the module with pointers, since ICU is C; they live inside single calls.

import CICU

/// Orders of keys that catalogs are known to be written in.
package enum KeyOrder: CaseIterable {
    /// Xcode's: CLDR root collation, numeric, lower case first; U+2019 counts as an apostrophe.
    case xcode
    /// Without regard to case, then by code point: tools that sort with a lower-cased key.
    case caseless
    /// By code point: tools that sort a dictionary's keys.
    case codePoints

    /// Whether the first key sorts before the second. A tie is decided by code points, so that the order is total.
    package func isBefore(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        switch self {
        case .xcode:
            let order = collate(a, b)
            return order == 0 ? a.lexicographicallyPrecedes(b) : order < 0
        case .caseless:
            let x = String(decoding: a, as: UTF8.self).lowercased().utf8
            let y = String(decoding: b, as: UTF8.self).lowercased().utf8
            return x.elementsEqual(y) ? a.lexicographicallyPrecedes(b) : x.lexicographicallyPrecedes(y)
        case .codePoints:
            return a.lexicographicallyPrecedes(b)
        }
    }

    /// The order that the first entries of a document follow best, or nil where none of these holds for 98 of 100 neighbours.
    static func detected(in document: CatalogDocument) -> KeyOrder? {
        detected(among: document.entries.prefix(500).map { decoded(document.bytes, $0.name) })
    }

    /// The same for keys in the order of their file.
    package static func detected(among keys: [[UInt8]]) -> KeyOrder? {
        guard keys.count > 1 else { return .xcode }
        var best: (order: KeyOrder, faults: Int)?
        for order in KeyOrder.allCases {
            let faults = (1..<keys.count).count { order.isKnownBefore(keys[$0], keys[$0 - 1]) }
            if faults < best?.faults ?? .max { best = (order, faults) }
            if faults == 0 { break }
        }
        return best.flatMap { $0.faults * 50 <= keys.count ? $0.order : nil }
    }

    /// The same as `isBefore`, but false where ICU would have to be asked: for counting, the other pairs are enough.
    private func isKnownBefore(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        self == .xcode ? plainOrder(a, b).map { $0 < 0 || ($0 == 0 && a.lexicographicallyPrecedes(b)) } ?? false : isBefore(a, b)
    }
}

/// The six plural categories of CLDR.
package enum PluralCategory: Int, CaseIterable {
    case zero, one, two, few, many, other
}

/// The plural categories that CLDR has for a language, or nil where ICU does not know it or is not installed.
package func pluralCategories(of language: String) -> Set<PluralCategory>? {
    guard unsafe collator != nil else { return nil }
    let locale = String(language.map { $0 == "-" ? "_" : $0 })
    let bits = unsafe locale.withCString { unsafe concord_plural_categories($0) }
    return bits == 0 ? nil : Set(PluralCategory.allCases.filter { bits & (1 << UInt32($0.rawValue)) != 0 })
}

/// The categories among them that whole numbers have, up to a thousand: without one of them a count reads wrong. What is
/// left are categories of fractions and of millions, such as the French `many`.
func pluralCategoriesOfIntegers(of language: String) -> Set<PluralCategory>? {
    guard unsafe collator != nil else { return nil }
    let locale = String(language.map { $0 == "-" ? "_" : $0 })
    let bits = unsafe locale.withCString { unsafe concord_plural_categories_of_integers($0) }
    return bits == 0 ? nil : Set(PluralCategory.allCases.filter { bits & (1 << UInt32($0.rawValue)) != 0 })
}

/// -1, 0 or 1 in Xcode's order. Without ICU: without regard to case.
private func collate(_ a: [UInt8], _ b: [UInt8]) -> Int {
    if let order = plainOrder(a, b) { return order }
    return collateByICU(a, b)
}

/// The same by ICU alone.
func collateByICU(_ a: [UInt8], _ b: [UInt8]) -> Int {
    let x = apostrophes(a)
    let y = apostrophes(b)
    guard let collator = unsafe collator else {
        return KeyOrder.caseless.isBefore(x, y) ? -1 : KeyOrder.caseless.isBefore(y, x) ? 1 : 0
    }
    return unsafe x.withUnsafeBytes { x in
        unsafe y.withUnsafeBytes { y in
            Int(unsafe concord_collate(
                collator, x.bindMemory(to: CChar.self).baseAddress, Int32(x.count), y.bindMemory(to: CChar.self).baseAddress, Int32(y.count)))
        }
    }
}

/// The order of two keys that differ where both are ASCII, as ICU has it (a test compares the two), or nil where ICU has
/// to be asked. Most pairs are such, and ICU takes longer to load than a merge takes.
func plainOrder(_ a: [UInt8], _ b: [UInt8]) -> Int? {
    var i = 0
    var j = 0
    var byCase = 0
    while i < a.count && j < b.count {
        let x = a[i]
        let y = b[j]
        guard x < 0x80, y < 0x80, weights[Int(x)] > 0, weights[Int(y)] > 0 else { return nil }
        if isDigit(x) && isDigit(y) {
            // Runs of digits count as numbers.
            let (first, nextI) = number(a, from: i)
            let (second, nextJ) = number(b, from: j)
            guard first.count < 200, second.count < 200 else { return nil }
            if first.count != second.count || !first.elementsEqual(second) {
                guard isPlain(a, nextI), isPlain(b, nextJ) else { return nil }
                if first.count != second.count { return first.count < second.count ? -1 : 1 }
                return first.lexicographicallyPrecedes(second) ? -1 : 1
            }
            (i, j) = (nextI, nextJ)
            continue
        }
        let (p, q) = (weights[Int(x)], weights[Int(y)])
        if p != q { return isPlain(a, i + 1) && isPlain(b, j + 1) ? (p < q ? -1 : 1) : nil }
        if x != y, byCase == 0 { byCase = x > y ? -1 : 1 }
        i += 1
        j += 1
    }
    // One is the beginning of the other. What follows has a weight of its own if it is ASCII; an accent would not.
    guard isPlain(a, i), isPlain(b, j) else { return nil }
    if i < a.count { return 1 }
    if j < b.count { return -1 }
    return byCase
}

/// Whether a text ends at a place, or goes on with a character that stands for itself: an accent would belong to the
/// character before.
private func isPlain(_ text: [UInt8], _ at: Int) -> Bool { at >= text.count || (text[at] < 0x80 && weights[Int(text[at])] > 0) }

private func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

/// A run of digits without its leading zeros, and the place behind it.
private func number(_ text: [UInt8], from: Int) -> (ArraySlice<UInt8>, Int) {
    let end = text[from...].firstIndex { !isDigit($0) } ?? text.count
    return (text[from..<end].drop { $0 == 0x30 }, end)
}

/// The places of ASCII in the root collation, letters without regard to case; 0 for controls, which it ignores.
private let weights: [UInt8] = {
    var table = [UInt8](repeating: 0, count: 128)
    for (i, byte) in "\t\n\u{b}\u{c}\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz".utf8.enumerated() {
        table[Int(byte)] = UInt8(i + 1)
        if byte >= 0x61 && byte <= 0x7a { table[Int(byte) - 0x20] = UInt8(i + 1) }
    }
    return table
}()

/// The text with U+2019 as an apostrophe: Xcode sorts the two alike.
private func apostrophes(_ text: [UInt8]) -> [UInt8] {
    guard text.contains(0xe2) else { return text }
    var out: [UInt8] = []
    var i = 0
    while i < text.count {
        if text[i] == 0xe2, i + 2 < text.count, text[i + 1] == 0x80, text[i + 2] == 0x99 {
            out.append(0x27)
            i += 3
        } else {
            out.append(text[i])
            i += 1
        }
    }
    return out
}

/// Opened once and kept; ICU lets several threads compare with one collator.
private nonisolated(unsafe) let collator: OpaquePointer? = unsafe concord_icu_load() ? concord_collator_open() : nil
