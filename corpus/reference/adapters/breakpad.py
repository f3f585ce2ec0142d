#!/usr/bin/python3
"""Breakpad's walk, or rust-minidump's: breakpad.py [PROGRAM] [--symbols COMMAND]          PROGRAM: minidump_stackwalk (if not given), minidump-stackwalk

Runs: `minidump_stackwalk MOMENT.dmp SYMBOLS` per question; its text has the registers of each frame. A moment becomes a minidump of one
thread (dump_of_moments.py). Breakpad reads only a thread's own stack, so the parts of a stack are one range, with 0 between them.
It reads no PE file: it unwinds by STACK CFI or STACK WIN of a .sym file, else by frame pointers and a scan. COMMAND prints the .sym file of an image,
whose path replaces {image}; without it the contestant is Breakpad without symbols. Breakpad's own dump_syms reads PE files on Windows
alone (that of the npm package: "Failed to write symbol file"), so the only COMMAND tried is
`twinstack symbols export {image} --format breakpad`: the answer is then that of both programs; of x86 {image} is the PDB. The images of x64
have no CodeView record, so the dump of a moment invents one, of zeros. A dump of the suite is asked as it is: of x64 and arm64 it names no
PDB, so that Breakpad has no symbols there, and with COMMAND takes no part.
Seen with: minidump_stackwalk of the npm package minidump 0.26.0 (it prints no version). minidump-stackwalk of rust-minidump takes the same
words and prints the same text: its output is read as the tests of its repository show it, since its crate was not available here.
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
REGISTER = re.compile(r"\b(?:[re]?(ip|sp)|(pc)) = 0x([0-9a-f]+)")
THREAD = re.compile(r"^Thread (\d+)", re.M)
IDENTITY = "0" * 32 + "1"


def codeview(path):
    return struct.pack("<4s16xI", b"RSDS", 1) + path.with_suffix(".pdb").name.encode() + b"\0"


def frames_of(text, number=None):
    """[(ip, sp)] of the thread of that number in the list; None: of the first that is printed."""
    _, *parts = THREAD.split(text)
    frames = []
    for line in next((part for at, part in zip(parts[::2], parts[1::2]) if number in (None, int(at))), "").splitlines():
        if FRAME.match(line):
            frames.append({})
        elif frames:
            frames[-1].update({name or "ip": int(value, 16) for name, _, value in REGISTER.findall(line)})
    return [(frame["ip"], frame["sp"]) for frame in frames if len(frame) == 2]


def place_of(data, wanted):
    """The place of the thread of that id in the list of a dump."""
    count, at = struct.unpack_from("<II", data, 8)
    rows = next(place for kind, _, place in (struct.unpack_from("<III", data, at + 12 * i) for i in range(count)) if kind == dump_of_moments.THREADS)
    ids = [struct.unpack_from("<I", data, rows + 4 + 48 * i)[0] for i in range(struct.unpack_from("<I", data, rows)[0])]
    return ids.index(wanted)


def facts(program):
    """(name, version, where faults are reported)."""
    if "-" in program.name:
        said = subprocess.run([str(program), "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
        return "rust-minidump", said.split()[-1], "https://github.com/rust-minidump/rust-minidump/issues"
    package = program.resolve().parents[2] / "package.json"
    version = "npm minidump " + json.loads(package.read_text(encoding="utf-8"))["version"] if package.is_file() else "unknown"
    return "breakpad", version, "https://bugs.chromium.org/p/google-breakpad/issues"


def identity(image):
    """That of the PDB, and the processor, as a .sym file has them."""
    record = dump_of_moments.facts(image)[3]
    if not record:
        return IDENTITY, "x86_64"
    return "{:08X}{:04X}{:04X}".format(*struct.unpack_from("<IHH", record, 4)) + record[12:20].hex().upper() + f"{struct.unpack_from('<I', record, 20)[0]:X}", "x86"


def add_symbols(command, image, pdb, store):
    """Writes the .sym file of IMAGE where Breakpad looks for it; of x86 it is made of the PDB."""
    name, (key, processor) = image.with_suffix(".pdb").name, identity(image)
    place = store / name / key / image.with_suffix(".sym").name
    if not place.exists():
        words = [word.replace("{image}", str(pdb or image)) for word in shlex.split(command)]
        text = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
        place.parent.mkdir(parents=True)
        place.write_text(re.sub(r"^MODULE .*", f"MODULE windows {processor} {key} {name}", text), encoding="utf-8")


def main():
    words = argparse.ArgumentParser()
    words.add_argument("program", nargs="?", default="minidump_stackwalk")
    words.add_argument("--symbols", metavar="COMMAND")
    words = words.parse_args()
    program = pathlib.Path(contestant.program(words.program))
    with tempfile.TemporaryDirectory() as place:
        dump, store = pathlib.Path(place, "moment.dmp"), pathlib.Path(place, "symbols")
        store.mkdir()

        def stackwalk(path):
            return subprocess.run([str(program), str(path), str(store)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False).stdout

        def answer(folder, question):
            given = question["given"]
            for module in given["modules"] if words.symbols else ():
                image = (folder / module["path"]).resolve()
                pdb = image.with_suffix(".pdb") if question["processor"] == "x86" else None
                if not pdb or pdb.is_file():
                    add_symbols(words.symbols, image, pdb, store)
            dump.write_bytes(dump_of_moments.written(folder, [given], whole=True, codeview=codeview))
            return frames_of(stackwalk(dump))

        def of_dump(folder, question):
            given = question["given"]
            for pdb in sorted((folder / given["symbols"]).rglob("*.pdb")) if words.symbols and given["symbols"] else ():
                if pdb.is_file():
                    image = next((folder / "dumps/symbols").rglob(pdb.with_suffix(".dll").name + "/*/*.dll"))
                    add_symbols(words.symbols, image, pdb, store)
            path = folder / given["dump"]
            return frames_of(stackwalk(path), place_of(path.read_bytes(), given["thread"]))

        name, version, bugs = facts(program)
        name += f" with {shlex.split(words.symbols)[0].rsplit('/', 1)[-1]}" if words.symbols else ""
        contestant.serve(name, version, {"moments.x64": answer, "moments.x86": answer, "dumps.x86": of_dump,
                                         **({} if words.symbols else {"dumps.arm64": of_dump, "dumps.x64": of_dump})}, bugs, ["unwind-v3"])


if __name__ == "__main__":
    main()
