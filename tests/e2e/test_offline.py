"""`--offline` asks no symbol server, whatever the verb; has a Wine prefix to itself.

Each row is run twice: with `--offline`, where the server must get no request, and without, where it must
get one, or the row would show nothing."""

import json
import os
import pathlib
import re
import shutil
import sys
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import stored  # noqa: E402
import stream_pipeline  # noqa: E402
from symbol_server import SymbolServer  # noqa: E402

VICTIMS = pathlib.Path(os.environ.get("TWINSTACK_VICTIMS", e2e.BUILD / "victims")) / "bin"
PREFIX = os.environ.get("WINEPREFIX", str(e2e.BUILD / "wine"))
CASE = e2e.ROOT / "corpus/cases/null_write.ob2"
STATES = e2e.ROOT / "corpus/steps"
STACK = "sigsegv.exe!0x1006 {7DD47A9FC2E8499AA78EC14AE2C965A21}\n"


class Asked:
    """For a test case: a server that has no file, and the two runs of a row."""

    def start_symbols(self):
        self.symbols = SymbolServer(self.folder / "none")
        self.symbols.__enter__()
        self.addCleanup(self.symbols.__exit__)
        return f"srv*{self.folder / 'cache'}*{self.symbols.url}"

    def both(self, work):
        """Calls WORK(options), first with --offline."""
        work(["--offline"])
        self.assertEqual(self.symbols.asked, [], "with --offline")
        work([])
        self.assertNotEqual(self.symbols.asked, [], "without --offline: the row would show nothing")


class Verbs(Asked, e2e.Case):
    ROWS = {
        "resolve": ["resolve", "--symbols", "PATH"],
        "resolve, many at once": ["resolve", "--symbols", "PATH", "-j", "2"],
        "resolve, addresses": ["resolve", "--addresses", "--symbols", "PATH"],
        "resolve, of the environment": ["resolve"],
        "signatures": ["signatures", "--symbols", "PATH"],
        "dump": ["dump", "DUMP", "--stacks", "--symbols", "PATH"],
        "symbols fetch, a stack": ["symbols", "fetch", "--stack", "STACK", "--symbols", "PATH"],
        "symbols fetch, a dump": ["symbols", "fetch", "--dump", "DUMP", "--symbols", "PATH"],
        "check": ["check", CASE, "--symbols", "PATH"],
        "steps": ["steps", "STATES", "--symbols", "PATH"],
    }

    def test_no_verb_with_the_option_is_left_out(self):
        verbs = re.findall(r"^  ([a-z]+) +\S", self.run_twinstack("--help").stdout, re.M)
        having = {verb for verb in verbs if "--offline" in self.run_twinstack(verb, "--help").stdout}
        self.assertEqual(having, {row[0] for row in self.ROWS.values()} | {"run", "regrade", "worker", "serve"})

    def test_every_verb(self):
        words = {"DUMP": self.fixture("g13-sigsegv-x64/sigsegv.dmp"), "STACK": self.folder / "stack.txt",
                 "STATES": sorted(path for path in STATES.iterdir() if path.is_file())[0]}
        words["STACK"].write_text(STACK)
        for name, row in self.ROWS.items():
            with self.subTest(name):
                shutil.rmtree(self.folder / "cache", ignore_errors=True)
                path = self.start_symbols()
                argv = [{**words, "PATH": path}.get(word, word) for word in row]
                env = {} if "PATH" in row else {"TWINSTACK_SYMBOLS": path, "TWINSTACK_SYSTEM_SYMBOLS": "1"}
                self.both(lambda more, argv=argv, env=env: self.assertNotEqual(
                    self.run_twinstack(*argv, *more, stdin=STACK, env=env, exit_code=None).returncode, 2))

    def test_run(self):
        if not shutil.which("wine") or not (VICTIMS / "victims-ob2.exe").is_file():
            self.skipTest("no Wine, or the Windows programs are not built")
        path = self.start_symbols()
        victims = self.folder / "victims"  # without the PDB, so that the server is asked for it
        shutil.copytree(VICTIMS, victims, ignore=shutil.ignore_patterns("victims-[!o]*", "victims-o[!b]*", "*-ob2.pdb"))
        self.both(lambda more: self.assertIn(self.run_twinstack(
            "run", "--variant", "ob2", "-k", "null_write", "--victims", victims, "--prefix", PREFIX, "--no-judges", "--out",
            self.folder / f"out{len(more)}", "--db", self.folder / "runs.db", "--symbols", path, *more, exit_code=None,
            limit_s=240).returncode, (0, 1)))


class Regrade(Asked, stored.Stored):
    def test_regrade(self):
        self.sql("UPDATE crash_case SET folder = ?, scenario = 'null_write', variant = 'ob2' WHERE id = "
                 "(SELECT max(id) FROM crash_case)", str(CASE))
        path = self.start_symbols()
        self.both(lambda more: self.run_db("regrade", "--dry", "-k", "null_write.ob2", "--exit-zero", "--symbols", path, *more))


class Reports(Asked, stream_pipeline.Pipeline):
    def test_worker(self):
        path = self.start_symbols()
        self.start_server()

        def work(more):
            self.assertEqual(self.post(f"id=r{len(more)}", STACK), 200)
            self.run_twinstack("worker", "--queue", self.queue, "--symbols", path, "--idle", "500ms", *more)
        self.both(work)

    def test_page(self):
        path = self.start_symbols()

        def work(more):
            self.start_server("--symbols", path, *more)
            request = urllib.request.Request(f"{self.address}/api/v1/resolve", data=STACK.encode(), method="POST")
            with urllib.request.urlopen(request, timeout=20 * e2e.PATIENCE) as answer:
                self.assertEqual(len(json.loads(answer.read())["data"]["stacks"]), 1)
            self.end_all()
        self.both(work)


e2e.main()
