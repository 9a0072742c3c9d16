// The rules of one language of one key: texts and states, plural and device variations, substitutions.

extension Merger {
    /// The languages of an entry.
    mutating func localizations(_ v: ThreeWay<Value>, _ items: ThreeWay<[Item]>) -> Merged {
        let pairs = policy.flagsStale ? sides.paired(items, languages: true) : sides.differing(items, languages: true)
        // Whether a side changed the source text: a translation made on the other side was made for the old one.
        var source = ThreeWay<Value>()
        for (name, values) in pairs where isSource(name) { source = withoutVainRemoval(values, of: name) }
        let keyText = key.map(sides.bytes(of:))
        func changed(_ side: Value?) -> Bool { !isSameText(source.base, side, keyText) }
        let sourceFrom: Side? =
            switch (changed(source.ours), changed(source.theirs)) {
            case (false, false): nil
            case (true, false): .ours
            case (false, true): .theirs
            // Where the two differ, only the source role's comes into the result for sure.
            case (true, true): sides.equal(source.ours, source.theirs) ? nil : policy.sourceRole
            }

        return members(v, pairs, order: .languages, visitsSame: policy.flagsStale && sourceFrom != nil) { merger, name, values in
            merger.language = name
            defer { merger.language = nil }
            let merged = merger.language(name, values)
            if let side = merger.renamedBy, merger.texts(of: merged) != merger.texts(of: values[side]) {
                return merger.marked(merged, "the key was renamed")
            }
            guard let sourceFrom, !merger.isSource(name) else { return merged }
            let result = merger.texts(of: merged)
            if result == merger.texts(of: values.base) {
                return merger.policy.flagsStale ? merger.marked(merged, "the source text changed") : merged
            }
            // What that side has was made for the new text; a text or an approval of the other side for the old one.
            guard !Comparison(sides: merger.sides).equal(merged, values[sourceFrom]) else { return merged }
            return merger.marked(merged, "the source text changed while this was translated")
        }
    }

    /// All texts of a localization; an order of members does not count.
    private func texts(of merged: Merged) -> [[UInt8]] {
        var found: [[UInt8]] = []
        texts(merged) { found.append($0) }
        return found.sorted { $0.lexicographicallyPrecedes($1) }
    }

    private func texts(of value: Value?) -> [[UInt8]] { value.map { texts(of: .value($0)) } ?? [] }

    /// Whether a language is that of the source texts.
    func isSource(_ name: Name) -> Bool { sourceLanguage.map { sides.isLanguage(name, $0) } ?? false }

    /// Whether two source localizations say the same. An absent one says what the key says.
    private func isSameText(_ a: Value?, _ b: Value?, _ key: [UInt8]?) -> Bool {
        switch (a, b) {
        case (nil, nil): return true
        case (let a?, let b?): return sides.equalTexts(a, b)
        case (let only?, nil), (nil, let only?):
            return sides.member(only, "stringUnit").flatMap { sides.member($0, "value") }.map { sides.string($0) == key } ?? false
        }
    }

    /// What becomes of one language.
    private mutating func language(_ name: Name, _ v: ThreeWay<Value>) -> Merged {
        switch (v.base, v.ours, v.theirs) {
        case (_, nil, nil): .absent
        case (nil, let only?, nil), (nil, nil, let only?): .value(only)
        case (let base?, nil, let kept?): removed(by: .ours, base, kept, name)
        case (let base?, let kept?, nil): removed(by: .theirs, base, kept, name)
        case (_, _?, _?): localization(v)
        }
    }

    /// The source language with base on a side that removed it, where the removal does not come through: nothing was made for
    /// a source text that no longer is.
    private mutating func withoutVainRemoval(_ v: ThreeWay<Value>, of name: Name) -> ThreeWay<Value> {
        guard let base = v.base, let side = [Side.ours, .theirs].first(where: { v[$0] == nil }), let kept = v[side.other] else { return v }
        language = name
        defer { language = nil }
        let stays = !same(base, kept) || prefers(.union) || isHeld(name, removedBy: side)
        return stays ? ThreeWay(base: base, ours: v.ours ?? base, theirs: v.theirs ?? base) : v
    }

    /// Whether the removal of a language by translators looks like a partial export.
    private func isHeld(_ name: Name, removedBy side: Side) -> Bool {
        policy.translationRole == side && heldLanguages.contains(sides.identity(of: name))
    }

    /// A language that one side removed.
    private mutating func removed(by side: Side, _ base: Value, _ kept: Value, _ name: Name) -> Merged {
        if !same(base, kept) {
            decide("a removed language was edited on the other side", "the edit is kept")
            return .value(kept)
        }
        if prefers(.union) {
            decide("union: a language stays", "kept")
            return .value(kept)
        }
        if isHeld(name, removedBy: side) { return .value(kept) }
        loseRemoved(kept, "the language was removed")
        return .absent
    }

    /// Records the texts that the target loses because theirs removed them. What the target itself removed, nobody loses now;
    /// what a renamed key loses is recorded for all of it.
    private mutating func loseRemoved(_ kept: Value, _ rule: String) {
        if kept.side == .ours, renamedBy == nil { loseTexts(in: kept, rule) }
    }

    // MARK: One localization

    /// What a localization is made of.
    private enum Shape {
        case plain, plural, device, otherVariations, stringSet, empty
    }

    private func shape(_ value: Value?) -> Shape? { value.map { shape($0, sides.items($0)) } }

    private func shape(_ value: Value, _ items: [Item]) -> Shape {
        if let variations = items.last(where: { sides.isNamed($0.name, "variations") })?.value {
            let kinds = sides.items(variations)
            if kinds.contains(where: { sides.isNamed($0.name, "device") }) { return .device }
            return kinds.contains { sides.isNamed($0.name, "plural") } ? .plural : .otherVariations
        }
        if items.contains(where: { sides.isNamed($0.name, "stringUnit") }) { return .plain }
        return items.contains { sides.isNamed($0.name, "stringSet") } ? .stringSet : .empty
    }

    /// Merges a localization, or what stands in its form below a plural category or a device.
    mutating func localization(_ v: ThreeWay<Value>) -> Merged {
        guard let ours = v.ours, let theirs = v.theirs, sides.isObject(ours), sides.isObject(theirs) else { return general(v) }
        if let plain = plainly(v) { return .value(plain) }
        let base = v.base.map { sides.items($0) }
        let items = ThreeWay(base: base, ours: sides.items(ours, like: v.base), theirs: sides.items(theirs, like: v.base))
        let shapes = (base: v.base.map { shape($0, base!) }, ours: shape(ours, items.ours!), theirs: shape(theirs, items.theirs!))
        if shapes.ours != shapes.theirs && !same(v.base, ours) && !same(v.base, theirs) && !same(ours, theirs) {
            return restructured(v, shapes.base, shapes.ours, shapes.theirs)
        }
        let mark = report.mark
        // A plain text that became variations on both sides is the base of their category `other`.
        let plain = shapes.base == .plain && shapes.ours != .plain ? v.base : nil
        let merged = members(v, sides.paired(items)) { merger, name, values in
            let sides = merger.sides
            return merger.inside(name) { merger in
                if sides.isNamed(name, "stringUnit") { return merger.unit(values, text: "value") }
                if sides.isNamed(name, "stringSet") { return merger.unit(values, text: "values") }
                if sides.isNamed(name, "variations") { return merger.variations(values, plain: plain) }
                if sides.isNamed(name, "substitutions") { return merger.substitutions(values) }
                return merger.general(values)
            }
        }
        let substitutes = [items.ours!, items.theirs!].contains { $0.contains { sides.isNamed($0.name, "substitutions") } }
        // Where the sides have other substitutions, the text of one must not stand beside those of the other: whichever side it is that
        // keeps its text, the language is one conflict.
        if substitutes, report.conflicts.count > mark.conflicts, !hasSameSubstitutions(ours, theirs) {
            report.rewind(to: mark)
            return undecided(v, "both sides changed a text, and its substitutions differ")
        }
        if substitutes, let fault = substitutionFault(merged), substitutionFault(.value(ours)) == nil, substitutionFault(.value(theirs)) == nil {
            report.rewind(to: mark)
            return undecided(v, fault)
        }
        return merged
    }

    private func hasSameSubstitutions(_ a: Value, _ b: Value) -> Bool {
        let names = [a, b].map { sides.member($0, "substitutions").map { sides.items($0) } ?? [] }.map { $0.map { sides.bytes(of: $0.name) } }
        return names[0].allSatisfy(names[1].contains) && names[1].allSatisfy(names[0].contains)
    }

    // MARK: Units

    /// Merges a string unit (or a string set): the text and the state that belongs to it.
    private mutating func unit(_ v: ThreeWay<Value>, text: StaticString) -> Merged {
        guard let ours = v.ours, let theirs = v.theirs, sides.isObject(ours), sides.isObject(theirs) else { return general(v) }
        let texts = v.map { sides.member($0, text) }
        let states = v.map { sides.member($0, "state") }
        let verdict = textVerdict(text, texts, states)
        let state = stateVerdict(texts, states, verdict)
        // A draft's state is marked though it is the same everywhere.
        return members(ThreeWay(base: v.base, ours: ours, theirs: theirs), visitsSame: verdict.isDraft) { merger, name, values in
            merger.inside(name) { merger in
                if merger.sides.isNamed(name, text), case .decided(let lexeme) = verdict { return .literal(lexeme) }
                if merger.sides.isNamed(name, text) { return values[verdict.side].map { .value($0) } ?? .absent }
                if merger.sides.isNamed(name, "state") { return state }
                return merger.general(values)
            }
        }
    }

    /// Where a unit's text comes from.
    private enum TextVerdict {
        /// Nobody changed it, or both alike.
        case same
        /// Only this side changed it.
        case changed(Side)
        /// Both changed it; this side's was taken by the policy, perhaps as a draft.
        case won(Side, isDraft: Bool)
        /// Both changed it; a person has decided on another text.
        case decided([UInt8])
        case conflict

        var isDraft: Bool { if case .won(_, true) = self { true } else { false } }

        var side: Side {
            switch self {
            case .same, .conflict, .decided: .ours
            case .changed(let side), .won(let side, _): side
            }
        }
    }

    private mutating func textVerdict(_ name: StaticString, _ texts: ThreeWay<Value>, _ states: ThreeWay<Value>) -> TextVerdict {
        if same(texts.ours, texts.theirs) { return .same }
        if same(texts.base, texts.ours) { return .changed(.theirs) }
        if same(texts.base, texts.theirs) { return .changed(.ours) }
        fields.append(name.description)
        defer { fields.removeLast() }
        let role = language.map(isSource) == true ? policy.sourceRole : policy.translationRole
        // A person who decided about these very texts knew more than a policy does.
        switch remembered(texts) {
        case .side(let side): return .won(side, isDraft: false)
        case .text(let lexeme): return .decided(lexeme)
        case nil: break
        }
        let verdict = verdict(states: states, default: role)
        guard let winner = verdict.side else {
            conflict(texts, "both sides changed the text differently")
            return .conflict
        }
        if let lost = texts[winner.other] { lose(lost, language.map(isSource) == true ? "text: the source branch" : "text: the translation branch") }
        decide("both sides changed the text", "\(winner)")
        return .won(winner, isDraft: verdict.choice == .draft)
    }

    private mutating func stateVerdict(_ texts: ThreeWay<Value>, _ states: ThreeWay<Value>, _ verdict: TextVerdict) -> Merged {
        func take(_ side: Side) -> Merged { states[side].map { .value($0) } ?? .absent }
        fields.append("state")
        defer { fields.removeLast() }
        switch verdict {
        case .won(let side, let isDraft):
            return isDraft ? review(states[side]) : take(side)
        case .changed(let side):
            // An export may leave `state` out: that says nothing about the state.
            if states[side] == nil, states.base != nil, policy.translationRole == side { return review(states[side.other]) }
            if !same(states.base, states[side]) { return take(side) }
            if same(states.base, states[side.other]) { return take(.ours) }
            if states[side.other] == nil || states[side] == nil { return take(side) }
            decide("an approval does not carry over to other text", "needs_review")
            return review(states[side])
        case .decided: return take(.ours)
        case .conflict:
            // The target's text stays; that theirs has judged another text differently asks for a look.
            if same(states.ours, states.theirs) || same(states.base, states.theirs) { return take(.ours) }
            return review(states.ours)
        case .same:
            if same(states.ours, states.theirs) { return take(.ours) }
            // A state belongs to its text: where both have a new text, none of the two states is still that of the base. Else what a
            // rule has marked would count as untouched when the same is merged again.
            for side in [Side.ours, .theirs] where same(texts.base, texts.ours) && same(states.base, states[side.other]) {
                return states[side] == nil && policy.translationRole == side ? take(side.other) : take(side)
            }
            guard let ours = states.ours else { return take(.theirs) }
            guard let theirs = states.theirs else { return take(.ours) }
            guard let first = rank(sides.text(ours)), let second = rank(sides.text(theirs)) else {
                return undecided(states, "both sides changed the state, to one that is not known here")
            }
            decide("both sides changed the state", first >= second ? sides.text(ours) : sides.text(theirs))
            return take(first >= second ? .ours : .theirs)
        }
    }

    private mutating func prefersReviewedStates() -> Bool {
        fields.append("state")
        defer { fields.removeLast() }
        return prefers(.reviewedWins)
    }

    /// Which of two states of one text wins: the one that asks for more work, but any beats stale.
    private func rank(_ state: String) -> Int? {
        switch state {
        case "needs_review": 4
        case "translated": prefers(.reviewedWins) ? 5 : 3
        case "machine_translated": 2
        case "new": 1
        case "stale": 0
        default: nil
        }
    }

    /// `needs_review`, where there is a state that claims more.
    private mutating func review(_ state: Value?) -> Merged {
        guard let state else { return .absent }
        hasMarked = true
        return sides.text(state) == "needs_review" ? .value(state) : .literal(Array("\"needs_review\"".utf8))
    }

    /// The same localization with every unit that counts as done marked for another look: a plural is one text.
    mutating func marked(_ merged: Merged, _ why: String) -> Merged {
        let result = marking(merged)
        if result.changed { decide(why, "needs_review") }
        return result.merged
    }

    private mutating func marking(_ merged: Merged) -> (merged: Merged, changed: Bool) {
        let host: Value
        let members: [Patch]
        let order: MemberOrder
        switch merged {
        case .absent, .literal: return (merged, false)
        case .value(let value):
            guard sides.isObject(value) else { return (merged, false) }
            (host, members, order) = (value, composed(sides, value, []) { _, _ in false }, .codePoints)
        case .patched(let value, let patches, let given):
            (host, members, order) = (value, composed(sides, value, patches) { _, _ in false }, given)
        case .fresh(let patches):
            let inner = patches.map { ($0, marking($0.merged)) }
            return (.fresh(inner.map { Patch(name: $0.0.name, merged: $0.1.merged) }), inner.contains { $0.1.changed })
        }
        var patches: [Patch] = []
        if case .patched(_, let old, _) = merged { patches = old }
        var changed = false
        let isUnit = members.contains { sides.isNamed($0.name, "value") || sides.isNamed($0.name, "values") }
        for member in members {
            if isUnit, sides.isNamed(member.name, "state") {
                guard case .value(let state) = member.merged, !["needs_review", "new", "stale"].contains(sides.text(state)) else { continue }
                patches.removeAll { sides.isSame($0.name, member.name) }
                patches.append(Patch(name: member.name, merged: review(state)))
                changed = true
            } else {
                let inner = marking(member.merged)
                guard inner.changed else { continue }
                patches.removeAll { sides.isSame($0.name, member.name) }
                patches.append(Patch(name: member.name, merged: inner.merged))
                changed = true
            }
        }
        return changed ? (.patched(host, patches, order), true) : (merged, false)
    }

    // MARK: Variations

    private mutating func variations(_ v: ThreeWay<Value>, plain: Value? = nil) -> Merged {
        guard v.ours != nil, v.theirs != nil else { return general(v) }
        return members(v) { merger, kind, values in
            let sides = merger.sides
            return merger.inside(kind) { merger in
                guard values.ours.map(sides.isObject) ?? true, values.theirs.map(sides.isObject) ?? true,
                    values.ours != nil && values.theirs != nil
                else { return merger.general(values) }
                let isPlural = sides.isNamed(kind, "plural")
                // A change of one side alone is taken as it is; where the two are put together, nobody saw that `other` goes.
                let keepsOther = !merger.same(values.base, values.ours) && !merger.same(values.base, values.theirs)
                return merger.members(values) { merger, category, values in
                    var values = values
                    if values.base == nil, sides.isNamed(category, "other") { values.base = plain }
                    return merger.inside(category) { $0.category(category, isPlural: isPlural, keepsOther: keepsOther, values) }
                }
            }
        }
    }

    /// One plural category or device.
    private mutating func category(_ name: Name, isPlural: Bool, keepsOther: Bool, _ v: ThreeWay<Value>) -> Merged {
        switch (v.base, v.ours, v.theirs) {
        case (_, nil, nil): return .absent
        case (let base?, nil, let kept?), (let base?, let kept?, nil):
            if keepsOther, sides.isNamed(name, "other") {
                decide("a language never loses its category other", "kept")
                return .value(kept)
            }
            if same(base, kept) {
                loseRemoved(kept, "the category was removed")
                return .absent
            }
            guard isPlural, !isNeeded(name) else {
                decide("a removed category was edited on the other side", "the edit is kept")
                return .value(kept)
            }
            decide("a removed category was edited on the other side", "removed: the language has no such category")
            loseTexts(in: kept, "the language has no such plural category")
            return .absent
        case (nil, let only?, nil), (nil, nil, let only?): return .value(only)
        default: return localization(v)
        }
    }

    /// Whether CLDR has this plural category for the present language; true where that cannot be known.
    private func isNeeded(_ name: Name) -> Bool {
        guard let language, let categories = pluralCategories(of: sides.text(language)) else { return true }
        let text = sides.text(name)
        return categories.contains { "\($0)" == text }
    }

    // MARK: Structure against text

    /// Both sides changed a localization, and they do not have the same form.
    private mutating func restructured(_ v: ThreeWay<Value>, _ base: Shape?, _ ours: Shape, _ theirs: Shape) -> Merged {
        switch (base, ours, theirs) {
        case (.plain, .plural, .plain), (.plain, .device, .plain): return varied(.ours, v)
        case (.plain, .plain, .plural), (.plain, .plain, .device): return varied(.theirs, v)
        case (_, .plural, .device): return nested(plural: .ours, v)
        case (_, .device, .plural): return nested(plural: .theirs, v)
        case (nil, _, _):
            if let winner = winner(default: language.map(isSource) == true ? policy.sourceRole : policy.translationRole) {
                if let lost = v[winner.other] { loseTexts(in: lost, "both sides added the language in different forms") }
                decide("both sides added the language in different forms", "\(winner)")
                return v[winner].map { .value($0) } ?? .absent
            }
            return undecided(v, "both sides added the language, in different forms")
        default:
            return undecided(v, "one side changed the form of the text, the other edited it")
        }
    }

    /// A plain text became variations on one side while its text was edited on the other.
    private mutating func varied(_ side: Side, _ v: ThreeWay<Value>) -> Merged {
        guard let structure = v[side], let edited = v[side.other], let base = v.base, isOnlyText(base, edited),
            let text = sides.member(edited, "stringUnit").flatMap({ sides.member($0, "value") }),
            let old = sides.member(base, "stringUnit").flatMap({ sides.member($0, "value") })
        else {
            return undecided(v, "one side changed the form of the text, the other edited it")
        }
        if same(text, old) {
            // Only the state changed there, and it was the state of another form.
            return .value(structure)
        }
        let place = otherPath(in: structure)
        let other = place.last
        let otherText = other.flatMap { sides.member($0, "value") }
        if let otherText, same(otherText, text) { return .value(structure) }
        guard let other, let otherText, same(otherText, old) else {
            // Where the state that claims more wins, the marks would not last.
            guard !prefersReviewedStates() else {
                return undecided(v, "the text became variations on one side and was edited on the other, and none of them is the old text")
            }
            lose(text, "the text became variations on the other side")
            return marked(.value(structure), "the text became variations while it was edited")
        }
        decide("the text became variations while it was edited", "the edit goes to the category other")
        let state = sides.member(edited, "stringUnit").flatMap { sides.member($0, "state") }
        var patches = [Patch(name: .literal("value"), merged: .value(text))]
        if let state, let own = sides.member(other, "state"), !same(state, own) { patches.append(Patch(name: .literal("state"), merged: .value(state))) }
        return rebuilt(place, names: otherNames(in: structure), .patched(other, patches, .codePoints))
    }

    /// Whether two plain localizations differ in nothing but their text and its state.
    private func isOnlyText(_ a: Value, _ b: Value) -> Bool {
        sides.paired(ThreeWay(base: nil, ours: a, theirs: b)).allSatisfy { name, values in
            guard sides.isNamed(name, "stringUnit"), values.ours != nil, values.theirs != nil else { return same(values.ours, values.theirs) }
            return sides.paired(values).allSatisfy { sides.isNamed($0.name, "value") || sides.isNamed($0.name, "state") || same($0.values.ours, $0.values.theirs) }
        }
    }

    /// The values from a localization down to the string unit of its category `other` (within the device `other`).
    private func otherPath(in localization: Value) -> [Value] {
        var path = [localization]
        for name in otherNames(in: localization) {
            guard let next = member(path.last!, name) else { return [] }
            path.append(next)
        }
        return path
    }

    private func otherNames(in localization: Value) -> [StaticString] {
        guard let variations = sides.member(localization, "variations") else { return [] }
        let names: [StaticString] = sides.member(variations, "device") != nil ? ["variations", "device", "other"] : ["variations", "plural", "other"]
        guard let device = sides.member(variations, "device"), let other = sides.member(device, "other"),
            sides.member(other, "variations").flatMap({ sides.member($0, "plural") }) != nil
        else { return names + ["stringUnit"] }
        return names + ["variations", "plural", "other", "stringUnit"]
    }

    private func member(_ value: Value, _ name: StaticString) -> Value? { sides.member(value, name) }

    /// Patches from the inside out along a path.
    private func rebuilt(_ path: [Value], names: [StaticString], _ inner: Merged) -> Merged {
        var merged = inner
        for (host, name) in zip(path.dropLast().reversed(), names.reversed()) {
            merged = .patched(host, [Patch(name: .literal(name), merged: merged)], .codePoints)
        }
        return merged
    }

    /// One side has plurals, the other devices: devices that contain plurals, where that loses nothing.
    private mutating func nested(plural side: Side, _ v: ThreeWay<Value>) -> Merged {
        guard let plural = v[side], let device = v[side.other],
            let pluralVariations = sides.member(plural, "variations").flatMap({ sides.member($0, "plural") }),
            let pluralOther = sides.member(pluralVariations, "other").flatMap({ sides.member($0, "stringUnit") }).flatMap({ sides.member($0, "value") }),
            let variations = sides.member(device, "variations"), let devices = sides.member(variations, "device"),
            let other = sides.member(devices, "other"),
            // Anything beside the plurals, or beside the text that they replace, would be lost.
            [plural, sides.member(plural, "variations")!, other].allSatisfy({ sides.items($0).count == 1 })
        else {
            return undecided(v, "one side varies by plural, the other by device")
        }
        let base = v.base.flatMap { sides.member($0, "stringUnit") }.flatMap { sides.member($0, "value") }
        let isDone = sides.member(other, "variations").flatMap { sides.member($0, "plural") }.map { same($0, pluralVariations) } ?? false
        if isDone { return .value(device) }
        guard let text = sides.member(other, "stringUnit").flatMap({ sides.member($0, "value") }), same(text, base) || same(text, pluralOther) else {
            return undecided(v, "one side varies by plural, the other by device, and their texts differ")
        }
        decide("one side varies by plural, the other by device", "the plural stands in the device other")
        let inner = Merged.fresh([Patch(name: .literal("variations"), merged: .fresh([Patch(name: .literal("plural"), merged: .value(pluralVariations))]))])
        return rebuilt([device, variations, devices, other], names: ["variations", "device", "other"], inner)
    }

    // MARK: Substitutions

    private mutating func substitutions(_ v: ThreeWay<Value>) -> Merged {
        members(v) { merger, name, values in
            merger.inside(name) { merger in
                guard let ours = values.ours, let theirs = values.theirs, merger.sides.isObject(ours), merger.sides.isObject(theirs) else {
                    return merger.general(values)
                }
                var typeChanged = false
                let merged = merger.members(values) { merger, field, values in
                    let sides = merger.sides
                    return merger.inside(field) { merger in
                        if sides.isNamed(field, "variations") { return merger.variations(values) }
                        if sides.isNamed(field, "argNum") || sides.isNamed(field, "formatSpecifier") {
                            return merger.tie(values) { merger, values in
                                typeChanged = true
                                return merger.structureTie(values, "\(sides.text(field)): the source branch")
                            }
                        }
                        return merger.general(values)
                    }
                }
                // Texts that were written for the other argument no longer fit.
                return typeChanged && merger.policy.sourceRole != nil ? merger.marked(merged, "the argument of a substitution changed") : merged
            }
        }
    }

    /// Why a localization's substitutions and their uses do not fit together, or nil where they do.
    private func substitutionFault(_ merged: Merged) -> String? {
        let members: [Patch]
        switch merged {
        case .value(let value): members = composed(sides, value, []) { _, _ in false }
        case .patched(let host, let patches, _): members = composed(sides, host, patches) { _, _ in false }
        default: return nil
        }
        let names: [[UInt8]]
        switch members.first(where: { sides.isNamed($0.name, "substitutions") })?.merged {
        case nil: names = []
        case .value(let value): names = sides.effective(sides.items(value)).map { sides.bytes(of: $0.name) }
        case .patched(let host, let patches, _): names = composed(sides, host, patches) { _, _ in false }.map { sides.bytes(of: $0.name) }
        default: return nil
        }
        var used: [[UInt8]] = []
        for member in members { texts(member.merged) { used += substitutionsUsed(in: $0) } }
        if let missing = used.first(where: { !names.contains($0) }) {
            return "the merged text uses the substitution \"\(String(decoding: missing, as: UTF8.self))\", which one side removed"
        }
        if let unused = names.first(where: { !used.contains($0) }) {
            return "the merged text no longer uses the substitution \"\(String(decoding: unused, as: UTF8.self))\""
        }
        return nil
    }

    /// Calls `body` with each text below.
    func texts(_ merged: Merged, _ body: ([UInt8]) -> Void) {
        func walk(_ members: [Patch]) {
            for member in members {
                if case .value(let value) = member.merged, let texts = ownTexts(member.name, value) {
                    texts.forEach { body(sides.string($0)) }
                } else {
                    texts(member.merged, body)
                }
            }
        }
        switch merged {
        case .absent, .literal: break
        case .value(let value): walk(sides.effective(sides.items(value)).map { Patch(name: $0.name, merged: .value($0.value)) })
        case .patched(let host, let patches, _): walk(composed(sides, host, patches) { _, _ in false })
        case .fresh(let patches): walk(patches)
        }
    }
}

/// The names in `%#@name@` of a text, each as often as it stands there; a position (`%1$#@name@`) may lead.
package func substitutionsUsed(in text: [UInt8]) -> [[UInt8]] {
    var names: [[UInt8]] = []
    var i = 0
    while i + 1 < text.count {
        guard text[i] == 0x23, text[i + 1] == 0x40 else {
            i += 1
            continue
        }
        var before = i - 1
        while before >= 0, text[before] == 0x24 || (text[before] >= 0x30 && text[before] <= 0x39) { before -= 1 }
        if before >= 0, text[before] == 0x25, let end = text[(i + 2)...].firstIndex(of: 0x40) { names.append(Array(text[(i + 2)..<end])) }
        i += 2
    }
    return names
}
