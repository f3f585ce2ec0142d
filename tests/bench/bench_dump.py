#!/usr/bin/env python3
"""Times how long whole processes take from a minidump to the crashed thread's stack with names, warm cache.

    bench_dump.py BUILD FOLDER [FOLDER...] [--big MB] [--without TOOL,...]
                                               FOLDER: made by make_program.py

Makes a dump of each folder's program.dll.  Its one thread has a stack with 24 frames of the program's
functions, laid out by their unwind data: every tool can walk it, and no Windows is needed.  --big makes a
second dump that is like a full dump: the whole image and MB megabytes of other memory in 64 KB ranges
(Memory64List).  Compares `twinstack dump` with lldb, with Breakpad's minidump_stackwalk if
TWINSTACK_STACKWALK names it (without symbols, since it reads no PDB), and with winedbg if Wine is set up
(WINEPREFIX).  Prints a Markdown table: median and minimum milliseconds, minimum processor time, peak memory,
frames of the program that were found, ratio of medians.
"""
import argparse
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import dump_maker  # noqa: E402

FRAMES = 24
STACK = 0x100000
LIMIT_S = 100
LLDB = ("lldb-19", "--no-lldbinit", "-b", "-o", "settings set target.exec-search-paths .",
        "-o", "target create -c {dump}", "-o", "thread backtrace")


def functions(image):
    """Yields (rva of a place in the body, frame size in bytes) for each plain function."""
    for row in range(image.pdata[1] // 12):
        begin, end, info = image.at(image.pdata[0] + 12 * row, "<III")
        head, prologue, slots, frame = image.at(info, "<4B")
        codes = image.at(info + 4, "<%dB" % (2 * slots))
        size, i, plain = 0, 0, head == 1 and frame == 0
        while i < slots and plain:
            op, what = codes[2 * i + 1] & 15, codes[2 * i + 1] >> 4
            if op == 0:
                size += 8
            elif op == 2:
                size += what * 8 + 8
            elif op == 1 and what == 0:
                size += 8 * (codes[2 * i + 2] | codes[2 * i + 3] << 8)
                i += 1
            elif op in (4, 8):
                i += 1
            else:
                plain = False
            i += 1
        if plain and end - begin > prologue + 64:
            yield begin + (prologue + end - begin) // 2, size


def make_dump(folder, big_mb=0):
    image = dump_maker.Image(os.path.join(folder, "program.dll"))
    chosen = random.Random(1).sample(sorted(functions(image)), FRAMES)
    stack = b""
    for (_, size), caller in zip(chosen, chosen[1:] + [(None, 0)]):
        stack += bytes(size) + struct.pack("<Q", image.base + caller[0] if caller[0] else 0)
    stack += bytes(256)
    pc = image.base + chosen[0][0]
    dump = dump_maker.Dump()
    dump.module("program.dll", image.base, image.size, image.stamp, image.codeview())
    place = dump.thread(1, pc, STACK, stack=(STACK, stack))
    dump.exception(1, 0xC0000005, pc, context_place=place)
    rest = []
    if big_mb:
        pattern = bytes(range(256)) * 256
        rest = [(image.base, image.loaded())]
        rest += [(0x20000000000 + i * 0x20000, pattern) for i in range(big_mb * 16)]
    name = "big.dmp" if big_mb else "dump.dmp"
    dump.save(os.path.join(folder, name), memory64=rest)
    return name


def processor_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(argv, folder, rounds):
    """Returns the median and minimum wall time, the minimum processor time, and the output."""
    times, worked, text = [], [], ""
    for _ in range(rounds):
        before = processor_s()
        started = time.perf_counter()
        try:
            text = subprocess.run(argv, cwd=folder, capture_output=True, text=True, errors="replace",
                                  timeout=LIMIT_S).stdout
        except subprocess.TimeoutExpired:
            return LIMIT_S * 1000, LIMIT_S * 1000, LIMIT_S * 1000, ""
        times.append((time.perf_counter() - started) * 1000)
        worked.append((processor_s() - before) * 1000)
    return sorted(times)[rounds // 2], min(times), min(worked), text


def session_peak_kb(session):
    """Returns the largest peak of all processes in a session, because programs under Wine are not children of
    the process that was started."""
    most = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid) as stat:
                if int(stat.read().rsplit(")", 1)[1].split()[3]) != session:
                    continue
            with open("/proc/%s/status" % pid) as status:
                most = max([most] + [int(row.split()[1]) for row in status if row.startswith("VmHWM")])
        except (OSError, ValueError, IndexError):
            continue  # the process has just ended
    return most


def peak_mb(argv, folder):
    """Polls the peak memory, because the kernel's figure for a child starts at the size of its parent.  A
    short run may end between two polls, so this takes the largest of several runs."""
    most, started = 0, time.perf_counter()
    for _ in range(9):
        child = subprocess.Popen(argv, cwd=folder, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, start_new_session=True)
        while child.poll() is None and time.perf_counter() - started < LIMIT_S:
            most = max(most, session_peak_kb(child.pid))
        child.kill()
        child.wait()
        if time.perf_counter() - started > 1:
            break
    return "%.0f" % (most / 1024)


def tools(build, dump):
    yield "twinstack", [os.path.join(os.path.abspath(build), "bin", "twinstack"), "dump", dump,
                        "--symbols", "program.dll", "--symbols", "program.pdb"], 21
    if shutil.which(LLDB[0]):
        yield "lldb", [word.format(dump=dump) for word in LLDB], 5
    if os.environ.get("TWINSTACK_STACKWALK"):
        yield "stackwalk", [os.environ["TWINSTACK_STACKWALK"], "-m", dump], 5
    if shutil.which("winedbg") and os.environ.get("WINEPREFIX"):
        yield "winedbg", ["env", "WINEDLLOVERRIDES=mscoree,mshtml=", "WINEDEBUG=-all", "wine",
                          "winedbg", "--file", "commands", dump], 3


def frames_in(text):
    """Counts the lines of a backtrace that are frames of the program, in the form of any of the tools."""
    marks = ("program.dll!", "program.dll`", " in program", "|program.dll|")
    return sum(any(mark in line for mark in marks) and not line.startswith("Module|")
               for line in text.splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--big", type=int, default=0, metavar="MB")
    parser.add_argument("--without", default="", metavar="TOOL,...")
    asked = parser.parse_args()
    print("| PDB | dump | tool | median ms | least ms | least ms of processor | peak MB | frames |"
          " slower by |")
    print("|---|---|---|---|---|---|---|---|---|")
    for folder in asked.folders:
        with open(os.path.join(folder, "commands"), "w") as out:
            out.write("bt\nquit\n")
        pdb = os.path.getsize(os.path.join(folder, "program.pdb")) / 1e6
        for big in [0, asked.big] if asked.big else [0]:
            dump = make_dump(folder, big)
            size = os.path.getsize(os.path.join(folder, dump)) / 1e6
            ours = None
            for name, argv, rounds in tools(asked.build, dump):
                if name in asked.without.split(","):
                    continue
                median, least, worked, text = measure(argv, folder, rounds)
                ours = ours or median
                print("| %.0f MB | %.1f MB | %s | %.1f | %.1f | %.1f | %s | %d | %.0f |" %
                      (pdb, size, name, median, least, worked, peak_mb(argv, folder),
                       frames_in(text), median / ours), flush=True)
                if name == "twinstack" and frames_in(text) != FRAMES:
                    sys.exit("twinstack found %d of %d frames:\n%s" % (frames_in(text), FRAMES, text))
            if big:
                os.unlink(os.path.join(folder, dump))


if __name__ == "__main__":
    main()
