// What differs between two states of one catalog, leaf by leaf: for people who read a diff and for the messages of syncs.

/// One difference between two catalogs.
public struct CatalogChange: Sendable, Equatable {
    /// The place: a key alone where the whole entry came or went, else a leaf.
    public var path: LeafPath
    /// The old and the new value: a text as it reads, anything else as its JSON. Nil where it is absent, and both nil for a
    /// key that came or went.
    public var old, new: String?
    public var kind: Kind

    public enum Kind: Sendable {
        case added, removed, changed
    }

    package init(path: LeafPath, old: String?, new: String?, kind: Kind) { (self.path, self.old, self.new, self.kind) = (path, old, new, kind) }

    /// Whether the change is of the entry as a whole; its leaves follow as changes of their own.
    public var isOfKey: Bool { path.key != nil && path.language == nil && path.field == nil }

    /// Whether it is a text that people read, not a state or other field.
    public var isOfText: Bool { path.language != nil && path.field.map { $0 == "value" || $0.hasSuffix(".value") } == true }

    /// Whether it is a state.
    public var isOfState: Bool { path.language != nil && path.field.map { $0 == "state" || $0.hasSuffix(".state") } == true }
}

/// The differences between two catalogs, in the order of the new one, removed keys last. Order and spacing do not count.
///
/// A missing `old` counts as an empty catalog.
public func changes(from old: CatalogDocument?, to new: CatalogDocument) -> [CatalogChange] {
    var walk = ChangeWalk(old: old ?? .empty, new: new)
    walk.walk()
    return walk.changes
}

private struct ChangeWalk {
    let old, new: CatalogDocument
    let sides: Sides
    var changes: [CatalogChange] = []

    init(old: CatalogDocument, new: CatalogDocument) {
        self.old = old
        self.new = new
        sides = Sides(base: old.bytes, ours: new.bytes, theirs: new.bytes)
    }

    mutating func walk() {
        for (name, values) in sides.paired(ThreeWay(base: old.topItems(.base), ours: new.topItems(.ours), theirs: nil)) where !sides.isNamed(name, "strings") {
            leaves(values.base, values.ours, LeafPath(), [name])
        }
        let alignment = new.aligned(to: old)
        var oldIndex = [Int32](repeating: -1, count: new.entries.count)
        for (j, i) in alignment.entry.enumerated() where i >= 0 { oldIndex[Int(i)] = Int32(j) }
        for (i, member) in new.entries.enumerated() where !new.isHidden(i) {
            let j = Int(oldIndex[i])
            if j >= 0, alignment.isSame[j] { continue }
            entry(.read(.ours, member.name, isEscaped: member.isEscaped), j >= 0 ? Value(.base, old.entries[j].value) : nil, Value(.ours, member.value))
        }
        for (j, member) in old.entries.enumerated() where alignment.entry[j] < 0 && !old.isHidden(j) {
            entry(.read(.base, member.name, isEscaped: member.isEscaped), Value(.base, member.value), nil)
        }
    }

    private mutating func entry(_ name: Name, _ old: Value?, _ new: Value?) {
        let path = LeafPath(key: sides.text(name))
        if old == nil || new == nil {
            changes.append(CatalogChange(path: path, old: nil, new: nil, kind: old == nil ? .added : .removed))
        }
        for (field, values) in sides.paired(ThreeWay(base: old, ours: new, theirs: nil)) {
            guard sides.isNamed(field, "localizations") else {
                leaves(values.base, values.ours, path, [field])
                continue
            }
            for (language, pair) in sides.paired(values, languages: true) {
                leaves(pair.base, pair.ours, LeafPath(key: path.key, language: sides.text(language)), [])
            }
        }
    }

    /// The differing leaves of two values.
    private mutating func leaves(_ old: Value?, _ new: Value?, _ path: LeafPath, _ fields: [Name]) {
        if sides.equal(old, new) { return }
        let isObject = (old.map(sides.isObject) ?? true) && (new.map(sides.isObject) ?? true)
        if isObject {
            for (name, values) in sides.paired(ThreeWay(base: old, ours: new, theirs: nil)) {
                leaves(values.base, values.ours, path, fields + [name])
            }
            return
        }
        // `stringUnit` and `variations` lead to every text; people do not need to read them each time.
        let names = fields.map(sides.text).filter { $0 != "stringUnit" && $0 != "variations" }
        changes.append(CatalogChange(
            path: LeafPath(key: path.key, language: path.language, field: names.joined(separator: ".")), old: old.map(sides.text), new: new.map(sides.text),
            kind: old == nil ? .added : new == nil ? .removed : .changed))
    }
}
