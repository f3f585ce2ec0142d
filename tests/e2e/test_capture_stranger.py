"""A program that is none of this repository's, as its author writes it: C++ with a plugin, threads and pools, in a folder with umlauts,
linked with the installed capture (tests/package/stranger). It dies in each way of DEATHS; both ways to a stack must lead to the place.
The first part builds it with clang, the second with gcc. It has a Wine prefix to itself.

Only this finds what the capture or a walk gets wrong in a program that was not written to be a victim."""

import collections
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
from test_capture_lives import ENV, Record  # noqa: E402

COMPILERS = {"clang": ["--toolchain", e2e.ROOT / "cmake/wine-clang.cmake"],
             "gcc": ["-DCMAKE_SYSTEM_NAME=Windows", "-DCMAKE_C_COMPILER=x86_64-w64-mingw32-gcc",
                     "-DCMAKE_CXX_COMPILER=x86_64-w64-mingw32-g++", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]}
SYSTEM32 = pathlib.Path(ENV["WINEPREFIX"]) / "drive_c/windows/system32"
WRITE, OVERFLOW, DIVIDE, TRAP, CXX, ABORT = 0xC0000005, 0xC00000FD, 0xC0000094, 0xC000001D, 0x20474343, 3
ALL = {"rtl", "backtrace", "framepointer", "dbghelp-own"}
NO_STACK_LEFT = ALL - {"backtrace"}  # it walks only the thread that it runs on
LOADER, HEAP = 1, 2

# How the program dies, its exit code, the functions that both stacks must have in this order, and how its problem is called.
Death = collections.namedtuple("Death", "name exit_code places problem walkers no_dump compilers", defaults=(ALL, None, tuple(COMPILERS)))
DEATHS = [
    Death("null-write", WRITE, ["break_off", "wmain"], None),
    Death("plugin", WRITE, ["spell", "translate", "in_plugin", "wmain"], "spell | translate | in_plugin"),
    Death("throw", ABORT, ["parse", "read_document", "wmain"], "parse | read_document | wmain"),
    Death("throw-in-thread", CXX, ["parse", "read_document"], None),
    Death("throw-in-pool", CXX, ["parse", "read_document", "pool::serve"], None),
    Death("pool", WRITE, ["break_off", "index_book", "pool::serve"], None),
    Death("bad-alloc", ABORT, ["order_books", "wmain"], None),
    Death("noexcept", ABORT, ["close_book", "wmain"], None),
    Death("terminate", ABORT, ["give_up", "wmain"], "give_up | wmain"),
    Death("abort", ABORT, ["abandon", "wmain"], "abandon | wmain"),
    # gcc links no __cxa_pure_virtual into a static program that does not ask for it: the call is one of address 0.
    Death("pure-call", ABORT, ["shelf::count", "base_shelf::base_shelf", "make_shelf", "wmain"], None, compilers=("clang",)),
    Death("pure-call", WRITE, ["shelf::count", "base_shelf::base_shelf", "make_shelf", "wmain"], None, compilers=("gcc",)),
    Death("divide", DIVIDE, ["divide", "divide_by_zero", "wmain"], "divide | divide_by_zero | wmain"),
    Death("trap", TRAP, ["unreachable_case", "wmain"], "unreachable_case | wmain"),
    Death("overflow", OVERFLOW, ["descend", "descend", "wmain"], "descend | overflow | wmain", walkers=NO_STACK_LEFT),
    Death("crash-in-handler", WRITE, ["break_off", "crash_handler", "wmain"], "break_off | crash_handler | wmain"),
    Death("many-threads", WRITE, ["break_off", "lend", "thread_of_many"], "break_off | lend | thread_of_many"),
    Death("small-stack", OVERFLOW, ["fall", "fall", "begin_to_fall", "thread_of_many"], "fall | begin_to_fall | thread_of_many",
          walkers=NO_STACK_LEFT),
    Death("static-destructor", WRITE, ["break_off", "archive::~archive"], None),
    Death("apc", WRITE, ["break_off", "on_apc", "apc", "wmain"], "break_off | on_apc | apc"),
    Death("fiber", WRITE, ["break_off", "lend", "on_fiber"], "break_off | lend | on_fiber"),
    Death("pool-wait", WRITE, ["break_off", "on_wait"], "break_off | on_wait"),
    Death("pool-work", WRITE, ["break_off", "on_work"], "break_off | on_work"),
    Death("loader-lock", WRITE, ["break_off", "loader_lock", "wmain"], "break_off | loader_lock | wmain"),
    # Nothing can be allocated for a dump: the record says so.
    Death("heap-lock", WRITE, ["break_off", "heap_lock", "wmain"], "break_off | heap_lock | wmain",
          walkers={"rtl", "backtrace", "framepointer"}, no_dump=[HEAP]),
]
# What is no crash, or what the system handles itself: nothing is left.
NO_DEATHS = [
    ("it ends", "calm", 0, ""),
    ("_Exit() is no crash", "exit", 9, ""),
    ("the loader swallows an exception in a TLS callback", "tls-callback", 0, "in the callback"),
]


def has_in_order(names, places):
    rest = iter(names)
    return all(any(place == name for name in rest) for place in places)


class Stranger(e2e.Case):
    @classmethod
    def setUpClass(cls):
        if not SYSTEM32.is_dir():
            raise e2e.unittest.SkipTest("no Wine prefix; ./run makes it")
        cls.enterClassContext(e2e.wine_session(ENV))
        part, parts = e2e.part()
        cls.tree = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory())) / "Bücherei"
        cls.programs = {name: cls.build(name) for name in list(COMPILERS)[part - 1::parts]}

    @classmethod
    def build(cls, compiler):
        tree, options = cls.tree / compiler, COMPILERS[compiler]
        prefix = tree / "installed"
        for argv in (["cmake", "-G", "Ninja", "-S", e2e.ROOT / "capture", "-B", tree / "capture", *options, f"-DCMAKE_INSTALL_PREFIX={prefix}"],
                     ["ninja", "-C", tree / "capture", "install"],
                     ["cmake", "-G", "Ninja", "-S", e2e.ROOT / "tests/package/stranger", "-B", tree / "program", *options,
                      f"-DCMAKE_PREFIX_PATH={prefix}"],
                     ["ninja", "-C", tree / "program"]):
            done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=False, timeout=240 * e2e.PATIENCE)
            if done.returncode != 0:
                raise AssertionError(f"{argv}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return tree / "program/stranger.exe"

    def die(self, program, name, wine=e2e.wine):
        """Returns the finished process, and the records and dumps that are left."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        done = wine(program, "Z:" + str(folder).replace("/", "\\"), name, env=ENV)
        self.wait_until_removed(lambda: [f.name for f in folder.iterdir() if f.stat().st_size == 0])
        return done, sorted(folder.glob("*.rec")), sorted(folder.glob("*.dmp"))

    def names(self, program, file):
        """The functions of the stack that crashed, innermost first, and the module of the outermost frame."""
        symbols = ["--symbols", program.parent, "--symbols", SYSTEM32, "--json", file]
        if file.suffix == ".rec":
            frames = self.run_json("resolve", *symbols)[0]["frames"]
        else:
            frames = self.run_json("dump", "--stacks", *symbols)["threads"][0]["stack"]["frames"]
        return [frame.get("function") for frame in frames], frames[-1]["module"]

    def problems(self, program, record):
        found = self.run_json("signatures", "--symbols", program.parent, "--json", record)
        return [(row["signature"], row["count"]) for row in found["signatures"]]

    def check_death(self, program, death):
        done, records, dumps = self.die(program, death.name)
        self.assertEqual(done.returncode, death.exit_code & 0xFF, done.stdout)
        self.assertEqual(len(records), 1)
        record = Record(records[0])
        self.assertTrue(record.is_whole)
        self.assertEqual(record.kind, "crash")
        self.assertGreaterEqual(set(record.frames), death.walkers)
        self.assertEqual(record.no_dump, death.no_dump or [])
        self.assertEqual(len(dumps), 0 if death.no_dump else 1)
        for file in records + dumps:
            names, outermost = self.names(program, file)
            self.assertTrue(has_in_order(names, death.places), f"{file.suffix}: {names}")
            if death.name != "fiber":  # which has no caller
                self.assertEqual(outermost, "ntdll.dll", names)
        return self.problems(program, records[0])

    def test_each_death_is_named_by_both_ways(self):
        for compiler, program in self.programs.items():
            problems = collections.Counter()
            for death in DEATHS:
                if compiler not in death.compilers:
                    continue
                with self.subTest(death.name, compiler=compiler):
                    found = self.check_death(program, death)
                    self.assertEqual([count for _, count in found], [1], found)
                    if death.problem is not None:
                        self.assertEqual(found[0][0], death.problem)
                    self.assertNotRegex(found[0][0], r"capture|terminate|__cxa|_Unwind|std::|!0x")
                    problems[found[0][0]] += 1
                    print(f"{compiler} {death.name}: {found[0][0]}")
            self.assertEqual([name for name, count in problems.items() if count > 1], [], "two deaths are one problem")

    def test_what_is_no_crash_leaves_nothing(self):
        for compiler, program in self.programs.items():
            for name, mode, exit_code, said in NO_DEATHS:
                with self.subTest(name, compiler=compiler):
                    done, records, dumps = self.die(program, mode)
                    self.assertEqual((done.returncode, done.stdout.strip(), records, dumps), (exit_code, said, [], []))

    def test_of_two_images_with_one_code_id_the_name_decides(self):
        """A code_id is a time in seconds and a size: CMake's own checks, linked in the same second, often have that of a small DLL."""
        for compiler, program in self.programs.items():
            with self.subTest(compiler=compiler):
                _, records, _ = self.die(program, "plugin")
                folder = self.folder / compiler
                shutil.copytree(program.parent, folder, ignore=shutil.ignore_patterns("CMakeFiles"))
                plugin, decoy = (folder / "plugin.dll").read_bytes(), bytearray(program.read_bytes())
                ours, theirs = (struct.unpack_from("<I", data, 0x3C)[0] for data in (decoy, plugin))
                for at in (8, 0x50):  # TimeDateStamp, SizeOfImage
                    decoy[ours + at:ours + at + 4] = plugin[theirs + at:theirs + at + 4]
                (folder / "aaa.exe").write_bytes(decoy)
                frames = self.run_json("resolve", "--symbols", folder, "--json", records[0])[0]["frames"]
                self.assertEqual([frame["function"] for frame in frames[:2]], ["spell", "translate"])

    def test_a_function_without_unwind_data_ends_the_walk(self):
        """What is at the top of its stack is no return address, and no frame is made up of it."""
        for compiler, program in self.programs.items():
            with self.subTest(compiler=compiler):
                _, records, _ = self.die(program, "plain-call")
                said = self.run_twinstack("resolve", "--symbols", program.parent, records[0]).stdout
                self.assertEqual(self.names(program, records[0])[0], ["break_off", "lend", "call_plainly"])
                self.assertIn("(stopped in a function without unwind data: call_plainly)", said)
                frames = Record(records[0]).frames
                self.assertEqual({walker: frames[walker] for walker in ("backtrace", "dbghelp-own")}, {"backtrace": 3, "dbghelp-own": 3})

    def test_the_last_bytes_of_memory_leave_a_record(self):
        """Under such a limit Wine cannot end the process in order, so its exit code says nothing."""
        def wine(*argv, env, kilobytes=2_600_000):
            limit = ["bash", "-c", 'ulimit -v "$0"; exec "$@"', kilobytes, "wine", *argv]
            done = e2e.finished(limit, env=env, limit_s=120 * e2e.PATIENCE)
            return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

        for compiler, program in self.programs.items():
            with self.subTest(compiler=compiler):
                _, records, _ = self.die(program, "no-memory", wine=wine)
                self.assertEqual(len(records), 1)
                names, outermost = self.names(program, records[0])
                self.assertEqual((names[:2], outermost), (["break_off", "lend_without_memory"], "ntdll.dll"))


if __name__ == "__main__":
    e2e.main()
