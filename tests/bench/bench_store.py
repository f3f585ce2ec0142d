#!/usr/bin/env python3
"""Measures what reads a run of many cases: processor time, instructions, peak memory; and what a case costs on disk.

    bench_store.py BUILD [--work FOLDER] [--cases N] [--rounds N] [--real DATABASE] [--write]

seed_store fills the databases in FOLDER once; they are kept there and used again. The commands run in turn, ROUNDS times: the
table has the least processor time and the largest peak. Instructions of `gate` and `compare` are counted by callgrind in runs
of 200 and of 600 cases; the table has the difference for one case. --real is a database of real runs (./run makes
build/twinstack.db), whose tables are measured, too. --write replaces RESULTS-store.md by what is printed. Fails if a target is
missed."""

import argparse
import datetime
import os
import pathlib
import platform
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LARGE, HISTORY, FEW, SOME = "large.db", "history.db", "few.db", "some.db"
FEW_CASES, SOME_CASES = 200, 600
HISTORY_RUNS, HISTORY_CASES = 1000, 10
OUT = "OUT"  # in a command: a file that it writes

# What is measured: the command, the database, and the most seconds, MB, and bytes for each case (None: no target).
COMMANDS = [
    (("gate",), LARGE, 1, 64), (("gate", "--min-capture", "10%"), LARGE, 1, 64), (("gate", "--against", "1"), LARGE, 2, 64),
    (("gate", "--against", "1", "--max-slowdown", "10%"), LARGE, 2, 64), (("compare", "1", "2"), LARGE, 2, 64),
    (("compare", "1", "2", "--json"), LARGE, 2, 64), (("report", "--json", "-o", OUT), LARGE, None, None),
    (("report", "--junit", OUT), LARGE, None, None), (("report", "--ctrf", OUT), LARGE, None, None),
    (("report", "--folded", OUT), LARGE, None, None), (("report", "--speedscope", OUT), LARGE, None, None),
    (("report", "--openmetrics", OUT), LARGE, None, None), (("report", "--text"), LARGE, None, None),
    (("report", "--md", OUT), LARGE, None, None), (("report", "--badge", OUT), LARGE, None, None),
    (("report", "--details"), LARGE, None, None), (("report", "--html", OUT), LARGE, None, None),
    (("gate", "--against", "baseline"), HISTORY, 0.05, None),
]
TEXT = """# Large stores: measured

    tests/bench/bench_store.py BUILD --write

makes this file in one run: {when}, {machine}, load {load:.1f} before it and {load_after:.1f} after it. Processor time is
counted, the least of {rounds} rounds of all commands; memory is the largest peak of a process. Instructions are those of a gate
or comparison for one case more (callgrind, runs of 200 and 600 cases): other programs on the machine do not change them. A
peak of 14 MB is that of the measuring program, which each command starts as, and hides what is less. The databases are made
up by `seed_store`: two runs of {cases:,} cases, 5 engines and 9 frames each ({large_mb:.0f} MB), and {runs:,} runs of
{run_cases} cases. A database that is not in the page cache takes up to four times as long, and most of that is reading.

{table}

`gate --against` compares times only if `--max-slowdown` is given; else it reads verdicts. Reports take one case after the other;
they keep the cases that fail, deviate or are UNSUPPORTED (here every sixth), and the times of at most 4,096 cases; the others'
times go to a temporary file. `--html` keeps a line per case, and makes one document at a time. `compare` keeps 72 bytes and the
times of each case. `tests/e2e/test_large_runs.py` bounds the memory for one case more of each command.

## What a case costs on disk

{disk}

Places, texts, modules and files are stored once, an address only where module and offset do not give it, and files are
compressed. `db prune` does the `VACUUM`; `db list` and `db prune` print what a case costs. Dumps are not in the database.
`tests/e2e/test_large_runs.py` fails above 4 KB for a made-up case, and when pruning makes a case cost a fifth more;
`tests/unit/test_store_shared.c` fails when an equal case adds a text, a module, a file or a place.
"""


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder, self.out = options, folder, folder / "out"
        self.program, self.seed = options.build / "bin/twinstack", options.build / "tests/seed_store"

    def database(self, name, *arguments):
        """Makes it, unless it is there."""
        path = self.folder / name
        if not path.exists():
            print(f"making {path}", file=sys.stderr, flush=True)
            made = self.folder / f"{name}.part"
            made.unlink(missing_ok=True)
            subprocess.run([self.seed, made, *map(str, arguments)], check=True)
            made.rename(path)

    def make_all(self):
        self.database(LARGE, 1, self.options.cases, self.options.cases)
        self.database(HISTORY, HISTORY_RUNS, HISTORY_CASES, 0)
        self.database(FEW, 2, FEW_CASES, 0)
        self.database(SOME, 2, SOME_CASES, 0)

    def argv(self, command, database):
        return [self.program, *(str(self.out) if word == OUT else word for word in command), "--db", self.folder / database]

    def take(self, command, database):
        """Returns (processor seconds, peak MB)."""
        with open(os.devnull, "wb") as nothing:
            tool = subprocess.Popen(self.argv(command, database), stdout=nothing, stderr=nothing)  # noqa: SIM115
            _, status, used = os.wait4(tool.pid, 0)
        tool.returncode = os.waitstatus_to_exitcode(status)
        if tool.returncode not in (0, 1):
            raise SystemExit(f"{command}: exit status {tool.returncode}")
        return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024

    def instructions(self, command, database):
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *self.argv(command, database)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        return int(re.search(r"refs:\s+([\d,]+)", done.stderr)[1].replace(",", ""))

    def instructions_a_case(self, command):
        if command[0] == "report" or not shutil.which("valgrind"):  # under callgrind, reports take minutes
            return None
        grown = self.instructions(command, SOME) - self.instructions(command, FEW)
        return grown / (SOME_CASES - FEW_CASES)

    def measure(self):
        """Returns a row for each of COMMANDS: seconds, MB, instructions per case."""
        rows = {}
        for turn in range(self.options.rounds):
            for command, database, _, _ in COMMANDS:
                print(f"round {turn + 1}: {' '.join(command)}", file=sys.stderr, flush=True)
                seconds, mb = self.take(command, database)
                least, most = rows.get((command, database), (seconds, mb))
                rows[command, database] = min(least, seconds), max(most, mb)
        return {key: (*row, self.instructions_a_case(key[0]) if key[1] == LARGE else None) for key, row in rows.items()}

    def kb_per_case(self, path, *argv):
        said = subprocess.run([self.program, "db", *argv, "--db", path], capture_output=True, text=True, check=True).stdout
        return float(re.search(r"(?m): ([0-9.]+) KB per case$", said)[1])

    def pruned(self):
        """KB per made-up case before and after one of two runs is removed."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            copy = pathlib.Path(folder, "pruned.db")
            shutil.copy(self.folder / SOME, copy)
            with sqlite3.connect(copy) as db:
                db.execute("DELETE FROM baseline")
            db.close()
            return self.kb_per_case(copy, "list"), self.kb_per_case(copy, "prune", "--keep-runs", "1")


def tables_of(path):
    """KB per case of each group of tables of a database, after VACUUM; and the number of cases."""
    groups = {"frames": {"stack_frame", "site", "stack"}, "files": {"artifact", "case_artifact"}, "findings": {"finding"},
              "claims": {"claim"}, "texts and modules": {"text", "module"}, "evidence": {"evidence"}}
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, "copy.db")
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            db.execute("VACUUM INTO ?", (str(copy),))
        db.close()
        with sqlite3.connect(copy) as db:
            cases = db.execute("SELECT count(*) FROM crash_case").fetchone()[0]
            sizes = db.execute("SELECT coalesce(m.tbl_name, d.name), sum(d.pgsize) FROM dbstat d LEFT JOIN sqlite_schema m"
                               " ON m.name = d.name GROUP BY 1").fetchall()
        db.close()
    rows = dict.fromkeys([*groups, "everything else"], 0)
    for table, size in sizes:
        rows[next((g for g, tables in groups.items() if table in tables), "everything else")] += size / 1024 / cases
    return rows, cases


def table(rows, cases):
    lines = [f"| {cases:,} cases | processor time, s | peak, MB | target | instructions per case |", "|---|---|---|---|---|"]
    missed = []
    for command, database, most_s, most_mb in COMMANDS:
        seconds, mb, instructions = rows[command, database]
        name = f"`{' '.join(w for w in command if w != OUT)}`"
        if database == HISTORY:
            name += f" with {HISTORY_RUNS:,} runs of history"
        target = ", ".join(t for t in ("" if most_s is None else f"{most_s:g} s", "" if most_mb is None else f"{most_mb} MB") if t)
        if (most_s is not None and seconds > most_s) or (most_mb is not None and mb > most_mb):
            missed.append(name)
            target += " **missed**"
        lines.append(f"| {name} | {seconds:.2f} | {mb:.0f} | {target} | {'' if instructions is None else f'{instructions:,.0f}'} |")
    return "\n".join(lines), missed


def disk(bench, real):
    before, after = bench.pruned()
    text = (f"A made-up case costs {before:.1f} KB, and {after:.1f} KB after one of two runs of {SOME_CASES:,} cases was pruned; "
            f"{bench.kb_per_case(bench.folder / LARGE, 'list'):.1f} KB in the large database.")
    if real is None:
        return text
    rows, cases = tables_of(real)
    lines = [f"| real runs under Wine, {cases:,} cases, after `VACUUM` | KB per case |", "|---|---|"]
    lines += [f"| {name} | {kb:.1f} |" for name, kb in rows.items()]
    return "\n".join([text, "", *lines, f"| **all** | **{sum(rows.values()):.1f}** |"])


def machine():
    names = re.findall(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{os.cpu_count()} processors ({names[0] if names else platform.machine()})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--cases", type=int, default=100000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--real", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    folder = options.work or options.build / "bench-store"
    folder.mkdir(parents=True, exist_ok=True)
    bench = Bench(options, folder)
    bench.make_all()
    load = os.getloadavg()[0]
    rows = bench.measure()
    text, missed = table(rows, options.cases)
    document = TEXT.format(when=datetime.date.today().isoformat(), machine=machine(), load=load, load_after=os.getloadavg()[0],
                           rounds=options.rounds, cases=options.cases, runs=HISTORY_RUNS, run_cases=HISTORY_CASES, table=text,
                           large_mb=(folder / LARGE).stat().st_size / 1e6, disk=disk(bench, options.real))
    print(document)
    if options.write:
        (ROOT / "tests/bench/RESULTS-store.md").write_text(document, encoding="utf-8")
    if missed:
        print(f"missed: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
