// The merge of a table by key: which rows differ, what becomes of each, where new ones go; then the output is written,
// read back and held against the plan before anybody sees it. The rules are those of catalogs as far as a table has
// what they speak of: a text has no state here, so what would become `needs_review` there is told in the report.

import StringCatalog

/// The language of a table: its folder says it, not its bytes.
public struct TableLanguage: Sendable {
    /// The code, such as `pt-BR`; nil where it is not known.
    public var code: String?
    /// Whether the texts are the source texts: then they belong to the source branch.
    public var isSource: Bool

    public init(code: String? = nil, isSource: Bool = false) {
        self.code = code
        self.isSource = isSource
    }

    /// The language of the `.lproj` folder that a file stands in; unknown outside of one. `Base.lproj` is source text.
    ///
    /// - Parameter sourceLanguage: see ``sourceLanguage(ofTablesIn:names:read:)``.
    public init(path: String, sourceLanguage: String = "en", aliases: LanguageAliases = LanguageAliases()) {
        let folder = path.split(separator: "/").dropLast().last { $0.hasSuffix(".lproj") }?.dropLast(6)
        guard let folder else {
            self.init()
            return
        }
        let isBase = folder == "Base"
        let code = isBase ? sourceLanguage : String(folder)
        self.init(code: code, isSource: isBase || aliases.areSame(currentCode(code), currentCode(sourceLanguage)))
    }
}

/// The outcome of a merge: a table that can be committed, and what has to be told about it.
public struct TableMerge: Sendable {
    /// The merged table: the target's bytes with splices. The very bytes of the target where nothing came over.
    public let bytes: Bytes
    /// Whether the result is the target as it stands.
    public let isUnchanged: Bool
    public let report: MergeReport
    /// Whether a person has to decide something. The result is a valid table all the same.
    public var hasConflicts: Bool { !report.conflicts.isEmpty }

    package init(bytes: Bytes, isUnchanged: Bool, report: MergeReport) {
        self.bytes = bytes
        self.isUnchanged = isUnchanged
        self.report = report
    }
}

/// An input that cannot be read, and which of the three it is.
public struct TableInputError: Error, CustomStringConvertible, Sendable {
    /// `base`, `ours` or `theirs`.
    public let role: String
    public let error: TableError
    public var description: String { "\(role): \(error)" }
}

/// Merges `theirs` into `ours`, key by key; bytes of `ours` outside of the edited rows do not move.
///
/// - Parameter base: nil, or no bytes at all, treats every key present on both sides as added twice.
/// - Throws: ``TableInputError`` where an input cannot be read, `MergeFault` where the result does not pass its own check.
public func mergeTable(
    kind: TableKind, base: Bytes?, ours: Bytes, theirs: Bytes, language: TableLanguage = TableLanguage(), policy: MergePolicy = MergePolicy()
) throws -> TableMerge {
    func read(_ bytes: Bytes, _ role: String) throws(TableInputError) -> TableDocument {
        do { return try TableDocument(parsing: bytes) } catch { throw TableInputError(role: role, error: error) }
    }
    let baseDocument = try base.flatMap { $0.count == 0 ? nil : try read($0, "base") }
    return try merge(
        base: baseDocument, ours: read(ours, "ours"), theirs: read(theirs, "theirs"), kind: kind, language: language, policy: policy)
}

/// Merges `.strings`; see ``mergeTable(kind:base:ours:theirs:language:policy:)``.
public func mergeStrings(
    base: Bytes?, ours: Bytes, theirs: Bytes, language: TableLanguage = TableLanguage(), policy: MergePolicy = MergePolicy()
) throws -> TableMerge {
    try mergeTable(kind: .strings, base: base, ours: ours, theirs: theirs, language: language, policy: policy)
}

/// Merges `.stringsdict`; see ``mergeTable(kind:base:ours:theirs:language:policy:)``.
public func mergeStringsDict(
    base: Bytes?, ours: Bytes, theirs: Bytes, language: TableLanguage = TableLanguage(), policy: MergePolicy = MergePolicy()
) throws -> TableMerge {
    try mergeTable(kind: .stringsdict, base: base, ours: ours, theirs: theirs, language: language, policy: policy)
}

/// The same for tables that are read already.
///
/// Before it returns, the output is parsed, its difference from `ours` is held against the plan, and a second merge must
/// plan nothing.
/// - Throws: `MergeFault` where that check fails; the result is then not to be had.
public func merge(
    base: TableDocument?, ours: TableDocument, theirs: TableDocument, kind: TableKind, language: TableLanguage = TableLanguage(),
    policy: MergePolicy = MergePolicy()
) throws(MergeFault) -> TableMerge {
    var merger = TableMerger(kind: kind, language: language, policy: policy)
    let plan = merger.plan(base, ours, theirs)
    guard !plan.isEmpty else { return TableMerge(bytes: ours.bytes, isUnchanged: true, report: merger.report) }
    let written = try write(plan, into: ours, from: theirs)
    var again = TableMerger(kind: kind, language: language, policy: policy)
    let second = again.plan(base, written, theirs)
    if let row = second.rows.keys.min().map({ written.rows[$0] }) ?? second.added.first?.row {
        throw MergeFault(description: "a second merge would change the key \"\(row.key.string)\" again", key: row.key.string)
    }
    // What is worse than before stands in the report, whoever did it.
    let known = Set(ours.findings(kind: kind, language: language).map(\.identity))
    for finding in written.findings(kind: kind, language: language) where !known.contains(finding.identity) {
        merger.report.damages.append("the result, line \(finding.line): \(finding.sentence)")
    }
    return TableMerge(bytes: written.bytes, isUnchanged: false, report: merger.report)
}

/// The base of the *next* merge of the same two branches, after a merge that left conflicts was committed without theirs
/// as a parent: theirs, but with each held leaf as it was in `base`. As the catalogs' `baseAfter`.
public func baseAfter(_ merge: TableMerge, base: TableDocument?, theirs: TableDocument) throws(MergeFault) -> Bytes {
    guard merge.hasConflicts else { return theirs.bytes }
    var held: [[UInt8]: Set<String>] = [:]
    for conflict in merge.report.conflicts {
        if let key = conflict.path.key { held[Array(key.utf8), default: []].insert(conflict.path.field ?? "") }
    }
    let plan = restoration(theirs.rows, to: base?.rows ?? [], prefix: nil, held)
    guard !plan.isEmpty else { return theirs.bytes }
    return try write(plan, into: theirs, from: base ?? theirs).bytes
}

/// Writes a plan and holds what was written against it.
func write(_ plan: TablePlan, into host: TableDocument, from donor: TableDocument) throws(MergeFault) -> TableDocument {
    var writer = TableWriter(host: host, donor: donor)
    let output = writer.write(plan)
    let written: TableDocument
    do {
        written = try TableDocument(parsing: output, limits: CatalogLimits(bytesMax: .max, depthMax: 63))
    } catch {
        throw MergeFault(description: "the merged table does not parse: \(error)")
    }
    let expected = plan.applied(to: host.rows)
    let found = written.rows.map(ContentRow.init)
    guard expected != found else { return written }
    for (a, b) in zip(expected, found) where a != b {
        throw MergeFault(description: "the merged table differs from its plan at the key \"\(a.key.string)\"", key: a.key.string)
    }
    throw MergeFault(description: "the merged table has \(found.count) rows, its plan \(expected.count)")
}

/// Puts held leaves back as they were. Here the target is the incoming table and the other document the old base.
func restoration(_ rows: [Row], to old: [Row], prefix: String?, _ held: [[UInt8]: Set<String>], _ paths: Set<String> = []) -> TablePlan {
    var plan = TablePlan()
    let new = lastCopies(rows)
    let was = lastCopies(old)
    var back: [Int] = []
    for key in Set(new.keys).union(was.keys) {
        let paths = prefix == nil ? held[key] ?? [] : paths
        guard !paths.isEmpty else { continue }
        let field = prefix.map { $0.isEmpty ? key.string : $0 + "." + key.string } ?? ""
        let own = new[key]
        let base = was[key]
        if paths.contains(field) || (prefix == nil && paths.contains("value")) {
            switch (own, base) {
            case (let own?, let base?): plan.rows[own] = .edited(RowEdit(value: same(rows[own].value, old[base].value) ? nil : .taken(old[base].value)))
            case (let own?, nil): for i in rows.indices where rows[i].key == rows[own].key { plan.rows[i] = .removed }
            case (nil, let base?): back.append(base)
            case (nil, nil): break
            }
        } else if let own, let base, rows[own].value.isDictionary, old[base].value.isDictionary,
            prefix == nil || paths.contains(where: { $0.hasPrefix(field + ".") })
        {
            let inner = restoration(rows[own].value.rows, to: old[base].value.rows, prefix: field, held, paths)
            if !inner.isEmpty { plan.rows[own] = .edited(RowEdit(value: .rows(inner))) }
        }
        guard prefix == nil, let own else { continue }
        var edit = RowEdit()
        if case .edited(let made) = plan.rows[own] { edit = made }
        if case .removed = plan.rows[own] { continue }
        let isWhole = paths.contains("")
        if isWhole || paths.contains("comment"), rows[own].comment?.text != base.flatMap({ old[$0].comment?.text }) { edit.comment = .some(base.flatMap { old[$0].comment }) }
        if isWhole || paths.contains("trailing comment"), rows[own].trailing?.text != base.flatMap({ old[$0].trailing?.text }) { edit.trailing = .some(base.flatMap { old[$0].trailing }) }
        plan.rows[own] = edit.isEmpty ? nil : .edited(edit)
    }
    for i in back.sorted() {
        var k = i - 1
        while k >= 0, new[old[k].key] == nil { k -= 1 }
        plan.added.append((old[i], k >= 0 ? new[old[k].key]! : -1))
    }
    plan.added = plan.added.enumerated().sorted { ($0.element.after, $0.offset) < ($1.element.after, $1.offset) }.map(\.element)
    return plan
}

/// One three-way merge of a table in progress: the plan is made row by row, the report on the way.
struct TableMerger {
    let kind: TableKind
    let language: TableLanguage
    let policy: MergePolicy
    var report = MergeReport()
    private var key: [UInt8]?
    private var fields: [String] = []
    /// Sides whose deletions are held: what came from them looks like a partial export.
    private var held: Set<Side> = []
    private var order: KeyOrder = .xcode
    /// Whether one of the tables is XML and the other is not.
    private var crossesForms = false
    /// Whether both sides changed the present variable. A change of one side alone is taken as it is, as in a catalog; where
    /// the two are put together, nobody saw that `other` goes.
    private var keepsOther = false

    /// What a dictionary is in its table; the rules of its members depend on it.
    private enum Level {
        case table
        /// An entry of a `.stringsdict`: its format and its variables.
        case entry
        /// A variable: its type and its plural categories.
        case variable
        case other
    }

    init(kind: TableKind, language: TableLanguage, policy: MergePolicy) {
        self.kind = kind
        self.language = language
        self.policy = policy
    }

    mutating func plan(_ base: TableDocument?, _ ours: TableDocument, _ theirs: TableDocument) -> TablePlan {
        for (document, name) in [(base, "base"), (ours, "ours"), (theirs, "theirs")] {
            guard let document else { continue }
            for finding in document.findings(kind: kind, language: language) where finding.rule == .duplicateKey {
                report.damages.append("\(name), line \(finding.line): \(finding.sentence)")
            }
        }
        crossesForms = (ours.syntax == .xml) != (theirs.syntax == .xml)
        order = KeyOrder.detected(among: (base.flatMap { $0.rows.count > 1 ? $0 : nil } ?? ours).rows.prefix(500).map(\.key)) ?? .xcode
        let baseRows = base?.rows ?? []
        hold(baseRows, ours, .ours)
        hold(baseRows, theirs, .theirs)
        return rows(baseRows, ours.rows, theirs.rows, .table)
    }

    /// Finds out whether a side lost so much at once that it looks like a partial export.
    private mutating func hold(_ base: [Row], _ document: TableDocument, _ side: Side) {
        guard !base.isEmpty else { return }
        let keys = Set(document.rows.map(\.key))
        let had = Set(base.map(\.key))
        let lost = had.count { !keys.contains($0) }
        if document.rows.isEmpty, document.text.utf8.allSatisfy(isSpace) {
            held.insert(side)
            report.decisions.append(Decision(
                path: LeafPath(language: language.code), rule: "an empty file removes nothing", outcome: "\(lost) keys stay that \(side) no longer has"))
        } else if policy.translationRole == side, policy.allowsTranslationDeletions, Double(lost) > policy.lostShareMax * Double(had.count) {
            held.insert(side)
            report.decisions.append(Decision(
                path: LeafPath(language: language.code), rule: "a partial export removes nothing",
                outcome: "\(lost) of \(had.count) keys were missing on the translation side and stay"))
        }
    }

    // MARK: Report

    private var path: LeafPath {
        LeafPath(key: key?.string, language: language.code, field: fields.isEmpty ? nil : fields.joined(separator: "."))
    }

    private func words(_ node: Node?) -> String? { node.map { words(Content($0)) } }

    /// A text as it reads; anything else in the form of old-style lists.
    private func words(_ content: Content) -> String {
        func inner(_ content: Content) -> String { if case .text(let text) = content { OldStyleParser.quoted(text).string } else { words(content) } }
        return switch content {
        case .text(let text): text.string
        case .scalar(let lexeme): lexeme.string
        case .array(let values): "(" + values.map(inner).joined(separator: ", ") + ")"
        case .dictionary(let rows): "{ " + rows.map { OldStyleParser.quoted($0.key).string + " = " + inner($0.value) + "; " }.joined() + "}"
        }
    }

    private mutating func conflict(_ b: Node?, _ o: Node?, _ t: Node?, _ why: String) {
        report.conflicts.append(MergeConflict(path: path, base: words(b), ours: words(o), theirs: words(t), why: why))
        guard let t, t.isDictionary else { return }
        let known = texts(b).union(texts(o))
        lose(t, .theirs, Loss.heldBack, except: known)
    }

    /// The side that a person chose before, where the three values were these; what the other side has is noted as lost.
    private mutating func remembered(_ b: Node?, _ o: Node?, _ t: Node?) -> Side? {
        guard let chosen = resolution(words(b), words(o), words(t)), let side = chosen.side(words(o), words(t)) else { return nil }
        let rule = "a person decided it"
        if let lost = side == .ours ? t : o { lose(lost, side.other, rule, except: texts(side == .ours ? o : t)) }
        decide(rule, "\(side)")
        return side
    }

    /// Runs `body` at the place of a text, which is named by its field where it is all that a key has.
    private mutating func atText<R>(_ level: Level, _ body: (inout TableMerger) -> R) -> R {
        guard level == .table else { return body(&self) }
        fields.append("value")
        defer { fields.removeLast() }
        return body(&self)
    }

    /// Who wins the present leaf by the policy; nil where it is to be a conflict.
    private mutating func winner(_ field: String, default role: Side?) -> Side? {
        let verdict = policy.verdict(on: MergePolicy.Leaf(path: path, field: field), default: role)
        if verdict.isUndated { report.undated.insert(path) }
        return verdict.side
    }

    /// A text that a person chose before and that neither side has; both are noted as lost.
    private mutating func rememberedText(_ b: Node?, _ o: Node, _ t: Node) -> [UInt8]? {
        guard let text = resolution(words(b), words(o), words(t))?.chosen else { return nil }
        let rule = "a person decided it"
        for (lost, side) in [(o, Side.ours), (t, .theirs)] { lose(lost, side, rule) }
        decide(rule, "a text of its own")
        return Array(text.utf8)
    }

    private func resolution(_ b: String?, _ o: String?, _ t: String?) -> Resolution? {
        policy.resolutions.isEmpty ? nil : policy.resolutions.resolution(at: path, base: b, ours: o, theirs: t, aliases: policy.aliases)
    }

    private mutating func decide(_ rule: String, _ outcome: String) {
        report.decisions.append(Decision(path: path, rule: rule, outcome: outcome))
    }

    private func texts(_ node: Node?) -> Set<[UInt8]> {
        switch node?.content {
        case .text(let text): [text]
        case .dictionary(let rows): rows.reduce(into: []) { $0.formUnion(texts($1.value)) }
        case .array(let nodes): nodes.reduce(into: []) { $0.formUnion(texts($1)) }
        case .scalar, nil: []
        }
    }

    /// Records each text below a value as one that does not come into the result.
    private mutating func lose(_ node: Node, _ side: Side, _ rule: String, except known: Set<[UInt8]> = []) {
        switch node.content {
        case .text(let text):
            if !known.contains(text) { report.losses.append(Loss(path: path, text: text.string, from: "\(side)", rule: rule)) }
        case .dictionary(let rows):
            for i in lastCopies(rows).values.sorted() where !isType(rows[i].key) {
                fields.append(rows[i].key.string)
                lose(rows[i].value, side, rule, except: known)
                fields.removeLast()
            }
        case .array(let nodes): for node in nodes { lose(node, side, rule, except: known) }
        case .scalar: break
        }
    }

    private mutating func lose(_ row: Row, _ side: Side, _ rule: String) {
        lose(row.value, side, rule)
    }

    // MARK: Rows

    private mutating func rows(_ b: [Row], _ o: [Row], _ t: [Row], _ level: Level) -> TablePlan {
        var plan = TablePlan()
        let (base, ours, theirs) = (lastCopies(b), lastCopies(o), lastCopies(t))
        let renamed = level == .table ? renames(b, o, t) : Renames()
        var arriving: [Int] = []
        let outer = key
        defer { key = outer }

        // All copies of a key go; looking for them is for damaged files only.
        func remove(_ i: Int) {
            plan.rows[i] = .removed
            guard ours.count < o.count else { return }
            for k in o.indices where o[k].key == o[i].key { plan.rows[k] = .removed }
        }
        for i in o.indices where ours[o[i].key] == i {
            enter(o[i].key, level)
            defer { leave(level) }
            if level == .table, isHeld(base[o[i].key].map { b[$0] }, o[i], theirs[o[i].key].map { t[$0] }) { continue }
            // A key that this side gave a new name is the old one still.
            let was = renamed.inOurs[o[i].key]
            let new = renamed.inTheirs.first { $0.value == o[i].key }?.key
            let baseRow = (base[o[i].key] ?? was.flatMap { base[$0] } ?? renamed.inTheirs[o[i].key].flatMap { base[$0] }).map { b[$0] }
            let theirRow = (theirs[o[i].key] ?? was.flatMap { theirs[$0] } ?? new.flatMap { theirs[$0] }).map { t[$0] }
            guard let theirRow else {
                if let baseRow, removed(by: .theirs, baseRow, o[i], level) { remove(i) }
                continue
            }
            var edit = edit(baseRow, o[i], theirRow, level)
            if let new, let row = theirs[new] {
                edit.key = t[row]
                decide("the key was renamed on the other side", "the edit moves to \"\(new.string)\" and needs a look")
            } else if was != nil, edit.value != nil {
                decide("the key was renamed on the other side", "the edit moves to \"\(o[i].key.string)\" and needs a look")
            }
            if !edit.isEmpty { plan.rows[i] = .edited(edit) }
        }
        for i in t.indices where theirs[t[i].key] == i && ours[t[i].key] == nil {
            // Its other name stands in ours.
            if renamed.inTheirs[t[i].key].flatMap({ ours[$0] }) != nil || renamed.inOurs.values.contains(t[i].key) { continue }
            enter(t[i].key, level)
            defer { leave(level) }
            let baseRow = base[t[i].key].map { b[$0] }
            if level == .table, isHeld(baseRow, nil, t[i]) { continue }
            if let baseRow, removed(by: .ours, baseRow, t[i], level) { continue }
            if !isUnsayable(baseRow?.value, nil, t[i].value) { arriving.append(i) }
        }
        plan.added = placed(arriving, plan, b, o, t, renamed)
        return plan
    }

    /// Whether the present key stays as it is because the policy holds it and theirs changed it; then it is a conflict.
    private mutating func isHeld(_ b: Row?, _ o: Row?, _ t: Row?) -> Bool {
        guard !policy.holding.isEmpty, let why = key.flatMap({ policy.holding[$0.string] }) else { return false }
        func isSame(_ x: Row?, _ y: Row?) -> Bool {
            same(x?.value, y?.value) && x?.comment?.text == y?.comment?.text && x?.trailing?.text == y?.trailing?.text
        }
        if isSame(b, t) || isSame(o, t) { return false }
        conflict(b?.value, o?.value, t?.value, why)
        return true
    }

    private mutating func enter(_ name: [UInt8], _ level: Level) {
        if level == .table {
            key = name
            fields = []
        } else {
            fields.append(name.string)
        }
    }

    private mutating func leave(_ level: Level) {
        if level == .table { key = nil } else { fields.removeLast() }
    }

    /// Whether a row that one side removed is gone from the result. False keeps the other side's row, in a target that
    /// lacks it too, unless that is a conflict: then the target stays as it is.
    private mutating func removed(by side: Side, _ base: Row, _ kept: Row, _ level: Level) -> Bool {
        let isSame = same(base.value, kept.value)
        let (o, t) = side == .ours ? (nil, kept.value) : (kept.value, nil)
        switch level {
        case .table:
            if held.contains(side) { return false }
            if policy.translationRole == side && !policy.allowsTranslationDeletions {
                decide("a translation branch never removes keys", "kept")
                return false
            }
            // A row of a translation is the language of its key, a row of the source texts is the key itself.
            if !language.isSource, policy.prefers(.union, for: MergePolicy.Leaf(path: path, field: nil)) {
                decide("union: a language stays", "kept")
                return false
            }
            let sameComment = base.comment?.text == kept.comment?.text && base.trailing?.text == kept.trailing?.text
            if isSame && sameComment {
                lose(kept, side.other, "the key was deleted")
                return true
            }
            if policy.sourceRole == side, !language.isSource, sameComment {
                decide("the source branch deleted the key", "deleted; the edited translation is reported")
                lose(kept, side.other, "the source branch deleted the key")
                return true
            }
            if let chosen = remembered(base.value, o, t) { return chosen == side }
            conflict(base.value, o, t, "one side deleted the key, the other changed its \(isSame ? "comment" : "text")")
            return side == .ours
        case .variable where !isType(base.key):
            if keepsOther, base.key.elementsEqual("other".utf8) {
                decide("a language never loses its category other", "kept")
                return false
            }
            if isSame {
                lose(kept, side.other, "the category was removed")
                return true
            }
            if isNeeded(base.key) {
                decide("a removed category was edited on the other side", "the edit is kept")
                return false
            }
            decide("a removed category was edited on the other side", "removed: the language has no such category")
            lose(kept, side.other, "the language has no such plural category")
            return true
        case .entry, .variable, .other:
            if isSame {
                lose(kept, side.other, "removed on one side")
                return true
            }
            if let chosen = remembered(base.value, o, t) { return chosen == side }
            conflict(base.value, o, t, "one side removed it, the other changed it")
            return side == .ours
        }
    }

    /// Whether CLDR has a plural category for the table's language; true where that cannot be known.
    private func isNeeded(_ category: [UInt8]) -> Bool {
        guard let code = language.code, let categories = pluralCategories(of: code) else { return true }
        return categories.contains { "\($0)".utf8.elementsEqual(category) }
    }

    // MARK: One row

    private mutating func edit(_ b: Row?, _ o: Row, _ t: Row, _ level: Level) -> RowEdit {
        // Counts, not a copy: a copy of the report for each row would take square time.
        let marks = (report.conflicts.count, report.losses.count, report.decisions.count)
        var edit = RowEdit(value: value(b?.value, o.value, t.value, level, o.key))
        if kind == .stringsdict, level == .table, let fault = brokenFormat(edit, o, t) {
            report.conflicts.removeSubrange(marks.0...)
            report.losses.removeSubrange(marks.1...)
            report.decisions.removeSubrange(marks.2...)
            let chosen = remembered(b?.value, o.value, t.value)
            if chosen == nil { conflict(b?.value, o.value, t.value, fault) }
            edit.value = chosen == .theirs ? .taken(t.value) : nil
        }
        edit.comment = comment(b?.comment, o.comment, t.comment, "comment")
        edit.trailing = comment(b?.trailing, o.trailing, t.trailing, "trailing comment")
        return edit
    }

    /// Why the format of a merged entry and its variables do not fit together, where those of both sides did.
    private func brokenFormat(_ edit: RowEdit, _ o: Row, _ t: Row) -> String? {
        guard edit.value != nil, formatFault(Content(o.value).rows) == nil, formatFault(Content(t.value).rows) == nil else { return nil }
        return formatFault(edit.applied(to: o).value.rows)
    }

    private mutating func value(_ b: Node?, _ o: Node, _ t: Node, _ level: Level, _ name: [UInt8]) -> ValueEdit? {
        if same(o, t) { return nil }
        // What only ours changed stays, unless ours are translators, against whose tools some rules protect.
        if same(b, t), policy.translationRole != .ours || !o.isDictionary { return nil }
        if o.isDictionary, t.isDictionary {
            let inner = inside(level, t)
            if inner == .variable { keepsOther = !same(b, o) && !same(b, t) }
            let plan = rows(b?.rows ?? [], o.rows, t.rows, inner)
            return plan.isEmpty ? nil : .rows(plan)
        }
        if isUnsayable(b, o, t) { return nil }
        if same(b, o) { return .taken(t) }
        if case .text = o.content, case .text = t.content, !(level == .variable && isType(name)) {
            return text(b, o, t, level)
        }
        if level == .variable, isType(name), let winner = winner(name.string, default: policy.sourceRole) {
            decide("\(name.string): the source branch", "\(winner); the texts of the variable need a look")
            return winner == .theirs ? .taken(t) : nil
        }
        if let chosen = remembered(b, o, t) { return chosen == .theirs ? .taken(t) : nil }
        conflict(b, o, t, o.isDictionary || t.isDictionary ? "one side changed the form of the text, the other edited it" : "both sides changed it differently")
        return nil
    }

    /// Decides about a text that both sides changed.
    private mutating func text(_ b: Node?, _ o: Node, _ t: Node, _ level: Level) -> ValueEdit? {
        // A person who decided about these very texts knew more than a policy does.
        if let chosen = atText(level, { $0.remembered(b, o, t) }) { return chosen == .theirs ? .taken(t) : nil }
        if let chosen = atText(level, { $0.rememberedText(b, o, t) }) { return .literal(chosen) }
        let role = language.isSource ? policy.sourceRole : policy.translationRole
        guard let winner = atText(level, { $0.winner("value", default: role) }) else {
            atText(level) { $0.conflict(b, o, t, "both sides changed the text differently") }
            return nil
        }
        lose(winner == .ours ? t : o, winner.other, language.isSource ? "text: the source branch" : "text: the translation branch")
        decide("both sides changed the text", "\(winner)")
        return winner == .theirs ? .taken(t) : nil
    }

    /// Whether a value of theirs cannot come over because the target's form cannot say it. Then it is a conflict, unless a person
    /// chose ours before.
    private mutating func isUnsayable(_ b: Node?, _ o: Node?, _ t: Node) -> Bool {
        guard crossesForms, t.holdsScalars else { return false }
        if remembered(b, o, t) != .ours { conflict(b, o, t, scalarsSentence) }
        return true
    }

    private func inside(_ level: Level, _ node: Node) -> Level {
        guard kind == .stringsdict else { return .other }
        switch level {
        case .table: return .entry
        case .entry: return isVariable(Content(node)) ? .variable : .other
        case .variable, .other: return .other
        }
    }

    private mutating func comment(_ b: Comment?, _ o: Comment?, _ t: Comment?, _ field: String) -> Comment?? {
        if o?.text == t?.text || b?.text == t?.text { return nil }
        if b?.text == o?.text { return .some(t) }
        fields.append(field)
        defer { fields.removeLast() }
        let isOneGenerated = isGenerated(o) != isGenerated(t)
        var rule = isOneGenerated ? "a human comment beats a generated one" : "comment: the source branch"
        var winner = isOneGenerated ? (isGenerated(o) ? .theirs : .ours) : winner("comment", default: policy.sourceRole)
        if winner == nil, let side = resolution(b?.text.string, o?.text.string, t?.text.string)?.side(o?.text.string, t?.text.string) {
            rule = "a person decided it"
            winner = side
        }
        guard let winner else {
            report.conflicts.append(MergeConflict(
                path: path, base: b?.text.string, ours: o?.text.string, theirs: t?.text.string,
                why: "both sides changed the comment, and no side has the source role"))
            return nil
        }
        decide(rule, "\(winner)")
        if let lost = winner == .ours ? t : o { report.losses.append(Loss(path: path, text: lost.text.string, from: "\(winner.other)", rule: rule)) }
        return winner == .theirs ? .some(t) : nil
    }

    /// Whether `genstrings` wrote a comment because there was none; no comment counts alike.
    private func isGenerated(_ comment: Comment?) -> Bool {
        comment.map { $0.text.elementsEqual("No comment provided by engineer.".utf8) } ?? true
    }

    // MARK: Renames

    /// Keys that got a new name on one side while the other went on with the old: new to old.
    private struct Renames {
        var inOurs: [[UInt8]: [UInt8]] = [:]
        var inTheirs: [[UInt8]: [UInt8]] = [:]
    }

    /// A side that deletes a key and adds one with the same text has renamed it, if the other side went on to edit it.
    /// Keys that are their own text do not count: there a new text is a new key.
    private func renames(_ b: [Row], _ o: [Row], _ t: [Row]) -> Renames {
        let (base, ours, theirs) = (lastCopies(b), lastCopies(o), lastCopies(t))
        func text(_ row: Row) -> [UInt8]? { if case .text(let text) = row.value.content, !text.isEmpty { text } else { nil } }
        func find(_ own: [Row], _ ownKeys: [[UInt8]: Int], _ other: [Row], _ otherKeys: [[UInt8]: Int]) -> [[UInt8]: [UInt8]] {
            let gone = base.filter { key, i in ownKeys[key] == nil && text(b[i]) != nil && text(b[i]) != key }
            guard !gone.isEmpty else { return [:] }
            let fresh = ownKeys.filter { base[$0.key] == nil }
            guard !fresh.isEmpty else { return [:] }
            var copies: [[UInt8]: Int] = [:]
            for i in gone.values { copies[text(b[i]) ?? [], default: 0] += 1 }
            let freshByText = Dictionary(grouping: fresh) { text(own[$0.value]) ?? [] }
            var out: [[UInt8]: [UInt8]] = [:]
            for (key, i) in gone {
                let old = text(b[i])
                guard copies[old ?? []] == 1 else { continue }
                let edited = otherKeys[key].map { text(other[$0]) }
                if let edited, edited == old { continue }
                let moved = (edited ?? nil).map { freshByText[$0] ?? [] } ?? []
                let candidates = ((freshByText[old ?? []] ?? []) + moved).filter { (otherKeys[$0.key] == nil) == (edited != nil) }
                if candidates.count == 1, let only = candidates.first { out[only.key] = key }
            }
            return out
        }
        return Renames(inOurs: find(o, ours, t, theirs), inTheirs: find(t, theirs, o, ours))
    }

    // MARK: Placing

    /// Where arriving rows stand in ours: behind the row that they follow in theirs. Where ours has new rows of its own at
    /// that place, the two runs are put together in the file's order, so that either order of merging gives equal bytes.
    private func placed(_ arriving: [Int], _ plan: TablePlan, _ b: [Row], _ o: [Row], _ t: [Row], _ renamed: Renames) -> [(row: Row, after: Int)] {
        guard !arriving.isEmpty else { return [] }
        let (base, ours) = (lastCopies(b), lastCopies(o))
        let inTheirs = Set(t.map(\.key))
        func own(_ row: Row) -> Int? {
            let i = ours[row.key] ?? renamed.inTheirs[row.key].flatMap { ours[$0] } ?? renamed.inOurs.first { $0.value == row.key }.flatMap { ours[$0.key] }
            guard let i else { return nil }
            if case .removed = plan.rows[i] { return nil }
            return i
        }
        let isArriving = Set(arriving)
        var out: [(row: Row, after: Int)] = []
        var i = 0
        while i < arriving.count {
            var k = arriving[i] - 1
            while k >= 0, own(t[k]) == nil { k -= 1 }
            let anchor = k >= 0 ? own(t[k])! : -1
            var run = [arriving[i]]
            i += 1
            while i < arriving.count, (run.last! + 1..<arriving[i]).allSatisfy({ own(t[$0]) == nil && !isArriving.contains($0) }) {
                run.append(arriving[i])
                i += 1
            }
            var after = anchor
            var next = anchor + 1
            for index in run {
                while next < o.count {
                    if case .removed = plan.rows[next] {
                        next += 1
                        continue
                    }
                    let isNew = base[o[next].key] == nil && !inTheirs.contains(o[next].key)
                    // A row that comes back stands behind all that is new at its place, as it does where it never went.
                    guard isNew, base[t[index].key] != nil || order.isBefore(o[next].key, t[index].key) else { break }
                    after = next
                    next += 1
                }
                out.append((t[index], after))
            }
        }
        return out.enumerated().sorted { ($0.element.after, $0.offset) < ($1.element.after, $1.offset) }.map(\.element)
    }
}

extension Resolution {
    /// The side that has what was chosen, where one has it.
    fileprivate func side(_ ours: String?, _ theirs: String?) -> Side? {
        isSameText(ours, chosen) ? .ours : isSameText(theirs, chosen) ? .theirs : nil
    }
}

extension TableDocument {
    /// The file without some of its rows, given by their place among ``entries``, as a merge would take them out.
    package func removing(_ indices: [Int]) -> Bytes {
        var writer = TableWriter(host: self, donor: self)
        return writer.write(TablePlan(rows: Dictionary(uniqueKeysWithValues: indices.map { ($0, .removed) })))
    }
}
