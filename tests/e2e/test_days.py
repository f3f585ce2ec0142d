"""Red days: what an engineer sees first names the right number of problems, the right side and the right mechanism.

One build of each processor and runtime was judged for each day, by `./run mutation --days --write --cases EXPR`; here what it showed is
compared with the key, and the sealed cases of corpus/ are judged by the same faulty tools.

Only this finds a first screen that blames the wrong side of a whole run."""

import json
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

sys.path.insert(0, str(e2e.ROOT / "tests/mutation"))
import days  # noqa: E402

SCREENS = {"terminal", "summary", "overview"}


class Days(e2e.Case):
    def test_there_are_ten_and_each_says_what_it_is(self):
        all_days = days.read_days()
        self.assertGreaterEqual(len(all_days), 10)
        self.assertEqual(len({day["name"] for day in all_days}), len(all_days))
        for day in all_days:
            with self.subTest(day["name"]):
                self.assertTrue(day["broke"] and day["since"])
                self.assertEqual(len(day["side"]), day["problems"])
                self.assertGreaterEqual(len(day["words"]), day["problems"])
                for fault in day["faults"]:
                    self.assertIsNotNone(days.mutate.place_of(fault), fault["find"])

    def test_what_was_kept_of_the_grid_reads_as_the_key_says(self):
        names = {day["name"]: day for day in days.read_days()}
        kept = {}
        for file in sorted(days.KEPT.glob("*.txt")):
            name, screen, _ = file.name.split(".")
            kept.setdefault(name, {})[screen] = file.read_text(encoding="utf-8")
        self.assertEqual(set(kept), set(names))
        for name, screens in kept.items():
            with self.subTest(name):
                self.assertEqual(set(screens), SCREENS)
                self.assertLessEqual(len(screens["terminal"].splitlines()), 60, "what is wrong is on one screen or two")
                self.assertEqual(days.faults_shown(names[name], screens), [])

    def test_the_sealed_cases_read_as_the_key_says(self):
        for day in days.read_days():
            if {"lost", "taken"} & set(day):
                continue  # sealed cases need no processor, and were taken by a capture without a fault
            with self.subTest(day["name"]):
                folder = self.folder / day["name"]
                folder.mkdir()
                report, shown = days.sample_day(day, folder)
                self.assertEqual(days.faults_in(day, report, shown), [], json.dumps(report["failing"], indent=1))
                shutil.rmtree(folder)


e2e.main()
