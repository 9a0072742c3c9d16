// Which language the source texts of a table are in. A table does not say so itself; what stands around it does:
//
//     Shop/Shop.xcodeproj/project.pbxproj        developmentRegion = de;
//     Shop/App/Localizable.xcstrings             "sourceLanguage" : "de"        (other texts of the same bundle)
//     Shop/App/fr.lproj/InfoPlist.strings        <- so its source texts are in de.lproj, or in Base.lproj

import StringCatalog

/// The source language of the tables in `folder`, the one in which their `.lproj` folders stand; nil where nothing tells.
///
/// The catalogs beside the `.lproj` folders are asked first, then from there up to the top each Xcode project
/// (`developmentRegion`) and Swift package (`defaultLocalization`). What contradicts another one of its kind and folder
/// tells nothing. A checkout ends where `.git` stands.
/// - Parameters:
///   - folder: a path between slashes; empty for the top.
///   - names: the names in a folder; empty where there is no such folder.
///   - read: the bytes of a file; nil where there is none, or one that is too large.
public func sourceLanguage<Failure: Error>(
    ofTablesIn folder: String, names: (String) throws(Failure) -> [String], read: (String) throws(Failure) -> Bytes?
) throws(Failure) -> String? {
    func agreed(_ files: [String], _ language: (Bytes) -> String?) throws(Failure) -> String? {
        var found: String?
        for file in files {
            guard let language = try read(file).flatMap(language) else { continue }
            guard found == nil || found == language else { return nil }
            found = language
        }
        return found
    }
    var parts = folder.split(separator: "/", omittingEmptySubsequences: false).map(String.init)[...]
    if parts == [""] { parts = [] }
    var isBeside = true
    while true {
        let path = parts.joined(separator: "/")
        func inside(_ name: String) -> String { parts.isEmpty ? name : "\(path)/\(name)" }
        let here = try names(path)
        if isBeside {
            let catalogs = here.filter { $0.hasSuffix(".xcstrings") }.map(inside)
            if let language = try agreed(catalogs, { (try? CatalogDocument(parsing: $0))?.sourceLanguage }) { return language }
        }
        let projects = here.filter { $0.hasSuffix(".xcodeproj") }.map { inside("\($0)/project.pbxproj") }
        if let language = try agreed(projects, { value(of: "developmentRegion", in: $0) }) { return language }
        if here.contains("Package.swift"), let language = try agreed([inside("Package.swift")], { value(of: "defaultLocalization", in: $0) }) { return language }
        guard !here.contains(".git"), parts.popLast() != nil else { return nil }
        isBeside = false
    }
}

/// What stands behind a name and `=`, with quotation marks or without, or behind `:` with them; nil where it is no code of a language.
private func value(of name: String, in bytes: Bytes) -> String? {
    let text = bytes.array
    let name = Array(name.utf8)
    var from = 0
    while let at = text[from...].firstIndex(of: name[0]) {
        from = at + 1
        guard text[at...].starts(with: name) else { continue }
        var rest = text[(at + name.count)...].drop(while: isSpace)
        guard let sign = rest.popFirst(), sign == UInt8(ascii: "=") || sign == UInt8(ascii: ":") else { continue }
        rest = rest.drop(while: isSpace)
        let isQuoted = rest.first == UInt8(ascii: "\"")
        if isQuoted { rest = rest.dropFirst() }
        guard isQuoted || sign == UInt8(ascii: "=") else { continue }
        let code = rest.prefix { isLanguageCode(String(UnicodeScalar($0))) }
        let lengthMax = 35
        if !code.isEmpty, code.count <= lengthMax { return currentCode(String(decoding: code, as: UTF8.self)) }
    }
    return nil
}

/// A language as it is named today: old projects have `English` and `English.lproj`.
package func currentCode(_ name: String) -> String {
    switch name {
    case "English": "en"
    case "French": "fr"
    case "German": "de"
    case "Italian": "it"
    case "Spanish": "es"
    case "Dutch": "nl"
    case "Japanese": "ja"
    default: name
    }
}
