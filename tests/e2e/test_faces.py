"""One set of figures: the command line, the reports and the dashboard show the same numbers, for a
run with more cases than one page of the database holds, for two noisy runs, and for a regraded run
with damaged cases."""

import base64
import collections
import contextlib
import json
import math
import os
import pathlib
import re
import shutil
import sqlite3
import statistics
import sys
import urllib.parse
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import faces  # noqa: E402

CASES = e2e.ROOT / "corpus/cases"
# The name that the report and the dashboard use for each of an engine's shares: [right, total].
SHARES = {"exact": ("exact", "judged"), "top1": ("top1", "judged"), "top3": ("top3", "judged"), "top5": ("top5", "judged"),
          "precision": ("right_frames", "own_frames"), "recall": ("right_frames", "truth_frames"),
          "inline_recall": ("inline_right", "inline_demanded"), "lines": ("lines_right", "lines_judged"),
          "physical": ("physical_same", "physical_judged")}

NO_TREND = {"stop_copy_ns", "dump_tuned_bytes"}


class Faces(faces.Case):
    def assert_same_figures(self, get):
        """Checks that the newest run has the same figures everywhere; returns its document."""
        run = json.loads(self.run_db("report", "latest", "--json", "--exit-zero").stdout)
        metrics = self.run_db("report", "latest", "--openmetrics", "-", "--exit-zero").stdout
        stored = dict(self.sql("SELECT verdict, count(*) FROM crash_case WHERE run_id = ? GROUP BY 1", run["run"]["id"]))
        self.assertEqual(sum(stored.values()), len(run["cases"]))
        for verdict, count in stored.items():
            self.assertIn(f'twinstack_cases{{verdict="{verdict}"}} {count}\n', metrics)
            self.assertEqual(run["run"]["verdicts"][verdict], count)
        self.assertEqual(get("/metrics"), metrics)
        shown = get("/api/v1/runs/latest")
        self.assertEqual(shown["run"], run["run"])
        self.assertEqual([e["engine"] for e in shown["engines"]], [e["engine"] for e in run["engines"]])
        for name in ("failing", "not_shown", "accuracy", "headline"):
            self.assertEqual(shown[name], run[name], name)
        for api, report in zip(shown["engines"], run["engines"]):
            for name, (right, total) in SHARES.items():
                self.assertEqual([api[right], api[total]], [report[name]["right"], report[name]["total"]], name)
                self.assertEqual(report["measures"][name], report[name])
            self.assertEqual(api["measures"], report["measures"])
        self.assert_same_counts(run, get)
        self.assert_same_accuracy(run, get)
        self.assert_same_times(get("/api/v1/timing?run=latest"), run, get)
        self.assertEqual(get("/api/v1/symbols?run=latest")["rows"], run["symbols"])
        details = self.run_db("report", "latest", "--details", "--exit-zero").stdout.split("WHAT NAMED THE FRAMES")[1]
        counted = collections.Counter()
        for row in run["symbols"]:
            counted[row["module"], row["symbols"]] += row["frames"]
        for (module, source), frames in counted.items():
            self.assertRegex(details, rf"(?m)^{re.escape(module)} +{source} +{frames}\b")
        for metric in ("verdict", "exact", "f1", "capture_rate", "speed_ratio"):
            badge = self.folder / "badge.json"
            self.run_db("report", "latest", "--badge", badge, "--badge-of", metric, "--exit-zero")
            self.assertEqual(json.loads(get(f"/badge/{metric}.json")), json.loads(badge.read_text()), metric)
        return run

    def assert_same_counts(self, run, get):
        """Checks how many cases there are and how many are wrong: every list, the problems' groups, and what CI systems read."""
        cases, verdicts = len(run["cases"]), run["run"]["verdicts"]
        wrong = sum(verdicts.get(verdict, 0) for verdict in ("FAIL", "ERROR", "XPASS", "FLAKY"))
        overview, queue = get("/api/v1/overview"), get("/api/v1/runs/latest/queue?limit=1")
        listed, grid = get("/api/v1/runs?limit=50")["runs"], get("/api/v1/runs/latest/grid")
        self.assertEqual(next(r for r in listed if r["id"] == run["run"]["id"])["verdicts"], verdicts)
        self.assertEqual(overview["run"]["verdicts"], verdicts)
        self.assertEqual([queue["total"], grid["total"], len(grid["cases"]["id"]), get("/api/v1/runs/latest/cases?limit=1")["total"],
                          get("/api/v1/hooks?run=latest&limit=1")["total"]], [cases] * 5)
        counted = collections.Counter(grid["verdicts"][n] for n in grid["cases"]["verdict"])
        self.assertEqual({verdict: counted[verdict] for verdict in verdicts}, verdicts)
        self.assertEqual([overview["wrong"]["total"], overview["failing"]["total"]], [wrong] * 2)
        junit, ctrf = self.folder / "junit.xml", self.folder / "ctrf.json"
        self.run_db("report", "latest", "--junit", junit, "--ctrf", ctrf, "--exit-zero")
        summary = json.loads(ctrf.read_text(encoding="utf-8"))["results"]["summary"]
        heads = [dict(re.findall(r'(\w+)="(\d+)"', head)) for head in re.findall("<testsuite [^>]*>", junit.read_text(encoding="utf-8"))]
        self.assertEqual([summary["tests"], sum(int(head["tests"]) for head in heads)], [cases] * 2)
        self.assertEqual([summary["failed"], sum(int(head["failures"]) + int(head["errors"]) for head in heads)], [wrong] * 2)
        text = self.run_db("report", "latest", "--text", "--exit-zero").stdout
        markdown = self.run_db("report", "latest", "--md", "-", "--exit-zero").stdout
        for face in (text, markdown):
            self.assertRegex(face, rf"\b{wrong}\b")
        exact = [sum(engine["exact"][part] for engine in run["engines"] if engine["subject"]) for part in ("right", "total")]
        last = get("/api/v1/trend?metric=exact&limit=1")["trend"]["points"][-1]
        if exact[1]:
            self.assertAlmostEqual(last["value"], exact[0] / exact[1])

    def assert_same_accuracy(self, run, get):
        """Checks the figures of both ways over the same cases, counted here from the scores of each case, on every face."""
        both, recall = [], collections.defaultdict(list)
        for case in run["cases"]:
            scores = {s["engine"]: s for s in case["scores"] if s["engine"] in ("offset:rtl", "dump") and s["judged"]}
            if len(scores) == 2:
                both.append(scores)
                if scores["dump"]["truth_frames"]:
                    recall[case["scenario"]].append(scores)
        shown = run["accuracy"]
        self.assertEqual([shown["cases"], shown["scenarios"]], [len(both), len(recall)])
        exact = collections.Counter((s["offset:rtl"]["exact"], s["dump"]["exact"]) for s in both)
        self.assertEqual(list(shown["exact"].values()), [exact[True, True], exact[True, False], exact[False, True], exact[False, False]])
        for way in shown["ways"]:
            mine = [s[way["engine"]] for s in both]
            for name in ("exact", "top1", "top3"):
                self.assertEqual([way[name]["right"], way[name]["total"]], [sum(s[name] for s in mine), len(mine)], name)
            if recall:
                self.assertAlmostEqual(way["recall_macro"], statistics.mean(
                    statistics.mean(s[way["engine"]]["right_frames"] / s[way["engine"]]["truth_frames"] for s in cases) for cases in recall.values()))
        if both:
            text = self.run_db("report", "latest", "--text", "--exit-zero").stdout
            self.assertIn(f"BOTH WAYS over the same {len(both)} case", text)
            self.assertIn("both exact {both}, only offset {only_offset}, only dump {only_dump}, neither {neither}".format(**shown["exact"]), text)
            self.assertEqual([[s["right"], s["total"]] for s in get("/api/v1/overview")["shares"][1:]],
                             [[w["exact"]["right"], w["exact"]["total"]] for w in shown["ways"]])

    def assert_same_times(self, shown, run, get):
        """Checks that the timing page, the terminal report and trends show the same times: those of all cases of a processor, none crowded."""
        self.assertEqual(shown["headline"], run["headline"])
        report = self.run_db("report", "latest", "--details", "--columns", "120", "--exit-zero").stdout
        metrics = self.run_db("report", "latest", "--openmetrics", "-", "--exit-zero").stdout
        for of in (shown, *shown["others"]):
            arch, is_first = of["arch"], of is shown
            cases = [c for c in run["cases"] if c["arch"] == arch]
            printed = report.split(f"\nTIMING, {arch}")[1].split("\nTIMING, ")[0]
            self.assertEqual([e["engine"] for e in of["engines"]], [e["engine"] for e in run["engines"]])
            for row in of["engines"]:
                engine = row["engine"]
                timed = sorted(e["cost"]["total_ns"] for c in cases if not c["timing"]["crowded"]
                               for e, s in zip(c["engines"], c["scores"])
                               if e["engine"] == engine and s["state"] == "ok" and s["frames"] and e["cost"]["total_ns"])
                self.assertEqual(row["count"], len(timed), engine)
                line = f'twinstack_stack_seconds{{engine="{engine}",arch="{arch}"}} '
                self.assertEqual(line in metrics, bool(timed))
                if timed:
                    median = statistics.median(timed)
                    self.assertEqual([row["least"], row["median"], row["most"]], [timed[0], median, timed[-1]], engine)
                    self.assertIn(f"{line}{median / 1e9:.9f}\n", metrics)
                    self.assertEqual(row["metric"], {"offset:rtl": "offset_ns", "dump": "dump_ns"}.get(engine) if is_first else None)
                    self.assert_same_trend(get, run, arch, row)
            for row in of["capture"] + of["engines"]:
                name = row.get("name", row.get("engine"))
                if row["count"]:
                    self.assertRegex(printed, rf"(?m)^{re.escape(name)} +{row['count']} ")
                sized = row.get("unit") == "bytes"
                numbers = sorted(c["timing"][row["key"]] for c in cases if sized or not c["timing"]["crowded"]
                                 if c["timing"].get(row["key"])) if "key" in row else None
                if numbers:
                    self.assertEqual([row["count"], row["median"]], [len(numbers), statistics.median(numbers)], name)
                    self.assertEqual(row["metric"], None if row["key"] in NO_TREND or not is_first else row["key"])
                    self.assert_same_trend(get, run, arch, row)

    def assert_same_trend(self, get, run, arch, row):
        """Checks that the newest point of the row's metric, if it has one, is the row."""
        if row["metric"]:
            last = get(f"/api/v1/trend?metric={row['metric']}&limit=1")["trend"]["points"][-1]
            self.assertEqual([last[key] for key in ("run", "arch", "count", "value")], [run["run"]["id"], arch, row["count"], row["median"]], row["metric"])

    def mix(self, archs, without):
        """Makes each build one of another processor, whose numbers are others; those of WITHOUT have no stack, and x86 none by offsets."""
        self.seed(0, 0, 96, "wide")
        claims = "case_id IN (SELECT id FROM crash_case WHERE arch = ?)"
        for build, arch in archs.items():
            self.sql("UPDATE crash_case SET arch = ? WHERE variant GLOB ?", arch, build)
        self.sql("UPDATE claim SET cold_ns = 9 * total_ns")
        self.sql("UPDATE crash_case SET crowded = 1 WHERE id % 4 = 0")  # their times count nowhere
        self.sql("UPDATE claim SET total_ns = 99 * total_ns WHERE case_id % 4 = 0")
        for arch, factor in (("x86", 3), ("arm64", 20)):
            for table, where, keys in (("crash_case", "arch = ?", "walk_ns stop_walk_ns stop_dump_ns record_write_ns dump_write_ns record_bytes dump_bytes"),
                                       ("claim", claims, "open_ns unwind_ns load_ns resolve_ns total_ns cold_ns")):
                changes = ", ".join(f"{key} = {key} * {factor}" for key in keys.split())
                self.sql(f"UPDATE {table} SET {changes} WHERE {where}", arch)
        self.sql(f"UPDATE claim SET state = 1, frames = 0 WHERE engine = 'offset:rtl' AND {claims}", "x86")
        self.sql(f"UPDATE claim SET state = 3, frames = 0 WHERE {claims}", without)
        self.make_sums()

    def test_figures_of_a_run_of_several_processors_are_of_one_on_every_face(self):
        """The first of x64, x86, arm64 that both ways can be compared on, else the first that there are stacks of; each face names it."""
        three = {"*": "x64", "x86-*": "x86", "o0": "arm64"}
        for archs, without, order in ((three, "", ["x64", "arm64", "x86"]), ({**three, "*": "arm64"}, "", ["arm64", "x86"]),
                                      ({**three, "o0": "x64"}, "x64", ["x86", "x64"]), ({"*": "x64"}, "", ["x64"])):
            with self.subTest(str(order)):
                self.mix(archs, without)
                with self.dashboard() as get:
                    self.assert_one_processor(get, order, [arch for arch in order if arch not in ("x86", without)])

    def assert_one_processor(self, get, order, pairs):
        """Checks that what every face shows is of the first of ORDER; PAIRS are those of which there are stacks both ways."""
        run, timing = self.assert_same_figures(get), get("/api/v1/timing")
        first, cost = order[0], timing["cost_per_million"]
        self.assertEqual([timing["arch"], *(of["arch"] for of in timing["others"])], order)
        self.assertEqual([run["headline"]["scope"].split()[0], cost["arch"]], [first] * 2)
        for face in ("--text", "--details") if pairs else ():
            said = self.run_db("report", "latest", face, "--exit-zero").stdout
            self.assertIn(f"\nSPEED{f', {first}' if len(order) > 1 else ''}: dumps by", said)
        self.assertEqual(list(dict.fromkeys(row["arch"] for row in run["speed"]["rows"])), pairs)
        self.assertEqual(run["speed_ratio"]["arch"], pairs[0] if pairs else None)
        capture, rows = ({row["key"]: row for row in rows} for rows in (timing["capture"], run["headline"]["rows"]))
        lanes = {lane["lane"]: lane for lane in cost["lanes"]}
        for key, way, lane, step in (("walk_ns", "offset", "offsets", "walk"), ("record_write_ns", "offset", "offsets", "write"),
                                     ("dump_write_ns", "dump", "plain dump", "write")):
            cell = rows[step]["cells"][way]
            self.assertEqual([cell["count"], cell["median"]], [capture[key]["count"], capture[key]["median"]], key)
            self.assertEqual(lanes[lane]["steps"][f"{step}_ns"], cell["median"], key)

    def test_a_run_of_more_cases_than_a_page_has_all_of_them_on_every_face(self):
        self.seed(0, 0, 1500)
        with self.dashboard() as get:
            run = self.assert_same_figures(get)
            self.assertEqual(len(run["cases"]), 1500)
            listed, after = [], 0
            while after is not None:
                page = get(f"/api/v1/runs/latest/cases?limit=1000&after={after}")
                listed += page["cases"]
                after = page["next"]
            self.assertEqual(len(listed), 1500)
        text = self.run_db("report", "latest", "--text", "--columns", "120", "--exit-zero").stdout
        for engine in run["engines"]:
            if engine["exact"]["total"]:
                self.assertRegex(text, rf'{re.escape(engine["engine"])}\b.* {engine["exact"]["right"]}/{engine["exact"]["total"]} ')
        sum_file = self.folder / "summary.md"
        self.run_db("report", "latest", "--md", sum_file, "--exit-zero")
        self.assertIn("1500", sum_file.read_text())

    def add_bench(self, run, commit, uuid, ways=(12, 13, 14)):
        """A complete bench on the machine and victims of RUN: 14 cases in each of two processes, warm and cold; cold, the dump way takes
        WAYS times as long. Returns its number."""
        same = "platform, cpu, compiler, flags"
        with contextlib.closing(sqlite3.connect(self.db)) as db, db:
            bench = db.execute("INSERT INTO run (uuid, state, label, started_ns, finished_ns, commit_id, " + same + ")"
                               f" SELECT ?, 'complete', 'bench', started_ns + 1, started_ns + 2, ?, {same} FROM run WHERE id = ?",
                               (uuid, commit, run)).lastrowid
            lanes = (("offset", 1000), ("dump", 13000), ("offset-control", 1140))
            rows = [(lane, cold, turn, (1 + 9 * cold) * ns) for cold in (0, 1) for turn in range(20) for lane, ns in lanes]
            db.executemany(f"INSERT INTO sample VALUES ({bench}, ?, ?, 'total', ?, ?, ?)", [(i, *row) for i, row in enumerate(rows)])
            numbers = ((i, i // 28, i % 14, i // 14 % 2) for i in range(56))
            cases = [(i, process, f"s{s}", cold, 100 + s, (100 + s) * (ways[i % 3] if cold else 30)) for i, process, s, cold in numbers]
            db.executemany(f"INSERT INTO bench_case VALUES ({bench}, ?, ?, ?, 'ob2', 'x64', 'crash', ?, ?, ?)", cases)
        return bench

    def assert_one_ratio(self, run):
        """Checks that every face of RUN, the newest, shows one ratio of dump to offsets, and returns it."""
        ratio = json.loads(self.run_db("report", str(run), "--json", "--exit-zero").stdout)["speed_ratio"]
        text, value = ratio["text"], ratio["value"]
        self.assertRegex(text, rf"^{value:.1f}× \[{ratio['low']:.1f}, {ratio['high']:.1f}\], ")
        self.assertTrue(text.endswith(f", {ratio['cases']} cases" + (", no control" if ratio["origin"] == "run" else "")), text)
        self.assertEqual(f", noise {100 * (ratio['noise'] or 0):.0f} %, " in text, ratio["origin"] == "bench")
        shown = f"dump : offsets {text} ({ratio['about']})"
        said = "\n".join(filter(None, (ratio["answer"], shown, ratio["note"] and f"{ratio['note']}; `twinstack bench` measures it")))
        for face in ("--text", "--md"):
            page = self.run_db("report", str(run), face, *(["-"] if face == "--md" else []), "--exit-zero").stdout.replace("\\", "")
            self.assertIn(said, re.sub("\n+", "\n", page.replace("**", "")))
            self.assertEqual(len(re.findall(r"dump : offsets \d", page)), 1)
        both = {"a": ratio, "b": ratio}
        self.assertEqual(json.loads(self.run_db("compare", str(run), str(run), "--json").stdout)["speed_ratio"], both)
        for argv in ((), ("--markdown",)):
            page = self.run_db("compare", str(run), str(run), *argv).stdout.replace("\\", "")
            self.assertEqual(page.count(f"run {run}: {shown}\n"), 2, page)
        for against, line, pair in (((), shown, {**both, "a": None}), (("--against", str(run)), f"{shown}; run {run}: {shown}", both)):
            self.assertIn(f"\n{line}\ngate of run {run}: ", self.run_db("gate", str(run), *against, exit_code=None).stdout)
            self.assertEqual(json.loads(self.run_db("gate", str(run), *against, "--json", exit_code=None).stdout)["speed_ratio"], pair)
        metrics = self.run_db("report", str(run), "--openmetrics", "-", "--exit-zero").stdout
        badge = self.folder / "badge.json"
        self.run_db("report", str(run), "--badge", badge, "--badge-of", "speed_ratio", "--exit-zero")
        self.assertTrue(json.loads(badge.read_text())["message"].startswith(f"{text}, x64, "), badge.read_text())
        page = self.folder / "run.html"
        self.run_db("report", str(run), "--html", page, "--exit-zero")
        packed = re.findall(r'"/api/v1/(?:overview\?run=\d+|runs/\d+|timing\?run=\d+)":"([^"]+)"', page.read_text())
        self.assertEqual(len(packed), 3)
        for answer in packed:
            self.assertEqual(json.loads(zlib.decompress(base64.b64decode(answer)))["speed_ratio"], ratio)
        with self.dashboard() as get:
            for path in ("overview", "runs/latest", f"runs/{run}", "timing", "timing?limit=125", f"timing?run={run}", f"timing?limit=125&run={run}"):
                self.assertEqual(get(f"/api/v1/{path}")["speed_ratio"], ratio, path)
            self.assertEqual(get(f"/api/v1/compare?a={run}&b={run}")["speed_ratio"], both)
            self.assertEqual(get("/metrics"), metrics)
            self.assertEqual(json.loads(get("/badge/speed_ratio.json")), json.loads(badge.read_text()))
            self.assertIn(f": {text}, x64, ", get("/badge/speed_ratio.svg"))
            for trend in (get("/api/v1/trend?metric=speed_ratio&limit=100")["trend"], get("/api/v1/overview")["trends"]["speed_ratio"]):
                point = [point for point in trend["points"] if point["value"] is not None][-1]
                self.assertEqual((point["run"], point["bench"]), (run, ratio["run"] if ratio["origin"] == "bench" else None))
                self.assertAlmostEqual(point["value"], value)
        self.assertAlmostEqual(float(re.search(r"(?m)^twinstack_speed_ratio (\S+)$", metrics)[1]), value, places=5)
        self.assertIn(f'twinstack_speed_run{{origin="{ratio["origin"]}"}} {ratio["run"]}\n', metrics)
        self.assertIn(f"twinstack_speed_cases {ratio['cases']}\n", metrics)
        self.assertEqual(re.findall(r'(?m)^twinstack_speed_bound_ratio\{bound="(?:low|high)"\} (\S+)$', metrics),
                         [f"{ratio['low']:.6f}", f"{ratio['high']:.6f}"])
        return ratio

    def test_one_ratio_of_dump_to_offsets_is_on_every_face(self):
        """That of the bench of the run's commit, machine and victims, also where texts of the run were written before it came; without
        one the run's own, said to have no control."""
        self.seed(0, 0, 96, "wide")
        run = 1
        self.sql("UPDATE claim SET cold_ns = 9 * total_ns WHERE engine = 'dump'")
        self.sql("UPDATE claim SET cold_ns = 2 * total_ns WHERE engine = 'offset:rtl'")
        self.make_sums()
        own = self.assert_one_ratio(run)
        self.assertEqual((own["origin"], own["run"], own["noise"]), ("run", run, None))
        commit = self.sql("SELECT commit_id FROM run WHERE id = ?", run)[0][0]
        self.assertTrue(commit)
        self.add_bench(run, "another", "of another commit")
        self.assertEqual(self.assert_one_ratio(run), own)
        bench = self.add_bench(run, commit, "of the same")
        found = self.assert_one_ratio(run)
        # 14 cases take (100 + s) by offsets and 12, 13 or 14 times that by a dump, s from 0 to 13; the second process begins its turn elsewhere.
        times = [[(100 + i % 14) * (12, 13, 14)[i % 3] for i in range(first, first + 14)] for first in (14, 42)]
        ratios = [statistics.median(dump) / 106.5 for dump in times]
        self.assertAlmostEqual(found["value"], math.sqrt(ratios[0] * ratios[1]))
        self.assertAlmostEqual(found["noise"], 0.14)
        self.assertEqual([found[key] for key in ("origin", "run", "cases", "state")], ["bench", bench, 14, "index"])
        self.assertRegex(found["text"], r"^1[234]\.\d× \[\d+\.\d, \d+\.\d\], noise 14 %, 14 cases$")
        newer = self.add_bench(run, commit, "a newer one", (6, 7, 8))
        self.assertEqual(self.assert_one_ratio(run)["run"], newer)
        for column in ("platform", "cpu", "compiler", "flags"):  # another machine, or other victims
            with self.subTest(column):
                kept = self.sql(f"SELECT {column} FROM run WHERE id = ?", newer)[0][0]
                self.sql(f"UPDATE run SET {column} = 'another' WHERE id = ?", newer)
                self.assertEqual(json.loads(self.run_db("report", "1", "--json", "--exit-zero").stdout)["speed_ratio"], found)
                self.sql(f"UPDATE run SET {column} = ? WHERE id = ?", kept, newer)
        self.sql("UPDATE run SET commit_id = NULL")  # an unknown commit is no commit
        self.sql("DELETE FROM shown")
        self.assertEqual(self.assert_one_ratio(run), own)

    def test_right_stacks_of_managed_code_are_on_every_face(self):
        self.seed(1, 3, 0)
        run = json.loads(self.run_db("report", "latest", "--json", "--exit-zero").stdout)["run"]
        details = self.run_db("report", "latest", "--details", "--exit-zero").stdout.split("MANAGED CODE")[1]
        summary = self.folder / "summary.md"
        self.run_db("report", "latest", "--md", summary, "--exit-zero")
        with self.dashboard() as get:
            self.assertEqual(get("/api/v1/runs/latest")["run"]["managed_stacks"], run["managed_stacks"])
        page = self.folder / "run.html"
        self.run_db("report", "latest", "--html", page, "--exit-zero")
        self.assertGreater(page.stat().st_size, 0)
        self.assertEqual([phase["phase"] for phase in run["managed_stacks"]], ["throws", "compiles"])
        for phase in run["managed_stacks"]:
            cells, shown = [], []
            for mode in ("plain", "seeded", "copy", "in_place"):
                count = phase[mode]
                marks = " ".join(f"{count[end]}{end[0]}" for end in ("refused", "hijacked", "ended", "wrong", "blocked") if count[end]) if count else ""
                cell = f"{count['right']}{f' ({marks})' if marks else ''}" if count else "-"
                shown.append(re.escape(cell))
                cells.append(cell)
            self.assertRegex(details, f"(?m)^{phase['phase']} +{' +'.join(shown)} *$")
            self.assertIn(f"| {phase['phase']} | {' | '.join(cells)} |", summary.read_text().replace("\\", ""))

    def test_two_noisy_runs_compare_alike_on_every_face(self):
        self.seed(2, 12, 0)
        newest = "case_id IN (SELECT id FROM crash_case WHERE run_id = (SELECT max(id) FROM run WHERE label = 'run'))"
        self.sql("UPDATE crash_case SET verdict = 'PASS'")
        self.sql(f"UPDATE claim SET total_ns = (SELECT k.total_ns FROM claim k JOIN crash_case c ON c.id = k.case_id JOIN "
                 "crash_case mine ON mine.id = claim.case_id AND mine.scenario = c.scenario AND mine.variant = c.variant "
                 f"AND c.run_id = mine.run_id - 1 AND k.engine = claim.engine) WHERE {newest}")
        self.sql(f"UPDATE claim SET total_ns = total_ns * 12 / 10 WHERE engine = 'dump' AND {newest}")

        def change():
            printed = json.loads(self.run_db("compare", "1", "2", "--json", exit_code=None).stdout)
            shown = get("/api/v1/compare?a=1&b=2")
            self.assertEqual(shown, printed)
            gate = json.loads(self.run_db("gate", "2", "--against", "1", "--max-slowdown", "3%", "--json",
                                          exit_code=None).stdout)
            row = {t["engine"]: t for t in printed["times"]}["dump"]
            self.assertEqual({t["engine"]: t for t in printed["timing"]}["dump"], row)
            for engine in printed["times"]:  # the verdict's own figure, as on the page
                self.assertRegex(self.run_db("compare", "1", "2", exit_code=None).stdout,
                                 rf"(?m)^{re.escape(engine['engine'])} +{engine['cases']} +{re.escape(format(100 * engine['effect'], '+.1f'))} %")
            holds = {c["name"]: c["holds"] for c in gate["checks"]}["dump"]
            self.assertEqual(holds, row["change"] != "slower")
            return row["change"]

        with self.dashboard() as get:
            self.assertEqual(change(), "slower")
            # The noise between equal runs: in the newest bench the control is slower by a quarter.
            self.sql("INSERT INTO run (uuid, state, label, started_ns) VALUES ('b', 'complete', 'bench', 1)")
            for subject, ns in (("offset", 1000), ("offset-control", 1250)):
                for round_ in range(9):
                    self.sql("INSERT INTO sample SELECT max(id), ?, ?, 'total', 0, ?, ? FROM run",
                             round_ + (20 if ns > 1000 else 0), subject, round_, ns)
            self.assertEqual(change(), "same")

    def red_day(self):
        """A run of which every case fails twice, by one of two faults, after one that has some failures. Two scenarios are accepted."""
        self.seed(2, 24, 48, "red")
        run = self.sql("SELECT max(id) FROM run")[0][0]
        scope = f"run_id = {run} AND scenario IN ('spin', 'recursion')"
        self.sql(f"UPDATE crash_case SET verdict = 'XFAIL', known_id = 'slow-' || scenario WHERE {scope}")
        self.sql("DELETE FROM run_verdict WHERE run_id = ?", run)
        self.sql(f"INSERT INTO run_verdict SELECT {run}, verdict, count(*) FROM crash_case WHERE run_id = {run} GROUP BY 2")
        blocks = [f"[slow-{name}]\nscope: {name}.*\ncause: dump=*\nreason: seen\nexpires: 2099-01-01\n" for name in ("spin", "recursion", "idle")]
        self.sql("UPDATE run SET known_text = ? WHERE id = ?", "\n".join(blocks), run)
        self.cases = {key: [] for key in (1, run)}
        for each, scenario, variant, verdict, signature in self.sql(
                "SELECT run_id, scenario, variant, verdict, signature FROM crash_case WHERE run_id IN (1, ?) ORDER BY id", run):
            self.cases[each].append((f"{scenario}.{variant}", verdict, signature))
        return run

    def test_two_runs_have_the_same_counts_on_every_face(self):
        """Compare counts a case once, however often it ran; what is new is what did not fail before."""
        run = self.red_day()
        failed = {name for name, verdict, _ in self.cases[1] if verdict == "FAIL"}
        fails = [name for name, verdict, _ in self.cases[run] if verdict == "FAIL"]
        fresh, again = set(fails) - failed, set(fails) & failed
        self.assertEqual([bool(fresh), bool(again), len(fails) > len(set(fails))], [True] * 3)
        with self.dashboard() as get:
            shown, overview = get(f"/api/v1/compare?a=1&b={run}"), get("/api/v1/overview")
            queue = get("/api/v1/runs/latest/queue?new=1&limit=1")
        printed = json.loads(self.run_db("compare", "1", str(run), "--json", exit_code=1).stdout)
        self.assertEqual(printed, shown)
        counts = shown["totals"]
        otherwise = sum(row["is"] == "FAIL" for row in shown["changes"]["changed"])
        self.assertEqual([counts["new"], otherwise + counts["still"]], [len(fresh), len(again)])
        for face in (shown["changes"], overview["changes"]):
            self.assertEqual(face["counts"], counts)
            for group in set(counts) - {"same"}:
                names = [f"{row['scenario']}.{row['variant']}" for row in face[group]]
                self.assertEqual([len(names), len(set(names))], [counts[group]] * 2, group)
        self.assertEqual(shown["broke"], len(set(fails)) - counts["still"])
        self.assertEqual([overview["wrong"]["new"], queue["total"]], [sum(name in fresh for name in fails)] * 2)
        said = self.run_db("compare", "1", str(run), exit_code=1).stdout
        markdown = self.run_db("compare", "1", str(run), "--markdown", exit_code=1).stdout
        head = f"{counts['new']} new, {counts['fixed']} fixed, {counts['changed']} changed"
        for face in (said, markdown):
            self.assertIn(head, face)
            self.assertIn(f"{shown['broke']} cases broke.", face)
            self.assertRegex(face, r"and \d+ more")
            self.assertIn("every case by name: --json", face.replace("\\", ""))
        self.assertIn(f"{counts['new']} cases fail that did not", shown["sentence"])
        gate = json.loads(self.run_db("gate", "latest", "--against", "1", "--json", exit_code=1).stdout)
        check = next(each for each in gate["checks"] if each["name"] == "new failures")
        self.assertIn(f"{counts['new'] + otherwise} new since run 1", check["said"])

    def test_problems_differences_and_acceptances_have_the_same_counts_on_every_face(self):
        run = self.red_day()
        fails, accepted = ([row for row in self.cases[run] if row[1] == verdict] for verdict in ("FAIL", "XFAIL"))
        summary = self.folder / "step.md"
        text = self.run_twinstack("report", "latest", "--db", self.db, "--columns", "80", "--exit-zero", env={**os.environ, "GITHUB_STEP_SUMMARY": str(summary)}).stdout
        step = summary.read_text(encoding="utf-8").replace("\\", "")
        with self.dashboard() as get:
            problems = get("/api/v1/overview")["wrong"]["problems"]
            groups, signatures, known = (get(f"/api/v1/{view}?run=latest") if view else get("/api/v1/runs/latest")["failing"]
                                         for view in ("", "signatures", "known"))
            for problem in problems:
                queue = get(f"/api/v1/runs/latest/queue?problem={problem['key']}&limit=1")
                self.assertEqual([queue["total"], queue["problem"]["cases"]], [problem["cases"]] * 2)
            queued = {}
            for row in signatures["signatures"]:
                self.assertEqual(get(f"/api/v1/runs/latest/queue?problem={row['key']}&limit=1")["total"], row["cases"])
                for part in row["signatures"]:
                    asked = f"problem={row['key']}&signature={urllib.parse.quote(part['signature'])}"
                    queued[row["key"], part["signature"]] = get(f"/api/v1/runs/latest/queue?{asked}&limit=1")["total"]
        self.assertEqual(sum(problem["cases"] for problem in problems), len(fails))
        self.assertEqual([(group["key"], group["cases"]) for group in groups], [(problem["key"], problem["cases"]) for problem in problems])
        flat = " ".join(text.split())
        for problem in problems:
            said = f"{problem['cases']} cases: {problem['sentence']}"
            self.assertIn(said, flat)
            self.assertIn(said, step)
            self.assertIn(f"blame: {problem['blames'][0]['blame']} ({problem['blames'][0]['cases']})", flat)
        for face in (text, step):
            self.assertIn(f"{len(self.cases[run])} cases: {len(fails)} FAIL, {len(accepted)} XFAIL", face)
        self.assertIn(f"FAIL, {len(fails)} of {len(self.cases[run])} cases fail", step)
        rows = signatures["signatures"]
        self.assertEqual(signatures["total"], len(rows))
        self.assertEqual([(row["key"], row["cases"], row["sentence"]) for row in rows if row["verdict"] == "FAIL"],
                         [(problem["key"], problem["cases"], problem["sentence"]) for problem in problems])
        self.assertEqual(sum(row["cases"] for row in rows if row["verdict"] == "XFAIL"), len(accepted))
        stored, counted = collections.Counter(row[2] for row in self.cases[run] if row[2]), collections.Counter()
        for row in rows:
            self.assertEqual(row["signature"], row["signatures"][0]["signature"])
            for part in row["signatures"]:
                counted[part["signature"]] += part["cases"]
                self.assertEqual(queued[row["key"], part["signature"]], part["cases"])
        self.assertEqual(counted, stored)
        self.assertEqual({item["id"]: item["hits"] for item in known["items"]},
                         {f"slow-{name}": sum(row[0].startswith(f"{name}.") for row in accepted) for name in ("spin", "recursion", "idle")})
        self.assertEqual([known["hits_total"], len(known["hits"])], [len(accepted)] * 2)

    def test_the_history_of_a_case_is_what_its_runs_say(self):
        run = self.red_day()
        reports = {each: json.loads(self.run_db("report", str(each), "--json", "--exit-zero").stdout)["cases"] for each in (1, 2, run)}
        with self.dashboard() as get:
            for name in ("null_write", "spin"):
                shown = get(f"/api/v1/cases/{name}/ob2")
                mine = [(each, case) for each, cases in reports.items() for case in cases if (case["scenario"], case["variant"]) == (name, "ob2")]
                self.assertEqual(shown["total"], len(mine))
                for each, (owner, case) in zip(reversed(shown["cases"]), mine):
                    self.assertEqual([each["run"], *(each[key] for key in ("repeat", "verdict", "reason", "signature", "known_id", "scores"))],
                                     [owner, *(case[key] for key in ("repeat", "verdict", "reason", "signature", "known_id", "scores"))])
                    self.assertEqual(each["findings"], len(case["findings"]))
                newest = mine[-1][1]
                self.assertEqual({key: shown["newest"][key] for key in ("verdict", "scores", "findings", "timing")},
                                 {key: newest[key] for key in ("verdict", "scores", "findings", "timing")})
                for metric, trend in shown["trends"].items():
                    points = get(f"/api/v1/trend?metric={metric}&scenario={name}&variant=ob2")["trend"]["points"]
                    self.assertEqual(*([[point[key] for key in ("run", "value", "count")] for point in face] for face in (trend["points"], points)), metric)

    def test_a_regraded_run_claims_nothing_for_cases_that_are_gone_or_damaged(self):
        self.seed(1, 12, 0)
        good, damaged = self.folder / "cases/whole.ob2", self.folder / "cases/damaged.ob2"
        (self.folder / "symbols").symlink_to(CASES.parent / "symbols")
        for copy in (good, damaged):
            shutil.copytree(CASES / "null_write.ob2", copy)
        record = next(f for f in damaged.iterdir() if f.suffix == ".rec" or f.name.startswith("record"))
        record.write_bytes(record.read_bytes()[:-1])
        ids = [row[0] for row in self.sql("SELECT id FROM crash_case ORDER BY id")]
        for case, (name, folder) in zip(ids, (("whole", good), ("damaged", damaged), ("gone", self.folder / "cases/gone.ob2"))):
            self.sql("UPDATE crash_case SET scenario = ?, variant = 'ob2', folder = ? WHERE id = ?", name, str(folder), case)
        done = self.run_db("regrade", "-k", "whole or damaged or gone", exit_code=3)
        self.assertIn("2 cases", done.stdout)
        with self.dashboard() as get:
            run = self.assert_same_figures(get)
            cases = {c["scenario"]: c for c in run["cases"]}
            self.assertEqual(len(cases), 3)
            for name in ("damaged", "gone"):
                c = cases[name]
                self.assertEqual((c["verdict"], c["engines"], c["scores"], c["findings"]), ("ERROR", [], [], []))
                self.assertIn("gone or damaged", c["reason"])
                self.assertEqual((c["signature"], c["right"], c["timing"]["record_bytes"]), (None, None, 0))
                shown = get(f"/api/v1/runs/latest/cases/{name}.ob2")
                self.assertEqual(shown["engines"] if "engines" in shown else shown.get("claims", []), [])
            subjects = [e for e in run["engines"] if e["subject"]]
            self.assertEqual(len(subjects), 2)
            for engine in subjects:
                self.assertEqual((engine["cases"], engine["exact"]["total"]), (1, 1), engine["engine"])
            self.assertEqual(run["left_out"], 2)

    def test_a_bench_does_not_hide_the_run_before_it(self):
        """CI runs `run` and then `bench`: the newest run that judged something is the latest everywhere."""
        self.seed(3, 12, 0)
        self.sql("UPDATE crash_case SET verdict = 'FAIL', signature = 'dump=truncated' WHERE run_id = 3")
        self.sql("DELETE FROM run_verdict WHERE run_id = 3")
        self.sql("INSERT INTO run_verdict VALUES (3, 'FAIL', 12)")
        self.sql("INSERT INTO run (uuid, state, label, started_ns, finished_ns, branch, platform) "
                 "SELECT 'b', 'complete', 'bench', started_ns + 1000000000, 2, branch, platform FROM run WHERE id = 3")
        branch = self.sql("SELECT branch FROM run WHERE id = 3")[0][0]
        with self.dashboard() as get:
            for path in ("/api/v1/overview", f"/api/v1/overview?branch={branch}"):
                shown = get(path)
                self.assertEqual((shown["run"]["id"], shown["run"]["verdicts"]["FAIL"]), (3, 12), path)
                self.assertEqual(shown["failing"]["total"], 12, path)
            self.assertEqual(get("/api/v1/runs/latest")["run"]["id"], 3)
            self.assertIn('twinstack_cases{verdict="FAIL"} 12\n', get("/metrics"))
            self.assertEqual(json.loads(get("/badge/verdict.json"))["message"][:2], "12")
            # Both are kept in the server's cache, as of a state of the database.
            one = "id = (SELECT min(id) FROM crash_case WHERE run_id = 3)"
            self.sql(f"UPDATE crash_case SET verdict = 'PASS' WHERE {one}")
            self.assertIn('twinstack_cases{verdict="FAIL"} 11\n', get("/metrics"))
            self.assertEqual(json.loads(get("/badge/verdict.json"))["message"][:2], "11")
            self.sql(f"UPDATE crash_case SET verdict = 'FAIL' WHERE {one}")
        self.assertIn("run 3 of commit", self.run_db("gate", exit_code=1).stdout)
        self.assertIn("run 3", self.run_db("compare", "latest~1", "latest", exit_code=1).stdout)
        self.assertIn("twinstack run 3 ", self.run_db("report", exit_code=1).stdout)

    def test_no_face_is_compiled_where_it_could_see_the_store_or_the_comparison(self):
        # The only header of the store that they may include: it opens and reads a store.
        front = [f.name for f in (e2e.BUILD / "rooms/store.front/store").iterdir()]
        self.assertEqual(front, ["archive.h"])
        commands = json.loads((e2e.BUILD / "compile_commands.json").read_text())
        faces = [row for row in commands if re.search(r"/analyze/(verbs|report)/|/dashboard/", row["file"])]
        self.assertGreater(len(faces), 40)
        for row in faces:
            self.assertNotRegex(row["command"], r"rooms/(store|compare)(?![.\w])", row["file"])


e2e.main()
