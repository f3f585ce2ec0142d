"""Ids of reports: whatever a sender chooses, each acknowledged report counts once, and no other report takes its place."""

import gzip
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import stream_pipeline  # noqa: E402


def stacks(first, count):
    return "".join(f"> {i}\nvictims-ob2.exe!0x{0x1000 + i:x}\n" for i in range(first, first + count))


class Ids(stream_pipeline.Pipeline):
    """The queue is a folder."""

    later = 0  # stacks that kill_queue() has sent

    def test_every_valid_id_is_counted(self):
        self.start_server()
        ids = ("a.tmp", "a.1.tmp", ".tmp.x", "x.tmp.y", "a.0123456789abcdef.tmp", "UPPER", "upper", "con", "nul.", "dot.", "dot", "-", "--1", "-1-alice-a",
               "a-1", "_", "a" * 48, "A" * 48, "ready", "shadow")
        texts = []
        for number, name in enumerate(ids):
            texts.append(stacks(number * 10, 2))
            self.assertEqual(self.post(f"id={name}", texts[-1]), 400 if name.startswith(".") else 200, name)
            if name.startswith("."):
                texts.pop()
        self.work()
        self.reduce()
        self.assertEqual(self.counted(self.problems("?limit=500")), self.expected(texts))
        self.assertEqual(self.problems()["reports"], len(texts))

    def test_pieces_of_a_report_take_no_id_of_another(self):
        self.start_server()
        large = stacks(0, 40000)
        self.assertGreater(len(large), 1000000)
        self.assertEqual(self.post("id=abc", large), 200)
        others = []
        for number, name in enumerate(("abc.1", "abc~1", "-1-alice-abc", "1-abc", "abc-1", "abc.2")):
            status = self.post(f"id={name}", stacks(50000 + number, 1))
            self.assertEqual(status, 400 if "~" in name else 200, name)
            others += [stacks(50000 + number, 1)] if status == 200 else []
        self.work()
        self.reduce()
        self.assertEqual(self.problems()["stacks"], 40000 + len(others))

    def test_every_piece_of_a_report_knows_what_was_stated_before_it(self):
        """The build of a module is stated once, before the first stack. It is another one than that of the symbols, so nothing has a name."""
        self.start_server()
        large = f"# module victims-ob2.exe - {1:032X}1\n" + stacks(0, 400) * 100
        self.assertGreater(len(large), 1000000)
        self.assertEqual(self.post("id=abc", large), 200)
        if self.queue_is_folder:  # a worker that has had the first piece may know the module from it; another one does not
            pieces = [path.read_bytes().split(b"\n", 2)[1] for path in (self.folder / "spool/reports/ready").iterdir()]
            self.assertEqual(pieces, [large.splitlines()[0].encode()] * 2)
        self.work()
        self.reduce()
        self.assertEqual(self.problems()["stacks"], 40000)
        self.assertEqual(self.counted(self.problems("?limit=500")), self.expected([large]))

    def test_another_report_with_the_same_id_is_refused(self):
        self.start_server()
        first, second, dump = stacks(0, 1), stacks(1, 1), b"MDMP" + bytes(100)
        for name, query, body, want in (("the first", "id=a", first, 200), ("repeated", "id=a", first, 200), ("with another version", "id=a&version=2", first, 200),
                                        ("another", "id=a", second, 409), ("again", "id=a", second, 409), ("longer", "id=a", first + second, 409),
                                        ("empty", "id=a", "", 409), ("a dump is of another kind", "id=a&kind=dump", dump, 200),
                                        ("repeated", "id=a&kind=dump", dump, 200), ("another dump", "id=a&kind=dump", dump + b"x", 409),
                                        ("a large one, then its beginning", "id=l", stacks(0, 40000), 200), ("its beginning", "id=l", stacks(0, 20000), 409)):
            with self.subTest(name):
                self.assertEqual(self.post(query, body), want)
        self.assertEqual((self.folder / "spool/dumps/alice-a.dmp").read_bytes(), dump)
        self.work()  # what was counted is still known
        self.assertEqual([self.post("id=a", body) for body in (first, second)], [200, 409])
        self.kill_queue()
        self.assertEqual([self.post("id=a", body) for body in (first, second)], [200, 409])
        self.work()
        self.reduce()
        self.assertEqual(self.problems()["stacks"], 40001 + self.later)

    def test_a_packed_body_is_read_or_refused(self):
        """One that is packed in a way that is not read would be acknowledged and never counted. What was packed is the report that it is
        without packing, so that it counts once."""
        self.start_server()
        text = stacks(0, 3)
        for query, body, encoding, want in (("id=a", text, "br", 415), ("id=a", text, "gzip", 400), ("id=a", gzip.compress(text.encode()), "gzip", 200),
                                            ("id=a&kind=dump", gzip.compress(b"MDMP" + bytes(100)), "gzip", 200), ("id=a", text, "identity", 200)):
            with self.subTest(encoding=encoding, query=query):
                self.assertEqual(self.post(query, body, Content_Encoding=encoding), want)
        self.assertEqual(self.post("id=a", text), 200)
        self.work()
        self.reduce()
        self.assertEqual((self.problems()["stacks"], self.problems()["bad"]), (3, 0))

    def test_a_record_of_any_size_counts_once_and_whole(self):
        """Above 900 kB it does not fit into a message. What looks like the start of a stack inside of it is none."""
        self.start_server()
        record = (e2e.ROOT / "corpus/cases/null_write.ob2/record.rec").read_bytes()
        for size in (900_000, 3 << 20, 64 << 20):
            with self.subTest(size=size):
                body = record + b"\n> a\nvictims-ob2.exe!0x2000\n" * (size // 28)
                body = body[:max(size, len(record))]
                for _ in range(2):
                    self.assertEqual(self.post(f"id=r{size}", body), 200)
                self.assertEqual(self.post(f"id=r{size}", body[:-1]), 409)
        self.work()
        self.reduce()
        data = self.problems()
        self.assertEqual((data["stacks"], data["total"], data["bad"]), (3, 1, 0))
        self.assertIn("poke", data["problems"][0]["signature"])
        if self.queue_is_folder:
            left = [path.read_bytes() for path in (self.folder / "spool/parts").iterdir()]
            self.assertEqual(left, [b"counted"] * len(left))  # a message that comes again finds it
            self.assertLessEqual(len(left), 3)

    def kill_queue(self):
        pass  # a folder does not die


class Nats(stream_pipeline.OverNats, Ids):
    """The same over NATS JetStream."""

    def kill_queue(self):
        super().kill_queue()
        self.later = 1  # the server needs a moment to find its streams; until then it refuses
        end = time.monotonic() + 30 * e2e.PATIENCE
        while self.post("id=later", stacks(0, 1)) != 200:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)


if __name__ == "__main__":
    e2e.main()
