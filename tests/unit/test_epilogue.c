/* The capture's own reading of x64 epilogues that end with a jump. */
#include "capture/epilogue.h"

#include <string.h>

#include "base/array.h"
#include "test.h"

enum { CODE_BYTES = 16, SLOTS = 8, RBX = 3, RBP = 5, R12 = 12 };

/* A stack of eight words, each of which holds its index plus 100. */
TEST(an_epilogue_is_followed_to_its_jump)
{
    static const struct {
        const char *name;
        uint8_t code[CODE_BYTES];
        enum cap_jump want;
        int slot;   /* of the return address                        */
        int target; /* of a direct jump, from the first byte of CODE */
    } rows[] = {
        {"direct jump alone", {0xE9, 0xE7, 0x1B, 0, 0}, CAP_JUMP_DIRECT, 0, 0x1BEC},
        {"direct jump back", {0xE9, 0xF6, 0xFF, 0xFF, 0xFF}, CAP_JUMP_DIRECT, 0, -5},
        {"short jump", {0xEB, 0x10}, CAP_JUMP_DIRECT, 0, 0x12},
        {"short jump back", {0xEB, 0xF0}, CAP_JUMP_DIRECT, 0, -14},
        {"add, direct jump", {0x48, 0x83, 0xC4, 0x10, 0xE9, 1, 0, 0, 0}, CAP_JUMP_DIRECT, 2, 10},
        {"add of 32 bits, pop, jump",
         {0x48, 0x81, 0xC4, 0x10, 0, 0, 0, 0x5B, 0xE9, 0, 0, 0, 0},
         CAP_JUMP_DIRECT,
         3,
         13},
        {"pops of old and new registers", {0x41, 0x5C, 0x5B, 0xEB, 0}, CAP_JUMP_DIRECT, 2, 5},
        {"jump through memory", {0x5B, 0xFF, 0x25, 0, 0, 0, 0}, CAP_JUMP_OUT, 1, 0},
        {"jump through a register with REX.W", {0x48, 0xFF, 0xE0}, CAP_JUMP_OUT, 0, 0},
        {"jump through a register without", {0xFF, 0xE0}, CAP_JUMP_NONE, 0, 0},
        {"return, which the system knows", {0x48, 0x83, 0xC4, 0x10, 0xC3}, CAP_JUMP_NONE, 0, 0},
        {"pop of the stack pointer", {0x5C, 0xEB, 0}, CAP_JUMP_NONE, 0, 0},
        {"body", {0x90, 0xEB, 0}, CAP_JUMP_NONE, 0, 0},
        {"more than the stack has", {0x48, 0x83, 0xC4, 0x40, 0xEB, 0}, CAP_JUMP_NONE, 0, 0},
        {"below the stack", {0x48, 0x83, 0xC4, 0xF0, 0xEB, 0}, CAP_JUMP_NONE, 0, 0},
        {"last word of the stack", {0x48, 0x83, 0xC4, 0x38, 0xEB, 0}, CAP_JUMP_DIRECT, 7, 6},
        {"between two words", {0x48, 0x83, 0xC4, 0x3C, 0xEB, 0}, CAP_JUMP_NONE, 0, 0},
    };
    uint64_t stack[SLOTS];
    for (uint32_t i = 0; i < SLOTS; i++)
        stack[i] = 100 + i;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        struct cap_epilogue at = {.low_va = (uintptr_t)stack,
                                  .high_va = (uintptr_t)(stack + SLOTS)};
        at.r[CAP_REGISTER_SP] = (uintptr_t)stack;
        CHECK_EQ(cap_crash_follow_epilogue(rows[i].code, &at), rows[i].want);
        if (rows[i].want != CAP_JUMP_NONE)
            CHECK_EQ(*(const uint64_t *)(uintptr_t)at.r[CAP_REGISTER_SP], 100 + rows[i].slot);
        if (rows[i].want == CAP_JUMP_DIRECT)
            CHECK_EQ(at.target - rows[i].code, rows[i].target);
    }
}

TEST(popped_registers_have_their_values)
{
    static const uint8_t code[CODE_BYTES] = {0x41, 0x5C, 0x5B, 0x5D, 0xEB, 0};
    const uint64_t stack[SLOTS] = {12, 3, 5, 77};
    struct cap_epilogue at = {.low_va = (uintptr_t)stack, .high_va = (uintptr_t)(stack + SLOTS)};
    at.r[CAP_REGISTER_SP] = (uintptr_t)stack;
    CHECK_EQ(cap_crash_follow_epilogue(code, &at), CAP_JUMP_DIRECT);
    CHECK(at.r[R12] == 12 && at.r[RBX] == 3 && at.r[RBP] == 5);
}

TEST(a_frame_register_gives_the_stack_pointer)
{
    static const uint8_t code[CODE_BYTES] = {0x48, 0x8D, 0x65,
                                             0x08, 0xEB, 0}; /* lea rsp, [rbp+8] */
    const uint64_t stack[SLOTS] = {0};
    struct cap_epilogue at = {.low_va = (uintptr_t)stack, .high_va = (uintptr_t)(stack + SLOTS)};
    at.r[CAP_REGISTER_SP] = (uintptr_t)stack;
    at.r[RBP] = (uintptr_t)(stack + 2);
    CHECK_EQ(cap_crash_follow_epilogue(code, &at), CAP_JUMP_DIRECT);
    CHECK_EQ(at.r[CAP_REGISTER_SP], (uintptr_t)(stack + 3));
}

/* Sixteen registers are all that can be popped: no run of pops is endless. */
TEST(pops_without_end_are_no_epilogue)
{
    uint8_t code[64];
    uint64_t stack[64] = {0};
    struct cap_epilogue at = {.low_va = (uintptr_t)stack, .high_va = (uintptr_t)(stack + 64)};
    at.r[CAP_REGISTER_SP] = (uintptr_t)stack;
    memset(code, 0x5B, sizeof code);
    CHECK_EQ(cap_crash_follow_epilogue(code, &at), CAP_JUMP_NONE);
}
