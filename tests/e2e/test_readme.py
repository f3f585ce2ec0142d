"""Every command of the README files is run, and what it prints is what they show.

A fenced block marked `console` is a session: lines that start with "$ " are commands, run in order by one
shell in the source tree with `twinstack` on the PATH; what follows a command is its output (both streams),
where a line "..." stands for any lines and "..." inside a line for any text.  Blocks marked `sh` hold
commands only; those of ./run are tested by test_run.py, which must know each of them.  runs alone"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.S | re.M)
READMES = [p for p in ("README.md", "corpus/README.md", "analyze/README.md", "victims/README.md")
           if (e2e.ROOT / p).exists()]
# Commands of `sh` blocks and of the workflow, each with the test that runs it, here or in another file.
ELSEWHERE = {
    "./run": "test_serves_at_the_end_and_stops_on_ctrl_c",
    "./run test": "test_nothing_is_written_outside_the_build_folder",
    "./run setup": "test_setup_again_does_nothing",
    "./corpus/make_broken.py": "test_broken_files_come_out_the_same",
    "./corpus/make_cases.sh": "test_its_cases_are_those_of_the_script",
    "cmake -S victims -B build/victims -G Ninja --toolchain $PWD/cmake/wine-clang.cmake": "test_setup_again_does_nothing",
    "ninja -C build/victims": "test_setup_again_does_nothing",
    "build/bin/twinstack run --repeat 3": "test_the_workflow_works",
    "build/bin/twinstack db import baseline.db || true": "test_the_workflow_works",
    "build/bin/twinstack gate --min-capture 99% --max-slowdown 5%": "test_the_workflow_works",
    "build/bin/twinstack report --junit build/junit.xml --html build/report.html": "test_the_workflow_works",
}
MARK = "--- end of one command ---"


def blocks(name, kind):
    text = (e2e.ROOT / name).read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        if match[1] == kind:
            yield text.count("\n", 0, match.start()) + 1, match[2]


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
    """A pattern for output in which "..." stands for anything."""
    lines = []
    for line in expected.splitlines():
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(".*".join(re.escape(part.rstrip()) for part in line.split("...")) + r"[ \t]*\n")
    return re.compile("".join(lines))


class Readme(e2e.Case):
    def run_session(self, commands):
        """Runs the commands in one shell; returns the output of each."""
        script = "".join(f"{command}\necho '{MARK}'\n" for command in commands)
        with tempfile.TemporaryDirectory() as scratch:
            env = {**os.environ, "PATH": f"{e2e.PROGRAM.parent}:{os.environ['PATH']}", "SCRATCH": scratch}
            done = subprocess.run(["bash", "-c", f"exec 2>&1\n{script}"], cwd=e2e.ROOT, env=env, timeout=300,
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
                        output = "".join(f"{l.rstrip()}\n" for l in output.splitlines()).strip("\n") + "\n"
                        if not shape(expected).fullmatch(output if expected else output.strip("\n")):
                            self.fail(f"shown:\n{expected}\nprinted:\n{output}")
        self.assertGreater(tried, 5)

    def workflow(self):
        """The commands of the CI example that are ours."""
        lines = [l.strip() for _, block in blocks("README.md", "yaml") for l in block.splitlines()]
        lines = [re.sub(r"^(- )?run: ", "", l) for l in lines]
        return [l for l in lines if l.startswith(("./run", "build/bin/twinstack"))]

    def test_every_other_command_is_tested_elsewhere(self):
        tests = "".join(f.read_text(encoding="utf-8") for f in (e2e.ROOT / "tests/e2e").glob("test_*.py"))
        shown = {command.split("  #")[0].strip() for name in READMES for _, block in blocks(name, "sh")
                 for command in block.splitlines()}
        for command in shown | set(self.workflow()):
            with self.subTest(command=command):
                self.assertTrue(command in ELSEWHERE, f"nothing runs {command}")
                self.assertIn(f"def {ELSEWHERE[command]}(", tests)

    def test_the_workflow_works(self):
        """The commands of the CI example in their order, over one scenario and a database of their own."""
        with tempfile.TemporaryDirectory() as scratch:
            database = ["--db", f"{scratch}/a.db"]
            for line in self.workflow():
                argv = line.replace("build/junit", f"{scratch}/junit").replace("build/report", f"{scratch}/report").split()
                if argv[0] == "./run" or "import" in argv:
                    continue
                narrow = ["-k", "null_write.ob0", "--out", f"{scratch}/out"] if argv[1] == "run" else []
                with self.subTest(command=line):
                    self.run_twinstack(*argv[1:], *database, *narrow, limit_s=200)
            self.run_twinstack("db", "import", f"{scratch}/a.db", "--db", f"{scratch}/b.db")
            self.assertTrue(pathlib.Path(scratch, "report.html").stat().st_size > 1000)
            self.assertIn("<testsuite", pathlib.Path(scratch, "junit.xml").read_text(encoding="utf-8"))


e2e.main()
