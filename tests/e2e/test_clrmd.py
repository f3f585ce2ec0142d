"""A second judge of managed frames: Microsoft's ClrMD with the runtime's own mscordaccore.dll, in a process of its own (tests/clrmd).

From dumps with all memory its frames are compared with the truth and, to the IL offset, with ours, which share no code with it. From the
small dump that dbgcore writes it names the methods, which is what a Windows debugger with SOS needs. It has a Wine prefix to itself.

Without Microsoft's files only one dump is asked about: with all memory, Wine's writer takes up to a minute (./run soak: for all of them).

Only this finds a managed frame that we and the truth of our own victims get wrong alike."""

import json
import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
import bench_stops  # noqa: E402
import e2e  # noqa: E402

BIN, CLRMD = bench_stops.BIN, e2e.BUILD / "clrmd/clrmd.exe"
MICROSOFT = e2e.DEBUGGER / "amd64"
SCENARIOS = ("throw", "callback", "inlined", "generic", "async")
RUNTIMES = {"": e2e.BUILD / "dotnet", "10": e2e.BUILD / "dotnet10"}
FILES = ("twinstack-launch.exe", "twinstack-profiler.dll", "plugin-managed.dll", "managed.dll", "managed.pdb")
# From .NET 9 on the exception is raised again where native code was called, and the frames that threw are gone (victims/README.md).
RAISED_AGAIN = {("callback", "10"): ["Scenarios::Raise", "Scenarios::Back"]}
# The DAC walks from managed code, or from a frame that the runtime put on the stack. In .NET Core 3.1 the loop of `async` calls a helper
# that has none: of a thread that is stopped there, as every third is, ClrMD knows no frame.
TRIES = 12


class ClrMD(e2e.Case):
    @classmethod
    def setUpClass(cls):
        if not CLRMD.is_file() or not (RUNTIMES["10"] / "mscordaccore.dll").is_file() or not (BIN / "managed.dll").is_file():
            raise e2e.unittest.SkipTest("no .NET runtime, or no dotnet SDK")
        cls.env = {**bench_stops.ENV, "WINEDLLOVERRIDES": "mshtml,winedbg.exe=;dbghelp,dbgcore=n,b",
                   # Wine stops threads for a collection too late; the judge needs none.
                   "DOTNET_gcConcurrent": "0", "DOTNET_GCgen0size": "0x10000000", "DOTNET_TieredCompilation": "0"}
        cls.enterClassContext(e2e.wine_session(cls.env))

    def programs(self):
        """A folder of the victims, in which Windows and Wine look for DLLs first: with Microsoft's writer, where the user has it."""
        folder = self.folder / "bin"
        if not folder.is_dir():
            folder.mkdir()
            files = [*FILES, *(f"victims-managed{runtime}-ob2.{kind}" for runtime in RUNTIMES for kind in ("exe", "pdb"))]
            microsoft = [MICROSOFT / name for name in ("dbghelp.dll", "dbgcore.dll") if (MICROSOFT / name).is_file()]
            for path in [*(BIN / name for name in files), *microsoft]:
                shutil.copy(path, folder)
        return folder

    def windows(self, path):
        return f"Z:{path}".replace("/", "\\")

    def capture(self, scenario, runtime, turn=0, **env):
        folder = self.folder / f"{scenario}{runtime}{len(env)}-{turn}"
        folder.mkdir()
        programs = self.programs()
        env = {**self.env, "TWINSTACK_DOTNET": self.windows(RUNTIMES[runtime]), **env}
        if runtime == "":  # see victims/README.md
            env["WINEDLLOVERRIDES"] = "mscoree," + env["WINEDLLOVERRIDES"]
        done = e2e.launch(programs, folder, programs / f"victims-managed{runtime}-ob2.exe", f"managed_{scenario}", "--walkers", "framepointer",
                          env=env, limit_s=100)
        self.assertIn("dump.dmp", json.loads(done.stdout)["files"], (scenario, runtime, done.stdout))
        for name in ("managed.dll", "managed.pdb"):
            shutil.copy(BIN / name, folder)
        return folder

    def suspect(self, folder):
        threads = json.loads((folder / "truth.json").read_text())["threads"]
        return next((t for t in threads if t["role"] == "suspect"), threads[0])

    def ask(self, folder, runtime, thread, module="managed.dll"):
        """(version, frames in MODULE) by ClrMD."""
        case = json.dumps({"files": [{"role": "dump", "path": "dump.dmp"}]}) + "\n"
        for _ in range(3):  # of some 30 processes of .NET 10 under Wine, one ended without an answer
            done = e2e.wine_bytes(CLRMD, self.windows(RUNTIMES[runtime] / "mscordaccore.dll"), stdin=case.encode(), env=self.env, folder=folder)
            if done.stdout:
                break
            print(f"ClrMD ended without an answer, status {done.returncode}: {done.stderr.decode(errors='replace')[:300]}")
        self.assertTrue(done.stdout)
        answer = json.loads(done.stdout)
        self.assertNotIn("error", answer, done.stderr)
        (frames,) = [t["frames"] for t in answer["threads"] if t["id"] == thread]
        return answer["version"], [f for f in frames if f.get("module") == module]

    def ours(self, folder, runtime, thread, module="managed.dll"):
        """Our frames in MODULE, and the module of the innermost frame of all."""
        threads = self.run_json("dump", "--stacks", "--json", "--symbols", BIN, "--symbols", RUNTIMES[runtime], folder / "dump.dmp",
                                limit_s=120, env={"TWINSTACK_SYSTEM_SYMBOLS": "1"})["threads"]
        (stack,) = [t["stack"]["frames"] for t in threads if t["id"] == thread]
        return [f for f in stack if f["module"] == module], stack[0]["module"]

    def check(self, scenario, runtime):
        for turn in range(TRIES):
            folder = self.capture(scenario, runtime, turn, TWINSTACK_FULL_MEMORY="1")
            truth = self.suspect(folder)
            version, theirs = self.ask(folder, runtime, truth["id"])
            ours, innermost = self.ours(folder, runtime, truth["id"])
            (folder / "dump.dmp").unlink()
            if theirs or innermost != "coreclr.dll" or scenario != "async":
                break
            print(f"{scenario}.managed{runtime}-ob2: stopped in a helper of the runtime: ClrMD 0 frames, ours {len(ours)}")

        def function(frame):
            # Of code that several types share, .NET Core 3.1 does not say to profilers for which types it is; ClrMD knows that.
            name = frame["function"]
            return name if runtime != "" or "__Canon" not in name else re.sub(r"(`\d+)<.*?>(?=::)", r"\1", name)

        def exact(frames):
            return [(f["method"], f["offset"], function(f), f["line"]) for f in frames]

        want = [(f["function"], f["line"]) for f in truth["frames"] if f["file"] and f["file"].endswith(".cs") and not f["tail"]]
        named = [(function(f), f["line"]) for f in theirs if f["line"]]
        return version, exact(theirs), exact(ours), named, want

    def test_dumps_with_all_memory(self):
        rows = [(scenario, runtime) for runtime in RUNTIMES for scenario in SCENARIOS]
        if not (MICROSOFT / "dbgcore.dll").is_file() and not e2e.SOAK:
            rows = [("generic", "10")]
        frames = 0
        for scenario, runtime in rows:
            with self.subTest(scenario=scenario, runtime=runtime):
                version, theirs, ours, named, want = self.check(scenario, runtime)
                print(f"{scenario}.managed{runtime}-ob2 by {version}: {len(theirs)} frames")
                self.assertEqual(theirs, ours)
                gone = RAISED_AGAIN.get((scenario, runtime), [])
                self.assertEqual([function for function, _ in want[:len(gone)]], gone)
                self.assertEqual(named, want[len(gone):])
                frames += len(theirs)
        print(f"dumps with all memory {len(rows)}, frames in managed code on which ClrMD, we and the truth agree {frames}")

    def test_precompiled_code_of_the_framework(self):
        """Its frames are native ones of its image, which says of which method they are."""
        if not (MICROSOFT / "dbgcore.dll").is_file() and not e2e.SOAK:
            self.skipTest("no files of Microsoft's debugger: TWINSTACK_DEBUGGER, or ./run debugger")
        folder, core = self.capture("seed_needed", "10", TWINSTACK_FULL_MEMORY="1"), "System.Private.CoreLib.dll"
        thread = self.suspect(folder)["id"]
        _, theirs = self.ask(folder, "10", thread, core)
        ours, _ = self.ours(folder, "10", thread, core)
        self.assertIn("System.Buffer::BlockCopy", [f["function"] for f in theirs])
        self.assertEqual([f["function"] for f in ours], [f["function"] for f in theirs])
        self.assertEqual({f["symbols"] for f in ours}, {"ppdb"})

    def test_the_small_dump_has_what_a_windows_debugger_needs(self):
        if not (MICROSOFT / "dbgcore.dll").is_file():
            self.skipTest("no files of Microsoft's debugger: TWINSTACK_DEBUGGER, or ./run debugger")
        for runtime in RUNTIMES:
            for scenario in ("throw", "callback"):
                with self.subTest(scenario=scenario, runtime=runtime):
                    folder = self.capture(scenario, runtime)
                    thread = self.suspect(folder)["id"]
                    _, theirs = self.ask(folder, runtime, thread)
                    self.assertEqual([(f["method"], f["function"]) for f in theirs],
                                     [(f["method"], f["function"]) for f in self.ours(folder, runtime, thread)[0]])
                    print(f"{scenario}.managed{runtime}-ob2: {len(theirs)} methods from a dump of {os.path.getsize(folder / 'dump.dmp')} bytes")


if __name__ == "__main__":
    e2e.main()
