#!/usr/bin/python3
"""The checks that no compiler makes: clang-format, clang-tidy, shellcheck, banned functions, how files are written, file
length, files that git should not have, Python syntax, circles of files (lint_rooms.py), what has one place
(lint_once.py), the verbs that use libtwinstack alone (lint_library.py), stale references (lint_references.py), Plain
English (lint_words.py).
Clean results of clang-tidy are cached in build/lint by their inputs, so only changed files are checked again.
clang-tidy spends most of its time on the static analyser's paths.  The analyser gives up on a function after
ANALYSER_NODES, a 28th of the default, and takes half the time of 25,000.  --deep
(./run soak lint) keeps the default.

With FILES, only these are checked.  --tidy I/N runs only clang-tidy, on the I-th of N parts of the files that are due, and
--no-tidy all else. What looks at each file by itself and takes long then takes the files that are due: those that changed in
the working copy or in the last RECENT commits, and of the others each TIDY_SHARE-th or SHARE-th, which are others with every
commit. With --deep, and without either option, all files are due.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

import lint_faults
import lint_library
import lint_once
import lint_references
import lint_rooms
import lint_words

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
import turn  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TWINSTACK_BUILD", ROOT / "build"))
CODE_FOLDERS = ("analyze", "dashboard", "capture", "victims", "tests", "cmake")
FILE_LINES_MAX = 600
# Functions that have a bounded counterpart or hide an error, each with its replacement.
BANNED = {
    "strcpy": "arena_string or snprintf", "strcat": "snprintf", "sprintf": "snprintf", "vsprintf": "vsnprintf",
    "gets": "fgets", "atoi": "text_parse_uint", "atol": "text_parse_uint", "strtok": "strcspn",
    "alloca": "the arena", "system": "process_run", "popen": "process_run",
}

# What a user names goes through file_write_parts(): a device or pipe is written to and a symbolic link followed.  Only
# these may write otherwise.
WRITERS = {
    "analyze/base/files_posix.c", "analyze/base/files_windows.c",  # file_write_parts() itself
    "analyze/verbs/verb_report.c", "analyze/verbs/verb_run.c",  # append to the summary of a CI job
    "analyze/store/whole.c",  # `db publish`: refuses devices and follows links
    "analyze/collect/collect.c", "analyze/collect/runner_posix.c",  # folders of cases, the lock of a machine
    # files of our own caches and spools
    "analyze/base/cache.c", "analyze/symbol/store_servers.c", "analyze/stream/durable.c", "analyze/stream/queue_spool.c",
    "analyze/fetch/fetch_cache.c", "analyze/fetch/fetch_server.c", "analyze/fetch/transfer_curl.c",
}
WRITES = re.compile(r'\b(?:rename|path_rename|file_move|mkstemps?|freopen|creat)\s*\(|\bO_CREAT\b|'
                    r'\b(?:fopen|file_open|_wfopen|fdopen)\s*\([^;]*"[wa][^"\n]*"')

# Files that are not text are data of the corpus or belong to these; any other was committed by mistake.
BINARY_FOLDERS = ("corpus/", "tests/fuzz/found/", "victims/managed/", "dashboard/screenshot.png")
TRACKED_BYTES_MAX = 2 << 20

TIDY_PARTS = 1
RECENT, SHARE, TIDY_SHARE = 20, 8, 30
ANALYSER_NODES = 8_000
AT_ONCE = 6  # files for one process of clang-tidy, whose start takes as long as a fifth of a file

only = set()
shares = []  # not empty: only files that are due are checked


def files(*suffixes, folders=CODE_FOLDERS):
    for folder in folders:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in suffixes and "node_modules" not in file.parts and (not only or file in only):
                yield file


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)


@functools.cache
def recent():
    """The files that differ from RECENT commits ago; None: git has no such history."""
    changed, new = git("diff", "--name-only", f"HEAD~{RECENT}"), git("ls-files", "-o", "--exclude-standard")
    return None if changed.returncode != 0 else {*changed.stdout.split(), *new.stdout.split()}


def due(sources, share=SHARE):
    """Those of SOURCES that are checked this time; without git, and where git has no history, all of them."""
    if not shares or recent() is None:
        return sources
    return turn.due(sources, share, lambda f: f.relative_to(ROOT).as_posix() in recent())


def check_format():
    bad = []
    sources = [str(f) for f in due(list(files(".c", ".h", ".cpp")))]
    if not sources:
        return []
    run = subprocess.run(["clang-format-19", "--dry-run", "-Werror", *sources], capture_output=True, text=True, check=False)
    for line in run.stderr.splitlines():
        if "error:" in line:
            bad.append(line.split(": error")[0].replace(f"{ROOT}/", ""))
    return [f"{b}: not formatted by clang-format-19" for b in sorted(set(bad))[:20]]


@functools.cache
def in_tree(name):
    """The path of a file that ninja names."""
    return str((BUILD / name).resolve())


def dependencies():
    """Source file -> every file that its object was built from, as ninja remembers it."""
    run = subprocess.run(["ninja", "-C", str(BUILD), "-t", "deps"], capture_output=True, text=True, check=False)
    found = {}
    for block in run.stdout.split("\n\n"):
        names = [l.strip() for l in block.splitlines()[1:] if l.startswith("    ")]
        names = [in_tree(n) for n in names]
        if names:
            found[names[0]] = [n for n in names if n.startswith(str(ROOT))]
    return found


def tidy_key(source, deps, version, command):
    digest = hashlib.sha256((version + (ROOT / ".clang-tidy").read_text() + command).encode())
    for name in sorted(deps):
        digest.update(pathlib.Path(name).read_bytes())
    return f"{source.stem}-{digest.hexdigest()[:32]}"


def analyser_arguments(deep):
    words = [] if deep else ["-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={ANALYSER_NODES}"]
    return [f"--extra-arg={word}" for word in words]


def check_tidy(part=1, parts=1, deep=False):
    commands = {}
    for row in json.loads((BUILD / "compile_commands.json").read_text()):
        commands.setdefault(row["file"], row["command"])
    deps = dependencies()
    version = subprocess.run(["clang-tidy-19", "--version"], capture_output=True, text=True, check=False).stdout
    good = BUILD / "lint"
    good.mkdir(exist_ok=True)
    more = analyser_arguments(deep)

    def key(source):
        name = str(source)
        return good / tidy_key(source, deps.get(name, [name]), version, " ".join([commands[name], *more]))

    def one(batch):
        batch = [source for source in batch if not key(source).exists()]
        if not batch:
            return []
        run = subprocess.run(["clang-tidy-19", "-p", str(BUILD), "--quiet", *more, *map(str, batch)], capture_output=True, text=True, check=False)
        said = [l.replace(f"{ROOT}/", "") for l in run.stdout.splitlines() if re.search(r": (error|warning): ", l)]
        if run.returncode == 0 and not said:
            for source in batch:
                key(source).touch()
            return []
        return said or [f"{batch[0].relative_to(ROOT)} and the next {len(batch) - 1}: clang-tidy-19 exit status {run.returncode}"]

    known = [f for f in files(".c", folders=("analyze", "dashboard")) if str(f) in commands]
    sources = due(known, TIDY_SHARE)
    if len(sources) < len(known):
        print(f"clang-tidy: {len(sources)} of {len(known)} files are due; ./run soak lint checks all")
    sources = sources[part - 1::parts]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() if parts == 1 and not shares else 1) as pool:
        return [line for said in pool.map(one, [sources[i:i + AT_ONCE] for i in range(0, len(sources), AT_ONCE)]) for line in said]


def check_shell():
    scripts = [f for f in (ROOT / "run", ROOT / ".ci/run") if not only or f in only] + list(files(".sh"))
    if not scripts:
        return []
    run = subprocess.run(["shellcheck", "-f", "gcc", *map(str, due(scripts))], capture_output=True, text=True, check=False)
    return run.stdout.replace(f"{ROOT}/", "").splitlines()


def check_banned():
    pattern = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")
    bad = []
    for file in files(".c", ".h", folders=("analyze", "dashboard")):
        text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), file.read_text(encoding="utf-8"), flags=re.S)
        text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
        for number, line in enumerate(text.splitlines(), 1):
            for name in pattern.findall(line):
                bad.append(f"{file.relative_to(ROOT)}:{number}: {name}: use {BANNED[name]}")
    return bad


def check_writers():
    bad = []
    for file in files(".c", folders=("analyze", "dashboard")):
        name = file.relative_to(ROOT).as_posix()
        text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), file.read_text(encoding="utf-8"), flags=re.S)
        if name not in WRITERS:
            bad += [f"{name}:{text.count(chr(10), 0, m.start()) + 1}: {m[0].split('(')[0]}: use file_write_parts()"
                    for m in WRITES.finditer(text)]
    return bad


def check_length():
    return [f"{f.relative_to(ROOT)}: {n} lines, more than {FILE_LINES_MAX}"
            for f in files(".c", ".h", ".cpp", ".S", ".js", ".mjs", ".css", ".py")
            if (n := len(f.read_text(encoding="utf-8").splitlines())) > FILE_LINES_MAX]


def check_tracked():
    bad = []
    for name in git("ls-files", "-z").stdout.split("\0"):
        if not (ROOT / name).is_file() or only and ROOT / name not in only:
            continue
        data = (ROOT / name).read_bytes()
        if len(data) > TRACKED_BYTES_MAX:
            bad.append(f"{name}: {len(data)} bytes, more than {TRACKED_BYTES_MAX}: git keeps them forever")
        elif b"\0" in data and not name.startswith(BINARY_FOLDERS):
            bad.append(f"{name}: is not text: did a build or an experiment make it?")
    return bad


def check_python():
    bad = []
    for file in files(".py"):
        try:
            compile(file.read_text(encoding="utf-8"), str(file), "exec")
        except SyntaxError as error:
            bad.append(f"{file.relative_to(ROOT)}:{error.lineno}: {error.msg}")
    return bad


def check_rooms():
    return lint_rooms.check(ROOT, only)


def check_once():
    return lint_once.check(ROOT, only)


def check_library():
    return lint_library.check(ROOT, only)


def check_faults():
    lint_faults.self_check()
    return lint_faults.check(ROOT, only)


def check_references():
    return lint_references.check(ROOT, only)


def check_words():
    return lint_words.check(ROOT, only, due)


def existing(name):
    path = pathlib.Path(name).resolve()
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"{name}: no such file")
    return path


def one_of(text):
    """'2/4' as (2, 4)."""
    part, parts = map(int, text.split("/"))
    if not 1 <= part <= parts:
        raise argparse.ArgumentTypeError(f"{text}: there is no such part")
    return part, parts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", metavar="FILE", nargs="*", type=existing)
    parser.add_argument("--no-tidy", action="store_true", help="leave out clang-tidy, which takes minutes")
    parser.add_argument("--tidy", type=one_of, metavar="I/N", help="clang-tidy alone, the I-th of N parts")
    parser.add_argument("--deep", action="store_true", help="all files, and the analyser's default limits")
    asked = parser.parse_args()
    only.update(asked.files)
    if (asked.tidy or asked.no_tidy) and not asked.deep and not only:
        shares.append(True)
    passed = failed = 0
    checks = (check_format, check_tidy, check_shell, check_banned, check_writers, check_length, check_tracked,
              check_python, check_rooms, check_once, check_library, check_faults, check_references, check_words)
    if asked.tidy or asked.no_tidy:
        checks = [c for c in checks if (c is check_tidy) == bool(asked.tidy)]
    for check in checks:
        said = check(*(asked.tidy or (1, 1)), asked.deep) if check is check_tidy else check()
        for line in said:
            print(line)
        if said:
            print(f"FAIL {check.__name__}: {len(said)}")
        passed, failed = passed + (not said), failed + bool(said)
    print(f"tally {passed} {failed} 0")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
