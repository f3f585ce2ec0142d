"""What has one place: a limit is defined once, a function that only its own file uses is static, and a fault of memory is
fault_no_memory()."""

import collections
import re

import lint_rooms

FOLDERS = ("analyze", "dashboard", "capture", "victims/harness")
LIBRARY = "analyze/library/"  # other programs call its functions
LIMIT = re.compile(r"^[A-Z]\w*(?:_MAX|_LIMIT|_MS|_DEFAULT)$|^[A-Z]\w*LIMIT\w*$")
CONSTANT = re.compile(r"\b([A-Z]\w+)\s*=\s*([^,{};]+?)\s*(?=[,}])")
DEFINE = re.compile(r"^#define ([A-Z]\w+) (\S[^\\\n]*)$", re.M)
MEMORY = re.compile(r"\bfault_set\([^;]*?,\s*ERR_MEMORY,\s*FAULT_NO_OFFSET,")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def sources(root, *suffixes, folders=FOLDERS):
    return sorted({f for folder in folders for f in (root / folder).rglob("*")
                   if f.suffix in suffixes and "node_modules" not in f.parts})


def limits_twice(root):
    """One line for each limit that two source files define with the same value."""
    places = collections.defaultdict(set)
    for file in sources(root, ".c"):
        text = COMMENT.sub(" ", file.read_text(encoding="utf-8"))
        constants = [c for body in re.findall(r"\benum\s*(\{[^{}]*\})", text) for c in CONSTANT.findall(body.replace("}", ",}"))]
        for name, value in constants + DEFINE.findall(text):
            if LIMIT.match(name):
                places[file.relative_to(root).parts[0], name, " ".join(value.split())].add(file.relative_to(root).as_posix())
    return [f"{min(found)}: {name} = {value}: also in {', '.join(sorted(found)[1:])}: define it once, in a header"
            for (_, name, value), found in sorted(places.items()) if len(found) > 1]


def could_be_static(root):
    """One line for each function that a header declares and only its own file uses."""
    used = collections.defaultdict(set)
    mentioned, called = collections.Counter(), collections.Counter()
    everywhere = sources(root, ".c", ".cpp", ".h", ".S", ".def", ".in", folders=(*FOLDERS, "tests", "victims"))
    for file in everywhere:
        text = COMMENT.sub(" ", file.read_text(encoding="utf-8"))
        words = re.findall(r"[A-Za-z_]\w+", text)
        if file.suffix == ".h":
            mentioned.update(words)
            called.update(re.findall(r"[A-Za-z_]\w+(?=\()", text))
        else:
            for word in set(words):
                used[word].add(file)
    said = []
    for file in sources(root, ".c"):
        name = file.relative_to(root).as_posix()
        if name.startswith(LIBRARY):
            continue
        for function in sorted(lint_rooms.definitions(lint_rooms.code_of(file.read_text(encoding="utf-8")))):
            if mentioned[function] == called[function] == 1 and used[function] == {file}:
                said.append(f"{name}: {function}: nothing else uses it: make it static")
    return said


def other_faults_of_memory(root):
    """One line for each fault of memory that is spelt out."""
    return [f"{file.relative_to(root).as_posix()}:{text.count(chr(10), 0, m.start()) + 1}: use fault_no_memory()" for file in sources(root, ".c")
            for text in [file.read_text(encoding="utf-8")] for m in MEMORY.finditer(text)]


def check(root, only):
    said = limits_twice(root) + could_be_static(root) + other_faults_of_memory(root)
    names = {f.relative_to(root).as_posix() for f in only}
    return [line for line in said if not names or any(name in line for name in names)]
