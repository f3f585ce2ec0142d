"""Which unit tests ./run test takes in other builds than the plain one, which has them all. As a program, it prints their
targets: units.py windows|sanitized."""

import pathlib
import re
import subprocess
import sys

import turn

ROOT = pathlib.Path(__file__).resolve().parents[2]
THIRDS = 3


def rows(windows=True):
    """{unit_NAME: (its rooms, its sources)} of all, or of those that are built for WINDOWS."""
    text = (ROOT / "tests/CMakeLists.txt").read_text(encoding="utf-8")
    text = re.sub(r"(?ms)^if\(NOT WIN32\).*?^endif\(\)" if windows else r"(?ms)^if\(WIN32\).*?^endif\(\)", "", text)
    return {f"unit_{name}": (set(rooms.split()), sources.split())
            for name, rooms, sources in re.findall(r"unit_test\((\w+) ROOMS ([\w ]+?)\s+SOURCES ([^)]*)\)", text)}


def with_code_for_windows():
    """The unit tests of each room with files for Windows alone, and those that name Windows in their own file."""
    there = {file.parent.name for folder in ("analyze", "dashboard") for file in (ROOT / folder).rglob("*_windows.c")}
    return {name for name, (rooms, files) in rows().items() if there & rooms
            or any("_WIN32" in (ROOT / "tests/unit" / file).read_text(encoding="utf-8") for file in files)} | {"unit_judges", "unit_stay"}


def windows():
    """Those that are built for Windows: of the rooms that have code for it, and a third of the others."""
    special = with_code_for_windows()
    return turn.due(sorted(rows()), THIRDS, lambda name: name in special)


def changed_lately():
    """The unit tests that changed, themselves or a room of theirs, in the last commits."""
    done = subprocess.run(["git", "diff", "--name-only", f"HEAD~{turn.RECENT}"], cwd=ROOT, capture_output=True, text=True, check=False)
    changed = [pathlib.PurePath(line) for line in done.stdout.splitlines()]
    parts = {path.parts[1] for path in changed if path.suffix in (".c", ".h") and path.parts[0] == "analyze"}
    parts |= {"dashboard"} if any(path.parts[0] == "dashboard" and path.suffix in (".c", ".h") for path in changed) else set()
    files = {path.name for path in changed if path.parts[:2] == ("tests", "unit")}
    return {name for name, (rooms, sources) in rows(windows=False).items() if rooms & parts or files & set(sources)}


def sanitized():
    """Those that run under sanitizers: a third of all, and those that changed lately."""
    special = changed_lately()
    return turn.due(sorted(rows(windows=False)), THIRDS, lambda name: name in special)


if __name__ == "__main__":
    print(*{"windows": windows, "sanitized": sanitized}[sys.argv[1]]())
