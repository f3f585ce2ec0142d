"""One fault for each unit test that faults.toml names: the file that has the fault is compiled as the build compiles it, the
unit test is linked with it, and has to fail. No copy of the sources is built, which would take ten times as long."""

import json
import os
import pathlib
import re
import shlex
import subprocess

import mutate

TALLY = re.compile(r"(?m)^tally (\d+) (\d+) \d+$")


def faults():
    return list({fault["test"]: fault for fault in mutate.read_faults() if "test" in fault}.values())


def words_from_compiler(command):
    words = shlex.split(command)
    return words[next(i for i, word in enumerate(words) if pathlib.Path(word).name in ("cc", "gcc", "c99")):]


def run(words):
    done = subprocess.run(words, cwd=mutate.BUILD, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}\n{done.stderr[-2000:]}")
    return done.stdout


def without_wine(folder):
    """The environment in which Wine's programs fail: a fault may start them, and a prefix takes 5 s to make."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("wine", "wineboot", "wineserver"):
        (folder / name).write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
        (folder / name).chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


def tally_with(test, file, text, folder):
    """(passed, failed) of the unit test TEST, linked with FILE as it is with this TEXT. Writes into FOLDER."""
    changed = folder / file.relative_to(mutate.ROOT)
    changed.parent.mkdir(parents=True, exist_ok=True)
    changed.write_text(text, encoding="utf-8")
    is_header = file.suffix == ".h"  # compiled with the test, which sees it before the good one
    source = mutate.ROOT / f"tests/unit/test_{test.removeprefix('unit_')}.c" if is_header else changed
    original = source if is_header else file
    rows = json.loads((mutate.BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    words = words_from_compiler(next(row["command"] for row in rows if row["file"] == str(original)))
    made = folder / "changed.o"
    words[words.index("-o") + 1] = str(made)
    words[words.index("-c") + 1] = str(source)
    run([*words, "-iquote", str(folder), "-iquote", str(original.parent)])
    linked = words_from_compiler(run(["ninja", "-t", "commands", test]).splitlines()[-1].split("&&")[1])
    own = next(word for word in linked if word.endswith(f"/test_{test.removeprefix('unit_')}.c.o"))
    linked[linked.index("-o") + 1] = str(folder / test)
    # Before the archives, so that their object of the same file is not used.
    linked[linked.index(own):linked.index(own) + 1] = [str(made)] if is_header else [own, str(made)]
    run(linked)
    done = subprocess.run([folder / test], cwd=mutate.BUILD, capture_output=True, text=True, check=False, env=without_wine(folder / "no-wine"))
    return tuple(map(int, TALLY.search(done.stdout).groups()))
