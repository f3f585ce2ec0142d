"""arm64 functions of every packed unwind word that Microsoft's document allows, executed in the emulator.

Each word becomes the code that the document gives for it: prologue, body, epilogue. Before each instruction, the walker has
to find the three callers, the first by the stack pointer, the second by the frame pointer. If a word homes parameters
(H = 1), older Windows expects four nops in the epilogue and newer Windows none, so both kinds of code are made. Where nothing
but the chain or the locals is saved (RegI = RegF = 0, CR not 1), the parameters are homed after the prologue.

Only this finds a packed word that is expanded wrongly: real programs have a few dozen of the 5,791."""

import pathlib
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import dump_maker  # noqa: E402
import e2e  # noqa: E402

try:
    import unicorn as uc
    from unicorn import arm64_const as arm64
    REGISTERS = [getattr(arm64, f"UC_ARM64_REG_X{i}") for i in range(31)]
except ImportError:
    uc = None

SP, LR = 31, 30
RET, NOP, PACIBSP, AUTIBSP, MOV_FP = 0xD65F03C0, 0xD503201F, 0xD503237F, 0xD50323FF, 0x910003FD
STACK, STACK_BYTES = 0x200000, 0x10000
# Sizes of locals: the most that one instruction does and undoes, and what is above it. (stp moves by 512, ldp only by 504.)
LOCALS = (0, 16, 496, 528, 4080, 4096)
THREADS = 400  # in one dump


def pair(kind, a, b, imm):
    base = {"stp": 0xA9000000, "stp!": 0xA9800000, "ldp": 0xA9400000, "ldp!": 0xA8C00000}[kind.rstrip("d") if kind[0] == "d" else kind]
    return base | (imm // 8 & 0x7F) << 15 | b << 10 | SP << 5 | a


def pair_d(kind, a, b, imm):
    return pair(kind, a, b, imm) ^ (0xA9000000 ^ 0x6D000000)


def one(kind, a, imm):
    if kind in ("str!", "ldr!"):
        return (0xF8000C00 if kind == "str!" else 0xF8400400) | (imm & 0x1FF) << 12 | SP << 5 | a
    return (0xF9000000 if kind == "str" else 0xF9400000) | imm // 8 << 10 | SP << 5 | a


def one_d(kind, a, imm):
    return one(kind, a, imm) ^ (0xF9000000 ^ 0xFD000000)


def move_sp(by):
    return (0xD10003FF if by < 0 else 0x910003FF) | abs(by) << 10


def saves(reg_f, reg_i, cr, saved):
    """[(store, load)] in the order of the prologue; the first moves the stack pointer."""
    out, at = [], 0
    paired = reg_i - (reg_i % 2 if cr == 1 else 0)
    for i in range(0, paired, 2):
        make, registers = (pair, (19 + i, 20 + i)) if i + 1 < paired else (one, (19 + i,))
        words = ("stp", "ldp") if make is pair else ("str", "ldr")
        move = not out
        out.append([make(word + "!" * move, *registers, (-saved if word[0] == "s" else saved) if move else 8 * i) for word in words])
    if cr == 1 and reg_i == 1:  # no single instruction does this and moves the stack pointer
        out += [[move_sp(-saved), move_sp(saved)], [pair("stp", 19, LR, 0), pair("ldp", 19, LR, 0)]]
    elif cr == 1 and reg_i % 2:
        out.append([pair(word, 18 + reg_i, LR, 8 * (reg_i - 1)) for word in ("stp", "ldp")])
    elif cr == 1:
        out.append([one("str!", LR, -saved), one("ldr!", LR, saved)] if not out else
                   [one("str", LR, 8 * reg_i), one("ldr", LR, 8 * reg_i)])
    at = 8 * reg_i + (8 if cr == 1 else 0)
    count = reg_f + 1 if reg_f else 0
    for i in range(0, count, 2):
        make, registers = (pair_d, (8 + i, 9 + i)) if i + 1 < count else (one_d, (8 + i,))
        words = ("stp", "ldp") if make is pair_d else ("str", "ldr")
        move = not out
        out.append([make(word + "!" * move, *registers, (-saved if word[0] == "s" else saved) if move else at + 8 * i)
                    for word in words])
    return out


def locals_of(cr, size):
    """[(enter, leave)] for the locals and the chain."""
    if cr < 2:
        steps = [size] if 0 < size <= 4080 else [4080, size - 4080] if size else []
        return [[move_sp(-step), move_sp(step)] for step in steps]
    if size <= 512:
        return [[pair("stp!", 29, LR, -size), pair("ldp!", 29, LR, size)], [MOV_FP, None]]
    steps = [size] if size <= 4080 else [4080, size - 4080]
    return [*([move_sp(-step), move_sp(step)] for step in steps), [pair("stp", 29, LR, 0), pair("ldp", 29, LR, 0)], [MOV_FP, None]]


def function(reg_f, reg_i, homes, cr, local, nops):
    """The code and the packed word; None: the document has no such function."""
    late = homes and not reg_i and not reg_f and cr != 1
    size = 8 * reg_i + (8 if cr == 1 else 0) + (8 * reg_f + 8 if reg_f else 0)
    saved = size + (64 if homes and not late else 0) + 15 & ~15
    if (cr >= 2 and local < 16) or (nops and (not homes or late)):
        return None
    local += 64 if late else 0
    frame = saved + local
    if frame == 0 or frame // 16 > 511:
        return None
    stores = ([one("str", i, frame - 64 + 8 * i) for i in range(8)] if late else
              [pair("stp", i, i + 1, saved - 64 + 8 * i) for i in range(0, 8, 2)])
    steps = saves(reg_f, reg_i, cr, saved)
    if homes and not late:
        steps += [[word, NOP if nops else None] for word in stores]
    steps += locals_of(cr, local)
    if cr == 2:
        steps.insert(0, [PACIBSP, AUTIBSP])
    code = [enter for enter, _ in steps] + (stores if late else []) + [NOP, NOP]
    code += [leave for _, leave in reversed(steps) if leave is not None] + [RET]
    word = 1 | len(code) << 2 | reg_f << 13 | reg_i << 16 | homes << 20 | cr << 21 | frame // 16 << 23
    return code, word


def functions():
    for reg_f in range(8):
        for reg_i in range(11):
            for homes in (0, 1):
                for cr in range(4):
                    for local in LOCALS:
                        for nops in (0, 1):
                            made = function(reg_f, reg_i, homes, cr, local, nops)
                            if made is not None:
                                yield f"RegF {reg_f} RegI {reg_i} H {homes} CR {cr} locals {local} nops {nops}", *made


class Packed(e2e.Case):
    def link(self, rows):
        """A DLL of the functions, in their order; the first two are the callers."""
        text, table = [".text"], [".section .pdata,\"dr\""]
        for number, (_, code, word) in enumerate(rows):
            text += [f"f{number}:", f".long {','.join(map(str, code))}"]
            table += [f".long f{number}@IMGREL", f".long {word}"]
        (self.folder / "packed.s").write_text("\n".join(text + table) + "\n")
        subprocess.run(["clang-19", "--target=aarch64-pc-windows-msvc", "-c", "packed.s", "-o", "packed.obj"], check=True,
                       cwd=self.folder)
        subprocess.run(["lld-link-19", "/dll", "/noentry", "/nodefaultlib", "/out:packed.dll", "packed.obj"], check=True,
                       cwd=self.folder, capture_output=True)
        return dump_maker.Image(self.folder / "packed.dll")

    def run_function(self, cpu, start, callers):
        """Yields (pc, sp, registers, stack) before each instruction of one call."""
        out, entry = [], STACK + STACK_BYTES - 64
        cpu.mem_write(STACK, bytes(STACK_BYTES))
        cpu.mem_write(entry, struct.pack("<4Q", callers[1], 0, 0, callers[2]))
        for i, register in enumerate(REGISTERS):
            cpu.reg_write(register, 0x5000 + i)
        cpu.reg_write(arm64.UC_ARM64_REG_X29, entry + 16)
        cpu.reg_write(arm64.UC_ARM64_REG_X30, callers[0])
        cpu.reg_write(arm64.UC_ARM64_REG_SP, entry)

        volatile = [0x5000 + i for i in range(19)]  # no caller gets one back, so they are not read again

        def before(cpu, pc, _, __):
            sp = cpu.reg_read(arm64.UC_ARM64_REG_SP)
            out.append((pc, sp, [*volatile, *map(cpu.reg_read, REGISTERS[19:])], bytes(cpu.mem_read(sp, STACK + STACK_BYTES - sp))))

        hook = cpu.hook_add(uc.UC_HOOK_CODE, before)
        cpu.emu_start(start, callers[0], count=200)
        cpu.hook_del(hook)
        self.assertEqual(cpu.reg_read(arm64.UC_ARM64_REG_SP), entry)
        return out

    def walk(self, image, moments):
        """The offsets that the walker finds at each moment. All are threads of a few dumps: each has a stack of its own."""
        paths = []
        for first in range(0, len(moments), THREADS):
            d, at = dump_maker.Dump("arm64"), 0x10000000
            d.module("packed.dll", image.base, image.size, image.stamp, image.codeview())
            for number, (pc, sp, r, stack) in enumerate(moments[first:first + THREADS]):
                by = at - sp
                moved = [value + by if STACK <= value < STACK + STACK_BYTES else value for value in r]
                words = [word + by if STACK <= word < STACK + STACK_BYTES else word for (word,) in struct.iter_unpack("<Q", stack)]
                d.thread(number + 1, pc, at, moved, stack=(at, struct.pack(f"<{len(words)}Q", *words)))
                at += len(stack) + 0x1000 & ~0xFFF
            paths.append(self.folder / f"{first}.dmp")
            d.save(paths[-1])
        done = subprocess.run([e2e.BUILD / "tests/dump_stacks", self.folder / "packed.dll"],
                              input="".join(f"{path}\n" for path in paths), capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            for thread in sorted(e2e.json.loads(line)["threads"], key=lambda thread: thread["id"]):
                yield [int(f["offset"], 16) for f in thread["stack"]["frames"] if f["inline_depth"] == 0]

    def test_every_packed_word_at_every_instruction(self):
        if uc is None:
            self.skipTest("no emulator (Debian package python3-unicorn)")
        if shutil.which("clang-19") is None or shutil.which("lld-link-19") is None:
            self.skipTest("no clang-19 with lld")
        callers = [("lr", *function(0, 0, 0, 1, 0, 0)), ("chain", *function(0, 0, 0, 3, 16, 0))]
        rows = [*callers, *functions()]
        image = self.link(rows)
        cpu = uc.Uc(uc.UC_ARCH_ARM64, uc.UC_MODE_ARM)
        cpu.mem_map(image.base, (image.size + 0xFFFF) & ~0xFFFF)
        cpu.mem_write(image.base, image.loaded())
        cpu.mem_map(STACK, STACK_BYTES)
        cpu.reg_write(arm64.UC_ARM64_REG_CPACR_EL1, 3 << 20)
        starts, at = [], image.base + 0x1000
        for _, code, _ in rows:
            starts.append(at)
            at += 4 * len(code)
        returns = [starts[0] + 8, starts[1] + 12, starts[0] + 8]
        names, moments = [], []
        for start, (name, _, _) in zip(starts[2:], rows[2:]):
            made = self.run_function(cpu, start, returns)
            moments += made
            names += [f"{name} at {moment[0] - start:#x}" for moment in made]
        wrong = []
        for name, moment, offsets in zip(names, moments, self.walk(image, moments), strict=True):
            want = [va - image.base for va in (moment[0], *returns)]
            if offsets[:4] != want:
                wrong.append(f"{name}: {[hex(o) for o in offsets]}, not {[hex(o) for o in want]}")
        print(f"{len(rows) - 2} functions, {len(moments)} moments, {len(wrong)} wrong")
        self.assertGreater(len(moments), 100000)
        self.assertEqual(wrong, [], "\n".join(wrong[:12]))


if __name__ == "__main__":
    e2e.main()
