/* Why the walker found each caller where it did: the entry of .pdata that it was given for a frame,
 * and how far the walk moved the stack pointer. Which part of a function the walker took itself to
 * be in is seen by the latter: where all that the prologue did was undone, it was the body; where
 * less was, it undid what was left of an epilogue. */
#include <stdio.h>
#include <string.h>

#include "victims/harness/judge/dbghelp_judge.h"

enum { HEAD_BYTES = 4, SLOT_BYTES = 2, CHAIN_MAX = 32, RETURN_BYTES = 8, CHAINED = 4 };
enum { OP_PUSH = 0, OP_ALLOC_LARGE = 1, OP_ALLOC_SMALL = 2, OP_SET_FRAME = 3, OP_SAVE = 4 };
enum { OP_SAVE_FAR = 5, OP_EPILOGUE = 6, OP_SPARE = 7, OP_XMM = 8, OP_XMM_FAR = 9 };

/* Adds to *TOTAL what the prologue takes of the stack. NEXT: the entry that the data is chained to;
 * all 0: none. False: the stack pointer does not show it (a frame register, an interrupt), or the
 * data cannot be read. */
static bool add_prologue(uint64_t va, judge_read_fn *read, uint64_t *total, uint32_t next[3])
{
    uint8_t head[HEAD_BYTES], slots[(256 + 1) * SLOT_BYTES];
    memset(next, 0, 3 * sizeof next[0]);
    if (!read(va, head, sizeof head))
        return false;
    const uint32_t count = head[2], stored = (count + 1) & ~1U, version = head[0] & 7;
    if (!read(va + HEAD_BYTES, slots, stored * SLOT_BYTES))
        return false;
    for (uint32_t i = 0; i < count;) {
        const uint8_t *slot = slots + (size_t)i * SLOT_BYTES;
        const uint8_t op = slot[1] & 15, info = slot[1] >> 4;
        uint16_t small = 0;
        uint32_t large = 0;
        if (i + 1 < count)
            memcpy(&small, slot + 2, sizeof small);
        if (i + 2 < count)
            memcpy(&large, slot + 2, sizeof large);
        switch (op) {
        case OP_PUSH:
            *total += RETURN_BYTES;
            i += 1;
            break;
        case OP_ALLOC_LARGE:
            *total += info == 0 ? small * 8U : large;
            i += info == 0 ? 2 : 3;
            break;
        case OP_ALLOC_SMALL:
            *total += info * 8U + 8;
            i += 1;
            break;
        case OP_SAVE:
        case OP_XMM:
            i += 2;
            break;
        case OP_SAVE_FAR:
        case OP_SPARE:
        case OP_XMM_FAR:
            i += 3;
            break;
        case OP_EPILOGUE:
            i += version >= 2 ? 1 : 2;
            break;
        case OP_SET_FRAME:
        default:
            return false;
        }
    }
    return (head[0] >> 3 & CHAINED) == 0 ||
           read(va + HEAD_BYTES + (uint64_t)stored * SLOT_BYTES, next, 3 * sizeof next[0]);
}

/* NULL: not known. */
static const char *where_of(const struct judge_step *step, uint64_t caller_sp_va,
                            judge_read_fn *read)
{
    uint8_t head[HEAD_BYTES];
    uint64_t total = RETURN_BYTES;
    uint32_t unwind_rva = step->unwind_rva, next[3];
    if (!read(step->base_va + unwind_rva, head, sizeof head))
        return NULL;
    if (step->pc_va - step->base_va - step->begin_rva < head[1])
        return "prologue";
    for (int i = 0; i < CHAIN_MAX && unwind_rva != 0; i++) {
        if (!add_prologue(step->base_va + unwind_rva, read, &total, next))
            return NULL;
        unwind_rva = next[2];
    }
    const uint64_t moved = caller_sp_va - step->sp_va;
    if (moved > total)
        return NULL;
    return moved == total ? "body" : "epilogue";
}

const char *judge_found_by(const struct judge_step *callee)
{
    if (callee == NULL)
        return "context";
    return callee->end_rva != 0 ? "unwind" : "leaf";
}

static void print_hex(const char *key, uint64_t value)
{
    printf(",\"%s\":\"0x%llx\"", key, (unsigned long long)value);
}

void judge_print_evidence(const struct judge_step *steps, uint32_t count, judge_read_fn *read)
{
    printf(",\"evidence\":[");
    for (uint32_t i = 0; i < count; i++) {
        const struct judge_step *step = &steps[i], *caller = i + 1 < count ? step + 1 : NULL;
        uint64_t slot_va = caller != NULL ? caller->sp_va - RETURN_BYTES : 0, kept = 0;
        printf("%s{\"index\":%u", i > 0 ? "," : "", (unsigned)i);
        print_hex("sp", step->sp_va);
        if (step->end_rva != 0) {
            print_hex("function_begin", step->begin_rva);
            print_hex("function_end", step->end_rva);
            print_hex("unwind_data", step->base_va + step->unwind_rva);
            judge_print_known("where", caller != NULL ? where_of(step, caller->sp_va, read) : NULL);
        }
        if (caller != NULL)
            print_hex("caller_sp", caller->sp_va);
        if (caller != NULL && read(slot_va, &kept, sizeof kept) && kept == caller->pc_va)
            print_hex("return_slot", slot_va);
        printf("}");
    }
    printf("]");
}
