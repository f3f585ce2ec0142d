"""Images other than a PE with a PDB, and PDBs of rare writers: what is read of them, and the messages for files that cannot be used."""

import json
import lzma
import pathlib
import re
import resource
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

# Wine of Debian 12, with which the corpus was made.
WINE = pathlib.Path("/usr/lib/x86_64-linux-gnu/wine/x86_64-windows")


class OtherWriters(e2e.Case):
    """A PDB by GNU ld: contributions in the order of objects, scopes that state a distance in place of their end."""

    # As llvm-symbolizer answers by the DWARF of the same image.
    ROWS = ((0x1000, "outer", 8), (0x1007, "outer", 10), (0x1020, "outer", 11), (0x1033, "outer", 12), (0x1050, "inner", 3),
            (0x1051, "inner", 4), (0x1055, "inner", 5), (0x1060, "start", 16), (0x1070, "scaled", 5))

    def test_gnu_ld(self):
        folder = e2e.ROOT / "corpus/gnu-ld"
        text = "".join(f"> {at:#x}\ngnu.exe!{at:#x}@i\n" for at, *_ in self.ROWS)
        for index in ("never", "always"):
            done = self.run_twinstack("resolve", "--ndjson", "--index", index, "--pdb", f"gnu.exe={folder / 'gnu.pdb'}", "-", stdin=text)
            got = [json.loads(line)["frames"][0] for line in done.stdout.splitlines()]
            self.assertEqual([(f["function"], f["line"], f["symbols"], f["note"]) for f in got],
                             [(function, line, "pdb", None) for _, function, line in self.ROWS])

    def test_pdb_rs(self):
        """The same PDB, written anew by pdb-rs in blocks of 512 bytes, and every other stream three times more, as it changes a file:
        the older streams are left between the new ones, and the map of free blocks has changed places."""
        folder = e2e.ROOT / "corpus/gnu-ld"
        for form in ((), ("--format", "breakpad")):
            found = []
            for name in ("gnu.pdb", "by-pdb-rs.pdb"):
                shutil.copy(folder / name, self.folder / "gnu.pdb")
                found.append(self.run_twinstack("symbols", "export", *form, self.folder / "gnu.pdb").stdout)
            self.assertRegex(found[0], r"\bouter\b")
            self.assertEqual(found[0], found[1])

    def test_no_section_headers(self):
        """cv2pdb writes none: only the image, and no other build of it, says where the code lies."""
        pdb, image = (bytearray((e2e.ROOT / "corpus/gnu-ld" / name).read_bytes()) for name in ("gnu.pdb", "gnu.exe"))
        dbi = pdb.index(struct.pack("<iI", -1, 19990903))
        sizes = struct.unpack_from("<5I", pdb, dbi + 24) + struct.unpack_from("<I", pdb, dbi + 52)
        struct.pack_into("<H", pdb, dbi + 64 + sum(sizes) + 10, 0xFFFF)
        other = bytearray(image)
        other[image.index(b"RSDS") + 4] ^= 1
        known = self.run_json("symbols", "list", "--json", e2e.ROOT / "corpus/gnu-ld/gnu.pdb")["files"][0]["debug_id"]
        text = "".join(f"> {at:#x}\ngnu.exe!{at:#x}@i {{{known}}}\n" for at, *_ in self.ROWS)
        want = [(function, line, "pdb", None) for _, function, line in self.ROWS]
        none = [(None, None, "none", "the PDB has no section headers: only its image says where its code lies")] * len(want)
        for name, beside, index, rows in (("alone", None, "always", none), ("other", other, "always", none),
                                          ("image", image, "never", want), ("image", image, "always", want)):
            folder = self.folder / name
            folder.mkdir(exist_ok=True)
            (folder / "gnu.pdb").write_bytes(pdb)
            if beside is not None:
                (folder / "gnu.exe").write_bytes(beside)
            done = self.run_twinstack("resolve", "--ndjson", "--index", index, "--symbols", folder, "-", stdin=text)
            got = [json.loads(line)["frames"][0] for line in done.stdout.splitlines()]
            self.assertEqual([(f["function"], f["line"], f["symbols"], f["note"]) for f in got], rows, (name, index))
        done = self.run_twinstack("resolve", "--ndjson", "--index", "never", "--pdb", f"gnu.exe={self.folder / 'alone/gnu.pdb'}",
                                  "--symbols", self.folder / "image/gnu.exe", "-", stdin=text)
        got = [json.loads(line)["frames"][0] for line in done.stdout.splitlines()]
        self.assertEqual([(f["function"], f["line"], f["symbols"], f["note"]) for f in got], want, "a PDB that the user binds")
        for form in ((), ("--format", "breakpad")):
            done = self.run_twinstack("symbols", "export", *form, self.folder / "image/gnu.pdb")
            self.assertRegex(done.stdout, r"\bouter\b")


class Made(e2e.Case):
    def test_code_outside_the_range_that_a_unit_of_dwarf_2_states(self):
        if shutil.which("gcc") is None or shutil.which("nm") is None:
            self.skipTest("no gcc")
        source, program = self.folder / "rare.c", self.folder / "rare"
        source.write_text("__attribute__((cold, noinline)) int rare(int x)\n{\n    volatile int y = x;\n"
                          "    return y * 2;\n}\nint plain(int x)\n{\n    if (x == 77777) {\n"
                          "        __builtin_printf(\"%d\", rare(x));\n        __builtin_abort();\n    }\n"
                          "    return x + 1;\n}\nint main(int c, char **v)\n{\n    (void)v;\n"
                          "    return c > 9 ? rare(c) : plain(c);\n}\n")
        subprocess.run(["gcc", "-O2", "-fno-inline", "-gdwarf-2", "-gstrict-dwarf", "-o", program, source], check=True)
        names = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
        for symbol, lines in (("rare", (2, 3)), ("plain.cold", (7, 9, 10))):
            found = re.search(rf"^([0-9a-f]+) [tT] {re.escape(symbol)}$", names, re.M)
            if found is None:
                continue  # this compiler has no cold part
            done = e2e.twinstack("resolve", "--ndjson", "--symbols", program, "-", stdin=f"rare!0x{found[1]}@i\n")
            frame = json.loads(done.stdout)["frames"][-1]
            with self.subTest(symbol):
                self.assertIsNotNone(frame["function"])
                self.assertIn(frame["line"], lines)

    def test_an_image_of_many_sections_takes_no_longer_for_each(self):
        """Code in 60,000 sections, as of objects that no script of the linker puts together: building their index is no square of their number."""
        count, code = 60000, 0x1000
        names = b"\0.t\0f\0".ljust(8, b"\0")
        symbols = bytes(24) + struct.pack("<IBBHQQ", 4, 0x12, 0, 1, code, 16)
        sections = bytes(64) + b"".join(struct.pack("<IIQQQQIIQQ", 1, 1, 6, code + i, code + i, 1, 0, 0, 1, 0) for i in range(count))
        sections += struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 120, len(names), 0, 0, 1, 0)
        sections += struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, 128, len(symbols), count + 1, 1, 8, 24)
        head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 62, 1, code, 64, code + count, 0, 64, 56, 1, 64, count + 3, count + 1)
        load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, code + count, code + count, 4096)
        image = self.folder / "many"
        image.write_bytes((head + load + names + symbols).ljust(code + count, b"\x90") + sections)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = self.run_twinstack("resolve", "--index", "always", "--cache", self.folder / "cache", "--symbols", image, stdin="many!0x1001\n")
        self.assertIn("symtab     f+0x1", done.stdout)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, 0.7)

    def test_names_in_a_compressed_section(self):
        if shutil.which("gcc") is None or shutil.which("nm") is None or shutil.which("objcopy") is None:
            self.skipTest("no gcc")
        (self.folder / "mini.c").write_text("static __attribute__((noinline)) int inner(int a) { volatile int b = a; return b; }\n"
                                            "int main(int c, char **v) { (void)v; return inner(c); }\n")
        subprocess.run(["gcc", "-O1", "mini.c", "-o", "mini"], check=True, cwd=self.folder)
        names = subprocess.run(["nm", self.folder / "mini"], capture_output=True, text=True, check=True).stdout
        at = int(re.search(r"^([0-9a-f]+) t inner", names, re.M)[1], 16)
        for check in (lzma.CHECK_CRC64, lzma.CHECK_CRC32, lzma.CHECK_SHA256):
            (self.folder / "names.xz").write_bytes(lzma.compress((self.folder / "mini").read_bytes(), check=check))
            subprocess.run(["strip", "-o", "stripped", "mini"], check=True, cwd=self.folder)
            subprocess.run(["objcopy", "--add-section", ".gnu_debugdata=names.xz", "stripped"], check=True, cwd=self.folder)
            done = e2e.twinstack("resolve", "--ndjson", "--index", "never", "--symbols", self.folder / "stripped", "-",
                                 stdin=f"stripped!{at:#x}\n")
            with self.subTest(check=check):
                self.assertEqual(json.loads(done.stdout)["frames"][0]["function"].split(".")[0], "inner")

    def test_missing_and_damaged_parts_are_noted(self):
        if shutil.which("gcc") is None or shutil.which("nm") is None or shutil.which("objcopy") is None:
            self.skipTest("no gcc")
        (self.folder / "one.c").write_text("int main(int c, char **v)\n{\n    (void)v;\n    return c;\n}\n")
        for form in ("-g", "-gsplit-dwarf"):
            subprocess.run(["gcc", "-O0", "-g", form, "-c", "one.c", "-o", f"one{form}.o"], check=True, cwd=self.folder)
            subprocess.run(["gcc", f"one{form}.o", "-o", f"one{form}"], check=True, cwd=self.folder)
        (self.folder / "junk").write_bytes(b"\xff" * 64)
        subprocess.run(["objcopy", "--update-section", ".debug_abbrev=junk", "one-g", "damaged"], check=True, cwd=self.folder)
        for image, more, note in (("one-gsplit-dwarf", (), "inlined functions are in a .dwo file"),
                                  ("one-gsplit-dwarf", ("one-gsplit-dwarf.dwo",), None), ("one-g", (), None),
                                  ("damaged", (), "the DWARF or symbols are damaged")):
            names = subprocess.run(["nm", self.folder / image], capture_output=True, text=True, check=True).stdout
            at = int(re.search(r"^([0-9a-f]+) T main$", names, re.M)[1], 16)
            files = [option for file in (image, *more) for option in ("--symbols", self.folder / file)]
            done = e2e.twinstack("resolve", "--ndjson", *files, "-", stdin=f"{image}!{at:#x}\n")
            frame = json.loads(done.stdout)["frames"][0]
            with self.subTest(image, more=more):
                self.assertEqual(frame["function"], "main")
                self.assertEqual((frame["note"] or "").startswith(note or "?"), note is not None, frame["note"])
                done = e2e.twinstack("resolve", *files, "-", stdin=f"{image}!{at:#x}\n")
                self.assertEqual((note or "?") in done.stderr, note is not None, done.stderr)

    def test_a_row_at_the_end_of_its_sequence_covers_no_code(self):
        if shutil.which("gcc") is None or shutil.which("nm") is None:
            self.skipTest("no gcc")
        # gcc writes such a row after a call that does not return. If it counted, code without lines would get its line.
        first, second, program = self.folder / "first.c", self.folder / "second.c", self.folder / "rows"
        first.write_text("__attribute__((noreturn)) void stop(int);\nvolatile int v;\nstatic inline int twice(int x)\n{\n"
                         "    if (x == 7) {\n        v = 3;\n        stop(x);\n    }\n    return x + 1;\n}\n"
                         "int main(int argc, char **argv)\n{\n    (void)argv;\n    v = argc;\n"
                         "    return v * 5 + twice(argc) + v;\n}\nint late(int x)\n{\n    return x;\n}\n")
        second.write_text("int bare(int x) { return x; }\n"
                          "__attribute__((noreturn)) void stop(int x) { (void)x; __builtin_trap(); }\n")
        for source, options in ((first, ["-gdwarf-2"]), (second, [])):
            subprocess.run(["gcc", "-O2", *options, "-c", "-o", source.with_suffix(".o"), source], check=True)
        subprocess.run(["gcc", "-nostdlib", "-static", "-Wl,-e,main", "-o", program, second.with_suffix(".o"),
                        first.with_suffix(".o")], check=True)
        names = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
        at = [int(re.search(rf"^([0-9a-f]+) T {name}$", names, re.M)[1], 16) - 0x400000 for name in ("main", "bare")]
        text = "".join(f"> {name}\nrows!{offset:#x}\n" for name, offset in zip(("main", "bare"), at, strict=True))
        done = e2e.twinstack("resolve", "--ndjson", "--symbols", program, "-", stdin=text)
        frames = [json.loads(line)["frames"][-1] for line in done.stdout.splitlines()]
        self.assertEqual([(f["function"], f["line"]) for f in frames], [("main", 14), ("bare", None)])

    def test_a_static_function_that_only_the_table_of_the_image_names(self):
        if shutil.which("clang-19") is None or shutil.which("ld.lld-19") is None:
            self.skipTest("no clang-19 and lld-19")
        source, image, pdb = self.folder / "own.c", self.folder / "own.exe", self.folder / "own.pdb"
        source.write_text("int main(void)\n{\n    return 0;\n}\n")
        done = subprocess.run(["clang-19", "--target=x86_64-w64-mingw32", "-fuse-ld=lld-19", "-g", "-gcodeview", source, "-o",
                               image, "-Wl,-s", f"-Wl,--pdb={pdb}", "-Wl,-Xlink=-debug:symtab"], capture_output=True,
                              check=False)
        names = subprocess.run(["llvm-nm-19", image], capture_output=True, text=True, check=False).stdout
        found = re.search(r"^([0-9a-f]+) t __tmainCRTStartup$", names, re.M)
        if done.returncode != 0 or found is None:
            self.skipTest("no mingw here")
        text = f"own.exe!{int(found[1], 16) + 0x20 - 0x140000000:#x}\n"
        done = e2e.twinstack("resolve", "--ndjson", "--symbols", image, "--symbols", pdb, "-", stdin=text)
        frame = json.loads(done.stdout)["frames"][0]
        self.assertEqual((frame["function"], frame["symbols"]), ("__tmainCRTStartup", "coff"))
        # With the PDB of another program under its name, the table of the image still answers, and both forms say why.
        shutil.copy(next((e2e.ROOT / "corpus/symbols/victims-ob2.pdb").rglob("*.pdb")), pdb)
        why = "the PDB found is of another build"
        done = e2e.twinstack("resolve", "--ndjson", "--symbols", image, "--symbols", pdb, "-", stdin=text)
        frame = json.loads(done.stdout)["frames"][0]
        self.assertEqual((frame["function"], frame["symbols"], frame["note"]), ("__tmainCRTStartup", "coff", why))
        done = e2e.twinstack("resolve", "--symbols", image, "--symbols", pdb, "-", stdin=text)
        self.assertRegex(done.stdout, rf"coff +__tmainCRTStartup\+0x[0-9a-f]+ +\({why}\)\n")

    def test_types_that_hold_pointers_to_functions(self):
        if shutil.which("clang++-19") is None or shutil.which("ld.lld-19") is None:
            self.skipTest("no clang++-19 and lld-19")
        source, image, pdb = self.folder / "own.cpp", self.folder / "own.exe", self.folder / "own.pdb"
        source.write_text("struct thing { int v; void method(void (**p)()) const; };\n"
                          "void thing::method(void (**p)()) const { (*p)(); }\n"
                          "void takes(void (**p)(), int (*const q)(char)) { (*p)(); q(1); }\n"
                          "int main() { void (*p)() = nullptr; thing t = {1}; takes(&p, nullptr); t.method(&p); }\n")
        done = subprocess.run(["clang++-19", "--target=x86_64-w64-mingw32", "-fuse-ld=lld-19", "-g", "-gcodeview", source, "-o",
                               image, f"-Wl,--pdb={pdb}", "-Wl,-Xlink=-debug:symtab"], capture_output=True, check=False)
        names = subprocess.run(["llvm-nm-19", image], capture_output=True, text=True, check=False).stdout
        found = re.findall(r"^([0-9a-f]+) T _Z\S*(?:takes|method)", names, re.M)
        if done.returncode != 0 or len(found) != 2:
            self.skipTest("no mingw here")
        text = "".join(f"own.exe!{int(at, 16) + 4 - 0x140000000:#x}\n" for at in found)
        done = e2e.twinstack("resolve", "--ndjson", "--names", "full", "--symbols", image, "--symbols", pdb, "-", stdin=text)
        self.assertEqual({f["function"] for f in json.loads(done.stdout)["frames"]},
                         {"takes(void (**)(void),int (*const)(char))", "thing::method(void (**)(void)) const"})


class Named(e2e.Case):
    """A file named on the command line is either used or reported as an error."""

    def resolve(self, *argv, text="> s\nmain!0x3ac0\n"):
        return e2e.twinstack("resolve", "--ndjson", *argv, "-", stdin=text)

    def test_a_file_that_was_used_for_its_own_name_is_used_for_no_other(self):
        if shutil.which("gcc") is None:
            self.skipTest("no gcc")
        source, program = self.folder / "own.c", self.folder / "own"
        source.write_text("int main(void)\n{\n    return 0;\n}\n")
        subprocess.run(["gcc", "-g", "-no-pie", "-o", program, source], check=True)
        names = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
        main = int(re.search(r"^([0-9a-f]+) T main$", names, re.M)[1], 16) - 0x400000
        for name, stack, want in (("its own", ["own"], ["main"]), ("another", ["other"], ["main"]),
                                  ("its own, then another", ["own", "other"], ["main", None])):
            text = "".join(f"{module}!{main:#x}@i\n" for module in stack)
            done = e2e.twinstack("resolve", "--ndjson", "--symbols", program, "-", stdin=text)
            with self.subTest(name):
                self.assertEqual([f["function"] for f in json.loads(done.stdout)["frames"]], want)

    def test_a_file_of_no_known_kind_is_refused(self):
        note = self.folder / "notes.txt"
        note.write_text("no symbols here")
        done = self.resolve("--symbols", note)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"notes\.txt.*PDB.*ELF.*Mach-O")

    def test_an_object_that_is_not_linked_is_refused(self):
        if shutil.which("gcc") is None:
            self.skipTest("no gcc")
        source, program = self.folder / "part.c", self.folder / "part.o"
        source.write_text("int part(int x) { return x; }\n")
        subprocess.run(["gcc", "-g", "-c", "-o", program, source], check=True)
        done = self.resolve("--symbols", program, text="> s\npart.o!0x0\n")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"part\.o.*not linked")
        # In a folder it is ignored, because the user did not name it.
        self.assertEqual(self.resolve("--symbols", self.folder).returncode, 0)

    def test_a_damaged_image_is_refused(self):
        whole = self.fixture("images/i12-elf-dump_syms/basic.full").read_bytes()
        cut = self.folder / "cut"
        cut.write_bytes(whole[:100])
        done = self.resolve("--symbols", cut)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("cut", done.stderr)

    def test_a_dsym_folder_is_found_by_its_uuid(self):
        source = self.fixture("images/i02-macho-arm64-simple/mac-dsym")
        shutil.copytree(source / "main.dSYM", self.folder / "elsewhere" / "any.dSYM")
        done = self.resolve("--symbols", source / "main", "--symbols", self.folder / "elsewhere")
        frames = json.loads(done.stdout)["frames"]
        self.assertEqual([(f["function"], f["line"], f["symbols"]) for f in frames],
                         [("file1_func2", 13, "dwarf"), ("file1_func1", 9, "dwarf")])

    def test_a_symbol_without_a_size_is_marked(self):
        image = self.fixture("images/i01-macho-x64-crash/crash")
        done = self.resolve("--symbols", image, text="> s\ncrash!0x1500\n")
        self.assertIn(json.loads(done.stdout)["frames"][0]["symbols"], ("symtab", "nearest"))

    def test_a_debug_file_of_another_build_is_not_used(self):
        folder = self.fixture("images/i10-elf-crash")
        other = self.fixture("images/i12-elf-dump_syms/basic.dbg")
        done = self.resolve("--symbols", folder / "crash", "--symbols", other, text="> s\ncrash!0x7f80\n")
        self.assertNotEqual(json.loads(done.stdout)["frames"][0]["symbols"], "dwarf")


class System(e2e.Case):
    """Modules of the system are found by their identity, without being named."""

    def dump(self, **env):
        path = e2e.ROOT / "corpus/cases/inline_chain.ob2/dump.dmp"
        return e2e.twinstack("dump", "--symbols", e2e.ROOT / "corpus/symbols", path, env=env).stdout

    def test_a_stack_of_this_wine_ends_in_its_thread_start(self):
        if not (WINE / "ntdll.dll").is_file():
            self.skipTest("Debian's Wine is not there")
        text = self.dump(TWINSTACK_SYSTEM_SYMBOLS="1")
        if not re.search(r"BaseThreadInitThunk .*kernel32", text):
            self.skipTest("Wine is of another build than that of the corpus")
        self.assertRegex(text, r"RtlUserThreadStart +thread\.c:\d+ +ntdll\.dll")
        self.assertIn("end of stack", text)

    def test_it_can_be_switched_off(self):
        self.assertNotIn("RtlUserThreadStart", self.dump(TWINSTACK_SYSTEM_SYMBOLS="0"))

    def test_a_name_without_identity_is_no_question_to_the_system(self):
        done = e2e.twinstack("resolve", "--ndjson", "-", stdin="> s\nntdll.dll!0x1234\n", env={"TWINSTACK_SYSTEM_SYMBOLS": "1"})
        self.assertEqual(json.loads(done.stdout)["frames"][0]["symbols"], "none")


e2e.main()
