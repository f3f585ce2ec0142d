"""`run` as a whole without Wine: shards, Ctrl-C and resuming, what is accepted meanwhile, two runs at a time."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import made_run  # noqa: E402


class RunControl(made_run.Case):
    def part_db(self, shard):
        return self.folder / f"part-{shard}.db"

    def take_parts(self, count, *argv):
        """Takes each part of a run into its own database, as CI jobs do."""
        for shard in range(1, count + 1):
            self.part_db(shard).unlink(missing_ok=True)
            self.take("--shard", f"{shard}/{count}", "--db", self.part_db(shard), "--exit-zero", *argv)
        return [self.part_db(shard) for shard in range(1, count + 1)]

    def gate(self, *argv, db=None, exit_code=0):
        done = self.run_twinstack("gate", *argv, "--db", db or self.db, "--json", exit_code=exit_code)
        return {c["name"]: c for c in json.loads(done.stdout)["checks"]}

    def test_the_parts_of_a_run_are_gated_as_one(self):
        calm = ("-k", "not error and not wrong and not flaky")
        self.run_twinstack("db", "merge", *self.take_parts(3, *calm), "--db", self.db)
        self.run_twinstack("baseline", "set", "latest", "--db", self.db)
        whole, _ = self.take(*calm)
        self.gate("--against", "baseline")
        report = self.run_twinstack("report", "--json", "--db", self.db, "baseline")
        self.assertEqual(self.verdicts(json.loads(report.stdout)), self.verdicts(whole))
        # One part alone lacks the cases that it was not asked for; the gate says how to get them all.
        part = self.gate("--against", f"{self.db}:baseline", db=self.part_db(1))
        self.assertRegex(part["cases gone"]["text"], r"^0 gone .* 2 that this run was not asked for \(part 1 of 3: `twinstack db merge`")
        # "good" vanishes: no single part can notice it, but all parts together do.
        wine = self.folder / "bin/wine"
        wine.write_text(wine.read_text().replace("'good', ", ""))
        parts = self.take_parts(3, *calm)
        for part in parts:
            self.gate("--against", f"{self.db}:baseline", db=part)
        self.run_twinstack("db", "merge", *parts, "--db", self.db)
        gone = self.gate("--against", "baseline", exit_code=1)
        self.assertFalse(gone["cases gone"]["holds"])
        self.assertRegex(gone["cases gone"]["text"], "^1 gone since run 1")
        self.gate("--against", "baseline", "--allow-missing", "slow", exit_code=1)
        self.gate("--against", "baseline", "--allow-missing", "good")

    def test_only_all_parts_of_one_run_make_one(self):
        whole = self.folder / "whole.db"
        self.take("-k", "good", "--db", whole)
        parts = self.take_parts(2, "-k", "good or calm")
        other = self.folder / "other.db"
        self.take("-k", "good or slow", "--shard", "2/2", "--db", other)
        for words, exit_code, said in ((parts[:1], 3, "part 2 of 2: part of a run: absent (it is missing)"),
                                       ((parts[0], parts[0], parts[1]), 2, "both are the same part"),
                                       ((*parts, whole), 2, "it was not taken with --shard"),
                                       ((parts[0], other), 2, "their -k differ"),
                                       ((parts[0], f"{parts[1]}:7"), 3, "run")):
            with self.subTest(said=said):
                done = self.run_twinstack("db", "merge", *words, "--db", self.db, exit_code=exit_code)
                self.assertIn(said, done.stderr)
        # The parts may also be runs of the database itself.
        for part in parts:
            self.run_twinstack("db", "import", part, "--db", whole)
        done = self.run_twinstack("db", "merge", "latest", "latest~1", "--db", whole)
        self.assertIn("made of 2 parts", done.stdout)
        done = self.run_twinstack("report", "--json", "--db", whole)
        self.assertEqual(sorted(c["scenario"] for c in json.loads(done.stdout)["cases"]), ["calm", "good"])

    def test_ctrl_c_is_seen_everywhere_and_gone_on_from(self):
        self.take("-k", "good or slow")
        self.assertEqual(self.stop_in_the_middle(signal.SIGINT, "-k", "good or slow"), 130)
        self.assertIn(f"`twinstack run --resume 2 --db {self.db}` goes on", self.said)

        def ask(*argv, exit_code=0):
            return self.run_twinstack(*argv, "--db", self.db, exit_code=exit_code).stdout

        self.assertEqual([(r["id"], r["state"]) for r in json.loads(ask("db", "list", "--json"))],
                         [(2, "interrupted"), (1, "complete")])
        self.assertIn("the run was interrupted: cases are missing, `twinstack run --resume 2` adds them", ask("report", exit_code=1))
        self.assertIn("interrupted", ask("compare", "1", "latest", "--exit-zero"))
        self.assertIn("the run is interrupted", ask("gate", exit_code=1))
        with subprocess.Popen([e2e.PROGRAM, "serve", "--db", self.db], cwd=e2e.ROOT, text=True, stdout=subprocess.PIPE) as server:
            try:
                address = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())[0]
                with urllib.request.urlopen(f"{address}/api/v1/runs", timeout=10 * e2e.PATIENCE) as answer:
                    states = [r["state"] for r in json.load(answer)["data"]["runs"]]
                self.assertEqual(states, ["interrupted", "complete"])
            finally:
                server.send_signal(signal.SIGINT)
        self.order()
        done = self.run_twinstack("run", "--resume", "last", "--db", self.db, env=self.env)
        self.assertIn("twinstack run 2 ", done.stdout)
        self.assertIn("PASS   2 cases", done.stdout)
        self.assertEqual(self.order(), ["slow"], "what was sealed is not run again")
        self.assertIn("open", ask("gate", "--against", "1"))

    def test_what_is_accepted_is_seen_before_the_run_ends(self):
        self.known.write_text(f"[it]\nscope: wrong.ob2\ncause: *=*\nreason: r\nexpires: {made_run.SOON}\n")

        def verdicts():
            report = self.run_twinstack("report", "1", "--json", "--db", self.db, exit_code=None)
            return self.verdicts(json.loads(report.stdout))

        def meanwhile():
            end = time.monotonic() + 60 * e2e.PATIENCE
            while not verdicts() and time.monotonic() < end:
                time.sleep(0.02)
            self.assertEqual(verdicts(), [("wrong", 0, "XFAIL")])

        self.assertEqual(self.stop_in_the_middle(signal.SIGINT, "-k", "wrong or slow", meanwhile=meanwhile, jobs=2), 130)
        self.assertEqual(verdicts(), [("wrong", 0, "XFAIL")], "the interrupted run says what it said before")
        done = self.run_twinstack("run", "--resume", "last", "--db", self.db, "--json", env=self.env)
        self.assertEqual(self.verdicts(json.loads(done.stdout)), [("slow", 0, "PASS"), ("wrong", 0, "XFAIL")])
        self.assertNotIn("not needed", done.stderr)

    def test_killed_in_the_middle(self):
        def meanwhile():
            for word, code in (("1", 2), ("last", 3)):  # it is still running
                self.run_twinstack("run", "--resume", word, "--db", self.db, env=self.env, exit_code=code)
            self.assertEqual(self.run_json("db", "list", "--json", "--db", self.db)[0]["state"], "running")

        self.assertEqual(self.stop_in_the_middle(signal.SIGKILL, "-k", "good or slow", meanwhile=meanwhile), -signal.SIGKILL)
        said = self.run_twinstack("report", "--db", self.db, exit_code=1).stdout  # the newest run, though it did not finish
        self.assertIn("the run was interrupted: cases are missing, `twinstack run --resume 1` adds them", said)
        # The next run finds that no process is working on this one any more.
        self.take("-k", "good")
        states = [(r["id"], r["state"]) for r in self.run_json("db", "list", "--json", "--db", self.db)]
        self.assertEqual(states, [(2, "complete"), (1, "interrupted")])
        self.run_twinstack("run", "--resume", "1", "--db", self.db, env=self.env)

    def test_a_killed_run_leaves_no_process_of_wine(self):
        # A server that lasts: a process of a group of its own, as the persistent one is.
        (self.folder / "bin/wineserver").write_text('#!/bin/sh\n[ "$1" != -p ] || setsid sleep 600 >/dev/null 2>&1 &\n')

        seen = []
        self.stop_in_the_middle(signal.SIGKILL, "-k", "good or slow", meanwhile=lambda: seen.extend(self.started()))
        self.assertGreaterEqual(len(seen), 2, "the server and the program that it was killed in")
        self.ends_what_was_started()

    def test_a_run_that_is_killed_while_it_makes_its_prefix_leaves_nothing_half_made(self):
        # Wine's registry is there long before the prefix is whole, and whatever makes it goes on without us.
        prefix, waiting = self.folder / "prefix", self.folder / "bin/waiting"
        (self.folder / "bin/wineboot").write_text("#!/bin/sh\ntouch \"$WINEPREFIX/system.reg\" \"$WINEPREFIX/.update-timestamp\"\n"
                                                  f"[ ! -e {self.folder}/bin/wait ] || {{ touch {waiting}; exec sleep 600; }}\n")
        (self.folder / "bin/wineboot").chmod(0o755)
        (prefix / "system.reg").unlink()
        self.stop_in_the_middle(signal.SIGKILL, "-k", "good")
        self.ends_what_was_started()
        (self.folder / "bin/wineboot").write_text("#!/bin/sh\n[ ! -e \"$WINEPREFIX/.update-timestamp\" ] && touch \"$WINEPREFIX/whole\"\n")
        self.assertIn("making the Wine prefix", self.take("-k", "good")[1])
        self.assertTrue((prefix / "whole").exists(), "Wine leaves out what its time stamp covers")
        self.assertNotIn("making the Wine prefix", self.take("-k", "good")[1])

    def started(self):
        """What has the mark of the run's process."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if f"\0TWINSTACK_RUNNER={self.child.pid}-" in "\0" + path.read_text(errors="replace"):
                    found.append(int(path.parent.name))
            except OSError:
                pass  # it ended meanwhile, or is another user's
        return found

    def ends_what_was_started(self):
        until = time.monotonic() + 10 * e2e.PATIENCE
        while self.started() and time.monotonic() < until:
            time.sleep(0.05)
        left = self.started()
        for process in left:
            os.kill(process, signal.SIGKILL)
        self.assertEqual(left, [])

    def test_a_second_thread_judges_what_waits(self):
        # The first judge waits for a second one beside it; with -j 1, where there is none, each waits a moment.
        judge = self.folder / "judge.py"
        judge.write_text(f"""#!{sys.executable}
import os, pathlib, time
busy = pathlib.Path(__file__).parent / "busy"
busy.mkdir(exist_ok=True)
mine = busy / str(os.getpid())
mine.touch()
both = busy.parent / "both"
for turn in range(4000 if (busy.parent / "two").exists() else 20):
    if len(list(busy.iterdir())) > 1:
        both.touch()
    if both.exists():
        break
    time.sleep(0.01)
mine.unlink()
print("[]")
""")
        judge.chmod(0o755)
        self.env["TWINSTACK_ADAPTER"] = f"ours={judge}"
        verdicts = {}
        for jobs in (1, 2):
            (self.folder / "both").unlink(missing_ok=True)
            if jobs == 2:
                (self.folder / "two").touch()
            words = self.words("-k", "good or wrong", "--repeat", "6", "--json", jobs=jobs, judges=True)
            report = json.loads(self.run_twinstack(*words, env=self.env, exit_code=1, limit_s=240).stdout)
            verdicts[jobs] = self.verdicts(report)
            self.assertEqual((self.folder / "both").exists(), jobs == 2)
            self.assertEqual((report["run"]["state"], len(report["cases"])), ("complete", 12))
        self.assertEqual(verdicts[1], verdicts[2])
        self.assertEqual([path for path in self.folder.glob("runs/*/judges*")], [])

    def without_times(self, value):
        if isinstance(value, dict):
            return {k: self.without_times(v) for k, v in value.items() if not re.search("^(id|timing|cost|warm)$|_ns$|_ms$", k)}
        return [self.without_times(v) for v in value] if isinstance(value, list) else value

    def test_two_threads_whose_judges_die_say_what_one_says(self):
        self.env["TWINSTACK_ADAPTER"] = f"ours={self.folder / 'judge.sh'}"
        (self.folder / "judge.sh").write_text("#!/bin/sh\nsleep 0.1\nkill -KILL $$\n")
        (self.folder / "judge.sh").chmod(0o755)
        cases = []
        for jobs in (1, 2):
            words = self.words("-k", "good or wrong", "--repeat", "6", "--json", jobs=jobs, judges=True)
            done = self.run_twinstack(*words, env=self.env, exit_code=1, limit_s=240)
            cases.append(self.without_times(json.loads(done.stdout)["cases"]))
        self.assertEqual(len(cases[0]), 12)
        self.assertEqual(cases[0], cases[1])

    def test_two_threads_are_interrupted_and_gone_on_from(self):
        asked = self.folder / "asked"
        self.env["TWINSTACK_ADAPTER"] = f"ours={self.folder / 'judge.sh'}"
        (self.folder / "judge.sh").write_text(f"#!/bin/sh\necho >>{asked}\n[ -e {asked}.slow ] && sleep 300\necho '[]'\n")
        (self.folder / "judge.sh").chmod(0o755)
        (self.folder / "asked.slow").touch()
        words = self.words("-k", "good or wrong", "--repeat", "6", jobs=2, judges=True)
        child = subprocess.Popen([e2e.PROGRAM, *map(str, words)], cwd=e2e.ROOT, text=True, env={**os.environ, **self.env},
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        end = time.monotonic() + 60 * e2e.PATIENCE
        while (not asked.exists() or asked.read_text().count("\n") < 2) and time.monotonic() < end:
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=60 * e2e.PATIENCE)[1]
        self.assertEqual(child.returncode, 130, said)
        self.assertEqual(asked.read_text().count("\n"), 2, "both threads were asking, and no one asked again")
        (self.folder / "asked.slow").unlink()
        self.run_twinstack("run", "--resume", "last", "--db", self.db, env=self.env, exit_code=1, limit_s=240)
        report = json.loads(self.run_twinstack("report", "--json", "--db", self.db, exit_code=1).stdout)
        self.assertEqual((report["run"]["state"], len(set(self.verdicts(report)))), ("complete", 12))

    def test_two_at_a_time(self):
        (self.folder / "bin/alone").touch()
        both = [self.start("-k", "good or slow or flaky", "--repeat", "3", "--exit-zero", "--json") for _ in range(2)]
        reports = []
        for child in both:
            out, said = child.communicate(timeout=120 * e2e.PATIENCE)
            self.assertEqual(child.returncode, 0, said)
            reports.append(json.loads(out))
        self.assertEqual(sorted(r["run"]["id"] for r in reports), [1, 2])
        for report in reports:
            self.assertEqual((report["run"]["state"], len(report["cases"])), ("complete", 9))
            self.assertEqual(report["run"]["verdicts"]["ERROR"], 0)
        self.assertEqual(len(list(self.folder.glob("runs/*/cases*/*/seal"))), 18)


e2e.main(split=True)
