/// Which of the two sides is the branch where code is developed; the other is then the branch of the translators.
public enum SourceSide: Sendable {
    case ours, theirs
    /// Two branches of one kind: neither is protected from the other, and what only a role could settle is a conflict.
    case none
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
        /// The side whose unit is `translated`, where the other's is not.
        case reviewedWins = "reviewed-wins"
        case ours, theirs
        /// The source side's structure, the translator's text as `needs_review`.
        case draft
        case conflict
    }

    /// One rule; what it does not name fits everything.
    public struct Rule: Sendable {
        /// Language codes, compared as languages are.
        public var languages: [String]?
        /// Names of fields: `value`, `state`, `comment`, …
        public var fields: [String]?
        public var choice: Choice

        public init(languages: [String]? = nil, fields: [String]? = nil, choice: Choice) {
            self.languages = languages
            self.fields = fields
            self.choice = choice
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

    package var sourceRole: Side? {
        switch sourceSide {
        case .ours: .ours
        case .theirs: .theirs
        case .none: nil
        }
    }

    package var translationRole: Side? { sourceRole?.other }

    /// The side that is preferred for a leaf; nil where it is to be a conflict.
    ///
    /// - Parameters:
    ///   - language: a code in the form in which spellings are equal; nil beside all languages.
    ///   - role: the side that wins where no rule decides.
    package func winner(language: [UInt8]?, field: String?, default role: Side?) -> Side? {
        for rule in rules {
            if let languages = rule.languages {
                guard let language, languages.contains(where: { languageIdentity(Array($0.utf8)) == language }) else { continue }
            }
            if let names = rule.fields {
                guard let field, names.contains(field) else { continue }
            }
            switch rule.choice {
            case .ours: return .ours
            case .theirs: return .theirs
            case .sourceBranch: if let sourceRole { return sourceRole }
            case .translationBranch, .draft: if let translationRole { return translationRole }
            case .reviewedWins: continue
            case .conflict: return nil
            }
        }
        return role
    }
}
