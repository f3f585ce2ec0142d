"""The witnesses of the suite's addresses: each reader is asked every instruction of a program, and so is the program itself.

No two share code that reads debug information: LLVM's libraries, binutils' BFD, GDB, elfutils' libdw, Microsoft's DIA. The program
states its marks (reference_programs/mark.h), which no compiler's line table has a part in."""

import functools
import hashlib
import json
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "reference/adapters"))
import addr2line  # noqa: E402
import address_files  # noqa: E402
import gdb_addresses  # noqa: E402
import llvm_symbolizer  # noqa: E402
import reference_containers as containers  # noqa: E402

# DIA under Wine: msdia140.dll and tests/dia/ask.c as a program. Without them its stored answers are read.
DIA, DIA_ASKER = os.environ.get("SUITE_DIA"), os.environ.get("SUITE_DIA_ASKER")
DIA_STORED = ROOT / "reference_dia.json.xz"  # {SHA-256 of a PDB: {rva: frames}}: facts, nothing of Microsoft's


def run(*command, **options):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True, **options).stdout


def instructions(image):
    """[(rva, mnemonic, address that it calls or jumps to)] of all code, in order; code that ends a section has a last row ("end")."""
    base, rows = address_files.base(image), []
    for line in run("llvm-objdump-19", "-d", "--no-show-raw-insn", "--no-print-imm-hex", image).splitlines():
        if line.startswith("Disassembly of section"):
            keep = line.split()[-1].rstrip(":") in (".text", ".text.unlikely", "__TEXT,__text")
        elif keep_row := re.match(r" *([0-9a-f]+):\s+(\S+)", line):
            if keep:
                rows.append((int(keep_row[1], 16) - base, keep_row[2]))
    return rows


def functions(image):
    """[(start, end, name)] by the image's own table of symbols, for the choice of cases alone."""
    base = address_files.base(image)
    out = []
    for line in run("llvm-nm-19", "--defined-only", "-n", "-S", image, stderr=subprocess.DEVNULL).splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW":
            out.append((int(words[0], 16) - base, int(words[0], 16) - base + int(words[1], 16), words[3]))
    return out


def marks(program, folder):
    """{rva: [line of the mark, line of the call that led to it, ...]}, innermost first; an unoptimised program states only the first."""
    image, out = folder / program.image, {}
    base = address_files.base(image)
    rows = []
    stated = folder / f"{program.name}.marks"
    if stated.is_file():
        for line in stated.read_text(encoding="ascii").splitlines():
            at, _, name = line.split()
            rows.append((int(at, 16) - base, *map(int, name.split(".")[-2:])))
    else:
        with tempfile.TemporaryDirectory() as place:
            copy = pathlib.Path(place, "marks")
            section = "__DATA,__marks" if "mach-o" in program.needs else ".marks"
            subprocess.run(["llvm-objcopy-19", f"--dump-section={section}={copy}", image, os.devnull], check=False, stderr=subprocess.DEVNULL)
            data = copy.read_bytes() if copy.is_file() else b""
        rows = [row for row in struct.iter_unpack("<QII", data[:len(data) // 16 * 16])]
    for at, low, high in rows:
        number, lines = low | high << 30, []
        while number:
            lines.append(number % 1000)
            number //= 1000
        if at:
            out[at] = lines
    return out


def code(image):
    """The bytes of .text."""
    with tempfile.TemporaryDirectory() as place:
        run("llvm-objcopy-19", f"--dump-section=.text={place}/text", image, os.devnull)
        return pathlib.Path(place, "text").read_bytes()


def by_dwarf(image):
    """As functions(), of a PE file, whose symbols have no sizes."""
    out, low, inside, base = [], None, False, address_files.base(image)
    for line in run("llvm-dwarfdump-19", "--debug-info", image, stderr=subprocess.DEVNULL).splitlines():
        if "DW_TAG_" in line:
            inside, low = "DW_TAG_subprogram" in line, None
        elif inside and (pair := re.search(r"\[0x([0-9a-f]+), 0x([0-9a-f]+)\)", line)):
            out.append((int(pair[1], 16) - base, int(pair[2], 16) - base, ""))
        elif inside and (at := re.search(r"DW_AT_(low|high)_pc\s+\(0x([0-9a-f]+)\)", line)):
            if at[1] == "high" and low is not None:
                out.append((low, int(at[2], 16) - base, ""))
            low = int(at[2], 16) - base
    names = {}
    for line in run("llvm-nm-19", "--defined-only", image, stderr=subprocess.DEVNULL).splitlines():
        at, kind, name = line.split(maxsplit=2)
        if kind in "tTwW" and not name.startswith("."):
            names.setdefault(int(at, 16) - base, set()).add(name)
    return sorted((start, end, name) for start, end, _ in set(out) if start > 0 for name in names.get(start, [""]))


def by_llvm(image, rvas, *options):
    tool, base = llvm_symbolizer.Symbolizer("llvm-symbolizer-19", *options), address_files.base(image)
    out = {}
    for rva in rvas:
        try:
            out[rva] = llvm_symbolizer.frames(tool.ask(image, base + rva))
        except RuntimeError:  # it crashed: 36 of BUGS.md
            out[rva] = []
    tool.process.kill()
    tool.process.wait()
    return out


def by_gdb(image, rvas):
    tool = gdb_addresses.Gdb(gdb_addresses.WINDOWS if address_files.is_windows(image) else "gdb-multiarch")
    base = address_files.base(image)
    out = {rva: gdb_addresses.frames(tool.ask(image, base + rva)) for rva in rvas}
    tool.process.kill()
    tool.process.wait()
    return out


def by_addr2line(program, image, rvas):
    base = address_files.base(image)
    return dict(zip(rvas, addr2line.run(program, image, [base + rva for rva in rvas])))


@functools.lru_cache(maxsize=None)
def stored():
    return json.loads(lzma.decompress(DIA_STORED.read_bytes()))


def by_dia(symbols, rvas):
    """What DIA answers; of a PDB that it was asked before, what it answered then; None of another."""
    key = hashlib.sha256(symbols.read_bytes()).hexdigest()
    if not DIA or not DIA_ASKER:
        return {int(rva, 16): frames for rva, frames in stored()[key].items()} if key in stored() else None
    return ask_dia(symbols, rvas)


def ask_dia(symbols, rvas):
    """By tests/dia/ask.c."""
    done = run("wine", DIA_ASKER, "Z:" + DIA.replace("/", "\\"), "Z:" + str(symbols.resolve()).replace("/", "\\"), input="".join(f"{rva:x}\n" for rva in rvas),
               stderr=subprocess.DEVNULL, env={**os.environ, "WINEDLLOVERRIDES": "mscoree,mshtml=;msdia140=n"})
    out = {}
    for row in map(json.loads, done.splitlines()):
        inner = row["frames"][::-1]
        out[int(row["rva"], 16)] = [{**address_files.frame(name, file, first, i + 1 < len(inner)), **({"last": last} if last != first else {})}
                                    for i, (name, file, first, last) in enumerate(inner)]
    return out


def store_dia(symbols, answers):
    """Keeps what DIA answered about a PDB."""
    rows = {**stored(), hashlib.sha256(symbols.read_bytes()).hexdigest(): {f"{rva:#x}": frames for rva, frames in answers.items()}}
    DIA_STORED.write_bytes(lzma.compress(json.dumps(rows, separators=(",", ":")).encode("ascii"), preset=9))
    stored.cache_clear()


def asked(program, folder, rvas):
    """{witness: {rva: frames}}"""
    image, out = folder / program.image, {}
    if program.capability == "addresses.pdb":
        symbols = folder / program.symbols
        if program.again:  # the twin is what witnesses can read
            twin = folder / f"{program.twin}.pdb"
            assert code(image) == code(twin.with_suffix(".dll")), program.name
            assert program.again != "msfz" or containers.streams(symbols.read_bytes()) == containers.streams(twin.read_bytes()), program.name
            image, symbols = twin.with_suffix(".dll"), twin
        out["llvm"] = by_llvm(image, rvas)
        if dia := by_dia(symbols, rvas):
            out["dia"] = dia
        return out
    out["llvm"] = by_llvm(image, rvas)
    if "mach-o" in program.needs:  # Debian's GDB, binutils and elfutils read none
        with tempfile.TemporaryDirectory() as place:
            image = pathlib.Path(place, f"{program.name}.so")
            image.write_bytes(containers.elf_of_macho((folder / program.image).read_bytes(), (folder / program.symbols).read_bytes()))
            return {**out, **by_elf_readers(program, image, rvas)}
    return {**out, **by_elf_readers(program, image, rvas, folder / f"{program.twin}.so")}


def by_elf_readers(program, image, rvas, twin=None):
    out = {}
    out["gdb"] = by_gdb(twin if twin and program.twin and code(twin) == code(image) else image, rvas)
    if program.windows:
        out["bfd"] = by_addr2line("x86_64-w64-mingw32-addr2line", image, rvas)
    else:
        if program.processor != "arm64":
            out["bfd"] = by_addr2line("addr2line", image, rvas)
        if shutil.which("eu-addr2line"):
            out["elfutils"] = by_addr2line("eu-addr2line", image, rvas)
    return out
