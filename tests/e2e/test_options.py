"""The options of all verbs, from the program's own table (`twinstack help --json`): one name means one thing everywhere, and output
goes where -o says."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

SEED_STORE = e2e.BUILD / "tests/seed_store"
CSV = e2e.ROOT / "corpus/botman/capture-stack.csv"
PDB = e2e.ROOT / "corpus/crash-x86/crash.pdb"
SUITE = e2e.ROOT / "corpus/reference"
STACK = "capture-stack.exe!0xc155a\nntdll.dll!0x67bbe\n"
# A choice of words, which are the verb's own: text|json.
WORDS = re.compile(r"[a-z0-9-]+(\|[a-z0-9-]+)+")

VERBS = json.loads(e2e.twinstack("help", "--json").stdout)["verbs"]


def options():
    return [(verb["name"], option) for verb in VERBS for option in verb["options"]]


def misspelt(name):
    """NAME with one letter too many, one too few, and two letters exchanged."""
    return {"one more": name[:4] + name[3:], "one less": name[:3] + name[4:], "exchanged": name[:3] + name[4:5] + name[3] + name[5:]}


def near(a, b):
    """True when one letter more, less or other, or two exchanged, make A from B."""
    if len(a) == len(b):
        other = [i for i, (x, y) in enumerate(zip(a, b)) if x != y]
        return len(other) == 1 or (len(other) == 2 and other[1] == other[0] + 1 and a[other[0]] == b[other[1]] and a[other[1]] == b[other[0]])
    short, long = sorted((a, b), key=len)
    return len(long) == len(short) + 1 and any(long[:i] + long[i + 1:] == short for i in range(len(long)))


class Table(e2e.Case):
    def test_it_has_every_verb(self):
        listed = re.findall(r"^  ([a-z]+) +\S", self.run_twinstack("--help").stdout, re.M)
        self.assertEqual([verb["name"] for verb in VERBS], listed)
        self.assertGreater(len(options()), 200)

    def test_one_name_means_one_thing(self):
        first = {}
        for verb, option in options():
            name = option["name"]
            argument = "words" if WORDS.fullmatch(option["argument"] or "") else option["argument"]
            facts = {"value": option["value"], "argument": argument, "help": option["help"]}
            other, known = first.setdefault(name, (verb, facts))
            with self.subTest(option=name, verbs=(other, verb)):
                self.assertEqual(facts, known)

    def test_what_two_verbs_have_is_in_the_common_table(self):
        users = {}
        for verb, option in options():
            users.setdefault(option["name"], []).append((verb, option["common"]))
        for name, rows in users.items():
            with self.subTest(option=name, verbs=[verb for verb, _ in rows]):
                self.assertTrue(len(rows) == 1 or all(common for _, common in rows))

    def test_no_verb_writes_the_row_of_a_common_option(self):
        common = {option["name"] for _, option in options() if option["common"]}
        for file in (e2e.ROOT / "analyze/verbs").glob("*.c"):
            for name, kind in re.findall(r'\{\s*"(--?[a-z0-9-]+)",\s*(OPTION_\w+)', file.read_text(encoding="utf-8")):
                with self.subTest(file=file.name, option=name):
                    self.assertTrue(name not in common or kind == "OPTION_OLD")

    def test_every_form_of_help_shows_it(self):
        shells = {shell: self.run_twinstack("completion", shell).stdout for shell in ("bash", "zsh", "fish")}
        for verb in VERBS:
            text = self.run_twinstack(verb["name"], "--help").stdout
            page = self.run_twinstack("help", "--man", verb["name"]).stdout.replace("\\-", "-")
            own = {"bash": re.search(rf"(?s)\n  {verb['name']}\)\n.*?esac ;;", shells["bash"])[0],
                   "zsh": re.search(rf"(?s)\n  {verb['name']}\)\n.*? ;;", shells["zsh"])[0].replace("'\\''", "'"),
                   "fish": "\n".join(re.findall(rf"(?m)^.*__fish_seen_subcommand_from {verb['name']}'.*$", shells["fish"]))}
            for option in verb["options"]:
                name, dashless = option["name"], option["name"].lstrip("-")
                with self.subTest(verb=verb["name"], option=name):
                    for help_text in filter(None, (option["help"], option["note"])):
                        self.assertIn(help_text, text)
                        self.assertIn(help_text.replace("\\", "\\e"), page)
                    self.assertRegex(own["bash"], rf"options='[^']* {name}[ ']")
                    self.assertRegex(own["zsh"], rf"'\*?{name}\[")
                    self.assertRegex(own["fish"], rf" -[ls] {dashless} ")
                    self.assertEqual("repeated" in re.search(rf"(?m)^  {name} .*$", text)[0], option["repeated"])


class DidYouMean(e2e.Case):
    def test_an_option_with_one_wrong_letter(self):
        for verb in VERBS:
            names = [option["name"] for option in verb["options"]] + ["--help"]
            for name in filter(lambda name: name.startswith("--"), names):
                for how, word in misspelt(name).items():
                    if word in names or word == name:
                        continue
                    with self.subTest(verb=verb["name"], option=name, word=word, how=how):
                        done = self.run_twinstack(verb["name"], word, exit_code=2)
                        said = re.search(r"did you mean (--[a-z0-9-]+)\?", done.stderr)
                        self.assertIsNotNone(said, done.stderr)
                        self.assertTrue(said[1] == name or near(said[1], word), done.stderr)
                        self.assertEqual(done.stdout, "")

    def test_a_verb_a_subcommand_or_a_shell_with_one_wrong_letter(self):
        rows = [([], verb["name"]) for verb in VERBS] + [(["help"], verb["name"]) for verb in VERBS]
        rows += [([verb["name"]], sub["name"]) for verb in VERBS for sub in verb["subcommands"]]
        rows += [(["completion"], shell) for shell in ("bash", "zsh", "fish")]
        for before, name in rows:
            if len(name) < 3:  # the first letters of a short word are too few to choose one
                continue
            with self.subTest(before=before, name=name):
                self.assertIn(f"did you mean {name}?", self.run_twinstack(*before, name[:2] + name[1:], exit_code=2).stderr)


class Output(e2e.Case):
    @classmethod
    def setUpClass(cls):
        if not SEED_STORE.exists():
            raise unittest.SkipTest("seed_store is not built")
        cls.runs = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory())) / "runs.db"
        subprocess.run([SEED_STORE, cls.runs, "1", "4", "0"], check=True, capture_output=True)

    def test_a_file_gets_what_would_be_printed(self):
        rows = {
            "text": ["version"], "JSON": ["version", "--json"], "help": ["help"], "help of a verb": ["report", "--help"],
            "a script": ["completion", "bash"], "a stream": ["resolve", "--csv", CSV, "--ndjson"],
            "a report": ["report", "--db", self.runs, "--exit-zero"], "JSON of a run": ["report", "--db", self.runs, "--json", "--exit-zero"],
            "a format of report": ["report", "--db", self.runs, "--md", "-", "--exit-zero"],
            "CSV": ["symbols", "export", "--inlines", PDB],
            "a page of results": ["score", "--html", "-", "--suite", SUITE, "-k", "push/rbx", SUITE / "results/gdb-13.json"],
        }
        for name, words in rows.items():
            with self.subTest(name):
                printed = self.run_twinstack(*words, stdin=STACK)
                file = self.folder / "out"
                done = self.run_twinstack(words[0], "-o", file, *words[1:], stdin=STACK)
                self.assertEqual(done.stdout, "")
                self.assertEqual(file.read_text(encoding="utf-8"), printed.stdout)
                self.assertEqual(self.run_twinstack(words[0], "-o", "-", *words[1:], stdin=STACK).stdout, printed.stdout)
                self.assertEqual(self.run_twinstack(words[0], "-o", "/dev/stdout", *words[1:], stdin=STACK).stdout, printed.stdout)

    def test_a_file_is_whole_or_as_it_was(self):
        file = self.folder / "out"
        file.write_text("before")
        self.run_twinstack("resolve", "-o", file, "no-such-stack.txt", exit_code=3)
        self.assertEqual(file.read_text(), "before")
        stacks = [self.folder / name for name in ("a.txt", "b.txt")]
        stacks[0].write_text("a.exe!0x1000\n")
        stacks[1].write_text("a.exe!0x2000\n")
        self.run_twinstack("check", "--json", "-o", file, "--stacks", *stacks, exit_code=1)
        self.assertIn("schema_version", json.loads(file.read_text()))
        self.assertEqual([f.name for f in self.folder.iterdir() if f.name not in ("a.txt", "b.txt")], ["out"])

    def test_a_place_for_no_file_is_refused_before_the_work(self):
        for name, place in (("no folder", "no/such/folder/out"), ("a folder", self.folder), ("nothing", "")):
            with self.subTest(name):
                done = self.run_twinstack("run", "-o", place, exit_code=2)
                self.assertIn("-o cannot take", done.stderr)

    def test_a_file_that_cannot_be_written_is_no_success(self):
        self.assertIn("/dev/full", self.run_twinstack("version", "-o", "/dev/full", exit_code=3).stderr)

    def test_json_of_report_takes_no_value_and_takes_its_old_one(self):
        report = ["report", "--db", self.runs, "--exit-zero"]
        plain = self.run_twinstack(*report, "--json")
        self.assertEqual(plain.stderr, "")
        self.assertEqual(json.loads(plain.stdout)["schema_version"], 1)
        self.assertEqual(self.run_twinstack(*report, "--json", "latest").stdout, plain.stdout)
        for name, words, file in (("-", ["--json", "-"], None), ("--json FILE", ["--json", self.folder / "a"], "a"),
                                  ("--json=FILE", [f"--json={self.folder}/b"], "b"), ("with a run", ["--json", self.folder / "c", "latest"], "c")):
            with self.subTest(name):
                done = self.run_twinstack(*report, *words)
                self.assertIn("old form of --json -o FILE", done.stderr)
                self.assertEqual((self.folder / file).read_text() if file else done.stdout, plain.stdout)
                self.assertEqual(done.stdout, "" if file else plain.stdout)
        self.assertIn("old form", self.run_twinstack(*report, "--json", "out.json", folder=self.folder).stderr)
        self.assertEqual((self.folder / "out.json").read_text(), plain.stdout)

    def test_old_forms_are_accepted_with_a_note_and_no_help_shows_them(self):
        cache = self.folder / "cache"
        cache.mkdir()
        rows = (("--keep", "--keep-mib N", ["cache", "clear", "--cache", cache, "--keep", "500"]),
                ("--csv", "--format csv", ["symbols", "export", "--csv", PDB]))
        for name, instead, words in rows:
            with self.subTest(name):
                done = self.run_twinstack(*words)
                self.assertIn(f"{name} is an old form of {instead}", done.stderr)
                self.assertNotRegex(self.run_twinstack(words[0], "--help").stdout, rf"(?m)^  {name} ")
        self.run_twinstack("cache", "clear", "--cache", cache, "--keep", "x", exit_code=2)


if __name__ == "__main__":
    e2e.main()
