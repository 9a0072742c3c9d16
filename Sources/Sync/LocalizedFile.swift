import StringCatalog
import StringsTable

/// A file of texts in one of its forms, which one the path says: a string catalog, or a table of strings.
enum LocalizedFile {
    case catalog(CatalogDocument)
    case table(TableDocument, TableKind)

    /// Reads a file; `like` is one that probably shares most of its bytes.
    /// - Throws: `CatalogError` or `TableError`, with the line and column of the fault.
    init(parsing bytes: Bytes, path: String, like: LocalizedFile? = nil) throws {
        if let kind = TableKind(path: path) {
            self = .table(try TableDocument(parsing: bytes), kind)
        } else if case .catalog(let other) = like {
            self = .catalog(try CatalogDocument(parsing: bytes, like: other))
        } else {
            self = .catalog(try CatalogDocument(parsing: bytes))
        }
    }

    var bytes: Bytes {
        switch self {
        case .catalog(let document): document.bytes
        case .table(let document, _): document.bytes
        }
    }

    var catalog: CatalogDocument? {
        if case .catalog(let document) = self { document } else { nil }
    }

    var table: TableDocument? {
        if case .table(let document, _) = self { document } else { nil }
    }
}

/// A merge of texts in either form.
struct LocalizedMerge {
    let file: LocalizedFile
    let isUnchanged: Bool
    let report: MergeReport
    /// What the base of the next merge has in theirs' place where something is held.
    let nextBase: () throws(MergeFault) -> Bytes

    /// Merges files of one form by the engine for it.
    ///
    /// What would make the check of a file worse than on both sides is not brought about, and what does not pass the engine's own
    /// check is not written: the keys concerned are held.
    /// - Parameter language: that of a table.
    init(base: LocalizedFile?, ours: LocalizedFile, theirs: LocalizedFile, language: TableLanguage, policy: MergePolicy) throws(MergeFault) {
        switch (ours, theirs) {
        case (.catalog(let ours), .catalog(let theirs)):
            let base = base?.catalog
            let (merged, result) = try Self.notWorse(policy) { policy throws(MergeFault) in
                let merged = try merge(base: base, ours: ours, theirs: theirs, policy: policy)
                return (merged, try Self.document(merged, ours))
            } faults: { merged, result in
                merged.isUnchanged ? [] : worsens(ours: ours, theirs: theirs, result: result)
            }
            (file, isUnchanged, report) = (.catalog(result), merged.isUnchanged, merged.report)
            nextBase = { () throws(MergeFault) in try baseAfter(merged, base: base, theirs: theirs, aliases: policy.aliases) }
        case (.table(let ours, let kind), .table(let theirs, _)):
            let base = base?.table
            let (merged, result) = try Self.notWorse(policy) { policy throws(MergeFault) in
                let merged = try merge(base: base, ours: ours, theirs: theirs, kind: kind, language: language, policy: policy)
                return (merged, try Self.document(merged, ours))
            } faults: { merged, result in
                merged.isUnchanged ? [] : worsens(ours: ours, theirs: theirs, result: result, kind: kind, language: language)
            }
            (file, isUnchanged, report) = (.table(result, kind), merged.isUnchanged, merged.report)
            nextBase = { () throws(MergeFault) in try baseAfter(merged, base: base, theirs: theirs) }
        case (.catalog, .table), (.table, .catalog):
            throw MergeFault(description: "one side is a catalog, the other a table of strings")
        }
    }

    /// Merges, and again without the keys by which the result would have faults that neither side has.
    private static func notWorse<Merge, Document>(
        _ policy: MergePolicy, _ merge: (MergePolicy) throws(MergeFault) -> (Merge, Document), faults: (Merge, Document) -> [Finding]
    ) throws(MergeFault) -> (Merge, Document) {
        func why(_ fault: Finding) -> String { "the merge would bring about a fault that neither side has: \(fault.sentence)" }
        var holding = policy
        let first = try holdingWhatIsUnsound(&holding, merge)
        let new = faults(first.0, first.1)
        guard !new.isEmpty else { return first }
        for fault in new { if let key = fault.place.key { holding.holding[key] = why(fault) } }
        let second = try merge(holding)
        if let left = faults(second.0, second.1).first { throw MergeFault(description: why(left)) }
        return second
    }

    /// The result, which shares most of its bytes with ours.
    private static func document(_ merged: CatalogMerge, _ ours: CatalogDocument) throws(MergeFault) -> CatalogDocument {
        guard !merged.isUnchanged else { return ours }
        do {
            return try CatalogDocument(parsing: merged.bytes, like: ours)
        } catch {
            throw MergeFault(description: "the merged catalog does not parse: \(error)")
        }
    }

    private static func document(_ merged: TableMerge, _ ours: TableDocument) throws(MergeFault) -> TableDocument {
        guard !merged.isUnchanged else { return ours }
        do {
            return try TableDocument(parsing: merged.bytes)
        } catch {
            throw MergeFault(description: "the merged table does not parse: \(error)")
        }
    }

    /// The result with each conflict as it was in the base, for a step towards a common base.
    func withConflictsAsInBase(_ base: LocalizedFile?, aliases: LanguageAliases) throws(MergeFault) -> Bytes {
        switch file {
        case .catalog(let both):
            try baseAfter(CatalogMerge(bytes: both.bytes, isUnchanged: isUnchanged, report: report), base: base?.catalog, theirs: both, aliases: aliases)
        case .table(let both, _):
            try baseAfter(TableMerge(bytes: both.bytes, isUnchanged: isUnchanged, report: report), base: base?.table, theirs: both)
        }
    }
}

/// Merges, and where the engine's own check refuses the result because of a key, holds this key and merges again: a fault of the engine
/// costs one key, not a file. Held keys come to what the policy holds.
///
/// - Throws: the fault if it names no key, or if holding its keys does not help.
func holdingWhatIsUnsound<Merge>(_ policy: inout MergePolicy, _ merge: (MergePolicy) throws(MergeFault) -> Merge) throws(MergeFault) -> Merge {
    let keysMax = 8
    for _ in 0..<keysMax {
        do throws(MergeFault) {
            return try merge(policy)
        } catch {
            guard let key = error.key, policy.holding[key] == nil else { throw error }
            policy.holding[key] = "it could not be merged soundly: \(error)"
        }
    }
    return try merge(policy)
}
