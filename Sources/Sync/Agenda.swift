/// When to look at which repository. Pure: it is told what happened and at what time, and keeps no clock.
///
/// Level-triggered: news only say "look". However many come before the look, or while it goes on, one look answers them.
struct Agenda<Name: Hashable & Comparable> {
    typealias Instant = ContinuousClock.Instant

    /// A repository that never falls quiet is looked at all the same after so many quiet periods.
    static var quietPeriodsMax: Int { 10 }

    private struct Item {
        /// The first and the last news that no look has answered.
        var news: (first: Instant, last: Instant)?
        var isUnderWay = false
        /// When to try again after a failure.
        var retry: Instant?
        var rescan: Instant
    }

    var quiet: Duration
    var rescan: Duration
    private var items: [Name: Item] = [:]

    init(quiet: Duration, rescan: Duration) {
        self.quiet = quiet
        self.rescan = rescan
    }

    /// A repository that is new is due at once.
    mutating func add(_ name: Name, at now: Instant) {
        if items[name] == nil { items[name] = Item(rescan: now) }
    }

    mutating func remove(_ name: Name) { items[name] = nil }

    /// Something may have changed.
    mutating func note(_ name: Name, at now: Instant) {
        guard let news = items[name]?.news else {
            items[name]?.news = (now, now)
            return
        }
        items[name]?.news = (news.first, now)
    }

    /// Someone asked for a look without delay.
    mutating func hurry(_ name: Name, at now: Instant) {
        items[name]?.rescan = now
        items[name]?.retry = nil
    }

    /// The repositories to look at now, the longest due first. `begin` those that can be begun.
    func due(at now: Instant) -> [Name] {
        items.compactMap { name, item in dueTime(item).map { (name, $0) } }.filter { $0.1 <= now }
            .sorted { ($0.1, $0.0) < ($1.1, $1.0) }.map(\.0)
    }

    /// A look begins, and answers all news until now.
    mutating func begin(_ name: Name) {
        items[name]?.news = nil
        items[name]?.retry = nil
        items[name]?.isUnderWay = true
    }

    /// The look ended. After a failure, `retry` says when to try again.
    mutating func end(_ name: Name, at now: Instant, retry: Duration?) {
        items[name]?.isUnderWay = false
        items[name]?.retry = retry.map { now + $0 }
        items[name]?.rescan = now + rescan
    }

    /// When `due` will next have something to say; `nil` when everything waits for the end of a look.
    var next: Instant? { items.values.compactMap(dueTime).min() }

    private func dueTime(_ item: Item) -> Instant? {
        guard !item.isUnderWay else { return nil }
        let news = item.news.map { min($0.last + quiet, $0.first + quiet * Self.quietPeriodsMax) }
        // News do not shorten the pause after a failure to less than it: a broken repository that changes all the time costs little.
        if let retry = item.retry { return retry }
        return [news, item.rescan].compactMap { $0 }.min()
    }
}
