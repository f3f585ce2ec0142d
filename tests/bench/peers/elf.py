#!/usr/bin/env python3
"""Times twinstack, LLVM's, binutils' and elfutils' tools on one ELF file, in turn, and prints a table with the ratios, as run.py does.

    elf.py BUILD IMAGE [--rounds N]

IMAGE is a shared library with DWARF, as `tests/bench/make_program.py FOLDER FILES elf` makes it.  llvm-gsymutil uses all processors,
ours one; the table has processor time and wall time.
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import run
from run import Tool


def code_addresses(image, count):
    """Random addresses in .text, which are offsets from the base, too, because the first segment is at 0."""
    printed = subprocess.run(["llvm-readelf-19", "-S", "-l", image], capture_output=True, text=True, check=True).stdout
    if not re.search(r"^ *LOAD +0x0+ 0x0+ ", printed, re.M):
        sys.exit(f"elf.py: {image}: the first segment is not at 0; a shared library is needed")
    start, size = (int(text, 16) for text in re.search(r" \.text +PROGBITS +(\S+) +\S+ +(\S+)", printed).groups())
    numbers = random.Random(1)
    return [f"{start + numbers.randrange(size):#x}" for _ in range(count)]


def tasks(o, work):
    ours, bench = o.build / "bin/twinstack", o.build / "tests/bench_objects"
    llvm, gsym = run.find_tool("llvm-symbolizer", None), run.find_tool("llvm-gsymutil", None)
    gnu = {name: run.find_tool(name, None) for name in ("addr2line", "eu-addr2line")}
    addresses = code_addresses(o.pdb, 20000)
    out = []
    for title, count in (("one address, nothing prepared", 1), ("2000 addresses, no index", 2000), ("20000 addresses, no index", 20000)):
        frames = run.frames_file(work / f"frames{count}", o.pdb.name, addresses[:count])
        plain = work / f"plain{count}"
        plain.write_text("\n".join(addresses[:count]) + "\n")
        tools = [Tool("twinstack", [ours, "resolve", "-j", "1", "--index", "never", "--symbols", o.pdb, frames], True,
                      env={"TWINSTACK_CACHE": str(work / "nowhere")})]
        if llvm:
            tools.append(Tool("llvm-symbolizer", [llvm, f"--obj={o.pdb}"], feed=plain))
        for name, path in gnu.items():
            if path:
                tools.append(Tool(name, [path, "-i", "-f", "-e", o.pdb], feed=plain))
        out.append((title, tools))
    index = [Tool("twinstack", [bench, "build", o.pdb, work / "made.twindex"], True)]
    if gsym:
        index += [Tool(f"llvm-gsymutil, {name}", [gsym, *words, "--convert", o.pdb, "-o", work / "made.gsym"])
                  for name, words in (("all processors", []), ("one thread", ["--num-threads=1"]))]
    return [*out, ("index", index)]


def main():
    parser = argparse.ArgumentParser(description="times twinstack and other tools on an ELF file")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("pdb", type=pathlib.Path, metavar="IMAGE")
    parser.add_argument("--rounds", type=int, default=7)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = tasks(o, pathlib.Path(folder))
        run.run_rounds(done, o.rounds)
        run.print_table(o, done)


if __name__ == "__main__":
    main()
