"""Walks with the STACK records of Breakpad files, without any image. The results are compared with published
stacks and with the callers that Breakpad's own minidump_stackwalk finds."""

import pathlib
import re
import struct
import subprocess
import sys
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import dump_maker  # noqa: E402
import e2e  # noqa: E402

ARCH = {"x86": ("x86", 4), "x86_64": ("x64", 8), "arm64": ("arm64", 8), "arm": ("arm", 4)}
BASE, STACK = 0x400000, 0x10000000
PLACES_MAX = 500 if e2e.SOAK else 60  # of each file

# Every form of rule. The return addresses on the made-up stacks point into the functions from 10000 on.
MADE = "".join(f"FUNC {0x10000 + 64 * i:x} 40 0 target_{i}\n" for i in range(400))
X64 = ("MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 made\nFUNC 1000 400 0 caller\n"
       "STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"
       "STACK CFI 1001 .cfa: $rsp 16 + $rbp: .cfa 16 - ^\n"
       "STACK CFI 1004 .cfa: $rbp 16 +\n"
       "STACK CFI 10f0 .cfa: $rsp 8 + $rbp: $rbp\n"
       "STACK CFI INIT 1100 100 .cfa: $rsp 256 + 16 @ .ra: .cfa -8 + ^\n"
       "STACK CFI INIT 1200 80 .cfa: $rbx 2 * $rbx - 24 + .ra: .cfa 8 - ^ $rbx: .cfa 16 - ^ $r12: 7\n"
       "STACK CFI INIT 1280 80 .cfa: $rsp 40 + $rip: .cfa 16 - ^ .ra: .cfa 8 - ^\n"
       "STACK CFI INIT 1300 10 .cfa: $rsp 40 + .ra: .cfa 1 - ^ ^ ^\n"
       "STACK CFI INIT 1310 10 .cfa: $nothing 40 + .ra: .cfa 8 - ^\n"
       "STACK CFI INIT 1320 10 .cfa: $rsp 40 +\n"
       "STACK CFI INIT 1330 10 .cfa: $rsp 8 8 + .ra: .cfa 8 - ^\n") + MADE
ARM64 = ("MODULE mac arm64 000102030405060708090A0B0C0D0E0F0 made\nFUNC 1000 400 0 caller\n"
         "STACK CFI INIT 1000 100 .cfa: sp 0 + .ra: x30\n"
         "STACK CFI 1004 .cfa: sp 32 + .ra: .cfa -24 + ^ x29: .cfa -32 + ^ x19: .cfa -16 + ^\n"
         "STACK CFI 1008 .cfa: x29 32 +\n"
         "STACK CFI INIT 1100 100 .cfa: x29 16 + .ra: .cfa 8 - ^ x29: .cfa 16 - ^\n") + MADE
ARM = ("MODULE Linux arm 000102030405060708090A0B0C0D0E0F0 made\nFUNC 1000 400 0 caller\n"
       "STACK CFI INIT 1000 100 .cfa: sp .ra: lr\n"
       "STACK CFI 1002 .cfa: sp 8 + .ra: .cfa 4 - ^ r7: .cfa 8 - ^\n"
       "STACK CFI 1004 .cfa: r7 8 +\n"
       "STACK CFI INIT 1100 100 .cfa: r11 8 + .ra: .cfa -4 + ^ r11: .cfa -8 + ^ r4: .cfa -12 + ^\n"
       "STACK CFI INIT 1200 80 .cfa: fp 8 + .ra: .cfa -4 + ^\n"
       "STACK CFI INIT 1280 80 .cfa: sp 16 + .ra: lr 1 +\n"
       "STACK CFI INIT 1300 80 .cfa: sp 24 + .ra: .cfa -4 + ^ pc: .cfa -8 + ^ sp: .cfa 8 +\n") + MADE
X86 = ("MODULE windows x86 000102030405060708090A0B0C0D0E0F0 made\nFUNC 1000 400 0 caller\n"
       "STACK CFI INIT 1000 100 .cfa: $esp 4 + .ra: .cfa 4 - ^\n"
       "STACK CFI 1001 .cfa: $esp 8 + $ebp: .cfa 8 - ^\n"
       "STACK WIN 4 1100 100 3 0 8 4 10 0 1 $T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + =\n"
       "STACK WIN 4 1140 20 3 0 8 4 10 0 1 $eip .raSearch ^ = $esp .raSearch 4 + =\n"
       "STACK WIN 0 1200 40 3 0 8 4 10 0 0 0\n"
       "STACK WIN 0 1240 40 3 0 8 8 10 0 0 1\n") + MADE


class Symbols:
    def __init__(self, text):
        self.text = text
        _, self.os, arch, self.id, self.name = text.splitlines()[0].split(" ", 4)
        self.arch, self.word = ARCH[arch]
        self.functions = [tuple(int(w, 16) for w in line.replace("FUNC m", "FUNC").split(" ")[1:3])
                          for line in text.splitlines() if line.startswith("FUNC ")] or [
                              (int(line.replace("PUBLIC m", "PUBLIC").split(" ")[1], 16), 16)
                              for line in text.splitlines() if line.startswith("PUBLIC ")]

    def save(self, root):
        path = root / self.name / self.id / (self.name.removesuffix(".pdb") + ".sym")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text)

    def places(self):
        """Addresses that STACK records cover: the first byte of a record, one in the middle, the last one, and
        where the rules change."""
        out = set()
        for line in self.text.splitlines():
            found = re.match(r"STACK (?:CFI INIT|WIN [04]) ([0-9a-f]+) ([0-9a-f]+)", line)
            delta = re.match(r"STACK CFI ([0-9a-f]+) ", line)
            if found:
                begin, size = (int(w, 16) for w in found.groups())
                out |= {begin, begin + size // 2, begin + size - 1}
            elif delta:
                out.add(int(delta[1], 16))
        return sorted(out)


def crossings(text):
    """Where a STACK WIN record starts in another and ends after it, as (start, end, program of the second): Breakpad
    keeps the record that comes first in the file, this program the one that starts last. "same": a later part of one
    prologue."""
    found = re.findall(r"^STACK WIN 4 (\w+) (\w+) (?:\w+ ){6}1 (.*)$", text, re.M)
    records = [(int(a, 16), int(a, 16) + int(n, 16), program) for a, n, program in found]
    records.sort(key=lambda r: (r[0], -r[1]))
    out = []
    for i, (begin, end, first) in enumerate(records):
        for start, stop, program in records[i + 1:]:
            if start >= end:
                break
            if stop > end or (begin, end) == (start, stop):
                out.append((start, stop, "same" if program == first else program))
    return out


class Walks(e2e.Case):
    def test_published_stack_of_frame_data(self):
        folder = self.fixture("g05-minidump2-x86")
        want = [line.split("|")[2:] for line in
                (folder / "minidump2.stackwalk.machine_readable.out").read_text().splitlines()
                if line.startswith("0|")]
        threads = self.run_json("dump", folder / "minidump2.dmp", "--stacks", "--json", "--symbols",
                                folder / "test_app.sym")["threads"]
        got = next(t["stack"]["frames"] for t in threads if t["role"] == "suspect")
        self.assertEqual([f["module"] for f in got], [w[0] for w in want])
        self.assertEqual([f["function"] for f in got[:3]], [w[1] for w in want[:3]])
        self.assertEqual([f["line"] for f in got[:3]], [int(w[3]) for w in want[:3]])
        self.assertEqual([f["found_by"] for f in got], ["context", "cfi", "cfi", "cfi"])

    def test_published_dump_of_linux(self):
        folder = self.fixture("images/i30-breakpad")
        threads = self.run_json("dump", folder / "linux_null_read_av.dmp", "--stacks", "--json", "--symbols",
                                folder / "null_read_av.sym")["threads"]
        got = next(t["stack"]["frames"] for t in threads if t["role"] == "suspect")
        self.assertEqual([(f["function"], f["module"], f["found_by"]) for f in got[:3]],
                         [("crash()", "null_read_av", "context"), ("main", "null_read_av", "cfi"),
                          (None, "libc-2.13.so", "cfi")])

    def breakpads(self, path):
        tool = e2e.BUILD / "tools/node_modules/minidump/bin/linux-x64/minidump_stackwalk"
        if not tool.is_file():
            self.skipTest("no minidump_stackwalk (npm install --prefix build/tools minidump)")
        done = subprocess.run([tool, path, self.folder / "sym"], capture_output=True, text=True, errors="replace",
                              timeout=120 * e2e.PATIENCE, check=False)
        out, pc = {}, None
        for line in done.stdout.splitlines():
            head = re.match(r"Thread (\d+)", line)
            found = re.match(r" +Found by: (.*)", line)
            if head:
                frames = out.setdefault(int(head[1]), [])
            elif found and found[1] != "inlining":
                frames.append((pc, found[1]))
            pc = int((re.search(r"\b(?:[er]ip|pc) = 0x([0-9a-f]+)", line) or ["", f"{pc or 0:x}"])[1], 16)
        return out

    def compare(self, text):
        """Returns at how many places the caller is the same, at how many Breakpad gave up, and the other places."""
        symbols = Symbols(text)
        symbols.save(self.folder / "sym")
        places = symbols.places()
        places = places[::1 + len(places) // PLACES_MAX]
        starts = [s for s, n in symbols.functions if n > 8 and s > 0x1000]
        size = max(s + n for s, n in symbols.functions) + 0x1000
        guid = uuid.UUID(symbols.id[:32]).bytes_le
        dump = dump_maker.Dump(arch=symbols.arch)
        dump.module(f"C:\\{symbols.name}", BASE, size, 1, codeview=b"RSDS" + guid + struct.pack(
            "<I", int(symbols.id[32:], 16)) + symbols.name.encode() + b"\0")
        for number, place in enumerate(places):
            sp = STACK + number * 0x10000
            slots = [BASE + starts[(i * 37 + number) % len(starts)] + 4 for i in range(512)]
            r = [sp + 64 + 16 * (i % 16) for i in range(31)]
            r[14 if symbols.arch == "arm" else 30] = BASE + starts[number % len(starts)] + 4
            dump.thread(number + 1, pc=BASE + place, sp=sp, r=r, stack=(
                sp, b"".join(struct.pack("<I" if symbols.word == 4 else "<Q", v) for v in slots)))
        dump.save(self.folder / "made.dmp")
        walked = self.breakpads(self.folder / "made.dmp")
        ours = self.run_json("dump", self.folder / "made.dmp", "--symbols", self.folder / "sym", "--stacks",
                             "--json")["threads"]
        same, given_up, other = 0, 0, []
        # An FPO record describes the function after its prologue, which Breakpad applies from the first byte on; there, nothing is
        # pushed yet, and the return address is the word at esp.
        first = {int(start, 16) for start, prologue in re.findall(r"^STACK WIN 0 (\w+) \w+ (\w+)", text, re.M) if int(prologue, 16)}
        for number, (place, thread) in enumerate(zip(places, ours, strict=True)):
            got = [(f["offset"], f["found_by"]) for f in thread["stack"]["frames"] if not f["inlined"]][1:2]
            mode = symbols.arch == "arm"  # bit 0, which Breakpad keeps, is not part of the address
            want = [(hex((pc & ~mode) - BASE), how) for pc, how in walked[number][1:2]]
            if place in first:
                want = [(hex(starts[number % len(starts)] + 4), "call frame info")]
            if [f[0] for f in got] == [f[0] for f in want]:
                same += 1
            elif "call frame info" not in str(want):
                given_up += 1  # where memory for a register is missing, or below a missing image
            else:
                other.append((hex(place), got, want))
        return same, given_up, other

    def test_every_form_of_rule(self):
        for name, text in (("x64", X64), ("arm64", ARM64), ("arm", ARM), ("x86", X86)):
            with self.subTest(name):
                same, _, other = self.compare(text)
                self.assertEqual(other, [])
                self.assertGreater(same, 5)

    FILES = ("images/i30-breakpad/linux-crash.sym", "images/i30-breakpad/windows-crash.sym",
             "images/i30-breakpad/null_read_av.sym", "images/i30-breakpad/kernel32.sym",
             "g02-basic32-x86/basic32.sym", "g03-basic64-pe/basic64.sym", "g05-minidump2-x86/test_app.sym")

    def test_files_of_other_writers(self):
        for name in self.FILES:
            with self.subTest(name):
                text = self.fixture(name).read_text(errors="replace")
                same, _, other = self.compare(text)
                crossed = crossings(text)
                self.assertGreater(same, PLACES_MAX // 2)
                self.assertEqual([row for row in other if not any(a <= int(row[0], 16) < b for a, b, _ in crossed)], [])

    def test_the_second_of_two_records_that_cross_is_of_the_code_there(self):
        # Past 0x40000, no code of this image was moved after linking, so the sizes are true.
        text = self.fixture("images/i30-breakpad/kernel32.sym").read_text(errors="replace")
        programs = [program for start, _, program in crossings(text) if start > 0x40000]
        self.assertGreater(len(programs), 20)
        # The code of a __finally: called with the function's ebp, so its return address is on top of the stack.
        funclet = "$T0 $ebp = $T2 $esp = $T1 .raSearchStart = $eip $T1 ^ = $ebp $ebp = "
        self.assertEqual([p for p in programs if p != "same" and not p.startswith(funclet)], [])


e2e.main()
