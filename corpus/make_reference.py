#!/usr/bin/python3
"""Makes the cases of corpus/reference, that is suite.json, moments/, images/ and COVERAGE.md: make_reference.py [FOLDER].

Needs clang-19, lld-19, llvm-19 and python3-unicorn, which ./run installs. The same versions give the same bytes."""

import collections
import csv
import hashlib
import json
import pathlib
import sys
import tempfile

import reference_moments_x64

EDITION = "2026.11.2"
POSITIONS = ("prologue", "body", "called", "epilogue", "leaf", "dispatcher", "before-noreturn")
# Why a position is empty in a row.
REASONS = {
    "prologue": "leaf functions and code without an entry have none",
    "body": "leaf functions and code without an entry have no frame; their moments are under `leaf`",
    "called": "the row's functions call no leaf function; the moments of other callees are under their own shape or position",
    "epilogue": "leaf functions, code without an entry, and functions that never return have none",
    "leaf": "the row's functions have an entry",
    "dispatcher": "only the dispatcher on top of a machine frame has it",
    "before-noreturn": "only a function that never returns has it",
}


def retired():
    """The rows of reference_retired.tsv: a case that was wrong keeps its id for ever, and another one is new."""
    with (pathlib.Path(__file__).resolve().parent / "reference_retired.tsv").open(encoding="utf-8", newline="") as stream:
        return [{"id": old, "reason": reason, "successor": new or None} for old, new, reason in csv.reader(stream, delimiter="\t")]


def write(out, lists):
    for name, cases in lists.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("".join(json.dumps(case, separators=(",", ":")) + "\n" for case in cases), encoding="utf-8")
    files = [{"path": path.relative_to(out).as_posix(), "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "licence": "MIT"}
             for path in sorted((out / "images").iterdir())]
    suite = {"suite": 1, "edition": EDITION, "lists": list(lists), "retired": retired(), "files": files}
    (out / "suite.json").write_text(json.dumps(suite, indent=1) + "\n", encoding="utf-8")


def coverage(lists):
    """The table of processors, shapes and positions."""
    counts = collections.Counter((c["processor"], c["shape"], c["position"]) for cases in lists.values() for c in cases)
    levels = collections.Counter(c["truth"]["level"] for cases in lists.values() for c in cases)
    lines = ["# Coverage", "", f"Made by `corpus/make_reference.py`, edition {EDITION}: {sum(levels.values())} cases, "
             + ", ".join(f"{count} {level}" for level, count in sorted(levels.items(), reverse=True)) + ".", "",
             "| processor | shape | " + " | ".join(POSITIONS) + " |", "|---" * (2 + len(POSITIONS)) + "|"]
    for processor, shape in sorted({key[:2] for key in counts}):
        cells = [str(counts[processor, shape, position] or "-") for position in POSITIONS]
        lines.append(f"| {processor} | {shape} | {' | '.join(cells)} |")
    lines += ["", "A dash is an empty cell. Its reason:", "", *(f"* {position}: {REASONS[position]}." for position in POSITIONS), "",
              "Not in this edition, so without any row: x64 unwind version 3 and shadow stacks, arm64, ARM64EC, x86, stack scans, generated and "
              "managed code, addresses, dumps. Their cases are not made yet.", ""]
    return "\n".join(lines)


def make(out):
    (out / "images").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        lists = reference_moments_x64.make(pathlib.Path(folder), out)
    write(out, lists)
    (out / "COVERAGE.md").write_text(coverage(lists), encoding="utf-8")


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent / "reference")
