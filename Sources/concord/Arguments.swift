/// The words after a command's name, sorted into options and files.
struct Arguments {
    /// What was wrong with the words of a command, as a sentence.
    struct Fault: Error {
        let sentence: String
    }

    // Arrays, since the first set or dictionary of a process costs more than the merge of a small catalog.

    /// The options with a value, in the order in which they were given.
    private var given: [(name: String, value: String)] = []
    private(set) var flags: [String] = []
    private(set) var files: [String] = []

    /// Reads words. An option's value follows it or stands behind `=`; `--` ends the options; a lone `-` is a file.
    /// - Throws: for an option that is not among `valued` and `flags`, with the nearest name that is.
    init(_ words: [String], valued: [String] = [], flags known: [String] = []) throws(Fault) {
        var i = 0
        while i < words.count {
            let word = words[i]
            i += 1
            if word == "--" {
                files += words[i...]
                break
            }
            guard word.hasPrefix("-"), word != "-" else {
                files.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let name = parts[0]
            if known.contains(name), parts.count == 1 {
                flags.append(name)
            } else if valued.contains(name) {
                guard parts.count == 2 || i < words.count else { throw Fault(sentence: "\(name) needs a value") }
                given.append((name, parts.count == 2 ? parts[1] : words[i]))
                if parts.count == 1 { i += 1 }
            } else {
                throw Fault(sentence: "there is no option \(name)\(suggestion(for: name, among: (valued + known).sorted(), quote: ""))")
            }
        }
    }

    /// The value of an option; of one that was given more than once the last.
    subscript(name: String) -> String? { given.last { $0.name == name }?.value }

    /// All values of an option, in the order in which they were given.
    func values(_ name: String) -> [String] { given.filter { $0.name == name }.map(\.value) }

    /// The value of an option that has to be given.
    func required(_ name: String) throws(Fault) -> String {
        guard let value = self[name] else { throw Fault(sentence: "\(name) is missing") }
        return value
    }
}

/// `; did you mean 'merge'?` if one of the names is near the word: a slip or two, fewer in a short one. Else nothing.
func suggestion(for word: String, among names: [String], quote: String = "'") -> String {
    let letters = word.drop { $0 == "-" }.count
    guard let near = names.min(by: { distance(word, $0) < distance(word, $1) }), distance(word, near) <= min(3, max(1, letters / 2)) else { return "" }
    return "; did you mean \(quote)\(near)\(quote)?"
}

/// How many letters have to be changed, added or left out to make one word of another.
func distance(_ a: String, _ b: String) -> Int {
    let x = Array(a.utf8)
    let y = Array(b.utf8)
    var row = Array(0...y.count)
    for i in x.indices {
        var previous = row[0]
        row[0] = i + 1
        for j in y.indices {
            let replaced = previous + (x[i] == y[j] ? 0 : 1)
            previous = row[j + 1]
            row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
        }
    }
    return row[y.count]
}
