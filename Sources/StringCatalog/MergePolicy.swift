/// Which of the two sides is the branch where code is developed; the other is then the branch of the translators.
public enum SourceSide: Sendable {
    case ours, theirs
    /// Two branches of one kind: neither is protected from the other, and what only a role could settle is a conflict.
    case none

    var side: Side? {
        switch self {
        case .ours: .ours
        case .theirs: .theirs
        case .none: nil
        }
    }
}

/// What decides where both sides changed one leaf differently and no rule of the leaf does.
///
/// A policy is data: the first rule that fits the leaf and decides wins; the default is the translation branch for text
/// and the source branch for everything else, and a conflict where there are no roles.
public struct MergePolicy: Sendable {
    /// The answer of one rule.
    public enum Choice: String, Sendable, CaseIterable {
        case sourceBranch = "source-branch"
        case translationBranch = "translation-branch"
        /// The side whose unit is `translated`, where the other's is not. Decides nothing in a table, which has no states.
        case reviewedWins = "reviewed-wins"
        case ours, theirs
        /// The side where the leaf was changed last, by the dates in ``MergePolicy/newer``.
        case newest
        /// No language of a key goes because one side removed it; in a table of translations that is a row. Decides nothing
        /// about texts.
        case union
        /// The source side's structure, the translator's text as `needs_review`. A table has no states; there it is the
        /// translator's text.
        case draft
        case conflict
    }

    /// One rule; what it does not name fits everything.
    public struct Rule: Hashable, Sendable {
        /// Globs of keys, in which `*` stands for anything.
        public var keys: [String]?
        /// Language codes, compared as languages are.
        public var languages: [String]?
        /// Names of fields: `value`, `state`, `comment`, …
        public var fields: [String]?
        public var choice: Choice

        public init(keys: [String]? = nil, languages: [String]? = nil, fields: [String]? = nil, choice: Choice) {
            self.keys = keys
            self.languages = languages
            self.fields = fields
            self.choice = choice
        }

        static func glob(_ pattern: String, matches text: String) -> Bool {
            // Between two stars the first place that fits will do: what follows only wants more room.
            let parts = pattern.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map(Array.init)
            var rest = Array(text.utf8)[...]
            guard parts.count > 1 else { return rest.elementsEqual(parts[0]) }
            guard rest.starts(with: parts[0]) else { return false }
            rest = rest.dropFirst(parts[0].count)
            for part in parts[1..<parts.count - 1] where !part.isEmpty {
                guard let at = rest.indices.first(where: { rest[$0...].starts(with: part) }) else { return false }
                rest = rest[(at + part.count)...]
            }
            return rest.count >= parts.last!.count && rest.suffix(parts.last!.count).elementsEqual(parts.last!)
        }
    }

    public var sourceSide: SourceSide
    public var rules: [Rule]
    /// Whether a translation whose source text changed is marked `needs_review` once.
    public var flagsStale: Bool
    /// Whether the translation side may remove keys.
    public var allowsTranslationDeletions: Bool
    /// The share of a language's texts, 0...1, above which their removal by the translation side is held.
    public var lostShareMax: Double
    /// Codes that are one language.
    public var aliases = LanguageAliases()
    /// What people decided before. About texts and comments it goes before the rules; elsewhere it is asked before a conflict is
    /// recorded.
    public var resolutions = Resolutions()
    /// Whether the report names each text that lost. A caller that tells nobody saves a look at everything that goes.
    public var recordsLosses = true
    /// Keys that are held whole although they could be merged, and why: each becomes a conflict where a side changed it.
    public var holding: [String: String] = [:]
    /// For ``Choice/newest``: on which side a leaf was changed last; `none` where that cannot be told. A leaf whose date a merge
    /// wants and does not find is in ``MergeReport/undated``.
    public var newer: [LeafPath: SourceSide] = [:]

    public init(
        sourceSide: SourceSide = .none, rules: [Rule] = [], flagsStale: Bool = false,
        allowsTranslationDeletions: Bool = false, lostShareMax: Double = 0.5
    ) {
        self.sourceSide = sourceSide
        self.rules = rules
        self.flagsStale = flagsStale
        self.allowsTranslationDeletions = allowsTranslationDeletions
        self.lostShareMax = lostShareMax
    }

    package var sourceRole: Side? { sourceSide.side }

    package var translationRole: Side? { sourceRole?.other }

    // MARK: Verdicts

    /// A leaf as rules see it.
    package struct Leaf {
        let path: LeafPath
        /// The last name of its field, or what a table calls it.
        let field: String?
        /// The sides whose text is `translated`.
        let reviewed: [Side]

        package init(path: LeafPath, field: String?, reviewed: [Side] = []) {
            self.path = path
            self.field = field
            self.reviewed = reviewed
        }
    }

    /// Who wins a leaf.
    package struct Verdict {
        /// Nil where it is to be a conflict.
        package var side: Side?
        /// What the rule that decided says; nil where none did.
        package var choice: Choice?
        /// Whether a rule asked for the date of the leaf, which is not known.
        package var isUndated = false
    }

    /// Who wins a leaf that both sides changed, in a catalog as in a table: the first rule that fits and decides says so.
    ///
    /// - Parameter role: the side that wins where no rule decides.
    package func verdict(on leaf: Leaf, default role: Side?) -> Verdict {
        var verdict = Verdict()
        for rule in rules where fits(rule, leaf) {
            switch rule.choice {
            case .ours: verdict.side = .ours
            case .theirs: verdict.side = .theirs
            case .sourceBranch: verdict.side = sourceRole
            case .translationBranch, .draft: verdict.side = translationRole
            case .reviewedWins: verdict.side = leaf.reviewed.count == 1 ? leaf.reviewed[0] : nil
            case .newest:
                verdict.side = newer[leaf.path]?.side
                if newer[leaf.path] == nil { verdict.isUndated = true }
            // Unites sets; of two texts it can only be one.
            case .union: break
            case .conflict: return verdict
            }
            if verdict.side != nil {
                verdict.choice = rule.choice
                return verdict
            }
        }
        verdict.side = role
        return verdict
    }

    /// Whether the first rule that fits a leaf names this choice.
    package func prefers(_ choice: Choice, for leaf: Leaf) -> Bool { rules.first { fits($0, leaf) }?.choice == choice }

    /// Whether a rule speaks of a leaf.
    private func fits(_ rule: Rule, _ leaf: Leaf) -> Bool {
        if let languages = rule.languages {
            guard let code = leaf.path.language, languages.contains(where: { aliases.areSame($0, code) }) else { return false }
        }
        if let globs = rule.keys {
            guard let key = leaf.path.key, globs.contains(where: { Rule.glob($0, matches: key) }) else { return false }
        }
        return rule.fields.map { names in leaf.field.map(names.contains) ?? false } ?? true
    }
}
