/* A call of code that may fault while a process dies. */
#include "capture/cap.h"

#if defined(__MINGW32__) && defined(__x86_64__)
/* Brings the stack probe with unwind data (chkstk.S) into the program before libgcc's. */
__asm__(".section .rdata$twinstack,\"dr\"\n"
        ".globl cap_stack_probe\n"
        "cap_stack_probe: .rva ___chkstk_ms\n"
        ".text\n");
#endif

#if defined(__GNUC__) && !defined(__clang__)
#if !defined(__x86_64__)
#error "gcc has no __try, and what replaces it here is for x64"
#endif

/* gcc has no __try. These are the code and the unwind data that other compilers make of the
 * function below: the scope table of __C_specific_handler (ntdll) has one row, from 1 to 2, whose
 * filter, 1, is EXCEPTION_EXECUTE_HANDLER, and which continues at 3. */
__asm__(".text\n"
        ".globl cap_crash_guarded\n"
        ".def cap_crash_guarded; .scl 2; .type 32; .endef\n"
        ".seh_proc cap_crash_guarded\n"
        "cap_crash_guarded:\n"
        "    subq $40, %rsp\n"
        "    .seh_stackalloc 40\n"
        "    .seh_endprologue\n"
        "    movq %rcx, %rax\n"
        "    movq %rdx, %rcx\n"
        "1:  call *%rax\n"
        "    nop\n" /* the return address must be inside the scope */
        "2:  movl $1, %eax\n"
        "    addq $40, %rsp\n"
        "    ret\n"
        "3:  xorl %eax, %eax\n"
        "    addq $40, %rsp\n"
        "    ret\n"
        "    .seh_handler __C_specific_handler, @except\n"
        "    .seh_handlerdata\n"
        "    .long 1\n"
        "    .rva 1b, 2b\n"
        "    .long 1\n"
        "    .rva 3b\n"
        "    .text\n"
        ".seh_endproc\n");

#else

bool cap_crash_guarded(void (*body)(void *), void *argument)
{
    __try {
        body(argument);
    } __except (EXCEPTION_EXECUTE_HANDLER) {
        return false;
    }
    return true;
}

#endif
