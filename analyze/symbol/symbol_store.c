/* The symbol store: opening, binding, and the table of modules; see symbol_store.h. */
#include "symbol/symbol_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/text.h"
#include "symbol/store_find.h"
#include "symbol/store_listing.h"
#include "symbol/store_managed.h"
#include "symbol/store_servers.h"

/* A root as the user names it. */
static enum status add_word(struct symbol_store *store, const char *word, struct fault *fault)
{
    const char *copy = arena_string(&store->arena, word);
    if (copy == NULL)
        return fault_no_memory(fault, "symbol store");
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
        return fault_no_memory(fault, "symbol store");
    }
    arena_init(&store->arena, 0);
    store->names = options->names;
    store->listed_least = LISTING_LEAST_FILES;
    store->files_most = STORE_FILES_MAX;
    store->indexing = options->indexing;
    store->with_system = options->system;
    store->fetch_options = options->fetch;
    store->fetch_options.cache = arena_string(&store->arena, options->fetch.cache);
    store->arch = options->arch;
    store->cache_stated = arena_string(&store->arena, options->cache);
    cache_locate(store->cache_stated, &store->arena, &store->cache);
    store->words = ARENA_ARRAY(&store->arena, (size_t)options->root_count + 1, const char *);
    store->nothing.state = IDENTITY_UNCHECKED;
    store->nothing.note = NOTE_TOO_MANY_MODULES;
    if (store->words == NULL)
        fault_no_memory(fault, "symbol store");
    for (uint32_t i = 0; fault->code == ERR_NONE && i < options->root_count; i++)
        (void)add_word(store, options->roots[i], fault);
    store->named_count = store->file_count;
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

enum status symbol_store_open_again(const struct symbol_store *store, const char *cache,
                                    struct symbol_store **out, struct fault *fault)
{
    if (cache != NULL && store->fetch != NULL)
        return fault_set(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "symbol servers, asked again");
    const struct symbol_store_options options = {.roots = store->words,
                                                 .root_count = store->word_count,
                                                 .fetch = store->fetch_options,
                                                 .names = store->names,
                                                 .indexing = store->indexing,
                                                 .cache =
                                                     cache != NULL ? cache : store->cache_stated,
                                                 .system = store->with_system,
                                                 .arch = store->arch};
    return symbol_store_open(&options, out, fault);
}

void symbol_store_close(struct symbol_store *store)
{
    if (store == NULL)
        return;
    store_managed_close_all(store);
    for (struct source *source = store->sources; source != NULL; source = source->next)
        source_close(source);
    store_servers_close(store);
    mutex_free(store->mutex);
    mutex_free(store->counters);
    free(store->files);
    listings_free(store);
    free((void *)store->modules);
    arena_free(&store->arena);
    free(store);
}

/* Bindings keep their order on the command line: the first that matches is used. */
static enum status bind_source(struct symbol_store *store, const struct source_kind *kind,
                               const char *name, const char *path, uint64_t base_va,
                               struct fault *fault)
{
    struct store_binding *binding = ARENA_NEW(&store->arena, struct store_binding);
    struct store_binding **end = &store->bindings;

    if (binding == NULL ||
        (name != NULL && (binding->name = arena_string(&store->arena, name)) == NULL))
        return fault_no_memory(fault, "symbol store");
    if (store_open_source(store, kind, path, 0, base_va, &binding->source, fault) != ERR_NONE)
        return fault->code;
    while (*end != NULL)
        end = &(*end)->next;
    *end = binding;
    if (name == NULL)
        store->bare_open++;
    return ERR_NONE;
}

/* A file of methods answers by their tokens, beside what names the module's code. */
static enum status bind_method_file(struct symbol_store *store, const char *name, const char *path,
                                    struct fault *fault)
{
    if (store_list_file(store, path, true, fault) == ERR_NONE && name != NULL)
        store->files[store->file_count - 1].bound = arena_string(&store->arena, name);
    return fault->code;
}

/* What is not recognised is opened as a PDB, whose reader says what is wrong. */
enum status symbol_store_bind_pdb(struct symbol_store *store, const char *name, const char *path,
                                  struct fault *fault)
{
    struct file_map map;
    bool unpacked;
    if (source_map(path, &map, &unpacked, fault) != ERR_NONE)
        return fault->code;
    const struct source_kind *kind = source_recognize(map.data, map.bytes);
    if (kind == NULL && (unpacked || source_is_stranger(map.data, map.bytes))) {
        (void)source_refuse(map.data, map.bytes, fault);
        fault_set_path(fault, path);
    } else if (kind != NULL && kind->layer == LAYER_IMAGE) {
        (void)fault_set_lasting(fault, ERR_UNSUPPORTED, 0, kind->what,
                                "an image is given by `--symbols FILE`");
        fault_set_path(fault, path);
    }
    source_unmap(&map, unpacked);
    if (fault->code != ERR_NONE)
        return fault->code;
    if (kind != NULL && kind->layer == LAYER_METHODS)
        return bind_method_file(store, name, path, fault);
    return bind_source(store, kind != NULL && kind->layer == LAYER_NAMES ? kind : &source_pdb, name,
                       path, 0, fault);
}

enum status symbol_store_bind_csv(struct symbol_store *store, const char *name, const char *path,
                                  uint64_t csv_base, struct fault *fault)
{
    return bind_source(store, &source_csv, name, path, csv_base, fault);
}

/* A CSV states no identity. */
static bool has_identity(const struct store_binding *binding)
{
    return binding->source->id.debug_id[0] != '\0';
}

/* Whether the file matches the module by name. */
static bool binding_fits(const struct store_binding *binding, const struct module *module)
{
    const struct source_want want = {.module = module, .debug_id = ""};
    return binding->source->kind->fit(&binding->source->id, &want) != FIT_NONE;
}

/* Whether a bare file matches the module, by identity if both have one. */
static bool is_own(const struct store_binding *binding, const struct module *module)
{
    return has_identity(binding) && module->debug_id[0] != '\0'
               ? strcmp(module->debug_id, binding->source->id.debug_id) == 0
               : binding_fits(binding, module);
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
           !is_bound(store, module->name) &&
           (!has_identity(binding) || module->debug_id[0] == '\0');
}

static void use_for_module(struct symbol_store *store, struct store_binding *binding,
                           const char *name)
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
            use_for_module(store, b, module->name);
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
                use_for_module(store, b, module->name);
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
    *out = INDEXING_AUTO;
    if (strcmp(word, "never") == 0)
        *out = INDEXING_NONE;
    else if (strcmp(word, "always") == 0)
        *out = INDEXING_ALWAYS;
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
        const struct source_kind *kind = b->source->kind;
        const char *bound = b->name != NULL ? b->name : b->taken;
        const bool known = module->debug_id[0] != '\0';
        const bool fits = bound != NULL ? text_equal_nocase(bound, module->name)
                                        : known && has_identity(b) && binding_fits(b, module);
        bare = bare || b->name == NULL;
        if (!fits)
            continue;
        if (known && has_identity(b) && strcmp(module->debug_id, b->source->id.debug_id) != 0) {
            sources->without = SYMBOLS_MISMATCH;
            sources->note = kind->notes.given;
            continue;
        }
        sources->names = b->source;
        sources->state = known && has_identity(b) ? IDENTITY_CHECKED : IDENTITY_UNCHECKED;
        sources->without = SYMBOLS_NONE;
        sources->note = kind->note != NULL ? kind->note(b->source) : NOTE_NONE;
        if (sources->note == NOTE_PDB_NO_SECTIONS)
            store_place_bound(store, sources);
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

static const struct source *image_of(struct symbol_store *store, const struct module *module)
{
    struct symbol_module *sources = symbol_store_module(store, module);
    mutex_lock(store->mutex);
    if (sources->image == NULL && !sources->image_asked)
        store_find_image(store, sources);
    const struct source *image = sources->image;
    mutex_unlock(store->mutex);
    return image;
}

const struct file_map *symbol_store_image(struct symbol_store *store, const struct module *module)
{
    const struct source *image = image_of(store, module);
    const struct object_file *file = source_object_of(image);
    return file != NULL && file->kind == OBJECT_PE ? &image->map : NULL;
}

bool symbol_store_object(struct symbol_store *store, const struct module *module,
                         struct byte_view *out)
{
    const struct object_file *file = source_object_of(image_of(store, module));
    if (file == NULL || file->kind == OBJECT_PE)
        return false;
    *out = file->bytes;
    return true;
}

struct pdb *symbol_store_pdb(struct symbol_store *store, const struct module *module)
{
    return source_pdb_of(symbol_store_module(store, module)->names);
}

struct source *store_unwind_of(struct symbol_store *store, const struct module *module)
{
    struct symbol_module *sources = symbol_store_module(store, module);
    mutex_lock(store->mutex);
    if (!sources->unwind_asked)
        store_find_unwind(store, sources);
    mutex_unlock(store->mutex);
    return sources->unwind;
}

bool symbol_has_names(const struct symbol_module *sources)
{
    return sources->names != NULL;
}

void symbol_image_of(const struct symbol_module *sources, struct symbol_image *out)
{
    const struct source *image = sources->image;
    const struct object_file *file = source_object_of(image);

    *out = (struct symbol_image){.code_id = "", .debug_id = ""};
    if (sources->names != NULL)
        out->debug_id = sources->names->id.debug_id;
    if (file == NULL)
        return;
    out->code_id = image->id.code_id;
    if (out->debug_id[0] == '\0')
        out->debug_id = image->id.debug_id;
    out->has_base = file->kind != OBJECT_ARCHIVE;
    if (file->kind == OBJECT_PE)
        out->preferred_base_va = file->as.pe.preferred_base_va;
    else if (file->kind == OBJECT_ELF)
        out->preferred_base_va = file->as.elf.base_va;
    else if (file->kind == OBJECT_MACHO)
        out->preferred_base_va = file->as.macho.base_va;
}

const struct fault *symbol_store_path_fault(const struct symbol_store *store)
{
    return &store->path_fault;
}
