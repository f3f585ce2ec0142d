#!/usr/bin/python3
"""LLDB's names of an address: lldb_addresses.py [PROGRAM]          PROGRAM: lldb-19 (if not given), lldb-16, ...

Runs: one lldb for all questions, in the folder of the images; per question `image lookup -v -a ADDRESS`, whose Summary has a line
per logical frame, with files without folders; its LineEntry has the whole path of the innermost one. On Linux it looks for no dSYM, and for no
PDB whose path in the image is one of Windows: `target create --symfile SYMBOLS` names these.
Seen with: LLDB 19.1.7 of Debian 12; 13.0.1 to 16.0.6 and 22.1.8, unpacked from Debian's packages.
By hand: `cd programs; lldb-19 --no-lldbinit -b -o 'target create IMAGE' -o 'image lookup -v -a ADDRESS'`; ADDRESS: the base of a PE file
+ rva (a return address: less 1)."""

import re
import subprocess
import sys

import address_files
import contestant
import dump_of_moments

ROW = re.compile(r"^\s+(?:Summary: )?[^`]+`(?:.*? \[inlined\] )?(?P<name>.*?)(?: [-+] \d+)?(?: at (?:(?P<file>[^ :]*[^ :\d][^ :]*):)?(?P<line>\d*)(?::\d+)?)?$")

ENTRY = re.compile(r"^\s+LineEntry: \[.*?\): (?P<file>.*?):(?P<line>\d+)(?::\d+)?$")


class Lldb:
    def __init__(self, program):
        self.program, self.image, self.process = program, None, None
        self.version = None

    def start(self, folder):
        self.process = subprocess.Popen([self.program, "--no-lldbinit"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace", cwd=folder)

    def ask(self, *commands):
        """The lines that LLDB prints up to its version, which ends every answer."""
        self.process.stdin.write("".join(command + "\n" for command in (*commands, "version")))
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.startswith("lldb version "):
                return lines
            lines.append(line.rstrip("\n"))
        self.image, code = None, self.process.wait()
        self.process = None
        raise RuntimeError(f"LLDB ended with {code}")

    def names(self, image, address, symbols=None):
        if self.process is None:
            self.start(image.parent)
        commands = [f'image lookup -v -a {address:#x}']
        if self.image != image:
            named = f'--symfile "{symbols}" ' if symbols else ""
            commands = ["target delete --all --clean", f'target create {named}"{image.name}"', *commands]
        self.image = image
        return self.ask(*commands)


def frames(lines):
    start = next((i for i, line in enumerate(lines) if line.strip().startswith("Summary:")), len(lines))
    rows = []
    for line in lines[start:]:
        if not (found := ROW.match(line)):
            break
        rows.append((found["name"], found["file"], int(found["line"] or 0)))
    entry = next((found for found in map(ENTRY.match, lines) if found), None)
    if rows and entry and rows[0][2] in (0, int(entry["line"])):
        rows[0] = (rows[0][0], entry["file"], int(entry["line"]))
    return [address_files.frame(*row, i + 1 < len(rows)) for i, row in enumerate(rows)]


def main():
    program = contestant.program(sys.argv[1] if len(sys.argv) > 1 else "lldb-19")
    version = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[2]
    tool = Lldb(program)

    def answer(folder, question):
        image, address = address_files.asked(folder, question)
        symbols = question["given"]["symbols"]
        named = symbols and (".dSYM/" in symbols or address_files.is_windows(image) and b"\\" in dump_of_moments.facts(image)[3])
        return frames(tool.names(image, address, (folder / symbols).resolve() if named else None))

    contestant.serve("lldb", version, {"addresses.dwarf": answer, "addresses.pdb": answer}, "https://github.com/llvm/llvm-project/issues",
                     ["msfz"])


if __name__ == "__main__":
    main()
