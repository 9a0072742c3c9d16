// What ICU knows: the order of keys and the plural categories of languages. Besides the scanner this is the only file of
// the module with pointers, since ICU is C; they live inside single calls.

import CICU

/// Orders of keys that catalogs are known to be written in.
enum KeyOrder: CaseIterable {
    /// Xcode's: CLDR root collation, numeric, lower case first; U+2019 counts as an apostrophe.
    case xcode
    /// Without regard to case, then by code point: tools that sort with a lower-cased key.
    case caseless
    /// By code point: tools that sort a dictionary's keys.
    case codePoints

    /// Whether the first key sorts before the second. A tie is decided by code points, so that the order is total.
    func isBefore(_ a: [UInt8], _ b: [UInt8]) -> Bool {
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

    /// The order that the entries of a document follow best, or nil where none of these holds for 98 of 100 neighbours.
    static func detected(in document: CatalogDocument) -> KeyOrder? {
        let keys = document.entries.map { decoded(document.bytes, $0.name) }
        guard keys.count > 1 else { return .xcode }
        var best: (order: KeyOrder, faults: Int)?
        for order in KeyOrder.allCases {
            var faults = 0
            for i in 1..<keys.count where order.isBefore(keys[i], keys[i - 1]) { faults += 1 }
            if faults < best?.faults ?? .max { best = (order, faults) }
            if faults == 0 { break }
        }
        return best.flatMap { $0.faults * 50 <= keys.count ? $0.order : nil }
    }
}

/// The six plural categories of CLDR.
enum PluralCategory: Int, CaseIterable {
    case zero, one, two, few, many, other
}

/// The plural categories that CLDR has for a language, or nil where ICU does not know it or is not installed.
func pluralCategories(of language: String) -> Set<PluralCategory>? {
    guard unsafe collator != nil else { return nil }
    let locale = String(language.map { $0 == "-" ? "_" : $0 })
    let bits = unsafe locale.withCString { unsafe concord_plural_categories($0) }
    return bits == 0 ? nil : Set(PluralCategory.allCases.filter { bits & (1 << UInt32($0.rawValue)) != 0 })
}

/// -1, 0 or 1 in Xcode's order. Without ICU: without regard to case.
private func collate(_ a: [UInt8], _ b: [UInt8]) -> Int {
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
