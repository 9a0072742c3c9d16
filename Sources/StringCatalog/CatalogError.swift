/// Why bytes are not a catalog that can be read, and where.
///
/// Its description is one sentence for people, without the file's name: `line 3, column 7: expected ',' or '}' …`.
public struct CatalogError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of fault; messages derive from it.
    public enum Fault: Equatable, Sendable {
        /// No byte other than white space.
        case empty
        /// More bytes than the limit.
        case tooLarge(limit: Int)
        /// Objects and arrays nested deeper than the limit.
        case tooDeep(limit: Int)
        /// Another byte than the grammar allows; the text says what would be right.
        case expected(String)
        /// A line of a merge that was committed unresolved.
        case conflictMarker
        /// A string that the end of the file cuts.
        case unterminatedString
        /// A control character that stands raw in a string.
        case controlCharacter(UInt8)
        /// A backslash before something else than JSON knows.
        case badEscape
        /// A byte that is not UTF-8.
        case badUTF8
        /// Digits that are not a JSON number.
        case badNumber
        /// Text after the end of the top-level object.
        case trailingText
        /// JSON, but not a catalog.
        case notACatalog(String)
    }

    public let fault: Fault
    /// The byte offset of the fault, from 0.
    public let offset: Int
    /// The line, from 1. CR LF, LF and CR alone each end one.
    public let line: Int
    /// The column in Unicode scalars, from 1.
    public let column: Int

    init(_ fault: Fault, at offset: Int, in bytes: Bytes) {
        self.fault = fault
        self.offset = offset
        (line, column) = bytes.lineAndColumn(of: offset)
    }

    public var description: String { "line \(line), column \(column): \(sentence)" }

    /// The fault without its place.
    public var sentence: String {
        switch fault {
        case .empty: "the file is empty; a catalog is a JSON object with \"sourceLanguage\", \"strings\" and \"version\""
        case .tooLarge(let limit): "the file is larger than the limit of \(limit) bytes"
        case .tooDeep(let limit): "objects are nested deeper than \(limit) levels"
        case .expected(let what): "expected \(what)"
        case .conflictMarker: "a merge conflict was committed unresolved here; take one side of it and remove the marker lines"
        case .unterminatedString: "the string that begins here is not closed before the end of the file"
        case .controlCharacter(let byte):
            "the control character U+00\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true)) stands raw in a string; write it as an escape"
                + (byte == 10 ? " (or a closing '\"' is missing on this line)" : "")
        case .badEscape: "this escape is not JSON; after '\\' stands one of \" \\ / b f n r t or u with four hex digits"
        case .badUTF8: "this byte is not UTF-8; save the file as UTF-8"
        case .badNumber: "this is not a JSON number"
        case .trailingText: "text follows after the end of the catalog"
        case .notACatalog(let why): "this is not a string catalog: \(why)"
        }
    }
}

/// Bounds on what is read. A file beyond them is refused before anything is built from it.
public struct CatalogLimits: Sendable {
    /// The largest file, in bytes; at most 2 GiB, since places are 32 bits wide.
    public var bytesMax: Int
    /// The deepest nesting of objects and arrays; at most 63.
    public var depthMax: Int

    public init(bytesMax: Int = 512 << 20, depthMax: Int = 48) {
        self.bytesMax = min(bytesMax, Int(Int32.max))
        self.depthMax = min(depthMax, 63)
    }

    public static let standard = CatalogLimits()
}
