#!/usr/bin/python3
"""twinstack's own walk and names: ours.py [PROGRAM]

Runs: `twinstack dump MOMENT.dmp --explain all --json --symbols FILE`, and for a dump `--thread ID`, and `--stacks` once for the
names. A moment becomes a minidump of one thread (dump_of_moments.py); FILE is its image, and once more its PDB.
Addresses: `twinstack resolve --ndjson --symbols FILES -`, one for each image, which answers each line {"modules": [{"name": IMAGE}],
"frames": [FRAME]} at once; FILES are those of the suite whose names begin with the image's.
Seen with: twinstack 0.1.0.
By hand: `dump_of_moments.py SUITE ID moment.dmp`, then `twinstack dump moment.dmp --stacks --symbols images`."""

import functools
import json
import pathlib
import subprocess
import sys
import tempfile

import contestant
import dump_of_moments

PROGRAM = contestant.program(sys.argv[1] if len(sys.argv) > 1 else "twinstack")


def run(*words):
    return subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout


def explained(*words):
    """[(ip, sp)]: --explain is the output that has the stack pointers."""
    frames = json.loads(run("dump", *words, "--explain", "all", "--json"))["frames"]
    return [(int(frame["pc"], 16), int(frame["sp"], 16)) for frame in frames[:contestant.WALK_MAX]]


@functools.lru_cache
def files_of(image):
    """--symbols for the files whose names begin as that of IMAGE does: a folder would be listed, and each of its files read."""
    stem = image.name.split(".")[0]
    files = sorted(path for path in image.parent.iterdir() if path.name.startswith((stem + ".", stem + "-")) and path.suffix != ".marks")
    return [word for file in files for word in ("--symbols", str(file))]


def answer(folder, question):
    given = question["given"]
    images = sorted({(folder / m["path"]).resolve() for m in given["modules"]})
    with tempfile.NamedTemporaryFile(suffix=".dmp") as dump:
        dump.write(dump_of_moments.written(folder, [given]))
        dump.flush()
        return explained(dump.name, "--offline", "--cache", "none", *(word for image in images for word in files_of(image)))


def of_dump(folder, question):
    given, names = question["given"], {}
    words = [str(folder / given["dump"]), "--offline", "--thread", str(given["thread"]),
                                                 *(["--symbols", str(folder / given["symbols"])] if given["symbols"] else [])]
    thread = next(t for t in json.loads(run("dump", *words, "--stacks", "--json"))["threads"] if t["id"] == given["thread"])
    for frame in thread["stack"]["frames"]:
        names.setdefault(frame["index"], []).append({key: frame[key] for key in ("function", "file", "line", "inlined")})
    return [(ip, sp, names.get(index)) for index, (ip, sp) in enumerate(explained(*words))]


@functools.lru_cache(maxsize=1)  # the suite has the addresses of one image after another
def resolver(words):
    return subprocess.Popen([PROGRAM, "resolve", "--ndjson", "--offline", "--cache", "none", *words, "-"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def name(folder, question):
    given = question["given"]
    main = (folder / (given["image"] or given["symbols"])).resolve()
    module = main.name if given["image"] else main.name.split(".")[0] + ".exe"
    process = resolver(tuple(files_of(main) if given["image"] else ["--pdb", f"{module}={main}"]))
    asked = {"modules": [{"name": module}], "frames": [{"module": 0, "offset": given["rva"], "kind": given["lookup"]}]}
    try:
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        frames = json.loads(process.stdout.readline())["frames"]
    except (OSError, ValueError):
        resolver.cache_clear()  # it has ended: the next question gets another one
        raise
    return [{key: frame[key] or None if key != "inlined" else frame[key] for key in ("function", "file", "line", "inlined")}
            for frame in frames if frame["function"] or frame["line"]]


if __name__ == "__main__":
    contestant.serve("twinstack", run("--version").split()[1], {
        "moments.arm64": answer, "moments.x64": answer, "moments.x86": answer, **{f"dumps.{processor}": of_dump for processor in ("arm64", "x64", "x86")},
        "addresses.dwarf": name, "addresses.pdb": name})
