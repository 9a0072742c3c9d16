import Foundation
import Testing

@testable import Git

@Suite struct `Refs` {
    let scratch: Scratch
    let peer: Peer
    let main = RefName.branch("main")!

    init() throws {
        scratch = try Scratch()
        peer = try scratch.repository()
    }

    private func commits(_ count: Int) throws -> [ObjectID] {
        var commits: [ObjectID] = []
        for index in 0..<count { commits.append(try peer.commit(["a": "\(index)"], parents: commits.suffix(1))) }
        return commits
    }

    @Test func `a missing ref has no tip, a broken one is a fault`() throws {
        let repository = try peer.open()
        #expect(try repository.tip(of: main) == nil)
        try "1234567890123456789012345678901234567890\n".write(toFile: peer.path + "/refs/heads/main", atomically: true, encoding: .utf8)
        #expect(GitError.Kind.thrown { () throws(GitError) in _ = try repository.tip(of: main) } == .corrupt)
    }

    @Test func `loose, packed, nested, symbolic and tagged refs all lead to their commit`() throws {
        let commit = try commits(1)[0]
        for name in ["main", "l10n/fr", "l10n/pt/BR"] { try peer.git("update-ref", "refs/heads/\(name)", commit.hex) }
        try peer.git("pack-refs", "--all")
        try peer.git("update-ref", "refs/heads/l10n/de", commit.hex)
        try peer.git("symbolic-ref", "refs/heads/alias", "refs/heads/l10n/fr")
        try peer.git("symbolic-ref", "refs/heads/dangling", "refs/heads/nowhere")
        try peer.git("tag", "-a", "-m", "A tag", "v1", commit.hex)
        let repository = try peer.open()
        #expect(try repository.refs().map(\.name.shorthand) == ["alias", "l10n/de", "l10n/fr", "l10n/pt/BR", "main"])
        #expect(try repository.refs().allSatisfy { $0.tip == commit })
        #expect(try repository.refs(under: "refs/heads/l10n/").map(\.name.shorthand) == ["l10n/de", "l10n/fr", "l10n/pt/BR"])
        #expect(try repository.tip(of: RefName("refs/tags/v1")!) == commit)
        #expect(try repository.tip(of: .branch("alias")!) == commit)
        #expect(try repository.tip(of: .branch("dangling")!) == nil)
    }

    @Test func `a swap moves, creates and deletes only what is still as expected`() throws {
        let made = try commits(3)
        let repository = try peer.open()
        #expect(try repository.compareAndSwap(main, from: nil, to: made[0], reflog: "made") == .swapped)
        #expect(try repository.compareAndSwap(main, from: nil, to: made[1], reflog: "made") == .lost(now: made[0]))
        #expect(try repository.compareAndSwap(main, from: made[1], to: made[2], reflog: "moved") == .lost(now: made[0]))
        #expect(try repository.compareAndSwap(main, from: made[0], to: made[1], reflog: "moved") == .swapped)
        #expect(try peer.id("main") == made[1])
        try peer.git("pack-refs", "--all")
        #expect(try repository.compareAndSwap(main, from: made[1], to: made[2], reflog: "moved") == .swapped)
        #expect(try peer.id("main") == made[2])
        #expect(try repository.compareAndSwap(main, from: made[1], to: nil, reflog: "gone") == .lost(now: made[2]))
        #expect(try repository.compareAndSwap(main, from: made[2], to: nil, reflog: "gone") == .swapped)
        #expect(try repository.tip(of: main) == nil)
        #expect(try peer.git("for-each-ref", "refs/heads") == "")
        #expect(try repository.compareAndSwap(main, from: made[2], to: made[1], reflog: "moved") == .lost(now: nil))
        try peer.expectSound()
    }

    @Test func `a branch is not made where its name would be a directory and a file at once`() throws {
        let commit = try commits(1)[0]
        let repository = try peer.open()
        for isPacked in [false, true] {
            try peer.git("update-ref", "refs/heads/l10n/fr", commit.hex)
            if isPacked { try peer.git("pack-refs", "--all") }
            for name in ["l10n", "l10n/fr/draft"] {
                let kind = GitError.Kind.thrown { () throws(GitError) in
                    _ = try repository.compareAndSwap(.branch(name)!, from: nil, to: commit, reflog: "made")
                }
                #expect(kind == .exists, "\(name), packed: \(isPacked)")
            }
        }
        try peer.expectSound()
    }

    @Test func `a swap follows symbolic refs and keeps them`() throws {
        let made = try commits(2)
        try peer.git("update-ref", "refs/heads/main", made[0].hex)
        try peer.git("symbolic-ref", "refs/heads/master", "refs/heads/main")
        #expect(try peer.open().compareAndSwap(.branch("master")!, from: made[0], to: made[1], reflog: "moved") == .swapped)
        #expect(try peer.git("symbolic-ref", "refs/heads/master") == "refs/heads/main")
        #expect(try peer.id("main") == made[1])
    }

    @Test func `a ref never moves to an object that is not there`() throws {
        let absent = ObjectID(hex: "1234567890123456789012345678901234567890")!
        let repository = try peer.open()
        #expect(GitError.Kind.thrown { () throws(GitError) in _ = try repository.compareAndSwap(main, from: nil, to: absent, reflog: "") } == .notFound)
        #expect(try repository.tip(of: main) == nil)
        #expect(!FileManager.default.fileExists(atPath: peer.path + "/refs/heads/main.lock"))
    }

    @Test func `the reflog names who moved the ref, where there is one`() throws {
        let made = try commits(2)
        try peer.git("config", "core.logAllRefUpdates", "true")
        let repository = try peer.open()
        let by = Signature(name: "Concord", email: "concord@example.org", seconds: 1_700_000_000)
        _ = try repository.compareAndSwap(main, from: nil, to: made[0], by: by, reflog: "first")
        _ = try repository.compareAndSwap(main, from: made[0], to: made[1], by: by, reflog: "second")
        let log = try peer.git("reflog", "show", "--format=%gn %ge %gs", "main")
        #expect(log == "Concord concord@example.org second\nConcord concord@example.org first")
    }

    @Test func `a lock left by a crash is reported with its age and stays`() throws {
        let made = try commits(2)
        try peer.git("update-ref", "refs/heads/main", made[0].hex)
        let lock = peer.path + "/refs/heads/main.lock"
        #expect(FileManager.default.createFile(atPath: lock, contents: nil))
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -3600)], ofItemAtPath: lock)
        let swap = try peer.open().compareAndSwap(main, from: made[0], to: made[1], reflog: "moved")
        guard case .locked(let path, let age) = swap else { Issue.record("\(swap)"); return }
        #expect(path.hasSuffix("/refs/heads/main.lock"))
        #expect((3600...3700).contains(age))
        #expect(FileManager.default.fileExists(atPath: lock))
        #expect(try peer.id("main") == made[0])
    }

    @Test func `a repository that may not be written to says so, and speaks of no lock`() throws {
        let made = try commits(2)
        try peer.git("update-ref", "refs/heads/main", made[0].hex)
        // Stands for a folder without write permission, which would not keep root out.
        try FileManager.default.createSymbolicLink(atPath: peer.path + "/concord-locks", withDestinationPath: "nowhere")
        let error = #expect(throws: GitError.self) { try peer.open().compareAndSwap(main, from: made[0], to: made[1], reflog: "moved") }
        #expect(error?.kind != .locked && error?.detail.contains("concord-locks") == true, "\(String(describing: error))")
        #expect(try peer.id("main") == made[0])
    }

    /// Appends `count` commits to the chain that `main` is, each on top of the tip as it was found, and gives them.
    private static func append(_ count: Int, to path: String, named name: String) throws -> [ObjectID] {
        let repository = try Repository(opening: path)
        let main = try #require(RefName.branch("main"))
        let by = Signature(name: name, email: "\(name)@example.org", seconds: 1_700_000_001)
        var steps: [ObjectID] = []
        for attempt in 0..<20_000 where steps.count < count {
            let tip = try #require(try repository.tip(of: main))
            let next = try repository.write(
                commit: repository.tree(of: tip), parents: [tip], author: by, committer: by, message: "step \(attempt)")
            if try repository.compareAndSwap(main, from: tip, to: next, by: by, reflog: "step") == .swapped { steps.append(next) }
        }
        return steps
    }

    // A swap that overwrote another's commit would leave that commit outside the chain.
    private func expectChain(of steps: [ObjectID], _ location: SourceLocation = #_sourceLocation) throws {
        let chain = try Set(peer.git("rev-list", "main").split(separator: "\n").map(String.init))
        #expect(steps.filter { !chain.contains($0.hex) } == [], sourceLocation: location)
        #expect(chain.count == steps.count + 1, sourceLocation: location)
        try peer.expectSound()
    }

    @Test func `no step is lost when the git program and we write one ref at once`() throws {
        try peer.git("update-ref", "refs/heads/main", commits(1)[0].hex)
        let script = """
            n=0
            while [ $n -lt 40 ]; do
              old=$(git rev-parse refs/heads/main)
              new=$(git commit-tree -p $old -m "step $$ $n" $(git rev-parse "$old^{tree}"))
              if git update-ref refs/heads/main $new $old 2>/dev/null; then n=$((n+1)); echo $new; fi
            done
            """
        try script.write(toFile: scratch.path + "/writer", atomically: true, encoding: .utf8)
        try peer.git("config", "alias.writer", "!sh '\(scratch.path)/writer'")
        let writers = try [peer.start(["writer"]), peer.start(["writer"])]
        var steps = try Self.append(60, to: peer.path, named: "us")
        for writer in writers {
            writer.waitUntilExit()
            #expect(writer.terminationStatus == 0, "\(writer.errors)")
            steps += writer.output.split(separator: "\n").compactMap { ObjectID(hex: $0) }
        }
        #expect(steps.count == 140)
        try expectChain(of: steps)
    }

    // Without writers of git 2.39: these lose a step now and then when refs are packed under them, also among themselves.
    @Test func `no step is lost when several of us write one ref while it is packed again and again`() async throws {
        try peer.git("update-ref", "refs/heads/main", commits(1)[0].hex)
        try peer.git("config", "alias.packer", "!for i in $(seq 150); do git pack-refs --all; done")
        let packer = try peer.start(["packer"])
        let path = peer.path
        let steps = try await withThrowingTaskGroup(of: [ObjectID].self) { group in
            for writer in 0..<3 { group.addTask { try Self.append(150, to: path, named: "writer\(writer)") } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        packer.waitUntilExit()
        #expect(steps.count == 450)
        try expectChain(of: steps)
    }

    @Test func `of many who create one ref exactly one succeeds`() throws {
        let made = try commits(2)
        let repository = try peer.open()
        for round in 0..<30 {
            let branch = RefName.branch("round/\(round)")!
            let other = try peer.start(["update-ref", branch.full, made[0].hex, String(repeating: "0", count: 40)])
            let swap = try repository.compareAndSwap(branch, from: nil, to: made[1], reflog: "made")
            other.waitUntilExit()
            let winners = (swap == .swapped ? 1 : 0) + (other.terminationStatus == 0 ? 1 : 0)
            #expect(winners == 1, "round \(round): \(swap), \(other.errors)")
            #expect(try repository.tip(of: branch) == (swap == .swapped ? made[1] : made[0]))
        }
    }
}
