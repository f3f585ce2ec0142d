#!/usr/bin/python3
"""The long forms of tests, of which `./run test` runs short ones; started by `./run soak [NAME]...`.

    ./run soak                 all of them, in this order
    ./run soak fuzz            those whose name contains a NAME
    ./run soak --list          what there is, how far it is, and how many minutes that took here
    ./run soak --again NAME    from the start

A soak is a list of steps.  What each step printed is kept in build/soak/NAME, with the state of the sources: an
interrupted soak continues where it stopped, but starts again if a source has changed.  The last line is "N of N
steps passed"; exit status: 0 all passed, 1 a step failed, 5 nothing has that name, 130 interrupted."""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TWINSTACK_BUILD", ROOT / "build"))
PLACE = BUILD / "soak"
PYTHON = "/usr/bin/python3"
SOURCES = ("analyze", "capture", "cmake", "corpus", "dashboard", "tests", "victims", "run")
FUZZ_S = 600
LOOPS = 50
LIMIT_S = 6 * 3600
# A version of the stream whose collectors store each report by itself: the oldest one that leaves newer messages to newer programs.
BEFORE_GROUPS = "5da72c2edc"


def fuzz():
    """Each fuzzer for ten minutes, over other inputs each time."""
    for target in sorted((BUILD / "sanitize/tests").glob("fuzz_*")):
        yield target.name, [PYTHON, "tests/fuzz.py", target, str(FUZZ_S)], {}


def lint():
    """The static analyser with its default limits."""
    for part in range(1, 21):
        yield f"part-{part}", [PYTHON, "tests/lint.py", "--deep", "--tidy", f"{part}/20"], {}


def matrix():
    """Every scenario in every build, ten times: a verdict must not depend on chance."""
    yield "both-ways", [PYTHON, "tests/e2e/test_matrix.py"], {"TWINSTACK_SOAK": "1"}
    for turn in range(1, 11):
        yield f"turn-{turn}", [BUILD / "bin/twinstack", "run", "--db", PLACE / "matrix.db", "--out", PLACE / "runs",
                               "--keep", "failed", "--seed", str(turn)], {}


def loops():
    """The tests that start and stop processes, over and over."""
    for turn in range(1, LOOPS + 1):
        for name in ("capture_files", "resume", "run_control", "waits"):
            yield f"{name}-{turn}", [PYTHON, f"tests/e2e/test_{name}.py"], {"TWINSTACK_SOAK": "1"}


def stops():
    """10,000 walks per walker and target: none waits for what the stopped thread holds."""
    yield "stops", [PYTHON, "tests/bench/bench_stops.py"], {}
    yield "managed", [PYTHON, "tests/bench/bench_managed.py", "--count", "10000", "--modes", "copy"], {}
    yield "managed-dying", [PYTHON, "tests/bench/bench_managed.py", "--dying", "--count", "5000"], {}
    yield "managed-ways", [PYTHON, "tests/bench/bench_managed.py", "--keep"], {}


def web():
    """Half an hour of the dashboard's load and memory; the pages at 10,000 cases."""
    for name in ("light", "load", "memory"):
        yield name, ["node", f"tests/e2e/test_web_{name}.mjs"], {"TWINSTACK_SOAK_SECONDS": "1800"}
    for name in ("web_api", "web_grid"):
        yield name, ["node", f"tests/e2e/test_{name}.mjs"], {"TWINSTACK_SOAK": "1"}


def victims():
    """The same bytes from every program in another folder."""
    yield "victims", [PYTHON, "tests/e2e/test_victims.py"], {"TWINSTACK_SOAK": "1"}


def symbols():
    """Every byte and every record beside other readers; the symbol reader, the index and `resolve` at full size, beside llvm-symbolizer."""
    for name in ("symbols", "breakpad_unwind"):
        yield name, [PYTHON, f"tests/e2e/test_{name}.py"], {"TWINSTACK_SOAK": "1"}
    yield "compilers", ["tests/tools.sh", BUILD, "compilers"], {}
    yield "strangers", [PYTHON, "tests/strangers.py"], {}
    yield "published", [PYTHON, "tests/published.py"], {}
    yield "bench", [PYTHON, "tests/bench/run.py", BUILD, "--xl"], {}


# Contestants of the reference suite: the stored result, which of its cases, the program that has to be here (None: ours), the adapter.
CONTESTANTS = (
    ("twinstack", "addresses or moments.x64 or moments.arm64", None, "ours.py"), ("twinstack-x86", "moments.x86", None, "ours.py"),
    ("twinstack-dumps", "dumps.x64 or dumps.arm64", None, "ours.py"), ("twinstack-dumps-x86", "dumps.x86", None, "ours.py"),
    ("lldb-19", "moments.x64 or moments.arm64", "lldb-19", "lldb.py"), ("lldb-19-x86", "moments.x86", "lldb-19", "lldb.py"),
    ("lldb-19-dumps", "dumps.x64 or dumps.arm64", "lldb-19", "lldb.py"), ("lldb-19-dumps-x86", "dumps.x86", "lldb-19", "lldb.py"),
    ("lldb-19-addresses", "addresses", "lldb-19", "lldb_addresses.py"), ("gdb-13", "moments.x64", "x86_64-w64-mingw32-gdb", "gdb.py"),
    ("gdb-13-x86", "moments.x86", "x86_64-w64-mingw32-gdb", "gdb.py"), ("gdb-13-addresses", "addresses.dwarf", "gdb-multiarch", "gdb_addresses.py"),
    ("llvm-symbolizer-19", "addresses", "llvm-symbolizer-19", "llvm_symbolizer.py"), ("addr2line-2", "addresses.dwarf", "addr2line", "addr2line.py"),
    ("eu-addr2line-0", "addresses.dwarf", "eu-addr2line", "addr2line.py"),
)


def suite():
    """The reference suite in full: its cases made again, its witnesses asked, and every contestant that is here; no case may be worse."""
    yield "witnesses", [PYTHON, "tests/e2e/test_reference.py"], {"TWINSTACK_SOAK": "1"}
    for result, cases, needs, adapter in CONTESTANTS:
        if needs is None or shutil.which(needs):
            command = f"corpus/reference/adapters/{adapter} {needs or BUILD / 'bin/twinstack'}"
            yield result, [BUILD / "bin/twinstack", "score", "--cmd", command, "-k", cases, "-j", "2", "--no-cache",
                           "--expect", f"corpus/reference/results/{result}.json"], {}


def races():
    """Data races: the tool compiled for ThreadSanitizer, under load."""
    yield "races", [PYTHON, "tests/races.py"], {}


def store():
    """How memory grows with a run, from 5,000 to 20,000 cases, as the least of three peaks."""
    yield "large-runs", [PYTHON, "tests/e2e/test_large_runs.py"], {"TWINSTACK_SOAK": "1"}


def stream():
    """The pipeline of reports under kill -9 for a long time, and `signatures` at full size beside the pipe."""
    for turn in range(1, 21):
        yield f"faults-{turn}", [PYTHON, "tests/e2e/test_stream_faults.py"], {"TWINSTACK_SOAK": "1"}
    yield "kills", [PYTHON, "tests/stream_kills.py"], {}
    yield "upgrade", [PYTHON, "tests/stream_kills.py"], {"TWINSTACK_OTHER": BEFORE_GROUPS}
    single = ["--report", "1", "--stacks", "200000", "--clients", "64"]
    yield "single", [PYTHON, "tests/bench/bench_pipeline.py", BUILD, "--work", PLACE / "stream.bench", *single], {}
    yield "pipeline", [PYTHON, "tests/bench/bench_pipeline.py", BUILD, "--work", PLACE / "stream.bench", "--stacks", "10000000"], {}
    yield "bench", [PYTHON, "tests/bench/bench_stream.py", BUILD, "--work", PLACE / "stream.bench", "--stacks", "10000000"], {}


def release():
    """The files of a release, made in two folders: equal bytes."""
    yield "two-folders", [PYTHON, "tests/e2e/test_release.py", "TwoBuilds"], {"TWINSTACK_SOAK": "1"}


def copies():
    """The same tests in a full clone, one of depth 1 and an exported tree."""
    yield "copies", [PYTHON, "tests/copies.py"], {}


def mutation():
    """Every fault of tests/mutation."""
    yield "faults", [PYTHON, "tests/mutation/mutate.py"], {}


SOAKS = {f.__name__: f for f in (lint, fuzz, stops, web, loops, matrix, victims, symbols, suite, races, store, stream, release, copies, mutation)}


def sources():
    """One hash over the sources."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *SOURCES], cwd=ROOT, capture_output=True,
                           text=True, check=False).stdout.split()
    digest = hashlib.sha256()
    for path in sorted(ROOT / name for name in names) or sorted(p for s in SOURCES for p in (ROOT / s).rglob("*.[chpm]*")):
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def read_done(name, state):
    """{step: the seconds that it took, 0 if it failed}; empty if the results are of other sources than STATE."""
    try:
        kept = json.loads((PLACE / name / "done.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept["steps"] if kept["sources"] == state else {}


def end_started(mark):
    """Kills what has MARK in its environment: a killed test leaves Wine's services, in sessions of their own."""
    for _ in range(250):
        found = False
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark in (path / "environ").read_bytes().split(b"\0"):
                    os.kill(int(path.name), signal.SIGKILL)
                    found = True
            except OSError:  # it has ended, or is another user's
                pass
        if not found:
            return
        time.sleep(0.02)


def run_step(name, step, argv, env):
    log = PLACE / name / f"{step}.log"
    mark = f"TWINSTACK_SOAK_STEP={os.getpid()}-{step}"
    with log.open("wb") as out:
        child = subprocess.Popen([str(word) for word in argv], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=subprocess.STDOUT, start_new_session=True,
                                 env={**os.environ, "TWINSTACK_BUILD": str(BUILD), **env, **dict([mark.split("=")])})
        try:
            return child.wait(LIMIT_S) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
            end_started(mark.encode())


def soak(name, state, again):
    """Returns how many steps passed, and how many there are."""
    (PLACE / name).mkdir(parents=True, exist_ok=True)
    done = {} if again else read_done(name, state)
    steps = list(SOAKS[name]())
    for number, (step, argv, env) in enumerate(steps, 1):
        if not done.get(step):
            start = time.monotonic()
            print(f"started {name} {number}/{len(steps)} {step}", file=sys.stderr, flush=True)
            passed = run_step(name, step, argv, env)
            done[step] = round(time.monotonic() - start, 1) or 0.1 if passed else 0
            text = json.dumps({"sources": state, "steps": done}, indent=1)
            (PLACE / name / "done.json").write_text(text + "\n", encoding="utf-8")
            mark = "ok  " if done[step] else "FAIL"
            where = "" if done[step] else f"  see {(PLACE / name / step).relative_to(BUILD.parent)}.log"
            print(f"{mark} {name} {number}/{len(steps)} {step:24} {time.monotonic() - start:7.0f} s{where}", flush=True)
    return sum(done[step] > 0 for step, _, _ in steps), len(steps)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="what there is, and how far it is")
    parser.add_argument("--again", action="store_true", help="from the start")
    parser.add_argument("names", metavar="NAME", nargs="*")
    asked = parser.parse_args()
    chosen = [name for name in SOAKS if not asked.names or any(word in name for word in asked.names)]
    if not chosen:
        print(f"no soak has {' or '.join(asked.names)} in its name; there are {', '.join(SOAKS)}", file=sys.stderr)
        return 5
    state = sources()
    if asked.list:
        for name in chosen:
            steps, done = [step for step, _, _ in SOAKS[name]()], read_done(name, state)
            took = [done[step] for step in steps if done.get(step)]
            print(f"{name:10} {len(took):3} of {len(steps):3} steps, {sum(took) / 60:4.0f} min  {SOAKS[name].__doc__}")
        return 0
    passed = total = 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for name in chosen:
            counts = soak(name, state, asked.again)
            passed, total = passed + counts[0], total + counts[1]
    except KeyboardInterrupt:
        return 130
    print(f"{passed} of {total} steps passed")
    return 0 if total and passed == total else 1


if __name__ == "__main__":
    sys.exit(main())
