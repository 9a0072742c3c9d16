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
        guard found.chosen == ids[1] || found.chosen == ids[2] else { return nil }
        let winner: Side = found.chosen == ids[1] ? .ours : .theirs
        let chosen = winner == .ours ? file.ours : file.theirs
        return CatalogResult(file: file, resolution: chosen.map { .entry($0) } ?? .deleted, trace: try trace(of: file, wonBy: winner))
    }

    /// Each text of the losing file that neither the base nor the other file has.
    private func trace(of file: FileMerge, wonBy winner: Side) throws(GitError) -> MergeTrace {
        var trace = MergeTrace()
        let rule = "a person decided it for the whole file"
        trace.decisions = [Decision(path: LeafPath(), rule: rule, outcome: "\(winner)")]
        let (base, ours, theirs) = (try localized(file.base, file), try localized(file.ours, file), try localized(file.theirs, file))
        guard let lost = winner == .ours ? theirs : ours else { return trace }
        let kept = winner == .ours ? ours : theirs
        for (path, text) in try texts(of: lost, since: base, at: file.path) where !isSameText(kept?.value(at: path), text) {
            let loss = Loss(path: path, text: text, from: "\(winner.other)", rule: rule)
            trace.losses.append((loss, base?.value(at: path), ours?.value(at: path), theirs?.value(at: path)))
        }
        return trace
    }

    private func texts(of file: LocalizedFile, since base: LocalizedFile?, at path: TreePath) throws(GitError) -> [(path: LeafPath, text: String)] {
        let changed: [CatalogChange] = switch file {
        case .catalog(let document): changes(from: base?.catalog, to: document).filter(\.isOfText)
        case .table(let document, _):
            changes(from: base?.table, to: document, language: TableLanguage(path: path.description, sourceLanguage: try sourceLanguage(path)).code)
        }
        var texts: [(path: LeafPath, text: String)] = []
        for change in changed {
            guard let text = change.new else { continue }
            texts.append((file.table == nil ? change.leaf : change.path, text))
        }
        return texts
    }

    private func localized(_ entry: TreeEntry?, _ file: FileMerge) throws(GitError) -> LocalizedFile? {
        try entry.flatMapThrowing { entry throws(GitError) in try files.file(entry, path: file.path) }
    }
}
