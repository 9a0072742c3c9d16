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

    /// So many lost races in a row end a pass; it is tried again later.
    static let racesMax = 20
    /// A branch that moves so often in one pass, by our own doing, would never come to rest: a bug, and no reason to fill a disk.
    static let movesOfOneBranchMax = 40

    /// - Parameter memo: what earlier passes found out about the same tips.
    func run(_ memo: inout StepMemo) throws(GitError) -> PassReport {
        let repository = try Repository(opening: settings.path)
        // What an earlier process of ours had locked when it was killed would keep everybody from pushing.
        if !settings.isDryRun { repository.releaseDeadLocks() }
        opened(repository.gitDirectory)
        var report = PassReport()
        var pause = Backoff(first: .milliseconds(5), longest: .milliseconds(500))
        var moves: [RefName: Int] = [:]
        var steps: [Step] = [], next = 0
        var isPast = true
        // The branches that moved since the refs were read: what was planned for them is past.
        var moved: Set<RefName> = []
        let remembered = RememberedResolutions(repository)
        let resolutions = try remembered.byFile(&memo)
        let files = LocalizedFiles(repository, bytesMax: settings.catalogBytesMax)
        // What is only planned is not written.
        var planned: LocalizedFiles?
        var settled: [StepMemo.Key: StepMemo.Finding] = [:]
        var fault: GitError?
        while !isStopped() {
            if isPast {
                (steps, report.missing) = plan(settings.rules, tips: try repository.refs(under: "refs/heads/"))
                memo.keep(steps)
                (isPast, next, moved) = (false, 0, [])
            }
            while next < steps.count, moved.contains(steps[next].target.name) || moved.contains(steps[next].source.name)
                || settled[.init(steps[next])] != nil || memo[steps[next]] != nil { next += 1 }
            guard next < steps.count else {
                isPast = !moved.isEmpty
                if isPast { continue }
                report.conclude(steps, memo, settled)
                if let fault { throw fault }
                return report
            }
            let step = steps[next]
            let isDryRun = settings.isDryRun || step.rule.isDryRun
            if isDryRun, planned == nil {
                planned = LocalizedFiles(try Repository(opening: settings.path, keepingObjects: false), bytesMax: settings.catalogBytesMax)
            }
            var reconciliation = Reconciliation(
                files: (isDryRun ? planned : nil) ?? files, settings: settings, committer: committer, signing: signing, isDryRun: isDryRun, now: wallClockSeconds(), resolutions: resolutions)
            do throws(GitError) {
                for remark in try reconciliation.followTree(of: step) where !report.remarks.contains(remark) { report.remarks.append(remark) }
                switch try reconciliation.verdict(on: step) {
                case .inStep(let held, let losses):
                    let by = Signature(name: committer.name, email: committer.email, seconds: wallClockSeconds())
                    let swap = isDryRun ? .swapped : try Ledger(repository).appendNew(losses, by: by)
                    guard swap == .swapped else { throw GitError(.locked, stage: "record the losses of \(step)", detail: "others are writing the ledger, or have left a lock on it") }
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
                    switch try apply(move, in: repository) {
                    case .swapped:
                        let news = MoveReport(move, isPlanned: false)
                        report.moves.append(news)
                        self.moved(news)
                        moved.insert(step.target.name)
                        moves[step.target.name, default: 0] += 1
                        guard moves[step.target.name, default: 0] <= Self.movesOfOneBranchMax else {
                            throw GitError(.limit, stage: "sync \(step)", detail: "\(step.target.name.shorthand) moved \(Self.movesOfOneBranchMax) times in one pass and does not come to rest")
                        }
                        pause.reset()
                    case .lost:
                        // Another writer won the race. Its commit becomes our new `ours`, so the plan must be made again.
                        report.races += 1
                        guard pause.tries < Self.racesMax else {
                            throw GitError(.modified, stage: "sync \(step)", detail: "other writers were faster \(Self.racesMax) times in a row")
                        }
                        Linux.pause(for: pause.next())
                        isPast = true
                    case .locked(let path, let ageSeconds):
                        throw GitError(
                            .locked, stage: "sync \(step)",
                            detail: "\(path) is held by another process for \(ageSeconds) s; if none is running, remove the file")
                    }
                }
            } catch where error.kind != .limit {
                // What is wrong with one branch keeps no other from its sync; it is told when these are done.
                settled[.init(step)] = .inStep(held: [])
                let isNamed = error.stage.hasPrefix("sync ")
                fault = fault ?? (isNamed ? error : GitError(error.kind, stage: "sync \(step)", detail: error.description))
                pause.reset()
                isPast = true
            }
        }
        if let fault { throw fault }
        report.isStopped = true
        return report
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
        for step in steps {
            switch memo[step] ?? settled[.init(step)] {
            case .blocked(let why)?: blocked.append((step.description, why))
            case .inStep(let places)?: wait(for: places, step)
            case nil: break
            }
        }
        held.removeAll { $0.places.isEmpty }
    }

    /// A place that waits both on the way there and on the way back is listed once.
    private mutating func wait(for places: [Held], _ step: Step) {
        let there = "\(step.target.name.shorthand) into \(step.source.name.shorthand)", both = there + " and back"
        let known = held.first { $0.step == there }?.places ?? []
        let twice = known.filter { one in places.contains { $0.isSamePlace(as: one) } }
        guard let at = held.firstIndex(where: { $0.step == there }), !twice.isEmpty else { return held.append((step.description, places)) }
        held[at].places.removeAll { one in twice.contains { $0.isSamePlace(as: one) } }
        held.insert((both, twice), at: at)
        held.append((step.description, places.filter { one in !twice.contains { $0.isSamePlace(as: one) } }))
    }
}
