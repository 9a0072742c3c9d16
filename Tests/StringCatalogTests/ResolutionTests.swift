import Testing

import StringCatalog

/// Three catalogs of one seed.
private struct Triple {
    let base, ours, theirs: CatalogDocument

    init(_ seed: Int) throws {
        var maker = CatalogMaker(seed, isNasty: seed % 4 == 0)
        let tree = maker.catalog(keys: 4 + maker.random.below(6))
        let (first, second) = (maker.edited(tree, edits: 2 + maker.random.below(6)), maker.edited(tree, edits: 2 + maker.random.below(6)))
        base = try CatalogDocument(parsing: Bytes(tree.written(TextStyle())))
        ours = try CatalogDocument(parsing: Bytes(first.written(TextStyle())), like: base)
        theirs = try CatalogDocument(parsing: Bytes(second.written(TextStyle())), like: base)
    }
}

@Suite struct `A remembered decision` {
    private enum Pick: CaseIterable { case ours, theirs, text }

    private func isFileWide(_ conflict: MergeConflict) -> Bool { conflict.path.key == nil }

    @Test func `settles its conflict, on either side, and nothing else changes`() throws {
        var count = 0
        for seed in seeds.map({ $0 + seedStart + 1000 }) {
            let triple = try Triple(seed)
            let merged = try merge(base: triple.base, ours: triple.ours, theirs: triple.theirs)
            let conflicts = merged.report.conflicts.filter { !isFileWide($0) }
            guard !conflicts.isEmpty else { continue }
            for pick in Pick.allCases {
                let chosen = conflicts.filter { pick != .text || $0.path.isText }
                guard !chosen.isEmpty else { continue }
                var policy = MergePolicy()
                policy.resolutions = Resolutions(chosen.map { conflict in
                    let value: String? = switch pick {
                    case .ours: conflict.ours
                    case .theirs: conflict.theirs
                    case .text: "decided \(seed) \"x\"/é"
                    }
                    return Resolution(path: conflict.path, base: conflict.base, one: conflict.ours, other: conflict.theirs, chosen: value)
                })
                count += chosen.count
                let decided = try merge(base: triple.base, ours: triple.ours, theirs: triple.theirs, policy: policy)
                let left = Set(decided.report.conflicts.map(\.path))
                for conflict in chosen { #expect(!left.contains(conflict.path), "seed \(seed), \(pick), \(conflict)") }
                let result = try CatalogDocument(parsing: decided.bytes)
                if pick == .text {
                    // Where a text of one's own does not go with the substitutions beside it, the language stays a conflict.
                    for conflict in chosen where !left.contains(LeafPath(key: conflict.path.key, language: conflict.path.language)) {
                        #expect(result.value(at: conflict.path) == "decided \(seed) \"x\"/é", "seed \(seed)")
                    }
                }
                // The other way round it is the same decision.
                let back = try merge(base: triple.base, ours: triple.theirs, theirs: triple.ours, policy: policy)
                #expect(back.report.conflicts.count == decided.report.conflicts.count, "seed \(seed), \(pick)")
                if decided.report.conflicts.isEmpty, pick != .text {
                    let differences = changes(from: result, to: try CatalogDocument(parsing: back.bytes))
                    #expect(differences.isEmpty, "seed \(seed), \(pick): \(differences.prefix(3))")
                }
            }
        }
        #expect(count > 20)
    }

    @Test func `loses no text without a word`() throws {
        for seed in seeds.map({ $0 + seedStart + 5000 }) {
            let triple = try Triple(seed)
            let conflicts = try merge(base: triple.base, ours: triple.ours, theirs: triple.theirs).report.conflicts.filter { !isFileWide($0) }
            guard !conflicts.isEmpty else { continue }
            var policy = MergePolicy()
            policy.resolutions = Resolutions(conflicts.map { Resolution(path: $0.path, base: $0.base, one: $0.ours, other: $0.theirs, chosen: $0.theirs) })
            let decided = try merge(base: triple.base, ours: triple.ours, theirs: triple.theirs, policy: policy)
            let base = texts(triple.base), result = texts(try CatalogDocument(parsing: decided.bytes))
            let told = Set(decided.report.losses.map { Array($0.text.utf8) } + decided.report.conflicts.flatMap { [$0.ours, $0.theirs].compactMap { $0.map { Array($0.utf8) } } })
            for side in [triple.ours, triple.theirs] {
                for text in texts(side) where !base.contains(text) && !result.contains(text) {
                    #expect(told.contains(text), "seed \(seed): \(String(decoding: text, as: UTF8.self))")
                }
            }
        }
    }

    private func texts(_ document: CatalogDocument) -> Set<[UInt8]> {
        Set(changes(from: nil, to: document).filter(\.isOfText).compactMap { $0.new.map { Array($0.utf8) } })
    }

    @Test func `speaks of its three values only`() throws {
        func document(_ text: String) throws -> CatalogDocument {
            try CatalogDocument(parsing: Bytes(Array("{\"strings\":{\"K\":{\"localizations\":{\"fr\":{\"stringUnit\":{\"value\":\"\(text)\"}}}}}}".utf8)))
        }
        var policy = MergePolicy()
        let place = LeafPath(key: "K", language: "FR", field: "stringUnit.value")
        policy.resolutions = Resolutions([Resolution(path: place, base: "a", one: "b", other: "c", chosen: "d")])
        for (base, ours, theirs, expected) in [("a", "b", "c", "d"), ("a", "c", "b", "d"), ("a", "d", "c", "d"), ("a", "b", "d", "d"), ("x", "b", "c", nil), ("a", "b", "x", nil), ("a", "e\u{301}", "c", nil)] as [(String, String, String, String?)] {
            let merged = try merge(base: document(base), ours: document(ours), theirs: document(theirs), policy: policy)
            let text = try CatalogDocument(parsing: merged.bytes).value(at: place)
            #expect(merged.hasConflicts == (expected == nil) && text == (expected ?? ours), "\(base) \(ours) \(theirs)")
        }
    }

    @Test func `is taken from another catalog leaf by leaf, and a second time changes nothing`() throws {
        for seed in seeds.prefix(60) {
            let triple = try Triple(seed)
            let differences = changes(from: triple.ours, to: triple.theirs).map(\.path).filter { $0.key != nil && $0.language == nil && $0.field == nil }
            for path in differences.prefix(4) {
                let taken = try CatalogDocument(parsing: triple.ours.taking([path], from: triple.theirs))
                #expect((taken.value(at: path) == nil) == (triple.theirs.value(at: path) == nil), "seed \(seed)")
                #expect(changes(from: taken, to: triple.theirs).allSatisfy { LeafPath(key: $0.path.key) != path }, "seed \(seed)")
            }
        }
    }
}
