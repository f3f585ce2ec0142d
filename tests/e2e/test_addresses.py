"""The addresses of the reference suite: each symbolizer's adapter answers as its tool is known to, and each contestant that breaks a rule
of names on purpose (tests/lib/name_liar.py) is found wrong in the cases of that rule alone. The scorer judges all of them.

Only this finds a rule of names that the suite states and no case of it tests."""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import name_liar  # noqa: E402

SUITE = e2e.ROOT / "corpus/reference"
ADAPTERS = SUITE / "adapters"
LIAR = e2e.ROOT / "tests/lib/name_liar.py"
PREFIX = os.environ.get("WINEPREFIX", str(e2e.BUILD / "wine"))
WINDOWS_CC = "x86_64-w64-mingw32-gcc"


def addresses():
    lists = json.loads((SUITE / "suite.json").read_text(encoding="utf-8"))["lists"]
    return [json.loads(line) for name in lists if name.startswith("addresses/")
            for line in (SUITE / name).read_text(encoding="utf-8").splitlines()]


def chosen():
    """{id: contestants that are not right} of the fixed list."""
    rows = (line.split() for line in (e2e.ROOT / "tests/e2e/address_cases.txt").read_text(encoding="utf-8").splitlines() if line[0] != "#")
    return {row[0]: set(row[1:]) for row in rows}


def score(command, select, env=None):
    """(version, {outcome: ids}) of the contestant."""
    words = " ".join(map(str, command))
    result = json.loads(e2e.twinstack("score", "--cmd", words, "--suite", SUITE, "-k", select, "-j", "2", "--json", "--no-cache",
                                      "--timeout", f"{20 * e2e.PATIENCE:.0f}s", env=env, limit_s=200).stdout)
    return result["tool"]["version"], {outcome: set(ids) for outcome, ids in result["cases"].items()}


class Symbolizers(e2e.Case):
    @classmethod
    def setUpClass(cls):
        cls.wanted, cls.all = chosen(), addresses()
        cls.cases = [case for case in cls.all if case["id"] in cls.wanted]

    def check(self, name, version, *command, env=None):
        """VERSION: the one that the list was made with; in another, a case that is not right there may be right."""
        now, outcomes = score(command, " or ".join(self.wanted), env)
        right, bad = outcomes["right"], set().union(*(ids for outcome, ids in outcomes.items() if outcome not in ("right", "unsupported")))
        listed = {case for case, names in self.wanted.items() if name in names}
        ended = outcomes["crashed"] - listed
        if ended and command[0] == "wine":  # as e2e.wine(): Wine refuses one start of some 400, also in the middle of the list
            print(f"again, since it ended: {sorted(ended)}")
            _, again = score(command, " or ".join(ended), env)
            right, bad = right | again["right"], bad - again["right"] - again["unsupported"]
        self.assertEqual(outcomes["timeout"] | outcomes["garbage"], set())
        self.assertEqual(sorted(bad - listed), [], {outcome: sorted(ids & bad - listed) for outcome, ids in outcomes.items() if ids & bad - listed})
        self.assertGreater(len(right), 20)
        if now == version:
            self.assertEqual(sorted(listed & right), [], "right now: take it off tests/e2e/address_cases.txt and corpus/reference/BUGS.md")

    def test_the_list_has_every_program_shape_and_position(self):
        self.assertEqual(len(self.cases), len(self.wanted))
        for key in (lambda case: case["shape"], lambda case: case["position"], lambda case: case["id"].split("/")[3]):
            self.assertEqual({key(case) for case in self.cases}, {key(case) for case in self.all})

    def test_the_list_has_every_case_of_the_faults(self):
        cases = re.findall(r"addresses/[a-z0-9/-]+", (SUITE / "BUGS.md").read_text(encoding="utf-8"))
        self.assertGreater(len(cases), 5)
        self.assertEqual([case for case in cases if case not in self.wanted], [])

    def test_ours(self):
        self.check("ours", None, ADAPTERS / "ours.py", e2e.PROGRAM)

    def test_llvm_symbolizer(self):
        if not shutil.which("llvm-symbolizer-19"):
            self.skipTest("llvm-symbolizer-19 is not installed")
        self.check("llvm", "19.1.7", ADAPTERS / "llvm_symbolizer.py", "llvm-symbolizer-19")

    def test_lldb(self):
        if not shutil.which("lldb-19"):
            self.skipTest("lldb-19 is not installed")
        self.check("lldb", "19.1.7", ADAPTERS / "lldb_addresses.py", "lldb-19")

    def test_gdb(self):
        missing = [tool for tool in ("gdb-multiarch", "x86_64-w64-mingw32-gdb") if not shutil.which(tool)]
        if missing:
            self.skipTest(f"{missing[0]} is not installed")
        self.check("gdb", "13.1", ADAPTERS / "gdb_addresses.py", "gdb-multiarch")

    def test_addr2line(self):
        missing = [tool for tool in ("addr2line", "x86_64-w64-mingw32-addr2line") if not shutil.which(tool)]
        if missing:
            self.skipTest(f"{missing[0]} is not installed")
        self.check("addr2line", "2.40", ADAPTERS / "addr2line.py", "addr2line")

    def test_eu_addr2line(self):
        if not shutil.which("eu-addr2line"):
            self.skipTest("eu-addr2line is not installed (elfutils)")
        self.check("eu-addr2line", "0.188", ADAPTERS / "addr2line.py", "eu-addr2line")

    def check_windows(self, name, version, *words, native=""):
        """By windows_names.c, with those of Microsoft's DLLs that NATIVE names."""
        if not shutil.which("wine") or not os.path.isdir(PREFIX):
            self.skipTest("no Wine prefix")
        if not shutil.which(WINDOWS_CC):
            self.skipTest(f"{WINDOWS_CC} is not installed")
        program = self.folder / "windows_names.exe"
        subprocess.run([WINDOWS_CC, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, ADAPTERS / "windows_names.c", "-lversion"],
                       check=True)
        env = {"WINEPREFIX": PREFIX, "WINEDEBUG": "-all", "WINEDLLOVERRIDES": f"mscoree,mshtml,winedbg.exe={native and f';{native}=n'}"}
        with e2e.wine_session({**os.environ, **env}):
            self.check(name, version, "wine", program, *words, env=env)

    def microsoft_dll(self, name):
        """A copy of it, whose path has no blank, beside what it loads."""
        if not (e2e.DEBUGGER / "amd64" / name).is_file():
            self.skipTest("no files of Microsoft's debugger: TWINSTACK_DEBUGGER, or ./run debugger")
        for file in (e2e.DEBUGGER / "amd64").glob("*.dll"):
            shutil.copy(file, self.folder)
        return f"Z:{self.folder / name}"

    def test_dia(self):
        self.check_windows("dia", "14.44.35215.100", "dia", self.microsoft_dll("msdia140.dll"), native="msdia140")

    def test_dbghelp(self):
        self.check_windows("dbghelp", "10.0.29507.1001", "dbghelp", self.microsoft_dll("dbghelp.dll"), native="dbghelp,dbgcore")

    def test_dbghelp_of_wine(self):
        self.check_windows("wine-dbghelp", "8.0", "dbghelp")

    def test_a_missing_tool_is_named(self):
        for adapter in ("llvm_symbolizer.py", "lldb_addresses.py", "gdb_addresses.py", "addr2line.py"):
            done = subprocess.run([ADAPTERS / adapter, "no-such-tool"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
            self.assertEqual((done.returncode, done.stderr), (1, f"{adapter}: there is no no-such-tool\n"))


@functools.cache
def score_of_liar(name):
    return score((sys.executable, LIAR, name), "address and must")[1]


class Liars(e2e.Case):
    def test_each_is_not_right_in_the_cases_of_its_rule_alone(self):
        must = [case for case in addresses() if case["truth"]["level"] == "must"]
        self.assertGreater(len(must), 5000)
        for name, (_, rule) in name_liar.LIARS.items():
            with self.subTest(name):
                outcomes = score_of_liar(name)
                self.assertEqual([outcome for outcome in ("crashed", "timeout", "garbage", "unsupported") if outcomes[outcome]], [])
                self.assertEqual(sum(map(len, outcomes.values())), len(must))
                self.assertEqual(sorted(outcomes["wrong"] | outcomes["early"]), sorted(case["id"] for case in must if rule(case)))
                self.assertEqual(bool(outcomes["wrong"] | outcomes["early"]), name not in ("honest", "spelled"))

    def test_what_is_left_out_is_early_and_no_more(self):
        for name in ("no-lines", "innermost"):
            with self.subTest(name):
                self.assertEqual(score_of_liar(name)["wrong"], set())


if __name__ == "__main__":
    e2e.main()
