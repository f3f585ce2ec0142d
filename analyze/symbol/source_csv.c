/* Sources: symbol tables as pdbdump prints them. They state no identity, and nothing in them says
 * that they are one: only `--csv` names them. */
#include "symbol/store_find.h"

static enum source_fit fit(const struct source_id *id, const struct source_want *want)
{
    return store_pdb_name_fits(id->name, want->module) ? FIT_NAME : FIT_NONE;
}

static enum status open_file(struct source *source, struct fault *fault)
{
    struct csv_table *table = ARENA_NEW(source->keep, struct csv_table);

    if ((source->opened = table) == NULL)
        return fault_no_memory(fault, "symbol store");
    return csv_read(&source->map, source->base_va, source->keep, table, fault);
}

static uint32_t frames(struct source *source, uint64_t offset, struct symbol_frame *out)
{
    struct csv_frame found[SYMBOL_FRAMES_MAX];
    const uint32_t count = csv_lookup(source->opened, offset, found, SYMBOL_FRAMES_MAX);

    for (uint32_t i = 0; i < count; i++)
        out[i] = (struct symbol_frame){
            .function = found[i].name,
            .file = found[i].file,
            .line = found[i].line,
            .distance = offset - found[i].rva,
            .inlined = found[i].depth > 0,
            .from = SYMBOLS_CSV,
        };
    return count;
}

const struct source_kind source_csv = {
    .what = "CSV",
    .layer = LAYER_NAMES,
    .fit = fit,
    .open = open_file,
    .frames = frames,
};
