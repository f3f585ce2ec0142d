"""The pipeline of reports for tests: collector, queue, workers, reducer."""

import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import time
import unittest
import urllib.error
import urllib.request

import e2e

SYMBOLS = e2e.ROOT / "corpus/symbols"
TOKEN = "0123456789abcdef0123"
NATS_SERVER = shutil.which("nats-server", path=os.environ["PATH"] + ":/usr/sbin")


def free_port():
    """A port that nothing uses, below those that the system gives to connections: one of them might take it before it is used, or while
    its server is started anew."""
    for port in random.sample(range(10000, 32768), 100):
        with socket.socket() as found, contextlib.suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no port is free")


def ask_jetstream(port, subject, document):
    """The answer of JetStream itself to one request, in the protocol of NATS. DOCUMENT is JSON, or the bytes of a message."""
    with socket.create_connection(("127.0.0.1", port), 20 * e2e.PATIENCE) as link:
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        link.sendall(b"CONNECT {\"verbose\":false}\r\nSUB _INBOX.test 1\r\nPUB %s _INBOX.test %d\r\n%s\r\n" % (subject.encode(), len(body), body))
        got = b""
        while not (head := re.search(rb"MSG _INBOX\.test 1 +(\d+)\r\n", got)) or len(got) < head.end() + int(head[1]):
            part = link.recv(65536)
            if not part:
                raise ConnectionError(f"no answer to {subject}: {got}")
            got += part
    return json.loads(got[head.end():head.end() + int(head[1])])


class Pipeline(e2e.Case):
    """The queue is a folder."""

    def setUp(self):
        self.started = []
        self.totals = self.folder / "totals.db"
        self.addCleanup(self.end_all)  # before the folder is removed
        (self.folder / "senders").write_text(f"# who may send\nalice {TOKEN}\n")
        self.start_queue()

    def start_queue(self):
        self.queue = str(self.folder / "spool")

    def end_all(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()

    def start(self, *argv, env=None, **more):
        process = subprocess.Popen([str(a) for a in argv], stderr=more.pop("stderr", subprocess.DEVNULL),
                                   env={**os.environ, "TWINSTACK_SYSTEM_SYMBOLS": "0", **(env or {})}, **more)
        self.started.append(process)
        return process

    queue_is_folder = True
    idle = "100ms"
    twinstack_program = e2e.PROGRAM

    def start_server(self, *more, **options):
        server = self.start(self.twinstack_program, "serve", "--wait", "--db", self.folder / "runs.db", "--listen", "127.0.0.1:0", "--collect", "--senders",
                            self.folder / "senders", "--queue", self.queue, "--spool", self.folder / "spool", "--totals", self.totals, *more,
                            stdout=subprocess.PIPE, text=True, **options)
        self.address = server.stdout.readline().strip().split("#")[0].rstrip("/")
        self.assertTrue(self.address.startswith("http"), "the server did not start")
        return server

    def start_worker(self, **options):
        return self.start(self.twinstack_program, "worker", "--queue", self.queue, "--symbols", SYMBOLS, stdout=subprocess.DEVNULL, **options)

    def start_reducer(self, **options):
        return self.start(self.twinstack_program, "reduce", "--queue", self.queue, "--totals", self.totals, stdout=subprocess.DEVNULL, **options)

    def post(self, query, body, token=TOKEN, **headers):
        """Sends a report; returns the HTTP status of the answer. HEADERS have '_' for '-'."""
        request = urllib.request.Request(f"{self.address}/api/v1/reports?{query}", data=body if isinstance(body, bytes) else body.encode(),
                                         headers={**({"X-Token": token} if token else {}), **{name.replace("_", "-"): text for name, text in headers.items()}},
                                         method="POST")
        try:
            with urllib.request.urlopen(request, timeout=20 * e2e.PATIENCE) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            self.retry_after = error.headers.get("Retry-After")
            error.close()
            return error.code

    def get(self, path):
        with urllib.request.urlopen(self.address + path, timeout=20 * e2e.PATIENCE) as answer:
            return answer.read().decode()

    def problems(self, query=""):
        return json.loads(self.get("/api/v1/problems" + query))["data"]

    def wait_for(self, stacks, seconds=60):
        """Waits until STACKS stacks are counted and returns the document; fails at once if there are more."""
        end = time.monotonic() + seconds * e2e.PATIENCE
        while True:
            data = self.problems()
            self.assertLessEqual(data["stacks"], stacks)
            if data["stacks"] == stacks:
                return data
            self.assertLess(time.monotonic(), end, f"only {data['stacks']} of {stacks} stacks are counted")
            time.sleep(0.2)

    def expected(self, texts):
        """The counts when one machine counts all texts."""
        whole = json.loads(self.run_twinstack("signatures", "--symbols", SYMBOLS, "--json", stdin="".join(texts)).stdout)
        return {row["signature"]: row["count"] for row in whole["signatures"]}

    def counted(self, data):
        return {row["signature"]: row["count"] for row in data["problems"]}

    def work(self, *more, symbols=SYMBOLS):
        return self.run_twinstack("worker", "--queue", self.queue, "--symbols", symbols, "--idle", self.idle, *more, env={"TWINSTACK_SYSTEM_SYMBOLS": "0"},
                                  limit_s=120)

    def reduce(self):
        return self.run_twinstack("reduce", "--queue", self.queue, "--totals", self.totals, "--idle", self.idle, limit_s=120)

    def end_leases(self):
        """What a killed process had taken comes again now: its file looks older than a lease."""
        for path in pathlib.Path(self.queue).glob("*/taken/*"):
            with contextlib.suppress(FileNotFoundError):
                os.utime(path, (time.time() - 60,) * 2)


@unittest.skipUnless(NATS_SERVER, "nats-server is not installed")
class OverNats:
    """What makes a Pipeline one over NATS JetStream: the first base of its class."""

    queue_is_folder = False
    idle = "500ms"  # on a busy machine, a message of 900 kB takes longer than 100 ms to arrive

    def start_queue(self):
        self.port, self.monitor = free_port(), free_port()
        self.queue = f"nats://127.0.0.1:{self.port}"
        self.start_nats()

    def start_nats(self):
        self.nats = self.start(NATS_SERVER, "-js", "-sd", self.folder / "jetstream", "-a", "127.0.0.1", "-p", self.port, "-m", self.monitor,
                               stdout=subprocess.DEVNULL)
        end = time.monotonic() + 10 * e2e.PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                self.assertLess(time.monotonic(), end, "nats-server does not start")
                time.sleep(0.05)

    def kill_queue(self):
        self.nats.kill()
        self.nats.wait()
        self.start_nats()

    def end_leases(self):
        pass  # JetStream knows when: in 30 s. A reader that is given a shorter one after kills may be served nothing

    def setUp(self):
        super().setUp()
        done = e2e.twinstack("worker", "--queue", self.queue, "--symbols", SYMBOLS, "--idle", "100ms")
        if "built without libnats" in done.stderr or "libnats is not installed" in done.stderr:
            self.skipTest(done.stderr)
