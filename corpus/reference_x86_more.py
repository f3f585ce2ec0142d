"""More x86 moments of corpus/reference: SEH frames with frame data, FPO records (those before frame data) and code without either.

Functions are written as in reference_x86.py; of code with FPO records, the text after the semicolon of the first line is the fields of its
record (locals, saved registers, "ebp" where the function uses it; or "frame": a frame pointer), which says nothing of prologues and epilogues. Of
code without either no page says what a walk does. There a moment is `must` where a debugger that looks at the code, Microsoft's dbgeng or GDB, walks as the
emulator counted calls and returns; else it is `may`. What dbgeng answers is kept in reference_dbgeng.json, since its files
are Microsoft's: with TWINSTACK_DBGENG=FOLDER of twinstack-dbgeng.exe beside them, `reference_x86_more.py` asks it again, by Wine."""

import itertools
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import reference_x86 as base
from reference_page_x86 import Image, walk

ADAPTERS = pathlib.Path(__file__).resolve().parent / "reference/adapters"
STORED = pathlib.Path(__file__).resolve().parent / "reference_dbgeng.json"
DBGENG = "Microsoft's dbgeng 10.0.29507.1001"
GDB = "GDB 13.1"
FPO_RULE = {"kind": "page", "name": "FPO_DATA", "address": "https://learn.microsoft.com/en-us/windows/win32/api/winnt/ns-winnt-fpo_data"}
RAN_RULE = {"kind": "executed", "name": "the code was executed", "address": None}
NEEDS = {"seh": ["frame-data"], "fpo": ["fpo"], "plain": []}
RULES = {"seh": base.RULE, "fpo": FPO_RULE, "plain": RAN_RULE}

FRAME = "P push ebp ; pushreg ebp\nP mov ebp, esp ; setframe ebp"
# What clang's x86 prologues of functions with __try and with C++ objects do, and how they end.
SAVES = "\n".join(f"P push {r} ; pushreg {r}" for r in ("ebx", "edi", "esi"))
RESTORES = "\n".join(f"E pop {r}" for r in ("esi", "edi", "ebx", "ebp"))
REGISTERED = ("B mov dword ptr [ebp-36], esp\nB mov dword ptr [ebp-16], -1\nB mov dword ptr [ebp-20], 0x1234\nB lea ecx, [ebp-28]\n"
              "B mov dword ptr [ebp-24], 0x5678\nB mov edx, dword ptr fs:[0]\nB mov dword ptr [ebp-28], edx\nB mov dword ptr fs:[0], ecx\n"
              "B mov dword ptr [ebp-16], 0")
UNREGISTERED = "B mov ecx, dword ptr [ebp-28]\nB mov dword ptr fs:[0], ecx"


def seh():
    yield from itertools.islice(base.functions(), 4)
    yield base.simple("seh", "try", f"{FRAME}\n{SAVES}\nP sub esp, 28 ; stackalloc 28\n{REGISTERED}", f"{UNREGISTERED}\nE add esp, 28\n{RESTORES}\nE ret", "esi edi")
    yield base.simple("seh", "argument", f"{FRAME}\n{SAVES}\nP sub esp, 28 ; stackalloc 28\n{REGISTERED}\nB push eax\nB nop",
                      f"B add esp, 4\n{UNREGISTERED}\nE add esp, 28\n{RESTORES}\nE ret", "ebx")
    yield base.simple("seh", "realigned", f"{FRAME}\n{SAVES}\nP and esp, -64 ; stackalign 64\nP sub esp, 64 ; stackalloc 64\n"
                      "B push -1\nB push 0x5678\nB push dword ptr fs:[0]\nB mov dword ptr fs:[0], esp",
                      "B pop dword ptr fs:[0]\nB add esp, 8\nE lea esp, [ebp-12]\n" + RESTORES + "\nE ret", "esi")
    # The registration is pushed: `push -1; push handler; push fs:[0]; mov fs:[0], esp`, as other compilers do.
    yield base.simple("seh", "pushed", f"{FRAME}\nP push -1 ; stackalloc 4\nP push 0x5678 ; stackalloc 4\nP push dword ptr fs:[0] ; stackalloc 4\n"
                      "P mov dword ptr fs:[0], esp\nP sub esp, 20 ; stackalloc 20", "B mov ecx, dword ptr [ebp-12]\nB mov dword ptr fs:[0], ecx\nE mov esp, ebp\nE pop ebp\nE ret")
    # A filter or a handler: the function's own frame pointer, given in ebp, is what its frame pointer is made of.
    yield base.simple("seh", "funclet", f"{FRAME}\nP push esi ; pushreg esi\nB mov eax, dword ptr [ebp]\nB mov esi, 9", "E pop esi\nE pop ebp\nE ret")


def fpo():
    yield base.Function("frame", "outermost", "P sub esp, 12 ; 3 0\nB call ecx\nB nop\nE add esp, 12\nE ret", tested=False)
    yield base.Function("frame", "mid", "P push ebx ; 6 1\nP sub esp, 24\nB call edx\nB nop\nE add esp, 24\nE pop ebx\nE ret", tested=False)
    yield base.Function("leaf", "callee", "L nop ; 0 0\nL ret", tested=False)
    yield base.Function("leaf", "never", "L nop ; 0 0\nL ud2", tested=False)
    for r in ("ebx", "esi", "edi"):
        yield base.simple("fpo", r, f"P push {r} ; 4 1\nP sub esp, 16", f"E add esp, 16\nE pop {r}\nE ret", r)
        yield base.simple("fpo", f"{r}-alone", f"P push {r} ; 0 1", f"E pop {r}\nE ret", r)
    yield base.simple("fpo", "all", "P push ebx ; 2 3\nP push esi\nP push edi\nP sub esp, 8", "E add esp, 8\nE pop edi\nE pop esi\nE pop ebx\nE ret", "ebx esi edi")
    for size in (4, 64, 0x1000):
        yield base.simple("fpo", f"locals-{size}", f"P sub esp, {size} ; {size // 4} 0", f"E add esp, {size}\nE ret")
    yield base.simple("fpo", "nothing", "B nop ; 0 0", "E ret")
    # The record of a function that uses ebp says that, and not where it is.
    yield base.simple("fpo", "uses-ebp", "P push ebp ; 2 1 ebp\nP sub esp, 8", "E add esp, 8\nE pop ebp\nE ret", "ebp")
    yield base.simple("fpo-frame-pointer", "plain", "P push ebp ; 0 0 frame\nP mov ebp, esp", "E pop ebp\nE ret")
    yield base.simple("fpo-frame-pointer", "esi", "P push ebp ; 10 1 frame\nP mov ebp, esp\nP sub esp, 40\nP push esi", "E pop esi\nE mov esp, ebp\nE pop ebp\nE ret", "esi")
    yield base.Function("fpo-frame-pointer", "alloca", "P push ebp ; 0 1 frame\nP mov ebp, esp\nP push esi\nB sub esp, 0x60\nB mov esi, 7\nB call LEAF\nB nop\n"
                        "E lea esp, [ebp-4]\nE pop esi\nE pop ebp\nE ret")
    for size in (4, 12):
        pushes = "\n".join("B push eax" for _ in range(size // 4))
        yield base.simple("fpo-parameters", f"takes-{size}", "P push edi ; 2 1\nP sub esp, 8", f"E add esp, 8\nE pop edi\nE ret {size}", "edi", params=size, tested=False)
        yield base.Function("fpo-parameters", f"gives-{size}", f"P push ebx ; 2 1\nP sub esp, 8\nB mov ebx, 3\n{pushes}\nB call TAKES{size}\nB nop\n"
                            "E add esp, 8\nE pop ebx\nE ret")
    yield base.Function("fpo-call-last", "stop", "P push ebx ; 2 1\nP sub esp, 8\nB nop\nN call STOP", ends="fault", issues=["rust-minidump/rust-minidump#240"])
    yield base.Function("fpo", "after-call-last", "P push edi ; 0 1\nB mov edi, 9\nB call LEAF\nB nop\nE pop edi\nE ret")


def plain():
    yield base.Function("frame", "outermost", "P push ebp\nP mov ebp, esp\nP sub esp, 8\nB call ecx\nB nop\nE mov esp, ebp\nE pop ebp\nE ret", tested=False)
    yield base.Function("frame", "mid", "P push ebp\nP mov ebp, esp\nP push ebx\nP sub esp, 24\nB call edx\nB nop\nE add esp, 24\nE pop ebx\nE pop ebp\nE ret", tested=False)
    yield base.Function("leaf", "callee", "L nop\nL ret", tested=False)
    yield base.Function("leaf", "never", "L nop\nL ud2", tested=False)
    frame = "P push ebp\nP mov ebp, esp"
    yield base.simple("no-frame-data", "plain", frame, "E pop ebp\nE ret")
    yield base.simple("no-frame-data", "locals", f"{frame}\nP sub esp, 40", "E mov esp, ebp\nE pop ebp\nE ret")
    for r in ("ebx", "esi", "edi"):
        yield base.simple("no-frame-data", r, f"{frame}\nP push {r}\nP sub esp, 20", f"E add esp, 20\nE pop {r}\nE pop ebp\nE ret", r)
    yield base.simple("no-frame-data", "leave", f"{frame}\nP sub esp, 40", "E leave\nE ret")
    yield base.Function("no-frame-data", "alloca", f"{frame}\nP push esi\nB sub esp, 0x60\nB mov esi, 7\nB call LEAF\nB nop\nE lea esp, [ebp-4]\nE pop esi\nE pop ebp\nE ret")
    for size in (16, 64):
        yield base.simple("no-frame-data", f"realigned-{size}", f"{frame}\nP and esp, -{size}\nP sub esp, 32", "E mov esp, ebp\nE pop ebp\nE ret")
    yield base.simple("no-frame-data", "try", f"{frame}\nP push ebx\nP push edi\nP push esi\nP sub esp, 28\n{REGISTERED}", f"{UNREGISTERED}\nE add esp, 28\n{RESTORES}\nE ret", "esi edi")
    for r in base.SAVED:  # ebp is what the caller left there, or any number
        yield base.simple("no-frame-pointer", r, f"P push {r}\nP sub esp, 16", f"E add esp, 16\nE pop {r}\nE ret", r)
    for size in (4, 64):
        yield base.simple("no-frame-pointer", f"locals-{size}", f"P sub esp, {size}", f"E add esp, {size}\nE ret")
    yield base.Function("no-frame-pointer", "call-last", f"{frame}\nP sub esp, 8\nB nop\nN call STOP", ends="fault")
    yield base.simple("no-frame-data", "after-call-last", frame, "E pop ebp\nE ret")


FAMILIES = {"seh": seh, "fpo": fpo, "plain": plain}


def records(functions):
    """The section of FPO records: FPO_DATA of winnt.h."""
    out = ['.section .debug$F,"dr"']
    for i, f in enumerate(functions):
        fields = f.lines[0][2].split()
        prologue = sum(line[0] == "P" for line in f.lines)
        kind = len(fields) > 2 and {"ebp": 1 << 4, "frame": 3 << 6}[fields[2]]
        out += [f".long _f{i}@IMGREL, _f{i}end-_f{i}, {fields[0]}", f".short {f.params // 4}", f".byte _f{i}i{prologue}-_f{i}, {int(fields[1]) | kind}"]
    return "\n".join([*out, ""])


def pairs(frames):
    return [(int(frame["ip"], 16), frame["sp"] and int(frame["sp"], 16)) for frame in frames or ()]


def asked(command, suite, cases):
    """{id: [(ip, sp)]} of an adapter; sp None: not given."""
    lines = [{"hello": 1, "suite": str(suite), "edition": ""}, *({k: case[k] for k in ("id", "kind", "processor", "capability", "needs", "given")} for case in cases)]
    done = subprocess.run(command, input="".join(json.dumps(line) + "\n" for line in lines), stdout=subprocess.PIPE, text=True, check=True)
    return {row["id"]: row.get("frames") for row in list(map(json.loads, done.stdout.splitlines()))[1:]}


def same(frames, executed):
    said = pairs(frames)
    return len(said) == len(executed) and all(ip == true and at in (None, sp) for (ip, at), (true, sp) in zip(said, executed))


def by_page(page, regs, stack):
    def read(at):
        if not regs["esp"] <= at <= regs["esp"] + len(stack) - 4:
            raise LookupError(f"{at:#x} is not on the stack")
        return struct.unpack_from("<I", stack, at - regs["esp"])[0]

    try:
        return walk(page, regs, read)
    except LookupError:
        return []


def judged(page, executed, agreed):
    """The truth, where AGREED are the witnesses beside the execution that say the same. Frame data is right where it says something else: it
    has no epilogues, as in reference_x86.py."""
    above = base.removed(page, executed)
    certain = base.APPLIED in agreed or agreed and not page.records
    if certain and above == executed:
        return {"level": "must", "frames": base.frames(executed), "whole": True}
    return {"level": "may", "accepted": [base.frames(executed), *([base.frames(above)] if above != executed else []), *([] if certain else [base.frames(executed)[:1]])]}


class Family:
    """An image, its moments, and who says what about them."""

    def __init__(self, name, folder, out):
        self.name, self.out, tested = f"x86-{name}", out, list(FAMILIES[name]())
        text = base.emit(tested, described=name == "seh") + (records(tested) if name == "fpo" else "")
        labels = base.build(folder, self.name, text, out / "images", pdb=name != "plain")
        self.page, self.cases, self.truths = Image(out / f"images/{self.name}.dll"), [], {}
        for where, position, ordinal, (regs, stack, executed) in base.moments(tested, labels, self.page.memory):
            case = base.written(where, position, ordinal, regs, [(regs["esp"], stack)], (self.name, len(self.page.memory)), None, NEEDS[name], RULES[name])
            self.cases.append(case)
            self.truths[case["id"]] = executed, same(base.frames(by_page(self.page, regs, stack)), executed)

    def judge(self, dbgeng):
        said = {DBGENG: dbgeng, GDB: asked([sys.executable, ADAPTERS / "gdb.py"], self.out, self.cases)}
        for case in self.cases:
            executed, applied = self.truths[case["id"]]
            agreed = [base.APPLIED] if applied else []
            agreed += [witness for witness, answers in said.items() if same(answers.get(case["id"]), executed)]
            case["known_by"] = [base.EXECUTED, *agreed]
            case["truth"] = judged(self.page, executed, agreed)
        return self.cases


def make(folder, out):
    """Writes the images and PDBs; returns {list: cases}."""
    dbgeng = json.loads(STORED.read_text(encoding="utf-8"))
    return {f"moments/x86-{name}.ndjson": Family(name, folder, out).judge(dbgeng) for name in FAMILIES}


def store(engine):
    """Asks dbgeng again."""
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "images").mkdir()
        cases = [case for name in FAMILIES for case in Family(name, folder, folder).cases]
        said = asked([sys.executable, ADAPTERS / "dbgeng.py", "wine", engine / "twinstack-dbgeng.exe"], folder, cases)
    STORED.write_text("".join(f"{'{' if not i else ','}{json.dumps(name)}:{json.dumps(frames)}\n" for i, (name, frames) in enumerate(sorted(said.items()))) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    store(pathlib.Path(os.environ["TWINSTACK_DBGENG"]).resolve())
