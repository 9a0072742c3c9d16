// What a check found, for people, programs and forges.

import StringCatalog
import Sync

/// A file and what was found in it.
struct CheckedFile {
    let path: String
    let findings: [Finding]
}

/// The findings of one run of `concord check`.
struct CheckReport {
    enum Format: String, CaseIterable {
        case human, json, sarif, github
    }

    let files: [CheckedFile]

    func count(of severity: Severity) -> Int { files.reduce(0) { $0 + $1.findings.count { $0.severity == severity } } }

    /// The whole report as text, with a final line feed. Programs always get the notes.
    func text(as format: Format, showsNotes: Bool) -> String {
        switch format {
        case .human: human(showsNotes: showsNotes)
        case .json: json.description + "\n"
        case .sarif: sarif.description + "\n"
        case .github: github(showsNotes: showsNotes)
        }
    }

    // MARK: For people

    /// One line for each finding, as compilers write them, and a sum.
    private func human(showsNotes: Bool) -> String {
        var out = ""
        for file in files {
            for finding in file.findings where showsNotes || finding.severity > .info {
                let place = describe(finding.place)
                out += "\(file.path):\(finding.line):\(finding.column): \(finding.severity.rawValue): "
                out += "\(place.isEmpty ? "" : place + ": ")\(onOneLine(finding.sentence)) [\(finding.rule.rawValue)]\n"
            }
        }
        let notes = count(of: .info)
        let hint = notes > 0 && !showsNotes ? " (--all shows them)" : ""
        let sums = [counted(count(of: .error), "error"), counted(count(of: .warning), "warning"), counted(notes, "note")]
        return out + "\(counted(files.count, "catalog")): \(sums.joined(separator: ", "))\(hint)\n"
    }

    private func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    private func onOneLine(_ text: String) -> String { text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\n") }

    // MARK: For programs

    private var json: JSON {
        .object([
            "errors": .number(count(of: .error)), "warnings": .number(count(of: .warning)), "notes": .number(count(of: .info)),
            "files": .list(
                files.map { file in
                    .object(["path": .string(file.path), "findings": .list(file.findings.map { json(of: $0) })])
                }),
        ])
    }

    private func json(of finding: Finding) -> JSON {
        .object([
            "rule": .string(finding.rule.rawValue), "severity": .string(finding.severity.rawValue), "line": .number(finding.line),
            "column": .number(finding.column), "key": .string(ifPresent: finding.place.key), "language": .string(ifPresent: finding.place.language),
            "field": .string(ifPresent: finding.place.field), "sentence": .string(finding.sentence),
        ])
    }

    /// SARIF 2.1.0, as code scanning reads it. A fingerprint says which finding is the same as one of another run.
    private var sarif: JSON {
        let rules = CheckRule.allCases.map { rule in
            JSON.object([
                "id": .string(rule.rawValue), "shortDescription": .object(["text": .string(rule.summary)]),
                "defaultConfiguration": .object(["level": .string(level(rule.standardSeverity))]),
            ])
        }
        let driver = JSON.object(["name": .string("concord"), "version": .string(version), "rules": .list(rules)])
        let results = files.flatMap { file in file.findings.map { result($0, file.path) } }
        let run = JSON.object([
            "tool": .object(["driver": driver]), "columnKind": .string("unicodeCodePoints"), "results": .list(results),
        ])
        return .object([
            "$schema": .string("https://json.schemastore.org/sarif-2.1.0.json"), "version": .string("2.1.0"), "runs": .list([run]),
        ])
    }

    private func result(_ finding: Finding, _ path: String) -> JSON {
        let place = describe(finding.place)
        let physical = JSON.object([
            "artifactLocation": .object(["uri": .string(uri(path))]),
            "region": .object(["startLine": .number(finding.line), "startColumn": .number(finding.column)]),
        ])
        let logical = place.isEmpty ? nil : JSON.list([.object(["fullyQualifiedName": .string(place)])])
        return .object([
            "ruleId": .string(finding.rule.rawValue), "ruleIndex": .number(CheckRule.allCases.firstIndex(of: finding.rule)!),
            "level": .string(level(finding.severity)),
            "message": .object(["text": .string((place.isEmpty ? "" : place + ": ") + finding.sentence)]),
            "locations": .list([.object(["physicalLocation": physical, "logicalLocations": logical])]),
            "partialFingerprints": .object(["concordIdentity/v1": .string(finding.identity(path: path))]),
        ])
    }

    private func level(_ severity: Severity) -> String {
        switch severity {
        case .error: "error"
        case .warning: "warning"
        case .info: "note"
        }
    }

    /// A path as a relative URI reference.
    private func uri(_ path: String) -> String {
        path.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x2f, 0x5f, 0x7e: String(Unicode.Scalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }

    // MARK: For workflows

    /// Workflow commands: the forge shows each finding beside its line.
    private func github(showsNotes: Bool) -> String {
        func data(_ text: String) -> String {
            text.unicodeScalars.map { scalar in
                switch scalar {
                case "%": "%25"
                case "\r": "%0D"
                case "\n": "%0A"
                default: String(scalar)
                }
            }.joined()
        }
        func property(_ text: String) -> String {
            data(text).unicodeScalars.map { $0 == ":" ? "%3A" : $0 == "," ? "%2C" : String($0) }.joined()
        }
        var out = ""
        for file in files {
            for finding in file.findings where showsNotes || finding.severity > .info {
                let command = finding.severity == .info ? "notice" : finding.severity.rawValue
                let place = describe(finding.place)
                out += "::\(command) file=\(property(file.path)),line=\(finding.line),col=\(finding.column),title=\(property(finding.rule.rawValue))::"
                out += data((place.isEmpty ? "" : place + ": ") + finding.sentence) + "\n"
            }
        }
        return out
    }
}
