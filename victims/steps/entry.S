# How the stepped thread begins and ends, and what acts as an interrupt.
        .text
        .globl  steps_thread
        .def    steps_thread; .scl 2; .type 32; .endef
        .seh_proc steps_thread
steps_thread:
        subq    $40, %rsp
        .seh_stackalloc 40
        .seh_endprologue
        pushfq
        orq     $0x100, (%rsp)          # the trap flag: from behind the next instruction on
        popfq
        nop
        callq   steps_tree
        .globl  steps_end
steps_end:
        nop                             # the stepper clears the flag here
        addq    $40, %rsp
        retq
        .seh_endproc

# int shape_interrupted(call, value): pushes what an interrupt pushes and enters the handler.
# The jump carries no REX.W, so it is not taken for a tail call.
        .globl  shape_interrupted
        .def    shape_interrupted; .scl 2; .type 32; .endef
        .seh_proc shape_interrupted
shape_interrupted:
        pushq   %rbp
        .seh_pushreg %rbp
        movq    %rsp, %rbp
        .seh_setframe %rbp, 0
        subq    $32, %rsp
        .seh_stackalloc 32
        .seh_endprologue
        leaq    1f(%rip), %r10
        movq    %rsp, %r11
        xorl    %eax, %eax
        movw    %ss, %ax
        pushq   %rax
        pushq   %r11
        pushfq
        movw    %cs, %ax
        pushq   %rax
        pushq   %r10
        leaq    steps_interrupt_handler(%rip), %rax
        jmpq    *%rax
1:      addl    $1, %eax
        leaq    (%rbp), %rsp
        popq    %rbp
        retq
        .seh_endproc

        .globl  steps_interrupt_handler
        .def    steps_interrupt_handler; .scl 2; .type 32; .endef
        .seh_proc steps_interrupt_handler
steps_interrupt_handler:
        .seh_pushframe
        subq    $40, %rsp
        .seh_stackalloc 40
        .seh_endprologue
        movq    %rcx, %rax
        movl    %edx, %ecx
        callq   *%rax
        addq    $40, %rsp
        iretq
        .seh_endproc
