"""`dump` on dumps of other writers: other systems, signed pointers, overlapping modules, threads
without modules."""

import json
import pathlib
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import dump_maker  # noqa: E402
import e2e  # noqa: E402

STACK = 0x10000
EXE, LIBRARY = 0x140000000, 0x7F0000000000
SIGNED = 0x0037 << 48  # the bits that pointer authentication puts above an address


def stack_of(words, size=0x200):
    out = bytearray(size)
    for offset, word in words.items():
        struct.pack_into("<Q", out, offset, word)
    return STACK, bytes(out)


class Strangers(e2e.Case):
    def threads(self, dump):
        return self.run_json("dump", self.saved(dump), "--stacks", "--json")["threads"]

    def frames(self, dump):
        return [(f["module"], f["offset"], f["found_by"]) for f in self.threads(dump)[0]["stack"]["frames"]]

    def chained(self, platform):
        """rbp leads past a stack word that points into code, which a scan would take first."""
        dump = dump_maker.Dump(platform=platform)
        dump.module("a", EXE, 0x10000)
        dump.module("b", LIBRARY, 0x10000)
        words = {0x08: EXE + 0x3333, 0x40: STACK + 0x80, 0x48: EXE + 0x1111, 0x80: 0, 0x88: LIBRARY + 0x2222,
                 0x90: 0, 0x98: 0}
        dump.thread(1, pc=EXE + 0x1000, sp=STACK, r=[0] * 5 + [STACK + 0x40], stack=stack_of(words, 0xA0))
        dump.exception(1, 11, 0)
        return dump

    def test_other_systems_chain_their_frames(self):
        for platform in (0x8101, 0x8201):
            with self.subTest(hex(platform)):
                self.assertEqual(self.frames(self.chained(platform)), [
                    ("a", "0x1000", "context"), ("a", "0x1111", "frame_pointer"), ("b", "0x2222", "frame_pointer")])

    def test_windows_does_not(self):
        self.assertEqual(self.frames(self.chained(2))[1], ("a", "0x3333", "scan"))

    def test_their_signals_have_names(self):
        rows = {(0x8201, 11): "SIGSEGV", (0x8203, 6): "SIGABRT", (0x8101, 1): "EXC_BAD_ACCESS",
                (0x8201, 0xC0000005): "0xc0000005", (2, 0xC0000005): "EXCEPTION_ACCESS_VIOLATION_WRITE"}
        for (platform, code), name in rows.items():
            with self.subTest(name):
                dump = dump_maker.Dump(platform=platform)
                dump.exception(1, code, 0, (1, 0))
                done = self.run_twinstack("dump", self.saved(dump))
                self.assertIn(f"crash:   {name} (", done.stdout)
                said = self.run_json("dump", self.folder / "made.dmp", "--json")["exception"]["name"]
                self.assertEqual(said, None if name.startswith("0x") else name.removesuffix("_WRITE"))

    def signed(self, lr=0):
        """fp leads to the caller, whose address is signed; lr may hold any value while fp is valid."""
        dump = dump_maker.Dump("arm64")
        dump.module("a.exe", EXE, 0x10000)
        registers = [0] * 31
        registers[29], registers[30] = STACK + 0x40, lr
        words = {0x40: STACK + 0x80, 0x48: SIGNED | EXE + 0x1110, 0x80: 0, 0x88: 0}
        dump.thread(1, pc=EXE + 0x1000, sp=STACK, r=registers, stack=stack_of(words))
        dump.exception(1, 0xC0000005, EXE + 0x1000, (1, 0))
        return dump

    def test_signed_return_addresses(self):
        for lr in (0, 5, SIGNED | EXE + 0x1110):  # the last one: nothing has been called yet
            with self.subTest(hex(lr)):
                self.assertEqual(self.frames(self.signed(lr)), [("a.exe", "0x1000", "context"),
                                                                ("a.exe", "0x1110", "frame_pointer")])

    def test_lr_of_a_call_that_is_over(self):
        """There is a PDB but no image. The function at pc made a call earlier, and lr still holds that
        call's return address."""
        image = dump_maker.Image(self.fixture("g20-arm64/ARM64_CETShadowStack_NotApplicable.exe"))
        pdb = self.fixture("g20-arm64/ARM64_CETShadowStack_NotApplicable.pdb")
        places = self.run_twinstack("resolve", "--pdb", pdb, "--json", stdin="".join(
            f"> {rva:x}\nARM64_CETShadowStack_NotApplicable.exe!0x{rva:x}\n" for rva in range(0x1000, 0x9000, 4))).stdout
        bodies = {}
        for place in json.loads(places):
            frame = place["frames"][-1]
            if frame["line"] is not None:  # assembler code has neither lines nor a frame
                bodies.setdefault(frame["function"], []).append(int(place["label"], 16))
        longest = sorted(bodies.values(), key=len)[-2:]
        own, caller = longest[0], longest[1][len(longest[1]) // 2]
        dump = dump_maker.Dump("arm64")
        dump.module("ARM64_CETShadowStack_NotApplicable.exe", image.base, image.size, image.stamp, image.codeview())
        registers = [0] * 31
        registers[29], registers[30] = STACK + 0x40, image.base + own[len(own) // 2]
        words = {0x40: STACK + 0x80, 0x48: image.base + caller, 0x80: 0, 0x88: 0}
        dump.thread(1, pc=image.base + own[len(own) // 2 + 4], sp=STACK, r=registers, stack=stack_of(words))
        path = self.saved(dump)
        frames = self.run_json("dump", path, "--symbols", pdb, "--stacks", "--json")["threads"][0]["stack"]["frames"]
        physical = [(f["offset"], f["found_by"]) for f in frames if not f["inlined"]]
        self.assertEqual(physical[1:], [(f"0x{caller:x}", "frame_pointer")])

    def test_callers_of_rust_minidump_stand_an_instruction_back(self):
        path = self.saved(self.signed())
        document = self.run_json("dump", path, "--format", "stackwalk-json")
        offsets = [int(f["module_offset"], 16) for f in document["crashing_thread"]["frames"]]
        self.assertEqual(offsets, [0x1000, 0x110C])
        theirs, ours = self.folder / "theirs.json", self.folder / "ours.txt"
        theirs.write_text(json.dumps(document))
        ours.write_text("a.exe!0x1000\na.exe!0x1110\n")
        done = self.run_twinstack("check", "--stacks", theirs, ours)
        self.assertEqual(done.returncode, 0)

    def test_modules_over_one_another(self):
        dump = dump_maker.Dump()
        dump.module("big.exe", EXE, 0x100000)
        dump.module("inner.dll", EXE + 0x10000, 0x1000)
        dump.module("inner.dll", EXE + 0x10000, 0x1000)
        for number, rva in enumerate((0x10010, 0x50000)):
            dump.thread(number + 1, pc=EXE + rva, sp=STACK, stack=stack_of({}))
        modules = {t["id"]: t["stack"]["frames"][0]["module"] for t in self.threads(dump)}
        self.assertEqual(modules, {1: "inner.dll", 2: "big.exe"})

    def test_no_control_character_reaches_a_terminal(self):
        dump = dump_maker.Dump(service_pack="\x1b[31m")
        dump.module("\x1b]0;title\x07 a\n\u0085.exe", EXE, 0x10000)
        dump.thread(1, pc=EXE + 0x1000, sp=STACK, stack=stack_of({}))
        path = self.saved(dump)
        for more in ([], ["--stacks"], ["--explain", "0"]):
            with self.subTest(more):
                text = self.run_twinstack("dump", path, *more).stdout
                self.assertIn("?]0;title? a??.exe", text)
                self.assertNotRegex(text, "[^\n\x20-\x7e]")
        self.assertEqual(self.run_json("dump", path, "--json")["modules"][0]["name"],
                         "\x1b]0;title\x07 a\n\u0085.exe")

    def test_files_of_linux_are_texts(self):
        dump = dump_maker.Dump(platform=0x8201)
        dump.stream(0x47670006, b"app\0--flag\0\0")
        dump.stream(0x47670009, b"400000-500000 r-xp \xff\n" * 9000)
        dump.stream(0x47670009, b"a second one")
        texts = self.run_json("dump", self.saved(dump), "--json")["texts"]
        self.assertEqual([t["stream"] for t in texts], ["LinuxCmdLine", "LinuxMaps"])
        self.assertEqual(texts[0]["text"], "app\n--flag")
        self.assertEqual(texts[1]["text"].count("r-xp \ufffd"), 9000)

    def test_an_empty_assertion_is_not_shown(self):
        """Breakpad writes its stream of assertions in any crash; without one, all of its texts are empty."""
        for text, shown in (("", False), ("x > 0", True)):
            with self.subTest(text):
                dump = dump_maker.Dump()
                dump.stream(0x47670002, text.encode("utf-16-le").ljust(256, b"\0") + bytes(512 + 8))
                place = dump.thread(1, pc=EXE + 0x1000, sp=STACK)
                dump.exception(1, 0xC0000005, EXE + 0x1000, context_place=place)
                said = self.run_twinstack("dump", self.saved(dump)).stdout
                self.assertIn("crash: ", said)
                self.assertEqual("assert: " in said, shown, said)

    def executable_stack(self, pc, codeview):
        """Breakpad lists an executable stack as a module. CODEVIEW None: it is not listed."""
        dump = dump_maker.Dump(platform=0x8201)
        dump.module("a", EXE, 0x10000)
        if codeview is not None:
            dump.module("[stack]", STACK, 0x1000, codeview=codeview)
        dump.stream(0x47670009, b"%x-%x rwxp 00000000 00:00 0 [stack]\n" % (STACK, STACK + 0x1000))
        words = {0x08: STACK + 0x30, 0x18: STACK + 0x40, 0x28: EXE + 0x1111}
        place = dump.thread(1, pc=pc, sp=STACK, stack=stack_of(words))
        dump.exception(1, 11, pc, context_place=place)
        return self.saved(dump)

    def test_an_executable_stack_is_data(self):
        """Even on an executable stack, a word that points into it is a return address only if it follows a call."""
        listed = (b"", b"LEpB", b"LEpB" + bytes(20))
        for pc, first, forms in ((EXE + 0x1000, "0x1000", (None, *listed)), (STACK + 0x44, "0x44", listed)):
            wanted = None
            for codeview in forms:
                with self.subTest(pc=hex(pc), codeview=codeview):
                    path = self.executable_stack(pc, codeview)
                    outputs = [self.run_twinstack("dump", path, *more).stdout for more in (
                        [], ["--stacks"], ["--explain", "0"], ["--format", "stackwalk-json"], ["--json"])]
                    frames = self.run_json("dump", path, "--stacks", "--json")["threads"][0]["stack"]["frames"]
                    self.assertEqual([(f["module"], f["offset"], f["found_by"]) for f in frames[1:]],
                                     [("a", "0x1111", "scan")])
                    self.assertEqual(frames[0]["offset"], first)
                    self.assertIn("LinuxMaps", outputs[0])
                    lengths = [len(o.splitlines()) for o in outputs[1:3]]
                    wanted = wanted or lengths
                    self.assertEqual(lengths, wanted, "half of the output")

    def test_a_real_executable_stack(self):
        """LLDB's dump of a program that has an executable stack and runs into its own data there."""
        if not all(map(shutil.which, ("gcc", "lldb-19"))):
            self.skipTest("no gcc with lldb-19")
        (self.folder / "a.c").write_text("""
            int main(void) { volatile unsigned char code[16] = {0x31, 0xc0, 0x89, 0, 0xc3}; /* xor eax, eax; mov [rax], eax */
                             return ((int (*)(void))(unsigned long)code)() + 1; }""")
        subprocess.run(["gcc", "-g", "-O1", "-z", "execstack", "a.c", "-o", "a"], cwd=self.folder, check=True)
        subprocess.run(["lldb-19", "-b", "-o", "run", "-k", "process save-core --plugin-name=minidump --style=stack a.dmp",
                        "-k", "quit", "a"], cwd=self.folder, check=False, capture_output=True, timeout=120 * e2e.PATIENCE)
        if not (self.folder / "a.dmp").exists():
            self.skipTest("LLDB cannot start a program here")
        maps = next(t["text"] for t in self.run_json("dump", self.folder / "a.dmp", "--json")["texts"] if t["stream"] == "LinuxMaps")
        self.assertRegex(maps, r"rwxp .*\[stack\]")
        said = self.run_twinstack("dump", self.folder / "a.dmp").stdout
        self.assertIn("crash:   SIGSEGV", said)
        self.assertIn("Exception ", said)
        self.assertIn("#0 ", said)

    def test_two_threads_of_one_id(self):
        dump = dump_maker.Dump()
        dump.module("a.exe", EXE, 0x10000)
        for rva in (0x1000, 0x2000):
            dump.thread(5, pc=EXE + rva, sp=STACK, stack=stack_of({}))
        threads = self.threads(dump)
        self.assertEqual([t["state"] for t in threads], ["ok", "failed"])
        self.assertIn("has this id", threads[1]["stop"])

    def test_contexts_of_wrong_sizes(self):
        whole = dump_maker.context("x64", EXE + 0x1000, STACK)
        rows = {0: "failed", 4: "failed", 0x80: "failed", 0x100: "ok", 1231: "ok", 1232: "ok", 4000: "ok"}
        for size, state in rows.items():
            with self.subTest(size):
                dump = dump_maker.Dump()
                dump.module("a.exe", EXE, 0x10000)
                dump.thread(1, raw=whole[:size] + bytes(max(0, size - len(whole))), stack=stack_of({}))
                thread = self.threads(dump)[0]
                self.assertEqual(thread["state"], state, thread["stop"])
                if state == "failed":
                    self.assertIn("context", thread["stop"])

    def test_threads_alone_say_their_processor(self):
        for arch in ("x86", "x64", "arm64"):
            with self.subTest(arch):
                dump = dump_maker.Dump(arch)
                dump.rows.clear()  # no SystemInfo
                dump.thread(1, pc=0x401000, sp=STACK, stack=stack_of({}))
                path = self.saved(dump)
                threads = self.run_json("dump", path, "--json")["threads"]
                self.assertEqual(threads[0]["registers"]["cpu"], arch)
                self.assertEqual(threads[0]["registers"]["pc"], "0x401000")

    def test_wow64_however_its_library_is_spelt(self):
        dump = dump_maker.Dump()
        dump.module("C:\\Windows\\System32\\WOW64.DLL", 0x77000000, 0x1000)
        dump.module("a.exe", 0x400000, 0x10000)
        raw = bytearray(dump_maker.context("x64", 0x401000, STACK))
        struct.pack_into("<H", raw, 0x38, 0x23)
        dump.thread(1, raw=bytes(raw), stack=stack_of({}))
        thread = self.run_json("dump", self.saved(dump), "--json")["threads"][0]
        self.assertEqual((thread["registers"]["cpu"], thread["registers"]["wow64"]), ("x86", True))


e2e.main()
