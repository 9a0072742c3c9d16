/// A JSON value to be written, on one line.
package enum JSON: CustomStringConvertible {
    case string(String), number(Int), boolean(Bool), list([JSON]), object(KeyValuePairs<String, JSON?>)

    package static func string(ifPresent text: String?) -> JSON? { text.map { .string($0) } }

    /// The text. Absent members are left out.
    package var description: String {
        switch self {
        case .string(let text): Self.quoted(text)
        case .number(let number): String(number)
        case .boolean(let flag): String(flag)
        case .list(let items): "[" + items.map(\.description).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.compactMap { name, value in value.map { "\(Self.quoted(name)): \($0)" } }.joined(separator: ", ") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\t": out += "\\t"
            case "\r": out += "\\r"
            default:
                if scalar.value < 0x20 || scalar.value == 0x7F {
                    let hex = String(scalar.value, radix: 16)
                    out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
                } else {
                    out.unicodeScalars.append(scalar)
                }
            }
        }
        return out + "\""
    }
}
