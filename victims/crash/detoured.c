#include "victims/generated.h"
#include "victims/victim.h"

#include <string.h>

/* As detour libraries do it: the target's first instruction is moved to a trampoline outside
 * the image, and a jump to the hook put in its place; the hook calls the trampoline. */
#if HAVE_NAKED
enum { LINE_OF_TARGET = __LINE__ + 3, MOVED_BYTES = 6 };
static NAKED int target(volatile int *p)
{
    __asm__("movl $1, (%rcx)\n"
            "nopl 512(%rax,%rax,1)\n"
            "xorl %eax, %eax\n"
            "ret");
}
#define NOT_BUILT NULL
#elif HAVE_NAKED_X86
enum { LINE_OF_TARGET = __LINE__ + 3, MOVED_BYTES = 10 };
static NAKED_X86 int target(volatile int *p)
{
    __asm__("movl 4(%esp), %eax\n"
            "movl $1, (%eax)\n"
            "xorl %eax, %eax\n"
            "ret");
}
#define NOT_BUILT NULL
#else
enum { LINE_OF_TARGET = 0, MOVED_BYTES = 1 };
static int target(volatile int *p)
{
    return *p;
}
#define NOT_BUILT "this compiler has no naked functions"
#endif

static int (*volatile go_on)(volatile int *);

static int hook(volatile int *p)
{
    return HERE_GENERATED(go_on(p)) + 1;
}

enum { OPCODE_BYTES = 6, JUMP_BYTES = OPCODE_BYTES + sizeof(void *) };

/* A jump by the address that follows it: relative on x64, absolute on x86. */
static void write_jump(uint8_t *at, uintptr_t to)
{
    static const uint8_t jump[] = {0xFF, 0x25};
    const uint32_t where = sizeof to == 4 ? (uint32_t)(uintptr_t)(at + OPCODE_BYTES) : 0;
    memcpy(at, jump, sizeof jump);
    memcpy(at + sizeof jump, &where, sizeof where);
    memcpy(at + OPCODE_BYTES, &to, sizeof to);
}

SCENARIO(detoured, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005, .not_built = NOT_BUILT,
         .sentence = "A function that was detoured: the fault is in a copy of its first "
                     "instruction, outside all images, and its own frame is not there.")
{
    struct generated made = generated_make();
    uint8_t *at = (uint8_t *)(uintptr_t)target;
    DWORD old;
    memcpy(made.memory, at, MOVED_BYTES);
    write_jump(made.memory + MOVED_BYTES, (uintptr_t)at + JUMP_BYTES);
    capture_register_code("detoured_target", made.memory, MOVED_BYTES + JUMP_BYTES);
    go_on = (int (*)(volatile int *))(void *)made.memory;
    VirtualProtect(at, JUMP_BYTES, PAGE_EXECUTE_READWRITE, &old);
    write_jump(at, (uintptr_t)hook);
    return HERE_TAIL(target, LINE_OF_TARGET, target(victim_null)) + 1;
}
