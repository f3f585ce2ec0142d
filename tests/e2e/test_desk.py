"""What the dashboard changes, hands out and takes in, of which no page in `test_whole.py` says anything: the baseline, the file of known
mismatches, dumps in ranges (RFC 9110, 14), uploads, the page of the reference suite. One server, no browser, a few seconds."""

import contextlib
import datetime
import gzip
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib

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
    servers = []

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
    def serve(cls, *more, env=None):
        server = subprocess.Popen([e2e.PROGRAM, "serve", "--db", cls.db, "--totals", cls.home / "none.db", "--listen", "127.0.0.1:0", *more],
                                  cwd=cls.home, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        cls.servers.append(server)
        url, _, token = server.stdout.readline().strip().partition("/#token=")
        return url.rstrip("/"), token

    @classmethod
    def tearDownClass(cls):
        for server in cls.servers:  # each takes two seconds to end, all at once
            server.terminate()
        for server in cls.servers:
            server.wait(timeout=20 * e2e.PATIENCE)
            server.stdout.close()
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

    @contextlib.contextmanager
    def changed(self, *statements):
        """The database with other values, for as long as it takes."""
        with contextlib.closing(sqlite3.connect(self.db)) as db, contextlib.closing(sqlite3.connect(":memory:")) as kept:
            db.backup(kept)
            with db:
                for statement, *values in statements:
                    db.execute(statement, values)
            try:
                yield
            finally:
                kept.backup(db)

    # RFC 1952 and RFC 1950; RFC 9110, 8.4.1 and 15.5.14.
    def test_a_body_may_be_packed(self):
        stack = b"victims-ob2.exe!0xf527\n" * 3
        packed = gzip.compress(stack)
        many = gzip.compress(b"\n" * ((64 << 20) + 1))
        rows = [("gzip", "gzip", packed, 200, 3), ("deflate", "deflate", zlib.compress(stack), 200, 3), ("two members", "gzip", packed + packed, 200, 6),
                ("cut", "gzip", packed[:-1], 400, "packing"), ("no gzip", "gzip", stack, 400, "packing"), ("none of it", "gzip", b"", 400, "packing"),
                ("more than 64 MiB", "gzip", many, 413, "too_large"), ("another packing", "br", packed, 415, "encoding")]
        for name, packing, body, status, want in rows:
            for form_too in (False, True):
                with self.subTest(name, form=form_too):
                    head = {"Content-Encoding": packing, "Content-Type": "text/plain"}
                    if form_too and want not in ("too_large", 6):
                        plain = form(("a.txt", stack))
                        body = {200: gzip.compress(plain) if packing == "gzip" else zlib.compress(plain), 400: body, 415: body}[status]
                        if name == "cut":
                            body = gzip.compress(plain)[:-1]
                        head.update(FORM)
                    said, _, answer = self.ask("POST", "/api/v1/resolve", body, **head)
                    found = json.loads(answer)
                    self.assertEqual((said, sum(len(s["frames"]) for s in found["data"]["stacks"]) if said == 200 else found["error"]["key"]), (status, want))

    # RFC 9457, 3.1: type, title, status, detail; the others are extension members.
    def test_an_error_may_be_a_problem(self):
        status, head, body = self.ask("GET", "/api/v1/runs/9", Accept="application/problem+json")
        self.assertEqual((status, head["Content-Type"]), (404, "application/problem+json"))
        found = json.loads(body)
        plain = json.loads(self.ask("GET", "/api/v1/runs/9")[2])["error"]
        self.assertEqual(found, {"type": "about:blank", "title": "Not Found", "status": 404, "detail": plain["message"], "key": "absent", "hint": plain["hint"],
                                 "reason": None})
        for method, path in (("GET", "/api/v1/runs"), ("GET", "/"), ("GET", "/suite")):
            with self.subTest(path):
                status, head, body = self.ask(method, path)
                again, short, nothing = self.ask("HEAD", path)
                self.assertEqual((again, nothing, short["Content-Type"]), (status, b"", head["Content-Type"]))
                if path != "/api/v1/runs":  # which has the time that it took
                    self.assertEqual(int(short["Content-Length"]), len(body))

    def test_files_of_a_case_are_kept(self):
        case = json.loads(self.ask("GET", f"/api/v1/runs/2/cases/{CASE}")[2])["data"]
        self.assertEqual(case["dump_file"], {"bytes": self.dump.stat().st_size})
        self.assertIn(("record", "record.rec"), [(a["role"], a["name"]) for a in case["artifacts"]])
        for kept in case["artifacts"]:
            with self.subTest(kept["name"]):
                status, head, body = self.ask("GET", "/api/v1/artifacts/" + kept["sha256"])
                is_record = kept["role"] == "record"
                self.assertEqual((status, len(body), hashlib.sha256(body).hexdigest()), (200, kept["bytes"], kept["sha256"]))
                self.assertEqual((head["Content-Type"], head["Content-Disposition"]), ("application/octet-stream", 'attachment; filename="record.rec"')
                                 if is_record else ("text/plain; charset=utf-8", None))
                self.assertEqual(head["Cache-Control"], "private, max-age=31536000, immutable")
                self.assertEqual(self.ask("GET", "/api/v1/artifacts/" + kept["sha256"], **{"If-None-Match": head["ETag"]})[0], 304)
        self.assertEqual(self.ask("GET", "/api/v1/artifacts/" + "0" * 64)[0], 404)

    def test_a_dump_is_named_plainly(self):
        with self.changed(("UPDATE crash_case SET scenario = 'a b/<\u00fc>', variant = 'X_1-' WHERE run_id = 2",)):
            status, head, _ = self.ask("GET", "/api/v1/runs/2/cases/" + urllib.parse.quote("a b/<\u00fc>.X_1-", safe="") + "/dump")
            self.assertEqual((status, head["Content-Disposition"]), (200, 'attachment; filename="run-2-a_b_____.X_1--dump.dmp"'))

    def test_what_is_not_there_is_said(self):
        rows = [("/assets/none.js", 404, "load the page again"), ("/badge/exact.txt", 404, "badges are METRIC.json and METRIC.svg"),
                ("/badge/" + "n" * 64 + ".svg", 404, "badges are METRIC.json and METRIC.svg"), ("/badge/exact", 404, "badges are METRIC.json and METRIC.svg"),
                ("/api/v1/cases/none/ob2", 404, None), ("/api/v1/runs?limit=1&limit=2", 400, None), ("/api/v1/runs/1?limit=1", 400, "this address takes no query"),
                ("/api/v1/compare?a=1&b=2&group=none", 400, "new, fixed, changed, accepted, gone, added, still"), ("/api/v1/compare?a=1&b=2&after=x", 400, "after"),
                ("/api/v1/compare?a=9", 404, "name a run by id, the start of its uuid or commit, its branch, latest, latest~N or baseline"),
                ("/api/v1/timing?full=9", 404, "name a run by id, the start of its uuid or commit, its branch, latest, latest~N or baseline"),
                ("/api/v1/timing?gb_month=x", 400, "gb_month"), ("/api/v1/runs/1/cases/null_write", 404, "a case is called SCENARIO.VARIANT"),
                ("/api/v1/runs/1/cases/.ob2", 404, "a case is called SCENARIO.VARIANT"), ("/api/v1/runs/1/cases/null_write.", 404, "a case is called SCENARIO.VARIANT")]
        for path, status, hint in rows:
            with self.subTest(path):
                self.refused(self.ask("GET", path), status, hint)

    def test_groups_of_a_comparison_are_asked_for_one_by_one(self):
        whole = json.loads(self.ask("GET", "/api/v1/compare?a=1&b=2")[2])["data"]["changes"]
        long = {group: rows for group, rows in whole.items() if group != "counts" and len(rows) > 1}
        self.assertIn("gone", long)  # 24 cases, and one
        for group, rows in long.items():
            for after in (0, 1, len(rows) - 1, len(rows)):
                with self.subTest(group, after=after):
                    part = json.loads(self.ask("GET", f"/api/v1/compare?a=1&b=2&group={group}&after={after}")[2])["data"]["changes"]
                    self.assertEqual((part[group], part["counts"]), (rows[after:], whole["counts"]))
        self.assertEqual(json.loads(self.ask("GET", "/api/v1/compare?a=1&b=2&after=1")[2])["data"]["changes"], whole)  # after nothing that is named

    def test_the_newest_run_of_a_platform_or_branch(self):
        with self.changed(("UPDATE run SET branch = 'side', platform = 'here' WHERE id = 1",), ("UPDATE run SET branch = 'main', platform = 'there' WHERE id = 2",)):
            for query, run in (("", 2), ("branch=side", 1), ("branch=main", 2), ("platform=here", 1), ("platform=there", 2), ("branch=side&platform=here", 1),
                               ("branch=side&platform=there", None), ("branch=none", None), ("run=1", 1), ("run=1&branch=main", 1)):
                with self.subTest(query):
                    data = json.loads(self.ask("GET", "/api/v1/overview?" + query)[2])["data"]
                    self.assertEqual(data["run"] and data["run"]["id"], run)
                    listed = json.loads(self.ask("GET", "/api/v1/runs?" + query)[2])
                    if "run=" not in query:
                        self.assertEqual(data["total_runs"], listed["data"]["total"])
                        self.assertEqual(listed["data"]["runs"][0]["id"] if run else listed["data"]["runs"], run or [])
            with self.changed(("UPDATE run SET platform = 'there' WHERE id = 1",), ("DELETE FROM run_verdict WHERE run_id = 2",)):
                data = json.loads(self.ask("GET", "/api/v1/overview?platform=there")[2])["data"]
                self.assertEqual(data["run"]["id"], 1)  # the newer one judged nothing

    def test_a_list_of_known_that_is_damaged(self):
        self.addCleanup(self.known.unlink)
        self.known.write_text("[a]\nscope: x\n", encoding="utf-8")
        data = json.loads(self.ask("GET", "/api/v1/known")[2])["data"]
        self.assertEqual((data["text"], data["items"], data["run"]), ("[a]\nscope: x\n", [], 2))
        self.assertIn("acceptance without scope or cause", data["damage"])
        with self.changed(("UPDATE crash_case SET verdict = 'XFAIL' WHERE run_id = 2",)):
            data = json.loads(self.ask("GET", "/api/v1/known")[2])["data"]
            self.assertEqual((data["hits_total"], [f"{c['scenario']}.{c['variant']}" for c in data["hits"]]), (1, [CASE]))

    def test_samples_of_a_bench_are_listed(self):
        rows = [("offset", "total", 0, 0, 1000), ("dump", "total", 0, 0, 3000), ("offset", "total", 1, 1, 2000)]
        inserted = [("INSERT INTO sample (run_id, position, subject, stage, cold, round, ns) VALUES (2, ?, ?, ?, ?, ?, ?)", n, *row) for n, row in enumerate(rows)]
        with self.changed(("DELETE FROM shown",), *inserted):
            for limit, count in (("", 3), ("&limit=2", 2), ("&limit=3", 3)):
                data = json.loads(self.ask("GET", "/api/v1/timing?run=2" + limit)[2])["data"]
                got = [(s["subject"], s["stage"], int(s["cold"]), s["round"], s["ns"]) for s in data["samples"]]
                self.assertEqual((data["samples_total"], got), (3, rows[:count]))
                self.assertIsNotNone(data["bench"])
        self.assertIsNone(json.loads(self.ask("GET", "/api/v1/timing?run=2")[2])["data"]["bench"])

    def raw(self, url, method, path, *headers, body=b""):
        """(status, error) of a request with these headers, each as often as it is there."""
        line = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60 * e2e.PATIENCE)
        line.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers:
            line.putheader(name, value)
        line.endheaders(body)
        answer = line.getresponse()
        said = answer.read()
        line.close()
        return answer.status, json.loads(said).get("error", {}).get("key")

    def test_who_may_ask_for_what(self):
        host = ("Host", self.url.removeprefix("http://"))
        json_type, token = ("Content-Type", "application/json"), ("X-Token", self.token)
        body = json.dumps({"run": 1}).encode()
        length = ("Content-Length", str(len(body)))
        reader, _ = self.serve()
        remote, remote_token = self.serve("--allow-remote")
        own, far = ("Host", reader.removeprefix("http://")), ("Host", remote.removeprefix("http://"))
        put = ("PUT", "/api/v1/baseline")
        rows = [("as it should be", self.url, *put, (host, json_type, token, length), 200, None), ("with a character set", self.url, *put, (host, ("Content-Type", "application/json; charset=utf-8"), token, length), 200, None),
                ("another type", self.url, *put, (host, ("Content-Type", "application/jsonx"), token, length), 415, "content_type"), ("no type", self.url, *put, (host, token, length), 415, "content_type"),
                ("two hosts", self.url, *put, (host, host, json_type, token, length), 400, "two_hosts"), ("no host", self.url, *put, (json_type, token, length), 421, "wrong_host"),
                ("another site's page", self.url, *put, (host, json_type, token, length, ("Origin", "http://evil.example")), 403, "wrong_origin"),
                ("a page of its own", self.url, *put, (host, json_type, token, length, ("Origin", self.url)), 200, None),
                ("said by the browser", self.url, *put, (host, json_type, token, length, ("Sec-Fetch-Site", "cross-site")), 403, "wrong_origin"),
                ("of a subdomain", self.url, *put, (host, json_type, token, length, ("Sec-Fetch-Site", "same-site")), 403, "wrong_origin"),
                ("of the page", self.url, *put, (host, json_type, token, length, ("Sec-Fetch-Site", "same-origin")), 200, None),
                ("typed by the user", self.url, *put, (host, json_type, token, length, ("Sec-Fetch-Site", "none")), 200, None),
                ("another site may read", self.url, "GET", "/api/v1/runs", (host, ("Origin", "http://evil.example")), 200, None),
                ("a server that only reads", reader, *put, (own, json_type, length), 403, "read_only"), ("without a token, near", reader, "GET", "/api/v1/runs", (own,), 200, None),
                ("without a token, far", remote, "GET", "/api/v1/runs", (far,), 401, "token"), ("with it", remote, "GET", "/api/v1/runs", (far, ("X-Token", remote_token)), 200, None)]
        for name, url, method, path, headers, status, key in rows:
            with self.subTest(name):
                self.assertEqual(self.raw(url, method, path, *headers, body=body if method == "PUT" else b""), (status, key))

    def test_where_a_server_listens(self):
        port = self.url.rpartition(":")[2]
        for address, status, hint in (("127.0.0.1", 2, "say ADDRESS:PORT, such as 127.0.0.1:0"), ("0.0.0.0:0", 2, "--allow-remote allows it, with the token"),
                                      ("[::]:0", 2, "--allow-remote allows it, with the token"), ("127.0.0.1:" + port, 3, "another program may have it; port 0 takes any free one")):
            with self.subTest(address):
                done = e2e.twinstack("serve", "--db", self.db, "--listen", address, "--totals", self.home / "none.db")
                self.assertEqual((done.returncode, hint in done.stderr, done.stdout), (status, True, ""), done.stderr)
        self.assertTrue(self.serve("--listen", "localhost:0")[0].startswith("http://127.0.0.1:"))
        self.assertEqual(e2e.twinstack("serve", "--db", self.db, "--dump-mib", "63").returncode, 2)

    def test_a_server_may_wait_for_its_database(self):
        late = self.folder / "late.db"
        url, token = self.serve("--db", late, "--wait", "--allow-write")
        self.assertEqual(json.loads(self.ask("GET", "/api/v1/runs", url=url)[2])["data"]["runs"], [])
        self.assertEqual((self.ask("GET", "/healthz", url=url)[2], json.loads(self.ask("GET", "/api/v1/overview", url=url)[2])["data"]["run"]), (b"ok\n", None))
        self.assertIsNone(json.loads(self.ask("GET", "/api/v1/known", url=url)[2])["data"]["run"])
        self.refused(self.ask("PUT", "/api/v1/baseline", {"run": 1}, url, **{"X-Token": token}), 404)
        self.assertFalse(late.exists())
        late.write_bytes(self.db.read_bytes())
        self.assertEqual([run["id"] for run in json.loads(self.ask("GET", "/api/v1/runs", url=url)[2])["data"]["runs"]], [2, 1])
        late.write_bytes(b"no database, but as long as the head of one, which has a hundred bytes: " + b"x" * 100)
        url, _ = self.serve("--db", self.folder / "gone.db", "--wait")
        (self.folder / "gone.db").write_bytes(late.read_bytes())
        self.assertEqual(self.ask("GET", "/healthz", url=url)[::2], (503, b"database not usable\n"))

    def test_an_upload_needs_room_on_the_disk(self):
        file = self.folder / "file"
        file.write_text("no folder")
        url, _ = self.serve(env={"TMPDIR": str(file)})
        dump = (e2e.ROOT / "corpus/cases" / CASE / "dump.dmp").read_bytes()
        for name, body, head in (("a form", form(("a.txt", b"ntdll.dll!0x1\n")), FORM), ("a dump", dump, {"Content-Type": "application/octet-stream"})):
            with self.subTest(name):
                self.refused(self.ask("POST", "/api/v1/resolve", body, url, **head), 507, "make room in the folder for temporary files, or set TMPDIR")

    def test_eight_uploads_come_in_at_once(self):
        most = int(re.search(r"UPLOADS_MAX = (\d+)", (e2e.ROOT / "dashboard/http/state.h").read_text(encoding="utf-8"))[1])
        host, _, port = self.url.removeprefix("http://").partition(":")
        stack = b"ntdll.dll!0x1\n"

        def soon(ask):
            """What ASK returns that is no 503: a place is free only after its answer was sent."""
            for _ in range(100):
                if (said := ask()) != 503:
                    return said
                time.sleep(0.05)
            return 503

        with contextlib.ExitStack() as opened:
            lines = []

            def begin():  # is invited to send, and does not
                lines.append(opened.enter_context(socket.create_connection((host, int(port)), timeout=60 * e2e.PATIENCE)))
                lines[-1].sendall(f"POST /api/v1/resolve HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: {len(stack)}\r\nExpect: 100-continue\r\n\r\n".encode())
                return int(lines[-1].recv(25).split()[1])

            self.assertEqual([soon(begin) for _ in range(most)], [100] * most)
            self.refused(self.ask("POST", "/api/v1/resolve", stack), 503, "try again in a moment")
            lines[-1].sendall(stack)
            self.assertEqual(lines[-1].recv(12), b"HTTP/1.1 200")
            self.assertEqual(soon(lambda: self.ask("POST", "/api/v1/resolve", stack)[0]), 200)

    def test_a_file_of_a_form_has_its_own_limit(self):
        for more in (0, 1):
            body = gzip.compress(form(("large.txt", b"MDMP".ljust((64 << 20) + more, b"\0")), ("a.txt", b"ntdll.dll!0x1\n")), 1)
            data = json.loads(self.ask("POST", "/api/v1/resolve", body, **FORM, **{"Content-Encoding": "gzip"})[2])["data"]
            self.assertEqual(([e["hint"] for e in data["errors"] if e["label"] == "large.txt"], len(data["stacks"])), (["the limit is 64 MiB"] * more, 1))

    def test_symbols_that_are_sent_go_before_those_of_the_server(self):
        (pdb,) = (e2e.ROOT / "corpus/symbols/victims-ob2.pdb").glob("*/*.pdb")
        url, _ = self.serve("--symbols", self.home / "symbols")
        stack = b"victims-ob2.exe!0xf527\n"
        for name, parts, files in (("the server's", [("a.txt", stack)], []), ("both", [("a.txt", stack), (pdb.name, pdb.read_bytes())], [(pdb.name, True)]),
                                   ("others", [("a.txt", stack), ("crash.pdb", (e2e.ROOT / "corpus/crash-x86/crash.pdb").read_bytes())], [("crash.pdb", False)])):
            with self.subTest(name):
                data = json.loads(self.ask("POST", "/api/v1/resolve", form(*parts), url, **FORM)[2])["data"]
                self.assertEqual(data["stacks"][0]["frames"][0]["symbols"], "pdb")
                self.assertEqual([(f["name"], f["fits"]) for f in data["files"]], files)

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
                status, _, answer = self.ask("POST", "/api/v1/resolve", form((sent, cut)), **FORM)
                self.assertEqual(status, 200, answer)
                self.assertEqual([error["label"] for error in json.loads(answer)["data"]["errors"]], [name])

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
