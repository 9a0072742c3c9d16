// What the doors that look into a repository have in common.

import Git
import Linux
import Sync

/// Runs a door on an open repository and turns what goes wrong into a sentence and a status: 64 for the words, 2 for the rest.
///
/// How many `files` there are, the `required` options, and what `checks` looks at are faults of the words also where there is no
/// repository: `wanted` says what to write.
func repositoryDoor(
    _ command: String, _ words: [String], valued: [String], flags: [String], files: ClosedRange<Int>, wanted: String,
    required: [String] = [], checks: (Arguments) throws(Arguments.Fault) -> Void = { _ throws(Arguments.Fault) in },
    _ body: (Arguments, Repository) throws -> Int32
) -> Int32 {
    do {
        let arguments = try Arguments(words, valued: valued + ["--repository"], flags: flags)
        guard files.contains(arguments.files.count) else { throw Arguments.Fault(sentence: wanted) }
        for name in required { _ = try arguments.required(name) }
        try checks(arguments)
        return try body(arguments, repository(arguments["--repository"]))
    } catch let fault as Arguments.Fault {
        return usageFault(command, fault.sentence)
    } catch {
        printError("concord \(command): \(error)")
        return 2
    }
}

/// The repository in a folder or around it, as git looks for it.
private func repository(around folder: String) throws(GitError) -> Repository {
    do {
        return try Repository(opening: folder)
    } catch {
        guard error.kind == .notFound, folder != "/", let slash = folder.lastIndex(of: "/") else { throw error }
        return try repository(around: slash == folder.startIndex ? "/" : String(folder[..<slash]))
    }
}

/// The repository at a path; without one that around the working directory.
private func repository(_ path: String?) throws -> Repository {
    if let path { return try Repository(opening: path) }
    do {
        return try repository(around: resolvedPath(".") ?? "/")
    } catch {
        guard error.kind == .notFound else { throw error }
        throw InputFault(sentence: "there is no repository here; go into one, or name it with --repository")
    }
}

/// Who makes a commit: as for git, `GIT_AUTHOR_NAME` and `GIT_AUTHOR_EMAIL` go before `user.name` and `user.email`.
func identity(in repository: Repository) throws -> Signature {
    let now = wallClockSeconds()
    let configured = try repository.identity()
    guard let name = environmentVariable("GIT_AUTHOR_NAME") ?? configured?.name,
        let email = environmentVariable("GIT_AUTHOR_EMAIL") ?? configured?.email
    else {
        throw BranchEditError.absent("git does not know who you are; set user.name and user.email with `git config --global`")
    }
    return Signature(name: name, email: email, seconds: now, offsetMinutes: timeZoneOffsetMinutes(at: now))
}

/// Says how an edit of a branch ended, and gives the status.
func told(_ edit: BranchEdit, _ command: String, on branch: CatalogBranch, done: String, unchanged: String) -> Int32 {
    switch edit {
    case .moved(let commit):
        printOut("\(branch.name.shorthand) is at \(commit.short): \(done)\n")
        return 0
    case .unchanged:
        printOut("\(unchanged)\n")
        return 0
    case .blocked(let why):
        printError("concord \(command): \(why)")
        return 1
    }
}
