import CLibGit2

/// How a merge line by line ended.
enum LineMerge {
    case merged(ObjectID)
    case conflict
    case binary
}

extension Repository {
    /// Merges three files line by line, as git does, and as `attribute` says. In a virtual merge there is no conflict: the lines in
    /// dispute stand between markers as long as git makes them, so that two equal disputes stay equal.
    ///
    /// The library compares lines as `git merge-file` and `git merge -s recursive` do (Myers); `git merge` itself has compared by
    /// histogram since 2.34, which the library cannot. Of 1,500 random merges of code 3 came out clean and different, and in 6 each
    /// way only one of the two saw a conflict; the library's patience was farther off (1, 12 and 36).
    func mergeLines(
        base: ObjectID?, ours: ObjectID, theirs: ObjectID, as attribute: MergeAttribute = .text, virtualDepth: Int
    ) throws(GitError) -> LineMerge {
        if case .binary = attribute { return .binary }
        let ids = [base, ours, theirs].compactMap { $0 }
        for id in ids where try size(ofBlob: id) > lineMergeBytesMax { return .binary }
        let old: Blob? = if let base { try blob(base) } else { nil }
        let (mine, other) = (try blob(ours), try blob(theirs))
        guard !(old?.isBinary ?? false), !mine.isBinary, !other.isBinary else { return .binary }

        let stage = "merge \(ours.short) and \(theirs.short)"
        var options = unsafe git_merge_file_options()
        try check(unsafe git_merge_file_options_init(&options, UInt32(GIT_MERGE_FILE_OPTIONS_VERSION)), stage)
        unsafe options.marker_size = UInt16(Int(GIT_MERGE_CONFLICT_MARKER_SIZE) + 2 * virtualDepth)
        if case .union = attribute { unsafe options.favor = GIT_MERGE_FILE_FAVOR_UNION }
        var result = unsafe git_merge_file_result()
        let status = unsafe "Temporary merge branch 1".withCString { ourLabel in
            unsafe "Temporary merge branch 2".withCString { theirLabel in
                unsafe options.our_label = ourLabel
                unsafe options.their_label = theirLabel
                var inputs = unsafe [old, mine, other].map { unsafe $0.map { unsafe git_merge_file_input($0) } ?? git_merge_file_input() }
                return unsafe inputs.withUnsafeMutableBufferPointer { inputs in
                    // All three exist; the blobs are held until the end of this function.
                    let first = inputs.baseAddress!
                    return unsafe git_merge_file(&result, old == nil ? nil : first, first + 1, first + 2, &options)
                }
            }
        }
        try check(status, stage)
        defer { unsafe git_merge_file_result_free(&result) }
        withExtendedLifetime((old, mine, other)) {}
        guard unsafe result.automergeable != 0 || virtualDepth > 0 else { return .conflict }
        return .merged(try unsafe write(blob: UnsafeRawBufferPointer(start: result.ptr, count: result.len)))
    }
}

/// Larger files are not merged by lines, as if they were binary; git's own limit, 512 MB, can cost minutes and gigabytes.
private let lineMergeBytesMax = 64 << 20

extension Blob {
    /// git's test: a zero among the first bytes.
    fileprivate var isBinary: Bool { unsafe withBytes { unsafe $0.prefix(8000).contains(0) } }
}

extension git_merge_file_input {
    /// A view of `blob`, which the caller holds.
    fileprivate init(_ blob: Blob) {
        unsafe self.init()
        unsafe version = UInt32(GIT_MERGE_FILE_INPUT_VERSION)
        unsafe ptr = blob.bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        unsafe size = blob.count
        unsafe mode = GIT_FILEMODE_BLOB.rawValue
    }
}
