"""The program as it is built where libnats-dev is not installed: a tree is configured without it, the verbs say so, and a folder works."""

import pathlib
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

SYMBOLS = e2e.ROOT / "corpus/symbols"
LIBRARY = "analyze/stream/libroom_stream.a"


class WithoutNats(e2e.Case):
    """Of the new tree only the room that differs is built; it is linked with the rest of this tree."""

    def run_in(self, folder, *argv):
        done = subprocess.run([str(word) for word in argv], cwd=folder, capture_output=True, text=True, check=False, timeout=300 * e2e.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def setUp(self):
        cached = dict(line.split("=", 1) for line in (e2e.BUILD / "CMakeCache.txt").read_text().splitlines() if "=" in line and line[0] not in "#/")
        kept = [f"-D{name}={value}" for name, value in cached.items() if name.split(":")[0] in
                ("CMAKE_BUILD_TYPE", "CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "CMAKE_C_COMPILER_LAUNCHER", "TWINSTACK_ARCHIVES", "TWINSTACK_SANITIZE")]
        tree, self.program = self.folder / "tree", self.folder / "twinstack"
        target = "bin/twinstack"
        said = self.run_in(e2e.ROOT, "cmake", "-G", "Ninja", "-S", e2e.ROOT, "-B", tree, "-DNATS_INCLUDE=OFF",
                           "-DCMAKE_OPTIMIZE_DEPENDENCIES=ON", *kept)  # no rooms below it
        self.assertIn("libnats: not found; queues are folders only", said)
        commands = self.run_in(tree, "ninja", "-t", "commands", target)
        self.assertIn("queue_none.c", commands)
        self.assertNotIn("queue_nats.c", commands)
        self.run_in(tree, "ninja", LIBRARY)
        linking = self.run_in(e2e.BUILD, "ninja", "-t", "commands", target).splitlines()[-1]
        argv = shlex.split(linking.removeprefix(": && ").split(" && ")[0])
        argv = [str(tree / LIBRARY) if word == LIBRARY else word for word in argv]
        self.assertIn(str(tree / LIBRARY), argv)
        argv[argv.index("-o") + 1] = str(self.program)
        self.run_in(e2e.BUILD, *argv)

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
