// Xcode 26 makes a Swift symbol of each key that people manage by hand; two keys that give one symbol break the build.
//
//     "Allow uploads", "Allow Uploads"  →  allowUploads
//     "TITLE", "title"                  →  title
//     "cart.checkout-title"             →  cartCheckoutTitle

/// The Swift symbol of a key, or nil where it has no letter or digit to make one of.
///
/// Apple does not document how a symbol is made. This follows what builds report: words are runs of letters and digits, the
/// first in lower case, each further one with a capital, and placeholders become parameters.
func generatedSymbol(of key: [UInt8]) -> String? {
    let format = FormatText(key)
    var text = String(decoding: key, as: UTF8.self)
    for placeholder in format.placeholders where placeholder.text.count > 1 {
        if let range = text.firstRange(of: placeholder.text) { text.replaceSubrange(range, with: " ") }
    }
    let words = text.split { !$0.isLetter && !$0.isNumber }
    guard let first = words.first else { return nil }
    let isCapitals = first.allSatisfy { !$0.isLowercase }
    var symbol = isCapitals ? first.lowercased() : first.prefix(1).lowercased() + first.dropFirst()
    for word in words.dropFirst() { symbol += word.prefix(1).uppercased() + word.dropFirst() }
    if symbol.first!.isNumber { symbol = "_" + symbol }
    let arguments = Set(format.placeholders.map(\.argument)).union(format.substitutions.map(\.argument)).count
    return arguments == 0 ? symbol : symbol + "(" + String(repeating: "_:", count: arguments) + ")"
}
