#!/usr/bin/python3
"""A contestant to start from. It takes every function for a leaf: put your unwinder where `walk` is."""
import json
import sys


def walk(given):
    stack = [(int(p["at"], 16), bytes.fromhex(p["bytes"])) for p in given["stack"]]
    ip, sp = (int(given["registers"][name], 16) for name in ("rip", "rsp"))
    while any(int(m["base"], 16) <= ip < int(m["base"], 16) + int(m["size"], 16) for m in given["modules"]):
        yield {"ip": hex(ip), "sp": hex(sp)}
        ip = next((int.from_bytes(b[sp - at:sp - at + 8], "little") for at, b in stack if at <= sp < at + len(b)), 0)
        sp += 8


for line in sys.stdin:
    ask = json.loads(line)
    print(json.dumps({"name": "example", "version": "1", "bugs": None, "can": ["moments.x64"]} if "hello" in ask else
                     {"id": ask["id"], "frames": list(walk(ask["given"]))}), flush=True)
