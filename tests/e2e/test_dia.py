"""Microsoft's DIA, under Wine and where the user has it, about PDBs that were made now: its frames beside ours.

test_microsoft.py compares with answers that are stored; these PDBs are of the compilers (clang for mingw, clang-cl, rustc) and the
linker that this machine has.

Only this finds what Microsoft's reader says otherwise of PDBs by compilers that are newer than the stored answers."""

import collections
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import microsoft  # noqa: E402

BIN = pathlib.Path(os.environ.get("TWINSTACK_VICTIMS", e2e.BUILD / "victims")) / "bin"
WINE = {**os.environ, "WINEPREFIX": os.environ.get("WINEPREFIX", str(e2e.BUILD / "wine")), "WINEARCH": "win64", "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml,winedbg.exe=;msdia140=n"}
DIA = next((file for file in (e2e.DEBUGGER / "msdia140.dll", e2e.DEBUGGER / "x64/msdia140.dll", e2e.DEBUGGER / "amd64/msdia140.dll")
            if file.is_file()), None)
CLANG = ["clang-19", "--target=x86_64-w64-mingw32", "-municode", "-O1", "-D__USE_MINGW_ANSI_STDIO=0", "-Wall", "-Wextra", "-Werror",
         "-Wno-deprecated-non-prototype"]
PLACES, SEED = 1500, 20261126
# Program, and the least share of places that lie in an inlined call.
PROGRAMS = [("victims-ob0", 0), ("victims-ob2", 0.05), ("steps-o0", 0), ("steps-ob2", 0.05), ("victims-lua-ob2", 0.2), ("twinstack-watch", 0.05),
            ("victims-x86-ob2", 0.05)]
# What is made here, for the ABI of Microsoft: the name, its source, the compiler, and the least share of inlined places.
CLANG_CL = ["clang-19", "--driver-mode=cl", "/Z7", "/GS-", "/GR-", "/c"]
RUSTC = ["rustc", "--target", "x86_64-pc-windows-msvc", "--edition=2021", "--crate-type=lib", "--emit=obj", "-g", "-Cpanic=abort",
         "-Coverflow-checks=off"]
MADE = [*((f"clang-cl-{processor}-{level}", "own.cpp", [*CLANG_CL, f"--target={target}-pc-windows-msvc", f"/{level}"], share)
          for processor, target in (("x64", "x86_64"), ("x86", "i686")) for level, share in (("Od", 0.05), ("O2", 0.2))),
        *((f"rustc-{level}", "own.rs", [*RUSTC, f"-Copt-level={level}"], share) for level, share in ((0, 0.05), (2, 0.05)))]
RUSTC_LEAST = (1, 89)  # own.rs is its own `core`, in the words of that version


def rustc_version():
    """(major, minor); (0, 0): there is none."""
    if not shutil.which("rustc"):
        return (0, 0)
    found = re.match(r"rustc (\d+)\.(\d+)", subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=False).stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def code_range(image):
    """(first, past the last) rva of .text, of PE's section table."""
    data = image.read_bytes()
    pe = struct.unpack_from("<I", data, 0x3c)[0]
    sections, optional = struct.unpack_from("<H", data, pe + 6)[0], struct.unpack_from("<H", data, pe + 20)[0]
    for i in range(sections):
        name, size, rva = struct.unpack_from("<8sII", data, pe + 24 + optional + 40 * i)
        if name.rstrip(b"\0") == b".text":
            return rva, rva + size
    raise AssertionError(f"{image}: no .text")


class Dia(e2e.Case):
    @classmethod
    def setUpClass(cls):
        if DIA is None:
            raise e2e.unittest.SkipTest("no files of Microsoft's debugger: TWINSTACK_DEBUGGER, or ./run debugger")
        if shutil.which("wine") is None or not pathlib.Path(WINE["WINEPREFIX"]).is_dir() or not (BIN / "victims-ob2.exe").is_file():
            raise e2e.unittest.SkipTest("no Wine, or the Windows programs are not built")
        cls.made = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.made)
        subprocess.run([*CLANG, f"-I{e2e.ROOT / 'corpus/reference/adapters'}", "-o", cls.made / "ask.exe", e2e.ROOT / "tests/dia/ask.c"], check=True)

    def ask(self, pdb, rvas):
        asked = "".join(f"{rva:x}\n" for rva in rvas)
        done = e2e.wine(self.made / "ask.exe", f"Z:{DIA}", f"Z:{pdb}", stdin=asked.encode(), env=WINE, limit_s=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def ours(self, pdb, rvas, *options):
        text = "".join(f"> {i}\nx.exe!{rva:#x}@i\n" for i, rva in enumerate(rvas))
        done = self.run_twinstack("resolve", "--ndjson", *options, "--pdb", f"x.exe={pdb}", "-", stdin=text)
        stacks = [json.loads(line)["frames"] for line in done.stdout.splitlines()]
        return [[(f["function"] or "", f["file"] or "", f["line"] or 0) for f in reversed(frames)] for frames in stacks]

    def compare(self, program, pdb, share):
        """Random places of the code and the first byte of each function found, with and without an index; differences by class."""
        draw = random.Random(SEED)
        low, high = code_range(pdb.with_suffix(".exe"))
        random_rvas = [draw.randrange(low, high) for _ in range(PLACES)] if high - low > PLACES else list(range(low, high))
        first = self.ask(pdb, random_rvas)
        starts = sorted({row["start"] for row in first if row["frames"]})
        rvas = random_rvas + starts
        rows = first + self.ask(pdb, starts)
        for options in (("--index", "never"), ("--index", "always")):
            with self.subTest(program, options=options):
                found, faults, inlined, functions = collections.Counter(), [], 0, 0
                for rva, row, frames in zip(rvas, rows, self.ours(pdb, rvas, *options), strict=True):
                    if not row["frames"]:
                        continue
                    functions += 1
                    inlined += len(row["frames"]) > 1
                    last = {str(i): f[3] for i, f in enumerate(row["frames"]) if f[3] != f[2]}
                    theirs = {"class": "function", "frames": [f[:3] for f in row["frames"]], "last": last}
                    for word in microsoft.judge(frames, theirs):
                        found[word] += 1
                        if word not in microsoft.EXCUSED:
                            faults.append((word, f"{rva:#x}", frames, row["frames"]))
                print(f"{program} {options[1]}: {functions} places, {inlined} of them inlined; differences: {dict(found)}")
                self.assertEqual(faults[:3], [], f"{len(faults)} of {functions}")
                self.assertGreater(functions, len(random_rvas) / 2)
                self.assertGreaterEqual(inlined, share * functions)

    def test_frames_of_pdbs_that_were_made_now(self):
        for program, share in PROGRAMS:
            pdb = BIN / f"{program}.pdb"
            if not pdb.is_file() and ("lua" in program or "x86" in program):
                continue  # of Debian's sources, and of 32-bit Wine: not on every machine
            self.compare(program, pdb, share)

    def test_frames_of_clang_cl_and_rustc(self):
        for name, source, compiler, share in MADE:
            if compiler[0] == "rustc" and rustc_version() < RUSTC_LEAST:
                print(f"{name}: left out, rustc is {rustc_version()}, and {RUSTC_LEAST} is needed")
                continue
            obj, pdb = self.made / f"{name}.obj", self.made / f"{name}.pdb"
            out = [f"/Fo{obj}"] if compiler[0] == "clang-19" else ["-o", obj]
            subprocess.run([*compiler, *out, "--", e2e.ROOT / "tests/dia" / source], check=True, env={**os.environ, "RUSTC_BOOTSTRAP": "1"})
            subprocess.run(["lld-link-19", "/debug", "/nodefaultlib", "/safeseh:no", "/entry:start", "/subsystem:console",
                            f"/out:{pdb.with_suffix('.exe')}", f"/pdb:{pdb}", obj], check=True)
            self.compare(name, pdb, share)


if __name__ == "__main__":
    e2e.main()
