"""A case with a database of three made-up runs, for the tests of verbs that read stored runs."""

import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

import e2e

SEED = e2e.BUILD / "tests" / "seed_store"


class Stored(e2e.Case):
    """A database of three runs; incomplete and failing states are written into it by hand."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.db = self.folder / "runs.db"
        if not SEED.exists():
            self.skipTest("seed_store is not built")
        subprocess.run([SEED, self.db, "3", "12", "0"], check=True, capture_output=True)
        self.all("PASS")

    def sql(self, statement, *values):
        with sqlite3.connect(self.db) as db:
            db.execute(statement, values)
        db.close()

    def all(self, verdict):
        self.sql("UPDATE crash_case SET verdict = ?", verdict)
        self.sql("DELETE FROM run_verdict")
        self.sql("INSERT INTO run_verdict SELECT run_id, verdict, count(*) FROM crash_case GROUP BY 1, 2")
        self.sql("UPDATE run SET state = 'complete'")

    def one(self, verdict, signature=None):
        """Gives the first case of the newest run another verdict; returns its name."""
        with sqlite3.connect(self.db) as db:
            case, name = db.execute("SELECT id, scenario || '.' || variant FROM crash_case WHERE run_id = "
                                    "(SELECT max(id) FROM run) ORDER BY id LIMIT 1").fetchone()
            db.execute("UPDATE crash_case SET verdict = ?, signature = ? WHERE id = ?", (verdict, signature, case))
            db.execute("DELETE FROM run_verdict")
            db.execute("INSERT INTO run_verdict SELECT run_id, verdict, count(*) FROM crash_case GROUP BY 1, 2")
        db.close()
        return name

    def run_db(self, *argv, exit_code=0, **more):
        return self.run_twinstack(*argv, "--db", self.db, exit_code=exit_code, **more)
