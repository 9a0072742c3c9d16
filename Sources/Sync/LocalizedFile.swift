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
    let bytes: Bytes
    let isUnchanged: Bool
    let report: MergeReport
    /// What the base of the next merge has in theirs' place where something is held.
    let nextBase: () throws(MergeFault) -> Bytes

    /// Merges files of one form by the engine for it.
    ///
    /// What would make the check of a catalog worse than on both sides is not brought about, and what does not pass the engine's own
    /// check is not written: the keys concerned are held.
    /// - Parameter language: that of a table.
    init(base: LocalizedFile?, ours: LocalizedFile, theirs: LocalizedFile, language: TableLanguage, policy: MergePolicy) throws(MergeFault) {
        switch (ours, theirs) {
        case (.catalog(let ours), .catalog(let theirs)):
            let base = base?.catalog
            var holding = policy
            var merged = try holdingWhatIsUnsound(&holding) { policy throws(MergeFault) in try merge(base: base, ours: ours, theirs: theirs, policy: policy) }
            let faults = merged.isUnchanged ? [] : worsens(ours: ours.bytes, theirs: theirs.bytes, result: merged.bytes)
            if !faults.isEmpty {
                for fault in faults { if let key = fault.place.key { holding.holding[key] = "the merge would bring about a fault that neither side has: \(fault.sentence)" } }
                merged = try merge(base: base, ours: ours, theirs: theirs, policy: holding)
                if let left = merged.isUnchanged ? nil : worsens(ours: ours.bytes, theirs: theirs.bytes, result: merged.bytes).first {
                    throw MergeFault(description: "the merge would bring about a fault that neither side has: \(left.sentence)")
                }
            }
            (bytes, isUnchanged, report) = (merged.bytes, merged.isUnchanged, merged.report)
            nextBase = { [merged] () throws(MergeFault) in try baseAfter(merged, base: base, theirs: theirs, aliases: policy.aliases) }
        case (.table(let ours, let kind), .table(let theirs, _)):
            let base = base?.table
            var holding = policy
            let merged = try holdingWhatIsUnsound(&holding) { policy throws(MergeFault) in
                try merge(base: base, ours: ours, theirs: theirs, kind: kind, language: language, policy: policy)
            }
            (bytes, isUnchanged, report) = (merged.bytes, merged.isUnchanged, merged.report)
            nextBase = { () throws(MergeFault) in try baseAfter(merged, base: base, theirs: theirs) }
        case (.catalog, .table), (.table, .catalog):
            throw MergeFault(description: "one side is a catalog, the other a table of strings")
        }
    }

    /// The result with each conflict as it was in the base, for a step towards a common base.
    func withConflictsAsInBase(_ base: LocalizedFile?, path: String, aliases: LanguageAliases) throws -> Bytes {
        switch try LocalizedFile(parsing: bytes, path: path) {
        case .catalog(let both):
            return try baseAfter(CatalogMerge(bytes: bytes, isUnchanged: isUnchanged, report: report), base: base?.catalog, theirs: both, aliases: aliases)
        case .table(let both, _):
            return try baseAfter(TableMerge(bytes: bytes, isUnchanged: isUnchanged, report: report), base: base?.table, theirs: both)
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
