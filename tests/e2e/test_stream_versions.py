"""Programs of two versions at one queue: what a newer one wrote is left to it, what an older one wrote is counted, and what this one writes
has the form that an older one reads."""

import contextlib
import hashlib
import json
import pathlib
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import stream_pipeline  # noqa: E402

HEAD = {"schema_version": 1, "id": "alice-1", "sender": "alice", "version": "1.2", "received": "2026-11-22T08:15:00Z"}
TEXT = b"> a\nvictims-ob2.exe!0x2000\n> b\nvictims-ob2.exe!0x2000\nvictims-ob2.exe!0x2800\n"
# What the first version of each form looked like; they are never changed.
OLD_REPORT = json.dumps(HEAD, separators=(",", ":")).encode() + b"\n" + TEXT
OLD_PARTIAL = (b"#signatures\t1\t2\t2\t0\t0\talice-1\t2026-11-22T08\t1.2\n"
               b"1\t0\t2026-11-22T08:15:00Z\tvictims-ob2.exe!0x2000\\n\tcap_crash_clear\n"
               b"1\t0\t2026-11-22T08:15:00Z\tvictims-ob2.exe!0x2000\\nvictims-ob2.exe!0x2800\\n\tcap_crash_clear | twinstack_open\n")
OTHER_PARTIAL = b'{"schema_version":1,"of":"alice-2","hour":"2026-11-22T08","total":1,"stacks":3}\n{"signature":"main","count":3}\n'
OLD_SLICES = [b"#slice\t1\talice-3\t%d\t2\t%s\n%s" % (number, hashlib.sha256(OLD_PARTIAL.replace(b"alice-1", b"alice-3")).hexdigest().encode(), part)
              for number, part in enumerate((OLD_PARTIAL.replace(b"alice-1", b"alice-3")[:70], OLD_PARTIAL.replace(b"alice-1", b"alice-3")[70:]))]
OLD_SHADOW = (b'{"shadow":1,"id":"alice-4","hour":"2026-11-22T08","version":null,"verdict":"pass","signature":null,"engines":[{"engine":"dump",'
              b'"against":null,"result":"same","cause":null,"module":null,"ns":5}]}\n')
NEWER = [("reports", "a newer report", b'{"schema_version":99,"id":{"other":"form"}}\nbody'),
         ("partials", "newer columns", b"#signatures\t2\tother\tcolumns\n"), ("partials", "newer columns, as many", OLD_PARTIAL.replace(b"\t1\t2", b"\t2\t2", 1)),
         ("partials", "newer objects", b'{"schema_version":2,"of":{"other":"form"},"total":1}\n'),
         ("partials", "an older and a newer one", OTHER_PARTIAL.replace(b"alice-2", b"alice-9") + b"#signatures\t2\tother\n"),
         ("partials", "a newer slice", b"#slice\t2\talice-3\t0\t1\t" + b"0" * 64 + b"\nx"), ("partials", "a newer comparison", b'{"shadow":2,"id":{"a":1}}\n'),
         ("shadow", "a newer sampled report", b'{"schema_version":99}\nbody')]


class Versions(stream_pipeline.Pipeline):
    def put(self, channel, name, data):
        folder = pathlib.Path(self.queue) / channel / "ready"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)

    def held(self, channel):
        """The messages of a channel that are neither counted nor buried."""
        return sorted(path.name for part in ("ready", "taken") for path in (pathlib.Path(self.queue) / channel / part).iterdir())

    def test_what_a_newer_version_wrote_is_left_to_it(self):
        self.start_server()
        for number, (channel, _, data) in enumerate(NEWER):
            self.put(channel, f"newer-{number}", data)
        self.put("reports", "alice-1", OLD_REPORT)  # others are counted meanwhile
        said = self.work("--sample", "100%", "--dumps", self.folder / "spool/dumps").stderr
        self.assertIn("left 1 message to a newer version", said)
        self.assertIn("left 6 messages to a newer version", self.reduce().stderr)
        self.assertEqual(self.problems()["stacks"], 2)
        self.assertEqual(self.held("dead"), [])
        for channel in ("reports", "partials", "shadow"):
            self.assertEqual(self.held(channel), [f"newer-{number}" for number, row in enumerate(NEWER) if row[0] == channel], channel)

    def test_what_an_older_version_wrote_is_counted_once(self):
        self.start_server()
        self.put("reports", "alice-1", OLD_REPORT)
        for turn in range(2):
            for name, data in (("a", OLD_PARTIAL), ("b", OTHER_PARTIAL), ("c", OLD_SLICES[1]), ("d", OLD_SLICES[0]), ("e", OLD_SHADOW)):
                self.put("partials", f"{name}{turn}", data)
            self.work()
            self.reduce()
            data = self.problems()
            self.assertEqual((data["stacks"], data["reports"], data["shadow"]["reports"]), (7, 3, 1))
        self.assertEqual(self.held("dead"), [])

    def change_totals(self, *statements):
        with contextlib.closing(sqlite3.connect(self.totals)) as db, db:
            for statement in statements:
                db.execute(statement)

    def test_totals_of_an_older_version_still_know_their_ids(self):
        """The reducer is updated while results come twice."""
        undo = {3: ("DROP TABLE slice",), 2: ("DROP INDEX shadow_in_order", "ALTER TABLE shadow DROP COLUMN added", "DELETE FROM report WHERE id LIKE 'shadow/%'"),
                1: ("DROP TABLE shadow_engine", "DROP TABLE shadow")}
        self.start_server()
        self.put("partials", "a", OLD_PARTIAL)
        self.put("partials", "e", OLD_SHADOW)
        self.reduce()
        for number, version in enumerate(undo, 1):
            with self.subTest(version=version):
                for newer in range(3, version - 1, -1):
                    self.change_totals(*undo[newer])
                self.change_totals(f"PRAGMA user_version = {version}")
                self.assertEqual(self.problems()["stacks"], 2 + 3 * (number - 1))  # a page may be read before the new reducer starts
                self.put("partials", f"a{version}", OLD_PARTIAL)
                self.put("partials", f"b{version}", OTHER_PARTIAL.replace(b"alice-2", b"alice-2%d" % version))
                self.put("partials", f"e{version}", OLD_SHADOW)
                self.reduce()
                data = self.problems()
                self.assertEqual((data["stacks"], data["reports"], data["shadow"]["reports"]), (2 + 3 * number, 1 + number, 1))
        self.assertEqual(self.held("dead"), [])

    def test_a_reducer_leaves_totals_and_results_to_a_newer_one(self):
        self.start_server()
        self.put("partials", "a", OLD_PARTIAL)
        self.reduce()
        self.put("partials", "b", OTHER_PARTIAL)
        self.change_totals("PRAGMA user_version = 99")
        before = self.totals.read_bytes()
        said = self.run_twinstack("reduce", "--queue", self.queue, "--totals", self.totals, "--idle", self.idle, exit_code=4).stderr
        self.assertIn("another version of twinstack", said)
        self.assertEqual((self.held("partials"), self.totals.read_bytes()), (["b"], before))
        self.change_totals("PRAGMA user_version = 4")  # the newer one has it
        self.reduce()
        self.assertEqual(self.problems()["stacks"], 5)

    def test_a_collector_acknowledges_nothing_beside_a_newer_one(self):
        server = self.start_server()
        self.assertEqual(self.post("id=1", TEXT), 200)
        page = pathlib.Path(self.queue) / "notes/-page-alice-1"
        page.write_bytes(b"#ids 2 other columns\n")
        self.assertEqual([self.post(f"id={name}", TEXT) for name in ("2", "1")], [503, 503])  # also when it knew that it may not
        server.kill()
        server.wait()
        self.start_server()
        self.assertEqual(self.post("id=1", TEXT), 503)
        page.unlink()
        self.assertEqual([self.post(f"id={name}", TEXT) for name in ("2", "1")], [200, 200])
        self.work()
        self.reduce()
        self.assertEqual(self.problems()["reports"], 2)

    def test_an_older_reducer_can_read_what_a_worker_writes(self):
        self.start_server()
        self.put("reports", "alice-1", OLD_REPORT)
        self.work()
        message, = (pathlib.Path(self.queue) / "partials/ready").iterdir()
        got, want = message.read_bytes().split(b"\n"), OLD_PARTIAL.split(b"\n")
        self.assertEqual(got[0], want[0])
        self.assertEqual([line.count(b"\t") for line in got[1:]], [line.count(b"\t") for line in want[1:]])
        self.assertEqual(sum(int(line.split(b"\t")[0]) for line in got[1:-1]), 2)

    def test_an_older_worker_can_read_what_a_collector_writes(self):
        self.start_server()
        self.assertEqual(self.post("id=1&version=1.2", TEXT), 200)
        message, = (pathlib.Path(self.queue) / "reports/ready").iterdir()
        head, body = message.read_bytes().split(b"\n", 1)
        self.assertEqual({**json.loads(head), "received": HEAD["received"]}, HEAD)
        self.assertEqual(body, TEXT)


if __name__ == "__main__":
    e2e.main()
