"""Assembles the functions of reference_arm64_shapes.py into PE files, runs each in an emulator, and keeps every moment with the
calls that were active then. reference_x64.py does the same for x64, and says how a function is written.

Here a code of an epilogue is written at its instruction, too, and `---` begins a later fragment of the function: its record has the
codes of its own prologue, `end_c`, and those of the first part."""

import struct

import reference_page_arm64 as page
import unicorn as uc
from unicorn import arm64_const as arm64

STACK_LOW, STACK_HIGH = 0x10000000, 0x10040000
FRAME_END = STACK_HIGH - 0x40
POSITION = {"P": "prologue", "B": "body", "E": "epilogue", "L": "leaf", "N": "before-noreturn"}
REGISTERS = [*page.REGISTERS, "sp", "pc"]


class Function:
    """PACKED: the packed word without its length; else an .xdata record is made. SINGLE: its one epilogue is at the end, by the E bit.
    EXTENDED: the header has its second word although it needs none. ENDS: how the run ends. THIN: one moment of many in the prologue.
    NOPS: its epilogue has those that older Windows expects. LEVEL "versions": only moments where Windows versions disagree are kept."""

    def __init__(self, shape, variant, text, *, packed=None, single=False, extended=False, entry=True, level="must", rule="codes", issues=(),
                 os=None, nops=False, calls=True, ends="return", share=True, thin=False):
        self.shape, self.variant, self.packed, self.single, self.extended, self.entry = shape, variant, packed, single, extended, entry
        self.level, self.rule, self.issues, self.os, self.calls, self.ends = level, rule, list(issues), os, calls, ends
        self.thin, self.nops = thin, nops
        self.share = share  # an epilogue uses the codes of the prologue where these are the same
        self.regions = [[]]  # [(position, instruction, code)]
        for line in filter(None, (line.strip() for line in text.splitlines())):
            if line.startswith("---"):
                self.regions.append([])
                continue
            word, _, code = line[2:].partition(" ; ")
            self.regions[-1].append((line[0], word.strip(), code.split()))


def any_register(kind, form, register, size):
    """save_any_reg: FORM x, d or q; KIND ends with _p (a pair), _x (sp moves by SIZE) or _px."""
    end = kind.removeprefix("save_any_reg")
    scale = 16 if end or form == "q" else 8
    offset = size // scale - ("x" in end)
    assert size % scale == 0 and 0 <= offset < 64
    return bytes([0xE7, ("p" in end) << 6 | ("x" in end) << 5 | int(register), "xdq".index(form) << 6 | offset])


def code_bytes(code):
    """One unwind code."""
    if code[0].startswith("save_any_reg"):
        return any_register(code[0], code[1], code[2], int(code[3]))
    kind, *numbers = code[0], *(int(word, 0) for word in code[1:])
    plain = {"set_fp": 0xE1, "nop": 0xE3, "end": 0xE4, "end_c": 0xE5, "save_next": 0xE6, "pac_sign_lr": 0xFC}
    if kind in plain:
        return bytes([plain[kind]])
    *register, size = numbers
    x = register[0] - (8 if "freg" in kind else 19) if register else 0
    scaled = size // 8 - (1 if kind.endswith("_x") else 0)
    one = {"alloc_s": lambda: size // 16, "save_r19r20_x": lambda: 0x20 | size // 8, "save_fplr": lambda: 0x40 | size // 8,
           "save_fplr_x": lambda: 0x80 | scaled}
    if kind in one:
        return bytes([one[kind]()])
    if kind == "alloc_l":
        return b"\xe0" + (size // 16).to_bytes(3, "big")
    two = {"alloc_m": lambda: 0xC000 | size // 16, "save_regp": lambda: 0xC800 | x << 6 | scaled, "save_regp_x": lambda: 0xCC00 | x << 6 | scaled,
           "save_reg": lambda: 0xD000 | x << 6 | scaled, "save_reg_x": lambda: 0xD400 | x << 5 | scaled,
           "save_lrpair": lambda: 0xD600 | x // 2 << 6 | scaled, "save_fregp": lambda: 0xD800 | x << 6 | scaled,
           "save_fregp_x": lambda: 0xDA00 | x << 6 | scaled, "save_freg": lambda: 0xDC00 | x << 6 | scaled,
           "save_freg_x": lambda: 0xDE00 | x << 5 | scaled, "add_fp": lambda: 0xE200 | size // 8}
    return two[kind]().to_bytes(2, "big")


def joined(codes):
    return b"".join(code_bytes(code) for code in codes)


def record(function, region, first):
    """The .xdata record of a region; FIRST: the codes of the first region's prologue."""
    own = [code for letter, _, code in reversed(region) if letter == "P" and code]
    raw = joined([*own, ["end_c"], *first, ["end"]] if region is not function.regions[0] else [*own, ["end"]])
    scopes = []
    for i, (letter, _, code) in enumerate(region):
        if letter == "E" and code and not (i and region[i - 1][0] == "E" and region[i - 1][2] and region[i - 1][2] != ["end"]):
            codes = []
            for _, _, more in region[i:]:
                codes.append(more)
                if more == ["end"]:
                    break
            part = joined(codes)
            if not (function.share and raw.endswith(part)):
                raw += part
            scopes.append((i, raw.rindex(part)))
    words = (len(raw) + 3) // 4
    raw = raw.ljust(4 * words, b"\xe3")
    if function.single:
        assert len(scopes) == 1 and scopes[0][1] < 32
        return struct.pack("<I", len(region) | 1 << 21 | scopes[0][1] << 22 | words << 27) + raw
    extended = function.extended or words > 31 or len(scopes) > 31
    head = struct.pack("<II", len(region), len(scopes) | words << 16) if extended else struct.pack("<I", len(region) | len(scopes) << 22 | words << 27)
    return head + b"".join(struct.pack("<I", at | index << 22) for at, index in scopes) + raw


def emit(functions):
    """The assembly of an image."""
    text, table, info = [".text"], [], []
    named = {f.variant: f"f{i}r0" for i, f in enumerate(functions)}
    for number, f in enumerate(functions):
        first = [code for letter, _, code in reversed(f.regions[0]) if letter == "P" and code]
        for region, lines in enumerate(f.regions):
            name = f"f{number}r{region}"
            text += [".balign 16, 0" if region == 0 else ".fill 4, 4, 0", f"{name}:"]
            for i, (_, word, _) in enumerate(lines):
                word = word.replace("LEAF", named["callee"]).replace("STOP", named.get("stop", "STOP")).replace("PART", f"f{number}r1")
                text += [f"{name}i{i}:", word]
            if f.packed is not None:
                table += [f".long {name}@IMGREL, {f.packed | len(lines) << 2}"]
            elif f.entry:
                info += [".balign 4, 0", f"{name}info:", f".byte {','.join(map(str, record(f, lines, first)))}"]
                table += [f".long {name}@IMGREL, {name}info@IMGREL"]
    return "\n".join([*text, '.section .xdata,"dr"', *info, '.section .pdata,"dr"', *table, ""])


class Machine:
    """A processor with the image, an empty stack, and its own list of calls and returns."""

    def __init__(self, image):
        self.image, self.cpu = image, uc.Uc(uc.UC_ARCH_ARM64, uc.UC_MODE_ARM)
        self.cpu.mem_map(image.base, image.size + 0xFFFF & ~0xFFFF)
        self.cpu.mem_map(STACK_LOW, STACK_HIGH - STACK_LOW)
        self.cpu.reg_write(arm64.UC_ARM64_REG_CPACR_EL1, 3 << 20)
        self.numbers = {name: getattr(arm64, f"UC_ARM64_REG_{name.upper()}") for name in REGISTERS}
        self.cpu.hook_add(uc.UC_HOOK_CODE, self.before)
        self.clear()

    def clear(self):
        self.waiting, self.pending, self.sink, self.fault = [], None, None, None
        self.cpu.mem_write(self.image.base, self.image.memory)

    def before(self, cpu, pc, _, __):
        regs = {name: cpu.reg_read(number) for name, number in self.numbers.items()}
        regs["pc"] = pc
        if self.pending is not None:
            self.waiting.append(self.pending)
        while self.waiting and (pc, regs["sp"]) == self.waiting[-1]:
            self.waiting.pop()
        code, = struct.unpack("<I", cpu.mem_read(pc, 4))
        is_call = code >> 26 == 0x25 or code & 0xFFFFFC1F == 0xD63F0000  # bl, blr
        self.pending = (pc + 4, regs["sp"]) if is_call else None
        stack = bytes(cpu.mem_read(regs["sp"], STACK_HIGH - regs["sp"]))
        try:
            self.sink(regs, stack, [(pc, regs["sp"]), *reversed(self.waiting)])
        except Exception as fault:  # pylint: disable=broad-exception-caught
            self.fault = fault  # the emulator would swallow it
            cpu.emu_stop()

    def run(self, start, regs, sink, ends="return"):
        """From START until its return to address 0, or until an instruction that no processor knows."""
        self.sink = sink
        for name in regs:
            self.cpu.reg_write(self.numbers[name], regs[name])
        try:
            self.cpu.emu_start(start, 0xDEAD, count=20000)
        except uc.UcError:
            if ends == "return" and self.cpu.reg_read(self.numbers["pc"]) != 0:
                raise
        if self.fault is not None:
            raise self.fault
