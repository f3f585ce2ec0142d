"""Another project's crash reporter: the victims are linked with its library, and `run` names the library's faults.
It has a Wine prefix to itself.

Only this finds a fault in the interface for reporters of others, which none of our own walkers takes."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

SCENARIOS = ["crash/null_write.c", "calm/handled_exception.c"]
PREFIX = pathlib.Path(os.environ.get("WINEPREFIX", e2e.BUILD / "wine"))


def must(*argv):
    done = subprocess.run([*map(str, argv)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, argv))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


class Port(e2e.Case):
    @classmethod
    def setUpClass(cls):
        if shutil.which("wine") is None or not PREFIX.is_dir():
            raise e2e.unittest.SkipTest("no Wine, or no prefix; ./run makes it")
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.folder, cls.bin = folder, folder / "build/bin"
        for name in ("capture", "cmake"):
            shutil.copytree(e2e.ROOT / name, folder / name)
        shutil.copytree(e2e.ROOT / "victims", folder / "victims",
                        ignore=lambda at, names: [n for n in names if pathlib.Path(at).name in ("crash", "hang", "calm")
                                                  and n.endswith((".c", ".cpp"))])
        for name in SCENARIOS:
            shutil.copy(e2e.ROOT / "victims" / name, folder / "victims" / name)
        must("clang-19", "--target=x86_64-w64-mingw32", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-D_WIN32_WINNT=0x0A00",
             f"-I{folder}", "-c", e2e.ROOT / "tests/port/worse.c", "-o", folder / "worse.obj")
        must("llvm-ar-19", "rcs", folder / "libworse.a", folder / "worse.obj")
        cls.build()

    @classmethod
    def build(cls, *options):
        must("cmake", "-G", "Ninja", "-S", cls.folder / "victims", "-B", cls.folder / "build", "-DTWINSTACK_VARIANTS=ob2",
             f"-DTWINSTACK_CAPTURE={cls.folder}/libworse.a", "--toolchain", cls.folder / "cmake/wine-clang.cmake", *options)
        must("ninja", "-C", cls.folder / "build", "victims-ob2", "twinstack-launch")

    def ask(self, fault, exit_code):
        """Runs with FAULT; returns {scenario: (verdict, causes of the findings about offset:rtl)}."""
        report = self.run_json("run", "--victims", self.bin, "--prefix", PREFIX, "--db", self.folder / f"{fault}.db",
                               "--out", self.folder / fault, "--source-root", self.folder, "--no-judges", "--json",
                               "-k", "null_write or handled_exception", exit_code=exit_code, env={"PORT_FAULT": fault},
                               limit_s=120)
        self.reasons = {c["scenario"]: c["reason"] for c in report["cases"]}
        return {c["scenario"]: (c["verdict"], {f["cause"] for f in c["findings"]
                                               if "offset:rtl" in (f["engine"], f["against"])} - {"symbols_missing"})
                for c in report["cases"]}

    def test_a_right_one_passes(self):
        found = self.ask("none", 0)
        self.assertEqual(found["handled_exception"], ("PASS", set()))
        self.assertEqual(found["null_write"], ("PASS", set()))

    def test_faults_are_named(self):
        blames = "^offset:rtl, handler_context: .*; blame: walk of offset:rtl, according to dump$"
        for fault, wanted, reason in (("drop_top", {"truncated", "lookup_address"}, "."),
                                      ("absolute", {"generated_code"}, "."),  # as for code outside all images
                                      ("handler_context", {"handler_context"}, blames)):
            verdict, causes = self.ask(fault, 1)["null_write"]
            self.assertEqual((verdict, wanted - causes), ("FAIL", set()), causes)
            self.assertTrue(causes == wanted or fault == "absolute", causes)
            self.assertRegex(self.reasons["null_write"], reason)

    def test_zz_without_dumps_as_it_declares(self):  # the last one, since the others need what declares both
        self.assertEqual(self.ask("no_dump", 1)["null_write"][0], "FAIL")
        self.build("-DTWINSTACK_SUBJECTS=offset:rtl")
        shutil.rmtree(self.folder / "no_dump")
        self.assertEqual(self.ask("no_dump", 0), {"null_write": ("PASS", set()), "handled_exception": ("PASS", set())})
        self.assertEqual(self.ask("drop_top", 1)["null_write"][0], "FAIL")


if __name__ == "__main__":
    e2e.main()
