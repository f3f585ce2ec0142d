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
        0x48, 0x83, 0xEC, 0x68,       /* sub rsp, 104 */
        0x48, 0x89, 0xC8,             /* mov rax, rcx */
        0x48, 0x89, 0xD1,             /* mov rcx, rdx */
        0x31, 0xED,                   /* xor ebp, ebp: no frame pointer of anybody's */
        0xFF, 0xD0,                   /* call rax     */
        0x48, 0x83, 0xC4, 0x68, 0xC3, /* add rsp, 104; ret */
    };
    struct generated made = generated_make();
    memcpy(made.memory, code, sizeof code);
    capture_register_code("generated_hole", made.memory, sizeof code);
    victim_ready();
    return HERE_HOLE(made.call(loop, &victim_zero)) + 1;
}
