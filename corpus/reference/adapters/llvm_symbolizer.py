#!/usr/bin/python3
"""llvm-symbolizer: llvm_symbolizer.py [PROGRAM]          PROGRAM: llvm-symbolizer-19 (if not given), llvm-symbolizer-14, ...

Runs: one `llvm-symbolizer --output-style=JSON --no-demangle` for all questions of a folder, whose lines are `"IMAGE" ADDRESS`. It finds
a PDB or split DWARF beside the image. --no-demangle: a name as it is in the file; C++ names of DWARF come out as linkage names.
Seen with: llvm-symbolizer 13.0.1, 14.0.6, 15.0.6, 16.0.6, 19.1.7 and 22.1.8 of Debian 12.
By hand: `cd programs; llvm-symbolizer-19 --no-demangle --relative-address --obj=IMAGE RVA` (a return address: RVA - 1)."""

import json
import re
import subprocess
import sys

import address_files
import contestant


class Symbolizer:
    def __init__(self, program, *options):
        self.command, self.folder, self.process = [program, "--output-style=JSON", "--no-demangle", *options], None, None

    def start(self, folder):
        if self.process:
            self.process.kill()
            self.process.wait()
        self.folder = folder
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder)

    def ask(self, image, address):
        if self.folder != image.parent or self.process.poll() is not None:
            self.start(image.parent)
        self.process.stdin.write(f'"{image.name}" {address:#x}\n')
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"it ended with {self.process.wait()}")
        return json.loads(line)


def frames(answer):
    """Nothing known is one frame without a name."""
    answer = answer[0] if isinstance(answer, list) else answer
    rows = [row for row in answer.get("Symbol", ()) if row["FunctionName"] or row["FileName"]]
    return [address_files.frame(row["FunctionName"], row["FileName"], row["Line"], i + 1 < len(rows)) for i, row in enumerate(rows)]


def main():
    program = contestant.program(sys.argv[1] if len(sys.argv) > 1 else "llvm-symbolizer-19")
    version = re.search(r"version ([0-9.]+)", subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout)[1]
    tool = Symbolizer(program)

    def answer(folder, question):
        return frames(tool.ask(*address_files.asked(folder, question)))

    contestant.serve("llvm-symbolizer", version, {"addresses.dwarf": answer, "addresses.pdb": answer},
                     "https://github.com/llvm/llvm-project/issues", ["msfz"])


if __name__ == "__main__":
    main()
