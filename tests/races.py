#!/usr/bin/python3
"""Data races: the tool compiled for ThreadSanitizer, where several threads work: `resolve -j`, the server under load, the stream.

    tests/races.py [NAME]...    all, or those whose name contains a NAME; part of `./run soak`

What the tests themselves say is shown and does not count: the tool is ten times as slow, so their limits of time are passed.
Exit status 1: there is a race, which is printed.  What Debian's civetweb does inside (its gmtime()) is not ours: races.supp."""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TWINSTACK_BUILD", ROOT / "build"))
HERE = BUILD / "races"
TOOL = HERE / "bin/twinstack"
STACKS, FRAMES = 900, 10
FORMS = (["--ndjson"], ["--json"], ["--format", "folded"], ["--names", "full"], ["--index", "never"])


def build():
    # The linker's flags reach the tool alone: libtwinstack.so cannot have this runtime.
    flag = "-fsanitize=thread"
    subprocess.run(["cmake", "-S", ROOT, "-B", HERE, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_C_COMPILER=clang-19",
                    f"-DCMAKE_C_FLAGS={flag} -O1", f"-DCMAKE_EXE_LINKER_FLAGS={flag}"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", HERE, "twinstack"], check=True, stdout=subprocess.DEVNULL)


def resolve(env):
    """Many stacks in modules of two readers; as many threads as one give the same bytes."""
    lines = []
    for stack in range(STACKS):
        lines.append(f"> {stack}")
        for frame in range(FRAMES):
            lines.append(f"{('app.exe', 'crash.exe')[frame % 2]}!0x{0x1000 + (stack * FRAMES + frame) * 7:x}")
    pdbs = ["--pdb", f"app.exe={ROOT / 'corpus/reporter/symbols/app.pdb'}", "--pdb", f"crash.exe={ROOT / 'corpus/crash-x86/crash.pdb'}"]
    for form in FORMS:
        said = [subprocess.run([TOOL, "resolve", "-j", count, *pdbs, *form, "-"], input="\n".join(lines), capture_output=True, text=True,
                               env=env, check=False) for count in "14"]
        print(f"     {' '.join(form)}: {len(said[1].stdout)} bytes, {'the same' if said[0].stdout == said[1].stdout else 'OTHERS'}")
        if said[0].stdout != said[1].stdout or not said[1].stdout:
            return False
    return True


def program(*words):
    def run(env):
        subprocess.run([str(word) for word in words], cwd=ROOT, env=env, check=False)
        return True
    return run


WORK = {"resolve": resolve,
        "web_load": program("node", "tests/e2e/test_web_load.mjs"), "web_api": program("node", "tests/e2e/test_web_api.mjs"),
        "web_answers": program("node", "tests/e2e/test_web_answers.mjs"),
        "stream": program("/usr/bin/python3", "tests/e2e/test_stream.py"), "offline": program("/usr/bin/python3", "tests/e2e/test_offline.py")}


def main():
    failed = []
    build()
    for name, work in WORK.items():
        if len(sys.argv) > 1 and not any(word in name for word in sys.argv[1:]):
            continue
        with tempfile.TemporaryDirectory() as place:
            env = {**os.environ, "TWINSTACK_BUILD": str(BUILD), "TWINSTACK_PROGRAM": str(TOOL),
                   "TSAN_OPTIONS": f"log_path={place}/race exitcode=0 suppressions={ROOT / 'tests/races.supp'}"}
            fine = work(env)
            races = [path.read_text(encoding="utf-8", errors="replace") for path in pathlib.Path(place).iterdir()]
        print(*races, f"{'ok  ' if fine and not races else 'FAIL'} {name}: {len(races)} processes with a race", sep="\n", flush=True)
        failed += [name] * (not fine or bool(races))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
