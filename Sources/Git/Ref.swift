import CLibGit2
import Glibc

/// A ref and what it points at.
public struct Ref: Hashable, Sendable {
    public let name: RefName
    /// The commit, or for an annotated tag the tag object.
    public let tip: ObjectID

    public init(name: RefName, tip: ObjectID) {
        self.name = name
        self.tip = tip
    }
}

/// How a compare-and-swap ended.
public enum Swap: Hashable, Sendable {
    /// The ref has the new value.
    case swapped
    /// Another writer was there first; the ref has this value, or `nil` if it is gone. Nothing was changed.
    case lost(now: ObjectID?)
    /// Another process holds the ref's lock file, and held it for as long as was waited. `ageSeconds` tells a busy
    /// neighbour from a lock left by a crash; the file is never removed. Nothing was changed.
    case locked(path: String, ageSeconds: Int)
}

/// A branch that some work tree has checked out.
public struct CheckedOutBranch: Hashable, Sendable {
    public let branch: RefName
    /// The work tree's path.
    public let workTree: String
}

extension Repository {
    /// The refs whose full name starts with `prefix`, sorted. Symbolic refs are followed; those that lead nowhere, and
    /// names that git would not accept, are left out.
    public func refs(under prefix: String = "refs/heads/") throws(GitError) -> [Ref] { [] }

    /// The commit that a ref leads to, through symbolic refs and tags; `nil` if there is no such ref.
    public func tip(of ref: RefName) throws(GitError) -> ObjectID? { nil }

    /// Moves `ref` from `old` to `new`, if it is still at `old`; a missing `old` creates it, a missing `new` deletes it.
    ///
    /// Waits a bounded time for another process that holds the lock. Symbolic refs are followed. `reflog` is written
    /// where the repository keeps reflogs, in the name of `committer`.
    public func compareAndSwap(
        _ ref: RefName, from old: ObjectID?, to new: ObjectID?, by committer: Signature? = nil, reflog: String
    ) throws(GitError) -> Swap { .swapped }

    /// The branches that must not move under someone's feet: those checked out in the main work tree, unless the
    /// repository is bare, and in linked ones; also while a rebase runs there.
    public func checkedOutBranches() throws(GitError) -> [CheckedOutBranch] { [] }
}
