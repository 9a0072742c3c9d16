// What a text does with its arguments.
//
//     "%2$@ sent %1$lld files, 100 %%"       argument 2 as an object, argument 1 as an integer of 64 bits
//     "%@ sent %#@files@"                    argument 1 as an object; the substitution `files` says what it reads
//     "%arg files"                           inside a substitution: its argument

/// One use of an argument.
struct Placeholder: Equatable {
    /// What is read from the argument list. A wrong kind reads memory that does not belong to the argument.
    enum Kind: String {
        case object = "an object", integer = "an integer", floating = "a floating-point number", cString = "a C string", pointer = "a pointer"
    }

    /// The argument, from 1.
    var argument: Int
    let kind: Kind
    /// Bits that are read of an integer, else 0.
    let width: Int
    /// As it stands: `%1$lld`.
    let text: String
}

/// The placeholders of one text.
struct FormatText {
    private(set) var placeholders: [Placeholder] = []
    /// The uses of substitutions, with the argument that the place in the text would give them.
    private(set) var substitutions: [(name: String, argument: Int)] = []
    /// Whether `%arg` stands in it.
    private(set) var usesOwnArgument = false
    /// Whether some placeholders are numbered and some are not: then the unnumbered ones read what a reader would not guess.
    private(set) var isMixed = false
    /// Whether a `%` stands in it that begins no placeholder.
    private(set) var hasBarePercent = false
    /// Whether `%%` stands in it: whoever wrote it means the text to be read as a format.
    private(set) var hasEscapedPercent = false

    /// No text for people has more; what follows is not read, so that a hostile one costs no more than another.
    private static let placeholdersMax = 200

    private var next = 1
    private var seen = (numbered: false, plain: false)

    /// Reads the UTF-8 of a text.
    init(_ text: [UInt8]) {
        var i = 0
        while i < text.count, placeholders.count + substitutions.count < FormatText.placeholdersMax {
            guard text[i] == 0x25 else {
                i += 1
                continue
            }
            i = read(text, at: i)
        }
        isMixed = seen.numbered && seen.plain
    }

    /// Reads what begins at a `%`; returns the place behind it.
    private mutating func read(_ text: [UInt8], at start: Int) -> Int {
        var i = start + 1
        func at(_ i: Int) -> UInt8 { i < text.count ? text[i] : 0 }
        func digits() -> Int? {
            var value = 0
            let first = i
            while i - first < 6, at(i) >= 0x30, at(i) <= 0x39 {
                value = value * 10 + Int(at(i)) - 0x30
                i += 1
            }
            return i == first ? nil : value
        }
        if at(i) == 0x25 {
            hasEscapedPercent = true
            return i + 1
        }
        if text[i...].starts(with: Array("arg".utf8)) {
            usesOwnArgument = true
            return i + 3
        }
        var position: Int?
        let first = i
        if let number = digits(), number > 0, at(i) == 0x24 {
            position = number
            i += 1
        } else {
            i = first
        }
        if at(i) == 0x23, at(i + 1) == 0x40 {
            guard let end = text[(i + 2)...].firstIndex(of: 0x40), end > i + 2 else {
                hasBarePercent = true
                return start + 1
            }
            substitutions.append((String(decoding: text[(i + 2)..<end], as: UTF8.self), argument(position)))
            return end + 1
        }
        // Flags. A space is one in C, but in texts it is the space of "50 % of", which no one means as a flag.
        while [0x2d, 0x2b, 0x23, 0x30, 0x27].contains(at(i)) { i += 1 }
        var stars = 0
        func widthOrPrecision() {
            if at(i) == 0x2a {
                stars += 1
                i += 1
            } else {
                _ = digits()
            }
        }
        widthOrPrecision()
        if at(i) == 0x2e {
            i += 1
            widthOrPrecision()
        }
        var width = 32
        switch at(i) {
        case 0x68: i += at(i + 1) == 0x68 ? 2 : 1
        case 0x6c:
            width = 64
            i += at(i + 1) == 0x6c ? 2 : 1
        case 0x71, 0x6a, 0x7a, 0x74, 0x4c:
            width = 64
            i += 1
        default: break
        }
        let kind: Placeholder.Kind
        switch at(i) {
        case 0x40: (kind, width) = (.object, 0)
        case 0x64, 0x69, 0x75, 0x78, 0x58, 0x6f, 0x63, 0x43: kind = .integer
        case 0x44, 0x55, 0x4f: (kind, width) = (.integer, 64)
        case 0x66, 0x46, 0x65, 0x45, 0x67, 0x47, 0x61, 0x41: (kind, width) = (.floating, 0)
        case 0x73, 0x53: (kind, width) = (.cString, 0)
        case 0x70: (kind, width) = (.pointer, 0)
        default:
            hasBarePercent = true
            return start + 1
        }
        // A `*` reads its number from the arguments first.
        for _ in 0..<stars where position == nil {
            placeholders.append(Placeholder(argument: next, kind: .integer, width: 32, text: "*"))
            next += 1
        }
        placeholders.append(Placeholder(argument: argument(position), kind: kind, width: width, text: String(decoding: text[start...i], as: UTF8.self)))
        return i + 1
    }

    private mutating func argument(_ position: Int?) -> Int {
        if let position {
            seen.numbered = true
            return position
        }
        seen.plain = true
        defer { next += 1 }
        return next
    }
}

extension Placeholder {
    /// What a substitution's `formatSpecifier` reads: `lld`, `@`.
    init?(specifier: [UInt8], argument: Int) {
        guard let only = FormatText([0x25] + specifier).placeholders.first else { return nil }
        self.init(argument: argument, kind: only.kind, width: only.width, text: only.text)
    }

    /// The same placeholder with its number, as a person would write it into another text.
    var numbered: String { text.contains("$") ? text : "%\(argument)$" + text.dropFirst() }
}
