"""Reads the output of `report` with readers of other projects. FOLDER is the only argument.

Exit status 77: a reader is not installed (stdout names it); else 0 or a traceback."""
import json
import pathlib
import sys

try:
    import jsonschema
    import junitparser
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError as missing:
    print(missing)
    sys.exit(77)

# The schemas that the formats' owners publish, from the npm packages of the page tests.
PARTS = pathlib.Path(__file__).resolve().parents[2] / "dashboard/web/node_modules"
SCHEMAS = {"ctrf": PARTS / "ctrf/dist/ctrf-schema-0.0.json",
           "speedscope": PARTS / "speedscope/dist/release/file-format-schema.json"}
for schema in SCHEMAS.values():
    if not schema.exists():
        print(f"no {schema.relative_to(PARTS)} among the web parts")
        sys.exit(77)

folder = pathlib.Path(sys.argv[1])
HOSTILE = '</script><b>&"|`#|@evil'


def junit():
    suites = junitparser.JUnitXml.fromfile(str(folder / "junit.xml"))
    suites_by_name = {suite.name: suite for suite in suites}
    assert set(suites_by_name) == {"ob0", "ob2"}, suites_by_name
    ob2 = suites_by_name["ob2"]
    assert (ob2.tests, ob2.failures, ob2.errors, ob2.skipped) == (5, 1, 1, 1), vars(ob2)
    kinds = {case.name: [type(r).__name__ for r in case.result] for case in ob2}
    assert kinds["divide_by_zero.ob2"] == ["Failure"], kinds
    assert kinds["illegal_instruction.ob2"] == ["Error"], kinds
    assert kinds["fast_fail.ob2"] == ["Skipped"], kinds
    assert kinds["null_write.ob2"] == [], kinds
    failure = next(case for case in ob2 if case.name == "divide_by_zero.ob2").result[0]
    assert HOSTILE in failure.text, failure.text


def openmetrics():
    families = {f.name: f for f in text_string_to_metric_families((folder / "metrics.txt").read_text())}
    verdicts = {s.labels["verdict"]: s.value for s in families["twinstack_cases"].samples}
    assert verdicts["PASS"] == 3 and verdicts["FAIL"] == 1, verdicts
    seconds = {s.labels["engine"]: s.value for s in families["twinstack_stack_seconds"].samples}
    assert abs(seconds["dump"] - 0.009) < 1e-9, seconds
    assert "twinstack_speed_ratio" not in families  # too few cases: e2e/test_headline.py has it


# https://shields.io/badges/endpoint-badge, which has no schema of its own.
BADGE = {
    "type": "object",
    "required": ["schemaVersion", "label", "message"],
    "properties": {
        "schemaVersion": {"const": 1},
        "label": {"type": "string"},
        "message": {"type": "string", "minLength": 1},
        "color": {"type": "string"},
    },
    "additionalProperties": False,
}


def schemas():
    jsonschema.validate(json.loads((folder / "badge.json").read_text()), BADGE)
    for name, path in SCHEMAS.items():
        jsonschema.validate(json.loads((folder / f"{name}.json").read_text()), json.loads(path.read_text()))
    ctrf = json.loads((folder / "ctrf.json").read_text())["results"]
    counts = ctrf["summary"]
    assert counts["tests"] == len(ctrf["tests"]) == sum(
        counts[k] for k in ("passed", "failed", "pending", "skipped", "other")), counts
    scope = json.loads((folder / "speedscope.json").read_text())
    frames, profile = scope["shared"]["frames"], scope["profiles"][0]
    assert len(profile["samples"]) == len(profile["weights"]) == 2
    assert sum(profile["weights"]) == profile["endValue"] == 4
    shallow = min(profile["samples"], key=len)
    assert [frames[i]["name"] for i in shallow] == ["RtlUserThreadStart", "main", "middle", "poke"]
    deep = max(profile["samples"], key=len)
    assert len(deep) == 300 and len(set(deep)) == 1


def whole():
    run = json.loads((folder / "run.json").read_text())
    ours = json.loads((pathlib.Path(__file__).resolve().parents[2] / "analyze/report/report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(ours)
    jsonschema.Draft202012Validator(ours).validate(run)
    assert run["schema_version"] == 1 and run["fails"] is True
    assert run["run"]["verdicts"]["PASS"] == 3
    engines = {e["engine"]: e for e in run["engines"]}
    assert engines["offset:rtl"]["exact"] == {"right": 4, "total": 4, "value": 1, "low": engines["offset:rtl"]["exact"]["low"], "high": 1}
    assert 0.5 < engines["offset:rtl"]["exact"]["low"] < 0.52
    assert engines["judge:dbghelp"]["skip_reason"] == "not installed"
    failing = next(c for c in run["cases"] if c["scenario"] == "divide_by_zero")
    assert failing["right"] == "offset:rtl" and failing["verdict"] == "FAIL"
    assert failing["got_code"] == "0xc0000005"


junit()
openmetrics()
schemas()
whole()
