#!/usr/bin/python3
"""Makes the cases of corpus/reference, that is suite.json, moments/, images/, addresses/, programs/, dumps/ and COVERAGE.md:
make_reference.py [FOLDER] [--dumps]. With --dumps only the dumps are made, of the moments that are there: without an emulator, by Python and llvm-pdbutil-19 alone.

Needs clang-19, lld-19, llvm-19, gcc, mingw, gdb and python3-unicorn, which ./run installs, and clang-14, dwz, elfutils and rustc 1.95.
The same versions give the same bytes."""

import argparse
import collections
import hashlib
import json
import pathlib
import tempfile

import reference_dumps
import reference_retired

EDITION = "2026.11.9"
FOLDERS = ("images", "programs", "dumps")
POSITIONS = {"moment": ("prologue", "body", "called", "epilogue", "leaf", "dispatcher", "before-noreturn"),
             "address": ("first", "inline-begin", "inline-end", "row", "inside", "mid-instruction", "return", "last", "gap")}
POSITIONS["dump"] = ("crashed", "other")
# What no case has, and why.
MISSING = (
    "Not in this edition, so without any row:", "",
    "* of x64 version 3, a push of two registers, canonical frames and parts that are chained: the emulator knows no APX, and the page, a preview, "
    "leaves the kinds of frames to the SDK;",
    "* shadow stacks: a moment has no place for one, and no second witness keeps one;",
    "* moments of ARM64EC: its entry and exit thunks have one witness, the page;",
    "* helpers of x86 that build or take down their caller's frame, such as __SEH_prolog4: no page says what a walk does in them;",
    "* signed return addresses: the emulator leaves lr as it is; SVE and reserved flags of arm64: one witness, the page;",
    "* stack scans, generated and managed code: any answer there is a guess, or needs what the process knows;",
    "* incremental thunks of MSVC's linker: Microsoft's DIA names no function there, so one reader alone does.",
)
# Why a position is empty in a row.
REASONS = {
    "prologue": "leaf functions and code without an entry have none",
    "body": "leaf functions and code without an entry have no frame; their moments are under `leaf`",
    "called": "the row's functions call no leaf function; the moments of other callees are under their own shape or position",
    "epilogue": "leaf functions, code without an entry, and functions that never return have none",
    "leaf": "the row's functions have an entry",
    "dispatcher": "only the dispatcher on top of a machine frame has it",
    "before-noreturn": "only a function that never returns has it",
    "first": "the row's code is the later part of a function, or its functions were inlined",
    "inline-begin": "the row's functions have no inlined call there, or it begins with the function itself",
    "inline-end": "as inline-begin",
    "row": "the row's functions have one row of their line table",
    "inside": "every instruction of the row begins a row of a line table",
    "mid-instruction": "its instructions are of 1 or 2 bytes; on arm64 no address is inside an instruction",
    "return": "the row's functions call nothing",
    "last": "the function's last instruction is under another position",
    "gap": "only code between functions has it",
}

# Cells of addresses that are empty although there are such addresses: of each program PER_PROGRAM are chosen, by turns over its shapes and
# positions, and arm64 and x86 have few programs. `./run soak suite` asks all programs (reference_addresses.unchosen).
UNCHOSEN = {
    ("addresses.dwarf", "arm64"): {
        "inline-begin": "other-file",
        "inside": "inline other-file",
        "last": "inline no-return",
    },
    ("addresses.dwarf", "x86"): {
        "first": "anonymous",
        "inline-end": "scope",
        "row": "inline",
        "inside": "alias inline-siblings statement",
        "return": "inline inline-siblings",
    },
    ("addresses.pdb", "arm64"): {
        "first": "inline",
        "inline-begin": "inline-chain lambda line-directive",
        "inline-end": "call-in-inline ranges",
        "row": "inline inline-chain inline-twice lambda",
        "return": "inline-chain",
    },
    ("addresses.pdb", "x64"): {
        "return": "padding",
    },
    ("addresses.pdb", "x86"): {
        "first": "call-in-inline cpp20 inline inline-siblings loop macro other-file ranges scope",
        "inline-begin": "call-in-inline cold-part inline-chain lambda ranges",
        "inline-end": "call-in-inline line-directive other-file ranges",
        "row": "cold-part line-directive loop plain statement template",
        "inside": "call-in-inline cold-part plain scope switch",
        "mid-instruction": "call-in-inline folded inline-siblings inline-twice lambda line-directive loop macro other-file plain switch",
        "return": "cold-part cpp20 folded loop plain scope",
        "last": "no-return template",
    },
}


def put_list(path, cases):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(case, separators=(",", ":")) + "\n" for case in cases), encoding="utf-8")


def write(out, lists):
    for name, cases in lists.items():
        put_list(out / name, cases)
    files = [{"path": path.relative_to(out).as_posix(), "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "licence": "MIT"}
             for folder in FOLDERS for path in sorted((out / folder).rglob("*")) if path.is_file() and path.suffix != ".ndjson"]
    suite = {"suite": 1, "edition": EDITION, "lists": list(lists), "retired": reference_retired.rows(), "files": files}
    (out / "suite.json").write_text(json.dumps(suite, indent=1) + "\n", encoding="utf-8")


def empty(capability, processor, shape, position):
    return "+" if shape in UNCHOSEN.get((capability, processor), {}).get(position, "").split() else "-"


def table(kind, cases):
    """The table of capabilities, processors, shapes and positions of one kind."""
    positions = POSITIONS[kind]
    counts = collections.Counter((c["capability"], c["processor"], c["shape"], c["position"]) for c in cases)
    lines = [f"## {kind.capitalize()}{'es' if kind == 'address' else 's'}", "",
             "| capability | processor | shape | " + " | ".join(positions) + " |", "|---" * (3 + len(positions)) + "|"]
    for row in sorted({key[:3] for key in counts}):
        lines.append(f"| {' | '.join(row)} | {' | '.join(str(counts[*row, position] or empty(*row, position)) for position in positions)} |")
    if kind == "dump":
        return [*lines, "", "A shape is a form of a dump; a dash: the form is not about the thread that crashed, and no dump of it has an exception.", ""]
    turn = ["", "A plus: there are such addresses, and they are not among the 92 of a program, which are chosen by turns. Of arm64 and x86 there are few programs."]
    return [*lines, *(turn if kind == "address" else []), "", "A dash is an empty cell. Its reason:", "",
            *(f"* {position}: {REASONS[position]}." for position in positions), ""]


def coverage(lists):
    cases = [case for found in lists.values() for case in found]
    levels = collections.Counter(c["truth"]["level"] for c in cases)
    lines = ["# Coverage", "", f"Made by `corpus/make_reference.py`, edition {EDITION}: {sum(levels.values())} cases, "
             + ", ".join(f"{count} {level}" for level, count in sorted(levels.items(), reverse=True)) + ".", ""]
    for kind in POSITIONS:
        lines += table(kind, [c for c in cases if c["kind"] == kind])
    return "\n".join([*lines, *MISSING, ""])


def make(out):
    # What needs an emulator, which --dumps does without.
    import reference_addresses  # pylint: disable=import-outside-toplevel
    import reference_moments_arm64  # pylint: disable=import-outside-toplevel
    import reference_moments_x64  # pylint: disable=import-outside-toplevel
    import reference_x86  # pylint: disable=import-outside-toplevel
    import reference_x86_more  # pylint: disable=import-outside-toplevel
    (out / "images").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        lists = {**reference_moments_x64.make(pathlib.Path(folder), out), **reference_moments_arm64.make(pathlib.Path(folder), out),
                 **reference_x86.make(pathlib.Path(folder), out), **reference_x86_more.make(pathlib.Path(folder), out),
                 **reference_addresses.make(pathlib.Path(folder), out)}
    finish(out, lists)


def finish(out, lists):
    """The moments are there: the dumps, and what is about all cases."""
    for name, cases in lists.items():
        put_list(out / name, cases)
    lists = {**lists, **reference_dumps.make(out)}
    write(out, lists)
    (out / "COVERAGE.md").write_text(coverage(lists), encoding="utf-8")


def remade(out):
    names = [name for name in json.loads((out / "suite.json").read_text(encoding="utf-8"))["lists"] if not name.startswith("dumps/")]
    finish(out, {name: [json.loads(line) for line in (out / name).read_text(encoding="utf-8").splitlines()] for name in names})


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / "reference")
    arguments.add_argument("--dumps", action="store_true")
    arguments = arguments.parse_args()
    if arguments.dumps:
        remade(arguments.folder)
    else:
        make(arguments.folder)
