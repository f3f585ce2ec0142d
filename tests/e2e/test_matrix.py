"""Every scenario under Wine, each in one of the four builds in turn, captured both ways and judged;
has a Wine prefix to itself.

A scenario with an unexpected result is reported, run twice more, and must be right both times: on a
busy machine one capture may exceed its time limit, but nothing may be wrong twice. ./run runs every
scenario in every build."""

import collections
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

VICTIMS = pathlib.Path(os.environ.get("TWINSTACK_VICTIMS", e2e.BUILD / "victims")) / "bin"
PREFIX = os.environ.get("WINEPREFIX", str(e2e.BUILD / "wine"))
VARIANTS = ["ob0", "ob1", "ob2", "ob2-fp"]
LEAST_A_VARIANT = 6
FINE = {"PASS", "XFAIL", "UNSUPPORTED", "NOT-CAPTURED-AS-EXPECTED"}
X86_VARIANTS = ["x86-ob0", "x86-ob2"]  # need 32-bit Wine
X86_SCENARIOS = ["null_write", "inline_chain", "recursion", "crash_in_dll", "second_thread", "sleep_forever"]
AGAIN_MOST = 8  # more than that is not chance
SLOWEST_SHOWN = 10


class Matrix(e2e.Case):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("wine") or not all((VICTIMS / f"victims-{v}.exe").is_file() for v in VARIANTS):
            raise e2e.unittest.SkipTest("no Wine, or the Windows programs are not built")
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.cases = []
        for turn, variant in enumerate(VARIANTS, 1):
            cls.cases += cls.take(variant, "--variant", variant, "--shard", f"{turn}/{len(VARIANTS)}")

    @classmethod
    def take(cls, name, *options):
        done = e2e.twinstack("run", *options, "--victims", VICTIMS, "--prefix", PREFIX, "--out", cls.folder / name, "--db",
                             cls.folder / f"{name}.db", "--keep", "failed", "--no-judges", "--json", limit_s=600)
        if done.returncode not in (0, 1):
            raise AssertionError(f"exit status {done.returncode}\n{done.stderr[-3000:]}")
        return e2e.json.loads(done.stdout)["cases"]

    def test_each_scenario_once_and_each_variant_often(self):
        taken = collections.Counter(c["scenario"] for c in self.cases)
        sources = {p.stem for kind in ("crash", "hang", "calm") for p in (e2e.ROOT / "victims" / kind).glob("*.c*")}
        self.assertEqual(set(taken), sources)
        self.assertEqual(set(taken.values()), {1})
        for variant, count in collections.Counter(c["variant"] for c in self.cases).items():
            self.assertGreaterEqual(count, LEAST_A_VARIANT, variant)

    def test_each_comes_out_as_expected(self):
        wrong = [c for c in self.cases if c["verdict"] not in FINE]
        self.assertLessEqual(len(wrong), AGAIN_MOST, [(c["scenario"], c["variant"], c["verdict"]) for c in wrong])
        for case in wrong:
            with self.subTest(scenario=case["scenario"], variant=case["variant"]):
                said = f"{case['scenario']}.{case['variant']}: {case['verdict']} ({case['reason']})"
                print(f"again: {said}")
                again = [c for c in self.take(f"again-{case['scenario']}", "--variant", case["variant"], "-k",
                                              f"{case['scenario']}.{case['variant']}", "--repeat", "2")
                         if (c["scenario"], c["variant"]) == (case["scenario"], case["variant"])]
                self.assertEqual({c["verdict"] for c in again} - FINE, set(), said)

    def test_32_bits(self):
        for variant in X86_VARIANTS:
            if not (VICTIMS / f"victims-{variant}.exe").is_file():
                self.skipTest("no 32-bit Wine, so no x86 victims")
            cases = [c for c in self.take(variant, "--variant", variant, "-k", " or ".join(X86_SCENARIOS))
                     if c["scenario"] in X86_SCENARIOS]
            self.assertEqual(len(cases), LEAST_A_VARIANT, variant)
            if {c["reason"] for c in cases} == {"no wine32"}:
                self.skipTest("no wine32")
            for case in cases:
                with self.subTest(scenario=case["scenario"], variant=variant):
                    self.assertIn(case["verdict"], FINE - {"UNSUPPORTED"}, case["reason"])

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
