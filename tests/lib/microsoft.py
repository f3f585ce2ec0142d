"""What Microsoft's own PDB readers answered (the folder `microsoft` of the fixtures), and the rules by which
our answers are compared with theirs. A row: `rva` (looked up as it is); `class` (`function`, `thunk`, `ilt`: a jump of an incremental
link, `public`, `beyond`: past the end of a symbol); `frames` (function, file, line; outermost first); `dia` (DIA's name of the function
where dbghelp names an inner label); `aliases` (other names at that start); `last` (the last of several line records at this byte, if
it has another line than the first, which Microsoft prints)."""
import gzip
import json
import re

LEAD = re.compile(r'(?:\[thunk\]:\s*)?(?:(?:public|private|protected):\s*)?(?:(?:static|virtual|extern "C")\s+)*')
CONVENTION = re.compile(r"\b__(?:cdecl|stdcall|thiscall|fastcall|vectorcall|clrcall|pascal)\b\s*")
DROPPED = re.compile(r"\b(?:class|struct|union|enum)\s+(?=[\w`<])|\s*\b__ptr(?:32|64)\b")
OPERATOR = re.compile(r"operator\s*(?:\(\)|\[\]|<=>|<<=|>>=|->\*|->|<<|>>|[-+*/%^&|~!=<>]=|&&|\|\||\+\+|--|[-+*/%^&|~!=<>,]"
                      r"|(?=\s))")
RUST_ESCAPES = {"$LT$": "<", "$GT$": ">", "$RF$": "&", "$BP$": "*", "$C$": ",", "$LP$": "(", "$RP$": ")", "$SP$": "@"}
C_DECORATED = re.compile(r"[_@]?(\w+)@\d+$")


def rust_legacy(name):
    """`_ZN4core3fmt5write17h0123456789abcdefE` as a path; `..` and $LT$-style escapes undone; the hash dropped."""
    mangled = re.fullmatch(r"_?_ZN(.*)E((?:\$\w+)?)", name)
    if mangled:
        rest, parts = mangled.group(1), []
        while rest:
            digits = re.match(r"\d+", rest)
            if not digits:
                return name
            end = digits.end() + int(digits.group())
            parts.append(rest[digits.end():end])
            rest = rest[end:]
        name = "::".join(parts) + mangled.group(2)
    name = re.sub(r"::h[0-9a-f]{16}(?=$|\$)", "", name)
    if any(key in name for key in RUST_ESCAPES) or "$u" in name:
        name = re.sub(r"(^|::)_(?=\$)", r"\1", name)
        for key, char in RUST_ESCAPES.items():
            name = name.replace(key, char)
        name = re.sub(r"\$u([0-9a-f]{1,6})\$", lambda m: chr(int(m.group(1), 16)), name).replace("..", "::")
    return name


def bare_name(name):
    """Cuts what stands around the qualified name: return type and calling convention before it, the parameter list and
    what follows after it. Angle brackets and `...' quotes are never looked into."""
    angle = quote = i = start = 0
    end, operator = len(name), False
    while i < len(name):
        word = not operator and (i == 0 or not re.match(r"\w", name[i - 1]))
        if word and not angle and not quote and (found := OPERATOR.match(name, i)):
            operator = True
            i = found.end()
            continue
        char = name[i]
        if char == "<":
            angle += 1
        elif char == ">" and name[i - 1:i] != "-":
            angle = max(0, angle - 1)
        elif char == "`":
            quote += 1
        elif char == "'":
            quote = max(0, quote - 1)
        elif not angle and not quote:
            if char == "(" and i > start and not name.startswith("(anonymous", i):
                end = i
                break
            if char == " " and not operator and not re.match(r"\s*(?:[<(\[]|$)", name[i:]):
                start = i + 1
        i += 1
    return name[start:end]


def normal_name(name):
    """The form in which names are compared. In this order: ARM64EC's leading # and Rust's mangling and hash go; access,
    `static`, `virtual`, `[thunk]:`; the spellings of the anonymous namespace become one; return type, calling
    conventions and the outermost parameter list with everything after it go; class/struct/union/enum and __ptr64 go;
    (void) is (); dtor'/ctor' are spelt out; __int64 is long long; blanks beside punctuation go (so > > is >>); X::{ctor}
    is X::X and X::{dtor} is X::~X. Template arguments stay, and so does the case of letters."""
    s = rust_legacy((name or "").strip().lstrip("#"))
    s = s[LEAD.match(s).end():]
    s = re.sub(r"[`(]anonymous[- ]namespace[')]|\?A0x[0-9a-f]{8}(?=::)", "`anonymous'", s)
    s = CONVENTION.sub("", bare_name(s))
    s = DROPPED.sub("", s).replace("(void)", "()")
    s = re.sub(r"\b(d|c)tor(?=[' ])", lambda m: {"d": "destructor", "c": "constructor"}[m.group(1)], s)
    s = s.replace("unsigned __int64", "unsigned long long").replace("__int64", "long long")
    s = re.sub(r"\s*([^\w\s])\s*", r"\1", s)
    s = re.sub(r"\s+", " ", s).strip()
    return re.sub(r"(\w+)((?:<.*>)?)::\{(c|d)tor\}$",
                  lambda m: f"{m[1]}{m[2]}::{'~' if m[3] == 'd' else ''}{m[1]}", s)


def bare(name):
    """Without the leading underscores and the @8 of x86's C names."""
    return re.sub(r"^[_@]+", "", re.sub(r"@\d+$", "", normal_name(name)))


# ---------------------------------------------------------------- one row

def flat(path):
    return path.replace("/", "\\").lower()


def outer_name(ours, row):
    """Why the outermost function is as it is: None if it equals, else a word; words in EXCUSED are no faults."""
    theirs = row["frames"][0][0]
    if ours == theirs or normal_name(ours) == normal_name(theirs):
        return None
    if not ours:
        return "none from us" if row["class"] in ("function", "ilt", "thunk") else "silent beyond a symbol"
    if bare(ours) == bare(theirs):
        return "underscores"
    if theirs.startswith("?"):
        return "left decorated by them"
    if theirs.startswith("ILT+"):
        return "thunk's target"
    if normal_name(ours) == normal_name(row.get("dia", "")):
        return "inner label"
    if bare(ours) in {bare(name) for name in row.get("aliases", [])}:
        return "folded"
    return "another function" if row["class"] in ("function", "thunk") else "another beyond a symbol"


EXCUSED = {"underscores", "left decorated by them", "thunk's target", "inner label", "folded", "silent beyond a symbol",
           "another beyond a symbol", "line 0xF00F00", "frames of another folded body"}


def judge(ours, row):
    """The differences of one row, as words. OURS: [(function, file, line)], outermost first."""
    theirs = [tuple(frame) for frame in row["frames"]]
    ours = ours or [("", "", 0)]
    found = []
    name = outer_name(ours[0][0], row)
    if name:
        found.append(name)
    if row["class"] != "function":
        return found
    if len(ours) != len(theirs):
        found.append("frames of another folded body" if "aliases" in row else "depth")
        return found
    for i, (u, v) in enumerate(zip(ours, theirs)):
        if i and normal_name(u[0]) != normal_name(v[0]):
            found.append("frames of another folded body" if "aliases" in row else "inline name")
        if u[2] != v[2]:
            if v[2] in (0xF00F00, 0xFEEFEE):
                found.append("line 0xF00F00")
            elif row.get("last", {}).get(str(i)) == u[2]:
                found.append("line: the last of two records, theirs is the first")
            else:
                found.append("frames of another folded body" if "aliases" in row and len(theirs) > 1 else "line")
        elif flat(u[1]) != flat(v[1]):
            found.append("file")
    return sorted(set(found))


def read(path):
    """The rows; the first line of the file names the reader."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file][1:]


def names(path):
    """(decorated name, answer with flags 0x1000, answer with flags 0x8396)."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [tuple(line.rstrip("\n").split("\t")[1:]) for line in file][1:]
