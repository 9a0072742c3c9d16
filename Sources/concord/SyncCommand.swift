import Linux
import Sync

/// `concord sync [--config FILE] [--once] [--dry-run]`: one pass over all repositories; with `--dry-run` it only says what it would do.
///
/// Returns 0 when all is in step, 1 when something waits for a person, 2 when a configuration or a repository cannot be read.
func syncDoor(_ words: [String]) async -> Int32 {
    await daemonDoor("sync", words, flags: ["--once", "--dry-run"]) { arguments in
        try SyncOnce.run(configurationPath: configurationPath(arguments), isDryRun: arguments.flags.contains("--dry-run")) { printOut($0 + "\n") }
    }
}
