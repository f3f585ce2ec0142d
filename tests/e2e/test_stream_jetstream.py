"""Faults of the pipeline over NATS JetStream: disks that are small or full, clocks that jump, a server that forgets ids too early,
a store that vanishes. Every acknowledged stack counts exactly once."""

import functools
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import stream_pipeline  # noqa: E402
from stream_pipeline import SYMBOLS, free_port  # noqa: E402

SERVER = shutil.which("nats-server", path=os.environ["PATH"] + ":/usr/sbin")
MIB = 1 << 20
DAY_S = 24 * 3600
LEASE_S = 2
STREAMS = ("REPORTS", "PARTIALS", "DEAD", "SHADOW")


def text_of(rng, stacks):
    return "".join("> %d\nvictims-ob2.exe!0x%x\n" % (i, rng.randrange(0x1000, 0x4000, 0x40)) for i in range(stacks))


@functools.cache
def nats_refusal():
    """What the program says at once if it cannot use NATS; with libnats it waits for the server, which is not there."""
    worker = subprocess.Popen([e2e.PROGRAM, "worker", "--queue", "nats://127.0.0.1:1", "--symbols", SYMBOLS], stderr=subprocess.PIPE, text=True)
    try:
        return worker.communicate(timeout=3)[1]
    except subprocess.TimeoutExpired:
        return ""
    finally:
        worker.kill()
        worker.communicate()


@unittest.skipUnless(SERVER, "nats-server is not installed")
class JetStream(stream_pipeline.Pipeline):
    def start_queue(self):
        self.port, self.monitor = free_port(), free_port()
        self.queue = f"nats://127.0.0.1:{self.port}"
        self.disk = []  # a command that runs another one where the small disk is
        if refusal := nats_refusal():
            self.skipTest(refusal)

    def start_nats(self):
        self.nats = self.start(*self.disk, SERVER, "-js", "-sd", self.folder / "jetstream", "-a", "127.0.0.1", "-p", self.port, "-m", self.monitor,
                               stdout=subprocess.DEVNULL)
        self.wait_until(lambda: socket.create_connection(("127.0.0.1", self.port), 1).close() is None, "nats-server does not start")

    def wait_until(self, is_so, complaint, seconds=60):
        end = time.monotonic() + seconds * e2e.PATIENCE
        while True:
            try:
                if is_so():
                    return
            except OSError:
                pass
            self.assertLess(time.monotonic(), end, complaint)
            time.sleep(0.05)

    def make_disk(self, mib):
        """A file system of its own for nats-server; the test reaches it through /proc."""
        place = self.folder / "jetstream"
        place.mkdir()
        script = f'mount -t tmpfs -o size={mib}m tmpfs "$0" && echo mounted && exec sleep {600 * e2e.PATIENCE}'
        holder = self.start("unshare", "-rm", "sh", "-c", script, place, stdout=subprocess.PIPE, text=True)
        if holder.stdout.readline() != "mounted\n":
            self.skipTest("this user may not mount a file system")
        self.disk = ["nsenter", f"--target={holder.pid}", "--user", "--mount", "--preserve-credentials"]
        self.inside = pathlib.Path(f"/proc/{holder.pid}/root{place}")

    def stop_nats(self):
        """A server whose disk was full may never end when it is asked to: 2.9.10 waits for itself (rebuildStateLocked in writeMsgRecord)."""
        self.nats.terminate()
        try:
            self.nats.wait(10 * e2e.PATIENCE)
        except subprocess.TimeoutExpired:
            self.nats.kill()
            self.nats.wait()

    def ask_server(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.monitor}/{path}", timeout=10 * e2e.PATIENCE) as answer:
            return json.load(answer)

    def channels(self):
        """{channel: what the server says about it}"""
        streams = self.ask_server("jsz?streams=true&config=true&consumers=true")["account_details"][0]["stream_detail"]
        return {stream["name"].removeprefix("TWINSTACK_"): stream for stream in streams}

    def limits(self):
        """{channel: bytes that it may hold}"""
        return {name: stream["config"]["max_bytes"] for name, stream in self.channels().items()}

    def request(self, subject, document):
        """One request to JetStream itself. False: it was refused."""
        return "error" not in stream_pipeline.ask_jetstream(self.port, subject, document)

    def make_streams(self, window_s):
        """As the program makes them, but for the time after which an id is forgotten."""
        for name in STREAMS[:2]:
            self.assertTrue(JetStream.request(self, f"$JS.API.STREAM.CREATE.TWINSTACK_{name}", {
                "name": f"TWINSTACK_{name}", "subjects": [f"twinstack.{name.lower()}"], "retention": "workqueue", "storage": "file", "max_consumers": -1,
                "max_msgs": -1, "max_bytes": 64 * MIB, "discard": "new", "num_replicas": 1, "duplicate_window": int(window_s * 1e9)}))

    def restart_and_forget(self, server, **options):
        """The ids that collectors remember in the queue are gone, too, and a new collector comes."""
        server.kill()
        server.wait()
        self.assertTrue(JetStream.request(self, "$JS.API.STREAM.PURGE.TWINSTACK_NOTES", {}))
        return self.start_server(**options)

    def send(self, first, count, stacks=50):
        """Sends COUNT reports, each until it is acknowledged; returns their texts."""
        texts = []
        for number in range(first, first + count):
            text = text_of(random.Random(number), stacks)
            self.wait_until(lambda number=number, text=text: self.post(f"id=j{number}", text) == 200, "a report was not taken", 90)
            texts.append(text)
        return texts

    def check(self, texts, seconds=90):
        self.wait_for(sum(text.count("> ") for text in texts), seconds)
        self.assertEqual(self.counted(self.problems("?limit=500")), self.expected(texts))

    def test_a_small_disk_is_divided_between_the_channels(self):
        folder = self.folder
        for mib, least in ((60, 8), (90, 8), (400, 16), (3000, 128), (11000, 512), (23000, 512), (26000, 1024)):  # JetStream takes three quarters
            with self.subTest(mib=mib):
                self.folder, self.port, self.monitor = folder / str(mib), free_port(), free_port()
                self.queue, self.totals = f"nats://127.0.0.1:{self.port}", self.folder / "totals.db"
                self.folder.mkdir()
                (self.folder / "senders").write_text(f"alice {stream_pipeline.TOKEN}\n")
                self.make_disk(mib)
                self.start_nats()
                self.start_server()
                limits = self.limits()
                self.assertEqual(limits.pop("NOTES"), -1)  # nothing is set aside for them
                self.assertLessEqual(sum(limits.values()), mib * MIB)
                self.assertTrue(mib < 400 or limits["PARTS"] >= least * MIB)
                limits.pop("PARTS", None)
                self.assertEqual(set(limits), set(STREAMS))
                self.assertGreaterEqual(min(limits.values()), least * MIB)
                self.assertGreaterEqual(limits["REPORTS"], (1 if mib == 26000 else 2) * max(limits[name] for name in STREAMS[1:]))
                self.assertGreaterEqual(limits["PARTIALS"], max(limits["DEAD"], limits["SHADOW"]))
                self.assertEqual(self.post("id=a", "> a\nvictims-ob2.exe!0x2000\n"), 200)

    def test_a_program_that_ends_while_it_divides_a_disk_leaves_that_to_the_next(self):
        """Reports are made with the room of all, one byte less, and then give back what the others need."""
        self.make_disk(3000)
        self.start_nats()
        self.assertTrue(JetStream.request(self, "$JS.API.STREAM.CREATE.TWINSTACK_REPORTS", {
            "name": "TWINSTACK_REPORTS", "subjects": ["twinstack.reports"], "retention": "workqueue", "storage": "file", "max_consumers": -1, "max_msgs": -1,
            "max_bytes": 1920 * MIB - 1, "discard": "new", "num_replicas": 1, "duplicate_window": DAY_S * 10**9}))
        self.start_server()
        limits = {name: most // MIB for name, most in self.limits().items() if most > 0}
        self.assertEqual(limits, {"REPORTS": 1024, "PARTIALS": 512, "DEAD": 128, "SHADOW": 128, "PARTS": 128})

    def test_what_is_kept_for_how_long(self):
        """As the README says; nothing of it is an option of the server."""
        self.start_nats()
        self.start_server()
        configs = {name: stream["config"] for name, stream in self.channels().items()}
        hour_ns = 3600 * 10**9
        for name, hours, retention in (("REPORTS", 0, "workqueue"), ("PARTIALS", 0, "workqueue"), ("DEAD", 0, "limits"), ("SHADOW", 14 * 24, "workqueue"),
                                       ("NOTES", 25, "limits"), ("PARTS", 14 * 24, "limits")):
            with self.subTest(name):
                config = configs[name]
                self.assertEqual((config.get("max_age", 0), config["retention"], config["storage"], config["discard"]),
                                 (hours * hour_ns, retention, "file", "new"))
                if name in STREAMS:
                    self.assertEqual(config["duplicate_window"], 24 * hour_ns)

    def test_a_disk_that_is_too_small_is_said(self):
        self.make_disk(8)
        self.start_nats()
        done = e2e.twinstack("worker", "--queue", self.queue, "--symbols", SYMBOLS, "--idle", "100ms", limit_s=120)
        self.assertEqual(done.returncode, 3)
        self.assertIn("no room", done.stderr)

    def test_a_full_queue_refuses_until_it_is_read(self):
        self.make_disk(90)
        self.start_nats()
        self.start_server()
        rng = random.Random(1)
        text, taken, answer = text_of(rng, 30000), [], 200
        while answer == 200:
            self.assertLess(len(taken), 100)
            answer = self.post(f"id=f{len(taken)}", text)
            taken += [text] if answer == 200 else []
        self.assertEqual((answer, self.retry_after), (503, "5"))
        refused = len(taken)
        self.start_worker()
        self.start_reducer()
        self.wait_until(lambda: self.post(f"id=f{refused}", text) == 200, "the queue stays full")
        self.check(taken + [text])

    def test_a_full_disk_under_jetstream_loses_nothing(self):
        self.make_disk(90)
        self.start_nats()
        server = self.start_server()
        worker, reducer = self.start_worker(), self.start_reducer()
        texts = self.send(0, 5)
        self.check(texts)
        ballast = self.inside / "ballast"
        with ballast.open("wb") as full:
            try:
                while True:
                    full.write(bytes(MIB))
                    full.flush()
            except OSError:
                pass
        answers = [self.post(f"id=full{i}", text_of(random.Random(i), 3000)) for i in range(20)]
        acknowledged = [text_of(random.Random(i), 3000) for i, answer in enumerate(answers) if answer == 200]
        self.assertIn(503, answers)
        self.assertEqual(set(answers) - {200, 503}, set())
        self.assertEqual([process.poll() for process in (server, worker, reducer)], [None] * 3)
        ballast.unlink()
        self.stop_nats()  # it has turned JetStream off, and says so
        self.start_nats()
        for i, answer in enumerate(answers):
            if answer != 200:
                text = text_of(random.Random(i), 3000)
                self.wait_until(lambda i=i, text=text: self.post(f"id=full{i}", text) == 200, "a report was not taken", 90)
                acknowledged.append(text)
        self.check(texts + acknowledged + self.send(10, 3))
        self.assertEqual([process.poll() for process in (server, worker, reducer)], [None] * 3)

    def test_a_server_that_forgets_ids_and_delivers_early_repeats_no_count(self):
        """What a clock of the server does that jumps ahead: ids are forgotten, and leases end."""
        self.start_nats()
        self.make_streams(0.1)
        server = self.start_server()
        texts = [text_of(random.Random(i), 400) for i in range(6)]
        started = [self.start_worker(), self.start_reducer()]
        for name, reader in (("REPORTS", "workers"), ("PARTIALS", "reducer")):  # made by them with a lease of 30 s
            config = {"durable_name": reader, "deliver_policy": "all", "ack_policy": "explicit", "ack_wait": LEASE_S * 1_000_000_000,
                      "replay_policy": "instant", "max_ack_pending": 1024, "filter_subject": f"twinstack.{name.lower()}"}
            self.wait_until(lambda name=name, reader=reader: self.request(f"$JS.API.CONSUMER.INFO.TWINSTACK_{name}.{reader}", {}), "no reader")
            self.assertTrue(self.request(f"$JS.API.CONSUMER.DURABLE.CREATE.TWINSTACK_{name}.{reader}",
                                         {"stream_name": f"TWINSTACK_{name}", "config": config}))
        for turn in range(3):
            for i, text in enumerate(texts):
                self.assertEqual(self.post(f"id=again{i}", text), 200)
            time.sleep(0.3)
            server = self.restart_and_forget(server)
            for process in started if turn == 0 else []:
                process.send_signal(signal.SIGSTOP)
        self.assertNotIn('twinstack_queue_pending{channel="reports"} 0', self.get("/metrics"))
        self.start_worker()
        time.sleep(LEASE_S + 1)
        for process in started:  # each finishes what another has by now as well
            process.send_signal(signal.SIGCONT)
        self.wait_until(lambda: 'pending{channel="reports"} 0' in self.get("/metrics") and 'pending{channel="partials"} 0' in self.get("/metrics"),
                        "messages stay in the queue")
        self.check(texts)
        time.sleep(LEASE_S)
        self.check(texts)

    def test_a_server_whose_streams_start_anew_delivers_what_it_acknowledges(self):
        """A killed server may come back with a reader that is ahead of the sequence of its stream; it then delivers nothing to it
        (https://github.com/nats-io/nats-server/issues/5412). Here the streams lose their sequences, the readers keep theirs."""
        self.start_nats()
        self.start_server()
        started = [self.start_worker(), self.start_reducer()]
        texts = self.send(0, 12)
        self.check(texts)
        self.stop_nats()
        for name in STREAMS[:2]:
            place = self.folder / "jetstream/jetstream/$G/streams" / f"TWINSTACK_{name}"
            self.assertTrue(list((place / "obs").iterdir()))
            shutil.rmtree(place / "msgs")
        self.start_nats()
        texts += self.send(20, 3)
        self.check(texts, 20)
        self.assertEqual([process.poll() for process in started], [None] * 2)

    def test_a_reader_that_the_server_loses_is_made_anew(self):
        """A server that is killed while it makes a reader comes back without it; what was taken from it cannot be settled any more."""
        self.start_nats()
        self.start_server()
        started = [self.start_worker(), self.start_reducer()]
        texts = self.send(0, 1)
        self.check(texts)

        def taken():
            readers = self.channels()["REPORTS"].get("consumer_detail") or []
            return sum(reader["num_ack_pending"] for reader in readers)

        def sent_while_it_sleeps():
            started[0].send_signal(signal.SIGSTOP)  # while the server holds its question for more
            texts.extend(self.send(len(texts), 4))
            end = time.monotonic() + 1
            while time.monotonic() < end:
                if taken():
                    return True
            started[0].send_signal(signal.SIGCONT)  # it had just asked for the last time; in a moment it asks again
            return False

        self.wait_until(sent_while_it_sleeps, "the worker takes nothing")
        held = taken()
        self.assertTrue(self.request("$JS.API.CONSUMER.DELETE.TWINSTACK_REPORTS.workers", {}))
        started[0].send_signal(signal.SIGCONT)
        start = time.monotonic()
        self.check(texts + self.send(1000, 3))
        self.wait_until(lambda: self.channels()["REPORTS"]["state"]["messages"] == 0, "messages stay in the queue")
        self.assertLess(time.monotonic() - start, 10 * e2e.PATIENCE, f"{held} messages were held")
        self.assertEqual([process.poll() for process in started], [None] * 2)

    def test_symbols_that_vanish_lose_names_but_no_stack(self):
        self.start_nats()
        self.start_server()
        store = self.folder / "symbols"
        shutil.copytree(SYMBOLS, store)
        worker = self.start(e2e.PROGRAM, "worker", "--queue", self.queue, "--symbols", store)
        self.start_reducer()
        texts = self.send(0, 3)
        self.check(texts)
        shutil.rmtree(store)
        self.check(texts + self.send(3, 3))
        self.assertIsNone(worker.poll())

    def test_a_message_that_cannot_be_read_becomes_a_dead_letter(self):
        self.start_nats()
        self.start_server()
        self.assertEqual(self.post("id=bad", b"\0\1\2" * 100), 200)
        with socket.create_connection(("127.0.0.1", self.port), 5) as link:
            for subject in (b"twinstack.reports", b"twinstack.partials"):
                link.sendall(b"CONNECT {\"verbose\":false}\r\nPUB %s 9\r\nnot ours!\r\n" % subject)
            link.sendall(b"PING\r\n")
            while b"PONG" not in link.recv(4096):
                pass
        worker, reducer = self.start_worker(), self.start_reducer()
        texts = self.send(0, 2)
        self.check(texts)
        self.wait_until(lambda: 'pending{channel="dead"} 2' in self.get("/metrics"), "no dead letters")
        self.assertEqual((worker.poll(), reducer.poll()), (None, None))


class Clocks(stream_pipeline.Pipeline):
    """The wall clocks of collector, worker and reducer jump, each by itself. The queue is a folder."""

    def setUp(self):
        super().setUp()
        compiler = shutil.which("cc")
        if not compiler or not sys.platform.startswith("linux"):
            self.skipTest("no compiler for a library that moves the clock")
        self.library = self.folder / "clock_shift.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-o", self.library, e2e.ROOT / "tests/lib/clock_shift.c"], check=True, timeout=60)

    roles = ("server", "worker", "reducer")

    def shifted(self, name):
        self.shift(name, 0)
        return {"env": {"LD_PRELOAD": str(self.library), "TEST_CLOCK_SHIFT": str(self.folder / f"shift-{name}")}}

    def shift(self, name, seconds):
        new = self.folder / f"shift-{name}.new"
        new.write_text(f"{seconds}\n")
        new.rename(self.folder / f"shift-{name}")

    def test_clocks_that_jump_repeat_work_but_no_count(self):
        self.collector = self.start_server(**self.shifted("server"))
        started = [self.start_worker(**self.shifted("worker")), self.start_reducer(**self.shifted("reducer"))]
        rng = random.Random(19)
        texts = []
        for turn, shift in enumerate((0, 2 * DAY_S, -2 * DAY_S, 400 * DAY_S, 60, -60, 30, -365 * DAY_S, 0)):
            for role in rng.sample(self.roles, 2) if shift else self.roles:
                self.shift(role, shift)
            for number in range(3):
                text = text_of(random.Random(100 * turn + number), 40)
                for _ in range(2):
                    self.send(f"c{turn}-{number}", text)
                texts.append(text)
        data = self.wait_for(40 * len(texts), 150)
        self.assertEqual(self.counted(self.problems("?limit=500")), self.expected(texts))
        self.assertGreater(len(data["hours"]), 2)  # the collector's clock did jump
        self.send_again([(f"c{i // 3}-{i % 3}", text) for i, text in enumerate(texts)])
        self.assertEqual(self.counted(self.problems("?limit=500")), self.expected(texts))
        self.assertEqual([process.poll() for process in (self.collector, *started)], [None] * 3)
        for role, process in zip(self.roles, (self.collector, *started)):
            self.assertIn(str(self.library), pathlib.Path(f"/proc/{process.pid}/maps").read_text(), role)

    def send(self, name, text):
        while (answer := self.post(f"id={name}", text)) != 200:  # a clock that jumps may end the wait for the queue
            self.assertEqual(answer, 503)
            time.sleep(0.5)  # a sender that does not pause is refused with 429

    def send_again(self, reports):
        """All of them, at once; returns when the queue is empty."""
        for name, text in reports:
            self.send(name, text)
        self.wait_until_empty()

    def wait_until_empty(self):
        end = time.monotonic() + 60 * e2e.PATIENCE
        while not all(f'pending{{channel="{name}"}} 0' in self.get("/metrics") for name in ("reports", "partials")):
            self.assertLess(time.monotonic(), end, "messages stay in the queue")
            time.sleep(0.1)


@unittest.skipUnless(SERVER, "nats-server is not installed")
class ClocksOverJetStream(Clocks):
    """Over a server that forgets an id after WINDOW_S, as one does whose clock jumps ahead."""

    WINDOW_S = 1
    start_nats, wait_until, ask_server, channels = JetStream.start_nats, JetStream.wait_until, JetStream.ask_server, JetStream.channels

    def start_queue(self):
        JetStream.start_queue(self)
        self.start_nats()
        JetStream.make_streams(self, self.WINDOW_S)

    def send_again(self, reports):
        """To a server that was started anew and knows none of the ids: the collector still does. Then to one that knows none, either."""
        JetStream.stop_nats(self)
        self.start_nats()
        time.sleep(self.WINDOW_S + 1)
        before = self.channels()["REPORTS"]["state"]["last_seq"]
        super().send_again(reports)
        self.assertEqual(self.channels()["REPORTS"]["state"]["last_seq"], before)
        self.collector = JetStream.restart_and_forget(self, self.collector, **self.shifted("server"))
        before = self.channels()["REPORTS"]["state"]["last_seq"]
        super().send_again(reports)
        self.assertEqual(self.channels()["REPORTS"]["state"]["last_seq"], before + len(reports))


if __name__ == "__main__":
    e2e.main()
