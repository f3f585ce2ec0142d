#!/usr/bin/python3
"""Faults that no table has, asked at first sight: started as `./run mutation --fresh SEED [--each N] [ROOM]...`.

N faults (default 1) of each room, of those ROOMs if any are named, are chosen as SEED says, of N files and of each kind as often; none is on
a line that a table has. Asked are, until one fails: the nearest unit programs, these under sanitizers, the end-to-end tests of `./run test
--quick`, all other unit programs that have the file. So a rate of these is the one that users get. Where `--reach` was run before, the
programs that do not run the line are left out: they cannot notice it. Answers are kept in build/mutation/fresh-SEED.jsonl, so an interrupted
run goes on; those that are NOT NOTICED are to be read: a row for each, or a reason why it changes nothing.

    --e2e WORD,... only the end-to-end tests whose names have one of these: minutes instead of an hour, and a rate that is too low
    --again WORD   asks those again whose name contains WORD and which nothing noticed; they are no longer first sight, and said so"""

import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import sys
import tempfile
import time

import generate
import here
import mutate
import reach
from faults import room_of

NEAREST = 8


def line_of(fault):
    lines = (mutate.ROOT / fault["file"]).read_text(encoding="utf-8").split("\n")
    return [n for n, line in enumerate(lines, 1) if line.strip() == fault["line"]][fault["nth"] - 1]


def rank(seed, *parts):
    return hashlib.sha256(json.dumps([seed, *parts]).encode()).hexdigest()


def chosen(seed, each, rooms):
    """Faults of SEED: EACH of every room, or of those whose name contains a word of ROOMS; of one file one fault, while others are left."""
    generate.SEED = seed
    cindex, rows = generate.load_clang(), generate.product_rows()
    taken = {(f["file"], f.get("line")) for f in mutate.read_faults()}
    files, found = {}, []
    for row in rows:
        files.setdefault(room_of({"file": pathlib.Path(row["file"]).relative_to(mutate.ROOT).as_posix()}), []).append(row)
    for room in sorted(r for r in files if not rooms or any(word in r for word in rooms)):
        of_room, kinds = 0, sorted(generate.KINDS, key=lambda kind, room=room: rank(seed, room, kind))
        for row in sorted(files[room], key=lambda row: rank(seed, pathlib.Path(row["file"]).name)):
            if of_room == each:
                break
            places = [f for f in generate.Source(cindex, row).faults() if (f["file"], f["line"]) not in taken]
            places.sort(key=lambda f, first=of_room: ((kinds.index(f["kind"]) - first) % len(kinds), f["rank"]))
            fault = next((f for f in places if generate.compiles(f, rows)), None)
            if fault is not None:
                found.append({**fault, "name": generate.name_of(fault)})
                of_room += 1
    return found


def ask(build, known, fault, folder, e2e):
    """The name of the first program that fails, and how many could be asked. E2E: words, one of which an end-to-end test has in its name."""
    file, text = mutate.place_of(fault)
    place = fault["file"], line_of(fault)
    inside = build.of(build.compile(file, text, folder))
    tests = [argv for argv in mutate.e2e_tests() if "twinstack" in inside and any(word in argv[1].stem for word in e2e)
             and known.may_run(f"e2e_{argv[1].stem.removeprefix('test_')}", *place)]
    near = mutate.words(fault["file"])
    units = sorted((p for p in inside - {"twinstack"} if known.may_run(p, *place)),
                   key=lambda p: (p in here.SLOW, -len(mutate.words(p) & near), build.seconds.get(p, 1)))
    where = here.environment(folder)
    by = here.ask_units(build, units[:NEAREST], file, text, folder, where)
    by = by or here.ask_sanitized(build, units[:NEAREST], file, text, folder, where)
    by = by or (here.ask_e2e(build, tests, file, text, folder, where) if tests else None)
    return by or here.ask_units(build, units[NEAREST:], file, text, folder, where), len(units) + len(tests)


def show(rows):
    rooms = {}
    for row in rows:
        rooms.setdefault(room_of(row["fault"]), []).append(bool(row["by"]))
    for room, found in sorted(rooms.items()):
        print(f"{room:32} {sum(found):3} of {len(found)}")
    print(f"noticed at first sight: {sum(bool(r['by']) for r in rows)} of {len(rows)}; run by no program: {sum(r['asked'] == 0 for r in rows)}")


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", metavar="SEED", type=int)
    parser.add_argument("rooms", metavar="ROOM", nargs="*")
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--e2e", metavar="WORD,...", default="")
    parser.add_argument("--again", metavar="WORD")
    asked = parser.parse_intermixed_args(words)
    kept = mutate.PLACE / f"fresh-{asked.seed}.jsonl"
    rows = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()] if kept.is_file() else []
    if asked.again is not None:
        faults = [r["fault"] for r in rows if not r["by"] and asked.again in r["fault"]["name"]]
    else:
        faults = [f for f in chosen(asked.seed, asked.each, asked.rooms) if f["name"] not in {r["fault"]["name"] for r in rows}]
    build, known = here.Build(), reach.Reach()

    def one(fault):
        start = time.monotonic()
        with tempfile.TemporaryDirectory(dir=mutate.PLACE, prefix="here-") as folder:
            by, count = ask(build, known, fault, pathlib.Path(folder), asked.e2e.split(","))
        return {"fault": fault, "by": by or "", "asked": count, "seconds": round(time.monotonic() - start)}

    with concurrent.futures.ThreadPoolExecutor(mutate.CORES) as pool:
        for done in concurrent.futures.as_completed([pool.submit(one, f) for f in faults]):
            try:
                row = done.result()
            except AssertionError as broken:
                print(f"fresh.py: does not build: {str(broken)[-600:]}", file=sys.stderr)
                continue
            fault = row["fault"]
            print(f"{fault['name']:50} {row['by'] or 'NOT NOTICED':24} {row['asked']:3} asked {row['seconds']:4} s", flush=True)
            if not row["by"]:
                print(f"    {fault['file']}:{line_of(fault)}\n    - {fault['line']}\n    + {fault['put']}", flush=True)
            rows.append(row)
            if asked.again is None:
                with kept.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(row) + "\n")
    if asked.again is None:
        show(rows)
    return 0
