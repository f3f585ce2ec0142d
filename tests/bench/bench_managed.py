"""Counts right stacks of managed code, for four ways to walk, by what the stopped thread was doing.

usage: bench_managed.py [--count N] [--phases P...] [--modes M...] [--dying] [--keep]

Runs managed-stops in each phase and prints two Markdown tables.  The first counts how many of N (1,000)
samples (200 for `in-place`) `plain`, `seeded`, `copy` and `in-place` got right.  In brackets are the stacks
that ended with a reason (r: refused, h: hijacked, e: ended early), were wrong (w), or blocked (b).  The
second table compares how long `copy` suspends the thread with a suspension that only reads the registers:
both are taken in turns, and the difference is the median over these pairs.  On a quiet machine, with
real-time priority: chrt --rr 20 tests/bench/bench_managed.py --modes copy"""

import argparse
import json
import subprocess
import sys

import bench_stops

RUNTIME = f"Z:{bench_stops.BUILD / 'dotnet'}".replace("/", "\\")
ENV = {"TWINSTACK_DOTNET": RUNTIME, **bench_stops.ENV}
PHASES = ["Spin", "PInvoke", "Copy", "Allocate", "Throw", "Jit", "Collect", "Collected"]
MODES = ["plain", "seeded", "copy", "in-place"]


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
        raise RuntimeError(f"managed-stops Phase{phase} {count}: exit status {done.returncode}\n{done.stderr}")
    return found


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
    if options.dying:
        row = sample("Dying", options.count)["all"]
        print("threads {samples:,}, ended {ended:,}, walks {walks:,}, blocked {blocked:,}, left suspended {left_suspended:,}"
              .format(**row))
        return 1 if row["blocked"] or row["left_suspended"] else 0
    print(f"| of {options.count:,} | " + " | ".join(options.modes) + " | left suspended |\n|---|" +
          "---|" * (len(options.modes) + 1))
    rows, failed = [], 0
    for phase in options.phases:
        found = {}
        try:
            for mode in options.modes:
                found.update(sample(phase, options.count, mode))
        except (RuntimeError, subprocess.TimeoutExpired) as error:  # the other phases still have figures
            print(f"{phase}: {error}", file=sys.stderr, flush=True)
            failed += 1
            continue
        rows.append(found)
        print(f"| {phase} | " + " | ".join(cell(found[mode]) for mode in options.modes) +
              f" | {sum(found[mode]['left_suspended'] for mode in options.modes)} |", flush=True)
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
