"""Verbs over stored runs: their exit codes one by one, on made-up databases and sealed cases."""

import contextlib
import datetime
import json
import os
import pathlib
import pty
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import zlib
from xml.etree import ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
from stored import Stored  # noqa: E402

CASES = e2e.ROOT / "corpus/cases"


class Verdict(Stored):
    def test_report(self):
        self.run_db("report")
        for verdict, code in (("FAIL", 1), ("XPASS", 1), ("FLAKY", 1), ("XFAIL", 0), ("UNSUPPORTED", 0),
                              ("NOT-CAPTURED-AS-EXPECTED", 0), ("ERROR", 3)):
            with self.subTest(verdict=verdict):
                self.one(verdict)
                self.run_db("report", exit_code=code)
        self.run_db("report", "--exit-zero")
        self.all("PASS")
        self.sql("UPDATE run SET state = 'interrupted' WHERE id = (SELECT max(id) FROM run)")
        said = self.run_db("report", exit_code=1).stdout
        self.assertRegex(said, r"(?s)^FAIL   12 cases: 12 PASS, interrupted\n✗ +the run was interrupted.*\(interrupted\)")
        self.assertIn("0 of 12 cases fail, interrupted\n", self.run_db("report", "--md", "-", exit_code=1).stdout)
        # A run stopped before its first case is still the latest: the previous run is not taken
        # instead.
        self.sql("DELETE FROM crash_case WHERE run_id = 3")
        self.sql("DELETE FROM run_verdict WHERE run_id = 3")
        self.assertIn("FAIL   0 cases: interrupted\n", self.run_db("report", exit_code=1).stdout)
        self.assertIn("12 gone", self.run_db("compare", "latest~1", "latest").stdout)
        self.assertIn("interrupted", self.run_db("compare", "latest~1", "latest", "--markdown").stdout)
        self.run_db("gate", exit_code=1)
        # A bench that is asked for by its number is no green run.
        self.sql("UPDATE run SET label = 'bench', state = 'complete' WHERE id = 3")
        self.assertTrue((said := self.run_db("report", "3").stdout).startswith("-      no verdict: a bench times both ways"), said)
        self.assertNotIn("PASS", said + self.run_db("report", "3", "--md", "-").stdout)
        self.run_db("report", "999", exit_code=3)
        self.run_db("report", "1", "2", exit_code=2)
        self.run_twinstack("report", "--db", self.folder / "none.db", exit_code=4)
        (self.folder / "text.db").write_text("this is no database" * 40)
        self.run_twinstack("report", "--db", self.folder / "text.db", exit_code=4)

    def test_capture_rate(self):
        """The share of the cases to be captured that were captured; a lost capture lowers it."""
        def rate():
            path = self.folder / "metrics"
            self.run_db("report", "--openmetrics", path, exit_code=None)
            return float(re.search(r"(?m)^twinstack_capture_ratio\S* (\S+)$", path.read_text())[1])

        self.assertEqual(rate(), 1)
        name = self.one("FAIL")
        self.sql("UPDATE crash_case SET record_bytes = 0, dump_bytes = 0 WHERE scenario || '.' || variant = ? AND verdict = 'FAIL'", name)
        self.assertAlmostEqual(rate(), 11 / 12, places=3)

    def test_a_full_disk_is_no_answer(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for argv in (["report"], ["db", "list"], ["signatures"], ["compare", "1", "1"], ["gate", "--json"], ["--help"]):
            with self.subTest(argv=argv), open("/dev/full", "w", encoding="utf-8") as full:
                where = [] if argv == ["--help"] else ["--db", self.db]
                done = subprocess.run([e2e.PROGRAM, *argv, *where], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(done.returncode, 3)
                self.assertIn("standard output", done.stderr)
        # A reader that closes the pipe early causes no error message. The first command builds the indexes.
        self.run_twinstack("check", CASES / "null_write.ob2")
        done = subprocess.run(["sh", "-c", f"'{e2e.PROGRAM}' check '{CASES / 'null_write.ob2'}' | head -1"],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.stderr), ("PASS   1 case: 1 PASS\n", ""))

    def test_what_a_verb_writes_keeps_links_and_devices(self):
        name, day = self.one("FAIL"), (datetime.date.today() + datetime.timedelta(days=90)).isoformat()
        worker = ("worker", "--queue", self.folder / "queue", "--symbols", e2e.ROOT / "corpus/symbols", "--idle", "100ms", "--metrics")
        rows = {"report": ("report", "--exit-zero", "--db", self.db, "--json", "-o"), "worker": worker,
                "accept": ("accept", name, "--reason", "why", "--expires", day, "--db", self.db, "--known")}
        for what, argv in rows.items():
            with self.subTest(what, through="a link"):
                target, link = self.folder / f"{what}.target", self.folder / f"{what}.link"
                target.touch()
                link.symlink_to(target.name)
                self.run_twinstack(*argv, link)
                self.assertTrue(link.is_symlink())
                self.assertGreater(target.stat().st_size, 20)
            device = self.folder / f"{what}.null"
            try:  # a device of this test's own: were it replaced, that of the machine would live on
                os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(1, 3))
                device.write_bytes(b"x")
            except OSError:
                continue
            with self.subTest(what, through="a device"):
                self.run_twinstack(*argv, device)
                self.assertTrue(stat.S_ISCHR(device.lstat().st_mode))

    def test_report_is_as_wide_as_its_terminal(self):
        self.sql("UPDATE crash_case SET scenario = 'with_a_longer_name_' || scenario")
        narrow = self.run_db("report", "--details", "--columns", "80").stdout
        self.assertIn("not shown, since the page is too narrow: offset:backtrace", narrow)
        self.assertNotIn("not shown", self.run_db("report", "--details", "--columns", "132").stdout)
        for columns in (80, 132):
            shell = f"stty cols {columns}; '{e2e.PROGRAM}' report --details --db '{self.db}'"
            for env, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
                with self.subTest(columns=columns, env=env):
                    child, terminal = pty.fork()
                    if child == 0:
                        os.execvpe("sh", ["sh", "-c", shell], {**os.environ, "TERM": "xterm", "NO_COLOR": "", **env})
                    text = b""
                    with contextlib.suppress(OSError):  # reading fails this way once the child has closed the terminal
                        while got := os.read(terminal, 65536):
                            text += got
                    os.close(terminal)
                    os.waitpid(child, 0)
                    self.assertEqual(b"\x1b[" in text, coloured)
                    lines = re.sub(r"\x1b\[[0-9;]*m", "", text.decode()).splitlines()
                    self.assertLessEqual(max(map(len, lines)), columns)
                    self.assertEqual(any("not shown" in line for line in lines), columns == 80)

    def test_report_writes_every_form_and_the_step_summary(self):
        summary = self.folder / "summary.md"
        summary.write_text("before\n")
        forms = ["json", "junit", "ctrf", "md", "openmetrics", "badge", "folded", "speedscope"]
        argv = ["--json", "-o", self.folder / "json", *(word for form in forms[1:] for word in (f"--{form}", self.folder / form))]
        done = self.run_db("report", *argv, env={"GITHUB_STEP_SUMMARY": str(summary)})
        self.assertEqual(done.stdout, "")
        for form in forms:
            self.assertGreater((self.folder / form).stat().st_size, 20, form)
        self.assertTrue(summary.read_text().startswith("before\n## "))
        self.assertEqual(json.loads((self.folder / "badge").read_text())["color"], "brightgreen")
        self.run_db("report", "--badge", "-", "--badge-of", "mood", exit_code=2)
        self.run_db("report", "--columns", "7", exit_code=2)

    def test_equal_findings_are_one_line_with_a_count(self):
        """A deep recursion has the same finding at each of its frames."""
        with sqlite3.connect(self.db) as db:
            columns = [row[1] for row in db.execute("PRAGMA table_info(finding)")]
            (case,) = db.execute("SELECT f.case_id FROM finding f JOIN crash_case c ON c.id = f.case_id WHERE c.run_id = 3 LIMIT 1").fetchone()
            copied = ", ".join({"position": "position + ?", "evidence": "?"}.get(c, c) for c in columns)
            self.assertIn("evidence", columns)
            for n in range(750):
                db.execute(f"INSERT INTO finding SELECT {copied} FROM finding WHERE case_id = ? AND position = "
                           "(SELECT min(position) FROM finding WHERE case_id = ?)",
                           [{"position": 1000 + n, "evidence": "a copy of it" if n < 700 else f"at frame {n}"}[c]
                            for c in columns if c in ("position", "evidence")] + [case, case])
        db.close()
        said = self.run_db("report", "--details", "--columns", "200").stdout
        self.assertEqual(len(re.findall(r"a copy of it", said)), 1)
        self.assertIn("a copy of it (700 times)", said)
        self.assertRegex(said, r"and \d\d more findings like these")
        self.assertLess(len(said.splitlines()), 300)

    def test_names_from_dumps_command_no_terminal(self):
        self.one("FAIL", "dump=unexplained")
        hostile = "\x1b]0;owned\x07"
        self.sql("UPDATE crash_case SET scenario = ? || scenario, reason = ?", hostile, "\x1b[2J | <b>")
        self.sql("UPDATE text SET value = ? || value", hostile)
        for argv in (["report"], ["report", "--details"], ["compare", "1", "latest"], ["signatures"], ["review"], ["gate"],
                     ["compare", "1", "latest", "--markdown"], ["report", "--md", "-"], ["report", "--junit", "-"],
                     ["report", "--folded", "-"], ["report", "--openmetrics", "-"]):
            with self.subTest(argv=argv):
                done = self.run_db(*argv, exit_code=None)
                self.assertNotRegex(done.stdout + done.stderr, r"[\x00-\x08\x0b-\x1f\x7f]")
                if argv[0] != "gate" and "--openmetrics" not in argv:  # those two name no case
                    self.assertIn("owned", done.stdout)

    def test_gate_and_baseline(self):
        self.sql("DELETE FROM baseline")
        self.run_db("baseline", "show", exit_code=3)
        self.run_db("gate", "--against", "baseline", exit_code=3)
        self.run_db("baseline", "set", "latest")
        self.run_db("baseline", exit_code=2)
        self.run_db("baseline", "set", "999", exit_code=3)
        self.run_db("gate", "--against", "baseline")
        self.run_db("gate", "--min-f1", "nonsense", exit_code=2)
        self.run_db("gate", "--min-f1", "101%", exit_code=1)
        self.run_db("gate", "--engine", "judge:unknown", exit_code=1)
        # One baseline per branch, and one for all others.
        self.run_db("baseline", "set", "1", "--branch", "main")
        self.run_db("baseline", "set", "2")
        for branch, before in (("main", 1), ("feature", 2)):
            self.sql("UPDATE run SET branch = ? WHERE id = 3", branch)
            self.assertIn(f"since run {before},", self.run_db("gate", "--against", "baseline").stdout)
            self.assertIn(f"run {before} (", self.run_db("compare", "baseline", "latest").stdout)
        self.sql("DELETE FROM baseline")
        self.run_db("baseline", "set", "latest~1")
        self.assertEqual(json.loads(self.run_db("baseline", "show", "--json").stdout)["run"], 2)
        self.one("FAIL", "dump=unexplained")
        self.run_db("gate", exit_code=1)
        self.run_db("gate", "--against", "baseline", exit_code=1)
        self.run_db("gate", "--against", "baseline", "--max-new", "1")
        self.run_db("gate", "--against", "baseline", "--max-new", "1", "--strict", exit_code=1)
        self.run_db("gate", "--exit-zero")
        # A missing case fails the gate, unless it is named or the run was not asked for it.
        name = self.one("PASS").split(".")[0]
        self.run_db("gate", "--against", "baseline")
        self.sql("DELETE FROM crash_case WHERE id = (SELECT min(id) FROM crash_case WHERE run_id = 3)")
        self.assertIn("1 gone since run 2", self.run_db("gate", "--against", "baseline", exit_code=1).stdout)
        self.run_db("gate", "--against", "baseline", "--allow-missing", name)
        self.run_db("gate", "--against", "baseline", "--allow-missing", "no_such_case", exit_code=1)
        self.run_db("gate", "--against", "baseline", "--allow-missing", "and", exit_code=2)
        self.sql("UPDATE run SET label = 'run', command = 'twinstack run -k no_such_case' WHERE id = 3")
        self.assertIn("1 that this run was not asked for", self.run_db("gate", "--against", "baseline").stdout)
        self.sql("UPDATE run SET state = 'interrupted' WHERE id = (SELECT max(id) FROM run)")
        self.assertFalse(json.loads(self.run_db("gate", "--json", exit_code=1).stdout)["open"])

    def test_accept_and_known(self):
        known = self.folder / "known.txt"
        day = (datetime.date.today() + datetime.timedelta(days=9)).isoformat()
        argv = ["--known", known, "--reason", "a reason", "--expires", day]
        name = self.one("FAIL", "dump=inline_only dump=unexplained")
        self.run_db("accept", name, exit_code=2)
        self.run_db("accept", *argv, exit_code=2)
        self.run_db("accept", "missing.ob2", *argv, exit_code=3)
        self.assertFalse(known.exists())
        self.run_db("accept", name, *argv)
        self.assertIn("\npins: offset:rtl=", known.read_text())
        self.assertIn("already", self.run_db("accept", name, *argv, exit_code=2).stderr)
        self.assertIn("past", self.run_db("accept", name, *argv[:-1], "2020-01-01", exit_code=2).stderr)
        self.run_db("accept", name, *argv, "--scope", name[:-1] + "*")
        rows = json.loads(self.run_twinstack("known", "--known", known, "--json").stdout)
        self.assertEqual([r["id"] for r in rows], [name, name + "-2"])
        self.assertEqual(rows[0]["cause"], "dump=inline_only dump=unexplained")
        self.run_twinstack("known", "--known", known, "sing", exit_code=2)
        self.run_twinstack("known", "--known", known, "expire", exit_code=2)
        self.run_twinstack("known", "--known", known, "expire", name, "missing", exit_code=3)
        self.assertNotIn("EXPIRED", self.run_twinstack("known", "--known", known).stdout)
        self.run_twinstack("known", "--known", known, "expire", name + "-2")
        self.assertEqual([r["expired"] for r in json.loads(
            self.run_twinstack("known", "--known", known, "--json", exit_code=1).stdout)], [False, True])
        self.run_twinstack("known", "--known", known, "prune")
        self.assertEqual(known.read_text().count("scope:"), 1)
        # An acceptance may cover all similar cases; the accepted case must be among them.
        self.run_db("accept", name, *argv, "--scope", "*.nothing", exit_code=2)
        self.assertIn("--broad", self.run_db("accept", name, *argv, "--scope", "*." + name.split(".")[1], exit_code=2).stderr)
        later = (datetime.date.today() + datetime.timedelta(days=200)).isoformat()
        self.assertIn("--broad", self.run_db("accept", name, *argv[:-1], later, exit_code=2).stderr)
        self.run_db("accept", name, *argv, "--scope", "*." + name.split(".")[1], "--broad")
        self.assertIn("\nbroad: yes\n", known.read_text())
        self.assertEqual(json.loads(self.run_twinstack("known", "--known", known, "--json").stdout)[1]["scope"],
                         "*." + name.split(".")[1])
        known.write_text("# kept\n" + known.read_text().replace(day, "2020-01-01", 1))
        self.run_twinstack("known", "--known", known, exit_code=1)
        self.run_twinstack("known", "--known", known, "prune")
        text = known.read_text()
        self.assertTrue(text.startswith("# kept\n"))
        self.assertEqual(text.count("scope:"), 1)
        self.run_twinstack("known", "--known", known)
        # Old acceptances have no pins and are listed as unpinned.
        known.write_text(f"[old]\nscope: {name}\ncause: dump=*\nreason: r\nexpires: {day}\n")
        self.assertIn("unpinned: fails runs from 2027-03-01 on", self.run_twinstack("known", "--known", known).stdout)
        self.run_db("accept", "--known", known, "--update", "new", exit_code=3)
        self.run_db("accept", *argv, "--update", exit_code=2)
        self.assertIn("1 pinned", self.run_db("accept", "--known", known, "--update", "old").stdout)
        row, = json.loads(self.run_twinstack("known", "--known", known, "--json").stdout)
        self.assertTrue(row["pinned"])
        self.assertNotIn("unpinned", self.run_twinstack("known", "--known", known).stdout)
        self.one("PASS")
        done = self.run_db("accept", "--known", known, "--update")
        self.assertIn("0 pinned", done.stdout)
        self.assertRegex(done.stderr, r"\[old\] is not changed: nothing in run \d+ needs it")
        for text, said in (("# one\n[a]\nscope: x\npins: a=9/9, b=9\n", "known.txt:4:14: pins of an acceptance"),
                           ("[a]\n  colour: red\n", "known.txt:2:1: field of an acceptance")):
            known.write_text(text)
            self.assertIn(said, self.run_twinstack("known", "--known", known, exit_code=3).stderr)
        known.write_text("nonsense\n")
        self.assertIn("known.txt", self.run_twinstack("known", "--known", known, exit_code=3).stderr)
        self.one("ERROR")
        self.run_db("accept", name, "--known", self.folder / "new.txt", *argv[2:], exit_code=3)

    def test_acceptances_that_nothing_needs_fail_the_stored_run_too(self):
        block = "[one]\nscope: {}\ncause: dump=unexplained\nreason: r\nexpires: {}\n"
        name = self.one("XFAIL", "dump=unexplained")
        self.sql("UPDATE crash_case SET known_id = 'one' WHERE verdict = 'XFAIL'")
        self.sql("UPDATE run SET command = 'twinstack run', finished_ns = 1790000000000000000")
        for scope, until, command, problem in (  # the run ended on 2026-09-21
                (name, "2027-03-01", "", None), (name, "2001-01-01", "", "expired on 2001-01-01"),
                (name, "2027-03-21", "", "holds for more than 180 days"),
                ("missing.ob2", "2027-03-01", "", "there is no case missing.ob2"),
                ("missing.ob2", "2027-03-01", " -k null", None),
                ("recursion.*", "2027-03-01", "", "nothing in recursion.* fails")):
            with self.subTest(scope=scope, until=until, command=command):
                self.sql("UPDATE run SET known_text = ?, command = 'twinstack run' || ?", block.format(scope, until), command)
                files = {form: self.folder / form for form in ("json", "junit", "ctrf", "md", "openmetrics", "badge")}
                argv = [word for form, path in files.items() if form != "json" for word in (f"--{form}", path)]
                done = self.run_db("report", "--text", *argv, exit_code=1 if problem else 0)
                self.run_db("report", "--json", "-o", files["json"], exit_code=1 if problem else 0)
                gate = self.run_db("gate", exit_code=1 if problem else 0)
                self.run_db("gate", "--against", "latest", exit_code=1 if problem else 0)
                if problem:
                    self.assertEqual(done.stdout[:15], "FAIL   12 cases")
                    for text in (done.stdout, gate.stdout, *(files[f].read_text() for f in ("json", "junit", "ctrf"))):
                        self.assertIn(problem, text)
                    self.assertIn("FAIL", files["md"].read_text().splitlines()[0])
                    self.assertIn("out of date", files["badge"].read_text())
                self.assertIn(f"twinstack_run_problems {int(problem is not None)}\n", files["openmetrics"].read_text())
                counts = json.loads(files["ctrf"].read_text())["results"]["summary"]
                self.assertEqual(counts["failed"], int(problem is not None))
                suites = ElementTree.parse(files["junit"]).getroot()
                self.assertEqual(int(suites.get("failures")), len(suites.findall(".//failure")))
                self.assertEqual(int(suites.get("tests")), len(suites.findall(".//testcase")))

    def test_steps_print_tables_and_one_line_for_all(self):
        states = e2e.ROOT / "corpus/steps/ob2.rec"
        done = self.run_twinstack("steps", states, states)
        self.assertEqual(len(done.stdout.splitlines()), 2 * (2 + 5) + 1, done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "STEPS  2 builds, 2796 instructions: our walk was right at each")
        details = self.run_twinstack("steps", "--details", states).stdout
        self.assertEqual(re.findall("    (\\S+), first (?:wrong|early): step ", details), ["rtl", "dbghelp-own", "backtrace", "framepointer"])

    def test_review(self):
        known = self.folder / "known.txt"
        argv = ("review", "--known", known)
        self.assertIn("0 failing", self.run_db(*argv, stdin="").stdout)
        name = self.one("FAIL", "dump=inline_only dump=unexplained")
        self.assertIn("1 undecided", self.run_db(*argv, stdin="", exit_code=1).stdout)
        done = self.run_db(*argv, stdin="what\nr\n", exit_code=1)
        self.assertIn(f"[1 of 1] {name}  FAIL", done.stdout)
        self.assertIn("1 left failing, 0 undecided", done.stdout)
        self.assertIn("0 left failing, 1 undecided", self.run_db(*argv, stdin="s\n", exit_code=1).stdout)
        self.run_db(*argv, stdin="q\n", exit_code=1)
        self.run_db(*argv, stdin="a\nhalf\n", exit_code=1)  # the input ends in the middle
        self.assertFalse(known.exists())
        done = self.run_db(*argv, stdin="a\na reason\n\nno day\na reason\n\n\n")
        self.assertIn("1 accepted", done.stdout)
        rows = json.loads(self.run_twinstack("known", "--known", known, "--json").stdout)
        self.assertEqual([(r["scope"], r["reason"], r["issue"]) for r in rows], [(name, "a reason", None)])
        self.assertEqual(rows[0]["expires"], (datetime.datetime.now(datetime.timezone.utc) +
                                              datetime.timedelta(days=90)).date().isoformat())
        self.assertIn("1 accepted", self.run_db(*argv, stdin="").stdout)  # it is not asked about again
        self.one("ERROR")
        self.assertIn("0 failing", self.run_db(*argv, stdin="").stdout)
        known.write_text("nonsense\n")
        self.run_db(*argv, stdin="", exit_code=3)
        self.run_db(*argv, "1", "2", stdin="", exit_code=2)

    def test_db(self):
        self.sql("UPDATE run SET state = 'running' WHERE id = 3")  # as a killed process leaves it
        rows = json.loads(self.run_db("db", "list", "--json").stdout)
        self.assertEqual([(r["id"], r["state"], r["case_count"]) for r in rows],
                         [(3, "interrupted", 12), (2, "complete", 12), (1, "complete", 12)])
        self.assertRegex(self.run_db("db", "list").stdout, r"(?m)^ +3  \S+Z  interrupted +12 cases, +0 fail  [0-9a-f]{12}  main$")
        self.run_db("db", "list", "all", exit_code=2)
        self.sql("UPDATE run SET state = 'complete'")
        # Runs by commit and branch.
        commit = rows[1]["commit"]
        self.assertIn("twinstack run 2 ", self.run_db("report", commit[:9]).stdout)
        self.assertIn("twinstack run 3 ", self.run_db("report", "main").stdout)
        self.run_db("report", commit[:3] + "?", exit_code=3)
        other = self.folder / "other.db"
        self.assertIn("3 runs copied", self.run_db("db", "export", other).stdout)
        self.assertIn("0 runs copied", self.run_db("db", "import", other).stdout)
        # Baselines are imported too, and imported runs do not become the latest.
        self.run_db("baseline", "set", "2", "--branch", "main")
        newer = self.folder / "newer.db"
        self.run_db("db", "export", newer)
        self.assertEqual(self.run_twinstack("baseline", "show", "--branch", "main", "--db", newer).stdout, "2\n")
        self.sql("UPDATE run SET id = id + 10 WHERE id = 1")
        self.assertIn("twinstack run 3 ", self.run_db("report").stdout)
        self.sql("UPDATE run SET id = 1 WHERE id = 11")
        self.sql("DELETE FROM baseline")
        published = self.folder / "published.db"
        self.run_db("db", "publish", published)
        self.assertEqual(sqlite3.connect(published).execute("PRAGMA journal_mode").fetchone()[0], "delete")
        self.run_db("db", "publish", published)  # again: it is replaced
        elsewhere = self.folder / "elsewhere.db"
        elsewhere.symlink_to(published.name)
        published.unlink()
        for what in ("a file that is not there", "a file that is"):
            with self.subTest("through a link to " + what):
                self.run_db("db", "publish", elsewhere)
                self.assertTrue(elsewhere.is_symlink())
                self.assertGreater(published.stat().st_size, 0)
        before = self.db.read_bytes()
        (self.folder / "work").mkdir()
        (self.folder / "work/kept.txt").write_text("kept")
        link = self.folder / "link.db"
        link.symlink_to(self.db)
        for target in (self.db, link, self.folder / "work"):
            self.run_db("db", "publish", target, exit_code=2)
        self.assertTrue((self.folder / "work/kept.txt").exists())
        self.assertEqual(self.db.read_bytes(), before)
        self.assertEqual([p for p in self.folder.iterdir() if p.suffix == ".part"], [])
        self.run_db("db", "prune", exit_code=2)
        self.run_db("db", "baseline", exit_code=2)
        self.sql("INSERT OR REPLACE INTO baseline VALUES ('', '', 1)")
        self.assertIn("1 run deleted", self.run_db("db", "prune", "--keep-runs", "1").stdout)  # 1 of 3 is the baseline
        self.sql("DELETE FROM baseline")
        self.assertIn("1 run deleted", self.run_db("db", "prune", "--keep-runs", "1").stdout)
        self.run_db("db", "import", self.folder / "none.db", exit_code=4)

    def test_states_of_a_database(self):
        def refused(name, *argv):
            done = self.run_twinstack(*(argv or ("report",)), "--db", self.folder / name, exit_code=4)
            self.assertIn(name, done.stderr)
            return done.stderr

        with sqlite3.connect(self.db) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()
        whole = self.db.read_bytes()

        (self.folder / "empty.db").write_bytes(b"")
        self.assertIn("empty", refused("empty.db"))
        for size in (10, 100, 5000, len(whole) // 2):
            (self.folder / "cut.db").write_bytes(whole[:size])
            refused("cut.db")
        (self.folder / "holes.db").write_bytes(whole[:4096] + b"\xa5" * 40960 + whole[45056:])
        refused("holes.db")
        sqlite3.connect(self.folder / "other.db").execute("CREATE TABLE x (y)").connection.close()
        self.assertIn("another program", refused("other.db"))
        self.assertIn("another program", refused("other.db", "baseline", "set", "1"))
        self.assertIn("folder", refused("gone/new.db", "db", "import", self.db))
        self.assertIn("absent", refused("new.db", "baseline", "set", "1"))  # it is not created to say that it has no run

        shutil.copy(self.db, self.folder / "newer.db")
        with sqlite3.connect(self.folder / "newer.db") as db:
            db.execute("PRAGMA user_version = 99")
        db.close()
        for argv in (("report",), ("baseline", "set", "1"), ("db", "upgrade")):
            self.assertIn("newer", refused("newer.db", *argv))

        # A database of the first version: everything that later versions added is dropped.
        old = self.folder / "old.db"
        shutil.copy(self.db, old)
        undo = (e2e.ROOT / "tests/lib/old_store.h").read_text()
        with sqlite3.connect(old) as db:
            db.executescript("".join(re.findall(r'"([^"]*)"', undo)))
            for table in ("evidence", "case_artifact", "artifact", "run_engine", "run_cause", "run_symbol", "run_figure", "run_pace", "run_median", "way_cost"):
                db.execute(f"DROP TABLE {table}")
            db.execute("DROP INDEX IF EXISTS case_in_run")
            for column in ("claim DROP COLUMN cold_ns", "crash_case DROP COLUMN dump_tuned_ns",
                           "crash_case DROP COLUMN dump_tuned_bytes", "crash_case DROP COLUMN capture_now_ns",
                           "crash_case DROP COLUMN hang_late_ns", "crash_case DROP COLUMN stop_copy_ns", "crash_case DROP COLUMN stop_tuned_ns", "crash_case DROP COLUMN crowded", "finding DROP COLUMN blame",
                           "finding DROP COLUMN witnesses", "finding DROP COLUMN module",
                           "finding DROP COLUMN function"):
                db.execute(f"ALTER TABLE {column}")
            db.execute("PRAGMA user_version = 1")
            db.execute("PRAGMA journal_mode = DELETE")
        db.close()
        before = old.read_bytes()
        # That version counted one and five innermost frames, not three: a stack that has one and not five counts as without.
        known = self.folder / "known.db"
        shutil.copy(self.db, known)
        with sqlite3.connect(known) as db:
            db.executescript("UPDATE claim SET top3 = nullif(top5 OR exact, 0); DELETE FROM run_engine;")
        db.close()
        def told(db):  # that version did not store what is blamed for a difference
            text = self.run_twinstack("report", "--db", db, "--json").stdout
            return re.sub(r'("(module|function|blame)": ?("[^"]*"|null),\s*){3}"witnesses": ?\[[^]]*\]', "", text)
        here, there = told(known), told(old)
        self.assertEqual(here, there)
        self.run_twinstack("db", "import", old, "--db", self.folder / "fresh.db")
        self.run_db("compare", f"{old}:1", "latest")
        self.assertEqual(old.read_bytes(), before)  # read through a copy
        self.run_twinstack("db", "upgrade", "--db", old)
        self.assertEqual(told(old), here)

        # While another process writes, readers continue. Writers wait, then report that process.
        busy = sqlite3.connect(self.db, isolation_level=None)
        busy.execute("BEGIN IMMEDIATE")
        self.run_db("report")
        self.assertIn("another program", self.run_db("baseline", "set", "latest", exit_code=4).stderr)
        busy.execute("ROLLBACK")
        busy.close()
        self.run_db("baseline", "set", "latest")

    def test_signatures(self):
        self.assertIn("rank", self.run_db("signatures").stdout)
        rules = self.folder / "rules.txt"
        rules.write_text("skip everything\n")
        self.run_db("signatures", "--rules", rules, exit_code=3)
        rules.write_text(self.run_twinstack("signatures", "--show-rules").stdout)
        data = json.loads(self.run_db("signatures", "--rules", rules, "--json").stdout)
        self.assertEqual(sum(s["count"] for s in data["signatures"]) <= data["stacks"], True)
        self.assertEqual(data["signatures"][0]["rank"], 1)
        self.run_db("signatures", "--engine", "judge:unknown", exit_code=5)

    def test_signatures_of_a_stream(self):
        def resolved(text):
            csv = f"capture-stack.exe={e2e.ROOT / 'corpus/botman/capture-stack.csv'}"
            return self.run_twinstack("resolve", "--csv", csv, "--ndjson", stdin=text).stdout

        crash = "> {}\ncapture-stack.exe!0xc155a\nntdll.dll!0x67bbe\n"
        other = "> {}\nother.exe!0x1000\nntdll.dll!0x67bbe\n"
        monday = self.folder / "monday.json"
        monday.write_text(self.run_twinstack("signatures", "-", "--name", "monday", "--json",
                                             stdin=resolved(crash.format("a") + crash.format("b") + other.format("c"))).stdout)
        tuesday = resolved(other.format("d") * 3 + crash.format("e") + "> f\nfresh.exe!0x2000\n") + "no stack\n"
        done = self.run_twinstack("signatures", "-", "--name", "tuesday", "--before", monday, "--json", stdin=tuesday)
        self.assertIn("1 line is no stack", done.stderr)
        rows = [(r["signature"], r["count"], r["rank"], r["rank_before"], r["first_seen"], r["example"])
                for r in json.loads(done.stdout)["signatures"]]
        self.assertEqual(rows, [("other.exe!0x1000", 3, 1, 2, "monday", "d"),
                                ("fresh.exe!0x2000", 1, 2, None, "tuesday", "f"),
                                ("main", 1, 3, 1, "monday", "e")])
        text = self.run_twinstack("signatures", "-", "--before", monday, stdin=tuesday).stdout
        for change in ("+1", "-2", "new"):
            self.assertRegex(text, rf"%\s+{re.escape(change)} ")
        self.assertIn("capture-stack.exe!0xc155a", self.run_twinstack("signatures", "-", stdin=crash.format("a")).stdout)
        rules = self.folder / "rules.txt"
        rules.write_text("skip module ntdll*\nskip function main\n")
        self.assertNotIn("main", self.run_twinstack("signatures", "-", "--rules", rules, stdin=tuesday).stdout)
        self.run_twinstack("signatures", "-", stdin="", exit_code=5)
        self.run_twinstack("signatures", "-", "latest", stdin="", exit_code=2)
        self.run_twinstack("signatures", "-", "--before", rules, stdin=tuesday, exit_code=3)

    def test_regrade(self):
        self.run_db("regrade", "-k", "nothing and (like or this)", exit_code=5)
        self.run_db("regrade", "-k", "null_write and (", exit_code=2)
        self.run_db("regrade", "999", exit_code=3)
        folder = CASES / "null_write.ob2"
        self.sql("UPDATE crash_case SET folder = NULL")
        self.sql("UPDATE crash_case SET folder = ?, scenario = 'null_write', variant = 'ob2' WHERE id = "
                 "(SELECT max(id) FROM crash_case)", str(folder))
        self.run_db("regrade", "-k", "null_write.ob2", "--exit-zero")
        run = json.loads(self.run_db("report", "latest", "--json", "--exit-zero").stdout)
        self.assertTrue(run["run"]["label"].startswith("regrade of "))
        self.assertEqual(run["cases"][-1]["verdict"], "PASS", run["cases"][-1]["reason"])
        timing = run["cases"][-1]["timing"]
        for key, name in (("record", "record.rec"), ("dump", "dump.dmp"), ("dump_tuned", "dump-tuned.dmp")):
            data = (folder / name).read_bytes()
            gzip = zlib.compressobj(6, zlib.DEFLATED, 31)
            self.assertEqual(timing[f"{key}_gzip_bytes"], len(gzip.compress(data) + gzip.flush()), name)
            if shutil.which("zstd"):
                packed = subprocess.run(["zstd", "-3", "--no-check", "-c", folder / name], capture_output=True, check=True).stdout
                self.assertAlmostEqual(timing[f"{key}_zstd_bytes"], len(packed), delta=8 + len(packed) / 200)
        self.sql("UPDATE crash_case SET folder = '/gone' WHERE folder IS NOT NULL")
        self.run_db("regrade", "--dry", exit_code=3)


e2e.main()
