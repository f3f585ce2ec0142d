#!/usr/bin/python3
"""Runs the programs of programs.cmake through CTest and adds up their tests; started by `./run test [OPTION]... [FILTER]...`.

    FILTER...        only programs whose name contains one of these
    --quick          only those labelled so: what to run before each commit, in about a minute; builds nothing
    --changed [REF]  only those that cover what changed since the merge base with REF, see lib/changed.py
    --shard I/N      the I-th of N parts, which together are all
    --once           no second try
    --names          prints the names and runs nothing
    --list           prints the tests of each, for which the unit tests are built; tests/copies.py compares the lists of three copies

A program that failed runs a second time, alone, if it has a Wine prefix or tests/second_tries.txt names it; then the second result
counts, and the last lines say so, as they say once more what failed. With CI in the environment and without --quick, a skip whose reason is not in tests/skips.txt fails. The last line is "N passed, N failed, N skipped"; exit status: 0, 1 something failed, 5 nothing was chosen, 130 interrupted."""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/lib"))
import changed  # noqa: E402
from machine import CORES, Idle, remove_groups  # noqa: E402

BUILD = pathlib.Path(os.environ.get("TWINSTACK_BUILD", ROOT / "build"))
RESULTS = BUILD / "log/tests"
SLOTS = 2 * (CORES + 1)  # half cores: one core more than there is, since most programs wait now and then
PROGRESS_S, DEAREST = 60, 25
SAID_BEFORE, SAID_AFTER, SAID_MOST = 2, 12, 30  # lines about a failure
STRICT = bool(os.environ.get("CI")) and "--quick" not in sys.argv  # which builds nothing that a test may miss
LOCK_FILE = 9  # ./run holds it while something is built
STARTED = re.compile(r"^ *Start +\d+: (\S+)")
ENDED = re.compile(r"^ *\d+/\d+ Test +#\d+: (\S+) [ .]*\**(.*?) +[\d.]+ sec")


def known_programs():
    """{name: (number, labels, cost, command)} of all programs that CTest knows, without the stages; who has a Wine prefix has the label
    "wine"."""
    done = subprocess.run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"], capture_output=True, text=True, check=True)
    found = {}
    for number, test in enumerate(json.loads(done.stdout)["tests"], 1):
        values = {p["name"]: p["value"] for p in test["properties"]}
        if "stage" not in values.get("LABELS", []):
            wine = {"wine" for lock in values.get("RESOURCE_LOCK", []) if lock.startswith("wine-")}
            command = test["command"][test["command"].index(test["name"]) + 2:]  # after those of program.py
            found[test["name"]] = (number, set(values.get("LABELS", [])) | wine, values.get("COST", 0), command)
    return found


def tests_of(name, command):
    """The names of a program's tests; one that has no names is one test. The sanitized unit tests are those of the tool's own tree."""
    if not name.startswith(("unit_", "sanitize_unit_", "e2e_")):
        return [name]
    words = [word.replace("/sanitize/tests/", "/tests/") for word in command]
    env = {**os.environ, "TWINSTACK_BUILD": str(BUILD)}
    done = subprocess.run([*words, "-l"], stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT, env=env)
    return [f"{name} {test}" for test in done.stdout.splitlines()]


def choose(known, asked):
    names = [name for name in known if not asked.filters or any(word in name for word in asked.filters)]
    if asked.quick:
        names = [name for name in names if "quick" in known[name][1]]
    if asked.changed:
        names, said = changed.choose({name: known[name][1] for name in names}, asked.changed)
        print(*said, sep="\n", file=sys.stderr)
    if asked.shard:
        part, parts = map(int, asked.shard.split("/"))
        names = sorted(names, key=lambda name: (-known[name][2], name))[part - 1::parts]
    return names


def read_lines(name):
    """The lines of a file of this folder, without comments."""
    text = (ROOT / "tests" / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def refuse_new_skips(result):
    """In CI, a skip that is not in the list fails."""
    allowed = [re.compile(line) for line in read_lines("skips.txt")] if STRICT else [re.compile("")]
    for line in [line for line in result["lines"] if line.startswith("skip ")]:
        if not any(pattern.search(line) for pattern in allowed):
            result["lines"].append(f"FAIL a skip that tests/skips.txt does not allow: {line[5:]}")
            result["counts"] = [result["counts"][0], result["counts"][1] + 1, result["counts"][2] - 1]


def result_of(name, outcome):
    """What program.py kept; OUTCOME is the word that CTest has for it."""
    try:
        result = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
        refuse_new_skips(result)
        return result
    except (OSError, ValueError):
        return {"name": name, "stage": name.startswith("build_"), "seconds": 0, "cpu_seconds": 0, "counts": [0, 1, 0],
                "lines": [f"FAIL {outcome.lower() or 'no result'}: what it needs was not built, or it was ended"]}


def show(result, note=""):
    passed, failed, skipped = result["counts"]
    print(f"{'FAIL' if failed else 'ok':4} {result['name']:32} {passed:5} passed {failed:3} failed {skipped:3} skipped"
          f" {result['seconds']:6.1f} s {result['cpu_seconds']:6.1f} s processor{note}")
    for line in result["lines"] if failed or not result["stage"] else []:
        print(f"     {line}")
    sys.stdout.flush()


def failures_of(result):
    """What failed in a program: each line that says so, what the C tests say before it and the Python ones after it."""
    lines = result["lines"]
    near = {at + n for at, line in enumerate(lines) if line.lstrip().startswith("FAIL") for n in range(-SAID_BEFORE, SAID_AFTER)}
    return [line for at, line in enumerate(lines) if at in near][:SAID_MOST] if result["counts"][1] else []


class Session:
    """One call of CTest: shows each result as it comes, and who runs for how long."""

    def __init__(self, words):
        self.results, self.running = {}, {}
        self.process = subprocess.Popen(["ctest", "--test-dir", BUILD, "--no-label-summary", *words], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace", cwd=ROOT)

    def report_progress(self, total):
        while self.process.poll() is None:
            time.sleep(PROGRESS_S)
            now = time.monotonic()
            long = sorted(((now - since, name) for name, since in list(self.running.items()) if now - since > PROGRESS_S / 2), reverse=True)
            done = sum(not r["stage"] for r in list(self.results.values()))
            print(f"{done} of {total} programs done; running: {', '.join(f'{n} ({s:.0f} s)' for s, n in long) or 'short ones'}",
                  file=sys.stderr, flush=True)

    def run(self, total, built=lambda results: None):
        """Returns {name: result}. BUILT is called when nothing is left to build."""
        threading.Thread(target=self.report_progress, args=(total,), daemon=True).start()
        try:
            for line in self.process.stdout:
                if match := STARTED.match(line):
                    self.running[match[1]] = time.monotonic()
                elif match := ENDED.match(line):
                    self.running.pop(match[1], None)
                    self.results[match[1]] = result_of(match[1], match[2])
                    show(self.results[match[1]])
                    built(self.results)
        except KeyboardInterrupt:
            self.process.terminate()  # which ends its programs
            raise
        self.process.wait()
        return self.results


# Every fixture but "wine", whose copies of the prefix were removed when the last program ended.
BUT_WINE = "^([^w]|w[^i]|wi[^n]|win[^e]|wine.)"


def second_tries(results, known):
    """Runs each failed program of the list, and each with a Wine prefix, once more, alone; returns the names of those that passed then."""
    failed = [name for name, result in results.items() if result["counts"][1]]
    passed, listed = [], read_lines("second_tries.txt")
    for name in [name for name in failed if name in listed or "wine" in known[name][1]]:
        (RESULTS / f"{name}.json").unlink(missing_ok=True)
        again = Session(["-R", f"^{name}$", "-FA", BUT_WINE]).run(1).get(name)
        if again and not again["counts"][1]:
            passed.append(name)
            results[name] = again
    return passed


def show_account(results, seconds, idle):
    used, built = (sum(r["cpu_seconds"] for r in results if r["stage"] or every) for every in (True, False))
    print("core-seconds   seconds  program")
    for result in sorted(results, key=lambda r: -r["cpu_seconds"])[:DEAREST]:
        print(f"{result['cpu_seconds']:12.1f} {result['seconds']:9.1f}  {result['name']}")
    print(f"{seconds:.0f} s; {used:.0f} s of processor time, {built:.0f} s of it to build: at least {used / CORES:.0f} s on "
          f"{CORES} cores; {idle / CORES:.0%} of the cores was idle")


def show_failures(first, results):
    """Once more at the end, since who reads a long log reads its end: what failed, and where, also what passed at its second try."""
    for name in sorted(name for name, lines in first.items() if lines):
        late = "" if results[name]["counts"][1] else " at first; it passed at the second try, alone"
        print(f"failed: {name}{late}", *first[name], sep="\n     ")


def run_all(chosen, known, asked):
    """Returns the exit status."""
    for result in RESULTS.glob("*.json"):
        result.unlink()
    start, idle = time.monotonic(), Idle()
    lock = pathlib.Path(f"/proc/self/fd/{LOCK_FILE}")

    def let_lock_go(results):
        """Of ./run, which holds it while something is built: as soon as a program that needs everything could start."""
        wanted = {"build_victims-x86", "build_wine", "build_tools", "build_sanitize", "build_windows"}
        if wanted <= set(results) and lock.is_symlink() and os.readlink(lock) == str(BUILD / "lock"):
            os.close(LOCK_FILE)

    with tempfile.NamedTemporaryFile("w", suffix=".txt") as numbers:
        numbers.write("0,0,0," + ",".join(str(known[name][0]) for name in chosen) + "\n")
        numbers.flush()
        results = Session(["-j", str(SLOTS), "-I", numbers.name, *(["-FA", ".*"] if asked.quick else [])]).run(len(chosen), let_lock_go)
    for name in sorted(set(chosen) - set(results)):
        results[name] = result_of(name, "not run")
        show(results[name])
    first = {name: failures_of(result) for name, result in results.items()}
    late = [] if asked.once else second_tries(results, known)
    remove_groups()
    if len(chosen) > 1:
        subprocess.run([sys.executable, ROOT / "tests/budget.py"], check=False)
        show_account(results.values(), time.monotonic() - start, idle.cores())
        show_failures(first, results)
    if late:
        print(f"passed only at the second try, alone: {', '.join(late)}")
    passed, failed, skipped = (sum(r["counts"][i] for r in results.values()) for i in range(3))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--changed", nargs="?", const="", metavar="REF")
    parser.add_argument("--shard", metavar="I/N")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("filters", metavar="FILTER", nargs="*")
    asked = parser.parse_args()
    known = known_programs()
    chosen = choose(known, asked)
    if not chosen:
        print(f"no test program has {' or '.join(asked.filters)} in its name, or covers the change", file=sys.stderr)
        return 5
    if asked.names or asked.list:
        print(*[line for name in sorted(chosen) for line in (tests_of(name, known[name][3]) if asked.list else [name])], sep="\n")
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return run_all(chosen, known, asked)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
