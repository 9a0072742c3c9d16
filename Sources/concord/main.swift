// One executable, one engine behind several doors. Each door is a function from its words to an exit status.

import Dispatch
import Glibc
import Linux

/// Says on standard error what was wrong with the words of a command, and returns the status for it (EX_USAGE).
func usageFault(_ command: String, _ sentence: String) -> Int32 {
    printError("concord \(command): \(sentence)\nSee 'concord help \(command)'.")
    return 64
}

func printError(_ line: String) { write(line + "\n", to: 2) }

/// Writes to standard output, or ends the process with status 2: half an answer on a full disk must not look like a whole one.
func printOut(_ text: String) {
    do {
        try writeAll(text, to: 1, "standard output")
    } catch where error.number == EPIPE {
        // Who has seen enough, such as `head`, is no fault.
        exit(0)
    } catch {
        printError("concord: \(error)")
        exit(2)
    }
}

/// Runs a door of the daemon to its end, and the process with it. The other doors never start the runtime of tasks.
func exitAfter(_ door: @escaping @Sendable () async -> Int32) -> Never {
    Task { exit(await door()) }
    dispatchMain()
}

let words = commandLineWords(from: 1)
let rest = commandLineWords(from: 2)
switch words.first {
case let command? where rest.first.map(helpWords.contains) == true && commandNames.contains(command): exit(helpDoor([command]))
case "merge": exit(mergeDoor(rest))
case "merge-driver": exit(mergeDriverDoor(rest))
case "install-driver": exit(installDriverDoor(rest))
case "diff": exit(diffDoor(rest))
case "check": exit(checkDoor(rest))
case "stats": exit(statsDoor(rest))
case "fmt": exit(fmtDoor(rest))
case "textconv": exit(textconvDoor(rest))
case "lost": exit(lostDoor(rest))
case "restore": exit(restoreDoor(rest))
case "conflicts": exit(conflictsDoor(rest))
case "resolve": exit(resolveDoor(rest))
case "explain": exit(explainDoor(rest))
case "log": exit(logDoor(rest))
case "migrate": exit(migrateDoor(rest))
case "demo": exit(demoDoor(rest))
case "serve": exitAfter { await serveDoor(rest) }
case "sync": exitAfter { await syncDoor(rest) }
case "status": exitAfter { await statusDoor(rest) }
case "help": exit(helpDoor(rest))
case let word? where helpWords.contains(word): exit(helpDoor(rest))
case "version", "--version":
    printOut("concord \(version)\n")
    exit(0)
case nil:
    printError(helpOverview)
    exit(64)
case let other?:
    printError("concord: there is no command '\(other)'\(suggestion(for: other, among: commandNames))\nSee 'concord help'.")
    exit(64)
}
