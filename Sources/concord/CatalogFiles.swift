// Where files meet the engine. The engine reads memory that a mapped file owns: no copy is made of a large catalog.

import Linux
import StringCatalog
import StringsTable

/// An input that cannot be read, as a sentence with the file's name.
struct InputFault: Error, CustomStringConvertible {
    let sentence: String
    var description: String { sentence }
}

/// The bytes of a file; empty for `/dev/null`.
func readBytes(_ path: String) throws(InputFault) -> Bytes {
    do {
        let file = try FileBytes(path: path, limit: CatalogLimits.standard.bytesMax)
        // Sound because `file` lives in the closure, which lives as long as the bytes do, and nobody writes to its memory.
        return unsafe Bytes(borrowing: file.start.assumingMemoryBound(to: UInt8.self), count: file.count) { withExtendedLifetime(file) {} }
    } catch {
        throw InputFault(sentence: "\(error)")
    }
}

/// Reads a catalog from a file; `role` names it in messages.
func readCatalog(_ path: String, role: String? = nil, like: CatalogDocument? = nil) throws(InputFault) -> CatalogDocument {
    try parseCatalog(try readBytes(path), path, role: role, like: like)
}

/// Parses a catalog; a fault names the file as `path:line:column`.
func parseCatalog(_ bytes: Bytes, _ path: String, role: String? = nil, like: CatalogDocument? = nil) throws(InputFault) -> CatalogDocument {
    do {
        return try CatalogDocument(parsing: bytes, like: like)
    } catch {
        if TableKind(path: path) != nil { throw InputFault(sentence: "\(path) is a table of strings, and a catalog is needed here") }
        throw InputFault(sentence: "\(role.map { $0 + ": " } ?? "")\(path):\(error.line):\(error.column): \(error.sentence)")
    }
}

/// Parses a table of strings; a fault names the file as `path:line:column`.
func parseTable(_ bytes: Bytes, _ path: String, role: String? = nil) throws(InputFault) -> TableDocument {
    do {
        return try TableDocument(parsing: bytes)
    } catch {
        throw InputFault(sentence: "\(role.map { $0 + ": " } ?? "")\(path):\(error.line):\(error.column): \(error.sentence)")
    }
}

/// The language of the table at `path`: that of its folder. Which one its source texts are in is what `sourceLanguage` says, or else
/// what stands around the table on disk; English where nothing tells.
func tableLanguage(of path: String, _ sourceLanguage: String? = nil, _ aliases: LanguageAliases = LanguageAliases()) -> TableLanguage {
    TableLanguage(path: path, sourceLanguage: sourceLanguage ?? sourceLanguageOnDisk(around: path) ?? "en", aliases: aliases)
}

/// The source language of the table at `path` by the catalogs, projects and packages around it; nil where nothing tells.
func sourceLanguageOnDisk(around path: String) -> String? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard let i = parts.lastIndex(where: { $0.hasSuffix(".lproj") }) else { return nil }
    let folder = parts[..<i].joined(separator: "/")
    guard let absolute = resolvedPath(i == 0 ? "." : folder.isEmpty ? "/" : folder) else { return nil }
    return sourceLanguage(ofTablesIn: absolute, names: { (try? Linux.entries(ofDirectory: $0.isEmpty ? "/" : $0)) ?? [] }, read: { try? readBytes($0) })
}

/// Replaces a file by bytes, or writes to standard output for `-`.
func writeBytes(_ bytes: Bytes, to path: String) throws(InputFault) {
    let fault: SystemError? = unsafe bytes.withUnsafeBytes { buffer in
        do throws(SystemError) {
            // Standard output is written where it stands: it may be a file that others have written to, and append to.
            guard path != "-" else { 
                try unsafe write([UnsafeRawBufferPointer(buffer)], to: 1, "standard output")
                return nil
            }
            try unsafe replaceFile(at: path, with: [UnsafeRawBufferPointer(buffer)], isDurable: false)
            return nil
        } catch { return error }
    }
    if let fault { throw InputFault(sentence: "\(fault)") }
}

/// A merged catalog on its way into a file: the engine checks the pages that the file is going to have, and only then does
/// the file get its name.
final class OutputFile {
    private let path: String
    private var pending: PendingFile?
    private var fault: SystemError?

    init(_ path: String) { self.path = path }

    /// Writes the pieces beside the file and gives back what was written; nil where the file can only be written in place.
    func gather(_ pieces: CatalogPieces) -> Bytes? {
        guard path != "-" else { return nil }
        do throws(SystemError) {
            guard let file = try PendingFile(replacing: path) else { return nil }
            let failed: SystemError? = unsafe pieces.withUnsafeBuffers { buffers in
                do throws(SystemError) {
                    try unsafe file.append(buffers)
                    return nil
                } catch { return error }
            }
            if let failed { throw failed }
            let pages = try file.contents()
            pending = file
            // Sound as in `readBytes`: nobody else knows the file yet, and it is not written again.
            return unsafe Bytes(borrowing: pages.start.assumingMemoryBound(to: UInt8.self), count: pages.count) { withExtendedLifetime(pages) {} }
        } catch {
            fault = error
            return nil
        }
    }

    /// Puts the file in its place: what was gathered, or else these bytes.
    func commit(_ bytes: Bytes) throws(InputFault) {
        if let fault { throw InputFault(sentence: "\(fault)") }
        guard let pending else { return try writeBytes(bytes, to: path) }
        do { try pending.commit(isDurable: false) } catch { throw InputFault(sentence: "\(error)") }
    }
}
