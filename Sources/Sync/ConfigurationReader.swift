import Git
import Linux
import StringCatalog

extension Configuration {
    /// Reads and checks the file at `path`. All faults are found before any is reported.
    public init(reading path: String) throws(ConfigurationError) {
        let entries: [ConfigEntry]
        do {
            entries = try ConfigFile.read(path)
        } catch {
            throw ConfigurationError(faults: [.init(file: path, line: nil, sentence: error.detail)])
        }
        var reader = ConfigurationReader(file: path)
        for entry in entries { reader.read(entry) }
        self = try reader.finish()
    }

    /// The socket that a file names, whatever else is wrong in it; `nil` if it names none.
    /// - Throws: if it cannot be read as git reads a configuration.
    public static func socket(inFile path: String) throws(ConfigurationError) -> String? {
        do {
            return try ConfigFile.read(path).last { $0.key == "concord.socket" }?.value ?? Configuration().socket
        } catch {
            throw ConfigurationError(faults: [.init(file: path, line: nil, sentence: error.detail)])
        }
    }
}

/// Collects entries and faults, section by section.
private struct ConfigurationReader {
    let file: String
    var configuration = Configuration()
    var isDryRun = false
    var signing = (key: String?.none, format: CommitSigning.Format.openpgp, program: String?.none)
    /// Where a signature is spoken of.
    var signingLine: Int?
    var repositories: [Section<RepositorySettings>] = []
    var rules: [Section<Rule>] = []
    var faults: [ConfigurationError.Fault] = []

    /// A section with a name of its own, where it began, and which names it has set.
    struct Section<Value> {
        var value: Value
        let line: Int?
        var seen: Set<String> = []
    }

    /// A rule whose ends may still be missing.
    struct Rule {
        var name: String
        var repository = NameGlob("*")
        var from: RefPattern?
        var into: RefPattern?
        var rest = SyncRule(name: "", from: RefPattern("x")!, into: RefPattern("x")!)
    }

    init(file: String) { self.file = file }

    private static let names: [String: [String]] = [
        "concord": ["socket", "name", "email", "signingKey", "gpgFormat", "gpgProgram", "quiet", "rescan", "workers", "dryRun"],
        "repository": ["path", "catalogs", "catalogBytesMax", "sourceLanguage", "dryRun"],
        "sync": [
            "repository", "from", "into", "back", "source", "take", "fastForward", "policy", "alias", "flagStale", "translatorsDelete", "lossMax", "dryRun",
        ],
    ]

    mutating func fault(_ line: Int?, _ sentence: String) {
        faults.append(.init(file: file, line: line, sentence: sentence))
    }

    mutating func read(_ entry: ConfigEntry) {
        // `include.path` was followed by the reader of the file.
        if entry.section == "include" || entry.section == "includeif" { return }
        guard let known = Self.names[entry.section] else {
            return fault(entry.line, "there is no section [\(entry.section)]" + suggestion(for: entry.section, among: Array(Self.names.keys)))
        }
        guard known.contains(where: { $0.lowercased() == entry.name }) else {
            return fault(entry.line, "[\(entry.section)] has no `\(entry.name)`" + suggestion(for: entry.name, among: known))
        }
        switch (entry.section, entry.subsection) {
        case ("concord", nil): readConcord(entry)
        case ("concord", .some): fault(entry.line, "[concord] takes no name")
        case ("repository", let name?) where !name.isEmpty: readRepository(entry, name)
        case ("sync", let name?) where !name.isEmpty: readRule(entry, name)
        default: fault(entry.line, "[\(entry.section)] needs a name, as in [\(entry.section) \"app\"]")
        }
    }

    private mutating func readConcord(_ entry: ConfigEntry) {
        switch entry.name {
        case "socket": if let path = text(entry, absolute: true) { configuration.socket = path }
        case "name": if let name = text(entry) { configuration.committer.name = name }
        case "email": if let email = text(entry) { configuration.committer.email = email }
        case "signingkey": (signing.key, signingLine) = (text(entry), entry.line)
        case "gpgformat": if let value = choice(entry, CommitSigning.Format.self) { (signing.format, signingLine) = (value, entry.line) }
        case "gpgprogram": (signing.program, signingLine) = (text(entry), entry.line)
        case "quiet": if let value = duration(entry, in: .zero ... .seconds(3600)) { configuration.quiet = value }
        case "rescan": if let value = duration(entry, in: .seconds(1) ... .seconds(86_400)) { configuration.rescan = value }
        case "workers": if let value = number(entry, in: 1...64) { configuration.workers = value }
        default: if let value = boolean(entry) { isDryRun = value }
        }
    }

    private mutating func readRepository(_ entry: ConfigEntry, _ name: String) {
        let index = repositories.firstIndex { $0.value.name == name } ?? repositories.count
        if index == repositories.count { repositories.append(.init(value: RepositorySettings(name: name, path: ""), line: entry.line)) }
        let isFirst = repositories[index].seen.insert(entry.name).inserted
        switch entry.name {
        case "path": if let path = text(entry, absolute: true) { repositories[index].value.path = path }
        case "catalogs":
            guard let glob = text(entry) else { return }
            if isFirst { repositories[index].value.catalogs = [] }
            repositories[index].value.catalogs.append(PathGlob(glob))
        case "sourcelanguage":
            guard let code = text(entry) else { return }
            guard isLanguageCode(code) else { return fault(entry.line, "`\(entry.key)` is the code of a language, not `\(code)`") }
            repositories[index].value.sourceLanguage = code
        case "catalogbytesmax": if let value = byteCount(entry) { repositories[index].value.catalogBytesMax = value }
        default: if let value = boolean(entry) { repositories[index].value.isDryRun = value }
        }
    }

    private mutating func readRule(_ entry: ConfigEntry, _ name: String) {
        let index = rules.firstIndex { $0.value.name == name } ?? rules.count
        if index == rules.count { rules.append(.init(value: Rule(name: name), line: entry.line)) }
        rules[index].seen.insert(entry.name)
        switch entry.name {
        case "repository": if let glob = text(entry) { rules[index].value.repository = NameGlob(glob) }
        case "from": if let pattern = pattern(entry) { rules[index].value.from = pattern }
        case "into": if let pattern = pattern(entry) { rules[index].value.into = pattern }
        case "back": if let value = boolean(entry) { rules[index].value.rest.goesBack = value }
        case "source": if let value = choice(entry, SyncRule.End.self) { rules[index].value.rest.source = value }
        case "take": if let value = choice(entry, SyncRule.Take.self) { rules[index].value.rest.take = value }
        case "fastforward": if let value = boolean(entry) { rules[index].value.rest.allowsFastForward = value }
        case "policy", "alias":
            guard let line = text(entry) else { return }
            do throws(CatalogPolicy.Fault) {
                if entry.name == "alias" {
                    try rules[index].value.rest.policy.unite(line: line)
                } else {
                    rules[index].value.rest.policy.rules += try CatalogPolicy(line: line).rules
                }
            } catch {
                fault(entry.line, error.sentence)
            }
        case "flagstale": if let value = boolean(entry) { rules[index].value.rest.policy.flagsStale = value }
        case "translatorsdelete": if let value = boolean(entry) { rules[index].value.rest.policy.allowsTranslationDeletions = value }
        case "lossmax": if let value = share(entry) { rules[index].value.rest.policy.lostShareMax = value }
        default: if let value = boolean(entry) { rules[index].value.rest.isDryRun = value }
        }
    }

    /// What only the whole can tell: what is missing, and what contradicts.
    mutating func finish() throws(ConfigurationError) -> Configuration {
        var finished: [(rule: SyncRule, repository: NameGlob, line: Int?)] = []
        for section in rules {
            let (name, seen) = (section.value.name, section.seen)
            for needed in ["from", "into"] where !seen.contains(needed) { fault(section.line, "[sync \"\(name)\"] has no `\(needed)`") }
            guard let from = section.value.from, let into = section.value.into else { continue }
            if from == into {
                fault(section.line, "[sync \"\(name)\"] goes from `\(from)` into itself")
                continue
            }
            var rule = section.value.rest
            (rule.name, rule.from, rule.into) = (name, from, into)
            finished.append((rule, section.value.repository, section.line))
        }
        for section in repositories where !section.seen.contains("path") {
            fault(section.line, "[repository \"\(section.value.name)\"] has no `path`")
        }
        var places: [String: String] = [:]
        for section in repositories where !section.value.path.isEmpty {
            let place = Self.place(of: section.value.path)
            guard let other = places.updateValue(section.value.name, forKey: place) else { continue }
            fault(section.line, "[repository \"\(section.value.name)\"] is the repository of [repository \"\(other)\"] again, at `\(section.value.path)`; "
                + "two sections would sync it twice, so keep one, and write a [sync] for each of its rules")
        }
        for (rule, glob, line) in finished where !repositories.contains(where: { glob.matches($0.value.name) }) {
            fault(line, "[sync \"\(rule.name)\"] is for repository `\(glob.text)`, and there is none of that name"
                + suggestion(for: glob.text, among: repositories.map(\.value.name)))
        }
        configuration.repositories = repositories.map { section in
            var settings = section.value
            settings.isDryRun = settings.isDryRun || isDryRun
            settings.rules = finished.filter { $0.repository.matches(settings.name) }.map(\.rule)
            return settings
        }
        for (section, settings) in zip(repositories, configuration.repositories) where settings.rules.isEmpty && rules.count == finished.count {
            fault(section.line, "no [sync] section is for repository \"\(settings.name)\"")
        }
        finishSigning()
        if repositories.isEmpty { fault(nil, "it names no [repository]") }
        guard faults.isEmpty else {
            throw ConfigurationError(faults: faults.sorted { ($0.line ?? .max) < ($1.line ?? .max) })
        }
        return configuration
    }
}

extension ConfigurationReader {
    private mutating func finishSigning() {
        guard let key = signing.key else {
            // A key that is at fault itself has been reported.
            if let signingLine, faults.isEmpty { fault(signingLine, "commits are signed with `concord.signingKey`, and there is none") }
            return
        }
        // The daemon is in no directory where a relative path would mean the same tomorrow.
        guard signing.format != .ssh || key.hasPrefix("/") else {
            return fault(signingLine, "with gpgFormat = ssh, `concord.signingKey` is the absolute path of a key's file, not `\(key)`")
        }
        configuration.signing = CommitSigning(key: key, format: signing.format, program: signing.program)
    }

    /// One name for all the paths of a repository: links are followed, and `app` is its `app/.git`.
    private static func place(of path: String) -> String {
        // What is not there yet is told apart by its text.
        resolvedPath(path + "/.git") ?? resolvedPath(path) ?? "/" + path.split(separator: "/").joined(separator: "/")
    }
}

// The kinds of value. Each gives `nil` after it has noted what is wrong.
extension ConfigurationReader {
    private mutating func text(_ entry: ConfigEntry, absolute: Bool = false) -> String? {
        guard let value = entry.value, !value.isEmpty else {
            fault(entry.line, "`\(entry.key)` has no value")
            return nil
        }
        guard !absolute || value.hasPrefix("/") || (entry.name == "socket" && value.hasPrefix("@")) else {
            fault(entry.line, "`\(entry.key)` must be an absolute path, not `\(value)`")
            return nil
        }
        return value
    }

    private mutating func boolean(_ entry: ConfigEntry) -> Bool? {
        // As git reads them: a bare name is true, an empty value false.
        switch entry.value?.lowercased() {
        case nil, "true", "yes", "on", "1": return true
        case "false", "no", "off", "0", "": return false
        case let other?:
            fault(entry.line, "`\(entry.key)` is true or false, not `\(other)`")
            return nil
        }
    }

    private mutating func number(_ entry: ConfigEntry, in range: ClosedRange<Int>) -> Int? {
        if let value = entry.value.flatMap({ Int($0) }), range.contains(value) { return value }
        fault(entry.line, "`\(entry.key)` is a number from \(range.lowerBound) to \(range.upperBound), not `\(entry.value ?? "")`")
        return nil
    }

    /// `200ms`, `2s`, `5m`, `1h`.
    private mutating func duration(_ entry: ConfigEntry, in range: ClosedRange<Duration>) -> Duration? {
        let value = entry.value ?? ""
        let digits = value.prefix { $0.isASCII && $0.isNumber }
        let units: [String: Duration] = ["ms": .milliseconds(1), "s": .seconds(1), "m": .seconds(60), "h": .seconds(3600)]
        guard let count = Int(digits), count <= 1_000_000, let unit = units[String(value.dropFirst(digits.count))] else {
            fault(entry.line, "`\(entry.key)` is a time such as 200ms, 2s, 5m or 1h, not `\(value)`")
            return nil
        }
        guard range.contains(unit * count) else {
            fault(entry.line, "`\(entry.key)` is between \(range.lowerBound) and \(range.upperBound), not `\(value)`")
            return nil
        }
        return unit * count
    }

    /// `4096`, `64k`, `64m`, `1g`, as git writes sizes.
    private mutating func byteCount(_ entry: ConfigEntry) -> Int? {
        let value = (entry.value ?? "").lowercased()
        let digits = value.prefix { $0.isASCII && $0.isNumber }
        let units = ["": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30]
        if let count = Int(digits), (1...1_000_000_000).contains(count), let unit = units[String(value.dropFirst(digits.count))] { return count * unit }
        fault(entry.line, "`\(entry.key)` is a size such as 64m, not `\(value)`")
        return nil
    }

    /// `50%`.
    private mutating func share(_ entry: ConfigEntry) -> Double? {
        if let value = entry.value, value.hasSuffix("%"), let percent = Int(value.dropLast()), (0...100).contains(percent) { return Double(percent) / 100 }
        fault(entry.line, "`\(entry.key)` is a share from 0% to 100%, not `\(entry.value ?? "")`")
        return nil
    }

    private mutating func pattern(_ entry: ConfigEntry) -> RefPattern? {
        guard let value = text(entry) else { return nil }
        if let pattern = RefPattern(value) { return pattern }
        fault(entry.line, "`\(value)` is no branch and no pattern of branches (one `*` at most)")
        return nil
    }

    private mutating func choice<Choice: RawRepresentable & CaseIterable>(_ entry: ConfigEntry, _: Choice.Type) -> Choice?
    where Choice.RawValue == String {
        if let choice = Choice(rawValue: entry.value ?? "") { return choice }
        let names = Choice.allCases.map(\.rawValue)
        fault(entry.line, "`\(entry.key)` is \(names.joined(separator: " or ")), not `\(entry.value ?? "")`"
            + suggestion(for: entry.value ?? "", among: names))
        return nil
    }
}

/// Names with at most one `*`.
private struct NameGlob {
    let text: String

    init(_ text: String) { self.text = text }

    func matches(_ name: String) -> Bool {
        guard let star = text.firstIndex(of: "*") else { return text == name }
        let (head, tail) = (text[..<star], text[text.index(after: star)...])
        return name.count >= head.count + tail.count && name.hasPrefix(head) && name.hasSuffix(tail)
    }
}

/// `; did you mean X?` for the known name that is nearest to a mistyped one, if one is near.
func suggestion(for name: String, among known: [String]) -> String {
    let near = known.map { ($0, editDistance(name.lowercased(), $0.lowercased())) }.min { ($0.1, $0.0) < ($1.1, $1.0) }
    guard let near, near.1 > 0, near.1 <= max(2, near.0.count / 3) else { return "" }
    return "; did you mean `\(near.0)`?"
}

/// How many letters must be added, left out, changed or swapped with their neighbour to make one word of the other.
func editDistance(_ one: String, _ other: String) -> Int {
    let (a, b) = (Array(one), Array(other))
    var rows = [Array(0...b.count)]
    for i in 0..<a.count {
        var row = [i + 1]
        for j in 0..<b.count {
            var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, rows[i - 1][j - 1] + 1) }
            row.append(best)
        }
        rows.append(row)
    }
    return rows[a.count][b.count]
}
