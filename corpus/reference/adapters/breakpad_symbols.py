#!/usr/bin/python3
"""Names of a Breakpad symbol file, by a reader of npm: breakpad_symbols.py PACKAGE --symbols COMMAND     PACKAGE: the folder of @indutny/breakpad

Runs: one node for all questions, which calls symbolicateFrames() of PACKAGE; return addresses are asked less 1. COMMAND prints the .sym file of
a PDB, whose path replaces {file}; without one there is nothing to read. The only COMMAND tried is `twinstack symbols export {file} --format
breakpad`: the answer is then that of both programs. The reader knows FUNC, line and PUBLIC records, and no INLINE: it gives one frame.
Seen with: @indutny/breakpad 1.2.3, node 20.
By hand: `twinstack symbols export FILE.pdb --format breakpad > FILE.sym`, then symbolicateFrames(createReadStream('FILE.sym'), [0x1002])."""

import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

import contestant

READER = """
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
const { symbolicateFrames } = await import(pathToFileURL(process.argv[1]).href);
for await (const line of createInterface({ input: process.stdin })) {
  const { sym, rva } = JSON.parse(line);
  try {
    console.log(JSON.stringify((await symbolicateFrames(createReadStream(sym), [rva]))[0] ?? null));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }));
  }
}
"""


def main():
    words = argparse.ArgumentParser()
    words.add_argument("package", type=pathlib.Path)
    words.add_argument("--symbols", metavar="COMMAND", required=True)
    words = words.parse_args()
    description = words.package / "package.json"
    if not description.is_file():
        sys.exit(f"breakpad_symbols.py: there is no {words.package}")
    facts = json.loads(description.read_text(encoding="utf-8"))
    node = subprocess.Popen([contestant.program("node"), "--input-type=module", "-e", READER, str((words.package / facts["main"]).resolve())],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with tempfile.TemporaryDirectory() as place:
        made = {}

        def symbols(file):
            if file not in made:
                command = [word.replace("{file}", str(file)) for word in shlex.split(words.symbols)]
                made[file] = pathlib.Path(place, f"{len(made)}.sym")
                made[file].write_bytes(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout)
            return str(made[file])

        def answer(folder, question):
            given = question["given"]
            rva = int(given["rva"], 16) - (given["lookup"] == "return")
            node.stdin.write(json.dumps({"sym": symbols((folder / given["symbols"]).resolve()), "rva": rva}) + "\n")
            node.stdin.flush()
            said = json.loads(node.stdout.readline())
            if said and "error" in said:
                raise RuntimeError(said["error"])
            return [{"function": said["name"], "file": said.get("file"), "line": said.get("line"), "inlined": False}] if said else []

        name = f"@indutny/breakpad with {shlex.split(words.symbols)[0].rsplit('/', 1)[-1]}"
        contestant.serve(name, facts["version"], {"addresses.pdb": answer}, "https://github.com/indutny/breakpad/issues")
    node.stdin.close()
    node.wait()


if __name__ == "__main__":
    main()
