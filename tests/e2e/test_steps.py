"""The walk at every instruction, made under Wine in every build; has a Wine prefix to itself.

`dbghelp` in the article's form reads memory through the Wine server and takes a minute for one
build, so only ./run includes it. `dbghelp-own`, which is tested here, walks in the same way."""

import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

VICTIMS = pathlib.Path(os.environ.get("TWINSTACK_VICTIMS", e2e.BUILD / "victims")) / "bin"
PREFIX = os.environ.get("WINEPREFIX", str(e2e.BUILD / "wine"))
X86 = [v for v in ("x86-o0", "x86-ob0", "x86-ob2") if (VICTIMS / f"steps-{v}.exe").is_file()]
VARIANTS = ["o0", "ob0", "ob2", "ob2-fp", *X86]
WALKERS = ["rtl", "dbghelp-own", "backtrace", "framepointer"]
SYSTEM_SHARE = 0.98  # share of all instructions at which the system's own unwinders are right
# By the chain of frame pointers, and with a search for return addresses: measured 0.72 and 0.90, 0.66 and 0.88.
X86_SHARES = {"x86-o0": (0.65, 0.85), "x86-ob0": (0.60, 0.80)}


class Steps(e2e.Case):
    @classmethod
    def setUpClass(cls):
        cls.runs = None
        if shutil.which("wine") and (VICTIMS / "steps-ob2.exe").is_file():
            with tempfile.TemporaryDirectory() as out:
                done = e2e.twinstack("steps", "--victims", VICTIMS, "--prefix", PREFIX, "--out", out, "--walkers",
                                     ",".join(WALKERS), "--json", "--progress", "bar", limit_s=240)
            cls.code, cls.said = done.returncode, done.stderr
            runs = e2e.json.loads(done.stdout)["runs"]
            cls.runs = {run["name"]: run for run in runs}

    def x64(self):
        return [(name, run) for name, run in self.runs.items() if name not in X86]

    def setUp(self):
        if self.runs is None:
            self.skipTest("no Wine, or the Windows programs are not built")

    def test_every_build_was_stepped_through(self):
        self.assertEqual(sorted(self.runs), VARIANTS, self.said)
        for name, run in self.runs.items():
            with self.subTest(build=name):
                self.assertGreater(run["instructions"], 1000)
                # x86 has no tables to unwind by, and frame data in PDBs alone
                there = ["ours-no-pdb", *WALKERS[1:]] if name in X86 else WALKERS
                self.assertEqual([w["walker"] for w in run["walkers"]], ["ours", *there])
                for w in run["walkers"]:
                    self.assertEqual(w["right"] + w["early"] + w["wrong"], run["instructions"])

    def test_without_a_list_all_walkers_that_can_step(self):
        done = e2e.twinstack("steps", "--victims", VICTIMS, "--prefix", PREFIX, "--out", self.folder, "--variant", "ob2",
                             "--json", limit_s=240)
        self.assertEqual(done.returncode, 0, done.stderr)
        walkers = [w["walker"] for w in e2e.json.loads(done.stdout)["runs"][0]["walkers"]]
        self.assertEqual(sorted(walkers), sorted(["ours", "dbghelp", *WALKERS]))

    def test_it_says_which_build_is_walked(self):
        for name in VARIANTS:
            self.assertIn(f"walking at every instruction: {name}", self.said)

    def test_ours_is_right_at_every_instruction(self):
        self.assertEqual(self.code, 0, self.said)
        for name, run in self.runs.items():
            ours = run["walkers"][0]
            self.assertEqual((ours["right"], ours["first"]), (run["instructions"], None), f"{name}: {ours['first']}")

    def test_the_system_is_right_but_for_how_functions_are_left(self):
        for name, run in self.x64():
            for walker in run["walkers"][1:4]:
                with self.subTest(build=name, walker=walker["walker"]):
                    self.assertGreater(walker["right"], run["instructions"] * SYSTEM_SHARE)
                    if walker["right"] < run["instructions"]:
                        first = walker["first"]
                        self.assertRegex(first["function"], r"tail_|_interrupt_|listed_epilogue")
                        self.assertRegex(first["instruction"], r"jmp|pop|iret|ret")
                        self.assertEqual(first["truth"][0], first["claim"][0])

    def test_x86_is_right_where_frame_pointers_are_kept(self):
        for name in X86:
            walkers = {w["walker"]: w["right"] / self.runs[name]["instructions"] for w in self.runs[name]["walkers"]}
            chain, searched = X86_SHARES.get(name, (0, 0))  # ob2 keeps none
            for walker in WALKERS[1:]:
                with self.subTest(build=name, walker=walker):
                    self.assertGreater(walkers[walker], chain)
                    self.assertLess(walkers[walker], walkers["ours-no-pdb"])
            self.assertGreater(walkers["ours-no-pdb"], searched)

    def test_frame_pointers_do_not_reach_the_threads_start(self):
        for name, run in self.x64():
            walker = run["walkers"][4]
            self.assertEqual(walker["right"], 0, name)
            self.assertGreater(walker["wrong"], 0, name)


if __name__ == "__main__":
    e2e.main()
