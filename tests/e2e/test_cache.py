"""`twinstack cache`, and what `resolve` keeps there."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

PDB = "g07-conpty-x64/conpty.pdb"


class CacheVerb(e2e.Case):
    def resolve_many(self, *more, **options):
        stacks = self.folder / "stacks.txt"
        if not stacks.exists():
            stacks.write_text("".join(f"> {i}\n" + "conpty.dll!0x1010\n" * 20 for i in range(400)))
        return self.run_twinstack("resolve", "--pdb", self.fixture(PDB), *more, stacks, **options)

    def test_a_long_stream_leaves_an_index_that_list_shows_and_clear_deletes(self):
        cache = self.folder / "cache"
        self.resolve_many("--cache", cache)
        shown = self.run_json("cache", "list", "--cache", cache, "--json")
        self.assertEqual([f["kind"] for f in shown["files"]], ["index"])
        self.assertTrue(shown["files"][0]["key"].startswith("conpty.pdb."))
        self.assertEqual(shown["bytes"], shown["files"][0]["bytes"])
        text = self.run_twinstack("cache", "--cache", cache).stdout
        self.assertIn("1 file, ", text)
        self.assertEqual([], list((cache / "partial").iterdir()))
        self.assertIn("1 file deleted", self.run_twinstack("cache", "clear", "--cache", cache).stdout)
        self.assertEqual([], self.run_json("cache", "list", "--cache", cache, "--json")["files"])

    def test_index_says_whether_one_is_built(self):
        few = "conpty.dll!0x1010\n"
        many = "".join(f"> {i}\n{few * 100}" for i in range(90))
        for how, stdin, built in (("auto", few, 0), ("always", few, 1), ("never", many, 0), ("auto", many, 1)):
            with self.subTest(how=how, lines=stdin.count("\n")):
                cache = self.folder / f"{how}-{len(stdin)}"
                done = self.run_twinstack("resolve", "--pdb", self.fixture(PDB), "--index", how, "--cache", cache, "-", stdin=stdin)
                self.assertEqual(built, len(list((cache / "index").glob("*"))))
                self.assertEqual(built, done.stderr.count("symbol index built in"))
        self.run_twinstack("resolve", "--index", "sometimes", "-", exit_code=2)

    def test_files_that_have_no_index_beside_them_are_said(self):
        image, pdb = (e2e.ROOT / f"corpus/symbols/plugin-call-ob2.{end}" for end in ("dll", "pdb"))
        rows = (("an image", [image], 5, "none of 1 files is one"), ("a PDB", [pdb], 0, ""), ("both", [image, pdb], 0, ""))
        for name, files, status, said in rows:
            with self.subTest(name):
                done = self.run_twinstack("symbols", "index", "--index-folder", self.folder / "indexes", *files, exit_code=status)
                self.assertIn(said, done.stderr)
                self.assertEqual(done.stdout.count(" ranges, "), 0 if status else 1)

    def test_the_environment_names_the_folder_and_turns_it_off(self):
        cache = self.folder / "cache"
        self.resolve_many(env={"TWINSTACK_CACHE": str(cache)})
        self.assertEqual(1, len(list((cache / "index").iterdir())))
        home = self.folder / "home"
        self.resolve_many(env={"TWINSTACK_CACHE": "none", "HOME": str(home), "XDG_CACHE_HOME": ""})
        self.assertFalse(home.exists())
        self.run_twinstack("cache", "list", exit_code=3, env={"TWINSTACK_CACHE": "none"})

    def test_the_index_of_an_image_is_built_at_the_first_lookup_and_said_once(self):
        cache = self.folder / "cache"
        image = self.fixture("images/i20-pe-dwarf/hello-dwarf.exe")
        words = ("resolve", "--symbols", image, "--cache", cache, "-")
        stack = "hello-dwarf.exe!0x1530\nhello-dwarf.exe!0x13d0\n"
        without = self.run_twinstack(*words[:3], "--cache", "none", "-", stdin=stack)
        self.assertNotIn("note: ", without.stderr)
        first = self.run_twinstack(*words, stdin=stack)
        self.assertRegex(first.stderr, r"note: 1 symbol index built in [0-9.]+ (µs|ms|s) ")
        again = self.run_twinstack(*words, stdin=stack)
        self.assertNotIn("note: ", again.stderr)
        self.assertEqual(without.stdout, first.stdout)
        self.assertEqual(without.stdout, again.stdout)

    def test_bench_prints_its_very_first_use_apart(self):
        cache = self.folder / "cache"
        case = e2e.ROOT / "corpus/cases/inline_chain.ob0"
        words = ("bench", case, "--dry", "--samples", "1", "--warmup", "0", "--cache", cache)
        first = self.run_twinstack(*words)
        self.assertRegex(first.stderr, r"note: [0-9]+ symbol index(es)? built in [0-9.]+ (µs|ms|s) ")
        self.assertNotIn("note: ", self.run_twinstack(*words).stderr)

    def test_a_debug_file_that_is_named_later_replaces_the_index(self):
        cache = self.folder / "cache"
        folder = self.fixture("images/i10-elf-crash")
        stack = "crash!0x1000@i\n" + "".join(f"crash!0x{at:x}\n" for at in range(0x4000, 0x6000, 64))
        symbols = ["--symbols", folder / "crash"]
        debug = [*symbols, "--symbols", folder / "crash.debug"]
        for words in (symbols, debug, symbols, debug):
            want = self.run_twinstack("resolve", *words, "--cache", "none", "-", stdin=stack).stdout
            self.assertEqual(want, self.run_twinstack("resolve", *words, "--cache", cache, "-", stdin=stack).stdout)
        self.assertNotEqual(want, self.run_twinstack("resolve", *symbols, "--cache", cache, "-", stdin=stack).stdout)

    def test_a_damaged_index_is_never_believed(self):
        cache = self.folder / "cache"
        want = self.resolve_many("--cache", cache).stdout
        [index] = (cache / "index").iterdir()
        whole = index.read_bytes()
        for name, damaged in (("empty", b""), ("short", whole[:1000]), ("zeroes", bytes(len(whole))),
                              ("one bit", whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])):
            with self.subTest(name):
                index.write_bytes(damaged)
                self.assertEqual(want, self.resolve_many("--cache", cache).stdout)


e2e.main()
