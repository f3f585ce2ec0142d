"""Counts right stacks of managed code, for four ways to walk, by what the stopped thread was doing.

usage: bench_managed.py [--count N] [--phases P...] [--modes M...] [--dying] [--keep]

Runs managed-stops in each phase and prints two Markdown tables.  The first counts how many of N (1,000)
samples (200 for `in-place`) `plain`, `seeded`, `copy` and `in-place` got right.  In brackets are the stacks
that ended with a reason (r: refused, h: hijacked, e: ended early), were wrong (w), or blocked (b).  The
second table compares how long `copy` suspends the thread with a suspension that only reads the registers:
both are taken in turns, and the difference is the median over these pairs.  On a quiet machine, with
real-time priority: chrt --rr 20 tests/bench/bench_managed.py --modes copy

The bench has a Wine prefix to itself: a run that ends stops the wineserver of its prefix, and with it all of its programs
(exit status 1, no output).  A program that ends without a line on either of its outputs is started once
more; this is said and counted.  Exit status 9 is different: it is the low byte of 0xC0000409, so the program
ended itself (fast fail), and that is never tried again.  A phase without figures keeps its row, with the
reason, and fails the bench."""

import argparse
import json
import os
import subprocess
import sys

import bench_stops

RUNTIME = f"Z:{bench_stops.BUILD / 'dotnet'}".replace("/", "\\")
ENV = {"TWINSTACK_DOTNET": RUNTIME, **bench_stops.ENV}
PHASES = ["Spin", "PInvoke", "Copy", "Allocate", "Throw", "Jit", "Collect", "Collected"]
FAST_FAIL = 0xC0000409 & 0xFF  # Wine's exit status has the low byte of the code alone
MODES = ["plain", "seeded", "copy", "in-place"]


class NotStarted(RuntimeError):
    """The program ended without a word, so before its first sample was printed."""


def sample(phase, count, mode=None, limit_s=1200, watch_collections=False, pause_ms=0, needs_heap=False):
    """Returns {mode: figures} of one phase, in all modes or in one, and under "rules" the profiler's own counts.
    PAUSE_MS: before each snapshot.  NEEDS_HEAP: each frame of a snapshot does.  If the program fails, raises an
    error with its message."""
    env = {**ENV, **({"TWINSTACK_WATCH_COLLECTIONS": "1"} if watch_collections else {}),
           **({"TWINSTACK_SNAPSHOT_NEEDS_HEAP": "1"} if needs_heap else {}), "TWINSTACK_SNAPSHOT_PAUSE_MS": str(pause_ms)}
    done = subprocess.run(["wine", str(bench_stops.BIN / "managed-stops.exe"), f"Phase{phase}", str(count),
                           *([mode] if mode else [])], env=env, capture_output=True, text=True, timeout=limit_s, check=False)
    found = {row["mode"]: row for row in map(json.loads, done.stdout.splitlines())}
    sys.stderr.write(done.stderr)  # the first stacks that were not right
    if done.returncode != 0 or not found:
        kind = RuntimeError if done.stdout or done.stderr or done.returncode == FAST_FAIL else NotStarted
        what = " (fast fail)" if done.returncode == FAST_FAIL else ""
        raise kind(f"managed-stops Phase{phase} {count} {mode or ''}: exit status {done.returncode}{what}\n{done.stderr}")
    return found


def sample_patiently(phase, count, mode, restarts, take=sample):
    """As sample(); starts a program once more that ended without a word, and adds that to the list RESTARTS."""
    try:
        return take(phase, count, mode)
    except NotStarted as error:
        print(f"{phase}: {str(error).strip()}, without a word; started once more", file=sys.stderr, flush=True)
        restarts.append(str(error).strip())
        return take(phase, count, mode)


def cell(row):
    rest = " ".join(f"{row[name]}{name[0]}" for name in ("hijacked", "refused", "ended", "wrong", "blocked") if row[name])
    return f"{row['right']}" + (f" ({rest})" if rest else "")


def times(found):
    copy = found["copy"]
    stop_us, bare_us, copy_us, longer_us = (copy[f"{name}_median_ns"] / 1e3 for name in ("stop", "bare", "copy", "longer"))
    return (f"| {copy['phase'][5:]} | {stop_us:.1f} | {bare_us:.1f} | {longer_us:+.1f} | {copy_us:.1f} |"
            f" {copy['copied_median_bytes'] / 1024:.0f} |")


def main():
    parser = argparse.ArgumentParser(description="right stacks of managed code, by phase")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--dying", action="store_true", help="threads that end while they are walked, and nothing else")
    parser.add_argument("--keep", action="store_true", help="keep the figures beside the victims: each later run reports them")
    parser.add_argument("--phases", nargs="+", choices=PHASES, default=PHASES)
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    options = parser.parse_args()
    ENV["WINEPREFIX"] = os.environ.get("WINEPREFIX", str(bench_stops.BUILD / "wine-bench"))
    if options.dying:
        row = sample("Dying", options.count)["all"]
        print("threads {samples:,}, ended {ended:,}, walks {walks:,}, blocked {blocked:,}, left suspended {left_suspended:,}"
              .format(**row))
        return 1 if row["blocked"] or row["left_suspended"] else 0
    print(f"| of {options.count:,} | " + " | ".join(options.modes) + " | left suspended |\n|---|" +
          "---|" * (len(options.modes) + 1))
    rows, failed, restarts = [], 0, []
    for phase in options.phases:
        found = {}
        try:
            for mode in options.modes:
                found.update(sample_patiently(phase, options.count, mode, restarts))
        except (RuntimeError, subprocess.TimeoutExpired) as error:  # the other phases still have figures
            print(f"{phase}: {error}", file=sys.stderr, flush=True)
            print(f"| {phase} | not measured: {str(error).splitlines()[0]} |" + " |" * len(options.modes), flush=True)
            failed += 1
            continue
        rows.append(found)
        print(f"| {phase} | " + " | ".join(cell(found[mode]) for mode in options.modes) +
              f" | {sum(found[mode]['left_suspended'] for mode in options.modes)} |", flush=True)
    print(f"\nprograms started again {len(restarts)}, phases without figures {failed}")
    if options.keep:
        lines = [json.dumps(found[mode]) + "\n" for found in rows for mode in options.modes]
        (bench_stops.BIN / "managed-samples.ndjson").write_text("".join(lines), encoding="utf-8")
    if "copy" in options.modes:
        print("\n| suspended, µs | with the copy | registers alone | longer, median of pairs | the copy | KB |\n|---|---|---|---|---|---|")
        print("\n".join(map(times, rows)))
        total = [sum(row["copy"][name] for row in rows) for name in ("samples", "blocked", "wrong", "left_suspended")]
        print("\nwalks {:,}, blocked {:,}, wrong {:,}, left suspended {:,}".format(*total))
        return 1 if failed or any(total[1:]) else 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
