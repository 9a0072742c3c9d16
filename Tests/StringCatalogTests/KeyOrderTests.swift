import Foundation
import Testing

@testable import StringCatalog

@Suite struct `The order of keys` {
    @Test(arguments: [
        ["", " ", "_", "-", ",", ";", ":", "!", "?", ".", "'", "\"", "(", ")", "[", "]", "{", "}", "@", "*", "/", "\\", "&", "#", "%", "+", "<", "=", ">", "|", "~", "$", "0", "1", "a", "A", "b"],
        ["Item 2", "Item 10", "Item 010a", "Items"],
        ["%@ of %@", "%lld", "%lld items", "1", "2", "10", "a"],
        ["cancel", "Cancel", "cancelled"],
        ["Don't", "Don’t stop", "Done"],
        ["a", "á", "b"],
        ["e", "é", "f"],
        ["zh-Hans", "zh-Hant", "zh-HK"],
        ["de", "en", "en_CA", "en-GB", "fr", "nb-NO", "pt-BR", "pt-PT"],
        ["zebra", "Ω", "あ", "中"],
    ])
    func `is Xcode's: numeric, punctuation counts, lower case first`(_ keys: [String]) {
        for (i, a) in keys.enumerated() {
            for b in keys[(i + 1)...] {
                #expect(KeyOrder.xcode.isBefore(Array(a.utf8), Array(b.utf8)), "\"\(a)\" before \"\(b)\"")
                #expect(!KeyOrder.xcode.isBefore(Array(b.utf8), Array(a.utf8)), "\"\(b)\" not before \"\(a)\"")
            }
        }
    }

    @Test func `takes U+2019 for an apostrophe`() {
        #expect(collateByICU(Array("Don’t".utf8), Array("Don't".utf8)) == 0)
        #expect(KeyOrder.xcode.isBefore(Array("Don’t a".utf8), Array("Don't b".utf8)))
        #expect(KeyOrder.xcode.isBefore(Array("Don't a".utf8), Array("Don’t b".utf8)))
    }

    @Test func `is total and the same for ASCII as ICU has it`() {
        var random = Seeded(seedStart + 7)
        for round in 0..<(seeds.count * 50) {
            func key() -> [UInt8] { (0..<random.below(7)).map { _ in random.chance(3) ? UInt8(0x30 + random.below(4)) : UInt8(0x20 + random.below(0x5f)) } }
            let (a, b, c) = (key(), key(), key())
            if let plain = plainOrder(a, b) {
                #expect(plain == collateByICU(a, b), "round \(round): \(String(decoding: a, as: UTF8.self)) and \(String(decoding: b, as: UTF8.self))")
            }
            for order in KeyOrder.allCases {
                #expect(a == b || order.isBefore(a, b) != order.isBefore(b, a), "round \(round)")
                if order.isBefore(a, b), order.isBefore(b, c) { #expect(order.isBefore(a, c), "round \(round)") }
            }
        }
    }

    @Test(.enabled(if: !sharedCatalogs.isEmpty, "the shared corpus is not beside the project"))
    func `holds for more than 99 of 100 neighbours in what Xcode wrote`() throws {
        var pairs = 0
        var inOrder = 0
        for file in sharedCatalogs where file.path.contains("/catalogs/") {
            let bytes = Array(try Data(contentsOf: file))
            // Xcode's own writing; a final line feed is often added by others.
            guard bytes.starts(with: Array("{\n  \"sourceLanguage\" : ".utf8)), let tree = Tree(bytes) else { continue }
            guard tree.written() == bytes || tree.written() + [10] == bytes else { continue }
            let keys = tree["strings"]?.members.map(\.name) ?? []
            for (a, b) in zip(keys, keys.dropFirst()) {
                pairs += 1
                if KeyOrder.xcode.isBefore(a, b) { inOrder += 1 }
            }
        }
        #expect(pairs > 1000)
        #expect(Double(inOrder) > 0.99 * Double(pairs), "\(inOrder) of \(pairs)")
    }

    @Test func `is found in a file, or none`() throws {
        func detected(_ keys: [String]) throws -> KeyOrder? {
            let tree = Tree.object(("strings", .object(keys.map { (Array($0.utf8), .object([])) })))
            return KeyOrder.detected(in: try CatalogDocument(parsing: Bytes(tree.written())))
        }
        #expect(try detected(["b", "C", "Item 2", "Item 10"]) == .xcode)
        #expect(try detected(["B", "C", "a", "é"]) == .codePoints)
        #expect(try detected(["b", "C", "Item 10", "Item 2"]) == .caseless)
        #expect(try detected(["z", "a", "y", "b", "x"]) == nil)
    }

    @Test func `knows the plural categories of languages`() {
        #expect(pluralCategories(of: "en") == [.one, .other])
        #expect(pluralCategories(of: "fr") == [.one, .many, .other])
        #expect(pluralCategories(of: "ar") == Set(PluralCategory.allCases))
        #expect(pluralCategories(of: "ja") == [.other])
        #expect(pluralCategories(of: "pt_BR") == pluralCategories(of: "pt-BR"))
        #expect(pluralCategories(of: "zh-Hans") == [.other])
    }
}
