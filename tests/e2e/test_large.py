"""Files larger than 4 and 8 GiB: a PDB and a dump, both sparse, give the same answers as the small
ones."""

import json
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

GIB = 1 << 30
PDB = e2e.ROOT / "corpus/crash-x86/crash.pdb"
DUMP = e2e.ROOT / "corpus/cases/null_write.ob2"
STACK = "crash.exe!0x2755\ncrash.exe!0x2a3d\n"


def msf_streams(data):
    """The streams of an MSF file; None for a stream that does not exist."""
    size, _, _, directory_bytes, _, map_block = struct.unpack_from("<6I", data, 32)

    def read(blocks, total):
        return b"".join(data[b * size:(b + 1) * size] for b in blocks)[:total]

    count = -(-directory_bytes // size)
    directory = read(struct.unpack_from(f"<{count}I", data, map_block * size), directory_bytes)
    streams, = struct.unpack_from("<I", directory)
    sizes = struct.unpack_from(f"<{streams}I", directory, 4)
    at, out = 4 + 4 * streams, []
    for total in sizes:
        if total == 0xffffffff:
            out.append(None)
            continue
        count = -(-total // size)
        out.append(read(struct.unpack_from(f"<{count}I", directory, at), total))
        at += 4 * count
    return out


def write_msf(path, streams, size, first_block):
    """Writes the streams to blocks of SIZE bytes from FIRST_BLOCK on; everything before stays a
    hole."""
    at, lists = first_block, []
    with open(path, "wb") as file:
        def put(data):
            nonlocal at
            blocks = list(range(at, at + -(-len(data) // size)))
            file.seek(at * size)
            file.write(data)
            at += len(blocks)
            return blocks
        for stream in streams:
            lists.append(put(stream or b""))
        directory = struct.pack("<I", len(streams))
        directory += b"".join(struct.pack("<I", 0xffffffff if s is None else len(s)) for s in streams)
        directory += b"".join(struct.pack(f"<{len(b)}I", *b) for b in lists)
        directory_blocks = put(directory)
        map_blocks = put(struct.pack(f"<{len(directory_blocks)}I", *directory_blocks))
        file.truncate(at * size)
        file.seek(0)
        file.write(b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0")
        file.write(struct.pack("<6I", size, 1, at, len(directory), 0, map_blocks[0]))


def write_dump(path, data, hole):
    """The dump with its memory list as a 64-bit one whose first range is HOLE bytes of zeros."""
    data = bytearray(data)
    count, directory = struct.unpack_from("<II", data, 8)
    ranges, slot = [], None
    for i in range(count):
        kind, _, at = struct.unpack_from("<III", data, directory + 12 * i)
        if kind == 5:
            number, = struct.unpack_from("<I", data, at)
            ranges = [struct.unpack_from("<QII", data, at + 4 + 16 * k) for k in range(number)]
            slot = directory + 12 * i
    data += bytes(-len(data) % 16)
    at, start = len(data), 0x7e0000000000
    base = at + 16 + 16 * (len(ranges) + 1)
    data += struct.pack("<QQQQ", len(ranges) + 1, base, start, hole)
    data += b"".join(struct.pack("<QQ", va, size) for va, size, _ in ranges)
    struct.pack_into("<III", data, slot, 9, 16 + 16 * (len(ranges) + 1), at)
    with open(path, "wb") as file:
        file.write(data)
        file.seek(base + hole)
        for _, size, foff in ranges:
            file.write(data[foff:foff + size])


class Large(e2e.Case):
    def test_a_pdb_over_4_gib_answers_as_the_small_one(self):
        want = self.run_twinstack("resolve", "--pdb", PDB, "--json", stdin=STACK).stdout
        self.assertIn("main", want)
        streams = msf_streams(PDB.read_bytes())
        for size, first in ((4096, 5 * GIB // 4096), (32768, 5 * GIB // 32768), (32768, 9 * GIB // 32768)):
            with self.subTest(block=size, first=first):
                path = self.folder / "crash.pdb"
                write_msf(path, streams, size, first)
                self.assertGreater(path.stat().st_size, first * size)
                self.assertLess(path.stat().st_blocks * 512, 1 << 26, "the file is not sparse")
                self.assertEqual(self.run_twinstack("resolve", "--pdb", path, "--json", stdin=STACK).stdout, want)

    def test_a_dump_over_4_and_8_gib_answers_as_the_small_one(self):
        dump = next(DUMP.glob("*.dmp"))
        symbols = ["--symbols", e2e.ROOT / "corpus/symbols", "--stacks", "--json"]
        want = json.loads(self.run_twinstack("dump", dump, *symbols).stdout)["threads"]
        self.assertIn("null_write", json.dumps(want))
        for hole in (5 * GIB, 9 * GIB):
            with self.subTest(bytes=hole):
                path = self.folder / "large.dmp"
                write_dump(path, dump.read_bytes(), hole)
                got = json.loads(self.run_twinstack("dump", path, *symbols).stdout)["threads"]
                self.assertEqual([t["stack"]["frames"] for t in got], [t["stack"]["frames"] for t in want])


e2e.main()
