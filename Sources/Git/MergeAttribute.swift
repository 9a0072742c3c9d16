import CLibGit2

/// How the attribute `merge` says that both sides' changes of one file come together.
enum MergeAttribute {
    /// Line by line. Also for drivers of other names: none is ever run here, and git does the same where it has none of that name.
    case text
    /// As `text`, and where both changed the same lines, ours and then theirs.
    case union
    /// Not at all (`-merge`, `merge=binary`, `binary`).
    case binary
}

extension Repository {
    /// What `.gitattributes` in the tree of `commit`, and `info/attributes`, say of a path: what git heeds when it merges into that
    /// commit in a work tree. Without a commit `info/attributes` alone.
    func mergeAttribute(of path: TreePath, in commit: ObjectID?) throws(GitError) -> MergeAttribute {
        let repository = unsafe pointer
        var options = unsafe git_attr_options()
        unsafe options.version = UInt32(GIT_ATTR_OPTIONS_VERSION)
        // A work tree may be at anything.
        unsafe options.flags = UInt32(GIT_ATTR_CHECK_INDEX_ONLY | GIT_ATTR_CHECK_NO_SYSTEM)
        if let commit {
            unsafe options.flags |= UInt32(GIT_ATTR_CHECK_INCLUDE_COMMIT)
            unsafe options.attr_commit_id = commit.oid
        }
        return try unsafe path.withCString { path throws(GitError) in
            var value: UnsafePointer<CChar>?
            try check(unsafe git_attr_get_ext(&value, repository, &options, path, "merge"), "read the attributes")
            switch unsafe git_attr_value(value) {
            case GIT_ATTR_VALUE_FALSE: return .binary
            case GIT_ATTR_VALUE_STRING:
                // The text belongs to the library's cache.
                return switch unsafe value.map({ unsafe String(cString: $0) }) {
                case "binary": .binary
                case "union": .union
                default: .text
                }
            default: return .text
            }
        }
    }
}
