#!/usr/bin/python3
"""Runs every test of the project and sums the tallies; started by `./run test [FILTER]...`.

A test program is anything that prints lines of its own and ends with "tally PASSED FAILED SKIPPED":
the unit tests (plain, and again under the sanitizers), the replays and short runs of the fuzzers, the
programs in tests/e2e, and the checks of tests/lint.py.  FILTER keeps the programs whose name holds it.
The last line is "N passed, N failed, N skipped", the exit status 0 or 1.
"""

import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TWINSTACK_BUILD", ROOT / "build"))
TALLY = re.compile(r"^tally (\d+) (\d+) (\d+)$")
RUNNERS = {".py": ["/usr/bin/python3"], ".mjs": ["node"], ".sh": ["bash"]}
SLOWEST_SHOWN = 10


class Program:
    """One test program: what to start, under which limit, and whether it wants the machine alone."""

    def __init__(self, name, argv, limit_s=300, env=None, alone=False):
        self.name, self.argv, self.limit_s, self.alone = name, [str(a) for a in argv], limit_s, alone
        self.env = {**os.environ, "TWINSTACK_BUILD": str(BUILD), **(env or {})}


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
    yield Program("lint", ["/usr/bin/python3", ROOT / "tests/lint.py"], 1500)
    for file in sorted((ROOT / "tests/e2e").glob("test_*")):
        if file.suffix in RUNNERS:
            # What captures or measures wants a quiet machine; it says so in its first lines.
            alone = "runs alone" in file.read_text(encoding="utf-8")[:2000]
            yield Program(f"e2e_{file.stem[5:]}", [*RUNNERS[file.suffix], file], 900, alone=alone)


running = {}
lock = threading.Lock()


def stop_all():
    with lock:
        for child in running.values():
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def run(program):
    """Runs one program; returns (program, seconds, lines, passed, failed, skipped)."""
    start = time.monotonic()
    child = subprocess.Popen(program.argv, cwd=ROOT, env=program.env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    with lock:
        running[child.pid] = child
    try:
        output, _ = child.communicate(timeout=program.limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        output, _ = child.communicate()
        output += f"\nFAIL time limit of {program.limit_s} s\n".encode()
    finally:
        with lock:
            del running[child.pid]
    lines = output.decode("utf-8", "replace").splitlines()
    tally = TALLY.match(lines[-1]) if lines else None
    counts = [int(n) for n in tally.groups()] if tally else [0, 1, 0]
    if tally:
        lines.pop()
    else:
        lines.append(f"FAIL no tally, exit status {child.returncode}")
    if child.returncode != 0 and counts[1] == 0:
        lines.append(f"FAIL exit status {child.returncode} although nothing failed")
        counts[1] = 1
    if sum(counts) == 0:
        lines.append("FAIL it tested nothing")
        counts[1] = 1
    return program, time.monotonic() - start, lines, *counts


def main():
    filters = sys.argv[1:]
    chosen = [p for p in programs() if not filters or any(f in p.name for f in filters)]
    totals, times = [0, 0, 0], []
    if not chosen:
        print(f"no test program has {' or '.join(filters)} in its name", file=sys.stderr)
        return 5

    def tell(result):
        program, seconds, lines, *counts = result
        times.append((seconds, program.name))
        for i, count in enumerate(counts):
            totals[i] += count
        mark = "FAIL" if counts[1] else "ok"
        print(f"{mark:4} {program.name:32} {counts[0]:5} passed {counts[1]:3} failed {counts[2]:3} skipped {seconds:6.1f} s")
        for line in lines:
            print(f"     {line}")
        sys.stdout.flush()

    try:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for done in concurrent.futures.as_completed([pool.submit(run, p) for p in chosen if not p.alone]):
                tell(done.result())
        for program in chosen:
            if program.alone:
                tell(run(program))
    except KeyboardInterrupt:
        stop_all()
        os._exit(130)
    if len(times) > 1:
        print("slowest: " + ", ".join(f"{name} {s:.0f} s" for s, name in sorted(times, reverse=True)[:SLOWEST_SHOWN]))
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return 1 if totals[1] else 0


if __name__ == "__main__":
    sys.exit(main())
