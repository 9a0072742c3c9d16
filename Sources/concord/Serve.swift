import Glibc
import Linux
import Sync

/// `concord serve [--config FILE]`: the daemon. Returns 0 after SIGTERM or SIGINT, 2 when it cannot start.
func serveDoor(_ words: [String]) async -> Int32 {
    await daemonDoor("serve", words) { arguments in
        let daemon: Daemon
        do {
            daemon = try Daemon(configurationPath: configurationPath(arguments), log: .standardError(), notify: ServiceNotify())
        } catch let error as SystemError where error.number == EADDRINUSE {
            throw InputFault(sentence: "another daemon answers at \(error.subject ?? "the socket"); stop it, or give this one a socket of its own")
        }
        return await daemon.run(signals: try Signal.arrivals(of: [.hangup, .terminate, .interrupt]))
    }
}

/// Where the configuration is, if nobody says otherwise.
func configurationPath(_ arguments: Arguments) -> String { arguments["--config"] ?? "/etc/concord/concord.conf" }

/// What the doors around the daemon have in common: `--config FILE`, no files, and 2 for a fault of the world.
func daemonDoor(
    _ command: String, _ words: [String], flags: [String] = [], _ body: (Arguments) async throws -> Int32
) async -> Int32 {
    do {
        let arguments = try Arguments(words, valued: ["--config"], flags: flags)
        guard arguments.files.isEmpty else { return usageFault(command, "'\(arguments.files[0])' is not understood") }
        return try await body(arguments)
    } catch let fault as Arguments.Fault {
        return usageFault(command, fault.sentence)
    } catch {
        printError("concord \(command): \(error)")
        return 2
    }
}
