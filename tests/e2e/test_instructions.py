"""How many instructions the program takes for fixed work, beside the table tests/instructions.tsv. A count does not depend on how busy the
machine is, which a time does; times are what `twinstack bench` measures, and decide no test.

    test_instructions.py --write    puts into the table what changed by more than 1 %

The table is for the build of ./run on Debian 12. Valgrind counts, and shows the program the same processor on every machine.

Only this finds work that became dearer by a few per cent."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

TABLE = e2e.ROOT / "tests/instructions.tsv"
ALLOWED = 0.01
LONG_AGO_S = 1_000_000_000  # the program does not remember the contents of a folder that has just changed
# What the working folder holds.
FILES = [*(e2e.ROOT / "corpus" / name for name in (
    "cases", "symbols", "reporter", "arm64/signed-1.dmp", "crash-x86/crash.pdb", "managed/shapes.pdb", "botman/capture-stack.csv", "botman/stacks.txt")),
    *(e2e.FIXTURES / name for name in (
        "g02-basic32-x86/basic32.pdb", "images/i10-elf-crash/crash.debug", "images/i30-breakpad/windows-crash.sym",
        "images/i30-breakpad/linux_null_read_av.dmp", "images/i30-breakpad/null_read_av.sym"))]


def stacks(module, first, end, count):
    """A text of COUNT stacks of eight frames each, spread over the code of MODULE."""
    frames = [f"{module}!{first + (end - first) * i // (8 * count):#x}\n" for i in range(8 * count)]
    return "".join(f"> stack\n{''.join(frames[i:i + 8])}" for i in range(0, len(frames), 8))


def objects(text):
    """The same stacks, one JSON object per line."""
    for stack in text.split("> stack\n")[1:]:
        frames = [line.split("!") for line in stack.split()]
        yield json.dumps({"modules": [{"name": frames[0][0]}], "frames": [{"module": 0, "offset": offset} for _, offset in frames]}) + "\n"


def index(cache):
    return "--index", "always", "--cache", cache


MANY, MSVC = stacks("victims-ob2.exe", 0x1000, 0x18000, 500), stacks("crash.exe", 0x1000, 0x3700, 50)
ELF = stacks("crash", 0x1600, 0x14c00, 5)
METHODS = 20 * "".join(f"shapes.dll!0x060000{number:02x}+0x1\n" for number in range(1, 20))
CASE, X86, RESOLVE, NO_INDEX, SYMBOLS = "cases/inline_chain.ob2", "cases/throw_uncaught.x86-ob2", "resolve", ("--index", "never"), ("--symbols", "symbols")
# Name, arguments, standard input. An index on disk is that of the row before. No row makes the index of a larger PDB: several threads
# share that work, differently each time.
ROWS = (
    ("start", ("version",), ""),
    ("offsets, no index", (RESOLVE, *NO_INDEX, *SYMBOLS, f"{CASE}/record.rec"), ""),
    ("offsets, index made", (RESOLVE, *index("small"), *SYMBOLS, f"{CASE}/record.rec"), ""),
    ("offsets, index on disk", (RESOLVE, *index("small"), *SYMBOLS, f"{CASE}/record.rec"), ""),
    ("offsets, recursion", (RESOLVE, *NO_INDEX, "--json", *SYMBOLS, "cases/recursion.ob2/record.rec"), ""),
    ("offsets, 500 stacks as text", (RESOLVE, *NO_INDEX, *SYMBOLS, "-"), MANY),
    ("offsets, 500 stacks as JSON lines", (RESOLVE, *NO_INDEX, "--ndjson", *SYMBOLS, "-"), "".join(objects(MANY))),
    ("offsets, 500 stacks counted", ("signatures", "--json", *NO_INDEX, *SYMBOLS, "-"), MANY),
    ("offsets, PDB of 7 MB, no index", (RESOLVE, *NO_INDEX, "--pdb", "basic32.pdb", "-"), stacks("basic32.dll", 0x1000, 0x58000, 5)),
    ("offsets, PDB of 1 MB, no index", (RESOLVE, *NO_INDEX, "--pdb", "crash.pdb", "-"), MSVC),
    ("offsets, PDB of 1 MB, index made", (RESOLVE, *index("msvc"), "--pdb", "crash.pdb", "-"), MSVC),
    ("offsets, PDB of 1 MB, index on disk", (RESOLVE, *index("msvc"), "--pdb", "crash.pdb", "-"), MSVC),
    ("offsets, DWARF, no index", (RESOLVE, *NO_INDEX, "--symbols", "crash.debug", "-"), ELF),
    ("offsets, DWARF, index made", (RESOLVE, *index("dwarf"), "--symbols", "crash.debug", "-"), ELF),
    ("offsets, .sym of Breakpad", (RESOLVE, *NO_INDEX, "--symbols", "windows-crash.sym", "-"), MSVC),
    ("offsets, portable PDB", (RESOLVE, *NO_INDEX, "--pdb", "shapes.pdb", "-"), METHODS),
    ("offsets, CSV of functions", (RESOLVE, "--csv", "capture-stack.csv", "stacks.txt"), ""),
    ("dump, plain", ("dump", f"{CASE}/dump.dmp", *SYMBOLS), ""),
    ("dump, tuned", ("dump", f"{CASE}/dump-tuned.dmp", *SYMBOLS), ""),
    ("dump, x86, all threads", ("dump", f"{X86}/dump.dmp", "--stacks", *SYMBOLS), ""),
    ("dump, arm64", ("dump", "signed-1.dmp", "--stacks", "--json"), ""),
    ("dump, unwind data of a .sym", ("dump", "linux_null_read_av.dmp", "--stacks", "--symbols", "null_read_av.sym"), ""),
    ("dump, all streams", ("dump", f"{CASE}/dump.dmp", "--json"), ""),
    ("check, a case", ("check", CASE, *SYMBOLS), ""),
    ("check, a case of x86", ("check", X86, *SYMBOLS), ""),
    ("check, a reporter", ("check", "--dumps", "reporter/dumps", "--stacks", "reporter/stacks", "--symbols", "reporter/symbols"), ""),
    ("symbols, list", ("symbols", "list", "symbols"), ""),
    ("symbols, PDB as CSV", ("symbols", "export", "--inlines", "crash.pdb"), ""),
    ("symbols, PDB as .sym", ("symbols", "export", "--format", "breakpad", "crash.pdb"), ""),
)
EXIT_CODES = {"check, a reporter": 1}  # six of its stacks are wrong


def why_not():
    """Why this machine, or this build, cannot give the counts of the table; None: it can."""
    if not shutil.which("valgrind"):
        return "no valgrind"
    if not re.search(r"^flags\b.*\bavx2\b", pathlib.Path("/proc/cpuinfo").read_text(), re.M):
        return "this processor has no AVX2, so the C library takes other instructions"
    needs = subprocess.run(["readelf", "-d", e2e.PROGRAM], capture_output=True, text=True, check=True).stdout
    if re.search(r"\(NEEDED\).*\[lib(cjson|civetweb)", needs):
        return "the program is linked with shared libraries"
    return next((f"no fixture {path} ($TWINSTACK_FIXTURES)" for path in FILES if not path.exists()), None)


def fill(folder):
    """Makes the working folder: the program and the files, all of the same age."""
    folder.mkdir(parents=True)
    for path in FILES:
        (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / path.name)
    (folder / "twinstack").symlink_to(e2e.PROGRAM)
    for path in folder.rglob("*"):
        os.utime(path, (LONG_AGO_S, LONG_AGO_S), follow_symlinks=False)
    return folder


def count(folder, name, argv, stdin):
    """The instructions that the program takes in FOLDER, with nothing of the user's environment."""
    environment = {"LC_ALL": "C", "PATH": "/nowhere", "HOME": "/nowhere", "TWINSTACK_CACHE": "none", "TWINSTACK_SYSTEM_SYMBOLS": "0"}
    done = subprocess.run([shutil.which("valgrind"), "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", "--log-file=counted",
                           "./twinstack", *argv], input=stdin, cwd=folder, env=environment, capture_output=True, text=True, errors="replace", check=False)
    counted = re.search(r"I +refs: +([\d,]+)", (folder / "counted").read_text())
    if done.returncode != EXIT_CODES.get(name, 0) or not counted:
        raise AssertionError(f"{name}: twinstack {' '.join(argv)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return int(counted[1].replace(",", ""))


def count_all(folder):
    return {name: count(folder, name, argv, stdin) for name, argv, stdin in ROWS}


def read_table(text):
    return {name: int(number) for name, number in re.findall(r"^([^#\t\n][^\t\n]*)\t(\d+)$", text, re.M)}


def differences(now, table):
    """{name: what to say about it}, of rows whose count is not the one of the table."""
    said = {}
    for name in {**table, **now}:
        if name not in now or name not in table:
            said[name] = "is not in the table" if name in now else "is only in the table"
        elif abs(now[name] - table[name]) > ALLOWED * table[name]:
            said[name] = f"{'grew' if now[name] > table[name] else 'fell'}: {table[name]:,} -> {now[name]:,} instructions ({now[name] / table[name] - 1:+.1%})"
    return said


def write():
    text = TABLE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as parent:
        now = count_all(fill(pathlib.Path(parent, "work")))
    table = read_table(text)
    said = differences(now, table)
    head = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
    TABLE.write_text(head + "".join(f"{name}\t{number if name in said else table[name]}\n" for name, number in now.items()), encoding="utf-8")
    print("".join(f"{name} {what}\n" for name, what in said.items()), end="")


class Table(e2e.Case):
    def test_what_is_said(self):
        table = read_table("# name, instructions\nsame\t1000\nmore, a little\t1000\nmore\t2000000\nless, a little\t1000\nless\t1000\ngone\t7\n")
        now = {"same": 1000, "more, a little": 1010, "more": 2020001, "less, a little": 990, "less": 989, "new": 5}
        self.assertEqual(differences(now, table), {
            "more": "grew: 2,000,000 -> 2,020,001 instructions (+1.0%)", "less": "fell: 1,000 -> 989 instructions (-1.1%)",
            "gone": "is only in the table", "new": "is not in the table"})


class Counts(e2e.Case):
    def setUp(self):
        why = why_not()
        if why:
            self.skipTest(why)

    def test_counts_are_those_of_the_table(self):
        for name, what in differences(count_all(fill(self.folder / "work")), read_table(TABLE.read_text(encoding="utf-8"))).items():
            with self.subTest(name):
                self.fail(f"{what}\nIf it should: test_instructions.py --write, and the commit that changes tests/instructions.tsv says why.")

    def test_a_count_is_the_same_elsewhere(self):
        """Otherwise the 1 % would be noise."""
        here, there = fill(self.folder / "a"), fill(self.folder / "another" / ("folder" * 8))
        for name, argv, stdin in ROWS:
            if name in ("offsets, PDB of 7 MB, no index", "dump, plain"):
                with self.subTest(name):
                    first, second = count(here, name, argv, stdin), count(there, name, argv, stdin)
                    self.assertLess(abs(second - first), first / 1000)


if "--write" in sys.argv[1:]:
    sys.exit(why_not() or write())
e2e.main()
