#!/usr/bin/env python3
"""Does the interval of a speed figure hold what another measurement gives?  Measures the same sealed cases again and again.

    tests/bench/bench_interval.py TWINSTACK CASE... [--repeats 20] [--table]

With the cases of a run (build/runs/*/cases/*; an interval needs 12 scenarios).  Prints for the ratio of `bench`, warm and cold, in how
many repeats the reported 95 % interval holds the mean of the other repeats (and in how many their median), and in how many random halves
of the scenarios it holds the ratio of the other half.  Of both, 18 of 20 are expected; exits 1 where a figure has fewer.  --table asks the
table of speed (`check`) in place of `bench`: each of its figures comes from one process."""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys


def ask(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return json.loads(done.stdout)


def bench(program, cases):
    """By figure, [value, low, high] of what `bench` measures."""
    sides = ask([program, "bench", *cases, "--cold", "--dry", "--json"])["back_end"]
    return {f"{r['arch']}, {'cold' if side['cold'] else 'warm'}": [r["ratio"], r["ratio_low"], r["ratio_high"]]
            for side in sides for r in side["ratios"] if r["ratio_low"] is not None}


def table(program, cases):
    """The same of what `check` measures."""
    rows = ask([program, "check", "--offline", "--json", *cases])["speed"]["rows"]
    return {f"{row['arch']} {row['lane']}, {state}": [cell["ratio"][name] for name in ("value", "low", "high")]
            for row in rows for state, cell in row["cells"].items() if cell["ratio"]}


def halves(cases, drawn):
    """Two halves of the scenarios, each with all its builds."""
    scenarios = sorted({pathlib.Path(case).name.split(".")[0] for case in cases})
    first = set(drawn.sample(scenarios, len(scenarios) // 2))
    return [[case for case in cases if (pathlib.Path(case).name.split(".")[0] in first) == part] for part in (True, False)]


def holds(cell, value):
    return cell[1] <= value <= cell[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    measure = table if args.table else bench
    repeats = [measure(args.program, args.cases) for _ in range(args.repeats)]
    drawn = random.Random(1)
    pairs = [[measure(args.program, half) for half in halves(args.cases, drawn)] for _ in range(args.repeats)]
    wanted, bad = args.repeats * 9 // 10, False
    for figure in sorted(set.intersection(*(set(r) for r in repeats))):
        cells = [r[figure] for r in repeats]
        values = [cell[0] for cell in cells]
        others = [values[:i] + values[i + 1:] for i in range(len(values))]
        mean = sum(holds(cell, statistics.fmean(rest)) for cell, rest in zip(cells, others))
        middle = sum(holds(cell, statistics.median(rest)) for cell, rest in zip(cells, others))
        both = [(a[figure], b[figure]) for a, b in pairs if figure in a and figure in b]
        other = sum(holds(a, b[0]) for a, b in both)
        width = statistics.median((cell[2] - cell[1]) / cell[0] for cell in cells)
        bad |= mean < wanted or other < len(both) * 9 // 10
        print(f"{figure}: {min(values):.2f} to {max(values):.2f}, intervals of {100 * width:.0f} % (median); holds the mean of the other repeats "
              f"{mean} of {len(values)} (their median {middle}), the other half {other} of {len(both)}")
    return bad


if __name__ == "__main__":
    sys.exit(main())
