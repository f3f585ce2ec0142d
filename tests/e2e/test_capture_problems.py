"""Thirty different bugs of a program are thirty problems, also when it is built with and without optimisation, when its lines move and
when an unrelated function is added (tests/package/stranger/bugs.cpp). Built by another compiler, all are the same problems but what lambdas
are called. It has a Wine prefix to itself.

Only this finds two bugs that real compilers turn into one problem, and one that they turn into two."""

import collections
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
from test_capture_lives import CLANG, ENV, OBJECTS  # noqa: E402

BUILDS = {"not optimised": ["-O0"], "optimised": ["-O2"], "on other lines": ["-O0", "-DSHIFTED"], "with one more function": ["-O0", "-DGROWN"]}
BUGS = 30
GCC = ["x86_64-w64-mingw32-g++", "-std=c++17", "-g", "-O2", "-municode", "-static", "-D_WIN32_WINNT=0x0A00", f"-I{e2e.ROOT}"]
# By bug, what its problem is called in the program by gcc: its debug information has no names for lambdas, clang's has.
OF_GCC_ALONE = {29: "operator() | throw_in_noexcept | throw_in_noexcept_step"}  # two lambdas, of which a word in a row counts once


class Problems(e2e.Case):
    @classmethod
    def setUpClass(cls):
        if not OBJECTS.is_dir() or not pathlib.Path(ENV["WINEPREFIX"]).is_dir():
            raise e2e.unittest.SkipTest("the Windows programs are not built, or there is no Wine prefix; ./run makes both")
        cls.enterClassContext(e2e.wine_session(ENV))
        cls.tree = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def build(self, name, compiler=None):
        """Returns the program; its symbols are beside it, or in it."""
        program = self.tree / name.replace(" ", "-") / "bugs.exe"
        program.parent.mkdir()
        clang = ["clang++-19", *(word for word in CLANG[1:] if word != "-std=c11"), "-std=c++17", "-g", "-gcodeview", *BUILDS.get(name, []),
                 "-fuse-ld=lld-19", "-Wl,-s", f"-Wl,--pdb={program.with_suffix('.pdb')}"]
        argv = [*(compiler or clang), e2e.ROOT / "tests/package/stranger/bugs.cpp", *OBJECTS.glob("*.obj"), "-ldbghelp", "-lntdll", "-o", program]
        done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=False, timeout=240 * e2e.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return program

    def problem(self, program, number):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        done = e2e.wine(program, "Z:" + str(folder).replace("/", "\\"), number, env=ENV)
        records = list(folder.glob("*.rec"))
        self.assertEqual(len(records), 1, f"bug {number}: {done.returncode} {done.stdout}")
        found = self.run_json("signatures", "--symbols", program.parent, "--json", records[0])["signatures"]
        self.assertEqual([row["count"] for row in found], [1])
        return found[0]["signature"]

    def test_thirty_bugs_in_four_builds_are_thirty_problems(self):
        counts = collections.Counter()
        for name in BUILDS:
            program = self.build(name)
            of_build = [self.problem(program, number) for number in range(BUGS)]
            self.assertEqual(len(set(of_build)), BUGS, [p for p in set(of_build) if of_build.count(p) > 1])
            counts.update(of_build)
        self.assertEqual({problem: count for problem, count in counts.items() if count != len(BUILDS)}, {})
        self.assertEqual(len(counts), BUGS)
        program = self.build("by gcc", GCC)
        of_gcc = {number: self.problem(program, number) for number in range(BUGS)}
        self.assertEqual({number: problem for number, problem in of_gcc.items() if problem not in counts}, OF_GCC_ALONE)
        self.assertEqual(len(set(of_gcc.values())), BUGS)


if __name__ == "__main__":
    e2e.main()
