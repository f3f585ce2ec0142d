"""The checks of JavaScript and CSS in dashboard/web/check: Prettier, ESLint, and the type check of the pages and
their tests with types made from openapi.json.

A small tree with a mistake of each kind, and without git, shows that each is noticed.

Only this reads the JavaScript and CSS that no test happens to run."""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

WEB = pathlib.Path("dashboard/web")
NOT_INSTALLED = 3
# What is wrong: a new file, of the pages unless it is one of tests/, its text, and a part of the finding.
MISTAKES = [
    ("layout", "layout.js", 'const a = "one"\n', "layout.js: not formatted by Prettier"),
    ("layout of a sheet", "layout.css", "a{color:red}\n", "layout.css: not formatted by Prettier"),
    ("a long line", "long.js", f"export const text = '{'a' * 100}';\n", "long.js:1: This line has a length of 123"),
    ("a long line of markup", "long_markup.js", f"export const part = <p>{'a' * 120}</p>;\n", "long_markup.js:1: This line"),
    ("a long file", "long_file.js", "// one more line\n" * 601, "File has too many lines (601)"),
    ("text as markup", "markup.js", "document.body.innerHTML = name;\n", "markup.js:1: Text from dumps and symbols is hostile"),
    ("a loose comparison", "loose.js", "export const same = 1 == '1';\n", "loose.js:1: Expected '==='"),
    ("an untyped function", "untyped.js", "export const twice = (value) => value * 2;\n", "untyped.js:1: twice is exported"),
    ("a property that CSS does not have", "property.css", "a {\n  colour: red;\n}\n", "property.css:2: Unknown property 'colour'"),
    ("a variable without a value", "variable.css", "a {\n  color: var(--nowhere);\n}\n", "--nowhere is defined neither"),
    ("a field that the API does not have", "field.js",
     "/** @type {(run: import('openapi').Run) => string} */\nexport const text = (run) => run.platfrom ?? '';\n",
     "'platfrom' does not exist"),
    ("an address that the API does not have", "address.js",
     "import { useData } from './api.js';\n\nexport const useRuns = () => useData('/api/v1/run');\n", "'\"/api/v1/run\"' is not assignable"),
    ("a property that a part does not take", "part.js",
     "import { Verdict } from './ui.js';\n\nexport const Part = () => <Verdict wrod=\"PASS\" />;\n", "'wrod'"),
    ("a name that nothing uses", "unused.js", "import { useState } from 'preact/hooks';\n\nexport const one = 1;\n",
     "'useState' is declared but"),
    ("a function of a test without types", "tests/e2e/untyped.mjs", "export const twice = (value) => value * 2;\n",
     "untyped.mjs(1,23): error TS7006"),
    ("a null that a test reads", "tests/e2e/null.mjs", "export const first = /a/.exec('b')[0];\n", "null.mjs(1,22): error TS2531"),
]


def check(*words):
    argv = ["node", str(e2e.ROOT / WEB / "check/check.mjs"), "--build", str(e2e.BUILD), *map(str, words)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=300 * e2e.PATIENCE, check=False)


def with_imports(*names):
    """The files NAMES of the pages and all that these import: to check the types of more takes three times as long."""
    found, todo = set(), [e2e.ROOT / WEB / "src" / name for name in names]
    while todo:
        file = todo.pop()
        if file not in found:
            found.add(file)
            todo += [(file.parent / name).resolve() for name in re.findall(r"(?:from|import) '(\.[^']+)'", file.read_text(encoding="utf-8"))]
    return found


class WebLint(e2e.Case):
    def check(self, *words):
        done = check(*words)
        if done.returncode == NOT_INSTALLED:
            self.skipTest(f"npm cannot bring the linters: {done.stderr.strip().splitlines()[-1]}")
        return done

    def test_all_sources_are_clean(self):
        done = self.check()
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def test_each_mistake_is_noticed(self):
        copied = {e2e.ROOT / name for name in (".github/workflows/ci.yml", WEB / "openapi.json", WEB / "src/style/base.css")}
        for file in copied | with_imports("api.js", "ui.js"):
            self.write(file.relative_to(e2e.ROOT), file.read_text(encoding="utf-8"))
        (self.folder / WEB / "node_modules").symlink_to(e2e.ROOT / WEB / "node_modules")
        workflow = self.folder / ".github/workflows/ci.yml"
        workflow.write_text(workflow.read_text(encoding="utf-8").replace("failure()", "failur()"), encoding="utf-8")
        for _, name, text, _ in MISTAKES:
            self.write(name if name.startswith("tests/") else WEB / "src" / name, text)
        for folder in ("build", "build-debug", "tests/node_modules", ".hidden"):
            self.write(f"{folder}/foreign.js", 'const a = "one"\n')
        done = self.check("--root", self.folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        for what, name, _, want in MISTAKES:
            with self.subTest(what):
                self.assertIn(want, done.stdout)
        with self.subTest("files that are not ours"):
            self.assertNotIn("foreign.js", done.stdout)
        with self.subTest("a mistake in a workflow"):
            self.assertRegex(done.stdout, r"ci\.yml:\d+: undefined function \"failur\"")


if __name__ == "__main__":
    e2e.main()
