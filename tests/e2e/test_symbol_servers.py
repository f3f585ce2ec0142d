"""Symbol servers: layouts, faults, limits, the cache, two processes at once, kill -9 in the middle."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
from symbol_server import SymbolServer  # noqa: E402

ID = "7DD47A9FC2E8499AA78EC14AE2C965A21"
KEY = f"sigsegv.pdb/{ID}/sigsegv.pdb"
STACK = f"sigsegv.exe!0x1006 {{{ID}}}\n"
BIG_ID = "FB9FB7D58AE247B9988973DAF157F7AB1"
BIG = f"conpty.pdb/{BIG_ID}/conpty.pdb"


class Servers(e2e.Case):
    def stores(self, layout):
        return self.fixture("images/i70-symstores") / layout

    def server(self, folder):
        server = SymbolServer(folder)
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server

    @property
    def cache(self):
        return self.folder / "cache"

    def path(self, server):
        return f"srv*{self.cache}*{server.url}"

    def resolve(self, server, *more, stack=STACK, **options):
        done = self.run_twinstack("resolve", "--ndjson", "--symbols", self.path(server), *more, stdin=stack, **options)
        return json.loads(done.stdout)["frames"][0], done.stderr

    def parts(self):
        return [p for p in (self.cache / ".twinstack/part").iterdir() if ".txt" not in p.suffixes]  # its note, which has other names while it is written

    def assert_whole(self, key=KEY, layout="plain"):
        self.assertEqual((self.cache / key).read_bytes(), (self.stores(layout) / key).read_bytes())
        self.assertEqual(self.parts(), [])


class Layouts(Servers):
    def test_layouts(self):
        for layout, asked in (("plain", 1), ("cab", 2), ("twotier", None), ("ssqp", None), ("filter", None)):
            shutil.rmtree(self.cache, ignore_errors=True)
            server = self.server(self.stores(layout))
            frame, errors = self.resolve(server)
            self.assertEqual((frame["function"], frame["symbols"]), ("mainCRTStartup", "pdb"), (layout, errors))
            self.assert_whole()
            if asked:
                self.assertEqual(len(server.asked), asked, (layout, server.asked))
            before = len(server.asked)
            self.assertEqual(self.resolve(server)[0]["function"], "mainCRTStartup")
            self.assertEqual(len(server.asked), before, "the cache is asked first")
            self.assertEqual(self.resolve(server, "--offline")[0]["function"], "mainCRTStartup")

    def test_images_and_pointers_that_say_why_there_is_none(self):
        name, code = "x64_nested_collided.exe", "62524D629000"
        stack = f"# module {name} {code} {'0' * 33}\n{name}!0x1000\n"
        for layout in ("plain", "twotier", "cab", "ssqp"):
            shutil.rmtree(self.cache, ignore_errors=True)
            self.resolve(self.server(self.stores(layout)), stack=stack)
            self.assertEqual((self.cache / name / code / name).read_bytes(),
                             (self.stores("plain") / name / code / name).read_bytes(), layout)
        shutil.rmtree(self.cache)
        frame, errors = self.resolve(self.server(self.stores("filter")), stack=stack)
        self.assertIsNone(frame["function"])
        self.assertIn("this image was deleted", errors)

    def test_folders_with_pointers(self):
        one = self.run_json("resolve", "--json", "--symbols", self.stores("filter"), stdin=STACK)
        self.assertEqual(one["frames"][0]["function"], "mainCRTStartup")
        done = self.run_twinstack("resolve", "--symbols", self.stores("filter"),
                                  stdin="# module x64_nested_collided.exe 62524D629000 -\nx64_nested_collided.exe!0x1000\n")
        self.assertIn("this image was deleted", done.stderr)

    def test_other_systems(self):
        server = self.server(self.stores("ssqp"))
        build = "b060ad20c6b47781552708aa192e7739fac7c84a"
        stack = f"# module basic {build} 20AD60B0B4C68177552708AA192E77390\nbasic!0x1130\n"
        frame, errors = self.resolve(server, stack=stack)
        self.assertEqual(frame["symbols"], "dwarf", errors)
        self.assertTrue((self.cache / f"_.debug/elf-buildid-sym-{build}/_.debug").is_file())
        stack = "main!0x37e6 {CF441AF5BB7E35678D44451D69214D920}\n"
        frame, errors = self.resolve(server, stack=stack)
        self.assertEqual(frame["symbols"], "dwarf", errors)

    def test_debuginfod(self):
        server = self.server(self.folder)
        build = "b060ad20c6b47781552708aa192e7739fac7c84a"
        debug = self.stores("ssqp") / f"_.debug/elf-buildid-sym-{build}/_.debug"
        server.files[f"/buildid/{build}/debuginfo"] = debug.read_bytes()
        done = self.run_twinstack("resolve", "--ndjson", "--symbols", f"debuginfod*{self.cache}*{server.url}",
                                  stdin=f"# module basic {build} 20AD60B0B4C68177552708AA192E77390\nbasic!0x1130\n")
        self.assertEqual(json.loads(done.stdout)["frames"][0]["symbols"], "dwarf")
        self.assertTrue(all(path.startswith("/buildid/") for path in server.asked), server.asked)

    def test_places_are_asked_in_order(self):
        empty, full = self.server(self.folder / "none"), self.server(self.stores("plain"))
        self.assertEqual(self.run_json("resolve", "--json", "--symbols", f"{self.path(empty)}*{full.url}", stdin=STACK)
                         ["frames"][0]["function"], "mainCRTStartup")
        self.assertIn(f"/{KEY}", empty.asked)
        local = self.server(self.folder / "none")
        self.run_twinstack("resolve", "--symbols", f"srv*{self.cache}*{self.stores('plain')}*{local.url}", stdin=STACK)
        self.assertEqual(local.asked, [])

    def test_the_environment(self):
        server = self.server(self.stores("plain"))
        for name in ("_NT_SYMBOL_PATH", "TWINSTACK_SYMBOLS"):
            shutil.rmtree(self.cache, ignore_errors=True)
            env = {name: f"cache*{self.cache};srv*{server.url}", "TWINSTACK_SYSTEM_SYMBOLS": "1"}
            one = self.run_json("resolve", "--json", stdin=STACK, env=env)
            self.assertEqual(one["frames"][0]["function"], "mainCRTStartup")
            self.assert_whole()
        usual = self.folder / "usual"
        self.run_twinstack("resolve", "--symbols", f"srv*{server.url}", stdin=STACK, env={"TWINSTACK_CACHE": str(usual)})
        self.assertTrue((usual / "download" / KEY).is_file())
        self.run_twinstack("resolve", "--symbols", server.url, "--cache", self.folder / "own", stdin=STACK)
        self.assertTrue((self.folder / "own/download" / KEY).is_file())

    def test_nobody_is_asked_unless_named(self):
        self.assertIsNone(self.run_json("resolve", "--json", stdin=STACK,
                                        env={"DEBUGINFOD_URLS": "http://127.0.0.1:1"})["frames"][0]["function"])

    def test_bad_paths(self):
        for path in ("srv*c*ftp://x/", "what*c*http://x", "srv*/nonexistent/folder", "symsrv"):
            self.run_twinstack("resolve", "--symbols", path, stdin=STACK, exit_code=3)
        done = self.run_twinstack("resolve", "--symbols", f"srv*{self.cache}*http://127.0.0.1:1", stdin=STACK,
                                  exit_code=3, env={"TWINSTACK_LIBCURL": "/nonexistent"})
        self.assertIn("libcurl is not installed", done.stderr)
        done = self.run_twinstack("resolve", "--symbols", e2e.ROOT / "corpus/symbols", "-", stdin="victims-ob2.exe!0x1530\n", env={
            "TWINSTACK_LIBCURL": "/nonexistent", "_NT_SYMBOL_PATH": f"srv*{self.folder}*http://127.0.0.1:1/", "TWINSTACK_SYSTEM_SYMBOLS": "1"})
        self.assertIn("the symbol path of the environment is not used whole: symbol servers: unsupported (libcurl", done.stderr)
        self.assertIn(" pdb ", done.stdout)

    def test_names_from_dumps_stay_in_the_cache(self):
        server = self.server(self.stores("plain"))
        for name in ("..", "../../x.exe", "a\\b.exe", ".hidden.exe"):
            stack = json.dumps({"modules": [{"index": 0, "name": name, "debug_id": ID, "pdb_name": f"../../{name}/.."}],
                                "frames": [{"module": 0, "offset": "0x1006"}]})
            self.run_twinstack("resolve", "--json", "--symbols", self.path(server), stdin=stack)
        self.assertEqual([p for p in server.asked if ".." in p], [])


class Faults(Servers):
    STAYING = ((("status", 500), "did not answer"), (("close", None), "did not answer"), (("status", 403), "refused"),
               (("redirect", f"/{KEY}"), "refused"), (("redirect", "ftp://127.0.0.1/x"), "refused"))

    def test_faults_that_pass(self):
        for faults in ([("status", 500)], [("status", 429), ("status", 503)], [("status", (429, {"Retry-After": "1"}))],
                       [("cut", 50000)], [("cut", 10), ("cut", 20000), ("close", None), ("cut", 30000)],
                       [("length", 500000)], [("close", None)], [("redirect", f"/{KEY}?again")]):
            shutil.rmtree(self.cache, ignore_errors=True)
            server = self.server(self.stores("plain"))
            server.files[f"/{KEY}?again"] = (self.stores("plain") / KEY).read_bytes()
            server.faults[f"/{KEY}"] = list(faults)
            frame, errors = self.resolve(server)
            self.assertEqual(frame["function"], "mainCRTStartup", (faults, errors))
            self.assert_whole()

    def test_a_cut_is_resumed_and_not_begun_again(self):
        server = self.server(self.stores("plain"))
        server.faults[f"/{KEY}"] = [("cut", 60000), ("cut", 30000)]
        self.resolve(server)
        self.assertEqual(server.ranges[:3], [None, "bytes=60000-", "bytes=90000-"])
        self.assert_whole()

    def test_a_cut_of_a_server_without_ranges(self):
        server = self.server(self.stores("plain"))
        server.resumable = False
        server.faults[f"/{KEY}"] = [("cut", 60000)]
        self.assertEqual(self.resolve(server)[0]["function"], "mainCRTStartup")
        self.assert_whole()

    def test_a_version_that_changes_between_parts(self):
        server = self.server(self.stores("plain"))
        old = bytes(60000)
        server.faults[f"/{KEY}"] = [("length", 102400)]
        server.files[f"/{KEY}"] = old
        run = subprocess.Popen([e2e.PROGRAM, "resolve", "--symbols", self.path(server)], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        run.stdin.write(STACK.encode())
        run.stdin.close()
        self.assertTrue(server.wait_for(1))
        server.files.clear()
        server.version = "2"
        self.assertEqual(run.wait(30 * e2e.PATIENCE), 0)
        self.assert_whole()

    def test_attempts_keep_a_growing_distance(self):
        server = self.server(self.stores("plain"))
        server.faults[f"/{KEY}"] = [("status", 500)] * 3
        self.resolve(server)
        first, second, third = (b - a for a, b in zip(server.times, server.times[1:]))
        self.assertTrue(first >= 0.2 and second >= 0.4 and third >= 0.8, (first, second, third))

    def test_a_server_that_asks_to_wait_is_obeyed(self):
        server = self.server(self.stores("plain"))
        server.faults[f"/{KEY}"] = [("status", (429, {"Retry-After": "2"}))]
        self.resolve(server)
        self.assertGreaterEqual(server.times[1] - server.times[0], 2)

    def test_a_file_over_the_limit_of_size_is_not_downloaded(self):
        server = self.server(self.stores("plain"))
        server.faults[f"/{KEY}"] = [("always", ("length", 9 << 30))]
        done = self.run_twinstack("resolve", "--symbols", self.path(server), stdin=STACK)
        self.assertIn("refused", done.stdout)
        self.assertEqual(server.asked.count(f"/{KEY}"), 1)
        self.assertEqual(self.parts(), [])

    def test_faults_that_stay(self):
        for fault, word in self.STAYING:
            shutil.rmtree(self.cache, ignore_errors=True)
            server = self.server(self.stores("plain"))
            server.faults[f"/{KEY}"] = [("always", fault)]
            done = self.run_twinstack("resolve", "--symbols", self.path(server), stdin=STACK)
            self.assertIn(word, done.stdout, fault)
            self.assertIn(server.url, done.stderr)
            self.assertLessEqual(len(server.asked), 16, fault)
            self.assertFalse((self.cache / KEY).exists())

    def test_a_dead_server_is_not_asked_for_every_module(self):
        stack = "".join(f"m{i}.dll!0x10 {{{i:032X}1}}\n" for i in range(20))
        done = self.run_twinstack("resolve", "--symbols", f"srv*{self.cache}*http://127.0.0.1:1", stdin=stack)
        self.assertIn("did not answer", done.stdout)
        server = self.server(self.folder / "none")
        server.always = ("close", None)
        done = self.run_twinstack("resolve", "--symbols", f"srv*{self.folder / 'other'}*{server.url}", stdin=stack)
        self.assertIn("did not answer", done.stdout)
        self.assertLess(len(server.asked), 20)

    def test_stalls_end(self):
        server = self.server(self.stores("plain"))
        server.faults[f"/{KEY}"] = [("always", ("stall", 600))]
        start = time.monotonic()
        done = self.run_twinstack("resolve", "--symbols", self.path(server), "--fetch-limit", "2s", limit_s=500, stdin=STACK)
        self.assertLess(time.monotonic() - start, min(20 * e2e.PATIENCE, 500))
        self.assertIn("did not answer", done.stdout)

    def test_wrong_files_go_into_quarantine(self):
        good = (self.stores("plain") / KEY).read_bytes()
        for body, why in (((self.stores("wrong") / KEY).read_bytes(), "another build"), (b"<html>hello</html>", ""),
                          (good[:50000], ""), (b"MSCF" + bytes(100), ""), (b"", "")):
            shutil.rmtree(self.cache, ignore_errors=True)
            server = self.server(self.stores("plain"))
            server.faults[f"/{KEY}"] = [("always", ("body", body))]
            done = self.run_twinstack("resolve", "--symbols", self.path(server), stdin=STACK)
            self.assertNotIn("mainCRTStartup", done.stdout, body[:20])
            self.assertIn("quarantine", done.stdout)
            self.assertIn(why, done.stderr)
            self.assertIn(server.url, done.stderr)
            self.assertFalse((self.cache / KEY).exists())
            kept = [p for p in (self.cache / ".twinstack/wrong").iterdir() if p.suffix != ".txt"]
            self.assertEqual([p.read_bytes() for p in kept], [body])
            asked = len(server.asked)
            self.resolve(server)
            self.assertEqual(len(server.asked), asked, "not downloaded again at once")

    def test_a_wrong_file_in_the_cache_is_replaced(self):
        server = self.server(self.stores("plain"))
        (self.cache / KEY).parent.mkdir(parents=True)
        (self.cache / KEY).write_bytes(b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0")
        self.assertEqual(self.resolve(server)[0]["function"], "mainCRTStartup")
        self.assert_whole()

    def test_absent_is_remembered_for_a_while(self):
        server = self.server(self.folder / "none")
        self.assertIsNone(self.resolve(server)[0]["function"])
        asked = len(server.asked)
        self.assertGreater(asked, 0)
        self.resolve(server)
        self.assertEqual(len(server.asked), asked)
        for marker in (self.cache / ".twinstack/missing").iterdir():
            os.utime(marker, (time.time() - 3700,) * 2)
        self.resolve(server)
        self.assertGreater(len(server.asked), asked)

    def test_how_long_absent_counts_can_be_said(self):
        server = self.server(self.folder / "none")
        self.resolve(server)
        asked = len(server.asked)
        self.resolve(server, "--fetch-again", "1h")
        self.assertEqual(len(server.asked), asked)
        time.sleep(0.05)
        self.resolve(server, "--fetch-again", "10ms")
        self.assertGreater(len(server.asked), asked)

    def test_a_file_of_a_later_folder_is_copied_to_the_first(self):
        store = self.stores("plain")
        server = self.server(self.folder / "none")
        for path in (f"srv*{self.cache}*{store}*{server.url}", f"srv*{self.cache}*{store}"):
            with self.subTest(path):
                shutil.rmtree(self.cache, ignore_errors=True)
                done = self.run_twinstack("resolve", "--ndjson", "--symbols", path, stdin=STACK)
                self.assertEqual(json.loads(done.stdout)["frames"][0]["function"], "mainCRTStartup")
                self.assertEqual((self.cache / KEY).read_bytes(), (store / KEY).read_bytes())
                self.assertEqual([p for p in self.cache.rglob("*") if p.suffix == ".part"], [])
        self.assertEqual(server.asked, [])

    def test_a_file_of_another_build_is_not_copied(self):
        done = self.run_twinstack("resolve", "--ndjson", "--symbols", f"srv*{self.cache}*{self.stores('wrong')}",
                                  stdin=STACK)
        self.assertIsNone(json.loads(done.stdout)["frames"][0]["function"])
        self.assertFalse((self.cache / KEY).exists())

    def test_offline(self):
        server = self.server(self.stores("plain"))
        done = self.run_twinstack("resolve", "--offline", "--symbols", self.path(server), stdin=STACK)
        self.assertIn("--offline", done.stdout)
        self.assertEqual(server.asked, [])

    def test_pointers_lead_nowhere_else(self):
        for text in ("PATH:../../../../etc/passwd", "PATH:/etc/passwd", "PATH:\\\\server\\share\\x.pdb",
                     "PATH:http://127.0.0.1:1/x", "what", ""):
            shutil.rmtree(self.cache, ignore_errors=True)
            server = self.server(self.folder / "none")
            server.faults[f"/sigsegv.pdb/{ID}/file.ptr"] = [("always", ("body", text.encode()))]
            done = self.run_twinstack("resolve", "--symbols", self.path(server), stdin=STACK)
            self.assertIn("outside of the server", done.stderr)


class Processes(Servers):
    def start(self, server, *more):
        return subprocess.Popen([e2e.PROGRAM, "symbols", "fetch", "--symbols", self.path(server), "--stack",
                                 self.folder / "stack.txt", *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def big_server(self):
        store = self.folder / "store"
        (store / BIG).parent.mkdir(parents=True)
        shutil.copy(self.fixture("g07-conpty-x64/conpty.pdb"), store / BIG)
        (self.folder / "stack.txt").write_text(f"conpty.node!0x1000 {{{BIG_ID}}}\n".replace("conpty.node", "conpty.exe"))
        return self.server(store)

    def test_fetch_warms_a_cache(self):
        server = self.server(self.stores("plain"))
        stack = self.folder / "stack.txt"
        stack.write_text(STACK)
        fetch = ("symbols", "fetch", "--symbols", self.path(server), "--stack", stack)
        files = self.run_json(*fetch, "--json")["files"]
        self.assertEqual([(f["file"], f["result"]) for f in files], [(KEY, "fetched")])
        self.assertEqual(self.run_json(*fetch, "--json")["files"][0]["result"], "cached")
        self.assertEqual(self.run_json(*fetch, "--json", "--offline")["files"][0]["result"], "cached")
        dump = self.fixture("g13-sigsegv-x64/sigsegv.dmp")
        listed = self.run_twinstack("symbols", "fetch", "--symbols", self.path(server), "--dump", dump).stdout
        self.assertIn(f"cached       {KEY}", listed)
        self.assertIn("absent", listed)
        self.run_twinstack("symbols", "fetch", "--symbols", self.folder, "--stack", stack, exit_code=3)
        stack.write_text("a.exe!0x1\n")
        self.run_twinstack(*fetch, exit_code=5)

    def test_many_at_once_are_bounded(self):
        server = self.server(self.folder / "none")
        stack = self.folder / "stack.txt"
        stack.write_text("".join(f"m{i}.dll!0x10 {{{i:032X}1}}\n" for i in range(1, 101)))
        done = self.run_twinstack("symbols", "fetch", "--symbols", self.path(server), "--stack", stack)
        self.assertEqual(done.stdout.count("absent"), 100)

    def test_requests_run_at_once_but_not_all(self):
        server = self.server(self.folder / "none")
        server.gather = 4
        stack = self.folder / "stack.txt"
        stack.write_text("".join(f"m{i}.dll!0x10 {{{i:032X}1}}\n" for i in range(1, 41)))
        self.run_twinstack("symbols", "fetch", "--symbols", self.path(server), "--stack", stack)
        self.assertGreater(server.most_running, 3)
        self.assertLessEqual(server.most_running, 8)

    def test_progress(self):
        server = self.big_server()
        server.faults[f"/{BIG}"] = [("slow", 1 << 15)]
        run = self.start(server, "--progress", "plain")
        _, errors = run.communicate(timeout=60 * e2e.PATIENCE)
        self.assertRegex(errors.decode(), rf"fetch: 1 files, [0-9.]+ of [0-9.]+ MB, {BIG}")
        self.assertIn(f"fetched {BIG}: ", errors.decode())
        shutil.rmtree(self.cache)
        run = self.start(server, "--progress", "none")
        self.assertEqual(run.communicate(timeout=60 * e2e.PATIENCE)[1], b"")

    def test_two_processes_share_a_cache(self):
        server = self.big_server()
        server.faults[f"/{BIG}"] = [("slow", 1 << 15)] * 4
        runs = [self.start(server) for _ in range(4)]
        for run in runs:
            out, errors = run.communicate(timeout=60 * e2e.PATIENCE)
            self.assertEqual(run.returncode, 0, (out, errors))
        self.assertEqual(server.asked, [f"/{BIG}"])
        self.assert_same()

    def assert_same(self):
        self.assertEqual((self.cache / BIG).read_bytes(), (self.folder / "store" / BIG).read_bytes())
        self.assertEqual(self.parts(), [])

    def kill(self, run):
        run.send_signal(signal.SIGKILL)
        run.communicate()
        whole = (self.folder / "store" / BIG).stat().st_size
        self.assertFalse((self.cache / BIG).exists() and (self.cache / BIG).stat().st_size != whole)

    def test_kill_in_the_middle(self):
        server = self.big_server()

        def had():
            return sum(part.stat().st_size for part in self.parts()) if self.cache.exists() else 0

        for asked in range(1, 4):  # the server holds each download where it is to be killed
            before = had()
            server.faults[f"/{BIG}"] = [("hold", 1 << 16)]
            run = self.start(server)
            self.assertTrue(server.wait_for(asked))
            self.assertEqual(server.ranges[-1], f"bytes={before}-" if before else None)
            end = time.monotonic() + 30 * e2e.PATIENCE
            while had() <= before:
                self.assertLess(time.monotonic(), end, "nothing of what came is kept")
                time.sleep(0.01)
            self.kill(run)
        for moment in range(8):  # and at other moments, also near its end
            server.faults[f"/{BIG}"] = [("slow", 1 << 17)]
            run = self.start(server)
            time.sleep(0.03 * moment)
            self.kill(run)
        server.faults.clear()
        run = self.start(server)
        out, errors = run.communicate(timeout=60 * e2e.PATIENCE)
        self.assertEqual(run.returncode, 0, (out, errors))
        self.assert_same()

    def test_interrupts(self):
        server = self.big_server()
        server.faults[f"/{BIG}"] = [("always", ("stall", 60))]
        run = self.start(server)
        self.assertTrue(server.wait_for(1))
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(30 * e2e.PATIENCE), 130)
        run.communicate()


if __name__ == "__main__":
    e2e.main()
