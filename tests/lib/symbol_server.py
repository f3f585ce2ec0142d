"""A symbol server for tests, which answers as the test requires and records each request.

    with SymbolServer(folder) as server:
        server.faults["/a.pdb/ID/a.pdb"] = [("status", 500), ("cut", 1000)]
        ... server.url ... server.asked

Each request for a path takes the next fault from the path's list; when none is left, the file is served, with ranges.
("hold", N) sends N bytes and then no more until the end of the test.
A fault written as ("always", fault) applies to all later requests too."""

import email.utils
import http.server
import pathlib
import re
import threading
import time
import urllib.parse

import e2e

GATHER_S = 20 * e2e.PATIENCE


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):  # noqa: N802 (the name is http.server's)
        server = self.server.owner
        path = urllib.parse.unquote(self.path)
        with server.lock:
            server.asked.append(path)
            server.ranges.append(self.headers.get("Range"))
            server.times.append(time.monotonic())
            server.running += 1
            server.most_running = max(server.most_running, server.running)
            faults = server.faults.get(path, [])
            fault = faults[0] if faults else server.always and ("always", server.always)
            if fault and fault[0] != "always":
                faults.pop(0)
        if fault and fault[0] == "always":
            fault = fault[1]
        file = server.folder / path.lstrip("/")
        data = server.files.get(path) or (file.read_bytes() if file.is_file() else None)
        with server.more:
            server.more.notify_all()
            server.more.wait_for(lambda: server.most_running >= server.gather or server.stop.is_set(), GATHER_S)
        server.stop.wait(server.delay_s)
        with server.lock:
            server.running -= 1  # before the answer, after which the next request may begin
        self.answer(server, fault, data)

    def send(self, status, headers, body=b""):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def answer(self, server, fault, data):
        kind, value = fault or ("serve", None)
        if kind == "status":
            status, headers = value if isinstance(value, tuple) else (value, {})
            return self.send(status, {"Content-Length": 5, **headers}, b"error")
        if kind == "redirect":
            return self.send(302, {"Location": value, "Content-Length": 0})
        if kind == "stall":
            server.stop.wait(value)
            self.close_connection = True
            return None
        if kind == "close":
            self.close_connection = True
            return None
        if data is None and kind != "body":
            return self.send(404, {"Content-Length": 3}, b"no\n")
        if kind == "body":
            data = value
        start, total = 0, len(data)
        headers = {"ETag": f'"{server.version}"'} if server.resumable else {}
        headers["Last-Modified"] = email.utils.formatdate(0, usegmt=True) if server.resumable else email.utils.formatdate()
        found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        if found and server.resumable and self.headers.get("If-Range") == headers["ETag"]:
            start = int(found[1])
            if start >= total:
                return self.send(416, {"Content-Range": f"bytes */{total}", "Content-Length": 0})
            headers["Content-Range"] = f"bytes {start}-{total - 1}/{total}"
        body = data[start:]
        headers["Content-Length"] = len(body)
        if kind == "length":
            headers["Content-Length"] = value
        if kind in ("cut", "hold"):
            body = body[:value]
        self.send_response(206 if start else 200)
        for name, text in headers.items():
            self.send_header(name, str(text))
        self.end_headers()
        if kind == "slow":
            for at in range(0, len(body), value):
                self.wfile.write(body[at:at + value])
                self.wfile.flush()
                if server.stop.wait(0.02):
                    break
        else:
            self.wfile.write(body)
        if kind == "hold":
            self.wfile.flush()
            server.stop.wait()
        if kind in ("cut", "length", "slow", "hold"):
            self.close_connection = True
        return None


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # tests disconnect on purpose


class SymbolServer:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.faults, self.files = {}, {}
        self.asked, self.ranges, self.times = [], [], []
        self.running = self.most_running = 0
        self.delay_s = 0  # before each answer
        self.resumable, self.version = True, "1"
        self.always = None  # the fault of every path that has none of its own
        self.gather = 0  # the first answers wait until so many requests run at once, for GATHER_S at most
        self.lock, self.stop = threading.Lock(), threading.Event()
        self.more = threading.Condition(self.lock)

    def __enter__(self):
        self.http = _Server(("127.0.0.1", 0), _Handler)
        self.http.owner = self
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.stop.set()
        self.http.shutdown()
        self.http.server_close()

    def wait_for(self, count, limit_s=50 * e2e.PATIENCE):
        """Waits until there were COUNT requests; False: they did not come in time."""
        end = time.monotonic() + limit_s
        while len(self.asked) < count and time.monotonic() < end:
            time.sleep(0.005)
        return len(self.asked) >= count
