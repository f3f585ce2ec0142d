"""The unit test framework itself: a program whose tests fail in every possible way has a known
tally.

Only this finds a test that fails and is counted as passed, and a change for which --changed leaves out its test."""

import contextlib
import io
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import e2e  # noqa: E402
sys.path.insert(0, str(e2e.ROOT / "tests/mutation"))
import changed  # noqa: E402
import mutate  # noqa: E402
import run_tests  # noqa: E402
import soak  # noqa: E402


WORKFLOWS = e2e.ROOT / ".github/workflows"


class Framework(e2e.Case):
    def selftest(self, *argv):
        return subprocess.run([e2e.BUILD / "tests/selftest", *argv], capture_output=True, text=True, check=False)

    def test_every_outcome_is_counted(self):
        done = self.selftest()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.splitlines()[-1], "tally 2 7 3")

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
        self.assertEqual((done.returncode, done.stdout), (0, "tally 1 0 0\n"))

    def test_without_processes_of_their_own_the_results_are_the_same(self):
        for words, tally in [(["passes", "fails", "ends", "skips", "known", "damage"], "tally 2 5 3"), (["damage"], "tally 1 0 0")]:
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


class Runner(e2e.Case):
    """tests/run_tests.py, lib/program.py and lib/changed.py."""

    def program(self, text, *, limit=30, build=None):
        script = self.folder / "program.py"
        script.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, e2e.ROOT / "tests/lib/program.py", build or self.folder, "made", str(limit), sys.executable, script],
                              capture_output=True, text=True, check=False)
        kept = e2e.json.loads((self.folder / "log/tests/made.json").read_text(encoding="utf-8"))
        return done.returncode, kept["counts"], kept["lines"][-1:]

    def test_what_a_program_prints_is_its_result(self):
        for name, text, want in (
                ("all passed", "print('tally 3 0 0')", (0, [3, 0, 0], [])),
                ("one failed", "import sys; print('FAIL x'); print('tally 2 1 0'); sys.exit(1)", (1, [2, 1, 0], ["FAIL x"])),
                ("all skipped", "print('tally 0 0 2')", (77, [0, 0, 2], [])),
                ("some skipped", "print('tally 1 0 2')", (0, [1, 0, 2], [])),
                ("no tally", "print('hello')", (1, [0, 1, 0], ["FAIL no tally, exit status 0"])),
                ("killed", "import os; os.kill(os.getpid(), 9)", (1, [0, 1, 0], ["FAIL no tally, exit status -9"])),
                ("status without failure", "import sys; print('tally 1 0 0'); sys.exit(3)",
                 (1, [1, 1, 0], ["FAIL exit status 3 although nothing failed"])),
                ("nothing", "print('tally 0 0 0')", (1, [0, 1, 0], ["FAIL it tested nothing"]))):
            with self.subTest(name):
                self.assertEqual(self.program(text), want)

    def test_a_skip_that_the_list_does_not_allow_fails_in_ci(self):
        for name, strict, reason, want in (
                ("allowed", True, "no fixtures ($TWINSTACK_FIXTURES)", [1, 0, 1]), ("new", True, "no time today", [1, 1, 0]),
                ("new, on a desk", False, "no time today", [1, 0, 1])):
            with self.subTest(name), unittest.mock.patch.object(run_tests, "STRICT", strict):
                result = {"lines": [f"skip Some.test: {reason}"], "counts": [1, 0, 1]}
                run_tests.refuse_new_skips(result)
                self.assertEqual(result["counts"], want)

    def test_a_second_try_makes_the_wine_prefixes_and_nothing_else(self):
        text = (e2e.ROOT / "tests/programs.cmake").read_text(encoding="utf-8")
        stages = re.findall(r"(?m)^stage\(([\w-]+)", text)
        self.assertIn("wine", stages)
        self.assertEqual([name for name in stages if not re.search(run_tests.BUT_WINE, name)], ["wine"])

    def test_a_second_try_is_for_who_is_listed_or_has_a_wine_prefix(self):
        good, bad = {"counts": [1, 0, 0]}, {"counts": [0, 1, 0]}
        known = {"listed": (1, set(), 0), "with_wine": (2, {"wine"}, 0), "neither": (3, {"quick"}, 0), "fine": (4, {"wine"}, 0)}
        for name, again, passed in (("it passes then", good, ["listed", "with_wine"]), ("it fails again", bad, [])):
            with (self.subTest(name), unittest.mock.patch.object(run_tests, "read_lines", lambda _: ["listed"]),
                  unittest.mock.patch.object(run_tests, "Session") as session):
                session.return_value.run.return_value.get.return_value = again
                results = {**dict.fromkeys(known, bad), "fine": good}
                self.assertEqual(run_tests.second_tries(results, known), passed)
                self.assertEqual([each for each, result in results.items() if result is good], [*passed, "fine"])

    def test_the_end_of_a_run_says_again_what_failed(self):
        after = [f"line {n}" for n in range(40)]
        bad = {"counts": [1, 1, 0], "lines": ["early", "a.c:5: 1 is 2", "FAIL adds", *after]}
        first = {"bad": run_tests.failures_of(bad), "late": run_tests.failures_of(bad), "good": run_tests.failures_of({"counts": [2, 0, 0], "lines": ["a note"]})}
        with contextlib.redirect_stdout(io.StringIO()) as said:
            run_tests.show_failures(first, {"bad": bad, "late": {"counts": [2, 0, 0]}, "good": {"counts": [2, 0, 0]}})
        lines = [line.strip() for line in said.getvalue().splitlines()]
        shown = ["early", "a.c:5: 1 is 2", "FAIL adds", *after[:run_tests.SAID_AFTER - 1]]
        self.assertEqual(lines, ["failed: bad", *shown, "failed: late at first; it passed at the second try, alone", *shown])

    def fake(self, folder, name, text):
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
        return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}

    def test_wine_that_did_not_start_a_program_is_asked_again(self):
        for number, (said, starts) in enumerate((
                ("launcher: cannot start the victim (error 1359)", 2), ("wine client error:0: recvmsg: Connection reset by peer", 2),
                ("wine client error:5c: write: Bad file descriptor", 1), ("words of the program", 1))):
            with self.subTest(said):
                log = self.folder / f"starts{number}"
                env = self.fake(self.folder / f"bin{number}", "wine", f"echo start >>{log}; echo '{said}' >&2")
                with unittest.mock.patch.dict(os.environ, env):
                    e2e.wine("x.exe", env=env)
                self.assertEqual(log.read_text().split(), ["start"] * starts)

    def test_a_session_of_wine_has_one_who_holds_the_server(self):
        log = self.folder / "starts"
        self.fake(self.folder / "bin", "wineserver", "")
        env = self.fake(self.folder / "bin", "wine", f'[ "$2" = /q ] || {{ sleep 1; exit; }}; echo start >>{log}\n'
                        f'[ "$(wc -l <{log})" -gt 1 ] && cat >/dev/null')  # the first is lost, as when its server ends
        with unittest.mock.patch.dict(os.environ, env), e2e.wine_session(env):
            self.assertEqual(log.read_text().split(), ["start"] * 2)

    def test_what_hangs_is_ended(self):
        status, counts, lines = self.program("import time; time.sleep(1000)", limit=1)
        self.assertEqual((status, counts, lines), (1, [0, 1, 0], ["FAIL time limit of 1.0 s"]))

    def test_shards_are_all_programs_together(self):
        def names(*options):
            return subprocess.run([sys.executable, e2e.ROOT / "tests/run_tests.py", "--names", *options], capture_output=True, text=True,
                                  check=True, env={**os.environ, "TWINSTACK_BUILD": str(e2e.BUILD)}).stdout.split()

        every = names()
        for parts in (2, 3, 5):
            met = [name for part in range(1, parts + 1) for name in names("--shard", f"{part}/{parts}")]
            self.assertEqual(sorted(met), sorted(every))
        jobs = re.search(r"shard: \[(.*)\]", (WORKFLOWS / "ci.yml").read_text(encoding="utf-8"))[1]
        self.assertEqual(re.findall(r"'(.*?)'", jobs), [f"{part}/3" for part in (1, 2, 3)])
        self.assertLess({"lint", "unit_msf", "sanitize_unit_msf", "fuzz_msf" if "fuzz_msf" in every else "fuzz_pdb", "e2e_check"}, set(every))
        files = {f.stem[5:] for f in (e2e.ROOT / "tests/e2e").glob("test_*.*")}
        self.assertEqual(files, {re.sub(r"^e2e_|_\d+$", "", name) for name in every if name.startswith("e2e_")})

    def test_a_change_chooses_its_programs(self):
        known = {name: labels for name, (_, labels, *_) in run_tests.known_programs().items()}
        for change, chosen, left in (
                ("analyze/format/pdb/msf.c", ["unit_msf", "sanitize_unit_msf", "fuzz_pdb", "e2e_symbols", "e2e_recipes", "lint"], ["e2e_web_names", "unit_bytes"]),
                ("analyze/compare/blame.c", ["unit_blame", "e2e_verdict", "lint"], ["unit_msf", "e2e_objects"]),
                ("capture/on_crash.c", ["e2e_capture_1", "e2e_matrix_1", "lint"], ["unit_msf", "e2e_web_light"]),
                ("dashboard/web/src/main.js", ["e2e_web", "e2e_web_light", "e2e_web_lint"], ["unit_msf"]),
                ("tests/unit/test_msf.c", ["unit_msf", "sanitize_unit_msf"], ["unit_pdb", "e2e_dump"]),
                ("tests/e2e/test_dump.py", ["e2e_dump"], ["unit_msf", "e2e_check"]),
                ("tests/e2e/emulated/shapes.c", ["e2e_emulated"], ["unit_msf", "e2e_check"]),
                ("tests/lib/dump_maker.py", ["e2e_emulated", "e2e_dump_streams"], ["unit_msf", "e2e_stops"]),
                ("victims/crash/null_write.c", ["e2e_matrix_1", "e2e_victims"], ["unit_msf"])):
            with self.subTest(change):
                names, said = changed.choose(known, "", [change])
                self.assertLessEqual(set(chosen), set(names))
                self.assertFalse(set(left) & set(names))
                self.assertIn(f"{len(known) - len(names)} programs: ", said[-1])
        for fault in mutate.read_faults():  # what is known to notice it is chosen
            with self.subTest(fault["name"]):
                names, _ = changed.choose(known, "", [mutate.place_of(fault)[0].relative_to(e2e.ROOT).as_posix()])
                quick = {name for name in names if name.startswith(("unit_", "e2e_")) and "quick" in known[name]}
                self.assertLessEqual({fault["test"]} if "test" in fault else set(), quick)
                self.assertTrue(quick or fault["file"].startswith(("capture/", "victims/")))
        for change in ("analyze/base/json.c", "run", "CMakeLists.txt", "tests/lib/test.c", "no/such/" + "z" * 9):
            with self.subTest(change):
                self.assertEqual(len(changed.choose(known, "", [change])[0]), len(known))


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


def is_gone(state):
    """STATE: a process's /proc/PID/stat."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return state.read_text().rsplit(")", 1)[1].split()[0] == "Z"
    return True


@unittest.skipIf(os.name == "nt", "there is no ./run soak")
class Soak(e2e.Case):
    def test_the_nightly_job_has_every_soak(self):
        self.assertEqual(re.search(r"soak: \[(.*)\]", (WORKFLOWS / "nightly.yml").read_text(encoding="utf-8"))[1].split(", "), list(soak.SOAKS))

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
            end = time.monotonic() + 10 * e2e.PATIENCE  # what was killed takes its time on a busy machine
            while not (gone := is_gone(state)) and time.monotonic() < end:
                time.sleep(0.02)
            if not gone:
                os.kill(left, signal.SIGKILL)
            self.assertTrue(gone, f"the process that the step started is left after {number}")
        (self.folder / "wait").unlink()
        with self.start() as child:
            self.assertIn("2 of 2 steps passed", child.communicate(timeout=20 * e2e.PATIENCE)[0])
        self.assertEqual((self.folder / "good").read_text(), "\n", "the good step ran once")
        with self.start("--list") as child:
            self.assertRegex(child.communicate(timeout=20 * e2e.PATIENCE)[0], r"^two +2 of   2 steps, +\d+ min ")


e2e.main()
