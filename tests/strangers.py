"""Programs that this machine's compilers build now, beside other readers: names of linkers, whole paths, lines and inlined
calls, at every function and at random places. The sources use much of each language's library.

    strangers.py [--places N] [--seed N] [NAME]...     names: parts of rows, e.g. rust

llvm-symbolizer-19 is the first judge. A difference counts unless a second reader (addr2line of binutils) gives our answer, or
a rule below, with its reason, explains it. It prints one row per program, and each difference that counts; exit status 1 if
there is one."""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("TWINSTACK_BUILD", ROOT / "build"))
SOURCES = ROOT / "tests/strangers"
SHOWN = 5  # differences of one program

CPP = ("-std=c++17", "-w")
LEVELS = (("O0", ("-O0",)), ("O2", ("-O2",)), ("O2-lto", ("-O2", "-flto")), ("O2-sections", ("-O2", "-ffunction-sections", "-Wl,--gc-sections")),
          ("O2-split", ("-O2", "-gsplit-dwarf")), ("Os-dwarf4", ("-Os", "-gdwarf-4")), ("O3-types", ("-O3", "-fdebug-types-section")))
PROGRAMS = [
    *((f"g++-{level}", "own.cpp", ["g++", "-g", *CPP, *options]) for level, options in LEVELS),
    *((f"clang++-19-{level}", "own.cpp", ["clang++-19", "-g", *CPP, *options, *(["-fuse-ld=lld-19"] if "lto" in level else [])])
      for level, options in LEVELS),
    *((f"clang++-{version}-{level}", "own.cpp", [f"clang++-{version}", "-g", *CPP, *options])
      for version in (13, 14, 15, 16) for level, options in (LEVELS[0], LEVELS[1], LEVELS[4])),
    *((f"g++-static-{level}", "own.cpp", ["g++", "-g", "-static", *CPP, *options]) for level, options in LEVELS[:2]),
    *((f"mingw-x64-{level}.exe", "own.cpp", ["x86_64-w64-mingw32-g++", "-g", "-static", *CPP, *options]) for level, options in LEVELS[:2]),
    *((f"mingw-x86-{level}.exe", "own.cpp", ["i686-w64-mingw32-g++", "-g", "-static", *CPP, *options]) for level, options in LEVELS[:2]),
    *((f"rust-{level}", "own.rs", ["rustc", "-g", "--edition=2021", *options])
      for level, options in (("O0", ()), ("O2", ("-O",)), ("lto", ("-O", "-Clto=fat")))),
    *((f"g++-11-{level}", "own.cpp", ["g++-11", "-g", *CPP, *options]) for level, options in LEVELS[:2]),
    *((f"{cxx}-c++20-{level}", "ranges.cpp", [cxx, "-g", "-w", "-std=c++20", *options])
      for cxx in ("g++", "clang++-19") for level, options in LEVELS[:3] if not (cxx != "g++" and "lto" in level)),
    *((f"go-{level}", "own.go", ["go", "build", *options]) for level, options in (("O2", ()), ("O0", ("-gcflags=all=-N -l",)))),
    *((f"gdc-{level}", "own.d", ["gdc", "-g", *options]) for level, options in LEVELS[:2]),
    *((f"ldc-{level}", "own.d", ["ldc2", "-g", *options]) for level, options in (("O0", ()), ("O2", ("-O2",)))),
    *((f"gnat-{level}", "own.adb", ["gnatmake", "-q", "-g", *options]) for level, options in LEVELS[:2]),
    *((f"gnat-static-{level}", "own.adb", ["gnatmake", "-q", "-g", *options, "-bargs", "-static", "-largs", "-static"]) for level, options in LEVELS[:2]),
    *((f"gfortran-{level}", "own.f90", ["gfortran", "-g", *options]) for level, options in LEVELS[:2]),
]


def run(*argv, **more):
    return subprocess.run([str(word) for word in argv], capture_output=True, text=True, errors="replace", check=False, **more)


def plain(name):
    """Without the suffix of a cloned part, which DWARF does not state, and with one kind of constructor."""
    name = re.sub(r"(\.(constprop|cold|part|isra|lto_priv|__part|eh|llvm)(\.\d+)*)+$", "", name or "")
    return re.sub(r"E(CI)[0-5]", r"E\1x", re.sub(r"([CD])[0-5](?=[EIv])", r"\1x", name))


def frame(name, path, line):
    known = bool(path) and path != "??" and line > 0
    return (plain("" if name in ("??", None) else name), path.replace("\\", "/") if known else "", line if known else 0)


class Image:
    """What is known about one program without reading its symbols with our reader."""

    def __init__(self, path):
        printed = run("llvm-readobj-19", "--sections", "--program-headers", "--file-headers", "--elf-output-style=LLVM", path).stdout
        self.path, self.is_pe, self.symbols = path, "Format: COFF" in printed, collections.defaultdict(set)
        loads = [int(re.search(r"VirtualAddress: (\w+)", part)[1], 16) for part in printed.split("ProgramHeader {")[1:] if "PT_LOAD" in part]
        self.base = min(loads) & ~0xFFF if loads else int(re.search(r"ImageBase: (\w+)", printed)[1], 16)
        self.code = []
        for section in printed.split("ProgramHeaders [")[0].split("Section {")[1:]:
            name = (re.search(r"Name: (\S+)", section) or ("", ""))[1]
            if name == ".text":
                start = int(re.search(r"VirtualAddress: (0x\w+)" if self.is_pe else r"Address: (0x\w+)", section)[1], 16)
                size = int(re.search(r"VirtualSize: (0x\w+)" if self.is_pe else r"Size: (\d+)", section)[1], 0)
                self.code.append((start - (0 if self.is_pe else self.base), size))

    def places(self, count, rng):
        """Offsets of every function, and COUNT random ones."""
        named = run("llvm-nm-19", "--defined-only", self.path).stdout
        starts = []
        for at, name in re.findall(r"^([0-9a-f]+) [tTwW] (\S+)", named, re.M):
            starts.append(int(at, 16) - self.base)
            self.symbols[plain(name)].add(starts[-1])
            self.symbols[plain(name.removeprefix("_"))].add(starts[-1])
        inside = [at for at in starts if any(start <= at < start + size for start, size in self.code)]
        start, size = max(self.code, key=lambda row: row[1])
        return sorted({*inside, *(start + rng.randrange(size) for _ in range(count))})


def first_judge(image, places):
    options = ["--obj=" + str(image.path), "--inlines", "--output-style=JSON", "--no-demangle"]
    options += ["--relative-address"] if image.is_pe else []
    asked = "".join(f"{at + (0 if image.is_pe else image.base):#x}\n" for at in places)
    lines = run("llvm-symbolizer-19", *options, input=asked, cwd=image.path.parent).stdout.splitlines()
    return [[frame(f["FunctionName"], f["FileName"], f["Line"]) for f in json.loads(line)["Symbol"]] for line in lines]


def second_judge(image, places):
    """addr2line, only asked where the first differs."""
    asked = "".join(f"{at + image.base:#x}\n" for at in places)
    printed = run("addr2line", "-a", "-f", "-i", "-e", image.path, input=asked, cwd=image.path.parent).stdout
    out = [part.splitlines()[1:] for part in re.split(r"^(?=0x[0-9a-f]+$)", printed, flags=re.M) if part]
    frames = []
    for words in out:
        made = []
        for name, where in zip(words[::2], words[1::2], strict=True):
            path, _, line = re.sub(r" \(discriminator \d+\)$", "", where).rpartition(":")
            made.append(frame(name, path, int(line) if line.isdigit() else 0))
        frames.append(made)
    return frames


def ours(image, places):
    dwo = [word for file in image.path.parent.glob("*.dwo") for word in ("--symbols", file)]
    text = "".join(f"> {i}\n{image.path.name}!{at:#x}@i\n" for i, at in enumerate(places))
    done = run(BUILD / "bin/twinstack", "resolve", "--ndjson", "--index", "never", "--names", "decorated", "--symbols", image.path, *dwo, "-",
               input=text)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return [[frame(f["function"], f["file"] or "", f["line"] or 0) for f in json.loads(line)["frames"]] for line in done.stdout.splitlines()]


def explains(ours_name, other, at):
    """Why two readers may give one place these names; None: nothing explains it. AT: the addresses of each symbol."""
    if other.lstrip("_@").split("@")[0] == ours_name.lstrip("_@").split("@")[0]:
        return "decoration of 32-bit Windows around the name of DWARF"
    if other in (ours_name + "_", "MAIN__"):
        return "gfortran's underscore, or its name for the program: ours is the name in the source"
    if re.fullmatch(re.escape(ours_name) + r"(\.abi0|\.\d+)", other):
        return "a number that gnat gives to symbols of nested units, or Go's mark of assembly (.abi0): ours is the name in DWARF"
    if at[ours_name] & at[other]:
        return "two symbols at one address: aliases, folded code"
    return None


def rule(got, want, at):
    if not any(f[2] for f in want) and not any(f[2] for f in got):
        return "no line: padding, or code without DWARF: the readers choose different symbols"
    if [f[1:] for f in got] != [f[1:] for f in want]:
        return None
    reasons = {explains(g[0], w[0], at) for g, w in zip(got, want, strict=True) if g[0] != w[0]}
    return None if None in reasons else ", and ".join(sorted(reasons))


def build(name, source, argv, folder):
    place = folder / name
    place.mkdir()
    shutil.copy(SOURCES / source, place)
    if shutil.which(argv[0]) is None:
        return None, f"no {argv[0]}"
    image = place / (name if name.endswith(".exe") else "own")
    ends = argv.index("-bargs") if "-bargs" in argv else len(argv)  # gnatmake's options of the binder come last
    output = [f"-of={image}"] if argv[0] == "ldc2" else ["-o", image]
    done = run(*argv[:ends], *(output + [source] if argv[0] == "go" else [source, *output]), *argv[ends:], cwd=place)
    if done.returncode != 0:
        return None, f"{argv[0]} cannot: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else done.returncode}"
    return image, ""


def compare(name, path, count, rng, totals):
    image = Image(path)
    places = image.places(count, rng)
    got, want = ours(image, places), first_judge(image, places)
    assert len(got) == len(want) == len(places), (len(got), len(want), len(places))
    differ = [i for i in range(len(places)) if got[i] != want[i]]
    second = dict(zip(differ, second_judge(image, [places[i] for i in differ]), strict=True)) if differ else {}
    tally, shown = collections.Counter(), []
    for i in differ:
        why = "addr2line gives our answer" if second[i] == got[i] else rule(got[i], want[i], image.symbols)
        tally[why] += 1
        if why is None:
            shown.append(f"    {places[i]:#x}\n      ours {got[i]}\n      llvm {want[i]}\n      addr2line {second[i]}")
    print(f"{name:28} {len(places):7} {len(places) - len(differ):7} same {sum(n for why, n in tally.items() if why):6} explained {tally[None]:5} differ",
          flush=True)
    print("\n".join(shown[:SHOWN]) + "\n" if shown else "", end="", flush=True)
    totals.update({why or "differ": n for why, n in tally.items()})
    totals["asked"] += len(places)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    totals = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, source, argv in PROGRAMS:
            if given.names and not any(word in name for word in given.names):
                continue
            path, why = build(name, source, argv, pathlib.Path(folder))
            if path is None:
                print(f"{name:28} skipped: {why}", flush=True)
                continue
            compare(name, path, given.places, random.Random(given.seed), totals)
            shutil.rmtree(path.parent)
    for why, number in totals.most_common():
        print(f"{number:8} {why}")
    return 1 if totals["differ"] > 0 or totals["asked"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
