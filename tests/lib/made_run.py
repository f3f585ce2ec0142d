"""Runs without Wine: the files that Wine would leave are copied from a sealed case."""

import datetime
import json
import os
import shutil
import subprocess
import sys
import time

import e2e

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


class Case(e2e.Case):
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
