import Dispatch
import Foundation
import Synchronization
import Testing

@testable import StringCatalog

/// Runs the two on two threads.
private func onTwoThreads(_ here: () -> Void, _ there: @escaping @Sendable () -> Void) {
    let group = DispatchGroup()
    DispatchQueue.global().async(group: group, execute: DispatchWorkItem { there() })
    here()
    group.wait()
}

/// A catalog of more than 4 MB, as it has to be to be read in halves. The entry `trap`, in the middle, holds members that are
/// indented as entries are.
private func large(_ change: (inout String) -> Void = { _ in }) -> [UInt8] {
    var text = "{\n  \"sourceLanguage\" : \"en\",\n  \"strings\" : {\n"
    for i in 0..<16_000 {
        let value = "{\n      \"localizations\" : {\n        \"de\" : {\n          \"stringUnit\" : {\n            \"state\" : \"translated\",\n            \"value\" : \"Größe \(i) und noch etwas Text 設定を保存 dahinter\"\n          }\n        },\n        \"fr\" : {\n          \"stringUnit\" : {\n            \"state\" : \"translated\",\n            \"value\" : \"Un texte \(i)\"\n          }\n        }\n      }\n    }"
        text += "    \"key \(i)\" : \(value),\n"
        if i >= 7_900, i < 8_100 { text += "    \"trap \(i)\" : {\n    \"a\" : \"b\",\n    \"c\" : {\n    \"d\" : 1\n    }\n    },\n" }
    }
    text += "    \"z\" : {\n\n    }\n  },\n  \"version\" : \"1.0\"\n}"
    change(&text)
    return Array(text.utf8)
}

@Suite("Two threads", .timeLimit(.minutes(30))) struct AtOnceTests {
    /// What reading comes to: the places of all entries, or the fault with its place.
    private func outcome(_ bytes: [UInt8], _ atOnce: AtOnce?) -> String {
        do throws(CatalogError) {
            let document = try CatalogDocument(parsing: Bytes(bytes), atOnce: atOnce)
            return "\(document.keyCount) keys " + document.entries.map { "\($0.nameStart) \($0.nameEnd) \($0.valueStart) \($0.valueEnd)" }.joined(separator: ";")
        } catch { return "\(error.line):\(error.column) \(error.sentence)" }
    }

    @Test func `read in two halves a catalog has the entries that it has read in one`() {
        let bytes = large()
        #expect(bytes.count > 4 << 20)
        let halves = outcome(bytes, onTwoThreads)
        #expect(halves == outcome(bytes, nil))
        #expect(halves.hasPrefix("16201 keys"))
    }

    @Test(arguments: 0..<40)
    func `read in two halves a catalog has the fault that it has read in one`(seed: Int) {
        var bytes = large()
        var random = Seeded(seed)
        let at = Int.random(in: bytes.indices, using: &random)
        switch seed % 4 {
        case 0: bytes[at] = 0xff
        case 1: bytes[at] = 0x22
        case 2: bytes.removeSubrange(at...)
        default: bytes[at] = 0x7d
        }
        #expect(outcome(bytes, onTwoThreads) == outcome(bytes, nil), "seed \(seed)")
    }

    @Test func `a merge on two threads gives the same bytes, and writes them`() throws {
        let base = try CatalogDocument(parsing: Bytes(large()))
        let ours = try CatalogDocument(parsing: Bytes(large { $0.replace("Un texte 17\"", with: "Un autre texte\"") }), like: base)
        let theirs = try CatalogDocument(parsing: Bytes(large { $0.replace("Größe 15000 ", with: "Anders ") }), like: base)
        let written = Mutex<[UInt8]>([])
        let merged = try merge(base: base, ours: ours, theirs: theirs, atOnce: onTwoThreads) { pieces in
            unsafe pieces.withUnsafeBuffers { buffers in written.withLock { $0 = unsafe buffers.flatMap { unsafe Array($0) } } }
        }
        let expected = large {
            $0.replace("Un texte 17\"", with: "Un autre texte\"")
            $0.replace("Größe 15000 ", with: "Anders ")
        }
        #expect(merged.bytes.array == expected)
        #expect(written.withLock { $0 } == expected)
        #expect(try merge(base: base, ours: ours, theirs: theirs).bytes.array == expected)
    }
}

@Suite("UTF-8", .timeLimit(.minutes(30))) struct UTF8Tests {
    @Test(arguments: 0..<20)
    func `is told from what is not as the standard library does`(seed: Int) throws {
        var random = Seeded(seed)
        for _ in 0..<300 {
            // Characters of each length, some of them spoilt in one byte.
            var text = (0..<Int.random(in: 1...90, using: &random)).flatMap { _ in
                Array(String(["a", "é", "設", "😀", "\u{7ff}", "\u{800}", "\u{ffff}", "\u{10ffff}", "\u{d7ff}", "\u{e000}"].randomElement(using: &random)!).utf8)
            }
            if Bool.random(using: &random) { text[Int.random(in: text.indices, using: &random)] = UInt8.random(in: 0x80...0xff, using: &random) }
            if Int.random(in: 0..<8, using: &random) == 0 { text.removeLast() }
            let isValid = String(validating: text, as: UTF8.self) != nil
            let bytes = Bytes(Array("{\"strings\":{\"".utf8) + text + Array("\":{}}}".utf8))
            let isRead = (try? CatalogDocument(parsing: bytes)) != nil
            #expect(isRead == isValid, "seed \(seed): \(text)")
        }
    }
}
