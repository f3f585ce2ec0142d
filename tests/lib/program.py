#!/usr/bin/python3
"""Runs one test program for CTest (tests/programs.cmake has the list): limits its time, counts its tests, keeps the result.

    program.py [--stage] [--wine N] [--scratch] [--sanitized] BUILD NAME LIMIT_S COMMAND...

A program prints its own lines and ends with "tally PASSED FAILED SKIPPED"; with --stage it prints anything, and only its exit
status counts. The result goes into BUILD/log/tests/NAME.json. Exit status: 0 passed, 1 failed, 77 everything was skipped.

The limit counts only seconds in which the program could have had a core: while the machine is overloaded, this clock runs
slower. So a busy machine makes no test fail, and a program that hangs is still ended; CTest's own limit is wall time.

--wine N gives it the N-th Wine prefix and one core: Wine's programs and their server ask and answer in turn, and across two cores
each question costs two to three times as much, because the other core has to be woken."""

import argparse
import ctypes
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from machine import CORES, Group, overload

ROOT = pathlib.Path(__file__).resolve().parents[2]
TALLY = re.compile(r"^tally (\d+) (\d+) (\d+)$")
SCRATCH_BYTES = 2 << 30
SKIPPED = 77
SANITIZED = {
    "TWINSTACK_TEST_SLOWNESS": "5",
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


def environment(asked):
    """TWINSTACK_TEST_SLOWNESS is the factor by which the program's own time limits grow."""
    env = {**os.environ, **(SANITIZED if asked.sanitized else {}), "TWINSTACK_BUILD": str(asked.build), "TWINSTACK_CACHE": str(asked.build / "cache")}
    env["TWINSTACK_TEST_SLOWNESS"] = f"{float(env.get('TWINSTACK_TEST_SLOWNESS', 1)) * max(1, round(overload())):.0f}"
    if asked.wine is not None:
        env["WINEPREFIX"] = str(asked.build / (f"wine-test-{asked.wine}" if asked.wine else "wine"))
    memory = pathlib.Path("/dev/shm")  # some unit tests write 20,000 damaged copies of a file, which a disk makes slow
    if asked.scratch and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > SCRATCH_BYTES:
        env["TMPDIR"] = str(memory)
    return env


def wait_for(pid, limit_s):
    """Returns (exit status, processor seconds) of the process PID; the status is None if it was ended after LIMIT_S seconds."""
    had_s, step_s, watched = 0.0, 1.0, os.pidfd_open(pid)
    try:
        while had_s < limit_s and not select.select([watched], [], [], step_s)[0]:
            had_s += step_s / overload()
    finally:
        os.close(watched)
        if had_s >= limit_s or sys.exc_info()[0]:
            os.killpg(pid, signal.SIGKILL)
    _, status, used = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status) if had_s < limit_s else None, used.ru_utime + used.ru_stime


def judge(lines, status, limit_s):
    """Returns what a program printed, without its tally, and its counts."""
    tally = TALLY.match(lines[-1]) if lines else None
    if status is None:
        return [*lines, f"FAIL time limit of {limit_s} s"], [0, 1, 0]
    if not tally:
        return [*lines, f"FAIL no tally, exit status {status}"], [0, 1, 0]
    counts, lines = [int(n) for n in tally.groups()], lines[:-1]
    if status != 0 and counts[1] == 0:
        return [*lines, f"FAIL exit status {status} although nothing failed"], [counts[0], 1, counts[2]]
    if sum(counts) == 0:
        return [*lines, "FAIL it tested nothing"], [0, 1, 0]
    return lines, counts


def run(asked):
    """Runs the program to its end and returns its result."""
    start, group = time.monotonic(), Group("test")
    with tempfile.TemporaryFile() as output:  # a pipe would wait for servers that outlive the program
        child = subprocess.Popen(asked.command, cwd=ROOT, env=environment(asked), stdin=subprocess.DEVNULL, stdout=output,
                                 stderr=subprocess.STDOUT, start_new_session=True)
        group.enter(child.pid)
        if asked.wine is not None:
            os.sched_setaffinity(child.pid, {sorted(os.sched_getaffinity(0))[asked.wine % CORES]})
        child.returncode, cpu_s = wait_for(child.pid, asked.limit)
        output.seek(0)
        lines = output.read().decode("utf-8", "replace").splitlines()
    cpu_s = group.seconds() or cpu_s
    group.close()
    lines, counts = (lines, [0, int(child.returncode != 0), 0]) if asked.stage else judge(lines, child.returncode, asked.limit)
    return {"name": asked.name, "stage": asked.stage, "seconds": time.monotonic() - start, "cpu_seconds": cpu_s, "lines": lines, "counts": counts}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stage", action="store_true")
    parser.add_argument("--wine", type=int, metavar="N")
    parser.add_argument("--scratch", action="store_true")
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("name")
    parser.add_argument("limit", type=float)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG: a killed CTest takes its programs with it
    result = run(asked)
    print(*result["lines"], sep="\n")
    kept = asked.build / "log/tests" / f"{asked.name}.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(result) + "\n", encoding="utf-8")
    passed, failed, skipped = result["counts"]
    return 1 if failed else SKIPPED if skipped and not passed else 0


if __name__ == "__main__":
    sys.exit(main())
