"""Generated code, in offset stacks and in dumps: captured under Wine; has a Wine prefix to itself.

The code has a function table in one scenario and none in the other. Both ways must show the frame under
the name that the program registered, and continue below it or end there and report a hole. ./run covers
the other kinds too."""

import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

VICTIMS = pathlib.Path(os.environ.get("TWINSTACK_VICTIMS", e2e.BUILD / "victims")) / "bin"
PREFIX = os.environ.get("WINEPREFIX", str(e2e.BUILD / "wine"))
SYSTEM = pathlib.Path("/usr/lib/x86_64-linux-gnu/wine/x86_64-windows/ntdll.dll")
# scenario: its frames from the top, with the names that both ways must give
CROSSED = {
    "generated_table": ["poke", "jit!generated_call", "run_generated_table"],
    "generated_callback": ["poke", "jit!generated_call", "run_generated_callback"],
    "generated_between": ["loop", "jit!generated_call", "run_generated_between"],
}
HOLE = ["loop", "jit!generated_hole"]


def named(frames):
    return [("jit!" if f["module"] == "jit" else "") + (f["function"] or "?") for f in frames]


class Generated(e2e.Case):
    @classmethod
    def setUpClass(cls):
        cls.there = bool(shutil.which("wine")) and (VICTIMS / "victims-ob2.exe").is_file()
        if not cls.there:
            return
        cls.folder = tempfile.TemporaryDirectory()
        cls.out = pathlib.Path(cls.folder.name)
        done = e2e.twinstack("run", "--variant", "ob2", "-k", f"({' or '.join([*CROSSED, 'generated_hole'])})", "--victims", VICTIMS, "--prefix", PREFIX, "--out",
                             cls.out, "--db", cls.out / "run.db", "--no-judges", "--json", limit_s=240)
        cls.code, cls.said = done.returncode, done.stdout[-2000:] + done.stderr[-2000:]
        if cls.code not in (0, 1):
            raise AssertionError(f"exit status {cls.code}\n{cls.said}")

    @classmethod
    def tearDownClass(cls):
        if cls.there:
            cls.folder.cleanup()

    def setUp(self):
        if not self.there:
            self.skipTest("no Wine, or the Windows programs are not built")

    def both(self, scenario):
        """The suspect's stack: the one recorded by rtl, and the one from the dump."""
        case = self.out / "cases" / f"{scenario}.ob2"
        symbols = ("--symbols", self.out / "symbols")
        lines = self.run_twinstack("resolve", *symbols, "--ndjson", case / "record.rec").stdout.splitlines()
        dump = self.run_json("dump", *symbols, "--stacks", "--json", case / "dump.dmp")
        suspect = next(t for t in dump["threads"] if t["role"] == "suspect")
        return e2e.json.loads(lines[0]), {"stop": suspect["stop"], **suspect["stack"]}

    def test_every_frame_from_main_to_the_thread_start_has_a_name(self):
        """Frames of the C runtime too, and those of the system, although no option names its folders."""
        if not SYSTEM.is_file():
            self.skipTest("this Wine has no modules with symbols")
        dump = self.run_json("dump", "--symbols", self.out / "symbols", "--stacks", "--json",
                             self.out / "cases/generated_table.ob2/dump.dmp", env={"TWINSTACK_SYSTEM_SYMBOLS": "1"})
        names = named(next(t for t in dump["threads"] if t["role"] == "suspect")["stack"]["frames"])
        self.assertEqual(names[names.index("main"):], ["main", "__tmainCRTStartup", "mainCRTStartup", "BaseThreadInitThunk",
                                                       "RtlUserThreadStart"])

    def test_both_ways_pass(self):
        self.assertEqual(self.code, 0, self.said)

    def test_both_ways_cross_and_name_it(self):
        for scenario, want in CROSSED.items():
            with self.subTest(scenario=scenario):
                offset, dump = self.both(scenario)
                self.assertEqual(named(offset["frames"])[:len(want)], want)
                self.assertEqual(named(dump["frames"])[:len(want)], want)
                self.assertEqual(*([f["offset"] for f in s["frames"] if f["module"] == "jit"] for s in (offset, dump)))
                self.assertIn("main", named(offset["frames"]))
                self.assertIn("main", named(dump["frames"]))

    def test_a_hole_is_called_one(self):
        offset, dump = self.both("generated_hole")
        self.assertEqual(named(offset["frames"]), HOLE)
        self.assertEqual(named(dump["frames"]), HOLE)
        self.assertIn("hole", dump["stop"])


if __name__ == "__main__":
    e2e.main()
