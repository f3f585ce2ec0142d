/* Sources: text files with one function per line, an example of a kind.
 *
 *     RECIPE DEBUG_ID            of the module, which is named like the file
 *     RVA BYTES NAME             hexadecimal */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "symbol/source.h"

struct function {
    uint32_t rva, bytes;
    const char *name;
};

struct opened_recipe {
    struct function *functions;
    uint32_t count, room;
};

static const char magic[] = "RECIPE ";

static bool recognize(const void *data, size_t bytes)
{
    return bytes > sizeof magic && memcmp(data, magic, sizeof magic - 1) == 0;
}

static enum status identify(const struct file_map *file, uint32_t slice, struct arena *keep,
                            struct source_id *out, struct fault *fault)
{
    const char *at = (const char *)file->data + sizeof magic - 1;
    const size_t left = file->bytes - sizeof magic + 1;
    const char *end = recognize(file->data, file->bytes) ? memchr(at, '\n', left) : NULL;

    (void)slice;
    (void)keep;
    out->word = "recipe";
    if (end == NULL || (size_t)(end - at) >= sizeof out->debug_id)
        return fault_set(fault, ERR_MALFORMED, 0, "RECIPE line");
    memcpy(out->debug_id, at, (size_t)(end - at));
    return ERR_NONE;
}

static enum status open_file(struct source *source, struct fault *fault)
{
    struct opened_recipe *own = ARENA_NEW(source->keep, struct opened_recipe);
    char *text = arena_text(source->keep, (const char *)source->map.data, source->map.bytes);

    if ((source->opened = own) == NULL || text == NULL)
        return fault_no_memory(fault, "recipe");
    if (identify(&source->map, 0, source->keep, &source->id, fault) != ERR_NONE)
        return fault->code;
    while ((text = strchr(text, '\n')) != NULL && text[1] != '\0') {
        struct function function;
        *text++ = '\0';
        function.rva = (uint32_t)strtoul(text, &text, 16);
        function.bytes = (uint32_t)strtoul(text, &text, 16);
        function.name = text + (*text == ' ');
        struct function *wider = arena_reserve(source->keep, own->functions, &own->room,
                                               (uint64_t)own->count + 1, sizeof *wider);
        if (wider == NULL)
            return fault_no_memory(fault, "recipe");
        own->functions = wider;
        own->functions[own->count++] = function;
    }
    if (text != NULL)
        *text = '\0';
    return ERR_NONE;
}

static uint32_t frames(struct source *source, uint64_t offset, struct symbol_frame *out)
{
    const struct opened_recipe *own = source->opened;

    for (uint32_t i = 0; i < own->count; i++) {
        const struct function *f = &own->functions[i];
        if (offset < f->rva || offset - f->rva >= f->bytes)
            continue;
        *out = (struct symbol_frame){
            .function = f->name, .distance = offset - f->rva, .from = SYMBOLS_SYMTAB};
        return 1;
    }
    return 0;
}

static enum status describe(struct source *source, struct json *to, struct fault *fault)
{
    json_key_uint(to, "functions", ((const struct opened_recipe *)source->opened)->count);
    return fault->code;
}

static enum status summarize(struct source *source, FILE *to, struct fault *fault)
{
    (void)fprintf(to, "recipe, %" PRIu32 " functions\n",
                  ((const struct opened_recipe *)source->opened)->count);
    return fault->code;
}

const struct source_kind source_recipe = {
    .what = "recipe",
    .layer = LAYER_NAMES,
    .notes = {.damaged = NOTE_SYM_DAMAGED,
              .unsupported = NOTE_SYM_DAMAGED,
              .other_build = NOTE_SYM_OTHER_BUILD,
              .several = NOTE_SEVERAL_BUILDS,
              .given = NOTE_GIVEN_FILE_OTHER_BUILD},
    .recognize = recognize,
    .identify = identify,
    .fit = source_fit_as_pdb,
    .is_under = source_has_debug_id,
    .places = source_places_of_pdb,
    .store_as = source_store_by_debug_id,
    .open = open_file,
    .frames = frames,
    .describe = describe,
    .summarize = summarize,
};
