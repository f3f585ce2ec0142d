"""A stack walk of x86 by the frame data of a PDB, as Breakpad's page on STACK WIN records and LLVM's PDB page describe it, over what
llvm-pdbutil-19 reads; where a function has an FPO record instead, as the page of FPO_DATA does. It was written for corpus/reference alone, and shares nothing with an unwinder."""

import functools
import itertools
import re
import struct
import subprocess

BASE = 0x600000


class Image:
    """An image that may be at another base, and the frame data and FPO records of the PDB beside it."""

    def __init__(self, path):
        self.base, self.memory = BASE, loaded(path)
        self.records, self.fpo = frame_data(path.with_suffix(".pdb")) if path.with_suffix(".pdb").exists() else ([], [])

    def removed(self, rva):
        """The bytes of parameters that are above the return address."""
        found = [row[3] for row in (*self.records, *self.fpo) if row[0] <= rva < row[0] + row[1]]
        return found[0] if found else 0


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
    """[(start, size, locals, parameters, saved, program)] of all frame data, and [(start, size, locals, parameters, saved, prologue, whether
    ebp is used, kind)] of all FPO records."""
    text = subprocess.run(["llvm-pdbutil-19", "dump", "--fpo", str(pdb)], check=True, capture_output=True, text=True).stdout
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if re.match(r"[0-9A-F]{8} \|", line)]
    return ([(int(row[0], 16), int(row[1]), int(row[2]), int(row[3]), int(row[6]), row[10].split()) for row in rows if len(row) > 9],
            [(int(row[0], 16), int(row[1]), 4 * int(row[2]), 4 * int(row[3]), 4 * int(row[5]), int(row[4]), row[6] == "true", row[8])
             for row in rows if len(row) == 9])


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


def by_fpo(image, regs, rva, removed, read):
    """(the caller's registers, its callee's parameters) by an FPO record, which says nothing of prologues and of where ebp is saved."""
    row = next((row for row in image.fpo if row[0] <= rva < row[0] + row[1]), None)
    if not row or rva - row[0] < row[5] or row[7] not in ("FPO", "Non-FPO"):
        raise LookupError(f"no record for {rva:#x}")
    if row[7] == "Non-FPO":
        if regs["ebp"] is None:
            raise LookupError("ebp is not known")
        return {**regs, "eip": read(regs["ebp"] + 4), "esp": regs["ebp"] + 8, "ebp": read(regs["ebp"])}, row[3]
    at = regs["esp"] + removed + row[2] + row[4]
    return {**regs, "eip": read(at), "esp": at + 4, "ebp": None if row[6] else regs["ebp"]}, row[3]


def steps(image, regs, read):
    """(ip, sp) of each frame, innermost first, until the return address 0; sp of a caller: what follows the return address."""
    regs, removed, interrupted = dict(regs), 0, True
    while regs["eip"]:
        yield regs["eip"], regs["esp"]
        rva, interrupted = regs["eip"] - image.base - (not interrupted), False
        found = [row for row in image.records if row[0] <= rva < row[0] + row[1]]
        if not found:
            regs, removed = by_fpo(image, regs, rva, removed, read)
            continue
        _, _, size, params, saved, program = min(found, key=lambda row: row[1])  # records are nested: the innermost
        values = {f"${name}": value for name, value in regs.items()}
        values[".raSearch"] = regs["esp"] + removed + size + saved
        values = evaluated(program, values, read)
        regs = {name: values[f"${name}"] for name in regs}
        removed = params  # they are above the return address, and the caller's frame begins after them


def walk(image, regs, read, limit=64):
    return list(itertools.islice(steps(image, regs, read), limit))
