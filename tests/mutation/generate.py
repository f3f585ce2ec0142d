#!/usr/bin/python3
"""Writes generated.toml: faults made from the syntax tree, with Debian's python3-clang-19.

    tests/mutation/generate.py          keeps every fault whose line is still there, and fills each room up again
    tests/mutation/generate.py --afresh  chooses all of them again, as SEED says

Every comparison, operator, constant, condition and statement of a room is a place for a fault. Each place has a rank, a hash of SEED, the
file, the function and the line, and of each kind the lowest ranks are taken in turn. So a change of the code moves only the faults that it
touches. A room gets as many as it lacks of FAULTS_EACH by hand, and at least LEAST_EACH. A fault that cannot be compiled is no fault.

What changes nothing is kept, with the reason: `equivalent = "..."` is written by hand, and counts nowhere."""

import argparse
import collections
import hashlib
import json
import pathlib
import re
import subprocess
import sys

from faults import FAULTS, GENERATED
import mutate
import own

SEED = 2027
FAULTS_EACH, LEAST_EACH, MOST_OF_A_FILE = 8, 4, 3
KINDS = ("bound", "operator", "constant", "condition", "statement")
SWAPS = {"<": ("bound", "<="), "<=": ("bound", "<"), ">": ("bound", ">="), ">=": ("bound", ">"), "==": ("operator", "!="), "!=": ("operator", "=="),
         "&&": ("operator", "||"), "||": ("operator", "&&"), "+": ("operator", "-"), "-": ("operator", "+"), "<<": ("operator", ">>"),
         ">>": ("operator", "<<"), "&": ("operator", "|"), "|": ("operator", "&"), "+=": ("operator", "-="), "-=": ("operator", "+="),
         "|=": ("operator", "&=")}
# Without these a program leaks, or says less about itself: no test of an answer can see that.
ONLY_TIDIES = re.compile(r"^(\(void\)|va_end|.*(free|close|destroy|release|unlock|log_|_drop|_note|cleanup)\w*\()")
SKIPPED = re.compile(r"_windows\.c$|_none\.c$|^(analyze/windows|victims|capture|tests|cmake|dashboard/web)/|^analyze/main\.c$")
HEAD = f"""# Single faults made by generate.py with the seed {SEED}; mutate.py reads them like those of faults.toml. In `file` the line `line` (if
# there are several, the `nth`) becomes `put`. `equivalent` is written by hand: why the fault changes nothing that a user can see.
"""


def load_clang():
    try:
        from clang import cindex
    except ImportError:
        raise SystemExit("generate.py: python3-clang-19 is missing: apt-get install python3-clang-19") from None
    return cindex


class Source:
    """One file of a room, and the places for faults in it."""

    def __init__(self, cindex, row):
        self.name = pathlib.Path(row["file"]).relative_to(mutate.ROOT).as_posix()
        self.data = pathlib.Path(row["file"]).read_bytes()
        self.lines, self.cindex, self.found, self.function = self.data.decode().split("\n"), cindex, {}, ""
        words = own.words_from_compiler(row["command"])
        options = [w for w in words if w.startswith(("-I", "-D", "-std"))]
        unit = cindex.Index.create().parse(row["file"], args=[*options, "-I/usr/lib/llvm-19/lib/clang/19/include"])
        for cursor in unit.cursor.get_children():
            if cursor.location.file and cursor.location.file.name == row["file"]:
                # clang names what has no name by its place, with the path of this machine
                self.function = cursor.spelling if cursor.spelling.isidentifier() else ""
                self.walk(cursor, None)

    def add(self, kind, start, end, put):
        """Keeps the replacement of the bytes from START to END, if they are in one line."""
        if b"\n" in self.data[start:end] or start >= end:
            return
        number = self.data.count(b"\n", 0, start)
        first = self.data.rfind(b"\n", 0, start) + 1
        line = self.lines[number]
        changed = line.encode()[:start - first].decode() + put + line.encode()[end - first:].decode()
        if line.lstrip().startswith("#") or line.strip() == changed.strip():
            return
        nth = sum(other.strip() == line.strip() for other in self.lines[:number]) + 1
        self.found.setdefault((kind, line.strip(), changed.strip(), nth), self.function)

    def text(self, start, end):
        return self.data[start:end].decode()

    def walk(self, cursor, parent):
        kind, at = self.cindex.CursorKind, cursor.extent
        children = list(cursor.get_children())
        if at.start.file is None or at.start.file.name != at.end.file.name:
            return
        if cursor.kind in (kind.BINARY_OPERATOR, kind.COMPOUND_ASSIGNMENT_OPERATOR) and len(children) == 2:
            self.binary(children)
        elif cursor.kind == kind.INTEGER_LITERAL:
            self.constant(at)
        elif cursor.kind == kind.IF_STMT and children:
            start, end = children[0].extent.start.offset, children[0].extent.end.offset
            self.add("condition", start, end, f"!({self.text(start, end)})")
        if parent is not None and parent.kind == kind.COMPOUND_STMT:
            self.statement(cursor, kind)
        for child in children:
            self.walk(child, cursor)

    def binary(self, children):
        start, end = children[0].extent.end.offset, children[1].extent.start.offset
        between = self.text(start, end)
        kind, put = SWAPS.get(between.strip(), (None, None))
        if kind:
            at = start + len(between) - len(between.lstrip())
            self.add(kind, at, at + len(between.strip()), put)

    def constant(self, at):
        text = self.text(at.start.offset, at.end.offset)
        if self.data[:at.start.offset].endswith(b"calloc("):
            return  # more elements than are used: no answer differs
        match = re.fullmatch(r"(0[xX])?([0-9a-fA-F]+)([uUlL]*)", text)
        if match:
            value = int(match[2], 16 if match[1] else 10) + 1
            self.add("constant", at.start.offset, at.end.offset, (f"0x{value:x}" if match[1] else str(value)) + match[3])

    def statement(self, cursor, kind):
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        text = self.text(start, end)
        if cursor.kind in (kind.BINARY_OPERATOR, kind.COMPOUND_ASSIGNMENT_OPERATOR, kind.UNARY_OPERATOR, kind.CALL_EXPR):
            if self.data[end:end + 1] == b";" and not ONLY_TIDIES.match(text):
                self.add("statement", start, end + 1, ";")

    def faults(self):
        for (kind, line, put, nth), function in self.found.items():
            rank = hashlib.sha256(json.dumps([SEED, self.name, function, line, put, nth]).encode()).hexdigest()
            yield {"kind": kind, "rank": rank, "file": self.name, "in": function, "line": line, "put": put, "nth": nth}


def name_of(fault):
    parts = pathlib.Path(fault["file"]).with_suffix("").parts
    return "-".join([*parts[-2:], fault["kind"], fault["rank"][:6]]).replace("_", "-")


def compiles(fault, rows):
    """True if the compiler takes the fault; that it warns is no reason, the build that has it asks for no warning."""
    file, text = mutate.place_of(fault)
    row = next(r for r in rows if r["file"] == str(file))
    words = [w for w in own.words_from_compiler(row["command"]) if not w.startswith("-W")]
    words = words[:words.index("-o")] + ["-w", "-fsyntax-only", "-iquote", str(file.parent), "-x", "c", "-"]
    return subprocess.run(words, input=text, text=True, capture_output=True, cwd=mutate.BUILD, check=False).returncode == 0


def choose(places, wanted, kept, rows):
    """WANTED faults with those KEPT: of each kind the lowest rank in turn, at most MOST_OF_A_FILE of one file while others are left."""
    found, seen = list(kept), {(f["file"], f["line"]) for f in kept}
    of_file = collections.Counter(f["file"] for f in kept)
    most = max(MOST_OF_A_FILE, -(-wanted // max(1, len({p["file"] for p in places}))))
    queues = {k: sorted((p for p in places if p["kind"] == k), key=lambda p: p["rank"]) for k in KINDS}
    turn = len(kept)
    while len(found) < wanted and any(queues.values()):
        queue = queues[KINDS[turn % len(KINDS)]]
        turn += 1
        while queue:
            place = queue.pop(0)
            if (place["file"], place["line"]) in seen or of_file[place["file"]] >= most:
                continue
            place["name"] = name_of(place)
            if compiles(place, rows):
                found.append(place)
                seen.add((place["file"], place["line"]))
                of_file[place["file"]] += 1
                break
    return found


def write(faults):
    parts = [HEAD]
    for fault in faults:
        keys = [k for k in ("name", "file", "in", "line", "nth", "put", "equivalent") if fault.get(k) not in (None, "") and (k != "nth" or fault[k] > 1)]
        parts.append("[[fault]]\n" + "".join(f"{k} = {spell(fault[k])}\n" for k in keys))
    GENERATED.write_text("\n".join(parts), encoding="utf-8")


def spell(value):
    if isinstance(value, int):
        return str(value)
    return f"'{value}'" if "'" not in value else f"'''{value}'''" if "'''" not in value and not value.endswith("'") else json.dumps(value)


def product_rows():
    """What the build folder knows of the files that faults are made for."""
    rows = json.loads((mutate.BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    return [r for r in rows if r["file"].startswith(str(mutate.ROOT)) and not SKIPPED.search(r["file"][len(str(mutate.ROOT)) + 1:])
            and "/build/" not in r["file"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--afresh", action="store_true", help="choose all faults again")
    asked = parser.parse_args()
    cindex = load_clang()
    rows = product_rows()
    places = collections.defaultdict(list)
    for row in rows:
        for fault in Source(cindex, row).faults():
            places[mutate.room_of(fault)].append(fault)
    by_hand = collections.Counter(mutate.room_of(f) for f in mutate.read_faults(FAULTS))
    old = [] if asked.afresh else [f for f in mutate.read_faults(GENERATED) if mutate.place_of(f)]
    chosen = []
    for room in sorted(places):
        kept = [f for f in old if mutate.room_of(f) == room]
        same = sum("equivalent" in f for f in kept)
        wanted = max(FAULTS_EACH - by_hand[room], LEAST_EACH) + same
        chosen += choose(places[room], wanted, kept, rows)
        print(f"{room:32} {len(places[room]):5} places, {by_hand[room]:3} faults by hand, {wanted - same:3} made, {same} of no effect")
    write(chosen)
    print(f"{len(chosen)} faults in {GENERATED.name}, {len(chosen) + sum(by_hand.values())} in all")


if __name__ == "__main__":
    sys.exit(main())
