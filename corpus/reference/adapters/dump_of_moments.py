#!/usr/bin/python3
"""Makes a Windows minidump of moments, for tools that read dumps: written(FOLDER, [GIVEN, ...]) gives its bytes.

Thread i + 1 is the i-th moment: its CONTEXT (control and integer registers, xmm 0) and its stack, of x64, arm64 or x86. The module list has the
images of the suite by their absolute paths, with time stamp, size and CodeView record as the PE files state them. The bytes of an
image are not in the dump, as in dumps that Windows writes. A dump has one address space, so moments whose stacks or modules differ
at the same address do not fit into one; ValueError says so. In this suite nearly every moment needs a dump of its own.
For tools that look only at a thread's own stack, WHOLE makes one range of a moment's parts, with 0 between them. CODEVIEW, a function
of the path, invents the record where an image has none.
The layouts are those of minidumpapiset.h and winnt.h."""

import functools
import itertools
import json
import pathlib
import struct
import sys

# The order of the integer registers in a CONTEXT, from offset 0x78 on; rip follows.
REGISTERS = "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15 rip".split()
THREADS, MODULES, MEMORY, EXCEPTION, SYSTEM = 3, 4, 5, 6, 7
SINGLE_STEP = 0x80000004


def context(registers):
    if "eip" in registers:  # x86: edi, esi, ebx, edx, ecx, eax, ebp, eip, cs, eflags, esp, ss
        out = bytearray(716)
        values = [int(registers[name], 16) for name in "edi esi ebx edx ecx eax ebp eip".split()]
        struct.pack_into("<I", out, 0, 0x10003)
        struct.pack_into("<4I12I", out, 140, 0x2B, 0x53, 0x2B, 0x2B, *values, 0x23, 0x246, int(registers["esp"], 16), 0x2B)
        return bytes(out)
    if "pc" in registers:  # arm64: x0 to x30, sp, pc
        out = bytearray(912)
        struct.pack_into("<II33Q", out, 0, 0x400003, 0, *(int(registers[name], 16) for name in [*(f"x{i}" for i in range(31)), "sp", "pc"]))
        return bytes(out)
    out = bytearray(1232)
    struct.pack_into("<II6HI", out, 0x30, 0x100003, 0x1F80, 0x33, 0x2B, 0x2B, 0x53, 0x2B, 0x2B, 0x246)
    struct.pack_into("<17Q", out, 0x78, *(int(registers.get(name, "0x0"), 16) for name in REGISTERS))
    return bytes(out)


@functools.cache
def facts(path):
    """(time stamp, size of the image, its checksum, its CodeView record or b"")."""
    data = path.read_bytes()
    pe, = struct.unpack_from("<I", data, 60)
    count, stamp = struct.unpack_from("<HI", data, pe + 6)
    optional, = struct.unpack_from("<H", data, pe + 20)
    size, _, checksum = struct.unpack_from("<III", data, pe + 80)
    wide = 112 if struct.unpack_from("<H", data, pe + 24)[0] == 0x20B else 96
    at, length = struct.unpack_from("<II", data, pe + 24 + wide + 48)
    for i in range(count):
        _, start, raw, place = struct.unpack_from("<4I", data, pe + 24 + optional + 40 * i + 8)
        for row in range(place + at - start, place + at - start + length, 28) if start <= at < start + raw else ():
            kind, record, _, offset = struct.unpack_from("<4I", data, row + 12)
            if kind == 2:
                return stamp, size, checksum, data[offset:offset + record]
    return stamp, size, checksum, b""


class File:
    """The bytes of the dump; the header and the directory, of at most MOST streams, come first."""

    def __init__(self, most=5):
        self.data, self.streams = bytearray(32 + 12 * most), []

    def put(self, data):
        self.data += bytes(-len(self.data) % 8)
        self.data += data
        return len(self.data) - len(data)

    def stream(self, kind, data):
        self.streams.append((kind, len(data), self.put(data)))

    def whole(self, flags=0):
        struct.pack_into("<4sIIIIIQ", self.data, 0, b"MDMP", 0xA793, len(self.streams), 32, 0, 0, flags)
        for i, row in enumerate(self.streams):
            struct.pack_into("<III", self.data, 32 + 12 * i, *row)
        return bytes(self.data)


def parts_of(given, whole):
    parts = sorted((int(part["at"], 16), bytes.fromhex(part["bytes"])) for part in given["stack"])
    if not whole:
        return parts
    out = bytearray(parts[-1][0] + len(parts[-1][1]) - parts[0][0])
    for at, data in parts:
        out[at - parts[0][0]:at - parts[0][0] + len(data)] = data
    return [(parts[0][0], bytes(out))]


def memory(moments, whole):
    """{address: bytes} of all stacks. Parts may be equal or apart, nothing else."""
    out, parts = {}, sorted({part for given in moments for part in parts_of(given, whole)})
    for (first, data), (at, other) in itertools.combinations(parts, 2):
        shared = data[at - first:at - first + len(other)]
        if shared != other[:len(shared)]:
            raise ValueError("two moments have different bytes at one address")
    for at, data in parts:
        if len(data) > len(out.get(at, b"")):
            out[at] = data
    return out


def modules(folder, moments):
    rows = {}
    for given in moments:
        for module in given["modules"]:
            if rows.setdefault(int(module["base"], 16), module) != module:
                raise ValueError("two moments have different modules at one address")
    return [(base, int(row["size"], 16), (pathlib.Path(folder) / row["path"]).resolve()) for base, row in sorted(rows.items())]


def text(words):
    raw = words.encode("utf-16-le")
    return struct.pack("<I", len(raw)) + raw + b"\0\0"


def written(folder, moments, whole=False, codeview=None):
    file = File()
    pc_name, sp_name, system = next(row for row in (("pc", "sp", 12), ("rip", "rsp", 9), ("eip", "esp", 0)) if row[0] in moments[0]["registers"])
    file.stream(SYSTEM, struct.pack("<HHHBBIIIIIHH24x", system, 6, 0, 1, 1, 10, 0, 19045, 2, file.put(text("")), 0, 0))
    rows = []
    for base, size, path in modules(folder, moments):
        stamp, _, checksum, record = facts(path)
        record = record or (codeview(path) if codeview else b"")
        name, place = file.put(text(str(path))), file.put(record) if record else 0
        rows.append(struct.pack("<QIIII52xII8x16x", base, size, checksum, stamp, name, len(record), place))
    file.stream(MODULES, struct.pack("<I", len(rows)) + b"".join(rows))
    ranges = {at: (at, len(data), file.put(data)) for at, data in sorted(memory(moments, whole).items())}
    threads, first = [], None
    for number, given in enumerate(moments, 1):
        raw = context(given["registers"])
        place = (len(raw), file.put(raw))
        sp = int(given["registers"][sp_name], 16)
        stack = next((r for r in ranges.values() if r[0] <= sp < r[0] + r[1]), next(iter(ranges.values())))
        threads.append(struct.pack("<IIIIQQIIII", number, 0, 32, 0, 0, *stack, *place))
        first = first or place
    file.stream(THREADS, struct.pack("<I", len(threads)) + b"".join(threads))
    file.stream(MEMORY, struct.pack("<I", len(ranges)) + b"".join(struct.pack("<QII", *r) for r in ranges.values()))
    rip = int(moments[0]["registers"][pc_name], 16)
    file.stream(EXCEPTION, struct.pack("<IIIIQQII120xII", 1, 0, SINGLE_STEP, 0, 0, rip, 0, 0, *first))
    return file.whole()


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: dump_of_moments.py SUITE ID OUT.dmp: the dump of one moment")
    suite = pathlib.Path(sys.argv[1])
    for name in json.loads((suite / "suite.json").read_text(encoding="utf-8"))["lists"]:
        for case in map(json.loads, (suite / name).read_text(encoding="utf-8").splitlines()):
            if case["id"] == sys.argv[2]:
                pathlib.Path(sys.argv[3]).write_bytes(written(suite, [case["given"]]))
                return
    sys.exit(f"dump_of_moments.py: {suite} has no case {sys.argv[2]}")


if __name__ == "__main__":
    main()
