"""Comparing two stored runs, and measuring and comparing times, on made-up databases and sealed cases."""

import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
from stored import Stored  # noqa: E402

CASES = e2e.ROOT / "corpus/cases"


class Differences(Stored):
    def test_compare(self):
        self.run_db("compare", "latest", "latest")
        self.run_db("compare", "latest", exit_code=2)
        self.run_db("compare", "latest", "999", exit_code=3)
        name = self.one("FAIL", "dump=unexplained")
        done = self.run_db("compare", "latest~1", "latest", exit_code=1)
        self.assertIn(name, done.stdout)
        totals = json.loads(self.run_db("compare", "latest~1", "latest", "--json", exit_code=1).stdout)["totals"]
        self.assertEqual(totals["new"], 1)
        self.run_db("compare", "latest~1", "latest", "--exit-zero")
        page = self.run_db("compare", "latest~1", "latest", "--markdown", exit_code=1).stdout
        self.assertIn("| cases | what | blame \\(cases\\) | since | smallest example | why |", page)
        self.assertRegex(page, rf"\n\| 1 \| .* \| {re.escape(name.replace('_', chr(92) + '_'))} \| ")
        self.assertIn("| before | now | reason |", page)
        filtered = self.run_db("compare", "latest~1", "latest", "--only", "fixed", exit_code=1).stdout
        self.assertRegex(filtered, r"times of \d+ engines: \d+ slower, \d+ faster, \d+ same")
        self.assertNotIn(name, filtered)
        self.assertIn("1 new", filtered)
        self.run_db("compare", f"{self.db}:1", "latest~1")
        self.run_db("compare", "1", "latest", "--only", "new,old", exit_code=2)

    def test_two_files_need_no_other_database(self):
        alone = self.folder / "alone"
        alone.mkdir()
        other = shutil.copy(self.db, self.folder / "newer.db")
        for name, a, b, exit_code in (("both are files", f"{self.db}:1", other, 0), ("both name runs", f"{self.db}:1", f"{other}:2", 0),
                                      ("A names no file", "1", other, 4), ("B names no file", self.db, "latest", 4)):
            with self.subTest(name):
                done = self.run_twinstack("compare", a, b, "--exit-zero", exit_code=exit_code, folder=alone)
                self.assertEqual("build/twinstack.db" in done.stderr, exit_code == 4, done.stderr)
                self.assertEqual(list(alone.iterdir()), [])

    def test_what_broke_is_gathered_by_cause_module_and_blame(self):
        """The comment has one row per cause: how many cases broke, what is blamed, since when, and how to see one of them."""
        with sqlite3.connect(self.db) as db:
            runs = [row[0] for row in db.execute("SELECT id FROM run ORDER BY id")]
            for n, run in enumerate(runs):
                db.execute("UPDATE run SET commit_id = ? WHERE id = ?", (f"{n + 1:040x}", run))
            for run in runs[1:]:  # the second run broke three cases, the third run one more
                cases = db.execute("SELECT id, scenario || '.' || variant FROM crash_case WHERE run_id = ? ORDER BY id", (run,)).fetchall()
                for n, (case, _) in enumerate(cases[:3 if run == runs[1] else 4]):
                    module, blame = ("odd.dll", "walk of dump") if n == 3 else ("app.exe", "symbols (shared)")
                    db.execute("UPDATE crash_case SET verdict = 'FAIL', reason = 'it differs', signature = 'dump=unexplained', "
                               "folder = '/cases/' || ? WHERE id = ?", (n, case))
                    db.execute("DELETE FROM finding WHERE case_id = ?", (case,))
                    db.execute("INSERT INTO finding (case_id, position, level, cause, engine, against, fails, evidence, blame, module, "
                               "function) VALUES (?, 0, 1, 'unexplained', 'dump', 'truth', 1, 'e', ?, ?, 'poke')", (case, blame, module))
                    db.execute("UPDATE claim SET frames = ? WHERE case_id = ?", (30 - 10 * n, case))
        db.close()
        argv = ("compare", "1", "latest")
        rows = json.loads(self.run_db(*argv, "--json", exit_code=1).stdout)["clusters"]
        self.assertEqual([(r["cases"], r["cause"], r["module"], r["blame"]) for r in rows],
                         [(3, "unexplained", "app.exe", "symbols of both ways"), (1, "unexplained", "odd.dll", "walk of dump")])
        self.assertEqual([(r["since"], r["before"]) for r in rows],
                         [({"run": 2, "commit": f"{2:040x}"}, {"run": 1, "commit": f"{1:040x}"}),
                          ({"run": 3, "commit": f"{3:040x}"}, {"run": 2, "commit": f"{2:040x}"})])
        smallest = f"{cases[2][1]}"  # the one of the three that has 10 frames
        self.assertEqual("{scenario}.{variant}".format(**rows[0]["example"]), smallest)
        page = self.run_db(*argv, "--markdown", exit_code=1).stdout
        row, = re.findall(r"(?m)^\| 3 \| .*$", page)
        self.assertEqual([cell.strip().replace("\\", "") for cell in row.split(" | ")],
                         ["| 3", "dump names another function than ran, in app.exe", "symbols of both ways (3)",
                          "run 2 (000000000000); passed in run 1 (000000000000)", smallest, "it differs |"])
        self.assertIn("Blame: symbols of both ways (the symbol lookup that all engines of ours share), for 3 of them. Since commit",
                      page.replace("\\", ""))
        self.assertNotIn("not_selected |", page)
        text = self.run_db(*argv, exit_code=1).stdout
        self.assertRegex(text, r"(?m)^3 cases: dump names another function than ran, in app\.exe$")
        self.assertRegex(text, rf"(?m)^  e\.g\. {re.escape(smallest)}: ")
        self.assertRegex(text, r"(?m)^  blame: symbols of both ways \(3\) · since run 2 \(0{11}\d\); passed in run 1 ")
        self.assertIn(f"To see the first one: `twinstack run -k {smallest}`, or its sealed case: `twinstack check /cases/2`.", page)
        # This database has no history of a run from another one.
        other = self.folder / "other.db"
        shutil.copy(self.db, other)
        self.sql("UPDATE run SET uuid = 'x' || uuid")
        rows = json.loads(self.run_db("compare", f"{other}:1", f"{other}:3", "--json", exit_code=1).stdout)["clusters"]
        self.assertEqual([(r["since"]["run"], r["before"]["run"]) for r in rows], [(3, 1)] * 2)
        # Numbers of runs of two databases are not mixed up: both may have a run 1.
        self.sql("UPDATE crash_case SET verdict = 'FAIL'")
        self.sql("UPDATE run SET commit_id = NULL")
        page = self.run_db("compare", f"{other}:1", "latest", "--markdown", exit_code=1).stdout
        self.assertIn("Since run 3; run 1 of the other database was good.", page)
        self.assertRegex(page.replace("\\", ""), r"\| run 3; passed in run 1 \(0{12}\) of the other database \|")

    def test_many_cases_that_broke_take_a_screen_unless_they_are_asked_for(self):
        with sqlite3.connect(self.db) as db:
            run, = db.execute("SELECT max(id) FROM run").fetchone()
            for n, (case,) in enumerate(db.execute("SELECT id FROM crash_case WHERE run_id = ?", (run,)).fetchall()):
                db.execute("UPDATE crash_case SET verdict = 'FAIL', reason = ? WHERE id = ?", (f"of_one_long_name_{n:03}_" * 4, case))
        db.close()
        text = self.run_db("compare", "1", "latest", exit_code=1).stdout
        rows = len(re.findall(r"(?m)^new ", text))
        whole = len(re.findall(r"(?m)^new ", self.run_db("compare", "1", "latest", "--only", "new", exit_code=1).stdout))
        self.assertEqual(rows, 10)
        self.assertGreater(whole, 10)
        self.assertRegex(text, rf"(?m)^and {whole - 10} more cases: --only new\b")

    def test_bench(self):
        case = CASES / "null_write.ob2"
        done = self.run_db("bench", case, "--samples", "3", "--warmup", "0", "--dry")
        self.assertIn("too few", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^dump : offset = \d+(?:\.\d{1,2})? : 1  x64, 1 case of 1 scenario: no interval below 12 of them$")
        self.assertRegex(done.stdout, r"(?m)^total .*\] *$")  # no ratio of all processors at once
        all_cases = self.run_db("bench", *sorted(CASES.glob("*.*")), "--samples", "2", "--warmup", "0", "--dry").stdout
        self.assertRegex(all_cases, r"(?m)^dump : offset = .* x64, \d+ cases of \d+ scenarios: no interval below 12 of them\ndump : offset = .* x86, 3 cases")
        for stage in ("capture walk", "suspension", "write", "bytes a report", "parse", "load symbols", "unwind", "resolve"):
            self.assertIn(f"\n{stage} ", done.stdout)
        data = json.loads(self.run_db("bench", case, "--samples", "9", "--warmup", "1", "--cold", "--json",
                                      exit_code=None).stdout)
        samples = data["back_end"][0]["samples"]  # 9, and up to as many again where these were too noisy
        self.assertEqual([(b["cold"], b["samples"]) for b in data["back_end"]], [(False, samples), (True, samples)])
        self.assertTrue(9 <= samples <= 18, samples)
        for bench in data["back_end"]:
            total = bench["stages"]["total"]["offset"]
            self.assertLessEqual(total["low"], total["median"])
            self.assertLessEqual(total["median"], total["high"])
            self.assertGreater(bench["stages"]["parse"]["dump"]["median"], 0)
            self.assertEqual([(r["arch"], r["cases"], r["scenarios"], r["ratio_low"]) for r in bench["ratios"]], [("x64", 1, 1, None)])
            self.assertEqual(bench["ratio"], bench["ratios"][0]["ratio"])
            self.assertGreater(bench["ratio"], 1)
            self.assertGreaterEqual(bench["noise"], 0)  # of medians in ns, which can be equal; see test_lanes_of_a_bench
        self.assertGreater(data["capture"]["bytes"]["dump"]["median"], data["capture"]["bytes"]["offset"]["median"])
        same = ("commit_id", "platform", "cpu", "compiler", "flags")
        self.sql("UPDATE run SET " + ", ".join(f"{c} = (SELECT {c} FROM run WHERE id = 3)" for c in same) + " WHERE label = 'bench'")
        said = self.run_db("report", "latest").stdout  # a bench has no cases and is never the latest run
        self.assertRegex(said, r"(?m)^dump : offsets \d+\.\d+×, no interval, noise \d+ %, 1 case \(x64, index on disk; bench, run \d+\)$")
        self.sql("UPDATE run SET commit_id = 'another' WHERE label = 'bench'")
        self.assertNotIn("bench, run", self.run_db("report", "latest").stdout)
        self.run_db("bench", case, "--samples", "0", exit_code=2)
        self.run_db("bench", self.folder, exit_code=3)

    def test_a_bench_is_spread_over_processes(self):
        """Each measures its share of the rounds; names may come from standard input; nothing is left."""
        case = CASES / "null_write.ob2"
        places = self.folder / "temporary"
        places.mkdir()
        env = {**os.environ, "TMPDIR": str(places), "TWINSTACK_CACHE": str(self.folder / "no-cache")}
        done = subprocess.run([e2e.PROGRAM, "bench", "-", "--samples", "5", "--processes", "3", "--db", self.db, "--cache", self.folder / "cache"],
                              input=f"{case}\n\n{CASES / 'inline_chain.ob2'}\n", capture_output=True, text=True, check=False, env=env)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(list(places.iterdir()), [])
        self.assertFalse((self.folder / "no-cache").exists(), "each process has the cache that was named")
        with sqlite3.connect(self.db) as db:
            costs = db.execute("SELECT process, scenario, min(offset_ns, dump_ns) > 0 FROM bench_case WHERE run_id = (SELECT max(run_id) FROM"
                               " bench_case) ORDER BY position").fetchall()
            rounds = db.execute("SELECT round FROM sample WHERE stage = 'total' AND subject = 'dump' AND run_id = (SELECT max(run_id) FROM"
                                " bench_case) ORDER BY position").fetchall()
        db.close()
        processes = 1 + max(p for p, _, _ in costs)
        self.assertTrue(3 <= processes <= 6, costs)  # more than 3 where these were too noisy
        self.assertEqual(costs, [(p, s, 1) for p in range(processes) for s in ("null_write", "inline_chain")])
        self.assertEqual(len({r for (r,) in rounds}), 5 * processes // 3)
        self.run_db("bench", case, "--samples", "6", "--processes", "1", exit_code=None)
        with sqlite3.connect(self.db) as db:
            costs = db.execute("SELECT offset_ns, dump_ns FROM bench_case WHERE run_id = (SELECT max(run_id) FROM bench_case)").fetchall()
            least = [min(ns for (ns,) in db.execute("SELECT ns FROM sample WHERE stage = 'total' AND subject = ? AND run_id = (SELECT max(run_id)"
                                                    " FROM bench_case)", (subject,))) for subject in ("offset", "dump")]
        db.close()
        self.assertEqual(costs, [tuple(least)])
        for words, code in ((("--processes", "0"), 2), (("--processes", "51"), 2)):
            self.run_db("bench", case, *words, exit_code=code)

    def test_lanes_of_a_bench(self):
        """Each lane runs its own engine, as often as asked, and none is always first."""
        self.run_db("bench", CASES / "null_write.ob2", "--samples", "4", "--warmup", "2", "--processes", "1", exit_code=None)
        with sqlite3.connect(self.db) as db:
            rows = db.execute("SELECT subject, stage, round FROM sample WHERE NOT cold AND run_id = (SELECT max(run_id) FROM sample) "
                              "ORDER BY position").fetchall()
            times = {subject: [ns for (ns,) in db.execute("SELECT ns FROM sample WHERE subject = ? AND run_id = (SELECT max(run_id) FROM sample) "
                                                          "ORDER BY position", (subject,))] for subject in ("offset", "offset-control")}
        db.close()
        self.assertNotEqual(times["offset"], times["offset-control"])  # two never take the same time in every stage of every round
        stages = {}
        for subject, stage, _ in rows:
            stages.setdefault(subject, set()).add(stage)
        self.assertEqual({s: "unwind" in found for s, found in stages.items()},
                         {"dump": True, "offset": False, "offset-control": False})
        totals = [(subject, number) for subject, stage, number in rows if stage == "total"]
        self.assertEqual({s: sum(t[0] == s for t in totals) for s in stages}, dict.fromkeys(stages, 4))
        first = [totals[i][0] for i in range(0, 12, 3)]
        self.assertEqual(set(first), set(stages), first)

    def test_times_need_significance_and_effect_above_noise_and_history(self):
        newest = "case_id IN (SELECT id FROM crash_case WHERE run_id = (SELECT max(id) FROM run))"

        def times(*argv, exit_code=0):
            data = json.loads(self.run_db("compare", "latest~1", "latest", "--json", *argv, exit_code=exit_code).stdout)
            return {row["engine"]: row for row in data["times"]}

        self.sql(f"UPDATE claim SET total_ns = (SELECT k.total_ns FROM claim k JOIN crash_case c ON c.id = k.case_id JOIN "
                 "crash_case mine ON mine.id = claim.case_id AND mine.scenario = c.scenario AND mine.variant = c.variant "
                 f"AND c.run_id = mine.run_id - 1 AND k.engine = claim.engine) WHERE {newest}")
        self.assertEqual(times()["dump"]["change"], "same")
        self.sql(f"UPDATE claim SET total_ns = total_ns * 12 / 10 WHERE engine = 'dump' AND {newest}")
        slower = times(exit_code=1)
        self.assertEqual((slower["dump"]["change"], slower["offset:rtl"]["change"]), ("slower", "same"))
        self.assertAlmostEqual(slower["dump"]["ratio"], 1.2, places=3)
        self.assertEqual(times("--min-effect", "25%")["dump"]["change"], "same")
        self.run_db("gate", "--against", "latest~1", "--max-slowdown", "10%", exit_code=1)
        self.run_db("gate", "--against", "latest~1", "--max-slowdown", "25%")

        # Today's noise: the A/A control of the newest bench.
        self.sql("INSERT INTO run (uuid, state, label, started_ns) VALUES ('b', 'complete', 'bench', 1)")
        for subject, ns in (("offset", 1000), ("offset-control", 1300)):
            for round_ in range(9):
                self.sql("INSERT INTO sample SELECT max(id), ?, ?, 'total', 0, ?, ? FROM run",
                         round_ + (20 if ns > 1000 else 0), subject, round_, ns)
        self.assertAlmostEqual(times()["dump"]["threshold"], 0.3)
        self.assertEqual(times()["dump"]["change"], "too_noisy")
        self.assertIn("dump is too noisy to judge", json.loads(self.run_db("compare", "latest~1", "latest", "--json").stdout)["sentence"])
        self.sql("DELETE FROM run WHERE label = 'bench'")

        # History: five earlier runs whose medians were far apart.
        for n, ns in enumerate((1000, 1000, 1400, 900, 1100)):
            self.sql("INSERT INTO run (uuid, state, label, started_ns, platform) SELECT ?, 'complete', 'run', 1, platform FROM run WHERE id = 3",
                     f"h{n}")
            self.sql("INSERT INTO run_verdict SELECT max(id), 'PASS', 12 FROM run")
            self.sql("INSERT INTO run_figure SELECT max(id), 12, 12 FROM run")
            self.sql("INSERT INTO run_median SELECT max(id), 'dump_ns', 12, ? FROM run", ns)

        def threshold():
            data = json.loads(self.run_db("compare", "2", "3", "--json", exit_code=None).stdout)
            return {t["engine"]: t for t in data["times"]}["dump"]["threshold"]

        self.assertGreater(threshold(), 0.2)
        self.sql("UPDATE run SET platform = 'another one' WHERE uuid LIKE 'h_'")
        self.assertLess(threshold(), 0.2)


e2e.main()
