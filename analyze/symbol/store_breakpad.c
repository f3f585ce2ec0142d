/* Breakpad .sym files of the symbol store: opened once, then read without a lock; see store.h. */
#include <string.h>

#include "base/text.h"
#include "symbol/store_parts.h"

/* Makes linker names readable, once. Most writers have already done so, and have removed the x86
 * decorations of C names. */
static void read_name(const char **name, enum symbol_names names, struct breakpad *file)
{
    char text[UNDECORATED_BYTES];
    if ((*name)[0] != '?' && (*name)[0] != '_')
        return;
    const size_t bytes = undecorate(*name, names, false, text, sizeof text);
    const char *copy = bytes > 0 ? arena_text(&file->names, text, bytes) : NULL;
    if (copy != NULL)
        *name = copy;
}

static void read_names(struct breakpad *file, enum symbol_names names)
{
    for (uint32_t i = 0; i < file->function_count; i++)
        read_name(&file->functions[i].name, names, file);
    for (uint32_t i = 0; i < file->origin_count; i++)
        read_name(&file->origins[i].name, names, file);
    for (uint32_t i = 0; i < file->public_count; i++)
        read_name(&file->publics[i].name, names, file);
}

enum status store_open_breakpad(struct symbol_store *store, const char *path,
                                struct store_breakpad **out, struct fault *fault)
{
    for (*out = store->breakpads; *out != NULL; *out = (*out)->next)
        if (strcmp((*out)->path, path) == 0)
            return ERR_NONE;
    struct store_breakpad *opened = ARENA_NEW(&store->arena, struct store_breakpad);
    if (opened == NULL || (opened->path = arena_string(&store->arena, path)) == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol store");
    if (file_map(path, &opened->map, fault) != ERR_NONE)
        return fault->code;
    if (breakpad_read(opened->map.data, opened->map.bytes, &opened->file, fault) != ERR_NONE) {
        fault_set_path(fault, path);
        breakpad_close(&opened->file);
        file_unmap(&opened->map);
        return fault->code;
    }
    read_names(&opened->file, store->names);
    opened->next = store->breakpads;
    store->breakpads = opened;
    *out = opened;
    return ERR_NONE;
}

void store_breakpad_close_all(struct symbol_store *store)
{
    for (struct store_breakpad *b = store->breakpads; b != NULL; b = b->next) {
        breakpad_close(&b->file);
        file_unmap(&b->map);
    }
}

uint32_t store_breakpad_lookup(const struct store_breakpad *opened, uint64_t offset,
                               struct symbol_frame *out)
{
    struct breakpad_frame frames[BREAKPAD_FRAMES_MAX];
    const uint32_t count = breakpad_lookup(&opened->file, offset, frames);
    for (uint32_t i = 0; i < count; i++)
        out[i] = (struct symbol_frame){
            .function = frames[i].name,
            .file = frames[i].file,
            .line = frames[i].line,
            .distance = frames[i].distance,
            .inlined = i + 1 < count,
            .from = frames[i].is_public ? SYMBOLS_BREAKPAD_PUBLIC : SYMBOLS_BREAKPAD,
        };
    return count;
}

char *store_breakpad_name(const char *file, struct arena *keep)
{
    const size_t bytes = strlen(file);
    const bool pdb = bytes > 4 && text_equal_nocase(file + bytes - 4, ".pdb");
    return arena_printf(keep, "%.*s.sym", (int)(pdb ? bytes - 4 : bytes), file);
}

bool store_breakpad_name_fits(const struct breakpad *file, const struct module *module)
{
    return text_equal_nocase(file->module, module->name) ||
           (file->image != NULL && text_equal_nocase(file->image, module->name)) ||
           store_pdb_name_fits(file->module, module);
}
