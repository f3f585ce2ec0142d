/* Makes the code that generated.h describes. */
#include "victims/generated.h"

#include <string.h>

static const uint8_t code[GENERATED_CODE_BYTES] = {
#if defined(_WIN64)
    0x55,                   /* push rbp     */
    0x48, 0x89, 0xE5,       /* mov rbp, rsp */
    0x48, 0x83, 0xEC, 0x20, /* sub rsp, 32  */
    0x48, 0x89, 0xC8,       /* mov rax, rcx */
    0x48, 0x89, 0xD1,       /* mov rcx, rdx */
    0xFF, 0xD0,             /* call rax     */
    0x48, 0x83, 0xC4, 0x20, /* add rsp, 32  */
    0x5D, 0xC3,             /* pop rbp; ret */
    0x90,
#else
    0x55,             /* push ebp      */
    0x89, 0xE5,       /* mov ebp, esp  */
    0xFF, 0x75, 0x0C, /* push [ebp+12] */
    0xFF, 0x55, 0x08, /* call [ebp+8]  */
    0x83, 0xC4, 0x04, /* add esp, 4    */
    0x5D, 0xC3,       /* pop ebp; ret  */
#endif
};

#if defined(_WIN64)
static void add_table(struct generated *made)
{
    /* Version 1, prologue 8 bytes, 3 codes: alloc 32 at 8, set frame rbp at 4, push at 1. */
    static const uint8_t unwind[] = {1, 8, 3, 5, 8, 0x32, 4, 0x03, 1, 0x50, 0, 0};
    enum { TABLE_RVA = 512 };
    memcpy(made->memory + GENERATED_UNWIND_RVA, unwind, sizeof unwind);
    made->table = (RUNTIME_FUNCTION *)(made->memory + TABLE_RVA);
    made->table->BeginAddress = 0;
    made->table->EndAddress = sizeof code;
    made->table->UnwindData = GENERATED_UNWIND_RVA;
}
#endif

struct generated generated_make(void)
{
    struct generated made;
    made.memory =
        VirtualAlloc(NULL, GENERATED_BYTES, MEM_COMMIT | MEM_RESERVE, PAGE_EXECUTE_READWRITE);
    memcpy(made.memory, code, sizeof code);
    made.call = (generated_function)(void *)made.memory;
#if defined(_WIN64)
    add_table(&made);
#endif
    return made;
}
