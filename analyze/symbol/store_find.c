/* Finds the file for a module: in symbol-server folders by path, in plain folders and single files
 * by the identity inside the files; see store.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "symbol/store_parts.h"

static struct store_pdb *try_pdb(struct symbol_store *store, const char *path, const char *id,
                                 enum frame_note *note)
{
    struct fault fault = FAULT_INIT;
    struct store_pdb *pdb;
    if (store_open_pdb(store, path, &pdb, &fault) != ERR_NONE) {
        *note = fault.code == ERR_UNSUPPORTED ? NOTE_PDB_UNSUPPORTED : NOTE_PDB_DAMAGED;
        return NULL;
    }
    if (strcmp(pdb->debug_id, id) == 0)
        return pdb;
    *note = NOTE_PDB_OTHER_BUILD;
    return NULL;
}

/* The PDB of identity ID.  NULL with *mismatch when only another build is there. */
static struct store_pdb *find_pdb(struct symbol_store *store, const struct module *module,
                                  const char *stated, const char *id, struct arena *scratch,
                                  enum frame_note *note, bool *mismatch)
{
    const char *names[5];
    struct store_pdb *pdb;

    store_pdb_names(module, stated, scratch, names);
    for (uint32_t r = 0; r < store->root_count + store->server_count; r++) {
        for (uint32_t n = 0; names[n] != NULL; n++) {
            const char *path =
                store_find_on_server(store, store_server(store, r), names[n], id, scratch);
            if (path == NULL)
                continue;
            if ((pdb = try_pdb(store, path, id, note)) != NULL) {
                store_keep_nearer(store, store_server(store, r), names[n], id, path);
                return pdb;
            }
            *mismatch = *note == NOTE_PDB_OTHER_BUILD;
        }
    }
    store_list_files(store);
    for (uint32_t i = 0; i < store->file_count; i++) {
        const struct store_file *file = &store->files[i];
        const bool fits = store_pdb_name_fits(file->path, module) ||
                          (stated != NULL && text_equal_nocase(stated, file->name));
        if ((!file->pdb && !file->packed) || (!fits && strcmp(file->debug_id, id) != 0))
            continue;
        if (strcmp(file->debug_id, id) == 0 || file->packed || file->debug_id[0] == '\0') {
            if ((pdb = try_pdb(store, file->path, id, note)) != NULL)
                return pdb;
        } else {
            *note = NOTE_PDB_OTHER_BUILD;
            *mismatch = true;
        }
    }
    return NULL;
}

static bool breakpad_fits(const struct store_file *file, const struct module *module)
{
    const struct breakpad names = {.module = file->name, .image = file->image_name};
    return store_breakpad_name_fits(&names, module);
}

static struct store_breakpad *try_breakpad(struct symbol_store *store, const char *path,
                                           const char *id, enum frame_note *note, bool *mismatch)
{
    struct fault fault = FAULT_INIT;
    struct store_breakpad *opened;
    if (store_open_breakpad(store, path, &opened, &fault) != ERR_NONE) {
        *note = NOTE_SYM_DAMAGED;
        return NULL;
    }
    if (strcmp(opened->file.debug_id, id) == 0)
        return opened;
    *note = NOTE_SYM_OTHER_BUILD;
    *mismatch = true;
    return NULL;
}

/* The .sym file of identity ID.  NULL with *mismatch when only another build is there. */
static struct store_breakpad *find_breakpad(struct symbol_store *store, const struct module *module,
                                            const char *stated, const char *id,
                                            struct arena *scratch, enum frame_note *note,
                                            bool *mismatch)
{
    const char *names[6];
    struct store_breakpad *found = NULL;
    uint32_t count = 0;

    store_pdb_names(module, stated, scratch, names);
    while (names[count] != NULL)
        count++;
    names[count] = module->name; /* images of other systems have no PDB */
    for (uint32_t r = 0; found == NULL && r < store->root_count + store->server_count; r++) {
        for (uint32_t n = 0; found == NULL && n <= count; n++) {
            const char *path =
                store_find_breakpad_on_server(store_server(store, r), names[n], id, scratch);
            if (path != NULL)
                found = try_breakpad(store, path, id, note, mismatch);
            if (found != NULL)
                store_keep_nearer(store, store_server(store, r), names[n], id, path);
        }
    }
    store_list_files(store);
    for (uint32_t i = 0; found == NULL && i < store->file_count; i++) {
        const struct store_file *file = &store->files[i];
        if (!file->breakpad)
            continue;
        if (strcmp(file->debug_id, id) == 0) {
            found = try_breakpad(store, file->path, id, note, mismatch);
        } else if (breakpad_fits(file, module)) {
            *note = NOTE_SYM_OTHER_BUILD;
            *mismatch = true;
        }
    }
    return found;
}

static struct store_image *try_image(struct symbol_store *store, const char *path, uint32_t slice)
{
    struct fault fault = FAULT_INIT;
    struct store_image *image;
    return store_open_image(store, path, slice, &image, &fault) == ERR_NONE ? image : NULL;
}

/* "app.ex_" is "app.exe" in a cabinet. */
static bool packs(const char *packed, const char *name)
{
    const size_t bytes = strlen(name);
    char text[256];
    if (bytes == 0 || bytes >= sizeof text)
        return false;
    memcpy(text, name, bytes + 1);
    text[bytes - 1] = '_';
    return text_equal_nocase(packed, text);
}

static bool is_other_mvid(const char *mvid, const struct module *module)
{
    return module->mvid[0] != '\0' && mvid[0] != '\0' && strcmp(mvid, module->mvid) != 0;
}

/* Files of other systems have no code_id in Windows' sense. */
static bool is_image_of(const char *code_id, const char *debug_id, const char *mvid,
                        const struct module *module)
{
    if ((module->debug_id[0] == '\0' && module->code_id[0] == '\0') || is_other_mvid(mvid, module))
        return false;
    if (module->code_id[0] == '\0' || code_id[0] == '\0')
        return debug_id[0] != '\0' && strcmp(debug_id, module->debug_id) == 0;
    const bool clash = module->debug_id[0] != '\0' && debug_id[0] != '\0' &&
                       strcmp(debug_id, module->debug_id) != 0;
    return text_equal_nocase(code_id, module->code_id) && !clash;
}

/* The image with the module's identity; *other is set when only another build of that name
 * exists. */
static struct store_image *find_image(struct symbol_store *store, const struct module *module,
                                      struct arena *scratch, bool *other)
{
    struct store_image *image;

    *other = false;
    for (uint32_t r = 0; module->code_id[0] != '\0' && r < store->root_count + store->server_count;
         r++) {
        const char *path = store_find_on_server(store, store_server(store, r), module->name,
                                                module->code_id, scratch);
        if (path != NULL && (image = try_image(store, path, 0)) != NULL) {
            if (text_equal_nocase(image->code_id, module->code_id) &&
                !is_other_mvid(image->mvid, module)) {
                store_keep_nearer(store, store_server(store, r), module->name, module->code_id,
                                  path);
                return image;
            }
            *other = true;
        }
    }
    store_list_files(store);
    for (uint32_t i = 0; i < store->file_count; i++) {
        const struct store_file *file = &store->files[i];
        if (file->packed && packs(file->name, module->name) &&
            (image = try_image(store, file->path, 0)) != NULL) {
            if (is_image_of(image->code_id, image->debug_id, image->mvid, module))
                return image;
            *other = true;
        }
    }
    for (int debug = 0; debug < 2; debug++) {
        for (uint32_t i = 0; i < store->file_count; i++) {
            const struct store_file *file = &store->files[i];
            if (!file->image || file->object.has_code != (debug == 0))
                continue;
            if (is_image_of(file->code_id, file->debug_id, file->mvid, module) &&
                (image = try_image(store, file->path, file->object.slice)) != NULL)
                return image;
            if (text_equal_nocase(file->name, module->name))
                *other = true;
        }
    }
    return NULL;
}

/* What one search of the available files has found. */
struct identity_search {
    bool other_image, mismatch;
    bool several; /* images with its MVID that name different PDBs */
    enum frame_note note;
};

static void search_identity(struct symbol_store *store, struct symbol_module *sources,
                            struct arena *scratch, struct identity_search *out)
{
    const struct module *module = &sources->identity;

    *out = (struct identity_search){0};
    sources->image =
        module->code_id[0] == '\0' && module->debug_id[0] == '\0'
            ? store_image_of_mvid(store, module, scratch, &out->other_image, &out->several)
            : find_image(store, module, scratch, &out->other_image);
    if (sources->image == NULL)
        sources->image = store_system_image(store, module, scratch);
    const char *stated = sources->image != NULL ? sources->image->pdb_name : NULL;
    const char *id = module->debug_id;
    if (id[0] == '\0' && sources->image != NULL)
        id = sources->image->debug_id;
    if (id[0] != '\0')
        sources->pdb = find_pdb(store, module, stated, id, scratch, &out->note, &out->mismatch);
    if (id[0] != '\0' && sources->pdb == NULL)
        sources->breakpad =
            find_breakpad(store, module, stated, id, scratch, &out->note, &out->mismatch);
}

/* Asks the symbol servers for what the search has not found, and searches again if something came.
 * The image of a module of Windows is not asked for while its PDB is found: see
 * symbol_store_image(). */
static enum frame_note ask_servers(struct symbol_store *store, struct symbol_module *sources,
                                   struct arena *scratch, struct identity_search *found)
{
    const struct module *module = &sources->identity;
    enum frame_note note = NOTE_NONE;
    bool got = false;

    if (sources->pdb != NULL || sources->breakpad != NULL || !fetch_has_servers(store->fetch))
        return NOTE_NONE;
    const char *id = module->debug_id;
    if (id[0] == '\0' && sources->image != NULL)
        id = sources->image->debug_id;
    if (id[0] != '\0' || module->build_id != NULL)
        got = store_fetch_symbols(store, module, sources->image, id, scratch, &note);
    if (!got && sources->image == NULL) {
        sources->image_asked = true;
        got = store_fetch_image(store, module, &note);
        if (got && id[0] == '\0') { /* it states which PDB it needs */
            search_identity(store, sources, scratch, found);
            if (sources->image != NULL && sources->pdb == NULL)
                (void)store_fetch_symbols(store, module, sources->image, sources->image->debug_id,
                                          scratch, &note);
        }
    }
    if (got)
        search_identity(store, sources, scratch, found);
    return note;
}

static void find_by_identity(struct symbol_store *store, struct symbol_module *sources,
                             struct arena *scratch)
{
    struct identity_search found;

    search_identity(store, sources, scratch, &found);
    const enum frame_note asked = ask_servers(store, sources, scratch, &found);
    sources->state = sources->pdb != NULL || sources->image != NULL || sources->breakpad != NULL
                         ? IDENTITY_CHECKED
                         : IDENTITY_UNCHECKED;
    if (sources->pdb != NULL || sources->breakpad != NULL)
        return;
    if (found.several) {
        sources->state = IDENTITY_AMBIGUOUS;
        sources->note = NOTE_SEVERAL_BUILDS;
        return;
    }
    const enum frame_note note = asked != NOTE_NONE ? asked : found.note;
    if (found.mismatch || (sources->image == NULL && found.other_image && note == NOTE_NONE)) {
        sources->without = SYMBOLS_MISMATCH;
        sources->note = note != NOTE_NONE ? note : NOTE_IMAGE_OTHER_BUILD;
    } else if (note == NOTE_NONE && sources->image != NULL &&
               sources->identity.debug_id[0] != '\0' && sources->image->debug_id[0] != '\0' &&
               strcmp(sources->image->debug_id, sources->identity.debug_id) != 0) {
        sources->without = SYMBOLS_MISMATCH;
        sources->note = NOTE_IMAGE_OTHER_PDB;
    } else if (note != NOTE_NONE) {
        sources->note = note;
    }
}

void store_find_image(struct symbol_store *store, struct symbol_module *sources)
{
    struct arena scratch;
    enum frame_note note = NOTE_NONE;
    bool other;

    sources->image_asked = true;
    if (!store_fetch_image(store, &sources->identity, &note))
        return;
    arena_init(&scratch, 0);
    sources->image = find_image(store, &sources->identity, &scratch, &other);
    arena_free(&scratch);
}

void store_find_unwind(struct symbol_store *store, struct symbol_module *sources)
{
    const struct module *module = &sources->identity;
    enum frame_note note = NOTE_NONE;
    struct arena scratch;
    bool mismatch = false;

    sources->unwind_asked = true;
    sources->unwind = sources->breakpad;
    if (sources->unwind != NULL || module->debug_id[0] == '\0')
        return;
    arena_init(&scratch, 0);
    sources->unwind =
        find_breakpad(store, module, NULL, module->debug_id, &scratch, &note, &mismatch);
    arena_free(&scratch);
}

/* What a search by name alone has found so far. */
struct name_search {
    struct store_image *image;
    struct store_pdb *pdb;
    struct store_breakpad *breakpad;
    bool images_differ, pdbs_differ, breakpads_differ;
    bool mismatch; /* a PDB under the key of another build */
    enum frame_note note;
};

/* The first slice of a fat file is used, unless the user named an architecture. */
static void meet_image(struct symbol_store *store, struct name_search *found, const char *path,
                       uint32_t slice)
{
    if (found->image != NULL && strcmp(found->image->path, path) == 0) {
        found->note = NOTE_FAT_FILE;
        return;
    }
    struct store_image *image = try_image(store, path, slice);
    if (image == NULL)
        return;
    if (found->image == NULL)
        found->image = image;
    else if (strcmp(found->image->code_id, image->code_id) != 0 ||
             strcmp(found->image->debug_id, image->debug_id) != 0)
        found->images_differ = true;
}

static void meet_pdb(struct symbol_store *store, struct name_search *found, const char *path)
{
    struct fault fault = FAULT_INIT;
    struct store_pdb *pdb;
    if (store_open_pdb(store, path, &pdb, &fault) != ERR_NONE) {
        found->note = fault.code == ERR_UNSUPPORTED ? NOTE_PDB_UNSUPPORTED : NOTE_PDB_DAMAGED;
        return;
    }
    if (found->pdb == NULL)
        found->pdb = pdb;
    else if (strcmp(found->pdb->debug_id, pdb->debug_id) != 0)
        found->pdbs_differ = true;
}

static void meet_breakpad(struct symbol_store *store, struct name_search *found, const char *path)
{
    struct fault fault = FAULT_INIT;
    struct store_breakpad *opened;
    if (store_open_breakpad(store, path, &opened, &fault) != ERR_NONE)
        found->note = NOTE_SYM_DAMAGED;
    else if (found->breakpad == NULL)
        found->breakpad = opened;
    else if (strcmp(found->breakpad->file.debug_id, opened->file.debug_id) != 0)
        found->breakpads_differ = true;
}

/* A symbol server names each folder after the identity of the PDB in it. Unreadable files are
 * reported when they are opened. */
static bool is_under_its_key(struct symbol_store *store, const char *path, const char *key)
{
    struct fault fault = FAULT_INIT;
    struct store_pdb *pdb;
    return store_open_pdb(store, path, &pdb, &fault) != ERR_NONE ||
           text_equal_nocase(pdb->debug_id, key);
}

/* Every build of NAME that a symbol server's root has. */
static void meet_on_server(struct symbol_store *store, const char *root, const char *name,
                           bool image, struct arena *scratch, struct name_search *found)
{
    struct fault fault = FAULT_INIT;
    const char *folder = store_find_builds(root, name, scratch);
    const char **ids;
    size_t count;

    if (folder == NULL || folder_list(folder, scratch, &ids, &count, &fault) != ERR_NONE)
        return;
    for (size_t i = 0; i < count && !found->images_differ && !found->pdbs_differ; i++) {
        const char *path = store_find_on_server(store, root, name, ids[i], scratch);
        const char *sym = store_find_breakpad_on_server(root, name, ids[i], scratch);
        if (sym != NULL)
            meet_breakpad(store, found, sym);
        if (path == NULL)
            continue;
        if (image)
            meet_image(store, found, path, 0);
        else if (is_under_its_key(store, path, ids[i]))
            meet_pdb(store, found, path);
        else
            found->mismatch = true;
    }
}

static bool is_arch(const struct symbol_store *store, const struct store_file *file)
{
    return store->arch == ARCH_NONE || file->object.arch == ARCH_NONE ||
           store->arch == file->object.arch;
}

/* A named ELF or Mach-O file is used for its own name, otherwise for the first other name that is
 * not a system module, like a bare PDB. */
static void offer_files(struct symbol_store *store, const struct module *module,
                        struct name_search *found)
{
    for (int debug = 0; debug < 2 && found->image == NULL; debug++) {
        for (uint32_t i = 0; i < store->file_count && found->image == NULL; i++) {
            struct store_file *file = &store->files[i];
            if (!file->root || !file->image || file->object.kind == OBJECT_PE ||
                file->object.has_code != (debug == 0) || !is_arch(store, file) ||
                (file->taken != NULL && !text_equal_nocase(file->taken, module->name)) ||
                symbol_is_system_module(module->name))
                continue;
            meet_image(store, found, file->path, file->object.slice);
            file->taken = found->image != NULL ? arena_string(&store->arena, module->name) : NULL;
        }
    }
}

/* True when FILE has the name of the module or, if DEBUG, that of its debug file: "app.exe.debug".
 */
static bool is_named(const struct store_file *file, const struct module *module, bool debug)
{
    static const char *const ends[] = {"", ".debug", ".dbg"};
    char text[256];

    for (size_t i = 0; i < (debug ? COUNT_OF(ends) : 1); i++) {
        const int bytes = snprintf(text, sizeof text, "%s%s", module->name, ends[i]);
        if (bytes > 0 && (size_t)bytes < sizeof text && text_equal_nocase(file->name, text))
            return true;
    }
    return false;
}

static void search_name(struct symbol_store *store, const struct module *module,
                        struct arena *scratch, struct name_search *found)
{
    const char *names[5];

    store_list_files(store);
    for (int debug = 0; debug < 2 && found->image == NULL; debug++) {
        for (uint32_t i = 0; i < store->file_count; i++) {
            struct store_file *file = &store->files[i];
            if (!file->image || file->object.has_code != (debug == 0) || !is_arch(store, file) ||
                !is_named(file, module, debug != 0))
                continue;
            meet_image(store, found, file->path, file->object.slice);
            if (found->image != NULL) /* no longer offered to other names */
                file->taken = file->name;
        }
    }
    for (uint32_t i = 0; i < store->file_count; i++) {
        const struct store_file *file = &store->files[i];
        if (file->breakpad && breakpad_fits(file, module))
            meet_breakpad(store, found, file->path);
        else if ((file->pdb || file->packed) && store_pdb_name_fits(file->path, module))
            meet_pdb(store, found, file->path);
    }
    store_pdb_names(module, NULL, scratch, names);
    for (uint32_t r = 0; r < store->root_count; r++) {
        if (!path_is_folder(store->roots[r]))
            continue;
        meet_on_server(store, store->roots[r], module->name, true, scratch, found);
        for (uint32_t n = 0; names[n] != NULL; n++)
            meet_on_server(store, store->roots[r], names[n], false, scratch, found);
    }
}

static void find_by_name(struct symbol_store *store, struct symbol_module *sources,
                         struct arena *scratch)
{
    struct name_search found = {0};
    const struct module *module = &sources->identity;
    bool mismatch = false;

    search_name(store, module, scratch, &found);
    if (found.image == NULL && found.pdb == NULL && found.breakpad == NULL)
        offer_files(store, module, &found);
    sources->note = found.note != NOTE_NONE ? found.note : sources->note;
    if (found.images_differ || (found.image == NULL && found.pdbs_differ)) {
        sources->state = IDENTITY_AMBIGUOUS;
        sources->note = NOTE_SEVERAL_BUILDS;
        return;
    }
    sources->image = found.image;
    if (found.mismatch && found.pdb == NULL && found.breakpad == NULL) {
        sources->without = SYMBOLS_MISMATCH;
        sources->note = NOTE_PDB_OTHER_KEY;
    }
    if (found.image == NULL && found.pdb == NULL) {
        if (found.breakpads_differ) {
            sources->state = IDENTITY_AMBIGUOUS;
            sources->note = NOTE_SEVERAL_SYM_BUILDS;
        } else {
            sources->breakpad = found.breakpad;
        }
    } else if (found.image == NULL) {
        sources->pdb = found.pdb;
    } else if (found.image->debug_id[0] != '\0') {
        enum frame_note note = NOTE_NONE;
        sources->pdb = find_pdb(store, module, found.image->pdb_name, found.image->debug_id,
                                scratch, &note, &mismatch);
        if (sources->pdb == NULL && note != NOTE_NONE)
            sources->note = note;
        if (sources->pdb == NULL && mismatch)
            sources->without = SYMBOLS_MISMATCH;
    }
}

enum frame_note store_pdb_note(const struct store_pdb *opened)
{
    if (opened->pdb.fastlink)
        return NOTE_PDB_FASTLINK;
    if (!opened->pdb.has_dbi)
        return NOTE_PDB_TYPES_ONLY;
    mutex_lock(opened->mutex);
    const bool placed = opened->lists_wait || opened->pdb.section_count > 0;
    mutex_unlock(opened->mutex);
    return placed ? NOTE_NONE : NOTE_PDB_NO_SECTIONS;
}

void store_find(struct symbol_store *store, struct symbol_module *sources)
{
    const struct module *module = &sources->identity;
    struct arena scratch;

    store->pointer_message = false;
    arena_init(&scratch, 0);
    if (module->debug_id[0] != '\0' || module->code_id[0] != '\0' || module->build_id != NULL ||
        module->mvid[0] != '\0')
        find_by_identity(store, sources, &scratch);
    else if (module->name[0] != '\0')
        find_by_name(store, sources, &scratch);
    if (sources->pdb == NULL)
        store_find_managed(store, sources, &scratch);
    else
        store_find_metadata(store, sources);
    arena_free(&scratch);
    if (sources->pdb != NULL) {
        sources->note = store_pdb_note(sources->pdb);
        return;
    }
    if (sources->note == NOTE_NONE && sources->image == NULL && sources->breakpad == NULL &&
        sources->managed == NULL)
        sources->note = store->pointer_message ? NOTE_STORE_MESSAGE : NOTE_NO_SYMBOL_FILE;
}
