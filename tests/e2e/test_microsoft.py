#!/usr/bin/env python3
"""Our answers about PDBs beside those of Microsoft's own readers (dbghelp.dll, msdia140.dll, UnDecorateSymbolName), which the
fixtures have. Nothing of Microsoft's is needed.

lib/microsoft.py has the rules of the comparison: which differences have a listed reason, and which are faults."""
import collections
import functools
import json
import re
import subprocess
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e
import microsoft


class Answers(e2e.Case):
    def frames(self, pdb, rows, *options):
        """For each row the frames of its stack, innermost first."""
        text = "".join(f"> {i}\nx.exe!{row['rva']}\n" for i, row in enumerate(rows))
        done = self.run_twinstack("resolve", "--ndjson", *options, "--pdb", f"x.exe={pdb}", "-", stdin=text)
        stacks = [json.loads(line)["frames"] for line in done.stdout.splitlines()]
        self.assertEqual(len(stacks), len(rows), done.stderr)
        return stacks

    def judge(self, pdb, answers, *options):
        """The differences, counted: those without a listed reason fail."""
        rows = microsoft.read(answers)
        found, faults = collections.Counter(), []
        for row, frames in zip(rows, self.frames(pdb, rows, *options)):
            ours = [(f["function"] or "", f["file"] or "", f["line"] or 0) for f in reversed(frames)]
            if row["class"] == "ilt" and frames[-1]["note"] != self.JUMP:
                faults.append(("does not say that it is a jump", row["rva"], ours, row["frames"]))
            for word in microsoft.judge(ours, row):
                found[word] += 1
                if word not in microsoft.EXCUSED:
                    faults.append((word, row["rva"], ours, row["frames"]))
        self.assertEqual(faults[:3], [], f"{len(faults)} of {len(rows)} rows")
        return len(rows), found

    def test_full_names(self):
        for pdb, answers in (("g01-crash-x86/crash.pdb", "g01.crash"), ("g17-vs2003-2005/native2005x64.pdb", "g17.native2005x64")):
            with self.subTest(answers):
                rows, _ = self.judge(self.fixture(pdb), self.fixture(f"microsoft/answers/{answers}.jsonl.gz"), "--index", "never", "--names", "full")
                self.assertGreater(rows, 800)

    JUMP = "a jump of an incremental link to this function"

    def test_jumps_are_named_after_their_targets(self):
        """The records of these jumps do not state their targets; the stream of publics does. Microsoft's name is made from the
        decorated one: ILT+20(...)."""
        sentry = "std::basic_ostream<char,std::char_traits<char> >::sentry::"
        base = "std::basic_ostream<char,std::char_traits<char> >::_Sentry_base::"
        names = [f"{sentry}~sentry", f"{base}~_Sentry_base", f"{base}_Sentry_base", f"{sentry}sentry",
                 "std::operator<<<std::char_traits<char> >", f"{sentry}operator bool", "wmain"]
        pdb = self.fixture("g17-vs2003-2005/native2005x64.pdb")
        answers = self.fixture("microsoft/answers/g17.native2005x64.jsonl.gz")
        theirs = {row["rva"]: row["frames"][0][0] for row in microsoft.read(answers)}
        for index in ("never", "always"):
            rows = [{"rva": f"{at:#x}@i"} for at in range(0x1003, 0x102b)]
            for at, ((frame,), row) in enumerate(zip(self.frames(pdb, rows, "--index", index), rows), 0x1003):
                with self.subTest(row["rva"], index=index):
                    number = (at - 0x1005) // 5
                    inside = 0 <= number < len(names)
                    self.assertEqual((frame["function"], frame["note"], frame["symbols"]),
                                     (names[number], self.JUMP, "pdb-public") if inside else
                                     (None, "no symbol covers this offset", "none"))
                    if f"{at:#x}" in theirs and inside:
                        self.assertTrue(theirs[f"{at:#x}"].startswith(f"ILT+{5 * number}("))

    def test_answers_for_all_fixtures(self):
        total, rows, absent = collections.Counter(), 0, []
        for path in sorted(self.fixture("microsoft/answers").glob("*.jsonl.gz")):
            group, _, stem = path.name.removesuffix(".jsonl.gz").partition(".")
            (folder,) = e2e.FIXTURES.glob(f"{group}-*")
            pdb = folder / f"{stem}.pdb"
            if not pdb.exists():
                absent.append(f"{folder.name}/{pdb.name}")
                continue
            for options in (["--index", "never"], ["--index", "always"]):
                with self.subTest(path.name, options=options):
                    count, found = self.judge(pdb, path, *options)
                    rows, total = rows + count, total + found
        print(f"{rows} answers; {sum(total.values())} differ for a listed reason: {dict(total)}")
        for name in absent:
            self.fixture(name)  # skips, now that the others were judged
        self.assertGreater(rows, 90000)


# What Microsoft spells in another way than symbol/README.md says of ours: its form, made ours. The second member: of which of the two
# forms, None for both.
SPELLINGS = [
    ("__ptr64", 0, lambda text: text.replace(" __ptr64", "")),
    ("blanks at the ends and around const", None, lambda text: re.sub(r"\)(const|volatile)( &)? *(?=$|[,)'])", r") \1\2", text.strip())),
    ('extern "C"', 1, lambda text: text.removeprefix('extern "C" ')),
    ("a blank before a class", 1, lambda text: re.sub(r"\( (?=[\w:<>,]+::\*)", "(", text)),
    ("an offset below 0", 1, lambda text: re.sub(r"vtordisp\{(\d+),", lambda m: f"vtordisp{{{int(m[1]) - (int(m[1]) >> 31 << 32)},", text)),
    ("const of tables", 1, lambda text: re.sub(r"^const (?=.*`(vftable|vbtable|RTTI Complete Object Locator)')", "", text)),
]
# Names that differ for another listed reason: in which form (None: both), by which pattern of the decorated name.
OTHERS = [
    ("a thunk is marked", 0, r"\$4PPP|@[WGO][A-P0-9]+@"),
    ("the base class of a table", 0, r"^\?\?_[78R].*[67]B[\w?]"),
    ("const of an array of pointers to functions", None, r"\$\$BY\d\dQ6"),
    ("left decorated by Microsoft", None, r"^\?\.cctor@"),
    ("a literal", None, r"^\?\?_C@"),
    ("a thunk for a virtual call", None, r"^\?\?_9"),
    ("the type of a variable inside a name", 1, r"^\?\?\?__E|\$1\?\w+@@3"),
]


class Names(e2e.Case):
    @functools.cached_property
    def rows(self):
        return microsoft.names(self.fixture("microsoft/undname.tsv.gz"))

    def compared(self, form):
        """(functions, those that differ in more than spelling, all names that differ for no listed reason)."""
        ours = subprocess.run([e2e.BUILD / "tests/undecorate_lines", ("short", "full")[form]], text=True, capture_output=True, check=True,
                              input="".join(row[0] + "\n" for row in self.rows)).stdout.splitlines()
        self.assertEqual(len(ours), len(self.rows))
        functions = differ = 0
        unlisted = []
        for (decorated, *answers), text in zip(self.rows, ours):
            is_function = decorated.endswith("Z")
            theirs = answers[form]
            for _, of, change in SPELLINGS:
                theirs = change(theirs) if of in (None, form) else theirs
            same = theirs == (decorated if text == "-" else text)
            if form == 1 and not is_function and f" {text}" in theirs:  # a variable after its type
                continue
            functions += is_function
            differ += is_function and not same
            if not same and not any(of in (None, form) and re.search(pattern, decorated) for _, of, pattern in OTHERS):
                unlisted.append((decorated, answers[form], text))
        print(f"{('short', 'full')[form]}: {len(self.rows)} names, {functions} functions, {differ} of them differ in more than spelling")
        return functions, differ, unlisted

    def test_names_are_microsofts(self):
        for form in (0, 1):
            with self.subTest(("short", "full")[form]):
                functions, differ, unlisted = self.compared(form)
                self.assertGreater(functions, 5000)
                self.assertLessEqual(differ, functions / 200)
                self.assertEqual(unlisted[:5], [])


if __name__ == "__main__":
    e2e.main()
