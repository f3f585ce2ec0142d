"""`dump` on real and hand-made dumps: text, JSON, stacks, rust-minidump's schema; damage is
reported and does no harm."""

import json
import pathlib
import re
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import dump_maker  # noqa: E402
import e2e  # noqa: E402

CASE = e2e.ROOT / "corpus/cases/inline_chain.ob2"
SYMBOLS = e2e.ROOT / "corpus/symbols"
HEX = re.compile(r"0x[0-9a-f]+$")

# rust-minidump's json-schema.md: the type of each field. Every field may be null.
U32, TEXT, HEXSTRING, BOOL = int, str, HEX, bool
FRAME = {"frame": U32, "trust": ("context", "cfi", "cfi_scan", "frame_pointer", "scan", "prewalked", "inlined"),
         "registers": {}, "offset": HEXSTRING, "module": TEXT, "module_offset": HEXSTRING,
         "unloaded_modules": [{"module": TEXT, "offsets": [HEXSTRING]}],
         "inlines": [{"function": TEXT, "file": TEXT, "line": U32}], "function": TEXT,
         "function_offset": HEXSTRING, "file": TEXT, "line": U32, "missing_symbols": BOOL}
THREAD = {"thread_name": TEXT, "thread_id": U32, "last_error_value": TEXT, "frame_count": U32, "frames": [FRAME],
          "threads_index": U32, "total_frames": U32}
MODULE = {"base_addr": HEXSTRING, "end_addr": HEXSTRING, "filename": TEXT, "version": TEXT, "code_id": TEXT,
          "debug_file": TEXT, "debug_id": TEXT, "symbol_url": TEXT, "loaded_symbols": BOOL, "missing_symbols": BOOL,
          "corrupt_symbols": BOOL, "cert_subject": TEXT}
SCHEMA = {"status": ("OK",), "pid": U32, "process_uptime": U32,
          "crash_info": {"type": TEXT, "address": HEXSTRING, "adjusted_address": {}, "instruction": TEXT,
                         "memory_accesses": [{}], "instruction_pointer_update": {}, "possible_bit_flips": [{}],
                         "crash_inconsistencies": [TEXT], "crashing_thread": U32, "assertion": TEXT},
          "system_info": {"os": TEXT, "os_ver": TEXT, "cpu_arch": ("x86", "amd64", "arm64", "unknown"),
                          "cpu_info": TEXT, "cpu_count": U32, "cpu_microcode_version": HEXSTRING},
          "linux_memory_map_count": U32, "thread_count": U32, "threads": [THREAD], "crashing_thread": THREAD,
          "main_module": U32, "modules": [MODULE], "modules_contains_cert_info": BOOL,
          "unloaded_modules": [{"base_addr": HEXSTRING, "end_addr": HEXSTRING, "code_id": TEXT, "filename": TEXT,
                                "cert_subject": TEXT}],
          "handles": [{}], "lsb_release": {}, "mac_crash_info": {}, "mac_boot_args": TEXT, "proc_limits": {},
          "sensitive": {}, "soft_errors": None}


def against(schema, value, place="document"):
    """Yields the parts of VALUE that do not match SCHEMA."""
    if value is None or schema is None:
        return
    if isinstance(schema, dict):
        if not isinstance(value, dict):
            yield f"{place} is no object"
            return
        for key, inner in value.items():
            if schema and key not in schema:
                yield f"{place}.{key} is not in the schema"
            elif schema:
                yield from against(schema[key], inner, f"{place}.{key}")
    elif isinstance(schema, list):
        if not isinstance(value, list):
            yield f"{place} is no array"
            return
        for i, inner in enumerate(value):
            yield from against(schema[0], inner, f"{place}[{i}]")
    elif isinstance(schema, tuple):
        if value not in schema:
            yield f"{place} is {value!r}"
    elif isinstance(schema, re.Pattern):
        if not isinstance(value, str) or not schema.match(value):
            yield f"{place} is {value!r}, no hex string"
    elif type(value) is not schema:
        yield f"{place} is {value!r}, no {schema.__name__}"


def snapshot(path):
    """The JSON in an insta snapshot: everything after the second line of dashes."""
    return json.loads(path.read_text().split("---\n", 2)[2])


def keys_of(value, place=""):
    """All paths of keys, whatever their values."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{place}.{key}"
            yield from keys_of(inner, f"{place}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner, place + "[]")


class Dump(e2e.Case):
    def test_text(self):
        done = self.run_twinstack("dump", CASE / "dump.dmp", "--symbols", SYMBOLS)
        self.assertRegex(done.stdout, r"crash: +EXCEPTION_ACCESS_VIOLATION_WRITE \(0xc0000005\) in thread \d+")
        self.assertRegex(done.stdout, r"ThreadList +\d+ bytes at 0x")
        self.assertIn("TwinstackInfo", done.stdout)
        order = [done.stdout.index(name) for name in ("chain_four", "chain_one", "run_inline_chain", " main ")]
        self.assertEqual(order, sorted(order))
        self.assertEqual(done.stderr, "")

    def test_json_holds_all_streams(self):
        document = self.run_json("dump", CASE / "dump.dmp", "--json")
        for key in ("streams", "system", "process", "exception", "threads", "modules", "unloaded_modules", "memory",
                    "memory_regions", "handles", "function_tables", "tokens", "system_memory", "vm_counters",
                    "breakpad", "crashpad", "capture", "comment"):
            self.assertIn(key, document)
        self.assertEqual(document["suspect"], document["exception"]["thread_id"])
        self.assertTrue(document["capture"]["modules"][0]["debug_id"])
        again = self.run_twinstack("dump", CASE / "dump.dmp", "--json")
        self.assertEqual(json.loads(again.stdout), document)

    def test_lint(self):
        """The kept dumps are Wine's, whose module list breaks off where our callback left modules out; those of the
        fixtures are Microsoft's or of other known writers."""
        for name, code, rules in (("dump.dmp", 1, {"reserved_type", "no_codeview"}),
                                  ("dump-tuned.dmp", 1, {"reserved_type", "no_codeview", "list_size"})):
            with self.subTest(name):
                text = self.run_twinstack("dump", CASE / name, "--lint", exit_code=code).stdout
                found = self.run_json("dump", CASE / name, "--lint", "--json", exit_code=code)["faults"]
                self.assertLessEqual(rules, {f["rule"] for f in found})
                self.assertEqual("list_size" in rules, "does not have a module list" in text)
                self.assertIn(f": {len(found)} faults by the format", text)
                self.assertTrue(all(re.match("0x[0-9a-f]+$", f["offset"]) and f["windows_debugger"] for f in found))
        for path in sorted(e2e.FIXTURES.glob("g*/*_av.dmp")):
            with self.subTest(path.name):
                self.assertIn(": 0 faults by the format", self.run_twinstack("dump", path, "--lint").stdout)

    def test_more_unloaded_modules_than_are_kept(self):
        """Microsoft's writer under Wine lists one entry 65,536 times."""
        d = dump_maker.Dump()
        name = d.put(dump_maker.text("C:\\gone.dll"))
        d.stream(14, struct.pack("<III", 12, 24, 65536) + 65536 * struct.pack("<QIIII", 0x10000, 0x1000, 0, 7, name))
        path = self.folder / "unloaded.dmp"
        d.save(path)
        self.assertIn(" 4096 unloaded (the first of 65536 entries),", self.run_twinstack("dump", path).stdout)
        document = self.run_json("dump", path, "--json")
        self.assertEqual((len(document["unloaded_modules"]), document["unloaded_modules_listed"], document["partial"]),
                         (4096, 65536, False))

    def test_stacks(self):
        document = self.run_json("dump", CASE / "dump.dmp", "--stacks", "--json", "--symbols", SYMBOLS)
        threads = document["threads"]
        self.assertEqual(threads[0]["role"], "suspect")
        names = [f["function"] for f in threads[0]["stack"]["frames"]]
        self.assertEqual(names[:6], ["chain_four", "chain_three", "chain_two", "chain_one", "run_inline_chain", "main"])
        text = self.run_twinstack("dump", CASE / "dump.dmp", "--stacks", "--symbols", SYMBOLS).stdout
        self.assertEqual(len(re.findall(r"^thread \d+", text, re.M)), len(threads))
        one = self.run_json("dump", CASE / "dump.dmp", "--stacks", "--thread", threads[-1]["id"], "--json")
        self.assertEqual(one["threads"][0]["id"], threads[-1]["id"])

    def test_stackwalk_json_is_in_the_schema(self):
        dumps = sorted(e2e.FIXTURES.glob("g*/*.dmp"))
        if not dumps:
            self.skipTest("no fixtures ($TWINSTACK_FIXTURES)")
        for path in [CASE / "dump.dmp", *dumps]:
            with self.subTest(path.name):
                document = self.run_json("dump", path, "--format", "stackwalk-json")
                self.assertEqual(list(against(SCHEMA, document)), [])
                self.assertEqual(document["thread_count"], len(document["threads"]))
                for thread in document["threads"]:
                    self.assertEqual(thread["frame_count"], len(thread["frames"]))

    def test_the_schema_check_can_fail(self):
        bad = {"pid": "12", "threads": [{"frames": [{"offset": 12, "trust": "hope", "modul": "a"}]}]}
        self.assertEqual(len(list(against(SCHEMA, bad))), 4)

    def test_stackwalk_json_has_the_published_fields(self):
        dump = self.fixture("g05-minidump2-x86/minidump2.dmp")
        published = snapshot(self.fixture("g05-minidump2-x86/test_minidump_stackwalk__json-pretty.snap"))
        document = self.run_json("dump", dump, "--format", "stackwalk-json")
        self.assertEqual(list(against(SCHEMA, published)), [])
        self.assertEqual(set(keys_of(document)), set(keys_of(published)))
        for key in ("crash_info", "system_info", "pid", "main_module", "modules", "unloaded_modules"):
            self.assertEqual(document[key], published[key], key)

    def test_reports_of_others(self):
        rows = {
            "a Linux dump": (dump_maker.Dump(platform=0x8201, service_pack="Linux 6.1"), 0, "not Windows"),
            "a processor we do not read": (dump_maker.Dump(architecture=6), 0, "unknown"),
            "no threads at all": (dump_maker.Dump(), 0, "0 threads"),
        }
        for name, (dump, code, word) in rows.items():
            with self.subTest(name):
                done = self.run_twinstack("dump", self.saved(dump), exit_code=code)
                self.assertIn(word, done.stdout)
                self.assertIn("SystemInfo", done.stdout)

    def test_unknown_streams_are_listed_by_number(self):
        dump = dump_maker.Dump()
        dump.stream(0x12345678, b"anything")
        done = self.run_twinstack("dump", self.saved(dump))
        self.assertRegex(done.stdout, r"8 bytes at 0x[0-9a-f]+ +type 0x12345678")
        streams = self.run_json("dump", self.folder / "made.dmp", "--json")["streams"]
        self.assertEqual([(s["type"], s["name"]) for s in streams if s["name"] is None], [("0x12345678", None)])

    def test_an_exception_without_a_context_is_walked_from_the_thread(self):
        dump = dump_maker.Dump()
        dump.module("a.exe", 0x140000000, 0x10000)
        dump.thread(7, pc=0x140001234, sp=0x10000, stack=(0x10000, bytes(64)))
        dump.exception(7, 0xC0000005, 0x140001234, (1, 0))
        frames = self.run_json("dump", self.saved(dump), "--stacks", "--json")["threads"][0]["stack"]["frames"]
        self.assertEqual(frames[0]["offset"], "0x1234")
        self.assertEqual(self.run_json("dump", self.saved(dump), "--json")["threads"][0]["stack_start"], "0x10000")

    def test_what_is_no_minidump_is_said_to_be_what_it_is(self):
        rows = {b"": "truncated", b"PAGEDU64" + bytes(64): "kernel", b"\x7fELF" + bytes(64): "ELF core",
                b"PMDM" + bytes(64): "big-endian", b"MSCF" + bytes(64): "cabinet", b"PK\3\4" + bytes(64): "zip file",
                b"\x28\xb5\x2f\xfd" + bytes(64): "zstd", b"MZ" + bytes(64): "not a minidump"}
        for data, word in rows.items():
            with self.subTest(word):
                path = self.folder / "x.dmp"
                path.write_bytes(data)
                done = self.run_twinstack("dump", path, exit_code=3)
                self.assertIn(word, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_damage_is_told_and_the_rest_printed(self):
        data = bytearray((CASE / "dump.dmp").read_bytes())
        cut = self.folder / "cut.dmp"
        cut.write_bytes(data[:len(data) * 2 // 3])
        done = self.run_twinstack("dump", cut, exit_code=3)
        self.assertIn("damaged", done.stdout)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("cut.dmp", done.stderr)

    def test_usage(self):
        self.run_twinstack("dump", exit_code=2)
        self.run_twinstack("dump", CASE / "dump.dmp", "--format", "xml", exit_code=2)
        self.run_twinstack("dump", CASE / "dump.dmp", "--explain", "999", exit_code=2)
        self.run_twinstack("dump", CASE / "dump.dmp", "--explain", "one", exit_code=2)
        done = self.run_twinstack("dump", self.folder / "none.dmp", exit_code=3)
        self.assertIn("none.dmp", done.stderr)

    def test_explain(self):
        text = self.run_twinstack("dump", CASE / "dump.dmp", "--symbols", SYMBOLS, "--explain", "0").stdout
        self.assertIn("context: given: the thread's registers", text)
        document = self.run_json("dump", CASE / "dump.dmp", "--symbols", SYMBOLS, "--explain", "0", "--json")
        self.assertEqual((document["index"], document["found_by"]), (0, "context"))

    def test_all_frames_are_explained_as_each_is(self):
        words = ["dump", CASE / "dump.dmp", "--symbols", SYMBOLS, "--explain"]
        frames = self.run_json(*words, "all", "--json")["frames"]
        self.assertGreater(len(frames), 2)
        self.assertEqual([frame["stop"] is None for frame in frames], [True] * (len(frames) - 1) + [False])
        self.assertEqual(frames, [self.run_json(*words, str(index), "--json") for index in range(len(frames))])
        one_by_one = "".join(self.run_twinstack(*words, str(index)).stdout for index in range(len(frames)))
        self.assertEqual(self.run_twinstack(*words, "all").stdout, one_by_one)

    def test_a_full_dump_of_memory64(self):
        pages = [(0x7FF000000000 + i * 0x10000, struct.pack("<Q", i) * 512) for i in range(64)]
        dump = dump_maker.Dump()
        dump.module("a.exe", 0x140000000, 0x10000)
        dump.thread(1, pc=0x140001234, sp=0x7FF000000000)
        document = self.run_json("dump", self.saved(dump, memory64=pages), "--json")
        self.assertEqual(document["memory"]["bytes"], 64 * 4096)
        self.assertFalse(document["partial"])
        rows = {r["start"]: int(r["offset"], 16) for r in document["memory"]["ranges"]}
        data = (self.folder / "made.dmp").read_bytes()
        for va, page in pages:
            at = rows[f"0x{va:x}"]
            self.assertEqual(data[at:at + 4096], page)


e2e.main()
