// What a check says, and how loud: rules, severities, findings, and the baseline of old faults.

/// How much a finding matters.
public enum Severity: String, CaseIterable, Comparable, Sendable {
    /// Worth knowing; often right as it is.
    case info
    /// Users may see something wrong.
    case warning
    /// The catalog cannot be built or read, or a text may crash or show raw placeholders.
    case error

    public static func < (one: Severity, other: Severity) -> Bool { one.rank < other.rank }

    private var rank: Int {
        switch self {
        case .info: 0
        case .warning: 1
        case .error: 2
        }
    }
}

/// The rules of a check. The raw value is the rule's name in options, outputs and baselines.
public enum CheckRule: String, CaseIterable, Sendable {
    // The file.
    case syntax = "syntax"
    case conflictMarker = "conflict-marker"
    case duplicateKey = "duplicate-key"
    case duplicateLanguage = "duplicate-language"
    case duplicateMember = "duplicate-member"
    case strayKey = "stray-key"
    case strayMember = "stray-member"
    case version = "version"
    case newerVersion = "newer-version"
    case sourceLanguage = "source-language"
    case emptyKey = "empty-key"
    case malformed = "malformed"
    case missingState = "missing-state"
    case unknownState = "unknown-state"
    case languageSpelling = "language-spelling"
    // Plurals and devices.
    case pluralOther = "plural-other"
    case pluralCategory = "plural-category"
    case pluralCategoryRare = "plural-category-rare"
    case unknownVariation = "unknown-variation"
    // Placeholders.
    case placeholderMissing = "placeholder-missing"
    case placeholderExtra = "placeholder-extra"
    case placeholderType = "placeholder-type"
    case placeholderWidth = "placeholder-width"
    case placeholderOrder = "placeholder-order"
    case percentSign = "percent-sign"
    case substitutionMissing = "substitution-missing"
    case substitutionUnused = "substitution-unused"
    // Texts.
    case missingTranslation = "missing-translation"
    case equalToSource = "equal-to-source"
    case whitespace = "whitespace"
    case symbol = "symbol"

    /// The severity unless a policy says otherwise.
    public var standardSeverity: Severity {
        switch self {
        case .syntax, .conflictMarker, .duplicateKey, .duplicateLanguage, .duplicateMember, .strayKey, .version, .sourceLanguage,
            .malformed, .pluralOther, .placeholderMissing, .placeholderExtra, .placeholderType, .substitutionMissing:
            .error
        case .newerVersion, .strayMember, .emptyKey, .missingState, .unknownState, .languageSpelling, .pluralCategory, .unknownVariation,
            .placeholderWidth, .placeholderOrder, .percentSign, .substitutionUnused, .symbol:
            .warning
        case .pluralCategoryRare, .missingTranslation, .equalToSource, .whitespace: .info
        }
    }

    /// What the rule asks for, as one sentence.
    public var summary: String {
        switch self {
        case .syntax: "A catalog is valid JSON with an object at its top."
        case .conflictMarker: "No unresolved merge conflict is committed."
        case .duplicateKey: "A key stands once."
        case .duplicateLanguage: "A language stands once in an entry, in one spelling."
        case .duplicateMember: "A property stands once in its object."
        case .strayKey: "Entries stand inside \"strings\", not beside it."
        case .strayMember: "The top level holds sourceLanguage, strings and version, and nothing else."
        case .version: "The file says a version of the format that is known."
        case .newerVersion: "The version of the format is not newer than what is known here."
        case .sourceLanguage: "The file says its source language."
        case .emptyKey: "A key is not empty."
        case .malformed: "Objects stand where the format has objects, texts where it has texts."
        case .missingState: "A string unit says its state."
        case .unknownState: "States are ones that Xcode knows."
        case .languageSpelling: "A language is spelled in one way throughout the file."
        case .pluralOther: "A plural has a text for the category other."
        case .pluralCategory: "A plural has a text for each category that the language's whole numbers need."
        case .pluralCategoryRare: "A plural has a text for the categories of fractions and very large numbers."
        case .unknownVariation: "Plural categories and devices are ones that Xcode knows."
        case .placeholderMissing: "A translation uses every argument that the source text uses."
        case .placeholderExtra: "A translation uses no argument that is not passed."
        case .placeholderType: "A placeholder reads its argument as the type that is passed."
        case .placeholderWidth: "A placeholder reads integers as wide as they are passed."
        case .placeholderOrder: "A text numbers all of its placeholders or none."
        case .percentSign: "A percent sign in a text with placeholders, or beside a source text with %%, is written %%."
        case .substitutionMissing: "Each %#@name@ has a substitution of that name."
        case .substitutionUnused: "Each substitution is used by a %#@name@."
        case .missingTranslation: "Each language of the file has all texts."
        case .equalToSource: "A translation differs from the source text."
        case .whitespace: "A translation begins and ends with the same white space as the source text."
        case .symbol: "Each key gives a Swift symbol of its own."
        }
    }
}

/// One fault, and what to do about it.
public struct Finding: Equatable, Sendable {
    public let rule: CheckRule
    public let severity: Severity
    /// The line, from 1.
    public let line: Int
    /// The column in Unicode scalars, from 1.
    public let column: Int
    /// The key, language and field, as far down as the fault is tied to one.
    public let place: LeafPath
    /// What is wrong and what to do, without the place.
    public let sentence: String

    package init(rule: CheckRule, severity: Severity, line: Int, column: Int, place: LeafPath, sentence: String) {
        self.rule = rule
        self.severity = severity
        self.line = line
        self.column = column
        self.place = place
        self.sentence = sentence
    }

    /// What makes this the same fault in another version of a file: path, rule, key, language and field on one line. Lines,
    /// columns and wording do not count.
    public func identity(path: String) -> String { Self.identity(rule, place, path: path) }

    static func identity(_ rule: CheckRule, _ place: LeafPath, path: String) -> String {
        func escaped(_ text: String) -> String {
            var out = ""
            for scalar in text.unicodeScalars {
                switch scalar {
                case "\\": out += "\\\\"
                case "\t": out += "\\t"
                case "\n": out += "\\n"
                case "\r": out += "\\r"
                default: out.unicodeScalars.append(scalar)
                }
            }
            return out
        }
        // An absent part is "-"; a present one has a mark before it, so that the empty key stays a key.
        return ([escaped(path), rule.rawValue] + [place.key, place.language, place.field].map { $0.map { "=" + escaped($0) } ?? "-" })
            .joined(separator: "\t")
    }
}

/// Which rules apply, and how severe each is.
public struct CheckPolicy: Sendable {
    private var changed: [CheckRule: Severity?] = [:]

    /// Every rule with its own severity.
    public static let standard = CheckPolicy()

    /// The rules that look at the file alone, not at what its texts say.
    public static let structure: CheckPolicy = {
        var policy = CheckPolicy()
        for rule in CheckRule.allCases where rule.looksAtTexts { policy[rule] = nil }
        return policy
    }()

    public init() {}

    /// The same without the rules below a severity.
    func only(_ least: Severity) -> CheckPolicy {
        var policy = self
        for rule in CheckRule.allCases where self[rule].map({ $0 < least }) ?? false { policy[rule] = nil }
        return policy
    }

    /// The severity of a rule; nil turns it off.
    public subscript(rule: CheckRule) -> Severity? {
        get { changed[rule] ?? rule.standardSeverity }
        set { changed.updateValue(newValue, forKey: rule) }
    }
}

extension CheckRule {
    /// Whether the rule compares texts with each other, or with what CLDR says of their language.
    var looksAtTexts: Bool {
        looksAtPlaceholders || [.pluralCategory, .pluralCategoryRare, .missingTranslation, .equalToSource, .whitespace, .symbol].contains(self)
    }

    /// Whether the rule asks what a text does with its arguments.
    var looksAtPlaceholders: Bool {
        [
            .placeholderMissing, .placeholderExtra, .placeholderType, .placeholderWidth, .placeholderOrder, .percentSign, .substitutionMissing,
            .substitutionUnused,
        ].contains(self)
    }
}

/// The faults that a project has decided to live with for now: a check does not report them again.
///
/// As a file it is one line for each, sorted, so that git merges it well and a diff shows what was mended.
public struct Baseline: Sendable {
    private var counts: [String: Int] = [:]

    public init() {}

    /// Reads a baseline's text. Lines that begin with `#` are comments.
    public init(parsing text: String) {
        // By LF alone: a key may hold other characters that count as line ends.
        for line in text.utf8.split(separator: 10) where line.first != 0x23 {
            counts[String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self), default: 0] += 1
        }
    }

    /// Takes a file's findings up.
    public mutating func add(_ findings: [Finding], path: String) {
        for finding in findings { counts[finding.identity(path: path), default: 0] += 1 }
    }

    /// The findings of a file that are not in here. Where a fault stands more often than before, the later copies are new.
    public func new(in findings: [Finding], path: String) -> [Finding] {
        guard !counts.isEmpty else { return findings }
        var left = counts
        return findings.filter { finding in
            let identity = finding.identity(path: path)
            guard let count = left[identity], count > 0 else { return true }
            left[identity] = count - 1
            return false
        }
    }

    /// The text for a file.
    public var text: String {
        let lines = counts.flatMap { [String](repeating: $0.key, count: $0.value) }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return (["# Faults that `concord check` does not report again: path, rule, key, language, field."] + lines).map { $0 + "\n" }.joined()
    }
}
