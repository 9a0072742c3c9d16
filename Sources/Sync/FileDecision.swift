import Git
import StringCatalog
import StringsTable

// Where a file as a whole is held, because one side deleted what the other changed or because no merge of it is sound, a
// person can take the file of one side. Such a decision is remembered as those about texts are, with the ids of the three
// blobs in the place of the texts:
//
//     {"file": "Old.xcstrings", "key": null, "language": null, "field": "blob", "base": "3f9a…", "one": null, "other": "77c0…", "chosen": null}

extension LeafPath {
    /// The place of a decision about a file as a whole.
    static let blob = LeafPath(field: "blob")
}

extension Held {
    /// Whether the whole file is held and either side's file would do. The three values are then the ids of the blobs; `nil`
    /// is a side that has no file.
    public var isChoiceOfFile: Bool { leaf == nil && (ours != nil || theirs != nil) }

    /// A file that is held until a person takes one side's.
    init(choiceOf file: FileMerge, why: String) {
        self.init(file: file.path, leaf: nil, base: file.base?.id.hex, ours: file.ours?.id.hex, theirs: file.theirs?.id.hex, why: why)
    }
}

extension CatalogSync {
    /// What a person decided about these very three files.
    func decided(_ file: FileMerge) throws(GitError) -> CatalogResult? {
        let ids = [file.base, file.ours, file.theirs].map { $0?.id.hex }
        guard let found = resolutions[file.path.description]?.resolution(at: .blob, base: ids[0], ours: ids[1], theirs: ids[2]) else { return nil }
        let isOurs = found.chosen == ids[1]
        guard isOurs || found.chosen == ids[2] else { return nil }
        let (chosen, loser) = isOurs ? (file.ours, file.theirs) : (file.theirs, file.ours)
        var result = CatalogResult(file: file, resolution: chosen.map { .entry($0) } ?? .deleted)
        result.trace = try trace(ofLosing: loser, for: chosen, file, from: isOurs ? "theirs" : "ours")
        return result
    }

    /// Each text of the losing file that neither the base nor the other file has.
    private func trace(ofLosing loser: TreeEntry?, for winner: TreeEntry?, _ file: FileMerge, from side: String) throws(GitError) -> MergeTrace {
        var trace = MergeTrace()
        let rule = "a person decided it for the whole file"
        trace.decisions = [Decision(path: LeafPath(), rule: rule, outcome: side == "theirs" ? "ours" : "theirs")]
        guard let lost = try localized(loser, file) else { return trace }
        let (base, kept) = (try localized(file.base, file), try localized(winner, file))
        for (path, text) in texts(of: lost, since: base, at: file.path) {
            let other = kept?.value(at: path)
            guard !isSame(other, text) else { continue }
            let isTheirs = side == "theirs"
            trace.losses.append((Loss(path: path, text: text, from: side, rule: rule), base?.value(at: path), isTheirs ? other : text, isTheirs ? text : other))
        }
        return trace
    }

    private func texts(of file: LocalizedFile, since base: LocalizedFile?, at path: TreePath) -> [(path: LeafPath, text: String)] {
        let changed: [CatalogChange] = switch file {
        case .catalog(let document): changes(from: base?.catalog, to: document).filter(\.isOfText)
        case .table(let document, _): changes(from: base?.table, to: document, language: TableLanguage(path: path.description).code)
        }
        var texts: [(path: LeafPath, text: String)] = []
        for change in changed {
            guard let text = change.new else { continue }
            texts.append((file.table == nil ? change.leaf : change.path, text))
        }
        return texts
    }

    /// The parsed file of either form; `nil` when it is not there, damaged or too large.
    private func localized(_ entry: TreeEntry?, _ file: FileMerge) throws(GitError) -> LocalizedFile? {
        guard let entry, try repository.size(ofBlob: entry.id) <= bytesMax else { return nil }
        return try? LocalizedFile(parsing: Bytes(repository.blob(entry.id, bytesMax: bytesMax).array), path: file.path.description)
    }
}
