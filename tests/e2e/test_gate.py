"""Red days that the gate must not let pass: each changes a green run of a made-up database."""

import pathlib
import socket
import sqlite3
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

    def seed_lanes(self, runs):
        """Runs of 12 cases of each processor, which take as long in each run; the one before the last is the baseline."""
        self.db.unlink()
        subprocess.run([SEED, self.db, str(runs), "24", "0"], check=True, capture_output=True)
        self.all("PASS")
        self.sql("DELETE FROM baseline")
        self.run_db("baseline", "set", str(runs - 1))
        self.sql("UPDATE crash_case SET arch = iif(id % 2, 'x86', 'x64'), crowded = 0, signature = NULL")
        self.sql("UPDATE run SET commit_id = (SELECT commit_id FROM run WHERE id = 2)")
        columns = [f"{state}{round}_ns" for state in ("first", "cold", "warm") for round in ("", "_even", "_odd")]
        for factor, way in enumerate(("offset", "tuned", "dump"), 1):
            self.sql(f"INSERT INTO way_cost (case_id, way, frames, same, {', '.join(columns)}) SELECT id, '{way}', 4, 1,"
                     f" {', '.join([f'{factor} * (100000 + id % 24 * 1000)'] * 9)} FROM crash_case")

    def test_a_limit_on_lanes_never_grows(self):
        """Eight runs whose times vary up to fourfold, and a bench with noise of 40 %; the ninth run takes 12 % longer than the eighth."""
        self.seed_lanes(9)
        times = "UPDATE way_cost SET cold_ns = cold_ns * {0} / 100, cold_even_ns = cold_even_ns * {0} / 100, cold_odd_ns = cold_odd_ns * {0} / 100" \
                " WHERE case_id IN (SELECT id FROM crash_case WHERE run_id = {1})"
        for run, percent in enumerate((200, 300, 400, 100, 200, 300, 400, 100, 112), 1):
            self.sql(times.format(percent, run))
        self.sql("UPDATE run_median SET median = 1000000 * (1 + run_id % 4)")
        self.sql("INSERT INTO run (uuid, state, label, started_ns, finished_ns) VALUES ('b', 'complete', 'bench', 1, 2)")
        for at, (lane, ns) in enumerate((("offset", 1000), ("offset-control", 1400), ("dump", 5000))):
            for n in range(12):
                self.sql("INSERT INTO sample SELECT max(id), ?, ?, 'total', 0, ?, ? FROM run", at * 12 + n, lane, n, ns)
        for limit, exit_code, said in (("10%", 1, "✗ x64 offsets, index +time \\+12.0 %, at most 10.0 % allowed"),
                                       ("15%", 0, "✓ x64 offsets, index +time \\+12.0 %, at most 15.0 % allowed"),
                                       ("2%", 1, "✗ x64 offsets, index .*\\(asked: 2.0 %; less than 3.0 % is never judged, 2.0 % would need about \\d+ cases, and there are 12\\)")):
            with self.subTest(limit):
                self.assertRegex(self.gate("--max-slowdown", limit, "--lane", "offsets, index", exit_code=exit_code).stdout, said)

    def test_times_at_a_limit_itself(self):
        """A quarter more is exact in binary, so that a limit of 25 % is met and not passed. By default all 12 cases of x64 take 100 us; the
        median of seven that take more and five that do not is the one of the seven, and of more than one resample in seven that of the five,
        so that the interval begins at 1."""
        def newest(what):
            return f"UPDATE way_cost SET {what} WHERE case_id IN (SELECT id FROM crash_case WHERE {NEWEST})"

        slower = newest("cold_ns = 125000")
        some_slower, some_apart = (newest(f"{name}_ns = iif(case_id % 24 < 14, 125000, 100000)") for name in ("cold", "cold_odd"))
        rows = {
            "as much as allowed": ([slower], "25%", (0, 0), r"✓ x64 offsets, index +time \+25.0 %, at most 25.0 % allowed, \+25.0 to \+25.0 % with"),
            "more than allowed": ([slower], "24%", (1, 1), r"✗ x64 offsets, index +time \+25.0 %, at most 24.0 % allowed, \+25.0 to \+25.0 % with"),
            "it may be no change": ([some_slower], "10%", (0, 0), r"✓ x64 offsets, index +time \+25.0 %, at most 10.0 % allowed, \+0.0 to \+25.0 % with"),
            "noise as large as the limit": ([some_apart], "25%", (0, 0), r"✓ x64 offsets, index +time \+0.0 %, at most 25.0 % allowed"),
            "noise above the limit": ([some_apart], "24%", (0, 1), r"✓ x64 offsets, index +time \+0.0 % cannot be judged: the noise of 25.0 % is above the 24.0 %"),
            "noise as large as the change": ([slower, some_apart], "10%", (0, 1),
                                             r"✓ x64 offsets, index +time \+25.0 % cannot be judged: the noise of 25.0 % is above the 10.0 %"),
            "a change above the noise": ([newest("cold_ns = 126000"), some_apart], "10%", (1, 1), r"✗ x64 offsets, index +time \+26.0 %, at most 10.0 % allowed"),
            "the smallest limit that is judged": ([], "3%", (0, 0), r"✓ x64 offsets, index +time \+0.0 %, at most 3.0 % allowed, \+0.0 to \+0.0 % with 95 %, 12 cases\n"),
        }
        for name, (statements, limit, (exit_code, strictly), said) in rows.items():
            with self.subTest(name):
                self.seed_lanes(3)
                self.sql("UPDATE way_cost SET cold_ns = 100000, cold_even_ns = 100000, cold_odd_ns = 100000")
                for statement in statements:
                    self.sql(statement)
                argv = ["--max-slowdown", limit, "--lane", "x64 offsets, index"]
                self.assertRegex(self.gate(*argv, exit_code=exit_code).stdout, said)
                strict = self.gate(*argv, "--strict").stdout
                self.assertEqual("✗ x64" in strict, strictly == 1, strict)

    def test_the_baseline_of_lanes_may_be_another_file(self):
        """With other numbers of its cases, and with cases that this run does not have."""
        self.seed_lanes(3)
        other = self.folder / "other.db"
        other.write_bytes(self.db.read_bytes())
        self.sql("UPDATE way_cost SET cold_ns = cold_ns * 1.3")
        self.sql("DELETE FROM crash_case WHERE run_id = 2")
        with sqlite3.connect(other) as db:
            db.execute("INSERT INTO crash_case (run_id, scenario, variant, kind, repeat, verdict, has_truth) SELECT run_id, 'aaa', variant, kind, 0,"
                       " verdict, has_truth FROM crash_case WHERE run_id = 3 GROUP BY variant")
        db.close()
        done = self.run_db("gate", "--against", f"{other}:3", "--max-slowdown", "10%", "--lane", "offsets, index", exit_code=1)
        self.assertRegex(done.stdout, r"✗ x86 offsets, index +time \+30.0 %, .* \+30.0 to \+30.0 % with 95 %, 12 cases\n")

    def test_lanes_that_the_user_names(self):
        """Lanes and states of the table of speed, over paired cases: half of the cases are of x86."""
        def change(what, where="1"):
            return f"UPDATE way_cost SET {what} WHERE {where} AND case_id IN (SELECT id FROM crash_case WHERE {NEWEST})"

        slower = "cold_ns = cold_ns * 1.3"
        every = ", ".join(f"{name} = {name} * 1.3" for name in ("first_ns", "cold_ns", "warm_ns"))
        rows = {
            "as before": ([], ["plain dump", "offsets"], (0, 0), r"✓ x64 plain dump, index +time \+0.0 %, at most 10.0 %"),
            "a slower lane": ([change(slower, "way = 'dump'")], ["plain dump, index"], (1, 1), r"✗ x64 plain dump, index +time \+30.0 %, at most 10.0 %"),
            "any of its states": ([change(slower, "way = 'dump'")], ["plain dump"], (1, 1), r"✗ x86 plain dump, index +time \+30.0 %"),
            "another state": ([change(slower, "way = 'dump'")], ["plain dump, warm"], (0, 0), r"✓ x64 plain dump, warm +time \+0.0 %"),
            "another lane": ([change(slower, "way = 'dump'")], ["offsets", "tuned dump"], (0, 0), r"✓ x64 tuned dump, index +time \+0.0 %"),
            "one of several": ([change(every, "way = 'tuned'")], ["offsets", "tuned dump, warm"], (1, 1), r"✗ x64 tuned dump, warm +time \+30.0 %"),
            "the other processor": ([change(every, "case_id % 2")], ["x64 offsets"], (0, 0), r"✓ x64 offsets, index +time \+0.0 %"),
            "that processor": ([change(every, "case_id % 2")], ["offsets"], (1, 1), r"✗ x86 offsets, index +time \+30.0 %"),
            "its processor is another": ([f"UPDATE crash_case SET arch = 'x64' WHERE {NEWEST}"], ["x86 offsets, warm"], (1, 1),
                                         r"✗ x86 offsets, warm +0 cases have times, and 12 had some in run 2"),
            "by chance": ([change("cold_ns = iif(case_id % 4 < 2, cold_ns * 3, cold_ns / 2)", "way = 'offset'")], ["offsets, index"], (0, 0),
                          r"✓ x64 offsets, index +time \+[1-9]\d\.\d %, at most 10.0 % allowed, -"),
            "few cases": (["DELETE FROM way_cost WHERE case_id NOT IN (SELECT max(id) - n FROM crash_case, (SELECT 0 n UNION SELECT 2 UNION SELECT 4)"
                           " GROUP BY run_id, n)"], ["offsets, warm"], (0, 1), r"offsets, warm +no verdict on time: too few \(3\) cases, 3 in run 2, and it needs 12"),
            "eleven cases of each": (["DELETE FROM way_cost WHERE case_id IN (SELECT max(id) - n FROM crash_case, (SELECT 0 n UNION SELECT 1) GROUP BY run_id, n)",
                                      change(slower)], ["offsets, index"], (0, 1), r"x64 offsets, index +no verdict on time: too few \(11\) cases"),
            "as few as an engine needs": (["DELETE FROM way_cost WHERE case_id % 24 >= 20"], ["offsets, warm"], (0, 1),
                                          r"✓ x64 offsets, warm +no verdict on time: too few \(10\) cases"),
            "repeats are no cases": (["UPDATE crash_case SET scenario = 'null_write', kind = 'crash', repeat = id % 24 / 2", change(slower)], ["offsets, index"], (0, 1),
                                     r"✓ x64 offsets, index +no verdict on time: too few \(1\) cases"),
            "without an index": ([change("first_ns = first_ns * 1.3", "way = 'dump'")], ["plain dump, no index"], (1, 1),
                                 r"✗ x64 plain dump, no index +time \+30.0 %, at most 10.0 % allowed, \+30.0 to \+30.0 % with 95 %, 12 cases\n"),
            "older runs measured something else": (["DELETE FROM way_cost WHERE case_id IN (SELECT id FROM crash_case WHERE run_id = 2)"], ["offsets, warm"],
                                                   (0, 1), r"✓ x64 offsets, warm +no verdict on time: too few \(0\) cases, 0 in run 2"),
            "the ways do not agree": ([change("same = 0", "way = 'dump'")], ["offsets, warm"], (1, 1),  # as in the table of speed
                                      r"✗ x64 offsets, warm +0 cases have times, and 12 had some in run 2"),
            "times are lost": (["DELETE FROM way_cost WHERE way = 'tuned' AND case_id IN (SELECT id FROM crash_case WHERE run_id = 3)"],
                               ["tuned dump"], (1, 1), r"✗ x64 tuned dump, index +0 cases have times, and 12 had some in run 2"),
            "its own rounds differ": ([change("cold_odd_ns = cold_even_ns * 1.4", "way = 'offset'"), change("cold_ns = cold_ns * 1.2", "way = 'offset'")],
                                      ["offsets, index"], (0, 1), r"x64 offsets, index +time \+20.0 % cannot be judged: the noise of 40.0 % is above the 10.0 %"),
            "its rounds vary": ([change("cold_odd_ns = iif(case_id % 4 < 2, cold_even_ns * 3 / 2, cold_even_ns * 2 / 3)", "way = 'offset'")],
                                ["offsets, index"], (0, 1), r"✓ x64 offsets, index +time \+0.0 % cannot be judged: the noise of \d+.\d % is above"),
            "its rounds drift": ([change("cold_odd_ns = cold_even_ns * 1.05", "way = 'offset'")], ["offsets, index"], (0, 1),
                                 r"✓ x64 offsets, index +time \+0.0 % cannot be judged: its even and odd rounds differ by up to 5.0 %"),
            "they drifted in the baseline": (["UPDATE way_cost SET warm_odd_ns = warm_even_ns * 0.5 WHERE case_id IN (SELECT id FROM crash_case WHERE run_id = 2)"],
                                             ["tuned dump, warm"], (0, 1), r"x64 tuned dump, warm +time \+0.0 % cannot be judged: the noise of 100.0 %"),
            "no rounds are known": (["UPDATE way_cost SET warm_odd_ns = 0"], ["offsets, warm"], (0, 0), r"✓ x64 offsets, warm .* 12 cases, noise not known\n"),
            "the noise of another lane": ([change("cold_odd_ns = cold_even_ns * 1.4", "way = 'offset'")], ["plain dump, index"], (0, 0),
                                          r"✓ x64 plain dump, index +time \+0.0 %"),
            "more than its noise": ([change("cold_odd_ns = cold_even_ns * 1.4", "way = 'offset'"), change("cold_ns = cold_ns * 2", "way = 'offset'")],
                                    ["offsets, index"], (1, 1), r"✗ x64 offsets, index +time \+100.0 %, at most 10.0 %"),
            "in a crowd": ([change(slower, "way = 'dump'"), f"UPDATE crash_case SET crowded = 1 WHERE {NEWEST}"], ["plain dump"], (1, 1),
                           r"✗ x64 plain dump, index +0 cases have times"),
            "dumps by another writer": (["UPDATE run_engine SET version = 'writer ' || run_id WHERE engine = 'dump'"], ["plain dump", "offsets"],
                                        (1, 1), r"✗ writer (?:(?!plain dump)[^✗])*\n✓ x64 offsets, index"),
            "by another program": (["UPDATE way_cost SET way = 'foreign' WHERE way = 'tuned'",
                                    "UPDATE run_engine SET engine = 'judge:' || iif(run_id = 2, 'lldb', 'winedbg') WHERE engine LIKE 'judge:%'",
                                    "UPDATE claim SET engine = (SELECT engine FROM run_engine e JOIN crash_case c ON c.run_id = e.run_id WHERE c.id = case_id"
                                    " AND engine LIKE 'judge:%') WHERE engine LIKE 'judge:%'"],
                                   ["foreign, warm"], (0, 1), r"✓ x64 foreign, warm +time cannot be judged: by judge:lldb in run 2, by judge:winedbg now"),
            "it was not measured": ([], ["foreign, warm"], (1, 1), r"✗ foreign +no case of both runs has a time of foreign, warm"),
            "nor of that processor": ([], ["arm64 offsets"], (1, 1), r"✗ offsets +no case of both runs has a time of arm64 offsets"),
        }
        for name, (statements, lanes, (exit_code, strictly), said) in rows.items():
            with self.subTest(name):
                self.seed_lanes(3)
                for statement in statements:
                    self.sql(statement)
                argv = ["--max-slowdown", "10%"] + [word for lane in lanes for word in ("--lane", lane)]
                done = self.gate(*argv)
                self.assertRegex(done.stdout, said)
                self.assertEqual(done.returncode, exit_code, done.stdout)
                self.assertNotRegex(done.stdout, r"(?m)^. (dump|offset:rtl) +time")  # the engines were not asked about
                strict = self.gate(*argv, "--strict").stdout
                self.assertEqual(any(line.startswith("✗") for line in strict.splitlines() if " checkout " not in line), strictly == 1, strict)
        for argv, said in ((["--lane", "offset"], "none of offsets, plain dump"),
                           (["--lane", "offset, warm"], "did you mean 'offsets, warm'?"), (["--lane", "plan dump"], "did you mean 'plain dump'?"), (["--lane", "offsets, hot"], "no index, index or warm"),
                           (["--lane", "sparc offsets"], "none of offsets")):
            self.assertIn(said, self.gate("--max-slowdown", "5%", *argv, exit_code=2).stderr)
        self.assertIn("--max-slowdown", self.gate("--lane", "offsets", exit_code=2).stderr)
        self.run_db("gate", "--max-slowdown", "5%", "--lane", "offsets", exit_code=2)
        self.run_twinstack("gate", "--shadow", self.db, "--max-slowdown", "5%", "--lane", "offsets", exit_code=2)


e2e.main()
