/* The text that `resolve` prints: ` 0  app.exe!0x1537  pdb        f  a.c:12`. Each frame states
 * module and offset, so it is a frame of offsets again; names and inlined calls are those of
 * symbols that may be others today, and are left out. */
#include <string.h>

#include "stacks/notation.h"

/* The source of a name at the start of TEXT, which is moved after it. SYMBOLS_COUNT: none. */
static enum symbols_from take_source(struct pattern_text *text)
{
    struct pattern_text rest = *text;
    const struct pattern_text word = pattern_next_word(&rest);
    for (uint32_t i = 0; i < SYMBOLS_COUNT; i++) {
        const char *name = symbols_from_name((enum symbols_from)i);
        if (pattern_length(word) != strlen(name) || !pattern_starts(word, name))
            continue;
        pattern_skip_blanks(&rest);
        *text = rest;
        return (enum symbols_from)i;
    }
    return SYMBOLS_COUNT;
}

static bool set_generated(struct stack_input *input, struct pattern_text name, struct frame *out)
{
    const char *plus = pattern_find_last(name, "+0x");
    out->function =
        spelled_keep(input, (struct pattern_text){name.at, plus != NULL ? plus : name.end});
    out->module_name = "jit";
    out->symbols = SYMBOLS_JIT;
    out->frame_class = CLASS_GENERATED;
    out->symbol_distance = out->offset;
    return out->function != NULL;
}

static bool read_frame(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    enum { TABLE_METHOD_DEF = 6 };
    struct pattern_match found;
    const bool is_managed = pattern_matches("%n %m!0x%a+0x%o %f", r, &found);
    if (!is_managed && !pattern_matches("%n %m!0x%o %f", r, &found))
        return false;
    const enum symbols_from from = take_source(&found.function);
    if (from == SYMBOLS_COUNT || (is_managed && found.address >> 24 != TABLE_METHOD_DEF))
        return false;
    out->method_token = is_managed ? (uint32_t)found.address : 0;
    out->offset = found.offset;
    if (from == SYMBOLS_JIT)
        return set_generated(input, found.function, out);
    if (pattern_length(found.module) == 1 && *found.module.at == '?') {
        spelled_at(found.offset, out);
        return true;
    }
    return spelled_offset(input, found.module, found.offset, out);
}

static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    struct pattern_match found;
    if (*r.at >= '0' && *r.at <= '9' && read_frame(input, r, out)) {
        input->block = BLOCK_RESOLVED;
        return LINE_FRAME;
    }
    if (input->block != BLOCK_RESOLVED)
        return LINE_UNKNOWN;
    if (pattern_matches("%n frames left out", r, &found)) {
        input->builder.left_out += found.number;
        return LINE_NO_FRAME;
    }
    const bool is_note =
        pattern_matches("(stopped in a function without unwind data: %*)", r, &found);
    return is_note || take_source(&r) != SYMBOLS_COUNT ? LINE_NO_FRAME : LINE_UNKNOWN;
}

const struct notation notation_resolved = {.name = "text of `resolve`", .line = read_line};
