"""`run` as a whole without Wine: repeats, shards, order, files left on disk, acceptances, Ctrl-C
and resuming, two runs at a time. The files that Wine would leave are copied from a sealed case."""

import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

SOON = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=90)).date().isoformat()
CASE = e2e.ROOT / "corpus/cases/null_write.ob2"
LEFT = ("record.rec", "dump.dmp", "truth.json", "outcome.json")
CRASHES = ("error", "flaky", "good", "slow", "wrong")

# A replacement for Wine: lists the scenarios, and for each leaves the files that its name asks for. It starts often, and to
# load json, pathlib and shutil takes twice as long as the rest.
WINE = f"""#!{sys.executable} -IS
import os, sys, time
here = os.path.dirname(sys.argv[0])
if "--list" in sys.argv:
    import json
    for name in {CRASHES!r}:
        print(json.dumps(dict(name=name, kind="crash", group="A1", limit_ms=300_000, code="0xc0000005",
                              exit_code="0xc0000005", doors=["vectored", "unhandled"])))
    print(json.dumps(dict(name="calm", kind="calm", group="calm", limit_ms=300_000, doors=[])))
    print(json.dumps(dict(name="elsewhere", kind="hang", group="A5", limit_ms=300_000, doors=[], supported=False,
                          reason="not here")))
elif "--out" in sys.argv:
    out = sys.argv[sys.argv.index("--out") + 1].removeprefix("Z:").replace(chr(92), "/")
    name = sys.argv[-1]
    with open(here + "/order", "a") as order:
        print(name, file=order)
    if os.path.exists(here + "/alone"):  # two runs in one prefix would write into each other's folders
        os.mkdir(here + "/busy")
        time.sleep(0.1)
        os.rmdir(here + "/busy")
    if name == "error":
        sys.exit("no such victim")
    if name == "slow" and os.path.exists(here + "/wait"):
        open(here + "/waiting", "w").close()
        time.sleep(300)
    for left in {LEFT!r}:
        if name != "calm" or left == "outcome.json":
            with open({str(CASE)!r} + "/" + left, "rb") as source, open(out + "/" + left, "wb") as copy:
                copy.write(source.read())
    if name == "calm":
        with open(out + "/outcome.json", "w") as outcome:
            outcome.write('{{"exit_code": "0x00000000", "wall_ms": 1, "ended_by": "exit"}}')
    if os.path.exists(here + "/lacks"):
        for left in ("record.rec", "dump.dmp", "truth.json"):
            os.unlink(out + "/" + left)
        with open(out + "/outcome.json", "w") as outcome, open(out + "/stdout.txt", "w") as printed:
            outcome.write('{{"exit_code": "0x0000004E", "wall_ms": 1, "ended_by": "exit"}}')
            printed.write("about to die, as asked\\r\\nother/plugin-call-ob2.dll\\r\\n")
    if name == "wrong" or name == "flaky" and "cases.1" in out:
        import json
        with open(out + "/truth.json", "r+") as file:
            truth = json.load(file)
            truth["threads"][0]["frames"][0]["line"] += 1
            file.seek(0)
            file.truncate()
            json.dump(truth, file)
"""


class RunControl(e2e.Case):
    def setUp(self):
        self.made, self.env = self.made_wine(WINE)
        for suffix in ("exe", "pdb"):
            found = list((e2e.ROOT / "corpus/symbols").glob(f"victims-ob2.{suffix}/*/victims-ob2.{suffix}"))
            self.assertEqual(len(found), 1)
            shutil.copy(found[0], self.folder / "victims")
        self.db = self.folder / "runs.db"
        self.known = self.folder / "known.txt"
        self.known.write_text("")

    def words(self, *argv, jobs=1, judges=False):
        return ["run", *self.made, "--db", self.db, *([] if judges else ["--no-judges"]), "-j", jobs, "--known", self.known, *argv]

    def take(self, *argv, exit_code=0, jobs=1):
        """Runs it; returns the report as JSON and the text of standard error."""
        done = self.run_twinstack(*self.words(*argv, "--json", jobs=jobs), env=self.env, exit_code=exit_code, limit_s=120)
        return json.loads(done.stdout), done.stderr

    def verdicts(self, report):
        return [(c["scenario"], c["repeat"], c["verdict"]) for c in report["cases"]]

    def order(self):
        lines = (self.folder / "bin/order").read_text().split()
        (self.folder / "bin/order").unlink()
        return lines

    def test_every_outcome_has_its_verdict(self):
        report, _ = self.take(exit_code=3)
        self.assertEqual({c["scenario"]: c["verdict"] for c in report["cases"]},
                         {"calm": "PASS", "elsewhere": "UNSUPPORTED", "error": "ERROR", "flaky": "PASS", "good": "PASS",
                          "slow": "PASS", "wrong": "FAIL"})
        wrong = next(c for c in report["cases"] if c["scenario"] == "wrong")
        self.assertTrue(wrong["signature"])
        self.take("-k", "good or wrong", exit_code=1)
        self.take("-k", "good or elsewhere")

    def test_a_dll_that_a_victim_lacks_is_named_by_run_and_check(self):
        (self.folder / "bin/lacks").write_text("")
        lack = "other/plugin-call-ob2.dll is missing, which the victim loads: build the victims again"
        report, _ = self.take("-k", "good", exit_code=3)
        self.assertEqual([(c["verdict"], c["reason"]) for c in report["cases"]], [("ERROR", lack)])
        case = next((self.folder / "runs").glob("*/cases/good.ob2"))
        self.assertIn(lack, self.run_json("check", "--json", case, exit_code=3)["cases"][0]["reason"])

    def test_repeats_that_disagree_are_flaky(self):
        for repeats in (2, 3):
            with self.subTest(repeats=repeats):
                report, _ = self.take("-k", "good or flaky", "--repeat", repeats, exit_code=1)
                self.assertEqual(self.verdicts(report), [row for n in range(repeats) for row in (("flaky", n, "FLAKY"), ("good", n, "PASS"))])
        self.known.write_text("[f]\nscope: flaky.*\ncause: flaky *=*\nreason: r\nexpires: " + SOON + "\n")
        self.take("-k", "good or flaky", "--repeat", "2")

    def test_shards_and_order(self):
        names = []
        for shard in ("1/3", "2/3", "3/3"):
            report, _ = self.take("--shard", shard, "--exit-zero")
            names += [c["scenario"] for c in report["cases"]]
        self.assertEqual(sorted(names), ["calm", "elsewhere", "error", "flaky", "good", "slow", "wrong"])
        orders = set()
        self.order()
        for seed in ("1", "2", "3", "1"):
            self.take("-k", "crash and not error", "--seed", seed, "--exit-zero")
            orders.add(tuple(self.order()))
        self.assertGreater(len(orders), 1)
        self.assertLess(len(orders), 4, "the same seed, another order")
        for order in orders:
            self.assertEqual(sorted(order), ["flaky", "good", "slow", "wrong"])

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

    def test_the_commit_is_that_of_git_or_of_ci(self):
        """In a container git refuses a checkout of another user, and says nothing on standard output."""
        self.env |= {"GIT_DIR": str(self.folder / "none")}
        self.env.pop("GITHUB_SHA", None)
        _, said = self.take("-k", "good")
        self.assertIn("the commit is unknown", said)
        self.env |= {"GITHUB_SHA": "ab" * 20, "GITHUB_REF_NAME": "topic"}
        _, said = self.take("-k", "good")
        self.assertNotIn("the commit is unknown", said)
        row = self.run_json("db", "list", "--json", "--db", self.db)[0]
        self.assertEqual((row["commit"], row["branch"]), ("ab" * 20, "topic"))

    def test_keep_failed(self):
        for keep, names in (("failed", ["wrong.ob2"]), ("all", ["good.ob2", "wrong.ob2"])):
            self.take("-k", "good or wrong", "--keep", keep, "--out", self.folder / keep, exit_code=1)
            self.assertEqual(sorted(p.name for p in (self.folder / keep / "cases").iterdir()), names)

    def test_acceptances(self):
        cause = next(c for c in self.take("-k", "wrong", exit_code=1)[0]["cases"])["signature"]

        def accept(scope, until=SOON, what=cause, pins="pins: offset:rtl=99/99 dump=99/99\nframe: *\n"):
            self.known.write_text(f"[it]\nscope: {scope}\ncause: {what}\n{pins}reason: r\nexpires: {until}\n")

        accept("wrong.ob2")
        self.assertEqual(self.verdicts(self.take("-k", "wrong or good")[0]), [("good", 0, "PASS"), ("wrong", 0, "XFAIL")])
        yesterday = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=1)).date().isoformat()
        accept("wrong.ob2", yesterday)
        report, said = self.take("-k", "wrong", exit_code=1)
        self.assertEqual(self.verdicts(report), [("wrong", 0, "FAIL")])
        self.assertIn("expired", said)
        accept("good.ob2")
        self.assertEqual(self.verdicts(self.take("-k", "good", exit_code=1)[0]), [("good", 0, "XPASS")])
        accept("good.o*")
        report, said = self.take("-k", "good", exit_code=1)
        self.assertEqual((self.verdicts(report), report["fails"]), ([("good", 0, "PASS")], True))
        self.assertIn("not needed", said)
        self.assertIn("not needed", report["problems"][0])
        accept("wrong.ob2", what="dump=nothing_like_it")
        report, said = self.take("-k", "wrong", exit_code=1)
        self.assertEqual(self.verdicts(report), [("wrong", 0, "FAIL")])
        self.assertNotIn("not needed", said)  # another failure may hide what was accepted
        for pins, reason in (("pins: none\n", "accepted: offset:rtl has|accepted: dump has"),
                             ("frame: none\n", "accepted: another difference, \\S+ (physical|function|line) \\S")):
            accept("wrong.ob2", pins=pins)
            report, _ = self.take("-k", "wrong", exit_code=1)
            self.assertRegex(report["cases"][0]["reason"], r"^beyond what \[it\] " + reason)
        accept("wrong.ob2", pins="pins: none\nframe: none\n")  # with new pins the acceptance holds
        self.run_twinstack("accept", "--update", "it", "--known", self.known, "--db", self.db)
        self.assertEqual(self.verdicts(self.take("-k", "wrong")[0]), [("wrong", 0, "XFAIL")])
        accept("error.ob2", what="*")
        self.assertEqual(self.verdicts(self.take("-k", "error", exit_code=3)[0]), [("error", 0, "ERROR")])

    def start(self, *argv, jobs=1):
        return subprocess.Popen([e2e.PROGRAM, *map(str, self.words(*argv, jobs=jobs))], cwd=e2e.ROOT, text=True,
                                env={**os.environ, **self.env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def stop_in_the_middle(self, number, *argv, meanwhile=None, jobs=1):
        """Sends the signal once one case is sealed and the next one runs; returns the exit status."""
        (self.folder / "bin/wait").touch()
        child = self.child = self.start(*argv, jobs=jobs)
        end = time.monotonic() + 60 * e2e.PATIENCE
        while not (self.folder / "bin/waiting").exists() and child.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        if meanwhile is not None:
            meanwhile()
        child.send_signal(number)
        self.said = child.communicate(timeout=90 * e2e.PATIENCE)[1]
        (self.folder / "bin/waiting").unlink()
        (self.folder / "bin/wait").unlink()
        return child.returncode

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
        self.known.write_text(f"[it]\nscope: wrong.ob2\ncause: *=*\nreason: r\nexpires: {SOON}\n")

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
