import Git
import StringCatalog
import StringsTable

/// The message of a sync commit: what came over, by file, language and count.
///
///     Sync l10n/fr into main: 12 texts in fr
///
///     App/Localizable.xcstrings
///       fr: 10 texts added, 2 changed
///
///     Held, because both sides changed it:
///       App/Localizable.xcstrings: "greeting" de value: …
///
///     Concord-Source: refs/heads/l10n/fr 7f0c…
struct SyncMessage {
    let subject: String
    private let body: [String]
    private let held: [Held]

    /// So many held places are listed; the rest is counted.
    private static let heldMax = 100
    /// So many languages are named in the subject; more are counted.
    private static let languagesMax = 3

    init(
        step: Step, before: ObjectID, after: ObjectID, held: [Held], settings: RepositorySettings, files: LocalizedFiles,
        sourceLanguage: (TreePath) throws(GitError) -> String
    ) throws(GitError) {
        let changes = try files.repository.changes(from: before, to: after, findingRenames: true)
        var catalogs: [CatalogCounts] = [], otherCount = 0
        for change in changes {
            let isCatalog = [change.old, change.new].contains { $0.map { settings.isCatalog($0.path) && $0.mode.isFile } ?? false }
            guard isCatalog else {
                otherCount += 1
                continue
            }
            catalogs.append(try CatalogCounts(change, files, sourceLanguage))
        }
        subject = "Sync \(step.source.name.shorthand) into \(step.target.name.shorthand): \(Self.summary(catalogs, otherCount))"
        body = catalogs.map { ([printable($0.path.description)] + $0.lines.map { "  " + $0 }).joined(separator: "\n") }
            + (otherCount > 0 && !catalogs.isEmpty ? [Self.counted(otherCount, "other file")] : [])
        self.held = held
    }

    /// The whole message, which ends with these trailers.
    func text(trailers: [Trailer]) -> String {
        var paragraphs = [subject] + body
        if !held.isEmpty {
            let lines = held.prefix(Self.heldMax).map { "  \($0)" }
            let more = held.count > Self.heldMax ? ["  and \(held.count - Self.heldMax) more"] : []
            paragraphs.append((["Held, because both sides have a claim to it:"] + lines + more).joined(separator: "\n"))
        }
        paragraphs.append(trailers.map { "\($0.key): \($0.value)" }.joined(separator: "\n"))
        return paragraphs.joined(separator: "\n\n") + "\n"
    }

    /// `3 keys, 12 texts in fr, 4 in de`.
    private static func summary(_ catalogs: [CatalogCounts], _ otherCount: Int) -> String {
        let keyCount = catalogs.reduce(0) { $0 + $1.keysAdded + $1.keysChanged + $1.keysRemoved }
        var texts: [String: Int] = [:]
        for catalog in catalogs { texts.merge(catalog.texts.mapValues(\.total)) { $0 + $1 } }
        var parts: [String] = []
        if keyCount > 0 { parts.append(counted(keyCount, "key")) }
        let languages = texts.filter { $0.value > 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        if languages.count > languagesMax {
            parts.append("\(counted(languages.reduce(0) { $0 + $1.value }, "text")) in \(languages.count) languages")
        } else {
            for (index, language) in languages.enumerated() {
                parts.append(index == 0 ? "\(counted(language.value, "text")) in \(language.key)" : "\(language.value) in \(language.key)")
            }
        }
        if parts.isEmpty && !catalogs.isEmpty { parts.append(counted(catalogs.count, "catalog")) }
        if parts.isEmpty { parts.append(otherCount > 0 ? counted(otherCount, "file") : "the same on both") }
        return parts.joined(separator: ", ")
    }

    static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}

/// How much of a catalog a sync changed.
struct CatalogCounts {
    struct Texts {
        var added = 0, changed = 0, removed = 0
        /// Units whose state alone changed.
        var states = 0
        var total: Int { added + changed + removed + states }

        var words: String {
            let parts = [(added, "added"), (changed, "changed"), (removed, "removed")].filter { $0.0 > 0 }
            let texts = parts.enumerated().map { index, part in
                index == 0 ? "\(SyncMessage.counted(part.0, "text")) \(part.1)" : "\(part.0) \(part.1)"
            }
            return (texts + (states > 0 ? [SyncMessage.counted(states, "state")  + " changed"] : [])).joined(separator: ", ")
        }
    }

    let path: TreePath
    var keysAdded = 0, keysChanged = 0, keysRemoved = 0
    /// By language.
    var texts: [String: Texts] = [:]
    /// What counting by key cannot tell: the whole file came, went, or cannot be read.
    var note: String?

    var lines: [String] {
        let keys = [(keysAdded, "added"), (keysChanged, "changed"), (keysRemoved, "removed")].filter { $0.0 > 0 }
        let keyLine = keys.enumerated().map { index, part in
            index == 0 ? "\(SyncMessage.counted(part.0, "key")) \(part.1)" : "\(part.0) \(part.1)"
        }.joined(separator: ", ")
        return [note, keyLine.isEmpty ? nil : keyLine].compactMap { $0 }
            + texts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.words)" }
    }
}

extension CatalogCounts {
    init(_ change: Change, _ files: LocalizedFiles, _ sourceLanguage: (TreePath) throws(GitError) -> String) throws(GitError) {
        // A change has a side at least, so there is a path.
        let (old, new) = (change.old, change.new)
        path = (new ?? old)!.path
        if let old, let new, old.path != new.path { note = "renamed from \(printable(old.path.description))" }
        if old == nil { note = "new catalog" }
        guard let new else {
            note = "catalog deleted"
            return
        }
        if TableKind(path: path.description) != nil {
            try countTable(old, new, files, TableLanguage(path: path.description, sourceLanguage: sourceLanguage(path)))
            return
        }
        guard let after = try files.file(new, path: new.path)?.catalog else {
            note = "cannot be read"
            return
        }
        let before = try old.flatMapThrowing { old throws(GitError) in try files.file(old, path: old.path)?.catalog }
        count(changes(from: before, to: after))
    }

    /// Counts the texts of a table of strings, whose folder names its language.
    private mutating func countTable(_ old: TreeEntry?, _ new: TreeEntry, _ files: LocalizedFiles, _ language: TableLanguage) throws(GitError) {
        guard let after = try files.file(new, path: new.path)?.table else {
            note = "cannot be read"
            return
        }
        func contents(_ table: TableDocument?) -> [String: String] {
            var out: [String: String] = [:]
            for entry in table?.entries ?? [] where !entry.isHidden { out[entry.key] = "\(entry.content)" }
            return out
        }
        let before = contents(try old.flatMapThrowing { old throws(GitError) in try files.file(old, path: old.path)?.table })
        let now = contents(after)
        let counts = Texts(
            added: now.keys.count { before[$0] == nil }, changed: now.count { before[$0.key] != nil && before[$0.key] != $0.value },
            removed: before.keys.count { now[$0] == nil })
        texts[language.code ?? "no language"] = counts
    }

    private mutating func count(_ changes: [CatalogChange]) {
        struct Place: Hashable { let key, language: String }
        func place(_ change: CatalogChange) -> Place { Place(key: change.path.key ?? "", language: change.path.language ?? "") }
        let wholeKeys = Set(changes.filter(\.isOfKey).compactMap(\.path.key))
        var changedKeys: Set<String> = [], texts: [Place: CatalogChange.Kind] = [:], states: Set<Place> = []
        for change in changes {
            if change.isOfKey {
                if change.kind == .added { keysAdded += 1 } else { keysRemoved += 1 }
            } else if change.isOfText {
                // The categories of a plural are one text.
                texts[place(change)] = texts[place(change)].map { $0 == change.kind ? $0 : .changed } ?? change.kind
            } else if change.path.language != nil {
                states.insert(place(change))
            } else if let key = change.path.key, !wholeKeys.contains(key) {
                changedKeys.insert(key)
            }
        }
        keysChanged = changedKeys.count
        for (place, kind) in texts {
            switch kind {
            case .added: self.texts[place.language, default: Texts()].added += 1
            case .changed: self.texts[place.language, default: Texts()].changed += 1
            case .removed: self.texts[place.language, default: Texts()].removed += 1
            }
        }
        for place in states where texts[place] == nil { self.texts[place.language, default: Texts()].states += 1 }
    }
}
