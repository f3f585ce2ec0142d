"""Images and symbol files that are no PE with a plain PDB: every row on which two other tools agree."""

import gzip
import json
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

KINDS = ("breakpad", "msfz")
# The other spelling of the same id: 32 hex digits and an age.
SAMPLE = ("MODULE windows x86_64 3249D99D0C4049318610F4E4FB0B69361 app.pdb\nINFO CODE_ID 5AB380779000 app.exe\n"
          "FILE 0 d:/src/main.c\nFUNC 1000 100 8 main\n1000 100 10 0\nPUBLIC 2000 0 exported\n")
IDENTITY = "3249D99D0C4049318610F4E4FB0B69361"


def bare(text):
    """A name up to its parameter list, as far as tools agree on names."""
    return text.split("(")[0].split("<")[0].strip()


def stack(debug_id, offset="0x1000"):
    return json.dumps({"schema_version": 1, "modules": [
        {"index": 0, "name": "app.exe", "code_id": None, "debug_id": debug_id, "base": "0x400000", "size": "0x9000"}],
        "frames": [{"module": 0, "offset": offset, "kind": "interrupted"}]})


class Images(e2e.Case):
    def test_rows_on_which_other_tools_agree(self):
        root = self.fixture("images")
        for entry in json.loads((root / "images.json").read_text()):
            if entry["kind"] not in KINDS:
                continue
            ref = root / entry["ref"]
            lines = (gzip.open(ref.with_name(ref.name + ".gz"), "rt") if not ref.exists() else open(ref)).readlines()
            rows = [row for row in map(json.loads, lines) if row.get("agree") is True]
            text = "".join(f"> s\n{entry['module']}!{row['rva']}\n" for row in rows)
            with self.subTest(entry["id"]):
                done = self.run_twinstack("resolve", "--ndjson", "--symbols", root / entry["image"], stdin=text)
                for row, line in zip(rows, done.stdout.splitlines(), strict=True):
                    got, want = ([f for f in frames if f["function"] or f["line"]]
                                 for frames in (json.loads(line)["frames"], row["frames"]))
                    self.assertEqual([f["line"] or 0 for f in got], [f["line"] or 0 for f in want], row)
                    if not entry["id"].endswith(".old"):  # that form does not say in which file a call is
                        self.assertEqual([pathlib.PureWindowsPath(f["file"] or "").name for f in got],
                                         [pathlib.PureWindowsPath(f["file"] or "").name for f in want], row)
                    if entry["kind"] == "breakpad":
                        self.assertEqual([bare(f["function"]) for f in got], [bare(f["function"]) for f in want], row)


class Breakpad(e2e.Case):
    """How a .sym file is found, and what it never does."""

    def symbols(self, *places):
        folder = self.folder / "symbols"
        for place in places:
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_text(SAMPLE)
        return folder

    def frame(self, folder, stdin):
        answer = self.run_json("resolve", "--json", "--symbols", folder, stdin=stdin)
        frame = answer["frames"][0]
        return frame["symbols"], frame["function"], frame["identity"]

    def test_found_by_identity_and_by_name(self):
        plain, laid_out = self.symbols("app.sym"), f"app.pdb/{IDENTITY}/app.sym"
        self.assertEqual(self.frame(plain, stack(IDENTITY)), ("breakpad", "main", "checked"))
        self.assertEqual(self.frame(plain, "app.exe!0x1000\n"), ("breakpad", "main", "unchecked"))
        self.assertEqual(self.frame(plain, "app.exe!0x2004\n"), ("breakpad-public", "exported", "unchecked"))
        shutil.rmtree(plain)
        folder = self.symbols(laid_out)
        self.assertEqual(self.frame(folder, stack(IDENTITY)), ("breakpad", "main", "checked"))
        self.assertEqual(self.frame(folder, "app.exe!0x1000\n"), ("breakpad", "main", "unchecked"))

    def test_another_build_names_nothing(self):
        other = IDENTITY[:-1] + "2"
        for place in ("app.sym", f"app.pdb/{other}/app.sym"):
            with self.subTest(place):
                folder = self.symbols(place)
                self.assertEqual(self.frame(folder, stack(other))[:2], ("mismatch", None))
                shutil.rmtree(folder)

    def test_bound_to_a_name(self):
        path = self.symbols("x.sym") / "x.sym"
        done = self.run_json("resolve", "--json", "--pdb", f"tool.dll={path}", stdin="tool.dll!0x1000\n")
        self.assertEqual([f["function"] for f in done["frames"]], ["main"])


e2e.main()
