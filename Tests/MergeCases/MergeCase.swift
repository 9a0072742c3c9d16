import Foundation
import StringCatalog

/// One folder of a corpus: `base` (may be missing), `ours`, `theirs` and the `expected` file, the expected report, and with
/// sides and roles exchanged the `swapped` file and the `swapped-report` where they are others. `case` holds options, one a line:
///
///     source-side = ours
///     rule = newest key=a.* language=fr field=value
///     newer = ours greeting fr stringUnit.value
///     alias = zh-CN zh-Hans
public struct MergeCase: CustomStringConvertible, Sendable {
    public let folder: URL
    public var description: String { folder.lastPathComponent }

    /// What is wrong with a case itself.
    public struct Fault: Error, CustomStringConvertible {
        public let description: String
    }

    /// The cases in the folder `Corpus` beside a source file.
    public static func all(beside file: String) -> [MergeCase] {
        let corpus = URL(filePath: file).deletingLastPathComponent().appending(path: "Corpus")
        let folders = (try? FileManager.default.contentsOfDirectory(at: corpus, includingPropertiesForKeys: nil)) ?? []
        return folders.filter { !$0.lastPathComponent.hasPrefix(".") }.sorted { $0.path < $1.path }.map { MergeCase(folder: $0) }
    }

    /// The bytes of a file of the case; nil where it has none of that name, whatever its extension.
    public func bytes(_ name: String) -> [UInt8]? {
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        let file = files.first { $0.lastPathComponent == name || $0.deletingPathExtension().lastPathComponent == name }
        return file.flatMap { try? Data(contentsOf: $0) }.map { Array($0) }
    }

    /// The extension of the files that are merged.
    public var kind: String {
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return files.first { $0.deletingPathExtension().lastPathComponent == "ours" }?.pathExtension ?? ""
    }

    /// The values of one option, in their order.
    public func options(_ name: String) throws -> [String] {
        try String(decoding: bytes("case") ?? [], as: UTF8.self).split(separator: "\n").map { try halves($0, at: " = ") }.filter { $0.0 == name }.map(\.1)
    }

    /// The policy of the file `case`, as it is or with the sides exchanged.
    public func policy(swapped: Bool) throws -> MergePolicy {
        func side(_ name: some StringProtocol) -> SourceSide { (name == "ours") != swapped ? .ours : .theirs }
        var policy = MergePolicy()
        for line in String(decoding: bytes("case") ?? [], as: UTF8.self).split(separator: "\n") {
            let (option, value) = try halves(line, at: " = ")
            let words = value.split(separator: " ")
            switch option {
            case "source-side": policy.sourceSide = side(value)
            case "flag-stale": policy.flagsStale = value == "true"
            case "allow-translation-deletions": policy.allowsTranslationDeletions = value == "true"
            case "alias": policy.aliases.unite(words.map(String.init))
            case "newer": policy.newer[LeafPath(key: String(words[1]), language: String(words[2]), field: String(words[3]))] = side(words[0])
            case "rule": policy.rules.append(try rule(words, swapped: swapped))
            case "language": break
            default: throw Fault(description: "\"\(option)\" is no option of a case")
            }
        }
        return policy
    }

    private func rule(_ words: [Substring], swapped: Bool) throws -> MergePolicy.Rule {
        guard let choice = MergePolicy.Choice(rawValue: String(words[0])) else { throw Fault(description: "\"\(words[0])\" is no choice") }
        var rule = MergePolicy.Rule(choice: choice)
        if swapped { rule.choice = choice == .ours ? .theirs : choice == .theirs ? .ours : choice }
        for word in words.dropFirst() {
            let (name, value) = try halves(word, at: "=")
            switch name {
            case "language": rule.languages = [value]
            case "key": rule.keys = [value]
            case "field": rule.fields = [value]
            default: throw Fault(description: "a rule has no \"\(name)\"")
            }
        }
        return rule
    }

    private func halves(_ line: Substring, at separator: String) throws -> (String, String) {
        guard let range = line.range(of: separator) else { throw Fault(description: "a line of \"case\" is \"option = value\", not \"\(line)\"") }
        return (String(line[..<range.lowerBound]), String(line[range.upperBound...]))
    }

    // MARK: The report

    /// How a report differs from the expected one, a line each; nothing where it is as expected.
    public func differences(of report: MergeReport, swapped: Bool) throws -> [String] {
        let expectation = (swapped ? bytes("swapped-report") : nil) ?? bytes("report") ?? []
        let file = try JSONSerialization.jsonObject(with: Data(expectation)) as? [String: Any]
        guard let file else { throw Fault(description: "there is no report") }
        func expected(_ list: String) -> Set<[String?]> { Set((file[list] as? [[Any]] ?? []).map { row in row.map { $0 as? String } }) }
        func differences(_ list: String, _ found: [[String?]]) -> [String] {
            func line(_ sign: String, _ row: [String?]) -> String { "\(sign) \(list): " + row.map { $0 ?? "null" }.joined(separator: " | ") }
            let (found, expected) = (Set(found), expected(list))
            return found.subtracting(expected).map { line("+", $0) }.sorted() + expected.subtracting(found).map { line("-", $0) }.sorted()
        }
        var lines = differences("conflicts", report.conflicts.map { [$0.path.key, $0.path.language, $0.path.field] })
        // What a conflict holds back stands in the conflict too.
        lines += differences("losses", report.losses.filter { !$0.isHeldBack }.map { [$0.path.key, $0.path.language, $0.text] })
        lines += differences("decisions", report.decisions.map { [$0.path.key, $0.path.language, $0.rule] })
        let damages = file["damages"] as? Int ?? 0
        if report.damages.count != damages { lines.append("\(report.damages.count) damages, not \(damages): \(report.damages)") }
        return lines
    }
}
