/* Places in code that unwind data does not describe: see cap.h.
 *
 * May call: RtlLookupFunctionEntry through cap_crash_function_at().  Reads code, and the stack
 * within the given limits. */
#include "capture/cap.h"

#if defined(_WIN64)

enum {
    OP_PUSH_NONVOL = 0,
    REGISTER_SP = 4,
    REGISTER_FP = 5,
    LAST_CALL_BYTES = 6, /* call rel32; int3 */
    EPILOGUE_POPS = 16,
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

/* ---- epilogues ---- */

static int32_t signed_at(const uint8_t *at, bool is_byte)
{
    int32_t value = 0;
    if (is_byte)
        return (int8_t)at[0];
    COPY_BYTES(&value, at, sizeof value);
    return value;
}

/* ADD RSP, or LEA RSP of a register and a displacement. Returns its length; 0: neither. */
static uint32_t take_release(const uint8_t *code, CONTEXT *context)
{
    if (code[0] == 0x48 && (code[1] == 0x83 || code[1] == 0x81) && code[2] == 0xC4) {
        context->Rsp += (uint64_t)(int64_t)signed_at(code + 3, code[1] == 0x83);
        return code[1] == 0x83 ? 4 : 7;
    }
    if ((code[0] & 0xFE) == 0x48 && code[1] == 0x8D && (code[2] >> 3 & 7) == REGISTER_SP &&
        (code[2] >> 6 == 1 || code[2] >> 6 == 2) && (code[2] & 7) != REGISTER_SP) {
        const DWORD64 *registers = &context->Rax;
        const uint32_t mod = code[2] >> 6, base = code[2] & 7;
        context->Rsp =
            registers[base + (code[0] & 1) * 8] + (uint64_t)(int64_t)signed_at(code + 3, mod == 1);
        return mod == 1 ? 4 : 7;
    }
    return 0;
}

static bool pop(struct cap_bounds bounds, CONTEXT *context, DWORD64 *out)
{
    if (!cap_crash_within(bounds, context->Rsp) || context->Rsp + 8 > bounds.high_va)
        return false;
    *out = *(const uint64_t *)(uintptr_t)context->Rsp;
    context->Rsp += 8;
    return true;
}

/* JMP through memory, or with REX.W in any form: the forms that leave a function. */
static bool is_tail_jump(const uint8_t *code)
{
    if (code[0] == 0xFF)
        return code[1] == 0x25;
    return (code[0] & 0xF8) == 0x48 && code[1] == 0xFF && (code[2] & 0x38) == 0x20;
}

bool cap_crash_leave_by_jump(CONTEXT *context, struct cap_bounds bounds)
{
    CONTEXT after = *context;
    const uint8_t *code = (const uint8_t *)(uintptr_t)context->Rip;
    code += take_release(code, &after);
    for (uint32_t i = 0; i < EPILOGUE_POPS && !is_tail_jump(code); i++) {
        const uint32_t rex = (code[0] & 0xF8) == 0x40;
        if ((code[rex] & 0xF8) != 0x58)
            return false;
        DWORD64 *to = &(&after.Rax)[(code[rex] & 7) + (rex && (code[0] & 1) != 0 ? 8 : 0)];
        if (to == &after.Rsp || !pop(bounds, &after, to))
            return false;
        code += rex + 1;
    }
    if (!is_tail_jump(code) || !pop(bounds, &after, &after.Rip))
        return false;
    *context = after;
    return true;
}

#else

bool cap_crash_is_redirected(const CONTEXT *context)
{
    (void)context;
    return false;
}

#endif
