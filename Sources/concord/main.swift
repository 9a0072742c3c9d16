// One executable, one engine behind several doors. Each door is a function from its words to an exit status.

import Glibc
import Linux

/// Says on standard error what was wrong with the words of a command, and returns the status for it (EX_USAGE).
func usageFault(_ command: String, _ sentence: String) -> Int32 {
    printError("concord \(command): \(sentence)\nSee 'concord help \(command)'.")
    return 64
}

func printError(_ line: String) { write(line + "\n", to: 2) }

let words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "merge": exit(mergeDoor(Array(words.dropFirst())))
case "serve": exit(await serveDoor(Array(words.dropFirst())))
case "sync": exit(await syncDoor(Array(words.dropFirst())))
case "status": exit(await statusDoor(Array(words.dropFirst())))
default: exit(usageFault("", "commands: merge, serve, sync, status"))
}
