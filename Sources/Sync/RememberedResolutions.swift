import Git
import StringCatalog
import StringsTable

// What people decided about conflicts, in the repository itself, for all clones that fetch it.
//
// `refs/concord/resolutions` is a line of commits of its own, in whose tree each conflict has one file:
//
//     resolutions/5e/b1…     one JSON object; the name follows from the catalog, the place, the base, and both values
//
//     {"file": "Localizable.xcstrings", "key": "Hello", "language": "fr", "field": "stringUnit.value", "base": "Allô",
//      "one": "Bonjour", "other": "Salut", "chosen": "Bonjour"}
//
// Who decided it, and when, is in the commit. Deciding the same conflict again replaces its file.

/// The decisions that are kept in a repository.
public struct RememberedResolutions {
    let repository: Repository

    public static let ref = RefName("refs/concord/resolutions")!
    private static let folder = "resolutions"
    private static let fileBytesMax = 64 << 20
    private static let racesMax = 100

    public init(_ repository: Repository) { self.repository = repository }

    /// All decisions, by the path of the catalog. A file that cannot be read decides nothing.
    public func byFile() throws(GitError) -> [String: Resolutions] {
        guard let tip = try repository.tip(of: Self.ref) else { return [:] }
        return try byFile(at: tip)
    }

    /// The same; a memo that was made with other decisions forgets what it knows.
    func byFile(_ memo: inout StepMemo) throws(GitError) -> [String: Resolutions] {
        let tip = try repository.tip(of: Self.ref)
        memo.keep(madeWith: tip)
        return try tip.map { tip throws(GitError) in try byFile(at: tip) } ?? [:]
    }

    private func byFile(at tip: ObjectID) throws(GitError) -> [String: Resolutions] {
        var found: [String: [Resolution]] = [:]
        for entry in try repository.files(in: repository.tree(of: tip), where: { $0.bytes.starts(with: (Self.folder + "/").utf8) }) where entry.mode.isFile {
            let text = String(decoding: try repository.blob(entry.id, bytesMax: Self.fileBytesMax).array, as: UTF8.self)
            guard let json = ParsedJSON(parsing: text), let file = json["file"]?.text else { continue }
            let resolution = Resolution(
                path: LeafPath(key: json["key"]?.text, language: json["language"]?.text, field: json["field"]?.text), base: json["base"]?.text,
                one: json["one"]?.text, other: json["other"]?.text, chosen: json["chosen"]?.text)
            found[file, default: []].append(resolution)
        }
        return found.mapValues { Resolutions($0) }
    }

    /// Remembers a decision. Other writers are waited for.
    public func remember(_ resolution: Resolution, file: TreePath, by person: Signature) throws(GitError) -> Swap {
        let entry = try entry(for: resolution, file: file)
        let place = resolution.path == .blob ? printable(file.description) : resolution.path.place { printable($0, lengthMax: 40) }
        var races = 0
        while true {
            let tip = try repository.tip(of: Self.ref)
            let before = try tip.flatMapThrowing { tip throws(GitError) in try repository.tree(of: tip) }
            let after = try repository.write(tree: before, with: [.put(entry)])
            guard after != before else { return .swapped }
            let commit = try repository.write(
                commit: after, parents: [tip].compactMap { $0 }, author: person, committer: person, message: "Decide \(place)\n\n\(printable(file.description))\n")
            let swap = try repository.compareAndSwap(Self.ref, from: tip, to: commit, by: person, reflog: "concord: decide \(place)")
            guard case .lost = swap, races < Self.racesMax else { return swap }
            races += 1
        }
    }

    private func entry(for resolution: Resolution, file: TreePath) throws(GitError) -> TreeEntry {
        let leaf = resolution.path
        // Either way round it is the same conflict.
        let sides = [resolution.one, resolution.other].sorted {
            Array(($0.map { "=" + $0 } ?? "").utf8).lexicographicallyPrecedes(Array(($1.map { "=" + $0 } ?? "").utf8))
        }
        func text(chosen: JSON?) -> [UInt8] {
            Array(JSON.object([
                "file": .string(file.description), "key": .string(ifPresent: leaf.key), "language": .string(ifPresent: leaf.language),
                "field": .string(ifPresent: leaf.field), "base": .string(ifPresent: resolution.base), "one": .string(ifPresent: sides[0]),
                "other": .string(ifPresent: sides[1]), "chosen": chosen,
            ]).description.utf8) + [UInt8(ascii: "\n")]
        }
        let name = try repository.write(blob: text(chosen: nil)).hex
        let blob = try repository.write(blob: text(chosen: .string(ifPresent: resolution.chosen)))
        return TreeEntry(path: TreePath("\(Self.folder)/\(name.prefix(2))/\(name.dropFirst(2))")!, mode: .file, id: blob)
    }
}

extension CatalogSync {
    /// What people decided about the texts of a file, also while they stood in the other form: in a table, or in the catalog made of it.
    func decisions(about path: TreePath, _ file: LocalizedFile) -> Resolutions {
        let own = resolutions[path.description]
        guard !resolutions.isEmpty, let name = TableName(of: path) else { return own ?? Resolutions() }
        let others: [Resolutions]
        switch file {
        case .catalog:
            others = resolutions.filter { other, _ in other != path.description && TreePath(other).flatMap { TableName(of: $0) } == name }.map(\.value)
        case .table: others = [resolutions[name.catalog.description]].compactMap { $0 }
        }
        let translated = others.flatMap(\.all).compactMap { inForm(of: file, at: path, $0) }
        // What was decided about the very file counts for more.
        return translated.isEmpty ? own ?? Resolutions() : Resolutions(translated + (own?.all ?? []))
    }

    private func inForm(of file: LocalizedFile, at path: TreePath, _ resolution: Resolution) -> Resolution? {
        guard let language = resolution.path.language, resolution.path.field != nil else { return nil }
        let counterpart: Counterpart?
        switch file {
        case .catalog(let document): counterpart = document.counterpart(ofTableLeaf: resolution.path, aliases: policy.aliases)
        case .table(let document, _):
            guard let own = TableLanguage(path: path.description).code, policy.aliases.areSame(own, language) else { return nil }
            counterpart = document.counterpart(ofCatalogLeaf: resolution.path)
        }
        return counterpart.map { there in
            Resolution(
                path: there.path, base: resolution.base.map(there.text), one: resolution.one.map(there.text), other: resolution.other.map(there.text),
                chosen: resolution.chosen.map(there.text))
        }
    }
}
