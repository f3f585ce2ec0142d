"""The progress that a run prints: in a log, on a terminal, or none."""

import os
import pathlib
import pty
import re
import subprocess
import sys
import termios
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

# A replacement for Wine: lists eight scenarios, one of which is not supported here; each of the others
# takes 0.4 s and then fails to start.
WINE = f"""#!{sys.executable}
import json, sys, time
if "--list" in sys.argv:
    for i in range(8):
        print(json.dumps(dict(name=f"case{{i}}", kind="crash", group="A1", limit_ms=1, doors=[],
                              **(dict(supported=False, reason="not here") if i == 3 else dict(supported=True)))))
elif "--out" in sys.argv:
    time.sleep(0.4)
    print("it does not start", file=sys.stderr)
    sys.exit(3)
"""
COUNTED = re.compile(r"twinstack: judged (\d+)/8 \((\d+) %\), captured (\d+)(?:, (\d+) failing)?(?:, \d+ (?:s|min) left)?  case\d\.ob2")


@unittest.skipIf(os.name == "nt", "no Wine prefix there")
class Progress(e2e.Case):
    def lines(self, *words, stderr=subprocess.PIPE):
        made, env = self.made_wine(WINE)
        argv = [e2e.PROGRAM, "run", "-j", "1", *made, "--db", self.folder / "t.db", *words]
        done = subprocess.run(list(map(str, argv)), env={**os.environ, **env}, cwd=self.folder, stdout=subprocess.PIPE, stderr=stderr,
                              text=True, timeout=60 * e2e.PATIENCE, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        return (done.stderr or "").splitlines()

    def test_a_log_gets_lines_and_each_failing_case_at_once(self):
        for words in ([], ["--progress", "plain"]):
            lines = self.lines(*words)
            failing = [line for line in lines if line.startswith("twinstack: ERROR ")]
            self.assertEqual(sorted(line.split()[2] for line in failing), [f"case{i}.ob2:" for i in range(8) if i != 3])
            self.assertTrue(all("it does not start" in line for line in failing), failing)
            counted = [COUNTED.fullmatch(line) for line in lines if " judged " in line]
            self.assertTrue(all(counted) and (counted or not words), lines)  # by default, none in the first 5 s
            self.assertLessEqual(len(counted), 8)
            done = [int(m[1]) for m in counted]
            self.assertEqual(done, sorted(done))
            for m in counted:
                self.assertEqual(int(m[2]), int(m[1]) * 100 // 8)
                self.assertGreaterEqual(int(m[3]), int(m[1]))
            self.assertLess(lines.index(failing[0]), lines.index(failing[-1]))
            self.assertFalse(any("\r" in line or "\x1b" in line for line in lines))

    def test_none_is_silent(self):
        lines = self.lines("--progress", "none")
        self.assertEqual([line for line in lines if not line.startswith("twinstack: warning: ")], [])

    def on_terminal(self, *words, columns):
        """What a terminal of so many columns gets."""
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, columns))
        self.lines(*words, stderr=theirs)
        os.close(theirs)
        text = b""
        try:
            while block := os.read(ours, 65536):
                text += block
        except OSError:  # the other side is closed
            pass
        os.close(ours)
        return text

    def test_a_narrow_terminal_gets_what_fits_on_one_line(self):
        text = self.on_terminal("-k", "case1 or case2", columns=40)
        shown = [part.split(b"\r")[0] for part in text.split(b"\r\x1b[K") if part.startswith(b"judged ")]
        self.assertIn(b"judged 2/2 (100 %), captured 2, 2 faili", shown)
        self.assertLess(max(map(len, shown)), 40, shown)

    def test_a_terminal_gets_one_line_that_is_rewritten(self):
        for words, rewritten in (([], True), (["--progress", "plain"], False)):
            text = self.on_terminal(*words, columns=100)
            self.assertEqual(b"\r\x1b[Kjudged 8/8 (100 %), captured 8, 7 failing" in text, rewritten, text)
            self.assertEqual(b"twinstack: judged " in text, not rewritten, text)

    def test_another_word_is_an_error_of_usage(self):
        for verb in ("run", "bench", "check", "regrade", "symbols"):
            done = self.run_twinstack(verb, "--progress", "much", exit_code=2)
            self.assertIn("none|plain|bar", done.stderr)


e2e.main()
