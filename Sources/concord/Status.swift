import Linux
import Sync

/// `concord status [--config FILE] [--json] [--look]`: how the repositories are, asked of the running daemon. With `--look` it is
/// told to look at all of them first. Returns 2 when no daemon answers.
func statusDoor(_ words: [String]) async -> Int32 {
    await daemonDoor("status", words, flags: ["--json", "--look"]) { arguments in
        let path = configurationPath(arguments)
        // Also from a file with faults: just then one asks, and the daemon is running on the one before.
        guard let socket = try Configuration.socket(inFile: path) else {
            printError("concord status: \(path) names no socket; put \"socket = PATH\" into its section [concord], and reload the daemon")
            return 2
        }
        do {
            if arguments.flags.contains("--look") { _ = try StatusClient.look(at: socket) }
            printOut(try StatusClient.status(at: socket, asJSON: arguments.flags.contains("--json")))
            return 0
        } catch {
            printError("concord status: no daemon answers; is `concord serve` running with \(path)? (\(error))")
            return 2
        }
    }
}
