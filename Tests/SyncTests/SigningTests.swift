import Foundation
import Git
import Testing

@testable import Sync

/// Signed sync commits, with `git verify-commit` as the oracle.
@Suite struct `Signed sync commits` {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture(branches: ["l10n/fr"])
        try fixture.person("dev", on: "main").push { $0.keys["Welcome"] = [:] }
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
    }

    private func pass(_ signing: CommitSigning) throws -> PassReport {
        var memo = StepMemo()
        return try Pass(settings: fixture.settings, committer: Fixture.committer, signing: signing, isStopped: { false }, moved: { _ in }).run(&memo)
    }

    @Test func `with an SSH key are verified by git`() throws {
        let key = fixture.folder + "/key"
        try Fixture.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "concord", "-f", key], in: fixture.folder)
        _ = try pass(CommitSigning(key: key, format: .ssh))
        let allowed = fixture.folder + "/allowed"
        try Data("concord@example.org \(String(contentsOfFile: key + ".pub", encoding: .utf8))".utf8).write(to: URL(fileURLWithPath: allowed))
        try fixture.git("-c", "gpg.format=ssh", "-c", "gpg.ssh.allowedSignersFile=\(allowed)", "verify-commit", "main")
        #expect(try fixture.git("-c", "gpg.format=ssh", "-c", "gpg.ssh.allowedSignersFile=\(allowed)", "log", "-1", "--format=%G?%s", "main")
            == "GSync l10n/fr into main: 1 text in fr")
        #expect(try fixture.catalog("main")["Hello", "fr"] == "Bonjour")
        // What was signed goes back as it is.
        #expect(try fixture.tip("l10n/fr") == fixture.tip("main"))
        try fixture.expectSound()
    }

    @Test func `with an OpenPGP key are verified by git`() throws {
        // A socket's path may have 107 bytes, so gpg's home has a short one.
        let home = FileManager.default.temporaryDirectory.appendingPathComponent("concord-gpg-\(UUID().uuidString.prefix(8))").path
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer {
            _ = try? Fixture.run(["gpgconf", "--homedir", home, "--kill", "all"], in: fixture.folder)
            try? FileManager.default.removeItem(atPath: home)
        }
        try Fixture.run(["gpg", "--homedir", home, "--batch", "-q", "--passphrase", "", "--quick-generate-key", "concord@example.org", "ed25519", "sign"], in: fixture.folder)
        // A program of one's own, as git has it.
        let program = fixture.folder + "/gpg"
        try Data("#!/bin/sh\nexec gpg --homedir '\(home)' \"$@\"\n".utf8).write(to: URL(fileURLWithPath: program))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        _ = try pass(CommitSigning(key: "concord@example.org", program: program))
        try fixture.git("-c", "gpg.program=\(program)", "verify-commit", "main")
        try fixture.expectSound()
    }

    @Test func `that cannot be signed are not made`() throws {
        let before = try fixture.git("for-each-ref")
        let fault = #expect(throws: GitError.self) { try pass(CommitSigning(key: "/nonexistent/key", format: .ssh)) }
        #expect(fault?.stage == "sync l10n/fr into main")
        #expect(fault.map { "\($0)".contains("sign a commit with /nonexistent/key") } == true)
        #expect(try fixture.git("for-each-ref") == before)
    }
}
