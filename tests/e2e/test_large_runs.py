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

FEW, MANY = 5000, 9000  # both are more than the samples that stay in memory
# Limits on the memory for one more case, in bytes. LISTED is for a few numbers per case (it once was 6,000); the system counts
# in steps of 256 KB, which is 64 bytes per case. A comparison needs more. Reports keep the cases that fail or deviate, which here
# is every sixth.
LISTED, COMPARED, DEVIATING = 160, 400, 400


@unittest.skipUnless(SEED.exists(), "seed_store is not built")
@unittest.skipIf(os.name == "nt", "peak memory of another process is read as POSIX gives it")
class LargeRuns(e2e.Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.databases = {}
        for cases in (FEW, MANY):
            cls.databases[cases] = cls.folder / f"{cases}.db"
            subprocess.run([SEED, cls.databases[cases], "2", str(cases), "0"], check=True, capture_output=True)

    def peak_bytes(self, *argv, enough=0):
        """The smallest peak of three runs, because the system's share varies; one that is ENOUGH is the last."""
        peaks = []
        while len(peaks) < 3 and min(peaks, default=enough + 1) > enough:
            with open(os.devnull, "wb") as nothing:
                tool = subprocess.Popen([e2e.BUILD / "bin/twinstack", *argv], stdout=nothing, stderr=nothing)  # noqa: SIM115
                _, status, usage = os.wait4(tool.pid, 0)
            tool.returncode = os.waitstatus_to_exitcode(status)
            self.assertIn(tool.returncode, (0, 1))
            peaks.append(usage.ru_maxrss * 1024)
        return min(peaks)

    def check_growth(self, limit, *argv):
        few = self.peak_bytes(*argv, "--db", self.databases[FEW])
        many = self.peak_bytes(*argv, "--db", self.databases[MANY], enough=few + limit * (MANY - FEW))
        grown = (many - few) / (MANY - FEW)
        self.assertLessEqual(grown, limit, f"{' '.join(argv)}: {few} bytes for {FEW} cases, {many} for {MANY}")

    def test_memory_of_reports_hardly_grows_with_the_run(self):
        out = str(self.folder / "out")
        for argv in (("report", "--junit", out), ("report", "--ctrf", out), ("report", "--folded", out),
                     ("report", "--speedscope", out), ("gate",), ("gate", "--min-capture", "10%"),
                     ("report", "--openmetrics", out)):
            with self.subTest(argv=argv):
                self.check_growth(LISTED, *argv)

    def test_memory_of_what_compares_and_sums_is_bounded_per_case(self):
        out = str(self.folder / "out")
        for argv in (("report", "--json", out), ("report", "--text"), ("report", "--md", out), ("report", "--badge", out),
                     ("report", "--details"), ("report", "--html", out)):
            with self.subTest(argv=argv):
                self.check_growth(DEVIATING, *argv)
        for argv in (("compare", "1", "2", "--json"), ("gate", "--against", "1")):
            with self.subTest(argv=argv):
                self.check_growth(2 * COMPARED, *argv)

    def test_what_a_case_costs_on_disk_is_stated_and_stays_when_runs_are_pruned(self):
        sizes = []
        copy = self.folder / "pruned.db"
        shutil.copy(self.databases[FEW], copy)
        with sqlite3.connect(copy) as db:
            db.execute("DELETE FROM baseline")
        db.close()
        for argv in (("list",), ("prune", "--keep-runs", "1")):
            text = self.run_twinstack("db", *argv, "--db", copy).stdout
            found = re.search(r"(?m)^(\d+) cases in .*: ([0-9.]+) KB per case$", text)
            self.assertTrue(found, text)
            sizes.append((int(found[1]), float(found[2])))
        self.assertEqual([cases for cases, _ in sizes], [2 * FEW, FEW])
        self.assertLess(sizes[0][1], 4)  # it was 4.6 while every frame had its texts, and shares and evidence were not shared
        self.assertLess(sizes[1][1], 1.2 * sizes[0][1])


if __name__ == "__main__":
    e2e.main()
