"""Runs every command of the README files and compares its output with the text.

A fenced block marked `console` is a session: lines that start with "$ " are commands, run in order
by one shell in the source tree with `twinstack` on the PATH; the lines after a command are its
output (both streams), where a line "..." matches any lines and "..." inside a line matches any
text. Blocks marked `sh` hold commands only; those of ./run are tested by test_run.py, which must
know each of them."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.S | re.M)
FOLDERS = ("analyze", "capture", "corpus", "dashboard", "tests", "victims")
READMES = ["README.md", *sorted(f.relative_to(e2e.ROOT).as_posix() for folder in FOLDERS for f in (e2e.ROOT / folder).rglob("README.md")
                                if not {"node_modules", "bugs"} & {*f.parts})]  # test_reference_bugs.py runs those of bugs
WORKFLOW = "analyze/study/README.md"
# Commands of `sh` blocks, each with the test or the program of tests that runs it.
ELSEWHERE = {
    "twinstack steps --out walks && cp build/victims/bin/steps-* walks": "test_each_instruction_becomes_a_moment",
    "twinstack suite make --from walks --suite corpus/reference --out large --edition 2026.11-large --licence MIT":
        "test_it_starts_from_another_suite",
    "twinstack score --cmd ./mine --suite corpus/reference": "test_what_a_contestant_does_costs_its_own_case",
    "twinstack score --cmd ./mine --suite DIR -j 2 --json -o mine.json": "test_what_became_worse_fails_and_what_cannot_be_judged_is_skipped",
    "twinstack score --cmd ./mine --suite DIR -j 2 --expect mine.json": "test_what_became_worse_fails_and_what_cannot_be_judged_is_skipped",
    'TWINSTACK_ADAPTER="lldb=corpus/reference/adapters/lldb.py lldb-19" twinstack check corpus/cases/null_write.ob2':
        "test_contestants_of_the_reference_suite_are_judges_as_they_are",
    "twinstack score --html results.html --badges badges corpus/reference/results/*.json": "test_the_page_accounts_for_every_case",
    "./run": "test_serves_at_the_end_and_stops_on_ctrl_c",
    'cmake --install build --prefix "$PREFIX"': "test_the_program_runs_from_there",
    'cd build && cpack -B "$PREFIX"': "test_cpack_makes_a_package_for_debian_and_an_archive",
    "./run test": "test_nothing_is_written_outside_the_build_folder",
    "./corpus/make_arm64.py": "test_the_dumps_for_arm64_come_out_the_same",
    "./corpus/make_broken.py": "test_broken_files_come_out_the_same",
    "./corpus/make_reference.py": "test_the_generator_gives_the_same_bytes",
    "./corpus/make_reporter.py": "test_what_a_reporter_wrote_comes_out_the_same",
    "./corpus/make_cases.sh": "test_its_cases_are_those_of_the_script",
    "cmake -S capture -B out -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_C_COMPILER=x86_64-w64-mingw32-gcc "
    "-DCMAKE_CXX_COMPILER=x86_64-w64-mingw32-g++ -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_INSTALL_PREFIX=DIR":
        "test_gcc_builds_them_too_and_guards_without_try",
    "ninja -C build && build/tests/seed_store build/made.db 20 200 0": "test_a_bench_does_not_hide_the_run_before_it",
    "build/bin/twinstack serve --db build/made.db": "test_ctrl_c_is_seen_everywhere_and_gone_on_from",
    "node dashboard/web/check/check.mjs --write": "test_all_sources_are_clean",
    "node tests/e2e/test_web_parts.mjs": "test_web_parts.mjs",
    "node tests/e2e/test_web_answers.mjs": "test_web_answers.mjs",
    "node tests/e2e/test_web_refusals.mjs": "test_web_refusals.mjs",
    "cmake -S victims -B build/victims -G Ninja --toolchain $PWD/cmake/wine-clang.cmake": "test_setup_again_does_nothing",
    "ninja -C build/victims": "test_setup_again_does_nothing",
    "twinstack worker --queue spool --symbols symbols --sample 1% --dumps spool/dumps --also 'rust-minidump=minidump-stackwalk --json {dump}'":
        "test_another_resolver_runs_beside_ours",
    "twinstack gate --shadow totals.db --min-agreement 99%": "test_the_gate_asks_for_agreement",
}
# A block with these words is run as a whole by this test.
WHOLE_BLOCK = ("--collect", "test_the_block_works_in_an_empty_folder")
MARK = "--- end of one command ---"


def blocks(name, kind):
    text = (e2e.ROOT / name).read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        if match[2] == kind:
            yield text.count("\n", 0, match.start()) + 1, match[3]


def sessions(block):
    """[(command, expected output)] of a console block; a command goes on after a backslash."""
    found = []
    lines = iter(block.splitlines())
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command = command + "\n" + next(lines)
            found.append((command, []))
        elif found:
            found[-1][1].append(line)
    return [(command, "\n".join(output).strip("\n")) for command, output in found]


def shape(expected):
    """A pattern for output in which "..." matches anything."""
    lines = []
    for line in expected.splitlines():
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(".*".join(re.escape(part.rstrip()) for part in line.split("...")) + r"[ \t]*\n")
    return re.compile("".join(lines))


# Lines on stderr that not every start prints: the first index of an image, and progress on a slow machine.
NOTE = re.compile(r"twinstack: (?:note: \d+ symbol index|.*\d+ of \d+|.*\d+/\d+)")


class Readme(e2e.Case):
    def run_session(self, commands):
        """Runs the commands in one shell; returns the output of each."""
        script = "".join(f"{command}\necho '{MARK}'\n" for command in commands)
        with tempfile.TemporaryDirectory() as scratch:
            env = {**os.environ, "PATH": f"{e2e.PROGRAM.parent}:{os.environ['PATH']}", "SCRATCH": scratch}
            done = subprocess.run(["bash", "-c", f"exec 2>&1\n{script}"], cwd=e2e.ROOT, env=env, timeout=300 * e2e.PATIENCE,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return done.stdout.split(f"{MARK}\n")[:-1]

    def test_console_blocks_print_what_they_show(self):
        tried = 0
        for name in READMES:
            for line, block in blocks(name, "console"):
                pairs = sessions(block)
                outputs = self.run_session([command for command, _ in pairs])
                for (command, expected), output in zip(pairs, outputs, strict=True):
                    tried += 1
                    with self.subTest(place=f"{name}:{line}", command=command):
                        output = "".join(f"{l.rstrip()}\n" for l in output.splitlines() if not NOTE.match(l)).strip("\n") + "\n"
                        if not shape(expected).fullmatch(output if expected else output.strip("\n")):
                            self.fail(f"shown:\n{expected}\nprinted:\n{output}")
        self.assertGreater(tried, 5)

    def workflow(self):
        """Our commands in the CI example: [(command, whether it needs main's runs)]."""
        found, restored = [], False
        for block in (block for _, block in blocks(WORKFLOW, "yaml")):
            for line in map(str.strip, block.splitlines()):
                if line.startswith("- "):
                    restored = False
                restored = restored or "cache-matched-key" in line
                command = re.sub(r"^(- )?run: ", "", line)
                if command.startswith("build/bin/twinstack"):
                    found.append((command, restored))
        return found

    def test_every_other_command_is_tested_elsewhere(self):
        tests = "".join(f.read_text(encoding="utf-8") for f in (e2e.ROOT / "tests/e2e").glob("test_*.py"))
        self.assertIn(f"def {WHOLE_BLOCK[1]}(", tests)
        shown = {re.split(r"\s#\s", command)[0].strip() for name in READMES for _, block in blocks(name, "sh")
                 for command in re.sub(r"\\\n\s*", "", block).splitlines() if WHOLE_BLOCK[0] not in block}
        for command in shown:
            with self.subTest(command=command):
                self.assertTrue(command in ELSEWHERE, f"nothing runs {command}")
                runs = ELSEWHERE[command]
                self.assertTrue((e2e.ROOT / "tests/e2e" / runs).is_file() or f"def {runs}(" in tests, f"there is no {runs}")
        self.assertEqual(set(ELSEWHERE) - shown, set(), "no README shows these")

    def push(self, scratch, number, restored):
        """One push: the commands of the CI example in order, over one scenario and a separate
        database."""
        env = {**os.environ, "GITHUB_STEP_SUMMARY": f"{scratch}/summary.md"}
        (scratch / "summary.md").write_text("", encoding="utf-8")
        for command, needs_main in self.workflow():
            if needs_main and not restored:
                continue
            narrow = f" -k null_write.ob0 --no-judges --out {scratch}/out{number}" if " run " in command else ""
            first, *rest = command.split(" | ")
            line = " | ".join([f"{first} --db {scratch}/{number}.db{narrow}", *rest])
            line = line.replace("build/bin/twinstack", str(e2e.PROGRAM)).replace(" build/", f" {scratch}/")
            done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", line], cwd=e2e.ROOT, env=env, timeout=200 * e2e.PATIENCE,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            # Times on a busy machine are not guaranteed.
            good = (0, 1) if any(word in command for word in (" bench ", " compare ", " gate ")) else (0,)
            self.assertIn(done.returncode, good, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return (scratch / "summary.md").read_text(encoding="utf-8")

    def test_the_workflow_works(self):
        with tempfile.TemporaryDirectory() as folder:
            scratch = pathlib.Path(folder)
            self.assertTrue(self.push(scratch, 1, False).startswith("## "))
            self.assertIn("### 0 new, 0 fixed, 0 changed", self.push(scratch, 2, True))
            runs = self.run_json("report", "--json", "--db", scratch / "2.db")["run"]
            self.assertEqual(runs["label"], "run")
            self.assertEqual(self.run_twinstack("baseline", "show", "--db", scratch / "main.db").stdout, f"{runs['id']}\n")
            self.assertGreater((scratch / "report.html").stat().st_size, 1000)
            self.assertIn("<testsuite", (scratch / "junit.xml").read_text(encoding="utf-8"))


e2e.main()
