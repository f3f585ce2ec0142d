"""The pipeline of reports for tests: collector, queue, workers, reducer."""

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request

import e2e

SYMBOLS = e2e.ROOT / "corpus/symbols"
TOKEN = "0123456789abcdef0123"


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


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
        process = subprocess.Popen([str(a) for a in argv], stderr=subprocess.DEVNULL,
                                   env={**os.environ, "TWINSTACK_SYSTEM_SYMBOLS": "0", **(env or {})}, **more)
        self.started.append(process)
        return process

    queue_is_folder = True
    twinstack_program = e2e.PROGRAM

    def start_server(self, *more, **options):
        port = free_port()
        server = self.start(self.twinstack_program, "serve", "--wait", "--db", self.folder / "runs.db", "--listen", f"127.0.0.1:{port}", "--collect", "--senders",
                            self.folder / "senders", "--queue", self.queue, "--spool", self.folder / "spool", "--totals", self.totals, *more,
                            stdout=subprocess.PIPE, text=True, **options)
        self.address = server.stdout.readline().strip().split("#")[0].rstrip("/")
        self.assertTrue(self.address.startswith("http"), "the server did not start")
        return server

    def start_worker(self, **options):
        return self.start(self.twinstack_program, "worker", "--queue", self.queue, "--symbols", SYMBOLS, stdout=subprocess.DEVNULL, **options)

    def start_reducer(self, **options):
        return self.start(self.twinstack_program, "reduce", "--queue", self.queue, "--totals", self.totals, stdout=subprocess.DEVNULL, **options)

    def post(self, query, body, token=TOKEN):
        """Sends a report; returns the HTTP status of the answer."""
        request = urllib.request.Request(f"{self.address}/api/v1/reports?{query}", data=body if isinstance(body, bytes) else body.encode(),
                                         headers={"X-Token": token} if token else {}, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=20 * e2e.PATIENCE) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
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
