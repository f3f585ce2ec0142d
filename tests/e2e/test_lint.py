"""The checks of tests/lint.py, and one that the compiler makes: each notices a mistake in a small tree, hints fail nothing, and what is clean is checked again exactly
when something that the result depends on has changed."""

import contextlib
import json
import pathlib
import subprocess
import sys
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import e2e  # noqa: E402
import lint  # noqa: E402
import lint_library  # noqa: E402
import lint_words  # noqa: E402

GOOD = "int twice(int x);\n\nint twice(int x)\n{\n    return 2 * x;\n}\n"
# The check, the file, its text, a part of the finding.
MISTAKES = [
    ("format", "analyze/a.c", "int  x;\n", "analyze/a.c:1:4: not formatted"),
    ("tidy", "analyze/a.c", "int f(void);\n\nint f(void)\n{\n    int *p = 0;\n    return *p;\n}\n", "core.NullDereference"),
    ("tidy", "analyze/a.c", "int f(int a);\n\nint f(int a)\n{\n    return a ? 1 : a < 2 ? 2 : 3;\n}\n", "nested-conditional"),
    ("shell", "cmake/a.sh", "#!/bin/sh\necho $1\n", "cmake/a.sh:2"),
    ("banned", "analyze/a.c", "int f(char *s)\n{\n    return atoi(s);\n}\n", "analyze/a.c:3: atoi: use text_parse_uint"),
    ("writers", "analyze/a.c", 'void *f(void)\n{\n    return fopen("x", "w");\n}\n', "analyze/a.c:3: fopen: use file_write_parts()"),
    ("rooms", "victims/crash/a.c", '#include "capture/cap.h"\n', "victims/crash/a.c: includes capture/cap.h"),
    ("rooms", "analyze/README.md", "| `a` | b | base |\n", "analyze/README.md: a is no room"),
    ("once", "analyze/a.c", 'int f(void)\n{\n    return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "a");\n}\n', "analyze/a.c:3: use fault_no_memory()"),
    ("length", "analyze/a.c", "\n" * 601, "analyze/a.c: 601 lines"),
    ("python", "tests/a.py", "def f(:\n", "tests/a.py:1"),
    ("documents", "tests/a.md", "A\n[b](b.md)\n", "tests/a.md:2: b.md: no such file"),
    ("documents", "tests/a.md", "[b](../../b.md)\n", "tests/a.md:1: ../../b.md: no such file"),
    ("documents", "tests/a.md", "![b](<b.png>)\n", "tests/a.md:1: b.png: no such file"),
    ("documents", "tests/a.md", "[b]\n\n[b]: b.md\n", "tests/a.md:3: b.md: no such file"),
    ("documents", "tests/a.md", "# One\n```\n# Two\n```\n[b](#two)\n", "tests/a.md:5: #two: no such heading"),
    ("documents", "tests/a.md", "# One\n[b](a.md#one-1)\n", "tests/a.md:2: a.md#one-1: no such heading"),
    ("documents", "tests/README.md", "# Tests\n", "tests/README.md:1: no link leads here from README.md"),
    ("documents", "README.md", "word " * 1001, "README.md:1: 1001 words, more than 1000"),
    ("documents", "capture/README.md", "word " * 1501, "capture/README.md:1: 1501 words, more than 1500"),
]

# What a public header says of a function, and a part of the finding; None: enough.
HEADER = "/* A library.\n *\n * Units: bytes.\n *\n * Ownership: none.\n *\n * Errors: false.\n *\n * Threads: one `dump` each. */\n\nstruct twinstack_dump;\n\n"
CONTRACTS = [
    ("a function", "/* How many. */\nint f(void);", None),
    ("a group", "/* How many. */\nint f(void);\nint g(const struct twinstack_dump *dump);", None),
    ("the same after a blank line", "/* How many. */\nint f(void);\n\nint g(void);", "h:16: g: no comment"),
    ("false without a meaning", "/* Begins. */\nbool f(void);", "f: its comment does not say what false means"),
    ("a meaning of false", "/* Begins. False: there is none. */\nbool f(void);", None),
    ("a status", "/* Begins. */\nenum twinstack_status f(void);", "f: its comment does not say when it fails"),
    ("a result", "/* Begins. */\nvoid f(struct twinstack_dump **out);", "f: its comment does not say how its result is freed"),
    ("what has no rule for threads", "struct twinstack_input;\n\n/* Ends. */\nvoid f(struct twinstack_input *input);", "does not name `input`"),
]

# What a fault is given, with a declaration before it, and whether that compiles.
FAULT_TEXTS = [
    ("a literal", "", '"MSF magic"', True),
    ("two literals", "", '"MSF " "magic"', True),
    ("a macro", '#define TEXT "MSF magic"', "TEXT", True),
    ("a variable", "extern const char *text;", "text", False),
    ("a constant array", 'static const char text[] = "MSF magic";', "text", False),
    ("a function's result", "const char *text(void);", "text()", False),
    ("a choice", "extern int n;", 'n ? "MSF magic" : "MSF"', False),
    ("a part of a literal", "", '"MSF magic" + 4', False),
    ("nothing", "", "NULL", False),
]


class Faults(e2e.Case):
    def test_the_texts_of_a_fault_are_literals(self):
        for name, before, text, compiles in FAULT_TEXTS:
            for call in (f"fault_set(fault, ERR_IO, 0, {text})", f'fault_set_hint(fault, ERR_IO, 0, "a", {text})',
                         f'fault_set_hint(fault, ERR_IO, 0, {text}, "a")', f"fault_no_memory(fault, {text})"):
                with self.subTest(name, call=call):
                    source = f"#include <stddef.h>\n#include \"base/fault.h\"\n{before}\nvoid f(struct fault *fault);\n" \
                             f"void f(struct fault *fault)\n{{\n    (void){call};\n}}\n"
                    done = subprocess.run(["cc", "-std=c11", "-fsyntax-only", f"-I{e2e.ROOT}/analyze", "-x", "c", "-"], input=source,
                                          capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode == 0, compiles, done.stderr)


class Contracts(e2e.Case):
    def test_a_public_header_says_enough_of_each_function(self):
        for name, text, finding in CONTRACTS:
            with self.subTest(name):
                said = "\n".join(lint_library.contracts("h", HEADER + text + "\n"))
                self.assertIn(finding or "", said)
                self.assertEqual(said == "", finding is None, said)

    def test_its_first_comment_has_what_holds_for_all(self):
        for section in lint_library.SECTIONS:
            with self.subTest(section):
                self.assertEqual(lint_library.contracts("h", HEADER.replace(f"{section}:", "")), [f"h:1: the first comment has no paragraph `{section}:`"])


class Lint(e2e.Case):
    def setUp(self):
        super().setUp()
        self.root, self.build = self.folder / "tree", self.folder / "tree/build"
        self.build.mkdir(parents=True)
        for name in lint.CODE_FOLDERS:
            (self.root / name).mkdir()
        for name in (".clang-format", ".clang-tidy"):
            (self.root / name).write_bytes((lint.ROOT / name).read_bytes())
        for name in ("run", ".ci/run"):
            self.write(name, "#!/bin/sh\n")
        for what, value in (("ROOT", self.root), ("BUILD", self.build)):
            patch = unittest.mock.patch.object(lint, what, value)
            patch.start()
            self.addCleanup(patch.stop)

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        rows = [{"directory": str(self.build), "file": str(f), "command": f"cc -c {f}"} for f in (self.root / "analyze").rglob("*.c")]
        (self.build / "compile_commands.json").write_text(json.dumps(rows), encoding="utf-8")
        lint.digest_of.cache_clear()
        return file

    @contextlib.contextmanager
    def started(self):
        """The programs that are started inside."""
        run, seen = lint.subprocess.run, []

        def note(argv, **more):
            seen.append([str(word) for word in argv if "--version" not in argv])
            return run(argv, **more)
        with unittest.mock.patch.object(lint.subprocess, "run", note):
            yield seen

    def test_each_check_notices_its_mistake(self):
        for check, name, text, want in MISTAKES:
            with self.subTest(check):
                file = self.write(name, text)
                for attempt in range(2):  # what is not clean leaves no note
                    self.assertIn(want, "\n".join(getattr(lint, f"check_{check}")()), attempt)
                file.unlink()

    def test_a_file_has_a_name_of_its_own(self):
        """Two rooms with one name, and what may have it: a page, structs, two formats, the halves for two systems."""
        for others, want in ((("analyze/study/a.c",), 1), (("dashboard/server/a.h",), 1), (("analyze/store/a_posix.c", "analyze/store/a_windows.c"), 0),
                             (("dashboard/pages/a.c", "analyze/model/a.h"), 0), (("analyze/format/pe/a.c", "analyze/format/elf/a.c"), 1)):
            with self.subTest(others):
                files = [self.write(name, GOOD) for name in ("analyze/store/a.c", *others)]
                said = [line for line in lint.check_rooms() if "file a:" in line]
                for file in files:
                    file.unlink()
                self.assertEqual(len(said), want, said)

    def test_good_documents_are_clean(self):
        """Links that exist and links in code; a document of as many words as it may have."""
        self.write("tests/README.md", "# Both `a` and [b](../README.md)!\n## It\n## It\n")
        text = "[1](tests/README.md#both-a-and-b) [2](tests/README.md#it-1 'It') [3](tests) [4](https://a.example/b.md) `[5](no.md)`\n"
        self.write("README.md", f"{text}```\n[6](no.md)\n```\n" + "word " * (1000 - len(text.split()) - 3))
        self.assertEqual(lint.check_documents(), [])

    def test_words_are_hints(self):
        file = self.write("analyze/a.c", "/* The module has to be st" "anding in the list. */\n" + GOOD)
        self.assertIn("analyze/a.c:1:", lint_words.check(self.root, {file})[0])
        self.assertNotIn("words", " ".join(name for name in dir(lint) if name.startswith("check_")))

    def checked(self, check, name):
        with self.started() as seen:
            self.assertEqual(check(), [])
        return any(str(self.root / name) in argv for argv in seen)

    def test_what_is_clean_is_checked_again_when_an_input_changes(self):
        source = self.write("analyze/a.c", GOOD)
        header, system = self.write("analyze/a.h", "int three;\n"), self.write("system.h", "")
        deps = {str(source): sorted(map(str, (source, header, system)))}
        for check, inputs in ((lint.check_format, ("analyze/a.c", ".clang-format")),
                              (lint.check_tidy, ("analyze/a.c", "analyze/a.h", "system.h", ".clang-tidy"))):
            with unittest.mock.patch.object(lint, "dependencies", lambda: deps):
                self.assertTrue(self.checked(check, "analyze/a.c"))
                self.assertFalse(self.checked(check, "analyze/a.c"), "nothing changed")
                for name in inputs:
                    with self.subTest(check.__name__, changed=name):
                        self.write(name, (self.root / name).read_text(encoding="utf-8") + ("\n" if name[-2:] != ".c" else "\nint four;\n"))
                        self.assertTrue(self.checked(check, "analyze/a.c"))
                        self.assertFalse(self.checked(check, "analyze/a.c"))

    def test_a_file_of_unknown_headers_is_checked_each_time(self):
        source = self.write("analyze/a.c", GOOD)
        for deps in ({}, {str(source): [str(source), str(self.root / "gone.h")]}):
            with unittest.mock.patch.object(lint, "dependencies", lambda: deps):
                self.assertTrue(self.checked(lint.check_tidy, "analyze/a.c"))
                self.assertTrue(self.checked(lint.check_tidy, "analyze/a.c"))

    def test_the_parts_of_clang_tidy_are_all_files(self):
        names = [self.write(f"analyze/{letter}.c", GOOD) for letter in "abcdefg"]
        for parts in (1, 2, 3, 7, 9):
            with self.started() as seen:
                for part in range(1, parts + 1):
                    lint.check_tidy(part, parts)
            self.assertEqual(sorted(word for argv in seen for word in argv if word in map(str, names)), sorted(map(str, names)), parts)


if __name__ == "__main__":
    e2e.main()
