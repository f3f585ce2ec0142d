/* twinstack symbols: add, list, verify, index, export, fetch.
 *
 * `add` and `verify` work on a store in the layout of Windows symbol servers, the others on any
 * files and folders. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "format/pe/pe.h"
#include "model/names.h"
#include "symbol/breakpad_export.h"
#include "symbol/csv.h"
#include "symbol/export.h"
#include "symbol/symbol_index.h"
#include "symbol/symbol_store.h"
#include "unwind/cfi_export.h"
#include "verbs/common.h"
#include "verbs/symbol_files.h"
#include "verbs/symbols_export.h"
#include "verbs/symbols_fetch.h"
#include "verbs/verbs.h"

enum form { FORM_CSV, FORM_BREAKPAD, FORM_COUNT };

static const char *const form_names[FORM_COUNT] = {"csv", "breakpad"};

struct symbols_options {
    struct option_list roots;
    const char *folder; /* of indexes */
    const char *names;
    const char *format; /* of the export */
    enum form form;
    const char *image; /* of the PDB that is exported; NULL: looked for beside it */
    uint64_t base;
    bool csv, inlines, json;
    uint32_t indexed, without_index; /* files that `index` met */
    struct symbols_fetch fetch;
};

static int add_file(void *context, struct symbol_file *file)
{
    const struct symbols_options *o = context;
    struct fault fault = FAULT_INIT;
    struct arena scratch;
    int code = EXIT_GOOD;

    arena_init(&scratch, 0);
    const char *root = o->roots.items[0];
    const char *folder =
        arena_printf(&scratch, "%s/%s/%s", root, file->place.name, file->place.key);
    const char *to = folder != NULL ? path_join(&scratch, folder, file->place.as) : NULL;
    if (file->place.key[0] == '\0') {
        log_error("path=%s: it states no identity, so it has no place in a store", file->path);
        code = EXIT_INPUT;
    } else if (to == NULL) {
        code = EXIT_INPUT;
    } else if (path_is_file(to)) {
        (void)printf("there   %s/%s\n", file->place.name, file->place.key);
    } else if (folder_make(folder, &fault) != ERR_NONE ||
               file_copy(file->path, to, &fault) != ERR_NONE) {
        code = verb_fault(&fault);
    } else {
        (void)printf("added   %s/%s\n", file->place.name, file->place.key);
    }
    arena_free(&scratch);
    return code;
}

struct list_context {
    bool json;
    struct json *out;
    const char *index_folder;
    uint32_t count;
};

static enum status list_json(struct json *j, struct symbol_file *file, struct fault *fault)
{
    const struct source_id *id = &file->source.id;
    json_object(j);
    json_key_string(j, "name", file->name);
    json_key_string(j, "path", file->path);
    json_key_string(j, "kind", id->word);
    json_key_string(j, "code_id", id->code_id[0] != '\0' ? id->code_id : NULL);
    json_key_string(j, "debug_id", id->debug_id[0] != '\0' ? id->debug_id : NULL);
    if (id->mvid[0] != '\0')
        json_key_string(j, "mvid", id->mvid);
    (void)file->source.kind->describe(&file->source, j, fault);
    json_object_end(j);
    return fault->code;
}

static int list_file(void *context, struct symbol_file *file)
{
    struct list_context *list = context;
    struct fault fault = FAULT_INIT;

    list->count++;
    if (list->json)
        return list_json(list->out, file, &fault) == ERR_NONE ? EXIT_GOOD : verb_fault(&fault);
    (void)printf("%-28s %-34s ", file->name, file->place.key);
    return file->source.kind->summarize(&file->source, stdout, &fault) == ERR_NONE
               ? EXIT_GOOD
               : verb_fault(&fault);
}

/* The indexes that lie beside a PDB, or in --index-folder.  One that was made from another version
 * of the PDB is reported but harmless: lookups ignore it or build a new one. */
static int verify_indexes(const struct list_context *list, const struct symbol_file *file)
{
    int code = EXIT_GOOD;
    struct arena scratch;

    arena_init(&scratch, 0);
    for (int names = NAMES_SHORT; names <= NAMES_DECORATED; names++) {
        struct fault fault = FAULT_INIT;
        struct symbol_index *index = NULL;
        const char *path = symbol_index_path(file->path, file->place.key, (enum symbol_names)names,
                                             list->index_folder, &scratch);
        if (path == NULL || !path_is_file(path))
            continue;
        if (symbol_index_open(path, &file->source.map, (enum symbol_names)names, &index, &fault) ==
            ERR_NONE)
            (void)symbol_index_verify(index, &fault);
        symbol_index_close(index);
        const char *state = fault.code == ERR_MISMATCH ? "stale" : "damaged";
        (void)printf("%-8s  %s\n", fault.code == ERR_NONE ? "good" : state, path);
        if (fault.code != ERR_NONE && fault.code != ERR_MISMATCH)
            code = EXIT_DIFFERENT;
    }
    arena_free(&scratch);
    return code;
}

/* In a store, the folder above a file is its identity and the one above that its name. */
static int verify_file(void *context, struct symbol_file *file)
{
    struct list_context *list = context;
    struct arena scratch;
    int code = EXIT_GOOD;

    arena_init(&scratch, 0);
    const char *want =
        arena_printf(&scratch, "%s/%s/%s", file->place.name, file->place.key, file->place.as);
    const size_t path_bytes_ = strlen(file->path), want_bytes = want != NULL ? strlen(want) : 0;
    const bool fits = want != NULL && path_bytes_ >= want_bytes &&
                      text_equal_nocase(file->path + path_bytes_ - want_bytes, want);
    list->count++;
    (void)printf("%s  %s\n", fits ? "good    " : "mismatch", file->path);
    if (!fits) {
        (void)printf("          belongs at %s\n", want != NULL ? want : "?");
        code = EXIT_DIFFERENT;
    }
    arena_free(&scratch);
    if (file->source.kind->indexing.beside && verify_indexes(list, file) != EXIT_GOOD)
        code = EXIT_DIFFERENT;
    return code;
}

static bool read_names(const char *word, enum symbol_names *out)
{
    static const char *const words[] = {"short", "full", "decorated"};
    const int found = name_index(words, COUNT_OF(words), word);
    if (found >= 0)
        *out = (enum symbol_names)found;
    return found >= 0;
}

static int index_file(void *context, struct symbol_file *file)
{
    struct symbols_options *o = context;
    struct fault fault = FAULT_INIT;
    struct symbol_index_cost cost = {0};
    enum symbol_names names = NAMES_SHORT;
    struct arena scratch;
    int code = EXIT_GOOD;

    const struct pdb *pdb = source_pdb_of(&file->source);
    if (pdb == NULL) {
        o->without_index++;
        return EXIT_GOOD;
    }
    o->indexed++;
    (void)read_names(o->names, &names);
    arena_init(&scratch, 0);
    char *path = symbol_index_path(file->path, file->place.key, names, o->folder, &scratch);
    if (path == NULL || (o->folder != NULL && folder_make(o->folder, &fault) != ERR_NONE) ||
        symbol_index_build(pdb, &file->source.map, names, 0, path, &cost, &fault) != ERR_NONE) {
        fault_set_path(&fault, file->path);
        code = verb_fault(&fault);
    } else {
        (void)printf("%s  %" PRIu64 " bytes, %" PRIu64 " ranges, %.1f ms\n", path, cost.index_bytes,
                     cost.ranges, (double)cost.build_ns / 1e6);
    }
    arena_free(&scratch);
    return code;
}

/* The image of the PDB: what --image names, else what lies beside the PDB; NULL: none. */
static const char *find_image(const struct symbols_options *o, const struct symbol_file *file,
                              struct arena *scratch)
{
    static const char *const ends[] = {".exe", ".dll", ".sys", ".node", ".ocx"};
    const size_t bytes = strlen(file->path);
    if (o->image != NULL || bytes < 4)
        return o->image;
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        const char *path = arena_printf(scratch, "%.*s%s", (int)(bytes - 4), file->path, ends[i]);
        if (path != NULL && path_is_file(path))
            return path;
    }
    return NULL;
}

/* The image of a PDB that is exported. */
struct export_image {
    const char *path; /* NULL: none */
    struct file_map map;
    struct pe pe;
    char code_id[CODE_ID_BYTES];
};

/* Opens the image; it also says where the code lies, if the PDB does not. Fails: as file_map() and
 * pe_open(); ERR_MISMATCH. */
static enum status open_image(const struct symbols_options *o, struct symbol_file *file,
                              struct arena *scratch, struct export_image *out, struct fault *fault)
{
    char debug_id[DEBUG_ID_BYTES];

    *out = (struct export_image){.path = find_image(o, file, scratch)};
    if (out->path == NULL)
        return ERR_NONE;
    if (file_map(out->path, &out->map, fault) == ERR_NONE &&
        pe_open(out->map.data, out->map.bytes, &out->pe, fault) == ERR_NONE) {
        pe_code_id(&out->pe, out->code_id);
        pe_debug_id(&out->pe, debug_id);
        if (strcmp(debug_id, file->source.id.debug_id) != 0)
            fault_set_hint(fault, ERR_MISMATCH, FAULT_NO_OFFSET, "image of the PDB",
                           "it is of another build: name the right one with --image");
        else
            pdb_take_sections(source_pdb_of(&file->source), &out->pe);
    }
    fault_set_path(fault, out->path);
    return fault->code;
}

/* Prints the PDB as a Breakpad file, with the unwind data of its image. */
static enum status export_breakpad(const struct symbol_export *how, struct symbol_file *file,
                                   const struct export_image *image, struct fault *fault)
{
    const struct pdb *pdb = source_pdb_of(&file->source);
    struct symbol_export_head head = {.pdb_name = file->name};

    if (image->path != NULL) {
        head.image_name = path_base(image->path);
        head.code_id = image->code_id;
    }
    if (symbol_export_breakpad(pdb, how, &head, stdout, fault) != ERR_NONE)
        return fault->code;
    if (image->path != NULL)
        (void)unwind_export_cfi(&image->pe, stdout);
    else if (pdb->machine == PE_MACHINE_X64 || pdb->machine == PE_MACHINE_ARM64)
        log_warn("path=%s: no image beside it, so no STACK CFI; name it with --image", file->path);
    return ERR_NONE;
}

/* Rows need an image only if the PDB does not say where its code lies. */
static int export_pdb(const struct symbols_options *o, const struct symbol_export *how,
                      struct symbol_file *file)
{
    const struct pdb *pdb = source_pdb_of(&file->source);
    const bool breakpad = o->form == FORM_BREAKPAD;
    struct export_image image = {0};
    struct fault fault = FAULT_INIT;
    struct arena scratch;

    arena_init(&scratch, 0);
    if (!breakpad && pdb->section_count > 0)
        (void)symbol_export_csv(pdb, how, stdout, &fault);
    else if (open_image(o, file, &scratch, &image, &fault) == ERR_NONE)
        (void)(breakpad ? export_breakpad(how, file, &image, &fault)
                        : symbol_export_csv(pdb, how, stdout, &fault));
    if (fault.code == ERR_NONE && pdb->has_dbi && pdb->section_count == 0)
        log_warn("path=%s: %s; name it with --image", file->path,
                 frame_note_name(NOTE_PDB_NO_SECTIONS));
    file_unmap(&image.map);
    arena_free(&scratch);
    fault_set_path(&fault, file->path);
    return fault.code != ERR_NONE ? verb_fault(&fault) : EXIT_GOOD;
}

static int export_file(void *context, struct symbol_file *file)
{
    const struct symbols_options *o = context;
    struct symbol_export how = {.base = o->base, .inlines = o->inlines};

    (void)read_names(o->names, &how.names);
    if (o->form == FORM_BREAKPAD && source_object_of(&file->source) != NULL)
        return symbols_export_object(file, &o->roots, how.names);
    if (source_pdb_of(&file->source) != NULL)
        return export_pdb(o, &how, file);
    log_error("path=%s: this is %s; PDBs are exported, and images with --format breakpad",
              file->path, file->source.id.word);
    return EXIT_INPUT;
}

static int list_or_verify(const struct symbols_options *o, const struct option_list *paths,
                          symbol_file_fn *visit)
{
    struct json j;
    struct list_context list = {o->json && visit == list_file, &j, o->folder, 0};

    if (list.json)
        json_print_list(&j, "files");
    int code = symbol_files_visit(paths, visit, &list);
    if (list.json)
        json_print_list_end(&j);
    if (list.count == 0 && code == EXIT_GOOD) {
        log_warn("no file of symbols there");
        code = EXIT_NOTHING;
    }
    return code;
}

/* The files named, or the folders of --symbols; NULL after a usage error. */
static const struct option_list *paths_of(const struct verb *self, const struct symbols_options *o,
                                          const struct option_list *files)
{
    if (files->count == 0 && o->roots.count == 0)
        (void)verb_usage_error(self, "name files, or --symbols DIR");
    if (files->count > 0)
        return files;
    return o->roots.count > 0 ? &o->roots : NULL;
}

static int run_add(const struct verb *self, void *options, const struct option_list *files,
                   struct arena *keep)
{
    struct symbols_options *o = options;
    (void)keep;
    if (o->roots.count != 1)
        return verb_usage_error(self, "add needs --symbols DIR, the store, and files");
    return symbol_files_visit(files, add_file, o);
}

static int run_list(const struct verb *self, void *options, const struct option_list *files,
                    struct arena *keep)
{
    const struct symbols_options *o = options;
    const struct option_list *paths = paths_of(self, o, files);
    (void)keep;
    return paths != NULL ? list_or_verify(o, paths, list_file) : EXIT_USAGE;
}

static int run_verify(const struct verb *self, void *options, const struct option_list *files,
                      struct arena *keep)
{
    const struct symbols_options *o = options;
    const struct option_list *paths = paths_of(self, o, files);
    (void)keep;
    return paths != NULL ? list_or_verify(o, paths, verify_file) : EXIT_USAGE;
}

static int run_index(const struct verb *self, void *options, const struct option_list *files,
                     struct arena *keep)
{
    struct symbols_options *o = options;
    const struct option_list *paths = paths_of(self, o, files);
    const int code = paths != NULL ? symbol_files_visit(paths, index_file, o) : EXIT_USAGE;
    (void)keep;
    if (code != EXIT_GOOD || o->indexed > 0 || o->without_index == 0)
        return code;
    log_error("nothing was indexed: only a PDB has its index beside it, and none of %" PRIu32
              " files is one; `twinstack resolve --index always` keeps the indexes of images and "
              ".sym files in the cache",
              o->without_index);
    return EXIT_NOTHING;
}

static int run_export(const struct verb *self, void *options, const struct option_list *files,
                      struct arena *keep)
{
    struct symbols_options *o = options;
    const int form = name_index(form_names, FORM_COUNT, o->format);
    (void)keep;
    if (form < 0)
        return verb_usage_error(self, "--format is csv or breakpad, not '%s'", o->format);
    o->form = (enum form)form;
    return symbol_files_visit(files, export_file, options);
}

static int run_fetch(const struct verb *self, void *options, const struct option_list *files,
                     struct arena *keep)
{
    struct symbols_options *o = options;
    (void)keep;
    (void)files;
    if (o->fetch.dumps.count + o->fetch.stacks.count == 0)
        return verb_usage_error(self, "fetch needs --dump FILE or --stack FILE");
    o->fetch.roots = o->roots;
    o->fetch.json = o->json;
    return symbols_fetch(&o->fetch);
}

static const struct subcommand subcommands[] = {
    {"add", "--symbols DIR FILE|DIR...", "copy PDBs and images into the store by their identity", 1,
     SUBCOMMAND_WORDS_MAX, run_add},
    {"list", "[FILE|DIR...]", "list the files: identity, procedures, inline sites, line tables", 0,
     SUBCOMMAND_WORDS_MAX, run_list},
    {"verify", "[FILE|DIR...]",
     "check that every file is where its identity says and that its index is whole", 0,
     SUBCOMMAND_WORDS_MAX, run_verify},
    {"index", "[FILE|DIR...]", "build the index of each PDB, for fast lookups", 0,
     SUBCOMMAND_WORDS_MAX, run_index},
    {"export", "FILE",
     "print a PDB as the rows of pdbdump, or a PDB or an image as a Breakpad .sym file", 1, 1,
     run_export},
    {"fetch", "--symbols SRV --dump FILE|--stack FILE...",
     "download the symbols of a dump or a stack into the cache", 0, 0, run_fetch},
    {.name = NULL},
};

static int choose(const struct verb *self, void *given, const struct option_list *words,
                  struct arena *keep)
{
    const struct symbols_options *o = given;
    enum symbol_names names;
    if (!read_names(o->names, &names))
        return verb_usage_error(self, "--names is short, full or decorated, not '%s'", o->names);
    return subcommand_run(self, NULL, given, words, keep);
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct symbols_options o = {.names = "short", .format = "csv", .base = CSV_BASE_DEFAULT};
    struct option_old csv = {OPTION_FLAG, &o.csv, "--format csv, which is the default"};
    const struct option_row rows[] = {
        OPTION_AS(SYMBOLS, &o.roots, "the store; fetch: a server; export: debug files of an image"),
        OPTION_WORDS(FORMAT, "csv|breakpad", &o.format,
                     "export; csv: rows as pdbdump prints them (default)"),
        {"--image", OPTION_STRING, &o.image, "FILE",
         "export: image of the PDB, for STACK CFI (beside the PDB)"},
        {"--csv", OPTION_OLD, &csv, NULL, NULL},
        {"--inlines", OPTION_FLAG, &o.inlines, NULL, "export: also lines and inlined ranges"},
        OPTION_AS(CSV_BASE, &o.base, "export; default 0x400000"),
        OPTION(NAMES, &o.names),
        {"--index-folder", OPTION_STRING, &o.folder, "DIR",
         "index, verify: keep indexes here instead of beside the PDB"},
        OPTION(PROGRESS, NULL),
        OPTION_AS(JSON, &o.json, "list, fetch"),
        OPTION_EACH(DUMP, &o.fetch.dumps, "fetch: for all its modules"),
        OPTION_EACH(STACK, &o.fetch.stacks, "fetch: for its modules"),
        OPTION(CACHE, &o.fetch.cache),
        FETCH_OPTION_ROWS(o.fetch.fetch),
    };
    const int code = verb_main(self, rows, COUNT_OF(rows), choose, &o, argc, argv);
    return fflush(stdout) != 0 && code == EXIT_GOOD ? EXIT_INPUT : code;
}

const struct verb verb_symbols = {
    .name = "symbols",
    .summary = "the symbol store: add, list, verify, index, export, fetch",
    .subcommands = subcommands,
    .details =
        "The store has the layout of Windows symbol servers: name/IDENTITY/name.  verify also "
        "reads the\nindexes beside PDBs (or in --index-folder).\n\n"
        "examples:\n"
        "  twinstack symbols add --symbols store build/app.exe build/app.pdb\n"
        "  twinstack symbols list --symbols store\n"
        "  twinstack symbols export --inlines app.pdb > app.csv\n"
        "  twinstack symbols export --format breakpad app.pdb > app.sym\n"
        "  twinstack symbols fetch --symbols 'srv*cache*https://symbols.example/' --dump "
        "crash.dmp",
    .exits = "  0  done\n"
             "  1  verify: a file is in the place of another one, or an index is damaged\n"
             "  2  usage\n"
             "  3  a named file is missing, damaged or unsupported; fetch: a server "
             "did\n     not answer, refused, or sent a wrong file\n"
             "  5  no file was found; index: none of them is a PDB",
    .run = run,
};
