#!/usr/bin/python3
"""Runs one fuzzer: first every earlier find (tests/fuzz/found/NAME), then new inputs grown from the
seeds (corpus, tests/fuzz/seeds, fixtures). Without SECONDS it grows the same number of the same inputs each time, so
that the same sources always give the same result. With SECONDS it grows random inputs for that long, from a fresh seed,
which is printed; TWINSTACK_SEED repeats it.
A new find is stored with the old ones, so that it is committed with the fix and replayed from then on.

usage: fuzz.py build/sanitize/tests/fuzz_NAME [SECONDS]
"""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/lib"))
import e2e  # noqa: E402

# The number of inputs to grow: about two seconds of each fuzzer; `./run soak fuzz` takes ten minutes for each. RUNS_OTHERS is
# for fuzzers not listed.
RUNS = {"minidump": 2_000, "pdb": 3_000, "server": 450, "steps": 1_500, "stack_input": 2_000, "symbol_index": 250_000,
        "record": 50_000, "object": 2_000, "image_index": 1_500, "breakpad": 700, "count": 8_000, "code_map": 2_500, "ppdb": 3_000}
RUNS_OTHERS = 15_000
SEED_BYTES_MAX = 400_000
# The seeds of a fuzzer: files whose names end in one of these.
SEEDS = {
    "pe": (".exe", ".dll", ".node"), "msf": (".pdb",), "pdb": (".pdb",), "index": (".pdb",),
    "minidump": (".dmp",), "unwind": (".dmp", ".exe", ".dll", ".unwind"), "record": (".rec",), "steps": ("ob2.rec",),
    "stack_input": (".txt", ".json"), "csv": (".csv",), "breakpad": (".sym",), "ppdb": (".pdb", ".pdbx", ".dll"),
    "image_index": (".exe", ".dll", ".dwarf", ".full", ".dbg", ".debug"), "case": ("case.json",), "truth": ("truth.json",),
    "object": (".o", ".dwarf", ".full", ".dbg", ".debug", ".dwo", ".dwp", ".dwz", ".zlib", ".zstd", ".minidebuginfo", ".stripped"),
}
# Of these, those that have what is read: managed code and its symbols begin their metadata so (ECMA-335, II.24.2.1), which 95 of 120
# files have not; and tables of results of the suite, a quarter of a megabyte each, are no stacks.
HAS = {"ppdb": lambda file: b"BSJB" in file.read_bytes(), "stack_input": lambda file: file.parent.name != "results"}


def seeds(name, folder):
    """Copies small seed files into FOLDER, so that the fuzzer never writes next to the originals."""
    roots = [ROOT / "corpus", ROOT / "tests/golden", ROOT / "tests/fuzz/seeds", e2e.FIXTURES]
    for root in roots:
        for file in sorted(root.rglob("*")) if root.is_dir() else []:
            if (file.name.endswith(SEEDS.get(name, ())) and file.is_file() and file.stat().st_size <= SEED_BYTES_MAX
                    and HAS.get(name, lambda _: True)(file)):
                (folder / f"{file.parent.name}-{file.name}").write_bytes(file.read_bytes())


def main():
    program = pathlib.Path(sys.argv[1])
    name = program.name.removeprefix("fuzz_")
    words = sys.argv[2:]
    seed = int(os.environ.get("TWINSTACK_SEED", 0)) or (int.from_bytes(os.urandom(4)) if words else 1)
    amount = [f"-seed={seed}", f"-max_total_time={int(words[0])}" if words else f"-runs={RUNS.get(name, RUNS_OTHERS)}"]
    found = ROOT / "tests/fuzz/found" / name
    old = sorted(str(f) for f in found.glob("*")) if found.is_dir() else []
    failed = 0
    if words:
        print(f"grown from TWINSTACK_SEED={seed}", flush=True)

    if old and subprocess.run([program, "-timeout=100", *old], capture_output=True, check=False).returncode:
        print(f"FAIL {name}: an old find is back; run {program.name} over each file of tests/fuzz/found/{name}")
        failed += 1
    with tempfile.TemporaryDirectory() as grown, tempfile.TemporaryDirectory() as start:
        seeds(name, pathlib.Path(start))
        run = subprocess.run(
            [program, *amount, "-timeout=100", "-rss_limit_mb=2048", "-malloc_limit_mb=1024",
             f"-max_len={SEED_BYTES_MAX}", "-print_final_stats=1", f"-artifact_prefix={grown}/find-", grown, start],
            capture_output=True, text=True, errors="replace", check=False)
        finds = sorted(pathlib.Path(grown).glob("find-*"))
        if run.returncode:
            failed += 1
            kept = []
            for find in finds:
                found.mkdir(parents=True, exist_ok=True)
                target = found / find.name.removeprefix("find-")
                target.write_bytes(find.read_bytes())
                kept.append(str(target.relative_to(ROOT)))
            print(f"FAIL {name}: {' '.join(kept) or 'no file kept'}")
            print("\n".join(run.stderr.splitlines()[-40:]))
        else:
            units = [l.split()[-1] for l in run.stderr.splitlines() if "number_of_executed_units" in l]
            print(f"{len(old)} old finds, {units[0] if units else '?'} new inputs")
    print(f"tally {1 - min(failed, 1) + (1 if old and not failed else 0)} {failed} 0")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
