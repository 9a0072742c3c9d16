// One leaf at a time: what a catalog says at a place, and the same catalog with another leaf there.
//
// An edit is a plan like that of a merge, written by the same splices and read back in the same way: bytes outside the
// leaf do not move.

/// Why a leaf cannot be set.
public enum EditFault: Error, Sendable, CustomStringConvertible {
    /// The place cannot hold a text; the sentence says why not.
    case place(String)
    /// The text of that language has another form; these are the places it has.
    case form(places: [String])
    /// The result did not pass its own check. It is a bug; nothing may be written.
    case unsound(MergeFault)

    public var description: String {
        switch self {
        case .place(let sentence): sentence
        case .form(let places): "its text has another form; name one of \(places.joined(separator: ", "))"
        case .unsound(let fault): fault.description
        }
    }
}

extension LeafPath {
    /// The field as people say it: without `stringUnit` and `variations`, which lead to every text. Nil where there is none.
    public var fieldInShort: String? {
        if field == "stringUnit.value" { return "value" }
        return field.map { $0.split(separator: ".").filter { $0 != "stringUnit" && $0 != "variations" }.joined(separator: ".") }
    }

    /// The place below its key as people say it: `fr value`; empty for the whole entry.
    public var placeBelowKey: String { [language, fieldInShort].compactMap { $0 }.joined(separator: " ") }

    /// The place as people say it: `"Hello" fr value`. `shown` gives a key in the form in which it can be shown.
    public func place(_ shown: (String) -> String) -> String {
        [key.map { "\"\(shown($0))\"" }, language, fieldInShort].compactMap { $0 }.joined(separator: " ")
    }

    /// Whether this place of a key is listed before another one: by language, then by field.
    public func isListed(before other: LeafPath) -> Bool { (language ?? "", field ?? "") < (other.language ?? "", other.field ?? "") }

    /// Whether a text that people read stands here.
    public var isText: Bool { language != nil && field.map { $0 == "value" || $0.hasSuffix(".value") } == true }

    /// The place of the state that belongs to a text; nil for anything else.
    public var stateOfText: LeafPath? {
        guard isText, let field else { return nil }
        return LeafPath(key: key, language: language, field: field.dropLast("value".count) + "state")
    }
}

extension CatalogDocument {
    /// All scalars of a key, or of one language of it, by place: texts as they read, anything else as its JSON. Empty where
    /// there is no such key or language. Arrays count as one scalar.
    public func leaves(of key: String, language: String? = nil) -> [LeafPath: String] {
        guard let index = entry(saying: key) else { return [:] }
        let sides = alone
        var found: [LeafPath: String] = [:]
        func walk(_ value: Value, _ language: String?, _ fields: [String]) {
            guard sides.isObject(value) else {
                found[LeafPath(key: key, language: language, field: fields.joined(separator: "."))] = sides.text(value)
                return
            }
            for item in sides.effective(sides.items(value)) { walk(item.value, language, fields + [sides.text(item.name)]) }
        }
        for item in sides.effective(sides.items(Value(.ours, entries[index].value))) {
            guard sides.isNamed(item.name, "localizations"), sides.isObject(item.value) else {
                if language == nil { walk(item.value, nil, [sides.text(item.name)]) }
                continue
            }
            for localization in sides.effective(sides.items(item.value)) {
                let code = sides.text(localization.name)
                if language.map({ isSameLanguage($0, code) }) ?? true { walk(localization.value, language ?? code, []) }
            }
        }
        return found
    }

    /// What stands at a place: a text as it reads, anything else as its JSON; nil where nothing does.
    public func value(at path: LeafPath, aliases: LanguageAliases = LanguageAliases()) -> String? {
        let sides = alone
        guard let key = path.key else { return node(path.field ?? "", below: Value(.ours, root), sides).map(sides.text) }
        guard let index = entry(saying: key) else { return nil }
        let entry = Value(.ours, entries[index].value)
        guard let language = path.language else { return node(path.field ?? "", below: entry, sides).map(sides.text) }
        guard let localization = localization(of: language, in: entry, sides, aliases) else { return nil }
        return node(path.field ?? "", below: localization, sides).map(sides.text)
    }

    /// This catalog with what stands at these places in another one, or without it where the other has nothing there.
    ///
    /// A key or language that is only in the other comes over whole. The very bytes of this one where nothing changes.
    public func taking(_ paths: Set<LeafPath>, from other: CatalogDocument) throws(EditFault) -> Bytes {
        var merger = Merger(base: other, ours: self, theirs: other, policy: MergePolicy())
        merger.held = paths.filter { path in
            let (here, there) = (value(at: path), other.value(at: path))
            return here.map { Array($0.utf8) } != there.map { Array($0.utf8) }
        }
        guard !merger.held.isEmpty else { return bytes }
        var plan = merger.restoration()
        guard !plan.isEmpty else { return bytes }
        guard plan.added.isEmpty || stringsMember != nil else { throw .place("the catalog has no \"strings\"") }
        plan.added = plan.added.map { NewMember(name: $0.name, merged: $0.merged, after: place(of: merger.sides.bytes(of: $0.name)) ?? $0.after) }
        plan.added = plan.added.enumerated().sorted { ($0.element.after, $0.offset) < ($1.element.after, $1.offset) }.map(\.element)
        var splicer = Splicer(self, sides: merger.sides)
        let output = splicer.write(plan).gathered()
        do throws(MergeFault) {
            _ = try written(output, as: plan, of: merger)
        } catch {
            throw .unsound(error)
        }
        return output
    }

    /// This catalog with another text at one place, and with its state where one is given.
    ///
    /// A key, language, plural category or device that is missing is added, a key at its sorted place. Without a field, the
    /// place is the plain text of the language.
    /// - Throws: ``EditFault/form(places:)`` where the text of that language is made of variations and the place is not
    ///   one of them, or the other way round.
    public func setting(_ text: String, state: String? = nil, at path: LeafPath) throws(EditFault) -> Bytes {
        guard let key = path.key else {
            guard path == LeafPath(field: "sourceLanguage"), let member = topMember("sourceLanguage") else { throw .place("a text stands at a key") }
            return try setting(sourceLanguage: text, at: member.value)
        }
        guard path.language != nil || path.field != nil else { throw .place("a text stands in a language or a field of the key") }
        let place = LeafPath(key: key, language: path.language, field: path.field ?? "stringUnit.value")
        try checkForm(of: place)
        let names = names(of: place)
        let fragment = Self.fragment(key: key, language: path.language, names: names, text: text, state: place.isText ? state : nil)
        let other: CatalogDocument
        do { other = try CatalogDocument(parsing: Bytes(fragment)) } catch { throw .place("the place is not one that a catalog can have: \(error)") }
        var paths: Set = [place]
        if state != nil, let statePlace = place.stateOfText { paths.insert(statePlace) }
        let output = try taking(paths, from: other)
        let result: CatalogDocument
        do { result = try CatalogDocument(parsing: output) } catch { throw .unsound(MergeFault(description: "the edited catalog does not parse: \(error)")) }
        guard result.value(at: place)?.utf8.elementsEqual(text.utf8) == true else {
            throw .unsound(MergeFault(description: "the edited catalog does not have the text at its place"))
        }
        return output
    }

    /// This catalog with another source language, whose value stands at these offsets.
    private func setting(sourceLanguage: String, at value: Range<Int>) throws(EditFault) -> Bytes {
        let output = Bytes(bytes.array(0..<value.lowerBound) + Style.xcode.quoted(sourceLanguage) + bytes.array(value.upperBound..<bytes.count))
        guard let result = try? CatalogDocument(parsing: output), result.sourceLanguage?.utf8.elementsEqual(sourceLanguage.utf8) == true else {
            throw .unsound(MergeFault(description: "the edited catalog does not have its source language"))
        }
        return output
    }

    // MARK: Places

    private var alone: Sides { Sides(base: bytes, ours: bytes, theirs: bytes) }

    private func localization(of language: String, in entry: Value, _ sides: Sides, _ aliases: LanguageAliases = LanguageAliases()) -> Value? {
        sides.member(entry, "localizations").flatMap { localizations in
            let items = sides.items(localizations)
            return (items.last { sides.text($0.name) == language } ?? items.last { aliases.areSame(sides.text($0.name), language) })?.value
        }
    }

    /// The value at a place, a path of names joined by dots; names may hold dots themselves.
    private func node(_ place: String, below value: Value, _ sides: Sides) -> Value? {
        if place.isEmpty { return value }
        for item in sides.items(value).reversed() {
            let name = sides.text(item.name)
            if name == place { return item.value }
            guard place.hasPrefix(name + ".") else { continue }
            if let found = node(String(place.dropFirst(name.count + 1)), below: item.value, sides) { return found }
        }
        return nil
    }

    /// The names that lead to a place: as the catalog has them as far as it goes, then what stands between dots.
    private func names(of path: LeafPath) -> [String] {
        let sides = alone
        let entry = path.key.flatMap { self.entry(saying: $0) }.map { Value(.ours, entries[$0].value) }
        var value = path.language == nil ? entry : entry.flatMap { localization(of: path.language!, in: $0, sides) }
        var rest = path.field ?? ""
        var names: [String] = []
        while !rest.isEmpty {
            let members = value.map { sides.items($0) } ?? []
            let known = members.filter { sides.text($0.name) == rest || rest.hasPrefix(sides.text($0.name) + ".") }
                .max { sides.text($0.name).utf8.count < sides.text($1.name).utf8.count }
            let name = known.map { sides.text($0.name) } ?? String(rest.prefix { $0 != "." })
            value = known?.value
            names.append(name)
            rest = String(rest.dropFirst(name.count + 1))
        }
        return names
    }

    /// A plain text cannot stand beside variations.
    private func checkForm(of path: LeafPath) throws(EditFault) {
        guard let key = path.key, let language = path.language, let field = path.field else { return }
        let present = leaves(of: key, language: language).keys.filter(\.isText).compactMap(\.field)
        func form(_ field: String) -> Substring { field.prefix { $0 != "." } }
        let forms = Set(present.map(form)).subtracting(["substitutions"])
        guard !forms.isEmpty, form(field) != "substitutions", !forms.contains(form(field)) else { return }
        throw .form(places: present.sorted())
    }

    /// Where a new key goes in a sorted file, as the entry that it follows; -1 is the start. The end of a file that is not sorted.
    private func place(of name: [UInt8]) -> Int? {
        guard let order = entries.count > 1 ? KeyOrder.detected(in: self) : .xcode else { return entries.count - 1 }
        return (entries.firstIndex { order.isBefore(name, decoded(bytes, $0.name)) } ?? entries.count) - 1
    }

    /// A catalog that has one text and nothing else.
    private static func fragment(key: String, language: String?, names: [String], text: String, state: String?) -> [UInt8] {
        let style = Style.xcode
        func object(_ name: String, _ inner: [UInt8]) -> [UInt8] { [0x7b] + style.quoted(name) + [0x3a] + inner + [0x7d] }
        var unit = [0x7b] + style.quoted(names.last ?? "value") + [0x3a] + style.quoted(text)
        if let state { unit += [0x2c] + style.quoted("state") + [0x3a] + style.quoted(state) }
        var value = unit + [0x7d]
        for name in names.dropLast().reversed() { value = object(name, value) }
        if let language { value = object("localizations", object(language, value)) }
        return object("strings", object(key, value))
    }
}
