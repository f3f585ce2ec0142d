"""The first block of CONTRIBUTING.md, word by word, in a clone of the sources: what a newcomer types in the first five minutes.
ccache has what this tree was compiled to; a header that the clone lacks is a compiler's error, as without it.

Only this finds that the light way in needs something that only a whole set-up makes."""

import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

LIMIT_S = 300  # what the page promises for a quiet machine: printed, and patiently waited for


class FirstChange(e2e.Case):
    def clone(self):
        if not shutil.which("git"):
            self.skipTest("git is not installed")
        place = self.folder / "twinstack"
        inside = subprocess.run(["git", "-C", e2e.ROOT, "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=False)
        if inside.returncode == 0 and pathlib.Path(inside.stdout.strip()) == e2e.ROOT:
            subprocess.run(["git", "clone", "-q", "--no-hardlinks", e2e.ROOT, place], check=True)
            return place
        left_out = shutil.ignore_patterns("build", "node_modules", "__pycache__")
        shutil.copytree(e2e.ROOT, place, ignore=left_out, symlinks=True)
        for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "-qm", "sources: as they are"]):
            subprocess.run(["git", "-C", place, *words], check=True)
        return place

    def test_the_first_block_is_true_word_by_word(self):
        text = (e2e.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        self.assertTrue(text.startswith("# Contributing\n\n## The first five minutes\n```sh\n"))
        block = text.split("```sh\n")[1].split("```")[0].splitlines()
        self.assertGreater(len(block), 5)
        place, failed, start = self.clone(), 0, time.monotonic()
        for line in block:
            done = subprocess.run(["bash", "-c", line], cwd=place, capture_output=True, text=True, check=False,
                                  stdin=subprocess.DEVNULL, timeout=LIMIT_S * e2e.PATIENCE)
            fails = "# fails" in line
            failed += fails
            self.assertEqual(done.returncode != 0, fails, f"{line}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
            if fails:
                self.assertIn("FAIL streams_of_every_block_size", done.stdout)
        self.assertEqual(failed, 1)
        print(f"     the first five minutes took {time.monotonic() - start:.0f} s here")
        self.assertTrue((place / "build/bin/twinstack").exists())
        self.assertFalse((place / "build/wine").exists() or (place / "build/victims").exists())


if __name__ == "__main__":
    e2e.main()
