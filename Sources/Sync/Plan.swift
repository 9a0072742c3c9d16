import Git

/// One thing to look at: whether the changes of `source` are in `target`.
///
/// A step is a question, not an order: the answer may well be that nothing is to be done.
public struct Step: Hashable, Sendable, CustomStringConvertible {
    /// The branch that is written: "ours".
    public let target: Ref
    /// The branch whose changes come in: "theirs".
    public let source: Ref
    public let rule: SyncRule
    /// Whether this is the way back of the rule, from its `into` to its `from`.
    public let isBack: Bool

    /// Which side of this step develops the code; `nil` when the sides are alike.
    public var isTargetTheSourceRole: Bool? {
        switch rule.source {
        case .none: nil
        case .into: !isBack
        case .from: isBack
        }
    }

    public var description: String { "\(source.name.shorthand) into \(target.name.shorthand)" }
}

/// What the rules ask for, given where the branches are: first everything that goes into the `into` ends, then the ways back.
///
/// Branches at the same commit are in step and ask for nothing. A wildcard matches the branches that exist; where both ends
/// have one, it stands for the same on both. An end without a wildcard that does not exist is in `missing`.
public func plan(_ rules: [SyncRule], tips: [Ref]) -> (steps: [Step], missing: [MissingBranch]) {
    var steps: [Step] = [], missing: [MissingBranch] = []
    for rule in rules {
        let pairs = pairs(of: rule, tips, &missing)
        steps += pairs.map { Step(target: $0.into, source: $0.from, rule: rule, isBack: false) }
    }
    for rule in rules where rule.goesBack {
        var ignored: [MissingBranch] = []
        let pairs = pairs(of: rule, tips, &ignored)
        steps += pairs.map { Step(target: $0.from, source: $0.into, rule: rule, isBack: true) }
    }
    return (steps.filter { $0.target.tip != $0.source.tip }, missing)
}

/// A branch that a rule names and that is not there.
public struct MissingBranch: Hashable, Sendable {
    public let branch: RefName
    public let rule: String
}

private func pairs(of rule: SyncRule, _ tips: [Ref], _ missing: inout [MissingBranch]) -> [(from: Ref, into: Ref)] {
    for case let end? in [rule.from.ref, rule.into.ref] where !tips.contains(where: { $0.name == end }) {
        missing.append(MissingBranch(branch: end, rule: rule.name))
    }
    // Each name is looked at once: ten thousand branches are no reason to compare each with each.
    let ends = tips.filter { rule.into.match($0.name) != nil }
    let byName = Dictionary(ends.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    return tips.flatMap { from -> [(from: Ref, into: Ref)] in
        guard let match = rule.from.match(from.name) else { return [] }
        // `main` into `release/*` goes to each of them; `l10n/*` into `app/*` from each to its own.
        let isToEach = match.wildcard == nil || !rule.into.hasWildcard
        let targets = isToEach ? ends : rule.into.ref(for: match).flatMap { byName[$0] }.map { [$0] } ?? []
        return targets.filter { $0.name != from.name }.map { (from, $0) }
    }
}
