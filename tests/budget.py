#!/usr/bin/python3
"""Prints the lines of code of each room beside those of tests/budget.txt, and their sum.

    budget.py [--check] [--write]

A line of code is one that is neither blank nor only a comment, in any language but JSON and Markdown, as
`cloc --exclude-lang=JSON,Markdown analyze dashboard capture victims` counts (of 110,000 lines, the two differ in two). A room is
a folder below one of these, with all below it; what lies in a folder of several rooms itself is named by that folder and a dot.
--check: exit status 1 when a room has more than the table says. --write: the table becomes what is there.
"""

import argparse
import collections
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = pathlib.Path(__file__).resolve().with_suffix(".txt")
FOLDERS = ("analyze", "dashboard", "capture", "victims")
# A comment, or a text that may look like one.
C_LIKE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
HASH = re.compile(r"^[ \t]*#(?!!).*$", re.M)
PYTHON = re.compile(r'^[ \t]*#(?!!).*$|^[ \t]*""".*?"""', re.M | re.S)
XML = re.compile(r"<!--.*?-->", re.S)
ASSEMBLER = re.compile(r"^[ \t]*[#;@|!*].*$", re.M)  # preprocessor lines are none of cloc's code
COMMENTS = {
    **dict.fromkeys((".c", ".h", ".cpp", ".js", ".mjs", ".css", ".ts", ".cs"), (C_LIKE,)),
    ".S": (C_LIKE, ASSEMBLER),
    **dict.fromkeys((".txt", ".cmake", ".sh"), (HASH,)),
    ".py": (PYTHON,),
    **dict.fromkeys((".manifest", ".svg"), (XML,)),
    **dict.fromkeys((".rc", ".def"), ()),
}


def lines(suffix, text):
    """The lines of code in the text of a file; 0: of no language that counts."""
    if suffix not in COMMENTS:
        return 0
    for pattern in COMMENTS[suffix]:
        text = pattern.sub(lambda m: m[0] if m[0][0] in "\"'" and not m[0].startswith('"""') else "\n" * m[0].count("\n"), text)
    return sum(1 for line in text.splitlines() if line.strip())


def measure(root=ROOT):
    """{room: lines of code}, in the order of the folders."""
    found = collections.Counter()
    for top in FOLDERS:
        for folder, inside, names in os.walk(root / top):
            inside[:] = sorted(name for name in inside if name != "node_modules")
            below = pathlib.Path(folder).relative_to(root / top).parts
            for name in names:
                file = pathlib.Path(folder, name)
                is_code = file.suffix != ".txt" or name == "CMakeLists.txt"
                found[f"{top}/{below[0] if below else '.'}"] += lines(file.suffix, file.read_text(encoding="utf-8-sig")) if is_code and file.suffix in COMMENTS else 0
    return {room: count for room, count in sorted(found.items(), key=lambda row: (FOLDERS.index(row[0].split("/")[0]), row[0])) if count}


def read_table(text):
    return {room: int(count) for room, count in re.findall(r"^(\S+/\S+) +(\d+)$", text, re.M)}


def compare(found, table):
    """The lines to print, and the rooms that have more than the table says."""
    rows = [(room, found.get(room, 0), table.get(room, 0)) for room in {**table, **found}]
    rows.append(("all", sum(found.values()), sum(table.values())))
    width = max(len(room) for room, _, _ in rows)
    said = [f"{room:{width}} {now:8,} {then:8,} {now - then:+7,}" if now != then else f"{room:{width}} {now:8,} {then:8,}" for room, now, then in rows]
    return [f"{'lines of code':{width}} {'now':>8} {'table':>8}", *said], [room for room, now, then in rows[:-1] if now > then]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    found, text = measure(), TABLE.read_text(encoding="utf-8")
    if asked.write:
        head = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
        TABLE.write_text(head + "".join(f"{room:24} {count}\n" for room, count in found.items()), encoding="utf-8")
        return 0
    said, above = compare(found, read_table(text))
    print(*said, sep="\n")
    if above:
        print(f"above the table: {', '.join(above)}")
    return int(bool(above) and asked.check)


if __name__ == "__main__":
    sys.exit(main())
