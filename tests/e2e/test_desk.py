"""What the dashboard changes, hands out and takes in, of which no page in `test_whole.py` says anything: the baseline, the file of known
mismatches, dumps in ranges (RFC 9110, 14), uploads, the page of the reference suite. One server, no browser, a few seconds."""

import contextlib
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

SEED = e2e.BUILD / "tests/seed_store"
CASE = "null_write.ob2"
TRUTH = json.loads((e2e.ROOT / "corpus/cases" / CASE / "truth.json").read_text(encoding="utf-8"))["threads"][0]
PIECE = 1 << 20  # what dashboard/pages/download.c sends at once
NAMED = [frame["function"] for frame in TRUTH["frames"] if frame["function"]]
KNOWN_HEAD = "# Known mismatches: see `twinstack known --help`\n"


def day(ahead):
    return (datetime.date.today() + datetime.timedelta(days=ahead)).isoformat()


def form(*parts):
    """A body of multipart/form-data (RFC 7578) of files (name, bytes)."""
    found = [f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode() + data + b"\r\n" for name, data in parts]
    return b"".join([*found, b"--x--\r\n"])


FORM = {"Content-Type": "multipart/form-data; boundary=x"}


class Desk(e2e.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not SEED.exists():
            raise e2e.unittest.SkipTest("seed_store is not built")
        cls.place = contextlib.ExitStack()
        cls.home = pathlib.Path(cls.place.enter_context(e2e.tempfile.TemporaryDirectory()))
        cls.db, cls.known = cls.home / "runs.db", cls.home / "known.txt"
        (cls.home / "symbols").symlink_to(e2e.ROOT / "corpus/symbols")
        shutil.copytree(e2e.ROOT / "corpus/cases" / CASE, cls.home / "cases" / CASE)
        cls.dump = cls.home / "cases" / CASE / "dump.dmp"
        cls.suite = cls.home / "suite"
        (cls.suite / "results").mkdir(parents=True)
        for path in (e2e.ROOT / "corpus/reference").iterdir():
            if path.name != "results":
                (cls.suite / path.name).symlink_to(path)
        subprocess.run([SEED, cls.db, "0", "0", "24", "red"], check=True, capture_output=True)
        e2e.twinstack("check", cls.home / "cases" / CASE, "--db", cls.db)
        cls.url, cls.token = cls.serve("--allow-write", "--known", cls.known, "--suite", cls.suite)

    @classmethod
    def serve(cls, *more):
        server = subprocess.Popen([e2e.PROGRAM, "serve", "--db", cls.db, "--totals", cls.home / "none.db", "--listen", "127.0.0.1:0", *more],
                                  cwd=cls.home, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        cls.place.callback(server.stdout.close)
        cls.place.callback(server.wait, timeout=20 * e2e.PATIENCE)
        cls.place.callback(server.terminate)
        url, _, token = server.stdout.readline().strip().partition("/#token=")
        return url.rstrip("/"), token

    @classmethod
    def tearDownClass(cls):
        cls.place.close()
        super().tearDownClass()

    def ask(self, method, path, body=None, url=None, **headers):
        """(status, headers, bytes); BODY: bytes, or what becomes JSON."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        sent = {"X-Token": self.token, "Content-Type": "application/json", **headers}
        request = urllib.request.Request((url or self.url) + path, body, sent, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60 * e2e.PATIENCE) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.headers, refused.read()

    def refused(self, said, status, hint=None):
        error = json.loads(said[2])["error"]
        self.assertEqual((said[0], error["hint"]), (status, hint), error)

    # RFC 9110: 14.1.2 (ranges of bytes), 14.2 (what is not understood is ignored), 14.4 (Content-Range), 15.5.17 (416).
    def test_a_dump_comes_whole_or_in_ranges(self):
        whole = self.dump.read_bytes()
        whole += bytes(i % 251 for i in range(2 * PIECE + 7 - len(whole)))  # three pieces; their neighbours differ
        self.dump.write_bytes(whole)
        n, path = len(whole), f"/api/v1/runs/2/cases/{CASE}/dump"
        status, head, body = self.ask("GET", path)
        self.assertEqual((status, body == whole), (200, True))
        wanted = {"Content-Type": "application/octet-stream", "Content-Disposition": f'attachment; filename="run-2-{CASE}-dump.dmp"',
                  "Content-Length": str(n), "Accept-Ranges": "bytes", "Cache-Control": "private, no-cache", "Content-Range": None}
        self.assertEqual({key: head[key] for key in wanted}, wanted)
        rows = [("bytes=0-0", 0, 1), ("bytes=0-3", 0, 4), ("bytes=3-3", 3, 1), ("bytes=100-", 100, n - 100), ("bytes=-1", n - 1, 1), ("bytes=-8", n - 8, 8),
                (f"bytes={n - 1}-", n - 1, 1), (f"bytes={n - 2}-{n - 1}", n - 2, 2), (f"bytes={n - 2}-{n}", n - 2, 2), (f"bytes=-{n}", 0, n),
                (f"bytes=-{n + 1}", 0, n), ("bytes=5-99999999999999", 5, n - 5), (f"bytes={PIECE - 1}-{2 * PIECE}", PIECE - 1, PIECE + 2),
                (f"bytes={n}-", None, 0), (f"bytes={n}-{n}", None, 0), ("bytes=-0", None, 0), ("bytes=99999999999999-", None, 0)]
        for asked, begin, count in rows:
            with self.subTest(asked):
                status, head, body = self.ask("GET", path, Range=asked)
                place = f"bytes */{n}" if begin is None else f"bytes {begin}-{begin + count - 1}/{n}"
                self.assertEqual((status, head["Content-Range"], head["Content-Length"]), (416 if begin is None else 206, place, str(count)))
                self.assertEqual(body, whole[begin or 0:(begin or 0) + count])
        for asked in ("bytes=9-3", "bytes=1-2,5-6", "bytes=a-b", "bytes=1x-3", "bytes=0-3x", "bytes=-", "bytes=5", "bytes=", "byte=0-3", "lines=0-3",
                      "bytes= 0-3", "bytes=18446744073709551616-"):
            with self.subTest(asked):
                status, head, body = self.ask("GET", path, Range=asked)
                self.assertEqual((status, head["Content-Range"], body == whole), (200, None, True))
        status, head, body = self.ask("HEAD", path, Range="bytes=0-3")
        self.assertEqual((status, head["Content-Length"], body), (206, "4", b""))
        for tag, status in ((head["ETag"], 206), ('"older"', 200)):
            with self.subTest(tag=tag):
                self.assertEqual(self.ask("GET", path, Range="bytes=0-3", **{"If-Range": tag})[0], status)
        os.utime(self.dump, ns=(1, 10 ** 18))
        self.assertNotEqual(self.ask("HEAD", path)[1]["ETag"], head["ETag"])

    def test_a_dump_that_is_none_or_gone(self):
        kept, path = self.dump.read_bytes(), f"/api/v1/runs/2/cases/{CASE}/dump"
        self.addCleanup(self.dump.write_bytes, kept)
        rows = [("four bytes of a dump", b"MDMP", 200), ("three", b"MDM", 422), ("of something else", b"MDMQ" + kept[4:], 422)]
        for name, data, status in rows:
            with self.subTest(name):
                self.dump.write_bytes(data)
                self.assertEqual(self.ask("GET", path)[0], status)
        self.dump.unlink()
        for name, where in (("the file is gone", path), ("no such case", path.replace("null_write", "none")), ("no such run", path.replace("/2/", "/9/")),
                            ("a case of a run without folders", path.replace("/2/", "/1/"))):
            with self.subTest(name):
                said = self.ask("GET", where)
                self.assertEqual((said[0], json.loads(said[2])["error"]["key"]), (404, "absent"))

    def test_the_baseline_is_set(self):
        rows = [({"run": 1}, 200, None), ({"run": 2, "branch": "main"}, 200, None), ({"run": 9}, 404, "absent"), ({}, 404, "absent"),
                (b"[", 422, "malformed"), ({"run": "x"}, 422, "malformed"), ({"run": 1, "branch": 5}, 422, "malformed"),
                ({"run": 1, "platform": 5}, 422, "malformed")]
        for body, status, key in rows:
            with self.subTest(body=body):
                said = self.ask("PUT", "/api/v1/baseline", body)
                found = json.loads(said[2])
                self.assertEqual((said[0], found["error"]["key"] if key else found["data"]), (status, key or {"baseline": body["run"]}))
        self.assertEqual(self.run_twinstack("baseline", "show", "--db", self.db, "--branch", "main").stdout, "2\n")

    def test_what_is_known_is_added_and_removed(self):
        self.known.unlink(missing_ok=True)
        usage = "a reason and the last day (YYYY-MM-DD) must be given"
        good = {"run": 1, "case": CASE, "reason": "since of old", "expires": day(30), "issue": "https://example.org/7"}
        for name, change, status, hint in (
                ("a case without a variant", {"case": "null_write"}, 400, "a case is called SCENARIO.VARIANT"), ("no case", {"case": None}, 400, "a case is called SCENARIO.VARIANT"),
                ("no such case", {"case": "none.ob2"}, 404, None), ("no such variant", {"case": "null_write.ob9"}, 404, None), ("no such repeat", {"repeat": 1}, 404, None),
                ("no such run", {"run": 9}, 404, "name a run by id, the start of its uuid or commit, its branch, latest, latest~N or baseline"),
                ("no such problem", {"problem": "0000000000000000"}, 404, None), ("no reason", {"reason": None}, 400, usage), ("no last day", {"expires": None}, 400, usage),
                ("a day that is past", {"expires": day(-1)}, 400, "its last day is past: it would accept nothing"),
                ("more than 180 days", {"expires": day(200)}, 400, "more than 180 days need --broad"), ("a number as a reason", {"reason": 5}, 422, "JSON member of another type"),
                ("a word as a run", {"run": "x"}, 422, "JSON member of another type"), ("a number as a case", {"case": 5}, 422, "JSON member of another type"),
                ("a word for broad", {"broad": "x"}, 422, "JSON member of another type"), ("nothing is wrong", {"run": 2}, 400, "the case does not fail: there is nothing to accept (an ERROR never is)")):
            with self.subTest(name):
                self.refused(self.ask("POST", "/api/v1/known", {**good, **change}), status, hint)
                self.assertFalse(self.known.exists())
        self.refused(self.ask("POST", "/api/v1/known", b"{"), 422)
        status, _, body = self.ask("POST", "/api/v1/known", good)
        added = json.loads(body)["data"]["added"]
        self.assertEqual(status, 200, body)
        lines = added.strip().splitlines()
        self.assertEqual((lines[0], lines[1]), (f"[{CASE}]", f"scope: {CASE}"))
        for line in ("reason: since of old", "issue: https://example.org/7", f"expires: {day(30)}"):
            self.assertIn(line, lines)
        self.assertEqual(self.known.read_text(encoding="utf-8"), KNOWN_HEAD + added)
        self.refused(self.ask("POST", "/api/v1/known", good), 400, "the same is accepted already: let that one end first")
        # All cases of a problem at once, under its own name.
        problem = json.loads(self.ask("GET", "/api/v1/runs/1/queue")[2])["data"]["wrong"]["problems"][0]
        status, _, body = self.ask("POST", "/api/v1/known", {**good, "case": None, "problem": problem["key"], "broad": True})
        self.assertEqual(status, 200, body)
        second = json.loads(body)["data"]["added"]
        self.assertIn(f"cause: dump={problem['cause']}", second.splitlines())
        self.assertEqual(self.known.read_text(encoding="utf-8"), KNOWN_HEAD + added + second)
        listed = json.loads(self.ask("GET", "/api/v1/known?run=1")[2])["data"]
        ids = [line[1:-1] for line in (added + second).splitlines() if line.startswith("[")]
        self.assertEqual([item["id"] for item in listed["items"]], ids)
        self.refused(self.ask("DELETE", "/api/v1/known/none"), 404)
        status, _, body = self.ask("DELETE", f"/api/v1/known/{CASE}")
        self.assertEqual((status, json.loads(body)["data"]), (200, {"removed": CASE}))
        self.assertEqual(self.known.read_text(encoding="utf-8"), KNOWN_HEAD + second)
        self.refused(self.ask("DELETE", f"/api/v1/known/{CASE}"), 404)

    def test_without_a_file_nothing_is_known(self):
        url, token = self.serve("--allow-write")
        for method, path, body in (("POST", "/api/v1/known", {"run": 1, "case": CASE}), ("DELETE", "/api/v1/known/x", b"{}")):
            with self.subTest(method):
                self.refused(self.ask(method, path, body, url, **{"X-Token": token}), 400, "start the server with --known FILE")

    def test_figures_are_of_a_run_or_there_are_none(self):
        kept = self.db.read_bytes()
        empty = self.folder / "empty.db"
        empty.write_bytes(kept)
        self.run_twinstack("db", "prune", "--keep-runs", "0", "--db", empty)
        url, token = self.serve("--db", empty)
        for path in ("/metrics", "/badge/verdict.svg", "/api/v1/runs/latest"):
            with self.subTest(path):
                self.assertEqual((self.ask("GET", path)[0], self.ask("GET", path, url=url, **{"X-Token": token})[0]), (200, 404))
        text = self.ask("GET", "/metrics")[2].decode()
        self.assertTrue(text.endswith("\n# EOF\n") and text.count("# EOF") == 1, text[-80:])  # OpenMetrics 1.0, "EOF"

    def test_the_page_of_the_suite(self):
        shown = sorted((e2e.ROOT / "corpus/reference/results").glob("*.json"))[:2]
        tools = [json.loads(path.read_text(encoding="utf-8"))["tool"] for path in shown]
        names = [tool["name"] if isinstance(tool, dict) else tool for tool in tools]
        shutil.copy(shown[0], self.suite / "results")
        (self.suite / "results/notes.txt").write_text("no result")
        (self.suite / "results/.json").write_text("no result, since it has no name")
        status, head, first = self.ask("GET", "/suite")
        self.assertEqual((status, head["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn(names[0], first.decode())
        self.assertEqual(self.ask("GET", "/suite")[1]["ETag"], head["ETag"])
        self.assertEqual(self.ask("GET", "/suite", **{"If-None-Match": head["ETag"]})[0], 304)
        printed = self.folder / "page.html"
        self.run_twinstack("score", "--suite", self.suite, self.suite / "results" / shown[0].name, "--html", printed)
        self.assertEqual(len(first.decode().split("<tr")), len(printed.read_text(encoding="utf-8").split("<tr")))
        shutil.copy(shown[1], self.suite / "results")  # the page is made again
        status, _, second = self.ask("GET", "/suite")
        self.assertEqual((status, second == first), (200, False))
        self.assertIn(names[1], second.decode())
        damaged = self.suite / "results/x.json"
        damaged.write_text("{")
        self.assertEqual(self.ask("GET", "/suite")[0], 422)
        damaged.unlink()
        self.assertEqual(self.ask("GET", "/suite")[2], second)
        url, _ = self.serve()
        status, head, body = self.ask("GET", "/suite", url=url)
        self.assertEqual((status, head["Content-Type"]), (404, "text/plain; charset=utf-8"))
        self.assertIn(b"`twinstack serve --suite DIR` shows those in DIR/results.", body)

    # The names are those of the truth that the victim itself stated.
    def test_uploads_are_resolved(self):
        case = e2e.ROOT / "corpus/cases" / CASE
        dump, record = (case / "dump.dmp").read_bytes(), (case / "record.rec").read_bytes()
        (pdb,) = (e2e.ROOT / "corpus/symbols/victims-ob2.pdb").glob("*/*.pdb")
        symbols = pdb.read_bytes()
        rows = [("a dump and its symbols", [("a.dmp", dump), (pdb.name, symbols)], "dump", NAMED, 0, [(pdb.name, True)]),
                ("symbols under another name", [("a.dmp", dump), ("other.bin", symbols)], "dump", NAMED, 0, [("other.bin", True)]),
                ("a dump alone", [("a.dmp", dump)], "dump", [], 0, []), ("a record alone", [("a.rec", record)], "stack", [], 0, []),
                ("a record and its symbols", [(pdb.name, symbols), ("a.rec", record)], "stack", NAMED, 0, [(pdb.name, True)]),
                ("a dump that is cut", [("a.dmp", dump[:100])], "dump", None, 1, []), ("symbols that are cut", [(pdb.name, symbols[:5000])], "stack", None, 1, []),
                ("symbols alone", [(pdb.name, symbols)], "stack", None, 0, [(pdb.name, False)]), ("no stack", [("a.txt", b"nothing\n")], "stack", None, 1, [])]
        for name, parts, kind, frames, errors, files in rows:
            with self.subTest(name):
                status, _, body = self.ask("POST", "/api/v1/resolve", form(*parts), **FORM)
                self.assertEqual(status, 200, body)
                data = json.loads(body)["data"]
                self.assertEqual((data["form"], len(data["errors"]), [(f["name"], f["fits"]) for f in data["files"]]), (kind, errors, files), data["errors"])
                self.assertEqual(len(data["stacks"]) > 0, frames is not None)
                if frames is not None:
                    stack = data["stacks"][0]  # the thread that crashed is first
                    self.assertEqual((stack["thread_id"], stack["role"]), (TRUTH["id"], "suspect"))
                    self.assertEqual([f["function"] for f in stack["frames"] if f["file"] and f["file"].startswith("victims")], frames)

    # RFC 7578 and RFC 2046, 5.1.1: a boundary begins each part, and with "--" after it ends the form.
    def test_a_form_is_whole_or_refused(self):
        part = b'\r\nContent-Disposition: form-data; name="a"\r\n\r\nntdll.dll!0x1\n\r\n'
        plain = 'multipart/form-data; boundary=x'
        rows = [("one part", plain, b"--x" + part + b"--x--\r\n", 1), ("no end of line at the end", plain, b"--x" + part + b"--x--", 1),
                ("the boundary in quotes", 'multipart/form-data; boundary="x"', b"--x" + part + b"--x--", 1), ("no part", plain, b"--x--", 0),
                ("sixteen parts", plain, (b"--x" + part) * 16 + b"--x--", 16), ("seventeen", plain, (b"--x" + part) * 17 + b"--x--", None),
                ("another boundary", plain, b"--y" + part + b"--y--", None), ("a longer boundary", plain, b"--xy" + part + b"--xy--", None),
                ("nothing", plain, b"", None), ("the boundary alone", plain, b"--x", None), ("an end that is cut", plain, b"--x" + part + b"--x-", None),
                ("no end", plain, b"--x" + part, None), ("a part that is cut", plain, b"--x" + part[:30], None), ("no empty line", plain, b"--x\r\nA: b\r\n--x--", None),
                ("a part without a header", plain, b"--x\r\n\r\nntdll.dll!0x1\n\r\n--x--", 1), ("no boundary", "multipart/form-data", b"--x--", None),
                ("a boundary of 70 letters", plain + "y" * 69, b"--x" + b"y" * 69 + part + b"--x" + b"y" * 69 + b"--", 1),
                ("of 71", plain + "y" * 70, b"--x" + b"y" * 70 + part + b"--x" + b"y" * 70 + b"--", None), ("another member", plain + "; a=b", b"--x" + part + b"--x--", 1),
                ("an empty boundary", "multipart/form-data; boundary=", b"--x--", None)]
        for name, kind, body, stacks in rows:
            with self.subTest(name):
                status, _, answer = self.ask("POST", "/api/v1/resolve", body, **{"Content-Type": kind})
                found = json.loads(answer)
                if stacks is None:
                    self.assertEqual((status, found["error"]["key"]), (400, "bad_form"), found)
                else:
                    self.assertEqual((status, len(found["data"]["stacks"])), (200, stacks), found)

    # Windows allows none of <>:"|?* in a name, and no folder of the sender is ours.
    def test_a_name_that_is_sent_is_plain(self):
        cut = (e2e.ROOT / "corpus/crash-x86/crash.pdb").read_bytes()[:5000]  # an error names the file
        rows = [("crash.pdb", "crash.pdb"), ("a/b/crash.pdb", "crash.pdb"), ("C:\\a\\crash.pdb", "crash.pdb"), ("../crash.pdb", "crash.pdb"), ("..", "file"), (".", "file"),
                ("...", "file"), ("", "file"), ("a/", "file"), ("..a", "..a"), ("a<b>c:d|e?f*.pdb", "a_b_c_d_e_f_.pdb"), ("a\x01\x1f b", "a__ b"), ("n" * 128, "n" * 128),
                ("m" + "n" * 128, "n" * 128)]
        for sent, name in rows:
            with self.subTest(sent):
                data = json.loads(self.ask("POST", "/api/v1/resolve", form((sent, cut)), **FORM)[2])["data"]
                self.assertEqual([error["label"] for error in data["errors"]], [name])

    # RFC 3986, 5.2: a page's links lead to /assets/ from any depth, also where a proxy adds folders before it.
    def test_assets_are_found_from_every_page(self):
        for path in ("/", "/runs", "/runs/1", f"/runs/1/mismatches/{CASE}", "/a/b/c/d/e", "/nowhere"):
            with self.subTest(path):
                status, _, body = self.ask("GET", path, Accept="text/html")
                self.assertEqual(status, 404 if path in ("/a/b/c/d/e", "/nowhere") else 200)
                links = re.findall(r'(?:src|href)="(\.[^"]*)"', body.decode())
                self.assertGreaterEqual(len(links), 2)
                for before in ("", "/proxy/tool"):
                    self.assertEqual({urllib.parse.urljoin(f"http://x{before}{path}", link).rpartition("/")[0] for link in links}, {f"http://x{before}/assets"})

    def test_a_server_for_others_takes_no_symbols_unless_it_is_allowed(self):
        (pdb,) = (e2e.ROOT / "corpus/symbols/victims-ob2.pdb").glob("*/*.pdb")
        for more, errors in ((["--allow-remote"], ["this server takes none: start it with --allow-symbols"]), (["--allow-remote", "--allow-symbols"], []),
                             (["--allow-remote", "--allow-write"], []), ([], [])):
            with self.subTest(more):
                url, token = self.serve(*more)
                data = json.loads(self.ask("POST", "/api/v1/resolve", form((pdb.name, pdb.read_bytes())), url, **FORM, **{"X-Token": token})[2])["data"]
                self.assertEqual([e["hint"] for e in data["errors"]] if errors else data["errors"], errors)


e2e.main()
