"""What the dashboard answers is what its database holds, which is read here with SQL; no browser, a few seconds."""

import base64
import collections
import contextlib
import gzip
import json
import pathlib
import re
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

def untimed(text):
    """Without what differs from answer to answer."""
    return re.sub(r'"(age|now|time|nonce|took)\w*":[^,}]*|nonce-?=?"[^"]*"', "", text)


SEED = e2e.BUILD / "tests" / "seed_store"
RUNS, CASES = 3, 12
WRITE_MAX, STREAMS_MAX = 64 << 10, 32  # dashboard/http/state.h


class Views(e2e.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.place = contextlib.ExitStack()
        folder = pathlib.Path(cls.place.enter_context(e2e.tempfile.TemporaryDirectory()))
        cls.db = folder / "runs.db"
        if not SEED.exists():
            raise e2e.unittest.SkipTest("seed_store is not built")
        subprocess.run([SEED, cls.db, str(RUNS), str(CASES), "0"], check=True, capture_output=True)
        cls.totals = ["--totals", folder / "totals.db"]  # not those that a stream left in the build folder
        cls.server = subprocess.Popen([e2e.PROGRAM, "serve", "--db", cls.db, *cls.totals, "--listen", "127.0.0.1:0", "--allow-write"],
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = cls.server.stdout.readline().strip()
        cls.url, _, cls.token = line.partition("/#token=")

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.wait(timeout=20 * e2e.PATIENCE)
        cls.server.stdout.close()
        cls.place.close()
        super().tearDownClass()

    def sql(self, statement, *values):
        with contextlib.closing(sqlite3.connect(self.db)) as db:
            return db.execute(statement, values).fetchall()

    def text(self, path, **headers):
        request = urllib.request.Request(self.url + path, headers=headers)
        with urllib.request.urlopen(request, timeout=60 * e2e.PATIENCE) as answer:
            return answer.read().decode()

    def get(self, path):
        return json.loads(self.text("/api/v1/" + path))["data"]

    def status(self, path, method="GET", body=None, **headers):
        request = urllib.request.Request(self.url + path, data=body, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60 * e2e.PATIENCE) as answer:
                return answer.status
        except urllib.error.HTTPError as refused:
            return refused.code

    def cases(self, run):
        return self.sql("SELECT id, scenario, variant, verdict, kind FROM crash_case WHERE run_id = ? ORDER BY id", run)

    def test_runs_are_those_of_the_database(self):
        want = self.sql("SELECT id, uuid, state, branch, commit_id, platform, started_ns, finished_ns FROM run ORDER BY id DESC")
        got = self.get("runs")["runs"]
        self.assertEqual([(r["id"], r["uuid"], r["state"], r["branch"], r["commit"], r["platform"], r["started_ns"], r["finished_ns"]) for r in got], want)
        for run in got:
            verdicts = collections.Counter(c[3] for c in self.cases(run["id"]))
            self.assertEqual({name: n for name, n in run["verdicts"].items() if n}, dict(verdicts))
            self.assertEqual(self.get(f"runs/{run['id']}")["run"]["case_count"], sum(verdicts.values()))
        self.assertEqual([r["id"] for r in self.get("runs?limit=2")["runs"]], [3, 2])
        self.assertEqual([r["id"] for r in self.get("runs?limit=2&after=2")["runs"]], [1])

    def test_cases_are_filtered_and_come_in_pages(self):
        for run in ("1", "latest", "latest~1"):
            number = {"1": 1, "latest": 3, "latest~1": 2}[run]
            want = self.cases(number)
            for query, keep in (("", lambda c: True), ("verdict=FAIL", lambda c: c[3] == "FAIL"), ("variant=ob2", lambda c: c[2] == "ob2"),
                                ("search=inline", lambda c: "inline" in c[1]), ("kind=hang", lambda c: c[4] == "hang")):
                with self.subTest(run, query=query):
                    got, after, pages = [], "", 0
                    while after is not None:
                        page = self.get(f"runs/{run}/cases?limit=5&{query}" + (f"&after={after}" if after else ""))
                        self.assertEqual(page["run"], number)
                        self.assertLessEqual(len(page["cases"]), 5)
                        got += page["cases"]
                        after, pages = page["next"], pages + 1
                    self.assertEqual([(c["id"], c["scenario"], c["variant"], c["verdict"]) for c in got], [c[:4] for c in want if keep(c)])
                    self.assertLessEqual(pages, len(got) // 5 + 1)
            self.assertEqual(self.get(f"runs/{run}/grid")["total"], len(want))

    def test_the_queue_comes_in_pages_around_and_after_each_case(self):
        every = self.get("runs/3/queue?limit=1000")["cases"]
        ids = [c["id"] for c in every]
        self.assertEqual(sorted(ids), [c[0] for c in self.cases(3)])
        for limit in (1, 5, CASES, CASES + 1):
            starts = {"": 0, "&around=no.ob2": 0, "&after=999999": 0}
            for i, case in enumerate(every):
                starts[f"&around={urllib.parse.quote(case['scenario'])}.{case['variant']}"] = i // limit * limit
                starts[f"&after={case['id']}"] = i + 1
            for query, start in starts.items():
                with self.subTest(query, limit=limit):
                    got, end = self.get(f"runs/3/queue?limit={limit}{query}"), min(start + limit, CASES)
                    self.assertEqual((got["position"], got["total"], [c["id"] for c in got["cases"]]), (start, CASES, ids[start:end]))
                    self.assertEqual(got["next"], ids[end - 1] if end < CASES else None)
                    self.assertEqual(got["previous"], None if start == 0 else ids[start - limit - 1] if start > limit else 0)

    def test_the_queue_is_filtered(self):
        every = self.get("runs/3/queue?limit=1000")["cases"]
        rows = {("new", "1"): lambda c: c["is_new"], ("search", ".ob0"): lambda c: c["variant"] == "ob0"}
        for key in ("group", "trouble", "verdict", "kind", "signature"):
            for value in {c[key] for c in every if c[key]}:
                rows[key, value] = lambda c, key=key, value=value: c[key] == value
        rows |= {("cause", cause): lambda c, cause=cause: cause in c["all_causes"] for case in every for cause in case["all_causes"]}
        rows |= {("problem", problem): lambda c, problem=problem: problem in c["problems"] for case in every for problem in case["problems"]}
        self.assertEqual({key for key, _ in rows}, {"new", "search", "group", "trouble", "verdict", "kind", "signature", "cause", "problem"})
        for (key, value), keep in rows.items():
            with self.subTest(key, value=value):
                got = self.get(f"runs/3/queue?{key}={urllib.parse.quote(value)}")
                want = [c for c in every if keep(c)]
                self.assertEqual([c["id"] for c in got["cases"]], [c["id"] for c in want])
                self.assertEqual({g["group"]: g["fitting"] for g in got["groups"] if g["fitting"]}, dict(collections.Counter(c["group"] for c in want)))
                self.assertEqual({g["group"]: g["cases"] for g in got["groups"] if g["cases"]}, dict(collections.Counter(c["group"] for c in every)))

    def test_a_case_shows_the_truth_and_every_stack(self):
        for number, scenario, variant, *_ in self.cases(3):
            with self.subTest(f"{scenario}.{variant}"):
                case = self.get(f"runs/3/cases/{scenario}.{variant}")
                thread = case["threads"][0]
                engines = [e for e, in self.sql("SELECT engine FROM claim WHERE case_id = ? ORDER BY position", number)]
                columns = [[row[c]["frame"]["function"] for row in thread["rows"] if row[c]["frame"]] for c in range(len(engines) + 1)]
                self.assertEqual({len(row) for row in thread["rows"]}, {len(engines) + 1})
                truth = self.sql("SELECT value FROM truth_frame LEFT JOIN text ON text.id = function WHERE case_id = ? AND thread = 0 "
                                 "ORDER BY position", number)
                self.assertEqual(columns[0], [t for t, in truth])
                for k in range(len(engines)):
                    frames = self.sql("SELECT text.value FROM stack JOIN stack_frame ON stack_id = stack.id JOIN site ON site.id = site "
                                      "LEFT JOIN text ON text.id = site.function WHERE case_id = ? AND claim = ? AND thread = 0 "
                                      "AND stack_frame.row >= 0 ORDER BY stack_frame.position", number, k)
                    self.assertEqual(columns[k + 1], [f for f, in frames], engines[k])

    @contextlib.contextmanager
    def other_values(self):
        """The database, which is afterwards as it was."""
        with contextlib.closing(sqlite3.connect(self.db)) as db, contextlib.closing(sqlite3.connect(":memory:")) as kept:
            db.backup(kept)
            try:
                yield db
            finally:
                kept.backup(db)

    def test_a_case_through_all_runs_has_a_point_of_each(self):
        scenario, variant = self.cases(3)[0][1:3]
        rows = self.sql("SELECT run_id, id FROM crash_case WHERE scenario = ? AND variant = ? ORDER BY run_id DESC", scenario, variant)
        got = self.get(f"cases/{urllib.parse.quote(scenario)}/{variant}")
        self.assertEqual((got["scenario"], got["variant"], got["newest"]["id"]), (scenario, variant, rows[0][1]))
        self.assertEqual([case["id"] for case in got["cases"]], [number for _, number in rows])
        self.assertEqual(list(got["trends"]), ["f1", "offset_ns", "dump_ns"])
        for name, trend in got["trends"].items():
            self.assertEqual(sorted(point["run"] for point in trend["points"]), sorted(run for run, _ in rows), name)

    def test_each_figure_is_the_column_of_its_name(self):
        """Every number of a case, and of an engine in it, is another one here."""
        with self.other_values() as db:
            of_case = [row[1] for row in db.execute("PRAGMA table_info(crash_case)") if row[1].endswith(("_ns", "_bytes", "_ms"))]
            of_claim = [row[1] for row in db.execute("PRAGMA table_info(claim)") if row[1].endswith(("_ns", "_bytes")) or row[1] in
                        ("truth_frames", "own_frames", "right_frames", "lines_judged", "lines_right", "inline_demanded", "inline_right", "physical_judged",
                         "physical_same")]
            self.assertGreater(min(len(of_case), len(of_claim)), 14)
            with db:
                for table, columns in (("crash_case", of_case), ("claim", of_claim)):
                    db.execute(f"UPDATE {table} SET " + ", ".join(f"{name} = {1000 + 7 * k}" for k, name in enumerate(columns)))
                db.execute("UPDATE crash_case SET crowded = 1")
                db.execute("DELETE FROM shown")
            want = {table: {name: 1000 + 7 * k for k, name in enumerate(columns)} for table, columns in (("crash_case", of_case), ("claim", of_claim))}
            seen = set()

            def compare(place, row, *tables):
                for table in tables:
                    for name in row.keys() & want[table].keys():
                        self.assertEqual(row[name], want[table][name], f"{place}: {name}")
                        seen.add((table, name))

            costs = self.get("timing?run=1&limit=1000")["costs"]
            self.assertGreater(len(costs), CASES)
            for row in costs:
                compare("timing", row, "claim", "crash_case")
                self.assertIs(row["crowded"], True)
            for row in self.get("runs/1/cases?limit=1000")["cases"]:
                for score in row["scores"]:
                    compare("cases", score, "claim")
            _, scenario, variant, *_ = self.cases(1)[0]
            case = self.get(f"runs/1/cases/{scenario}.{variant}")["case"]
            compare("case", case, "crash_case")
            for part in case.values():
                for row in part if isinstance(part, list) else [part]:
                    if isinstance(row, dict):
                        compare("case", row, "crash_case", "claim")
            missing = {(table, name) for table in want for name in want[table]} - seen
            self.assertEqual(sorted(missing), [])

    def test_modules_that_came_or_went_are_listed_once_in_their_order(self):
        number, scenario, variant, *_ = self.cases(1)[0]
        modules = self.sql("SELECT DISTINCT module.id, module.name, base_va FROM module JOIN stack_frame ON module = module.id "
                           "JOIN stack ON stack_id = stack.id WHERE case_id = ? ORDER BY module.id DESC", number)
        self.assertGreater(len(modules), 1)
        for name, times in (("all were there", [(0, None)] * len(modules)),
                            ("all came", [(1000 * (k + 1), None) for k in range(len(modules))]),
                            ("the last came first", [(1000 * (len(modules) - k), None) for k in range(len(modules))]),
                            ("the first came and went", [(7, 9)] + [(0, None)] * (len(modules) - 1)),
                            ("the first was there and went", [(0, 9)] + [(0, None)] * (len(modules) - 1))):
            with self.subTest(name):
                with contextlib.closing(sqlite3.connect(self.db)) as db, db:
                    for (module, *_), (came, went) in zip(modules, times):
                        db.execute("UPDATE module SET loaded_at_ns = ?, unloaded_at_ns = ? WHERE id = ?", (came, -1 if went is None else went, module))
                got = self.get(f"runs/1/cases/{scenario}.{variant}")["loads"]
                self.assertEqual([(m["module"], int(m["base"], 16), m["loaded_ns"], m["unloaded_ns"]) for m in got],
                                 sorted([(module, base, came, went) for (_, module, base), (came, went) in zip(modules, times) if came or went],
                                        key=lambda row: row[2]))
        with contextlib.closing(sqlite3.connect(self.db)) as db, db:
            db.execute("UPDATE module SET loaded_at_ns = 0, unloaded_at_ns = -1")

    @contextlib.contextmanager
    def events(self, last=None):
        """Yields what reads the stream of events up to its next empty line."""
        host, port = self.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=60 * e2e.PATIENCE) as line, line.makefile("rb") as stream:
            head = f"Last-Event-ID: {last}\r\n" if last else ""
            line.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: {host}:{port}\r\n{head}\r\n".encode())

            def block():
                lines = []
                while (text := stream.readline().decode()).rstrip("\r\n"):
                    lines.append(text.rstrip("\r\n"))
                return lines
            yield block

    def test_a_stream_says_that_something_changed(self):
        def data(lines):
            self.assertEqual([line.partition(": ")[0] for line in lines], ["id", "event", "data"])
            self.assertEqual(lines[1], "event: change")
            found = json.loads(lines[2].removeprefix("data: "))
            self.assertEqual(int(found["version"], 16), int(lines[0].removeprefix("id: ")))
            return lines[0].removeprefix("id: "), [run["id"] for run in found["running"]]

        with self.events() as block:
            head = block()
            self.assertEqual(head[0], "HTTP/1.1 200 OK")
            self.assertIn("Content-Type: text/event-stream", head)
            self.assertIn("Cache-Control: no-store", head)
            self.assertIn("X-Content-Type-Options: nosniff", head)
            self.assertEqual(block(), ["retry: 3000"])
            first, running = data(block())
            self.assertEqual(running, [])
            self.assertEqual(block(), [": ping"])
            with contextlib.closing(sqlite3.connect(self.db)) as db, db:
                db.execute("UPDATE run SET state = 'running' WHERE id = 2")
            said = block()
            second, running = data(said if said != [": ping"] else block())
            self.assertEqual(running, [])  # no process has it: it is dead, not in progress
            self.assertNotEqual(second, first)
        with self.events(last=second) as block:  # it has seen all
            self.assertEqual([block()[0], block(), block()], ["HTTP/1.1 200 OK", ["retry: 3000"], [": ping"]])
        with contextlib.closing(sqlite3.connect(self.db)) as db, db:
            db.execute("UPDATE run SET state = 'complete' WHERE id = 2")

    def test_one_stream_too_many_is_refused(self):
        most = int(re.search(r"STREAMS_MAX = (\d+)", (e2e.ROOT / "dashboard/http/state.h").read_text(encoding="utf-8"))[1])
        with contextlib.ExitStack() as opened:
            end = time.monotonic() + 20 * e2e.PATIENCE
            for _ in range(most):
                # one that was left is noticed when it cannot be written to
                while (head := opened.enter_context(self.events())()[0]) != "HTTP/1.1 200 OK" and time.monotonic() < end:
                    time.sleep(0.1)
                self.assertEqual(head, "HTTP/1.1 200 OK")
            with self.events() as block:
                self.assertEqual(block()[0], "HTTP/1.1 204 No Content")

    def test_an_explanation_is_of_the_row_that_is_asked_for(self):
        _, scenario, variant, *_ = self.cases(3)[0]
        rows = self.get(f"runs/3/cases/{scenario}.{variant}")["threads"][0]["rows"]
        for number, row in enumerate(rows):
            said = self.get(f"runs/3/cases/{scenario}.{variant}/explain?frame={number}")
            self.assertEqual((said["frame"], said["truth"]), (number, row[0]["frame"]))
            for cell, engine in zip(row[1:], said["engines"], strict=True):
                self.assertEqual(engine["frame"], cell["frame"])
                self.assertEqual(engine["identity"] is None, cell["frame"] is None)
                self.assertEqual(engine["lookup_offset"] is None, cell["frame"] is None)

    def test_what_is_known_of_a_module_is_said_of_its_frames(self):
        _, scenario, variant, *_ = self.cases(1)[0]
        for number, word in enumerate(("checked", "unchecked", "ambiguous")):
            with self.subTest(word), self.other_values() as db:
                mvid = f"{number:032x}"
                with db:
                    db.execute("UPDATE site SET identity = ?", (number,))
                    db.execute("UPDATE module SET mvid = ?", (mvid,))
                    db.execute("DELETE FROM shown")
                said = [engine for engine in self.get(f"runs/1/cases/{scenario}.{variant}/explain?frame=0&repeat=0&thread=0")["engines"] if engine["frame"]]
                self.assertEqual({(engine["identity"], engine["frame"].get("mvid")) for engine in said}, {(word, mvid)})

    def test_pages_and_figures_are_there(self):
        for path in ("/", "/runs", "/compare", "/trend", "/timing", "/signatures", "/known", "/symbols", "/problems"):
            with self.subTest(path):
                self.assertIn("</html>", self.text(path))
        fails = sum(c[3] == "FAIL" for c in self.cases(3))
        self.assertRegex(self.text("/metrics"), rf'(?m)^twinstack_\w*\{{[^}}]*verdict="FAIL"[^}}]*\}} {fails}(\.0)?$')
        self.assertIn("# EOF", self.text("/metrics"))
        self.assertEqual([self.status(path, Accept="text/html") for path in ("/about", "/none", "/api/v1/none")], [200, 404, 404])

    def test_figures_of_reports_follow_those_of_the_run(self):
        (self.folder / "senders.txt").write_text("app " + "a" * 32 + "\n", encoding="utf-8")
        server = subprocess.Popen([e2e.PROGRAM, "serve", "--db", self.db, "--listen", "127.0.0.1:0", *self.totals, "--collect", "--spool", self.folder / "spool",
                                   "--senders", self.folder / "senders.txt"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        with server, contextlib.ExitStack() as last:
            last.callback(server.terminate)
            url = server.stdout.readline().strip().partition("/#token=")[0].rstrip("/")
            with urllib.request.urlopen(url + "/metrics", timeout=60 * e2e.PATIENCE) as answer:
                lines = answer.read().decode().splitlines()
        run = [line for line in self.text("/metrics").splitlines() if "_age" not in line]
        self.assertEqual([line for line in lines[:len(run) - 1] if "_age" not in line], run[:-1])
        self.assertGreater(len(lines), len(run))
        self.assertTrue(any(line.startswith("twinstack_queue") for line in lines), lines)
        self.assertEqual([n for n, line in enumerate(lines) if line == "# EOF"], [len(lines) - 1])

    def test_an_answer_may_be_packed(self):
        for path in ("/", "/runs", "/api/v1/runs", "/api/v1/compare?a=2&b=3"):
            with self.subTest(path):
                request = urllib.request.Request(self.url + path, headers={"Accept-Encoding": "gzip"})
                with urllib.request.urlopen(request, timeout=60 * e2e.PATIENCE) as answer:
                    data, encoding = answer.read(), answer.headers["Content-Encoding"]
                got = (gzip.decompress(data) if encoding == "gzip" else data).decode()
                self.assertEqual(untimed(got), untimed(self.text(path)))

    def test_a_page_without_a_server_holds_the_same_run(self):
        self.run_twinstack("report", "--db", self.db, "--html", self.folder / "run.html", "2", exit_code=1)
        text = (self.folder / "run.html").read_text(encoding="utf-8")
        data = json.loads(re.search(r'id="twinstack-data">(.*?)</script>', text, re.DOTALL)[1])
        self.assertGreater(len(data), CASES)
        offline = data["offline"]
        self.assertEqual((offline["run"], offline["names"]["latest~1"], offline["compared"], offline["runs"]), (2, 1, [3, 1], RUNS))
        same = 0
        for path, packed in data.items():
            with self.subTest(path):
                if path.startswith("/api/v1/runs") and isinstance(packed, str):
                    said = json.loads(zlib.decompress(base64.b64decode(packed)))
                    self.assertEqual(said.get("data", said), json.loads(self.text(path))["data"])
                    same += 1
        self.assertGreater(same, CASES)

    def test_the_list_of_routes_is_that_of_the_description(self):
        paths = json.loads(self.text("/api/v1/openapi.json"))["paths"]
        described = [(method.upper(), path) for path in paths for method in paths[path] if method in ("get", "put", "post", "delete")]
        listed = self.get("endpoints")
        self.assertEqual(sorted((e["method"], e["path"]) for e in listed), sorted(described))
        self.assertTrue(all(e["summary"] for e in listed))
        self.run_twinstack("report", "--db", self.db, "--html", self.folder / "run.html", "2", exit_code=1)
        text = (self.folder / "run.html").read_text(encoding="utf-8")
        data = json.loads(re.search(r'id="twinstack-data">(.*?)</script>', text, re.DOTALL)[1])
        self.assertEqual(json.loads(zlib.decompress(base64.b64decode(data["/api/v1/endpoints"]))), listed)

    def post(self, path, body, **headers):
        request = urllib.request.Request(self.url + path, data=body, headers=headers, method="POST")
        with urllib.request.urlopen(request, timeout=60 * e2e.PATIENCE) as answer:
            return json.loads(answer.read())["data"]

    def test_stacks_are_resolved_by_the_symbols_that_come_with_them(self):
        """What ran at these places is what the victim itself printed: corpus/cases/noreturn_tail.ob2/truth.json."""
        ran = json.loads((e2e.ROOT / "corpus/cases/noreturn_tail.ob2/truth.json").read_text(encoding="utf-8"))
        ran = [(f["function"], f["file"], f["line"]) for f in ran["threads"][0]["frames"]]
        pdb = next((e2e.ROOT / "corpus/symbols").glob("victims-ob2.pdb/*/victims-ob2.pdb")).read_bytes()
        stack = b"victims-ob2.exe!0xf527\n"
        form = b"".join(b'--x\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\n%s\r\n' % part
                        for part in ((b"stack.txt", stack), (b"victims-ob2.pdb", pdb))) + b"--x--\r\n"
        found = self.post("/api/v1/resolve", form, **{"Content-Type": "multipart/form-data; boundary=x", "X-Token": self.token})
        frames = [(f["function"], f["file"].rpartition("src\\")[2], f["line"]) for f in found["stacks"][0]["frames"]]
        self.assertEqual((frames, found["errors"]), (ran[2:4], []))
        alone = self.post("/api/v1/resolve", stack + b"garbage\n")
        self.assertEqual([(f["symbols"], f["function"]) for f in alone["stacks"][0]["frames"]], [("none", None)])
        self.assertEqual([(e["line"], e["code"]) for e in alone["errors"]], [(2, "malformed")])

    def test_who_may_write(self):
        body = json.dumps({"run": 1}).encode()
        for name, headers, want in (("no token", {}, 401), ("a wrong token", {"X-Token": "0" * len(self.token)}, 401),
                                    ("too short", {"X-Token": self.token[:-1]}, 401), ("its last letter", {"X-Token": self.token[:-1] + "!"}, 401),
                                    ("its own", {"X-Token": self.token}, 200)):
            with self.subTest(name):
                headers = {"Content-Type": "application/json", **headers}
                self.assertEqual(self.status("/api/v1/baseline", method="PUT", body=body, **headers), want)
        self.assertEqual(self.sql("SELECT run_id FROM baseline"), [(1,)])

    def test_bodies_have_a_length_and_an_end(self):
        body = json.dumps({"run": 1}).encode()
        headers = {"Content-Type": "application/json", "X-Token": self.token}
        for length, want in ((WRITE_MAX, 200), (WRITE_MAX + 1, 413)):
            self.assertEqual(self.status("/api/v1/baseline", method="PUT", body=body.ljust(length), **headers), want)
        host, _, port = self.url.removeprefix("http://").partition(":")
        for length, want in (("Content-Length: 1x\r\n", b"400"), ("", b"411"), ("Transfer-Encoding: chunked\r\n", b"411"),
                             ("Content-Length: 1\r\nContent-Length: 2\r\n", b"400")):
            with self.subTest(length), socket.create_connection((host, int(port)), timeout=60 * e2e.PATIENCE) as asked:
                # nothing after it is a request
                asked.sendall(f"PUT /api/v1/baseline HTTP/1.1\r\nHost: {host}:{port}\r\nX-Token: {self.token}\r\n"
                              f"Content-Type: application/json\r\n{length}\r\nGET /api/v1/runs HTTP/1.1\r\n"
                              f"Host: {host}:{port}\r\n\r\n".encode())
                said = b""
                while more := asked.recv(65536):
                    said += more
                self.assertEqual(re.findall(rb"HTTP/1.1 (\d+)", said), [want])  # the end of a body is no line end
                self.assertEqual(re.findall(rb"\r\nConnection: ([a-z-]+)", said), [b"close"])

    def test_an_error_says_what_and_changes_are_streamed(self):
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.text("/api/v1/runs/99")
        said = json.loads(refused.exception.read())["error"]
        self.assertTrue(said["key"] and said["message"])
        with urllib.request.urlopen(self.url + "/api/v1/events", timeout=60 * e2e.PATIENCE) as events:
            self.assertEqual((events.status, events.headers["Content-Type"]), (200, "text/event-stream"))
            lines = [events.readline().decode().rstrip("\n") for _ in range(5)]
        self.assertEqual((lines[:2], lines[3]), (["retry: 3000", ""], "event: change"))
        self.assertRegex(lines[2], r"^id: \d+$")
        said = json.loads(lines[4].removeprefix("data: "))
        self.assertEqual((sorted(said), said["running"]), (["running", "version"], []))

    def test_streams_are_capped(self):
        with contextlib.ExitStack() as streams:
            def opened():
                return streams.enter_context(urllib.request.urlopen(self.url + "/api/v1/events", timeout=60 * e2e.PATIENCE)).status
            for _ in range(STREAMS_MAX):
                end = time.monotonic() + 20 * e2e.PATIENCE
                while opened() != 200:  # one that was left counts until a ping cannot be written
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.1)
            self.assertEqual(opened(), 204)

    def test_what_is_wrong_is_refused(self):
        self.assertEqual(self.status("/api/v1/runs", method="DELETE"), 405)
        self.assertEqual(self.status("/api/v1/none", method="DELETE"), 404)
        for path, want, headers in (("/api/v1/runs/99", 404, {}), ("/api/v1/runs/3/cases/no.ob2", 404, {}), ("/api/v1/none", 404, {}),
                                    ("/api/v1/runs?limit=none", 400, {}), ("/api/v1/runs", 421, {"Host": "evil.example"}),
                                    ("/api/v1/runs", 200, {"Host": "localhost:" + self.url.rpartition(":")[2]}),
                                    ("/api/v1/runs", 421, {"Host": "localhost:1"}), ("/api/v1/runs?unknown=1", 400, {})):
            with self.subTest(path, headers=headers):
                self.assertEqual(self.status(path, **headers), want)


e2e.main()
