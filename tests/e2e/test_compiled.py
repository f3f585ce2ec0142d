"""Programs that this machine's compilers build now, so they need no fixtures. At every byte of code, names, inlined
calls, files and lines must be those that llvm-symbolizer prints.

llvm-symbolizer misreads two things in PDBs. If two lines start at one address, the last one is right, but it prints
that line only from the next byte on. If a function has lines of several files, this program may also print the lines
that llvm-symbolizer prints for DWARF of the same code.

Only this finds a wrong name or line of code that no fixture has: that of the compilers installed here."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

SOURCES = pathlib.Path(__file__).resolve().parent / "compiled"
COMMON = ("-fno-exceptions", "-fno-rtti", "-fno-stack-protector", "-ffreestanding", "-w")
LLD = ("-fuse-ld=lld-19",)
# Name, compiler, its options; both units are compiled in one command and linked without libraries.
ELF = [
    ("clang-O0", "clang", "-O0"),
    ("clang-O2", "clang", "-O2"),
    ("clang-O2-linked-by-lld", "clang", "-O2", *LLD),
    ("clang-2", "clang", "-O2", "-gdwarf-2"),
    ("clang-3", "clang", "-O0", "-gdwarf-3"),
    ("clang-4", "clang", "-Os", "-gdwarf-4"),
    ("clang-64-bit-dwarf", "clang", "-O2", "-gdwarf64", "-gdwarf-5"),
    ("clang-lines-only", "clang", "-O2", "-gline-tables-only"),
    ("clang-folded", "clang", "-O2", "-ffunction-sections", *LLD, "-Wl,--icf=all", "-Wl,--gc-sections"),
    ("clang-blocks", "clang", "-O2", "-fbasic-block-sections=all", "-funique-basic-block-section-names", *LLD),
    ("clang-lto", "clang", "-O2", "-flto", *LLD, "-Wl,-u,memset"),
    ("clang-zlib", "clang", "-O2", "-gz=zlib"),
    ("clang-zstd", "clang", "-O2", "-gz=zstd", *LLD),
    ("clang-split", "clang", "-O2", "-gsplit-dwarf"),
    ("clang-split-4", "clang", "-O2", "-gsplit-dwarf", "-gdwarf-4"),
    ("clang-types", "clang", "-O2", "-fdebug-types-section"),
    ("clang-aarch64", "clang", "-O2", "--target=aarch64-linux-gnu", *LLD),
    ("clang-arm", "clang", "-O2", "--target=armv7a-linux-gnueabihf", *LLD, "-Wl,--unresolved-symbols=ignore-all"),
    ("clang-riscv", "clang", "-O2", "--target=riscv64-linux-gnu", "-mno-relax", *LLD, "-Wl,--unresolved-symbols=ignore-all"),
    ("gcc-O0", "gcc", "-O0"),
    ("gcc-O3", "gcc", "-O3"),
    ("gcc-2", "gcc", "-O2", "-gdwarf-2"),
    ("gcc-2-strict", "gcc", "-O2", "-gdwarf-2", "-gstrict-dwarf"),
    ("gcc-3", "gcc", "-O2", "-gdwarf-3"),
    ("gcc-4", "gcc", "-Os", "-gdwarf-4"),
    ("gcc-split", "gcc", "-O2", "-gsplit-dwarf"),
    ("gcc-types", "gcc", "-O1", "-fdebug-types-section"),
]
# Name, target, options of the compiler, options of the linker.
PE = [
    ("x64-O0", "x86_64", ("-O0",), ()),
    ("x64-O2", "x86_64", ("-O2",), ()),
    ("x64-folded", "x86_64", ("-O2", "-ffunction-sections"), ("/opt:icf", "/opt:ref")),
    ("x64-hot-and-cold", "x86_64", ("-O2", "-mllvm", "-hot-cold-split=true"), ()),
    ("x64-incremental", "x86_64", ("-O1", "-ffunction-sections"), ("/incremental",)),
    ("x64-lines-only", "x86_64", ("-O2", "-gline-tables-only"), ()),
    ("x64-large-pages", "x86_64", ("-O2",), ("/pdbpagesize:16384",)),
    ("x86-O0", "i686", ("-O0",), ("/safeseh:no",)),
    ("x86-O2", "i686", ("-O2",), ("/safeseh:no",)),
    ("arm64-O0", "aarch64", ("-O0",), ()),
    ("arm64-O2", "aarch64", ("-O2",), ()),
]


def run(*argv, **more):
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True, errors="replace", check=False, **more)


def place(path, line):
    return (path.replace("\\", "/"), line) if path and line else ("", 0)


def plain(name):
    """A linker name in the form to compare: no suffix of a cloned part, one kind of constructor, one name for folded code."""
    name = re.sub(r"(\.(constprop|cold|part|isra|__part|eh)(\.\d+)*)+$", "", name or "")
    return re.sub(r"([CD])[0-5](?=[EIv])", r"\1x", name.removeprefix("__second_sect_of_")).replace("same_b", "same_a")


def code_of(image):
    """Yields (what llvm-symbolizer takes, what this program takes) for the address of each byte of code."""
    printed = run("llvm-readobj-19", "--sections", "--program-headers", "--elf-output-style=LLVM", image).stdout
    elf = "Format: elf" in printed
    loads = [int(re.search(r"VirtualAddress: (\w+)", part)[1], 16) for part in printed.split("ProgramHeader {")[1:]
             if "PT_LOAD" in part]
    base = min(loads) & ~0xFFF if elf else 0
    for section in printed.split("ProgramHeaders [")[0].split("Section {")[1:]:
        if ("SHF_EXECINSTR" if elf else "IMAGE_SCN_MEM_EXECUTE") in section:
            start = re.search(r"Address: (0x\w+)" if elf else r"VirtualAddress: (0x\w+)", section)[1]
            size = re.search(r"Size: (\d+)" if elf else r"VirtualSize: (0x\w+)", section)[1]
            yield from ((at, at - base) for at in range(int(start, 16), int(start, 16) + int(size, 0)))


class Compiled(e2e.Case):
    def compile(self, *argv):
        done = run(*argv, cwd=self.folder)
        return done.returncode == 0

    def answers(self, image):
        """What llvm-symbolizer prints for each byte of code: a list of frames."""
        places = list(code_of(image))
        options = ["--obj=" + str(image), "--inlines", "--output-style=JSON", "--no-demangle"]
        options += ["--relative-address"] if image.suffix == ".exe" else []
        printed = run("llvm-symbolizer-19", *options, input="".join(f"{at:#x}\n" for at, _ in places), cwd=self.folder)
        lines = [json.loads(line)["Symbol"] for line in printed.stdout.splitlines()]
        frames = [[(plain(f["FunctionName"]), *place(f["FileName"], f["Line"])) for f in line] for line in lines]
        return {offset: frame for (_, offset), frame in zip(places, frames, strict=True)}

    def differences(self, image, symbols, twin=None):
        """Where this program and llvm-symbolizer differ, and how many addresses have a line."""
        judges = [self.answers(image)] + ([self.answers(twin)] if twin is not None else [])
        asked = "".join(f"> {i}\n{image.name}!{offset:#x}\n" for i, offset in enumerate(judges[0]))
        named = [option for file in symbols for option in ("--symbols", file)]
        done = e2e.twinstack("resolve", "--ndjson", "--names", "decorated", "--symbols", image, *named, "-", stdin=asked)
        self.assertEqual(done.returncode, 0, done.stderr)
        wrong, with_line = [], 0
        for offset, line in zip(judges[0], done.stdout.splitlines(), strict=True):
            got = [(plain(f["function"]), *place(f["file"], f["line"])) for f in json.loads(line)["frames"]]
            wanted = [judge[at] for judge in judges for at in (offset, offset + 1) if at in judge]
            # Code without a line is padding or belongs to no function, so either name is right.
            has_line = len(wanted[0]) > 1 or wanted[0][0][2] != 0
            with_line += has_line
            if twin is not None and len(wanted[-1]) == 1 and wanted[-1][0][2] == 0:
                continue  # a jump that DWARF marks "no line"
            lines_agree = [g[1:] for g in got] in [[w[1:] for w in frames] for frames in wanted]
            names_agree = [g[0] for g in got] == [w[0] for w in wanted[0]]
            if not (lines_agree and names_agree) and (has_line or len(got) != 1 or (got[0][0] and got[0][2])):
                wrong.append((hex(offset), got, *wanted))
        return wrong, with_line

    def test_elf(self):
        for name, compiler, *options in ELF:
            program = shutil.which({"clang": "clang-19"}.get(compiler, compiler))
            image = self.folder / name
            argv = [program, "-g", *options, *COMMON, "-nostdlib", "-static", "-Wl,-e,entry", SOURCES / "main.cpp",
                    SOURCES / "other.c", "-o", image]
            with self.subTest(name):
                if program is None or not self.compile(*argv):
                    self.skipTest("this compiler cannot make it")
                wrong, with_line = self.differences(image, self.folder.glob(f"{name}*.dwo"))
                self.assertGreater(with_line, 500)
                self.assertEqual(wrong[:3], [], f"{len(wrong)} of {with_line}")

    def test_pe_with_pdb(self):
        if shutil.which("clang-19") is None or shutil.which("lld-link-19") is None:
            self.skipTest("no clang-19 and lld-link-19")
        for name, target, options, link in PE:
            with self.subTest(name):
                image, twin = self.folder / f"{name}.exe", self.folder / f"{name}-dwarf.exe"
                made = self.link(image, target, "-gcodeview", options, link)
                if not made or not self.link(twin, target, "-gdwarf", options, link):
                    self.skipTest("this compiler cannot make it")
                wrong, with_line = self.differences(image, [image.with_suffix(".pdb")], twin)
                self.assertGreater(with_line, 500)
                self.assertEqual(wrong[:3], [], f"{len(wrong)} of {with_line}")

    def link(self, image, target, form, options, link):
        objects = [image.with_suffix(f".{file}.obj") for file in ("main.cpp", "other.c")]
        for file, to in zip(("main.cpp", "other.c"), objects, strict=True):
            if not self.compile("clang-19", f"--target={target}-pc-windows-msvc", "-g", form, *options, *COMMON,
                                "-mno-stack-arg-probe", "-c", SOURCES / file, "-o", to):
                return False
        kind = "/debug" if form == "-gcodeview" else "/debug:dwarf"
        return self.compile("lld-link-19", kind, "/entry:entry", "/subsystem:console", "/nodefaultlib", f"/out:{image}",
                            *objects, *link)


if __name__ == "__main__":
    e2e.main()
