#!/usr/bin/env python3
"""Sends stacks through collector, JetStream, workers and reducer, and measures time, memory and disk.

    bench_pipeline.py BUILD [--stacks N] [--report N] [--workers N] [--queue nats|folder] [--work FOLDER] [--clients N] [--senders N]

Each stack has four frames at random addresses of a program in the corpus; 1 % of the stacks are distinct.
Prints the rates, the bytes on disk, and the processor seconds and memory of each process.  Memory is printed
at a quarter of the way and at the end, because it must not grow.  --clients N sends from so many threads, each over a connection
that it keeps: reports of one stack come like this.  --senders N is for programs of the time when a sender had no rate of its own:
so many take turns.  Fails unless every acknowledged stack is
counted exactly once: each signature must have the count that `signatures` prints."""

import argparse
import http.client
import json
import os
import pathlib
import queue
import random
import shutil
import subprocess
import sys
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import demo_stream  # noqa: E402

SYMBOLS = demo_stream.ROOT / "corpus/symbols"
ENVIRONMENT = {**os.environ, "TWINSTACK_SYSTEM_SYMBOLS": "0"}


def make_pool(rng, distinct):
    return ["".join("victims-ob2.exe!0x%x\n" % rng.randrange(0x1000, 0x9000) for _ in range(4)) for _ in range(distinct)]


def bodies(options):
    """Yields the reports, always the same ones."""
    rng = random.Random(19)
    pool = make_pool(rng, max(1, options.stacks // 100))
    for first in range(0, options.stacks, options.report):
        count = min(options.report, options.stacks - first)
        yield "".join("> %d\n%s" % (i, stack) for i, stack in enumerate(rng.choices(pool, k=count), first)).encode()


class Client(threading.Thread):
    """Takes reports from a queue and sends each until it is acknowledged."""

    def __init__(self, address, waiting, senders):
        super().__init__(daemon=True)
        self.link = http.client.HTTPConnection(address.removeprefix("http://"), timeout=120)
        self.waiting, self.senders = waiting, senders
        self.start()

    def run(self):
        while (report := self.waiting.get()) is not None:
            while not self.post(*report):
                time.sleep(0.2)

    def post(self, number, body):
        try:
            self.link.request("POST", f"/api/v1/reports?id=r{number}", body, {"X-Token": token(number % self.senders)})
            answer = self.link.getresponse()
            answer.read()
            return answer.status == 200
        except (OSError, http.client.HTTPException):
            self.link.close()
            return False


def token(sender):
    return f"{demo_stream.TOKEN}{sender}"


def counted(address, limit=1):
    with urllib.request.urlopen(f"{address}/api/v1/problems?limit={limit}", timeout=60) as answer:
        return json.load(answer)["data"]


def memory_mb(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if line.startswith(("VmHWM", "VmRSS"))}


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def disk_bytes(folder):
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_blocks * 512 if path.is_file() else 0
        except FileNotFoundError:
            pass
    return total


def start_all(options, folder, started):
    where = demo_stream.start_queue(folder, started) if options.queue == "nats" else str(folder / "spool")
    names = {"JetStream": started[0]} if started else {}
    rate = " 60000000" if options.senders == 1 else ""
    (folder / "senders").write_text("".join(f"bench{number} {token(number)}{rate}\n" for number in range(options.senders)))
    names["collector"] = subprocess.Popen(
        [demo_stream.PROGRAM, "serve", "--wait", "--db", folder / "runs.db", "--listen", "127.0.0.1:0", "--collect", "--senders", folder / "senders",
         "--queue", where, "--spool", folder / "spool", "--totals", folder / "totals.db"], stdout=subprocess.PIPE, text=True)
    started.append(names["collector"])
    address = names["collector"].stdout.readline().strip().split("#")[0].rstrip("/")
    for i in range(options.workers):
        names[f"worker {i + 1}"] = subprocess.Popen([demo_stream.PROGRAM, "worker", "--queue", where, "--symbols", SYMBOLS], env=ENVIRONMENT)
    names["reducer"] = subprocess.Popen([demo_stream.PROGRAM, "reduce", "--queue", where, "--totals", folder / "totals.db"])
    started.extend(process for name, process in names.items() if name.startswith(("worker", "reducer")))
    return address, names


def expected(options):
    """Counts the same stacks in one process.  Returns {signature: count}."""
    one = subprocess.Popen([demo_stream.PROGRAM, "signatures", "--symbols", SYMBOLS, "--ndjson"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           env=ENVIRONMENT)
    for body in bodies(options):
        one.stdin.write(body)
    one.stdin.close()
    rows = [json.loads(line) for line in one.stdout][1:]
    one.wait()
    return {row["signature"]: row["count"] for row in rows}


def run(options, folder, started):
    address, names = start_all(options, folder, started)
    begun, quarter, most_disk, next_look = time.monotonic(), {}, 0, 0
    waiting = queue.Queue(2 * options.clients)
    clients = [Client(address, waiting, options.senders) for _ in range(options.clients)]
    for number, body in enumerate(bodies(options)):
        waiting.put((number, body))
        if time.monotonic() > next_look:
            most_disk, next_look = max(most_disk, disk_bytes(folder)), time.monotonic() + 1
        if not quarter and (number + 1) * options.report >= options.stacks // 4:
            quarter = {name: memory_mb(p.pid)["VmRSS"] for name, p in names.items()}
    for _ in clients:
        waiting.put(None)
    for client in clients:
        client.join()
    stored = time.monotonic() - begun
    while (data := counted(address))["stacks"] < options.stacks:
        time.sleep(0.1)
        if time.monotonic() > next_look:
            most_disk, next_look = max(most_disk, disk_bytes(folder)), time.monotonic() + 5
            print(f"bench_pipeline: {data['stacks']:,} counted", file=sys.stderr)
    done = time.monotonic() - begun
    print(f"{options.stacks:,} stacks in {-(-options.stacks // options.report)} reports, {options.workers} workers: stored after {stored:.1f} s, counted after "
          f"{done:.1f} s ({options.stacks / done:,.0f} stacks/s), {data['total']:,} signatures\n")
    page_ms = []
    for limit in (50, 500):
        before = cpu_s(names["collector"].pid), time.monotonic()
        for _ in range(5):
            counted(address, limit)
        page_ms.append((cpu_s(names["collector"].pid) - before[0]) * 200)
    print("| process | processor s | µs per report | MB at a quarter | MB at the end | peak MB |\n|---|---|---|---|---|---|")
    for name, process in names.items():
        memory = memory_mb(process.pid)
        per_report = cpu_s(process.pid) * 1e6 / -(-options.stacks // options.report)
        print(f"| {name} | {cpu_s(process.pid):.1f} | {per_report:.0f} | {quarter[name]:.0f} | {memory['VmRSS']:.0f} | {memory['VmHWM']:.0f} |")
    totals = disk_bytes(folder) - disk_bytes(folder / "jetstream") - disk_bytes(folder / "spool")
    print(f"\nDisk: at most {most_disk / 1e6:.0f} MB, of which the totals at the end {totals / 1e6:.1f} MB ({totals / options.stacks:.2f} bytes per stack)")
    print(f"The page takes {page_ms[0]:.0f} ms of the collector's processor with 50 problems, {page_ms[1]:.0f} with 500")
    found = {row["signature"]: row["count"] for row in counted(address, 500)["problems"]}
    wanted = expected(options)
    wrong = [name for name, count in found.items() if wanted.get(name) != count]
    print(f"Exactly once: {data['stacks']:,} of {options.stacks:,}; {len(found) - len(wrong)} of {len(found)} signatures with the count of one process")
    return 0 if not wrong and data["stacks"] == options.stacks and data["total"] == len(wanted) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--stacks", type=int, default=100000)
    parser.add_argument("--report", type=int, default=100000, help="stacks per report")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--queue", choices=("nats", "folder"), default="nats")
    parser.add_argument("--work", default="build/bench")
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--senders", type=int, default=1)
    options = parser.parse_args()
    demo_stream.PROGRAM = pathlib.Path(options.build).resolve() / "bin" / "twinstack"
    folder = pathlib.Path(options.work).resolve() / "pipeline"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    started = []
    try:
        return run(options, folder, started)
    finally:
        for process in reversed(started):
            process.terminate()
        for process in reversed(started):
            process.wait(30)


if __name__ == "__main__":
    sys.exit(main())
