#!/usr/bin/python3
"""Contestants of the reference suite that break one rule of reading minidumps each on purpose: liar_dump.py NAME.

The reader is written for this alone; the walk is the page's second implementation (corpus/reference_page_*.py)."""

import pathlib
import struct
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "corpus"), str(ROOT / "corpus/reference/adapters")]
import contestant  # noqa: E402
import reference_page_arm64 as arm64  # noqa: E402
import reference_page_x64 as x64  # noqa: E402
import reference_page_x86 as x86  # noqa: E402

THREADS, MODULES, MEMORY, EXCEPTION, MEMORY64, UNLOADED = 3, 4, 5, 6, 9, 14
# What each leaves out or does wrongly, and the forms of dumps in which it is not right: all of them, and no other.
LIARS = {
    "honest": set(),
    "thread-context": {"exception-context"},
    "no-memory64": {"full-memory"},
    "words-in-one-range": {"odd-pieces"},
    "first-range": {"pieces", "odd-pieces"},
    "own-stack": {"pieces", "odd-pieces", "stack-elsewhere"},
    "files-only": {"images-in-memory"},
    "unloaded-first": {"unloaded"},
    "signed-ids": {"high-ids"},
    "known-streams-only": {"extra-streams"},
    "small-context": {"large-context"},
}


class Dump:
    def __init__(self, path, liar):
        self.data, self.liar = path.read_bytes(), liar
        count, at = struct.unpack_from("<II", self.data, 8)
        self.streams = {}
        for kind, size, place in (struct.unpack_from("<III", self.data, at + 12 * i) for i in range(count)):
            if liar == "known-streams-only" and kind not in (THREADS, MODULES, MEMORY, EXCEPTION, 7, MEMORY64, UNLOADED):
                raise ValueError("an unknown stream")
            self.streams[kind] = (place, size)

    def rows(self, kind, form, skip=4):
        if kind not in self.streams:
            return []
        place, size = self.streams[kind][0], struct.calcsize(form)
        return [struct.unpack_from(form, self.data, place + skip + size * i) for i in range(struct.unpack_from("<I", self.data, place)[0])]

    def ranges(self):
        out = [(at, self.data[place:place + size]) for at, size, place in self.rows(MEMORY, "<QII")]
        if self.liar != "no-memory64" and MEMORY64 in self.streams:
            stream = self.streams[MEMORY64][0]
            count, place = struct.unpack_from("<QQ", self.data, stream)
            for i in range(count):
                at, size = struct.unpack_from("<QQ", self.data, stream + 16 + 16 * i)
                out.append((at, self.data[place:place + size]))
                place += size
        return out

    def thread(self, wanted):
        """((bytes, place) of the context, the range of the stack)."""
        for row in self.rows(THREADS, "<IIIIQQIIII"):
            number = struct.unpack("<i", struct.pack("<I", row[0]))[0] if self.liar == "signed-ids" else row[0]
            if number != wanted:
                continue
            context = row[8], row[9]
            if EXCEPTION in self.streams and self.liar != "thread-context":
                at = self.streams[EXCEPTION][0]
                context = struct.unpack_from("<II", self.data, at + 160) if struct.unpack_from("<I", self.data, at)[0] == wanted else context
            return context, (row[5], self.data[row[7]:row[7] + row[6]])
        raise ValueError("no such thread")

    def image_at(self, ip):
        """(base, time stamp, size, GUID of the PDB) of the module."""
        rows = [(row[0], row[3], row[1], self.data[row[6] + 4:row[6] + 20]) for row in self.rows(MODULES, "<QIIII52xII8x16x")]
        if self.liar == "unloaded-first" and UNLOADED in self.streams:
            place = self.streams[UNLOADED][0]
            rows = [(base, stamp, size, b"none") for base, size, _, stamp, _ in
                    (struct.unpack_from("<QIIII", self.data, place + 12 + 24 * i) for i in range(struct.unpack_from("<I", self.data, place + 8)[0]))]
        return next(row for row in rows if row[0] <= ip < row[0] + row[2])


def registers(dump, context, page):
    size, at = context
    if dump.liar == "small-context" and size not in (716, 912, 1232):
        raise ValueError("a context of another size")
    if page is x86:
        return dict(zip("edi esi ebx edx ecx eax ebp eip esp".split(), struct.unpack_from("<8I8xI", dump.data, at + 0x9C)))
    if page is x64:
        return dict(zip([*x64.REGISTERS[:4], "rsp", *x64.REGISTERS[5:], "rip"], struct.unpack_from("<17Q", dump.data, at + 0x78)))
    return dict(zip([*(f"x{i}" for i in range(31)), "sp", "pc"], struct.unpack_from("<33Q", dump.data, at + 8)))


def reader(dump, ranges, sp, size):
    def byte(at):
        for start, data in ranges:
            if start <= at < start + len(data):
                return data[at - start]
        raise ValueError("not in the dump")

    def word(at):
        if dump.liar == "words-in-one-range" and not any(start <= at and at + size <= start + len(data) for start, data in ranges):
            raise ValueError("a word in two ranges")
        return int.from_bytes(bytes(byte(at + i) for i in range(size)), "little")

    if dump.liar == "first-range":
        ranges = [next(row for row in ranges if row[0] <= sp < row[0] + len(row[1]))]
    return word


def image_of(folder, given, page, place):
    """What the page's walk needs of an image: of x86 the frame data of its PDB."""
    base, stamp, size, guid = place
    if page is x86:
        pdb = next(file for file in sorted((folder / given["symbols"]).glob("*.pdb/*/*")) if guid in file.read_bytes())
        return types.SimpleNamespace(records=x86.frame_data(pdb)[0], fpo=[], base=base)
    image = page.Image(next((folder / "dumps/symbols").glob(f"*/{stamp:08X}{size:x}/*")))
    image.base = base
    return image


def walked(page, image, regs, read, pointers):
    """The frames up to where it loses its way."""
    seen = []
    if page is x86:
        try:
            for frame in page.steps(image, regs, read):
                seen.append(frame)
        except ValueError:
            pass
        return seen
    honest = page.step

    def noted(image, regs, read, interrupted):
        seen.append(tuple(regs[name] for name in pointers))
        return honest(image, regs, read, interrupted)

    page.step = noted
    try:
        return page.walk(image, regs, read)
    except ValueError:
        return seen
    finally:
        page.step = honest


def answer(folder, question, liar):
    given, page = question["given"], {"arm64": arm64, "x64": x64, "x86": x86}[question["processor"]]
    dump = Dump(folder / given["dump"], liar)
    context, stack = dump.thread(given["thread"])
    regs = registers(dump, context, page)
    ip, sp = {arm64: ("pc", "sp"), x64: ("rip", "rsp"), x86: ("eip", "esp")}[page]
    if given["symbols"] != "dumps/symbols" and liar == "files-only":
        raise ValueError("no file of the image")
    image = image_of(folder, given, page, dump.image_at(regs[ip]))
    read = reader(dump, [stack] if liar == "own-stack" else dump.ranges(), regs[sp], 4 if page is x86 else 8)
    return walked(page, image, regs, read, (ip, sp))


def main():
    def of(folder, question):
        return answer(folder, question, sys.argv[1])

    contestant.serve(f"liar {sys.argv[1]}", "1", {"dumps.x64": of, "dumps.arm64": of, "dumps.x86": of})


if __name__ == "__main__":
    main()
