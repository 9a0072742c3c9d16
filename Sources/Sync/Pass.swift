import Git
import Linux

/// Brings one repository into step: looks, plans, works out one step at a time, and compares-and-swaps, until nothing is to be done.
struct Pass {
    let settings: RepositorySettings
    let committer: Configuration.Person
    var signing: CommitSigning? = nil
    /// Asked between steps; a pass that is stopped leaves nothing half done.
    let isStopped: @Sendable () -> Bool
    /// Hears of each move as it happens.
    let moved: @Sendable (MoveReport) -> Void
    /// Hears where the refs are, before they are first looked at.
    var opened: @Sendable (String) -> Void = { _ in }

    /// - Parameter memo: what earlier passes found out about the same tips.
    func run(_ memo: inout StepMemo) throws(GitError) -> PassReport {
        let repository = try Repository(opening: settings.path)
        // What an earlier process of ours had locked when it was killed would keep everybody from pushing.
        if !settings.isDryRun { repository.releaseDeadLocks() }
        opened(repository.gitDirectory)
        var report = PassReport()
        var limits = PassLimits()
        var swapped = true
        var tips: [Ref] = []
        let remembered = RememberedResolutions(repository)
        let resolutions = try remembered.byFile(&memo)
        let files = LocalizedFiles(repository, bytesMax: settings.catalogBytesMax)
        // What is only planned is not written. Opened when it is needed, and then for the whole pass.
        lazy var planned = Result { () throws(GitError) in
            LocalizedFiles(try Repository(opening: settings.path, keepingObjects: false), bytesMax: settings.catalogBytesMax)
        }
        var settled: [StepMemo.Key: StepMemo.Finding] = [:]
        while !isStopped() {
            if swapped { tips = try repository.refs(under: "refs/heads/") }
            swapped = false
            let (steps, missing) = plan(settings.rules, tips: tips)
            report.missing = missing
            memo.keep(steps)
            guard let step = steps.first(where: { settled[.init($0)] == nil && memo[$0] == nil }) else {
                report.conclude(steps, memo, settled)
                return report
            }
            let isDryRun = settings.isDryRun || step.rule.isDryRun
            var reconciliation = Reconciliation(
                files: isDryRun ? try planned.get() : files, settings: settings, committer: committer, signing: signing, isDryRun: isDryRun,
                now: wallClockSeconds(), resolutions: resolutions)
            for remark in try reconciliation.followTree(of: step) where !report.remarks.contains(remark) { report.remarks.append(remark) }
            switch try reconciliation.verdict(on: step) {
            case .inStep(let held, let losses):
                if !isDryRun { try record(losses, of: step, in: repository) }
                memo[step] = .inStep(held: held)
            case .blocked(let why): memo[step] = .blocked(why)
            case .move(let move) where isDryRun:
                report.moves.append(MoveReport(move, isPlanned: true))
                settled[.init(step)] = .inStep(held: move.held)
            case .move(let move):
                // Git would not notice that a branch moved under a work tree: its next commit there would undo the sync.
                if let place = try repository.checkedOutBranches().first(where: { $0.branch == step.target.name }) {
                    settled[.init(step)] = .blocked("\(step.target.name.shorthand) is checked out in \(place.workTree), and a branch is not moved under a work tree")
                    continue
                }
                let swap = try apply(move, in: repository)
                switch swap {
                case .swapped:
                    let news = MoveReport(move, isPlanned: false)
                    report.moves.append(news)
                    moved(news)
                case .lost: report.races += 1
                case .locked: break
                }
                try limits.proceed(after: swap, of: step)
                swapped = true
            }
        }
        report.isStopped = true
        return report
    }

    private func record(_ losses: [LedgerRecord], of step: Step, in repository: Repository) throws(GitError) {
        let by = Signature(name: committer.name, email: committer.email, seconds: wallClockSeconds())
        guard try Ledger(repository).appendNew(losses, by: by) == .swapped else {
            throw GitError(.locked, stage: "record the losses of \(step)", detail: "others are writing the ledger, or have left a lock on it")
        }
    }

    /// Moves the ref. What it drops is in the ledger before, and the base of the next merge in its place: should this process die
    /// in between, something unused is left, which harms nobody. Both happen under the lock of the target, so that a race that is
    /// lost records nothing.
    private func apply(_ move: Move, in repository: Repository) throws(GitError) -> Swap {
        let by = Signature(name: committer.name, email: committer.email, seconds: wallClockSeconds())
        return try repository.compareAndSwap(
            move.step.target.name, from: move.step.target.tip, to: move.commit, by: by, reflog: "concord: \(move.subject)"
        ) { () throws(GitError) in
            if let base = move.base, let ref = Self.baseRef(move.step) {
                let before = try repository.tip(of: ref)
                let swap = try repository.compareAndSwap(ref, from: before, to: base, by: by, reflog: "concord: base of \(move.step)")
                guard swap == .swapped else { return swap }
            }
            return try Ledger(repository).append(move.records, by: by)
        }
    }

    /// Slashes are escaped, so that no name is in another's way as a directory.
    static func baseRef(_ step: Step) -> RefName? {
        func flat(_ name: RefName) -> String {
            name.shorthand.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%25")
                .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "%2F")
        }
        return RefName("refs/concord/base/\(flat(step.target.name))/\(flat(step.source.name))")
    }
}

/// What keeps a pass from going on for ever: bounds, and pauses after lost races.
private struct PassLimits {
    /// So many lost races in a row end a pass; it is tried again later.
    private static let racesMax = 20
    /// A branch that moves so often in one pass, by our own doing, would never come to rest: a bug, and no reason to fill a disk.
    private static let movesOfOneBranchMax = 40

    private var pause = Backoff(first: .milliseconds(5), longest: .milliseconds(500))
    private var moves: [RefName: Int] = [:]

    /// Lets the pass go on after the move of a step, or ends it with the reason.
    mutating func proceed(after swap: Swap, of step: Step) throws(GitError) {
        let stage = "sync \(step)"
        switch swap {
        case .swapped:
            moves[step.target.name, default: 0] += 1
            guard moves[step.target.name, default: 0] <= Self.movesOfOneBranchMax else {
                let name = step.target.name.shorthand
                throw GitError(.limit, stage: stage, detail: "\(name) moved \(Self.movesOfOneBranchMax) times in one pass and does not come to rest")
            }
            pause.reset()
        case .lost:
            // Another writer won the race. Its commit becomes our new `ours`, so the plan must be made again.
            guard pause.tries < Self.racesMax else {
                throw GitError(.modified, stage: stage, detail: "other writers were faster \(Self.racesMax) times in a row")
            }
            Linux.pause(for: pause.next())
        case .locked(let path, let ageSeconds):
            throw GitError(.locked, stage: stage, detail: "\(path) is held by another process for \(ageSeconds) s; if none is running, remove the file")
        }
    }
}

/// What is known about steps between given tips. A merge depends on nothing else, so a finding holds until a tip moves.
///
/// A memo, not state: forgetting it costs time, and it is never written down.
struct StepMemo: Sendable {
    struct Key: Hashable, Sendable {
        let step: Step
        init(_ step: Step) { self.step = step }
    }

    enum Finding: Sendable {
        case inStep(held: [Held])
        case blocked(String)
    }

    private var findings: [Key: Finding] = [:]
    /// The decisions of people that the findings were made with.
    private var resolutions: ObjectID?

    subscript(step: Step) -> Finding? {
        get { findings[Key(step)] }
        set { findings[Key(step)] = newValue }
    }

    /// Forgets everything if people have decided something since.
    mutating func keep(madeWith resolutions: ObjectID?) {
        if self.resolutions != resolutions { findings = [:] }
        self.resolutions = resolutions
    }

    /// Forgets what is about other tips.
    mutating func keep(_ steps: [Step]) {
        let keys = Set(steps.map(Key.init))
        findings = findings.filter { keys.contains($0.key) }
    }
}

/// A branch that was moved, or in a dry run would be.
public struct MoveReport: Sendable, Hashable {
    public let target: RefName
    public let source: RefName
    public let from: ObjectID
    /// Equal to `from` when it was only planned.
    public let to: ObjectID
    /// `fast-forward`, `merge` or `partial`.
    public let kind: String
    public let subject: String
    public let held: [Held]
    /// How many texts it dropped; they are in the ledger.
    public let lostCount: Int
    public let isPlanned: Bool

    init(_ move: Move, isPlanned: Bool) {
        (target, source, from, to) = (move.step.target.name, move.step.source.name, move.step.target.tip, move.commit)
        (kind, subject, held, self.isPlanned) = (move.kind.rawValue, move.subject, move.held, isPlanned)
        lostCount = move.records.count { if case .lost = $0 { true } else { false } }
    }
}

/// What a pass did and what it found.
public struct PassReport: Sendable {
    /// In order.
    public internal(set) var moves: [MoveReport] = []
    /// How often another writer was faster.
    public internal(set) var races = 0
    /// Syncs that wait for a person, with the reason.
    public internal(set) var blocked: [(step: String, why: String)] = []
    /// Places that wait for a person, by sync.
    public internal(set) var held: [(step: String, places: [Held])] = []
    /// Branches that rules name and that are not there.
    public internal(set) var missing: [MissingBranch] = []
    /// What in the `.concord` of a tree was not understood.
    public internal(set) var remarks: [String] = []
    /// It was asked to stop before it was done.
    public internal(set) var isStopped = false

    mutating func conclude(_ steps: [Step], _ memo: StepMemo, _ settled: [StepMemo.Key: StepMemo.Finding]) {
        var waiting: [(step: Step, places: [Held])] = []
        for step in steps {
            switch memo[step] ?? settled[.init(step)] {
            case .blocked(let why)?: blocked.append((step.description, why))
            case .inStep(let places)?: waiting.append((step, places))
            case nil: break
            }
        }
        held = Self.listed(waiting)
    }

    /// What waits, each place once: what waits on the way there and on the way back is one.
    private static func listed(_ waiting: [(step: Step, places: [Held])]) -> [(step: String, places: [Held])] {
        func has(_ places: [Held]?, _ place: Held) -> Bool { places?.contains { $0.file == place.file && $0.leaf == place.leaf } ?? false }
        var listed: [(step: String, places: [Held])] = []
        for (i, (step, places)) in waiting.enumerated() {
            func isOtherWay(_ other: (step: Step, places: [Held])) -> Bool {
                other.step.source.name == step.target.name && other.step.target.name == step.source.name
            }
            let before = waiting[..<i].first(where: isOtherWay)?.places
            let after = waiting[i...].first(where: isOtherWay)?.places
            listed.append(("\(step) and back", places.filter { has(after, $0) && !has(before, $0) }))
            listed.append((step.description, places.filter { !has(after, $0) && !has(before, $0) }))
        }
        return listed.filter { !$0.places.isEmpty }
    }
}
