"""A stack walk of x86 by the frame data of a PDB, as Breakpad's page on STACK WIN records and LLVM's PDB page describe it, over what
llvm-pdbutil-19 reads. It was written for corpus/reference alone, and shares nothing with an unwinder."""

import functools
import itertools
import re
import struct
import subprocess

BASE = 0x600000


class Image:
    """An image that may be at another base, and the frame data of the PDB beside it."""

    def __init__(self, path):
        self.base, self.memory = BASE, loaded(path)
        self.records = frame_data(path.with_suffix(".pdb"))


def loaded(path):
    """The bytes of the image as the loader lays them out, without its headers."""
    data = path.read_bytes()
    pe, = struct.unpack_from("<I", data, 60)
    count, = struct.unpack_from("<H", data, pe + 6)
    optional, = struct.unpack_from("<H", data, pe + 20)
    memory = bytearray(struct.unpack_from("<I", data, pe + 80)[0])
    for i in range(count):
        full, start, raw, place = struct.unpack_from("<IIII", data, pe + 24 + optional + 40 * i + 8)
        memory[start:start + min(raw, full)] = data[place:place + min(raw, full)]
    return bytes(memory)


@functools.lru_cache
def frame_data(pdb):
    """[(start, size, locals, parameters, saved, program)] of all records."""
    text = subprocess.run(["llvm-pdbutil-19", "dump", "--fpo", str(pdb)], check=True, capture_output=True, text=True).stdout
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if re.match(r"[0-9A-F]{8} \|", line)]
    return [(int(row[0], 16), int(row[1]), int(row[2]), int(row[3]), int(row[6]), row[10].split()) for row in rows]


def evaluated(program, values, read):
    """VALUES after the program: a stack of operands, as its page says."""
    stack = []
    for word in program:
        if word == "=":
            value, name = stack.pop(), stack.pop()
            values[name] = values.get(value, value) if isinstance(value, str) else value
        elif word in ("+", "-", "@"):
            right, left = (values[x] if isinstance(x, str) else x for x in (stack.pop(), stack.pop()))
            stack.append({"+": left + right, "-": left - right, "@": left - left % right}[word])
        elif word == "^":
            at = stack.pop()
            stack.append(read(values[at] if isinstance(at, str) else at))
        else:
            stack.append(int(word) if word.isdigit() else word)
    return values


def steps(image, regs, read):
    """(ip, sp) of each frame, innermost first, until the return address 0; sp of a caller: what follows the return address."""
    regs, removed, interrupted = dict(regs), 0, True
    while regs["eip"]:
        yield regs["eip"], regs["esp"]
        rva, interrupted = regs["eip"] - image.base - (not interrupted), False
        found = [row for row in image.records if row[0] <= rva < row[0] + row[1]]
        if not found:
            raise LookupError(f"no frame data for {rva:#x}")
        _, _, size, params, saved, program = min(found, key=lambda row: row[1])  # records are nested: the innermost
        values = {f"${name}": value for name, value in regs.items()}
        values[".raSearch"] = regs["esp"] + removed + size + saved
        values = evaluated(program, values, read)
        regs = {name: values[f"${name}"] for name in regs}
        removed = params  # they are above the return address, and the caller's frame begins after them


def walk(image, regs, read, limit=64):
    return list(itertools.islice(steps(image, regs, read), limit))
