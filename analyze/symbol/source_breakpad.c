/* Sources: Breakpad .sym files. Opening one reads its identity. Its records are read when they are
 * needed, which is never if an index answers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/text.h"
#include "symbol/breakpad_export.h"
#include "symbol/store_find.h"
#include "symbol/store_lookup.h"

enum {
    /* Code per record. Real files have less than 100 bytes; a few records far apart would make a
     * large index of a small file. */
    CODE_PER_BOUND = 16384,
    WORK_MAX = 1 << 30, /* inlined calls that all lookups together may look at */
};

struct opened_breakpad {
    struct breakpad *whole; /* owned; NULL until needed; does not change after that */
    bool tried;
    struct breakpad *skimmed; /* owned; for lookups when there is no index */
    bool skim_tried;
};

static enum status identify(const struct file_map *file, uint32_t slice, struct arena *keep,
                            struct source_id *out, struct fault *fault)
{
    struct breakpad identity;

    (void)slice;
    out->word = "breakpad";
    if (breakpad_read_identity(file->data, file->bytes, &identity, fault) == ERR_NONE) {
        out->name = arena_string(keep, identity.module);
        out->image_name = arena_string(keep, identity.image);
        memcpy(out->debug_id, identity.debug_id, sizeof out->debug_id);
        if (identity.code_id != NULL && strlen(identity.code_id) < sizeof out->code_id)
            memcpy(out->code_id, identity.code_id, strlen(identity.code_id) + 1);
        if (out->name == NULL)
            fault_no_memory(fault, "Breakpad symbol file");
    }
    breakpad_close(&identity);
    return fault->code;
}

static enum source_fit fit(const struct source_id *id, const struct source_want *want)
{
    const char *name = want->module->name;
    if (want->debug_id[0] == '\0' && want->module->code_id[0] != '\0')
        return text_equal_nocase(id->code_id, want->module->code_id) ? FIT_IDENTITY : FIT_NONE;
    const struct source_want by_module = {want->module, NULL, want->debug_id};
    const enum source_fit as_pdb = source_fit_as_pdb(id, &by_module);

    if (as_pdb == FIT_NONE && (text_equal_nocase(id->name, name) ||
                               (id->image_name != NULL && text_equal_nocase(id->image_name, name))))
        return FIT_NAME;
    return as_pdb;
}

/* The name under which Breakpad keeps the symbols of MODULE: "app.pdb" gives "app.sym". */
static char *file_name(const char *module, struct arena *keep)
{
    const size_t bytes = strlen(module);
    const bool pdb = bytes > 4 && text_equal_nocase(module + bytes - 4, ".pdb");
    return arena_printf(keep, "%.*s.sym", (int)(pdb ? bytes - 4 : bytes), module);
}

static bool is_under(const struct source_id *id, const char *key)
{
    return source_has_debug_id(id, key) ||
           (id->code_id[0] != '\0' && text_equal_nocase(id->code_id, key));
}

/* Windows' images also have a folder of their own, under either identity: app.dll/ID/app.sym,
 * app.dll/ID/app.dll.sym. rust-minidump's code_info_breakpad_sym_lookup() is the first with the
 * code_id. */
static uint32_t places_of_image(const struct module *module, const char *debug_id,
                                struct arena *keep, struct source_place *out)
{
    const char *dot = strrchr(module->name, '.');
    const char *stem = dot != NULL
                           ? arena_printf(keep, "%.*s.sym", (int)(dot - module->name), module->name)
                           : NULL;
    const char *whole = file_name(module->name, keep);
    uint32_t used = 0;
    if (stem != NULL)
        out[used++] = (struct source_place){module->name, debug_id, stem};
    if (stem != NULL && module->code_id[0] != '\0')
        out[used++] = (struct source_place){module->name, module->code_id, stem};
    if (whole != NULL && module->code_id[0] != '\0')
        out[used++] = (struct source_place){module->name, module->code_id, whole};
    return used;
}

/* Breakpad's layout: app.pdb/ID/app.sym; images of other systems have no PDB: app/ID/app.sym. */
static uint32_t places(const struct source_want *want, struct arena *keep,
                       struct source_place out[SOURCE_PLACES_MAX])
{
    const char *names[STORE_PDB_NAMES_MAX + 1];
    const bool windows = store_is_windows(want->module);
    uint32_t count = 0, used = 0;

    store_pdb_names(want->module, want->pdb_name, keep, names + 1);
    names[0] = want->module->name;
    while (names[count + 1] != NULL)
        count++;
    for (uint32_t i = 0; i <= count; i++) {
        const uint32_t next = i < count ? i + 1 : 0; /* on Windows the image's name comes last */
        const char *name = names[windows ? next : i];
        const char *as = file_name(name, keep);
        if (as != NULL)
            out[used++] = (struct source_place){name, want->debug_id, as};
    }
    return windows ? used + places_of_image(want->module, want->debug_id, keep, out + used) : used;
}

static void store_as(const struct source_id *id, struct arena *keep, struct source_place *out)
{
    *out = (struct source_place){id->name, id->debug_id, file_name(id->name, keep)};
}

static enum status open_file(struct source *source, struct fault *fault)
{
    source->opened = ARENA_NEW(source->keep, struct opened_breakpad);
    return source->opened != NULL ? identify(&source->map, 0, source->keep, &source->id, fault)
                                  : fault_no_memory(fault, "symbol store");
}

static void close_file(struct source *source)
{
    struct opened_breakpad *own = source->opened;
    if (own->whole != NULL)
        breakpad_close(own->whole);
    if (own->skimmed != NULL)
        breakpad_close(own->skimmed);
    free(own->whole);
    free(own->skimmed);
}

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

/* Reads the records of the file, once; NULL: out of memory. The caller holds the mutex. */
static const struct breakpad *read_whole(struct source *source)
{
    struct opened_breakpad *own = source->opened;
    struct fault fault = FAULT_INIT;

    if (own->tried)
        return own->whole;
    own->tried = true;
    struct breakpad *whole = calloc(1, sizeof *whole);
    if (whole == NULL)
        return NULL;
    if (breakpad_read(source->map.data, source->map.bytes, whole, &fault) != ERR_NONE) {
        breakpad_close(whole);
        free(whole);
        return NULL;
    }
    read_names(whole, source->names);
    own->whole = whole;
    return whole;
}

/* NULL: out of memory. */
static const struct breakpad *whole_of(struct source *source)
{
    mutex_lock(source->mutex);
    const struct breakpad *whole = read_whole(source);
    mutex_unlock(source->mutex);
    return whole;
}

const struct breakpad *symbol_store_breakpad(struct symbol_store *store,
                                             const struct module *module)
{
    struct source *source = store_unwind_of(store, module);
    return source != NULL && source->kind == &source_breakpad ? whole_of(source) : NULL;
}

static uint32_t frames_at(const struct breakpad *file, uint64_t offset, struct symbol_frame *out)
{
    struct breakpad_frame found[BREAKPAD_FRAMES_MAX];
    const uint32_t count = breakpad_lookup(file, offset, found);

    for (uint32_t i = 0; i < count; i++)
        out[i] = (struct symbol_frame){
            .function = found[i].name,
            .file = found[i].file,
            .line = found[i].line,
            .distance = found[i].distance,
            .inlined = i + 1 < count,
            .from = found[i].is_public ? SYMBOLS_BREAKPAD_PUBLIC : SYMBOLS_BREAKPAD,
        };
    return count;
}

/* The names of the file that are read now get the spelling of the source. */
struct naming {
    struct breakpad *file;
    enum symbol_names names;
};

static void name_read(void *context, const char **name)
{
    const struct naming *naming = context;
    read_name(name, naming->names, naming->file);
}

/* What lookups read; NULL: out of memory, or it is no symbol file. The caller holds the mutex. */
static struct breakpad *skim(struct source *source)
{
    struct opened_breakpad *own = source->opened;
    struct fault fault = FAULT_INIT;
    if (own->skim_tried)
        return own->skimmed;
    own->skim_tried = true;
    struct breakpad *made = calloc(1, sizeof *made);
    if (made != NULL && breakpad_skim(&source->map, made, &fault) != ERR_NONE) {
        breakpad_close(made);
        free(made);
        made = NULL;
    }
    own->skimmed = made;
    return made;
}

static uint32_t frames(struct source *source, uint64_t offset, struct symbol_frame *out)
{
    struct fault fault = FAULT_INIT;
    uint32_t count = 0;
    mutex_lock(source->mutex);
    struct naming naming = {skim(source), source->names};
    if (naming.file != NULL &&
        breakpad_load(naming.file, offset, name_read, &naming, &fault) == ERR_NONE)
        count = frames_at(naming.file, offset, out);
    mutex_unlock(source->mutex);
    return count;
}

/* ---- pieces: between two places where a record starts or ends there is one answer ---- */

struct pieces_of {
    const struct breakpad *file;
    uint64_t *bounds; /* owned: where a record starts or ends, sorted */
    uint32_t count, next;
    uint64_t work; /* inlined calls that lookups have looked at */
};

static int compare_bounds(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static bool find_bounds(const struct breakpad *file, struct pieces_of *out)
{
    const uint64_t room =
        2 * ((uint64_t)file->function_count + file->line_count + file->inline_count) +
        file->public_count;
    uint32_t n = 0, kept = 0;

    out->bounds = room < UINT32_MAX ? malloc((size_t)(room + 1) * sizeof *out->bounds) : NULL;
    if (out->bounds == NULL)
        return false;
    for (uint32_t i = 0; i < file->function_count; i++) {
        out->bounds[n++] = file->functions[i].rva;
        out->bounds[n++] = file->functions[i].end;
    }
    for (uint32_t i = 0; i < file->line_count; i++) {
        out->bounds[n++] = file->lines[i].rva;
        out->bounds[n++] = file->lines[i].end;
    }
    for (uint32_t i = 0; i < file->inline_count; i++) {
        out->bounds[n++] = file->inlines[i].rva;
        out->bounds[n++] = file->inlines[i].end;
    }
    for (uint32_t i = 0; i < file->public_count; i++)
        out->bounds[n++] = file->publics[i].rva;
    array_sort(out->bounds, n, sizeof *out->bounds, compare_bounds);
    for (uint32_t i = 0; i < n; i++)
        if (kept == 0 || out->bounds[i] != out->bounds[kept - 1])
            out->bounds[kept++] = out->bounds[i];
    out->count = kept;
    return true;
}

static bool piece_range(const void *self, uint32_t number, uint64_t *from, uint64_t *to)
{
    const struct pieces_of *own = self;
    if (number > 0 || own->count == 0)
        return false;
    *from = own->bounds[0];
    *to = own->bounds[own->count - 1] + 1;
    return true;
}

/* Pieces are asked for in ascending order. */
static bool piece_at(void *self, struct code_piece *piece)
{
    struct pieces_of *own = self;

    while (own->next < own->count && own->bounds[own->next] <= piece->start)
        own->next++;
    if (own->next < own->count)
        piece->end = own->bounds[own->next];
    own->work += breakpad_inlines_around(own->file, piece->start);
    piece->count = frames_at(own->file, piece->start, piece->frames);
    piece->has_start = true;
    return own->work < WORK_MAX;
}

static void close_pieces(void *self)
{
    struct pieces_of *own = self;
    free(own->bounds);
    free(own);
}

enum status breakpad_pieces(const struct breakpad *file, struct code_pieces *out,
                            struct fault *fault)
{
    struct pieces_of *own = calloc(1, sizeof *own);
    uint64_t from, to;

    *out = (struct code_pieces){own, piece_range, piece_at, own != NULL ? close_pieces : NULL};
    if (own == NULL || !find_bounds(file, own))
        return fault_no_memory(fault, "records of a symbol file");
    own->file = file;
    if (piece_range(own, 0, &from, &to) && (to - from) / CODE_PER_BOUND > own->count)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET,
                         "code between the records of a symbol file");
    return ERR_NONE;
}

static enum status pieces(struct source *source, struct code_pieces *out, struct fault *fault)
{
    const struct breakpad *whole = read_whole(source);
    return whole != NULL ? breakpad_pieces(whole, out, fault)
                         : fault_no_memory(fault, "symbol index");
}

static enum status describe(struct source *source, struct json *to, struct fault *fault)
{
    const struct breakpad *file = whole_of(source);

    if (file == NULL)
        return fault_no_memory(fault, "Breakpad symbol file");
    json_key_uint(to, "procedures", file->function_count);
    json_key_uint(to, "publics", file->public_count);
    json_key_uint(to, "inline_sites", file->inline_count);
    json_key_uint(to, "damaged_lines", file->damaged);
    return ERR_NONE;
}

static enum status summarize(struct source *source, FILE *to, struct fault *fault)
{
    const struct breakpad *file = whole_of(source);

    if (file == NULL)
        return fault_no_memory(fault, "Breakpad symbol file");
    (void)fprintf(to,
                  "Breakpad, %" PRIu32 " functions, %" PRIu32 " inlined ranges, %" PRIu32
                  " publics, %" PRIu32 " damaged lines\n",
                  file->function_count, file->inline_count, file->public_count, file->damaged);
    return ERR_NONE;
}

const struct source_kind source_breakpad = {
    .what = "Breakpad .sym file",
    .layer = LAYER_NAMES,
    .has_unwind = true,
    .notes = {.damaged = NOTE_SYM_DAMAGED,
              .unsupported = NOTE_SYM_DAMAGED,
              .other_build = NOTE_SYM_OTHER_BUILD,
              .several = NOTE_SEVERAL_SYM_BUILDS,
              .given = NOTE_GIVEN_FILE_OTHER_BUILD},
    .recognize = breakpad_recognize,
    .by_code_id = true,
    .identify = identify,
    .fit = fit,
    .is_under = is_under,
    .places = places,
    .store_as = store_as,
    .open = open_file,
    .close = close_file,
    .frames = frames,
    /* a lookup without an index has to read the whole file first */
    .indexing = {.from = INDEXING_IMAGES, .pays = store_index_pays_soon, .pieces = pieces},
    .describe = describe,
    .summarize = summarize,
};
