/* Markup for LLVM's symbolizer, anywhere in a line:
 *
 *     {{{reset}}}
 *     {{{module:ID:NAME:elf:BUILD_ID}}}
 *     {{{mmap:ADDRESS:SIZE:load:ID:FLAGS:ADDRESS_IN_THE_FILE}}}
 *     {{{bt:INDEX:ADDRESS}}}, {{{bt:INDEX:ADDRESS:ra}}}, {{{bt:INDEX:ADDRESS:pc}}}
 *
 * An address in a stack is a return address unless it is called pc. A file that was linked to be
 * loaded where it is starts at its first segment.
 *
 * Facts: llvm.org/docs/SymbolizerMarkupFormat.html. */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "stacks/notation.h"

enum {
    MARKUP_FIELDS = 7,
    SHORTEST_BUILD_ID = CODE_ID_BYTES /* shorter ones would be taken for the id of a PE image */
};

struct markup_module {
    const struct module *module; /* NULL: not stated */
    uint64_t base_va, end_va;    /* 0: not placed yet */
};

/* Splits the first element of R. False: there is none. */
static bool split(struct pattern_text r, struct pattern_text fields[MARKUP_FIELDS], uint32_t *count)
{
    const char *open = pattern_find(r, '{');
    struct pattern_text rest = {open, r.end};
    while (open != NULL && !pattern_starts(rest, "{{{")) {
        rest.at = open + 1;
        open = rest.at = pattern_find(rest, '{');
    }
    const char *close = open != NULL ? pattern_find(rest, '}') : NULL;
    if (close == NULL || !pattern_starts((struct pattern_text){close, r.end}, "}}}"))
        return false;
    rest = (struct pattern_text){open + 3, close};
    for (*count = 0; *count < MARKUP_FIELDS && rest.at <= rest.end; ++*count) {
        const char *colon = pattern_find(rest, ':');
        fields[*count] = (struct pattern_text){rest.at, colon != NULL ? colon : rest.end};
        rest.at = fields[*count].end + 1;
    }
    return true;
}

static bool is(struct pattern_text field, const char *word)
{
    return pattern_length(field) == strlen(word) && pattern_starts(field, word);
}

/* Hexadecimal after 0x, else decimal. */
static bool number_of(struct pattern_text field, uint64_t *out)
{
    return pattern_starts(field, "0x") ? text_parse_hex(field.at, pattern_length(field), out)
                                       : text_parse_uint(field.at, pattern_length(field), out);
}

/* The module with that number, new or known; NULL: too large a number, or out of memory. */
static struct markup_module *module_at(struct stack_input *input, struct pattern_text field)
{
    uint64_t id;
    if (!number_of(field, &id) || id >= LIMIT_MODULES)
        return NULL;
    if (!ARENA_ROOM(&input->arena, input->markup, input->markup_room, id + 1))
        return NULL;
    while (input->markup_count <= id)
        input->markup[input->markup_count++] = (struct markup_module){NULL, 0, 0};
    return &input->markup[id];
}

static void state_module(struct stack_input *input, const struct pattern_text *f)
{
    struct markup_module *at = module_at(input, f[1]);
    const struct pattern_text name = spelled_base_name(f[2]);
    const size_t id_bytes = pattern_length(f[4]) < SHORTEST_BUILD_ID ? 0 : pattern_length(f[4]);
    if (at == NULL || pattern_length(name) == 0)
        return;
    *at = (struct markup_module){.module = input_identified(input, name.at, pattern_length(name),
                                                            f[4].at, id_bytes, NULL, 0)};
    if (at->module == NULL)
        at->module = input_module(input, name.at, pattern_length(name));
}

static void map_segment(struct stack_input *input, const struct pattern_text *f)
{
    struct markup_module *at = module_at(input, f[4]);
    uint64_t start_va, bytes, in_file;
    if (at == NULL || at->module == NULL || !number_of(f[1], &start_va) ||
        !number_of(f[2], &bytes) || !number_of(f[6], &in_file) || in_file > start_va ||
        start_va > UINT64_MAX - bytes)
        return;
    if (at->base_va == 0)
        at->base_va = in_file == start_va ? start_va : start_va - in_file;
    if (start_va + bytes > at->end_va && start_va >= at->base_va) {
        at->end_va = start_va + bytes;
        if (input_map_module(input, at->module, at->base_va, at->end_va - at->base_va))
            input->mapped = true;
    }
}

static bool starts(const struct stack_input *input, struct pattern_text r, uint64_t *thread)
{
    struct pattern_text f[MARKUP_FIELDS] = {{NULL, NULL}};
    uint32_t count;
    uint64_t index;
    *thread = NO_THREAD;
    return input->builder.count > 0 && split(r, f, &count) && count >= 3 && is(f[0], "bt") &&
           number_of(f[1], &index) && index == 0;
}

static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    struct pattern_text f[MARKUP_FIELDS] = {{NULL, NULL}};
    uint32_t count;
    if (!split(r, f, &count))
        return LINE_UNKNOWN;
    if (is(f[0], "reset")) {
        input->range_count = input->mapped ? 0 : input->range_count;
        input->markup_count = 0;
    } else if (is(f[0], "module") && count >= 5) {
        state_module(input, f);
    } else if (is(f[0], "mmap") && count == MARKUP_FIELDS) {
        map_segment(input, f);
    } else if (is(f[0], "bt") && count >= 3) {
        out->kind = count > 3 && is(f[3], "pc") ? PC_INTERRUPTED : PC_RETURN;
        if (!number_of(f[2], &out->pc_va))
            return LINE_UNKNOWN;
        out->offset = out->pc_va;
        return LINE_FRAME;
    }
    return LINE_NO_FRAME;
}

const struct notation notation_markup = {
    .name = "markup for LLVM's symbolizer", .line = read_line, .starts = starts};
