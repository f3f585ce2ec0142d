#!/usr/bin/python3
"""Red days: faults put into the tool, into its symbols or into the machine, and what an engineer sees of each one first.

    ./run mutation --days [NAME]...     judges a recorded run of the whole grid again, once for each day, and checks what is shown
    ./run mutation --days --write       also keeps what is shown in tests/mutation/days/
    ./run mutation --days --cases EXPR only these cases of the grid, as `run -k`
    ./run mutation --days --sample      judges the sealed cases of corpus/ in place of the grid: what `./run test` does

days.toml is the key: what broke, how many problems that is, whose fault each is, the word for its mechanism, and since which run.  The
grid is taken once, without a fault, into build/days, which takes as long as `./run`.  A fault of the tool is compiled alone and linked
with the rest of the build, so a day costs what judging costs.  A day of the capture has victims of its own, and takes its cases twice.

Exit status: 0 every day reads as its key says; 1 one does not; 3 there is no build, or the grid cannot be taken."""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import mutate  # noqa: E402
import own  # noqa: E402

ROOT, BUILD = mutate.ROOT, mutate.BUILD
KEPT = pathlib.Path(__file__).with_name("days")
PLACE = BUILD / "days"
GOOD = BUILD / "bin/twinstack"
FAILING = ("FAIL", "XPASS", "FLAKY", "ERROR")
LINES_MOST = 60      # of a terminal; and of a step summary or overview that is read without scrolling


def read_days(path=KEPT / "days.toml"):
    days = tomllib.loads(path.read_text(encoding="utf-8"))["day"]
    known = {fault["name"]: fault for fault in mutate.read_faults()}
    for day in days:
        day["faults"] = [known[fault] if isinstance(fault, str) else fault for fault in day.get("faults", [])]
    return days


# ---- the tool with a fault -------------------------------------------------------------------------------------------------------


def changed_files(day):
    """{file: its text with all of the day's faults}."""
    texts = {}
    for fault in day["faults"]:
        file, changed = mutate.place_of(fault)
        before = texts.get(file)
        texts[file] = changed if before is None else re.sub(fault["find"], lambda m, f=fault: m.expand(f["put"]), before)
    return texts


def tool_of(day, folder):
    """The program with the day's faults: their files are compiled alone, and linked before the archives that have them without."""
    if not day["faults"]:
        return GOOD
    rows = {row["file"]: row["command"] for row in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))}
    objects = []
    for file, text in changed_files(day).items():
        source = folder / file.relative_to(ROOT)
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text, encoding="utf-8")
        words = own.words_from_compiler(rows[str(file)])
        objects.append(str(source.with_suffix(".o")))
        words[words.index("-o") + 1], words[words.index("-c") + 1] = objects[-1], str(source)
        own.run([*words, "-iquote", str(file.parent)])
    link = own.words_from_compiler(own.run(["ninja", "-t", "commands", "bin/twinstack"]).splitlines()[-1].split("&&")[1])
    main = next(i for i, word in enumerate(link) if word.endswith("main.c.o"))
    program = folder / "twinstack"
    link[link.index("-o") + 1] = str(program)
    link[main:main + 1] = [link[main], *objects]
    own.run(link)
    return program


# ---- the cases of a day ----------------------------------------------------------------------------------------------------------


def reseal(case, files):
    document = json.loads((case / "case.json").read_text(encoding="utf-8"))
    document["files"] = files(document["files"])
    data = json.dumps(document, indent=1).encode()
    (case / "case.json").write_bytes(data)
    (case / "seal").write_text(hashlib.sha256(data).hexdigest() + "\n", encoding="ascii")


def link_tree(source, target):
    shutil.copytree(source, target, copy_function=os.link, dirs_exist_ok=True)


def symbols_gone(name, path):
    return None if re.fullmatch(name, path.name) else path.read_bytes()


def symbols_cut(name, path):
    return path.read_bytes()[:200000] if re.fullmatch(name, path.name) else path.read_bytes()


def symbols_of_another_build(name, path):
    """As an old folder of symbols would have: a file of that name, of another build."""
    others = sorted(path.parents[2].glob("victims-*.pdb/*/victims-*.pdb"))
    return others[(others.index(path) + 1) % len(others)].read_bytes() if re.fullmatch(name, path.name) and path in others else path.read_bytes()


BREAKS = {"gone": symbols_gone, "cut": symbols_cut, "of another build": symbols_of_another_build}


def break_symbols(cases, symbols, day):
    """What a crash leaves where the folder of symbols is not what it should be: the cases say, sealed, which files there were."""
    now = {}
    for path in (p for p in sorted(symbols.rglob("*.pdb")) if p.is_file()):
        now[path] = BREAKS[day["symbols"]](day.get("files", ".*"), path)
    for path, data in now.items():
        path.unlink()
        if data is not None:
            path.write_bytes(data)

    def there(case):
        def files(rows):
            left = []
            for row in rows:
                path = (case / row["path"]).resolve()
                if path in now and now[path] is not None:
                    row = row | {"bytes": len(now[path]), "sha256": hashlib.sha256(now[path]).hexdigest()}
                if path not in now or now[path] is not None:
                    left.append(row)
            return left
        return files

    for case in sorted(cases.iterdir()):
        if (case / "case.json").is_file():
            for name in ("case.json", "seal"):
                text = (case / name).read_bytes()
                (case / name).unlink()  # a link to the recorded one
                (case / name).write_bytes(text)
            reseal(case, there(case.resolve()))


# ---- what is shown ---------------------------------------------------------------------------------------------------------------


def environment(folder):
    kept = {name: value for name, value in os.environ.items() if name not in ("GITHUB_STEP_SUMMARY", "COLUMNS")}
    return {**kept, "TWINSTACK_CACHE": str(folder / "cache"), "TWINSTACK_BUILD": str(BUILD)}


def ask(tool, *argv, folder, statuses=(0, 1)):
    done = subprocess.run([str(a) for a in (tool, *argv)], capture_output=True, text=True, check=False, cwd=ROOT, env=environment(folder))
    if done.returncode not in statuses:
        raise SystemExit(f"days.py: {' '.join(map(str, argv))}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def overview_of(tool, db, folder):
    """The text of the first screen in a browser; None where there is none."""
    done = subprocess.run(["node", KEPT / "overview.mjs", db], capture_output=True, text=True, check=False, cwd=ROOT,
                          env={**environment(folder), "TWINSTACK_PROGRAM": str(tool)})
    if done.returncode != 0:
        raise SystemExit(f"days.py: overview.mjs\n{done.stderr[-2000:]}")
    return done.stdout


def screens_of(tool, db, folder, with_browser=True):
    shown = {"terminal": ask(tool, "report", "--db", db, "--columns", 100, folder=folder),
             "summary": ask(tool, "report", "--db", db, "--md", "-", folder=folder)}
    shown["summary"] = "\n".join(shown["summary"].splitlines()[:LINES_MOST]) + "\n"
    if with_browser:
        shown["overview"] = overview_of(tool, db, folder)
    return {name: text.replace(str(folder), "DAY").replace(str(BUILD), "build") for name, text in shown.items()}


def read_words(text):
    """TEXT as a reader sees it: without the marks of Markdown and of tags."""
    return " ".join(re.sub(r"\\(.)", r"\1", re.sub(r"<[^>]*>", " ", text)).split())


def faults_shown(day, shown):
    """What a screen does not show as the key says, one sentence each."""
    wrong = []
    count = f"{day['problems']} problem{'' if day['problems'] == 1 else 's'}"
    for name, text in shown.items():
        lines = text.splitlines()
        if len(lines) > LINES_MOST:
            wrong.append(f"{name}: {len(lines)} lines, and {LINES_MOST} are what is read")
        flat = read_words(text)
        wrong += [f"{name}: nothing says '{word}'" for word in [*day["side"], *day["words"], day["since"], *([] if "lost" in day else [count])]
                  if word not in flat]
        if "shared" in day and not re.search(r"\d+ of (the cases|them) in (both|two)", flat):
            wrong.append(f"{name}: nothing says how many cases are in both problems")
    return wrong


def counted_wrong(case):
    """True when CASE's reason counts other places than there are rows in which a finding fails."""
    rows = {(f["thread_id"], f["row"] + below) for f in case["findings"] if f["fails"]
            for below in range(1 + int((re.findall(r"; and (\d+) more frame", f["evidence"] or "") or ["0"])[-1]))}
    said = re.search(r" \((\d+) (places|findings) in all\)", case["reason"] or "")
    return said is not None and (int(said[1]), said[2]) != (len(rows), "places")


def faults_in(day, report, shown):
    """The same, also of the report for programs."""
    wrong = faults_shown(day, shown)
    groups = report["failing"]
    if "lost" not in day and len(groups) != day["problems"]:
        wrong.append(f"{len(groups)} problems, and it is {day['problems']}: " + "; ".join(f"{g['cases']} {g['sentence']} ({g['blame']})" for g in groups))
    failing, in_groups = sum(c["verdict"] in FAILING for c in report["cases"]), sum(g["cases"] for g in groups)
    shared = sum(g["shared"] for g in groups) // 2
    if in_groups - shared != failing:
        wrong.append(f"{failing} cases fail, and the problems have {in_groups} of which {shared} are in two")
    wrong += [f"{case['scenario']}.{case['variant']} is counted wrong: {case['reason']}" for case in report["cases"] if counted_wrong(case)][:3]
    for group, side in zip(groups, day["side"]):
        if not (group["blame"] or "").startswith(side):
            wrong.append(f"'{group['sentence']}' is blamed on {group['blame']}, and it is {side}")
        example = re.search(r"; blame: ([^,]+), according to", group["reason"])
        if example and example[1] not in group["blame"]:
            wrong.append(f"'{group['sentence']}' is blamed on {group['blame']}, and its example on {example[1]}")
    return wrong


# ---- a day ---------------------------------------------------------------------------------------------------------------------


def sample_day(day, folder):
    """Returns (report, screens) of the sealed cases of corpus/."""
    tool, db = tool_of(day, folder), folder / "day.db"
    shutil.copytree(ROOT / "corpus/cases", folder / "cases")
    shutil.copytree(ROOT / "corpus/symbols", folder / "symbols")
    cases = sorted((folder / "cases").iterdir())
    ask(GOOD, "check", *cases, "--db", db, folder=folder)
    if "symbols" in day:
        break_symbols(folder / "cases", folder / "symbols", day)
    ask(tool, "check", *cases, "--db", db, folder=folder)
    return json.loads(ask(tool, "report", "--db", db, "--json", folder=folder)), screens_of(tool, db, folder, with_browser=False)


def take_grid():
    """One run of the whole grid, without a fault; taken again when the victims are others."""
    made_by = hashlib.sha256((BUILD / "victims/bin/victims-ob2.exe").read_bytes()).hexdigest()
    note = PLACE / "taken.victims"
    if note.is_file() and note.read_text(encoding="ascii") == made_by:
        return
    PLACE.mkdir(parents=True, exist_ok=True)
    for old in PLACE.glob("taken*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    done = subprocess.run([GOOD, "run", "--db", PLACE / "taken.db", "--out", PLACE / "taken", "--victims", BUILD / "victims/bin", "--prefix",
                           BUILD / "wine", "--progress", "plain"], cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SystemExit(f"days.py: the grid without a fault: exit status {done.returncode}; `twinstack report --db {PLACE}/taken.db` shows it")
    note.write_text(made_by, encoding="ascii")


def grid_day(day, folder, cases):
    """Returns (report, screens) of the recorded run, judged again by the day's tool, with the day's symbols, on the day's machine."""
    tool, db = tool_of(day, folder), folder / "day.db"
    with sqlite3.connect(PLACE / "taken.db") as source, sqlite3.connect(db) as target:
        source.backup(target)
    if "symbols" in day:
        link_tree(PLACE / "taken", folder / "taken")
        break_symbols(folder / "taken/cases", folder / "taken/symbols", day)
        with sqlite3.connect(db) as target:
            target.execute("UPDATE crash_case SET folder = replace(folder, ?, ?)", (str(PLACE / "taken"), str(folder / "taken")))
        target.close()
    ask(tool, "baseline", "set", "1", "--db", db, folder=folder)
    if "lost" in day:
        lose_builds(day, tool, folder, db)
    else:
        ask(tool, "regrade", "1", "--db", db, "--progress", "none", *(["-k", cases] if cases else []), folder=folder)
    return json.loads(ask(tool, "report", "--db", db, "--json", folder=folder)), screens_of(tool, db, folder)


def faulty_victims(day):
    """The folder of victims whose capture has the day's faults, built in the copy of the sources."""
    mutate.PLACE.mkdir(parents=True, exist_ok=True)
    mutate.copy_tree()
    for file, text in changed_files(day).items():
        (mutate.TREE / file.relative_to(ROOT)).write_text(text, encoding="utf-8")
    victims = PLACE / "victims"
    if not (victims / "build.ninja").is_file():
        own.run(["cmake", "-G", "Ninja", "-S", mutate.TREE / "victims", "-B", victims, "--toolchain", mutate.TREE / "cmake/wine-clang.cmake",
                 "-DTWINSTACK_VARIANTS=ob2"])
    own.run(["ninja", "-C", victims])
    return victims / "bin"


def capture_day(day, folder):
    """Returns (report, screens) of two runs of the day's cases: with the victims as they are, and with those of the faulty capture."""
    db = folder / "day.db"
    for victims in (BUILD / "victims/bin", faulty_victims(day)):
        ask(GOOD, "run", "--db", db, "--out", folder / "taken", "-k", day["taken"], "--victims", victims, "--prefix", BUILD / "wine",
            "--progress", "none", folder=folder)
    ask(GOOD, "baseline", "set", "1", "--db", db, folder=folder)
    return json.loads(ask(GOOD, "report", "--db", db, "--json", folder=folder)), screens_of(GOOD, db, folder)


def lose_builds(day, tool, folder, db):
    """The same run on a machine that can no longer start some builds: a second run has the cases of the others, and is resumed there."""
    part, out = folder / "part.db", folder / "taken"
    shutil.copy(db, part)
    link_tree(PLACE / "taken", out)
    for case in (out / "cases").iterdir():
        if re.fullmatch(day["lost"], case.name.rpartition(".")[2]):
            shutil.rmtree(case)
    with sqlite3.connect(part) as target:
        target.execute("PRAGMA foreign_keys = ON")
        target.create_function("lost", 1, lambda variant: bool(re.fullmatch(day["lost"], variant)))
        target.execute("DELETE FROM crash_case WHERE lost(variant)")
        target.execute("UPDATE crash_case SET verdict = 'FAIL', known_id = NULL WHERE verdict = 'XFAIL'")  # acceptances come when a run is whole
        target.execute("UPDATE crash_case SET folder = replace(folder, ?, ?)", (str(PLACE / "taken"), str(out)))
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip() or None
        target.execute("UPDATE run SET uuid = 'd' || substr(uuid, 2), state = 'interrupted', started_ns = started_ns + 3600000000000,"
                       " commit_id = ?, command = ?", (head, f"twinstack run --db {db} --out {out}"))
    target.close()
    ask(tool, "db", "import", part, "--db", db, folder=folder)
    launcher = folder / "bin/wine"  # another program than the one whose 32-bit half was unpacked
    launcher.parent.mkdir()
    launcher.write_text(f"#!/bin/sh\nexec {shutil.which('wine')} \"$@\"\n", encoding="ascii")
    launcher.chmod(0o755)
    ask(tool, "run", "--resume", "last", "--db", db, "--launcher", launcher, "--prefix", BUILD / "wine", "--victims", BUILD / "victims/bin",
        "--progress", "none", folder=folder)


def try_day(day, sample, cases=None):
    folder = PLACE / ("sample" if sample else "grid") / day["name"]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if "taken" in day:
        return capture_day(day, folder)
    return sample_day(day, folder) if sample else grid_day(day, folder, cases)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*")
    parser.add_argument("--sample", action="store_true", help="the sealed cases of corpus/ in place of the grid")
    parser.add_argument("--cases", metavar="EXPR", help="only these cases of the grid, as `run -k`")
    parser.add_argument("--write", action="store_true", help="keep what is shown in tests/mutation/days/")
    asked = parser.parse_args(argv)
    days = [day for day in read_days() if not asked.names or any(name in day["name"] for name in asked.names)]
    if asked.sample:
        days = [day for day in days if not {"lost", "taken"} & set(day)]  # sealed cases need no processor, and are taken already
    elif any("taken" not in day for day in days):
        take_grid()
    failed = 0
    for day in days:
        report, shown = try_day(day, asked.sample, asked.cases)
        wrong = faults_in(day, report, shown)
        failed += bool(wrong)
        print(f"{'✗' if wrong else '✓'} {day['name']}: {day['broke']}", *(f"\n    {line}" for line in wrong), sep="", flush=True)
        for name, text in shown.items() if asked.write and not asked.sample else ():
            (KEPT / f"{day['name']}.{name}.txt").write_text(text, encoding="utf-8")
    print(f"{len(days)} red days, {failed} that do not read as their key says")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
