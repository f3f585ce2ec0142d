"""tests/budget.py: what counts as a line of code, and what is printed beside the table."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import budget  # noqa: E402
import e2e  # noqa: E402

LINES = [
    ("code and a comment", ".c", "int a; /* one\n two */ int b;\n// three\n\n", 2),
    ("comment marks in texts", ".c", 'char *a = "/*";\nchar b = \'"\'; // "\nchar *c = "*/";\n', 3),
    ("a comment of many lines", ".h", "/* one\n\n two */\n", 0),
    ("an escaped quote", ".c", 'char *a = "\\"//";\n/* "\n */\n', 1),
    ("a style sheet", ".css", "/* a */\na {\n}\n", 2),
    ("assembler", ".S", "#define A 1\n; one\n  ret // two\n", 1),
    ("CMake", ".cmake", "# one\nset(a b) # two\n\n", 1),
    ("a script's first line", ".sh", "#!/bin/sh\n# one\n", 1),
    ("Python", ".py", '"""one\ntwo"""\na = """three"""  # four\n', 1),
    ("XML", ".manifest", "<!-- one\n two -->\n<a/>\n", 1),
    ("no language that counts", ".json", "{}\n", 0),
    ("nor this one", ".md", "text\n", 0),
]


class Budget(e2e.Case):
    def test_what_a_line_of_code_is(self):
        for name, suffix, text, want in LINES:
            with self.subTest(name):
                self.assertEqual(budget.lines(suffix, text), want)

    def test_a_room_has_all_below_its_folder(self):
        for name, text in (("analyze/main.c", "1;\n"), ("analyze/a/a.c", "1;\n2;\n"), ("analyze/a/b/c.h", "1;\n"), ("victims/a/a.S", "ret\n"),
                           ("dashboard/web/node_modules/a.js", "1;\n"), ("dashboard/web/a.js", "1;\n"), ("analyze/a/CMakeLists.txt", "a()\n"),
                           ("analyze/a/list.txt", "a\n"), ("tests/a.c", "1;\n"), ("analyze/b/README.md", "a\n")):
            file = self.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        self.assertEqual(budget.measure(self.folder), {"analyze/.": 1, "analyze/a": 4, "dashboard/web": 1, "victims/a": 1})

    def test_what_is_above_the_table_is_named(self):
        table = budget.read_table("# rooms\nanalyze/a  10\nanalyze/gone 5\nanalyze/same 7\n")
        said, above = budget.compare({"analyze/a": 1011, "analyze/new": 2, "analyze/same": 7}, table)
        self.assertEqual(above, ["analyze/a", "analyze/new"])
        self.assertEqual([line.split() for line in said[1:]], [
            ["analyze/a", "1,011", "10", "+1,001"], ["analyze/gone", "0", "5", "-5"], ["analyze/same", "7", "7"], ["analyze/new", "2", "0", "+2"],
            ["all", "1,020", "22", "+998"]])

    def test_the_program_prints_each_room_of_the_table(self):
        done = subprocess.run(["/usr/bin/python3", e2e.ROOT / "tests/budget.py"], capture_output=True, text=True, check=True)
        rooms = {line.split()[0] for line in done.stdout.splitlines()[1:]}
        self.assertLessEqual({"all", *budget.read_table(budget.TABLE.read_text(encoding="utf-8"))}, rooms)


if __name__ == "__main__":
    e2e.main()
