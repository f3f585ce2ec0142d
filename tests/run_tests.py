#!/usr/bin/python3
"""Runs every test of the project and adds up the tallies; started by `./run test [--quick] [FILTER]...`.

A test program is anything that prints lines of its own and ends with "tally PASSED FAILED SKIPPED":
the unit tests (plain, and half of them again under the sanitizers, see units.py), the replays and short runs of the fuzzers, the
programs in tests/e2e, and the checks of tests/lint.py.  FILTER keeps the programs whose name contains it;
--quick keeps those that a developer runs before each commit (about a minute).
The last line is "N passed, N failed, N skipped", the exit status 0 or 1.

--build builds what is missing beside the tests (STAGES, each by `./run stage NAME`): a test starts as soon as what
it needs is there, and only what the chosen tests need is built.

The longest programs start first, by their times in the last run (build/log/test-times.json). Of each program the
runner knows how much of a core it uses, and starts as many as the cores have room for: some compute, many mostly
wait for a browser, a sleeping victim or a server that stalls on purpose. One more starts whenever most of a core
has been idle for IDLE_S seconds.

Programs that say "has a Wine prefix to itself" in their first lines get one, in WINEPREFIX, as many at a time as
there are prefixes; "has the Wine prefix of ./run to itself" means the first of them, build/wine. Each stays on one
core with all that it starts, the one with the least to do: Wine's programs and their server ask and wait in turn, and
across two cores each question costs two to three times as much, because the other core has to be woken.
Programs that say "runs alone" measure something: they come last, with nothing beside them.

Each program that will take LONG_S or more is named on stderr when it starts, and every 30 s a line names
what is still running.  A time limit counts only the seconds for which the program could have had a core.
While the machine is overloaded, this clock runs slower: a busy machine makes no test fail, and a program that
hangs is still killed.

If at most SECOND_TRIES end-to-end programs failed, each runs once more with nothing beside it, and the second
result counts. Both are printed, and the closing lines name the programs that needed it: each of them depends
on the clock somewhere and needs fixing. --once allows no second try.

Some programs take turns with each other (IN_TURN), and most take another share of their rows with each commit.

The closing lines also say how many processor seconds all of it used, Wine's included where a control group can be
made, and how much of the cores was idle: the first over the number of cores is what no order of programs gets below.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import select
import signal
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import lint

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
import turn  # noqa: E402
import units as unit_tests  # noqa: E402
from machine import CORES, Group, Idle, overload  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TWINSTACK_BUILD", ROOT / "build"))
TALLY = re.compile(r"^tally (\d+) (\d+) (\d+)$")
RUNNERS = {".py": ["/usr/bin/python3"], ".mjs": ["node"], ".sh": ["bash"]}
SLOWEST_SHOWN = 10
PROGRESS_S = 30
LONG_S = 20
LIMIT_S = 60  # what a program may take on a quiet machine
TIMES = BUILD / "log" / "test-times.json"
# (seconds, cores used) of the longer programs on two quiet cores, for a tree that has no times yet.
FIRST_TIMES = ROOT / "tests/lib/first_times.json"
# The programs of tests/e2e that --quick includes: a few seconds each, no Wine and no browser.
QUICK_E2E = {"check", "corpus", "damaged", "differences", "dump", "dump_streams", "symbols", "verdict"}
# Those that take nothing from a stage: they run while the first ones are built. (The others might skip a test without it.)
NEEDS_NOTHING = QUICK_E2E - {"symbols"} | {"compiled", "framework", "headline", "large_runs", "libdwarf", "stream_without_nats", "web"} | {
    f"web_{name}" for name in ("api", "carriers", "grid", "hostile", "light", "lint", "live", "load", "memory", "names", "problems",
                               "refusals", "tasks", "touch", "trend")}
NEEDS_TOOLS = {"web_proxy"}

# The number of parts of each program that would take longer than a minute. A part gets I/N as its argument.
PARTS = {"e2e_web": 3, "e2e_web_carriers": 2, "e2e_matrix": 2, "e2e_capture_package": 2, "e2e_windows": 3,
         "e2e_managed_run": 3, "e2e_stream_faults": 2, "e2e_capture": 2, "e2e_run_control": 2}
# Of each pair, which takes about the same time, one runs with each commit (turn.py). A FILTER runs what it names.
IN_TURN = [f"e2e_{name}" for pair in [
    ("breakpad_unwind", "large_runs"), ("web_touch", "web_managed"), ("msvc", "offline"), ("web_tasks", "web_problems"),
    ("generated", "emulated"), ("web_names", "web_windows"), ("web_proxy", "web_trend"), ("breakpad_export", "framework"),
    ("web_carriers_1", "web_carriers_2"), ("managed_run_2", "managed_run_3"),
    ("capture_upload", "run_control_1"), ("web_live", "web_grid"), ("web_memory", "web_load")] for name in pair]
# Which other programs a program may run beside, and in which Wine prefix.
BESIDE_ALL, OWN_PREFIX, FIRST_PREFIX, ALONE = range(4)
MARKS = {"runs alone": ALONE, "has a Wine prefix to itself": OWN_PREFIX, "has the Wine prefix of ./run to itself": FIRST_PREFIX}
PREFIXES = 3
# What is built beside the tests: its name, what it needs itself, and how much of the cores it uses.
STAGES = {"victims": ((), CORES), "wine32": ((), 0.3), "tools": (("wine32",), 0.3), "wine": (("wine32",), 0.5),
          "victims-x86": (("wine32", "victims"), CORES), "sanitize": ((), CORES), "windows": ((), CORES)}
NEEDS_WINDOWS = {"windows", "windows_units", "web_windows"}
# One more program is started after IDLE_S seconds in which IDLE_CORES were idle, up to BESIDE_MOST for each core.
IDLE_S, IDLE_CORES, BESIDE_MOST = 1.5, 0.6, 4
LOAD_MORE = 1.0  # of a core, beyond the cores there are, that programs are started for
SECOND_TRIES = 3
SCRATCH_BYTES = 2 << 30
DAMAGE_SHARES = 4  # no multiple of units.THIRDS, so that each unit test gets all of them
FUZZ_SHARES = 3  # one grows new inputs, the others replay the old finds and the seeds
SANITIZED = {  # the environment of programs under sanitizers
    "TWINSTACK_TEST_SLOWNESS": "5",
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}
LOCK_FILE = 9  # ./run has the file open that keeps a second set-up away


class Program:
    """One test program: its command, its time limit, which others it may run beside, and the stages that it needs."""

    def __init__(self, name, argv, limit_s=300, env=None, beside=BESIDE_ALL, needs=()):
        self.name, self.argv, self.limit_s, self.beside, self.needs = name, [str(a) for a in argv], limit_s, beside, set(needs)
        self.own_env = env or {}
        self.prefix = None  # the folder, while it runs
        self.core = None  # the only one that it may use

    def env(self):
        """Its environment; TWINSTACK_TEST_SLOWNESS is the factor by which its own time limits grow."""
        slowness = float(self.own_env.get("TWINSTACK_TEST_SLOWNESS", 1)) * max(1, round(overload()))
        prefix = {"WINEPREFIX": str(self.prefix)} if self.prefix else {}
        return {**os.environ, "TWINSTACK_BUILD": str(BUILD), "TWINSTACK_CACHE": str(BUILD / "cache"), "TWINSTACK_TEST_SHARE": "yes", **self.own_env, **prefix,
                "TWINSTACK_TEST_SLOWNESS": f"{slowness:.0f}"}


class Stage(Program):
    """Something that is built; it fails as a test does, and passes without being counted."""

    def __init__(self, name, env=None):
        needs, self.cores = STAGES[name]
        super().__init__(f"build_{name}", [ROOT / "run", "stage", name], 3600, env, needs=needs)
        self.stage = name


def unit_env():
    """Unit tests write their files in memory where there is room, since some write 20,000 damaged copies of one
    file, and a disk takes most of their time. Of the damage that is due, each commit takes another share."""
    memory = pathlib.Path("/dev/shm")
    enough = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > SCRATCH_BYTES
    return {**({"TMPDIR": str(memory)} if enough else {}), **turn.damage(DAMAGE_SHARES)}


def quick_programs():
    env = unit_env()
    for program in sorted((BUILD / "tests").glob("unit_*")):
        yield Program(program.name, [program], env=env)
    yield Program("lint", ["/usr/bin/python3", ROOT / "tests/lint.py", "--no-tidy"])
    for name in sorted(QUICK_E2E):
        yield Program(f"e2e_{name}", ["/usr/bin/python3", ROOT / f"tests/e2e/test_{name}.py"])


def programs(build, asked_for=True):
    """Every test; BUILD: also those of trees that are not there yet; ASKED_FOR, by a filter: no share of the unit tests under sanitizers."""
    env = unit_env()
    sanitized = {**env, **SANITIZED}
    units = [program.name for program in sorted((BUILD / "tests").glob("unit_*"))]  # the other trees may not be built yet
    for name in units:
        yield Program(name, [BUILD / "tests" / name], env=env)
    checked = BUILD / "sanitize/tests"
    due = units if asked_for else [name for name in unit_tests.sanitized() if name in units]
    for name in due if build or checked.is_dir() else []:
        yield Program(f"sanitize_{name}", [checked / name], 900, sanitized, needs=["sanitize"])
    fuzzers = sorted(file.stem for file in (ROOT / "tests/fuzz").glob("fuzz_*.c")) if build or checked.is_dir() else []
    grown = turn.due(fuzzers, FUZZ_SHARES)
    for name in fuzzers:
        yield Program(name, ["/usr/bin/python3", ROOT / "tests/fuzz.py", checked / name, *([] if name in grown else ["seeds"])], 300, sanitized,
                      needs=["sanitize"])
    yield Program("lint", ["/usr/bin/python3", ROOT / "tests/lint.py", "--no-tidy"])
    for part in range(1, lint.TIDY_PARTS + 1):
        yield Program(f"lint_tidy_{part}", ["/usr/bin/python3", ROOT / "tests/lint.py", "--tidy", f"{part}/{lint.TIDY_PARTS}"])
    for file in sorted((ROOT / "tests/e2e").glob("test_*")):
        if file.suffix in RUNNERS:
            yield from e2e_programs(file)


def e2e_programs(file):
    head = " ".join(file.read_text(encoding="utf-8")[:2000].replace("\n//", " ").split())
    beside = max((kind for mark, kind in MARKS.items() if mark in head), default=BESIDE_ALL)
    name, argv = file.stem[5:], [*RUNNERS[file.suffix], file]
    needs = {"victims", "victims-x86", "wine", "tools"} | ({"windows"} if name in NEEDS_WINDOWS else set())
    if name in NEEDS_NOTHING | NEEDS_TOOLS:
        needs = {"tools"} if name in NEEDS_TOOLS else set()
    parts, commits = PARTS.get(f"e2e_{name}", 1), turn.commits()
    for part in range(1, parts + 1):
        full = f"e2e_{name}" if parts == 1 else f"e2e_{name}_{part}"
        env = {"TWINSTACK_COMMITS": str(commits // 2)} if full in IN_TURN and commits else None
        yield Program(full, argv if parts == 1 else [*argv, f"{part}/{parts}"], 900, env, beside, needs)


def of_another_commit(chosen):
    """Those that take turns with others, and it is the others' turn."""
    mine = turn.due(IN_TURN, 2)
    return [p for p in chosen if p.name in IN_TURN and p.name not in mine]


@dataclasses.dataclass
class Result:
    program: Program
    seconds: float
    cpu_seconds: float  # of all its processes; without a control group, not of those that detach from it, as Wine's do
    lines: list
    counts: list  # passed, failed, skipped


running = {}  # process id -> (when, name)
left_groups = []  # where something still ended when the program had
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
    had_s, step_s, watched = 0.0, 1.0, os.pidfd_open(pid)
    try:
        while had_s < limit_s and not select.select([watched], [], [], step_s)[0]:
            had_s += step_s / overload()
    finally:
        os.close(watched)
    if had_s >= limit_s:
        end(pid)
    _, status, used = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status) if had_s < limit_s else None, used.ru_utime + used.ru_stime


def report_progress(done, total):
    """Prints to stderr, every PROGRESS_S seconds, the programs that have been running for longer
    than that."""
    while True:
        time.sleep(PROGRESS_S)
        now = time.monotonic()
        with lock:
            long = sorted((now - since, name) for since, name in running.values() if now - since > PROGRESS_S)
        names = ", ".join(f"{name} ({seconds:.0f} s)" for seconds, name in reversed(long))
        tests = sum(not isinstance(r.program, Stage) for r in done)
        print(f"{tests} of {total} test programs done; running: {names or 'short ones'}", file=sys.stderr, flush=True)


def read_times():
    """(seconds, cores used) by name, of the last run of each program in this tree."""
    times = json.loads(FIRST_TIMES.read_text(encoding="utf-8"))
    try:
        return {**times, **json.loads(TIMES.read_text(encoding="utf-8"))}
    except (OSError, ValueError):
        return times


def write_times(results):
    TIMES.parent.mkdir(parents=True, exist_ok=True)
    known = {**read_times(), **{r.program.name: (round(r.seconds, 1), round(r.cpu_seconds / max(r.seconds, 0.1), 2)) for r in results}}
    TIMES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


class Prefixes:
    """The Wine prefixes of the programs that want one to themselves: build/wine and copies of it, by hard links."""

    def __init__(self):
        first = BUILD / "wine"
        self.free, self.copies = [first], [BUILD / f"wine-test-{i}" for i in range(1, PREFIXES)]
        self.first, self.made = first, False

    def give(self, program):
        """False: none is free."""
        if program.beside not in (OWN_PREFIX, FIRST_PREFIX):
            return True
        if not self.made and (self.first / "system.reg").exists():
            self.made = True
            for copy in self.copies:
                shutil.rmtree(copy, ignore_errors=True)
                subprocess.run(["cp", "-al", self.first, copy], check=True)
                self.free.append(copy)
        fitting = [p for p in self.free if p == self.first or program.beside == OWN_PREFIX]
        if not fitting:
            return False
        program.prefix = fitting[-1]  # the first one last, since some want no other
        self.free.remove(program.prefix)
        return True

    def take_back(self, program):
        if program.prefix:
            self.free.append(program.prefix)
            self.free.sort(key=lambda p: p != self.first)
            program.prefix = None

    def remove(self):
        for copy in self.copies if self.made else []:
            subprocess.run(["wineserver", "-k"], env={**os.environ, "WINEPREFIX": str(copy)}, check=False, capture_output=True)
            for folder in (copy, *copy.parent.glob(f"{copy.name}-*")):
                shutil.rmtree(folder, ignore_errors=True)
            pathlib.Path(f"{copy}.lock").unlink(missing_ok=True)


class Schedule:
    """Starts WAITING programs: stages first, then the longest, as many as the cores have room for."""

    def __init__(self, waiting, times):
        self.times, self.prefixes = times, Prefixes()
        self.waiting = sorted(waiting, key=lambda p: (not isinstance(p, Stage), -times.get(p.name, (0, 1))[0]))
        self.missing = {p.stage for p in waiting if isinstance(p, Stage)}
        self.broken = set()

    def load(self, program):
        """How much of the cores it uses."""
        return program.cores if isinstance(program, Stage) else min(1.0, max(0.1, self.times.get(program.name, (0, 1))[1]))

    def next(self, under_way, spare):
        """Takes the next program out of those that wait; None: none fits. SPARE: a core is idle, whatever the loads say."""
        room = CORES + LOAD_MORE - sum(map(self.load, under_way))
        building = any(isinstance(p, Stage) and p.cores >= CORES for p in under_way)
        for program in self.waiting:
            if program.needs & self.missing or program.beside == FIRST_PREFIX and self.missing:  # ./run waits until all is built
                continue
            if isinstance(program, Stage):
                fits = program.cores < CORES or not building
            else:
                fits = spare or not under_way or self.load(program) <= room
            if fits and self.prefixes.give(program):
                self.choose_core(program, under_way)
                self.waiting.remove(program)
                return program
        return None

    def choose_core(self, program, under_way):
        if program.prefix:
            busy = {core: sum(self.load(p) for p in under_way if p.core == core) for core in sorted(os.sched_getaffinity(0))}
            program.core = min(busy, key=busy.get)

    def ended(self, result):
        """Notes that a program has ended; returns the results of those that cannot run now."""
        self.prefixes.take_back(result.program)
        if not isinstance(result.program, Stage):
            return []
        self.missing.discard(result.program.stage)
        if not result.counts[1]:
            return []
        lost = [p for p in self.waiting if result.program.stage in p.needs]
        self.waiting = [p for p in self.waiting if p not in lost]
        text = f"FAIL not started: {result.program.name} failed"
        results = []
        for program in lost:
            results.append(Result(program, 0, 0, [text], [0, 1, 0]))
            results += self.ended(results[-1])
        return results


def run_side_by_side(chosen, report, times, built=lambda: None):
    """Runs the programs of CHOSEN on all cores. BUILT is called when no stage is left."""
    schedule = Schedule(chosen, times)
    pool = concurrent.futures.ThreadPoolExecutor(CORES * BESIDE_MOST)  # not `with`: Ctrl-C must not wait for its programs
    under_way, idle, spare = {}, Idle(), False
    if not schedule.missing:
        built()
    while schedule.waiting or under_way:
        while len(under_way) < CORES * BESIDE_MOST and (program := schedule.next(under_way.values(), spare)):
            announce(program, times)
            under_way[pool.submit(run, program)] = program
            spare = False
        done, _ = concurrent.futures.wait(under_way, timeout=IDLE_S, return_when=concurrent.futures.FIRST_COMPLETED)
        for future in done:
            del under_way[future]
            left = len(schedule.missing)
            report(future.result())
            for lost in schedule.ended(future.result()):
                report(lost)
            if left and not schedule.missing:
                built()
        # A program that has just started has not shown yet what it needs.
        spare = not done and idle.cores() > IDLE_CORES
    schedule.prefixes.remove()


def announce(program, times):
    takes_s = times.get(program.name, (0, 1))[0]
    if takes_s >= LONG_S:
        print(f"started {program.name}, which takes about {takes_s:.0f} s", file=sys.stderr, flush=True)


def run(program):
    """Runs one program to its end and returns its Result."""
    start, group = time.monotonic(), Group("test")
    with tempfile.TemporaryFile() as output:  # a pipe would wait for servers that outlive the program
        child = subprocess.Popen(program.argv, cwd=ROOT, env=program.env(), stdin=subprocess.DEVNULL,
                                 stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        group.enter(child.pid)
        if program.core is not None:
            os.sched_setaffinity(child.pid, {program.core})
        with lock:
            running[child.pid] = (start, program.name)
        try:
            child.returncode, cpu_seconds = wait_for(child.pid, program.limit_s)
        finally:
            with lock:
                del running[child.pid]
        output.seek(0)
        lines = output.read().decode("utf-8", "replace").splitlines()
    cpu_seconds = group.seconds() or cpu_seconds
    if not group.close():
        left_groups.append(group)
    seconds = time.monotonic() - start
    if isinstance(program, Stage):
        return Result(program, seconds, cpu_seconds, lines, [0, int(child.returncode != 0), 0])
    return Result(program, seconds, cpu_seconds, *judge(lines, child.returncode, program.limit_s))


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


def stages(chosen):
    """What the chosen programs need, in the order of STAGES."""
    needed = set().union(*(p.needs for p in chosen))
    for name in reversed(STAGES):
        needed |= set(STAGES[name][0]) if name in needed else set()
    sanitized = " ".join(p.name.removeprefix("sanitize_") for p in chosen if "sanitize" in p.needs)
    return [Stage(name, {"TWINSTACK_SANITIZED": sanitized} if name == "sanitize" else None) for name in STAGES if name in needed]


def let_lock_go():
    """Of ./run, which holds it while something is built."""
    os.close(LOCK_FILE)


class Account:
    """What the whole of it used."""

    def __init__(self):
        self.start, self.idle = time.monotonic(), Idle()

    def show(self, results):
        seconds, idle = time.monotonic() - self.start, self.idle.cores()
        used = sum(r.cpu_seconds for r in results)
        built = sum(r.cpu_seconds for r in results if isinstance(r.program, Stage))
        slowest = sorted(results, key=lambda r: -r.seconds)
        print("slowest: " + ", ".join(f"{r.program.name} {r.seconds:.0f} s" for r in slowest[:SLOWEST_SHOWN]))
        dearest = sorted(results, key=lambda r: -r.cpu_seconds)[:SLOWEST_SHOWN]
        print("most processor time: " + ", ".join(f"{r.program.name} {r.cpu_seconds:.0f} s" for r in dearest))
        long = [r.program.name for r in slowest if r.seconds > LIMIT_S and not isinstance(r.program, Stage)]
        print(f"tests above {LIMIT_S} s: {', '.join(long) or 'none'}")
        print(f"{seconds:.0f} s; {used:.0f} s of processor time, {built:.0f} s of it to build: at least {used / CORES:.0f} s on "
              f"{CORES} cores; {idle / CORES:.0%} of the cores was idle")


def run_all(chosen, asked, results):
    """Runs CHOSEN, and builds what they need where this is ASKED for; returns the results that count."""
    def report(result):
        results.append(result)
        show(result)

    left = [] if asked.filters else of_another_commit(chosen)
    not_due = [Result(p, 0, 0, [f"skip {p.name}: another commit's turn; ./run test {p.name} runs it"], [0, 0, 1]) for p in left]
    chosen = [p for p in chosen if p not in left]
    times = read_times()
    first = stages(chosen) if asked.build else []
    beside = [p for p in chosen if p.beside != ALONE]
    run_side_by_side([*first, *beside], report, times, let_lock_go if asked.build else lambda: None)
    for program in chosen:
        if program.beside == ALONE:
            announce(program, times)
            report(run(program))
    for result in not_due:
        show(result)
    return not_due + (results if asked.once else try_again(results))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only what runs in about a minute, without Wine")
    parser.add_argument("--once", action="store_true", help="no second try of what failed")
    parser.add_argument("--build", action="store_true", help="build what the tests need beside them, as ./run test does")
    parser.add_argument("filters", metavar="FILTER", nargs="*")
    asked = parser.parse_args()
    filters = asked.filters
    known = quick_programs() if asked.quick else programs(asked.build, bool(filters))
    chosen = [p for p in known if not filters or any(f in p.name for f in filters)]
    if not chosen:
        print(f"no test program has {' or '.join(filters)} in its name", file=sys.stderr)
        return 5
    results, account = [], Account()
    threading.Thread(target=report_progress, args=(results, len(chosen)), daemon=True).start()
    try:
        counted = run_all(chosen, asked, results)
    except KeyboardInterrupt:
        stop_all()
        os._exit(130)
    write_times(results)
    if len(results) > 1:
        account.show(results)
    for group in left_groups:
        group.close()
    passed, failed, skipped = (sum(column) for column in zip(*(r.counts for r in counted)))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
