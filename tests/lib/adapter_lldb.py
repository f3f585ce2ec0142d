#!/usr/bin/python3
"""An example of the adapter's protocol (analyze/engine/README.md): lldb as a judge that reports its own backtrace.

    TWINSTACK_ADAPTER="lldb-script=python3 tests/lib/adapter_lldb.py lldb-19" twinstack check CASE

The case comes on standard input; the working folder holds the dump, the images and the PDBs."""

import json
import re
import subprocess
import sys
import time

#  * frame #0: 0x0000000140001234 victims-ob2.exe`poke(p=...) [inlined] inner at null_write.c:12:3
FRAME = re.compile(r"frame #(\d+): 0x([0-9a-f]+) (?:([^`]+)`)?(.*?)(?: at (.+?):(\d+)(?::\d+)?)?$")
NAME = re.compile(r"(?:.*\[inlined\] )?([^(\[]+?)(?:\(.*)?(?: \+ \d+)?$")
IMAGE = re.compile(r"\[ *\d+\] \S+ +0x([0-9a-f]+) (.+)$")


def backtrace(lldb, dump):
    commands = ["settings set target.exec-search-paths .", f"target create -c {dump}", "image list -u -o -f",
                "image list", "thread backtrace"]
    words = [word for command in commands for word in ("-o", command)]
    return subprocess.run([lldb, "--no-lldbinit", "-b", *words], capture_output=True, text=True, check=True,
                          errors="replace").stdout


def frames_of(text):
    bases = {}
    for row in text.splitlines():
        image = IMAGE.search(row)
        if image:
            bases[re.split(r"[\\/]", image[2].split(" (")[0].strip())[-1].lower()] = int(image[1], 16)
    for row in text.splitlines():
        found = FRAME.search(row.strip())
        if not found:
            continue
        number, address, module, function, file, line = found.groups()
        name = NAME.match(function.strip()) if function.strip() else None
        offset = int(address, 16) - bases.get((module or "").lower(), 0)
        yield {"index": int(number), "inline_depth": 0, "module": module, "offset": hex(offset),
               "function": name[1] if name and file else None, "file": file, "line": int(line) if line else None}


def main():
    lldb = sys.argv[1] if len(sys.argv) > 1 else "lldb"
    case = json.loads(sys.stdin.readline())
    dump = next(f["path"] for f in case["files"] if f["role"] == "dump")
    version = subprocess.run([lldb, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    start = time.monotonic_ns()
    frames = list(frames_of(backtrace(lldb, dump)))
    print(json.dumps({"schema_version": 1, "version": version, "times": {"unwind_ns": time.monotonic_ns() - start},
                      "threads": [{"id": 0, "crashed": True, "frames": frames}]}))


main()
