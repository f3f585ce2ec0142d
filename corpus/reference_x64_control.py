"""More functions for the x64 moments: how functions end, chained records, interrupts, code without an entry."""

from reference_x64 import Function
from reference_x64_shapes import CALL, simple


def chains():
    one = f"""
        P push rbx ; push rbx
        P sub rsp, 32 ; alloc 32
        B test rsp, rsp
        --- {{}}
        P mov [rsp+64], rsi ; save rsi 64
        B mov esi, 7
        {CALL}
        B mov rsi, [rsp+64]
        --- {{}} of 0
        B mov ebx, 9
        {CALL}
        B nop
        E add rsp, 32
        E pop rbx
        E ret"""
    issues = ["EpicGames/raddebugger#191"]
    yield Function("chained", "save-rsi", one.format("", ""), mid="rsi", issues=issues)
    yield Function("chained", "save-rbx", one.format("", ""), mid="rbx", issues=issues)
    yield Function("chained", "push", f"""
        P push rbx ; push rbx
        B mov ebx, 1
        ---
        P push rdi ; push rdi
        P sub rsp, 40 ; alloc 40
        B mov edi, 2
        {CALL}
        B nop
        E add rsp, 40
        E pop rdi
        E pop rbx
        E ret""", mid="rdi", issues=issues)
    for mid in ("rbx", "rsi", "r14"):
        yield Function("chained-2", mid, f"""
            P push rbx ; push rbx
            P sub rsp, 64 ; alloc 64
            B mov ebx, 1
            ---
            P mov [rsp+48], rsi ; save rsi 48
            B mov esi, 2
            {CALL}
            ---
            P mov [rsp+40], r14 ; save r14 40
            B mov r14, rsp
            {CALL}
            B mov r14, [rsp+40]
            B mov rsi, [rsp+48]
            E add rsp, 64
            E pop rbx
            E ret""", mid=mid, issues=issues)
    yield Function("chained-2", "cold", f"""
        P push rbp ; push rbp
        P sub rsp, 96 ; alloc 96
        P lea rbp, [rsp+48] ; setfp rbp 48
        B sub rsp, 32
        B jmp 88f
        B nop
        --- far
        B 88: mov eax, 1
        {CALL}
        B jmp 89f
        --- far
        P 89: mov [rbp+32], r12 ; save r12 80
        B mov r12, rax
        {CALL}
        B mov r12, [rbp+32]
        E lea rsp, [rbp+48]
        E pop rbp
        E ret""", mid="r12", issues=issues)
    yield Function("chained", "cold", f"""
        P push r15 ; push r15
        P sub rsp, 48 ; alloc 48
        B mov r15, rsp
        B jmp 88f
        B 89: nop
        E add rsp, 48
        E pop r15
        E ret
        --- far
        B 88: mov eax, 1
        {CALL}
        B jmp 89b""", mid="r15", issues=issues)


def epilogues():
    start = "P push rbx ; push rbx\nP push r12 ; push r12\nP sub rsp, 40 ; alloc 40"
    down = "E add rsp, 40\nE pop r12\nE pop rbx"

    def ends(variant, last, **more):
        more = {"issues": ["dotnet/runtime#58686"], **more}
        return Function("epilogue-jmp" if "jmp" in last else "epilogue-ret", variant,
                        f"{start}\nB mov ebx, 1\nB mov r12, rsp\nB lea rdx, [rip+LEAF]\nB mov [rsp+32], rdx\nB lea rcx, [rsp+32]\n{CALL}\nB lea rax, [rip+LEAF]\n"
                        f"B lea rcx, [rip+POINTER]\n{down}\nE {last}",
                        mid="r12", **more)

    yield ends("plain", "ret", issues=[])
    yield ends("rep", ".byte 0xf3, 0xc3", issues=[], rule="vendor source")
    yield ends("bnd", ".byte 0xf2, 0xc3", rule="vendor source", issues=["dotnet/coreclr#3873"])
    yield ends("rel32", "{disp32} jmp LEAF")
    yield ends("memory", "jmp qword ptr [rip+POINTER]")
    yield ends("rex-memory", ".byte 0x48;jmp qword ptr [rip+POINTER]", rule="vendor source")
    yield ends("register", ".byte 0x48;jmp rax", rule="vendor source")
    yield ends("register-plain", "jmp rax", level="may", rule="executed")
    yield ends("indirect", ".byte 0x48;jmp qword ptr [rcx]", rule="vendor source")
    for register, value, name in (("rbp", 40, "disp8"), ("rbp", 0x90, "disp32"), ("r12", 48, "r12")):
        yield Function("epilogue-lea", name, f"""
            P push {register} ; push {register}
            P sub rsp, {value} ; alloc {value}
            P mov {register}, rsp ; setfp {register} 0
            B sub rsp, 64
            {CALL}
            B nop
            E lea rsp, [{register}+{value}]
            E pop {register}
            E ret""", mid=register)
    yield Function("epilogue-add", "imm32", f"""
        P push rsi ; push rsi
        P sub rsp, 0x98 ; alloc 0x98
        B mov esi, 1
        {CALL}
        B nop
        E add rsp, 0x98
        E pop rsi
        E ret""", mid="rsi")
    yield Function("epilogue-several", "three", f"""
        P push rdi ; push rdi
        P sub rsp, 48 ; alloc 48
        B mov edi, 2
        {CALL}
        B dec eax
        B jz 78f
        B js 79f
        E add rsp, 48
        E pop rdi
        E ret
        B 79: nop
        B nop
        E add rsp, 48
        E pop rdi
        E ret
        B 78: nop
        E add rsp, 48
        E pop rdi
        E ret""", mid="rdi")
    # Code whose function table has no frame register, but whose epilogue takes the stack pointer from one.
    yield Function("disagree", "lea-without-register", f"""
        P push rbp ; push rbp
        P push rbx ; push rbx
        P sub rsp, 40 ; alloc 40
        P lea rbp, [rsp+48]
        B mov ebx, 1
        {CALL}
        E lea rsp, [rbp-8]
        E pop rbx
        E pop rbp
        E ret""", mid="rbx", level="may", rule="executed", issues=["dotnet/runtime#54320"])
    yield Function("disagree", "register-at-top", f"""
        P push rbp ; push rbp
        P mov rbp, rsp ; setfp rbp 16
        P sub rsp, 48 ; alloc 48
        B mov eax, 1
        {CALL}
        B nop
        E add rsp, 48
        E pop rbp
        E ret""", mid="rbx", level="may", rule="executed", issues=["bytecodealliance/wasmtime#1967"])


def looks_like():
    yield simple("not-an-epilogue", "immediate", "P push rbx ; push rbx\nP sub rsp, 32 ; alloc 32",
                 "B mov eax, 0xc35b5b5b\nB nop\nE add rsp, 32\nE pop rbx", "rbx", issues=["dotnet/corert#2535"])
    yield simple("not-an-epilogue", "before-pops", "P push rsi ; push rsi\nP push rdi ; push rdi",
                 "B add eax, 1\nE pop rdi\nE pop rsi", "rsi rdi", issues=["dotnet/corert#2535"])
    yield simple("not-an-epilogue", "pop-in-body", "P push rsi ; push rsi\nP sub rsp, 40 ; alloc 40",
                 "B push 5\nB pop rcx\nB nop\nE add rsp, 40\nE pop rsi", "rsi", level="may", rule="executed")
    yield simple("not-an-epilogue", "jump-inside", "P push r13 ; push r13\nP sub rsp, 48 ; alloc 48",
                 "B add rax, 0\nB jmp 86f\nB 86: nop\nE add rsp, 48\nE pop r13", "r13")
    yield simple("not-an-epilogue", "add-then-jump", "P push r13 ; push r13\nP sub rsp, 48 ; alloc 48",
                 "B add rsp, 0\nB jmp 86f\nB 86: nop\nE add rsp, 48\nE pop r13", "r13")
    yield Function("call-before-epilogue", "add", """
        P push rbx ; push rbx
        P sub rsp, 48 ; alloc 48
        B mov ebx, 1
        B call LEAF
        E add rsp, 48
        E pop rbx
        E ret""", mid="rbx", issues=["bytecodealliance/wasmtime#9688"])
    yield Function("call-before-epilogue", "pops", """
        P push rbx ; push rbx
        P push rsi ; push rsi
        B mov ebx, 1
        B mov esi, 2
        B call LEAF
        E pop rsi
        E pop rbx
        E ret""", mid="rsi", issues=["bytecodealliance/wasmtime#9688"])
    for value, name in ((0x58, "pop"), (0x5B, "pop-rbx"), (-61, "ret")):
        yield Function("call-before-epilogue", f"byte-{name}", f"""
            P push rbx ; push rbx
            P sub rsp, 48 ; alloc 48
            B lea rax, [rip+LEAF]
            B mov [rsp+40], rax
            B lea rdx, [rsp+40-({value})]
            B mov ebx, 1
            B call qword ptr [rdx+{value}]
            E add rsp, 48
            E pop rbx
            E ret""", mid="rbx", issues=["mstange/framehop#22"])


def no_return():
    for variant, align, pad in (("adjacent", 1, ""), ("before-gap", 1, ".fill 5, 1, 0x90")):
        yield Function("call-last", variant, """
            P push rbx ; push rbx
            P sub rsp, 48 ; alloc 48
            B mov ebx, 1
            B call STOP""", mid="rbx", ends="fault", tail=pad, rule="executed", align=16,
                       issues=["crystal-lang/crystal#11047", "rust-minidump/rust-minidump#446"])
        if not pad:
            yield Function("call-last", "next", "E pop rdi\nE pop rsi\nE ret", align=align, rule="executed", calls=False)
    yield Function("call-last", "stop", """
        P sub rsp, 40 ; alloc 40
        N mov eax, 0
        N ud2""", rule="executed", calls=False)


def entries():
    yield Function("leaf", "plain", "L mov eax, 1\nL add eax, 2\nL ret", entry=False)
    yield Function("leaf", "rbp-into-frame", "L lea rbp, [rsp+8]\nL nop\nL mov rbp, r9\nL ret", entry=False, mid="rbx", issues=["rust-minidump/rust-minidump#489"])
    yield Function("leaf", "rbp-anything", "L mov r9, rbp\nL mov ebp, 5\nL nop\nL mov rbp, r9\nL ret", entry=False, mid="rsi", issues=["llvm/llvm-project#210076"])
    yield Function("entry-search", "first", "B nop\nB nop\nB nop\nE ret", align=1, issues=["swiftlang/swift#87956"])
    yield Function("entry-search", "gap", "L nop\nL nop\nL ret", align=1, entry=False, issues=["swiftlang/swift#87956"])
    for i in range(6):
        yield simple("entry-search", f"adjacent-{i}", f"P sub rsp, {24 + 16 * i} ; alloc {24 + 16 * i}", f"E add rsp, {24 + 16 * i}", align=1)
    yield Function("entry-search", "gap-2", "L nop\nL ret", align=1, entry=False)
    yield Function("entry-search", "last", "P push rdi ; push rdi\nB nop\nE pop rdi\nE ret", align=1)
    issues = ["golang/go#57404"]
    yield Function("no-entry", "moves-rsp", f"L sub rsp, 40\nL nop\n{CALL.replace('B', 'L', 1)}\nL add rsp, 40\nL ret",
                   entry=False, level="may", rule="executed", issues=[*issues, "oven-sh/bun#38789"])


def handlers():
    for flags, name in ((1, "exception"), (2, "termination"), (3, "both")):
        for r in ("rbx", "rsi"):
            yield simple("handler", f"{name}-{r}", f"P push {r} ; push {r}\nP sub rsp, 48 ; alloc 48", f"E add rsp, 48\nE pop {r}", r, flags=flags)
        yield simple("handler", f"{name}-odd", "P push r12 ; push r12", "E pop r12", "r12", flags=flags)
    yield Function("funclet", "catch", f"""
        P mov [rsp+16], rdx
        P push rbp ; push rbp
        P sub rsp, 48 ; alloc 48
        P lea rbp, [rsp+16]
        B mov eax, 1
        {CALL}
        B nop
        E add rsp, 48
        E pop rbp
        E ret""", mid="rbp")


def version_2():
    body = f"""
        P push rsi ; push rsi
        P push rdi ; push rdi
        P sub rsp, 40 ; alloc 40
        B mov esi, 1
        B mov edi, 2
        {CALL}
        B nop
        E add rsp, 40
        E pop rdi
        E pop rsi
        E ret"""
    more = {"version": 2, "needs": ["unwind-v2"], "rule": "vendor source", "issues": ["google/orbit#3721", "llvm/llvm-project#110338"]}
    for mid in ("rsi", "rdi"):
        yield Function("version-2", f"at-end-{mid}", body, mid=mid, epilogs=[(True, 3, 1), (False, None, 0)], **more)
        yield Function("version-2", f"several-{mid}", f"""
            P push rsi ; push rsi
            P push rdi ; push rdi
            P sub rsp, 40 ; alloc 40
            B mov esi, 1
            B mov edi, 2
            {CALL}
            B dec eax
            B jz 78f
            B js 79f
            E add rsp, 40
            E pop rdi
            E pop rsi
            E ret
            B 79: nop
            E add rsp, 40
            E pop rdi
            E pop rsi
            E ret
            B 78: nop
            E add rsp, 40
            E pop rdi
            E pop rsi
            E ret
            B nop""", mid=mid, epilogs=[(True, 3, 0), (False, 20, 0), (False, 15, 0), (False, 10, 0)], **more)
    # Version 2 without a list has no epilogue, whatever its code does.
    yield Function("version-2", "no-list", body, mid="rsi", level="may", **more)


def version_3():
    """As version 2, a list of epilogues, but with codes of their own: an epilogue may have any form."""
    more = {"version": 3, "needs": ["unwind-v3"], "rule": "version-3", "issues": ["llvm/llvm-project#200249"]}

    def plain(variant, prologue, epilogue, mid="rbx", **words):
        return Function("version-3", variant, f"{prologue}\nB mov {mid}, 0x1234567\n{CALL}\nB nop\n{epilogue}\nE ret", mid=mid, **more, **words)

    enter = "P push rsi ; push rsi\nP push rbx ; push rbx\nP sub rsp, 40 ; alloc 40"
    leave = "E add rsp, 40 ; alloc 40\nE pop rbx ; push rbx\nE pop rsi ; push rsi"
    yield plain("at-end", enter, leave)
    yield plain("from-end", enter, leave, from_end=True)
    yield plain("large", "P push rbx ; push rbx\nP sub rsp, 0x1000 ; alloc 0x1000", "E add rsp, 0x1000 ; alloc 0x1000\nE pop rbx ; push rbx")
    yield plain("huge", "P push rbx ; push rbx\nP sub rsp, 0x80008 ; alloc 0x80008", "E add rsp, 0x80008 ; alloc 0x80008\nE pop rbx ; push rbx")
    yield plain("saves", "P sub rsp, 72 ; alloc 72\nP mov [rsp+48], rbx ; save rbx 48\nP mov [rsp+56], r12 ; savefar r12 56",
                "E mov r12, [rsp+56] ; savefar r12 56\nE nop\nE mov rbx, [rsp+48] ; save rbx 48\nE lea rsp, [rsp+72] ; alloc 72")
    yield plain("xmm", "P push rbx ; push rbx\nP sub rsp, 64 ; alloc 64\nP movaps [rsp+32], xmm6 ; xmm 6 32\nP movaps [rsp+48], xmm15 ; xmmfar 15 48",
                "E movaps xmm15, [rsp+48] ; xmmfar 15 48\nE movaps xmm6, [rsp+32] ; xmm 6 32\nE add rsp, 64 ; alloc 64\nE pop rbx ; push rbx")
    yield plain("frame-register", "P push rbp ; push rbp\nP push rbx ; push rbx\nP sub rsp, 40 ; alloc 40\nP lea rbp, [rsp+32] ; setfp rbp 32\nB sub rsp, 48",
                "E lea rsp, [rbp-32] ; setfp rbp 32\nE add rsp, 40 ; alloc 40\nE pop rbx ; push rbx\nE pop rbp ; push rbp")
    # The page does not say of which rsp a save is an offset when later instructions move it: of the one then, or, as in version 1, of the body's.
    yield plain("other-order", "P mov [rsp+8], rbx ; save rbx 8\nP push rsi ; push rsi\nP nop\nP sub rsp, 32 ; alloc 32",
                "E nop\nE lea rsp, [rsp+32] ; alloc 32\nE mov rsi, [rsp]\nE lea rsp, [rsp+8] ; push rsi\nE nop\nE mov rbx, [rsp+8] ; save rbx 8", level="may")
    for variant, from_end in (("several", False), ("several-from-end", True)):
        yield Function("version-3", variant, f"""
            {enter}
            B mov ebx, 2
            {CALL}
            B dec eax
            B jz 78f
            B js 79f
            {leave}
            E ret
            B 79: nop
            {leave}
            E ret
            B 78: nop
            {leave}
            E ret
            B nop""", mid="rbx", from_end=from_end, **more)
    yield plain("long-prologue", "P push rbx ; push rbx\n" + "P movabs rax, 0x1122334455667788\n" * 26 + "P sub rsp, 32 ; alloc 32", "E add rsp, 32 ; alloc 32\nE pop rbx ; push rbx")


def recursion():
    yield Function("recursion", "six", """
        P push rbx ; push rbx
        P sub rsp, 32 ; alloc 32
        B mov ebx, eax
        B dec eax
        B jle 76f
        B call SELF
        B 76: nop
        E add rsp, 32
        E pop rbx
        E ret""", mid="rbx", times=6, issues=["dotnet/runtime#104820"])


def interrupts():
    """Dispatchers, each entered at every instruction of a function that was interrupted there."""
    yield Function("machine-frame", "interrupted", f"""
        P push rbp ; push rbp
        P push rbx ; push rbx
        P sub rsp, 56 ; alloc 56
        P lea rbp, [rsp+32] ; setfp rbp 32
        B push rax
        B pop rax
        B sub rsp, 64
        {CALL}
        B nop
        E lea rsp, [rbp+24]
        E pop rbx
        E pop rbp
        E ret""", mid="rbx", issues=["mstange/framehop#30"])
    issues = ["llvm/llvm-project#56095", "mstange/framehop#30"]
    yield Function("machine-frame", "plain", """
        P nop ; mach 0
        D nop
        D call LEAF
        D ud2""", interrupts=True, calls=False, issues=issues)
    yield Function("machine-frame", "error-code", """
        P nop ; mach 1
        P push rbp ; push rbp
        P sub rsp, 32 ; alloc 32
        D mov ebp, 5
        D call LEAF
        D ud2""", interrupts=True, calls=False, issues=issues)
    yield Function("machine-frame", "saves", """
        P nop ; mach 0
        P sub rsp, 0x4f0 ; alloc 0x4f0
        P mov [rsp+0x90], rbx ; save rbx 0x90
        P mov [rsp+0xa0], rbp ; save rbp 0xa0
        D mov ebp, 5
        D mov ebx, 6
        D call LEAF
        D ud2""", interrupts=True, calls=False, issues=issues)
