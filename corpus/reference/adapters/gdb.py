#!/usr/bin/python3
"""GDB's walk: gdb.py [PROGRAM]          PROGRAM: x86_64-w64-mingw32-gdb (if not given), or another GDB built for Windows' programs

Runs: one GDB for all questions. GDB reads no minidumps, so this program is a remote target (registers and memory, nothing runs) at a
port of 127.0.0.1; per question `file IMAGE`, `target remote`, each frame by GDB's Python, `disconnect`. With osabi Windows GDB unwinds
by the image's .pdata (amd64-windows-tdep.c); of x86 it reads no frame data of a PDB, and goes by its analysis of prologues. Memory is
the image as the loader lays it out and the parts of the stack; no memory is cached. eflags is 0x246, segment registers and vectors are
unavailable. One module per moment; more are unsupported. The images have entry point 0, which GDB takes for where every walk ends, so
`backtrace past-entry` is on.
Seen with: GDB 13.1 of Debian 12's gdb-mingw-w64. Its gdb and gdb-multiarch know no osabi Windows: unsupported.
By hand: `gdb.py --serve SUITE ID | x86_64-w64-mingw32-gdb -nx -q`; it prints GDB's commands and is the target until they are done."""

import json
import pathlib
import socket
import struct
import subprocess
import sys
import threading

import contestant

# Per processor GDB's name of it, the order of its registers in its packet g, and the size of each; eflags and six segments follow, of 32 bits.
PROCESSORS = {"x64": ("i386:x86-64", "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split(), "Q"),
              "x86": ("i386", "eax ecx edx ebx esp ebp esi edi eip".split(), "I")}
SETTINGS = ["set pagination off", "set confirm off", "set width 0", "set backtrace past-entry on", "set backtrace past-main on",
            "set osabi Windows",
            "set stack-cache off", "set code-cache off", "set trust-readonly-sections off", "set remotetimeout 20"]
FRAMES = f"""python
frame, count = gdb.newest_frame(), 0
while frame and count < {contestant.WALK_MAX}:
    print("FRAME %x %x" % (frame.pc(), int(frame.read_register("sp")) & (1 << 64) - 1))
    frame, count = frame.older(), count + 1
end"""


def laid_out(path):
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


class Moment:
    def __init__(self, folder, processor, given):
        self.architecture, order, size = PROCESSORS[processor]
        if len(given["modules"]) != 1:
            raise contestant.Unsupported("GDB takes one program file")
        module = given["modules"][0]
        self.image = (pathlib.Path(folder) / module["path"]).resolve()
        self.memory = [(int(module["base"], 16), laid_out(self.image))] + \
            [(int(part["at"], 16), bytes.fromhex(part["bytes"])) for part in given["stack"]]
        registers = struct.pack(f"<{len(order)}{size}", *(int(given["registers"].get(name, "0x0"), 16) for name in order))
        self.registers = registers.hex() + struct.pack("<I", 0x246).hex() + "xxxxxxxx" * 6

    def read(self, at, size):
        """The bytes from AT on, as many as there are."""
        for start, data in self.memory:
            if start <= at < start + len(data):
                return data[at - start:at - start + size]
        return b""


class Target:
    """A remote target without threads of its own: one connection after the other, each until GDB disconnects."""

    def __init__(self):
        self.moment = None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def serve(self):
        while True:
            connection, _ = self.listener.accept()
            with connection, connection.makefile("rwb") as stream:
                self.talk(stream)

    def talk(self, stream):
        while byte := stream.read(1):
            if byte != b"$":
                continue # + and -
            packet = b""
            while (byte := stream.read(1)) != b"#":
                packet += byte
            stream.read(2)
            reply = self.reply(packet.decode("latin-1")).encode("ascii")
            stream.write(b"+$%s#%02x" % (reply, sum(reply) & 255))
            stream.flush()
            if packet[:1] in b"Dk":
                return

    def reply(self, packet):
        if packet[0] == "m":
            at, size = (int(word, 16) for word in packet[1:].split(","))
            return self.moment.read(at, size).hex() or "E14"
        if packet == "g":
            return self.moment.registers
        if packet[0] in "HD":
            return "OK"
        words = packet.split(":")[0]
        return {"?": "S05", "qSupported": "PacketSize=4000", "qAttached": "1", "qC": "QC1", "qfThreadInfo": "m1",
                "qsThreadInfo": "l", "qGetTIBAddr": "7ff00000"}.get(words, "")


class Gdb:
    def __init__(self, program):
        self.program = program
        self.process = subprocess.Popen([program, "-nx", "-q"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, errors="replace")
        self.reason = "this GDB knows no osabi Windows" if any("Undefined item" in line for line in self.ask(*SETTINGS)) else None
        self.image = None

    def ask(self, *commands):
        """The lines that GDB prints until it has run all commands."""
        self.process.stdin.write("\n".join((*commands, 'printf "\\nEND\\n"', "")))
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.strip() == "END":
                return lines
            lines.append(line.replace("(gdb) ", "").strip().lstrip(">"))
        sys.exit(f"gdb.py: {self.program} ended with {self.process.wait()}")

    def walk(self, target):
        if self.reason:
            raise contestant.Unsupported(self.reason)
        commands = [] if self.image == target.moment.image else [f"set architecture {target.moment.architecture}", f"file {target.moment.image}"]
        self.image = target.moment.image
        lines = self.ask(*commands, f"target remote 127.0.0.1:{target.port}", *FRAMES.split("\n"), "disconnect")
        frames = [line.split()[1:] for line in lines if line.startswith("FRAME ")]
        if not frames:
            raise RuntimeError(" / ".join(line for line in lines if line))
        return [(int(ip, 16), int(sp, 16)) for ip, sp in frames]


def by_hand(target, suite, case):
    lists = json.loads((pathlib.Path(suite) / "suite.json").read_text(encoding="utf-8"))["lists"]
    for line in (line for name in lists for line in (pathlib.Path(suite) / name).read_text(encoding="utf-8").splitlines()):
        if json.loads(line)["id"] == case:
            target.moment = Moment(suite, json.loads(line)["processor"], json.loads(line)["given"])
            print("\n".join([*SETTINGS, f"set architecture {target.moment.architecture}", f"file {target.moment.image}", f"target remote 127.0.0.1:{target.port}",
                             "backtrace", "disconnect"]), flush=True)
            with target.listener.accept()[0] as connection, connection.makefile("rwb") as stream:
                target.talk(stream)
            return
    sys.exit(f"gdb.py: {suite} has no case {case}")


def main():
    target = Target()
    if sys.argv[1:2] == ["--serve"]:
        by_hand(target, *sys.argv[2:4])
        return
    program = contestant.program(sys.argv[1] if len(sys.argv) > 1 else "x86_64-w64-mingw32-gdb")
    version = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")[0].split()[-1]
    gdb = Gdb(program)
    threading.Thread(target=target.serve, daemon=True).start()

    def answer(folder, question):
        target.moment = Moment(folder, question["processor"], question["given"])
        return gdb.walk(target)

    contestant.serve("gdb", version, {f"moments.{processor}": answer for processor in PROCESSORS}, "https://sourceware.org/bugzilla/", ["unwind-v3"])


if __name__ == "__main__":
    main()
