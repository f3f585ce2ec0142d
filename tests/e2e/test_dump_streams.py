"""Every stream of a minidump, field by field: each row lays out one structure of Microsoft's minidumpapiset.h, of
Breakpad's minidump_format.h or of Crashpad's minidump_extensions.h with distinct numbers, and states what `dump
--json` must report for it."""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import dump_maker  # noqa: E402
import e2e  # noqa: E402


def utf8(text):
    """MINIDUMP_UTF8_STRING."""
    raw = text.encode()
    return struct.pack("<I", len(raw)) + raw + b"\0"


def fixed(text, units):
    return text.encode("utf-16-le").ljust(2 * units, b"\0")


def unloaded(d):
    name = d.put(dump_maker.text("C:\\x\\gone.dll"))
    # a header and entries longer than today's: the file's sizes count, not ours
    d.stream(14, struct.pack("<III4x", 16, 28, 1) + struct.pack("<QIIII4x", 0x7FF700000000, 0x9000, 0x77, 0x5A5B5C5D,
                                                               name))
    return {"unloaded_modules.0": {"name": "gone.dll", "path": "C:\\x\\gone.dll", "base": "0x7ff700000000",
                                   "size": "0x9000", "code_id": "5A5B5C5D9000", "checksum": "0x77"}}


def thread_info(d):
    d.thread(5, pc=1, sp=2)
    d.stream(17, struct.pack("<III", 12, 64, 1) + struct.pack("<IIII6Q", 5, 8, 2, 259, 10, 11, 12, 13, 0x1400, 3))
    return {"threads.0.info": {"dump_flags": "0x8", "dump_error": "0x2", "exit_status": "0x103",
                               "start": "0x1400", "affinity": "0x3"}}


def thread_names(d):
    d.thread(5, pc=1, sp=2)
    d.thread(6, pc=1, sp=2)
    d.stream(24, struct.pack("<IIQIQ", 2, 6, d.put(dump_maker.text("näme")), 5, 0))
    return {"threads.0": {"id": 5, "name": None}, "threads.1": {"id": 6, "name": "näme"}}


def thread_ex(d):
    raw = dump_maker.context("x64", 0x1234, 0x5678)
    d.stream(8, struct.pack("<I", 1) + struct.pack("<IIIIQQIIIIQII", 9, 1, 32, 2, 0x7000, 0, 0, 0, len(raw), d.put(raw),
                                                   0x8000, 4, d.put(b"back")))
    return {"threads.0": {"id": 9, "suspend_count": 1, "priority": 2, "teb": "0x7000"},
            "threads.0.registers": {"pc": "0x1234", "sp": "0x5678"}, "threads.0.backing_store": {"bytes": 4}}


def memory_info(d):
    d.stream(16, struct.pack("<IIQ", 16, 48, 1) + struct.pack("<QQIIQIIII", 0x10000, 0x8000, 4, 0, 0x3000, 0x1000, 0x20,
                                                             0x20000, 0))
    return {"memory_regions.0": {"base": "0x10000", "allocation_base": "0x8000", "allocation_protection": "0x4",
                                 "bytes": "0x3000", "state": "0x1000", "protection": "0x20", "type": "0x20000"}}


def handles(d):
    kind, name = d.put(dump_maker.text("File")), d.put(dump_maker.text("\\Device\\Null"))
    d.stream(12, struct.pack("<IIII", 16, 40, 2, 0) +
             struct.pack("<QIIIIIIII", 0x44, kind, name, 1, 0x12019F, 2, 77, 0, 0) +
             struct.pack("<QIIIIIIII", 0x48, 0, 0, 0, 0, 0, 0, 0, 0))
    return {"handles.0": {"handle": "0x44", "type": "File", "name": "\\Device\\Null", "attributes": "0x1",
                          "access": "0x12019f", "handle_count": 2, "pointer_count": 77},
            "handles.1": {"handle": "0x48", "type": None, "name": None}, "streams.1": {"content": None}}


def function_table(d):
    rows = struct.pack("<III", 0, 0x20, 0x100) + struct.pack("<III", 0x40, 0x60, 0x110)
    d.stream(13, struct.pack("<6I", 24, 32, 8, 12, 1, 0) +
             struct.pack("<QQQII", 0x20000000, 0x20001000, 0x20000000, 2, 4) + bytes(8) + rows + bytes(4))
    return {"function_tables.0": {"start": "0x20000000", "end": "0x20001000", "base": "0x20000000", "entries": 2},
            "streams.1.content.0.entries.1": {"begin": "0x40", "end": "0x60", "unwind": "0x110"}}


def tokens(d):
    d.stream(19, struct.pack("<IIII", 56, 2, 16, 16) + struct.pack("<IIQ", 24, 4711, 0x1C) + bytes(8) +
             struct.pack("<IIQ", 16, 4712, 0))
    return {"streams.1.content.0": {"id": 4711, "token": {"bytes": 8, "hex": "00" * 8, "bytes_shown": 8}},
            "tokens.0": {"id": 4711, "handle": "0x1c", "bytes": 24}, "tokens.1": {"id": 4712, "bytes": 16}}


def system_memory(d):
    basic = struct.pack("<IIIIIIQQQI", 156250, 4096, 1000, 1, 2000, 65536, 0x10000, 0x7FFFFFFEFFFF, 15, 4)
    cache = struct.pack("<QQIQQQQII", 1, 2, 3, 4, 5, 6, 7, 8, 9)
    d.stream(21, struct.pack("<HH", 1, 0) + basic + cache + struct.pack("<QQQQ", 500, 600, 700, 800) + bytes(328))
    return {"system_memory": {"page_bytes": 4096, "physical_pages": 1000, "available_pages": 500,
                              "committed_pages": 600, "commit_limit_pages": 700},
            "streams.1.content.file_cache": {"current_bytes": 1, "page_faults": 3, "transition_repurposed": 8},
            "streams.1.content.commitment": {"peak_commitment_pages": 800},
            "streams.1.content.dirty": {"cc_total_dirty_pages": 0}}


def vm_counters_1(d):
    d.stream(22, struct.pack("<HxxI9Q", 1, 5, *range(11, 20)))
    return {"vm_counters": {"revision": 1, "page_faults": 5, "peak_working_set_bytes": 11, "working_set_bytes": 12,
                            "pagefile_bytes": 17, "peak_pagefile_bytes": 18, "private_bytes": 19,
                            "virtual_bytes": None}}


def vm_counters_2(d):
    d.stream(22, struct.pack("<HHI18Q", 2, 15, 5, *range(11, 29)))
    return {"vm_counters": {"revision": 2, "page_faults": 5, "pagefile_bytes": 17, "peak_pagefile_bytes": 18,
                            "virtual_bytes": 20, "private_bytes": 21},
            "streams.1.content": {"flags": "0xf", "paged_pool_bytes": 14, "peak_virtual_bytes": 19,
                                  "job_total_commit_limit_bytes": 28}}


def misc(size, flags):
    whole = struct.pack("<IIIIII", size, flags, 99, 1600000000, 3, 4) + struct.pack("<5I", 3000, 2000, 4000, 0, 0)
    whole += struct.pack("<IIII", 0x3000, 0xD, 1, 2) + struct.pack("<i", -60) + fixed("Central", 32) + bytes(16 + 4)
    whole += fixed("Summer", 32) + bytes(16 + 4) + fixed("19045.vb", 260) + fixed("dbghelp,10", 40)
    features = [(0, 0)] * 64
    features[11] = (576, 16)
    whole += struct.pack("<IIQ", 528, 1500, 0x807) + b"".join(struct.pack("<II", *f) for f in features)
    whole += struct.pack("<I", 0xC00C1E)
    assert len(whole) == 1364
    return whole[:size]


def misc_of(size, expected):
    def row(d):
        d.stream(15, misc(size, 0x3F7))
        return {"process": expected}
    return row


MISC_2 = {"id": 99, "create_time": 1600000000, "user_s": 3, "kernel_s": 4, "max_mhz": 3000, "current_mhz": 2000,
          "limit_mhz": 4000}
MISC_3 = {**MISC_2, "integrity_level": "0x3000", "execute_flags": "0xd", "protected_process": "0x1",
          "bias_minutes": -60, "time_zone": "Central"}
MISC_4 = {**MISC_3, "build": "19045.vb", "debugger_build": "dbghelp,10"}
MISC_5 = {**MISC_4, "xstate_features": "0x807", "cookie": "0xc00c1e"}


def misc_says_nothing(d):
    d.stream(15, misc(44, 0))
    return {"process": {"id": None, "create_time": None, "user_s": None, "max_mhz": None, "cookie": None}}


def shadow_stack(d):
    """A CONTEXT with XSTATE: CONTEXT_EX after it, then the XSAVE area's header and CET_U."""
    d.stream(15, misc(1364, 0x3F7))
    ex = struct.pack("<iIiIiI", -1232, 1392, -1232, 1232, 80, 80) + bytes(56)
    area = struct.pack("<QQ", 1 << 11, 1 << 63 | 1 << 11) + bytes(48) + struct.pack("<QQ", 1, 0xCBC83FEFC8)
    raw = bytearray(dump_maker.context("x64", 0x1234, 0x5678, xstate=ex + area))
    struct.pack_into("<I", raw, 0x30, 0x10005F)
    d.thread(1, raw=bytes(raw))
    return {"threads.0.registers": {"pc": "0x1234", "ssp": "0xcbc83fefc8"}}


def xstate_without_features(d):
    raw = bytearray(dump_maker.context("x64", 0x1234, 0x5678, xstate=bytes(200)))
    struct.pack_into("<I", raw, 0x30, 0x10005F)
    d.thread(1, raw=bytes(raw))
    return {"threads.0.registers": {"pc": "0x1234", "ssp": None}}


def exception(d):
    d.thread(3, pc=0x10, sp=0x20)
    d.exception(3, 0xC0000006, 0x140001000, (1, 0x2000, 0xC000000E))
    return {"exception": {"thread_id": 3, "code": "0xc0000006", "name": "EXCEPTION_IN_PAGE_ERROR",
                          "address": "0x140001000", "information": ["0x1", "0x2000", "0xc000000e"], "context": None},
            "": {"suspect": 3, "suspect_from": "exception stream"}}


def comments(d):
    d.stream(11, "wide ✓".encode("utf-16-le") + b"\0\0")
    return {"": {"comment": "wide ✓"}}


def comment_a(d):
    d.stream(10, b"narrow\0rest")
    return {"": {"comment": "narrow"}}


def breakpad(d):
    d.thread(7, pc=1, sp=2)
    d.thread(8, pc=1, sp=2)
    d.stream(0x47670001, struct.pack("<III", 3, 7, 8))
    d.stream(0x47670002, fixed("x > 0", 128) + fixed("main", 128) + fixed("a.cc", 128) + struct.pack("<II", 42, 1))
    return {"breakpad": {"validity": 3, "dump_thread_id": 7, "requesting_thread_id": 8, "assertion": "x > 0",
                         "assertion_function": "main", "assertion_file": "a.cc", "assertion_line": 42,
                         "assertion_type": 1},
            "": {"suspect": 8}}


def crashpad(d):
    d.module("a.exe", 0x140000000, 0x1000)

    def place(data):
        return struct.pack("<II", len(data), d.put(data))

    pairs = struct.pack("<III", 1, d.put(utf8("key")), d.put(utf8("värde")))
    texts = struct.pack("<II", 1, d.put(utf8("listed")))
    objects = struct.pack("<IIHHIIHHI", 2, d.put(utf8("object")), 1, 0, d.put(utf8("its value")),
                          d.put(utf8("binary")), 0x8001, 0, d.put(utf8("\x01x")))
    module = struct.pack("<I", 1) + place(texts) + place(pairs) + place(objects)
    links = struct.pack("<II", 1, 0) + place(module)
    guid = struct.pack("<IHH8B", 0x00112233, 0x4455, 0x6677, *range(8, 16))
    d.stream(0x43500001, struct.pack("<I", 1) + guid + guid + place(pairs) + place(links) +
             struct.pack("<IQ", 0, 0xFFFFFFFFFF))
    return {"crashpad": {"version": 1, "report_id": "00112233-4455-6677-0809-0a0b0c0d0e0f",
                         "address_mask": "0xffffffffff"},
            "crashpad.annotations.0": {"key": "key", "type": 1, "value": "värde"},
            "modules.0.annotations.0": {"value": "listed"}, "modules.0.annotations.1": {"key": "key"},
            "modules.0.annotations.2": {"key": "object", "value": "its value"},
            "modules.0.annotations.3": {"key": "binary", "type": 0x8001, "value": "0178"}}


def version_and_codeview(d):
    fixed_info = struct.pack("<13I", 0xFEEF04BD, 0x10000, 0x000A0001, 0x4A610002, 0x000B0003, 0x4A620004, 0x3F, 0x42,
                             0x40004, 2, 0, 0, 0)
    rsds = b"RSDS" + struct.pack("<IHH8BI", 0x11223344, 0x5566, 0x7788, *range(1, 9), 0x1F) + b"c:\\x\\a.pdb\0"
    d.modules.append(struct.pack("<QIIII", 0x140000000, 0x9000, 0, 0x5A, d.put(dump_maker.text("c:\\x\\a.exe"))) +
                     fixed_info + struct.pack("<II8x16x", len(rsds), d.put(rsds)))
    return {"modules.0": {"name": "a.exe", "debug_id": "112233445566778801020304050607081f", "pdb": "a.pdb",
                          "codeview": "RSDS", "code_id": "0000005A9000", "file_version": "10.1.19041.2",
                          "product_version": "11.3.19042.4", "file_flags": "0x2",
                          "file_os": "0x40004", "file_type": "0x2"}}


def wow64_by_teb(d):
    d.module("C:\\Windows\\System32\\wow64cpu.dll", 0x77000000, 0x10000)
    inner = dump_maker.context("x86", 0x401234, 0x19FF00)
    d.memory(0x7000 + 0x1488, struct.pack("<Q", 0x9000))
    d.memory(0x9000, bytes(4) + inner)
    d.thread(1, pc=0x77001000, sp=0x7E000, teb=0x7000)
    return {"system": {"cpu": "x86", "context_cpu": "x64"},
            "threads.0.registers": {"cpu": "x86", "wow64": True, "pc": "0x401234", "sp": "0x19ff00"}}


def arm64(d):
    d.thread(1, pc=0x7FF600001234, sp=0x1000, r=range(31))
    return {"system": {"cpu": "arm64"}, "threads.0.registers": {"pc": "0x7ff600001234", "sp": "0x1000", "x19": "0x13",
                                                                "lr": "0x1e"}}


def arm64_of_breakpad(d):
    """MDRawContextARM64_Old: 64-bit flags, x0 to x30, sp, pc, cpsr, then the vector registers."""
    raw = struct.pack("<Q33Q", 0x80000006, *range(31), 0x1000, 0x7FF600001234) + struct.pack("<III", 0x60000000, 0, 0)
    d.thread(1, raw=raw + bytes(512))
    return {"threads.0.registers": {"pc": "0x7ff600001234", "sp": "0x1000", "x19": "0x13", "flags": "0x60000000"}}


def auxv(d):
    d.stream(0x47670008, struct.pack("<6Q", 6, 4096, 25, 0x7FFF5AE4AE29, 0, 0))
    return {"streams.1": {"name": "LinuxAuxv", "reported_in": None},
            "streams.1.content.0": {"type": 6, "name": "AT_PAGESZ", "value": "0x1000"},
            "streams.1.content.1": {"type": 25, "name": "AT_RANDOM", "value": "0x7fff5ae4ae29"}}


def loader_of(packing):
    """MDRawDebug64 and MDRawLinkMap64, as the compiler aligns them or packed ("=")."""
    pad = "4x" if packing == "@" else ""

    def row(d):
        name = d.put(dump_maker.text("/lib/libc.so.6"))
        maps = d.put(struct.pack(f"<QI{pad}Q", 0x7F5140000000, name, 0x7F5140520BA0))
        d.stream(0x4767000A, struct.pack(f"<III{pad}QQQQQ", 1, maps, 1, 1, 2, 3, 0x15, 0x7F51))
        return {"streams.1.content": {"version": 1, "brk": "0x1", "loader_base": "0x2", "dynamic": "0x3"},
                "streams.1.content.link_map.0": {"address": "0x7f5140000000", "name": "/lib/libc.so.6",
                                                 "dynamic": "0x7f5140520ba0"},
                "streams.1.content.dynamic_section.0": {"tag": "0x15", "value": "0x7f51"}}
    return row


def linux_texts(d):
    d.stream(0x47670006, b"/bin/app\0--flag\0")
    d.stream(0x47670009, b"00400000-0040b000 r-xp\n" * 60000)  # more than a megabyte
    d.stream(0x4D7A0004, b'[{"InitErrors": []}]')
    return {"texts.0": {"stream": "LinuxCmdLine", "text": "/bin/app\n--flag"},
            "texts.1": {"stream": "LinuxMaps", "text": "\n".join(["00400000-0040b000 r-xp"] * 60000)},
            "texts.2": {"stream": "MozSoftErrors", "text": '[{"InitErrors": []}]'},
            "streams.1": {"reported_in": "texts", "content": None}}


def mac_crash(d):
    record = struct.pack("<5Q", 0x4D7A0001, 5, 0x103, 0, 6) + b"/usr/lib/libc.dylib\0abort()\0\0\0\0"
    d.stream(0x4D7A0001, struct.pack("<IIIII", 0x4D7A0001, 1, 40, len(record), d.put(record)) + bytes(19 * 8))
    d.stream(0x4D7A0002, struct.pack("<IQ", 0x4D7A0002, d.put(dump_maker.text("-v"))))
    return {"streams.1.content.0": {"version": 5, "thread": "0x103", "module_path": "/usr/lib/libc.dylib",
                                    "message": "abort()", "abort_cause": "0x6"},
            "streams.2.content": {"boot_args": "-v"}}


def handle_operations(d):
    d.stream(18, struct.pack("<IIII", 16, 288, 1, 0) + struct.pack("<QIIIIII32Q", 0x44, 1, 2, 3, 0, 2, 9, 0x10, 0x20,
                                                                  *[0] * 30))
    return {"streams.1.content.0": {"handle": "0x44", "process_id": 1, "thread_id": 2,
                                    "operation_name": "bad reference", "trace": 9, "stack": ["0x10", "0x20"]}}


def wine_modules(d):
    d.stream(0xFFF0, struct.pack("<I", 1) + struct.pack("<QIIII84x", 0x7F0000000000, 0x1000, 2, 3,
                                                       d.put(dump_maker.text("/lib/ld.so"))))
    return {"streams.1.content.0": {"base": "0x7f0000000000", "size": "0x1000", "path": "/lib/ld.so"}}


def sentry_stacks(d):
    d.stream(0x53790001, struct.pack("<10I", 1, 1, 1, 4, 7, 0, 1, 0, 0x1337, 0) + struct.pack("<II", 0, 4) + b"main")
    return {"streams.1.content.0": {"thread": 7}, "streams.1.content.0.frames.0": {"address": "0x1337", "name": "main"}}


def elf_build_id(d):
    d.module("libc.so.6", 0x7F0000000000, 0x1000, codeview=b"LEpB" + bytes(range(20)))
    d.module("zeros.so", 0x7F0000010000, 0x1000, codeview=b"LEpB" + bytes(20))  # LLDB's tests have these two
    d.module("none.so", 0x7F0000020000, 0x1000, codeview=b"LEpB")
    return {"modules.0": {"codeview": "BpEL", "build_id": bytes(range(20)).hex(), "debug_id": None},
            "modules.0.codeview_record": {"bytes": 24},
            "modules.1": {"codeview": "BpEL", "build_id": None}, "modules.2": {"codeview": "BpEL", "build_id": None}}


def unknown_streams(d):
    d.stream(20, bytes(range(256)) * 100)
    d.stream(0x10000, "<?xml version='1.0'?>".encode("utf-16-le").ljust(100, b"\0") + b"\xd7\xd7")
    d.stream(23, b"{}\n")
    d.stream(0xABCD1234, b"")
    return {"streams.1": {"name": "JavaScriptData", "bytes": 25600},
            "streams.1.content": {"text": None, "bytes_shown": 16384, "hex": (bytes(range(256)) * 64).hex()},
            "streams.2.content": {"text": "<?xml version='1.0'?>", "text_bytes": 42, "bytes_shown": 102},
            "streams.3.content": {"text": "{}\n", "hex": "7b7d0a"},
            "streams.4": {"name": None, "bytes": 0, "content": None}}


def both_comments(d):
    d.stream(10, b"narrow")
    d.stream(11, "wide".encode("utf-16-le"))
    return {"": {"comment": "wide"}, "streams.1": {"reported_in": None}, "streams.1.content": {"text": "narrow"},
            "streams.2": {"reported_in": "comment", "content": None}}


def two_exception_streams(d):
    d.exception(3, 0xC0000005, 0x1000)
    d.exception(4, 0xC0000006, 0x2000)
    return {"exception": {"thread_id": 3, "address": "0x1000"}}


ROWS = {
    "UnloadedModuleList": unloaded, "ThreadInfoList": thread_info, "ThreadNames": thread_names,
    "ThreadExList": thread_ex, "MemoryInfoList": memory_info, "HandleData, second version": handles,
    "FunctionTable": function_table, "Token": tokens, "SystemMemoryInfo": system_memory,
    "ProcessVmCounters 1": vm_counters_1, "ProcessVmCounters 2": vm_counters_2,
    "MiscInfo 1": misc_of(24, {"id": 99, "create_time": 1600000000, "user_s": 3, "kernel_s": 4}),
    "MiscInfo 2": misc_of(44, MISC_2), "MiscInfo 3": misc_of(232, MISC_3), "MiscInfo 4": misc_of(832, MISC_4),
    "MiscInfo 5": misc_of(1364, MISC_5), "MiscInfo that was not filled": misc_says_nothing,
    "CONTEXT with a shadow stack": shadow_stack, "XSTATE that MiscInfo does not lay out": xstate_without_features,
    "Exception without a context": exception, "Exception twice": two_exception_streams, "CommentW": comments,
    "CommentA": comment_a, "both comments": both_comments, "LinuxAuxv": auxv,
    "LinuxDsoDebug aligned": loader_of("@"), "LinuxDsoDebug packed": loader_of("="), "Linux's texts": linux_texts,
    "macOS": mac_crash, "HandleOperationList": handle_operations, "WineElfModules": wine_modules, "stacks by Sentry": sentry_stacks,
    "ELF build id": elf_build_id, "streams of others": unknown_streams, "Breakpad and assertion": breakpad, "Crashpad": crashpad,
    "module's version and CodeView": version_and_codeview, "WoW64 through the TEB": wow64_by_teb,
    "CONTEXT of arm64": arm64, "Breakpad's older context of arm64": arm64_of_breakpad,
}


class DumpStreams(e2e.Case):
    def read(self, dump):
        return self.run_json("dump", self.saved(dump), "--json")

    def test_each_structure(self):
        for name, fill in ROWS.items():
            with self.subTest(name):
                dump = dump_maker.Dump("arm64" if "arm64" in name else "x64")
                expected = fill(dump)
                document = self.read(dump)
                self.assertFalse(document["partial"], [s for s in document["streams"] if s["fault"]])
                for path, want in expected.items():
                    got = document
                    for step in filter(None, path.split(".")):
                        got = got[int(step) if step.isdigit() else step]
                    self.assertEqual({key: got[key] for key in want}, want, path)

    def test_each_structure_cut_short(self):
        """A stream that ends early is reported as damaged, or with less content. The other streams
        stay as they were."""
        for name, fill in ROWS.items():
            with self.subTest(name):
                dump = dump_maker.Dump("arm64" if "arm64" in name else "x64")
                fill(dump)
                dump.bytes()
                rows = list(dump.rows)
                kind, size, at = rows[1 if len(rows) > 1 else 0]
                for left in {0, 3, size // 2, max(size - 1, 0)}:
                    dump.rows = [(k, left if (k, s, a) == (kind, size, at) else s, a) for k, s, a in rows]
                    path = self.folder / "made.dmp"
                    blob = dump.blob
                    for i, row in enumerate(dump.rows):
                        struct.pack_into("<III", blob, 32 + 12 * i, *row)
                    path.write_bytes(blob)
                    done = self.run_twinstack("dump", path, "--json", exit_code=None)
                    self.assertIn(done.returncode, (0, 3), done.stderr)
                    self.assertEqual(e2e.json.loads(done.stdout)["system"]["context_cpu"], dump.arch)

    def test_every_form_says_that_a_stream_is_damaged(self):
        """Text in LinuxDsoDebug, like that of a published dump: its numbers point outside the file."""
        d = dump_maker.Dump(platform=0x8201)
        d.thread(5, pc=0x1234, sp=0x5678)
        d.exception(5, 11, 0x1234)
        d.stream(0x4767000A, b"7f1c2a000000-7f1c2a021000 rw-p 00000000 00:00 0\n")
        path = self.saved(d)
        for argv in ([], ["--json"], ["--stacks"], ["--stacks", "--json"], ["--format", "stackwalk-json"], ["--explain", "0"],
                     ["--lint"], ["--lint", "--json"]):
            with self.subTest(argv):
                done = self.run_twinstack("dump", *argv, path, exit_code=3)
                self.assertGreater(len(done.stdout), 60)
                self.assertIn(path.name, done.stderr)

    def test_no_stream_is_a_bare_name(self):
        """A stream of any type with any bytes is reported in a member, as content, or as a fault in its place."""
        kinds = [*range(1, 26), *range(0x8000, 0x800E), 0xFFF0, 0xFFFF, 0x10000, 0x43500001, *range(0x47670001, 0x47670010),
                 *range(0x4D7A0001, 0x4D7A0006), 0x4B6B0002, 0x54570001]
        for at in range(0, len(kinds), 20):
            dump = dump_maker.Dump()
            for kind in kinds[at:at + 20]:
                dump.stream(kind, struct.pack("<I", kind) * 40)
            done = self.run_twinstack("dump", self.saved(dump), "--json", exit_code=None)
            self.assertIn(done.returncode, (0, 3), done.stderr)
            for stream in e2e.json.loads(done.stdout)["streams"]:
                self.assertTrue(stream["reported_in"] or stream["content"] is not None or stream["fault"], stream)

    def test_a_dump_of_windows_ce(self):
        """Its streams have names, and are shown as bytes."""
        dump = dump_maker.Dump()
        dump.rows.clear()
        dump.stream(0x8001, struct.pack("<HHI", 64, 5, 1))
        dump.bytes()
        struct.pack_into("<4sI", dump.blob, 0, b"CEDX", 2)
        path = self.folder / "made.kdmp"
        path.write_bytes(dump.blob)
        stream = self.run_json("dump", path, "--json")["streams"][0]
        self.assertEqual((stream["name"], stream["content"]["hex"]), ("ceSystemInfo", "4000050001000000"))

    def test_images_and_memory_at_odd_places(self):
        dump = dump_maker.Dump()
        dump.module("wrap.dll", 0xFFFFFFFFFFFFF000, 0xFFFFFFFF)
        dump.module("none.dll", 0x10000, 0)
        dump.module("a.dll", 0x140000000, 0x10000)
        dump.module("b.dll", 0x140008000, 0x10000)  # over a.dll
        dump.memory(0xFFFFFFFFFFFFFFF8, bytes(64))
        dump.memory(0x20000, bytes(64))
        dump.memory(0x20010, b"\1" * 8)
        dump.thread(1, pc=0x140009000, sp=0x20000, stack=(0x20000, struct.pack("<Q", 0xFFFFFFFFFFFFF800) * 8))
        frames = self.run_json("dump", self.saved(dump), "--stacks", "--json")["threads"][0]["stack"]["frames"]
        self.assertEqual((frames[0]["module"], frames[0]["offset"]), ("b.dll", "0x1000"))


e2e.main()
