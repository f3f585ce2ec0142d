"""Records (capture/record.h) for tests, as small as they may be: one module, stacks of it."""

import struct

CRASH, HANG, ON_DEMAND = 1, 2, 3
WALKERS = {"rtl": 1, "dbghelp": 2, "dbghelp-own": 3, "backtrace": 4, "framepointer": 5}
OK, NOT_APPLICABLE, BLOCKED = 0, 1, 2
RETURN, CAPTURE = 1, 128
BASE, NO_MODULE = 0x140000000, 0xFFFFFFFF
THREAD = 7


def section(kind, count, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<4I", kind, 16 + len(body), count, 0) + body


def modules(name):
    path = f"C:\\{name}".encode()
    entry = bytearray(64) + path + bytes(-len(path) % 8)
    struct.pack_into("<IIQQQQ", entry, 0, len(entry), 0x5F5E1000, BASE, 0x100000, 0, 2**64 - 1)
    struct.pack_into("<HH", entry, 60, len(path), 0)
    return section(1, 1, bytes(entry))


def stack(offsets, walker="rtl", state=OK, thread=THREAD, capture=0):
    """The first CAPTURE frames are the capture's own."""
    frames = b"".join(struct.pack("<IIQ", 0, (RETURN if i else 0) | (CAPTURE if i < capture else 0), offset) for i, offset in enumerate(offsets))
    head = struct.pack("<6IQQII", WALKERS[walker], state, thread, 0, 0, 0, 1000, 1000, 0, 0)
    return section(3, len(offsets), head + frames)


def captures(*stacks):
    """What was captured on demand: stacks of offsets."""
    entries = b""
    for at, offsets in enumerate(stacks):
        frames = b"".join(struct.pack("<Q", BASE + offset | (RETURN if i else 0) << 48) for i, offset in enumerate(offsets))
        entries += struct.pack("<IIQIIHHI", 32 + len(frames), THREAD, 100 + at, 10, 0, len(offsets), 0, 0) + frames
    return section(6, len(stacks), struct.pack("<QQQ", len(stacks), 1, 1) + entries)


def record(*sections, kind=CRASH, module="a.exe", machine=0x8664):
    body = b"".join((modules(module), *sections))
    head = bytearray(128)
    head[:8] = b"TWINREC1"
    struct.pack_into("<7I", head, 8, 2, 128, machine, kind, 1, THREAD, 0xC0000005 if kind == CRASH else 0)
    struct.pack_into("<QII", head, 72, 128 + len(body), 8, 1)
    return bytes(head) + body
