#!/usr/bin/python3
"""Makes corpus/broken again: good files of the corpus, each damaged in one stated way, always the same."""

import pathlib
import shutil
import struct

CORPUS = pathlib.Path(__file__).resolve().parent
CASE = CORPUS / "cases/null_write.ob2"
BROKEN = CORPUS / "broken"
THREAD_LIST = 3
MEMORY_STREAMS = (5, 9)  # MemoryListStream, Memory64ListStream


def case_file(ending):
    return next(f for f in sorted(CASE.iterdir()) if f.name.endswith(ending)).read_bytes()


def without_memory(dump):
    """The dump with its lists of memory turned into unused entries (type 0) of the stream directory, and no stacks of threads."""
    data = bytearray(dump)
    count, directory = struct.unpack_from("<II", data, 8)
    for entry in range(directory, directory + 12 * count, 12):
        kind, _, at = struct.unpack_from("<III", data, entry)
        if kind in MEMORY_STREAMS:
            struct.pack_into("<III", data, entry, 0, 0, 0)
        for thread in range(struct.unpack_from("<I", data, at)[0] if kind == THREAD_LIST else 0):
            struct.pack_into("<II", data, at + 4 + 48 * thread + 32, 0, 0)
    return bytes(data)


def main():
    record, dump, pdb = case_file(".rec"), case_file("dump.dmp"), (CORPUS / "crash-x86/crash.pdb").read_bytes()
    files = {
        "empty.rec": b"",
        "truncated.rec": record[: len(record) // 2],
        "wrong-magic.rec": b"\0" * 8 + record[8:],
        "empty.dmp": b"",
        "truncated.dmp": dump[:3000],
        "wrong-magic.dmp": b"\0" * 4 + dump[4:3000],
        "no-memory.dmp": without_memory(dump),
        "empty.pdb": b"",
        "truncated.pdb": pdb[:20000],
        "wrong-magic.pdb": b"this is text and no PDB\n" * 20,
        "wrong-text.txt": b"capture-stack.exe+0x51723\nnot a frame at all\n",
        "truncated.json": b'{"schema_version":1,"modules":[{"index":0,"name":"a.exe"',
        "wrong-rows.csv": b"these,are,not,the,rows\nof,a,symbol,table,either\n",
    }
    shutil.rmtree(BROKEN, ignore_errors=True)
    BROKEN.mkdir()
    for name, data in files.items():
        (BROKEN / name).write_bytes(data)


if __name__ == "__main__":
    main()
