import Linux

/// One line for each event, to standard error: a word that says what happened, then fields.
///
///     <6>moved repository=app branch=main kind=merge subject="Sync l10n/fr into main: 12 texts in fr"
///
/// Under systemd a line begins with its priority, as sd-daemon(3) wants it; elsewhere with the name of the priority.
/// Whatever comes from a repository or a configuration is escaped: nobody can forge a line.
public struct Log: Sendable {
    public enum Priority: Int, Sendable {
        case error = 3, warning = 4, notice = 5, info = 6
    }

    private let line: @Sendable (Priority, String) -> Void

    /// - Parameter line: takes each finished line, without priority and line feed.
    public init(line: @escaping @Sendable (Priority, String) -> Void) { self.line = line }

    /// To standard error.
    public static func standardError() -> Log {
        let isJournal = environmentVariable("JOURNAL_STREAM") != nil
        return Log { priority, text in
            write(isJournal ? "<\(priority.rawValue)>\(text)\n" : "concord: \(priority): \(text)\n", to: 2)
        }
    }

    func callAsFunction(_ priority: Priority, _ event: String, _ fields: KeyValuePairs<String, String?> = [:]) {
        line(priority, ([event] + fields.compactMap { name, value in value.map { "\(name)=\(Self.quoted($0))" } }).joined(separator: " "))
    }

    /// A value that is more than one word stands in quotation marks.
    private static func quoted(_ value: String) -> String {
        let isWord = !value.isEmpty && value.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 0x20 && $0 != "\"" && $0 != "=" && $0 != "\\" && $0.value != 0x7F }
        guard !isWord else { return value }
        var out = "\""
        for character in printable(value, lengthMax: 2000) {
            if character == "\"" { out += "\\" }
            out.append(character)
        }
        return out + "\""
    }
}
