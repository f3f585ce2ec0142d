"""Victims in a .NET runtime: what `rtl` and the runtime's own snapshots recorded, compared with the victim's truth.

One dump is written, which takes half a minute under Wine: in the middle of a collection. It has a Wine
prefix to itself.

Only this finds a walk of managed code that a real runtime breaks: by its collections, its own suspensions, its unwind data."""

import concurrent.futures
import json
import pathlib
import sys
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
import bench_managed  # noqa: E402
import bench_stops  # noqa: E402
import e2e  # noqa: E402

BIN = bench_stops.BIN
RUNTIME = e2e.BUILD / "dotnet"
RUNTIME10 = e2e.BUILD / "dotnet10"
ENV = {**bench_stops.ENV, "TWINSTACK_OFFSETS_ONLY": "1", "TWINSTACK_DOTNET": f"Z:{RUNTIME}".replace("/", "\\")}
CRASHES = ["throw", "null", "callback", "recursion", "inlined", "generic", "lambda", "framework", "iterator", "dynamic"]
HANGS = ["loop", "pinvoke", "deadlock", "async", "resumed", "filter", "finalizer", "seed_needed", "collected"]
PHASES = ["Throw", "Jit", "Collect", "Collected"]  # what the thread does when it is stopped
# Each end that meets a walk is a chance to see it freed too early. Of 200 threads, 7 to 40 end so on
# a quiet machine, on a busy one at times 7 of 8,000.
ENDS_MET = 3
# The type arguments that the code was compiled for; the program states them, too.
GENERIC = ["Scenarios::Raise", "Scenarios/Box`1<System.__Canon>::Map<int>",
           "Scenarios/Cell`1/Inner`1<Scenarios/Pair`2<long,System.__Canon>,System.DayOfWeek>::Deep<System.Nullable`1<byte>>",
           "Scenarios/Cell`1<ushort>::Steps<double>", "Scenarios::Generic"]
COPY_MOST_NS = 15000  # what copying 64 KB may add to a suspension, on a quiet machine; bench_managed.py prints the figures


class ManagedRun(e2e.Case):
    @classmethod
    def setUpClass(cls):
        if not (BIN / "victims-managed-ob2.exe").exists():
            raise e2e.unittest.SkipTest("no Windows programs")
        if not RUNTIME.is_dir():
            raise e2e.unittest.SkipTest("no .NET runtime, see build/log/dotnet.log")
        if not pathlib.Path(ENV["WINEPREFIX"]).is_dir():
            raise e2e.unittest.SkipTest("no Wine prefix; ./run makes it")
        cls.enterClassContext(e2e.wine_session(ENV))

    def capture(self, scenario, variant, env=ENV, runtime=""):
        folder = self.folder / f"{scenario}-{variant}"
        folder.mkdir()
        walkers = "framepointer,snapshot,snapshot-seeded"
        done = e2e.launch(BIN, folder, BIN / f"victims-managed{runtime}-{variant}.exe", f"managed_{scenario}", "--walkers", walkers, env=env,
                          limit_s=40 if env is ENV else 100)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), folder

    def stacks(self, folder):
        """{walker: [(function, line) of our own managed code]} of the suspect."""
        truth = json.loads((folder / "truth.json").read_text())["threads"]
        lines = self.run_twinstack("resolve", "--symbols", BIN, "--ndjson", folder / "record.rec").stdout.splitlines()
        found = {}
        for stack in map(json.loads, lines):
            _, thread, walker = stack["label"].split()[:3]
            own = [(f["function"], f["line"]) for f in stack["frames"] if f["module"] == "managed.dll" and f["line"]]
            found.setdefault((int(thread), walker), own)
        suspect = next((t for role in (("pool",), ("suspect", "finalizer")) for t in truth if t["role"] in role), truth[0])
        want = [(f["function"], f["line"]) for f in suspect["frames"]
                if f["file"] and f["file"].endswith(".cs") and not f["tail"]]
        return {walker: own for (thread, walker), own in found.items() if thread == suspect["id"]}, want

    def check(self, scenario, variant, env=ENV, runtime=""):
        outcome, folder = self.capture(scenario, variant, env, runtime)
        code = {"null": "0xC0000005"}.get(scenario, "0xE0434352" if scenario in CRASHES else "0xCA970001")
        self.assertEqual(outcome["exit_code"], code, (scenario, variant, (folder / "stdout.txt").read_text()))
        self.assertIn("record.rec", outcome["files"])
        return (scenario, variant, *self.stacks(folder))

    def test_rtl_is_right(self):
        pairs = [(s, v) for s in CRASHES + HANGS for v in ("ob2", "ob0") if v == "ob2" or s == "inlined"]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            done = list(pool.map(lambda pair: self.check(*pair), pairs))
        rows = []
        for scenario, variant, found, want in done:
            self.assertTrue(want, scenario)
            right = {walker: own == want for walker, own in found.items()}
            rows.append((scenario, variant, right))
            print(f"{scenario}.{variant}: " + ", ".join(f"{w} {'right' if ok else 'differs'}" for w, ok in right.items()))
            with self.subTest(scenario=scenario, variant=variant):
                self.assertEqual(found["rtl"], want)
        self.assertTrue(any(right.get("snapshot") for _, _, right in rows), "no snapshot was right")
        self.assertTrue(all(right["snapshot-seeded"] for s, _, right in rows if s in CRASHES))

    def test_rtl_is_right_in_the_current_runtime_too(self):
        """.NET 10, in which one scenario differs: see victims/README.md. Only `inlined` shows that its JIT optimises."""
        if not RUNTIME10.is_dir():
            self.skipTest("no .NET 10 runtime, see build/log/dotnet10.log")
        env = {**ENV, "TWINSTACK_DOTNET": f"Z:{RUNTIME10}".replace("/", "\\"),
               "WINEDLLOVERRIDES": ENV["WINEDLLOVERRIDES"].replace("mscoree,", "")}
        for scenario in ("throw", "inlined", "generic", "recursion", "dynamic", "loop", "seed_needed"):
            with self.subTest(scenario=scenario):
                _, _, found, want = self.check(scenario, "ob2", env, "10")
                self.assertTrue(want)
                self.assertEqual(found["rtl"], want)
                if scenario in CRASHES:
                    self.assertEqual(found["snapshot-seeded"], want)
                if scenario == "generic":
                    self.assertEqual([function for function, _ in want], GENERIC)

    def test_a_snapshot_repeats_no_frame_of_precompiled_code(self):
        """The runtime starts where it last left managed code: among the frames that led to the seed."""
        _, folder = self.capture("framework", "ob2")
        lines = self.run_twinstack("resolve", "--symbols", BIN, "--symbols", RUNTIME, "--ndjson", folder / "record.rec").stdout.splitlines()
        found = {stack["label"].split()[2]: [(f["module"], f.get("method"), f["offset"], f["function"]) for f in stack["frames"]]
                 for stack in map(json.loads, lines)}
        self.assertIn("System.Int32::Parse", [function for *_, function in found["rtl"]])
        self.assertEqual(found["snapshot-seeded"], found["rtl"])

    def test_bad_seeds_of_snapshots_crash_nothing(self):
        for variant in ("ob2", "ob0"):
            outcome, folder = self.capture("bad_seed", variant)
            said = (folder / "stdout.txt").read_text()
            self.assertEqual((outcome["exit_code"], "record.rec" in outcome["files"]), ("0x00000000", False), said)
            self.assertTrue(said.replace("\r", "").endswith("stayed calm\n"), said)

    def test_a_dump_in_the_middle_of_a_collection(self):
        outcome, folder = self.capture("redirected", "ob2", {key: value for key, value in ENV.items() if key != "TWINSTACK_OFFSETS_ONLY"})
        self.assertEqual((outcome["exit_code"], "dump.dmp" in outcome["files"]), ("0xCA970001", True))
        threads = {thread["role"]: thread for thread in json.loads((folder / "truth.json").read_text())["threads"]}
        want = [(f["function"], f["line"]) for f in threads["parked"]["frames"] if f["function"]]
        moved = "hijacked: a collection redirected the return address"
        for plain in ([], ["--plain"]):
            stacks = {thread["id"]: thread for thread in self.run_json(
                "dump", "--stacks", "--json", *plain, "--symbols", BIN, "--symbols", RUNTIME, folder / "dump.dmp",
                env={"TWINSTACK_SYSTEM_SYMBOLS": "1"})["threads"]}
            found = stacks[threads["moved"]["id"]]
            self.assertEqual((found["stop"], [f["module"] for f in found["stack"]["frames"]]), (moved, ["coreclr.dll"]), plain)
            parked = [(f["function"], f["line"]) for f in stacks[threads["parked"]["id"]]["stack"]["frames"]]
            right = [frame for frame in parked if frame in want]
            self.assertEqual(right, [] if plain else want, (plain, parked, stacks[threads["parked"]["id"]]["stop"]))
        walked = {(int(thread), walker): stack for stack in map(json.loads, self.run_twinstack(
            "resolve", "--symbols", BIN, "--ndjson", folder / "record.rec").stdout.splitlines())
            for thread, walker in [stack["label"].split()[1:3]]}
        self.assertEqual([f["module"] for f in walked[threads["moved"]["id"], "rtl"]["frames"]], ["coreclr.dll"])
        parked = [(f["function"], f["line"]) for f in walked[threads["parked"]["id"], "rtl"]["frames"]]
        self.assertEqual([frame for frame in parked if frame in want], want)
        identities = {f["identity"] for stack in walked.values() for f in stack["frames"] if f["module"] == "managed.dll"}
        self.assertEqual(identities, {"checked"}, "the identity of the PDB that a managed image names is in the record")
        print("threads in a collection that no walk can know 1, marked by record and dump 1; threads that wait for it 1, right 1")

    def test_a_fault_in_native_code_is_seen_by_no_hook(self):
        outcome, _ = self.capture("native_crash", "ob2")
        self.assertEqual((outcome["exit_code"], "record.rec" in outcome["files"]), ("0xC0000602", False))

    def test_the_runtime_itself_refuses_where_nothing_answers_for_wine(self):
        """UNSAFE (0x80131360), the answer to each snapshot of a thread in managed code; the thread runs on."""
        with unittest.mock.patch.dict(bench_managed.ENV, {"TWINSTACK_SNAPSHOT_NO_ANSWER": "1"}):
            row = bench_managed.sample("Spin", 20, "plain", limit_s=120 * e2e.PATIENCE)["plain"]
        self.assertEqual((row["refused"], row["right"], row["blocked"], row["left_suspended"]), (20, 0, 0, 0))
        print("snapshots {samples}, refused by the runtime {refused}, blocked {blocked}, left suspended {left_suspended}".format(**row))

    def test_without_the_runtime_every_scenario_says_so(self):
        done = e2e.wine(BIN / "victims-managed-ob2.exe", "--list", "--json", env={**ENV, "TWINSTACK_DOTNET": "C:\\none"})
        listed = [json.loads(line) for line in done.stdout.splitlines()]
        reasons = [scenario["reason"] for scenario in listed if scenario["group"] == "A6"]
        self.assertEqual((len(reasons) > 15, set(reasons), {scenario["supported"] for scenario in listed}), (True, {"no .NET runtime"}, {False}))
        print(f"scenarios without a runtime {len(reasons)}, unsupported {len(reasons)}")

    def test_a_walk_of_a_copy_is_never_blocked_nor_wrong(self):
        total = dict.fromkeys(("samples", "blocked", "wrong", "left_suspended", "hijacked", "ended"), 0)
        for phase in PHASES:
            row = bench_managed.sample(phase, 250, "copy", limit_s=120 * e2e.PATIENCE)["copy"]
            with self.subTest(phase=phase):
                self.assertEqual((row["samples"], row["blocked"], row["wrong"], row["left_suspended"]), (250, 0, 0, 0))
                self.assertGreater(row["right"], 0)
                self.assertGreater(row["copied_median_bytes"], 64 << 10)
                self.assertLess(row["copy_median_ns"], COPY_MOST_NS * e2e.PATIENCE)
            for name in total:
                total[name] += row[name]
            print(f"{phase}: suspended {row['stop_median_ns'] / 1e3:.0f} µs, with the registers alone "
                  f"{row['bare_median_ns'] / 1e3:.0f} µs, the copy {row['copy_median_ns'] / 1e3:.1f} µs; {row['right']} right, {row['hijacked']} hijacked")
        print("walks {samples}, blocked {blocked}, wrong {wrong}, left suspended {left_suspended}".format(**total))

    def test_no_lock_is_held_while_a_collection_may_start(self):
        total = dict.fromkeys(("runtime_calls", "calls_under_lock", "collections", "collections_by_us", "snapshots"), 0)
        for phase in ("Jit", "Allocate", "Collect", "Collected"):
            found = bench_managed.sample(phase, 60, limit_s=120 * e2e.PATIENCE, watch_collections=True)
            rules = found.pop("rules")
            with self.subTest(phase=phase):
                self.assertEqual((rules["calls_under_lock"], rules["collections_by_us"], rules["snapshots_at_once"]), (0, 0, 1))
                self.assertGreater(rules["snapshots"], 0)
                # A seeded snapshot may be refused because of a lock that the thread holds; the walk of a copy never is.
                self.assertEqual([row["left_suspended"] for row in found.values()] + [found["copy"]["blocked"]], [0] * 5)
            for name in total:
                total[name] += rules[name]
        self.assertGreater(total["collections"], 20)
        self.assertGreater(total["runtime_calls"], 1000)
        print("questions to the runtime {runtime_calls}, under a lock {calls_under_lock}, collections {collections}, by a thread "
              "that held a lock {collections_by_us}, snapshots {snapshots}, at once 1".format(**total))

    def test_a_thread_that_holds_the_heap_is_not_asked_about(self):
        row = bench_managed.sample("Heap", 200, "seeded", limit_s=120 * e2e.PATIENCE)["seeded"]
        self.assertEqual((row["blocked"], row["wrong"], row["left_suspended"], row["right"] + row["refused"]), (0, 0, 0, 200))
        self.assertGreater(row["held"], 0)
        print("threads in managed code 200, that held the heap {held}, blocked {blocked}, left suspended {left_suspended}".format(**row))

    def test_a_snapshot_that_waits_for_its_thread_is_freed_by_the_capture(self):
        blocked = 0
        for samples in (3, 6, 9, 12):  # two of three wait, each as long as a walk may take
            row = bench_managed.sample("Heap", 3, "plain", limit_s=120 * e2e.PATIENCE, needs_heap=True)["plain"]
            self.assertEqual((row["right"] + row["blocked"], row["left_suspended"]), (3, 0))
            blocked += row["blocked"]
            if blocked:
                break
        self.assertGreater(blocked, 0)
        print(f"snapshots {samples}, that waited for a lock of their thread {blocked}, left suspended 0")

    def test_a_stack_that_ends_far_from_its_start_is_marked(self):
        for mode in ("copy", "in-place"):
            row = bench_managed.sample("NoCaller", 50, mode, limit_s=120 * e2e.PATIENCE)[mode]
            self.assertEqual((row["ended"], row["too_early"], row["wrong"]), (50, 50, 0), mode)

    def test_flags_on_the_stack_are_no_caller(self):
        for mode in ("copy", "in-place"):
            row = bench_managed.sample("Flags", 50, mode, limit_s=120 * e2e.PATIENCE)[mode]
            self.assertEqual((row["ended"], row["no_code"], row["too_early"], row["wrong"]), (50, 0, 0, 0), mode)

    @e2e.all_cores()  # on one, hardly any thread ends during its own walk
    def test_walks_meet_each_other_and_the_end_of_their_thread(self):
        found = bench_managed.sample("Dying", 200, limit_s=120 * e2e.PATIENCE, pause_ms=20)
        row, rules = found["all"], found["rules"]
        self.assertEqual((rules["freed_when_walked"], rules["snapshots_at_once"]), (0, 1))
        self.assertGreaterEqual(rules["threads_ended"], 190)
        self.assertEqual((row["samples"], row["ended"], row["blocked"], row["left_suspended"]), (200, 200, 0, 0))
        walks, ends = row["walks"], rules["ended_when_walked"]
        for _ in range(40):  # beside other programs, fewer threads end at the right moment
            if ends < ENDS_MET or walks == 0:
                more = bench_managed.sample("Dying", 200, limit_s=120 * e2e.PATIENCE, pause_ms=20)
                self.assertEqual(more["rules"]["freed_when_walked"], 0)
                walks += more["all"]["walks"]
                ends += more["rules"]["ended_when_walked"]
        self.assertGreater(walks, 0, "walks that met a thread that ended")
        self.assertGreaterEqual(ends, ENDS_MET, "ends of a thread during its own walk")
        print("threads that ended {ended}, of which walks met {walks}, blocked {blocked}, left suspended {left_suspended}".format(**row))
        print("snapshots {snapshots}, refused since another was being taken {snapshots_not_tried}, ends that waited for one "
              "{ended_when_walked}, ends that did not {freed_when_walked}".format(**rules))


if __name__ == "__main__":
    e2e.main(split=True)
