"""The capture's uploader. A program crashes under Wine, and its next start sends the files that are left: to servers that stall, cut the
connection, refuse or die, and to the real collector. It has a Wine prefix to itself.

Only this finds a report that is lost or sent twice on its way from the program to the collector."""

import http.server
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import stream_pipeline  # noqa: E402

OBJECTS = pathlib.Path(os.environ.get("TWINSTACK_VICTIMS", e2e.BUILD / "victims")) / "capture/CMakeFiles/capture.dir"
WINE = {**os.environ, "WINEPREFIX": os.environ.get("WINEPREFIX", str(e2e.BUILD / "wine")), "WINEDEBUG": "-all"}
CUT = 6  # CAPTURE_NO_DUMP_CUT
RESULT = re.compile(r"sent (\d+) refused (\d+) left (\d+) status (\d+) end (\d+) no_dump (\d+)")
DONE, NO_CONSENT, BAD_OPTIONS, BAD_URL, NO_ANSWER, TOKEN, NOT_NOW, OUT_OF_TIME = range(8)


class Server(http.server.ThreadingHTTPServer):
    """Answers each request as the next word of a script says, and repeats the last word."""

    daemon_threads = True

    def __init__(self, *script):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.seen, self.bodies, self.ended = list(script), [], {}, threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def next_word(self):
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    def handle_error(self, request, client_address):
        pass  # connections are cut on purpose


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        word = self.server.next_word()
        self.server.seen.append((time.monotonic(), self.path, self.headers.get("X-Token"), word))
        if word == "cut":
            self.rfile.read(1000)
            self.connection.close()
            return
        if word == "deaf":
            self.server.ended.wait()
            return
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if word == "stall":
            self.server.ended.wait()
            return
        if word == "drip":
            for byte in b"HTTP/1.1 200 " + b"O" * 100000:
                self.wfile.write(bytes([byte]))
                if self.server.ended.wait(0.2):
                    return
        status, _, more = word.partition(" ")
        if status == "200":
            self.server.bodies[self.path] = body
        self.send_response(int(status))
        if more:
            name, value = more.split("=")
            self.send_header(name, value)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format, *args):  # noqa: A002
        pass


class Upload(stream_pipeline.Pipeline):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tree = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.tree.cleanup)
        cls.enterClassContext(e2e.wine_session(WINE))
        # The capture of the victims; that the package builds this program is seen in test_capture_package.py.
        sources = [e2e.ROOT / "capture/example/upload.c", e2e.ROOT / "capture/upload.c"]
        argv = ["clang-19", "--target=x86_64-w64-mingw32", "-std=c11", "-O2", "-D_WIN32_WINNT=0x0A00", "-D__USE_MINGW_ANSI_STDIO=0",
                f"-I{e2e.ROOT}", "-fuse-ld=lld-19", "-static", "-municode", *sources, *OBJECTS.glob("*.obj"), "-ldbghelp", "-lntdll",
                "-lwinhttp", "-o", f"{cls.tree.name}/upload.exe"]
        done = subprocess.run([str(w) for w in argv], capture_output=True, text=True, check=False, timeout=240 * e2e.PATIENCE)
        if done.returncode != 0:
            raise AssertionError(done.stdout[-2000:] + done.stderr[-2000:])

    def setUp(self):
        super().setUp()
        self.reports = self.folder / "reports"
        self.reports.mkdir()

    def program(self, url, word, *numbers):
        return e2e.wine(f"{self.tree.name}/upload.exe", self.reports, url, stream_pipeline.TOKEN, word, *numbers, env=WINE)

    def crash(self):
        before = set(self.reports.iterdir())
        self.assertNotEqual(self.program("-", "crash").returncode, 0)
        made = set(self.reports.iterdir()) - before
        self.assertEqual({path.suffix for path in made}, {".rec", ".dmp"})

    def send(self, server, *numbers, word="send"):
        """Starts the program to send, with two tries and short pauses; returns (sent, refused, left, status, end)."""
        done = self.program(server if isinstance(server, str) else server.url, word, *(numbers or (2, 20, 30000, 100000)))
        found = RESULT.search(done.stdout)
        self.assertTrue(found, done.stdout + done.stderr)
        self.no_dump = int(found[6])
        return tuple(map(int, found.groups()[:5]))

    def serve(self, *script):
        server = Server(*script)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(server.ended.set)
        return server

    def files(self):
        return sorted(path.suffix for path in self.reports.iterdir())

    def test_what_a_server_does(self):
        self.crash()
        both = [".dmp", ".rec"]
        for name, script, want, requests in (
                ("it refuses the token: nothing more is tried", ["401"], (0, 0, 1, 401, TOKEN), 1), ("it is never well", ["500"], (0, 0, 1, 500, NOT_NOW), 2),
                ("it cuts the connection", ["cut"], (0, 0, 1, 0, NO_ANSWER), 2),
                ("it redirects", ["302 Location=http://127.0.0.1:1/"], (0, 1, 0, 302, DONE), 2),
                ("it takes the dump and dies", ["200", "cut"], (0, 0, 1, 0, NO_ANSWER), 3), ("it will never take it", ["400"], (0, 1, 0, 400, DONE), 2),
                ("it has another report of this id: the files stay", ["409"], (0, 1, 0, 409, DONE), 2)):
            with self.subTest(name):
                server = self.serve(*script)
                self.assertEqual(self.send(server), want)
                self.assertEqual(len(server.seen), requests)
                self.assertEqual(self.files(), both)
        self.assertEqual(self.send("http://127.0.0.1:1"), (0, 0, 1, 0, NO_ANSWER))  # no server
        self.assertEqual(self.files(), both)
        # The server recovers: it gets the dump after the time in Retry-After, then the record. Only then are the files deleted.
        server = self.serve("429 Retry-After=1", "200", "503", "200")
        self.assertEqual(self.send(server), (1, 0, 0, 200, DONE))
        self.assertEqual(self.files(), [])
        times, paths, tokens, _ = zip(*server.seen)
        self.assertGreaterEqual(times[1] - times[0], 1)
        self.assertEqual([("kind=dump" in path) for path in paths], [True, True, False, False])
        self.assertEqual(set(tokens), {stream_pipeline.TOKEN})
        record, dump = (next(body for path, body in server.bodies.items() if ("kind=dump" in path) == is_dump) for is_dump in (False, True))
        self.assertEqual((record[:8], dump[:4]), (b"TWINREC1", b"MDMP"))
        ids = {re.search(r"id=([\w.-]+)", path)[1] for path in paths}
        self.assertEqual(len(ids), 1)
        self.assertLessEqual(len(ids.pop()), 48)

    def test_a_full_disk_is_the_reason_for_a_missing_dump(self):
        e2e.wine(f"{self.tree.name}/upload.exe", self.reports, "-", "-", "crash", env=WINE, loader=e2e.wine_with_disk_of(100))
        end = time.monotonic() + 20 * e2e.PATIENCE
        while ".dmp" in self.files() and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(self.files(), [".rec"])
        self.assertEqual(self.send(self.serve("200")), (1, 0, 0, 200, DONE))
        self.assertEqual(self.no_dump, CUT)

    def test_what_is_never_asked_says_why(self):
        self.crash()
        server = self.serve("200")
        for name, url, word, end in (("no consent", server.url, "ask-first", NO_CONSENT), ("no address of the web", "collector", "send", BAD_URL),
                                     ("another kind of address", "ftp://127.0.0.1/", "send", BAD_URL)):
            with self.subTest(name):
                self.assertEqual(self.send(url, word=word), (0, 0, 1, 0, end))
                self.assertEqual((server.seen, self.files()), ([], [".dmp", ".rec"]))

    def test_the_collector_refuses_a_token_also_before_a_large_dump(self):
        self.crash()
        with next(self.reports.glob("*.dmp")).open("ab") as grown:
            grown.write(bytes(500_000))
        (self.folder / "senders").write_text(f"bob {stream_pipeline.TOKEN[::-1]}\n")
        self.start_server()
        self.assertEqual(self.send(self.address), (0, 0, 1, 401, TOKEN))
        self.assertIn('twinstack_reports_total{result="refused"} 1\n', self.get("/metrics"))
        self.assertEqual(self.files(), [".dmp", ".rec"])

    def test_all_of_it_takes_no_longer_than_its_limit(self):
        self.crash()
        self.crash()
        server = self.serve("503 Retry-After=3600")
        start = time.monotonic()
        self.assertEqual(self.send(server, 5, 100, 2000, 3000), (0, 0, 2, 503, OUT_OF_TIME))
        self.assertLess(time.monotonic() - start, 20 * e2e.PATIENCE)
        self.assertEqual(len(server.seen), 1)  # Retry-After is an hour, the limit three seconds

    def test_a_server_that_never_ends_a_request_holds_nothing_up(self):
        self.crash()
        dump = next(self.reports.glob("*.dmp"))
        for name, word, numbers, least in (("it never answers", "stall", (2, 20, 400, 100000), 0.8), ("it never reads", "deaf", (2, 20, 400, 100000), 0.8),
                                           ("its answer never ends", "drip", (2, 20, 400, 100000), 0.8),
                                           ("the limit for all of it ends the first try", "stall", (5, 20, 60000, 1000), 1)):
            with self.subTest(name):
                if word == "deaf":  # more than the sockets hold
                    with dump.open("ab") as grown:
                        grown.write(bytes(32 << 20))
                server = self.serve(word)
                start = time.monotonic()
                self.assertEqual(self.send(server, *numbers), (0, 0, 1, 0, OUT_OF_TIME if numbers[0] == 5 else NO_ANSWER))
                took = time.monotonic() - start
                self.assertGreater(took, least)
                self.assertLess(took, 20 * e2e.PATIENCE)
                self.assertEqual(len(server.seen), 1 if numbers[0] == 5 else 2)
        self.assertEqual(self.files(), [".dmp", ".rec"])
        self.assertEqual(self.send(self.serve("200")), (1, 0, 0, 200, DONE))
        self.assertEqual(self.files(), [])

    def test_a_crash_reaches_the_head_problems(self):
        self.crash()
        self.crash()
        address = self.start_server() and self.address
        self.assertEqual(self.send(address), (2, 0, 0, 200, DONE))
        self.assertEqual(self.files(), [])
        self.assertEqual(len(list((self.folder / "spool/dumps").iterdir())), 2)
        worker = self.run_twinstack("worker", "--queue", self.queue, "--symbols", self.tree.name, "--idle", "100ms", "--sample", "100%", "--dumps",
                                    self.folder / "spool/dumps", limit_s=120)
        self.assertIn("2 judged", worker.stderr)
        self.run_twinstack("reduce", "--queue", self.queue, "--totals", self.totals, "--idle", "100ms")
        data = self.problems()
        self.assertEqual((data["stacks"], data["problems"][0]["versions"], data["problems"][0]["count"]), (2, "1.0", 2))
        self.assertIn("wmain", data["problems"][0]["signature"])
        self.assertEqual(data["shadow"]["reports"], 2)


if __name__ == "__main__":
    e2e.main()
