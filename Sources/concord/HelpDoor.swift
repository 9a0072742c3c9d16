// `concord help`: what needs no manual.

let version = "0.1.0"

let helpOverview = """
    concord keeps the string catalogs of Apple apps merged: by key, language and field, beside the repository host.

    The daemon
      serve           watch repositories and sync their branches
      sync            one pass over the configured repositories, or only its plan
      status          how the running daemon and its repositories are

    Files
      merge           merge three catalogs, or tables (.strings, .stringsdict)
      diff            what changed between two catalogs or tables, by key and language
      check           is every catalog and table sound, and does every translation fit its source text
      stats           how far each language is
      fmt             write catalogs as Xcode writes them
      migrate         make catalogs of the .strings and .stringsdict files of .lproj folders

    What happened, in a repository
      lost            the texts that syncs dropped
      restore         put one of them back
      conflicts       what waits for a decision
      resolve         decide it, once and for all
      explain         why a text is as it is
      log             the history of one text

    git
      install-driver  let git itself merge and show catalogs with concord
      merge-driver    what git then calls to merge
      textconv        what git then calls to show a catalog

      demo            a whole story on a real repository, in a folder to look at
      help COMMAND    more about one of these
      version         the version

    Exit codes: 0 done; 1 done, but something waits for a person; 2 an input cannot be read; 3 a fault of concord;
    64 the command line is wrong.
    """

/// What people write who want the help of a command.
let helpWords = ["--help", "-h"]

let commandNames = ["merge", "diff", "check", "stats", "fmt", "migrate", "install-driver", "merge-driver", "textconv", "serve", "sync", "status", "lost", "restore", "conflicts", "resolve", "explain", "log", "demo", "help", "version"]

private let pages: [String: String] = [
    "merge": """
        usage: concord merge --base B --ours O --theirs T --output R [--report J] [--path P] [--source-side ours|theirs]
                             [--policy RULE]… [--alias CODES]… [--source-language L]

        Merges the changes from B to T into O, leaf by leaf, and writes O's bytes with just the texts that came over to R
        ('-' is standard output). A base that is missing (/dev/null, or an empty file) means that both sides added the file.

          --report J        a JSON file: every conflict with its three values, every text that lost, every decision that
                            was not trivial
          --path P          the name to use for the file in messages and in the report. It also says of which kind the
                            files are: *.strings and *.stringsdict are tables, whose language is that of the .lproj
                            folder in P; all others are catalogs. O's name by default.
          --source-side S   which side is the branch of the developers; the other is then the branch of the translators.
                            It decides ties: source texts, comments and keys go to the developers' side, translations to
                            the translators', whose exports never remove keys. Without it a tie is a conflict.
          --policy RULE     who wins ties, before the sides do: a choice, and what it is for, as in
                            'theirs language=fr,de' or 'source-branch file=Legal/* key=legal.* field=value'. May be given
                            often; the first rule that fits and decides wins. The choices are those of Config/concord.conf;
                            'newest' decides nothing here, since files have no dates.
          --alias CODES     languages that are one, as in 'zh-CN zh-Hans'. The code in O is the one that is written.
          --source-language L  the language of the source texts of tables. Without it, what the .concord of the checkout, the
                            catalogs beside the .lproj folder of P, or the Xcode project or Swift package around it, say; else en.

        Exit: 0 clean; 1 conflicts are left, R is a valid catalog with O's bytes in their places; 2 an input cannot be
        read, R is not written; 3 the result did not pass its own check, R is not written; 64 wrong command line.
        """,
    "diff": """
        usage: concord diff OLD NEW [--stat]

        Shows what changed between two catalogs, or two tables (.strings, .stringsdict), by key and language; order, spacing, escapes
        and encodings do not count. A table's language is that of its .lproj folder. /dev/null is an empty file. With --stat only
        the numbers of each language.

        Exit: 0 no difference; 1 differences; 2 a file cannot be read.
        """,
    "check": """
        usage: concord check FILE|FOLDER…
               concord check --repository R --ref X

        Looks for faults: JSON that does not parse, conflict markers, keys that stand twice or beside "strings", plurals
        without a category that the language needs, placeholders that do not fit the source text, and more. Of a FOLDER, every
        catalog and table below it, but for what begins with a dot. With --repository, those of the tree of a branch, ref or
        commit X, also in a bare repository. '-' is standard input, a catalog unless --path says otherwise.

        Tables (*.strings, *.stringsdict) are checked too, each against the table of the source language beside it. Which language
        that is, the .concord of the tree says, or the catalogs, the Xcode project or the Swift package around it; else it is en.

          --path P               what the one file is called: whether it is a catalog or a table, of which language, and where
                                 its source texts are. For '-', and for a copy under another name
          --severity RULE=LEVEL  error, warning, info or off; may be given often. 'concord check --rules' lists the rules.
          --format F             human (default), json, sarif or github (annotations of a workflow). --json is --format json
          --all                  shows also the notes (info), which human and github leave out
          --baseline B           does not report the faults listed in B
          --write-baseline B     lists all present faults in B, to be reported no more; exit 0

        Exit: 0 no errors; 1 errors; 2 a file or the repository cannot be read; 64 wrong command line.
        """,
    "stats": """
        usage: concord stats [--json] FILE|FOLDER…

        For each catalog, and for the tables (.strings, .stringsdict) of one name together: for each language, how many of the texts
        are translated, need review, are new or missing. Texts that are not to be translated, or that the code no longer uses
        (stale), are not among them. A table's texts are all translated; missing is what the source language's table beside it has.

        Exit: 0; 2 a file cannot be read.
        """,
    "fmt": """
        usage: concord fmt [--check] FILE|FOLDER…

        Rewrites catalogs as Xcode writes them: order of keys, spacing, escapes. What they say stays the same. With --check
        nothing is written, and the files that would change are listed. Tables (.strings, .stringsdict) stay as they are: Xcode does
        not rewrite them, so that they have no canonical form.

        Exit: 0; 1 with --check, files would change; 2 a file cannot be read or written.
        """,
    "migrate": """
        usage: concord migrate [--source-language L] [--dry-run] [--force] FOLDER

        Makes FOLDER/NAME.xcstrings of the tables NAME.strings and NAME.stringsdict in FOLDER's .lproj folders, as Xcode's
        "Migrate to String Catalog" does: key for key, with comments, plurals and substitutions. The catalog is read again
        and its texts are counted before it is written. The tables stay; remove them when the build uses the catalog.

          --source-language L   the language of the source texts; Base.lproj holds it too. By default what the Xcode project
                                or Swift package around FOLDER says, else en
          --dry-run             only counts, writes nothing
          --force               replaces a catalog that is there

        Exit: 0 all migrated; 1 done, but what is listed has to stay in its table; 2 a file cannot be read or written.
        """,
    "textconv": """
        usage: concord textconv FILE

        Prints a catalog or table with one leaf a line, led by its key and language, for 'git diff' ('concord install-driver' registers
        it). '-' is standard input.
        """,
    "merge-driver": """
        usage: concord merge-driver %O %A %B %L %P

        What git calls to merge a catalog once 'concord install-driver' has registered it. The result replaces %A: the merged
        catalog, valid also with conflicts, which are listed on standard error and have the text of ours. A file that is not
        a catalog goes to git's line merge. What the file .concord at the top of the checkout says about policy, alias and
        sourceLanguage holds (Config/concord.conf explains them); both branches count alike.

        Exit: 0 clean; 1 conflicts; above 128 git must not use the result.
        """,
    "install-driver": """
        usage: concord install-driver [--global] [--uninstall]

        Registers concord as merge driver and diff view of *.xcstrings, *.strings and *.stringsdict: in the configuration
        and info/attributes of the repository around you, or for all of yours with --global. It refuses a program that lies
        in the checkout, where a branch could replace it. Nothing in the work tree is touched.
        """,
    "serve": """
        usage: concord serve [--config FILE]

        The daemon. FILE is /etc/concord/concord.conf by default. SIGHUP reloads the configuration (a bad one leaves the old one running), SIGTERM ends it cleanly.
        Config/concord.conf explains each setting.

        Exit: 0 after SIGTERM; 2 the configuration cannot be used (all its faults are listed).
        """,
    "sync": """
        usage: concord sync [--config FILE] [--once] [--dry-run]

        One pass over all repositories of the configuration. --dry-run prints what would be done and
        writes nothing: no ref, and no object.

        Exit: 0 all is in step; 1 something waits for a person; 2 a configuration or a repository cannot be read.
        """,
    "status": """
        usage: concord status [--config FILE] [--json] [--look]

        Asks the running daemon over the socket that FILE (/etc/concord/concord.conf by default) names. --look makes it look at all repositories now.

        Exit: 0; 2 no daemon answers.
        """,
    "lost": """
        usage: concord lost [--repository R] [--json] [KEY] [LANGUAGE]
               concord lost [--repository R] --pack

        Lists the texts that syncs dropped, newest first: what was lost, where, to what, and by which rule. They are kept in
        the repository, on refs/concord/ledger. --pack puts its many small files into few; nothing is lost by it.

        Exit: 0; 2 the repository cannot be read.
        """,
    "restore": """
        usage: concord restore [--repository R] --ref BRANCH [--path P] KEY LANGUAGE [--at N]

        Puts a lost text back: an edit of this one place, committed on BRANCH in your name and marked as needs_review. N is the
        number that 'concord lost KEY LANGUAGE' shows; 1, the newest, by default. In a table (.strings, .stringsdict) LANGUAGE is that of
        its .lproj folder, there is no state to mark, and a key that is gone comes back whole, with its comment.

        Exit: 0; 1 the branch must not be moved; 2 there is no such text.
        """,
    "conflicts": """
        usage: concord conflicts [--repository R] (--config FILE | --from X --into Y [--source-side from|into]) [--json]

        Lists what a sync holds back for a person: place, base, and what both sides say. 'ours' is the branch that is written.
        With --config, all syncs of the repository; else of X into Y. A file that is held as a whole is listed with its blobs.

        Exit: 0 nothing waits; 1 something does; 2 the repository cannot be read.
        """,
    "resolve": """
        usage: concord resolve [--repository R] --ref BRANCH (--config FILE | --from X [--source-side from|into]) [--path P]
                       (KEY [LANGUAGE] [FIELD] (--ours | --theirs | --text T) | FILE (--ours | --theirs))

        Decides one conflict of a sync into BRANCH, and commits it there in your name. The decision is remembered on
        refs/concord/resolutions: the same three values never ask again, in either direction. Places are named as 'concord
        conflicts' shows them; in a .stringsdict FIELD is the variable and the category, such as count.one.

        FILE is one that is held as a whole, because one side deleted it, or no merge of it is sound: it becomes that of one side. What
        the other side had is in the ledger. A file that cannot be read has to be repaired first; it says where.

        Exit: 0; 1 the branch must not be moved; 2 there is no such conflict.
        """,
    "explain": """
        usage: concord explain [--repository R] --ref X PATH KEY [LANGUAGE]

        Says why a text of a catalog or table and its state are as they are: who wrote them and when, by which syncs they came, and
        what these decided. A text that was migrated leads to who wrote it in the table.

        Exit: 0; 2 there is no such text.
        """,
    "log": """
        usage: concord log [--repository R] --ref X [--json] PATH KEY [LANGUAGE]

        The history of one text of a catalog or table, newest first: commit, date, author, and what changed. Follows renames of the file
        and syncs, and goes on in the tables (.lproj) from which a commit made the catalog.

        Exit: 0; 2 there is no such text.
        """,
    "help": """
        usage: concord help [COMMAND]

        Lists the commands, or explains one; 'concord COMMAND --help' does the same.
        """,
    "version": """
        usage: concord version

        Prints the version.
        """,
    "demo": """
        usage: concord demo [FOLDER]

        Makes a bare repository with a catalog and branches that git cannot merge, starts the daemon on it, pushes as
        developers and translators do, and tells each step as it happens. Everything stays in FOLDER (a new one in /tmp by
        default). Needs git.
        """,
]

/// Tells about the command that the first word names, or about all of them.
func helpDoor(_ words: [String]) -> Int32 {
    guard let name = words.first, !helpWords.contains(name) else {
        printOut(helpOverview + "\n")
        return 0
    }
    guard let page = pages[name] else {
        printError("concord help: there is no command '\(name)'\(suggestion(for: name, among: commandNames))\nSee 'concord help'.")
        return 64
    }
    printOut(page + "\n")
    return 0
}
