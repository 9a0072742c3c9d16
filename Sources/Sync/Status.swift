import Git
import Linux
import Synchronization

/// How one repository is.
public struct RepositoryStatus: Sendable {
    public enum Condition: Sendable {
        /// Not looked at yet.
        case waiting
        /// Nothing is left to do, but for what is `held`.
        case inStep
        /// Some syncs wait for a person.
        case blocked([String])
        /// It could not be looked at; it will be tried again.
        case failing(String, retrySeconds: Int)
    }

    public var name: String
    public var path: String
    public var condition: Condition = .waiting
    public var held: [(step: String, places: [Held])] = []
    public var lastMove: MoveReport?
    public var moveCount = 0
    public var lookCount = 0
    /// When it was last looked at, in seconds since 1970.
    public var lastLook: Int64?
}

/// What the daemon last said about itself, for those who ask. The main loop writes, the socket's thread reads.
final class StatusBoard: Sendable {
    private struct Contents {
        var repositories: [String: RepositoryStatus] = [:]
        var refusedConfiguration: [String] = []
    }

    private let contents = Mutex(Contents())

    func post(_ status: RepositoryStatus) { contents.withLock { $0.repositories[status.name] = status } }
    func remove(_ name: String) { contents.withLock { $0.repositories[name] = nil } }
    func refuse(_ faults: [String]) { contents.withLock { $0.refusedConfiguration = faults } }
    subscript(name: String) -> RepositoryStatus? { contents.withLock { $0.repositories[name] } }

    var all: [RepositoryStatus] { contents.withLock { $0.repositories.values.sorted { $0.name < $1.name } } }
    var refusedConfiguration: [String] { contents.withLock { $0.refusedConfiguration } }

    /// One line, for systemd.
    var summary: String {
        let all = all
        var words = [SyncMessage.counted(all.count, "repository").replacingPlural]
        var counts = (inStep: 0, held: 0, blocked: 0, failing: 0, waiting: 0)
        for status in all {
            switch status.condition {
            case .waiting: counts.waiting += 1
            case .inStep where status.held.isEmpty: counts.inStep += 1
            case .inStep: counts.held += 1
            case .blocked: counts.blocked += 1
            case .failing: counts.failing += 1
            }
        }
        let parts = [(counts.inStep, "in step"), (counts.held, "with something held"), (counts.blocked, "blocked"), (counts.failing, "failing"), (counts.waiting, "waiting")]
        words.append(parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", "))
        let summary = words.joined(separator: ": ")
        return refusedConfiguration.isEmpty ? summary : "\(summary); the new configuration was refused, the old one is running"
    }

    /// For people.
    func table(now: Int64) -> String {
        var lines: [String] = []
        let width = all.map(\.name.count).max() ?? 0
        for status in all {
            func row(_ name: String, _ condition: String, _ text: String) -> String {
                let cells = [name.padded(to: width), condition.padded(to: 8), text].joined(separator: "  ")
                return String(cells.reversed().drop { $0 == " " }.reversed())
            }
            let look = status.lastLook.map { "looked at \(max(0, now - $0)) s ago, \(SyncMessage.counted(status.moveCount, "sync"))" } ?? ""
            switch status.condition {
            case .waiting: lines.append(row(status.name, "waiting", look))
            case .inStep where status.held.isEmpty: lines.append(row(status.name, "in step", look))
            case .inStep: lines.append(row(status.name, "held", "\(look); all else is in step, and `concord conflicts` shows these places"))
            case .failing(let why, let seconds):
                lines.append(row(status.name, "failing", "\(printable(why, lengthMax: 500)); next try in \(seconds) s"))
            case .blocked(let reasons):
                for (index, reason) in reasons.enumerated() {
                    lines.append(row(index == 0 ? status.name : "", index == 0 ? "blocked" : "", printable(reason, lengthMax: 1000)))
                }
            }
            for (step, places) in status.held {
                lines += places.map { row("", "", "\(step): \($0)") }
            }
        }
        for fault in refusedConfiguration { lines.append("refused configuration: \(printable(fault))") }
        return lines.map { $0 + "\n" }.joined()
    }

    /// For programs: one object, with a line feed at the end.
    var json: String {
        let repositories = all.map { status -> JSON in
            var condition = "", why: [String] = [], retry: Int?
            switch status.condition {
            case .waiting: condition = "waiting"
            case .inStep: condition = status.held.isEmpty ? "in-step" : "held"
            case .blocked(let reasons): (condition, why) = ("blocked", reasons)
            case .failing(let reason, let seconds): (condition, why, retry) = ("failing", [reason], seconds)
            }
            let held = status.held.flatMap { step, places in
                places.map { place in
                    JSON.object([
                        "sync": .string(step), "path": .string(place.file.description), "key": .string(ifPresent: place.leaf?.key),
                        "language": .string(ifPresent: place.leaf?.language), "field": .string(ifPresent: place.leaf?.field),
                        "base": .string(ifPresent: place.base), "ours": .string(ifPresent: place.ours),
                        "theirs": .string(ifPresent: place.theirs), "why": .string(place.why),
                    ])
                }
            }
            let move = status.lastMove.map { move in
                JSON.object([
                    "branch": .string(move.target.shorthand), "kind": .string(move.kind), "from": .string(move.from.hex),
                    "to": .string(move.to.hex), "subject": .string(move.subject),
                ])
            }
            return .object([
                "name": .string(status.name), "path": .string(status.path), "condition": .string(condition), "why": .list(why.map { .string($0) }),
                "retrySeconds": retry.map { .number($0) }, "held": .list(held), "lastMove": move, "moves": .number(status.moveCount),
                "looks": .number(status.lookCount), "lastLook": status.lastLook.map { .number(Int($0)) },
            ])
        }
        return JSON.object([
            "repositories": .list(repositories), "refusedConfiguration": .list(refusedConfiguration.map { .string($0) }),
        ]).description + "\n"
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    fileprivate var replacingPlural: String { hasSuffix("repositorys") ? String(dropLast(2)) + "ies" : self }
}

/// Asks a running daemon.
public enum StatusClient {
    /// What the daemon whose socket is at `path` says of itself, for people or as JSON.
    /// - Throws: `SystemError` when nobody answers there.
    public static func status(at path: String, asJSON: Bool) throws(SystemError) -> String {
        try ask(asJSON ? "status json" : "status", at: path)
    }

    /// Makes the daemon look at all repositories, or one, without waiting for news.
    public static func look(at path: String, repository: String? = nil) throws(SystemError) -> String {
        try ask(repository.map { "look \($0)" } ?? "look", at: path)
    }
}
