/// The place of a leaf for people: key, language and field. Nil where the place is above that level.
public struct LeafPath: Hashable, Sendable {
    public var key: String?
    public var language: String?
    /// The field, with what leads to it: `stringUnit.value`, `variations.plural.one.stringUnit.value`, `comment`; nil for the
    /// whole entry or language.
    public var field: String?

    public init(key: String? = nil, language: String? = nil, field: String? = nil) {
        self.key = key
        self.language = language
        self.field = field
    }

    // Scalar by scalar, as keys are: for a String the two spellings of "é" are equal.
    public static func == (a: LeafPath, b: LeafPath) -> Bool { a.scalars == b.scalars }
    public func hash(into hasher: inout Hasher) { hasher.combine(scalars) }
    private var scalars: [[UInt8]?] { [key, language, field].map { $0.map { Array($0.utf8) } } }
}

/// Whether two texts have the same Unicode scalars; an absent one is like an absent one only.
package func isSameText(_ a: String?, _ b: String?) -> Bool {
    switch (a, b) {
    case (nil, nil): true
    case (let a?, let b?): a.utf8.elementsEqual(b.utf8)
    default: false
    }
}

/// A leaf that the merge could not decide. The target keeps its own bytes there.
public struct MergeConflict: Sendable {
    public var path: LeafPath
    /// The three values: a text as it reads, anything else as its JSON; nil where it is absent.
    public var base, ours, theirs: String?
    /// One sentence.
    public var why: String

    package init(path: LeafPath, base: String?, ours: String?, theirs: String?, why: String) {
        self.path = path
        self.base = base
        self.ours = ours
        self.theirs = theirs
        self.why = why
    }
}

/// A text that is in one of the inputs and not in the result.
public struct Loss: Sendable {
    public var path: LeafPath
    public var text: String
    /// `ours` or `theirs`: where the text stood.
    public var from: String
    /// The rule that dropped it.
    public var rule: String

    /// Whether the text only waits: its place is held by a conflict, and it still stands on its own side.
    public var isHeldBack: Bool { rule == Self.heldBack }

    package static let heldBack = "held back by a conflict"

    package init(path: LeafPath, text: String, from: String, rule: String) {
        self.path = path
        self.text = text
        self.from = from
        self.rule = rule
    }
}

/// A decision that was more than "only one side changed it".
public struct Decision: Sendable {
    public var path: LeafPath
    public var rule: String
    /// What came out, in a few words.
    public var outcome: String

    package init(path: LeafPath, rule: String, outcome: String) {
        self.path = path
        self.rule = rule
        self.outcome = outcome
    }
}

/// What a merge decided, beside its bytes.
public struct MergeReport: Sendable {
    public package(set) var conflicts: [MergeConflict] = []
    public package(set) var losses: [Loss] = []
    public package(set) var decisions: [Decision] = []
    /// Faults of the inputs that the merge could live with, one sentence each.
    public package(set) var damages: [String] = []
    /// Leaves that the policy would decide by date, and whose date it was not told.
    public package(set) var undated: Set<LeafPath> = []

    package init() {}

    /// How far the report has come.
    struct Mark {
        let conflicts, losses, decisions: Int
    }

    var mark: Mark { Mark(conflicts: conflicts.count, losses: losses.count, decisions: decisions.count) }

    /// Takes back what was reported since `mark`.
    mutating func rewind(to mark: Mark) {
        conflicts.removeSubrange(mark.conflicts...)
        losses.removeSubrange(mark.losses...)
        decisions.removeSubrange(mark.decisions...)
    }

    /// The report as JSON, UTF-8, with a final line feed.
    ///
    ///     {"path": …, "conflicts": [{"key": …, "language": …, "field": …, "base": …, "ours": …, "theirs": …, "why": …}],
    ///      "losses": [{"key": …, "language": …, "field": …, "text": …, "from": …, "rule": …}],
    ///      "decisions": [{"key": …, "language": …, "field": …, "rule": …, "outcome": …}], "damages": […]}
    public func json(path: String?) -> [UInt8] {
        let style = Style.xcode
        var out: [UInt8] = []
        func put(_ text: String) { out += Array(text.utf8) }
        func string(_ text: String?) { text.map { out += style.quoted($0) } ?? put("null") }
        func list<Element>(_ name: String, _ items: [Element], _ fields: (Element) -> [(String, String?)]) {
            put(",\n  \"\(name)\": [")
            for (i, item) in items.enumerated() {
                put(i == 0 ? "\n    {" : ",\n    {")
                for (k, field) in fields(item).enumerated() {
                    put(k == 0 ? "\"\(field.0)\": " : ", \"\(field.0)\": ")
                    string(field.1)
                }
                put("}")
            }
            put(items.isEmpty ? "]" : "\n  ]")
        }
        func place(_ path: LeafPath) -> [(String, String?)] { [("key", path.key), ("language", path.language), ("field", path.field)] }
        put("{\n  \"path\": ")
        string(path)
        list("conflicts", conflicts) { place($0.path) + [("base", $0.base), ("ours", $0.ours), ("theirs", $0.theirs), ("why", $0.why)] }
        list("losses", losses) { place($0.path) + [("text", $0.text), ("from", $0.from), ("rule", $0.rule)] }
        list("decisions", decisions) { place($0.path) + [("rule", $0.rule), ("outcome", $0.outcome)] }
        list("damages", damages) { [("what", $0)] }
        put("\n}\n")
        return out
    }
}
