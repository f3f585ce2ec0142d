"""The DWARF reader finds every function and inlined call that libdwarf lists, in programs of this machine's compilers and in files of
other projects.

Only this finds DWARF that our reader passes over without an error."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

SECOND = e2e.BUILD / "tests/dwarf_second"
SOURCE = e2e.ROOT / "tests/strangers/own.cpp"
PROGRAMS = {
    "gcc, version 2": ("g++", "-O2", "-gdwarf-2"),
    "gcc, version 4": ("g++", "-O2", "-gdwarf-4"),
    "gcc, version 5, units of types": ("g++", "-O2", "-gdwarf-5", "-fdebug-types-section"),
    "gcc, version 5, 64 bits": ("g++", "-O2", "-gdwarf-5", "-gdwarf64"),
    "gcc, not optimised": ("g++", "-O0"),
    "clang, version 4": ("clang++-19", "-O2", "-gdwarf-4"),
    "clang, version 5": ("clang++-19", "-O2", "-gdwarf-5"),
    "mingw, 32 bits": ("i686-w64-mingw32-g++", "-O2", "-static"),
}
# Files with functions that libdwarf of Debian 12 can read: neither zstd nor split.
FILES = {
    "i01-macho-x64-crash/crash.dSYM/Contents/Resources/DWARF/crash": 1000,
    "i01-macho-x64-crash/overlapping_funcs.dSYM/Contents/Resources/DWARF/overlapping_funcs": 4,
    "i02-macho-arm64-simple/mac-dsym/main.dSYM/Contents/Resources/DWARF/main": 50,
    "i10-elf-crash/crash.debug": 900,
    "i10-elf-crash/crash.debug-zlib": 900,
    "i11-elf-simple-aarch64/regular-debuglink/main.dbg": 15,
    "i12-elf-dump_syms/basic.full": 20,
    "i20-pe-dwarf/hello-dwarf.exe": 100,
}


@unittest.skipUnless(SECOND.exists(), "built without libdwarf")
class Second(e2e.Case):
    def compare(self, path, least):
        done = subprocess.run([SECOND, path], capture_output=True, text=True, check=False, timeout=60 * e2e.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = re.search(r"^units (\d+) functions (\d+) inlined (\d+) differ 0 ", done.stdout, re.M)
        self.assertGreater(int(found[2]) + int(found[3]), least, done.stdout)

    def test_programs_of_this_machine(self):
        for name, argv in PROGRAMS.items():
            with self.subTest(name):
                if shutil.which(argv[0]) is None:
                    self.skipTest(f"no {argv[0]}")
                image = self.folder / "own"
                subprocess.run([*argv, "-g", "-std=c++17", "-w", SOURCE, "-o", image], check=True, timeout=120 * e2e.PATIENCE)
                self.compare(image, 2000)

    def test_files_of_others(self):
        root = self.fixture("images")
        for name, least in FILES.items():
            with self.subTest(name):
                self.compare(root / name, least)


if __name__ == "__main__":
    e2e.main()
