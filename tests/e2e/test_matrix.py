"""Every scenario under Wine, captured and judged; has a Wine prefix to itself. In ob2 each is captured both ways, in ob0 by
offsets alone, since MiniDumpWriteDump takes two thirds of the time. `./run soak matrix` takes every build both ways, as ./run does,
those for x86 too, of which seven scenarios are taken here.
With the argument I/N it does the I-th of N parts of the builds.

Only this test finds a scenario that one of the two walks gets wrong: all others take a handful of them.

A scenario with an unexpected result is reported, run twice more, and must be right both times: on a
busy machine one capture may exceed its time limit, but nothing may be wrong twice."""

import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

VICTIMS = pathlib.Path(os.environ.get("TWINSTACK_VICTIMS", e2e.BUILD / "victims")) / "bin"
PREFIX = os.environ.get("WINEPREFIX", str(e2e.BUILD / "wine"))
VARIANTS = ["ob2", "ob0", "ob1", "ob2-fp"] if e2e.SOAK else ["ob2", "ob0"]
BOTH_WAYS = VARIANTS if e2e.SOAK else ["ob2"]
FINE = {"PASS", "XFAIL", "UNSUPPORTED", "NOT-CAPTURED-AS-EXPECTED"}
X86_VARIANTS = ["x86-ob0", "x86-ob2"]  # need 32-bit Wine
X86_SCENARIOS = ["null_write", "inline_chain", "recursion", "crash_in_dll", "second_thread", "sleep_forever", "stack_of_own"]
AGAIN_MOST = 8  # more than that is not chance
SLOWEST_SHOWN = 10


class Matrix(e2e.Case):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("wine") or not all((VICTIMS / f"victims-{v}.exe").is_file() for v in VARIANTS):
            raise e2e.unittest.SkipTest("no Wine, or the Windows programs are not built")
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.cases, cls.wanted = [], {}
        part, parts = e2e.part()
        for variant in VARIANTS[part - 1::parts]:
            listed = e2e.twinstack("list", "--json", "--victims", VICTIMS, "--prefix", PREFIX)
            cls.wanted[variant] = [s["name"] for s in e2e.json.loads(listed.stdout)["scenarios"] if s["variant"] == variant]
            cls.cases += cls.take(variant, "--variant", variant, dumps=variant in BOTH_WAYS)

    @classmethod
    def take(cls, name, *options, dumps=True):
        env = {} if dumps else {"TWINSTACK_OFFSETS_ONLY": "1"}
        done = e2e.twinstack("run", *options, "--victims", VICTIMS, "--prefix", PREFIX, "--out", cls.folder / name, "--db",
                             cls.folder / f"{name}.db", "--keep", "failed", "--no-judges", "--json", limit_s=900, env=env)
        if done.returncode not in (0, 1):
            raise AssertionError(f"exit status {done.returncode}\n{done.stderr[-3000:]}")
        return e2e.json.loads(done.stdout)["cases"]

    def test_each_scenario_in_each_build(self):
        sources = {p.stem for kind in ("crash", "hang", "calm") for p in (e2e.ROOT / "victims" / kind).glob("*.c*")}
        for variant, wanted in self.wanted.items():
            taken = [c["scenario"] for c in self.cases if c["variant"] == variant]
            self.assertEqual(sorted(taken), sorted(wanted))
            self.assertEqual(set(taken), sources)

    def test_each_comes_out_as_expected(self):
        wrong = [c for c in self.cases if c["verdict"] not in FINE and (c["variant"] in BOTH_WAYS or not self.lacks_only_a_dump(c))]
        self.assertLessEqual(len(wrong), AGAIN_MOST, [(c["scenario"], c["variant"], c["verdict"]) for c in wrong])
        for case in wrong:
            with self.subTest(scenario=case["scenario"], variant=case["variant"]):
                said = f"{case['scenario']}.{case['variant']}: {case['verdict']} ({case['reason']})"
                print(f"again: {said}")
                again = [c for c in self.take(f"again-{case['scenario']}", "--variant", case["variant"], "-k",
                                              f"{case['scenario']}.{case['variant']}", "--repeat", "2")
                         if (c["scenario"], c["variant"]) == (case["scenario"], case["variant"])]
                self.assertEqual({c["verdict"] for c in again} - FINE, set(), said)

    @staticmethod
    def lacks_only_a_dump(case):
        failing = [(f["engine"], f["cause"]) for f in case["findings"] if f["fails"]]
        return case["verdict"] == "FAIL" and set(failing) == {("dump", "not_captured")} and case["reason"].startswith("dump, not_captured")

    def test_a_wrong_walk_is_no_missing_dump(self):
        missing = {"engine": "dump", "cause": "not_captured", "fails": True}
        for verdict, more, want in (("FAIL", [], True), ("ERROR", [], False),
                                    ("FAIL", [{"engine": "offset:rtl", "cause": "truncated", "fails": True}], False)):
            case = {"verdict": verdict, "reason": "dump, not_captured: the case has no dump", "findings": [missing, *more]}
            self.assertEqual(self.lacks_only_a_dump(case), want)

    def test_32_bits(self):
        if e2e.part()[0] != e2e.part()[1]:
            return  # the last one has them
        for variant in X86_VARIANTS:
            if not (VICTIMS / f"victims-{variant}.exe").is_file():
                self.skipTest("no 32-bit Wine, so no x86 victims")
            chosen = [] if e2e.SOAK else ["-k", " or ".join(X86_SCENARIOS)]
            cases = [c for c in self.take(variant, "--variant", variant, *chosen) if e2e.SOAK or c["scenario"] in X86_SCENARIOS]
            self.assertEqual(sorted(c["scenario"] for c in cases if c["scenario"] in X86_SCENARIOS), sorted(X86_SCENARIOS), variant)
            if {c["reason"] for c in cases} == {"no wine32"}:
                self.skipTest("no wine32")
            for case in cases:
                with self.subTest(scenario=case["scenario"], variant=variant):
                    self.assertIn(case["verdict"], FINE - ({"UNSUPPORTED"} if case["scenario"] in X86_SCENARIOS else set()), case["reason"])

    def test_unsupported_says_why(self):
        for case in self.cases:
            if case["verdict"] == "UNSUPPORTED":
                self.assertTrue(case["reason"], case["scenario"])

    def test_zz_slowest(self):
        slowest = sorted(self.cases, key=lambda c: -c["wall_ms"])[:SLOWEST_SHOWN]
        print("slowest: " + ", ".join(f"{c['scenario']}.{c['variant']} {c['wall_ms'] / 1000:.1f} s" for c in slowest))
        self.assertGreater(slowest[0]["wall_ms"], 0)


if __name__ == "__main__":
    e2e.main()
