"""Right stacks of managed code, in three ways, by what the thread does when it is stopped.

usage: bench_managed.py [--count N] [--phases P...]

Runs managed-stops in each phase and prints a table (Markdown): of N (1,000) samples, how many stacks `plain`, `seeded`
and `copy` had right, how many ended with a reason (r: refused, h: hijacked), were wrong (w), or blocked (b)."""

import argparse
import json
import subprocess
import sys

import bench_stops

RUNTIME = f"Z:{bench_stops.BUILD / 'dotnet'}".replace("/", "\\")
ENV = {"TWINSTACK_DOTNET": RUNTIME, **bench_stops.ENV}
PHASES = ["Spin", "PInvoke", "Copy", "Allocate", "Throw", "Jit", "Collect", "Collected"]
MODES = ["plain", "seeded", "copy"]


def sample(phase, count, limit_s=1200):
    """{mode: figures} of one phase; an error of the program is raised with its message."""
    done = subprocess.run(["wine", str(bench_stops.BIN / "managed-stops.exe"), f"Phase{phase}", str(count)], env=ENV,
                          capture_output=True, text=True, timeout=limit_s, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"managed-stops Phase{phase} {count}: exit status {done.returncode}\n{done.stderr}")
    return {row["mode"]: row for row in map(json.loads, done.stdout.splitlines())}


def cell(row):
    rest = " ".join(f"{row[name]}{name[0]}" for name in ("hijacked", "refused", "wrong", "blocked") if row[name])
    return f"{row['right']}" + (f" ({rest})" if rest else "")


def main():
    parser = argparse.ArgumentParser(description="right stacks of managed code, by phase")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--phases", nargs="+", choices=PHASES, default=PHASES)
    options = parser.parse_args()
    print(f"| of {options.count:,} | " + " | ".join(MODES) + " | left suspended |\n|---|" + "---|" * (len(MODES) + 1))
    for phase in options.phases:
        found = sample(phase, options.count)
        print(f"| {phase} | " + " | ".join(cell(found[mode]) for mode in MODES) +
              f" | {sum(row['left_suspended'] for row in found.values())} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
