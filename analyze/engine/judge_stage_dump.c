/* A dump that names the modules of the staging folder, for a debugger that looks for images only at
 * the paths in the dump: Wine's debugger opens V:\app.exe, whatever file that is.
 *
 * Only the locations of names change: each staged image gets a new name after the dump's own bytes,
 * and its module's row points there. */
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/files.h"
#include "engine/judge_stage_dump.h"
#include "format/minidump/minidump.h"

enum { MODULE_BYTES = 108, MODULE_NAME_AT = 20, NAMES_BYTES_MAX = 1 << 16 };

struct renaming {
    const struct judge_stage *stage;
    const struct minidump *dump;
    uint8_t *rows;  /* a copy of the module list */
    uint8_t *names; /* MINIDUMP_STRINGs that follow the dump */
    uint32_t rows_bytes, names_bytes;
};

static void put_u32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

/* Appends the full Windows path of NAME; false when it is not plain ASCII or there is no room. */
static bool add_name(struct renaming *r, const char *name)
{
    /* Wine's drive of the whole file system; on Windows the folder has a drive. */
    const char *drive = r->stage->folder[0] == '/' ? "Z:" : "";
    const char *const parts[] = {drive, r->stage->folder, "\\", name};
    uint8_t *to = r->names + r->names_bytes + 4;
    uint32_t units = 0;
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        for (const char *c = parts[i]; *c != '\0'; c++, units++) {
            if ((signed char)*c <= 0 || r->names_bytes + 2 * units + 16 > NAMES_BYTES_MAX)
                return false;
            to[2 * (size_t)units] = (uint8_t)(*c == '/' ? '\\' : *c);
            to[2 * (size_t)units + 1] = 0;
        }
    memset(to + 2 * (size_t)units, 0, 2);
    put_u32(to - 4, 2 * units);
    r->names_bytes += 4 + 2 * units + 2;
    return true;
}

static bool is_staged(const struct judge_stage *stage, const char *name, struct arena *keep)
{
    const char *path = path_join(keep, stage->folder, name);
    return name[0] != '\0' && path != NULL && path_is_file(path);
}

static void rename_modules(struct renaming *r, struct arena *keep)
{
    const uint32_t count = r->dump->module_count;
    uint8_t *row = r->rows + r->rows_bytes - (size_t)count * MODULE_BYTES;
    for (uint32_t i = 0; i < count; i++, row += MODULE_BYTES) {
        const char *name = r->dump->modules[i].module.name;
        const uint64_t foff = r->dump->data_bytes + r->names_bytes;
        if (foff <= UINT32_MAX && is_staged(r->stage, name, keep) && add_name(r, name))
            put_u32(row + MODULE_NAME_AT, (uint32_t)foff);
    }
}

static const struct minidump_stream *module_list(const struct minidump *dump)
{
    for (uint32_t i = 0; i < dump->stream_count; i++)
        if (dump->streams[i].type == STREAM_MODULE_LIST &&
            dump->streams[i].place.bytes >= (uint64_t)dump->module_count * MODULE_BYTES + 4)
            return &dump->streams[i];
    return NULL;
}

static enum status write_renamed(const struct judge_stage *stage, const struct minidump *dump,
                                 const char *path, struct arena *keep, struct fault *fault)
{
    const struct minidump_stream *list = module_list(dump);
    const struct minidump_place none = {0, 0}, place = list != NULL ? list->place : none;
    struct renaming r = {.stage = stage, .dump = dump, .rows_bytes = (uint32_t)place.bytes};
    r.rows = ARENA_ARRAY(keep, (size_t)place.bytes + 1, uint8_t);
    r.names = ARENA_ARRAY(keep, NAMES_BYTES_MAX, uint8_t);
    if (r.rows == NULL || r.names == NULL)
        return fault_no_memory(fault, "judge");
    memcpy(r.rows, dump->data + place.foff, (size_t)place.bytes);
    if (list != NULL)
        rename_modules(&r, keep);
    const uint64_t rest = place.foff + place.bytes;
    const struct file_part parts[] = {
        {.data = dump->data, .bytes = (size_t)place.foff},
        {.data = r.rows, .bytes = r.rows_bytes},
        {.data = dump->data + rest, .bytes = (size_t)(dump->data_bytes - rest)},
        {.data = r.names, .bytes = r.names_bytes},
    };
    return file_write_parts(path, parts, COUNT_OF(parts), fault);
}

enum status judge_stage_dump(const struct judge_stage *stage, const char *name, struct arena *keep,
                             struct fault *fault)
{
    const char *from = path_join(keep, stage->folder, stage->dump);
    const char *to = path_join(keep, stage->folder, name);
    struct minidump dump;
    struct file_map map;
    if (from == NULL || to == NULL)
        return fault_no_memory(fault, "judge");
    if (file_map(from, &map, fault) != ERR_NONE)
        return fault->code;
    enum status status = minidump_read(map.data, map.bytes, keep, &dump, fault);
    if (status == ERR_NONE)
        status = write_renamed(stage, &dump, to, keep, fault);
    file_unmap(&map);
    return status;
}
