import Git
import Linux

/// What to keep in step, and how: the contents of a configuration file, read whole and checked.
///
/// The file is in git-config syntax:
///
///     [concord]
///         socket = /run/concord/socket
///     [repository "app"]
///         path = /srv/git/app.git
///     [sync "translations"]
///         from = l10n/*
///         into = main
///         back = true
public struct Configuration: Sendable, Equatable {
    /// Where `concord status` finds the daemon; `nil`: nowhere.
    public var socket: String?
    /// The name and address that sync commits are committed with.
    public var committer = Person(name: "Concord", email: "concord@localhost")
    /// How sync commits are signed; `nil`: not at all.
    public var signing: CommitSigning?
    /// How long a repository must have been quiet after a change before it is looked at.
    public var quiet: Duration = .milliseconds(50)
    /// How often every repository is looked at although nothing was heard.
    public var rescan: Duration = .seconds(300)
    /// How many repositories are worked on at once.
    public var workers = 2
    /// In order of the file.
    public var repositories: [RepositorySettings] = []

    public struct Person: Sendable, Equatable {
        public var name: String
        public var email: String
    }
}

/// One repository and the rules that concern it.
public struct RepositorySettings: Sendable, Equatable {
    static let catalogBytesMaxStandard = 256 << 20

    public var name: String
    public var path: String
    /// Which files are catalogs, or tables of strings: what merges by key.
    public var catalogs: [PathGlob] = ["*.xcstrings", "*.strings", "*.stringsdict"].map { PathGlob($0) }
    /// A catalog of more bytes is left alone.
    public var catalogBytesMax = catalogBytesMaxStandard
    /// The language of the source texts of tables; `nil`: what the tree says.
    public var sourceLanguage: String?
    /// Says what would be done, and does nothing.
    public var isDryRun = false
    public var rules: [SyncRule] = []

    /// Whether `path` is a catalog here.
    public func isCatalog(_ path: TreePath) -> Bool { catalogs.contains { $0.matches(path) } }
}

/// A rule: which branches' changes go into which.
public struct SyncRule: Sendable, Hashable {
    /// One of the two ends of a rule.
    public enum End: String, Sendable, Hashable, CaseIterable { case from, into, none }

    /// What comes over.
    public enum Take: String, Sendable, Hashable, CaseIterable {
        /// Everything, as a merge does.
        case all
        /// The catalogs and nothing else.
        case catalogs
    }

    public var name: String
    public var from: RefPattern
    public var into: RefPattern
    /// Whether the changes of `into` also go back to each `from`.
    public var goesBack = false
    /// The end where code is developed, which owns keys and source texts. `none`: both ends are alike.
    public var source: End = .into
    public var take: Take = .all
    /// Whether a branch that has nothing of its own may simply move to the other's commit.
    public var allowsFastForward = true
    /// Who wins where both sides changed a text, and what is spared.
    public var policy: CatalogPolicy = .standard
    public var isDryRun = false
}

/// Which paths: `*.xcstrings` (that name in any directory), `App/**/*.xcstrings` (from the top of the tree).
///
/// `*` and `?` stand for anything but a slash, `**` for anything.
public struct PathGlob: Sendable, Hashable, CustomStringConvertible {
    public let description: String
    private let pattern: [UInt8]

    public init(_ text: String) {
        description = text
        let isAnchored = text.contains("/")
        pattern = Array((isAnchored ? String(text.drop { $0 == "/" }) : "**/" + text).utf8)
    }

    /// Whether the glob covers `path`.
    public func matches(_ path: TreePath) -> Bool { Self.matches(pattern[...], path.bytes[...]) }

    private static func matches(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
        let star = UInt8(ascii: "*"), slash = UInt8(ascii: "/")
        guard let first = pattern.first else { return text.isEmpty }
        if pattern.starts(with: [star, star]) {
            let rest = pattern.dropFirst(2)
            guard rest.first == slash else { return (text.startIndex...text.endIndex).contains { matches(rest, text[$0...]) } }
            // `**/` stands for any directories, also for none: what follows begins at the top or behind a slash. Every file of
            // a tree is held against the globs, so no other place is tried.
            let file = rest.dropFirst()
            return matches(file, text) || text.indices.contains { text[$0] == slash && matches(file, text[($0 + 1)...]) }
        }
        if first == star {
            let rest = pattern.dropFirst()
            for index in text.startIndex...text.endIndex {
                if matches(rest, text[index...]) { return true }
                if index < text.endIndex, text[index] == slash { return false }
            }
            return false
        }
        guard let next = text.first, first == next || (first == UInt8(ascii: "?") && next != slash) else { return false }
        return matches(pattern.dropFirst(), text.dropFirst())
    }
}

/// A file whose contents cannot be used, with everything that is wrong in it.
public struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    public struct Fault: Equatable, Sendable, CustomStringConvertible {
        public let file: String
        /// `nil` where the fault is that something is missing.
        public let line: Int?
        public let sentence: String

        public var description: String { line.map { "\(file):\($0): \(sentence)" } ?? "\(file): \(sentence)" }
    }

    /// In order of the file; at least one.
    public let faults: [Fault]

    public var description: String { faults.map(\.description).joined(separator: "\n") }
}
