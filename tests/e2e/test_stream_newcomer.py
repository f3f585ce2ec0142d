"""The first block of commands of the stream's README, as it is written, in an empty folder."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import stream_pipeline  # noqa: E402


def block():
    text = (e2e.ROOT / "analyze/stream/README.md").read_text()
    return next(part for part in re.findall(r"```sh\n(.*?)```", text, re.S) if "--collect" in part)


@unittest.skipUnless(stream_pipeline.NATS_SERVER and shutil.which("curl") and shutil.which("setpriv"), "no nats-server, curl or setpriv")
class Newcomer(e2e.Case):
    def test_the_block_works_in_an_empty_folder(self):
        commands, place = block(), self.folder / "empty"
        place.mkdir()
        ports = {"4222": stream_pipeline.free_port(), "8080": stream_pipeline.free_port()}  # another test may have those of the README
        for port, other in ports.items():
            commands = commands.replace(f":{port}", f":{other}").replace(f"-p {port}", f"-p {other}")
        started = [line for line in commands.splitlines() if line.endswith("&")]
        self.assertEqual(len(started), 4)
        for line in started:  # each ends when this test does
            commands = commands.replace(line, f"setpriv --pdeathsig TERM {line}")
        env = {**os.environ, "PATH": f"{e2e.PROGRAM.parent}:{os.environ['PATH']}:/usr/sbin", "TWINSTACK_SYSTEM_SYMBOLS": "0"}
        shell = subprocess.Popen(["bash", "-ec", commands + "\nread -r _\nkill $(jobs -p)\nwait || true\n"], cwd=place, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        try:
            self.wait_for_problem(shell, ports["8080"])
        finally:
            shell.communicate(b"end\n", 60 * e2e.PATIENCE)

    def wait_for_problem(self, shell, port):
        end = time.monotonic() + 60 * e2e.PATIENCE
        while True:
            self.assertIsNone(shell.poll(), "a command of the block failed")
            self.assertLess(time.monotonic(), end, "the report is not counted")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/problems", timeout=10 * e2e.PATIENCE) as answer:
                    found = json.load(answer)["data"]
                if found["stacks"] == 1:
                    self.assertEqual(found["problems"][0]["signature"], "program.exe!0x1000")
                    return
            except (urllib.error.URLError, ConnectionError, KeyError):
                pass
            time.sleep(0.2)


if __name__ == "__main__":
    e2e.main()
