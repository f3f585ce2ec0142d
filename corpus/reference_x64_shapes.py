"""The functions whose every instruction is a moment of corpus/reference: each unwind shape of x64 in small variants.

Each function clobbers what it has saved, and its caller finds its own frame by one of those registers, so that a walk that
restores a wrong register goes wrong one frame later."""

from reference_x64 import Function

SAVED = "rbx rbp rsi rdi r12 r13 r14 r15".split()
LEAF = "L nop\nL ret"


def callers():
    """What every image begins with: the outermost function, and one caller per register that it keeps its frame in."""
    yield Function("frame", "outermost", """
        P sub rsp, 40 ; alloc 40
        B mov eax, 1
        B call r10
        B nop
        E add rsp, 40
        E ret""", calls=False)
    for register in SAVED:
        yield Function("alloca", f"in-{register}", f"""
            P push {register} ; push {register}
            P sub rsp, 64 ; alloc 64
            P lea {register}, [rsp+32] ; setfp {register} 32
            B sub rsp, 48
            B call r11
            B nop
            E lea rsp, [{register}+32]
            E pop {register}
            E ret""", mid=register)
    yield Function("leaf", "callee", LEAF, entry=False)


CALL = "B call LEAF"


def simple(shape, variant, prologue, epilogue, clobber="", **more):
    """P lines, a body that clobbers and calls, E lines."""
    body = "".join(f"\nB mov {r}, 0x1234567" for r in clobber.split())
    return Function(shape, variant, f"{prologue}{body}\n{CALL}\nB nop\n{epilogue}\nE ret", mid=(clobber.split() or ["rbp"])[0], **more)


def pushes():
    for r in SAVED:
        yield simple("push", r, f"P push {r} ; push {r}\nP sub rsp, 32 ; alloc 32", f"E add rsp, 32\nE pop {r}", r)
        yield simple("push", f"{r}-alone", f"P push {r} ; push {r}", f"E pop {r}", r)
    everything = "\n".join(f"P push {r} ; push {r}" for r in SAVED)
    back = "\n".join(f"E pop {r}" for r in reversed(SAVED))
    for r in SAVED:
        yield simple("push", f"all-{r}", f"{everything}\nP sub rsp, 40 ; alloc 40", f"E add rsp, 40\n{back}",
                     " ".join([r, *(s for s in SAVED if s != r)]))
    yield simple("push", "volatile", "P push rax ; alloc 8", "E pop rcx", issues=["dotnet/runtime#66238"])
    yield simple("push", "flags", "P pushfq ; alloc 8", "E pop rcx", issues=["dotnet/runtime#66238"])
    yield simple("push", "none", "", "")


def allocations():
    for size in (8, 16, 56, 128):
        yield simple("alloc-small", str(size), f"P sub rsp, {size} ; alloc {size}", f"E add rsp, {size}")
    for size in (136, 1024, 0x1000, 0x7FFF8):
        yield simple("alloc-large", str(size), f"P push rsi ; push rsi\nP sub rsp, {size} ; alloc {size}", f"E add rsp, {size}\nE pop rsi", "rsi")
    yield simple("alloc-large", "16-of-64", "P sub rsp, 64 ; alloc16 64", "E add rsp, 64")
    for size in (0x80000, 0x80008, 0x200000):
        yield simple("alloc-huge", str(size), f"P push rdi ; push rdi\nP sub rsp, {size} ; alloc {size}", f"E add rsp, {size}\nE pop rdi", "rdi")
    yield simple("alloc-huge", "64", "P sub rsp, 64 ; alloc32 64", "E add rsp, 64")
    yield simple("alloc-small", "twice", "P sub rsp, 24 ; alloc 24\nP push rbx ; push rbx\nP sub rsp, 48 ; alloc 48",
                 "E add rsp, 48\nE pop rbx\nE add rsp, 24", "rbx", level="may", rule="executed")


def saves():
    for r in SAVED:
        yield simple("save", r, f"P sub rsp, 72 ; alloc 72\nP mov [rsp+48], {r} ; save {r} 48", f"B mov {r}, [rsp+48]\nE add rsp, 72", r)
        yield simple("save-home", r, f"P mov [rsp+8], {r}\nP sub rsp, 72 ; alloc 72, save {r} 80", f"B mov {r}, [rsp+80]\nE add rsp, 72", r,
                     issues=["getsentry/symbolic#645"])
        yield simple("save-far", r, f"P sub rsp, 0x90000 ; alloc 0x90000\nP mov [rsp+0x88000], {r} ; savefar {r} 0x88000",
                     f"B mov {r}, [rsp+0x88000]\nE add rsp, 0x90000", r)
        yield simple("save-far", f"{r}-near", f"P sub rsp, 72 ; alloc 72\nP mov [rsp+56], {r} ; savefar {r} 56",
                     f"B mov {r}, [rsp+56]\nE add rsp, 72", r)
    for number in (6, 10, 15):
        yield simple("save-xmm", f"xmm{number}", f"P push rbx ; push rbx\nP sub rsp, 64 ; alloc 64\nP movaps [rsp+32], xmm{number} ; xmm {number} 32",
                     f"B movaps xmm{number}, [rsp+32]\nE add rsp, 64\nE pop rbx", "rbx")
        yield simple("save-xmm-far", f"xmm{number}", f"""P push rbx ; push rbx
            P sub rsp, 0x120000 ; alloc 0x120000
            P movaps [rsp+0x110000], xmm{number} ; xmmfar {number} 0x110000""",
                     f"B movaps xmm{number}, [rsp+0x110000]\nE add rsp, 0x120000\nE pop rbx", "rbx")
    yield simple("save-xmm", "mixed", """P push rbx ; push rbx
        P sub rsp, 128 ; alloc 128
        P movaps [rsp+48], xmm6 ; xmm 6 48
        P mov [rsp+104], rsi ; save rsi 104
        P movaps [rsp+64], xmm7 ; xmm 7 64
        P mov [rsp+112], rdi ; save rdi 112""", """B movaps xmm6, [rsp+48]
        B movaps xmm7, [rsp+64]
        B mov rsi, [rsp+104]
        B mov rdi, [rsp+112]
        E add rsp, 128
        E pop rbx""", "rdi rsi rbx")


def frames():
    for r in SAVED:
        yield Function("frame-register-0", r, f"""
            P push {r} ; push {r}
            P mov {r}, rsp ; setfp {r} 0
            P sub rsp, 64 ; alloc 64
            B mov eax, 5
            {CALL}
            B sub rsp, 32
            {CALL}
            B nop
            E lea rsp, [{r}]
            E pop {r}
            E ret""", mid=r, issues=["EpicGames/raddebugger#313"])
        for offset in (16, 128, 240):
            yield Function("frame-register", f"{r}-{offset}", f"""
                P push {r} ; push {r}
                P sub rsp, 256 ; alloc 256
                P lea {r}, [rsp+{offset}] ; setfp {r} {offset}
                B sub rsp, 0x1000
                {CALL}
                B nop
                E lea rsp, [{r}+{256 - offset}]
                E pop {r}
                E ret""", mid=r, issues=["google/orbit#3443"])
    for r in ("rbp", "r13"):
        yield Function("alloca", f"saves-{r}", f"""
            P push {r} ; push {r}
            P sub rsp, 96 ; alloc 96
            P lea {r}, [rsp+48] ; setfp {r} 48
            P mov [{r}+24], rsi ; save rsi 72
            P mov [{r}+32], rdi ; save rdi 80
            B mov rsi, rax
            B mov eax, 80
            B sub rsp, rax
            {CALL}
            B mov rdi, rax
            B nop
            B mov rsi, [{r}+24]
            B mov rdi, [{r}+32]
            E lea rsp, [{r}+48]
            E pop {r}
            E ret""", mid="rsi", issues=["getsentry/symbolic#546"])
    yield Function("alloca", "loop", f"""
        P push rbp ; push rbp
        P push rbx ; push rbx
        P sub rsp, 40 ; alloc 40
        P lea rbp, [rsp+32] ; setfp rbp 32
        B mov ebx, 3
        B 77: sub rsp, 32
        {CALL}
        B dec ebx
        B jnz 77b
        B nop
        E lea rsp, [rbp+8]
        E pop rbx
        E pop rbp
        E ret""", mid="rbx")


def probes():
    for size in (0x1000, 0x3000, 0x12340):
        yield Function("probed", str(size), f"""
            P push rbx ; push rbx
            P mov eax, {size}
            P call CHKSTK
            P sub rsp, rax ; alloc {size}
            B mov ebx, 1
            {CALL}
            B nop
            E add rsp, {size}
            E pop rbx
            E ret""", mid="rbx", issues=["briar-systems/mach#3096"])
    yield Function("probed", "loop", f"""
        P push rsi ; push rsi
        P mov eax, 0x3000
        P lea r9, [rsp]
        P 77: sub r9, 0x1000
        P test [r9], r9
        P sub eax, 0x1000
        P jnz 77b
        P sub rsp, 0x3000 ; alloc 0x3000
        B mov rsi, r9
        {CALL}
        B nop
        E add rsp, 0x3000
        E pop rsi
        E ret""", mid="rsi")
    yield Function("probed", "check", """
        L push rcx ; push rcx
        L push rax ; push rax
        L lea rcx, [rsp+24]
        L mov r8, rax
        L 77: sub rcx, 0x1000
        L test [rcx], rcx
        L sub r8, 0x1000
        L ja 77b
        L pop rax
        L pop rcx
        L ret""", calls=False)
    yield Function("between-codes", "mixed", f"""
        P mov [rsp+8], rcx
        P push rbp ; push rbp
        P mov eax, 7
        P push rbx ; push rbx
        P xor ecx, ecx
        P nop
        P sub rsp, 104 ; alloc 104
        P cmp rsp, rcx
        P lea rdx, [rsp+16]
        P lea rbp, [rsp+64] ; setfp rbp 64
        P test eax, eax
        P mov [rbp+16], r14 ; save r14 80
        B mov r14, rdx
        B sub rsp, 64
        {CALL}
        B nop
        B mov r14, [rbp+16]
        E lea rsp, [rbp+40]
        E pop rbx
        E pop rbp
        E ret""", mid="r14", issues=["bytecodealliance/wasmtime#3859"])
    yield Function("between-codes", "two-at-once", f"""
        P push rsi ; push rsi
        P enter 32, 0 ; push rbp, setfp rbp 0, alloc 32
        B mov rsi, rsp
        {CALL}
        B nop
        E lea rsp, [rbp]
        E pop rbp
        E pop rsi
        E ret""", mid="rsi")
