"""Which face says which figure of a run, and how it is read there: a table. e2e_facts reads each fact from each face, and compares.

A fact is (its name, what it is of, rows). Each row is (face, reader) or (face, reader, condition). What it is of are expressions that list
the names for {} in the name and the readers. A face that is a document has an expression as its reader, over `d`, the document (`d.a.b`
is a member, `one(list, key=value)` its row), `j`, that of `report --json`, the answers of the API by their names, and what it is of. A face
that is a text has a pattern: a regular expression, where # is the figure, ... any text in the same line, {expression} its text, and
{!expression} more of the pattern. A row counts where its condition holds, and then the face must have the figure. The others are compared
with the first row."""

# Columns of the tables of engines, after the share of exact stacks.
REPORT_COLUMNS = ("precision", "recall", "inline_recall", "lines", "top1", "top5", "physical")
PAGE_COLUMNS = ("precision", "recall", "inline_recall", "lines", "physical")
WAY_COLUMNS = ("exact", "top1", "top3", "recall_macro", "recall_micro")
SHARES = ("exact", "top1", "top3", "top5", "precision", "recall", "inline_recall", "lines", "physical")
WRONG = ("FAIL", "ERROR", "XPASS", "FLAKY")

BADGE = "any(j.run.verdicts[v] for v in WRONG) and j.run.state == 'complete'"
COMPLETE = "j.run.state == 'complete'"  # others are in no trend

# What a figure may be of.
VERDICTS = {"verdict": "[v for v, cases in j.run.verdicts.items() if cases]"}
ENGINES = {"e": "[e for e in j.engines if e.stacks]"}
WAYS = {"w": "j.accuracy.ways if j.accuracy.cases else []"}
PROBLEMS = {"p": "j.failing"}
ROWS = {"r": "[r for r in j.headline.rows if not r.part]", "way": "[w for w in r.cells if r.cells[w].state == 'measured']"}


# The rows of the headline in reports, its columns, and the same rows of the page Timing.
OWN = r"back end, STATE(?:(?!\n[| ]*back end)(?:.|\n))+?[| ]*no system"
ROW_NAMES = {"walk": "stack walk", "stopped": "process stopped", "write": "file written", "bytes": "size of the file", "cold": "back end, cold",
             "warm": "back end, warm", "cold_own": OWN.replace("STATE", "cold"), "warm_own": OWN.replace("STATE", "warm")}
WAY_NAMES = ("foreign", "dump", "tuned", "offset")
CELL = r" +(?:–|not measured|too few \(\d+\)|[\d.]+ (?:ns|µs|ms|s|B|KB|MB)(?: \(\d+\))?)"
CAPTURE = {("walk", "offset"): "walk_ns", ("stopped", "offset"): "stop_walk_ns", ("stopped", "dump"): "stop_dump_ns", ("write", "offset"): "record_write_ns",
           ("write", "dump"): "dump_write_ns", ("bytes", "offset"): "record_bytes", ("bytes", "dump"): "dump_bytes", ("bytes", "tuned"): "dump_tuned_bytes"}
PICTURE = {"walk": "stack walk", "write": "file written"}
LANE_NAMES = {"dump": "plain dump", "tuned": "tuned dump", "offset": "offsets"}
STATES = ("no index", "index", "warm")
LANE = r"{!dict(value='#', low='[0-9.]+ \[#', high='[0-9.]+ \[[0-9.]+, #', cases='[0-9.]+ \[[^)]*[(]#[)]')[end]}"
TIMED = r"{!dict(count=' +#', median=' +[0-9]+ +#', least=' +[0-9]+ +[0-9.]+ .?[A-Za-z]+ +#', most=' .* #$')[part]}"
TIMED_PAGE = r"{!dict(least=' [|] #', median=' [|][^|]*[|] #', most=' [|][^|]*[|][^|]*[|] #', count=' [|][^|]*[|][^|]*[|][^|]*[|] #')[part]}"
STACKS = r"{!dict(median='#', count='[0-9.]+ .?[a-z]+ # stacks')[part]}"
COST = {"core_s_warm": "warm, core-s", "core_s_index": "index, core-s", "stopped_s": "stopped, s", "raw_gb": "kept raw, GB", "gzip_gb": "gzip, GB",
        "zstd_gb": "zstd, GB"}
COST_LANES = ("plain dump", "tuned dump", "full dump", "offsets")
CASE = {"record_bytes": "record", "dump_bytes": "dump", "walk_ns": "walk", "dump_write_ns": "dump write", "stop_dump_ns": "thread stopped"}
HISTORY = "[one(j.cases, id=case['case'].id)] if [c.run for c in history.cases].count(j.run.id) == 1 and history.cases[0].run == j.run.id else []"
OF_HISTORY = {"frames": ("right_frames", "truth_frames"), "lines": ("lines_right", "lines_judged")}
BENCH = {"value": "ratio", "low": "ratio_low", "high": "ratio_high", "noise": "noise", "cases": "cases"}
COMMIT = r"([0-9a-f]{12})\b"
STEPS = {"walk_ns": "stack walk", "write_ns": "file written", "send_ns": "upload", "open_ns": "back end: opening", "unwind_ns": "walking",
         "load_ns": "loading symbols", "resolve_ns": "naming", "left_over_ns": "left over", "total_ns": "all of it"}
STEP = " +(?:–|[\\d.]+ (?:ns|µs|ms|s))"
MODES = ("plain", "seeded", "copy", "in_place")

FACTS = [
    ("number of the run", {}, [
        ("json", "d.run.id"),
        ("terminal", r"^twinstack run #"),
        ("details", r"^twinstack run #"),
        ("markdown", r"^twinstack run #"),
        ("metrics", r"^twinstack_run\{.*\} #"),
        ("gate", r"^gate of run #"),
        ("compare", r"^run \d+ \(...\) -> run #"),
        ("api overview", "d.run.id"),
        ("api run", "d.run.id"),
        ("api timing", "d.run"),
        ("api hooks", "d.run"),
        ("api signatures", "d.run"),
        ("api known", "d.run"),
        ("api grid", "d.run"),
        ("api queue", "d.run"),
        ("api compare", "d.b.id"),
        ("compare json", "d.b.id"),
        ("page overview", r"^Run #"),
        ("page run", r"^Run #$"),
        ("page mismatches", r"^Run #$"),
        ("page timing", r"^run #: dump"),
        ("page compare", r"^run \d+ \(...\) with run #"),
    ]),
    ("commit", {}, [
        ("json", "d.run.commit"),
        ("metrics", r'^twinstack_run\{commit="([0-9a-f]+)"'),
        ("api overview", "d.run.commit"),
        ("api run", "d.run.commit"),
        ("api compare", "d.b.commit"),
        ("api timing", "one(runs.runs, id=d.run).commit"),
    ]),
    ("commit, as far as people see it", {}, [
        ("json", "d.run.commit[:12]"),
        *[(face, r"^twinstack run \d+ ...\b" + COMMIT) for face in ("terminal", "details", "markdown", "step")],
        ("gate", r"run \d+ of commit " + COMMIT),
        ("compare", r"-> run \d+ \(" + COMMIT),
        ("list", r"^ +{j.run.id} ...\b" + COMMIT),
        ("page overview", r"^Run \d+ ...\b" + COMMIT),
        ("page run", r"took ...\b" + COMMIT),
        ("page runs", r"\| {j.run.id}\b[^{]*...\b" + COMMIT),
        ("page compare", r"run {j.run.id} · ...\b" + COMMIT),
    ]),
    ("age", {}, [
        ("gate", r"run \d+ of commit \w+(?: on \S+)?, (\d+ \w+) old: "),
        ("page overview", r"^Run \d+ ...(\d+ \w+) ago"),
        ("page runs", r"\| {j.run.id}\b...(\d+ \w+) ago"),
    ]),
    ("start", {}, [
        ("json", "minute(d.run.started_ns)"),
        ("terminal", r"^twinstack run \d+ +(\d{4}-\d\d-\d\d)T(\d\d:\d\d)"),
        ("markdown", r"^twinstack run \d+ +(\d{4}-\d\d-\d\d)T(\d\d:\d\d)"),
        ("list", r"^ +{j.run.id} +(\d{4}-\d\d-\d\d)T(\d\d:\d\d)"),
        ("page run", r"^(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC"),
        ("page runs", r"\| {j.run.id}\b...\{(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC\}"),
        ("page compare", r"with run \d+ \((\d{4}-\d\d-\d\d) (\d\d:\d\d)\)"),
        ("api run", "minute(d.run.started_ns)"),
        ("api overview", "minute(d.run.started_ns)"),
    ]),
    ("how long it took", {}, [
        ("json", "d.run.finished_ns - d.run.started_ns"),
        ("page run", r"took #"),
        ("page runs", r"\| {j.run.id}\b...UTC\} \| \w+ \| # \|"),
        ("ctrf", "(d.results.summary.stop - d.results.summary.start) * 1e6"),
        ("api run", "d.run.finished_ns - d.run.started_ns"),
    ]),
    ("state", {}, [
        ("json", "d.run.state"),
        ("terminal", r"^twinstack run \d+ ...\((interrupted)\)", "j.run.state != 'complete'"),
        ("markdown", r"^twinstack run \d+ ...\((interrupted)\)", "j.run.state != 'complete'"),
        ("gate", r"^. state +the run is (\w+)"),
        ("compare", r"-> run \d+ \(...(interrupted)\)", "j.run.state != 'complete'"),
        ("list", r"^ +{j.run.id} ...Z +(\w+)"),
        ("page run", r"UTC · (\w+) · took"),
        ("page runs", r"\| {j.run.id}\b...UTC\} \| (\w+)"),
        ("api grid", "d.state"),
    ]),
    ("where it ran", {"what": "['platform', 'compiler', 'cpu']"}, [
        ("json", "d.run[what]"),
        ("api run", "d.run[what]"),
        ("terminal", r"({j.run[what]})"),
        ("markdown", r"({j.run[what]})"),
        ("page run", r"^({j.run[what]})$"),
        ("metrics", r'platform="({j.run.platform})"', "what == 'platform'"),
        ("page overview", r"^Run \d+ ...({j.run.platform})", "what == 'platform'"),
        ("page runs", r"\| {j.run.id}\b...({j.run.platform})$", "what == 'platform'"),
    ]),
    ("versions", {"t": "j.run.tools"}, [
        ("json", "t.version"),
        ("api run", "one(d.run.tools, name=t.name).version"),
        ("page run", r"^{t.name}\n(.+)$"),
    ]),
    ("cases", {}, [
        ("json", "d.run.case_count"),
        ("terminal", r"^(?:PASS|FAIL) +# cases?:"),
        ("details", r"^(?:PASS|FAIL) +# cases?:"),
        ("markdown", r"^# cases?:"),
        ("markdown", r"^\S+ .*, \d+ of # cases fail"),
        ("step", r"^\S+ .*, \d+ of # cases fail"),
        ("details", r"^ALL # CASES"),
        ("badge verdict", r'"message":"\d+ of # fail"', BADGE),
        ("junit", r'<testsuites [^>]*tests="(\d+)"', "not j.problems"),
        ("ctrf", "d.results.summary.tests - len(j.problems)"),
        ("gate", r"\d+ of # cases judged"),
        ("api overview", "d.run.case_count"),
        ("api run", "d.run.case_count"),
        ("api compare", "d.b.case_count"),
        ("api runs", "one(d.runs, id=j.run.id).case_count"),
        ("api grid", "d.total"),
        ("api queue", "d.total"),
        ("api queue", "sum(g.cases for g in d.groups)"),
        ("api hooks", "d.total"),
        ("api cases", "d.total"),
        ("page run", r"# cases? in \d+ scenarios?"),
        ("page mismatches", r"^case \d+ of #"),
    ]),
    ("cases with the verdict {verdict}", VERDICTS, [
        ("json", "d.run.verdicts[verdict]"),
        ("json", "len([c for c in d.cases if c.verdict == verdict])"),
        ("terminal", r"^(?:PASS|FAIL) +\d+ cases?:...# {verdict}\b"),
        ("details", r"^(?:PASS|FAIL) +\d+ cases?:...# {verdict}\b"),
        ("markdown", r"^\d+ cases?:...# {verdict}\b"),
        ("step", r"^\d+ cases?:...# {verdict}\b"),
        ("metrics", r'^twinstack_cases\{verdict="{verdict}"\} #'),
        ("api overview", "d.run.verdicts[verdict]"),
        ("api run", "d.run.verdicts[verdict]"),
        ("api runs", "one(d.runs, id=j.run.id).verdicts[verdict]"),
        ("api compare", "d.b.verdicts[verdict]"),
        ("compare json", "d.b.verdicts[verdict]"),
        ("api grid", "len([n for n in d.cases.verdict if d.verdicts[n] == verdict])"),
        ("page overview", r"\{[^}]*# {word(verdict)}\b"),
        ("page run", r"\{[^}]*# {word(verdict)}\b"),
        ("page runs", r"\| {j.run.id}\b[^\{]*\{[^}]*# {word(verdict)}\b"),
    ]),
    ("cases that fail the run", {}, [
        ("json", "sum(d.run.verdicts[v] for v in WRONG)"),
        ("markdown", r"^\S+ .*, # of \d+ cases fail"),
        ("step", r"^\S+ .*, # of \d+ cases fail"),
        ("badge verdict", r'"message":"# of \d+ fail"', BADGE),
        ("list", r"^ +{j.run.id} ...cases, +# fail"),
        ("junit", r'<testsuites [^>]*failures="(\d+)"', "not j.problems and not j.run.verdicts.ERROR"),
        ("ctrf", "d.results.summary.failed - len(j.problems)"),
        ("api overview", "d.wrong.total"),
        ("api overview", "d.failing.total"),
        ("api queue", "d.wrong.total"),
        ("page overview", r"^# wrong\b", "any(j.run.verdicts[v] for v in WRONG)"),
        ("page mismatches", r"^# wrong\b", "any(j.run.verdicts[v] for v in WRONG)"),
        ("page mismatches", r"^failing #$", "any(j.run.verdicts[v] for v in WRONG)"),
        ("page run", r"# failing so far", "j.run.progress"),
    ]),
    ("cases that were judged", {}, [
        ("json", "d.run.case_count - sum(d.run.verdicts[v] for v in ('UNSUPPORTED', 'NOT-CAPTURED-AS-EXPECTED'))"),
        ("gate", r"# of \d+ cases judged"),
    ]),
    ("cases of the run that was interrupted", {}, [
        ("json", "d.run.progress.judged", "j.run.progress"),
        ("json", "d.run.case_count", "j.run.progress"),
        ("api run", "d.run.progress.judged", "j.run.progress"),
        ("page run", r"last case: # of \d+ cases", "j.run.progress"),
    ]),
    ("cases that the run would have had", {}, [
        ("json", "d.run.progress.total", "j.run.progress"),
        ("page run", r"last case: \d+ of # cases", "j.run.progress"),
    ]),
    ("cases captured both ways", {}, [
        ("api overview", "one(d.shares, name='captured').right"),
        ("page overview", r"^Captured both ways\n.*% # of \d+ cases that should"),
    ]),
    ("cases that should leave a record or a dump", {}, [
        ("api overview", "d.figures.capture_rate.count"),
        ("api overview", "one(d.shares, name='captured').total"),
        ("api trend capture_rate", "point(d.trend, j).count", COMPLETE),
        ("page overview", r"^Captured both ways\n.*% \d+ of # cases that should"),
        ("page overview", r"that should leave a record or a dump; ...· # cases?$"),
    ]),
    ("share that was captured", {}, [
        ("api overview", "d.figures.capture_rate.value"),
        ("metrics", r"^twinstack_capture_ratio #"),
        ("badge capture_rate", r'"message":"#"'),
        ("page overview", r"^Captured either way .*\n#"),
        ("api overview", "point(d.trends.capture_rate, j).value", COMPLETE),
        ("api trend capture_rate", "point(d.trend, j).value", COMPLETE),
    ]),
    ("share of exact stacks, engines under test", {}, [
        ("json", "share(rows_of(d.engines, subject=True), 'exact')"),
        ("metrics", r"^twinstack_exact_ratio #"),
        ("badge exact", r'"message":"#"'),
        ("api overview", "d.figures.exact.value"),
        ("page overview", r"^Exact stacks .*\n#"),
        ("api overview", "point(d.trends.exact, j).value", COMPLETE),
        ("api trend exact", "point(d.trend, j).value", COMPLETE),
        ("gate bars", r"^. exact[^\n]*?#"),
    ]),
    ("stacks that can be exact, engines under test", {}, [
        ("json", "sum(e.exact.total for e in d.engines if e.subject)"),
        ("page overview", r"every own frame · # stacks?$"),
        ("api trend exact", "point(d.trend, j).count", COMPLETE),
    ]),
    ("F1 of the frames, engines under test", {}, [
        ("json", "f1(rows_of(d.engines, subject=True))"),
        ("metrics", r"^twinstack_f1_ratio #"),
        ("badge f1", r'"message":"#"'),
        ("api overview", "d.figures.f1.value"),
        ("page overview", r"^Frame F1 .*\n#"),
        ("api overview", "point(d.trends.f1, j).value", COMPLETE),
        ("api trend f1", "point(d.trend, j).value", COMPLETE),
        ("gate bars", r"^. f1[^\n]*?#"),
    ]),
    ("exact stacks of {e.engine}", ENGINES, [
        ("json", "e.exact.right"),
        ("json", "len([s for c in d.cases for s in c.scores if s.engine == e.engine and s.judged and s.exact])"),
        ("terminal", r"^{e.engine + (' *' if e.subject else '')} +#/\d+ ", "e.exact.total and not cut(terminal, 'all engines')"),
        ("details", r"^{e.engine + (' *' if e.subject else '')} +#/\d+ ", "e.exact.total"),
        ("markdown", r"^\| {e.engine + (' *' if e.subject else '')} \| #/\d+ ", "e.exact.total"),
        ("api run", "one(d.engines, engine=e.engine).exact"),
        ("page run", r"^{e.engine + (' under test' if e.subject else '')}\b[^|]*\| [\d.]+ % # of", "e.exact.total"),
    ]),
    ("stacks of {e.engine} that can be exact", ENGINES, [
        ("json", "e.exact.total"),
        ("json", "len([s for c in d.cases for s in c.scores if s.engine == e.engine and s.judged])"),
        ("terminal", r"^{e.engine + (' *' if e.subject else '')} +\d+/# ", "e.exact.total and not cut(terminal, 'all engines')"),
        ("details", r"^{e.engine + (' *' if e.subject else '')} +\d+/# ", "e.exact.total"),
        ("markdown", r"^\| {e.engine + (' *' if e.subject else '')} \| \d+/# ", "e.exact.total"),
        ("api run", "one(d.engines, engine=e.engine).judged"),
        ("page run", r"^{e.engine + (' under test' if e.subject else '')}\b[^|]*\| [\d.]+ % \d+ of #", "e.exact.total"),
    ]),
    ("share {m} of {e.engine}", {"e": "j.engines", "m": "[m for m in SHARES if e[m].total]"}, [
        ("json", "e[m].right / e[m].total"),
        ("json", "e[m].value"),
        ("metrics", r'^twinstack_share_ratio\{engine="{e.engine}",measure="{m}"\} #', "m not in ('top1', 'top5')"),
        ("api run", "one(d.engines, engine=e.engine).measures[m].value"),
        ("page run", r"^{e.engine + (' under test' if e.subject else '')}\b[^|]*\| #", "m == 'exact'"),
        ("page run", r"^{e.engine + (' under test' if e.subject else '')}\b[^|]*\|[^|]*{!skip(PAGE_COLUMNS, m, '[|][^|]*')}\| #", "m in PAGE_COLUMNS"),
        ("details", r"^{e.engine + (' *' if e.subject else '')} +\d+/\d+ \[[^\]]*\]{!skip(REPORT_COLUMNS, m, ' +(?:[0-9.]+ %|-)')} +#", "m in REPORT_COLUMNS"),
        ("markdown", r"^\| {e.engine + (' *' if e.subject else '')} {!skip(('exact', *REPORT_COLUMNS), m, '[|][^|]*')}\| #", "m in REPORT_COLUMNS"),
    ]),
    ("interval of the exact stacks of {e.engine}, {end}", {**ENGINES, "end": "['low', 'high'] if e.exact.total else []"}, [
        ("json", "round(e.exact[end] * 100)"),
        ("details", r"^{e.engine + (' *' if e.subject else '')} +\d+/\d+ \[#-", "end == 'low'"),
        ("details", r"^{e.engine + (' *' if e.subject else '')} +\d+/\d+ \[\d+-(\d+) %", "end == 'high'"),
        ("api run", "round(one(d.engines, engine=e.engine).measures.exact[end] * 100)"),
    ]),
    ("cases that both ways are judged in", {}, [
        ("json", "d.accuracy.cases"),
        ("terminal", r"^BOTH WAYS over the same # case", "j.accuracy.cases"),
        ("details", r"^BOTH WAYS over the same # case", "j.accuracy.cases"),
        ("markdown", r"^\S+ Both ways over the same # case", "j.accuracy.cases"),
        ("page run", r"^Both ways over the same # case", "j.accuracy.cases"),
        ("page overview", r"^Both ways over the same # case", "j.accuracy.cases"),
        ("page overview", r"% \d+ of # cases? of which both ways", "j.accuracy.cases"),
        ("api overview", "d.accuracy.cases"),
        ("api run", "d.accuracy.cases"),
        ("api overview", "d.shares[1].total"),
        ("api overview", "d.shares[2].total"),
    ]),
    ("cases, {part} exact", {"part": "['both', 'only_offset', 'only_dump', 'neither'] if j.accuracy.cases else []"}, [
        ("json", "d.accuracy.exact[part]"),
        ("terminal", r"^both exact ...{part.replace('_', ' ')} #", "part != 'both'"),
        ("details", r"^both exact ...{part.replace('_', ' ')} #", "part != 'both'"),
        ("markdown", r"^both exact ...{part.replace('_', ' ')} #", "part != 'both'"),
        ("terminal", r"^both exact #", "part == 'both'"),
        ("details", r"^both exact #", "part == 'both'"),
        ("markdown", r"^both exact #", "part == 'both'"),
        ("page run", r"Exact: ...{part.replace('_', ' ')} #"),
        ("page overview", r"Exact: ...{part.replace('_', ' ')} #"),
        ("api run", "d.accuracy.exact[part]"),
    ]),
    ("share {m} of {w.engine} over the cases of both", {**WAYS, "m": "['exact', 'top1', 'top3', 'recall_macro', 'recall_micro']"}, [
        ("json", "w[m] if m == 'recall_macro' else w[m].value"),
        ("page run", r"^{w.engine} \|{!skip(WAY_COLUMNS, m, '[^|]*[|]')} #"),
        ("page overview", r"^{w.engine} \|{!skip(WAY_COLUMNS, m, '[^|]*[|]')} #"),
        ("api overview", "one(d.accuracy.ways, engine=w.engine)[m] if m == 'recall_macro' else one(d.accuracy.ways, engine=w.engine)[m].value"),
        ("page overview", r"^Exact ... {w.engine}\n#", "m == 'exact'"),
    ]),
    ("number of problems", {}, [
        ("json", "len(d.failing)"),
        ("terminal", r"^WHAT FAILS, and why: # problem", "j.failing"),
        ("details", r"^WHAT FAILS, and why: # problem", "j.failing"),
        ("markdown", r"^\S+ What fails, and why: # problem", "j.failing"),
        ("page overview", r"^# problems? in", "j.failing"),
        ("api run", "len(d.failing) + d.failing_left"),
        ("api overview", "len(d.wrong.problems) + d.wrong.problems_left"),
        ("api queue", "len(d.wrong.problems) + d.wrong.problems_left"),
        ("api signatures", "len([s for s in d.signatures if s.verdict in WRONG])"),
    ]),
    ("cases of the problem: {p.sentence}", PROBLEMS, [
        ("json", "p.cases"),
        ("details", r"^. FAIL +# cases?: {p.sentence}$"),
        ("markdown", r"^\* . FAIL +# cases?: {p.sentence}<br>"),
        ("step", r"^\* . FAIL +# cases?: {p.sentence}<br>"),
        ("api run", "one(d.failing, key=p.key).cases"),
        ("api overview", "one(d.wrong.problems, key=p.key).cases"),
        ("api queue", "one(d.wrong.problems, key=p.key).cases"),
        ("api signatures", "sum(s.cases for s in d.signatures if s.key == p.key and s.verdict in WRONG)"),
        ("page run", r"# cases? : {p.sentence}$"),
        ("page overview", r"^# cases? : {p.sentence}$", "j.failing.index(p) < 3"),
        ("page mismatches", r"^# cases? : {p.sentence}$", "j.failing.index(p) < 3"),
        ("page signatures", r"\| # \| . \w+ \| {p.sentence} "),
    ]),
    ("blame of the problem: {p.sentence}", PROBLEMS, [
        ("json", "p.blame"),
        ("details", r"{p.sentence}\n(?:  .*\n)*?  blame: (.*?\(\d+\))(?: ·|$)"),
        ("markdown", r"{p.sentence}<br>...<br>blame: (...\(\d+\))(?: ·|<br>|$)"),
        ("api run", "one(d.failing, key=p.key).blame"),
        ("api overview", "blames(one(d.wrong.problems, key=p.key))"),
        ("page run", r"{p.sentence}\nblame: (...\(\d+\))(?: ·|$)"),
    ]),
    ("since when there is the problem: {p.sentence}", {"p": "[p for p in j.failing if p.since]"}, [
        ("json", "p.since.run"),
        ("details", r"{p.sentence}\n(?:  .*\n)*?  blame: ...· since run #"),
        ("markdown", r"{p.sentence}<br>...· since run #"),
        ("api run", "one(d.failing, key=p.key).since.run"),
        ("api overview", "one(d.wrong.problems, key=p.key).since.run"),
        ("page run", r"{p.sentence}\nblame: ...· since run #"),
        ("page overview", r"{p.sentence}\nblame: ...· since run #", "j.failing.index(p) < 3"),
        ("page signatures", r"{p.sentence} blame: ...· since run #"),
    ]),
    ("cases {group} since the baseline, each once", {"group": "['new', 'fixed', 'changed'] if compare.a.id != compare.b.id else []"}, [
        ("compare json", "d.totals[group]"),
        ("compare", r"# {group}\b"),
        ("compare markdown", r"# {group}\b"),
        ("api compare", "d.totals[group]"),
        ("api compare", "d.changes.counts[group]"),
        ("api compare", "len(d.changes[group])"),
        ("api overview", "d.changes.counts[group]"),
        ("gate", r"^. new failures +# new since", "group == 'new'"),
        ("gate", r"\(# fixed,", "group == 'fixed'"),
        ("page compare", r"^{dict(new='New failures', fixed='Fixed', changed='Another verdict or reason')[group]} #", "compare.totals[group] or group != 'changed'"),
        ("page overview", r"^{dict(new='New failures', fixed='Fixed', changed='Other reason')[group]} #"),
    ]),
    ("cases gone since the baseline", {}, [
        ("compare json", "d.totals.gone"),
        ("gate", r"^. cases gone +# gone since"),
        ("api compare", "d.totals.gone"),
        ("page compare", r"^Gone #", "compare.totals.gone"),
    ]),
    ("cases that pass by acceptance alone", {}, [
        ("json", "d.run.verdicts.XFAIL"),
        ("gate", r"^. accepted +# cases? pass", "j.run.verdicts.XFAIL"),
        ("api known", "d.hits_total"),
        ("api known", "sum(i.hits for i in d['items'])"),
        ("api signatures", "sum(s.cases for s in d.signatures if s.verdict == 'XFAIL')"),
        ("page mismatches", r"^accepted #$", "j.run.verdicts.XFAIL"),
    ]),
    ("cases that pass by acceptance alone, new since the baseline", {}, [
        ("json", "d.run.verdicts.XFAIL"),  # the baseline has none
        ("gate", r"^. accepted ...pass only by acceptance, # of them new", "j.run.verdicts.XFAIL"),
    ]),
    ("which way is faster, in words", {}, [
        ("json", "d.speed_ratio.answer"),
        ("terminal", r"^(In the back end .*)$", "j.speed_ratio.answer"),
        *[(f"page {view}", r"^(.*)\. Dump : offsets ", "j.speed_ratio.answer") for view in ("timing", "run", "overview")],
        *[(f"api {view}", "d.speed_ratio.answer") for view in ("run", "overview", "timing")],
    ]),
    ("ratio of dump to offsets", {}, [
        ("json", "d.speed_ratio.text + ' (' + d.speed_ratio.about + ')'"),
        ("terminal", r"^dump : offsets (.*\))$", "j.speed_ratio.value"),
        ("details", r"^dump : offsets (.*\))$", "j.speed_ratio.value"),
        ("markdown", r"dump : offsets (...\))\*\*$", "j.speed_ratio.value"),
        ("step", r"dump : offsets (...\))\*\*$", "j.speed_ratio.value"),
        ("gate", r"^dump : offsets (...\))(?:; run \d+:|$)"),
        ("compare markdown", r"run {j.run.id}: dump : offsets (...\))$"),
        ("page timing", r"(?:^|\. )Dump : offsets (.*\))$"),
        ("page run", r"(?:^|\. )Dump : offsets (.*\))$"),
        ("page overview", r"(?:^|\. )Dump : offsets (.*\))$"),
        ("page compare", r"^run {j.run.id} : dump : offsets (...\))$"),
        *[(f"api {view}", "d.speed_ratio.text + ' (' + d.speed_ratio.about + ')'") for view in ("run", "overview", "timing")],
        ("api compare", "d.speed_ratio.b.text + ' (' + d.speed_ratio.b.about + ')'"),
    ]),
    ("ratio of dump to offsets, as a number", {"ratio": "[j.speed_ratio] if j.speed_ratio.value else []"}, [
        ("json", "ratio.value"),
        ("metrics", r"^twinstack_speed_ratio #"),
        ("badge speed_ratio", r'"message":"#×'),
        ("page overview", r"^Plain dump : offsets .*\n#×"),
        ("api overview", "point(d.trends.speed_ratio, j).value", COMPLETE),
        ("api trend speed_ratio", "point(d.trend, j).value", COMPLETE),
    ]),
    ("median {r.name}, {r.group}, {way}", ROWS, [
        ("json", "r.cells[way].median"),
        *[(f"api {view}", "one(d.headline.rows, key=r.key).cells[way].median") for view in ("run", "overview", "timing")],
        ("details", r"^{!ROW_NAMES[r.key]} +\(\d+\){!skip(WAY_NAMES, way, CELL)} +#"),
        ("terminal", r"^{!ROW_NAMES[r.key]} +\(\d+\){!skip(WAY_NAMES, way, CELL)} +#", "r.key not in ('cold_own', 'warm_own')"),
        ("markdown", r"^\| {!ROW_NAMES[r.key]} \(\d+\) {!skip(WAY_NAMES, way, '[|][^|]*')}\| #"),
        *[(page, r"^{r.group}: {r.name} \(\d+\) {!skip(WAY_NAMES, way, '[|][^|]*')}\| #") for page in ("page run", "page overview")],
        ("api timing", "one(d.capture, key=CAPTURE[r.key, way]).median", "(r.key, way) in CAPTURE"),
        ("page timing", r"^{PICTURE[r.key]} ...# {LANE_NAMES[way]}", "r.key in PICTURE and way in LANE_NAMES and r.cells[way].count >= 12"),
    ]),
    ("cases of {r.name}, {r.group}", {"r": "[r for r in j.headline.rows if not r.part and any(c.count for c in r.cells.values())]"}, [
        ("json", "max(c.count for c in r.cells.values())"),
        ("details", r"^{!ROW_NAMES[r.key]} +\(#\)"),
        ("terminal", r"^{!ROW_NAMES[r.key]} +\(#\)", "r.key not in ('cold_own', 'warm_own')"),
        ("markdown", r"^\| {!ROW_NAMES[r.key]} \(#\)"),
        *[(page, r"^{r.group}: {r.name} \(#\)") for page in ("page run", "page overview")],
    ]),
    ("ratio of the lane {s.lane}, {s.arch}, {state}: {end}", {
        "s": "j.speed.rows", "state": "[k for k, cell in s.cells.items() if cell.ratio and cell.ratio.value]", "end": "['value', 'low', 'high', 'cases']"}, [
        ("json", "s.cells[state].cases if end == 'cases' else s.cells[state].ratio[end]"),
        *[(face, r"^{s.arch} {s.lane} : offsets{!skip(STATES, state, ' +(?:[a-z][a-z ()0-9]*|[0-9.]+ \[[^)]*[)])')} +" + LANE)
          for face in ("terminal", "details")],
        ("markdown", r"^\| {s.arch} {s.lane} : offsets {!skip(STATES, state, '[|][^|]*')}\| " + LANE),
        *[(page, r"^{s.arch} {s.lane} : offsets[^|]*{!skip(STATES, state, '[|][^|]*')}\| " + LANE) for page in ("page run", "page overview", "page timing")],
        ("api timing", "one(d.speed.rows, arch=s.arch, lane=s.lane).cells[state].cases if end == 'cases' else"
                       " one(d.speed.rows, arch=s.arch, lane=s.lane).cells[state].ratio[end]"),
    ]),
    ("{of.arch}, {r.name}: {part}", {"of": "[timing, *timing.others]", "r": "[r for r in of.capture if r.count]", "part": "['count', 'median', 'least', 'most']"}, [
        ("api timing", "r[part]"),
        ("json", "stage(d.cases, of.arch, r, part)", "r.key not in ('stop_copy_ns',)"),
        ("details", r"^TIMING, {of.arch}$(?:\n.+)*?\n{r.name}" + TIMED),
        ("page timing", r"^What a capture costs the program, {of.arch}$(?:\n.*)*?\n{r.name}(?: \{...\})?" + TIMED_PAGE),
        ("api trend {r.metric}", "point(d.trend, j)[dict(count='count', median='value')[part]]", f"r.metric and part in ('count', 'median') and {COMPLETE}"),
    ]),
    ("{of.arch}, a stack by {r.engine}: {part}", {"of": "[timing, *timing.others]", "r": "[r for r in of.engines if r.count]", "part": "['count', 'median']"}, [
        ("api timing", "r[part]"),
        ("metrics", r'^twinstack_stack_seconds\{engine="{r.engine}",arch="{of.arch}"\} #', "part == 'median'"),
        ("details", r"^TIMING on the back end, per stack, {of.arch}$(?:\n.+)*?\n{r.engine}" + TIMED),
        ("page timing", r"^Stages on the back end, {of.arch}$(?:\n.*)*?\n{r.engine} (?:\{...\} )?" + STACKS, "r.subject"),
        ("api trend {r.metric}", "point(d.trend, j)[dict(count='count', median='value')[part]]", f"r.metric and {COMPLETE}"),
    ]),
    ("a million crashes, {c.lane}, {key}", {"c": "j.cost_per_million.lanes", "key": "[k for k in COST if c[k].state == 'measured']"}, [
        ("json", "c[key].value"),
        ("api timing", "one(d.cost_per_million.lanes, lane=c.lane)[key].value"),
        ("cost", r"^{COST[key]}{!skip(COST_LANES, c.lane, ' +(?:not [a-z]+|[^ ]+ \[[^)]*[)])')} +#"),
        ("page timing", r"^{COST[key]} {!skip(COST_LANES, c.lane, '[|][^|]*')}\| #"),
    ]),
    ("a million crashes, {c.lane}, {what}", {"c": "j.cost_per_million.lanes", "what": "[k for k in ('upload_s', 'price') if c[k] is not None]"}, [
        ("json", "c[what]"),
        ("api timing", "one(d.cost_per_million.lanes, lane=c.lane)[what]"),
        ("cost", r"^{what.replace('_s', ', s')}{!skip(COST_LANES, c.lane, ' +(?:not [a-z]+|[0-9.]+k?)')} +#"),
        ("page timing", r"^{what.replace('_s', ', s')} {!skip(COST_LANES, c.lane, '[|][^|]*')}\| #"),
    ]),
    ("one crash, {c.lane}, {step}", {"c": "j.cost_per_million.lanes", "step": "[k for k in STEPS if step_of(c, k)]"}, [
        ("json", "step_of(c, step)"),
        ("api timing", "step_of(one(d.cost_per_million.lanes, lane=c.lane), step)"),
        ("cost", r"^{STEPS[step]}{!skip(COST_LANES, c.lane, STEP)} +#"),
        *[(face, r"^{c.lane}{!skip(tuple(STEPS), step, STEP)} +#", "c.lane in ('plain dump', 'offsets') and c.total_ns is not None") for face in ("terminal", "details")],
        ("markdown", r"^\| {c.lane} {!skip(tuple(STEPS), step, '[|][^|]*')}\| #", "c.lane in ('plain dump', 'offsets') and c.total_ns is not None"),
        ("page timing", r"^{STEPS[step]}(?:, 20 Mbit/s)? ...# {c.lane}"),
    ]),
    ("frames in {s.module} by {s.symbols}", {"s": "j.symbols"}, [
        ("json", "s.frames"),
        ("details", r"^{s.module} +{s.symbols} +#"),
        ("api symbols", "one(d.rows, module=s.module, symbols=s.symbols, debug_id=s.debug_id).frames"),
        ("page symbols", r"^{s.module} \| ...{s.symbols} #"),
    ]),
    ("crashes that the hook {h.hook} saw", {"h": "hooks.hooks"}, [
        ("api hooks", "h.seen"),
        ("json", "len([c for c in d.cases if h.hook in (c.got_doors or '').split(',')])"),
        ("markdown", r"^\| seen \| +\| +{!skip([x.hook for x in hooks.hooks], h.hook, '[|][^|]*')}\| #"),
        ("page hooks", r"^case ...{h.hook} saw #"),
    ]),
    ("cases where hooks differ from what was expected", {}, [
        ("api hooks", "d.differing"),
        ("json", "len([c for c in d.cases if c.expected_doors != c.got_doors and c.verdict != 'UNSUPPORTED'])"),
        ("page hooks", r"expected and measured differ \(#\)"),
    ]),
    ("findings of the cause {c.cause}", {"c": "overview.causes"}, [
        ("api overview", "c.findings"),
        ("json", "len([f for case in d.cases for f in case.findings if f.cause == c.cause])"),
        ("api run", "one(d.causes, cause=c.cause).findings"),
        ("details", r"^{c.cause} +# in"),
        ("page run", r"^{c.cause.replace('_', ' ')} # \d+ cases?"),
        ("page overview", r"^{c.cause.replace('_', ' ')} # \d+ cases?"),
    ]),
    ("cases with the cause {c.cause}", {"c": "overview.causes"}, [
        ("api overview", "c.cases"),
        ("json", "len([1 for case in d.cases if any(f.cause == c.cause for f in case.findings)])"),
        ("api run", "one(d.causes, cause=c.cause).cases"),
        ("details", r"^{c.cause} +\d+ in # case"),
        ("page run", r"^{c.cause.replace('_', ' ')} \d+ # cases?"),
        ("page overview", r"^{c.cause.replace('_', ' ')} \d+ # cases?"),
    ]),
    ("cases that {i.id} accepts", {"i": "known['items']"}, [
        ("api known", "i.hits"),
        ("json", "len([c for c in d.cases if c.known_id == i.id])"),
        ("page known", r"^{i.id} \| ...\| # \|"),
    ]),
    ("right stacks of managed code, {m.phase}, {mode}", {"m": "j.run.managed_stacks", "mode": "[k for k in MODES if m[k]]"}, [
        ("json", "m[mode].right"),
        ("api run", "one(d.run.managed_stacks, phase=m.phase)[mode].right"),
        ("details", r"^{m.phase}{!skip(MODES, mode, ' +(?:-|[0-9]+(?: [(][^)]*[)])?)')} +#"),
        ("markdown", r"^\| {m.phase} {!skip(MODES, mode, '[|][^|]*')}\| #"),
        ("page run", r"^{m.phase} {!skip(MODES, mode, '[|][^|]*')}\| # of"),
    ]),
    ("{what} of a case", {"what": "['record_bytes', 'dump_bytes', 'walk_ns', 'dump_write_ns', 'stop_dump_ns']", "c": "[one(j.cases, id=case['case'].id)]"}, [
        ("json", "c.timing[what]"),
        ("api case", "d['case'].timing[what]"),
        ("page case", r"^{CASE[what]}\n#"),
    ]),
    ("verdict of a case", {"c": "[one(j.cases, id=case['case'].id)]"}, [
        ("json", "word(c.verdict)"),
        ("api case", "word(d['case'].verdict)"),
        ("page case", r"^. (\w+)\b.*{c.reason[:40]}"),
    ]),
    ("verdict of a case, in its history", {"c": HISTORY}, [
        ("json", "word(c.verdict)"),
        ("api history", "word(d.newest.verdict)"),
        ("api history", "word(one(d.cases, run=j.run.id).verdict)"),
        ("page history", r"times? taken · now . (\w+)"),
        ("page history", r"^. (\w+) \{run {j.run.id}: "),
    ]),
    ("how often a case was taken", {"c": HISTORY}, [
        ("api history", "d.total"),
        ("api history", "len(d.cases)"),
        ("page history", r"^# times? taken"),
    ]),
    ("time of {way} of a case, in its history", {"c": HISTORY, "way": "['dump', 'offset']"}, [
        ("json", "one(c.engines, engine=dict(dump='dump', offset='offset:rtl')[way]).cost.total_ns"),
        ("api history", "one(d.trends[way + '_ns'].points, run=j.run.id).value"),
    ]),
    ("frames of {s.engine} in a case's history, {part}", {
        "c": HISTORY, "s": "[s for s in c.scores if s.judged]", "part": "['right_frames', 'truth_frames', 'lines_right', 'lines_judged']"}, [
        ("json", "s[part]"),
        ("api case", "one(d['case'].scores, engine=s.engine)[part]"),
        ("api history", "one(d.newest.scores, engine=s.engine)[part]"),
    ]),
    ("share of {what} of {s.engine} in a case's history", {
        "c": HISTORY, "s": "[s for s in c.scores if s.judged]", "what": "[k for k in ('frames', 'lines') if s[OF_HISTORY[k][1]]]"}, [
        ("json", "s[OF_HISTORY[what][0]] / s[OF_HISTORY[what][1]]"),
        ("page history", r"^{s.engine} {!dict(frames='#', lines='...of frames, #')[what]} of {what}"),
    ]),
    ("{what} of the bench", {"what": "['value', 'low', 'high', 'noise', 'cases'] if j.speed_ratio.origin == 'bench' else []"}, [
        ("json", "d.speed_ratio[what]"),
        ("api bench", "one(d.bench.back_end, cold=True)[BENCH[what]]"),
        ("page bench", r"^Bench, cold: ...{!dict(value='#×', low=r'× \[#', high=r'× \[[0-9.]+, #', noise='noise #', cases=', # cases of')[what]}"),
    ]),
    ("builds that were not run", {"why": "[j.not_run] if j.not_run else []"}, [
        ("json", "d.not_run"),
        *[(face, r"NOT RUN: (.*)$") for face in ("terminal", "details", "markdown")],
        ("api run", "d.not_run"),
        ("api overview", "d.not_run"),
        ("page run", r"({why})"),
        ("page overview", r"({why})"),
    ]),
]
