"""Every state of the stream's protocol is visited (`tests/stream_model.py`): no acknowledged stack is lost or counted twice, and no report is buried
that kills no worker. Each known defect, put back into the model, is found."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import e2e  # noqa: E402
import stream_groups_model  # noqa: E402
import stream_model  # noqa: E402
from stream_groups_model import Groups  # noqa: E402
from stream_model import Model, Report, check  # noqa: E402

LOST, TWICE, INNOCENT = "an acknowledged stack is not counted", "a stack is counted twice", "a report is buried that kills no worker"
PIECE = "a piece of a record is counted"
ONE = (Report("a", "x", poison=False, large=False),)
TWO = (*ONE, Report("b", "y", poison=False, large=False))
LARGE = (Report("a", "x", poison=False, large=True),)
POISON = (Report("a", "x", poison=True, large=False), Report("b", "y", poison=False, large=False))
PIECES = (*LARGE, Report("a.1", "z", poison=False, large=False))
SAME_ID = (*ONE, Report("a", "y", poison=False, large=False))
HIDDEN = (*ONE, Report("a.tmp", "y", poison=False, large=False))
THREE = (*POISON, Report("c", "z", poison=False, large=False))
RECORD = (Report("a", "x", poison=False, large=False, record=True),)
NEWER = (*ONE, Report("b", "y", poison=False, large=False, newer=True))
TWO_POISONS = (*POISON[:1], Report("b", "y", poison=True, large=False))

# what is sent, deaths of any kind, whether all of it is in the queue at the beginning
GOOD = {"one report": (ONE, 2, False), "two": (TWO, 1, True), "two that are sent meanwhile": (TWO, 0, False), "one with a result in slices": (LARGE, 1, True),
        "one that kills its workers": (POISON, 1, True), "the same among three": (THREE, 1, True), "pieces and a stranger's id": (PIECES, 0, True),
        "one id, two reports": (SAME_ID, 1, False), "an id like that of a file": (HIDDEN, 0, False),
        "a record in parts": (RECORD, 2, True), "one that an old worker cannot read": (NEWER, 1, True), "two that kill": (TWO_POISONS, 0, True)}

FOUND = {"ids of senders reach names of files": (HIDDEN, 0, False, LOST), "pieces share the ids of other reports": (PIECES, 0, True, LOST),
         "another body is answered 200": (SAME_ID, 0, False, LOST), "results are cut by named rows": (ONE, 1, True, TWICE),
         "deliveries count as deaths": (POISON, 0, True, INNOCENT), "suspects are resolved together": (POISON, 0, True, INNOCENT),
         "settled before the result is stored": (ONE, 1, True, LOST), "the reducer forgets ids": (ONE, 1, True, TWICE),
         "holders do not renew": (ONE, 2, True, INNOCENT), "a trial is stored after the work": (POISON, 0, True, "it never ends"), "acknowledged before it is stored": (ONE, 0, False, LOST),
         "slices of two results count together": (LARGE, 1, True, TWICE),
         "a record is cut like a text": (RECORD, 0, False, PIECE), "letters share an id": (TWO_POISONS, 0, True, LOST),
         "what is newer is buried": (NEWER, 0, True, INNOCENT), "a counted record that comes again is buried": (RECORD, 1, True, INNOCENT)}


GOOD_GROUPS = {"two reports, two collectors": {"reports": 2, "deaths": 1, "collectors": 2, "workers": 1}, "three, one collector": {"reports": 3, "deaths": 1,
               "workers": 1}, "a group and its workers": {"reports": 2, "deaths": 2, "is_sent": True}, "one of it kills": {"reports": 2, "poison": (1,), "deaths": 1,
               "is_sent": True}, "two of it kill": {"reports": 2, "poison": (0, 1), "deaths": 1, "is_sent": True},
               "a collector that is too old": {"reports": 2, "deaths": 1, "collectors": 2, "workers": 1, "has_old": True}}
ARRIVING = {"reports": 2, "deaths": 1, "collectors": 2, "workers": 1}
FOUND_GROUPS = {"a page is added without a look at the others": ({**ARRIVING, "deaths": 0}, TWICE),
                "the message is stored before its page": ({**ARRIVING, "collectors": 1}, TWICE),
                "acknowledged when its page is stored": (ARRIVING, LOST), "what is on a page counts as stored": (ARRIVING, LOST),
                "a group is buried whole": (GOOD_GROUPS["one of it kills"], INNOCENT), "a group and its reports both count": (GOOD_GROUPS["a group and its workers"], TWICE),
                "a group is split in place": (GOOD_GROUPS["a group and its workers"], LOST),
                "a newer page is overlooked": ({**ARRIVING, "deaths": 0, "has_old": True}, TWICE)}


class StreamModel(e2e.Case):
    def test_every_state_keeps_what_was_promised(self):
        for name, (reports, deaths, is_sent) in GOOD.items():
            with self.subTest(name):
                states, wrong = check(Model(reports, None, deaths, is_sent))
                self.assertIsNone(wrong)
                self.assertGreater(states, 50)

    def test_each_defect_is_found(self):
        self.assertEqual(set(FOUND), set(stream_model.DEFECTS))
        for defect, (reports, deaths, is_sent, want) in FOUND.items():
            with self.subTest(defect):
                _, wrong = check(Model(reports, defect, deaths, is_sent))
                self.assertIsNotNone(wrong)
                self.assertEqual(wrong[0], want, wrong[1])

    def test_groups_keep_it_too(self):
        for name, options in GOOD_GROUPS.items():
            with self.subTest(name):
                states, wrong = check(Groups(**options))
                self.assertIsNone(wrong)
                self.assertGreater(states, 50)

    def test_each_defect_of_groups_is_found(self):
        self.assertEqual(set(FOUND_GROUPS), set(stream_groups_model.DEFECTS))
        for defect, (options, want) in FOUND_GROUPS.items():
            with self.subTest(defect):
                _, wrong = check(Groups(**options, defect=defect))
                self.assertIsNotNone(wrong)
                self.assertEqual(wrong[0], want, wrong[1])


if __name__ == "__main__":
    e2e.main()
