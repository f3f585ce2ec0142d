"""The contestants of the reference suite: each adapter and each example speaks the protocol and answers as its tool is known to, and
each contestant that breaks a rule on purpose (tests/lib/liar.py) is found wrong in the cases of that rule alone.

Only this finds a rule of walks that the suite states and no case of it tests."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import liar  # noqa: E402
import liar_dump  # noqa: E402

SUITE = e2e.ROOT / "corpus/reference"
ADAPTERS, EXAMPLES = SUITE / "adapters", SUITE / "examples"
PREFIX = os.environ.get("WINEPREFIX", str(e2e.BUILD / "wine"))
STACKWALK = e2e.BUILD / "tools/node_modules/minidump/bin/linux-x64/minidump_stackwalk"
SYM_READER = e2e.BUILD / "tools/node_modules/@indutny/breakpad"
WINDOWS_CC = "x86_64-w64-mingw32-gcc"


def all_cases(processor):
    lists = json.loads((SUITE / "suite.json").read_text(encoding="utf-8"))["lists"]
    return [json.loads(line) for name in lists if name.startswith(f"moments/{processor}-")
            for line in (SUITE / name).read_text(encoding="utf-8").splitlines()]


def chosen():
    """{id: contestants that are not right} of the fixed list."""
    rows = (line.split() for line in (e2e.ROOT / "tests/e2e/adapter_cases.txt").read_text(encoding="utf-8").splitlines() if line[0] != "#")
    return {row[0]: set(row[1:]) for row in rows}


def ask(command, cases, env=None):
    """(the contestant's welcome, {id: its answer})."""
    lines = [json.dumps({"hello": 1, "suite": str(SUITE), "edition": "2026.11"})]
    lines += [json.dumps({key: case[key] for key in ("id", "kind", "processor", "capability", "needs", "given")}) for case in cases]
    done = e2e.finished(command, stdin="".join(line + "\n" for line in lines).encode(), limit_s=120 * e2e.PATIENCE,
                        env={**os.environ, **(env or {})}, folder=None)
    answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert len(answers) == len(lines), (done.returncode, done.stderr.decode()[-2000:], len(answers))
    return answers[0], {answer["id"]: answer for answer in answers[1:]}


def pairs(frames):
    return [(int(frame["ip"], 16), None if frame["sp"] is None else int(frame["sp"], 16)) for frame in frames]


# What rust-minidump prints, as tests/snapshots of its repository have it.
RUST_MINIDUMP = """#!/bin/sh
[ "$1" != --version ] || { echo "minidump-stackwalk 0.26.1"; exit; }
cat <<END
Operating system: Windows NT
Crash reason:  EXCEPTION_SINGLE_STEP

Thread 0  (crashed) - tid: 1
 0  x64-push.dll!inner [shapes.c : 7 + 0x1]
    Found by: inlining
 1  x64-push.dll + 0x1135
     rax = 0x0000000000005000    rdx = 0x0000000000000002
     rip = 0x0000000180001135    rsp = 0x00000000107ffee0
    Found by: given as instruction pointer in context
 2  x64-push.dll + 0x1030
     rip = 0x0000000180001031    rsp = 0x00000000107fff10
    Found by: call frame info

Loaded modules:
0x180000000 - 0x180004fff  x64-push.dll  ???  (main)
END
"""


class Asked(e2e.Case):
    @classmethod
    def setUpClass(cls):
        cls.wanted = chosen()
        cls.all = all_cases("x64")
        cls.cases = [case for case in cls.all if case["id"] in cls.wanted]
        cls.all_arm64 = all_cases("arm64")
        cls.arm64 = [case for case in cls.all_arm64 if case["id"] in cls.wanted]


class Adapters(Asked):
    def check_adapter(self, name, version, command, env=None, arm64=False):
        """VERSION: the one that the list was made with; in another, a case that is not right there may be right."""
        cases = [*self.cases, *(self.arm64 if arm64 else [])]
        welcome, answers = ask(command, cases, env)
        self.assertIn("moments.x64", welcome["can"])
        self.assertEqual("moments.arm64" in welcome["can"], arm64)
        self.assertEqual(list(answers), [case["id"] for case in cases])
        for case in cases:
            with self.subTest(case["id"]):
                if "unsupported" in answers[case["id"]]:
                    self.assertIn(name, self.wanted[case["id"]], answers[case["id"]])
                    continue
                frames = pairs(answers[case["id"]]["frames"])
                truth = pairs(case["truth"]["frames"])
                self.assertEqual(frames[0], truth[0])
                for i, (_, sp) in enumerate(frames[:len(truth)]):
                    frames[i] = (frames[i][0], truth[i][1] if sp is None else sp)  # one that is not given is not compared
                if name not in self.wanted[case["id"]]:
                    self.assertEqual(frames, truth)
                elif welcome["version"] == version:
                    self.assertNotEqual(frames, truth, "right now: take it off tests/e2e/adapter_cases.txt and corpus/reference/BUGS.md")

    def test_the_list_has_every_shape_and_position(self):
        self.assertEqual(len(self.cases) + len(self.arm64), len(self.wanted))
        for listed, cases in ((self.cases, self.all), (self.arm64, self.all_arm64)):
            for key in ("shape", "position"):
                self.assertEqual({case[key] for case in listed}, {case[key] for case in cases if case["truth"]["level"] == "must"})

    def test_the_list_has_every_case_of_the_faults(self):
        numbers = re.findall(r"(?m)^\| (\d+) \|", (SUITE / "BUGS.md").read_text(encoding="utf-8"))
        self.assertEqual(sorted(map(int, numbers)), list(range(1, len(numbers) + 1)))
        cases = re.findall(r"moments/(?:x64|arm64)/[a-z0-9/-]+", (SUITE / "BUGS.md").read_text(encoding="utf-8"))
        self.assertGreater(len(cases), 10)
        self.assertEqual([case for case in cases if case not in self.wanted], [])

    def test_ours(self):
        self.check_adapter("ours", None, [ADAPTERS / "ours.py", e2e.PROGRAM], arm64=True)

    def test_lldb(self):
        if not shutil.which("lldb-19"):
            self.skipTest("lldb-19 is not installed")
        self.check_adapter("lldb", "19.1.7", [ADAPTERS / "lldb.py", "lldb-19"], arm64=True)
        self.check_adapter("lldb-names", "19.1.7", [ADAPTERS / "lldb.py", "lldb-19", "--names"], arm64=True)

    def test_gdb(self):
        if not shutil.which("x86_64-w64-mingw32-gdb"):
            self.skipTest("gdb-mingw-w64 is not installed")
        self.check_adapter("gdb", "13.1", [ADAPTERS / "gdb.py"])
        case = next(case for case in all_cases("x86") if case["id"] == "moments/x86/frame-pointer/plain/body/0002")
        _, answers = ask([ADAPTERS / "gdb.py"], [case])  # it reads no frame data, so it is right along frame pointers only
        self.assertEqual(pairs(answers[case["id"]]["frames"]), pairs(case["truth"]["frames"]))
        if shutil.which("gdb"):
            _, answers = ask([ADAPTERS / "gdb.py", "gdb"], self.cases[:1])
            self.assertTrue(answers[self.cases[0]["id"]]["unsupported"])

    def test_breakpad(self):
        if not STACKWALK.is_file():
            self.skipTest("no minidump_stackwalk (npm install --prefix build/tools minidump)")
        self.check_adapter("breakpad", "npm minidump 0.26.0", [ADAPTERS / "breakpad.py", STACKWALK, "--symbols",
                           f"{e2e.PROGRAM} symbols export {{image}} --format breakpad"])
        _, answers = ask([ADAPTERS / "breakpad.py", STACKWALK], self.cases[:1])
        self.assertIn("frames", answers[self.cases[0]["id"]])
        dumps = [json.loads(line) for line in (SUITE / "dumps/x86.ndjson").read_text(encoding="utf-8").splitlines()]
        wanted = ("moments/x86/push/ebx/body/0002", "dumps/x86/threads/0/0", "dumps/x86/unsorted/1/3", "dumps/x86/exception/0/2", "dumps/x86/images-in-memory/0/0",
                  "dumps/x86/pieces/0/0")
        cases = [case for case in [*all_cases("x86"), *dumps] if case["id"] in wanted]
        self.assertEqual(len(cases), len(wanted))
        welcome, answers = ask([ADAPTERS / "breakpad.py", STACKWALK, "--symbols", f"{e2e.PROGRAM} symbols export {{image}} --format breakpad"], cases)
        self.assertNotIn("dumps.x64", welcome["can"])  # they name no PDB
        for case in cases:
            with self.subTest(case["id"]):  # 39 and 40 of BUGS.md: it goes on where the thread ends, and reads one range of a stack
                truth, said = pairs(case["truth"]["frames"]), pairs(answers[case["id"]]["frames"])
                right = len(truth) - ("pieces" in case["id"])
                self.assertEqual(said[:right], truth[:right])
                if welcome["version"] == "npm minidump 0.26.0":
                    self.assertNotEqual(said, truth, "right now: take it off corpus/reference/BUGS.md")

    def test_rust_minidump_prints_what_breakpad_prints(self):
        program = self.folder / "minidump-stackwalk"
        program.write_text(RUST_MINIDUMP, encoding="utf-8")
        program.chmod(0o755)
        case = next(case for case in self.all if case["id"] == "moments/x64/push/rbx/body/0002")
        welcome, answers = ask([ADAPTERS / "breakpad.py", program], [case])
        self.assertEqual((welcome["name"], welcome["version"], "dumps.arm64" in welcome["can"]), ("rust-minidump", "0.26.1", True))
        self.assertEqual(pairs(answers[case["id"]]["frames"]), pairs(case["truth"]["frames"])[:2])

    def test_rust_minidump(self):
        program = shutil.which("minidump-stackwalk")
        if not program:
            self.skipTest("no minidump-stackwalk of rust-minidump: cargo install minidump-stackwalk")
        _, answers = ask([ADAPTERS / "breakpad.py", program, "--symbols", f"{e2e.PROGRAM} symbols export {{image}} --format breakpad"], self.cases)
        self.assertEqual(sorted(answers), sorted(case["id"] for case in self.cases))
        self.assertGreater(sum(pairs(answers[case["id"]]["frames"]) == pairs(case["truth"]["frames"]) for case in self.cases), len(self.cases) // 2)

    def test_breakpad_symbols(self):
        """It reads lines and functions, and of inlined code the line alone: see BUGS.md."""
        if not SYM_READER.is_dir():
            self.skipTest("no @indutny/breakpad (npm install --prefix build/tools @indutny/breakpad)")
        lines = (SUITE / "addresses/clang-pdb-x64.ndjson").read_text(encoding="utf-8").splitlines()
        cases = [case for case in map(json.loads, lines) if case["given"]["symbols"] == "programs/clang19-pdb-o2.pdb" and case["truth"]["level"] == "must"][:40]
        welcome, answers = ask([ADAPTERS / "breakpad_symbols.py", SYM_READER, "--symbols", f"{e2e.PROGRAM} symbols export {{file}} --format breakpad"], cases)
        self.assertEqual((welcome["can"], len(answers)), (["addresses.pdb"], 40))
        self.assertEqual({len(case["truth"]["frames"]) > 1 for case in cases}, {True, False})
        for case in cases:
            with self.subTest(case["id"]):
                truth, said = case["truth"]["frames"], answers[case["id"]]["frames"]
                self.assertEqual([(frame["file"], frame["line"], frame["inlined"]) for frame in said], [(truth[0]["file"][0], truth[0]["line"], False)])
                self.assertIn(said[0]["function"], truth[-1]["function"])
        done = subprocess.run([ADAPTERS / "breakpad_symbols.py", "no-such-package", "--symbols", "true"], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stderr), (1, "breakpad_symbols.py: there is no no-such-package\n"))

    def test_wine(self):
        if not shutil.which("wine") or not os.path.isdir(PREFIX):
            self.skipTest("no Wine prefix")
        if not shutil.which(WINDOWS_CC):
            self.skipTest(f"{WINDOWS_CC} is not installed")
        program = self.folder / "windows_walk.exe"
        subprocess.run([WINDOWS_CC, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, ADAPTERS / "windows_walk.c", "-lversion"],
                       check=True)
        env = {"WINEPREFIX": PREFIX, "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml,winedbg.exe="}
        with e2e.wine_session({**os.environ, **env}):
            for mode in ("rtl", "stackwalk"):
                self.check_adapter(mode, "8.0", ["wine", program, mode], env)

    def test_dbgeng(self):
        engine = e2e.BUILD / "victims/bin/twinstack-dbgeng.exe"
        if not (e2e.DEBUGGER / "amd64/dbgeng.dll").is_file():
            self.skipTest("no files of Microsoft's debugger: TWINSTACK_DEBUGGER, or ./run debugger")
        if not shutil.which("wine") or not os.path.isdir(PREFIX):
            self.skipTest("no Wine prefix")
        for file in (engine, *(e2e.DEBUGGER / "amd64").glob("*.dll")):
            shutil.copy(file, self.folder)
        with e2e.wine_session({**os.environ, "WINEPREFIX": PREFIX}):
            self.check_adapter("dbgeng", "10.0.29507.1001", [ADAPTERS / "dbgeng.py", "wine", self.folder / engine.name], {"WINEPREFIX": PREFIX}, arm64=True)

    def test_x86(self):
        """A case of each shape and position that has one answer: the frame data of a PDB."""
        cases = {(case["shape"], case["position"]): case for case in all_cases("x86") if case["truth"]["level"] == "must"}
        self.assertGreater(len(cases), 20)
        _, answers = ask([ADAPTERS / "ours.py", e2e.PROGRAM], cases.values())
        for case in cases.values():
            with self.subTest(case["id"]):
                self.assertEqual(pairs(answers[case["id"]]["frames"]), pairs(case["truth"]["frames"]))

    def test_dumps(self):
        """A dump of each form. LLDB reads no unwind data of arm64, and BUGS.md has what it is not right in; `check` asks the same (test_adapter.py)."""
        bugs = set(re.findall(r"dumps/[a-z0-9-]+/[a-z0-9/-]+", (SUITE / "BUGS.md").read_text(encoding="utf-8")))
        cases = [json.loads(line) for name in ("x64", "arm64", "x86") for line in (SUITE / f"dumps/{name}.ndjson").read_text(encoding="utf-8").splitlines()]
        cases = [case for case in cases if case["id"].split("/")[3] == "0"]
        self.assertEqual({case["position"] for case in cases}, {"crashed", "other"})
        rows = [("ours", "", [ADAPTERS / "ours.py", e2e.PROGRAM], cases)]
        if shutil.which("lldb-19"):
            rows.append(("lldb", "19.1.7", [ADAPTERS / "lldb.py", "lldb-19"], [case for case in cases if case["processor"] == "x64"]))
        for name, version, command, asked in rows:
            welcome, answers = ask(command, asked)
            for case in asked:
                with self.subTest(name=name, id=case["id"]):
                    truth = pairs(case["truth"].get("frames") or case["truth"]["accepted"][0])
                    said = pairs(answers[case["id"]]["frames"])
                    said = said if case["truth"]["level"] == "must" else said[:len(truth)]
                    if case["id"] not in bugs or name == "ours":
                        self.assertEqual(said, truth)
                    elif welcome["version"] == version:
                        self.assertNotEqual(said, truth, "right now: take it off corpus/reference/BUGS.md")

    def test_moments_of_another_processor_are_unsupported(self):
        case = {**self.cases[0], "processor": "arm", "capability": "moments.arm"}
        _, answers = ask([ADAPTERS / "ours.py", e2e.PROGRAM], [case])
        self.assertTrue(answers[case["id"]]["unsupported"])

    def test_a_missing_tool_is_named(self):
        for adapter in ("ours.py", "lldb.py", "gdb.py", "breakpad.py", "dbgeng.py"):
            done = subprocess.run([ADAPTERS / adapter, "no-such-tool"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
            self.assertEqual((done.returncode, done.stderr), (1, f"{adapter}: there is no no-such-tool\n"))

    def test_the_adapters_work_in_a_copy_of_the_suite(self):
        copy = self.folder / "suite"
        shutil.copytree(SUITE, copy)
        case = next(case for case in self.cases if case["id"] == "moments/x64/push/rbx/body/0002")
        done = subprocess.run([copy / "adapters/dump_of_moments.py", copy, case["id"], self.folder / "moment.dmp"], check=True)
        self.assertEqual(done.returncode, 0)
        said = e2e.twinstack("dump", self.folder / "moment.dmp", "--stacks", "--symbols", copy / "images").stdout
        self.assertEqual(sum("x64-push.dll!" in line for line in said.splitlines()), len(case["truth"]["frames"]))

    def test_moments_share_a_dump_only_where_their_memory_agrees(self):
        sys.path.insert(0, str(ADAPTERS))
        import dump_of_moments  # pylint: disable=import-outside-toplevel
        first, second = (case["given"] for case in (self.cases[0], self.cases[-1]))
        self.assertTrue(dump_of_moments.written(SUITE, [first, first]))
        with self.assertRaises(ValueError):
            dump_of_moments.written(SUITE, [first, second])


class Examples(Asked):
    """Each is complete: it is built as its first line says, and answers what its naive unwinder can."""

    def check_example(self, command):
        welcome, answers = ask(command, self.cases)
        self.assertEqual((welcome["name"], len(answers)), ("example", len(self.cases)))
        for case in self.cases:
            self.assertEqual(pairs(answers[case["id"]]["frames"])[0], pairs(case["truth"]["frames"])[0])
        return sum(pairs(answers[case["id"]]["frames"])[:2] == pairs(case["truth"]["frames"])[:2] for case in self.cases)

    def test_c(self):
        program = self.folder / "example"
        self.assertLessEqual(len((EXAMPLES / "example.c").read_text(encoding="utf-8").splitlines()), 60)
        subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-o", program, EXAMPLES / "example.c", "-lcjson"], check=True)
        self.check_example([program])

    def test_python(self):
        self.assertLessEqual(len((EXAMPLES / "example.py").read_text(encoding="utf-8").splitlines()), 20)
        self.assertGreater(self.check_example([EXAMPLES / "example.py"]), 10)

    def test_shell(self):
        self.check_example([EXAMPLES / "example.sh"])

    def test_addresses(self):
        """By the scorer, over one program: all of its cases are answered, and as well as a symbol table or addr2line can."""
        for name, least in (("py", {"right": 0, "early": 50}), ("sh", {"right": 80, "early": 0})):
            with self.subTest(name):
                if name == "sh" and not shutil.which("addr2line"):
                    self.skipTest("addr2line is not installed")
                result = json.loads(e2e.twinstack("score", "--cmd", EXAMPLES / f"example_addresses.{name}", "--suite", SUITE, "-k", "gcc-dwarf4",
                                                  "--json", "--no-cache", limit_s=120).stdout)
                counts = {outcome: len(ids) for outcome, ids in result["cases"].items()}
                self.assertEqual(counts["right"] + counts["early"] + counts["wrong"], sum(counts.values()))
                for outcome, count in least.items():
                    self.assertGreaterEqual(counts[outcome], count)

    def test_rust(self):
        if not shutil.which("rustc"):
            self.skipTest("rustc is not installed")
        program = self.folder / "example"
        if subprocess.run(["rustc", "--version"], capture_output=True, check=False).returncode != 0:
            self.skipTest("rustc is a stub without a toolchain")
        subprocess.run(["rustc", "-Dwarnings", "-o", program, EXAMPLES / "example.rs"], check=True)
        self.assertGreater(self.check_example([program]), 10)


# What each liar is wrong in: (shapes, positions), None for any; all of these are hit, and no other case is.
RULES = {
    "honest": (set(), set()),
    "epilogue-by-looks": ({"chained", "chained-2", "not-an-epilogue"}, {"body"}),
    "no-prefixed-return": ({"epilogue-ret"}, {"epilogue"}),
    "no-leaf": (None, {"called", "leaf"}),
    "no-chain": ({"chained", "chained-2"}, {"prologue", "body", "called"}),
    "no-version-2": ({"version-2"}, {"prologue", "body", "called", "epilogue"}),
    "no-version-3": ({"version-3"}, {"prologue", "body", "called", "epilogue"}),
    "no-machine-frame": ({"machine-frame"}, {"prologue", "dispatcher", "called"}),
    "no-error-code": ({"machine-frame"}, {"prologue", "dispatcher", "called"}),
    "scaled-far-save": ({"save-far"}, {"body", "called"}),
    "call-last": ({"call-last"}, {"prologue", "before-noreturn"}),
    "early": (None, None),
    "extra": (None, None),
}
# The same for rules that every function has: outside the shape of interrupted functions, only these positions.
EVERYWHERE = {
    "no-epilogue": ({"epilogue", "leaf"}, 30), # the stack probe has an entry and is called a leaf
    "late-codes": ({"prologue", "body", "leaf", "before-noreturn"}, 30), # a body's first moment is where the last code counts
    "no-frame-register": ({"prologue", "body", "epilogue"}, 6),
    "no-saves": ({"prologue", "body", "called"}, 7),
}


# The same for arm64.
ARM64_RULES = {
    "arm64-honest": (set(), set()),
    "arm64-no-epilogue": (None, {"epilogue"}),
    "arm64-no-prologue": (None, {"prologue"}),
    "arm64-no-end-c": ({"fragment"}, {"prologue", "body", "called"}),
    "arm64-call-last": ({"call-last"}, {"called"}),
    "arm64-older-windows": (set(), set()),  # what it does otherwise is `may`, or in WINDOWS
}
# The same for x86, where the page is a witness.
FPO = {"fpo", "fpo-call-last", "fpo-frame-pointer", "fpo-parameters"}
X86_RULES = {
    "x86-honest": (set(), set()),
    "x86-no-fpo": (FPO, {"body", "called", "epilogue", "before-noreturn"}),
    "x86-no-frame-data": ({"alloc", "alloca", "call-last", "frame-pointer", "parameters", "push", "realigned", "seh"}, None),
    "x86-no-parameters": ({"parameters", "fpo-parameters"}, None),  # of these, both stack pointers are right, so they are `may`
}
# Cases that conflict: a walker is right in those of one Windows alone.
WINDOWS = "homed-epilogue"


class Liars(Asked):
    """By the scorer, so that it is the scorer which finds them."""

    def wrong(self, name):
        all_of_it = self.all_arm64 if name.startswith("arm64") else all_cases("x86") if name.startswith("x86") else self.all
        certain = ("must", "may") if name.startswith("x86") else ("must",)
        cases = [case for case in all_of_it if case["shape"] != WINDOWS and case["truth"]["level"] in certain]
        lib = e2e.ROOT / "tests/lib/liar.py"
        result = json.loads(e2e.twinstack("score", "--cmd", f"{sys.executable} {lib} {name}", "--suite", SUITE, "-k",
                                          f"({' or '.join(certain)}) and not {WINDOWS}", "--json", "--no-cache").stdout)
        self.assertEqual(sum(map(len, result["cases"].values())), len(cases))
        right = set(result["cases"]["right"])
        self.assertEqual([k for k in ("crashed", "timeout", "garbage", "unsupported") if result["cases"][k]], [])
        return [case for case in cases if case["id"] not in right]

    def test_each_is_wrong_in_the_cases_of_its_rule_alone(self):
        for name, (shapes, positions) in {**RULES, **ARM64_RULES}.items():
            with self.subTest(name):
                wrong = self.wrong(name)
                for key, want in (("shape", shapes), ("position", positions)):
                    if want is not None:
                        self.assertEqual({case[key] for case in wrong}, want)
                if (shapes, positions) == (None, None):
                    self.assertEqual(len(wrong), sum(case["truth"]["level"] == "must" for case in self.all))

    def test_those_of_x86_are_wrong_in_the_cases_of_their_rule_alone(self):
        for name, (shapes, positions) in X86_RULES.items():
            with self.subTest(name):
                wrong = [case for case in self.wrong(name) if any(witness.startswith("the page applied") for witness in case["known_by"])]
                for key, want in (("shape", shapes), ("position", positions)):
                    if want is not None:
                        self.assertEqual({case[key] for case in wrong}, want)

    def test_a_walker_follows_one_windows_and_the_cases_of_the_other_are_unsupported(self):
        cases = [case for case in self.all_arm64 if case["shape"] == WINDOWS]
        for name, version in (("arm64-honest", "newer"), ("arm64-older-windows", "older")):
            with self.subTest(name):
                lib = e2e.ROOT / "tests/lib/liar.py"
                result = json.loads(e2e.twinstack("score", "--cmd", f"{sys.executable} {lib} {name}", "--suite", SUITE, "-k", WINDOWS, "--json", "--no-cache").stdout)
                counts = {outcome: sorted(ids) for outcome, ids in result["cases"].items() if ids}
                self.assertEqual(counts, {"right": sorted(case["id"] for case in cases if case["os"].startswith(version)),
                                          "unsupported": sorted(case["id"] for case in cases if not case["os"].startswith(version))})

    def test_a_rule_of_all_functions_is_hit_in_many_shapes(self):
        for name, (positions, shapes) in EVERYWHERE.items():
            with self.subTest(name):
                wrong = [case for case in self.wrong(name) if case["shape"] != "machine-frame"]
                self.assertEqual({case["position"] for case in wrong}, positions)
                self.assertGreaterEqual(len({case["shape"] for case in wrong}), shapes)

    def test_readers_of_dumps_are_wrong_in_the_forms_of_their_rule_alone(self):
        for name, shapes in liar_dump.LIARS.items():
            with self.subTest(name):
                lib = e2e.ROOT / "tests/lib/liar_dump.py"
                result = json.loads(e2e.twinstack("score", "--cmd", f"{sys.executable} {lib} {name}", "--suite", SUITE, "-k", "dumps. and must", "--json", "--no-cache").stdout)
                wrong = [case for outcome, cases in result["cases"].items() if outcome != "right" for case in cases]
                self.assertEqual({case.split("/")[2] for case in wrong}, shapes)
                self.assertEqual({case.split("/")[1] for case in wrong}, {"x64", "arm64", "x86"} if shapes else set())

    def test_every_liar_has_its_row(self):
        self.assertEqual({*RULES, *EVERYWHERE}, set(liar.LIARS))
        self.assertEqual(set(ARM64_RULES), set(liar.ARM64_LIARS))
        self.assertEqual(set(X86_RULES), set(liar.X86_LIARS))

    def test_a_liar_is_a_contestant(self):
        lib = e2e.ROOT / "tests/lib/liar.py"
        for name, right in (("honest", len(self.cases)), ("early", 0)):
            welcome, answers = ask([sys.executable, lib, name], self.cases)
            self.assertEqual(welcome["name"], f"liar {name}")
            self.assertEqual(sum(pairs(answers[case["id"]]["frames"]) == pairs(case["truth"]["frames"]) for case in self.cases), right)


if __name__ == "__main__":
    e2e.main()
