// How far each language of a catalog is.

/// The state of one language: how many of the texts that should be translated are.
public struct LanguageCoverage: Equatable, Sendable {
    /// The language's code as it is first spelled in the file.
    public let language: String
    public let isSource: Bool
    /// The texts that should be there: keys that are to be translated and that the code still uses.
    public internal(set) var texts = 0
    public internal(set) var translated = 0
    /// Translated by a machine, and looked at by nobody.
    public internal(set) var machineTranslated = 0
    public internal(set) var needsReview = 0
    /// There, but not translated yet.
    public internal(set) var new = 0
    public internal(set) var missing = 0
    /// Texts of keys that the code no longer uses: not among `texts`.
    public internal(set) var stale = 0
    /// The first keys that are missing or new, in the file's order; at most ``keysMax``.
    public internal(set) var openKeys: [String] = []

    static let keysMax = 3

    /// The share of `texts` that is translated, in tenths of a percent, rounded down: 1000 says that nothing is left to do.
    public var permille: Int { texts == 0 ? 1000 : translated * 1000 / texts }
}

/// Counts the texts of each language of a catalog, the source language first, the others in Xcode's order.
///
/// A text counts by the least finished of its units. In the source language a text without a localization is what its key
/// says, and the state `new` means that it came from the code: both count as translated.
public func coverage(of document: CatalogDocument) -> [LanguageCoverage] {
    var count = CoverageCount(source: document.sourceLanguage ?? "en", in: document.bytes)
    var outline = Outline(document.bytes)
    let hidden = Set(document.duplicateEntries)
    for (i, entry) in document.entries.enumerated() where !hidden.contains(i) {
        outline.read(entry.value)
        count.add(outline, key: entry)
    }
    return count.finish()
}

/// Counts entry by entry, so that a check can count while it looks.
struct CoverageCount {
    private let source: String
    private let bytes: Bytes
    private var table = LanguageTable()
    /// For each language, what was seen, and the number of texts that it has been held against.
    private var counts: [(coverage: LanguageCoverage, seenTexts: Int)] = []
    /// The keys that count, in the file's order.
    private var texts: [Range<Int>] = []

    init(source: String, in bytes: Bytes) {
        self.source = source
        self.bytes = bytes
    }

    /// Takes one entry up, whose members `outline` holds.
    mutating func add(_ outline: Outline, key: Member) {
        var isStale = false
        var isTranslatable = true
        var localizations: Int?
        for i in outline.children(of: -1) {
            if outline.isNamed(i, "localizations") { localizations = i }
            if outline.isNamed(i, "extractionState") { isStale = outline.holds(i, "stale") }
            if outline.isNamed(i, "shouldTranslate") { isTranslatable = outline.kind(i) != 0x66 }
        }
        guard isTranslatable else { return }
        if !isStale { texts.append(key.name) }
        guard let localizations else { return }
        for i in outline.children(of: localizations) {
            let index = table.language(of: outline.nodes[i].member, in: bytes)
            if index == counts.count { counts.append((coverage(outline.name(i)), 0)) }
            // Of two spellings in one entry the first is counted.
            if isStale {
                counts[index].coverage.stale += 1
            } else if counts[index].seenTexts < texts.count {
                catchUp(index, to: texts.count - 1)
                note(state(of: i, in: outline), index)
                counts[index].seenTexts = texts.count
            }
        }
    }

    /// The result.
    mutating func finish() -> [LanguageCoverage] {
        if !counts.contains(where: { $0.coverage.isSource }) { counts.append((coverage(source), 0)) }
        for i in counts.indices { catchUp(i, to: texts.count) }
        return counts.map(\.coverage).sorted { a, b in
            a.isSource != b.isSource ? a.isSource : KeyOrder.xcode.isBefore(Array(a.language.utf8), Array(b.language.utf8))
        }
    }

    private func coverage(_ language: String) -> LanguageCoverage {
        LanguageCoverage(language: language, isSource: isSameLanguage(language, source))
    }

    /// Counts the texts that a language was not seen in, up to one of them.
    private mutating func catchUp(_ index: Int, to end: Int) {
        let absent = end - counts[index].seenTexts
        if absent > 0 {
            if counts[index].coverage.isSource {
                counts[index].coverage.translated += absent
            } else {
                for text in counts[index].seenTexts..<end where !noteOpen(texts[text], index) { break }
                counts[index].coverage.missing += absent
            }
            counts[index].coverage.texts += absent
            counts[index].seenTexts = end
        }
    }

    /// Notes a key that is not done; false where no more are wanted.
    @discardableResult
    private mutating func noteOpen(_ key: Range<Int>, _ index: Int) -> Bool {
        guard counts[index].coverage.openKeys.count < LanguageCoverage.keysMax else { return false }
        counts[index].coverage.openKeys.append(String(decoding: decoded(bytes, key), as: UTF8.self))
        return true
    }

    private mutating func note(_ state: UnitState?, _ index: Int) {
        counts[index].coverage.texts += 1
        switch state {
        case .translated: counts[index].coverage.translated += 1
        case .new where counts[index].coverage.isSource: counts[index].coverage.translated += 1
        case .machineTranslated: counts[index].coverage.machineTranslated += 1
        case .needsReview: counts[index].coverage.needsReview += 1
        case .new:
            counts[index].coverage.new += 1
            noteOpen(texts.last!, index)
        case nil where counts[index].coverage.isSource: counts[index].coverage.translated += 1
        case nil:
            counts[index].coverage.missing += 1
            noteOpen(texts.last!, index)
        }
    }

    /// The least finished of a localization's units, or nil where it has none.
    private func state(of localization: Int, in outline: Outline) -> UnitState? {
        var least: UnitState?
        let inside = localization + 1..<outline.nodes[localization].end
        for i in inside where outline.isNamed(i, "stringUnit") || outline.isNamed(i, "stringSet") {
            let state = outline.child(i, "state").map { UnitState(outline, $0) } ?? .translated
            least = min(least ?? .translated, state)
        }
        return least
    }
}

/// How finished a unit is, the least finished first.
private enum UnitState: Int, Comparable {
    case new, needsReview, machineTranslated, translated

    /// A state that is not known asks for a look.
    init(_ outline: Outline, _ i: Int) {
        self =
            outline.holds(i, "translated") ? .translated
            : outline.holds(i, "new") ? .new : outline.holds(i, "machine_translated") ? .machineTranslated : .needsReview
    }

    static func < (one: UnitState, other: UnitState) -> Bool { one.rawValue < other.rawValue }
}

/// The languages of a file and their spellings, found without hashing: the entries mostly name them in one order.
struct LanguageTable {
    struct Spelling {
        let name: Range<Int>
        let text: String
        let language: Int
        var count = 0
    }

    private(set) var spellings: [Spelling] = []
    private var identities: [[UInt8]: Int] = [:]
    /// The spellings by name, for a file with more of them than are looked through, and for names written with escapes.
    private var byName: [[UInt8]: Int] = [:]
    private var next = 0

    private static let searchedMax = 100

    /// The number of a language, from 0 in the order of their first appearance.
    mutating func language(of member: Member, in bytes: Bytes) -> Int { spellings[spelling(of: member, in: bytes)].language }

    /// The place in `spellings` of a member's name, counted once more.
    mutating func spelling(of member: Member, in bytes: Bytes) -> Int {
        for step in 0..<min(spellings.count, LanguageTable.searchedMax) {
            let i = (next + step) % spellings.count
            if bytes.equal(member.name, bytes, spellings[i].name) {
                next = i + 1
                spellings[i].count += 1
                return i
            }
        }
        let text = decoded(bytes, member.name)
        if let i = byName[text] {
            next = i + 1
            spellings[i].count += 1
            return i
        }
        byName[text] = spellings.count
        let identity = languageIdentity(text)
        let language = identities[identity] ?? identities.count
        identities[identity] = language
        spellings.append(Spelling(name: member.name, text: String(decoding: text, as: UTF8.self), language: language, count: 1))
        next = spellings.count
        return spellings.count - 1
    }

    /// Whether some language stands in more than one spelling.
    var hasMixedSpellings: Bool { spellings.count > identities.count }
}
