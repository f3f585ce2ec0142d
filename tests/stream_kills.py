#!/usr/bin/python3
"""Kills queue, collectors, workers and reducer 1,000 times while reports of all sizes come, and compares the totals with what one machine counts.

    stream_kills.py [Folder|Nats]      TWINSTACK_KILLS=N: so many kills; TWINSTACK_SEED=N: the same moments and reports again
    TWINSTACK_OTHER=COMMIT stream_kills.py     an upgrade from that version, which is built first, while all goes on; or the path of its program

`./run soak stream` runs it. Two collectors share the queue, three workers and a reducer; three senders, of four threads each, send each report until it
is acknowledged, and some of them to both collectors. No acknowledged stack may be lost or doubled, and nothing may be buried. Reports of one sender that
come at once go in groups, of which some are divided; large records go in parts, large texts in pieces.

An upgrade has four parts, in the order of analyze/stream/README.md: any version of workers and of the reducer; the new reducer; new collectors, while
some workers are old; all is new. In the first two, each process that is started is of a version that chance chooses."""

import collections
import contextlib
import http.client
import json
import os
import pathlib
import random
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
import e2e  # noqa: E402
import stream_pipeline  # noqa: E402

KILLS = int(os.environ.get("TWINSTACK_KILLS", "1000"))
OTHER = os.environ.get("TWINSTACK_OTHER")
SENDERS, THREADS = 3, 4
RECORD = (e2e.ROOT / "corpus/cases/null_write.ob2/record.rec").read_bytes()
NEW, OLD, ANY = "new", "old", "any"
UPGRADE = ({"worker": ANY, "reducer": ANY, "server": OLD}, {"worker": ANY, "reducer": NEW, "server": OLD},
           {"worker": ANY, "reducer": NEW, "server": NEW}, {"worker": NEW, "reducer": NEW, "server": NEW})
ALL_NEW = UPGRADE[-1:]


def other_program():
    """That of the version OTHER, built unless it is a program."""
    if not OTHER or pathlib.Path(OTHER).is_file():
        return OTHER
    place = e2e.BUILD / "soak" / f"other-{OTHER}"
    place.mkdir(parents=True, exist_ok=True)
    tree = subprocess.run(["git", "archive", OTHER], cwd=e2e.ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x"], cwd=place, input=tree, check=True)
    log = {"stdout": sys.stderr, "check": True}
    subprocess.run(["cmake", "-G", "Ninja", "-S", place, "-B", place / "build", f"-DTWINSTACK_ARCHIVES={e2e.BUILD / 'archives'}"], **log)
    subprocess.run(["ninja", "-C", place / "build", "twinstack"], **log)
    return str(place / "build/bin/twinstack")


class Kills:
    lock = threading.Lock()  # guards texts and records

    def test_no_stack_is_lost_or_doubled(self):
        seed = int(os.environ.get("TWINSTACK_SEED", 0)) or int.from_bytes(os.urandom(4))
        print(f"random numbers: TWINSTACK_SEED={seed}", flush=True)
        rng = random.Random(seed)
        self.is_over = self.is_failed = False
        self.token = os.urandom(12).hex()  # a collector of another run may get the port of one that is dead here
        self.write_senders("" if OTHER else " 6000000")  # an old version may know no rates; then the senders are slower
        self.servers, self.addresses, self.texts, self.records, self.again = [None, None], [None, None], [], 0, 0
        self.rng, self.other, self.starts = rng, other_program(), collections.Counter()
        parts = UPGRADE if self.other else ALL_NEW
        self.versions = parts[0]
        self.restart_server(0)
        self.restart_server(1)
        workers, reducer = [self.start_one("worker") for _ in range(3)], self.start_one("reducer")
        self.senders = [threading.Thread(target=self.send_all, args=(number, random.Random(seed + number))) for number in range(SENDERS * THREADS)]
        self.addCleanup(self.end_senders)  # however this ends
        for sender in self.senders:
            sender.start()
        kills, begun = collections.Counter(), time.monotonic()
        victims = ("worker", "worker", "reducer", "server", "server", "queue") if not self.queue_is_folder else ("worker", "reducer", "server")
        while kills.total() < KILLS:
            time.sleep(rng.random() * rng.choice((0.01, 0.1)))
            if (versions := parts[kills.total() * len(parts) // KILLS]) is not self.versions:
                self.end(reducer)
                self.upgrade(versions)
                reducer = self.start_one("reducer")
            victim = rng.choice(victims)
            kills[victim] += 1
            if victim == "worker":
                at = rng.randrange(len(workers))
                self.end(workers[at])
                workers[at] = self.start_one("worker")
            elif victim == "reducer":
                self.end(reducer)
                reducer = self.start_one("reducer")
            elif victim == "server":
                self.restart_server(rng.randrange(2))
            else:
                self.kill_queue()
        if self.other:  # old workers leave what new collectors wrote: the last of them end
            for worker in workers:
                self.end(worker)
            workers = [self.start_one("worker") for _ in workers]
        self.is_over = True
        for sender in self.senders:
            sender.join(120 * e2e.PATIENCE)
            self.assertFalse(sender.is_alive(), "a report is not taken")
        self.end_leases()
        self.address = self.addresses[0]
        self.wait_for(sum(text.count("> ") for text in self.texts) + self.records, 300)
        data = self.problems("?limit=500")
        counted = self.counted(data)
        self.assertEqual(sum(counted.pop(name) for name in list(counted) if "poke" in name), self.records)
        self.assertEqual(counted, self.expected(self.texts))
        letters = self.check_letters()
        shapes = {**self.shapes(), "letters": letters}
        self.assertTrue(shapes["groups"] and shapes["later pieces"], shapes)
        print(f"{type(self).__name__}: {kills.total()} kills {dict(kills)} in {time.monotonic() - begun:.0f} s: {data['stacks']} stacks of {len(self.texts)} texts and {self.records} large records "
              f"counted once, {data['reports']} results, {shapes}; {self.again} sent again" + (f"; started: {dict(sorted(self.starts.items()))}" if self.other else ""), flush=True)

    def check_letters(self):
        """There are none, but in an upgrade those of records that were counted: an old worker left no mark of it when it removed their parts."""
        listed = json.loads(self.run_twinstack("queue", "list", "--queue", self.queue, "--json").stdout)
        others = [letter for letter in listed["letters"] if not self.other or "parts of it are missing" not in letter["reason"]]
        self.assertEqual(others, [])
        return len(listed["letters"])

    def shapes(self):
        """How often what is the hardest to count once has come."""
        with contextlib.closing(sqlite3.connect(self.totals)) as totals:
            return {name: totals.execute("SELECT count(*) FROM report WHERE id LIKE ?", (like,)).fetchone()[0]
                    for name, like in (("groups", "-g%"), ("reports of divided groups", "-m%"), ("later pieces", "-1-%"))}

    def write_senders(self, rate):
        (self.folder / "senders").write_text("".join(f"sender{number} {self.token}{number}{rate}\n" for number in range(SENDERS)))

    def end_senders(self):
        """Of a run that failed: they would never have an answer, and their process would not end."""
        self.is_over = self.is_failed = True
        for sender in self.senders:
            sender.join(60 * e2e.PATIENCE)

    def start_one(self, role):
        """A process of a version that it may have now."""
        version = self.versions[role]
        is_old = version == OLD or (version == ANY and self.rng.random() < 0.5)
        self.twinstack_program = self.other if is_old else e2e.PROGRAM
        self.starts[f"{OLD if is_old else NEW} {role}"] += 1
        return {"worker": self.start_worker, "reducer": self.start_reducer, "server": self.start_server}[role]()

    def upgrade(self, versions):
        """Old collectors end before the first new one starts. What they took without an answer is sent to these again."""
        is_collector = versions["server"] != self.versions["server"]
        self.versions = versions
        if is_collector:
            for number in range(2):
                self.end_server(number)
            self.write_senders(" 6000000")
            for number in range(2):
                self.restart_server(number)

    def end(self, process):
        process.kill()
        process.wait()
        self.started.remove(process)

    def end_server(self, number):
        if self.servers[number]:
            self.end(self.servers[number])
            self.servers[number].stdout.close()
            self.servers[number] = None

    def restart_server(self, number):
        self.end_server(number)
        self.servers[number] = self.start_one("server")
        self.addresses[number] = self.address

    def send_all(self, number, rng):
        count = 0
        while not self.is_over:
            count += 1
            is_record = rng.random() < 0.03
            stacks = 1 if is_record else 45000 if rng.random() < 0.01 else rng.choice((1, 1, 1, 1, 2, 5, 200, 3000))  # the largest goes in pieces
            text = RECORD + b"%08d " % count * 120000 if is_record else "".join(
                "> %d\nvictims-ob2.exe!0x%x\n" % (i, rng.randrange(0x1000, 0x4000, 0x100)) for i in range(stacks)).encode()
            while not self.is_taken(number, f"id=k{number}-{count}", text, rng):
                if self.is_failed:
                    return
                self.again += 1
                time.sleep(0.02)
            if rng.random() < 0.1:  # a second time, to any collector
                self.is_taken(number, f"id=k{number}-{count}", text, rng)
            with self.lock:
                self.records += is_record
                self.texts += [] if is_record else [text.decode()]
            time.sleep(0.01 * stacks ** 0.5)

    def is_taken(self, sender, query, text, rng):
        request = urllib.request.Request(f"{rng.choice(self.addresses)}/api/v1/reports?{query}", data=text,
                                         headers={"X-Token": f"{self.token}{sender % SENDERS}"}, method="POST")
        with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError, http.client.HTTPException), \
                urllib.request.urlopen(request, timeout=20 * e2e.PATIENCE) as answer:
            return answer.status == 200
        return False


class Folder(Kills, stream_pipeline.Pipeline):
    pass


class Nats(Kills, stream_pipeline.OverNats, stream_pipeline.Pipeline):
    pass


if __name__ == "__main__":
    e2e.main()
