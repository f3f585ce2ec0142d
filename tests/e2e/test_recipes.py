"""The recipes of CONTRIBUTING.md, applied to a copy of the sources, built and run; has a
Wine prefix to itself.

A recipe is a folder of new files (tests/recipes/NAME), and the lines below that add them to the
project. All recipes are applied to one copy, which is built once, without optimisation, and run. When a test here fails after a change
elsewhere, the recipe in CONTRIBUTING.md is probably wrong as well: change both.

Only this finds that a new kind needs a file that the guide does not name."""

import contextlib
import os
import pathlib
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import dump_maker  # noqa: E402
import e2e  # noqa: E402

RECIPES = e2e.ROOT / "tests/recipes"
CASE = e2e.ROOT / "corpus/cases/null_write.ob2"
PREFIX = pathlib.Path(os.environ.get("WINEPREFIX", e2e.BUILD / "wine"))
COPIED = ["LICENSE", "analyze", "capture", "cmake", "dashboard", "victims", "tests", "CMakeLists.txt"]
LEFT_OUT = {"node_modules", "__pycache__", "golden", "lua"}
STREAM = 0x54570099

# What openapi.json says of the view of the recipe "page".
RECIPE_SCHEMA = {"get": {"summary": "an example", "responses": {"200": {"description": "the answer", "content": {"application/json": {
    "schema": {"type": "object", "properties": {
        "data": {"type": "object", "properties": {"hello": {"type": "string"}}, "required": ["hello"]},
        "meta": {"$ref": "#/components/schemas/Meta"}}, "required": ["data", "meta"]}}}}}}}

# NAME -> [(file, existing line, line to insert after it)]
EDITS = {
    "scenario": [],
    "walker": [
        ("capture/record.h", 'WALKER(FRAME_POINTER, 5, "framepointer", cap_crash_walk_framepointer, 0, \\ '
         '"symbol lookup with the dump engine; nothing of the walk")',
         ' \\\n    WALKER(INNERMOST, 9, "innermost", cap_crash_walk_innermost, 0, '
         '"symbol lookup with the dump engine; nothing of the walk")'),
    ],
    "judge": [
        ("analyze/engine/judges.h", "ROW(lldb)", " ROW(recipe)"),
    ],
    "notation": [
        ("analyze/stacks/notation.h", "ROW(event)", " ROW(recipe)"),
    ],
    "source": [
        ("analyze/symbol/source.h", "ROW(breakpad) \\", "\n    ROW(recipe) \\"),
    ],
    "stream": [
        ("analyze/format/CMakeLists.txt", "minidump/streams.c", " minidump/recipe.c"),
        ("analyze/format/minidump/streams.h", "minidump_detail_fn minidump_detail_auxv,", " minidump_detail_recipe,"),
        ("analyze/format/minidump/streams.c", "const struct minidump_stream_kind minidump_stream_kinds[] = {",
         f"\n    {{{STREAM:#x}, \"Recipe\", NULL, NULL, minidump_detail_recipe}},"),
    ],
    "verb": [
        ("analyze/verbs/CMakeLists.txt", "verb_version.c", " verb_hello.c"),
        ("analyze/verbs/verbs.h", "extern const struct verb verb_version;", "\nextern const struct verb verb_hello;"),
        ("analyze/verbs/verbs.c", "&verb_version,", " &verb_hello,"),
    ],
    "report": [
        ("analyze/report/CMakeLists.txt", "SOURCES ctrf.c", " recipe.c"),
        ("analyze/report/report.h", "#define REPORT_FORMATS(ROW)",
         ' ROW(recipe, FIGURES_OF_CAPTURES, false, "an example")'),
    ],
    "figure": [
        ("analyze/model/fields.h", "enum { STORE_SCHEMA_VERSION = 17", " + 1"),
        ("analyze/model/fields.h", "#define CASE_TIMING_FIELDS(F)", " F(U64, recipe_ns, TIME)"),
        ("analyze/store/schema.c", '"ALTER TABLE module_now RENAME TO module", NULL, };',
         '\n\nstatic const char *const version_recipe[] = {\n'
         '    "ALTER TABLE crash_case ADD COLUMN recipe_ns INTEGER", NULL};'),
        ("analyze/store/schema.c", "version_13, version_14, version_15", ", version_recipe"),
    ],
    "page": [
        ("dashboard/pages/pages.def", 'PAGE("/runs", "Runs", Runs, "pages/runs.js", RAIL("Runs"))',
         '\nPAGE("/recipe", "Recipe", Recipe, "pages/recipe.js", RAIL("Recipe"))'),
        ("dashboard/pages/pages.def", 'VIEW("/api/v1/runs", "runs, newest first", view_runs, "branch, platform, label, limit, after")',
         '\nVIEW("/api/v1/recipe", "an example", view_recipe, NULL)'),
        ("dashboard/web/openapi.json", '"paths": {', f'\n    "/api/v1/recipe": {e2e.json.dumps(RECIPE_SCHEMA)},'),
    ],
    "format": [
        ("analyze/format/CMakeLists.txt", "    pe/pe.c", " te/te.c"),
        ("tests/CMakeLists.txt", "unit_test(msfz ROOMS format SOURCES test_msfz.c)",
         "\nunit_test(te ROOMS format SOURCES test_te.c)\nfuzz_target(te ROOMS format)"),
    ],
}


# Recipes without new files.
HEADS = {"figure": "### A stored figure"}


def new_files(name):
    return sorted(f.relative_to(RECIPES / name) for f in (RECIPES / name).rglob("*") if f.is_file())


def must(*argv, **more):
    done = subprocess.run([*map(str, argv)], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, argv))}\n{done.stdout[-4000:]}{done.stderr[-2000:]}")
    return done.stdout


def copy_sources(to):
    for name in COPIED:
        source = e2e.ROOT / name
        if source.is_file():
            shutil.copy(source, to / name)
        else:
            shutil.copytree(source, to / name, ignore=lambda at, names: [n for n in names if n in LEFT_OUT])
    modules = e2e.ROOT / "dashboard/web/node_modules"
    if modules.is_dir():
        (to / "dashboard/web/node_modules").symlink_to(modules)


def apply(name, to):
    for file in new_files(name):
        if (to / file).exists():
            raise AssertionError(f"recipe {name}: {file} exists in the sources; name the recipe's file differently")
        (to / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(RECIPES / name / file, to / file)
    for file, there, more in EDITS[name]:
        # Runs of blanks do not matter: alignment depends on the neighbouring lines.
        pattern = re.compile(r"\s+".join(map(re.escape, there.split())))
        text = (to / file).read_text(encoding="utf-8")
        if len(pattern.findall(text)) < 1:
            raise AssertionError(f"recipe {name}: {file} has no `{there}` any more: change the recipe here and in CONTRIBUTING.md")
        (to / file).write_text(pattern.sub(lambda m: m.group() + more, text, count=1), encoding="utf-8")


class Recipes(e2e.Case):
    @classmethod
    def setUpClass(cls):
        cls.copy = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        copy_sources(cls.copy)
        for name in EDITS:
            apply(name, cls.copy)
        cls.build = cls.copy / "build"
        must("cmake", "-G", "Ninja", "-S", cls.copy, "-B", cls.build, "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O0")
        must("ninja", "-C", cls.build, "twinstack", "unit_te", "fuzz_te", "seed_store")
        cls.program = cls.build / "bin/twinstack"

    def ask(self, *argv, **more):
        return must(self.program, *argv, cwd=e2e.ROOT, **more)

    def test_the_guide_names_each_file(self):
        guide = (e2e.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        for name in EDITS:
            part = guide.split(HEADS.get(name, f"(tests/recipes/{name})"))[-1].split("\n### ")[0]
            for file in [*map(str, new_files(name)), *(file for file, _, _ in EDITS[name])]:
                with self.subTest(recipe=name):
                    self.assertIn(pathlib.Path(file).name if name == "page" else file, part)

    def test_a_page_takes_four_files(self):
        self.assertLessEqual(len({*map(str, new_files("page")), *(file for file, _, _ in EDITS["page"])}), 4)

    def test_a_view_that_is_not_described_does_not_build(self):
        described = (self.copy / "dashboard/web/openapi.json").read_text(encoding="utf-8")
        (self.folder / "web").mkdir()
        for name in ("src", "node_modules", "package.json"):
            (self.folder / "web" / name).symlink_to(self.copy / "dashboard/web" / name)
        (self.folder / "web/openapi.json").write_text(described.replace('"/api/v1/recipe"', '"/api/v1/other"'), encoding="utf-8")
        done = subprocess.run(["node", self.copy / "dashboard/web/build.mjs", "--source", self.folder / "web", "--pages",
                               self.copy / "dashboard/pages/pages.def", "--out", self.folder / "out"],
                              capture_output=True, text=True, check=False)
        self.assertIn("/api/v1/recipe of pages.def is not described in openapi.json", done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def test_verb(self):
        self.assertEqual(self.ask("hello", "you"), "hello you\n")
        self.assertEqual(e2e.json.loads(self.ask("hello", "--json")), {"schema_version": 1, "hello": "world"})
        self.assertRegex(self.ask("--help"), r"(?m)^ +hello +greets$")

    def test_judge(self):
        engines = e2e.json.loads(self.ask("check", CASE, "--json"))["engines"]
        self.assertIn("judge:recipe", {e["engine"] for e in engines})

    def test_notation(self):
        stack = self.folder / "stack"
        stack.write_text("at 0x1000 of app.exe\nat 0x2000 of /opt/lib.so\n")
        frames = e2e.json.loads(self.ask("resolve", "--ndjson", stack))["frames"]
        self.assertEqual([(f["module"], f["offset"]) for f in frames], [("app.exe", "0x1000"), ("lib.so", "0x2000")])

    def test_source(self):
        ident = "0123456789ABCDEF0123456789ABCDEF1"
        file, stack = self.folder / "app.recipe", self.folder / "stack.txt"
        file.write_text(f"RECIPE {ident}\n1000 20 first\n1020 8 second\n", encoding="utf-8")
        stack.write_text(f"app.exe!0x1024@i {{{ident}}}\n", encoding="utf-8")
        listed = e2e.json.loads(self.ask("symbols", "list", "--json", file))["files"]
        self.assertEqual([(f["kind"], f["debug_id"], f["functions"]) for f in listed], [("recipe", ident, 2)])
        self.ask("symbols", "add", "--symbols", self.folder / "store", file)
        self.assertTrue((self.folder / "store/app.recipe" / ident / "app.recipe").is_file())
        for given in (["--symbols", file], ["--pdb", file], ["--symbols", self.folder]):
            with self.subTest(given=given[0]):
                frame = e2e.json.loads(self.ask("resolve", "--ndjson", *given, stack))["frames"][0]
                self.assertEqual((frame["function"], frame["symbols"], frame["identity"]), ("second", "symtab", "checked"))

    def test_stream(self):
        dump = dump_maker.Dump()
        dump.stream(STREAM, struct.pack("<II", 42, 0x10))
        streams = e2e.json.loads(self.ask("dump", self.saved(dump), "--json"))["streams"]
        found = next(s for s in streams if s["name"] == "Recipe")
        self.assertEqual((found["content"]["answer"], found["content"]["flags"]), (42, "0x10"))

    def test_format(self):
        self.assertRegex(must(self.build / "tests/unit_te"), r"(?m)^tally 2 0 0$")
        must(self.build / "tests/fuzz_te", CASE / "dump.dmp")

    def test_report(self):
        base = self.folder / "made.db"
        must(self.build / "tests/seed_store", base, "1", "4", "0")
        self.assertEqual(self.ask("report", "--db", base, "--recipe", "-", "--exit-zero"), "PASS 4\n")
        self.assertRegex(self.ask("report", "--help"), r"--recipe FILE\|- +an example")

    def test_figure(self):
        base = self.folder / "made.db"
        must(self.build / "tests/seed_store", base, "1", "4", "0")
        cases = e2e.json.loads(self.ask("report", "--db", base, "--json", "--exit-zero"))["cases"]
        self.assertEqual([c["timing"]["recipe_ns"] for c in cases], [0] * 4)
        with contextlib.closing(sqlite3.connect(base)) as db, db:
            db.execute("UPDATE crash_case SET recipe_ns = 7")
        cases = e2e.json.loads(self.ask("report", "--db", base, "--json", "--exit-zero"))["cases"]
        self.assertEqual([c["timing"]["recipe_ns"] for c in cases], [7] * 4)

    def test_page(self):
        base = self.folder / "made.db"
        must(self.build / "tests/seed_store", base, "1", "1", "0")
        server = subprocess.Popen([self.program, "serve", "--db", base, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        try:
            address, end = None, time.monotonic() + 30 * e2e.PATIENCE
            while address is None and time.monotonic() < end:
                address = re.search(r"http://[0-9.]+:\d+", server.stdout.readline())
            with urllib.request.urlopen(f"{address[0]}/api/v1/recipe", timeout=20 * e2e.PATIENCE) as answer:
                self.assertEqual(e2e.json.load(answer)["data"], {"hello": "recipe"})
            with urllib.request.urlopen(f"{address[0]}/recipe", timeout=20 * e2e.PATIENCE) as answer:
                self.assertIn(b"<!doctype html>", answer.read().lower())
        finally:
            server.terminate()
            server.communicate(timeout=20 * e2e.PATIENCE)

    def test_scenario_and_walker(self):
        if shutil.which("wine") is None or not PREFIX.is_dir():
            self.skipTest("no Wine, or no prefix; ./run makes it")
        keep = {"null_write.c", "recipe_scenario.c"}
        for kind in ("crash", "hang", "calm"):
            for file in (self.copy / "victims" / kind).glob("*.c*"):
                if file.name not in keep:
                    file.unlink()
        victims = self.build / "victims"
        must("cmake", "-G", "Ninja", "-S", self.copy / "victims", "-B", victims, "-DTWINSTACK_VARIANTS=ob2",
             "--toolchain", self.copy / "cmake/wine-clang.cmake")
        must("ninja", "-C", victims, "victims-ob2", "twinstack-launch")
        report = e2e.json.loads(self.ask("run", "--victims", victims / "bin", "--prefix", PREFIX, "--db", self.folder / "run.db",
                                         "--out", self.folder / "out", "--source-root", self.copy, "--no-judges", "--json",
                                         "-k", "recipe_scenario"))
        self.assertEqual([(c["scenario"], c["verdict"]) for c in report["cases"]], [("recipe_scenario", "PASS")])
        self.assertIn("offset:innermost", {e["engine"] for e in report["engines"]})


if __name__ == "__main__":
    e2e.main()
