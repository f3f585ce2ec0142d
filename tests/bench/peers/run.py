#!/usr/bin/env python3
"""Times twinstack and other tools on the same files, in turn, and prints one table with the ratios.

    run.py BUILD PDB IMAGE [--peers BIN] [--rounds N] [--count N] [--dump DUMP --symbols FOLDER]

BUILD is the build folder.  PDB and IMAGE belong to one program (tests/bench/make_program.py makes some).  BIN
is the folder into which build.sh put the other tools.  A tool that is not in BIN may be in PATH; if it is in
neither, it is skipped and listed after the table.  All tools print inline frames, files and lines.  Each
round runs every tool once, so that all of them run under the same load.  Processor time is the minimum of all
rounds, wall time the median, and memory the maximum.  The last lines name tasks where another tool is faster.
"""
import argparse
import datetime
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time


missing = []


def find_tool(name, folder):
    for candidate in (folder / name if folder else None, shutil.which(name), shutil.which(name + "-19")):
        if candidate and os.access(candidate, os.X_OK):
            return str(candidate)
    print(f"{name}: left out, it is not there", file=sys.stderr)
    missing.append(name)
    return None


class Tool:
    """One tool that does one task.  The other tools are compared with the first one that is OURS."""

    def __init__(self, name, argv, ours=False, feed=os.devnull, fresh=None, env=None):
        self.name, self.argv, self.ours, self.feed, self.fresh, self.env = name, [str(a) for a in argv], ours, str(feed), fresh, env
        self.cpu, self.wall, self.peak, self.failed = [], [], 0, None

    def run(self):
        if self.failed is not None:
            return
        if self.fresh and self.fresh.exists():
            self.fresh.unlink()
        with open(self.feed, "rb") as feed, open(os.devnull, "wb") as nothing:
            started = time.perf_counter()
            process = subprocess.Popen(self.argv, stdin=feed, stdout=nothing, stderr=nothing, env={**os.environ, **(self.env or {})})
            _, status, usage = os.wait4(process.pid, 0)
            self.wall.append(time.perf_counter() - started)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu.append(usage.ru_utime + usage.ru_stime)
        self.peak = max(self.peak, usage.ru_maxrss * 1024)
        if process.returncode != 0:
            self.failed = f"exit status {process.returncode}"
        elif self.fresh and not self.fresh.exists():
            self.failed = f"no {self.fresh.name}"


def frames_file(path, module, addresses):
    path.write_text("".join((f"> {i // 20}\n" if i % 20 == 0 else "") + f"{module}!{a}\n" for i, a in enumerate(addresses)))
    return path


def tasks(o, work):
    """Returns [(title, [Tool...])] of all tasks, each with the tools that were found."""
    ours, bench = o.build / "bin/twinstack", o.build / "tests/bench_symbols"
    llvm, addr2line = find_tool("llvm-symbolizer", o.peers), find_tool("pdb-addr2line", o.peers)
    symcache, radbin = find_tool("symcache_debug", o.peers), find_tool("radbin", o.peers)
    addresses = subprocess.run([bench, "addresses", o.pdb, str(o.count)], capture_output=True, text=True, check=True).stdout.split()
    one, many = (frames_file(work / name, o.image.name, some) for name, some in (("one", addresses[:1]), ("many", addresses)))
    plain = work / "plain"
    plain.write_text("\n".join(addresses) + "\n")
    nowhere, cache = {"TWINSTACK_CACHE": str(work / "nowhere")}, {"TWINSTACK_CACHE": str(work / "cache")}
    resolve = [ours, "resolve", "-j", "1", "--pdb", o.pdb]
    index = [ours, "symbols", "index", "--index-folder", work / "index"]
    (work / "index").mkdir()
    made = work / "made.symcache"

    cold = [Tool("twinstack", [*resolve, "--index", "never", one], True, env=nowhere)]
    bulk = [Tool("twinstack, no index", [*resolve, "--index", "never", many], True, env=nowhere)]
    build = [Tool("twinstack, short names", [*index, o.pdb], True, env=nowhere), Tool("twinstack, full names", [*index, "--names", "full", o.pdb], env=nowhere)]
    bulk.append(Tool("twinstack, no index, full names", [*resolve, "--names", "full", "--index", "never", many], env=nowhere))
    ready = [Tool("twinstack", [*resolve, "--index", "always", one], True, env=cache)]
    subprocess.run(ready[0].argv, env={**os.environ, **cache}, stdout=subprocess.DEVNULL, check=True)  # builds the index
    if llvm:
        lookup = [llvm, f"--obj={o.image}", "--relative-address"]
        cold.append(Tool("llvm-symbolizer", [*lookup, addresses[0]]))
        bulk.append(Tool("llvm-symbolizer", lookup, feed=plain))
    if addr2line:
        cold.append(Tool("pdb-addr2line", [addr2line, "-e", o.pdb, "-fi", addresses[0]]))
        bulk.append(Tool("pdb-addr2line", [addr2line, "-e", o.pdb, "-fi"], feed=plain))
    if symcache:
        build.append(Tool("symcache", [symcache, "-d", o.pdb, "-w", "-c", made], fresh=made))
        ready.append(Tool("symcache", [symcache, "-c", made, "--lookup", addresses[0]]))
    if radbin:
        build.append(Tool("radbin", [radbin, "--rdi", o.pdb, f"--out:{work / 'made.rdi'}"], fresh=work / "made.rdi"))
    out = [("one address, nothing prepared", cold), (f"{o.count} addresses, no index", bulk), ("index of the PDB", build),
           ("one address, index ready", ready)]
    if o.dump:
        out.append(("stack of a dump", dump_tools(o, ours, work)))
    return out


def breakpad_tree(o, ours, work):
    """Exports the PDBs of the symbol folder as .sym files for Breakpad, because Breakpad's own dump_syms
    reads PDBs only on Windows.  Returns their folder."""
    tree = work / "breakpad"
    for pdb in o.symbols.rglob("*.pdb"):
        images = [i for i in (pdb.with_suffix(end) for end in (".exe", ".dll")) if i.is_file()]
        argv = [ours, "symbols", "export", "--format", "breakpad", *(["--image", images[0]] if images else []), pdb]
        made = subprocess.run(argv, capture_output=True, check=False).stdout
        if not made.startswith(b"MODULE "):
            print(f"{pdb.name}: Breakpad does without it, it cannot be written as a .sym file", file=sys.stderr)
            continue
        identity = made.split(b"\n", 1)[0].split()[3].decode()
        folder = tree / pdb.name / identity
        folder.mkdir(parents=True, exist_ok=True)
        (folder / (pdb.stem + ".sym")).write_bytes(made)
    return tree


def dump_tools(o, ours, work):
    rust, breakpad = find_tool("minidump-stackwalk", o.peers), find_tool("minidump_stackwalk", o.peers)
    tools = [Tool("twinstack", [ours, "dump", "--symbols", o.symbols, o.dump], True, env={"TWINSTACK_CACHE": str(work / "cache")})]
    if rust:
        tools.append(Tool("rust-minidump", [rust, "--symbols-path", o.symbols, o.dump]))
    if breakpad:
        tools.append(Tool("Breakpad", [breakpad, "-m", o.dump, breakpad_tree(o, ours, work)]))
    return tools


def least_ms(tool):
    return min(tool.cpu) * 1000


def print_table(o, done):
    load = os.getloadavg()[0]
    print(f"{datetime.date.today()}, {o.pdb.name} of {o.pdb.stat().st_size / 1e6:.1f} MB, {o.rounds} rounds, {os.cpu_count()} processors, "
          f"load {load:.0f}\n")
    print("| task | tool | processor ms | wall ms | peak MB | ours is |\n|---|---|---|---|---|---|")
    lost = []
    for title, tools in done:
        ours = next(t for t in tools if t.ours)
        for t in tools:
            if t.failed is not None:
                print(f"| {title} | {t.name} | {t.failed} | | | |")
                continue
            ratio = least_ms(t) / least_ms(ours)
            wall = sorted(t.wall)[len(t.wall) // 2] * 1000
            shown = "" if t.ours or t.name.startswith("twinstack") else f"{ratio:.1f} times as fast"
            print(f"| {title} | {t.name} | {least_ms(t):.2f} | {wall:.2f} | {t.peak / 1e6:.0f} | {shown} |")
            if ratio < 1 and not t.name.startswith("twinstack"):
                lost.append(f"{title}: {t.name} takes {least_ms(t):.2f} ms, we take {least_ms(ours):.2f}")
    if missing:
        print("\nNot there, so not compared: " + ", ".join(missing) + ".")
    print("\n" + ("We lose at:\n" + "\n".join(f"* {line}" for line in lost) if lost else "We lose nowhere against the tools above."))


def run_rounds(done, rounds):
    for _, tools in done:
        for _ in range(rounds):
            for tool in tools:
                tool.run()
    for _, tools in done:
        for tool in tools:
            if tool.ours and tool.failed is not None:
                sys.exit(f"{' '.join(tool.argv)}: {tool.failed}")


def main():
    parser = argparse.ArgumentParser(description="times twinstack and other tools in turn")
    for name in ("build", "pdb", "image"):
        parser.add_argument(name, type=pathlib.Path)
    for name in ("--peers", "--dump", "--symbols"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--count", type=int, default=5000)
    o = parser.parse_args()
    if o.dump and not o.symbols:
        parser.error("--dump needs --symbols")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        done = tasks(o, work)
        run_rounds(done, o.rounds)
        print_table(o, done)


if __name__ == "__main__":
    main()
