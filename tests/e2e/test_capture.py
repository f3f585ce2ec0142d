"""Victims, launcher and capture, run under Wine; has a Wine prefix to itself.

llvm-symbolizer names the stacks that are compared with the truth, so the test uses none of our
analyser. Only the scenarios of DUMPED write a dump, because it takes most of a victim's time. With the argument I/N it does
the I-th of N parts: of the other tests, and of the scenarios of SUBSET.

Only this finds a record that is wrong and that our analyser reads wrongly in the same way."""

import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

BIN = pathlib.Path(os.environ.get("TWINSTACK_VICTIMS", e2e.BUILD / "victims")) / "bin"
WINE = {"WINEPREFIX": os.environ.get("WINEPREFIX", str(e2e.BUILD / "wine")), "WINEARCH": "win64", "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml,winedbg.exe="}
ENV = {**{k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}, **WINE}
HOOKS = ["vectored", "unhandled", "sigabrt", "invalid_parameter", "pure_call", "terminate", "watcher", "heartbeat"]
RTL, DBGHELP, BACKTRACE = 1, 2, 4
MODULES, THREADS, STACK = 1, 2, 3
HEAD, TAIL = 768, 256

# Each one covers something different. The full matrix is `twinstack run`.
SUBSET = ["null_write", "null_call", "stack_overflow", "abort_call", "inline_chain", "noreturn_tail", "crash_in_dll",
          "second_thread", "fiber", "generated_table", "unwind_chained", "same_name", "module_reloaded", "module_unloaded", "decoys", "deadlock", "heap_locked",
          "handled_exception", "short_hang", "fast_fail", "fast_fail_watched", "crash_in_handler", "two_threads"]


# Those of SUBSET whose dump has to be there as well; the watcher's dumps are always written, and test_capture_files.py crashes
# the first thread with its stack intact.
DUMPED = {"stack_overflow", "second_thread", "deadlock"}


def wine(*argv, limit_s=120, env=None):
    return e2e.wine(*argv, env={**ENV, **(env or {})}, limit_s=limit_s)


class Record:
    """The parts of a record (capture/record.h) that these tests need, read without the analyser."""

    def __init__(self, data):
        self.data, self.modules, self.threads, self.stacks = data, [], [], []
        self.magic = data[:8]
        self.code, self.hook_bits = self.u32(32), self.u32(88)
        self.suspect = self.u32(28)
        self.committed = struct.unpack_from("<Q", data, 72)[0]
        self.hooks = [name for bit, name in enumerate(HOOKS) if self.hook_bits >> bit & 1]
        at = 128
        while at < self.committed:
            kind, size, count = struct.unpack_from("<III", data, at)
            if kind == MODULES:
                self.read_modules(at + 16, count)
            elif kind == THREADS:
                self.read_threads(at + 16, count)
            elif kind == STACK:
                frames = [struct.unpack_from("<IIQ", data, at + 64 + 16 * i) for i in range(count)]
                self.stacks.append({"walker": self.u32(at + 16), "state": self.u32(at + 20), "thread": self.u32(at + 24),
                                    "left_out": self.u32(at + 32), "frames": frames, "at": at})
            assert size >= 16 and size % 8 == 0
            at += size
        assert at == self.committed

    def u32(self, at):
        return struct.unpack_from("<I", self.data, at)[0]

    def read_modules(self, at, count):
        for _ in range(count):
            path_bytes = struct.unpack_from("<H", self.data, at + 60)[0]
            self.modules.append(self.data[at + 64:at + 64 + path_bytes].decode().replace("\\", "/"))
            at += self.u32(at)

    def read_threads(self, at, count):
        for _ in range(count):
            size, thread, flags, name_bytes = struct.unpack_from("<IIII", self.data, at)
            self.threads.append((thread, flags, self.data[at + 16:at + 16 + name_bytes].decode()))
            at += size


class Symbols:
    """Logical frames of victims/ as llvm-symbolizer prints them; it runs once per address."""

    def __init__(self):
        self.known = {}

    def own(self, module, offset):
        """MODULE is a Windows path; only our own images are looked up."""
        image = pathlib.Path(module.removeprefix("Z:"))
        if not image.is_relative_to(BIN):
            return []
        key = (module, offset)
        if key not in self.known:
            done = subprocess.run(["llvm-symbolizer-19", f"--obj={image}", "--relative-address", hex(offset),
                                   "--output-style=JSON"], capture_output=True, text=True, check=True)
            self.known[key] = [(s["FunctionName"], s["FileName"].replace("\\", "/"), s["Line"])
                               for s in json.loads(done.stdout)[0]["Symbol"]]
        return [frame for frame in self.known[key] if frame[1].startswith("victims/")]


SYMBOLS = Symbols()


def watches(proc, folder):
    """True if the process with the folder PROC in /proc is the watcher that writes into FOLDER."""
    try:
        words = (proc / "cmdline").read_bytes()
    except OSError:  # it has ended
        return False
    return words.startswith(b"twinstack-watch") and folder.encode() in words


def after_names(dump):
    """How many bytes more than its own length follow each module's name, at least."""
    streams, directory = struct.unpack_from("<II", dump, 8)
    (modules,) = (rva for kind, _, rva in struct.iter_unpack("<III", dump[directory:directory + 12 * streams]) if kind == 4)
    names = [struct.unpack_from("<I", dump, modules + 4 + 108 * i + 20)[0] for i in range(*struct.unpack_from("<I", dump, modules))]
    return min(len(dump) - (name + 4 + 2 * struct.unpack_from("<I", dump, name)[0]) for name in names)


class Runs(e2e.Case):
    @classmethod
    def setUpClass(cls):
        if not (BIN / "twinstack-launch.exe").exists() or shutil.which("wine") is None:
            raise unittest.SkipTest("no Windows programs, or no Wine")
        if not pathlib.Path(WINE["WINEPREFIX"]).is_dir():
            raise unittest.SkipTest("no Wine prefix; ./run makes it")
        cls.enterClassContext(e2e.wine_session(ENV))
        cls.expected = {}
        for line in wine(BIN / "victims-ob2.exe", "--list", "--json").stdout.splitlines():
            row = json.loads(line)
            cls.expected[row["name"]] = row

    def launch(self, program, scenario, *options, env=None):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        done = e2e.launch(BIN, folder, program, scenario, *options, env={**ENV, **(env or {})})
        return done, pathlib.Path(folder)

    def run_scenario(self, scenario, variant="ob2", dump=True):
        done, folder = self.launch(BIN / f"victims-{variant}.exe", scenario, env={} if dump else {"TWINSTACK_OFFSETS_ONLY": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        outcome = json.loads(done.stdout)
        self.assertEqual(outcome, json.loads((folder / "outcome.json").read_text()))
        self.assertEqual(sorted(outcome["files"] + ["outcome.json"]), sorted(p.name for p in folder.iterdir()))
        record = folder / "record.rec"
        return outcome, json.loads((folder / "truth.json").read_text()), (
            Record(record.read_bytes()) if record.exists() else None)

    def check_stack(self, record, stack, thread):
        want = [(f["function"], f["file"].replace("\\", "/"), f["line"]) for f in thread["frames"]
                if f["gap"] is None and not f["tail"]]
        got = []
        for module, flags, offset in stack["frames"]:
            if module != 0xFFFFFFFF:
                got += SYMBOLS.own(record.modules[module], offset - (flags & 1))
        if stack["left_out"]:
            self.assertEqual(len(stack["frames"]), HEAD + TAIL)
            self.assertEqual(got[:700], want[:700])
            self.assertEqual(got[-200:], want[-200:])
        else:
            self.assertEqual(got, want)

    def check(self, scenario, variant):
        expected = self.expected[scenario]
        dump = expected["doors"] in ([], ["watcher"]) or scenario in DUMPED
        outcome, truth, record = self.run_scenario(scenario, variant, dump)
        if scenario in DUMPED:
            self.assertIn("dump.dmp", outcome["files"])
        self.assertEqual((outcome["ended_by"], outcome["exit_code"]), ("exit", expected["exit_code"]))
        if not expected["doors"]:
            self.assertIsNone(record)
            self.assertNotIn("dump.dmp", outcome["files"])
            return
        self.assertEqual(f"0x{record.code:08X}", expected["code"])
        self.assertEqual(record.hooks, expected["doors"])
        self.assertEqual(record.committed, len(record.data))
        threads = {t["id"]: t for t in truth["threads"]}
        walks = [s for s in record.stacks if s["walker"] == RTL]
        if expected["doors"] == ["watcher"]:  # only dbghelp can walk from outside
            self.assertEqual([s["state"] for s in walks], [1])
            self.assertIn("dump.dmp", outcome["files"])
            walks = [s for s in record.stacks if s["walker"] == DBGHELP]
        ends = [s["walker"] for s in record.stacks if s["walker"] in (RTL, BACKTRACE)
                for module, _, offset in s["frames"][1:] if module == 0xFFFFFFFF and offset == 0]
        self.assertEqual(ends, [], "the end of a stack is no frame")
        self.assertEqual(walks[0]["thread"], record.suspect)
        self.assertIn(record.suspect, threads)
        for stack in walks:
            if stack["thread"] in threads:
                self.check_stack(record, stack, threads[stack["thread"]])

    def test_subset(self):
        part, parts = e2e.part()
        for number, scenario in list(enumerate(SUBSET))[part - 1::parts]:
            variant = ("ob0", "ob2")[number % 2]
            with self.subTest(scenario=scenario, variant=variant):
                self.check(scenario, variant)

    def test_a_hang_has_every_thread_by_name(self):
        for scenario, writer_walks in (("deadlock", RTL), ("heap_locked_watched", DBGHELP)):
            with self.subTest(scenario=scenario):
                _, truth, record = self.run_scenario(scenario, dump=scenario != "deadlock")  # test_subset takes that one
                self.assertEqual(record.threads[0][0], record.suspect, "the suspect comes first")
                walked = {s["thread"] for s in record.stacks if s["walker"] == writer_walks and s["state"] == 0}
                names = {thread: name for thread, _, name in record.threads}
                for thread in truth["threads"]:
                    self.assertIn(thread["id"], walked)
                    self.assertEqual(names[thread["id"]], "main" if thread["id"] == record.suspect else thread["role"])

    def test_who_kills_the_watcher_leaves_no_thread_suspended(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        argv = ["wine", BIN / "twinstack-launch.exe", "--out", folder, "--limit-ms", int(60000 * e2e.PATIENCE), BIN / "victims-ob2.exe", "heap_locked_watched"]
        child = subprocess.Popen([str(word) for word in argv], env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        end = time.monotonic() + 60 * e2e.PATIENCE
        while not any(file.stat().st_size for file in folder.glob("*.dmp*")):  # once it is written, every thread is suspended
            self.assertLess(time.monotonic(), end, "the watcher writes no dump")
            time.sleep(0.01)
        watchers = [proc for proc in pathlib.Path("/proc").glob("[0-9]*") if watches(proc, folder.name)]
        self.assertEqual(len(watchers), 1)
        os.kill(int(watchers[0].name), signal.SIGKILL)
        child.wait(timeout=120 * e2e.PATIENCE)
        outcome = json.loads((folder / "outcome.json").read_text())
        self.assertEqual(outcome["ended_by"], "exit", outcome)  # "limit": its threads were suspended until then

    def test_dumps_are_right_by_the_format(self):
        """The cheapest dump leaves out the data of system modules, but lists them; Wine's writer leaves a list that breaks
        off, a stream of a reserved type, and a text without its end."""
        for scenario in ("null_write", "same_name", "module_unloaded"):
            done, folder = self.launch(BIN / "victims-ob2.exe", scenario)
            self.assertEqual(done.returncode, 0, done.stderr)
            modules = {}
            for name in ("dump.dmp", "dump-tuned.dmp"):
                with self.subTest(scenario=scenario, dump=name):
                    found = self.run_json("dump", folder / name, "--lint", "--json", exit_code=1)["faults"]
                    # Wine states no PDBs, and the same code for each thread that waits there.
                    self.assertEqual({f["rule"] for f in found} - {"no_codeview", "memory_overlap"}, set(), found)
                    document = self.run_json("dump", folder / name, "--json")
                    self.assertNotIn("WineElfModules", [s["name"] for s in document["streams"]])
                    self.assertTrue(document["system"]["service_pack"])
                    modules[name] = [(m["path"], m["base"], m["size"], m["code_id"]) for m in document["modules"]]
            self.assertEqual(len(modules["dump-tuned.dmp"]), len(set(modules["dump-tuned.dmp"])))
            self.assertLessEqual(set(modules["dump.dmp"]), set(modules["dump-tuned.dmp"]))
            self.assertEqual(modules["dump.dmp"][0], modules["dump-tuned.dmp"][0], "the program comes first")
            # WinDbg's engine reads that much: a name at the end of the last page would cost it this module and all after it.
            self.assertGreaterEqual(after_names((folder / "dump-tuned.dmp").read_bytes()), 0)

    def test_heap_locked_blocks_the_dump_but_not_the_record(self):
        outcome, _, record = self.run_scenario("heap_locked")
        states = {s["walker"]: s["state"] for s in record.stacks if s["thread"] == record.suspect}
        self.assertEqual(states[RTL], 0)
        self.assertNotIn("dump.dmp", outcome["files"], "not blocked: the scenario does not do what it says")

    def test_listing(self):
        names = wine(BIN / "victims-ob0.exe", "--list").stdout.split()
        self.assertEqual(names, sorted(names))
        self.assertEqual(set(names), set(self.expected))
        sources = {p.stem for kind in ("crash", "hang", "calm") for p in (e2e.ROOT / "victims" / kind).glob("*.c*")}
        self.assertEqual(set(names), sources, "one scenario a file, each called like its file")
        for name, row in self.expected.items():
            self.assertIn(row["kind"], ("crash", "hang", "calm"))
            self.assertTrue(row["sentence"].endswith("."), name)
            self.assertEqual(row["supported"], row["reason"] is None)

    def test_launcher_usage_and_errors(self):
        self.assertEqual(wine(BIN / "twinstack-launch.exe").returncode, 2)
        done, _ = self.launch(BIN / "no-such.exe", "null_write")
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot start", done.stderr)
        outcome, _, record = self.run_scenario("no_such_scenario")
        self.assertEqual(outcome["exit_code"], "0x00000002")
        self.assertIsNone(record)

    def test_a_victim_without_its_plugin_names_it(self):
        alone = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "victims-ob2.exe"
        shutil.copy(BIN / alone.name, alone)
        for scenario, plugin in (("crash_in_dll", "plugin-call-ob2.dll"), ("dll_main_crash", "plugin-attach-ob2.dll"),
                                 ("unicode_path", "größe-ширина-長さ/plugin-übel-ob2.dll")):
            with self.subTest(scenario):
                done, folder = self.launch(alone, scenario)
                self.assertEqual((json.loads(done.stdout)["exit_code"], (folder / "stdout.txt").read_text().splitlines()[-1]),
                                 ("0x0000004E", plugin))

    def test_time_limit(self):
        done, _ = self.launch(BIN / "victims-ob2.exe", "sleep_forever", "--limit-ms", "150")
        self.assertEqual(json.loads(done.stdout)["ended_by"], "time_limit")

    def test_a_dump_may_have_all_memory(self):
        sizes, stacks = [], []
        for env, kind in (({}, "MemoryList"), ({"TWINSTACK_FULL_MEMORY": "1"}, "Memory64List")):
            done, folder = self.launch(BIN / "victims-ob2.exe", "null_write", env=env)
            self.assertEqual(done.returncode, 0, done.stderr)
            dump = folder / "dump.dmp"
            streams = json.loads(e2e.twinstack("dump", dump, "--json").stdout)["streams"]
            self.assertIn(kind, [stream["name"] for stream in streams])
            sizes.append(dump.stat().st_size)
            frames = json.loads(e2e.twinstack("dump", dump, "--stacks", "--json", "--symbols", BIN).stdout)["threads"][0]["stack"]["frames"]
            stacks.append([frame["function"] for frame in frames])
        self.assertGreater(sizes[1], 10 * sizes[0])
        self.assertEqual(stacks[0], stacks[1])

    def test_walkers_can_be_chosen(self):
        done, folder = self.launch(BIN / "victims-ob2.exe", "null_write", "--walkers", "backtrace", env={"TWINSTACK_OFFSETS_ONLY": "1"})
        self.assertEqual(done.returncode, 0)
        walkers = {s["walker"] for s in Record((folder / "record.rec").read_bytes()).stacks}
        self.assertEqual(walkers, {1, 4})


def load_tests(_loader, tests, _pattern):
    """Each part takes its share of test_subset, and of the other tests each N-th."""
    part, parts = e2e.part()
    rows = [test for group in tests for test in group]
    others = [test for test in rows if not test.id().endswith("test_subset")]
    return unittest.TestSuite([*(test for test in rows if test not in others), *others[parts - part::parts]])


if __name__ == "__main__":
    e2e.main()
