"""Damaged and missing input: one clear error each, on stderr, with the right exit code, and never a guess."""

import json
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

CORPUS = e2e.ROOT / "corpus"
BROKEN = CORPUS / "broken"
STACK = "crash.exe!0x2755\ncrash.exe!0x2a3d\n"
PDB = CORPUS / "crash-x86/crash.pdb"
CASE = CORPUS / "cases/null_write.ob2"

# name: arguments, the complete standard error, exit code
ROWS = {
    "missing dump": (["dump", "no-such.dmp"], ["no-such.dmp", "absent"], 3),
    "empty dump": (["dump", BROKEN / "empty.dmp"], ["empty.dmp", "truncated"], 3),
    "truncated dump": (["dump", BROKEN / "truncated.dmp"], ["truncated.dmp", "truncated"], 3),
    "no dump at all": (["dump", BROKEN / "wrong-magic.dmp"], ["wrong-magic.dmp", "malformed"], 3),
    "a PDB in place of a dump": (["dump", PDB], ["crash.pdb", "malformed"], 3),
    "missing PDB": (["resolve", "--pdb", "no-such.pdb"], ["no-such.pdb", "absent"], 3),
    "empty PDB": (["resolve", "--pdb", BROKEN / "empty.pdb"], ["empty.pdb", "truncated"], 3),
    "truncated PDB": (["resolve", "--pdb", BROKEN / "truncated.pdb"], ["truncated.pdb", "truncated"], 3),
    "text in place of a PDB": (["resolve", "--pdb", BROKEN / "wrong-magic.pdb"], ["wrong-magic.pdb"], 3),
    "missing table": (["resolve", "--csv", "no-such.csv"], ["no-such.csv", "absent"], 3),
    "table without a good row": (["resolve", "--csv", BROKEN / "wrong-rows.csv"], ["wrong-rows.csv", "malformed"], 3),
    "missing stack": (["resolve", "--pdb", PDB, "no-such.txt"], ["no-such.txt", "absent"], 3),
    "empty record": (["resolve", BROKEN / "empty.rec"], ["empty.rec"], 3),
    "truncated record": (["resolve", BROKEN / "truncated.rec"], ["truncated.rec", "truncated"], 3),
    "missing case": (["check", "no-such-case"], ["no-such-case", "absent"], 3),
    "a folder that is no case": (["check", CORPUS / "botman"], ["botman"], 3),
}


class Damaged(e2e.Case):
    def test_one_clear_error_each(self):
        for name, (argv, parts, code) in ROWS.items():
            with self.subTest(name):
                done = self.run_twinstack(*argv, stdin=STACK, exit_code=code)
                # the error of one item of a stream is printed in its place, any other on standard error
                errors = [l for l in (done.stderr + done.stdout).splitlines() if l.startswith(("! ", "twinstack: "))]
                self.assertEqual(len(errors), 1, done.stderr + done.stdout)
                for part in parts:
                    self.assertIn(part, errors[0])
                self.assertNotIn("main", done.stdout.replace(str(e2e.ROOT), ""))

    def test_bad_lines_of_a_stream_are_answered_and_passed_over(self):
        text = "> one\n" + STACK + "> two\nnot a frame at all\n> three\n" + STACK
        done = self.run_twinstack("resolve", "--pdb", PDB, "--ndjson", stdin=text)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([a["label"] for a in answers if "error" not in a and a["frames"]], ["one", "three"])
        self.assertEqual([a["label"] for a in answers if "error" in a], ["two"])
        self.assertEqual(set(next(a for a in answers if "error" in a)["error"]), {"code", "what", "offset", "hint"})

    def test_bad_lines_are_an_error_when_strict(self):
        self.run_twinstack("resolve", "--pdb", PDB, "--ndjson", "--strict", stdin="not a frame at all\n", exit_code=3)

    def test_a_pdb_of_another_build_is_a_mismatch_and_names_nothing(self):
        stack = {"schema_version": 1, "modules": [{"index": 0, "name": "crash.exe", "code_id": None, "base": "0x400000",
                 "size": "0x9000", "debug_id": "3249D99D0C4049318610F4E4FB0B69362"}],
                 "frames": [{"module": 0, "offset": "0x2755", "kind": "return"}]}
        answer = json.loads(self.run_twinstack("resolve", "--pdb", PDB, "--json", stdin=json.dumps(stack)).stdout)
        frames = answer["frames"] if "frames" in answer else answer["stacks"][0]["frames"]
        self.assertEqual([(f["symbols"], f["function"]) for f in frames], [("mismatch", None)])

    def test_a_dump_without_memory_gives_one_frame_and_the_reason(self):
        threads = self.run_json("dump", BROKEN / "no-memory.dmp", "--stacks", "--json")["threads"]
        self.assertEqual([(len(t["stack"]["frames"]), t["stop"]) for t in threads],
                         [(1, "stack memory is missing")] * len(threads))


class Sealed(e2e.Case):
    """A case is accepted only exactly as it was sealed."""

    def setUp(self):
        if not CASE.is_dir():
            self.fail(f"no case {CASE}")
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        corpus = pathlib.Path(self.scratch.name)
        shutil.copytree(CASE, corpus / "cases" / CASE.name)
        shutil.copytree(CORPUS / "symbols", corpus / "symbols")
        self.case = corpus / "cases" / CASE.name

    def test_an_untouched_copy_is_good(self):
        self.run_twinstack("check", self.case)

    def test_any_changed_file_is_refused_by_name(self):
        for file in sorted(f for f in self.case.iterdir() if f.name != "seal"):
            with self.subTest(file.name):
                good = file.read_bytes()
                file.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
                done = self.run_twinstack("check", self.case, exit_code=3)
                self.assertIn(file.name, done.stderr)
                file.write_bytes(good)

    def test_a_missing_file_is_refused_by_name(self):
        for file in sorted(self.case.iterdir()):
            with self.subTest(file.name):
                good = file.read_bytes()
                file.unlink()
                done = self.run_twinstack("check", self.case, exit_code=3)
                self.assertIn(file.name, done.stderr)
                file.write_bytes(good)

    def test_a_changed_pdb_is_refused(self):
        pdb = next((self.case.parent.parent / "symbols").rglob("victims-ob2.pdb"))
        if pdb.is_dir():
            pdb = next(f for f in pdb.rglob("*.pdb") if f.is_file())
        data = bytearray(pdb.read_bytes())
        data[len(data) // 2] ^= 1
        pdb.write_bytes(data)
        done = self.run_twinstack("check", self.case, exit_code=3)
        self.assertIn("victims-ob2.pdb", done.stderr)


e2e.main()
