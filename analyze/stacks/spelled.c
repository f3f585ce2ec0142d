/* What a line of another tool says, as a frame: shared by notation_spellings.c and
 * notation_windbg.c. */
#include "base/text.h"
#include "stacks/stack_reader.h"

struct pattern_text spelled_base_name(struct pattern_text path)
{
    for (const char *at = path.end; at > path.at; at--)
        if (at[-1] == '\\' || at[-1] == '/')
            return (struct pattern_text){at, path.end};
    return path;
}

bool spelled_offset(struct stack_input *input, struct pattern_text name, uint64_t offset,
                    struct frame *out)
{
    name = spelled_base_name(name);
    out->module =
        pattern_length(name) > 0 ? input_module(input, name.at, pattern_length(name)) : NULL;
    out->module_name = out->module != NULL ? out->module->name : NULL;
    out->offset = offset;
    return out->module != NULL;
}

const char *spelled_keep(struct stack_input *input, struct pattern_text text)
{
    return pattern_length(text) > 0 ? arena_text(&input->scratch, text.at, pattern_length(text))
                                    : NULL;
}

bool spelled_named(struct stack_input *input, struct pattern_text module,
                   struct pattern_text function, struct frame *out)
{
    out->module_name = spelled_keep(input, spelled_base_name(module));
    out->function = spelled_keep(input, function);
    out->note = NOTE_NAMED_BY_INPUT;
    out->offset = 0;
    return out->function != NULL;
}

bool spelled_plus(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    const char *plus = pattern_find_last(r, "+0x");
    uint64_t offset;
    if (plus == NULL || plus == r.at ||
        pattern_find((struct pattern_text){r.at, plus}, '!') != NULL ||
        pattern_find((struct pattern_text){r.at, plus}, '`') != NULL ||
        !text_parse_hex(plus + 1, (size_t)(r.end - plus - 1), &offset))
        return false;
    return spelled_offset(input, (struct pattern_text){r.at, plus}, offset, out);
}
