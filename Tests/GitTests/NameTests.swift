import Testing

@testable import Git

@Suite struct `Names` {
    @Test(arguments: [
        "refs/heads/main", "refs/heads/l10n/fr", "refs/heads/a.b", "refs/heads/ü", "refs/heads/@", "refs/heads/a@b", "refs/heads/-x",
        "refs/heads/a.lock.b", "refs/notes/commits", "refs/heads/.a", "refs/heads/a..b", "refs/heads/a.", "refs/heads/a/",
        "refs/heads//a", "refs/heads/a.lock", "refs/heads/a.lock/b", "refs/heads/a b", "refs/heads/a~b", "refs/heads/a^", "refs/heads/a:b",
        "refs/heads/a?b", "refs/heads/a*", "refs/heads/a[b", "refs/heads/a\\b", "refs/heads/a@{b", "refs/heads/a\u{7F}", "refs/heads/a\tb",
        "refs/heads/{a}", "refs/heads/a]b", "refs/heads/@{", "refs/heads/a/.b", "refs/heads/a/b.", "refs/",
    ])
    func `a ref name is valid exactly when git says so`(name: String) throws {
        let scratch = try Scratch()
        let accepted = try Peer(path: scratch.path).run(["check-ref-format", name]).status == 0
        #expect((RefName(name) != nil) == accepted)
    }

    @Test func `a ref name outside refs is none`() {
        #expect(RefName("HEAD") == nil)
        #expect(RefName("heads/main") == nil)
        #expect(RefName("") == nil)
        #expect(RefName.branch("-f") == nil)
        #expect(RefName.branch("HEAD") == nil)
        #expect(RefName.branch("") == nil)
    }

    @Test func `two spellings of one letter are two refs and two paths`() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(composed == decomposed)
        #expect(RefName.branch(composed) != RefName.branch(decomposed))
        #expect(Set([RefName.branch(composed), RefName.branch(decomposed)]).count == 2)
        #expect(TreePath(composed) != TreePath(decomposed))
    }

    @Test func `a shorthand is what people call the ref`() throws {
        #expect(RefName.branch("l10n/fr")?.shorthand == "l10n/fr")
        #expect(RefName("refs/tags/v1")?.shorthand == "v1")
        #expect(RefName("refs/remotes/origin/main")?.shorthand == "origin/main")
        #expect(RefName("refs/concord/ledger")?.shorthand == "refs/concord/ledger")
    }

    @Test(arguments: [
        ("main", "main", ""), ("main", "master", nil), ("l10n/*", "l10n/fr", "fr"), ("l10n/*", "l10n/fr/draft", "fr/draft"),
        ("l10n/*", "l10n", nil), ("release/*-strings", "release/2-strings", "2"), ("release/*-strings", "release/-strings", nil),
        ("refs/heads/*", "a", "a"), ("refs/tags/*", "a", nil), ("*", "a/b", "a/b"),
    ] as [(String, String, String?)])
    func `a pattern captures what its star stands for`(pattern: String, branch: String, captured: String?) throws {
        let match = try RefName.branch(branch).flatMap(#require(RefPattern(pattern)).match)
        #expect((match != nil) == (captured != nil))
        #expect(match?.wildcard ?? "" == captured ?? "")
    }

    @Test func `what one pattern captured fills the star of another`() throws {
        let from = try #require(RefPattern("l10n/*"))
        let into = try #require(RefPattern("translated/*/strings"))
        let match = try #require(RefName.branch("l10n/fr").flatMap(from.match))
        #expect(into.ref(for: match)?.shorthand == "translated/fr/strings")
        #expect(RefPattern("main")?.ref(for: match)?.shorthand == "main")
        let plain = try #require(RefName.branch("main").flatMap { RefPattern("main")?.match($0) })
        #expect(into.ref(for: plain) == nil)
    }

    @Test(arguments: ["l10n/**", "a*b*c", "a b", "", "a..*", "-*", "refs/heads/", "a/*.lock"])
    func `a pattern that no ref can have is none`(pattern: String) {
        #expect(RefPattern(pattern) == nil)
    }

    @Test(arguments: [
        "a", "a/b", "a b", "ü/ö", ".gitignore", ".gitx/a", "a/.github/b", "...", "a/..b", "/a", "a/", "a//b", "", ".", "..", "a/../b", "a/./b", ".git",
        ".GIT/config", "a/.git", "a/.Git/hooks/x",
    ])
    func `a path is safe exactly when git lets it into the index`(path: String) throws {
        let scratch = try Scratch()
        let peer = try scratch.repository("work", "--quiet")
        let blob = try peer.git("hash-object", "-w", "--stdin")
        let accepted = try peer.run(["update-index", "--add", "--cacheinfo", "100644,\(blob),\(path)"]).status == 0
        #expect((TreePath(path) != nil) == accepted)
    }

    @Test func `a path has no zero byte and no more bytes than Linux can name`() {
        #expect(TreePath("a\0b") == nil)
        #expect(TreePath(String(repeating: "a/", count: 3000) + "b") == nil)
        #expect(TreePath(bytes: [0xFF])?.bytes == [0xFF])
    }

    @Test func `an id keeps its forty digits and their order`() throws {
        let hex = "00ff10203040506070809fa0b0c0d0e0f0123456"
        let id = try #require(ObjectID(hex: hex))
        #expect(id.hex == hex)
        #expect(ObjectID(bytes: id.bytes) == id)
        #expect(ObjectID(hex: hex.uppercased()) == id)
        #expect(ObjectID(id.oid) == id)
        #expect(ObjectID(hex: String(hex.dropLast())) == nil)
        #expect(ObjectID(hex: "g" + hex.dropFirst()) == nil)
        let later = try #require(ObjectID(hex: "1" + hex.dropFirst()))
        #expect(later > id)
    }
}
