"""32-bit Wine: which one `./run` takes, and that the tool finds the unpacked half by its prefix; has a Wine prefix to itself."""

import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

VICTIMS = pathlib.Path(os.environ.get("TWINSTACK_VICTIMS", e2e.BUILD / "victims")) / "bin"
PREFIX = pathlib.Path(os.environ.get("WINEPREFIX", e2e.BUILD / "wine"))
VARIANTS = ("x86-ob0", "x86-ob2")

# name, what dpkg has of wine32:i386 and of wine64:amd64, whether the half can be unpacked, and what happens.
CHOICES = [
    ("nothing is installed", "", "installed 8.0", True, {"unpacked": True, "prefix": False}),
    ("the same version is installed", "installed 8.0", "installed 8.0", True, {"unpacked": False, "prefix": True}),
    ("its programs do not run here", "installed 8.0", "installed 8.0", True, {"unpacked": True, "prefix": False, "loader": "/bin/false"}),
    ("another version is installed", "installed 7.0", "installed 8.0", True, {"unpacked": True, "prefix": False}),
    ("only its configuration is left", "config-files 8.0", "installed 8.0", True, {"unpacked": True, "prefix": False}),
    ("it is not available", "", "installed 8.0", False, {"unpacked": False, "prefix": True, "says": "no index"}),
]
DPKG = """#!/bin/sh
for word; do last=$word; done
case $last in wine32:i386) answer=$WINE32;; *) answer=$WINE64;; esac
[ -n "$answer" ] && printf '%s' "$answer"
"""
UNPACK = """#!/bin/sh
if [ -n "$FAILS" ]; then echo 'wine32: no index' >&2; exit 3; fi
mkdir -p "$1" && echo 1 >"$1/version"
"""


class Choice(e2e.Case):
    """`./run stage wine32` in a folder that holds nothing but that script, with stand-ins for dpkg and the download."""

    def stage(self, folder, **env):
        env = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "CI": "", "TWINSTACK_NO_WINE32": "",
               "TWINSTACK_LOADER32": "/bin/true", **env}
        return subprocess.run([folder / "run", "stage", "wine32"], env=env, capture_output=True, text=True, check=False, timeout=60)

    def made(self, name):
        folder = self.folder / name.replace(" ", "-")
        for path, text in (("bin/dpkg-query", DPKG), ("cmake/debian_wine32.sh", UNPACK)):
            (folder / path).parent.mkdir(parents=True)
            (folder / path).write_text(text, encoding="utf-8")
            (folder / path).chmod(0o755)
        shutil.copy(e2e.ROOT / "run", folder)
        dlls = folder / "build/wine/drive_c/windows/syswow64"
        for sub in (dlls, folder / "build/log"):
            sub.mkdir(parents=True)
        (dlls / "kernel32.dll").touch()
        return folder

    def test_an_installed_one_of_the_same_version_is_preferred(self):
        for name, wine32, wine64, available, want in CHOICES:
            with self.subTest(name):
                folder = self.made(name)
                done = self.stage(folder, WINE32=wine32, WINE64=wine64, FAILS="" if available else "yes",
                                  TWINSTACK_LOADER32=want.get("loader", "/bin/true"))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual((folder / "build/wine32/version").exists(), want["unpacked"])
                self.assertEqual((folder / "build/wine").exists(), want["prefix"])  # made again with what was unpacked
                self.assertEqual(f"no 32-bit Wine: {want.get('says')}" in done.stderr, "says" in want, done.stderr)

    def test_in_ci_missing_x86_fails_unless_it_is_left_out(self):
        for name, available, env, status, left_out in (
                ("at home, missing", False, {}, 0, True), ("in CI, missing", False, {"CI": "true"}, 3, True),
                ("in CI, there", True, {"CI": "true"}, 0, False),
                ("in CI, left out", False, {"CI": "true", "TWINSTACK_NO_WINE32": "1"}, 0, True)):
            with self.subTest(name):
                done = self.stage(self.made(name), WINE32="", WINE64="installed 8.0", FAILS="" if available else "yes", **env)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertEqual("no x86 victims" in done.stderr, left_out, done.stderr)

    def test_what_was_unpacked_goes_when_it_is_installed(self):
        folder = self.made("both")
        self.stage(folder, WINE32="", WINE64="installed 8.0")
        self.assertTrue((folder / "build/wine32").exists())
        self.stage(folder, WINE32="installed 8.0", WINE64="installed 8.0")
        self.assertFalse((folder / "build/wine32").exists())


class Machine(e2e.Case):
    """What cmake/debian_wine32.sh does where the processor or its kernel runs 64-bit programs alone, and there is no emulator."""

    def test_it_says_so_and_leaves_no_half_behind(self):
        if shutil.which("dpkg-query") is None or shutil.which("wine") is None:
            self.skipTest("no Wine")
        (self.folder / "bin").mkdir()
        (self.folder / "bin/apt-get").symlink_to("/bin/false")
        (self.folder / "wine32").mkdir()
        (self.folder / "wine32/version").write_text("an older one")
        done = subprocess.run([e2e.ROOT / "cmake/debian_wine32.sh", self.folder / "wine32"], capture_output=True, text=True, check=False,
                              timeout=60, env={**os.environ, "TWINSTACK_LOADER32": "/bin/false",
                                               "PATH": f"{self.folder}/bin:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("this machine runs no 32-bit programs, and the emulator cannot be fetched", done.stderr)
        self.assertEqual(sorted(self.folder.iterdir()), [self.folder / "bin"])


class Half(e2e.Case):
    """The tool with the victims of x86, which start only through the unpacked half."""

    @classmethod
    def setUpClass(cls):
        if not all((VICTIMS / f"victims-{v}.exe").is_file() for v in VARIANTS):
            raise e2e.unittest.SkipTest("no 32-bit Wine, so no x86 victims")
        if not (PREFIX / "wine32").exists():
            raise e2e.unittest.SkipTest("the installed Wine has its 32-bit half")

    def reasons(self, prefix):
        done = e2e.twinstack("list", "--json", "--victims", VICTIMS, "--prefix", prefix, limit_s=180)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {(s["variant"], s["reason"]) for s in e2e.json.loads(done.stdout)["scenarios"]
                if s["variant"] in VARIANTS and s["name"] == "null_write"}

    def test_a_copy_of_the_prefix_finds_it(self):
        copy = self.folder / "wine"
        subprocess.run(["cp", "-al", PREFIX, copy], check=True)
        shutil.rmtree(copy / "twinstack-lists", ignore_errors=True)
        self.assertEqual(self.reasons(copy), {(v, None) for v in VARIANTS})
        done = e2e.twinstack("run", "--victims", VICTIMS, "--prefix", copy, "--variant", "x86-ob2", "-k", "null_write.x86-ob2",
                             "--out", self.folder / "out", "--db", self.folder / "x86.db", "--json", limit_s=180)
        report = e2e.json.loads(done.stdout)
        case = report["cases"][0]
        self.assertEqual((case["verdict"], case["arch"]), ("PASS", "x86"), case)
        # Times of x86 depend on it, so it is part of the platform, by which runs are compared.
        emulated = PREFIX / "wine32/emulated"
        self.assertEqual(report["run"]["platform"].partition(", x86 in ")[2], emulated.read_text().strip() if emulated.exists() else "")
        # The names of the system's frames are from the DLLs in the prefix: no option names a folder.
        dump = self.folder / "out/cases/null_write.x86-ob2/dump.dmp"
        for prefix, named in ((copy, True), (self.folder / "none", False)):
            done = e2e.twinstack("dump", dump, env={"WINEPREFIX": str(prefix), "TWINSTACK_SYSTEM_SYMBOLS": "1"})
            self.assertEqual("BaseThreadInitThunk " in done.stdout, named, done.stdout)

    def test_without_it_no_x86_victim_is_started(self):
        copy = self.folder / "wine"
        subprocess.run(["cp", "-al", PREFIX, copy], check=True)
        shutil.rmtree(copy / "twinstack-lists", ignore_errors=True)
        (copy / "wine32").unlink()
        self.assertEqual(self.reasons(copy), {(v, "no wine32") for v in VARIANTS})


if __name__ == "__main__":
    e2e.main()
