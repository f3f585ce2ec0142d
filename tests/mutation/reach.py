#!/usr/bin/python3
"""Which lines of the product each program of `./run test --quick` runs: started as `./run mutation --reach [WORD]...`.

The sources are compiled once more, by clang and counting (build/mutation/reach); each unit program and each quick end-to-end test runs once,
and what it runs is kept in build/mutation/reach.json. Counters are in a file while they count, so that those of a process that is killed are
there. WORD: only the programs whose name contains one; the rest is kept from before.

    --unseen [ROOM]...   runs nothing: the lines of these rooms (or files) that no program runs, as FILE:FIRST-LAST, and their number"""

import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import here
import mutate
from faults import room_of

PLACE = mutate.PLACE / "reach"
KEPT = mutate.PLACE / "reach.json"
COUNTING = "-O0 -w -fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation"
LIMIT_S = 300


def build():
    """The counting programs, in PLACE."""
    PLACE.mkdir(parents=True, exist_ok=True)
    archives = re.search(r"(?m)^TWINSTACK_ARCHIVES:\w+=(.*)$", (mutate.BUILD / "CMakeCache.txt").read_text(encoding="utf-8"))[1]
    if not (PLACE / "build.ninja").is_file():
        subprocess.run(["cmake", "-G", "Ninja", "-S", mutate.ROOT, "-B", PLACE, "-DCMAKE_C_COMPILER=clang-19", "-DCMAKE_BUILD_TYPE=Debug",
                        f"-DCMAKE_C_FLAGS={COUNTING}", f"-DTWINSTACK_ARCHIVES={archives}", "-DCMAKE_C_COMPILER_LAUNCHER=ccache"],
                       check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-k", "0", "-C", PLACE, "test_programs", *mutate.E2E_TARGETS], check=True, stdout=subprocess.DEVNULL)


def programs():
    """{name: the words that start it} of the unit programs and the quick end-to-end tests."""
    units = {p.name: [p] for p in sorted((PLACE / "tests").glob("unit_*")) if p.is_file() and "." not in p.name}
    e2e = {f"e2e_{argv[1].stem.removeprefix('test_')}": [argv[0], mutate.ROOT / argv[1].relative_to(mutate.TREE)] for argv in mutate.e2e_tests()}
    return {**units, **e2e}


def measure(name, argv):
    """({file: [the lines that it runs]}, {file: [the lines that it could]}); empty for a test that starts no program of ours."""
    with tempfile.TemporaryDirectory(dir=mutate.PLACE, prefix="reach-") as folder:
        folder = pathlib.Path(folder)
        program = PLACE / "bin/twinstack" if name.startswith("e2e_") else argv[0]
        environment = {**mutate.environment(), "TWINSTACK_BUILD": str(mutate.BUILD), "TWINSTACK_CACHE": str(folder / "cache"),
                       "TMPDIR": str(folder), "LLVM_PROFILE_FILE": str(folder / "%m%c.profraw")}
        if name.startswith("e2e_"):
            (folder / "twinstack").symlink_to(program)
            environment["TWINSTACK_BUILD"] = str(here.shadow_build(folder))
        status = mutate.shell(*argv, limit_s=LIMIT_S, cwd=mutate.ROOT, env=environment)[0]
        raw = [p for p in folder.glob("*.profraw") if p.stat().st_size]
        if status != 0:
            print(f"{name}: exit status {status}", file=sys.stderr)
        if not raw:
            return {}, {}
        subprocess.run(["llvm-profdata-19", "merge", "-failure-mode=all", "-o", folder / "data", *raw], check=True, stderr=subprocess.DEVNULL)
        said = subprocess.run(["llvm-cov-19", "export", "-format=lcov", "-skip-functions", f"-instr-profile={folder / 'data'}", program],
                              check=True, capture_output=True, text=True).stdout
    return read_lcov(said)


def read_lcov(said):
    ran, can, file = {}, {}, None
    for line in said.splitlines():
        if line.startswith("SF:"):
            path = pathlib.Path(line[3:])
            file = path.relative_to(mutate.ROOT).as_posix() if mutate.ROOT in path.parents else None
        elif line.startswith("DA:") and file and file.startswith(("analyze/", "dashboard/")):
            number, count = map(int, line[3:].split(",")[:2])
            can.setdefault(file, []).append(number)
            if count:
                ran.setdefault(file, []).append(number)
    return ran, can


def read():
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}


class Reach:
    """What reach.json says, by file and line."""

    def __init__(self):
        self.who, self.can, kept = {}, {}, read()
        self.measured = set(kept) - {""}
        for name, files in kept.items():
            for file, lines in files.items():
                if not name:
                    self.can[file] = set(lines)
                    continue
                for line in lines:
                    self.who.setdefault((file, line), set()).add(name)

    def may_run(self, name, file, line):
        """False if it is known that the program NAME does not run the LINE of FILE; that of a table, or of a file that was never read, is not."""
        return name not in self.measured or line not in self.can.get(file, ()) or name in self.who.get((file, line), ())

    def unseen(self, file):
        return sorted(n for n in self.can[file] if (file, n) not in self.who)


def show_unseen(words):
    reach, rooms = Reach(), {}
    for file in sorted(reach.can):
        if file.endswith(".c"):
            room = room_of({"file": file})
            lines = reach.unseen(file)
            total = rooms.setdefault(room, [0, 0])
            total[0], total[1] = total[0] + len(lines), total[1] + len(reach.can[file])
            if words and any(word in file for word in words):
                ranges = []
                for n in lines:
                    ranges[-1:] = [(ranges[-1][0], n)] if ranges and ranges[-1][1] == n - 1 else [*ranges[-1:], (n, n)]
                print(*[f"{file}:{first}-{last}" for first, last in ranges], sep="\n", end="\n" if ranges else "")
    for room, (missed, all_) in sorted(rooms.items(), key=lambda row: -row[1][0] / row[1][1]):
        print(f"{room:32} {missed:5} of {all_:6} lines run in no quick test")


def main(words):
    if "--unseen" in words:
        show_unseen([w for w in words if w != "--unseen"])
        return 0
    build()
    kept, asked = read(), {name: argv for name, argv in programs().items() if not words or any(word in name for word in words)}
    with concurrent.futures.ThreadPoolExecutor(mutate.CORES) as pool:
        for name, (ran, can) in zip(asked, pool.map(measure, asked, asked.values())):
            kept[name] = ran
            for file, lines in can.items():
                kept.setdefault("", {})[file] = sorted(set(lines) | set(kept.get("", {}).get(file, [])))
            KEPT.write_text(json.dumps(kept), encoding="utf-8")
    return 0
