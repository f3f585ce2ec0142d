"""The unwinders at every instruction of compiled functions, compared with the actual calls.

An emulator runs tests/e2e/emulated/shapes.c, built for each processor. Before each instruction that
it reaches for the first time, the test writes a dump, and `dump` has to find the active callers in it.
All of them are walked by one process. No Windows, no Wine.

Only this finds an instruction at which an unwinder is wrong and no victim crashes."""

import collections
import pathlib
import shutil
import struct
import subprocess
import sys
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import dump_maker  # noqa: E402
import e2e  # noqa: E402

try:
    import unicorn as uc
    from unicorn import arm64_const as arm64
    from unicorn import arm_const as arm
    from unicorn import x86_const as x86
except ImportError:
    uc = None

SHAPES = pathlib.Path(__file__).resolve().parent / "emulated/shapes.c"
LINUX, SIGSEGV = 0x8201, 11
STACK_LOW, STACK_HIGH = 0x200000, 0x2F0000
X64 = "RAX RCX RDX RBX RSP RBP RSI RDI R8 R9 R10 R11 R12 R13 R14 R15".split()
X86 = "EAX ECX EDX EBX ESP EBP ESI EDI".split()


class Machine:
    """One processor with the image in its memory and an empty stack."""

    def __init__(self, image):
        self.image = image
        self.cpu = uc.Uc(*self.kind)
        self.cpu.mem_map(image.base, (image.size + 0xFFFF) & ~0xFFFF)
        self.cpu.mem_write(image.base, image.loaded())
        self.cpu.mem_map(STACK_LOW, STACK_HIGH - STACK_LOW)

    def get(self, number):
        return self.cpu.reg_read(number)

    def pc_sp(self):
        return self.get(self.pc), self.get(self.sp)

    def registers(self):
        return [self.get(n) for n in self.general]


class MachineX64(Machine):
    arch, triple, word = "x64", "x86_64", 8

    def __init__(self, image):
        self.kind = (uc.UC_ARCH_X86, uc.UC_MODE_64)
        self.general = [getattr(x86, "UC_X86_REG_" + n) for n in X64]
        self.pc, self.sp = x86.UC_X86_REG_RIP, x86.UC_X86_REG_RSP
        super().__init__(image)
        self.cpu.reg_write(self.sp, STACK_HIGH - 0x108)
        self.cpu.reg_write(x86.UC_X86_REG_RCX, 7)

    def called(self, code, size, pc):
        """The return address of the call in these bytes, or None when they are not a call."""
        if code[0] == 0xE8 or (code[0] == 0xFF and code[1] & 0x38 == 0x10) or (
                code[0] & 0xF0 == 0x40 and code[1] == 0xFF and code[2] & 0x38 == 0x10):
            return pc + size
        return None

    def settle(self, waiting, before):
        """Pops the calls that have returned: a call ends when its return address is popped."""
        while waiting and self.get(self.sp) > waiting[-1][1]:
            waiting.pop()


class MachineX86(MachineX64):
    arch, triple, word = "x86", "i686", 4

    def __init__(self, image):
        self.kind = (uc.UC_ARCH_X86, uc.UC_MODE_32)
        self.general = [getattr(x86, "UC_X86_REG_" + n) for n in X86]
        self.pc, self.sp = x86.UC_X86_REG_EIP, x86.UC_X86_REG_ESP
        Machine.__init__(self, image)
        self.cpu.reg_write(self.sp, STACK_HIGH - 0x100)
        self.cpu.mem_write(STACK_HIGH - 0xFC, b"\7\0\0\0")


class MachineArm64(Machine):
    arch, triple, word = "arm64", "aarch64", 8

    def __init__(self, image):
        self.kind = (uc.UC_ARCH_ARM64, uc.UC_MODE_ARM)
        self.general = [getattr(arm64, "UC_ARM64_REG_X%d" % n) for n in range(31)]
        self.pc, self.sp = arm64.UC_ARM64_REG_PC, arm64.UC_ARM64_REG_SP
        super().__init__(image)
        self.cpu.reg_write(arm64.UC_ARM64_REG_CPACR_EL1, 3 << 20)
        self.cpu.reg_write(self.sp, STACK_HIGH - 0x100)
        self.cpu.reg_write(arm64.UC_ARM64_REG_X0, 7)

    def called(self, code, size, pc):
        word = int.from_bytes(code[:4], "little")
        return pc + 4 if word & 0xFC000000 == 0x94000000 or word & 0xFFFFFC1F == 0xD63F0000 else None

    def settle(self, waiting, before):
        if int.from_bytes(before[:4], "little") in (0xD65F03C0, 0xD65F0BFF, 0xD65F0FFF) and waiting:
            waiting.pop()


class MachineLinuxX64(MachineX64):
    """Linux passes the first argument in edi."""

    triple, flags = "x86_64-linux-gnu", []

    def __init__(self, image):
        super().__init__(image)
        self.cpu.reg_write(x86.UC_X86_REG_RDI, 7)


class MachineLinuxX86(MachineX86):
    triple, flags = "i686-linux-gnu", []


class MachineLinuxArm64(MachineArm64):
    triple, flags = "aarch64-linux-gnu", []


class MachineArm(Machine):
    arch, triple, word, flags = "arm", "armv7a-linux-gnueabihf", 4, ["-marm"]

    def __init__(self, image):
        thumb = self.flags == ["-mthumb"]
        self.kind = (uc.UC_ARCH_ARM, uc.UC_MODE_THUMB if thumb else uc.UC_MODE_ARM)
        self.general = [getattr(arm, "UC_ARM_REG_" + n) for n in
                        [f"R{i}" for i in range(13)] + ["SP", "LR"]]
        self.pc, self.sp = arm.UC_ARM_REG_PC, arm.UC_ARM_REG_SP
        super().__init__(image)
        self.cpu.reg_write(arm.UC_ARM_REG_C1_C0_2, self.get(arm.UC_ARM_REG_C1_C0_2) | 0xF << 20)
        self.cpu.reg_write(arm.UC_ARM_REG_FPEXC, 1 << 30)
        self.cpu.reg_write(self.sp, STACK_HIGH - 0x100)
        self.cpu.reg_write(arm.UC_ARM_REG_R0, 7)

    def called(self, code, size, pc):
        word = int.from_bytes(code[:4], "little")
        calls = word & 0x0F000000 == 0x0B000000 or word & 0x0FFFFFF0 == 0x012FFF30
        return pc + 4 if calls else None

    def settle(self, waiting, before):
        if waiting and (self.get(self.pc), self.get(self.sp)) == waiting[-1]:
            waiting.pop()


class MachineThumb(MachineArm):
    flags = ["-mthumb"]

    def called(self, code, size, pc):
        first, second = struct.unpack_from("<HH", code)
        short = first & 0xFF87 == 0x4780
        return pc + size if short or (first & 0xF800 == 0xF000 and second & 0xD000 == 0xD000) else None


class ElfImage:
    """The few facts about a linked ELF file that a dump needs."""

    def __init__(self, path):
        data = path.read_bytes()
        wide = data[4] == 2
        self.entry, table = struct.unpack_from("<QQ" if wide else "<II", data, 24)
        size, count = struct.unpack_from("<HH", data, 54 if wide else 42)
        loads = [struct.unpack_from("<4x4x5Q" if wide else "<4x5I", data, table + size * i) for i in range(count)
                 if data[table + size * i] == 1]
        loads = [(va, data[place:place + stored], full) for place, va, _, stored, full in loads]
        self.base = min(va for va, _, _ in loads) & ~0xFFFF
        self.size = max(va + full for va, _, full in loads) - self.base
        self.entry -= self.base
        self.memory = bytearray(self.size)
        for va, stored, _ in loads:
            self.memory[va - self.base:va - self.base + len(stored)] = stored

    def loaded(self):
        return bytes(self.memory)


Moment = collections.namedtuple("Moment", "pc sp r stack truth calls")


def moments(machine):
    """The state of the machine before each instruction that it reaches for the first time, with the
    callers that are active then."""
    seen, out, waiting = set(), [], []
    state = {"code": None, "call": None}

    def on_code(cpu, pc, size, _):
        sp = machine.get(machine.sp)
        if state["call"] is not None:
            waiting.append((state["call"], sp))
        elif state["code"] is not None:
            machine.settle(waiting, state["code"])
        code = bytes(cpu.mem_read(pc, 16))
        state["code"], state["call"] = code, machine.called(code, size, pc)
        if pc not in seen:
            seen.add(pc)
            low = sp & ~15
            out.append(Moment(pc, sp, machine.registers(), (low, bytes(cpu.mem_read(low, STACK_HIGH - low))),
                              [pc] + [back for back, _ in reversed(waiting)], state["call"] is not None))

    machine.cpu.hook_add(uc.UC_HOOK_CODE, on_code)
    try:
        machine.cpu.emu_start(machine.image.base + machine.image.entry, 0, count=2000000)
    except uc.UcError:
        if machine.get(machine.pc) != 0:  # the first function returns to address 0
            raise
    assert not waiting, waiting
    return out


def build(folder, triple, flags):
    name = "-".join([triple, *flags]).replace("=", "")
    obj, dll = folder / f"{name}.obj", folder / f"{name}.dll"
    target = [f"--target={triple}-pc-windows-msvc", "-g", "-gcodeview", "-ffreestanding", "-fno-stack-protector",
              "-fasynchronous-unwind-tables"]
    # Only relative names, so that the name of the folder does not get into the output.
    shutil.copy(SHAPES, folder)
    subprocess.run(["clang-19", *target, *flags, "-ffile-compilation-dir=.", "-mno-incremental-linker-compatible", "-c", SHAPES.name,
                    "-o", obj.name], check=True, cwd=folder)
    subprocess.run(["lld-link-19", "/dll", "/entry:start", "/nodefaultlib", "/debug", "/safeseh:no", "/Brepro", "/pdbsourcepath:.",
                    "/pdbaltpath:%_PDB%", f"/out:{dll.name}", obj.name], check=True, capture_output=True, cwd=folder)
    return dll


def add_module(dump, dll, machine):
    dump.module(dll.name, machine.image.base, machine.image.size, machine.image.stamp, machine.image.codeview())


def add_elf_module(dump, sym, machine):
    _, _, _, identity, name = sym.read_text().split("\n", 1)[0].split(" ")
    codeview = b"RSDS" + uuid.UUID(identity[:32]).bytes_le + struct.pack("<I", int(identity[32:], 16)) + name.encode() + b"\0"
    dump.module(name, machine.image.base, machine.image.size, 0, codeview)


def ask(folder, made, machine, all_moments, symbols, code=0xC0000005):
    """What `dump` finds for each moment: offsets, and how each frame was found. MADE: makes a dump with the module."""
    paths = []
    for number, moment in enumerate(all_moments):
        d = made()
        place = d.thread(1, moment.pc, moment.sp, moment.r, stack=moment.stack)
        d.exception(1, code, moment.pc, context_place=place)
        paths.append(folder / f"{machine.arch}.{number}.dmp")
        d.save(paths[-1])
    done = subprocess.run([e2e.BUILD / "tests/dump_stacks", *symbols], input="".join(f"{path}\n" for path in paths), capture_output=True,
                          text=True, check=True)
    for path in paths:
        path.unlink()
    answers = [e2e.json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(paths), done.stderr
    for answer in answers:
        frames = [f for f in answer["threads"][0]["stack"]["frames"] if f["inline_depth"] == 0] if "threads" in answer else []
        yield [int(f["offset"], 16) for f in frames], [f["found_by"] for f in frames] or [answer.get("fault")]


def build_elf(folder, machine_type, flags):
    """An ELF image without sections of unwind data in memory, and its Breakpad file."""
    name = "-".join([machine_type.arch, *machine_type.flags, *flags]).replace("=", "")
    obj, image, sym = (folder / f"{name}{end}" for end in (".o", ".elf", ".sym"))
    shutil.copy(SHAPES, folder)
    cpu = ["-mcpu=cortex-a15"] if machine_type.arch == "arm" else []
    subprocess.run(["clang-19", f"--target={machine_type.triple}", *cpu, "-g", "-ffreestanding",
                    "-fno-stack-protector", "-fasynchronous-unwind-tables", *machine_type.flags, *flags, "-c", SHAPES.name, "-o",
                    obj.name], check=True, cwd=folder)
    subprocess.run(["ld.lld-19", "--image-base=0x400000", "-e", "start", "--build-id=sha1", "-o", image.name, obj.name],
                   check=True, cwd=folder)
    done = e2e.twinstack("symbols", "export", "--format", "breakpad", image)
    assert done.returncode == 0, done.stderr
    sym.write_text(done.stdout)
    return image, sym


class Emulated(e2e.Case):
    def setUp(self):
        if uc is None:
            self.skipTest("no emulator (Debian package python3-unicorn)")
        if shutil.which("clang-19") is None or shutil.which("lld-link-19") is None:
            self.skipTest("no clang-19 with lld")

    def hold(self, machine_type, flags):
        dll = build(self.folder, machine_type.triple, flags)
        machine = machine_type(dump_maker.Image(dll))
        all_moments = moments(machine)

        def made():
            d = dump_maker.Dump(machine.arch)
            add_module(d, dll, machine)
            return d

        base, wrong = machine.image.base, []
        for moment, (offsets, found) in zip(all_moments, ask(self.folder, made, machine, all_moments, [dll, dll.with_suffix(".pdb")])):
            truth = [va - base for va in moment.truth]
            if offsets != truth:
                wrong.append((hex(moment.pc - base), [hex(t) for t in truth], [hex(o) for o in offsets], found))
        print(f"{machine.arch} {' '.join(flags)}: {len(all_moments)} moments, {len(wrong)} wrong")
        self.assertGreater(len(all_moments), 1000)
        self.assertEqual(wrong, [], "\n".join(map(str, wrong[:12])))

    def hold_elf(self, machine_type, flags, own=False):
        """At every call: the compiler describes bodies and prologues of arm, but not epilogues. OWN: by the image itself, in
        place of its Breakpad file; on x86 and x64, whose epilogues are described, at every instruction."""
        elf, sym = build_elf(self.folder, machine_type, flags)
        machine = machine_type(ElfImage(elf))
        all_moments = [m for m in moments(machine) if m.calls or (own and machine.arch.startswith("x"))]

        def made():
            d = dump_maker.Dump(machine.arch, platform=LINUX)
            add_elf_module(d, sym, machine)
            return d

        wrong = []
        for moment, (offsets, found) in zip(all_moments, ask(self.folder, made, machine, all_moments, [elf if own else sym],
                                                           SIGSEGV)):
            truth = [va - machine.image.base for va in moment.truth]
            if offsets != truth or set(found[1:]) - {"cfi"}:
                wrong.append((hex(truth[0]), truth, offsets, found))
        print(f"{machine.arch} {' '.join(machine_type.flags + flags)}: {len(all_moments)} moments, {len(wrong)} wrong")
        self.assertGreaterEqual(len(all_moments), 50)
        self.assertEqual(wrong, [], "\n".join(map(str, wrong[:12])))

    def test_arm_code(self):
        self.hold_elf(MachineArm, ["-O2"])

    def test_thumb_code(self):
        self.hold_elf(MachineThumb, ["-O2"])

    def test_thumb_plain(self):
        self.hold_elf(MachineThumb, ["-O0"])

    def test_linux_x64_by_the_image(self):
        for flags in (["-O2"], ["-O0"], ["-O1", "-fno-omit-frame-pointer"]):
            self.hold_elf(MachineLinuxX64, flags, own=True)

    def test_linux_x86_by_the_image(self):
        self.hold_elf(MachineLinuxX86, ["-O2", "-fno-pic"], own=True)  # else each function calls its next instruction

    def test_linux_arm64_by_the_image(self):
        self.hold_elf(MachineLinuxArm64, ["-O2"], own=True)
        self.hold_elf(MachineLinuxArm64, ["-O2", "-mbranch-protection=standard"], own=True)

    def test_linux_arm_by_the_image(self):
        self.hold_elf(MachineThumb, ["-O2"], own=True)

    def test_x64_optimised(self):
        self.hold(MachineX64, ["-O2"])

    def test_x64_plain(self):
        self.hold(MachineX64, ["-O0"])

    def test_arm64_optimised(self):
        self.hold(MachineArm64, ["-O2"])

    def test_arm64_small(self):
        self.hold(MachineArm64, ["-Oz"])

    def test_arm64_plain(self):
        self.hold(MachineArm64, ["-O0"])

    def test_arm64_signed_return_addresses(self):
        self.hold(MachineArm64, ["-O2", "-mbranch-protection=standard"])

    def test_x86_optimised(self):
        self.hold(MachineX86, ["-O2", "-mno-stack-arg-probe"])

    def test_x86_frame_pointers(self):
        self.hold(MachineX86, ["-O1", "-mno-stack-arg-probe", "-fno-omit-frame-pointer"])


if __name__ == "__main__":
    e2e.main()
