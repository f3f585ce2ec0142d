"""`check --dumps`: what belongs together, what is judged, what is said first, and exit codes. Which way a stack is wrong is in
unit_recognise and test_reporter."""

import json
import pathlib
import shutil
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

CASES = ["inline_chain.ob2", "noreturn_tail.ob2", "null_write.ob2", "recursion.ob2"]
SYMBOLS = ["--symbols", e2e.ROOT / "corpus/symbols"]
IMAGE = "victims-ob2.exe"


class CheckReporter(e2e.Case):
    def setUp(self):
        self.dumps, self.stacks = self.folder / "dumps", self.folder / "stacks"
        self.dumps.mkdir()
        self.stacks.mkdir()
        self.texts = {}
        for name in CASES:
            dump = e2e.ROOT / "corpus/cases" / name / "dump.dmp"
            shutil.copy(dump, self.dumps / f"{name}.dmp")
            self.texts[name] = self.stack_of(dump)
            (self.stacks / f"{name}.txt").write_text(self.texts[name], encoding="ascii")

    def stack_of(self, dump):
        thread = self.run_json("dump", dump, "--stacks", "--json", *SYMBOLS)["threads"][0]
        return "".join(f"{f['module'] or '?'}!{f['offset']}\n" for f in thread["stack"]["frames"] if f["inline_depth"] == 0)

    def judge(self, *more, stacks=None, symbols=SYMBOLS, exit_code=0, **options):
        return self.run_twinstack("check", "--dumps", self.dumps, "--stacks", stacks or self.stacks, *symbols, *more,
                                  exit_code=exit_code, **options)

    def rows(self, *more, **options):
        return {row["name"]: row for row in json.loads(self.judge("--json", *more, **options).stdout)["rows"]}

    def verdicts(self, *more, **options):
        return {name: row["verdict"] for name, row in self.rows(*more, **options).items()}

    def damage(self, name, change):
        lines = self.texts[name].splitlines()
        (self.stacks / f"{name}.txt").write_text("\n".join(change(lines)) + "\n", encoding="ascii")

    def test_all_sound(self):
        self.assertEqual(self.verdicts(), dict.fromkeys(CASES, "sound"))
        said = self.judge().stdout
        self.assertIn("stacks: 4 of 4 judged: 4 sound, 0 wrong\n", said)
        self.assertIn("of 4 sound, the outermost frames were not compared", said)
        self.assertRegex(said, r"kernel32\.dll +image +63F14E2B195000 +not the outermost frames")

    def test_a_wrong_one_is_named(self):
        self.damage(CASES[2], lambda lines: lines[::-1])
        self.damage(CASES[3], lambda lines: lines[:32])
        rows = self.rows(exit_code=1)
        self.assertEqual([(rows[name]["verdict"], rows[name]["mechanism"]) for name in CASES],
                         [("sound", None), ("sound", None), ("wrong", "reversed"), ("wrong", "truncated")])
        self.assertEqual((rows[CASES[3]]["variant"], rows[CASES[3]]["first_frame"], rows[CASES[3]]["who"]),
                         ("at a limit of 32 frames", 32, "walker"))
        said = self.judge("--name", "ours", exit_code=1).stdout
        self.assertIn("ours: 4 of 4 judged: 2 sound, 2 wrong\n", said)
        self.assertIn("1  the stack ends too early: at a limit of 32 frames (walker)", said)
        details = self.judge("--details", exit_code=1).stdout
        self.assertRegex(details, r"✗ wrong +null_write\.ob2, frame 0: the frames are in reverse order \(writer, proved\)")

    def test_unexplained_has_both_stacks(self):
        other = "\n".join(f"{IMAGE}!0x{0x9000 + 16 * i:x}" for i in range(9))
        self.damage(CASES[2], lambda lines: [lines[0], *other.splitlines()])
        row = self.rows(exit_code=1)[CASES[2]]
        self.assertEqual((row["mechanism"], row["first_frame"]), ("unexplained", 1))
        self.assertRegex(row["sides"], rf"^  0  {IMAGE}!\w+ +{IMAGE}!\w+\n  1  {IMAGE}!0x9000 +{IMAGE}!\w+\n")
        self.assertIn(f"  1  {IMAGE}!0x9000", self.judge("--details", exit_code=1).stdout)

    def test_the_stack_of_another_dump(self):
        lines = self.texts[CASES[0]].splitlines()
        self.damage(CASES[2], lambda _: lines)
        row = self.rows(exit_code=1)[CASES[2]]
        self.assertEqual((row["mechanism"], row["words"]), ("other_crash", f"it is the stack of {CASES[0]}"))

    def test_what_is_no_stack_is_a_failed_capture(self):
        texts = [("", "the stack is empty"), ("# nothing\n\n", "the stack is empty"),
                 ("one\ntwo\nthree\n", 'no line holds a frame, first "one"'),
                 ("one\ntwo\nthree\napp.exe!0x10\n", '3 of 4 lines hold no frame, first "one"'),
                 ('{"frames": [', None)]
        for text, words in texts:
            with self.subTest(text):
                (self.stacks / f"{CASES[1]}.txt").write_text(text, encoding="ascii")
                row = self.rows(exit_code=1)[CASES[1]]
                self.assertEqual(row["verdict"], "capture_failed")
                self.assertEqual(row["words"], words or row["words"])
                self.assertTrue(row["words"])
        self.assertIn("1 capture failed", self.judge(exit_code=1).stdout)

    def test_one_without_the_other(self):
        (self.stacks / f"{CASES[0]}.txt").rename(self.stacks / "elsewhere.log")
        verdicts = self.verdicts(exit_code=1)
        self.assertEqual((verdicts[CASES[0]], verdicts["elsewhere"]), ("capture_failed", "no_dump"))
        self.assertRegex(self.judge(exit_code=1).stdout,
                         r"3 of 5 judged: 3 sound, 0 wrong\n1 capture failed \(a dump without a stack\), 1 stack without a dump \(nothing to")

    def test_a_few_lines_of_a_log_are_left_out(self):
        self.damage(CASES[2], lambda lines: ["the program crashed", *lines, "bye"])
        self.assertEqual(self.verdicts()[CASES[2]], "sound")

    def test_labels_in_one_file(self):
        labels = [CASES[0], f"{CASES[1]}.dmp", CASES[2], "unknown"]
        text = "".join(f"> {label}\n{self.texts[name]}" for label, name in zip(labels, CASES))
        path = self.folder / "all.txt"
        path.write_text(text, encoding="ascii")
        self.assertEqual(self.verdicts(stacks=path, exit_code=1),
                         {**dict.fromkeys(CASES[:3], "sound"), CASES[3]: "capture_failed", "unknown": "no_dump"})
        self.assertIn("all: 3 of 5 judged", self.judge(stacks=path, exit_code=1).stdout)
        path.write_text("> a\nno frame\nnone\n", encoding="ascii")
        self.assertIn("no line holds a frame", self.judge(stacks=path, exit_code=3).stderr)

    def test_a_table_of_pairs(self):
        table = self.folder / "pairs.csv"
        (self.stacks / "x.txt").write_text(self.texts[CASES[0]], encoding="ascii")
        table.write_text(f'dump,stack,thread\n{CASES[0]}.dmp,x.txt\n"{CASES[1]}.dmp", {CASES[0]}.txt,\n{CASES[2]}.dmp,,\n',
                         encoding="ascii")
        self.assertEqual(self.verdicts("--pairs", table, exit_code=1),
                         {CASES[0]: "sound", CASES[1]: "wrong", CASES[2]: "capture_failed"})
        for line in ("a", ",", "a,b,c"):
            with self.subTest(line):
                table.write_text(line + "\n", encoding="ascii")
                self.assertIn("dump,stack,thread", self.judge("--pairs", table, exit_code=3).stderr)

    def test_a_thread_of_the_table(self):
        table = self.folder / "pairs.csv"
        thread = self.run_json("dump", self.dumps / f"{CASES[0]}.dmp", "--stacks", "--json", *SYMBOLS)["threads"][0]["id"]
        table.write_text(f"{CASES[0]}.dmp,{CASES[0]}.txt,{thread}\n{CASES[1]}.dmp,{CASES[1]}.txt,99999\n", encoding="ascii")
        self.assertEqual(self.verdicts("--pairs", table, exit_code=3),
                         {f"{CASES[0]} thread {thread}": "sound", f"{CASES[1]} thread 99999": "unreadable_dump"})

    def test_two_of_one_name(self):
        (self.stacks / f"{CASES[0]}.log").write_text(self.texts[CASES[0]], encoding="ascii")
        self.assertIn(CASES[0], self.judge(exit_code=3).stderr)

    def test_folders_below(self):
        for folder in (self.dumps, self.stacks):
            (folder / "a").mkdir()
            for file in list(folder.iterdir()):
                if file.is_file():
                    file.rename(folder / "a" / file.name)
        self.assertEqual(self.verdicts(), {f"a/{name}": "sound" for name in CASES})

    def test_a_missing_image_is_said_first_and_judges_nothing(self):
        self.damage(CASES[2], lambda lines: lines[::-1])
        said = self.judge(symbols=[], exit_code=3).stdout.splitlines()
        self.assertEqual(said[:2], ["stacks: 0 of 4 judged: 0 sound, 0 wrong", "4 not judged"])
        self.assertRegex("\n".join(said), rf"\n +4 {IMAGE} +image +FEE28C9252a000 +no\n")
        self.assertEqual(set(self.verdicts(symbols=[], exit_code=3).values()), {"not_judged"})

    def test_a_symbol_file_of_no_module_is_said(self):
        other = e2e.ROOT / "corpus/crash-x86/crash.pdb"
        image = e2e.ROOT / "corpus/symbols" / IMAGE
        for named, unused in [([], []), ([image], []), ([other], [other]), ([image, other], [other])]:
            with self.subTest([path.name for path in named]):
                words = [*SYMBOLS, *(word for path in named for word in ("--symbols", path))]
                self.assertEqual(json.loads(self.judge("--json", symbols=words).stdout)["unused"], list(map(str, unused)))
                said = " ".join(self.judge(symbols=words).stdout.split())
                self.assertEqual("of no module in any dump, by name and identity: " in said, bool(unused))

    def test_an_unreadable_dump(self):
        (self.dumps / f"{CASES[1]}.dmp").write_bytes(b"MDMP, or not")
        row = self.rows(exit_code=3)[CASES[1]]
        self.assertEqual(row["verdict"], "unreadable_dump")
        self.assertIn(f"{CASES[1]}.dmp", row["words"])

    def test_junit(self):
        self.damage(CASES[2], lambda lines: lines[::-1])
        (self.stacks / f"{CASES[3]}.txt").unlink()
        path = self.folder / "out.xml"
        self.judge("--junit", path, "--name", "a<b", exit_code=1)
        suites = xml.etree.ElementTree.parse(path).getroot()
        self.assertEqual((suites.get("tests"), suites.get("failures"), suites.get("skipped")), ("4", "2", "0"))
        found = {test.get("name"): [(child.tag, child.get("type")) for child in test] for test in suites.iter("testcase")}
        self.assertEqual(found, {CASES[0]: [], CASES[1]: [], CASES[2]: [("failure", "reversed")], CASES[3]: [("failure", None)]})
        self.assertEqual({test.get("classname") for test in suites.iter("testcase")}, {"a<b"})
        self.judge("--junit", self.folder / "none/out.xml", exit_code=3)

    def test_the_first_screen_is_short(self):
        for number in range(60):
            for name in CASES[:2]:
                shutil.copy(self.dumps / f"{name}.dmp", self.dumps / f"{name}{number}.dmp")
                lines = self.texts[name].splitlines()
                shifted = [f"{IMAGE}!0x{int(line.rsplit('!', 1)[1], 16) + 16 * number + 16:x}" if IMAGE in line else line
                           for line in lines]
                (self.stacks / f"{name}{number}.txt").write_text("\n".join(shifted) + "\n", encoding="ascii")
        said = self.judge(exit_code=1).stdout.splitlines()
        self.assertLessEqual(len(said), 40, said)
        self.assertRegex("\n".join(said), r"and \d+ more pairs, listed by --details")

    def run_of(self, db, run="latest"):
        return {c["scenario"]: c for c in self.run_json("report", run, "--db", db, "--json", "--exit-zero")["cases"]}

    def test_the_pairs_become_a_run(self):
        """What the first screen says is what the database has, for `report`, `compare` and `gate`."""
        db = self.folder / "pairs.db"
        self.assertIn(f"stored as run 1 in {db}", self.judge("--db", db, "--name", "acme").stderr)
        self.assertEqual({name: c["verdict"] for name, c in self.run_of(db).items()}, dict.fromkeys(CASES, "PASS"))
        self.run_twinstack("baseline", "set", "1", "--db", db)
        self.damage(CASES[2], lambda lines: lines[::-1])
        self.damage(CASES[3], lambda lines: lines[:32])
        (self.stacks / f"{CASES[1]}.txt").write_text("", encoding="ascii")
        self.judge("--db", db, "--name", "acme", exit_code=1)
        cases = self.run_of(db, "2")
        for name, verdict, reason, cause in [
                (CASES[0], "PASS", None, None),
                (CASES[1], "FAIL", "capture failed: the stack is empty", "not_captured"),
                (CASES[2], "FAIL", "the frames are in reverse order (writer)", "record_wrong"),
                (CASES[3], "FAIL", "the stack ends too early: at a limit of 32 frames (walker)", "truncated")]:
            with self.subTest(name):
                found = cases[name]
                self.assertEqual((found["verdict"], found["reason"], [f["cause"] for f in found["findings"]]),
                                 (verdict, reason, [cause] if cause else []))
                self.assertEqual([e["engine"] for e in found["engines"]], ["dump", "acme"])
        said = self.run_twinstack("report", "2", "--db", db, exit_code=1).stdout
        for part in ("FAIL   4 cases: 1 PASS, 3 FAIL", "1 case: the frames are in reverse order (writer)"):
            self.assertIn(part, said)
        for part in ("offset:rtl", "hooks saw", "nothing to judge by"):
            self.assertNotIn(part, said.replace("hooks and times", ""))
        self.assertIn("3 new", self.run_twinstack("compare", "baseline", "2", "--db", db, exit_code=1).stdout)
        self.assertIn("3 of 4 cases fail", self.run_twinstack("gate", "--db", db, exit_code=1).stdout)

    def test_what_was_not_judged_is_no_pass(self):
        db = self.folder / "pairs.db"
        (self.dumps / f"{CASES[1]}.dmp").write_bytes(b"MDMP, or not")
        (self.stacks / "alone.txt").write_text("app.exe!0x10\n", encoding="ascii")
        self.judge("--db", db, symbols=[], exit_code=3)
        got = {name: (c["verdict"], c["reason"]) for name, c in self.run_of(db).items()}
        self.assertEqual(got[CASES[0]], ("UNSUPPORTED", f"the image of {IMAGE} is missing"))
        self.assertEqual(got[CASES[1]][0], "ERROR")
        self.assertEqual(got["alone"], ("UNSUPPORTED", "there is no dump to compare with"))
        facts = self.run_json("report", "--db", db, "--json", "--exit-zero")["run"]["environment"]
        self.assertIn({"name": f"missing image {IMAGE}", "version": "FEE28C9252a000, of 3 pairs"}, facts)

    def test_sealed_cases(self):
        """Each can be checked by itself, wherever it is taken; labels in one file and lines that are no frames too."""
        out = self.folder / "out"
        path = self.folder / "all.txt"
        path.write_text("".join(f"> {name}\nit broke\n{self.texts[name]}" for name in CASES), encoding="ascii")
        self.judge("--out", out, stacks=path)
        folders = sorted(out.iterdir())
        self.assertEqual([f.name for f in folders], [f"{name.replace('.', '_')}.imported" for name in CASES])
        for folder in folders:
            with self.subTest(folder.name):
                self.assertEqual({f.name for f in folder.iterdir()}, {"case.json", "seal", "dump.dmp", "record.rec"})
                self.run_twinstack("check", folder, *SYMBOLS)
                stack = self.run_json("resolve", "--json", folder / "record.rec")["frames"]
                name = CASES[folders.index(folder)]
                self.assertEqual([f"{f['module']}!{f['offset']}" for f in stack if f["inline_depth"] == 0], self.texts[name].split())

    def test_sealed_cases_of_similar_names(self):
        out = self.folder / "out"
        path = self.folder / "all.txt"
        names = ["a.b", "a_b", "a_b-2"]
        path.write_text("".join(f"> {name}\n{self.texts[CASES[0]]}" for name in names), encoding="ascii")
        for name in names:
            shutil.copy(self.dumps / f"{CASES[0]}.dmp", self.dumps / f"{name}.dmp")
        for name in CASES:
            (self.dumps / f"{name}.dmp").unlink()
        self.judge("--out", out, stacks=path)
        self.assertEqual(sorted(f.name for f in out.iterdir()),
                         ["a_b-2-2.imported", "a_b-2.imported", "a_b.imported"])

    def test_one_file_of_pages(self):
        page = self.folder / "pairs.html"
        self.damage(CASES[2], lambda lines: lines[::-1])
        before = set(pathlib.Path(tempfile.gettempdir()).glob("twinstack-reporter-*"))
        self.judge("--html", page, exit_code=1)
        self.assertIn("<title>twinstack</title>", page.read_text(encoding="utf-8")[:1000])  # what it shows: test_web_reporter
        self.assertEqual(set(pathlib.Path(tempfile.gettempdir()).glob("twinstack-reporter-*")), before)
        self.judge("--html", self.folder / "none/pairs.html", exit_code=3)
        self.judge("--db", self.folder / "none/pairs.db", exit_code=4)

    def test_usage(self):
        rows = [("--dumps", self.dumps), ("--dumps", self.dumps, "--stacks"), ("--dumps", self.dumps, "--stacks", "a", "b"),
                ("--dumps", self.dumps, self.stacks), ("--dumps", self.dumps, "--stacks", self.stacks, "--level", "line"),
                ("--stacks", "a", "b", "--details"), ("--stacks", "a", "b", "--junit", "x"),
                ("--stacks", "a", "b", "--html", "x"), ("--stacks", "a", "b", "--out", "x"), ("--stacks", "a", "b", "--db", "x"), ("--pairs", "x", "a")]
        for words in rows:
            with self.subTest(words):
                self.run_twinstack("check", *words, exit_code=2)
        self.run_twinstack("check", "--dumps", self.folder / "none", "--stacks", self.stacks, exit_code=3)
        self.run_twinstack("check", "--dumps", self.dumps, "--stacks", self.folder / "none", exit_code=3)
        empty = self.folder / "empty"
        empty.mkdir()
        self.run_twinstack("check", "--dumps", empty, "--stacks", empty, exit_code=5)


e2e.main()
