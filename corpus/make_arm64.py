#!/usr/bin/python3
"""Makes corpus/arm64: dumps of an arm64 program at a few of its instructions, with the image in their memory.

An emulator runs tests/e2e/emulated/shapes.c as in tests/e2e/test_emulated.py, so no arm64 machine is needed. The
moments are spread over those at which the most callers wait, so that each walk is deep."""

import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests/e2e"), str(ROOT / "tests/lib")]
import dump_maker  # noqa: E402
import test_emulated as emulated  # noqa: E402

OUT = ROOT / "corpus/arm64"
BUILDS = {"small": (["-Oz"], 3), "signed": (["-Oz", "-mbranch-protection=standard"], 1)}
DEEPEST = 64


def save(name, machine, moment):
    dump = dump_maker.Dump(machine.arch)
    dump.module("shapes.dll", machine.image.base, machine.image.size, machine.image.stamp, machine.image.codeview())
    place = dump.thread(1, moment.pc, moment.sp, moment.r, stack=moment.stack)
    dump.memory(machine.image.base, machine.image.loaded())
    dump.exception(1, 0xC0000005, moment.pc, context_place=place)
    dump.save(OUT / name)


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    with tempfile.TemporaryDirectory() as folder:
        for name, (flags, count) in BUILDS.items():
            dll = emulated.build(pathlib.Path(folder), emulated.MachineArm64.triple, flags)
            machine = emulated.MachineArm64(dump_maker.Image(dll))
            deepest = sorted(emulated.moments(machine), key=lambda m: -len(m.truth))[:DEEPEST]
            for i, moment in enumerate(deepest[:: DEEPEST // count][:count]):
                save(f"{name}-{i + 1}.dmp", machine, moment)


if __name__ == "__main__":
    main()
