# Prologues and epilogues that compilers do not write, or not on demand: int shape(call, value)
# returns call(value) + 1.  What a prologue saved is overwritten in the body, so that a walker which
# does not restore it loses the way: the callers above live by ebp and ebx.
        .macro  begin name
        .globl  _\name
        .def    _\name; .scl 2; .type 32; .endef
        .balign 16
        .cv_fpo_proc _\name 8
_\name:
        .endm

        .macro  end
        .cv_fpo_endproc
        .endm

        # AT: from the stack pointer to the first argument
        .macro  call_it at
        pushl   \at+4(%esp)
        calll   *\at+4(%esp)
        addl    $4, %esp
        addl    $1, %eax
        .endm

        .text
        begin   shape_pushes
        pushl   %ebx
        .cv_fpo_pushreg %ebx
        pushl   %ebp
        .cv_fpo_pushreg %ebp
        pushl   %esi
        .cv_fpo_pushreg %esi
        pushl   %edi
        .cv_fpo_pushreg %edi
        subl    $40, %esp
        .cv_fpo_stackalloc 40
        .cv_fpo_endprologue
        xorl    %ebx, %ebx
        xorl    %ebp, %ebp
        call_it 60
        addl    $40, %esp
        popl    %edi
        popl    %esi
        popl    %ebp
        popl    %ebx
        retl
        end

        begin   shape_alloc_small
        subl    $40, %esp
        .cv_fpo_stackalloc 40
        .cv_fpo_endprologue
        call_it 44
        addl    $40, %esp
        rep     retl
        end

        begin   shape_alloc_large
        subl    $1032, %esp
        .cv_fpo_stackalloc 1032
        .cv_fpo_endprologue
        call_it 1036
        addl    $1032, %esp
        retl
        end

        begin   shape_alloc_huge
        subl    $524296, %esp
        .cv_fpo_stackalloc 524296
        .cv_fpo_endprologue
        call_it 524300
        addl    $524296, %esp
        retl
        end

        begin   shape_frame_pointer
        pushl   %ebp
        .cv_fpo_pushreg %ebp
        movl    %esp, %ebp
        .cv_fpo_setframe %ebp
        pushl   %ebx
        .cv_fpo_pushreg %ebx
        pushl   %esi
        .cv_fpo_pushreg %esi
        .cv_fpo_endprologue
        subl    $320, %esp
        xorl    %ebx, %ebx
        pushl   12(%ebp)
        calll   *8(%ebp)
        addl    $1, %eax
        leal    -8(%ebp), %esp
        popl    %esi
        popl    %ebx
        popl    %ebp
        retl
        end

        begin   shape_leave
        pushl   %ebp
        .cv_fpo_pushreg %ebp
        movl    %esp, %ebp
        .cv_fpo_setframe %ebp
        .cv_fpo_endprologue
        subl    $320, %esp
        pushl   12(%ebp)
        calll   *8(%ebp)
        addl    $1, %eax
        leave
        retl
        end

        # __try as Microsoft's compiler writes it since 2005: a registration in the chain of handlers,
        # and a scope table and a frame that are mixed with the security cookie
        begin   shape_seh4
        pushl   %ebp
        .cv_fpo_pushreg %ebp
        movl    %esp, %ebp
        .cv_fpo_setframe %ebp
        pushl   $-2                     # no __try yet
        .cv_fpo_stackalloc 4
        pushl   $shape_scopes
        .cv_fpo_stackalloc 4
        pushl   $shape_except_handler4
        .cv_fpo_stackalloc 4
        movl    %fs:0, %eax
        pushl   %eax
        .cv_fpo_stackalloc 4
        subl    $8, %esp
        .cv_fpo_stackalloc 8
        pushl   %ebx
        .cv_fpo_pushreg %ebx
        pushl   %esi
        .cv_fpo_pushreg %esi
        pushl   %edi
        .cv_fpo_pushreg %edi
        movl    shape_cookie, %eax
        xorl    %eax, -8(%ebp)
        xorl    %ebp, %eax
        pushl   %eax
        .cv_fpo_stackalloc 4
        leal    -16(%ebp), %eax
        movl    %eax, %fs:0
        .cv_fpo_endprologue
        movl    %esp, -24(%ebp)
        movl    $0, -4(%ebp)            # in the first __try
        xorl    %ebx, %ebx
        pushl   12(%ebp)
        calll   *8(%ebp)
        addl    $4, %esp
        addl    $1, %eax
        movl    $-2, -4(%ebp)
        movl    -16(%ebp), %ecx
        movl    %ecx, %fs:0
        popl    %ecx
        popl    %edi
        popl    %esi
        popl    %ebx
        movl    %ebp, %esp
        popl    %ebp
        retl
        end

        # what the registration names; nothing raises an exception in there, so it is never called
        .balign 16
        .cv_fpo_proc shape_except_handler4 16
shape_except_handler4:
        .cv_fpo_endprologue
        movl    $1, %eax                # ExceptionContinueSearch
        retl
        .cv_fpo_endproc

        # the stack pointer is aligned, so the frame's size is only known to ebp
        begin   shape_aligned
        pushl   %ebp
        .cv_fpo_pushreg %ebp
        movl    %esp, %ebp
        .cv_fpo_setframe %ebp
        pushl   %edi
        .cv_fpo_pushreg %edi
        andl    $-64, %esp
        .cv_fpo_stackalign 64
        subl    $128, %esp
        .cv_fpo_stackalloc 128
        .cv_fpo_endprologue
        xorl    %edi, %edi
        pushl   12(%ebp)
        calll   *8(%ebp)
        addl    $1, %eax
        leal    -4(%ebp), %esp
        popl    %edi
        popl    %ebp
        retl
        end

        # what lies between the stack pointer and the return address looks like frames
        begin   shape_decoys
        pushl   %ebp
        .cv_fpo_pushreg %ebp
        subl    $32, %esp
        .cv_fpo_stackalloc 32
        .cv_fpo_endprologue
        movl    $_shape_target_return, 4(%esp)
        movl    $_shape_target_return, 12(%esp)
        leal    24(%esp), %ebp
        movl    %ebp, 8(%esp)
        movl    $_shape_target_return, 28(%esp)
        movl    %esp, 24(%esp)
        call_it 40
        addl    $32, %esp
        popl    %ebp
        retl
        end

        # its only local looks like a return address, right below the real one
        begin   shape_decoy_local
        pushl   $_shape_target_return
        .cv_fpo_stackalloc 4
        .cv_fpo_endprologue
        call_it 8
        addl    $4, %esp
        retl
        end

        begin   shape_two_epilogues
        pushl   %ebx
        .cv_fpo_pushreg %ebx
        subl    $32, %esp
        .cv_fpo_stackalloc 32
        .cv_fpo_endprologue
        movl    44(%esp), %ebx
        call_it 40
        testl   %ebx, %ebx
        je      1f
        addl    $32, %esp
        popl    %ebx
        retl
1:      addl    $1, %eax
        addl    $32, %esp
        popl    %ebx
        retl
        end

        begin   shape_false_epilogue
        pushl   %ebp
        .cv_fpo_pushreg %ebp
        movl    %esp, %ebp
        .cv_fpo_setframe %ebp
        .cv_fpo_endprologue
        pushl   8(%ebp)
        addl    $0, %esp
        popl    %eax
        jmp     2f
1:      pushl   12(%ebp)
        calll   *%eax
        addl    $1, %eax
        movl    %ebp, %esp
        popl    %ebp
        retl
2:      pushl   %edx
        popl    %edx
        jmp     1b
        end

        begin   shape_tail_near
        subl    $40, %esp
        .cv_fpo_stackalloc 40
        .cv_fpo_endprologue
        call_it 44
        addl    $40, %esp
        jmp     _shape_target
        end

        begin   shape_tail_register
        pushl   %esi
        .cv_fpo_pushreg %esi
        subl    $32, %esp
        .cv_fpo_stackalloc 32
        .cv_fpo_endprologue
        call_it 40
        movl    $_shape_target, %ecx
        addl    $32, %esp
        popl    %esi
        jmpl    *%ecx
        end

        begin   shape_tail_memory
        pushl   %edi
        .cv_fpo_pushreg %edi
        subl    $32, %esp
        .cv_fpo_stackalloc 32
        .cv_fpo_endprologue
        xorl    %edi, %edi
        call_it 40
        addl    $32, %esp
        popl    %edi
        jmpl    *shape_target_pointer
        end

        begin   shape_tail_itself
        pushl   %ebx
        .cv_fpo_pushreg %ebx
        subl    $40, %esp
        .cv_fpo_stackalloc 40
        .cv_fpo_endprologue
        movl    52(%esp), %ebx
        testl   %ebx, %ebx
        jle     1f
        subl    $7, %ebx
        movl    %ebx, 52(%esp)
        addl    $40, %esp
        popl    %ebx
        jmp     _shape_tail_itself
1:      call_it 48
        addl    $40, %esp
        popl    %ebx
        retl
        end

        # calls a function that removes its arguments
        begin   shape_pops
        pushl   %ebp
        .cv_fpo_pushreg %ebp
        subl    $16, %esp
        .cv_fpo_stackalloc 16
        .cv_fpo_endprologue
        xorl    %ebp, %ebp
        pushl   $7
        pushl   32(%esp)                # value
        pushl   32(%esp)                # call
        calll   shape_removes
        addl    $16, %esp
        popl    %ebp
        retl
        end

        # int (call, value, unused), as __stdcall
        .balign 16
        .cv_fpo_proc shape_removes 12
shape_removes:
        pushl   %ebp
        .cv_fpo_pushreg %ebp
        movl    %esp, %ebp
        .cv_fpo_setframe %ebp
        .cv_fpo_endprologue
        pushl   12(%ebp)
        calll   *8(%ebp)
        addl    $5, %eax
        popl    %ecx
        popl    %ebp
        retl    $12
        .cv_fpo_endproc

# A leaf.
        .globl  _shape_target
        .def    _shape_target; .scl 2; .type 32; .endef
        .balign 16
        .cv_fpo_proc _shape_target 0
_shape_target:
        .cv_fpo_endprologue
        leal    (%eax,%eax,2), %eax
        addl    $1, %eax
        retl
        .cv_fpo_endproc
        calll   _shape_target           # never reached: what stands here looks like a return address
_shape_target_return:
        retl

        .section .rdata, "dr"
        .balign 4
shape_target_pointer:
        .long   _shape_target
shape_cookie:
        .long   0xbb40e64e
shape_scopes:                           # EH4_SCOPETABLE: where the cookies are, then one row per __try
        .long   -2, 0, -40, 0
        .long   -2, 0, shape_except_handler4
        .text

# Without frame data from here on: only the code shows what was saved.
        .globl  _shape_chain_only
        .def    _shape_chain_only; .scl 2; .type 32; .endef
        .balign 16
_shape_chain_only:
        pushl   %ebp
        movl    %esp, %ebp
        subl    $40, %esp
        pushl   12(%ebp)
        calll   *8(%ebp)
        addl    $1, %eax
        leave
        retl

# The older rows, as assemblers write them: they describe the whole function, where the prologue is
# over.
        .globl  _shape_old_row
        .def    _shape_old_row; .scl 2; .type 32; .endef
        .balign 16
_shape_old_row:
        pushl   %ebp
        pushl   %ebx
        subl    $24, %esp
shape_old_row_body:
        xorl    %ebp, %ebp
        xorl    %ebx, %ebx
        call_it 36
shape_old_row_out:
        addl    $24, %esp
        popl    %ebx
        popl    %ebp
        retl
shape_old_row_end:

        .section .debug$F, "dr"
        .balign 4
        .rva    _shape_old_row
        .long   shape_old_row_end-_shape_old_row
        .long   6                       # locals, in 4 bytes
        .short  2                       # parameters, in 4 bytes
        .byte   shape_old_row_body-_shape_old_row
        .byte   2 | 1<<4                # two saved registers, ebp is one of them

        .section .debug$S, "dr"
        .p2align 2
        .long   4                       # CodeView of C13
        .irp    name, shape_pushes, shape_alloc_small, shape_alloc_large, shape_alloc_huge, shape_frame_pointer, shape_leave
        .cv_fpo_data _\name
        .endr
        .irp    name, shape_seh4, shape_aligned, shape_decoys, shape_decoy_local, shape_two_epilogues, shape_false_epilogue
        .cv_fpo_data _\name
        .endr
        .irp    name, shape_tail_near, shape_tail_register, shape_tail_memory, shape_tail_itself, shape_target, shape_pops
        .cv_fpo_data _\name
        .endr
        .cv_fpo_data shape_removes
        .cv_fpo_data shape_except_handler4
        .cv_stringtable
