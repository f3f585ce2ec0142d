"""Which test programs cover a change: `./run test --changed [REF]`.

A changed file belongs to a room (its folder), and a program covers rooms, with all that these use, by the links that CMake has:
the labels of programs.cmake. What every room uses, and what builds or runs the tests, is covered by all programs."""

import functools
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What any program may depend on.
EVERYTHING = re.compile(r"^(run$|\.ci/|CMakeLists\.txt$|CMakePresets\.json$|cmake/|analyze/base/|.*CMakeLists\.txt$|tests/[^/]*\.(py|sh|cmake|txt)$"
                        r"|tests/lib/(test\.|isolate|e2e|program|machine|changed|actor)|tests/e2e/web/world\.mjs$)")


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else None


def files_since(ref):
    """The files that differ from the merge base with REF, and the base's name; None: git does not know."""
    for name in [ref] if ref else ["origin/main", "main"]:
        base = git("merge-base", "HEAD", name)
        if base:
            changed = git("diff", "--name-only", base[0]) + git("ls-files", "-o", "--exclude-standard")
            return sorted(set(changed)), f"{name} ({base[0][:8]})"
    return None, ref or "origin/main"


def room_of(path):
    """The label that covers the file PATH; None: its own name has to be looked for."""
    parts = pathlib.PurePosixPath(path).parts
    if parts[0] == "analyze" and len(parts) > 2:
        return parts[1]
    if parts[0] == "dashboard":
        return parts[1] if len(parts) > 2 else "server"
    return parts[0] if parts[0] in ("capture", "victims", "corpus") and len(parts) > 1 else None


def mentions(program_files, path):
    """Programs whose text names the file, or the folder of tests/e2e or tests that it is in."""
    pure = pathlib.PurePosixPath(path)
    words = {pure.name, pure.stem} | ({f"{pure.parts[1]}/{pure.parts[2]}", f'"{pure.parts[2]}"'} if len(pure.parts) > 3 else set())
    words |= {f"test_{pure.parts[2]}."} if pure.parts[:2] == ("tests", "e2e") and len(pure.parts) > 3 else set()
    pattern = re.compile("|".join(rf"(?<![\w-]){re.escape(word)}" for word in sorted(words) if len(word) > 3))
    return {name for name, files in program_files.items() if any(pattern.search(text) or pattern.search(file) for file, text in files)}


@functools.cache
def text_of(file):
    return (ROOT / file).read_text(encoding="utf-8", errors="replace") if (ROOT / file).is_file() else ""


def texts(programs):
    """{program: [(file, its text)]}"""
    return {name: [(label[5:], text_of(label[5:])) for label in labels if label.startswith("file:")] for name, labels in programs.items()}


def choose(programs, ref, changed=None):
    """Of PROGRAMS {name: labels} those that cover what changed since REF, or the given files; and the lines that say why."""
    base = "the given files"
    if changed is None:
        changed, base = files_since(ref)
    if changed is None:
        return list(programs), [f"changed: git knows no {base} here, so all {len(programs)} programs run"]
    of_all = [path for path in changed if EVERYTHING.match(path)]
    if of_all:
        return list(programs), [f"changed since {base}: {of_all[0]} is covered by all {len(programs)} programs"]
    wanted, rooms = {name for name, labels in programs.items() if "always" in labels}, set()
    for path in changed:
        room = room_of(path)
        rooms |= {room} if room else set()
        covering = {name for name, labels in programs.items() if room in labels or f"file:{path}" in labels}
        if not covering or room == "corpus":
            covering |= mentions(texts(programs), path)
        if not covering:
            return list(programs), [f"changed since {base}: no program names {path}, so all {len(programs)} run"]
        wanted |= covering
    left = sorted(set(programs) - wanted)
    said = [f"changed since {base}: {len(changed)} files; rooms: {', '.join(sorted(rooms)) or 'none'}; {len(wanted)} programs run"]
    if left:
        said.append(f"left out, since they cover none of these: {len(left)} programs: {', '.join(left)}")
    return [name for name in programs if name in wanted], said
