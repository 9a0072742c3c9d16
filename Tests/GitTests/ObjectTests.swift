import Foundation
import Testing

@testable import Git

@Suite struct `Objects` {
    let scratch: Scratch
    let peer: Peer
    let repository: Repository
    let by = Signature(name: "Zoë", email: "zoe@example.org", seconds: 1_700_000_000, offsetMinutes: -90)

    init() throws {
        scratch = try Scratch()
        peer = try scratch.repository()
        repository = try peer.open()
    }

    // MARK: Blobs

    @Test(arguments: [0, 1, 5000, 3_000_000])
    func `bytes come back as they were written, from a loose object and from a pack`(count: Int) throws {
        var random = Seeded(UInt64(count))
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        let id = try repository.write(blob: bytes)
        #expect(try repository.blob(id).array == bytes)
        #expect(try repository.size(ofBlob: id) == count)
        try peer.git("update-ref", "refs/tags/blob", id.hex)
        try peer.git("repack", "-adq")
        let packed = try peer.open()
        let blob = try packed.blob(id)
        #expect(blob.count == count)
        #expect(blob.array == bytes)
    }

    @Test func `a blob outlives its repository`() throws {
        func read() throws -> Blob {
            let repository = try peer.open()
            return try repository.blob(repository.write(blob: Array("kept".utf8)))
        }
        #expect(try read().array == Array("kept".utf8))
    }

    @Test func `a limit is checked before a blob is read, and a tree is no blob`() throws {
        let id = try repository.write(blob: [1, 2, 3])
        #expect(try repository.blob(id, bytesMax: 3).count == 3)
        #expect(GitError.Kind.thrown { () throws(GitError) in _ = try repository.blob(id, bytesMax: 2) } == .limit)
        let tree = try repository.write(tree: nil, with: [])
        #expect(tree.hex == "4b825dc642cb6eb9a060e54bf8d69288fbee4904")
        #expect(GitError.Kind.thrown { () throws(GitError) in _ = try repository.blob(tree) } == .invalid)
        #expect(GitError.Kind.thrown { () throws(GitError) in _ = try repository.blob(ObjectID(hex: String(repeating: "1", count: 40))!) } == .notFound)
    }

    @Test func `a damaged object is a fault, never wrong bytes`() throws {
        let id = try repository.write(blob: Array(repeating: 65, count: 10_000))
        let path = peer.path + "/objects/\(id.hex.prefix(2))/\(id.hex.dropFirst(2))"
        var data = try #require(FileManager.default.contents(atPath: path))
        data[data.count / 2] ^= 0xFF
        try FileManager.default.removeItem(atPath: path)
        try data.write(to: URL(fileURLWithPath: path))
        let fresh = try peer.open()
        #expect(GitError.Kind.thrown { () throws(GitError) in _ = try fresh.blob(id) } == .corrupt)
    }

    // MARK: Trees

    @Test func `edits give the tree that git's index gives`() throws {
        for seed in 0..<30 as Range<UInt64> {
            var random = Seeded(seed)
            let base = try repository.tree(of: peer.commit(Files.random(&random).byPath))
            var expected = try peer.files(base)
            var edits: [TreeEdit] = []
            for _ in 0..<5 {
                if Bool.random(using: &random), let path = expected.keys.sorted().randomElement(using: &random) {
                    expected[path] = nil
                    edits.append(.remove(TreePath(path)!))
                } else {
                    let path = Files.directories.randomElement(using: &random)! + "new\(Int.random(in: 0..<4, using: &random))"
                    let content = "content \(UInt16.random(in: 0...999, using: &random))\n"
                    expected[path] = content
                    edits.append(.put(TreeEntry(path: TreePath(path)!, mode: .file, id: try repository.write(blob: Array(content.utf8)))))
                }
            }
            let tree = try repository.write(tree: base, with: edits)
            #expect(try tree == repository.tree(of: peer.commit(expected)), "seed \(seed)")
        }
        try peer.expectSound()
    }

    @Test func `a file takes the place of a directory only when that is emptied`() throws {
        let base = try repository.tree(of: peer.commit(["a/b": "1", "c": "2"]))
        let blob = try repository.write(blob: [1])
        func entry(_ path: String) -> TreeEdit { .put(TreeEntry(path: TreePath(path)!, mode: .file, id: blob)) }
        #expect(GitError.Kind.thrown { () throws(GitError) in _ = try repository.write(tree: base, with: [entry("a")]) } == .exists)
        #expect(GitError.Kind.thrown { () throws(GitError) in _ = try repository.write(tree: base, with: [entry("c/d")]) } == .exists)
        let file = try repository.write(tree: base, with: [entry("a"), .remove(TreePath("a/b")!)])
        #expect(try repository.files(in: file).map(\.path.description) == ["a", "c"])
        let directory = try repository.write(tree: base, with: [.remove(TreePath("c")!), entry("c/d/e")])
        #expect(try repository.files(in: directory).map(\.path.description) == ["a/b", "c/d/e"])
        #expect(try repository.write(tree: base, with: [.remove(TreePath("a/b")!), .remove(TreePath("c")!)]).hex == "4b825dc642cb6eb9a060e54bf8d69288fbee4904")
    }

    @Test func `entries are found at their paths, with every mode`() throws {
        let submodule = try peer.commit(["x": "1"])
        let commit = try peer.commit(["a/b/c": "1", "run": "#!/bin/sh", "link": "->a/b"])
        var tree = try repository.tree(of: commit)
        tree = try repository.write(tree: tree, with: [.put(TreeEntry(path: TreePath("sub")!, mode: .submodule, id: submodule))])
        func mode(_ path: String) throws -> TreeEntry.Mode? { try repository.entry(at: TreePath(path)!, in: tree)?.mode }
        #expect(try mode("a/b/c") == .file)
        #expect(try mode("a/b") == .tree)
        #expect(try mode("run") == .executable)
        #expect(try mode("link") == .symlink)
        #expect(try mode("sub") == .submodule)
        #expect(try mode("a/x") == nil)
        #expect(try mode("run/x") == nil)
        #expect(try repository.files(in: tree) { $0.name != "run" }.map(\.path.description) == ["a/b/c", "link", "sub"])
    }

    @Test(.timeLimit(.minutes(30))) func `a tree that stands for billions of files is refused, not followed`() throws {
        var tree = try repository.write(tree: nil, with: [.put(TreeEntry(path: TreePath("f")!, mode: .file, id: repository.write(blob: [])))])
        for _ in 0..<9 {
            let lines = (0..<12).map { "040000 tree \(tree)\td\($0)\n" }.joined()
            tree = try #require(ObjectID(hex: peer.git("mktree", input: lines)))
        }
        let empty = try repository.write(tree: nil, with: [])
        #expect(GitError.Kind.thrown { () throws(GitError) in _ = try repository.files(in: tree) { _ in false } } == .limit)
        #expect(GitError.Kind.thrown { () throws(GitError) in _ = try repository.merge(tree: tree, into: empty, base: nil) } == .limit)
    }

    @Test func `changes between trees are those of git diff`() throws {
        for seed in 0..<30 as Range<UInt64> {
            var random = Seeded(seed)
            let before = Files.random(&random)
            var after = before
            for _ in 0..<4 { after.change(&random) }
            let (old, new) = try (peer.commit(before.byPath), peer.commit(after.byPath))
            for findingRenames in [false, true] {
                let changes = try repository.changes(from: repository.tree(of: old), to: repository.tree(of: new), findingRenames: findingRenames)
                let lines = changes.map { change in
                    switch change {
                    case .added(let entry): "A \(entry.path)"
                    case .deleted(let entry): "D \(entry.path)"
                    case .modified(let from, _): "M \(from.path)"
                    case .renamed(let from, let to): "R \(from.path) \(to.path)"
                    }
                }
                let oracle = try peer.git("diff-tree", "-r", "--name-status", findingRenames ? "-M50" : "--no-renames", old.hex, new.hex)
                    .split(separator: "\n").map { line in
                        let fields = line.split(separator: "\t")
                        return ([fields[0].prefix(1)] + fields.dropFirst()).joined(separator: " ")
                    }
                #expect(lines.sorted() == oracle.sorted(), "seed \(seed)")
            }
        }
    }

    // MARK: Commits

    @Test func `a commit comes back as it was written, and as git reads it`() throws {
        let tree = try repository.write(tree: nil, with: [])
        let first = try repository.write(commit: tree, parents: [], author: by, committer: by, message: "First\n")
        let committer = Signature(name: "Concord", email: "concord@example.org", seconds: 1_700_000_005)
        let id = try repository.write(commit: tree, parents: [first], author: by, committer: committer, message: "Zweiter: ü\n\nKey: value\n")
        let commit = try repository.commit(id)
        #expect(commit.tree == tree)
        #expect(commit.parents == [first])
        #expect(commit.author == by)
        #expect(commit.committer == committer)
        #expect(commit.subject == "Zweiter: ü")
        #expect(commit.trailers == [Trailer(key: "Key", value: "value")])
        #expect(try peer.git("log", "-1", "--format=%an|%ae|%ad|%cn|%s", "--date=raw", id.hex) == "Zoë|zoe@example.org|1700000000 -0130|Concord|Zweiter: ü")
        try peer.expectSound()
    }

    @Test func `a name that git cannot store is made storable`() throws {
        let odd = Signature(name: " Eve <eve>\n", email: "<eve@example.org>", seconds: 0)
        #expect(odd.name == "Eve eve")
        #expect(odd.email == "eve@example.org")
        #expect(Signature(name: "", email: "a@b", seconds: 0).name == "a@b")
        let tree = try repository.write(tree: nil, with: [])
        for signature in [odd, Signature(name: "", email: "", seconds: 0), Signature(name: "...", email: "a b", seconds: 0)] {
            _ = try repository.write(commit: tree, parents: [], author: signature, committer: signature, message: "m")
        }
        try peer.expectSound()
    }

    @Test(arguments: [
        "Subject\n", "Subject\n\nBody\n", "Subject\n\nKey: value\n", "Subject\n\nKey: one\nKey: two\nOther-Key:three\n",
        "Subject\n\nBody: not a trailer\nbut text\n", "Subject\n\nKey: a\n  folded\n", "Key: value\n", "Subject\n\nKey: value\n\nBody\n",
        "Subject\n\nSigned-off-by: A <a@b>\nsome text\n", "Subject\n\nCo-authored-by: A <a@b>\nConcord-Source: l10n/fr 1234\n", "S\n\nKey : spaced\n",
        "S\n\nText\n\nA: 1\n\n", "S\n\nhttp://example.org\n", "S\n\n(cherry picked from commit 1)\nA: 1\n", "",
    ])
    func `trailers are those of git interpret-trailers`(message: String) throws {
        let ours = Trailer.trailers(of: message).map { "\($0.key): \($0.value)" }
        let parsed = try peer.git("interpret-trailers", "--parse", "--unfold", input: message).split(separator: "\n").map(String.init)
        #expect(ours.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
            == parsed.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") })
    }

    @Test func `histories are walked as git walks them`() throws {
        var random = Seeded(7)
        var commits: [ObjectID] = []
        for index in 0..<60 {
            let parents = index == 0 ? [] : Array(Set((0..<Int.random(in: 1...2, using: &random)).map { _ in commits.suffix(6).randomElement(using: &random)! }))
            commits.append(try peer.commit(["a": "\(index)"], parents: parents, seconds: 1_700_000_000 + index * 10))
        }
        for _ in 0..<40 {
            let (one, other) = (commits.randomElement(using: &random)!, commits.randomElement(using: &random)!)
            let bases = try peer.run(["merge-base", "--all", one.hex, other.hex]).output.split(separator: "\n").map(String.init)
            #expect(try repository.mergeBases(of: one, and: other).map(\.hex).sorted() == bases.sorted())
            #expect(try repository.isAncestor(one, of: other) == (peer.run(["merge-base", "--is-ancestor", one.hex, other.hex]).status == 0))
            let walked = try peer.git("rev-list", one.hex, "^\(other.hex)").split(separator: "\n").map(String.init)
            #expect(try repository.commits(reachableFrom: [one], hiding: [other]).map(\.id.hex).sorted() == walked.sorted())
            let line = try peer.git("rev-list", "--first-parent", "-n5", one.hex).split(separator: "\n").map(String.init)
            #expect(try repository.firstParents(of: one, limit: 5).map(\.id.hex) == line)
        }
        let tip = commits[59]
        #expect(GitError.Kind.thrown { () throws(GitError) in _ = try repository.commits(reachableFrom: [tip], limit: 3) } == .limit)
        let unrelated = try peer.commit(["b": "1"])
        #expect(try repository.mergeBases(of: tip, and: unrelated) == [])
        let absent = ObjectID(hex: String(repeating: "1", count: 40))!
        #expect(GitError.Kind.thrown { () throws(GitError) in _ = try repository.mergeBases(of: tip, and: absent) } == .notFound)
    }
}
