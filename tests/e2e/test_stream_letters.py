"""Dead letters: what is in them, and the way back."""

import json
import os
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import stream_pipeline  # noqa: E402


def report(name, stacks):
    """A report as it is in a queue."""
    return json.dumps({"schema_version": 1, "id": name, "sender": "alice", "version": "1", "received": "2026-11-22T08:15:00Z"}).encode() + b"\n" + stacks


def letter(name, data):
    return b"reason: delivered too often: workers died of it\nchannel: reports\nid: " + name.encode() + b"\ndelivered: 6\n\n" + data


class Letters(stream_pipeline.Pipeline):
    """The queue is a folder."""

    def put(self, channel, name, data):
        """A message of another program."""
        folder = pathlib.Path(self.queue) / channel / "ready"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)

    def letters(self):
        return self.run_json("queue", "list", "--json", "--queue", self.queue)["letters"]

    def queue_verb(self, *words, **more):
        return self.run_twinstack("queue", *words, "--queue", self.queue, **more)

    def test_a_letter_is_listed_shown_dropped_and_put_back(self):
        self.start_server()
        self.assertEqual(self.letters(), [])
        self.assertIn("0 dead letters", self.queue_verb("list").stdout)
        for channel in ("reports", "partials"):  # where the transport makes their ids, these are the same
            self.put(channel, "junk", b"{no head")
        self.assertIn("1 dead letter,", self.work().stderr)
        self.assertIn("1 dead letter,", self.reduce().stderr)
        found = {row["channel"]: row for row in self.letters()}
        self.assertEqual(set(found), {"reports", "partials"})
        self.assertEqual([row["bytes"] for row in found.values()], [8, 8])
        self.assertTrue(found["reports"]["reason"])
        self.assertLess(found["reports"]["age_s"], 600)
        if self.queue_is_folder:
            for path in (pathlib.Path(self.queue) / "dead/ready").iterdir():
                os.utime(path, (time.time() - 5000,) * 2)
        oldest = re.search(r'twinstack_queue_oldest_seconds\{channel="dead"\} (\d+)', self.get("/metrics"))
        self.assertGreaterEqual(int(oldest[1]), 5000 if self.queue_is_folder else 0)
        self.assertLess(int(oldest[1]), 5600)
        self.assertRegex(self.queue_verb("list").stdout, r"(1 h|\d min)  reports  8 bytes  report")
        name = found["reports"]["id"]
        self.assertIn("{no head", self.queue_verb("show", name).stdout)
        self.queue_verb("show", "no-such-id", exit_code=5)
        self.queue_verb("drop", exit_code=2)
        self.queue_verb("drop", name, "--all", exit_code=2)
        self.assertIn("removed", self.queue_verb("drop", "--all").stdout)
        self.assertEqual(self.letters(), [])
        self.assertIn('twinstack_queue_oldest_seconds{channel="dead"} 0\n', self.get("/metrics"))

    def test_a_report_that_is_put_back_counts_once(self):
        self.start_server()
        text = b"> a\nvictims-ob2.exe!0x2000\n"
        self.assertEqual(self.post("id=late", text), 200)
        self.work()
        for turn in range(2):  # counted, buried and put back
            self.put("dead", f"letter-{turn}", letter("alice-late", report("alice-late", text)))
            self.put("dead", f"other-{turn}", letter("alice-other", report("alice-other", text + b"victims-ob2.exe!0x2800\n")))
            self.assertIn("2 dead letters put back", self.queue_verb("retry", "--all").stdout)
            self.assertEqual(self.letters(), [])
            self.work()
            self.reduce()
            self.assertEqual((self.problems()["stacks"], self.problems()["reports"]), (2, 2))

    def test_what_comes_back_is_what_was_buried(self):
        """Also a message that is as large as one can be, and one that is buried again."""
        self.start_server()
        large = b"broken" + bytes(range(32, 127)) * 9500
        large = large[:900000]
        self.put("reports", "large", large)
        for _ in range(2):
            self.work()
            row, = self.letters()
            self.assertEqual(row["bytes"], 900000)
            self.assertTrue(self.queue_verb("show", row["id"]).stdout.endswith("\n\n" + large.decode()))
            self.queue_verb("retry", row["id"])
            self.assertEqual(self.letters(), [])


class Nats(stream_pipeline.OverNats, Letters):
    """The same over NATS JetStream."""

    def put(self, channel, name, data):
        self.assertNotIn("error", stream_pipeline.ask_jetstream(self.port, f"twinstack.{channel}", data))


if __name__ == "__main__":
    e2e.main()
