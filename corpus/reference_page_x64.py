"""Microsoft's unwind rules for x64, applied by a program that was written for this purpose alone: the second witness of the
moments in corpus/reference. It shares no code with twinstack and none with the emulator's run.

Pages: "x64 exception handling" (unwind procedure, UNWIND_CODE, chained records) and "x64 prolog and epilog" (epilogue forms).
Where the pages are silent, it does what Windows' unwinder does, as published in dotnet/runtime, src/coreclr/unwinder: the list
of epilogues in version 2, rep and bnd before ret, jmp with a REX prefix, a jump out of the function, the start of the own function as target of a jump."""

import struct

REGISTERS = "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15".split()
CHAINED = 4


class Image:
    """A PE file, laid out at its preferred base, and its function table."""

    def __init__(self, path):
        data = path.read_bytes()
        pe = struct.unpack_from("<I", data, 60)[0]
        count, = struct.unpack_from("<H", data, pe + 6)
        optional_size, = struct.unpack_from("<H", data, pe + 20)
        self.base, = struct.unpack_from("<Q", data, pe + 48)
        self.size, = struct.unpack_from("<I", data, pe + 80)
        at, size = struct.unpack_from("<II", data, pe + 24 + 112 + 24)
        memory = bytearray(self.size)
        for i in range(count):
            full, start, raw, place = struct.unpack_from("<IIII", data, pe + 24 + optional_size + 40 * i + 8)
            part = data[place:place + min(raw, full)]
            memory[start:start + len(part)] = part
        self.memory = bytes(memory)
        self.table = [struct.unpack_from("<III", self.memory, at + i) for i in range(0, size, 12)]

    def entry(self, rva):
        for row in self.table:
            if row[0] <= rva < row[1]:
                return row
        return None


class Info:
    """An UNWIND_INFO: codes as (offset, operation, info, operand)."""

    def __init__(self, image, at):
        first, self.prologue, count, frame = image.memory[at:at + 4]
        self.version, self.flags = first & 7, first >> 3
        self.frame_register, self.frame_offset = frame & 15, frame >> 4
        slots = struct.unpack_from(f"<{count}H", image.memory, at + 4)
        self.codes, i = [], 0
        while i < count:
            offset, operation, info = slots[i] & 255, slots[i] >> 8 & 15, slots[i] >> 12
            extra = {1: 1 + info, 4: 1, 5: 2, 8: 1, 9: 2}.get(operation, 0)
            operand = sum(slots[i + 1 + j] << 16 * j for j in range(extra))
            self.codes.append((offset, operation, info, operand))
            i += 1 + extra
        end = at + 4 + 2 * (count + count % 2)
        self.parent = struct.unpack_from("<III", image.memory, end) if self.flags & CHAINED else None


class Info3:
    """The same of version 3 (a preview): its operations, as those of version 1 that do the same. An offset there is that of the instruction,
    here of the byte after its first."""

    def __init__(self, image, at):
        memory = image.memory
        self.version, self.flags, self.prologue, self.parent = 3, memory[at] >> 3, memory[at + 1], None
        words, count, epilogues = memory[at + 2], memory[at + 3] & 31, memory[at + 3] >> 5
        end, at = at + 4 + 2 * words, at + 4
        large = self.flags >> 3 & 1
        if large:
            self.prologue |= memory[at] << 8
            at += 1
        offsets = self.offsets(memory, at, count, large)
        at += count << large
        listed = []  # (start, offset of the last instruction, offsets, first operation)
        for _ in range(epilogues):
            flags, number, start = memory[at] & 7, memory[at] >> 3, struct.unpack_from("<h", memory, at + 1)[0]
            at += 3
            if listed:
                start += listed[-1][0]
            if number:
                first, wide = struct.unpack_from("<H", memory, at)[0], flags >> 1 & 1
                last = int.from_bytes(memory[at + 2:at + 3 + wide], "little")
                rest = last, self.offsets(memory, at + 3 + wide, number, wide), first
                at += 3 + wide + (number << wide)
            listed.append((start, *rest))
        self.frame_register = self.frame_offset = 0
        self.codes = self.operations(memory[at:end], offsets)
        self.epilogues = [(start, last, self.operations(memory[at + first:end], places)) for start, last, places, first in listed]

    @staticmethod
    def offsets(memory, at, count, wide):
        return struct.unpack_from(f"<{count}{'BH'[wide]}", memory, at)

    def operations(self, pool, offsets):
        out, at = [], 0
        for offset in offsets:
            first, number = pool[at], int.from_bytes(pool[at + 1:at + 3], "little")
            far = int.from_bytes(pool[at + 1:at + 5], "little")
            if first & 7 == 4:
                size, code = 1, (0, first >> 3, 0)
            elif first & 7 in (5, 6):
                size, code = (5, (5, first >> 3, far)) if first & 7 == 5 else (3, (4, first >> 3, number))
            elif first & 15 == 8:
                size, code = 1, (2, first >> 4, 0)
            elif first & 15 in (9, 10):
                size, code = (5, (9, first >> 4, far)) if first & 15 == 9 else (3, (8, first >> 4, number))
            elif first in (1, 2):
                size, code = (5, (1, 1, far)) if first == 1 else (3, (1, 0, number))
            elif first == 0:
                size, code = 2, (3, 0, 0)
                self.frame_register, self.frame_offset = pool[at + 1] & 15, pool[at + 1] >> 4
            else:
                raise ValueError(f"operation {first:#x}")
            out.append((offset + 1, *code))
            at += size
        return out

    def leaving(self, row, rva):
        """What is left to undo in the epilogue that RVA is in; None: it is in none."""
        for start, last, codes in self.epilogues:
            start += row[0] if start >= 0 else row[1]
            if start <= rva <= start + last:
                return [code for code in codes if code[0] > rva - start]
        return None


def info_of(image, at):
    return Info3(image, at) if image.memory[at] & 7 == 3 else Info(image, at)


def primary(image, row):
    """The row at the end of the chain."""
    parent = info_of(image, row[2]).parent
    while parent:
        row, parent = parent, info_of(image, parent[2]).parent
    return row


def signed(raw):
    return int.from_bytes(raw, "little", signed=True)


def listed(row, info, rva):
    """The same for version 2, which lists its epilogues (their pops and the return) and nothing else is one: dotnet/runtime."""
    if not info.codes or info.codes[0][1] != 6:
        return None
    size, starts = info.codes[0][0], []
    if info.codes[0][2] & 1:
        starts.append(row[1] - size)
    for offset, operation, more, _ in info.codes[1:]:
        if operation != 6 or not offset | more << 8:
            break
        starts.append(row[1] - (offset | more << 8))
    start = next((s for s in starts if s <= rva < s + size), None)
    if start is None:
        return None
    actions, at = [], start
    for _, operation, number, _ in info.codes:
        if operation == 0:
            if at >= rva:
                actions.append(("pop", number))
            at += 2 if number >= 8 else 1
    return actions


def epilogue(image, row, info, rva):
    """The actions of the epilogue that starts at RVA: [("add", n) | ("lea", register, n) | ("pop", register)]; None: it is none."""
    if info.version >= 2:
        return listed(row, info, rva)
    code, actions = image.memory[rva:rva + 64], []
    frame = info.frame_register
    if code[:3] == b"\x48\x83\xc4":
        actions, code, rva = [("add", signed(code[3:4]))], code[4:], rva + 4
    elif code[:3] == b"\x48\x81\xc4":
        actions, code, rva = [("add", signed(code[3:7]))], code[7:], rva + 7
    elif frame and code[0] == 0x48 | frame >> 3 and code[1] == 0x8D and code[2] >> 3 & 7 == 4 and code[2] & 7 == frame & 7:
        sib, mode = frame & 7 == 4, code[2] >> 6
        length = {0: 0, 1: 1, 2: 4}[mode]
        at = 3 + sib
        actions, code, rva = [("lea", frame, signed(code[at:at + length]) if length else 0)], code[at + length:], rva + at + length
    while True:
        if code[0] & 0xF8 == 0x58:
            actions.append(("pop", code[0] & 7))
            code, rva = code[1:], rva + 1
        elif code[0] & 0xFE == 0x40 and code[0] & 1 and code[1] & 0xF8 == 0x58:
            actions.append(("pop", 8 + (code[1] & 7)))
            code, rva = code[2:], rva + 2
        else:
            break
    if code[0] in (0xC3, 0xC2) or code[0] in (0xF2, 0xF3) and code[1] == 0xC3:
        return actions
    if code[0] == 0xF2:
        code, rva = code[1:], rva + 1
    if code[0] in (0xE9, 0xEB):
        length = 4 if code[0] == 0xE9 else 1
        target = rva + 1 + length + signed(code[1:1 + length])
        own, there = primary(image, row), image.entry(target)
        outside = there is None or primary(image, there) != own
        return actions if outside or (target == own[0] and not info.parent) else None
    if code[:2] == b"\xff\x25" or code[0] & 0xF8 == 0x48 and code[1] == 0xFF and code[2] & 0x38 == 0x20:
        return actions
    return None


def leave(actions, regs, read):
    for action in actions:
        if action[0] == "add":
            regs["rsp"] += action[1]
        elif action[0] == "lea":
            regs["rsp"] = regs[REGISTERS[action[1]]] + action[2]
        else:
            regs[REGISTERS[action[1]]] = read(regs["rsp"])
            regs["rsp"] += 8


def undo(info, offset, regs, read, left=None):
    """Undoes the codes up to OFFSET (None: all), or in an epilogue LEFT. True: a machine frame gave rip and rsp."""
    done = [c for c in info.codes if offset is None or c[0] <= offset] if left is None else left
    offset = 0 if left is not None else offset
    frame_is_set = info.frame_register and (offset is None or offset >= info.prologue or any(c[1] == 3 for c in done))
    base = regs[REGISTERS[info.frame_register]] - 16 * info.frame_offset if frame_is_set else regs["rsp"]
    for _, operation, argument, operand in done:
        if operation == 0:
            regs[REGISTERS[argument]] = read(regs["rsp"])
            regs["rsp"] += 8
        elif operation == 1:
            regs["rsp"] += operand if argument else 8 * operand
        elif operation == 2:
            regs["rsp"] += 8 * argument + 8
        elif operation == 3:
            regs["rsp"] = regs[REGISTERS[info.frame_register]] - 16 * info.frame_offset
        elif operation == 4:
            regs[REGISTERS[argument]] = read(base + 8 * operand)
        elif operation == 5:
            regs[REGISTERS[argument]] = read(base + operand)
        elif operation in (8, 9):  # an xmm register is restored, too, though no walk of these needs its value
            at = base + (16 * operand if operation == 8 else operand)
            read(at), read(at + 8)
        elif operation == 10:
            at = regs["rsp"] + 8 * argument
            regs["rip"], regs["rsp"] = read(at), read(at + 24)
            return True
    return False


def step(image, regs, read, interrupted):
    """One frame up, in REGS. True: the new frame was interrupted, too."""
    rva = regs["rip"] - image.base
    row = image.entry(rva if interrupted else rva - 1)
    if row is not None:
        info = info_of(image, row[2])
        left = info.leaving(row, rva) if interrupted and info.version == 3 else None
        actions = epilogue(image, row, info, rva) if interrupted and info.version < 3 else None
        if left is not None:
            undo(info, None, regs, read, left)
        elif actions is not None:
            leave(actions, regs, read)
        else:
            offset = rva - row[0]
            while True:
                if undo(info, offset, regs, read):
                    return True
                if not info.parent:
                    break
                info, offset = Info(image, info.parent[2]), None
    elif not interrupted:
        raise ValueError("a caller without an entry")
    regs["rip"] = read(regs["rsp"])
    regs["rsp"] += 8
    return False


def walk(image, regs, read, limit=64):
    """[(ip, sp)], innermost first, until the return address 0."""
    regs, interrupted, out = dict(regs), True, []
    while regs["rip"] and len(out) < limit:
        out.append((regs["rip"], regs["rsp"]))
        interrupted = step(image, regs, read, interrupted)
    return out
