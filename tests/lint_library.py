"""The command line is the first user of libtwinstack: these verbs read, resolve and write stacks and dumps only through the installed
header, so nothing that they include, however far away, is a header of the rooms that the library is made of.
The headers that other programs include say for each function what it may be asked, and by whom: see contracts()."""

import re

USERS = ("analyze/verbs/verb_resolve.c", "analyze/verbs/verb_dump.c")
HEADER = "library/twinstack.h"
ROOMS = ("model", "format", "fetch", "symbol", "unwind", "engine", "library")
NEUTRAL = {"model/names.h"}  # words of options
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)

PUBLIC = ("analyze/library/twinstack.h", "capture/capture_port.h")
SECTIONS = ("Units", "Ownership", "Errors", "Threads")  # of the first comment: what holds for all functions
COMMENT = re.compile(r"/\*.*?\*/", re.S)
FUNCTION = re.compile(r"^(?!typedef\b)(?:TWINSTACK_API )?([^\n;{}#/()]*?)(\w+)\(([^;{}]*)\);", re.M)
BODY = re.compile(r"\{[^{}]*\}")
PROMISES = [  # what a function returns or takes, and what its comment must then say
    (r"^enum twinstack_status", r"Fails:|TWINSTACK_OK:", "when it fails (`Fails:`)"),
    (r"^bool", r"False:", "what false means (`False:`)"),
    (r"\bstruct \w+ \*\*|^struct \w+ \*", r"\b(?:Free|Close)\b", "how its result is freed (`Free`, `Close`)"),
]


def reached(root, file):
    """Header -> the file that includes it, for all that FILE includes, directly or not."""
    found, work = {}, [file]
    while work:
        at = work.pop()
        for header in INCLUDE.findall(at.read_text(encoding="utf-8")):
            path = root / "analyze" / header
            if header not in found and path.exists():
                found[header] = at.relative_to(root).as_posix()
                if header != HEADER:
                    work.append(path)
    return found


def contracts(name, text):
    """One line for each function of a public header of which its comment, or the first of the header, does not say enough. Functions
    without a blank line between them share the comment of the first."""
    said = []
    first = COMMENT.match(text)
    parts = {m[1]: m[2] for m in re.finditer(r"^ \* (\w+): (.*?)(?=^ \*\s*$|\Z|\*/)", first[0] if first else "", re.M | re.S)}
    opaque = set(re.findall(r"^struct twinstack_(\w+);", text, re.M))
    said += [f"{name}:1: the first comment has no paragraph `{section}:`" for section in SECTIONS if section not in parts]
    at = 0
    for block in re.split(r"\n[ \t]*\n", text):
        line, at = text.count("\n", 0, text.find(block, at)) + 1, text.find(block, at) + len(block)
        comments = "".join(COMMENT.findall(BODY.sub("", block)))
        for returns, function, takes in FUNCTION.findall(COMMENT.sub("", BODY.sub("", block)).strip()):
            if not comments:
                said.append(f"{name}:{line}: {function}: no comment")
                continue
            said += [f"{name}:{line}: {function}: its comment does not say {what}" for shape, words, what in PROMISES
                     if re.search(shape, f"{returns.strip()} ({takes}") and not re.search(words, comments)]
            kind = re.match(r"(?:const )?struct twinstack_(\w+) \*\w", takes)
            if kind and kind[1] in opaque and f"`{kind[1]}`" not in parts.get("Threads", ""):
                said.append(f"{name}:{line}: {function}: `Threads:` of the first comment does not name `{kind[1]}`")
    return said


def check(root, only):
    said = [line for name in PUBLIC if (root / name).is_file() for line in contracts(name, (root / name).read_text(encoding="utf-8"))]
    for name in USERS:
        headers = reached(root, root / name)
        if HEADER not in headers:
            said.append(f"{name}: does not include {HEADER}")
        said += [f"{by}: {header}: {name} must resolve through {HEADER} alone" for header, by in sorted(headers.items())
                 if header.split("/")[0] in ROOMS and header != HEADER and header not in NEUTRAL]
    return [line for line in said if not only or any(line.startswith(str(f.relative_to(root))) for f in only)]
