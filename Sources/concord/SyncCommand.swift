import Linux
import Sync

/// `concord sync --config FILE [--once] [--dry-run]`: one pass over all repositories; with `--dry-run` it only says what it would do.
///
/// Returns 0 when all is in step, 1 when something waits for a person, 2 when a configuration or a repository cannot be read.
func sync(_ arguments: [String]) async -> Int32 {
    guard let options = ServiceOptions(arguments, flags: ["--once", "--dry-run"]) else {
        return ServiceOptions.misuse("sync --config FILE [--once] [--dry-run]")
    }
    do {
        return try SyncOnce.run(configurationPath: options.configuration, isDryRun: options.has("--dry-run")) { write($0 + "\n", to: 1) }
    } catch {
        write("concord: \(error)\n", to: 2)
        return 2
    }
}
