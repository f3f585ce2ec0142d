"""What a reporter writes of a crash when it is wrong, by mechanism: what each function makes is made from the true stack and
from the emulator's memory, by code that knows nothing of how twinstack recognises it.

A damage is f(crash, rng) -> lines of a stack (or None: not of this crash). Frames are (module, offset) with what the module says."""

import json
import subprocess

LIMITS = (32, 62, 64, 128)
MASK = (1 << 64) - 1


def frames(crash, truth=None):
    """[(module, va)] of the true stack."""
    return [(crash.build.module_of(va), va) for va in (truth or crash.truth)]


def line(name, offset):
    return f"{name}!0x{offset & MASK:x}"


def plain(crash, truth=None):
    return [line(module.name, va - module.base) for module, va in frames(crash, truth)]


def by_offset(crash, formula):
    """Every offset by FORMULA(module, va)."""
    return [line(module.name, formula(module, va)) for module, va in frames(crash)]


# ---- where addresses are looked up -----------------------------------------------------------

def callers_lower(crash, rng):
    step = 4 if crash.build.arch == "arm64" else 1
    return [text if i == 0 else line(text.split("!")[0], int(text.split("!")[1], 16) - step) for i, text in enumerate(plain(crash))]


def interrupted_lower(crash, rng):
    first, *rest = plain(crash)
    return [line(first.split("!")[0], int(first.split("!")[1], 16) - 1), *rest]


def all_lower(crash, rng):
    return by_offset(crash, lambda module, va: va - module.base - 1)


def all_marked_interrupted(crash, rng):
    return [text + "@i" for text in plain(crash)]


def interrupted_marked_return(crash, rng):
    first, *rest = plain(crash)
    return [first + "@r", *rest]


def ask_names(build):
    """{va: functions there, inlined ones first}, by llvm-symbolizer: asked once for all that the chosen crashes have."""
    build.names = {}
    for module in build.modules:
        places = sorted({va - back for crash in build.chosen for va in crash.truth for back in (0, 1) if module.holds(va)})
        done = subprocess.run(["llvm-symbolizer-19", "--functions=linkage", "--inlines", "--output-style=JSON", f"--obj={module.path}"],
                              input="".join(f"0x{va - module.base + module.preferred:x}\n" for va in places), text=True, capture_output=True, check=True)
        for va, row in zip(places, done.stdout.splitlines(), strict=True):
            build.names[va] = [symbol["FunctionName"] for symbol in json.loads(row).get("Symbol", [])]


def functions(crash, back):
    """The functions of each frame, BACK bytes before a return address."""
    return [crash.build.names[va - (back if i else 0)] for i, va in enumerate(crash.truth)]


def named(crash, names):
    rows = [{"module": module.name, "offset": hex(va - module.base), "function": name or None}
            for (module, va), name in zip(frames(crash), names)]
    return [json.dumps({"schema_version": 1, "label": None, "frames": rows})]


def named_rightly(crash, rng):
    return named(crash, [chain[-1] if chain else None for chain in functions(crash, 1)])


def named_without_step(crash, rng):
    right, wrong = functions(crash, 1), functions(crash, 0)
    if crash.build.arch != "x64" or all(set(a) & set(b) for a, b in zip(right, wrong)):
        return None
    return named(crash, [chain[-1] if chain else None for chain in wrong])


def named_by_others(crash, rng):
    right = [chain[-1] if chain else None for chain in functions(crash, 1)]
    at = rng.randrange(1, len(right))
    return named(crash, [f"{name}_of_yesterday" if i >= at else name for i, name in enumerate(right)])


# ---- how offsets are made --------------------------------------------------------------------

def absolute_in_modules(crash, rng):
    return by_offset(crash, lambda module, va: va)


def absolute_alone(crash, rng):
    return [line("?", va) for va in crash.truth]


def on_preferred(crash, rng):
    return by_offset(crash, lambda module, va: module.preferred + va - module.base)


def less_preferred(crash, rng):
    return by_offset(crash, lambda module, va: va - module.preferred)


def less_preferred_32(crash, rng):
    return by_offset(crash, lambda module, va: (va - module.preferred) & 0xFFFFFFFF)


def less_section(crash, rng):
    return by_offset(crash, lambda module, va: va - module.base - module.code_section()[0])


def file_offsets(crash, rng):
    return by_offset(crash, lambda module, va: va - module.base - module.code_section()[0] + module.code_section()[1])


def shifted(crash, rng):
    shift = rng.choice([-16, -8, 1, 4, 0x10, 0x1000, 0x2000, -0x200]) * rng.choice([1, 3])
    return by_offset(crash, lambda module, va: va - module.base + shift)


def low_32(crash, rng):
    if crash.build.arch == "x86":  # all that there are
        return None
    return by_offset(crash, lambda module, va: va & 0xFFFFFFFF)


def low_32_alone(crash, rng):
    if crash.build.arch == "x86":
        return None
    return [line("?", va & 0xFFFFFFFF) for va in crash.truth]


def sign_extended(crash, rng):
    if crash.build.arch == "x86":
        return None
    return by_offset(crash, lambda module, va: ((va & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000)


# ---- modules ---------------------------------------------------------------------------------

def in_both(crash):
    return len({module.name for module, _ in frames(crash)}) == 2


def modules_swapped(crash, rng):
    other = {"app.exe": "plug.dll", "plug.dll": "app.exe"}
    return [line(other[module.name], va - module.base) for module, va in frames(crash)]


def module_below(crash, rng):
    """All addresses as of the module with the lower base, which is taken to have no end."""
    low = min(crash.build.modules, key=lambda module: module.base)
    return [line(low.name, va - low.base) for va in crash.truth] if in_both(crash) else None


def module_at_another_base(crash, rng):
    module = rng.choice([m for m in crash.build.modules if sum(m.holds(va) for va in crash.truth) >= 2])
    stale = module.base + rng.choice([-3, -1, 1, 2, 16, 0x100]) * 0x10000
    return [line(m.name, va - (stale if m is module else m.base)) for m, va in frames(crash)]


def another_build(crash, rng):
    module, _ = rng.choice(frames(crash))
    debug = "".join(rng.choice("0123456789ABCDEF") for _ in range(32)) + "1"
    code = f"{module.image.stamp ^ 0x1234:08X}{module.size:x}"
    return [rng.choice([f"# module {module.name} {code} -", f"# module {module.name} {code} {debug}"]), *plain(crash)]


# ---- frames that are missing -----------------------------------------------------------------

def first_dropped(crash, rng):
    return plain(crash)[rng.choice([1, 1, 2]):]


def inner_dropped(crash, rng):
    lines = plain(crash)
    del lines[rng.randrange(1, len(lines) - 1)]
    return lines


def last_dropped(crash, rng):
    return plain(crash)[:-1] if len(crash.truth) - 1 not in LIMITS else None


def every_dropped(crash, rng):
    step = rng.choice([2, 3])
    return [text for i, text in enumerate(plain(crash)) if i % step != 1] if len(crash.truth) >= 2 * step + 1 else None


def at_a_limit(crash, rng):
    limits = [limit for limit in LIMITS if limit < len(crash.truth)]
    return plain(crash)[:rng.choice(limits)] if limits else None


def ended_early(crash, rng):
    return plain(crash)[:rng.randrange(1, len(crash.truth) - 1)]


def frame_pointer_walk(crash, rng):
    """The chain of frame pointers from the crash; only where it skips a caller."""
    words, fp, found = crash.words(), crash.registers[29 if crash.build.arch == "arm64" else 5], [crash.pc]
    back = crash.build.word
    while fp + back in words and crash.build.module_of(words[fp + back]):
        found.append(words[fp + back])
        if words.get(fp, 0) <= fp:
            break
        fp = words[fp]
    skips = len(found) >= 2 and crash.truth[:len(found)] != found and set(found) <= set(crash.truth)
    return plain(crash, found) if skips else None


# ---- frames that are too many ----------------------------------------------------------------

def handler_on_top(crash, rng):
    live = set(crash.words().values())
    own = sorted(crash.build.returns - live - set(crash.truth))
    return plain(crash, rng.sample(own, rng.randrange(1, min(4, len(own) + 1)))) + plain(crash) if len(own) > 3 else None


def stale_value(crash, rng):
    stale = sorted(value for value in crash.words().values() if value in crash.build.returns and value not in crash.truth)
    if not stale:
        return None
    lines = plain(crash)
    lines[rng.randrange(0, len(lines) + 1):0] = plain(crash, [rng.choice(stale)])
    return lines


def garbage(crash, rng):
    lines = plain(crash)
    module = rng.choice(crash.build.modules)
    what = rng.choice([line(module.name, module.data_rva() + rng.randrange(64)), line("?", rng.randrange(1 << 47)), line("gone.dll", rng.randrange(1 << 20))])
    lines[rng.randrange(1, len(lines) + 1):0] = [what]
    return lines


def one_replaced(crash, rng):
    lines = plain(crash)
    lines[rng.randrange(1, len(lines))] = line("?", rng.randrange(1 << 47))
    return lines


def one_twice(crash, rng):
    lines = plain(crash)
    at = rng.choice([i for i in range(len(lines)) if lines.count(lines[i]) == 1])
    return lines[:at] + [lines[at]] * rng.choice([2, 3]) + lines[at + 1:]


def each_twice(crash, rng):
    return [text for text in plain(crash) for _ in range(2)]


def whole_twice(crash, rng):
    return plain(crash) * 2


def last_for_ever(crash, rng):
    lines = plain(crash)
    return lines + [lines[-1]] * rng.randrange(3, 60)


def inlines_as_frames(crash, rng):
    chains = functions(crash, 1)
    if all(len(chain) < 2 for chain in chains):
        return None
    return [text for text, chain in zip(plain(crash), chains) for _ in chain or [None]]


def upside_down(crash, rng):
    return plain(crash)[::-1]


# ---- other stacks ----------------------------------------------------------------------------

def other_thread(crash, rng):
    return plain(crash, crash.other.truth)


def other_crash(crash, rng):
    other = rng.choice([c for c in crash.build.chosen if c.truth[0] != crash.truth[0] and c is not crash])
    return plain(crash, other.truth)


def nothing(crash, rng):
    return rng.choice([[], ["# no stack"], ["the capture failed: 0xC0000005"], ['{"frames": ']])


def sound(crash, rng):
    return plain(crash)


# By mechanism, as `check --dumps` names them.
DAMAGES = {
    "sound": [sound, named_rightly],
    "empty": [nothing],
    "lookup_address": [callers_lower, interrupted_lower, all_lower, all_marked_interrupted, interrupted_marked_return, named_without_step],
    "other_symbols": [named_by_others],
    "absolute_addresses": [absolute_in_modules, absolute_alone],
    "preferred_base": [on_preferred, less_preferred, less_preferred_32],
    "shifted_offsets": [less_section, file_offsets, shifted],
    "low_32_bits": [low_32, low_32_alone, sign_extended],
    "wrong_modules": [modules_swapped, module_below, module_at_another_base],
    "wrong_build": [another_build],
    "dropped_frames": [first_dropped, inner_dropped, last_dropped, every_dropped],
    "truncated": [at_a_limit, ended_early],
    "frame_pointers": [frame_pointer_walk],
    "handler_frames": [handler_on_top],
    "invented_frames": [stale_value, garbage, one_replaced],
    "duplicated_frames": [one_twice, each_twice, whole_twice, last_for_ever],
    "inlines_as_frames": [inlines_as_frames],
    "reversed": [upside_down],
    "other_thread": [other_thread],
    "other_crash": [other_crash],
}


def spelled(lines, rng):
    """The same stack in one of the spellings of logs; what is no list of plain frames stays as it is."""
    if not lines or any("!0x" not in text or "@" in text or text.startswith(("?", "#", "{")) for text in lines):
        return lines
    form = rng.choice(["{0}!0x{1}", "{0}+0x{1}", "{2:02} {0}+0x{1}", "#{2} {0}!0x{1}", "[{2}] {0}+0x{1}", "2026-05-01 12:00:07.123 ERROR crash: {0} + 0x{1}",
                       "Frame {2}: {0}+0x{1}"])
    return [form.format(*text.split("!0x"), i) for i, text in enumerate(lines)]
