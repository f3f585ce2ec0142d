"""The graph of files of each room, and the check that it has no circle; the map of the rooms; who sees the inside of one; and that a file
has a name of its own.

A node is a stem: x_posix.c and x_windows.c are both x.  X points to Y when X.c uses a function or an object that Y.c
defines.  Files on a circle can only be read, tested and moved together.
"""

import re

ROOMS = ("analyze/*", "dashboard/*", "capture", "victims", "tests/lib", "tests/unit")
# Headers that only these may include: files, or folders with all below them.
INSIDE = {"capture/cap.h": ("capture/", "victims/harness/stops/", "victims/steps/", "victims/managed/managed_stops.c", "tests/")}
MAP = "analyze/README.md"
# Rooms that still have circles.  This list only shrinks.
NOT_YET = ()

PLATFORM = re.compile(r"_(posix|windows)$")
NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def code_of(text):
    """The text without comments, strings and preprocessor lines."""
    text = NOISE.sub(" ", text)
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", "", text, flags=re.M)


def outermost(text):
    """The text outside all braces; `{}` marks where a pair was."""
    out, depth = [], 0
    for piece in re.split(r"([{}])", text):
        if piece == "{":
            out.append("{}" if depth == 0 else "")
            depth += 1
        elif piece == "}":
            depth = max(0, depth - 1)
            out.append("\n" if depth == 0 else "")
        elif depth == 0:
            out.append(piece)
    return "".join(out)


def definitions(code):
    """Names of the functions and objects that a file defines for others; CODE is from code_of()."""
    found = set()
    inline = re.sub(r"\b((?:struct|union|enum)(?:\s+\w+)?\s*\{\})\s*\n", r"\1 ", outermost(code))  # `static struct {} x[] =` is one piece
    for chunk in re.split(r";|(?<=\{\})\s*\n", inline):
        chunk = re.sub(r"__attribute__\s*\(\(.*?\)\)|__declspec\s*\(.*?\)", " ", chunk, flags=re.S).strip()
        if not chunk or re.match(r"(static|typedef|extern)\b", chunk):
            continue
        if chunk.endswith("{}") and (name := re.match(r"[^=(]*?\b(\w+)\s*\(", chunk)):
            found.add(name[1])
        elif name := re.match(r"[^=(]*?\b(\w+)\s*(?:\[[^\]]*\]\s*)*=", chunk):
            found.add(name[1])
    return found


def graph(room):
    """Node -> {node it uses: the name that it uses}."""
    sources = [f for f in sorted(room.rglob("*")) if f.suffix in (".c", ".cpp") and "node_modules" not in f.parts]
    node_of = {f: PLATFORM.sub("", f.relative_to(room).with_suffix("").as_posix()) for f in sources}
    code = {f: code_of(f.read_text(encoding="utf-8")) for f in sources}
    defined = {}
    for file in sources:
        for name in definitions(code[file]):
            defined.setdefault(name, set()).add(node_of[file])
    edges = {node: {} for node in node_of.values()}
    for file in sources:
        for name in set(re.findall(r"\w+", code[file])):
            owners = defined.get(name, ())
            if len(owners) == 1 and node_of[file] not in owners:
                edges[node_of[file]].setdefault(*owners, name)
    return edges


def circles(edges):
    """The strongly connected components of more than one node (Tarjan, without recursion)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in edges:
        if root in index:
            continue
        work = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(edges[target])))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = set()
                    while node not in part:
                        part.add(stack.pop())
                    on_stack -= part
                    if len(part) > 1:
                        found.append(sorted(part))
    return found


def shortest(edges, part):
    """A shortest circle inside PART, as "a (uses) -> b (uses) -> a"."""
    best = None
    for start in part:
        paths, seen = [[start]], set()
        while paths:
            path = paths.pop(0)
            for target in sorted(edges[path[-1]]):
                if target == start and (best is None or len(path) < len(best)):
                    best, paths = path, []
                    break
                if target in part and target not in seen:
                    seen.add(target)
                    paths.append([*path, target])
    steps = zip(best, [*best[1:], best[0]])
    return " -> ".join(f"{a} ({edges[a][b]})" for a, b in steps) + f" -> {best[0]}"


def arrows(text, name):
    """The rooms that room(NAME ...) of a CMakeLists.txt declares: those that others see through it, and the private ones."""
    words = re.sub(r"#.*", "", text).split()
    found, key = {"DEPENDS": set(), "PRIVATE_DEPENDS": set()}, None
    for word in words[words.index(f"room({name}") + 1:]:
        key = word if word.isupper() else key
        if key in found and word != key:
            found[key].add(word.rstrip(")"))
        if word.endswith(")"):
            break
    return found["DEPENDS"], found["PRIVATE_DEPENDS"]


def wrong_in_map(root):
    """One line for each room whose row of the map is not what its CMakeLists.txt declares."""
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", (root / MAP).read_text(encoding="utf-8"), re.M))
    said = []
    for file in sorted((root / "analyze").glob("*/CMakeLists.txt")):
        name = file.parent.name
        plain = re.sub(r"\([^()]*(\([^()]*\))?[^()]*\)", "", rows.pop(name, "no row")).replace("nothing of ours", "")
        seen, _, private = plain.partition("and privately")
        mapped = set(re.findall(r"\w+", seen)), set(re.findall(r"\w+", private))
        declared = arrows(file.read_text(encoding="utf-8"), name)
        said += [f"{MAP}: {name} may use {' '.join(sorted(theirs)) or 'nothing'}{word}, but declares {' '.join(sorted(ours)) or 'nothing'}"
                 for theirs, ours, word in zip(mapped, declared, ("", " privately")) if theirs != ours]
    return said + [f"{MAP}: {name} is no room" for name in rows]


def sees_inside(root):
    """One line for each file that includes a header of INSIDE and may not."""
    files = sorted(f for top in ("analyze", "dashboard", "capture", "victims", "tests") for f in (root / top).rglob("*.[ch]"))
    return [f"{name}: includes {header}, which is the inside of its room"
            for header, may in INSIDE.items() for file in files if not (name := file.relative_to(root).as_posix()).startswith(may)
            and f'#include "{header}"' in file.read_text(encoding="utf-8")]


def same_names(root):
    """One line for each base name that files of two rooms have: who looks for it opens the wrong one.  A page is called as what it
    shows, a file of structs as what computes with them, and the formats are read alike."""
    folders = {}
    for file in sorted(f for top in ("analyze", "dashboard") for f in (root / top).rglob("*.[ch]") if "node_modules" not in f.parts):
        folder = file.parent.relative_to(root).as_posix()
        if folder not in ("dashboard/pages", "analyze/model"):
            folders.setdefault(PLATFORM.sub("", file.stem), {})[re.sub(r"^(analyze/format)/.*", r"\1", folder)] = None
    return [f"{' and '.join(found)} both have a file {stem}: give one its own name" for stem, found in folders.items() if len(found) > 1]


def check(root, only):
    """The circles of all rooms, one line each, and what is wrong with the map; with ONLY, the circles of the rooms of those files."""
    said = [] if only else sees_inside(root) + same_names(root) + (wrong_in_map(root) if (root / MAP).exists() else [])
    for pattern in ROOMS:
        for room in sorted(p for p in root.glob(pattern) if p.is_dir()):
            name = room.relative_to(root).as_posix()
            if name in NOT_YET or only and not any(room in f.parents for f in only):
                continue
            edges = graph(room)
            said += [f"{name}: {len(part)} files on a circle ({' '.join(part)}): {shortest(edges, part)}"
                     for part in circles(edges)]
    return said

