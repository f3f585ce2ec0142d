"""How the Windows programs are built: what their flags mean, that builds are reproducible, and what
the crash path calls.

Needs clang 19 for mingw-w64 and the tree that ./run builds, but no Wine.  `./run soak victims` builds every program in a second folder,
otherwise those of PROGRAMS.

Only this finds an inline site that /Ob0 or /Ob2 moves, a build that depends on its folder, and a call from the crash path that may wait."""

import collections
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
from cl import CL  # noqa: E402

VICTIMS = pathlib.Path(os.environ.get("TWINSTACK_VICTIMS", e2e.BUILD / "victims"))

COMMON = ["-I.", "-D_WIN32_WINNT=0x0A00", "-D__USE_MINGW_ANSI_STDIO=0", '-DVICTIM_VARIANT="x"', "-w"]
MAPPED = {"ob0": ["-O3", "-fno-inline"], "ob1": ["-O3", "-finline-hint-functions"],
          "ob2": ["-O3", "-finline-functions"]}
LITERAL = {"ob0": ["/O2", "/Ob0"], "ob1": ["/O2", "/Ob1"], "ob2": ["/O2", "/Ob2"]}

SCENARIOS = sorted(p for kind in ("crash", "hang", "calm") for p in (e2e.ROOT / "victims" / kind).glob("*.c"))
# A program with all of the capture and some scenarios, a DLL, a DLL whose name is not ASCII, and a tool.
PROGRAMS = ["victims-first", "plugin-call-ob2", "plugin-unicode-ob2", "twinstack-stops"]


def inline_sites(objects):
    """{source: {function: [(depth, inlinee), ...]}} of object files, in the order of their symbols."""
    dump = subprocess.run(["llvm-pdbutil-19", "dump", "-symbols", *map(str, objects)], capture_output=True, text=True, check=True)
    found, sites, function, depth = {}, None, None, 0
    for line in dump.stdout.splitlines():
        if match := re.search(r"S_OBJNAME \[.*`(?:.*[\\/])?(\w+)(?:\.c)?\.obj`", line):
            sites = found[match[1]] = collections.OrderedDict()
        elif match := re.search(r"S_[GL]PROC32(?:_ID)? \[.*`(.*)`", line):
            # An exception filter is the only function that the two drivers' targets name
            # differently.
            function, depth = re.sub(r"^\?filt\$\d+@0@(\w+)@@$", r"__filt_\1", match[1]), 0
            sites[function] = []
        elif "S_INLINESITE_END" in line:
            depth -= 1
        elif re.search(r"S_INLINESITE2? \[", line):
            depth += 1
        elif function and (match := re.search(r"inlinee = 0x[0-9A-F]+ \((.*?)\)", line)):
            sites[function].append((depth, match[1]))
    return found


def compile_literally(variant, folder):
    """The objects of all scenarios, by the literal flags. <windows.h> is precompiled, because it takes most of the time of each."""
    header, cl = folder / "windows_first.h", [*CL, *LITERAL[variant], *COMMON]
    header.write_text("".join(f"#include <{name}.h>\n" for name in ("stdbool", "stdint", "stdlib", "windows")), encoding="utf-8")
    for words in (["-Xclang", "-emit-pch", f"/Fo{folder}/first.pch", f"/Tc{header}"],
                  ["-Xclang", "-include-pch", "-Xclang", f"{folder}/first.pch", f"/Fo{folder}/", "--", *map(str, SCENARIOS)]):
        done = subprocess.run([*cl, *words], cwd=e2e.ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(cl)}\n{done.stderr[-3000:]}")
    return [folder / f"{source.stem}.obj" for source in SCENARIOS]


class Flags(e2e.Case):
    """What the tree compiled with our spellings of /Ob0 and /Ob2 has the same inline sites as the literal flags give."""

    @staticmethod
    @functools.lru_cache
    def sites(variant):
        """[(scenario, its sites in the tree, those by the literal flags)]"""
        folder = VICTIMS / f"CMakeFiles/victims-{variant}.dir"
        if not folder.is_dir():
            raise e2e.unittest.SkipTest("the Windows programs are not built")
        mapped = inline_sites(folder / f"{source.parent.name}/{source.name}.obj" for source in SCENARIOS)
        with tempfile.TemporaryDirectory() as made:
            literal = inline_sites(compile_literally(variant, pathlib.Path(made)))
        return [(source.stem, mapped[source.stem], literal[source.stem]) for source in SCENARIOS]

    def check(self, variant):
        total = 0
        for name, mapped, literal in self.sites(variant):
            with self.subTest(scenario=name):
                self.assertTrue(mapped, "no functions found")
                self.assertEqual(mapped, literal)
            total += sum(map(len, mapped.values()))
        return total

    def test_ob0_inlines_nothing(self):
        self.assertEqual(self.check("ob0"), 0)

    def test_ob2_inlines(self):
        self.assertGreater(self.check("ob2"), 0)

    def test_the_tree_uses_these_flags(self):
        text = (e2e.ROOT / "victims/CMakeLists.txt").read_text(encoding="utf-8")
        for variant in MAPPED:
            for flags in (MAPPED[variant], LITERAL[variant]):
                self.assertIn(f"set(TWINSTACK_{variant.upper()} {' '.join(flags)})", text)

    def test_inline_chain_and_twice_are_what_they_say(self):
        sites = {name: mapped for name, mapped, _ in self.sites("ob2")}
        chain = [(1, "chain_one"), (2, "chain_two"), (3, "chain_three"), (4, "chain_four")]
        self.assertEqual(sites["inline_chain"]["run_inline_chain"], chain)
        stores = [inlinee for _, inlinee in sites["inline_twice"]["run_inline_twice"]]
        self.assertEqual(stores.count("store"), 2)


def files_below(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


class Reproducible(e2e.Case):
    def command(self, *words):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-3000:])

    def build_in(self, folder, *targets):
        for name in ("capture", "victims", "cmake"):
            shutil.copytree(e2e.ROOT / name, folder / name)
        tree = folder / "out"
        self.command("cmake", "-G", "Ninja", "-S", folder / "victims", "-B", tree, "-DTWINSTACK_VARIANTS=ob2", "--toolchain",
                     folder / "cmake/wine-clang.cmake")
        self.command("ninja", "-C", tree, *targets)
        return tree

    def test_another_folder_gives_the_same_bytes(self):
        targets = [] if e2e.SOAK else PROGRAMS
        here = VICTIMS
        self.command("ninja", "-C", here, "victims-first")  # which ./run builds before the others only
        with tempfile.TemporaryDirectory() as other:
            there = self.build_in(pathlib.Path(other) / "another/one", *targets)
            names = [f"{part}/{name}" for part in ("bin", "first") for name in files_below(there / part)
                     if name != "toolchain.json"]  # names every variant
            self.assertIn("bin/victims-ob2.pdb" if e2e.SOAK else "first/victims-ob2.pdb", names)
            self.assertGreater(len(names), 10)
            for name in names:
                with self.subTest(file=name):
                    self.assertEqual((there / name).read_bytes(), (here / name).read_bytes())
                    self.assertNotIn(other.encode(), (there / name).read_bytes())
                    self.assertNotIn(str(e2e.BUILD).encode(), (here / name).read_bytes())


# The functions that may be called between an exception and the bytes on disk: none of them
# allocates from a heap or takes a lock that the victim may hold.
ALLOWED = {
    "memcpy", "memset", "__C_specific_handler",
    "RtlLookupFunctionEntry", "RtlVirtualUnwind", "RtlCaptureStackBackTrace", "RtlCaptureContext", "VirtualQuery",
    "NtGetNextThread", "NtQueryInformationThread",
    "QueryPerformanceCounter", "GetSystemTimeAsFileTime",
    "GetCurrentProcess", "GetCurrentProcessId", "GetCurrentThreadId",
    "SuspendThread", "GetThreadContext", "ResumeThread", "Sleep", "TerminateProcess",
    "SetEvent", "ResetEvent", "WaitForSingleObject", "WaitForMultipleObjects", "CloseHandle", "NtWaitForSingleObject",
    "WriteFile", "SetFilePointer", "SetEndOfFile", "NtSetInformationFile", "NtCreateFile", "GetSystemTime",
    "LdrLockLoaderLock", "LdrUnlockLoaderLock",  # only tried, never waited for
}
# These run on a runner under a time limit and may block; the crash path only hands them over.
HANDED_OVER = {"cap_walk_dbghelp", "cap_walk_dbghelp_own", "cap_dump_write", "probe_heap", "probe_search", "hold_locks_now", "limit_files"}
ROOTS = re.compile(r"cap_crash_\w+|cap_hang_check|on_exception|on_unhandled|on_runtime_hook")


def references(folder):
    """{(object, function): {symbols it refers to}} over the objects of the capture, from their relocations."""
    found = collections.defaultdict(set)
    for obj in sorted(folder.glob("*.obj")):
        text = subprocess.run(["llvm-objdump-19", "-dr", "--no-show-raw-insn", str(obj)], capture_output=True,
                              text=True, check=True).stdout
        function = None
        for line in text.splitlines():
            if match := re.match(r"[0-9a-f]+ <(.+)>:", line):
                function = (obj.name, match[1])
            elif function and (match := re.search(r"IMAGE_REL_AMD64_\w+\s+(\S+)", line)):
                found[function].add(re.sub(r"[-+]0x[0-9a-f]+$", "", match[1]).removeprefix("__imp_"))
    return found


def externals(folder):
    """The symbols that the objects of the capture need from elsewhere."""
    text = subprocess.run(["llvm-nm-19", *map(str, sorted(folder.glob("*.obj")))], capture_output=True, text=True,
                          check=True).stdout
    symbols = [(match[1], match[2]) for match in re.finditer(r"^[0-9a-f ]+ ([A-Za-z]) (\S+)$", text, re.MULTILINE)]
    defined = {name for kind, name in symbols if kind != "U"}
    return {name.removeprefix("__imp_") for kind, name in symbols if kind == "U" and name not in defined}


COMPILERS_OWN = {"memcpy", "memset", "__C_specific_handler"}


class Walkers(e2e.Case):
    """Each walker's file states "May call: ..." in its first comment, and its object needs nothing
    else from the system."""

    def test_each_calls_what_its_head_says(self):
        folder = VICTIMS / "capture/CMakeFiles/capture.dir"
        if not folder.is_dir():
            self.skipTest("the Windows programs are not built")
        walkers = sorted((e2e.ROOT / "capture").glob("walk_*.c"))
        self.assertEqual(len(walkers), 6)
        for source in walkers:
            with self.subTest(walker=source.stem):
                match = re.search(r"May call: ([^.]*)\.", source.read_text(encoding="utf-8"))
                self.assertIsNotNone(match, "its head does not say what it may call")
                says = set(re.findall(r"[A-Z]\w+", match[1]))
                text = subprocess.run(["llvm-nm-19", "-u", str(folder / f"{source.name}.obj")], capture_output=True,
                                      text=True, check=True).stdout
                needs = {line.split()[-1].removeprefix("__imp_") for line in text.splitlines()} - COMPILERS_OWN
                needs = {name for name in needs if not name.startswith("cap")}
                self.assertLessEqual(needs, says)
                self.assertTrue(needs or not says, "what it says is not what it does")


class CrashPath(e2e.Case):
    def test_calls_only_what_is_allowed(self):
        folder = VICTIMS / "capture/CMakeFiles/capture.dir"
        if not folder.is_dir():
            self.skipTest("the Windows programs are not built")
        calls = references(folder)
        homes = {name: obj for obj, name in calls}
        waiting = [key for key in calls if ROOTS.fullmatch(key[1])]
        self.assertGreater(len(waiting), 20)
        outside, seen = externals(folder), set()
        while waiting:
            key = waiting.pop()
            if key in seen or key[1] in HANDED_OVER:
                continue
            seen.add(key)
            for callee in calls[key]:
                if callee in homes:  # a static function of the same object comes first
                    waiting.append((key[0] if (key[0], callee) in calls else homes[callee], callee))
                elif callee in outside:
                    self.assertIn(callee, ALLOWED, f"{key[1]} of {key[0]} refers to {callee}")
        self.assertLessEqual({"RtlVirtualUnwind", "WriteFile", "SuspendThread"},
                             set().union(*(calls[key] for key in seen)), "the walk through the calls is broken")

    def test_the_stack_probe_has_unwind_data(self):
        program = VICTIMS / "bin/victims-ob2.exe"
        if not program.is_file():
            self.skipTest("the Windows programs are not built")
        dump = subprocess.run(["llvm-pdbutil-19", "dump", "-publics", str(program.with_suffix(".pdb"))],
                              capture_output=True, text=True, check=True).stdout
        self.assertIn("___chkstk_ms", dump)
        probe = VICTIMS / "CMakeFiles/victims-ob2.dir/asm/chkstk.S.obj"
        unwind = subprocess.run(["llvm-readobj-19", "--unwind", str(probe)], capture_output=True, text=True, check=True)
        self.assertIn("StartAddress: ___chkstk_ms", unwind.stdout)


if __name__ == "__main__":
    e2e.main()
