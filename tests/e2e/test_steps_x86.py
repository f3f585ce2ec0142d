"""The walk at every instruction of 32-bit functions, stepped through in an emulator: no Wine, and no system that runs 32-bit programs.

Only this compares our x86 unwinder with the truth in prologues, between pushes and in tail calls, by frame data of a PDB, by STACK WIN
records of a .sym file, by the older FPO rows, and without any."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

try:
    import step_x86
except ImportError:
    step_x86 = None

STEPS = e2e.ROOT / "victims/steps"
ASSEMBLER = ["clang-19", "--target=i686-w64-mingw32"]
# As cmake/wine-clang-x86.cmake and victims/CMakeLists.txt.
COMPILER = ["clang-19", "--target=i686-pc-windows-msvc", "-fgnuc-version=4.2.1", "-fno-ms-compatibility", "-U_MSC_VER", "-msse2",
            "-D__MINGW32__=1", "-D__MSVCRT__=1", "-D_X86_", "-nostdlibinc", "-isystem", "/usr/i686-w64-mingw32/include", "-Xclang",
            "-fno-autolink", "-g", "-gcodeview", "-fms-extensions", "-std=c11", "-D_WIN32_WINNT=0x0A00", "-fno-optimize-sibling-calls",
            "-fno-strict-aliasing", f"-I{e2e.ROOT}"]
# Name, flags, and the share of instructions at which the chain of frame pointers alone leads to a right walk.
BUILDS = [("o0", ["-O0"], 0.85), ("ob0", ["-O3", "-fno-inline", "-fno-omit-frame-pointer"], 0.80), ("ob2", ["-O3"], 0.20)]
INSTRUCTIONS = 1400


def make(folder, name, flags):
    """Builds steps-NAME.exe with its PDB."""
    objects = []
    for source in (STEPS / "functions.c", STEPS / "entry_x86.S", STEPS / "shapes_x86.S", e2e.ROOT / "victims/asm/runtime_x86.S"):
        objects.append(folder / f"{source.stem}-{name}.o")
        argv = [*COMPILER, *flags] if source.suffix == ".c" else ASSEMBLER
        subprocess.run([*argv, "-c", source, "-o", objects[-1]], check=True)
    program = folder / f"steps-{name}.exe"
    subprocess.run([*ASSEMBLER, "-fuse-ld=lld-19", "-nostartfiles", "-Wl,-e,_steps_thread@4", "-Wl,-s", "-Wl,--pdb=", *objects, "-o", program],
                   check=True)
    return program


def publics(program, image):
    """{name: address}"""
    said = subprocess.run(["llvm-pdbutil-19", "dump", "--publics", "--section-headers", program.with_suffix(".pdb")], capture_output=True,
                          text=True, check=True).stdout
    sections = [int(rva, 16) for rva in re.findall(r"([0-9A-F]+) virtual address", said)]
    found = re.findall(r"S_PUB32 \[size = \d+\] `([^`]+)`\n.*?addr = (\d+):(\d+)", said)
    return {name: image.base + sections[int(section) - 1] + int(offset) for name, section, offset in found}


@e2e.unittest.skipIf(step_x86 is None, "python3-unicorn is not installed")
class StepsX86(e2e.Case):
    @classmethod
    def setUpClass(cls):
        if shutil.which("clang-19") is None or shutil.which("lld-19") is None or \
                not pathlib.Path("/usr/i686-w64-mingw32/include").is_dir():
            raise e2e.unittest.SkipTest("clang, lld or the 32-bit headers of mingw-w64 are not installed")
        cls.out = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.out)
        cls.made = {}
        for name, flags, _ in BUILDS:
            program = make(cls.out, name, flags)
            image = step_x86.Image(program.read_bytes())
            places = publics(program, image)
            stepper = step_x86.Stepper(image, places["_steps_thread@4"], places["_steps_end"])
            record = cls.out / f"{name}.rec"
            record.write_bytes(stepper.record(program.name.encode()))
            cls.made[name] = (program, record, places, stepper)

    def judge(self, name, *symbols):
        """{walker: row}; the first is ours."""
        done = e2e.twinstack("steps", self.made[name][1], "--json", *[word for path in symbols for word in ("--symbols", path)])
        self.assertIn(done.returncode, (0, 1), done.stderr)
        run = json.loads(done.stdout)["runs"][0]
        self.assertEqual(run["instructions"], self.made[name][3].steps)
        return done.returncode, {row["walker"]: row for row in run["walkers"]}

    def sym(self, program):
        path = self.out / "sym" / program.stem / f"{program.stem}.sym"
        path.parent.mkdir(parents=True, exist_ok=True)
        done = e2e.twinstack("symbols", "export", "--format", "breakpad", program.with_suffix(".pdb"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("STACK WIN 4", done.stdout)
        path.write_text(done.stdout)
        return path

    def test_every_shape_is_stepped_through(self):
        rows = re.findall(r"ROW\((shape_\w+)\)", (STEPS / "stepper.h").read_text().split("#else\n#define STEPS_SHAPES")[1])
        self.assertGreater(len(rows), 15)
        for name, (_, _, places, stepper) in self.made.items():
            with self.subTest(build=name):
                self.assertGreater(stepper.steps, INSTRUCTIONS)
                self.assertEqual([row for row in rows if places[f"_{row}"] not in stepper.seen], [])

    def test_ours_is_right_at_every_instruction(self):
        for name, _, _ in BUILDS:
            program = self.made[name][0]
            for how, symbols in (("frame data", [program, program.with_suffix(".pdb")]), ("STACK WIN", [program, self.sym(program)])):
                with self.subTest(build=name, by=how):
                    code, rows = self.judge(name, *symbols)
                    self.assertEqual((rows["ours"]["right"], rows["ours"]["first"]), (self.made[name][3].steps, None))
                    self.assertEqual(code, 0)

    def test_without_frame_data_the_chain_is_what_there_is(self):
        for name, _, share in BUILDS:
            with self.subTest(build=name):
                program, _, _, stepper = self.made[name]
                _, rows = self.judge(name, program, program.with_suffix(".pdb"))
                for walker in ("ours-no-pdb", "framepointer"):
                    row = rows[walker]
                    self.assertEqual(row["right"] + row["early"] + row["wrong"], stepper.steps)
                self.assertGreater(rows["ours-no-pdb"]["right"], stepper.steps * share)
                self.assertLess(rows["framepointer"]["right"], rows["ours-no-pdb"]["right"])
                self.assertRegex(rows["framepointer"]["first"]["instruction"], r"push|mov|sub|ret|pop")


if __name__ == "__main__":
    e2e.main()
