#!/usr/bin/env python3
"""Times a minidump to the crashing thread's stack with names, whole processes, warm cache.

    bench_dump.py BUILD FOLDER [FOLDER...]      folders as make_program.py makes them

For each folder a dump is made of program.dll: a thread whose stack holds 24 frames of its
functions, laid out as their unwind data demands, so that no Windows is needed and every tool can
walk it.  `twinstack dump` runs against lldb in the same run, and, where Wine is set up
(WINEPREFIX), winedbg.  Prints a Markdown table: median and least milliseconds, peak memory, ratio.
"""
import os
import random
import shutil
import struct
import subprocess
import sys
import time

FRAMES = 24
BASE = 0x180000000
STACK = 0x100000
LLDB = ("lldb-19", "--no-lldbinit", "-b", "-o", "settings set target.exec-search-paths .",
        "-o", "target create -c dump.dmp", "-o", "thread backtrace")


class Image:
    """The few facts of a PE file that a dump of it needs."""

    def __init__(self, path):
        self.data = open(path, "rb").read()
        d = self.data
        pe = struct.unpack_from("<I", d, 60)[0]
        count, self.stamp = struct.unpack_from("<HI", d, pe + 6)
        optional = pe + 24
        self.size = struct.unpack_from("<I", d, optional + 56)[0]
        directory = optional + 112
        self.pdata = struct.unpack_from("<II", d, directory + 24)
        self.debug = struct.unpack_from("<II", d, directory + 48)
        table = optional + struct.unpack_from("<H", d, pe + 20)[0]
        self.sections = [struct.unpack_from("<IIII", d, table + 40 * i + 8) for i in range(count)]

    def at(self, rva, form):
        for _, start, raw, offset in self.sections:
            if start <= rva < start + raw:
                return struct.unpack_from(form, self.data, rva - start + offset)
        raise ValueError("rva %x is in no section" % rva)

    def codeview(self):
        rva = self.debug[0]
        _, _, _, _, kind, size, place, _ = self.at(rva, "<IIHHIIII")
        assert kind == 2
        return bytes(self.at(place, "<%dB" % size))

    def functions(self):
        """(rva of a place in the body, bytes of the frame) of plain functions."""
        for row in range(self.pdata[1] // 12):
            begin, end, info = self.at(self.pdata[0] + 12 * row, "<III")
            head, prologue, slots, frame = self.at(info, "<4B")
            codes = self.at(info + 4, "<%dB" % (2 * slots))
            size, i, plain = 0, 0, head == 1 and frame == 0
            while i < slots and plain:
                op, what = codes[2 * i + 1] & 15, codes[2 * i + 1] >> 4
                if op == 0:
                    size += 8
                elif op == 2:
                    size += what * 8 + 8
                elif op == 1 and what == 0:
                    size += 8 * (codes[2 * i + 2] | codes[2 * i + 3] << 8)
                    i += 1
                elif op in (4, 8):
                    i += 1
                else:
                    plain = False
                i += 1
            if plain and end - begin > prologue + 64:
                yield begin + (prologue + end - begin) // 2, size


def make_dump(folder):
    image = Image(os.path.join(folder, "program.dll"))
    chosen = random.Random(1).sample(sorted(image.functions()), FRAMES)
    stack = b""
    for (_, size), caller in zip(chosen, chosen[1:] + [(None, 0)]):
        stack += bytes(size) + struct.pack("<Q", BASE + caller[0] if caller[0] else 0)
    stack += bytes(256)
    context = bytearray(1232)
    struct.pack_into("<I", context, 0x30, 0x10001F)
    struct.pack_into("<Q", context, 0x98, STACK)
    struct.pack_into("<Q", context, 0xF8, BASE + chosen[0][0])
    blob, place = bytearray(32 + 12 * 5), {}

    def put(name, data):
        place[name] = (len(data), len(blob))
        blob.extend(data)

    name = "program.dll".encode("utf-16-le")
    put("name", struct.pack("<I", len(name)) + name + b"\0\0")
    put("codeview", image.codeview())
    put("stack", stack)
    put("context", bytes(context))
    put(7, struct.pack("<HHHBBIIIIIHH24x", 9, 6, 0, 2, 1, 10, 0, 19045, 2, 0, 0, 0))
    put(4, struct.pack("<IQIIII52xII8x16x", 1, BASE, image.size, 0, image.stamp, place["name"][1],
                       *place["codeview"]))
    put(3, struct.pack("<IIIIIQQIIII", 1, 1, 0, 32, 0, 0, STACK, *place["stack"],
                       *place["context"]))
    put(5, struct.pack("<IQII", 1, STACK, *place["stack"]))
    put(6, struct.pack("<IIIIQQII120xII", 1, 0, 0xC0000005, 0, 0, BASE + chosen[0][0], 0, 0,
                       *place["context"]))
    struct.pack_into("<IIII", blob, 0, 0x504D444D, 0xA793, 5, 32)
    for i, kind in enumerate((7, 4, 3, 5, 6)):
        struct.pack_into("<III", blob, 32 + 12 * i, kind, *place[kind])
    with open(os.path.join(folder, "dump.dmp"), "wb") as out:
        out.write(blob)


def measure(argv, folder, rounds):
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, errors="replace")
        times.append((time.perf_counter() - started) * 1000)
    return sorted(times)[rounds // 2], min(times), done.stdout


def peak_mb(argv, folder):
    """Of a child of its own, since the figure covers all children so far."""
    code = ("import resource,subprocess,sys;subprocess.run(sys.argv[1:],stdout=-3,stderr=-3);"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    out = subprocess.run([sys.executable, "-c", code, *argv], cwd=folder, capture_output=True,
                         text=True).stdout
    return int(out) / 1024


def tools(build):
    yield "twinstack dump", [os.path.join(os.path.abspath(build), "bin", "twinstack"), "dump",
                             "dump.dmp", "--symbols", "program.dll", "--symbols",
                             "program.pdb"], 21
    if shutil.which(LLDB[0]):
        yield "lldb", list(LLDB), 5
    if shutil.which("winedbg") and os.environ.get("WINEPREFIX"):
        yield "winedbg", ["env", "WINEDLLOVERRIDES=mscoree,mshtml=", "wine", "winedbg", "--file",
                          "commands", "dump.dmp"], 3


def main():
    build, folders = sys.argv[1], sys.argv[2:]
    if not folders:
        sys.exit(__doc__)
    print("| program | tool | median ms | least ms | peak MB | frames | slower by |")
    print("|---|---|---|---|---|---|---|")
    for folder in folders:
        make_dump(folder)
        with open(os.path.join(folder, "commands"), "w") as out:
            out.write("bt\nquit\n")
        size = os.path.getsize(os.path.join(folder, "program.pdb")) / 1e6
        ours = None
        for name, argv, rounds in tools(build):
            median, least, text = measure(argv, folder, rounds)
            ours = ours or median
            frames = sum("program.dll!" in line for line in text.splitlines()) or sum(
                "program.dll`" in line or "in program" in line for line in text.splitlines())
            print("| %.0f MB PDB | %s | %.1f | %.1f | %.0f | %d | %.0f |" %
                  (size, name, median, least, peak_mb(argv, folder), frames, median / ours))
            if name == "twinstack dump" and frames != FRAMES:
                sys.exit("twinstack found %d of %d frames:\n%s" % (frames, FRAMES, text))


if __name__ == "__main__":
    main()
