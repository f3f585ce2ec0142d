#!/usr/bin/python3
"""Kills queue, collectors, workers and reducer 1,000 times while reports of all sizes come, and compares the totals with what one machine counts.

    stream_kills.py [Folder|Nats]      TWINSTACK_KILLS=N: so many kills; TWINSTACK_SEED=N: the same moments and reports again

`./run soak stream` runs it. Two collectors share the queue, three workers and a reducer; six senders send each report until it is acknowledged, and
some of them to both collectors. No acknowledged stack may be lost or doubled, and nothing may be buried."""

import collections
import contextlib
import http.client
import os
import pathlib
import random
import sys
import threading
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
import e2e  # noqa: E402
import stream_pipeline  # noqa: E402

KILLS = int(os.environ.get("TWINSTACK_KILLS", "1000"))
SENDERS = 6


class Kills:
    def test_no_stack_is_lost_or_doubled(self):
        seed = int(os.environ.get("TWINSTACK_SEED", 0)) or int.from_bytes(os.urandom(4))
        print(f"random numbers: TWINSTACK_SEED={seed}", flush=True)
        rng = random.Random(seed)
        (self.folder / "senders").write_text(f"alice {stream_pipeline.TOKEN} 6000000\n")
        self.servers, self.addresses, self.texts, self.again, self.is_over = [None, None], [None, None], [], 0, False
        self.restart_server(0)
        self.restart_server(1)
        workers, reducer = [self.start_worker() for _ in range(3)], self.start_reducer()
        senders = [threading.Thread(target=self.send_all, args=(number, random.Random(seed + number))) for number in range(SENDERS)]
        for sender in senders:
            sender.start()
        kills, begun = collections.Counter(), time.monotonic()
        victims = ("worker", "worker", "reducer", "server", "server", "queue") if not self.queue_is_folder else ("worker", "reducer", "server")
        while kills.total() < KILLS:
            time.sleep(rng.random() * rng.choice((0.01, 0.1)))
            victim = rng.choice(victims)
            kills[victim] += 1
            if victim == "worker":
                at = rng.randrange(len(workers))
                self.end(workers[at])
                workers[at] = self.start_worker()
            elif victim == "reducer":
                self.end(reducer)
                reducer = self.start_reducer()
            elif victim == "server":
                self.restart_server(rng.randrange(2))
            else:
                self.kill_queue()
        self.is_over = True
        for sender in senders:
            sender.join(120 * e2e.PATIENCE)
        self.end_leases()
        self.address = self.addresses[0]
        self.wait_for(sum(text.count("> ") for text in self.texts), 300)
        data = self.problems("?limit=500")
        self.assertEqual(self.counted(data), self.expected(self.texts))
        self.assertIn('twinstack_queue_pending{channel="dead"} 0\n', self.get("/metrics"))
        print(f"{type(self).__name__}: {kills.total()} kills {dict(kills)} in {time.monotonic() - begun:.0f} s: {data['stacks']} stacks of {len(self.texts)} reports "
              f"counted once, {data['reports']} results; {self.again} sent again", flush=True)

    def end(self, process):
        process.kill()
        process.wait()
        self.started.remove(process)

    def restart_server(self, number):
        if self.servers[number]:
            self.end(self.servers[number])
            self.servers[number].stdout.close()
        self.servers[number] = self.start_server()
        self.addresses[number] = self.address

    def send_all(self, number, rng):
        count = 0
        while not self.is_over:
            stacks = rng.choice((1, 1, 1, 1, 2, 5, 200, 3000))
            text = "".join("> %d\nvictims-ob2.exe!0x%x\n" % (i, rng.randrange(0x1000, 0x4000, 0x100)) for i in range(stacks))
            count += 1
            while not self.is_taken(f"id=k{number}-{count}", text, rng):
                self.again += 1
                time.sleep(0.02)
            if rng.random() < 0.1:  # a second time, to any collector
                self.is_taken(f"id=k{number}-{count}", text, rng)
            self.texts.append(text)
            time.sleep(0.01 * stacks ** 0.5)

    def is_taken(self, query, text, rng):
        request = urllib.request.Request(f"{rng.choice(self.addresses)}/api/v1/reports?{query}", data=text.encode(), headers={"X-Token": stream_pipeline.TOKEN},
                                         method="POST")
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
