/* Symbol servers of the symbol store: which files a module may have there, under which keys, and
 * whether a downloaded file is the right one. The room fetch does the rest. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "symbol/store_find.h"
#include "symbol/store_servers.h"

struct want {
    const struct source_kind *kind;
    char id[ELF_BUILD_ID_BYTES]; /* or a debug_id or code_id, which are shorter */
};

/* The files to download, and what each of them is. */
struct wants {
    struct fetch_file *files;
    struct want *wants; /* as many */
    uint32_t count, room;
};

enum { WANTS_PER_MODULE = 3 };

static void wants_free(struct wants *wants)
{
    free(wants->files);
    free(wants->wants);
}

static bool wants_make(struct wants *out, uint32_t modules)
{
    out->count = 0;
    out->room = modules * WANTS_PER_MODULE;
    out->files = calloc((size_t)out->room + 1, sizeof *out->files);
    out->wants = calloc((size_t)out->room + 1, sizeof *out->wants);
    if (out->files != NULL && out->wants != NULL)
        return true;
    wants_free(out);
    return false;
}

/* Any slice of the file may be the one. A server may have a file of methods under the key of a PDB.
 */
static enum status check_identity(const struct want *want, const struct file_map *map,
                                  struct fault *fault)
{
    const struct source_kind *found = source_recognize(map->data, map->bytes);
    const struct source_kind *kind =
        found != NULL && found->layer == LAYER_METHODS && want->kind->by_image ? found : want->kind;
    struct source_id id = {0};
    struct arena scratch;
    bool is_own = false;

    arena_init(&scratch, 0);
    for (uint32_t slice = 0; !is_own && (slice == 0 || kind->has_slices); slice++) {
        id = (struct source_id){0};
        if (kind->identify(map, slice, &scratch, &id, fault) != ERR_NONE)
            break;
        is_own = kind->is_under(&id, want->id);
    }
    arena_free(&scratch);
    if (fault->code == ERR_ABSENT) /* no more slices */
        fault_clear(fault);
    if (fault->code == ERR_NONE && !is_own)
        fault_set_lasting(fault, ERR_MISMATCH, FAULT_NO_OFFSET, kind->what, NULL);
    if (fault->code == ERR_NONE && id.cut_short)
        fault_set_lasting(fault, ERR_TRUNCATED, FAULT_NO_OFFSET, kind->what, NULL);
    return fault->code;
}

static enum status check_file(const void *context, const char *path, struct fault *fault)
{
    const struct want *want = context;
    struct file_map map;
    bool unpacked;

    if (source_map(path, &map, &unpacked, fault) != ERR_NONE)
        return fault->code;
    if (check_identity(want, &map, fault) == ERR_NONE &&
        unpacked) /* so that it is not unpacked at each use */
        (void)file_write(path, map.data, map.bytes, fault);
    source_unmap(&map, unpacked);
    return fault->code;
}

static void add_key(struct fetch_file *file, enum fetch_form form, const char *name, const char *id,
                    const char *as)
{
    struct fetch_key *key = &file->keys[file->key_count];
    if (file->key_count == FETCH_KEYS_MAX || !fetch_key_set(key->path, name, id, as))
        return;
    key->form = form;
    for (uint32_t i = 0; i < file->key_count; i++)
        if (strcmp(file->keys[i].path, key->path) == 0)
            return;
    file->key_count++;
}

/* The next file, under its first key; NULL when there is no room, or no such place. */
static struct fetch_file *add_file(struct wants *wants, const struct source_kind *kind,
                                   struct source_place place, const char *want_id)
{
    struct fetch_file *file = &wants->files[wants->count];
    struct want *want = &wants->wants[wants->count];

    if (wants->count == wants->room || strlen(want_id) >= sizeof want->id ||
        !fetch_key_set(file->place, place.name, place.key, place.as))
        return NULL;
    want->kind = kind;
    memcpy(want->id, want_id, strlen(want_id) + 1);
    file->check = check_file;
    file->context = want;
    add_key(file, FETCH_WHOLE, place.name, place.key, place.as);
    wants->count++;
    return file;
}

/* The other spellings that servers use: packed; all in lower case, as the Simple Symbol Query
 * Protocol has it; and where the file has moved to. */
static void add_spellings(struct fetch_file *file, const char *name, const char *id)
{
    char small[256], small_id[DEBUG_ID_BYTES], packed[256];
    const size_t bytes = strlen(name);

    if (file == NULL || bytes == 0 || bytes >= sizeof small || strlen(id) >= sizeof small_id)
        return;
    memcpy(packed, name, bytes + 1);
    packed[bytes - 1] = '_';
    add_key(file, FETCH_WHOLE, name, id, packed);
    memcpy(small, name, bytes + 1);
    memcpy(small_id, id, strlen(id) + 1);
    text_lower(small);
    if (strlen(id) > 32) { /* a GUID; the timestamp of an image keeps its case */
        text_lower(small_id);
        add_key(file, FETCH_WHOLE, small, small_id, small);
        /* a portable PDB, whose age the protocol writes as FFFFFFFF */
        memcpy(small_id + 32, "FFFFFFFF", 9);
        add_key(file, FETCH_WHOLE, small, small_id, small);
        add_key(file, FETCH_WHOLE, name, small_id, name);
    } else {
        add_key(file, FETCH_WHOLE, small, id, small);
    }
    add_key(file, FETCH_POINTER, name, id, "file.ptr");
}

bool store_is_windows(const struct module *module)
{
    static const char *const patterns[] = {"*.exe", "*.dll", "*.sys", "*.ocx", "*.node",
                                           "*.cpl", "*.drv", "*.efi", "*.mui", "*.winmd"};
    const size_t bytes = strlen(module->debug_id);
    for (size_t i = 0; i < COUNT_OF(patterns); i++)
        if (text_glob(patterns[i], module->name))
            return true;
    /* Crash reporters give identities of other systems the age 0. */
    return module->build_id == NULL &&
           (module->code_id[0] != '\0' || bytes != 33 || module->debug_id[32] != '0');
}

/* The file of a kind, at its likeliest place. */
static void want_file(struct wants *wants, const struct source_kind *kind,
                      const struct source_want *want, struct arena *scratch)
{
    struct source_place places[SOURCE_PLACES_MAX];
    const struct source_place *place = &places[0];

    if (kind->places(want, scratch, places) == 0 || place->key[0] == '\0')
        return;
    struct fetch_file *file = add_file(wants, kind, *place, place->key);
    if (strcmp(place->name, place->as) == 0)
        add_spellings(file, place->name, place->key);
}

/* The files that name the module's code: those that images of Windows state, or the others. */
static void want_names(struct wants *wants, const struct source_want *want, bool by_image,
                       struct arena *scratch)
{
    for (size_t k = 0; k < SOURCE_KINDS; k++)
        if (source_kinds[k]->layer == LAYER_NAMES && source_kinds[k]->by_image == by_image)
            want_file(wants, source_kinds[k], want, scratch);
}

/* The debug file and the image of another system's module. ID: build id or UUID, lower case. */
static void want_object(struct wants *wants, bool macho, const char *name, const char *id,
                        struct arena *scratch)
{
    const char *debug = macho ? "_.dwarf" : "_.debug";
    const char *symbols =
        arena_printf(scratch, "%s-sym-%s", macho ? "mach-uuid" : "elf-buildid", id);
    const char *code = arena_printf(scratch, "%s-%s", macho ? "mach-uuid" : "elf-buildid", id);
    if (symbols == NULL || code == NULL)
        return;
    struct fetch_file *file =
        add_file(wants, &source_object, (struct source_place){debug, symbols, debug}, id);
    if (file != NULL && !macho)
        add_key(file, FETCH_DEBUGINFOD, "buildid", id, "debuginfo");
    file = add_file(wants, &source_object, (struct source_place){name, code, name}, id);
    if (file != NULL && !macho)
        add_key(file, FETCH_DEBUGINFOD, "buildid", id, "executable");
}

/* The id under which a module of another system is kept; "" if part of it is unknown. */
static void object_id(const struct module *module, const struct source *image, bool *macho,
                      char out[ELF_BUILD_ID_BYTES])
{
    out[0] = '\0';
    *macho = false;
    if (image != NULL) {
        *macho = source_object_of(image)->kind == OBJECT_MACHO;
        (void)memcpy(out, source_object_of(image)->id, ELF_BUILD_ID_BYTES);
    } else if (module->build_id != NULL) {
        if (strlen(module->build_id) < ELF_BUILD_ID_BYTES)
            memcpy(out, module->build_id, strlen(module->build_id) + 1);
    } else if (strlen(module->debug_id) == 33) {
        *macho = true;
        memcpy(out, module->debug_id, 32);
        out[32] = '\0';
        text_lower(out);
    }
}

static bool is_got(const struct fetch_file *file)
{
    return file->result == FETCH_CACHED || file->result == FETCH_LOADED;
}

/* Why there is still no file, for the note of each frame; NOTE_NONE: servers simply have none. */
static enum frame_note note_of(const struct fetch_file *file)
{
    switch (file->result) {
    case FETCH_WRONG:
        return NOTE_SERVER_WRONG_FILE;
    case FETCH_UNREACHABLE:
        return NOTE_SERVER_SILENT;
    case FETCH_REFUSED:
        return NOTE_SERVER_REFUSED;
    case FETCH_OFFLINE:
        return NOTE_OFFLINE;
    default:
        return NOTE_NONE;
    }
}

/* Downloads into the user's cache count for its limit. */
static void trim_cache(struct symbol_store *store, const struct wants *wants)
{
    struct fault ignored = FAULT_INIT;
    const char *folder = store->cache.folder;
    for (uint32_t i = 0; folder != NULL && i < wants->count; i++) {
        const struct fetch_file *file = &wants->files[i];
        if (file->result == FETCH_LOADED && strncmp(file->path, folder, strlen(folder)) == 0) {
            (void)cache_trim(&store->cache, store->cache.limit_bytes, file->path, NULL, NULL,
                             &ignored);
            return;
        }
    }
}

static bool get_all(struct symbol_store *store, struct wants *wants, enum frame_note *note)
{
    bool any = false;
    fetch_files(store->fetch, wants->files, wants->count);
    for (uint32_t i = 0; i < wants->count; i++) {
        any = any || is_got(&wants->files[i]);
        if (*note == NOTE_NONE)
            *note = note_of(&wants->files[i]);
    }
    trim_cache(store, wants);
    return any;
}

bool store_fetch_symbols(struct symbol_store *store, const struct module *module,
                         const struct source *image, const char *id, struct arena *scratch,
                         enum frame_note *note)
{
    const struct source_want want = {module, image != NULL ? image->id.pdb_name : NULL, id};
    struct wants wants;
    bool any = false;

    if (!fetch_has_servers(store->fetch) || !wants_make(&wants, 1))
        return false;
    if (image != NULL ? source_object_of(image)->kind == OBJECT_PE : store_is_windows(module)) {
        want_names(&wants, &want, true, scratch);
        any = get_all(store, &wants, note);
        if (!any) {
            memset(wants.files, 0, wants.room * sizeof *wants.files);
            wants.count = 0;
            want_names(&wants, &want, false, scratch);
            any = get_all(store, &wants, note);
        }
    } else {
        char object[ELF_BUILD_ID_BYTES];
        bool macho;
        object_id(module, image, &macho, object);
        if (object[0] != '\0')
            want_object(&wants, macho, module->name, object, scratch);
        want_names(&wants, &want, false, scratch);
        any = get_all(store, &wants, note);
        for (uint32_t i = 0; i < wants.count; i++) {
            struct fault ignored = FAULT_INIT;
            if (is_got(&wants.files[i]) && wants.wants[i].kind == &source_object)
                (void)store_list_file(store, wants.files[i].path, false, &ignored);
        }
    }
    wants_free(&wants);
    return any;
}

bool store_fetch_image(struct symbol_store *store, const struct module *module,
                       enum frame_note *note)
{
    const struct source_want want = {.module = module, .debug_id = module->debug_id};
    struct wants wants;

    if (!fetch_has_servers(store->fetch) || !wants_make(&wants, 1))
        return false;
    want_file(&wants, &source_object, &want, NULL);
    const bool any = get_all(store, &wants, note);
    wants_free(&wants);
    return any;
}

enum status symbol_store_fetch(struct symbol_store *store, const struct module *const *modules,
                               uint32_t count, symbol_fetched_fn *each, void *context,
                               struct fault *fault)
{
    struct wants wants;
    struct arena scratch;

    if (!fetch_has_servers(store->fetch))
        return fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "symbol server",
                              "none is named: --symbols 'srv*CACHE*https://...'");
    if (!wants_make(&wants, count))
        return fault_no_memory(fault, "symbol servers");
    arena_init(&scratch, 0);
    for (uint32_t i = 0; i < count; i++) {
        const struct module *module = modules[i];
        const struct source_want want = {.module = module, .debug_id = module->debug_id};
        char object[ELF_BUILD_ID_BYTES];
        bool macho;
        if (store_is_windows(module)) {
            want_names(&wants, &want, true, &scratch);
            want_file(&wants, &source_object, &want, &scratch);
            continue;
        }
        object_id(module, NULL, &macho, object);
        if (object[0] != '\0')
            want_object(&wants, macho, module->name, object, &scratch);
        else
            want_names(&wants, &want, false, &scratch);
    }
    fetch_files(store->fetch, wants.files, wants.count);
    trim_cache(store, &wants);
    for (uint32_t i = 0; each != NULL && i < wants.count; i++)
        each(context, &wants.files[i]);
    arena_free(&scratch);
    wants_free(&wants);
    return ERR_NONE;
}

void store_servers_close(struct symbol_store *store)
{
    fetch_close(store->fetch);
    store->fetch = NULL;
}

/* The fetch room's session, made with the first chain. */
static bool open_fetch(struct symbol_store *store, struct fault *fault)
{
    if (store->fetch != NULL)
        return true;
    struct fetch_options options = store->fetch_options;
    options.cache = store->cache.folder != NULL
                        ? arena_printf(&store->arena, "%s/%s", store->cache.folder,
                                       cache_kind_name(CACHE_DOWNLOAD))
                        : NULL;
    return fetch_open(&options, &store->fetch, fault) == ERR_NONE;
}

static void add_nearer(struct symbol_store *store, const char *from, const char *to)
{
    struct store_nearer *nearer = ARENA_NEW(&store->arena, struct store_nearer);
    if (nearer == NULL)
        return;
    *nearer = (struct store_nearer){from, to, store->nearer};
    store->nearer = nearer;
}

void store_keep_nearer(struct symbol_store *store, const char *root, const char *name,
                       const char *id, const char *path)
{
    const char *usual = store->cache.folder;
    struct fault ignored = FAULT_INIT;
    char place[FETCH_KEY_BYTES];
    struct arena scratch;

    uint64_t bytes, used_ns;
    if (usual != NULL && strncmp(path, usual, strlen(usual)) == 0 &&
        path_stat(path, &bytes, &used_ns))
        cache_used(path, used_ns);
    if (!fetch_key_set(place, name, id, path_base(path)))
        return;
    arena_init(&scratch, 0);
    for (const struct store_nearer *n = store->nearer; n != NULL; n = n->next) {
        const char *to = strcmp(n->from, root) == 0 ? path_join(&scratch, n->to, place) : NULL;
        if (to == NULL || path_is_file(to))
            continue;
        const char *folder = arena_text(&scratch, to, (size_t)(path_base(to) - to) - 1);
        char *part = arena_printf(&scratch, "%s.part", to);
        if (folder != NULL && part != NULL && folder_make(folder, &ignored) == ERR_NONE &&
            file_copy(path, part, &ignored) == ERR_NONE)
            (void)path_rename(part, to, &ignored); /* without it, lookups only cost more */
    }
    arena_free(&scratch);
}

static enum status add_chain(struct symbol_store *store, const struct symbol_path_element *chain,
                             bool named, struct fault *fault)
{
    const char *cache = NULL;

    if (!open_fetch(store, fault) || fetch_add(store->fetch, chain, &cache, fault) != ERR_NONE)
        return fault->code;
    const char *first = chain->folder_count > 0 ? chain->folders[0] : NULL;
    if (cache != NULL) {
        first = cache;
        store_add_server(store, cache);
    }
    for (uint32_t i = 0; i < chain->folder_count; i++) {
        const char *folder = chain->folders[i];
        if (path_is_folder(folder)) {
            store_add_server(store, folder);
            if (strcmp(folder, first) != 0)
                add_nearer(store, folder, first);
        } else if (named && chain->url_count == 0 && (i > 0 || chain->folder_count == 1)) {
            fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "symbol folder or file",
                           "no such file or folder");
            fault_set_path(fault, folder);
        }
    }
    return fault->code;
}

enum status store_add_path(struct symbol_store *store, const char *text, bool named,
                           struct fault *fault)
{
    struct symbol_path path;

    if (symbol_path_read(text, &store->arena, &path, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < path.count && fault->code == ERR_NONE; i++) {
        const struct symbol_path_element *element = &path.elements[i];
        if (element->chain)
            (void)add_chain(store, element, named, fault);
        else if (named)
            (void)store_add_root(store, element->folders[0], fault);
        else
            store_add_server(store, element->folders[0]);
        if (!named && fault->code != ERR_NONE && fault->code != ERR_MEMORY) {
            store->path_fault = *fault; /* from the environment: reported, but no reason to stop */
            fault_clear(fault);
        }
    }
    return fault->code;
}
