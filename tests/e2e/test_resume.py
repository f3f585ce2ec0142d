"""A run that is stopped, by Ctrl-C or by force, continues as the same run: no case is run twice. It
has a Wine prefix to itself."""

import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

VICTIMS = pathlib.Path(os.environ.get("TWINSTACK_VICTIMS", e2e.BUILD / "victims/bin"))
PREFIX = pathlib.Path(os.environ.get("WINEPREFIX", e2e.BUILD / "wine"))
ENV = {"TWINSTACK_VICTIMS": str(VICTIMS), "WINEPREFIX": str(PREFIX)}
# Wine, but a victim starts only when it can take away the file `go-on` of the test, which so decides how many end. A victim that Wine did
# not start is started again by the run, and has gone on already.
WINE = """#!/bin/sh
here=${0%/*}
case "$*" in *--out*)
  gone=$here/gone-$(printf %s "$*" | cksum | tr -d ' ')
  until [ -e "$gone" ] || mv "$here/go-on" "$gone" 2>/dev/null || [ -e "$here/all" ]; do
    kill -0 $PPID 2>/dev/null || exit 1 # the run is killed
    sleep 0.05
  done
esac
exec "$TEST_WINE" "$@"
"""
OPTIONS = ["-k", "null_write.ob0 or null_read.ob0", "--repeat", "2", "-j", "1", "--no-judges"]


class Resume(e2e.Case):
    def setUp(self):
        if shutil.which("wine") is None or not (VICTIMS / "twinstack-launch.exe").exists() or not PREFIX.is_dir():
            self.skipTest("no Wine, no built victims, or no prefix")
        self.db = self.folder / "runs.db"
        wine = self.folder / "bin/wine"
        wine.parent.mkdir()
        wine.write_text(WINE)
        wine.chmod(0o755)
        self.env = {**ENV, "TEST_WINE": shutil.which("wine"), "PATH": f"{wine.parent}:{os.environ['PATH']}"}

    def sealed(self):
        return sorted(p.parent for p in self.folder.glob("runs/*/cases*/*/seal") if not p.parent.name.endswith(".part"))

    def stop_after(self, sealed_count, number, *argv):
        """Starts a run, lets victims start until that many cases are sealed, sends it the signal, and returns its exit
        status."""
        (self.folder / "bin/go-on").touch()
        child = subprocess.Popen([e2e.PROGRAM, "run", *map(str, argv), "--db", self.db], cwd=e2e.ROOT, env={**os.environ, **self.env},
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 90 * e2e.PATIENCE
        while len(self.sealed()) < sealed_count and child.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        child.send_signal(number)
        _, self.said = child.communicate(timeout=60 * e2e.PATIENCE)
        return child.returncode

    def state(self):
        with sqlite3.connect(self.db) as db:
            row = db.execute("SELECT id, state, (SELECT count(*) FROM crash_case) FROM run").fetchall()
        db.close()
        return row

    def test_stopped_twice_and_gone_on(self):
        self.assertEqual(self.stop_after(1, signal.SIGINT, *OPTIONS), 130)
        self.assertIn("--resume 1", self.said)
        [(run, state, judged)] = self.state()  # verdicts are stored while victims run
        self.assertEqual((run, state), (1, "interrupted"))
        self.assertEqual(len(self.sealed()), 1)
        self.assertLessEqual(judged, 1)
        self.assertEqual(list(self.folder.glob("runs/*/judges")), [])
        first = {p: p.stat().st_mtime_ns for p in self.sealed()}
        self.run_twinstack("run", "--resume", "last", "-k", "null", "--db", self.db, exit_code=2)
        self.run_twinstack("run", "--resume", "7", "--db", self.db, exit_code=3)
        self.run_twinstack("run", "--resume", "last", "--db", self.folder / "none.db", exit_code=4)

        self.assertEqual(self.stop_after(len(first) + 1, signal.SIGKILL, "--resume", "last"), -signal.SIGKILL)
        self.assertEqual(self.state()[0][1], "running")
        # With another compiler it would not be the same run.
        with sqlite3.connect(self.db) as db:
            db.execute("UPDATE run SET compiler = 'another ' || compiler")
        done = self.run_twinstack("run", "--resume", "last", "--db", self.db, env=self.env, exit_code=2)
        self.assertIn("another ", done.stderr)
        with sqlite3.connect(self.db) as db:
            db.execute("UPDATE run SET compiler = substr(compiler, 9)")

        (self.folder / "bin/all").touch()
        done = self.run_json("run", "--resume", "last", "--json", "--db", self.db, env=self.env, limit_s=120)
        self.assertEqual(done["run"]["state"], "complete")
        names = sorted((c["scenario"], c["repeat"]) for c in done["cases"])
        self.assertEqual(names, [(s, r) for s in ("null_read", "null_write") for r in (0, 1)])
        self.assertEqual(self.state(), [(1, "complete", 4)])
        self.assertEqual({p: p.stat().st_mtime_ns for p in first}, first)
        self.assertEqual(len(self.sealed()), 4)
        self.assertEqual(list(self.folder.glob("runs/*/judges")), [])
        self.run_twinstack("run", "--resume", "last", "--db", self.db, exit_code=3)
        self.run_twinstack("run", "--resume", "1", "--db", self.db, exit_code=2)
        self.run_twinstack("report", "--db", self.db)


e2e.main()
