"""What verbs do that no other quick test asks: a score against an older one, files of symbol servers, a problem accepted, two totals added up."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from xml.etree import ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import test_suite_make  # noqa: E402
from symbol_server import SymbolServer  # noqa: E402

SEED = e2e.BUILD / "tests/seed_store"
SUITE = e2e.ROOT / "corpus/reference"
SYMBOLS = e2e.ROOT / "corpus/symbols"
CASE = e2e.ROOT / "corpus/cases/inline_chain.ob2"
SHAPE = "moments/x64/push/rbx"
# It looks the truth up; MODE is what it does at every third case.
CONTESTANT = r"""
import json, pathlib, sys
truth = {}
for line in sys.stdin:
    asked = json.loads(line)
    if "hello" in asked:
        for row in (pathlib.Path(asked["suite"]) / "moments/x64-push.ndjson").read_text().splitlines():
            row = json.loads(row)
            truth[row["id"]] = row["truth"].get("frames") or row["truth"].get("accepted", [[]])[-1]
        print(json.dumps({"name": "actor", "version": "1", "bugs": None, "can": ["moments.x64"]}), flush=True)
        continue
    frames = truth[asked["id"]]
    if int(asked["id"].rsplit("/", 1)[1], 16) % 3 == 0:
        frames = {"right": frames, "early": frames[:1], "wrong": frames[:1] + [{"ip": "0x1", "sp": "0x2"}]}[sys.argv[1]]
    print(json.dumps({"id": asked["id"], "frames": frames}), flush=True)
"""


class Score(e2e.Case):
    def score(self, mode, *more, exit_code=0):
        (self.folder / "actor.py").write_text(CONTESTANT, encoding="utf-8")
        return self.run_twinstack("score", "--cmd", f"{sys.executable} {self.folder / 'actor.py'} {mode}", "--suite", SUITE, "-k", SHAPE, "--timeout", "200s", *more,
                                  exit_code=exit_code)

    def test_a_score_is_held_against_an_older_one(self):
        for mode in ("right", "early"):
            self.score(mode, "--json", "--no-cache", "-o", self.folder / f"{mode}.json")
        result = json.loads((self.folder / "early.json").read_text(encoding="utf-8"))
        right, early = result["cases"]["right"], result["cases"]["early"]
        self.assertEqual(sorted(early), [case for case in sorted(right + early) if int(case.rsplit("/", 1)[1], 16) % 3 == 0])
        count = len(right + early)
        (self.folder / "other.json").write_text((self.folder / "right.json").read_text(encoding="utf-8").replace('"2026.', '"1999.'), encoding="utf-8")
        lost = {"cases": {**result["cases"], "right": [], "early": []}}
        (self.folder / "empty.json").write_text(json.dumps({**result, **lost}), encoding="utf-8")
        for name, mode, expect, code, words in (
                ("the same", "early", "early", 0, f"0 worse, 0 better of {count} cases"), ("better", "right", "early", 0, f"0 worse, {len(early)} better of {count} cases"),
                ("worse", "wrong", "right", 1, f"{len(early)} worse, 0 better of {count} cases"), ("of another edition", "right", "other", 125, None),
                ("of none of these cases", "right", "empty", 125, "0 worse, 0 better of 0 cases"), ("no file", "right", "none", 125, None)):
            with self.subTest(name):
                done = self.score(mode, "--no-cache", "--expect", self.folder / f"{expect}.json", exit_code=code)
                self.assertEqual("against version" in done.stdout, words is not None, done.stdout)
                self.assertIn(words or "", done.stdout)
                self.assertIn(f"{expect}.json" if code == 125 else "", done.stderr)
        self.assertEqual(json.loads(self.score("wrong", "--no-cache", "--json", "--expect", self.folder / "right.json", exit_code=1).stdout)["cases"]["wrong"], early)

    def test_a_score_as_junit_and_from_the_cache(self):
        cache = ("--cache", self.folder / "cache")
        first = self.score("early", "--junit", self.folder / "junit.xml", *cache)
        self.assertNotIn("from before", first.stderr)
        early = re.search(r"moments.x64: (\d+) right, (\d+) early", first.stdout)
        suite = ElementTree.parse(self.folder / "junit.xml").getroot().find(".//testsuite")
        self.assertEqual((int(suite.get("tests")), int(suite.get("failures"))), (int(early[1]) + int(early[2]), int(early[2])))
        again = self.score("early", *cache)
        number = int(early[1]) + int(early[2])
        self.assertIn(f"{number} of {number} answers are from before", again.stderr)
        self.assertEqual(re.sub(r"cases in .*", "", again.stdout), re.sub(r"cases in .*", "", first.stdout))
        self.assertIn("-j takes 1 to", self.score("early", "-j", "0", exit_code=2).stderr)
        self.assertIn("no case of the suite is selected", self.score("early", "-k", "no_such_case", exit_code=5).stderr)


class Report(e2e.Case):
    def test_it_is_of_one_moment(self):
        """Its text is longer than a pipe holds, so cases that change once it has begun are read after the change."""
        db = self.folder / "runs.db"
        subprocess.run([SEED, db, "1", "200", "0"], check=True, capture_output=True)
        with subprocess.Popen([e2e.PROGRAM, "report", "1", "--json", "--db", db], stdout=subprocess.PIPE) as report:
            first = report.stdout.read(1)
            with contextlib.closing(sqlite3.connect(db)) as changed, changed:
                changed.execute("UPDATE crash_case SET variant = 'changed'")
            said = json.loads(first + report.stdout.read())
        self.assertEqual(len(said["cases"]), 200)
        self.assertNotIn("changed", {case["variant"] for case in said["cases"]})


class Suite(e2e.Case):
    """What `suite make` does at all; that the cases are right is what test_suite_make.py says."""

    def test_a_walk_becomes_a_suite(self):
        source, walk = self.folder / "walks", test_suite_make.RECORD.read_bytes()
        words = {"--from": source, "--out": self.folder / "new", "--edition": "2026.11-large", "--licence": "MIT"}
        source.mkdir()
        (source / "notes.txt").write_text("no walk", encoding="utf-8")
        (source / ".rec").write_bytes(walk)  # a file without a name

        def make(code):
            return self.run_twinstack("suite", "make", *(word for pair in words.items() for word in pair), exit_code=code)

        self.assertIn("no file of steps (*.rec) there", make(5).stderr)
        (source / "ob2.rec").write_bytes(walk)
        (source / test_suite_make.NAME).write_bytes(test_suite_make.image(walk))
        first, second = make(0).stdout.splitlines()
        cases = [json.loads(line) for line in (self.folder / "new/moments/ob2.ndjson").read_text(encoding="utf-8").splitlines()]
        must = sum(case["truth"]["level"] == "must" for case in cases)
        self.assertEqual(first, f"{self.folder / 'new'}: {len(cases)} moments, {must} of them must, 1 images and PDBs; 0 cases from before")
        steps, elsewhere, outermost = map(int, re.fullmatch(r"of (\d+) instructions: (\d+) in an image that is not there, (\d+) without a caller in theirs", second).groups())
        self.assertEqual((steps, steps - elsewhere - outermost), (1398, len(cases)))
        (source / "ob2.rec").write_bytes(walk[:len(walk) // 2])
        words["--out"] = self.folder / "half"
        self.assertIn("ob2.rec", make(3).stderr)


class Fetch(e2e.Case):
    def setUp(self):
        super().setUp()
        (self.pdb,) = (SYMBOLS / "victims-ob2.pdb").glob("*/*.pdb")
        self.key = self.pdb.relative_to(SYMBOLS).as_posix()
        self.stack = self.folder / "stack.txt"
        self.stack.write_text(f"victims-ob2.exe!0x2000 {{{self.pdb.parent.name}}}\n", encoding="utf-8")
        self.server = self.enterContext(SymbolServer(SYMBOLS))
        self.path = f"srv*{self.folder / 'cache'}*{self.server.url}"

    def fetch(self, *more, exit_code=0):
        return self.run_twinstack("symbols", "fetch", "--symbols", self.path, *more, exit_code=exit_code)

    def test_files_are_fetched_once(self):
        offline = json.loads(self.fetch("--stack", self.stack, "--offline", "--json").stdout)["files"]
        self.assertEqual([(f["file"], f["result"], f["path"], f["text"]) for f in offline], [(self.key, "offline", None, None)])
        done = self.fetch("--stack", self.stack, "--progress", "plain")
        self.assertEqual(done.stdout, f"fetched      {self.key}\n")
        self.assertIn(f"fetched {self.key}: {self.pdb.stat().st_size} bytes from {self.server.url}/{self.key}", done.stderr)
        self.assertEqual((self.folder / "cache" / self.key).read_bytes(), self.pdb.read_bytes())
        again = json.loads(self.fetch("--stack", self.stack, "--stack", self.stack, "--json").stdout)["files"]
        self.assertEqual([(f["file"], f["result"], f["path"], f["text"]) for f in again], [(self.key, "cached", str(self.folder / "cache" / self.key), None)])
        self.assertEqual(self.server.asked, ["/" + self.key])

    def test_a_stack_is_named_by_what_is_fetched(self):
        for turn in range(2):
            done = self.run_twinstack("resolve", "--symbols", self.path, self.stack)
            self.assertIn(" pdb ", done.stdout)
            self.assertEqual(f"fetched {self.key}: {self.pdb.stat().st_size} bytes from {self.server.url}/{self.key}\n" in done.stderr, turn == 0, done.stderr)

    def test_modules_of_a_dump_are_asked_for(self):
        said = self.fetch("--dump", CASE / "dump.dmp", "--dump", CASE / "dump.dmp").stdout.splitlines()
        (image,) = (SYMBOLS / "victims-ob2.exe").glob("*/*.exe")
        self.assertIn(f"fetched      {image.relative_to(SYMBOLS).as_posix()}", said)
        self.assertEqual(len(said), len(set(said)))
        self.assertTrue(all(line.startswith(("fetched      ", "absent       ")) for line in said), said)
        self.assertGreater(sum(line.startswith("absent") for line in said), 1)

    def test_what_cannot_be_fetched(self):
        (self.folder / "none.txt").write_text("a.exe!0x1\n", encoding="utf-8")
        self.assertIn("no module there states an identity", self.fetch("--stack", self.folder / "none.txt", exit_code=5).stderr)
        self.assertIn("none.dmp", self.fetch("--dump", self.folder / "none.dmp", exit_code=3).stderr)
        self.assertIn("none.txt", self.fetch("--dump", self.folder / "none.txt", exit_code=3).stderr)
        self.server.faults["/" + self.key] = [("body", b"another file")]
        done = self.fetch("--stack", self.stack, exit_code=3)
        self.assertEqual(done.stdout, f"wrong        {self.key}\n")
        self.assertIn(f"{self.key}: wrong file from {self.server.url}/{self.key}: ", done.stderr)
        self.run_twinstack("symbols", "fetch", "--symbols", self.folder, "--stack", self.stack, exit_code=3)
        self.assertIn("--dump", self.fetch(exit_code=2).stderr)


class Known(e2e.Case):
    def test_a_problem_is_accepted_by_its_key(self):
        if not SEED.exists():
            self.skipTest("seed_store is not built")
        db, known = self.folder / "red.db", self.folder / "known.txt"
        for words in (("2", "12", "0"), ("0", "0", "24", "red")):
            subprocess.run([SEED, db, *words], check=True, capture_output=True)
        accept = ("accept", "--db", db, "--known", known, "--reason", "since of old", "--expires", "2099-01-01", "--broad")
        problems = json.loads(self.run_twinstack("report", "--db", db, "--json", exit_code=1).stdout)["failing"]
        self.assertGreater(len(problems), 1)
        for problem in problems[:2]:
            before = known.read_text(encoding="utf-8") if known.exists() else None
            said = self.run_twinstack(*accept, "--problem", problem["key"]).stdout
            for line in ("reason: since of old", "expires: 2099-01-01"):
                self.assertIn(line, said.splitlines())
            self.assertEqual(known.read_text(encoding="utf-8"), (before or "# Known mismatches: see `twinstack known --help`\n") + said)
        kept = known.read_text(encoding="utf-8")
        self.run_twinstack(*accept, "--problem", "0" * 16, exit_code=3)
        self.assertIn("give no other", self.run_twinstack(*accept, "null_write.ob2", "--problem", problems[0]["key"], exit_code=2).stderr)
        self.run_twinstack(*accept[:2], self.folder / "none.db", *accept[3:], "--problem", problems[0]["key"], exit_code=4)
        self.assertEqual(known.read_text(encoding="utf-8"), kept)


class Totals(e2e.Case):
    def count(self, name, *reports):
        queue = self.folder / f"queue-{name}"
        (queue / "reports/ready").mkdir(parents=True)
        for report in reports:
            head = {"schema_version": 1, "id": report, "sender": "alice", "version": "1.2", "received": "2026-11-22T08:15:00Z"}
            (queue / "reports/ready" / report).write_text(json.dumps(head, separators=(",", ":")) + "\n> a\nvictims-ob2.exe!0x2000\n", encoding="utf-8")
        self.run_twinstack("worker", "--queue", queue, "--symbols", SYMBOLS, "--idle", "100ms")
        self.run_twinstack("reduce", "--queue", queue, "--totals", self.folder / f"{name}.db", "--idle", "100ms")
        return self.folder / f"{name}.db"

    def test_letters_have_an_age_and_may_be_unreadable(self):
        queue = self.folder / "queue"
        (queue / "reports/ready").mkdir(parents=True)
        (queue / "reports/ready/short").write_bytes(b"x")
        self.run_twinstack("worker", "--queue", queue, "--symbols", SYMBOLS, "--idle", "100ms")
        (queue / "dead/ready/broken").write_bytes(b"no letter")
        ages = {"short": 3 * 3600 + 25 * 60 + 59, "broken": 26 * 3600 + 60}  # and what the test takes, less than a second or two
        (short,) = (queue / "dead/ready").glob("-dead-*")
        for path, age in ((short, ages["short"] - 30), (queue / "dead/ready/broken", ages["broken"])):
            os.utime(path, (time.time() - age,) * 2)
        said = self.run_twinstack("queue", "list", "--queue", queue).stdout.splitlines()
        self.assertEqual(sorted(said), ["2 dead letters", "broken  26 h  reports  9 bytes  a letter that cannot be read",
                                        "short  3 h  reports  1 bytes  report at offset 0x1: truncated"])
        letters = {letter.pop("id"): letter for letter in json.loads(self.run_twinstack("queue", "list", "--queue", queue, "--json").stdout)["letters"]}
        self.assertAlmostEqual(letters["broken"].pop("age_s"), ages["broken"], delta=20 * e2e.PATIENCE)
        self.assertAlmostEqual(letters["short"].pop("age_s"), ages["short"] - 30, delta=20 * e2e.PATIENCE)
        self.assertEqual(letters, {"broken": {"channel": "reports", "bytes": 9, "delivered": 0, "reason": "a letter that cannot be read"},
                                   "short": {"channel": "reports", "bytes": 1, "delivered": 1, "reason": "report at offset 0x1: truncated"}})
        self.assertEqual(self.run_twinstack("queue", "show", "broken", "--queue", queue).stdout, "no letter")
        self.assertTrue(self.run_twinstack("queue", "show", "short", "--queue", queue).stdout.endswith("id: short\ndelivered: 1\n\nx"))
        self.assertIn("dead letter at offset 0x0: malformed", self.run_twinstack("queue", "retry", "--all", "--queue", queue, exit_code=3).stderr)
        self.assertEqual(self.run_twinstack("queue", "drop", "broken", "--queue", queue).stdout, "1 dead letter removed\n")
        self.assertEqual(self.run_twinstack("queue", "list", "--queue", queue).stdout, "0 dead letters\n")  # the other one was put back
        self.assertEqual([path.name.rpartition("-")[2] for path in (queue / "reports/ready").iterdir()], ["short"])
        self.assertIn("no dead letter has the id none", self.run_twinstack("queue", "show", "none", "--queue", queue, exit_code=5).stderr)

    def test_totals_of_two_queues_are_added_up(self):
        first, second, both = self.count("first", "alice-1", "alice-2"), self.count("second", "alice-2", "alice-3", "alice-4"), self.folder / "both.db"
        done = self.run_twinstack("reduce", "--merge", first, second, "--totals", both)
        self.assertEqual(done.stdout, f"{both} is the sum of 2 totals\n")
        self.assertIn("1 report was sent to two queues and counts twice: let each sender have one queue", done.stderr)
        done = self.run_twinstack("reduce", "--merge", first, first, "--totals", self.folder / "twice.db")
        self.assertIn("2 reports were sent to two queues and count twice", done.stderr)
        done = self.run_twinstack("reduce", "--merge", first, "--totals", self.folder / "one.db")
        self.assertEqual((done.stdout, done.stderr), (f"{self.folder / 'one.db'} is the sum of 1 totals\n", ""))
        self.assertIn("--merge takes the files of totals", self.run_twinstack("reduce", "--merge", "--totals", both, exit_code=2).stderr)
        self.assertIn("and no --queue", self.run_twinstack("reduce", "--merge", first, "--queue", self.folder / "q", "--totals", both, exit_code=2).stderr)
        self.run_twinstack("reduce", "--merge", self.folder / "none.db", "--totals", self.folder / "new.db", exit_code=4)


class Rows(e2e.Case):
    """One row, or a few, for each of many verbs."""

    def seeded(self):
        if not SEED.exists():
            self.skipTest("seed_store is not built")
        for words in (("2", "12", "0"), ("0", "0", "24", "red")):
            subprocess.run([SEED, self.folder / "red.db", *words], check=True, capture_output=True)
        return self.folder / "red.db"

    def test_stacks_are_held_against_a_truth_in_a_file(self):
        truth = json.loads((CASE / "truth.json").read_text(encoding="utf-8"))
        (self.folder / "truth.json").write_text(json.dumps(truth), encoding="utf-8")
        (self.folder / "none.txt").write_text("", encoding="utf-8")
        for name in ("one", "two"):
            said = self.run_twinstack("resolve", CASE / "record.rec", "--symbols", SYMBOLS, "--json").stdout
            (self.folder / f"{name}.txt").write_text(said, encoding="utf-8")
        for where, folder in (("truth.json", self.folder), (self.folder / "truth.json", e2e.ROOT), ("./truth.json", self.folder)):
            with self.subTest(where):
                done = e2e.twinstack("check", "--stacks", self.folder / "one.txt", self.folder / "two.txt", "--truth", where, "--symbols", SYMBOLS, folder=folder)
                for name in ("one", "two"):  # every frame that the truth has
                    self.assertRegex(done.stdout, rf"(?m)^{name}.txt \* +1/1 .* 100 %")
        self.run_twinstack("check", "--stacks", self.folder / "one.txt", self.folder / "two.txt", "--truth", self.folder / "absent.json", exit_code=3)
        self.assertIn("none.txt: stack: absent (the file holds none)", self.run_twinstack("check", "--stacks", self.folder / "one.txt", self.folder / "none.txt", exit_code=3).stderr)

    def test_two_stacks_are_the_same_up_to_a_level(self):
        (self.folder / "stack.txt").write_text("victims-ob2.exe!0x2000\nvictims-ob2.exe!0x2801\n", encoding="utf-8")
        named = self.run_twinstack("resolve", "--symbols", SYMBOLS, self.folder / "stack.txt", "--json").stdout
        for name, text in (("named", named), ("bare", self.run_twinstack("resolve", self.folder / "stack.txt", "--json").stdout),
                           ("lines", re.sub(r'"line": *\d+', '"line": 1', named)), ("other", named.replace("0x2801", "0x2811"))):
            (self.folder / f"{name}.json").write_text(text, encoding="utf-8")
        for other, differs in (("named", ()), ("bare", ("line", "function")), ("lines", ("line",)), ("other", ("line", "function", "physical"))):
            for level in ("line", "function", "physical"):
                with self.subTest(other, level=level):
                    done = self.run_twinstack("check", "--stacks", self.folder / "named.json", self.folder / f"{other}.json", "--level", level, exit_code=int(level in differs))
                    self.assertEqual("the stacks differ: symbols_missing, bare.json at victims-ob2.exe!0x2000: no symbols" in " ".join(done.stdout.split()),
                                     other == "bare" and level in differs)

    def test_all_that_differs_is_folded_away(self):
        done = self.run_twinstack("compare", "latest~1", "latest", "--db", self.seeded(), "--markdown", exit_code=1)
        before, _, folded = done.stdout.partition("<details><summary>Every case that differs</summary>\n")
        rows, _, after = folded.partition("</details>")
        self.assertEqual((before.count("| new |"), after.count("| new |")), (0, 0))
        self.assertGreater(rows.count("| new |"), 3)
        self.assertIn("every case by name: --json", rows)

    def test_a_review_shows_why(self):
        done = e2e.twinstack("review", "--db", self.seeded(), "--known", self.folder / "known.txt", stdin="s\nr\nx\nq\n")
        first, second, third = done.stdout.split("\n[")[1:4]
        self.assertEqual([text.count("a accept, r leave it failing, s skip, q quit > ") for text in (first, second, third)], [1, 1, 2])
        self.assertIn("\n  wrong_step:\n    the walks part at ", first)
        self.assertFalse((self.folder / "known.txt").exists())

    def test_a_doctor_says_the_same_in_both_forms(self):
        env = {"PATH": str(self.folder), "TWINSTACK_CACHE": str(self.folder / "cache")}
        (self.folder / "none.db").write_text("no database", encoding="utf-8")
        words = ("doctor", "--victims", self.folder / "victims", "--prefix", self.folder / "prefix", "--db", self.folder / "none.db")
        text, document = (e2e.twinstack(*words, *more, env=env, folder=self.folder) for more in ((), ("--json",)))
        rows = [(row["state"], row["what"]) for row in json.loads(document.stdout)["checks"]]
        said = [line for line in text.stdout.splitlines() if re.match(r"(ok|none|MISSING) ", line)]
        self.assertEqual([(line.split()[0].lower(), line[9:33].rstrip()) for line in said], rows)
        self.assertEqual({state for state, _ in rows}, {"ok", "none", "missing"})
        self.assertIn(("missing", "database"), rows)

    def test_words_that_a_gate_of_reports_does_not_take(self):
        for words, code, said in ((("1",), 2, "--shadow is about reports, not about a run"), (("--against", "1"), 2, "--shadow is about reports, not about a run"),
                                  (("--lane", "dump"), 2, "--lane says what --max-slowdown judges"), (("--min-agreement", "x"), 2, "--min-agreement is a share such as 99%"), ((), 3, "none.db: totals: absent")):
            with self.subTest(words):
                self.assertIn(said, self.run_twinstack("gate", "--shadow", self.folder / "none.db", *words, exit_code=code).stderr)

    def test_the_symbol_path_of_the_environment(self):
        (self.folder / "stack.txt").write_text("victims-ob2.exe!0xf527\n", encoding="utf-8")
        (self.folder / "named.txt").write_text("a.exe!0x1 {0123456789ABCDEF0123456789ABCDEF1}\n", encoding="utf-8")
        for verb in (("resolve", "--symbols", SYMBOLS, self.folder / "stack.txt"), ("symbols", "fetch", "--offline", "--symbols", f"srv*{self.folder}*http://127.0.0.1:1", "--stack", self.folder / "named.txt"),
                     ("dump", CASE / "dump.dmp", "--stacks", "--symbols", SYMBOLS)):
            for path, warns in (("srv*c*ftp://x/", True), (str(SYMBOLS), False)):
                with self.subTest(verb[0], path=path):
                    done = e2e.twinstack(*verb, env={"_NT_SYMBOL_PATH": path, "TWINSTACK_SYSTEM_SYMBOLS": "1", "TWINSTACK_CACHE": str(self.folder / "cache")})
                    self.assertEqual("the symbol path of the environment is not used whole: " in done.stderr, warns, done.stderr)

    def test_a_dump_or_a_stack_without_the_other(self):
        for kind, end in (("dumps", "dmp"), ("stacks", "txt")):
            (self.folder / kind).mkdir()
            for number in ("01", "02"):
                shutil.copy(e2e.ROOT / f"corpus/reporter/{kind}/crash-{number}.{end}", self.folder / kind)
        shutil.copy(e2e.ROOT / "corpus/reporter/stacks/crash-03.txt", self.folder / "stacks/alone.txt")
        shutil.copy(e2e.ROOT / "corpus/reporter/stacks/crash-04.txt", self.folder / "stacks/broken.txt")
        (self.folder / "dumps/broken.dmp").write_bytes(b"MDMP" + b"\0" * 20)
        done = e2e.twinstack("check", "--dumps", self.folder / "dumps", "--stacks", self.folder / "stacks", "--symbols", e2e.ROOT / "corpus/reporter/symbols", "--details")
        self.assertIn("nothing to compare with", done.stdout)
        self.assertIn("dump unreadable", done.stdout)

    def test_frames_of_what_is_known_are_listed(self):
        (self.folder / "known.txt").write_text("[a]\nscope: x.*\ncause: *\nreason: of old\nexpires: 2099-01-01\nframe: first | one\nframe: second | two\n", encoding="utf-8")
        said = self.run_twinstack("known", "list", "--known", self.folder / "known.txt").stdout
        self.assertIn("  frame   first | one\n  frame   second | two\n", said)


if __name__ == "__main__":
    e2e.main()
