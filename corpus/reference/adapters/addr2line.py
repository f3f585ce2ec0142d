#!/usr/bin/python3
"""addr2line: addr2line.py [PROGRAM]          PROGRAM: addr2line (if not given), x86_64-w64-mingw32-addr2line, eu-addr2line

Runs: `addr2line -a -f -i -e IMAGE ADDRESS` per question, in the folder of the image; that of binutils and that of elfutils print the
same form. binutils: ELF files of one processor, and with the Windows program in its place PE files; both if PROGRAM is addr2line.
Seen with: binutils 2.40, elfutils 0.188 of Debian 12.
By hand: `cd programs; addr2line -a -f -i -e IMAGE ADDRESS`; ADDRESS of a PE file: its base + rva (a return address: less 1)."""

import re
import shutil
import subprocess
import sys

import address_files
import contestant

WINDOWS = "x86_64-w64-mingw32-addr2line"
PLACE = re.compile(r"(.*?):(\d+|\?)(?::\d+)?(?: \(.*\))*$")


def frames(lines):
    """Of the lines between two addresses: function and place in turn."""
    rows = []
    for function, place in zip(lines[::2], lines[1::2]):
        found = PLACE.match(place)
        file, line = (found[1], found[2]) if found else (place, "0")
        rows.append((re.sub(r" inlined at .*$", "", function), file, int(line) if line.isdigit() else 0))
    rows = [row for row in rows if row[0] not in ("", "??") or row[1] != "??"]
    return [address_files.frame(*row, i + 1 < len(rows)) for i, row in enumerate(rows)]


def run(program, image, addresses):
    """[frames] of each address."""
    done = subprocess.run([program, "-a", "-f", "-i", "-e", image.name], input="".join(f"{a:#x}\n" for a in addresses),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, cwd=image.parent)
    answers = []
    for line in done.stdout.splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", line):
            answers.append([])
        else:
            answers[-1].append(line)
    if len(answers) != len(addresses): # elfutils exits with 1 where one address is unknown
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()}")
    return [frames(lines) for lines in answers]


def main():
    given = contestant.program(sys.argv[1] if len(sys.argv) > 1 else "addr2line")
    said = subprocess.run([given, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")[0]
    name = "eu-addr2line" if "elfutils" in said else "addr2line"

    def answer(folder, question):
        image, address = address_files.asked(folder, question)
        if address_files.is_windows(image):
            if name != "addr2line" or not (shutil.which(WINDOWS) or "mingw" in given):
                raise contestant.Unsupported("no PE files")
            return run(given if "mingw" in given else WINDOWS, image, [address])[0]
        if question["processor"] == "arm64" and name == "addr2line":
            raise contestant.Unsupported("built for the processors of x86")
        return run(given, image, [address])[0]

    contestant.serve(name, said.split()[-1], {"addresses.dwarf": answer}, "https://sourceware.org/bugzilla/", ["mach-o"])


if __name__ == "__main__":
    main()
