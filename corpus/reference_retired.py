"""Ids of corpus/reference that are not used again: a case that was wrong is listed with its reason, and another one succeeds it."""

import csv
import pathlib


def rows():
    with (pathlib.Path(__file__).resolve().parent / "reference_retired.tsv").open(encoding="utf-8", newline="") as stream:
        return [{"id": old, "reason": reason, "successor": new or None} for old, new, reason in csv.reader(stream, delimiter="\t")]


SUCCESSORS = {row["id"]: row["successor"] for row in rows()}


def current(name):
    """The id of the case that its function, position and number call NAME."""
    return SUCCESSORS.get(name, name)
