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

LLDB_LOOKUP = "lldb-19 --no-lldbinit -b -o 'target create ../../programs/{0}' -o 'image lookup -v -a {1}'"
ASKED = """(echo '{{"hello":1,"suite":"'$(realpath ../..)'","edition":""}}'; cat case.json) | """
WINE = f"x86_64-w64-mingw32-gcc -O2 -o /tmp/windows_walk.exe ../../adapters/windows_walk.c -lversion\n{ASKED}wine /tmp/windows_walk.exe rtl"
WINE_NAMES = f"x86_64-w64-mingw32-gcc -O2 -o /tmp/windows_names.exe ../../adapters/windows_names.c -lversion\n{ASKED}wine /tmp/windows_names.exe dbghelp"
DIA = ("x86_64-w64-mingw32-gcc -O2 -o /tmp/windows_names.exe ../../adapters/windows_names.c -lversion\n# MICROSOFT: the absolute path of a folder with msdia140.dll\n"
       f"{ASKED}WINEDLLOVERRIDES='msdia140=n' wine /tmp/windows_names.exe dia \"Z:$MICROSOFT/msdia140.dll\"")
DBGENG = ("# MICROSOFT: the absolute path of a folder with twinstack-dbgeng.exe and the DLLs that adapters/dbgeng.py names\n"
          f'{ASKED}../../adapters/dbgeng.py wine "$MICROSOFT/twinstack-dbgeng.exe"')
BREAKPAD = f"{ASKED}../../adapters/breakpad.py minidump_stackwalk --symbols 'cat symbols.sym'"
# Symbol files of Breakpad, with the records that these walks want.
SYM_X64 = """MODULE windows x86_64 000000000000000000000000000000000 x64-push.pdb
STACK CFI INIT 1000 12 .cfa: $rsp 8 + .ra: .cfa 8 - ^
STACK CFI 1004 .cfa: $rsp 48 +
STACK CFI INIT 1060 18 .cfa: $rsp 8 + .ra: .cfa 8 - ^
STACK CFI 1061 .cfa: $rsp 16 + $rsi: .cfa 16 - ^
STACK CFI 1065 .cfa: $rsp 80 +
STACK CFI 106a .cfa: $rsi 48 +
STACK CFI INIT 1190 18 .cfa: $rsp 8 + .ra: .cfa 8 - ^
"""
SYM_X86 = """MODULE windows x86 000000000000000000000000000000000 x86-frames.pdb
STACK WIN 4 1003 7 0 0 0 0 c 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + =
STACK WIN 4 100e c 3 0 0 8 0 0 1 $T0 $ebp 4 + = $eip $T0 ^ = $esp $T0 4 + = $ebp $T0 4 - ^ = $ebx $T0 8 - ^ =
STACK WIN 4 1023 10 0 0 0 4 10 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + = $ebx $T0 4 - ^ =
"""

# TOOL has to be there, and what $MICROSOFT in the COMMAND names. SHOWS is printed where the fault is, RIGHT where it is not. SYMBOLS: of a file beside the case.
Shown = collections.namedtuple("Shown", "number name tool command shows right symbols", defaults=("",))
BUGS = [Shown(*row) for row in (
    (1, "gdb-pop-in-epilogue", "x86_64-w64-mingw32-gdb", GDB, "Backtrace stopped", "#2  0x000000018000100c"),
    (2, "gdb-jump-in-epilogue", "x86_64-w64-mingw32-gdb", GDB, "#1  0x0000000180001120", "#1  0x00000001800010b2"),
    (3, "gdb-short-jump-in-epilogue", "x86_64-w64-mingw32-gdb", GDB, "previous frame identical to this frame", "#1  0x00000001800010b2"),
    (4, "gdb-jump-to-chained-part", "x86_64-w64-mingw32-gdb", GDB, "previous frame identical to this frame", "#1  0x0000000180001112"),
    (5, "gdb-rep-ret", "x86_64-w64-mingw32-gdb", GDB, "#1  0x0000000180001120", "#1  0x00000001800010b2"),
    (6, "gdb-far-save", "x86_64-w64-mingw32-gdb", GDB, "Cannot access memory at address 0x10baff08", "#1  0x0000000180001031"),
    (7, "gdb-save-of-frame-register", "x86_64-w64-mingw32-gdb", GDB, "#2  0x00000000107fff40", "#2  0x000000018000100c"),
    (8, "lldb-offset-in-function", "lldb-19", LLDB + " -o 'frame select 1'", "Frame index (1) out of range", "frame #1: 0x0000000180001031"),
    (9, "lldb-leaf", "lldb-19", LLDB, "frame #1: 0x00000000107fff40", "frame #1: 0x0000000180001051"),
    (10, "lldb-alloc-after-frame-register", "lldb-19", LLDB, "frame #1: 0x00000000107fff40", "frame #1: 0x0000000180001071"),
    (11, "lldb-popped-register", "lldb-19", ASKED + "../../adapters/lldb.py lldb-19 --names", '"0x18000115f", "sp": "0x107fff08"}]', "0x180001031"),
    (12, "lldb-machine-frame", "lldb-19", ASKED + "../../adapters/lldb.py lldb-19 --names", "0x180001120", "0x180001031"),
    (34, "lldb-arm64-pdata", "lldb-19", LLDB, "frame #1: 0x0000000180001010", "frame #1: 0x0000000180001030"),
    (35, "lldb-word-in-two-ranges", "lldb-19",
     "lldb-19 --no-lldbinit -b -o 'target create --core ../../dumps/x64-odd-pieces-0.dmp' -o 'memory read -f x -s 8 -c 1 0x107fff88'",
     "(4/8)", "0x000000018000100c"),
    (13, "wine-jump-in-epilogue", "wine", WINE, "0x180001120", "0x1800010b2"),
    (14, "breakpad-rsi", "minidump_stackwalk", BREAKPAD, '"0x107fff10"}]', "0x18000100c", SYM_X64),
    (39, "breakpad-goes-on", "minidump_stackwalk", BREAKPAD, "0x60100a", '"0x10007fb0"}]', SYM_X86),
    (40, "breakpad-stack-in-pieces", "minidump_stackwalk", BREAKPAD, '"0x10007f8c"}]', "0x611005", SYM_X86),
    (37, "dbgeng-large-packed-frame", "wine", DBGENG, '"0x1003ff40"', '"0x180001030"'),
    (38, "dbgeng-32-code-words", "wine", DBGENG, '"0x180001030", "sp": "0x1003ff40"', '"0x180001030", "sp": "0x1003ff60"'),
    (42, "wine-omap", "wine", WINE_NAMES, '"line":187', '"line":8'),
    (43, "wine-two-rows", "wine", WINE_NAMES, '"line":192', '"line":193'),
    (44, "wine-line-directive", "wine", WINE_NAMES, "by_generator.y", "second.y"),
    (45, "wine-inlined-scope", "wine", WINE_NAMES, '"function":"down"', '"function":"templates::down"'),
    (46, "dia-inlined-in-other-file", "wine", DIA, '[{"function":"line_inlined"', '[{"function":"line_leaf"'),
    (16, "gdb-split-package", "gdb-multiarch", "gdb-multiarch -nx -batch -ex 'info scope *0x22cb' ../../programs/clang19-packed5.so",
     "Fatal signal: Segmentation fault", "locals"),
    (17, "addr2line-rnglistx", "addr2line", "addr2line -fie ../../programs/clang19-dwarf5.so 0x21c1", "second\n/suite/shapes.c:25\nchain_two", "leaf"),
    (18, "addr2line-file-numbers", "addr2line", "addr2line -fie ../../programs/rust-v0.so 0x1e40", "/suite/names.rs/@/names.", "/suite/names.rs:"),
    (19, "addr2line-dwarf64", "addr2line", "addr2line -fie ../../programs/gcc-o3-dwarf64.so 0x11bb", "mangled line number section", "/suite/shapes.c:"),
    (20, "addr2line-partial-unit", "addr2line", "addr2line -fie ../../programs/gcc-dwz.so 0x13d6", "call_in_chain\n/suite/shapes.c:108", "\ncalls_out\n"),
    (21, "addr2line-no-linkage-name", "addr2line", "addr2line -fie ../../programs/gcc-dwarf5.so 0x1ac9", "_ZN7lambdas3useEi\n/suite/names.cpp:152\n_ZN7lambdas3useEi", "operator()"),
    (22, "eu-addr2line-no-aranges", "eu-addr2line", "eu-addr2line -fie ../../programs/clang19-dwarf5.so 0x2160", "??:0", "shapes.c:7"),
    (23, "eu-addr2line-namespace", "eu-addr2line", "eu-addr2line -fie ../../programs/clang19-aranges.so 0x2690", "_ZN9templates9recursionEi\n/suite/names.cpp:36", "down<3>"),
    (24, "llvm-symbolizer-label", "llvm-symbolizer-19", "llvm-symbolizer-19 --relative-address -e ../../programs/gcc-x86.so 0x1348", ".L50", "switch_of_lines"),
    (25, "llvm-symbolizer-line-directive", "llvm-symbolizer-19", "llvm-symbolizer-19 --relative-address -e ../../programs/clang19-pdb-lto.dll 0x11df",
     "by_generator.y:602", "second.y:701"),
    (26, "llvm-symbolizer-inlined-caller", "llvm-symbolizer-14", "llvm-symbolizer-14 --relative-address -e ../../programs/clang19-pdb-o2.dll 0x10ca",
     "second\n/suite/shapes.c:32", "second\n/suite/shapes.c:31"),
    (27, "lldb-line-str-of-pe", "lldb-19", LLDB_LOOKUP.format("mingw-dwarf5.dll", "0x31a2d1000"), "): :8:5", "shapes.c:8:5"),
    (28, "lldb-dwarf64", "lldb-19", LLDB_LOOKUP.format("gcc-o3-dwarf64.so", "0x11bb"), "`rare + 11\n", "LineEntry:"),
    (29, "lldb-empty-range", "lldb-19", LLDB_LOOKUP.format("gcc-dwarf4.so", "0x12e5"), "`chain_two + 4 at shapes.c:31", "[inlined] second"),
    (30, "lldb-two-rows", "lldb-19", LLDB_LOOKUP.format("clang19-pdb-x86.dll", "0x100010c4"), "chain_four + 4 at shapes.c:78", "chain_four + 4 at shapes.c:79"),
    (31, "lldb-after-inlined-call", "lldb-19", LLDB_LOOKUP.format("clang19-pdb-o2.dll", "0x1800011b4"), "nested_calls_out + 27 at shapes.c:111", "at shapes.c:123"),
    (32, "lldb-inlined-in-loop", "lldb-19", LLDB_LOOKUP.format("clang19-pdb-o2.dll", "0x1800013ac"), "loop_of_inlined + 28 at shapes.c:25", "[inlined] leaf"),
    (47, "lldb-dwarf5-of-mach-o", "lldb-16", "lldb-16 --no-lldbinit -b -o 'target create --symfile "
     "../../programs/clang19-macho.dylib.dSYM/Contents/Resources/DWARF/clang19-macho.dylib ../../programs/clang19-macho.dylib' -o 'image lookup -v -a 0x5ca'",
     "): :25", "shapes.c:25"),
    (36, "llvm-symbolizer-other-module", "llvm-symbolizer-19", "llvm-symbolizer-19 --relative-address -e ../../programs/crash.exe 0x26f0", "Stack dump:", "crash_generation_client.cc:133"),
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
        out |= {f"{bug.name}/README.md": text, f"{bug.name}/case.json": lines[case] + "\n", **({f"{bug.name}/symbols.sym": bug.symbols} if bug.symbols else {})}
    return out


def make(folder):
    shutil.rmtree(folder / "bugs", ignore_errors=True)
    for name, text in files(folder).items():
        (folder / "bugs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "bugs" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    make(SUITE)
