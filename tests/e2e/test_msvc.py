"""What MSVC's command line makes of the analyser and the dashboard, as far as it can be tested without Windows: every file that
twinstack.exe is made of is compiled by clang's cl driver with mingw-w64's headers. Not run on Windows.

Only this finds what cl refuses and both compilers of the other trees take."""

import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
from cl import CL  # noqa: E402

COMMANDS = e2e.BUILD / "windows/compile_commands.json"
# What mingw-w64's headers need to be taken for those of MSVC.
FLAGS = ["/W4", "/WX", "/Zs", "-D_WIN32_WINNT=0x0A00", "-Wno-deprecated-declarations", "-Wno-nonportable-include-path",
         "-D__declspec=__declspec"]


# What clang takes and MSVC's compiler has not, or only in C++. It may stand only where the preprocessor asks for the compiler.
FOREIGN = re.compile(r"\b(max_align_t|stdatomic\.h|_Atomic|threads\.h|__builtin_\w+|__attribute__|typeof|__typeof__|_Complex|__asm__|asm)\b")
COMPILER = re.compile(r"__GNUC__|__clang__|_MSC_VER|__has_")


def code_of(text):
    """TEXT with blanks for comments, strings and characters, on the same lines."""
    pattern = r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.DOTALL)


def foreign_words(text):
    """(line, word) of what MSVC's compiler would refuse."""
    asked, found = [], []
    for number, line in enumerate(code_of(text).splitlines(), 1):
        directive = re.match(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)", line)
        if directive and directive[1].startswith("if"):
            asked.append(bool(COMPILER.search(directive[2])))
        elif directive and directive[1] == "elif":
            asked[-1] = asked[-1] or bool(COMPILER.search(directive[2]))
        elif directive and directive[1] == "endif":
            asked.pop()
        elif not any(asked):
            found += [(number, match[0]) for match in FOREIGN.finditer(line)]
    return found


@unittest.skipUnless(COMMANDS.exists(), "no tree for Windows: ./run says at its start why it was not made")
class Msvc(e2e.Case):
    maxDiff = None

    @staticmethod
    def sources():
        """A row for each file."""
        rooms = tuple(str(e2e.ROOT / room) + "/" for room in ("analyze", "dashboard"))
        rows = json.loads(COMMANDS.read_text(encoding="utf-8"))
        return [row for row in rows if row["file"].endswith(".c") and row["file"].startswith(rooms)]

    @staticmethod
    def complaint(row):
        words, flags = shlex.split(row["command"]), []
        for word, following in zip(words, [*words[1:], ""]):
            if word.startswith(("-I", "-D")) and word != "-I":
                flags.append(word)
            elif word in ("-I", "-isystem"):
                flags += ["-I", following]
        done = subprocess.run([*CL, *FLAGS, *flags, "--", row["file"]], cwd=row["directory"], capture_output=True, text=True, check=False)
        return None if done.returncode == 0 else (row["file"], done.stderr[-1500:])

    def test_it_compiles_each_file(self):
        rows = self.sources()
        self.assertGreater(len(rows), 200)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.assertEqual([bad for bad in pool.map(self.complaint, rows) if bad], [])
        print("not run on Windows")


class Words(e2e.Case):
    def test_what_only_other_compilers_have_is_asked_for(self):
        files = [file for room in ("analyze", "dashboard") for file in sorted((e2e.ROOT / room).rglob("*.[ch]"))
                 if not file.stem.endswith("_posix")]
        self.assertGreater(len(files), 200)
        found = {str(file.relative_to(e2e.ROOT)): foreign_words(file.read_text(encoding="utf-8")) for file in files}
        self.assertEqual({name: words for name, words in found.items() if words}, {})


if __name__ == "__main__":
    e2e.main()
