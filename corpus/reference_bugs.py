#!/usr/bin/python3
"""Makes corpus/reference/bugs/ of BUGS.md and the cases: a folder for each fault below that a reader can see with the tool alone, in a
minute. BUGS.md has the cause, what is right, what the tool says, the rule and the versions; here is only how to show it."""

import collections
import json
import pathlib
import re
import shutil

SUITE = pathlib.Path(__file__).resolve().parent / "reference"
GDB = "../../adapters/gdb.py --serve ../.. {case} | x86_64-w64-mingw32-gdb -nx -q"
LLDB = ("../../adapters/dump_of_moments.py ../.. {case} /tmp/moment.dmp\n"
        "lldb-19 --no-lldbinit -b -o 'settings set target.exec-search-paths ../../images' -o 'target create --core /tmp/moment.dmp' -o 'thread backtrace'")
WINE = ("x86_64-w64-mingw32-gcc -O2 -o /tmp/windows_walk.exe ../../adapters/windows_walk.c -lversion\n"
        """(echo '{{"hello":1,"suite":"'$(realpath ../..)'","edition":""}}'; cat case.json) | wine /tmp/windows_walk.exe rtl""")

# TOOL has to be there. SHOWS is printed where the fault is, RIGHT where it is not.
Shown = collections.namedtuple("Shown", "number name tool command shows right")
BUGS = [Shown(*row) for row in (
    (1, "gdb-pop-in-epilogue", "x86_64-w64-mingw32-gdb", GDB, "Backtrace stopped", "#2  0x000000018000100c"),
    (6, "gdb-far-save", "x86_64-w64-mingw32-gdb", GDB, "Cannot access memory at address 0x10baff08", "#1  0x0000000180001031"),
    (9, "lldb-leaf", "lldb-19", LLDB, "frame #1: 0x00000000107fff40", "frame #1: 0x0000000180001051"),
    (10, "lldb-alloc-after-frame-register", "lldb-19", LLDB, "frame #1: 0x00000000107fff40", "frame #1: 0x0000000180001071"),
    (34, "lldb-arm64-pdata", "lldb-19", LLDB, "frame #1: 0x0000000180001010", "frame #1: 0x0000000180001030"),
    (35, "lldb-word-in-two-ranges", "lldb-19",
     "lldb-19 --no-lldbinit -b -o 'target create --core ../../dumps/x64-odd-pieces-0.dmp' -o 'memory read -f x -s 8 -c 1 0x107fff88'",
     "(4/8)", "0x000000018000100c"),
    (13, "wine-jump-in-epilogue", "wine", WINE, "0x180001120", "0x1800010b2"),
    (16, "gdb-split-package", "gdb-multiarch", "gdb-multiarch -nx -batch -ex 'info scope *0x22cb' ../../programs/clang19-packed5.so",
     "Fatal signal: Segmentation fault", "locals"),
    (17, "addr2line-rnglistx", "addr2line", "addr2line -fie ../../programs/clang19-dwarf5.so 0x21c1", "second\n/suite/shapes.c:25\nchain_two", "leaf"),
    (18, "addr2line-file-numbers", "addr2line", "addr2line -fie ../../programs/rust-v0.so 0x1e40", "/suite/names.rs/@/names.", "/suite/names.rs:"),
    (19, "addr2line-dwarf64", "addr2line", "addr2line -fie ../../programs/gcc-o3-dwarf64.so 0x11bb", "mangled line number section", "/suite/shapes.c:"),
    (22, "eu-addr2line-no-aranges", "eu-addr2line", "eu-addr2line -fie ../../programs/clang19-dwarf5.so 0x2160", "??:0", "shapes.c:7"),
    (23, "eu-addr2line-namespace", "eu-addr2line", "eu-addr2line -fie ../../programs/clang19-aranges.so 0x2690", "_ZN9templates9recursionEi\n/suite/names.cpp:36", "down<3>"),
    (24, "llvm-symbolizer-label", "llvm-symbolizer-19", "llvm-symbolizer-19 --relative-address -e ../../programs/gcc-x86.so 0x1348", ".L50", "switch_of_lines"),
    (25, "llvm-symbolizer-line-directive", "llvm-symbolizer-19", "llvm-symbolizer-19 --relative-address -e ../../programs/clang19-pdb-lto.dll 0x11df",
     "by_generator.y:602", "second.y:701"),
    (41, "llvm-symbolizer-omap", "llvm-symbolizer-19", "llvm-symbolizer-19 --relative-address -e ../../programs/clang19-omap.dll 0x1bd2",
     "names.cpp:187", "shapes.c:8"),
)]


def rows():
    """{number: (heading of the section, {column: text})} of BUGS.md, and its links."""
    out, heading, names = {}, "", []
    text = (SUITE / "BUGS.md").read_text(encoding="utf-8")
    links = dict(re.findall(r"(?m)^\[(\w+)\]: (\S+)$", text))
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("| #"):
            names = cells
        elif re.match(r"\| \d+ \|", line):
            out[int(cells[0])] = heading, dict(zip(names, cells))
    return out, links


def readme(bug, heading, row, links):
    columns = list(row.values())
    cause, case, expected, actual, rule = columns[1:6]
    case = case.split()[0].rstrip(",")
    addresses = re.sub(r"\[(\w+)\]", lambda found: f"<{links[found[1]]}>", rule)
    command = bug.command.format(case=case)
    versions = heading + (f"; versions {row['versions']}" if "versions" in row else "")
    return case, f"""# {bug.number}: {bug.name}

{cause}.

{versions}

| case | `{case}`, whose line of the suite is `case.json` |
|---|---|
| expected | {expected} |
| actual | {actual} |
| rule | {addresses} |

Run in this folder:
```sh
{command}
```
With the fault it prints

{"".join(f"    {line}" + chr(10) for line in bug.shows.splitlines())}
and without it `{bug.right}`. [BUGS.md](../../BUGS.md) has the other faults.
"""


def files(folder):
    """{path below FOLDER/bugs: text}."""
    lists = json.loads((folder / "suite.json").read_text(encoding="utf-8"))["lists"]
    lines = {json.loads(line)["id"]: line for name in lists for line in (folder / name).read_text(encoding="utf-8").splitlines()}
    found, links = rows()
    out = {}
    for bug in BUGS:
        case, text = readme(bug, *found[bug.number], links)
        out |= {f"{bug.name}/README.md": text, f"{bug.name}/case.json": lines[case] + "\n"}
    return out


def make(folder):
    shutil.rmtree(folder / "bugs", ignore_errors=True)
    for name, text in files(folder).items():
        (folder / "bugs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "bugs" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    make(SUITE)
