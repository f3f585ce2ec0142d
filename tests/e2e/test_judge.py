"""twinstack-dbghelp.exe, the judge: with Wine's dbghelp, with one that is as strict as Microsoft's, and, where the
user has it, with Microsoft's own; has a Wine prefix to itself.

Only this finds a question that a real dbghelp refuses, or answers otherwise than Wine's."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

BIN = pathlib.Path(os.environ.get("TWINSTACK_VICTIMS", e2e.BUILD / "victims")) / "bin"
WINE = {"WINEPREFIX": os.environ.get("WINEPREFIX", str(e2e.BUILD / "wine")), "WINEARCH": "win64", "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml,winedbg.exe="}
ENV = {**{k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}, **WINE}
NATIVE = {"WINEDLLOVERRIDES": WINE["WINEDLLOVERRIDES"] + ";dbghelp,dbgcore,msdia140=n"}
WINDOWS_EXE = e2e.BUILD / "windows/bin/twinstack.exe"
CASES, SYMBOLS = e2e.ROOT / "corpus/cases", e2e.ROOT / "corpus/symbols"
CHAIN = ["chain_four", "chain_three", "chain_two", "chain_one", "run_inline_chain", "main"]
MICROSOFT = next((folder for folder in (e2e.DEBUGGER, e2e.DEBUGGER / "x64", e2e.DEBUGGER / "amd64") if (folder / "dbghelp.dll").is_file()),
                 None)
# With the files for x86, and programs that take them.
MICROSOFT_X86 = e2e.DEBUGGER if (e2e.DEBUGGER / "x86/dbghelp.dll").is_file() and (BIN / "steps-x86-ob2.exe").is_file() else None
# Lines of the engine that name a fault of the dump.
COMPLAINT = r"^ERROR|^Dir entry|Minidump contains|does not have|Missing image|Conflicting|Unable to find|Unable to map|Ignoring extra"
# Lines that report something amiss, in the dump or around it.
AMISS = r"(?i)warning|error|unable|unknown stream|mismatch|does not|missing|conflict|ignoring|corrupt|invalid|truncated|fail|exception 0x"
# What it says of any dump, in which a path or the exception may have such a word: "FAST_FAIL_GUARD_ICALL_CHECK_FAILURE".
SAID_OF_ANY = r"Loading Dump File \[|\([0-9a-f]+\.[0-9a-f]+\): .* - code [0-9a-f]{8}|Subcode: 0x"
VERSION = """1 VERSIONINFO
FILEVERSION 10,0,29507,1001
BEGIN
  BLOCK "StringFileInfo" { BLOCK "040904B0" { VALUE "CompanyName", "Microsoft Corporation" } }
END
"""


def first_name_at_end(dump, missing):
    """The dump with the name of its first module before the end of the last page: MISSING bytes fewer than the name has follow it."""
    streams, directory = struct.unpack_from("<II", dump, 8)
    (modules,) = (rva for kind, _, rva in struct.iter_unpack("<III", dump[directory:directory + 12 * streams]) if kind == 4)
    (name,) = struct.unpack_from("<I", dump, modules + 4 + 20)
    (bytes_,) = struct.unpack_from("<I", dump, name)
    text = dump[name:name + 4 + bytes_ + 2]
    end = (len(dump) // 4096 + 2) * 4096
    made = bytearray(dump.ljust(end - (bytes_ - 2 - missing) - len(text), b"\0") + text)
    struct.pack_into("<I", made, modules + 4 + 20, len(made) - len(text))
    return bytes(made)


class Judge(e2e.Case):
    @classmethod
    def setUpClass(cls):
        if shutil.which("wine") is None or not pathlib.Path(WINE["WINEPREFIX"]).is_dir():
            raise e2e.unittest.SkipTest("no Wine, or no prefix; ./run makes it")
        if not (BIN / "twinstack-dbghelp.exe").is_file():
            raise e2e.unittest.SkipTest("the Windows programs are not built")
        cls.enterClassContext(e2e.wine_session(ENV))

    def ask(self, folder, case="inline_chain.ob2", env=None):
        """What it answers from FOLDER, with images and PDBs beside it: Wine's dbghelp knows no symbol stores."""
        for path in [BIN / "twinstack-dbghelp.exe", *SYMBOLS.glob("victims-ob2.*/*/*")]:
            shutil.copy(path, folder)
        done = e2e.wine(folder / "twinstack-dbghelp.exe", CASES / case / "dump.dmp", folder, env={**ENV, **(env or {})})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def names(self, answer):
        return [f["function"] for f in answer["threads"][0]["frames"]]

    def test_with_wines(self):
        answer = self.ask(self.folder)
        self.assertRegex(answer["version"], "^dbghelp of Wine [0-9]")
        self.assertEqual(self.names(answer)[:6], CHAIN)

    def test_it_states_how_it_found_its_frames(self):
        """On x64, of the crashed thread: the entry of .pdata that its walker had, and where the stack pointer went."""
        (thread, *others) = self.ask(self.folder, "recursion.ob2")["threads"]
        physical = [frame for frame in thread["frames"] if frame["inline_depth"] == 0]
        self.assertEqual([frame["found_by"] for frame in physical[:2]], ["context", "unwind"])
        self.assertEqual([row["index"] for row in thread["evidence"]], list(range(len(physical)))[:128])
        for row, above in zip(thread["evidence"][:3], thread["evidence"][1:4]):
            self.assertEqual((row["caller_sp"], row["where"]), (above["sp"], "body"))
            self.assertEqual(int(row["return_slot"], 16) + 8, int(row["caller_sp"], 16))
            self.assertLess(int(row["function_begin"], 16), int(row["function_end"], 16))
        self.assertFalse([other for other in others if "evidence" in other])

    def make_strict(self, folder):
        """A dbghelp.dll of ours that refuses what Microsoft's refuses."""
        (folder / "version.rc").write_text(VERSION, encoding="ascii")
        for argv in (["x86_64-w64-mingw32-windres", folder / "version.rc", "-O", "coff", "-o", folder / "version.o"],
                     ["clang-19", "--target=x86_64-w64-mingw32", "-fuse-ld=lld-19", "-shared", "-std=c11", "-Wall", "-Wextra", "-Werror",
                      "-D_WIN32_WINNT=0x0A00", e2e.ROOT / "tests/lib/windows/strict_dbghelp.c", folder / "version.o",
                      "-o", folder / "dbghelp.dll"]):
            done = subprocess.run([*map(str, argv)], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])

    def debugger(self):
        """A folder like that of the Debugging Tools, in which every file is the strict one."""
        folder = self.folder
        (folder / "x64").mkdir()
        self.make_strict(folder / "x64")
        for name in ("dbgcore.dll", "msdia140.dll"):
            shutil.copy(folder / "x64/dbghelp.dll", folder / "x64" / name)
        return folder

    def test_with_one_as_strict_as_microsofts(self):
        folder = self.folder
        self.make_strict(folder)
        answer = self.ask(folder, "recursion.ob2", NATIVE)  # which is in no leaf
        self.assertEqual(answer["version"], "dbghelp of Microsoft 10.0.29507.1001")
        frames = answer["threads"][0]["frames"]
        for frame in frames:  # the context of a frame itself
            self.assertEqual((frame["function"], frame["file"], frame["line"]), ("strict", "strict.c", 7))
        self.assertEqual(len(frames), 2, "no function table: the headers, or the answers to CBA_READ_MEMORY, are missing")

    def test_with_microsofts(self):
        if MICROSOFT is None:
            self.skipTest("no files of Microsoft's debugger: TWINSTACK_DEBUGGER, or ./run debugger")
        folder = self.folder
        for name in ("dbghelp.dll", "dbgcore.dll", "msdia140.dll"):
            shutil.copy(MICROSOFT / name, folder)
        answer = self.ask(folder, env=NATIVE)
        self.assertRegex(answer["version"], r"^dbghelp of Microsoft \d+\.")
        self.assertEqual(self.names(answer)[:6], CHAIN)

    def ask_engine(self, dump, *folders):
        """The answer of WinDbg's engine, and what it prints about the dump."""
        folder = self.folder / "engine"
        if not folder.is_dir():
            folder.mkdir()
            for path in [*MICROSOFT.glob("*.dll"), BIN / "twinstack-dbgeng.exe"]:
                shutil.copy(path, folder)
        native = {"WINEDLLOVERRIDES": NATIVE["WINEDLLOVERRIDES"].replace("=n", ",dbgeng,dbgmodel=n")}
        done = e2e.wine(folder / "twinstack-dbgeng.exe", dump, *folders, env={**ENV, **native})
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertRegex(answer["version"], r"^dbgeng of Microsoft \d+\.")
        return answer, [line for line in answer["printed"].splitlines() if re.search(COMPLAINT, line)]

    def test_the_engine_of_windbg(self):
        """What it prints about a dump of an earlier version is what --lint reports; about one of today it prints nothing."""
        if MICROSOFT is None or not (MICROSOFT / "dbgeng.dll").is_file():
            self.skipTest("no files of Microsoft's debugger: TWINSTACK_DEBUGGER, or ./run debugger")
        symbols = self.folder / "symbols"
        symbols.mkdir()
        for path in SYMBOLS.glob("victims-ob2.*/*/*"):
            shutil.copy(path, symbols)
        for name, complaints in (("dump.dmp", {"unknown stream type 0xfff0"}),
                                 ("dump-tuned.dmp", {"unknown stream type 0xfff0", "ModuleListStream stream stream size mismatch",
                                                     "does not have a module list"})):
            with self.subTest("earlier", dump=name):
                answer, printed = self.ask_engine(CASES / "inline_chain.ob2" / name, symbols)
                self.assertEqual({c for c in complaints if any(c in line for line in printed)}, complaints)
                self.assertEqual(len(printed), len(complaints), printed)
                self.assertEqual(self.names(answer)[:6] == CHAIN, name == "dump.dmp")
        out = self.folder / "out"
        out.mkdir()
        done = e2e.launch(BIN, out, BIN / "victims-ob2.exe", "inline_chain", env=ENV)
        self.assertEqual(done.returncode, 0, done.stderr)
        stacks = []
        for name in ("dump.dmp", "dump-tuned.dmp"):
            with self.subTest("today", dump=name):
                answer, printed = self.ask_engine(out / name, BIN)
                self.assertEqual(printed, [])
                self.assertEqual(self.names(answer)[:6], CHAIN)
                stacks.append([[f["function"] for f in thread["frames"]] for thread in answer["threads"][:1]])
        self.assertEqual(stacks[0], stacks[1], "the cheapest dump is walked as the plain one")
        whole = (out / "dump-tuned.dmp").read_bytes()
        for name, left, lost in (("as many bytes as a name has follow it", 0, False), ("two bytes too few", 2, True)):
            with self.subTest(name):
                (out / "end.dmp").write_bytes(first_name_at_end(whole, left))
                found = self.run_json("dump", out / "end.dmp", "--lint", "--json", exit_code=1)["faults"]
                self.assertEqual(sum(fault["rule"] == "name_at_end" for fault in found), lost)
                answer, _ = self.ask_engine(out / "end.dmp", BIN)
                self.assertEqual("Exception 0xc0000005 while accessing file mapping" in answer["printed"], lost)
                self.assertEqual(self.names(answer)[:6] == CHAIN, not lost)  # all modules after it are lost, too

    def printed_of(self, dumps, folder):
        """What the engine prints about each of the dumps, asked in one process. What the list of FOLDER's README has is left out."""
        listed = re.findall(r"(?m)^\| `([^`]+)` \|", (e2e.ROOT / "victims/harness/judge/README.md").read_text(encoding="utf-8"))
        self.assertEqual(len(listed), 2)
        known = re.compile("|".join(re.escape(line).replace("NAME", r"\S+") for line in listed))
        program = self.folder / "many"
        program.mkdir()
        for path in [*MICROSOFT.glob("*.dll"), BIN / "twinstack-dbgeng.exe"]:
            shutil.copy(path, program)
        native = {"WINEDLLOVERRIDES": NATIVE["WINEDLLOVERRIDES"].replace("=n", ",dbgeng,dbgmodel=n")}
        asked = "".join(f"{dump}\t{folder}\n" for dump in dumps)
        done = e2e.wine(program / "twinstack-dbgeng.exe", "--serve", stdin=asked.encode(), env={**ENV, **native}, limit_s=900)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(answers), len(dumps), done.stderr)
        for dump, answer in zip(dumps, answers):
            text = answer.get("error") or answer["printed"]
            yield dump, answer, [line for line in text.splitlines() if "error" in answer or
                                 (re.search(AMISS, line) and not known.fullmatch(line.strip()) and not re.match(SAID_OF_ANY, line))]

    def test_the_engine_of_windbg_opens_each_dump_of_a_run(self):
        """The list of ./run's second lane, by each writer; under `./run soak` every scenario of ob2."""
        if MICROSOFT is None or not (MICROSOFT / "dbgeng.dll").is_file():
            self.skipTest("no files of Microsoft's debugger: TWINSTACK_DEBUGGER, or ./run debugger")
        script = (e2e.ROOT / "cmake/lanes.sh").read_text(encoding="utf-8")
        words = re.search(r"(?s)\nreadonly list='(.*?)'", script)[1].split()
        named = [word for word in words if word != "or"]
        for writer in ("wine", "microsoft"):
            with self.subTest(writer):
                out = self.folder / writer
                more = () if e2e.SOAK else ("-k", " ".join(words))
                document = self.run_json("run", *more, "--variant", "ob2", "--no-judges", "--db", f"{writer}.db", "--out", out, "--victims", BIN,
                                         "--prefix", WINE["WINEPREFIX"], "--debugger", MICROSOFT, "--writer", writer, "--json",
                                         folder=self.folder, limit_s=900, exit_code=None)
                taken = {case["scenario"] for case in document["cases"]}
                self.assertEqual(set(named) - taken, set(), "names of the list that no scenario has")
                dumps = sorted(out.glob("cases/*/dump*.dmp"))
                self.assertGreater(len(dumps), 2 * len(named) - 6)
                amiss = [(dump.relative_to(out), lines) for dump, _, lines in self.printed_of(dumps, BIN) if lines]
                self.assertEqual(amiss[:3], [], f"{len(amiss)} of {len(dumps)}")
                print(f"{writer}: the engine opened {len(dumps)} dumps")
                shutil.rmtree(self.folder / "many")

    def test_the_rule_of_microsofts_unwinder(self):
        """After a call that never returns is what looks like the end of an epilogue: there Microsoft's unwinder takes the top of the
        stack for the return address, and ours undoes the body."""
        if MICROSOFT is None or not (MICROSOFT / "dbgeng.dll").is_file():
            self.skipTest("no files of Microsoft's debugger: TWINSTACK_DEBUGGER, or ./run debugger")
        out = self.run_twinstack("check", CASES / "noreturn_tail.ob2", "--symbols", SYMBOLS, "--launcher", "wine", "--victims", BIN,
                                 "--prefix", WINE["WINEPREFIX"], "--debugger", MICROSOFT, "--explain", "2", "--db", self.folder / "a.db",
                                 limit_s=120).stdout
        out = out[out.index("FRAME 2 OF"):]
        for engine, where in (("dump", "body"), ("judge:dbghelp-microsoft", "epilogue"), ("judge:dbgeng", "epilogue")):
            with self.subTest(engine):
                part = out[out.index(f"\n  {engine}") + 1:].split("in frame 1: ", 1)[1]
                self.assertIn(f"pc in the {where}", part.splitlines()[0])
        with contextlib.closing(sqlite3.connect(self.folder / "a.db")) as db:  # for the page of the case
            stored = dict(db.execute("SELECT c.engine, e.place FROM evidence e JOIN stack s ON s.id = e.stack_id JOIN claim c ON"
                                     " c.case_id = s.case_id AND c.position = s.claim WHERE e.physical = 1"))
        self.assertEqual((stored["dump"], stored["judge:dbgeng"]), ("body", "epilogue"))

    def test_programs_beside_ours_in_a_bench(self):
        words = ("bench", CASES / "recursion.ob2", "--samples", "1", "--warmup", "0", "--dry", "--progress", "none", "--victims", BIN,
                 "--prefix", WINE["WINEPREFIX"], "--cache", self.folder / "cache")
        without = self.run_twinstack(*words)
        self.assertEqual(without.stdout.count("WinDbg's engine was not timed: no files of Microsoft's debugger"), 1, without.stdout)
        self.assertNotIn("programs", self.run_json(*words, "--json"))
        if MICROSOFT is None or not (MICROSOFT / "dbgeng.dll").is_file():
            self.skipTest("no files of Microsoft's debugger: TWINSTACK_DEBUGGER, or ./run debugger")
        rows = {row["engine"]: row for row in self.run_json(*words, "--debugger", MICROSOFT, "--json", limit_s=300)["programs"]}
        self.assertEqual(list(rows), ["offset", "dump", "judge:dbghelp-microsoft", "judge:dbgeng", "judge:dbghelp"])
        for name, row in rows.items():
            with self.subTest(name):
                self.assertIsNone(row["why_not"])
                self.assertGreater(row["process_ns"]["median"], row["again_ns"]["median"])
        self.assertRegex(rows["judge:dbgeng"]["version"], r"^dbgeng of Microsoft \d+\.")
        self.assertRegex(rows["judge:dbghelp"]["version"], r"^dbghelp of Wine ")

    def rows(self, *options, exit_code=0):
        checks = self.run_json("doctor", "--victims", BIN, "--prefix", WINE["WINEPREFIX"], *options, "--json", exit_code=exit_code)["checks"]
        return {row["what"]: (row["state"], row["detail"]) for row in checks}

    def test_the_doctor_finds_the_files(self):
        state, detail = self.rows("--debugger", self.debugger())["debugger"]
        self.assertEqual(state, "ok")
        self.assertIn("x64: dbghelp.dll 10.0.29507.1001, dbgcore.dll 10.0.29507.1001, msdia140.dll 10.0.29507.1001, dbgeng.dll is missing", detail)
        without = self.rows()
        for row in ("debugger", "judge:dbghelp-microsoft", "judge:dbgeng"):
            self.assertEqual(without[row][0], "none")
            self.assertIn("./run debugger", without[row][1])
        self.assertIn("no dbghelp.dll", self.rows("--debugger", CASES, exit_code=3)["debugger"][1])

    def windows_with(self, dlls):
        """The environment of a prefix whose system32 has these files, as that of Windows has its own; it has no msdia140.dll."""
        beside = pathlib.Path(tempfile.mkdtemp(dir=pathlib.Path(WINE["WINEPREFIX"]).resolve().parent))  # links end at the file system
        self.addCleanup(shutil.rmtree, beside)
        prefix = beside / "windows"
        shutil.copytree(WINE["WINEPREFIX"], prefix, symlinks=True, copy_function=os.link)
        for path in dlls:
            (prefix / "drive_c/windows/system32" / path.name).unlink(missing_ok=True)
            shutil.copy(path, prefix / "drive_c/windows/system32")
        overrides = NATIVE["WINEDLLOVERRIDES"].replace("=n", ",dbgeng,dbgmodel=n") if dlls else WINE["WINEDLLOVERRIDES"]
        return {**ENV, "WINEPREFIX": str(prefix), "WINEDLLOVERRIDES": overrides}

    def test_the_systems_files_on_windows(self):
        """Without --debugger, twinstack.exe takes those of System32, and none of Wine's."""
        if not WINDOWS_EXE.is_file():
            self.skipTest("no twinstack.exe: ./run says at its start why it was not built")
        self.make_strict(self.folder)
        strict = []
        for name in ("dbghelp.dll", "dbgcore.dll", "dbgeng.dll", "dbgmodel.dll"):
            (self.folder / "files").mkdir(exist_ok=True)
            strict.append(self.folder / "files" / name)
            shutil.copy(self.folder / "dbghelp.dll", strict[-1])
        for name, dlls, debugger, judges in (
                ("Wine's", [], "no files", ["no files", "no files"]),
                ("those of Windows", strict, "^x64: dbghelp.dll 10[.0-9]*, dbgcore.dll 10[.0-9]*, dbgeng.dll 10[.0-9]*, dbgmodel.dll 10[.0-9]* "
                                             r"\(of this Windows\)$", ["the system's dbghelp, which is Microsoft's", "^ready|available"])):
            env = self.windows_with(dlls)
            with self.subTest(name), e2e.wine_session(env):
                done = e2e.wine(WINDOWS_EXE, "doctor", "--victims", BIN, "--db", self.folder / "none.db", "--json", env=env)
                rows = {row["what"]: row["detail"] for row in json.loads(done.stdout)["checks"]}
                for row, said in zip(("debugger", "judge:dbghelp-microsoft", "judge:dbgeng"), (debugger, *judges)):
                    self.assertRegex(rows[row], said)

    def test_the_systems_engine_on_windows(self):
        if MICROSOFT is None or not (MICROSOFT / "dbgeng.dll").is_file():
            self.skipTest("no files of Microsoft's debugger: TWINSTACK_DEBUGGER, or ./run debugger")
        if not WINDOWS_EXE.is_file():
            self.skipTest("no twinstack.exe: ./run says at its start why it was not built")
        env = self.windows_with(sorted(MICROSOFT.glob("*.dll")))
        with e2e.wine_session(env):
            done = e2e.wine(WINDOWS_EXE, "check", CASES / "recursion.ob2", "--symbols", SYMBOLS, "--launcher", "", "--victims", BIN, "--json",
                            env=env)
        claims = {claim["engine"]: claim for claim in json.loads(done.stdout)["cases"][0]["engines"]}
        self.assertRegex(claims["judge:dbgeng"]["version"] or "", r"^dbgeng of Microsoft \d+\.")
        self.assertIn("the system's dbghelp", claims["judge:dbghelp-microsoft"]["why"])

    def test_a_judge_of_its_own_beside_wines(self):
        """From a case (one program for each question) and in a run (one program for all), with a relative folder."""
        judges = {"judge:dbghelp": "^dbghelp of Wine ", "judge:dbghelp-microsoft": r"^dbghelp of Microsoft 10\.0\.29507\.1001$"}
        folder, debugger = self.folder, self.debugger()
        options = ("--victims", BIN, "--prefix", WINE["WINEPREFIX"], "--debugger", debugger, "--json")
        for name, words in (("check", ("check", CASES / "recursion.ob2", "--symbols", SYMBOLS, "--launcher", "wine", *options)),
                            ("run", ("run", "-k", "null_write", "--variant", "ob2", "--writer", "wine", "--db", "a.db", "--out", "out", *options))):
            with self.subTest(name):
                document = self.run_json(*words, folder=folder, limit_s=120)
                claims = {claim["engine"]: claim for claim in document["cases"][0]["engines"]}
                for judge, version in judges.items():
                    self.assertRegex(claims[judge]["version"] or "", version)
                if name == "run":  # what a debugger on Windows costs
                    self.assertEqual(document["headline"]["foreign_engine"], "judge:dbghelp-microsoft")
                    self.assertEqual(document["headline"]["foreign"], "dbghelp of Microsoft 10.0.29507.1001")

    def test_microsofts_writer(self):
        """Victims whose dumps and walks are Microsoft's: the same verdict, and no run of Wine's writer is compared with it."""
        if MICROSOFT is None:
            self.skipTest("no files of Microsoft's debugger: TWINSTACK_DEBUGGER, or ./run debugger")
        folder = self.folder
        builds = ["ob2", *(["x86-ob2"] if MICROSOFT_X86 else [])]
        words = ("run", "-k", "null_write", "--variant", ",".join(builds), "--no-judges", "--db", "a.db", "--victims", BIN,
                 "--prefix", WINE["WINEPREFIX"], "--debugger", MICROSOFT_X86 or MICROSOFT, "--json")
        writers = {}
        for writer, more in (("wine", ("--writer", "wine")), ("microsoft", ("--writer", "microsoft")), ("by default", ())):
            document = self.run_json(*words, *more, folder=folder, limit_s=300)
            self.assertEqual({case["verdict"] for case in document["cases"]}, {"PASS"}, writer)
            writers[writer] = {engine["version"] for case in document["cases"] for engine in case["engines"] if engine["engine"] == "dump"}
            self.assertEqual("dbgcore 10." in document["run"]["platform"], writer != "wine", document["run"]["platform"])
        self.assertEqual(writers["wine"], {None})
        self.assertEqual(writers["by default"], writers["microsoft"])
        version, *x86 = sorted(writers["microsoft"])
        self.assertRegex(version, r"^dbgcore\.amd64,10\.")
        self.assertEqual(x86, [version.replace("amd64", "i386")] if len(builds) > 1 else [])
        done = self.run_twinstack("gate", "--db", "a.db", "--against", "1", folder=folder, exit_code=1)
        now = " and ".join([version, *x86])
        self.assertIn(f"writer of dumps: it gives no name -> {now}: only runs of the same writer can be compared", done.stdout)

    def test_microsofts_walker_at_every_instruction_of_x86(self):
        """Without PDBs it has the chain of frame pointers, and guesses: right at a fifth of the instructions where there is none."""
        if MICROSOFT_X86 is None:
            self.skipTest("no files of Microsoft's debugger: TWINSTACK_DEBUGGER, or ./run debugger")
        (run,) = self.run_json("steps", "--variant", "x86-ob2", "--walkers", "dbghelp-own,framepointer", "--victims", BIN, "--prefix",
                               WINE["WINEPREFIX"], "--out", "steps", "--json", "--debugger", MICROSOFT_X86, "--writer", "microsoft",
                               folder=self.folder, limit_s=300)["runs"]
        right = {w["walker"]: w["right"] for w in run["walkers"]}
        self.assertEqual(right["ours"], run["instructions"])
        self.assertLess(right["framepointer"], 10)
        self.assertGreater(right["dbghelp-own (Microsoft)"], run["instructions"] * 0.15)
        self.assertLess(right["dbghelp-own (Microsoft)"], run["instructions"] * 0.5)

    def test_microsofts_walker_at_every_instruction(self):
        """StackWalk64 of Windows misses one instruction of ob2; Wine's misses others."""
        if MICROSOFT is None:
            self.skipTest("no files of Microsoft's debugger: TWINSTACK_DEBUGGER, or ./run debugger")
        words = ("steps", "--variant", "ob2", "--walkers", "dbghelp-own", "--victims", BIN, "--prefix", WINE["WINEPREFIX"],
                 "--out", "steps", "--json", "--debugger", MICROSOFT)
        for writer, name in (("wine", "dbghelp-own"), ("microsoft", "dbghelp-own (Microsoft)")):
            with self.subTest(writer):
                (run,) = self.run_json(*words, "--writer", writer, folder=self.folder, limit_s=300)["runs"]
                row = {w["walker"]: w for w in run["walkers"]}[name]
                if writer == "microsoft":
                    self.assertEqual((row["right"], row["first"]["function"]), (run["instructions"] - 1, "steps_interrupt_handler+0xf"))
                else:
                    self.assertLess(row["right"], run["instructions"] - 1)
        self.run_twinstack("steps", "--writer", "microsoft", "--debugger", MICROSOFT, "x.rec", folder=self.folder, exit_code=2)


if __name__ == "__main__":
    e2e.main()
