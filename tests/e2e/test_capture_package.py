"""The capture as a package: installed, found by CMake and by pkg-config, or added as a folder; the example
programs in C and C++ are built with it and crash, and their records are resolved. It has a Wine prefix to itself.

Only this finds what a program outside this tree misses: a header, a library, a flag, an exported target."""

import hashlib
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
from cl import CL  # noqa: E402
from test_capture_lives import Record  # noqa: E402

CLANG = ["--toolchain", e2e.ROOT / "cmake/wine-clang.cmake"]
GCC = ["-DCMAKE_SYSTEM_NAME=Windows", "-DCMAKE_C_COMPILER=x86_64-w64-mingw32-gcc",
       "-DCMAKE_CXX_COMPILER=x86_64-w64-mingw32-g++", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]
WAYS = ["find_package", "add_subdirectory", "pkg-config"]
WINE = {**os.environ, "WINEPREFIX": os.environ.get("WINEPREFIX", str(e2e.BUILD / "wine")), "WINEDEBUG": "-all"}


class Package(e2e.Case):
    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(e2e.wine_session(WINE))

    def command(self, *words, env=None):
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False,
                              env={**os.environ, **(env or {})}, timeout=240 * e2e.PATIENCE)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout

    def built(self, source, name, toolchain, *options, targets=(), env=None):
        tree = self.folder / name
        self.command("cmake", "-G", "Ninja", "-S", source, "-B", tree, *toolchain, *options, env=env)
        self.command("ninja", "-C", tree, *targets)
        return tree

    def installed(self, toolchain):
        prefix = self.folder / "installed"
        tree = self.built(e2e.ROOT / "capture", "capture", toolchain, f"-DCMAKE_INSTALL_PREFIX={prefix}",
                          "-DCMAKE_INSTALL_LIBDIR=lib")
        self.command("cmake", "--install", tree)
        return prefix

    def host(self, way, toolchain, prefix):
        return self.built(e2e.ROOT / "tests/package", way, toolchain, f"-DHOW={way}", f"-DEXAMPLE={e2e.ROOT / 'capture/example'}",
                          f"-DCMAKE_PREFIX_PATH={prefix}", targets=["host_c", "host_cpp", "lives", *(["upload"] if way == "add_subdirectory" else [])], env={"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")})

    def wine(self, program, *argv):
        return e2e.wine(program, *argv, env=WINE)

    def crash_and_resolve(self, program, folder, *argv):
        folder.mkdir()
        done = self.wine(program, folder, *argv)
        self.assertNotEqual(done.returncode, 0)
        records = list(folder.glob("*.rec"))
        self.assertEqual(len(records), 1, done.stderr)
        return self.run_twinstack("resolve", "--symbols", program.parent, records[0]).stdout

    def check_stack_probe(self, host, folder):
        """The package brings a probe with unwind data, so that every walker gets out of it."""
        folder.mkdir()
        self.wine(host / "lives.exe", folder, "probe-overflow")
        frames = Record(next(folder.glob("*.rec"))).frames
        for walker in ("rtl", "dbghelp", "dbghelp-own"):
            self.assertGreater(frames.get(walker, 0), 20, walker)

    def code(self, program):
        return hashlib.sha256(self.command("llvm-objdump-19", "-s", "-j", ".text", program).split("\n", 3)[3].encode()).digest()

    def check_programs(self, host, name, ran):
        """Crashes both programs; not those whose code is that of programs that RAN, built in another way."""
        code = tuple(self.code(host / program) for program in ("host_c.exe", "host_cpp.exe"))
        if code in ran:
            return
        ran.add(code)
        stack = self.crash_and_resolve(host / "host_c.exe", self.folder / f"{name}-c", "crash")
        self.assertRegex(stack, r"wmain.*host\.c:")
        stack = self.crash_and_resolve(host / "host_cpp.exe", self.folder / f"{name}-cpp")
        self.assertRegex(stack, r"parse.*(\n.*)*wmain")
        self.check_stack_probe(host, self.folder / f"{name}-probe")
        left = self.wine(host / "host_cpp.exe", self.folder / f"{name}-cpp")
        self.assertEqual((left.returncode, left.stdout.count("left: ")), (0, 1))

    def test_all_three_ways_build_programs_that_report_their_crashes(self):
        prefix, ran = self.installed(CLANG), set()
        for way in WAYS:
            with self.subTest(way):
                self.check_programs(self.host(way, CLANG, prefix), way, ran)

    def test_gcc_builds_them_too_and_guards_without_try(self):
        prefix, ran = self.installed(GCC), set()
        for way in ("find_package", "pkg-config"):
            with self.subTest(way):
                self.check_programs(self.host(way, GCC, prefix), way, ran)
        program = self.folder / "guarded.exe"
        self.command("x86_64-w64-mingw32-gcc", "-O2", "-D_WIN32_WINNT=0x0A00", "-I", e2e.ROOT,
                     e2e.ROOT / "tests/package/guarded.c", "-L", prefix / "lib", "-ltwinstack-capture", "-ldbghelp", "-lntdll",
                     "-o", program)
        done = self.wine(program)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "guarded"), done.stderr)

    def test_the_command_line_of_msvc_compiles_each_file(self):
        sources = sorted(f for folder in ("capture", "victims/harness") for f in (e2e.ROOT / folder).glob("**/*.c") if "judge" not in f.parts)
        # cap.h is parsed once for those whose first header it is.
        inside = [f for f in sources if first_header(f) == "capture/cap.h"]
        empty, parsed = self.folder / "empty.c", ["/FIcapture/cap.h", f"/Fp{self.folder / 'cap.pch'}"]
        empty.touch()
        for options, files in [(["/Yccapture/cap.h", *parsed, f"/Fo{self.folder / 'cap.obj'}"], [empty]),
                               (["/Yucapture/cap.h", *parsed, "/Zs"], inside),
                               (["/Zs"], [f for f in sources if f not in inside])]:
            done = subprocess.run([*CL, "/W4", "/WX", "-I", e2e.ROOT, "-D_WIN32_WINNT=0x0A00", *options, "--", *files], text=True,
                                  capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertGreater(len(inside), 20)
        print("not run on Windows")

    def test_a_compiler_that_cannot_build_it_is_told_so(self):
        done = subprocess.run(["cmake", "-G", "Ninja", "-S", e2e.ROOT / "capture", "-B", self.folder / "gcc",
                               "-DCMAKE_SYSTEM_NAME=Windows", "-DCMAKE_C_COMPILER=i686-w64-mingw32-gcc"],
                              capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("use clang or MSVC", done.stderr)


def first_header(source):
    return re.search(r'#include ["<](.*)[">]', source.read_text(encoding="utf-8"))[1]


def load_tests(_loader, tests, _pattern):
    """One part: gcc; the other: everything else. Each takes half of the time."""
    part, parts = e2e.part()
    rows = [test for group in tests for test in group]
    return unittest.TestSuite(test for test in rows if parts == 1 or ("gcc_builds" in test.id()) == (part == parts))


if __name__ == "__main__":
    e2e.main()
