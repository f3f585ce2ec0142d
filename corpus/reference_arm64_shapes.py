"""The functions whose every instruction is an arm64 moment of corpus/reference: packed words, and each unwind code, scope and header of
.xdata records, in small variants.

The caller finds its own frame by x29, so that a walk that restores a wrong x29 goes wrong one frame later."""

from reference_arm64 import Function

BODY = "B nop\nB bl LEAF\nB nop"


def callers():
    """What every image begins with: the outermost function, and a caller that keeps its frame in x29."""
    yield Function("frame", "outermost", """
        P stp x29, x30, [sp, #-16]! ; save_fplr_x 16
        P mov x29, sp ; set_fp
        B mov x0, #5
        B blr x10
        B nop
        E ldp x29, x30, [sp], #16 ; save_fplr_x 16
        E ret ; end""", calls=False)
    yield Function("alloca", "in-x29", """
        P stp x29, x30, [sp, #-32]! ; save_fplr_x 32
        P mov x29, sp ; set_fp
        B sub sp, sp, #48
        B blr x11
        B nop
        E mov sp, x29 ; set_fp
        E ldp x29, x30, [sp], #32 ; save_fplr_x 32
        E ret ; end""")
    yield Function("leaf", "callee", "L nop\nL ret", entry=False)


# ---- packed words ------------------------------------------------------------------------

def moves(register, other, offset, first, size):
    """Saves at OFFSET and loads, of a pair or (OTHER None) of one; FIRST: they move the stack pointer by SIZE."""
    names = f"{register}, {other}" if other else register
    pair = "p" if other else "r"
    store = f"[sp, #-{size}]!" if first else f"[sp, #{offset}]"
    load = f"[sp], #{size}" if first else f"[sp, #{offset}]"
    return f"st{pair} {names}, {store}", f"ld{pair} {names}, {load}"


def saves(reg_f, reg_i, cr, saved):
    """[(store, load)] of the callee-saved registers, as the page's canonical prologue has them."""
    out = []
    for i in range(0, reg_i, 2):
        other = f"x{20 + i}" if i + 1 < reg_i else "x30" if cr == 1 else None
        if other == "x30" and not out:
            out += [(f"sub sp, sp, #{saved}", f"add sp, sp, #{saved}"), moves("x19", "x30", 0, False, 0)]
        else:
            out.append(moves(f"x{19 + i}", other, 8 * i, not out, saved))
    if cr == 1 and reg_i % 2 == 0:
        out.append(moves("x30", None, 8 * reg_i, not out, saved))
    at = 8 * reg_i + 8 * (cr == 1)
    for i in range(0, reg_f + 1 if reg_f else 0, 2):
        out.append(moves(f"d{8 + i}", f"d{9 + i}" if i < reg_f else None, at + 8 * i, not out, saved))
    return out


def chain(cr, size):
    """[(enter, leave)] of the locals and the frame chain; leave None: the epilogue has nothing for it."""
    sizes = [part for part in (min(size, 4080), max(size - 4080, 0)) if part]
    parts = [(f"sub sp, sp, #{part}", f"add sp, sp, #{part}") for part in sizes]
    if cr < 2:
        return parts
    if size <= 512:
        return [(f"stp x29, x30, [sp, #-{size}]!", f"ldp x29, x30, [sp], #{size}"), ("mov x29, sp", None)]
    return [*parts, ("stp x29, x30, [sp]", "ldp x29, x30, [sp]"), ("mov x29, sp", None)]


OLDER = "older Windows expects four nops in the epilogue"
NEWER = "newer Windows expects no nops in the epilogue"


def packed(reg_f, reg_i, homes, cr, local, version=None):
    """VERSION, of Windows: the function is one of two that have one unwind record and one length; four nops are in its epilogue or its body."""
    saved = 8 * reg_i + 8 * (cr == 1) + (8 * reg_f + 8 if reg_f else 0) + 64 * homes + 15 & ~15
    steps = saves(reg_f, reg_i, cr, saved)
    if homes:
        steps += [(f"stp x{i}, x{i + 1}, [sp, #{saved - 64 + 8 * i}]", "nop" if version == "older" else None) for i in range(0, 8, 2)]
    steps += chain(cr, local)
    if cr == 2:
        steps.insert(0, ("hint #27", "hint #31"))  # pacibsp, autibsp: this processor does not sign
    lines = [f"P {enter}" for enter, _ in steps] + [BODY if cr else "B nop\nB nop\nB nop\nB nop\nB nop"]
    lines += ["B nop"] * 4 if version == "newer" else []
    lines += [f"E {leave}" for _, leave in reversed(steps) if leave is not None] + ["E ret"]
    word = 1 | reg_f << 13 | reg_i << 16 | homes << 20 | cr << 21 | (saved + local) // 16 << 23
    more = {"level": "may", "os": OLDER, "issues": ["llvm/llvm-project#54879"]} if homes else {}
    if version:
        return Function("homed-epilogue", f"cr{cr}-{version}", "\n".join(lines), packed=word, rule="thread" if version == "older" else "packed",
                        nops=version == "older", **{**more, "level": "versions", "os": OLDER if version == "older" else NEWER})
    return Function(f"packed-cr{cr}" + ("-homed" if homes else ""), f"i{reg_i}-f{reg_f}-l{local}", "\n".join(lines), packed=word,
                    rule="vendor source" if cr == 1 and reg_i == 1 else "packed", **more)


REGISTERS = [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (9, 0), (10, 0), (0, 1), (0, 2), (0, 7), (1, 1), (2, 1), (3, 2), (10, 7)]


def packed_words(saved_lr):
    for cr in saved_lr:
        for number, (reg_i, reg_f) in enumerate(REGISTERS):
            local = (16, 528, 4096, 0, 496)[number % 5]
            if reg_i + reg_f + local == 0 or cr >= 2 and local == 0:
                local = 32
            yield packed(reg_f, reg_i, 0, cr, local)
        for reg_i, reg_f, local in ((2, 0, 16), (3, 0, 528), (0, 1, 32), (10, 7, 4096)):
            yield packed(reg_f, reg_i, 1, cr, local)


def any_registers():
    """The code for registers that have no code of their own: any of x, d and q, one or a pair."""
    yield framed("save-any", "x-one", "P str x30, [sp, #-32]! ; save_any_reg_x x 30 32\nP str x9, [sp, #24] ; save_any_reg x 9 24",
                 "E ldr x9, [sp, #24] ; save_any_reg x 9 24\nE ldr x30, [sp], #32 ; save_any_reg_x x 30 32")
    yield framed("save-any", "x-pair", """P stp x29, x30, [sp, #-64]! ; save_any_reg_px x 29 64
        P stp x20, x21, [sp, #16] ; save_any_reg_p x 20 16
        P str x28, [sp, #40] ; save_any_reg x 28 40""", """E ldr x28, [sp, #40] ; save_any_reg x 28 40
        E ldp x20, x21, [sp, #16] ; save_any_reg_p x 20 16
        E ldp x29, x30, [sp], #64 ; save_any_reg_px x 29 64""")
    yield framed("save-any", "d", """P stp x29, x30, [sp, #-96]! ; save_fplr_x 96
        P str d17, [sp, #24] ; save_any_reg d 17 24
        P stp d20, d21, [sp, #32] ; save_any_reg_p d 20 32
        P str d30, [sp, #-48]! ; save_any_reg_x d 30 48""", """E ldr d30, [sp], #48 ; save_any_reg_x d 30 48
        E ldp d20, d21, [sp, #32] ; save_any_reg_p d 20 32
        E ldr d17, [sp, #24] ; save_any_reg d 17 24
        E ldp x29, x30, [sp], #96 ; save_fplr_x 96""")
    yield framed("save-any", "q", """P stp x29, x30, [sp, #-96]! ; save_fplr_x 96
        P str q8, [sp, #16] ; save_any_reg q 8 16
        P stp q14, q15, [sp, #32] ; save_any_reg_p q 14 32
        P stp q20, q21, [sp, #-64]! ; save_any_reg_px q 20 64""", """E ldp q20, q21, [sp], #64 ; save_any_reg_px q 20 64
        E ldp q14, q15, [sp, #32] ; save_any_reg_p q 14 32
        E ldr q8, [sp, #16] ; save_any_reg q 8 16
        E ldp x29, x30, [sp], #96 ; save_fplr_x 96""")


def windows_versions():
    for cr in range(4):
        for version in ("newer", "older"):
            yield packed(0, 2, 1, cr, 32, version)


# ---- .xdata records ----------------------------------------------------------------------

def framed(shape, variant, prologue, epilogue, body=BODY, **more):
    """PROLOGUE and EPILOGUE around a call, in which lr is lost, and x29 where it was saved and no frame is kept in it."""
    lost = "" if "set_fp" in prologue or "add_fp" in prologue or "x29" not in prologue else "B mov x29, #0x1234\n"
    return Function(shape, variant, f"{prologue}\n{lost}{body}\n{epilogue}\nE ret ; end", **more)


def codes():
    for size in (16, 496):
        yield framed("alloc-small", str(size), f"P str x30, [sp, #-16]! ; save_reg_x 30 16\nP sub sp, sp, #{size} ; alloc_s {size}",
                     f"E add sp, sp, #{size} ; alloc_s {size}\nE ldr x30, [sp], #16 ; save_reg_x 30 16")
    for size in (512, 4080):
        yield framed("alloc-medium", str(size), f"P str x30, [sp, #-16]! ; save_reg_x 30 16\nP sub sp, sp, #{size} ; alloc_m {size}",
                     f"E add sp, sp, #{size} ; alloc_m {size}\nE ldr x30, [sp], #16 ; save_reg_x 30 16")
    for size in (0x8000, 0x10000):
        yield framed("alloc-large", str(size), f"P stp x29, x30, [sp, #-16]! ; save_fplr_x 16\nP sub sp, sp, #{size >> 12}, lsl #12 ; alloc_l {size}",
                     f"E add sp, sp, #{size >> 12}, lsl #12 ; alloc_l {size}\nE ldp x29, x30, [sp], #16 ; save_fplr_x 16")
    yield framed("save-pair", "r19r20-x", "P stp x19, x20, [sp, #-32]! ; save_r19r20_x 32\nP str x30, [sp, #16] ; save_reg 30 16",
                 "E ldr x30, [sp, #16] ; save_reg 30 16\nE ldp x19, x20, [sp], #32 ; save_r19r20_x 32")
    yield framed("save-pair", "regp", "P stp x21, x22, [sp, #-48]! ; save_regp_x 21 48\nP stp x19, x20, [sp, #16] ; save_regp 19 16\n"
                 "P stp x29, x30, [sp, #32] ; save_fplr 32", "E ldp x29, x30, [sp, #32] ; save_fplr 32\n"
                 "E ldp x19, x20, [sp, #16] ; save_regp 19 16\nE ldp x21, x22, [sp], #48 ; save_regp_x 21 48")
    yield framed("save-pair", "x28-x29", "P stp x28, x29, [sp, #-32]! ; save_regp_x 28 32\nP str x30, [sp, #16] ; save_reg 30 16",
                 "E ldr x30, [sp, #16] ; save_reg 30 16\nE ldp x28, x29, [sp], #32 ; save_regp_x 28 32")
    yield framed("save-lrpair", "x21", "P sub sp, sp, #32 ; alloc_s 32\nP stp x21, x30, [sp, #16] ; save_lrpair 21 16",
                 "E ldp x21, x30, [sp, #16] ; save_lrpair 21 16\nE add sp, sp, #32 ; alloc_s 32")
    yield framed("save-one", "x29", "P str x29, [sp, #-32]! ; save_reg_x 29 32\nP str x30, [sp, #24] ; save_reg 30 24",
                 "E ldr x30, [sp, #24] ; save_reg 30 24\nE ldr x29, [sp], #32 ; save_reg_x 29 32")
    yield framed("save-far", "fplr-504", "P sub sp, sp, #1, lsl #12 ; alloc_l 4096\nP stp x29, x30, [sp, #504] ; save_fplr 504",
                 "E ldp x29, x30, [sp, #504] ; save_fplr 504\nE add sp, sp, #1, lsl #12 ; alloc_l 4096", issues=["Unity-Technologies/mono#2001"])
    yield framed("save-float", "d8", "P stp d8, d9, [sp, #-48]! ; save_fregp_x 8 48\nP str d10, [sp, #16] ; save_freg 10 16\n"
                 "P stp x29, x30, [sp, #32] ; save_fplr 32", "E ldp x29, x30, [sp, #32] ; save_fplr 32\n"
                 "E ldr d10, [sp, #16] ; save_freg 10 16\nE ldp d8, d9, [sp], #48 ; save_fregp_x 8 48")
    yield framed("save-float", "d15-one", "P str d15, [sp, #-32]! ; save_freg_x 15 32\nP stp d12, d13, [sp, #8] ; save_fregp 12 8\n"
                 "P str x30, [sp, #24] ; save_reg 30 24", "E ldr x30, [sp, #24] ; save_reg 30 24\n"
                 "E ldp d12, d13, [sp, #8] ; save_fregp 12 8\nE ldr d15, [sp], #32 ; save_freg_x 15 32")
    yield framed("save-next", "three", "P stp x19, x20, [sp, #-64]! ; save_regp_x 19 64\nP stp x21, x22, [sp, #16] ; save_next\n"
                 "P stp x23, x24, [sp, #32] ; save_next\nP stp x29, x30, [sp, #48] ; save_fplr 48",
                 "E ldp x29, x30, [sp, #48] ; save_fplr 48\nE ldp x23, x24, [sp, #32] ; save_next\nE ldp x21, x22, [sp, #16] ; save_next\n"
                 "E ldp x19, x20, [sp], #64 ; save_regp_x 19 64")


def frames():
    for size in (16, 32, 504):
        yield framed("set-fp", str(size), f"P stp x29, x30, [sp, #-{size}]! ; save_fplr_x {size}\nP mov x29, sp ; set_fp",
                     f"E mov sp, x29 ; set_fp\nE ldp x29, x30, [sp], #{size} ; save_fplr_x {size}", f"B sub sp, sp, #96\n{BODY}")
    for offset in (16, 240, 1024):
        size = offset + 32
        alloc = f"alloc_s {size}" if size < 512 else f"alloc_m {size}"
        save = "save_regp 29" if offset <= 240 else ""
        place = offset if save else 0
        keep = f"P stp x29, x30, [sp, #{place}] ; save_fplr {place}"
        yield framed("add-fp", str(offset), f"P sub sp, sp, #{size} ; {alloc}\n{keep}\nP add x29, sp, #{offset} ; add_fp {offset}",
                     f"E sub sp, x29, #{offset} ; add_fp {offset}\nE ldp x29, x30, [sp, #{place}] ; save_fplr {place}\nE add sp, sp, #{size} ; {alloc}",
                     f"B sub sp, sp, #64\n{BODY}")
    yield framed("nop-in-prologue", "probe", "P stp x29, x30, [sp, #-16]! ; save_fplr_x 16\nP mov x29, sp ; set_fp\nP mov x15, #16 ; nop\n"
                 "P bl LEAF ; nop\nP sub sp, sp, #256 ; alloc_s 256",
                 "E mov sp, x29 ; set_fp\nE ldp x29, x30, [sp], #16 ; save_fplr_x 16")
    yield framed("signed-lr", "not-signed", "P hint #27 ; pac_sign_lr\nP stp x29, x30, [sp, #-16]! ; save_fplr_x 16\nP mov x29, sp ; set_fp",
                 "E ldp x29, x30, [sp], #16 ; save_fplr_x 16\nE hint #31 ; pac_sign_lr")


SAVE = "P stp x29, x30, [sp, #-32]! ; save_fplr_x 32\nP sub sp, sp, #64 ; alloc_s 64"
BACK = "E add sp, sp, #64 ; alloc_s 64\nE ldp x29, x30, [sp], #32 ; save_fplr_x 32"


def scopes():
    """Headers and epilogue scopes of a record."""
    yield framed("scopes", "single", SAVE, BACK, single=True, rule="xdata")
    yield framed("scopes", "single-not-shared", SAVE, BACK, single=True, share=False, rule="xdata")
    yield framed("scopes", "one-not-shared", SAVE, BACK, share=False, rule="xdata")
    yield framed("scopes", "extended-header", SAVE, BACK, extended=True, rule="xdata", issues=["Windows-on-ARM-Experiments/mingw-woarm64-build#28"])
    end = f"{BACK}\nE ret ; end"
    yield Function("scopes", "two", f"{SAVE}\n{BODY}\nB cbz x0, 1f\n{end}\nB 1: mov x29, #0x1234\nB bl LEAF\nB nop\n{end}", rule="xdata")
    many = "\n".join(f"B cbnz x0, {i}f\n{end}\nB {i}: nop" for i in range(1, 33))
    yield Function("scopes", "32-and-more", f"{SAVE}\n{BODY}\nB mov x0, #1\n{many}\nB bl LEAF\nB nop\n{end}", rule="xdata",
                   issues=["Windows-on-ARM-Experiments/mingw-woarm64-build#28"])
    for words in (7, 8, 31, 32):
        nops = 4 * words - 4
        yield framed("code-words", str(words), "\n".join([SAVE, *["P nop ; nop"] * nops]), "E add sp, sp, #64 ; alloc_s 64\n"
                     "E ldp x29, x30, [sp], #32 ; save_fplr_x 32", rule="xdata", issues=["Windows-on-ARM-Experiments/mingw-woarm64-build#28"], thin=True)
    yield Function("jump-table", "in-code", f"""{SAVE}
        B adr x8, 1f
        B br x8
        B .word 8
        B .word 16
        B 1: nop
        {BODY}
        {end}""", issues=["llvm/llvm-project#40926"])


def fragments():
    """Later parts of a function: their records begin with the codes of their own prologue and `end_c`."""
    end = f"{BACK}\nE ret ; end"
    yield Function("fragment", "no-prologue", f"{SAVE}\nB nop\nB b PART\n---\nB mov x29, #0x1234\nB bl LEAF\nB nop\n{end}", rule="fragments",
                   issues=["dotnet/runtime#92678"])
    yield Function("fragment", "own-prologue", f"""{SAVE}
        B nop
        B b PART
        ---
        P stp x19, x20, [sp, #-32]! ; save_regp_x 19 32
        P sub sp, sp, #528 ; alloc_m 528
        B mov x29, #0x1234
        B bl LEAF
        B nop
        E add sp, sp, #528 ; alloc_m 528
        E ldp x19, x20, [sp], #32 ; save_regp_x 19 32
        {end}""", rule="fragments", issues=["dotnet/runtime#92678"])


def no_return():
    """The call is the last instruction: the return address is after the function."""
    for variant, more in (("last", ""), ("before-brk", "\nB brk #0xf000")):
        yield Function("call-last", variant, f"{SAVE}\nB mov x29, #0x1234\nN bl STOP{more}", rule="executed", ends="fault",
                       issues=["dotnet/runtime#102258", "rust-lang/rust#140489"])
    yield Function("leaf", "stop", "L nop\nL udf #0", entry=False, calls=False)
