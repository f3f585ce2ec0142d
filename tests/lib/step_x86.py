"""Steps through a 32-bit steps-VARIANT.exe in an emulator of the processor, where no system is needed, and writes what the program writes
under Windows: a record with STEPS sections (capture/record.h). The functions that are stepped through call no system code."""

import struct

import unicorn as uc
from unicorn import x86_const as x86

STACK_TOP, STACK_BYTES, TEB, GDT = 0x7F000000, 0x400000, 0x7FFD0000, 0x7FFC0000
HEADER_BYTES, MACHINE_X86, KIND_STEPS, MODULES, STEPS, NO_END = 128, 0x14C, 4, 1, 16, (1 << 64) - 1
WALKER_FRAME_POINTER, STOP_BOUNDS, STOP_ZERO, STOP_PROGRESS, AS_TRUTH = 5, 2, 1, 3, 1
REGISTERS = [x86.UC_X86_REG_EAX, x86.UC_X86_REG_ECX, x86.UC_X86_REG_EDX, x86.UC_X86_REG_EBX, x86.UC_X86_REG_ESP,
             x86.UC_X86_REG_EBP, x86.UC_X86_REG_ESI, x86.UC_X86_REG_EDI]
ESP, EBP, EIP = 4, 5, 16
STEPS_MAX, POPFD = 20000, b"\x9d"


class Image:
    """A PE file, laid out as in memory."""

    def __init__(self, data):
        pe = struct.unpack_from("<I", data, 0x3C)[0]
        sections, optional = struct.unpack_from("<H", data, pe + 6)[0], struct.unpack_from("<H", data, pe + 20)[0]
        self.timestamp = struct.unpack_from("<I", data, pe + 8)[0]
        self.base, self.bytes = (struct.unpack_from("<I", data, pe + 24 + at)[0] for at in (28, 56))
        self.memory = bytearray(self.bytes)
        self.memory[:struct.unpack_from("<I", data, pe + 24 + 60)[0]] = data[:struct.unpack_from("<I", data, pe + 24 + 60)[0]]
        for i in range(sections):
            rva, raw, at = struct.unpack_from("<III", data, pe + 24 + optional + 40 * i + 12)
            self.memory[rva:rva + raw] = data[at:at + raw]
        debug, size = struct.unpack_from("<II", self.memory, pe + 24 + 96 + 6 * 8)
        self.guid, self.age, self.pdb = bytes(16), 0, b""
        for at in range(debug, debug + size, 28):
            kind, length, rva = struct.unpack_from("<III", self.memory, at + 12)
            if kind == 2 and self.memory[rva:rva + 4] == b"RSDS":
                self.guid, self.age = bytes(self.memory[rva + 4:rva + 20]), struct.unpack_from("<I", self.memory, rva + 20)[0]
                self.pdb = bytes(self.memory[rva + 24:rva + length]).rstrip(b"\0")


def padded(data):
    return data + bytes(-len(data) % 8)


class Stepper:
    def __init__(self, image, start, end):
        self.image, self.end = image, end
        self.callers, self.last, self.steps, self.seen = [], None, 0, set()
        self.told_registers, self.told_callers, self.told_stack = {}, [], bytearray(STACK_BYTES)
        self.entries = []
        self.cpu = uc.Uc(uc.UC_ARCH_X86, uc.UC_MODE_32)
        self.cpu.mem_map(image.base, (image.bytes + 0xFFF) & ~0xFFF)
        self.cpu.mem_write(image.base, bytes(image.memory))
        self.cpu.mem_map(STACK_TOP - STACK_BYTES, STACK_BYTES)
        self.set_teb()
        sp = STACK_TOP - 64  # the return address 0 and the argument of the thread's first function
        self.cpu.reg_write(x86.UC_X86_REG_ESP, sp)
        self.run(start)

    def set_teb(self):
        """fs:[0] holds the chain of exception handlers."""
        def descriptor(base, limit, access):
            return struct.pack("<HHBBBB", limit & 0xFFFF, base & 0xFFFF, base >> 16 & 0xFF, access, 0xC0 | limit >> 16, base >> 24)
        self.cpu.mem_map(TEB, 0x1000)
        self.cpu.mem_map(GDT, 0x1000)
        self.cpu.mem_write(TEB, struct.pack("<I", 0xFFFFFFFF))
        self.cpu.mem_write(GDT, bytes(8) + descriptor(0, 0xFFFFF, 0xF3) + descriptor(TEB, 0xFFFFF, 0xF3) + descriptor(0, 0xFFFFF, 0x93))
        self.cpu.reg_write(x86.UC_X86_REG_GDTR, (0, GDT, 0x1F, 0))
        self.cpu.reg_write(x86.UC_X86_REG_FS, 0x13)
        self.cpu.reg_write(x86.UC_X86_REG_SS, 0x18)

    def word(self, at):
        return struct.unpack("<I", self.cpu.mem_read(at, 4))[0]

    def run(self, start):
        self.cpu.hook_add(uc.UC_HOOK_CODE, self.on_instruction)
        try:
            self.cpu.emu_start(start, self.end, count=STEPS_MAX)
        except uc.UcError as e:
            raise AssertionError(f"{e} at {self.cpu.reg_read(x86.UC_X86_REG_EIP):x} after {self.steps} steps") from e

    def on_instruction(self, cpu, pc, size, _):
        registers = {i: cpu.reg_read(number) for i, number in enumerate(REGISTERS)} | {EIP: pc}
        if self.last:
            self.follow(registers)
        self.last = (bytes(cpu.mem_read(pc, size)), registers[ESP])
        if self.last[0] == POPFD:  # of the trap flag, which no system handles here
            cpu.mem_write(registers[ESP], struct.pack("<I", self.word(registers[ESP]) & ~0x100))
        self.put_step(registers)
        self.steps += 1
        self.seen.add(pc)

    def follow(self, registers):
        """A call pushes the address that it returns to; a return takes it off, and so does a jump to it, by which the stack probe leaves."""
        code, sp_before = self.last
        code = code.lstrip(b"\xf2\xf3")
        calls = code[0] == 0xE8 or code[0] == 0xFF and code[1] & 0x38 == 0x10
        leaps = code[0] == 0xFF and code[1] & 0x38 == 0x20
        if calls and registers[ESP] == sp_before - 4:
            self.callers.append((self.word(registers[ESP]), sp_before))
        elif self.callers and (code[0] in (0xC3, 0xC2) or leaps and self.callers[-1][0] == registers[EIP]):
            self.callers.pop()

    def frame_pointers(self, registers):
        """As capture/walk_framepointer.c."""
        frames, fp = [registers[EIP]], registers[EBP]
        while True:
            if fp % 4 or not STACK_TOP - STACK_BYTES <= fp <= STACK_TOP - 8:
                return frames, STOP_BOUNDS
            if self.word(fp + 4) == 0:
                return frames, STOP_ZERO
            frames.append(self.word(fp + 4))
            if self.word(fp) <= fp:
                return frames, STOP_PROGRESS
            fp = self.word(fp)

    def put_step(self, registers):
        changed = [i for i, value in sorted(registers.items()) if self.told_registers.get(i, 0) != value]
        self.told_registers = registers
        kept = 0
        while kept < min(len(self.callers), len(self.told_callers)) and self.callers[kept] == self.told_callers[kept]:
            kept += 1
        added = self.callers[kept:]
        self.told_callers = list(self.callers)
        runs = self.stack_runs(registers[ESP])
        frames, stop = self.frame_pointers(registers)
        truth = [registers[EIP]] + [pc for pc, _ in reversed(self.callers)]
        same = frames == truth
        body = b"".join(struct.pack("<Q", registers[i]) for i in changed) + b"".join(struct.pack("<QQ", *caller) for caller in added)
        body += b"".join(struct.pack("<QII", va, len(words) // 8, 0) + words for va, words in runs)
        body += struct.pack("<BBBBI", WALKER_FRAME_POINTER, 0, stop, AS_TRUTH if same else 0, len(frames))
        body += b"" if same else b"".join(struct.pack("<Q", pc) for pc in frames)
        mask = sum(1 << i for i in changed)
        self.entries.append(struct.pack("<IIHHHH", 16 + len(body), mask, kept, len(added), len(runs), 1) + body)

    def stack_runs(self, sp):
        """[(va, words)] that changed: 8 bytes each, as on x64."""
        low = STACK_TOP - STACK_BYTES
        from_va = sp & ~7
        now, told = bytes(self.cpu.mem_read(from_va, STACK_TOP - from_va)), bytes(self.told_stack[from_va - low:])
        if now == told:
            return []
        runs, at = [], 0
        while at < len(now):
            if now[at:at + 8] == told[at:at + 8]:
                at += 8
                continue
            first = at
            while at < len(now) and now[at:at + 8] != told[at:at + 8]:
                at += 8
            runs.append((from_va + first, now[first:at]))
        self.told_stack[from_va - low:] = now
        return runs

    def record(self, path):
        """The bytes of the file; PATH: where the module says that its image is."""
        module = struct.pack("<IQQQQ16sIHH", self.image.timestamp, self.image.base, self.image.bytes, 0, NO_END, self.image.guid,
                             self.image.age, len(path), len(self.image.pdb)) + path + self.image.pdb
        module = padded(struct.pack("<I", len(padded(bytes(4) + module))) + module)
        steps = struct.pack("<QQ", STACK_TOP - STACK_BYTES, STACK_TOP) + b"".join(self.entries)
        sections = b"".join(struct.pack("<IIII", kind, 16 + len(body), count, 0) + body
                            for kind, body, count in ((MODULES, module, 1), (STEPS, steps, len(self.entries))))
        head = bytearray(HEADER_BYTES)
        struct.pack_into("<8sIIII", head, 0, b"TWINREC1", 2, HEADER_BYTES, MACHINE_X86, KIND_STEPS)
        struct.pack_into("<Q", head, 72, HEADER_BYTES + len(sections))
        struct.pack_into("<II", head, 80, 4, 1)
        return bytes(head) + sections
