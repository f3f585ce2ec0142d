/* The small files that a case is based on, for pages that show it when its folder is gone: the
 * sealed ones except dump and images, and the sources that its frames name.
 *
 * Names of sources come from the dead process and its symbols: therefore only relative names are
 * looked up, below the source root, and only files that look like sources are kept. */
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "conduct/analysis.h"
#include "symbol/symbol_store.h"

enum { FILES_MAX = 64, SOURCE_MAX_BYTES = 256 << 10, SEALED_MAX_BYTES = 64 << 10 };

struct gathering {
    const struct analysis *analysis;
    struct run_case *c;
    const char *root;
    struct arena *keep;
};

static void add_data(struct gathering *g, enum artifact_role role, const char *name,
                     const char *data, size_t bytes)
{
    if (g->c->artifact_count == FILES_MAX)
        return;
    struct case_artifact *a = &g->c->artifacts[g->c->artifact_count++];
    a->role = role;
    a->name = name;
    a->data = data;
    a->bytes = bytes;
    text_sha256(data, bytes, a->sha256);
}

static void add_sealed(struct gathering *g, const struct crash_case *crash, enum case_role role)
{
    const struct case_file *file = case_file(crash, role);
    struct fault absent = FAULT_INIT;
    size_t bytes = 0;
    const char *text =
        file != NULL ? case_text(crash, role, SEALED_MAX_BYTES, g->keep, &bytes, &absent) : NULL;
    if (text != NULL)
        add_data(g, artifact_role_parse(case_role_name(role)), file->path, text, bytes);
}

/* NAME with '/' for '\\' and without ROOT in front of it; NULL when that is no plain relative
 * name of a source. */
static const char *source_name(const char *name, const char *root, struct arena *keep)
{
    static const char *const endings[] = {".c", ".h", ".cpp", ".hpp", ".cc", ".s", ".S", ".cs"};
    char *out = arena_string(keep, name);
    if (out == NULL)
        return NULL;
    for (char *at = out; *at != '\0'; at++)
        if (*at == '\\')
            *at = '/';
    const size_t length = strlen(root);
    if (strncmp(out, root, length) == 0 && out[length] == '/')
        out += length + 1;
    if (out[0] == '/' || strchr(out, ':') != NULL || strstr(out, "..") != NULL)
        return NULL;
    const char *dot = strrchr(out, '.');
    for (size_t i = 0; dot != NULL && i < COUNT_OF(endings); i++)
        if (strcmp(dot, endings[i]) == 0)
            return out;
    return NULL;
}

static bool is_kept(const struct gathering *g, enum artifact_role role, const char *name)
{
    for (uint32_t i = 0; i < g->c->artifact_count; i++)
        if (g->c->artifacts[i].role == role && strcmp(g->c->artifacts[i].name, name) == 0)
            return true;
    return false;
}

static void add_source(struct gathering *g, const char *file)
{
    const char *name = file != NULL ? source_name(file, g->root, g->keep) : NULL;
    const char *path = name != NULL && !is_kept(g, ARTIFACT_SOURCE, name)
                           ? path_join(g->keep, g->root, name)
                           : NULL;
    struct fault absent = FAULT_INIT; /* a source may be missing */
    char *data = NULL;
    size_t bytes = 0;
    if (path != NULL &&
        file_read(path, SOURCE_MAX_BYTES, g->keep, &data, &bytes, &absent) == ERR_NONE)
        add_data(g, ARTIFACT_SOURCE, name, data, bytes);
}

/* What the module's PDB says of the frame's source: the text that was built, and its address. Any
 * name will do, since no file of it is opened. */
static void add_source_of_pdb(struct gathering *g, const struct frame *frame)
{
    struct symbol_store *symbols = g->analysis->symbols;
    char *name = frame->file != NULL && symbols != NULL && frame->module != NULL
                     ? arena_string(g->keep, frame->file)
                     : NULL;
    for (char *at = name; at != NULL && *at != '\0'; at++)
        if (*at == '\\')
            *at = '/';
    if (name == NULL || is_kept(g, ARTIFACT_SOURCE, name) || is_kept(g, ARTIFACT_SOURCE_LINK, name))
        return;
    struct symbol_source source;
    symbol_source(symbol_store_module(symbols, frame->module), frame->file, g->keep, &source);
    if (source.text != NULL && source.bytes <= SOURCE_MAX_BYTES)
        add_data(g, ARTIFACT_SOURCE, name, source.text, source.bytes);
    if (source.url != NULL)
        add_data(g, ARTIFACT_SOURCE_LINK, name, source.url, strlen(source.url));
}

static void add_sources_of_pdbs(struct gathering *g)
{
    const char *last = NULL; /* the frames of one function name the same file */
    for (uint32_t k = 0; k < g->c->claim_count; k++)
        for (uint32_t s = 0; s < g->c->claims[k].stack_count; s++)
            for (uint32_t i = 0; i < g->c->claims[k].stacks[s].frame_count; i++) {
                const struct frame *f = &g->c->claims[k].stacks[s].frames[i];
                if ((f->symbols == SYMBOLS_PPDB || f->symbols == SYMBOLS_PDB) && f->file != last)
                    add_source_of_pdb(g, f);
                last = f->file;
            }
}

static void add_sources(struct gathering *g)
{
    const struct truth *truth = g->c->truth;
    const char *last = NULL; /* the frames of one function name the same file */
    for (uint32_t t = 0; truth != NULL && t < truth->thread_count; t++)
        for (uint32_t i = 0; i < truth->threads[t].frame_count; i++) {
            const char *file = truth->threads[t].frames[i].file;
            if (file != NULL && (last == NULL || strcmp(file, last) != 0))
                add_source(g, file);
            last = file;
        }
    for (uint32_t k = 0; k < g->c->claim_count; k++)
        for (uint32_t s = 0; s < g->c->claims[k].stack_count; s++)
            for (uint32_t i = 0; i < g->c->claims[k].stacks[s].frame_count; i++) {
                const struct frame *f = &g->c->claims[k].stacks[s].frames[i];
                if (f->frame_class == CLASS_OWN && f->file != last)
                    add_source(g, f->file);
                last = f->file;
            }
}

enum status analysis_keep_files(const struct analysis *analysis, const struct crash_case *crash,
                                struct arena *keep, struct run_case *out, struct fault *fault)
{
    const char *root = crash->own.source_root != NULL ? crash->own.source_root : ".";
    if (analysis->source_root != NULL)
        root = analysis->source_root;
    struct gathering g = {.analysis = analysis, .c = out, .root = root, .keep = keep};
    out->artifact_count = 0;
    out->artifacts = ARENA_ARRAY(keep, FILES_MAX + 1, struct case_artifact);
    if (out->artifacts == NULL)
        return fault_no_memory(fault, "files of a case");
    if (crash->json != NULL && crash->json_bytes <= SEALED_MAX_BYTES)
        add_data(&g, ARTIFACT_CASE, "case.json", crash->json, crash->json_bytes);
    add_sealed(&g, crash, ROLE_TRUTH);
    add_sealed(&g, crash, ROLE_RECORD);
    add_sources_of_pdbs(&g);
    add_sources(&g);
    return ERR_NONE;
}
