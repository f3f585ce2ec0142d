"""Builds the programs of the suite's addresses from reference_programs/: build(FOLDER, OUT, NAMES) writes images and symbol files.

Each program is the same code by another compiler, format, version or linker. Needs the packages that ./run installs, and for some
dwz and rustc. The same versions of all tools give the same bytes; the sources' folder is called /suite in them."""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess

import reference_containers as containers

SOURCES = pathlib.Path(__file__).resolve().parent / "reference_programs"
PLACE = "/suite"
FREE = ["-ffreestanding", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-nostdlib"]
PLUS = ["-std=c++20", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"]
GCC = ["-fdebug-prefix-map={folder}=" + PLACE, "-frandom-seed=suite", "-gno-record-gcc-switches"]
CLANG = ["-ffile-compilation-dir=" + PLACE, "-fno-ident"]


@dataclasses.dataclass
class Program:
    """NAME says compiler, format and what is special. SYMBOLS: the file to look for; None: the image itself."""
    name: str
    processor: str
    compiler: str
    flags: list
    link: list
    image: str
    symbols: str = None
    after: list = dataclasses.field(default_factory=list)
    needs: list = dataclasses.field(default_factory=list)
    sources: tuple = ("shapes.c", "names.cpp")
    twin: str = None  # the same code and information in another container: what readers are asked that cannot read, or end at, this one
    again: str = None  # msfz or omap: how it is made of its twin
    windows: bool = False
    published: str = None  # not built here: which file of which project it is; programs/PUBLISHED.md has the licence

    @property
    def capability(self):
        return "addresses.pdb" if self.symbols and self.symbols.endswith(".pdb") else "addresses.dwarf"


def elf(name, compiler, *flags, processor="x64", link=(), **more):
    target = {"x64": [], "x86": ["-m32"], "arm64": []}[processor] if "gcc" in compiler else \
        ["--target=" + {"x64": "x86_64", "x86": "i686", "arm64": "aarch64"}[processor] + "-linux-gnu"]
    own = GCC if "gcc" in compiler else CLANG
    if "-gsplit-dwarf" in flags:  # the tools look for the .dwo files below the folder of the compilation: that of the image
        own = [flag.replace(PLACE, ".") for flag in own]
    driver = [compiler, *target, "-shared", *FREE, "-Wl,--build-id=sha1", *([] if "clang" in compiler else GCC[:2]), "-Wl,-z,norelro,-z,max-page-size=4096",
              *(["-Wl,-z,noseparate-code"] if "gcc" in compiler and "gold" not in str(link) else [] if "gcc" in compiler else ["-fuse-ld=lld-19"])]
    return Program(name, processor, compiler, [*target, "-fPIC", "-fno-semantic-interposition", *own, *flags], [*driver, *link], f"{name}.so", **more)


def mingw(name, *flags, processor="x64", link=(), **more):
    compiler = {"x64": "x86_64-w64-mingw32-gcc", "x86": "i686-w64-mingw32-gcc"}[processor]
    return Program(name, processor, compiler, [*GCC, *flags],
                   [compiler, "-shared", *FREE, "-Wl,--no-insert-timestamp", *link], f"{name}.dll", windows=True, **more)


def llvm_mingw(name, compiler, *flags, link=(), **more):
    return Program(name, "x64", compiler, ["--target=x86_64-w64-windows-gnu", *CLANG, *flags],
                   ["ld.lld-19", "-m", "i386pep", "--shared", "--no-insert-timestamp", "--entry=callee", *link], f"{name}.dll", windows=True, **more)


def pdb(name, compiler, *flags, processor="x64", link=(), **more):
    target = {"x64": "x86_64", "x86": "i686", "arm64": "aarch64"}[processor]
    return Program(name, processor, compiler, [f"--target={target}-pc-windows-msvc", *CLANG, "-g", "-gcodeview", "-fno-ms-compatibility", *flags],
                   ["lld-link-19", "/dll", "/noentry", "/nodefaultlib", "/debug", "/brepro", f"/pdbaltpath:{name}.pdb", "/pdbsourcepath:" + PLACE,
                    *(["/safeseh:no"] if processor == "x86" else []), *link], f"{name}.dll", f"{name}.pdb", windows=True, **more)


def macho(name, *flags, processor="x64", **more):
    """A library with its dSYM. The objects of its debug map are named relative to the folder; Mach-O has no aliases."""
    arch = {"x64": "x86_64"}.get(processor, processor)
    return Program(name, processor, "clang-19", [f"--target={arch}-apple-macos11", *CLANG, "-Dalias(x)=unused", *flags],
                   ["ld64.lld-19", "-dylib", "-arch", arch, "-platform_version", "macos", "11.0", "11.0", "-undefined", "dynamic_lookup", "-no_fixup_chains",
                    "-oso_prefix", "{folder}/"], f"{name}.dylib", f"{name}.dylib.dSYM/Contents/Resources/DWARF/{name}.dylib",
                   after=[["dsymutil-19", "{image}"]], needs=["mach-o"], **more)


SPLIT = {"needs": ["split-dwarf"]}
GCC_SPLIT = {**SPLIT, "sources": ("shapes.c",)}  # gcc 12 makes another id of its C++ unit in each folder
PROGRAMS = [
    *(elf(f"gcc-dwarf{v}", "gcc", "-O2", f"-gdwarf-{v}") for v in (2, 3, 4, 5)),
    elf("gcc-o0", "gcc", "-O0", "-gdwarf-5"),
    elf("gcc-o1-columns", "gcc", "-O1", "-gdwarf-5", "-gcolumn-info"),
    elf("gcc-o3-dwarf64", "gcc", "-O3", "-gdwarf-5", "-gdwarf64"),
    elf("gcc-types", "gcc", "-O2", "-gdwarf-4", "-fdebug-types-section"),
    elf("gcc-sections", "gcc", "-O2", "-gdwarf-5", "-ffunction-sections", link=("-fuse-ld=gold", "-Wl,--icf=all,--gc-sections")),
    elf("gcc-lto", "gcc", "-O2", "-gdwarf-5", "-flto=1", "-ffat-lto-objects", link=("-O2", "-flto=1", "-g")),
    elf("gcc-split4", "gcc", "-O2", "-gdwarf-4", "-gsplit-dwarf", **GCC_SPLIT),
    elf("gcc-split5", "gcc", "-O2", "-gdwarf-5", "-gsplit-dwarf", **GCC_SPLIT),
    elf("gcc-packed5", "gcc", "-O2", "-gdwarf-4", "-gsplit-dwarf", symbols="gcc-packed5.so.dwp", **GCC_SPLIT),
    elf("gcc-dwz", "gcc", "-O2", "-gdwarf-4", after=[["{dwz}", "{image}"]], needs=["dwz"]),
    elf("gcc-dwz5", "gcc", "-O2", "-gdwarf-5", after=[["{dwz}", "{image}"]], needs=["dwz"]),
    elf("gcc-compressed", "gcc", "-O2", "-gdwarf-5", link=("-Wl,--compress-debug-sections=zlib",), needs=["compressed"]),
    elf("gcc-debuglink", "gcc", "-O2", "-gdwarf-4", symbols="gcc-debuglink.so.debug",
        after=[["objcopy", "--only-keep-debug", "{image}", "{image}.debug"], ["objcopy", "--strip-debug", "--add-gnu-debuglink={image}.debug", "{image}"]]),
    elf("gcc-x86", "gcc", "-O2", "-gdwarf-5", processor="x86"),
    *(elf(f"clang19-dwarf{v}", "clang-19", "-O2", f"-gdwarf-{v}") for v in (2, 3, 4, 5)),
    elf("clang14-dwarf5", "clang-14", "-O2", "-gdwarf-5"),
    elf("clang19-o0", "clang-19", "-O0", "-gdwarf-5"),
    elf("clang19-o1-dwarf64", "clang-19", "-O1", "-gdwarf-5", "-gdwarf64"),
    elf("clang19-lines-only", "clang-19", "-O2", "-gdwarf-5", "-gline-tables-only"),
    elf("clang19-aranges", "clang-19", "-O2", "-gdwarf-4", "-gdwarf-aranges"),
    elf("clang19-types", "clang-19", "-O2", "-gdwarf-5", "-fdebug-types-section"),
    elf("clang19-simple-names", "clang-19", "-O2", "-gdwarf-5", "-gsimple-template-names"),
    elf("clang19-discriminators", "clang-19", "-O2", "-gdwarf-5", "-fdebug-info-for-profiling", "-funroll-loops"),
    elf("clang19-icf", "clang-19", "-O2", "-gdwarf-5", "-ffunction-sections", link=("-Wl,--icf=all,--gc-sections",)),
    elf("clang19-lto", "clang-19", "-O2", "-gdwarf-5", "-flto", link=("-flto", "-O2")),
    elf("clang19-thin-lto", "clang-19", "-O2", "-gdwarf-5", "-flto=thin", link=("-flto=thin", "-O2")),
    elf("clang19-hot-cold", "clang-19", "-O2", "-gdwarf-5", "-mllvm", "-hot-cold-split"),
    elf("clang19-split4", "clang-19", "-O2", "-gdwarf-4", "-gsplit-dwarf", **SPLIT),
    elf("clang19-split5", "clang-19", "-O2", "-gdwarf-5", "-gsplit-dwarf", **SPLIT),
    elf("clang19-split5-ranges", "clang-19", "-O2", "-gdwarf-5", "-gsplit-dwarf", "-ffunction-sections", "-fno-split-dwarf-inlining", **SPLIT),
    elf("clang19-packed5", "clang-19", "-O2", "-gdwarf-5", "-gsplit-dwarf", symbols="clang19-packed5.so.dwp", twin="clang19-split5", **SPLIT),
    elf("clang19-compressed", "clang-19", "-O2", "-gdwarf-5", link=("-Wl,--compress-debug-sections=zlib",), needs=["compressed"]),
    elf("clang19-x86", "clang-19", "-O2", "-gdwarf-5", processor="x86"),
    elf("clang19-arm64", "clang-19", "-O2", "-gdwarf-5", processor="arm64"),
    elf("clang19-arm64-o0", "clang-19", "-O0", "-gdwarf-4", processor="arm64"),
    *(mingw(f"mingw-dwarf{v}", "-O2", f"-gdwarf-{v}") for v in (2, 4, 5)),
    mingw("mingw-o0", "-O0", "-gdwarf-5"),
    mingw("mingw-x86", "-O2", "-gdwarf-5", processor="x86"),
    mingw("mingw-x86-dwarf4", "-O2", "-gdwarf-4", processor="x86"),
    mingw("mingw-debuglink", "-O2", "-gdwarf-4", symbols="mingw-debuglink.dll.debug",
          after=[["x86_64-w64-mingw32-objcopy", "--only-keep-debug", "{image}", "{image}.debug"],
                 ["x86_64-w64-mingw32-objcopy", "--strip-debug", "--add-gnu-debuglink={image}.debug", "{image}"]]),
    llvm_mingw("clang19-pe-dwarf4", "clang-19", "-O2", "-gdwarf-4"),
    llvm_mingw("clang19-pe-dwarf5", "clang-19", "-O2", "-gdwarf-5"),
    pdb("clang19-pdb-o2", "clang-19", "-O2", link=("/opt:noref,noicf",)),
    pdb("clang19-pdb-o0", "clang-19", "-O0"),
    pdb("clang19-pdb-o1", "clang-19", "-O1", link=("/pdbpagesize:8192",)),
    pdb("clang19-pdb-icf", "clang-19", "-O2", "-ffunction-sections", link=("/opt:ref,icf",)),
    pdb("clang19-pdb-lto", "clang-19", "-O2", "-flto"),
    pdb("clang19-pdb-thin-lto", "clang-19", "-O2", "-flto=thin"),
    pdb("clang19-pdb-columns", "clang-19", "-O2", "-gcolumn-info", "-gno-inline-line-tables"),
    pdb("clang19-pdb-lines-only", "clang-19", "-O2", "-gline-tables-only"),
    pdb("clang19-pdb-hot-cold", "clang-19", "-O2", "-mllvm", "-hot-cold-split", "-mllvm", "-hotcoldsplit-threshold=-1"),
    pdb("clang14-pdb", "clang-14", "-O2", "-DNO_MARKS"),
    pdb("clang19-pdb-x86", "clang-19", "-O2", processor="x86"),
    pdb("clang19-pdb-arm64", "clang-19", "-O2", processor="arm64"),
    pdb("clang19-pdb-arm64-o0", "clang-19", "-O0", processor="arm64"),
    pdb("clang19-pdb-ordered", "clang-19", "-O2", "-ffunction-sections", link=("/opt:noref,noicf", "/order:@order.txt")),
    pdb("clang19-msfz", "clang-19", "-O2", link=("/opt:noref,noicf",), twin="clang19-pdb-o2", again="msfz", needs=["msfz"]),
    pdb("clang19-omap", "clang-19", "-O2", "-ffunction-sections", link=("/opt:noref,noicf",), twin="clang19-pdb-ordered", again="omap", needs=["omap"]),
]
PROGRAMS += [
    macho("clang19-macho", "-O2", "-gdwarf-5"),
    macho("clang19-macho-dwarf4", "-O1", "-gdwarf-4"),
    macho("clang19-macho-arm64", "-O2", "-gdwarf-5", processor="arm64"),
]


def rust(name, *flags, **more):
    return Program(name, "x64", "rustc", ["--edition", "2021", "--emit", "obj", "-Cpanic=abort", "-g", f"--remap-path-prefix={{folder}}={PLACE}",
                                          "-Crelocation-model=pic", *flags],
                   ["ld.lld-19", "-shared", "--build-id=sha1", "-z", "norelro", "-z", "max-page-size=4096", "-z", "noseparate-code", "--gc-sections"],
                   f"{name}.so", sources=("names.rs",), **more)


PROGRAMS += [
    rust("rust-v0", "-Copt-level=2", "-Csymbol-mangling-version=v0", "-Cdwarf-version=5"),
    rust("rust-legacy", "-Copt-level=2", "-Zunstable-options", "-Csymbol-mangling-version=legacy"),
    rust("rust-o0", "-Copt-level=0", "-Csymbol-mangling-version=v0"),
]


def published(processor, name, image, origin):
    """An image and a PDB of Microsoft's compiler and linker, whose licence lets others copy them."""
    return Program(name, processor, "cl", [], [], image, f"{image.split('.')[0]}.pdb", windows=True, published=origin)


PROGRAMS += [
    published("x86", "msvc13-ltcg-x86", "crash.exe", "getsentry/symbolic@a5980e8b:symbolic-testutils/fixtures/windows"),
    published("x64", "msvc31-seh", "nested_collided.exe", "rizinorg/rizin-testbins@d903ae9f:pe/microsoft_seh_tests/x64"),
    published("arm64", "msvc31-arm64", "xframe_eh_exe.exe", "rizinorg/rizin-testbins@d903ae9f:pe/microsoft_seh_tests/ARM64"),
]


def run(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          env={**os.environ, "RUSTC_BOOTSTRAP": "1", "SOURCE_DATE_EPOCH": "0"})
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}")


def compiled(program, folder):
    objects = []
    for source in program.sources:
        plus = source.endswith(".cpp")
        output = f"{program.name}-{source.split('.')[0]}.o"
        flags = [flag.replace("{folder}", str(folder)) for flag in program.flags]
        if program.compiler == "rustc":
            run(["rustc", *flags, "-o", output, source], folder)
        else:
            if "mach-o" in program.needs:  # its assembler has another name of the section of marks than mark.h
                flags = [*flags, "-D__ELF__", "-no-integrated-as", "-S"]
            named = ["-Xclang", f"-object-file-name={output}"] if "-gcodeview" in flags else []
            run([program.compiler.replace("gcc", "g++") if plus else program.compiler, *FREE, *(PLUS if plus else ["-std=gnu11"]), *flags, *named,
                 "-c", "-w", "-o", output, source], folder)
            if "mach-o" in program.needs:
                text = (folder / output).read_text(encoding="utf-8").replace('.marks,"",%progbits', "__DATA,__marks,regular,no_dead_strip")
                (folder / f"{output}.s").write_text(text, encoding="utf-8")
                run([program.compiler, program.flags[0], "-w", "-c", "-o", output, f"{output}.s"], folder)
                os.utime(folder / output, (1, 1))  # the debug map states it
        objects.append(output)
    return objects


def shipped(program, folder):
    """The files of a program that belong to the suite."""
    files = [program.image, *([program.symbols] if program.symbols else [])]
    if program.windows and "gcc" in program.compiler:
        files.append(f"{program.name}.marks")
    if "split-dwarf" in program.needs and not program.symbols:
        files += sorted(path.name for path in folder.glob("*.dwo"))
    return files


def procedures(symbols):
    """{(module, number, name): (rva, bytes)} of a PDB whose first section is the code."""
    text, out, module = subprocess.run(["llvm-pdbutil-19", "dump", "-symbols", symbols], stdout=subprocess.PIPE, text=True, check=True).stdout, {}, 0
    for line in text.splitlines():
        module += "Mod " in line
        if found := re.search(r"S_[GL]PROC32 [^`]*`(.*)`", line):
            name = found[1]
        elif found := re.search(r"addr = 0001:(\d+), code size = (\d+)", line):
            number = sum(key[0] == module and key[2] == name for key in out)
            out[module, number, name] = 0x1000 + int(found[1]), int(found[2])
    return out


def made_again(program, folder, of):
    """The image and PDB of PROGRAM in FOLDER, of its twin in the folder OF."""
    twin_image, twin_symbols = ((of / f"{program.twin}.{end}").read_bytes() for end in ("dll", "pdb"))
    image, symbols = folder / program.image, folder / program.symbols
    if program.again == "msfz":
        image.write_bytes(containers.renamed(twin_image, program.symbols))
        symbols.write_bytes(containers.msfz(containers.streams(twin_symbols)))
        return
    now, then = procedures(of / f"{program.twin}.pdb"), procedures(symbols)
    moved = {start + size: 0 for start, size in now.values()}
    moved |= {now[key][0]: then[key][0] for key in now}
    starts = [containers.sections(data)[1] for data in (twin_image, image.read_bytes())]
    moved |= {starts[0][name]: starts[1][name] for name in starts[0] if name != ".text"}
    assert now.keys() == then.keys() and all(now[key][1] == then[key][1] for key in now)
    contents = containers.with_omap(containers.streams(symbols.read_bytes()), list(moved.items()), twin_image)
    symbols.write_bytes(containers.msf(contents))
    image.write_bytes(containers.renamed(twin_image, program.symbols, image.read_bytes()))


def build_one(program, out):
    """Builds it in a folder of its own in OUT, and returns that."""
    folder = out / "build" / program.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for source in SOURCES.iterdir():
        shutil.copy(source, folder)
    objects = compiled(program, folder)
    link = program.link
    if "/order:@order.txt" in link:  # the last function first
        listed = subprocess.run(["llvm-nm-19", "--defined-only", *objects], cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout
        (folder / "order.txt").write_text("".join(name + "\n" for name in re.findall(r"(?m)^\S+ T (\S+)$", listed)[::-1]), encoding="ascii")
    output = [f"/out:{program.image}"] if link[0].startswith("lld-link") else ["-o", program.image]
    run([*(word.replace("{folder}", str(folder)) for word in link), *output, *objects], folder)
    if program.symbols and program.symbols.endswith(".dwp"):
        run(["dwp" if program.compiler == "gcc" else "llvm-dwp-19", *(f for f in sorted(p.name for p in folder.glob("*.dwo"))), "-o", program.symbols], folder)
    if program.windows and "gcc" in program.compiler:
        program_marks = subprocess.run(["x86_64-w64-mingw32-nm", program.image], cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout
        (folder / f"{program.name}.marks").write_text("".join(line + "\n" for line in program_marks.splitlines() if "mark." in line), encoding="ascii")
        run(["x86_64-w64-mingw32-objcopy", "--wildcard", "--strip-symbol=mark.*", program.image], folder)
    if program.again:
        made_again(program, folder, build_one(next(p for p in PROGRAMS if p.name == program.twin), out))
    for command in program.after:
        run([word.format(image=program.image, dwz=shutil.which("dwz") or "dwz") for word in command], folder)
    return folder


if __name__ == "__main__":
    import sys
    place = pathlib.Path(sys.argv[1])
    for p in PROGRAMS:
        if len(sys.argv) < 3 or p.name in sys.argv[2:]:
            try:
                build_one(p, place)
            except RuntimeError as error:
                print("FAILED", p.name, str(error)[:1500])
