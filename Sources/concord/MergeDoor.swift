// `concord merge`: the engine on four files.

import Git
import Linux
import StringCatalog
import StringsTable
import Sync
import Synchronization

/// Merges files; see `concord help merge`.
func mergeDoor(_ words: [String]) -> Int32 {
    do {
        let arguments: Arguments
        let names: (base: String, ours: String, theirs: String, output: String)
        do {
            arguments = try Arguments(
                words,
                valued: ["--base", "--ours", "--theirs", "--output", "--report", "--path", "--source-side", "--policy", "--alias", "--source-language"])
            names = try (arguments.required("--base"), arguments.required("--ours"), arguments.required("--theirs"), arguments.required("--output"))
            if let extra = arguments.files.first { throw Arguments.Fault(sentence: "\"\(extra)\" is one word too many") }
        } catch let fault as Arguments.Fault {
            return usageFault("merge", fault.sentence)
        }
        let path = arguments["--path"] ?? names.ours
        var policy: MergePolicy
        do { policy = try mergePolicy(arguments, path) } catch { return usageFault("merge", error.sentence) }
        let output = OutputFile(names.output)
        policy.recordsLosses = arguments["--report"] != nil
        let merged = try mergeFiles(
            base: names.base, ours: names.ours, theirs: names.theirs, path: path, policy: policy, sourceLanguage: arguments["--source-language"], into: output)
        // The report first: status 2 promises that the output was not written.
        if let report = arguments["--report"] { try writeBytes(Bytes(merged.report.json(path: path)), to: report) }
        try output.commit(merged.bytes)
        tell(merged.report, path: path)
        return merged.hasConflicts ? 1 : 0
    } catch let fault as InputFault {
        printError("concord merge: \(fault.sentence)")
        return 2
    } catch {
        printError("concord merge: \(error); nothing was written. This is a fault of Concord, please report it.")
        return 3
    }
}

/// What the options say about who wins.
private func mergePolicy(_ arguments: Arguments, _ path: String) throws(Arguments.Fault) -> MergePolicy {
    let side: SourceSide
    switch arguments["--source-side"] {
    case nil, "none": side = .none
    case "ours": side = .ours
    case "theirs": side = .theirs
    case let other?: throw Arguments.Fault(sentence: "--source-side is \"ours\" or \"theirs\", not \"\(other)\"")
    }
    guard arguments["--policy"] != nil || arguments["--alias"] != nil else { return MergePolicy(sourceSide: side) }
    var policy = CatalogPolicy.standard
    do throws(CatalogPolicy.Fault) {
        for line in arguments.values("--policy") { policy.rules += try CatalogPolicy(line: line).rules }
        for line in arguments.values("--alias") { try policy.unite(line: line) }
    } catch {
        throw Arguments.Fault(sentence: error.sentence)
    }
    // A name outside of any tree is matched by no glob of files.
    return policy.mergePolicy(for: TreePath(path), sourceSide: side)
}

/// What came out of three files, whichever engine they went through.
struct MergedFile {
    let bytes: Bytes
    let isUnchanged: Bool
    let report: MergeReport
    var hasConflicts: Bool { !report.conflicts.isEmpty }
}

/// Reads and merges three files; the name in `path` says of which kind they are: a table (`.strings`, `.stringsdict`), else a
/// catalog. A base that is missing (`/dev/null`, or empty) is an empty base.
///
/// A large output is written on the way into `output`, which then has to be committed.
/// - Parameter sourceLanguage: that of a table; nil looks around at `path`.
func mergeFiles(
    base: String, ours: String, theirs: String, path: String, policy: MergePolicy, sourceLanguage: String? = nil, into output: OutputFile
) throws -> MergedFile {
    guard let kind = TableKind(path: path) else {
        let merged = try mergeCatalogs(base: base, ours: ours, theirs: theirs, policy: policy, into: output)
        return MergedFile(bytes: merged.bytes, isUnchanged: merged.isUnchanged, report: merged.report)
    }
    let baseBytes = try readBytes(base)
    let merged = try merge(
        base: baseBytes.count == 0 ? nil : parseTable(baseBytes, base, role: "base"), ours: parseTable(readBytes(ours), ours, role: "ours"),
        theirs: parseTable(readBytes(theirs), theirs, role: "theirs"), kind: kind, language: tableLanguage(of: path, sourceLanguage, policy.aliases), policy: policy)
    return MergedFile(bytes: merged.bytes, isUnchanged: merged.isUnchanged, report: merged.report)
}

private func mergeCatalogs(base: String, ours: String, theirs: String, policy: MergePolicy, into output: OutputFile) throws -> CatalogMerge {
    let baseBytes = try readBytes(base)
    // For small catalogs a second thread costs more than it brings.
    let threadedBytesMin = 256 << 10
    let second = baseBytes.count >= threadedBytesMin ? SecondThread() : nil
    let atOnce: AtOnce? = second.map { second in { second.run($0, $1) } }

    let opened = Mutex((ours: CatalogInput.unread, theirs: CatalogInput.unread))
    second?.start { opened.withLock { $0 = (CatalogInput(opening: ours), CatalogInput(opening: theirs)) } }
    let baseDocument = baseBytes.count == 0 ? nil : try parseCatalog(baseBytes, base, role: "base", atOnce: atOnce)
    second?.finish()

    var oursInput = opened.withLock { $0.ours }
    let theirsInput = Mutex(opened.withLock { $0.theirs })
    func readOurs() { oursInput.read(ours, "ours", like: baseDocument) }
    if let atOnce {
        atOnce(readOurs) { theirsInput.withLock { $0.read(theirs, "theirs", like: baseDocument) } }
    } else {
        readOurs()
        theirsInput.withLock { $0.read(theirs, "theirs", like: baseDocument) }
    }
    let (oursDocument, theirsDocument) = try (oursInput.document(), theirsInput.withLock { $0 }.document())
    let merged = try merge(base: baseDocument, ours: oursDocument, theirs: theirsDocument, policy: policy, atOnce: atOnce, write: { output.write($0) })
    keepUntilExit(baseBytes, oursDocument.bytes, theirsDocument.bytes, merged.bytes)
    return merged
}

/// How far a catalog has been read, on whichever thread. (A `Result` would do, were its first use not a tenth of a small merge.)
private enum CatalogInput {
    case unread, bytes(Bytes), document(CatalogDocument), fault(InputFault)

    init(opening path: String) {
        do throws(InputFault) { self = .bytes(try readBytes(path)) } catch { self = .fault(error) }
    }

    mutating func read(_ path: String, _ role: String, like: CatalogDocument?) {
        if case .unread = self { self = CatalogInput(opening: path) }
        guard case .bytes(let bytes) = self else { return }
        do throws(InputFault) { self = .document(try parseCatalog(bytes, path, role: role, like: like)) } catch { self = .fault(error) }
    }

    func document() throws(InputFault) -> CatalogDocument {
        switch self {
        case .document(let document): return document
        case .fault(let fault): throw fault
        case .unread, .bytes: preconditionFailure("the work was not run")
        }
    }
}

/// Tells on standard error what a person has to know of a merge.
func tell(_ report: MergeReport, path: String) {
    var lines = ""
    for damage in report.damages { lines += path + ": " + damage + "\n" }
    for conflict in report.conflicts {
        func line(_ side: String, _ text: String?) -> String { "    " + side + ": " + (text.map(shortened) ?? "(absent)") + "\n" }
        lines += path + ": conflict at " + describe(conflict.path) + ": " + conflict.why + "\n"
        lines += line("base", conflict.base) + line("ours", conflict.ours) + line("theirs", conflict.theirs)
    }
    if !lines.isEmpty { write(lines, to: 2) }
}

/// A leaf's place as people say it: `"Cancel", fr, value`.
func describe(_ path: LeafPath) -> String {
    var out = path.key.map { "\"" + shortened($0) + "\"" } ?? ""
    for part in [path.language, path.fieldInShort] {
        if let part { out += out.isEmpty ? part : ", " + part }
    }
    return out
}

/// A text on one line, at most 100 Unicode scalars.
func shortened(_ text: String) -> String {
    if text.utf8.count <= 100, !text.utf8.contains(10) { return text }
    // The hundredth gives way to a mark where more would follow.
    var out = "", last = "", count = 0
    for scalar in text.unicodeScalars {
        count += 1
        if count == 101 { return out + "…" }
        out += last
        last = scalar == "\n" ? "\\n" : String(scalar)
    }
    return out + last
}
