import Git
import Linux

/// `concord sync`: one pass over all repositories of a configuration.
public enum SyncOnce {
    /// Does one pass, or with `isDryRun` says what it would do, and tells each step as a line of text.
    ///
    /// Returns 0 when everything is in step, 1 when something waits for a person, 2 when a repository could not be looked at.
    /// - Throws: `ConfigurationError`.
    public static func run(configurationPath: String, isDryRun: Bool, tell: @escaping @Sendable (String) -> Void) throws(ConfigurationError) -> Int32 {
        let configuration = try Configuration(reading: configurationPath)
        var code: Int32 = 0
        for var settings in configuration.repositories {
            settings.isDryRun = settings.isDryRun || isDryRun
            var memo = StepMemo()
            let name = printable(settings.name)
            let pass = Pass(
                settings: settings, committer: configuration.committer, signing: configuration.signing, isStopped: { false },
                moved: { tell("\(name): \(printable($0.subject))") })
            do throws(GitError) {
                let report = try pass.run(&memo)
                for move in report.moves where move.isPlanned { tell("\(name): would \(move.kind): \(printable(move.subject))") }
                for (step, why) in report.blocked { tell("\(name): blocked: \(step): \(why)") }
                for (step, places) in report.held { for place in places { tell("\(name): held: \(step): \(place)") } }
                for branch in report.missing { tell("\(name): there is no branch \(branch.branch.shorthand), which [sync \"\(branch.rule)\"] names") }
                for remark in report.remarks { tell("\(name): \(remark)") }
                let waits = !report.blocked.isEmpty || !report.held.isEmpty || !report.missing.isEmpty
                if report.moves.isEmpty && !waits { tell("\(name): in step") }
                if waits { code = max(code, 1) }
            } catch {
                tell("\(name): failed: \(error)")
                code = 2
            }
        }
        return code
    }
}
