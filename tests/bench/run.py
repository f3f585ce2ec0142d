#!/usr/bin/env python3
"""Times the symbol reader, the index and `twinstack resolve`, and compares them with llvm-symbolizer.

    run.py BUILD [--work FOLDER] [--fixtures FOLDER] [--xl] [--no-lua] [--only NAME]

BUILD is a build tree with bench_symbols and twinstack.  make_program.py makes the programs of sizes M and L
(and XL) once in the work folder.  S is a fixture.  Lua 5.4 is fetched as a Debian source package and
cross-compiled.  Measures whole processes with a warm page cache and prints a Markdown table: the median wall
time, and the minimum processor time, which depends least on other programs on the machine.
"""
import argparse
import glob
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import e2e  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = (("M", 170), ("L", 360))
XL = ("XL", 1950)


def run(argv, **more):
    return subprocess.run(argv, check=True, capture_output=True, text=True, errors="replace",
                          **more).stdout


def process(argv, rounds=21, feed=os.devnull, env=None, peer=False):
    """Returns the median wall ms, minimum processor ms and largest peak MB of a process.  The times of a PEER
    that crashes (llvm-symbolizer on ids of other modules) are NaN."""
    wall, cpu, peak = [], [], 0
    actions = [(os.POSIX_SPAWN_OPEN, 0, feed, os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
               (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
    for _ in range(rounds):
        started = time.perf_counter()
        pid = os.posix_spawnp(argv[0], argv, {**os.environ, **(env or {})}, file_actions=actions)
        _, status, usage = os.wait4(pid, 0)
        wall.append((time.perf_counter() - started) * 1000)
        if status != 0 and peer:
            return float("nan"), float("nan"), 0
        if status != 0:
            sys.exit("run.py: %s: status %d" % (" ".join(argv[:3]), status))
        cpu.append((usage.ru_utime + usage.ru_stime) * 1000)
        peak = max(peak, usage.ru_maxrss / 1000)
    return sorted(wall)[len(wall) // 2], min(cpu), peak


def values(text):
    return dict(line.split(" ", 1) for line in text.splitlines() if " " in line)


def generated(work, name, files):
    folder = os.path.join(work, name)
    if not os.path.exists(os.path.join(folder, "program.pdb")):
        run([sys.executable, os.path.join(HERE, "make_program.py"), folder, str(files)])
    return os.path.join(folder, "program.dll"), os.path.join(folder, "program.pdb")


def fetch_source(folder, package):
    """Fetches a Debian source package with apt, from the mirrors that the system uses."""
    parts = os.path.join(folder, "parts")
    for sub in ("parts", "lists/partial", "cache"):
        os.makedirs(os.path.join(folder, sub), exist_ok=True)
    for name in glob.glob("/etc/apt/sources.list.d/*.sources"):
        with open(name) as text, open(os.path.join(parts, os.path.basename(name)), "w") as out:
            out.write(text.read().replace("Types: deb\n", "Types: deb-src\n"))
    options = ["-o", "Dir::Etc::sourcelist=/etc/apt/sources.list", "-o",
               "Dir::Etc::sourceparts=" + parts, "-o",
               "Dir::State::lists=" + os.path.join(folder, "lists"), "-o",
               "Dir::Cache=" + os.path.join(folder, "cache")]
    run(["apt-get"] + options + ["-q", "update"], cwd=folder)
    run(["apt-get"] + options + ["-q", "source", "--download-only", package], cwd=folder)


def lua(work):
    folder = os.path.join(work, "lua")
    image, pdb = os.path.join(folder, "lua.dll"), os.path.join(folder, "lua.pdb")
    if not os.path.exists(pdb):
        os.makedirs(folder, exist_ok=True)
        fetch_source(folder, "lua5.4")
        run(["tar", "xf", glob.glob(os.path.join(folder, "*.orig.tar.*"))[0]], cwd=folder)
        files = [f for f in glob.glob(os.path.join(folder, "lua-5.4*/src/*.c"))
                 if os.path.basename(f) not in ("lua.c", "luac.c")]
        run(["clang-19", "--target=x86_64-w64-mingw32", "-O2", "-g", "-gcodeview", "-fuse-ld=lld-19",
             "-shared", "-DLUA_BUILD_AS_DLL", "-o", image, "-Wl,--pdb=" + pdb] + files)
    return image, pdb


def measure_builds(row, bench, pdb, index):
    for threads in ("1", "2"):
        builds = []
        for _ in range(9):
            if os.path.exists(index):
                os.remove(index)
            builds.append(values(run([bench, "build", pdb, index, threads])))
        row["build%s_ms" % threads] = min(float(b["build_ms"]) for b in builds)
        row["build%s_cpu" % threads] = min(float(b["build_cpu_ms"]) for b in builds)
        row["index_mb"] = int(builds[0]["index_bytes"]) / 1e6
        row["peak_mb"] = max(int(b["peak_bytes"]) for b in builds) / 1e6


def write_stacks(path, module, rvas):
    with open(path, "w") as out:
        for i, rva in enumerate(rvas):
            out.write(("> %d\n" % (i // 20) if i % 20 == 0 else "") + "%s!%s\n" % (module, rva))


def measure_filter(row, twinstack, pdb, stem, module, rvas, peer):
    """Returns frames per second of a long stream.  The index is built before, in a separate cache."""
    few, many = stem + ".few", stem + ".many"
    write_stacks(few, module, rvas[:len(rvas) // 10])
    write_stacks(many, module, rvas)
    resolve = [twinstack, "resolve", "--pdb", pdb]
    cache = {"TWINSTACK_CACHE": stem + ".cache"}
    process(resolve + [many], 1, env=cache)
    for jobs in (1, 2):
        ms, _, row["peak_many"] = process(resolve + ["-j", str(jobs), many], 5, env=cache)
        row["filter%d" % jobs] = len(rvas) / ms
    _, _, row["peak_few"] = process(resolve + ["-j", "2", few], 3, env=cache)
    one = stem + ".one"
    write_stacks(one, module, rvas[:1])
    row["prepared_ms"], row["prepared_cpu"], _ = process(resolve + [one], env=cache)
    nowhere = {"TWINSTACK_CACHE": stem + ".nowhere"}
    row["resolve_ms"], row["resolve_cpu"], _ = process(resolve + [one], env=nowhere)
    feed = stem + ".addresses"
    with open(feed, "w") as out:
        out.write("\n".join(rvas[:len(rvas) // 10]) + "\n")
    ms, _, row["peer_peak"] = process(peer + ["--relative-address"], 1, feed, peer=True)
    row["peer_filter"] = len(rvas) / 10 / ms


def measure(name, image, pdb, options):
    bench = os.path.join(options.build, "tests", "bench_symbols")
    twinstack = os.path.join(options.build, "bin", "twinstack")
    stem = os.path.join(options.work, name.replace(" ", "-"))
    row = {"name": name, "pdb_mb": os.path.getsize(pdb) / 1e6}
    measure_builds(row, bench, pdb, stem + ".index")
    row.update({k: float(v) for k, v in values(run([bench, "lookup", pdb, stem + ".index"])).items()})

    rvas = run([bench, "addresses", pdb, "200000"]).split()
    peer = ["llvm-symbolizer-19", "--obj=" + image, "--inlines"]
    row["true_ms"], row["true_cpu"], _ = process(["/bin/true"], 51)
    row["cold1_ms"], row["cold1_cpu"], _ = process([bench, "cold", pdb, rvas[0]])
    row["cold20_ms"], row["cold20_cpu"], _ = process([bench, "cold", pdb] + rvas[:20])
    for count in (1, 20):
        row["peer%d_ms" % count], row["peer%d_cpu" % count], _ = process(
            peer + ["--relative-address"] + rvas[:count], 7, peer=True)
    measure_filter(row, twinstack, pdb, stem, os.path.basename(image), rvas, peer)
    return row


COLUMNS = (
    ("PDB MB", "%(pdb_mb).1f"),
    ("**cold, wall (processor) ms**", ""),
    ("/bin/true", "%(true_ms).2f (%(true_cpu).2f)"),
    ("1 address", "%(cold1_ms).2f (%(cold1_cpu).2f)"),
    ("llvm-symbolizer, 1 address", "%(peer1_ms).0f (%(peer1_cpu).0f)"),
    ("20 frames", "%(cold20_ms).2f (%(cold20_cpu).2f)"),
    ("llvm-symbolizer, 20 frames", "%(peer20_ms).0f (%(peer20_cpu).0f)"),
    ("`resolve`, 1 frame", "%(resolve_ms).2f (%(resolve_cpu).2f)"),
    ("`resolve`, 1 frame, index prepared", "%(prepared_ms).2f (%(prepared_cpu).2f)"),
    ("**index, wall (processor) ms**", ""),
    ("1 thread", "%(build1_ms).1f (%(build1_cpu).1f)"),
    ("2 threads", "%(build2_ms).1f (%(build2_cpu).1f)"),
    ("MB/s, 2 threads", "%(speed).0f"),
    ("index MB", "%(index_mb).2f (%(share).1f %%)"),
    ("peak beyond the PDB MB", "%(beyond).0f"),
    ("**lookups, ns**", ""),
    ("frames per address", "%(frames_per_address).2f"),
    ("one at a time, names read", "%(single_ns).0f"),
    ("one at a time, names not read", "%(unread_ns).0f"),
    ("a dependent load over the index's size", "%(load_ns).1f"),
    ("**`resolve` as a filter, thousand frames/s**", ""),
    ("-j 1", "%(filter1).0f"),
    ("-j 2", "%(filter2).0f"),
    ("llvm-symbolizer", "%(peer_filter).1f"),
    ("peak MB, 20,000 / 200,000 frames", "%(peak_few).1f / %(peak_many).1f"),
)


def table(rows):
    for row in rows:
        row["speed"] = row["pdb_mb"] / row["build2_ms"] * 1000
        row["share"] = 100 * row["index_mb"] / row["pdb_mb"]
        row["beyond"] = max(0, row["peak_mb"] - row["pdb_mb"])
    lines = ["| | " + " | ".join(row["name"] for row in rows) + " |", "|---" * (len(rows) + 1) + "|"]
    for title, form in COLUMNS:
        lines.append("| %s | %s |" % (title, " | ".join(form % row for row in rows)))
    return "\n".join(lines).replace("nan", "crashes")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--work", default="build/bench")
    parser.add_argument("--fixtures", default=e2e.FIXTURES)
    parser.add_argument("--xl", action="store_true")
    parser.add_argument("--no-lua", action="store_true")
    parser.add_argument("--only", help="measure this input alone")
    options = parser.parse_args()
    options.work = os.path.abspath(options.work)
    os.makedirs(options.work, exist_ok=True)
    small = os.path.join(options.fixtures, "g07-conpty-x64", "conpty.")
    inputs = [("S",) + (small + "node", small + "pdb")] if os.path.exists(small + "pdb") else []
    if not options.no_lua:
        inputs.append(("Lua 5.4",) + lua(options.work))
    for name, files in SIZES + ((XL,) if options.xl else ()):
        inputs.append((name,) + generated(options.work, name, files))
    print(table([measure(name, image, pdb, options) for name, image, pdb in inputs
                 if options.only in (None, name)]))


if __name__ == "__main__":
    main()
