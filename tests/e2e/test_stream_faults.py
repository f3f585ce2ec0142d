"""The pipeline of reports: collector, queue, workers, reducer, under faults.

Every acknowledged stack counts exactly once, whatever is killed; a report that was not acknowledged is sent again. The tests run over both
transports: a folder, and NATS JetStream where nats-server is installed. TWINSTACK_SOAK=1 runs the long forms.
With the argument I/N it does the I-th of N parts of the tests."""

import collections
import concurrent.futures
import http.client
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import stream_pipeline  # noqa: E402
from stream_pipeline import SYMBOLS, TOKEN  # noqa: E402
from symbol_server import SymbolServer  # noqa: E402

SOAK = bool(os.environ.get("TWINSTACK_SOAK"))


def make_report(rng, stacks):
    """Returns a text of stacks, and how often each first frame occurs in it."""
    counts, text = {}, []
    for i in range(stacks):
        offset = rng.choice((0x1800, 0x2000, 0x2800, 0x3000, 0x3800))
        counts[offset] = counts.get(offset, 0) + 1
        text.append("> %d\nvictims-ob2.exe!0x%x\nvictims-ob2.exe!0x%x\n" % (i, offset, rng.randrange(0x1000, 0x1100)))
    return "".join(text), counts


class Pipeline(stream_pipeline.Pipeline):
    """The queue is a folder; see Nats below for the other transport."""

    def test_reports_become_head_problems(self):
        self.start_server()
        worker, reducer = self.start_worker(), self.start_reducer()
        rng = e2e.rng(1)
        texts = [make_report(rng, 50)[0] for _ in range(6)]
        for i, text in enumerate(texts):
            self.assertEqual(self.post(f"id=r{i}&version=1.{i % 2}", text), 200)
            self.assertEqual(self.post(f"id=r{i}&version=1.{i % 2}", text), 200)  # sent twice, counted once
        data = self.wait_for(300)
        self.assertEqual(self.counted(data), self.expected(texts))
        top = data["problems"][0]
        self.assertEqual((data["reports"], data["bad"], top["versions"], top["rank"]), (6, 0, "1.0, 1.1", 1))
        self.assertEqual(sum(hour["count"] for hour in top["hours"]), top["count"])
        self.assertTrue(top["example"].startswith("victims-ob2.exe!0x"), top["example"])
        self.assertEqual(self.problems("?version=1.0")["stacks"], 150)
        self.assertTrue(self.problems("?baseline=2000-01-01")["problems"][0]["new"])
        self.assertFalse(self.problems("?baseline=2999-01-01")["problems"][0]["new"])
        metrics = self.get("/metrics")
        self.assertIn("twinstack_counted_stacks 300", metrics)
        self.assertIn('twinstack_queue_pending{channel="reports"} 0', metrics)
        self.assertTrue(metrics.endswith("# EOF\n"))
        for process in (worker, reducer):  # they finish their work and exit as asked
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(30 * e2e.PATIENCE), 0)

    def test_hostile_reports_are_refused_or_buried(self):
        self.start_server()
        good = "> a\nvictims-ob2.exe!0x2000\n"
        for name, query, body, token, want in (("no token", "id=a", good, None, 401), ("wrong token", "id=a", good, TOKEN[:-1] + "x", 401),
                                               ("no id", "", good, TOKEN, 400), ("an id that is a path", "id=..%2Fa", good, TOKEN, 400),
                                               ("a long id", "id=" + "a" * 49, good, TOKEN, 400), ("a kind", "id=a&kind=x", good, TOKEN, 400),
                                               ("a stack without an end", "id=a", "> a\n" + "x.exe!0x1\n" * 100000, TOKEN, 400),
                                               ("too large", "id=a", b"x" * (17 << 20), TOKEN, 413), ("a version", "id=a&version=" + "v" * 90, good, TOKEN, 400)):
            with self.subTest(name=name):
                try:
                    self.assertEqual(self.post(query, body, token), want)
                except (urllib.error.URLError, ConnectionError):  # ended before the body was sent
                    self.assertEqual(want, 413)
        for _ in range(100):  # an answer is sent before it is counted
            if 'result="refused"} 9\n' in self.get("/metrics"):
                break
            time.sleep(0.1)
        self.assertIn('twinstack_reports_total{result="refused"} 9\n', self.get("/metrics"))
        self.assertEqual(self.post("id=empty", b""), 200)
        self.assertEqual(self.post("id=bytes", bytes(range(256)) * 20), 200)
        self.assertEqual(self.post("id=json", b"{broken\n"), 200)
        self.assertEqual(self.post("id=good", good), 200)
        self.assertEqual(self.post("id=dump&kind=dump", b"MDMP" + bytes(3000000)), 200)
        self.assertEqual((self.folder / "spool/dumps/alice-dump.dmp").stat().st_size, 3000004)
        self.start_worker()
        self.start_reducer()
        self.assertGreater(self.wait_for(1)["bad"], 0)

    def test_names_of_senders_leave_no_id_to_two_of_them(self):
        for name, good in [("alice", True), ("alice-b", False), ("a" * 25, False), ("a.b_c", True)]:
            with self.subTest(name):
                (self.folder / "senders").write_text(f"{name} {TOKEN}\n")
                argv = ["serve", "--wait", "--db", self.folder / "runs.db", "--listen", "127.0.0.1:0", "--collect", "--senders",
                        self.folder / "senders", "--queue", self.folder / "folder", "--spool", self.folder / "spool"]
                process = subprocess.Popen([e2e.PROGRAM, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.started.append(process)
                if good:
                    self.assertRegex(process.stdout.readline(), "^http://")
                else:
                    self.assertIn("line of a sender", process.communicate(timeout=30 * e2e.PATIENCE)[1])
                    self.assertEqual(process.returncode, 3)
                process.kill()
                process.communicate()

    def test_a_sender_has_a_rate(self):
        self.start_server()
        taken = 0
        with concurrent.futures.ThreadPoolExecutor(4) as pool:  # ten a second are always taken, so a slow machine needs several; the server takes 8
            start = time.monotonic()
            while set(answers := list(pool.map(lambda i: self.post(f"id=r{taken + i}", b""), range(40)))) == {200}:
                taken += 40
            seconds = time.monotonic() - start
        self.assertEqual(set(answers), {200, 429})
        self.assertEqual(self.retry_after, "5")
        taken += answers.count(200)
        self.assertGreaterEqual(taken, 100)
        self.assertLessEqual(taken, 101 + 10 * seconds)

    def test_reports_that_come_at_once_go_together(self):
        """Texts, objects and records of one sender; some are sent twice at the same time. Two collectors share the queue."""
        (self.folder / "senders").write_text(f"alice {TOKEN} 600000\n")
        self.start_server()
        first = self.address
        self.start_server()
        addresses = (first, self.address)
        record = (e2e.ROOT / "corpus/cases/null_write.ob2/record.rec").read_bytes()
        bodies = [(f"> {i}\nvictims-ob2.exe!0x{0x2000 + 0x10 * (i % 7):x}\n".encode(), b'{"frames":[{"module":"victims-ob2.exe","offset":"0x3800"}]}\n',
                   record)[i % 3] for i in range(150)]

        def send(number):
            request = urllib.request.Request(f"{addresses[number % 2]}/api/v1/reports?id=g{number // 3}", data=bodies[number // 3 % 150],
                                             headers={"X-Token": TOKEN}, method="POST")
            with urllib.request.urlopen(request, timeout=20 * e2e.PATIENCE) as answer:
                return answer.status

        def count(name):
            return len(list((self.folder / "spool" / name).iterdir()))

        rounds, together, end = 0, False, time.monotonic() + 60 * e2e.PATIENCE
        with concurrent.futures.ThreadPoolExecutor(30) as pool:
            while not together:  # on a busy machine, they may come one after the other
                before = count("reports/ready") if rounds else 0
                self.assertEqual(set(pool.map(send, range(450 * rounds, 450 * (rounds + 1)))), {200})
                rounds += 1
                together = not self.queue_is_folder or count("reports/ready") - before < 100
                self.assertLess(time.monotonic(), end, "reports of a sender do not go together")
        if self.queue_is_folder:
            self.assertLess(count("notes"), count("reports/ready") + 3)
        self.start_worker()
        self.start_reducer()
        data = self.wait_for(150 * rounds)
        self.assertEqual((data["reports"], data["bad"]), (150 * rounds, 0))
        counted, texts = self.counted(data), self.expected([text.decode() for text in bodies[::3]] * rounds)
        self.assertEqual({name: counted.pop(name) for name in texts}, texts)
        self.assertEqual(sorted(counted.values()), [50 * rounds] * 2)  # the objects, and the records
        self.assertEqual(self.post("id=g0", bodies[1]), 409)
        self.assertEqual(self.post("id=g0", bodies[0]), 200)

    def test_a_large_report_goes_in_pieces(self):
        self.start_server()
        rng = e2e.rng(3)
        text = make_report(rng, 40000)[0]
        self.assertGreater(len(text), 1800000)
        for _ in range(2):
            self.assertEqual(self.post("id=large", text), 200)
        self.start_worker()
        self.start_reducer()
        data = self.wait_for(40000)
        self.assertEqual((self.counted(data), data["reports"] > 1), (self.expected([text]), True))

    def test_a_full_disk_refuses_and_loses_nothing(self):
        """The collector may write no file above 64 kB: what it refuses is sent again later."""
        full = {"preexec_fn": lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)))}
        server = self.start_server(**full)
        rng = e2e.rng(5)
        large, small = make_report(rng, 4000)[0], make_report(rng, 20)[0]
        refused = self.post("id=large", large)
        self.assertEqual(refused, 503 if self.queue_is_folder else 200)
        if refused == 503:
            self.assertEqual(self.retry_after, "5")
        self.assertEqual(self.post("id=dump&kind=dump", b"MDMP" + bytes(200000)), 507)
        end = time.monotonic() + 30 * e2e.PATIENCE  # the answer may come before the part that was kept is removed
        while list((self.folder / "spool/dumps").iterdir()) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(list((self.folder / "spool/dumps").iterdir()), [])
        self.assertEqual(self.post("id=small", small), 200)
        server.kill()
        server.wait()
        self.start_server()
        for _ in range(2):
            self.assertEqual(self.post("id=large", large), 200)
        self.start_worker()
        self.start_reducer()
        self.assertEqual(self.counted(self.wait_for(4020)), self.expected([large, small]))

    def test_a_worker_that_is_asked_to_end_finishes_what_it_took(self):
        self.start_server()
        rng = e2e.rng(11)
        texts = [make_report(rng, 400)[0] for _ in range(4)]
        held = f"> held\nheld.exe!0x1000 {{{1:032X}1}}\n"
        for i, text in enumerate([held, *texts]):
            self.assertEqual(self.post(f"id=t{i}", text), 200)
        with SymbolServer(self.folder / "none") as symbols:
            symbols.delay_s = 1000  # it holds the worker until the test has asked that to end
            worker = self.start(e2e.PROGRAM, "worker", "--queue", self.queue, "--symbols", SYMBOLS, "--symbols",
                                f"srv*{self.folder}/cache*{symbols.url}", stdout=subprocess.DEVNULL)
            self.assertTrue(symbols.wait_for(1))
            self.assertTrue(self.is_working())
            worker.send_signal(signal.SIGTERM)
            symbols.stop.set()
            self.assertEqual(worker.wait(30 * e2e.PATIENCE), 0)
        self.assertFalse(self.is_working())
        self.start_worker()
        self.start_reducer()
        self.assertEqual(self.counted(self.wait_for(1601)), self.expected([held, *texts]))

    def is_working(self):
        """Whether a worker has taken a report that it has not settled."""
        return next((pathlib.Path(self.queue) / "reports/taken").iterdir(), None) is not None

    def test_old_dumps_are_deleted(self):
        self.start_server("--dump-age", "1h", "--dump-mib", "64")
        dumps = self.folder / "spool/dumps"
        for number in range(3):  # kept by another server, long ago
            (dumps / f"alice-old{number}.dmp").write_bytes(b"MDMP")
            os.utime(dumps / f"alice-old{number}.dmp", (time.time() - 7200,) * 2)
        (dumps / "alice-young.dmp").write_bytes(b"MDMP")
        self.assertEqual(self.post("id=new&kind=dump", b"MDMP" + bytes(1000)), 200)
        self.assertEqual(sorted(path.name for path in dumps.iterdir()), ["alice-new.dmp", "alice-young.dmp"])
        with (dumps / "alice-young.dmp").open("wb") as large:
            large.truncate(60 << 20)
        self.assertEqual(self.post("id=large&kind=dump", b"MDMP" + bytes(6 << 20)), 200)
        self.assertEqual([path.name for path in dumps.iterdir()], ["alice-large.dmp"])
        self.assertIn("twinstack_dumps_deleted_total 5", self.get("/metrics"))

    def test_a_record_is_one_stack(self):
        self.start_server()
        record = (e2e.ROOT / "corpus/cases/null_write.ob2/record.rec").read_bytes()
        self.assertEqual(self.post("id=record", record), 200)
        self.start_worker()
        self.start_reducer()
        data = self.wait_for(1)
        self.assertIn("poke", data["problems"][0]["signature"])

    def test_a_partial_result_that_is_larger_than_a_message_goes_in_sections(self):
        self.start_server()
        text = "".join("> %d\nunknown-module-number-%d.dll!0x%x\n%s" % (i, i, i, "victims-ob2.exe!0x10\n" * 8) for i in range(4000))
        self.assertEqual(self.post("id=wide", text), 200)
        self.start_worker()
        self.start_reducer()
        data = self.wait_for(4000)
        self.assertGreater(data["total"], 3900)

    def test_kills_at_random_moments_lose_and_repeat_nothing(self):
        """Workers, reducer, server and queue are killed while a report is sent, resolved or counted."""
        server = self.start_server()
        rng = e2e.rng(13)
        workers, reducer = [self.start_worker(), self.start_worker()], self.start_reducer()
        texts, figures = [], collections.Counter()
        sender = concurrent.futures.ThreadPoolExecutor(1)
        self.addCleanup(sender.shutdown)
        for i in range(300 if SOAK else 12):
            texts.append(make_report(rng, 200)[0])
            sent = sender.submit(self.send, i, texts[-1])
            victim = rng.choice(("worker", "reducer", "server", "queue", "none"))
            time.sleep(rng.random() * rng.choice((0.01, 0.2)))
            figures[victim] += 1
            if victim == "worker":
                workers[0].kill()
                workers[0].wait()
                workers = [workers[1], self.start_worker()]
            elif victim == "reducer":
                reducer.kill()
                reducer.wait()
                reducer = self.start_reducer()
            elif victim == "server":
                server.kill()
                server.wait()
                server = self.start_server()
            elif victim == "queue":
                self.kill_queue()
            figures["sent again"] += sent.result(60 * e2e.PATIENCE)
        self.end_leases()
        data = self.wait_for(200 * len(texts), 100)
        self.assertEqual(self.counted(data), self.expected(texts))
        if SOAK:
            print(f"{type(self).__name__}: {data['stacks']} stacks of {len(texts)} reports counted once; kills: {dict(figures)}", flush=True)

    def send(self, number, text):
        """Sends a report until it is acknowledged; returns how often it was sent again."""
        again = 0
        while True:
            try:
                if self.post(f"id=k{number}", text) == 200:
                    return again
            except (urllib.error.URLError, ConnectionError, TimeoutError, http.client.HTTPException):
                pass
            again += 1
            time.sleep(0.05)

    def kill_queue(self):
        pass  # a folder does not die


class Nats(stream_pipeline.OverNats, Pipeline):
    """The same over NATS JetStream."""

    def is_working(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.monitor}/jsz?consumers=true", timeout=10 * e2e.PATIENCE) as answer:
            streams = json.load(answer)["account_details"][0]["stream_detail"]
        reports = next(stream for stream in streams if stream["name"] == "TWINSTACK_REPORTS")
        return any(reader["num_ack_pending"] for reader in reports.get("consumer_detail") or [])


class Demo(e2e.Case):
    def start(self):
        """Its process, and the address of the page that it names. Another one may run beside it."""
        demo = subprocess.Popen(["/usr/bin/python3", e2e.ROOT / "tests/demo_stream.py", "--work", self.folder / "demo"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env={**os.environ, "TWINSTACK_BUILD": str(e2e.BUILD), "TWINSTACK_SYSTEM_SYMBOLS": "0"})
        for pipe in (demo.stdout, demo.stderr):
            self.addCleanup(pipe.close)
        page = demo.stdout.readline().strip()
        self.assertTrue(page.endswith("/problems"), page)
        return demo, page

    def test_the_demo_shows_reports_coming_in(self):
        demo, page = self.start()
        end, stacks = time.monotonic() + 20 * e2e.PATIENCE, 0
        while stacks == 0:
            self.assertLess(time.monotonic(), end)
            with urllib.request.urlopen(page.replace("/problems", "/api/v1/problems"), timeout=10 * e2e.PATIENCE) as answer:
                stacks = json.load(answer)["data"]["stacks"]
            time.sleep(0.2)
        demo.send_signal(signal.SIGINT)
        said = demo.communicate(timeout=40 * e2e.PATIENCE)[1]
        self.assertEqual(demo.returncode, 130, said)
        self.assertIn("demo-stream: look at the order of the head problems", said)

    @unittest.skipUnless(shutil.which("setpriv"), "no setpriv")
    def test_a_demo_that_is_killed_leaves_nothing_running(self):
        demo, _ = self.start()
        started = pathlib.Path(f"/proc/{demo.pid}/task/{demo.pid}/children").read_text().split()
        self.assertGreaterEqual(len(started), 4)
        demo.kill()
        demo.wait()
        end = time.monotonic() + 20 * e2e.PATIENCE
        while any(pathlib.Path(f"/proc/{pid}/exe").exists() for pid in started):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)


if __name__ == "__main__":
    e2e.main(split=True)
