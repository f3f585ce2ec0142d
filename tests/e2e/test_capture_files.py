"""Starting a program never destroys an earlier capture, and killing it never leaves half a file;
has a Wine prefix to itself.

The example host program is linked with the capture and crashed, restarted and killed under Wine."""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

VICTIMS = pathlib.Path(os.environ.get("TWINSTACK_VICTIMS", e2e.BUILD / "victims"))
OBJECTS = VICTIMS / "capture/CMakeFiles/capture.dir"
WINE = {"WINEPREFIX": os.environ.get("WINEPREFIX", str(e2e.BUILD / "wine")), "WINEARCH": "win64", "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml,winedbg.exe="}
ENV = {**{k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}, **WINE}
CLANG = ["clang-19", "--target=x86_64-w64-mingw32", "-D_WIN32_WINNT=0x0A00", "-D__USE_MINGW_ANSI_STDIO=0", "-Wall", "-Wextra", "-Werror",
         f"-I{e2e.ROOT}"]
LANGUAGES = {"c": ["-std=c11"], "c++": ["-std=c++20", "-fms-extensions", "-Wno-missing-designated-field-initializers"]}
NULL_WRITE = 0xC0000005
CRASHES, KILLS = (10, 20) if e2e.SOAK else (5, 10)
WAIT_S = 20 * e2e.PATIENCE


def files(folder, suffix=""):
    return sorted(f.name for f in folder.glob(f"capture-*{suffix}"))


class Files(e2e.Case):
    @classmethod
    def setUpClass(cls):
        if shutil.which("wine") is None or not pathlib.Path(WINE["WINEPREFIX"]).is_dir():
            raise e2e.unittest.SkipTest("no Wine, or no prefix; ./run makes it")
        if not OBJECTS.is_dir():
            raise e2e.unittest.SkipTest("the Windows programs are not built")
        cls.enterClassContext(e2e.wine_session(ENV))
        cls.bin = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        for language, flags in LANGUAGES.items():
            host = cls.bin / f"host-{language}"
            for argv in ([*CLANG, *flags, "-x", language, "-c", e2e.ROOT / "capture/example/host.c", "-o", host.with_suffix(".obj")],
                         ["clang++-19", *CLANG[1:], "-fuse-ld=lld-19", "-static", "-municode", host.with_suffix(".obj"),
                          *OBJECTS.glob("*.obj"), "-ldbghelp", "-lntdll", "-o", host.with_suffix(".exe")]):
                done = subprocess.run([*map(str, argv)], capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    raise AssertionError(f"{' '.join(map(str, argv))}\n{done.stderr[-2000:]}")

    def start(self, *words, language="c"):
        return subprocess.Popen(["wine", str(self.bin / f"host-{language}.exe"), "Z:" + str(self.folder).replace("/", "\\"), *words],
                                env=ENV, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def run_host(self, *words, **more):
        """(exit status, [(record, dump)] that it found at its start)"""
        process = self.start(*words, **more)
        said, _ = process.communicate(timeout=120 * e2e.PATIENCE)
        lines = said.splitlines()
        found = [tuple(re.split(r"[\\/]", word)[-1] for word in line.split()[:2]) for line in lines[:-1]]
        self.assertEqual(lines[-1] if lines else said, f"{len(found)} pending")
        return process.returncode, found

    def wait_until_all_hold_something(self):
        """Wine's server removes the files of a killed process a moment later."""
        end = time.monotonic() + WAIT_S
        while (empty := [f.name for f in self.folder.glob("capture-*") if f.stat().st_size == 0]) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(empty, [])

    def check_record(self, name):
        data = (self.folder / name).read_bytes()
        self.assertEqual(data[:8], b"TWINREC1", name)
        committed = struct.unpack_from("<Q", data, 72)[0]
        self.assertTrue(128 < committed <= len(data), name)
        at = 128
        while at < committed:
            at += struct.unpack_from("<I", data, at + 4)[0]
        self.assertEqual(at, committed, name)

    def check_dump(self, name):
        self.run_twinstack("dump", self.folder / name)

    def test_ten_crashes_a_calm_start_and_taking_them(self):
        seen = []
        for _ in range(CRASHES):
            status, found = self.run_host("crash")
            self.assertEqual(status & 0xFF, NULL_WRITE & 0xFF)
            self.assertEqual(found, seen)
            seen = list(zip(files(self.folder, ".rec"), files(self.folder, ".dmp"), strict=True))
        self.assertEqual(len(seen), CRASHES)
        self.assertEqual(self.run_host("calm"), (0, seen))
        self.assertEqual(self.run_host("calm", "3"), (0, seen))  # a limit of three
        self.assertEqual(list(zip(files(self.folder, ".rec"), files(self.folder, ".dmp"), strict=True)), seen[-3:])
        self.check_record(seen[-1][0])
        self.check_dump(seen[-1][1])
        self.assertEqual(self.run_host("take"), (0, seen[-3:]))
        self.assertEqual(files(self.folder), [])

    def test_a_running_program_keeps_its_files(self):
        waiting = self.start("wait")
        self.assertEqual(waiting.stdout.readline(), "0 pending\n")
        end = time.monotonic() + WAIT_S
        while len(files(self.folder)) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        self.run_host("crash", language="c++")
        own = files(self.folder)
        self.assertEqual(len(own), 4)  # two of each
        status, found = self.run_host("take")
        self.assertEqual((status, len(found)), (0, 1))
        self.assertEqual(len(files(self.folder)), 2)
        waiting.communicate("\n", timeout=60 * e2e.PATIENCE)
        self.assertEqual((waiting.returncode, files(self.folder)), (0, []))

    def test_killed_at_any_moment(self):
        start = time.monotonic()
        self.run_host("crash")
        whole_s = time.monotonic() - start
        kept = before = set(files(self.folder))  # `before` may include an unfinished dump that is
                                                 # about to disappear
        moments = e2e.rng(1)
        for _ in range(KILLS):
            process = self.start("crash")
            time.sleep(moments.uniform(0, whole_s))
            process.kill()
            process.communicate(timeout=60 * e2e.PATIENCE)
            self.wait_until_all_hold_something()
            now = set(files(self.folder))
            self.assertLessEqual(kept, now)
            kept, before = kept | before & now, now
        self.assertEqual(self.run_host("calm")[0], 0)
        for name in files(self.folder, ".rec"):
            self.check_record(name)
        for name in files(self.folder, ".dmp"):
            self.check_dump(name)
        kept = set(files(self.folder))
        self.assertEqual({n.rsplit(".", 1)[0] for n in files(self.folder)}, {n[:-4] for n in files(self.folder, ".rec")})
        _, found = self.run_host("take")
        self.assertEqual([record for record, _ in found], sorted(n for n in kept if n.endswith(".rec")))
        self.assertEqual(files(self.folder), [])


if __name__ == "__main__":
    e2e.main()
