import Foundation
import Testing

@testable import Git

/// Merges against what `git merge-tree --write-tree` makes of the same commits.
@Suite struct `Merges of whole trees` {
    let scratch: Scratch
    let peer: Peer
    let repository: Repository

    init() throws {
        scratch = try Scratch()
        peer = try scratch.repository()
        repository = try peer.open()
    }

    /// What `git merge-tree` makes of two commits: a tree, or `nil` and why not.
    private func oracle(_ ours: ObjectID, _ theirs: ObjectID) throws -> (tree: String?, says: String) {
        let ran = try peer.run(["merge-tree", "--write-tree", ours.hex, theirs.hex])
        return (ran.status == 0 ? ran.output.split(separator: "\n").first.map(String.init) : nil, ran.output + ran.errors)
    }

    @Test func `random histories merge to the same tree as git's, and conflict where git's conflict`() throws {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["MERGE_SEED"].flatMap { UInt64($0) } ?? 0
        let count = environment["MERGE_SEEDS"].flatMap { UInt64($0) } ?? 150
        for seed in first..<(first + count) {
            var random = Seeded(seed)
            let base = Files.random(&random)
            var ours = base, theirs = base
            for _ in 0..<Int.random(in: 1...4, using: &random) { ours.change(&random) }
            for _ in 0..<Int.random(in: 1...4, using: &random) { theirs.change(&random) }
            let root = try peer.commit(base.byPath)
            let (one, other) = try (peer.commit(ours.byPath, parents: [root]), peer.commit(theirs.byPath, parents: [root]))
            let merged = try repository.merge(other, into: one)
            let expected = try oracle(one, other)
            let diffs = try [one, other].map { try peer.git("diff-tree", "-r", "-M", "--name-status", root.hex, $0.hex) }
            #expect(merged.tree?.hex == expected.tree, "seed \(seed): \(merged.conflicts), git: \(expected.says), changes: \(diffs)")
        }
        try peer.expectSound()
    }
}

/// A handful of files that change as people change them.
struct Files {
    var byPath: [String: String] = [:]

    static let directories = ["", "app/", "app/en/", "lib/", "lib/deep/down/"]

    static func random(_ random: inout Seeded) -> Files {
        var files = Files()
        for index in 0..<8 {
            files.byPath[directories.randomElement(using: &random)! + "file\(index)"] = lines(tagged: "\(index)", &random)
        }
        return files
    }

    static func lines(tagged tag: String, _ random: inout Seeded) -> String {
        (0..<Int.random(in: 12...30, using: &random)).map { "line \($0) of \(tag) \(UInt16.random(in: 0...9999, using: &random))\n" }.joined()
    }

    mutating func change(_ random: inout Seeded) {
        guard let path = byPath.keys.sorted().randomElement(using: &random), let content = byPath[path] else { return }
        var lines = content.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
        switch Int.random(in: 0..<12, using: &random) {
        case 0...4:
            guard !lines.isEmpty else { return }
            lines[Int.random(in: 0..<lines.count, using: &random)] += " edited \(UInt16.random(in: 0...9999, using: &random))"
            byPath[path] = lines.map { $0 + "\n" }.joined()
        case 5:
            lines.insert("inserted \(UInt16.random(in: 0...9999, using: &random))", at: Int.random(in: 0...lines.count, using: &random))
            byPath[path] = lines.map { $0 + "\n" }.joined()
        case 6:
            byPath[path] = nil
        case 7, 8:
            let name = path.split(separator: "/").last.map(String.init) ?? path
            byPath[path] = nil
            byPath[Self.directories.randomElement(using: &random)! + (Bool.random(using: &random) ? name : "renamed-" + name)] = content
        case 9:
            byPath["app/new\(Int.random(in: 0..<3, using: &random))"] = Self.lines(tagged: "new", &random)
        case 10:
            byPath[path] = content.hasPrefix("#!") ? String(content.dropFirst(10)) : "#!/bin/sh\n" + content
        default:
            let from = Self.directories.dropFirst().randomElement(using: &random)!
            for (path, content) in byPath where path.hasPrefix(from) {
                byPath[path] = nil
                byPath["moved/" + path.dropFirst(from.count)] = content
            }
        }
    }
}
