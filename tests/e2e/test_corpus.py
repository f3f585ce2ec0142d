"""The corpus matches its README: made by its scripts, small, free of system images, usable without
Wine."""

import filecmp
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

CORPUS = e2e.ROOT / "corpus"
CASES = sorted(f for f in (CORPUS / "cases").iterdir() if f.is_dir())


class Corpus(e2e.Case):
    def test_every_case_passes_without_wine(self):
        answer = self.run_json("check", *CASES, "--json", env={"PATH": "/nowhere"})
        self.assertGreater(len(CASES), 5)
        self.assertEqual({(c["scenario"], c["variant"]): c["verdict"] for c in answer["cases"]},
                         {tuple(c.name.split(".")): "PASS" for c in CASES})

    def test_its_cases_are_those_of_the_script(self):
        script = (CORPUS / "make_cases.sh").read_text(encoding="utf-8")
        words = {key: re.search(rf"^readonly {key}='(.*)'", script, re.M)[1] for key in ("chosen", "chosen_x86")}
        for case in CASES:
            scenario, variant = case.name.split(".")
            self.assertIn(scenario, words["chosen_x86" if variant.startswith("x86") else "chosen"])

    def test_another_reader_names_the_frames_of_x86_alike(self):
        """If there is no rtl stack, llvm-symbolizer names the dump's stack. The cases are right in
        every frame."""
        cases = [c for c in CASES if c.name.endswith(".x86-ob2")]
        engines = {e["engine"]: e for e in self.run_json("check", *cases, "--json")["engines"]}
        self.assertGreater(len(cases), 2)
        for name in ("dump", "judge:llvm-symbolizer"):
            self.assertEqual((engines[name]["exact"]["right"], engines[name]["exact"]["total"]), (len(cases),) * 2, name)

    def test_packed_fixtures_are_whole(self):
        """Offline, from the repository alone: all but the four files of npm packages, which are named."""
        shutil.copytree(CORPUS / "fixtures", self.folder / "corpus/fixtures")
        (self.folder / "tests").mkdir()
        shutil.copy(e2e.ROOT / "tests/fixtures.sh", self.folder / "tests")
        plain = {name: value for name, value in os.environ.items() if name != "TWINSTACK_FIXTURES"}
        done = subprocess.run([self.folder / "tests/fixtures.sh", "unpack", self.folder / "build"], env={**plain, "TWINSTACK_OFFLINE": "1"},
                              check=True, capture_output=True, text=True)
        absent = ["g07-conpty-x64/conpty.node", "g07-conpty-x64/conpty.pdb", "g08-setup-x86/Setup.exe", "g08-setup-x86/Setup.pdb"]
        self.assertEqual(done.stderr.splitlines(),
                         [f"run: offline: {name} is not fetched; the tests that want it are skipped" for name in absent])
        root = self.folder / "build/fixtures"
        text = (root / "MANIFEST.md").read_text(encoding="utf-8")
        named = {f"{group}/{file}" for group, table in re.findall(r"^## (g\S+)(.*?)(?=^## |\Z)", text, re.M | re.S)
                 for file in re.findall(r"^\| (\S+) \| \d+ \|", table, re.M)}
        self.assertGreater(len(named), 100)
        self.assertEqual(sorted(name for name in named if not (root / name).is_file()), absent)
        done = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=root / "images", capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_no_system_image_and_under_10_mb(self):
        names = [f.name for f in (CORPUS / "symbols").iterdir()]
        self.assertTrue(names)
        for name in names:
            self.assertRegex(name, r"^(victims|plugin)-")
        sizes = {f: f.stat().st_size for f in CORPUS.rglob("*") if f.is_file()}
        packed = sum(size for f, size in sizes.items() if f.parent.name == "fixtures")
        reference = {f: size for f, size in sizes.items()  # with the programs that make it
                     if f.relative_to(CORPUS).parts[0].removeprefix("make_").startswith("reference")}
        self.assertLess(packed, 10_000_000)
        self.assertLess(sum(len(zlib.compress(f.read_bytes())) for f in reference), 12_000_000) # packed, as in a repository
        self.assertLess(sum(sizes.values()) - packed - sum(reference.values()), 10_000_000)

    def test_broken_files_come_out_the_same(self):
        with tempfile.TemporaryDirectory() as scratch:
            copy = pathlib.Path(scratch) / "corpus"
            shutil.copytree(CORPUS, copy)
            subprocess.run([copy / "make_broken.py"], check=True)
            same = filecmp.dircmp(CORPUS / "broken", copy / "broken")
            self.assertEqual((same.left_only, same.right_only, same.diff_files), ([], [], []))

    @unittest.skipUnless(importlib.util.find_spec("unicorn"), "no emulator: python3-unicorn is not installed")
    def test_the_dumps_for_arm64_come_out_the_same(self):
        with tempfile.TemporaryDirectory() as scratch:
            copy = pathlib.Path(scratch)
            for name in ("corpus", "tests/lib", "tests/e2e"):
                shutil.copytree(e2e.ROOT / name, copy / name)
            subprocess.run([copy / "corpus/make_arm64.py"], check=True)
            same = filecmp.dircmp(CORPUS / "arm64", copy / "corpus/arm64")
            self.assertEqual((same.left_only, same.right_only, same.diff_files), ([], [], []))

    @unittest.skipUnless(importlib.util.find_spec("unicorn"), "no emulator: python3-unicorn is not installed")
    def test_what_a_reporter_wrote_comes_out_the_same(self):
        with tempfile.TemporaryDirectory() as scratch:
            subprocess.run([CORPUS / "make_reporter.py", scratch], check=True)
            for name, count in (("dumps", 12), ("stacks", 12), ("symbols", 4)):
                kept, made = CORPUS / "reporter" / name, pathlib.Path(scratch) / name
                self.assertEqual(sorted(f.name for f in kept.iterdir()), sorted(f.name for f in made.iterdir()))
                self.assertEqual(len(list(kept.iterdir())), count)
                for file in kept.iterdir():
                    self.assertEqual(file.read_bytes(), (made / file.name).read_bytes(), file.name)

    def test_the_same_input_gives_the_same_bytes(self):
        first, again = (self.run_twinstack("dump", CASES[0] / "dump.dmp", "--symbols", CORPUS / "symbols", "--json").stdout
                        for _ in range(2))
        self.assertEqual(first, again)


e2e.main()
