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
        var translated: [String: [Resolution]] = [:]
        for entry in try repository.files(in: repository.tree(of: tip), where: { $0.bytes.starts(with: (Self.folder + "/").utf8) }) where entry.mode.isFile {
            let text = String(decoding: try repository.blob(entry.id, bytesMax: Self.fileBytesMax).array, as: UTF8.self)
            guard let json = ParsedJSON(parsing: text), let file = json["file"]?.text else { continue }
            let resolution = Resolution(
                path: LeafPath(key: json["key"]?.text, language: json["language"]?.text, field: json["field"]?.text), base: json["base"]?.text,
                one: json["one"]?.text, other: json["other"]?.text, chosen: json["chosen"]?.text)
            found[file, default: []].append(resolution)
            if let (file, resolution) = Self.inOtherForm(resolution, of: file) { translated[file, default: []].append(resolution) }
        }
        // What was decided about the very file counts for more.
        found.merge(translated) { $1 + $0 }
        return found.mapValues { Resolutions($0) }
    }

    /// The same decision about the same plain text, where one branch has it in a table and another in the catalog made of it.
    private static func inOtherForm(_ resolution: Resolution, of file: String) -> (file: String, Resolution)? {
        guard let path = TreePath(file), let name = TableName(of: path), let language = resolution.path.language else { return nil }
        var other = resolution
        if TableKind(path: file) == nil {
            guard resolution.path.field == "stringUnit.value", let table = name.path(language, .strings) else { return nil }
            other.path.field = "value"
            return (table.description, other)
        }
        guard resolution.path.field == "value" else { return nil }
        other.path.field = "stringUnit.value"
        return (name.catalog.description, other)
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
