"""`check` on sealed cases and on two given stacks: no Wine, no database, and reliable exit codes."""

import collections
import ctypes
import hashlib
import json
import os
import pathlib
import re
import shutil
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

CORPUS = e2e.ROOT / "corpus"


def change(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


def reseal(case, edit):
    """Edits case.json and seals the case again."""
    document = json.loads((case / "case.json").read_text())
    edit(document)
    text = json.dumps(document).encode()
    (case / "case.json").write_bytes(text)
    (case / "seal").write_text(hashlib.sha256(text).hexdigest() + "\n")


def without(role):
    return lambda d: d.update(files=[f for f in d["files"] if f["role"] != role])


class Opened:
    """Counts how often each file of a folder is opened meanwhile."""

    IN_OPEN, IN_NONBLOCK = 0x20, 0o4000

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        libc = ctypes.CDLL(None, use_errno=True)
        self.file = libc.inotify_init1(self.IN_NONBLOCK)
        # also the ends of reading: equal events in a row would be one
        if self.file < 0 or libc.inotify_add_watch(self.file, bytes(self.folder), self.IN_OPEN | 0x10 | 0x1) < 0:
            raise OSError(ctypes.get_errno(), "inotify")
        return self

    def __exit__(self, *_):
        self.times, events = collections.Counter(), os.read(self.file, 1 << 20)
        os.close(self.file)
        while events:
            _, mask, _, length = struct.unpack_from("iIII", events)
            name = events[16:16 + length].rstrip(b"\0").decode()
            self.times[name] += bool(mask & self.IN_OPEN)
            events = events[16 + length:]


class Check(e2e.Case):
    def setUp(self):
        shutil.copytree(CORPUS / "cases/null_write.ob2", self.folder / "cases/null_write.ob2")
        shutil.copytree(CORPUS / "symbols", self.folder / "symbols")
        self.case = self.folder / "cases/null_write.ob2"

    def stack(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def test_the_corpus_is_right(self):
        done = self.run_twinstack("check", *sorted((CORPUS / "cases").iterdir()), "--json")
        cases = json.loads(done.stdout)["cases"]
        self.assertGreaterEqual(len(cases), 8)
        self.assertEqual({c["verdict"] for c in cases}, {"PASS"})
        for case in cases:
            exact = {s["engine"]: s["exact"] for s in case["scores"]}
            self.assertTrue(exact["dump"], case["scenario"])
            if case["arch"] == "x64":  # x86 has no unwind tables
                self.assertTrue(exact["offset:rtl"], case["scenario"])

    def test_a_case_is_opened_once(self):
        """Only the rounds that measure what a stack costs open a file again, since that is a part of the cost: once, and six times each
        cold and warm, with and without names of the system's modules."""
        measured = 1 + 6 * 4
        self.run_twinstack("check", self.case)  # the symbol indexes are there
        with Opened(self.case) as opened:
            self.run_twinstack("check", self.case)
        self.assertEqual({name: count for name, count in opened.times.items() if name},
                         {**dict.fromkeys(("case.json", "seal", "truth.json", "stdout.txt", "outcome.json"), 1),
                          **dict.fromkeys(("record.rec", "dump.dmp", "dump-tuned.dmp"), 1 + measured)})

    def test_a_copied_case_is_enough(self):
        done = self.run_twinstack("check", self.case)
        self.assertIn("PASS", done.stdout)

    def test_dumps_that_are_wrong_by_the_format(self):
        """The kept cases are from before the dumps were made complete."""
        done = self.run_twinstack("check", CORPUS / "cases/null_write.ob2", CORPUS / "cases/recursion.ob2")
        self.assertIn("\nlist_size in ModuleList: 2 of 4 dumps; a Windows debugger: it prints \"User Mode Mini Dump does not have", done.stdout)
        self.assertIn(f"\n  e.g. {CORPUS}/cases/null_write.ob2/dump-tuned.dmp at 0x3c: the directory states", done.stdout)

    def test_what_was_changed_after_sealing_is_refused(self):
        for name in ("record.rec", "dump.dmp", "truth.json", "case.json", "seal"):
            with self.subTest(name):
                case = self.folder / "cases" / name
                shutil.copytree(self.case, case)
                change(case / name)
                done = self.run_twinstack("check", case, exit_code=3)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                self.assertIn("mismatch", done.stderr)

    def test_what_is_missing_is_named(self):
        for name in ("record.rec", "dump.dmp", "truth.json", "case.json", "seal"):
            with self.subTest(name):
                case = self.folder / "cases" / name
                shutil.copytree(self.case, case)
                (case / name).unlink()
                done = self.run_twinstack("check", case, exit_code=3)
                self.assertIn(name, done.stderr)
                self.assertIn("absent", done.stderr)

    def test_resealed_by_a_stranger(self):
        rows = {
            "a newer schema": (lambda d: d.update(schema_version=99), 3, "unsupported"),
            "a path outside": (lambda d: d["files"][0].update(path="../../../../etc/hostname"), 3, "malformed"),
            "no record": (without("record"), 1, "FAIL"),
            "no dump": (without("dump"), 1, "FAIL"),
            "another exit code": (lambda d: d["expect"].update(exit_code="0x00000001"), 1, "FAIL"),
            "another exception": (lambda d: d["expect"].update(code="0xC0000094"), 1, "FAIL"),
        }
        for name, (edit, code, word) in rows.items():
            with self.subTest(name):
                case = self.folder / "cases" / name.replace(" ", "_")
                shutil.copytree(self.case, case)
                reseal(case, edit)
                done = self.run_twinstack("check", case, exit_code=code)
                self.assertIn(word, done.stdout + done.stderr)

    def test_a_record_that_contradicts_its_case_is_blamed(self):
        """It is a separate finding in the verdict, the JSON and the blame, whatever the stacks say."""
        good = (self.case / "record.rec").read_bytes()
        timestamp = struct.pack("<I", 0xFEE28C92)  # of victims-ob2.exe, as its folder says
        self.assertEqual(good.count(timestamp), 1)

        ntdll, = (m.start() for m in re.finditer(rb"(?i)c:\\windows\\system32\\ntdll\.dll", good))  # of its entry among the modules

        def over(offset, form, *values):
            return good[:offset] + struct.pack(form, *values) + good[offset + struct.calcsize(form):]

        rows = {
            "no suspect": (over(28, "<I", 0), "does not say which thread crashed"),
            "no address": (over(40, "<Q", 0), "is not where its stack begins"),
            "stop times": (over(96, "<QQ", 9, 5), "stopped as long for the walk"),
            "unload": (over(ntdll - 64 + 8, "<Q", 0x550000), "still loaded, but the dump's list of modules does not have it"),
            "timestamp": (good.replace(timestamp, bytes(4)), "another timestamp or size of an image"),
        }
        for name, (record, words) in rows.items():
            with self.subTest(name):
                case = self.folder / "cases" / name.replace(" ", "_")
                shutil.copytree(self.case, case)
                (case / "record.rec").write_bytes(record)
                sha256 = hashlib.sha256(record).hexdigest()
                reseal(case, lambda d, sha256=sha256: [f.update(sha256=sha256) for f in d["files"] if f["role"] == "record"])
                found = self.run_json("check", "--json", case, exit_code=1)["cases"][0]
                self.assertEqual(found["verdict"], "FAIL")
                self.assertIn(words, found["reason"])
                own = [f for f in found["findings"] if f["cause"] == "record_wrong"]
                self.assertEqual([(f["blame"], f["fails"]) for f in own], [("record", True)])
                self.assertIn(words, own[0]["evidence"])
                self.assertEqual(found["findings"][0]["cause"], "record_wrong")

    def test_a_wrong_case_does_not_hide_a_right_one(self):
        done = self.run_twinstack("check", self.folder / "no-such", self.case, exit_code=3)
        self.assertIn("no-such", done.stderr)
        self.assertIn("null_write", done.stdout)

    def test_missing_symbols_of_own_modules_get_the_blame(self):
        """However many engines share one file that is missing, they are no witnesses against the truth."""
        identity = "62F62FFAE0AFDE9E4C4C44205044422E1"
        pdb = self.folder / "symbols/victims-ob2.pdb" / identity / "victims-ob2.pdb"
        other = next((CORPUS / "symbols/victims-ob0.pdb").rglob("*.pdb"))
        rows = {"missing": (pdb.unlink, "symbols_missing", "no such file was found"),
                "cut": (lambda: pdb.write_bytes(pdb.read_bytes()[:200000]), "symbols_missing", "it is damaged or truncated"),
                "of another build": (lambda: shutil.copy(other, pdb), "symbols_mismatch", "the PDB found is of another build")}
        for scenario in ("null_write", "recursion", "crash_in_dll", "spin"):
            for name, (break_it, cause, why) in rows.items():
                with self.subTest(name, scenario=scenario):
                    case = self.folder / "cases" / f"{scenario}.ob2"
                    shutil.rmtree(case, ignore_errors=True)
                    shutil.copytree(CORPUS / "cases" / case.name, case)
                    shutil.rmtree(self.folder / "symbols")
                    shutil.copytree(CORPUS / "symbols", self.folder / "symbols")
                    break_it()

                    def state_what_is_there(document):
                        left = []
                        for row in document["files"]:
                            if (file := case / row["path"]).exists():
                                data = file.read_bytes()
                                left.append(row | {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()})
                        document["files"] = left

                    reseal(case, state_what_is_there)
                    judged, = json.loads(self.run_twinstack("check", case, "--json", exit_code=1).stdout)["cases"]
                    said = judged["reason"]
                    self.assertEqual(judged["verdict"], "FAIL")
                    self.assertIn(f"{cause}: victims-ob2.exe has no symbols: victims-ob2.pdb {identity}: ", said)
                    self.assertIn(why, said)
                    self.assertIn(f"looked for in {self.folder}/symbols", said)
                    self.assertIn("blame: symbols", said)
                    failing = [f for f in judged["findings"] if f["fails"]]
                    self.assertEqual({f["cause"] for f in failing}, {cause}, failing)
                    self.assertNotIn("truth suspect", json.dumps(judged))

    def test_stacks_given_by_hand(self):
        a = self.stack("a.txt", "a.exe!0x10\na.exe!0x20\nb.dll!0x30\n")
        same = self.stack("same.txt", "# the same\na.exe!0x10\na.exe!0x20\nb.dll!0x30\n")
        short = self.stack("short.txt", "a.exe!0x10\nb.dll!0x30\n")
        self.run_twinstack("check", "--stacks", a, same)
        self.run_twinstack("check", "--stacks", a, a)
        self.run_twinstack("check", "--stacks", a, short, exit_code=1)
        self.run_twinstack("check", "--stacks", short, a, exit_code=1)
        self.run_twinstack("check", "--stacks", a, exit_code=2)
        self.run_twinstack("check", "--stacks", a, self.folder / "none.txt", exit_code=3)
        self.run_twinstack("check", "--stacks", a, same, "--level", "deep", exit_code=2)
        for level in ("physical", "function", "line"):  # each of them is known
            self.run_twinstack("check", "--stacks", a, same, "--level", level)

    def test_nothing_named_is_a_usage_error(self):
        self.run_twinstack("check", exit_code=2)

    def test_what_made_a_frame(self):
        """Every engine of the case, and what was undone in the frame that it called."""
        case = CORPUS / "cases/noreturn_tail.ob2"
        out = self.run_twinstack("check", case, "--symbols", CORPUS / "symbols", "--explain", "2").stdout
        part = out[out.index("FRAME 2 OF noreturn_tail.ob2"):]
        self.assertRegex(part, r"\n  dump\n  call_it < run_noreturn_tail  victims-ob2\.exe!0x\w+\n      unwind: the callee's unwind data\n"
                               r"      in frame 1: entry 0x\w+-0x\w+, pc in the body, stack 0x\w+ -> 0x\w+, return address at 0x\w+\n"
                               r"        0x04 UWOP_ALLOC_SMALL 40 bytes\n")
        self.assertIn("  offset:dbghelp\n      has no such frame; its walk ended: the system's walker gave up\n", part)
        out = self.run_twinstack("check", case, "--symbols", CORPUS / "symbols", "--explain", "5").stdout
        part = out[out.index("FRAME 5 OF noreturn_tail.ob2"):]
        self.assertIn("in frame 4: return address at 0x11e338, the one word of the dump's stack with it\n", part)
        for words in (("--explain", "x"), ("--explain", "-1"), ("--explain", ""), ("--explain", "1", "--json")):
            with self.subTest(words):
                self.run_twinstack("check", case, *words, exit_code=2)
        self.run_twinstack("check", "--stacks", "a", "b", "--explain", "1", exit_code=2)


e2e.main()
