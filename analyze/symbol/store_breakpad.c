/* Breakpad .sym files of the symbol store; see store.h. Opening one reads its identity. Its records
 * are read when they are needed, which is never if an index answers. */
#include <stdlib.h>
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
    if (breakpad_read_identity(opened->map.data, opened->map.bytes, &opened->file, fault) !=
            ERR_NONE ||
        (opened->mutex = mutex_new()) == NULL) {
        if (fault->code == ERR_NONE)
            fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol store");
        fault_set_path(fault, path);
        breakpad_close(&opened->file);
        file_unmap(&opened->map);
        return fault->code;
    }
    opened->next = store->breakpads;
    store->breakpads = opened;
    *out = opened;
    return ERR_NONE;
}

const struct breakpad *store_breakpad_whole(const struct symbol_store *store,
                                            struct store_breakpad *opened)
{
    struct fault fault = FAULT_INIT;

    if (opened->whole_tried)
        return opened->whole;
    opened->whole_tried = true;
    struct breakpad *whole = calloc(1, sizeof *whole);
    if (whole == NULL)
        return NULL;
    if (breakpad_read(opened->map.data, opened->map.bytes, whole, &fault) != ERR_NONE) {
        breakpad_close(whole);
        free(whole);
        return NULL;
    }
    read_names(whole, store->names);
    opened->whole = whole;
    return whole;
}

void store_breakpad_close_all(struct symbol_store *store)
{
    for (struct store_breakpad *b = store->breakpads; b != NULL; b = b->next) {
        symbol_index_close(b->index);
        if (b->whole != NULL)
            breakpad_close(b->whole);
        free(b->whole);
        breakpad_close(&b->file);
        file_unmap(&b->map);
        mutex_free(b->mutex);
    }
}

uint32_t store_breakpad_lookup(const struct symbol_store *store, struct store_breakpad *opened,
                               uint64_t offset, struct symbol_frame *out)
{
    struct breakpad_frame frames[BREAKPAD_FRAMES_MAX];

    mutex_lock(opened->mutex);
    const struct breakpad *whole = store_breakpad_whole(store, opened);
    mutex_unlock(opened->mutex);
    const uint32_t count = whole != NULL ? breakpad_lookup(whole, offset, frames) : 0;
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
