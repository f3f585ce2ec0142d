"""Where an address of the suite is: what every symbolizer is asked with."""

import pathlib
import struct

HEADER = 4096


def base(path):
    """The preferred base of a PE file; 0 for ELF, whose addresses are what the suite calls rva."""
    with path.open("rb") as stream:
        data = stream.read(HEADER)
    if data[:2] != b"MZ":
        return 0
    pe, = struct.unpack_from("<I", data, 60)
    if struct.unpack_from("<H", data, pe + 24)[0] == 0x20b:
        return struct.unpack_from("<Q", data, pe + 48)[0]
    return struct.unpack_from("<I", data, pe + 52)[0]


def is_windows(path):
    with path.open("rb") as stream:
        return stream.read(2) == b"MZ"


def asked(folder, question):
    """(image, address at its preferred base): of a return address, that of the byte before it, which belongs to the call."""
    given = question["given"]
    image = (pathlib.Path(folder) / given["image"]).resolve()
    return image, base(image) + int(given["rva"], 16) - (given["lookup"] == "return")


def frame(function, file, line, inlined):
    """A frame of an answer: what a tool prints for "unknown" becomes null."""
    return {"function": None if function in (None, "", "??") else function, "file": None if file in (None, "", "??") else file,
            "line": line or None, "inlined": inlined}
