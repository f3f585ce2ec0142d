# Stack probe with unwind data.  libgcc's has none, so most walkers do not get out of it, and a stack
# usually overflows in it.  What is linked first wins; guarded.c refers to it, so that a program with
# the capture always has this one.  rax: bytes of the frame; all registers are kept.
        .text
        .globl  ___chkstk_ms
        .def    ___chkstk_ms; .scl 2; .type 32; .endef
        .seh_proc ___chkstk_ms
___chkstk_ms:
        pushq   %rcx
        .seh_stackalloc 8
        pushq   %rax
        .seh_stackalloc 8
        .seh_endprologue
        leaq    24(%rsp), %rcx          # the caller's stack pointer
        cmpq    $0x1000, %rax
        jb      2f
1:      subq    $0x1000, %rcx
        orq     $0, (%rcx)              # touches each page in turn
        subq    $0x1000, %rax
        cmpq    $0x1000, %rax
        ja      1b
2:      subq    %rax, %rcx
        orq     $0, (%rcx)
        popq    %rax
        popq    %rcx
        retq
        .seh_endproc
