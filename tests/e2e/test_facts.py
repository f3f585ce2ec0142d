"""All figures of one fact are equal, on every page, report and answer: tests/lib/facts_table.py says which face has which. Over made runs: a green one,
a narrowed, an interrupted and a red one, one of three processors, and one with a bench of its commit. Pages are drawn without a browser."""

import base64
import contextlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import faces  # noqa: E402
import facts  # noqa: E402
import facts_table  # noqa: E402

# Runs by what they are; their numbers in the database.
GREEN, NARROW, BROKEN_OFF, RED, MIXED, BENCHED, BENCH = range(1, 8)
RUNS = {GREEN: "the green", NARROW: "the narrowed", BROKEN_OFF: "the interrupted", RED: "the red", MIXED: "the mixed", BENCHED: "the benched"}
VIEWS = {f"api {view.split('?')[0].split('/')[-1].replace('{}', 'run')}": f"/api/v1/{view}" for view in (
    "overview?run={}", "runs/{}", "runs/{}/grid", "runs/{}/queue?limit=1", "runs/{}/cases?limit=1", "runs?limit=50", "timing?run={}", "hooks?run={}&limit=1",
    "signatures?run={}", "known?run={}", "symbols?run={}", f"compare?a={GREEN}&b={{}}")}
CASES = {run: "inline_chain_0012.ob0" if run in (MIXED, BENCHED) else "recursion.ob2" for run in RUNS}  # one that is in the run
PLACES = {run: {"case": case, "path": case.replace(".", "/")} for run, case in CASES.items()}
VIEWS |= {"api case": "/api/v1/runs/{}/cases/{case}", "api history": "/api/v1/cases/{path}", "api bench": f"/api/v1/timing?run={BENCH}&limit=1"}
VIEWS |= {f"api trend {metric}": f"/api/v1/trend?metric={metric}&limit=100" for metric in (
    "capture_rate", "exact", "f1", "speed_ratio", "offset_ns", "dump_ns", "walk_ns", "stop_walk_ns", "stop_dump_ns", "record_write_ns", "dump_write_ns",
    "dump_tuned_ns", "record_bytes", "dump_bytes")}
PAGES = {"page overview": "/?run={}", "page run": "/runs/{}", "page mismatches": "/runs/{}/mismatches", "page timing": "/timing?run={}",
         "page hooks": "/hooks?run={}", "page signatures": "/signatures?run={}", "page symbols": "/symbols?run={}", "page known": "/known?run={}",
         "page compare": f"/compare/{GREEN}/{{}}", "page runs": "/runs",
         "page case": "/runs/{}/mismatches/{case}", "page history": "/cases/{path}", "page bench": f"/timing?run={BENCH}"}

# What a file has of its run, as a server.
CARRIED = ("/api/v1/overview?run={}", "/api/v1/runs/{}", "/api/v1/runs/{}/grid", "/api/v1/timing?run={}", "/api/v1/hooks?run={}", "/api/v1/signatures?run={}",
           "/api/v1/symbols?run={}", "/api/v1/known?run={}")


def make_runs(case):
    """A database of a green run, a narrowed one, an interrupted one, a red one, one of three processors, and one with a bench of its commit."""
    case.seed(3, 24, 48, "red")
    for _ in range(2):
        subprocess.run([faces.SEED, case.db, "0", "0", "96", "wide"], check=True, capture_output=True)
    with contextlib.closing(sqlite3.connect(case.db)) as db, db:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("DELETE FROM crash_case WHERE run_id IN (?, ?) AND verdict <> 'PASS'", (GREEN, NARROW))
        # Of the narrowed run, cases of one build were not run, and it was asked for some scenarios alone.
        db.execute("UPDATE run SET command = 'twinstack run -k null_write or recursion or spin' WHERE id = ?", (NARROW,))
        db.execute("DELETE FROM crash_case WHERE run_id = ? AND scenario NOT IN ('null_write', 'recursion', 'spin')", (NARROW,))
        gone = "SELECT id FROM crash_case WHERE run_id = ? AND variant = 'ob0'"
        for table in ("claim", "stack", "finding", "thread", "truth_thread", "truth_frame", "gap"):
            db.execute(f"DELETE FROM {table} WHERE case_id IN ({gone})", (NARROW,))
        db.execute("UPDATE crash_case SET verdict = 'UNSUPPORTED', reason = 'no wine32', right_engines = NULL, got_doors = NULL, got_code = NULL,"
                   " got_exit_code = NULL, wall_ms = 0, walk_ns = 0, stop_walk_ns = 0, stop_dump_ns = 0, record_write_ns = 0, dump_write_ns = 0, record_bytes = 0,"
                   " dump_bytes = 0 WHERE run_id = ? AND variant = 'ob0'", (NARROW,))
        db.execute("DELETE FROM crash_case WHERE run_id = ? AND id > (SELECT min(id) + 13 FROM crash_case WHERE run_id = ?)", (BROKEN_OFF,) * 2)
        db.execute("UPDATE run SET state = 'interrupted' WHERE id = ?", (BROKEN_OFF,))
        db.execute("INSERT OR REPLACE INTO run_pace SELECT id, 24, 15, 0, started_ns, started_ns + 20000000000 FROM run WHERE id = ?", (BROKEN_OFF,))
        accepted = "run_id = ? AND scenario IN ('spin', 'recursion')"
        db.execute(f"UPDATE crash_case SET verdict = 'XFAIL', known_id = 'slow-' || scenario WHERE {accepted}", (RED,))
        blocks = [f"[slow-{name}]\nscope: {name}.*\ncause: dump=*\nreason: seen\nexpires: 2099-01-01\n" for name in ("spin", "recursion")]
        db.execute("UPDATE run SET known_text = ? WHERE id = ?", ("\n".join(blocks), RED))
        for variant, arch in (("x86-*", "x86"), ("o0", "arm64")):
            db.execute("UPDATE crash_case SET arch = ? WHERE run_id = ? AND variant GLOB ?", (arch, MIXED, variant))
        db.execute("UPDATE crash_case SET arch = 'x86' WHERE run_id = ? AND variant GLOB 'x86-*'", (BENCHED,))
        db.execute("UPDATE claim SET state = 1, frames = 0 WHERE engine = 'offset:rtl' AND case_id IN (SELECT id FROM crash_case WHERE arch = 'x86')")
        # Numbers that are no other's, on every processor.
        for arch, factor in (("x86", 3), ("arm64", 20)):
            for key in "walk_ns stop_walk_ns stop_dump_ns record_write_ns dump_write_ns record_bytes dump_bytes".split():
                db.execute(f"UPDATE crash_case SET {key} = {key} * ? WHERE arch = ?", (factor, arch))
            for key in "open_ns unwind_ns load_ns resolve_ns total_ns".split():
                db.execute(f"UPDATE claim SET {key} = {key} * ? WHERE case_id IN (SELECT id FROM crash_case WHERE arch = ?)", (factor, arch))
        db.execute("UPDATE claim SET cold_ns = total_ns * 7 + case_id * 1000")
        db.execute("UPDATE crash_case SET dump_tuned_bytes = dump_bytes / 3, dump_tuned_ns = dump_write_ns / 2, stop_tuned_ns = stop_dump_ns / 2")
        db.execute("UPDATE crash_case SET crowded = 1 WHERE id % 7 = 0")
        for w, way in enumerate(("offset", "tuned", "dump")):
            numbers = ", ".join(f"total_ns * {(w + 1) * f * state} / 100" for state in (9, 3) for f in (10, 2, 1, 3, 2, 7))
            db.execute("INSERT INTO way_cost (case_id, way, frames, same, cold_ns, cold_open_ns, cold_unwind_ns, cold_load_ns, cold_resolve_ns, cold_own_ns,"
                       " warm_ns, warm_open_ns, warm_unwind_ns, warm_load_ns, warm_resolve_ns, warm_own_ns)"
                       f" SELECT case_id, '{way}', 7, 1, {numbers} FROM claim JOIN crash_case c ON c.id = case_id WHERE engine = ? AND state = 0 AND"
                       " (SELECT count(*) FROM claim k WHERE k.case_id = c.id AND k.state = 0 AND k.engine IN ('dump', 'offset:rtl')) = 2",
                       ("offset:rtl" if way == "offset" else "dump",))
        for n, run in enumerate((MIXED, BENCHED)):
            # 37 hours and 42 minutes ago the last one, which is no whole number of hours or days.
            began = time.time_ns() - (2262 + 60 * (1 - n)) * 60_000_000_000
            db.execute("UPDATE run SET commit_id = ?, finished_ns = finished_ns - started_ns + ?, started_ns = ? WHERE id = ?", (f"{n + 11}" * 20, began, began, run))
        db.execute("DELETE FROM run_verdict")
        db.execute("DELETE FROM run_cause WHERE run_id < ?", (RED,))
        db.execute("INSERT INTO run_cause SELECT run_id, cause, count(*), count(DISTINCT id), sum(engine IN ('dump', 'offset:rtl')) FROM finding"
                   " JOIN crash_case c ON c.id = case_id WHERE run_id < ? GROUP BY 1, 2", (RED,))
        db.execute("INSERT INTO run_verdict SELECT run_id, verdict, count(*) FROM crash_case GROUP BY 1, 2")
    case.make_sums()
    with contextlib.closing(sqlite3.connect(case.db)) as db, db:
        for form, share in (("gzip", 4), ("zstd", 5)):
            db.execute("UPDATE crash_case SET " + ", ".join(f"{what}_{form}_bytes = {what}_bytes / {share}" for what in ("record", "dump", "dump_tuned")))
        db.execute("DELETE FROM shown")
    case.run_db("db", "upgrade")
    add_bench(case)


def add_bench(case):
    same = "platform, cpu, compiler, flags"
    with contextlib.closing(sqlite3.connect(case.db)) as db, db:
        bench = db.execute("INSERT INTO run (uuid, state, label, started_ns, finished_ns, commit_id, " + same + ")"
                           f" SELECT 'b', 'complete', 'bench', started_ns + 1, started_ns + 2, commit_id, {same} FROM run WHERE id = ?", (BENCHED,)).lastrowid
        assert bench == BENCH
        lanes = (("offset", 1000), ("dump", 13000), ("offset-control", 1140))
        rows = [(lane, cold, turn, (1 + 9 * cold) * ns) for cold in (0, 1) for turn in range(20) for lane, ns in lanes]
        db.executemany(f"INSERT INTO sample VALUES ({bench}, ?, ?, 'total', ?, ?, ?)", [(i, *row) for i, row in enumerate(rows)])
        numbers = ((i, i // 28, i % 14, i // 14 % 2) for i in range(56))
        ways = (12, 13, 14)
        cases = [(i, process, f"s{s}", cold, 100 + s, (100 + s) * (ways[i % 3] if cold else 30)) for i, process, s, cold in numbers]
        db.executemany(f"INSERT INTO bench_case VALUES ({bench}, ?, ?, ?, 'ob2', 'x64', 'crash', ?, ?, ?)", cases)


class Facts(faces.Case):
    def report(self, run):
        """What commands say of a run, by face."""
        out, said = self.folder / str(run), {}
        out.mkdir()
        files = {"markdown": "--md", "metrics": "--openmetrics", "junit": "--junit", "ctrf": "--ctrf", "offline": "--html"}
        argv = [word for face, option in files.items() for word in (option, out / face)]
        self.run_db("report", run, *argv, "--exit-zero")
        said |= {face: (out / face).read_text(encoding="utf-8") for face in files}
        summary = {**os.environ, "GITHUB_STEP_SUMMARY": str(out / "step")}
        said["terminal"] = self.run_twinstack("report", run, "--columns", "1000", "--exit-zero", "--db", self.db, env=summary).stdout
        said["step"] = (out / "step").read_text(encoding="utf-8")
        for face, *argv in (("details", "--details", "--columns", "1000"), ("cost", "--cost"), ("json", "--json")):
            said[face] = self.run_db("report", run, *argv, "--exit-zero").stdout
        for metric in ("verdict", "capture_rate", "exact", "f1", "speed_ratio"):
            said[f"badge {metric}"] = self.run_db("report", run, "--badge", "-", "--badge-of", metric, "--exit-zero").stdout
        for face, *argv in (("compare", ), ("compare json", "--json"), ("compare markdown", "--markdown")):
            said[face] = self.run_db("compare", GREEN, run, *argv, exit_code=None).stdout
        bars = ("--min-exact", "1%", "--min-f1", "1%", "--min-capture", "1%")
        for face, *argv in (("gate", ), ("gate bars", *bars)):
            said[face] = self.run_db("gate", run, "--against", GREEN, *argv, exit_code=None).stdout
        said["list"] = self.run_db("db", "list").stdout
        return said

    def test_each_fact_has_one_figure_on_every_face(self):
        make_runs(self)
        wrong, read = [], set()
        with self.dashboard() as get:
            pages = self.pages(get.url)
            for run, name in RUNS.items():
                said = self.report(run) | {face: "\n".join(pages[address.format(run, **PLACES[run])]) for face, address in PAGES.items()}
                docs = {face: facts.loaded(said[face]) for face in ("json", "compare json", "ctrf")}
                docs |= {face: facts.loaded(json.dumps(get(address.format(run, **PLACES[run])))) for face, address in VIEWS.items()}
                wrong += [f"{name} run, {each}" for each in facts.walk(said, docs, read)]
                carried = dict(re.findall(r'"(/api/v1/[^"]+)":"([^"]+)"', said["offline"]))
                for address in (address.format(run) for address in CARRIED):
                    there = json.loads(zlib.decompress(base64.b64decode(carried[address])))
                    if there != get(address):
                        wrong.append(f"{name} run: {address} of the file is another than the server's")
        self.assertEqual([(fact, row) for fact, _, rows in facts_table.FACTS for row in rows if (fact, row) not in read], [], "in no run")
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def pages(self, url):
        addresses = sorted({address.format(run, **PLACES[run]) for run in RUNS for address in PAGES.values()})
        script = e2e.ROOT / "tests/e2e/web/read_pages.mjs"
        return json.loads(subprocess.run(["node", script, url, *addresses], check=True, capture_output=True, text=True, timeout=120 * e2e.PATIENCE).stdout)


e2e.main()
