#!/usr/bin/python3
"""Compares what `./run test` would run in three copies of the commit: a full clone, one of depth 1, and an exported tree without git;
part of `./run soak copies`. Nothing is built: the tool and the unit tests are those of build/.

Only this finds a test that depends on git's history, or on git being there."""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TWINSTACK_BUILD", ROOT / "build"))
COPIES = {
    "a full clone": 'git clone -q "$1" "$2"',
    "a clone of depth 1": 'git clone -q --depth 1 "file://$1" "$2"',
    "an exported tree": 'mkdir "$2" && git -C "$1" archive HEAD | tar -x -C "$2"',
}


def tests_in(copy):
    """The lines of `run_tests.py --list` in the folder COPY."""
    build = copy / "build"
    (copy / "dashboard/web/node_modules").symlink_to(ROOT / "dashboard/web/node_modules")
    subprocess.run(["cmake", "-G", "Ninja", "-S", copy, "-B", build], check=True, stdout=subprocess.DEVNULL)
    for program in (BUILD / "bin/twinstack", *(BUILD / "tests").glob("unit_*")):
        built = build / program.relative_to(BUILD)
        built.parent.mkdir(exist_ok=True)
        built.symlink_to(program)
    done = subprocess.run([sys.executable, copy / "tests/run_tests.py", "--list"], check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "TWINSTACK_BUILD": str(build), "GIT_CEILING_DIRECTORIES": str(copy.parent)})
    return done.stdout.splitlines()


def main():
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, command) in enumerate(COPIES.items()):
            copy = pathlib.Path(folder, str(number))
            subprocess.run(["sh", "-c", command, "sh", ROOT, copy], check=True)
            found[name] = tests_in(copy)
            print(f"{len(found[name])} tests in {name}", flush=True)
    first, *others = found
    differ = {other: sorted(set(found[first]) ^ set(found[other])) for other in others if found[first] != found[other]}
    for other, tests in differ.items():
        print(f"FAIL {other} differs from {first}:", *tests[:20], sep="\n     ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
