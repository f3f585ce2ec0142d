"""Minidumps of macOS and iOS: without the image, every thread is walked by its frame pointers; names are exact with a dSYM,
and those of the nearest symbol without one. With the image: test_unwind_tables.py."""

import json
import pathlib
import struct
import sys
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import dump_maker  # noqa: E402
import e2e  # noqa: E402

MAC = 0x8101
BASE, STACK, FP = 0x102F04000, 0x16D000000, {"arm64": 29, "x64": 5}
SAMPLES = (("arm64", "i02-macho-arm64-simple", "mac-dsym/main", "mac-dsym/main.dSYM/Contents/Resources/DWARF/main",
            "CF441AF5-BB7E-3567-8D44-451D69214D92", "mac-dsym.ref.jsonl"),
           ("x64", "i01-macho-x64-crash", "crash", "crash.dSYM/Contents/Resources/DWARF/crash", None,
            "crash-dsym.ref.jsonl"))


class Walks(e2e.Case):
    def made(self, arch, name, identity, threads):
        """THREADS: offsets of frames, innermost first; each thread's frame pointers link them."""
        dump = dump_maker.Dump(arch=arch, platform=MAC, version=(14, 1, 0))
        dump.module(f"/Users/a/{name}", BASE, 0x100000, 0,
                    codeview=b"RSDS" + identity.bytes_le + struct.pack("<I", 0) + name.encode() + b"\0")
        for number, offsets in enumerate(threads):
            sp = STACK + number * 0x10000
            # a frame is {caller's frame pointer, return address}, 64 bytes apart
            slots = [0] * 8 * (len(offsets) + 1)
            for i, offset in enumerate(offsets[1:]):
                slots[8 * (i + 1)] = sp + 64 * (i + 2)
                slots[8 * (i + 1) + 1] = BASE + offset
            last = 8 * len(offsets)
            slots[last] = slots[last + 1] = 0
            r = [0] * 31
            r[FP[arch]] = sp + 64
            dump.thread(number + 1, pc=BASE + offsets[0], sp=sp, r=r, stack=(
                sp, struct.pack(f"<{len(slots)}Q", *slots)))
        path = self.folder / "made.dmp"
        dump.save(path)
        return path

    def test_exact_with_a_dsym_and_nearest_without(self):
        for arch, folder, image, dsym, identity, ref in SAMPLES:
            root = self.fixture("images") / folder
            listed = self.run_json("symbols", "list", "--json", root / image)["files"][0]
            identity = uuid.UUID(identity) if identity else uuid.UUID(listed["debug_id"][:32])
            rows = [json.loads(line) for line in (root / ref).read_text().splitlines()]
            rows = [row for row in rows if row["agree"] and row["class"] in ("start", "mid", "inl")
                    and row["frames"][-1]["line"]][:120]
            offsets = [int(row["rva"], 16) for row in rows]
            threads = [offsets[i:i + 6] for i in range(0, len(offsets) - 6, 6)]
            # a return address is looked up one byte earlier
            shifted = [[t[0]] + [o + 1 for o in t[1:]] for t in threads]
            path = self.made(arch, pathlib.Path(image).name, identity, shifted)
            with self.subTest(arch):
                for files, words in (((dsym,), {"dwarf"}), ((image,), {"symtab", "nearest"})):
                    options = [w for f in files for w in ("--symbols", root / f)]
                    got = self.run_json("dump", path, "--stacks", "--json", *options)["threads"]
                    self.assertEqual(len(got), len(threads))
                    for thread, wanted in zip(got, threads, strict=True):
                        frames = thread["stack"]["frames"]
                        physical = [f for f in frames if not f["inlined"]]
                        self.assertLessEqual({f["symbols"] for f in frames}, words)
                        if "dwarf" not in words:  # by its unwind table, which knows that no such stack can be
                            continue
                        self.assertEqual([f["found_by"] for f in physical],
                                         ["context"] + ["frame_pointer"] * (len(wanted) - 1))
                        want = [(f["line"] or 0) for o in wanted for f in rows[offsets.index(o)]["frames"]]
                        self.assertEqual([f["line"] or 0 for f in frames], want)

    def test_threads_of_a_published_dump(self):
        dump = self.fixture("images/i60-dumps/minidump_crashpad_annotation.dmp")
        threads = self.run_json("dump", dump, "--stacks", "--json")["threads"]
        self.assertIn("com.apple.uikit.eventfetch-thread", [t["name"] for t in threads])
        suspect = next(t for t in threads if t["role"] == "suspect")["stack"]
        self.assertEqual({f["found_by"] for f in suspect["frames"][1:]}, {"frame_pointer"})
        self.assertEqual([suspect["frames"][i]["module"] for i in (0, 26)], ["ios_crash_xcuitests", "dyld"])


e2e.main()
