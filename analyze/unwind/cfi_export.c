/* See cfi_export.h. The x64 unwind codes describe each instruction of the prologue. Read backwards,
 * they give the location of the caller's frame and registers after each instruction. */
#include "unwind/cfi_export.h"
#include "unwind/dead_process.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "unwind/x64_info_v3.h"

enum { RUNTIME_FUNCTION_BYTES = 12, RETURN_ADDRESS_BYTES = 8, RSP = 4, REGISTERS = 16 };

static const char *const register_names[REGISTERS] = {
    "$rax", "$rcx", "$rdx", "$rbx", "$rsp", "$rbp", "$rsi", "$rdi",
    "$r8",  "$r9",  "$r10", "$r11", "$r12", "$r13", "$r14", "$r15",
};

/* The state at one point of a prologue. The CFA is the value of rsp before the call. */
struct cfi_state {
    uint32_t depth;        /* CFA - rsp                            */
    uint8_t cfa_register;  /* RSP until a frame register is set    */
    uint32_t cfa_distance; /* CFA - that register                  */
    uint32_t base_depth;   /* CFA - the address that saves count from */
    bool is_saved[REGISTERS];
    int32_t
        saved[REGISTERS]; /* CFA - the register's slot; not above 0: in the caller's home area */
};

static bool read_image(void *self, uint64_t va, void *out, size_t bytes)
{
    const uint8_t *at =
        va <= UINT32_MAX && bytes <= UINT32_MAX ? pe_at(self, (uint32_t)va, (uint32_t)bytes) : NULL;
    if (at != NULL)
        memcpy(out, at, bytes);
    return at != NULL;
}

/* The total allocation of the codes: save offsets count from the stack pointer after the
 * prologue. */
static uint32_t allocated(const struct x64_info *info)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < info->code_count; i++) {
        const uint8_t op = info->codes[i].op;
        if (op == X64_PUSH_NONVOL)
            sum += 8;
        else if (op == X64_ALLOC_LARGE || op == X64_ALLOC_SMALL)
            sum += info->codes[i].bytes;
    }
    return sum;
}

static void save(struct cfi_state *state, uint8_t reg, uint32_t distance)
{
    if (reg >= REGISTERS)
        return;
    state->is_saved[reg] = true;
    state->saved[reg] = (int32_t)distance;
}

static void apply(struct cfi_state *state, const struct x64_info *info, const struct x64_code *code)
{
    switch (code->op) {
    case X64_PUSH_NONVOL:
        state->depth += 8;
        save(state, code->info, state->depth);
        break;
    case X64_ALLOC_LARGE:
    case X64_ALLOC_SMALL:
        state->depth += code->bytes;
        break;
    case X64_SET_FPREG:
        state->cfa_register = info->frame_register;
        state->cfa_distance = state->depth - info->frame_offset;
        state->base_depth = state->depth;
        break;
    case X64_SAVE_NONVOL:
    case X64_SAVE_NONVOL_FAR:
        save(state, code->info, state->base_depth - code->bytes);
        break;
    default: /* these records do not describe vector registers */
        break;
    }
    if (state->cfa_register == RSP)
        state->cfa_distance = state->depth;
}

/* True for a machine frame, and where version 3 does not say what a save counts from. Its
 * instructions count as run from the byte after their first one on: no pc is between that and the
 * next instruction. */
static bool is_left_out(const struct x64_info *info)
{
    if (info->version == 3 && !x64_saves_are_certain(info->codes, info->code_count))
        return true;
    for (uint32_t i = 0; i < info->code_count; i++)
        if (info->codes[i].op == X64_PUSH_MACHFRAME)
            return true;
    return false;
}

static void print_rules(const struct cfi_state *state, FILE *out)
{
    (void)fprintf(out, " .cfa: %s %" PRIu32 " +", register_names[state->cfa_register],
                  state->cfa_distance);
}

static void print_saved(const struct cfi_state *now, const struct cfi_state *before, FILE *out)
{
    for (uint32_t i = 0; i < REGISTERS; i++)
        if (now->is_saved[i] && (!before->is_saved[i] || now->saved[i] != before->saved[i]))
            (void)fprintf(out, " %s: .cfa %" PRIdMAX " %c ^", register_names[i],
                          imaxabs(now->saved[i]), now->saved[i] > 0 ? '-' : '+');
}

/* The state after the prologues of all entries that ENTRY's info is chained to. False:
 * unreadable. */
static bool state_before(const struct unwind_process *process, struct x64_info *info,
                         struct cfi_state *state)
{
    struct x64_info parents[LIMIT_UNWIND_CHAIN];
    uint32_t count = 0;
    const struct x64_info *child = info;
    while ((child->flags & X64_CHAINED) != 0) {
        if (count == LIMIT_UNWIND_CHAIN ||
            x64_info_read(process, 0, child->chained.unwind_rva, &parents[count]) != STOP_NONE ||
            is_left_out(&parents[count]))
            return false;
        child = &parents[count++];
    }
    while (count-- > 0) {
        if (state->cfa_register == RSP)
            state->base_depth = state->depth + allocated(&parents[count]);
        for (uint32_t i = parents[count].code_count; i-- > 0;)
            apply(state, &parents[count], &parents[count].codes[i]);
    }
    return true;
}

static bool same_rules(const struct cfi_state *a, const struct cfi_state *b)
{
    return a->cfa_register == b->cfa_register && a->cfa_distance == b->cfa_distance &&
           memcmp(a->saved, b->saved, sizeof a->saved) == 0 &&
           memcmp(a->is_saved, b->is_saved, sizeof a->is_saved) == 0;
}

static bool export_function(const struct unwind_process *process, const uint8_t *row, FILE *out)
{
    static const struct cfi_state none = {0};
    const uint32_t begin = load_u32(row), end = load_u32(row + 4);
    struct cfi_state state = {
        .depth = RETURN_ADDRESS_BYTES, .cfa_register = RSP, .cfa_distance = RETURN_ADDRESS_BYTES};
    struct x64_info info;

    if (end <= begin || x64_info_read(process, 0, load_u32(row + 8), &info) != STOP_NONE ||
        is_left_out(&info) || !state_before(process, &info, &state))
        return false;
    if (state.cfa_register == RSP)
        state.base_depth = state.depth + allocated(&info);
    (void)fprintf(out, "STACK CFI INIT %" PRIx32 " %" PRIx32, begin, end - begin);
    print_rules(&state, out);
    (void)fputs(" .ra: .cfa 8 - ^", out);
    print_saved(&state, &none, out);
    (void)fputc('\n', out);
    for (uint32_t i = info.code_count; i-- > 0;) {
        const struct cfi_state before = state;
        const uint32_t at = begin + info.codes[i].prologue_offset;
        apply(&state, &info, &info.codes[i]);
        if (same_rules(&before, &state) || at >= end)
            continue;
        (void)fprintf(out, "STACK CFI %" PRIx32, at);
        print_rules(&state, out);
        print_saved(&state, &before, out);
        (void)fputc('\n', out);
    }
    return true;
}

uint32_t unwind_export_cfi(const struct pe *pe, FILE *out)
{
    /* the callback only reads; the cast is needed because unwinders take a struct without const */
    union {
        const struct pe *pe;
        void *self;
    } image = {pe};
    const struct unwind_process process = {.self = image.self, .read = read_image};
    const struct pe_directory *table = &pe->directories[PE_DIR_EXCEPTION];
    const uint32_t rows = table->bytes / RUNTIME_FUNCTION_BYTES;
    uint32_t count = 0;

    if (pe->machine == PE_MACHINE_ARM64)
        return unwind_export_arm64(&process, pe, out);
    if (pe->machine != PE_MACHINE_X64)
        return 0;
    for (uint32_t i = 0; i < rows; i++) {
        const uint8_t *row =
            pe_at(pe, table->rva + i * RUNTIME_FUNCTION_BYTES, RUNTIME_FUNCTION_BYTES);
        if (row == NULL)
            break;
        count += export_function(&process, row, out);
    }
    return count;
}
