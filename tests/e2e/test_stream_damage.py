"""Other faults in the pipeline of reports: full disks, messages that kill workers, symbols that vanish, clocks that jump, messages that
arrive twice and in any order. Every acknowledged stack counts exactly once."""

import contextlib
import datetime
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import stream_pipeline  # noqa: E402
from stream_pipeline import SYMBOLS  # noqa: E402
from symbol_server import SymbolServer  # noqa: E402

DAY_S = 24 * 3600


def text_of(rng, stacks):
    return "".join("> %d\nvictims-ob2.exe!0x%x\n" % (i, rng.randrange(0x1000, 0x4000, 0x40)) for i in range(stacks))


class Damage(stream_pipeline.Pipeline):
    def send(self, count, stacks=50, seed=1):
        rng = random.Random(seed)
        texts = [text_of(rng, stacks) for _ in range(count)]
        for i, text in enumerate(texts):
            self.assertEqual(self.post(f"id=d{seed}-{i}", text), 200)
        return texts

    def work(self, symbols=SYMBOLS):
        return self.run_twinstack("worker", "--queue", self.queue, "--symbols", symbols, "--idle", "100ms", env={"TWINSTACK_SYSTEM_SYMBOLS": "0"}, limit_s=120)

    def reduce(self):
        return self.run_twinstack("reduce", "--queue", self.queue, "--totals", self.totals, "--idle", "100ms", limit_s=120)

    def check(self, texts):
        data = self.problems("?limit=500")
        self.assertEqual(data["stacks"], sum(text.count("> ") for text in texts))
        self.assertEqual(self.counted(data), self.expected(texts))

    def wait_until(self, is_so, complaint):
        end = time.monotonic() + 30 * e2e.PATIENCE
        while not is_so():
            self.assertLess(time.monotonic(), end, complaint)
            time.sleep(0.02)

    def channel(self, name, part):
        return pathlib.Path(self.queue) / name / part

    def move_clock(self, seconds):
        """Makes all files of the queue older by SECONDS: for a folder that is a clock that jumps forward."""
        for path in pathlib.Path(self.queue).rglob("*"):
            with contextlib.suppress(FileNotFoundError):  # a worker has moved it
                if path.is_file():
                    os.utime(path, (time.time() - seconds,) * 2)

    def test_a_full_disk_of_the_totals_loses_nothing(self):
        self.start_server()
        texts = self.send(8, 400)
        self.work()
        limit = {"preexec_fn": lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000)))}
        figures = self.folder / "reducer.prom"
        said = self.folder / "said"
        with said.open("w") as stderr:
            reducer = self.start(e2e.PROGRAM, "reduce", "--queue", self.queue, "--totals", self.totals, "--metrics", figures, stderr=stderr, **limit)
        self.wait_until(lambda: figures.exists() and not re.search(r"queue_failures_total.* 0$", figures.read_text(), re.M), "the disk is never full")
        self.wait_until(lambda: 'work_disk_full{role="reducer"} 1\n' in figures.read_text(), "the metrics do not say that it waits for the disk")
        self.assertIn("the disk is full", said.read_text())
        self.assertIsNone(reducer.poll())  # it waits for room
        reducer.kill()
        reducer.wait()
        self.move_clock(60)  # past the lease of the killed reducer
        self.reduce()
        self.check(texts)

    def test_a_reducer_that_starts_on_a_full_disk_waits(self):
        self.start_server()
        texts = []
        for turn, name in enumerate(("no totals yet", "totals are there")):
            with self.subTest(name):
                texts += self.send(2, seed=40 + turn)
                self.work()
                full = {"preexec_fn": lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY)))}
                reducer = self.start(e2e.PROGRAM, "reduce", "--queue", self.queue, "--totals", self.totals, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                     text=True, **full)
                self.addCleanup(reducer.stderr.close)
                said = ""
                while "waits, and tries again" not in said:
                    line = reducer.stderr.readline()
                    self.assertTrue(line, said)  # it has ended
                    said += line
                self.assertIn("the disk is full", said)
                resource.prlimit(reducer.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
                self.wait_for(100 * (turn + 1))
                self.check(texts)
                reducer.send_signal(signal.SIGTERM)
                self.assertEqual(reducer.wait(30 * e2e.PATIENCE), 0)

    def test_a_message_that_kills_workers_becomes_a_dead_letter(self):
        """Each worker is killed while the symbols of one report hold it up. The others of its batch are counted."""
        self.start_server()
        self.assertEqual(self.post("id=poison", f"> held\nheld.exe!0x1000 {{{1:032X}1}}\n"), 200)
        healthy = [f"> a\nx.dll!0x{number + 1:x}\n" for number in range(15)]
        for number, text in enumerate(healthy):
            self.assertEqual(self.post(f"id=x{number:02}", text), 200)
        with SymbolServer(self.folder / "none") as symbols:
            symbols.delay_s = 1000
            for deaths in range(1, 6):
                worker = self.start(e2e.PROGRAM, "worker", "--queue", self.queue, "--symbols", SYMBOLS, "--symbols", f"srv*{self.folder}/cache*{symbols.url}")
                self.assertTrue(symbols.wait_for(deaths))
                worker.kill()
                worker.wait()
                self.move_clock(60)
            symbols.stop.set()
        texts = self.send(3)
        self.assertIn("1 dead letter,", self.work().stderr)
        self.reduce()
        self.check(texts + healthy)
        letter, = self.channel("dead", "ready").iterdir()
        dead = letter.read_text()
        self.assertIn("reason: delivered too often", dead)
        self.assertIn("delivered: 6", dead)

    def test_workers_and_reducer_write_their_metrics(self):
        self.start_server()
        self.send(2)
        self.assertEqual(self.post("id=bad", b"{broken\n"), 200)
        for verb, more, role in (("worker", ("--symbols", SYMBOLS), "worker"), ("reduce", ("--totals", self.totals), "reducer")):
            file = self.folder / f"{role}.prom"
            self.run_twinstack(verb, "--queue", self.queue, *more, "--idle", "100ms", "--metrics", file)
            values = dict(line.rsplit(" ", 1) for line in file.read_text().splitlines() if not line.startswith("#"))
            self.assertEqual(values[f'twinstack_work_stacks_total{{role="{role}"}}'], "100")
            self.assertEqual(values[f'twinstack_work_dead_letters_total{{role="{role}"}}'], "0")
            self.assertEqual(values[f'twinstack_work_queue_pending{{role="{role}",channel="reports"}}'], "0")
            self.assertEqual(values[f'twinstack_work_stacks_per_second{{role="{role}"}}'], "0")  # of the last second

    def test_the_last_figures_are_written_at_the_end(self):
        self.start_server()
        file = self.folder / "worker.prom"
        worker = self.start(e2e.PROGRAM, "worker", "--queue", self.queue, "--symbols", SYMBOLS, "--metrics", file)
        self.wait_until(file.exists, "no metrics")
        self.send(1)
        self.wait_until(lambda: any((self.channel("reports", "done")).iterdir()), "it does not work")
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(30 * e2e.PATIENCE), 0)
        self.assertIn('twinstack_work_stacks_total{role="worker"} 50\n', file.read_text())

    def test_symbols_that_vanish_lose_names_but_no_stack(self):
        self.start_server()
        store = self.folder / "symbols"
        shutil.copytree(SYMBOLS, store)
        worker = self.start(e2e.PROGRAM, "worker", "--queue", self.queue, "--symbols", store)
        self.start_reducer()
        first = self.send(3, seed=4)
        self.wait_for(150)
        shutil.rmtree(store)
        second = self.send(3, seed=5)
        data = self.wait_for(300)
        self.assertIsNone(worker.poll())
        self.assertEqual(data["bad"], 0)
        self.check(first + second)  # the worker keeps the files that it has opened

    def test_a_worker_without_symbols_counts_by_offsets(self):
        self.start_server()
        (self.folder / "empty").mkdir()
        self.send(2, seed=6)
        self.work(self.folder / "empty")
        self.reduce()
        data = self.problems()
        self.assertEqual(data["stacks"], 100)
        self.assertIn("victims-ob2.exe!0x", data["problems"][0]["signature"])

    def test_clocks_that_jump_repeat_work_but_no_count(self):
        self.start_server()
        worker, reducer = self.start_worker(), self.start_reducer()
        texts = []
        for turn in range(4):
            texts += self.send(4, seed=20 + turn)
            self.move_clock((2 * DAY_S, -2 * DAY_S, 60, -60)[turn])
        self.wait_for(800)
        self.move_clock(60)  # past the leases taken before the clock went back
        self.work()
        self.reduce()
        self.assertEqual((worker.poll(), reducer.poll()), (None, None))
        self.check(texts)

    def test_a_message_that_is_settled_while_it_is_taken_ends_no_worker(self):
        """A worker that was slow settles it after its lease, when another one has renamed the file and not yet read it: as a link to nothing is."""
        self.start_server()
        texts = self.send(3, seed=44)
        (self.channel("reports", "ready") / "-0").symlink_to("gone")
        (self.channel("partials", "ready") / "-0").symlink_to("gone")
        for result in (self.work(), self.reduce()):
            self.assertNotIn("error", result.stderr)
        self.check(texts)

    def test_partial_results_that_come_twice_and_in_any_order_count_once(self):
        self.start_server()
        texts = []
        for seed in range(30, 36):  # several rounds, so several messages
            texts += self.send(2, seed=seed)
            self.work()
        ready = self.channel("partials", "ready")
        messages = [path.read_bytes() for path in ready.iterdir()]
        self.assertGreater(len(messages), 3)
        for path in ready.iterdir():
            path.unlink()
        rng = random.Random(7)
        for turn in range(3):
            rng.shuffle(messages)
            for i, message in enumerate(messages):
                (ready / f"again-{turn}-{i:03}").write_bytes(message)
            (ready / f"again-{turn}-both").write_bytes(messages[0] + messages[-1])  # grouped differently
            self.reduce()
            self.check(texts)

    def test_the_totals_of_several_queues_add_up(self):
        texts, files = [], []
        for turn, name in enumerate(("east", "west")):
            self.queue, self.totals = str(self.folder / name), self.folder / f"{name}.db"
            self.start_server()
            for version in ("1", "2"):
                text = text_of(random.Random(turn), 40)
                self.assertEqual(self.post(f"id={name}{version}&version={version}", text), 200)
                texts.append(text)
            self.work()
            self.reduce()
            files.append(self.totals)
        self.totals = self.folder / "all.db"
        self.start_server()
        for _ in range(2):  # it is made anew each time
            done = self.run_twinstack("reduce", "--merge", *files, "--totals", self.totals)
            self.assertIn("is the sum of 2 totals", done.stdout)
            self.assertEqual(done.stderr, "")
            self.check(texts)
            self.assertEqual(self.problems()["reports"], 4)
            self.assertEqual(self.problems("?version=2")["stacks"], 80)
        self.assertEqual([path.name for path in self.folder.glob("all.db*")], ["all.db"])
        self.assertIn("2 reports were sent to two queues and count twice",
                      self.run_twinstack("reduce", "--merge", *files, files[0], "--totals", self.folder / "twice.db").stderr)
        for name, words, code in (("no files", (), 2), ("a queue", (files[0], "--queue", self.queue), 2), ("no such file", (self.folder / "nowhere",), 4),
                                  ("no totals", (self.folder / "runs.db", files[0]), 4)):
            with self.subTest(name):
                (self.folder / "runs.db").write_text("nothing of ours, and long enough to be looked at")
                self.run_twinstack("reduce", "--merge", *words, "--totals", self.totals, exit_code=code)
                self.check(texts)  # it is as it was
        self.run_twinstack("reduce", "--merge", *files, "--totals", self.folder / "runs.db", exit_code=4)
        self.assertIn("nothing of ours", (self.folder / "runs.db").read_text())

    def files(self):
        """{file: bytes} of all that the pipeline keeps."""
        return {str(path.relative_to(self.folder)): path.stat().st_size for path in self.folder.rglob("*") if path.is_file()}

    def test_a_start_removes_what_deaths_left_and_nothing_else(self):
        """A collector that dies while it takes a dump, and files as a worker and a merge leave that die while they write."""
        server = self.start_server()
        texts = self.send(3)
        self.assertEqual(self.post("id=whole&kind=dump", b"MDMP" + bytes(1000)), 200)
        self.work()
        good = set(self.files())
        host, port = self.address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), 20 * e2e.PATIENCE) as link:
            head = f"POST /api/v1/reports?id=half&kind=dump HTTP/1.1\r\nHost: {host}:{port}\r\nX-Token: {stream_pipeline.TOKEN}\r\nContent-Length: 4000000\r\n\r\n"
            link.sendall(head.encode() + b"MDMP" + bytes(1000000))
            self.wait_until(lambda: any("alice-half" in name for name in self.files()), "the dump does not come")
            server.kill()
            server.wait()
        for folder in ("reports/ready", "reports/done", "reports/tries", "partials/ready", "dead/ready", "notes", "parts", "locks"):
            (pathlib.Path(self.queue) / folder / f"alice-1#{server.pid}-1f.tmp").write_bytes(b"x")
        merged = self.folder / "all.db"
        (self.folder / "all.db.new").write_bytes(b"x" * 5000)
        left = set(self.files()) - good
        self.assertEqual(len(left), 10, left)
        self.start_server()
        self.work()
        self.reduce()
        self.run_twinstack("reduce", "--merge", self.totals, "--totals", merged)
        after = set(self.files())
        self.assertEqual(after & left, set())
        self.assertEqual({name for name in good - after if "/partials/ready/" not in name}, set())  # these are counted
        self.assertEqual({name for name in after if "#" in name or name.endswith((".tmp", ".new"))}, set())
        self.check(texts)

    def test_what_is_kept_for_how_long(self):
        """As the README says, also by workers that end soon; other files stay, however old they are."""
        self.start_server()
        rows = (("reports/done", 23, True), ("reports/done", 25, False), ("partials/done", 25, False), ("reports/tries", 13 * 24, True),
                ("reports/tries", 15 * 24, False), ("notes", 24, True), ("notes", 26, False), ("parts", 13 * 24, True), ("parts", 15 * 24, False),
                ("shadow/ready", 13 * 24, True), ("shadow/ready", 15 * 24, False), ("partials/ready", 400 * 24, True), ("dead/ready", 400 * 24, True))
        files = [pathlib.Path(self.queue) / folder / f"old-{number}" for number, (folder, _, _) in enumerate(rows)]
        for file, (_, hours, _) in zip(files, rows):
            file.write_bytes(b"")
            os.utime(file, (time.time() - 3600 * hours,) * 2)
        self.work()
        for file, (folder, hours, stays) in zip(files, rows):
            with self.subTest(f"{folder}, {hours} hours"):
                self.assertEqual(file.exists(), stays)

    def days(self, *days):
        """The days of all ids in the totals; with DAYS they are set first, one id after the other."""
        with contextlib.closing(sqlite3.connect(self.totals)) as db, db:
            ids = [row[0] for row in db.execute("SELECT id FROM report ORDER BY id")]
            db.executemany("UPDATE report SET day = ? WHERE id = ?", zip(days, ids))
            return [row[0] for row in db.execute("SELECT day FROM report ORDER BY day")]

    def test_ids_of_old_days_are_forgotten_and_their_sums_stay(self):
        self.start_server()
        texts = self.send(12)
        self.work()
        self.reduce()
        old = [str(datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days)) for days in range(12, 0, -1)]
        self.assertEqual(self.days(*old), old)
        texts += self.send(1, seed=2)
        self.work()
        self.reduce()
        self.assertEqual(self.days()[:-1], old[-8:])  # what was added today is kept, too
        self.check(texts)

    def test_a_clock_that_was_in_the_future_forgets_no_id(self):
        self.start_server()
        texts = self.send(3)
        self.work()
        copies = {path.name: path.read_bytes() for path in self.channel("partials", "ready").iterdir()}
        self.reduce()
        self.days(*["2999-12-31"] * 3)
        for turn in range(2):
            for name, data in copies.items():
                (self.channel("partials", "ready") / f"again-{turn}-{name[:40]}").write_bytes(data)
            texts += self.send(1, seed=10 + turn)
            self.work()
            self.reduce()
            self.check(texts)
        self.assertEqual(set(self.days()), {"2999-12-31"})


if __name__ == "__main__":
    e2e.main()
