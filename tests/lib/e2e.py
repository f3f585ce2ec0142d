"""Shared by the end-to-end tests: the program, the paths, and a main() that ends with a tally.

A test is a method test_* of a unittest.TestCase; it skips with self.skipTest(reason)."""

import contextlib
import functools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TWINSTACK_BUILD", ROOT / "build"))
PROGRAM = pathlib.Path(os.environ.get("TWINSTACK_PROGRAM", BUILD / "bin/twinstack"))
# What other projects published: corpus/fixtures, unpacked by tests/fixtures.sh, unless it lies beside the repository.
BESIDE = ROOT / "../shared/fixtures"
FIXTURES = pathlib.Path(os.environ.get("TWINSTACK_FIXTURES") or (BESIDE if BESIDE.is_dir() else ROOT / "build/fixtures"))
# Set by ./run soak, which runs the long forms of tests.
SOAK = bool(os.environ.get("TWINSTACK_SOAK"))
# How much longer everything takes on a machine as busy as this one was when the program started.
SLOWNESS = max(1.0, float(os.environ.get("TWINSTACK_TEST_SLOWNESS", 1)))
# What time limits are multiplied by that only end what hangs: no test may fail because a machine is busy.
PATIENCE = 4 * SLOWNESS
# Microsoft's debugger files, for the tests that ask for them; for all others it does not matter whether they are there.
DEBUGGER = pathlib.Path(os.environ.pop("TWINSTACK_DEBUGGER", None) or BUILD / "debugger/content")
# The system's own modules differ between machines, so the tests that need their symbols enable them.
os.environ.setdefault("TWINSTACK_SYSTEM_SYMBOLS", "0")
# A job in the background of a script ignores SIGINT, and so would all that a test starts and interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
# No test writes into the user's cache.
os.environ.setdefault("TWINSTACK_CACHE", str(BUILD / "cache"))


def twinstack(*argv, stdin="", limit_s=60, env=None, folder=ROOT):
    """Runs the program; returns the finished process with text in stdout and stderr."""
    return subprocess.run([str(PROGRAM), *map(str, argv)], input=stdin, capture_output=True, text=True,
                          errors="replace", timeout=limit_s * PATIENCE, check=False, cwd=folder, env={**os.environ, **(env or {})})


def rng(number):
    """Random numbers: in ./run test the same each time, from NUMBER; in a soak from a fresh seed, which is printed. TWINSTACK_SEED
    repeats a run."""
    seed = int(os.environ.get("TWINSTACK_SEED", 0)) or (int.from_bytes(os.urandom(4)) if SOAK else 0)
    if seed:
        print(f"random numbers: TWINSTACK_SEED={seed}", flush=True)
    return random.Random(seed + number)


def part():
    """(I, N) when the program runs as the I-th of N parts, by its argument I/N; else (1, 1)."""
    words = [word for word in sys.argv[1:] if re.fullmatch(r"\d+/\d+", word)]
    return tuple(map(int, words[0].split("/"))) if words else (1, 1)


def finished(argv, *, limit_s, stdin=b"", env=None, folder=ROOT):
    """Runs a program until that ends; its output, as bytes, goes through files. With pipes, the reader would wait for whatever else
    holds their other end: Wine's services, or a victim that outlives a killed twinstack.exe."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        given.write(stdin)
        given.seek(0)
        done = subprocess.run([str(word) for word in argv], stdin=given, stdout=out, stderr=errors, timeout=limit_s, check=False,
                              cwd=folder, env=env)
        out.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(done.args, done.returncode, out.read(), errors.read())


# What a session would start beside Wine's server and services.exe, and no program of ours needs: half of its processor time.
SERVICES = "winemenubuilder.exe,winedevice.exe,plugplay.exe,svchost.exe"

# Wine refused to start a program, as it does with one of some 400 starts on a busy machine; or its server ended at the moment at which
# a program connected, before that had a thread id. Nothing of the program has run then.
NOT_STARTED = re.compile(rb"\(error 1359\)|^wine client error:0:", re.MULTILINE)


def wine_bytes(*argv, env, limit_s=120, loader=("wine",), stdin=b"", folder=None):
    """Runs a Windows program; a second time when Wine did not start it, or a victim for it. `run` starts such a victim again, too.
    LOADER: the words that start Wine. Its output stays bytes."""
    for _ in range(2):
        done = finished([*loader, *argv], stdin=stdin, env=env, limit_s=limit_s * PATIENCE, folder=folder)
        if not NOT_STARTED.search(done.stderr):
            break
    return done


def wine(*argv, **more):
    """The same, with text in stdout and stderr."""
    done = wine_bytes(*argv, **more)
    done.stdout, done.stderr = (text.decode().replace("\r\n", "\n") for text in (done.stdout, done.stderr))
    return done


def wine_with_disk_of(kilobytes):
    """The `loader` of a program whose files cannot be larger, as on a disk that is full: written are the bytes that fit."""
    return ["bash", "-c", 'trap "" XFSZ; ulimit -f "$0"; exec "$@"', kilobytes, "wine"]


def launch(programs, out, victim, scenario, *options, env, limit_s=40):
    """Runs a scenario with twinstack-launch.exe of the folder PROGRAMS. Its own limit is wall time, which says nothing on a busy machine:
    it is LIMIT_S with patience, and the victim's limit for a dump grows with it."""
    return wine(programs / "twinstack-launch.exe", "--out", out, "--limit-ms", int(limit_s * PATIENCE * 1000), *options, victim, scenario,
                env=env, limit_s=limit_s + 80)


@contextlib.contextmanager
def wine_session(env):
    """Keeps Wine's server and services running until the end of the block, without any pipe of the test.

    Otherwise the first program of a session starts them, and they inherit its pipes. A reader of these pipes
    then waits until the services exit, 3 s after the program."""
    overrides = ";".join(filter(None, [env.get("WINEDLLOVERRIDES"), f"{SERVICES}="]))
    quiet = {"env": {**env, "WINEDLLOVERRIDES": overrides}, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    wait = functools.partial(subprocess.run, ["wineserver", "-w"], check=False, **quiet)
    for _ in range(3):
        # A server that lingers would exit while the holder starts, which then ends as well.
        with contextlib.suppress(subprocess.TimeoutExpired):
            wait(timeout=10 * PATIENCE)
        holder = subprocess.Popen(["wine", "cmd", "/q"], stdin=subprocess.PIPE, **quiet)
        # The first start of a prefix takes long on a busy machine.
        subprocess.run(["wine", "cmd", "/c", "exit"], stdin=subprocess.DEVNULL, timeout=120 * PATIENCE, check=False, **quiet)
        if holder.poll() is None:
            break
        holder.stdin.close()
    try:
        yield
    finally:
        holder.stdin.close()
        holder.wait(60 * PATIENCE)
        # So that the next test does not meet it either.
        wait(timeout=60 * PATIENCE)


@contextlib.contextmanager
def all_cores():
    """What starts in the block may use every core: the test runner keeps a program with a Wine prefix on one."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count()))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Case(unittest.TestCase):
    """A TestCase that shows the program's output when a check on it fails."""

    maxDiff = 4000

    @functools.cached_property
    def folder(self):
        """A folder for this test only, removed when it ends."""
        path = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, path)
        return path

    def made_wine(self, script):
        """Makes a replacement for Wine, victims that say nothing and a prefix: the options and the environment of a verb that takes them."""
        for name in ("victims/victims-ob2.exe", "victims/twinstack-launch.exe", "prefix/system.reg", "bin/wineserver", "bin/wine"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(script if name == "bin/wine" else "#!/bin/sh\n")
            (self.folder / name).chmod(0o755)
        words = ["--victims", self.folder / "victims", "--prefix", self.folder / "prefix"]
        return words, {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}

    def saved(self, dump, **more):
        """The path of a dump made by dump_maker."""
        path = self.folder / "made.dmp"
        dump.save(path, **more)
        return path

    def run_twinstack(self, *argv, exit_code=0, **options):
        done = twinstack(*argv, **options)
        if exit_code is not None and done.returncode != exit_code:
            self.fail(f"twinstack {' '.join(map(str, argv))}: exit status {done.returncode}, not {exit_code}\n"
                      f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def run_json(self, *argv, **options):
        done = self.run_twinstack(*argv, **options)
        return json.loads(done.stdout)

    def wait_until_removed(self, list_files):
        """Until LIST_FILES() lists none: Wine's server removes the files that a program marked for removal a moment after its end."""
        end = time.monotonic() + 20 * PATIENCE
        while (going := list_files()) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(going, [])

    def fixture(self, name):
        path = FIXTURES / name
        if not path.exists():
            self.skipTest(f"no fixture {name} ($TWINSTACK_FIXTURES)")
        return path


class _Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.passed = 0

    def addSuccess(self, test):
        self.passed += 1

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print(f"skip {test.id().split('.', 1)[1]}: {reason}")

    def _bad(self, test, error):
        print(f"FAIL {test.id().split('.', 1)[1]}")
        print("".join(f"  {line}\n" for line in self._exc_info_to_string(error, test).splitlines()), end="")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._bad(test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self._bad(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self._bad(subtest, err)


def main(split=False):
    """Runs the tests of the calling file; arguments are substrings of names to run, I/N (see part), and -l, which prints the names
    only.  With SPLIT, the I-th of N parts is each N-th test; without, the tests ask for their part themselves."""
    tests = unittest.defaultTestLoader.loadTestsFromName("__main__")
    result = _Result()

    def flat(suite):
        for item in suite:
            if isinstance(item, unittest.TestSuite):
                yield from flat(item)
            else:
                yield item

    words = [word for word in sys.argv[1:] if "/" not in word and word != "-l"]
    chosen = [t for t in flat(tests) if not words or any(a in t.id() for a in words)]
    if split:
        chosen = chosen[part()[0] - 1::part()[1]]
    if "-l" in sys.argv:
        print(*(test.id().split(".", 1)[1] for test in chosen), sep="\n")
        return
    unittest.TestSuite(chosen).run(result)
    failed = len(result.failures) + len(result.errors)
    print(f"tally {result.passed} {failed} {len(result.skipped)}")
    sys.exit(1 if failed else 0)
