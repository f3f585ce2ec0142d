"""Which unit tests ./run test builds for Windows and runs under Wine this time: those of the rooms that have code for Windows, and
a third of the others (turn.py). As a program, it prints their targets."""

import pathlib
import re

import turn

ROOT = pathlib.Path(__file__).resolve().parents[2]
THIRDS = 3


def rows():
    """{unit_NAME: (its rooms, its sources)} of those that are built for Windows."""
    text = (ROOT / "tests/CMakeLists.txt").read_text(encoding="utf-8")
    text = re.sub(r"(?ms)^if\(NOT WIN32\).*?^endif\(\)", "", text)
    return {f"unit_{name}": (set(rooms.split()), sources.split())
            for name, rooms, sources in re.findall(r"unit_test\((\w+) ROOMS ([\w ]+?)\s+SOURCES ([^)]*)\)", text)}


def with_code_for_windows():
    """The unit tests of each room with files for Windows alone, and those that name Windows in their own file."""
    there = {file.parent.name for folder in ("analyze", "dashboard") for file in (ROOT / folder).rglob("*_windows.c")}
    return {name for name, (rooms, files) in rows().items() if there & rooms
            or any("_WIN32" in (ROOT / "tests/unit" / file).read_text(encoding="utf-8") for file in files)} | {"unit_judges", "unit_stay"}


def due():
    special = with_code_for_windows()
    return turn.due(sorted(rows()), THIRDS, lambda name: name in special)


if __name__ == "__main__":
    print(*due())
