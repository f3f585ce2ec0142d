#!/usr/bin/python3
"""The addresses of corpus/reference: builds the programs, asks the witnesses every instruction, and chooses the cases.
reference_addresses.py [NAME...] asks the witnesses again about the programs that are there, and says of which the cases are not proved;
with --store it keeps what DIA, which SUITE_DIA and SUITE_DIA_ASKER name (reference_readers.py), answers about each NAME.

An answer is `must` where at least two witnesses give it and the program's own marks do not contradict it. It is `may` where the file
itself leaves a choice (several rows of a line table at one address) or where the witnesses are evenly divided: then each answer of a
witness is accepted. Of padding between functions nothing is known: tools name what is before it, or nothing."""

import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import reference_programs as programs
import reference_readers as readers

PER_PROGRAM = 92
CVINFO = "https://github.com/microsoft/microsoft-pdb/blob/master/include/cvinfo.h"
DWARF = "https://dwarfstd.org/doc/DWARF5.pdf"


def standard(name):
    return {"kind": "standard", "name": f"DWARF 5, {name}", "address": DWARF}


def codeview(name):
    return {"kind": "vendor source", "name": f"cvinfo.h, {name}", "address": CVINFO}


RULES = {
    "addresses.dwarf": {
        "inline": standard("3.3.8.2 concrete inlined instances"), "ranges": standard("2.17.3 non-contiguous address ranges"),
        "split": standard("3.1.2 skeleton compilation unit entries"), "file": standard("6.2.4 the line number program header"),
        "line": standard("6.2 line number information"), "function": standard("3.3 subroutine and entry point entries"),
        "dwz": standard("3.1.1 full and partial compilation unit entries")},
    "addresses.pdb": {
        "inline": codeview("S_INLINESITE and its binary annotations"), "ranges": codeview("S_INLINESITE and its binary annotations"),
        "msfz": {"kind": "vendor source", "name": "pdb-rs, the MSFZ container", "address": "https://github.com/microsoft/pdb-rs"},
        "omap": {"kind": "vendor source", "name": "pdb.h, dbgtypeOmapToSrc and dbgtypeOmapFromSrc",
                 "address": "https://github.com/microsoft/microsoft-pdb/blob/master/langapi/include/pdb.h"},
        "file": codeview("CV_DebugSLinesFileBlockHeader_t"), "line": codeview("CV_Line_t"), "function": codeview("S_GPROC32, S_LPROC32")},
}
WITNESSES = {"llvm": "llvm-symbolizer 19.1.7", "bfd": "addr2line of binutils 2.40", "gdb": "GDB 13.1", "elfutils": "eu-addr2line of elfutils 0.188",
             "dia": "Microsoft's DIA 14.51.36231", "dia-44": "Microsoft's DIA 14.44.35215.100", "marks": "stated by the program (its marks)"}
# First words of C functions whose shape has another name.
SHAPES = {"plain": "plain", "callee": "plain", "rare": "plain", "after": "plain", "inline": "inline", "chain": "inline-chain", "twice": "inline-twice",
          "siblings": "inline-siblings", "call": "call-in-inline", "ranges": "ranges", "cold": "cold-part", "macro": "macro", "loop": "loop",
          "statement": "statement", "other": "other-file", "switch": "switch", "stop": "no-return", "last": "no-return", "folded": "folded",
          "alias": "alias", "line": "line-directive", "dllmaincrtstartup": "plain", "templates": "template", "cpp20": "cpp20", "lambdas": "lambda",
          "(anonymous namespace)": "anonymous", "scopes": "scope", "generics": "rust-generic", "traits": "rust-trait", "closures": "rust-closure",
          "macros": "rust-macro", "names": "rust-plain", "memset": "plain", "_purecall": "plain", "__cxa_pure_virtual": "plain"}
POSITIONS = ("first", "inline-begin", "inline-end", "row", "inside", "mid-instruction", "return", "last", "gap")
ISSUES = {"omap": ["MolecularMatters/raw_pdb#80", "getsentry/pdb#17"], "msfz": ["microsoft/perfview#2243"],
          "return": ["bombela/backward-cpp#288"], "inline-siblings": ["getsentry/symbolic#647"], "folded": ["danielplohmann/mcrit#126"],
          "ranges": ["getsentry/pdb#78"]}


def without_parameters(name):
    """A demangled name up to its last list of parameters, if it ends with one."""
    end = re.search(r"\)(?: const| volatile| &| && )*$", name)
    depth, at = 0, end.start() if end else -1
    while at > 0:
        depth += (name[at] == ")") - (name[at] == "(")
        if depth == 0:
            return name if re.search(r"(?:operator|::|^)$", name[:at]) else name[:at]
        at -= 1
    return name


SHAPES_C = (programs.SOURCES / "shapes.c").read_text(encoding="utf-8").splitlines()
ANONYMOUS = ("`anonymous namespace'", "(anonymous namespace)")
NO_LINES = (0xF00F00, 0xFEEFEE)  # Microsoft's marks of code that a debugger steps over, or into
FOLDED = ("folded_one", "folded_two")
FOLDED_SECOND = SHAPES_C.index("API int folded_two(int a)") + 1
FOLDED_STEP = FOLDED_SECOND - SHAPES_C.index("API int folded_one(int a)") - 1


class Names:
    """Spellings of linkage names."""

    def __init__(self):
        self.known = {}

    def learn(self, names):
        names = sorted({name for name in names if name} - set(self.known))
        forms = {name: [name] for name in names}
        for tool in (["llvm-cxxfilt-19"], ["llvm-cxxfilt-19", "-p"], ["c++filt"], ["llvm-undname-19"], ["llvm-undname-19", "--no-calling-convention",
                     "--no-access-specifier", "--no-return-type", "--no-member-type"], ["llvm-undname-19", "--no-calling-convention",
                     "--no-access-specifier", "--no-member-type"]):
            text = subprocess.run(tool, input="\n".join(names) + "\n", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
            lines = text.splitlines()
            if "undname" in tool[0]:
                lines = self.undname(names, lines)
            for name, form in zip(names, lines):
                forms[name].append(form)
        for name in names:
            forms[name] += [re.sub(r"::h[0-9a-f]{16}$", "", form) for form in forms[name] if re.search(r"::h[0-9a-f]{16}$", form)]
            forms[name] += [re.sub(r"\?A0x[0-9a-f]{8}(?=::)", space, form) for form in forms[name] if "?A0x" in form for space in ANONYMOUS]
            forms[name] += [form.replace("deleting dtor'", "deleting destructor'") for form in forms[name] if "deleting dtor'" in form]
            forms[name] += [without_parameters(form) for form in forms[name]]
            if name.startswith("_") and name[1:2] not in ("Z", "R"):
                forms[name].append(name[1:])  # the symbol of a C function of 32-bit Windows
        self.known.update(forms)

    @staticmethod
    def undname(names, lines):
        """It repeats each name, then prints its form or an error, then an empty line."""
        found, at = {}, None
        for line in lines:
            if line in names and line != at:
                at = line
            elif line and at:
                found[at] = at if line.startswith("error") else line
        return [found.get(name, name) if name.startswith("?") else name for name in names]

    def forms(self, name):
        return self.known.get(name, [name])

    def bare(self, name):
        """The last part of a name: what witnesses have to agree on."""
        if not name:
            return None
        forms = self.forms(name)
        text = without_parameters(forms[5]) if name.startswith("?") and len(forms) > 5 else min(forms[1:3] or [name], key=len)
        text = re.sub(r"(\.(cold|localalias|part\.\d+|constprop\.\d+|isra\.\d+|llvm\.\d+|lto_priv\.\d+))+$", "", text)
        text = re.sub(r" \[clone.*|::h[0-9a-f]{16}$", "", text)
        text = re.sub(r"operator(<=>|==|\(\)|\[\]|\+|\"\")", lambda m: "operator#" + m[1].encode().hex(), text)
        text = text.replace("(anonymous namespace)", "anonymous").replace("`anonymous namespace'", "anonymous")
        depth, out = 0, []
        for char in text:
            depth += (char in "<({") - (char in ">)}")
            if depth == 0 and char not in ">)}":
                out.append(char)
        return "".join(out).strip().split("::")[-1].split(" ")[-1].lstrip("_") or text


def path_of(file, folder):
    """A file below the sources' folder as its path there."""
    if file is None:
        return None
    file = file.replace("\\", "/")
    for prefix in (str(folder) + "/", programs.PLACE + "/", "./"):
        if file.startswith(prefix):
            file = file[len(prefix):]
    return os.path.normpath(file)


def choices(program, folder):
    """{first address of a row: [(line, file), ...]} where the line table has several rows for one address; and all row addresses."""
    rows, starts = collections.defaultdict(set), set()
    if program.capability == "addresses.pdb":
        return {}, []
    file = folder / (program.symbols if program.symbols and program.symbols.endswith((".debug", ".dylib")) else program.image)
    base = readers.address_files.base(folder / program.image)
    for line in readers.run("llvm-dwarfdump-19", "--debug-line", file, stderr=subprocess.DEVNULL).splitlines():
        if (row := re.match(r"0x([0-9a-f]{16})\s+(\d+)\s+\d+\s+(\d+)", line)) and "end_sequence" not in line:
            rows[int(row[1], 16) - base].add((int(row[2]), int(row[3])))
        if row:
            starts.add(int(row[1], 16) - base)
    return {at: found for at, found in rows.items() if len(found) > 1}, sorted(starts)


def is_complete(key):
    return bool(key) and None not in key[0]


class Judge:
    """The answers of one program."""

    def __init__(self, program, folder, names):
        self.program, self.folder, self.names = program, folder, names
        self.image = folder / program.image
        self.instructions = readers.instructions(self.image)
        self.marks = readers.marks(program, folder) if "-gno-inline-line-tables" not in program.flags else {}
        self.answers = readers.asked(program, folder, [rva for rva, _ in self.instructions])
        self.several, self.starts = choices(program, folder)
        self.folded = self.names_of_folded() if program.published else {}
        names.learn(name for found in self.folded.values() for name in found)
        self.short = {} if program.capability == "addresses.pdb" else readers.by_llvm(self.image, [rva for rva, _ in self.instructions], "--functions=short")
        self.symbols = readers.functions(self.image) if not program.windows and "mach-o" not in program.needs else \
            self.procedures() if program.capability == "addresses.pdb" else readers.by_dwarf(folder / (program.symbols or program.image))
        names.learn(frame["function"] for answers in (*self.answers.values(), self.short) for frames in answers.values() for frame in frames)
        names.learn(name for _, _, name in self.symbols)
        names.learn(name[1:] for name in list(names.known) if name.startswith("__Z"))

    def names_of_folded(self):
        """{start: names} of functions, none where the linker did not fold it with others, by the PDB's procedures and public symbols."""
        symbols, public, own = self.folder / self.program.symbols, collections.defaultdict(set), collections.defaultdict(set)
        text = readers.run("llvm-pdbutil-19", "dump", "-publics", symbols)
        for name, at in re.findall(r"S_PUB32 .*`(.*)`\n +flags = .*, addr = 0001:(\d+)", text):
            public[0x1000 + int(at)].add(name)
        for (_, _, name), (start, _) in programs.procedures(symbols).items():
            own[start].add(name)
        return {start: sorted(own[start] | public[start]) if max(len(own[start]), len(public[start])) > 1 else [] for start in {*own, *public}}

    def names_at(self, rva):
        start = max((start for start in self.folded if start <= rva), default=None)
        return self.folded.get(start, [])

    def procedures(self):
        """As readers.functions(), of an image without symbols: what DIA, where it was asked, calls one function."""
        out, answers = [], self.answers.get("dia") or self.answers["llvm"]
        for rva, _ in [*self.instructions, (self.instructions[-1][0] + 1, "end")]:
            frames = answers.get(rva)
            name = frames[-1]["function"] if frames else None
            if out and out[-1][2] == name:
                continue
            if out:
                out[-1] = (out[-1][0], rva, out[-1][2])
            out.append((rva, rva + 1, name))
        return [row for row in out if row[2]]

    def key(self, frames):
        """What witnesses are compared by; a label of an assembler is no name of a function."""
        return tuple((self.names.bare(f["function"]) if not (f["function"] or "").startswith(".L") else None, path_of(f["file"], self.folder), f["line"]) for f in frames)

    def several_rows(self, rva):
        below = [start for start in self.starts if start <= rva]
        return bool(below) and below[-1] in self.several

    def judged(self, rva):
        """(level, [keys], known_by): None where no witness knows anything."""
        votes = collections.defaultdict(list)
        for witness, answers in self.answers.items():
            votes[self.key(answers[rva])].append(witness)
        if any(is_complete(key) for key in votes):  # what a reader does not know is no other answer
            votes = {key: found for key, found in votes.items() if is_complete(key)}
        if not any(start <= rva < end for start, end, _ in self.symbols):  # padding between functions
            return "unknown", [()], sorted({w for found in votes.values() for w in found})
        lines = self.marks.get(rva)
        for key in votes if lines else ():
            stated = [line for _, _, line in key]
            if stated == lines or len(lines) == 1 and stated[:1] == lines:
                votes[key].append("marks")
        best = max(votes, key=lambda key: (len(votes[key]), "marks" in votes[key], "llvm" in votes[key]))
        others = [key for key in votes if key != best]
        chosen = not any(len(votes[key]) == len(votes[best]) for key in others)
        doubt = any("last" in frame for frame in self.answers.get("dia", {}).get(rva, ()))
        doubt |= self.several_rows(rva) and any(key and best and key[0][1:] != best[0][1:] for key in others)
        if best and best[0][2] in NO_LINES:
            return "may", [best, ((best[0][0], None, None), *best[1:])], votes[best]
        if "icf" in str(self.program.link) and best and best[-1][0] in FOLDED and best[-1][2]:
            return "may", [best, self.other_lines(best)], votes[best]
        if len(votes[best]) >= 2 and chosen and not doubt and is_complete(best) and not self.names_at(rva):
            return "must", [best], votes[best]
        return "may", [key for key in votes if "marks" not in votes.get(best, ()) or key == best] if not doubt else list(votes), sorted({w for ws in votes.values() for w in ws})

    @staticmethod
    def other_lines(key):
        """The answer by the lines of the other of the two functions that the linker folded."""
        function, file, line = key[-1]
        return (*key[:-1], (function, file, line - FOLDED_STEP if line >= FOLDED_SECOND else line + FOLDED_STEP))

    def spellings(self, rva, key):
        """The accepted names of each frame of KEY: those of the witnesses that gave it, and of symbols that cover the address."""
        out = []
        for depth, row in enumerate(key):
            found = []
            if row[0] in FOLDED and "icf" in str(self.program.link):
                found += FOLDED
            once = [function for function, _, _ in key].count(row[0]) == 1
            for answers in (*self.answers.values(), self.short):
                frames = answers.get(rva, ())
                for frame in frames[depth:depth + 1] if len(frames) == len(key) else frames if once else ():
                    if self.names.bare(frame["function"]) == row[0]:
                        found += self.names.forms(frame["function"])
            if depth == len(key) - 1:
                found += [form for name in self.names_at(rva) for form in self.names.forms(name) if form == without_parameters(form) and "public: " not in form]
                for start, end, name in self.symbols:
                    if start <= rva < end and name:
                        found += self.names.forms(name)
                if self.program.windows and self.program.processor == "x86" or "mach-o" in self.program.needs:  # symbols of C and C++ begin with another _
                    found += [form for name in list(found) if name.startswith("__") for form in self.names.forms(name[1:])]
                    found += ["_" + name for name in list(found) if re.fullmatch(r"\w+", name)]
            unique = {}
            for name in found:
                if name:
                    unique.setdefault(name.replace(" ", ""), name)
            out.append((list(unique.values()), row))
        return out

    def frames(self, rva, key):
        place = "" if "split-dwarf" in self.program.needs else programs.PLACE + "/"
        return [{"function": names or None, "file": [file if re.match(r"/|[A-Za-z]:", file) else place + file] if file else None, "line": line,
                 "inlined": i + 1 < len(key)} for i, (names, (_, file, line)) in enumerate(self.spellings(rva, key))]

    def shape(self, rva, key):
        if not key:
            return "padding"
        if self.program.published:
            return "msvc-inline" if len(key) > 1 else "msvc-no-lines" if key[0][2] in (None, *NO_LINES) else "msvc"
        symbol = next((name for start, end, name in reversed(self.symbols) if start <= rva < end), "")
        if symbol.endswith(".cold"):
            return "cold-part"
        function = next((a[rva][-1]["function"] for a in self.answers.values() if self.key(a[rva]) == key and a[rva]), None) or ""
        forms = self.names.forms(function)
        for form in (*forms[5:6], *forms[1:3], function):
            form = re.sub(r"^.*? (?=[\w(]+::)", "", form.strip())
            if self.program.compiler == "rustc":
                for word in ("generics", "traits", "closures", "macros"):
                    if word in form:
                        return SHAPES[word]
                return "rust-plain"
            head = re.split(r"::", form)[0].strip() if "::" in form else re.split(r"_", form.lstrip("_") if not form.startswith("__") else form)[0]
            for word in (form, head, head.lower()):
                if word in SHAPES:
                    return SHAPES[word]
        return "template" if "templates" in function else "operator" if "operator" in str(forms) else "plain"

    def rule(self, shape, key):
        rules = RULES[self.program.capability]
        for need in ("dwz", "msfz", "omap"):
            if need in self.program.needs:
                return rules[need]
        if "split-dwarf" in self.program.needs:
            return rules["split"]
        if shape in ("ranges", "cold-part"):
            return rules["ranges"]
        if len(key) > 1:
            return rules["inline"]
        if shape in ("line-directive", "other-file"):
            return rules["file"]
        return rules["function"] if shape in ("msvc-no-lines", "alias", "folded", "template", "cpp20", "lambda", "scope", "anonymous") else rules["line"]

    def places(self):
        """[(rva, lookup, position, rva whose answer it is)]"""
        out, before = [], None
        ends = {end for _, end, _ in self.symbols}
        begins = {start for start, _, _ in self.symbols}
        for i, (rva, word) in enumerate(self.instructions):
            key = self.judged(rva)[1][0]
            after = self.instructions[i + 1][0] if i + 1 < len(self.instructions) else None
            if after and key:  # objdump leaves out zeros between functions
                after = min([after, *(end for start, end, _ in self.symbols if start <= rva < end)])
            if not key:
                position = "gap"
            elif rva in begins:
                position = "first"
            elif before and key[-1][0] == before[-1][0] and len(key) != len(before):
                position = "inline-begin" if len(key) > len(before) else "inline-end"
            elif after in ends:
                position = "last"
            else:
                position = "row" if key != before else "inside"
            out.append((rva, "interrupted", position, rva))
            if after and after - rva > 2 and self.program.processor != "arm64" and key:
                out.append((rva + (after - rva) // 2, "interrupted", "mid-instruction", rva))
            if after and re.match(r"call|bl$|blr$", word):
                out.append((after, "return", "return", rva))
            before = key
        return out

    def groups(self):
        """{(shape, position): [what a case is made of]}."""
        groups = collections.defaultdict(list)
        for rva, lookup, position, of in self.places():
            level, keys, known_by = self.judged(of)
            if position != "gap" and len(known_by) < 2 and not self.program.published:
                continue  # one reader alone names it
            shape = self.shape(of, keys[0])
            groups[shape, position].append((rva, lookup, of, level, keys, known_by, shape, position))
        return groups

    def cases(self):
        groups = self.groups()
        order = sorted(groups, key=lambda group: digest(self.program.name, *group))
        for group in order:  # marks and dissent first
            groups[group].sort(key=lambda c: (c[3] != "must", "marks" not in c[5], len(c[5]) == len(self.answers), digest(self.program.name, c[0])))
        chosen, turn = [], 0
        while len(chosen) < PER_PROGRAM and any(len(groups[group]) > turn for group in order):
            for group in order:
                if len(groups[group]) > turn and len(chosen) < PER_PROGRAM and not (group[1] == "gap" and turn > 1):
                    chosen.append(groups[group][turn])
            turn += 1
        return [self.case(*row) for row in sorted(chosen, key=lambda c: (c[0], c[1]))]

    def case(self, rva, lookup, of, level, keys, known_by, shape, position):
        p, walks = self.program, [self.frames(of, key) for key in keys]
        truth = {"must": {"level": "must", "frames": walks[0], "whole": True}, "may": {"level": "may", "accepted": walks},
                 "unknown": {"level": "unknown"}}[level]
        return {"id": f"addresses/{p.processor}/{shape}/{p.name}/{rva:x}" + ("-return" if lookup == "return" else ""), "kind": "address",
                "processor": p.processor, "shape": shape, "position": position, "rule": self.rule(shape, keys[0]), "needs": p.needs,
                "conflicts_with": [], "issues": [issue for key in (*p.needs, shape, position) for issue in ISSUES.get(key, [])], "os": None, "capability": p.capability,
                "given": {"image": f"programs/{p.image}", "symbols": f"programs/{p.symbols}" if p.symbols else None, "rva": hex(rva), "lookup": lookup},
                "truth": truth, "known_by": [WITNESSES["dia-44" if w == "dia" and p.published else w] for w in known_by]}


def digest(*words):
    return hashlib.sha256("/".join(map(str, words)).encode()).hexdigest()


def list_of(program):
    family = re.match(r"[a-z]+", program.name)[0]
    return f"addresses/{family}{'-pdb' if program.capability == 'addresses.pdb' else ''}-{program.processor}.ndjson"


def make(folder, out):
    """Writes the programs; returns {list: cases}."""
    lists, names = collections.defaultdict(list), Names()
    (out / "programs").mkdir(parents=True, exist_ok=True)
    for program in programs.PROGRAMS:
        built = None if program.published else programs.build_one(program, folder)
        for name in programs.shipped(program, built) if built else ():
            (out / "programs" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(built / name, out / "programs" / name)
        lists[list_of(program)] += Judge(program, out / "programs", names).cases()
    return dict(lists)


def check(out, chosen):
    """Asks the witnesses again; returns the programs whose cases are not what they say now."""
    names, wrong = Names(), []
    for program in programs.PROGRAMS:
        if program.name not in chosen and chosen:
            continue
        text = (out / list_of(program)).read_text(encoding="utf-8")
        stored = [case for case in map(json.loads, text.splitlines()) if case["id"].split("/")[3] == program.name]
        if Judge(program, out / "programs", names).cases() != stored:
            wrong.append(program.name)
    return wrong


def unchosen(out):
    """{(capability, processor): {position: shapes}} of which there are addresses, and no case."""
    names, found, chosen = Names(), collections.defaultdict(set), set()
    for program in programs.PROGRAMS:
        row = program.capability, program.processor
        judge = Judge(program, out / "programs", names)
        found[row] |= set(judge.groups())
        chosen |= {(*row, case["shape"], case["position"]) for case in judge.cases()}
    cells = {row: collections.defaultdict(list) for row in found}
    for row, group in ((row, group) for row, groups in found.items() for group in sorted(groups) if (*row, *group) not in chosen):
        cells[row][group[1]].append(group[0])
    return {row: {position: " ".join(shapes) for position, shapes in of.items()} for row, of in cells.items() if of}


def store(out, chosen):
    for program in (program for program in programs.PROGRAMS if program.name in chosen):
        rvas = [rva for rva, _ in readers.instructions(out / "programs" / program.image)]
        readers.store_dia(out / "programs" / program.symbols, readers.ask_dia(out / "programs" / program.symbols, rvas))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--store"]:
        store(pathlib.Path(__file__).resolve().parent / "reference", sys.argv[2:])
        sys.exit(0)
    found = check(pathlib.Path(__file__).resolve().parent / "reference", sys.argv[1:])
    sys.exit(f"the witnesses say something else of: {', '.join(found)}" if found else 0)
