import Git
import StringCatalog

// What a repository says about itself: the file `.concord` at the top of its tree.
//
//     [concord]
//         catalogs = Resources/*.xcloc
//         policy = newest language=fr,de
//         alias = zh-CN zh-Hans
//         sourceLanguage = de
//
// Anybody who may push writes it, so it is data and nothing else: which files are catalogs, who wins ties, and what languages are
// called, after what the configuration of the daemon says. It is read from the branch of the developers, the `into` of a rule. It includes no other
// file, names no program, and what is not understood is reported and has no effect.

/// The settings in a tree.
public struct TreeSettings: Sendable {
    static let path = TreePath(".concord")!

    /// Which files are catalogs, besides those that the configuration names.
    public private(set) var catalogs: [PathGlob] = []
    /// Who wins ties, and which languages are one.
    public private(set) var policy = CatalogPolicy.standard
    /// The language of the source texts of tables; `nil` where the tree does not say.
    public private(set) var sourceLanguage: String?
    /// What was not understood, one sentence each, with its line.
    public private(set) var remarks: [String] = []

    /// A larger file is not read.
    public static let bytesMax = 64 << 10
    private static let remarksMax = 20

    init() {}

    /// Those of a commit's tree; empty where it has no such file.
    init(in commit: ObjectID, of repository: Repository) throws(GitError) {
        self.init()
        guard let entry = try repository.entry(at: Self.path, in: repository.tree(of: commit)) else { return }
        guard entry.mode.isFile, try repository.size(ofBlob: entry.id) <= Self.bytesMax else {
            remarks = [".concord is no file, or a very large one; it is not read"]
            return
        }
        self.init(parsing: String(decoding: try repository.blob(entry.id).array, as: UTF8.self))
    }

    /// Those of the text of a `.concord`. Nothing in it is an error; see `remarks`.
    public init(parsing text: String) {
        self.init()
        var section = ""
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let content = Self.trimmed(Self.withoutComment(line))
            guard !content.isEmpty else { continue }
            do throws(CatalogPolicy.Fault) {
                if content.hasPrefix("[") {
                    section = content.lowercased()
                    guard section == "[concord]" else { throw .init(sentence: "there is no section \(content); its lines have no effect") }
                } else if section == "[concord]" {
                    try read(content)
                }
            } catch {
                if remarks.count < Self.remarksMax { remarks.append(".concord:\(index + 1): \(printable(error.sentence))") }
            }
        }
    }

    private mutating func read(_ line: String) throws(CatalogPolicy.Fault) {
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { Self.trimmed($0) }
        let value = parts.count == 2 ? Self.unquoted(parts[1]) : ""
        switch parts[0].lowercased() {
        case "catalogs":
            guard !value.isEmpty else { throw .init(sentence: "`catalogs` has no value") }
            catalogs.append(PathGlob(value))
        case "policy": policy.rules += try CatalogPolicy(line: value).rules
        case "alias": try policy.unite(line: value)
        case "sourcelanguage":
            guard isLanguageCode(value) else { throw .init(sentence: "`sourceLanguage` is the code of a language, not `\(value)`") }
            sourceLanguage = value
        default: throw .init(sentence: "there is no `\(parts[0])`" + suggestion(for: parts[0], among: ["catalogs", "policy", "alias", "sourceLanguage"]))
        }
    }

    private static func withoutComment(_ line: Substring) -> Substring {
        var isQuoted = false
        for index in line.indices {
            switch line[index] {
            case "\"": isQuoted.toggle()
            case "#", ";": if !isQuoted { return line[..<index] }
            default: break
            }
        }
        return line
    }

    private static func unquoted(_ text: String) -> String { text.count >= 2 && text.hasPrefix("\"") && text.hasSuffix("\"") ? String(text.dropFirst().dropLast()) : text }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
