// git's own merges through the engine: `concord merge-driver`, and `concord install-driver`, which tells git of it.

import Git
import Linux
import StringCatalog
import Sync

/// The merge driver: `concord merge-driver %O %A %B %L %P`. The result replaces the file of ours (%A).
///
/// Returns 0 for a clean merge and 1 for conflicts, which git then reports; the file is a valid catalog either way. What the
/// engine cannot read is merged by git's own line merge, with its markers, so that nothing of either side is out of sight.
func mergeDriverDoor(_ words: [String]) -> Int32 {
    guard words.count >= 3 else { return usageFault("merge-driver", "git calls it with %O %A %B %L %P") }
    let (base, ours, theirs) = (words[0], words[1], words[2])
    let path = words.count > 4 ? words[4] : ours
    do {
        let output = OutputFile(ours)
        let settings = checkoutSettings()
        var policy = settings.policy.mergePolicy(for: TreePath(path), sourceSide: .none)
        policy.recordsLosses = false
        let merged = try mergeFiles(
            base: base, ours: ours, theirs: theirs, path: path, policy: policy, sourceLanguage: settings.sourceLanguage, into: output)
        if !merged.isUnchanged { try output.commit(merged.bytes) }
        tell(merged.report, path: path)
        guard merged.hasConflicts else { return 0 }
        // There are no markers in the file to be stumbled over.
        printError("\(path): these places have the text of ours; put in what is right, then git add")
        return 1
    } catch {
        // git's names for the three files say nothing to a person.
        var why = "\(error)"
        for name in [base, ours, theirs] where why.contains("\(name):") { why.replace("\(name):", with: "\(path):") }
        printError("concord merge-driver: \(why); \(path) is left to git's line merge")
        let size = words.count > 3 ? words[3] : "7"
        guard let child = try? run(["git", "merge-file", "--marker-size=\(size)", "-L", "ours", "-L", "base", "-L", "theirs", ours, base, theirs], environment: processEnvironment(), deadline: .seconds(60)) else { return 129 }
        guard case .exited(let code) = child.end else { return 129 }
        return min(code, 1)
    }
}

/// What the checkout says about its catalogs in `.concord`; git starts drivers at the top of the work tree. It is data, whoever wrote it,
/// and a driver that said again and again what is odd in it would be in the way.
private func checkoutSettings() -> TreeSettings {
    guard let bytes = try? readBytes(".concord"), bytes.count <= TreeSettings.bytesMax else { return TreeSettings(parsing: "") }
    return TreeSettings(parsing: String(decoding: bytes.array, as: UTF8.self))
}

/// Registers the driver and the diff view; see `concord help install-driver`.
func installDriverDoor(_ words: [String]) -> Int32 {
    do {
        let arguments: Arguments
        do { arguments = try Arguments(words, flags: ["--global", "--uninstall"]) } catch { return usageFault("install-driver", error.sentence) }
        guard arguments.files.isEmpty else { return usageFault("install-driver", "it takes no files; run it inside of a repository, or with --global") }
        let isGlobal = arguments.flags.contains("--global")
        let scope = isGlobal ? "--global" : "--local"
        guard let binary = executablePath() else { throw InputFault(sentence: "the path of this program cannot be found out (/proc/self/exe)") }
        let attributes = try attributesPath(isGlobal: isGlobal)
        if arguments.flags.contains("--uninstall") {
            for section in ["merge.concord", "diff.concord"] { _ = try? git("config", scope, "--remove-section", section) }
            try rewriteAttributes(attributes, adding: false)
            printOut("git no longer uses concord here (\(attributes))\n")
            return 0
        }
        if !isGlobal { try refuseCheckout(binary) }
        let program = shellQuoted(binary)
        try git("config", scope, "merge.concord.name", "Concord: string catalogs and tables by key, language and field")
        try git("config", scope, "merge.concord.driver", "\(program) merge-driver %O %A %B %L %P")
        // For the virtual base of criss-cross histories.
        try git("config", scope, "merge.concord.recursive", "concord")
        try git("config", scope, "diff.concord.textconv", "\(program) textconv")
        try git("config", scope, "diff.concord.cachetextconv", "false")
        try rewriteAttributes(attributes, adding: true)
        printOut("git now merges and shows *.xcstrings, *.strings and *.stringsdict with \(binary)\n  configuration: git config \(scope) --get-regexp concord\n  attributes:    \(attributes)\n")
        return 0
    } catch {
        printError("concord install-driver: \((error as? InputFault)?.sentence ?? "\(error)")")
        return 2
    }
}

/// A program in the work tree is replaced by whoever pushes a branch; git would then run theirs.
private func refuseCheckout(_ binary: String) throws {
    guard let top = try? git("rev-parse", "--show-toplevel"), !top.isEmpty, let real = resolvedPath(top) else { return }
    guard !binary.hasPrefix(real + "/") else {
        throw InputFault(sentence: """
            this program lies in the checkout itself (\(binary)), where any branch can replace it; \
            install it outside first, for example: sudo install -m 755 \(binary) /usr/local/bin/concord
            """)
    }
}

private func attributesPath(isGlobal: Bool) throws -> String {
    if !isGlobal { return try git("rev-parse", "--git-path", "info/attributes") }
    if let set = try? git("config", "--global", "--type=path", "core.attributesFile"), !set.isEmpty { return set }
    guard let folder = environmentVariable("XDG_CONFIG_HOME") ?? environmentVariable("HOME").map({ $0 + "/.config" }) else {
        throw InputFault(sentence: "neither XDG_CONFIG_HOME nor HOME is set")
    }
    return folder + "/git/attributes"
}

/// Adds or removes our lines; everything else in the file stays.
private func rewriteAttributes(_ path: String, adding: Bool) throws {
    // A text conversion shows also what git takes for binary, such as tables in UTF-16.
    let own = ["*.xcstrings", "*.strings", "*.stringsdict"].map { $0 + " merge=concord diff=concord" }
    var lines: [String] = []
    if let old = try? readBytes(path).array {
        lines = String(decoding: old, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
    }
    lines.removeAll { own.contains($0) }
    if adding { lines += own }
    if adding, let slash = path.lastIndex(of: "/") { try makeDirectories(String(path[..<slash])) }
    guard adding || !lines.isEmpty || (try? readBytes(path)) != nil else { return }
    try writeBytes(Bytes(Array(lines.map { $0 + "\n" }.joined().utf8)), to: path)
}

/// Runs git and returns what it prints, without the last line feed.
@discardableResult
private func git(_ words: String...) throws -> String {
    let child = try run(["git"] + words, environment: processEnvironment(), deadline: .seconds(30))
    guard child.isSuccess else {
        let said = String(decoding: child.errors, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? "no reason given"
        throw InputFault(sentence: "git \(words[0]): \(said)")
    }
    let text = String(decoding: child.output, as: UTF8.self)
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
}

/// A word that a shell reads as it is.
private func shellQuoted(_ word: String) -> String {
    let plain = word.utf8.allSatisfy { ($0 >= 0x61 && $0 <= 0x7a) || ($0 >= 0x41 && $0 <= 0x5a) || ($0 >= 0x30 && $0 <= 0x39) || "/._-+".utf8.contains($0) }
    return plain ? word : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}
