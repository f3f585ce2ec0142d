#!/usr/bin/python3
"""The results of all contestants side by side, as Markdown: table.py [FOLDER] reads FOLDER/results/*.json, made by
`twinstack score --cmd ... --json -o`. With --contestants, the table of README.md: each tool, its versions, and what the newest has right.
No grand total: no shape is as frequent in your programs as it is here."""

import json
import pathlib
import sys

KINDS = ("moments/x64", "moments/arm64", "moments/x86", "dumps/x64", "dumps/arm64", "dumps/x86", "addresses")
NONE = ("crashed", "timeout", "garbage")
OUTCOMES = ("right", "early", "wrong", *NONE, "unsupported")
TITLES = {"moments/x64": "Moments of a stack walk, x64", "moments/arm64": "Moments of a stack walk, arm64",
          "moments/x86": "Moments of a stack walk, x86", "dumps/x64": "Threads of minidumps, x64",
          "dumps/arm64": "Threads of minidumps, arm64", "dumps/x86": "Threads of minidumps, x86", "addresses": "Names of addresses"}


def results(folder):
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("results/*.json"))]
    retired = {row["id"] for row in json.loads((folder / "suite.json").read_text(encoding="utf-8"))["retired"]}
    for result in found:
        result["cases"] = {outcome: [case for case in ids if case not in retired] for outcome, ids in result["cases"].items()}
    return sorted(found, key=lambda r: (r["tool"]["name"], [int(n) if n.isdigit() else 0 for n in r["tool"]["version"].split(".")]))


def name(result):
    return f"{result['tool']['name']} {result['tool']['version']}"


def of_kind(result, kind):
    return {outcome: [case for case in ids if case.startswith(kind + "/")] for outcome, ids in result["cases"].items()}


def columns(found, kind):
    """[(heading, result)] of those that answered a case of KIND: versions of one tool that answer alike share a column."""
    out = []
    for result in found:
        if not any(case.startswith(kind + "/") for outcome, ids in result["cases"].items() if outcome != "unsupported" for case in ids):
            continue
        if out and out[-1][1]["tool"]["name"] == result["tool"]["name"] and of_kind(out[-1][1], kind) == of_kind(result, kind):
            out[-1] = (f"{out[-1][0].split(' to ')[0]} to {result['tool']['version']}", out[-1][1])
        else:
            out.append((name(result), result))
    return out


def counted(result, kind, part):
    """{PART of the id: {outcome: cases}} of a KIND of TITLES; part 2 is the shape, 3 of an address its program."""
    out = {}
    for outcome, ids in of_kind(result, kind).items():
        for words in (case.split("/") for case in ids):
            counts = out.setdefault(words[part], dict.fromkeys(OUTCOMES, 0))
            counts[outcome] += 1
    return out


def cell(counts):
    """`64` all right; `60 + 3 early + 1 wrong`; `–` nothing was supported."""
    if not sum(n for outcome, n in counts.items() if outcome != "unsupported"):
        return "–"
    words = [f"{sum(counts[n] for n in names)} {word}" for word, names in
             (("early", ("early",)), ("**wrong**", ("wrong",)), ("**no answer**", NONE), ("unsupported", ("unsupported",))) if sum(counts[n] for n in names)]
    return " + ".join([str(counts["right"]), *words])


def alone(found):
    """[(tool, case)]: wrong or without an answer in one tool, and right in all others that can be asked it."""
    bad = {}
    for result in found:
        for outcome in ("early", "wrong", *NONE):
            for case in result["cases"].get(outcome, ()):
                bad.setdefault(case, []).append((name(result), outcome))
    return sorted((who[0][0], case) for case, who in bad.items() if len({n.split()[0] for n, _ in who}) == 1 and who[0][1] != "early")


def table(first, found, kind, part):
    shown = [(heading, counted(result, kind, part)) for heading, result in columns(found, kind)]
    print(f"| {first} | " + " | ".join(heading for heading, _ in shown) + " |\n|---|" + "---|" * len(shown))
    for row in sorted({row for _, counts in shown for row in counts}):
        print(f"| {row} | " + " | ".join(cell(counts.get(row, {"right": 0})) for _, counts in shown) + " |")


def print_alone(found):
    counts = {}
    for tool, case in alone(found):
        counts.setdefault((tool.split()[0], "/".join(case.split("/")[1:3])), []).append(case)
    print("\n## Wrong in one tool only\nAll others are right or end early.\n\n| tool | shape | cases | e.g. |\n|---|---|---|---|")
    for (tool, shape), cases in sorted(counts.items()):
        print(f"| {tool} | {shape} | {len(set(cases))} | `{cases[0]}` |")


def contestants(found):
    """The rows of each tool: (name, versions, {kind: "right of asked"} of its newest version)."""
    out = {}
    for result in found:  # sorted by version
        tool = result["tool"]["name"].removesuffix(" with names")
        versions, kinds = out.setdefault(tool, ([], {}))
        if result["tool"]["version"] not in versions:
            versions.append(result["tool"]["version"])
        for kind in KINDS if not result["tool"]["name"].endswith("names") else ():
            counts = {outcome: len([case for case in ids if case.startswith(kind + "/")]) for outcome, ids in result["cases"].items()}
            asked = sum(counts.values()) - counts.get("unsupported", 0)
            if asked:
                kinds[kind] = f"{counts['right']:,} of {asked:,}"
    return sorted((tool, *row) for tool, row in out.items())


def print_contestants(found):
    print("| contestant | versions | " + " | ".join(KINDS) + " |\n|---|---|" + "---|" * len(KINDS))
    for tool, versions, kinds in contestants(found):
        print(f"| {tool} | {', '.join(versions)} | " + " | ".join(kinds.get(kind, "–") for kind in KINDS) + " |")


def main():
    words = [word for word in sys.argv[1:] if word != "--contestants"]
    folder = pathlib.Path(words[0] if words else __file__).resolve()
    folder = folder if folder.is_dir() else folder.parent
    found = results(folder)
    if "--contestants" in sys.argv:
        print_contestants(found)
        return
    print(f"# Results\n\nMade by `table.py` from {len(found)} files in `results/`; what each contestant runs is in [adapters](adapters/README.md),\n"
          "the faults of tools that show there in [BUGS.md](BUGS.md). `31` all right; `30 + 1 early`: one answer ended too early, or left a part out.")
    older = sorted({name(result) for result in found if result["edition"] < max(r["edition"] for r in found)})
    if older:
        print(f"\nAsked of an older edition, so that newer cases are not among their numbers: {', '.join(older)}.")
    for kind, title in TITLES.items():
        print(f"\n## {title}")
        table("shape", found, kind, 2)
        if kind == "addresses":
            print("\nThe same by program: its name says compiler, format and what is special.\n")
            table("program", found, kind, 3)
    print_alone(found)


if __name__ == "__main__":
    main()
