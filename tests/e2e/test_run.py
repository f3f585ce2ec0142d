"""The `run` script: its output; a second run needs neither network nor rebuild; it serves and ends
cleanly.."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

NO_NETWORK = ["unshare", "--net"]


def servers():
    """Dashboards of ./run in this tree, by process."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"serve" in words and os.fsencode(e2e.BUILD / "twinstack.db") in words:
            found.append(int(path.parent.name))
    return sorted(found)


LIMIT_S = 60 * e2e.PATIENCE  # well below that of the test runner


@contextlib.contextmanager
def script(*argv, **more):
    """./run in a process group of its own, which is killed after LIMIT_S and at the end."""
    child = subprocess.Popen([e2e.ROOT / "run", *argv], text=True, start_new_session=True, stdin=subprocess.DEVNULL, **more)

    def kill():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)

    limit = threading.Timer(LIMIT_S, kill)
    limit.start()
    try:
        with child:
            try:
                yield child
            finally:
                kill()
    finally:
        limit.cancel()


@unittest.skipUnless(e2e.BUILD == e2e.ROOT / "build", "another build folder than the one of ./run")
class Run(e2e.Case):
    def run_script(self, *argv, prefix=()):
        return subprocess.run([*prefix, e2e.ROOT / "run", *argv], capture_output=True, text=True, check=False,
                              timeout=LIMIT_S, stdin=subprocess.DEVNULL)

    def test_only_the_program_can_be_built(self):
        done = self.run_script("build")
        self.assertEqual((done.returncode, done.stdout), (0, f"{e2e.PROGRAM}\n"), done.stderr)
        self.assertIn("left out: victims, Wine", done.stderr)

    def test_help_and_usage(self):
        done = self.run_script("--help")
        self.assertEqual(done.returncode, 0)
        for word in ("--no-serve", "-k EXPR", "./run test", "exit codes"):
            self.assertIn(word, done.stdout)
        self.assertLessEqual(len(done.stdout.splitlines()), 24, "more than a screen")
        self.assertEqual(self.run_script("no-such-command").returncode, 2)

    def test_setup_again_does_nothing(self):
        start = time.monotonic()
        done = self.run_script("setup")
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        self.assertLess(time.monotonic() - start, 20 * e2e.PATIENCE)
        for tree in ("build", "victims"):
            self.assertIn("ninja: no work to do.", (e2e.BUILD / "log" / f"{tree}.log").read_text(encoding="utf-8"))

    def test_second_run_needs_no_network_and_no_rebuild(self):
        if os.geteuid() != 0 or not shutil.which("unshare"):
            prefix = ["env", "http_proxy=http://127.0.0.1:1", "https_proxy=http://127.0.0.1:1"]
        else:
            prefix = NO_NETWORK
        # loopback is down in a fresh network namespace, so nothing can listen: --no-serve
        done = self.run_script("--no-serve", "-k", "null_write.ob", prefix=prefix)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:] + done.stdout[-3000:])
        for tree in ("build", "victims"):
            self.assertIn("ninja: no work to do.", (e2e.BUILD / "log" / f"{tree}.log").read_text(encoding="utf-8"))
        self.assertNotIn("packages", done.stderr)
        self.assertNotIn("web-parts", done.stderr)
        self.assertRegex(done.stdout, r"^PASS +\d+ cases: \d+ PASS\n")
        self.assertLessEqual(len(done.stdout.splitlines()), 35, "the report of a green run is one screen")
        self.assertNotRegex(done.stderr, r"(?m)^.+(twinstack|run): ", "a note within another line")
        with contextlib.closing(sqlite3.connect(f"file:{e2e.BUILD / 'twinstack.db'}?mode=ro", uri=True)) as db:
            sizes = db.execute("SELECT record_gzip_bytes, record_zstd_bytes, dump_gzip_bytes, dump_zstd_bytes FROM crash_case"
                               " WHERE run_id = (SELECT max(id) FROM run)").fetchall()
        self.assertTrue(sizes and all(size > 0 for row in sizes for size in row), sizes)  # what `report --cost` says of keeping them

    def test_serves_at_the_end_and_stops_on_ctrl_c(self):
        before = servers()
        with script("-k", "null_write.ob", stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
            address, said = None, []
            while address is None:
                said.append(child.stdout.readline())
                self.assertTrue(said[-1], f"it ended, or was ended after {LIMIT_S:.0f} s, before it served:\n" + "".join(said[-40:]))
                match = re.search(r"http://127\.0\.0\.1:\d+", said[-1])
                address = match and match[0]
            with urllib.request.urlopen(f"{address}/healthz", timeout=10 * e2e.PATIENCE) as answer:
                self.assertEqual(answer.status, 200)
            self.assertNotIn("victims ", "".join(said), "the address comes before the victims are built")
            while not said[-1].startswith(address):  # the same one again, after the report
                said.append(child.stdout.readline())
                self.assertTrue(said[-1], f"it ended, or was ended after {LIMIT_S:.0f} s, before it served:\n" + "".join(said[-40:]))
            self.assertIn("null_write", "".join(said))
            with urllib.request.urlopen(f"{address}/healthz", timeout=10 * e2e.PATIENCE) as answer:
                self.assertEqual(answer.status, 200)
            os.killpg(child.pid, signal.SIGINT)
            self.assertIn(child.wait(timeout=20 * e2e.PATIENCE), (0, 130))
            self.assertEqual(servers(), before)

    @staticmethod
    def left(before):
        """The servers that are there when they are those of BEFORE again, or after a while."""
        end = time.monotonic() + 10 * e2e.PATIENCE
        while servers() != before and time.monotonic() < end:
            time.sleep(0.1)
        return servers()

    def test_an_interrupted_run_leaves_no_server(self):
        before = servers()
        for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(sign=sign), script("-k", "null_write.ob", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
                said = []
                while not said or "http://" not in said[-1]:
                    said.append(child.stderr.readline())
                    self.assertTrue(said[-1], f"it ended, or was ended after {LIMIT_S:.0f} s:\n" + "".join(said))
                self.assertEqual(len(servers()), len(before) + 1)
                (os.kill if sign == signal.SIGKILL else os.killpg)(child.pid, sign)
                child.wait(timeout=20 * e2e.PATIENCE)
                left = self.left(before)
                if sign == signal.SIGKILL:
                    os.killpg(child.pid, signal.SIGKILL)  # what the killed script had started
                self.assertEqual(left, before)

    def test_ctrl_c_is_not_lost_while_a_command_substitution_ends(self):
        before = servers()
        with tempfile.TemporaryDirectory() as folder:
            here, tool = pathlib.Path(folder) / "here", pathlib.Path(folder) / "cat"
            tool.write_text(f"""#!/bin/sh
{shutil.which("cat")} "$@"
case $* in *serve.url) ;; *) exit ;; esac
trap '' INT; exec >&-; : >'{here}'; sleep 1 # its output is read, but it has not ended: an instant, longer on a busy machine
""", encoding="utf-8")
            tool.chmod(0o755)
            with script("-k", "null_write.ob", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}) as child:
                while not here.exists() and child.poll() is None:
                    time.sleep(0.01)
                time.sleep(0.1)  # the script waits for the end of that program
                os.killpg(child.pid, signal.SIGINT)
                self.assertEqual(child.wait(timeout=20 * e2e.PATIENCE), 130)
        self.assertEqual(self.left(before), before)

    def test_nothing_is_written_outside_the_build_folder(self):
        self.assertFalse((e2e.ROOT / "twinstack.db").exists())
        wine = pathlib.Path.home() / ".wine"
        if wine.exists():
            self.assertLess(wine.stat().st_mtime, (e2e.BUILD / "wine/system.reg").stat().st_mtime)


e2e.main()
