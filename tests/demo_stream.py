#!/usr/bin/python3
"""A demonstration of the pipeline: queue, collector, two workers, reducer, and a generator that replays the corpus.

    demo_stream.py [--listen ADDRESS:PORT] [--work FOLDER]

Started by `./run demo-stream`; ends with Ctrl-C. Uses NATS JetStream where nats-server is installed, else a folder. Everything is
in FOLDER (build/demo-stream), which each start empties first."""

import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from stream_pipeline import NATS_SERVER, free_port  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("TWINSTACK_BUILD", ROOT / "build"))
PROGRAM = BUILD / "bin" / "twinstack"
TOKEN = os.urandom(16).hex()
RATE_S = 0.2  # between two reports; the limit of a sender is ten per second

LOOK_AT = """demo-stream: open the address above. Some 40 places in one program crash, in four versions; five reports come per second.
demo-stream: look at the order of the head problems and their counts, which grow while you watch; at the versions and the trend of each;
demo-stream: at "Do dump and offsets agree?", which half of the records that have a dump answer; and at /metrics of the same address.
demo-stream: kill a worker and start no other: nothing is lost, and the one that is left goes on. Ctrl-C ends it"""


def command(*argv):
    """ARGV; the kernel ends what it starts if this program is killed."""
    guard = shutil.which("setpriv")
    return [guard, "--pdeathsig", "TERM", *argv] if guard else list(argv)


def start_queue(folder, started):
    if NATS_SERVER is None:
        print("demo-stream: nats-server is not installed; the queue is a folder", file=sys.stderr)
        return str(folder / "spool")
    port = free_port()
    started.append(subprocess.Popen(command(NATS_SERVER, "-js", "-sd", folder / "jetstream", "-a", "127.0.0.1", "-p", str(port)), stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL))
    return f"nats://127.0.0.1:{port}"


def reports(rng):
    """Yields (version, body, dump) of reports, without end: the corpus's records with their dumps, and stacks of random places in its programs."""
    cases = [path.parent for path in sorted((ROOT / "corpus/cases").glob("*/record.rec")) if (path.parent / "dump.dmp").exists()]
    hot = [rng.randrange(0x1500, 0x9000) for _ in range(40)]
    while True:
        version = rng.choice(("1.0", "1.1", "1.1", "2.0"))
        if cases and rng.random() < 0.3:
            case = rng.choice(cases)
            yield version, (case / "record.rec").read_bytes(), (case / "dump.dmp").read_bytes()
            continue
        lines = []
        for i in range(rng.randrange(1, 200)):
            lines.append(f"> {i}\n")
            lines += [f"victims-ob2.exe!0x{rng.choice(hot[: rng.randrange(1, 40)]):x}\n" for _ in range(rng.randrange(1, 5))]
        yield version, "".join(lines).encode(), None


def post(address, query, body):
    request = urllib.request.Request(f"{address}/api/v1/reports?{query}", data=body, headers={"X-Token": TOKEN}, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status == 200
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def generate(address):
    for number, (version, body, dump) in enumerate(reports(random.Random(19))):
        while dump is not None and not post(address, f"id=demo-{number}&kind=dump", dump):
            time.sleep(1)
        while not post(address, f"id=demo-{number}&version={version}", body):
            time.sleep(1)
        time.sleep(RATE_S)


def run(listen, folder, started):
    queue = start_queue(folder, started)
    (folder / "senders").write_text(f"demo {TOKEN}\n")
    (folder / "senders").chmod(0o600)
    server = subprocess.Popen(command(PROGRAM, "serve", "--wait", "--db", folder / "runs.db", "--listen", listen, "--collect", "--senders",
                                      folder / "senders", "--queue", queue, "--spool", folder / "spool", "--totals", folder / "totals.db"),
                              stdout=subprocess.PIPE, text=True)
    started.append(server)
    address = server.stdout.readline().strip().split("#")[0].rstrip("/")
    if not address:
        return 3
    for _ in range(2):
        started.append(subprocess.Popen(command(PROGRAM, "worker", "--queue", queue, "--symbols", ROOT / "corpus/symbols", "--sample", "50%", "--dumps",
                                                folder / "spool/dumps")))
    started.append(subprocess.Popen(command(PROGRAM, "reduce", "--queue", queue, "--totals", folder / "totals.db")))
    print(f"{address}/problems", flush=True)
    print(LOOK_AT, file=sys.stderr)
    generate(address)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--listen", default="127.0.0.1:0")
    parser.add_argument("--work", type=pathlib.Path, default=BUILD / "demo-stream")
    options = parser.parse_args()
    folder = options.work
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    started = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends what was started, like Ctrl-C
    try:
        return run(options.listen, folder, started)
    except KeyboardInterrupt:
        return 130
    finally:
        for process in reversed(started):
            process.send_signal(signal.SIGTERM)
        for process in reversed(started):
            process.wait(20)


if __name__ == "__main__":
    sys.exit(main())
