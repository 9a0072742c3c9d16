// `concord check`: the faults of files, or of all catalogs in the tree of a commit.

import Git
import Linux
import StringCatalog
import StringsTable
import Sync

/// Checks catalogs; see `concord help check`.
func checkDoor(_ words: [String]) -> Int32 {
    let order: CheckOrder
    do { order = try CheckOrder(words) } catch { return usageFault("check", error.sentence) }
    if order.listsRules {
        for rule in CheckRule.allCases { printOut("\(padded(rule.rawValue, 22))\(padded(rule.standardSeverity.rawValue, 9))\(rule.summary)\n") }
        return 0
    }
    var baseline = Baseline()
    var isComplete = true
    var files: [CheckedFile] = []
    do {
        if let path = order.baseline { baseline = Baseline(parsing: String(decoding: try readBytes(path).array, as: UTF8.self)) }
        switch order.subject {
        case .files(let paths):
            for path in try namedFiles(paths, "catalog or table", where: isCatalogOrTableName) {
                do {
                    let bytes = try readBytes(path)
                    // What comes through a pipe is what --path says, there.
                    let name = order.name ?? path
                    files.append(CheckedFile(path: name, findings: findings(of: bytes, name, order.policy, sourceLanguageOnDisk(around:)) { try? readBytes($0) }))
                } catch {
                    printError("concord check: \(error.sentence)")
                    isComplete = false
                }
            }
        case .tree(let repository, let revision):
            files = try checkTree(of: repository, at: revision, order.policy)
        }
        if let path = order.writtenBaseline {
            var written = Baseline()
            for file in files { written.add(file.findings, path: file.path) }
            try writeBytes(Bytes(Array(written.text.utf8)), to: path)
            return isComplete ? 0 : 2
        }
    } catch let fault as InputFault {
        printError("concord check: \(fault.sentence)")
        return 2
    } catch {
        printError("concord check: \(error)")
        return 2
    }
    let report = CheckReport(files: files.map { CheckedFile(path: $0.path, findings: baseline.new(in: $0.findings, path: $0.path)) })
    printOut(report.text(as: order.format, showsNotes: order.showsNotes))
    if !isComplete { return 2 }
    return report.count(of: .error) > 0 ? 1 : 0
}

/// What the words of the command ask for.
private struct CheckOrder {
    enum Subject {
        case files([String])
        case tree(repository: String, revision: String)
    }

    let subject: Subject
    /// What the one file is called, and what its name says: its form, its language, and where its source texts are.
    let name: String?
    let policy: CheckPolicy
    let format: CheckReport.Format
    let showsNotes: Bool
    let listsRules: Bool
    let baseline: String?
    let writtenBaseline: String?

    init(_ words: [String]) throws(Arguments.Fault) {
        let arguments = try Arguments(
            words, valued: ["--repository", "--ref", "--severity", "--format", "--baseline", "--write-baseline", "--path"], flags: ["--json", "--all", "--rules"])
        listsRules = arguments.flags.contains("--rules")
        showsNotes = arguments.flags.contains("--all")
        baseline = arguments["--baseline"]
        name = arguments["--path"]
        if name != nil, arguments.files.count != 1 { throw Arguments.Fault(sentence: "--path says what one file is; name that file, or - for standard input") }
        writtenBaseline = arguments["--write-baseline"]
        policy = try CheckOrder.policy(arguments.values("--severity"))
        let name = arguments["--format"] ?? (arguments.flags.contains("--json") ? "json" : "human")
        guard let format = CheckReport.Format(rawValue: name) else {
            throw Arguments.Fault(sentence: "--format is \(CheckReport.Format.allCases.map(\.rawValue).joined(separator: ", ")), not \"\(name)\"")
        }
        self.format = format
        switch (arguments["--repository"], arguments["--ref"]) {
        case (nil, nil):
            guard listsRules || !arguments.files.isEmpty else { throw Arguments.Fault(sentence: "name the files or folders to check, or a repository and a ref") }
            subject = .files(arguments.files)
        case (let repository?, let revision?):
            if let extra = arguments.files.first { throw Arguments.Fault(sentence: "\"\(extra)\" is one word too many: the files are those of the ref") }
            subject = .tree(repository: repository, revision: revision)
        case (_?, nil): throw Arguments.Fault(sentence: "--repository needs --ref, a branch, ref or commit")
        case (nil, _?): throw Arguments.Fault(sentence: "--ref needs --repository")
        }
    }

    private static func policy(_ settings: [String]) throws(Arguments.Fault) -> CheckPolicy {
        var policy = CheckPolicy.standard
        for setting in settings {
            let parts = setting.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw Arguments.Fault(sentence: "--severity is RULE=LEVEL, not \"\(setting)\"") }
            guard let rule = CheckRule(rawValue: parts[0]) else {
                let near = CheckRule.allCases.map(\.rawValue).min { distance(parts[0], $0) < distance(parts[0], $1) }!
                throw Arguments.Fault(sentence: "there is no rule \"\(parts[0])\"\(distance(parts[0], near) <= 4 ? "; did you mean \"\(near)\"?" : "")")
            }
            guard parts[1] == "off" || Severity(rawValue: parts[1]) != nil else {
                throw Arguments.Fault(sentence: "a severity is error, warning, info or off, not \"\(parts[1])\"")
            }
            policy[rule] = Severity(rawValue: parts[1])
        }
        return policy
    }
}

/// The findings of a file, a table's against the table of the source language beside it.
///
/// - Parameters:
///   - sourceLanguage: gives the language of the source texts of a table; nil where nothing tells.
///   - read: gives the bytes of another file, or nil where there is none.
private func findings(
    of bytes: Bytes, _ path: String, _ policy: CheckPolicy, _ sourceLanguage: (String) throws -> String?, read: (String) -> Bytes?
) rethrows -> [Finding] {
    guard let kind = TableKind(path: path) else { return check(bytes, policy: policy) }
    let sourceLanguage = try sourceLanguage(path) ?? "en"
    let language = TableLanguage(path: path, sourceLanguage: sourceLanguage)
    let source = language.isSource ? nil : sourceSiblings(of: path, sourceLanguage: sourceLanguage).lazy.compactMap(read).compactMap { try? TableDocument(parsing: $0) }.first
    return check(bytes, kind: kind, language: language, source: source, policy: policy)
}

/// Where the source language's table of the same name stands, the likeliest place first.
func sourceSiblings(of path: String, sourceLanguage: String) -> [String] {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard let i = parts.lastIndex(where: { $0.hasSuffix(".lproj") }) else { return [] }
    return [sourceLanguage, "Base"].map { folder in
        (parts[..<i] + ["\(folder).lproj"] + parts[(i + 1)...]).joined(separator: "/")
    }
}

/// Checks each catalog in the tree that a branch, ref or commit has.
private func checkTree(of path: String, at revision: String, _ policy: CheckPolicy) throws -> [CheckedFile] {
    let repository = try Repository(opening: path)
    let named = [RefName(revision), RefName.branch(revision), RefName("refs/tags/" + revision)].compactMap { $0 }
    var commit = ObjectID(hex: revision)
    for ref in named where commit == nil { commit = try repository.tip(of: ref) }
    guard let commit else { throw InputFault(sentence: "\(path) has no branch, ref or commit \"\(revision)\"") }
    let catalogs = try repository.files(in: repository.tree(of: commit)) { isCatalogOrTableName($0.name) }
    func contents(_ path: String) throws -> Bytes? {
        guard let entry = catalogs.first(where: { $0.path.description == path }), entry.mode.isFile else { return nil }
        return Bytes(try repository.blob(entry.id, bytesMax: CatalogLimits.standard.bytesMax).array)
    }
    let languages = SourceLanguages(in: commit, of: repository)
    return try catalogs.compactMap { entry in
        // What stands behind a symbolic link or in a submodule is checked where it is, if it is a catalog of this tree.
        guard entry.mode.isFile else { return nil }
        let bytes = Bytes(try repository.blob(entry.id, bytesMax: CatalogLimits.standard.bytesMax).array)
        let path = entry.path.description
        return CheckedFile(path: path, findings: try findings(of: bytes, path, policy, { _ in try languages.language(ofTable: entry.path) }) { try? contents($0) })
    }
}

/// A text with spaces behind it to a width.
func padded(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(width - text.count, 0)) }
