"""The dumps of corpus/reference: minidumps of four threads that are at moments of the suite, each laid out in one way that readers meet.

The threads of one dump are of different images and have their own stacks, so that all of them are in one address space: a moment is
moved, which is what the same program does at another base and on another stack. Nothing in these programs depends on either. The page
is applied again to what was moved, and must give the moved walk. Of x86 the suite has one image: there, all threads of a dump are in it."""

import json
import pathlib
import struct
import sys

import reference_page_arm64 as page_arm64
import reference_page_x64 as page_x64
import reference_page_x86 as page_x86

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "reference/adapters"))
import dump_of_moments as layout  # pylint: disable=wrong-import-position

LEARN = "https://learn.microsoft.com/en-us/windows/win32/api/minidumpapiset/ns-minidumpapiset-minidump_"
UNLOADED, COMMENT, MEMORY64, UNUSED = 14, 10, 9, 0
PER_FORM, THREADS = 5, 4
FULL_MEMORY = 2  # MiniDumpWithFullMemory, which every writer of a Memory64List states
# A case has one difficulty, which is the form of the dump: its moments are those that walkers are seldom wrong at.
SHAPES = ("push", "alloc-small", "alloc-large", "save", "frame-register", "handler",
          "packed-cr1", "packed-cr3", "set-fp", "save-pair", "save-one", "alloc-medium", "scopes")
SHAPES_X86 = ("push", "alloc", "frame-pointer")
STACKS = {"x64": (0x10000000, 0x10800000), "arm64": (0x10000000, 0x10040000), "x86": (0x10000000, 0x10008000)}
PAGES = {"x64": (page_x64, "rip", "rsp", "Q"), "arm64": (page_arm64, "pc", "sp", "Q"), "x86": (page_x86, "eip", "esp", "I")}
ARCHITECTURE = {"x64": 9, "arm64": 12, "x86": 0}
MOVED = "executed in an emulator (unicorn 2.0.1), then moved to another base and stack"
APPLIED = {processor: f"the page applied by corpus/reference_page_{processor}.py" + (" to what llvm-pdbutil 19.1.7 reads" if processor == "x86" else "")
           for processor in PAGES}
# The form: (the structure that decides, what is special).
FORMS = {
    "threads": ("thread_list", {}),
    "exception": ("exception_stream", {"exception": 2}),
    "exception-context": ("exception_stream", {"exception": 1, "own_context": True}),
    "full-memory": ("memory64_list", {"memory64": True}),
    "images-in-memory": ("memory_list", {"images": True}),
    "pieces": ("memory_list", {"pieces": False}),
    "odd-pieces": ("memory_list", {"pieces": True}),
    "unsorted": ("memory_list", {"reverse": True}),
    "overlapping": ("memory_list", {"overlap": True}),
    "stack-elsewhere": ("thread", {"no_stack": True}),
    "module-paths": ("module", {"paths": True}),
    "high-ids": ("thread", {"high": True, "exception": 3}),
    "unloaded": ("unloaded_module_list", {"unloaded": True}),
    "extra-streams": ("directory", {"extra": True}),
    "large-context": ("thread", {"large": True}),
    "cut": ("memory_list", {"cut": True}),
}
PATHS = ("{}", "C:\\Program Files\\Suite\\{}", "\\\\server\\share\\{}", "/opt/suite/{}")


class Image:
    """An image at a base of its own."""

    def __init__(self, folder, processor, path, number):
        self.file, self.name = folder / path, pathlib.PurePosixPath(path).name
        self.page = PAGES[processor][0].Image(folder / path)
        self.from_base, self.page.base = self.page.base, self.page.base + 0x10000 * number
        self.stamp, self.size, self.checksum, self.codeview = layout.facts(folder / path)

    def loaded(self):
        """As the loader lays it out, with its headers. At its preferred base nothing is relocated."""
        assert self.page.base == self.from_base
        data = self.file.read_bytes()
        size, = struct.unpack_from("<I", data, struct.unpack_from("<I", data, 60)[0] + 84)
        return data[:size] + self.page.memory[size:]

    def place(self):
        """Where a symbol server has it."""
        return f"{self.name}/{self.stamp:08X}{self.size:x}/{self.name}"

    def symbols_place(self):
        """The same of the PDB, which an image of x86 has; None: there is none."""
        if not self.codeview:
            return None
        name = self.codeview[24:].rstrip(b"\0").decode()
        return "{}/{:08X}{:04X}{:04X}{}{:X}/{}".format(name, *struct.unpack_from("<IHH", self.codeview, 4), self.codeview[12:20].hex().upper(),  # pylint: disable=consider-using-f-string
                                                       *struct.unpack_from("<I", self.codeview, 20), name)


class Thread:
    """A moment, moved."""

    def __init__(self, processor, case, image, number):
        page, ip, sp, word = PAGES[processor]
        self.word_bytes = struct.calcsize(word)
        low, high = STACKS[processor]
        by_stack, by_image = 0x1000000 * number, image.page.base - image.from_base

        def moved(value):
            if low <= value < high:
                return value + by_stack
            return value + by_image if image.from_base <= value < image.from_base + image.size else value

        given = case["given"]
        part, = given["stack"]
        words = struct.unpack(f"<{len(part['bytes']) // 2 // self.word_bytes}{word}", bytes.fromhex(part["bytes"]))
        self.case, self.image = case, image
        self.registers = {name: moved(int(value, 16)) for name, value in given["registers"].items()}
        self.stack_at, self.stack = moved(int(part["at"], 16)), struct.pack(f"<{len(words)}{word}", *map(moved, words))
        self.walk = [(moved(int(f["ip"], 16)), moved(int(f["sp"], 16))) for f in case["truth"]["frames"]]
        self.read_at = []

        def read(at):
            self.read_at.append(at)
            return struct.unpack_from(f"<{word}", self.stack, at - self.stack_at)[0]

        applied = page.walk(image.page, self.registers, read)
        assert applied == self.walk and self.walk[0] == (self.registers[ip], self.registers[sp]), case["id"]
        self.ip, self.sp = ip, sp

    def context(self, large=False, **other):
        raw = bytearray(layout.context({name: hex(value) for name, value in {**self.registers, **other}.items()}))
        if large: # CONTEXT_XSTATE, with its area after the structure
            if self.ip in ("rip", "eip"):
                place = 0x30 if self.ip == "rip" else 0
                flags, = struct.unpack_from("<I", raw, place)
                struct.pack_into("<I", raw, place, flags | 0x40)
            raw += bytes(832)
        return bytes(raw)


def moments(folder, processor):
    """{image: simple cases that are certain to the end and have a whole stack}."""
    out, shapes = {}, SHAPES_X86 if processor == "x86" else SHAPES
    for file in sorted((folder / "moments").glob(f"{processor}-*.ndjson")):
        for case in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            simple = case["shape"] in shapes and case["position"] == "body" and case["truth"].get("whole")
            if simple and len(case["given"]["stack"]) == 1 and len(case["truth"]["frames"]) > 2:
                out.setdefault(case["given"]["modules"][0]["path"], []).append(case)
    return out


def pieces(threads, ranges, inside):
    """Each range as two that follow each other; they part before or INSIDE a word that the walk reads."""
    for thread, (at, data) in zip(threads, ranges):
        cut = sorted(thread.read_at)[len(thread.read_at) // 2] + inside * thread.word_bytes // 2 - at
        for start, end in ((0, cut), (cut, len(data))):
            if start < end:
                yield at + start, data[start:end]


def memory_of(threads, form):
    ranges = [(thread.stack_at, thread.stack) for thread in threads]
    if form.get("own_context"):
        ranges = [(at - 256, bytes(256) + data) for at, data in ranges]
    if form.get("cut"):
        ranges = [(at, data[:max(thread.word_bytes, thread.walk[1][1] - at)]) for thread, (at, data) in zip(threads, ranges)]
    if "pieces" in form:
        ranges = list(pieces(threads, ranges, form["pieces"]))
    if form.get("overlap"):
        ranges += [(at + 16, data[16:]) for at, data in ranges if len(data) > 16]
    if form.get("images"):
        ranges += [(image.page.base, image.loaded()) for image in {id(t.image): t.image for t in threads}.values()]
    return ranges[::-1] if form.get("reverse") else ranges


def put_memory(file, ranges, form):
    """{address: (address, size, place)} of the ranges, after their stream was written."""
    if not form.get("memory64"):
        placed = [(at, len(data), file.put(data)) for at, data in ranges]
        file.stream(layout.MEMORY, struct.pack("<I", len(placed)) + b"".join(struct.pack("<QII", *row) for row in placed))
        return {row[0]: row for row in placed}
    at, placed = file.put(b"".join(data for _, data in ranges)), []
    file.stream(MEMORY64, struct.pack("<QQ", len(ranges), at) + b"".join(struct.pack("<QQ", start, len(data)) for start, data in ranges))
    for start, data in ranges:
        placed.append((start, len(data), at))
        at += len(data)
    return {row[0]: row for row in placed}


def put_modules(file, images, form):
    rows, gone = [], []
    for i, image in enumerate(images):
        path = PATHS[(i + form.get("first_path", 0)) % len(PATHS)] if form.get("paths") else "C:\\suite\\{}"
        name, record = file.put(layout.text(path.format(image.name))), (0, 0)
        if image.codeview:
            record = (len(image.codeview), file.put(image.codeview))
        rows.append(struct.pack("<QIIII52xII8x16x", image.page.base, image.size, image.checksum, image.stamp, name, *record))
        gone.append(struct.pack("<QIIII", image.page.base, image.size, 0, 0x5EED0000 + i, file.put(layout.text(f"C:\\suite\\gone{i}.dll"))))
    file.stream(layout.MODULES, struct.pack("<I", len(rows)) + b"".join(rows[::-1] if form.get("reverse") else rows))
    if form.get("unloaded"):
        file.stream(UNLOADED, struct.pack("<III", 12, 24, len(gone)) + b"".join(gone))


def written(processor, threads, form):
    """The bytes of the dump, and the ids of its threads."""
    file = layout.File(16)
    file.stream(layout.SYSTEM, struct.pack("<HHHBBIIIIIHH24x", ARCHITECTURE[processor], 6, 0, 1, 1, 10, 0, 19045, 2, file.put(layout.text("")), 0, 0))
    if form.get("extra"):
        file.stream(UNUSED, bytes(16))
        file.stream(0x4D5A0001, b"a stream that no one else knows")
        file.stream(COMMENT, b"")
    put_modules(file, list({id(t.image): t.image for t in threads}.values()), form)
    placed = put_memory(file, memory_of(threads, form), form)
    ids = [0xFFFFFFF0 - 4 * i if form.get("high") else 1000 + 4 * i for i in range(len(threads))]
    rows, places = [], []
    for i, thread in enumerate(threads):
        handler = form.get("own_context") and i == form["exception"]
        more = {thread.ip: thread.image.page.base + 0x1000, thread.sp: thread.stack_at - 128} if handler else {}
        raw = thread.context(form.get("large", False), **more)
        places.append((len(raw), file.put(raw)))
        start = next(row for row in placed.values() if row[0] <= thread.stack_at < row[0] + row[1])
        stack = (thread.stack_at, 0, 0) if form.get("no_stack") else start
        rows.append(struct.pack("<IIIIQQIIII", ids[i], 0, 32, 0, 0, *stack, *places[i]))
    file.stream(layout.THREADS, struct.pack("<I", len(rows)) + b"".join(rows[::-1] if form.get("reverse") else rows))
    if "exception" in form:
        number = form["exception"]
        raw = threads[number].context()
        file.stream(layout.EXCEPTION, struct.pack("<IIIIQQII120xII", ids[number], 0, 0xC0000005, 0, 0, threads[number].walk[0][0], 0, 0,
                                                  len(raw), file.put(raw)))
    return file.whole(FULL_MEMORY if form.get("memory64") else 0), ids


def symbols_of(processor, form):
    """The folder of images and PDBs. With images in the memory, only what these have no room for."""
    if form.get("images"):
        return "dumps/pdbs" if processor == "x86" else None
    return "dumps/symbols"


def case_of(processor, name, number, index, thread, key):
    crashed = FORMS[name][1].get("exception") == index
    truth = {"level": "must", "frames": [{"ip": hex(ip), "sp": hex(sp)} for ip, sp in thread.walk], "whole": True}
    if FORMS[name][1].get("cut"):
        truth = {"level": "may", "accepted": [truth["frames"][:2]]}
    structure = FORMS[name][0]
    return {"id": f"dumps/{processor}/{name}/{number}/{index}", "kind": "dump", "processor": processor, "shape": name, "position": "crashed" if crashed else "other",
            "rule": {"kind": "page", "name": f"minidumpapiset.h, MINIDUMP_{structure.upper()}", "address": LEARN + structure},
            "needs": thread.case["needs"], "conflicts_with": [], "issues": [], "os": None, "capability": f"dumps.{processor}",
            "given": {"dump": f"dumps/{processor}-{name}-{number}.dmp", "symbols": symbols_of(processor, FORMS[name][1]), "thread": key},
            "truth": truth, "known_by": [MOVED, APPLIED[processor]]}


def put_symbols(out, path, image, folder):
    """Puts the image where a symbol server has it, and its PDB, of which `dumps/pdbs` has no image."""
    places = [(image.place(), path)] if folder != "dumps/pdbs" else []
    if image.symbols_place():
        places.append((image.symbols_place(), str(pathlib.PurePosixPath(path).with_suffix(".pdb"))))
    for name, source in places:
        place = out / (folder or "dumps/symbols") / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes((out / source).read_bytes())


def threads_of(out, processor, found, turn, form):
    """The threads of one dump: of x86 all in one image, which is there once."""
    paths, threads, shared = sorted(found), [], None
    for index in range(1 if form.get("images") else THREADS):
        path = paths[(turn * THREADS + index) % len(paths)]
        if processor == "x86":
            shared = shared or Image(out, processor, path, 0 if form.get("images") else turn % THREADS)
        image = shared or Image(out, processor, path, index)
        put_symbols(out, path, image, symbols_of(processor, form))
        threads.append(Thread(processor, found[path][(turn * 7 + index * 13) % len(found[path])], image, index))
    return threads


def make(out):
    """Writes dumps/ below OUT, which has the moments; returns {list: cases}."""
    lists = {}
    (out / "dumps").mkdir(exist_ok=True)
    for processor in PAGES:
        found, turn = moments(out, processor), 0
        cases = lists[f"dumps/{processor}.ndjson"] = []
        for name, (_, form) in FORMS.items():
            for number in range(PER_FORM):
                threads = threads_of(out, processor, found, turn, form)
                turn += 1
                data, ids = written(processor, threads, {**form, "first_path": number if processor == "x86" else 0})
                (out / f"dumps/{processor}-{name}-{number}.dmp").write_bytes(data)
                cases += [case_of(processor, name, number, index, thread, ids[index]) for index, thread in enumerate(threads)]
    return lists
