import Foundation
import Git
import Synchronization
import Testing

@testable import Sync

/// A bare repository with an app's catalog, and clones of people who push to it, in a folder of its own. Everything is done by the `git` program.
final class Fixture: Sendable {
    let folder: String
    var bare: String { folder + "/app.git" }

    struct Failure: Error, CustomStringConvertible { let description: String }

    /// A repository with one commit on `main` that holds `catalog`, and the branches of the translators at the same commit.
    init(catalog: String? = Catalog().text, branches: [String] = ["l10n/fr", "l10n/de"], path: String = "Localizable.xcstrings") throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("concord-sync-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try git("init", "-q", "--bare", "-b", "main", bare, in: folder)
        let dev = try person("dev", clone: true)
        if let catalog { try dev.write(catalog, to: path) }
        try dev.write("let app = 1\n", to: "App.swift")
        try dev.commit("Begin")
        try dev.git("push", "-q", "origin", "HEAD:refs/heads/main")
        for branch in branches { try dev.git("push", "-q", "origin", "HEAD:refs/heads/\(branch)") }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    @discardableResult func git(_ arguments: String..., in directory: String? = nil) throws -> String {
        try Self.run(["git"] + arguments, in: directory ?? bare)
    }

    /// A person with a clone of their own, on a branch of the bare repository.
    func person(_ name: String, on branch: String? = nil, clone: Bool = true) throws -> Person {
        let place = "\(folder)/\(name)-\(UUID().uuidString.prefix(6))"
        try Self.run(["git", "clone", "-q", bare, place], in: folder)
        let person = Person(name: name, place: place)
        try person.git("config", "user.name", name.capitalized)
        try person.git("config", "user.email", "\(name)@example.org")
        if let branch { try person.git("checkout", "-q", branch) }
        return person
    }

    func tip(_ branch: String) throws -> String { try git("rev-parse", "refs/heads/\(branch)") }

    func text(_ branch: String, _ path: String = "Localizable.xcstrings") throws -> String { try Self.run(["git", "show", "\(branch):\(path)"], in: bare, trims: false) }

    func catalog(_ branch: String, _ path: String = "Localizable.xcstrings") throws -> Catalog { try Catalog(reading: text(branch, path)) }

    func message(_ branch: String) throws -> String { try git("log", "-1", "--format=%B", branch) }

    func parents(_ branch: String) throws -> [String] { try git("log", "-1", "--format=%P", branch).split(separator: " ").map(String.init) }

    /// All refs, and how many objects there are.
    func everything() throws -> String { try git("for-each-ref") + "\n" + git("count-objects", "-v") }

    func expectSound(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let output = try git("fsck", "--strict", "--no-dangling")
        #expect(output == "", sourceLocation: sourceLocation)
    }

    var settings: RepositorySettings { settings() }

    func settings(
        from: String = "l10n/*", into: String = "main", back: Bool = true, _ change: (inout SyncRule) -> Void = { _ in }
    ) -> RepositorySettings {
        var rule = SyncRule(name: "rule", from: RefPattern(from)!, into: RefPattern(into)!, goesBack: back)
        change(&rule)
        return RepositorySettings(name: "app", path: bare, rules: [rule])
    }

    static let committer = Configuration.Person(name: "Concord", email: "concord@example.org")

    /// One pass without any memory of an earlier one.
    @discardableResult func pass(_ settings: RepositorySettings? = nil, moved: @escaping @Sendable (MoveReport) -> Void = { _ in }) throws -> PassReport {
        var memo = StepMemo()
        return try Pass(settings: settings ?? self.settings, committer: Self.committer, isStopped: { false }, moved: moved).run(&memo)
    }

    @discardableResult static func run(_ arguments: [String], in directory: String, trims: Bool = true, allowsFailure: Bool = false) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: directory)
        process.environment = [
            "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8", "GIT_MERGE_AUTOEDIT": "no",
        ]
        let output = Pipe(), errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 || allowsFailure else {
            throw Failure(description: "\(arguments.joined(separator: " ")): \(complaint)\(text)")
        }
        return trims ? text.trimmingCharacters(in: .newlines) : text
    }
}

/// A clone in which someone works.
struct Person: Sendable {
    let name: String
    let place: String

    @discardableResult func git(_ arguments: String...) throws -> String { try Fixture.run(["git"] + arguments, in: place) }

    func write(_ text: String, to path: String) throws {
        let url = URL(fileURLWithPath: place + "/" + path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    func commit(_ message: String) throws {
        try git("add", "-A")
        try git("commit", "-q", "-m", message)
    }

    func pull() throws { try git("pull", "-q", "--ff-only") }

    /// Edits the catalog, commits, and pushes.
    func push(_ message: String = "Edit", path: String = "Localizable.xcstrings", _ edit: (inout Catalog) -> Void) throws {
        let file = place + "/" + path
        var catalog = try Catalog(reading: String(contentsOfFile: file, encoding: .utf8))
        edit(&catalog)
        try write(catalog.text, to: path)
        try commit(message)
        try git("push", "-q", "origin", "HEAD")
    }

    func pushFile(_ text: String, to path: String) throws {
        try write(text, to: path)
        try commit("Write \(path)")
        try git("push", "-q", "origin", "HEAD")
    }
}

/// A catalog as people edit it: keys, and texts by language. Written as Xcode writes it.
struct Catalog: Equatable {
    struct Unit: Equatable {
        var value: String
        var state = "translated"
    }

    var keys: [String: [String: Unit]] = [
        "Bye": ["fr": Unit(value: "Au revoir"), "de": Unit(value: "Tschüss")], "Hello": [:], "Stop": ["fr": Unit(value: "Arrêter")],
    ]

    init() {}

    subscript(_ key: String, _ language: String) -> String? {
        get { keys[key]?[language]?.value }
        set { keys[key, default: [:]][language] = newValue.map { Unit(value: $0) } }
    }

    init(reading text: String) throws {
        guard let top = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], let strings = top["strings"] as? [String: [String: Any]] else {
            throw Fixture.Failure(description: "no catalog")
        }
        keys = strings.mapValues { entry in
            ((entry["localizations"] as? [String: [String: [String: String]]]) ?? [:]).compactMapValues { localization in
                localization["stringUnit"].map { Unit(value: $0["value"] ?? "", state: $0["state"] ?? "") }
            }
        }
    }

    var text: String {
        func quoted(_ text: String) -> String {
            "\"" + text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"").replacingOccurrences(of: "\n", with: "\\n") + "\""
        }
        let order: (String, String) -> Bool = { $0.compare($1, options: [.numeric, .caseInsensitive]) == .orderedAscending }
        let entries = keys.sorted { order($0.key, $1.key) }.map { key, units -> String in
            guard !units.isEmpty else { return "    \(quoted(key)) : {\n\n    }" }
            let localizations = units.sorted { $0.key < $1.key }.map { language, unit in
                """
                        \(quoted(language)) : {
                          "stringUnit" : {
                            "state" : \(quoted(unit.state)),
                            "value" : \(quoted(unit.value))
                          }
                        }
                """
            }
            return "    \(quoted(key)) : {\n      \"localizations\" : {\n\(localizations.joined(separator: ",\n"))\n      }\n    }"
        }
        return "{\n  \"sourceLanguage\" : \"en\",\n  \"strings\" : {\n\(entries.joined(separator: ",\n"))\n  },\n  \"version\" : \"1.0\"\n}"
    }
}

/// A `.stringsdict` with the entry `files` and its variable `n`.
func pluralTable(one: String?, other: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0">
    <dict>
    \t<key>files</key>
    \t<dict>
    \t\t<key>NSStringLocalizedFormatKey</key>
    \t\t<string>%#@n@</string>
    \t\t<key>n</key>
    \t\t<dict>
    \t\t\t<key>NSStringFormatSpecTypeKey</key>
    \t\t\t<string>NSStringPluralRuleType</string>
    \t\t\t<key>NSStringFormatValueTypeKey</key>
    \t\t\t<string>d</string>
    \(one.map { "\t\t\t<key>one</key>\n\t\t\t<string>\($0)</string>\n" } ?? "")\t\t\t<key>other</key>
    \t\t\t<string>\(other)</string>
    \t\t</dict>
    \t</dict>
    </dict>
    </plist>

    """
}
