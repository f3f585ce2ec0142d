"""`twinstack suite make`: a walk at every instruction becomes an edition of the reference suite that the schema, the reader in Python and
`twinstack score` know. The image is made anew of what corpus/steps/ob2.rec has of it.

Only this finds a moment whose witness is ours, a number that does not add up, or a suite that is half there."""

import hashlib
import json
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

REFERENCE = e2e.ROOT / "corpus/reference"
RECORD = e2e.ROOT / "corpus/steps/ob2.rec"
NAME, MODULES, MEMORY, STEPS = "steps-ob2.exe", 1, 17, 16
FRAME_POINTER, AS_TRUTH = 5, 1
OURS = ("ours", "framepointer", "twinstack")


def sections(data):
    at, end = 128, struct.unpack_from("<Q", data, 72)[0]
    while at < end:
        kind, size, count, _ = struct.unpack_from("<4I", data, at)
        yield kind, count, at + 16
        at += size


def module(data):
    """(time stamp, base, size) of the program."""
    for kind, count, at in sections(data):
        for _ in range(count if kind == MODULES else 0):
            size, stamp, base, image = struct.unpack_from("<IIQQ", data, at)
            length, = struct.unpack_from("<H", data, at + 60)
            if data[at + 64:at + 64 + length].decode().endswith(NAME):
                return stamp, base, image
            at += size
    raise AssertionError(f"{NAME} is not in the record")


def image(data):
    """A PE file with the identity of the program, and the bytes of it that the record has."""
    stamp, base, size = module(data)
    memory = bytearray(size)
    for kind, count, at in sections(data):
        for _ in range(count if kind == MEMORY else 0):
            entry, length, va = struct.unpack_from("<IIQ", data, at)
            if base <= va < base + size:
                memory[va - base:va - base + length] = data[at + 16:at + 16 + length]
            at += entry
    pe = struct.unpack_from("<I", memory, 60)[0] or 0x80
    memory[:2] = b"MZ"
    struct.pack_into("<I", memory, 60, pe)
    struct.pack_into("<4sHHIIIHH", memory, pe, b"PE\0\0", 0x8664, 1, stamp, 0, 0, 240, 0x22)
    struct.pack_into("<H", memory, pe + 24, 0x20B)
    struct.pack_into("<QII", memory, pe + 48, base, 0x1000, 0x200)
    struct.pack_into("<II", memory, pe + 80, size, 0x1000)
    struct.pack_into("<I", memory, pe + 132, 16)
    struct.pack_into("<8sIIII", memory, pe + 264, b".all", size - 0x1000, 0x1000, size - 0x1000, 0x1000)
    return bytes(memory)


def walks(data):
    """[the place of each walk] per step: a byte with the walker's number; the fourth one says whether it is as the truth."""
    for kind, count, at in sections(data):
        entry = at + 16
        for _ in range(count if kind == STEPS else 0):
            size, changed, _, callers, runs, walkers = struct.unpack_from("<IIHHHH", data, entry)
            place, found = entry + 16 + 8 * changed.bit_count() + 16 * callers, []
            for _ in range(runs):
                place += 16 + 8 * struct.unpack_from("<I", data, place + 8)[0]
            for _ in range(walkers):
                found.append(place)
                place += 8 + (0 if data[place + 3] & AS_TRUTH else 8 * struct.unpack_from("<I", data, place + 4)[0])
            assert place == entry + size, (place, entry, size)
            yield found
            entry += size


class Make(e2e.Case):
    def setUp(self):
        super().setUp()
        self.source = self.folder / "walks"
        self.source.mkdir()
        (self.source / "ob2.rec").write_bytes(RECORD.read_bytes())
        (self.source / NAME).write_bytes(image(RECORD.read_bytes()))

    def make(self, out, *more, exit_code=0):
        return self.run_twinstack("suite", "make", "--from", self.source, "--out", self.folder / out, "--edition", "2026.11-large", "--licence", "MIT", *more,
                                  exit_code=exit_code)

    def index(self, out):
        return json.loads((self.folder / out / "suite.json").read_text(encoding="utf-8"))

    def cases(self, out, name="moments/ob2.ndjson"):
        return [json.loads(line) for line in (self.folder / out / name).read_text(encoding="utf-8").splitlines()]

    def files(self, out):
        return {path.relative_to(self.folder / out).as_posix(): path.read_bytes() for path in (self.folder / out).rglob("*") if path.is_file()}

    def test_each_instruction_becomes_a_moment(self):
        import jsonschema  # pylint: disable=import-outside-toplevel
        numbers = [int(word) for word in self.make("large").stdout.replace(":", " ").replace(";", " ").split() if word.isdigit()]
        cases = self.cases("large")
        moments, must, files, before, steps, *left_out = numbers
        self.assertEqual((moments, files, before, steps), (len(cases), 1, 0, 1398))
        self.assertEqual(moments + sum(left_out), steps)
        self.assertGreater(moments, 1000)
        self.assertEqual(must, sum(case["truth"]["level"] == "must" for case in cases))
        schema = json.loads((REFERENCE / "schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator({"$ref": "#/$defs/suite", "$defs": schema["$defs"]}).validate(self.index("large"))
        for case in cases[::20]:
            jsonschema.Draft202012Validator(schema).validate(case)
        self.assertEqual(len({case["id"] for case in cases}), len(cases))
        states = [json.dumps(case["truth"].get("frames") or case["truth"]["accepted"][0]) for case in cases]
        self.assertGreater(len(set(states)), len(states) * 0.9)
        subprocess.run([sys.executable, REFERENCE / "read.py", self.folder / "large"], check=True, capture_output=True)
        self.make("again")
        self.assertEqual(self.files("again"), self.files("large"))

    def test_what_the_witnesses_of_a_must_are(self):
        self.make("large")
        _, base, size = module(RECORD.read_bytes())
        for case in self.cases("large"):
            given, walk = case["given"], case["truth"].get("frames") or case["truth"]["accepted"][0]
            self.assertEqual(walk[0], {"ip": given["registers"]["rip"], "sp": given["registers"]["rsp"]}, case["id"])
            self.assertGreater(len(walk), 1, case["id"])
            self.assertTrue(all(base <= int(frame["ip"], 16) < base + size for frame in walk), case["id"])
            self.assertEqual([word for word in case["known_by"] if word.startswith(OURS)], [], case["id"])
            self.assertEqual(case["truth"]["level"] == "must", len(case["known_by"]) > 1, case["id"])

    def test_our_chain_of_frame_pointers_makes_no_must(self):
        """In this record it is never the only walk that is right; where it is, the moment is no must."""
        data = bytearray(RECORD.read_bytes())
        steps = list(walks(data))
        self.assertEqual(len(steps), 1398)
        right = [{data[place] for place in step if data[place + 3] & AS_TRUTH} for step in steps]
        self.assertEqual(sum(walkers == {FRAME_POINTER} for walkers in right), 0)
        for place in (place for step in steps for place in step):
            data[place] = FRAME_POINTER
        (self.source / "ob2.rec").write_bytes(data)
        self.make("large")
        self.assertEqual({(case["truth"]["level"], *case["known_by"]) for case in self.cases("large")}, {("may", "executed: calls and returns were counted")})

    def test_it_is_asked_as_any_suite_is(self):
        self.make("large")
        done = self.run_twinstack("score", "--cmd", f"{REFERENCE / 'adapters/ours.py'} {e2e.PROGRAM}", "--suite", self.folder / "large", "-k", "/ob2/0012", "--json",
                                  "--no-cache")
        self.assertEqual(len(json.loads(done.stdout)["cases"]["right"]), 10)

    def test_it_starts_from_another_suite(self):
        base = self.folder / "base"
        (base / "images").mkdir(parents=True)
        case = json.loads((REFERENCE / "moments/x64-push.ndjson").read_text(encoding="utf-8").splitlines()[0])
        row = next(row for row in json.loads((REFERENCE / "suite.json").read_text(encoding="utf-8"))["files"] if row["path"] == "images/x64-push.dll")
        (base / row["path"]).write_bytes((REFERENCE / row["path"]).read_bytes())
        (base / "one.ndjson").write_text(json.dumps(case) + "\n", encoding="utf-8")
        retired = [{"id": "moments/old", "reason": "wrong", "successor": None}]
        (base / "suite.json").write_text(json.dumps({"suite": 1, "edition": "1", "lists": ["one.ndjson"], "retired": retired, "files": [row]}), encoding="utf-8")
        self.assertIn("; 1 cases from before", self.make("large", "--suite", base).stdout)
        index = self.index("large")
        self.assertEqual((list(index), index["edition"], index["lists"], index["retired"], [file["path"] for file in index["files"]]),
                         (["suite", "edition", "lists", "retired", "files"], "2026.11-large", ["one.ndjson", "moments/ob2.ndjson"], retired,
                          ["images/x64-push.dll", f"images/{NAME}"]))
        subprocess.run([sys.executable, REFERENCE / "read.py", self.folder / "large"], check=True, capture_output=True)
        (base / f"images/{NAME}").write_bytes(b"MZ")
        other = {**row, "path": f"images/{NAME}", "sha256": hashlib.sha256(b"MZ").hexdigest()}
        (base / "suite.json").write_text(json.dumps({"suite": 1, "edition": "1", "lists": [], "retired": [], "files": [other]}), encoding="utf-8")
        self.assertIn("another file of that name", self.make("other", "--suite", base, exit_code=2).stderr)
        (base / f"images/{NAME}").write_bytes(b"MZP")
        self.assertIn("hash", self.make("changed", "--suite", base, exit_code=3).stderr)

    def test_what_cannot_be_made_leaves_no_suite(self):
        self.make("large")
        before = self.files("large")
        self.assertIn("there is one already", self.make("large", exit_code=2).stderr)
        self.assertEqual(self.files("large"), before)
        whole = (self.source / "ob2.rec").read_bytes()
        rows = (("no walk", lambda: (self.source / "ob2.rec").unlink(), 5, "no file of steps"), ("no record", lambda: (self.source / "ob2.rec").write_bytes(b"x" * 500), 3, "ob2.rec"),
                ("half of one", lambda: (self.source / "ob2.rec").write_bytes(whole[:len(whole) // 2]), 3, "ob2.rec"))
        for name, change, code, words in rows:
            with self.subTest(name=name):
                change()
                self.assertIn(words, self.make(name.replace(" ", "-"), exit_code=code).stderr)
                self.assertFalse((self.folder / name.replace(" ", "-") / "suite.json").exists())
        (self.source / "ob2.rec").write_bytes(whole)
        (self.source / NAME).unlink()
        self.assertIn("1398 in an image that is not there", self.make("none", exit_code=5).stdout)
        for missing in ("--from", "--out", "--edition", "--licence"):
            with self.subTest(missing=missing):
                words = {"--from": self.source, "--out": self.folder / "new", "--edition": "1", "--licence": "MIT"}
                del words[missing]
                self.assertIn(missing, self.run_twinstack("suite", "make", *(word for pair in words.items() for word in pair), exit_code=2).stderr)


if __name__ == "__main__":
    e2e.main()
