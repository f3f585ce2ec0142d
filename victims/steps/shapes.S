# Prologues and epilogues that compilers do not write, or not on demand: int shape(call, value)
# returns call(value) + 1.  On entry rcx holds the function, edx its argument.  What a prologue
# saved is overwritten in the body, so that a walker which does not restore it loses the way:
# the callers above live by rbp and rbx.
        .macro  begin name
        .globl  \name
        .def    \name; .scl 2; .type 32; .endef
        .seh_proc \name
\name:
        .endm

        .macro  call_it
        movq    %rcx, %rax
        movl    %edx, %ecx
        callq   *%rax
        addl    $1, %eax
        .endm

        .text
        begin   shape_pushes
        pushq   %rbx
        .seh_pushreg %rbx
        pushq   %rbp
        .seh_pushreg %rbp
        pushq   %rsi
        .seh_pushreg %rsi
        pushq   %rdi
        .seh_pushreg %rdi
        pushq   %r12
        .seh_pushreg %r12
        pushq   %r13
        .seh_pushreg %r13
        pushq   %r14
        .seh_pushreg %r14
        pushq   %r15
        .seh_pushreg %r15
        subq    $40, %rsp
        .seh_stackalloc 40
        .seh_endprologue 
        xorl    %ebx, %ebx
        xorl    %ebp, %ebp
        call_it 
        addq    $40, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rdi
        popq    %rsi
        popq    %rbp
        popq    %rbx
        retq    
        .seh_endproc

        begin   shape_alloc_small
        subq    $40, %rsp
        .seh_stackalloc 40
        .seh_endprologue 
        call_it 
        addq    $40, %rsp
        rep     retq
        .seh_endproc

        begin   shape_alloc_large
        subq    $1032, %rsp
        .seh_stackalloc 1032
        .seh_endprologue 
        call_it 
        addq    $1032, %rsp
        retq    
        .seh_endproc

        begin   shape_alloc_huge
        subq    $524296, %rsp
        .seh_stackalloc 524296
        .seh_endprologue 
        call_it 
        addq    $524296, %rsp
        retq    
        .seh_endproc

        begin   shape_frame_register
        pushq   %rbp
        .seh_pushreg %rbp
        subq    $48, %rsp
        .seh_stackalloc 48
        leaq    32(%rsp), %rbp
        .seh_setframe %rbp, 32
        .seh_endprologue 
        subq    $320, %rsp
        call_it 
        leaq    16(%rbp), %rsp
        popq    %rbp
        retq    
        .seh_endproc

        begin   shape_frame_register_r13
        pushq   %r13
        .seh_pushreg %r13
        subq    $48, %rsp
        .seh_stackalloc 48
        leaq    32(%rsp), %r13
        .seh_setframe %r13, 32
        .seh_endprologue 
        subq    $320, %rsp
        call_it 
        leaq    16(%r13), %rsp
        popq    %r13
        retq    
        .seh_endproc

        begin   shape_save_nonvolatile
        subq    $72, %rsp
        .seh_stackalloc 72
        movq    %rbx, 40(%rsp)
        .seh_savereg %rbx, 40
        movq    %rbp, 48(%rsp)
        .seh_savereg %rbp, 48
        movq    %rsi, 56(%rsp)
        .seh_savereg %rsi, 56
        .seh_endprologue 
        xorl    %ebp, %ebp
        xorl    %ebx, %ebx
        call_it 
        movq    40(%rsp), %rbx
        movq    48(%rsp), %rbp
        movq    56(%rsp), %rsi
        addq    $72, %rsp
        retq    
        .seh_endproc

        begin   shape_save_far
        subq    $600008, %rsp
        .seh_stackalloc 600008
        movq    %rbx, 560000(%rsp)
        .seh_savereg %rbx, 560000
        movq    %rbp, 560008(%rsp)
        .seh_savereg %rbp, 560008
        .seh_endprologue 
        xorl    %ebp, %ebp
        xorl    %ebx, %ebx
        call_it 
        movq    560000(%rsp), %rbx
        movq    560008(%rsp), %rbp
        addq    $600008, %rsp
        retq    
        .seh_endproc

        begin   shape_save_xmm
        subq    $72, %rsp
        .seh_stackalloc 72
        movaps  %xmm6, 32(%rsp)
        .seh_savexmm %xmm6, 32
        movaps  %xmm15, 48(%rsp)
        .seh_savexmm %xmm15, 48
        .seh_endprologue 
        xorps   %xmm6, %xmm6
        call_it 
        movaps  32(%rsp), %xmm6
        movaps  48(%rsp), %xmm15
        addq    $72, %rsp
        retq    
        .seh_endproc

        begin   shape_save_xmm_far
        pushq   %rbx
        .seh_pushreg %rbx
        subq    $1048656, %rsp
        .seh_stackalloc 1048656
        movaps  %xmm7, 1048640(%rsp)
        .seh_savexmm %xmm7, 1048640
        .seh_endprologue 
        xorps   %xmm7, %xmm7
        xorl    %ebx, %ebx
        call_it 
        movaps  1048640(%rsp), %xmm7
        addq    $1048656, %rsp
        popq    %rbx
        retq    
        .seh_endproc

        begin   shape_tail_near
        subq    $40, %rsp
        .seh_stackalloc 40
        .seh_endprologue 
        call_it 
        movl    %eax, %ecx
        addq    $40, %rsp
        jmp     shape_target
        .seh_endproc

        begin   shape_tail_register
        pushq   %rsi
        .seh_pushreg %rsi
        subq    $32, %rsp
        .seh_stackalloc 32
        .seh_endprologue 
        call_it 
        movl    %eax, %ecx
        leaq    shape_target(%rip), %rax
        addq    $32, %rsp
        popq    %rsi
        rex64   jmpq *%rax
        .seh_endproc

        begin   shape_tail_memory
        pushq   %r12
        .seh_pushreg %r12
        subq    $32, %rsp
        .seh_stackalloc 32
        .seh_endprologue 
        xorl    %r12d, %r12d
        call_it 
        movl    %eax, %ecx
        addq    $32, %rsp
        popq    %r12
        rex64   jmpq *shape_target_pointer(%rip)
        .seh_endproc

        begin   shape_tail_itself
        pushq   %rbx
        .seh_pushreg %rbx
        pushq   %rsi
        .seh_pushreg %rsi
        subq    $40, %rsp
        .seh_stackalloc 40
        .seh_endprologue 
        movl    %edx, %ebx
        movq    %rcx, %rsi
        testl   %ebx, %ebx
        jle     1f
        leal    -7(%rbx), %edx
        movq    %rsi, %rcx
        addq    $40, %rsp
        popq    %rsi
        popq    %rbx
        jmp     shape_tail_itself
1:
        call_it 
        addq    $40, %rsp
        popq    %rsi
        popq    %rbx
        retq    
        .seh_endproc

        begin   shape_two_epilogues
        pushq   %rbx
        .seh_pushreg %rbx
        subq    $32, %rsp
        .seh_stackalloc 32
        .seh_endprologue 
        movl    %edx, %ebx
        call_it 
        testl   %ebx, %ebx
        je      1f
        addq    $32, %rsp
        popq    %rbx
        retq    
1:
        addl    $1, %eax
        addq    $32, %rsp
        popq    %rbx
        retq    
        .seh_endproc

        begin   shape_false_epilogue
        pushq   %rbp
        .seh_pushreg %rbp
        movq    %rsp, %rbp
        .seh_setframe %rbp, 0
        subq    $32, %rsp
        .seh_stackalloc 32
        .seh_endprologue 
        pushq   %rcx
        addq    $0, %rsp
        popq    %rax
        jmp     2f
1:
        movl    %edx, %ecx
        callq   *%rax
        addl    $1, %eax
        leaq    (%rbp), %rsp
        popq    %rbp
        retq    
2:
        pushq   %rdx
        popq    %rdx
        jmp     1b
        .seh_endproc

# A leaf: no unwind data, no frame.
        .globl  shape_target
        .def    shape_target; .scl 2; .type 32; .endef
shape_target:
        leal    (%rcx,%rcx,2), %eax
        addl    $1, %eax
        retq

        .section .rdata, "dr"
        .balign 8
shape_target_pointer:
        .quad   shape_target
        .text

# Unwind data by hand from here on: the assembler's directives know neither chained pieces nor
# version 2.

# As MSVC shrink-wraps: the second piece saves rbx into the frame of the first.
        .globl  shape_chained
        .def    shape_chained; .scl 2; .type 32; .endef
        .balign 16
shape_chained:
        subq    $72, %rsp
        testq   %rcx, %rcx
        je      shape_chained_rest
shape_chained_second:
        movq    %rbx, 64(%rsp)
        movl    %edx, %ebx
        call_it
        addl    %ebx, %eax
        movq    64(%rsp), %rbx
shape_chained_rest:
        addl    $1, %eax
        addq    $72, %rsp
        retq
shape_chained_end:

# The second piece grows the frame and leaves it as a whole.
        .globl  shape_chained_alloc
        .def    shape_chained_alloc; .scl 2; .type 32; .endef
        .balign 16
shape_chained_alloc:
        pushq   %rbx
        subq    $32, %rsp
shape_chained_alloc_second:
        subq    $48, %rsp
        xorl    %ebx, %ebx
        call_it
        addq    $80, %rsp
        popq    %rbx
        retq
shape_chained_alloc_end:

# Version 2 lists its epilogue: the pops and the return.
        .globl  shape_listed_epilogue
        .def    shape_listed_epilogue; .scl 2; .type 32; .endef
        .balign 16
shape_listed_epilogue:
        pushq   %rbx
        pushq   %r14
        subq    $40, %rsp
        xorl    %ebx, %ebx
        call_it
        addq    $40, %rsp
shape_listed_epilogue_pops:
        popq    %r14
        popq    %rbx
        retq
shape_listed_epilogue_end:

        .section .xdata, "dr"
        .balign 4
unwind_chained:
        .byte   0x01, 4, 1, 0           # version 1, prologue of 4 bytes, 1 slot
        .byte   4, 0x82, 0, 0           # at 4 alloc 72; padding
unwind_chained_second:
        .byte   0x21, 5, 2, 0           # chained, prologue of 5 bytes, 2 slots
        .byte   5, 0x34, 8, 0           # at 5 rbx saved at 64
        .rva    shape_chained, shape_chained_second, unwind_chained
unwind_chained_rest:
        .byte   0x21, 0, 0, 0           # chained, nothing of its own
        .rva    shape_chained, shape_chained_second, unwind_chained
unwind_chained_alloc:
        .byte   0x01, 5, 2, 0
        .byte   5, 0x32, 1, 0x30        # at 5 alloc 32, at 1 push rbx
unwind_chained_alloc_second:
        .byte   0x21, 4, 1, 0
        .byte   4, 0x52, 0, 0           # at 4 alloc 48
        .rva    shape_chained_alloc, shape_chained_alloc_second, unwind_chained_alloc
unwind_listed_epilogue:
        .byte   0x02, 7, 5, 0           # version 2, prologue of 7 bytes, 5 slots
        .byte   4, 0x16                 # epilogues of 4 bytes, one of them at the very end
        .byte   0, 0x06
        .byte   7, 0x42                 # at 7 alloc 40
        .byte   3, 0xe0, 1, 0x30        # at 3 push r14, at 1 push rbx
        .byte   0, 0

        .section .pdata, "dr"
        .balign 4
        .rva    shape_chained, shape_chained_second, unwind_chained
        .rva    shape_chained_second, shape_chained_rest, unwind_chained_second
        .rva    shape_chained_rest, shape_chained_end, unwind_chained_rest
        .rva    shape_chained_alloc, shape_chained_alloc_second, unwind_chained_alloc
        .rva    shape_chained_alloc_second, shape_chained_alloc_end, unwind_chained_alloc_second
        .rva    shape_listed_epilogue, shape_listed_epilogue_end, unwind_listed_epilogue
        .text
