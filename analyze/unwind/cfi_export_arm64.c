/* STACK CFI records of an arm64 image; see cfi_export.h. Each unwind code is one instruction of the
 * prologue, the last one first. */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "unwind/arm64_info.h"
#include "unwind/cfi_export.h"
#include "unwind/dead_process.h"

enum { ROW_BYTES = 8, REGISTERS = 31, FP = 29, LR = 30, SP = 31 };

/* The state at one point of a prologue. The CFA is the value of sp before the call. */
struct arm64_state {
    uint32_t depth;                   /* CFA - sp */
    uint32_t cfa_register;            /* SP until the frame pointer is set */
    uint32_t cfa_distance;            /* CFA - that register */
    uint32_t saved[REGISTERS];        /* CFA - the register's slot; 0: not saved */
    uint32_t next_reg, next_distance; /* of the pair that a save_next code would save */
};

static void save(struct arm64_state *state, uint32_t reg, uint32_t distance)
{
    if (reg < REGISTERS && distance != 0)
        state->saved[reg] = distance;
}

static void apply_save(struct arm64_state *state, const struct arm64_code *code)
{
    if (code->writeback)
        state->depth += code->bytes;
    const uint32_t distance = state->depth - (code->writeback ? 0 : code->bytes);
    if (code->op == ARM64_SAVE_REGP || code->op == ARM64_SAVE_REG || code->op == ARM64_SAVE_LRPAIR)
        save(state, code->reg, distance);
    if (code->op == ARM64_SAVE_REGP)
        save(state, code->reg + 1u, distance - 8);
    if (code->op == ARM64_SAVE_LRPAIR)
        save(state, LR, distance - 8);
    state->next_reg = code->op == ARM64_SAVE_REGP ? code->reg + 2u : REGISTERS;
    state->next_distance = distance - 16;
}

/* False: an instruction whose effect these records cannot describe. */
static bool apply(struct arm64_state *state, const struct arm64_code *code)
{
    switch (code->op) {
    case ARM64_ALLOC:
        state->depth += code->bytes;
        break;
    case ARM64_SET_FP:
    case ARM64_ADD_FP:
        state->cfa_register = FP;
        state->cfa_distance = state->depth - (code->op == ARM64_ADD_FP ? code->bytes : 0);
        break;
    case ARM64_SAVE_NEXT:
        save(state, state->next_reg, state->next_distance);
        save(state, state->next_reg + 1, state->next_distance - 8);
        state->next_reg += 2;
        state->next_distance -= 16;
        break;
    case ARM64_TRAP_FRAME:
    case ARM64_MACHINE_FRAME:
    case ARM64_CONTEXT:
    case ARM64_EC_CONTEXT:
    case ARM64_CLEAR_UNWOUND_TO_CALL:
    case ARM64_RESERVED:
        return false;
    case ARM64_NOP:
    case ARM64_END:
    case ARM64_END_C:
    case ARM64_SIGN_LR:
        break;
    default:
        apply_save(state, code);
    }
    if (state->cfa_register == SP)
        state->cfa_distance = state->depth;
    return true;
}

static void print_rules(const struct arm64_state *now, const struct arm64_state *before, FILE *out)
{
    if (before == NULL || now->cfa_register != before->cfa_register ||
        now->cfa_distance != before->cfa_distance)
        (void)fprintf(out, " .cfa: %s %" PRIu32 " +", now->cfa_register == SP ? "sp" : "x29",
                      now->cfa_distance);
    if (now->saved[LR] != 0 && (before == NULL || before->saved[LR] != now->saved[LR]))
        (void)fprintf(out, " .ra: .cfa %" PRIu32 " - ^", now->saved[LR]);
    else if (before == NULL)
        (void)fputs(" .ra: x30", out);
    for (uint32_t i = 0; i < LR; i++)
        if (now->saved[i] != 0 && (before == NULL || now->saved[i] != before->saved[i]))
            (void)fprintf(out, " x%" PRIu32 ": .cfa %" PRIu32 " - ^", i, now->saved[i]);
}

static bool same_rules(const struct arm64_state *a, const struct arm64_state *b)
{
    return a->cfa_register == b->cfa_register && a->cfa_distance == b->cfa_distance &&
           memcmp(a->saved, b->saved, sizeof a->saved) == 0;
}

/* CODES up to END; *BEFORE: how many of them ran in another part of the function, before this one
 * starts. 0: unreadable. */
static uint32_t read_codes(const struct unwind_process *process, const struct arm64_info *info,
                           struct arm64_code codes[ARM64_CODES_MAX], uint32_t *before)
{
    uint32_t count = 0, own = 0;
    if (info->form == ARM64_XDATA)
        (void)arm64_codes_read(process, info, 0, codes, ARM64_CODES_MAX, &count);
    else
        count = arm64_packed_expand(&info->packed, codes, ARM64_CODES_MAX);
    while (own < count && codes[own].op != ARM64_END && codes[own].op != ARM64_END_C)
        own++;
    *before = count - own;
    if (info->form == ARM64_PACKED_FRAGMENT)
        *before = count;
    return count;
}

static bool export_function(const struct unwind_process *process, const uint8_t *row, FILE *out)
{
    struct arm64_code codes[ARM64_CODES_MAX];
    struct arm64_state state = {.cfa_register = SP, .next_reg = REGISTERS}, now;
    struct arm64_info info;
    uint32_t before;
    const uint32_t begin = load_u32(row);
    if (arm64_info_read(process, 0, load_u32(row + 4), &info) != STOP_NONE ||
        info.function_bytes == 0 || info.function_bytes > UINT32_MAX - begin)
        return false;
    const uint32_t count = read_codes(process, &info, codes, &before);
    now = state;
    for (uint32_t i = count; i-- > 0;)
        if (!apply(&now, &codes[i])) /* checked before anything is written */
            return false;
    for (uint32_t i = count; i-- > count - before;)
        (void)apply(&state, &codes[i]);
    (void)fprintf(out, "STACK CFI INIT %" PRIx32 " %" PRIx32, begin, info.function_bytes);
    print_rules(&state, NULL, out);
    (void)fputc('\n', out);
    for (uint32_t i = count - before, at = begin + 4; i-- > 0; at += 4) {
        now = state;
        (void)apply(&now, &codes[i]);
        if (!same_rules(&now, &state) && at - begin < info.function_bytes) {
            (void)fprintf(out, "STACK CFI %" PRIx32, at);
            print_rules(&now, &state, out);
            (void)fputc('\n', out);
        }
        state = now;
    }
    return count > 0;
}

uint32_t unwind_export_arm64(const struct unwind_process *process, const struct pe *pe, FILE *out)
{
    const struct pe_directory *table = &pe->directories[PE_DIR_EXCEPTION];
    uint32_t written = 0;
    for (uint32_t i = 0; i < table->bytes / ROW_BYTES; i++) {
        const uint8_t *row = pe_at(pe, table->rva + i * ROW_BYTES, ROW_BYTES);
        if (row == NULL)
            break;
        written += export_function(process, row, out);
    }
    return written;
}
