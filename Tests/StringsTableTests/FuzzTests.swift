import Foundation
import StringCatalog
import StringsTable
import Testing

/// Files as nobody would write them: the reader must refuse or read them, and what it reads must merge soundly.
@Suite struct `Mutated tables` {
    private static let plain = """
        /* Header */

        // about a
        "a" = "1"; /* behind */ b = two; // more
        /* one */ /* two */
        "c\\U0064" = "x \\"y\\"\\n";


        'e' = { f = (g, h,); i = <0fa0>; // in
            "j"; };
        k;/*l*/"m"="n";
        // dangling
        /* end */
        """
    private static let xml = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<!-- about a -->
        \t<key>a</key><string>1 &amp; <![CDATA[<2>]]></string> <!-- behind -->
        \t<key>b</key>
        \t<dict>
        \t\t<key>NSStringLocalizedFormatKey</key>
        \t\t<string>%#@n@</string>
        \t\t<key>n</key>
        \t\t<dict>
        \t\t\t<key>NSStringFormatSpecTypeKey</key>
        \t\t\t<string>NSStringPluralRuleType</string>
        \t\t\t<key>one</key><string/>
        \t\t\t<key>other</key><string>o</string>
        \t\t</dict>
        \t</dict>
        \t<key>c</key><array><integer>3</integer><true/></array>
        \t<key>d</key><dict/>
        </dict>
        </plist>

        """
    private static let pieces = [
        "\"", ";", "=", "/*", "*/", "//", "\n", "\r\n", " ", "\\", "{", "}", "(", ")", "<", ">", "a", "x = y;", "/* z */", "// z\n", "\"q\" = \"r\";", "\n\n", "<key>q</key><string>r</string>",
        "<dict/>", "</dict>", "<!-- z -->", "&amp;", "&", "“", "\u{feff}", "\0", "é", "<<<<<<< x\n", "\t",
    ]

    /// More of them, where a run asks for it.
    private let rounds = Int(ProcessInfo.processInfo.environment["TABLE_ROUNDS"] ?? "") ?? 2000

    private static func mutated(_ text: [UInt8], _ random: inout Seeded) -> [UInt8] {
        var text = text
        for _ in 0..<Int.random(in: 1..<4, using: &random) {
            guard !text.isEmpty else { break }
            let at = Int.random(in: 0..<text.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: text.removeSubrange(at..<min(text.count, at + Int.random(in: 1..<12, using: &random)))
            case 1: text.insert(contentsOf: text[at..<min(text.count, at + Int.random(in: 1..<40, using: &random))], at: at)
            default: text.insert(contentsOf: Array((pieces.randomElement(using: &random) ?? "").utf8), at: at)
            }
        }
        return text
    }

    @Test(arguments: [(TableKind.strings, plain), (.strings, xml), (.stringsdict, xml)])
    func `are refused or read, and merge to a result that holds`(_ kind: TableKind, _ text: String) throws {
        var random = Seeded(seed: 7)
        var read = 0
        for round in 0..<rounds {
            let base = Array(text.utf8)
            let ours = Self.mutated(base, &random)
            let theirs = Self.mutated(base, &random)
            guard let o = try? TableDocument(parsing: Bytes(ours)), let t = try? TableDocument(parsing: Bytes(theirs)) else { continue }
            read += 1
            #expect(o.rewritten == ours)
            do {
                let merged = try merge(base: TableDocument(parsing: Bytes(base)), ours: o, theirs: t, kind: kind, language: TableLanguage(code: "ru"))
                _ = try baseAfter(merged, base: TableDocument(parsing: Bytes(base)), theirs: t)
            } catch {
                Issue.record("round \(round): \(error)\n--- ours\n\(String(decoding: ours, as: UTF8.self))\n--- theirs\n\(String(decoding: theirs, as: UTF8.self))")
            }
        }
        #expect(read > 20)
    }

    @Test func `do not break the reader in any encoding`() {
        var random = Seeded(seed: 8)
        for _ in 0..<3000 {
            let writing = Writing.allCases.randomElement(using: &random) ?? .utf8
            var bytes = writing.bytes(Bool.random(using: &random) ? Self.plain : Self.xml)
            for _ in 0..<Int.random(in: 1..<6, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                if Bool.random(using: &random) { bytes[at] = UInt8.random(in: 0...255, using: &random) } else { bytes.removeSubrange(at..<min(bytes.count, at + 3)) }
            }
            if let document = try? TableDocument(parsing: Bytes(bytes)) { #expect(document.rewritten == bytes) }
        }
    }
}
