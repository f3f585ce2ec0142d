#!/usr/bin/python3
"""The checks that no compiler makes: clang-format, clang-tidy, shellcheck, banned functions, how files are written, file
length, files that git should not have, Python (pyflakes), circles of files (lint_rooms.py), what has one place
(lint_once.py), the verbs that use libtwinstack alone (lint_library.py), stale references (lint_references.py), links and length of
documents (lint_documents.py), Plain English (lint_words.py).
Every file is checked each time. build/lint keeps a note of each clean result of clang-format and clang-tidy, named by a hash of
all that it depends on: the tool and its options, the file, and for clang-tidy every header of its object, those of the system
too. So a second run checks what changed.
clang-tidy spends most of its time on the static analyser's paths.  The analyser gives up on a function after
ANALYSER_NODES, a 28th of the default, and takes half the time of 25,000.  --deep
(./run soak lint) keeps the default.

With FILES, only these are checked.  --tidy I/N runs only clang-tidy, on the I-th of N parts of the files, and --no-tidy all
else. The check of words prints hints and never fails.
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

import lint_documents
import lint_library
import lint_once
import lint_references
import lint_rooms
import lint_words

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
    "analyze/verbs/open_store.c",  # appends to the summary of a CI job
    "analyze/store/whole.c",  # `db publish`: refuses devices and follows links
    "analyze/collect/collect.c", "analyze/collect/runner_posix.c",  # folders of cases, the lock of a machine
    # files of our own caches and spools
    "analyze/base/cache.c", "analyze/symbol/store_servers.c", "analyze/stream/durable.c", "analyze/stream/queue_spool.c",
    "analyze/stream/totals_merge.c",
    "analyze/fetch/fetch_cache.c", "analyze/fetch/fetch_server.c", "analyze/fetch/transfer_part.c",
    "dashboard/pages/sent_files.c",  # a folder of its own while a request is answered
}
WRITES = re.compile(r'\b(?:rename|path_rename|file_move|mkstemps?|freopen|creat)\s*\(|\bO_CREAT\b|'
                    r'\b(?:fopen|file_open|_wfopen|fdopen)\s*\([^;]*"[wa][^"\n]*"')

# Files that are not text are data of the corpus or belong to these; any other was committed by mistake.
BINARY_FOLDERS = ("corpus/", "tests/fuzz/found/", "tests/fuzz/seeds/", "victims/managed/", "dashboard/screenshot.png",
                  "tests/golden/pages.br", "tests/golden/whole.json.xz")
TRACKED_BYTES_MAX = 2 << 20

ANALYSER_NODES = 8_000
AT_ONCE = 6  # files for one process of clang-tidy, whose start takes as long as a fifth of a file
FORMAT_AT_ONCE = 50

only = set()


def files(*suffixes, folders=CODE_FOLDERS):
    for folder in folders:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in suffixes and "node_modules" not in file.parts and (not only or file in only):
                yield file


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)


def version(tool):
    return subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout


@functools.cache
def digest_of(name):
    return hashlib.sha256(pathlib.Path(name).read_bytes()).hexdigest()


def note(source, *words):
    """The file whose presence means that SOURCE is clean; WORDS: all that the result depends on."""
    folder = BUILD / "lint"
    folder.mkdir(exist_ok=True)
    return folder / f"{source.name}-{hashlib.sha256(chr(0).join(words).encode()).hexdigest()[:32]}"


def check_all(sources, note_of, check, at_once, workers):
    """What CHECK says of those SOURCES that have no note, AT_ONCE per call; of a call that said nothing, all get one.
    NOTE_OF returns the note's path, None: what the result depends on is not known."""
    notes = {source: note_of(source) for source in sources}
    todo = [source for source in sources if not (notes[source] and notes[source].exists())]

    def one(batch):
        said = check(batch)
        for source in [] if said else batch:
            if notes[source]:
                notes[source].touch()
        return said

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return [line for said in pool.map(one, [todo[i:i + at_once] for i in range(0, len(todo), at_once)]) for line in said]


def check_format():
    settings = version("clang-format-19") + (ROOT / ".clang-format").read_text(encoding="utf-8")

    def check(batch):
        run = subprocess.run(["clang-format-19", "--dry-run", "-Werror", *map(str, batch)], capture_output=True, text=True, check=False)
        bad = {l.split(": error")[0].replace(f"{ROOT}/", "") for l in run.stderr.splitlines() if "error:" in l}
        return [f"{b}: not formatted by clang-format-19" for b in sorted(bad)] or ["clang-format-19 failed"] * (run.returncode != 0)

    return check_all(list(files(".c", ".h", ".cpp")), lambda f: note(f, "format", settings, digest_of(f)), check, FORMAT_AT_ONCE, os.cpu_count())


@functools.cache
def in_tree(name):
    """The path of a file that ninja names."""
    return str((BUILD / name).resolve())


def dependencies():
    """Source file -> every file that its object was built from, as ninja remembers it."""
    run = subprocess.run(["ninja", "-C", str(BUILD), "-t", "deps"], capture_output=True, text=True, check=False)
    found = {}
    for block in run.stdout.split("\n\n"):
        names = [in_tree(l.strip()) for l in block.splitlines()[1:] if l.startswith("    ")]
        if names:
            found[names[0]] = sorted(names)
    return found


def configurations():
    """Of the tree, and of the folders that differ from it."""
    return [ROOT / ".clang-tidy", *sorted(f for folder in ("analyze", "dashboard") for f in (ROOT / folder).rglob(".clang-tidy"))]


def check_tidy(part=1, parts=1, deep=False):
    commands = {}
    for row in json.loads((BUILD / "compile_commands.json").read_text()):
        commands.setdefault(row["file"], row["command"])
    deps = dependencies()
    more = [] if deep else [f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={ANALYSER_NODES}")]
    settings = [version("clang-tidy-19"), *(f.read_text(encoding="utf-8") for f in configurations()), *more]

    def note_of(source):
        of = deps.get(str(source))
        return note(source, "tidy", *settings, commands[str(source)], *map(digest_of, of)) if of and all(map(os.path.exists, of)) else None

    def check(batch):
        run = subprocess.run(["clang-tidy-19", "-p", str(BUILD), "--quiet", *more, *map(str, batch)], capture_output=True, text=True, check=False)
        said = [l.replace(f"{ROOT}/", "") for l in run.stdout.splitlines() if re.search(r": (error|warning): ", l)]
        status = f"{batch[0].relative_to(ROOT)} and the next {len(batch) - 1}: clang-tidy-19 exit status {run.returncode}"
        return said or [status] * (run.returncode != 0)

    sources = [f for f in files(".c", folders=("analyze", "dashboard")) if str(f) in commands]
    return check_all(sources[part - 1::parts], note_of, check, AT_ONCE, os.cpu_count() if parts == 1 else 1)


def check_shell():
    scripts = [f for f in (ROOT / "run", ROOT / ".ci/run") if not only or f in only] + list(files(".sh"))
    if not scripts:
        return []
    run = subprocess.run(["shellcheck", "-f", "gcc", *map(str, scripts)], capture_output=True, text=True, check=False)
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
    """What cannot be compiled, and names that nothing defines or uses."""
    if not (sources := list(files(".py"))):
        return []
    done = subprocess.run(["/usr/bin/python3", "-m", "pyflakes", *sources], cwd=ROOT, capture_output=True, text=True, check=False)
    bad = [line.removeprefix(f"{ROOT}/") for line in (done.stdout + done.stderr).splitlines()]
    return bad if bad or done.returncode == 0 else [f"pyflakes ended with {done.returncode}"]


def check_rooms():
    return lint_rooms.check(ROOT, only)


def check_once():
    return lint_once.check(ROOT, only)


def check_library():
    return lint_library.check(ROOT, only)


def check_references():
    return lint_references.check(ROOT, only)


def check_documents():
    return lint_documents.check(ROOT, only)


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
    parser.add_argument("--deep", action="store_true", help="with the analyser's default limits")
    asked = parser.parse_args()
    only.update(asked.files)
    passed = failed = 0
    checks = (check_format, check_tidy, check_shell, check_banned, check_writers, check_length, check_tracked,
              check_python, check_rooms, check_once, check_library, check_references, check_documents)
    if asked.tidy or asked.no_tidy:
        checks = [c for c in checks if (c is check_tidy) == bool(asked.tidy)]
    for check in checks:
        said = check(*(asked.tidy or (1, 1)), asked.deep) if check is check_tidy else check()
        for line in said:
            print(line)
        if said:
            print(f"FAIL {check.__name__}: {len(said)}")
        passed, failed = passed + (not said), failed + bool(said)
    for line in [] if asked.tidy else lint_words.check(ROOT, only):
        print(f"hint: {line}")
    print(f"tally {passed} {failed} 0")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
