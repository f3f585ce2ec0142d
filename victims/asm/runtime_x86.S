# What the compiler of 32-bit code calls and mingw-w64 has only under other names.

# Stack probe.  eax: bytes of the frame; makes the room as well.
        .text
        .globl  __chkstk
        .cv_fpo_proc __chkstk 0 # frame data for the PDB: a stack may end in here
__chkstk:
        pushl   %ecx
        .cv_fpo_pushreg %ecx
        .cv_fpo_endprologue
        leal    8(%esp), %ecx           # the caller's stack pointer
        cmpl    $0x1000, %eax
        jb      2f
1:      subl    $0x1000, %ecx
        orl     $0, (%ecx)              # touches each page in turn
        subl    $0x1000, %eax
        cmpl    $0x1000, %eax
        ja      1b
2:      subl    %eax, %ecx
        orl     $0, (%ecx)
        movl    %esp, %eax
        movl    %ecx, %esp
        movl    (%eax), %ecx
        jmpl    *4(%eax)
        .cv_fpo_endproc

# Division of 64-bit numbers as Microsoft's compilers call it: the callee takes the arguments away.
        .globl  __alldiv
__alldiv:
        pushl   16(%esp)
        pushl   16(%esp)
        pushl   16(%esp)
        pushl   16(%esp)
        calll   ___divdi3
        addl    $16, %esp
        retl    $16

        .globl  __aulldiv
__aulldiv:
        pushl   16(%esp)
        pushl   16(%esp)
        pushl   16(%esp)
        pushl   16(%esp)
        calll   ___udivdi3
        addl    $16, %esp
        retl    $16

        .globl  __aullrem
__aullrem:
        pushl   16(%esp)
        pushl   16(%esp)
        pushl   16(%esp)
        pushl   16(%esp)
        calll   ___umoddi3
        addl    $16, %esp
        retl    $16

        .globl  __fltused # what they note where floating point is used
        .set    __fltused, 0x9875

        .section .debug$S, "dr"
        .p2align 2
        .long   4               # CodeView of C13
        .cv_fpo_data __chkstk
        .cv_stringtable
