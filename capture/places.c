/* Places in code that unwind data does not describe: see cap.h.
 *
 * May call: RtlLookupFunctionEntry through cap_crash_function_at().  Reads code, and the stack
 * within the given limits. */
#include "capture/cap.h"

#if defined(_WIN64)

#include "capture/epilogue.h"

enum {
    OP_PUSH_NONVOL = 0,
    REGISTER_FP = 5,
    LAST_CALL_BYTES = 6, /* call rel32; int3 */
    CHAIN_LIMIT = 32,    /* of unwind data   */
    INT3 = 0xCC,
};

/* A thread that runs managed code is moved to the start of such a function: it pushes RAX, to have
 * a place for the return address, and hides that from its unwind data, which starts with the
 * second push.  The return address is the interrupted one; it is stored right before the last call.
 *
 * Source: src/coreclr/vm/amd64/RedirectedHandledJITCase.asm of the runtime */
enum cap_redirect cap_crash_redirect(uint64_t base_va, const RUNTIME_FUNCTION *function,
                                     uint64_t pc_va)
{
    static const uint8_t prologue[] = {0x50, 0x55, 0x48, 0x83, 0xEC}; /* push rax, push rbp, sub */
    const uint8_t *code = (const uint8_t *)(uintptr_t)(base_va + function->BeginAddress);
    const uint8_t *info = (const uint8_t *)(uintptr_t)(base_va + function->UnwindData);
    const uint32_t count = info[2];
    if (cap_managed.method_count == 0 || info[0] >> 3 == 0 || count == 0)
        return CAP_NOT_REDIRECTED;
    for (size_t i = 0; i < sizeof prologue; i++)
        if (code[i] != prologue[i])
            return CAP_NOT_REDIRECTED;
    const uint8_t *first_push = info + 4 + 2 * (count - 1);
    if (first_push[0] != 2 || first_push[1] != (REGISTER_FP << 4 | OP_PUSH_NONVOL))
        return CAP_NOT_REDIRECTED;
    return base_va + function->EndAddress - pc_va <= LAST_CALL_BYTES ? CAP_REDIRECT_KNOWN
                                                                     : CAP_REDIRECT_UNKNOWN;
}

bool cap_crash_is_redirected(const CONTEXT *context)
{
    DWORD64 base = 0;
    if (cap_managed.method_count == 0 || !cap_crash_in_loaded_module(context->Rip))
        return false;
    const RUNTIME_FUNCTION *function = cap_crash_function_at(context->Rip, &base);
    return function != NULL &&
           cap_crash_redirect(base, function, context->Rip) == CAP_REDIRECT_UNKNOWN;
}

/* A call that never returns may be the last instruction of the function before: hence the
 * padding. */
bool cap_crash_is_hijacked(uint64_t return_va)
{
    DWORD64 base = 0;
    if (cap_managed.method_count == 0 || !cap_crash_in_loaded_module(return_va))
        return false;
    const RUNTIME_FUNCTION *function = cap_crash_function_at(return_va, &base);
    return function != NULL && base + function->BeginAddress == return_va &&
           ((const uint8_t *)(uintptr_t)return_va)[-1] == INT3;
}

/* ---- functions without unwind data ---- */

bool cap_crash_ends_at(uint64_t return_va)
{
    enum { RET = 0xC3 };
    const uint8_t code = *(const uint8_t *)(uintptr_t)return_va;
    return code == RET || code == INT3;
}

bool cap_crash_is_blind(uint64_t return_va)
{
    DWORD64 base = 0;
    const uint64_t lookup_va = return_va - 1;
    return cap_crash_function_at(lookup_va, &base) == NULL &&
           !(cap_crash_in_loaded_module(lookup_va) && cap_crash_ends_at(return_va));
}

/* ---- stack probes ---- */

enum { PROBE_BYTES_MOST = 50, PROBE_PUSHES_AT = 1, PROBE_POPS = 3 };

/* What mingw-w64's linkers put into a program: ___chkstk_ms, which pushes RCX and RAX, touches the
 * pages, and pops them.
 *
 * Sources: libgcc of gcc 12, and compiler-rt 19 */
static const struct {
    uint32_t bytes;
    uint8_t code[PROBE_BYTES_MOST];
} probes[] = {
    {50, {0x51, 0x50, 0x48, 0x3D, 0x00, 0x10, 0x00, 0x00, 0x48, 0x8D, 0x4C, 0x24, 0x18,
          0x72, 0x19, 0x48, 0x81, 0xE9, 0x00, 0x10, 0x00, 0x00, 0x48, 0x83, 0x09, 0x00,
          0x48, 0x2D, 0x00, 0x10, 0x00, 0x00, 0x48, 0x3D, 0x00, 0x10, 0x00, 0x00, 0x77,
          0xE7, 0x48, 0x29, 0xC1, 0x48, 0x83, 0x09, 0x00, 0x58, 0x59, 0xC3}},
    {48, {0x51, 0x50, 0x48, 0x3D, 0x00, 0x10, 0x00, 0x00, 0x48, 0x8D, 0x4C, 0x24,
          0x18, 0x72, 0x18, 0x48, 0x81, 0xE9, 0x00, 0x10, 0x00, 0x00, 0x48, 0x85,
          0x09, 0x48, 0x2D, 0x00, 0x10, 0x00, 0x00, 0x48, 0x3D, 0x00, 0x10, 0x00,
          0x00, 0x77, 0xE8, 0x48, 0x29, 0xC1, 0x48, 0x85, 0x09, 0x58, 0x59, 0xC3}},
};

static bool is_code(uint64_t va, const uint8_t *code, uint32_t bytes)
{
    if (!cap_crash_in_loaded_module(va) || !cap_crash_in_loaded_module(va + bytes - 1))
        return false;
    for (uint32_t i = 0; i < bytes; i++)
        if (((const uint8_t *)(uintptr_t)va)[i] != code[i])
            return false;
    return true;
}

/* How many bytes the probe at PC_VA has pushed; -1: there is none. */
static int pushed_at(uint64_t pc_va)
{
    for (size_t p = 0; p < sizeof probes / sizeof probes[0]; p++) {
        const uint32_t bytes = probes[p].bytes;
        for (uint32_t at = 0; at < bytes; at++)
            if (*(const uint8_t *)(uintptr_t)pc_va == probes[p].code[at] &&
                is_code(pc_va - at, probes[p].code, bytes))
                return at <= PROBE_PUSHES_AT      ? (int)at * 8
                       : at <= bytes - PROBE_POPS ? 16
                                                  : (int)(bytes - 1 - at) * 8;
    }
    return -1;
}

bool cap_crash_leave_probe(CONTEXT *context, struct cap_bounds bounds)
{
    const int pushed = pushed_at(context->Rip);
    const uint64_t return_va = context->Rsp + (uint64_t)pushed;
    if (pushed < 0 || !cap_crash_within(bounds, return_va) || return_va + 8 > bounds.high_va)
        return false;
    context->Rip = *(const uint64_t *)(uintptr_t)return_va;
    context->Rsp = return_va + 8;
    return true;
}

/* ---- epilogues ---- */

/* The first entry of the function that ENTRY is a part of: the end of its chain. */
static DWORD first_of_chain(uint64_t base_va, const RUNTIME_FUNCTION *entry)
{
    for (uint32_t i = 0; i < CHAIN_LIMIT; i++) {
        const uint8_t *info = (const uint8_t *)(uintptr_t)(base_va + (entry->UnwindData & ~1u));
        if ((info[0] >> 3 & UNW_FLAG_CHAININFO) == 0)
            break;
        /* after the codes, of which there is an even number */
        entry = (const RUNTIME_FUNCTION *)(const void *)(info + 4 + 2 * ((info[2] + 1u) & ~1u));
    }
    return entry->BeginAddress;
}

/* Whether a jump to TARGET_VA leaves FUNCTION with all its parts. A jump to the first byte is a
 * call of itself. */
static bool jump_leaves(uint64_t base_va, const RUNTIME_FUNCTION *function, uint64_t target_va)
{
    DWORD64 base = 0;
    const DWORD first = first_of_chain(base_va, function);
    if (target_va == base_va + first)
        return true;
    if (target_va >= base_va + function->BeginAddress && target_va < base_va + function->EndAddress)
        return false;
    const RUNTIME_FUNCTION *to = cap_crash_function_at(target_va, &base);
    return to == NULL || base + first_of_chain(base, to) != base_va + first;
}

bool cap_crash_leave_by_jump(CONTEXT *context, uint64_t base_va, const RUNTIME_FUNCTION *function,
                             struct cap_bounds bounds)
{
    struct cap_epilogue at = {.low_va = bounds.low_va, .high_va = bounds.high_va};
    for (int i = 0; i < CAP_REGISTERS; i++)
        at.r[i] = (&context->Rax)[i];
    const enum cap_jump jump =
        cap_crash_follow_epilogue((const uint8_t *)(uintptr_t)context->Rip, &at);
    if (jump == CAP_JUMP_NONE ||
        (jump == CAP_JUMP_DIRECT && !jump_leaves(base_va, function, (uintptr_t)at.target)))
        return false;
    for (int i = 0; i < CAP_REGISTERS; i++)
        (&context->Rax)[i] = at.r[i];
    context->Rip = *(const uint64_t *)(uintptr_t)context->Rsp;
    context->Rsp += 8;
    return true;
}

#else

bool cap_crash_is_redirected(const CONTEXT *context)
{
    (void)context;
    return false;
}

#endif
