"""Microsoft's DIA, under Wine and where the user has it, about PDBs that were made now: its frames beside ours.

test_microsoft.py compares with answers that are stored; these PDBs are of the compiler and the linker that this machine has."""

import collections
import json
import os
import pathlib
import random
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
        subprocess.run([*CLANG, "-o", cls.made / "ask.exe", e2e.ROOT / "tests/dia/ask.c"], check=True)

    def ask(self, pdb, rvas):
        done = subprocess.run(["wine", self.made / "ask.exe", f"Z:{DIA}", f"Z:{pdb}"], input="".join(f"{rva:x}\n" for rva in rvas), text=True,
                              encoding="utf-8", capture_output=True, env=WINE, check=False, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def ours(self, pdb, rvas, *options):
        text = "".join(f"> {i}\nx.exe!{rva:#x}@i\n" for i, rva in enumerate(rvas))
        done = self.run_twinstack("resolve", "--ndjson", *options, "--pdb", f"x.exe={pdb}", "-", stdin=text)
        stacks = [json.loads(line)["frames"] for line in done.stdout.splitlines()]
        return [[(f["function"] or "", f["file"] or "", f["line"] or 0) for f in reversed(frames)] for frames in stacks]

    def test_frames_of_pdbs_that_were_made_now(self):
        for program, share in PROGRAMS:
            pdb, draw = BIN / f"{program}.pdb", random.Random(SEED)
            if not pdb.is_file() and ("lua" in program or "x86" in program):
                continue  # of Debian's sources, and of 32-bit Wine: not on every machine
            low, high = code_range(pdb.with_suffix(".exe"))
            random_rvas = [draw.randrange(low, high) for _ in range(PLACES)]
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
                    self.assertGreater(functions, PLACES / 2)
                    self.assertGreaterEqual(inlined, share * functions)


if __name__ == "__main__":
    e2e.main()
