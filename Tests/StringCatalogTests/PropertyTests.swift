import Foundation
import Testing

import StringCatalog

private func document(_ tree: Tree, _ style: TextStyle = TextStyle()) throws -> CatalogDocument {
    try CatalogDocument(parsing: Bytes(tree.written(style)))
}

/// What a catalog says, in one spelling; the spelling of a language does not count.
private func said(_ bytes: Bytes, _ policy: MergePolicy = MergePolicy()) throws -> String { said(try #require(Tree(bytes.array)), policy) }
private func said(_ tree: Tree, _ policy: MergePolicy = MergePolicy()) -> String {
    String(decoding: tree.spelledAlike(inLocalizations: false, policy).canonical, as: UTF8.self)
}

/// Two codes that stand beside each other in many of the catalogs made here.
private let chinese: LanguageAliases = {
    var aliases = LanguageAliases()
    aliases.unite(["zh-Hans", "zh-CN"])
    return aliases
}()

private func spelledAlike(_ language: String, _ policy: MergePolicy) -> String {
    let name = language.lowercased().replacing("_", with: "-")
    return name == "zh-hans" && !policy.aliases.isEmpty ? "zh-cn" : name
}

extension MergePolicy {
    fileprivate init(sourceSide: SourceSide = .none, aliases: LanguageAliases) {
        self.init(sourceSide: sourceSide)
        self.aliases = aliases
    }
}

extension Tree {
    fileprivate func spelledAlike(inLocalizations: Bool, _ policy: MergePolicy) -> Tree {
        guard case .object(let members) = self else { return self }
        // Two codes of one language that stand beside each other are two texts.
        let spellings = Set(members.map { StringCatalogTests.spelledAlike(String(decoding: $0.name, as: UTF8.self), MergePolicy()) })
        let policy = spellings.isSuperset(of: ["zh-cn", "zh-hans"]) ? MergePolicy() : policy
        return .object(members.map { member in
            let name = inLocalizations ? Array(StringCatalogTests.spelledAlike(String(decoding: member.name, as: UTF8.self), policy).utf8) : member.name
            return (name, member.value.spelledAlike(inLocalizations: member.name == Array("localizations".utf8), policy))
        })
    }
}

/// Whether two texts are equal scalar by scalar.
private func isSame(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }

/// Where two texts part, for a message.
private func parting(_ a: String, _ b: String) -> String {
    let x = Array(a.utf8)
    let y = Array(b.utf8)
    let i = zip(x, y).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? min(x.count, y.count)
    func piece(_ bytes: [UInt8]) -> String { String(decoding: bytes[max(0, i - 200)..<min(bytes.count, i + 120)], as: UTF8.self) }
    return "\n\(piece(x))\nagainst\n\(piece(y))"
}

/// The catalogs of the shared corpus; none where it is not beside the project.
let sharedCatalogs: [URL] = {
    var root = URL(filePath: #filePath).deletingLastPathComponent()
    while root.path != "/" {
        for place in ["shared/corpus", "../shared/corpus"] {
            let corpus = root.appending(path: place).standardized
            guard FileManager.default.fileExists(atPath: corpus.path), let files = FileManager.default.enumerator(at: corpus, includingPropertiesForKeys: nil) else { continue }
            return files.compactMap { $0 as? URL }.filter { $0.pathExtension == "xcstrings" }.sorted { $0.path < $1.path }
        }
        root = root.deletingLastPathComponent()
    }
    return []
}()

let seeds = 0..<(ProcessInfo.processInfo.environment["CONCORD_SEEDS"].flatMap { Int($0) } ?? 120)
/// Where the seeds begin: another start is another sample.
let seedStart = ProcessInfo.processInfo.environment["CONCORD_SEED_START"].flatMap { Int($0) } ?? 0

/// Calls `body` with each seed; a fault names the seed and does not end the test.
private func eachSeed(_ body: (Int) throws -> Void) throws {
    for seed in seeds {
        do { try body(seed + seedStart) } catch { Issue.record("seed \(seed + seedStart): \(error)") }
    }
}

@Suite struct `Laws of the merge` {
    /// Three catalogs of one seed, each perhaps in another style and order.
    private struct Triple {
        var base, ours, theirs: Tree
        var baseStyle, oursStyle, theirsStyle: TextStyle

        init(_ seed: Int, isNasty: Bool = false) {
            var maker = CatalogMaker(seed, isNasty: isNasty, respells: true)
            base = maker.catalog(keys: 3 + maker.random.below(8))
            ours = maker.edited(base, edits: maker.random.below(6))
            theirs = maker.edited(base, edits: maker.random.below(6))
            func style(_ maker: inout CatalogMaker) -> TextStyle { maker.random.chance(2) ? TextStyle() : maker.random.pick(TextStyle.all).style }
            (baseStyle, oursStyle, theirsStyle) = (style(&maker), style(&maker), style(&maker))
            if maker.random.chance(5), case .object(let members) = theirs["strings"] { theirs["strings"] = .object(members.shuffled(using: &maker.random)) }
        }

        func documents() throws -> (base: CatalogDocument, ours: CatalogDocument, theirs: CatalogDocument) {
            let base = try document(base, baseStyle)
            return (base, try CatalogDocument(parsing: Bytes(ours.written(oursStyle)), like: base), try CatalogDocument(parsing: Bytes(theirs.written(theirsStyle)), like: base))
        }
    }

    private static let policies: [(String, MergePolicy, MergePolicy)] = [
        ("no roles", MergePolicy(), MergePolicy()),
        ("source ours", MergePolicy(sourceSide: .ours), MergePolicy(sourceSide: .theirs)),
        ("source theirs", MergePolicy(sourceSide: .theirs), MergePolicy(sourceSide: .ours)),
        ("source ours, flag stale", MergePolicy(sourceSide: .ours, flagsStale: true), MergePolicy(sourceSide: .theirs, flagsStale: true)),
        ("draft", MergePolicy(sourceSide: .ours, rules: [.init(choice: .draft)]), MergePolicy(sourceSide: .theirs, rules: [.init(choice: .draft)])),
        ("aliases", MergePolicy(aliases: chinese), MergePolicy(aliases: chinese)),
        ("aliases, source theirs", MergePolicy(sourceSide: .theirs, aliases: chinese), MergePolicy(sourceSide: .ours, aliases: chinese)),
        ("reviewed wins", MergePolicy(sourceSide: .theirs, rules: [.init(choice: .reviewedWins)]), MergePolicy(sourceSide: .ours, rules: [.init(choice: .reviewedWins)])),
    ]

    @Test(.enabled(if: !sharedCatalogs.isEmpty, "the shared corpus is not beside the project"))
    func `a real catalog merged with itself is itself, byte for byte`() throws {
        for file in sharedCatalogs {
            let bytes = Bytes(Array(try Data(contentsOf: file)))
            guard let x = try? CatalogDocument(parsing: bytes) else {
                #expect((try? JSONSerialization.jsonObject(with: Data(bytes.array))) == nil, "\(file.lastPathComponent) is JSON and does not parse")
                continue
            }
            let again = try CatalogDocument(parsing: bytes, like: x)
            let merged = try merge(base: x, ours: again, theirs: x)
            #expect(merged.isUnchanged && merged.bytes === bytes && merged.report.conflicts.isEmpty, "\(file.path)")
        }
    }

    @Test func `a catalog merged with itself is itself, byte for byte`() throws {
        try eachSeed { seed in
            let x = try document(Triple(seed, isNasty: true).base)
            let merged = try merge(base: x, ours: x, theirs: x)
            #expect(merged.isUnchanged && !merged.hasConflicts, "seed \(seed)")
        }
    }

    @Test func `what only theirs changed becomes theirs, without a conflict`() throws {
        try eachSeed { seed in
            let triple = Triple(seed, isNasty: seed % 2 == 0)
            let (x, _, y) = try triple.documents()
            let merged = try merge(base: x, ours: x, theirs: y)
            let (a, b) = (try said(merged.bytes), said(triple.theirs))
            #expect(isSame(a, b), "seed \(seed)\(parting(a, b))")
            #expect(!merged.hasConflicts, "seed \(seed)")
        }
    }

    @Test func `what only theirs changed becomes theirs byte for byte, in one style and order`() throws {
        try eachSeed { seed in
            var maker = CatalogMaker(seed)
            let style = maker.random.pick(TextStyle.all)
            let x = sorted(maker.catalog(keys: 10), KeyOrderOracle.codePoints)
            let y = sorted(maker.edited(x, edits: 5), KeyOrderOracle.codePoints)
            let merged = try merge(base: document(x, style.style), ours: document(x, style.style), theirs: document(y, style.style))
            let (a, b) = (String(decoding: merged.bytes.array, as: UTF8.self), String(decoding: y.written(style.style), as: UTF8.self))
            #expect(isSame(a, b), "seed \(seed), \(style.name)\(parting(a, b))")
        }
    }

    @Test func `what only ours changed stays untouched`() throws {
        try eachSeed { seed in
            let (x, y, _) = try Triple(seed, isNasty: seed % 2 == 0).documents()
            let merged = try merge(base: x, ours: y, theirs: x)
            #expect(merged.isUnchanged && merged.bytes === y.bytes && !merged.hasConflicts, "seed \(seed)")
        }
    }

    @Test func `exchanging the sides and their roles gives the same catalog and the same conflicts`() throws {
        try eachSeed { seed in
            let triple = Triple(seed, isNasty: seed % 3 == 0)
            let (base, ours, theirs) = try triple.documents()
            let (name, policy, exchanged) = Self.policies[seed % Self.policies.count]
            let there = try merge(base: base, ours: ours, theirs: theirs, policy: policy)
            let back = try merge(base: base, ours: theirs, theirs: ours, policy: exchanged)
            func places(_ report: MergeReport) -> [String] { report.conflicts.map { "\($0.path.key ?? "") \(spelledAlike($0.path.language ?? "", policy)) \($0.path.field ?? "") \($0.why)" }.sorted() }
            #expect(places(there.report) == places(back.report), "seed \(seed), \(name)")
            guard there.report.conflicts.isEmpty else { return }
            let (a, b) = (try said(there.bytes, policy), try said(back.bytes, policy))
            #expect(isSame(a, b), "seed \(seed), \(name)\(parting(a, b))")
        }
    }

    @Test func `merging again changes nothing`() throws {
        try eachSeed { seed in
            let (base, ours, theirs) = try Triple(seed, isNasty: seed % 3 == 0).documents()
            let (name, policy, _) = Self.policies[seed % Self.policies.count]
            let merged = try merge(base: base, ours: ours, theirs: theirs, policy: policy)
            let again = try merge(base: base, ours: CatalogDocument(parsing: merged.bytes), theirs: theirs, policy: policy)
            #expect(again.isUnchanged, "seed \(seed), \(name)")
            let new = Set(again.report.conflicts.map(\.path)).subtracting(merged.report.conflicts.map(\.path))
            #expect(new.isEmpty, "seed \(seed), \(name)")
        }
    }

    @Test func `no text is lost`() throws {
        try eachSeed { seed in
            let triple = Triple(seed)
            let (base, ours, theirs) = try triple.documents()
            let (name, policy, _) = Self.policies[seed % Self.policies.count]
            let merged = try merge(base: base, ours: ours, theirs: theirs, policy: policy)
            let kept = try #require(Tree(merged.bytes.array)).texts
            let told = merged.report.losses.map(\.text) + merged.report.conflicts.flatMap { [$0.ours, $0.theirs].compactMap { $0 } }
            for text in triple.ours.texts.union(triple.theirs.texts).subtracting(triple.base.texts).subtracting(kept) {
                let lexeme = String(decoding: Tree.quoted(text, TextStyle()), as: UTF8.self)
                let isTold = told.contains { $0.utf8.elementsEqual(text) || $0.contains(lexeme) }
                #expect(isTold, "seed \(seed), \(name): \(String(decoding: text, as: UTF8.self))")
            }
        }
    }

    @Test func `edits of different keys commute to equal bytes, new keys at one place too`() throws {
        try eachSeed { seed in
            var maker = CatalogMaker(seed)
            let order = seed % 2 == 0 ? KeyOrderOracle.codePoints : .caseless
            let x = sorted(maker.catalog(keys: 10), order)
            let style = maker.random.pick(TextStyle.all).style
            // Each side edits its own half of the keys, and adds keys of its own half.
            func half(_ keep: Bool, _ maker: inout CatalogMaker) -> Tree {
                let edited = maker.edited(x, edits: 6)
                let isMine: ([UInt8]) -> Bool = { ($0.reduce(0) { $0 + Int($1) } % 2 == 0) == keep }
                var strings = x["strings"]!.members.filter { !isMine($0.name) }
                strings += edited["strings"]!.members.filter { isMine($0.name) }
                var half = x
                half["strings"] = .object(strings)
                return sorted(half, order)
            }
            let a = half(true, &maker)
            let b = half(false, &maker)
            let (base, first, second) = (try document(x, style), try document(a, style), try document(b, style))
            let ab = try merge(base: base, ours: first, theirs: second)
            let ba = try merge(base: base, ours: second, theirs: first)
            let (one, other) = (String(decoding: ab.bytes.array, as: UTF8.self), String(decoding: ba.bytes.array, as: UTF8.self))
            #expect(!ab.hasConflicts && !ba.hasConflicts, "seed \(seed)")
            #expect(isSame(one, other), "seed \(seed)\(parting(one, other))")
        }
    }

    @Test func `two branches merged into a third commute to equal bytes`() throws {
        try eachSeed { seed in
            var maker = CatalogMaker(seed)
            let x = sorted(maker.catalog(keys: 4), .codePoints)
            func adding(_ keys: [String], _ maker: inout CatalogMaker) -> Tree {
                var new = x
                for key in keys where new["strings"]![key] == nil { new["strings"]![key] = maker.entry() }
                return sorted(new, .codePoints)
            }
            let keys = CatalogMaker.keys.shuffled(using: &maker.random)
            let base = try document(x)
            let a = try document(adding(Array(keys[0..<5]), &maker))
            let b = try document(adding(Array(keys[5..<10]), &maker))
            let viaA = try merge(base: base, ours: CatalogDocument(parsing: merge(base: base, ours: base, theirs: a).bytes), theirs: b)
            let viaB = try merge(base: base, ours: CatalogDocument(parsing: merge(base: base, ours: base, theirs: b).bytes), theirs: a)
            let (one, other) = (String(decoding: viaA.bytes.array, as: UTF8.self), String(decoding: viaB.bytes.array, as: UTF8.self))
            #expect(isSame(one, other), "seed \(seed)\(parting(one, other))")
        }
    }
}

@Suite struct `The base of the next merge` {
    private func holding(_ seed: Int) throws -> (base: CatalogDocument, ours: CatalogDocument, theirs: CatalogDocument, merged: CatalogMerge, next: CatalogDocument)? {
        var maker = CatalogMaker(seed, isNasty: seed % 4 == 0, respells: true)
        let x = maker.catalog(keys: 4)
        let base = try document(x)
        let ours = try document(maker.edited(x, edits: 8))
        let theirs = try document(maker.edited(x, edits: 8))
        let merged = try merge(base: base, ours: ours, theirs: theirs)
        guard merged.hasConflicts else { return nil }
        return (base, ours, theirs, merged, try CatalogDocument(parsing: baseAfter(merged, base: base, theirs: theirs)))
    }

    @Test func `is theirs where nothing is held`() throws {
        let base = try document(.object(("strings", .object(("a", .object([]))))))
        let theirs = try document(.object(("strings", .object(("a", .object(("comment", .text("new"))))))))
        let merged = try merge(base: base, ours: base, theirs: theirs)
        #expect(try baseAfter(merged, base: base, theirs: theirs) === theirs.bytes)
    }

    @Test func `keeps the conflicts as they are, and nothing else comes over`() throws {
        var found = 0
        try eachSeed { seed in
            guard let (_, _, theirs, merged, next) = try holding(seed) else { return }
            found += 1
            let again = try merge(base: next, ours: CatalogDocument(parsing: merged.bytes), theirs: theirs)
            #expect(again.isUnchanged, "seed \(seed)")
            func rows(_ report: MergeReport) -> [String] { report.conflicts.map { "\($0.path) \($0.base ?? "-") \($0.ours ?? "-") \($0.theirs ?? "-") \($0.why)" }.sorted() }
            let (before, after) = (rows(merged.report), rows(again.report))
            #expect(before.count == after.count && Set(merged.report.conflicts.map(\.path)) == Set(again.report.conflicts.map(\.path)), "seed \(seed): \(before) became \(after)")
        }
        #expect(found > seeds.count / 10)
    }

    @Test func `has no conflict left once ours has taken theirs`() throws {
        try eachSeed { seed in
            guard let (_, _, theirs, _, next) = try holding(seed) else { return }
            let again = try merge(base: next, ours: theirs, theirs: theirs)
            #expect(again.isUnchanged && !again.hasConflicts, "seed \(seed)")
        }
    }

    @Test func `has no conflict left at a text that ours has taken from theirs`() throws {
        try eachSeed { seed in
            guard let (_, _, theirs, merged, next) = try holding(seed) else { return }
            let texts = merged.report.conflicts.filter { $0.path.language != nil && $0.path.field?.hasSuffix("stringUnit.value") == true && $0.theirs != nil }
            guard !texts.isEmpty else { return }
            var result = try #require(Tree(merged.bytes.array))
            for conflict in texts {
                let path = ["strings", conflict.path.key!, "localizations", conflict.path.language!] + conflict.path.field!.split(separator: ".").map(String.init)
                result = setting(result, at: path[...], to: conflict.theirs!)
            }
            let again = try merge(base: next, ours: document(result), theirs: theirs)
            let left = again.report.conflicts.filter { conflict in texts.contains { $0.path == conflict.path } }
            #expect(left.isEmpty, "seed \(seed): \(left)")
        }
    }

    private func setting(_ tree: Tree, at path: ArraySlice<String>, to text: String) -> Tree {
        guard let name = path.first, var inner = tree[name] else { return tree }
        inner = path.count == 1 ? .text(text) : setting(inner, at: path.dropFirst(), to: text)
        var tree = tree
        tree[name] = inner
        return tree
    }

    @Test func `lets ours edit what has arrived`() throws {
        try eachSeed { seed in
            guard let (_, _, theirs, merged, next) = try holding(seed) else { return }
            // Each text that stands in theirs and the result alike has arrived; ours edits all of them.
            let result = try #require(Tree(merged.bytes.array))
            let arrived = try #require(Tree(theirs.bytes.array))
            let edited = editing(result, alike: arrived)
            let again = try merge(base: next, ours: document(edited), theirs: theirs)
            let old = Set(merged.report.conflicts.map(\.path))
            let new = again.report.conflicts.filter { conflict in
                !old.contains(conflict.path) && !old.contains { $0.key == conflict.path.key && ($0.language == nil || $0.language == conflict.path.language) && ($0.field == nil || conflict.path.field?.hasPrefix($0.field!) == true) }
            }
            #expect(new.isEmpty, "seed \(seed): \(new)")
        }
    }

    private func editing(_ tree: Tree, alike other: Tree?) -> Tree {
        guard case .object(let members) = tree, let other, case .object = other else { return tree }
        return .object(members.map { member in
            let name = String(decoding: member.name, as: UTF8.self)
            let twin = other[name]
            if name == "value", let text = member.value.string, let same = twin?.string, isSame(text, same) { return (member.name, .text(text + " edited")) }
            return (member.name, editing(member.value, alike: twin))
        })
    }
}

/// Two orders that are simple enough to be told here.
enum KeyOrderOracle { case codePoints, caseless }

/// A catalog with its keys in an order, and the members of all other objects by code point.
func sorted(_ catalog: Tree, _ order: KeyOrderOracle) -> Tree {
    func isBefore(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        switch order {
        case .codePoints: return a.lexicographicallyPrecedes(b)
        case .caseless:
            let (x, y) = (String(decoding: a, as: UTF8.self).lowercased(), String(decoding: b, as: UTF8.self).lowercased())
            return x.utf8.elementsEqual(y.utf8) ? a.lexicographicallyPrecedes(b) : x.utf8.lexicographicallyPrecedes(y.utf8)
        }
    }
    func byCodePoint(_ tree: Tree, _ isLanguages: Bool) -> Tree {
        guard case .object(let members) = tree else { return tree }
        let inner = members.map { ($0.name, byCodePoint($0.value, $0.name == Array("localizations".utf8))) }
        if isLanguages {
            let order = CatalogMaker.languages
            return .object(inner.sorted { order.firstIndex(of: String(decoding: $0.0, as: UTF8.self))! < order.firstIndex(of: String(decoding: $1.0, as: UTF8.self))! })
        }
        return .object(inner.sorted { $0.0.lexicographicallyPrecedes($1.0) })
    }
    var result = catalog
    let strings = catalog["strings"]?.members ?? []
    result["strings"] = .object(strings.map { ($0.name, byCodePoint($0.value, false)) }.sorted { isBefore($0.0, $1.0) })
    return result
}
