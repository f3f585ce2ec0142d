"""A fault keeps the pointers that it is given, so `what` and `hint` must be texts that are never freed.

Each call of fault_set() and its kin passes a literal, a name in capitals, a choice of these, a field of a table or of
another fault, or a variable that holds nothing else.  A function that passes a parameter of its own on is checked at its
own calls instead, and so on outwards.
"""

import re

import lint_once

FOLDERS = ("analyze", "dashboard")
# Function -> the places of its arguments that a fault keeps.
KEEPERS = {"fault_set": (3,), "fault_set_hint": (3, 4), "fault_set_reason": (2, 4)}
# Functions whose results are never freed.
LASTING = ("fault_errno_hint", "sqlite3_errstr")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
ATOM = re.compile(r'(?:"(?:[^"\\]|\\.)*"|\b[A-Z][A-Z0-9_]*\b|\s)+')
STATEMENT = r'((?:"(?:[^"\\]|\\.)*"|[^;"])*);'
FIELD = re.compile(r"[\w\[\]().>-]*(?:\.|->)(?:what|hint|key|name|query)$|[a-z]\w*s\[\w+\]$")
FUNCTION = re.compile(r"^(?!struct \w+ \{)[a-z][\w \t*]*?\b(\w+)\(([^;{}]*?)\)\s*\{(.*?)^\}", re.M | re.S)


def split(text, at):
    """The arguments of the call whose parenthesis opens before AT."""
    depth, quote, start, found = 1, None, at, []
    while depth > 0 and at < len(text):
        c = text[at]
        if quote:
            at += c == "\\"
            quote = None if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        if not quote and (depth == 0 or (c == "," and depth == 1)):
            found.append(" ".join(text[start:at].split()))
            start = at + 1
        at += 1
    return found


def choices(text):
    """The values that an expression can have: those of `a ? b : c` are b and c."""
    parts, start, depth, quoted, first = [], 0, 0, False, None
    for i, c in enumerate(text):
        if c == '"' and text[i - 1] != "\\":
            quoted = not quoted
        elif not quoted and c in "([":
            depth += 1
        elif not quoted and c in ")]":
            depth -= 1
        elif not quoted and depth == 0 and c == "?" and first is None:
            first = start = i + 1
        elif not quoted and depth == 0 and c == ":" and first is not None:
            parts.append(text[start:i])
            start = i + 1
    if first is None:
        return [text.strip()]
    return [value for part in [*parts, text[start:]] for value in choices(part)]


class Unit:
    """One function: its name, its parameters, and the calls in it."""

    def __init__(self, file, line, name, parameters, body, static=False):
        self.file, self.line, self.name, self.body = file, line, name, body
        self.key = (file if static else "", name)
        self.lasting = set(LASTING)
        self.parameters = [re.findall(r"\w+", p)[-1] if re.findall(r"\w+", p) else "" for p in parameters.split(",")]

    def calls(self, keepers):
        """Line, name, the places that count, and arguments of each call of a function of KEEPERS, by file ("": any) and name."""
        for found in re.finditer(r"\b([a-z]\w+)\(", self.body):
            places = keepers.get((self.file, found[1]), keepers.get(("", found[1])))
            if places:
                yield self.line + self.body.count("\n", 0, found.start()), found[1], places, split(self.body, found.end())

    def returns_lasting(self):
        returned = [v for text in re.findall(rf"\breturn {STATEMENT}", self.body) for v in choices(text)]
        return bool(returned) and all(self.lasts(v) is True for v in returned)

    def lasts(self, value, seen=()):
        """True: never freed; a number: that parameter of the function; False: neither."""
        while value.startswith("(") and split(value, 1) == [value[1:-1].strip()] and value.endswith(")"):
            value = value[1:-1].strip()
        if ATOM.fullmatch(value) or FIELD.fullmatch(value) or re.match(r"\w*", value)[0] in self.lasting:
            return True
        if not re.fullmatch(r"[a-z]\w*", value) or value in seen:
            return False
        if value in self.parameters and not re.search(rf"\b{value} = ", self.body):
            return self.parameters.index(value)
        if re.search(rf"static const char(?: \*const)? {value}\[\]", self.body):
            return True
        given = [g for text in re.findall(rf"\b{value} = {STATEMENT}", self.body) for g in choices(text)]
        return bool(given) and all(self.lasts(g, (*seen, value)) is True for g in given)


def units(root):
    for file in lint_once.sources(root, ".c", folders=FOLDERS):
        text = COMMENT.sub(lambda m: "\n" * m[0].count("\n"), file.read_text(encoding="utf-8"))
        for found in FUNCTION.finditer(text):
            line = 1 + text.count("\n", 0, found.start(3))
            yield Unit(file.relative_to(root).as_posix(), line, found[1], found[2], found[3], found[0].startswith("static"))


def check(root, only):
    everything = list(units(root))
    lasting = {*LASTING, *(unit.name for unit in everything if unit.returns_lasting())}
    keepers, said, done = {("", name): places for name, places in KEEPERS.items()}, [], set()
    while True:
        more = {}
        for unit in everything:
            unit.lasting = lasting
            for line, name, places, arguments in unit.calls(keepers if unit.name not in KEEPERS else {}):
                for place in places:
                    key = (unit.file, line, name, place)
                    if key in done or place >= len(arguments):
                        continue
                    done.add(key)
                    for value in choices(arguments[place]):
                        lasts = unit.lasts(value)
                        if lasts is False:
                            said.append(f"{unit.file}:{line}: {name}() keeps `{value}`, which may be freed: pass a constant "
                                        "text, and what varies as the fault's path")
                        elif lasts is not True:
                            more.setdefault(unit.key, set()).add(lasts)
        if not more:
            break
        for key, places in more.items():
            keepers[key] = tuple({*keepers.get(key, ()), *places})
    names = {f.relative_to(root).as_posix() for f in only}
    return [line for line in sorted(set(said)) if not names or line.split(":")[0] in names]


def self_check():
    """The rule on small texts: what it must accept, and what it must refuse."""
    def finds(body, parameters="const char *what, struct fault *fault"):
        unit = Unit("x.c", 1, "f", parameters, body)
        return [unit.lasts(v) for _, _, places, args in unit.calls({('', n): p for n, p in KEEPERS.items()}) for place in places if place < len(args)
                for v in choices(args[place])]

    assert finds('fault_set(fault, E, 0, "a (b), c");') == [True]
    assert finds('fault_set_hint(fault, E, 0, "a", n > 1 ? "b" : NULL);') == [True, True, True]
    assert finds("fault_set(fault, E, 0, what);") == [0]
    assert finds('const char *t = "a"; fault_set(fault, E, 0, t);') == [True]
    assert finds("char t[9]; fault_set(fault, E, 0, t);") == [False]
    assert finds('fault_set(fault, E, 0, arena_printf(keep, "%s", a));') == [False]
    assert finds("const char *t = strerror(errno); fault_set(fault, E, 0, t);") == [False]


if __name__ == "__main__":
    self_check()
    import pathlib
    for finding in check(pathlib.Path(__file__).resolve().parents[1], []):
        print(finding)
