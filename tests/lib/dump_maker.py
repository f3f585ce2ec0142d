"""Makes minidumps for tests and benchmarks. They contain exactly what the caller puts into them.

    d = Dump(arch="x64")
    m = d.module("a.exe", base, size, stamp, codeview=b"RSDS...")
    d.memory(va, data)
    d.thread(1, registers={"pc": ..., "sp": ..., "r": [...]})
    d.exception(1, 0xC0000005, address)
    d.save(path)

The layouts are those of Microsoft's minidumpapiset.h; a CONTEXT is that of winnt.h."""

import struct

MAGIC, VERSION = 0x504D444D, 0xA793
THREADS, MODULES, MEMORY, EXCEPTION, SYSTEM, MEMORY64 = 3, 4, 5, 6, 7, 9
ARCHITECTURES = {"x86": 0, "x64": 9, "arm64": 12, "arm": 5}
# Offsets of the general registers in a CONTEXT, by the processor's numbers for the registers.
X86 = {0: 0xB0, 1: 0xAC, 2: 0xA8, 3: 0xA4, 5: 0xB4, 6: 0xA0, 7: 0x9C}


def context(arch, pc, sp, r=(), vectors=(), xstate=b""):
    """A CONTEXT with integer, control and, where given, vector registers (pairs of 64 bits)."""
    r = list(r) + [0] * 32
    if arch == "x86":
        out = bytearray(716)
        struct.pack_into("<I", out, 0, 0x1003F)
        for number, offset in X86.items():
            struct.pack_into("<I", out, offset, r[number] & 0xFFFFFFFF)
        struct.pack_into("<IIII", out, 0xB8, pc, 0x23, 0x246, sp)
        return bytes(out)
    if arch == "x64":
        out = bytearray(1232)
        struct.pack_into("<I", out, 0x30, 0x10001F)
        struct.pack_into("<HHHHHHI", out, 0x38, 0x33, 0x2B, 0x2B, 0x53, 0x2B, 0x2B, 0x246)
        struct.pack_into("<16Q", out, 0x78, *r[:16])
        struct.pack_into("<Q", out, 0x98, sp)
        struct.pack_into("<Q", out, 0xF8, pc)
        for i, pair in enumerate(vectors):
            struct.pack_into("<QQ", out, 0x1A0 + 16 * i, *pair)
        return bytes(out) + xstate
    if arch == "arm":  # Breakpad's form, without vector registers
        return struct.pack("<I13IIIII296x", 0x40000006, *r[:13], sp, r[14], pc, 0x10)
    out = bytearray(912)
    struct.pack_into("<I", out, 0, 0x40001F)
    struct.pack_into("<31QQQ", out, 8, *r[:31], sp, pc)
    for i, pair in enumerate(vectors):
        struct.pack_into("<QQ", out, 0x110 + 16 * i, *pair)
    return bytes(out)


def text(string):
    """MINIDUMP_STRING."""
    raw = string.encode("utf-16-le")
    return struct.pack("<I", len(raw)) + raw + b"\0\0"


class Dump:
    STREAMS_MAX = 24

    def __init__(self, arch="x64", platform=2, version=(10, 0, 19045), architecture=None, service_pack=""):
        self.arch = arch
        self.blob = bytearray(32 + 12 * self.STREAMS_MAX)
        self.rows = []
        self.modules, self.threads, self.ranges, self.ranges64 = [], [], [], []
        number = ARCHITECTURES[arch] if architecture is None else architecture
        self.stream(SYSTEM, struct.pack("<HHHBBIIIIIHH24x", number, 6, 0, 2, 1, *version, platform,
                                        self.put(text(service_pack)), 0, 0))

    def put(self, data):
        """Appends bytes; returns their file offset."""
        self.blob += bytes(-len(self.blob) % 8)
        at = len(self.blob)
        self.blob += data
        return at

    def stream(self, kind, data):
        self.rows.append((kind, len(data), self.put(data)))

    def module(self, name, base, size, stamp=0, codeview=b"", checksum=0):
        name_at = self.put(text(name))
        codeview_at = self.put(codeview) if codeview else 0
        self.modules.append(struct.pack("<QIIII52xII8x16x", base, size, checksum, stamp, name_at,
                                        len(codeview), codeview_at))

    def memory(self, va, data):
        self.ranges.append((va, len(data), self.put(data)))

    def thread(self, number, pc=0, sp=0, r=(), vectors=(), teb=0, raw=None, stack=None, xstate=b""):
        """RAW: the bytes of the context (b"": no context); STACK: (va, data), added to the memory list too."""
        if raw is None:
            raw = context(self.arch, pc, sp, r, vectors, xstate)
        context_at = self.put(raw) if raw else 0
        place = (0, 0, 0)
        if stack:
            self.memory(*stack)
            place = self.ranges[-1]
        self.threads.append(struct.pack("<IIIIQQIIII", number, 0, 32, 0, teb, *place, len(raw), context_at))
        return len(raw), context_at

    def exception(self, thread, code, address, information=(), context_place=(0, 0)):
        info = list(information) + [0] * (15 - len(information))
        self.stream(EXCEPTION, struct.pack("<IIIIQQII15QII", thread, 0, code, 0, 0, address, len(information), 0,
                                           *info, *context_place))

    def bytes(self, memory64=()):
        """MEMORY64: (va, data) ranges, whose bytes come last in the file, as full dumps have them."""
        rows = [(MODULES, self.modules), (THREADS, self.threads)]
        for kind, parts in rows:
            if parts:
                self.stream(kind, struct.pack("<I", len(parts)) + b"".join(parts))
        if self.ranges:
            self.stream(MEMORY, struct.pack("<I", len(self.ranges)) +
                        b"".join(struct.pack("<QII", *r) for r in self.ranges))
        if memory64:
            base = len(self.blob) + 16 + 16 * len(memory64) + 8
            base += -base % 16
            self.stream(MEMORY64, struct.pack("<QQ", len(memory64), base) +
                        b"".join(struct.pack("<QQ", va, len(data)) for va, data in memory64))
            self.blob += bytes(base - len(self.blob))
        struct.pack_into("<IIII", self.blob, 0, MAGIC, VERSION, len(self.rows), 32)
        for i, row in enumerate(self.rows):
            struct.pack_into("<III", self.blob, 32 + 12 * i, *row)
        return bytes(self.blob)

    def save(self, path, memory64=()):
        with open(path, "wb") as out:
            out.write(self.bytes(memory64))
            for _, data in memory64:
                out.write(data)


class Image:
    """The few facts about a PE file that a dump needs."""

    def __init__(self, path):
        with open(path, "rb") as file:
            d = self.data = file.read()
        pe = struct.unpack_from("<I", d, 60)[0]
        count, self.stamp = struct.unpack_from("<HI", d, pe + 6)
        optional = pe + 24
        wide = struct.unpack_from("<H", d, optional)[0] == 0x20B
        self.entry = struct.unpack_from("<I", d, optional + 16)[0]
        self.base = struct.unpack_from("<Q", d, optional + 24)[0] if wide else struct.unpack_from(
            "<I", d, optional + 28)[0]
        self.size = struct.unpack_from("<I", d, optional + 56)[0]
        directory = optional + (112 if wide else 96)
        self.pdata = struct.unpack_from("<II", d, directory + 24)
        self.debug = struct.unpack_from("<II", d, directory + 48)
        self.relocations = struct.unpack_from("<II", d, directory + 40)
        table = optional + struct.unpack_from("<H", d, pe + 20)[0]
        self.sections = [struct.unpack_from("<IIII", d, table + 40 * i + 8) for i in range(count)]

    def at(self, rva, form):
        for _, start, raw, offset in self.sections:
            if start <= rva < start + raw:
                return struct.unpack_from(form, self.data, rva - start + offset)
        raise ValueError("rva %x is in no section" % rva)

    def codeview(self):
        for i in range(self.debug[1] // 28):
            _, _, _, _, kind, size, place, _ = self.at(self.debug[0] + 28 * i, "<IIHHIIII")
            if kind == 2:
                return bytes(self.at(place, "<%dB" % size))
        return b""

    def loaded(self):
        """The image as the loader lays it out at its preferred base."""
        out = bytearray(self.size)
        head = min(s[3] for s in self.sections if s[3])
        out[:head] = self.data[:head]
        for virtual, start, raw, offset in self.sections:
            part = self.data[offset:offset + min(raw, virtual or raw)]
            out[start:start + len(part)] = part
        return bytes(out)
