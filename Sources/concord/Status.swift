import Linux
import Sync

/// `concord status [--config FILE] [--json] [--look]`: how the repositories are, asked of the running daemon. With `--look` it is
/// told to look at all of them first. Returns 2 when no daemon answers.
func statusDoor(_ words: [String]) async -> Int32 {
    await daemonDoor("status", words, flags: ["--json", "--look"]) { arguments in
        let path = configurationPath(arguments)
        guard let socket = try Configuration(reading: path).socket else {
            printError("concord status: \(path) names no socket")
            return 2
        }
        if arguments.flags.contains("--look") { _ = try StatusClient.look(at: socket) }
        write(try StatusClient.status(at: socket, asJSON: arguments.flags.contains("--json")), to: 1)
        return 0
    }
}
