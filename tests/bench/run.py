#!/usr/bin/env python3
"""Times the symbol reader and index, and llvm-symbolizer beside them in the same run.

    run.py BUILD [--work FOLDER] [--fixtures FOLDER] [--xl] [--no-lua]

BUILD is a build tree with bench_symbols and twinstack.  Programs of sizes M and L (and XL) are
made once in the work folder by make_program.py; S is a fixture; Lua 5.4 is fetched as a Debian
source package and cross-compiled.  Prints a Markdown table.  Times of whole processes are the
median of wall time with a warm page cache; compare ratios, not milliseconds of other days.
"""
import argparse
import glob
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = (("M", 170), ("L", 360))
XL = ("XL", 1950)


def run(argv, **more):
    return subprocess.run(argv, check=True, capture_output=True, text=True, errors="replace",
                          **more).stdout


def median_ms(argv, rounds=21, feed=None):
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       input=feed)
        times.append((time.perf_counter() - started) * 1000)
    return sorted(times)[len(times) // 2], min(times)


def values(text):
    return dict(line.split(" ", 1) for line in text.splitlines() if " " in line)


def generated(work, name, files):
    folder = os.path.join(work, name)
    if not os.path.exists(os.path.join(folder, "program.pdb")):
        run([sys.executable, os.path.join(HERE, "make_program.py"), folder, str(files)])
    return os.path.join(folder, "program.dll"), os.path.join(folder, "program.pdb")


def fetch_source(folder, package):
    """Fetches a Debian source package through apt, with the system's own mirrors."""
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


def measure(name, image, pdb, options):
    bench = os.path.join(options.build, "tests", "bench_symbols")
    twinstack = os.path.join(options.build, "bin", "twinstack")
    index = os.path.join(options.work, name + ".index")
    row = {"name": name, "pdb_mb": os.path.getsize(pdb) / 1e6}
    for threads in ("1", "2"):
        builds = []
        for _ in range(5):
            if os.path.exists(index):
                os.remove(index)
            builds.append(values(run([bench, "build", pdb, index, threads])))
        best = min(builds, key=lambda b: float(b["build_ms"]))
        row["build%s_ms" % threads] = float(best["build_ms"])
        row["index_mb"] = int(best["index_bytes"]) / 1e6
        row["peak_mb"] = int(best["peak_bytes"]) / 1e6
    row.update({k: float(v) for k, v in values(run([bench, "lookup", pdb, index])).items()})

    rvas = run([bench, "addresses", pdb, "20"]).split()
    row["cold1_ms"], row["cold1_min"] = median_ms([bench, "cold", pdb, rvas[0]])
    row["cold20_ms"], row["cold20_min"] = median_ms([bench, "cold", pdb] + rvas)
    row["true_ms"], row["true_min"] = median_ms(["/bin/true"])
    stack = os.path.join(options.work, name + ".stack")
    module = os.path.basename(image)
    with open(stack, "w") as out:
        out.write("".join("%s!%s\n" % (module, rva) for rva in rvas))
    if os.path.exists(twinstack):
        row["resolve_ms"], row["resolve_min"] = median_ms([twinstack, "resolve", "--pdb", pdb, stack])
    base = int(run(["llvm-readobj-19", "--file-headers", image]).split("ImageBase: ")[1].split()[0], 16)
    peer = ["llvm-symbolizer-19", "--obj=" + image, "--inlines"]
    row["peer1_ms"], row["peer1_min"] = median_ms(peer + [hex(base + int(rvas[0], 16))], 7)
    row["peer20_ms"], row["peer20_min"] = median_ms(
        peer + [hex(base + int(rva, 16)) for rva in rvas], 7)
    return row


def table(rows):
    columns = (
        ("input", "%(name)s"), ("PDB MB", "%(pdb_mb).1f"),
        ("cold, 1 address ms", "%(cold1_ms).2f (min %(cold1_min).2f)"),
        ("llvm-symbolizer ms", "%(peer1_ms).0f (min %(peer1_min).0f)"),
        ("cold, 20 frames ms", "%(cold20_ms).2f (min %(cold20_min).2f)"),
        ("llvm-symbolizer ms", "%(peer20_ms).0f (min %(peer20_min).0f)"),
        ("`resolve`, 20 frames ms", "%(resolve_ms).2f (min %(resolve_min).2f)"),
        ("/bin/true ms", "%(true_ms).2f (min %(true_min).2f)"),
        ("index, 1 / 2 threads ms", "%(build1_ms).1f / %(build2_ms).1f"),
        ("MB/s", "%(speed).0f"), ("index MB", "%(index_mb).2f (%(share).0f %%)"),
        ("peak beyond the PDB MB", "%(beyond).0f"),
        ("frames an address", "%(frames_per_address).2f"),
        ("one at a time ns", "%(single_ns).0f"), ("batched ns", "%(batched_ns).0f"),
        ("a dependent load there ns", "%(load_ns).1f"),
    )
    lines = ["| | " + " | ".join(row["name"] for row in rows) + " |", "|---" * (len(rows) + 1) + "|"]
    for title, form in columns[1:]:
        cells = []
        for row in rows:
            row["speed"] = row["pdb_mb"] / row["build2_ms"] * 1000
            row["share"] = 100 * row["index_mb"] / row["pdb_mb"]
            row["beyond"] = max(0, row["peak_mb"] - row["pdb_mb"])
            row.setdefault("resolve_ms", float("nan"))
            row.setdefault("resolve_min", float("nan"))
            cells.append(form % row)
        lines.append("| %s | %s |" % (title, " | ".join(cells)))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--work", default="build/bench")
    parser.add_argument("--fixtures", default=os.environ.get("TWINSTACK_FIXTURES",
                                                             "../shared/fixtures"))
    parser.add_argument("--xl", action="store_true")
    parser.add_argument("--no-lua", action="store_true")
    options = parser.parse_args()
    options.work = os.path.abspath(options.work)
    os.makedirs(options.work, exist_ok=True)
    small = os.path.join(options.fixtures, "g07-conpty-x64", "conpty.")
    inputs = [("S",) + (small + "node", small + "pdb")] if os.path.exists(small + "pdb") else []
    if not options.no_lua:
        inputs.append(("Lua 5.4",) + lua(options.work))
    for name, files in SIZES + ((XL,) if options.xl else ()):
        inputs.append((name,) + generated(options.work, name, files))
    print(table([measure(name, image, pdb, options) for name, image, pdb in inputs]))


if __name__ == "__main__":
    main()
