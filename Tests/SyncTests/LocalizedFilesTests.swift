import Git
import StringCatalog
import Testing

@testable import Sync

@Suite struct `Versions of files` {
    let fixture: Fixture
    let repository: Repository

    init() throws {
        fixture = try Fixture()
        repository = try fixture.open()
    }

    private func entry() throws -> TreeEntry {
        let tip = try #require(try repository.tip(of: .branch("main")!))
        return try #require(try repository.entry(at: TreePath("Localizable.xcstrings")!, in: repository.tree(of: tip)))
    }

    @Test func `are read once, and those written are known`() throws {
        let files = LocalizedFiles(repository, bytesMax: 1 << 20)
        let entry = try entry()
        let first = try #require(try files.file(entry, path: entry.path))
        #expect(try files.file(entry, path: entry.path)?.bytes === first.bytes)
        let other = LocalizedFile.catalog(try CatalogDocument(parsing: Bytes(Array(#"{ "sourceLanguage" : "en", "strings" : { }, "version" : "1.0" }"#.utf8))))
        let written = TreeEntry(path: entry.path, mode: .file, id: try files.write(other, path: entry.path))
        #expect(try files.file(written, path: entry.path)?.bytes === other.bytes)
        #expect(try repository.blob(written.id).array == other.bytes.array)
    }

    @Test func `are of the form that their path says`() throws {
        let files = LocalizedFiles(repository, bytesMax: 1 << 20)
        let entry = try entry()
        #expect(try files.file(entry, path: entry.path)?.catalog != nil)
        // A table may begin with a brace too, but this is none.
        #expect(try files.file(entry, path: TreePath("fr.lproj/Localizable.strings")!)?.catalog == nil)
    }

    @Test func `that are too large are not read`() throws {
        let entry = try entry()
        #expect(try LocalizedFiles(repository, bytesMax: repository.size(ofBlob: entry.id) - 1).file(entry, path: entry.path) == nil)
    }
}
