// Is a catalog sound? One pass over its bytes reads it; a second looks into every entry, which stays an outline of places;
// texts are decoded only where a rule has a reason to look at them.

/// The faults of a catalog, in the order of their places. A sound catalog has none.
///
/// A file that does not parse has one finding for the place where reading stopped, and one for each conflict in it.
public func check(_ bytes: Bytes, policy: CheckPolicy = .standard, limits: CatalogLimits = .standard) -> [Finding] {
    do {
        return check(try CatalogDocument(parsing: bytes, limits: limits), policy: policy)
    } catch {
        return unreadable(bytes, error, policy)
    }
}

/// The faults of a catalog that was read already.
public func check(_ document: CatalogDocument, policy: CheckPolicy = .standard) -> [Finding] {
    faults(in: document, policy).findings
}

/// The faults in some of the entries, if any are named; what concerns several entries is then not found.
private func faults(in document: CatalogDocument, _ policy: CheckPolicy, entries: Set<Int>? = nil) -> FoundFaults {
    var check = CatalogCheck(document, policy)
    check.run(entries)
    return check.found
}

/// The errors of a merged catalog that neither side has: what a merge may not bring about.
///
/// A fault is the same one where rule, key, language and field are; one that stands more often than on either side is new
/// too. A side that is nil has no faults. Only the entries that are not those of `ours` byte for byte are looked into, and on the
/// sides only those of the same keys: what did not change cannot have become worse.
public func worsens(ours: CatalogDocument?, theirs: CatalogDocument?, result: CatalogDocument, policy: CheckPolicy = .standard) -> [Finding] {
    let errors = policy.only(.error)
    let changed = ours.flatMap { result.entriesChanged(from: $0) }
    let new = faults(in: result, errors, entries: changed)
    for side in [ours, theirs] {
        guard let side, !new.isEmpty else { continue }
        let same = changed.map { Set($0.compactMap { side.entry(named: result.entries[$0], in: result.bytes) }) }
        new.drop(faults(in: side, errors, entries: same))
    }
    return new.findings
}

extension CatalogDocument {
    /// The entries that are not in `other` under the same key with the same bytes; nil where each means something else, because
    /// the source language is another.
    fileprivate func entriesChanged(from other: CatalogDocument) -> Set<Int>? {
        guard sourceLanguage == other.sourceLanguage else { return nil }
        var isChanged = [Bool](repeating: true, count: entries.count)
        let alignment = aligned(to: other)
        for (at, isSame) in zip(alignment.entry, alignment.isSame) where isSame { isChanged[Int(at)] = false }
        return Set(entries.indices.filter { isChanged[$0] })
    }
}

/// What can be said of a file that does not parse.
private func unreadable(_ bytes: Bytes, _ error: CatalogError, _ policy: CheckPolicy) -> [Finding] {
    var findings: [Finding] = []
    if error.fault != .conflictMarker, let severity = policy[.syntax] {
        findings.append(
            Finding(rule: .syntax, severity: severity, line: error.line, column: error.column, place: LeafPath(), sentence: error.sentence))
    }
    guard let severity = policy[.conflictMarker] else { return findings }
    let lines = LineIndex(bytes)
    for line in lines.starts where bytes.isConflict(at: line) {
        findings.append(
            Finding(
                rule: .conflictMarker, severity: severity, line: lines.line(of: line), column: 1, place: LeafPath(),
                sentence: CatalogError(.conflictMarker, at: 0, in: bytes).sentence))
    }
    if findings.isEmpty {
        // The marker at which reading stopped is not the first line of a conflict.
        findings.append(
            Finding(rule: .conflictMarker, severity: severity, line: error.line, column: error.column, place: LeafPath(), sentence: error.sentence))
    }
    return findings
}

extension Bytes {
    /// Whether the line that begins here is the first of a conflict: `<<<<<<<` and a space or the line's end.
    fileprivate func isConflict(at offset: Int) -> Bool {
        guard offset + 7 <= count, equal(offset..<offset + 7, "<<<<<<<") else { return false }
        return offset + 7 == count || [0x20, 0x0a, 0x0d].contains(self[offset + 7])
    }
}

/// Where the lines of a file begin: made once for many findings.
struct LineIndex {
    private(set) var starts: [Int] = [0]
    private let bytes: Bytes

    init(_ bytes: Bytes) {
        self.bytes = bytes
        var i = 0
        while i < bytes.count {
            let byte = bytes[i]
            i += 1
            if byte == 10 || (byte == 13 && !(i < bytes.count && bytes[i] == 10)) { starts.append(i) }
        }
    }

    /// The line of an offset, from 1.
    func line(of offset: Int) -> Int {
        var low = 0
        var high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= offset { low = middle } else { high = middle }
        }
        return low + 1
    }

    /// How many columns a part of a line takes; see ``CatalogError``.
    func columns(in range: Range<Int>) -> Int { range.count { bytes[$0] & 0xc0 != 0x80 && bytes[$0] != 13 } }
}

/// A check at work on one catalog.
struct CatalogCheck {
    /// One text of an entry.
    struct Leaf {
        /// The member `value` in the outline.
        let value: Int
        /// The name of the plural category, where it is one.
        let category: Int?
        /// The substitution around it.
        let substitution: Int?
    }

    /// One language of an entry, and where its texts are in `leaves`.
    struct Localization {
        let member: Int
        let isSource: Bool
        var leaves: Range<Int>
        var substitutions: Int?
    }

    /// What CLDR says of a language's plurals.
    private struct Plurals {
        let needed: Set<PluralCategory>
        let rare: Set<PluralCategory>
    }

    let document: CatalogDocument
    let bytes: Bytes
    let policy: CheckPolicy
    var outline: Outline
    var entry: Member
    var leaves: [Leaf] = []
    var localizations: [Localization] = []
    let source: [UInt8]
    /// Whether any rule about placeholders is on.
    let checksPlaceholders: Bool
    private var languages = LanguageTable()
    private var plurals: [Int: Plurals?] = [:]
    private var coverage: CoverageCount?
    /// The keys that give each Swift symbol.
    private var symbols: [String: [[UInt8]: Int]] = [:]
    fileprivate let found: FoundFaults

    init(_ document: CatalogDocument, _ policy: CheckPolicy) {
        self.document = document
        self.policy = policy
        bytes = document.bytes
        outline = Outline(bytes)
        entry = Member(nameStart: 0, nameEnd: 0, valueStart: 0, valueEnd: 0, isEscaped: false)
        source = languageIdentity(Array((document.sourceLanguage ?? "en").utf8))
        coverage = policy[.missingTranslation] == nil ? nil : CoverageCount(source: document.sourceLanguage ?? "en", in: bytes)
        found = FoundFaults(bytes)
        checksPlaceholders = CheckRule.allCases.contains { $0.looksAtPlaceholders && policy[$0] != nil }
    }

    /// Notes a fault, unless its rule is off.
    func report(_ rule: CheckRule, at offset: Int, _ place: @autoclosure () -> LeafPath, _ sentence: @autoclosure () -> String) {
        guard let severity = policy[rule] else { return }
        found.add(rule, severity, at: offset, place(), sentence())
    }

    /// Notes a fault at a member of the present entry, within a language where there is one.
    func report(_ rule: CheckRule, at member: Int, in localization: Int? = nil, _ sentence: @autoclosure () -> String) {
        guard policy[rule] != nil else { return }
        let place = LeafPath(
            key: key, language: localization.map { outline.name($0) },
            field: localization == member ? nil : outline.path(to: member, below: localization ?? -1))
        report(rule, at: outline.nodes[member].member.whole.lowerBound, place, sentence())
    }

    /// The key of the present entry.
    var key: String { String(decoding: decoded(bytes, entry.name), as: UTF8.self) }

    mutating func run(_ wanted: Set<Int>?) {
        checkTop()
        let hidden = Set(document.duplicateEntries)
        for i in wanted.map({ $0.union(hidden).sorted() }) ?? Array(document.entries.indices) {
            let entry = document.entries[i]
            self.entry = entry
            // What a hidden copy says reaches nobody.
            guard !hidden.contains(i) else {
                reportDuplicate(entry)
                continue
            }
            outline.read(entry.value)
            checkEntry()
            coverage?.add(outline, key: entry)
        }
        reportSpellings()
        reportSymbols()
        reportCoverage()
    }

    // MARK: The top level

    private mutating func checkTop() {
        let start = document.root.lowerBound
        var version: Member?
        var last: [[UInt8]: Int] = [:]
        for (i, member) in document.top.enumerated() { last[decoded(bytes, member.name)] = i }
        for (i, member) in document.top.enumerated() {
            let name = String(decoding: decoded(bytes, member.name), as: UTF8.self)
            if last[decoded(bytes, member.name)] != i {
                report(
                    .duplicateMember, at: member.whole.lowerBound, LeafPath(field: name),
                    "\"\(name)\" stands again further down, and that copy counts; keep one of the two")
                continue
            }
            switch name {
            case "strings": break
            case "version": version = member
            case "sourceLanguage": break
            default: reportStray(member, name)
            }
        }
        if document.stringsMember == nil {
            report(.malformed, at: start, LeafPath(), "the file has no \"strings\"; add \"strings\" : { } with the entries in it")
        }
        if document.sourceLanguage?.isEmpty ?? true {
            report(
                .sourceLanguage, at: document.topMember("sourceLanguage")?.whole.lowerBound ?? start, LeafPath(),
                "the file does not say its source language; add \"sourceLanguage\" : \"en\"")
        }
        checkVersion(version, start)
    }

    private func checkVersion(_ member: Member?, _ start: Int) {
        guard let member else {
            return report(.version, at: start, LeafPath(), "the file does not say its version; add \"version\" : \"1.0\"")
        }
        let isString = bytes[Int(member.valueStart)] == 0x22
        let text =
            isString
            ? String(decoding: decoded(bytes, Int(member.valueStart) + 1..<Int(member.valueEnd) - 1), as: UTF8.self) : bytes.string(member.value)
        if isString && (text == "1.0" || text == "1.1") { return }
        let isMinor = isString && text.hasPrefix("1.") && text.count > 2 && text.dropFirst(2).allSatisfy(\.isNumber)
        report(
            isMinor ? .newerVersion : .version, at: member.whole.lowerBound, LeafPath(field: "version"),
            isMinor ? "version \(text) is newer than 1.1; look whether a newer Concord knows it"
                : "\(isString ? "\"\(text)\"" : text) is no version that is known; write \"1.0\", or \"1.1\" for Xcode 26")
    }

    /// A member beside `strings`. What looks like an entry has probably slipped out of it, in a merge by hand.
    private mutating func reportStray(_ member: Member, _ name: String) {
        outline.read(member.value)
        let isObject = bytes[Int(member.valueStart)] == 0x7b
        let fields = outline.children(of: -1).map { outline.name($0) }
        let known = ["localizations", "extractionState", "comment", "shouldTranslate", "isCommentAutoGenerated"]
        let isEntry = isObject && fields.allSatisfy(known.contains)
        if isEntry {
            report(
                .strayKey, at: member.whole.lowerBound, LeafPath(key: name),
                "this entry stands beside \"strings\", where nothing reads it; move it into \"strings\"")
        } else {
            report(
                .strayMember, at: member.whole.lowerBound, LeafPath(field: name),
                "\"\(name)\" is no property of a catalog; move it into \"strings\" if it is a key, else remove it")
        }
    }

    private func reportDuplicate(_ entry: Member) {
        guard policy[.duplicateKey] != nil, let last = document.entry(named: entry, in: bytes) else { return }
        let line = found.lines.line(of: document.entries[last].whole.lowerBound)
        report(
            .duplicateKey, at: entry.whole.lowerBound, LeafPath(key: key),
            "the key stands again in line \(line), and that copy counts; join the two and keep one")
    }

    // MARK: One entry

    private mutating func checkEntry() {
        if entry.name.isEmpty {
            report(.emptyKey, at: entry.whole.lowerBound, LeafPath(key: ""), "the key is empty; remove it, and Text(\"\") from the code")
        }
        guard bytes[Int(entry.valueStart)] == 0x7b else {
            return report(.malformed, at: entry.whole.lowerBound, LeafPath(key: key), "an entry is an object; write { } for one without translations")
        }
        leaves.removeAll(keepingCapacity: true)
        localizations.removeAll(keepingCapacity: true)
        reportDuplicates(in: -1, .duplicateMember)
        var isStale = false
        var isTranslatable = true
        var isManual = false
        for i in outline.children(of: -1) {
            if outline.isNamed(i, "localizations") {
                guard outline.isObject(i) else {
                    report(.malformed, at: i, "localizations are an object, with a member for each language")
                    continue
                }
                checkLocalizations(i)
            } else if outline.isNamed(i, "extractionState") {
                isStale = outline.holds(i, "stale")
                isManual = outline.holds(i, "manual")
                if !isStale, !isManual, !outline.holds(i, "extracted_with_value"), !outline.holds(i, "migrated") {
                    report(.unknownState, at: i, "this extraction state is not known; Xcode writes manual, extracted_with_value, migrated or stale")
                }
            } else if outline.isNamed(i, "shouldTranslate") {
                isTranslatable = outline.kind(i) != 0x66
            } else if outline.isNamed(i, "generatesSymbol") {
                if outline.kind(i) == 0x66 { isManual = false }
            } else if outline.isNamed(i, "stringUnit") || outline.isNamed(i, "variations") {
                report(.malformed, at: i, "a text stands directly in the entry; move it into \"localizations\", below its language")
            }
        }
        if isManual { noteSymbol() }
        // Nothing in the code asks for a stale text any more.
        if !isStale { checkTexts(isTranslatable: isTranslatable) }
    }

    private mutating func checkLocalizations(_ localizations: Int) {
        reportDuplicates(in: localizations, .duplicateLanguage)
        for i in outline.children(of: localizations) {
            let language = languages.language(of: outline.nodes[i].member, in: bytes)
            guard outline.isObject(i) else {
                report(.malformed, at: i, in: i, "a localization is an object; write { \"stringUnit\" : … } around the text")
                continue
            }
            let isSource = languageIdentity(bytes.array(outline.nodes[i].member.name)) == source
            self.localizations.append(Localization(member: i, isSource: isSource, leaves: leaves.count..<leaves.count))
            checkLocalization(i, i, language, category: nil, substitution: nil)
            self.localizations[self.localizations.count - 1].leaves = self.localizations.last!.leaves.lowerBound..<leaves.count
        }
        reportSpelledTwice(in: localizations)
    }

    /// A localization, or what stands in its form below a plural category or a device.
    private mutating func checkLocalization(_ i: Int, _ localization: Int, _ language: Int, category: Int?, substitution: Int?) {
        if i != localization { reportDuplicates(in: i, .duplicateMember, localization) }
        for child in outline.children(of: i) {
            if outline.isNamed(child, "stringUnit") {
                checkUnit(child, localization, category: category, substitution: substitution)
            } else if outline.isNamed(child, "variations") {
                checkVariations(child, localization, language, category: category, substitution: substitution)
            } else if outline.isNamed(child, "substitutions"), i == localization {
                checkSubstitutions(child, localization, language)
            } else if outline.isNamed(child, "stringSet") {
                checkState(of: child, localization)
            }
        }
    }

    private mutating func checkUnit(_ unit: Int, _ localization: Int, category: Int?, substitution: Int?) {
        guard outline.isObject(unit) else {
            return report(.malformed, at: unit, in: localization, "a string unit is an object with \"state\" and \"value\"")
        }
        checkState(of: unit, localization)
        guard let value = outline.child(unit, "value"), outline.isString(value) else {
            return report(
                .malformed, at: unit, in: localization,
                "the string unit has no text; add \"value\" : \"…\", or remove the language from this entry")
        }
        leaves.append(Leaf(value: value, category: category, substitution: substitution))
    }

    private func checkState(of unit: Int, _ localization: Int) {
        reportDuplicates(in: unit, .duplicateMember, localization)
        guard let state = outline.child(unit, "state") else {
            return report(
                .missingState, at: unit, in: localization,
                "the text has no state; add \"state\" : \"needs_review\", or \"translated\" if it was looked at")
        }
        let isKnown =
            outline.holds(state, "translated") || outline.holds(state, "needs_review") || outline.holds(state, "new")
            || outline.holds(state, "machine_translated") || outline.holds(state, "stale")
        if !isKnown { report(.unknownState, at: state, in: localization, "this state is not known; Xcode writes translated, needs_review or new") }
    }

    private mutating func checkVariations(_ variations: Int, _ localization: Int, _ language: Int, category: Int?, substitution: Int?) {
        reportDuplicates(in: variations, .duplicateMember, localization)
        for kind in outline.children(of: variations) {
            guard outline.isObject(kind) else {
                report(.malformed, at: kind, in: localization, "variations are objects, with a member for each category")
                continue
            }
            reportDuplicates(in: kind, .duplicateMember, localization)
            let isPlural = outline.isNamed(kind, "plural")
            if isPlural { checkCategories(kind, localization, language) } else { checkDevices(kind, localization) }
            for child in outline.children(of: kind) where outline.isObject(child) {
                checkLocalization(child, localization, language, category: isPlural ? child : category, substitution: substitution)
            }
        }
    }

    private mutating func checkSubstitutions(_ substitutions: Int, _ localization: Int, _ language: Int) {
        localizations[localizations.count - 1].substitutions = substitutions
        reportDuplicates(in: substitutions, .duplicateMember, localization)
        for child in outline.children(of: substitutions) where outline.isObject(child) {
            checkLocalization(child, localization, language, category: nil, substitution: child)
        }
    }

    // MARK: Plurals and devices

    private mutating func checkCategories(_ plural: Int, _ localization: Int, _ language: Int) {
        var present: Set<PluralCategory> = []
        for child in outline.children(of: plural) {
            if let category = category(child) {
                present.insert(category)
            } else {
                report(.unknownVariation, at: child, in: localization, "this is no plural category; there are zero, one, two, few, many and other")
            }
        }
        if !present.contains(.other) {
            report(.pluralOther, at: plural, in: localization, "the plural has no text for \"other\", which every language needs; add it")
        }
        guard policy[.pluralCategory] != nil || policy[.pluralCategoryRare] != nil, let known = plurals(of: language, localization) else { return }
        let absent = known.needed.subtracting(present).subtracting([.other])
        if !absent.isEmpty {
            report(
                .pluralCategory, at: plural, in: localization,
                "\(outline.name(localization)) counts with \(words(known.needed)); add a text for \(words(absent))")
        }
        let rare = known.rare.subtracting(present)
        if !rare.isEmpty {
            report(
                .pluralCategoryRare, at: plural, in: localization,
                "\(outline.name(localization)) has \(words(rare)) for fractions or very large numbers; add a text if such can occur")
        }
    }

    func category(_ member: Int) -> PluralCategory? {
        if outline.isNamed(member, "other") { return .other }
        if outline.isNamed(member, "one") { return .one }
        if outline.isNamed(member, "few") { return .few }
        if outline.isNamed(member, "many") { return .many }
        if outline.isNamed(member, "two") { return .two }
        return outline.isNamed(member, "zero") ? .zero : nil
    }

    private func words(_ categories: Set<PluralCategory>) -> String {
        PluralCategory.allCases.filter(categories.contains).map { "\($0)" }.joined(separator: ", ")
    }

    private mutating func plurals(of language: Int, _ localization: Int) -> Plurals? {
        if let known = plurals[language] { return known }
        let code = outline.name(localization)
        var found: Plurals?
        if let all = pluralCategories(of: code), let needed = pluralCategoriesOfIntegers(of: code) {
            found = Plurals(needed: needed, rare: all.subtracting(needed).subtracting([.other]))
        }
        plurals[language] = .some(found)
        return found
    }

    private func checkDevices(_ kind: Int, _ localization: Int) {
        guard outline.isNamed(kind, "device") else {
            return report(.unknownVariation, at: kind, in: localization, "a text varies by \"plural\" or \"device\"; Xcode knows no other variation")
        }
        for child in outline.children(of: kind) {
            let names: [StaticString] = ["iphone", "ipad", "ipod", "mac", "applewatch", "appletv", "applevision", "other"]
            if !names.contains(where: { outline.isNamed(child, $0) }) {
                report(
                    .unknownVariation, at: child, in: localization,
                    "this is no device; there are iphone, ipad, ipod, mac, applewatch, appletv, applevision and other")
            }
        }
    }

    // MARK: Names that stand twice

    /// As many members of an object are told apart by a filter; a set of names does more, at a higher price.
    private static let filteredMax = 64

    private func reportDuplicates(in object: Int, _ rule: CheckRule, _ localization: Int? = nil) {
        // A filter of 256 bits: all but damaged files have no copies. In large objects it would be full soon.
        var seen: InlineArray<4, UInt64> = [0, 0, 0, 0]
        var names: Set<[UInt8]> = []
        for (count, i) in outline.children(of: object).enumerated() {
            let member = outline.nodes[i].member
            let hash = nameHash(bytes, member)
            let word = Int(hash >> 6 & 3)
            let bit: UInt64 = 1 << (hash & 63)
            let isCopy: Bool
            if count < CatalogCheck.filteredMax {
                let isBefore = { (other: Int) in other < i && sameName(bytes, outline.nodes[other].member, bytes, member) }
                isCopy = seen[word] & bit != 0 && outline.children(of: object).contains(where: isBefore)
            } else {
                if count == CatalogCheck.filteredMax {
                    names = Set(outline.children(of: object).prefix(count).map { decoded(bytes, outline.nodes[$0].member.name) })
                }
                isCopy = !names.insert(decoded(bytes, member.name)).inserted
            }
            if isCopy {
                let isLanguage = rule == .duplicateLanguage
                report(
                    rule, at: i, in: isLanguage ? i : localization,
                    "\(isLanguage ? "the language" : "\"\(outline.name(i))\"") stands twice here, and the last copy counts; keep one of the two")
            }
            seen[word] |= bit
        }
    }

    /// One language in two spellings in one entry. The languages of the whole file tell whether there can be such a pair.
    private func reportSpelledTwice(in localizations: Int) {
        guard languages.hasMixedSpellings else { return }
        var seen: [[UInt8]: Int] = [:]
        for i in outline.children(of: localizations) {
            let identity = languageIdentity(decoded(bytes, outline.nodes[i].member.name))
            if let other = seen[identity], !sameName(bytes, outline.nodes[other].member, bytes, outline.nodes[i].member) {
                // The one that is told does not depend on the order in the file.
                let (kept, told) = outline.name(i) < outline.name(other) ? (i, other) : (other, i)
                report(
                    .duplicateLanguage, at: told, in: told,
                    "the language stands here as \"\(outline.name(kept))\" too; join the two under one spelling")
            }
            seen[identity] = i
        }
    }

    // MARK: The file as a whole

    private func reportSpellings() {
        guard languages.hasMixedSpellings else { return }
        let byLanguage = Dictionary(grouping: languages.spellings) { $0.language }
        for spelling in languages.spellings {
            let same = byLanguage[spelling.language]!.filter { $0.text != spelling.text }
            guard let most = same.max(by: { $0.count < $1.count }) else { continue }
            let isUsual = spelling.count > most.count || (spelling.count == most.count && spelling.text < most.text)
            guard !isUsual else { continue }
            report(
                .languageSpelling, at: spelling.name.lowerBound - 1, LeafPath(language: spelling.text),
                "the language is spelled \"\(most.text)\" elsewhere in the file (\(most.count) times, this way \(spelling.count)); use one spelling")
        }
    }

    private mutating func reportCoverage() {
        guard let languages = coverage?.finish() else { return }
        for language in languages where !language.isSource {
            let open = language.missing + language.new
            guard open > 0 else { continue }
            let more = open - language.openKeys.count
            let keys = language.openKeys.map { "\"\($0)\"" }.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
            report(
                .missingTranslation, at: document.root.lowerBound, LeafPath(language: language.language),
                "\(open) of \(language.texts) texts are not translated (\(language.permille / 10) % are): \(keys)")
        }
    }

    private mutating func noteSymbol() {
        guard policy[.symbol] != nil else { return }
        let key = decoded(bytes, entry.name)
        guard let symbol = generatedSymbol(of: key) else { return }
        symbols[symbol, default: [:]][key] = entry.whole.lowerBound
    }

    /// Of the keys of one symbol all but the first by code points are told, whatever their order in the file.
    private func reportSymbols() {
        for (symbol, keys) in symbols where keys.count > 1 {
            let sorted = keys.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            let first = String(decoding: sorted[0].key, as: UTF8.self)
            for (key, offset) in sorted.dropFirst() {
                report(
                    .symbol, at: offset, LeafPath(key: String(decoding: key, as: UTF8.self)),
                    "this key gives the same Swift symbol as \"\(first)\" (\(symbol)), and Xcode refuses to build both; rename one")
            }
        }
    }
}

/// The faults that one check has found. Their lines are counted when somebody asks: a sound catalog needs none.
private final class FoundFaults {
    private struct Fault {
        let rule: CheckRule
        let severity: Severity
        let offset: Int
        let place: LeafPath
        let sentence: String

        var identity: String { Finding.identity(rule, place, path: "") }
    }

    private let bytes: Bytes
    private var faults: [Fault] = []
    private(set) lazy var lines = LineIndex(bytes)

    init(_ bytes: Bytes) { self.bytes = bytes }

    func add(_ rule: CheckRule, _ severity: Severity, at offset: Int, _ place: LeafPath, _ sentence: String) {
        faults.append(Fault(rule: rule, severity: severity, offset: offset, place: place, sentence: sentence))
    }

    var isEmpty: Bool { faults.isEmpty }

    /// Drops those that another version has too, each as often as it has it.
    func drop(_ known: FoundFaults) {
        var left: [String: Int] = [:]
        for fault in known.faults { left[fault.identity, default: 0] += 1 }
        faults.removeAll { fault in
            guard let count = left[fault.identity], count > 0 else { return false }
            left[fault.identity] = count - 1
            return true
        }
    }

    /// In the order of their places.
    var findings: [Finding] {
        // In the order of their places, so that each column is counted on from the one before: a file may be one line.
        var last = (offset: 0, line: 0, column: 1)
        return faults.enumerated().sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }.map { _, fault in
            let line = lines.line(of: fault.offset)
            if line != last.line { last = (lines.starts[line - 1], line, 1) }
            last = (fault.offset, line, last.column + lines.columns(in: last.offset..<fault.offset))
            return Finding(
                rule: fault.rule, severity: fault.severity, line: line, column: last.column, place: fault.place, sentence: fault.sentence)
        }
    }
}
