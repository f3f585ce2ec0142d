"""The arm64 moments of corpus/reference: builds the images, runs every function, compares the two witnesses."""

import functools
import struct

import reference_arm64 as machine
import reference_arm64_shapes as shapes
import reference_page_arm64 as page
import reference_x64

FAMILIES = {"packed": lambda: shapes.packed_words((0, 1)), "packed-chain": lambda: shapes.packed_words((2, 3)), "codes": shapes.codes, "frames": shapes.frames, "scopes": shapes.scopes,
            "fragments": shapes.fragments, "no-return": shapes.no_return, "versions": shapes.windows_versions,
            "any-register": shapes.any_registers}
LEARN = "https://learn.microsoft.com/en-us/cpp/build/arm64-exception-handling"
RULES = {key: {"kind": "page", "name": f"ARM64 exception handling, {name}", "address": f"{LEARN}#{key}"} for key, name in
         (("unwind-codes", "unwind codes"), ("packed-unwind-data", "packed unwind data"), ("xdata-records", ".xdata records"),
          ("function-fragments", "function fragments"))}
RULES = {"codes": RULES["unwind-codes"], "packed": RULES["packed-unwind-data"], "xdata": RULES["xdata-records"], "fragments": RULES["function-fragments"],
         "thread": {"kind": "thread", "name": "llvm/llvm-project, issue 54879: what RtlVirtualUnwind was seen to expect",
                    "address": "https://github.com/llvm/llvm-project/issues/54879"},
         "vendor source": {"kind": "vendor source", "name": "dotnet/runtime, the unwinder of Windows for arm64",
                           "address": "https://github.com/dotnet/runtime/blob/main/src/coreclr/unwinder/arm64/unwinder.cpp"},
         "executed": {"kind": "executed", "name": "the code was executed", "address": None}}
EXECUTED = f"executed in an emulator (unicorn {machine.uc.__version__})"
APPLIED = "the page applied by corpus/reference_page_arm64.py"
WHOLE_STACK = 700  # bytes; of larger ones only the parts that a walk reads are given


def parts_of(regs, stack, addresses):
    """The stack as [(at, bytes)]: all of it, or what is near the stack pointer and near ADDRESSES."""
    low, high = regs["sp"], regs["sp"] + len(stack)
    if len(stack) <= WHOLE_STACK:
        return [(low, stack)]
    ranges = []
    for start, end in sorted([(low, low + 64), (high - 64, high)] + [(max(low, a - 16 & ~7), min(high, (a & ~7) + 32)) for a in addresses]):
        if ranges and start <= ranges[-1][1]:
            ranges[-1][1] = max(end, ranges[-1][1])
        else:
            ranges.append([start, end])
    return [(start, stack[start - low:end - low]) for start, end in ranges if start < end]


class Family:
    """One image with its cases."""

    def __init__(self, name, folder, out):
        self.name, self.path = name, f"images/arm64-{name}.dll"
        self.functions = [*shapes.callers(), *FAMILIES[name]()]
        labels = reference_x64.build(folder, f"arm64-{name}", machine.emit(self.functions), out / self.path, "aarch64")
        self.image = page.Image(out / self.path)
        self.machine = machine.Machine(self.image)
        self.places, self.cases, self.done = {}, [], set()  # rva: (function, position, ordinal)
        for number, function in enumerate(self.functions):
            ordinal = 0
            for region, lines in enumerate(function.regions):
                for i, (letter, _, _) in enumerate(lines):
                    self.places[labels[f"f{number}r{region}i{i}"]] = (function, machine.POSITION[letter], ordinal)
                    ordinal += 1
        self.start = {id(f): self.image.base + labels[f"f{i}r0"] for i, f in enumerate(self.functions)}

    def all_cases(self):
        for function in (f for f in self.functions[3:] if f.calls):
            run = self.machine
            run.clear()
            looks = struct.pack("<QQ", self.start[id(self.functions[2])], machine.FRAME_END - 0x80)  # words that look like code and stack
            run.cpu.mem_write(machine.STACK_LOW, looks * ((machine.STACK_HIGH - machine.STACK_LOW) // 16))
            regs = {r: 0x5000 + 0x101 * i for i, r in enumerate(page.REGISTERS)}
            regs.update(sp=machine.FRAME_END, x30=0, x29=machine.FRAME_END + 16, x0=0, x10=self.start[id(self.functions[1])],
                        x11=self.start[id(function)])
            run.run(self.start[id(self.functions[0])], regs, functools.partial(self.keep, function), function.ends)
        return paired(self.cases)

    def applied(self, regs, stack, nops=False):
        """(the page's walk or None, addresses that it reads)."""
        read_at = []

        def read(at):
            read_at.append(at)
            if not regs["sp"] <= at <= regs["sp"] + len(stack) - 8:
                raise LookupError(f"{at:#x} is not on the stack")
            return struct.unpack_from("<Q", stack, at - regs["sp"])[0]

        page.Packed.nops = nops
        try:
            return page.walk(self.image, regs, read), read_at
        except (LookupError, ValueError):
            return None, read_at
        finally:
            page.Packed.nops = False

    def judged(self, where, regs, stack, executed):
        """(truth, addresses that the page's walk reads). Where older Windows answers something else, both answers are accepted."""
        walk, near = self.applied(regs, stack, nops=where.nops)
        assert walk == executed, (where.shape, where.variant, hex(regs["pc"] - self.image.base), executed, walk)
        if where.level == "versions" and self.applied(regs, stack, nops=not where.nops)[0] == walk:
            return None, near
        if where.level == "may":
            old, more = self.applied(regs, stack, nops=True)
            if old != walk and old and len(old) < 12 and all(0 <= ip - self.image.base < self.image.size for ip, _ in old):
                return {"level": "may", "accepted": [frames(walk), frames(old)]}, near + more
            if old != walk:
                return {"level": "may", "accepted": [frames(walk)[:1]]}, near  # the way of older Windows is lost after it
        return {"level": "must", "frames": frames(walk), "whole": True}, near

    def keep(self, function, regs, stack, executed):
        rva = regs["pc"] - self.image.base
        where, position, ordinal = self.places[rva]
        key = rva
        if where.variant in ("callee", "stop"):  # one moment per call site, at its first instruction
            if rva + self.image.base != self.start[id(where)] or executed[1][0] - 4 - self.image.base not in self.places:
                return
            key = executed[1][0]
            where, _, ordinal = self.places[key - 4 - self.image.base]
            position = "called"
        if key in self.done or (where in self.functions[:2] and self.name != "frames"):
            return
        if where.thin and position == "prologue" and ordinal > 2 and ordinal % 16:
            return
        self.done.add(key)
        truth, near = self.judged(where, regs, stack, executed)
        if truth is None:
            return
        self.cases.append({
            "id": f"moments/arm64/{where.shape}/{where.variant}/{position}/{ordinal:04}", "kind": "moment", "processor": "arm64",
            "shape": where.shape, "position": position, "rule": RULES["codes" if position == "leaf" else where.rule],
            "needs": [], "conflicts_with": [], "issues": where.issues, "os": where.os if truth["level"] == "may" or where.level == "versions" else None,
            "capability": "moments.arm64",
            "given": {"registers": {n: hex(v) for n, v in regs.items()},
                      "stack": [{"at": hex(at), "bytes": part.hex()} for at, part in parts_of(regs, stack, near)],
                      "modules": [{"path": self.path, "base": hex(self.image.base), "size": hex(self.image.size)}]},
            "truth": truth, "known_by": [EXECUTED, APPLIED + (", with four nops in the epilogue" if where.nops else "")]})


def paired(cases):
    """Two cases at one place, of one unwind record, conflict: by the record alone, no walk has both right. What has no such other is left out."""
    places = {}
    for case in cases:
        if case["shape"] == "homed-epilogue":
            places.setdefault((case["id"].split("/")[3].split("-")[0], case["id"][-4:]), []).append(case)
    for one in places.values():
        for case in one:
            case["conflicts_with"] = [other["id"] for other in one if other is not case]
    return [case for case in cases if case["shape"] != "homed-epilogue" or case["conflicts_with"]]


def frames(walk):
    return [{"ip": hex(ip), "sp": hex(sp)} for ip, sp in walk]


def make(folder, out):
    """Writes the images; returns {list: cases}."""
    return {f"moments/arm64-{name}.ndjson": Family(name, folder, out).all_cases() for name in FAMILIES}
