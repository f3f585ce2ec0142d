"""What `resolve` reads as people have it: from shells of Windows, quoted, long, endless, damaged; and what it says about what it leaves out."""

import fcntl
import os
import pathlib
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import record_maker as made  # noqa: E402

SYMBOLS = ("--symbols", e2e.ROOT / "corpus/symbols")
FRAME = "victims-ob2.exe!0x2000"
MODULE = "# module victims-ob2.exe - - 0x140000000 0x100000\n"


def status_of(process_id, row, base=10):
    text = pathlib.Path(f"/proc/{process_id}/status").read_text(encoding="ascii")
    return int(text.split(f"{row}:")[1].split()[0], base)


class Input(e2e.Case):
    def resolved(self, text, *more, exit_code=0):
        """TEXT may be bytes. Returns the finished process, with its output as text."""
        data = text if isinstance(text, bytes) else text.encode()
        done = e2e.finished([e2e.PROGRAM, "resolve", *SYMBOLS, *more], stdin=data, limit_s=60 * e2e.PATIENCE)
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, exit_code, done.stderr[-1000:])
        return done

    def frames(self, text, *more):
        return [line.split()[1] for line in self.resolved(text, *more).stdout.splitlines() if "!0x" in line]

    def test_what_is_around_a_frame_is_no_part_of_it(self):
        for name, line in (("at", f"at {FRAME}"), ("indented", f"   at {FRAME}"), ("quotes", f'"{FRAME}"'), ("single quotes", f"'{FRAME}'"),
                           ("a Markdown quote", f"`{FRAME}`"), ("old quotes", f"`{FRAME}'"), ("at and quotes", f'  at "{FRAME}"'),
                           ("a list of texts", f'"{FRAME}",'), ("an identity", f"{FRAME} {{0123456789abcdef0123456789abcdef01234567}}")):
            with self.subTest(name):
                done = self.resolved(f"{line}\n{FRAME}\n")
                self.assertEqual([row.split()[1] for row in done.stdout.splitlines() if "!0x" in row], [FRAME, FRAME], done.stdout)

    def test_text_in_utf16(self):
        text = f"> Bücher 📚\n{FRAME}\r\n" * 3
        want = self.resolved(text).stdout
        long = "".join(f"> stack {i} 📚ü\n{FRAME}\n" for i in range(20000))  # many fills of the buffer
        for name, mark, code in (("PowerShell's", b"\xff\xfe", "utf-16-le"), ("the other order", b"\xfe\xff", "utf-16-be")):
            with self.subTest(name):
                self.assertEqual(self.resolved(mark + text.encode(code)).stdout, want)
                self.assertEqual(self.resolved(mark + long.encode(code), "--ndjson").stdout, self.resolved(long, "--ndjson").stdout)
                document = '{"frames":[{"module":"bücher.exe","offset":"0x2000"}]}'
                self.assertEqual(self.resolved(mark + document.encode(code)).stdout, self.resolved(document).stdout)
        halves = b"\xff\xfe" + "> a".encode("utf-16-le") + b"\x00\xd8" + f"\n{FRAME}\n".encode("utf-16-le")
        self.assertIn("> a\ufffd", self.resolved(halves).stdout)

    def test_all_text_in_utf16_cut_anywhere_ends(self):
        data = b"\xff\xfe" + f"> ü📚\n{FRAME}\n".encode("utf-16-le")
        for length in range(2, len(data), 3):
            e2e.finished([e2e.PROGRAM, "resolve", *SYMBOLS], stdin=data[:length], limit_s=60 * e2e.PATIENCE)

    def test_addresses_have_no_limit_and_stacks_say_what_is_left_out(self):
        addresses = "".join(f"0x{0x140001000 + i:x}\n" for i in range(3000))
        lines = [line.split()[:2] for line in self.resolved(MODULE + addresses, "--addresses").stdout.splitlines() if "!0x" in line]
        self.assertEqual(lines, [[str(i), f"victims-ob2.exe!0x{0x1000 + i:x}"] for i in range(3000)])
        deep = "".join(f"victims-ob2.exe!0x{0x1000 + i:x}\n" for i in range(3000))
        done = self.resolved(deep)
        self.assertIn("1976 frames in the middle of stacks were left out", done.stderr)
        self.assertEqual(done.stdout.count("1976 frames left out\n"), 1)
        self.assertEqual(self.run_json("resolve", *SYMBOLS, "--json", stdin=deep)["left_out"], 1976)
        self.assertNotIn("left_out", self.run_json("resolve", *SYMBOLS, "--json", stdin=FRAME))

    def peak(self, count):
        """The peak of the memory in KB, when all but the last of so many addresses are read."""
        with subprocess.Popen([e2e.PROGRAM, "resolve", "--addresses", *SYMBOLS], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            process.stdin.write(MODULE.encode())
            for first in range(0, count, 1000):
                process.stdin.write("".join(f"0x{0x140001000 + (first + i) % 0x20000:x}\n" for i in range(1000)).encode())
            process.stdin.flush()
            while struct.unpack("i", fcntl.ioctl(process.stdin, termios.FIONREAD, b"\0" * 4))[0]:
                time.sleep(0.02)
            return status_of(process.pid, "VmHWM")

    def test_addresses_take_the_same_memory_however_many_they_are(self):
        few, many = self.peak(100_000), self.peak(10_000_000 if e2e.SOAK else 1_000_000)
        print(f"addresses: {few} KB for few, {many} KB for many")
        self.assertLess(many, few + 2048)  # a block of memory for each would be 28,000 KB

    def test_a_record_is_one_walk(self):
        file = self.folder / "made.rec"
        file.write_bytes(made.record(*(made.stack([0x1000 + i], walker) for i, walker in enumerate(made.WALKERS)), made.captures([0x50])))
        for name, more, want in (("the walk that counts", [], ["a.exe!0x1000"]), ("another", ["--walker", "backtrace"], ["a.exe!0x1003"]),
                                 ("all", ["--all"], [f"a.exe!0x{at:x}" for at in (0x1000, 0x1001, 0x1002, 0x1003, 0x1004, 0x50)])):
            with self.subTest(name):
                done = self.run_twinstack("resolve", *more, file)
                self.assertEqual([line.split()[1] for line in done.stdout.splitlines() if "!0x" in line], want)
                self.assertEqual("5 more stacks of records" in done.stderr, name == "the walk that counts", done.stderr)
        self.assertEqual(len(self.run_json("resolve", "--json", file)), 6)  # programs get all

    def test_what_is_no_text_is_an_error(self):
        done = self.resolved(bytes(range(256)) * 200, exit_code=3)
        self.assertIn("lines hold no frame", done.stderr)

    def signalled(self, words, source, number):
        """Sends the signal to a reader of SOURCE, a command of the shell. Returns its status and how many seconds it took to end."""
        feeder = subprocess.Popen(["bash", "-c", source], stdout=subprocess.PIPE, start_new_session=True)
        process = subprocess.Popen([e2e.PROGRAM, *map(str, words)], stdin=feeder.stdout, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            feeder.stdout.close()
            while not status_of(process.pid, "SigCgt", 16) >> (number - 1) & 1:  # it is about to read
                time.sleep(0.02)
            time.sleep(0.1)
            start = time.monotonic()
            process.send_signal(number)
            return process.wait(30 * e2e.PATIENCE), time.monotonic() - start
        finally:
            process.kill()
            process.wait()
            os.killpg(feeder.pid, signal.SIGKILL)
            feeder.wait()

    def test_each_reader_ends_within_a_second_of_a_signal_whatever_it_reads(self):
        one = self.folder / "one.txt"
        one.write_text(FRAME)
        readers = {"resolve": ["resolve", *SYMBOLS], "resolve with threads": ["resolve", "-j2", *SYMBOLS], "signatures": ["signatures", "-"],
                   "signatures of offsets": ["signatures", *SYMBOLS, "-"], "check": ["check", "--stacks", one, "-"],
                   "symbols fetch": ["symbols", "fetch", *SYMBOLS, "--stack", "-"]}
        sources = {"a stack without end": "yes 'a.exe!0x10'", "stacks without end": "yes $'> a\na.exe!0x10\n'",
                   "a line without end": "tr '\\0' x < /dev/zero", "a document without end": "printf '['; yes '{\"frames\":[]},'",
                   "nothing": "sleep 1000"}
        for reader, words in readers.items():
            for source, command in sources.items():
                for number in (signal.SIGINT, signal.SIGTERM):
                    with self.subTest(reader, source=source, signal=number.name):
                        times = []  # the least of ten at most, since other programs take time from this one
                        while len(times) < 10 and (not times or min(times) >= 1):
                            status, seconds = self.signalled(words, command, number)
                            self.assertEqual(status, 130)
                            times.append(seconds)
                        self.assertLess(min(times), e2e.SLOWNESS)

    def test_a_file_without_an_end_is_no_reason_to_go_on(self):
        large = self.folder / "large.txt"
        with large.open("w") as file:
            file.truncate(1 << 40)
        for words in (["resolve", large], ["signatures", large], ["check", "--stacks", large, large]):
            with self.subTest(words[0]):
                self.assertEqual(self.signalled(words, "true", signal.SIGINT)[0], 130)


if __name__ == "__main__":
    e2e.main()
