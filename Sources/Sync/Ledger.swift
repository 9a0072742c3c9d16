import Git
import StringCatalog

// What syncs dropped and decided, for ever, in the repository itself.
//
// `refs/concord/ledger` is a line of commits of its own. Each sync that drops a text or decides a tie appends one file:
//
//     records/3f/9a0c…      one JSON object a line; the name is that of the blob
//
//     {"what": "lost", "file": "Localizable.xcstrings", "key": "Hello", "language": "fr", "field": "stringUnit.value",
//      "text": "Salut", "from": "ours", "base": "Allô", "ours": "Salut", "theirs": "Bonjour", "rule": "text: the …",
//      "commit": "7f0c…", "target": "refs/heads/main", "source": "refs/heads/l10n/fr", "time": 1764492000}
//
// Files are named by their content, only added, and never changed: two daemons that append at once, or two clones that did,
// cannot contradict each other, and a tree with the files of both is the ledger of both. Packing puts many files into one,
// line by line; a line that stands twice counts once.
//
// The ledger is written under the lock of the branch that is about to lose the text: a crash leaves a record too many at worst.

/// A text that a sync dropped.
public struct LostText: Hashable, Sendable {
    /// The catalog's path at the time.
    public let file: String
    public let leaf: LeafPath
    public let text: String
    /// `ours` if it stood on the target, `theirs` if on the source.
    public let from: String
    /// What the three sides had at this place; `nil` where nothing was.
    public let base, ours, theirs: String?
    /// The rule that dropped it.
    public let rule: String
    public let sync: SyncMark
}

/// A decision of a sync that was more than "only one side changed it".
public struct RecordedDecision: Hashable, Sendable {
    public let file: String
    public let leaf: LeafPath
    public let rule: String
    /// What came out, in a few words.
    public let outcome: String
    public let sync: SyncMark
}

/// Which sync a record is of.
public struct SyncMark: Hashable, Sendable {
    /// The commit that the target moved to.
    public let commit: ObjectID
    public let target: RefName
    public let source: RefName
    /// Seconds since 1970.
    public let seconds: Int64
}

/// One line of the ledger.
public enum LedgerRecord: Hashable, Sendable {
    case lost(LostText)
    case decided(RecordedDecision)

    public var sync: SyncMark {
        switch self {
        case .lost(let text): text.sync
        case .decided(let decision): decision.sync
        }
    }
}

/// The ledger of one repository.
public struct Ledger {
    let repository: Repository

    public static let ref = RefName("refs/concord/ledger")!
    private static let folder = "records"
    /// A file that packing writes has at most so many lines.
    static let packedLinesMax = 20_000
    /// A larger file is no part of a ledger.
    private static let fileBytesMax = 256 << 20
    /// So many other writers in a row may be faster.
    private static let racesMax = 100

    public init(_ repository: Repository) { self.repository = repository }

    /// What the ledger says.
    public struct Contents: Sendable {
        /// Newest first.
        public var records: [LedgerRecord] = []
        /// Lines that cannot be read; they stay in the ledger.
        public var damagedLines: [String] = []

        public var losses: [LostText] { records.compactMap { if case .lost(let text) = $0 { text } else { nil } } }
        public var decisions: [RecordedDecision] { records.compactMap { if case .decided(let decision) = $0 { decision } else { nil } } }
    }

    /// All that was recorded; nothing where there is no ledger.
    public func contents() throws(GitError) -> Contents {
        var contents = Contents()
        for line in try lines() {
            guard let record = LedgerRecord(line: line) else {
                contents.damagedLines.append(line)
                continue
            }
            contents.records.append(record)
        }
        contents.records = contents.records.enumerated()
            .sorted { ($1.element.sync.seconds, $0.offset) < ($0.element.sync.seconds, $1.offset) }.map(\.element)
        return contents
    }

    /// Adds records. Nothing happens where there are none, or where these very records are there.
    ///
    /// Gives `.lost` or `.locked` only if that lasts; other writers of the ledger are waited for.
    public func append(_ records: [LedgerRecord], by committer: Signature) throws(GitError) -> Swap {
        guard !records.isEmpty else { return .swapped }
        let entry = try file(of: records.map(\.line))
        let losses = records.count { if case .lost = $0 { true } else { false } }
        let subject = "Record \(SyncMessage.counted(losses, "lost text")) and \(SyncMessage.counted(records.count - losses, "decision"))"
        return try change(subject, by: committer) { _ in [.put(entry)] }
    }

    /// Adds those losses of which the ledger does not have the very text at the very place yet; other records are not added. For
    /// looks that find the same loss again and again.
    func appendNew(_ records: [LedgerRecord], by committer: Signature) throws(GitError) -> Swap {
        struct Place: Hashable {
            let file: [UInt8], leaf: LeafPath, text: [UInt8]
            init(_ lost: LostText) { (file, leaf, text) = (Array(lost.file.utf8), lost.leaf, Array(lost.text.utf8)) }
        }
        let losses = records.compactMap { if case .lost(let lost) = $0 { lost } else { nil } }
        guard !losses.isEmpty else { return .swapped }
        let known = Set(try contents().losses.map(Place.init))
        return try append(losses.filter { !known.contains(Place($0)) }.map { .lost($0) }, by: committer)
    }

    /// Puts the lines of all files into as few as possible. Says how many files became how many. Nothing is lost: lines that
    /// cannot be read stay too, and what others append meanwhile stays beside it.
    public func pack(by committer: Signature) throws(GitError) -> (before: Int, after: Int, swap: Swap) {
        var counts = (before: 0, after: 0)
        let swap = try change("Pack the ledger", by: committer) { tree throws(GitError) in
            let files = try self.files(in: tree)
            let lines = try self.lines(in: files)
            var packed: [TreeEntry] = []
            for start in stride(from: 0, to: lines.count, by: Self.packedLinesMax) {
                packed.append(try file(of: Array(lines[start..<min(start + Self.packedLinesMax, lines.count)])))
            }
            counts = (files.count, packed.count)
            let paths = Set(packed.map(\.path))
            return files.filter { !paths.contains($0.path) }.map { .remove($0.path) } + packed.map { .put($0) }
        }
        return (counts.before, counts.after, swap)
    }

    // MARK: Files

    /// Makes a commit on the ledger and moves its ref, again if others were faster.
    private func change(
        _ subject: String, by committer: Signature, _ edits: (ObjectID?) throws(GitError) -> [TreeEdit]
    ) throws(GitError) -> Swap {
        var races = 0
        while true {
            let tip = try repository.tip(of: Self.ref)
            let before = try tip.flatMapThrowing { tip throws(GitError) in try repository.tree(of: tip) }
            let after = try repository.write(tree: before, with: edits(before))
            guard after != before else { return .swapped }
            let commit = try repository.write(
                commit: after, parents: [tip].compactMap { $0 }, author: committer, committer: committer, message: subject + "\n")
            let swap = try repository.compareAndSwap(Self.ref, from: tip, to: commit, by: committer, reflog: "concord: \(subject)")
            guard case .lost = swap, races < Self.racesMax else { return swap }
            races += 1
        }
    }

    private func file(of lines: [String]) throws(GitError) -> TreeEntry {
        let blob = try repository.write(blob: Array((lines.joined(separator: "\n") + "\n").utf8))
        let hex = blob.hex
        // Two digits make folders of even size, as git's own.
        return TreeEntry(path: TreePath("\(Self.folder)/\(hex.prefix(2))/\(hex.dropFirst(2))")!, mode: .file, id: blob)
    }

    private func files(in tree: ObjectID?) throws(GitError) -> [TreeEntry] {
        guard let tree else { return [] }
        return try repository.files(in: tree) { $0.bytes.starts(with: (Self.folder + "/").utf8) }.filter { $0.mode.isFile }
    }

    private func lines() throws(GitError) -> [String] {
        guard let tip = try repository.tip(of: Self.ref) else { return [] }
        return try lines(in: files(in: repository.tree(of: tip)))
    }

    /// Each different line once, in the order of the files.
    private func lines(in files: [TreeEntry]) throws(GitError) -> [String] {
        // By bytes: two texts that differ only in how letters are composed are two.
        var seen: Set<[UInt8]> = []
        var lines: [String] = []
        for file in files {
            let bytes = try repository.blob(file.id, bytesMax: Self.fileBytesMax).array
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                if seen.insert(Array(line)).inserted { lines.append(String(decoding: line, as: UTF8.self)) }
            }
        }
        return lines
    }
}

// MARK: - Lines

extension LostText {
    /// The texts as one JSON array, one object a line, as they stand in the ledger.
    public static func json(_ texts: [LostText]) -> String {
        texts.isEmpty ? "[]\n" : "[\n  " + texts.map { LedgerRecord.lost($0).line }.joined(separator: ",\n  ") + "\n]\n"
    }
}

extension LedgerRecord {
    /// The record as one line of JSON.
    var line: String {
        switch self {
        case .lost(let lost):
            JSON.object([
                "what": .string("lost"), "file": .string(lost.file), "key": .string(ifPresent: lost.leaf.key),
                "language": .string(ifPresent: lost.leaf.language), "field": .string(ifPresent: lost.leaf.field), "text": .string(lost.text),
                "from": .string(lost.from), "base": .string(ifPresent: lost.base), "ours": .string(ifPresent: lost.ours),
                "theirs": .string(ifPresent: lost.theirs), "rule": .string(lost.rule), "commit": .string(lost.sync.commit.hex),
                "target": .string(lost.sync.target.full), "source": .string(lost.sync.source.full), "time": .number(Int(lost.sync.seconds)),
            ]).description
        case .decided(let decision):
            JSON.object([
                "what": .string("decided"), "file": .string(decision.file), "key": .string(ifPresent: decision.leaf.key),
                "language": .string(ifPresent: decision.leaf.language), "field": .string(ifPresent: decision.leaf.field),
                "rule": .string(decision.rule), "outcome": .string(decision.outcome), "commit": .string(decision.sync.commit.hex),
                "target": .string(decision.sync.target.full), "source": .string(decision.sync.source.full),
                "time": .number(Int(decision.sync.seconds)),
            ]).description
        }
    }

    /// `nil` for a line that is no record of a kind known here.
    init?(line: String) {
        guard let json = ParsedJSON(parsing: line), let file = json["file"]?.text, let rule = json["rule"]?.text,
            let commit = json["commit"]?.text.flatMap({ ObjectID(hex: $0) }), let target = json["target"]?.text.flatMap({ RefName($0) }),
            let source = json["source"]?.text.flatMap({ RefName($0) }), let seconds = json["time"]?.int
        else { return nil }
        let leaf = LeafPath(key: json["key"]?.text, language: json["language"]?.text, field: json["field"]?.text)
        let mark = SyncMark(commit: commit, target: target, source: source, seconds: Int64(seconds))
        switch json["what"]?.text {
        case "lost":
            guard let text = json["text"]?.text, let from = json["from"]?.text else { return nil }
            self = .lost(LostText(
                file: file, leaf: leaf, text: text, from: from, base: json["base"]?.text, ours: json["ours"]?.text,
                theirs: json["theirs"]?.text, rule: rule, sync: mark))
        case "decided":
            guard let outcome = json["outcome"]?.text else { return nil }
            self = .decided(RecordedDecision(file: file, leaf: leaf, rule: rule, outcome: outcome, sync: mark))
        default: return nil
        }
    }
}

// MARK: - From a merge

/// What is to be recorded of one catalog, before there is a commit to name.
struct MergeTrace {
    var losses: [(loss: Loss, base: String?, ours: String?, theirs: String?)] = []
    var decisions: [Decision] = []

    init() {}

    init(_ report: MergeReport, base: LocalizedFile?, ours: LocalizedFile, theirs: LocalizedFile) {
        losses = report.losses.filter { !$0.isHeldBack }.map {
            ($0, base?.value(at: $0.path), ours.value(at: $0.path), theirs.value(at: $0.path))
        }
        decisions = report.decisions
    }

    func records(file: TreePath, _ mark: SyncMark) -> [LedgerRecord] {
        losses.map { loss, base, ours, theirs in
            .lost(LostText(
                file: file.description, leaf: loss.path, text: loss.text, from: loss.from, base: base, ours: ours, theirs: theirs,
                rule: loss.rule, sync: mark))
        } + decisions.map { .decided(RecordedDecision(file: file.description, leaf: $0.path, rule: $0.rule, outcome: $0.outcome, sync: mark)) }
    }
}
