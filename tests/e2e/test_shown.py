"""What pages show of the newest run is kept in its database, and is what would be made of it; no browser, a few seconds."""

import contextlib
import functools
import json
import pathlib
import re
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

SEED = e2e.BUILD / "tests" / "seed_store"
RUNS = 3
MARK = '{"marked": true}'


@e2e.unittest.skipUnless(SEED.exists(), "seed_store is not built")
class Shown(e2e.Case):
    def setUp(self):
        self.db = self.folder / "runs.db"
        subprocess.run([SEED, self.db, str(RUNS), "12", "0"], check=True, capture_output=True)

    def sql(self, statement, *values):
        with contextlib.closing(sqlite3.connect(self.db)) as db, db:
            return db.execute(statement, values).fetchall()

    def kept_of_runs(self):
        """The addresses of one run each whose texts are there; beside them, each has its ratio."""
        found = [a for a, in self.sql("SELECT address FROM shown WHERE change < 0 ORDER BY address")]
        asked = [a for a in found if a.startswith("/")]
        self.assertEqual(len(found) - len(asked), len(asked) // 8)
        return asked

    def kept(self):
        """The addresses of the newest run whose texts count."""
        return [a for a, in self.sql("SELECT address FROM shown WHERE change = (SELECT number FROM change) ORDER BY address")]

    def keep(self):
        self.run_twinstack("db", "upgrade", "--db", self.db)

    def serve(self, db, *words):
        """A server until the test ends: its process, address and token. It follows what others change."""
        child = subprocess.Popen([e2e.PROGRAM, "serve", "--db", db, "--totals", self.folder / "totals.db", "--listen", "127.0.0.1:0", *words],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.terminate)
        url, _, token = child.stdout.readline().strip().partition("/#token=")
        return child, url.rstrip("/"), token

    def get(self, url):
        with urllib.request.urlopen(url, timeout=60 * e2e.PATIENCE) as answer:
            return answer.read()

    @functools.cached_property
    def server(self):
        return self.serve(self.db, "--allow-write")

    def answers(self, addresses, url=None):
        """By address; of a view, its document."""
        texts = {a: self.get((url or self.server[1]) + a) for a in addresses}
        return {a: t[:t.rindex(b',"meta":')] if a.startswith("/api/") else t for a, t in texts.items()}

    def mark(self):
        """Makes every text one that is never made of a run."""
        self.sql("UPDATE shown SET text = ?, plain_bytes = NULL", MARK.encode())

    def is_marked(self, url=None):
        marked = {MARK.encode() in text for text in self.answers(("/api/v1/overview", "/metrics"), url).values()}
        self.assertEqual(len(marked), 1)
        return marked.pop()

    def test_each_text_is_what_the_view_makes(self):
        self.run_twinstack("baseline", "set", "2", "--db", self.db)
        addresses = self.kept()
        self.assertEqual({a.partition("?")[0].removeprefix("/api/v1/").strip("/") for a in addresses if "badge" not in a},
                         {"overview", "runs/latest", "runs/latest/queue", "timing", "trend", "hooks", "signatures", "symbols", "metrics"})
        of_runs = self.kept_of_runs()
        self.assertEqual({re.sub(r"(runs/|run=)\d+", r"\1RUN", a) for a in of_runs},
                         {"/api/v1/runs/RUN", "/api/v1/runs/RUN/grid", "/api/v1/runs/RUN/queue?limit=50", "/api/v1/timing?limit=125&run=RUN",
                          "/api/v1/timing?run=RUN", "/api/v1/hooks?limit=50&run=RUN", "/api/v1/signatures?run=RUN", "/api/v1/symbols?run=RUN"})
        self.assertEqual(len(of_runs), 8 * RUNS)
        self.assertEqual(len([a for a in addresses if "badge" in a]), 10)
        addresses += of_runs
        kept = self.answers(addresses)
        self.sql("DELETE FROM shown")
        made = self.answers(addresses)
        for address in addresses:
            with self.subTest(address):
                self.assertEqual(kept[address], made[address])
                self.assertGreater(len(made[address]), 40 if address in of_runs else 50)

    def test_they_are_written_when_something_changes_and_read_until_then(self):
        """Each row: a command after which they are there, and a statement after which they do not count."""
        older = self.folder / "older.db"
        subprocess.run([SEED, older, "1", "4", "0"], check=True, capture_output=True)
        for argv, change in ((["db", "upgrade"], "UPDATE run SET state = 'interrupted' WHERE id = 3"),
                             (["baseline", "set", "1"], "DELETE FROM baseline"),
                             (["db", "prune", "--keep-runs", "2"], "DELETE FROM run WHERE id = 2"),
                             (["db", "import", older], "UPDATE baseline SET run_id = run_id"),
                             (["check", e2e.ROOT / "corpus/cases/noreturn_tail.ob2", "--symbols", e2e.ROOT / "corpus/symbols"],
                              "UPDATE run SET finished_ns = finished_ns + 1")):
            with self.subTest(argv[0]):
                self.assertEqual(self.kept(), [])
                self.run_twinstack(*argv, "--db", self.db, exit_code=None)
                self.assertGreater(len(self.kept()), 10)
                self.mark()
                self.assertTrue(self.is_marked())
                self.run_twinstack("db", "upgrade", "--db", self.db)
                self.assertTrue(self.is_marked(), "nothing changed, and nothing is made")
                self.sql(change)
                self.assertFalse(self.is_marked())
                self.sql("INSERT INTO baseline SELECT 'b', 'p', max(id) FROM run WHERE state = 'complete' ON CONFLICT DO NOTHING")

    def test_those_of_an_older_run_stay_when_another_ends(self):
        def grid():
            return MARK.encode() in self.get(self.server[1] + "/api/v1/runs/2/grid")
        self.keep()
        self.mark()
        self.assertTrue(grid())
        self.run_twinstack("check", e2e.ROOT / "corpus/cases/noreturn_tail.ob2", "--symbols", e2e.ROOT / "corpus/symbols", "--db", self.db,
                           exit_code=None)
        self.assertTrue(grid())
        self.assertFalse(self.is_marked())
        self.sql("INSERT INTO run (uuid, state, label, started_ns) SELECT 'new', 'running', 'run', max(started_ns) + 1 FROM run")
        with subprocess.Popen(["true"]) as gone:
            gone.wait()
        self.sql("INSERT INTO run_note SELECT max(id), 'process', 0, ?, '' FROM run", f"{gone.pid}@{socket.gethostname()}")
        time.sleep(0.4)
        self.assertTrue(grid(), "a killed run changes nothing of those before it")
        self.sql("DELETE FROM run WHERE uuid = 'new'")
        self.run_twinstack("baseline", "set", "3", "--db", self.db)
        self.assertFalse(grid())
        self.assertEqual(len(self.kept_of_runs()), 8 * (RUNS + 1))

    def test_a_killed_run_has_its_texts_after_the_next_command_that_writes(self):
        self.keep()
        self.sql("UPDATE run SET state = 'running', finished_ns = 0 WHERE id = 2")
        with subprocess.Popen(["true"]) as gone:
            gone.wait()
        self.sql("INSERT OR REPLACE INTO run_note VALUES (2, 'process', 0, ?, '')", f"{gone.pid}@{socket.gethostname()}")
        self.sql("DELETE FROM shown")
        self.run_twinstack("report", "1", "--exit-zero", "--db", self.db)
        self.assertEqual(self.sql("SELECT state FROM run WHERE id = 2"), [("running",)])  # which only reads
        self.run_twinstack("baseline", "set", "1", "--db", self.db)
        self.assertEqual(self.sql("SELECT state FROM run WHERE id = 2"), [("interrupted",)])
        self.assertEqual(len([a for a in self.kept_of_runs() if re.search(r"(runs/|run=)2\b", a)]), 8)

    def test_a_baseline_that_moves_leaves_what_says_nothing_of_it(self):
        """Of an older run only grid and queue say what is new since the baseline; the rest is the same without it."""
        self.run_twinstack("baseline", "set", "1", "--db", self.db)
        addresses = [a for a in self.kept_of_runs() if re.search(r"(runs/|run=)2\b", a)]
        of_baseline = [a for a in addresses if "grid" in a or "queue" in a]
        alone = [a for a in addresses if a not in of_baseline]
        self.assertEqual([len(alone), len(of_baseline)], [6, 2])
        before = self.answers(alone)
        self.mark()
        self.sql("UPDATE baseline SET run_id = 3")
        for address, text in self.answers(addresses).items():
            with self.subTest(address):
                self.assertEqual(MARK.encode() in text, address in alone)
        self.sql("DELETE FROM shown")
        self.assertEqual(self.answers(alone), before)

    def test_the_ratio_of_a_run_is_kept_for_those_who_compare(self):
        """Without a bench it is of the times of all cases, which a comparison would read again each time."""
        ratio = {"origin": "run", "run": 2, "arch": "x64", "state": "index", "cases": 77, "scenarios": 20, "value": 42.5, "low": 41,
                 "high": 44, "noise": None}
        asked = ("compare", "1", "2"), ("compare", "1", "2", "--json"), ("gate", "2", "--against", "1"), ("gate", "2", "--json")
        page = "/api/v1/compare?a=1&b=2"

        def said():
            texts = [self.run_twinstack(*argv, "--db", self.db, exit_code=None).stdout for argv in asked]
            return [*texts, self.answers([page])[page].decode()]
        self.sql("DELETE FROM shown")
        made = said()
        self.keep()
        self.assertEqual(said(), made)
        self.sql("UPDATE shown SET text = ?, plain_bytes = NULL WHERE address = 'speed_ratio?run=2'", json.dumps(ratio).encode())
        for argv, text in zip((*asked, page), said(), strict=True):
            with self.subTest(argv):
                self.assertIn("42.5× [41.0, 44.0], 77 cases, no control", text)

    def test_a_baseline_of_the_page(self):
        self.keep()
        self.mark()
        self.assertTrue(self.is_marked())
        _, url, token = self.server
        request = urllib.request.Request(url + "/api/v1/baseline", data=b'{"run": 2}', method="PUT",
                                         headers={"Content-Type": "application/json", "X-Token": token})
        with urllib.request.urlopen(request, timeout=60 * e2e.PATIENCE) as answer:
            self.assertEqual(answer.status, 200)
        self.assertEqual(json.loads(self.get(url + "/api/v1/overview"))["data"]["baseline"], 2)
        self.assertIn("/api/v1/overview", self.kept())

    def test_other_programs_do_not_count(self):
        self.keep()
        self.mark()
        self.sql("UPDATE shown SET program = 'of other sources'")
        self.assertFalse(self.is_marked())
        self.keep()
        self.assertEqual(self.sql("SELECT count(*) FROM shown WHERE program = 'of other sources'"), [(0,)])
        self.assertFalse(self.is_marked())

    def test_a_run_in_progress_and_one_that_was_killed(self):
        self.keep()
        self.mark()
        self.sql("INSERT INTO run (uuid, state, label, started_ns) SELECT 'new', 'running', 'run', max(started_ns) + 1 FROM run")
        self.sql("INSERT INTO run_note SELECT max(id), 'process', 0, ?, '' FROM run", f"{self.server[0].pid}@{socket.gethostname()}")
        self.assertTrue(self.is_marked())
        self.assertEqual([r["state"] for r in json.loads(self.answers(["/api/v1/runs"])["/api/v1/runs"] + b"}")["data"]["runs"]][:2],
                         ["running", "complete"])
        with subprocess.Popen(["true"]) as gone:
            gone.wait()
        self.sql("UPDATE run_note SET name = ? WHERE kind = 'process'", f"{gone.pid}@{socket.gethostname()}")
        end = time.monotonic() + 20 * e2e.PATIENCE
        while self.is_marked() and time.monotonic() < end:  # the server looks for processes a few times a second
            time.sleep(0.05)
        self.assertFalse(self.is_marked())
        self.assertIn(b'"state":"interrupted"', self.answers(["/api/v1/overview"])["/api/v1/overview"])

    def test_a_published_database_has_them(self):
        self.keep()
        self.mark()
        published = self.folder / "shared" / "published.db"
        published.parent.mkdir()
        self.run_twinstack("db", "publish", published, "--db", self.db)
        published.chmod(0o444)
        published.parent.chmod(0o555)
        self.addCleanup(published.parent.chmod, 0o755)
        self.assertTrue(self.is_marked(self.serve(published)[1]))

    def test_damage_is_made_again(self):
        self.keep()
        addresses = self.kept()
        good = self.answers(addresses)
        for name, change in (("garbage", "UPDATE shown SET text = randomblob(200)"),
                             ("another size", "UPDATE shown SET plain_bytes = plain_bytes + 1000"),
                             ("a size beyond all", "UPDATE shown SET plain_bytes = 1 << 60"),
                             ("no count", "DELETE FROM change"),
                             ("no table", "DROP TABLE shown")):
            with self.subTest(name):
                self.sql(change + (" WHERE plain_bytes IS NOT NULL" if "UPDATE" in change else ""))
                self.assertEqual(self.answers(addresses), good)

    def test_a_database_of_the_schema_before(self):
        """Its texts are made in memory; an upgrade writes them."""
        undo = (e2e.ROOT / "tests/lib/old_store.h").read_text(encoding="utf-8").partition("#define UNDO_VERSION_18")[0]
        undo = "".join(re.findall(r'"(.*?)"', undo))  # the newest versions, one after the other
        self.keep()
        addresses = self.kept()
        with contextlib.closing(sqlite3.connect(self.db)) as db:
            db.executescript(undo)
        report = self.run_twinstack("report", "--db", self.db, exit_code=1).stdout
        self.assertIn("run 3", report)
        self.assertEqual(self.sql("PRAGMA user_version"), [(18,)])
        self.keep()
        self.assertEqual(self.kept(), addresses)


e2e.main()
