import Foundation
import StringCatalog
import StringsTable
import Testing

/// Real files, where they are at hand: `shared/corpus/strings` beside the package or above it.
private let corpus: [URL] = {
    var folder = URL(filePath: #filePath)
    while folder.path != "/" {
        folder.deleteLastPathComponent()
        let candidate = folder.appending(path: "shared/corpus/strings")
        guard let files = FileManager.default.enumerator(at: candidate, includingPropertiesForKeys: [.isRegularFileKey]) else { continue }
        let found = files.compactMap { $0 as? URL }.filter { TableKind(path: $0.path) != nil }.sorted { $0.path < $1.path }
        if !found.isEmpty { return found }
    }
    return []
}()

private let plutil: URL? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { URL(filePath: String($0)).appending(path: "plutil") }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }

/// What `plutil` reads in a file, as JSON; nil where it refuses.
private func plutilContent(_ file: URL) throws -> NSDictionary? {
    let process = Process()
    let output = Pipe()
    process.executableURL = plutil
    process.arguments = ["-convert", "json", "-o", "-", file.path]
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return process.terminationStatus == 0 ? try JSONSerialization.jsonObject(with: data) as? NSDictionary : nil
}

private func plain(_ content: TableContent) -> Any {
    switch content {
    case .text(let text): text
    case .dictionary(let members): NSDictionary(dictionary: Dictionary(members.map { ($0.key, plain($0.value)) }) { $1 })
    case .array(let values): values.map(plain)
    case .other(let lexeme): lexeme
    }
}

@Suite struct `Real tables` {
    @Test(.enabled(if: !corpus.isEmpty), arguments: corpus)
    func `are read to the same bytes, or refused as binary`(_ file: URL) throws {
        let bytes = Array(try Data(contentsOf: file))
        guard !bytes.starts(with: Array("bplist".utf8)) else {
            #expect(throws: TableError.self) { try TableDocument(parsing: Bytes(bytes)) }
            return
        }
        let document = try TableDocument(parsing: Bytes(bytes))
        #expect(document.rewritten == bytes)
        let merged = try merge(base: document, ours: document, theirs: document, kind: TableKind(path: file.path)!)
        #expect(merged.isUnchanged)
    }

    @Test(.enabled(if: !corpus.isEmpty && plutil != nil), arguments: corpus)
    func `say what plutil reads`(_ file: URL) throws {
        guard let expected = try plutilContent(file), let document = try? TableDocument(parsing: Bytes(Array(Data(contentsOf: file)))) else { return }
        let found = Dictionary(document.entries.map { ($0.key, plain($0.content)) }) { $1 }
        #expect(expected.isEqual(to: found))
    }

    /// Every row taken out, and put back by a merge: what stands around it must not move.
    @Test(.enabled(if: !corpus.isEmpty), arguments: corpus)
    func `lose a row and get it back`(_ file: URL) throws {
        guard let kind = TableKind(path: file.path), let document = try? TableDocument(parsing: Bytes(Array(Data(contentsOf: file)))) else { return }
        var random = Seeded(seed: UInt64(document.bytes.count))
        let entries = document.entries
        for _ in 0..<min(entries.count, 4) {
            let index = Int.random(in: 0..<entries.count, using: &random)
            let without = try TableDocument(parsing: document.removing([index]))
            #expect(without.entries.map(\.key) == entries.map(\.key).enumerated().filter { $0.offset != index }.map(\.element))
            let back = try merge(base: without, ours: without, theirs: document, kind: kind)
            let again = try TableDocument(parsing: back.bytes)
            #expect(again.entries.map(\.key) == entries.map(\.key), "row \(index) of \(file.lastPathComponent)")
            #expect(again.entries.map(\.comment) == entries.map(\.comment))
            // A file without anything would remove nothing.
            guard !without.entries.isEmpty else { continue }
            let gone = try merge(base: document, ours: document, theirs: without, kind: kind)
            #expect(gone.bytes.array == without.bytes.array)
        }
    }

    /// Texts and comments set at random places: nothing else may become different, and the old text brings the old content back.
    @Test(.enabled(if: !corpus.isEmpty), arguments: corpus)
    func `take an edit of one place alone`(_ file: URL) throws {
        guard let kind = TableKind(path: file.path), let document = try? TableDocument(parsing: Bytes(Array(Data(contentsOf: file)))) else { return }
        var random = Seeded(seed: UInt64(document.bytes.count))
        let keys = document.entries.map(\.key)
        for _ in 0..<min(keys.count, 8) {
            let places = document.leaves(of: keys.randomElement(using: &random)!, language: "fr")
            let place = places.keys.sorted { ($0.field ?? "") < ($1.field ?? "") }.randomElement(using: &random)!
            guard CatalogChange.isText(place), let old = places[place] else { continue }
            let text = "é \"\(Int.random(in: 0..<100, using: &random))\" < %@"
            let edited: TableDocument
            do { edited = try TableDocument(parsing: document.setting(text, at: place, kind: kind)) } catch is EditFault where kind == .stringsdict {
                // A format that no longer has its variables.
                continue
            }
            #expect(changes(from: document, to: edited, language: "fr").map(\.path) == [place], "\(place) of \(file.lastPathComponent)")
            #expect(edited.value(at: place) == text)
            #expect(edited.entries.map(\.key) == keys)
            let back = try TableDocument(parsing: edited.setting(old, at: place, kind: kind))
            #expect(changes(from: document, to: back).isEmpty)
            let taken = try edited.taking([place], from: document, kind: kind)
            #expect(taken.array == document.bytes.array || place.field?.hasSuffix("comment") == true, "\(place) of \(file.lastPathComponent)")
        }
    }
}

extension CatalogChange {
    /// Whether a place of a table is one that a text can be set at.
    fileprivate static func isText(_ place: LeafPath) -> Bool {
        !(place.field?.hasSuffix("TypeKey") ?? true) && !(place.field?.contains { $0.isNumber } ?? false)
    }
}

/// Random numbers that a seed repeats.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &+ 0x9e37_79b9_7f4a_7c15 }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
