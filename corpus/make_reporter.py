#!/usr/bin/python3
"""Makes corpus/reporter: twelve crashes of the program of tests/reporter, and what a reporter wrote of them: six stacks are right.

    make_reporter.py [FOLDER]

Needs clang-19 with lld and unicorn. The same each time."""

import pathlib
import random
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/reporter"))
import crashes  # noqa: E402
import damages  # noqa: E402

SEED, COMPILER = 46, "clang-O2"
WRONG = {2: damages.handler_on_top, 3: damages.at_a_limit, 6: damages.less_preferred, 8: damages.inner_dropped, 9: damages.less_preferred,
         11: damages.callers_lower}


def choose(build, rng, number):
    """A crash whose stack is short, or long enough for a limit."""
    depths = range(36, 60) if WRONG.get(number) is damages.at_a_limit else range(6, 14)
    crash = rng.choice([c for c in build.crashes if len(c.truth) in depths])
    crash.other = rng.choice([c for c in build.others if len(c.truth) in range(4, 8)])
    return crash


def lines_of(build, rng, number):
    """(crash, lines of its stack)."""
    while True:
        crash = choose(build, rng, number)
        lines = WRONG.get(number, damages.sound)(crash, rng)
        walked = damages.frame_pointer_walk(crash, rng)
        if lines is not None and lines != walked and (lines != damages.plain(crash)) == (number in WRONG):
            return crash, lines


def make(folder):
    for name in ("dumps", "stacks", "symbols"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as temporary:
        build = crashes.Build(COMPILER, pathlib.Path(temporary) / "build", rng)
        for module in build.modules:
            for path in (module.path, module.path.with_suffix(".pdb")):
                shutil.copy(path, folder / "symbols")
                (folder / "symbols" / path.name).chmod(0o644)
        for number in range(1, 13):
            crash, lines = lines_of(build, rng, number)
            crash.dump(folder / "dumps" / f"crash-{number:02}.dmp")
            text = "".join(f"{i:02} {line.replace('!', '+', 1)}\n" for i, line in enumerate(lines))
            (folder / "stacks" / f"crash-{number:02}.txt").write_text(text, encoding="ascii")


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "corpus/reporter")
