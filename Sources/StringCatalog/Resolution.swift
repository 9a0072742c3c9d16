/// What a person decided about one place when its three values were these: it is decided so again, and nobody is asked twice.
public struct Resolution: Hashable, Sendable {
    public var path: LeafPath
    /// What the place had before: a text as it reads, anything else as its JSON; nil where it was absent.
    public var base: String?
    /// The two values that contradicted each other. Which one was ours does not matter.
    public var one, other: String?
    /// What it is to be; nil for absent.
    public var chosen: String?

    public init(path: LeafPath, base: String?, one: String?, other: String?, chosen: String?) {
        self.path = path
        self.base = base
        self.one = one
        self.other = other
        self.chosen = chosen
    }

    /// Whether it speaks of these values. What was chosen may have arrived on one side already, and counts as decided there.
    func decides(base: String?, ours: String?, theirs: String?) -> Bool {
        let known = [one, other, chosen]
        return isSameText(base, self.base) && known.contains { isSameText($0, ours) } && known.contains { isSameText($0, theirs) }
    }
}

/// Decisions by place, as a merge looks them up.
public struct Resolutions: Sendable {
    private var byPlace: [LeafPath: [Resolution]] = [:]

    public init(_ resolutions: some Sequence<Resolution> = []) {
        for resolution in resolutions { byPlace[Self.place(resolution.path), default: []].append(resolution) }
    }

    public var isEmpty: Bool { byPlace.isEmpty }

    /// All of them, in no order but that of the decisions about one place.
    package var all: [Resolution] { byPlace.values.flatMap { $0 } }

    package func resolution(
        at path: LeafPath, base: String?, ours: String?, theirs: String?, aliases: LanguageAliases = LanguageAliases()
    ) -> Resolution? {
        byPlace[Self.place(path)]?.last {
            $0.path.language.map(aliases.identity) == path.language.map(aliases.identity) && $0.decides(base: base, ours: ours, theirs: theirs)
        }
    }

    /// Without the language, which has more than one spelling.
    private static func place(_ path: LeafPath) -> LeafPath { LeafPath(key: path.key, field: path.field) }
}

extension Merger {
    /// What a remembered decision says about a place.
    enum Remembered {
        case side(Side)
        /// Neither side's: a text of the person's own, as it is written in the target.
        case text([UInt8])
    }

    /// What becomes of a place that no rule and no policy decides: what a person decided about these very values before; else
    /// it is a conflict, and ours stays.
    mutating func undecided(_ v: ThreeWay<Value>, _ why: String) -> Merged {
        switch remembered(v) {
        case .side(let side): return v[side].map { .value($0) } ?? .absent
        case .text(let lexeme): return .literal(lexeme)
        case nil:
            conflict(v, why)
            return v.ours.map { .value($0) } ?? .absent
        }
    }

    /// The decision of a person about these values, with the report of what loses by it.
    mutating func remembered(_ v: ThreeWay<Value>) -> Remembered? {
        guard !policy.resolutions.isEmpty else { return nil }
        let texts = v.map(sides.text)
        guard let found = policy.resolutions.resolution(
            at: path, base: texts.base, ours: texts.ours, theirs: texts.theirs, aliases: policy.aliases) else { return nil }
        let rule = "a person decided it"
        for side in [Side.ours, .theirs] where v[side] != nil && !isSameText(texts[side], found.chosen) {
            noteLoss(of: v[side]!, except: v[side.other], rule)
        }
        for side in [Side.ours, .theirs] where isSameText(texts[side], found.chosen) {
            decide(rule, "\(side)")
            return .side(side)
        }
        // A whole entry or language is never made up.
        guard let chosen = found.chosen, (v.ours ?? v.theirs).map(sides.isString) == true else { return nil }
        decide(rule, "a text of its own")
        return .text(Style(of: ours).quoted(chosen))
    }

    private mutating func noteLoss(of value: Value, except other: Value?, _ rule: String) {
        if sides.isObject(value) {
            let isEntry = language == nil && fields.isEmpty
            if isEntry { loseTexts(of: value, rule, except: other.map { .value($0) } ?? .absent) } else { loseTexts(in: value, rule) }
        } else if ["value", "comment"].contains(fields.last), sides.isString(value) {
            lose(value, rule)
        }
    }
}
