"""The reference suite: every case has the form of schema.json and the witnesses that its README promises, and the generator
gives the same bytes. No twinstack, no Wine.

Only this finds a case of the suite whose witnesses, hashes or bytes are not what its README promises."""

import hashlib
import importlib.util
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import unittest
import unittest.mock
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

FOLDER = e2e.ROOT / "corpus/reference"
# What is made again, and whose witnesses are asked again; all of it by `./run soak suite`.
AGAIN = {"x64": ("no-return", "version-2", "version-3", "chain"), "arm64": ("packed-chain", "fragments", "no-return", "versions", "any-register")}
AGAIN_PROGRAMS = ("clang19-pdb-o2", "mingw-dwarf4", "clang19-pe-dwarf5", "clang19-macho-arm64", "msvc31-seh")
SOAK = "TWINSTACK_SOAK" in os.environ
ANSWERED = ("right", "early", "wrong", "crashed", "timeout", "garbage")
# Words of a witness, and the code that it is: two witnesses of one code are one.
WITNESSES = (("executed in an emulator", "run"), ("stated by the program", "marks"), ("the page applied by corpus/reference_page_", "page"),
             ("llvm-", "LLVM"), ("LLDB", "LLVM"), ("GDB ", "GDB"), ("addr2line of binutils", "BFD"), ("eu-addr2line of elfutils", "elfutils"),
             ("Microsoft's ", "Microsoft"), ("Wine's ", "Wine"))
READERS = ("clang-19", "lld-link-19", "ld64.lld-19", "dsymutil-19", "llvm-symbolizer-19", "x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-gdb", "x86_64-w64-mingw32-addr2line")


def suite():
    return json.loads((FOLDER / "suite.json").read_text(encoding="utf-8"))


def registers(case):
    """(ip, sp) of the thread, by a reader of its own: the context of the exception, where that is the thread's."""
    data = (FOLDER / case["given"]["dump"]).read_bytes()
    count, at = struct.unpack_from("<II", data, 8)
    streams = {kind: place for kind, _, place in (struct.unpack_from("<III", data, at + 12 * i) for i in range(count))}
    contexts = {}
    for i in range(struct.unpack_from("<I", data, streams[3])[0]):
        row = streams[3] + 4 + 48 * i
        contexts[struct.unpack_from("<I", data, row)[0]] = struct.unpack_from("<I", data, row + 44)[0]
    if 6 in streams:
        contexts[struct.unpack_from("<I", data, streams[6])[0]] = struct.unpack_from("<I", data, streams[6] + 164)[0]
    place = contexts[case["given"]["thread"]]
    ip, sp, word = {"x64": (0xF8, 0x98, "<Q"), "arm64": (0x108, 0x100, "<Q"), "x86": (0xB8, 0xC4, "<I")}[case["processor"]]
    return hex(struct.unpack_from(word, data, place + ip)[0]), hex(struct.unpack_from(word, data, place + sp)[0])


def codes(case):
    """{witness: its code, None where WITNESSES does not have it}."""
    return {witness: next((code for words, code in WITNESSES if witness.startswith(words)), None) for witness in case["known_by"]}


def faults(case):
    """Why a case may not be what it says, beyond what the schema says."""
    if any("twinstack" in witness.lower() for witness in case["known_by"]):
        yield "twinstack is its own witness"
    if None in codes(case).values():
        yield f"unknown witness: {', '.join(w for w, code in codes(case).items() if code is None)}"
    if case["truth"]["level"] == "must" and len(set(codes(case).values())) < 2:
        yield "must with fewer than two witnesses that share no code"
    if not case["id"].startswith(f"{case['kind']}{'es' if case['kind'] == 'address' else 's'}/{case['processor']}/{case['shape']}/"):
        yield "the id does not begin with kind, processor and shape"
    if case["kind"] == "dump":
        truth = case["truth"].get("frames") or case["truth"]["accepted"][0]
        if truth[0] != {"ip": (now := registers(case))[0], "sp": now[1]}:
            yield "the first frame is not where the thread was"
    if case["kind"] == "moment":
        given, pair = case["given"], {"x64": ("rip", "rsp"), "arm64": ("pc", "sp"), "x86": ("eip", "esp")}[case["processor"]]
        now = {"ip": given["registers"][pair[0]], "sp": given["registers"][pair[1]]}
        walks = [case["truth"]["frames"]] if "frames" in case["truth"] else case["truth"].get("accepted", [])
        if any(walk[0] != now for walk in walks):
            yield "the first frame is not the moment"
        images = [(int(m["base"], 16), int(m["base"], 16) + int(m["size"], 16)) for m in given["modules"]]
        if case["truth"]["level"] == "must" and any(not any(low <= int(f["ip"], 16) < high for low, high in images) for f in walks[0]):
            yield "a frame is outside the suite's images"
        least = {"x64": 8, "x86": 4}.get(case["processor"], 0)  # a call of arm64 takes no stack
        if any(int(b["sp"], 16) - int(a["sp"], 16) < least for walk in walks[:1] for a, b in zip(walk, walk[1:])):
            yield "the stack pointer does not rise"


class Page:
    """The second witness of the moments, asked again; it is a walk of Python, so it needs no tool but llvm-pdbutil-19 for x86."""

    def __init__(self):
        sys.path.insert(0, str(FOLDER.parent))
        self.pages = {processor: importlib.import_module(f"reference_page_{processor}") for processor in ("x64", "arm64", "x86")}
        self.images = {}

    def walk(self, case):
        page, word, given = self.pages[case["processor"]], "<I" if case["processor"] == "x86" else "<Q", case["given"]
        path = given["modules"][0]["path"]
        image = self.images[path] = self.images.get(path) or page.Image(FOLDER / path)
        parts = [(int(part["at"], 16), bytes.fromhex(part["bytes"])) for part in given["stack"]]

        def read(at):
            return next(struct.unpack_from(word, data, at - start)[0] for start, data in parts if start <= at <= start + len(data) - struct.calcsize(word))

        with unittest.mock.patch.object(self.pages["arm64"].Packed, "nops", bool(case["conflicts_with"]) and case["os"].startswith("older")):
            return [{"ip": hex(ip), "sp": hex(sp)} for ip, sp in page.walk(image, {name: int(value, 16) for name, value in given["registers"].items()}, read)]


class Reference(e2e.Case):
    @classmethod
    def setUpClass(cls):
        cls.lists = {name: [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()] for name in suite()["lists"]}
        cls.cases = [case for cases in cls.lists.values() for case in cases]

    @unittest.skipUnless(importlib.util.find_spec("jsonschema"), "no python3-jsonschema")
    def test_every_line_has_the_form_of_the_schema(self):
        import jsonschema  # pylint: disable=import-outside-toplevel
        schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        for case in self.cases:
            error = next(validator.iter_errors(case), None)
            self.assertIsNone(error, f"{case['id']}: {error and error.message}")
        jsonschema.Draft202012Validator({"$ref": "#/$defs/suite", "$defs": schema["$defs"]}).validate(suite())
        damaged = {**self.cases[0], "truth": {"level": "must"}}
        self.assertFalse(validator.is_valid(damaged))

    def test_every_must_has_two_witnesses(self):
        self.assertEqual([(case["id"], fault) for case in self.cases for fault in faults(case)], [])
        self.assertGreater(sum(case["truth"]["level"] == "must" for case in self.cases), 1000)

    def test_that_check_finds_what_it_is_for(self):
        good = next(case for case in self.cases if len(case["truth"].get("frames", ())) > 1)
        run = good["known_by"][0]
        rows = [("one witness", {"known_by": [run]}, "must with"), ("one witness twice", {"known_by": [run, run]}, "must with"),
                ("two versions of a tool", {"known_by": ["llvm-symbolizer 19.1.7", "llvm-symbolizer 13.0.1"]}, "must with"),
                ("two tools of one code", {"known_by": ["llvm-symbolizer 19.1.7", "LLDB 22.1.8"]}, "must with"),
                ("two libraries of Microsoft", {"known_by": ["Microsoft's dbghelp 10.0", "Microsoft's DIA 14.51"]}, "must with"),
                ("twinstack", {"known_by": [run, "twinstack"]}, "twinstack"), ("unknown", {"known_by": [run, "a friend"]}, "unknown witness: a friend"),
                ("another id", {"id": "moments/x64/else/0"}, "the id"), ("no first frame", {"truth": {**good["truth"], "frames": good["truth"]["frames"][1:]}}, "the first")]
        for name, change, words in rows:
            with self.subTest(name):
                self.assertIn(words, " / ".join(faults({**good, **change})))

    @unittest.skipUnless(shutil.which("llvm-pdbutil-19"), "no llvm-pdbutil-19, which reads the frame data of x86")
    def test_the_page_gives_the_truth_of_every_moment(self):
        page = Page()
        must = [case for case in self.cases if case["kind"] == "moment" and case["truth"]["level"] == "must"]
        without = {case["shape"] for case in must if "page" not in codes(case).values()}  # a debugger is the second witness
        self.assertLessEqual(without, {"no-frame-data", "no-frame-pointer", "fpo", "fpo-call-last", "fpo-frame-pointer", "fpo-parameters"})
        must = [case for case in must if "page" in codes(case).values()]
        self.assertGreater(len(must), 4000)
        self.assertEqual([case["id"] for case in must if page.walk(case) != case["truth"]["frames"]], [])

    def test_cases_that_conflict_are_pairs_of_which_the_page_can_have_one(self):
        page, by_id = Page(), {case["id"]: case for case in self.cases}
        found = [case for case in self.cases if case["conflicts_with"]]
        self.assertGreater(len(found), 20)
        for case in found:
            with self.subTest(case["id"]):
                others = [by_id[name] for name in case["conflicts_with"]]  # all are there
                self.assertTrue(others and all(case["id"] in other["conflicts_with"] for other in others), "both ways")
                self.assertEqual({case["truth"]["level"], *(other["truth"]["level"] for other in others)}, {"must"})
                self.assertTrue(case["os"] and all(other["os"] and other["os"] != case["os"] for other in others), "each of another Windows")
                for other in others:  # by the rule of the other case, this one is wrong or ends
                    try:
                        walk = page.walk({**case, "os": other["os"]})
                    except (ValueError, StopIteration):
                        continue
                    self.assertNotEqual(walk, case["truth"]["frames"])
        self.assertFalse([case["id"] for case in self.cases if not case["conflicts_with"] and case["os"] and case["truth"]["level"] == "must"])

    def test_ids_are_unique_and_none_is_retired(self):
        ids = [case["id"] for case in self.cases]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual([row["id"] for row in suite()["retired"] if row["id"] in ids], [])

    def test_results_are_of_this_edition_and_their_table_is_made(self):
        import jsonschema  # pylint: disable=import-outside-toplevel
        schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
        ids, retired, older = {}, {row["id"] for row in suite()["retired"]}, {}
        for case in self.cases:
            ids.setdefault(case["capability"], set()).add(case["id"])
        files = sorted((FOLDER / "results").glob("*.json"))
        self.assertGreater(len(files), 9)
        for file in files:
            result = json.loads(file.read_text(encoding="utf-8"))
            jsonschema.Draft202012Validator({"$ref": "#/$defs/result", "$defs": schema["$defs"]}).validate(result)
            listed = [case for cases in result["cases"].values() for case in cases]
            self.assertEqual(len(listed), len(set(listed)), file.name)
            can = {row["capability"] for row in result["by"] if any(row[key] for key in ANSWERED)}
            self.assertLessEqual({row["capability"] for row in result["by"]}, set(ids), file.name)
            self.assertLessEqual(result["edition"], suite()["edition"], file.name)
            for capability in can:
                if result["edition"] == suite()["edition"]:
                    self.assertEqual({case for case in listed if case in ids[capability]}, ids[capability], (file.name, capability))
                else:  # all that were asked that edition were asked the same cases
                    asked = {case for case in listed if case in ids[capability]}
                    self.assertEqual(asked, older.setdefault((result["edition"], capability), asked), (file.name, capability))
            unknown = set(listed) - set().union(*ids.values())
            self.assertLessEqual(unknown, retired if result["edition"] < suite()["edition"] else set(), file.name)
        done = subprocess.run([sys.executable, "-I", FOLDER / "table.py"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, (FOLDER / "RESULTS.md").read_text(encoding="utf-8"), "run corpus/reference/table.py > corpus/reference/RESULTS.md")
        done = subprocess.run([sys.executable, "-I", FOLDER / "table.py", "--contestants"], capture_output=True, text=True, check=True)
        self.assertIn(done.stdout, (FOLDER / "README.md").read_text(encoding="utf-8"), "the table is that of corpus/reference/table.py --contestants")
        versions = [version for line in done.stdout.splitlines()[2:] for version in line.split(" | ")[1].split(", ")]
        self.assertGreaterEqual(len(done.stdout.splitlines()) - 2, 9)
        self.assertGreaterEqual(len(versions), 14)

    def test_what_is_stored_of_witnesses_that_are_not_here_is_what_their_results_say(self):
        for witness, name in (("Microsoft's dbgeng", "windows-dbgeng-10"), ("Microsoft's DIA 14.44", "windows-dia-14")):
            result = json.loads((FOLDER / f"results/{name}.json").read_text(encoding="utf-8"))
            right = set(result["cases"]["right"])
            named = [case["id"] for case in self.cases if any(known.startswith(witness) for known in case["known_by"])]
            self.assertGreater(len(named), 100)
            self.assertEqual([case for case in named if case not in right], [], name)

    def test_files_are_those_of_the_list_and_small(self):
        listed = {row["path"]: row["sha256"] for row in suite()["files"]}
        found = {f.relative_to(FOLDER).as_posix(): hashlib.sha256(f.read_bytes()).hexdigest()
                 for folder in ("images", "programs", "dumps") for f in (FOLDER / folder).rglob("*") if f.is_file() and f.suffix != ".ndjson"}
        self.assertEqual(listed, found)
        used = {m["path"] for case in self.cases for m in case["given"].get("modules", ())} | {f"images/x86-{name}.pdb" for name in ("frames", "seh", "fpo")}
        used |= {case["given"][key] for case in self.cases if case["kind"] == "address" for key in ("image", "symbols") if case["given"][key]}
        used |= {case["given"]["dump"] for case in self.cases if case["kind"] == "dump"}
        self.assertEqual(used - set(listed), set())
        files = [f for f in FOLDER.rglob("*") if f.is_file()]
        self.assertLess(max(f.stat().st_size for f in files), 2 << 20)
        self.assertLess(sum(len(zlib.compress(f.read_bytes())) for f in files), 12_000_000)

    def test_the_reader_reads_all_and_notices_a_changed_image(self):
        self.assertLessEqual(len((FOLDER / "read.py").read_text(encoding="utf-8").splitlines()), 60)
        copy = self.folder / "reference"
        shutil.copytree(FOLDER, copy)
        done = subprocess.run([sys.executable, "-I", copy / "read.py"], capture_output=True, text=True, check=True)
        self.assertEqual(sum(int(line.split()[-1]) for line in done.stdout.splitlines()), len(self.cases))
        spec = importlib.util.spec_from_file_location("read", copy / "read.py")
        reader = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(reader)
        case = self.cases[0]
        pieces = reader.loaded(copy, case)
        rip = int(case["given"]["registers"]["rip"], 16)
        self.assertTrue(any(at <= rip < at + len(data) for at, data in pieces))
        image = copy / suite()["files"][0]["path"]
        image.write_bytes(image.read_bytes() + b"\0")
        done = subprocess.run([sys.executable, "-I", copy / "read.py"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr.split(":")[0]), (1, suite()["files"][0]["path"]))

    @unittest.skipUnless(importlib.util.find_spec("unicorn"), "no emulator: python3-unicorn is not installed")
    def test_the_generator_gives_the_same_bytes(self):
        sys.path.insert(0, str(FOLDER.parent))
        import make_reference  # pylint: disable=import-outside-toplevel
        import reference_moments_arm64  # pylint: disable=import-outside-toplevel
        import reference_moments_x64  # pylint: disable=import-outside-toplevel
        import reference_x86  # pylint: disable=import-outside-toplevel
        import reference_x86_more  # pylint: disable=import-outside-toplevel
        self.assertEqual(make_reference.coverage(self.lists), (FOLDER / "COVERAGE.md").read_text(encoding="utf-8"))
        (self.folder / "images").mkdir()
        for processor, moments in (("x64", reference_moments_x64), ("arm64", reference_moments_arm64)):
            for name in moments.FAMILIES if SOAK else AGAIN[processor]:
                family = moments.Family(name, self.folder, self.folder)
                cases = json.loads(json.dumps(family.all_cases()))
                self.assertEqual(cases, self.lists[f"moments/{processor}-{name}.ndjson"])
                self.assertEqual((self.folder / family.path).read_bytes(), (FOLDER / family.path).read_bytes())
        made = reference_x86.make(self.folder, self.folder)
        if shutil.which("x86_64-w64-mingw32-gdb"):  # a witness
            made |= reference_x86_more.make(self.folder, self.folder)
        self.assertEqual(json.loads(json.dumps(made)), {name: self.lists[name] for name in made})
        for file in (self.folder / "images").glob("x86-*"):
            self.assertEqual(file.read_bytes(), (FOLDER / "images" / file.name).read_bytes(), file.name)

    @unittest.skipUnless(shutil.which("llvm-pdbutil-19"), "no llvm-pdbutil-19, which reads the frame data of x86")
    def test_the_dumps_come_out_the_same(self):
        sys.path.insert(0, str(FOLDER.parent))
        import reference_dumps  # pylint: disable=import-outside-toplevel
        for name in ("moments", "images"):
            (self.folder / name).symlink_to(FOLDER / name)
        lists = json.loads(json.dumps(reference_dumps.make(self.folder)))
        self.assertEqual(lists, {name: cases for name, cases in self.lists.items() if name.startswith("dumps/")})
        made, there = ({f.relative_to(folder).as_posix(): f.read_bytes() for f in (folder / "dumps").rglob("*") if f.is_file() and f.suffix != ".ndjson"}
                       for folder in (self.folder, FOLDER))
        self.assertEqual(made, there)
        self.assertGreaterEqual(sum(name.endswith(".dmp") for name in there), 150)

    @unittest.skipUnless(importlib.util.find_spec("unicorn"), "make_reference.py needs python3-unicorn")
    def test_programs_come_out_the_same_and_their_witnesses_say_the_same(self):
        missing = [tool for tool in READERS if not shutil.which(tool)]
        if missing:
            self.skipTest(f"{missing[0]} is not installed")
        sys.path.insert(0, str(FOLDER.parent))
        import reference_addresses  # pylint: disable=import-outside-toplevel
        import reference_programs as programs  # pylint: disable=import-outside-toplevel
        for program in (p for p in programs.PROGRAMS if p.name in AGAIN_PROGRAMS and not p.published):
            built = programs.build_one(program, self.folder)
            for name in programs.shipped(program, built):
                self.assertEqual((built / name).read_bytes(), (FOLDER / "programs" / name).read_bytes(), name)
        self.assertEqual(reference_addresses.check(FOLDER, () if SOAK else AGAIN_PROGRAMS), [])
        if SOAK:
            import make_reference  # pylint: disable=import-outside-toplevel
            self.assertEqual(reference_addresses.unchosen(FOLDER), make_reference.UNCHOSEN)

    def test_a_witness_that_says_something_else_is_noticed(self):
        missing = [tool for tool in READERS if not shutil.which(tool)]
        if missing:
            self.skipTest(f"{missing[0]} is not installed")
        sys.path.insert(0, str(FOLDER.parent))
        import reference_addresses  # pylint: disable=import-outside-toplevel
        import reference_readers  # pylint: disable=import-outside-toplevel
        honest = reference_readers.by_llvm
        with unittest.mock.patch.object(reference_readers, "by_llvm", lambda *words: {at: frames[:-1] for at, frames in honest(*words).items()}):
            self.assertEqual(reference_addresses.check(FOLDER, AGAIN_PROGRAMS[:1]), list(AGAIN_PROGRAMS[:1]))


if __name__ == "__main__":
    e2e.main()
