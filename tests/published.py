#!/usr/bin/python3
"""PDBs that other projects publish, beside Microsoft's DIA: random places, and how the answers differ.

    tests/published.py [SEED]    without a seed a fresh one, which is printed; part of `./run soak symbols`

They are of MSVC and clang-cl, for x64, x86 and arm64, of 25 to 100 MB: too large for corpus/.  It needs the dotnet SDK, which fetches
them, and what tests/e2e/test_dia.py needs; without that it says so and judges nothing.  DIA takes a name at random where functions are
folded; where its chain of inlined calls is another one, llvm-symbolizer decides."""

import collections
import csv
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/lib"), str(ROOT / "tests/e2e")]
import e2e  # noqa: E402
import microsoft  # noqa: E402
import test_dia  # noqa: E402

PACKAGES = {"SkiaSharp.NativeAssets.Win32": "4.156.0", "HarfBuzzSharp.NativeAssets.Win32": "14.4.0.100"}
HERE = e2e.BUILD / "published"
PLACES = 3000
PROJECT = """<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup><TargetFramework>netstandard2.0</TargetFramework></PropertyGroup>
  <ItemGroup>{}</ItemGroup>
</Project>
"""


def fetch():
    HERE.mkdir(parents=True, exist_ok=True)
    wanted = "".join(f'<PackageDownload Include="{name}" Version="[{version}]" />' for name, version in PACKAGES.items())
    (HERE / "published.csproj").write_text(PROJECT.format(wanted), encoding="utf-8")
    subprocess.run(["dotnet", "restore", "--packages", HERE / "packages", HERE / "published.csproj"], check=True, stdout=sys.stderr,
                   env={**os.environ, "DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1", "DOTNET_CLI_HOME": str(HERE)})
    return sorted((HERE / "packages").glob("*/*/runtimes/*/native/*.pdb"))


def names_at(pdb):
    """{rva: the names of all functions that start there}."""
    base, found = 0x400000, collections.defaultdict(set)
    text = e2e.twinstack("symbols", "export", "--csv-base", hex(base), "--format", "csv", pdb, limit_s=600).stdout
    for row in csv.reader(text.splitlines()):
        if len(row) > 3 and row[2] == "SymTagFunction":
            found[int(row[0], 16) - base].add(row[3])
    return found


def chain_of_llvm(image, rva):
    done = subprocess.run(["llvm-symbolizer-19", f"--obj={image}", "--relative-address", "--inlines", "--output-style=JSON", hex(rva)],
                          capture_output=True, text=True, check=True)
    return [frame["Line"] for frame in reversed(json.loads(done.stdout)[0]["Symbol"])]


def faults_of(pdb, row, rva, frames, names):
    """The differences that no rule explains, and those that one does."""
    theirs = {"class": "function", "frames": [f[:3] for f in row["frames"]],
              "last": {str(i): f[3] for i, f in enumerate(row["frames"]) if f[3] != f[2]}}
    if len(names[row["start"]]) > 1:
        theirs["aliases"] = sorted(names[row["start"]])
    found = microsoft.judge(frames, theirs)
    other = {word for word in found if word not in microsoft.EXCUSED and word.startswith(("depth", "line"))}
    if other:
        lines, chain = [frame[2] for frame in frames], chain_of_llvm(pdb.with_suffix(".dll"), rva)
        if chain == lines or ("depth" in found and len(chain) == len(lines)):
            found = [word for word in found if word not in other] + ["LLVM has our chain"]
    known = microsoft.EXCUSED | {"LLVM has our chain"}
    return [word for word in found if word not in known], [word for word in found if word in known]


def compare(dia, pdb, draw):
    low, high = test_dia.code_range(pdb.with_suffix(".dll"))
    rvas = sorted(draw.sample(range(low, high), PLACES))
    counts, names, faults = collections.Counter(), names_at(pdb), []
    for rva, row, frames in zip(rvas, dia.ask(pdb, rvas), dia.ours(pdb, rvas, "--index", "never"), strict=True):
        if row["frames"]:
            counts["places"] += 1
            bad, known = faults_of(pdb, row, rva, frames, names)
            counts.update([*bad, *known])
            faults += [(word, f"{rva:#x}", frames, row["frames"]) for word in bad]
    print(f"{pdb.relative_to(HERE / 'packages')}: {dict(counts)}", *faults[:3], sep="\n  ", flush=True)
    return len(faults)


def main():
    missing = "the dotnet SDK" if not shutil.which("dotnet") else None
    try:
        test_dia.Dia.setUpClass()
    except e2e.unittest.SkipTest as why:
        missing = missing or str(why)
    if missing:
        print(f"nothing was judged: {missing} is missing")
        return 0
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(1 << 32)
    print(f"again: tests/published.py {seed}")
    try:
        pdbs = fetch()
        return 1 if not pdbs or sum([compare(test_dia.Dia("ask"), pdb, random.Random(seed)) for pdb in pdbs]) else 0
    finally:
        test_dia.Dia.doClassCleanups()


if __name__ == "__main__":
    sys.exit(main())
