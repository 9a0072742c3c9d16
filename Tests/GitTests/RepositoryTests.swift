import Foundation
import Testing

@testable import Git

@Suite struct `Opening a repository` {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// The error of opening `path`.
    private func refusal(_ path: String) -> GitError? {
        do throws(GitError) { _ = try Repository(opening: path); return nil } catch { return error }
    }

    @Test func `bare, with a work tree, linked and borrowing objects: all open and read`() throws {
        let bare = try scratch.repository()
        let commit = try bare.commit(["a": "1"], ref: "refs/heads/main")
        #expect(try bare.open().isBare)
        #expect(try bare.open().tip(of: .branch("main")!) == commit)

        try Peer(path: scratch.path).git("clone", "-q", "--shared", bare.path, "borrowing")
        let borrowing = try Repository(opening: scratch.path + "/borrowing")
        #expect(!borrowing.isBare)
        #expect(try borrowing.commit(commit).tree == bare.open().tree(of: commit))

        try bare.git("worktree", "add", "-q", "-b", "linked", scratch.path + "/linked", "main")
        let linked = try Repository(opening: scratch.path + "/linked")
        #expect(!linked.isBare)
        #expect(linked.gitDirectory.hasSuffix("/repository.git/"))
        #expect(try linked.tip(of: .branch("main")!) == commit)
    }

    @Test func `objects that are not to be kept are read back, and nothing of them is on the disk`() throws {
        let peer = try scratch.repository()
        let commit = try peer.commit(["a": "1"])
        let before = try peer.git("count-objects", "-v")
        let planning = try Repository(opening: peer.path, keepingObjects: false)
        let blob = try planning.write(blob: Array("2".utf8))
        let tree = try planning.write(tree: planning.tree(of: commit), with: [.put(TreeEntry(path: TreePath("b/c")!, mode: .file, id: blob))])
        let by = Signature(name: "A", email: "a@example.org", seconds: 1)
        let next = try planning.write(commit: tree, parents: [commit], author: by, committer: by, message: "Next\n")
        #expect(try planning.isAncestor(commit, of: next))
        #expect(try planning.size(ofBlob: blob) == 1)
        #expect(try planning.files(in: planning.tree(of: next)).map(\.path.description) == ["a", "b/c"])
        #expect(try peer.git("count-objects", "-v") == before)
        #expect(throws: GitError.self) { try peer.open().commit(next) }
    }

    @Test func `what is not there, or is no repository, is not found`() throws {
        #expect(refusal(scratch.path + "/nothing")?.kind == .notFound)
        #expect(refusal(scratch.path)?.kind == .notFound)
        // A parent that is a repository does not make its folders ones.
        let peer = try scratch.repository("work", "--quiet")
        try FileManager.default.createDirectory(atPath: peer.path + "/folder", withIntermediateDirectories: true)
        #expect(refusal(peer.path + "/folder")?.kind == .notFound)
    }

    @Test func `objects named by SHA-256 are refused`() throws {
        let peer = try scratch.repository("new.git", "--bare", "--object-format=sha256")
        #expect(refusal(peer.path)?.kind == .unsupported(.sha256))
        #expect(refusal(peer.path)?.description.contains("SHA-256") == true)
    }

    @Test(arguments: [
        ("extensions.refStorage", "reftable", .reftable), ("extensions.worktreeConfig", "true", .worktreeConfig),
        ("extensions.partialClone", "origin", .partialClone), ("extensions.somethingNew", "1", .extension("somethingnew")),
    ] as [(String, String, GitError.Unsupported)])
    func `an extension that is not understood is refused by name`(key: String, value: String, expected: GitError.Unsupported) throws {
        let peer = try scratch.repository()
        try peer.git("config", "core.repositoryFormatVersion", "1")
        // git itself would refuse to run in it from here on.
        try (String(contentsOfFile: peer.path + "/config", encoding: .utf8) + "[extensions]\n\t\(key.split(separator: ".")[1]) = \(value)\n")
            .write(toFile: peer.path + "/config", atomically: true, encoding: .utf8)
        #expect(refusal(peer.path)?.kind == .unsupported(expected), "\(String(describing: refusal(peer.path)))")
    }

    @Test func `a format of the future is refused`() throws {
        let peer = try scratch.repository()
        try peer.git("config", "core.repositoryFormatVersion", "7")
        #expect(refusal(peer.path)?.kind == .unsupported(.formatVersion("7")))
    }

    @Test func `shallow and partial clones are refused`() throws {
        let peer = try scratch.repository()
        let first = try peer.commit(["a": "1"])
        _ = try peer.commit(["a": "2"], parents: [first], ref: "refs/heads/main")
        try peer.git("config", "uploadpack.allowFilter", "true")
        let here = Peer(path: scratch.path)
        try here.git("clone", "-q", "--bare", "--depth=1", "file://\(peer.path)", "shallow.git")
        try here.git("clone", "-q", "--bare", "--filter=blob:none", "file://\(peer.path)", "partial.git")
        #expect(refusal(scratch.path + "/shallow.git")?.kind == .unsupported(.shallow))
        #expect(refusal(scratch.path + "/partial.git")?.kind == .unsupported(.partialClone))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a directory away"), arguments: [true, false])
    func `another user's repository is refused, with the way out`(isBare: Bool) throws {
        let peer = isBare ? try scratch.repository() : try scratch.repository("work", "--quiet")
        let ran = try Peer(path: "/").run(["-c", "alias.give=!chown -R 65534 '\(peer.path)'", "give"])
        #expect(ran.status == 0, "\(ran.errors)")
        let refused = refusal(peer.path)
        #expect(refused?.kind == .foreignOwner, "\(String(describing: refused))")
        #expect(refused?.description.contains("safe.directory \(peer.path)") == true)
    }

    @Test func `checked-out branches are those of the work trees, and of a rebase in them`() throws {
        let bare = try scratch.repository()
        _ = try bare.commit(["a": "1"], ref: "refs/heads/main")
        #expect(try bare.open().checkedOutBranches().isEmpty)
        try bare.git("worktree", "add", "-q", "-b", "linked", scratch.path + "/linked", "main")
        #expect(try bare.open().checkedOutBranches() == [CheckedOutBranch(branch: .branch("linked")!, workTree: scratch.path + "/linked")])

        try Peer(path: scratch.path).git("clone", "-q", bare.path, "work")
        let work = Peer(path: scratch.path + "/work")
        #expect(try work.open().checkedOutBranches() == [CheckedOutBranch(branch: .branch("main")!, workTree: work.path)])
        try work.git("worktree", "add", "-q", "-b", "other", scratch.path + "/other")
        #expect(try Set(work.open().checkedOutBranches().map(\.branch.shorthand)) == ["main", "other"])
        #expect(try Set(Repository(opening: scratch.path + "/other").checkedOutBranches().map(\.branch.shorthand)) == ["main", "other"])
        try FileManager.default.createDirectory(atPath: work.path + "/.git/rebase-merge", withIntermediateDirectories: true)
        try "refs/heads/topic\n".write(toFile: work.path + "/.git/rebase-merge/head-name", atomically: true, encoding: .utf8)
        #expect(try Set(work.open().checkedOutBranches().map(\.branch.shorthand)) == ["main", "other", "topic"])
    }

    @Test func `a branch not born yet is checked out all the same`() throws {
        let work = try scratch.repository("work", "--quiet")
        #expect(try work.open().checkedOutBranches().map(\.branch.shorthand) == ["main"])
    }
}

@Suite struct `Configuration files` {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func write(_ text: String, _ name: String = "config") throws -> String {
        try text.write(toFile: scratch.path + "/" + name, atomically: true, encoding: .utf8)
        return scratch.path + "/" + name
    }

    @Test func `entries come in order, with their lines, as git config lists them`() throws {
        let path = try write("""
            # a comment \\
            [concord]
            \tquietPeriod = 2s ; trailing
            \tflag
            [repository "/srv/My.App.git"] path = "a b"
            \tsync = one \\
                two = three
            \tsync = again
            [Sync "l10n]x"]
            \tFROM = l10n/*
            """)
        let entries = try ConfigFile.read(path)
        #expect(entries.map(\.key) == [
            "concord.quietperiod", "concord.flag", "repository./srv/My.App.git.path", "repository./srv/My.App.git.sync",
            "repository./srv/My.App.git.sync", "sync.l10n]x.from",
        ])
        #expect(entries.map(\.line) == [3, 4, 5, 6, 8, 10])
        #expect(entries[2].subsection == "/srv/My.App.git")
        let listed = try Peer(path: scratch.path).run(["config", "-z", "-f", path, "--list"]).output
        #expect(listed.split(separator: "\0").map(String.init) == entries.map { entry in [entry.key, entry.value].compactMap { $0 }.joined(separator: "\n") })
    }

    @Test func `included files are read in their place, one deeper`() throws {
        _ = try write("[b]\n\tx = 2\n", "other")
        let path = try write("[a]\n\tx = 1\n[include]\n\tpath = other\n[c]\n\tx = 3\n")
        let entries = try ConfigFile.read(path)
        #expect(entries.map(\.key) == ["a.x", "include.path", "b.x", "c.x"])
        #expect(entries.map(\.includeDepth) == [0, 0, 1, 0])
        #expect(entries.map(\.line) == [2, 4, nil, 6])
    }

    @Test func `a mistake names its line, an absent file is not found, an empty one has no entries`() throws {
        let path = try write("[a]\n\tx = 1\n[b\n\ty = 2\n")
        do throws(GitError) {
            _ = try ConfigFile.read(path)
            Issue.record("it was read")
        } catch {
            #expect(error.description.contains(":3"), "\(error)")
        }
        #expect(GitError.Kind.thrown { () throws(GitError) in _ = try ConfigFile.read(scratch.path + "/none") } == .notFound)
        #expect(try ConfigFile.read(write("", "empty")) == [])
    }
}
