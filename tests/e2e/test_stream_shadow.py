"""The shadow comparison: sampled reports with a record and a dump are judged like a case without a truth, also by another resolver."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import record_maker  # noqa: E402
import stream_pipeline  # noqa: E402

CASES = e2e.ROOT / "corpus/cases"
OTHER = """
import json, sys
case = json.loads(sys.stdin.readline())
frames = [{"index": 0, "inline_depth": 0, "module": "victims-ob2.exe", "offset": "0x1000", "function": "somewhere_else", "file": None, "line": None,
           "inlined": False}]
print(json.dumps({"schema_version": 1, "threads": [{"id": 1, "crashed": True, "frames": frames}]}))
"""


class Shadow(stream_pipeline.Pipeline):
    """The queue is a folder."""

    def sampling(self, *more):
        return ("--sample", "100%", "--dumps", self.folder / "spool/dumps", *more)

    def work(self, *more):
        return self.run_twinstack("worker", "--queue", self.queue, "--symbols", stream_pipeline.SYMBOLS, "--idle", "100ms", *more,
                                  env={"TWINSTACK_SYSTEM_SYMBOLS": "0"}, limit_s=120)

    def reduce(self):
        return self.run_twinstack("reduce", "--queue", self.queue, "--totals", self.totals, "--idle", "100ms")

    def send(self, name, case, dump=True):
        folder = CASES / case
        if dump:
            self.assertEqual(self.post(f"id={name}&kind=dump", (folder / "dump.dmp").read_bytes()), 200)
        self.assertEqual(self.post(f"id={name}&version=1.0", (folder / "record.rec").read_bytes()), 200)

    def test_a_record_and_its_dump_are_judged(self):
        self.start_server()
        self.send("a", "null_write.ob2")
        self.send("b", "null_write.ob2")
        self.send("c", "null_write.ob2", dump=False)
        self.assertIn("2 judged", self.work(*self.sampling()).stderr)
        self.reduce()
        data = self.problems()
        shadow = data["shadow"]
        engines = {row["engine"]: row for row in shadow["engines"]}
        self.assertEqual((data["stacks"], shadow["reports"]), (3, 2))
        self.assertIsNone(engines["offset:rtl"]["against"])
        dump = engines["dump"]
        self.assertEqual((dump["against"], dump["same"]), ("offset:rtl", 2), shadow["causes"])
        self.assertGreater(dump["median_ns"], 0)
        self.assertEqual([(row["judged"], row["agreed"]) for row in dump["hours"]], [(2, 2)])
        self.assertEqual((data["problems"][0]["judged"], data["problems"][0]["agreed"]), (2, 2))
        # the same again: nothing changes
        self.send("a", "null_write.ob2")
        self.work(*self.sampling())
        self.reduce()
        self.assertEqual(self.problems()["shadow"], shadow)
        self.assertEqual(self.problems("?version=2.0")["shadow"]["reports"], 0)

    def test_what_is_compared_is_judged_and_nothing_else(self):
        """x86, which rtl does not walk, by the best walker that the record has; a record without any stack says nothing."""
        self.start_server()
        self.send("x86", "throw_uncaught.x86-ob2")
        self.assertEqual(self.post("id=none&kind=dump", b"MDMP" + bytes(100)), 200)
        self.assertEqual(self.post("id=none", record_maker.record(record_maker.stack([], state=record_maker.BLOCKED))), 200)
        self.work(*self.sampling())
        self.reduce()
        data = self.problems()
        engines = {row["engine"]: row for row in data["shadow"]["engines"]}
        walked = engines["offset:framepointer"]
        self.assertEqual((walked["against"], walked["same"], walked["differs"], walked["failed"]), ("dump", 0, 1, 0))
        self.assertEqual({row["verdict"]: row["count"] for row in data["shadow"]["verdicts"]}, {"PASS": 1, "not judged": 1})
        self.assertEqual([(row["signature"], row["count"]) for row in data["problems"]], [("(no frames)", 1), ("victims-x86-ob2.exe!0x3901", 1)])

    def test_a_dump_of_another_crash_is_named_so(self):
        self.start_server()
        for name, case in (("same", "null_write.ob2"), ("other", "recursion.ob2")):
            self.assertEqual(self.post(f"id={name}&kind=dump", (CASES / case / "dump.dmp").read_bytes()), 200)
            self.send(name, "null_write.ob2", dump=False)
        self.work(*self.sampling())
        self.reduce()
        shadow = self.problems()["shadow"]
        dump = {row["engine"]: row for row in shadow["engines"]}["dump"]
        self.assertEqual((dump["same"], dump["differs"]), (1, 1))
        self.assertEqual([(row["cause"], row["module"], row["count"], row["report"]) for row in shadow["causes"] if row["engine"] == "dump"],
                         [("another crash", None, 1, "alice-other")])

    def test_another_resolver_runs_beside_ours(self):
        other = self.folder / "other.py"
        other.write_text(OTHER)
        self.start_server()
        self.send("a", "null_write.ob2")
        self.work(*self.sampling("--also", f"other={sys.executable} {other}"))
        self.reduce()
        shadow = self.problems()["shadow"]
        found = {row["engine"]: row for row in shadow["engines"]}["judge:other"]
        self.assertEqual((found["against"], found["differs"], found["failed"]), ("offset:rtl", 1, 0))
        cause = [row for row in shadow["causes"] if row["engine"] == "judge:other"]
        self.assertEqual((len(cause), cause[0]["count"], cause[0]["report"]), (1, 1, "alice-a"))
        self.assertTrue(cause[0]["cause"])

    def test_another_resolver_that_fails_is_counted_and_delays_nothing(self):
        self.start_server()
        self.send("a", "null_write.ob2")
        self.work(*self.sampling("--also", "broken=/bin/false"))
        self.reduce()
        data = self.problems()
        self.assertEqual(data["stacks"], 1)
        self.assertEqual({row["engine"]: row["failed"] for row in data["shadow"]["engines"]}["judge:broken"], 1)

    def test_a_hostile_dump_is_a_failure_and_no_dead_letter(self):
        self.start_server()
        self.assertEqual(self.post("id=x&kind=dump", b"MDMP" + bytes(range(256)) * 40), 200)
        self.send("x", "null_write.ob2", dump=False)
        self.assertIn("0 dead letters", self.work(*self.sampling()).stderr)
        self.reduce()
        self.assertEqual({row["engine"]: row["failed"] for row in self.problems()["shadow"]["engines"]}["dump"], 1)

    def test_the_id_decides_what_is_sampled(self):
        self.start_server()
        names = [f"r{i}" for i in range(40)]
        for name in names:
            self.send(name, "null_write.ob2")
        self.work("--sample", "25%", "--dumps", self.folder / "spool/dumps")
        self.reduce()
        first = self.problems()["shadow"]["reports"]
        self.assertGreater(first, 3)
        self.assertLess(first, 25)
        # the same ids through another queue and into other totals
        self.queue, self.totals = str(self.folder / "second"), self.folder / "second.db"
        self.start_server()
        for name in reversed(names):
            self.send(name, "null_write.ob2")
        self.work("--sample", "25%", "--dumps", self.folder / "spool/dumps")
        self.reduce()
        self.assertEqual(self.problems()["shadow"]["reports"], first)

    def test_the_gate_asks_for_agreement(self):
        other = self.folder / "other.py"
        other.write_text(OTHER)
        self.start_server()
        self.run_twinstack("gate", "--shadow", self.totals, exit_code=3)  # no totals yet
        self.reduce()
        self.assertIn("0 were judged", self.run_twinstack("gate", "--shadow", self.totals, exit_code=1).stdout)
        self.send("a", "null_write.ob2")
        self.work(*self.sampling())
        self.reduce()
        good = self.run_twinstack("gate", "--shadow", self.totals)
        self.assertIn("gate of the sampled reports: open", good.stdout)
        self.run_twinstack("gate", "--shadow", self.totals, "--strict", exit_code=1)  # one report is too few
        self.send("b", "null_write.ob2")
        self.work(*self.sampling("--also", f"other={sys.executable} {other}"))
        self.reduce()
        self.assertIn("judge:other", self.run_twinstack("gate", "--shadow", self.totals, exit_code=1).stdout)
        found = json.loads(self.run_twinstack("gate", "--shadow", self.totals, "--min-agreement", "0%", "--json").stdout)
        self.assertEqual((found["open"], found["run"]), (True, None))

    def test_what_makes_no_sense_is_refused(self):
        for argv in (("--sample", "1%"), ("--also", "x=y"), ("--dumps", "."), ("--sample", "many", "--dumps", "."),
                     ("--sample", "1%", "--dumps", ".", "--also", "")):
            with self.subTest(argv=argv):
                self.run_twinstack("worker", "--queue", self.queue, "--symbols", stream_pipeline.SYMBOLS, *argv, exit_code=2)
        self.run_twinstack("gate", "--min-agreement", "99%", exit_code=2)


if __name__ == "__main__":
    e2e.main()
