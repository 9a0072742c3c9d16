// Where files meet the engine. The engine reads memory that a mapped file owns: no copy is made of a large catalog.

import Linux
import StringCatalog
import StringsTable
import Synchronization

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
func parseCatalog(_ bytes: Bytes, _ path: String, role: String? = nil, like: CatalogDocument? = nil, both: Both = inTurn) throws(InputFault) -> CatalogDocument {
    do {
        return try CatalogDocument(parsing: bytes, like: like, both: both)
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
