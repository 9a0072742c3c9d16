import Foundation
import Testing

@Suite struct `The sources` {
    /// The Swift files of `Sources`, by path below it.
    private static let files: [(path: String, text: String)] = {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
        let found = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
        return found.filter { $0.pathExtension == "swift" }.sorted { $0.path < $1.path }.map { file in
            (String(file.standardized.path.dropFirst(sources.standardized.path.count + 1)), (try? String(contentsOf: file, encoding: .utf8)) ?? "")
        }
    }()

    /// The lines of the files that a test speaks of, with their places, where they hold a word.
    private func lines(holding word: some RegexComponent, in isMeant: (String) -> Bool) -> [String] {
        Self.files.filter { isMeant($0.path) }.flatMap { file in
            file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
                .filter { $0.element.contains(word) }.map { "\(file.path):\($0.offset + 1): \($0.element)" }
        }
    }

    @Test func `are found`() { #expect(Self.files.count > 30) }

    @Test func `are unsafe only where C is met`() {
        let fenced = ["StringCatalog/Scanner.swift", "StringCatalog/Collation.swift", "concord/CatalogFiles.swift"]
        let found = lines(holding: /\bunsafe\b|@unsafe|Unsafe[A-Z]\w*</) { path in
            !path.hasPrefix("Git/") && !path.hasPrefix("Linux/") && !fenced.contains(path)
        }
        #expect(found == [])
    }

    @Test func `do without Foundation`() {
        #expect(lines(holding: /^\s*(?:@\w+\s+)*import\s+Foundation/) { _ in true } == [])
    }

    @Test func `keep the words of one module out of the others`() {
        #expect(lines(holding: /(?i)catalog/) { $0.hasPrefix("Git/") } == [])
        // "committed" may stand in a sentence for people.
        #expect(lines(holding: /(?i)commit(?!ted)/) { $0.hasPrefix("StringCatalog/") } == [])
        #expect(lines(holding: /^\s*import\s+(?:Git|Linux|Sync)\b/) { $0.hasPrefix("StringCatalog/") } == [])
        #expect(lines(holding: /^\s*import\s+(?:StringCatalog|Linux|Sync)\b/) { $0.hasPrefix("Git/") } == [])
        #expect(lines(holding: /^\s*import\s+(?:StringCatalog|Git|Sync)\b/) { $0.hasPrefix("Linux/") } == [])
    }

    @Test func `swallow no error and force no try`() {
        #expect(lines(holding: /\btry!/) { _ in true } == [])
    }
}
