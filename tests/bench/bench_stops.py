"""Measures how long each walker suspends a thread, and how often it blocks on a lock that the thread holds.

usage: bench_stops.py [--count N] [--slow-count N] [--walkers W...] [--targets T...]

Runs twinstack-stops for every walker and target and prints a Markdown table.  N is 10,000.  `dbghelp`, used
as in the article, takes up to 0.1 s per walk under Wine, so its N is --slow-count (300).  The watcher takes
about 30 ms per walk, which is five minutes per target."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TWINSTACK_BUILD", ROOT / "build"))
BIN = pathlib.Path(os.environ.get("TWINSTACK_VICTIMS", BUILD / "victims")) / "bin"
WALKERS = ["rtl", "rtl-suspended", "framepointer", "dbghelp-own", "dbghelp", "watcher"]
SLOW = ["dbghelp"]
TARGETS = ["heap", "loader", "dbghelp", "stdio", "exceptions", "calls", "deep", "tables"]
ENV = {**{k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")},
       "WINEPREFIX": os.environ.get("WINEPREFIX", str(BUILD / "wine")), "WINEARCH": "win64", "WINEDEBUG": "-all",
       "WINEDLLOVERRIDES": "mscoree,mshtml,winedbg.exe="}


def stops(walker, target, count, limit_s=3600):
    """Returns the figures of one run.  Raises an error with the message of the program if it fails."""
    done = subprocess.run(["wine", str(BIN / "twinstack-stops.exe"), walker, target, str(count)], env=ENV,
                          capture_output=True, text=True, timeout=limit_s, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"twinstack-stops {walker} {target} {count}: exit status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description="times of suspension, by walker and target")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--slow-count", type=int, default=300)
    parser.add_argument("--walkers", nargs="+", choices=WALKERS, default=WALKERS)
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=TARGETS)
    options = parser.parse_args()
    print("| walker | target | blocked | ended early | left suspended | suspended, median | worst | walk, median |"
          " of it the copy | without a copy | copied |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for walker in options.walkers:
        for target in options.targets:
            f = stops(walker, target, options.slow_count if walker in SLOW else options.count)
            print(f"| {walker} | {target} | {f['blocked']} of {f['stops']} | {f['ended_early']} | {f['left_suspended']} |"
                  f" {f['stop_median_ns'] / 1e3:.0f} µs | {f['stop_worst_ns'] / 1e6:.1f} ms |"
                  f" {f['walk_median_ns'] / 1e3:.1f} µs |" +
                  (f" {f['copy_median_ns'] / 1e3:.1f} µs | {f['bare_median_ns'] / 1e3:.0f} µs | {f['copied_median_bytes'] / 1024:.1f} KB |"
                   if "bare_median_ns" in f else " | | |"), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
