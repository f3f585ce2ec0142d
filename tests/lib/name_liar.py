#!/usr/bin/python3
"""Contestants of the reference suite that break one rule of names of addresses each on purpose: name_liar.py NAME speaks the protocol.

Each takes the truth of the case and changes it as a symbolizer would that breaks the rule. `honest` and `spelled` change nothing that
counts."""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "corpus/reference/adapters"))
import contestant  # noqa: E402


def frames_of(case):
    return case["truth"].get("frames") or case["truth"].get("accepted", [[]])[0]


def plain(frames):
    return [{**frame, "function": (frame["function"] or [None])[0], "file": (frame["file"] or [None])[0]} for frame in frames]


def spelled(frames, _):
    """Other accepted names, blanks, the other slash, no word about what is inlined."""
    return [{"line": frame["line"], "file": frame["file"] and frame["file"][0].replace("/", "\\").replace("\\", "/./", 1),
             "function": frame["function"] and frame["function"][-1].replace(",", " , ")} for frame in frames]


def no_inlined(frames, _):
    """The function of the symbol table, the line of the line table."""
    frames = plain(frames)
    return [{**frames[-1], "file": frames[0]["file"], "line": frames[0]["line"]}]


def lines_of_callee(frames, _):
    return [{**frame, "line": frames[0]["line"]} for frame in plain(frames)]


def return_itself(frames, given):
    """Looks a return address up where it is: what comes after the call."""
    frames = plain(frames)
    return [{**frames[0], "line": frames[0]["line"] + 1}, *frames[1:]] if given["lookup"] == "return" else frames


def always_before(frames, given):
    """Looks every address up one byte earlier."""
    frames = plain(frames)
    return [{**frames[0], "line": frames[0]["line"] - 1}, *frames[1:]] if given["lookup"] == "interrupted" else frames


def outermost_first(frames, _):
    return plain(frames)[::-1]


def joined_twice(frames, _):
    return [{**frame, "file": "/suite" + frame["file"] if frame["file"].startswith("/suite") else frame["file"]} for frame in plain(frames)]


def not_joined(frames, _):
    """A folder of the line table without that of the compilation."""
    return [{**frame, "file": frame["file"].removeprefix("/suite/")} for frame in plain(frames)]


def file_of_unit(frames, _):
    """The unit's first file for every row."""
    main = plain(frames)[-1]["file"].replace("made/by_generator.y", "shapes.c").replace("made/second.y", "shapes.c").replace("made/third.y", "shapes.c")
    return [{**frame, "file": main} for frame in plain(frames)]


def no_lines(frames, _):
    return [{**frame, "file": None, "line": None} for frame in plain(frames)]


def innermost(frames, _):
    return plain(frames)[:1]


def no_flags(frames, _):
    return [{**frame, "inlined": False} for frame in plain(frames)]


def one_more(frames, _):
    return [*plain(frames), plain(frames)[-1]]


def several(case):
    return len(frames_of(case)) > 1


# Each liar, and the cases in which it is not right.
LIARS = {
    "honest": (lambda frames, _: plain(frames), lambda case: False),
    "spelled": (spelled, lambda case: False),
    "no-inlined": (no_inlined, several),
    "lines-of-callee": (lines_of_callee, lambda case: len({frame["line"] for frame in frames_of(case)}) > 1),
    "return-itself": (return_itself, lambda case: case["position"] == "return"),
    "always-before": (always_before, lambda case: case["position"] != "return"),
    "outermost-first": (outermost_first, several),
    "joined-twice": (joined_twice, lambda case: any(frame["file"][0].startswith("/suite") for frame in frames_of(case))),
    "not-joined": (not_joined, lambda case: any(frame["file"][0].startswith("/suite/made/") for frame in frames_of(case))),
    "file-of-unit": (file_of_unit, lambda case: len({frame["file"][0] for frame in frames_of(case)} | {main(case)}) > 1),
    "no-lines": (no_lines, lambda case: True),
    "innermost": (innermost, several),
    "no-flags": (no_flags, several),
    "one-more": (one_more, lambda case: True),
}


def main(case):
    """What `file-of-unit` says."""
    return file_of_unit(frames_of(case), None)[0]["file"]


def serve(name):
    change, cases = LIARS[name][0], {}

    def answer(folder, question):
        if not cases:
            for listed in json.loads((folder / "suite.json").read_text(encoding="utf-8"))["lists"]:
                if listed.startswith("addresses/"):
                    cases.update((case["id"], case) for case in map(json.loads, (folder / listed).read_text(encoding="utf-8").splitlines()))
        return change(frames_of(cases[question["id"]]), question["given"])

    contestant.serve(f"liar {name}", "1", {"addresses.dwarf": answer, "addresses.pdb": answer})


if __name__ == "__main__":
    serve(sys.argv[1])
