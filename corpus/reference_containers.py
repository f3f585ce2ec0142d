"""The containers of a PDB, read and written: MSF of microsoft/microsoft-pdb, and MSFZ by the specification in microsoft/pdb-rs. And what
a tool does that moves code after a PDB was written: OMAP, microsoft-pdb's langapi/include/pdb.h."""

import struct
import zlib

MSF, MSFZ = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0", b"Microsoft MSFZ Container\r\n\x1aALD\0\0"
BLOCK = 4096
ABSENT = 0xFFFFFFFF
DEFLATE = 2
DBI = 3
# Of the optional debug headers of a DBI stream.
OMAP_TO_SOURCE, OMAP_FROM_SOURCE, SECTIONS, SECTIONS_OF_SOURCE = 3, 4, 5, 10


def blocks_of(size, block):
    return (size + block - 1) // block


def streams_of_msf(data):
    block, _, _, size, _, at = struct.unpack_from("<6I", data, 32)

    def joined(numbers, size):
        return b"".join(data[block * n:block * (n + 1)] for n in numbers)[:size]

    count = blocks_of(size, block)
    directory = joined(struct.unpack_from(f"<{count}I", data, block * at), size)
    count, = struct.unpack_from("<I", directory)
    sizes, at, out = struct.unpack_from(f"<{count}I", directory, 4), 4 + 4 * count, []
    for size in sizes:
        size = 0 if size == ABSENT else size
        numbers = struct.unpack_from(f"<{blocks_of(size, block)}I", directory, at)
        at += 4 * len(numbers)
        out.append(joined(numbers, size))
    return out


def streams_of_msfz(data):
    at, table, count, compression, packed, size, chunks, _ = struct.unpack_from("<QQ6I", data, 40)
    directory = unpacked(data[at:at + packed], compression)
    assert len(directory) == size
    rows = [struct.unpack_from("<QIII", data, table + 20 * i) for i in range(chunks)]
    held = [unpacked(data[foff:foff + packed], compression) for foff, compression, packed, _ in rows]
    out, at = [], 0
    for _ in range(count):
        stream = b""
        while True:
            size, = struct.unpack_from("<I", directory, at)
            at += 4
            if size in (0, ABSENT):
                break
            place, = struct.unpack_from("<Q", directory, at)
            at += 8
            whole, start = (held[place >> 32 & 0x7FFFFFFF], place & 0xFFFFFFFF) if place >> 63 else (data, place)
            assert start + size <= len(whole)  # a fragment in two chunks is not read here
            stream += whole[start:start + size]
        out.append(stream)
    return out


def unpacked(data, compression):
    assert compression in (0, DEFLATE)
    return zlib.decompress(data, -15) if compression else data


def streams(data):
    return streams_of_msfz(data) if data.startswith(MSFZ[:24]) else streams_of_msf(data)


def msf(contents):
    blocks, numbers = [], []
    for stream in contents:
        count = blocks_of(len(stream), BLOCK)
        numbers.append(range(3 + len(blocks), 3 + len(blocks) + count))
        blocks += [stream[BLOCK * i:BLOCK * (i + 1)].ljust(BLOCK, b"\0") for i in range(count)]
    directory = struct.pack("<I", len(contents)) + b"".join(struct.pack("<I", len(s)) for s in contents)
    directory += b"".join(struct.pack(f"<{len(row)}I", *row) for row in numbers)
    count = blocks_of(len(directory), BLOCK)
    first = 3 + len(blocks)
    blocks += [directory[BLOCK * i:BLOCK * (i + 1)].ljust(BLOCK, b"\0") for i in range(count)]
    blocks.append(struct.pack(f"<{count}I", *range(first, first + count)).ljust(BLOCK, b"\0"))
    total = 3 + len(blocks)
    assert count <= BLOCK // 4 and total <= 8 * BLOCK
    head = MSF + struct.pack("<6I", BLOCK, 1, total, len(directory), 0, first + count)
    free = bytearray(b"\xff" * BLOCK)
    for number in range(total):
        free[number // 8] &= ~(1 << number % 8)
    return head.ljust(BLOCK, b"\0") + bytes(free) * 2 + b"".join(blocks)


def deflated(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def msfz(contents, chunk=65536):
    """All streams in chunks, one after the other; a stream that crosses chunks has several fragments."""
    out, whole = bytearray(80), b"".join(contents)
    rows = []
    for at in range(0, len(whole), chunk):
        part = whole[at:at + chunk]
        packed = deflated(part)
        rows.append(struct.pack("<QIII", len(out), DEFLATE, len(packed), len(part)))
        out += packed
    directory, at = b"", 0
    for stream in contents:
        end = at + len(stream)
        while at < end:
            size = min(end - at, chunk - at % chunk)
            directory += struct.pack("<IQ", size, 1 << 63 | at // chunk << 32 | at % chunk)
            at += size
        directory += struct.pack("<I", 0)
    table = len(out)
    out += b"".join(rows)
    packed = deflated(directory)
    struct.pack_into("<32sQQQ6I", out, 0, MSFZ, 0, len(out), table, len(contents), DEFLATE, len(packed), len(directory), len(rows), 20 * len(rows))
    return bytes(out + packed)


def sections(image):
    """The section headers of a PE file, and {name: rva}."""
    pe, = struct.unpack_from("<I", image, 60)
    count, optional = struct.unpack_from("<H12xH", image, pe + 6)
    raw = image[pe + 24 + optional:pe + 24 + optional + 40 * count]
    return raw, {raw[i:i + 8].rstrip(b"\0").decode(): struct.unpack_from("<I", raw, i + 12)[0] for i in range(0, len(raw), 40)}


def with_omap(contents, moved, image):
    """The streams of a PDB after its code was moved to where IMAGE has it: MOVED is [(rva now, rva then)], then 0 where nothing was."""
    out = list(contents)
    dbi = bytearray(out[DBI])
    rest = struct.unpack_from("<5i4xii", dbi, 24)
    at = 64 + sum(rest[:5]) + rest[6]
    slots = list(struct.unpack_from(f"<{rest[5] // 2}H", dbi, at))
    there = sorted(moved)
    back = sorted((then, now) for now, then in moved if then)
    rows = {OMAP_TO_SOURCE: there, OMAP_FROM_SOURCE: back}
    slots[SECTIONS_OF_SOURCE] = slots[SECTIONS]
    for slot, table in rows.items():
        slots[slot] = len(out)
        out.append(b"".join(struct.pack("<II", *row) for row in table))
    slots[SECTIONS] = len(out)
    out.append(sections(image)[0])
    struct.pack_into(f"<{len(slots)}H", dbi, at, *slots)
    out[DBI] = bytes(dbi)
    return out


def renamed(image, name, identity=None):
    """A PE file whose CodeView record names the PDB NAME, which is not longer, and has the GUID and age of IDENTITY."""
    at = image.index(b"RSDS")
    end = image.index(b"\0", at + 24)
    assert len(name) <= end - at - 24
    out = bytearray(image)
    out[at + 24:end] = name.encode().ljust(end - at - 24, b"\0")
    if identity:
        out[at + 4:at + 24] = identity[identity.index(b"RSDS") + 4:][:20]
    return bytes(out)


# ---- Mach-O: loader.h of xnu, and ELF with the same code and information for readers that know that alone


def macho_sections(data):
    """{name: (address, bytes)} of a thin 64-bit file; sections without bytes in the file are left out."""
    out, at = {}, 32
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        command, size = struct.unpack_from("<2I", data, at)
        for row in range(at + 72, at + size, 80) if command == 0x19 else ():  # LC_SEGMENT_64
            name, address, length, place = struct.unpack_from("<16s16x2QI", data, row)
            if place:
                out[name.rstrip(b"\0").decode("ascii")] = address, data[place:place + length]
        at += size
    return out


def elf_of_macho(image, symbols):
    """The code of the library IMAGE at its addresses, with the DWARF of its dSYM SYMBOLS."""
    address, code = macho_sections(image)["__text"]
    debug = {name.replace("__", ".", 1): content for name, (_, content) in macho_sections(symbols).items() if name.startswith("__debug_")}
    debug = {{".debug_str_offs": ".debug_str_offsets"}.get(name, name): content for name, content in debug.items()}
    machine = {0x01000007: 62, 0x0100000C: 183}[struct.unpack_from("<I", image, 4)[0]]
    out, rows = bytearray(0x1000 + address % 0x1000) + code, [bytes(64)]
    names = bytearray(b"\0.text\0")
    rows.append(struct.pack("<IIQQQQIIQQ", 1, 1, 6, address, len(out) - len(code), len(code), 0, 0, 16, 0))
    for name, content in [*debug.items(), (".shstrtab", None)]:
        at = len(names)
        names += name.encode("ascii") + b"\0"
        content = content if content is not None else bytes(names)
        rows.append(struct.pack("<IIQQQQIIQQ", at, 3 if name == ".shstrtab" else 1, 0, 0, len(out), len(content), 0, 0, 1, 0))
        out += content
    out += bytes(-len(out) % 8)
    struct.pack_into("<4sBBB9xHHIQQQIHHHHHH", out, 0, b"\x7fELF", 2, 1, 1, 3, machine, 1, 0, 64, len(out), 0, 64, 56, 1, 64, len(rows), len(rows) - 1)
    struct.pack_into("<IIQQQQQQ", out, 64, 1, 5, 0x1000 + address % 0x1000, address, address, len(code), len(code), 0x1000)
    return bytes(out) + b"".join(rows)
