"""`dump` compared with published results for the same files: symbolicator's stacks of g01,
minidump_dump's listing of g05."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

G01, G05 = "g01-crash-x86/", "g05-minidump2-x86/"


def snapshot_threads(text):
    """{thread: (registers, [(address, function, line)])} of symbolicator's snapshot."""
    threads = {}
    for row in text[text.index("stacktraces:"):text.index("\nmodules:")].splitlines():
        key, _, value = row.strip().lstrip("- ").partition(": ")
        value = value.strip('"')
        if key == "thread_id":
            registers, frames = threads.setdefault(int(value), ({}, []))
        elif key == "instruction_addr":
            frames.append([int(value, 16), None, None])
        elif key in ("function", "lineno"):
            frames[-1][1 if key == "function" else 2] = value
        elif re.fullmatch("e[a-z]{2}|eflags", key):
            registers[key] = int(value, 16)
    return threads


def listing(text, kind):
    """The objects of that kind that minidump_dump prints, each as a dictionary of its rows."""
    for block in re.split(r"\n(?=MDRaw|mDirectory|MinidumpMemory)", text):
        if block.startswith(kind + "\n"):
            yield dict(re.findall(r"^ +(\S+) += (.*)$", block, re.M))


def number(text):
    return int(text.split()[0], 0)


class Published(e2e.Case):
    def test_stacks_of_symbolicator(self):
        published = snapshot_threads(
            self.fixture(G01 + "integration__process_minidump__minidump_windows.snap").read_text())
        self.assertEqual(len(published), 4)
        dump, symbols = self.fixture(G01 + "windows.dmp"), ["--symbols", self.fixture(G01 + "crash.exe"),
                                                            "--symbols", self.fixture(G01 + "crash.pdb")]
        raw = self.run_json("dump", dump, "--json")
        bases = {m["name"]: int(m["base"], 16) for m in raw["modules"]}
        for thread in self.run_json("dump", dump, "--stacks", "--json", *symbols)["threads"]:
            with self.subTest(thread["id"]):
                _, frames = published[thread["id"]]
                ours = [(bases[f["module"]] + int(f["offset"], 16), f["function"], f["line"])
                        for f in thread["stack"]["frames"] if not f["inlined"]]
                places = [pc for pc, _, _ in ours]
                order = []
                for address, function, line in frames:  # for named frames it prints the call's last
                                                        # byte
                    place = places.index(address if address in places else address + 1)
                    order.append(place)
                    if function is not None:
                        self.assertEqual(ours[place][1:], (function, int(line)))
                self.assertEqual(order, sorted(order))
                if thread["role"] == "suspect":
                    self.assertEqual(len(frames), len(ours))

    def test_registers_of_symbolicator(self):
        text = self.fixture(G01 + "integration__process_minidump__minidump_windows.snap").read_text()
        raw = self.run_json("dump", self.fixture(G01 + "windows.dmp"), "--json")
        published, crashed = snapshot_threads(text), raw["exception"]["thread_id"]
        for thread in raw["threads"]:
            if thread["id"] == crashed:
                continue  # for this thread the snapshot has the registers of the exception
            ours = {"eip": "pc", "esp": "sp", "eflags": "flags"}
            for name, value in published[thread["id"]][0].items():
                self.assertEqual(int(thread["registers"][ours.get(name, name)], 16), value, name)

    def test_listing_of_minidump_dump(self):
        text = self.fixture(G05 + "minidump2.dump.out").read_text()
        raw = self.run_json("dump", self.fixture(G05 + "minidump2.dmp"), "--json")
        threads, contexts = list(listing(text, "MDRawThread")), list(listing(text, "MDRawContextX86"))
        modules = list(listing(text, "MDRawModule"))
        self.assertEqual((len(threads), len(modules)), (len(raw["threads"]), len(raw["modules"])))
        for ours, row, context in zip(raw["threads"], threads, contexts):
            self.assertEqual([ours["id"], int(ours["teb"], 16), int(ours["stack_start"], 16), ours["stack"]["bytes"]],
                             [number(row[k]) for k in ("thread_id", "teb", "stack.start_of_memory_range",
                                                       "stack.memory.data_size")])
            for name in ("eax", "ebx", "ecx", "edx", "esi", "edi", "ebp"):
                self.assertEqual(int(ours["registers"][name], 16), number(context[name]), name)
            self.assertEqual(int(ours["registers"]["pc"], 16), number(context["eip"]))
        for ours, row in zip(raw["modules"], modules):
            self.assertEqual([int(ours[k], 16) for k in ("base", "size", "timestamp", "checksum")],
                             [number(row[k]) for k in ("base_of_image", "size_of_image", "time_date_stamp",
                                                       "checksum")])
            self.assertEqual(ours["path"], row["(code_file)"].strip('"'))
            self.assertEqual(ours["debug_id"], row["(debug_identifier)"].strip('"'))
            self.assertEqual(ours["code_id"].lower(), row["(code_identifier)"].strip('"').lower())


e2e.main()
