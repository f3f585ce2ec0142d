"""Faults put into the sources on purpose are detected. This tries one fault for each unit test that
tests/mutation/faults.toml names; `./run mutation` runs all of them on every level.

Only this finds a unit test that does not notice the fault that it is there for."""

import collections
import pathlib
import subprocess
import sys
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

sys.path.insert(0, str(e2e.ROOT / "tests/mutation"))
from faults import GENERATED  # noqa: E402
import mutate  # noqa: E402
import own  # noqa: E402

MUTATE = e2e.ROOT / "tests/mutation/mutate.py"
LEAST, LEAST_OF_ALL = 8, 300
NO_ROOMS = {"dashboard/web", "analyze/windows"}  # files in a program, and what only Windows compiles


class Mutation(e2e.Case):
    def ask(self, *options):
        return subprocess.run(["/usr/bin/python3", MUTATE, *options], capture_output=True, text=True, check=False, cwd=e2e.ROOT)

    def test_each_fault_still_has_its_place(self):
        done = self.ask("--list")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertGreaterEqual(len(done.stdout.splitlines()), LEAST_OF_ALL)

    def test_each_room_has_faults(self):
        counted = collections.Counter(mutate.room_of(f) for f in mutate.read_faults() if "equivalent" not in f)
        made = [f for f in mutate.read_faults(GENERATED) if "equivalent" not in f]
        rooms = {mutate.room_of({"file": p.relative_to(e2e.ROOT).as_posix()})
                 for top in ("analyze", "dashboard") for p in (e2e.ROOT / top).glob("*/**/*.c") if "node_modules" not in p.parts}
        self.assertGreater(len(rooms), 30)
        for room in sorted(rooms - NO_ROOMS):
            with self.subTest(room):
                self.assertGreaterEqual(counted[room], LEAST)
        self.assertGreaterEqual(counted.total(), LEAST_OF_ALL)
        self.assertGreaterEqual(len(made), LEAST_OF_ALL // 2)
        self.assertEqual([f["in"] for f in made if not f.get("in", "unnamed").isidentifier()], [], "a path of the machine that made it")

    def test_only_a_copy_of_its_own_is_written(self):
        good = self.folder / "plain"
        for name, make in (("a repository", lambda t: (t / ".git").mkdir(parents=True)),
                           ("a worktree", lambda t: (t.mkdir(parents=True), (t / ".git").write_text("gitdir: x"))),
                           ("a link to these sources", lambda t: (t.parent.mkdir(parents=True), t.symlink_to(e2e.ROOT))),
                           ("a folder above these sources", None), ("these sources", None)):
            tree = {"a folder above these sources": e2e.ROOT.parent, "these sources": e2e.ROOT}.get(name, good / name / "tree")
            if make is not None:
                make(tree)
            with self.subTest(name), mock.patch.multiple(mutate, PLACE=tree.parent, TREE=tree), self.assertRaises(SystemExit):
                mutate.check_place()
        with mock.patch.multiple(mutate, PLACE=good, TREE=good / "tree"):
            mutate.check_place()
            self.assertEqual(mutate.environment()["GIT_CEILING_DIRECTORIES"], str(good))

    def test_a_blame_is_right_when_no_other_is_more_frequent(self):
        fault, clean = {"blame": "walk of dump"}, {"exit": 0, "cases": {"a": ["pass", []], "b": ["pass", []]}}
        for name, cases, want in (
                ("of the case that changed", {"a": ["fail", ["walk of dump"]], "b": ["pass", ["record"]]}, True),
                ("even", {"a": ["fail", ["walk of dump", "record"]], "b": ["pass", []]}, True),
                ("less frequent", {"a": ["fail", ["walk of dump", "record"]], "b": ["fail", ["record"]]}, False),
                ("no blame at all", {"a": ["error", []], "b": ["pass", []]}, False),
                ("nothing changed", clean["cases"], None)):
            with self.subTest(name):
                noticed, blames = mutate.judge({"exit": 0, "cases": cases}, clean)
                row = {"level": "run", "noticed": noticed, "blames": blames}
                self.assertEqual(mutate.is_blamed_rightly(fault, [row]), want)

    def test_unit_tests_notice_what_they_are_named_for(self):
        faults = own.faults()
        self.assertGreaterEqual(len(faults), LEAST)
        for fault in faults:
            with self.subTest(fault["name"]):
                passed, failed = own.tally_with(fault["test"], *mutate.place_of(fault), self.folder / fault["name"])
                self.assertGreater(failed, 0)
                self.assertGreater(passed, 0)

    def test_without_a_fault_they_pass(self):
        for test, name in (("unit_blame", "analyze/compare/blame.c"), ("unit_function_table", "capture/function_table.h")):
            file = e2e.ROOT / name
            with self.subTest(name):
                self.assertEqual(own.tally_with(test, file, file.read_text(encoding="utf-8"), self.folder / test)[1], 0)


e2e.main()
