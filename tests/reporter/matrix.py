#!/usr/bin/python3
"""The measure of `check --dumps`: pairs of true dumps and damaged stacks, and a matrix true mechanism x named mechanism.

    matrix.py [--seed N] [--each N] [--keep DIR]

EACH pairs of every mechanism for each compiler. The goals: every damage is found, no sound pair is accused, 95 % of the mechanisms
are named rightly. The exit status is 1 when one is missed."""

import argparse
import collections
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import json

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import crashes  # noqa: E402
import damages  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("TWINSTACK_BUILD", ROOT / "build")) / "bin/twinstack"
CHOSEN = 300


def choose(build, rng, count):
    """Crashes of all depths, each with another thread that is elsewhere."""
    by_depth = collections.defaultdict(list)
    for crash in build.crashes:
        by_depth[len(crash.truth)].append(crash)
    chosen = []
    while len(chosen) < count:
        crash = rng.choice(by_depth[rng.choice(sorted(by_depth))])
        crash.other = rng.choice([c for c in build.others if len(c.truth) >= 4])
        if len(crash.truth) >= 5 and damages.plain(crash, crash.other.truth) != damages.plain(crash):
            chosen.append(crash)
    return chosen


def is_damage(lines, crash, mechanism):
    """The stack differs, and no other damage makes the same of it: where all frames are those of one recursion, each way to drop
    some is the same, and a chain of frame pointers may skip just the frame that was dropped."""
    true = damages.plain(crash)
    if mechanism == "dropped_frames" and (lines == damages.frame_pointer_walk(crash, None) or
                                          (lines == true[:len(lines)] and len(lines) < len(true) - 1)):
        return False
    return lines != true


def make(folder, build, rng, each):
    """Writes the pairs of one build; {name: (mechanism, damage)}."""
    made = {}
    build.chosen = choose(build, rng, CHOSEN)
    damages.ask_names(build)
    used = []
    for mechanism, functions in damages.DAMAGES.items():
        for number in range(each):
            damage, lines, crash = functions[number % len(functions)], None, None
            for crash in rng.sample(build.chosen, len(build.chosen)):
                lines = damage(crash, rng) if crash not in used else None
                if lines is not None and (mechanism in ("sound", "empty") or is_damage(lines, crash, mechanism)):
                    break
            if lines is None:
                continue
            used.append(crash)
            name = f"{build.name}-{len(used)}"
            crash.dump(folder / "dumps" / f"{name}.dmp")
            text = "\n".join(damages.spelled(lines, rng))
            (folder / "stacks" / f"{name}.txt").write_text(text + "\n" if text else "", encoding="utf-8")
            made[name] = (mechanism, damage.__name__)
    # The stack of another crash is that of a dump which is there.
    for name, (mechanism, _) in list(made.items()):
        if mechanism == "other_crash":
            text = (folder / "stacks" / f"{name}.txt").read_text(encoding="utf-8")
            other = next(c for c in build.chosen if is_of(text, c))
            other.dump(folder / "dumps" / f"{name}-other.dmp")
            (folder / "stacks" / f"{name}-other.txt").write_text("\n".join(damages.plain(other)) + "\n", encoding="utf-8")
            made[f"{name}-other"] = ("sound", "sound")
    return made


def is_of(text, crash):
    """TEXT, in any spelling, has the offsets of CRASH."""
    found = [int(row.rsplit("0x", 1)[1], 16) for row in text.splitlines()]
    return found == [va - module.base for module, va in damages.frames(crash)]


def named(row):
    return {"sound": "sound", "capture_failed": "empty", "wrong": row["mechanism"]}.get(row["verdict"], row["verdict"])


def judge(folder):
    done = subprocess.run([PROGRAM, "check", "--dumps", folder / "dumps", "--stacks", folder / "stacks", "--symbols", folder / "builds", "--json"],
                          capture_output=True, text=True, check=False, env={**os.environ, "TWINSTACK_SYSTEM_SYMBOLS": "0"})
    return {row["name"]: row for row in json.loads(done.stdout)["rows"]}


def measure(folder, seed, each, compilers):
    """(rows of the matrix, names of what is wrong)."""
    rng = random.Random(seed)
    for name in ("dumps", "stacks", "builds"):
        (folder / name).mkdir()
    made = {}
    for compiler in compilers:
        made |= make(folder, crashes.Build(compiler, folder / "builds" / compiler, rng), rng, each)
    rows = judge(folder)
    assert rows.keys() == made.keys(), rows.keys() ^ made.keys()
    return {name: (*made[name], named(rows[name]), rows[name]["words"]) for name in made}


def summary(result):
    """{goal: (number, of)}."""
    wrong = [row for row in result.values() if row[0] != "sound"]
    right = [row for row in result.values() if row[0] == "sound"]
    return {"found": (sum(row[2] not in ("sound", "not_judged") for row in wrong), len(wrong)),
            "accused": (sum(row[2] != "sound" for row in right), len(right)),
            "named": (sum(row[2] == row[0] for row in wrong), len(wrong)),
            "applied": (len({row[0] for row in result.values()}), len(damages.DAMAGES))}


def show(result):
    counts = collections.Counter((row[0], row[2]) for row in result.values())
    for true in damages.DAMAGES:
        cells = [f"{count} {name}" for (key, name), count in sorted(counts.items(), key=lambda cell: -cell[1]) if key == true]
        print(f"  {true:20} {', '.join(cells) or '-'}")
    for name, (true, damage, said, words) in result.items():
        if true != said:
            print(f"  {name}: {true} by {damage} is named {said}: {words}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)))
    parser.add_argument("--each", type=int, default=6)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(exist_ok=True)
        started = time.monotonic()
        result = measure(folder, options.seed, options.each, crashes.COMPILERS)
        goals = summary(result)
        show(result)
        print(f"seed {options.seed}: {len(result)} pairs, " + ", ".join(f"{k} {n} of {of}" for k, (n, of) in goals.items()) +
              f", {time.monotonic() - started:.0f} s")
    return int(goals["found"][0] < goals["found"][1] or goals["accused"][0] > 0 or goals["named"][0] < 0.95 * goals["named"][1])


if __name__ == "__main__":
    sys.exit(main())
