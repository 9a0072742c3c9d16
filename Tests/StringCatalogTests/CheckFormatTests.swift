import Foundation
import MergeCases
import Testing

@testable import StringCatalog

@Suite struct `Xcode's own form` {
    private func formatted(_ text: String) throws -> String {
        String(decoding: StringCatalog.formatted(try CatalogDocument(parsing: Bytes(Array(text.utf8)))).array, as: UTF8.self)
    }

    @Test func `has its order of keys, its white space and its escapes`() throws {
        let text = "\u{feff}{\"version\":\"1.0\",\"strings\":{\"b10\":{},\"b9\":{\"localizations\":{\"zh-Hans\":{\"stringUnit\":{\"value\":\"a\\/\\u00e9\\r\\u0001\\u2028\",\"state\":\"new\"}},\"de\":{}},\"x\":[1.0,[],true]},\"A\":{}},\"sourceLanguage\":\"en\"}\r\n"
        #expect(
            try formatted(text) == """
                {
                  "sourceLanguage" : "en",
                  "strings" : {
                    "A" : {

                    },
                    "b9" : {
                      "localizations" : {
                        "de" : {

                        },
                        "zh-Hans" : {
                          "stringUnit" : {
                            "state" : "new",
                            "value" : "a/é\\r\\u0001\u{2028}"
                          }
                        }
                      },
                      "x" : [
                        1.0,
                        [

                        ],
                        true
                      ]
                    },
                    "b10" : {

                    }
                  },
                  "version" : "1.0"
                }
                """)
    }

    @Test func `keeps copies of a name in their order, and halves of surrogate pairs`() throws {
        let text = #"{"strings":{"b":{"comment":"1"},"a":{},"b":{"comment":"2"}},"x":"\ud800\udc00 \ud800 \udc00a"}"#
        let once = try formatted(text)
        #expect(once.contains(#""x" : "𐀀 \ud800 \udc00a""#))
        let comments = once.split(separator: "\n").filter { $0.contains("comment") }.map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(comments == [#""comment" : "1""#, #""comment" : "2""#])
        #expect(try formatted(once) == once)
    }

    @Test(arguments: MergeCase.all)
    func `says the same and stays as it is when it is made again`(_ situation: MergeCase) throws {
        for name in ["ours", "theirs", "expected"] {
            guard let bytes = situation.bytes(name + ".xcstrings"), let catalog = try? CatalogDocument(parsing: Bytes(bytes)) else { continue }
            let once = StringCatalog.formatted(catalog).array
            #expect(Tree(once)?.canonical == Tree(bytes)?.canonical)
            #expect(StringCatalog.formatted(try CatalogDocument(parsing: Bytes(once))).array == once)
        }
    }
}
