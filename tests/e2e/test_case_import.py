"""`case import`: a dump, a stack and a truth of any origin become a sealed case that `check`
judges; `check --stacks` on the output of three tools; any two engines over a folder of dumps, with
times and peak memory."""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

CASE = e2e.ROOT / "corpus/cases/inline_chain.ob2"
SYMBOLS = e2e.ROOT / "corpus/symbols"
G05, G13 = "g05-minidump2-x86", "g13-sigsegv-x64"


class CaseImport(e2e.Case):
    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def made(self, *argv):
        """The case's folder and its case.json."""
        done = self.run_twinstack("case", "import", *argv, "--out", self.folder / "cases")
        folder = pathlib.Path(done.stdout.strip())
        self.assertTrue((folder / "seal").exists())
        return folder, json.loads((folder / "case.json").read_text())

    def stack_of(self, dump, *symbols):
        """The offset stack of a dump's crashed thread, as text."""
        threads = self.run_json("dump", dump, "--stacks", "--json", *symbols)["threads"]
        rows = [f for f in threads[0]["stack"]["frames"] if f["inline_depth"] == 0]
        return "".join(f"{f['module'] or '?'}!{f['offset']}\n" for f in rows)

    def roles(self, case):
        return sorted(f["role"] for f in case["files"])

    def test_a_dump_alone(self):
        dump = self.fixture(G13 + "/sigsegv.dmp")
        folder, case = self.made("--dump", dump)
        self.assertEqual(folder.name, "sigsegv.imported")
        self.assertEqual((case["arch"], case["kind"], self.roles(case)), ("x64", "crash", ["dump"]))
        self.assertEqual(case["got"]["code"], "0xc0000005")
        self.assertEqual((folder / "dump.dmp").read_bytes(), dump.read_bytes())
        judged = self.run_json("check", folder, "--symbols", dump.parent, "--json")["cases"][0]
        scores = {s["engine"]: s for s in judged["scores"]}
        self.assertEqual((judged["verdict"], scores["dump"]["state"]), ("PASS", "ok"), judged["reason"])
        self.assertEqual(scores["dump"]["frames"], 6)
        self.assertEqual([f for f in judged["findings"] if f["cause"] == "not_captured"], [])

    def test_what_was_imported_is_stored_and_judged_by_the_gate(self):
        dump = self.fixture(G13 + "/sigsegv.dmp")
        folder, _ = self.made("--dump", dump)
        db = self.folder / "app.db"
        for number in (1, 2):
            said = self.run_twinstack("check", folder, "--symbols", dump.parent, "--db", db).stderr
            self.assertIn(f"stored as run {number} in {db}", said)
        self.run_twinstack("baseline", "set", "1", "--db", db)
        said = self.run_twinstack("gate", "--against", "baseline", "--db", db).stdout
        self.assertRegex(said, r"^✓ run +run 2 of commit .*: 1 of 1 cases judged\n")
        self.assertIn("0 gone since run 1", said)
        self.assertIn("sigsegv", self.run_twinstack("report", "--db", db).stdout)
        self.run_twinstack("check", folder, "--db", self.folder / "none/app.db", exit_code=4)
        self.run_twinstack("check", "--stacks", "a", "b", "--db", db, exit_code=2)

    def test_a_stack_alone(self):
        text = self.file("app.txt", self.stack_of(CASE / "dump.dmp", "--symbols", SYMBOLS))
        folder, case = self.made("--stack", text)
        self.assertEqual(self.roles(case), ["record"])
        judged = self.run_json("check", folder, "--symbols", SYMBOLS, "--json")["cases"][0]
        states = {s["engine"]: s["state"] for s in judged["scores"] if s["subject"]}
        self.assertEqual((judged["verdict"], states["offset:rtl"]), ("PASS", "ok"), judged["reason"])

    def test_own_images_of_a_stack_alone(self):
        """Without a dump they are found among the modules of the stack, in text and in a record."""
        text = self.file("app.txt", "app.exe!0x10\nplugin.dll!0x20\nother.dll!0x30\n")
        folder, case = self.made("--stack", text, "--own", "APP.exe", "--own", "plug*")
        self.assertEqual(case["own"]["images"], ["app.exe", "plugin.dll"])
        _, again = self.made("--stack", folder / "record.rec", "--own", "plug*", "--name", "again")
        self.assertEqual(again["own"]["images"], ["plugin.dll"])

    def test_a_code_id_alone_is_kept(self):
        """Its second half is the size of the image, which a stack in text states nowhere else."""
        image = e2e.ROOT / "corpus/managed/shapes.dll"
        code_id = self.run_json("symbols", "list", "--json", image)["files"][0]["code_id"]
        text = self.file("app.txt", f"# module shapes.dll {code_id} -\nshapes.dll!0x06000009+0x14\n")
        folder, _ = self.made("--stack", text)
        frame = json.loads(self.run_twinstack("resolve", "--ndjson", "--symbols", image, folder / "record.rec").stdout)["frames"][0]
        self.assertEqual((frame["function"], frame["identity"]), ("Shapes::Throws", "checked"))

    def test_a_dump_with_its_stack_and_truth(self):
        text = self.file("app.txt", self.stack_of(CASE / "dump.dmp", "--symbols", SYMBOLS))
        folder, case = self.made("--dump", CASE / "dump.dmp", "--stack", text, "--truth", CASE / "truth.json",
                                 "--own", "victims-*", "--name", "chain")
        self.assertEqual(folder.name, "chain.imported")
        self.assertEqual(self.roles(case), ["dump", "record", "truth"])
        self.assertEqual(case["own"]["images"], ["victims-ob2.exe"])
        done = self.run_twinstack("check", folder, "--symbols", SYMBOLS, "--json", exit_code=None)
        scores = {s["engine"]: s for s in json.loads(done.stdout)["cases"][0]["scores"]}
        for engine in ("offset:rtl", "dump"):
            self.assertEqual((scores[engine]["right_frames"], scores[engine]["truth_frames"]), (6, 6), scores[engine])

    def test_a_wrong_stack_is_found_out(self):
        rows = self.stack_of(CASE / "dump.dmp", "--symbols", SYMBOLS).splitlines()
        rows[0] = rows[0][:-1] + ("0" if rows[0][-1] != "0" else "8")
        del rows[1]
        folder, _ = self.made("--dump", CASE / "dump.dmp", "--stack", self.file("app.txt", "\n".join(rows) + "\n"),
                              "--truth", CASE / "truth.json", "--own", "victims-*")
        done = self.run_twinstack("check", folder, "--symbols", SYMBOLS, "--json", exit_code=1)
        scores = {s["engine"]: s for s in json.loads(done.stdout)["cases"][0]["scores"]}
        self.assertLess(scores["offset:rtl"]["right_frames"], 6)
        self.assertEqual(scores["dump"]["right_frames"], 6)

    def test_own_names_images_by_glob(self):
        dump = self.fixture(G05 + "/minidump2.dmp")
        rows = {("test_app.exe",): ["test_app.exe"], ("TEST_*",): ["test_app.exe"],
                ("dbg*.dll", "version.dll"): ["dbghelp.dll", "version.dll"], ("none.dll",): [], (): []}
        for number, (globs, images) in enumerate(rows.items()):
            with self.subTest(globs):
                own = [word for glob in globs for word in ("--own", glob)]
                _, case = self.made("--dump", dump, "--name", f"own{number}", *own)
                self.assertEqual(sorted(case["own"]["images"]), images)

    def test_stacks_of_other_tools(self):
        dump = self.fixture(G05 + "/minidump2.dmp")
        ours = self.file("ours.json", self.run_twinstack("dump", dump, "--format", "stackwalk-json").stdout)
        for number, stack in enumerate((ours, self.fixture(G05 + "/minidump2.stackwalk.machine_readable.out"))):
            with self.subTest(stack.name):
                _, case = self.made("--dump", dump, "--stack", stack, "--name", f"other{number}")
                self.assertEqual(self.roles(case), ["dump", "record"])

    def test_errors(self):
        dump = CASE / "dump.dmp"
        out = ("--out", self.folder / "cases")
        self.run_twinstack("case", "import", *out, exit_code=2)
        self.run_twinstack("case", "export", "--dump", dump, *out, exit_code=2)
        rows = {"none.dmp": None, "empty.txt": "", "words.txt": "no stack in here\n", "cut.json": '{"frames": ['}
        for name, text in rows.items():
            with self.subTest(name):
                path = self.folder / name if text is None else self.file(name, text)
                flag = "--dump" if text is None else "--stack"
                done = self.run_twinstack("case", "import", flag, path, *out, exit_code=3)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(name, done.stderr)

    def test_check_stacks_of_three_tools(self):
        dump = self.fixture(G05 + "/minidump2.dmp")
        published = self.fixture(G05 + "/test_minidump_stackwalk__json-pretty.snap").read_text().split("---\n", 2)[2]
        forms = {
            "offsets": self.file("offsets.txt", self.stack_of(dump)),
            "ours": self.file("ours.json", json.dumps(
                self.run_json("dump", dump, "--stacks", "--json")["threads"][0]["stack"])),
            "resolve": self.file("resolve.json", self.run_twinstack(
                "resolve", "--json", self.folder / "offsets.txt").stdout),
            "resolve, a line": self.file("resolve.ndjson", self.run_twinstack(
                "resolve", "--ndjson", self.folder / "offsets.txt").stdout),
            "our stackwalk": self.file("walk.json", self.run_twinstack(
                "dump", dump, "--format", "stackwalk-json").stdout),
        }
        for a in forms:
            for b in forms:
                with self.subTest(f"{a} and {b}"):
                    self.run_twinstack("check", "--stacks", forms[a], forms[b])
        rust = self.file("rust.json", published)
        self.run_twinstack("check", "--stacks", rust, rust)
        breakpad = self.fixture(G05 + "/minidump2.stackwalk.machine_readable.out")
        self.run_twinstack("check", "--stacks", breakpad, breakpad)
        symbols = self.fixture(G05 + "/test_minidump_stackwalk__json-pretty-symbols.snap").read_text()
        named = self.file("named.json", symbols.split("---\n", 2)[2])
        done = self.run_twinstack("check", "--stacks", named, breakpad, exit_code=None)
        self.assertIn(done.returncode, (0, 1), done.stderr)

    def test_two_engines_over_a_folder_of_dumps(self):
        """An outside program against ours, each with its times and peak memory."""
        dumps = [self.fixture(G13 + "/sigsegv.dmp"), self.fixture("g15-dumps/tiny-exe-fastfail.dmp"), CASE / "dump.dmp"]
        folders = [self.made("--dump", dump, "--name", f"d{i}")[0] for i, dump in enumerate(dumps)]
        other = f"other={e2e.PROGRAM} dump {{dump}} --format stackwalk-json --symbols {{folder}}"
        done = self.run_twinstack("check", *folders, "--symbols", SYMBOLS, "--json", exit_code=None,
                                  env={**os.environ, "TWINSTACK_ADAPTER": other})
        cases = json.loads(done.stdout)["cases"]
        self.assertEqual(len(cases), len(dumps))
        for case in cases:
            engines = {s["engine"]: s for s in case["engines"]}
            self.assertEqual([f for f in case["findings"] if f["cause"] == "not_captured"], [])
            for name in ("dump", "judge:other"):
                cost = engines[name]["cost"]
                self.assertGreater(cost["total_ns"], 0, name)
                self.assertGreater(cost["peak_bytes"], 1 << (20 if name == "judge:other" else 12), name)


e2e.main()
