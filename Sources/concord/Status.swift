import Linux
import Sync

/// `concord status --config FILE [--json]`: how the repositories are, asked of the running daemon. With `--look` it is
/// first told to look at all of them. Returns 2 when no daemon answers.
func status(_ arguments: [String]) async -> Int32 {
    guard let options = ServiceOptions(arguments, flags: ["--json", "--look"]) else {
        return ServiceOptions.misuse("status --config FILE [--json] [--look]")
    }
    do {
        guard let socket = try Configuration(reading: options.configuration).socket else {
            write("concord: \(options.configuration) names no socket\n", to: 2)
            return 2
        }
        if options.has("--look") { _ = try StatusClient.look(at: socket) }
        write(try StatusClient.status(at: socket, asJSON: options.has("--json")), to: 1)
        return 0
    } catch {
        write("concord: \(error)\n", to: 2)
        return 2
    }
}
