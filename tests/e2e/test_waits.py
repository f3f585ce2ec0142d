"""Which verbs wait while a run uses the Wine prefix, which do not, and what they print meanwhile."""

import fcntl
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

# A replacement for Wine: lists one scenario, and records every start of a program.
WINE = f"""#!{sys.executable}
import json, sys
if "--list" in sys.argv:
    open(sys.argv[0] + ".starts", "a").write("list ")
    print(json.dumps(dict(name="fails", kind="crash", group="A1", limit_ms=1, doors=[])))
"""


@unittest.skipIf(os.name == "nt", "no Wine prefix there")
class Waits(e2e.Case):
    def setUp(self):
        self.words, self.env = self.made_wine(WINE)

    def starts(self):
        path = self.folder / "bin/wine.starts"
        return path.read_text().count("list") if path.exists() else 0

    def hold(self):
        """Locks the prefix, as a run does, until the returned file is closed."""
        held = open(self.folder / "prefix.lock", "a", encoding="utf-8")  # pylint: disable=consider-using-with
        self.addCleanup(held.close)
        fcntl.lockf(held, fcntl.LOCK_EX)
        return held

    def list(self, **more):
        return self.run_twinstack("list", *self.words, env=self.env, limit_s=60, **more).stdout

    def test_list_is_kept_and_waits_for_no_run(self):
        listed = self.list()
        self.assertEqual(self.starts(), 1)
        self.hold()
        self.assertEqual(self.list(), listed)
        self.assertEqual(self.starts(), 1)

    def test_other_victims_and_another_wine_are_asked_again(self):
        for number, changed in enumerate(("victims/victims-ob2.exe", "bin/wine"), 2):
            self.list()
            with (self.folder / changed).open("a") as file:
                file.write("# another\n")
            self.list()
            self.assertEqual(self.starts(), number, changed)

    def test_a_damaged_list_is_asked_again(self):
        listed = self.list()
        (kept,) = (self.folder / "prefix/twinstack-lists").iterdir()
        whole = kept.read_bytes()
        for number, damaged in enumerate((b"", whole[:64], whole[:-2], whole.replace(b"fails", b"f\0ils"), whole + b"x"), 2):
            kept.write_bytes(damaged)
            self.assertEqual(self.list(), listed)
            self.assertEqual((self.starts(), kept.read_bytes()), (number, whole))

    def test_doctor_waits_for_no_run(self):
        self.hold()
        for kept in (False, True):
            done = self.run_twinstack("doctor", *self.words, env=self.env, limit_s=60, exit_code=None)
            self.assertRegex(done.stdout, r"ok +victims +1 scenarios.*another process" if kept else r"none +victims .*another process")
            self.assertEqual(self.starts(), int(kept))
            if not kept:
                self.doctor_before_is_free()

    def doctor_before_is_free(self):
        """Releases the prefix for one list."""
        held = self.hold()  # same process: the lock is already ours
        held.close()        # but closing any handle of the file releases it
        self.list()
        self.hold()

    def test_who_must_wait_says_for_whom_and_goes_on(self):
        held = self.hold()
        with subprocess.Popen([str(word) for word in [e2e.PROGRAM, "list", *self.words]], env={**os.environ, **self.env},
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            line = child.stderr.readline()
            self.assertIn(f"waiting for process {os.getpid()} (", line)
            self.assertIn("--prefix DIR", line)
            self.assertIsNone(child.poll())
            held.close()
            out, errors = child.communicate(timeout=20 * e2e.PATIENCE)
        self.assertEqual(child.returncode, 0, errors)
        self.assertIn("fails", out)
        self.assertRegex(errors, r"free after \d+ s")

    def test_who_waits_for_a_list_goes_on_when_it_is_kept(self):
        self.list()
        (kept,) = (self.folder / "prefix/twinstack-lists").iterdir()
        whole = kept.read_bytes()
        kept.unlink()
        self.hold()
        with subprocess.Popen([str(word) for word in [e2e.PROGRAM, "list", *self.words]], env={**os.environ, **self.env},
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            child.stderr.readline()
            time.sleep(0.3)
            self.assertIsNone(child.poll())
            kept.write_bytes(whole)
            out, errors = child.communicate(timeout=60 * e2e.PATIENCE)
        self.assertEqual(child.returncode, 0, errors)
        self.assertIn("fails", out)
        self.assertEqual(self.starts(), 1)

    def test_a_prefix_that_is_made_is_announced(self):
        for name in ("wineboot", "wineserver"):
            (self.folder / "bin" / name).write_text("#!/bin/sh\n")
            (self.folder / "bin" / name).chmod(0o755)
        (self.folder / "prefix/system.reg").unlink()
        said = self.run_twinstack("list", *self.words, env=self.env, limit_s=10).stderr
        self.assertRegex(said, f"making the Wine prefix {self.folder}/prefix, once")

    def set_up(self):
        """`./run setup` of a copy, in which the search for packages does not end."""
        return subprocess.Popen(["bash", "run", "setup"], cwd=self.folder, env={**os.environ, **self.env}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def test_a_second_set_up_says_for_whom_it_waits(self):
        shutil.copy(e2e.ROOT / "run", self.folder)
        (self.folder / "bin/dpkg-query").write_text(f"#!/bin/sh\ntouch {self.folder}/holds\nsleep 300\n")
        (self.folder / "bin/dpkg-query").chmod(0o755)
        with self.set_up() as first:
            end = time.monotonic() + 20 * e2e.PATIENCE
            while not (self.folder / "holds").exists() and time.monotonic() < end:
                time.sleep(0.02)
            with self.set_up() as second:
                said = select.select([second.stderr], [], [], 5 * e2e.PATIENCE)[0]
                line = second.stderr.readline() if said else ""
                ended = second.poll()
                for child in (second, first):
                    os.killpg(child.pid, signal.SIGINT)
                    child.communicate(timeout=20 * e2e.PATIENCE)
        self.assertIn(f"waiting for process {first.pid} (./run setup)", line)
        self.assertIn("another clone", line)
        self.assertIsNone(ended)
        self.assertEqual([first.returncode, second.returncode], [130, 130])


e2e.main()
