import Git
import Linux

/// How sync commits are signed, so that branches that take signed commits only take them: as git signs, by the same programs.
///
/// The key is named, never held: `ssh-keygen` reads the file, `gpg` or an agent has the key.
public struct CommitSigning: Sendable, Hashable {
    /// git's `gpg.format`.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        case openpgp, ssh

        fileprivate var program: String {
            switch self {
            case .openpgp: "gpg"
            case .ssh: "ssh-keygen"
            }
        }
    }

    /// git's `user.signingKey`: for `ssh` the file of a private key, or of a public one whose private part an agent has; for
    /// `openpgp` whatever names a key to gpg.
    public var key: String
    /// What kind of key it is.
    public var format: Format
    /// git's `gpg.program` or `gpg.ssh.program`; `nil` for the usual one.
    public var program: String?

    /// A program that waits for a passphrase would wait for ever.
    static let deadline = Duration.seconds(15)

    /// Signs with a key of that format by the usual program, or by another one that takes the same words.
    public init(key: String, format: Format = .openpgp, program: String? = nil) {
        self.key = key
        self.format = format
        self.program = program
    }

    /// The signature of a commit as git wants it signed.
    func signature(of commit: [UInt8]) throws(GitError) -> String {
        let program = program ?? format.program
        func fault(_ why: String) -> GitError { GitError(.other, stage: "sign a commit with \(key)", detail: why) }
        let words = switch format {
        case .openpgp: ["--batch", "--status-fd=2", "-bsau", key]
        case .ssh: ["-Y", "sign", "-n", "git", "-f", key]
        }
        let child: ChildExit
        do {
            child = try run([program] + words, input: commit, environment: processEnvironment(), deadline: Self.deadline, outputBytesMax: 1 << 20)
        } catch {
            throw fault("\(error)")
        }
        let signature = String(decoding: child.output, as: UTF8.self)
        switch child.end {
        case .timedOut: throw fault("\(program) took longer than \(Self.deadline); a key with a passphrase needs an agent that holds it")
        case .exited(code: 0) where signature.hasPrefix("-----BEGIN "): return signature
        case .exited, .killed:
            let said = String(decoding: child.errors, as: UTF8.self).split(whereSeparator: \.isNewline).joined(separator: "; ")
            throw fault("\(program) made no signature: \(printable(said, lengthMax: 500))")
        }
    }
}
