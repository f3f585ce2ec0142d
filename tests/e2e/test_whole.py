"""What commands and pages say, whole, over what is in the tree: sealed cases, a reporter's stacks, made databases. tests/golden/whole.json.xz has
the expected texts, by command. They guard words, order and counts, never truth: that a figure is right is what the tests of its room say.

    test_whole.py --write    puts what differs into it, and prints that

What depends on the machine, the moment or the build has a word in its place (replaced)."""

import contextlib
import datetime
import difflib
import functools
import json
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

GOLDEN = e2e.ROOT / "tests/golden/whole.json.xz"
SEED = e2e.BUILD / "tests/seed_store"
SYMBOLS = ("--symbols", "corpus/symbols")
CASE = "corpus/cases/inline_chain.ob2"
CASES = sorted(f"corpus/cases/{p.name}" for p in (e2e.ROOT / "corpus/cases").iterdir())
PLUGIN_DLL, PLUGIN_PDB = (str(next((e2e.ROOT / "corpus/symbols" / name).glob("*/*")).relative_to(e2e.ROOT))
                          for name in ("plugin-call-ob2.dll", "plugin-call-ob2.pdb"))
CRASH = "> one\nvictims-ob2.exe!0x2000\nvictims-ob2.exe!0x2800\nntdll.dll!0x1\n> two\nno frame\ncrash.exe!0x1010\ncrash.exe!0x1100\n"
ADDRESSES = "# module victims-ob2.exe - - 0x140000000 0x100000\n0x140002000\n0x140002801\n0x1\n"
HEAD = {"schema_version": 1, "id": "alice-1", "sender": "alice", "version": "1.2", "received": "2026-11-22T08:15:00Z"}
REPORTS = {"alice-1": CRASH, "alice-2": "> a\nvictims-ob2.exe!0x2000\n", "alice-3": "no frame\n", "bob-1": "> x\nntdll.dll!0x1\n" * 3}
KNOWN = """[old]
scope: recursion.*
cause: truncated
reason: of long ago
expires: 2001-02-03

[new]
scope: null_write.ob2
cause: *
reason: to come
issue: https://example.org/1
expires: 2099-02-03
"""
RESULTS = sorted(f"corpus/reference/results/{p.name}" for p in (e2e.ROOT / "corpus/reference/results").glob("*.json"))
REPORTER = ("check", "--dumps", "corpus/reporter/dumps", "--stacks", "corpus/reporter/stacks", "--symbols", "corpus/reporter/symbols")
TOOK = re.compile(r'("took_ms": ?)[0-9.e+-]+')
# Members that are measured now, and amounts, with the blanks before them.
LIVE = re.compile(r'("(?:\w*_ns|\w*_ms|\w*_at|age_s|peak_\w+|rss\w*|least|median|most|p90|low|high|ratio\w*|effect|noise|p)": ?)(?:[0-9.e+-]+|"[^"]*")')
AMOUNT = re.compile(r" *(?<![\w.])[0-9][0-9.]* (?:ns|µs|ms|s|KB|MB)(?![\w/])")
MADE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d{4}-\d\d-\d\d")


def words(text):
    return tuple(text.split())


# Over three made runs of twelve cases.
STORED = [words(text) for text in """
db list
db list --json
report
report 1 --details
report --columns 60
report --columns 200 --details
report --json
report --junit -
report --ctrf -
report --md -
report --openmetrics -
report --folded -
report --folded - --engine dump
report --speedscope -
report --badge - --badge-of verdict
report --badge - --badge-of exact
report --badge - --badge-of f1
report --badge - --badge-of capture_rate
report --badge - --badge-of speed_ratio
report --badge - --badge-of none
report --cost
report --cost --term mbit_s=8 --term gb_month=1 --term hours_kept=73 --term core_hour=2 --full-dumps 1
report --cost --term mbit_s=0
report latest~1
report 99
compare 1 3
compare 1 3 --json
compare 1 3 --markdown
compare 2 3 --only new
compare 2 3 --only new,fixed,changed,slower,faster
compare 2 3 --only what
compare 3 1 --min-effect 50%
compare 1 latest --min-effect x
gate
gate --against 1
gate 2 --against 1 --max-new 3 --max-slowdown 10% --min-capture 50% --min-exact 99% --min-f1 90%
gate --against 1 --json
gate --against 2 --strict --max-slowdown 5% --lane dump
gate --against 2 --max-slowdown 5% --lane dump --lane offset,warn
gate --against 2 --engine judge:llvm-symbolizer --max-accepted 0 --min-exact 1%
gate --against 2 --allow-missing recursion --max-new 99 --exit-zero
gate --max-slowdown nothing
baseline show
baseline set 2
baseline show
baseline set 1 --branch main
baseline show --branch main --json
gate --against baseline
signatures
signatures 1 --json
signatures --show-rules
review 1
accept recursion.ob2 --reason because --expires 2000-01-01
accept none.ob2 --reason because --expires 2099-01-01
""".strip().splitlines()]

# Over a run that two faults broke.
RED = [words(text) for text in """
report
report --md -
report --details
compare latest~1 latest
compare latest~1 latest --json
gate --against latest~1
signatures
signatures --top 1
accept null_write.ob2 --known {dir}/known.txt --reason because --expires {soon}
accept null_write.ob2 --known {dir}/known.txt --reason because --expires {late}
accept * --known {dir}/known.txt --reason because --expires {soon}
accept --known {dir}/known.txt --update
report --html {dir}/offline.html
""".strip().splitlines()]

# Of what is in the tree.
FILES = [
    ("check", *CASES), ("check", "--json", "corpus/cases/null_write.ob2"), ("check", CASE, "--explain", "0"), ("check", CASE, "--explain", "2"),
    ("check", CASE, "--explain", "99"), ("check", CASES[-1], "--level", "function"), ("check", CASE, "--level", "none"),
    ("check", "--stacks", "corpus/reporter/stacks/crash-01.txt", "corpus/reporter/stacks/crash-02.txt"),
    ("check", "--stacks", "corpus/reporter/stacks/crash-01.txt", "corpus/reporter/stacks/crash-01.txt"),
    REPORTER, (*REPORTER, "--details"), (*REPORTER, "--json"), (*REPORTER, "--junit", "-"), (*REPORTER, "--name", "ours"),
    ("dump", f"{CASE}/dump.dmp"), ("dump", f"{CASE}/dump.dmp", "--stacks", *SYMBOLS), ("dump", f"{CASE}/dump.dmp", "--plain", *SYMBOLS),
    ("dump", f"{CASE}/dump.dmp", "--explain", "all", *SYMBOLS), ("dump", f"{CASE}/dump.dmp", "--lint"), ("dump", "corpus/arm64/small-1.dmp", "--json"),
    ("dump", f"{CASE}/dump.dmp", "--stacks", "--json", *SYMBOLS), ("dump", f"{CASE}/dump.dmp", "--format", "stackwalk-json", *SYMBOLS),
    ("dump", f"{CASE}/dump.dmp", "--thread", "1"), ("dump", "corpus/broken/truncated.dmp", "--lint"), ("dump", "corpus/arm64/small-1.dmp", "--stacks"),
    ("dump", "corpus/broken/wrong-magic.dmp"), ("dump", "corpus/cases/throw_uncaught.x86-ob2/dump.dmp", "--explain", "1", *SYMBOLS),
    ("resolve", f"{CASE}/record.rec", *SYMBOLS), ("resolve", f"{CASE}/record.rec", "--all", *SYMBOLS), ("resolve", f"{CASE}/record.rec", "--ndjson", *SYMBOLS),
    ("resolve", f"{CASE}/record.rec", "--walker", "framepointer", *SYMBOLS), ("resolve", f"{CASE}/record.rec", "--format", "folded", *SYMBOLS),
    ("resolve", f"{CASE}/record.rec", "--format", "speedscope", *SYMBOLS), ("resolve", f"{CASE}/record.rec", "--walker", "none"),
    ("resolve", "--csv", "corpus/botman/capture-stack.csv", "corpus/botman/stacks.txt"), ("resolve", "corpus/botman/stacks.txt", "--format", "understood"),
    ("resolve", "--csv", "corpus/botman/capture-stack.csv", "corpus/botman/stacks.txt", "--strict"), ("resolve", f"{CASE}/record.rec", "--strict", *SYMBOLS),
    ("resolve", "--pdb", "crash.exe=corpus/crash-x86/crash.pdb", "{dir}/crash.txt"), ("resolve", *SYMBOLS, "--addresses", "{dir}/addresses.txt"),
    ("resolve", *SYMBOLS, "--json", "{dir}/crash.txt"), ("resolve", *SYMBOLS, "--names", "full", "{dir}/crash.txt"), ("resolve", "corpus/broken/wrong-text.txt"),
    ("symbols", "list", "corpus/symbols"), ("symbols", "list", "corpus/symbols", "--json"), ("symbols", "verify", "corpus/symbols"),
    ("symbols", "verify", "corpus/broken"), ("symbols", "list", "corpus/managed"), ("symbols", "export", "corpus/crash-x86/crash.pdb"),
    ("symbols", "export", "corpus/managed/shapes.pdb"), ("symbols", "export", PLUGIN_PDB, "--inlines"),
    ("symbols", "export", PLUGIN_PDB, "--format", "breakpad"),
    ("symbols", "export", PLUGIN_PDB, "--format", "breakpad", "--image", PLUGIN_DLL),
    ("signatures", "corpus/botman/stacks.txt"), ("signatures", "corpus/botman/stacks.txt", "--json"), ("signatures", "corpus/botman/stacks.txt", "--ndjson"),
    ("signatures", "corpus/botman/stacks.txt", "--format", "columns", "--top", "1"), ("signatures", f"{CASE}/record.rec", *SYMBOLS),
    ("signatures", "--merge", "corpus/botman/stacks.txt"), ("steps", "corpus/steps/ob2.rec"), ("steps", "corpus/steps/ob2.rec", "--json"),
    ("steps", "corpus/steps/ob2.rec", "--moment", "700"), ("steps", "corpus/steps/ob2.rec", "--details"), ("list", "--victims", "corpus/none"),
    ("help",), ("help", "gate"), ("help", "nothing"), ("cache", "list", "--cache", "{dir}/cache"), ("cache", "clear", "--cache", "{dir}/cache"),
]

# A queue of reports, resolved, counted and shown; and the list of known mismatches.
STREAM = [
    ("queue", "list", "--queue", "{dir}/queue"), ("worker", "--queue", "{dir}/queue", *SYMBOLS, "--idle", "100ms"),
    ("worker", "--queue", "{dir}/queue", *SYMBOLS, "--idle", "100ms", "-j", "0"), ("worker", "--queue", "{dir}/queue", *SYMBOLS, "--idle", "100ms", "-j", "2"),
    ("worker", "--queue", "{dir}/queue", *SYMBOLS, "--idle", "100ms", "--dumps", "{dir}"), ("worker", "--queue", "{dir}/queue", *SYMBOLS, "--idle", "100ms", "--sample", "x", "--dumps", "{dir}"),
    ("reduce", "--queue", "{dir}/queue", "--totals", "{dir}/totals", "--idle", "100ms"), ("reduce", "--queue", "{dir}/queue", "--totals", "{dir}/totals", "--idle", "100ms"),
    ("queue", "list", "--queue", "{dir}/queue"), ("queue", "list", "--queue", "{dir}/queue", "--json"), ("queue", "show", "reports-damaged", "--queue", "{dir}/queue"),
    ("queue", "show", "none", "--queue", "{dir}/queue"), ("queue", "retry", "--all", "--queue", "{dir}/queue"), ("queue", "drop", "--queue", "{dir}/queue"),
    ("queue", "drop", "--all", "--queue", "{dir}/queue"), ("queue", "list", "--queue", "{dir}/queue"),
    ("known", "list", "--known", "{dir}/known.txt"), ("known", "--known", "{dir}/known.txt", "--json"), ("known", "expire", "new", "--known", "{dir}/known.txt"),
    ("known", "expire", "none", "--known", "{dir}/known.txt"), ("known", "list", "--known", "{dir}/known.txt"), ("known", "prune", "--known", "{dir}/known.txt"),
    ("known", "list", "--known", "{dir}/known.txt"),
]

# Results of other tools side by side, and a tool that answers nothing.
SCORE = [("score", *RESULTS, "--badges", "{dir}/badges"), ("score", *RESULTS, "--html", "{dir}/score.html"), ("score", "--cmd", "/usr/bin/cat", "-k", "push", "--no-cache"),
         ("score", "--cmd", "/usr/bin/cat", "-k", "push", "--no-cache", "--details", "--junit", "-"), ("score", "--cmd", "/usr/bin/cat", "-k", "push", "--no-cache", "--json"),
         ("score", "--cmd", "/usr/bin/cat", "-k", "no_such_case"), ("score",)]

# What does not fit: most words that a verb refuses.
REFUSED = [words(text) for text in """
check
check --stacks corpus/reporter/stacks/crash-01.txt
check --stacks corpus/reporter/stacks/crash-01.txt corpus/reporter/stacks/crash-02.txt --db {dir}/none.db
check --dumps corpus/reporter/dumps
check corpus/cases/null_write.ob2 --explain x
check corpus/cases/null_write.ob2 --explain 4294967295
check corpus/cases/null_write.ob2 --explain 4294967296
check corpus/cases/null_write.ob2 --pairs none
check corpus/cases/null_write.ob2 --stacks corpus/reporter/stacks/crash-01.txt
worker
worker --queue {dir}/none --idle 1ms
worker --queue {dir}/none --symbols corpus/symbols -j 0 --idle 1ms
worker --queue {dir}/none --symbols corpus/symbols -j 64 --idle 1ms
worker --queue {dir}/none --symbols corpus/symbols -j 65 --idle 1ms
worker --queue {dir}/none --symbols corpus/symbols -j 257 --idle 1ms
worker --queue {dir}/none --symbols corpus/symbols --sample 10% --idle 1ms
worker --queue {dir}/none --symbols corpus/symbols --also x=y --idle 1ms
worker --queue {dir}/none --symbols corpus/symbols --sample 10% --dumps {dir} --also x --idle 1ms
worker --queue {dir}/none --symbols corpus/none --idle 1ms
reduce
reduce --queue {dir}/none --idle 1ms
queue
queue list
queue show --queue {dir}/none
queue retry a --all --queue {dir}/none
queue drop none --queue {dir}/none
report --db {dir}/none.db
report a b --db {dir}/none.db
report --badge - --db {dir}/none.db
report --badge-of exact --db {dir}/none.db
report --columns 9 --db {dir}/none.db
report --term mbit_s=8 --db {dir}/none.db
report --full-dumps 1 --db {dir}/none.db
report --engine dump --db {dir}/none.db
compare 1 --db {dir}/none.db
compare 1 2 3 --db {dir}/none.db
compare 1 2 --markdown --json --db {dir}/none.db
gate a b --db {dir}/none.db
gate --min-f1 101% --db {dir}/none.db
gate --min-f1 -1% --db {dir}/none.db
gate --max-new x --db {dir}/none.db
gate --shadow none --db {dir}/none.db
gate --min-agreement 99% --db {dir}/none.db
gate --allow-missing ( --against 1 --db {dir}/none.db
baseline --db {dir}/none.db
baseline set --db {dir}/none.db
baseline set 1 2 --db {dir}/none.db
db
db none --db {dir}/none.db
db prune --db {dir}/none.db
db prune --keep-runs 0 --db {dir}/none.db
db merge --db {dir}/none.db
db import gone.db --db {dir}/none.db
db publish --db {dir}/none.db
regrade 1 2 --db {dir}/none.db
review a b --db {dir}/none.db
signatures a --merge --json --ndjson --db {dir}/absent.db
signatures none --top 0 --db {dir}/absent.db
signatures none -j 0 --db {dir}/absent.db
signatures none --max-signatures 0 --db {dir}/absent.db
signatures none --names other --db {dir}/absent.db
steps none.rec
steps --moment 1
steps corpus/steps/ob2.rec --moment 99999999
steps corpus/steps/ob2.rec --walkers none
suite
suite add
suite add none.json
suite make
score --expect none
score --cmd /usr/bin/false --suite corpus/none
score --cmd /usr/bin/false --timeout x
score --cmd /usr/bin/false -k (
resolve none.txt
resolve --walker none none.txt
resolve --format other none.txt
resolve -j 0 none.txt
resolve -j 99999 none.txt
resolve --arch other none.txt
resolve --pdb none.pdb none.txt
resolve --csv none.csv none.txt
symbols
symbols add corpus/symbols
symbols list corpus/none
symbols export a b
symbols fetch
symbols fetch --symbols corpus/symbols
dump
dump a b
dump none.dmp
dump corpus/cases/null_write.ob2/dump.dmp --explain none
dump corpus/cases/null_write.ob2/dump.dmp --explain 99
dump corpus/cases/null_write.ob2/dump.dmp --lint --stacks
dump corpus/cases/null_write.ob2/dump.dmp --format other
case
case import
case import --dump none.dmp --out {dir}
accept --db {dir}/none.db
accept a.b --db {dir}/none.db
accept a.b --reason x --db {dir}/none.db
accept a.b --reason x --expires 2026-13-01 --db {dir}/none.db
known expire
known none
known --known {dir}/none.txt
bench none --db {dir}/none.db
bench --samples 0 --db {dir}/none.db
bench --samples 1001 --db {dir}/none.db
bench --processes 51 --db {dir}/none.db
serve --listen x --db {dir}/absent.db
serve --listen 127.0.0.1:65536 --db {dir}/absent.db
serve --listen 127.0.0.1:0 --allow-write --read-only --db {dir}/absent.db
run --db {dir}/none.db --shard 3/2 --victims corpus/none
run --db {dir}/none.db --shard 0/2 --victims corpus/none
run --db {dir}/none.db --keep other --victims corpus/none
run --db {dir}/none.db --repeat 0 --victims corpus/none
run --db {dir}/none.db -k ( --victims corpus/none
run --db {dir}/none.db --victims corpus/none
list -k ( --victims corpus/none
list --tag none --victims corpus/none
cache
cache clear --keep-mib x
help --man none
completion
completion none
version extra
none
""".strip().splitlines()]

# Verdicts of sealed cases as a run, and that run judged again.
JUDGED = [
    ("check", *CASES[:6], "--db", "{dir}/judged.db"), ("report", "--db", "{dir}/judged.db"), ("report", "--db", "{dir}/judged.db", "--md", "-"),
    ("report", "--db", "{dir}/judged.db", "--json"), ("check", *CASES[:4], "--db", "{dir}/judged.db"), ("compare", "--db", "{dir}/judged.db", "1", "2"),
    ("gate", "--db", "{dir}/judged.db", "--against", "1"), ("gate", "--db", "{dir}/judged.db", "2", "--against", "1", "--json"),
    ("regrade", "1", "--db", "{dir}/judged.db", *SYMBOLS), ("compare", "--db", "{dir}/judged.db", "1", "3"), ("db", "list", "--db", "{dir}/judged.db"),
    ("db", "merge", "1", "2", "--db", "{dir}/judged.db"), ("db", "export", "{dir}/other.db", "--db", "{dir}/judged.db"),
    ("db", "prune", "--keep-runs", "1", "--db", "{dir}/judged.db"), ("db", "list", "--db", "{dir}/judged.db"),
    ("db", "import", "{dir}/other.db", "--db", "{dir}/judged.db"), ("db", "list", "--db", "{dir}/judged.db"),
    ("db", "publish", "{dir}/published.db", "--db", "{dir}/judged.db"), ("db", "upgrade", "--db", "{dir}/judged.db"),
    ("signatures", "--db", "{dir}/judged.db"), ("case", "import", "--dump", f"{CASE}/dump.dmp", "--truth", f"{CASE}/truth.json", "--out", "{dir}/imported"),
    ("check", "{dir}/imported/dump.imported", *SYMBOLS),
]

# Pages of the dashboard over the made runs: what follows /api/v1/, or an address of its own.
PAGES = """
overview
overview?run=1
runs
runs?limit=1
runs?limit=1&after=3
runs?branch=none
runs/latest
runs/1/cases
runs/1/cases?limit=3&verdict=FAIL
runs/1/cases?search=inline&variant=ob2
runs/1/grid
runs/1/grid?after=5
runs/3/queue
runs/3/queue?limit=2&new=1
runs/3/queue?verdict=FAIL&search=rec
runs/3/queue?group=1
runs/3/queue?trouble=1
runs/2/cases/{case}
runs/2/cases/{case}?repeat=9
runs/2/cases/{case}/explain
runs/2/cases/{case}/explain?frame=2&thread=0
runs/2/cases/{case}/explain?frame=99
cases/{scenario}/{variant}
compare?a=1&b=3
compare?a=1
trend?metric=exact
trend?metric=dump_write_ns&scenario={scenario}&variant={variant}
trend?metric=none
timing
timing?run=1&limit=2&full=2&mbit_s=8&hours_kept=73&gb_month=1&core_hour=2
hooks
hooks?run=1&differs=1
hooks?search=a&limit=1
signatures
signatures?run=1
known
symbols
symbols?run=1
endpoints
/metrics
/healthz
/badge/verdict.svg
/badge/exact.json
/badge/f1.svg
/badge/capture_rate.json
/badge/speed_ratio.svg
/badge/none.svg
/nowhere
""".split()


# No git, no colors, with PATH no Wine and no program that judges; the commit is the one that the made runs have.
ALONE = {"COLUMNS": "100", "NO_COLOR": "1", "GIT_DIR": "/nonexistent", "GITHUB_SHA": "0123456789abcdef", "GITHUB_REF_NAME": "main", "TWINSTACK_SYSTEM_SYMBOLS": "0"}


def day(ahead):
    return (datetime.date.today() + datetime.timedelta(days=ahead)).isoformat()


RESOLVED = [("resolve", CRASH.encode()), ("resolve", b"{}"), ("resolve", (e2e.ROOT / CASE / "record.rec").read_bytes()), ("resolve", b"")]


class Whole(e2e.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not SEED.exists():
            raise e2e.unittest.SkipTest("seed_store is not built")
        cls.known = json.loads(lzma.decompress(GOLDEN.read_bytes())) if GOLDEN.exists() else {}
        cls.said = {}

    @classmethod
    def tearDownClass(cls):
        if WRITE:
            kept = cls.known if len(sys.argv) > 1 else {}  # a filter leaves the other texts as they are
            GOLDEN.write_bytes(lzma.compress(json.dumps({**kept, **cls.said}, indent=0).encode(), preset=9))
        super().tearDownClass()

    @functools.cached_property
    def folder(self):
        """Reports break lines where a path ends them, so the path is as short under any TMPDIR, like that of mutation/reach.py."""
        return pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(dir="/tmp")))

    def setUp(self):
        super().setUp()
        (self.folder / "corpus").symlink_to(e2e.ROOT / "corpus")  # commands run here: nothing of this checkout's build folder is in what they say

    def seeded(self, name, *runs):
        db = self.folder / name
        for words_of in runs:
            subprocess.run([SEED, db, *words_of], check=True, capture_output=True)
        return db

    def put(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def replaced(self, text, live):
        """TEXT without what differs from machine to machine; LIVE: nor what is measured or made now."""
        text = text.replace(str(self.folder), "FOLDER").replace(str(e2e.ROOT), "ROOT").replace(day(30), "SOON").replace(day(400), "LATE")
        text = re.sub(r'("uuid": ?)"[0-9a-f]{32}"', r'\1"UUID"', re.sub(r"(?:under )?\d+ (?:min|h|days) old", "SOME old", text))
        text = TOOK.sub(r'\1"MEASURED"', text)
        text = re.sub(re.escape(VERSION) + r"(?:-[\w.]+)?", "VERSION", text)
        if not live:
            return text
        text = re.sub(r"(?m)^twinstack: \w+ing \d+/\d+.*\n?", "", text)  # progress, a line now and then
        text = re.sub(r'(?s)("slowest": ?)\[.*?\]', r'\1"MEASURED"', AMOUNT.sub(" AMOUNT", LIVE.sub(r'\1"MEASURED"', text)))
        text = re.sub(r'("cpu": ?)"(?:AMD|Intel)[^"]*"', r'\1"HERE"', re.sub(r'Linux \d[^"\n]*', "PLATFORM", text))
        return MADE.sub("MOMENT", re.sub(r"(?m)^\w+\.[\w-]+ +\S+ AMOUNT +\d+\n", "", text))  # the slowest stacks

    def compare(self, name, text):
        """What ROW says now, with what it said."""
        self.said[name] = text
        old = self.known.get(name)
        if old == text:
            return
        lines = [json.dumps(json.loads(t), indent=1).splitlines() if is_json(t) else t.splitlines() for t in (old or "", text)]
        shown = "\n".join(list(difflib.unified_diff(*lines, "expected", "said", lineterm="", n=1))[:60])
        if WRITE:
            print(f"{name}\n{shown}")
        else:
            self.fail(f"{name}\n{shown}\ntest_whole.py --write takes it, if it is meant")

    def ask(self, group, rows, *more, live=False):
        for number, row in enumerate(rows):
            with self.subTest(" ".join(row)[:80]):
                argv = [word.replace("{dir}", str(self.folder)).replace("{soon}", day(30)).replace("{late}", day(400)) for word in row]
                done = e2e.twinstack(*argv, *more, env={**ALONE, "PATH": str(self.folder), "TWINSTACK_CACHE": str(self.folder / "cache")}, folder=self.folder)
                said = self.replaced(done.stdout, live)
                self.compare(f"{group} {number}: {' '.join(row)}", said)
                self.compare(f"{group} {number}: exit {' '.join(row)}", f"{done.returncode}\n{self.replaced(done.stderr, live)}")

    def test_stored_runs(self):
        self.ask("stored", STORED, "--db", self.seeded("runs.db", ("3", "12", "0")))

    def test_a_red_run(self):
        self.ask("red", RED, "--db", self.seeded("red.db", ("2", "12", "0"), ("0", "0", "24", "red")))
        self.compare("red: what is accepted", self.replaced((self.folder / "known.txt").read_text(encoding="utf-8"), True))

    def test_files(self):
        self.put("crash.txt", CRASH)
        self.put("addresses.txt", ADDRESSES)
        self.ask("files", FILES, live=True)

    def test_cases_judged_here(self):
        self.ask("judged", JUDGED, live=True)

    def test_a_queue_and_what_is_known(self):
        for name, text in REPORTS.items():
            self.put(f"queue/reports/ready/{name}", json.dumps({**HEAD, "id": name}, separators=(",", ":")) + "\n" + text)
        self.put("queue/reports/ready/damaged", "{}\n")
        self.put("known.txt", KNOWN)
        self.ask("stream", STREAM, live=True)
        for path in sorted((self.folder / "totals").rglob("*.ndjson")):
            self.compare(f"stream: {path.name}", self.replaced(path.read_text(encoding="utf-8"), True))

    def test_words_that_do_not_fit(self):
        self.ask("refused", REFUSED, live=True)

    def test_scores(self):
        self.ask("score", SCORE, live=True)
        for path in sorted((self.folder / "badges").iterdir()):
            self.compare(f"score: {path.name}", path.read_text(encoding="utf-8"))

    def test_pages(self):
        db = self.seeded("runs.db", ("3", "12", "0"))
        self.put("known.txt", KNOWN)
        server = subprocess.Popen([e2e.PROGRAM, "serve", "--db", db, "--listen", "127.0.0.1:0", *SYMBOLS, "--known", self.folder / "known.txt", "--suite",
                                   "corpus/reference"], cwd=self.folder, env={**e2e.os.environ, **ALONE}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        url = server.stdout.readline().strip().rstrip("/")
        for page, body in [(page, None) for page in PAGES] + RESOLVED:
            path = page.format(case="recursion.ob2", scenario="recursion", variant="ob2")
            with self.subTest(page):
                try:
                    with urllib.request.urlopen(url + (path if path.startswith("/") else f"/api/v1/{path}"), body, timeout=60 * e2e.PATIENCE) as answer:
                        status, kind, text = answer.status, answer.headers["Content-Type"], answer.read().decode()
                except urllib.error.HTTPError as refused:
                    status, kind, text = refused.code, refused.headers["Content-Type"], refused.read().decode()
                page += f" of {len(body)} bytes" if body is not None else ""
                self.compare(f"page {page}", self.replaced(text, False).replace(url, "URL"))
                self.compare(f"page {page}: head", f"{status} {kind}")


def is_json(text):
    with contextlib.suppress(ValueError):
        return isinstance(json.loads(text), (dict, list))
    return False


WRITE = "--write" in sys.argv
sys.argv[:] = [word for word in sys.argv if word != "--write"]
VERSION = e2e.twinstack("version").stdout.split()[-1] if e2e.PROGRAM.exists() else "?"
e2e.main()
