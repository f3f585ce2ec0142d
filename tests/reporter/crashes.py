"""Crashes of a program that is no victim, with their true stacks: an emulator runs it and counts its calls.

    for build in builds(folder, rng): for crash in build.crashes: crash.truth, crash.dump(path)

The dumps have two modules, loaded at other bases than they were linked for, and two threads."""

import pathlib
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import dump_maker  # noqa: E402

try:
    import unicorn as uc
    from unicorn import arm64_const as arm64
    from unicorn import x86_const as x86
except ImportError:
    uc = None

HERE = pathlib.Path(__file__).resolve().parent
X86 = "EAX ECX EDX EBX ESP EBP ESI EDI".split()
X64 = "RAX RCX RDX RBX RSP RBP RSI RDI R8 R9 R10 R11 R12 R13 R14 R15".split()
STACK_BYTES = 0x100000
STACKS = (0x5A0000, 0x8B0000)  # of the two threads
PREFERRED = {"app.exe": 0x140000000, "plug.dll": 0x180000000}
PREFERRED_X86 = {"app.exe": 0x400000, "plug.dll": 0x10000000}
COMPILERS = {
    "gcc-O1": ("x64", ["x86_64-w64-mingw32-gcc", "-g", "-O1", "-ffreestanding", "-fno-stack-protector", "-fno-optimize-sibling-calls"]),
    "gcc-O0": ("x64", ["x86_64-w64-mingw32-gcc", "-g", "-O0", "-ffreestanding", "-fno-stack-protector"]),
    "clang-O2": ("x64", ["clang-19", "--target=x86_64-pc-windows-msvc", "-g", "-gcodeview", "-O2", "-fno-optimize-sibling-calls"]),
    "arm64-O1": ("arm64", ["clang-19", "--target=aarch64-pc-windows-msvc", "-g", "-gcodeview", "-O1", "-fno-optimize-sibling-calls"]),
    "x86-O1": ("x86", ["clang-19", "--target=i686-pc-windows-msvc", "-g", "-gcodeview", "-O1", "-fno-optimize-sibling-calls"]),
}


def preferred(arch):
    return PREFERRED_X86 if arch == "x86" else PREFERRED


def tools_missing():
    """The first thing that is needed and not there; None: all is."""
    if uc is None:
        return "no emulator (Debian package python3-unicorn)"
    return next((f"no {name}" for name in ("x86_64-w64-mingw32-gcc", "clang-19", "lld-link-19") if not shutil.which(name)), None)


def compile_module(folder, name, arch, flags, frame_pointers):
    """An image without imports, linked for its preferred base; by clang the same each time, whatever FOLDER is."""
    source, image = name.split(".")[0] + ".c", folder / name
    for file in (source, "program.h"):
        shutil.copy(HERE / file, folder)
    keeps = ["-fno-omit-frame-pointer" if frame_pointers else "-fomit-frame-pointer"]
    base = f"0x{preferred(arch)[name]:x}"
    if "gcc" in flags[0]:
        dll = ["-shared"] if name.endswith("dll") else []
        subprocess.run([*flags, *keeps, *dll, "-nostdlib", "-Wl,--image-base=" + base, "-Wl,--dynamicbase,-e,start", "-Wl,--build-id",
                        source, "-o", name], check=True, cwd=folder, capture_output=True)
    else:
        subprocess.run([*flags, *keeps, "-ffreestanding", "-fno-stack-protector", "-fasynchronous-unwind-tables", "-ffile-compilation-dir=.",
                        "-mno-incremental-linker-compatible", "-c", source, "-o", name + ".obj"], check=True, cwd=folder)
        dll = ["/dll", "/noimplib"] if name.endswith("dll") else ["/subsystem:console"]
        subprocess.run(["lld-link-19", *dll, "/entry:start", "/nodefaultlib", "/debug", "/Brepro", "/pdbsourcepath:.", "/pdbaltpath:%_PDB%",
                        "/base:" + base, f"/out:{name}", name + ".obj"], check=True, cwd=folder, capture_output=True)
    return image


class Module:
    """An image at the base where the emulator has it."""

    def __init__(self, path, arch, base):
        self.path, self.name, self.base, self.image = path, path.name, base, dump_maker.Image(path)
        self.preferred, self.size = self.image.base, self.image.size
        assert self.preferred == preferred(arch)[self.name]

    def loaded(self):
        """As the loader lays it out there: only code of x86 has absolute addresses, of 32 bits."""
        out, (at, end) = bytearray(self.image.loaded()), self.image.relocations
        end += at
        while at < end:
            page, size = struct.unpack_from("<II", out, at)
            for entry in struct.unpack_from(f"<{(size - 8) // 2}H", out, at + 8):
                if entry >> 12 == 3:
                    place = page + (entry & 0xFFF)
                    value = struct.unpack_from("<I", out, place)[0] + self.base - self.preferred
                    struct.pack_into("<I", out, place, value & 0xFFFFFFFF)
            at += size
        return bytes(out)

    def code_section(self):
        """(rva, file offset) of the first section."""
        _, rva, _, offset = self.image.sections[0]
        return rva, offset

    def data_rva(self):
        """A place that is in the image, and not in its code."""
        return self.image.sections[1][1] + 0x10

    def holds(self, va):
        return self.base <= va < self.base + self.size


class Crash:
    """A moment of the emulated program."""

    def __init__(self, build, pc, sp, registers, stack, truth):
        self.build, self.pc, self.sp, self.registers, self.stack, self.truth = build, pc, sp, registers, stack, truth
        self.other = None  # the moment in which the second thread is

    def words(self):
        """The live stack in words."""
        at, data = self.stack
        size, form = self.build.word, "<I" if self.build.word == 4 else "<Q"
        return {at + size * i: word for i, (word,) in enumerate(struct.iter_unpack(form, data[:len(data) // size * size]))
                if at + size * i >= self.sp}

    def dump(self, path):
        d = dump_maker.Dump(self.build.arch)
        for module in self.build.modules:
            d.module(module.name, module.base, module.size, module.image.stamp, module.image.codeview())
        place = d.thread(1, self.pc, self.sp, self.registers, stack=self.stack)
        d.thread(2, self.other.pc, self.other.sp, self.other.registers, stack=self.other.stack)
        d.exception(1, 0xC0000005, self.pc, context_place=place)
        d.save(path)


class Build:
    """A program of one compiler: the moments in which it may crash, and the call sites that it has."""

    def __init__(self, name, folder, rng):
        self.name, self.folder = name, folder
        self.arch, flags = COMPILERS[name]
        self.word = 4 if self.arch == "x86" else 8
        folder.mkdir()
        bases = sorted(rng.sample(range(0x1000, 0x70000, 0x40) if self.arch == "x86" else range(0x7FF600000, 0x7FFF00000, 0x40), 2))
        rng.shuffle(bases)
        self.modules = [Module(compile_module(folder, name, self.arch, flags, name == "app.exe"), self.arch, base << 16 >> 4 & ~0xFFFF)
                        for name, base in zip(PREFERRED, bases)]
        self.returns = set()
        self.crashes, self.others = (self.run(stack) for stack in STACKS)

    def module_of(self, va):
        return next((module for module in self.modules if module.holds(va)), None)

    def called(self, code, size, pc):
        """The return address of the call in these bytes; None: it is no call."""
        if self.arch == "arm64":
            word = int.from_bytes(code[:4], "little")
            return pc + 4 if word & 0xFC000000 == 0x94000000 or word & 0xFFFFFC1F == 0xD63F0000 else None
        call = code[0] == 0xE8 or (code[0] == 0xFF and code[1] & 0x38 == 0x10) or (
            self.arch == "x64" and code[0] & 0xF0 == 0x40 and code[1] == 0xFF and code[2] & 0x38 == 0x10)
        return pc + size if call else None

    def machine(self, stack):
        """(cpu, pc, sp, numbers of the general registers): at the first instruction."""
        app, plug = self.modules
        entry, other = app.base + app.image.entry, plug.base + plug.image.entry
        if self.arch == "arm64":
            cpu = uc.Uc(uc.UC_ARCH_ARM64, uc.UC_MODE_ARM)
            pc, sp, first = arm64.UC_ARM64_REG_PC, arm64.UC_ARM64_REG_SP, arm64.UC_ARM64_REG_X0
            general = [getattr(arm64, f"UC_ARM64_REG_X{n}") for n in range(31)]
        elif self.arch == "x86":
            cpu = uc.Uc(uc.UC_ARCH_X86, uc.UC_MODE_32)
            pc, sp, first = x86.UC_X86_REG_EIP, x86.UC_X86_REG_ESP, None
            general = [getattr(x86, "UC_X86_REG_" + n) for n in X86]
        else:
            cpu = uc.Uc(uc.UC_ARCH_X86, uc.UC_MODE_64)
            pc, sp, first = x86.UC_X86_REG_RIP, x86.UC_X86_REG_RSP, x86.UC_X86_REG_RCX
            general = [getattr(x86, "UC_X86_REG_" + n) for n in X64]
        for module in self.modules:
            cpu.mem_map(module.base, (module.size + 0xFFFF) & ~0xFFFF)
            cpu.mem_write(module.base, module.loaded())
        cpu.mem_map(stack, STACK_BYTES)
        cpu.reg_write(sp, stack + STACK_BYTES - (0x100 if self.arch == "arm64" else 0x108))
        if first is None:  # after the return address
            cpu.mem_write(stack + STACK_BYTES - 0x104, struct.pack("<I", other))
        else:
            cpu.reg_write(first, other)
        return cpu, entry, pc, sp, general

    def run(self, stack):
        """A moment for each instruction and depth that is reached for the first time."""
        cpu, entry, _, sp_number, general = self.machine(stack)
        seen, out, waiting, state = set(), [], [], {"code": None, "call": None}

        def on_code(_, pc, size, __):
            sp = cpu.reg_read(sp_number)
            if state["call"] is not None:
                waiting.append((state["call"], sp))
            elif self.arch == "arm64":
                if state["code"] is not None and state["code"] & 0xFFFFFC1F == 0xD65F0000 and waiting:
                    waiting.pop()
            else:
                while waiting and sp > waiting[-1][1]:
                    waiting.pop()
            code = bytes(cpu.mem_read(pc, 16))
            state["code"], state["call"] = int.from_bytes(code[:4], "little"), self.called(code, size, pc)
            if state["call"] is not None:
                self.returns.add(state["call"])
            depth = len(waiting)
            if (pc, depth) in seen or depth < 3:
                return
            seen.add((pc, depth))
            low = sp & ~15
            top = stack + STACK_BYTES
            out.append(Crash(self, pc, sp, [cpu.reg_read(n) for n in general], (low, bytes(cpu.mem_read(low, top - low))),
                             [pc] + [back for back, _ in reversed(waiting)]))

        cpu.hook_add(uc.UC_HOOK_CODE, on_code)
        try:
            cpu.emu_start(entry, 0, count=2_000_000)
        except uc.UcError:
            if cpu.reg_read(general[0]) is None:
                raise
        # A call that ends its function returns into another one: nothing can be said of what runs there.
        follows = {back for crash in out for back in crash.truth[1:]}
        return [crash for crash in out if crash.pc not in follows or self.arch == "arm64"]


def builds(folder, rng, names=tuple(COMPILERS)):
    return [Build(name, folder / name, rng) for name in names]
