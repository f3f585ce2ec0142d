"""References that lead nowhere: a comment or a document that names a file of the repository, or a function as
`name()` or a type as `struct name`, which does not exist; and places given as a line number, which the next edit makes wrong.
"""

import os
import pathlib
import re

import lint_words

SOURCES = {".c", ".h", ".cpp", ".S", ".py", ".js", ".mjs", ".css", ".md", ".cmake", ".txt", ".sh", ".html"}
NAMED = r"(?:c|h|cpp|S|py|mjs|js|css|md|cmake|sh)"
FILE = re.compile(rf"(?<![\w./:<*$%{{-])((?:[\w-]+/)*[\w-]+\.{NAMED})\b(?!\.\w|\()(:\d+)?")
ENDING = re.compile(rf"\.{NAMED}\b")
FOLDER_TEXT = re.compile(r"(?<![\w./:<*$%{-])((?:[\w.-]+/)+CMakeLists\.txt)\b")
FUNCTION = re.compile(r"(?<![\w.>:])([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\(\)")
TYPE = re.compile(r"(?<![\w.])(?:struct|enum) ([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b")
# Files of other projects and systems that our texts name, and files that our programs write.
ELSEWHERE = {
    "avrfsdk.h", "cvinfo.h", "fat.h", "json-schema.md", "loader.h", "minidump_extensions.h",
    "minidump_format.h", "minidumpapiset.h", "msf.cpp", "nlist.h", "reloc.h", "stab.h", "web_assets.c", "winnt.h",
    "xlock.cpp",
}
FUNCTIONS_ELSEWHERE = {"dwarf_srcfiles"}
# Examples: one letter (a.c, x_posix.c) or a part in capitals (verb_NAME.c, OUT/x.c, NAME/header.h).
EXAMPLE = re.compile(r"(?:^|/)[A-Za-z](?:_\w+)?\.\w+$|(?<![A-Za-z])(?:NAME|OUT)(?![A-Za-z])|^room/header\.h$")
IGNORED_FOLDERS = {"build", "node_modules", ".git"}
UNREAD_FOLDERS = {"golden", "corpus"}


def files(root):
    for folder, inside, names in os.walk(root):
        top = pathlib.Path(folder) == root
        inside[:] = sorted(name for name in inside if name not in IGNORED_FOLDERS and not (top and name.startswith(".")))
        yield from (pathlib.Path(folder, name) for name in sorted(names) if not (top and name.startswith(".")))


def words_of_code(suffix, text):
    """The identifiers of a file's code, without its comments."""
    if suffix in (".c", ".h", ".cpp", ".S", ".js", ".mjs"):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    elif suffix == ".py":
        text = re.sub(r"#[^\n]*", " ", text)
    return set(re.findall(r"[A-Za-z_]\w+", text))


def check(root, only):
    names, known, texts = set(), set(FUNCTIONS_ELSEWHERE), {}
    for file in files(root):
        name = file.relative_to(root).as_posix()
        names.add(name)
        if file.suffix in SOURCES and not UNREAD_FOLDERS.intersection(file.parts[:-1]):
            texts[file] = file.read_text(encoding="utf-8")
            if file.suffix != ".md":
                known |= words_of_code(file.suffix, texts[file])
    tails = {"/".join(n.split("/")[i:]) for n in names for i in range(n.count("/") + 1)}
    said = []
    for file, text in texts.items():
        name = file.relative_to(root).as_posix()
        if only and file not in only or file.suffix == ".html":
            continue
        # To leave the code out takes longer than the search, so what is found in all of the text comes first.
        if suspects(file, text, tails, known):
            prose = text if file.suffix == ".md" else lint_words.comments(file.suffix, text)
            said += [f"{name}:{row}" for row in suspects(file, prose, tails, known)]
    return said


def suspects(file, text, tails, known):
    """What TEXT names that does not exist, each as "LINE: NAME: why"."""
    found = []
    lines = {text.rfind("\n", 0, m.start()) + 1: text.find("\n", m.start()) for m in ENDING.finditer(text)}  # few have one
    named = [m for start, end in lines.items() for m in FILE.finditer(text, start, end if end >= 0 else len(text))]
    for m in [*named, *FOLDER_TEXT.finditer(text)]:
        ref, place = m[1], m[2] if m.re is FILE else None
        if ref not in tails and ref.split("/")[-1] not in ELSEWHERE and not EXAMPLE.search(ref):
            found.append((m.start(), f"{ref}: no such file"))
        elif place and ref in tails and file.suffix in (".c", ".h"):
            found.append((m.start(), f"{ref}{place}: name the function, not the line"))
    found += [(m.start(), f"{m[1]}(): no such function") for m in FUNCTION.finditer(text) if m[1] not in known]
    found += [(m.start(), f"{m[1]}: no such type") for m in TYPE.finditer(text) if m[1] not in known]
    return [f"{text.count(chr(10), 0, at) + 1}: {what}" for at, what in sorted(found)]
