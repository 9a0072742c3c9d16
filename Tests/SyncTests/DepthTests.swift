import Foundation
import Git
import Testing

@testable import Sync

/// Histories and places that are not the everyday ones.
@Suite(.timeLimit(.minutes(30))) struct DepthTests {
    @Test func `branches that people merged crosswise are merged over both bases`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        let dev = try fixture.person("dev", on: "main"), marie = try fixture.person("marie", on: "l10n/fr")
        try dev.push { $0.keys["From dev"] = [:] }
        try marie.push { $0["Hello", "fr"] = "Bonjour" }
        // Each merges the other's tip: two best common ancestors from now on.
        try dev.git("fetch", "-q")
        try marie.git("fetch", "-q")
        try dev.git("merge", "-q", "--no-edit", "origin/l10n/fr")
        try marie.git("merge", "-q", "--no-edit", "origin/main")
        try dev.git("push", "-q")
        try marie.git("push", "-q")
        try dev.push { $0["From dev", "de"] = "Vom Entwickler" }
        try marie.push { $0["From dev", "fr"] = "Du développeur" }
        let report = try fixture.pass()
        #expect(report.held.isEmpty && report.blocked.isEmpty)
        for branch in ["main", "l10n/fr"] {
            let catalog = try fixture.catalog(branch)
            #expect(catalog["From dev", "fr"] == "Du développeur" && catalog["From dev", "de"] == "Vom Entwickler" && catalog["Hello", "fr"] == "Bonjour")
        }
        try fixture.expectSound()
    }

    @Test func `two syncs of one parent, one each way, are no contradiction`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        let settings = fixture.settings { $0.take = .catalogs }
        let dev = try fixture.person("dev", on: "main"), marie = try fixture.person("marie", on: "l10n/fr")
        for round in 0..<5 {
            try dev.retryingPush {
                $0.keys["Dev \(round)"] = [:]
                if round > 0 { $0["Marie \(round - 1)", "fr"] = "changed by dev" }
            }
            try marie.retryingPush { $0["Marie \(round)", "fr"] = "Marie \(round)" }
            let report = try fixture.pass(settings)
            #expect(report.held.isEmpty && report.blocked.isEmpty)
        }
        #expect(try fixture.catalog("main") == fixture.catalog("l10n/fr"))
        #expect(try fixture.catalog("main")["Marie 3", "fr"] == "changed by dev")
        #expect(try fixture.pass(settings).moves.isEmpty)
    }

    @Test func `a translator's deletion of a key is undone by the next sync, a developer's is carried out`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        try fixture.person("marie", on: "l10n/fr").push {
            $0.keys["Stop"] = nil
            $0["Hello", "fr"] = "Bonjour"
        }
        try fixture.pass()
        #expect(try fixture.catalog("main").keys["Stop"] != nil && fixture.catalog("l10n/fr").keys["Stop"] != nil)
        try fixture.person("dev", on: "main").push { $0.keys["Stop"] = nil }
        try fixture.pass()
        #expect(try fixture.catalog("main").keys["Stop"] == nil && fixture.catalog("l10n/fr").keys["Stop"] == nil)
        #expect(try fixture.pass().moves.isEmpty)
    }

    @Test func `a translation branch does not delete a catalog, a developer does`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        let marie = try fixture.person("marie", on: "l10n/fr")
        try marie.git("rm", "-q", "Localizable.xcstrings")
        try marie.commit("Delete")
        try marie.git("push", "-q")
        let report = try fixture.pass()
        #expect(report.held.first?.places.first?.why == "a translation branch does not delete a catalog")
        #expect(try fixture.text("main").hasPrefix("{"))

        let second = try Fixture(branches: ["l10n/fr"])
        let dev = try second.person("dev", on: "main")
        try dev.git("mv", "App.swift", "Main.swift")
        try dev.git("rm", "-q", "Localizable.xcstrings")
        try dev.commit("Delete")
        try dev.git("push", "-q")
        try second.pass()
        #expect(try second.git("ls-tree", "--name-only", "l10n/fr") == "Main.swift")
    }

    @Test func `a catalog that one side moved gets the other side's texts in its new place`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        let dev = try fixture.person("dev", on: "main")
        try FileManager.default.createDirectory(atPath: dev.place + "/App", withIntermediateDirectories: true)
        try dev.git("mv", "Localizable.xcstrings", "App/Localizable.xcstrings")
        try dev.commit("Move")
        try dev.git("push", "-q")
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        let report = try fixture.pass()
        #expect(report.held.isEmpty && report.blocked.isEmpty)
        for branch in ["main", "l10n/fr"] { #expect(try fixture.catalog(branch, "App/Localizable.xcstrings")["Hello", "fr"] == "Bonjour") }
    }

    @Test func `a large file's placeholder and a symbolic link in a catalog's place are merged as git does`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:\(String(repeating: "1", count: 64))\nsize 123\n"
        let marie = try fixture.person("marie", on: "l10n/fr")
        try marie.pushFile(pointer, to: "Large.xcstrings")
        try marie.git("symbolic-ref", "HEAD")
        try FileManager.default.createSymbolicLink(atPath: marie.place + "/Link.xcstrings", withDestinationPath: "Localizable.xcstrings")
        try marie.commit("Link")
        try marie.git("push", "-q")
        let report = try fixture.pass()
        #expect(report.held.isEmpty && report.blocked.isEmpty)
        #expect(try fixture.text("main", "Large.xcstrings") == pointer)
        #expect(try fixture.git("ls-tree", "main", "Link.xcstrings").hasPrefix("120000"))
    }

    @Test func `a lock of another program stops the sync with its path and age, and nothing else`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        let lock = fixture.bare + "/refs/heads/main.lock"
        try Data().write(to: URL(fileURLWithPath: lock))
        let error = #expect(throws: GitError.self) { try fixture.pass() }
        #expect(error?.kind == .locked && error?.detail.contains("main.lock is held by another process") == true)
        #expect(FileManager.default.fileExists(atPath: lock))
        try FileManager.default.removeItem(atPath: lock)
        try fixture.pass()
        #expect(try fixture.catalog("main")["Hello", "fr"] == "Bonjour")
    }

    @Test func `a lock that a killed process of ours left is given back`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        try fixture.person("marie", on: "l10n/fr").push { $0["Hello", "fr"] = "Bonjour" }
        let claims = fixture.bare + "/concord-locks", lock = fixture.bare + "/refs/heads/main.lock"
        try FileManager.default.createDirectory(atPath: claims, withIntermediateDirectories: true)
        try Data("x\n".utf8).write(to: URL(fileURLWithPath: claims + "/abc-refs%2Fheads%2Fmain"))
        try FileManager.default.linkItem(atPath: claims + "/abc-refs%2Fheads%2Fmain", toPath: lock)
        try fixture.pass()
        #expect(try fixture.catalog("main")["Hello", "fr"] == "Bonjour")
        #expect(try FileManager.default.contentsOfDirectory(atPath: claims) == [])
    }

    @Test func `release branches get the texts of main, and main nothing of theirs`() throws {
        let fixture = try Fixture(branches: ["release/1", "release/2"])
        try fixture.person("dev", on: "release/1").pushFile("let app = 1.1\n", to: "Release.swift")
        try fixture.person("marie", on: "main").push { $0["Hello", "fr"] = "Bonjour" }
        try fixture.pass(fixture.settings(from: "main", into: "release/*", back: false) { ($0.source, $0.take) = (.none, .catalogs) })
        for branch in ["release/1", "release/2"] { #expect(try fixture.catalog(branch)["Hello", "fr"] == "Bonjour") }
        #expect(try fixture.git("ls-tree", "--name-only", "main").contains("Release.swift") == false)
    }

    @Test func `a branch that was rewritten is merged over what is common now`() throws {
        let fixture = try Fixture(branches: ["l10n/fr"])
        let marie = try fixture.person("marie", on: "l10n/fr")
        try marie.push { $0["Hello", "fr"] = "Bonjour" }
        try fixture.pass(fixture.settings { $0.take = .catalogs })
        try marie.git("fetch", "-q")
        try marie.git("reset", "-q", "--hard", "HEAD~1")
        try marie.write(try Catalog(reading: fixture.text("main")).text, to: "Localizable.xcstrings")
        try marie.commit("Again")
        try marie.git("push", "-q", "--force")
        let report = try fixture.pass(fixture.settings { $0.take = .catalogs })
        #expect(report.held.isEmpty && report.blocked.isEmpty)
        #expect(try fixture.catalog("main")["Hello", "fr"] == "Bonjour")
    }

    @Test func `key names cannot forge a trailer, a line of the log or a terminal's colours`() throws {
        #expect(printable("a\nConcord-Base: x") == "a\\nConcord-Base: x")
        #expect(printable("\u{1B}[31m\u{202E}") == "\\u{1b}[31m\\u{202e}")
        #expect(printable(String(repeating: "x", count: 300)).count == 201)
    }
}
