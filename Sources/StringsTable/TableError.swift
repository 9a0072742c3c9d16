/// Why bytes are not a table that can be read, where, and what to do.
///
/// Its description is one sentence for people, without the file's name: `line 3, column 7: the ';' is missing …`.
public struct TableError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of fault; messages derive from it.
    public enum Fault: Equatable, Sendable {
        // Encodings.
        case utf32
        /// This byte cannot stand in UTF-8.
        case notUTF8(UInt8)
        case loneSurrogate
        case oddLength
        /// XML that names an encoding that is not read here.
        case otherEncoding(String)
        case binary
        case tooLarge(limit: Int)
        case tooDeep(limit: Int)
        // Both forms.
        case empty
        case conflictMarker
        case notATable(String)
        /// Another byte than the grammar allows; the text says what would be right.
        case expected(String)
        case trailingText
        case unterminatedComment
        // Old-style.
        case unterminatedString
        /// The string runs over the end of its line, and what follows it makes no sense.
        case missingQuote
        case unescapedQuote
        case curlyQuote(String)
        case missingSemicolon(after: String)
        case missingEquals(after: String)
        case unterminatedDictionary
        // XML.
        case unterminatedElement(String)
        case wrongEndTag(expected: String)
        case unknownElement(String)
        case badEntity(String)
        case missingValue(of: String)
    }

    public let fault: Fault
    /// The line, from 1. CR LF, LF and CR alone each end one.
    public let line: Int
    /// The column in Unicode scalars, from 1.
    public let column: Int

    init(_ fault: Fault, at offset: Int, in text: [UInt8]) {
        self.fault = fault
        (line, column) = lineAndColumn(of: offset, in: text)
    }

    public var description: String { "line \(line), column \(column): \(sentence)" }

    /// The fault without its place.
    public var sentence: String {
        switch fault {
        case .utf32: "the file is UTF-32, which Apple's tools do not read as a table; save it as UTF-8"
        case .notUTF8(let byte):
            "the byte 0x\(String(byte, radix: 16, uppercase: true)) is not UTF-8; the file may be Latin-1 (iconv -f LATIN1 -t UTF-8 converts it) or Mac Roman (iconv -f MACINTOSH)"
        case .loneSurrogate: "half of a UTF-16 surrogate pair stands alone here; the file was cut or is not UTF-16"
        case .oddLength: "the file is UTF-16 but ends in the middle of a character: it has an odd number of bytes"
        case .otherEncoding(let name): "the XML says that its encoding is \(name); save it as UTF-8"
        case .binary: "the file is a binary property list; convert it once with 'plutil -convert xml1 FILE' (or to text), then it can be merged"
        case .tooLarge(let limit): "the file is larger than the limit of \(limit) bytes"
        case .tooDeep(let limit): "dictionaries and arrays are nested deeper than \(limit) levels"
        case .empty: "the file is empty"
        case .conflictMarker: "a merge conflict was committed unresolved here; take one side of it and remove the marker lines"
        case .notATable(let why): "this is not a table of strings: \(why)"
        case .expected(let what): "expected \(what)"
        case .trailingText: "text follows after the end of the table"
        case .unterminatedComment: "the comment that begins here is not closed before the end of the file"
        case .unterminatedString: "the string that begins here is not closed before the end of the file; a '\"' is missing, or one too many stands before"
        case .missingQuote: "the string that begins here is not closed on its line: the closing '\"' is missing"
        case .unescapedQuote: "this '\"' ends the string, but text follows; write \\\" for a quote inside a string"
        case .curlyQuote(let quote): "\(quote) does not delimit strings; write the straight quote \" (an editor may have changed it)"
        case .missingSemicolon(let key): "the ';' is missing after the value of \"\(key)\""
        case .missingEquals(let key): "expected '=' or ';' after the key \"\(key)\""
        case .unterminatedDictionary: "the dictionary that begins here is not closed before the end of the file; its '}' is missing"
        case .unterminatedElement(let name): "the element <\(name)> that begins here is not closed before the end of the file"
        case .wrongEndTag(let name): "expected the end tag </\(name)>"
        case .unknownElement(let name): "<\(name)> is no element of a property list"
        case .badEntity(let text): "\"\(text)\" is no character that XML knows; write &amp; for '&'"
        case .missingValue(let key): "the key \"\(key)\" has no value"
        }
    }
}

/// Line and column of an offset; see ``TableError``.
func lineAndColumn(of offset: Int, in text: [UInt8]) -> (line: Int, column: Int) {
    var line = 1
    var column = 1
    for i in 0..<min(offset, text.count) {
        let byte = text[i]
        if byte == 10 || (byte == 13 && !(i + 1 < text.count && text[i + 1] == 10)) {
            line += 1
            column = 1
        } else if byte & 0xc0 != 0x80 && byte != 13 {
            column += 1
        }
    }
    return (line, column)
}
