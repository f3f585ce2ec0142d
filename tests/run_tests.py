#!/usr/bin/python3
"""Runs every test of the project and adds up the tallies; started by `./run test [--quick] [FILTER]...`.

A test program is anything that prints lines of its own and ends with "tally PASSED FAILED SKIPPED":
the unit tests (plain, and again under the sanitizers), the replays and short runs of the fuzzers, the
programs in tests/e2e, and the checks of tests/lint.py.  FILTER keeps the programs whose name contains it;
--quick keeps those that a developer runs before each commit (about a minute).
The last line is "N passed, N failed, N skipped", the exit status 0 or 1.

The longest programs start first, by their times in the last run (build/log/test-seconds.json).  Programs that
say "one at a time" in their first lines share a Wine prefix: they run one after the other, beside the rest.
Programs that say "runs alone" measure something: they come last, with nothing beside them.

Each program that will take LONG_S or more is named on stderr when it starts, and every 30 s a line names
what is still running.  A time limit counts only the seconds for which the program could have had a core.
While the machine is overloaded, this clock runs slower: a busy machine makes no test fail, and a program that
hangs is still killed.

As many programs run side by side as there are cores, and one more whenever most of a core has been idle for
IDLE_S seconds: many programs mostly wait, for a browser, a sleeping victim or a server that stalls on purpose.

If at most SECOND_TRIES end-to-end programs failed, each runs once more with nothing beside it, and the second
result counts. Both are printed, and the closing lines name the programs that needed it: each of them depends
on the clock somewhere and needs fixing. --once allows no second try.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import lint

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TWINSTACK_BUILD", ROOT / "build"))
TALLY = re.compile(r"^tally (\d+) (\d+) (\d+)$")
RUNNERS = {".py": ["/usr/bin/python3"], ".mjs": ["node"], ".sh": ["bash"]}
SLOWEST_SHOWN = 10
CORES = os.cpu_count() or 1
PROGRESS_S = 30
LONG_S = 20
TIMES = BUILD / "log" / "test-seconds.json"
# Seconds on two quiet cores, for a tree that has no times yet.
FIRST_TIMES = {"e2e_matrix": 104, "e2e_victims": 86, "e2e_recipes": 60, "sanitize_unit_dump_engine": 60, "e2e_web_4": 45,
               "e2e_web_3": 40, "e2e_readme": 40, "e2e_steps": 40, "e2e_port": 40, "e2e_run": 40,
               "e2e_capture": 30, "e2e_stops": 30, "lint_tidy_1": 30, "lint_tidy_2": 30, "lint_tidy_3": 30, "lint_tidy_4": 30}
# The programs of tests/e2e that --quick includes: a few seconds each, no Wine and no browser.
QUICK_E2E = {"check", "corpus", "damaged", "differences", "dump", "dump_streams", "symbols", "verdict"}

# The number of parts of each program that would take longer than a minute. A part gets I/N as its argument.
PARTS = {"e2e_web": 5}
# Which other programs a program may run beside.
BESIDE_ALL, ONE_AT_A_TIME, ALONE = range(3)
# One more program is started after IDLE_S seconds in which IDLE_CORES were idle, up to BESIDE_MOST for each core.
IDLE_S, IDLE_CORES, BESIDE_MOST = 1.5, 0.6, 3
SECOND_TRIES = 3


class Program:
    """One test program: its command, its time limit, and which others it may run beside."""

    def __init__(self, name, argv, limit_s=300, env=None, beside=BESIDE_ALL):
        self.name, self.argv, self.limit_s, self.beside = name, [str(a) for a in argv], limit_s, beside
        self.own_env = env or {}

    def env(self):
        """Its environment; TWINSTACK_TEST_SLOWNESS is the factor by which its own time limits grow."""
        slowness = float(self.own_env.get("TWINSTACK_TEST_SLOWNESS", 1)) * max(1, round(overload()))
        return {**os.environ, "TWINSTACK_BUILD": str(BUILD), "TWINSTACK_CACHE": str(BUILD / "cache"), **self.own_env, "TWINSTACK_TEST_SLOWNESS": f"{slowness:.0f}"}


def overload():
    """How many programs share each core, at least 1."""
    return max(1.0, os.getloadavg()[0] / CORES)


def quick_programs():
    for program in sorted((BUILD / "tests").glob("unit_*")):
        yield Program(program.name, [program])
    yield Program("lint", ["/usr/bin/python3", ROOT / "tests/lint.py", "--no-tidy"])
    for name in sorted(QUICK_E2E):
        yield Program(f"e2e_{name}", ["/usr/bin/python3", ROOT / f"tests/e2e/test_{name}.py"])


def programs():
    plain, checked = BUILD / "tests", BUILD / "sanitize" / "tests"
    sanitized = {
        "TWINSTACK_TEST_SLOWNESS": "5",
        "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    for program in sorted(plain.glob("unit_*")):
        yield Program(program.name, [program])
    for program in sorted(checked.glob("unit_*")):
        yield Program(f"sanitize_{program.name}", [program], 900, sanitized)
    for program in sorted(checked.glob("fuzz_*")):
        yield Program(program.name, ["/usr/bin/python3", ROOT / "tests/fuzz.py", program], 300, sanitized)
    yield Program("lint", ["/usr/bin/python3", ROOT / "tests/lint.py", "--no-tidy"])
    for part in range(1, lint.TIDY_PARTS + 1):
        yield Program(f"lint_tidy_{part}", ["/usr/bin/python3", ROOT / "tests/lint.py", "--tidy", f"{part}/{lint.TIDY_PARTS}"])
    for file in sorted((ROOT / "tests/e2e").glob("test_*")):
        if file.suffix in RUNNERS:
            head = file.read_text(encoding="utf-8")[:2000]
            beside = ALONE if "runs alone" in head else ONE_AT_A_TIME if "one at a time" in head else BESIDE_ALL
            name, argv = f"e2e_{file.stem[5:]}", [*RUNNERS[file.suffix], file]
            parts = PARTS.get(name, 1)
            for part in range(1, parts + 1):
                yield Program(name if parts == 1 else f"{name}_{part}", argv if parts == 1 else [*argv, f"{part}/{parts}"],
                              900, beside=beside)


@dataclasses.dataclass
class Result:
    program: Program
    seconds: float
    cpu_seconds: float  # of its processes, except those that detach from it, as Wine's do
    lines: list
    counts: list  # passed, failed, skipped


running = {}  # process id -> (when, name)
lock = threading.Lock()


def end(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def stop_all():
    with lock:
        for pid in running:
            end(pid)


def wait_for(pid, limit_s):
    """Returns (exit status, processor seconds) of the process PID; ends it after LIMIT_S seconds of a core's time,
    and the status is None then."""
    had_s, step_s = 0.0, 0.05
    while True:
        ended, status, used = os.wait4(pid, os.WNOHANG if had_s < limit_s else 0)
        if ended:
            return os.waitstatus_to_exitcode(status) if had_s < limit_s else None, used.ru_utime + used.ru_stime
        time.sleep(step_s)
        had_s += step_s / overload()
        if had_s >= limit_s:
            end(pid)


def report_progress(done, total):
    """Prints to stderr, every PROGRESS_S seconds, the programs that have been running for longer
    than that."""
    while True:
        time.sleep(PROGRESS_S)
        now = time.monotonic()
        with lock:
            long = sorted((now - since, name) for since, name in running.values() if now - since > PROGRESS_S)
        names = ", ".join(f"{name} ({seconds:.0f} s)" for seconds, name in reversed(long))
        print(f"{len(done)} of {total} test programs done; running: {names or 'short ones'}", file=sys.stderr, flush=True)


def read_times():
    """Seconds by name, of the last run of each program in this tree."""
    try:
        return {**FIRST_TIMES, **json.loads(TIMES.read_text(encoding="utf-8"))}
    except (OSError, ValueError):
        return dict(FIRST_TIMES)


def write_times(results):
    TIMES.parent.mkdir(parents=True, exist_ok=True)
    known = {**read_times(), **{r.program.name: round(r.seconds, 1) for r in results}}
    TIMES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


class Idle:
    """How many cores had nothing to do since the last call. Source: proc(5), /proc/stat."""

    def __init__(self):
        self.last = self.read()

    @staticmethod
    def read():
        ticks = [int(n) for n in pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]]
        return sum(ticks), ticks[3] + ticks[4]

    def cores(self):
        now = self.read()
        total, idle = now[0] - self.last[0], now[1] - self.last[1]
        self.last = now
        return CORES * idle / total if total else 0.0


def run_side_by_side(chosen, report, seconds):
    """Runs the programs of CHOSEN on all cores, the longest first. Of those that go one at a time, the next longest
    starts as soon as the one before has ended."""
    waiting = sorted(chosen, key=lambda p: -seconds.get(p.name, 0))
    pool = concurrent.futures.ThreadPoolExecutor(CORES * BESIDE_MOST)  # not `with`: Ctrl-C must not wait for its programs
    under_way, idle, room = {}, Idle(), CORES

    def start_one():
        taken = any(p.beside == ONE_AT_A_TIME for p in under_way.values())
        fitting = [p for p in waiting if p.beside == BESIDE_ALL or not taken]
        if not fitting:
            return False
        # Programs that go one at a time take longest in total, so the next one starts before any other program.
        fitting.sort(key=lambda p: p.beside == BESIDE_ALL)
        waiting.remove(fitting[0])
        announce(fitting[0], seconds)
        under_way[pool.submit(run, fitting[0])] = fitting[0]
        return True

    while waiting or under_way:
        while len(under_way) < room and start_one():
            pass
        done, _ = concurrent.futures.wait(under_way, timeout=IDLE_S, return_when=concurrent.futures.FIRST_COMPLETED)
        for future in done:
            del under_way[future]
            report(future.result())
        # A program that has just started has not shown yet what it needs.
        spare = not done and idle.cores() > IDLE_CORES and len(under_way) < CORES * BESIDE_MOST
        room = max(CORES, len(under_way) + spare)


def announce(program, seconds):
    if seconds.get(program.name, 0) >= LONG_S:
        print(f"started {program.name}, which takes about {seconds[program.name]:.0f} s", file=sys.stderr, flush=True)


def run(program):
    """Runs one program to its end and returns its Result."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as output:  # a pipe would wait for servers that outlive the program
        child = subprocess.Popen(program.argv, cwd=ROOT, env=program.env(), stdin=subprocess.DEVNULL,
                                 stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        with lock:
            running[child.pid] = (start, program.name)
        try:
            child.returncode, cpu_seconds = wait_for(child.pid, program.limit_s)
        finally:
            with lock:
                del running[child.pid]
        output.seek(0)
        lines = output.read().decode("utf-8", "replace").splitlines()
    return Result(program, time.monotonic() - start, cpu_seconds, *judge(lines, child.returncode, program.limit_s))


def judge(lines, status, limit_s):
    """Returns what a program printed, without its tally, and its counts."""
    tally = TALLY.match(lines[-1]) if lines else None
    if status is None:
        return [*lines, f"FAIL time limit of {limit_s} s"], [0, 1, 0]
    if not tally:
        return [*lines, f"FAIL no tally, exit status {status}"], [0, 1, 0]
    counts = [int(n) for n in tally.groups()]
    lines = lines[:-1]
    if status != 0 and counts[1] == 0:
        lines.append(f"FAIL exit status {status} although nothing failed")
        counts[1] = 1
    if sum(counts) == 0:
        lines.append("FAIL it tested nothing")
        counts[1] = 1
    return lines, counts


def show(result, note=""):
    passed, failed, skipped = result.counts
    print(f"{'FAIL' if failed else 'ok':4} {result.program.name:32} {passed:5} passed {failed:3} failed {skipped:3} skipped"
          f" {result.seconds:6.1f} s {result.cpu_seconds:6.1f} s processor{note}")
    for line in result.lines:
        print(f"     {line}")
    sys.stdout.flush()


def try_again(results):
    """Runs each failed end-to-end program once more, alone, unless there are many. Returns all results, with the
    second ones in place of the first, and prints which programs passed at the second try."""
    failed = [r for r in results if r.counts[1] and r.program.name.startswith("e2e_")]
    if len(failed) > SECOND_TRIES:
        return results
    second = {}
    for result in failed:
        second[result.program] = run(result.program)
        show(second[result.program], ", second try, alone")
    passed = [r.program.name for r in second.values() if not r.counts[1]]
    if passed:
        print(f"passed only when run alone (to be mended): {', '.join(passed)}")
    return [second.get(r.program, r) for r in results]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only what runs in about a minute, without Wine")
    parser.add_argument("--once", action="store_true", help="no second try of what failed")
    parser.add_argument("filters", metavar="FILTER", nargs="*")
    asked = parser.parse_args()
    filters = asked.filters
    known = quick_programs() if asked.quick else programs()
    chosen = [p for p in known if not filters or any(f in p.name for f in filters)]
    if not chosen:
        print(f"no test program has {' or '.join(filters)} in its name", file=sys.stderr)
        return 5
    results = []
    threading.Thread(target=report_progress, args=(results, len(chosen)), daemon=True).start()

    def report(result):
        results.append(result)
        show(result)

    try:
        times = read_times()
        run_side_by_side([p for p in chosen if p.beside != ALONE], report, times)
        for program in chosen:
            if program.beside == ALONE:
                announce(program, times)
                report(run(program))
        counted = results if asked.once else try_again(results)
    except KeyboardInterrupt:
        stop_all()
        os._exit(130)
    write_times(results)
    if len(results) > 1:
        slowest = sorted(results, key=lambda r: -r.seconds)[:SLOWEST_SHOWN]
        print("slowest: " + ", ".join(f"{r.program.name} {r.seconds:.0f} s" for r in slowest))
    passed, failed, skipped = (sum(column) for column in zip(*(r.counts for r in counted)))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
