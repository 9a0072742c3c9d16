import Git
import Linux
import Synchronization

/// `concord serve`: keeps the repositories of a configuration in step until it is told to stop.
///
///     inotify, timer, SIGHUP, socket -> events -> agenda -> a look by a worker -> report
///
/// One actor owns all of it and takes one event after the other; what blocks is done by workers with threads of their
/// own. An error is caught in one place, around a look: it concerns that repository only.
public actor Daemon {
    enum Event: Sendable {
        /// The watch has changed owners to tell of.
        case refsChanged
        case alarm
        case signal(Signal)
        /// Someone asked; `nil` means all repositories.
        case look(String?)
        case moved(repository: String, MoveReport)
        case finished(repository: String, Look.Outcome, worker: Int)
    }

    private let configurationPath: String
    private var configuration: Configuration
    private let log: Log
    private let notify: ServiceNotify
    private let events: AsyncStream<Event>
    private let post: AsyncStream<Event>.Continuation
    private let watch: DirectoryWatch<String>
    private let alarm: Alarm
    private let board: StatusBoard
    private let stop = StopFlag()
    private let clock = ContinuousClock()
    private var agenda: Agenda<String>
    private var server: LocalServer?
    private var memos: [String: StepMemo] = [:]
    private var backoffs: [String: Backoff] = [:]
    private var workers: [Look.Worker] = []
    private var idle: [Int] = []
    private var running = 0
    private var stopDeadline: ContinuousClock.Instant?
    private var lastStatus = ""

    /// After a failure: the first pause and the longest.
    static let retryFirst = Duration.seconds(1), retryLongest = Duration.seconds(300)
    /// A look that has made no step for so long is stuck, and the watchdog is no longer fed.
    static let stepSecondsMax = 300
    /// So many held places of a sync are logged one by one; the status names all of them.
    static let heldLinesMax = 20
    /// After SIGTERM, looks may finish their step for so long; then they are abandoned, which is safe at any moment.
    static let stopSecondsMax = 20

    /// Reads the configuration and prepares everything that can fail.
    /// - Throws: `ConfigurationError`, or `SystemError` when a socket or a watch is not to be had.
    public init(configurationPath: String, log: Log, notify: ServiceNotify) throws {
        let configuration = try Configuration(reading: configurationPath)
        let (events, post) = AsyncStream.makeStream(of: Event.self)
        let board = StatusBoard()
        server = try configuration.socket.map { try Self.listen(at: $0, board, post) }
        // Both rings are bounded: the watch rings once until its news are taken, the alarm once until it is set again.
        watch = try DirectoryWatch { post.yield(.refsChanged) }
        alarm = Alarm { post.yield(.alarm) }
        agenda = Agenda(quiet: configuration.quiet, rescan: configuration.rescan)
        self.configurationPath = configurationPath
        self.configuration = configuration
        (self.log, self.notify, self.board) = (log, notify, board)
        (self.events, self.post) = (events, post)
    }

    /// Runs until `signals` says to stop, and returns the exit code.
    public func run(signals: AsyncStream<Signal>) async -> Int32 {
        Signal.ignoreBrokenPipes()
        adopt(configuration, at: clock.now)
        log(.notice, "started", ["repositories": "\(configuration.repositories.count)", "configuration": configurationPath])
        notify.ready(status: "Looking at \(configuration.repositories.count) repositories")
        await withDiscardingTaskGroup { group in
            group.addTask { [post] in
                for await signal in signals { post.yield(.signal(signal)) }
            }
            begin(&group)
            for await event in events {
                take(event)
                begin(&group)
                if stopDeadline != nil && running == 0 { break }
            }
            group.cancelAll()
        }
        log(.notice, "stopped")
        return 0
    }

    // MARK: Events

    private func take(_ event: Event) {
        let now = clock.now
        switch event {
        case .refsChanged:
            for name in watch.takeChanged() { agenda.note(name, at: now) }
        case .alarm:
            if let stopDeadline, stopDeadline <= now { abandon() }
        case .signal(.hangup): reload(at: now)
        case .signal(.terminate), .signal(.interrupt):
            if stopDeadline != nil { abandon() }
            log(.notice, "stopping", ["looks": "\(running)"])
            notify.stopping()
            stop.raise()
            stopDeadline = now + .seconds(Self.stopSecondsMax)
        case .look(let name):
            for repository in configuration.repositories where name == nil || repository.name == name { agenda.hurry(repository.name, at: now) }
        case .moved(let name, let move):
            log(.notice, move.isPlanned ? "would-move" : "moved", [
                "repository": name, "branch": move.target.shorthand, "kind": move.kind, "from": move.from.short,
                "to": move.isPlanned ? nil : move.to.short, "held": move.held.isEmpty ? nil : "\(move.held.count)", "lost": move.lostCount == 0 ? nil : "\(move.lostCount)",
                "subject": move.subject,
            ])
            if var status = board[name], !move.isPlanned {
                status.lastMove = move
                status.moveCount += 1
                board.post(status)
            }
        case .finished(let name, let outcome, let worker):
            running -= 1
            if worker < configuration.workers { idle.append(worker) }
            conclude(name, outcome, at: now)
        }
    }

    /// Begins the looks that are due, as far as there are workers, and sets the alarm for the next.
    private func begin(_ group: inout DiscardingTaskGroup) {
        let now = clock.now
        if stopDeadline == nil {
            for name in agenda.due(at: now) {
                guard let worker = idle.popLast() else { break }
                guard let settings = configuration.repositories.first(where: { $0.name == name }) else { continue }
                agenda.begin(name)
                running += 1
                let look = Look(
                    settings: settings, committer: configuration.committer, signing: configuration.signing, memo: memos[name] ?? StepMemo(),
                    watch: watch, stop: stop)
                let hand = workers[worker]
                group.addTask { [post] in
                    let outcome = await hand.run(look) { post.yield(.moved(repository: name, $0)) }
                    post.yield(.finished(repository: name, outcome, worker: worker))
                }
            }
        }
        feedWatchdog()
        let watchdog = notify.watchdogPeriod.map { now + $0 / 2 }
        // With all workers busy, what is due waits for one of them, not for the clock.
        let next = stopDeadline == nil && !idle.isEmpty ? agenda.next : nil
        alarm.set(after: [next, watchdog, stopDeadline].compactMap { $0 }.min().map { $0 - now })
    }

    private func conclude(_ name: String, _ outcome: Look.Outcome, at now: ContinuousClock.Instant) {
        guard var status = board[name] else { return }
        var retry: Duration?
        status.lookCount += 1
        status.lastLook = wallClockSeconds()
        memos[name] = outcome.memo
        switch outcome.result {
        case .success(let report):
            backoffs[name] = nil
            let reasons = report.blocked.map { "\($0.step): \($0.why)" }
                + report.missing.map { "there is no branch \($0.branch.shorthand), which [sync \"\($0.rule)\"] names" }
            let isNews: Bool
            if case .blocked(let before) = status.condition { isNews = before != reasons } else { isNews = true }
            status.condition = reasons.isEmpty ? .inStep : .blocked(reasons)
            for reason in reasons where isNews { log(.warning, "blocked", ["repository": name, "why": reason]) }
            for (step, places) in report.held where !status.held.contains(where: { $0.step == step && $0.places == places }) {
                for place in places.prefix(Self.heldLinesMax) { log(.warning, "held", ["repository": name, "sync": step, "place": place.description]) }
                if places.count > Self.heldLinesMax {
                    log(.warning, "held", ["repository": name, "sync": step, "more": "\(places.count - Self.heldLinesMax)"])
                }
            }
            status.held = report.held
            for remark in report.remarks { log(.warning, "ignored", ["repository": name, "why": remark]) }
        case .failure(let error):
            var backoff = backoffs[name] ?? Backoff(first: Self.retryFirst, longest: Self.retryLongest)
            let pause = backoff.next()
            backoffs[name] = backoff
            retry = pause
            status.condition = .failing(error.description, retrySeconds: Int(pause / .seconds(1)))
            log(.error, "failed", ["repository": name, "why": error.description, "retry": "\(Int((pause / .milliseconds(1)).rounded())) ms"])
        }
        agenda.end(name, at: now, retry: retry)
        board.post(status)
        sayStatus()
    }

    private func sayStatus() {
        let summary = board.summary
        guard summary != lastStatus, stopDeadline == nil else { return }
        lastStatus = summary
        notify.status(summary)
    }

    /// Pings only while there is progress: this loop is running, and no worker has been in one step for too long.
    private func feedWatchdog() {
        guard notify.watchdogPeriod != nil else { return }
        let stuck = workers.filter { $0.pulse.secondsInStep > Self.stepSecondsMax }
        guard stuck.isEmpty else { return log(.error, "stuck", ["workers": "\(stuck.count)"]) }
        notify.watchdog()
    }

    /// Leaves without waiting for the looks under way. Safe at any moment: objects are written first, and a ref moves in one step.
    private func abandon() -> Never {
        log(.warning, "abandoned", ["looks": "\(running)"])
        server = nil
        exitProcess(code: 0)
    }
}

// Configurations, the first and later ones.
extension Daemon {
    private func reload(at now: ContinuousClock.Instant) {
        notify.reloading()
        do {
            let fresh = try Configuration(reading: configurationPath)
            if fresh.socket != configuration.socket {
                server = nil
                server = try fresh.socket.map { try Self.listen(at: $0, board, post) }
            }
            board.refuse([])
            adopt(fresh, at: now)
            // Who reloads has often mended something outside of the file: a permission, safe.directory, a repository that moved.
            for repository in fresh.repositories { agenda.hurry(repository.name, at: now) }
            log(.notice, "reloaded", ["repositories": "\(fresh.repositories.count)"])
        } catch {
            let faults = (error as? ConfigurationError)?.faults.map(\.description) ?? ["\(error)"]
            for fault in faults { log(.error, "refused", ["configuration": fault]) }
            log(.error, "kept", ["why": "the new configuration was refused, the old one is running"])
            board.refuse(faults)
        }
        lastStatus = board.summary
        notify.ready(status: lastStatus)
    }

    /// Makes `fresh` the configuration that counts. Repositories that are in both keep their state.
    private func adopt(_ fresh: Configuration, at now: ContinuousClock.Instant) {
        let old = Dictionary(configuration.repositories.map { ($0.name, $0) }) { $1 }
        for name in old.keys where !fresh.repositories.contains(where: { $0.name == name }) {
            agenda.remove(name)
            watch.forget(name)
            board.remove(name)
            memos[name] = nil
            backoffs[name] = nil
        }
        for settings in fresh.repositories {
            let isChanged = old[settings.name] != settings || fresh.committer != configuration.committer || fresh.signing != configuration.signing
            if old[settings.name]?.path != settings.path { watch.forget(settings.name) }
            if isChanged { memos[settings.name] = nil }
            agenda.add(settings.name, at: now)
            if isChanged { agenda.hurry(settings.name, at: now) }
            if board[settings.name]?.path != settings.path { board.post(RepositoryStatus(name: settings.name, path: settings.path)) }
        }
        agenda.quiet = fresh.quiet
        agenda.rescan = fresh.rescan
        while workers.count < fresh.workers {
            workers.append(Look.Worker(number: workers.count))
            idle.append(workers.count - 1)
        }
        // Workers beyond the number stay, unused: they have no thread while they have no work.
        let known = Set(idle)
        idle = idle.filter { $0 < fresh.workers }
        if fresh.workers > configuration.workers {
            idle += (configuration.workers..<min(fresh.workers, workers.count)).filter { !known.contains($0) && workers[$0].pulse.secondsInStep < 0 }
        }
        configuration = fresh
    }

    private static func listen(at path: String, _ board: StatusBoard, _ post: AsyncStream<Event>.Continuation) throws(SystemError) -> LocalServer {
        try LocalServer(path: path) { request in
            let words = request.split(separator: " ", maxSplits: 1).map(String.init)
            switch (words.first, words.dropFirst().first) {
            case ("status", nil): return board.table(now: wallClockSeconds())
            case ("status", "json"): return board.json
            case ("look", let name):
                guard name == nil || board[name ?? ""] != nil else { return "no such repository\n" }
                post.yield(.look(name))
                return "ok\n"
            default: return "not understood\n"
            }
        }
    }
}

/// One look at one repository, ready to be done by a worker.
struct Look: Sendable {
    let settings: RepositorySettings
    let committer: Configuration.Person
    let signing: CommitSigning?
    let memo: StepMemo
    let watch: DirectoryWatch<String>
    let stop: StopFlag

    struct Outcome: Sendable {
        let memo: StepMemo
        let result: Result<PassReport, GitError>
    }

    /// Does looks on a thread of its own, one at a time.
    final class Worker: Sendable {
        private let thread: BlockingThread
        let pulse = Pulse()

        init(number: Int) { thread = BlockingThread(label: "concord.worker.\(number)") }

        func run(_ look: Look, moved: @escaping @Sendable (MoveReport) -> Void) async -> Outcome {
            await thread.run { [pulse] in
                pulse.begin()
                defer { pulse.end() }
                return look.run(pulse, moved)
            }
        }
    }

    private func run(_ pulse: Pulse, _ moved: @escaping @Sendable (MoveReport) -> Void) -> Outcome {
        var memo = memo
        do throws(GitError) {
            let pass = Pass(
                settings: settings, committer: committer, signing: signing,
                isStopped: {
                    pulse.begin()
                    return stop.isRaised
                }, moved: moved, opened: listen)
            let report = try pass.run(&memo)
            return Outcome(memo: memo, result: .success(report))
        } catch {
            return Outcome(memo: memo, result: .failure(error))
        }
    }

    /// Watches before the first look at the refs, so that nothing falls between; and again at every look, in case the
    /// repository was replaced. A watch that is not to be had costs latency: the rescan remains.
    private func listen(to gitDirectory: String) {
        let top = String(gitDirectory.reversed().drop { $0 == "/" }.reversed())
        try? watch.watch(.init(path: top, names: ["packed-refs"], isRecursive: false), for: settings.name)
        try? watch.watch(.init(path: top + "/refs/heads", isRecursive: true), for: settings.name)
        // A decision of a person may be all that a sync waits for.
        try? watch.watch(.init(path: top + "/refs/concord", names: ["resolutions"], isRecursive: false), for: settings.name)
    }
}

/// Since when a worker has been in its present step.
final class Pulse: Sendable {
    private let since = Atomic<Int64>(-1)

    func begin() { since.store(monotonicSeconds(), ordering: .relaxed) }
    func end() { since.store(-1, ordering: .relaxed) }

    /// -1 while there is nothing to do.
    var secondsInStep: Int {
        let since = since.load(ordering: .relaxed)
        return since < 0 ? -1 : Int(monotonicSeconds() - since)
    }
}

/// Goes up once, when the process is to end.
final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)
    func raise() { flag.store(true, ordering: .relaxed) }
    var isRaised: Bool { flag.load(ordering: .relaxed) }
}
