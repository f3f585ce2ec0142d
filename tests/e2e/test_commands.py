"""The command line as a whole: every verb has help, the exit codes are those of README.md in analyze/verbs."""

import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

# The verbs that the project promises; more are allowed.
PROMISED = {"list", "run", "resolve", "dump", "symbols", "check", "report", "compare", "gate", "accept", "known",
            "baseline", "regrade", "db", "cache", "bench", "signatures", "worker", "reduce", "queue", "serve", "doctor", "version", "case", "review"}
STACK = "capture-stack.exe!0xc155a\ncapture-stack.exe!0x51723\nntdll.dll!0x67bbe\n"
CSV = e2e.ROOT / "corpus/botman/capture-stack.csv"


def verbs():
    text = e2e.twinstack("--help").stdout
    return re.findall(r"^  ([a-z]+) +\S", text, re.M)


class Commands(e2e.Case):
    def test_every_promised_verb_is_there(self):
        self.assertEqual(PROMISED - set(verbs()), set())

    def test_alone_it_shows_five_tasks_whose_options_exist(self):
        text = self.run_twinstack(exit_code=2).stderr
        tasks = re.findall(r"(?m)^  \S.*? {2,}twinstack (\w+)(.*)$", text)
        self.assertEqual(len(tasks), 5)
        self.assertLess(len(text.splitlines()), 15)
        for verb, words in tasks:
            described = self.run_twinstack(verb, "--help").stdout
            for option in re.findall(r"--\w+", words):
                self.assertIn(option, described)

    def test_every_verb_has_help_with_examples_and_exit_codes(self):
        for verb in verbs():
            with self.subTest(verb=verb):
                done = self.run_twinstack(verb, "--help")
                self.assertTrue(done.stdout.startswith(f"usage: twinstack {verb} "), done.stdout[:200])
                self.assertIn("exit codes:", done.stdout)
                if verb not in ("version", "doctor"):
                    self.assertIn(f"twinstack {verb}", done.stdout.split("options:")[1])
                self.assertEqual(done.stderr, "")

    def test_an_unknown_option_of_every_verb_is_a_usage_error(self):
        for verb in verbs():
            with self.subTest(verb=verb):
                done = self.run_twinstack(verb, "--no-such-option", exit_code=2)
                self.assertIn("--no-such-option", done.stderr)
                self.assertEqual(done.stdout, "")

    def test_a_mistyped_word_gets_a_proposal(self):
        for words, said in ((["resove"], "there is no verb 'resove', did you mean resolve?"), (["gaet"], "did you mean gate?"),
                            (["resolve", "--sybmols", "x"], "'--sybmols', did you mean --symbols?"),
                            (["gate", "--max-slowdwn=5%"], "did you mean --max-slowdown?")):
            with self.subTest(words=words):
                self.assertIn(said, self.run_twinstack(*words, exit_code=2).stderr)
        for words in (["x"], ["unrelated"], ["resolve", "--no-such-option"]):
            with self.subTest(words=words):
                self.assertNotIn("did you mean", self.run_twinstack(*words, exit_code=2).stderr)

    def test_no_database_is_made_to_say_that_it_has_no_run(self):
        where = self.folder / "nosuch.db"
        for words in (["baseline", "set", "latest"], ["db", "prune", "--keep-runs", "0"], ["db", "upgrade"], ["regrade"], ["bench", "--run", "1"]):
            with self.subTest(words=words):
                self.assertIn("database: absent", self.run_twinstack(*words, "--db", where, exit_code=4).stderr)
                self.assertFalse(where.exists())

    def test_short_options_take_their_value_attached(self):
        apart, attached = (self.run_twinstack("resolve", "--csv", CSV, *j, stdin=STACK).stdout for j in (["-j", "1"], ["-j1"]))
        self.assertEqual(apart, attached)
        self.run_twinstack("resolve", "-jx", stdin=STACK, exit_code=2)
        self.run_twinstack("resolve", "-q1", stdin=STACK, exit_code=2)

    def test_version_as_text_and_json(self):
        self.assertRegex(self.run_twinstack("version").stdout, r"\d+\.\d+\.\d+")
        self.assertRegex(self.run_json("version", "--json")["version"], r"^\d+\.\d+\.\d+$")


# A replacement for Wine: lists the scenarios, then behaves as each scenario's name says.
WINE = f"""#!{sys.executable}
import json, sys, time
if "--list" in sys.argv:
    for name in ("fails", "hangs"):
        print(json.dumps(dict(name=name, kind="crash", group="A1", limit_ms=1, doors=[])))
elif "--limit-ms" in sys.argv:
    if "hangs" in sys.argv:
        print("started", flush=True, file=open(sys.argv[0] + ".started", "w"))
        time.sleep(300)
    sys.exit("no such victim")
"""


class ExitCodes(e2e.Case):
    def made_up(self, verb):
        """Returns VERB with the options for made-up victims and a made-up Wine, and the environment for it."""
        words, env = self.made_wine(WINE)
        more = ["--db", self.folder / "runs.db", "--no-judges", "-j", "1"] if verb == "run" else []
        return [verb, *words, *more], env

    def test_0_as_expected(self):
        self.run_twinstack("resolve", "--csv", CSV, stdin=STACK)

    def test_2_usage(self):
        for argv in ([], ["no-such-verb"], ["dump"], ["resolve", "--csv"], ["resolve", "--arch", "vax"], ["resolve", "--names", "loud"],
                     ["check"]):
            with self.subTest(argv=argv):
                self.run_twinstack(*argv, exit_code=2)

    def test_3_input(self):
        for argv in (["dump", "no-such.dmp"], ["check", "no-such-case"], ["resolve", "--csv", "no-such.csv"],
                     ["resolve", "no-such-stack.txt"]):
            with self.subTest(argv=argv):
                done = self.run_twinstack(*argv, stdin=STACK, exit_code=3)
                self.assertIn("no-such", done.stderr)

    def test_3_strict_with_unresolved_frames(self):
        self.run_twinstack("resolve", "--csv", CSV, "--strict", stdin=STACK, exit_code=3)

    def test_4_database(self):
        for argv in (["report"], ["compare", "1", "2"], ["gate"], ["signatures"], ["regrade", "1"]):
            with self.subTest(argv=argv):
                # a file that is not a database
                self.run_twinstack(*argv, "--db", e2e.ROOT / "README.md", exit_code=4)

    def test_1_and_exit_zero(self):
        stacks = [self.folder / name for name in ("a.txt", "b.txt")]
        stacks[0].write_text("a.exe!0x1000\nntdll.dll!0x2000\n")
        stacks[1].write_text("a.exe!0x1000\nntdll.dll!0x3000\n")
        self.run_twinstack("check", "--stacks", *stacks, exit_code=1)
        self.run_twinstack("check", "--stacks", stacks[0], stacks[0])

    def test_3_a_victim_that_does_not_start(self):
        argv, env = self.made_up("run")
        done = self.run_twinstack(*argv, "-k", "fails", env=env, exit_code=3)
        self.assertIn("no such victim", done.stdout)
        self.assertIn("1 ERROR", done.stdout)
        self.run_twinstack(*argv, "-k", "fails", "--exit-zero", env=env)
        self.run_twinstack("run", "--victims", self.folder / "nowhere", exit_code=3)

    def test_what_the_victims_lack_is_said_at_once(self):
        argv, env = self.made_up("run")
        folder, store = self.folder / "victims", e2e.ROOT / "corpus/symbols"
        image, pdb, plugin = (next(store.glob(f"{name}/*/{name}")) for name in ("victims-ob2.exe", "victims-ob2.pdb", "plugin-call-ob2.dll"))
        launcher, lacks_builds = folder / "twinstack-launch.exe", '{"variants": {"ob2": "-O3", "ob9": "-O3", "x86-ob2": "-O3"}}'
        lacks_plugins = json.dumps({**json.loads(lacks_builds), "plugins": {
            "ob2": ["plugin-call-ob2.dll", "other/plugin-call-ob2.dll", "größe/plugin-übel-ob2.dll"], "ob9": ["plugin-call-ob9.dll"]}})
        no_dlls = "DLLs that victims load are missing: "

        def put_plugins(*below):
            for name in below:
                (folder / name).mkdir(exist_ok=True)
                shutil.copy(plugin, folder / name / plugin.name)

        no_names, wrong = "functions of victims will have no names: ", next(store.glob("victims-ob0.pdb/*/victims-ob0.pdb"))
        for name, change, status, want in (
                ("nothing", lambda: None, 0, ""),
                ("its PDB", lambda: shutil.copy(image, folder / image.name), 0, f"{no_names}victims-ob2.pdb is missing;"),
                ("that of a DLL, too", lambda: shutil.copy(plugin, folder / plugin.name), 0,
                 f"{no_names}plugin-call-ob2.pdb is missing, victims-ob2.pdb is missing;"),
                ("a PDB of its build", lambda: shutil.copy(wrong, folder / pdb.name), 0,
                 f"{no_names}plugin-call-ob2.pdb is missing, victims-ob2.pdb is of another build;"),
                ("only that of a DLL", lambda: shutil.copy(pdb, folder / pdb.name), 0, f"{no_names}plugin-call-ob2.pdb is missing;"),
                ("nothing again", (folder / plugin.name).unlink, 0, ""),
                ("a build", lambda: (folder / "toolchain.json").write_text(lacks_builds), 0, "builds without a program, which are not run: ob9;"),
                ("DLLs that its victims load", lambda: (folder / "toolchain.json").write_text(lacks_plugins), 0,
                 f"{no_dlls}plugin-call-ob2.dll, other/plugin-call-ob2.dll, größe/plugin-übel-ob2.dll;"),
                ("two of them, and a PDB in another folder", lambda: put_plugins("", "other"), 0, f"{no_dlls}größe/plugin-übel-ob2.dll;"),
                ("that PDB", lambda: None, 0, f"{no_names}plugin-call-ob2.pdb is missing, other/plugin-call-ob2.pdb is missing;"),
                ("the launcher", launcher.unlink, 3, f"{launcher}: program that starts the victims")):
            with self.subTest(name):
                change()
                said = self.run_twinstack(*argv, "-k", "fails and ob2 and not x86", "--exit-zero", env=env, exit_code=status).stderr
                self.assertIn(want, said)
                self.assertEqual(bool(want), "no names" in said or "are missing" in said or "without a program" in said or "that starts" in said, said)
        launcher.write_text("")
        argv_of_doctor, _ = self.made_up("doctor")
        shutil.copy(plugin, folder / plugin.name)
        said = self.run_twinstack(*argv_of_doctor, env=env, exit_code=3).stdout
        self.assertRegex(said, r"victims' DLLs +.*größe/plugin-übel-ob2\.dll: `\./run setup`")
        self.assertRegex(said, r"victims' PDBs +.*plugin-call-ob2\.pdb is missing.*: `\./run setup`")
        self.assertRegex(said, r"victims' builds +.*ob9: `\./run setup`")
        self.assertNotIn("ob9", self.run_twinstack(*argv, "-k", "fails", "--variant", "ob2", "--exit-zero", env=env).stderr)

    def test_a_run_notes_what_was_measured_of_managed_code(self):
        argv, env = self.made_up("run")
        rows = [{"phase": "PhaseThrow", "mode": "plain", "samples": 1000, "right": 934, "refused": 66},
                {"phase": "PhaseThrow", "mode": "copy", "samples": 1000, "right": 1000}, {"phase": "PhaseNew", "mode": "none"}]
        stages = {"nothing": ("", [], None), "no figures": ("managed-stops.exe", [], "not measured before this run"),
                  "figures": ("managed-samples.ndjson", ["{broken", *map(json.dumps, rows)], r"934 \(66r\) +- +1000")}
        for name, (file, lines, want) in stages.items():
            with self.subTest(name):
                if file:
                    (self.folder / "victims" / file).write_text("\n".join(lines))
                self.run_twinstack(*argv, "-k", "fails", "--exit-zero", env=env)
                report = ("report", "latest", "--db", self.folder / "runs.db", "--exit-zero")
                details = self.run_twinstack(*report, "--details").stdout
                noted = json.loads(self.run_twinstack(*report, "--json").stdout)["run"]["managed_stacks"]
                if want is None:
                    self.assertNotIn("MANAGED CODE", details)
                else:
                    self.assertRegex(details, want)
                self.assertEqual(len(noted), name == "figures")
                if noted:
                    self.assertEqual((noted[0]["phase"], noted[0]["plain"]["refused"], noted[0]["seeded"]), ("throws", 66, None))
                    self.assertRegex(noted[0]["measured"], r"^20\d\d-\d\d-\d\d$")

    def test_5_nothing_selected(self):
        for verb in ("run", "list"):
            argv, env = self.made_up(verb)
            self.run_twinstack(*argv, "-k", "no_such_scenario", env=env, exit_code=5)
        self.run_twinstack("signatures", "-", stdin="", exit_code=5)

    def test_124_time_limit(self):
        # The launcher gets 45 s more than its victim's own limit, for dump and record.
        argv, env = self.made_up("run")
        done = self.run_twinstack(*argv, "-k", "hangs", "--timeout", "1ms", env=env, exit_code=124, limit_s=90)
        self.assertIn("neither the victim nor its launcher ended in time", done.stdout)

    def test_130_interrupted(self):
        argv, env = self.made_up("run")
        child = subprocess.Popen([e2e.PROGRAM, *map(str, argv), "-k", "hangs"], cwd=e2e.ROOT, text=True,
                                 env={**os.environ, **env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        started = self.folder / "bin/wine.started"
        end = time.monotonic() + 30 * e2e.PATIENCE
        while not started.exists() and child.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=30 * e2e.PATIENCE)[1]
        self.assertEqual(child.returncode, 130, said)
        self.assertIn("interrupted: 0 of 1 cases are judged", said)

    def test_130_signatures_end_with_what_they_have(self):
        for symbols in ([], ["--symbols", self.folder]):
            with self.subTest(symbols=bool(symbols)):
                child = subprocess.Popen([e2e.PROGRAM, "signatures", *map(str, symbols), "-"], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                child.stdin.write(b"> a\na.exe!0x10\n\n> b\na.exe!0x10\n\n" * 50)
                child.stdin.flush()
                end = time.monotonic() + 30 * e2e.PATIENCE
                while struct.unpack("i", fcntl.ioctl(child.stdin, termios.FIONREAD, b"\0" * 4))[0] and time.monotonic() < end:
                    time.sleep(0.02)
                child.send_signal(signal.SIGINT)
                child.wait(30 * e2e.PATIENCE)
                said, warned = (stream.read().decode() for stream in (child.stdout, child.stderr))
                self.assertEqual(child.returncode, 130, warned)
                self.assertRegex(said, r"a\.exe!0x10", warned)
                self.assertIn("interrupted: this is what was read until then", warned)
                for stream in (child.stdin, child.stdout, child.stderr):
                    stream.close()


e2e.main()
