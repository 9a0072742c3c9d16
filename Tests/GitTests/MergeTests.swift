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
        let count = environment["MERGE_SEEDS"].flatMap { UInt64($0) } ?? 100
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

    // Several merge bases: each side merges what the other was before. git's virtual base is the oracle's.
    @Test func `criss-cross histories merge as git merges them`() throws {
        var severalBases = 0
        for seed in 0..<25 as Range<UInt64> {
            var random = Seeded(seed)
            let base = Files.random(&random)
            var tips: [(files: Files, id: ObjectID)] = [(base, try peer.commit(base.byPath))]
            tips.append(tips[0])
            for step in 1...3 {
                var next: [(files: Files, id: ObjectID)] = []
                for (side, tip) in tips.enumerated() {
                    var files = tip.files
                    files.edit(&random)
                    let id = try peer.commit(files.byPath, parents: [tip.id], seconds: 1_700_000_000 + step * 100 + side * 10)
                    next.append((files, id))
                }
                guard step < 3, let tree = try oracle(next[0].id, next[1].id).tree else { tips = next; continue }
                let merged = Files(byPath: try peer.files(ObjectID(hex: tree)!))
                tips = try [(0, 1), (1, 0)].map { pair in
                    (merged, try peer.commit(merged.byPath, parents: [next[pair.0].id, next[pair.1].id], seconds: 1_700_000_050 + step * 100 + pair.0))
                }
            }
            let (one, other) = (tips[0].id, tips[1].id)
            if try repository.mergeBases(of: one, and: other).count > 1 { severalBases += 1 }
            let expected = try oracle(one, other)
            #expect(try repository.merge(other, into: one).tree?.hex == expected.tree, "seed \(seed): \(expected.says)")
        }
        #expect(severalBases > 8)
        try peer.expectSound()
    }

    @Test func `a conflict in a virtual base is no conflict where both sides settled it alike`() throws {
        let root = try peer.commit(["a": "1\n"], seconds: 1_700_000_000)
        let one = try peer.commit(["a": "2\n"], parents: [root], seconds: 1_700_000_010)
        let other = try peer.commit(["a": "3\n"], parents: [root], seconds: 1_700_000_020)
        let left = try peer.commit(["a": "4\n", "b": "left\n"], parents: [one, other], seconds: 1_700_000_030)
        let right = try peer.commit(["a": "4\n", "c": "right\n"], parents: [other, one], seconds: 1_700_000_040)
        let merged = try repository.merge(right, into: left)
        #expect(merged.tree?.hex == (try oracle(left, right).tree))
        #expect(merged.tree != nil)
    }

    // `git merge` in a work tree heeds the attributes of the branch it is on; `git merge-tree` in a bare repository heeds none.
    @Test(arguments: ["merge=binary", "binary", "-merge", "merge=union", "merge=text", "merge", "merge=unheard-of", "text"])
    func `the attribute merge is heeded as git merge heeds it`(attribute: String) throws {
        func files(_ first: String, _ last: String, _ attribute: String) -> [String: String] {
            let lines = { (first: String, last: String) in "\(first)\nb\nc\nd\ne\n\(last)\n" }
            return ["a.x": lines(first, last), "below/b.x": lines(last, first), "c.txt": lines(first, last), ".gitattributes": "*.x \(attribute)\n"]
        }
        let root = try peer.commit(files("a", "f", attribute))
        // What theirs says of attributes does not count yet.
        let theirs = try peer.commit(files("a", "F", "-merge"), parents: [root])
        for ours in try [peer.commit(files("A", "f", attribute), parents: [root]), peer.commit(files("a", "G", attribute), parents: [root])] {
            let place = scratch.path + "/\(attribute) \(ours.short)"
            try peer.git("worktree", "add", "-q", "--detach", place, ours.hex)
            let ran = try peer.run(["-C", place, "merge", "-q", "--no-edit", theirs.hex])
            let tree = ran.status == 0 ? try peer.git("-C", place, "rev-parse", "HEAD^{tree}") : nil
            let merged = try repository.merge(theirs, into: ours)
            #expect(merged.tree?.hex == tree, "\(merged.conflicts), git: \(ran.output)")
        }
    }

    @Test func `unrelated histories merge over an empty base`() throws {
        let one = try peer.commit(["a": "1\n"]), other = try peer.commit(["b": "2\n"]), third = try peer.commit(["a": "3\n"])
        let merged = try #require(try repository.merge(other, into: one).tree)
        #expect(try peer.files(merged) == ["a": "1\n", "b": "2\n"])
        #expect(try repository.merge(third, into: one).conflicts == [PathConflict(path: TreePath("a")!, kind: .addedTwice)])
    }

    // MARK: Selected files

    /// Merges `theirs` into `ours` with every `.x` file in the caller's hand.
    private func merge(
        base: [String: String]?, ours: [String: String], theirs: [String: String], taking scope: MergeScope = .wholeTree,
        resolving resolve: (FileMerge) throws(GitError) -> FileResolution
    ) throws -> TreeMerge {
        let parents = try base.map { [try peer.commit($0)] } ?? []
        let (one, other) = try (peer.commit(ours, parents: parents), peer.commit(theirs, parents: parents))
        return try repository.merge(other, into: one, taking: scope, selecting: { $0.bytes.suffix(2).elementsEqual(".x".utf8) }, resolving: resolve)
    }

    @Test(arguments: [
        ("only theirs changed it", ["a.x": "1"], ["a.x": "1"], ["a.x": "2"], "a.x", "yyy"),
        ("both changed it", ["a.x": "1"], ["a.x": "3"], ["a.x": "2"], "a.x", "yyy"),
        ("a line merge is clean", ["a.x": "1\n2\n3\n4\n"], ["a.x": "0\n2\n3\n4\n"], ["a.x": "1\n2\n3\n5\n"], "a.x", "yyy"),
        ("only theirs added it", [:], [:], ["a.x": "2"], "a.x", "--y"),
        ("both added it", [:], ["a.x": "1"], ["a.x": "2"], "a.x", "-yy"),
        ("we deleted it", ["a.x": "1"], [:], ["a.x": "2"], "a.x", "y-y"),
        ("they deleted it", ["a.x": "1"], ["a.x": "1"], ["b": "2"], "a.x", "yy-"),
        ("we renamed it", ["a.x": "1\n2\n3\n4\n"], ["n/b.x": "1\n2\n3\n4\n"], ["a.x": "1\n2\n3\n5\n"], "n/b.x", "yyy"),
        ("they renamed it and we changed it", ["a.x": "1\n2\n3\n4\n"], ["a.x": "0\n2\n3\n4\n"], ["b.x": "1\n2\n3\n5\n"], "b.x", "yyy"),
        ("they renamed and changed it", ["a.x": "1\n2\n3\n4\n"], ["a.x": "1\n2\n3\n4\n"], ["b.x": "1\n2\n3\n5\n"], "b.x", "yyy"),
        ("they renamed it out of our hand", ["a.x": "1\n2\n3\n4\n"], ["a.x": "0\n2\n3\n4\n"], ["b.txt": "1\n2\n3\n5\n"], "b.txt", "yyy"),
        ("it is a link on one side", ["a.x": "1"], ["a.x": "->b"], ["a.x": "2"], "a.x", "yyy"),
    ] as [(String, [String: String], [String: String], [String: String], String, String)])
    func `the caller decides about a selected file when`(
        situation: String, base: [String: String], ours: [String: String], theirs: [String: String], path: String, sides: String
    ) throws {
        var asked: [FileMerge] = []
        let merged = try merge(base: base.merging(["k": "k"]) { $1 }, ours: ours.merging(["k": "k"]) { $1 }, theirs: theirs.merging(["k": "k"]) { $1 }) {
            asked.append($0)
            return .bytes(Array("decided".utf8))
        }
        #expect(asked.map(\.path.description) == [path], "\(situation)")
        let file = try #require(asked.first)
        #expect([file.base, file.ours, file.theirs].map { $0 == nil ? "-" : "y" }.joined() == sides)
        #expect(!file.isVirtual)
        let files = try peer.files(try #require(merged.tree, "\(merged.conflicts)"))
        #expect(files[path] == "decided")
        #expect(files.keys.filter { $0.hasSuffix(".x") || $0 == path } == [path])
        try peer.expectSound()
    }

    @Test func `the caller is not asked when theirs changed nothing, or the same`() throws {
        let cases: [([String: String], [String: String], [String: String])] = [
            (["a.x": "1"], ["a.x": "2"], ["a.x": "1", "b": "1"]),
            (["a.x": "1"], ["a.x": "2"], ["a.x": "2", "b": "1"]),
            (["a.x": "1", "c": "1"], ["c": "1"], ["c": "1", "b": "new"]),
            (["a.x": "1\n2\n3\n"], ["a.x": "1\n2\n4\n"], ["z.x": "1\n2\n3\n"]),
        ]
        for (base, ours, theirs) in cases {
            let merged = try merge(base: base, ours: ours, theirs: theirs) { _ in Issue.record("asked"); return .asGit }
            #expect(merged.tree != nil, "\(merged.conflicts)")
        }
    }

    @Test func `each decision has its effect`() throws {
        let (base, ours, theirs) = (["a.x": "1\n", "b": "1\n"], ["a.x": "2\n", "b": "1\n"], ["a.x": "3\n", "b": "2\n"])
        func files(_ resolve: (FileMerge) throws(GitError) -> FileResolution) throws -> [String: String]? {
            try merge(base: base, ours: ours, theirs: theirs, resolving: resolve).tree.map { try peer.files($0) }
        }
        #expect(try files { .entry($0.theirs!) } == ["a.x": "3\n", "b": "2\n"])
        #expect(try files { .entry($0.ours!) } == ["a.x": "2\n", "b": "2\n"])
        #expect(try files { _ in .deleted } == ["b": "2\n"])
        #expect(try files { _ in .asGit } == nil)
        #expect(try files { _ in .conflict("unreadable") } == nil)
        let stored = try repository.write(blob: Array("4\n".utf8))
        #expect(try files { _ in .blob(stored) } == ["a.x": "4\n", "b": "2\n"])
        let failed = try merge(base: base, ours: ours, theirs: theirs) { _ in .conflict("unreadable") }
        #expect(failed.conflicts == [PathConflict(path: TreePath("a.x")!, kind: .unresolved("unreadable"))])
    }

    @Test func `conflicts among other files name them, and selected files alone can still be taken`() throws {
        let (base, ours, theirs) = (["a.x": "1", "b": "1\n", "c": "1\n"], ["a.x": "1", "b": "2\n", "c": "1\n"], ["a.x": "2", "b": "3\n", "c": "4\n"])
        let whole = try merge(base: base, ours: ours, theirs: theirs) { .entry($0.theirs!) }
        #expect(whole.tree == nil)
        #expect(whole.conflicts == [PathConflict(path: TreePath("b")!, kind: .content)])
        let selected = try merge(base: base, ours: ours, theirs: theirs, taking: .selectedFiles) { .entry($0.theirs!) }
        #expect(try peer.files(try #require(selected.tree)) == ["a.x": "2", "b": "2\n", "c": "1\n"])
    }

    @Test func `the error of the caller is the error of the merge`() throws {
        let kind = GitError.Kind.thrown { () throws(GitError) in
            let tree = try repository.write(tree: nil, with: [.put(TreeEntry(path: TreePath("a.x")!, mode: .file, id: repository.write(blob: [1])))])
            let empty = try repository.write(tree: nil, with: [])
            _ = try repository.merge(tree: tree, into: empty, base: nil, selecting: { _ in true }) { _ throws(GitError) in
                throw GitError(.limit, stage: "decide", detail: "enough")
            }
        }
        #expect(kind == .limit)
    }

    @Test func `a virtual base is decided by the caller too, and told apart`() throws {
        let root = try peer.commit(["a.x": "1\n"], seconds: 1_700_000_000)
        let one = try peer.commit(["a.x": "2\n"], parents: [root], seconds: 1_700_000_010)
        let other = try peer.commit(["a.x": "3\n"], parents: [root], seconds: 1_700_000_020)
        let left = try peer.commit(["a.x": "left\n"], parents: [one, other], seconds: 1_700_000_030)
        let right = try peer.commit(["a.x": "right\n"], parents: [other, one], seconds: 1_700_000_040)
        var bases: [String] = []
        let merged = try repository.merge(right, into: left, selecting: { _ in true }) { file throws(GitError) in
            guard !file.isVirtual else { return .bytes(Array("virtual".utf8)) }
            bases.append(String(decoding: try repository.blob(file.base!.id).array, as: UTF8.self))
            return .entry(file.theirs!)
        }
        #expect(bases == ["virtual"])
        #expect(merged.tree != nil)
    }

    // MARK: What git calls a conflict

    @Test(arguments: [
        ("both changed a line", ["a": "1\n"], ["a": "2\n"], ["a": "3\n"], .content),
        ("both changed a binary", ["a": "\u{1}\n"], ["a": "\0\u{2}\n"], ["a": "\0\u{3}\n"], .binary),
        ("both added", [:], ["a": "2\n"], ["a": "3\n"], .addedTwice),
        ("we deleted", ["a": "1\n"], [:], ["a": "2\n"], .deletedByUs),
        ("they deleted", ["a": "1\n"], ["a": "2\n"], [:], .deletedByThem),
        ("both changed a link", ["a": "->1"], ["a": "->2"], ["a": "->3"], .content),
        ("link and file", ["a": "->1"], ["a": "->2"], ["a": "3"], .mode),
        ("file and directory", [:], ["a": "1\n"], ["a/b": "1\n"], .pathTaken),
        ("directory and file", [:], ["a/b": "1\n"], ["a": "1\n"], .pathTaken),
        ("a directory moved, a file added", ["d/1": "1\n2\n3\n", "d/2": "4\n5\n6\n"], ["e/1": "1\n2\n3\n", "e/2": "4\n5\n6\n"], ["d/1": "1\n2\n3\n", "d/2": "4\n5\n6\n", "d/3": "7\n"], .directoryRenamed),
        ("renamed to two names", ["a": "1\n2\n3\n"], ["b": "1\n2\n3\n"], ["c": "1\n2\n3\n"], .renamedTwice),
    ] as [(String, [String: String], [String: String], [String: String], PathConflict.Kind)])
    func `a conflict has the kind that says why`(
        situation: String, base: [String: String], ours: [String: String], theirs: [String: String], kind: PathConflict.Kind
    ) throws {
        let root = try peer.commit(base.merging(["k": "k"]) { $1 })
        let one = try peer.commit(ours.merging(["k": "k"]) { $1 }, parents: [root])
        let other = try peer.commit(theirs.merging(["k": "k"]) { $1 }, parents: [root])
        let merged = try repository.merge(other, into: one)
        #expect(Set(merged.conflicts.map(\.kind)) == [kind], "\(situation)")
        #expect(merged.tree == nil)
        #expect(try oracle(one, other).tree == nil)
    }

    @Test func `a path into .git does not come in by a merge`() throws {
        let blob = try peer.git("hash-object", "-w", "--stdin", input: "#!/bin/sh\n")
        let inner = try peer.git("mktree", input: "100755 blob \(blob)\tpost-checkout\n")
        let theirs = try #require(ObjectID(hex: peer.git("mktree", input: "040000 tree \(inner)\t.GIT\n")))
        let empty = try repository.write(tree: nil, with: [])
        let merged = try repository.merge(tree: theirs, into: empty, base: nil)
        #expect(merged.conflicts.map(\.kind) == [.unsafePath])
    }

    @Test(.timeLimit(.minutes(30))) func `a merge in a tree of fifty thousand files writes what changed`() throws {
        var stream = "commit refs/heads/big\nmark :1\ncommitter Bob <bob@example.org> 1700000000 +0000\ndata 1\nb\n"
        for index in 0..<50_000 { stream += "M 100644 inline d\(index / 100)/f\(index)\ndata 2\n\(index % 10)\n\n" }
        for side in ["one", "two"] {
            stream += "commit refs/heads/\(side)\nmark :\(side == "one" ? 2 : 3)\ncommitter Bob <bob@example.org> 1700000001 +0000\ndata 1\nb\nfrom :1\n"
            stream += "M 100644 inline d7/\(side)\ndata 1\nx\n"
        }
        try peer.git("fast-import", "--quiet", "--force", "--date-format=raw", input: stream)
        let (one, two) = try (peer.id("refs/heads/one"), peer.id("refs/heads/two"))
        func looseCount() throws -> Int { Int(try peer.git("count-objects").split(separator: " ")[0]) ?? -1 }
        let before = try looseCount()
        let merged = try repository.merge(two, into: one)
        // The directory and the top.
        #expect(try looseCount() - before == 2)
        #expect(merged.tree?.hex == (try oracle(one, two).tree))
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

    /// One changed line in a random file.
    mutating func edit(_ random: inout Seeded) {
        guard let path = byPath.keys.sorted().randomElement(using: &random), let content = byPath[path] else { return }
        var lines = content.split(separator: "\n").map(String.init)
        lines[Int.random(in: 0..<lines.count, using: &random)] += " edited \(UInt16.random(in: 0...9999, using: &random))"
        byPath[path] = lines.map { $0 + "\n" }.joined()
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
