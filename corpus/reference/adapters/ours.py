#!/usr/bin/python3
"""twinstack's own walk and names: ours.py [PROGRAM]

Runs: `twinstack dump MOMENT.dmp --explain all --json --symbols IMAGES`, and for a dump `--thread ID`, and `--stacks` once for the
names. A moment becomes a minidump of one thread (dump_of_moments.py); --symbols names the folder of its image.
An address: `twinstack resolve --ndjson --symbols FILES -` on a line `IMAGE!0xRVA@i`, `@r` for a return address; FILES are those of the
suite whose names begin with the image's.
Seen with: twinstack 0.1.0.
By hand: `dump_of_moments.py SUITE ID moment.dmp`, then `twinstack dump moment.dmp --stacks --symbols images`."""

import json
import pathlib
import subprocess
import sys
import tempfile

import contestant
import dump_of_moments

PROGRAM = contestant.program(sys.argv[1] if len(sys.argv) > 1 else "twinstack")


def run(*words, **more):
    return subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True, **more).stdout


def explained(*words):
    """[(ip, sp)]: --explain is the output that has the stack pointers."""
    frames = json.loads(run("dump", *words, "--explain", "all", "--json"))["frames"]
    return [(int(frame["pc"], 16), int(frame["sp"], 16)) for frame in frames[:contestant.WALK_MAX]]


def answer(folder, question):
    given = question["given"]
    images = sorted({str((folder / m["path"]).resolve().parent) for m in given["modules"]})
    with tempfile.TemporaryDirectory() as place:
        dump = pathlib.Path(place, "moment.dmp")
        dump.write_bytes(dump_of_moments.written(folder, [given]))
        return explained(str(dump), "--offline", "--cache", place, *(word for image in images for word in ("--symbols", image)))


def of_dump(folder, question):
    given, names = question["given"], {}
    words = [str(folder / given["dump"]), "--offline", "--thread", str(given["thread"]),
                                                 *(["--symbols", str(folder / given["symbols"])] if given["symbols"] else [])]
    thread = next(t for t in json.loads(run("dump", *words, "--stacks", "--json"))["threads"] if t["id"] == given["thread"])
    for frame in thread["stack"]["frames"]:
        names.setdefault(frame["index"], []).append({key: frame[key] for key in ("function", "file", "line", "inlined")})
    return [(ip, sp, names.get(index)) for index, (ip, sp) in enumerate(explained(*words))]


def name(folder, question):
    given = question["given"]
    main = (folder / (given["image"] or given["symbols"])).resolve()
    stem = main.name.split(".")[0]
    files = sorted(path for path in main.parent.iterdir() if path.name.startswith((stem + ".", stem + "-")) and path.suffix != ".marks")
    words = [word for file in files for word in ("--symbols", str(file))]
    module = main.name if given["image"] else stem + ".exe"
    if not given["image"]:
        words = ["--pdb", f"{module}={main}"]
    line = f"{module}!{given['rva']}@{'r' if given['lookup'] == 'return' else 'i'}\n"
    frames = json.loads(run("resolve", "--ndjson", "--offline", "--cache", "none", *words, "-", input=line))["frames"]
    return [{key: frame[key] or None if key != "inlined" else frame[key] for key in ("function", "file", "line", "inlined")}
            for frame in frames if frame["function"] or frame["line"]]


if __name__ == "__main__":
    contestant.serve("twinstack", run("--version").split()[1], {
        "moments.arm64": answer, "moments.x64": answer, "moments.x86": answer, **{f"dumps.{processor}": of_dump for processor in ("arm64", "x64", "x86")},
        "addresses.dwarf": name, "addresses.pdb": name})
