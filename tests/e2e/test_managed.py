"""Managed code: module!0xTOKEN+0xIL, compared with the answers of .NET's own StackFrame and of two other readers."""

import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

CORPUS = e2e.ROOT / "corpus/managed"
PRECOMPILED = e2e.ROOT / "corpus/precompiled"
# The PDB of these rows belongs to another build than the image next to it, so they have names but no lines.
OTHER_BUILD = "i40-ppdb/console"


def oracle_rows(path):
    for line in path.read_text().splitlines():
        token, il, where, name = line.split(None, 3)
        file, number, _ = where.rsplit(":", 2)
        yield token, il, (None if file == "-" else file), int(number) or None, name


def written(kind, method):
    """What the compiler made as what the user wrote: MoveNext of a state machine, a lambda, a local function."""
    machine = re.fullmatch(r"(.*)\+<(\w+)>d__\d+", kind)
    if machine and method == "MoveNext":
        kind, method = machine.groups()
    part = re.fullmatch(r"<(\w+)>(?:b__(?:\d+_)?(\d+)|g__(\w+)\|.*)", method)
    if part:
        kind, method = re.sub(r"\+<>c\w*$", "", kind), f"{part[1]}::" + (part[3] or f"<lambda_{part[2]}>")
    return f"{kind.replace('+', '/')}::{method}"


def method_of(name):
    """Box`1[T].Map as Box`1::Map."""
    kind, _, method = re.sub(r"\[.*?\]", "", name).rpartition(".")
    if name.endswith("ctor"):
        kind, method = re.sub(r"\[.*?\]", "", name).split("..", 1)
        method = "." + method
    return written(kind, method)


def mvid_of(path):
    """The MVID of an assembly: the first entry of its metadata's "#GUID" heap."""
    data = path.read_bytes()
    root = data.index(b"BSJB")
    at = root + 16 + struct.unpack_from("<I", data, root + 12)[0] + 4
    for _ in range(struct.unpack_from("<H", data, at - 2)[0]):
        offset, end = struct.unpack_from("<I", data, at)[0], data.index(b"\0", at + 8)
        if data[at + 8:end] == b"#GUID":
            return str(uuid.UUID(bytes_le=data[root + offset:root + offset + 16])).upper()
        at += 8 + ((end - at - 8) // 4 + 1) * 4
    raise AssertionError(f"{path} has no #GUID heap")


class Managed(e2e.Case):
    def resolve(self, module, keys, *more):
        text = "".join(f"> {i}\n{module}!{key}\n" for i, key in enumerate(keys))
        done = self.run_twinstack("resolve", "--ndjson", *more, stdin=text)
        return [json.loads(line)["frames"][0] for line in done.stdout.splitlines()]

    def check_oracle(self, module, oracle, *symbols, name_of=lambda name, line: method_of(name)):
        rows = list(oracle_rows(oracle))
        self.assertGreater(len(rows), 18)
        got = self.resolve(module, [f"{row[0]}+{row[1]}" for row in rows],
                           *[word for path in symbols for word in ("--symbols", path)])
        for (token, il, file, line, name), frame in zip(rows, got, strict=True):
            self.assertEqual((frame["file"] and pathlib.PureWindowsPath(frame["file"]).name, frame["line"]),
                             (file, line), (token, il))
            self.assertEqual((frame["function"], frame["symbols"]), (name_of(name, line), "ppdb"))
            self.assertEqual((frame["method"], frame["offset"]), (hex(int(token, 16)), il))
        return len(rows)

    def test_what_dotnet_answers(self):
        self.check_oracle("shapes.dll", CORPUS / "shapes.oracle.txt", CORPUS / "shapes.dll", CORPUS / "shapes.pdb")
        self.check_oracle("embedded.dll", CORPUS / "embedded.oracle.txt", CORPUS / "embedded.dll")

    def test_other_compilers(self):
        """The compiler of .NET 8 and that of F#; of its state machines the names stay as they are."""
        for name in ("roslyn48", "fsharp"):
            self.check_oracle(f"{name}.dll", CORPUS / f"{name}.oracle.txt", CORPUS / f"{name}.dll", CORPUS / f"{name}.pdb")

    def test_state_machines_and_lambdas_of_generic_types(self):
        """Each line of the source says what the function is called that is written there."""
        source = (CORPUS / "generic.cs").read_text(encoding="utf-8").splitlines()
        named = [re.search(r" // (\S+::\S+)$", line) for line in source]
        self.check_oracle("generic.dll", CORPUS / "generic.oracle.txt", CORPUS / "generic.dll", CORPUS / "generic.pdb",
                          name_of=lambda _, line: named[line - 1][1] if named[line - 1] else "Program::Main")

    # As records and dumps have them; U of a generic method that the compiler gave no class is the method's own.
    ARGUMENTS = {"T": ("System.Int32", "int"), "U": ("System.__Canon", "System.__Canon"), "V": ("System.Byte", "byte")}
    OWN = {"0x0600000d": "Own<U>", "0x0600000a": "OfMethod<U>"}

    def test_type_arguments(self):
        """Those of a state machine, or of the class of a lambda, are shared out to the type and the method that were written."""
        source = (CORPUS / "generic.cs").read_text(encoding="utf-8").splitlines()
        rows, stacks = [], []
        for token, il, _, line, name in oracle_rows(CORPUS / "generic.oracle.txt"):
            named = re.search(r" // (\S+?)::(\S+)$", source[line - 1])
            formal = re.search(r"\[([A-Z,]+)\]", name)
            if named is None or formal is None:
                continue
            kind, method = named.groups()
            given = formal[1].split(",")
            of_type = sum(map(int, re.findall(r"`(\d+)", kind)))
            words, raw = ([self.ARGUMENTS[letter][at] for letter in given] for at in (1, 0))
            more = f"<{','.join(words[of_type:])}>" if words[of_type:] else ""
            first, *part = method.split("::")
            want = "::".join([f"{kind}<{','.join(words[:of_type])}>", first + more, *part])
            own = token in self.OWN
            rows.append((token, want + f"<{self.ARGUMENTS['U'][1]}>" * own, f"{kind}::{method}"))
            for arguments in (",".join(raw) + ";" + self.ARGUMENTS["U"][0] * own, ",".join(raw) + ";A,B"):
                stacks.append(json.dumps({"modules": [{"name": "generic.dll"}], "frames": [
                    {"module": 0, "method": token, "offset": il, "type_arguments": arguments}]}) + "\n")
        self.assertEqual({token for token, *_ in rows} & set(self.OWN), set(self.OWN))
        for names in ((), ("--names", "decorated")):
            done = self.run_twinstack("resolve", "--ndjson", *names, "--symbols", CORPUS / "generic.dll", "--symbols", CORPUS / "generic.pdb",
                                      "-", stdin="".join(stacks))
            got = [json.loads(line)["frames"][0] for line in done.stdout.splitlines()]
            self.assertEqual(len(got), 2 * len(rows))
            for (token, want, plain), (frame, other) in zip(rows, zip(got[::2], got[1::2], strict=True), strict=True):
                with self.subTest(token=token, names=names):
                    if names:  # as in the metadata
                        self.assertNotRegex(frame["function"], r"<[^>]*int")
                        self.assertEqual(frame["function"], other["function"])
                    else:
                        self.assertEqual((frame["function"], other["function"]), (want, plain))
        print(f"places in generic code {len(rows)}, with the type arguments of their code {len(rows)}")

    def test_published_builds(self):
        right = 0
        for folder in ("opt-portable", "noopt-portable", "opt-embedded", "noopt-sourcelink"):
            path = self.fixture("g23-dotnet") / folder
            right += self.check_oracle("shapes.dll", path / "oracle.txt", path)
        self.assertEqual(right, 118)
        print(f"answers of .NET's StackFrame {right}, right {right}")

    def test_rows_on_which_two_readers_agree(self):
        root, right = self.fixture("images"), 0
        for entry in json.loads((root / "images.json").read_text()):
            if entry["kind"] != "ppdb":
                continue
            rows = [json.loads(line) for line in (root / entry["ref"]).read_text().splitlines()]
            files = [root / entry["image"], *(root / file for file in entry["debug"])]
            got = self.resolve(entry["module"], [f"{row['method']}+{row['il']}" for row in rows], "--names", "decorated",
                               *[word for file in files for word in ("--symbols", file)])
            for row, frame in zip(rows, got, strict=True):
                want = row["frames"][0]
                self.assertEqual(frame["function"] or "", want["function"], row)
                line = 0 if entry["id"] == OTHER_BUILD else want["line"]
                self.assertEqual(frame["line"] or 0, line, (entry["id"], row))
                if line:
                    self.assertEqual(frame["file"], want["file"], row)
            right += len(rows)
        self.assertGreater(right, 100)
        print(f"rows on which two readers agree {right}, right {right}")

    def test_a_pdb_of_another_build_gives_no_lines_unless_it_is_bound(self):
        root = self.fixture("images/i40-ppdb")
        name = "Sentry.Samples.Console.Basic"
        frame = self.resolve(f"{name}.dll", ["0x06000001+0x0"], "--symbols", root / f"{name}.dll",
                             "--symbols", root / f"{name}.pdb")[0]
        self.assertEqual((frame["line"], frame["note"]), (None, "the PDB found is of another build"))
        frame = self.resolve(f"{name}.dll", ["0x06000001+0x0"], "--symbols", root / f"{name}.dll",
                             "--pdb", f"{name}.dll={root / name}.pdb")[0]
        self.assertEqual(frame["line"], 3)

    BUILDS = ("net8-x64", "net10-x64-cold", "net10-arm64", "net10-linux-x64")

    def precompiled(self, build, offsets, *symbols):
        text = "".join(f"> {i}\nshapes.dll!{offset:#x}@i\n" for i, offset in enumerate(offsets))
        done = self.run_twinstack("resolve", "--ndjson", "--symbols", PRECOMPILED / build / "shapes.dll",
                                  *(word for path in symbols for word in ("--symbols", path)), stdin=text)
        return [json.loads(line)["frames"][0] for line in done.stdout.splitlines()]

    def test_methods_of_precompiled_code(self):
        """First, middle and last byte of every method that crossgen2 wrote down, beside its image."""
        for build in self.BUILDS:
            rows = [line.split(None, 2) for line in (PRECOMPILED / build / "methods.txt").read_text().splitlines()]
            self.assertEqual(len(rows), 41)
            for at in (lambda size: 0, lambda size: size // 2, lambda size: size - 1):
                got = self.precompiled(build, [int(rva, 16) + at(int(size, 16)) for rva, size, _ in rows])
                for (rva, size, signature), frame in zip(rows, got, strict=True):
                    owner, _, name = re.sub(r"\[[^]]*\]+", "", signature).split("(")[0].rpartition("::")
                    want = written(owner.split(" ")[-1], name)
                    self.assertEqual((frame["function"], frame["symbols"]), (want, "ppdb"), (build, rva))

    def test_parts_of_methods_that_the_compiler_moved_away(self):
        """A filter, a handler and two finally blocks are in the cold part of the image, after every method."""
        got = self.precompiled("net10-x64-cold", [0x4f90, 0x4fae, 0x4fc5, 0x5000, 0x5010, 0x502e, 0x5030])
        self.assertEqual([frame["function"] for frame in got], ["Shapes::Guarded"] * 4 + ["Shapes::Main"] * 2 + [None])

    def test_lines_of_precompiled_code(self):
        """What StackFrame of .NET 10 answered for the same image: return addresses, so the byte before counts."""
        rows = [line.split() for line in (PRECOMPILED / "net10-linux-x64/frames.txt").read_text().splitlines()]
        self.assertEqual(len(rows), 26)
        places = [int(rva, 16) - 1 for rva, *_ in rows]
        methods = self.resolve("shapes.dll", [f"0x{token}+0x{il}" for _, _, token, il in rows], "--symbols", CORPUS)
        for (rva, line, *_), frame, method in zip(rows, self.precompiled("net10-linux-x64", places, CORPUS / "shapes.pdb"), methods, strict=True):
            self.assertEqual((frame["line"], frame["function"], frame["note"]), (int(line), method["function"], method["note"]), rva)

    def test_forms(self):
        both = ("--symbols", CORPUS)
        text = self.run_twinstack("resolve", *both, stdin="shapes.dll!0x06000009+0x14\nshapes.dll!0x06000012+0x6\n")
        self.assertIn("shapes.dll!0x06000009+0x14", text.stdout)
        self.assertIn("shapes.cs:96", text.stdout, "a caller's offset is not stepped back")
        one = self.run_json("resolve", "--json", *both, stdin=json.dumps({
            "modules": [{"index": 0, "name": "shapes.dll"}],
            "frames": [{"module": 0, "offset": "0x14", "method": "0x06000009"}]}))
        self.assertEqual(one["frames"][0]["function"], "Shapes::Throws")
        full = self.resolve("shapes.dll", ["0x06000006+0x1"], *both, "--names", "full")
        self.assertEqual(full[0]["function"], "Box`1<T>::Map<U>(System.Func`2<T,U>)")
        notes = [f["note"] for f in self.resolve("shapes.dll", ["0x06000014+0x82", "0x0600001b+0x2f"], *both)]
        self.assertEqual([note.split(":")[0] for note in notes], ["async", "iterator"])
        text = self.run_twinstack("resolve", *both, stdin="".join(f"shapes.dll!{key}\n" for key in (
            "0x06000014+0x82", "0x0600001b+0x2f", "0x06000012+0x6"))).stdout.splitlines()
        self.assertEqual([line.split("ppdb")[1].split() for line in text if line], [
            ["[async]", "Shapes::Slow", r"Z:\src\shapes.cs:51"], ["[iterator]", "Shapes::Numbers", r"Z:\src\shapes.cs:63"],
            ["Shapes::Main", r"Z:\src\shapes.cs:96"]])
        self.assertEqual({line.index(":\\src") for line in text if line}, {text[0].index(":\\src")}, "columns")
        done = self.run_twinstack("resolve", "--ndjson", stdin="a.dll!0x0a000001+0x5\na.dll!0x06000001+0x100000000\n",
                                  exit_code=3)
        self.assertEqual(done.stdout.count("malformed"), 2)

    def test_methods_of_a_native_pdb(self):
        """C++/CLI, and compilers before portable PDBs: the PDB has tokens, and lines by IL offset."""
        root, name = self.fixture("g22-driver-mixed"), "MixedMode_x64_VS2015_Default"
        rows = {"0x06000001+0x0": ("main", "mixedmode_x64_vs2015_default.cpp", 9),
                "0x06000002+0x3": ("<CrtImplementationDetails>::ThrowNestedModuleLoadException", "minternal.h", 191),
                "0x06000003+0x1": ("<CrtImplementationDetails>::ThrowModuleLoadException", "minternal.h", 196),
                "0x06000010+0x3": ("<CrtImplementationDetails>::DefaultDomain::NeedsUninitialization", "mstartup.cpp", 251),
                "0x06000003+0x100000": ("<CrtImplementationDetails>::ThrowModuleLoadException", None, None),
                "0x06ffffff+0x1": (None, None, None)}
        for files in ((f"{name}.pdb", f"{name}.exe"), (f"{name}.pdb",)):
            got = self.resolve(f"{name}.exe", rows, *[word for file in files for word in ("--symbols", root / file)])
            for (key, want), frame in zip(rows.items(), got, strict=True):
                file = frame["file"] and pathlib.PureWindowsPath(frame["file"]).name
                self.assertEqual((frame["function"], file, frame["line"]), want, (files, key))
        print(f"methods of a native PDB named by their token: {len(rows) - 1}, and none by an unknown one")

    def test_identities(self):
        listed = self.run_json("symbols", "list", "--json", CORPUS / "shapes.pdb")["files"][0]
        self.assertEqual((listed["kind"], listed["methods"]), ("ppdb", 39))
        self.assertEqual(listed["documents"][0], {"name": "Z:\\src\\shapes.cs", "embedded_bytes": 3086})
        self.assertIn("documents", json.loads(listed["source_link"]))
        frame = self.resolve("shapes.dll", [f"0x06000009+0x14 {{{listed['debug_id']}}}"], "--symbols", CORPUS / "shapes.pdb")
        self.assertEqual((frame[0]["line"], frame[0]["identity"]), (44, "checked"))
        wrong = self.resolve("shapes.dll", [f"0x06000009+0x14 {{{'1' * 32}1}}"], "--symbols", CORPUS / "shapes.pdb")
        self.assertEqual((wrong[0]["line"], wrong[0]["symbols"]), (None, "mismatch"))
        store = self.folder / "store"
        self.run_twinstack("symbols", "add", "--symbols", store, CORPUS / "shapes.pdb")
        self.run_twinstack("symbols", "verify", "--symbols", store)
        self.assertTrue((store / f"shapes.pdb/{listed['debug_id'][:32]}FFFFFFFF/shapes.pdb").is_file())
        frame = self.resolve("shapes.dll", [f"0x06000009+0x14 {{{listed['debug_id']}}}"], "--symbols", store)
        self.assertEqual(frame[0]["line"], 44)

    def builds(self):
        """Four builds of one name, each in its folder; their MVIDs differ."""
        root = self.folder / "builds"
        for name in ("opt-portable", "noopt-portable", "opt-embedded", "noopt-sourcelink"):
            shutil.copytree(self.fixture("g23-dotnet") / name, root / name)
        found = {folder: mvid_of(folder / "shapes.dll") for folder in sorted(root.iterdir())}
        self.assertEqual(len(set(found.values())), 4)
        return root, found

    def test_an_mvid_finds_the_build(self):
        """Frames that state the MVID and no id of a PDB: the DLL with that MVID answers, and its PDB, no other."""
        root, builds = self.builds()
        right = 0
        for folder, mvid in builds.items():
            rows = list(oracle_rows(folder / "oracle.txt"))
            for stated in (mvid, mvid.lower().replace("-", "")):
                got = self.resolve("shapes.dll", [f"{row[0]}+{row[1]} {{mvid:{stated}}}" for row in rows],
                                   "--symbols", root)
                for (token, il, file, line, name), frame in zip(rows, got, strict=True):
                    self.assertEqual((frame["function"], frame["line"], frame["identity"]),
                                     (method_of(name), line, "checked"), (folder, token, il))
            right += len(rows)
        self.assertEqual(right, 118)
        print(f"rows of four builds of one name found by their MVID {right}, right {right}")

    def test_an_mvid_that_no_dll_has_finds_nothing(self):
        root, builds = self.builds()
        other = str(uuid.UUID(int=7)).upper()
        by = {"another MVID": (root, other, "the image found is of another build"),
              "a PDB alone": (self.folder / "alone", other, "only the MVID is known"),
              "nothing": (self.folder / "empty", other, "no symbol file")}
        (self.folder / "alone").mkdir()
        (self.folder / "empty").mkdir()
        shutil.copy(root / "opt-portable/shapes.pdb", self.folder / "alone")
        for name, (folder, mvid, note) in by.items():
            frame = self.resolve("shapes.dll", [f"0x06000009+0x14 {{mvid:{mvid}}}"], "--symbols", folder)[0]
            self.assertEqual((frame["function"], frame["line"]), (None, None), name)
            self.assertIn(note, frame["note"], name)
        for folder, mvid in builds.items():  # the one DLL there is has this name, but not this MVID
            for wrong in builds.values():
                frame = self.resolve("shapes.dll", [f"0x06000009+0x14 {{mvid:{wrong}}}"], "--symbols", folder)[0]
                self.assertEqual(frame["function"] is not None, wrong == mvid, (folder, wrong))
                self.assertEqual(frame["symbols"], "ppdb" if wrong == mvid else "mismatch")

    def test_an_mvid_in_every_form_of_input(self):
        root, builds = self.builds()
        self.run_twinstack("symbols", "add", "--symbols", self.folder / "store", *sorted(root.rglob("shapes.*")))
        for folder, mvid in builds.items():
            want = self.resolve("shapes.dll", ["0x06000009+0x14"], "--symbols", folder)[0]
            for symbols in (root, self.folder / "store"):
                text = f"# module shapes.dll - mvid:{mvid}\nshapes.dll!0x06000009+0x14\n"
                one = self.run_json("resolve", "--json", "--symbols", symbols, stdin=text)["frames"][0]
                self.assertEqual((one["function"], one["file"], one["line"]),
                                 (want["function"], want["file"], want["line"]), (folder, symbols))
                for spelt in (mvid, f"{{{mvid.lower()}}}"):
                    one = self.run_json("resolve", "--json", "--symbols", symbols, stdin=json.dumps({
                        "modules": [{"index": 0, "name": "shapes.dll", "mvid": spelt, "debug_id": None}],
                        "frames": [{"module": 0, "offset": "0x14", "method": "0x06000009"}]}))["frames"][0]
                    self.assertEqual((one["function"], one["file"], one["line"], one["identity"]),
                                     (want["function"], want["file"], want["line"], "checked"), (folder, symbols))
        for bad in ("7", "mvid", f"{mvid}0"):
            done = self.run_twinstack("resolve", "--ndjson", "--symbols", root,
                                      stdin=f"shapes.dll!0x06000009+0x14 {{mvid:{bad}}}\n", exit_code=3)
            self.assertIn("malformed", done.stdout, bad)
        listed = self.run_json("symbols", "list", "--json", folder / "shapes.dll")["files"][0]
        self.assertEqual(listed["mvid"], mvid)
        self.assertIn(f"MVID {mvid}", self.run_twinstack("symbols", "list", folder / "shapes.dll").stdout)

    def imported(self, text):
        """The folder of a case of this stack."""
        stack = self.folder / "stack.txt"
        stack.write_text(text)
        done = self.run_twinstack("case", "import", "--stack", stack, "--own", "shapes.dll", "--out", self.folder / "cases")
        return pathlib.Path(done.stdout.strip())

    def test_a_record_that_states_only_the_mvid(self):
        """Tokens, IL offsets and MVIDs of two builds of one name survive in a case, and `check` finds the builds."""
        root, builds = self.builds()
        (one, two), rows = list(builds)[:2], ["0x06000009+0x14", "0x06000012+0x6"]
        text = "".join(f"shapes.dll!{row} {{mvid:{builds[folder]}}}\n" for folder in (one, two) for row in rows)
        case = self.imported(text)
        done = self.run_twinstack("resolve", "--ndjson", "--symbols", root, case / "record.rec")
        got = json.loads(done.stdout)["frames"]
        want = [frame for folder in (one, two) for frame in self.resolve("shapes.dll", rows, "--symbols", folder)]
        said = [(f["function"], f["file"], f["line"], f["method"], f["offset"]) for f in got]
        self.assertEqual(said, [(f["function"], f["file"], f["line"], f["method"], f["offset"]) for f in want])
        self.assertEqual({f["identity"] for f in got}, {"checked"})
        checked = self.run_json("check", "--json", case, "--symbols", root)["cases"][0]
        score = next(s for s in checked["scores"] if s["engine"] == "offset:rtl" and s["subject"])
        self.assertEqual((checked["verdict"], score["state"], score["frames"]), ("PASS", "ok", 4), checked["reason"])
        wrong = self.run_twinstack("resolve", "--ndjson", "--symbols", list(builds)[2], case / "record.rec")
        self.assertEqual({f["function"] for f in json.loads(wrong.stdout)["frames"]}, {None})

    def test_two_pdbs_of_one_mvid_are_ambiguous(self):
        """A program that rewrites an assembly may keep its MVID and change the id of its PDB."""
        root, builds = self.builds()
        folder = root / "opt-portable"
        dll = bytearray((folder / "shapes.dll").read_bytes())
        at = dll.index(b"RSDS") + 4
        dll[at] ^= 1
        (self.folder / "both").mkdir()
        for name, data in (("a", (folder / "shapes.dll").read_bytes()), ("b", dll)):
            (self.folder / "both" / name).mkdir()
            (self.folder / "both" / name / "shapes.dll").write_bytes(data)
        frame = self.resolve("shapes.dll", [f"0x06000009+0x14 {{mvid:{builds[folder]}}}"],
                             "--symbols", self.folder / "both")[0]
        self.assertEqual((frame["function"], frame["identity"]), (None, "ambiguous"))

    def test_pdbs_of_several_builds_answer_for_none(self):
        """Where nothing is known but a name, two PDBs of that name say different things."""
        root, builds = self.builds()
        for keep_dlls in (True, False):
            frame = self.resolve("shapes.dll", ["0x06000009+0x14"], "--symbols", root)[0]
            self.assertEqual((frame["function"], frame["line"], frame["identity"]), (None, None, "ambiguous"), keep_dlls)
            for folder in builds:
                (folder / "shapes.dll").unlink(missing_ok=True)
        bound = self.resolve("shapes.dll", ["0x06000009+0x14"], "--symbols", root,
                             "--pdb", f"shapes.dll={root / 'noopt-portable/shapes.pdb'}")[0]
        self.assertEqual(bound["line"], 44)

    def test_an_embedded_pdb_of_another_build_gives_no_lines(self):
        data = bytearray((CORPUS / "embedded.dll").read_bytes())
        data[data.index(b"RSDS") + 4] ^= 1
        (self.folder / "embedded.dll").write_bytes(data)
        frame = self.resolve("embedded.dll", ["0x06000009+0x14"], "--symbols", self.folder / "embedded.dll")[0]
        self.assertEqual((frame["function"], frame["line"], frame["note"]),
                         ("Shapes::Throws", None, "the PDB found is of another build"))

    def test_the_victims_assembly_is_made_from_its_sources(self):
        folder, runtime = e2e.ROOT / "victims/managed", e2e.BUILD / "dotnet"
        sdk = (folder / "sdk.txt").read_text(encoding="utf-8").strip()
        if not (runtime / "System.Private.CoreLib.dll").exists() or not shutil.which("dotnet"):
            self.skipTest("no .NET runtime, or no dotnet SDK")
        sdks = subprocess.run(["dotnet", "--list-sdks"], capture_output=True, text=True, check=True, timeout=60 * e2e.PATIENCE).stdout
        if not sdks.rstrip().rpartition("\n")[2].startswith(f"{sdk} "):
            self.skipTest(f"the files were made by the dotnet SDK {sdk}")
        subprocess.run([folder / "make.sh", runtime, self.folder], check=True, timeout=300 * e2e.PATIENCE)
        for name in ("managed.dll", "managed.pdb"):
            self.assertEqual((self.folder / name).read_bytes(), (folder / name).read_bytes(), name)

    def test_damaged(self):
        shutil.copy(CORPUS / "shapes.pdb", self.folder / "shapes.pdb")
        whole = (CORPUS / "shapes.pdb").read_bytes()
        (self.folder / "shapes.pdb").write_bytes(whole[:600])
        self.run_twinstack("symbols", "list", self.folder / "shapes.pdb", exit_code=3)
        self.run_twinstack("resolve", "--symbols", self.folder / "shapes.pdb", stdin="shapes.dll!0x06000009+0x14\n",
                           exit_code=3)


e2e.main()
