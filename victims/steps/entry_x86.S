# How the stepped thread begins and ends.  It keeps a frame pointer, so that a chain of them reaches the thread's start.
        .text
        .globl  _steps_thread@4
        .def    _steps_thread@4; .scl 2; .type 32; .endef
        .cv_fpo_proc _steps_thread@4 4
_steps_thread@4:
        pushl   %ebp
        .cv_fpo_pushreg %ebp
        movl    %esp, %ebp
        .cv_fpo_setframe %ebp
        subl    $8, %esp
        .cv_fpo_stackalloc 8
        .cv_fpo_endprologue
        pushfl
        orl     $0x100, (%esp)          # the trap flag: from behind the next instruction on
        popfl
        nop
        calll   _steps_tree
        .globl  _steps_end
_steps_end:
        nop                             # the stepper clears the flag here
        movl    %ebp, %esp
        popl    %ebp
        retl    $4
        .cv_fpo_endproc

        .section .debug$S, "dr"
        .p2align 2
        .long   4                       # CodeView of C13
        .cv_fpo_data _steps_thread@4
        .cv_stringtable
