#!/usr/bin/env python3
"""Times `twinstack signatures --symbols` and the pipe `resolve --ndjson | signatures -` on made-up streams.

    bench_stream.py BUILD [--work FOLDER] [--seed N] [--stacks N] [--files N]

Stacks have four frames at random addresses of program M, which make_program.py makes once in the work folder.
In one stream 1 % of the stacks are distinct, drawn evenly; in the other all of them are.  Before anything is
timed, both ways must give the same counts.  The pipe is timed over a tenth of the stream.  Prints a Markdown
table: stacks per second (wall), processor seconds, peak memory, bytes of output per stack.
"""
import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FRAMES, ROUNDS = 4, 3


def make_program(work, files):
    pdb = os.path.join(work, "M", "program.pdb")
    if not os.path.exists(pdb):
        subprocess.run([sys.executable, os.path.join(HERE, "make_program.py"), os.path.dirname(pdb), str(files)], check=True)
    return pdb


def make_stream(path, rvas, stacks, distinct, seed):
    rng = random.Random(seed)
    pool = ["".join("program.dll!%s\n" % rva for rva in rng.choices(rvas, k=FRAMES)) for _ in range(distinct)]
    with open(path, "w") as out:
        for i in range(stacks):
            out.write("> %d\n%s" % (i, pool[i] if distinct == stacks else pool[rng.randrange(distinct)]))


def timed(argv, feed, env):
    """Runs a shell command on an input file.  Returns wall and processor seconds, peak MB, output bytes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    with open(feed, "rb") as stdin, open(os.path.join(env["BENCH_WORK"], "output"), "w+b") as out:
        subprocess.run(["/bin/sh", "-c", argv], stdin=stdin, stdout=out, check=True, env=env)
        wall = time.perf_counter() - started
        size = out.seek(0, 2)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = 0
    trace = subprocess.run(["/bin/sh", "-c", "command time -f %M true"], capture_output=True)
    if trace.returncode == 0 and "|" not in argv:
        with open(feed, "rb") as stdin:
            done = subprocess.run(["/usr/bin/time", "-f", "%M", "/bin/sh", "-c", "exec " + argv], stdin=stdin,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True, env=env, text=True)
            peak = int(done.stderr.split()[-1]) / 1000
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, peak, size


def counts(argv, feed, env):
    with open(feed, "rb") as stdin:
        text = subprocess.run(["/bin/sh", "-c", argv], stdin=stdin, stdout=subprocess.PIPE, check=True, env=env, text=True).stdout
    rows = json.loads(text)["signatures"]
    return sorted((row["signature"], row["count"]) for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--work", default="build/bench")
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--stacks", type=int, default=1000000)
    parser.add_argument("--files", type=int, default=170)
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    pdb = make_program(options.work, options.files)
    twinstack = os.path.join(options.build, "bin", "twinstack")
    env = dict(os.environ, TWINSTACK_CACHE=os.path.join(options.work, "cache"), BENCH_WORK=options.work)
    rvas = subprocess.run([os.path.join(options.build, "tests", "bench_symbols"), "addresses", pdb, "200000"],
                          check=True, capture_output=True, text=True).stdout.split()
    symbols = os.path.dirname(pdb)
    one = "%s signatures --symbols %s --index always -j %%d --format columns" % (twinstack, symbols)
    two = "%s resolve --symbols %s --index always -j %%d --ndjson | %s signatures - --json" % (twinstack, symbols, twinstack)
    print("| stream | way | stacks/s | processor s | peak MB | bytes out a stack | times the pipe |\n|---|---|---|---|---|---|---|")
    for name, distinct in (("1 % distinct", 0.01), ("all distinct", 1)):
        feed, few = (os.path.join(options.work, word) for word in ("stream", "stream.few"))
        make_stream(feed, rvas, options.stacks, int(options.stacks * distinct), options.seed)
        make_stream(few, rvas, options.stacks // 10, int(options.stacks // 10 * distinct), options.seed)
        with open(few) as text:
            assert text.readline() == "> 0\n"
        if counts((one % 2).replace("--format columns", "--json"), few, env) != counts(two % 2, few, env):
            sys.exit("bench_stream.py: both ways do not count the same")
        pipe = 0
        for title, argv, path, stacks in (("pipe, -j 2", two % 2, few, options.stacks // 10), ("one pass, -j 1", one % 1, feed, options.stacks),
                                          ("one pass, -j 2", one % 2, feed, options.stacks)):
            runs = [timed(argv, path, env) for _ in range(ROUNDS)]
            wall, cpu, peak, size = min(runs)
            speed = stacks / wall
            pipe = pipe or speed
            print("| %s | %s | %s | %.2f | %s | %.1f | %.1f |" % (name, title, format(int(speed), ","), cpu,
                                                                 "%.0f" % peak if peak else "-", size / stacks, speed / pipe), flush=True)


if __name__ == "__main__":
    main()
