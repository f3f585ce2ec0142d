/* See object.h. */
#include "format/object/object.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { OBJECT_SYMBOLS_MAX = 1 << 24 };

/* Mach-O names have 16 letters at most: "__debug_str_offs". */
static const char *const section_names[DEBUG_SECTIONS] = {
    "info", "abbrev", "line",     "str",     "line_str", "str_offs*",
    "addr", "ranges", "rnglists", "aranges", "cu_index"};

static bool is_name(const char *pattern, const char *name, size_t bytes)
{
    const size_t fixed = strcspn(pattern, "*");
    if (pattern[fixed] == '*')
        return bytes >= fixed && memcmp(pattern, name, fixed) == 0;
    return bytes == fixed && memcmp(pattern, name, fixed) == 0;
}

struct byte_view *object_debug_slot(struct object_debug *debug, const char *name)
{
    static const char *const starts[] = {".debug_", ".zdebug_", "__debug_", "__zdebug_"};
    size_t bytes = 0;

    for (size_t i = 0; i < COUNT_OF(starts); i++) {
        if (strncmp(name, starts[i], strlen(starts[i])) == 0) {
            name += strlen(starts[i]);
            bytes = strlen(name);
            break;
        }
    }
    const bool split = bytes > 4 && strcmp(name + bytes - 4, ".dwo") == 0;
    const size_t stem = split ? bytes - 4 : bytes;
    for (int i = 0; stem > 0 && i < DEBUG_SECTIONS; i++)
        if (is_name(section_names[i], name, stem))
            return split || i == DEBUG_UNIT_INDEX ? &debug->split[i] : &debug->own[i];
    return NULL;
}

bool object_is_code(const struct object_debug *debug, uint64_t va)
{
    const uint32_t low = ARRAY_UPPER(debug->code, debug->code_count, start_va, va);
    return low > 0 && va < debug->code[low - 1].end_va;
}

enum status object_symbol_add(struct object_symbols *symbols, struct arena *keep,
                              struct object_symbol symbol, struct fault *fault)
{
    if (symbols->count == OBJECT_SYMBOLS_MAX)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "symbol table");
    if (!ARENA_ROOM(keep, symbols->at, symbols->room, (uint64_t)symbols->count + 1))
        return fault_no_memory(fault, "symbol table");
    symbols->at[symbols->count++] = symbol;
    return ERR_NONE;
}

/* Whether A is kept instead of B, which is at the same offset. */
static bool is_better(const struct object_symbol *a, const struct object_symbol *b)
{
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes;
    if (a->global != b->global)
        return a->global;
    return strcmp(a->name, b->name) < 0;
}

void object_symbols_sort(struct object_symbols *symbols)
{
    uint32_t kept = 0;
    if (symbols->count > 0)
        array_sort_numbers(symbols->at, symbols->count, sizeof *symbols->at);
    for (uint32_t i = 0; i < symbols->count; i++) {
        const struct object_symbol *symbol = &symbols->at[i];
        if (kept == 0 || symbol->offset != symbols->at[kept - 1].offset)
            symbols->at[kept++] = *symbol;
        else if (is_better(symbol, &symbols->at[kept - 1]))
            symbols->at[kept - 1] = *symbol;
    }
    symbols->count = kept;
}

const struct object_symbol *object_symbol_before(const struct object_symbols *symbols,
                                                 uint64_t offset)
{
    const uint32_t low = ARRAY_UPPER(symbols->at, symbols->count, offset, offset);
    return low > 0 ? &symbols->at[low - 1] : NULL;
}
