#!/usr/bin/python3
"""LLDB's walk: lldb.py [PROGRAM] [--names]          PROGRAM: lldb-19 (if not given), lldb-16, ...

Runs: one lldb for all questions; per question `target create --core MOMENT.dmp`, `thread backtrace`, `target delete`. A moment becomes
a minidump of one thread (dump_of_moments.py); target.exec-search-paths names the folder of its image, whose .pdata LLDB reads on x64, not on arm64.
The images have no symbols. Without a symbol LLDB does not know at which offset of its function a pc is. --names gives it one for each
row of an image's function table, as `target symbols add SYMBOLS.json` (LLDB 17 and later): the same walk where there are symbols.
Seen with: LLDB 19.1.7 of Debian 12; 13.0.1, 14.0.6, 15.0.6, 16.0.6 and 22.1.8, unpacked from Debian's packages.
By hand: `dump_of_moments.py SUITE ID moment.dmp`, then
  lldb-19 -o 'settings set target.exec-search-paths images' -o 'target create --core moment.dmp' -o 'thread backtrace'"""

import argparse
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import contestant
import dump_of_moments

ARM64 = 0xAA64 # IMAGE_FILE_MACHINE_ARM64
FRAME = re.compile(r"FRAME 0x([0-9a-f]+)(?: 0x([0-9a-f]+))?(?: IN (.*?))?(?: AT (.+):(\d+))?$") # on arm64 it may have no stack pointer of a caller
THREAD = re.compile(r"thread #(\d+): tid = (0x[0-9a-f]+|\d+)")
INLINED = " [inlined] "
IMAGE = re.compile(r"\[ *\d+\] ([0-9A-F-]+) +0x[0-9a-f]+ +(.+?) *$")


class Lldb:
    def __init__(self, program):
        self.program = program
        self.process = subprocess.Popen([program, "--no-lldbinit"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace")
        self.version = self.ask('settings set frame-format "FRAME ${frame.pc}{ ${frame.sp}}{ IN ${function.name-without-args}}'
                                '{ AT ${line.file.fullpath}:${line.number}}\\n"')[-1].split()[2]

    def ask(self, *commands):
        """The lines that LLDB prints up to its version, which ends every answer. Without an answer the contestant ends, too."""
        self.process.stdin.write("".join(command + "\n" for command in (*commands, "version")))
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if line.startswith("lldb version "):
                return lines
        sys.exit(f"lldb.py: {self.program} ended with {self.process.wait()}")


def frames_of(lines):
    """[(ip, sp, name, file, line)] of a backtrace, with those that LLDB shows as inlined."""
    for ip, sp, name, file, line in (m.groups() for m in map(FRAME.search, lines) if m):
        yield int(ip, 16), int(sp, 16) if sp else None, name, file, int(line) if line else None


def joined(frames):
    """[(ip, sp, names)]: "outer [inlined] inner" is inlined into the next frame."""
    walk, inner = [], []
    for ip, sp, name, file, line in frames:
        inlined = bool(name) and INLINED in name
        inner.append((ip, sp, {"function": name.rsplit(INLINED, 1)[-1] if name else None, "file": file, "line": line, "inlined": inlined}))
        if not inlined:
            walk.append((*inner[0][:2], [names for _, _, names in inner]))
            inner = []
    return walk


def symbols(path, identity):
    """A symbol file in LLDB's JSON format: each row of the function table is a function."""
    data = path.read_bytes()
    pe, = struct.unpack_from("<I", data, 60)
    count, = struct.unpack_from("<H", data, pe + 6)
    optional, = struct.unpack_from("<H", data, pe + 20)
    base, = struct.unpack_from("<Q", data, pe + 48)
    at, length = struct.unpack_from("<II", data, pe + 24 + 112 + 24)
    machine, = struct.unpack_from("<H", data, pe + 4)
    sections = [struct.unpack_from("<4I", data, pe + 24 + optional + 40 * i + 8) for i in range(count)]

    def place(rva):
        return next((raw_at + rva - start for _, start, raw, raw_at in sections if start <= rva < start + raw), None)

    rows, first = [], place(at)
    for row in range(0, length if first is not None else 0, 8 if machine == ARM64 else 12):
        begin, end = struct.unpack_from("<II", data, first + row)
        if machine == ARM64:  # a packed word, or where the record is: each has the length in words
            words = end >> 2 & 0x7FF if end & 3 else struct.unpack_from("<I", data, place(end))[0] & 0x3FFFF
            end = begin + 4 * words
        rows.append((begin, end))
    triple = "aarch64-pc-windows-msvc" if machine == ARM64 else "x86_64-pc-windows-msvc"
    return {"triple": triple, "uuid": identity, "type": "sharedlibrary", "symbols": [
        {"name": f"f_{begin:x}", "type": "code", "address": base + begin, "size": end - begin} for begin, end in sorted(rows)]}


def main():
    words = argparse.ArgumentParser()
    words.add_argument("program", nargs="?", default="lldb-19")
    words.add_argument("--names", action="store_true")
    words = words.parse_args()
    lldb = Lldb(contestant.program(words.program))
    with tempfile.TemporaryDirectory() as place:
        dump, names = pathlib.Path(place, "moment.dmp"), pathlib.Path(place, "symbols.json")

        def answer(folder, question):
            given = question["given"]
            dump.write_bytes(dump_of_moments.written(folder, [given]))
            images = " ".join(sorted({f'"{(folder / m["path"]).resolve().parent}"' for m in given["modules"]}))
            loaded = lldb.ask(f"settings set target.exec-search-paths {images}", f'target create --core "{dump}"', "image list")
            for identity, path in (m.groups() for m in map(IMAGE.search, loaded) if m and words.names):
                names.write_text(json.dumps(symbols(pathlib.Path(path), identity)), encoding="utf-8")
                loaded = lldb.ask(f'target symbols add "{names}"')
                if not any("has been added" in line for line in loaded):
                    raise contestant.Unsupported("LLDB takes no symbols in JSON")
            lines = lldb.ask(f"thread backtrace --count {contestant.WALK_MAX}", "target delete --all --clean")
            return [frame[:2] for frame in frames_of(lines)]

        def of_dump(folder, question):
            given = question["given"]
            files = (folder / given["symbols"]).resolve().rglob("*") if given["symbols"] else ()
            places = sorted({path.parent for path in files if path.is_file()})
            lldb.ask("settings set target.exec-search-paths " + " ".join(f'"{place}"' for place in places),
                     f'target create --core "{(folder / given["dump"]).resolve()}"')
            threads = {int(tid, 0): number for number, tid in (m.groups() for m in map(THREAD.search, lldb.ask("thread list")) if m)}
            number = threads.get(given["thread"], "1")
            return joined(frames_of(lldb.ask(f"thread backtrace {number}", "target delete --all --clean")))

        name = "lldb with names" if words.names else "lldb"
        contestant.serve(name, lldb.version, {"moments.arm64": answer, "moments.x64": answer, **({} if words.names else {"moments.x86": answer}),
                                                **{f"dumps.{processor}": of_dump for processor in ("arm64", "x64", "x86")}}, "https://github.com/llvm/llvm-project/issues",
                         ["unwind-v3"])


if __name__ == "__main__":
    main()
