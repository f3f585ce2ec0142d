"""The recipes of CONTRIBUTING.md, from its text alone: applied to a copy of the sources, built and run; has a Wine prefix to itself.

The text names the files of a recipe in a table, and has what goes into existing ones in blocks marked `diff`. A new file is the
one of that name in the folder that the recipe's title links (tests/recipes/NAME); what the text does not name is not copied. So a
recipe whose text lacks a step fails, and when a test here fails after a change elsewhere, it is the text that must change. All
recipes are applied to one copy, which is built once: what no recipe touches is what this tree was compiled to, from ccache, and the rest
is compiled without optimisation. Then it is run, and what would reject such a change in
a contributor's tree is run on it.

Only this finds a recipe whose words no longer lead to a change that builds, works and passes the checks."""

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
COPIED = ["LICENSE", "analyze", "capture", "cmake", "dashboard", "victims", "tests", "CMakeLists.txt", ".clang-format", ".clang-tidy",
          ".github", "README.md", "CONTRIBUTING.md"]
LEFT_OUT = {"node_modules", "__pycache__", "golden", "lua"}
# Programs of tests that hold the tables which recipes extend.
UNITS = ["unit_store", "unit_store_shared", "unit_minidump", "unit_stack_input"]
STREAM = 0x54570099

ABSENT = object()
STEP = re.compile(r"(?:<N>|<N\+1>|\.\.\.)")


class Recipe:
    """One section of the guide."""

    def __init__(self, title, body):
        link = re.search(r"\(tests/recipes/(\w+)\)", title)
        self.title, self.body = title, body
        self.folder = RECIPES / link[1] if link else None
        self.name = link[1] if link else title.split(":")[0].split()[-1]
        self.files = [name for row in re.findall(r"(?m)^\| (`.*?) \|", body) for name in re.findall(r"`([^`]+)`", row)]
        self.edits = [edit for block in re.findall(r"(?ms)^```diff\n(.*?)^```$", body) for edit in self.read(block)]

    def read(self, block):
        """[(file, hunk)] of a block; a hunk is lines with their marks."""
        found, file = [], None
        for line in block.splitlines():
            if line.startswith("--- "):
                file = line[4:]
                found.append((file, []))
            elif line == " ...":
                found.append((file, []))
            elif line[:1] in (" ", "+", "-") and file:
                found[-1][1].append(line)
            else:
                raise AssertionError(f"{self.title}: a line of a block is none of ' ', '+', '-' and '---': {line!r}")
        return found

    @property
    def new(self):
        return [file for file in self.files if not (e2e.ROOT / file).exists()]


def guide():
    text = (e2e.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("\n## Recipes\n")[1]
    return [Recipe(*section.split("\n", 1)) for section in text.split("\n### ")[1:]]


def pattern_of(line, number):
    """Matches a line of a file that the text shows as LINE; its groups are what `...` and `<N>` are there."""
    parts = STEP.split(line)
    marks = STEP.findall(line)
    blanks = [r"\s*".join(map(re.escape, re.findall(r"\w+|[^\w\s]", part))) for part in parts]
    groups = [{"...": "(.*?)", "<N>": f"({number or r'[0-9]+'})", "<N+1>": f"({number and int(number) + 1})"}[mark] for mark in marks]
    text = blanks[0] + "".join(rf"\s*{group}\s*{blank}" for group, blank in zip(groups, blanks[1:]))
    return re.compile(rf"\s*{text}\s*\\?\s*")


def apply_hunk(recipe, file, hunk, lines, number):
    """LINES with HUNK applied, and the number that <N> is."""
    old = [line[1:] for line in hunk if line[0] != "+"]
    for at in range(len(lines) - len(old) + 1):
        found = [pattern_of(line, number).fullmatch(there) for line, there in zip(old, lines[at:])]
        if all(found):
            break
    else:
        raise AssertionError(f"recipe {recipe.name}: {file} has no `{' / '.join(old)}`: change CONTRIBUTING.md")
    if not old:
        raise AssertionError(f"recipe {recipe.name}: {file}: the text does not say where")
    for line, match in zip(old, found):
        number = next((group for mark, group in zip(STEP.findall(line), match.groups()) if mark == "<N>"), number)
    in_macro = lines[at].rstrip().endswith("\\")
    made, wild, position = [], [], at
    for line in hunk:
        if line[0] == "+":
            kept = iter(wild)
            text = STEP.sub(lambda mark: {"<N>": number, "<N+1>": str(int(number or 0) + 1)}.get(mark[0]) or next(kept), line[1:])
            made.append(text + " \\" * in_macro)
            continue
        if line[0] == " ":
            made.append(lines[position])
        groups = found[position - at].groups()
        wild = [group for mark, group in zip(STEP.findall(line), groups) if mark == "..."]
        position += 1
    return lines[:at] + made + lines[position:], number


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
    for name in ("dashboard/web/node_modules", "corpus"):
        if (e2e.ROOT / name).is_dir():
            (to / name).symlink_to(e2e.ROOT / name)


def apply(recipe, to):
    for file in recipe.new:
        source = recipe.folder / file if recipe.folder else ABSENT
        if source is ABSENT or not source.is_file():
            raise AssertionError(f"recipe {recipe.name}: its text names {file}, which neither the sources nor its folder have")
        (to / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, to / file)
    number = None
    for file, hunk in recipe.edits:
        lines = (to / file).read_text(encoding="utf-8").split("\n")
        lines, number = apply_hunk(recipe, file, hunk, lines, number)
        (to / file).write_text("\n".join(lines), encoding="utf-8")


class Text(e2e.Case):
    def test_the_table_names_what_is_made_and_changed_and_nothing_else(self):
        for recipe in guide():
            with self.subTest(recipe=recipe.name):
                changed = {file for file, _ in recipe.edits}
                self.assertEqual(set(recipe.files), changed | set(recipe.new))
                self.assertGreater(len(recipe.files), 0)
                self.assertTrue(all((e2e.ROOT / file).is_file() for file in changed))
                if recipe.folder:
                    has = {str(f.relative_to(recipe.folder)) for f in recipe.folder.rglob("*") if f.is_file()}
                    self.assertEqual(has, set(recipe.new))

    def test_each_folder_has_its_recipe(self):
        self.assertEqual({r.folder for r in guide() if r.folder}, {f for f in RECIPES.iterdir() if f.is_dir()})

    def test_a_recipe_takes_three_files_and_a_page_four(self):
        for recipe in guide():
            sentences = re.findall(r"Add one sentence about it to\s+`([^`]+)`", recipe.body)
            files = [file for file in recipe.files + sentences if not file.startswith("tests/")]
            with self.subTest(recipe=recipe.name, files=files):
                self.assertLessEqual(len(files), 4 if recipe.name == "page" else 3)

    def test_a_block_is_applied_as_it_reads(self):
        recipe = Recipe("A test: of blocks", "")
        before = ["#define LIST(ROW) \\", "    ROW(a)    \\", "    ROW(b)", "enum { VERSION = 7 }; /* of it */", "  one.c two.c", "last"]
        rows = {
            "after, in a macro": ([" ROW(a)", "+ROW(x)"], {2: "ROW(x) \\"}),
            "before": (["+first", " enum { VERSION = 7 }; ..."], {3: "first"}),
            "several lines as context": ([" ROW(b)", " enum {VERSION=7}; ...", "+then"], {4: "then"}),
            "a part of a line": ([" one.c ...", "+  three.c"], {5: "  three.c"}),
            "a number, and what is kept": (["-enum { VERSION = <N> }; ...", "+enum { VERSION = <N+1> }; ..."], {3: "enum { VERSION = 8 }; /* of it */"}),
        }
        for name, (hunk, want) in rows.items():
            with self.subTest(name):
                made, _ = apply_hunk(recipe, "file", hunk, before, None)
                self.assertEqual({i: made[i] for i in want}, want)
                self.assertEqual(len(made), len(before) + sum(line[0] == "+" for line in hunk) - sum(line[0] == "-" for line in hunk))
        for name, hunk in {"no such line": [" ROW(c)", "+ROW(x)"], "half a line": [" one.c", "+x"], "two lines apart": [" ROW(a)", " last", "+x"],
                           "no place": ["+x"]}.items():
            with self.subTest(name), self.assertRaises(AssertionError):
                apply_hunk(recipe, "file", hunk, before, None)


class Recipes(e2e.Case):
    @classmethod
    def setUpClass(cls):
        cls.copy = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        copy_sources(cls.copy)
        for recipe in guide():
            apply(recipe, cls.copy)
        cls.touched = sorted({file for recipe in guide() for file in recipe.files})
        must("clang-format-19", "-i", *(cls.copy / file for file in cls.touched if file.endswith((".c", ".h"))))
        cls.build = cls.copy / "build"
        archives = e2e.BUILD / "archives"
        must("cmake", "-G", "Ninja", "-S", cls.copy, "-B", cls.build, "-DCMAKE_C_COMPILER_LAUNCHER=ccache",
             *([f"-DTWINSTACK_ARCHIVES={archives}"] if archives.is_dir() else []))
        plainly = cls.copy / "plainly.sh"  # what ccache starts for a file that it has not; it keeps nothing of that
        plainly.write_text('#!/bin/sh\nexec "$@" -O0 -g0\n', encoding="ascii")
        plainly.chmod(0o755)
        must("ninja", "-C", cls.build, "twinstack", "unit_te", "fuzz_te", "seed_store", *UNITS,
             env={"CCACHE_DIR": str(e2e.BUILD / "ccache"), **os.environ, "CCACHE_BASEDIR": str(cls.copy), "CCACHE_NOHASHDIR": "1",
                  "CCACHE_DEPEND": "1", "CCACHE_READONLY": "1", "CCACHE_PREFIX": str(plainly)})
        cls.program = cls.build / "bin/twinstack"

    def ask(self, *argv, **more):
        return must(self.program, *argv, cwd=e2e.ROOT, **more)

    def in_the_copy(self, *argv):
        return must(*argv, cwd=self.copy, env={**os.environ, "TWINSTACK_BUILD": str(self.build)})

    def test_the_checks_of_files_pass(self):
        self.in_the_copy(sys.executable, "tests/lint.py", *self.touched)

    def test_the_table_of_lines_is_made_again(self):
        self.in_the_copy(sys.executable, "tests/budget.py", "--write")
        self.in_the_copy(sys.executable, "tests/budget.py", "--check")

    def test_the_tests_that_look_at_every_verb_pass(self):
        for name in ("commands", "options"):
            with self.subTest(name):
                self.in_the_copy(sys.executable, f"tests/e2e/test_{name}.py")

    def test_the_tests_of_the_tables_pass(self):
        for name in UNITS:
            with self.subTest(name):
                self.in_the_copy(self.build / "tests" / name)

    def test_the_checks_of_pages_pass(self):
        pages = [file for file in self.touched if file.endswith((".js", ".css"))]
        self.in_the_copy("node", "dashboard/web/check/check.mjs", "--build", e2e.BUILD, *pages)
        for name in ("description_and_routes_are_the_same_list", "live_answers_fit_the_description"):
            with self.subTest(name):
                self.assertRegex(self.in_the_copy("node", "tests/e2e/test_web_answers.mjs", name), r"(?m)^tally 1 0 0$")

    def test_a_figure_is_described(self):
        described = e2e.json.loads((self.copy / "analyze/report/report.schema.json").read_text(encoding="utf-8"))
        base = self.folder / "made.db"
        must(self.build / "tests/seed_store", base, "1", "1", "0")
        timing = e2e.json.loads(self.ask("report", "--db", base, "--json", "--exit-zero"))["cases"][0]["timing"]
        self.assertEqual(set(timing) - set(described["$defs"]["timing"]["properties"]), set())

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
