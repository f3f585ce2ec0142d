"""The command line is the first user of libtwinstack: these verbs read, resolve and write stacks and dumps only through the installed
header, so nothing that they include, however far away, is a header of the rooms that the library is made of."""

import re

USERS = ("analyze/verbs/verb_resolve.c", "analyze/verbs/verb_dump.c")
HEADER = "library/twinstack.h"
ROOMS = ("model", "format", "fetch", "symbol", "unwind", "engine", "library")
NEUTRAL = {"model/names.h"}  # words of options
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


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


def check(root, only):
    said = []
    for name in USERS:
        headers = reached(root, root / name)
        if HEADER not in headers:
            said.append(f"{name}: does not include {HEADER}")
        said += [f"{by}: {header}: {name} must resolve through {HEADER} alone" for header, by in sorted(headers.items())
                 if header.split("/")[0] in ROOMS and header != HEADER and header not in NEUTRAL]
    return [line for line in said if not only or any(line.startswith(str(f.relative_to(root))) for f in only)]
