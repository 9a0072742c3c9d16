#!/usr/bin/env python3
"""Benchmarks of Concord beside its peers; figures are medians of interleaved pairs, so that a slow moment hits both.

    bench.py merge   [--sizes 100k,1m,10m,50m] [--pairs N]   whole process: concord merge | git merge-file; time and memory
    bench.py memory  [--sizes …]                             in memory: read, merge and check | simdjson parsing the three files
    bench.py push    [--pushes N]                            from the end of git push to the sync commit | git merge-tree
    bench.py idle    [--repositories 1,1000]                 CPU and memory of the daemon when nothing happens
    bench.py all

Needs the release build (`swift build -c release --static-swift-stdlib --disable-local-rpath`), git, and for `memory` g++ and libsimdjson-dev.
Works on tmpfs (/dev/shm). The catalogs come from ../shared/bench/make-catalogs.py.
"""
import argparse, concurrent.futures, json, os, resource, shutil, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GENERATOR = os.path.join(ROOT, "..", "shared", "bench", "make-catalogs.py")
CONCORD = os.path.join(ROOT, ".build", "release", "concord")
BENCH = os.path.join(ROOT, ".build", "release", "concord-bench")


def catalogs(work, sizes):
    if not os.path.exists(GENERATOR):
        sys.exit(f"skipped: {GENERATOR} is missing")
    subprocess.run([sys.executable, GENERATOR, "sizes", "-o", work, "--only", sizes], check=True, stdout=subprocess.DEVNULL)
    return [os.path.join(work, s) for s in sizes.split(",")]


def expected(folder):
    """The generator's outcome, with the one rule applied that it does not know: a translation that one side edited
    while the other side edited the source text needs another look (merge-rules.md)."""
    load = lambda n: json.load(open(os.path.join(folder, n + ".xcstrings"), encoding="utf-8"))
    base, ours, theirs, out = load("base"), load("ours"), load("theirs"), load("expected")

    def texts(node):
        return {k: texts(v) for k, v in node.items() if k != "state"} if isinstance(node, dict) else node

    def mark(node):
        if isinstance(node, dict):
            if "value" in node and node.get("state") == "translated":
                node["state"] = "needs_review"
            for v in node.values():
                mark(v)
    marked = 0
    for key, entry in base["strings"].items():
        if not all(key in c["strings"] for c in (ours, theirs, out)):
            continue
        side = lambda c, l: texts(c["strings"][key].get("localizations", {}).get(l))
        for source, other in ((ours, theirs), (theirs, ours)):
            if side(base, "en") == side(source, "en") or side(base, "en") != side(other, "en"):
                continue
            for language in entry.get("localizations", {}):
                if language != "en" and side(base, language) == side(source, language) != side(other, language):
                    mark(out["strings"][key]["localizations"][language])
                    marked += 1
    return written(out).encode(), marked


def write_expected(folder):
    want, marked = expected(folder)
    with open(os.path.join(folder, "outcome"), "wb") as f:
        f.write(want)
    return marked


def written(node, indent=""):
    """A catalog as the generator writes it: Xcode's spacing, keys in their order."""
    if not isinstance(node, dict):
        return json.dumps(node, ensure_ascii=False)
    if not node:
        return "{\n\n" + indent + "}"
    inner = indent + "  "
    return "{\n" + ",\n".join(f"{inner}{json.dumps(k, ensure_ascii=False)} : {written(v, inner)}" for k, v in node.items()) + "\n" + indent + "}"


def run(words, stdout="/dev/null"):
    """Seconds, peak KiB and status of one process, which is spawned without a copy of this one first."""
    to = lambda number, path: (os.POSIX_SPAWN_OPEN, number, path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    started = time.perf_counter()
    process = os.posix_spawnp(words[0], words, os.environ, file_actions=[to(1, stdout), to(2, "/dev/null")])
    _, status, usage = os.wait4(process, 0)
    return time.perf_counter() - started, usage.ru_maxrss, os.waitstatus_to_exitcode(status)


def merge(args, work):
    print("whole process: concord merge | git merge-file")
    print(f"{'size':>6} {'concord ms':>11} {'git ms':>9} {'git/concord':>12} {'MiB':>7} {'git MiB':>8} {'memory':>7}  result")
    for folder in catalogs(work, args.sizes):
        # In a process of its own: what this one has held would count as the peak memory of its children.
        with concurrent.futures.ProcessPoolExecutor(1) as pool:
            marked = pool.submit(write_expected, folder).result()
        f = lambda n: os.path.join(folder, n + ".xcstrings")
        out = os.path.join(work, "out.xcstrings")
        ours = [CONCORD, "merge", "--base", f("base"), "--ours", f("ours"), "--theirs", f("theirs"), "--output", out]
        peer = ["git", "merge-file", "-p", f("ours"), f("base"), f("theirs")]
        pairs = []
        for i in range(args.pairs + 1):
            # Both write a new file.
            for path in (out, out + ".git"):
                if os.path.exists(path):
                    os.remove(path)
            a = run(ours)
            b = run(peer, stdout=out + ".git")
            if i:
                pairs.append((a, b))
        same = subprocess.run(["cmp", "-s", out, os.path.join(folder, "outcome")]).returncode == 0
        ratio = statistics.median(b[0] / a[0] for a, b in pairs)
        m = lambda k, i: statistics.median(p[k][i] for p in pairs)
        print(f"{os.path.basename(folder):>6} {m(0,0)*1e3:11.2f} {m(1,0)*1e3:9.2f} {ratio:11.1f}x {m(0,1)/1024:7.1f} {m(1,1)/1024:8.1f} "
              f"{m(0,1)/m(1,1):6.2f}x  {'as expected' if same else 'DIFFERS'}{f', {marked} marked needs_review' if marked else ''}", flush=True)


def memory(args, work):
    peer = os.path.join(work, "simdjson")
    subprocess.run(["g++", "-O3", "-o", peer, os.path.join(HERE, "peers", "simdjson.cpp"), "-lsimdjson"], check=True)
    print("in memory: read three files with full validation, merge, check | simdjson parses the three")
    print(f"{'size':>6} {'concord ms':>11} {'simdjson ms':>12} {'ratio':>7} {'ms/MB':>7}")
    for folder in catalogs(work, args.sizes):
        files = [os.path.join(folder, n + ".xcstrings") for n in ("base", "ours", "theirs")]
        pairs = []
        for _ in range(7):
            a = subprocess.run([BENCH, *files, "15"], check=True, capture_output=True, text=True).stdout.split()
            b = subprocess.run([peer, *files, "15"], check=True, capture_output=True, text=True).stdout
            pairs.append((float(a[a.index("total") + 1]), float(b)))
        ours, theirs = (statistics.median(p[i] for p in pairs) for i in (0, 1))
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"{os.path.basename(folder):>6} {ours:11.2f} {theirs:12.2f} {ratio:6.2f}x {ours / (os.path.getsize(files[0]) / 1e6):7.2f}", flush=True)


def git(folder, *words):
    return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, text=True).stdout.strip()


def clean_environment():
    os.environ.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", GIT_AUTHOR_NAME="Bench", GIT_AUTHOR_EMAIL="b@example.com",
                      GIT_COMMITTER_NAME="Bench", GIT_COMMITTER_EMAIL="b@example.com")


def daemon(work, repositories, quiet):
    config = os.path.join(work, "concord.conf")
    with open(config, "w") as f:
        f.write(f"[concord]\n\tsocket = {work}/socket\n\tquiet = {quiet}\n")
        for i, path in enumerate(repositories):
            f.write(f'[repository "r{i}"]\n\tpath = {path}\n')
        f.write('[sync "l10n"]\n\trepository = *\n\tfrom = l10n/*\n\tinto = main\n\tback = false\n\tfastForward = false\n')
    process = subprocess.Popen([CONCORD, "serve", "--config", config], stderr=open(os.path.join(work, "daemon.log"), "w"))
    while subprocess.run([CONCORD, "status", "--config", config], capture_output=True).returncode:
        if process.poll() is not None:
            sys.exit(open(os.path.join(work, "daemon.log")).read())
        time.sleep(0.05)
    return process


def push(args, work):
    """Each round one push to l10n/fr of a commit on a base that main has left: the daemon has to merge the catalogs."""
    clean_environment()
    folder = catalogs(work, "1m")[0]
    bare, clone = os.path.join(work, "app.git"), os.path.join(work, "clone")
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", bare], check=True)
    subprocess.run(["git", "init", "-q", "-b", "main", clone], check=True)
    git(clone, "remote", "add", "origin", bare)
    path = os.path.join(clone, "Localizable.xcstrings")
    shutil.copy(os.path.join(folder, "base.xcstrings"), path)
    git(clone, "add", "-A"); git(clone, "commit", "-qm", "base"); git(clone, "push", "-q", "origin", "main", "main:l10n/fr")
    git(clone, "branch", "l10n/fr")
    text = open(path, encoding="utf-8").read()
    process = daemon(work, [bare], args.quiet)
    times, peers = [], []
    try:
        for i in range(args.pushes):
            git(clone, "fetch", "-q", "origin")
            git(clone, "checkout", "-q", "-B", "main", "origin/main")
            catalog = open(path, encoding="utf-8").read()
            open(path, "w", encoding="utf-8", newline="").write(catalog.replace('"comment" : "', f'"comment" : "{i} ', 1))
            git(clone, "commit", "-qam", f"main {i}"); git(clone, "push", "-q", "origin", "main")
            git(clone, "checkout", "-q", "l10n/fr")
            catalog = open(path, encoding="utf-8").read()
            at = catalog.index('"value" : "', len(catalog) // 2) + 11
            open(path, "w", encoding="utf-8", newline="").write(catalog[:at] + f"{i} " + catalog[at:])
            git(clone, "commit", "-qam", f"fr {i}")
            before = git(bare, "rev-parse", "main")
            ref = os.path.join(bare, "refs", "heads", "main")
            git(clone, "push", "-q", "origin", "l10n/fr")
            started = time.perf_counter()
            while open(ref).read().strip() == before:
                if time.perf_counter() - started > 30:
                    sys.exit("no sync commit in 30 s: " + open(os.path.join(work, "daemon.log")).read())
                time.sleep(0.0005)
            times.append((time.perf_counter() - started) * 1e3)
            started = time.perf_counter()
            subprocess.run(["git", "-C", bare, "merge-tree", "--write-tree", before, "l10n/fr"], stdout=subprocess.DEVNULL)
            peers.append((time.perf_counter() - started) * 1e3)
    finally:
        process.terminate(); process.wait()
    print(f"from the end of git push to the sync commit, {os.path.getsize(path) / 1e6:.1f} MB, {len(times)} pushes, quiet period {args.quiet}:")
    print(f"  median {statistics.median(times):.0f} ms, worst {max(times):.0f} ms; git merge-tree on the same pair: median {statistics.median(peers):.0f} ms")


def idle(args, work):
    clean_environment()
    seed = os.path.join(work, "seed.git")
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", seed], check=True)
    blob = subprocess.run(["git", "-C", seed, "hash-object", "-w", "--stdin"], input=b'{"sourceLanguage":"en","strings":{},"version":"1.0"}',
                          check=True, capture_output=True).stdout.decode().strip()
    tree = subprocess.run(["git", "-C", seed, "mktree"], input=f"100644 blob {blob}\tLocalizable.xcstrings\n".encode(), check=True, capture_output=True).stdout.decode().strip()
    commit = git(seed, "commit-tree", tree, "-m", "x")
    for ref in ("main", "l10n/fr", "l10n/de"):
        git(seed, "update-ref", f"refs/heads/{ref}", commit)
    for count in map(int, args.repositories.split(",")):
        folder = os.path.join(work, str(count)); os.makedirs(folder)
        paths = [os.path.join(folder, f"r{i}.git") for i in range(count)]
        for p in paths:
            shutil.copytree(seed, p)
        process = daemon(folder, paths, "200ms")
        try:
            time.sleep(10)
            ticks = lambda: sum(map(int, open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()[11:13]))
            before = ticks(); time.sleep(args.seconds); spent = (ticks() - before) / os.sysconf("SC_CLK_TCK")
            status = dict(l.split(":", 1) for l in open(f"/proc/{process.pid}/status") if ":" in l)
            print(f"idle with {count} repositories: {spent / args.seconds * 100:.2f} % of a core over {args.seconds} s, {int(status['VmRSS'].split()[0]) / 1024:.1f} MiB, {status['Threads'].strip()} threads", flush=True)
        finally:
            process.terminate(); process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["merge", "memory", "push", "idle", "all"])
    parser.add_argument("--sizes", default="100k,1m,10m,50m")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--pushes", type=int, default=50)
    parser.add_argument("--quiet", default="10ms")
    parser.add_argument("--repositories", default="1,1000")
    parser.add_argument("--seconds", type=int, default=60)
    args = parser.parse_args()
    for what in ["merge", "memory", "push", "idle"] if args.what == "all" else [args.what]:
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as work:
            globals()[what](args, work)


if __name__ == "__main__":
    main()
