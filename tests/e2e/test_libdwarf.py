"""The DWARF readers compile against both interfaces of libdwarf: the one of 2021 that Debian 12 has, and that of 0.11.1, which
vcpkg and newer distributions have. The newer one is built from Debian sid's source package, and the unit tests of DWARF pass with
it."""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

FOLDER = e2e.BUILD / "sources-sid/dwarfutils"
SHA256 = "dfd24db87c354b3ba6fa72d29a481014f81768fea15ddcde96a8a938b1557c17"
NEW = FOLDER / "src/lib/libdwarf"
BUILT = e2e.BUILD / "sources-sid/libdwarf"


class Libdwarf(e2e.Case):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([e2e.ROOT / "cmake/debian_source.sh", "dwarfutils", SHA256, FOLDER, "sid"], capture_output=True, text=True,
                              check=False, timeout=300 * e2e.PATIENCE)
        if done.returncode == 3:
            raise unittest.SkipTest(f"no sources of libdwarf 0.11.1: {done.stderr.strip().splitlines()[-1]}")
        assert done.returncode == 0, done.stderr
        rows = json.loads((e2e.BUILD / "compile_commands.json").read_text(encoding="utf-8"))
        cls.rows = [row for row in rows if row["file"].startswith(str(e2e.ROOT / "analyze/format/dwarf")) and "room_format" in row["command"]]

    def compile(self, row, folder, *more, output=None):
        """Only checks the file, or writes OUTPUT."""
        words = shlex.split(row["command"])
        start = next(i for i, word in enumerate(words) if pathlib.Path(word).name in ("cc", "gcc", "c99"))
        old = [i for i, word in enumerate(words) if word == "-isystem" and "libdwarf" in words[i + 1]]
        for i in reversed(old if folder else []):
            del words[i:i + 2]
        flags = ["-isystem", str(folder)] if folder else []
        out = words.index("-o")
        del words[out:out + 2]
        return subprocess.run([*words[start:], *flags, *more, *(["-o", str(output)] if output else ["-fsyntax-only"])], cwd=row["directory"], capture_output=True, text=True,
                              check=False, env={**os.environ, "CCACHE_DISABLE": "1"})

    def test_each_file_compiles_against_either_header(self):
        self.assertGreater(len(self.rows), 7)
        for folder in (None, NEW):
            for row in self.rows:
                with self.subTest(file=pathlib.Path(row["file"]).name, header=folder or "of the system"):
                    done = self.compile(row, folder)
                    self.assertEqual(done.returncode, 0, done.stderr[-2000:])

    def test_the_headers_differ_where_it_matters(self):
        row = next(row for row in self.rows if row["file"].endswith("/sections.c"))
        wrong = self.folder / "wrong.h"
        wrong.write_text("#include <libdwarf.h>\n#undef DW_LIBDWARF_VERSION\n", encoding="utf-8")
        self.assertEqual(self.compile(row, None, "-include", wrong).returncode, 0)
        self.assertNotEqual(self.compile(row, NEW, "-include", wrong).returncode, 0)

    def build_library(self):
        """Its archive."""
        options = ["BUILD_NON_SHARED=ON", "BUILD_SHARED=OFF", "BUILD_DWARFDUMP=OFF", "BUILD_DWARFGEN=OFF", "BUILD_DWARFEXAMPLE=OFF"]
        for command in (["cmake", "-G", "Ninja", "-S", FOLDER, "-B", BUILT, "-DCMAKE_BUILD_TYPE=None", *(f"-D{o}" for o in options)],
                        ["ninja", "-C", BUILT]):
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300 * e2e.PATIENCE)
            self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        return next(BUILT.glob("src/lib/libdwarf/libdwarf*.a"))

    def link(self, program, objects, library):
        """The unit program as the build links it, but with these objects and this library."""
        commands = subprocess.run(["ninja", "-C", e2e.BUILD, "-t", "commands", program], capture_output=True, text=True, check=True)
        words = shlex.split(commands.stdout.splitlines()[-1].split("&&")[1])
        words = words[next(i for i, word in enumerate(words) if pathlib.Path(word).name in ("cc", "gcc", "c99")):]
        out = self.folder / program
        words[words.index("-o") + 1] = str(out)
        words = [str(library) if pathlib.Path(word).name.startswith("libdwarf.") else word for word in words]
        self.assertIn(str(library), words)
        # Before the archives, so that theirs of the same names are not used.
        words[words.index("-o"):words.index("-o")] = map(str, objects)
        done = subprocess.run([*words, "-lz", "-lzstd"], cwd=e2e.BUILD, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return out

    def test_the_unit_tests_pass_with_the_newer_library(self):
        library = self.build_library()
        objects = []
        for row in self.rows:
            objects.append(self.folder / (pathlib.Path(row["file"]).stem + ".o"))
            done = self.compile(row, NEW, output=objects[-1])
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        for program in ("unit_dwarf", "unit_cut_object", "unit_image_index"):
            with self.subTest(program):
                out = self.link(program, objects, library)
                self.assertIn(b"0.11.1", out.read_bytes())
                done = subprocess.run([out], capture_output=True, text=True, check=False, timeout=300 * e2e.PATIENCE)
                self.assertRegex(done.stdout, r"(?m)^tally [1-9]\d* 0 0$")


if __name__ == "__main__":
    e2e.main()
