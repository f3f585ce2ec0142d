"""Microsoft's unwind rules for arm64, applied by a program that was written for this purpose alone: the second witness of the arm64
moments in corpus/reference. It shares no code with twinstack and none with the emulator's run.

Page: "ARM64 exception handling" (packed unwind data, .xdata records, unwind codes, fragments). One thing is not on the page: with CR = 1
and RegI = 1, x19 and lr are saved by two instructions, as there is no code for a pair with lr that moves the stack pointer; that is what
Windows' unwinder does, as published in dotnet/runtime, src/coreclr/unwinder."""

import struct

import reference_page_x64

REGISTERS = [f"x{i}" for i in range(31)]


class Image(reference_page_x64.Image):
    """The same file format; the function table has rows of two words."""

    def __init__(self, path):
        super().__init__(path)
        data = path.read_bytes()
        at, size = struct.unpack_from("<II", data, struct.unpack_from("<I", data, 60)[0] + 24 + 112 + 24)
        self.table = [struct.unpack_from("<II", self.memory, at + i) for i in range(0, size, 8)]

    def entry(self, rva):
        """(start, Record), or None."""
        for start, word in self.table:
            record = Packed(word) if word & 3 else Full(self.memory, word)
            if start <= rva < start + record.length:
                return start, record
        return None


# ---- unwind codes: (what to do, number, number) ------------------------------------------

def any_register(v):
    """0pxrrrrr'ffoooooo: one register or a pair, at an offset or below the stack pointer; x, d or q."""
    pair, pre, register, form, offset = v >> 14 & 1, v >> 13 & 1, v >> 8 & 31, v >> 6 & 3, v & 63
    if v >> 15 or form == 3:
        raise ValueError("reserved form of save_any_reg")
    at, by = (0, 16 * offset + 16) if pre else (offset * (16 if pair or form == 2 else 8), 0)
    if form:
        return "floats", (1 + pair) * form, at, by
    second = register + 1 if pair else None
    return ("pop", register, second, by) if pre else ("load", register, second, at)


# The bits of the first byte, how many, bytes of the code, and the code itself of its operand.
CODES = [
    (0b000, 3, 1, lambda v: ("add", 16 * v)),
    (0b001, 3, 1, lambda v: ("pop", 19, 20, 8 * v)),
    (0b01, 2, 1, lambda v: ("load", 29, 30, 8 * v)),
    (0b10, 2, 1, lambda v: ("pop", 29, 30, 8 * v + 8)),
    (0b11000, 5, 2, lambda v: ("add", 16 * v)),
    (0b110010, 6, 2, lambda v: ("load", 19 + (v >> 6), 20 + (v >> 6), 8 * (v & 63))),
    (0b110011, 6, 2, lambda v: ("pop", 19 + (v >> 6), 20 + (v >> 6), 8 * (v & 63) + 8)),
    (0b110100, 6, 2, lambda v: ("load", 19 + (v >> 6), None, 8 * (v & 63))),
    (0b1101010, 7, 2, lambda v: ("pop", 19 + (v >> 5), None, 8 * (v & 31) + 8)),
    (0b1101011, 7, 2, lambda v: ("load", 19 + 2 * (v >> 6), 30, 8 * (v & 63))),
    (0b1101100, 7, 2, lambda v: ("floats", 2, 8 * (v & 63), 0)),
    (0b1101101, 7, 2, lambda v: ("floats", 2, 0, 8 * (v & 63) + 8)),
    (0b1101110, 7, 2, lambda v: ("floats", 1, 8 * (v & 63), 0)),
    (0b11011110, 8, 2, lambda v: ("floats", 1, 0, 8 * (v & 31) + 8)),
    (0b11100000, 8, 4, lambda v: ("add", 16 * v)),
    (0b11100001, 8, 1, lambda v: ("frame", 0)),
    (0b11100010, 8, 2, lambda v: ("frame", 8 * v)),
    (0b11100011, 8, 1, lambda v: ("nothing",)),
    (0b11100100, 8, 1, lambda v: ("end",)),
    (0b11100101, 8, 1, lambda v: ("end of the prologue",)),
    (0b11100110, 8, 1, lambda v: ("next pair",)),
    (0b11100111, 8, 3, any_register),
    (0b11111100, 8, 1, lambda v: ("nothing",)),  # the return address is signed; here no processor signs
]


def decoded(raw, at):
    """The codes from AT up to `end`, which is among them."""
    out = []
    while True:
        for bits, count, size, code in CODES:
            if raw[at] >> 8 - count == bits:
                out.append(code(int.from_bytes(raw[at:at + size], "big") & (1 << 8 * size - count) - 1))
                at += size
                break
        else:
            raise ValueError(f"unwind code {raw[at]:#x}")
        if out[-1][0] == "end":
            return out


def undo(codes, regs, read):
    for number, (kind, *words) in enumerate(codes):
        if kind == "next pair":  # the pair after the one that comes before it in the prologue, which is later here
            later = [c[0] for c in codes[number:]]
            count = next(i for i, k in enumerate(later) if k != "next pair")
            _, first, second, offset = codes[number + count]
            offset = 0 if codes[number + count][0] == "pop" else offset
            kind, words = "load", (first + 2 * count, second + 2 * count, offset + 16 * count)
        if kind == "end":
            return
        if kind == "add":
            regs["sp"] += words[0]
        elif kind == "frame":
            regs["sp"] = regs["x29"] - words[0]
        elif kind == "floats":  # d8 to d15: no walk needs their values
            for i in range(words[0]):
                read(regs["sp"] + words[1] + 8 * i)
            regs["sp"] += words[2]
        elif kind in ("load", "pop"):
            at = regs["sp"] + (words[2] if kind == "load" else 0)
            for i, register in enumerate(r for r in words[:2] if r is not None):
                regs[f"x{register}"] = read(at + 8 * i)
            regs["sp"] += words[2] if kind == "pop" else 0


# ---- records -----------------------------------------------------------------------------

class Full:
    """An .xdata record."""

    def __init__(self, memory, at):
        head, = struct.unpack_from("<I", memory, at)
        self.length, single, epilogues, words = 4 * (head & 0x3FFFF), head >> 21 & 1, head >> 22 & 31, head >> 27
        at += 4
        if not epilogues and not words:
            more, = struct.unpack_from("<I", memory, at)
            epilogues, words, at = more & 0xFFFF, more >> 16 & 0xFF, at + 4
        scopes = [] if single else struct.unpack_from(f"<{epilogues}I", memory, at)
        at += 4 * len(scopes)
        raw = memory[at:at + 4 * words]
        self.prologue = decoded(raw, 0)
        kinds = [code[0] for code in self.prologue]  # what comes after `end of the prologue` is of the function's first part
        self.own = kinds.index("end of the prologue") if "end of the prologue" in kinds else len(kinds) - 1
        self.epilogues = [(4 * (scope & 0x3FFFF), decoded(raw, scope >> 22)) for scope in scopes]
        if single:
            codes = decoded(raw, epilogues)
            self.epilogues = [(self.length - 4 * len(codes), codes)]


class Packed:
    """A packed word, made into codes as the page's table of canonical prologues says. NOPS: as older Windows, which expects four in the
    epilogue of a function that homes its parameters."""

    nops = False

    def __init__(self, word):
        flag, reg_f, reg_i = word & 3, word >> 13 & 7, word >> 16 & 15
        homes, cr, frame = word >> 20 & 1, word >> 21 & 3, 16 * (word >> 23)
        self.length = 4 * (word >> 2 & 0x7FF)
        ints, floats = 8 * reg_i + 8 * (cr == 1), 8 * reg_f + 8 if reg_f else 0
        saved = ints + floats + 64 * homes + 15 & ~15
        steps = self.integers(reg_i, cr, ints, saved)
        for at in range(0, floats, 16):
            steps.append(("floats", min(floats - at, 16) // 8, ints + at if steps else 0, 0 if steps else saved))
        if cr == 2:
            steps.insert(0, ("nothing",))
        steps += [("nothing",)] * 4 * homes
        leaving = steps[:-4] if homes and not self.nops else steps
        after = self.locals(cr, frame - saved)
        self.prologue = list(reversed(steps + after)) + [("end",)]
        self.own = len(self.prologue) - 1
        codes = list(reversed(leaving + [s for s in after if s[0] != "frame"])) + [("end",)]
        self.epilogues = [(self.length - 4 * len(codes), codes)]
        if flag == 2:
            self.own, self.epilogues = 0, []

    @staticmethod
    def integers(reg_i, cr, ints, saved):
        steps = []
        for i in range(0, reg_i, 2):
            second = 20 + i if i + 1 < reg_i else 30 if cr == 1 else None
            if steps:
                steps.append(("load", 19 + i, second, 8 * i))
            elif second == 30:
                steps += [("add", saved), ("load", 19, 30, 0)]
            else:
                steps.append(("pop", 19, second, saved))
        if cr == 1 and not reg_i % 2:
            steps.append(("load", 30, None, ints - 8) if steps else ("pop", 30, None, saved))
        return steps

    @staticmethod
    def locals(cr, size):
        sizes = [part for part in (min(size, 4080), max(size - 4080, 0)) if part]
        if cr < 2:
            return [("add", part) for part in sizes]
        if size <= 512:
            return [("pop", 29, 30, size), ("frame", 0)]
        return [*(("add", part) for part in sizes), ("load", 29, 30, 0), ("frame", 0)]


# ---- a walk ------------------------------------------------------------------------------

def step(image, regs, read, interrupted):
    rva = regs["pc"] - image.base
    found = image.entry(rva if interrupted else rva - 4)
    if found is not None:
        start, record = found
        codes, index = record.prologue, (rva - start) // 4
        if index < record.own:
            codes = codes[record.own - index:]
        for at, epilogue in record.epilogues:
            if at <= rva - start < at + 4 * len(epilogue):
                codes = epilogue[(rva - start - at) // 4:]
        undo(codes, regs, read)
    elif not interrupted:
        raise ValueError("a caller without an entry")
    regs["pc"] = regs["x30"]


def walk(image, regs, read, limit=64):
    """[(ip, sp)], innermost first, until the return address 0."""
    regs, interrupted, out = dict(regs), True, []
    while regs["pc"] and len(out) < limit:
        out.append((regs["pc"], regs["sp"]))
        step(image, regs, read, interrupted)
        interrupted = False
    return out
