"""The scorers of the published fixtures, in their strict form: names with leading underscores, whole paths, every inlined call. Of the rows
on which independent tools agree, each that differs is listed here with the reason; so is what a scorer is asked with other options.

Only this finds that a change which is right for one kind of file is wrong for another."""

import collections
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

GOAL = 99.9  # percent of each of these, of all agreed rows together
METRICS = ("outer", "chain", "line")
# The reference of portable PDBs is System.Reflection.Metadata's, which prints names as the metadata has them: "Type/<>c::<Method>b__0_0".
# That is what --names decorated prints, too. All other references are read as people read names, and asked so.
OPTIONS = {"i40-ppdb": ("--names", "decorated")}
# Agreed rows that differ, as {metric: rows}.
DIFFER = {
    # 0x41548 and 0x141538 are past the image's end; the reference names the last symbol of its data.
    "i20-pe-dwarf/hello-dwarf": {"outer": 2, "depth": 2, "chain": 2, "lines": 2},
    "i20-pe-dwarf/hello-debuglink": {"outer": 2, "depth": 2, "chain": 2, "lines": 2},
    # The reference is that of the new form; old INLINE records do not state the file of a call.
    "i30-breakpad/linux_inline.old": {"lines": 7},
    # The rest is as Microsoft's dbghelp and DIA answer (microsoft/answers), unlike both tools of the reference.
    # 0x7a72: of folded functions, the line table of the one that is named. 0xbd1d, after a thunk: the name without "`vtordisp{-4, 0}'".
    "g07-conpty-x64/conpty.pdb": {"outer": 1, "chain": 1, "line": 1, "lines": 1},
    # 0x798e: the same of folded functions.
    "g08-setup-x86/Setup.pdb": {"line": 1, "lines": 1},
    # 0x133e is padding after a procedure: its name, as in every other PDB.
    "g18-binskim-fastlink-stripped/Native_x86_VS2017_15.5.4_PdbStripped.pdb": {"outer": 1, "chain": 1},
    # 0x2543: a name of C++/CLI, "??$ResolveMethod@$$A6MPEBXXZ@...@$$FSMP6MPEBXXZP6MPEBXXZ@Z".
    "g22-driver-mixed/MixedMode_x64_VS2015_Default.pdb": {"outer": 1, "chain": 1},
}


class Figures(e2e.Case):
    def score(self, scorer, folder, *options):
        out = self.folder / "score.json"
        subprocess.run([sys.executable, scorer, folder, "--strict", "--form", "stacks", "--json", out, *options], check=True, capture_output=True,
                       timeout=600 * e2e.PATIENCE)
        return json.loads(out.read_text(encoding="utf-8"))

    def check_rows(self, found):
        """FOUND: {file: counts of its agreed rows}."""
        judged, hits = collections.Counter(), collections.Counter()
        for key, got in found.items():
            judged.update(got["judged"])
            hits.update(got["hits"])
            with self.subTest(key):
                wrong = {metric: got["judged"][metric] - count for metric, count in got["hits"].items()}
                self.assertEqual(({m: n for m, n in wrong.items() if n}, got["unanswered"]), (DIFFER.get(key, {}), 0))
        for metric in METRICS:
            self.assertGreaterEqual(100 * hits[metric] / judged[metric], GOAL, metric)
        print(f"files {len(found)}, agreed rows {judged['depth']}: "
              + ", ".join(f"{metric} {100 * hits[metric] / judged[metric]:.2f} %" for metric in METRICS))

    def test_images_of_every_kind(self):
        root, found = self.fixture("images"), {}
        groups = {entry["id"].split("/")[0] for entry in json.loads((root / "images.json").read_text(encoding="utf-8"))}
        for group in sorted(groups):
            command = " ".join([str(e2e.PROGRAM), "resolve", "--ndjson", *OPTIONS.get(group, ()), "{arch:--arch}", "--symbols", "{image}",
                                "{debugs:--symbols}", "-"])
            sets = self.score(root / "score_images.py", root, "--only", group, "--cmd", command)
            found |= {key: counts["agree"] for key, counts in sets.items()}
        self.assertEqual(set(OPTIONS) - groups, set())
        self.check_rows(found)

    def test_pdbs(self):
        root = self.fixture("images")
        command = f"{e2e.PROGRAM} resolve --ndjson --pdb {{pdb}} -"
        sets = self.score(root / "score_base.py", root.parent, "--refs", root.parent, "--cmd", command)["pdbs"]
        self.assertEqual({key: counts["status"] for key, counts in sets.items() if counts["status"]}, {})
        self.check_rows({key: counts["agree"] for key, counts in sets.items()})


if __name__ == "__main__":
    e2e.main()
