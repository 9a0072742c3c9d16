// The rules that hold texts against each other: what a translation does with the arguments of its source text, and how it
// begins and ends.
//
// What is passed is what the key says, if it has placeholders (the code was written with it), else what the source text
// uses. A translation may read no other arguments and none as another type, and should show what the source text shows.

extension CatalogCheck {
    func checkTexts(isTranslatable: Bool) {
        guard !localizations.isEmpty else { return }
        if checksPlaceholders {
            // Most entries have no placeholder in any language, which one search tells.
            if bytes.contains(0x25, in: Int(entry.nameStart)..<Int(entry.valueEnd)) {
                checkPlaceholders()
            } else {
                for localization in localizations where localization.substitutions != nil { checkSubstitutions(localization, texts: []) }
            }
        }
        checkAgainstSource(isTranslatable: isTranslatable)
    }

    // MARK: Placeholders

    /// A text's uses of arguments, with those of its substitutions.
    private struct Use {
        let leaf: Leaf
        let format: FormatText
        /// What is read, also by its substitutions.
        var arguments: [Placeholder]
        /// The arguments that a reader sees: a substitution need not show the number that it counts with.
        var shown: Set<Int>
    }

    private func checkPlaceholders() {
        guard localizations.allSatisfy({ $0.substitutions.map { Array(outline.children(of: $0)).count <= CatalogCheck.substitutionsMax } ?? true })
        else { return }
        let key = FormatText(decoded(bytes, entry.name))
        let uses = localizations.map { self.uses(of: $0) }
        for (localization, uses) in zip(localizations, uses) { checkSubstitutions(localization, texts: uses.map(\.format)) }

        let sourceUses = localizations.indices.last { localizations[$0].isSource && !uses[$0].isEmpty }.map { uses[$0] }
        let isKeyTrue = key.substitutions.isEmpty && !key.placeholders.isEmpty
        // A key that is only a name says nothing about arguments.
        guard isKeyTrue || sourceUses != nil || !isIdentifier(bytes, entry.name) else { return }
        let passed = isKeyTrue ? key.placeholders : (sourceUses ?? []).filter { $0.leaf.substitution == nil }.flatMap { $0.arguments }
        let shown = shown(sourceUses, key)
        let isBare = passed.isEmpty && (sourceUses?.contains { $0.format.hasBarePercent } ?? key.hasBarePercent)
        let isFormat = !passed.isEmpty || !isBare && (sourceUses?.contains { $0.format.hasEscapedPercent } ?? key.hasEscapedPercent)
        let sourceUsesOwn = sourceUses?.contains { $0.leaf.substitution != nil && $0.format.usesOwnArgument } ?? false

        for (localization, uses) in zip(localizations, uses) {
            for use in uses {
                if use.leaf.substitution != nil {
                    checkOwnArgument(use, localization, sourceUsesOwn)
                } else {
                    checkArguments(use, localization, passed: passed, isBare: isBare)
                    if !localization.isSource { checkShown(use, localization, shown, passed: passed) }
                }
                checkWriting(use, localization, isFormat: isFormat, hasPlaceholders: !passed.isEmpty)
            }
        }
    }

    private func uses(of localization: Localization) -> [Use] {
        leaves[localization.leaves].compactMap { leaf in
            let text = outline.text(leaf.value)
            guard !text.isEmpty else { return nil }
            let format = FormatText(text)
            var arguments = format.placeholders
            var shown = Set(arguments.map(\.argument))
            for use in format.substitutions {
                guard let entry = substitution(named: use.name, in: localization) else { continue }
                let number = outline.child(entry, "argNum").flatMap { Int(bytes.string(outline.nodes[$0].member.value)) }
                let specifier = outline.child(entry, "formatSpecifier").flatMap { outline.isString($0) ? outline.text($0) : nil }
                let own = number ?? use.argument
                if let specifier, let argument = Placeholder(specifier: specifier, argument: own) { arguments.append(argument) }
                for inner in leaves[localization.leaves] where inner.substitution == entry {
                    let format = FormatText(outline.text(inner.value))
                    let numbered = format.placeholders.filter { $0.text.contains("$") }
                    arguments += numbered.filter { !arguments.contains($0) }
                    guard inner.category.map({ category($0) == .other }) ?? true else { continue }
                    shown.formUnion(numbered.map(\.argument))
                    if format.usesOwnArgument { shown.insert(own) }
                }
            }
            return Use(leaf: leaf, format: format, arguments: arguments, shown: shown)
        }
    }

    /// A language with more substitutions was not written by a person: its texts are not looked at.
    private static let substitutionsMax = 100

    private func substitution(named name: String, in localization: Localization) -> Int? {
        guard let substitutions = localization.substitutions else { return nil }
        return outline.children(of: substitutions).first { outline.name($0) == name }
    }

    /// The arguments that every reader of the source text sees: those of its plain text, or of each `other`.
    private func shown(_ source: [Use]?, _ key: FormatText) -> Set<Int> {
        guard let source else { return Set(key.placeholders.map(\.argument)) }
        let full = source.filter { $0.leaf.substitution == nil && $0.leaf.category.map { category($0) == .other } ?? true }
        guard let first = full.first else { return [] }
        return full.dropFirst().reduce(first.shown) { $0.intersection($1.shown) }
    }

    /// Each argument that is read is passed, and as that type.
    private func checkArguments(_ use: Use, _ localization: Localization, passed: [Placeholder], isBare: Bool) {
        if use.format.usesOwnArgument {
            report(
                .placeholderExtra, at: use.leaf.value, in: localization.member,
                "%arg means something only inside a substitution; write the placeholder itself")
        }
        for read in use.arguments {
            let same = passed.filter { $0.argument == read.argument }
            guard let given = same.first(where: { $0.kind == read.kind }) ?? same.first else {
                // Beside a source text such as "100%" a "%" need not be a placeholder.
                if isBare && read.kind != .object { continue }
                let count = Set(passed.map(\.argument)).count
                let given = count == 0 ? "none is" : count == 1 ? "only one is" : "only \(count) are"
                report(
                    .placeholderExtra, at: use.leaf.value, in: localization.member,
                    "\(read.text) reads argument \(read.argument), but \(given) passed; remove it or correct its number")
                return
            }
            if given.kind != read.kind {
                let hint = passed.first { $0.kind == read.kind }.map { "; number it: \($0.numbered)" } ?? "; write \(given.text)"
                report(
                    .placeholderType, at: use.leaf.value, in: localization.member,
                    "\(read.text) reads argument \(read.argument) as \(read.kind.rawValue), but \(given.kind.rawValue) is passed (\(given.text))\(hint)")
                return
            }
            if given.width != read.width, given.text != "*" {
                report(
                    .placeholderWidth, at: use.leaf.value, in: localization.member,
                    "\(read.text) reads \(read.width) bits of argument \(read.argument), but \(given.width) are passed; write \(given.text)")
            }
        }
    }

    /// What the source text shows, the translation shows too. A plural category may say its number in words.
    private func checkShown(_ use: Use, _ localization: Localization, _ shown: Set<Int>, passed: [Placeholder]) {
        let isCountable = use.leaf.category.map { category($0) != .other } ?? false
        let read = Set(use.arguments.map(\.argument))
        // Where a use has no entry, that is what is reported.
        guard use.format.substitutions.allSatisfy({ substitution(named: $0.name, in: localization) != nil }) else { return }
        let absent = shown.subtracting(read).sorted().filter { argument in
            !(isCountable && passed.contains { $0.argument == argument && $0.kind == .integer })
        }
        guard let first = absent.first else { return }
        let placeholder = passed.first { $0.argument == first }
        report(
            .placeholderMissing, at: use.leaf.value, in: localization.member,
            "argument \(first)\(placeholder.map { " (\($0.text))" } ?? "") is missing, which the source text shows; add \(placeholder?.numbered ?? "it")")
    }

    private func checkOwnArgument(_ use: Use, _ localization: Localization, _ sourceUsesOwn: Bool) {
        guard !localization.isSource, sourceUsesOwn, !use.format.usesOwnArgument, use.format.placeholders.isEmpty,
            use.leaf.category.map({ category($0) == .other }) ?? true
        else { return }
        report(
            .placeholderMissing, at: use.leaf.value, in: localization.member,
            "the substitution does not show its number, as the source text does; add %arg")
    }

    private func checkWriting(_ use: Use, _ localization: Localization, isFormat: Bool, hasPlaceholders: Bool) {
        if use.format.isMixed {
            report(
                .placeholderOrder, at: use.leaf.value, in: localization.member,
                "some placeholders are numbered and some are not; number all of them: %1$@, %2$@")
        }
        if isFormat, use.format.hasBarePercent {
            let why = hasPlaceholders ? "a single % stands in a text with placeholders" : "a single % stands where the source text has %%"
            report(.percentSign, at: use.leaf.value, in: localization.member, "\(why); write %%")
        }
    }

    // MARK: Substitutions

    /// Each use has an entry and each entry a use, within one language.
    private func checkSubstitutions(_ localization: Localization, texts: [FormatText]) {
        let used = Set(texts.flatMap { $0.substitutions.map(\.name) })
        let entries = localization.substitutions.map { outline.children(of: $0).map { $0 } } ?? []
        for name in used.sorted() where !entries.contains(where: { outline.name($0) == name }) {
            report(
                .substitutionMissing, at: localization.member, in: localization.member,
                "the text uses %#@\(name)@, but the language has no substitution \"\(name)\", so that users see the raw text; add it or remove its use")
        }
        for entry in entries where !used.contains(outline.name(entry)) {
            report(
                .substitutionUnused, at: entry, in: localization.member,
                "no text of the language uses this substitution; write %#@\(outline.name(entry))@ where it belongs, or remove it")
        }
    }

    // MARK: Against the source text

    private func checkAgainstSource(isTranslatable: Bool) {
        guard policy[.equalToSource] != nil || policy[.whitespace] != nil else { return }
        guard let original = sourceText() else { return }
        for localization in localizations where !localization.isSource {
            for leaf in leaves[localization.leaves] where leaf.substitution == nil {
                let text = outline.inside(leaf.value)
                guard !text.isEmpty else { continue }
                if bytes.equal(text, bytes, original) {
                    if isTranslatable, leaf.category == nil { checkEqual(leaf, localization, original) }
                } else {
                    checkWhitespace(leaf, localization, original)
                }
            }
        }
    }

    /// What is translated, as it stands between its quotes: the source language's text, or else the key, if that is a text.
    private func sourceText() -> Range<Int>? {
        let source = localizations.last { $0.isSource }
        if let source, !source.leaves.isEmpty {
            let texts = leaves[source.leaves].filter { $0.substitution == nil }
            let leaf = texts.first { $0.category == nil } ?? texts.first { $0.category.map { category($0) == .other } ?? false }
            return leaf.map { outline.inside($0.value) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        return entry.name.isEmpty || isIdentifier(bytes, entry.name) ? nil : entry.name
    }

    private func checkEqual(_ leaf: Leaf, _ localization: Localization, _ original: Range<Int>) {
        // British and American English say most things alike.
        let language = languageIdentity(bytes.array(outline.nodes[localization.member].member.name))
        guard language.prefix(while: { $0 != 0x2d }) != source.prefix(while: { $0 != 0x2d }) else { return }
        guard outline.child(outline.nodes[leaf.value].parent, "state").map({ outline.holds($0, "translated") }) ?? true else { return }
        guard hasWords(decoded(bytes, original)) else { return }
        report(
            .equalToSource, at: leaf.value, in: localization.member,
            "the translation is the source text; translate it, or set shouldTranslate to false if it is a name")
    }

    /// Whether letters remain when the placeholders are taken out.
    private func hasWords(_ text: [UInt8]) -> Bool {
        var rest = String(decoding: text, as: UTF8.self)
        for placeholder in FormatText(text).placeholders {
            if let range = rest.firstRange(of: placeholder.text) { rest.removeSubrange(range) }
        }
        return rest.unicodeScalars.contains { $0.properties.isAlphabetic }
    }

    private func checkWhitespace(_ leaf: Leaf, _ localization: Localization, _ original: Range<Int>) {
        let text = outline.inside(leaf.value)
        guard mayHaveEdges(text) || mayHaveEdges(original) else { return }
        let (own, other) = (edges(outline.text(leaf.value)), edges(decoded(bytes, original)))
        guard own.leading != other.leading || own.trailing != other.trailing else { return }
        let isLeading = own.leading != other.leading
        let (mine, theirs) = isLeading ? (own.leading, other.leading) : (own.trailing, other.trailing)
        func said(_ edge: String) -> String { edge.isEmpty ? "none" : edge.unicodeScalars.map(name).joined(separator: " ") }
        report(
            .whitespace, at: leaf.value, in: localization.member,
            "the source text \(isLeading ? "begins" : "ends") with other white space (\(said(theirs))) than this (\(said(mine))); make them alike")
    }

    /// A look at the outermost bytes, which tells most texts apart: white space, an escape, or the bytes of NBSP and its like.
    private func mayHaveEdges(_ text: Range<Int>) -> Bool {
        guard let last = text.last else { return false }
        let first = bytes[text.lowerBound]
        if first == 0x20 || first == 0x5c || first == 0xc2 || first == 0xe2 || first == 0xe3 { return true }
        if bytes[last] == 0x20 || bytes[last] == 0xa0 || bytes[last] == 0xaf || bytes[last] == 0x80 { return true }
        return text.count > 1 && bytes[last - 1] == 0x5c
    }

    private func edges(_ text: [UInt8]) -> (leading: String, trailing: String) {
        let scalars = Array(String(decoding: text, as: UTF8.self).unicodeScalars)
        func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
            var out = ""
            out.unicodeScalars.append(contentsOf: scalars)
            return out
        }
        let leading = scalars.prefix { $0.properties.isWhitespace }
        return (string(leading), string(scalars.dropFirst(leading.count).reversed().prefix { $0.properties.isWhitespace }.reversed()))
    }

    private func name(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case " ": "space"
        case "\n": "line feed"
        case "\t": "tab"
        case "\u{a0}": "NBSP"
        default: "U+" + String(scalar.value, radix: 16, uppercase: true)
        }
    }
}

/// Whether a key is a name for a text rather than a text: `settings.title`, `welcome_message`, `itemCount`.
private func isIdentifier(_ bytes: Bytes, _ name: Range<Int>) -> Bool {
    var hasJoint = false
    var wasLower = false
    for i in name {
        let byte = bytes[i]
        switch byte {
        case 0x61...0x7a, 0x30...0x39: wasLower = true
        case 0x41...0x5a:
            if wasLower { hasJoint = true }
            wasLower = false
        // A dot at the end closes a sentence.
        case 0x2e, 0x2d, 0x3a, 0x2f: if i > name.lowerBound && i < name.upperBound - 1 { hasJoint = true } else { return false }
        case 0x5f: hasJoint = true
        default: return false
        }
    }
    return hasJoint
}
