"""Assembles the functions of reference_x64_shapes.py into PE files, runs each in an emulator, and keeps every moment with the
calls that were active then.

A function is text, one instruction per line: `P push rbx ; push rbx` is an instruction of the prologue (P; B body, E
epilogue) and, after the semicolon, the unwind codes that end with it. `---` begins a region whose record is chained to the
region before it, `--- far` puts bytes between, `--- of N` chains to region N."""

import re
import subprocess

import reference_page_x64 as page
import reference_x64_v3
import unicorn as uc
from unicorn import x86_const as x86

STACK_LOW, STACK_HIGH = 0x10000000, 0x10800000
FRAME_END = STACK_HIGH - 0x40
POSITION = {"P": "prologue", "B": "body", "E": "epilogue", "L": "leaf", "N": "before-noreturn", "D": "dispatcher"}
NUMBER = {name: i for i, name in enumerate(page.REGISTERS)}


class Function:
    """LEVEL: must, or what is expected where the witnesses differ. ENTRY: has a row in the function table."""

    def __init__(self, shape, variant, text, *, mid="rbp", flags=0, version=1, epilogs=(), entry=True, level="must", rule="page",
                 needs=(), issues=(), align=16, calls=True, ends="return", interrupts=False, times=1, tail="", from_end=False):
        self.shape, self.variant, self.mid, self.flags, self.version = shape, variant, mid, flags, version
        self.epilogs, self.entry, self.level, self.rule = epilogs, entry, level, rule
        self.needs, self.issues, self.align, self.calls = list(needs), list(issues), align, calls
        self.ends, self.interrupts, self.times, self.tail = ends, interrupts, times, tail
        self.from_end = from_end  # of version 3: where its epilogues are counted from
        self.regions = [[None, []]]  # (parent, [(position, instruction, codes)])
        for line in filter(None, (line.strip() for line in text.splitlines())):
            if line.startswith("---"):
                where = re.search(r"of (\d+)", line)
                self.regions.append([int(where[1]) if where else len(self.regions) - 1, [], "far" in line])
                continue
            word, _, codes = line[2:].partition(" ; ")
            self.regions[-1][1].append((line[0], word.strip(), [c.split() for c in codes.split(",") if c.strip()]))


def slots(code, offset):
    """The 16-bit slots of one unwind code, as assembler expressions."""
    kind, *words = code
    offset = 0 if kind == "mach" else offset  # the frame is there before the first instruction

    def first(operation, info):
        return [f".byte {offset}, {operation | info << 4}"]

    def shorts(*values):
        return [f".short {value & 0xFFFF}" for value in values]

    size = int(words[-1], 0) if kind not in ("push", "setfp") else 0
    if kind == "push":
        return first(0, NUMBER[words[0]])
    if kind == "alloc" and size <= 128:
        return first(2, size // 8 - 1)
    if kind in ("alloc", "alloc16") and size <= 0x7FFF8:
        return first(1, 0) + shorts(size // 8)
    if kind in ("alloc", "alloc32"):
        return first(1, 1) + shorts(size, size >> 16)
    if kind == "setfp":
        return first(3, 0)
    if kind == "save":
        return first(4, NUMBER[words[0]]) + shorts(size // 8)
    if kind == "savefar":
        return first(5, NUMBER[words[0]]) + shorts(size, size >> 16)
    if kind == "xmm":
        return first(8, int(words[0])) + shorts(size // 16)
    if kind == "xmmfar":
        return first(9, int(words[0])) + shorts(size, size >> 16)
    assert kind == "mach", code
    return first(10, size)


def placed(word, number, functions):
    """The instruction with the names of functions replaced by their labels."""
    named = {f.variant: f"f{i}r0" for i, f in enumerate(functions)}
    for name, label in (("LEAF", named.get("callee")), ("CHKSTK", named.get("check")), ("STOP", named.get("stop")), ("SELF", f"f{number}r0"),
                        ("POINTER", "pointer")):
        word = re.sub(rf"\b{name}\b", label or name, word)
    return re.sub(r"\b(\d\d): ", r"\1: ", word)


def emit(functions):
    """The assembly of an image."""
    text, table, info = [".intel_syntax noprefix", ".text"], [], []
    for number, f in enumerate(functions):
        for region, (parent, lines, *far) in enumerate(f.regions):
            name = f"f{number}r{region}"
            text += [f".balign {f.align}, 0xcc" if region == 0 else ".fill 24, 1, 0xcc" if far and far[0] else "", f"{name}:"]
            made, frame = [], (0, 0)
            for i, (_, word, codes) in enumerate(lines):
                text += [f"{name}i{i}:", placed(word, number, functions)]
                for code in codes:
                    made.append(slots(code, f"{name}i{i + 1}-{name}"))
                    frame = (NUMBER[code[1]], int(code[2]) // 16) if code[0] == "setfp" else frame
            text += [f"{name}i{len(lines)}:", f"{name}end:"]
            if not f.entry:
                continue
            if f.version == 3:
                after = next(i for i, line in enumerate(lines) if line[0] != "P")
                info += [".balign 4", f".set {name}p, {name}i{after}", f"{name}info:", *reference_x64_v3.record(name, lines, f.from_end)]
                table += [f".long {name}@IMGREL, {name}end@IMGREL, {name}info@IMGREL"]
                continue
            flags = 4 if parent is not None else f.flags
            last = max((i for i, line in enumerate(lines) if line[0] == "P" or line[2]), default=-1)
            rows = [f.epilogs and region == 0 and [epilog(name, *e) for e in f.epilogs] or []]
            flat = [slot for group in rows[0] for slot in group] + [slot for code in reversed(made) for slot in code]
            count = sum(1 for _ in flat)
            if f.frame_of_parent(parent):
                frame = f.frame_of_parent(parent)
            info += [".balign 4", f"{name}info:", f".byte {f.version | flags << 3}, {name}i{last + 1}-{name}, {count}, {frame[0] | frame[1] << 4}", *flat]
            info += [".short 0"] if count % 2 else []
            if parent is not None:
                info += [f".long f{number}r{parent}@IMGREL, f{number}r{parent}end@IMGREL, f{number}r{parent}info@IMGREL"]
            elif flags:
                info += [".long f0r0@IMGREL", ".long 0x11111111, 0x22222222"]  # a handler and its data, which no walk looks at
            table += [f".long {name}@IMGREL, {name}end@IMGREL, {name}info@IMGREL"]
        text += [f.tail] if f.tail else []
    text += [".balign 8, 0xcc", "pointer:", ".quad f9r0"] # f9 is the leaf that follows the callers
    return "\n".join([*filter(None, text), '.section .xdata,"dr"', *info, '.section .pdata,"dr"', *table, ""])


def epilog(name, first, place, argument):
    """A UWOP_EPILOG: the first has the size of epilogues and whether one is at the end, others their distance from the end."""
    if first:
        return [f".byte {place}, {6 | argument << 4}"]
    return [f".byte {name}end-{name}i{place}, 6" if place is not None else ".byte 0, 6"]


def frame_of_parent(self, parent):
    """Records of a chain have the same frame register."""
    if parent is None:
        return None
    for code in (code for line in self.regions[0][1] for code in line[2]):
        if code[0] == "setfp":
            return NUMBER[code[1]], int(code[2]) // 16
    return None


Function.frame_of_parent = frame_of_parent


def build(folder, name, text, out, processor="x86_64"):
    """Assembles and links OUT; returns {label: rva}."""
    (folder / f"{name}.s").write_text(text)
    subprocess.run(["clang-19", f"--target={processor}-pc-windows-msvc", "-mno-incremental-linker-compatible", "-c", f"{name}.s", "-o",
                    f"{name}.obj"], check=True, cwd=folder)
    words = ["lld-link-19", "/dll", "/noentry", "/nodefaultlib", "/Brepro", "/base:0x180000000", f"{name}.obj"]
    subprocess.run([*words, f"/out:{name}.dll"], check=True, cwd=folder, capture_output=True)
    subprocess.run([*words, f"/out:{name}-names.dll", "/debug:symtab"], check=True, cwd=folder, capture_output=True)
    listed = subprocess.run(["llvm-nm-19", f"{name}-names.dll"], check=True, cwd=folder, capture_output=True, text=True).stdout
    labels = {words[2]: int(words[0], 16) - 0x180000000 for words in map(str.split, listed.splitlines()) if len(words) == 3}
    out.write_bytes((folder / f"{name}.dll").read_bytes())
    return labels


class Machine:
    """A processor with the image, an empty stack, and its own list of calls and returns."""

    def __init__(self, image):
        self.image, self.cpu = image, uc.Uc(uc.UC_ARCH_X86, uc.UC_MODE_64)
        self.cpu.mem_map(image.base, image.size + 0xFFF & ~0xFFF)
        self.cpu.mem_map(STACK_LOW, STACK_HIGH - STACK_LOW)
        self.numbers = {name: getattr(x86, f"UC_X86_REG_{name.upper()}") for name in [*page.REGISTERS, "rip"]}
        self.calls = {}  # whether there is a call at an address
        self.cpu.hook_add(uc.UC_HOOK_CODE, self.before)
        self.clear()

    def clear(self):
        """As it was made. One is used for all cases of an image: the emulator keeps some megabytes for each that was ever made."""
        self.waiting, self.pending, self.sink, self.fault = [], None, None, None
        self.cpu.mem_write(self.image.base, self.image.memory)
        self.cpu.mem_write(STACK_LOW, bytes(STACK_HIGH - STACK_LOW))
        self.cpu.reg_write(x86.UC_X86_REG_EFLAGS, 2)
        for number in range(16):
            self.cpu.reg_write(x86.UC_X86_REG_XMM0 + number, 0)

    def now(self, pc):
        """Registers and stack before the instruction at PC. To read them takes most of the time, and most moments are not kept."""
        regs = {**{name: self.cpu.reg_read(number) for name, number in self.numbers.items()}, "rip": pc}
        return regs, bytes(self.cpu.mem_read(regs["rsp"], STACK_HIGH - regs["rsp"]))

    def is_call(self, pc):
        code = bytes(self.cpu.mem_read(pc, 4)).lstrip(b"\xf2")
        code = code[1:] if code[0] & 0xF0 == 0x40 else code
        return code[0] == 0xE8 or code[0] == 0xFF and code[1] & 0x38 == 0x10

    def set(self, **values):
        for name, value in values.items():
            self.cpu.reg_write(self.numbers[name], value)

    def before(self, cpu, pc, size, _):
        rsp = cpu.reg_read(x86.UC_X86_REG_RSP)
        if self.pending is not None:
            self.waiting.append((self.pending, rsp + 8))  # the call has pushed its return address
        while self.waiting and rsp >= self.waiting[-1][1]:
            self.waiting.pop()
        if pc not in self.calls:
            self.calls[pc] = self.is_call(pc)
        self.pending = pc + size if self.calls[pc] else None
        try:
            self.sink(pc, [(pc, rsp), *reversed(self.waiting)])
        except Exception as fault:  # pylint: disable=broad-exception-caught
            self.fault = fault  # the emulator would swallow it
            cpu.emu_stop()

    def run(self, start, regs, sink, ends="return"):
        """From START until its return to address 0, or until an instruction that no processor knows. SINK gets the address and the
        walk before each instruction; a list of all stacks would hold gigabytes."""
        self.sink, self.pending = sink, None
        for name in self.numbers:
            self.set(**{name: regs[name]} if name in regs else {})
        try:
            self.cpu.emu_start(start, 0xDEAD, count=20000)
        except uc.UcError:
            if ends == "return" and self.cpu.reg_read(self.numbers["rip"]) != 0:
                raise
        if self.fault is not None:
            raise self.fault
