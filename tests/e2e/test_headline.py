"""The headline: what a crash costs as a dump and as offsets. Every face shows the same table, and its numbers are the medians
of what is stored for each case."""

import base64
import contextlib
import json
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys
import urllib.error
import urllib.request
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

SEED = e2e.BUILD / "tests" / "seed_store"
CASES = 24
WAYS = ("dump", "tuned", "offset")
PARTS = ("open", "unwind", "load", "resolve")
COLUMNS = ["case_id", "way", "frames", "same", *(f"{state}{part}_ns" for state in ("cold", "warm") for part in ("", "_open", "_unwind", "_load", "_resolve", "_own"))]
UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "KB": 1e3, "MB": 1e6}


def read_cell(text):
    """The number of a cell like "123 µs" or "12.5 KB (1 KB to 30 KB)"; None for "–" and "not measured"."""
    found = re.match(r"(-?[0-9.]+) (ns|µs|ms|s|B|KB|MB)\b", text.strip())
    return float(found[1]) * UNITS[found[2]] if found else None


def three_digits(value):
    """As amounts of a million are shown."""
    units = 0
    while value >= 999.5:
        value, units = value / 1000, units + 1
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f}{['', 'k', 'M', 'G'][units]}"


class Headline(e2e.Case):
    def setUp(self):
        super().setUp()
        if not SEED.exists():
            self.skipTest("seed_store is not built")
        self.db = self.folder / "runs.db"
        subprocess.run([SEED, self.db, "1", str(CASES), "0"], check=True, capture_output=True)
        with contextlib.closing(sqlite3.connect(self.db)) as db, db:
            db.execute("UPDATE crash_case SET scenario = scenario || '_' || (id / 2)")  # enough of them for intervals
            self.ids = [row[0] for row in db.execute("SELECT id FROM crash_case ORDER BY id")]
            for n, case in enumerate(self.ids):
                db.execute("UPDATE crash_case SET arch = ? WHERE id = ?", ("x86" if n % 6 == 4 else "x64", case))
                db.execute("UPDATE crash_case SET crowded = ?, walk_ns = ?, record_bytes = 4000, dump_bytes = 200000 + ?, dump_tuned_bytes = ?,"
                           " dump_tuned_ns = ?, dump_write_ns = ?, stop_tuned_ns = ?, stop_dump_ns = ?, stop_walk_ns = ? WHERE id = ?",
                           (n == 3, 2000 + n, n * 1000, (n % 5) * 7000, n * 9_000_000, 1_000_000_000 + n * 10 ** 7, n * 10 ** 6, n * 10 ** 8, n * 10 ** 4, case))
                for w, way in enumerate(WAYS):
                    cold = [(n + 1) * (9 - 2 * w) * 11_000, *[(n + 1) * 2000 * (w + p) for p in range(4)], (n + 1) * (9 - 2 * w) * 7_000]
                    warm = [(n + 1) * (9 - 2 * w) * 3_000, *[(n + 1) * 300 * (w + p) for p in range(4)], (n + 1) * (9 - 2 * w) * 1_000]
                    # The fifth case's tuned dump gives other frames; the seventh has none.
                    if (way, n) != ("tuned", 7):
                        db.execute(f"INSERT INTO way_cost ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * 16)})", (case, way, 4, (way, n) != ("tuned", 5), *cold, *warm))

    def db_run(self, *argv):
        return self.run_twinstack("report", "latest", *argv, "--exit-zero", "--db", self.db).stdout

    def stored(self, column, way):
        """The medians of what counts: cases that are not crowded, with stacks of both engines, and the same frames."""
        with contextlib.closing(sqlite3.connect(self.db)) as db:
            rows = db.execute(f"SELECT w.{column} FROM way_cost w JOIN crash_case c ON c.id = w.case_id WHERE w.way = ? AND w.same AND NOT c.crowded"
                              " AND c.arch = 'x64' AND (SELECT count(*) FROM claim k WHERE k.case_id = c.id AND k.engine IN ('dump', 'offset:rtl') AND k.state = 0 AND k.frames > 0) = 2",
                              (way,)).fetchall()
        return [row[0] for row in rows if row[0]]

    def test_the_medians_are_those_of_the_stored_cases_and_parts_add_up(self):
        rows = {row["key"]: row for row in json.loads(self.db_run("--json"))["headline"]["rows"]}
        for way in WAYS:
            for temperature in ("cold", "warm"):
                for key, column in ((temperature, f"{temperature}_ns"), (f"{temperature}_own", f"{temperature}_own_ns")):
                    numbers, cell = self.stored(column, way), rows[key]["cells"][way]
                    self.assertGreater(len(numbers), 10)
                    self.assertEqual([cell["count"], cell["median"], cell["least"], cell["most"]],
                                     [len(numbers), statistics.median(numbers), min(numbers), max(numbers)], (way, key))
                prefix = "cold_" if temperature == "cold" else ""
                parts = [rows[prefix + part]["cells"][way]["median"] or 0 for part in (*PARTS, "left_over")]
                self.assertAlmostEqual(sum(parts), rows[temperature]["cells"][way]["median"], msg=way)
            self.assertEqual(rows["cold"]["cells"]["foreign"]["state"], "not measured")
        tuned, dump = (rows["cold"]["cells"][way]["count"] for way in ("tuned", "dump"))
        self.assertLess(tuned, dump)  # so the row is labelled with more cases than that cell has
        self.assertRegex(self.db_run("--text", "--columns", "100"), rf"(?m)^back end, cold \({dump}\) .* \({tuned}\) ")
        self.assertIsNotNone(rows["stopped"]["cells"]["tuned"]["median"])

    def test_badge_metric_and_trend_are_the_first_lane(self):
        """One figure, not one for each face: medians of the same cases of one processor, the index on disk."""
        with contextlib.closing(sqlite3.connect(self.db)) as db, db:  # its sums were made before setUp() changed the cases
            undo = (e2e.ROOT / "tests/lib/old_store.h").read_text(encoding="utf-8").split("#define UNDO_VERSION_14")[0]
            db.executescript("".join(re.findall(r'"([^"]*)"', undo)))
        self.run_twinstack("db", "upgrade", "--db", self.db)
        document = json.loads(self.db_run("--json"))
        cell = next(row["cells"]["index"] for row in document["speed"]["rows"] if (row["arch"], row["lane"]) == ("x64", "plain dump"))
        want = cell["ratio"]["value"]
        self.assertAlmostEqual(next(row for row in document["headline"]["rows"] if row["key"] == "cold")["ratio"], want)
        found = re.search(r"(?m)^twinstack_speed_ratio ([0-9.]+)$", self.db_run("--openmetrics", "-"))
        self.assertAlmostEqual(float(found[1]), want, places=5)
        badge = self.folder / "badge.json"
        self.db_run("--badge", badge, "--badge-of", "speed_ratio")
        ratio = cell["ratio"]
        digits = 2 if want < 1.995 else 1 if want < 99.5 else 0
        self.assertEqual(json.loads(badge.read_text())["message"],
                         f"{want:.{digits}f}× [{ratio['low']:.{digits}f}, {ratio['high']:.{digits}f}], {cell['cases']} cases, no control,"
                         f" x64, {document['run']['platform']}")
        with self.served() as get:
            for path in ("/api/v1/trend?metric=speed_ratio", "/api/v1/overview"):
                data = get(path)
                points = (data["trends"]["speed_ratio"] if "trends" in data else data["trend"])["points"]
                self.assertEqual(points[-1]["count"], cell["pairs"], path)
                self.assertAlmostEqual(points[-1]["value"], want, msg=path)

    @contextlib.contextmanager
    def served(self):
        server = subprocess.Popen([e2e.PROGRAM, "serve", "--db", self.db, "--listen", "127.0.0.1:0"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            url = server.stdout.readline().strip().rstrip("/")

            def get(path):
                with urllib.request.urlopen(url + path, timeout=60 * e2e.PATIENCE) as answer:
                    return json.loads(answer.read())["data"]

            yield get
        finally:
            server.terminate()
            server.wait(timeout=20 * e2e.PATIENCE)
            server.stdout.close()

    def test_lanes_and_states_have_the_cases_that_both_ways_have_on_every_face(self):
        document = json.loads(self.db_run("--json"))
        rows = {(row["arch"], row["lane"]): row["cells"] for row in document["speed"]["rows"]}
        text, markdown = self.db_run("--text", "--columns", "120"), self.db_run("--md", "-").replace("\\", "")
        with contextlib.closing(sqlite3.connect(self.db)) as db:
            for way, lane in (("dump", "plain dump"), ("tuned", "tuned dump")):
                for state, column in (("index", "cold_ns"), ("warm", "warm_ns")):
                    pairs = db.execute(f"SELECT a.{column}, b.{column}, c.scenario || '.' || c.variant, c.arch, c.scenario FROM way_cost a JOIN way_cost b USING (case_id)"
                                       " JOIN crash_case c ON c.id = case_id WHERE a.way = ? AND b.way = 'offset' AND a.same AND b.same AND NOT c.crowded AND"
                                       " (SELECT count(*) FROM claim k WHERE k.case_id = c.id AND k.engine IN ('dump', 'offset:rtl') AND k.state = 0 AND"
                                       " k.frames > 0) = 2", (way,)).fetchall()
                    for arch in {pair[3] for pair in pairs}:
                        mine = [pair for pair in pairs if pair[3] == arch]
                        cell, cases = rows[arch, lane][state], len({pair[2] for pair in mine})
                        scenarios = len({pair[4] for pair in mine})
                        self.assertEqual([cell["cases"], cell["scenarios"], cell["pairs"]], [cases, scenarios, len(mine)])
                        self.assertEqual(cell["state"], "measured" if scenarios >= 12 else "too few" if cases < 12 else "few scenarios")
                        if scenarios < 12:
                            self.assertIsNone(cell["ratio"])
                            continue
                        ratio = cell["ratio"]
                        self.assertAlmostEqual(ratio["value"], statistics.median(p[0] for p in mine) / statistics.median(p[1] for p in mine))
                        self.assertLessEqual(ratio["low"], ratio["value"])
                        self.assertLessEqual(ratio["value"], ratio["high"])
                        shown = f"{ratio['value']:.2f} [{ratio['low']:.2f}, {ratio['high']:.2f}] ({cases})"
                        self.assertIn(shown, text)
                        self.assertIn(shown, markdown)
                    self.assertEqual({cells["no index"]["state"] for cells in rows.values()}, {"not measured"})
        where = document["speed"]["where"].split(" · ")
        for face in (text, markdown):
            self.assertIn(" · ".join(where[:1]), face)
            self.assertRegex(face, "(SPEED|### Speed), x64: " + where[-1])

    def test_a_million_crashes_cost_the_same_on_every_face(self):
        terms, query = ["--term", "mbit_s=8", "--term", "gb_month=0.5", "--full-dumps", "latest"], "mbit_s=8&gb_month=0.5&full=latest"
        with contextlib.closing(sqlite3.connect(self.db)) as db, db:
            db.execute("UPDATE crash_case SET record_write_ns = 500 + id, record_gzip_bytes = 2000 + id, record_zstd_bytes = 1900 + id,"
                       " dump_gzip_bytes = 40000 + id, dump_zstd_bytes = 35000 + id, stop_walk_ns = 0, stop_dump_ns = 0")
            walks = [row[0] for row in db.execute("SELECT walk_ns + record_write_ns FROM crash_case WHERE arch = 'x64' AND NOT crowded")]
        document = json.loads(self.db_run("--json", *terms))["cost_per_million"]
        lanes = {lane["lane"]: lane for lane in document["lanes"]}
        text = self.db_run("--cost", "--columns", "200", *terms)
        with self.served() as get:
            timing = get(f"/api/v1/timing?limit=1&{query}")
        self.assertEqual(timing["cost_per_million"], document)
        speed = {row["lane"]: row["cells"] for row in timing["speed"]["rows"] if row["arch"] == "x64"}
        for lane, cells in speed.items():  # a million nanoseconds is a millisecond
            for state, key in (("warm", "core_s_warm"), ("index", "core_s_index")):
                self.assertEqual(lanes[lane][key]["cases"], cells[state]["cases"], (lane, state))
                self.assertAlmostEqual(lanes[lane][key]["value"], cells[state]["median_ns"] / 1000)
        self.assertAlmostEqual(lanes["offsets"]["stopped_s"]["value"], statistics.median(walks) / 1000)
        self.assertEqual({**lanes["full dump"], "lane": "plain dump"}, lanes["plain dump"])  # the run is its own here
        for lane in lanes.values():
            for amount in (each for each in lane.values() if isinstance(each, dict) and each.get("value") is not None):
                value, low, high = (three_digits(amount[key]) for key in ("value", "low", "high"))
                self.assertIn(f"{value} [{low}, {high}] ({amount['cases']})", text)
        headline = {row["key"]: row["cells"] for row in timing["headline"]["rows"]}
        for lane, way in (("plain dump", "dump"), ("offsets", "offset")):
            steps = lanes[lane]["steps"]
            self.assertAlmostEqual(lanes[lane]["total_ns"], sum(ns or 0 for ns in steps.values()))
            for step, key in (("walk_ns", "walk"), ("write_ns", "write"), *((f"{part}_ns", f"cold_{part}") for part in (*PARTS, "left_over"))):
                self.assertEqual(steps[step], headline[key][way]["median"], (lane, step))
            self.assertAlmostEqual(steps["send_ns"], lanes[lane]["upload_s"] * 1000)
        self.assertEqual((lanes["tuned dump"]["steps"]["send_ns"], lanes["tuned dump"]["total_ns"]), (None, None))  # its gzip was not measured
        shown = re.search(r"(?m)^all of it +(\S+ \S+) .* (\S+ \S+)$", text)
        for column, lane in ((1, "plain dump"), (2, "offsets")):
            self.assertAlmostEqual(read_cell(shown[column]), lanes[lane]["total_ns"], delta=lanes[lane]["total_ns"] / 100)
        for line, key in (("upload, s", "upload_s"), ("price", "price")):
            self.assertRegex(text, rf"(?m)^{line} +{three_digits(lanes['plain dump'][key])} .* {three_digits(lanes['offsets'][key])}$")
        for said in (document["where"], "mbit_s=8 ", "hours_kept=720 ", "gb_month=0.5 ", "core_hour=0.05 "):
            self.assertIn(said, text)
        for wrong in ("mbit_s=0", "mbit_s", "speed=1", "gb_month=x"):
            self.assertIn(wrong, self.run_twinstack("report", "--cost", "--term", wrong, "--db", self.db, exit_code=2).stderr)
        for idle in (["--term", "mbit_s=8"], ["--full-dumps", "latest"], ["--term", "mbit_s=8", "--md", "-"]):
            self.assertIn(f"{idle[0]} is about --cost and --json", self.run_twinstack("report", *idle, "--db", self.db, exit_code=2).stderr)
        words = timing["cost_words"]
        for word in (*words["lines"], *words["steps"]):
            self.assertRegex(text, rf"(?m)^{re.escape(word['name'])} ")
        with self.served() as get, self.assertRaises(urllib.error.HTTPError) as refused:
            get("/api/v1/timing?mbit_s=0")
        self.assertEqual(refused.exception.code, 400)

    def table_of_text(self, text):
        """The terminal's table: by row, one text per column. Columns end where their heads end."""
        lines = re.split(r"\nSPEED, x64: dumps by .*\n", text)[1].split("\n")
        ends = [m.end() for m in re.finditer(r"dump, \w+|offsets", lines[0])]
        self.assertEqual(len(ends), 4)
        table = []
        for line in lines[1:]:
            if not re.match(r"stack walk|process stopped|file written|size of|back end", line):
                break
            table.append([line[a:b] for a, b in zip([22, *ends], ends)])
        return table

    def assert_same_cells(self, headline, table, face, parts):
        rows = [r for r in headline["rows"] if parts or not (r["part"] or r["key"].endswith("_own"))]
        self.assertEqual(len(table), len(rows), face)
        for row, cells in zip(rows, table):
            for column, text in zip(headline["columns"], cells):
                want, shown = row["cells"][column["key"]]["median"], read_cell(text)
                if want is None:
                    self.assertIsNone(shown, (face, row["key"], text))
                else:
                    self.assertIsNotNone(shown, (face, row["key"], text))
                    self.assertLessEqual(abs(shown - want), 0.006 * abs(want), (face, row["key"], column["key"]))

    def test_terminal_markdown_html_and_pages_have_one_table(self):
        document = json.loads(self.db_run("--json"))
        headline, speed = document["headline"], document["speed"]
        self.assert_same_cells(headline, self.table_of_text(self.db_run("--text", "--columns", "100")), "terminal", False)
        lines = re.split("### Speed.*\n+", self.db_run("--md", "-"))[1].split("\n\n")[0].split("\n")
        cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines[2:]]
        markdown = [row[1:] for row in cells if row[0] not in ("least", "most")]
        self.assert_same_cells(headline, markdown, "Markdown", True)
        page = self.folder / "run.html"
        self.db_run("--html", page)
        text = page.read_text()
        for path in ("/api/v1/overview", "/api/v1/runs/1"):
            packed = re.search(re.escape(f'"{path}') + r'[^"]*":"([^"]+)"', text)
            self.assertTrue(packed, path)
            self.assertEqual(json.loads(zlib.decompress(base64.b64decode(packed[1])))["headline"], headline, path)
            self.assertEqual(json.loads(zlib.decompress(base64.b64decode(packed[1])))["speed"], speed, path)
        with self.served() as get:
            for path in ("/api/v1/overview", "/api/v1/runs/latest", "/api/v1/timing?run=1"):
                self.assertEqual(get(path)["headline"], headline, path)


e2e.main()
