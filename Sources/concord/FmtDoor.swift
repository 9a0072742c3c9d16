// `concord fmt`: catalogs as Xcode writes them.

import StringCatalog

/// Rewrites catalogs; see `concord help fmt`.
func fmtDoor(_ words: [String]) -> Int32 {
    let arguments: Arguments
    do { arguments = try Arguments(words, flags: ["--check"]) } catch { return usageFault("fmt", error.sentence) }
    guard !arguments.files.isEmpty else { return usageFault("fmt", "name the catalogs to rewrite") }
    let isCheck = arguments.flags.contains("--check")
    var status: Int32 = 0
    for path in arguments.files {
        do {
            let catalog = try readCatalog(path)
            let written = formatted(catalog)
            guard written.array != catalog.bytes.array else { continue }
            if isCheck {
                printOut("\(path)\n")
                status = max(status, 1)
            } else {
                try writeBytes(written, to: path)
            }
        } catch {
            printError("concord fmt: \(error.sentence)")
            status = 2
        }
    }
    return status
}
