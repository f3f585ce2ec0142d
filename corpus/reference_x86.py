"""The x86 moments of corpus/reference: there the frame data of a PDB is all that describes a frame. Functions are written as in
reference_x64.py; after the semicolon is what is new in their frame data, which the assembler writes (`.cv_fpo_...`).

The second witness (reference_page_x86.py) applies the programs of the frame data, as Breakpad's page and LLVM's PDB page describe them,
and reads them with llvm-pdbutil. LLVM has no frame data for epilogues: what it has is that of the body, so both answers are accepted there."""

import re
import struct
import subprocess

import reference_moments_x64
import unicorn as uc
from reference_page_x86 import BASE, Image, walk
from unicorn import x86_const as x86

REGISTERS = "eax ecx edx ebx esp ebp esi edi".split()
SAVED = "ebx esi edi ebp".split()
STACK_LOW, STACK_HIGH = 0x10000000, 0x10008000
BLOCK = 0x7FF00000  # of the thread
POSITION = {"P": "prologue", "B": "body", "E": "epilogue", "L": "leaf", "N": "before-noreturn"}
PAGE = "https://chromium.googlesource.com/breakpad/breakpad/+/HEAD/docs/symbol_files.md#stack-win-records"
RULE = {"kind": "standard", "name": "Breakpad symbol files, STACK WIN: the program string of frame data", "address": PAGE}
EXECUTED = f"executed in an emulator (unicorn {uc.__version__})"
APPLIED = "the page applied by corpus/reference_page_x86.py to what llvm-pdbutil 19.1.7 reads"


class Function:
    def __init__(self, shape, variant, text, *, params=0, issues=(), tested=True, ends="return"):
        self.shape, self.variant, self.params, self.issues, self.tested, self.ends = shape, variant, params, list(issues), tested, ends
        self.lines = []  # [(position, instruction, directive)]
        for line in filter(None, (line.strip() for line in text.splitlines())):
            word, _, data = line[2:].partition(" ; ")
            self.lines.append((line[0], word.strip(), data.strip()))


def simple(shape, variant, prologue, epilogue, clobber="", **more):
    body = "".join(f"\nB mov {r}, 0x1234567" for r in clobber.split())
    return Function(shape, variant, f"{prologue}{body}\nB call LEAF\nB nop\n{epilogue}", **more)


def functions():
    yield Function("frame", "outermost", "P sub esp, 12 ; stackalloc 12\nB call ecx\nB nop\nE add esp, 12\nE ret", tested=False)
    yield Function("frame", "mid", "P push ebp ; pushreg ebp\nP mov ebp, esp ; setframe ebp\nP push ebx ; pushreg ebx\nP sub esp, 24 ; stackalloc 24\n"
                   "B call edx\nB nop\nE add esp, 24\nE pop ebx\nE pop ebp\nE ret", tested=False)
    yield Function("leaf", "callee", "L nop\nL ret", tested=False)
    yield Function("leaf", "never", "L nop\nL ud2", tested=False)
    for r in SAVED:
        yield simple("push", r, f"P push {r} ; pushreg {r}\nP sub esp, 16 ; stackalloc 16", f"E add esp, 16\nE pop {r}\nE ret", r)
        yield simple("push", f"{r}-alone", f"P push {r} ; pushreg {r}", f"E pop {r}\nE ret", r)
    yield simple("push", "all", "\n".join(f"P push {r} ; pushreg {r}" for r in SAVED) + "\nP sub esp, 8 ; stackalloc 8",
                 "E add esp, 8\n" + "\n".join(f"E pop {r}" for r in reversed(SAVED)) + "\nE ret", " ".join(SAVED), issues=["getsentry/symbolic#513"])
    for size in (4, 64, 0x1000):
        yield simple("alloc", str(size), f"P sub esp, {size} ; stackalloc {size}", f"E add esp, {size}\nE ret")
        yield simple("alloc", f"{size}-esi", f"P push esi ; pushreg esi\nP sub esp, {size} ; stackalloc {size}", f"E add esp, {size}\nE pop esi\nE ret", "esi")
    frame = "P push ebp ; pushreg ebp\nP mov ebp, esp ; setframe ebp"
    yield simple("frame-pointer", "plain", frame, "E pop ebp\nE ret")
    yield simple("frame-pointer", "locals", f"{frame}\nP sub esp, 40 ; stackalloc 40", "E mov esp, ebp\nE pop ebp\nE ret")
    for r in ("ebx", "esi", "edi"):
        yield simple("frame-pointer", r, f"{frame}\nP push {r} ; pushreg {r}\nP sub esp, 20 ; stackalloc 20", f"E add esp, 20\nE pop {r}\nE pop ebp\nE ret", r)
    yield simple("frame-pointer", "leave", f"{frame}\nP sub esp, 40 ; stackalloc 40", "E leave\nE ret")
    yield Function("alloca", "frame-pointer", f"{frame}\nP push esi ; pushreg esi\nB sub esp, 0x60\nB mov esi, 7\nB call LEAF\nB nop\nE lea esp, [ebp-4]\nE pop esi\nE pop ebp\nE ret")
    for size in (16, 64):
        yield simple("realigned", str(size), f"{frame}\nP and esp, -{size} ; stackalign {size}\nP sub esp, 32 ; stackalloc 32", "E mov esp, ebp\nE pop ebp\nE ret")
    for size in (4, 12):
        pushes = "\n".join("B push eax" for _ in range(size // 4))
        yield simple("parameters", f"takes-{size}", "P push edi ; pushreg edi\nP sub esp, 8 ; stackalloc 8", f"E add esp, 8\nE pop edi\nE ret {size}", "edi", params=size,
                     tested=False, issues=["rust-minidump/rust-minidump#473", "mozilla/dump_syms#284"])
        yield Function("parameters", f"gives-{size}", f"P push ebx ; pushreg ebx\nP sub esp, 8 ; stackalloc 8\nB mov ebx, 3\n{pushes}\nB call TAKES{size}\nB nop\n"
                       "E add esp, 8\nE pop ebx\nE ret", issues=["rust-minidump/rust-minidump#473"])
    yield Function("call-last", "stop", "P push ebx ; pushreg ebx\nP sub esp, 8 ; stackalloc 8\nB nop\nN call STOP", ends="fault", issues=["rust-minidump/rust-minidump#240"])
    yield Function("push", "after-call-last", "P push edi ; pushreg edi\nB mov edi, 9\nB call LEAF\nB nop\nE pop edi\nE ret")


def emit(all_functions, described=True):
    """DESCRIBED: with frame data."""
    label = {f.variant: f"_f{i}" for i, f in enumerate(all_functions)}
    names = {"LEAF": label["callee"], "STOP": label["never"], "TAKES4": label.get("takes-4"), "TAKES12": label.get("takes-12")}
    text = [".intel_syntax noprefix", ".text"]
    for i, f in enumerate(all_functions):
        text += [f".globl _f{i}", f"_f{i}:", f".cv_fpo_proc _f{i} {f.params}"]
        last = max((k for k, line in enumerate(f.lines) if line[0] == "P"), default=-1)
        for k, (_, word, data) in enumerate(f.lines):
            text.append(f"_f{i}i{k}:")
            text.append(re.sub(r"\b(LEAF|STOP|TAKES\d+)\b", lambda m: names[m[0]], word))
            text += [f".cv_fpo_{data}"] if data else []
            text += [".cv_fpo_endprologue"] if k == last else []
        text += [f"_f{i}end:", ".cv_fpo_endproc"]
    if not described:
        return "\n".join([*(line for line in text if not line.startswith(".cv_fpo_")), ""])
    return "\n".join([*text, '.section .debug$S,"dr"', ".p2align 2", ".long 4", *(f".cv_fpo_data _f{i}" for i in range(len(all_functions))),
                      ".cv_filechecksums", ".cv_stringtable", ""])


def build(folder, name, text, out, pdb=True):
    """Writes the image and, if PDB, that into OUT; returns {label: rva}."""
    (folder / f"{name}.s").write_text(text)
    subprocess.run(["clang-19", "--target=i686-pc-windows-msvc", "-mno-incremental-linker-compatible", "-c", f"{name}.s", "-o", f"{name}.obj"], check=True, cwd=folder)
    subprocess.run(["lld-link-19", "/dll", "/noentry", "/nodefaultlib", "/Brepro", "/safeseh:no", f"/base:{BASE:#x}",
                    *(["/debug", f"/pdbaltpath:{name}.pdb", "/pdbsourcepath:\\\\suite"] if pdb else []), f"{name}.obj", f"/out:{name}.dll",
                    *([f"/pdb:{name}.pdb"] if pdb else [])], check=True, cwd=folder, capture_output=True)
    listed = subprocess.run(["llvm-nm-19", f"{name}.obj"], check=True, cwd=folder, capture_output=True, text=True).stdout
    for end in ("dll", "pdb")[:1 + pdb]:
        (out / f"{name}.{end}").write_bytes((folder / f"{name}.{end}").read_bytes())
    return {words[2]: int(words[0], 16) + 0x1000 for words in map(str.split, listed.splitlines()) if len(words) == 3}


# ---- the emulator ------------------------------------------------------------------------


class Machine:
    """A processor with the image, a stack, and its own list of calls and returns."""

    def __init__(self, memory):
        self.cpu = uc.Uc(uc.UC_ARCH_X86, uc.UC_MODE_32)
        self.cpu.mem_map(BASE, len(memory) + 0xFFF & ~0xFFF)
        self.cpu.mem_map(STACK_LOW, STACK_HIGH - STACK_LOW)
        self.cpu.mem_write(BASE, memory)
        self.cpu.mem_map(BLOCK, 0x2000) # what fs:[0] is in, and the descriptors of segments
        self.cpu.mem_write(BLOCK, struct.pack("<i", -1))
        self.cpu.mem_write(BLOCK + 0x1000, struct.pack("<QQQ", 0, 0x40_9300_0000_FFFF | (BLOCK & 0xFFFFFF) << 16 | BLOCK >> 24 << 56, 0xCF_9300_0000_FFFF))
        self.cpu.reg_write(x86.UC_X86_REG_GDTR, (0, BLOCK + 0x1000, 0xFFF, 0))
        for segment, place in ((x86.UC_X86_REG_FS, 8), (x86.UC_X86_REG_DS, 16), (x86.UC_X86_REG_ES, 16), (x86.UC_X86_REG_SS, 16)):
            self.cpu.reg_write(segment, place)
        self.numbers = {name: getattr(x86, f"UC_X86_REG_{name.upper()}") for name in [*REGISTERS, "eip"]}
        self.cpu.hook_add(uc.UC_HOOK_CODE, self.before)
        self.seen, self.waiting, self.pending = [], [], None

    def before(self, cpu, pc, size, _):
        regs = {name: cpu.reg_read(number) for name, number in self.numbers.items()}
        regs["eip"] = pc
        if self.pending is not None:
            self.waiting.append((self.pending, regs["esp"] + 4))
        while self.waiting and regs["esp"] >= self.waiting[-1][1]:
            self.waiting.pop()
        code = bytes(cpu.mem_read(pc, 2))
        self.pending = pc + size if code[0] == 0xE8 or code[0] == 0xFF and code[1] & 0x38 == 0x10 else None
        self.seen.append((regs, bytes(cpu.mem_read(regs["esp"], STACK_HIGH - regs["esp"])), [(pc, regs["esp"]), *reversed(self.waiting)]))

    def run(self, start, mid, function, ends):
        self.seen, self.waiting, self.pending = [], [], None
        looks = struct.pack("<II", mid, STACK_HIGH - 0x80)  # words that look like code and like the stack
        self.cpu.mem_write(STACK_LOW, looks * ((STACK_HIGH - STACK_LOW) // 8))
        top = STACK_HIGH - 0x44
        self.cpu.mem_write(top, bytes(4))
        for i, name in enumerate(REGISTERS):
            self.cpu.reg_write(self.numbers[name], 0x5000 + 0x101 * i)
        for name, value in (("esp", top), ("ecx", mid), ("edx", function)):
            self.cpu.reg_write(self.numbers[name], value)
        try:
            self.cpu.emu_start(start, 0xDEAD, count=2000)
        except uc.UcError:
            if ends == "return" and self.cpu.reg_read(self.numbers["eip"]) != 0:
                raise
        return self.seen


# ---- the cases ---------------------------------------------------------------------------


def frames(found):
    return [{"ip": hex(ip), "sp": hex(sp)} for ip, sp in found]


def removed(page, executed):
    """The walk where the stack pointer of a caller is above the parameters that its callee removes: so it is when the callee has returned,
    and frame data says what it was before. Both are right."""
    out = executed[:1]
    for (ip, _), (caller, sp) in zip(executed, executed[1:]):
        out.append((caller, sp + page.removed(ip - BASE - (len(out) > 1))))
    return out


def judged(page, regs, stack, executed, position):
    """The truth, and the addresses that the page's walk reads."""
    near = []

    def read(at):
        near.append(at)
        if not regs["esp"] <= at <= regs["esp"] + len(stack) - 4:
            raise LookupError(f"{at:#x} is not on the stack")
        return struct.unpack_from("<I", stack, at - regs["esp"])[0]

    try:
        applied = walk(page, regs, read)
    except LookupError:
        applied = None
    above = removed(page, executed)
    if applied == executed and above != executed:
        return {"level": "may", "accepted": [frames(executed), frames(above)]}, near
    if applied == executed:
        return {"level": "must", "frames": frames(executed), "whole": True}, near
    assert position in ("epilogue", "body"), (hex(regs["eip"]), executed, applied)  # a body that pushes arguments, too
    accepted = [frames(executed), *([frames(above)] if above != executed else []), frames(executed)[:1]]
    return {"level": "may", "accepted": accepted}, near


def case_of(function, position, ordinal, moment, page):
    regs, stack, executed = moment
    truth, near = judged(page, regs, stack, executed, position)
    parts = reference_moments_x64.parts_of({"rsp": regs["esp"]}, stack, [*near, *(sp - 4 for _, sp in executed[1:])])
    return written(function, position, ordinal, regs, parts, ("x86-frames", len(page.memory)), truth)


def written(function, position, ordinal, regs, parts, image, truth, needs=("frame-data",), rule=RULE, known_by=(EXECUTED, APPLIED)):
    return {"id": f"moments/x86/{function.shape}/{function.variant}/{position}/{ordinal:04}", "kind": "moment", "processor": "x86",
            "shape": function.shape, "position": position, "rule": rule, "needs": list(needs), "conflicts_with": [], "issues": function.issues, "os": None,
            "capability": "moments.x86",
            "given": {"registers": {name: hex(value) for name, value in regs.items()},
                      "stack": [{"at": hex(at), "bytes": part.hex()} for at, part in parts],
                      "modules": [{"path": f"images/{image[0]}.dll", "base": hex(BASE), "size": hex(image[1])}]},
            "truth": truth, "known_by": list(known_by)}


def moments(tested, labels, memory):
    """(function, position, ordinal, moment) of each place once: where the function is run, and in the leaf function that it calls."""
    done = set()
    places = {labels[f"_f{i}i{k}"]: (f, POSITION[line[0]], k) for i, f in enumerate(tested) for k, line in enumerate(f.lines)}
    start = [BASE + labels[f"_f{i}"] for i in range(len(tested))]
    machine = Machine(memory)
    for number, function in enumerate(tested):
        if not function.tested:
            continue
        for moment in machine.run(start[0], start[1], start[number], function.ends):
            rva = moment[0]["eip"] - BASE
            where, position, ordinal = places[rva]
            key = rva
            if where.shape == "leaf":  # one moment per call
                site = max(rva for rva in places if rva + BASE < moment[2][1][0])
                if ordinal or places[site][0].shape == "frame":
                    continue
                where, _, ordinal = places[site]
                position, key = "called", moment[2][1][0]
            if key in done or where.shape == "frame":
                continue
            done.add(key)
            yield where, position, ordinal, moment


def make(folder, out):
    """Writes the image and its PDB; returns {list: cases}."""
    tested = list(functions())
    labels = build(folder, "x86-frames", emit(tested), out / "images")
    page = Image(out / "images/x86-frames.dll")
    return {"moments/x86-frames.ndjson": [case_of(*found, page) for found in moments(tested, labels, page.memory)]}
