#!/usr/bin/env python3
"""Compares our lookups with llvm-symbolizer at every byte of every procedure, or at every STEP-th of these bytes.

    judge_symbolizer.py BENCH_SYMBOLS IMAGE PDB [STEP]

Prints how many addresses agree in inline depth, lines, file names without folders, and function names without
parameters, and counts the other addresses by cause.  (For code from rustc, llvm-symbolizer prints linker
names, so names differ there.)
"""
import collections
import json
import re
import subprocess
import sys


def base_name(path):
    return re.split(r"[\\/]", path)[-1].lower() if path not in ("", "??") else ""


def plain(name):
    """Returns NAME without parameters, blanks and words that only some compilers print."""
    name = re.sub(r"\b(class|struct|enum|union) |[ +](0x[0-9a-f]+)?$| ", "", name)
    return re.sub(r"(?<!operator)\((?!anonymous).*", "", name)


def main():
    bench, image, pdb = sys.argv[1:4]
    step = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    ranges = [line.split() for line in subprocess.run(
        [bench, "procedures", pdb, "0"], capture_output=True, text=True, check=True)
        .stdout.splitlines()]
    addresses = sorted({rva for start, size in ranges
                        for rva in range(int(start, 16), int(start, 16) + int(size))})[::step]
    ours = subprocess.run([bench, "frames", pdb, "-"], input="\n".join(map(hex, addresses)) + "\n",
                          capture_output=True, text=True, errors="replace", check=True).stdout
    judge = subprocess.run(["llvm-symbolizer-19", "--obj=" + image, "--inlines",
                            "--relative-address", "--output-style=JSON"],
                           input="\n".join(map(hex, addresses)) + "\n", capture_output=True,
                           text=True, errors="replace", check=False).stdout
    causes, examples = collections.Counter(), {}
    for rva, our_line, judge_line in zip(addresses, ours.split("\n"), judge.splitlines()):
        parts = [part.split("\v") for part in our_line.split("\t") if part]
        frames = [part[1].rsplit(":", 1) for part in parts]
        frames = [(base_name(file), int(line)) for file, line in frames]
        symbols = json.loads(judge_line).get("Symbol", [])
        wanted = [(base_name(s["FileName"]), s["Line"]) for s in symbols]
        marks = (15732480, 16707566)
        names = [plain(part[0]) for part in parts], [plain(s["FunctionName"]) for s in symbols]
        if frames == wanted and names[0] != names[1]:
            cause, frames, wanted = "names", names[0], names[1]
        elif frames == wanted:
            cause = "agree"
        elif [("", 0) if line in marks else (file, line) for file, line in wanted] == frames:
            cause = "no-line mark printed as a line"
        elif len(frames) > len(wanted):
            cause = "inline frames missing in llvm-symbolizer"
        elif len(frames) < len(wanted):
            cause = "inline frames missing in ours"
        elif frames[1:] == wanted[1:]:
            cause = "line of the innermost frame"
        else:
            cause = "line of a caller"
        causes[cause] += 1
        examples.setdefault(cause, (hex(rva), frames[:3], wanted[:3]))
    for cause, count in causes.most_common():
        print("%7d  %s  %s" % (count, cause, "" if cause == "agree" else examples[cause]))


if __name__ == "__main__":
    main()
