/* See evidence.h. */
#include "code/evidence.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { BYTES_UNALIGNED = 16 };

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Appends the bytes of HEX, which may come from a database that someone sent: what is no digit ends
 * it. */
static void append(uint8_t *to, uint32_t *count, const char *hex)
{
    for (; hex != NULL && hex[0] != 0; hex += 2) {
        const int high = digit_of(hex[0]), low = digit_of(hex[1]);
        if (high < 0 || low < 0)
            return;
        to[(*count)++] = (uint8_t)(high << 4 | low);
    }
}

/* False: out of memory. The pc is after the bytes of CODE_BEFORE. */
static bool bytes_of(enum cpu cpu, const struct frame_evidence *e, struct arena *keep,
                     struct code_bytes *out)
{
    const size_t before = e->code_before != NULL ? strlen(e->code_before) : 0;
    const size_t after = e->code_after != NULL ? strlen(e->code_after) : 0;
    uint8_t *bytes = arena_alloc(keep, (before + after) / 2 + 1);
    *out = (struct code_bytes){.cpu = cpu, .bytes = bytes};
    if (bytes == NULL)
        return false;
    append(bytes, &out->count, e->code_before);
    out->pc = out->count;
    append(bytes, &out->count, e->code_after);
    return true;
}

/* Frames of a recursion have the same bytes. */
static bool is_same_code(const struct frame_evidence *a, const struct frame_evidence *b)
{
    return a->code_aligned && b->code_aligned && text_equal(a->code_before, b->code_before) &&
           text_equal(a->code_after, b->code_after);
}

enum status evidence_cut_code(enum cpu cpu, struct stack *stack, struct arena *keep,
                              struct fault *fault)
{
    struct arena scratch;
    if (stack->evidence_count == 0)
        return ERR_NONE;
    struct frame_evidence *rows = ARENA_ARRAY(keep, stack->evidence_count, struct frame_evidence);
    if (rows == NULL)
        return fault_no_memory(fault, "code");
    arena_init(&scratch, 0);
    for (uint32_t i = 0; i < stack->evidence_count && fault->code == ERR_NONE; i++) {
        struct frame_evidence *e = &rows[i];
        struct code_bytes code;
        uint32_t start = 0;
        *e = stack->evidence[i];
        if (!e->code_aligned)
            continue;
        if (i > 0 && is_same_code(&stack->evidence[i - 1], &stack->evidence[i])) {
            e->code_aligned = e[-1].code_aligned;
            e->code_before = e[-1].code_before;
            continue;
        }
        if (!bytes_of(cpu, e, &scratch, &code))
            (void)fault_no_memory(fault, "code");
        else if (!code_align(&code, &start)) {
            e->code_aligned = false;
            start = code.pc > BYTES_UNALIGNED ? code.pc - BYTES_UNALIGNED : 0;
        }
        if (e->code_before != NULL)
            e->code_before = start < code.pc ? e->code_before + (size_t)2 * start : NULL;
        arena_reset(&scratch);
    }
    arena_free(&scratch);
    stack->evidence = rows;
    return fault->code;
}

enum status evidence_list_code(enum cpu cpu, const struct frame_evidence *evidence, uint64_t offset,
                               enum pc_kind kind, struct arena *keep, struct code_listing *out,
                               struct fault *fault)
{
    struct code_bytes code;
    *out = (struct code_listing){0};
    if (!evidence->code_aligned)
        return ERR_NONE;
    if (!bytes_of(cpu, evidence, keep, &code))
        return fault_no_memory(fault, "code");
    code.at = offset - code.pc;
    code.kind = kind;
    return code_list(&code, keep, out, fault);
}

void code_listing_write(const struct code_listing *listing, struct json *j)
{
    if (listing->count == 0) {
        json_null(j);
        return;
    }
    json_object(j);
    json_key_string(j, "note", listing->note);
    json_key_array(j, "lines");
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct code_line *line = &listing->lines[i];
        char hex[3 * 16 + 1] = "";
        for (uint32_t k = 0; k < line->count && k < 16; k++)
            (void)snprintf(hex + (size_t)3 * k, 4, "%02x ", line->bytes[k]);
        hex[line->count > 0 && line->count <= 16 ? 3 * line->count - 1 : 0] = 0;
        json_object(j);
        json_key_hex(j, "at", line->at);
        json_key_string(j, "bytes", hex);
        json_key_string(j, "text", line->text);
        json_key_string(j, "mark", code_mark_name(line->mark));
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}
