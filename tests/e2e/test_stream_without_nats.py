"""The program as it is built where libnats-dev is not installed: the verbs say so, and a folder works."""

import pathlib
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

SYMBOLS = e2e.ROOT / "corpus/symbols"


class WithoutNats(e2e.Case):
    def command_for(self, target, word):
        done = subprocess.run(["ninja", "-C", e2e.BUILD, "-t", "commands", target], capture_output=True, text=True, check=True, timeout=60 * e2e.PATIENCE)
        lines = [line for line in done.stdout.splitlines() if word in line]
        return shlex.split(lines[-1].removeprefix(": && ").removesuffix(" && :"))

    def setUp(self):
        source = next(name for name in ("queue_nats.c", "queue_none.c") if f"{name}.o" in subprocess.run(
            ["ninja", "-C", e2e.BUILD, "-t", "commands", "bin/twinstack"], capture_output=True, text=True, check=True, timeout=60 * e2e.PATIENCE).stdout)
        compiling = self.command_for("bin/twinstack", f"-c {e2e.ROOT}/analyze/stream/{source}")
        other, self.program = self.folder / "queue_none.o", self.folder / "twinstack"
        for i, word in enumerate(compiling):
            compiling[i] = word.replace("queue_nats.c", "queue_none.c") if i == len(compiling) - 1 else word
        compiling[compiling.index("-o") + 1] = str(other)
        compiling[compiling.index("-MF") + 1] = str(self.folder / "d")
        linking = self.command_for("bin/twinstack", "-o bin/twinstack")
        at = linking.index("-o")
        linking[at + 1] = str(self.program)
        linking.insert(at, str(other))  # before the room's library, so the linker does not take the library's transport
        for argv in (compiling, linking):
            done = subprocess.run(argv, cwd=e2e.BUILD, capture_output=True, text=True, check=False, timeout=120 * e2e.PATIENCE)
            self.assertEqual(done.returncode, 0, done.stderr)

    def run_it(self, *argv):
        return subprocess.run([str(self.program), *map(str, argv)], capture_output=True, text=True, check=False, timeout=60 * e2e.PATIENCE)

    def test_the_verbs_say_so_and_a_folder_works(self):
        (self.folder / "senders").write_text("alice 0123456789abcdef0123\n")
        for argv in (("worker", "--queue", "nats://127.0.0.1:1", "--symbols", SYMBOLS),
                     ("reduce", "--queue", "nats://127.0.0.1:1", "--totals", self.folder / "totals.db"),
                     ("serve", "--wait", "--db", self.folder / "runs.db", "--listen", "127.0.0.1:0", "--collect", "--senders", self.folder / "senders",
                      "--queue", "nats://127.0.0.1:1", "--spool", self.folder / "spool")):
            with self.subTest(argv[0]):
                done = self.run_it(*argv)
                self.assertEqual(done.returncode, 3)
                self.assertIn("built without libnats", done.stderr)
        done = self.run_it("worker", "--queue", self.folder / "queue", "--symbols", SYMBOLS, "--idle", "100ms")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    e2e.main()
