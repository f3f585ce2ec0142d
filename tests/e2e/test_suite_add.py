"""`twinstack suite add`: a draft becomes a case that the schema, the reader in Python and `twinstack score` know, or is refused with
everything that it lacks, and nothing is written."""

import copy
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

REFERENCE = e2e.ROOT / "corpus/reference"
LIST = "addresses/added.ndjson"
FRAME = {"function": "callee", "file": ["/suite/shapes.c"], "line": 8, "inlined": False}
DRAFT = {
    "id": "addresses/x64/plain/issue-1", "kind": "address", "processor": "x64", "shape": "plain", "position": "row", "issues": ["a/b#1"],
    "rule": {"kind": "thread", "name": "a line of a function is that of its row", "address": "https://example.org/1"},
    "capability": "addresses.pdb", "licence": "MIT",
    "given": {"image": "in/clang19-pdb-o2.dll", "symbols": "in/clang19-pdb-o2.pdb", "rva": "0x1002", "lookup": "interrupted"},
    "truth": {"level": "must", "frames": [FRAME], "whole": True}, "known_by": ["llvm-symbolizer 19.1.7", "Microsoft's DIA 14.51"],
}
FIRST = next(case for case in map(json.loads, (REFERENCE / "moments/x64-push.ndjson").read_text(encoding="utf-8").splitlines())
             if case["truth"]["level"] == "must")
MOMENT = {
    **{key: FIRST[key] for key in ("kind", "processor", "capability", "truth", "rule", "shape", "position")}, "id": "moments/x64/push/issue-1",
    "licence": "MIT", "known_by": ["executed", "the page"],
    "given": {**FIRST["given"], "modules": [{**FIRST["given"]["modules"][0], "path": "in/x64-push.dll"}]},
}
ANSWERS = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"name": "t", "version": "1", "can": ["addresses.pdb"]} if "hello" in asked else
                     {"id": asked["id"], "frames": [{"function": sys.argv[1], "file": "shapes.c", "line": 8, "inlined": False}]}), flush=True)
"""


def changed(_of=None, **members):
    """The draft with other members; None: without it."""
    draft = copy.deepcopy(_of or DRAFT)
    for name, value in members.items():
        if value is None:
            del draft[name]
        else:
            draft[name] = {**draft[name], **value} if name in ("given", "truth", "rule") else value
    return draft


class Add(e2e.Case):
    def setUp(self):
        super().setUp()
        self.suite = self.folder / "suite"
        (self.suite / "programs").mkdir(parents=True)
        self.index = {"suite": 1, "edition": "1", "lists": [], "retired": [{"id": "addresses/old", "reason": "wrong", "successor": None}], "files": []}
        (self.suite / "suite.json").write_text(json.dumps(self.index, indent=1) + "\n", encoding="utf-8")
        (self.folder / "in").mkdir()
        for end in ("dll", "pdb"):
            (self.folder / f"in/clang19-pdb-o2.{end}").write_bytes((REFERENCE / f"programs/clang19-pdb-o2.{end}").read_bytes())
        (self.folder / "in/x64-push.dll").write_bytes((REFERENCE / "images/x64-push.dll").read_bytes())

    def add(self, draft, *more, exit_code=0):
        file = self.folder / "draft.json"
        file.write_text(draft if isinstance(draft, str) else json.dumps(draft), encoding="utf-8")
        return self.run_twinstack("suite", "add", "--suite", self.suite, file, *more, exit_code=exit_code)

    def state(self):
        return {path.relative_to(self.suite).as_posix(): path.read_bytes() for path in sorted(self.suite.rglob("*")) if path.is_file()}

    def cases(self):
        return [json.loads(line) for line in (self.suite / LIST).read_text(encoding="utf-8").splitlines()]

    def test_a_draft_becomes_a_case_that_everything_knows(self):
        import jsonschema  # pylint: disable=import-outside-toplevel
        self.assertIn("2 files copied", self.add(DRAFT).stdout)
        self.assertIn("0 files copied", self.add(changed(id="addresses/x64/plain/issue-2", issues=None), "--edition", "2").stdout)
        schema = json.loads((REFERENCE / "schema.json").read_text(encoding="utf-8"))
        for case in self.cases():
            jsonschema.Draft202012Validator(schema).validate(case)
        self.assertEqual([case["id"][-1] for case in self.cases()], ["1", "2"])
        self.assertEqual(self.cases()[0]["truth"]["frames"][0]["function"], ["callee"])
        text = (self.suite / "suite.json").read_text(encoding="utf-8")
        index = json.loads(text)
        jsonschema.Draft202012Validator({"$ref": "#/$defs/suite", "$defs": schema["$defs"]}).validate(index)
        self.assertEqual(text, json.dumps(index, indent=1) + "\n")  # as the generator writes it
        self.assertEqual((index["edition"], index["lists"], len(index["files"])), ("2", [LIST], 2))
        subprocess.run([sys.executable, REFERENCE / "read.py", self.suite], check=True, capture_output=True)
        tool = self.folder / "tool.py"
        tool.write_text(ANSWERS, encoding="utf-8")
        for name, function, outcome in (("the truth", "callee", "right"), ("another function", "caller", "wrong")):
            with self.subTest(name=name):
                done = self.run_twinstack("score", "--cmd", f"{sys.executable} {tool} {function}", "--suite", self.suite, "--json")
                self.assertEqual(json.loads(done.stdout)["cases"][outcome], [case["id"] for case in self.cases()])

    def test_a_moment_becomes_a_case_that_is_asked(self):
        import jsonschema  # pylint: disable=import-outside-toplevel
        self.assertIn("moments/added.ndjson; 1 file copied", self.add(MOMENT).stdout)
        self.assertIn("0 files copied", self.add(changed(MOMENT, id="moments/x64/push/issue-2")).stdout)
        cases = [json.loads(line) for line in (self.suite / "moments/added.ndjson").read_text(encoding="utf-8").splitlines()]
        schema = json.loads((REFERENCE / "schema.json").read_text(encoding="utf-8"))
        for case in cases:
            jsonschema.Draft202012Validator(schema).validate(case)
            self.assertEqual((case["given"], case["truth"]), (FIRST["given"], FIRST["truth"]))
        done = self.run_twinstack("score", "--cmd", f"{REFERENCE / 'adapters/ours.py'} {e2e.PROGRAM}", "--suite", self.suite, "--json")
        self.assertEqual(json.loads(done.stdout)["cases"]["right"], [case["id"] for case in cases])

    def test_a_step_becomes_a_case(self):
        """Of a recorded walk at every instruction: what is left out is listed, and with it the case is there. The image is beside the draft."""
        done = self.run_twinstack("steps", e2e.ROOT / "corpus/steps/ob2.rec", "--moment", "700")
        draft = json.loads(done.stdout)
        self.assertEqual([line.split('"')[1] for line in self.add(draft, exit_code=3).stderr.splitlines() if "it needs" in line],
                         ["id", "processor", "rule", "licence"])  # the second with shape and position
        self.assertEqual((draft["truth"]["level"], len(draft["truth"]["frames"]), draft["truth"]["frames"][0]["ip"]), ("must", 4, draft["given"]["registers"]["rip"]))
        self.assertLess(sum(len(part["bytes"]) // 2 for part in draft["given"]["stack"]), 200)  # of 524,944: what the walk reads
        (self.folder / "steps-ob2.exe").write_bytes(b"MZ")
        more = {"id": "moments/x64/alloc-large/steps-700", "shape": "alloc-large", "position": "epilogue", "rule": MOMENT["rule"], "licence": "MIT"}
        self.assertIn("1 file copied", self.add({**draft, **more}).stdout)
        again = json.loads(self.run_twinstack("steps", e2e.ROOT / "corpus/steps/ob2.rec", "--moment", "1123").stdout)
        self.assertNotIn("rtl", again["known_by"])  # which is wrong there
        for words, code in ((("--moment", "1398"), 3), (("--moment", "x"), 2), (("--moment", "1", "other.rec"), 2)):
            with self.subTest(words=words):
                self.run_twinstack("steps", e2e.ROOT / "corpus/steps/ob2.rec", *words, exit_code=code)

    def test_what_a_moment_lacks_is_listed(self):
        given, truth = MOMENT["given"], MOMENT["truth"]
        frames = truth["frames"]
        rows = (
            ("of an address", changed(MOMENT, id="addresses/x64/a/b"), ['"id"']), ("of another processor", changed(MOMENT, capability="moments.arm64"), ['"capability"']),
            ("no module", changed(MOMENT, given={"modules": []}), ['"given"', '"truth"']),
            ("a module without a file", changed(MOMENT, given={"modules": [{**given["modules"][0], "path": None}]}), ['"given"']),
            ("no stack", changed(MOMENT, given={"stack": []}), ['"given"']),
            ("half a byte", changed(MOMENT, given={"stack": [{"at": "0x10", "bytes": "abc"}]}), ['"given"']),
            ("no stack pointer", changed(MOMENT, given={"registers": {"rip": given["registers"]["rip"]}}), ['"given"', '"truth"']),
            ("a register in decimal", changed(MOMENT, given={"registers": {**given["registers"], "rax": "12"}}), ['"given"']),
            ("without the first frame", changed(MOMENT, truth={"frames": frames[1:]}), ['"truth"']),
            ("a frame outside of the images", changed(MOMENT, truth={"frames": [*frames, {"ip": "0x10", "sp": "0x20"}]}), ['"truth"']),
            ("a frame without a stack pointer", changed(MOMENT, truth={"frames": [*frames, {"ip": frames[0]["ip"]}]}), ['"truth"']),
            ("no frames that are accepted", {**MOMENT, "truth": {"level": "may", "accepted": [[]]}}, ['"truth"']),
            ("names", changed(MOMENT, truth={"frames": [FRAME]}), ['"truth"']), ("arm", changed(MOMENT, processor="arm", capability="moments.arm"), ['"given"', '"truth"']),
        )
        for name, draft, words in rows:
            with self.subTest(name=name):
                lines = [line for line in self.add(draft, exit_code=3).stderr.splitlines() if "it needs" in line]
                self.assertEqual([f'"{line.split(chr(34))[1]}"' for line in lines], words)

    def test_a_draft_has_at_most_a_mebibyte(self):
        text = json.dumps(DRAFT)
        for name, size, status in (("one byte more", (1 << 20) + 1, 3), ("a mebibyte", 1 << 20, 0)):
            with self.subTest(name=name):
                before = self.state()
                self.add(text + " " * (size - len(text.encode())), exit_code=status)
                self.assertEqual(self.state() == before, status != 0)

    def test_the_draft_of_the_recipe_is_accepted(self):
        text = (e2e.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        draft = re.search(r"(?s)\n## A wrong name .*?```json\n(.*?)```", text)[1]
        for end in ("dll", "pdb"):
            (self.folder / f"mine.{end}").write_bytes((REFERENCE / f"programs/clang19-pdb-o2.{end}").read_bytes())
        self.add(draft)
        self.assertEqual([case["given"]["image"] for case in self.cases()], ["programs/mine.dll"])

    def test_what_a_draft_lacks_is_listed_and_nothing_is_written(self):
        before = self.state()
        rows = (
            ("no truth", changed(truth=None), ['"truth"']), ("no rule", changed(rule=None), ['"rule"']),
            ("no licence", changed(licence=None), ['"licence"']), ("a truth without frames", changed(truth={"frames": []}), ['"truth"']),
            ("frames that accept all", changed(truth={"frames": [dict.fromkeys(FRAME)]}), ['"truth"']),
            ("a frame without a line", changed(truth={"frames": [{"function": "f", "file": None, "inlined": None}]}), ['"truth"']),
            ("another level", changed(truth={"level": "sure"}), ['"truth"']), ("a rule of another kind", changed(rule={"kind": "mine"}), ['"rule"']),
            ("a rule that links a script", changed(rule={"address": "javascript:alert(1)"}), ['"rule"']),
            ("one witness", changed(known_by=["a"]), ['"known_by"']), ("a witness twice", changed(known_by=["a", "a"]), ['"known_by"']),
            ("ours as a witness", changed(known_by=["a", "twinstack 1"]), ['"known_by"']),
            ("an id with capitals", changed(id="addresses/X"), ['"id"']), ("an id of a moment", changed(id="moments/x"), ['"id"']),
            ("an id with an empty part", changed(id="addresses/x//y"), ['"id"']), ("a dump", changed(kind="dump"), ['"kind"']),
            ("an rva in decimal", changed(given={"rva": "4098"}), ['"given"']), ("another lookup", changed(given={"lookup": "x"}), ['"given"']),
            ("no processor", changed(processor=None), ['"processor"']), ("another capability", changed(capability="moments.x64"), ['"capability"']),
            ("nothing", {}, ['"kind"', '"id"', '"processor"', '"given"', '"capability"', '"truth"', '"rule"', '"known_by"', '"licence"']),
        )
        for name, draft, words in rows:
            with self.subTest(name=name):
                lines = [line for line in self.add(draft, exit_code=3).stderr.splitlines() if "it needs" in line]
                self.assertEqual(len(lines), len(words), lines)
                for line, word in zip(lines, words):
                    self.assertIn(f"it needs {word}", line)
                self.assertEqual(self.state(), before)

    def test_what_does_not_fit_the_suite_is_refused(self):
        self.add(DRAFT)
        before = self.state()
        (self.folder / "other").mkdir()
        for name, size in (("clang19-pdb-o2.dll", 100), ("large.dll", (2 << 20) + 1), ("a b.dll", 100), ("a..dll", 100)):
            (self.folder / "other" / name).write_bytes(b"M" * size)
        new = "addresses/x64/plain/issue-3"
        rows = (
            ("an id that is in use", DRAFT, 2, "never used again"), ("a retired id", changed(id="addresses/old"), 2, "never used again"),
            ("another file of that name", changed(id=new, given={"image": "other/clang19-pdb-o2.dll"}), 2, "a new name"),
            ("a file above 2 MiB", changed(id=new, given={"image": "other/large.dll"}), 3, "2 MiB"),
            ("a name with a blank", changed(id=new, given={"image": "other/a b.dll"}), 3, "other characters"),
            ("a name with two dots", changed(id=new, given={"image": "other/a..dll"}), 3, "other characters"),
            ("a file that is missing", changed(id=new, given={"image": "other/none.dll"}), 3, "none.dll"),
            ("a member with a wrong letter", {**changed(id=new), "isues": []}, 3, "isues"),
            ("a line that is a text", changed(id=new, truth={"frames": [{**FRAME, "line": "8"}]}), 3, "line"),
            ("no object", "[]", 3, "draft.json"), ("no JSON", "<", 3, "draft.json"),
        )
        for name, draft, code, words in rows:
            with self.subTest(name=name):
                self.assertIn(words, self.add(draft, exit_code=code).stderr)
                self.assertEqual(self.state(), before)
        self.assertIn("--suite", self.run_twinstack("suite", "add", self.folder / "draft.json", exit_code=2).stderr)
        self.assertIn("suite.json", self.run_twinstack("suite", "add", "--suite", self.folder, self.folder / "draft.json", exit_code=3).stderr)

    def test_what_an_interrupted_addition_left_is_no_obstacle(self):
        self.add(DRAFT)
        whole = self.state()
        (self.suite / "suite.json").write_text(json.dumps(self.index, indent=1) + "\n", encoding="utf-8")  # the last that is written
        self.add(DRAFT)
        self.assertEqual(self.state(), whole)
        (self.suite / LIST).write_text("", encoding="utf-8")  # the last of a list that suite.json names
        self.add(DRAFT)
        self.assertEqual(self.state(), whole)


if __name__ == "__main__":
    e2e.main()
