"""twinstack.exe under Wine: for the same input it prints the same bytes as the Linux program, it gives the same
verdicts for crashes that it captures itself, and its dashboard answers.

It has a Wine prefix to itself.

Only this finds what the program prints, captures or serves otherwise on Windows."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import test_symbol_servers  # noqa: E402

TREE = e2e.BUILD / "windows"
EXE = TREE / "bin/twinstack.exe"
CASES = [f"corpus/cases/{c.name}" for c in sorted((e2e.ROOT / "corpus/cases").iterdir())]
# A few of each kind: crashes, inlining, a hang, a calm program, C++.
NATIVE = ["null_write", "inline_chain", "deadlock", "handled_exception", "abort_call", "throw_uncaught"]
ENV = {**os.environ, "WINEPREFIX": os.environ.get("WINEPREFIX", str(e2e.BUILD / "wine")), "WINEDEBUG": "-all", "LC_ALL": "C.UTF-8",
       "TWINSTACK_CACHE": str(e2e.BUILD / "cache-windows")}


# The loader beside the unpacked 32-bit half starts programs of both sizes, Debian's alone only those of its own.
LOADER = e2e.BUILD / "wine32/usr/lib/wine/wine64"
WINE = LOADER if LOADER.exists() else "wine"


def wine(program, *argv, stdin=b"", limit_s=120, folder=e2e.ROOT):
    return e2e.wine_bytes(program, *argv, loader=(WINE,), stdin=stdin, limit_s=limit_s, folder=folder, env=ENV)


def linux(*argv, stdin=b"", folder=e2e.ROOT):
    """Runs without a PATH, because Debian's judges are not available under Wine."""
    return subprocess.run([str(e2e.PROGRAM), *map(str, argv)], input=stdin, capture_output=True, timeout=120 * e2e.PATIENCE,
                          check=False, cwd=folder, env={**os.environ, "PATH": ""})


@unittest.skipUnless(EXE.exists(), "no twinstack.exe: ./run says at its start why it was not built")
class Windows(e2e.Case):
    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(e2e.wine_session(ENV))

    def same(self, name, *argv, stdin=b""):
        """Runs both programs with the same arguments and compares their exit status and standard output."""
        with self.subTest(name):
            ours, theirs = wine(EXE, *argv, stdin=stdin), linux(*argv, stdin=stdin)
            self.assertEqual(ours.returncode, theirs.returncode, ours.stderr[-800:])
            self.assertEqual(untimed(ours.stdout), untimed(theirs.stdout))
            self.assertGreater(len(theirs.stdout), 20)

    def test_the_same_bytes(self):
        case = CASES[0]
        dump = next((e2e.ROOT / case).glob("*.dmp"))
        stack = b"victims-ob2.exe!0x1530\nntdll.dll!0x10\n"
        self.same("resolve", "resolve", "--symbols", "corpus/symbols", "-", stdin=stack)
        self.same("resolve, NDJSON", "resolve", "--ndjson", "--symbols", "corpus/symbols", "-", stdin=stack)
        self.same("dump", "dump", dump, "--symbols", "corpus/symbols")
        self.same("dump, JSON", "dump", "--json", dump.relative_to(e2e.ROOT), "--symbols", "corpus/symbols")
        self.same("check", "check", "--json", *CASES)
        resolved = linux("resolve", "--ndjson", "--symbols", "corpus/symbols", "-", stdin=stack + b"\n" + stack).stdout
        self.same("signatures", "signatures", "-", stdin=resolved)
        self.same("lines that end with CR LF", "resolve", "--symbols", "corpus/symbols", "-", stdin=stack.replace(b"\n", b"\r\n"))
        self.same("a byte 0x1A is data", "resolve", "--symbols", "corpus/symbols", "-", stdin=b"# \x1a\n" + stack)

    def test_paths_in_any_script_and_of_any_length(self):
        folder = self.folder / "Füße 文字"
        folder.mkdir()
        for name in ["ключ.txt", "a" * 100 + "/" + "b" * 100 + "/" + "c" * 100 + "/stack.txt"]:
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"app.exe!0x1000\n")
            done = wine(EXE, "resolve", file)
            self.assertEqual((done.returncode, done.stdout), (0, linux("resolve", file).stdout), done.stderr)

    def test_crashes_are_taken_into_such_a_folder(self):
        folder = self.folder / "Füße 文字" / ("a" * 100) / ("b" * 100) / ("c" * 100)
        folder.mkdir(parents=True)
        done = wine(EXE, "run", "--victims", e2e.BUILD / "victims/bin", "--variant", "ob2", "-k", "null_write", "-j", "2",
                    "--out", folder / "out", "--db", folder / "база.db", "--json", limit_s=200)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        cases = {c["scenario"]: c["verdict"] for c in json.loads(done.stdout)["cases"]}
        self.assertEqual(set(cases.values()), {"PASS"})
        self.assertTrue((folder / "out/cases/null_write.ob2/record.rec").exists(), done.stderr[-2000:])

    def test_a_file_is_published_again(self):
        database = self.folder / "served.db"
        subprocess.run([e2e.BUILD / "tests/seed_store", database, "1", "2", "3"], check=True, capture_output=True)
        for _ in range(2):
            done = wine(EXE, "db", "publish", self.folder / "published.db", "--db", database)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_wildcards(self):
        done = wine(EXE, "check", "corpus/cases/null_w*")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"null_write", done.stdout)

    def run_native(self, database):
        """Starts eight victims at once; the folder is spelt as only Windows takes it."""
        victims = "Z:" + str(e2e.BUILD / "victims/bin").replace("/", "\\").swapcase() + "\\"
        done = wine(EXE, "run", "--victims", victims, "--variant", "ob2", "-k", " or ".join(NATIVE), "-j", "8",
                    "--out", self.folder / "out", "--db", database, limit_s=400)
        self.assertIn(done.returncode, (0, 1), done.stderr[-2000:])
        return done

    def test_crashes_are_taken_side_by_side_with_the_same_verdicts(self):
        database = self.folder / "native.db"
        done = self.run_native(database)
        first = linux("report", "--json", "--db", database)
        self.assertEqual(first.stderr, b"", done.stderr[-2000:])
        native = json.loads(first.stdout)
        env = {"TWINSTACK_VICTIMS": str(e2e.BUILD / "victims/bin")}
        e2e.twinstack("run", "--variant", "ob2", "-k", " or ".join(NATIVE), "--out", self.folder / "linux", "--db",
                      self.folder / "linux.db", limit_s=400, env=env)
        ours = json.loads(linux("report", "--json", "--db", self.folder / "linux.db").stdout)

        def verdicts(report):
            return {c["scenario"]: c["verdict"] for c in report["cases"]}

        self.assertLessEqual(set(NATIVE), set(verdicts(ours)))
        self.assertEqual(verdicts(native), verdicts(ours))
        judge = next(engine for engine in native["engines"] if engine["engine"] == "judge:dbghelp")
        self.assertEqual(judge["skip_reason"], None)
        self.assertGreaterEqual(judge["stacks"], len(NATIVE) - 1)  # all but a calm program's
        for form in ["--json", "--junit", "--md"]:
            self.same(form, "report", form, "-", "--db", database)

    def test_the_doctor_starts_the_judge(self):
        victims = e2e.BUILD / "victims/bin"
        folder = self.folder / "bin"
        folder.mkdir()
        for name in ("twinstack-launch.exe", "victims-ob2.exe", "victims-ob2.pdb"):
            (folder / name).symlink_to(victims / name)
        judge = folder / "twinstack-dbghelp.exe"
        for what, data, expected in [
            ("the judge", (victims / judge.name).read_bytes(), "ready"),
            ("another program", (victims / "victims-ob2.exe").read_bytes(), "it does not run here"),
            ("no program", b"MZ", "the system refused"),
        ]:
            with self.subTest(what):
                judge.write_bytes(data)
                said = wine(EXE, "doctor", "--victims", folder, "--db", self.folder / "none.db").stdout.decode()
                self.assertRegex(said, rf"judge:dbghelp .*{expected}")

    def test_what_it_started_ends_with_it(self):
        """Also when it is killed while it starts a program. Then a process may be left that Wine's server has dropped before
        its program began: it waits for the server's first answer. One that did begin would be found in the next rounds."""
        others = victims_running()  # such as those of a run in this folder that was killed
        for i in range(8):
            command = [str(WINE), str(EXE), "run", "--victims", str(e2e.BUILD / "victims/bin"), "--variant", "ob2", "-j", "8",
                       "--out", str(self.folder / f"out{i}"), "--db", str(self.folder / f"{i}.db")]
            program = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENV)
            try:
                self.wait_for(lambda: victims_running() - others, "it starts no victim")
                time.sleep(0.1 * i)
            finally:
                program.kill()
                program.wait()
            self.wait_for(lambda: not victims_running(begun=True) - others, "victims go on without it")
        time.sleep(2)
        self.assertEqual(victims_running(begun=True) - others, set(), "victims began without it")
        for process in victims_running() - others:
            os.kill(int(process), signal.SIGKILL)

    def wait_for(self, condition, what):
        end = time.monotonic() + 60 * e2e.PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.05)

    def test_the_dashboard_answers(self):
        database = self.folder / "served.db"
        subprocess.run([e2e.BUILD / "tests/seed_store", database, "2", "4", "10"], check=True, capture_output=True)
        server = subprocess.Popen(["wine", str(EXE), "serve", "--listen", "127.0.0.1:0", "--db", str(database)],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENV, start_new_session=True)
        try:
            base = server.stdout.readline().decode().strip()
            self.assertRegex(base, r"^http://127\.0\.0\.1:\d+")
            for path in ["/", "/api/v1/runs", "/metrics"]:
                with urllib.request.urlopen(base.rstrip("/") + path, timeout=30 * e2e.PATIENCE) as answer:
                    self.assertEqual(answer.status, 200)
                    self.assertGreater(len(answer.read()), 50)
            state = pathlib.Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
            figures = {name: int(re.search(rf"^{name}:\s+(\d+)", state, re.M)[1]) for name in ("Threads", "VmRSS")}
            self.assertLess(figures["Threads"], 150)  # one for each of the connections that it serves at once
            self.assertLess(figures["VmRSS"], 200 << 10, "kilobytes")
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.stdout.close()
            server.wait()


@unittest.skipUnless(EXE.exists(), "no twinstack.exe: ./run says at its start why it was not built")
class SymbolServers(test_symbol_servers.Servers):
    """Symbol servers through WinHTTP, as through libcurl."""
    # Wine asks the same server for a part of the path where a redirection leads to ftp.
    STAYING = test_symbol_servers.Faults.STAYING[:-1]

    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(e2e.wine_session(ENV))

    def run_twinstack(self, *argv, exit_code=0, stdin="", limit_s=120):
        done = wine(EXE, *argv, stdin=stdin.encode(), limit_s=limit_s)
        self.assertEqual(done.returncode, exit_code, done.stderr[-800:])
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    test_layouts = test_symbol_servers.Layouts.test_layouts
    test_a_cut_is_resumed_and_not_begun_again = test_symbol_servers.Faults.test_a_cut_is_resumed_and_not_begun_again
    test_faults_that_pass = test_symbol_servers.Faults.test_faults_that_pass
    test_faults_that_stay = test_symbol_servers.Faults.test_faults_that_stay
    test_a_large_file_is_not_downloaded = test_symbol_servers.Faults.test_a_file_over_the_limit_of_size_is_not_downloaded
    test_stalls_end = test_symbol_servers.Faults.test_stalls_end


def victims_running(begun=False):
    """The processes that are victims and launchers in our Wine prefix; BEGUN: without those that are still Wine's loader, which
    puts the program's own command line in the place of its own."""
    found = set()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words, environment = (process / "cmdline").read_bytes(), (process / "environ").read_bytes()
        except OSError:
            continue  # it has ended
        if re.search(rb"(victims-|twinstack-launch)[^\0]*\0", words) and b"\0WINEPREFIX=%s\0" % ENV["WINEPREFIX"].encode() in b"\0" + environment:
            if not begun or b"wine" not in words.split(b"\0")[0].rsplit(b"/", 1)[-1]:
                found.add(process.name)
    return found


def untimed(text):
    """Blanks what may differ: figures of time and memory, and the reason why there is no judge that is a Windows program."""
    if text.startswith(b"{\n"):
        return steady(json.loads(text))
    text = re.sub(rb'("\w+_(?:ns|bytes|ms)": ?)[0-9.e+-]+', rb"\1#", text)
    return re.sub(rb'("(?:why|reason|skip_reason)": ")[^"]*(?:no launcher|no folder|no files of Microsoft)[^"]*', rb"\1#", text)


def steady(value):
    """A document without its measured values."""
    if isinstance(value, dict):
        return {k: steady(v) for k, v in value.items() if k != "headline" and not re.search(r"_(ns|bytes|ms)$", k)}
    if isinstance(value, list):
        return [steady(v) for v in value]
    return "#" if isinstance(value, str) and re.search("no launcher|no folder|no files of Microsoft", value) else value


if __name__ == "__main__":
    e2e.main(split=True)
