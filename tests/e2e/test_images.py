"""Images and symbol files other than a PE with a plain PDB: every row on which two other tools
agree."""

import gzip
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import dump_maker  # noqa: E402
import e2e  # noqa: E402

KINDS = ("breakpad", "msfz")
# The other spelling of the same id: 32 hex digits and an age.
SAMPLE = ("MODULE windows x86_64 3249D99D0C4049318610F4E4FB0B69361 app.pdb\nINFO CODE_ID 5AB380779000 app.exe\n"
          "FILE 0 d:/src/main.c\nFUNC 1000 100 8 main\n1000 100 10 0\nPUBLIC 2000 0 exported\n")
IDENTITY = "3249D99D0C4049318610F4E4FB0B69361"


def bare(text):
    """A name up to its parameter list, the part on which tools agree."""
    return text.split("(")[0].split("<")[0].strip()


def stack(debug_id, offset="0x1000"):
    return json.dumps({"schema_version": 1, "modules": [
        {"index": 0, "name": "app.exe", "code_id": None, "debug_id": debug_id, "base": "0x400000", "size": "0x9000"}],
        "frames": [{"module": 0, "offset": offset, "kind": "interrupted"}]})


class Images(e2e.Case):
    def test_rows_on_which_other_tools_agree(self):
        root = self.fixture("images")
        for entry in json.loads((root / "images.json").read_text()):
            if entry["kind"] not in KINDS:
                continue
            ref = root / entry["ref"]
            lines = (gzip.open(ref.with_name(ref.name + ".gz"), "rt") if not ref.exists() else open(ref)).readlines()
            rows = [row for row in map(json.loads, lines) if row.get("agree") is True]
            text = "".join(f"> s\n{entry['module']}!{row['rva']}\n" for row in rows)
            with self.subTest(entry["id"]):
                done = self.run_twinstack("resolve", "--ndjson", "--symbols", root / entry["image"], stdin=text)
                for row, line in zip(rows, done.stdout.splitlines(), strict=True):
                    got, want = ([f for f in frames if f["function"] or f["line"]]
                                 for frames in (json.loads(line)["frames"], row["frames"]))
                    self.assertEqual([f["line"] or 0 for f in got], [f["line"] or 0 for f in want], row)
                    if not entry["id"].endswith(".old"):  # that form does not state the file of a
                                                          # call
                        self.assertEqual([pathlib.PureWindowsPath(f["file"] or "").name for f in got],
                                         [pathlib.PureWindowsPath(f["file"] or "").name for f in want], row)
                    if entry["kind"] == "breakpad":
                        self.assertEqual([bare(f["function"]) for f in got], [bare(f["function"]) for f in want], row)


    def test_a_public_symbol_of_a_sym_file_as_text(self):
        """Its kind, breakpad-public, is longer than the column of kinds, and how far it goes is not known."""
        (self.folder / "app.sym").write_text(SAMPLE)
        done = self.run_twinstack("resolve", "--symbols", self.folder / "app.sym",
                                  stdin="app.exe!0x1000\napp.exe!0x2010@i\napp.exe!0x1010@i\n")
        self.assertEqual(done.stdout, " 0  app.exe!0x1000  breakpad   main  d:/src/main.c:10\n 1  app.exe!0x2010  breakpad-public exported+0x10\n"
                                      " 2  app.exe!0x1010  breakpad   main  d:/src/main.c:10\n\n")


OTHER = "00112233445566778899AABBCCDDEEFF0"


class Addresses(e2e.Case):
    MAP = ("# module main - CF441AF5-BB7E-3567-8D44-451D69214D92 0x102f04000 0x8000\n"
           "# module libother.dylib - - 0x102f0c000 0x1000\n")

    def resolve(self, text, *files):
        root = self.fixture("images/i02-macho-arm64-simple/mac-dsym")
        done = self.run_twinstack("resolve", "--ndjson", "--addresses",
                                  *[word for file in files for word in ("--symbols", root / file)], stdin=text)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_a_load_map_gives_the_offsets_answers(self):
        root = self.fixture("images/i02-macho-arm64-simple")
        rows = [json.loads(line) for line in (root / "mac-dsym.ref.jsonl").read_text().splitlines()]
        rows = [row for row in rows if row["agree"]]
        text = self.MAP + "".join(f"> s\n{0x102f04000 + int(row['rva'], 16):#x}\n" for row in rows)
        dsym = "main.dSYM/Contents/Resources/DWARF/main"
        got = self.resolve(text, "main", dsym)
        direct = self.run_twinstack("resolve", "--ndjson", "--symbols", root / "mac-dsym/main", "--symbols",
                                    root / "mac-dsym" / dsym, stdin="".join(f"> s\nmain!{row['rva']}\n" for row in rows))
        keys = ("function", "file", "line", "offset", "symbols", "inline_depth")
        for one, other in zip(got, map(json.loads, direct.stdout.splitlines()), strict=True):
            self.assertEqual([[f[key] for key in keys] for f in one["frames"]],
                             [[f[key] for key in keys] for f in other["frames"]])
            self.assertEqual({f["identity"] for f in one["frames"]}, {"checked"})

    def test_exact_with_a_dsym_and_nearest_without(self):
        frames = self.resolve(self.MAP + "0x102f077e6\n0x102f077e6\n", "main")[0]["frames"]
        self.assertLessEqual({f["symbols"] for f in frames}, {"symtab", "nearest"})
        self.assertEqual([f["offset"] for f in frames], ["0x37e6", "0x37e6"])

    def test_json_says_where_each_image_was(self):
        text = ("# module main - CF441AF5-BB7E-3567-8D44-451D69214D92 0x{:x} 0x8000\n"
                f"# module libother.dylib - {OTHER} 0x102f0c000 0x1000\n" "0x{:x}\n0x102f0c010\n0x{:x}\n0x10\n")
        other = {"name": "libother.dylib", "code_id": None, "debug_id": OTHER, "build_id": None, "base": "0x102f0c000",
                 "slide": None}
        main = {"name": "main", "code_id": None, "build_id": None}
        known = "CF441AF5BB7E35678D44451D69214D920"
        for base, slide, files in ((0x102f04000, "0x2f04000", ["main"]), (0xff000000, "-0x1000000", ["main"]),
                                   (0x100000000, "0x0", ["main"]), (0x102f04000, None, [])):
            with self.subTest(base=base, files=files):
                stack, = self.resolve(text.format(base, base + 0x37e6, base + 0x37f0), *files)
                self.assertEqual(stack["modules"], [
                    main | {"debug_id": known, "base": hex(base), "slide": slide}, other])
        stack, = self.resolve(text.replace("CF441AF5-BB7E-3567-8D44-451D69214D92", "-")
                              .format(0x102f04000, 0x102f077e6, 0x102f077f0), "main")
        self.assertEqual(stack["modules"][0]["debug_id"], known)  # of the file that answered
        self.assertEqual(self.resolve("?!0x10\n")[0]["modules"], [])

    def test_addresses_outside_of_the_map(self):
        frames = self.resolve(self.MAP + "0x102f03fff\n?!0x102f0bfff\n0x102f0c000\n0x102f0d000\n")[0]["frames"]
        self.assertEqual([(f["module"], f["offset"]) for f in frames],
                         [(None, "0x102f03fff"), ("main", "0x7fff"), ("libother.dylib", "0x0"), (None, "0x102f0d000")])

    def test_an_address_is_no_frame_unless_asked_for(self):
        self.assertIn("malformed", self.run_twinstack("resolve", "--ndjson", stdin=self.MAP + "0x102f077e6\n", exit_code=3).stdout)


class Kinds(e2e.Case):
    """`symbols list`, `verify` and `add` know every kind of file, and refuse other files."""

    FILES = {"breakpad": "i30-breakpad/xul.sym", "elf": "i12-elf-dump_syms/basic.full",
             "macho": "i02-macho-arm64-simple/mac-dsym/main", "pdb": "i50-msfz/ms-plain/crash.pdb",
             "image": "i70-symstores/plain/x64_nested_collided.exe/62524D629000/x64_nested_collided.exe"}

    def test_what_is_added_is_listed_and_verified(self):
        root, store = self.fixture("images"), self.folder / "store"
        for kind, name in self.FILES.items():
            with self.subTest(kind):
                files = self.run_json("symbols", "list", "--json", root / name)["files"]
                self.assertEqual([f["kind"] for f in files], [kind])
                self.run_twinstack("symbols", "add", "--symbols", store, root / name)
        done = self.run_twinstack("symbols", "verify", "--symbols", store)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], ["good"] * len(self.FILES))

    def test_keys_of_symbol_servers_are_known(self):
        store = self.fixture("images/i70-symstores/ssqp")
        for folder in store.iterdir():
            if folder.name != "portable.pdb":
                with self.subTest(folder.name):
                    done = self.run_twinstack("symbols", "verify", folder)
                    self.assertTrue(done.stdout.startswith("good "), done.stdout)

    def test_a_named_file_of_another_kind_is_an_error(self):
        path = self.folder / "notes.txt"
        path.write_text("nothing of symbols\n")
        for argv in (("symbols", "list", path), ("symbols", "verify", path), ("resolve", "--symbols", path),
                     ("resolve", "--pdb", path)):
            with self.subTest(argv[:2]):
                done = self.run_twinstack(*argv, stdin="a.exe!0x1\n", exit_code=3)
                self.assertIn("notes.txt", done.stderr)


class Identity(e2e.Case):
    """What the input states about the build, and what happens when it states nothing."""

    STORES = "images/i70-symstores"
    ID = "7DD47A9FC2E8499AA78EC14AE2C965A21"

    def frame(self, store, text, *options, exit_code=0):
        done = self.run_twinstack("resolve", "--json", "--symbols", self.fixture(self.STORES) / store, *options,
                                  stdin=text, exit_code=exit_code)
        frame = json.loads(done.stdout)["frames"][0]
        return frame["symbols"], frame["function"], frame["identity"]

    def test_a_pdb_under_a_key_that_is_not_its_own_names_nothing(self):
        self.assertEqual(self.frame("plain", "sigsegv.dll!0x1100\n"), ("pdb", "foo", "unchecked"))
        self.assertEqual(self.frame("wrong", "sigsegv.dll!0x1100\n")[:2], ("mismatch", None))

    def test_an_identity_in_the_text_decides(self):
        other = self.ID[:-1] + "2"
        for form in ("sigsegv.dll!0x1100 {%s}\n", "# module sigsegv.dll - %s\nsigsegv.dll!0x1100\n"):
            with self.subTest(form):
                self.assertEqual(self.frame("plain", form % self.ID), ("pdb", "foo", "checked"))
                self.assertEqual(self.frame("plain", form % other)[:2], ("none", None))
                self.assertEqual(self.frame("wrong", form % self.ID)[:2], ("mismatch", None))

    def test_an_input_without_one_is_said_and_strict_refuses(self):
        store = self.fixture(self.STORES) / "plain"
        done = self.run_twinstack("resolve", "--symbols", store, stdin="sigsegv.dll!0x1100\n")
        self.assertIn("states no identity", done.stderr)
        self.run_twinstack("resolve", "--symbols", store, "--strict", stdin="sigsegv.dll!0x1100\n", exit_code=3)
        known = "sigsegv.dll!0x1100 {%s}\n" % self.ID
        done = self.run_twinstack("resolve", "--symbols", store, "--strict", stdin=known)
        self.assertEqual(done.stderr, "")


class Breakpad(e2e.Case):
    """How a .sym file is found, and what it never does."""

    def symbols(self, *places):
        folder = self.folder / "symbols"
        for place in places:
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_text(SAMPLE)
        return folder

    def frame(self, folder, stdin):
        answer = self.run_json("resolve", "--json", "--symbols", folder, stdin=stdin)
        frame = answer["frames"][0]
        return frame["symbols"], frame["function"], frame["identity"]

    def test_found_by_identity_and_by_name(self):
        plain, laid_out = self.symbols("app.sym"), f"app.pdb/{IDENTITY}/app.sym"
        self.assertEqual(self.frame(plain, stack(IDENTITY)), ("breakpad", "main", "checked"))
        self.assertEqual(self.frame(plain, "app.exe!0x1000\n"), ("breakpad", "main", "unchecked"))
        self.assertEqual(self.frame(plain, "app.exe!0x2004\n"), ("breakpad-public", "exported", "unchecked"))
        shutil.rmtree(plain)
        folder = self.symbols(laid_out)
        self.assertEqual(self.frame(folder, stack(IDENTITY)), ("breakpad", "main", "checked"))
        self.assertEqual(self.frame(folder, "app.exe!0x1000\n"), ("breakpad", "main", "unchecked"))

    def test_another_build_names_nothing(self):
        other = IDENTITY[:-1] + "2"
        for place in ("app.sym", f"app.pdb/{other}/app.sym"):
            with self.subTest(place):
                folder = self.symbols(place)
                self.assertEqual(self.frame(folder, stack(other))[:2], ("mismatch", None))
                shutil.rmtree(folder)

    def test_bound_to_a_name(self):
        path = self.symbols("x.sym") / "x.sym"
        done = self.run_json("resolve", "--json", "--pdb", f"tool.dll={path}", stdin="tool.dll!0x1000\n")
        self.assertEqual([f["function"] for f in done["frames"]], ["main"])


class Written(e2e.Case):
    """`symbols export --format breakpad`: read back by this program and by Breakpad's own minidump_stackwalk."""

    BASE, CODE = 0x140000000, 0x1000

    def files(self, pdb, image):
        """The exported file in Breakpad's folder layout; its folder, its text, its first line."""
        pdb, image = (next(path for path in (e2e.ROOT / "corpus" / p).rglob("*") if path.is_file()) if
                      (e2e.ROOT / "corpus" / p).is_dir() else e2e.ROOT / "corpus" / p for p in (pdb, image))
        done = self.run_twinstack("symbols", "export", "--format", "breakpad", "--image", image, pdb)
        head = done.stdout.splitlines()[0].split(" ", 4)
        path = self.folder / "sym" / head[4] / head[3] / (pathlib.Path(head[4]).stem + ".sym")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(done.stdout)
        return pdb, image, path, done.stdout, head

    def resolved(self, symbols, module, offsets):
        text = "".join(f"> s\n{module}!{offset:#x}@i\n" for offset in offsets)
        done = self.run_twinstack("resolve", "--ndjson", "--pdb", f"{module}={symbols}", stdin=text)
        return [[(f["function"], f["file"], f["line"]) for f in json.loads(line)["frames"]]
                for line in done.stdout.splitlines()]

    def offsets(self, text, step):
        """First and last bytes of lines and of inlined calls."""
        out = set()
        for line in text.splitlines():
            words = line.split(" ")
            if words[0] == "INLINE":
                out |= {int(words[5], 16), int(words[5], 16) + int(words[6], 16) - 1}
            elif re.fullmatch(r"[0-9a-f]+", words[0]):
                out |= {int(words[0], 16), int(words[0], 16) + int(words[1], 16) - 1}
        return sorted(out)[::step]

    PAIRS = (("symbols/victims-ob2.pdb", "symbols/victims-ob2.exe"),
             ("symbols/victims-x86-ob2.pdb", "symbols/victims-x86-ob2.exe"))

    def test_read_back_it_answers_as_the_pdb(self):
        for names in self.PAIRS:
            with self.subTest(names[0]):
                pdb, image, path, text, _ = self.files(*names)
                offsets = self.offsets(text, 3)
                self.assertGreater(len(offsets), 100)
                want = self.resolved(pdb, image.name, offsets)
                for offset, got, wanted in zip(offsets, self.resolved(path, image.name, offsets), want, strict=True):
                    self.assertEqual(got, wanted, hex(offset))

    def walk(self, dump, symbols, image, threads):
        """Frames per thread as minidump_stackwalk prints them: module offset or (function, file, line)."""
        dump.save(self.folder / "made.dmp")
        tool = e2e.BUILD / "tools/node_modules/minidump/bin/linux-x64/minidump_stackwalk"
        if not tool.is_file():
            self.skipTest("no minidump_stackwalk (npm install --prefix build/tools minidump)")
        done = subprocess.run([tool, "-m", self.folder / "made.dmp", symbols], capture_output=True, text=True,
                              errors="replace", timeout=60 * e2e.PATIENCE, check=False)
        out = [[] for _ in range(threads)]
        for line in done.stdout.splitlines():
            words = line.split("|")
            if words[0].isdigit() and len(words) == 7:
                out[int(words[0])].append(words[2:])
        return out

    def made(self, image, head, threads):
        """A dump with a module and one thread per (pc, stack)."""
        guid = uuid.UUID(head[3][:32]).bytes_le
        codeview = b"RSDS" + guid + struct.pack("<I", int(head[3][32:], 16)) + head[4].encode() + b"\0"
        dump = dump_maker.Dump(arch="x64" if head[2] == "x86_64" else "x86")
        base = self.BASE if head[2] == "x86_64" else 0x400000
        at, size = struct.unpack_from("<I", image.read_bytes(), 0x3c)[0], 0
        stamp, = struct.unpack_from("<I", image.read_bytes(), at + 8)
        size, = struct.unpack_from("<I", image.read_bytes(), at + 24 + 56)
        dump.module(f"C:\\{image.name}", base, size, stamp, codeview=codeview)
        for number, (offset, stack) in enumerate(threads):
            sp = 0x10000000 + number * 0x10000
            data = b"".join(struct.pack("<Q" if base == self.BASE else "<I", base + v) for v in stack)
            dump.thread(number + 1, pc=base + offset, sp=sp, stack=(sp, data or bytes(64)))
        return dump

    def test_minidump_stackwalk_reads_functions_lines_and_inlined_calls(self):
        for names in self.PAIRS:
            with self.subTest(names[0]):
                _, image, path, text, head = self.files(*names)
                offsets = self.offsets(text, 7)[:400]
                want = self.resolved(path, image.name, offsets)
                walked = self.walk(self.made(image, head, [(o, ()) for o in offsets]), self.folder / "sym", image,
                                   len(offsets))
                for offset, frames, wanted in zip(offsets, walked, want, strict=True):
                    got = [(f[1], f[2], int(f[3] or 0)) for f in frames[:len(wanted)]]
                    self.assertEqual(got, [(f[0], f[1] or "", f[2] or 0) for f in wanted], hex(offset))

    def test_minidump_stackwalk_finds_callers_by_its_unwind_data(self):
        _, image, path, text, head = self.files(*self.PAIRS[0])
        functions = [tuple(int(w, 16) for w in line.split(" ")[1:3]) for line in text.splitlines()
                     if line.startswith("FUNC ")]
        starts = [a for a, _ in functions]
        covered = [(int(w[3], 16), int(w[4], 16)) for w in (line.split(" ") for line in text.splitlines())
                   if w[:3] == ["STACK", "CFI", "INIT"]]
        # in the prologue and in the body; every slot of the stack is a different return address
        places = [a + part for a, n in covered for part in (0, 1, min(12, n - 1), n // 2)
                  if any(s <= a < s + z for s, z in functions)][:600]
        slots = [starts[(i * 37) % len(starts)] + 1 for i in range(900)]
        dump = self.made(image, head, [(p, slots) for p in places])
        walked = self.walk(dump, self.folder / "sym", image, len(places))
        ours = self.run_json("dump", self.folder / "made.dmp", "--symbols", e2e.ROOT / "corpus/symbols", "--stacks",
                             "--json")["threads"]
        same = checked = 0
        for place, frames, thread in zip(places, walked, ours, strict=True):
            physical = [f for f in thread["stack"]["frames"] if not f["inlined"]]
            if len(physical) < 2 or physical[1]["found_by"] != "unwind" or physical[1]["module"] != image.name:
                continue
            wanted = [f for f in thread["stack"]["frames"] if f["index"] == physical[1]["index"]]
            inner = len([f for f in thread["stack"]["frames"] if f["index"] == physical[0]["index"]])
            checked += 1
            same += [f[1] for f in frames[inner:inner + len(wanted)]] == [f["function"] for f in wanted]
        self.assertGreater(checked, 100)
        self.assertGreaterEqual(same, checked * 0.97, f"{same} of {checked}: epilogues are not described")


e2e.main()
