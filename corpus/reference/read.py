#!/usr/bin/python3
"""Reads the reference suite with Python alone: read.py [FOLDER] checks every hash and prints the cases per shape and level.

cases(FOLDER) yields each case as a dictionary; loaded(FOLDER, case) gives the memory of a moment: its images and its stack."""

import collections
import hashlib
import json
import pathlib
import struct
import sys


def suite(folder):
    return json.loads((folder / "suite.json").read_text(encoding="utf-8"))


def cases(folder):
    for name in suite(folder)["lists"]:
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def image(path):
    """The bytes of a PE file as the loader lays them out."""
    data = path.read_bytes()
    pe, = struct.unpack_from("<I", data, 60)
    count, = struct.unpack_from("<H", data, pe + 6)
    optional, = struct.unpack_from("<H", data, pe + 20)
    memory = bytearray(struct.unpack_from("<I", data, pe + 80)[0])
    memory[:1024] = data[:1024]
    for i in range(count):
        size, start, raw, place = struct.unpack_from("<4I", data, pe + 24 + optional + 40 * i + 8)
        part = data[place:place + min(raw, size)]
        memory[start:start + len(part)] = part
    return bytes(memory)


def loaded(folder, case):
    """[(address, bytes)] of all memory that the case gives."""
    given = case["given"]
    return [(int(m["base"], 16), image(folder / m["path"])) for m in given["modules"]] + \
        [(int(part["at"], 16), bytes.fromhex(part["bytes"])) for part in given["stack"]]


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    folder = folder if folder.is_dir() else folder.parent
    for file in suite(folder)["files"]:
        if hashlib.sha256((folder / file["path"]).read_bytes()).hexdigest() != file["sha256"]:
            sys.exit(f"{file['path']}: its bytes are not those of suite.json; fetch the folder again")
    counts = collections.Counter((c["kind"], c["processor"], c["shape"], c["truth"]["level"]) for c in cases(folder))
    for row, count in sorted(counts.items()):
        print(*row, count)


if __name__ == "__main__":
    main()
