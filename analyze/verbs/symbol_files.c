/* See symbol_files.h. */
#include "verbs/symbol_files.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "format/pe/pe.h"
#include "symbol/source.h"
#include "symbol/store.h"
#include "verbs/verb.h"

enum { FOLDER_DEPTH = 8 };

/* The last letter of a packed file's name is '_'. */
static void name_builds(struct symbol_file *file)
{
    static const char ends[][6] = {".pd_b", ".ex_e", ".dl_l", ".sy_s"};
    const size_t bytes = strlen(file->name);
    (void)snprintf(file->build_of, sizeof file->build_of, "%s", file->name);
    for (size_t i = 0; file->unpacked && bytes < sizeof file->build_of && i < 4; i++)
        if (bytes > 4 && strncmp(file->name + bytes - 4, ends[i], 4) == 0)
            file->build_of[bytes - 1] = ends[i][4];
}

const char *symbol_kind_name(const struct symbol_file *file)
{
    switch (file->kind) {
    case SYMBOL_KIND_PDB:
        return "pdb";
    case SYMBOL_KIND_IMAGE:
        return "image";
    case SYMBOL_KIND_PORTABLE:
        return "ppdb";
    case SYMBOL_KIND_BREAKPAD:
        return "breakpad";
    default:
        return file->object.kind == OBJECT_MACHO ? "macho" : "elf";
    }
}

/* Breakpad's layout: app.pdb/ID/app.sym. */
static void place_breakpad(struct symbol_file *file)
{
    const char *module = file->breakpad.module;
    const char *dot = strrchr(module, '.');
    const bool pdb = dot != NULL && (strcmp(dot, ".pdb") == 0 || strcmp(dot, ".PDB") == 0);
    (void)snprintf(file->build_of, sizeof file->build_of, "%s", module);
    (void)snprintf(file->stored_as, sizeof file->stored_as, "%.*s.sym",
                   (int)(pdb ? (size_t)(dot - module) : strlen(module)), module);
    (void)snprintf(file->id, sizeof file->id, "%s", file->breakpad.debug_id);
    memcpy(file->debug_id, file->breakpad.debug_id, sizeof file->debug_id);
}

/* Keys of SSQP (Simple Symbol Query Protocol): name/elf-buildid-ID/name and
 * name/mach-uuid-ID/name, and for files of symbols alone a fixed name.
 * Source: https://github.com/dotnet/symstore/blob/main/docs/specs/SSQP_Key_Conventions.md */
static void place_object(struct symbol_file *file)
{
    const bool macho = file->object.kind == OBJECT_MACHO, code = file->object.has_code;
    if (!code) {
        (void)snprintf(file->build_of, sizeof file->build_of, "%s", macho ? "_.dwarf" : "_.debug");
        (void)snprintf(file->stored_as, sizeof file->stored_as, "%s", file->build_of);
    }
    if (file->object.id[0] != '\0')
        (void)snprintf(file->id, sizeof file->id, "%s%s%s", macho ? "mach-uuid-" : "elf-buildid-",
                       code ? "" : "sym-", file->object.id);
    memcpy(file->debug_id, file->object.debug_id, sizeof file->debug_id);
}

static bool open_image(struct symbol_file *out)
{
    struct fault ignored = FAULT_INIT;
    struct pe pe;
    char code_id[CODE_ID_BYTES];
    if (pe_open(out->map.data, out->map.bytes, &pe, &ignored) != ERR_NONE)
        return false;
    out->kind = SYMBOL_KIND_IMAGE;
    pe_code_id(&pe, code_id);
    (void)snprintf(out->id, sizeof out->id, "%s", code_id);
    pe_debug_id(&pe, out->debug_id);
    (void)managed_mvid(&pe, out->mvid);
    return true;
}

/* Determines what the mapped file is; false: no file of symbols, or a fault. */
static bool read_kind(struct symbol_file *out, struct fault *fault)
{
    const void *data = out->map.data;
    const size_t bytes = out->map.bytes;
    if (ppdb_recognize(data, bytes)) {
        out->kind = SYMBOL_KIND_PORTABLE;
        if (ppdb_open(data, bytes, &out->portable, fault) != ERR_NONE)
            return false;
        ppdb_debug_id(&out->portable, out->debug_id);
        /* as the Simple Symbol Query Protocol writes it */
        (void)snprintf(out->id, sizeof out->id, "%.32sFFFFFFFF", out->debug_id);
        return true;
    }
    if (pdb_recognize(data, bytes)) {
        out->kind = SYMBOL_KIND_PDB;
        if (pdb_open(data, bytes, &out->pdb, fault) != ERR_NONE)
            return false;
        pdb_debug_id(&out->pdb, out->debug_id);
        (void)snprintf(out->id, sizeof out->id, "%s", out->debug_id);
        return true;
    }
    if (breakpad_recognize(data, bytes)) {
        out->kind = SYMBOL_KIND_BREAKPAD;
        if (breakpad_read(data, bytes, &out->breakpad, fault) == ERR_NONE) {
            place_breakpad(out);
            return true;
        }
        breakpad_close(&out->breakpad);
        return false;
    }
    const enum object_kind kind = object_recognize(data, bytes);
    if (kind == OBJECT_PE)
        return open_image(out);
    if (kind != OBJECT_ELF && kind != OBJECT_MACHO)
        return false;
    out->kind = SYMBOL_KIND_OBJECT;
    if (!object_candidate_read(data, bytes, 0, &out->object, fault))
        return false;
    place_object(out);
    return true;
}

/* Opens PATH; false when it is no file of symbols, and *why says so. A damaged one is reported. */
static bool open_file(const char *path, struct symbol_file *out, const char **why, int *code)
{
    struct fault fault = FAULT_INIT;

    memset(out, 0, sizeof *out);
    out->path = path;
    out->name = path_base(path);
    if (source_map(path, &out->map, &out->unpacked, &fault) != ERR_NONE) {
        *code = verb_fault(&fault);
        return false;
    }
    name_builds(out);
    (void)snprintf(out->stored_as, sizeof out->stored_as, "%s", out->name);
    if (read_kind(out, &fault))
        return true;
    if (fault.code != ERR_NONE) {
        fault_set_path(&fault, path);
        *code = verb_fault(&fault);
    }
    *why = source_expected(out->map.data, out->map.bytes);
    source_unmap(&out->map, out->unpacked);
    return false;
}

static void close_file(struct symbol_file *file)
{
    if (file->kind == SYMBOL_KIND_PDB)
        pdb_close(&file->pdb);
    if (file->kind == SYMBOL_KIND_BREAKPAD)
        breakpad_close(&file->breakpad);
    source_unmap(&file->map, file->unpacked);
}

static int visit_file(const char *path, bool named, symbol_file_fn *visit, void *context)
{
    struct symbol_file file;
    const char *why = "";
    int code = EXIT_GOOD;

    if (!open_file(path, &file, &why, &code)) {
        if (named && code == EXIT_GOOD) {
            log_error("path=%s: %s", path, why);
            code = EXIT_INPUT;
        }
        return code;
    }
    code = visit(context, &file);
    close_file(&file);
    return code;
}

/* Visits PATH, or all files below it.  Returns the first exit code that is not 0. */
static int visit_path(const char *path, bool named, int depth, symbol_file_fn *visit, void *context)
{
    struct fault fault = FAULT_INIT;
    struct arena scratch;
    const char **names;
    size_t count;
    int code = EXIT_GOOD;

    if (!path_is_folder(path))
        return visit_file(path, named, visit, context);
    if (depth == 0)
        return EXIT_GOOD;
    arena_init(&scratch, 0);
    if (folder_list(path, &scratch, &names, &count, &fault) != ERR_NONE) {
        code = verb_fault(&fault);
    } else {
        for (size_t i = 0; i < count; i++) {
            const char *below = path_join(&scratch, path, names[i]);
            const int one =
                below != NULL ? visit_path(below, false, depth - 1, visit, context) : EXIT_INPUT;
            code = code == EXIT_GOOD ? one : code;
        }
    }
    arena_free(&scratch);
    return code;
}

int symbol_files_visit(const struct option_list *paths, symbol_file_fn *visit, void *context)
{
    int code = EXIT_GOOD;
    for (uint32_t i = 0; i < paths->count; i++) {
        const int one = visit_path(paths->items[i], true, FOLDER_DEPTH, visit, context);
        code = code == EXIT_GOOD ? one : code;
    }
    return code;
}
