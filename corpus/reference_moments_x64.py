"""The x64 moments of corpus/reference: builds the images, runs every function, compares the two witnesses."""

import functools
import struct

import reference_page_x64 as page
import reference_retired
import reference_x64 as machine
import reference_x64_control as control
import reference_x64_shapes as shapes

FAMILIES = {
    "push": shapes.pushes, "alloc": shapes.allocations, "save": shapes.saves, "frame": shapes.frames, "probe": shapes.probes,
    "chain": control.chains, "epilogue": control.epilogues, "looks-like": control.looks_like, "no-return": control.no_return,
    "entry": control.entries, "handler": control.handlers, "version-2": control.version_2, "recursion": control.recursion,
    "interrupt": control.interrupts, "version-3": control.version_3,
}
LEARN = "https://learn.microsoft.com/en-us/cpp/build/"
UNWINDER = "https://github.com/dotnet/runtime/blob/main/src/coreclr/unwinder/amd64/unwinder.cpp"
UNWIND = {"kind": "page", "name": "x64 exception handling, unwind procedure", "address": LEARN + "exception-handling-x64#unwind-procedure"}
RULES = {
    "codes": {"kind": "page", "name": "x64 exception handling, UNWIND_CODE", "address": LEARN + "exception-handling-x64#struct-unwind_code"},
    "chain": {"kind": "page", "name": "x64 exception handling, chained unwind info structures",
              "address": LEARN + "exception-handling-x64#chained-unwind-info-structures"},
    "epilogue": {"kind": "page", "name": "x64 prolog and epilog, epilog code", "address": LEARN + "prolog-and-epilog#epilog-code"},
    "version-3": {"kind": "page", "name": "x64 unwind information V3 (preview of 2026-05-18)", "address": LEARN + "x64-unwind-information-v3"},
    "vendor source": {"kind": "vendor source", "name": "dotnet/runtime, the unwinder of Windows for x64", "address": UNWINDER},
    "executed": {"kind": "executed", "name": "the code was executed", "address": None},
}
EXECUTED = f"executed in an emulator (unicorn {machine.uc.__version__})"
APPLIED = "the page applied by corpus/reference_page_x64.py"
WHOLE_STACK = 1400  # bytes; of larger ones only the parts that a walk reads are given


def rule_of(function, position):
    if function.rule != "page":
        return RULES[function.rule]
    if function.shape.startswith("chained"):
        return RULES["chain"]
    if position == "epilogue":
        return RULES["epilogue"]
    return UNWIND if position in ("leaf", "called") or function.shape == "entry-search" else RULES["codes"]


def parts_of(regs, stack, addresses):
    """The stack as [(at, bytes)]: all of it, or what is near the stack pointer and near ADDRESSES."""
    low, high = regs["rsp"], regs["rsp"] + len(stack)
    if len(stack) <= WHOLE_STACK:
        return [(low, stack)]
    ranges = []
    for start, end in sorted([(low, low + 128), (high - 64, high)] + [(max(low, a - 32 & ~7), min(high, (a & ~7) + 72)) for a in addresses]):
        if ranges and start <= ranges[-1][1]:
            ranges[-1][1] = max(end, ranges[-1][1])
        else:
            ranges.append([start, end])
    return [(start, stack[start - low:end - low]) for start, end in ranges]


def judged(image, regs, stack, executed, level):
    """(truth, addresses that the page's walk reads)."""
    read_at = []

    def read(at):
        read_at.append(at)
        if not regs["rsp"] <= at <= regs["rsp"] + len(stack) - 8:
            raise LookupError(f"{at:#x} is not on the stack")
        return struct.unpack_from("<Q", stack, at - regs["rsp"])[0]

    try:
        applied = page.walk(image, regs, read)
    except (LookupError, ValueError):
        applied = None
    near = [*read_at, *(sp - 8 for _, sp in executed[1:])]
    rows = [frames(executed)]
    if applied == executed:
        return {"level": "must", "frames": rows[0], "whole": True}, near
    assert level == "may", (regs["rip"] - image.base, [(hex(a - image.base), hex(b)) for a, b in executed], applied and [(hex(a - image.base), hex(b)) for a, b in applied])
    if applied and len(applied) < 12 and all(0 <= ip - image.base < image.size for ip, _ in applied):
        rows.append(frames(applied))
    else:
        rows.append(rows[0][:1])  # the walk may end where the tables are wrong
    return {"level": "may", "accepted": rows}, near


def frames(walk):
    return [{"ip": hex(ip), "sp": hex(sp)} for ip, sp in walk]


class Family:
    """One image with its cases."""

    def __init__(self, name, folder, out):
        self.name, self.path = name, f"images/x64-{name}.dll"
        self.functions = [*shapes.callers(), *FAMILIES[name]()]
        labels = machine.build(folder, name, machine.emit(self.functions), out / self.path)
        self.image = page.Image(out / self.path)
        self.machine = machine.Machine(self.image)
        self.places, self.cases, self.done = {}, [], {}  # rva: (function, position, ordinal)
        for number, function in enumerate(self.functions):
            ordinal = 0
            for region, (_, lines, *_) in enumerate(function.regions):
                for i, (letter, _, _) in enumerate(lines):
                    self.places[labels[f"f{number}r{region}i{i}"]] = (function, machine.POSITION[letter], ordinal)
                    ordinal += 1
        self.start = {id(f): self.image.base + labels[f"f{i}r0"] for i, f in enumerate(self.functions)}
        self.mids = {f.mid: self.start[id(f)] for f in self.functions[1:9]}
        self.interrupted = []

    def enter(self, function):
        """A machine on the way into FUNCTION, with a stack of words that look like code and like addresses of the stack."""
        run = self.machine
        run.clear()
        looks = struct.pack("<QQ", self.start[id(self.functions[9])], machine.FRAME_END - 0x80)
        run.cpu.mem_write(machine.STACK_LOW, looks * ((machine.STACK_HIGH - machine.STACK_LOW) // 16))
        top = machine.FRAME_END - 8
        run.cpu.mem_write(top, bytes(8))
        regs = {r: 0xABCD00000000 + 0x101 * i for i, r in enumerate(page.REGISTERS)}
        regs.update(rsp=top, rax=5, r10=self.mids[function.mid], r11=self.start[id(function)])
        return run, regs

    def all_cases(self):
        for function in self.functions:
            if function.calls:
                run, regs = self.enter(function)
                run.run(self.start[id(self.functions[0])], regs, functools.partial(self.keep, function, ""), function.ends)
        for function in self.functions:
            if function.interrupts:
                for place, regs, stack, executed in self.interrupted:
                    self.interrupt(function, place, regs, stack, executed)
        return self.cases

    def interrupt(self, function, place, regs, stack, executed):
        """As the kernel does: a machine frame below the interrupted stack, and the dispatcher's first instruction."""
        run = self.machine
        run.clear()
        run.cpu.mem_write(regs["rsp"], stack)
        with_code = [c for c in function.regions[0][1][0][2] if c[0] == "mach"][0][1] == "1"
        frame = struct.pack("<5Q", regs["rip"], 0x33, 0x202, regs["rsp"], 0x2B)
        frame = struct.pack("<Q", 0) + frame if with_code else frame
        at = (regs["rsp"] - 128 & ~15) - len(frame)
        run.cpu.mem_write(at, frame)
        run.waiting = list(reversed(executed))
        entered = {**regs, "rsp": at}
        run.run(self.start[id(function)], entered, functools.partial(self.keep, function, f"-at-{place[2]}"), "fault")

    def keep(self, function, suffix, pc, executed):
        rva = pc - self.image.base
        where, position, ordinal = self.places[rva]
        if where.variant == "callee":  # one moment per call site
            if rva + self.image.base != self.start[id(where)] or len(executed) < 2:
                return
            site = max(r for r in self.places if r + self.image.base < executed[1][0])
            where, _, ordinal = self.places[site]
            position, key = "called", (executed[1][0], suffix)
            if where.shape.startswith("epilogue") and self.places[site][1] == "epilogue" or where in self.functions[:9]:
                return  # a jump, not a call
        else:
            key = (rva, suffix)
        if where in self.functions[:9] and self.name != "frame":
            return
        is_interrupted = where.shape == "machine-frame" and where.variant == "interrupted" and position != "called"
        count = self.done[key] = self.done.get(key, 0) + 1
        if count > where.times and not is_interrupted:
            return
        regs, stack = self.machine.now(pc)
        if is_interrupted:
            self.interrupted.append(((where, position, ordinal), regs, stack, executed))
        if count > where.times:
            return
        truth, near = judged(self.image, regs, stack, executed, where.level)
        name = f"moments/x64/{where.shape}/{where.variant}{suffix}/{position}/{ordinal:04}" + (f"-{count}" if where.times > 1 else "")
        self.cases.append({
            "id": reference_retired.current(name), "kind": "moment", "processor": "x64", "shape": where.shape, "position": position, "rule": rule_of(where, position),
            "needs": where.needs, "conflicts_with": [], "issues": where.issues, "os": None, "capability": "moments.x64",
            "given": {"registers": {n: hex(v) for n, v in regs.items()},
                      "stack": [{"at": hex(at), "bytes": part.hex()} for at, part in parts_of(regs, stack, near)],
                      "modules": [{"path": self.path, "base": hex(self.image.base), "size": hex(self.image.size)}]},
            "truth": truth, "known_by": [EXECUTED, APPLIED]})


def make(folder, out):
    """Writes the images; returns {list: cases}."""
    return {f"moments/x64-{name}.ndjson": Family(name, folder, out).all_cases() for name in FAMILIES}
