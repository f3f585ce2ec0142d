"""`run` as a whole without Wine: outcomes, repeats, order, the commit, files left on disk, acceptances."""

import contextlib
import datetime
import pathlib
import signal
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import made_run  # noqa: E402


class RunOutcomes(made_run.Case):
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
        self.known.write_text("[f]\nscope: flaky.*\ncause: flaky *=*\nreason: r\nexpires: " + made_run.SOON + "\n")
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

    def test_an_interrupted_run_goes_on_as_the_same_run_only(self):
        self.env |= {"GIT_DIR": str(self.folder / "none"), "GITHUB_SHA": "ab" * 20}
        self.assertEqual(self.stop_in_the_middle(signal.SIGINT, "-k", "good or slow"), 130)
        self.assertIn(f"`twinstack run --resume 1 --db {self.db}` goes on", self.said)
        self.order()
        words = ("run", "--resume", "last", "--db", self.db)
        done = self.run_twinstack(*words, env={**self.env, "GITHUB_SHA": "cd" * 20}, exit_code=2)
        self.assertRegex(done.stderr, r"(?s)commit.*it cannot go on as the same run: begin a new one")
        with contextlib.closing(sqlite3.connect(self.db)) as db, db:  # as of a machine that was switched off: no one can say whether it goes on
            db.execute("UPDATE run SET state = 'running'")
            db.execute("UPDATE run_note SET name = '1@elsewhere' WHERE kind = 'process'")
        self.assertIn("PASS   2 cases", self.run_twinstack(*words, env=self.env).stdout)
        self.assertEqual(self.order(), ["slow"], "what was sealed is not run again")

    def test_keep_failed(self):
        for keep, names in (("failed", ["wrong.ob2"]), ("all", ["good.ob2", "wrong.ob2"])):
            self.take("-k", "good or wrong", "--keep", keep, "--out", self.folder / keep, exit_code=1)
            self.assertEqual(sorted(p.name for p in (self.folder / keep / "cases").iterdir()), names)

    def test_acceptances(self):
        cause = next(c for c in self.take("-k", "wrong", exit_code=1)[0]["cases"])["signature"]

        def accept(scope, until=made_run.SOON, what=cause, pins="pins: offset:rtl=99/99 dump=99/99\nframe: *\n"):
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
        accept("good.ob2")  # which nothing needs, so the file is not written
        before = self.known.stat().st_mtime_ns
        self.assertIn("0 pinned in", self.run_twinstack("accept", "--update", "it", "--known", self.known, "--db", self.db).stdout)
        self.assertEqual(self.known.stat().st_mtime_ns, before)
        accept("error.ob2", what="*")
        self.assertEqual(self.verdicts(self.take("-k", "error", exit_code=3)[0]), [("error", 0, "ERROR")])


e2e.main()
