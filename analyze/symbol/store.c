/* The symbol store: opening, binding, and the table of modules; see store.h. */
#include "symbol/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/text.h"
#include "symbol/store_parts.h"

/* A root as the user names it. */
static enum status add_word(struct symbol_store *store, const char *word, struct fault *fault)
{
    const char *copy = arena_string(&store->arena, word);
    if (copy == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol store");
    store->words[store->word_count++] = copy;
    return symbol_path_is_chain(word) && !path_is_folder(word) && !path_is_file(word)
               ? store_add_path(store, word, true, fault)
               : store_add_root(store, word, fault);
}

enum status symbol_store_open(const struct symbol_store_options *options, struct symbol_store **out,
                              struct fault *fault)
{
    struct symbol_store *store = calloc(1, sizeof *store);

    *out = NULL;
    if (store == NULL || (store->mutex = mutex_new()) == NULL ||
        (store->counters = mutex_new()) == NULL) {
        if (store != NULL)
            mutex_free(store->mutex);
        free(store);
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol store");
    }
    arena_init(&store->arena, 0);
    store->names = options->names;
    store->indexing = options->indexing;
    store->with_system = options->system;
    store->fetch_options = options->fetch;
    store->fetch_options.cache = arena_string(&store->arena, options->fetch.cache);
    store->arch = options->arch;
    store->cache_stated = arena_string(&store->arena, options->cache);
    cache_locate(store->cache_stated, &store->arena, &store->cache);
    store->words = ARENA_ARRAY(&store->arena, (size_t)options->root_count + 1, const char *);
    store->nothing.store = store;
    store->nothing.state = IDENTITY_UNCHECKED;
    store->nothing.note = NOTE_TOO_MANY_MODULES;
    if (store->words == NULL)
        fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol store");
    for (uint32_t i = 0; fault->code == ERR_NONE && i < options->root_count; i++)
        (void)add_word(store, options->roots[i], fault);
    if (options->system && fault->code == ERR_NONE)
        store_system_open(store);
    if (fault->code != ERR_NONE) {
        symbol_store_close(store);
        return fault->code;
    }
    *out = store;
    return ERR_NONE;
}

const char *symbol_store_places(const struct symbol_store *store, struct arena *keep)
{
    const char *text = "";
    for (uint32_t i = 0; text != NULL && i < store->word_count; i++)
        text = arena_printf(keep, "%s%s%s", text, i > 0 ? ", " : "", store->words[i]);
    return text != NULL && *text != '\0' ? text : "(nowhere: no folder was given)";
}

enum status symbol_store_open_again(const struct symbol_store *store, struct symbol_store **out,
                                    struct fault *fault)
{
    const struct symbol_store_options options = {.roots = store->words,
                                                 .root_count = store->word_count,
                                                 .fetch = store->fetch_options,
                                                 .names = store->names,
                                                 .indexing = store->indexing,
                                                 .cache = store->cache_stated,
                                                 .system = store->with_system,
                                                 .arch = store->arch};
    return symbol_store_open(&options, out, fault);
}

void symbol_store_close(struct symbol_store *store)
{
    if (store == NULL)
        return;
    store_close_sources(store);
    store_servers_close(store);
    mutex_free(store->mutex);
    mutex_free(store->counters);
    free(store->files);
    free((void *)store->modules);
    arena_free(&store->arena);
    free(store);
}

/* Bindings keep their order on the command line: the first that matches is used. */
static enum status add_binding(struct symbol_store *store, const char *name,
                               struct store_binding sources, struct fault *fault)
{
    struct store_binding *binding = ARENA_NEW(&store->arena, struct store_binding);
    struct store_binding **end = &store->bindings;

    if (binding == NULL ||
        (name != NULL && (binding->name = arena_string(&store->arena, name)) == NULL))
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol store");
    binding->pdb = sources.pdb;
    binding->csv = sources.csv;
    binding->breakpad = sources.breakpad;
    while (*end != NULL)
        end = &(*end)->next;
    *end = binding;
    if (name == NULL)
        store->bare_open++;
    return ERR_NONE;
}

/* What a symbol file is; both false: a PDB, or not there. */
struct kind {
    bool portable, breakpad;
};

static struct kind kind_of(const char *path)
{
    struct kind kind = {false, false};
    char head[64];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return kind;
    (void)setvbuf(file, NULL, _IONBF, 0);
    const size_t bytes = fread(head, 1, sizeof head, file);
    (void)fclose(file);
    kind.portable = ppdb_recognize(head, bytes);
    kind.breakpad = !kind.portable && breakpad_recognize(head, bytes);
    return kind;
}

enum status symbol_store_bind_pdb(struct symbol_store *store, const char *name, const char *path,
                                  struct fault *fault)
{
    struct store_binding sources = {0};
    const struct kind kind = kind_of(path);
    if (kind.portable)
        return store_list_portable(store, name, path, fault);
    if (kind.breakpad)
        (void)store_open_breakpad(store, path, &sources.breakpad, fault);
    else
        (void)store_open_pdb(store, path, &sources.pdb, fault);
    return fault->code != ERR_NONE ? fault->code : add_binding(store, name, sources, fault);
}

enum status symbol_store_bind_csv(struct symbol_store *store, const char *name, const char *path,
                                  uint64_t csv_base, struct fault *fault)
{
    struct store_binding sources = {0};
    if (store_open_csv(store, path, csv_base, &sources.csv, fault) != ERR_NONE)
        return fault->code;
    return add_binding(store, name, sources, fault);
}

/* The identity that the file states; "" for a CSV. */
static const char *binding_id(const struct store_binding *binding)
{
    return binding->pdb != NULL        ? binding->pdb->debug_id
           : binding->breakpad != NULL ? binding->breakpad->file.debug_id
                                       : "";
}

/* Whether the file matches the module by name. */
static bool binding_fits(const struct store_binding *binding, const struct module *module)
{
    return binding->breakpad != NULL
               ? store_breakpad_name_fits(&binding->breakpad->file, module)
               : binding->pdb != NULL && store_pdb_name_fits(binding->pdb->path, module);
}

/* Whether a bare file matches the module, by identity if the module has one. */
static bool is_own(const struct store_binding *binding, const struct module *module)
{
    if (binding->csv != NULL) /* the name of a CSV means nothing unless it is the module's */
        return store_pdb_name_fits(binding->csv->path, module);
    if (module->debug_id[0] != '\0')
        return strcmp(module->debug_id, binding_id(binding)) == 0;
    return binding_fits(binding, module);
}

static bool is_bound(const struct symbol_store *store, const char *name)
{
    for (const struct store_binding *b = store->bindings; b != NULL; b = b->next) {
        const char *bound = b->name != NULL ? b->name : b->taken;
        if (bound != NULL && text_equal_nocase(bound, name))
            return true;
    }
    return false;
}

/* A module that states its identity never gets names from a bare PDB with another identity. */
static bool may_take(const struct symbol_store *store, const struct store_binding *binding,
                     const struct module *module)
{
    return module->name[0] != '\0' && !symbol_is_system_module(module->name) &&
           !is_bound(store, module->name) && (binding->csv != NULL || module->debug_id[0] == '\0');
}

static void take(struct symbol_store *store, struct store_binding *binding, const char *name)
{
    binding->taken = arena_string(&store->arena, name);
    if (binding->taken != NULL)
        store->bare_open--;
}

/* If no module has the name of a bare file's own image, the file is used for the first module that
 * it could belong to. A second such file is not used at all: it would give names to frames of other
 * modules. */
static void offer(struct symbol_store *store, const struct module *module)
{
    for (struct store_binding *b = store->bindings; b != NULL; b = b->next) {
        if (b->name == NULL && b->taken == NULL && may_take(store, b, module)) {
            take(store, b, module->name);
            store->first_taken = true;
            return;
        }
    }
}

static void claim(struct symbol_store *store, const struct stack *stack)
{
    for (struct store_binding *b = store->bindings; b != NULL; b = b->next) {
        for (uint32_t i = 0; b->name == NULL && b->taken == NULL && i < stack->frame_count; i++) {
            const struct module *module = stack->frames[i].module;
            if (module != NULL && is_own(b, module))
                take(store, b, module->name);
        }
    }
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const struct module *module = stack->frames[i].module;
        if (module != NULL && !store->first_taken)
            offer(store, module);
    }
}

bool symbol_store_is_bound(struct symbol_store *store, const char *name)
{
    mutex_lock(store->mutex);
    const bool bound = is_bound(store, name);
    mutex_unlock(store->mutex);
    return bound;
}

bool symbol_indexing_parse(const char *word, enum symbol_indexing *out)
{
    *out = strcmp(word, "never") == 0    ? INDEXING_NONE
           : strcmp(word, "always") == 0 ? INDEXING_ALWAYS
                                         : INDEXING_AUTO;
    return *out != INDEXING_AUTO || strcmp(word, "auto") == 0;
}

void symbol_store_expect(struct symbol_store *store, const struct stack *stack)
{
    mutex_lock(store->mutex);
    if (store->bare_open > 0)
        claim(store, stack);
    mutex_unlock(store->mutex);
}

/* Fills *sources from the files named on the command line. False: none matches. */
static bool find_bound(struct symbol_store *store, struct symbol_module *sources)
{
    const struct module *module = &sources->identity;
    bool bare = false;

    for (const struct store_binding *b = store->bindings; b != NULL; b = b->next) {
        const char *bound = b->name != NULL ? b->name : b->taken;
        const bool known = module->debug_id[0] != '\0';
        const bool fits = bound != NULL ? text_equal_nocase(bound, module->name)
                                        : known && binding_fits(b, module);
        bare = bare || b->name == NULL;
        if (!fits)
            continue;
        if (b->csv != NULL) {
            sources->csv = b->csv;
            sources->state = IDENTITY_UNCHECKED;
            return true;
        }
        if (known && strcmp(module->debug_id, binding_id(b)) != 0) {
            sources->without = SYMBOLS_MISMATCH;
            sources->note =
                b->pdb != NULL ? NOTE_GIVEN_PDB_OTHER_BUILD : NOTE_GIVEN_FILE_OTHER_BUILD;
            continue;
        }
        sources->pdb = b->pdb;
        sources->breakpad = b->breakpad;
        sources->state = known ? IDENTITY_CHECKED : IDENTITY_UNCHECKED;
        sources->without = SYMBOLS_NONE;
        sources->note = b->pdb != NULL ? store_pdb_note(b->pdb) : NOTE_NONE;
        return true;
    }
    if (bare && sources->note == NOTE_NONE && !symbol_is_system_module(module->name))
        sources->note = NOTE_FILE_TAKEN;
    return sources->without == SYMBOLS_MISMATCH;
}

static bool same_identity(const struct module *a, const struct module *b)
{
    return text_equal_nocase(a->name, b->name) && strcmp(a->debug_id, b->debug_id) == 0 &&
           strcmp(a->code_id, b->code_id) == 0 && strcmp(a->mvid, b->mvid) == 0;
}

static struct symbol_module *add_module(struct symbol_store *store, const struct module *module)
{
    struct symbol_module *sources = ARENA_NEW(&store->arena, struct symbol_module);
    if (sources == NULL)
        return NULL;
    sources->store = store;
    sources->identity = *module;
    sources->identity.name = arena_string(&store->arena, module->name);
    sources->identity.path = arena_string(&store->arena, module->path);
    sources->identity.build_id = arena_string(&store->arena, module->build_id);
    sources->identity.pdb_name = arena_string(&store->arena, module->pdb_name);
    sources->state = IDENTITY_UNCHECKED;
    if (module->build_id != NULL && module->debug_id[0] == '\0')
        module_build_debug_id(module->build_id, sources->identity.debug_id);
    if (sources->identity.name == NULL)
        return NULL;
    if (!find_bound(store, sources))
        store_find(store, sources);
    return sources;
}

static struct symbol_module *chain_of(const struct symbol_store *store, uint64_t hash)
{
    return store->module_slots > 0 ? store->modules[hash_fold(hash) % store->module_slots] : NULL;
}

/* Keeps the chains short.  The table starts small: clearing a large one costs a noticeable part of
 * the time in which one stack is resolved.  False: there is no table. */
static bool grow_modules(struct symbol_store *store)
{
    const uint32_t count = store->module_slots > 0 ? store->module_slots * 4 : STORE_FIRST_SLOTS;
    if (store->module_count < store->module_slots)
        return true;
    struct symbol_module **wider = calloc(count, sizeof(struct symbol_module *));
    if (wider == NULL)
        return store->module_slots > 0;
    for (uint32_t i = 0; i < store->module_slots; i++)
        for (struct symbol_module *at = store->modules[i], *next; at != NULL; at = next) {
            struct symbol_module **slot = &wider[hash_fold(at->hash) % count];
            next = at->next;
            at->next = *slot;
            *slot = at;
        }
    free((void *)store->modules);
    store->modules = wider;
    store->module_slots = count;
    return true;
}

struct symbol_module *symbol_store_module(struct symbol_store *store, const struct module *module)
{
    uint64_t hash = hash_text_nocase(HASH_START, module->name);
    hash = hash_text(hash_text(hash, module->debug_id), module->code_id);
    struct symbol_module *sources;

    mutex_lock(store->mutex);
    for (sources = chain_of(store, hash); sources != NULL; sources = sources->next)
        if (same_identity(&sources->identity, module))
            break;
    if (sources == NULL) {
        if (store->bare_open > 0) {
            struct frame frame = {.module = module};
            const struct stack alone = {.frames = &frame, .frame_count = 1};
            claim(store, &alone);
        }
        if (store->module_count < STORE_MODULES_MAX && grow_modules(store))
            sources = add_module(store, module);
        if (sources != NULL) {
            struct symbol_module **slot = &store->modules[hash_fold(hash) % store->module_slots];
            sources->hash = hash;
            sources->next = *slot;
            *slot = sources;
            store->module_count++;
        } else {
            sources = &store->nothing;
        }
    }
    mutex_unlock(store->mutex);
    return sources;
}

static const struct store_image *image_of(struct symbol_store *store, const struct module *module)
{
    struct symbol_module *sources = symbol_store_module(store, module);
    mutex_lock(store->mutex);
    if (sources->image == NULL && !sources->image_asked)
        store_find_image(store, sources);
    const struct store_image *image = sources->image;
    mutex_unlock(store->mutex);
    return image;
}

const struct file_map *symbol_store_image(struct symbol_store *store, const struct module *module)
{
    const struct store_image *image = image_of(store, module);
    return image != NULL && image->file.kind == OBJECT_PE ? &image->map : NULL;
}

bool symbol_store_object(struct symbol_store *store, const struct module *module,
                         struct object_bytes *out)
{
    const struct store_image *image = image_of(store, module);
    if (image == NULL || image->file.kind == OBJECT_PE)
        return false;
    *out = image->file.bytes;
    return true;
}

struct pdb *symbol_store_pdb(struct symbol_store *store, const struct module *module)
{
    struct store_pdb *opened = symbol_store_module(store, module)->pdb;
    if (opened == NULL)
        return NULL;
    mutex_lock(opened->mutex);
    struct pdb *pdb = store_pdb_lists(opened);
    mutex_unlock(opened->mutex);
    return pdb;
}

const struct breakpad *symbol_store_breakpad(struct symbol_store *store,
                                             const struct module *module)
{
    struct symbol_module *sources = symbol_store_module(store, module);
    mutex_lock(store->mutex);
    if (!sources->unwind_asked)
        store_find_unwind(store, sources);
    struct store_breakpad *found = sources->unwind;
    mutex_unlock(store->mutex);
    if (found == NULL)
        return NULL;
    mutex_lock(found->mutex);
    const struct breakpad *whole = store_breakpad_whole(store, found);
    mutex_unlock(found->mutex);
    return whole;
}

const struct fault *symbol_store_path_fault(const struct symbol_store *store)
{
    return &store->path_fault;
}
