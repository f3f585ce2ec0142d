#!/usr/bin/python3
"""A symbolizer to start from. It knows the symbol table of 64-bit ELF files, no lines and no inlined calls: put yours where `name` is."""
import json
import struct
import sys


def name(path, rva):
    data = open(path, "rb").read()
    if data[:5] != b"\x7fELF\2":
        return []
    at, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * size) for i in range(count)]
    table = next((s for s in sections if s[1] == 2), None) or [0] * 10
    text = sections[table[6]][4]
    rows = [struct.unpack_from("<IBBHQQ", data, at) for at in range(table[4], table[4] + table[5], 24)]
    found = next((data[text + r[0]:].split(b"\0", 1)[0].decode() for r in rows if r[1] & 15 == 2 and r[4] <= rva < r[4] + r[5]), None)
    return [{"function": found, "file": None, "line": None, "inlined": False}] if found else []


for line in sys.stdin:
    ask = json.loads(line)
    if "hello" in ask:
        suite = ask["suite"]
        answer = {"name": "example", "version": "1", "bugs": None, "can": ["addresses.dwarf"]}
    else:
        given = ask["given"]
        answer = {"id": ask["id"], "frames": name(f"{suite}/{given['image']}", int(given["rva"], 16) - (given["lookup"] == "return"))}
    print(json.dumps(answer), flush=True)
