"""A database of made-up runs, and what the faces say of it: the command line, and a dashboard."""

import contextlib
import json
import re
import sqlite3
import subprocess
import urllib.request

import e2e

SEED = e2e.BUILD / "tests" / "seed_store"


class Case(e2e.Case):
    def seed(self, runs, cases, big, *more):
        self.db = self.folder / "runs.db"
        if not SEED.exists():
            self.skipTest("seed_store is not built")
        self.db.unlink(missing_ok=True)
        subprocess.run([SEED, self.db, str(runs), str(cases), str(big), *more], check=True, capture_output=True)

    def sql(self, statement, *values):
        with contextlib.closing(sqlite3.connect(self.db)) as db, db:
            return db.execute(statement, values).fetchall()

    def run_db(self, *argv, exit_code=0):
        return self.run_twinstack(*argv, "--db", self.db, exit_code=exit_code, limit_s=120)

    def make_sums(self):
        """The sums of stored runs are made again, as by an upgrade, after their cases were changed; also what pages show."""
        undo = (e2e.ROOT / "tests/lib/old_store.h").read_text(encoding="utf-8").split("#define UNDO_VERSION_14")[0]
        with contextlib.closing(sqlite3.connect(self.db)) as db, db:
            db.executescript("".join(re.findall(r'"([^"]*)"', undo)))
        self.run_db("db", "upgrade")

    @contextlib.contextmanager
    def dashboard(self):
        """Serves this database; yields a function that fetches the document at a path."""
        server = subprocess.Popen([e2e.PROGRAM, "serve", "--db", self.db, "--listen", "127.0.0.1:0"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            url = server.stdout.readline().strip()

            def get(path):
                with urllib.request.urlopen(url.rstrip("/") + path, timeout=60 * e2e.PATIENCE) as answer:
                    text = answer.read().decode()
                return json.loads(text)["data"] if path.startswith("/api/") else text
            get.url = url
            yield get
        finally:
            server.terminate()
            server.wait(timeout=20 * e2e.PATIENCE)
            server.stdout.close()
