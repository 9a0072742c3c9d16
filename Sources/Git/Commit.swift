import CLibGit2

/// Who did something, and when.
public struct Signature: Hashable, Sendable {
    public let name: String
    public let email: String
    /// Seconds since 1970, UTC.
    public let seconds: Int64
    /// How far the writer's clock was ahead of UTC.
    public let offsetMinutes: Int

    /// A signature that git can store: what it cannot hold in a name or an address (`<`, `>`, line ends, zero bytes) is
    /// left out, and an empty name becomes the address.
    public init(name: String, email: String, seconds: Int64, offsetMinutes: Int = 0) {
        let address = Self.storable(email)
        let plain = Self.storable(name)
        self.name = !plain.isEmpty ? plain : !address.isEmpty ? address : "unknown"
        self.email = address.isEmpty ? "unknown" : address
        self.seconds = seconds
        self.offsetMinutes = offsetMinutes
    }

    /// The same person at another time.
    public func at(seconds: Int64, offsetMinutes: Int = 0) -> Signature {
        Signature(name: name, email: email, seconds: seconds, offsetMinutes: offsetMinutes)
    }

    /// Whether both stand for one person: the same address, without regard to case, as `git shortlog -e` does not but
    /// mail servers do.
    public func isSamePerson(as other: Signature) -> Bool { email.lowercased() == other.email.lowercased() }

    /// What git's own `strbuf_addstr_without_crud` would leave, and no control characters.
    private static func storable(_ text: String) -> String {
        // Names that come from a commit are as they should be, all but always, and histories are long.
        if isStorable(text.utf8) { return text }
        let kept = text.unicodeScalars.filter { $0 != "<" && $0 != ">" && $0.value >= 0x20 && $0.value != 0x7F }
        let crud: [Unicode.Scalar] = [" ", ".", ",", ":", ";", "\\", "\"", "'"]
        let trimmed = kept.drop { crud.contains($0) }.reversed().drop { crud.contains($0) }.reversed()
        return String(String.UnicodeScalarView(trimmed))
    }

    /// Whether a text surely stays as it is: a letter at either end, and nothing between that git leaves out.
    private static func isStorable(_ text: String.UTF8View) -> Bool {
        func isLetter(_ byte: UInt8?) -> Bool {
            byte.map { $0 >= 0x80 || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) } ?? false
        }
        return isLetter(text.first) && isLetter(text.last)
            && text.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ">") }
    }
}

/// A commit, read whole.
public struct Commit: Hashable, Sendable {
    public let id: ObjectID
    public let tree: ObjectID
    public let parents: [ObjectID]
    public let author: Signature
    public let committer: Signature
    /// The message; bytes that are not UTF-8 are U+FFFD.
    public let message: String

    /// The first line of the message.
    public var subject: String { String(message.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).first ?? "") }
}

/// One line `Key: value` of the last paragraph of a commit message.
public struct Trailer: Hashable, Sendable {
    public let key: String
    public let value: String

    public init(key: String, value: String) {
        self.key = key
        self.value = value
    }
}

extension Commit {
    /// The trailers as `git interpret-trailers --parse` finds them, in order, repeated keys kept.
    public var trailers: [Trailer] { Trailer.trailers(of: message) }

    /// The values of all trailers of this key; case does not matter, as in git.
    public func trailers(_ key: String) -> [String] {
        trailers.filter { $0.key.lowercased() == key.lowercased() }.map(\.value)
    }
}

extension Trailer {
    /// The trailers of a commit message.
    public static func trailers(of message: String) -> [Trailer] {
        // The only fault can be a lack of memory; a commit read before has loaded the library already.
        guard (try? Library.ensureLoaded()) != nil else { return [] }
        var found = unsafe git_message_trailer_array()
        guard unsafe git_message_trailers(&found, message) == 0 else { return [] }
        defer { unsafe git_message_trailer_array_free(&found) }
        return unsafe UnsafeBufferPointer(start: found.trailers, count: found.count).map { trailer in
            unsafe Trailer(key: String(cString: trailer.key), value: String(cString: trailer.value))
        }
    }
}

extension Repository {
    /// The commit of this id; throws `.notFound` if there is none.
    public func commit(_ id: ObjectID) throws(GitError) -> Commit {
        let handle = try commitHandle(id)
        let pointer = unsafe handle.pointer
        let parents = unsafe (0..<git_commit_parentcount(pointer)).map { unsafe ObjectID(git_commit_parent_id(pointer, $0).pointee) }
        return unsafe Commit(
            id: id,
            tree: ObjectID(git_commit_tree_id(pointer).pointee),
            parents: parents,
            author: Signature(git_commit_author(pointer).pointee),
            committer: Signature(git_commit_committer(pointer).pointee),
            message: String(cString: git_commit_message(pointer))
        )
    }

    /// The tree of the commit of this id.
    public func tree(of commit: ObjectID) throws(GitError) -> ObjectID {
        let handle = try commitHandle(commit)
        return unsafe ObjectID(git_commit_tree_id(handle.pointer).pointee)
    }

    /// Every best common ancestor of two commits: none if their histories are unrelated, several after a criss-cross.
    public func mergeBases(of one: ObjectID, and other: ObjectID) throws(GitError) -> [ObjectID] {
        try mergeBases(of: one, andMergeOf: [other])
    }

    /// Every best common ancestor of `one` and a commit that would merge all of `others`.
    func mergeBases(of one: ObjectID, andMergeOf others: [ObjectID]) throws(GitError) -> [ObjectID] {
        let commits = ([one] + others).map(\.oid)
        var found = unsafe git_oidarray()
        do throws(GitError) {
            try check(unsafe git_merge_bases_many(&found, pointer, commits.count, commits), "find the merge bases of \(one.short)")
        } catch {
            // Unrelated histories and a missing commit can give one status; only the second is a fault.
            for commit in [one] + others { _ = try commitHandle(commit) }
            guard error.kind == .notFound else { throw error }
            return []
        }
        defer { unsafe git_oidarray_dispose(&found) }
        return unsafe UnsafeBufferPointer(start: found.ids, count: found.count).map(ObjectID.init)
    }

    /// Whether `ancestor` is `commit` or can be reached from it.
    public func isAncestor(_ ancestor: ObjectID, of commit: ObjectID) throws(GitError) -> Bool {
        guard ancestor != commit else { return true }
        var (one, other) = (commit.oid, ancestor.oid)
        return try check(unsafe git_graph_descendant_of(pointer, &one, &other), "look for \(ancestor.short) behind \(commit.short)") == 1
    }

    /// The commits that can be reached from the one set and not from the other, children before parents, newest first.
    /// Throws `.limit` if there are more than `limit`: a history cut short would not be told from a whole one.
    public func commits(
        reachableFrom tips: [ObjectID], hiding hidden: [ObjectID] = [], limit: Int = 100_000
    ) throws(GitError) -> [Commit] {
        let stage = "walk the history from \(tips.first?.short ?? "nothing")"
        let repository = unsafe pointer
        let walk = try unsafe Handle<WalkKind>(stage) { unsafe git_revwalk_new(&$0, repository) }
        try check(unsafe git_revwalk_sorting(walk.pointer, GIT_SORT_TOPOLOGICAL.rawValue | GIT_SORT_TIME.rawValue), stage)
        for tip in tips { var oid = tip.oid; try check(unsafe git_revwalk_push(walk.pointer, &oid), stage) }
        for tip in hidden { var oid = tip.oid; try check(unsafe git_revwalk_hide(walk.pointer, &oid), stage) }
        var commits: [Commit] = []
        var oid = git_oid()
        while true {
            let status = unsafe git_revwalk_next(&oid, walk.pointer)
            if status == GIT_ITEROVER.rawValue { return commits }
            try check(status, stage)
            guard commits.count < limit else { throw GitError(.limit, stage: stage, detail: "it has more than \(limit) commits") }
            commits.append(try commit(ObjectID(oid)))
        }
    }

    /// `commit` and its first parents, newest first, at most `limit` of them.
    public func firstParents(of commit: ObjectID, limit: Int) throws(GitError) -> [Commit] {
        var line: [Commit] = []
        var next: ObjectID? = commit
        while let id = next, line.count < limit {
            let commit = try self.commit(id)
            line.append(commit)
            next = commit.parents.first
        }
        return line
    }

    /// Writes a commit object and gives its id. No ref moves: until one does, git may collect the object after two weeks.
    ///
    /// `signing`, if there is one, is given the commit as git signs it, and gives the signature: the text that `gpg` or
    /// `ssh-keygen -Y sign` make.
    public func write(
        commit tree: ObjectID, parents: [ObjectID], author: Signature, committer: Signature, message: String,
        signing: (([UInt8]) throws(GitError) -> String)? = nil
    ) throws(GitError) -> ObjectID {
        let stage = "write a commit"
        let repository = unsafe pointer
        var treeID = tree.oid
        let treeHandle = try unsafe Handle<TreeKind>(stage) { unsafe git_tree_lookup(&$0, repository, &treeID) }
        let parentHandles = try ParentHandles(parents, in: self)
        var id = git_oid()
        let by = try SignatureHandle(author)
        let with = try SignatureHandle(committer)
        var unsigned = unsafe git_buf()
        defer { unsafe git_buf_dispose(&unsigned) }
        let status = unsafe parentHandles.pointers.withUnsafeBufferPointer { parents in
            // The header spells the array of parents without const, but does not write to it.
            let parentArray = unsafe UnsafeMutablePointer(mutating: parents.baseAddress)
            guard signing == nil else {
                return unsafe git_commit_create_buffer(
                    &unsigned, repository, by.pointer, with.pointer, nil, message, treeHandle.pointer, parents.count, parentArray)
            }
            return unsafe git_commit_create(
                &id, repository, nil, by.pointer, with.pointer, nil, message, treeHandle.pointer, parents.count, parentArray)
        }
        try check(status, stage)
        guard let signing else { return ObjectID(id) }
        let bytes = unsafe UnsafeRawBufferPointer(start: unsigned.ptr, count: unsigned.size)
        // Git's own field for both kinds of signature; a line end at its end would become a line of the header.
        let signature = String(try signing(unsafe Array(bytes)).reversed().drop(while: \.isNewline).reversed())
        try check(unsafe git_commit_create_with_signature(&id, repository, unsigned.ptr, signature, "gpgsig"), stage)
        return ObjectID(id)
    }

    /// Who `git commit` would name here by `user.name` and `user.email`, now; `nil` where they are not set.
    public func identity() throws(GitError) -> Signature? {
        var made: UnsafeMutablePointer<git_signature>?
        let status = unsafe git_signature_default(&made, pointer)
        if status == GIT_ENOTFOUND.rawValue { return nil }
        try check(status, "read your name from git's configuration")
        guard let made = unsafe made else { return nil }
        defer { unsafe git_signature_free(made) }
        return unsafe Signature(made.pointee)
    }

    func commitHandle(_ id: ObjectID) throws(GitError) -> Handle<CommitKind> {
        let repository = unsafe pointer
        var oid = id.oid
        return try unsafe Handle<CommitKind>("read commit \(id.short)") { unsafe git_commit_lookup(&$0, repository, &oid) }
    }
}

/// Owns the commits that are to be parents: an array cannot hold `~Copyable` handles.
@safe private struct ParentHandles: ~Copyable {
    private(set) var pointers: [OpaquePointer?]

    init(_ ids: [ObjectID], in repository: Repository) throws(GitError) {
        unsafe pointers = []
        for id in ids {
            var oid = id.oid
            var parent: OpaquePointer?
            try check(unsafe git_commit_lookup(&parent, repository.pointer, &oid), "read parent \(id.short)")
            unsafe pointers.append(parent)
        }
    }

    deinit { for unsafe pointer in unsafe pointers { unsafe git_commit_free(pointer) } }
}

/// Owns a signature as the library takes it.
@safe struct SignatureHandle: ~Copyable {
    let pointer: UnsafeMutablePointer<git_signature>

    init(_ signature: Signature) throws(GitError) {
        var made: UnsafeMutablePointer<git_signature>?
        let status = unsafe git_signature_new(
            &made, signature.name, signature.email, signature.seconds, Int32(clamping: signature.offsetMinutes))
        try check(status, "write the name \(signature.name)")
        guard let made = unsafe made else { throw GitError(.other, stage: "write a name", detail: "libgit2 gave none") }
        unsafe pointer = made
    }

    deinit { unsafe git_signature_free(pointer) }
}

extension Signature {
    init(_ stored: git_signature) {
        let (name, email) = unsafe (stored.name.map { unsafe String(cString: $0) }, stored.email.map { unsafe String(cString: $0) })
        let (seconds, offset) = unsafe (stored.when.time, Int(stored.when.offset))
        self.init(name: name ?? "", email: email ?? "", seconds: seconds, offsetMinutes: offset)
    }
}
