#!/usr/bin/python3
"""Breakpad's walk: breakpad.py [PROGRAM] [--symbols COMMAND]          PROGRAM: minidump_stackwalk (if not given)

Runs: `minidump_stackwalk MOMENT.dmp SYMBOLS` per question; its text has the registers of each frame. A moment becomes a minidump of one
thread (dump_of_moments.py). Breakpad reads only a thread's own stack, so the parts of a stack are one range, with 0 between them.
It reads no PE file: it unwinds by STACK CFI of a .sym file, else by frame pointers and a scan. COMMAND prints the .sym file of an image,
whose path replaces {image}; without it the contestant is Breakpad without symbols. Breakpad's own dump_syms reads PE files on Windows
alone (that of the npm package: "Failed to write symbol file"), so the only COMMAND tried is
`twinstack symbols export {image} --format breakpad`: the answer is then that of both programs. The images have no CodeView record, so
the dump invents one, of zeros.
Seen with: minidump_stackwalk of the npm package minidump 0.26.0 (it prints no version).
By hand: `dump_of_moments.py SUITE ID moment.dmp`, then `minidump_stackwalk moment.dmp`."""

import argparse
import json
import pathlib
import re
import shlex
import struct
import subprocess
import tempfile

import contestant
import dump_of_moments

FRAME = re.compile(r"^ *(\d+)  ")
REGISTER = re.compile(r"\b(rsp|rip) = 0x([0-9a-f]+)")
IDENTITY = "0" * 32 + "1"


def codeview(path):
    return struct.pack("<4s16xI", b"RSDS", 1) + path.with_suffix(".pdb").name.encode() + b"\0"


def frames_of(text):
    """[(rip, rsp)] of the first thread."""
    frames = []
    for line in text.split("\nThread ", 1)[-1].split("\nThread ")[0].splitlines():
        if FRAME.match(line):
            frames.append({})
        elif frames:
            frames[-1].update({name: int(value, 16) for name, value in REGISTER.findall(line)})
    return [(frame["rip"], frame["rsp"]) for frame in frames if len(frame) == 2]


def version(program):
    package = program.resolve().parents[2] / "package.json"
    return "npm minidump " + json.loads(package.read_text(encoding="utf-8"))["version"] if package.is_file() else "unknown"


def add_symbols(command, image, store):
    """Writes the .sym file of IMAGE where Breakpad looks for it."""
    place = store / image.with_suffix(".pdb").name / IDENTITY / image.with_suffix(".sym").name
    if not place.exists():
        words = [word.replace("{image}", str(image)) for word in shlex.split(command)]
        text = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
        place.parent.mkdir(parents=True)
        place.write_text(re.sub(r"^MODULE .*", f"MODULE windows x86_64 {IDENTITY} {image.with_suffix('.pdb').name}", text), encoding="utf-8")


def main():
    words = argparse.ArgumentParser()
    words.add_argument("program", nargs="?", default="minidump_stackwalk")
    words.add_argument("--symbols", metavar="COMMAND")
    words = words.parse_args()
    program = pathlib.Path(contestant.program(words.program))
    with tempfile.TemporaryDirectory() as place:
        dump, store = pathlib.Path(place, "moment.dmp"), pathlib.Path(place, "symbols")
        store.mkdir()

        def answer(folder, question):
            given = question["given"]
            for module in given["modules"] if words.symbols else ():
                add_symbols(words.symbols, (folder / module["path"]).resolve(), store)
            dump.write_bytes(dump_of_moments.written(folder, [given], whole=True, codeview=codeview))
            run = subprocess.run([str(program), str(dump), str(store)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            return frames_of(run.stdout)

        name = f"breakpad with {shlex.split(words.symbols)[0].rsplit('/', 1)[-1]}" if words.symbols else "breakpad"
        contestant.serve(name, version(program), {"moments.x64": answer}, "https://bugs.chromium.org/p/google-breakpad/issues")


if __name__ == "__main__":
    main()
