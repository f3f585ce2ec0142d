"""The faults of faults.toml and generated.toml: what each is, where, and of which room."""

import hashlib
import json
import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAULTS = pathlib.Path(__file__).with_name("faults.toml")
GENERATED = pathlib.Path(__file__).with_name("generated.toml")
UNWINDERS = [("x64", "x64"), ("x86", "x86"), ("arm64", ("arm", "compact", "exidx")), ("cfi", "cfi")]  # room, start of the file's name


def read_faults(*files):
    """The faults of FILES; without any, those made by hand and those made from the syntax tree."""
    faults = [f for p in files or (FAULTS, GENERATED) if p.is_file() for f in tomllib.loads(p.read_text(encoding="utf-8"))["fault"]]
    names = [f["name"] for f in faults]
    if len(set(names)) != len(names):
        raise SystemExit("mutate.py: two faults have the same name: " + ", ".join({n for n in names if names.count(n) > 1}))
    return faults


def place_of(fault, root=ROOT):
    """The file in which the fault's pattern matches, once, and its text with the fault; None when there is no such file."""
    if "line" in fault:
        return place_of_line(fault, root)
    found = []
    for file in sorted(root.glob(fault["file"])):
        text = file.read_text(encoding="utf-8")
        changed, count = re.subn(fault["find"], lambda m: m.expand(fault["put"]), text)
        found += [(file, changed)] * count
    return found[0] if len(found) == 1 else None


def place_of_line(fault, root):
    """The same for a fault that names a whole line, and if there are several, which one."""
    file = root / fault["file"]
    lines = file.read_text(encoding="utf-8").split("\n") if file.is_file() else []
    found = [n for n, line in enumerate(lines) if line.strip() == fault["line"]][fault.get("nth", 1) - 1:]
    if not found:
        return None
    lines[found[0]] = lines[found[0]].replace(fault["line"], fault["put"])
    return file, "\n".join(lines)


def room_of(fault):
    """The room of a fault; the readers of formats, and of the unwinders those of one processor, count as rooms of their own."""
    place = place_of(fault) if "*" in fault["file"] else None
    parts = (place[0].relative_to(ROOT).as_posix() if place else fault["file"]).split("/")
    if parts[:2] == ["analyze", "unwind"]:
        return "/".join(parts[:2] + [name for name, start in UNWINDERS if parts[2].startswith(start)][:1])
    if parts[:2] == ["analyze", "format"]:
        return "/".join(parts[:3])
    return "/".join(parts[:2]) if parts[0] in ("analyze", "dashboard") else parts[0]


def digest(fault):
    said = {key: fault[key] for key in fault if key not in ("in", "equivalent")}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]
