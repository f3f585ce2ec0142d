/* The table of kinds, and files of symbols in memory; see source.h. */
#include "symbol/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/text.h"
#include "format/cab/cab.h"
#include "format/cab/unpack_file.h"
#include "symbol/store_find.h"

/* The largest file to unpack. */
#define SOURCE_UNPACKED_BYTES ((size_t)1 << 30)

#define SOURCE_ROW(NAME) &source_##NAME,
const struct source_kind *const source_kinds[SOURCE_KINDS] = {SOURCES(SOURCE_ROW)};

const struct source_kind *source_recognize(const void *data, size_t bytes)
{
    for (size_t i = 0; i < SOURCE_KINDS; i++)
        if (source_kinds[i]->recognize(data, bytes))
            return source_kinds[i];
    return NULL;
}

static bool is_cabinet(const void *data, size_t bytes)
{
    return bytes >= 4 && memcmp(data, "MSCF", 4) == 0;
}

static bool is_packed(const void *data, size_t bytes)
{
    return is_cabinet(data, bytes) || packed_recognize(data, bytes);
}

const char *source_name(const char *path, struct arena *keep)
{
    const char *name = path_base(path);
    const size_t bytes = strlen(name);
    for (size_t i = 0; store_packings[i] != NULL; i++) {
        const size_t end = strlen(store_packings[i]);
        if (bytes <= end || !text_equal_nocase(name + bytes - end, store_packings[i]))
            continue;
        const char *stem = arena_text(keep, name, bytes - end);
        return stem != NULL ? stem : name;
    }
    return name;
}

enum status source_map(const char *path, struct file_map *map, bool *unpacked, struct fault *fault)
{
    uint8_t *data;
    size_t bytes;

    *unpacked = false;
    if (file_map(path, map, fault) != ERR_NONE || !is_packed(map->data, map->bytes))
        return fault->code;
    const uint64_t modified_ns = map->modified_ns;
    if ((is_cabinet(map->data, map->bytes) ? cab_unpack : packed_unpack)(
            map->data, map->bytes, SOURCE_UNPACKED_BYTES, &data, &bytes, fault) != ERR_NONE) {
        file_unmap(map);
        fault_set_path(fault, path);
        return fault->code;
    }
    file_unmap(map);
    *map = (struct file_map){.data = data, .bytes = bytes, .modified_ns = modified_ns};
    *unpacked = true;
    return ERR_NONE;
}

void source_unmap(struct file_map *map, bool unpacked)
{
    if (unpacked) {
        /* owned: source_map() allocated it, and file_map's view of it is read-only */
        union {
            const uint8_t *view;
            void *memory;
        } data = {map->data};
        free(data.memory);
    } else {
        file_unmap(map);
    }
}

void source_close(struct source *source)
{
    symbol_index_close(source->index);
    if (source->opened != NULL && source->kind != NULL && source->kind->close != NULL)
        source->kind->close(source);
    source_unmap(&source->map, source->unpacked);
    mutex_free(source->mutex);
}

/* What is known of a file that is no symbol file, by how it starts. */
struct stranger {
    const char *start, *hint;
    bool is_packed;
};

#define TDS_HINT                                                                                   \
    "it is a .tds file of Delphi or C++Builder: make a PDB of the linker's map file (`map2pdb`)"

/* "DI", flags, and a processor of Windows NT. */
static bool is_dbg(const uint8_t *data, size_t bytes)
{
    static const uint16_t machines[] = {0x14c, 0x162, 0x166, 0x168, 0x184, 0x1f0, 0x200, 0x8664};
    for (size_t i = 0; i < COUNT_OF(machines); i++)
        if (bytes >= 6 && memcmp(data, "DI", 2) == 0 && load_u16(data + 4) == machines[i])
            return true;
    return false;
}

/* NULL: nothing is known. */
static const struct stranger *stranger_of(const void *data, size_t bytes)
{
    static const struct stranger dbg = {
        NULL, "it is a .dbg file, as Visual C++ 6 and older made: link again with a newer one",
        false};
    static const struct stranger rows[] = {
        {"BZh", "it is compressed with bzip2: unpack it first (`bzip2 -d`)", true},
        {"PK\003\004", "it is a ZIP archive: unpack it first", true},
        {"\xff\xfeM", "it is text in UTF-16, as PowerShell's `>` writes it: convert it to UTF-8",
         false},
        {"version https://git-lfs", "it is a pointer of Git LFS: get the file with `git lfs pull`",
         false},
        {"MDMP", "it is a minidump: see `twinstack dump`", false},
        {"SZDD", "it is compressed with compress.exe: unpack it first (`expand`)", true},
        {"FB09", TDS_HINT, false},
        {"FB0A", TDS_HINT, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (bytes >= strlen(rows[i].start) &&
            memcmp(data, rows[i].start, strlen(rows[i].start)) == 0)
            return &rows[i];
    return is_dbg(data, bytes) ? &dbg : NULL;
}

enum status source_refuse(const void *data, size_t bytes, struct fault *fault)
{
    const struct stranger *stranger = stranger_of(data, bytes);
    return fault_set_lasting(fault, ERR_UNSUPPORTED, 0, "symbol file",
                             stranger != NULL ? stranger->hint : SOURCES_EXPECTED);
}

bool source_is_stranger(const void *data, size_t bytes)
{
    return stranger_of(data, bytes) != NULL;
}

enum status source_open(struct source *source, struct fault *fault)
{
    if (source_map(source->path, &source->map, &source->unpacked, fault) != ERR_NONE)
        return fault->code;
    const struct source_kind *found = source_recognize(source->map.data, source->map.bytes);
    const struct stranger *stranger =
        found == NULL ? stranger_of(source->map.data, source->map.bytes) : NULL;
    source->is_packed = stranger != NULL && stranger->is_packed;
    source->id.name = source_name(source->path, source->keep);
    source->kind = source->kind != NULL ? source->kind : found;
    if (source->kind == NULL || stranger != NULL)
        (void)source_refuse(source->map.data, source->map.bytes, fault);
    else if (source->unpacked && source->kind != found)
        fault_set_lasting(fault, ERR_ABSENT, FAULT_NO_OFFSET, source->kind->what,
                          "the packed file is of another kind");
    else if ((source->mutex = mutex_new()) == NULL)
        fault_no_memory(fault, "symbol file");
    else if (source->kind->open(source, fault) == ERR_NONE)
        return ERR_NONE;
    fault_set_path(fault, source->path);
    source_close(source);
    return fault->code;
}

enum status store_open_source(struct symbol_store *store, const struct source_kind *kind,
                              const char *path, uint32_t slice, uint64_t base_va,
                              struct source **out, struct fault *fault)
{
    for (struct source *at = store->sources; at != NULL; at = at->next) {
        *out = at;
        if (at->kind == kind && at->slice == slice && at->base_va == base_va &&
            strcmp(at->path, path) == 0)
            return ERR_NONE;
    }
    struct source *source = *out = ARENA_NEW(&store->arena, struct source);
    if (source == NULL || (source->path = arena_string(&store->arena, path)) == NULL)
        return fault_no_memory(fault, "symbol store");
    source->kind = kind;
    source->slice = slice;
    source->base_va = base_va;
    source->names = store->names;
    source->keep = &store->arena;
    source->store = store;
    if (source_open(source, fault) != ERR_NONE)
        return fault->code;
    source->next = store->sources;
    store->sources = source;
    return ERR_NONE;
}

/* A packed file is of the kind of the file in it, which is known once it is unpacked. */
static enum status identify_packed(const struct file_map *file, uint32_t slice, struct arena *keep,
                                   struct source_id *out, struct fault *fault)
{
    (void)file;
    (void)slice;
    (void)keep;
    (void)out;
    return fault->code;
}

const struct source_kind source_cabinet = {
    .what = "packed file",
    .recognize = is_packed,
    .identify = identify_packed,
};
