"""Runs of thousands of cases: how much memory and disk they need, on made-up databases."""

import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
from stored import SEED  # noqa: E402

# Both are more than the samples that stay in memory. `./run soak store` has more cases, and takes the least of three peaks
# of each command.
FEW, MANY = (5000, 20000) if e2e.SOAK else (4200, 6600)
# Limits on the memory for one more case, in bytes. LISTED is for a few numbers per case (it once was 6,000); the system counts
# in steps of 256 KB, which is 64 bytes per case. A comparison needs more. Reports keep the cases that fail or deviate, which here
# is every sixth.
LISTED, JUDGED, COMPARED, DEVIATING = 160, 400, 800, 400
MANY_RUN, FEW_RUN = "1", "2"  # of the database


@unittest.skipUnless(SEED.exists(), "seed_store is not built")
@unittest.skipIf(os.name == "nt", "peak memory of another process is read as POSIX gives it")
class LargeRuns(e2e.Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.database = cls.folder / "runs.db"
        subprocess.run([SEED, cls.database, "1", str(FEW), str(MANY)], check=True, capture_output=True)

    def peak_bytes(self, *argv):
        with open(os.devnull, "wb") as nothing:
            tool = subprocess.Popen([e2e.BUILD / "bin/twinstack", *argv, "--db", self.database],  # noqa: SIM115
                                    stdout=nothing, stderr=nothing)
            _, status, usage = os.wait4(tool.pid, 0)
        tool.returncode = os.waitstatus_to_exitcode(status)
        self.assertIn(tool.returncode, (0, 1))
        return usage.ru_maxrss * 1024

    def check_growth(self, limit, few_argv, many_argv):
        """The memory for one more case. If it seems too much, each is measured again up to twice, and the smallest peaks count,
        because the system's share varies."""
        few, many = [], []
        while len(few) < 3 and (e2e.SOAK or not few or min(many) - min(few) > limit * (MANY - FEW)):
            few.append(self.peak_bytes(*few_argv))
            many.append(self.peak_bytes(*many_argv))
        grown = (min(many) - min(few)) / (MANY - FEW)
        self.assertLessEqual(grown, limit, f"{' '.join(many_argv)}: {min(few)} bytes for {FEW} cases, {min(many)} for {MANY}")

    def test_memory_of_reports_hardly_grows_with_the_run(self):
        out = str(self.folder / "out")
        for argv in (("report", "--junit", out), ("report", "--ctrf", out), ("report", "--folded", out),
                     ("report", "--speedscope", out), ("gate",), ("gate", "--min-capture", "10%"),
                     ("report", "--openmetrics", out)):
            with self.subTest(argv=argv):
                self.check_growth(LISTED, (*argv, FEW_RUN), (*argv, MANY_RUN))

    def test_memory_of_what_compares_and_sums_is_bounded_per_case(self):
        out = str(self.folder / "out")
        for argv in (("report", "--json", out), ("report", "--text"), ("report", "--md", out), ("report", "--badge", out),
                     ("report", "--details"), ("report", "--html", out)):
            with self.subTest(argv=argv):
                self.check_growth(DEVIATING, (*argv, FEW_RUN), (*argv, MANY_RUN))
        for limit, argv in ((COMPARED, ("compare", "--json")), (JUDGED, ("gate", "--against")),
                            (COMPARED, ("gate", "--max-slowdown", "10%", "--against"))):
            with self.subTest(argv=argv):
                self.check_growth(limit, (*argv, FEW_RUN, FEW_RUN), (*argv, MANY_RUN, MANY_RUN))

    def test_what_a_case_costs_on_disk_is_stated_and_stays_when_runs_are_pruned(self):
        sizes = []
        copy = self.folder / "pruned.db"
        shutil.copy(self.database, copy)
        with sqlite3.connect(copy) as db:
            db.execute("DELETE FROM baseline")
        db.close()
        for argv in (("list",), ("prune", "--keep-runs", "1")):
            text = self.run_twinstack("db", *argv, "--db", copy).stdout
            found = re.search(r"(?m)^(\d+) cases in .*: ([0-9.]+) KB per case$", text)
            self.assertTrue(found, text)
            sizes.append((int(found[1]), float(found[2])))
        self.assertEqual([cases for cases, _ in sizes], [FEW + MANY, FEW])
        self.assertLess(sizes[0][1], 4)  # it was 4.6 while every frame had its texts, and shares and evidence were not shared
        self.assertLess(sizes[1][1], 1.2 * sizes[0][1])


if __name__ == "__main__":
    e2e.main()
