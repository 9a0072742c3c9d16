import CLibGit2
import Glibc

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
        // `git_config_open_ondisk` takes a missing file for an empty one.
        guard unsafe access(path, R_OK) == 0 else {
            let isMissing = errno == ENOENT || errno == ENOTDIR
            throw GitError(isMissing ? .notFound : .io, stage: stage, detail: isMissing ? "there is no such file" : "it may not be read")
        }
        let config = try unsafe Handle<ConfigKind>(stage) { unsafe git_config_open_ondisk(&$0, path) }
        let source = unsafe config.pointer
        let iterator = try unsafe Handle<ConfigIteratorKind>(stage) { unsafe git_config_iterator_new(&$0, source) }

        var lines = ConfigLines(path)
        var entries: [ConfigEntry] = []
        while true {
            var next: UnsafeMutablePointer<git_config_entry>?
            let status = unsafe git_config_next(&next, iterator.pointer)
            if status == GIT_ITEROVER.rawValue { return entries }
            try check(status, stage)
            guard let entry = unsafe next?.pointee else { return entries }
            let key = unsafe String(cString: entry.name)
            let depth = unsafe Int(entry.include_depth)
            let line = depth == 0 ? lines.next(named: key) : nil
            let value = unsafe entry.value.map { unsafe String(cString: $0) }
            entries.append(ConfigEntry(key: key, value: value, line: line, includeDepth: depth))
        }
    }
}

private enum ConfigIteratorKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe git_config_iterator_free(pointer) }
}

extension ConfigEntry {
    /// The section ends at the first dot and the name begins behind the last: only a subsection can hold one.
    fileprivate init(key: String, value: String?, line: Int?, includeDepth: Int) {
        let first = key.firstIndex(of: ".") ?? key.endIndex
        let last = key.lastIndex(of: ".") ?? key.endIndex
        section = String(key[..<first])
        subsection = first < last ? String(key[key.index(after: first)..<last]) : nil
        name = last < key.endIndex ? String(key[key.index(after: last)...]) : ""
        self.value = value
        self.line = line
        self.includeDepth = includeDepth
    }
}

/// Where the entries of a file stand. The library tells names and values, but no lines, and those are what a person
/// needs who is told of a mistake.
private struct ConfigLines {
    /// The variables in the order of the file, with names in lower case.
    private var pending: ArraySlice<(name: String, line: Int)> = []

    init(_ path: String) {
        var isContinued = false
        for (index, line) in TextFile.lines(of: path).enumerated() {
            let first = line.first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
            let isComment = first == UInt8(ascii: "#") || first == UInt8(ascii: ";")
            defer { isContinued = !isComment && line.last == UInt8(ascii: "\\") }
            guard !isContinued else { continue }
            var rest = line.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            // A variable may stand on the line of its section's header.
            if rest.first == UInt8(ascii: "["), let end = Self.endOfHeader(rest) {
                rest = rest[(end + 1)...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            }
            let name = rest.prefix { Self.isNamePart($0) }
            if !name.isEmpty { pending.append((String(decoding: name, as: UTF8.self).lowercased(), index + 1)) }
        }
    }

    /// The line of the next entry, which has this key; entries come in the order of the file.
    mutating func next(named key: String) -> Int? {
        let name = key.split(separator: ".").last.map(String.init) ?? key
        guard let index = pending.firstIndex(where: { $0.name == name }) else { return nil }
        defer { pending = pending[(index + 1)...] }
        return pending[index].line
    }

    private static func endOfHeader(_ line: ArraySlice<UInt8>) -> Int? {
        var isQuoted = false, isEscaped = false
        for (index, byte) in zip(line.indices, line) {
            if isEscaped { isEscaped = false; continue }
            switch byte {
            case UInt8(ascii: "\\"): isEscaped = isQuoted
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "]") where !isQuoted: return index
            default: break
            }
        }
        return nil
    }

    private static func isNamePart(_ byte: UInt8) -> Bool {
        let scalar = Unicode.Scalar(byte)
        return scalar.isASCII && (Character(scalar).isLetter || Character(scalar).isNumber || scalar == "-")
    }
}
