"""The adapter scores outside programs: Breakpad's minidump_stackwalk (npm's package `minidump`),
and lldb through a short script that uses our own form. If a program is missing, its tests are
skipped with a reason."""

import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

CASES = e2e.ROOT / "corpus/cases"
SYMBOLS = e2e.ROOT / "corpus/symbols"
SUITE = e2e.ROOT / "corpus/reference/adapters"
EXAMPLE = e2e.ROOT / "tests/lib/adapter_lldb.py"


def stackwalk():
    """The path of minidump_stackwalk: from $TWINSTACK_STACKWALK, PATH or `npm install --prefix
    build/tools minidump`."""
    named = os.environ.get("TWINSTACK_STACKWALK") or shutil.which("minidump_stackwalk")
    built = e2e.BUILD / "tools/node_modules/minidump/bin/linux-x64/minidump_stackwalk"
    path = pathlib.Path(named) if named else built
    return path if path.exists() and os.access(path, os.X_OK) else None


class Adapter(e2e.Case):
    def ask(self, adapter, *cases, folder=None):
        """{case: (score, engine)} of the adapter's judge; FOLDER: where the command is started."""
        name = "judge:" + adapter.split("=")[0]
        done = self.run_twinstack("check", *cases, "--json", env={"TWINSTACK_ADAPTER": adapter}, limit_s=120,
                                  folder=folder or e2e.ROOT)
        found = {}
        for case in json.loads(done.stdout)["cases"]:
            score = [s for s in case["scores"] if s["engine"] == name]
            engine = [e for e in case["engines"] if e["engine"] == name]
            self.assertEqual((len(score), len(engine)), (1, 1), case["scenario"])
            found[f"{case['scenario']}.{case['variant']}"] = score[0], engine[0]
        return found

    def script(self, text):
        path = self.folder / "judge.py"
        path.write_text("#!/usr/bin/python3\n" + text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def test_breakpad(self):
        tool = stackwalk()
        if tool is None:
            self.skipTest("no minidump_stackwalk (npm install --prefix build/tools minidump)")
        found = self.ask(f"breakpad={tool} -m {{dump}} {{folder}}", CASES / "null_write.ob2", CASES / "inline_chain.ob2")
        for name, (score, engine) in found.items():
            with self.subTest(name):
                self.assertEqual(score["state"], "ok")
                self.assertTrue(score["judged"])
                self.assertGreater(score["frames"], 1)
                # It reads no PDB, so it names nothing, but it knows where the crash was.
                self.assertEqual(score["right_frames"], 0)
                self.assertGreaterEqual(score["physical_same"], 1)
                self.assertFalse(score["exact"])
                self.assertGreater(engine["cost"]["total_ns"], 0)
                self.assertGreater(engine["cost"]["peak_bytes"], 1 << 20)

    def test_lldb_through_the_example(self):
        if shutil.which("lldb-19") is None:
            self.skipTest("no lldb-19")
        done = subprocess.run(["lldb-19", "--version"], capture_output=True, text=True, check=False)
        found = self.ask(f"lldb-script=/usr/bin/python3 {EXAMPLE} lldb-19", CASES / "null_write.ob2")
        score, engine = found["null_write.ob2"]
        self.assertEqual(score["state"], "ok")
        self.assertGreaterEqual(score["frames"], 1)
        self.assertGreaterEqual(score["physical_same"], 1)
        self.assertIn(engine["version"], done.stdout)

    def test_our_own_form(self):
        """A program that reports the truth is exact; a program that is wrong in every line is not."""
        dump = CASES / "null_write.ob2/dump.dmp"
        stack = self.run_json("dump", dump, "--stacks", "--json", "--symbols", SYMBOLS)["threads"][0]["stack"]
        for wrong, bare in ((0, False), (7, False), (0, True)):  # many tools print base names only
            with self.subTest(wrong=wrong, bare=bare):
                frames = [{**f, "line": f["line"] and f["line"] + wrong,
                           "file": re.split(r"[/\\]", f["file"])[-1] if bare and f["file"] else f["file"]}
                          for f in stack["frames"]]
                answer = self.folder / f"answer{wrong}.json"
                answer.write_text(json.dumps({"schema_version": 1, "version": "mirror 1", "times": {"open_ns": 5},
                                              "threads": [{"id": 1, "crashed": True, "frames": frames}]}))
                program = self.script(f"""
import json, sys
case = json.loads(sys.stdin.readline())
assert case["scenario"] == "null_write" and any(f["role"] == "dump" for f in case["files"]), case
print(open({str(answer)!r}).read())
""")
                score, engine = self.ask(f"mirror={program}", CASES / "null_write.ob2")["null_write.ob2"]
                self.assertEqual((engine["version"], engine["cost"]["open_ns"]), ("mirror 1", 5))
                self.assertGreater(score["lines_judged"], 2)
                self.assertEqual(score["lines_right"], 0 if wrong else score["lines_judged"])
                self.assertEqual(score["exact"], not wrong)

    def test_contestants_of_the_reference_suite_are_judges_as_they_are(self):
        """A crash is a question about one thread, a hang one about each: all frames of the dump. `judge:lldb` is another engine's name."""
        ours = f"{SUITE}/ours.py {e2e.PROGRAM}"
        rows = [("mine", "null_write.ob2", ours, "judge:mine", 1), ("mine", "spin.ob2", ours, "judge:mine", 2)]
        if shutil.which("lldb-19"):
            rows.append(("lldb", "null_write.ob2", f"{SUITE}/lldb.py lldb-19", "judge:lldb-adapter", 1))
        for name, case, command, engine, threads in rows:
            with self.subTest(name=name, case=case):
                done = self.run_twinstack("check", CASES / case, "--json", env={"TWINSTACK_ADAPTER": f"{name}={command}"}, limit_s=120)
                found = json.loads(done.stdout)["cases"][0]
                score = next(s for s in found["scores"] if s["engine"] == engine)
                self.assertEqual((score["state"], score["exact"]), ("ok", True), score)
                self.assertIn("twinstack" if name == "mine" else "lldb", next(e["version"] for e in found["engines"] if e["engine"] == engine))
                if threads > 1:
                    self.assertEqual(score["frames"], next(s["frames"] for s in found["scores"] if s["engine"] == "dump"))

    def test_programs_of_the_older_form_read_one_line_or_all(self):
        """They are asked with both forms in one line first, then with the older one alone."""
        answer = json.dumps({"schema_version": 1, "version": "old 1", "threads": [{"id": 1, "crashed": True, "frames": []}]})
        for name, read in (("a line", "json.loads(sys.stdin.readline())"), ("all", "json.load(sys.stdin)")):
            with self.subTest(name):
                program = self.script(f"import json, sys\ncase = {read}\nassert case['scenario'] == 'null_write', case\nprint({answer!r})\n")
                _, engine = self.ask(f"old={program}", CASES / "null_write.ob2")["null_write.ob2"]
                self.assertEqual(engine["version"], "old 1")

    def test_what_a_contestant_cannot_is_said(self):
        program = self.script("""
import json, sys
for line in sys.stdin:
    print(json.dumps({"name": "t", "version": "1", "can": []} if "hello" in json.loads(line) else
                     {"id": json.loads(line)["id"], "unsupported": True, "reason": "no dumps"}), flush=True)
""")
        score, _ = self.ask(f"shy={program}", CASES / "null_write.ob2")["null_write.ob2"]
        self.assertEqual((score["state"], score["reason"]), ("failed", "no dumps"))

    def test_relative_paths_of_the_command(self):
        """The program runs in the staging folder, but its paths are those of the caller."""
        self.script("raise SystemExit('found')")
        for command in ("./judge.py", "/usr/bin/python3 ./judge.py", f"../{self.folder.name}/judge.py {{dump}}"):
            with self.subTest(command):
                score, _ = self.ask(f"near={command}", CASES / "null_write.ob2", folder=self.folder)["null_write.ob2"]
                self.assertRegex(score["reason"], "status 1: found$")

    def test_a_program_that_fails_fails_alone(self):
        rows = {"ends badly": ("raise SystemExit(3)", "ended with status 3$"),
                "says why": ("import sys; sys.exit('one\\nno symbols here\\n')", "ended with status 1: no symbols here$"),
                "is killed": ("import os; os.kill(os.getpid(), 9)", "ended with status 137$"),
                "prints no JSON": ("print('hello')", "JSON"),
                "prints an error and ends well": ("import sys; print('usage: judge', file=sys.stderr)",
                                                  "cannot be read, and it printed: usage: judge$"),
                "says nothing": ("pass", "JSON")}
        for name, (text, reason) in rows.items():
            with self.subTest(name):
                score, _ = self.ask(f"bad={self.script(text)}", CASES / "null_write.ob2")["null_write.ob2"]
                self.assertEqual(score["state"], "failed")
                self.assertRegex(score["reason"], reason)
                self.assertFalse(score["judged"])
        self.assertEqual(self.ask("bad=no-such-program", CASES / "null_write.ob2")["null_write.ob2"][0]["state"],
                         "failed")


e2e.main()
