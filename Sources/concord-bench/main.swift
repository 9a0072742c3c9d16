// Times the engine in memory, without a process around it: `concord-bench BASE OURS THEIRS [ROUNDS]`.
// Prints the median milliseconds of reading the three files with full validation, of the merge with its check, and of both.

import Glibc
import Linux
import StringCatalog

func milliseconds(_ duration: Duration) -> Double {
    let parts = duration.components
    return Double(parts.seconds) * 1e3 + Double(parts.attoseconds) / 1e15
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// A number with two decimals.
func shown(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
}

let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 3 else {
    write("usage: concord-bench BASE OURS THEIRS [ROUNDS]\n", to: 2)
    exit(64)
}
let rounds = words.count > 3 ? Int(words[3]) ?? 21 : 21
do {
    let files = try words[..<3].map { Bytes(try FileBytes(path: $0).array) }
    var reading: [Double] = []
    var merging: [Double] = []
    var total: [Double] = []
    var first: [Double] = []
    for _ in 0..<rounds {
        let clock = ContinuousClock()
        let started = clock.now
        let base = try CatalogDocument(parsing: files[0])
        first.append(milliseconds(clock.now - started))
        let ours = try CatalogDocument(parsing: files[1], like: base)
        let theirs = try CatalogDocument(parsing: files[2], like: base)
        let read = clock.now
        _ = try merge(base: base, ours: ours, theirs: theirs)
        let done = clock.now
        reading.append(milliseconds(read - started))
        merging.append(milliseconds(done - read))
        total.append(milliseconds(done - started))
    }
    write("first \(shown(median(first))) read \(shown(median(reading))) merge \(shown(median(merging))) total \(shown(median(total))) least \(shown(total.min() ?? 0)) ms\n", to: 1)
} catch {
    write("concord-bench: \(error)\n", to: 2)
    exit(2)
}
