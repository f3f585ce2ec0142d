#!/usr/bin/python3
"""The results of all contestants side by side, as Markdown: table.py [FOLDER] reads FOLDER/results/*.json, made by
`twinstack score --cmd ... --json -o`. No grand total: no shape is as frequent in your programs as it is here."""

import json
import pathlib
import sys

NONE = ("crashed", "timeout", "garbage")


def results(folder):
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("results/*.json"))]
    return sorted(found, key=lambda r: (r["tool"]["name"], [int(n) if n.isdigit() else 0 for n in r["tool"]["version"].split(".")]))


def name(result):
    return f"{result['tool']['name']} {result['tool']['version']}"


def columns(found):
    """[(heading, result)]: versions of one tool that answer alike share a column."""
    out = []
    for result in found:
        if out and out[-1][1]["tool"]["name"] == result["tool"]["name"] and out[-1][1]["cases"] == result["cases"]:
            out[-1] = (f"{out[-1][0].split(' to ')[0]} to {result['tool']['version']}", out[-1][1])
        else:
            out.append((name(result), result))
    return out


def sums(result):
    """{shape: {outcome: cases}}"""
    out = {}
    for row in result["by"]:
        counts = out.setdefault(row["shape"], {})
        for outcome in ("right", "early", "wrong", *NONE, "unsupported"):
            counts[outcome] = counts.get(outcome, 0) + row[outcome]
    return out


def cell(counts):
    """`64` all right; `60 + 3 early + 1 wrong`; `–` nothing was supported."""
    judged = sum(n for outcome, n in counts.items() if outcome != "unsupported")
    if not judged:
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


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    folder = folder if folder.is_dir() else folder.parent
    found = results(folder)
    shown = columns(found)
    print(f"# Results\n\nMade by `table.py` from {len(found)} files in `results/`; what each contestant runs is in [adapters](adapters/README.md),\n"
          "the faults of tools behind it in [BUGS.md](BUGS.md). `31` all right; `30 + 1 early`: one walk ended too early.\n")
    print("| shape | " + " | ".join(heading for heading, _ in shown) + " |\n|---|" + "---|" * len(shown))
    for shape in sorted({shape for result in found for shape in sums(result)}):
        print(f"| {shape} | " + " | ".join(cell(sums(result).get(shape, {})) for _, result in shown) + " |")
    counts = {}
    for tool, case in alone(found):
        counts.setdefault((tool.split()[0], case.split("/")[2]), []).append(case)
    print("\n## Wrong in one tool only\nAll others are right or end early.\n\n| tool | shape | cases | e.g. |\n|---|---|---|---|")
    for (tool, shape), cases in sorted(counts.items()):
        print(f"| {tool} | {shape} | {len(set(cases))} | `{cases[0]}` |")


if __name__ == "__main__":
    main()
