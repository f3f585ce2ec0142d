#!/usr/bin/python3
"""groups.py ROOT: which C files of each room one compiler can read one after the other, as if they were one file.

A test builds three trees besides the tool, and half of the time that an unoptimised file takes is the start of the compiler and the
common headers. Files are grouped when they share no name: functions, variables, types and constants of one file alone, and macros.
Prints one line for each group with more than one file: the room's folder, and the files. A file is alone that defines something before its headers, that has headers of
Windows, or that has a private name which a header of ROOT declares as well."""

import pathlib
import re
import sys

MOST = 10  # a change recompiles a whole group, and two cores want something to share
WORD = re.compile(r"[A-Za-z_]\w*")
NOISE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")
ENUM = re.compile(r"\benum\b[^{};()]*\{([^}]*)\}")
BLOCK = re.compile(r"\{[^{}]*\}")
NAME = re.compile(r"(\w+)\s*(?:\(|\[|=|;|,|$)")
PLATFORM = re.compile(r"#\s*include\s+[<\"][^>\"\n]*(?:windows|winsock|ws2|psapi|bcrypt|wincrypt)")
BEFORE_HEADERS = re.compile(r"^[ \t]*#[ \t]*define\b.*^[ \t]*#[ \t]*include\b", re.M | re.S)


def file_scope(code):
    """The declarations outside all braces."""
    before = None
    while before != code:
        before, code = code, BLOCK.sub(lambda m: "\x01" if code[:m.start()].rstrip().endswith(")") else " ", code)
    return [part.strip() for part in re.split("[;\x01]", code)]


class Source:
    def __init__(self, path):
        plain = path.read_text(encoding="utf-8")
        text = NOISE.sub(" ", plain)
        code = DIRECTIVE.sub("", text)
        self.path, self.macros, self.words = path, set(MACRO.findall(text)), set(WORD.findall(text))
        self.names = constants(code)
        for part in file_scope(code):
            if part.startswith(("static", "typedef")) and (found := NAME.search(part)):
                self.names |= {found[1], *re.findall(r"\(\s*\*\s*(\w+)", part)}
        self.tags = set(TAG.findall(code))
        self.is_alone = bool(PLATFORM.search(plain) or BEFORE_HEADERS.search(text))

    def clashes(self, other):
        return self.names & other.names or self.tags & other.tags or self.macros & other.words or other.macros & self.words


def constants(code):
    return {word for body in ENUM.findall(code) for word in re.findall(r"(?:^|,)\s*([A-Za-z_]\w*)", body)}


def declared(root):
    """What all headers declare: functions, macros and constants; structs and unions."""
    names, tags = set(), set()
    for folder in ("analyze", "dashboard", "capture"):
        for header in (root / folder).rglob("*.h"):
            text = NOISE.sub(" ", header.read_text(encoding="utf-8"))
            names |= set(MACRO.findall(text)) | set(re.findall(r"(\w+)\(", text)) | constants(DIRECTIVE.sub("", text))
            tags |= set(TAG.findall(text))
    return names, tags


def groups(known, paths):
    (names, tags), found = known, []
    for source in map(Source, paths):
        if source.is_alone or source.names & names or source.tags & tags:
            continue
        for group in found:
            if len(group) < MOST and not any(source.clashes(other) for other in group):
                group.append(source)
                break
        else:
            found.append([source])
    return [[source.path for source in group] for group in found if len(group) > 1]


def rooms(root):
    """The folders that have a room of their own, and their C files."""
    folders = {p.parent: [] for f in ("analyze", "dashboard") for p in (root / f).rglob("CMakeLists.txt") if "\nroom(" in "\n" + p.read_text(encoding="utf-8")}
    for source in sorted(p for f in ("analyze", "dashboard") for p in (root / f).rglob("*.c") if "node_modules" not in p.parts):
        if home := next((folder for folder in source.parents if folder in folders), None):
            folders[home].append(source)
    return folders


def main(root):
    known = declared(root)
    for folder, paths in sorted(rooms(root).items()):
        for group in groups(known, paths):
            print(folder, *group, sep=";")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
