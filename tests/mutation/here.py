#!/usr/bin/python3
"""The level `unit` of mutate.py without a copy of the sources, in seconds for each fault: started as `./run mutation --here [NAME]...`.

Only the file that has the fault is compiled, without optimisation; each unit test that contains the file is linked with it and run, the
likely ones first, until one fails. If none does, they run again with the file compiled as the sanitized programs of `./run test` are: what
reads one row too many is seen by these alone. At last twinstack is linked with it, and the end-to-end tests of `./run test --quick` run.
What they find goes to the results of mutate.py, which goes on from there.  Faults in headers, which many objects contain, and in what is
not part of this build (the capture, Windows) are left to mutate.py."""

import concurrent.futures
import contextlib
import datetime
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import mutate
import own

LIMIT_S, CORE_S, STEP_S = 150, 100, 5  # a program has both: wall time, and time in which it could have had a core
ARENA = mutate.ROOT / "analyze/base/arena.c"  # in sanitized programs it has a fence after each allocation
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# They wait for most of their time, and are asked last.
SLOW = {f"unit_{name}" for name in ("dump_engine", "work", "gather", "collect", "stay", "symbol_index", "store_listing", "cut_lists", "store_shared", "case",
                                        "cut_object", "image_index", "dump_plain")}


class Build:
    """What the build folder has: the command for each object and program, and the symbols of each program."""

    def __init__(self):
        rows = json.loads((mutate.BUILD / "compile_commands.json").read_text(encoding="utf-8"))
        self.rows = {r["file"]: own.words_from_compiler(r["command"]) for r in rows}
        units = [p.name for p in sorted((mutate.BUILD / "tests").glob("unit_*")) if p.is_file() and "." not in p.name]
        self.symbols = {name: mutate.Programs.defined(mutate.BUILD / "tests" / name) for name in units}
        self.symbols["twinstack"] = mutate.Programs.defined(mutate.BUILD / "bin/twinstack")
        self.links, self.seconds, self.lock = {}, {}, threading.Lock()

    def link_words(self, name):
        with self.lock:
            if name not in self.links:
                target = "bin/twinstack" if name == "twinstack" else name
                last = own.run(["ninja", "-t", "commands", target]).splitlines()[-1]
                self.links[name] = own.words_from_compiler(last.split("&&")[1])
            return list(self.links[name])

    def compile(self, file, text, folder, *more):
        """The object of FILE with this TEXT; MORE: options."""
        source, made = folder / file.name, folder / f"{file.stem}.o"
        source.write_text(text, encoding="utf-8")
        words = [w for w in self.rows[str(file)] if not w.startswith(("-W", "-O", "-g"))]
        words[words.index("-o") + 1] = str(made)
        words[words.index("-c") + 1] = str(source)
        for option in ("-MF", "-MT"):
            if option in words:
                del words[words.index(option):words.index(option) + 2]
        own.run([*[w for w in words if w != "-MD"], "-w", "-O0", *more, "-iquote", str(file.parent)])
        return made

    def link(self, name, objects, file, place, *more):
        words = [*self.link_words(name), *more]
        words[words.index("-o") + 1] = str(place)
        same = [n for n, w in enumerate(words) if w.endswith("/" + file.relative_to(mutate.ROOT).as_posix() + ".o")]
        first = same[0] if same else next(n for n, w in enumerate(words) if w.endswith(".o"))
        words[first:first + bool(same)] = map(str, objects)  # before the archives, so that their objects of the same files are not used
        own.run(words)

    def of(self, made):
        """The names of the programs that contain the object MADE."""
        wanted = mutate.Programs.defined(made, "--extern-only")
        return {name for name, has in self.symbols.items() if wanted & has}


def passes(build, argv, name, environment, folder):
    start = time.monotonic()
    log = folder / f"{name}.log"
    with log.open("wb") as out:
        child = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=mutate.ROOT, env=environment,
                                 start_new_session=True)
        status, had_s = None, 0.0
        while status is None and (time.monotonic() < start + LIMIT_S or had_s < CORE_S):
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = child.wait(STEP_S)
            had_s += STEP_S / mutate.overload()
        if status is None:
            mutate.os.killpg(child.pid, mutate.signal.SIGKILL)
            child.wait()
    if status == 0:
        build.seconds[name] = time.monotonic() - start
    return status == 0


def shadow_build(folder):
    """A folder that looks like the build folder, whose twinstack is the one of FOLDER."""
    shadow = folder / "build"
    (shadow / "bin").mkdir(parents=True)
    for inner in ("", "bin"):
        for path in (mutate.BUILD / inner).iterdir():
            if path.name not in ("bin", "mutation", "twinstack", "cache"):
                (shadow / inner / path.name).symlink_to(path)
    (shadow / "bin/twinstack").symlink_to(folder / "twinstack")
    return shadow


def ask_units(build, units, file, text, folder, environment, options=()):
    """The name of the first of UNITS that fails, linked with FILE as it is with this TEXT and OPTIONS; or None."""
    objects = [build.compile(file, text, folder, *options)]
    if options and file != ARENA:
        objects.append(build.compile(ARENA, ARENA.read_text(encoding="utf-8"), folder, *options))
    for name in units:
        build.link(name, objects, file, folder / name, *options)
        good = passes(build, [folder / name], name, environment, folder)
        (folder / name).unlink()
        if not good:
            return name
    return None


def ask_sanitized(build, units, file, text, folder, environment):
    """The same with sanitizers; a program that fails so without the fault says nothing about it."""
    by = ask_units(build, units, file, text, folder, environment, SANITIZED)
    return by if by and not ask_units(build, [by], file, file.read_text(encoding="utf-8"), folder, environment, SANITIZED) else None


def ask_e2e(build, tests, file, text, folder, environment):
    """The name of the first end-to-end test of TESTS that fails with a twinstack that has FILE as it is with this TEXT; or None. Those that
    share words with the file's name go first."""
    build.link("twinstack", [build.compile(file, text, folder)], file, folder / "twinstack")
    environment = {**environment, "TWINSTACK_BUILD": str(shadow_build(folder))}
    near = mutate.words(str(file.relative_to(mutate.ROOT)))
    for argv in sorted(tests, key=lambda argv: (-len(mutate.words(argv[1].stem) & near), build.seconds.get(argv[1].stem, 1))):
        test = mutate.ROOT / argv[1].relative_to(mutate.TREE)
        if not passes(build, [argv[0], test], test.stem, environment, folder):
            return test.stem
    return None


def environment(folder):
    return {**mutate.environment(), "TWINSTACK_BUILD": str(mutate.BUILD), "TWINSTACK_CACHE": str(folder / "cache"), "TMPDIR": str(folder),
            "ASAN_OPTIONS": "detect_leaks=0"}  # the tests themselves are compiled without


def ask_pages(build, file, text, folder):
    """The name of the first test in JavaScript that fails with the pages as they are with this TEXT; or None."""
    pages = mutate.ROOT / "dashboard/web/src"
    shutil.copytree(pages, folder / "src")
    (folder / "src" / file.relative_to(pages)).write_text(text, encoding="utf-8")
    environment = {**mutate.environment(), "TWINSTACK_BUILD": str(mutate.BUILD), "TWINSTACK_WEB": str(folder / "src")}
    asked = [mutate.ROOT / argv[1].relative_to(mutate.TREE) for argv in mutate.e2e_tests() if argv[0] == "node"]
    return next((test.stem for test in asked if not passes(build, ["node", test], test.stem, environment, folder)), None)


def ask(build, fault, folder, with_e2e):
    """The name of the first test program that fails, or None."""
    file, text = mutate.place_of(fault)
    if mutate.is_of_pages(file):
        return ask_pages(build, file, text, folder)
    inside = build.of(build.compile(file, text, folder))
    near = mutate.words(str(file.relative_to(mutate.ROOT)))
    units = sorted(inside - {"twinstack"}, key=lambda p: (p != fault.get("test"), p in SLOW or build.seconds.get(p, 1) > 10,
                                                          -len(mutate.words(p) & near), build.seconds.get(p, 1)))
    where = environment(folder)
    by = ask_units(build, units, file, text, folder, where) or ask_sanitized(build, units, file, text, folder, where)
    if by or not with_e2e or "twinstack" not in inside:
        return by
    return ask_e2e(build, mutate.e2e_tests(), file, text, folder, where)


def is_ours(fault, build):
    place = mutate.place_of(fault)
    return place is not None and (str(place[0]) in build.rows or mutate.is_of_pages(place[0])) and "equivalent" not in fault


def run(faults, with_e2e=True, at_once=2):
    """Asks for each of FAULTS; returns how many were not noticed."""
    build, now, missed = Build(), mutate.sources(), []
    mutate.PLACE.mkdir(parents=True, exist_ok=True)

    def one(fault):
        start = time.monotonic()
        with tempfile.TemporaryDirectory(dir=mutate.PLACE, prefix="here-") as folder:
            folder = pathlib.Path(folder)
            by = ask(build, fault, folder, with_e2e)
            log = folder / f"{by}.log"
            if by and log.is_file():
                (mutate.PLACE / "logs").mkdir(exist_ok=True)
                shutil.copy(log, mutate.PLACE / "logs" / fault["name"])
        return fault, by, round(time.monotonic() - start)

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for done in concurrent.futures.as_completed([pool.submit(one, f) for f in faults if is_ours(f, build)]):
            try:
                fault, by, seconds = done.result()
            except AssertionError as broken:
                print(f"mutate.py: does not build: {str(broken)[-600:]}", file=sys.stderr)
                continue
            print(f"{fault['name']:50} {by or 'NOT NOTICED':24} {seconds:4} s", flush=True)
            missed += [] if by else [fault]
            row = {"name": fault["name"], "fault": mutate.digest(fault), "sources": now, "level": "unit", "noticed": bool(by), "by": by or "",
                   "blames": {}, "seconds": seconds, "date": datetime.date.today().isoformat()}
            if by or with_e2e:
                with mutate.RESULTS.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(row) + "\n")
    return len(missed)


def main():
    names = [a for a in sys.argv[1:] if not a.startswith("--")]
    newest = mutate.newest_rows()
    faults = [f for f in mutate.read_faults() if (not names or any(re.search(n, f["name"] + " " + mutate.room_of(f)) for n in names))]
    faults = [f for f in faults if "--again" in sys.argv or not any(r["noticed"] for r in newest[f["name"]])]
    missed = run(faults, "--units" not in sys.argv)
    print(f"{len(faults)} asked, {missed} not noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
