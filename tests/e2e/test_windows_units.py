"""The unit tests built for Windows, under Wine; has a Wine prefix to itself.

The start of a process takes longer than most tests, so all tests of a program run in one process. A program in which one
fails runs again as on Linux, each test in a process of its own, and that result counts.

Only this finds a fault of the code for Windows, and of what its C library does otherwise."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

TESTS = e2e.BUILD / "windows/tests"
ENV = {**os.environ, "WINEPREFIX": os.environ.get("WINEPREFIX", str(e2e.BUILD / "wine")), "WINEDEBUG": "-all", "LC_ALL": "C.UTF-8",
       "TWINSTACK_CACHE": str(e2e.BUILD / "cache-windows")}


@unittest.skipUnless(TESTS.exists(), "no programs for Windows: ./run says at its start why they were not built")
class Units(e2e.Case):
    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(e2e.wine_session(ENV))

    @staticmethod
    def run_program(program, *argv):
        """What it prints, and why that is no success."""
        done = e2e.wine_bytes(program, *argv, limit_s=300, env=ENV, folder=e2e.ROOT)
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        good = lines and re.fullmatch(r"tally (\d+ 0 \d+)", lines[-1])
        return None if good and good[1] != "0 0 0" else (program.name, lines[-8:], done.stderr[-400:])

    def failure(self, program):
        together = self.run_program(program, "--together")
        if together is None:
            return None
        print(f"again, each test alone: {together}")
        return self.run_program(program)

    def test_each_program(self):
        programs = sorted(TESTS.glob("unit_*.exe"))
        self.assertLess({"unit_console", "unit_files", "unit_collect", "unit_judges", "unit_queue"}, {p.stem for p in programs})
        self.assertGreater(len(programs), 60)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.assertEqual([bad for bad in pool.map(self.failure, programs) if bad], [])

    def test_a_console_is_prepared(self):
        done = subprocess.run(["script", "-qec", f"wine '{TESTS}/unit_console.exe'", "/dev/null"], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=100 * e2e.PATIENCE, check=False, cwd=e2e.ROOT,
                              env={**ENV, "TWINSTACK_TEST_CONSOLE": "1"})
        self.assertEqual(done.returncode, 0, done.stdout[-800:])


if __name__ == "__main__":
    e2e.main()
