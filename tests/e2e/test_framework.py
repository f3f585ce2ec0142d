"""The unit test framework itself: a program whose tests fail in every possible way has a known
tally."""

import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import e2e  # noqa: E402
import run_tests  # noqa: E402
import turn  # noqa: E402


class Framework(e2e.Case):
    def selftest(self, *argv):
        return subprocess.run([e2e.BUILD / "tests/selftest", *argv], capture_output=True, text=True, check=False)

    def test_every_outcome_is_counted(self):
        done = self.selftest()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.splitlines()[-1], "tally 3 7 3")

    def test_a_failure_names_its_place_row_and_values(self):
        self.assertRegex(self.selftest("fails_with_its_row").stdout,
                         r"tests/lib/selftest\.c:\d+: \[the third row\] 2 \+ 2 is 4, not 5")

    def test_crash_and_hang_say_so(self):
        self.assertIn("FAIL crashes: Aborted", self.selftest("crashes").stdout)
        self.assertIn("FAIL hangs: time limit", self.selftest("hangs").stdout)

    def test_a_skip_gives_its_reason(self):
        self.assertIn("skip skips: because it says so", self.selftest("skips").stdout)

    def test_a_filter_narrows(self):
        done = self.selftest("damage")
        self.assertEqual((done.returncode, done.stdout), (0, "tally 2 0 0\n"))

    def test_without_processes_of_their_own_the_results_are_the_same(self):
        for words, tally in [(["passes", "fails", "ends", "skips", "known", "damage"], "tally 3 5 3"), (["damage"], "tally 2 0 0")]:
            alone, together = self.selftest(*words), self.selftest("--together", *words)
            self.assertEqual(together.stdout.splitlines()[-1], tally)
            self.assertEqual(*([line.split(" (")[0] for line in done.stdout.splitlines()] for done in (alone, together)))
        self.assertNotEqual(self.selftest("--together", "crashes").returncode, 0)

    def test_no_process_that_is_left_over_holds_the_reader(self):
        """As a victim that outlives a killed twinstack.exe would."""
        start, long_s = time.monotonic(), int(40 * e2e.PATIENCE)
        done = e2e.finished(["sh", "-c", f"cat; sleep {long_s} & echo no >&2"], stdin=b"yes", limit_s=long_s - 10)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"yes", b"no\n"))
        with self.assertRaises(subprocess.TimeoutExpired):
            e2e.finished(["sh", "-c", f"sleep {long_s} & sleep {long_s}"], limit_s=1)
        self.assertLess(time.monotonic() - start, long_s - 10)


class Groups(e2e.Case):
    """cmake/groups.py: which files are compiled as one."""

    def grouped(self, **files):
        room = self.folder / "analyze/room"
        room.mkdir(parents=True, exist_ok=True)
        (room / "CMakeLists.txt").write_text("room(room)\n", encoding="utf-8")
        for name, text in {"one.c": "#define LIMIT 3\nstatic int first(int x)\n{\n    return x;\n}\n", **files}.items():
            (room / name.replace("_h", ".h").replace("_c", ".c")).write_text(text, encoding="utf-8")
        done = subprocess.run(["/usr/bin/python3", e2e.ROOT / "cmake/groups.py", self.folder], capture_output=True, text=True, check=True)
        return done.stdout == f"{room};{room}/one.c;{room}/two.c\n"

    def test_two_files_that_share_no_name_and_no_others(self):
        for name, two, header, want in (
                ("nothing shared", "static int second;\n", "", True),
                ("a word of a comment", "/* LIMIT, static int first */ int second;\n", "", True),
                ("a local variable", "int second(void)\n{\n    static int first;\n    return first;\n}\n", "", True),
                ("a function", "static void first(void)\n{\n}\n", "", False),
                ("a table", "static const struct {\n    int x;\n} first[] = {{1}, {2}};\n", "", False),
                ("a pointer to a function", "static int (*first)(int);\n", "", False),
                ("a constant", "enum {\n    second = 2,\n    first,\n};\n", "", False),
                ("a macro that the other uses", "int second(int LIMIT);\n", "", False),
                ("a macro, the other way round", "#define first second\n", "", False),
                ("a name of a header", "static int second;\n", "int second(void);\n", False),
                ("a constant of a header", "static int second;\n", "enum { second };\n", False),
                ("a macro before the headers", "#define _GNU_SOURCE\n#include <stdio.h>\n", "", False),
                ("headers of Windows", "#include <windows.h>\n", "", False)):
            with self.subTest(name):
                self.assertEqual(self.grouped(two_c=two, some_h=header), want)


class Turns(e2e.Case):
    def test_what_takes_turns_runs_with_each_second_commit_and_meets_all_its_shares(self):
        met = {name: [] for name in run_tests.IN_TURN}
        for count in range(1000, 1024):
            with unittest.mock.patch.object(turn, "commits", return_value=count):
                known = [p for p in run_tests.programs(True, False) if p.name in met]
                left = run_tests.of_another_commit(known)
                self.assertEqual(len(left), len(met) / 2, "one of each pair")
            for program in known:
                if program not in left:
                    met[program.name].append(int(program.env()["TWINSTACK_COMMITS"]))
        for name, counts in met.items():
            for shares in (2, 3, 4, 5, 6):
                with self.subTest(name, shares=shares):
                    self.assertEqual({count % shares for count in counts}, set(range(shares)))


# Two steps; the first is good, the second starts a process in a session of its own and goes on while a file is there.
SOAK = """
import pathlib, sys
sys.path.insert(0, sys.argv.pop(1))
import soak
def two():
    yield "good", ["sh", "-c", "echo >>../good"], {}
    yield "long", ["sh", "-c", "setsid sleep 300 & echo $! >../left; while [ -e ../wait ]; do sleep 0.05; done; kill $!"], {}
soak.SOAKS, soak.PLACE, soak.BUILD = {"two": two}, pathlib.Path.cwd() / "soak", pathlib.Path.cwd()
soak.ROOT = pathlib.Path.cwd() / "root"
soak.sources = lambda: "the same"
sys.exit(soak.main())
"""


@unittest.skipIf(os.name == "nt", "there is no ./run soak")
class Soak(e2e.Case):
    def start(self, *argv):
        return subprocess.Popen([sys.executable, "-c", SOAK, e2e.ROOT / "tests", *argv], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)

    def test_what_is_ended_leaves_no_process_and_goes_on_where_it_was(self):
        (self.folder / "root").mkdir()
        (self.folder / "wait").touch()
        for number in (signal.SIGINT, signal.SIGTERM):
            (self.folder / "left").unlink(missing_ok=True)
            with self.start() as child:
                end = time.monotonic() + 20 * e2e.PATIENCE
                while not ((self.folder / "left").exists() and (self.folder / "left").read_text()) and time.monotonic() < end:
                    time.sleep(0.02)
                child.send_signal(number)
                said = child.communicate(timeout=20 * e2e.PATIENCE)[0]
            self.assertEqual(child.returncode, 130, said)
            left = int((self.folder / "left").read_text())
            state = pathlib.Path(f"/proc/{left}/stat")
            gone = not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] == "Z"
            if not gone:
                os.kill(left, signal.SIGKILL)
            self.assertTrue(gone, f"the process that the step started is left after {number}")
        (self.folder / "wait").unlink()
        with self.start() as child:
            self.assertIn("2 of 2 steps passed", child.communicate(timeout=20 * e2e.PATIENCE)[0])
        self.assertEqual((self.folder / "good").read_text(), "\n", "the good step ran once")


e2e.main()
