"""Faults put into the sources on purpose are detected. This runs the few faults of
tests/mutation/faults.toml that name a unit test; `./run mutation` runs all of them on every level.
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

MUTATE = e2e.ROOT / "tests/mutation/mutate.py"
LEAST = 12


class Mutation(e2e.Case):
    def ask(self, *options):
        return subprocess.run(["/usr/bin/python3", MUTATE, *options], capture_output=True, text=True, check=False, cwd=e2e.ROOT)

    def test_each_fault_still_has_its_place(self):
        done = self.ask("--list")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertGreaterEqual(len(done.stdout.splitlines()), 50)

    def test_unit_tests_notice_what_they_are_named_for(self):
        done = self.ask("--level", "own")
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-3000:])
        self.assertIn(f"noticed {LEAST} of {LEAST}", done.stdout)


e2e.main()
