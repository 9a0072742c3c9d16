import Linux
import Sync

/// `concord serve --config FILE`: the daemon. Returns 0 after SIGTERM or SIGINT, 2 when it cannot start.
func serve(_ arguments: [String]) async -> Int32 {
    guard let options = ServiceOptions(arguments, flags: []) else { return ServiceOptions.misuse("serve --config FILE") }
    let log = Log.standardError()
    do {
        let daemon = try Daemon(configurationPath: options.configuration, log: log, notify: ServiceNotify())
        return await daemon.run(signals: try Signal.arrivals(of: [.hangup, .terminate, .interrupt]))
    } catch {
        write("concord: \(error)\n", to: 2)
        return 2
    }
}

/// What the doors to the daemon have in common: `--config FILE` and flags.
struct ServiceOptions {
    let configuration: String
    private let set: Set<String>

    static let configurationDefault = "/etc/concord/concord.conf"

    /// `nil` for anything that is not understood.
    init?(_ arguments: [String], flags: Set<String>) {
        var configuration = Self.configurationDefault, set: Set<String> = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--config" {
                guard let value = rest.popFirst() else { return nil }
                configuration = value
            } else if argument.hasPrefix("--config=") {
                configuration = String(argument.dropFirst("--config=".count))
            } else if flags.contains(argument) {
                set.insert(argument)
            } else {
                return nil
            }
        }
        self.configuration = configuration
        self.set = set
    }

    func has(_ flag: String) -> Bool { set.contains(flag) }

    static func misuse(_ usage: String) -> Int32 {
        write("usage: concord \(usage)\n", to: 2)
        return 2
    }
}
