import Git
import StringCatalog
import StringsTable

/// A change that did not come over, because both sides have a right to the place: a leaf, or a whole catalog.
public struct Held: Hashable, Sendable, CustomStringConvertible {
    public let file: TreePath
    /// The leaf; `nil` when the whole file is held.
    public let leaf: LeafPath?
    public let base: String?
    public let ours: String?
    public let theirs: String?
    public let why: String
    /// The leaf's language in a form that all of its codes have in common, aliases too.
    var language: [UInt8]? = nil

    /// Whether another one waits at this place: with another code of its language perhaps, or in a table where this one is in the catalog
    /// that was made of it.
    func isSamePlace(as other: Held) -> Bool {
        guard let leaf, let place = other.leaf else { return file == other.file && self.leaf == other.leaf }
        guard leaf.key == place.key, (language ?? leaf.language.map { Array($0.utf8) }) == (other.language ?? place.language.map { Array($0.utf8) }) else { return false }
        if file == other.file { return leaf.field == place.field }
        guard let name = TableName(of: file), name == TableName(of: other.file) else { return false }
        return switch (TableKind(path: file.name), TableKind(path: other.file.name)) {
        case (nil, _?): place.isCounterpart(ofCatalogLeaf: leaf)
        case (_?, nil): leaf.isCounterpart(ofCatalogLeaf: place)
        case (nil, nil), (_?, _?): false
        }
    }

    public var description: String {
        // A name with a line feed in it would write lines of its own into the log, and trailers into the message of the commit.
        let file = printable(file.description, lengthMax: 4096), why = printable(why, lengthMax: 4096)
        guard let leaf else { return "\(file): \(why)" }
        return "\(file): \(leaf.place { printable($0) }): \(why)"
    }
}

/// What became of one catalog in a merge of trees.
struct CatalogResult {
    let file: FileMerge
    let resolution: FileResolution
    var held: [Held] = []
    /// The texts that are not in the result, and how ties were decided.
    var trace = MergeTrace()
    /// The catalog that came of a merge, if it is another than ours.
    var merged: CatalogDocument? = nil
    /// What the base of the next merge has in place of theirs: `nil` says theirs itself, since all of it came over.
    var nextBase: NextBase? = nil

    enum NextBase {
        /// Theirs with the held leaves as they were in the base.
        case bytes([UInt8])
        /// The base's file, or none: the whole file is held.
        case base
    }
}

/// Brings the catalogs of one step together: the seam between trees of files and the engine, which knows neither.
struct CatalogSync {
    let files: LocalizedFiles
    let policy: CatalogPolicy
    let sourceSide: SourceSide
    /// How the two sides are called when people read of them.
    var ends = (ours: "ours", theirs: "theirs")
    /// What people decided before, by the path of the catalog.
    var resolutions: [String: Resolutions] = [:]
    /// On which side each of these leaves was changed last.
    var newer: (FileMerge, Set<LeafPath>) throws(GitError) -> [LeafPath: SourceSide] = { _, _ in [:] }
    /// The source language of a table.
    var sourceLanguage: (TreePath) throws(GitError) -> String = { _ in "en" }

    var repository: Repository { files.repository }
    var bytesMax: Int { files.bytesMax }

    /// Decides about one catalog that theirs changed.
    func resolve(_ file: FileMerge) throws(GitError) -> CatalogResult {
        func hold(_ why: String) -> CatalogResult {
            CatalogResult(
                file: file, resolution: file.ours.map { .entry($0) } ?? .deleted,
                held: [Held(file: file.path, leaf: nil, base: nil, ours: nil, theirs: nil, why: why)], nextBase: .base)
        }
        // A symbolic link or a submodule in a catalog's place has no texts: it merges as git merges it.
        guard [file.base, file.ours, file.theirs].allSatisfy({ $0?.mode.isFile ?? true }) else {
            return CatalogResult(file: file, resolution: .asGit)
        }
        func holdChoice(_ why: String) throws(GitError) -> CatalogResult {
            if let decided = try decided(file) { return decided }
            var result = hold(why)
            result.held = [Held(choiceOf: file, why: why)]
            return result
        }
        guard let theirs = file.theirs else { return try resolveDeletion(of: file, holdChoice) }
        if try isForeignFormat(theirs) { return CatalogResult(file: file, resolution: .asGit) }
        guard let ours = file.ours else {
            guard file.base == nil else { return try holdChoice(contradiction(deleted: ends.ours, changed: ends.theirs)) }
            if let damage = try files.damage(of: theirs, path: file.path) { return hold("cannot be read on \(ends.theirs): \(damage)") }
            return CatalogResult(file: file, resolution: .entry(theirs))
        }
        if ours.id == theirs.id { return CatalogResult(file: file, resolution: .asGit) }
        if let decided = try decided(file) { return decided }

        // A damaged base says nothing about who changed what: as if both had added the file.
        let base = try file.base.flatMapThrowing { base throws(GitError) in try files.file(base, path: file.path) }
        guard let theirFile = try files.file(theirs, path: file.path, like: base) else {
            return hold("cannot be read on \(ends.theirs): \(try files.damage(of: theirs, path: file.path) ?? "")")
        }
        guard let ourFile = try files.file(ours, path: file.path, like: base) else {
            // Theirs repairs what ours never touched.
            if ours.id == file.base?.id { return CatalogResult(file: file, resolution: .entry(theirs)) }
            return hold("cannot be read on \(ends.ours): \(try files.damage(of: ours, path: file.path) ?? "")")
        }
        return try merge(file, base: base, ours: ourFile, theirs: theirFile, holdChoice)
    }

    private func resolveDeletion(of file: FileMerge, _ hold: (String) throws(GitError) -> CatalogResult) throws(GitError) -> CatalogResult {
        guard let ours = file.ours else { return CatalogResult(file: file, resolution: .deleted) }
        guard ours.id == file.base?.id else { return try hold(contradiction(deleted: ends.theirs, changed: ends.ours)) }
        if sourceSide == .ours { return try hold("a translation branch does not delete a catalog") }
        return CatalogResult(file: file, resolution: .deleted)
    }

    private func contradiction(deleted one: String, changed other: String) -> String {
        "\(one) deleted it, \(other) changed it; delete it on \(other), or bring it back on \(one)"
    }

    private func merge(
        _ file: FileMerge, base: LocalizedFile?, ours: LocalizedFile, theirs: LocalizedFile, _ hold: (String) throws(GitError) -> CatalogResult
    ) throws(GitError) -> CatalogResult {
        do {
            var policy = policy.mergePolicy(for: file.path, sourceSide: sourceSide)
            policy.resolutions = decisions(about: file.path, ours)
            let language = try language(of: file, policy)
            var merged = try LocalizedMerge(base: base, ours: ours, theirs: theirs, language: language, policy: policy)
            if !merged.report.undated.isEmpty {
                // Only these need a look into history. What is decided about one leaf does not make others undated.
                policy.newer = try newer(file, merged.report.undated)
                merged = try LocalizedMerge(base: base, ours: ours, theirs: theirs, language: language, policy: policy)
            }
            var result = CatalogResult(file: file, resolution: try resolution(of: merged, file))
            result.merged = merged.isUnchanged ? nil : merged.file.catalog
            result.trace = MergeTrace(merged.report, base: base, ours: ours, theirs: theirs)
            guard !merged.report.conflicts.isEmpty else { return result }
            result.held = merged.report.conflicts.map { conflict in
                Held(file: file.path, leaf: conflict.path, base: conflict.base, ours: conflict.ours, theirs: conflict.theirs, why: conflict.why)
            }
            result.nextBase = .bytes(try merged.nextBase().array)
            return result
        } catch let error as GitError {
            throw error
        } catch {
            // The engine's own check failed. Nothing of this file is touched, and people see why.
            return try hold("it could not be merged soundly: \(error)")
        }
    }

    /// The language of a table; a catalog has many.
    private func language(of file: FileMerge, _ policy: MergePolicy) throws(GitError) -> TableLanguage {
        guard TableKind(path: file.path.name) != nil else { return TableLanguage() }
        return TableLanguage(path: file.path.description, sourceLanguage: try sourceLanguage(file.path), aliases: policy.aliases)
    }

    private func resolution(of merged: LocalizedMerge, _ file: FileMerge) throws(GitError) -> FileResolution {
        // The very entry of ours where nothing came over: no blob is written, and a rename of theirs is still followed.
        if merged.isUnchanged, let ours = file.ours { return .blob(ours.id) }
        return .blob(try files.write(merged.file, path: file.path))
    }

    /// As `resolve`, for a step towards a common base of a criss-cross history, which nobody sees: what the sides contradict each
    /// other in is as it was before both, so that it comes up as a conflict in the real merge.
    func resolveVirtually(_ file: FileMerge) throws(GitError) -> FileResolution {
        guard let ours = file.ours, let theirs = file.theirs, ours.mode.isFile, theirs.mode.isFile, ours.id != theirs.id,
            let ourFile = try files.file(ours, path: file.path), let theirFile = try files.file(theirs, path: file.path)
        else { return .asGit }
        let base = try file.base.flatMapThrowing { base throws(GitError) in base.mode.isFile ? try files.file(base, path: file.path) : nil }
        do {
            var undecided = MergePolicy(rules: [.init(choice: .conflict)])
            undecided.aliases = policy.aliases
            let merged = try LocalizedMerge(
                base: base, ours: ourFile, theirs: theirFile, language: language(of: file, undecided), policy: undecided)
            guard !merged.report.conflicts.isEmpty else { return try resolution(of: merged, file) }
            // What is held keeps ours; put back as it was before both, it has the base's value.
            return .bytes(try merged.withConflictsAsInBase(base, aliases: policy.aliases).array)
        } catch let error as GitError {
            throw error
        } catch {
            return .conflict("\(error)")
        }
    }

    /// Git LFS stores a small text in the file's place; it is no damage, and not ours to merge.
    func isForeignFormat(_ entry: TreeEntry) throws(GitError) -> Bool {
        guard try repository.size(ofBlob: entry.id) < 1024 else { return false }
        return try repository.blob(entry.id).array.starts(with: "version https://git-lfs.github.com/spec/".utf8)
    }
}

extension Optional {
    /// As `flatMap`, with a typed error.
    func flatMapThrowing<Result, Failure: Error>(_ transform: (Wrapped) throws(Failure) -> Result?) throws(Failure) -> Result? {
        switch self {
        case let wrapped?: try transform(wrapped)
        case nil: nil
        }
    }
}
