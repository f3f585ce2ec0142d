#include "victims/generated.h"
#include "victims/victim.h"

#include <string.h>

static int loop(volatile int *p)
{
    HERE_BLOCK(while (*p == 0) PAUSE(););
    return 1;
}

SCENARIO(generated_hole, .kind = KIND_HANG, .group = "A5",
         .sentence = "Native code called by generated code with neither unwind data nor a frame "
                     "pointer: nothing leads across, and a walker has to say that there is a hole.")
{
    static const unsigned char code[] = {
#if defined(_WIN64)
        0x48, 0x83, 0xEC, 0x68,       /* sub rsp, 104 */
        0x48, 0x89, 0xC8,             /* mov rax, rcx */
        0x48, 0x89, 0xD1,             /* mov rcx, rdx */
        0x31, 0xED,                   /* xor ebp, ebp: no frame pointer */
        0xFF, 0xD0,                   /* call rax     */
        0x48, 0x83, 0xC4, 0x68, 0xC3, /* add rsp, 104; ret */
#else
        0x8B, 0x44, 0x24, 0x04, /* mov eax, [esp+4] */
        0x8B, 0x4C, 0x24, 0x08, /* mov ecx, [esp+8] */
        0x83, 0xEC, 0x68,       /* sub esp, 104     */
        0x89, 0x0C, 0x24,       /* mov [esp], ecx   */
        0x31, 0xED,             /* xor ebp, ebp: no frame pointer */
        0xFF, 0xD0,             /* call eax         */
        0x83, 0xC4, 0x68, 0xC3, /* add esp, 104; ret */
#endif
    };
    struct generated made = generated_make();
    memcpy(made.memory, code, sizeof code);
    capture_register_code("generated_hole", made.memory, sizeof code);
    victim_ready();
    return HERE_HOLE(made.call(loop, &victim_zero)) + 1;
}
