"""Breakpad files written from images without a PDB and from arm64 and old x86 programs."""

import json
import pathlib
import re
import struct
import subprocess
import sys
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import dump_maker  # noqa: E402
import e2e  # noqa: E402

BASE, STACK = 0x140000000, 0x10000000


class Exports(e2e.Case):
    def export(self, image, *options):
        done = self.run_twinstack("symbols", "export", "--format", "breakpad", image, *options)
        head = done.stdout.splitlines()[0].split(" ", 4)
        path = self.folder / "sym" / head[4] / head[3] / (head[4].removesuffix(".pdb") + ".sym")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(done.stdout)
        return path, head, done.stdout

    def answers(self, text, *options):
        done = self.run_twinstack("resolve", "--ndjson", *options, stdin=text)
        # a .sym file cannot store a file name without a line
        return [[(f["function"] or "?", f["file"] if f["line"] else None, f["line"], f["inline_depth"]) for f in frames]
                if frames[-1]["symbols"] in ("dwarf", "breakpad") else None  # a line of assembler without a function
                for frames in (json.loads(line)["frames"] for line in done.stdout.splitlines())]

    # not the first slice of a file, or units in files that --symbols cannot name
    OTHERS = ("fat-arm64", "mac-oso-published", "with-dwo-published")

    def test_an_image_and_its_file_give_the_same_answers(self):
        root = self.fixture("images")
        checked = 0
        for entry in json.loads((root / "images.json").read_text()):
            if entry["kind"] not in ("elf", "macho", "pe") or entry["id"].endswith(self.OTHERS):
                continue
            debugs = [w for d in entry["debug"] for w in ("--symbols", root / d)]
            path, _, _ = self.export(root / entry["image"], *debugs)
            rows = [row for row in map(json.loads, (root / entry["ref"]).read_text().splitlines()) if row.get("agree")
                    and row["class"] != "gap"]
            text = "".join(f"> s\n{entry['module']}!{row['rva']}\n" for row in rows)
            with self.subTest(entry["id"]):
                direct = self.answers(text, "--symbols", root / entry["image"], *debugs)
                written = self.answers(text, "--pdb", f"{entry['module']}={path}")
                for row, want, got in zip(rows, direct, written, strict=True):
                    if want and any(f[2] for f in want) and want[-1][0] != "?":
                        checked += 1
                        self.assertEqual(got, want, row["rva"])
        self.assertGreater(checked, 1000)

    def test_identity_of_another_writer(self):
        folder = self.fixture("images/i12-elf-dump_syms")
        _, head, text = self.export(folder / "basic.full")
        theirs = (folder / "basic.full.sym").read_text().splitlines()[0].split(" ")
        self.assertEqual(head[1:4], theirs[1:4])
        self.assertIn("INFO CODE_ID b060ad20c6b47781552708aa192e7739fac7c84a", text)

    def stackwalk(self, dump):
        tool = e2e.BUILD / "tools/node_modules/minidump/bin/linux-x64/minidump_stackwalk"
        if not tool.is_file():
            self.skipTest("no minidump_stackwalk (npm install --prefix build/tools minidump)")
        done = subprocess.run([tool, dump, self.folder / "sym"], capture_output=True, text=True, errors="replace",
                              timeout=120 * e2e.PATIENCE, check=False)
        out, pc = [], None
        for line in done.stdout.splitlines():
            if line.startswith("Thread "):
                out.append([])
            elif re.match(r" +Found by: (?!inlining)", line):
                out[-1].append((pc, "call frame info" in line))
            pc = int((re.search(r"\b(?:[er]ip|pc) = 0x([0-9a-f]+)", line) or ["", f"{pc or 0:x}"])[1], 16)
        return out

    def test_unwind_data_of_arm64(self):
        folder = self.fixture("g20-arm64")
        pdb, exe = next(folder.glob("ARM64*.pdb")), next(folder.glob("ARM64*.exe"))
        path, head, text = self.export(pdb, "--image", exe)
        image = dump_maker.Image(exe)
        places = []
        for line in text.splitlines():
            found = re.match(r"STACK CFI (?:INIT )?([0-9a-f]+)", line)
            if found:
                places.append(int(found[1], 16))
        self.assertGreater(len(places), 100)
        returns = [int(line.split(" ")[1], 16) + 4 for line in text.splitlines() if line.startswith("FUNC ")]
        guid = uuid.UUID(head[3][:32]).bytes_le
        dump = dump_maker.Dump(arch="arm64")
        dump.module(f"C:\\{exe.name}", BASE, image.size, image.stamp, codeview=b"RSDS" + guid + struct.pack(
            "<I", int(head[3][32:], 16)) + head[4].encode() + b"\0")
        for number, place in enumerate(places):
            sp = STACK + number * 0x10000
            r = [sp + 64 + 16 * (i % 16) for i in range(31)]
            r[30] = BASE + returns[number % len(returns)]
            slots = [BASE + returns[(i * 37 + number) % len(returns)] for i in range(512)]
            dump.thread(number + 1, pc=BASE + place, sp=sp, r=r, stack=(sp, struct.pack("<512Q", *slots)))
        dump.save(self.folder / "made.dmp")
        theirs = self.stackwalk(self.folder / "made.dmp")
        same = 0
        alone = self.run_json("dump", self.folder / "made.dmp", "--symbols", path, "--stacks", "--json")["threads"]
        for place, thread, walked in zip(places, alone, theirs, strict=True):
            ours = [f for f in thread["stack"]["frames"] if not f["inlined"]][1:2]
            if walked[1:] and walked[1][1]:
                same += 1
                self.assertEqual([f["offset"] for f in ours], [hex(walked[1][0] - BASE)], hex(place))
                self.assertEqual(ours[0]["found_by"], "cfi")
        self.assertGreater(same, 100)
        # walking with the image itself finds the same callers as walking with the file made from it
        image_says = self.run_json("dump", self.folder / "made.dmp", "--symbols", exe, "--stacks", "--json")["threads"]
        both = 0
        for place, thread, other in zip(places, alone, image_says, strict=True):
            ours, wanted = ([f for f in t["stack"]["frames"] if not f["inlined"]][1:2] for t in (thread, other))
            if wanted and wanted[0]["found_by"] == "unwind" and ours and ours[0]["found_by"] == "cfi":
                both += 1
                self.assertEqual(ours[0]["offset"], wanted[0]["offset"], hex(place))
        self.assertEqual(both, len(places))

    def rules(self, text):
        """{address: {register: rule}} of the STACK CFI records."""
        rows = {}
        for line in text.splitlines():
            found = re.match(r"STACK CFI (INIT )?([0-9a-f]+)(?(1) [0-9a-f]+) (.*)", line)
            if found:
                parts = re.split(r"(\S+): ", found[3])[1:]
                rows[int(found[2], 16)] = {n: r.strip() for n, r in zip(parts[::2], parts[1::2], strict=True)}
        return rows

    def test_call_frame_information_as_another_writer_has_it(self):
        for image, theirs in (("i10-elf-crash/crash", "i30-breakpad/linux-crash.sym"),
                              ("i12-elf-dump_syms/basic.full", "i12-elf-dump_syms/basic.full.sym")):
            with self.subTest(image):
                root = self.fixture("images")
                ours = self.rules(self.export(root / image)[2])
                wanted = self.rules((root / theirs).read_text())
                self.assertGreater(len(wanted), 5)
                # The export leaves out the procedure linkage table, because its frame is an expression. (The other writer's
                # rules for it are right only at the first two addresses.)
                self.assertLessEqual(len(wanted.keys() - ours.keys()), 2)
                for address, rules in ours.items():
                    if rules.get(".ra") != "0":  # the program's entry, which nothing has called
                        self.assertEqual(rules, wanted[address], hex(address))

    def test_fpo_records_of_old_compilers(self):
        count = 0
        for pdb in sorted(self.fixture("g17-vs2003-2005").glob("*.pdb")):
            count += self.export(pdb)[2].count("\nSTACK WIN 0 ")
        self.assertGreater(count, 10)


e2e.main()
