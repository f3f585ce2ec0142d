#!/usr/bin/env python3
"""Times lookups in images without a PDB: one address without an index, many addresses while the index is
built, and one and many addresses with the index.  Compares them with llvm-symbolizer and addr2line.

    bench_images.py [IMAGE...]      ELF, Mach-O or PE images with DWARF, or .sym files; default: our program

Times are medians of the wall time of whole processes, in milliseconds."""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TWINSTACK_BUILD", ROOT / "build"))
MANY, REPEATS = 20000, 5


def timed(argv, stdin, env=None):
    """Returns the median in milliseconds."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run(argv, input=stdin, capture_output=True, text=True, check=True, env=env)
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def functions(image):
    """Returns [(address, size)] of the code symbols, and the base of the image, from which offsets count."""
    if image.suffix == ".sym":
        records = re.findall(r"^FUNC (?:m )?([0-9a-f]+) ([0-9a-f]+) ", image.read_text(errors="replace"), re.M)
        return [(int(start, 16), int(size, 16)) for start, size in records], 0
    rows = subprocess.run(["llvm-nm-19", "--defined-only", "-S", image], capture_output=True, text=True, check=True).stdout
    places = [(int(m[1], 16), int(m[2] or "10", 16)) for m in re.finditer(r"^([0-9a-f]+) (?:([0-9a-f]+) )?[tTwW] ", rows,
                                                                          re.M)]
    heads = subprocess.run(["llvm-objdump-19", "-p", image], capture_output=True, text=True, check=True).stdout
    base = re.search(r"ImageBase\s+([0-9a-f]+)", heads)
    loads = [int(v, 16) & ~0xFFF for v in re.findall(r"LOAD off\s+\S+ vaddr (0x[0-9a-f]+)", heads)]
    text = re.search(r"segname __TEXT\s+vmaddr (0x[0-9a-f]+)", heads)
    return places, int(base[1], 16) if base else min(loads) if loads else int(text[1], 16) if text else 0


def measure(image):
    places, base = functions(image)
    spread = [a + (i * 7) % max(n, 1) for i, (a, n) in enumerate(places * (MANY // max(len(places), 1) + 1))][:MANY]
    with image.open("rb") as file:
        head = file.readline().split()  # MODULE os arch id name
    name = head[4].decode() if image.suffix == ".sym" else image.name
    ours = "".join(f"> s\n{name}!{a - base:#x}\n" for a in spread)
    theirs = "".join(f"{a:#x}\n" for a in spread)
    one, their_one = "\n".join(ours.split("\n", 2)[:2]) + "\n", theirs.split("\n")[0] + "\n"
    program = [BUILD / "bin/twinstack", "resolve", "--ndjson", "--symbols", image]
    with tempfile.TemporaryDirectory() as cache:
        env = os.environ | {"TWINSTACK_CACHE": cache}
        rows = {"cold, no index": timed(program, one, os.environ | {"TWINSTACK_CACHE": "none"})}
        start = time.perf_counter()
        subprocess.run(program, input=ours, capture_output=True, text=True, check=True, env=env)
        rows["first run of many, index built"] = (time.perf_counter() - start) * 1000
        rows["cold, with index"] = timed(program, one, env)
        rows[f"{MANY} addresses, with index"] = timed(program, ours, env)
    peers = {} if image.suffix == ".sym" else {"llvm-symbolizer": ["llvm-symbolizer-19", f"--obj={image}", "--inlines"]}
    if shutil.which("addr2line") and image.read_bytes()[:4] == b"\x7fELF":
        peers["addr2line"] = ["addr2line", "-i", "-f", "-C", "-e", image]
    print(f"{image.name}: {image.stat().st_size / 1e6:.1f} MB, {len(places)} functions")
    for what, ms in rows.items():
        print(f"  {what:34} {ms:9.1f} ms")
    for peer, argv in peers.items():
        cold, many = timed(argv, their_one), timed(argv, theirs)
        print(f"  {peer:17} one {cold:9.1f} ms, {MANY} {many:9.1f} ms; ratio to ours: "
              f"{cold / rows['cold, with index']:.1f} cold, {many / rows[f'{MANY} addresses, with index']:.1f} many")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images", nargs="*", type=pathlib.Path, metavar="IMAGE")
    for image in parser.parse_args().images or [BUILD / "bin/twinstack"]:
        measure(image)


main()
