#!/usr/bin/python3
"""WinDbg's walk: dbgeng.py [wine] PROGRAM          PROGRAM: twinstack-dbgeng.exe, beside Microsoft's DLLs

Runs: one PROGRAM for all questions (`--serve`): it opens a dump with dbgeng.dll and prints each thread's frames as JSON. Its source is
capture/judge. A folder has it with dbgeng.dll, dbghelp.dll, dbgcore.dll, dbgmodel.dll and msdia140.dll for x64, as the Debugging Tools for
Windows have them, or `./run debugger --accept-licence`. They are Microsoft's, and none of them is here.
A moment becomes a minidump of one thread (dump_of_moments.py). The images of a dump are linked into one folder, as dbgeng takes no symbol server's
layout from disk. Stack pointers are those of the thread with the exception, on x64 and arm64; what is not given is not compared.
Seen with: dbgeng 10.0.29507.1001 under Wine 8.0. Not run on Windows.
By hand: `dump_of_moments.py SUITE ID moment.dmp`, then `wine twinstack-dbgeng.exe /absolute/moment.dmp /absolute/SUITE/images`, with
WINEDLLOVERRIDES='dbghelp,dbgcore,msdia140,dbgeng,dbgmodel=n'."""

import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import contestant
import dump_of_moments

NATIVE = "mscoree,mshtml,winedbg.exe=;dbghelp,dbgcore,msdia140,dbgeng,dbgmodel=n"
FIXED_INFO = b"\xbd\x04\xef\xfe\0\0\1\0" # the first words of VS_FIXEDFILEINFO; the DLL has several, its own is the last


def version(dll):
    data = dll.read_bytes()
    first, last = struct.unpack_from("<II", data, data.rindex(FIXED_INFO) + 8)
    return f"{first >> 16}.{first & 0xFFFF}.{last >> 16}.{last & 0xFFFF}"


def last_part(path):
    return re.split(r"[/\\]", path)[-1].lower()


def bases(data):
    """{name: base} of the module list of a dump."""
    count, at = struct.unpack_from("<II", data, 8)
    rows = next(place for kind, _, place in (struct.unpack_from("<III", data, at + 12 * i) for i in range(count)) if kind == dump_of_moments.MODULES)
    out = {}
    for row in range(rows + 4, rows + 4 + 108 * struct.unpack_from("<I", data, rows)[0], 108):
        base, name = struct.unpack_from("<Q", data, row)[0], struct.unpack_from("<I", data, row + 20)[0]
        length, = struct.unpack_from("<I", data, name)
        out[last_part(data[name + 4:name + 4 + length].decode("utf-16-le"))] = base
    return out


def frames_of(thread, places):
    """[(ip, sp)] of the frames that are not inlined."""
    stack = {row["index"]: int(row["sp"], 16) for row in thread.get("evidence", ())}
    return [(int(frame["offset"], 16) + (places[last_part(frame["module"])] if frame["module"] else 0), stack.get(frame["index"]))
            for frame in thread["frames"] if not frame["inlined"]]


class Engine:
    def __init__(self, command):
        self.command = command
        self.process = subprocess.Popen([*command, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        errors="replace", env={**os.environ, "WINEDEBUG": "-all", "WINEDLLOVERRIDES": NATIVE})

    def walk(self, dump, folder, thread):
        self.process.stdin.write(f"{dump}\t{folder}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"dbgeng.py: {self.command[-1]} ended with {self.process.wait()}")
        said = json.loads(line)
        if "error" in said:
            raise RuntimeError(said["error"])
        places = bases(dump.read_bytes())
        return next((frames_of(one, places) for one in said["threads"] if one["id"] == thread), [])


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: dbgeng.py [wine] twinstack-dbgeng.exe")
    command = [contestant.program(word) for word in sys.argv[1:]]
    dll = pathlib.Path(command[-1]).resolve().parent / "dbgeng.dll"
    if not dll.is_file():
        sys.exit(f"dbgeng.py: there is no dbgeng.dll beside {sys.argv[-1]}")
    engine = Engine(command)
    with tempfile.TemporaryDirectory() as place:
        dump, folders = pathlib.Path(place, "moment.dmp"), {}

        def moment(folder, question):
            given = question["given"]
            dump.write_bytes(dump_of_moments.written(folder, [given]))
            return engine.walk(dump, (folder / given["modules"][0]["path"]).resolve().parent, 1)

        def of_dump(folder, question):
            given = question["given"]
            if given["symbols"] not in folders:
                flat = folders[given["symbols"]] = pathlib.Path(place, str(len(folders)))
                flat.mkdir()
                for path in (folder / given["symbols"]).resolve().rglob("*.*") if given["symbols"] else ():
                    if path.is_file():
                        (flat / path.name).symlink_to(path)
            return engine.walk((folder / given["dump"]).resolve(), folders[given["symbols"]], given["thread"])

        contestant.serve("Windows dbgeng", version(dll), {f"{kind}.{processor}": answer for kind, answer in (("moments", moment), ("dumps", of_dump))
                                                          for processor in ("x64", "arm64", "x86")}, lacks=["unwind-v3"])


if __name__ == "__main__":
    main()
