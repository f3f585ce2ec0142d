"""What ./run test takes of a long list this time: each commit takes another share, so that some commits later all of it was tested.

In a shallow clone the number of commits stays 1, so it always takes the same share: fetch the history.

As a program, it prints the variants of the victims that are due."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECENT = 20


def commits():
    """How many there are, or what TWINSTACK_COMMITS says: a program that runs with each second commit must not always meet the
    same of two shares. None: git knows no history here."""
    if given := os.environ.get("TWINSTACK_COMMITS"):
        return int(given)
    done = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 else None


def turn(shares):
    """Which of SHARES it is, from 0 on; None: all of them, since this is a soak, or git knows no history here."""
    count = None if os.environ.get("TWINSTACK_SOAK") else commits()
    return None if count is None else count % shares


def has_changed(*paths):
    """True if something below PATHS is other than it was RECENT commits ago, or git does not know."""
    done = subprocess.run(["git", "diff", "--quiet", f"HEAD~{RECENT}", "--", *map(str, paths)], cwd=ROOT, check=False, capture_output=True)
    return done.returncode != 0


def is_due(which, shares, *paths):
    """True if it is this one's turn of SHARES, or something below PATHS changed lately."""
    return turn(shares) in (None, which) or has_changed(*paths)


def due(rows, shares, always=lambda row: False):
    """Those of the list ROWS that are tested this time: one of SHARES, and ALWAYS those for which it returns true."""
    mine = turn(shares)
    rest = [row for row in rows if not always(row)]
    kept = rest if mine is None else rest[mine::shares]
    return [row for row in rows if always(row) or row in kept]


def damage(shares):
    """The environment in which unit tests do one of SHARES of the damage to a file that they otherwise would (lib/test.h)."""
    mine = turn(shares)
    return {} if mine is None else {"TWINSTACK_TEST_TURN": f"{mine}/{shares}"}


def variants():
    """The builds of the 64-bit victims that tests use. ./run takes the other two as well, and so does a soak."""
    return ["ob0", "ob2"] if turn(1) is not None else ["ob0", "ob1", "ob2", "ob2-fp"]


def lua_variants():
    return due(["lua-ob0", "lua-ob2"], 2)


if __name__ == "__main__":
    print(*variants(), *lua_variants())
