#!/usr/bin/python3
"""GDB's names of an address: gdb_addresses.py [PROGRAM]          PROGRAM: gdb-multiarch (if not given), gdb

Runs: one GDB for ELF files and one for PE files (x86_64-w64-mingw32-gdb), each for all questions; nothing is debugged. The frames are
what `backtrace` would print there: the line of find_pc_line, then each inlined block with the line of its call, by GDB's Python.
Without a block, the name is that of `info symbol`.
Seen with: GDB 13.1 of Debian 12.
By hand: `cd programs; gdb-multiarch -nx -batch -ex 'info scope *ADDRESS' -ex 'info line *ADDRESS' -ex 'info symbol ADDRESS' IMAGE`."""

import json
import re
import shutil
import subprocess
import sys

import address_files
import contestant

WINDOWS = "x86_64-w64-mingw32-gdb"
# Runs inside GDB: a line `ADDRESS` in, a line of JSON out.
INSIDE = r'''python
import gdb, json
def rows(pc):
    sal, block, out = gdb.find_pc_line(pc), gdb.block_for_pc(pc), []
    file, line = (sal.symtab.fullname(), sal.line) if sal.symtab else (None, 0)
    while block is not None and not block.is_global and not block.is_static:
        symbol = block.function
        if symbol is not None:
            out.append([symbol.linkage_name or symbol.name, symbol.name, file, line])
            file, line = (symbol.symtab.fullname() if symbol.symtab else None), symbol.line
        block = block.superblock
        if block is not None and not block.start <= pc < block.end and not block.is_static: # the class of a local class's method
            break
    if not out:
        text = gdb.execute("info symbol 0x%x" % pc, False, True)
        name = None if text.startswith("No symbol") else text.split(" in section")[0].rsplit(" + ", 1)[0]
        out = [[name, name, file, line]] if name or line else []
    return out
def ask(pc):
    try:
        print("ANSWER " + json.dumps(rows(pc)), flush=True)
    except Exception as error:
        print("ANSWER " + json.dumps({"error": str(error)}), flush=True)
end
'''


class Gdb:
    def __init__(self, program):
        self.program, self.image = program, None
        self.process = subprocess.Popen([program, "-nx", "-q"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, errors="replace")
        self.write("set confirm off\nset width 0\nset debuginfod enabled off\nset print demangle off\n" + INSIDE)

    def write(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def ask(self, image, address):
        """GDB's rows: linkage name, name, file, line."""
        if self.image != image:
            self.image = image
            self.write(f'cd {image.parent}\nfile "{image.name}"\n')
        self.write(f"python ask({address:#x})\n")
        for line in self.process.stdout:
            if found := re.search(r"ANSWER (.*)$", line):
                rows = json.loads(found[1])
                if isinstance(rows, dict):
                    raise RuntimeError(rows["error"])
                return rows
        raise RuntimeError(f"GDB ended with {self.process.wait()}")


def frames(rows):
    return [address_files.frame(name, file, line, i + 1 < len(rows)) for i, (name, _, file, line) in enumerate(rows)]


def main():
    program = contestant.program(sys.argv[1] if len(sys.argv) > 1 else "gdb-multiarch")
    version = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")[0].split()[-1]
    tools = {}

    def answer(folder, question):
        image, address = address_files.asked(folder, question)
        wanted = WINDOWS if address_files.is_windows(image) else program
        if not shutil.which(wanted):
            raise contestant.Unsupported(f"there is no {wanted}")
        if wanted not in tools:
            tools[wanted] = Gdb(wanted)
        try:
            return frames(tools[wanted].ask(image, address))
        except RuntimeError:
            if tools[wanted].process.poll() is not None:
                del tools[wanted]
            raise

    contestant.serve("gdb", version.rstrip(")"), {"addresses.dwarf": answer}, "https://sourceware.org/bugzilla/", ["mach-o"])


if __name__ == "__main__":
    main()
