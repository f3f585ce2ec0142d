"""Streams of stacks: resolved and counted in one pass, in bounded memory, in parts that add up."""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import record_maker as made  # noqa: E402

SYMBOLS = e2e.ROOT / "corpus/symbols"


def stream(stacks, seed, distinct=200):
    """Stacks of the corpus's programs; most of them recur."""
    rng = random.Random(seed)
    pool = []
    for _ in range(distinct):
        depth = rng.randrange(1, 7)
        pool.append("".join("%s!0x%x\n" % (rng.choice(("victims-ob2.exe", "victims-ob0.exe", "ntdll.dll")), rng.randrange(0x1000, 0x9000))
                            for _ in range(depth)))
    return "".join("> report %d\n%s" % (i, rng.choice(pool)) for i in range(stacks))


class Signatures(e2e.Case):
    def counted(self, text, *options):
        return json.loads(self.run_twinstack("signatures", "--symbols", SYMBOLS, "--json", *options, stdin=text).stdout)

    def test_one_pass_counts_what_the_pipe_counts(self):
        text = stream(3000, 1) + "> bad\nvictims-ob2.exe!0x2000\nno frame\n> empty lines\n\n\nvictims-ob2.exe!0x1234\n"
        resolved = self.run_twinstack("resolve", "--symbols", SYMBOLS, "--ndjson", stdin=text).stdout
        pipe = json.loads(self.run_twinstack("signatures", "-", "--json", stdin=resolved).stdout)
        for jobs in (1, 2, 4):
            with self.subTest(jobs=jobs):
                self.assertEqual(self.counted(text, "-j", jobs)["signatures"], pipe["signatures"])
        self.assertGreater(len(pipe["signatures"]), 50)

    def test_statements_about_modules_apply_to_later_stacks(self):
        text = "victims-ob2.exe!0x2000\n# module victims-ob2.exe - 11111111111111111111111111111111F\n> again\nvictims-ob2.exe!0x2000\n"
        both = {row["signature"] for row in self.counted(text)["signatures"]}
        self.assertEqual(len(both), 2, both)
        self.assertIn("victims-ob2.exe!0x2000", both)  # a PDB of another build names nothing

    def test_a_crash_counts_once_and_as_what_it_is(self):
        crumb = made.captures([0x100, 0x200], [0x110, 0x200])
        none = {"state": made.NOT_APPLICABLE}
        for name, record, want in (
                ("what was captured before is no crash", made.record(made.stack([0x1000, 0x2000]), crumb), {"a.exe!0x1000": 1}),
                ("all walkers of one crash", made.record(*(made.stack([0x1000, 0x2000], walker) for walker in made.WALKERS)), {"a.exe!0x1000": 1}),
                ("another thread comes first", made.record(made.stack([0x3000], thread=9), made.stack([0x1000])), {"a.exe!0x1000": 1}),
                ("x86, which rtl does not walk", made.record(made.stack([], **none), made.stack([0x500], "backtrace"),
                                                             made.stack([0x1000], "framepointer"), machine=0x14C), {"a.exe!0x1000": 1}),
                ("only the last walker has frames", made.record(made.stack([], **none), made.stack([], "framepointer", made.BLOCKED),
                                                                made.stack([0x1000], "backtrace")), {"a.exe!0x1000": 1}),
                ("no walker has", made.record(made.stack([], **none), crumb), {"(no frames)": 1}),
                ("its first frames are the capture's", made.record(made.stack([0x50, 0x60, 0x1000], capture=2)), {"a.exe!0x1000": 1}),
                ("a hang", made.record(made.stack([0x1000]), crumb, kind=made.HANG), {"hang: a.exe!0x1000": 1}),
                ("no crash at all", made.record(crumb, kind=made.ON_DEMAND), {"on demand: a.exe!0x100": 1, "on demand: a.exe!0x110": 1})):
            with self.subTest(name):
                file = self.folder / "made.rec"
                file.write_bytes(record)
                found = self.run_json("signatures", "--json", file)
                self.assertEqual({row["signature"]: row["count"] for row in found["signatures"]}, want)

    def test_bounded_memory_states_its_error(self):
        text = stream(3000, 2)
        exact = {row["signature"]: row["count"] for row in self.counted(text)["signatures"]}
        some = self.counted(text, "--max-signatures", "20")
        self.assertEqual((self.counted(text)["floor"], some["total"], some["stacks"]), (0, 20, 3000))
        self.assertGreater(some["floor"], 0)
        for row in some["signatures"]:
            self.assertLessEqual(row["count"] - row["error"], exact[row["signature"]])
            self.assertLessEqual(exact[row["signature"]], row["count"])
        kept = {row["signature"] for row in some["signatures"]}
        self.assertLessEqual(max(count for name, count in exact.items() if name not in kept), some["floor"])
        self.assertIn("Not exact", self.run_twinstack("signatures", "--symbols", SYMBOLS, "--max-signatures", "20", stdin=text).stdout)

    def test_parts_add_up_in_any_order_and_grouping(self):
        text = stream(2000, 3)
        stacks = text.split("> ")[1:]
        whole = self.counted(text)
        parts = []
        for i in range(5):
            part = self.folder / ("part%d" % i)
            form = ("--format", "columns") if i % 2 else ("--ndjson",)
            part.write_text(self.run_twinstack("signatures", "--symbols", SYMBOLS, "--name", "day %d" % i, *form,
                                               stdin="".join("> " + s for s in stacks[i::5])).stdout)
            parts.append(part)
        merged = self.run_twinstack("signatures", "--merge", *parts, "--format", "columns").stdout
        counts = {row["signature"]: row["count"] for row in self.run_json("signatures", "--merge", *parts, "--json")["signatures"]}
        self.assertEqual(counts, {row["signature"]: row["count"] for row in whole["signatures"]})
        rng = random.Random(4)
        for _ in range(5):
            rng.shuffle(parts)
            group, rest = self.folder / "group", parts[3:]
            group.write_text(self.run_twinstack("signatures", "--merge", *parts[:3], "--format", "columns").stdout)
            self.assertEqual(self.run_twinstack("signatures", "--merge", *rest, group, "--format", "columns").stdout, merged)
        joined = self.folder / "joined"
        joined.write_text("".join(part.read_text() for part in parts))
        self.assertEqual(self.run_twinstack("signatures", "--merge", joined, "--format", "columns").stdout, merged)

    def test_lines_of_json_may_be_divided_anywhere(self):
        """What Hadoop streaming and Spark do: each part of the lines goes through a filter of its own, and some parts are empty."""
        rng = random.Random(7)
        lines = [json.dumps({"schema_version": 1, "label": f"r{i}", "modules": [{"index": 0, "name": "victims-ob2.exe"}],
                             "threads": [{"id": 1, "frames": [{"module": 0, "offset": hex(rng.randrange(0x1000, 0x4000, 0x40)),
                                                               "kind": "interrupted"}]}]}) + "\n" for i in range(600)]
        whole = self.counted("".join(lines))
        cuts = sorted(rng.sample(range(600), 4))
        parts = [lines[a:b] for a, b in zip([0, 0, *cuts], [0, *cuts, 600])]
        self.assertEqual(parts[0], [])
        files = []
        for i, part in enumerate(parts):
            files.append(self.folder / f"part-{i:05}")
            files[-1].write_text(self.run_twinstack("signatures", "--symbols", SYMBOLS, "--format", "columns", stdin="".join(part)).stdout)
        merged = self.run_json("signatures", "--merge", *files, "--json")
        self.assertEqual(merged["stacks"], 600)
        self.assertEqual([(r["signature"], r["count"]) for r in merged["signatures"]], [(r["signature"], r["count"]) for r in whole["signatures"]])

    def test_output_for_machines_is_compact(self):
        text = stream(500, 5)
        lines = self.run_twinstack("signatures", "--symbols", SYMBOLS, "--ndjson", stdin=text).stdout.splitlines()
        head, *rows = [json.loads(line) for line in lines]
        self.assertEqual((head["stacks"], head["total"]), (500, len(rows)))
        self.assertFalse([row for row in rows if None in row.values()])
        top = json.loads(self.run_twinstack("signatures", "--symbols", SYMBOLS, "--ndjson", "--top", "3", stdin=text).stdout.splitlines()[0])
        self.assertEqual(top["floor"], rows[3]["count"])

    def test_what_cannot_be_done_is_said(self):
        damaged = self.folder / "damaged"
        damaged.write_text("#signatures\t1\t5\t9\t0\t0\t\t\t\n")
        for argv, code in ((["--merge"], 2), (["--format", "xml", "--symbols", SYMBOLS], 2), (["-j", "0", "--symbols", SYMBOLS], 2),
                           (["--index", "perhaps", "--symbols", SYMBOLS], 2), (["--merge", damaged], 3), (["--symbols", "no-such-folder"], 3),
                           (["--symbols", SYMBOLS, "no-such-file"], 3), (["--symbols", SYMBOLS], 5)):
            with self.subTest(argv=argv):
                self.run_twinstack("signatures", *argv, stdin="", exit_code=code)


@unittest.skipUnless(shutil.which("parallel"), "GNU parallel is not installed")
class Parallel(e2e.Case):
    """The filter as a worker of GNU parallel: it reads a piece and writes a partial result."""

    def test_a_killed_job_is_repeated_and_counts_once(self):
        text = stream(4000, 6)
        worker = self.folder / "worker"
        worker.write_text(f"""#!/bin/sh
if mkdir "{self.folder}/killed" 2>/dev/null; then kill -9 $$; fi
exec "{e2e.PROGRAM}" signatures --symbols "{SYMBOLS}" --format columns
""")
        worker.chmod(0o755)
        done = subprocess.run(["parallel", "--pipe", "--block", "20k", "--recstart", "> report", "--retries", "3", "-j", "2", worker],
                              input=text, capture_output=True, text=True, timeout=60 * e2e.PATIENCE, check=False, env={**os.environ, "HOME": str(self.folder)})
        self.assertTrue((self.folder / "killed").is_dir())
        self.assertEqual(done.returncode, 0, done.stderr)
        parts = self.folder / "parts"
        parts.write_text(done.stdout)
        self.assertGreater(done.stdout.count("#signatures"), 3)
        merged = self.run_json("signatures", "--merge", parts, "--json")
        whole = json.loads(self.run_twinstack("signatures", "--symbols", SYMBOLS, "--json", stdin=text).stdout)
        self.assertEqual(merged["stacks"], 4000)
        self.assertEqual([(r["signature"], r["count"]) for r in merged["signatures"]], [(r["signature"], r["count"]) for r in whole["signatures"]])


if __name__ == "__main__":
    e2e.main()
