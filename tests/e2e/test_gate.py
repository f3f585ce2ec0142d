"""Red days that the gate must not let pass: each changes a green run of a made-up database."""

import pathlib
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
from stored import SEED, Stored  # noqa: E402

NEWEST = "run_id = 3"


class Gate(Stored):
    def setUp(self):
        super().setUp()
        self.sql("DELETE FROM baseline")
        self.sql("UPDATE crash_case SET signature = NULL")
        self.run_db("baseline", "set", "2")

    def verdicts(self):
        """The sums that go with the cases."""
        self.sql("DELETE FROM run_verdict")
        self.sql("INSERT INTO run_verdict SELECT run_id, verdict, count(*) FROM crash_case GROUP BY 1, 2")

    def gate(self, *argv, exit_code=None):
        return self.run_db("gate", "--against", "baseline", *argv, exit_code=exit_code)

    def test_red_days(self):
        every = f"UPDATE crash_case SET verdict = '{{}}' WHERE {NEWEST}"
        rows = {
            "every case is UNSUPPORTED": ([every.format("UNSUPPORTED")], (), "✗ cases judged +12 UNSUPPORTED"),
            "none is captured, as expected": ([every.format("NOT-CAPTURED-AS-EXPECTED")], (), "✗ cases judged +12 UNSUPPORTED or not captured now"),
            "every case is accepted": ([every.format("XFAIL")], (), "✗ accepted +12 cases pass only by acceptance, 12 of them new"),
            "no truth": ([f"UPDATE crash_case SET has_truth = 0 WHERE {NEWEST}"], (), "✗ truth +12 without the truth"),
            "one engine is gone": ([f"DELETE FROM claim WHERE engine = 'dump' AND case_id IN (SELECT id FROM crash_case WHERE {NEWEST})"],
                                   (), "✗ dump +12 without the stack"),
            "its stacks are gone": ([f"UPDATE claim SET frames = 0 WHERE engine = 'dump' AND case_id IN (SELECT id FROM crash_case WHERE {NEWEST})"],
                                    (), "✗ dump +12 without the stack"),
            "its times are gone": ([f"UPDATE claim SET total_ns = 0 WHERE engine = 'dump' AND case_id IN (SELECT id FROM crash_case WHERE {NEWEST})"],
                                   ("--max-slowdown", "10%"), "✗ dump +0 cases have times, and 12 of them"),
            "red as before, in another way": (["UPDATE crash_case SET verdict = 'FAIL', signature = 'dump=' || run_id WHERE run_id >= 2"],
                                              (), r"✗ new failures +12 new since run 2,.*; 12 failed before, in another way"),
            "no case": ([f"DELETE FROM crash_case WHERE {NEWEST}"], (), "✗ state +the run is complete, and has no case"),
            "an interrupted baseline": (["UPDATE run SET state = 'interrupted' WHERE id = 2"], (), "✗ baseline +run 2 is interrupted"),
            "no case in common": ([f"UPDATE crash_case SET scenario = 'other_' || scenario WHERE {NEWEST}",
                                   "UPDATE run SET label = 'run', command = 'twinstack run -k other' WHERE id = 3"],
                                  (), "✗ baseline +run 2 has no case in common"),
        }
        for name, (statements, argv, said) in rows.items():
            with self.subTest(name):
                self.setUp()
                for statement in statements:
                    self.sql(statement)
                self.verdicts()
                done = self.gate(*argv)
                self.assertRegex(done.stdout, said)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertRegex(done.stdout, r"CLOSED\n$")

    def test_an_empty_run_closes_it_without_a_baseline(self):
        self.sql(f"DELETE FROM crash_case WHERE {NEWEST}")
        self.verdicts()
        self.assertIn("has no case", self.run_db("gate", exit_code=1).stdout)

    def test_what_may_be_lost_is_named(self):
        name = self.one("UNSUPPORTED").split(".")[0]
        self.assertIn("✗ cases judged         1 UNSUPPORTED", self.gate(exit_code=1).stdout)
        self.assertIn("0 UNSUPPORTED or not captured now, and judged in run 2, beside 1 allowed",
                      self.gate("--allow-missing", name, exit_code=0).stdout)
        self.gate("--allow-missing", "no_such_case", exit_code=1)

    def test_strict_demands_no_more_than_the_baseline_judged(self):
        """Under Wine, some cases are UNSUPPORTED in every run."""
        self.sql("UPDATE crash_case SET verdict = 'UNSUPPORTED' WHERE run_id >= 2 AND id % 3 = 0")
        self.sql("UPDATE run SET commit_id = ?", self.head())
        self.verdicts()
        self.gate("--strict", exit_code=0)
        self.run_db("gate", "--strict", exit_code=1)

    def head(self):
        done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=e2e.ROOT, capture_output=True, text=True, check=False)
        return done.stdout.strip() or None

    def test_a_killed_run_is_the_newest(self):
        self.sql("UPDATE run SET state = 'running', finished_ns = 0 WHERE id = 3")
        self.sql("INSERT INTO run_note SELECT 3, 'process', 99, ? || '@' || ?, ''", self.gone(), socket.gethostname())
        for argv in (["gate"], ["gate", "--against", "baseline"], ["report"], ["report", "main"]):
            with self.subTest(argv=argv):
                done = self.run_db(*argv, exit_code=1)
                self.assertRegex(done.stdout, r"run 3\b(?s:.*)interrupted|interrupted(?s:.*)run 3\b")

    def gone(self):
        """The number of a process that has ended."""
        with subprocess.Popen(["true"]) as child:
            child.wait()
            return child.pid

    def test_which_run_is_judged(self):
        self.sql("UPDATE run SET commit_id = ?, branch = 'main'", "0123456789abcdef" * 2)
        self.sql(f"UPDATE crash_case SET verdict = 'UNSUPPORTED' WHERE {NEWEST} AND id % 4 = 0")
        self.verdicts()
        done = self.run_db("gate")
        self.assertRegex(done.stdout, r"^✓ run +run 3 of commit 0123456789ab on main, \d+ days? old: 9 of 12 cases judged\n")
        head = self.head()
        if head is not None:
            self.assertRegex(done.stdout, f"✓ checkout +the run is of commit 0123456789ab, the checkout is at {head[:12]}")
            self.assertIn("✗ checkout", self.gate("--strict", exit_code=1).stdout)
            self.sql("UPDATE run SET commit_id = ?", head)
            self.assertNotIn("checkout", self.run_db("gate").stdout)

    def test_a_weak_baseline_is_named(self):
        self.sql("DELETE FROM crash_case WHERE run_id = 2 AND id % 4 = 0")
        self.sql("UPDATE crash_case SET verdict = 'FAIL', signature = 'x' WHERE run_id = 2 AND id % 4 = 1")
        self.sql("UPDATE run_symbol SET symbols = 0 WHERE run_id = 2 AND module = 'victims-ob2.exe'")
        self.verdicts()
        said = self.gate(exit_code=0).stdout
        self.assertRegex(said, r"✓ baseline +run 2 fails, too: 3 of its 9 cases")
        self.assertRegex(said, r"✓ baseline +run 2 lacks 3 of the cases")
        self.assertRegex(said, r"✓ symbols +victims-ob2.exe: none in run 2, pdb now")

    def test_acceptances_have_a_limit(self):
        self.sql("UPDATE crash_case SET verdict = 'XFAIL' WHERE run_id = 3 AND id % 4 = 0")
        self.sql("UPDATE crash_case SET verdict = 'XFAIL' WHERE run_id = 2 AND id % 4 = 1")
        self.verdicts()
        said = self.gate(exit_code=0).stdout
        self.assertRegex(said, r"✓ accepted +3 cases pass only by acceptance, 3 of them new since run 2, at most 3 allowed")
        self.gate("--max-accepted", "2", exit_code=1)
        self.run_db("gate", "--max-accepted", "2", exit_code=1)
        self.run_db("gate", "--max-accepted", "3", exit_code=0)

    def test_a_stated_limit_never_grows(self):
        """Eight runs whose times vary, and a ninth whose dump way takes four times as long."""
        self.db.unlink()
        subprocess.run([SEED, self.db, "9", "40", "0"], check=True, capture_output=True)
        self.all("PASS")
        claims = "UPDATE claim SET total_ns = {} WHERE engine = 'dump' AND case_id IN (SELECT id FROM crash_case WHERE run_id {})"
        for run in range(1, 9):
            self.sql(claims.format(f"1000000 * {1 + run % 4} + case_id % 7 * 1000", f"= {run}"))
        self.sql(claims.format("4 * (1000000 + case_id % 7 * 1000)", "= 9"))
        self.sql("UPDATE run_median SET median = 1000000 * (1 + run_id % 4) WHERE figure = 'dump_ns' AND run_id < 9")
        self.run_db("baseline", "set", "8")
        said = self.gate("--max-slowdown", "10%", exit_code=1).stdout
        self.assertRegex(said, r"✗ dump +time \+\d+\.\d %, at most 10\.0 % allowed")
        self.sql(claims.format("1000000 + case_id % 7 * 1000", "= 9"))
        said = self.gate("--max-slowdown", "2%", exit_code=0).stdout
        self.assertRegex(said, r"✓ dump .*\(asked: 2\.0 %; less than 3\.0 % is never judged, 2\.0 % would need about \d+ samples, and there are 40\)")

    def test_noise_above_the_limit_is_no_tick(self):
        """The control of the newest bench differs by 40 % from the lane that it repeats."""
        self.sql("INSERT INTO run (uuid, state, label, started_ns, finished_ns) VALUES ('b', 'complete', 'bench', 1, 2)")
        for at, (lane, ns) in enumerate((("offset", 1000), ("offset-control", 1400), ("dump", 5000))):
            for n in range(12):
                self.sql("INSERT INTO sample SELECT max(id), ?, ?, 'total', 0, ?, ? FROM run", at * 12 + n, lane, n, ns)
        said = self.gate("--max-slowdown", "10%", exit_code=0).stdout
        self.assertRegex(said, r"✓ dump +time \S+ % cannot be judged: the noise of 40\.0 % is above the 10\.0 % allowed")
        self.gate("--max-slowdown", "10%", "--strict", exit_code=1)


e2e.main()
