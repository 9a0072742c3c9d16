// The merge of a catalog as a whole: which entries differ, what becomes of each, where new ones go; then the output is
// written, read back and held against the plan before anybody sees it.

import Synchronization

/// The outcome of a merge: a catalog that can be committed, and what has to be told about it.
public struct CatalogMerge: Sendable {
    /// The merged catalog: the target's bytes with splices. The very bytes of the target where nothing came over.
    public let bytes: Bytes
    /// Whether the result is the target as it stands.
    public let isUnchanged: Bool
    public package(set) var report: MergeReport
    /// Whether a person has to decide something. The result is valid all the same.
    public var hasConflicts: Bool { !report.conflicts.isEmpty }

    package init(bytes: Bytes, isUnchanged: Bool, report: MergeReport) {
        self.bytes = bytes
        self.isUnchanged = isUnchanged
        self.report = report
    }
}

/// A result that did not pass its own check. It is a bug of the engine; nothing may be written.
public struct MergeFault: Error, CustomStringConvertible, Sendable {
    public let description: String
    /// The key at which it shows, where it is one. With this key in ``MergePolicy/holding``, the rest may merge.
    public let key: String?

    package init(description: String, key: String? = nil) {
        self.description = description
        self.key = key
    }
}

/// Merges `theirs` into `ours`, leaf by leaf; bytes of `ours` outside the edited leaves do not move.
///
/// A missing `base` treats every leaf present on both sides as added twice. Before it returns, the output is parsed, its
/// difference from `ours` is held against the plan, and a second merge must plan nothing.
/// - Parameters:
///   - atOnce: where it is given, a large output is checked while it is written, and its memory made ready while it is planned.
///   - write: is given the output as soon as it is planned, so that it can be written somewhere while it is checked. What was
///     written counts only if this function returns.
/// - Throws: ``MergeFault`` where that check fails; the result is then not to be had.
public func merge(
    base: CatalogDocument?, ours: CatalogDocument, theirs: CatalogDocument, policy: MergePolicy = MergePolicy(),
    atOnce: AtOnce? = nil, write: @escaping @Sendable (CatalogPieces) -> Void = { _ in }
) throws(MergeFault) -> CatalogMerge {
    let base = base ?? CatalogDocument.empty
    var merger = Merger(base: base, ours: ours, theirs: theirs, policy: policy)
    var pieces: CatalogPieces?
    var plan = MergePlan(for: ours)
    func prepare() {
        plan = merger.plan()
        guard !plan.isEmpty else { return }
        var splicer = Splicer(ours, sides: merger.sides)
        pieces = splicer.write(plan)
    }
    let room = Mutex<Room?>(nil)
    if let atOnce {
        let size = ours.bytes.count + max(0, theirs.bytes.count - base.bytes.count) + Room.spareBytes
        atOnce(prepare) { room.withLock { $0 = Room(capacity: size) } }
    } else {
        prepare()
    }
    guard let pieces else { return CatalogMerge(bytes: ours.bytes, isUnchanged: true, report: merger.report) }

    var output: Result<Bytes, MergeFault>?
    func check() {
        let bytes = pieces.gathered(in: room.withLock { $0 })
        do throws(MergeFault) {
            try StringCatalog.check(bytes, against: plan, of: merger, base: base, ours: ours, theirs: theirs, policy: policy)
            output = .success(bytes)
        } catch { output = .failure(error) }
    }
    if let atOnce {
        atOnce(check) { write(pieces) }
    } else {
        check()
        write(pieces)
    }
    return CatalogMerge(bytes: try output!.get(), isUnchanged: false, report: merger.report)
}

/// The base of the *next* merge of the same two branches, after a merge that left conflicts was committed without
/// theirs as a parent: theirs, but with each held leaf as it was in `base`, so that it stays a conflict until a person
/// has decided it, while everything else counts as arrived.
/// - Parameter aliases: those that the merge was made with.
public func baseAfter(
    _ merge: CatalogMerge, base: CatalogDocument?, theirs: CatalogDocument, aliases: LanguageAliases = LanguageAliases()
) throws(MergeFault) -> Bytes {
    guard merge.hasConflicts else { return theirs.bytes }
    let base = base ?? CatalogDocument.empty
    var policy = MergePolicy()
    policy.aliases = aliases
    var merger = Merger(base: base, ours: theirs, theirs: base, policy: policy)
    merger.held = Set(merge.report.conflicts.map(\.path))
    let plan = merger.restoration()
    guard !plan.isEmpty else { return theirs.bytes }
    var splicer = Splicer(theirs, sides: merger.sides)
    return splicer.write(plan).gathered()
}

extension CatalogDocument {
    /// A catalog without anything in it: the base of two files that were both added.
    package static let empty = CatalogDocument()
}

/// One three-way merge in progress: the plan is made entry by entry, the report on the way.
struct Merger {
    let base, ours, theirs: CatalogDocument
    let sides: Sides
    let policy: MergePolicy
    var report = MergeReport()
    /// The language of the source texts, decoded, as the merged catalog names it; nil where no document says.
    private(set) var sourceLanguage: [UInt8]?
    /// Leaves that stay as in base; only for `baseAfter`.
    var held: Set<LeafPath> = []
    /// Languages whose removal by the translation side is held, in the form in which spellings are equal.
    var heldLanguages: Set<[UInt8]> = []

    // Where the merge stands, for the report.
    var key: Name?
    var language: Name?
    var fields: [String] = []
    /// Whether a rule wrote a state of its own into the present entry.
    var hasMarked = false
    /// The side that renamed the present key, while the other one edited it under its old name.
    var renamedBy: Side?

    init(base: CatalogDocument, ours: CatalogDocument, theirs: CatalogDocument, policy: MergePolicy, knowing: Sides? = nil) {
        self.base = base
        self.ours = ours
        self.theirs = theirs
        self.policy = policy
        sides = Sides(base: base.bytes, ours: ours.bytes, theirs: theirs.bytes, aliases: policy.aliases, knowing: knowing)
        sourceLanguage = (ours.sourceLanguage ?? theirs.sourceLanguage ?? base.sourceLanguage).map { policy.aliases.identity(of: $0) }
    }

    /// What the merge changes in ours.
    ///
    /// - Parameter settled: entries of ours of which is known that nothing becomes of them: what is decided about an entry
    ///   follows from its three states alone.
    mutating func plan(settled: [Bool] = []) -> MergePlan {
        var plan = MergePlan(for: ours)
        noteDamages()
        guard planTop(into: &plan) else { return MergePlan(for: ours) }
        let oursFromBase = ours.aligned(to: base)
        let theirsFromBase = theirs.aligned(to: base)
        findHeldLanguages(oursFromBase, theirsFromBase)
        var arriving: [(index: Int, merged: Merged)] = []
        let isPlain = !policy.flagsStale && policy.holding.isEmpty
        var hiddenInBase = Set<Int>()
        if base.hasDuplicates { hiddenInBase = Set(base.duplicateEntries) }

        func decide(_ merger: inout Merger, _ member: Member, in side: Side, _ values: ThreeWay<Value>, _ o: Int32, _ t: Int32) {
            merger.key = .read(side, member.name, isEscaped: member.isEscaped)
            merger.hasMarked = false
            let merged = merger.entry(values)
            if o >= 0 {
                if case .value(let own) = merged, own == values.ours { return }
                // A state that theirs changed and a rule set back again is no edit.
                if merger.hasMarked, Comparison(sides: merger.sides).equal(merged, values.ours) { return }
                plan.entries.set(Int(o), merged)
                if merged.isAbsent {
                    for copy in merger.ours.copies(of: Int(o)) { plan.entries.set(copy, .absent) }
                }
            } else if !merged.isAbsent {
                arriving.append((Int(t), merged))
            }
        }
        let renamed = (ours: renames(by: .ours, oursFromBase, theirsFromBase), theirs: renames(by: .theirs, theirsFromBase, oursFromBase))
        var arrivedByRename = Set<Int>()
        for j in base.entries.indices {
            let o = oursFromBase.entry[j]
            let t = theirsFromBase.entry[j]
            if o >= 0 && t >= 0 && oursFromBase.isSame[j] && theirsFromBase.isSame[j] { continue }
            if o < 0 && t < 0 || hiddenInBase.contains(j) { continue }
            if let new = renamed.ours[j], let merged = moved(j, to: new, by: .ours, from: Int(t)) {
                if case .value(let own) = merged, own.side == .ours { continue }
                plan.entries.set(new, merged)
                continue
            }
            if let new = renamed.theirs[j], let merged = moved(j, to: new, by: .theirs, from: Int(o)) {
                arrivedByRename.insert(new)
                arriving.append((new, merged))
                for copy in [Int(o)] + ours.copies(of: Int(o)) { plan.entries.set(copy, .absent) }
                continue
            }
            // What only ours changed stays, unless ours are translators, against whose tools some rules protect.
            if o >= 0 && t >= 0 && theirsFromBase.isSame[j] && policy.translationRole != .ours && !policy.flagsStale { continue }
            if o >= 0 && !settled.isEmpty && settled[Int(o)] { continue }
            let values = ThreeWay(
                base: Value(.base, base.entries[j].value), ours: o >= 0 ? Value(.ours, ours.entries[Int(o)].value) : nil,
                theirs: t >= 0 ? Value(.theirs, theirs.entries[Int(t)].value) : nil)
            if isPlain, let plain = plainly(values) {
                if plain.side == .theirs { plan.entries.set(Int(o), .value(plain)) }
                continue
            }
            decide(&self, base.entries[j], in: .base, values, o, t)
        }
        for t in theirsFromBase.added where !theirs.isHidden(Int(t)) && !arrivedByRename.contains(Int(t)) {
            let member = theirs.entries[Int(t)]
            let o = ours.entry(named: member, in: theirs.bytes).map(Int32.init) ?? -1
            if o >= 0 && !settled.isEmpty && settled[Int(o)] { continue }
            let values = ThreeWay(
                base: nil, ours: o >= 0 ? Value(.ours, ours.entries[Int(o)].value) : nil, theirs: Value(.theirs, member.value))
            decide(&self, member, in: .theirs, values, o, t)
        }
        key = nil
        arriving.sort { $0.index < $1.index }
        plan.added = placed(arriving, plan, oursFromBase, theirsFromBase)
        if !plan.added.isEmpty, ours.stringsMember == nil {
            // A target without `strings` gets it whole.
            let members = plan.added.map { Patch(name: $0.name, merged: $0.merged) }
            plan.added = []
            plan.top.append(Patch(name: .literal("strings"), merged: .fresh(members)))
        }
        return plan
    }

    /// What becomes of an entry, or of one language of it, about which no rule has anything to say, found without a look at its
    /// members: both sides have it alike, or one left it as it was and the other changed nothing in it but strings. Nil where
    /// that is not so.
    func plainly(_ v: ThreeWay<Value>) -> Value? {
        guard let ours = v.ours, let theirs = v.theirs else { return nil }
        if sides.isSame(ours, theirs) { return ours }
        guard let base = v.base else { return nil }
        if sides.isSame(base, ours), let strings = sides.differingStrings(ours, theirs) { return strings.isEmpty ? ours : theirs }
        return sides.isSame(base, theirs) && sides.differingStrings(theirs, ours) != nil ? ours : nil
    }

    // MARK: Renamed keys

    /// The keys that the source branch deleted while the other side edited them, each with the one key that it added for the
    /// same source text. Keys that are their own source text are never taken for renamed. Without roles nobody owns the
    /// keys, and such a deletion stays a conflict for a person.
    private func renames(by side: Side, _ own: Alignment, _ across: Alignment) -> [Int: Int] {
        guard policy.sourceRole == side else { return [:] }
        let (document, other) = side == .ours ? (ours, theirs) : (theirs, ours)
        guard !own.added.isEmpty else { return [:] }
        let gone = base.entries.indices.filter { own.entry[$0] < 0 && across.entry[$0] >= 0 }
        guard gone.contains(where: { !across.isSame[$0] }) else { return [:] }

        var added: [[UInt8]: [Int]] = [:]
        for index in own.added.map(Int.init) where !document.isHidden(index) {
            let member = document.entries[index]
            guard other.entry(named: member, in: document.bytes) == nil else { continue }
            if let text = sourceText(Value(side, member.value), decoded(document.bytes, member.name)) { added[text, default: []].append(index) }
        }
        var deleted: [[UInt8]: [Int]] = [:]
        for j in gone {
            let member = base.entries[j]
            if let text = sourceText(Value(.base, member.value), decoded(base.bytes, member.name)) { deleted[text, default: []].append(j) }
        }
        var renames: [Int: Int] = [:]
        for (text, old) in deleted where old.count == 1 && !across.isSame[old[0]] {
            if let new = added[text], new.count == 1 { renames[old[0]] = new[0] }
        }
        return renames
    }

    /// The source text of an entry; nil where it has none, or where the key is the text.
    private func sourceText(_ entry: Value, _ key: [UInt8]) -> [UInt8]? {
        guard let localizations = sides.member(entry, "localizations"),
            let source = sides.items(localizations).last(where: { isSource($0.name) })?.value,
            let text = sides.member(source, "stringUnit").flatMap({ sides.member($0, "value") }), sides.isString(text)
        else { return nil }
        let bytes = sides.string(text)
        return bytes == key ? nil : bytes
    }

    /// What becomes of a renamed key under its new name: the edits that were made under the old one move there. Nil where
    /// they cannot, without a conflict; then the key counts as deleted.
    private mutating func moved(_ j: Int, to new: Int, by side: Side, from old: Int) -> Merged? {
        let (document, other) = side == .ours ? (ours, theirs) : (theirs, ours)
        let member = document.entries[new]
        let edited = Value(side.other, other.entries[old].value)
        let before = Value(.base, base.entries[j].value)
        guard EntryChange(of: before, to: edited, sides, sourceLanguage).isOnlyEditedTranslations else { return nil }
        let mark = report.mark
        let name = Value(side, member.value)
        key = .read(.base, base.entries[j].name, isEscaped: base.entries[j].isEscaped)
        decide("the key was renamed", String(decoding: decoded(document.bytes, member.name), as: UTF8.self))
        let oldKey = key
        key = .read(side, member.name, isEscaped: member.isEscaped)
        renamedBy = side
        let merged = entry(ThreeWay(base: before, ours: side == .ours ? name : edited, theirs: side == .ours ? edited : name))
        renamedBy = nil
        guard report.conflicts.count == mark.conflicts else {
            report.rewind(to: mark)
            return nil
        }
        key = oldKey
        loseTexts(of: edited, "the key was renamed", except: merged)
        return merged
    }

    private mutating func noteDamages() {
        guard base.hasDuplicates || ours.hasDuplicates || theirs.hasDuplicates else { return }
        for (document, name) in [(base, "base"), (ours, "ours"), (theirs, "theirs")] where document.hasDuplicates {
            for i in document.duplicateEntries {
                let place = document.bytes.lineAndColumn(of: document.entries[i].whole.lowerBound)
                let key = String(decoding: decoded(document.bytes, document.entries[i].name), as: UTF8.self)
                report.damages.append("\(name) has the key \"\(key)\" more than once (line \(place.line)); its last copy counts")
            }
        }
    }

    /// Plans the top level beside `strings`. False where the file as a whole cannot be merged.
    private mutating func planTop(into plan: inout MergePlan) -> Bool {
        let roots = ThreeWay(base: base.topItems(.base), ours: ours.topItems(.ours), theirs: theirs.topItems(.theirs))
        for (name, values) in sides.paired(roots) where !sides.isNamed(name, "strings") {
            fields = [sides.text(name)]
            let merged: Merged
            if sides.isNamed(name, "version") {
                guard let version = version(values) else { return false }
                merged = version
            } else if sides.isNamed(name, "sourceLanguage") {
                if let ours = values.ours, let theirs = values.theirs, policy.aliases.areSame(sides.text(ours), sides.text(theirs)) {
                    // Two spellings of one language: the target's stays.
                    continue
                }
                if values.ours != nil, values.theirs != nil, !sides.equal(values.base, values.ours), !sides.equal(values.base, values.theirs) {
                    let conflicts = report.conflicts.count
                    merged = undecided(values, "the two sides name different source languages; set one in both files")
                    guard report.conflicts.count == conflicts else { return false }
                } else {
                    merged = general(values)
                }
                // The rules go by the language that the file will have, whichever side named it: else a merge with the sides
                // exchanged, or the second one of the check, would decide otherwise.
                if case .value(let value) = merged, sides.isString(value) { sourceLanguage = policy.aliases.identity(of: sides.string(value)) }
                if case .literal(let lexeme) = merged { sourceLanguage = policy.aliases.identity(of: decoded(Bytes(lexeme), 1..<lexeme.count - 1)) }
            } else {
                merged = general(values)
            }
            if case .value(let own) = merged, own == values.ours { continue }
            if merged.isAbsent && values.ours == nil { continue }
            plan.top.append(Patch(name: name, merged: merged))
        }
        fields = []
        return true
    }

    /// The higher of two known versions; nil where a version is one that nobody knows yet.
    private mutating func version(_ values: ThreeWay<Value>) -> Merged? {
        func minor(_ value: Value?) -> Int? {
            guard let value else { return -1 }
            let parts = sides.text(value).split(separator: ".")
            guard parts.count == 2, parts[0] == "1" else { return nil }
            return Int(parts[1])
        }
        guard let ours = minor(values.ours), let theirs = minor(values.theirs) else {
            conflict(values, "this version of the format is not known here; the file is left as it is")
            return nil
        }
        if sides.equal(values.base, values.ours) || sides.equal(values.base, values.theirs) || sides.equal(values.ours, values.theirs) {
            return general(values)
        }
        decide("version: the higher one", theirs > ours ? "theirs" : "ours")
        return theirs > ours ? values.theirs.map { .value($0) } : values.ours.map { .value($0) }
    }

    // MARK: Placing

    /// Where arriving entries stand in ours: behind the entry that they follow in theirs. Where ours has new entries of its
    /// own at that place, the two runs are put together in the file's order, so that either order of merging gives equal bytes.
    private func placed(_ arriving: [(index: Int, merged: Merged)], _ plan: MergePlan, _ oursFromBase: Alignment, _ theirsFromBase: Alignment) -> [NewMember] {
        guard !arriving.isEmpty else { return [] }
        var inOurs = [Int32](repeating: -1, count: theirs.entries.count)
        var isNewInOurs = [Bool](repeating: false, count: ours.entries.count)
        // Entries of theirs that come back: ours had deleted them.
        var isReturning = [Bool](repeating: false, count: theirs.entries.count)
        for j in base.entries.indices where theirsFromBase.entry[j] >= 0 {
            inOurs[Int(theirsFromBase.entry[j])] = oursFromBase.entry[j]
            isReturning[Int(theirsFromBase.entry[j])] = true
        }
        for o in oursFromBase.added { isNewInOurs[Int(o)] = true }
        for t in theirsFromBase.added {
            guard let o = ours.entry(named: theirs.entries[Int(t)], in: theirs.bytes) else { continue }
            inOurs[Int(t)] = Int32(o)
            isNewInOurs[o] = false
        }
        func isKept(_ o: Int32) -> Bool { o >= 0 && plan.entries[Int(o)]?.isAbsent != true }
        var isArriving = [Bool](repeating: false, count: theirs.entries.count)
        for item in arriving { isArriving[item.index] = true }
        var order: KeyOrder?
        func isBefore(_ a: [UInt8], _ b: [UInt8]) -> Bool {
            if order == nil { order = KeyOrder.detected(in: base.entries.count > 1 ? base : ours) ?? .xcode }
            return order!.isBefore(a, b)
        }
        var out: [NewMember] = []
        var i = 0
        while i < arriving.count {
            // The entry that this run follows.
            var k = arriving[i].index - 1
            while k >= 0, !isKept(inOurs[k]) { k -= 1 }
            let anchor = k >= 0 ? Int(inOurs[k]) : -1
            // All that arrive behind the same entry.
            var run: [(index: Int, merged: Merged)] = [arriving[i]]
            i += 1
            while i < arriving.count {
                let between = (run.last!.index + 1)..<arriving[i].index
                guard between.allSatisfy({ !isKept(inOurs[$0]) && !isArriving[$0] }) else { break }
                run.append(arriving[i])
                i += 1
            }
            var after = anchor
            var o = anchor + 1
            for item in run {
                let member = theirs.entries[item.index]
                let name = decoded(theirs.bytes, member.name)
                while o < ours.entries.count {
                    if plan.entries[o]?.isAbsent == true {
                        o += 1
                        continue
                    }
                    // An entry that comes back stands behind all that is new at its place, as it does where it never went.
                    guard isNewInOurs[o], isReturning[item.index] || isBefore(decoded(ours.bytes, ours.entries[o].name), name) else { break }
                    after = o
                    o += 1
                }
                out.append(NewMember(name: .read(.theirs, member.name, isEscaped: member.isEscaped), merged: item.merged, after: after))
            }
        }
        return out.enumerated().sorted { ($0.element.after, $0.offset) < ($1.element.after, $1.offset) }.map(\.element)
    }

    // MARK: Partial exports

    /// Finds languages of which the translation side lost most texts at once: a partial export looks the same.
    private mutating func findHeldLanguages(_ oursFromBase: Alignment, _ theirsFromBase: Alignment) {
        guard let role = policy.translationRole else { return }
        let alignment = role == .ours ? oursFromBase : theirsFromBase
        let across = role == .ours ? theirsFromBase : oursFromBase
        let (document, other) = role == .ours ? (ours, theirs) : (theirs, ours)
        var lost: [[UInt8]: Int] = [:]
        /// How the base spells each language that went.
        var spelling: [[UInt8]: String] = [:]
        func names(_ document: CatalogDocument, _ side: Side, _ index: Int) -> [Name] {
            guard let localizations = sides.member(Value(side, document.entries[index].value), "localizations") else { return [] }
            return sides.items(localizations).map(\.name)
        }
        func languages(_ document: CatalogDocument, _ side: Side, _ index: Int) -> [[UInt8]] { names(document, side, index).map { sides.identity(of: $0) } }
        for j in base.entries.indices where !alignment.isSame[j] && alignment.entry[j] >= 0 {
            let had = names(base, .base, j)
            // What the other side removed too, nobody misses. The entry may even be that side's, back for a key that the export dropped.
            var has = Set(languages(document, role, Int(alignment.entry[j])))
            if across.entry[j] >= 0, !across.isSame[j] {
                has.formUnion(Set(had.map { sides.identity(of: $0) }).subtracting(languages(other, role.other, Int(across.entry[j]))))
            }
            for name in had {
                let language = sides.identity(of: name)
                guard !has.contains(language) else { continue }
                lost[language, default: 0] += 1
                if spelling[language] == nil { spelling[language] = sides.text(name) }
            }
        }
        guard !lost.isEmpty else { return }
        var total: [[UInt8]: Int] = [:]
        for j in base.entries.indices {
            for language in languages(base, .base, j) { total[language, default: 0] += 1 }
        }
        // In order: two merges of the same give the same report.
        for (language, count) in lost.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) where Double(count) > policy.lostShareMax * Double(total[language] ?? 0) {
            heldLanguages.insert(language)
            report.decisions.append(Decision(
                path: LeafPath(language: spelling[language] ?? String(decoding: language, as: UTF8.self)), rule: "a partial export removes nothing",
                outcome: "\(count) of \(total[language] ?? 0) texts were missing on the translation side and stay"))
        }
    }

    // MARK: The base of the next merge

    /// Here ours is the incoming document and theirs the old base: puts held leaves back as they were.
    mutating func restoration() -> MergePlan {
        var plan = MergePlan(for: ours)
        let known = ours.aligned(to: base)
        var back: [(index: Int, merged: Merged)] = []
        let byKey = Dictionary(grouping: held.filter { $0.key != nil }) { Array($0.key!.utf8) }
        let top = held.filter { $0.key == nil }.map { $0.field ?? "" }
        // These hold the file as a whole: nothing of it has arrived.
        if top.contains(where: { ["", "version", "sourceLanguage"].contains($0) }) { return wholeBase() }
        if case .patched(_, let patches, _) = restored(Value(.ours, ours.root), to: Value(.theirs, base.root), top) { plan.top = patches }
        for paths in byKey.values {
            let key = paths[0].key!
            let b = base.entry(saying: key)
            let o = ours.entry(saying: key)
            if let o {
                let own = Value(.ours, ours.entries[o].value)
                let merged = restored(own, to: b.map { Value(.theirs, base.entries[$0].value) }, paths)
                if case .value(own) = merged { continue }
                plan.entries.set(o, merged)
                if merged.isAbsent { ours.copies(of: o).forEach { plan.entries.set($0, .absent) } }
            } else if let b {
                back.append((b, .value(Value(.theirs, base.entries[b].value))))
            }
        }
        back.sort { $0.index < $1.index }
        for item in back {
            var k = item.index - 1
            while k >= 0, known.entry[k] < 0 { k -= 1 }
            let member = base.entries[item.index]
            plan.added.append(NewMember(
                name: .read(.theirs, member.name, isEscaped: member.isEscaped), merged: item.merged, after: k >= 0 ? Int(known.entry[k]) : -1))
        }
        plan.added = plan.added.enumerated().sorted { ($0.element.after, $0.offset) < ($1.element.after, $1.offset) }.map(\.element)
        return plan
    }

    private func wholeBase() -> MergePlan {
        var plan = MergePlan(for: ours)
        let roots = ThreeWay(base: nil, ours: ours.topItems(.ours), theirs: base.topItems(.theirs))
        for (name, values) in sides.paired(roots) {
            plan.top.append(Patch(name: name, merged: values.theirs.map { .value($0) } ?? .absent))
        }
        return plan
    }

    /// An entry of theirs with the held leaves of `old`.
    private func restored(_ own: Value, to old: Value?, _ paths: [LeafPath]) -> Merged {
        guard sides.isObject(own), !paths.contains(where: { $0.language == nil && $0.field == nil }) else {
            return old.map { .value($0) } ?? .absent
        }
        var fields = paths.filter { $0.language == nil }.compactMap(\.field)
        // A comment and what belongs to it are one leaf.
        if fields.contains("comment") { fields += commentNames.map(\.description) }
        var merged = restored(own, to: old, fields)
        let held = Dictionary(grouping: paths.filter { $0.language != nil }) { policy.aliases.identity(of: $0.language!) }
        guard !held.isEmpty else { return merged }
        let mine = sides.member(own, "localizations")
        var languages: [Patch] = []
        for (name, pair) in sides.paired(ThreeWay(base: nil, ours: mine, theirs: old.flatMap { sides.member($0, "localizations") }), languages: true) {
            guard let paths = held[sides.identity(of: name)] else { continue }
            languages.append(Patch(name: name, merged: restored(pair.ours, to: pair.theirs, paths.map { $0.field ?? "" })))
        }
        if !languages.isEmpty {
            let inner = mine.map { Merged.patched($0, languages, .languages) } ?? .fresh(languages.filter { !$0.merged.isAbsent })
            var patches = [Patch(name: .literal("localizations"), merged: inner)]
            if case .patched(_, let others, _) = merged { patches += others }
            merged = .patched(own, patches, .codePoints)
        }
        return merged
    }

    /// A value of theirs with what stands at these places, each a path of names joined by dots, as it was in `old`.
    private func restored(_ own: Value?, to old: Value?, _ places: [String]) -> Merged {
        guard let own, sides.isObject(own), !places.contains("") else { return old.map { .value($0) } ?? .absent }
        var patches: [Patch] = []
        for (name, pair) in sides.paired(ThreeWay(base: nil, ours: own, theirs: old)) {
            let text = sides.text(name)
            let inner = places.compactMap { $0 == text ? "" : $0.hasPrefix(text + ".") ? String($0.dropFirst(text.count + 1)) : nil }
            if !inner.isEmpty { patches.append(Patch(name: name, merged: restored(pair.ours, to: pair.theirs, inner))) }
        }
        return patches.isEmpty ? .value(own) : .patched(own, patches, .codePoints)
    }
}

extension CatalogDocument {
    /// How the entries here relate to those of `reference`; found anew where the document was read without it.
    func aligned(to reference: CatalogDocument) -> Alignment {
        if let alignment, alignment.reference === reference.bytes { return alignment }
        var found = Alignment(count: reference.entries.count, reference: reference.bytes)
        for (i, member) in entries.enumerated() {
            if let twin = reference.entry(named: member, in: bytes) {
                let other = reference.entries[twin]
                found.set(twin, entry: Int32(i), isSame: bytes.equal(member.value, reference.bytes, other.value))
            } else {
                found.added.append(Int32(i))
            }
        }
        return found
    }

    /// The last entry whose key reads as this text, as a report has it.
    func entry(saying key: String) -> Int? {
        let quoted = Bytes(Style.xcode.quoted(key))
        let name = Member(
            nameStart: 1, nameEnd: UInt32(quoted.count - 1), valueStart: 0, valueEnd: 0, isEscaped: quoted.contains(0x5c, in: 0..<quoted.count))
        if let found = entry(named: name, in: quoted) { return found }
        // What is not UTF-8 reads as U+FFFD.
        guard key.unicodeScalars.contains("\u{fffd}") else { return nil }
        return entries.lastIndex { String(decoding: decoded(bytes, $0.name), as: UTF8.self).utf8.elementsEqual(key.utf8) }
    }

    /// Whether a later copy of its key hides an entry.
    func isHidden(_ index: Int) -> Bool {
        hasDuplicates && entry(named: entries[index], in: bytes) != index
    }

    /// The other entries that have the key of this one.
    func copies(of index: Int) -> [Int] {
        guard hasDuplicates else { return [] }
        return entries.indices.filter { $0 != index && sameName(bytes, entries[$0], bytes, entries[index]) }
    }
}
