#!/usr/bin/python3
"""Puts single faults into a copy of the sources, one at a time, and reports what notices them and which side is blamed.

    ./run mutation [NAME]...       every fault of faults.toml, or those whose name contains NAME
    ./run mutation --list          the faults, without running them

A fault is one replacement in one of the files that its `file` (a pattern) names.  For each, the copy is built incrementally and asked on three levels:
  unit    the unit tests and the end-to-end tests of `./run test --quick`
  check   the sealed cases of corpus/
  run     a dozen scenarios under Wine, taken and judged again
A fault is noticed when a test fails or a verdict changes.  Its blame is right when a finding that fails names what
the fault's `blame` says.  Results are kept in build/mutation/results.jsonl by fault and source, so an interrupted run
goes on where it stopped.  No fixtures are used: the copy is what a fresh clone has.

Exit status: 0 the goals are met; 1 they are not, or a fault's pattern no longer matches; 3 the copy does not build."""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import run_tests  # noqa: E402

BUILD = pathlib.Path(os.environ.get("TWINSTACK_BUILD", ROOT / "build"))
PLACE = BUILD / "mutation"
TREE, TOOL, VICTIMS = PLACE / "tree", PLACE / "build", PLACE / "victims"
RESULTS = PLACE / "results.jsonl"
FAULTS = pathlib.Path(__file__).with_name("faults.toml")
SCENARIOS = ["null_write", "inline_chain", "noreturn_tail", "recursion", "leaf_store", "abort_call", "crash_in_dll", "second_thread",
             "sleep_forever", "handled_exception", "generated_table", "module_unloaded"]
NOTICED_GOAL, BLAMED_GOAL = 0.98, 0.90
UNIT_LIMIT_S, CHECK_LIMIT_S, RUN_LIMIT_S = 60, 60, 180


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
            had_s += step_s / run_tests.overload()
    os.killpg(child.pid, signal.SIGKILL)
    child.communicate()
    return None, "", f"time limit of {limit_s} s"


def read_faults(path=FAULTS):
    faults = tomllib.loads(path.read_text(encoding="utf-8"))["fault"]
    names = [f["name"] for f in faults]
    if len(set(names)) != len(names):
        raise SystemExit("mutate.py: two faults have the same name: " + ", ".join({n for n in names if names.count(n) > 1}))
    return faults


def place_of(fault, root=ROOT):
    """The file in which the fault's pattern matches, once, and its text with the fault; None when there is no such file."""
    found = []
    for file in sorted(root.glob(fault["file"])):
        text = file.read_text(encoding="utf-8")
        changed, count = re.subn(fault["find"], lambda m: m.expand(fault["put"]), text)
        found += [(file, changed)] * count
    return found[0] if len(found) == 1 else None


def copy_tree():
    """Brings TREE up to date with what git tracks; files that did not change keep their times."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, check=True).stdout
    wanted = {pathlib.Path(os.fsdecode(name)) for name in listed.split(b"\0") if name}
    wanted = {name for name in wanted if (ROOT / name).is_file()}
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


def build(tests=()):
    """Builds everything, or only the unit tests TESTS.  Returns None, or the end of what a failing build printed."""
    for tree in [t for t in (TOOL, VICTIMS) if (t / "build.ninja").is_file() and (t is TOOL or not tests)]:
        done = shell("ninja", "-C", tree, *sorted(tests), limit_s=900)
        if done[0] != 0:
            return (done[1] + done[2])[-3000:]
    return None


def environment():
    return {**os.environ, "TWINSTACK_BUILD": str(TOOL), "TWINSTACK_FIXTURES": str(PLACE / "no-fixtures"),
            "TWINSTACK_TEST_SLOWNESS": str(max(1, round(run_tests.overload()))), "TWINSTACK_CACHE": str(PLACE / "cache"), "TWINSTACK_VICTIMS": str(VICTIMS), "WINEPREFIX": str(BUILD / "wine"), "WINEDEBUG": "-all"}


def ask_unit(only=()):
    """The name of the first test program (of the unit tests ONLY, if any) that fails; None when none does."""
    programs = [[p] for p in sorted((TOOL / "tests").glob("unit_*")) if p.is_file() and (not only or p.name in only)]
    if not only:
        programs += [["/usr/bin/python3", TREE / f"tests/e2e/test_{name}.py"] for name in sorted(run_tests.QUICK_E2E)]
    for argv in programs:
        status, *_ = shell(*argv, limit_s=UNIT_LIMIT_S, cwd=TREE, env=environment())
        if status != 0:
            return pathlib.Path(argv[-1]).stem
    return None


def read_cases(text):
    """What a JSON report says: {case: verdict}, and what the findings that fail blame."""
    cases, blames = {}, []
    for case in json.loads(text)["cases"]:
        failing = [f for f in case.get("findings", []) if f.get("fails")]
        cases[f"{case['scenario']}.{case['variant']}"] = case["verdict"]
        blames += [f["blame"] for f in failing if f.get("blame")]
    return cases, blames


def ask_json(*argv, limit_s):
    status, out, err = shell(TOOL / "bin/twinstack", *argv, limit_s=limit_s, cwd=TREE, env=environment())
    try:
        cases, blames = read_cases(out)
    except (ValueError, KeyError):
        return {"exit": status, "cases": {}, "blames": [], "said": err[-500:]}
    return {"exit": status, "cases": cases, "blames": blames, "said": ""}


def ask_check():
    return ask_json("check", "--json", *sorted((TREE / "corpus/cases").iterdir()), limit_s=CHECK_LIMIT_S)


def ask_run():
    out = PLACE / "run"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    expr = " or ".join(SCENARIOS)
    return ask_json("run", "--json", "-k", expr, "--victims", VICTIMS / "bin", "--prefix", BUILD / "wine", "--out", out / "cases",
                    "--db", out / "run.db", "--variant", "ob2", limit_s=RUN_LIMIT_S)


def ask(level, only=()):
    """The results of the clean or the faulty copy; LEVEL is the most expensive one to run."""
    shutil.rmtree(PLACE / "cache", ignore_errors=True)  # an index that another fault spoilt
    found = {"unit": ask_unit(only)}
    if level in ("check", "run"):
        found["check"] = ask_check()
    if level == "run":
        found["run"] = ask_run()
    return found


def judge(fault, found, clean):
    levels = []
    if found["unit"] is not None:
        levels.append("unit")
    for level in ("check", "run"):
        if level in found and (found[level]["exit"] != clean[level]["exit"] or found[level]["cases"] != clean[level]["cases"]):
            levels.append(level)
    blames = sorted({b for level in ("check", "run") if level in found for b in found[level]["blames"]})
    wanted = fault.get("blame")
    # A fault that only unit tests can see changes no verdict, so there is nothing to blame.
    blamed = None if wanted is None or not set(levels) & {"check", "run"} else any(b.startswith(wanted) for b in blames)
    return {"levels": levels, "unit": found["unit"], "blames": blames, "blamed": blamed}


def fingerprint(fault):
    digest = hashlib.sha256(json.dumps(fault, sort_keys=True).encode())
    listed = subprocess.run(["git", "ls-files", "-s", "analyze", "capture", "dashboard", "victims", "corpus", "tests/unit"], cwd=ROOT,
                            capture_output=True, check=True).stdout
    return hashlib.sha256(digest.digest() + listed).hexdigest()[:24]


def known_results():
    if not RESULTS.is_file():
        return {}
    rows = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {row["key"]: row for row in rows}


def try_fault(fault, clean, level):
    target, changed = place_of(fault, TREE)
    good = target.read_bytes()
    start = time.monotonic()
    try:
        target.write_text(changed, encoding="utf-8")
        only = [fault["test"]] if level == "own" else []
        broken = build(only)
        if broken:
            print(f"mutate.py: {fault['name']} does not compile\n{broken}", file=sys.stderr)
            return None
        result = judge(fault, ask(level, only), clean)
    finally:
        target.write_bytes(good)
    return {"name": fault["name"], "seconds": round(time.monotonic() - start), **result}


def print_row(row):
    blamed = {None: "", True: "blamed rightly", False: "BLAMED WRONGLY"}[row["blamed"]]
    levels = "+".join(row["levels"]) or "NOT NOTICED"
    print(f"{row['name']:40} {levels:16} {blamed:15} {row['seconds']:4} s  {'; '.join(row['blames'])[:60]}", flush=True)


def summary(rows):
    """Prints the score; True when the goals are met."""
    noticed = [r for r in rows if r["levels"]]
    judged = [r for r in rows if r["blamed"] is not None]
    blamed = [r for r in judged if r["blamed"]]
    for level in ("unit", "check", "run"):
        print(f"{level:6} {sum(level in r['levels'] for r in rows):4} of {len(rows)}")
    print(f"noticed {len(noticed)} of {len(rows)}, blamed rightly {len(blamed)} of {len(judged)}")
    return len(noticed) >= NOTICED_GOAL * len(rows) and len(blamed) >= BLAMED_GOAL * len(judged)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--level", choices=("own", "unit", "check", "run"), default="run",
                        help="the most expensive level to ask; own: only the unit test that the fault names (default run)")
    return parser.parse_args()


def main():
    asked = parse()
    faults = [f for f in read_faults() if not asked.names or any(n in f["name"] for n in asked.names)]
    stale = [f["name"] for f in faults if place_of(f) is None]
    for fault in faults if asked.list else []:
        print(f"{fault['name']}: {fault['file']} ({fault.get('blame') or 'no blame'})")
    for name in stale:
        print(f"mutate.py: {name}: its pattern does not match in exactly one place", file=sys.stderr)
    if asked.list or stale:
        return 1 if stale else 0
    if asked.level == "own":
        faults = [f for f in faults if "test" in f]
    only = {f["test"] for f in faults} if asked.level == "own" else set()
    PLACE.mkdir(parents=True, exist_ok=True)
    copy_tree()
    configure(asked.level == "run")
    broken = build(only)
    if broken:
        print(broken, file=sys.stderr)
        return 3
    known, rows = known_results(), []
    clean = ask(asked.level, only)
    if clean["unit"] is not None:
        print(f"mutate.py: {clean['unit']} fails without any fault", file=sys.stderr)
        return 3
    for fault in faults:
        key = f"{fingerprint(fault)}-{asked.level}"
        if key not in known:
            row = try_fault(fault, clean, asked.level)
            if row is None:
                stale.append(fault["name"])
                continue
            known[key] = {"key": key, **row}
            with RESULTS.open("a", encoding="utf-8") as out:
                out.write(json.dumps(known[key]) + "\n")
        rows.append(known[key])
        print_row(known[key])
    return 0 if summary(rows) and not stale else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
