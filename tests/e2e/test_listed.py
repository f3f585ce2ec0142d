"""`list` and `doctor` whole, without Wine: the victims are a script that prints scenarios, so that every line can be worked out by hand."""

import json
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

# Each victim program prints the lines that are kept beside this script for its variant.
WINE = f"""#!{sys.executable} -IS
import os, sys
if "--version" in sys.argv:
    print("wine-9.0")
elif "--list" in sys.argv:
    name = next(w for w in sys.argv if "victims-" in w)
    name = name.replace(chr(92), "/").split("/")[-1].removeprefix("victims-").removesuffix(".exe")
    sys.stdout.write(open(os.path.dirname(sys.argv[0]) + "/" + name + ".ndjson").read())
"""


def row(name, kind, group, about, **more):
    return {"name": name, "kind": kind, "group": group, "sentence": about, "doors": [], **more}


ALPHA = row("alpha", "crash", "A1", "a store through null", code="0xc0000005", exit_code="0xc0000005", doors=["vectored", "unhandled"])
ROWS = {
    "ob0": [ALPHA,
            row("beta", "hang", "A5", "a thread that sleeps", supported=False, reason="no time"),
            row("gamma", "crash", "A2", "a fast exit", supported=False)],
    "ob2": [ALPHA,
            row("beta", "hang", "A5", "a thread that sleeps", supported=False, reason="no time"),
            row("gamma", "crash", "A2", "a fast exit", exit_code="0x7"),
            row("omega", "calm", None, None)],
}
TEXTS = {
    "alpha": "alpha                      crash  A1    ob0,ob2\n    a store through null\n",
    "beta": "beta                       hang   A5    ob0,ob2\n    a thread that sleeps\n    UNSUPPORTED here: no time\n",
    "gamma": "gamma                      crash  A2    ob0,ob2\n    a fast exit\n    UNSUPPORTED here, ob0: this host cannot show it\n",
    "omega": "omega                      calm         ob2\n    \n",
}


class Listed(e2e.Case):
    def setUp(self):
        words, self.env = self.made_wine(WINE)
        self.words = [*words, "--launcher", self.folder / "bin/wine"]
        (self.folder / "victims/victims-ob0.exe").write_text("")
        real, = (e2e.ROOT / "corpus/symbols/victims-ob2.exe").glob("*/victims-ob2.exe")  # which names a PDB
        shutil.copy(real, self.folder / "victims")
        (self.folder / "bin/sh").symlink_to("/bin/sh")
        for variant, rows in ROWS.items():
            (self.folder / f"bin/{variant}.ndjson").write_text("".join(json.dumps(r) + "\n" for r in rows))
        self.env |= {"PATH": str(self.folder / "bin"), "TWINSTACK_CACHE": str(self.folder / "cache")}
        self.env |= {name: "" for name in ("TWINSTACK_ADAPTER", "TWINSTACK_DEBUGGER") if name in os.environ}

    def ask(self, *argv, exit_code=0):
        done = self.run_twinstack(*argv, *self.words, env=self.env, folder=self.folder, exit_code=exit_code)
        return done.stdout.replace(str(self.folder), "FOLDER"), done.stderr.replace(str(self.folder), "FOLDER")

    def test_each_scenario_is_listed_with_its_variants(self):
        for words, names in (((), "alpha beta gamma omega"),
                             (("-k", "crash"), "alpha gamma"),
                             (("-k", "crash and not alpha"), "gamma"),
                             (("--tag", "hang"), "beta"),
                             (("--tag", "A1,A2"), "alpha gamma"),
                             (("--tag", "calm,A5"), "beta omega"),
                             (("--tag", "A1,"), "alpha"),
                             (("--tag", "A"), ""),
                             (("-k", "crash", "--tag", "A2,A5"), "gamma"),
                             (("-k", "nothing"), "")):
            with self.subTest(words=words):
                out, said = self.ask("list", *words, exit_code=0 if names else 5)
                self.assertEqual(out, "".join(TEXTS[name] for name in names.split()))
                self.assertEqual(said.strip(), "" if names else "twinstack: error: nothing matches")

    def test_a_variant_alone_has_its_own_reason(self):
        self.assertEqual(self.ask("list", "-k", "gamma and ob0")[0], "gamma                      crash  A2    ob0\n    a fast exit\n"
                         "    UNSUPPORTED here: this host cannot show it\n")
        self.assertEqual(self.ask("list", "-k", "gamma and ob2")[0], "gamma                      crash  A2    ob2\n    a fast exit\n")

    def test_the_list_as_json(self):
        out, _ = self.ask("list", "--json", "-k", "alpha and ob0 or gamma or omega")
        hooks = {"doors": ["vectored", "unhandled"]}
        common = {"about": "a fast exit", "code": "0x00000000", "doors": [], "group": "A2", "kind": "crash", "name": "gamma"}
        self.assertEqual(json.loads(out), {"schema_version": 1, "scenarios": [
            {"name": "alpha", "variant": "ob0", "kind": "crash", "group": "A1", "about": "a store through null", "code": "0xc0000005",
             "exit_code": "0xc0000005", **hooks, "supported": True, "reason": None},
            {**common, "variant": "ob0", "exit_code": "0x00000000", "supported": False, "reason": "this host cannot show it"},
            {**common, "variant": "ob2", "exit_code": "0x00000007", "supported": True, "reason": None},
            {"name": "omega", "variant": "ob2", "kind": "calm", "group": None, "about": None, "code": "0x00000000", "exit_code": "0x00000000",
             "doors": [], "supported": True, "reason": None}]})

    def test_what_cannot_be_listed(self):
        self.assertEqual(self.ask("list", "word", exit_code=2)[1], "twinstack: error: 'word' is too many; see `twinstack list --help`\n")
        self.assertIn("-k", self.ask("list", "-k", "(", exit_code=2)[1])
        for damaged, said in (('{"name": "a"}\n', "it has no name or no kind"), ("{\n", "FOLDER/victims/victims-ob2.exe")):
            shutil.rmtree(self.folder / "prefix/twinstack-lists", ignore_errors=True)  # the list that is kept
            (self.folder / "bin/ob2.ndjson").write_text(damaged)
            self.assertIn(said, self.ask("list", exit_code=3)[1])

    def test_the_doctor_finds_what_is_there_and_what_is_not(self):
        (self.folder / "victims/toolchain.json").write_text(json.dumps(
            {"variants": {"ob0": "-O0", "ob2": "-O2", "ob9": "-O9", "x86-ob2": "-O2"}, "plugins": {"ob2": ["a.dll", "b.dll"], "ob9": ["c.dll"]}}))
        (self.folder / "victims/b.dll").write_text("")
        db = self.folder / "runs.db"
        rows = [
            ("none", "debugger", "no files of Microsoft's debugger: --debugger or TWINSTACK_DEBUGGER names their folder, `./run debugger` restores them"),
            ("ok", "host", "HOST"), ("ok", "launcher", "wine-9.0"),
            ("ok", "victims", "11 scenarios in all variants, 7 unsupported here"),  # those of ob2 once more, for x86
            ("missing", "victims' DLLs", "a.dll: `./run setup`"),
            ("missing", "victims' PDBs", "victims-ob2.pdb is missing: `./run setup`"),
            ("missing", "victims' builds", "ob9: `./run setup`"),
            ("none", "x86 programs", "the victims of x86 do not run here, for want of 32-bit Wine: see `./run --help`"),
            ("none", "database", "FOLDER/runs.db is made by the first run")]
        out, _ = self.ask("doctor", "--db", db, "--json", exit_code=3)
        found = [(c["state"], c["what"], "HOST" if c["what"] == "host" else c["detail"]) for c in json.loads(out)["checks"]]
        self.assertEqual([c for c in found if not c[1].startswith("judge:")], rows)
        judges = {what: (state, detail) for state, what, detail in found if what.startswith("judge:")}
        self.assertEqual(judges["judge:llvm-symbolizer"], ("none", "llvm-symbolizer-19 is not installed"))
        self.assertEqual(judges["judge:lldb"], ("none", "lldb-19 is not installed"))
        self.assertEqual(judges["judge:adapter"], ("none", "TWINSTACK_ADAPTER names no program"))
        other, = (e2e.ROOT / "corpus/symbols/plugin-call-ob2.pdb").glob("*/*.pdb")
        shutil.copy(other, self.folder / "victims/victims-ob2.pdb")
        text, _ = self.ask("doctor", "--db", db, exit_code=3)
        self.assertIn("MISSING  victims' PDBs            victims-ob2.pdb is of another build: `./run setup`\n", text)
        self.assertIn("MISSING  victims' DLLs            a.dll: `./run setup`\n", text)
        self.assertIn("none     database                 FOLDER/runs.db is made by the first run\n", text)
        self.assertIn("ok       victims                  11 scenarios in all variants, 7 unsupported here\n", text)

    def test_the_doctor_is_content_with_all_that_a_run_needs(self):
        pdb, = (e2e.ROOT / "corpus/symbols/victims-ob2.pdb").glob("*/*.pdb")
        shutil.copy(pdb, self.folder / "victims")
        (self.folder / "debugger/x64").mkdir(parents=True)  # an image of x64 without a version
        shutil.copy(self.folder / "victims/victims-ob2.exe", self.folder / "debugger/x64/dbghelp.dll")
        db = self.folder / "runs.db"
        self.run_twinstack("run", *self.words, "--db", db, "-k", "beta", "--no-judges", env=self.env, folder=self.folder)
        out, _ = self.ask("doctor", "--db", db, "--json", "--debugger", self.folder / "debugger")
        found = {c["what"]: (c["state"], c["detail"]) for c in json.loads(out)["checks"]}
        self.assertEqual(found["database"], ("ok", "FOLDER/runs.db"))
        self.assertEqual(found["debugger"], ("ok", "x64: dbghelp.dll of no version, dbgcore.dll is missing, msdia140.dll is missing, "
                                                   "dbgeng.dll is missing, dbgmodel.dll is missing"))
        self.assertEqual(found["victims"], ("ok", "7 scenarios in all variants, 3 unsupported here"))
        self.assertEqual(found["x86 programs"], ("none", "no victims-x86-*.exe: `./run setup` builds them where 32-bit Wine runs"))
        self.assertFalse({"victims' DLLs", "victims' PDBs", "victims' builds"} & set(found))
        self.assertNotIn("missing", {state for state, _ in found.values()})

    def test_the_doctor_names_what_is_damaged(self):
        db, empty = self.folder / "runs.db", self.folder / "empty"
        db.write_text("no database")
        empty.mkdir()
        (self.folder / "bin/ob2.ndjson").write_text("{\n")
        out, _ = self.ask("doctor", "--db", db, "--debugger", empty, "--json", exit_code=3)
        found = {c["what"]: (c["state"], c["detail"]) for c in json.loads(out)["checks"]}
        self.assertEqual({what for what, (state, _) in found.items() if state == "missing"}, {"debugger", "victims", "database"})
        self.assertIn("it has no dbghelp.dll, neither itself nor in x64, amd64, x86 or arm64", found["debugger"][1])
        self.assertIn("FOLDER/runs.db", found["database"][1])
        self.assertEqual(self.ask("doctor", "word", exit_code=2)[1], "twinstack: error: 'word' is too many; see `twinstack doctor --help`\n")


e2e.main()
