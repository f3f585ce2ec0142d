#!/usr/bin/python3
"""Contestants of the reference suite that break one rule each on purpose: liar.py NAME speaks the suite's protocol.

They are the page's second implementation (corpus/reference_page_x64.py, for names with `arm64-` reference_page_arm64.py) with one
function replaced, for names with `x86-` reference_page_x86.py with other records. `honest` replaces nothing."""

import contextlib
import functools
import pathlib
import sys
import types
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "corpus"))
import reference_page_arm64 as arm64  # noqa: E402
import reference_page_x64 as page  # noqa: E402
import reference_page_x86 as x86  # noqa: E402

HONEST = {name: getattr(page, name) for name in ("epilogue", "undo", "step", "walk", "Info")}


@functools.lru_cache(maxsize=None)
def image_at(rules, path):
    return rules.Image(path)


def with_entry(image, entry):
    """IMAGE with another search for entries."""
    return types.SimpleNamespace(base=image.base, memory=image.memory, entry=entry)


def looks(image, row, info, rva):
    """Any jump leaves the function."""
    return HONEST["epilogue"](with_entry(image, lambda _: None), row, info, rva)


def plain_returns(image, row, info, rva):
    """No prefix before a return."""
    code = image.memory[rva:rva + 64].lstrip(b"\x58\x59\x5a\x5b\x5c\x5d\x5e\x5f\x41")
    return None if code[:1] in (b"\xf2", b"\xf3") else HONEST["epilogue"](image, row, info, rva)


def no_leaf(image, regs, read, interrupted):
    if image.entry(regs["rip"] - image.base) is None:
        raise ValueError("no entry")
    return HONEST["step"](image, regs, read, interrupted)


def at_return_address(image, regs, read, interrupted):
    return HONEST["step"](image if interrupted else with_entry(image, lambda rva: image.entry(rva + 1)), regs, read, interrupted)


def no_frame_register(image, regs, read, interrupted):
    """Callers are done right: every caller of the suite has a frame register."""
    with mock.patch.object(page, "Info", NoFrameRegister if interrupted else HONEST["Info"]):
        return HONEST["step"](image, regs, read, interrupted)


def late(info, offset, regs, read, left=None):
    """A code counts one byte after its instruction."""
    return HONEST["undo"](info, None if offset is None else offset - 1, regs, read, left)


class Codes(HONEST["Info"]):
    """An Info whose codes are changed."""

    def __init__(self, image, at):
        super().__init__(image, at)
        self.codes = [code for code in map(self.change, self.codes) if code]

    def change(self, code):
        return code


class NoChain(Codes):
    def __init__(self, image, at):
        super().__init__(image, at)
        self.parent = None


class NoFrameRegister(Codes):
    def __init__(self, image, at):
        super().__init__(image, at)
        self.frame_register = 0

    def change(self, code):
        return None if code[1] == 3 else code


class NoMachineFrame(Codes):
    def change(self, code):
        return None if code[1] == 10 else code


class NoErrorCode(Codes):
    def change(self, code):
        return (code[0], code[1], 0, code[3]) if code[1] == 10 else code


class ScaledFar(Codes):
    def change(self, code):
        return (*code[:3], 8 * code[3]) if code[1] == 5 else code


class VersionOne(Codes):
    def __init__(self, image, at):
        super().__init__(image, at)
        if self.version != 1:
            raise ValueError("version 2")


def no_version_3(image, at):
    raise ValueError("version 3")


class Unsaved(Codes):
    def change(self, code):
        return None if code[1] == 4 else code


def shorter(image, regs, read, limit=64):
    return HONEST["walk"](image, regs, read, limit)[:-1]


def longer(image, regs, read, limit=64):
    frames = HONEST["walk"](image, regs, read, limit)
    return [*frames, (frames[-1][0], frames[-1][1] + 8)]


LIARS = {
    "honest": {},
    "no-epilogue": {"epilogue": lambda *_: None},
    "epilogue-by-looks": {"epilogue": looks},
    "no-prefixed-return": {"epilogue": plain_returns},
    "no-leaf": {"step": no_leaf},
    "late-codes": {"undo": late},
    "no-chain": {"Info": NoChain},
    "no-frame-register": {"step": no_frame_register},
    "no-version-2": {"Info": VersionOne},
    "no-version-3": {"Info3": no_version_3},
    "no-machine-frame": {"Info": NoMachineFrame},
    "no-error-code": {"Info": NoErrorCode},
    "scaled-far-save": {"Info": ScaledFar},
    "no-saves": {"Info": Unsaved},
    "call-last": {"step": at_return_address},
    "early": {"walk": shorter},
    "extra": {"walk": longer},
}


def changed_records(change):
    """Both kinds of arm64 records, changed after they were read."""
    def of(kind):
        class Changed(kind):
            def __init__(self, *words):
                super().__init__(*words)
                change(self)
        return Changed
    return {"Full": of(arm64.Full), "Packed": of(arm64.Packed)}


def without_epilogues(record):
    record.epilogues = []


def without_prologue(record):
    record.own = 0


def as_first_part(record):
    """`end_c` counts as nothing: the codes of the first part are instructions of this one."""
    record.own = len(record.prologue) - 1


def arm64_at_return_address(image, regs, read, interrupted):
    return ARM64_STEP(image if interrupted else with_entry(image, lambda rva: image.entry(rva + 4)), regs, read, interrupted)


ARM64_STEP = arm64.step
ARM64_LIARS = {
    "arm64-honest": {},
    "arm64-no-epilogue": changed_records(without_epilogues),
    "arm64-no-prologue": changed_records(without_prologue),
    "arm64-no-end-c": changed_records(as_first_part),
    "arm64-call-last": {"step": arm64_at_return_address},
    "arm64-older-windows": {"Packed": type("Packed", (arm64.Packed,), {"nops": True})},
}


def without_parameters(rows):
    return [(*row[:3], 0, *row[4:]) for row in rows]


# The frame data and the FPO records that each believes in.
X86_LIARS = {
    "x86-honest": lambda records, fpo: (records, fpo),
    "x86-no-fpo": lambda records, fpo: (records, []),
    "x86-no-frame-data": lambda records, fpo: ([], fpo),
    "x86-no-parameters": lambda records, fpo: (without_parameters(records), without_parameters(fpo)),
}


def x86_answer(folder, given, liar):
    image = image_at(x86, folder / given["modules"][0]["path"])
    records, fpo = X86_LIARS[liar](image.records, image.fpo)
    stack = [(int(p["at"], 16), bytes.fromhex(p["bytes"])) for p in given["stack"]]
    seen = []

    def read(at):
        for start, data in stack:
            if start <= at and at + 4 <= start + len(data):
                return int.from_bytes(data[at - start:at - start + 4], "little")
        raise LookupError("not given")

    try:
        for frame in x86.steps(types.SimpleNamespace(base=image.base, records=records, fpo=fpo), {n: int(v, 16) for n, v in given["registers"].items()}, read):
            seen.append(frame)
            if len(seen) > 64:
                break
    except LookupError:
        pass
    return seen


def answer(folder, given, liar):
    """[(ip, sp)] of LIAR, up to the frame where it gives up."""
    if liar in X86_LIARS:
        return x86_answer(folder, given, liar)
    rules, changes = (page, LIARS[liar]) if liar in LIARS else (arm64, ARM64_LIARS[liar])
    ip, sp = ("rip", "rsp") if rules is page else ("pc", "sp")
    stack = [(int(p["at"], 16), bytes.fromhex(p["bytes"])) for p in given["stack"]]
    image = image_at(rules, folder / given["modules"][0]["path"])
    regs = {name: int(value, 16) for name, value in given["registers"].items()}
    seen = []

    def read(at):
        for start, data in stack:
            if start <= at and at + 8 <= start + len(data):
                return int.from_bytes(data[at - start:at - start + 8], "little")
        raise ValueError("not given")

    def noted(image, regs, read, interrupted):
        seen.append((regs[ip], regs[sp]))
        return step(image, regs, read, interrupted)

    with contextlib.ExitStack() as changed:
        for name, value in changes.items():
            changed.enter_context(mock.patch.object(rules, name, value))
        step = rules.step
        changed.enter_context(mock.patch.object(rules, "step", noted))
        try:
            return rules.walk(image, regs, read)
        except (ValueError, IndexError, KeyError):
            return seen


def main():
    sys.path.insert(0, str(ROOT / "corpus/reference/adapters"))
    import contestant  # pylint: disable=import-outside-toplevel
    capability = "moments.arm64" if sys.argv[1] in ARM64_LIARS else "moments.x86" if sys.argv[1] in X86_LIARS else "moments.x64"
    contestant.serve(f"liar {sys.argv[1]}", "1", {capability: lambda folder, question: answer(folder, question["given"], sys.argv[1])})


if __name__ == "__main__":
    main()
