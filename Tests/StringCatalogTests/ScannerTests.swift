import Foundation
import Testing

import StringCatalog

/// What is said about bytes that are no catalog: `line:column sentence`; nil where they are one.
private func fault(_ bytes: [UInt8], limits: CatalogLimits = .standard) -> String? {
    do {
        _ = try CatalogDocument(parsing: Bytes(bytes), limits: limits)
        return nil
    } catch { return "\(error.line):\(error.column) \(error.sentence)" }
}

private func fault(_ text: String) -> String? { fault(Array(text.utf8)) }

@Suite struct `Reading a catalog` {
    @Test(arguments: [
        ("", "1:1 the file is empty; a catalog is a JSON object with \"sourceLanguage\", \"strings\" and \"version\""),
        (" \n ", "1:1 the file is empty; a catalog is a JSON object with \"sourceLanguage\", \"strings\" and \"version\""),
        ("[]", "1:1 expected '{' at the start of a catalog, found '['"),
        ("\"x\"", "1:1 expected '{' at the start of a catalog, found '\"'"),
        ("{", "1:2 expected a name in double quotes, but the file ends here"),
        ("{\n  \"a\" : 1,\n}", "3:1 expected a name in double quotes, found '}'"),
        ("{\n  \"a\" : 1\n  \"b\" : 2\n}", "3:3 expected ',' or '}', found '\"'"),
        ("{\n  \"a\" 1\n}", "2:7 expected ':' after a name, found '1'"),
        ("{\n  \"a\" : ,\n}", "2:9 expected a value, found ','"),
        ("{\n  \"a\" : tru\n}", "2:9 expected a value, found 't'"),
        ("{ \"a\" : nil }", "1:9 expected a value, found 'n'"),
        ("{ \"a\" : 'x' }", "1:9 expected a value, found '''"),
        ("{ a : 1 }", "1:3 expected a name in double quotes, found 'a'"),
        ("{ \"a\" : [1, 2 }", "1:15 expected ',' or ']', found '}'"),
        ("{ \"a\" : [1,] }", "1:12 expected a value, found ']'"),
        ("{ \"a\" : 01 }", "1:9 this is not a JSON number"),
        ("{ \"a\" : 1. }", "1:9 this is not a JSON number"),
        ("{ \"a\" : -x }", "1:9 this is not a JSON number"),
        ("{ \"a\" : 1e }", "1:9 this is not a JSON number"),
        ("{ \"a\" : +1 }", "1:9 expected a value, found '+'"),
        ("{ \"a\" : .5 }", "1:9 expected a value, found '.'"),
        ("{ \"a\" : \"x }", "1:9 the string that begins here is not closed before the end of the file"),
        ("{ \"a\" : \"x\n\" }", "1:11 the control character U+000A stands raw in a string; write it as an escape (or a closing '\"' is missing on this line)"),
        ("{ \"a\" : \"\t\" }", "1:10 the control character U+0009 stands raw in a string; write it as an escape"),
        ("{ \"a\" : \"\\x\" }", "1:10 this escape is not JSON; after '\\' stands one of \" \\ / b f n r t or u with four hex digits"),
        ("{ \"a\" : \"\\u12g4\" }", "1:10 this escape is not JSON; after '\\' stands one of \" \\ / b f n r t or u with four hex digits"),
        ("{}\n{}", "2:1 text follows after the end of the catalog"),
        ("{} // done", "1:4 text follows after the end of the catalog"),
        ("{ /* c */ }", "1:3 expected a name in double quotes, found '/'"),
        ("{ \"strings\" : [] }", "1:15 this is not a string catalog: \"strings\" is not an object"),
        ("{ \"é\" é }", "1:7 expected ':' after a name, found 'é'"),
        ("{\r\n  \"a\" : 1,\r\n}", "3:1 expected a name in double quotes, found '}'"),
        ("{\r  \"a\" : 1,\r}", "3:1 expected a name in double quotes, found '}'"),
        ("{ \"日本\" : \"👩‍👩‍👧\", }", "1:19 expected a name in double quotes, found '}'"),
        ("\u{feff}{,}", "1:2 expected a name in double quotes, found ','"),
        ("{ \"strings\" : { \"a\" : { \"comment\" : } } }", "1:37 expected a value, found '}'"),
        ("{\n  \"strings\" : {\n<<<<<<< HEAD\n    \"a\" : {}\n=======\n    \"b\" : {}\n>>>>>>> x\n  }\n}", "3:1 a merge conflict was committed unresolved here; take one side of it and remove the marker lines"),
        ("{\n  \"strings\" : {\n    \"a\" : {},\n=======\n    \"b\" : {}\n  }\n}", "4:1 a merge conflict was committed unresolved here; take one side of it and remove the marker lines"),
        ("{\n  \"strings\" : {\n    \"a\" : {}\n>>>>>>> x\n  }\n}", "4:1 a merge conflict was committed unresolved here; take one side of it and remove the marker lines"),
        ("<<<<<<< HEAD\n{}", "1:1 a merge conflict was committed unresolved here; take one side of it and remove the marker lines"),
        ("{}\n>>>>>>> x\n", "2:1 a merge conflict was committed unresolved here; take one side of it and remove the marker lines"),
        ("{ \"a\" :\n  =======\n}", "2:3 expected a value, found '='"),
    ])
    func `that is not one tells where and why`(_ text: String, _ expected: String) {
        #expect(fault(text) == expected)
    }

    @Test func `tells where bytes are not UTF-8`() {
        #expect(fault(Array("{ \"a\" : \"é".utf8) + [0xff] + Array("\" }".utf8)) == "1:11 this byte is not UTF-8; save the file as UTF-8")
        #expect(fault(Array("{ \"a".utf8) + [0xc3] + Array("\" : 1 }".utf8)) == "1:5 this byte is not UTF-8; save the file as UTF-8")
        // Too long, half of a pair, beyond Unicode, cut off.
        for bytes: [UInt8] in [[0xc0, 0xaf], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf0, 0x9f, 0x98], [0x80]] {
            #expect(fault(Array("{\"a\":\"".utf8) + bytes + Array("\"}".utf8)) == "1:7 this byte is not UTF-8; save the file as UTF-8", "\(bytes)")
        }
        #expect(fault([0x7b, 0xff, 0x7d]) == "1:2 this byte is not UTF-8; save the file as UTF-8")
        #expect(fault([0xff, 0xfe, 0x7b, 0, 0x7d, 0]) != nil)
    }

    @Test func `keeps to its limits of bytes and depth`() {
        func nested(_ depth: Int) -> String { "{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}" }
        #expect(fault(nested(48)) == nil)
        #expect(fault(nested(49)) == "1:54 objects are nested deeper than 48 levels")
        #expect(fault(nested(1_000_000))?.hasSuffix("deeper than 48 levels") == true)
        #expect(fault(Array(nested(3).utf8), limits: CatalogLimits(depthMax: 2)) == "1:8 objects are nested deeper than 2 levels")
        #expect(fault(Array("{\"a\":1}".utf8), limits: CatalogLimits(bytesMax: 6)) == "1:1 the file is larger than the limit of 6 bytes")
        #expect(fault(Array("{\"a\":1}".utf8), limits: CatalogLimits(bytesMax: 7)) == nil)
        #expect(CatalogLimits(bytesMax: .max, depthMax: 1000).depthMax == 63)
    }

    @Test func `counts copies of a key once, however it is spelled`() throws {
        let twice = try CatalogDocument(parsing: Bytes(Array("{\"strings\":{\"é\":{},\"b\":{},\"\\u00e9\":{}}}".utf8)))
        #expect(twice.keyCount == 2 && twice.hasDuplicates)
        let once = try CatalogDocument(parsing: Bytes(Array("{\"strings\":{\"e\u{301}\":{},\"é\":{}}}".utf8)))
        #expect(once.keyCount == 2 && !once.hasDuplicates)
        let last = try CatalogDocument(parsing: Bytes(Array("{\"strings\":{\"a\":{}},\"sourceLanguage\":\"x\",\"strings\":{},\"sourceLanguage\":\"d\\u0065\"}".utf8)))
        #expect(last.keyCount == 0 && last.sourceLanguage == "de")
    }

    @Test func `says the same with and without a document that is like it`() throws {
        for seed in seeds.map({ $0 + seedStart }) {
            var maker = CatalogMaker(seed, isNasty: true)
            let x = maker.catalog()
            let base = try CatalogDocument(parsing: Bytes(x.written()))
            var bytes = maker.edited(x, edits: 4).written(maker.random.pick(TextStyle.all).style)
            if maker.random.chance(2) { mutate(&bytes, &maker.random) }
            func read(like: CatalogDocument?) -> String {
                do {
                    let document = try CatalogDocument(parsing: Bytes(bytes), like: like)
                    return "\(document.keyCount) \(document.hasDuplicates) \(document.sourceLanguage ?? "-")"
                } catch { return "\(error)" }
            }
            #expect(read(like: nil) == read(like: base), "seed \(seed)")
        }
    }

    /// Where the two readers are known to differ:
    /// - half of a surrogate pair as an escape is JSON (RFC 8259, 8.2); Foundation refuses it;
    /// - a number that no Double holds is JSON; Foundation refuses it;
    /// - Foundation takes a comma after the last member of an object or array;
    /// - Foundation reads UTF-16 and UTF-32, and takes NUL bytes for them.
    @Test func `agrees with Foundation on what JSON is`() throws {
        var accepted = 0
        var refused = 0
        for seed in 0..<(seeds.count * 20) {
            var maker = CatalogMaker(seed + seedStart, isNasty: true)
            let style = maker.random.pick(TextStyle.all).style
            var bytes = seed % 20 == 0 ? maker.catalog(keys: 4).written(style) : Tree.object(("strings", .object(("k", maker.entry())))).written(style)
            for _ in 0...maker.random.below(3) { mutate(&bytes, &maker.random) }
            let own = fault(bytes)
            let foundation = (try? JSONSerialization.jsonObject(with: Data(bytes), options: [.fragmentsAllowed])) as Any?
            let text = String(decoding: bytes, as: UTF8.self)
            if bytes.contains(0) || text.contains("\\ud") || text.contains("\\uD") { continue }
            if own?.contains("not a string catalog") == true || own?.contains("at the start of a catalog") == true { continue }
            if own?.contains("nested deeper") == true { continue }
            if own?.hasSuffix("expected a name in double quotes, found '}'") == true || own?.hasSuffix("expected a value, found ']'") == true { continue }
            if own == nil { accepted += 1 } else { refused += 1 }
            if own == nil && foundation == nil && text.contains(/[eE][+-]?\d{3}/) { continue }
            #expect((own == nil) == (foundation != nil), "seed \(seed + seedStart): \(own ?? "accepted") \(text.debugDescription)")
        }
        #expect(accepted > 20 && refused > 100)
    }

    @Test func `of random bytes ends in a catalog or a fault whose place is inside`() throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(2)
        var seed = seedStart
        while clock.now < end {
            seed += 1
            var maker = CatalogMaker(seed, isNasty: true)
            let base = Bytes(maker.catalog(keys: 3).written())
            var bytes = base.array
            for _ in 0..<maker.random.below(20) { mutate(&bytes, &maker.random) }
            let like = try? CatalogDocument(parsing: base)
            do {
                let document = try CatalogDocument(parsing: Bytes(bytes), like: like)
                // What can be read can be merged.
                if let like { _ = try merge(base: like, ours: document, theirs: like) }
                if let like { _ = try merge(base: like, ours: like, theirs: document) }
            } catch let fault as CatalogError {
                #expect(fault.offset <= bytes.count && fault.line >= 1 && fault.column >= 1, "seed \(seed)")
            } catch {
                Issue.record("seed \(seed): \(error) \(String(decoding: bytes, as: UTF8.self).debugDescription)")
            }
        }
    }
}

/// Breaks bytes in one place, as accidents and tools do.
private func mutate(_ bytes: inout [UInt8], _ random: inout Seeded) {
    guard !bytes.isEmpty else { return }
    let i = random.below(bytes.count)
    switch random.below(9) {
    case 0: bytes.remove(at: i)
    case 1: bytes[i] ^= 1 << UInt8(random.below(8))
    case 2: bytes.insert(random.pick(Array("{}[]\",:\\/ \n\t0-1.eE+tfnu".utf8)), at: i)
    case 3: bytes.insert(UInt8(random.below(256)), at: i)
    case 4: bytes.removeSubrange(i..<min(bytes.count, i + 1 + random.below(12)))
    case 5:
        let end = min(bytes.count, i + 1 + random.below(30))
        bytes.insert(contentsOf: bytes[i..<end], at: random.below(bytes.count))
    case 6: bytes.insert(contentsOf: Array(random.pick(["\\u00e9", "\\ud83d\\ude00", "1e5", "null", "-0", "true", "{}", "[]", "\"\":", "é", "\u{2028}"]).utf8), at: i)
    case 7: bytes.swapAt(i, random.below(bytes.count))
    default: bytes[i] = random.pick(Array("{}[]\",:\\ 09".utf8))
    }
}
