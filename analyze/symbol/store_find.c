/* Finds the files for a module: in symbol-server folders by path, in plain folders and single files
 * by the identity inside the files; see symbol_store.h. Every kind of file is searched in the same
 * way.
 *
 * A module with an identity gets the file that has it, or none; the name of a file proves nothing.
 * A module of which only the name is known gets the file of that name if there is one build of it.
 * With three builds of app.pdb, one/app.pdb and two/app.pdb in plain folders (of one GUID 3F18...,
 * with ages 2 and 6) and app.pdb/F60E...1/app.pdb as on a server, app.exe gets
 *
 *   asked with        file             state      note
 *   3F18... age 2     one/app.pdb      checked
 *   3F18... age 6     two/app.pdb      checked
 *   F60E...1          the server's     checked    found by its path
 *   3F18... age 3     none             unchecked  app.pdb is of another build: symbols mismatch
 *   no identity       none             ambiguous  there are several builds
 *
 * In the last row, any of the three would give names, and two times of three wrong ones. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "symbol/store_find.h"
#include "symbol/store_managed.h"
#include "symbol/store_servers.h"

/* A search under way, and what it has found besides the file. */
struct search {
    struct symbol_store *store;
    struct arena *scratch;
    struct source_want want;
    enum frame_note note;      /* about the last file that fits and does not answer */
    bool mismatch;             /* there is a file of another build */
    bool other_image;          /* there is an image of another build */
    bool several;              /* images with its MVID that name different PDBs */
    enum frame_note misplaced; /* about a file in the folder of another build on a server */
};

/* Files of one kind and name. */
struct met {
    struct source *first;
    bool several; /* they are of different builds */
};

/* What a folder of a symbol server is asked for. */
struct choice {
    const struct source_kind *kind;
    struct source_place place;
    struct met *met;
};

enum { CHOICES_MAX = SOURCE_KINDS * SOURCE_PLACES_MAX };

static struct search search_for(struct symbol_store *store, const struct symbol_module *sources,
                                struct arena *scratch)
{
    const struct module *module = &sources->identity;
    return (struct search){.store = store,
                           .scratch = scratch,
                           .want = {.module = module, .debug_id = module->debug_id}};
}

/* An image states which PDB it needs. */
static void search_image_of(struct search *s, const struct source *image)
{
    s->want.pdb_name = image != NULL ? image->id.pdb_name : NULL;
    s->want.debug_id = s->want.module->debug_id;
    if (s->want.debug_id[0] == '\0' && image != NULL)
        s->want.debug_id = image->id.debug_id;
}

static void remark_other(struct search *s, const struct source_kind *kind)
{
    if (kind->layer == LAYER_IMAGE) {
        s->other_image = true;
    } else {
        s->note = kind->notes.other_build;
        s->mismatch = true;
    }
}

/* Opens a file that may be the right one; NULL: it cannot be read, or is of another kind. */
static struct source *open_source(struct search *s, const struct source_kind *kind,
                                  const char *path, uint32_t slice)
{
    struct fault fault = FAULT_INIT;
    struct source *source;

    if (store_open_source(s->store, kind, path, slice, 0, &source, &fault) == ERR_NONE)
        return source;
    enum frame_note note = kind->notes.damaged;
    if (fault.code == ERR_ABSENT)
        note = NOTE_NONE;
    else if (fault.code == ERR_UNSUPPORTED)
        note = source != NULL && source->is_packed ? NOTE_FILE_PACKED : kind->notes.unsupported;
    s->note = note != NOTE_NONE ? note : s->note;
    return NULL;
}

static bool is_other_mvid(const struct source *source, const struct module *module)
{
    return module->mvid[0] != '\0' && source->id.mvid[0] != '\0' &&
           strcmp(source->id.mvid, module->mvid) != 0;
}

static struct source *find_on_servers(struct search *s, const struct source_kind *kind)
{
    struct source_place places[SOURCE_PLACES_MAX];
    const uint32_t count = kind->places(&s->want, s->scratch, places);

    for (uint32_t r = 0; r < s->store->root_count + s->store->server_count; r++) {
        for (uint32_t i = 0; i < count; i++) {
            if (places[i].key[0] == '\0')
                continue;
            const char *root = store_server(s->store, r);
            const char *path = store_find_on_server(s->store, root, places[i], s->scratch);
            struct source *source = path != NULL ? open_source(s, kind, path, 0) : NULL;
            if (source == NULL)
                continue;
            if (kind->is_under(&source->id, places[i].key) &&
                !is_other_mvid(source, s->want.module)) {
                store_keep_nearer(s->store, root, places[i].name, places[i].key, path);
                return source;
            }
            remark_other(s, kind);
        }
    }
    return NULL;
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

/* How well a listed file fits, judged without opening it: one in a cabinet by its name alone. */
static enum source_fit fit_of(const struct search *s, const struct source_kind *kind,
                              const struct store_file *file)
{
    if (file->kind == kind)
        return kind->fit(&file->id, &s->want);
    if (file->kind != &source_cabinet)
        return FIT_NONE;
    if (kind->layer == LAYER_IMAGE)
        return packs(file->id.name, s->want.module->name) ||
                       (s->want.module->name != NULL &&
                        text_equal_nocase(file->id.name, s->want.module->name))
                   ? FIT_NAME
                   : FIT_NONE;
    return kind->by_image ? kind->fit(&file->id, &s->want) : FIT_NONE;
}

static struct source *find_listed(struct search *s, const struct source_kind *kind)
{
    /* Images of one size that were linked in the same second have the same code_id, as those of
     * CMake's own checks beside a program, so a file of the module's name comes first. */
    enum { OTHER_NAME = 1, DEBUG = 2, PASSES = 4 };
    store_list_files(s->store);
    for (int pass = 0; pass < PASSES; pass++) {
        for (uint32_t i = 0; i < s->store->file_count; i++) {
            const struct store_file *file = &s->store->files[i];
            const bool has_name = file->id.name != NULL && s->want.module->name != NULL &&
                                  text_equal_nocase(file->id.name, s->want.module->name);
            const bool is_now = file->id.is_debug == ((pass & DEBUG) != 0) &&
                                has_name == ((pass & OTHER_NAME) == 0);
            const enum source_fit fit = is_now ? fit_of(s, kind, file) : FIT_NONE;
            const bool unread = file->id.debug_id[0] == '\0' && file->id.code_id[0] == '\0';
            if (fit == FIT_NONE)
                continue;
            struct source *source = fit == FIT_IDENTITY || unread
                                        ? open_source(s, kind, file->path, file->id.object.slice)
                                        : NULL;
            if (source != NULL && kind->fit(&source->id, &s->want) == FIT_IDENTITY)
                return source;
            if (source != NULL || (fit == FIT_NAME && !unread))
                remark_other(s, kind);
        }
    }
    return NULL;
}

/* The file of KIND with the identity that is searched; NULL: none, and *S says what there was. */
static struct source *find(struct search *s, const struct source_kind *kind)
{
    struct source *source = find_on_servers(s, kind);
    return source != NULL ? source : find_listed(s, kind);
}

/* The file that names the code of a module with an identity. */
static struct source *find_names(struct search *s)
{
    const bool by_debug_id = s->want.debug_id[0] != '\0';
    const bool by_code_id = s->want.module->code_id[0] != '\0';
    struct source *source = NULL;
    for (size_t k = 0; k < SOURCE_KINDS && source == NULL; k++)
        if (source_kinds[k]->layer == LAYER_NAMES &&
            (by_debug_id || (by_code_id && source_kinds[k]->by_code_id)))
            source = find(s, source_kinds[k]);
    return source;
}

/* ---- every build of a name ---- */

/* Notes a file that fits. Of a fat file the first slice is used, unless the user named an
 * architecture. Images with one MVID differ only by the PDBs that they name, since a
 * program that rewrites assemblies may keep the MVID. */
static void meet(struct search *s, const struct source_kind *kind, const char *path, uint32_t slice,
                 struct met *met)
{
    if (met->first != NULL && kind->has_slices && strcmp(met->first->path, path) == 0) {
        s->note = NOTE_FAT_FILE;
        return;
    }
    struct source *source = open_source(s, kind, path, slice);
    if (source == NULL)
        return;
    const bool by_mvid = s->want.module->mvid[0] != '\0';
    if (by_mvid && strcmp(source->id.mvid, s->want.module->mvid) != 0)
        remark_other(s, kind);
    else if (met->first == NULL)
        met->first = source;
    else if ((!by_mvid && strcmp(met->first->id.code_id, source->id.code_id) != 0) ||
             strcmp(met->first->id.debug_id, source->id.debug_id) != 0)
        met->several = true;
}

/* A symbol server names each folder after the identity of the file in it. Unreadable files are
 * reported when they are met. */
static bool is_under_its_key(struct search *s, const struct source_kind *kind, const char *path,
                             const char *key)
{
    struct fault fault = FAULT_INIT;
    struct source *source;
    return kind->notes.other_key == NOTE_NONE ||
           store_open_source(s->store, kind, path, 0, 0, &source, &fault) != ERR_NONE ||
           kind->is_under(&source->id, key);
}

static void meet_build(struct search *s, const struct choice *choice, const char *root,
                       const char *key)
{
    const struct source_kind *kind = choice->kind;
    const struct source_place place = {choice->place.name, key, choice->place.as};
    const char *path =
        choice->met->several ? NULL : store_find_on_server(s->store, root, place, s->scratch);

    if (path == NULL)
        return;
    if (is_under_its_key(s, kind, path, key)) {
        meet(s, kind, path, 0, choice->met);
    } else {
        s->misplaced = kind->notes.other_key;
    }
}

/* Every build that a symbol server's root has of these files. */
static void meet_on_server(struct search *s, const char *root, const struct choice *choices,
                           uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        const char *name = choices[n].place.name;
        struct fault fault = FAULT_INIT;
        const char **keys;
        size_t key_count;
        bool repeated = false;
        for (uint32_t c = 0; c < n; c++)
            repeated = repeated || strcmp(choices[c].place.name, name) == 0;
        const char *folder = repeated ? NULL : store_find_builds(s->store, root, name, s->scratch);
        if (folder == NULL ||
            folder_list(folder, s->scratch, &keys, &key_count, &fault) != ERR_NONE)
            continue;
        for (size_t i = 0; i < key_count; i++)
            for (uint32_t c = n; c < count; c++)
                if (strcmp(choices[c].place.name, name) == 0)
                    meet_build(s, &choices[c], root, keys[i]);
    }
}

/* Adds the places of a kind. Returns the number of choices. */
static uint32_t add_choices(struct search *s, const struct source_kind *kind, struct met *met,
                            struct choice choices[CHOICES_MAX], uint32_t count)
{
    struct source_place places[SOURCE_PLACES_MAX];
    const uint32_t more = kind->places(&s->want, s->scratch, places);

    for (uint32_t i = 0; i < more; i++)
        choices[count++] = (struct choice){kind, places[i], met};
    return count;
}

static bool is_arch(const struct symbol_store *store, const struct store_file *file)
{
    return store->arch == ARCH_NONE || file->id.arch == ARCH_NONE || store->arch == file->id.arch;
}

/* Every build among the listed files. */
static void meet_listed(struct search *s, const struct source_kind *kind, struct met *met)
{
    store_list_files(s->store);
    for (int debug = 0; debug < 2 && met->first == NULL; debug++) {
        for (uint32_t i = 0; i < s->store->file_count; i++) {
            struct store_file *file = &s->store->files[i];
            if (file->id.is_debug != (debug != 0) || !is_arch(s->store, file) ||
                fit_of(s, kind, file) == FIT_NONE)
                continue;
            meet(s, kind, file->path, file->id.object.slice, met);
            if (met->first != NULL) /* no longer offered to other names */
                file->taken = file->id.name;
        }
    }
}

/* ---- a module with an identity ---- */

/* The image of a managed module of which only the MVID is known: servers are not laid out by MVID,
 * so all builds of its name are asked. */
static struct source *find_by_mvid(struct search *s)
{
    struct choice choices[CHOICES_MAX];
    struct met met = {0};

    if (s->want.module->mvid[0] == '\0')
        return NULL;
    const uint32_t count = add_choices(s, &source_object, &met, choices, 0);
    for (uint32_t r = 0; r < s->store->root_count + s->store->server_count; r++)
        meet_on_server(s, store_server(s->store, r), choices, count);
    meet_listed(s, &source_object, &met);
    s->several = met.several;
    return met.several ? NULL : met.first;
}

static void search_identity(struct search *s, struct symbol_module *sources)
{
    const struct module *module = &sources->identity;

    *s = search_for(s->store, sources, s->scratch);
    sources->image = module->code_id[0] == '\0' && module->debug_id[0] == '\0'
                         ? find_by_mvid(s)
                         : find(s, &source_object);
    if (sources->image == NULL)
        sources->image = store_system_image(s->store, module, s->scratch);
    search_image_of(s, sources->image);
    sources->names = find_names(s);
}

/* Asks the symbol servers for what the search has not found, and searches again if something came.
 * The image of a module of Windows is not asked for while its PDB is found: see
 * symbol_store_image(). */
static enum frame_note ask_servers(struct search *s, struct symbol_module *sources)
{
    const struct module *module = &sources->identity;
    struct symbol_store *store = s->store;
    enum frame_note note = NOTE_NONE;
    bool got = false;

    if (sources->names != NULL || !fetch_has_servers(store->fetch))
        return NOTE_NONE;
    const char *id = s->want.debug_id;
    if (id[0] != '\0' || module->build_id != NULL)
        got = store_fetch_symbols(store, module, sources->image, id, s->scratch, &note);
    if (!got && sources->image == NULL) {
        sources->image_asked = true;
        got = store_fetch_image(store, module, &note);
        if (got && id[0] == '\0') { /* it states which PDB it needs */
            search_identity(s, sources);
            if (sources->image != NULL && sources->names == NULL)
                (void)store_fetch_symbols(store, module, sources->image,
                                          sources->image->id.debug_id, s->scratch, &note);
        }
    }
    if (got)
        search_identity(s, sources);
    return note;
}

static void find_by_identity(struct search *s, struct symbol_module *sources)
{
    search_identity(s, sources);
    const enum frame_note asked = ask_servers(s, sources);
    sources->state =
        sources->names != NULL || sources->image != NULL ? IDENTITY_CHECKED : IDENTITY_UNCHECKED;
    if (sources->names != NULL)
        return;
    if (s->several) {
        sources->state = IDENTITY_AMBIGUOUS;
        sources->note = source_object.notes.several;
        return;
    }
    const enum frame_note note = asked != NOTE_NONE ? asked : s->note;
    if (s->mismatch || (sources->image == NULL && s->other_image && note == NOTE_NONE)) {
        sources->without = SYMBOLS_MISMATCH;
        sources->note = note != NOTE_NONE ? note : NOTE_IMAGE_OTHER_BUILD;
    } else if (note == NOTE_NONE && sources->image != NULL &&
               sources->identity.debug_id[0] != '\0' && sources->image->id.debug_id[0] != '\0' &&
               !source_names_pdb(&sources->image->id, sources->identity.debug_id)) {
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

    sources->image_asked = true;
    if (!store_fetch_image(store, &sources->identity, &note))
        return;
    arena_init(&scratch, 0);
    struct search s = search_for(store, sources, &scratch);
    sources->image = find(&s, &source_object);
    arena_free(&scratch);
}

void store_find_unwind(struct symbol_store *store, struct symbol_module *sources)
{
    struct arena scratch;

    sources->unwind_asked = true;
    if (sources->names != NULL && sources->names->kind->has_unwind)
        sources->unwind = sources->names;
    if (sources->unwind != NULL || sources->identity.debug_id[0] == '\0')
        return;
    arena_init(&scratch, 0);
    struct search s = search_for(store, sources, &scratch);
    for (size_t k = 0; k < SOURCE_KINDS && sources->unwind == NULL; k++)
        if (source_kinds[k]->has_unwind)
            sources->unwind = find(&s, source_kinds[k]);
    arena_free(&scratch);
}

/* ---- a module of which only the name is known ---- */

/* A named ELF or Mach-O file is used for its own name, otherwise for the first other name that is
 * not a system module, like a bare PDB. */
static void offer_files(struct search *s, struct met *met)
{
    const char *name = s->want.module->name;

    for (int debug = 0; debug < 2 && met->first == NULL; debug++) {
        for (uint32_t i = 0; i < s->store->named_count && met->first == NULL; i++) {
            struct store_file *file = &s->store->files[i];
            const struct object_candidate *object = &file->id.object;
            if (!object->is_code || object->kind == OBJECT_PE ||
                file->id.is_debug != (debug != 0) || !is_arch(s->store, file) ||
                (file->taken != NULL && !text_equal_nocase(file->taken, name)) ||
                symbol_is_system_module(name))
                continue;
            meet(s, file->kind, file->path, object->slice, met);
            file->taken = met->first != NULL ? arena_string(&s->store->arena, name) : NULL;
        }
    }
}

/* Takes the first kind of which there is a file. */
static void take_names(struct symbol_module *sources, const struct met *met)
{
    for (size_t k = 0; k < SOURCE_KINDS && sources->names == NULL; k++) {
        if (source_kinds[k]->layer != LAYER_NAMES || met[k].first == NULL)
            continue;
        if (met[k].several) {
            sources->state = IDENTITY_AMBIGUOUS;
            sources->note = source_kinds[k]->notes.several;
            return;
        }
        sources->names = met[k].first;
    }
}

/* The file that the image states. */
static void find_by_image(struct search *s, struct symbol_module *sources)
{
    search_image_of(s, sources->image);
    s->note = NOTE_NONE;
    s->mismatch = false;
    for (size_t k = 0; k < SOURCE_KINDS && sources->names == NULL; k++)
        if (source_kinds[k]->by_image && s->want.debug_id[0] != '\0')
            sources->names = find(s, source_kinds[k]);
    if (sources->names == NULL && s->note != NOTE_NONE)
        sources->note = s->note;
    if (sources->names == NULL && s->mismatch)
        sources->without = SYMBOLS_MISMATCH;
}

/* Every file that the name fits. Returns their number. */
static uint32_t meet_all(struct search *s, struct met met[SOURCE_KINDS])
{
    struct choice choices[CHOICES_MAX];
    uint32_t count = 0, found = 0;

    for (size_t k = 0; k < SOURCE_KINDS; k++) {
        const struct source_kind *kind = source_kinds[k];
        if (kind->layer != LAYER_NAMES && kind->layer != LAYER_IMAGE)
            continue;
        meet_listed(s, kind, &met[k]);
        count = add_choices(s, kind, &met[k], choices, count);
    }
    for (uint32_t r = 0; r < s->store->root_count; r++)
        meet_on_server(s, s->store->roots[r], choices, count);
    for (size_t k = 0; k < SOURCE_KINDS; k++)
        found += met[k].first != NULL;
    return found;
}

static void find_by_name(struct search *s, struct symbol_module *sources)
{
    struct met met[SOURCE_KINDS] = {{0}};
    struct met *image = met;
    const uint32_t found = meet_all(s, met);

    while (source_kinds[image - met]->layer != LAYER_IMAGE)
        image++;
    if (found == 0)
        offer_files(s, image);
    sources->note = s->note != NOTE_NONE ? s->note : sources->note;
    if (image->several) {
        sources->state = IDENTITY_AMBIGUOUS;
        sources->note = source_object.notes.several;
        return;
    }
    sources->image = image->first;
    if (s->misplaced != NOTE_NONE && found == (sources->image != NULL)) {
        sources->without = SYMBOLS_MISMATCH;
        sources->note = s->misplaced;
    }
    if (sources->image == NULL)
        take_names(sources, met);
    else
        find_by_image(s, sources);
}

static void place_names(struct symbol_module *sources)
{
    const struct source_kind *kind = sources->names->kind;
    if (kind->place != NULL && sources->image != NULL)
        kind->place(sources->names, sources->image);
    sources->note = kind->note(sources->names);
}

void store_place_bound(struct symbol_store *store, struct symbol_module *sources)
{
    struct arena scratch;
    struct module module = sources->identity;

    memcpy(module.debug_id, sources->names->id.debug_id, sizeof module.debug_id);
    arena_init(&scratch, 0);
    struct search s = search_for(store, sources, &scratch);
    s.want = (struct source_want){.module = &module, .debug_id = module.debug_id};
    sources->image = find(&s, &source_object);
    arena_free(&scratch);
    place_names(sources);
}

void store_find(struct symbol_store *store, struct symbol_module *sources)
{
    const struct module *module = &sources->identity;
    struct arena scratch;

    store->pointer_message = false;
    arena_init(&scratch, 0);
    struct search s = search_for(store, sources, &scratch);
    if (module->debug_id[0] != '\0' || module->code_id[0] != '\0' || module->build_id != NULL ||
        module->mvid[0] != '\0')
        find_by_identity(&s, sources);
    else if (module->name[0] != '\0')
        find_by_name(&s, sources);
    if (sources->names == NULL || sources->names->kind->method == NULL)
        store_find_managed(store, sources, &scratch);
    else
        store_find_metadata(store, sources);
    arena_free(&scratch);
    const struct source_kind *kind = sources->names != NULL ? sources->names->kind : NULL;
    if (kind != NULL && kind->note != NULL)
        place_names(sources);
    else if (kind == NULL && sources->note == NOTE_NONE && sources->image == NULL &&
             sources->managed == NULL)
        sources->note = store->pointer_message ? NOTE_STORE_MESSAGE : NOTE_NO_SYMBOL_FILE;
}
