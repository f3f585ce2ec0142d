"""`twinstack score`: contestants that are right, wrong, slow, broken or silent, and what that costs them; results, comparison with an
older result, JUnit.

Only this starts contestants: it finds a crash, a hang or garbage that costs more than its own case."""

import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from html import unescape
from xml.etree import ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

SUITE = e2e.ROOT / "corpus/reference"
SHAPE = "moments/x64/push/rbx"  # cases enough for each mode, and few enough to be quick
LIST, IMAGE = "moments/x64-push.ndjson", "images/x64-push.dll"  # that have SHAPE
OUTCOMES = ("right", "early", "wrong", "crashed", "timeout", "garbage", "unsupported")
PREFIXES = ("rep", "repne", "bnd", "notrack", "data16", "lock")
# Names of one instruction, of Capstone and of LLVM.
SAME = {("movz", "mov"), (".inst", "udf"), (".inst", "<unknown>"), ("hint", "autibsp"), ("hint", "pacibsp")}

# It looks the truth up, of SHAPE alone, since it starts again at each case that it loses; it does MODE at every third case.
CONTESTANT = r"""
import json, os, sys, time
mode, count = sys.argv[1], 0
truth = {}
for line in sys.stdin:
    asked = json.loads(line)
    if "hello" in asked:
        if mode == "no welcome": sys.exit(3)
        if mode == "bad welcome": print("hello yourself", flush=True); continue
        for row in open(asked["suite"] + "/moments/x64-push.ndjson"):
            if "moments/x64/push/rbx" not in row: continue
            row = json.loads(row)
            truth[row["id"]] = row["truth"].get("frames") or row["truth"].get("accepted", [[]])[-1]
        print(json.dumps({"name": "actor", "version": "1", "bugs": None, "can": [] if mode == "cannot" else ["moments.x64"]}), flush=True)
        continue
    assert not {"truth", "rule", "shape", "position"} & set(asked), asked
    frames = truth[asked["id"]]
    answer = {"id": asked["id"], "frames": frames}
    if int(asked["id"].rsplit("/", 1)[1], 16) % 3 == 0:
        if mode == "crash": os.abort()
        if mode == "exit": print("out of ideas", file=sys.stderr, flush=True); sys.exit(7)
        if mode == "hang": time.sleep(300)
        if mode == "garbage": print("Segmentation fault", flush=True); continue
        if mode == "late": print("{}", flush=True)
        if mode == "flood":
            while True: sys.stdout.write("x" * 1000000)
        if mode == "memory": hog = bytearray(3 << 30)
        if mode == "early": answer["frames"] = frames[:1]
        if mode == "wrong": answer["frames"] = frames[:1] + [{"ip": "0x1", "sp": "0x2"}]
        if mode == "too far": answer["frames"] = frames + [{"ip": "0x1", "sp": "0x2"}]
        if mode == "unsupported": answer = {"id": asked["id"], "unsupported": True, "reason": "not yet"}
        if mode == "error": answer = {"id": asked["id"], "error": "no idea"}
    print(json.dumps(answer), flush=True)
"""


class Score(e2e.Case):
    @classmethod
    def setUpClass(cls):
        """The list of SHAPE as a suite of its own: of the whole one, each start reads 17 MB."""
        cls.suite = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        whole = json.loads((SUITE / "suite.json").read_text(encoding="utf-8"))
        files = [file for file in whole["files"] if file["path"] == IMAGE]
        (cls.suite / "suite.json").write_text(json.dumps(whole | {"lists": [LIST], "files": files}), encoding="utf-8")
        for name in (LIST, IMAGE):
            (cls.suite / name).parent.mkdir()
            shutil.copy(SUITE / name, cls.suite / name)

    def setUp(self):
        super().setUp()
        self.actor = self.folder / "actor.py"
        self.actor.write_text(CONTESTANT, encoding="utf-8")
        for mode in ("late", "no welcome", "bad welcome", "too far"):  # --cmd has no quotes
            (self.folder / (mode.replace(" ", "-") + ".py")).write_text(CONTESTANT.replace("sys.argv[1]", repr(mode)), encoding="utf-8")

    def command(self, mode):
        own = self.folder / (mode.replace(" ", "-") + ".py")
        python = f"{sys.executable} -I -S"  # which starts in half the time
        return f"{python} {own}" if own.exists() else f"{python} {self.actor} {mode}"

    def score(self, mode, *more, exit_code=0):
        limit = "2s" if mode == "hang" else "200s"  # on a busy machine, what does not hang may take long
        return self.run_twinstack("score", "--cmd", self.command(mode), "--suite", self.suite, "-k", SHAPE, "--timeout", limit, *more,
                                  exit_code=exit_code)

    def result(self, mode, *more):
        return json.loads(self.score(mode, "--json", *more).stdout)

    def test_what_a_contestant_does_costs_its_own_case(self):
        ids = sorted(case for cases in self.result("right")["cases"].values() for case in cases)
        hit = [case for case in ids if int(case.rsplit("/", 1)[1], 16) % 3 == 0]
        self.assertGreater(len(hit), 2)
        for mode, outcome in (("right", "right"), ("crash", "crashed"), ("exit", "crashed"), ("hang", "timeout"), ("garbage", "garbage"),
                              ("late", "garbage"), ("flood", "garbage"), ("memory", "crashed"), ("early", "early"), ("wrong", "wrong"),
                              ("too far", "wrong"), ("unsupported", "unsupported"), ("error", "crashed")):
            limit = ("--memory", "1024") if mode == "memory" else ()
            with self.subTest(mode=mode):
                if mode == "memory" and sys.platform == "win32":
                    self.skipTest("no limit of memory on Windows")
                jobs = ("-j", "4") if mode in ("hang", "flood") else ()
                cases = self.result(mode, *limit, *jobs)["cases"]
                self.assertEqual(sorted(cases["right"] + (cases[outcome] if outcome != "right" else [])), ids)
                if outcome != "right":
                    self.assertEqual(sorted(cases[outcome]), hit)

    def test_a_contestant_that_can_nothing_is_not_covered(self):
        result = self.result("cannot")
        self.assertEqual([k for k, ids in result["cases"].items() if ids], []) # the sums say enough
        self.assertGreater(sum(row["unsupported"] for row in result["by"]), 2)
        self.assertEqual({row["right"] + row["wrong"] for row in result["by"]}, {0})

    def test_a_contestant_that_does_not_start(self):
        for mode, words in (("no welcome", "exit 3"), ("bad welcome", "JSON")):
            with self.subTest(mode=mode):
                self.assertIn(words, self.score(mode, exit_code=3).stderr)
        self.assertIn("not found in PATH", self.run_twinstack("score", "--cmd", "./no-such", "--suite", SUITE, exit_code=3).stderr)
        self.assertIn("suite.json", self.run_twinstack("score", "--cmd", "true", "--suite", self.folder, exit_code=3).stderr)
        self.assertIn("--cmd", self.run_twinstack("score", exit_code=2).stderr)
        self.score("right", "-k", "no-such-shape", exit_code=5)

    def test_a_result_is_of_the_schema_and_its_sums_are_its_cases(self):
        import jsonschema  # pylint: disable=import-outside-toplevel
        result = self.result("wrong")
        schema = json.loads((SUITE / "schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator({"$ref": "#/$defs/result", "$defs": schema["$defs"]}).validate(result)
        for outcome in OUTCOMES:
            self.assertEqual(sum(row[outcome] for row in result["by"]), len(result["cases"][outcome]))
        self.assertEqual(result["tool"], {"name": "actor", "version": "1", "bugs": None})
        text = self.score("wrong").stdout
        self.assertRegex(text, rf"(?m)^moments.x64: {len(result['cases']['right'])} right, {len(result['cases']['wrong'])} wrong$")
        again = next(line for line in text.splitlines() if line.startswith("  again")).split(None, 1)[1]
        self.assertIn(f"-k {result['cases']['wrong'][0]}", again)

    def test_what_became_worse_fails_and_what_cannot_be_judged_is_skipped(self):
        for mode in ("right", "early", "wrong", "crash"):
            self.score(mode, "--json", "-o", self.folder / f"{mode}.json")
        other = self.folder / "other.json"
        other.write_text((self.folder / "right.json").read_text().replace('"2026.', '"1999.'))
        for name, mode, expect, code in (("the same", "wrong", "wrong.json", 0), ("better", "early", "wrong.json", 0),
                                         ("worse", "wrong", "early.json", 1), ("no answer", "crash", "wrong.json", 1),
                                         ("unsupported for right", "unsupported", "right.json", 1),
                                         ("unsupported for wrong", "unsupported", "wrong.json", 0), ("another edition", "right", "other.json", 125),
                                         ("no file", "right", "none.json", 125), ("does not start", "no welcome", "right.json", 125)):
            with self.subTest(name=name):
                done = self.score(mode, "--expect", self.folder / expect, exit_code=code)
                if code == 1:
                    self.assertRegex(done.stdout, r"(?m)^worse  moments/x64/push/rbx/")
        self.score("right", "-k", "no-such-shape", "--expect", self.folder / "right.json", exit_code=125)

    def test_a_program_that_has_not_changed_is_asked_once(self):
        cache = ("--cache", self.folder / "cache")
        for mode, lost in (("right", ()), ("wrong", ()), ("crash", ("crashed",)), ("hang", ("timeout",)), ("garbage", ("garbage",)), ("unsupported", ())):
            with self.subTest(mode=mode):
                first = self.result(mode, *cache, "-j", "4")
                done = self.score(mode, "--json", *cache, "-j", "4")
                again = json.loads(done.stdout)
                kept = sum(len(ids) for outcome, ids in first["cases"].items() if outcome not in lost)
                self.assertEqual((first["cached"], again["cached"], again["cases"]), (0, kept, first["cases"]))
                self.assertIn(f"{kept} of {sum(map(len, first['cases'].values()))} answers are from before", done.stderr)
        for name, words, count in (("not to be used", ("--no-cache",), 0), ("turned off", ("--cache", "none"), 0), ("another folder", ("--cache", self.folder / "new"), 0),
                                   ("of some cases", (*cache, "-k", f"{SHAPE} and not may"), None)):
            with self.subTest(name=name):
                result = self.result("right", *words)
                self.assertEqual(result["cached"], sum(map(len, result["cases"].values())) if count is None else count)
        self.assertIn("index", self.run_twinstack("cache", "list", *cache).stdout)
        self.actor.write_text(CONTESTANT + "# another program\n", encoding="utf-8")
        self.assertEqual(self.result("right", *cache)["cached"], 0)

    def test_junit(self):
        file = self.folder / "score.xml"
        self.score("wrong", "--junit", file)
        suites = ElementTree.parse(file).getroot()
        result = self.result("wrong")
        self.assertEqual(len(suites.findall(".//failure")), len(result["cases"]["wrong"]))
        self.assertEqual(int(suites[0].get("tests")), sum(map(len, result["cases"].values())))
        self.assertEqual(list(self.folder.glob("*.part")), [])

    def test_the_page_accounts_for_every_case(self):
        """Each cell of the page over the results of the repository has the outcomes that this counts from their files."""
        page = self.folder / "page.html"
        self.run_twinstack("score", "--suite", SUITE, "--html", page, "--badges", self.folder / "badges", *sorted(SUITE.glob("results/*.json")))
        self.assertTrue((self.folder / "badges/lldb-19.1.7-addresses.pdb.svg").exists())
        html = page.read_text(encoding="utf-8")
        for word in ("<script", "src=", "<link", "@import"): # one file, and nothing runs
            self.assertNotIn(word, html)
        shapes, place = collections.Counter(), {}
        index = json.loads((SUITE / "suite.json").read_text(encoding="utf-8"))
        retired = {row["id"] for row in index["retired"]}  # what results of older editions have, and no page
        for name in index["lists"]:
            for case in map(json.loads, (SUITE / name).read_text(encoding="utf-8").splitlines()):
                place[case["id"]] = (case["capability"], case["shape"])
                shapes[place[case["id"]]] += 1
        want, failed = collections.defaultdict(collections.Counter), set()
        for result in (json.loads(path.read_text(encoding="utf-8")) for path in SUITE.glob("results/*.json")):
            for outcome, ids in ((outcome, set(ids) - retired) for outcome, ids in result["cases"].items()):
                failed |= ids if outcome not in ("right", "unsupported") else set()
                for case in ids:
                    want[(f"{result['tool']['name']} {result['tool']['version']}", *place[case])][outcome] += 1
        seen = {}
        for title, head, body in re.findall(r"<h2>((?:moments|addresses|dumps)\.\w+)</h2>\n<div.*?<tr><th>shape(.*?)</thead><tbody>\n(.*?)</tbody>", html, re.S):
            tools = head.split("<th>")[1:]
            for row in body.splitlines():
                shape, *cells = re.sub(r"</?a[^>]*>", "", row).removeprefix("<tr><th>").split("<td ")
                self.assertEqual(len(cells), len(tools), row)
                for tool, cell in zip(tools, cells):
                    counts = {outcome: int(n) for n, outcome in re.findall(r"(\d+) ([a-z ]+)", cell.partition(">")[2])}
                    self.assertEqual(sum(counts.values()), shapes[(title, shape)], (title, shape, tool))
                    counts.pop("not asked", None)
                    seen[(tool, title, shape)] = counts
        shown = {key for key in want if any(set(want[other]) - {"unsupported"} for other in want if other[:2] == key[:2])}
        self.assertEqual({key: counts for key, counts in seen.items() if counts}, {key: dict(want[key]) for key in shown})
        self.assertEqual(set(re.findall(r"<summary>(\S+) \(", html)), failed)

    def test_the_page_has_what_the_program_answered(self):
        page, other = self.folder / "page.html", self.folder / "other.json"
        right = self.result("right", "-o", "-")
        right["tool"]["name"] = "other"
        other.write_text(json.dumps(right), encoding="utf-8")
        first = right["cases"]["right"][0]
        for mode, words in (("right", None), ("wrong", r"actor 1 answered:\n  \w+  sp \w+\n  1  sp 2\n"),
                            ("early", "actor 1 answered: the first 1 of these frames, no more\n"),
                            ("error", "actor 1: no idea\n"), ("garbage", "actor 1: .*JSON"), ("unsupported", None)):
            with self.subTest(mode=mode):
                text = self.score(mode, "--html", page, other).stdout
                self.assertIn("actor 1, suite", text)
                html = page.read_text(encoding="utf-8")
                self.assertIn("<th>actor 1<th>other 1", html)
                cases = html.count("<summary>") - html.count("<summary><h3>")  # the others are shapes
                self.assertEqual(cases, html.count("actor 1 answered:") + html.count("\nactor 1: "))
                if words is None:
                    self.assertNotIn("<summary>", html)
                else:
                    self.assertRegex(html, rf"(?s)<summary>{first} .*?other 1\n.*?{words}")

    def test_a_result_has_the_answers_that_are_not_right(self):
        """So a page of files shows what the page of the same run shows, and code of the step."""
        for mode, outcome, words in (("early", "early", "answered: the first 1 of these frames, no more"), ("wrong", "wrong", "  1  sp 2"),
                                     ("right", "right", "")):
            with self.subTest(mode=mode):
                result, live, page = (self.folder / f"{mode}.{end}" for end in ("json", "live.html", "html"))
                self.score(mode, "--json", "-o", result)
                self.score(mode, "--html", live)
                self.run_twinstack("score", "--suite", SUITE, "-k", SHAPE, "--html", page, result)
                made = json.loads(result.read_text(encoding="utf-8"))
                self.assertEqual(set(made["answers"]), set(made["cases"][outcome]) if outcome != "right" else set())
                blocks = [re.findall("(?s)<details>.*?</details>", file.read_text(encoding="utf-8")) for file in (live, page)]
                self.assertEqual(*blocks)
                for block in blocks[0]:
                    self.assertIn(words, block)
                    self.assertRegex(block, r"code at the step out of frame 0:\n<code.*?>(.*\n){0,2}  pc  ")

    @e2e.unittest.skipUnless(shutil.which("llvm-objdump-19"), "no llvm-objdump-19")
    def test_code_is_what_objdump_reads(self):
        """Capstone and LLVM agree where instructions begin, on their bytes and names: all that the page shows, on three processors."""
        page = self.folder / "page.html"
        self.run_twinstack("score", "--suite", SUITE, "--html", page, *sorted(SUITE.glob("results/*.json")))
        cases, shown, unshown = {}, collections.defaultdict(set), collections.defaultdict(set)
        for name in json.loads((SUITE / "suite.json").read_text(encoding="utf-8"))["lists"]:
            for row in map(json.loads, (SUITE / name).read_text(encoding="utf-8").splitlines()):
                cases[row["id"]] = row
        for ident, block in re.findall(r"(?s)<summary>(\S+) \(.*?<pre.*?>(.*?)</pre>", page.read_text(encoding="utf-8")):
            row = cases[ident]
            given = row["given"]
            path = given["modules"][0]["path"] if row["kind"] == "moment" else given.get("image")
            for why in re.findall(r"^code at .*: not shown, (.*)$", block, re.M):
                unshown[why].add((path, int(given.get("rva", "0"), 16)))
            for at, text, code in re.findall(r"^(?:<code.*?>)?  (?:pc|call|    )  ?([0-9a-f]+)  (\S.*?)  +((?:[0-9a-f]{2} ?)+)$", block, re.M):
                shown[path].add((int(at, 16), code.replace(" ", ""), unescape(text)))
        self.assertGreater(sum(map(len, shown.values())), 1000)
        within = unshown.pop("no chain of instructions leads from where code begins to it")
        self.assertEqual(set(unshown), {"its image is no PE file", "its image is known by the dump alone"})
        for path, rows in shown.items():
            data = (SUITE / path).read_bytes()
            header = int.from_bytes(data[0x3c:0x40], "little") + 24
            wide = data[header:header + 2] == b"\x0b\x02"
            base = int.from_bytes(data[header + 24:header + 32] if wide else data[header + 28:header + 32], "little")
            said = subprocess.run(["llvm-objdump-19", "-d", "--x86-asm-syntax=intel", SUITE / path], check=True, capture_output=True, text=True).stdout
            read = {int(at, 16): (code.replace(" ", ""), text) for at, code, text in
                    re.findall(r"^ *([0-9a-f]+): ((?:[0-9a-f]{2} ?)+|[0-9a-f]{8}) *\t(.*)$", said, re.M)}
            if b".pdata" in data[:1024]:  # else it begins with the section, and a table of jumps ends that
                self.assertEqual({hex(rva) for where, rva in within if where == path and base + rva in read}, set(), path)
            for at, code, text in sorted(rows):
                at += base if path.startswith("programs") else 0
                theirs = read.get(at)
                if int(code, 16) == 0 and not theirs:
                    continue  # llvm-objdump prints "..." for zeros
                with self.subTest(path=path, at=hex(at), text=text, theirs=theirs):
                    self.assertIsNotNone(theirs)
                    self.assertIn(theirs[0], (code, bytes.fromhex(code)[::-1].hex()))
                    names = tuple(next(word for word in words.split() if word not in PREFIXES) for words in (text, theirs[1]))
                    self.assertTrue(names[0] == names[1] or names in SAME, names)

    def test_a_page_that_cannot_be_made(self):
        right = self.folder / "right.json"
        self.score("right", "--json", "-o", right)
        same = self.folder / "same.json"
        same.write_text(right.read_text(encoding="utf-8").replace('"actor"', '"Actor"'), encoding="utf-8")
        old = self.folder / "old.json"
        old.write_text(right.read_text(encoding="utf-8").replace("/push/", "/pushed/"), encoding="utf-8")
        other = self.folder / "other.json"
        other.write_text("{}", encoding="utf-8")
        page, badges = self.folder / "page.html", self.folder / "badges"
        for name, words, code, message in (
                ("no result", ("--html", page), 2, "a result is missing"),
                ("JSON without a program", ("--html", page, "--json", right), 2, "--cmd is missing"),
                ("a result without a page", (right,), 2, "right.json"),
                ("no file", ("--html", page, self.folder / "none.json"), 3, "none.json"),
                ("another document", ("--html", page, other), 3, "other.json"),
                ("twice", ("--html", page, right, right), 3, "give each result once"),
                ("badges of one name", ("--badges", badges, right, same), 2, "actor-1-"),
                ("no case", ("--html", page, "-k", "no-such-shape", right), 5, "no case"),
                ("a suite without some cases", ("--html", "-", "--badges", badges, old), 0, "are not in the suite")):
            with self.subTest(name=name):
                self.assertFalse(page.exists())
                self.assertFalse(badges.exists())
                self.assertIn(message, self.run_twinstack("score", "--suite", SUITE, *words, exit_code=code).stderr)
        badge = ElementTree.parse(badges / "actor-1-addresses.pdb.svg").getroot()
        self.assertEqual(badge[-1][-1].text, "not covered")
        self.assertEqual(len(list(badges.iterdir())), 8)

    def test_ctrl_c_leaves_no_contestant(self):
        import signal  # pylint: disable=import-outside-toplevel
        with subprocess.Popen([e2e.PROGRAM, "score", "--cmd", self.command("hang"), "--suite", self.suite, "-k", SHAPE, "--timeout", "200s"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            end = time.monotonic() + 20 * e2e.PATIENCE
            while not self.alive() and time.monotonic() < end:
                time.sleep(0.05)
            time.sleep(0.5)
            child.send_signal(signal.SIGINT)
            child.communicate(timeout=30 * e2e.PATIENCE)
        self.assertEqual(child.returncode, 130)
        self.assertFalse(self.alive())

    def alive(self):
        return subprocess.run(["pgrep", "-f", str(self.actor)], stdout=subprocess.PIPE, check=False).stdout.strip()


if __name__ == "__main__":
    e2e.main()
