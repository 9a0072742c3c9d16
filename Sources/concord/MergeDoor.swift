// `concord merge`: the engine on four files.

import Linux
import StringCatalog

/// Merges files; see `concord help merge`.
func mergeDoor(_ words: [String]) -> Int32 {
    do {
        let arguments: Arguments
        let names: (base: String, ours: String, theirs: String, output: String)
        do {
            arguments = try Arguments(words, valued: ["--base", "--ours", "--theirs", "--output", "--report", "--path", "--source-side"])
            names = try (arguments.required("--base"), arguments.required("--ours"), arguments.required("--theirs"), arguments.required("--output"))
            if let extra = arguments.files.first { throw Arguments.Fault(sentence: "\"\(extra)\" is one word too many") }
        } catch let fault as Arguments.Fault {
            return usageFault("merge", fault.sentence)
        }
        let policy: MergePolicy
        switch arguments.options["--source-side"] {
        case nil, "none": policy = MergePolicy()
        case "ours": policy = MergePolicy(sourceSide: .ours)
        case "theirs": policy = MergePolicy(sourceSide: .theirs)
        case let other?: return usageFault("merge", "--source-side is \"ours\" or \"theirs\", not \"\(other)\"")
        }
        let path = arguments.options["--path"] ?? names.ours
        let merged = try mergeFiles(base: names.base, ours: names.ours, theirs: names.theirs, path: path, policy: policy)
        try writeBytes(merged.bytes, to: names.output)
        if let report = arguments.options["--report"] { try writeBytes(Bytes(merged.report.json(path: path)), to: report) }
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

/// Reads and merges three files. A base that is missing (`/dev/null`, or empty) is an empty base.
func mergeFiles(base: String, ours: String, theirs: String, path: String, policy: MergePolicy) throws -> CatalogMerge {
    let baseBytes = try readBytes(base)
    let baseDocument = baseBytes.count == 0 ? nil : try parseCatalog(baseBytes, base, role: "base")
    let oursDocument = try readCatalog(ours, role: "ours", like: baseDocument)
    let theirsDocument = try readCatalog(theirs, role: "theirs", like: baseDocument)
    return try merge(base: baseDocument, ours: oursDocument, theirs: theirsDocument, policy: policy)
}

/// Tells on standard error what a person has to know of a merge.
func tell(_ report: MergeReport, path: String) {
    for damage in report.damages { printError("\(path): \(damage)") }
    for conflict in report.conflicts {
        printError("\(path): conflict at \(describe(conflict.path)): \(conflict.why)")
        for (side, text) in [("base", conflict.base), ("ours", conflict.ours), ("theirs", conflict.theirs)] {
            printError("    \(side): \(text.map { shortened($0) } ?? "(absent)")")
        }
    }
}

/// A leaf's place as people say it: `"Cancel", fr, value`.
func describe(_ path: LeafPath) -> String {
    ([path.key.map { "\"\(shortened($0))\"" }, path.language, path.field].compactMap { $0 }).joined(separator: ", ")
}

/// A text on one line, at most 100 characters.
func shortened(_ text: String) -> String {
    let line = text.prefix(101).map { $0 == "\n" ? "\\n" : String($0) }.joined()
    return line.count > 100 ? line.prefix(99) + "…" : line
}
