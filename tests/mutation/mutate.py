#!/usr/bin/python3
"""Puts single faults into a copy of the sources, one at a time, and reports what notices them and which side is blamed.

    ./run mutation [NAME]...           every fault of faults.toml, or those whose name contains NAME
    ./run mutation --list              the faults, without running them
    ./run mutation --level check,run   only these levels
    ./run mutation --every-level       also asks the levels after the one that noticed the fault
    ./run mutation --open              only the faults that the results so far, of any sources, leave open
    ./run mutation --report            writes the results so far into README.md, runs nothing
    ./run mutation --here [NAME]...    the level unit alone, without a copy of the sources: seconds for each fault, see here.py
    ./run mutation --days [NAME]...    red days, and what they show first: see days.py
    ./run mutation --fresh SEED        faults that no table has, asked at first sight: see fresh.py
    ./run mutation --reach             which lines each quick test runs, which makes --fresh fast: see reach.py

A fault is one replacement in a file that matches its `file` pattern, or of one line of a file. Those of generated.toml are made by
generate.py; a fault that has a reason why it is `equivalent` is not run.  For each fault the copy is built incrementally and tested on
three levels, one after the other, until a level notices it and, if the fault has a blame, until a verdict changes:
  unit    the unit tests that contain the changed file, then the end-to-end tests of `./run test --quick`
  check   the sealed cases of corpus/
  run     scenarios under Wine, with all judges. For a fault of the capture or of the collector, a dozen scenarios are taken again.
          For a fault of the analysis, the cases of the dozen and some more are judged again; they were taken once, without a fault
A fault is noticed when a test fails or a verdict changes.  Its blame is right when, among the cases whose verdict
changed, no side is blamed in more cases than the one that the fault's `blame` names.  Results are kept in
build/mutation/results.jsonl by fault, level and source, so an interrupted run continues where it stopped.

Exit status: 0 the goals are met; 1 they are not, or a fault's pattern no longer matches; 3 the copy does not build."""

import argparse
import collections
import contextlib
import datetime
import fcntl
import hashlib
import importlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[i] / name) for i, name in ((0, ""), (1, ""), (1, "lib"))]
import run_tests  # noqa: E402
from faults import ROOT, digest, place_of, read_faults, room_of  # noqa: E402
from machine import overload  # noqa: E402

BUILD = pathlib.Path(os.environ.get("TWINSTACK_BUILD", ROOT / "build"))
PLACE = BUILD / "mutation"
FIXTURES = next((p for p in (os.environ.get("TWINSTACK_FIXTURES"), ROOT.parent / "shared/fixtures") if p and pathlib.Path(p).is_dir()),
                BUILD / "fixtures")  # as tests/lib/test.c looks for them
TREE, TOOL, VICTIMS = PLACE / "tree", PLACE / "build", PLACE / "victims"
RESULTS = PLACE / "results.jsonl"
PAGES = PLACE / "pages"  # for each fault, what `compare --markdown` prints for its run
README = pathlib.Path(__file__).with_name("README.md")
SCORE_START, SCORE_END = "<!-- score -->", "<!-- end of score -->"
SCENARIOS = ["null_write", "inline_chain", "noreturn_tail", "recursion", "leaf_store", "abort_call", "crash_in_dll", "second_thread",
             "sleep_forever", "handled_exception", "generated_table", "module_unloaded"]
# These are taken only once, without a fault, and then judged again.
MORE_SCENARIOS = ["inline_twice", "unwind_", "two_threads", "callback_through_system", "big_frame.", "variable_frame", "call_data",
                  "template_names", "mixed_variants", "module_rebased", "invalid_parameter", "sort_callback", "clean_exit"]
LEVELS = ("unit", "check", "run")
EVEN = "none: the votes are even"  # a blame that names no side
E2E_TARGETS = ("twinstack", "undecorate_lines")  # what the end-to-end tests of --quick start
CORES = os.cpu_count() or 1
NOTICED_GOAL, BLAMED_GOAL = 0.98, 0.90
UNIT_LIMIT_S, CHECK_LIMIT_S, RUN_LIMIT_S, TAKE_LIMIT_S = 60, 60, 180, 600


def shell(*argv, limit_s, **more):
    """Runs a command; returns (exit status, output, errors), status None when it was ended after LIMIT_S seconds of a core's time."""
    child = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, errors="replace", start_new_session=True, **more)
    had_s, step_s = 0.0, 5
    while had_s < limit_s:
        try:
            out, err = child.communicate(timeout=step_s)
            return child.returncode, out, err
        except subprocess.TimeoutExpired:
            had_s += step_s / overload()
    os.killpg(child.pid, signal.SIGKILL)
    child.communicate()
    return None, "", f"time limit of {limit_s} s"


def check_place():
    """Refuses a TREE whose files are not this tool's: copy_tree removes what git does not list."""
    tree = TREE.resolve()
    if any(p.is_symlink() for p in (PLACE, TREE)) or tree == ROOT or tree in ROOT.parents:
        raise SystemExit(f"mutate.py: {TREE} is not a place of its own; nothing was changed")
    if os.path.lexists(TREE / ".git"):
        raise SystemExit(f"mutate.py: {TREE} is a repository, not a copy made by this tool; nothing was changed")


def listed_files():
    """The files that git tracks or would; without git all but what was built."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        names = {pathlib.Path(os.fsdecode(name)) for name in listed.stdout.split(b"\0") if name}
    else:
        tops = [p for p in ROOT.iterdir() if not p.name.startswith("build") and p.name != ".git"]
        names = {p.relative_to(ROOT) for top in tops for p in ([top] if top.is_file() else top.rglob("*")) if not {"node_modules", "__pycache__"} & set(p.parts)}
    return {name for name in names if (ROOT / name).is_file()}


def copy_tree():
    """Brings TREE up to date with the sources; files that did not change keep their times."""
    check_place()
    wanted = listed_files()
    for name in wanted:
        source, target = ROOT / name, TREE / name
        if not target.is_file() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    for old in [p for p in TREE.rglob("*") if p.is_file() and p.relative_to(TREE) not in wanted
                and "node_modules" not in p.parts and "__pycache__" not in p.parts]:
        old.unlink()


def configure(with_victims):
    if not (TOOL / "build.ninja").is_file():
        done = shell("cmake", "-G", "Ninja", "-S", TREE, "-B", TOOL, limit_s=120)
        if done[0] != 0:
            raise SystemExit(f"mutate.py: the copy cannot be configured\n{done[2][-2000:]}")
    if with_victims and not (VICTIMS / "build.ninja").is_file():
        done = shell("cmake", "-G", "Ninja", "-S", TREE / "victims", "-B", VICTIMS, "--toolchain",
                     TREE / "cmake/wine-clang.cmake", "-DTWINSTACK_VARIANTS=ob0;ob2", limit_s=120)
        if done[0] != 0:
            raise SystemExit(f"mutate.py: the victims of the copy cannot be configured\n{done[2][-2000:]}")


def make(tree, *targets):
    """Builds TARGETS.  Returns None, or the end of what a failing build printed."""
    done = shell("ninja", "-j", CORES, "-C", tree, *targets, limit_s=900)
    return (done[1] + done[2])[-3000:] if done[0] != 0 else None


def is_asked(level, fault):
    """False for a level that cannot notice the fault: the sealed cases are judged without the capture."""
    return level != "check" or not is_of_capture(fault)


def build_for(level, fault):
    """Builds what LEVEL needs, except the unit tests, which are built one by one.  Returns what make() returns."""
    broken = make(TOOL, "twinstack") if level in ("check", "run") else None
    return make(VICTIMS, "all") if not broken and level == "run" and is_of_capture(fault) else broken


class Programs:
    """Which test programs contain which source files, by what ninja and the linker know of the copy without a fault."""

    def __init__(self):
        self.objects, self.seconds = collections.defaultdict(set), {}
        name = None
        for line in shell("ninja", "-C", TOOL, "-t", "deps", limit_s=60)[1].splitlines():
            if not line.startswith(" "):
                name = line.partition(":")[0]
            elif not line.startswith("    /usr/"):
                self.objects[(TOOL / line.strip()).resolve()].add(name)
        self.symbols = {p.name: self.defined(p) for p in [*self.units(), TOOL / "bin/twinstack"] if p.is_file()}

    @staticmethod
    def units():
        return [p for p in sorted((TOOL / "tests").glob("unit_*")) if p.is_file() and "." not in p.name]

    @staticmethod
    def defined(file, *options):
        return set(subprocess.run(["nm", "--defined-only", "--format=just-symbols", *options, file], capture_output=True, text=True,
                                  check=True).stdout.split())

    def of(self, file):
        """The names of the programs that contain the source FILE."""
        found = set()
        if file.resolve() not in self.objects and (TREE / "analyze") in file.parents:
            raise SystemExit(f"mutate.py: {file} is in no program")
        for name in self.objects[file.resolve()]:
            own = re.search(r"/(unit_\w+)\.dir/", name)
            wanted = set() if own else self.defined(TOOL / name, "--extern-only")
            found |= {own[1]} if own else {p for p, has in self.symbols.items() if wanted & has}
        return found


def environment():
    """The environment of a program that runs in the copy: git must not find a repository from there, least of all this one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "GIT_CEILING_DIRECTORIES": str(PLACE), "TWINSTACK_BUILD": str(TOOL), "TWINSTACK_FIXTURES": str(FIXTURES),
            "TWINSTACK_TEST_SLOWNESS": str(max(1, round(overload()))), "TWINSTACK_CACHE": str(PLACE / "cache"),
            "TWINSTACK_VICTIMS": str(VICTIMS), "WINEPREFIX": str(BUILD / "wine"), "WINEDEBUG": "-all"}


def run_test(argv, seconds):
    """True if the test program passes; keeps its time in SECONDS."""
    start = time.monotonic()
    status, *_ = shell(*argv, limit_s=UNIT_LIMIT_S, cwd=TREE, env=environment())
    seconds[pathlib.Path(argv[-1]).stem] = time.monotonic() - start
    return status == 0


def e2e_tests():
    """The commands of the end-to-end tests of --quick: python3 or node, and the file in the copy."""
    quick = sorted((name, command) for name, (_, labels, _, command) in run_tests.known_programs().items()
                   if name.startswith("e2e_") and "quick" in labels)
    return [[program, TREE / pathlib.Path(file).relative_to(ROOT)] for _, (program, file) in quick]


def is_of_pages(file):
    """True for what no object contains: it is in the bundle of the pages, which the tests in JavaScript read."""
    return file.suffix == ".js"


def ask_clean(programs, only):
    """The name of the first test program that fails without a fault, or None.  ONLY: the names of the unit tests to run."""
    asked = [[p] for p in programs.units() if p.name in only] + e2e_tests()
    return next((pathlib.Path(argv[-1]).stem for argv in asked if not run_test(argv, programs.seconds)), None)


def words(name):
    return set(re.split(r"[\W_]+", name)) - {"unit", "test", "c", "h", "analyze"}


def ask_unit(fault, target, programs):
    """The name of the first test program that fails, or None.  The likely ones go first: the fault's own, then those that share words
    with its file's name, then the quick ones.  Raises Broken if one does not build."""
    if is_of_pages(target):
        return next((argv[-1].stem for argv in e2e_tests() if argv[0] == "node" and not run_test(argv, programs.seconds)), None)
    inside = programs.of(target)
    units = sorted((p for p in inside if p.startswith("unit_")), key=lambda p: (
        p != fault.get("test"), -len(words(p) & words(str(target.relative_to(TREE)))), programs.seconds.get(p, 0)))
    for name in units:
        broken = make(TOOL, name)
        if broken:
            raise Broken(broken)
        if not run_test([TOOL / "tests" / name], programs.seconds):
            return name
    if "twinstack" not in inside:
        return None
    broken = make(TOOL, *E2E_TARGETS)
    if broken:
        raise Broken(broken)
    return next((argv[-1].stem for argv in e2e_tests() if not run_test(argv, programs.seconds)), None)


def read_cases(text):
    """What a JSON report says: {case: [verdict, blames of the findings that fail]}."""
    cases = {}
    for case in json.loads(text)["cases"]:
        failing = [f for f in case.get("findings", []) if f.get("fails") and f.get("blame") not in (None, EVEN)]
        cases[f"{case['scenario']}.{case['variant']}"] = [case["verdict"], sorted({f["blame"] for f in failing})]
    return cases


def ask_json(*argv, limit_s):
    status, out, err = shell(TOOL / "bin/twinstack", *argv, limit_s=limit_s, cwd=TREE, env=environment())
    try:
        return {"exit": status, "cases": read_cases(out), "said": ""}
    except (ValueError, KeyError):
        return {"exit": status, "cases": {}, "said": err[-500:]}


def ask_check():
    return ask_json("check", "--json", *sorted((TREE / "corpus/cases").iterdir()), limit_s=CHECK_LIMIT_S)


def take(place, scenarios, victims, limit_s):
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    return ask_json("run", "--json", "-k", " or ".join(scenarios), "--victims", victims / "bin", "--prefix", BUILD / "wine",
                    "--out", place / "cases", "--db", place / "run.db", "--variant", "ob2", limit_s=limit_s)


def ask_taken(more):
    """Judges again the cases that were taken once: the dozen, and with MORE the others too. Also writes the page of CI."""
    good, db = PLACE / "taken/run.db", PLACE / "judged.db"
    shutil.copy(good, db)
    expr = " or ".join(SCENARIOS + MORE_SCENARIOS if more else SCENARIOS)
    found = ask_json("regrade", "--json", "--db", db, "-k", expr, limit_s=RUN_LIMIT_S)
    write_page(good, db)
    return found


def write_page(good, bad):
    """Writes what a CI job would show: the run with the fault compared with the run without it."""
    said = shell(TOOL / "bin/twinstack", "compare", "--markdown", "--db", bad, good, "latest", limit_s=CHECK_LIMIT_S, cwd=TREE, env=environment())
    (PLACE / "page.md").write_text(said[1] or said[2], encoding="utf-8")


def is_of_capture(fault):
    """True if the cases must be taken again to show the fault."""
    return fault["file"].startswith(("capture/", "victims/", "analyze/collect/"))


def is_of_walk(fault):
    """True for faults that show only in some kinds of frames, so that more cases are judged."""
    return fault["file"].startswith(("analyze/unwind/", "analyze/format/minidump/"))


def ask_run(fault):
    if not is_of_capture(fault):
        return ask_taken(is_of_walk(fault))
    found = take(PLACE / "run", SCENARIOS, VICTIMS, RUN_LIMIT_S)
    write_page(PLACE / "good/run.db", PLACE / "run/run.db")
    return found


class Broken(Exception):
    """The copy with a fault does not build; the end of what the build printed."""


def ask(level, fault, target, programs):
    """Tests the copy, whose file TARGET has the fault, on LEVEL; returns {"unit": name} or what ask_json returns."""
    shutil.rmtree(PLACE / "cache", ignore_errors=True)  # another fault may have spoilt an index in it
    if level == "unit":
        return {"unit": ask_unit(fault, target, programs)}
    broken = build_for(level, fault)
    if broken:
        raise Broken(broken)
    return ask_check() if level == "check" else ask_run(fault)


def judge(found, clean):
    """(noticed, {blame: the number of cases that have it, of those whose verdict changed})"""
    if "unit" in found:
        return found["unit"] is not None, {}
    changed = [c for c in found["cases"] if found["cases"][c][0] != clean["cases"].get(c, [None])[0]]
    blames = collections.Counter(b for c in changed for b in found["cases"][c][1])
    lost = not found["cases"] or (found["exit"] not in (0, 1) and found["exit"] != clean["exit"])
    return bool(changed) or lost, dict(blames)


def is_blamed_rightly(fault, rows):
    """None: no blame is defined, or nothing changed that could carry one."""
    wanted, blames = fault.get("blame"), collections.Counter()
    for row in rows:
        blames.update(row["blames"])
    # A fault that only unit tests can see changes no verdict, so there is nothing to blame.
    if wanted is None or not any(row["noticed"] and row["level"] in ("check", "run") for row in rows):
        return None
    right = sum(n for b, n in blames.items() if b.startswith(wanted))
    return right > 0 and right >= max(blames.values())


def is_settled(fault, rows):
    """True if no further level has to be asked: one noticed the fault, and a verdict changed where a blame is defined."""
    if not any(row["noticed"] for row in rows):
        return False
    return fault.get("blame") is None or any(row["noticed"] and row["level"] in ("check", "run") for row in rows)


def sources():
    listed = subprocess.run(["git", "ls-files", "-s", "analyze", "capture", "dashboard", "victims", "corpus", "tests/unit"], cwd=ROOT,
                            capture_output=True, check=True).stdout
    return hashlib.sha256(listed).hexdigest()[:16]


def known_results():
    if not RESULTS.is_file():
        return []
    return [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines() if line.strip()]


def try_fault(fault, levels, clean, now):
    """Tests one fault on LEVELS; yields a row for each level. NOW: what sources() returned when the copy was made."""
    target, changed = place_of(fault, TREE)
    good = target.read_bytes()
    try:
        target.write_text(changed, encoding="utf-8")
        for level in levels:
            start = time.monotonic()
            found = ask(level, fault, target, clean.programs)
            noticed, blames = judge(found, clean(level, fault))
            if level == "run":
                PAGES.mkdir(exist_ok=True)
                (PLACE / "page.md").replace(PAGES / f"{fault['name']}.md")
            yield {"name": fault["name"], "fault": digest(fault), "sources": now, "level": level, "noticed": noticed,
                   "by": found.get("unit") or found.get("said") or "", "blames": blames, "seconds": round(time.monotonic() - start),
                   "date": datetime.date.today().isoformat()}
    except Broken as broken:
        print(f"mutate.py: {fault['name']} does not compile\n{broken}", file=sys.stderr)
    finally:
        target.write_bytes(good)


def print_rows(fault, rows):
    blamed = {None: "", True: "blamed rightly", False: "BLAMED WRONGLY"}[is_blamed_rightly(fault, rows)]
    levels = "+".join(r["level"] for r in rows if r["noticed"]) or "NOT NOTICED"
    said = [f"{b} ({n})" for r in rows for b, n in r["blames"].items()]
    print(f"{fault['name']:40} {levels:16} {blamed:15} {sum(r['seconds'] for r in rows):4} s  {'; '.join(said)[:80]}", flush=True)


def summary(faults, found):
    """The score as lines of text, and True when the goals are met.  FOUND has the rows of each fault by its name."""
    lines = []
    for level in [n for n in LEVELS if any(r["level"] == n for rows in found.values() for r in rows)]:
        rows = [r for f in faults for r in found[f["name"]] if r["level"] == level]
        lines.append(f"{level:6} {sum(r['noticed'] for r in rows):4} of {len(rows)}")
    noticed = [f for f in faults if any(r["noticed"] for r in found[f["name"]])]
    blamed = [b for b in (is_blamed_rightly(f, found[f["name"]]) for f in faults) if b is not None]
    lines.append(f"noticed {len(noticed)} of {len(faults)}, blamed rightly {sum(blamed)} of {len(blamed)}")
    return lines, len(noticed) >= NOTICED_GOAL * len(faults) and sum(blamed) >= BLAMED_GOAL * len(blamed)


def newest_rows():
    """The newest row of each fault and level, whatever the sources."""
    newest = {(row["fault"], row["level"]): row for row in known_results()}
    return {f["name"]: [newest[digest(f), n] for n in LEVELS if (digest(f), n) in newest] for f in read_faults()}


def report(faults):
    """The table of README.md, by room and level, from the newest row of each fault and level; then what is still open."""
    found = newest_rows()
    rooms = sorted({room_of(f) for f in faults})
    dates = sorted({r["date"] for rows in found.values() for r in rows})
    lines = [f"{' to '.join(sorted({dates[0], dates[-1]}))}: noticed of tried; a blame is defined for {sum('blame' in f for f in faults)} faults, and counts where a verdict changed."
             if dates else "Nothing was tried yet.", "", "| room | faults | unit | check | run | noticed | blamed rightly |", "|---|---|---|---|---|---|---|"]
    for room in [*rooms, None]:
        mine = [f for f in faults if room in (None, room_of(f))]
        cells = []
        for level in LEVELS:
            rows = [r for f in mine for r in found[f["name"]] if r["level"] == level]
            cells.append(f"{sum(r['noticed'] for r in rows)} of {len(rows)}" if rows else "")
        tried = [f for f in mine if found[f["name"]]]
        cells.append(f"{sum(any(r['noticed'] for r in found[f['name']]) for f in tried)} of {len(tried)}")
        blamed = [b for b in (is_blamed_rightly(f, found[f["name"]]) for f in mine) if b is not None]
        cells.append(f"{sum(blamed)} of {len(blamed)}" if blamed else "")
        lines.append(f"| {'`' + room + '`' if room else '**all**'} | {len(mine)} | {' | '.join(cells)} |")
    open_ = []
    for fault in faults:
        if not any(r["noticed"] for r in found[fault["name"]]):
            asked = [r["level"] for r in found[fault["name"]]]
            left = [n for n in LEVELS if n not in asked]
            open_.append(f"* `{fault['name']}`: " + (f"not noticed by {', '.join(asked)}" if asked else "")
                         + ("; " if asked and left else "") + (f"{', '.join(left)} not asked" if left else ""))
    for fault in faults:
        if is_blamed_rightly(fault, found[fault["name"]]) is False:
            said = collections.Counter()
            for row in found[fault["name"]]:
                said.update(row["blames"])
            blames = ", ".join(f"{b} in {n}" for b, n in said.most_common()) or "nothing"
            open_.append(f"* `{fault['name']}`: should be {fault['blame']}; blamed was {blames}")
    slow = max((r["seconds"] for rows in found.values() for r in rows), default=0)
    lines += ["", f"The slowest fault took {slow} s on one level." if slow else "", "", "Open:" if open_ else "Nothing is open.", *open_]
    text = README.read_text(encoding="utf-8")
    head, _, rest = text.partition(SCORE_START)
    _, _, tail = rest.partition(SCORE_END)
    README.write_text(head + SCORE_START + "\n" + "\n".join(lines).rstrip() + "\n" + SCORE_END + tail, encoding="utf-8")
    return summary(faults, found)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--report", action="store_true", help="write the results so far into README.md")
    parser.add_argument("--open", action="store_true", help="only the faults that the results so far, of any sources, leave open")
    parser.add_argument("--here", action="store_true", help="the level unit alone, of what is left open, in the build folder itself")
    parser.add_argument("--every-level", action="store_true", help="also ask the levels after the one that noticed a fault")
    parser.add_argument("--level", default=",".join(LEVELS), type=lambda text: text.split(","),
                        help="which levels to ask, of unit,check,run (default all)")
    asked = parser.parse_args()
    if not set(asked.level) <= set(LEVELS):
        parser.error("--level: some of unit,check,run")
    return asked


class Clean:
    """The results of the copy without a fault, taken once for each level before the first fault."""

    def __init__(self, levels, faults):
        self.found, self.programs = {}, Programs()
        if "run" in levels and any(is_of_capture(f) for f in faults):
            self.found["run", True] = take(PLACE / "good", SCENARIOS, VICTIMS, TAKE_LIMIT_S)
        if "run" in levels and not all(is_of_capture(f) for f in faults):
            taken = PLACE / "taken"
            made_by = hashlib.sha256((BUILD / "victims/bin/victims-ob2.exe").read_bytes()).hexdigest()
            if not (taken / "victims").is_file() or (taken / "victims").read_text(encoding="utf-8") != made_by:
                take(taken, SCENARIOS + MORE_SCENARIOS, BUILD / "victims", TAKE_LIMIT_S)
                (taken / "victims").write_text(made_by, encoding="utf-8")
            self.found["run", False] = ask_taken(more=True)
        for said in self.found.values():
            if not said["cases"]:
                raise SystemExit(f"mutate.py: no case without a fault\n{said['said']}")
        if "check" in levels:
            self.found["check", False] = ask_check()
        only = set().union(*(self.programs.of(place_of(f, TREE)[0]) for f in faults))
        self.unit = ask_clean(self.programs, only) if "unit" in levels else None

    def __call__(self, level, fault):
        return self.found.get((level, level == "run" and is_of_capture(fault)))


def main():
    for part in ("days", "fresh", "reach"):  # which use this file
        if f"--{part}" in sys.argv:
            return importlib.import_module(part).main([word for word in sys.argv[1:] if word != f"--{part}"])
    asked = parse()
    faults = [f for f in read_faults() if not asked.names or any(n in f["name"] for n in asked.names)]
    same = [f for f in faults if "equivalent" in f]
    stale = [f["name"] for f in faults if place_of(f) is None]
    for fault in faults if asked.list else []:
        print(f"{fault['name']}: {fault['file']} ({fault.get('equivalent') or fault.get('blame') or 'no blame'})")
    for name in stale:
        print(f"mutate.py: {name}: its pattern does not match in exactly one place", file=sys.stderr)
    if asked.list or stale:
        return 1 if stale else 0
    if asked.report:
        lines, met = report([f for f in read_faults() if "equivalent" not in f])
        print("\n".join(lines))
        return 0 if met else 1
    faults = [f for f in faults if f not in same]
    if asked.open or asked.here:
        newest = newest_rows()
        faults = [f for f in faults if not any(r["noticed"] for r in newest[f["name"]]) or is_blamed_rightly(f, newest[f["name"]]) is False]
    PLACE.mkdir(parents=True, exist_ok=True)
    with (PLACE / "lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"mutate.py: another one is at work in {PLACE}", file=sys.stderr)
            return 3
        if asked.here:
            import here
            return 1 if here.run([f for f in faults if not any(r["noticed"] for r in newest[f["name"]])]) else 0
        return run_faults(faults, asked.level, asked.every_level)


def prepare(levels, faults):
    """Brings the copy up to date and builds it.  Returns what make() returns."""
    copy_tree()
    of_capture = "run" in levels and any(is_of_capture(f) for f in faults)
    configure(of_capture)
    targets = ["all"] if "unit" in levels else ["twinstack"]
    broken = make(TOOL, *sorted(targets))
    return make(VICTIMS, "all") if not broken and of_capture else broken


def keep_rows(rows, known, is_done):
    """Writes each row to the results, until is_done() says that the fault needs no more."""
    for row in rows:
        known[row["fault"], row["sources"], row["level"]] = row
        with RESULTS.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row) + "\n")
        if is_done():
            return


def run_faults(faults, levels, every):
    now = sources()
    known = {(r["fault"], r["sources"], r["level"]): r for r in known_results()}

    def rows_of(fault):
        return [known[digest(fault), now, n] for n in levels if (digest(fault), now, n) in known]

    def levels_left(fault):
        return [n for n in levels if is_asked(n, fault) and (digest(fault), now, n) not in known]

    def is_done(fault):
        return not levels_left(fault) or (not every and is_settled(fault, rows_of(fault)))

    left, failed = [f for f in faults if not is_done(f)], False
    if left:
        broken = prepare(levels, left)
        if broken:
            print(broken, file=sys.stderr)
            return 3
        clean = Clean(levels, left)
        if clean.unit is not None:
            print(f"mutate.py: {clean.unit} fails without any fault", file=sys.stderr)
            return 3
    for fault in faults:
        if not is_done(fault):
            with contextlib.closing(try_fault(fault, levels_left(fault), clean, now)) as rows:
                keep_rows(rows, known, lambda fault=fault: is_done(fault))
        failed = failed or not is_done(fault)
        print_rows(fault, rows_of(fault))
    lines, met = summary(faults, {f["name"]: rows_of(f) for f in faults})
    print("\n".join(lines))
    return 0 if met and not failed else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
