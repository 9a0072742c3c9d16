// Where files meet the engine. The engine reads memory that a mapped file owns: no copy is made of a large catalog.

import Linux
import StringCatalog
import StringsTable
import Sync
import Synchronization

/// An input that cannot be read, as a sentence with the file's name.
struct InputFault: Error, CustomStringConvertible {
    let sentence: String
    var description: String { sentence }
}

/// The bytes of a file; empty for `/dev/null`. `-` is standard input.
///
/// Any other pipe or device is refused but those that a shell hands over open, such as `<(…)`: whoever opens it may wait for ever.
func readBytes(_ path: String) throws(InputFault) -> Bytes {
    let path = path == "-" ? "/dev/stdin" : path
    if !["/dev/null", "/dev/stdin"].contains(path), !["/dev/fd/", "/proc/self/fd/"].contains(where: path.hasPrefix) {
        func refusal(_ kind: String) -> InputFault { InputFault(sentence: "\(path) is a \(kind), no regular file; name a file, or - for standard input") }
        switch kind(ofFile: path) {
        case nil, .regular, .directory: break
        case .pipe: throw refusal("named pipe")
        case .device: throw refusal("device")
        case .socket: throw refusal("socket")
        }
    }
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

/// Keeps bytes until the process ends, for a door that ends it: the kernel takes all pages back at once sooner than piece by
/// piece.
func keepUntilExit(_ bytes: Bytes...) {
    for bytes in bytes { _ = unsafe Unmanaged.passRetained(bytes) }
}

/// Parses a catalog; a fault names the file as `path:line:column`.
func parseCatalog(_ bytes: Bytes, _ path: String, role: String? = nil, like: CatalogDocument? = nil, atOnce: AtOnce? = nil) throws(InputFault) -> CatalogDocument {
    do {
        return try CatalogDocument(parsing: bytes, like: like, atOnce: atOnce)
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

/// The source language of the table at `path` by the `.concord` of its checkout, or by the catalogs, projects and packages around it; nil
/// where nothing tells.
func sourceLanguageOnDisk(around path: String) -> String? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard let i = parts.lastIndex(where: { $0.hasSuffix(".lproj") }) else { return nil }
    let folder = parts[..<i].joined(separator: "/")
    return sourceLanguageOnDisk(ofTablesIn: i == 0 ? "." : folder.isEmpty ? "/" : folder)
}

/// The same for the tables whose `.lproj` folders stand in `folder`.
func sourceLanguageOnDisk(ofTablesIn folder: String) -> String? {
    guard let absolute = resolvedPath(folder) else { return nil }
    if let language = sourceLanguageOfCheckout(above: absolute) { return language }
    return sourceLanguage(ofTablesIn: absolute, names: { (try? Linux.entries(ofDirectory: $0.isEmpty ? "/" : $0)) ?? [] }, read: { try? readBytes($0) })
}

/// What the `.concord` at the top of a checkout says; nil outside of one, or where it says nothing.
private func sourceLanguageOfCheckout(above folder: String) -> String? {
    var folder = folder
    while kind(ofFile: folder + "/.git") == nil {
        guard let slash = folder.lastIndex(of: "/") else { return nil }
        folder = String(folder[..<slash])
    }
    guard let bytes = try? readBytes(folder + "/.concord"), bytes.count <= TreeSettings.bytesMax else { return nil }
    return TreeSettings(parsing: String(decoding: bytes.array, as: UTF8.self)).sourceLanguage
}

/// A file in one of the two forms.
enum InputFile {
    case catalog(CatalogDocument)
    case table(TableDocument)
}

/// Reads a file as its name says; where that says nothing, as that which it can be read as. Nil for an empty file.
func readFile(_ path: String) throws(InputFault) -> InputFile? {
    let bytes = try readBytes(path)
    guard bytes.count > 0 else { return nil }
    if TableKind(path: path) != nil { return .table(try parseTable(bytes, path)) }
    if !path.hasSuffix(".xcstrings"), (try? CatalogDocument(parsing: bytes)) == nil, let table = try? TableDocument(parsing: bytes) { return .table(table) }
    return .catalog(try parseCatalog(bytes, path))
}

/// The files that words name: themselves, and of each directory what is below it and `isWanted`. A directory without such files
/// is told as a fault: silence would look like a clean result.
func namedFiles(_ words: [String], _ what: String, where isWanted: (String) -> Bool) throws(InputFault) -> [String] {
    var paths: [String] = []
    for word in words {
        guard isDirectory(word) else {
            paths.append(word)
            continue
        }
        let found: [String]
        do { found = try files(below: word, where: isWanted) } catch { throw InputFault(sentence: "\(error)") }
        guard !found.isEmpty else { throw InputFault(sentence: "there is no \(what) below \(word)") }
        paths += found
    }
    return paths
}

func isCatalogOrTableName(_ name: String) -> Bool { name.hasSuffix(".xcstrings") || TableKind(path: name) != nil }

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

/// A merged catalog on its way into a file: written while the engine checks it, and only then given its name.
final class OutputFile: Sendable {
    private let path: String
    private let written = Mutex(Written.not)

    private enum Written {
        case not, file(PendingFile), fault(SystemError)
    }

    init(_ path: String) { self.path = path }

    /// Writes the pieces beside the file, where that can be.
    func write(_ pieces: CatalogPieces) {
        guard path != "-" else { return }
        let result: Written = unsafe pieces.withUnsafeBuffers { buffers in
            do throws(SystemError) {
                guard let file = try PendingFile(replacing: path) else { return .not }
                try unsafe file.append(buffers)
                return .file(file)
            } catch { return .fault(error) }
        }
        written.withLock { $0 = result }
    }

    /// Puts the file in its place: what was written, or else these bytes.
    func commit(_ bytes: Bytes) throws(InputFault) {
        switch written.withLock({ $0 }) {
        case .not: try writeBytes(bytes, to: path)
        case .fault(let fault): throw InputFault(sentence: "\(fault)")
        case .file(let file):
            do { try file.commit(isDurable: false) } catch { throw InputFault(sentence: "\(error)") }
        }
    }
}
