"""Names, paths and warnings of images with DWARF that this machine's compilers build now."""

import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402


class Built(e2e.Case):
    def build(self, *argv):
        """What a compiler prints; skips the test if it is missing, or cannot make this."""
        if shutil.which(argv[0]) is None:
            self.skipTest(f"no {argv[0]}")
        done = subprocess.run([str(word) for word in argv], cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.skipTest(f"{argv[0]} cannot: {done.stderr[-200:]}")
        return done.stdout

    def symbols(self, image):
        out = subprocess.run(["nm", self.folder / image], capture_output=True, text=True, check=True).stdout
        return {name: int(at, 16) for at, name in re.findall(r"^([0-9a-f]+) [tT] (\S+)$", out, re.M)}

    def frames(self, image, offsets, *options):
        """The frames at each offset, innermost first."""
        text = "".join(f"> s\n{image}!{offset:#x}@i\n" for offset in offsets)
        done = e2e.twinstack("resolve", "--ndjson", *options, "--symbols", self.folder / image, "-", stdin=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line)["frames"] for line in done.stdout.splitlines()]


class SymbolNames(Built):
    def test_a_function_of_d_without_a_linkage_name(self):
        """gdc gives none to functions that only their module sees; "fold" alone does not say of which module it is."""
        source = 'static __attribute__((noinline)) int fold(int) __asm__("_D3app4foldFiZi");\n' \
                 "static int fold(int a) { volatile int x = a; return x; }\nint main(int n) { return fold(n); }\n"
        (self.folder / "own.c").write_text(source, encoding="utf-8")
        self.build("gcc", "-g", "-O1", "-w", "-no-pie", "own.c", "-o", "own")
        at = self.symbols("own")["_D3app4foldFiZi"]
        base = min(int(word, 16) for word in re.findall(r"LOAD +0x\w+ (0x\w+)", subprocess.run(
            ["readelf", "-lW", self.folder / "own"], capture_output=True, text=True, check=True).stdout))
        self.assertEqual([f["function"] for f in self.frames("own", [at - base])[0]], ["app.fold"])


class Names(Built):
    """32-bit Windows decorates names in symbol tables, not in DWARF."""

    SOURCE = """
#define CALL(how) extern "C" __attribute__((how, noinline)) int
CALL(cdecl) first(int a) { volatile int x = a; return x; } /* shares its address with symbols of the linker */
CALL(cdecl) __two(int a) { volatile int x = a; return x; }
CALL(cdecl) none(int a) { volatile int x = a; return x; }
CALL(stdcall) plain(int a) { volatile int x = a; return x; }
CALL(stdcall) _under(int a) { volatile int x = a; return x; }
CALL(fastcall) fast(int a) { volatile int x = a; return x; }
namespace ns {
__attribute__((stdcall, noinline)) int standard(int a) { volatile int x = a; return x; }
__attribute__((fastcall, noinline)) int quick(int a) { volatile int x = a; return x; }
struct _S { __attribute__((noinline)) static int _m(int a) { volatile int x = a; return x; } };
}
static __attribute__((noinline)) int _hidden(int a) { volatile int x = a; return x; }
int main() {
    return first(0) + __two(1) + none(1) + plain(2) + _under(3) + fast(4) + ns::standard(5) + ns::quick(6) + ns::_S::_m(7) + _hidden(8);
}
"""
    # Symbol of the table → name.
    WANT = {"___two": "__two", "_none": "none", "_plain@4": "plain", "__under@4": "_under", "@fast@4": "fast",
            "__ZN2ns8standardEi@4": "ns::standard", "@_ZN2ns5quickEi@4": "ns::quick", "__ZN2ns2_S2_mEi": "ns::_S::_m",
            "__ZL7_hiddeni": "_hidden", "_main": "main"}

    def test_names_keep_their_underscores(self):
        (self.folder / "own.cpp").write_text(self.SOURCE)
        for name, *compiler in (("gcc", "i686-w64-mingw32-g++"), ("clang", "clang++-19", "--target=i686-w64-mingw32")):
            for form in ("-g", "-gdwarf-2", "-s"):
                image = f"{name}{form}.exe"
                with self.subTest(image):
                    self.build(*compiler, "-O1", "-g" if form == "-s" else form, "-Wl,-e,_main", "-o", image, "own.cpp",
                               "-Wl,--defsym=___main=0")
                    at = {symbol: va - 0x400000 for symbol, va in self.symbols(image).items()}
                    if form == "-s":  # the table alone
                        subprocess.run(["i686-w64-mingw32-objcopy", "--strip-debug", image], check=True, cwd=self.folder)
                    asked = [symbol for symbol in self.WANT if symbol in at]
                    self.assertGreaterEqual(len(asked), len(self.WANT) - 1)
                    got = self.frames(image, [at[symbol] for symbol in asked])
                    self.assertEqual({symbol: frames[-1]["function"] for symbol, frames in zip(asked, got, strict=True)},
                                     {symbol: self.WANT[symbol] for symbol in asked})
                    written = self.run_twinstack("symbols", "export", "--format", "breakpad", self.folder / image).stdout
                    for symbol in asked:
                        self.assertRegex(written, rf"(?m)^(FUNC|PUBLIC) {at[symbol]:x} .*\b{re.escape(self.WANT[symbol])}$")


class Languages(Built):
    """Names of languages whose linker names no C++ demangler reads."""

    def names(self, image, wanted):
        at = self.symbols(image)
        got = self.frames(image, [at[symbol] - self.lowest(image) for symbol in wanted])
        return {symbol: frames[-1]["function"] for symbol, frames in zip(wanted, got, strict=True)}

    def lowest(self, image):
        printed = subprocess.run(["llvm-readobj-19", "--program-headers", image], cwd=self.folder, capture_output=True, text=True,
                                 check=True).stdout
        return min(int(part, 16) for part in re.findall(r"PT_LOAD.*?\n.*?Offset.*?\n.*?VirtualAddress: (\w+)", printed)) & ~0xFFF

    def test_fortran(self):
        (self.folder / "own.f90").write_text("module shapes\ncontains\n subroutine area(x)\n  real, intent(inout) :: x\n"
                                             "  x = x * 2\n end subroutine\nend module\nsubroutine outside(x)\n real :: x\n"
                                             " x = x + 3\nend subroutine\nprogram own\n use shapes\n real :: y = 1\n"
                                             " call area(y)\n call outside(y)\n print *, y\nend program\n")
        want = {"__shapes_MOD_area": "shapes::area", "outside_": "outside"}
        self.build("gfortran", "-g", "own.f90", "-o", "own")
        self.assertEqual(self.names("own", want), want)
        self.build("strip", "--strip-debug", "own")
        self.assertEqual(self.names("own", ["__shapes_MOD_area"]), {"__shapes_MOD_area": "shapes::area"})

    def test_ada(self):
        for name, text in (("shapes.ads", "package Shapes is\n function Area (X : Integer) return Integer;\n package Nested is\n"
                            "  procedure Go;\n end Nested;\nend Shapes;\n"),
                           ("shapes.adb", "package body Shapes is\n Total : Integer := 0;\n"
                            " function Area (X : Integer) return Integer is\n  begin Total := Total + X; return Total; end Area;\n"
                            " function \"+\" (A : String; B : Integer) return Integer is\n  begin return A'Length + B; end \"+\";\n"
                            " package body Nested is\n  procedure Go is begin Total := Area (3) + (\"abc\" + 4); end Go;\n"
                            " end Nested;\nend Shapes;\n"),
                           ("own.adb", "with Shapes;\nprocedure Own is begin Shapes.Nested.Go; end Own;\n")):
            (self.folder / name).write_text(text)
        self.build("gnatmake", "-g", "own.adb")
        want = {"shapes__area": "shapes.area", "shapes__nested__go": "shapes.nested.go", "shapes__Oadd": 'shapes."+"', "_ada_own": "own"}
        self.assertEqual(self.names("own", want), want)


class Paths(Built):
    """A relative path of a line table starts in the folder of the compilation, as llvm-symbolizer and addr2line print it."""

    SOURCES = {"src/main.c": '#include "../include/inline.h"\n#include "own.h"\nint other(int);\n'
                             "int entry(int c)\n{\n    return twice(c) + thrice(c) + other(c);\n}\n",
               "src/own.h": "static inline __attribute__((always_inline)) int thrice(int x)\n{\n    volatile int y = x;\n    return y * 3;\n}\n",
               "include/inline.h": "static inline __attribute__((always_inline)) int twice(int x)\n"
                                   "{\n    volatile int y = x;\n    return y * 2;\n}\n",
               "other.c": "int other(int x)\n{\n    volatile int y = x;\n    return y + 1;\n}\n"}
    # Name, compiler, options.
    ROWS = [
        *((f"{program[:5].rstrip('-')}-{v}", [program, f"-gdwarf-{v}"]) for program in ("gcc", "clang-19") for v in (2, 3, 4, 5)),
        ("gcc-split-4", ["gcc", "-gdwarf-4", "-gsplit-dwarf"]),
        ("gcc-split-5", ["gcc", "-gdwarf-5", "-gsplit-dwarf"]),
        ("clang-split-4", ["clang-19", "-gdwarf-4", "-gsplit-dwarf"]),
        ("clang-split-5", ["clang-19", "-gdwarf-5", "-gsplit-dwarf"]),
        ("gcc-types", ["gcc", "-g", "-fdebug-types-section"]),
        ("x64.exe", ["x86_64-w64-mingw32-gcc", "-gdwarf-4", "-Wl,-e,entry"]),
        ("x86.exe", ["i686-w64-mingw32-gcc", "-gdwarf-4", "-Wl,-e,_entry"]),
        ("clang-x64.exe", ["clang-19", "--target=x86_64-w64-mingw32", "-gdwarf-4", "-Wl,-e,entry"]),
    ]

    def setUp(self):
        super().setUp()
        for name, text in self.SOURCES.items():
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(text)

    def files(self, image, *options):
        """The files of all frames of both functions."""
        symbols = self.symbols(image)
        base = 0 if not image.endswith(".exe") else 0x140000000 if "x64" in image else 0x400000
        lowest = min(symbols.values()) & ~0xffff if base == 0 else base
        at = [symbols.get(name, symbols.get("_" + name)) - lowest for name in ("entry", "other")]
        offsets = [offset + i for offset in at for i in range(0, 40, 2)]
        return {f["file"] for frames in self.frames(image, offsets, *options) for f in frames if f["file"]}

    def make(self, image, command, *options):
        if not image.endswith(".exe"):
            options += ("-static", "-Wl,-e,entry", "-Wl,--build-id=none")
        self.build(*command, "-O1", "-nostdlib", *options, "-o", image, "src/main.c", "other.c")
        return [word for dwo in self.folder.glob("*.dwo") for word in ("--symbols", dwo)]

    def test_relative_paths_are_whole(self):
        want = {f"{self.folder}/{name}" for name in ("src/main.c", "src/own.h", "src/../include/inline.h", "other.c")}
        for image, command in self.ROWS:
            with self.subTest(image):
                self.assertEqual(self.files(image, *self.make(image, command)), want)

    def test_windows_paths_are_joined_with_their_separator(self):
        want = {f"C:\\work\\{name}" for name in ("src\\main.c", "src\\own.h", "src/../include\\inline.h", "other.c")}
        for image, command in self.ROWS:
            if image.endswith(".exe"):
                with self.subTest(image):
                    self.make(image, command, f"-fdebug-prefix-map={self.folder}=C:\\work")
                    self.assertEqual(self.files(image), want)

    def test_a_relative_folder_of_compilation_stays_relative(self):
        for image, command in self.ROWS:
            with self.subTest(image):
                options = self.make(image, command, f"-fdebug-prefix-map={self.folder}=.")
                self.assertEqual(self.files(image, *options),
                                 {"./src/main.c", "./src/own.h", "./src/../include/inline.h", "./other.c"})


class DebugFiles(Built):
    """What objcopy --only-keep-debug leaves of a PE image."""

    def setUp(self):
        super().setUp()
        (self.folder / "own.c").write_text("__declspec(dllexport) int exported(int a) { volatile int b = a; return b; }\n"
                                           "int main(int c, char **v) { (void)v; return exported(c); }\n")

    def answer(self, text, *symbols):
        named = [word for file in symbols for word in ("--symbols", self.folder / file)]
        done = e2e.twinstack("resolve", "--ndjson", *named, "-", stdin=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        frame = json.loads(done.stdout)["frames"][-1]
        return frame["function"], frame["symbols"], frame["note"]

    def test_a_debug_file_is_not_damaged_and_found_by_the_name_of_its_image(self):
        for compiler, base in (("x86_64-w64-mingw32", 0x140000000), ("i686-w64-mingw32", 0x400000)):
            self.build(f"{compiler}-gcc", "-g", "-O1", "own.c", "-o", "own.exe")
            symbols = self.symbols("own.exe")
            text = f"own.exe!{symbols.get('exported', symbols.get('_exported')) - base:#x}@i\n"
            self.build(f"{compiler}-objcopy", "--only-keep-debug", "own.exe", "own.exe.debug")
            self.build(f"{compiler}-strip", "own.exe")
            alone = self.folder / compiler
            alone.mkdir()
            shutil.copy(self.folder / "own.exe.debug", alone)
            for symbols in (("own.exe.debug",), (compiler,), ("own.exe", "own.exe.debug"), ("own.exe.debug", "own.exe")):
                with self.subTest(compiler, symbols=symbols):
                    self.assertEqual(self.answer(text, *symbols), ("exported", "dwarf", None))

    def test_the_debug_file_of_another_build_is_not_used(self):
        self.build("x86_64-w64-mingw32-gcc", "-g", "-O1", "own.c", "-o", "own.exe")
        self.build("x86_64-w64-mingw32-objcopy", "--only-keep-debug", "own.exe", "own.exe.debug")
        (self.folder / "own.c").write_text((self.folder / "own.c").read_text() + "int more(int a) { return a * 5; }\n")
        self.build("x86_64-w64-mingw32-gcc", "-O1", "own.c", "-o", "own.exe")
        text = f"own.exe!{self.symbols('own.exe')['exported'] - 0x140000000:#x}@i\n"
        self.build("x86_64-w64-mingw32-strip", "own.exe")
        self.assertEqual(self.answer(text, "own.exe", "own.exe.debug")[1], "export")

    def test_a_packed_file_is_refused_with_its_word(self):
        for word, start, want in (("zstd", b"\x28\xb5\x2f\xfd", "packed file: malformed"), ("gzip", b"\x1f\x8b\x08\x00", "packed file: malformed"),
                                  ("xz", b"\xfd7zXZ\0", "packed file: malformed"), ("bz2", b"BZh91AY", "compressed with bzip2"),
                                  ("zip", b"PK\x03\x04", "ZIP archive"),
                                  ("sym", "\ufeffMODULE windows x86_64 0 own.pdb\r\n".encode("utf-16-le"), "UTF-16")):
            packed = self.folder / f"own.exe.debug.{word}"
            packed.write_bytes(start + bytes(60))
            for argv in (("resolve", "--symbols", packed), ("symbols", "list", packed), ("resolve", "--pdb", packed)):
                with self.subTest(word, argv=argv[:2]):
                    done = e2e.twinstack(*argv, stdin="own.exe!0x1000\n")
                    self.assertEqual(done.returncode, 3)
                    self.assertRegex(done.stderr, rf"debug\.{word}.*{want}")

    def test_an_image_is_no_pdb(self):
        done = e2e.twinstack("resolve", "--pdb", "own.exe=/bin/true", stdin="own.exe!0x1000\n")
        self.assertEqual(done.returncode, 3)
        self.assertIn("--symbols FILE", done.stderr)


class Exports(Built):
    def link(self, target, name, *options):
        """NAME.dll of NAME.c, for Windows on TARGET."""
        self.build("clang-19", f"--target={target}-pc-windows-msvc", "-O1", "-fno-stack-protector", "-c", f"{name}.c", "-o", f"{name}.obj")
        self.build("lld-link-19", "/dll", "/noentry", "/nodefaultlib", *options, f"/out:{name}.dll", f"{name}.obj")

    def test_a_function_after_an_exported_one_has_not_its_name(self):
        """`.pdata` says where functions begin: on x64, and on arm64, packed (the first) or in .xdata (with more registers)."""
        (self.folder / "s.c").write_text("static __attribute__((noinline)) int hidden(volatile int *p) { return *p * 3; }\n"
                                         "static __attribute__((noinline)) int more(volatile int *p) { return hidden(p) + hidden(p + 1); }\n"
                                         "__attribute__((dllexport, noinline)) int shown(volatile int *p) { volatile int b[600]; b[*p] = *p; return more(p) + b[3]; }\n")
        for target in ("x86_64", "aarch64"):
            self.link(target, "s")
            starts = [int(at, 16) & 0xffff for at in re.findall(r"(?:StartAddress: \(|Function: )(0x[0-9A-F]+)", self.build("llvm-readobj-19", "--unwind", "s.dll"))]
            exported = int(re.search(r"Name: shown\s+RVA: (0x[0-9A-F]+)", self.build("llvm-readobj-19", "--coff-exports", "s.dll"))[1], 16)
            self.assertEqual(starts[0], exported)
            self.assertGreater(len(starts), 1)
            text = "".join(f"s.dll!{start + 4:#x}@i\n" for start in starts)
            done = e2e.twinstack("resolve", "--ndjson", "--symbols", self.folder / "s.dll", "-", stdin=text)
            with self.subTest(target):
                self.assertEqual([f["function"] for f in json.loads(done.stdout)["frames"]], ["shown"] + [None] * (len(starts) - 1))

    def test_a_function_without_a_row_has_not_the_name_of_an_exported_one_before_it(self):
        """A function that calls none needs no row of `.pdata`; the row of the one before it says where that one ends."""
        (self.folder / "l.c").write_text("__attribute__((dllexport, noinline)) int shown(volatile int *p) { volatile int b[600]; b[*p] = *p; return b[3]; }\n"
                                         "__attribute__((noinline)) int hidden(volatile int *p) { return *p * 3; }\n"
                                         "__attribute__((dllexport, noinline)) int leaf(volatile int *p) { return *p * 5; }\n")
        for target in ("x86_64", "aarch64"):
            self.link(target, "l", "/debug:symtab")
            starts = {name: int(at, 16) & 0xffff for at, name in re.findall(r"(\w+) <(\w+)>:", self.build("llvm-objdump-19", "-d", "l.dll"))}
            self.build("llvm-strip-19", "--strip-all", "l.dll")
            text = "".join(f"l.dll!{starts[name] + more:#x}@i\n" for name, more in (("shown", 4), ("hidden", 0), ("hidden", 2), ("leaf", 0), ("leaf", 4)))
            done = e2e.twinstack("resolve", "--ndjson", "--symbols", self.folder / "l.dll", "-", stdin=text)
            with self.subTest(target):
                self.assertEqual([f["function"] for f in json.loads(done.stdout)["frames"]], ["shown", None, None, "leaf", "leaf"])


class Published(e2e.Case):
    def answers(self, image, rows):
        text = "".join(f"> s\ncrash!{row['rva']}\n" for row in rows)
        done = e2e.twinstack("resolve", "--ndjson", "--symbols", image, "-", stdin=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [[(f["function"], f["file"], f["line"], f["note"]) for f in json.loads(line)["frames"]]
                for line in done.stdout.splitlines()]

    def test_a_dsym_whose_sections_state_no_size(self):
        """As old versions of dsymutil write it: the addresses of the sections are right."""
        folder = self.fixture("images/i01-macho-x64-crash")
        whole, empty = folder / "crash.dSYM/Contents/Resources/DWARF/crash", self.folder / "crash"
        data = bytearray(whole.read_bytes())
        at = 32
        for _ in range(struct.unpack_from("<I", data, 16)[0]):
            command, size = struct.unpack_from("<II", data, at)
            if command == 0x19 and data[at + 8:at + 24].rstrip(b"\0") == b"__TEXT":
                for section in range(struct.unpack_from("<I", data, at + 64)[0]):
                    struct.pack_into("<Q", data, at + 72 + 80 * section + 40, 0)
            at += size
        empty.write_bytes(data)
        rows = [json.loads(line) for line in (folder / "crash-dsym.ref.jsonl").read_text().splitlines()]
        self.assertEqual(self.answers(empty, rows), self.answers(whole, rows))
        written = [self.run_twinstack("symbols", "export", "--format", "breakpad", path).stdout for path in (empty, whole)]
        self.assertEqual(written[0].splitlines(), written[1].splitlines())


if __name__ == "__main__":
    e2e.main()
