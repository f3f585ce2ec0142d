"""The whole way of a new user, with the commands of the READMEs: the capture is built and installed, linked into a program that is none of
this repository's, that crashes; its stack is named, collected, counted as a problem, compared and judged by the gate. It has a Wine prefix
to itself.

Only this finds a step that the READMEs leave out between one verb and the next."""

import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import stream_pipeline  # noqa: E402
from test_capture_lives import ENV  # noqa: E402

README = (e2e.ROOT / "capture/README.md").read_text(encoding="utf-8")
MOST_S = 300  # of a machine that does nothing else


def block(kind):
    """The only block of this kind in the capture's README."""
    found = re.findall(rf"^( *)```{kind}\n(.*?)^\1```$", README, re.S | re.M)
    assert len(found) == 1, (kind, found)
    indent, text = found[0]
    return re.sub(f"^{indent}", "", text, flags=re.M)


class NewUser(stream_pipeline.Pipeline):
    def setUp(self):
        super().setUp()
        self.enterContext(e2e.wine_session(ENV))
        self.desk = self.folder / "Büro"
        self.desk.mkdir()
        (self.desk / "capture").symlink_to(e2e.ROOT / "capture")
        self.prefix = self.folder / "DIR"  # as the README calls it; pkg-config has no paths with umlauts
        self.env = {**ENV, "PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig"), "PATH": f"{e2e.PROGRAM.parent}:{os.environ['PATH']}"}

    def shell(self, commands, exit_code=0):
        done = subprocess.run(["bash", "-ec", commands], cwd=self.desk, env=self.env, capture_output=True, text=True, check=False,
                              timeout=240 * e2e.PATIENCE)
        if exit_code is not None:
            self.assertEqual(done.returncode, exit_code, f"{commands}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def build_and_install_the_capture(self):
        commands = block("sh").replace("=DIR", f"='{self.prefix}'")
        self.assertIn("cmake --build out --target install", README)
        done = self.shell(f"{commands} -DCMAKE_INSTALL_LIBDIR=lib\ncmake --build out --target install".replace("\n -DCMAKE", " -DCMAKE"))
        self.assertNotIn("warning", done.stdout + done.stderr)

    def link_an_example_in_a_makefile(self):
        (self.desk / "Makefile").write_text(block("make"), encoding="utf-8")
        self.shell("make host.exe")
        self.assertEqual(self.shell("mkdir -p reports && wine host.exe reports crash", None).returncode, 5)
        self.assertRegex(self.shell("twinstack resolve --symbols . reports/capture-*.rec").stdout, r"wmain +.*host\.c:\d+")
        self.shell("wine host.exe reports take")

    def link_a_program_with_cmake(self):
        """find_package() and target_link_libraries(), as the README says."""
        options = re.findall(r"-DCMAKE_(?:SYSTEM|C_|CXX_|BUILD)\S+", block("sh"))
        self.assertEqual(len(options), 4)
        self.shell(f"cmake -G Ninja -S {e2e.ROOT}/tests/package/stranger -B app {' '.join(options)} -DCMAKE_PREFIX_PATH='{self.prefix}'\nninja -C app")

    def crash_and_name(self):
        self.assertEqual(self.shell("mkdir -p reports && wine app/stranger.exe reports plugin", None).returncode, 5)
        for command in ("resolve --symbols app reports/capture-*.rec", "dump --symbols app reports/capture-*.dmp"):
            said = self.shell(f"twinstack {command}").stdout
            self.assertRegex(said, r"spell +.*plugin\.cpp:\d+(.*\n)*.*translate(.*\n)*.*in_plugin(.*\n)*.*wmain", command)

    def import_and_judge(self):
        """What one capture left, as a case in a run of its own that the gate judges."""
        self.shell("twinstack case import --dump reports/*.dmp --stack reports/*.rec --own '*stranger.exe' --own plugin.dll --name first --out cases")
        self.shell("twinstack check cases/first.imported --symbols app --db runs.db")
        self.assertIn("open", self.shell("twinstack gate --db runs.db").stdout)

    def collect_and_count(self):
        self.start_server()
        said = self.shell(f"wine app/stranger.exe reports send {self.address} {stream_pipeline.TOKEN}").stdout
        self.assertEqual(said.strip(), "sent 1, status 200")
        self.assertEqual(list((self.desk / "reports").iterdir()), [])
        worked = self.work("--sample", "100%", "--dumps", self.folder / "spool/dumps", symbols=self.desk / "app")
        self.assertIn("1 judged", worked.stderr)
        self.reduce()
        data = self.problems()
        problem = data["problems"][0]
        self.assertEqual((data["stacks"], problem["signature"], problem["count"], problem["versions"]),
                         (1, "spell | translate | in_plugin", 1, "1.0"))
        self.assertEqual((problem["judged"], problem["agreed"]), (1, 1), data["shadow"])
        self.assertIn("open", self.shell(f"twinstack gate --shadow {self.totals} --min-agreement 99%").stdout)

    def test_from_the_readme_to_the_gate(self):
        start = time.monotonic()
        for step in (self.build_and_install_the_capture, self.link_an_example_in_a_makefile, self.link_a_program_with_cmake,
                     self.crash_and_name, self.import_and_judge, self.collect_and_count):
            begun = time.monotonic()
            step()
            print(f"{step.__name__}: {time.monotonic() - begun:.0f} s")
        self.assertLess(time.monotonic() - start, MOST_S * e2e.SLOWNESS)


if __name__ == "__main__":
    e2e.main()
