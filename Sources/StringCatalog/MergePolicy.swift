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
        /// The side whose unit is `translated`, where the other's is not.
        case reviewedWins = "reviewed-wins"
        case ours, theirs
        /// The side where the leaf was changed last, by the dates in ``MergePolicy/newer``.
        case newest
        /// No language goes because one side removed it. Decides nothing about texts.
        case union
        /// The source side's structure, the translator's text as `needs_review`.
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

    /// The side that is preferred for a leaf; nil where it is to be a conflict.
    ///
    /// - Parameters:
    ///   - language: a code in the form in which spellings are equal; nil beside all languages.
    ///   - role: the side that wins where no rule decides.
    package func winner(language: [UInt8]?, field: String?, default role: Side?) -> Side? {
        for rule in rules where rule.keys == nil {
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
            case .reviewedWins, .newest, .union: continue
            case .conflict: return nil
            }
        }
        return role
    }
}
