"""The corpus is what its README says: made by its scripts, small, free of system images, good without Wine."""

import filecmp
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

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
        words = re.search(r"^readonly chosen='(.*)'", (CORPUS / "make_cases.sh").read_text(encoding="utf-8"), re.M)[1]
        for case in CASES:
            self.assertIn(case.name.split(".")[0], words)

    def test_no_system_image_and_under_8_mb(self):
        names = [f.name for f in (CORPUS / "symbols").iterdir()]
        self.assertTrue(names)
        for name in names:
            self.assertRegex(name, r"^(victims|plugin)-")
        self.assertLess(sum(f.stat().st_size for f in CORPUS.rglob("*") if f.is_file()), 8_000_000)

    def test_broken_files_come_out_the_same(self):
        with tempfile.TemporaryDirectory() as scratch:
            copy = pathlib.Path(scratch) / "corpus"
            shutil.copytree(CORPUS, copy)
            subprocess.run([copy / "make_broken.py"], check=True)
            same = filecmp.dircmp(CORPUS / "broken", copy / "broken")
            self.assertEqual((same.left_only, same.right_only, same.diff_files), ([], [], []))

    def test_the_same_input_gives_the_same_bytes(self):
        first, again = (self.run_twinstack("dump", CASES[0] / "dump.dmp", "--symbols", CORPUS / "symbols", "--json").stdout
                        for _ in range(2))
        self.assertEqual(first, again)


e2e.main()
