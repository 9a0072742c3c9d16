import Glibc

/// The small text files git keeps beside its objects: `HEAD`, `commondir`, `gitdir`, `config`.
enum TextFile {
    /// The first line without its end; `nil` if there is no such file, or it is a directory.
    static func firstLine(of path: String) -> String? {
        guard let bytes = contents(of: path), !bytes.isEmpty else { return nil }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// The lines without their ends; none if there is no such file.
    static func lines(of path: String) -> [ArraySlice<UInt8>] {
        contents(of: path)?.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0
        } ?? []
    }

    private static func contents(of path: String) -> [UInt8]? {
        guard let file = unsafe fopen(path, "re") else { return nil }
        defer { unsafe fclose(file) }
        // Most of these files have one line: a buffer for the largest would cost more than the reading.
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count < bytesMax {
            let count = unsafe fread(&piece, 1, piece.count, file)
            bytes += piece[..<count]
            if count < piece.count { break }
        }
        // A directory opens, but does not read.
        return unsafe ferror(file) == 0 ? bytes : nil
    }

    /// More is no file of this kind.
    private static let bytesMax = 1 << 20
}
