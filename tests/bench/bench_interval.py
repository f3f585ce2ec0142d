#!/usr/bin/env python3
"""Does the interval of a speed figure hold what another measurement gives?  Measures the same sealed cases again and again.

    tests/bench/bench_interval.py TWINSTACK CASE... [--repeats 20]

On a quiet machine, with the cases of a run (build/runs/*/cases/*; a lane needs 12).  Prints for each lane and state in how many repeats the
reported 95 % interval holds the mean of the other repeats, and in how many random halves of the cases it holds the ratio of the other
half.  Of both, 18 of 20 are expected; exits 1 where a measured lane has fewer."""

import argparse
import json
import random
import subprocess
import sys


def measure(program, cases):
    """By lane and state, [value, low, high] of what `check` measures; lanes of too few cases have none."""
    done = subprocess.run([program, "check", "--offline", "--json", *cases], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    cells = {}
    for row in json.loads(done.stdout)["speed"]["rows"]:
        for state, cell in row["cells"].items():
            if cell["ratio"]:
                cells[f"{row['arch']} {row['lane']}, {state}"] = [cell["ratio"][name] for name in ("value", "low", "high")]
    return cells


def holds(cell, value):
    return cell[1] <= value <= cell[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--repeats", type=int, default=20)
    args = parser.parse_args()
    repeats = [measure(args.program, args.cases) for _ in range(args.repeats)]
    drawn, halves = random.Random(1), []
    for _ in range(args.repeats):
        cases = drawn.sample(args.cases, len(args.cases))
        halves.append([measure(args.program, sorted(cases[part::2])) for part in (0, 1)])
    wanted, bad = args.repeats * 9 // 10, False
    for lane in sorted(set.intersection(*(set(r) for r in repeats))):
        values = [r[lane][0] for r in repeats]
        others = sum(holds(r[lane], (sum(values) - r[lane][0]) / max(1, len(values) - 1)) for r in repeats)
        pairs = [(a[lane], b[lane]) for a, b in halves if lane in a and lane in b]
        other = sum(holds(a, b[0]) for a, b in pairs)
        bad |= others < wanted or other < len(pairs) * 9 // 10
        print(f"{lane}: {min(values):.2f} to {max(values):.2f}; holds the other repeats {others} of {len(values)}, the other half {other} of {len(pairs)}")
    return bad


if __name__ == "__main__":
    sys.exit(main())
