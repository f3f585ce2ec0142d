"""resolve and symbols as programs: forms, order, exit codes, the round trip through a symbol table,
and every decorated public name of the fixtures compared with llvm-undname. `./run soak symbols` compares every byte with
llvm-symbolizer, otherwise every STEP-th."""

import bz2
import functools
import gzip
import json
import lzma
import os
import pathlib
import random
import re
import select
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

CSV = e2e.ROOT / "corpus/botman/capture-stack.csv"
STACKS = e2e.ROOT / "corpus/botman/stacks.txt"
CONPTY = "g07-conpty-x64/conpty.pdb"
STEP = 1 if e2e.SOAK else 29


RUST_LEGACY = r"_ZN[\w$.]+17h[0-9a-f]{16}E"


def rust_legacy(name):
    """What Rust's documentation says that a name of its older form means."""
    escapes = {"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}
    rest, parts = name[3:], []
    while (length := re.match(r"\d+", rest)) is not None:
        end = length.end() + int(length[0])
        parts.append(rest[length.end():end])
        rest = rest[end:]
    text = "::".join(p[1:] if p.startswith("_$") else p for p in parts[:-1]).replace("..", "::")
    return re.sub(r"\$(\w+)\$", lambda m: escapes.get(m[1]) or chr(int(m[1][1:], 16)), text)


def frames(text):
    return [frame for line in text.splitlines() for frame in json.loads(line).get("frames", [])]


class Resolve(e2e.Case):
    def test_the_article(self):
        got = frames(self.run_twinstack("resolve", "--csv", CSV, "--ndjson", STACKS).stdout)
        own = [f["function"] for f in got if f["module"] == "capture-stack.exe"]
        self.assertEqual(own, ["main", "__scrt_common_main_seh"] * 2)
        for frame in got:
            if frame["module"] != "capture-stack.exe":
                self.assertEqual((frame["function"], frame["symbols"]), (None, "none"))

    def test_a_file_whose_name_has_an_equals_sign_is_that_file(self):
        named = shutil.copy(CSV, self.folder / "a=b.csv")
        for words in ((named,), (f"capture-stack.exe={named}",)):
            got = self.run_json("resolve", "--csv", *words, "--json", stdin="capture-stack.exe!0xc155a\n")
            self.assertEqual(got["frames"][0]["function"], "main")

    def test_json_is_one_document(self):
        one = self.run_json("resolve", "--csv", CSV, "--json", stdin="capture-stack.exe!0xc155a\n")
        self.assertEqual(one["frames"][0]["function"], "main")
        many = self.run_json("resolve", "--csv", CSV, "--json", stdin="> a\nx!0x1\n> b\nx!0x2\n")
        self.assertEqual([s["label"] for s in many], ["a", "b"])
        self.assertEqual(self.run_json("resolve", "--json", stdin=""), [])

    def test_a_bad_line_is_answered_and_the_stream_goes_on(self):
        done = self.run_twinstack("resolve", "--ndjson", stdin="> a\nx!0x1\nwhat\n> b\nx!0x2\n")
        got = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(got[0], {"schema_version": 1, "label": "a", "error": {
            "code": "malformed", "what": "line of a stack", "offset": "0xa", "hint": "expected module!0xOFFSET"}})
        self.assertEqual([s["label"] for s in got[1:]], ["a", "b"])

    def test_compressed_files_are_read_or_named(self):
        """A folder and a store that keep "app.pdb.gz", or pack "app.pdb" without another name; bzip2's is named, once."""
        key, frame = "3249D99D0C4049318610F4E4FB0B69361", "crash.exe!0x2755"
        packs = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}
        if shutil.which("zstd") is not None:
            packs[".zst"] = lambda data: subprocess.run(["zstd", "-qc"], input=data, capture_output=True, check=True).stdout
        plain = (e2e.ROOT / "corpus/crash-x86/crash.pdb").read_bytes()
        for end, pack in packs.items():
            packed = pack(plain)
            for name, place, words in (("a folder", f"crash.pdb{end}", frame), ("another name", f"x.pdb{end}", f"{frame} {{{key}}}"),
                                       ("a store", f"crash.pdb/{key}/crash.pdb{end}", f"{frame} {{{key}}}"), ("no ending", "crash.pdb", frame),
                                       ("a store, no ending", f"crash.pdb/{key}/crash.pdb", f"{frame} {{{key}}}")):
                with self.subTest(name, end=end), tempfile.TemporaryDirectory() as folder:
                    file = pathlib.Path(folder) / place
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(packed)
                    done = self.run_twinstack("resolve", "--symbols", folder, stdin=f"{words}\n")
                    self.assertEqual("_Tidy_deallocate" in done.stdout, end != ".bz2", done.stdout)
                    said = end == ".bz2" and place.endswith(end)
                    self.assertEqual(done.stderr.count(f"{file}: symbol files that bzip2 packed are not read: unpack them first"), said, done.stderr)
                    file.write_bytes(packed[:-9])
                    done = self.run_twinstack("resolve", "--symbols", folder, stdin=f"{words}\n")
                    self.assertIn(" none ", done.stdout)

    def test_a_symbol_file_given_by_itself_may_be_packed(self):
        sym = self.run_twinstack("symbols", "export", "--format", "breakpad", e2e.ROOT / "corpus/crash-x86/crash.pdb").stdout.encode()
        for name, data in (("crash.sym.gz", sym), ("crash.pdb.gz", (e2e.ROOT / "corpus/crash-x86/crash.pdb").read_bytes())):
            packed = self.folder / name
            packed.write_bytes(gzip.compress(data))
            for given in (str(packed), f"crash.exe={packed}"):
                done = self.run_twinstack("resolve", "--pdb", given, stdin="crash.exe!0x2755\n")
                self.assertIn("_Tidy_deallocate", done.stdout, name + done.stderr)
        packed.write_bytes(gzip.compress(b"neither"))
        self.assertIn("expected a PDB", self.run_twinstack("resolve", "--pdb", packed, stdin="crash.exe!0x2755\n", exit_code=3).stderr)

    def test_breakpad_files_under_the_name_of_their_image(self):
        """rust-minidump's code_info_breakpad_sym_lookup(): "<code file>/<code identifier>/<code file>.sym", without ".dll"."""
        debug_id, code_id = "3249D99D0C4049318610F4E4FB0B69361", "5AB380779000"
        sym = self.run_twinstack("symbols", "export", "--format", "breakpad", e2e.ROOT / "corpus/crash-x86/crash.pdb").stdout
        self.assertNotIn("INFO CODE_ID", sym)  # no image is beside it
        sym = sym.replace("crash.pdb\n", f"crash.pdb\nINFO CODE_ID {code_id} crash.exe\n", 1)
        for n, (key, place, found) in enumerate((
                (f"- {debug_id}", f"crash.exe/{debug_id}/crash.sym", True), (f"{code_id} -", f"crash.exe/{code_id}/crash.sym", True),
                (f"{code_id} -", f"crash.exe/{code_id.lower()}/crash.exe.sym", True), (f"{code_id} {debug_id}", f"crash.exe/{code_id}/crash.sym", True),
                (f"{code_id} -", "crash.sym", True), ("5AB380779001 -", "crash.sym", False),
                ("5AB380779001 -", "crash.exe/5AB380779001/crash.sym", False), (f"- {debug_id[:-1]}2", f"crash.exe/{code_id}/crash.sym", False))):
            with self.subTest(key, place=place):
                file = self.folder / str(n) / place
                file.parent.mkdir(parents=True)
                file.write_text(sym)
                done = self.run_twinstack("resolve", "--symbols", self.folder / str(n), stdin=f"# module crash.exe {key}\ncrash.exe!0x2755\n")
                self.assertEqual("_Tidy_deallocate" in done.stdout, found, done.stdout + done.stderr)

    def test_a_compressed_debug_file_is_that_of_its_image(self):
        images = self.fixture("images/i10-elf-crash")
        shutil.copy(images / "crash", self.folder)
        (self.folder / "crash.debug.gz").write_bytes(gzip.compress((images / "crash.debug").read_bytes()))
        done = self.run_twinstack("resolve", "--symbols", self.folder, stdin="crash!0x1c70\n")
        self.assertRegex(done.stdout, r"dwarf +main +\S+main.cpp:32")

    def test_an_input_without_a_frame_is_an_error(self):
        """A log of another kind: each line is answered, and the end says how many were none, and which was the first. A report has
        headings, registers and memory around its frames: where these are most lines, that is a warning."""
        report = ("panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation]\n\n"
                  "goroutine 1 [running]:\nmain.f(...)\n\t/tmp/a.go:4\nmain.main()\n\t/tmp/a.go:8 +0x14\nexit status 2\n")
        for name, text, said, code in (
                ("prose", "it broke\nbadly\n", "error: 2 of 2", 3), ("one frame among prose", "it broke\nx!0x1\nbadly\n", "warning: 2 of 3", 0),
                ("a panic of Go", report, "warning: 3 of 5", 0), ("as many", "it broke\nx!0x1\n", None, 0), ("a stack without frames", "> a\n", None, 0)):
            for form in ("--ndjson", "--json", None):
                with self.subTest(name, form=form):
                    done = self.run_twinstack("resolve", *([form] if form else []), stdin=text, exit_code=code)
                    last = f"{said} lines hold no frame, such as app.exe!0x1537 or app.exe+0x1537; the first: standard input: line"
                    self.assertEqual(last in done.stderr, said is not None, done.stderr)
                    self.assertEqual("hold no frame" in done.stderr, said is not None, done.stderr)

    def test_a_frame_of_json_says_where_it_is(self):
        """One that only names its module was taken for offset 0."""
        for name, frame, code in [("offset", '"offset":"0x1537"', 0), ("as rust-minidump writes it", '"module_offset":"0x1537"', 0),
                                  ("nothing", '"line":3', 3)]:
            with self.subTest(name):
                done = self.run_twinstack("resolve", stdin='{"threads":[{"frames":[{"module":"b.exe",' + frame + "}]}]}", exit_code=code)
                self.assertEqual("b.exe!0x1537" in done.stdout, code == 0, done.stdout)
                self.assertEqual("a frame needs `offset`" in done.stdout, code != 0, done.stdout)

    def test_a_file_that_was_named_in_vain_is_said(self):
        store, case = e2e.ROOT / "corpus/symbols", e2e.ROOT / "corpus/cases/null_write.ob2"
        sym = self.folder / "other.sym"
        sym.write_text("MODULE windows x86_64 0 other.pdb\nFUNC 10 10 0 f\n", encoding="ascii")
        folder = self.folder / "pdbs"
        folder.mkdir()
        shutil.copy(next(store.glob("victims-ob0.pdb/*/*.pdb")), folder)
        pdb, frame = next(store.glob("victims-ob2.pdb/*/*.pdb")), "victims-ob2.exe!0x1537\n"
        for name, words, stdin, unused in [
                ("its own", ["resolve", "--symbols", pdb], frame, []),
                ("its folder, with a slash", ["resolve", "--symbols", f"{store}/"], frame, []),
                ("another .sym", ["resolve", "--symbols", pdb, "--symbols", sym], frame, [sym]),
                ("a folder of another", ["resolve", "--symbols", folder, "--symbols", store], frame, [folder]),
                ("bound to another", ["resolve", "--pdb", f"other.exe={pdb}", "--symbols", sym], frame, [sym, pdb]),
                ("bound to it", ["resolve", "--pdb", pdb], frame, []),
                ("nothing was asked", ["resolve", "--symbols", sym], "", []),
                ("of a dump", ["dump", case / "dump.dmp", "--symbols", store, "--symbols", sym], None, [sym]),
                ("of a case", ["check", case, "--symbols", folder], None, [folder]),
                ("of two stacks", ["check", "--stacks", e2e.ROOT / "corpus/botman/stacks.txt", e2e.ROOT / "corpus/botman/stacks.txt", "--symbols", sym],
                 None, [sym]),
                ("of counted stacks", ["signatures", "--symbols", store, "--symbols", sym, "-"], frame, [sym])]:
            with self.subTest(name):
                said = self.run_twinstack(*words, stdin=stdin).stderr
                want = f"named as symbols, and used for no module: {', '.join(map(str, unused))}\n"
                self.assertEqual([line.partition("warning: ")[2] + "\n" for line in said.splitlines() if "named as symbols" in line],
                                 [want] if unused else [], said)

    def test_what_was_understood_is_said(self):
        for name, text, said, code in [
                ("log", "started\n00 a.exe+0x1\n#1 b.dll!f+0x2\nc!0x3\nbye\n", '3 frames of 1 stack from 5 lines, 2 ignored: "started"', 0),
                ("two stacks", "> x\na!0x1\n> y\na!0x2\n", "2 frames of 2 stacks from 2 lines", 0),
                ("XML", "<r><thread id='1'><frame module='a' offset='0x1'/></thread></r>", "1 frame of 1 stack from 1 line", 0),
                ("a frame among prose", "it\na!0x1\nbroke\n", '1 frame of 1 stack from 3 lines, 2 ignored: "it"', 0),
                ("prose", "it\nbroke\n", '0 frames of 0 stacks from 2 lines, 2 ignored: "it"', 3)]:
            with self.subTest(name):
                path = self.folder / "stack"
                path.write_text(text, encoding="ascii")
                done = self.run_twinstack("resolve", "--format", "understood", path, exit_code=code)
                self.assertEqual(done.stdout, f"{path}: {said}\n")
                self.assertEqual("no line holds a frame" in done.stderr, code == 3, done.stderr)
        self.run_twinstack("resolve", "--format", "understood", self.folder / "none", exit_code=3)

    def test_a_pipe_need_not_end_before_it_is_answered(self):
        for form, asked, wanted in (("text", "> a\nx!0x1\n", b"x!0x1 "), ("text", "x!0x2\n", b"x!0x2 "),
                                    ("ndjson", '{"frames":[{"address":"0x3"}]}\n', b'"offset":"0x3"')):
            with subprocess.Popen([e2e.PROGRAM, "resolve", "--format", form], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, bufsize=0) as running:
                for _ in range(3):
                    running.stdin.write(asked.encode())
                    got = b""
                    while wanted not in got:
                        self.assertTrue(select.select([running.stdout], [], [], 20)[0], (form, asked, got))
                        got += os.read(running.stdout.fileno(), 4096)
                running.stdin.close()

    def test_a_damaged_image_says_so_beside_its_names(self):
        whole = next((e2e.ROOT / "corpus/symbols/plugin-call-ob2.dll").glob("*/*.dll")).read_bytes()
        for name, left, damaged in (("whole", len(whole), False), ("cut", 9000, True)):
            with self.subTest(name):
                image = self.folder / "plugin-call-ob2.dll"
                image.write_bytes(whole[:left])
                done = self.run_twinstack("resolve", "--symbols", image, stdin="plugin-call-ob2.dll!0x1390\n")
                self.assertIn("plugin_call+0x10", done.stdout)
                self.assertEqual("symbols are damaged" in done.stdout, damaged, done.stdout)

    def test_strict(self):
        self.run_twinstack("resolve", "--csv", CSV, "--strict", stdin="capture-stack.exe!0xc155a\n")
        self.run_twinstack("resolve", "--csv", CSV, "--strict", exit_code=3, stdin="ntdll.dll!0x1\n")
        self.run_twinstack("resolve", "--csv", CSV, "--strict", exit_code=3, stdin="what\n")

    def test_workers_keep_the_order(self):
        pdb = self.fixture(CONPTY)
        random.seed(1)
        text = "".join(f"> {i}\n" + "".join(f"conpty.node!0x{random.randrange(0x1000, 0x33000):x}\n" for _ in range(9))
                       for i in range(700))
        one = self.run_twinstack("resolve", "--pdb", pdb, stdin=text).stdout
        self.assertEqual(len(re.findall("^> ", one, re.M)), 700)
        for jobs in (2, 5):
            self.assertEqual(self.run_twinstack("resolve", "-j", jobs, "--pdb", pdb, stdin=text).stdout, one)

    def test_nothing_from_a_name_reaches_the_terminal_as_a_control(self):
        done = self.run_twinstack("resolve", stdin="> \x1b[31mred\na\x1b]0;x\x07!0x1\n")
        self.assertNotIn("\x1b", done.stdout)

    def test_folded_and_speedscope(self):
        done = self.run_twinstack("resolve", "--csv", CSV, "--format", "folded", STACKS)
        self.assertIn("capture-stack.exe!__scrt_common_main_seh;capture-stack.exe!main 1\n", done.stdout)
        scope = self.run_json("resolve", "--csv", CSV, "--format", "speedscope", STACKS)
        profile = scope["profiles"][0]
        self.assertEqual(len(profile["samples"]), len(profile["weights"]))
        names = [scope["shared"]["frames"][i]["name"] for i in profile["samples"][0]]
        self.assertEqual(names[-2:], ["__scrt_common_main_seh", "main"])


class Symbols(e2e.Case):
    def test_a_store_by_identity(self):
        with tempfile.TemporaryDirectory() as store:
            self.run_twinstack("symbols", "add", "--symbols", store, self.fixture("g16-age-trap"))
            self.run_twinstack("symbols", "verify", "--symbols", store)
            listed = self.run_json("symbols", "list", "--json", "--symbols", store)["files"]
            self.assertEqual({f["debug_id"][-1] for f in listed}, {"2", "6"})
            self.assertEqual(len(listed), 4)
            wrong = pathlib.Path(store) / "x.pdb/0/x.pdb"
            wrong.parent.mkdir(parents=True)
            shutil.copy(self.fixture(CONPTY), wrong)
            done = self.run_twinstack("symbols", "verify", "--symbols", store, exit_code=1)
            self.assertIn("FB9FB7D58AE247B9988973DAF157F7AB1", done.stdout)

    def test_cabinets_are_kept_as_they_are(self):
        with tempfile.TemporaryDirectory() as store:
            self.run_twinstack("symbols", "add", "--symbols", store, self.fixture("g02-basic32-x86/basic32.pd_"))
            path = pathlib.Path(store) / "basic32.pdb/34060D222DBB44E5AA72243CE8326C2F2/basic32.pd_"
            self.assertTrue(path.is_file())
            self.run_twinstack("symbols", "verify", "--symbols", store)
            self.assertIn("5231 inline sites", self.run_twinstack("symbols", "list", "--symbols", store).stdout)
            cut = path.with_name("cut.pd_")  # a separate file, because PATH may be a link to the fixture
            cut.write_bytes(path.read_bytes()[:100000])
            self.assertIn("cabinet", self.run_twinstack("symbols", "list", cut, exit_code=3).stderr)

    def test_indexes_are_verified(self):
        with tempfile.TemporaryDirectory() as folder:
            store, fixture = pathlib.Path(folder, "store"), self.fixture(CONPTY)
            self.run_twinstack("symbols", "add", "--symbols", store, fixture)
            self.run_twinstack("symbols", "index", "--symbols", store)
            done = self.run_twinstack("symbols", "verify", "--symbols", store)
            self.assertRegex(done.stdout, r"(?m)^good +.*conpty.pdb.short.twindex$")
            index = next(store.rglob("*.twindex"))
            data = bytearray(index.read_bytes())
            data[len(data) // 2] ^= 1
            index.write_bytes(data)
            done = self.run_twinstack("symbols", "verify", "--symbols", store, exit_code=1)
            self.assertRegex(done.stdout, r"(?m)^damaged +.*twindex$")
            index.with_name("conpty.pdb").unlink()  # PATH may be a link to the fixture
            shutil.copyfile(fixture, index.with_name("conpty.pdb"))
            done = self.run_twinstack("symbols", "verify", "--symbols", store)
            self.assertRegex(done.stdout, r"(?m)^stale +.*twindex$")

    def test_a_folder_too_deep_is_said(self):
        for depth, said in (8, False), (9, True):
            with self.subTest(depth), tempfile.TemporaryDirectory() as root:
                folder = pathlib.Path(root, *map(str, range(depth)))
                folder.mkdir(parents=True)
                shutil.copy(next((e2e.ROOT / "corpus/symbols/victims-ob2.pdb").glob("*/*.pdb")), folder)
                done = self.run_twinstack("resolve", "--symbols", root, "-", stdin="victims-ob2.exe!0x1530\n")
                self.assertEqual("levels below" in done.stderr, said, done.stderr)
                self.assertEqual("no symbol file" in done.stdout, said, done.stdout)

    def test_forms_that_are_not_read_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for magic, says in (
                    (b"BSJB\1\0\1\0", "portable PDB"),
                    (b"Microsoft C/C++ program database 2.00\r\n\x1aJG", "MSF 2.00")):
                path = pathlib.Path(folder, "x.pdb")
                path.write_bytes(magic + bytes(4096))
                self.assertIn(says, self.run_twinstack("symbols", "list", path, exit_code=3).stderr)

    def test_exit_codes(self):
        self.run_twinstack("symbols", exit_code=2)
        self.run_twinstack("symbols", "export", exit_code=2)
        self.run_twinstack("symbols", "list", "no-such-file", exit_code=3)
        self.run_twinstack("symbols", "list", STACKS, exit_code=3)

    def test_a_table_answers_as_its_pdb(self):
        random.seed(2)
        for name in (CONPTY, "g02-basic32-x86/basic32.pdb", "g08-setup-x86/Setup.pdb", "g01-crash-x86/crash.pdb",
                     "g19-rust-x64/Native_x64_RustC_Rust_debuginfo2_v1.58.1.pdb", "g17-vs2003-2005/Compiled2003.pdb"):
            pdb = self.fixture(name)
            table = self.run_twinstack("symbols", "export", "--inlines", pdb).stdout
            rows = [line.split(",") for line in table.splitlines() if "SymTagFunction" in line]
            text = "".join(f"x!0x{int(row[0].strip(chr(34)), 16) - 0x400000 + random.randrange(int(row[1])):x}@i\n"
                           for row in rows[::2])[:200000].rsplit("\n", 1)[0] + "\n"
            text = "".join(f"> s\n{line}\n" for line in text.splitlines())
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                csv = pathlib.Path(folder) / "t.csv"
                csv.write_text(table, errors="replace")
                want = frames(self.run_twinstack("resolve", "--ndjson", "--pdb", f"x={pdb}", stdin=text).stdout)
                got = frames(self.run_twinstack("resolve", "--ndjson", "--csv", f"x={csv}", stdin=text).stdout)
                keys = ("offset", "inline_depth", "function", "file", "line")
                self.assertEqual([[f[k] for k in keys] for f in got], [[f[k] for k in keys] for f in want])
                self.assertGreater(len(got), 50)


class Judged(e2e.Case):
    def test_the_bytes_of_the_victims(self):
        """llvm-symbolizer has to give the same names, inline frames, files and lines.  Where two rows of a line
        table start at one byte it takes the first, and we from the next byte on the last: this affects a handful of bytes, and only
        lines."""
        if not shutil.which("llvm-symbolizer-19"):
            self.skipTest("no llvm-symbolizer-19")
        for variant in ("ob0", "ob2", "lua-ob0", "lua-ob2"):
            image = e2e.BUILD / f"victims/bin/victims-{variant}.exe"
            if not image.exists():
                self.skipTest(f"no {image.name}: the victims are not built")
            with self.subTest(variant):
                self.judge(image, image.with_suffix(".pdb"), 50000)

    def test_the_bytes_of_the_corpus(self):
        """The same for the PDBs in the repository, so that a fresh clone without fixtures detects a
        wrong reader."""
        if not shutil.which("llvm-symbolizer-19"):
            self.skipTest("no llvm-symbolizer-19")
        store = e2e.ROOT / "corpus/symbols"
        for name, least in (("victims-ob0", 50000), ("victims-ob2", 50000), ("plugin-call-ob2", 500)):
            (pdb,), (image,) = store.glob(f"{name}.pdb/*/*.pdb"), [*store.glob(f"{name}.exe/*/*"), *store.glob(f"{name}.dll/*/*")]
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                self.judge(shutil.copy(image, folder), shutil.copy(pdb, folder), least)

    def judge(self, image, pdb, least):
        said = subprocess.run([sys.executable, e2e.ROOT / "tests/bench/judge_symbolizer.py",
                               e2e.BUILD / "tests/bench_symbols", image, pdb, str(STEP)],
                              capture_output=True, text=True, check=True, timeout=120 * e2e.PATIENCE).stdout
        causes = {line.split(None, 1)[1].strip(): int(line.split()[0]) for line in said.splitlines()}
        agreed = causes.pop("agree")
        self.assertGreater(agreed, least / STEP)
        self.assertLess(sum(causes.values()), max(agreed / 2000, 5), said)
        self.assertEqual([c for c in causes if not c.startswith("line of")], [], said)


def without_spelling(text):
    """Removes what llvm-undname spells differently, and nothing else. Calling conventions and arrays without a bound:
    test_microsoft.py compares them with Microsoft's own spelling."""
    text = re.sub(r"\b__(cdecl|stdcall|thiscall|fastcall|vectorcall|clrcall)\b", "", text).replace("[0]", "[]")
    text = re.sub(r"\b(class|struct|enum|union) ", "", text).replace("[thunk]:", "").replace(" ", "")
    text = re.sub(r"^const(?=.*`(v[fb]table|RTTIComplete))", "", text).replace("deletingdtor", "deletingdestructor")
    return text.replace("vbasedtor", "vbasedestructor")


def without_scopes_in_functions(text):
    """Replaces `int __cdecl f(void)'::`2' with `X', because llvm-undname prints such a scope with its result type."""
    out, at = "", 0
    while at < len(text):
        end, depth = at, 0
        while text[at] == "`" and end < len(text):
            depth += {"`": 1, "'": -1}.get(text[end], 0)
            if depth == 0:
                break
            end += 1
        if text[at] == "`" and re.match(r"::`-?\d+'", text[end + 1:]):
            out, at = out + "`X'", end + 1
        else:
            out, at = out + text[at], at + 1
    return out


def without_parameters(text):
    text = re.sub(r"( const| volatile| &| &&| noexcept| __restrict)*$", "", text)
    if not text.endswith(")"):
        return text
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[at], 0)
        if depth == 0:
            return text[:at]
    return text


class Names(e2e.Case):
    @staticmethod
    @functools.cache
    def publics():
        names = set()
        for pdb in sorted(e2e.FIXTURES.glob("*/*.pdb")):
            done = subprocess.run(["llvm-pdbutil-19", "dump", "-publics", str(pdb)], capture_output=True, text=True,
                                  errors="replace", check=False)
            names.update(re.findall(r"\| S_PUB32 \[size = \d+\] `(\?.*)`$", done.stdout, re.M))
        return sorted(names)

    def test_no_name_is_wrong(self):
        if not shutil.which("llvm-undname-19") or not shutil.which("llvm-pdbutil-19"):
            self.skipTest("llvm-undname-19 or llvm-pdbutil-19 is not there")
        names = self.publics()
        if not names:
            self.skipTest("no fixtures ($TWINSTACK_FIXTURES)")
        text = "\n".join(names) + "\n"
        flags = [f"--no-{what}" for what in
                 ("access-specifier", "calling-convention", "return-type", "member-type", "variable-type")]
        judged = subprocess.run(["llvm-undname-19", *flags], input=text, capture_output=True, text=True,
                                errors="replace", check=False).stdout
        want = dict(block.strip("\n").split("\n")[:2] for block in judged.split("\n\n") if "\n" in block.strip("\n"))
        for how in ("short", "full"):
            lines = subprocess.run([str(e2e.BUILD / "tests/undecorate_lines"), how], input=text, capture_output=True,
                                   text=True, errors="replace", check=True).stdout.split("\n")
            wrong, done, literals, left = [], 0, 0, 0
            for name, ours in zip(names, lines):
                if ours == "-":
                    left += 1
                    continue
                if name.startswith("??_C@"):  # llvm-undname prints the literal, MSVC `string'
                    literals += ours == "`string'"
                    continue
                theirs = want.get(name, "nothing")
                if re.search(r"@@\$\$[FHhJQ]|P\$0\d", name):  # managed code: llvm-undname does not know these marks
                    continue
                theirs = without_parameters(theirs) if how == "short" else theirs
                if name.startswith("??_R0"):  # with --no-variable-type llvm-undname drops the type that it describes
                    ours = ours[ours.find("`RTTI Type"):]
                ours, theirs = without_spelling(ours), without_spelling(theirs)
                # with --no-return-type llvm-undname drops the results of function types, too
                if "$$A6" not in name and ours != theirs and \
                        without_scopes_in_functions(ours) != without_scopes_in_functions(theirs):
                    wrong.append((name, ours, theirs))
                done += 1
            print(f"undecorated {how}: {done} names and {literals} literals of {len(names)}, {left} left as they are")
            self.assertEqual(wrong[:5], [])
            self.assertLess(left, len(names) / 10)


    def undecorated(self, names, how="full"):
        return subprocess.run([str(e2e.BUILD / "tests/undecorate_lines"), how], input="\n".join(names) + "\n", text=True,
                              capture_output=True, errors="replace", check=True).stdout.split("\n")[:len(names)]

    def test_itanium_names_are_those_of_llvm_cxxfilt(self):
        """Those of LLVM's libraries, which export tens of thousands; in the soak of every library, and of programs in C++20 and Rust.
        The full form is llvm-cxxfilt's, the short one that of its option -p, and without the parameters of thunks and the result of a
        function that encloses an entity. Names that it cannot read are libiberty's."""
        if not shutil.which("llvm-cxxfilt-19") or not shutil.which("llvm-nm-19"):
            self.skipTest("llvm-cxxfilt-19 or llvm-nm-19 is not there")
        libraries = [f for f in pathlib.Path("/usr/lib/llvm-19/lib").glob("*.so.1*") if re.match("liblldb|libclang-cpp", f.name)]
        if not libraries:
            self.skipTest("no LLVM libraries to take names from")
        if e2e.SOAK:
            libraries += [f for f in pathlib.Path("/usr/lib/x86_64-linux-gnu").glob("*.so*") if not f.is_symlink()]
        exported = subprocess.run(["llvm-nm-19", "-D", "--defined-only", *libraries], capture_output=True, text=True, check=False).stdout
        names = sorted(set(re.findall(r" (_[ZR][^\s@]+)", exported + (self.compiled_names() if e2e.SOAK else ""))))[::1 if e2e.SOAK else 3]
        for how, options in (("full", []), ("short", ["-p"])):
            judged = subprocess.run(["llvm-cxxfilt-19", *options], input="\n".join(names) + "\n", capture_output=True, text=True,
                                    check=True).stdout.split("\n")
            wrong, unread = [], 0
            for name, ours, theirs in zip(names, self.undecorated(names, how), judged):
                if re.fullmatch(RUST_LEGACY, name):
                    theirs = rust_legacy(name)
                elif theirs == name:
                    unread += 1
                    continue
                if ours != theirs and not (how == "short" and (theirs.split(" thunk to ")[-1].startswith(ours.split(" thunk to ")[-1] + "(")
                                                               or (name.startswith("_ZZ") and theirs.endswith(" " + ours)))):
                    wrong.append((name, ours, theirs))
            print(f"Itanium and Rust, {how}: {len(names)} names, {len(wrong)} differ, llvm-cxxfilt reads {unread} not")
            self.assertGreater(len(names), 100000 if e2e.SOAK else 1000)
            self.assertLess(unread, len(names) / 100)
            self.assertLessEqual(len(wrong), len(names) / 200 if e2e.SOAK else 0, wrong[:5])

    def compiled_names(self):
        """Symbols of programs that this machine's compilers build, as llvm-nm prints them."""
        printed = ""
        sources = e2e.ROOT / "tests/strangers"
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder, "made.o")
            for argv in (*([cxx, "-std=c++20", "-w", level, "-c", sources / source] for cxx in ("g++", "clang++-19")
                           for level in ("-O0", "-O2") for source in ("own.cpp", "ranges.cpp")),
                         *(["rustc", "--edition=2021", "-Csymbol-mangling-version=" + form, sources / "own.rs"] for form in ("v0", "legacy"))):
                if shutil.which(argv[0]) and subprocess.run([*argv, "-o", made], capture_output=True, check=False).returncode == 0:
                    printed += subprocess.run(["llvm-nm-19", made], capture_output=True, text=True, check=True).stdout
                else:
                    print("not there, or it cannot build this:", *argv)
        return printed

    def test_rust_legacy_names_lose_hash_and_escapes(self):
        """llvm-cxxfilt takes them for C++, so this test decodes the escapes itself, with the table in Rust's own documentation."""
        names = sorted({n.decode() for pdb in e2e.FIXTURES.glob("g19-rust-x64/*.pdb")
                        for n in re.findall(RUST_LEGACY.encode(), pdb.read_bytes())})
        if not names:
            self.skipTest("no fixtures ($TWINSTACK_FIXTURES)")
        wrong = [(name, ours, rust_legacy(name)) for name, ours in zip(names, self.undecorated(names)) if ours != rust_legacy(name)]
        print(f"Rust: {len(names)} names")
        self.assertEqual(wrong[:5], [])

    def test_the_mark_of_arm64ec_changes_no_name(self):
        plain = [n for n in self.publics() if re.match(r"\?[A-Za-z_]\w*(@\w+)*@@[YQUA]", n)] if shutil.which("llvm-pdbutil-19") else []
        if not plain:
            self.skipTest("no fixtures ($TWINSTACK_FIXTURES), or no llvm-pdbutil-19")
        marked = [n.replace("@@", "@@$$h", 1) for n in plain]
        differing = [(m, o, p) for m, o, p in zip(marked, self.undecorated(marked), self.undecorated(plain)) if o != p]
        print(f"ARM64EC: {len(plain)} names")
        self.assertEqual(differing[:5], [])


e2e.main()
