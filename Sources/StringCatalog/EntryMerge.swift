// The rules of an entry: keys that come and go, comments, extraction, and what no rule names.

extension Merger {
    // MARK: Report

    var path: LeafPath {
        // Not `joined`: its first use takes longer than all places of a small merge.
        LeafPath(key: key.map(sides.text), language: language.map(sides.text), field: fields.isEmpty ? nil : fields.dropFirst().reduce(fields[0]) { $0 + "." + $1 })
    }

    mutating func conflict(_ values: ThreeWay<Value>, _ why: String) {
        report.conflicts.append(MergeConflict(
            path: path, base: values.base.map(sides.text), ours: values.ours.map(sides.text), theirs: values.theirs.map(sides.text), why: why))
        // Texts inside an object that is held back whole are named one by one: nobody has to read JSON to find them.
        guard policy.recordsLosses, let theirs = values.theirs, sides.isObject(theirs) else { return }
        let known = Set(values.base.map(texts) ?? []).union(values.ours.map(texts) ?? [])
        let before = report.losses.count
        loseTexts(in: theirs, Loss.heldBack)
        report.losses = report.losses[..<before] + report.losses[before...].filter { !known.contains(Array($0.text.utf8)) }
    }

    /// All texts below a value.
    private func texts(_ value: Value) -> [[UInt8]] {
        var texts: [[UInt8]] = []
        sides.eachText(in: value) { _, text in texts.append(sides.string(text)) }
        return texts
    }

    /// The texts that a member of a unit is: one for `value`, several for the `values` of a string set; nil for any other.
    func ownTexts(_ name: Name, _ value: Value) -> [Value]? {
        if sides.isNamed(name, "value"), sides.isString(value) { return [value] }
        return sides.isNamed(name, "values") ? sides.elements(value).filter(sides.isString) : nil
    }

    mutating func decide(_ rule: String, _ outcome: String) {
        report.decisions.append(Decision(path: path, rule: rule, outcome: outcome))
    }

    /// Records a text that does not come into the result.
    mutating func lose(_ text: Value, _ rule: String) {
        guard policy.recordsLosses else { return }
        report.losses.append(Loss(path: path, text: sides.text(text), from: text.side == .ours ? "ours" : "theirs", rule: rule))
    }

    /// Runs `body` one field deeper.
    mutating func inside<R>(_ name: Name, _ body: (inout Merger) -> R) -> R {
        fields.append(sides.text(name))
        defer { fields.removeLast() }
        return body(&self)
    }

    func same(_ a: Value?, _ b: Value?) -> Bool { sides.equal(a, b) }

    // MARK: Any value

    /// The general rule: equal, or changed on one side, or changed alike; objects member by member; else a conflict.
    mutating func general(_ v: ThreeWay<Value>) -> Merged {
        if same(v.ours, v.theirs) { return v.ours.map { .value($0) } ?? .absent }
        if same(v.base, v.theirs) { return v.ours.map { .value($0) } ?? .absent }
        let bothObjects = v.ours.map(sides.isObject) == true && v.theirs.map(sides.isObject) == true
        if bothObjects { return members(v) { $0.inside($1) { [v = $2] in $0.general(v) } } }
        if same(v.base, v.ours) { return v.theirs.map { .value($0) } ?? .absent }
        return undecided(v, v.ours == nil || v.theirs == nil ? "one side removed it, the other changed it" : "both sides changed it differently")
    }

    /// Merges objects member by member. A side without the object counts as one without members, but where nothing is
    /// left and a side has removed the object, it goes.
    mutating func members(
        _ v: ThreeWay<Value>, order: MemberOrder = .codePoints, visitsSame: Bool = false,
        _ child: (inout Merger, Name, ThreeWay<Value>) -> Merged
    ) -> Merged {
        members(v, sides.paired(v, languages: order == .languages), order: order, visitsSame: visitsSame, child)
    }

    /// The same for members that were paired before.
    mutating func members(
        _ v: ThreeWay<Value>, _ pairs: [(name: Name, values: ThreeWay<Value>)], order: MemberOrder = .codePoints, visitsSame: Bool = false,
        _ child: (inout Merger, Name, ThreeWay<Value>) -> Merged
    ) -> Merged {
        guard let host = v.ours ?? v.theirs else { return .absent }
        // A damaged file may hold something else where an object belongs; that has no members to merge.
        guard v.ours.map(sides.isObject) ?? true, v.theirs.map(sides.isObject) ?? true else { return general(v) }
        var patches: [Patch] = []
        var remaining = 0
        for (name, values) in pairs {
            if !visitsSame, sides.areIdentical(values) {
                remaining += 1
                continue
            }
            let merged = child(&self, name, values)
            if !merged.isAbsent { remaining += 1 }
            let own = host.side == .ours ? values.ours : values.theirs
            switch merged {
            case .absent where own == nil: break
            case .value(let value) where value == own: break
            default: patches.append(Patch(name: name, merged: merged))
            }
        }
        if remaining == 0, v.ours == nil || v.theirs == nil, v.base != nil { return .absent }
        return patches.isEmpty ? .value(host) : .patched(host, patches, order)
    }

    /// A tie over structure: the source role, or a conflict.
    mutating func structureTie(_ v: ThreeWay<Value>, _ rule: String) -> Merged {
        guard let winner = winner(default: policy.sourceRole) else {
            return undecided(v, "both sides changed it differently, and no side has the source role")
        }
        decide(rule, "\(winner)")
        return v[winner].map { .value($0) } ?? .absent
    }

    /// Who wins the present leaf by the policy; `states` are those of the two texts, where the leaf is one.
    mutating func verdict(states: ThreeWay<Value>? = nil, default role: Side?) -> MergePolicy.Verdict {
        let reviewed = [Side.ours, .theirs].filter { states?[$0].map { sides.text($0) == "translated" } == true }
        let verdict = policy.verdict(on: leaf(reviewed: reviewed), default: role)
        if verdict.isUndated { report.undated.insert(path) }
        return verdict
    }

    /// The side that the policy prefers for the present leaf; nil where it is to be a conflict.
    mutating func winner(default role: Side?) -> Side? { verdict(default: role).side }

    /// Whether the first rule that fits the present leaf names this choice.
    func prefers(_ choice: MergePolicy.Choice) -> Bool { !policy.rules.isEmpty && policy.prefers(choice, for: leaf()) }

    private func leaf(reviewed: [Side] = []) -> MergePolicy.Leaf { MergePolicy.Leaf(path: path, field: fields.last, reviewed: reviewed) }

    // MARK: Entries

    /// What becomes of one key.
    mutating func entry(_ v: ThreeWay<Value>) -> Merged {
        language = nil
        fields = []
        if !policy.holding.isEmpty, let why = key.flatMap({ policy.holding[sides.text($0)] }), !same(v.base, v.theirs), !same(v.ours, v.theirs) {
            conflict(v, why)
            return v.ours.map { .value($0) } ?? .absent
        }
        switch (v.base, v.ours, v.theirs) {
        case (nil, let ours?, nil): return .value(ours)
        case (nil, nil, let theirs?): return .value(theirs)
        case (let base?, nil, let theirs?): return deleted(by: .ours, base: base, kept: theirs, v)
        case (let base?, let ours?, nil): return deleted(by: .theirs, base: base, kept: ours, v)
        case (_, nil, nil): return .absent
        case (_, let ours?, let theirs?):
            guard sides.isObject(ours), sides.isObject(theirs) else { return general(v) }
            return fieldsOfEntry(v)
        }
    }

    /// A key that one side deleted and the other has.
    private mutating func deleted(by side: Side, base: Value, kept: Value, _ v: ThreeWay<Value>) -> Merged {
        if policy.translationRole == side && !policy.allowsTranslationDeletions {
            decide("a translation branch never removes keys", "kept")
            return .value(kept)
        }
        if same(base, kept) {
            loseTexts(of: kept, "the key was deleted")
            return .absent
        }
        let change = EntryChange(of: base, to: kept, sides, sourceLanguage)
        if change.isOnlyStale {
            loseTexts(of: kept, "the key was deleted")
            return .absent
        }
        if policy.sourceRole == side, change.isOnlyTranslations {
            if sides.member(kept, "extractionState").map({ sides.text($0) == "manual" }) == true {
                return undecided(v, "the key is kept by hand (extractionState manual): one side deleted it, the other edited a translation")
            }
            decide("the source branch deleted the key", "deleted; the edited translations are reported")
            loseTexts(of: kept, "the source branch deleted the key")
            return .absent
        }
        return undecided(v, "one side deleted the key, the other changed \(change.isOnlyTranslations ? "a translation" : "its source text, comment or fields")")
    }

    /// Records all texts of an entry as lost.
    mutating func loseTexts(of entry: Value, _ rule: String, except merged: Merged = .absent) {
        guard policy.recordsLosses else { return }
        var kept: Set<[UInt8]> = []
        texts(merged) { kept.insert($0) }
        let before = report.losses.count
        for item in sides.effective(sides.entryItems(entry).languages) {
            language = item.name
            loseTexts(in: item.value, rule)
        }
        if !kept.isEmpty { report.losses = report.losses[..<before] + report.losses[before...].filter { !kept.contains(Array($0.text.utf8)) } }
        language = nil
    }

    /// Records all texts below a value as lost.
    mutating func loseTexts(in value: Value, _ rule: String) {
        guard policy.recordsLosses else { return }
        let from = value.side == .ours ? "ours" : "theirs"
        let key = key.map(sides.text)
        let language = language.map(sides.text)
        sides.eachText(in: value) { names, text in
            let isPlain = fields.isEmpty && names.count == 2 && sides.isNamed(names[0], "stringUnit")
            let field = isPlain ? "stringUnit.value" : (fields + names.map(sides.text)).joined(separator: ".")
            report.losses.append(Loss(path: LeafPath(key: key, language: language, field: field), text: sides.text(text), from: from, rule: rule))
        }
    }

    private mutating func fieldsOfEntry(_ v: ThreeWay<Value>) -> Merged {
        let base = v.base.map { sides.entryItems($0) }
        let ours = v.ours.map { sides.entryItems($0, like: v.base) }
        let theirs = v.theirs.map { sides.entryItems($0, like: v.base) }
        let fields = ThreeWay(base: base?.fields, ours: ours?.fields, theirs: theirs?.fields)
        let commentSide = commentSide(fields)
        return members(v, sides.paired(fields)) { merger, name, values in
            let sides = merger.sides
            if sides.isNamed(name, "localizations") {
                guard values.ours.map(sides.isObject) ?? true, values.theirs.map(sides.isObject) ?? true else {
                    return merger.inside(name) { $0.general(values) }
                }
                return merger.localizations(values, ThreeWay(base: base?.languages, ours: ours?.languages, theirs: theirs?.languages))
            }
            return merger.inside(name) { merger in
                if commentNames.contains(where: { sides.isNamed(name, $0) }) {
                    return values[commentSide].map { .value($0) } ?? .absent
                }
                if let kept = merger.leftOut(name, values) { return .value(kept) }
                if sides.isNamed(name, "extractionState") { return merger.extractionState(values) }
                if sides.isNamed(name, "shouldTranslate") { return merger.tie(values) { $0.structureTie($1, "shouldTranslate: the source branch") } }
                return merger.general(values)
            }
        }
    }

    /// The value of a field that the source branch owns and only the translation side left out: an export that does not
    /// know a field removes nothing.
    private mutating func leftOut(_ name: Name, _ v: ThreeWay<Value>) -> Value? {
        let owned: [StaticString] = ["extractionState", "shouldTranslate", "generatesSymbol"]
        guard let role = policy.translationRole, v[role] == nil, let kept = v[role.other], same(v.base, kept),
            owned.contains(where: { sides.isNamed(name, $0) })
        else { return nil }
        decide("an export that leaves a field out removes nothing", "kept")
        return kept
    }

    /// The general rule for a scalar with a rule of its own where both sides changed it.
    mutating func tie(_ v: ThreeWay<Value>, _ rule: (inout Merger, ThreeWay<Value>) -> Merged) -> Merged {
        if same(v.ours, v.theirs) || same(v.base, v.theirs) { return v.ours.map { .value($0) } ?? .absent }
        if same(v.base, v.ours) { return v.theirs.map { .value($0) } ?? .absent }
        return rule(&self, v)
    }

    /// The side from which the comment and what belongs to it are taken, whole.
    private mutating func commentSide(_ entryFields: ThreeWay<[Item]>) -> Side {
        func member(_ side: Side, _ name: StaticString) -> Value? { entryFields[side]?.last { sides.isNamed($0.name, name) }?.value }
        func equal(_ a: Side, _ b: Side) -> Bool { commentNames.allSatisfy { same(member(a, $0), member(b, $0)) } }
        func isAbsent(_ side: Side) -> Bool { commentNames.allSatisfy { member(side, $0) == nil } }
        if let role = policy.translationRole, !isAbsent(.base), isAbsent(role) { return role.other }
        if equal(.ours, .theirs) || equal(.base, .theirs) { return .ours }
        if equal(.base, .ours) { return .theirs }
        func group(_ side: Side) -> [Value?] { commentNames.map { member(side, $0) } }
        let (base, ours, theirs) = (group(.base), group(.ours), group(.theirs))
        fields = ["comment"]
        defer { fields = [] }
        func isHuman(_ group: [Value?]) -> Bool { group[0] != nil && group[1].map { sides.text($0) != "true" } ?? true }
        if isHuman(ours) != isHuman(theirs) {
            let side: Side = isHuman(ours) ? .ours : .theirs
            if let lost = (side == .ours ? theirs : ours)[0] { lose(lost, "a human comment beats a generated one") }
            decide("a human comment beats a generated one", "\(side)")
            return side
        }
        let comments = ThreeWay(base: base[0], ours: ours[0], theirs: theirs[0])
        if case .side(let side)? = remembered(comments) { return side }
        if let side = winner(default: policy.sourceRole) {
            if let lost = (side == .ours ? theirs : ours)[0], !same(lost, side == .ours ? ours[0] : theirs[0]) { lose(lost, "comment: the source branch") }
            decide("comment: the source branch", "\(side)")
            return side
        }
        conflict(comments, "both sides changed the comment, and no side has the source role")
        return .ours
    }

    private mutating func extractionState(_ v: ThreeWay<Value>) -> Merged {
        tie(v) { merger, v in
            func isStale(_ value: Value?) -> Bool { value.map { merger.sides.text($0) == "stale" } ?? false }
            guard isStale(v.ours) != isStale(v.theirs) else { return merger.structureTie(v, "extractionState: the source branch") }
            let side: Side = isStale(v.ours) ? .theirs : .ours
            merger.decide("extractionState: a live value beats stale", "\(side)")
            return v[side].map { .value($0) } ?? .absent
        }
    }
}

/// The members that make up a comment: taken from one side, whole.
let commentNames: [StaticString] = ["comment", "isCommentAutoGenerated", "commentGenerationVersion"]

/// What kinds of leaves differ between two states of an entry.
struct EntryChange {
    /// Only texts or states of languages other than the source's changed.
    var isOnlyTranslations = true
    /// Nothing changed but that the key was marked stale.
    var isOnlyStale = true
    /// Translations changed, and nothing else.
    var isOnlyEditedTranslations: Bool { isOnlyTranslations && !isOnlyStale }

    init(of base: Value, to kept: Value, _ sides: Sides, _ sourceLanguage: [UInt8]?) {
        for (name, values) in sides.paired(ThreeWay(base: base, ours: kept, theirs: nil)) where !sides.equal(values.base, values.ours) {
            if sides.isNamed(name, "extractionState"), values.ours.map({ sides.text($0) == "stale" }) == true { continue }
            guard sides.isNamed(name, "localizations") else {
                isOnlyStale = false
                isOnlyTranslations = false
                continue
            }
            // A language that is only spelled in another way is no change.
            for (language, pair) in sides.paired(values, languages: true) where !sides.equal(pair.base, pair.ours) {
                isOnlyStale = false
                if sides.identity(of: language) == sourceLanguage { isOnlyTranslations = false }
            }
        }
    }
}
