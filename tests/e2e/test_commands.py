"""The command line as a whole: every verb has help, the exit codes are those of the README."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

# What the project promises to have; more is fine.
PROMISED = {"list", "run", "resolve", "dump", "symbols", "check", "report", "compare", "gate", "accept", "known",
            "baseline", "regrade", "db", "bench", "signatures", "serve", "doctor", "version", "case"}
STACK = "capture-stack.exe!0xc155a\ncapture-stack.exe!0x51723\nntdll.dll!0x67bbe\n"
CSV = e2e.ROOT / "corpus/botman/capture-stack.csv"


def verbs():
    text = e2e.twinstack("--help").stdout
    return re.findall(r"^  ([a-z]+) +\S", text, re.M)


class Commands(e2e.Case):
    def test_every_promised_verb_is_there(self):
        self.assertEqual(PROMISED - set(verbs()), set())

    def test_every_verb_has_help_with_examples_and_exit_codes(self):
        for verb in verbs():
            with self.subTest(verb=verb):
                done = self.run_twinstack(verb, "--help")
                self.assertTrue(done.stdout.startswith(f"usage: twinstack {verb} "), done.stdout[:200])
                self.assertIn("exit codes:", done.stdout)
                if verb not in ("version", "doctor"):
                    self.assertIn(f"twinstack {verb}", done.stdout.split("options:")[1])
                self.assertEqual(done.stderr, "")

    def test_an_unknown_option_of_every_verb_is_a_usage_error(self):
        for verb in verbs():
            with self.subTest(verb=verb):
                done = self.run_twinstack(verb, "--no-such-option", exit_code=2)
                self.assertIn("--no-such-option", done.stderr)
                self.assertEqual(done.stdout, "")

    def test_version_as_text_and_json(self):
        self.assertRegex(self.run_twinstack("version").stdout, r"\d+\.\d+\.\d+")
        self.assertRegex(self.run_json("version", "--json")["version"], r"^\d+\.\d+\.\d+$")


class ExitCodes(e2e.Case):
    def test_0_as_expected(self):
        self.run_twinstack("resolve", "--csv", CSV, stdin=STACK)

    def test_2_usage(self):
        for argv in ([], ["no-such-verb"], ["dump"], ["resolve", "--csv"], ["check"]):
            with self.subTest(argv=argv):
                self.run_twinstack(*argv, exit_code=2)

    def test_3_input(self):
        for argv in (["dump", "no-such.dmp"], ["check", "no-such-case"], ["resolve", "--csv", "no-such.csv"],
                     ["resolve", "no-such-stack.txt"]):
            with self.subTest(argv=argv):
                done = self.run_twinstack(*argv, stdin=STACK, exit_code=3)
                self.assertIn("no-such", done.stderr)

    def test_3_strict_with_unresolved_frames(self):
        self.run_twinstack("resolve", "--csv", CSV, "--strict", stdin=STACK, exit_code=3)

    def test_4_database(self):
        for argv in (["report"], ["compare", "1", "2"], ["gate"], ["signatures"], ["regrade", "1"]):
            with self.subTest(argv=argv):
                # a file that is no database
                self.run_twinstack(*argv, "--db", e2e.ROOT / "README.md", exit_code=4)


e2e.main()
