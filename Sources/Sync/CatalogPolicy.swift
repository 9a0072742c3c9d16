import Git
import StringCatalog

// Who wins where both sides changed one leaf and no rule of the leaf decides, as data: a list of rules, the first that fits and
// decides wins.
//
//     policy = newest language=fr,de
//     policy = source-branch file=Legal/*.xcstrings key=legal.*
//     policy = standard

/// One rule of a policy, and which catalogs it is for.
public struct PolicyRule: Hashable, Sendable {
    /// `nil` for all.
    public var files: [PathGlob]?
    public var rule: MergePolicy.Rule

    public init(files: [PathGlob]? = nil, rule: MergePolicy.Rule) {
        self.files = files
        self.rule = rule
    }

    /// Whether the rule is for a file; one outside of any tree has no path, and no glob matches it.
    func fits(_ file: TreePath?) -> Bool {
        guard let files else { return true }
        return file.map { file in files.contains { $0.matches(file) } } ?? false
    }
}

/// An ordered list of rules, and what else the engine can be told. Where no rule decides: the translators for translations, the
/// developers for everything else.
public struct CatalogPolicy: Hashable, Sendable {
    public var rules: [PolicyRule]
    /// Codes that are one language.
    public var aliases = LanguageAliases()
    /// Whether a translation whose source text changed is marked `needs_review` once.
    public var flagsStale = false
    /// Whether a branch of translators may delete keys.
    public var allowsTranslationDeletions = false
    /// The share of a language's texts, 0...1, above which their removal by translators is held.
    public var lostShareMax = MergePolicy().lostShareMax

    public static let standard = CatalogPolicy(rules: [])

    /// The names of choices a configuration may use; `standard` adds no rule.
    public static let names = ["standard"] + MergePolicy.Choice.allCases.map(\.rawValue)

    public init(rules: [PolicyRule]) { self.rules = rules }

    /// One rule for everything; `nil` if there is no choice of this name.
    public init?(name: String) {
        guard let policy = try? CatalogPolicy(line: name) else { return nil }
        self = policy
    }

    /// What is wrong with a line, as a sentence.
    public struct Fault: Error { public let sentence: String }

    /// A line of a configuration: a choice, then what the rule is for: `file`, `key` (globs), `language`, `field` (lists between
    /// commas). A `*` in a glob stands for anything, so also for a space.
    public init(line: String) throws(Fault) {
        let words = line.split { $0 == " " || $0 == "\t" }.map(String.init)
        guard let name = words.first else { throw Fault(sentence: "a policy begins with a choice") }
        var rule = MergePolicy.Rule(choice: .conflict)
        var files: [PathGlob]?
        if name != "standard" {
            guard let choice = MergePolicy.Choice(rawValue: name) else {
                throw Fault(sentence: "`\(name)` is no policy" + suggestion(for: name, among: Self.names))
            }
            rule.choice = choice
        }
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let values = parts.count == 2 ? parts[1].split(separator: ",").map(String.init) : []
            guard !values.isEmpty else { throw Fault(sentence: "`\(word)` is not of the form language=fr,de") }
            switch parts[0] {
            case "file": files = (files ?? []) + values.map { PathGlob($0) }
            case "key": rule.keys = (rule.keys ?? []) + values
            case "language": rule.languages = (rule.languages ?? []) + values
            case "field": rule.fields = (rule.fields ?? []) + values
            default: throw Fault(sentence: "a policy has no `\(parts[0])`" + suggestion(for: parts[0], among: ["file", "key", "language", "field"]))
            }
        }
        guard name == "standard" else {
            rules = [PolicyRule(files: files, rule: rule)]
            return
        }
        guard words.count == 1 else { throw Fault(sentence: "`standard` is what holds where no rule decides; it takes no `\(words[1])`") }
        rules = []
    }

    /// Follows a line that names codes which are one language: `zh-CN zh-Hans`.
    public mutating func unite(line: String) throws(Fault) {
        let codes = line.split { $0 == " " || $0 == "\t" || $0 == "," }.map(String.init)
        guard codes.count > 1 else { throw Fault(sentence: "an alias names two languages or more, as in zh-CN zh-Hans") }
        if let odd = codes.first(where: { !isLanguageCode($0) }) { throw Fault(sentence: "`\(odd)` is no code of a language, such as zh-Hans") }
        aliases.unite(codes)
    }

    /// The same with what a tree says of itself after it.
    func followed(by tree: CatalogPolicy) -> CatalogPolicy {
        var both = self
        both.rules += tree.rules
        both.aliases = aliases.united(with: tree.aliases)
        return both
    }

    /// What the engine is to do in one catalog; no rule for some files fits one without a path in a tree.
    public func mergePolicy(for file: TreePath?, sourceSide: SourceSide) -> MergePolicy {
        var policy = MergePolicy(
            sourceSide: sourceSide, rules: rules.filter { $0.fits(file) }.map(\.rule), flagsStale: flagsStale,
            allowsTranslationDeletions: allowsTranslationDeletions, lostShareMax: lostShareMax)
        policy.aliases = aliases
        return policy
    }
}
