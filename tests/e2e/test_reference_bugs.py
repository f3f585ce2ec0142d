"""The folders of corpus/reference/bugs: each is what corpus/reference_bugs.py makes of BUGS.md, its case is one of the suite, and its
command shows the fault where the tool is on this machine.

Only this runs the commands that BUGS.md promises."""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

sys.path.insert(0, str(e2e.ROOT / "corpus"))
import reference_bugs  # noqa: E402

FOLDER = e2e.ROOT / "corpus/reference"
# What $MICROSOFT names in a command: Microsoft's files, and the program that asks dbgeng.
MICROSOFT, ENGINE = e2e.DEBUGGER / "amd64", e2e.BUILD / "victims/bin/twinstack-dbgeng.exe"
STACKWALK = e2e.BUILD / "tools/node_modules/minidump/bin/linux-x64"
PREFIX = os.environ.get("WINEPREFIX", str(e2e.BUILD / "wine"))


def command(bug):
    return re.search(r"(?s)```sh\n(.*?)```", (FOLDER / "bugs" / bug.name / "README.md").read_text(encoding="utf-8"))[1]


def is_here(bug, path):
    wanted = [MICROSOFT / "msdia140.dll"] * ("$MICROSOFT" in bug.command) + [ENGINE] * ("twinstack-dbgeng" in bug.command)
    return shutil.which(bug.tool, path=path) and (bug.tool != "wine" or os.path.isdir(PREFIX)) and all(file.is_file() for file in wanted)


class Bugs(e2e.Case):
    def test_the_folders_are_made_of_the_page_and_the_suite(self):
        there = {f.relative_to(FOLDER / "bugs").as_posix(): f.read_text(encoding="utf-8") for f in (FOLDER / "bugs").rglob("*") if f.is_file()}
        self.assertEqual(there, reference_bugs.files(FOLDER), "run corpus/reference_bugs.py")
        self.assertGreaterEqual(len(reference_bugs.BUGS), 10)
        self.assertEqual(len({bug.number for bug in reference_bugs.BUGS}), len(reference_bugs.BUGS))
        for bug in reference_bugs.BUGS:
            self.assertEqual(subprocess.run(["bash", "-n"], input=command(bug), text=True, check=False).returncode, 0, bug.name)

    def test_what_shows_a_fault_does_not_show_its_absence(self):
        self.assertEqual([bug.name for bug in reference_bugs.BUGS if bug.shows in bug.right or bug.right in bug.shows], [])

    def test_each_command_shows_its_fault(self):
        asked = 0
        env = {**os.environ, "WINEPREFIX": PREFIX, "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml,winedbg.exe=", "MICROSOFT": str(self.folder),
               "PATH": f"{os.environ['PATH']}:{STACKWALK}"}
        for file in (ENGINE, *MICROSOFT.glob("*.dll")):
            if file.is_file():
                shutil.copy(file, self.folder)
        for bug in reference_bugs.BUGS:
            if not is_here(bug, env["PATH"]):
                continue
            asked += 1
            with self.subTest(bug.name), e2e.wine_session(env) if bug.tool == "wine" else contextlib.nullcontext():
                script = command(bug).replace("/tmp/", f"{self.folder}/")
                done = subprocess.run(["bash", "-c", script], cwd=FOLDER / "bugs" / bug.name, capture_output=True, text=True, check=False, env=env,
                                      timeout=60 * e2e.PATIENCE)
                said = done.stdout + done.stderr
                if bug.shows not in said and bug.right in said:
                    continue  # another version, which mends it
                self.assertIn(bug.shows, said)
                self.assertNotIn(bug.right, said)
        if not asked:
            self.skipTest("none of the tools is here")


if __name__ == "__main__":
    e2e.main()
