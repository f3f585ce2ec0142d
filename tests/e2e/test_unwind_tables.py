"""Compact unwind tables beside the call frame information of the same code, at every place where a function waits in a call:
`.ARM.exidx` of arm and Thumb, `__unwind_info` of x86-64 and arm64."""

import re
import shutil
import subprocess
import sys
import uuid
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import dump_maker  # noqa: E402
import e2e  # noqa: E402

SOURCE = e2e.ROOT / "tests/e2e/compiled/unwound.c"
COMMON = ["-ffreestanding", "-fno-stack-protector", "-c", SOURCE]
BASE, STACK = 0x40000000, 0x7FFE0000
CALLS = ("bl", "blx", "blr", "call", "callq")


def command(*argv):
    return subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=True).stdout


class Tables(e2e.Case):
    def setUp(self):
        super().setUp()
        for tool in ("clang-19", "ld.lld-19", "ld64.lld-19", "llvm-objdump-19"):
            if not shutil.which(tool):
                self.skipTest(f"no {tool}")

    def rows(self, image, *more):
        rows = {}
        for line in command(e2e.BUILD / "tests/unwind_rows", image, *more).splitlines():
            at, table, *row = line.split()
            rows.setdefault(int(at, 16), {})[table] = row
        return rows

    def waits(self, image, base):
        """The last byte of each call."""
        code = re.findall(r"^\s*([0-9a-f]+):\s+(\S+)", command("llvm-objdump-19", "-d", "--no-show-raw-insn", image), re.M)
        return [int(after[0], 16) - 1 - base for (_, word), after in zip(code, code[1:]) if word in CALLS]

    def compare(self, image, base, *more):
        rows, waits = self.rows(image, *more), self.waits(image, base)
        self.assertGreater(len(waits), 20)
        for at in waits:
            table, cfi = rows[at]["table"], rows[at]["cfi"]
            self.assertEqual(table[1:], [r for r in cfi[1:] if int(r.split(":")[0]) < 64], hex(at))  # registers, from the CFA
            if table[0].split("+")[0] == cfi[0].split("+")[0]:
                self.assertEqual(table[0], cfi[0], hex(at))
        return len(waits)

    def test_arm(self):
        count = 0
        for level in ("-O0", "-O1", "-O2", "-Os"):
            for mode in ("-marm", "-mthumb"):
                made, image = self.folder / "made.o", self.folder / "made"
                command("clang-19", "--target=armv7-linux-gnueabihf", "-march=armv7-a", mode, level, "-g", "-funwind-tables", *COMMON, "-o", made)
                command("ld.lld-19", "-e", "entry", "-o", image, made)
                with self.subTest(level=level, mode=mode):
                    count += self.compare(image, 0x10000)
        print(f"arm: {count} calls")

    def walk(self, image, rows, waits, arch, dump, codeview):
        """A stack of frames without frame pointers, which no other way than the table leaves right."""
        word, sp_register, pc_register = (8, "7", "16") if arch == "x64" else (4, "13", "14")
        thumb = arch == "arm"
        frames = [at for at in waits if (row := rows[at]["table"])[0].split("+")[0] == sp_register
                  and rows.get(at + 1, {}).get("table") == row and any(r.startswith(pc_register + ":") for r in row)][:9]
        self.assertGreater(len(frames), 5)
        room, at, returns = {}, STACK, [*(BASE + f + 1 for f in frames[1:]), 0]
        for frame, back in zip(frames, returns, strict=True):
            row = rows[frame]["table"]
            at += int(row[0].split("+")[1])
            slot = next(int(r.split(":")[1]) for r in row if r.startswith(pc_register + ":"))
            room[at + slot] = back | (1 if thumb and back else 0)
        stack = b"".join(room.get(va, 0x5A5A0000 + va % 0x1000).to_bytes(word, "little") for va in range(STACK, at, word))
        dump.module(f"/x/{image.name}", BASE, 0x100000, 0, codeview=codeview)
        dump.thread(1, pc=BASE + frames[0] + 1, sp=STACK, r=[0] * (13 if thumb else 16), stack=(STACK, stack))
        path = self.folder / "made.dmp"
        dump.save(path)
        got = self.run_json("dump", path, "--stacks", "--json", "--symbols", image)["threads"][0]["stack"]["frames"]
        got = [f for f in got if not f["inlined"]]
        self.assertEqual([int(f["offset"], 16) for f in got], [f + 1 for f in frames])
        self.assertEqual([f["found_by"] for f in got], ["context"] + ["cfi"] * (len(frames) - 1))

    def test_walks(self):
        made, image, second = (self.folder / name for name in ("made.o", "made", "second"))
        target = ["clang-19", "--target=x86_64-apple-macos11", "-O2", "-fomit-frame-pointer", "-fasynchronous-unwind-tables", *COMMON, "-o", made]
        command(*target)
        self.link(made, image, "x86_64")
        command(*target, "-femit-dwarf-unwind=always")
        command("llvm-objcopy-19", "--remove-section", "__LD,__compact_unwind", made)
        self.link(made, second, "x86_64")
        with self.subTest("macOS"):
            identity = uuid.UUID(self.run_json("symbols", "list", "--json", image)["files"][0]["debug_id"][:32])
            self.walk(image, self.rows(image, second), self.waits(image, 0), "x64", dump_maker.Dump(arch="x64", platform=0x8101, version=(14, 1, 0)),
                      b"RSDS" + identity.bytes_le + bytes(4) + b"made\0")
        command("clang-19", "--target=armv7-linux-gnueabihf", "-march=armv7-a", "-mthumb", "-O2", "-g", "-funwind-tables", *COMMON, "-o", made)
        command("ld.lld-19", "-e", "entry", "--build-id=0x0102030405060708090a0b0c0d0e0f1011121314", "-o", second, made)
        with self.subTest("arm"):
            rows, waits = self.rows(second), self.waits(second, 0x10000)
            command("llvm-objcopy-19", "--strip-debug", second, image)
            self.walk(image, rows, waits, "arm", dump_maker.Dump(arch="arm", platform=0x8201, version=(5, 0, 0)), b"LEpB" + bytes(range(1, 21)))

    def link(self, made, image, arch):
        command("ld64.lld-19", "-dylib", "-arch", arch, "-platform_version", "macos", "11", "11", "-undefined", "dynamic_lookup", "-o", image, made)

    def test_macos(self):
        """The linker leaves out call frame information where the table says as much: the second image has no table to start with."""
        count = 0
        for level in ("-O0", "-O1", "-O2", "-Os"):
            for arch, options in (("x86_64", ()), ("x86_64", ("-fomit-frame-pointer",)), ("arm64", ())):
                made, image, second = (self.folder / name for name in ("made.o", "made", "second"))
                target = ["clang-19", f"--target={arch}-apple-macos11", level, *options, *COMMON, "-o", made]
                command(*target, "-funwind-tables" if arch == "arm64" else "-fasynchronous-unwind-tables")
                self.link(made, image, arch)
                command(*target, "-fasynchronous-unwind-tables", "-femit-dwarf-unwind=always")
                if arch == "x86_64":
                    command("llvm-objcopy-19", "--remove-section", "__LD,__compact_unwind", made)
                self.link(made, second, arch)
                with self.subTest(level=level, arch=arch, options=options):
                    count += self.compare(image, 0, second)
        print(f"macOS: {count} calls")


e2e.main()
