/* See opened.h. */
#include "engine/opened.h"

#include <string.h>

void opened_case_name(const struct crash_case *crash, struct arena *keep, struct opened_case *out)
{
    static const struct fault none = FAULT_INIT;

    memset(out, 0, sizeof *out);
    out->crash = crash;
    out->files[OPENED_RECORD].file = case_file(crash, ROLE_RECORD);
    out->files[OPENED_DUMP].file = case_file(crash, ROLE_DUMP);
    out->files[OPENED_TUNED].file = case_tuned_dump(crash);
    for (int i = 0; i < OPENED_ROLES; i++) {
        const struct case_file *file = out->files[i].file;
        out->files[i].path = file != NULL ? path_join(keep, crash->folder, file->path) : NULL;
        out->files[i].fault = none;
    }
}

static enum status read_record(struct opened_case *c, struct arena *keep, struct fault *fault)
{
    struct opened_file *file = &c->files[OPENED_RECORD];
    const uint64_t held_bytes = memory_peak_restart();
    const struct file_map *map =
        file->path != NULL ? case_map(c->crash, file->file, &file->fault) : NULL;

    if (map == NULL)
        return ERR_NONE;
    const uint64_t start_ns = clock_ns() - file->file->map_ns;
    c->record = ARENA_NEW(keep, struct record);
    if (c->record == NULL)
        return fault_no_memory(fault, "record");
    (void)record_read(bytes_over(map->data, map->bytes, &file->fault), keep, c->record);
    fault_set_path(&file->fault, file->path);
    file->ns = clock_ns() - start_ns;
    file->peak_bytes = memory_peak_beyond(held_bytes);
    return ERR_NONE;
}

static void read_dump(struct opened_case *c, struct symbol_store *symbols, struct arena *keep)
{
    struct opened_file *file = &c->files[OPENED_DUMP];
    const uint64_t held_bytes = memory_peak_restart();
    const struct file_map *map =
        file->path != NULL ? case_map(c->crash, file->file, &file->fault) : NULL;

    if (map == NULL)
        return;
    const uint64_t start_ns = clock_ns() - file->file->map_ns;
    (void)dump_open_map(map, file->path, symbols, keep, &c->dump, &file->fault);
    file->ns = clock_ns() - start_ns;
    file->peak_bytes = memory_peak_beyond(held_bytes);
}

enum status opened_case_open(const struct crash_case *crash, struct symbol_store *symbols,
                             struct arena *keep, struct opened_case *out, struct fault *fault)
{
    opened_case_name(crash, keep, out);
    if (read_record(out, keep, fault) == ERR_NONE)
        read_dump(out, symbols, keep);
    for (int i = 0; i < OPENED_ROLES && fault->code == ERR_NONE; i++)
        if (out->files[i].fault.code == ERR_MEMORY)
            *fault = out->files[i].fault;
    if (fault->code != ERR_NONE)
        opened_case_close(out);
    return fault->code;
}

void opened_case_close(struct opened_case *c)
{
    dump_close(c->dump);
    case_close(c->crash);
}
