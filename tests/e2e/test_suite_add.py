"""`twinstack suite add`: a draft becomes a case that the schema, the reader in Python and `twinstack score` know, or is refused with
everything that it lacks, and nothing is written."""

import copy
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "corpus/reference/adapters"))
import dump_of_moments as layout  # noqa: E402
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
DUMPS = {case["id"]: case for case in map(json.loads, (REFERENCE / "dumps/x64.ndjson").read_text(encoding="utf-8").splitlines())}
SECRET = b"a-secret"
PATH = "C:\\Users\\someone\\mine\\"
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


def threads_of(form):
    """The cases of one dump of the suite as the draft of all its threads."""
    cases = [case for name, case in DUMPS.items() if name.startswith(f"dumps/x64/{form}/0/")]
    return {**{key: cases[0][key] for key in ("kind", "processor", "capability", "rule", "shape", "known_by")}, "position": "other",
            "id": f"dumps/x64/{form}/issue-1", "licence": "MIT", "given": {**{key: cases[0]["given"][key] for key in ("dump", "symbols")}},
            "threads": [{"thread": case["given"]["thread"], "position": case["position"], "truth": case["truth"]} for case in cases]}


def with_secrets(case):
    """A dump of a moment whose locals, comment, module's folder, vector registers and second thread have what no walk reads."""
    given = copy.deepcopy(case["given"])
    part, = given["stack"]
    stack, at = bytearray.fromhex(part["bytes"]), int(given["registers"]["rsp"], 16) - int(part["at"], 16)
    stack[at + 8:at + 8 + len(SECRET)] = SECRET
    file, image = layout.File(), REFERENCE / given["modules"][0]["path"]
    stamp, size, checksum, _ = layout.facts(image)
    file.stream(layout.SYSTEM, struct.pack("<HHHBBIIIIIHH24x", 9, 6, 0, 1, 1, 10, 0, 19045, 2, file.put(layout.text("")), 0, 0))
    file.stream(10, SECRET)  # a comment
    pdb = b"RSDS" + bytes(range(16)) + struct.pack("<I", 1) + (PATH + "secret\\mine.pdb").encode() + b"\0"
    rows = [(0x20000000, 0x1000, 0, 0x5EED, PATH + "unrelated.dll"), (int(given["modules"][0]["base"], 16), size, checksum, stamp, PATH + image.name)]
    packed = [struct.pack("<QIIII52xII8x16x", *row[:4], file.put(layout.text(row[4])), len(pdb), file.put(pdb)) for row in rows]
    file.stream(layout.MODULES, struct.pack("<I", len(rows)) + b"".join(packed))
    raw = bytearray(layout.context(given["registers"]))
    raw[0x1A0:0x1A0 + len(SECRET)] = SECRET  # xmm0
    other = layout.context({**given["registers"], "rbx": hex(int.from_bytes(SECRET, "little"))})
    stack_place = (int(part["at"], 16), len(stack), file.put(bytes(stack)))
    file.stream(layout.MEMORY, struct.pack("<IQII", 1, *stack_place))
    contexts = [(len(data), file.put(bytes(data))) for data in (raw, other)]
    file.stream(layout.THREADS, struct.pack("<I", 2) + b"".join(struct.pack("<IIIIQQIIII", i + 1, 0, 32, 0, 0, *stack_place, *place) for i, place in enumerate(contexts)))
    return file.whole()


class Add(e2e.Case):
    def setUp(self):
        super().setUp()
        self.make_suite("suite")
        (self.folder / "in").mkdir(exist_ok=True)
        for end in ("dll", "pdb"):
            (self.folder / f"in/clang19-pdb-o2.{end}").write_bytes((REFERENCE / f"programs/clang19-pdb-o2.{end}").read_bytes())
        (self.folder / "in/x64-push.dll").write_bytes((REFERENCE / "images/x64-push.dll").read_bytes())

    def make_suite(self, name):
        self.suite = self.folder / name
        (self.suite / "programs").mkdir(parents=True)
        self.index = {"suite": 1, "edition": "1", "lists": [], "retired": [{"id": "addresses/old", "reason": "wrong", "successor": None}], "files": []}
        (self.suite / "suite.json").write_text(json.dumps(self.index, indent=1) + "\n", encoding="utf-8")

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
                done = self.run_twinstack("score", "--cmd", f"{sys.executable} {tool} {function}", "--suite", self.suite, "--json", "--no-cache")
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
        done = self.run_twinstack("score", "--cmd", f"{REFERENCE / 'adapters/ours.py'} {e2e.PROGRAM}", "--suite", self.suite, "--json", "--no-cache")
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

    def added_dumps(self):
        return [json.loads(line) for line in (self.suite / "dumps/added.ndjson").read_text(encoding="utf-8").splitlines()]

    def put_dump(self, draft, data=None):
        """The draft with its dump and images beside it, its images flat."""
        shutil.copytree(REFERENCE / "dumps/symbols", self.folder / "in/symbols", dirs_exist_ok=True)
        (self.folder / "in/mine.dmp").write_bytes(data or (REFERENCE / draft["given"]["dump"]).read_bytes())
        return {**draft, "given": {**draft["given"], "dump": "in/mine.dmp", "symbols": draft["given"]["symbols"] and "in/symbols"}}

    def test_threads_of_a_dump_become_cases_that_are_asked(self):
        import jsonschema  # pylint: disable=import-outside-toplevel
        validator = jsonschema.Draft202012Validator(json.loads((REFERENCE / "schema.json").read_text(encoding="utf-8")))
        for form in ("threads", "exception", "overlapping", "full-memory", "images-in-memory", "stack-elsewhere", "high-ids", "unloaded", "large-context", "odd-pieces", "cut"):
            with self.subTest(form=form):
                self.make_suite(f"suite-{form}")
                draft = self.put_dump(threads_of(form))
                self.assertIn(f"{draft['id']}{f'/0 to {n - 1}' if (n := len(draft['threads'])) > 1 else ''} is in dumps/added.ndjson", (done := self.add(draft)).stdout)
                self.assertNotIn("was kept", done.stderr)
                cases = self.added_dumps()
                for case in cases:
                    validator.validate(case)
                self.assertEqual([(case["given"]["thread"], case["truth"]) for case in cases], [(one["thread"], one["truth"]) for one in draft["threads"]])
                before, after = (self.folder / "in/mine.dmp").read_bytes(), (self.suite / "dumps/mine.dmp").read_bytes()
                self.assertEqual(len(after), len(before))
                self.assertEqual([i for i, (old, new) in enumerate(zip(before, after)) if new not in (old, 0, ord("x"))], [])
                self.assertLess(sum(map(bool, after)), sum(map(bool, before)))
                subprocess.run([sys.executable, REFERENCE / "read.py", self.suite], check=True, capture_output=True)
                done = self.run_twinstack("score", "--cmd", f"{REFERENCE / 'adapters/ours.py'} {e2e.PROGRAM}", "--suite", self.suite, "--json", "--no-cache")
                self.assertEqual(json.loads(done.stdout)["cases"]["right"], [case["id"] for case in cases])

    def secret_draft(self):
        case = next(case for case in map(json.loads, (REFERENCE / "moments/x64-alloc.ndjson").read_text(encoding="utf-8").splitlines())
                    if case["position"] == "body" and case["truth"].get("whole") and len(case["given"]["stack"]) == 1
                    and int(case["truth"]["frames"][1]["sp"], 16) - int(case["truth"]["frames"][0]["sp"], 16) > 40)
        draft = {**changed(MOMENT, id="dumps/x64/threads/issue-1"), "kind": "dump", "capability": "dumps.x64", "truth": case["truth"],
                 "given": {"dump": "", "symbols": "x", "thread": 1}}
        return self.put_dump(draft, with_secrets(case)), case

    def test_what_no_walk_reads_does_not_get_into_the_suite(self):
        """Locals, comments, folders, the identity of other modules, vector registers, the registers of other threads."""
        draft, _ = self.secret_draft()
        before = (self.folder / "in/mine.dmp").read_bytes()
        words = [SECRET, *(word.encode(code) for code in ("utf-8", "utf-16-le") for word in ("someone", "unrelated", "Users", "secret"))]
        found = [word for word in words if word in before]
        self.assertEqual(len(found), 7)  # the folder "secret" and what is unrelated have one coding each
        self.assertIn("2 files copied", self.add(draft).stdout)
        after = (self.suite / "dumps/mine.dmp").read_bytes()
        self.assertEqual([word for word in words if word in after], [])
        self.assertIn("x64-alloc.dll".encode("utf-16-le"), after)
        self.assertIn(b"x:\\xxxxx\\xxxxxxx\\xxxx\\xxxxxx\\mine.pdb", after)
        self.assertEqual(after.count(bytes(range(16))), 1)  # of two modules that state that identity
        again = {**draft, "id": "dumps/x64/threads/issue-2"}
        self.assertIn("0 files copied", self.add(again).stdout)  # the same bytes again

    def test_a_stack_that_our_walk_reads_in_another_way_is_kept(self):
        draft, case = self.secret_draft()
        frames = copy.deepcopy(case["truth"]["frames"])
        frames[1]["sp"] = hex(int(frames[1]["sp"], 16) + 8)
        self.assertIn("look at it before you publish it", self.add({**draft, "truth": {"level": "must", "frames": frames}}).stderr)
        self.assertIn(SECRET, (self.suite / "dumps/mine.dmp").read_bytes())

    def test_a_dump_that_does_not_hold_its_cases_is_refused(self):
        draft, case = self.secret_draft()
        frames = case["truth"]["frames"]
        (self.folder / "in/none").mkdir()
        (self.folder / "in/text.dmp").write_text("no dump", encoding="utf-8")
        self.put_dump(draft, (self.folder / "in/mine.dmp").read_bytes())
        before = self.state()
        rows = (
            ("no truth", changed(draft, truth={"frames": []}), 'it needs "truth"'), ("no rule", changed(draft, rule=None), 'it needs "rule"'),
            ("no such thread", changed(draft, given={"thread": 9}), "thread"), ("no dump", changed(draft, given={"dump": "in/none.dmp"}), "none.dmp"),
            ("a text", changed(draft, given={"dump": "in/text.dmp"}), "text.dmp"), ("no folder", changed(draft, given={"symbols": "in/no"}), "in/no"),
            ("no image of a frame", changed(draft, given={"symbols": "in/none"}), "x64-alloc.dll"),
            ("images that are not in its memory", changed(draft, given={"symbols": None}), "in the dump's memory"),
            ("another first frame", changed(draft, truth={"frames": frames[1:]}), "not where the thread is"),
            ("a frame in no module", changed(draft, truth={"frames": [*frames, {"ip": "0x10", "sp": "0xffff0000"}]}), "in no module"),
            ("an answer that begins elsewhere", {**draft, "truth": {"level": "may", "accepted": [frames, frames[1:]]}}, "not where the thread is"),
        )
        for name, bad, words in rows:
            with self.subTest(name=name):
                self.assertIn(words, self.add(bad, exit_code=3).stderr)
                self.assertEqual(self.state(), before)

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
            ("two versions of a tool", changed(known_by=["GDB 13.1", "GDB 12.1"]), ['"known_by"']),
            ("two tools of one code", changed(known_by=["llvm-symbolizer 19.1.7", "LLDB 22.1.8"]), ['"known_by"']),
            ("an id with capitals", changed(id="addresses/X"), ['"id"']), ("an id of a moment", changed(id="moments/x"), ['"id"']),
            ("an id with an empty part", changed(id="addresses/x//y"), ['"id"']), ("a dump", changed(kind="dump"), ['"id"', '"given"', '"capability"', '"truth"']), ("another kind", changed(kind="trace"), ['"kind"']),
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
