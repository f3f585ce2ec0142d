"""Runs of thousands of cases: how much memory and disk they need, on made-up databases.

Only this finds a report that keeps every case in memory."""

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
# Limits on the memory for one more case, in bytes. LISTED is for a few numbers per case: it is 30 and once was 6,000. A comparison
# needs more: 450. Reports keep the cases that fail or deviate, which here is every sixth: 270 to 410, with pages 610. The details
# read the other cases too, one scenario's at a time, a twelfth here: 400 to 590.
LISTED, JUDGED, COMPARED, DEVIATING = 100, 400, 800, 500
PAGES = 1000 if e2e.SOAK else 1600  # larger arrays double
DETAILS = 600 if e2e.SOAK else 400  # of a scenario that has four times as many cases, and of one with half as many again
JUMP = 768 << 10  # an array that doubles between the two, or a cache that fills
PEAK_OF = e2e.BUILD / "tests/peak_of"
RUN = "1"  # the only one of each database
REPORTS = ((LISTED, "report", "--junit"), (LISTED, "report", "--ctrf"), (LISTED, "gate"), (LISTED, "gate", "--min-capture", "10%"),
           (DEVIATING, "report", "--openmetrics"), (DEVIATING, "report", "--text"), (DEVIATING, "report", "--md"),
           (PAGES, "report", "--html"), (DEVIATING, "report", "--json", "-o"), (LISTED, "report", "--folded"),
           (DEVIATING, "report", "--badge"), (LISTED, "report", "--speedscope"), (DETAILS, "report", "--details"))
TO_A_FILE = {"--junit", "--ctrf", "--openmetrics", "--md", "--html", "-o", "--folded", "--badge", "--speedscope"}
# On disk, in memory where there is room: a few dozen MB.
PLACE = "/dev/shm" if os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 1 << 30 else None


@unittest.skipUnless(SEED.exists(), "seed_store is not built")
@unittest.skipIf(os.name == "nt", "peak memory of another process is read as POSIX gives it")
class LargeRuns(e2e.Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(dir=PLACE))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.few, cls.many = cls.folder / "few.db", cls.folder / "many.db"
        subprocess.run([SEED, cls.many, RUN, str(MANY), "0"], check=True, capture_output=True)
        shutil.copy(cls.many, cls.few)
        with sqlite3.connect(cls.few) as db:
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("DELETE FROM crash_case WHERE id > ?", [FEW])  # takes a tenth of the time of adding them
        db.close()

    def peak_bytes(self, database, argv):
        said = subprocess.run([PEAK_OF, e2e.BUILD / "bin/twinstack", *argv, "--db", database], check=True, capture_output=True, text=True).stdout
        status, kilobytes = map(int, said.split())
        self.assertIn(status, (0, 1))
        return kilobytes * 1024

    def check_growth(self, limit, *argv):
        """The memory for one more case. If it seems too much, each is measured again up to twice, and the smallest peaks count,
        because the system's share varies."""
        few, many = [], []
        while len(few) < 3 and (e2e.SOAK or not few or min(many) - min(few) > limit * (MANY - FEW) + JUMP):
            few.append(self.peak_bytes(self.few, argv))
            many.append(self.peak_bytes(self.many, argv))
        self.assertLessEqual(min(many) - min(few), limit * (MANY - FEW) + JUMP,
                             f"{' '.join(argv)}: {min(few)} bytes for {FEW} cases, {min(many)} for {MANY}")

    def test_what_is_measured_is_the_program_alone(self):
        """The smallest of three, because the system's share varies: 4.7 MB of a command that reads no case, of which 0.4 are Capstone's
        tables, which are relocated at each start. Started by Python itself it would be 20 MB."""
        self.assertLess(min(self.peak_bytes(self.few, ("baseline", "show")) for _ in range(3)), 6 << 20)

    def test_memory_of_reports_is_bounded_per_case(self):
        for limit, *argv in REPORTS:
            with self.subTest(argv=argv):
                self.check_growth(limit, *argv, *[str(self.folder / "out")] * (argv[-1] in TO_A_FILE), RUN)

    def test_memory_of_comparisons_is_bounded_per_case(self):
        for limit, argv in ((COMPARED, ("compare", "--json")), (JUDGED, ("gate", "--against")),
                            (COMPARED, ("gate", "--max-slowdown", "10%", "--against")),
                            (COMPARED, ("gate", "--max-slowdown", "10%", "--lane", "offsets", "--lane", "tuned dump", "--against"))):
            with self.subTest(argv=argv):
                self.check_growth(limit, *argv, RUN, RUN)

    def test_what_a_case_costs_on_disk_is_stated_and_stays_when_runs_are_pruned(self):
        sizes = []
        few, many = 400, 800
        pruned = self.folder / "pruned.db"
        subprocess.run([SEED, pruned, "1", str(few), str(many)], check=True, capture_output=True)
        with sqlite3.connect(pruned) as db:
            db.execute("DELETE FROM baseline")
        db.close()
        for argv in (("list",), ("prune", "--keep-runs", "1")):
            text = self.run_twinstack("db", *argv, "--db", pruned).stdout
            found = re.search(r"(?m)^(\d+) cases in .*: ([0-9.]+) KB per case$", text)
            self.assertTrue(found, text)
            sizes.append((int(found[1]), float(found[2])))
        self.assertEqual([cases for cases, _ in sizes], [few + many, few])
        self.assertLess(sizes[0][1], 4)  # it was 4.6 while every frame had its texts, and shares and evidence were not shared
        self.assertLess(sizes[1][1], 1.2 * sizes[0][1])


if __name__ == "__main__":
    e2e.main()
