import StringCatalog
import Testing

private let text = """
    {
      "sourceLanguage" : "en",
      "strings" : {
        "Apple" : {
          "localizations" : {
            "de" : {
              "stringUnit" : {
                "state" : "translated",
                "value" : "Apfel"
              }
            },
            "ru" : {
              "variations" : {
                "plural" : {
                  "one" : {
                    "stringUnit" : {
                      "state" : "translated",
                      "value" : "яблоко"
                    }
                  },
                  "other" : {
                    "stringUnit" : {
                      "state" : "translated",
                      "value" : "яблока"
                    }
                  }
                }
              }
            }
          }
        },
        "Pear" : {

        }
      },
      "version" : "1.0"
    }
    """

private func document(_ text: String) throws -> CatalogDocument { try CatalogDocument(parsing: Bytes(Array(text.utf8))) }
private func string(_ bytes: Bytes) -> String { String(decoding: bytes.array, as: UTF8.self) }

@Suite struct `An edit of one leaf` {
    @Test func `changes its bytes and no others`() throws {
        let edited = try document(text).setting("Äpfel \"2\"", state: "needs_review", at: LeafPath(key: "Apple", language: "de"))
        #expect(string(edited) == text.replacingOccurrences("\"translated\",\n            \"value\" : \"Apfel\"", "\"needs_review\",\n            \"value\" : \"Äpfel \\\"2\\\"\""))
    }

    @Test func `to what is there gives the same bytes`() throws {
        let document = try document(text)
        #expect(try document.setting("Apfel", state: "translated", at: LeafPath(key: "Apple", language: "DE")) === document.bytes)
    }

    @Test func `adds a plural category, a language, and a key in its place`() throws {
        var bytes = try document(text).setting("яблок", state: "new", at: LeafPath(key: "Apple", language: "ru", field: "variations.plural.many.stringUnit.value"))
        bytes = try CatalogDocument(parsing: bytes).setting("Birne", at: LeafPath(key: "Pear", language: "de"))
        bytes = try CatalogDocument(parsing: bytes).setting("Banane", state: "translated", at: LeafPath(key: "Banana", language: "de"))
        let result = try CatalogDocument(parsing: bytes)
        #expect(result.value(at: LeafPath(key: "Apple", language: "ru", field: "variations.plural.many.stringUnit.state")) == "new")
        #expect(result.value(at: LeafPath(key: "Pear", language: "de", field: "stringUnit.value")) == "Birne")
        #expect(result.value(at: LeafPath(key: "Banana", language: "de", field: "stringUnit.state")) == "translated")
        let order = ["\"Apple\"", "\"Banana\"", "\"Pear\""].map { name in string(bytes).ranges(of: name).first!.lowerBound }
        #expect(order == order.sorted())
        #expect(changes(from: try document(text), to: result).filter { $0.kind == .removed }.isEmpty)
    }

    @Test func `of a text with variations asks for one of them`() throws {
        #expect { try document(text).setting("x", at: LeafPath(key: "Apple", language: "ru")) } throws: { error in
            guard case .form(let places)? = error as? EditFault else { return false }
            return places == ["variations.plural.one.stringUnit.value", "variations.plural.other.stringUnit.value"]
        }
    }

    @Test func `takes a whole key, or its absence, from another catalog`() throws {
        let full = try document(text)
        let removed = try full.taking([LeafPath(key: "Apple")], from: document("{\"strings\" : {}}"))
        #expect(try CatalogDocument(parsing: removed).value(at: LeafPath(key: "Apple")) == nil)
        let back = try CatalogDocument(parsing: removed).taking([LeafPath(key: "Apple")], from: full)
        #expect(changes(from: full, to: try CatalogDocument(parsing: back)).isEmpty)
        #expect(string(back) == text)
    }

    @Test func `is possible at every text of random catalogs, and changes nothing else`() throws {
        for seed in 0..<80 {
            var maker = CatalogMaker(seed, isNasty: seed % 3 == 0)
            let catalog = try CatalogDocument(parsing: Bytes(maker.catalog(keys: 6).written(TextStyle())))
            let texts = changes(from: nil, to: catalog).compactMap(\.path.key).flatMap { catalog.leaves(of: $0).keys.filter(\.isText) }
            for place in Set(texts).prefix(12) {
                let edited = try CatalogDocument(parsing: catalog.setting("edited \(seed)", at: place))
                let differences = changes(from: catalog, to: edited)
                #expect(differences.count == 1 && differences[0].new == "edited \(seed)" && differences[0].path.key == place.key, "seed \(seed), \(place)")
            }
        }
    }
}

extension String {
    fileprivate func replacingOccurrences(_ old: String, _ new: String) -> String { split(separator: old, omittingEmptySubsequences: false).joined(separator: new) }
}
