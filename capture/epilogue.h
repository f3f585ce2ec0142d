/* x64 epilogues that end with a jump, by their code bytes.  Freestanding, so that tests on any
 * system reach it.
 *
 *     [add rsp, n | lea rsp, [reg + n]]   pop reg ...   jmp
 *
 * Wine's RtlVirtualUnwind takes such an epilogue for the function's body and releases its frame
 * once more.  A jump through a register ends an epilogue only with a REX.W prefix, which compilers
 * set for this purpose; a direct jump only if it leaves the function, which the caller has to find
 * out.
 * Source: https://learn.microsoft.com/cpp/build/prolog-and-epilog */
#ifndef CAPTURE_EPILOGUE_H
#define CAPTURE_EPILOGUE_H

#include <stdbool.h>
#include <stdint.h>

enum { CAP_EPILOGUE_POPS = 16, CAP_REGISTERS = 16, CAP_REGISTER_SP = 4 };

enum cap_jump { CAP_JUMP_NONE, CAP_JUMP_OUT, CAP_JUMP_DIRECT };

struct cap_epilogue {
    uint64_t r[CAP_REGISTERS]; /* in: at CODE; out: at the jump. As x64 numbers them */
    uint64_t low_va, high_va;  /* of the stack, which can be read                    */
    const uint8_t *target;     /* out, of a direct jump                              */
};

static inline int32_t cap_crash_signed(const uint8_t *at, bool is_byte)
{
    if (is_byte)
        return (int8_t)at[0];
    return (int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
                     (uint32_t)at[3] << 24);
}

/* ADD RSP, or LEA RSP of a register and a displacement. Returns its length; 0: neither. */
static inline uint32_t cap_crash_take_release(const uint8_t *code, uint64_t r[CAP_REGISTERS])
{
    if (code[0] == 0x48 && (code[1] == 0x83 || code[1] == 0x81) && code[2] == 0xC4) {
        r[CAP_REGISTER_SP] += (uint64_t)(int64_t)cap_crash_signed(code + 3, code[1] == 0x83);
        return code[1] == 0x83 ? 4 : 7;
    }
    if ((code[0] & 0xFE) == 0x48 && code[1] == 0x8D && (code[2] >> 3 & 7) == CAP_REGISTER_SP &&
        (code[2] >> 6 == 1 || code[2] >> 6 == 2) && (code[2] & 7) != CAP_REGISTER_SP) {
        const uint32_t mode = code[2] >> 6u, base = (code[2] & 7u) + (code[0] & 1u) * 8u;
        r[CAP_REGISTER_SP] = r[base] + (uint64_t)(int64_t)cap_crash_signed(code + 3, mode == 1);
        return mode == 1 ? 4 : 7;
    }
    return 0;
}

static inline enum cap_jump cap_crash_jump_at(const uint8_t *code, const uint8_t **target)
{
    if (code[0] == 0xE9 || code[0] == 0xEB) {
        const bool is_byte = code[0] == 0xEB;
        *target = code + (is_byte ? 2 : 5) + cap_crash_signed(code + 1, is_byte);
        return CAP_JUMP_DIRECT;
    }
    if (code[0] == 0xFF)
        return code[1] == 0x25 ? CAP_JUMP_OUT : CAP_JUMP_NONE;
    return (code[0] & 0xF8) == 0x48 && code[1] == 0xFF && (code[2] & 0x38) == 0x20 ? CAP_JUMP_OUT
                                                                                   : CAP_JUMP_NONE;
}

/* Follows the epilogue at CODE up to its jump, where the return address is on top of the stack.
 * CAP_JUMP_NONE: CODE is no such epilogue, or the stack does not hold what it pops. */
static inline enum cap_jump cap_crash_follow_epilogue(const uint8_t *code,
                                                      struct cap_epilogue *state)
{
    code += cap_crash_take_release(code, state->r);
    for (uint32_t i = 0; i <= CAP_EPILOGUE_POPS; i++) {
        const uint64_t sp = state->r[CAP_REGISTER_SP];
        if (sp < state->low_va || sp >= state->high_va || state->high_va - sp < 8)
            return CAP_JUMP_NONE;
        const enum cap_jump jump = cap_crash_jump_at(code, &state->target);
        const uint32_t rex = (code[0] & 0xF8) == 0x40;
        if (jump != CAP_JUMP_NONE || (code[rex] & 0xF8) != 0x58)
            return jump;
        const uint32_t to = (code[rex] & 7u) + (rex != 0 && (code[0] & 1) != 0 ? 8u : 0u);
        if (to == CAP_REGISTER_SP)
            return CAP_JUMP_NONE;
        state->r[to] = *(const uint64_t *)(uintptr_t)sp;
        state->r[CAP_REGISTER_SP] += 8;
        code += rex + 1;
    }
    return CAP_JUMP_NONE;
}

#endif
