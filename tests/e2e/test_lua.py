"""A crash inside a real program, Lua, captured both ways under Wine and judged; has a Wine prefix to itself."""

import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

VICTIMS = pathlib.Path(os.environ.get("TWINSTACK_VICTIMS", e2e.BUILD / "victims")) / "bin"
PREFIX = os.environ.get("WINEPREFIX", str(e2e.BUILD / "wine"))
VARIANTS = ["lua-ob0", "lua-ob2"]


class Lua(e2e.Case):
    def test_each_frame_of_a_large_program_is_exact(self):
        if not shutil.which("wine"):
            self.skipTest("no Wine")
        if not all((VICTIMS / f"victims-{v}.exe").is_file() for v in VARIANTS):
            self.skipTest("no victims-lua: Debian's source of Lua cannot be fetched, see build/log/lua-source.log")
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_json("run", "--variant", VARIANTS[0], "--variant", VARIANTS[1], "--victims", VICTIMS, "--prefix", PREFIX,
                                 "--out", f"{folder}/out", "--db", f"{folder}/lua.db", "--no-judges", "--json", limit_s=300)
        self.assertEqual([(c["variant"], c["verdict"]) for c in done["cases"]], [(v, "PASS") for v in VARIANTS])
        for case in done["cases"]:
            exact = {s["engine"]: s["exact"] for s in case["scores"] if s["subject"] and s["truth_frames"] == 22}
            self.assertEqual(exact, {"offset:rtl": True, "dump": True}, case["variant"])


e2e.main()
