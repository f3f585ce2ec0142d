/* See cache.h. The time of change of a file says when it was last used. */
#include "base/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/text.h"

enum { KEY_BYTES_MAX = 1024, FOLDER_DEPTH = 8, FILES_MAX = 1 << 20 };

#define HOUR_NS UINT64_C(3600000000000)
#define ABANDONED_NS (24 * HOUR_NS) /* a partial file this old belongs to no running process */
#define DEFAULT_LIMIT_MIB UINT64_C(8192)

static const char *from_environment(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static const char *default_folder(struct arena *keep)
{
    const char *xdg = from_environment("XDG_CACHE_HOME");
    const char *local = from_environment("LOCALAPPDATA");
    const char *home = from_environment("HOME");

    if (xdg != NULL)
        return path_join(keep, xdg, "twinstack");
    if (local != NULL)
        return path_join(keep, local, "twinstack");
    return home != NULL ? path_join(keep, home, ".cache/twinstack") : NULL;
}

void cache_locate(const char *folder, struct arena *keep, struct cache *out)
{
    const char *limit = from_environment("TWINSTACK_CACHE_LIMIT");
    uint64_t mib = DEFAULT_LIMIT_MIB;

    if (folder == NULL)
        folder = getenv("TWINSTACK_CACHE");
    if (limit != NULL && (!text_parse_uint(limit, strlen(limit), &mib) || mib > UINT64_MAX >> 20))
        mib = DEFAULT_LIMIT_MIB;
    out->limit_bytes = mib << 20;
    if (folder == NULL)
        out->folder = default_folder(keep);
    else
        out->folder =
            folder[0] != '\0' && strcmp(folder, "none") != 0 ? arena_string(keep, folder) : NULL;
}

const char *cache_kind_name(enum cache_kind kind)
{
    static const char *const names[CACHE_KINDS] = {"index", "download"};
    return names[kind];
}

/* True when every part of KEY is a plain name. */
static bool is_key(const char *key)
{
    if (strlen(key) > KEY_BYTES_MAX || strpbrk(key, "\\:") != NULL)
        return false;
    for (const char *part = key;; part++) {
        const size_t bytes = strcspn(part, "/");
        if (bytes == 0 || strncmp(part, "..", bytes) == 0) /* also "." */
            return false;
        part += bytes;
        if (*part == '\0')
            return true;
    }
}

char *cache_path(const struct cache *cache, enum cache_kind kind, const char *key,
                 struct arena *keep)
{
    if (cache->folder == NULL || !is_key(key))
        return NULL;
    return arena_printf(keep, "%s/%s/%s", cache->folder, cache_kind_name(kind), key);
}

void cache_used(const char *path, uint64_t used_ns)
{
    const uint64_t now = clock_wall_ns();
    if (used_ns > now || now - used_ns > HOUR_NS)
        path_touch(path);
}

char *cache_partial(const struct cache *cache, struct arena *keep)
{
    struct fault ignored = FAULT_INIT;
    char *folder = cache->folder != NULL ? path_join(keep, cache->folder, "partial") : NULL;

    if (folder == NULL || folder_make(folder, &ignored) != ERR_NONE)
        return NULL;
    /* The names of two threads or processes differ: in the time, or in the address of their stack.
     */
    return arena_printf(keep, "%s/%llx-%llx", folder, (unsigned long long)clock_wall_ns(),
                        (unsigned long long)(uintptr_t)&folder);
}

enum status cache_publish(const struct cache *cache, const char *partial, enum cache_kind kind,
                          const char *key, struct fault *fault)
{
    struct fault ignored = FAULT_INIT;
    struct arena scratch;

    arena_init(&scratch, 0);
    const char *path = cache_path(cache, kind, key, &scratch);
    const char *folder =
        path != NULL ? arena_text(&scratch, path, (size_t)(path_base(path) - path) - 1) : NULL;
    if (path == NULL)
        fault_set(fault, ERR_USAGE, FAULT_NO_OFFSET, "key of a cached file");
    else if (folder == NULL)
        fault_no_memory(fault, "cache");
    else if (folder_make(folder, fault) == ERR_NONE)
        (void)path_rename(partial, path, fault);
    if (fault->code == ERR_NONE)
        (void)cache_trim(cache, cache->limit_bytes, path, NULL, NULL, &ignored);
    else
        (void)path_remove(partial, &ignored);
    arena_free(&scratch);
    return fault->code;
}

struct listing {
    struct arena *keep;
    struct cache_item *items; /* in KEEP */
    uint32_t count, room;
    enum cache_kind kind;
    size_t key_at; /* in a path: where the key starts */
    bool failed;
};

static void list_file(struct listing *list, const char *path)
{
    struct cache_item item = {.kind = list->kind, .key = path + list->key_at, .path = path};
    if (list->count == FILES_MAX || !path_stat(path, &item.bytes, &item.used_ns))
        return;
    struct cache_item *wider = arena_reserve(list->keep, list->items, &list->room,
                                             (uint64_t)list->count + 1, sizeof *wider);
    list->failed = wider == NULL;
    if (wider == NULL)
        return;
    list->items = wider;
    list->items[list->count++] = item;
}

static void list_folder(struct listing *list, const char *folder, int depth)
{
    struct fault ignored = FAULT_INIT; /* another process may have deleted it */
    const char **names;
    size_t count;

    if (depth == 0 || folder_list(folder, list->keep, &names, &count, &ignored) != ERR_NONE)
        return;
    for (size_t i = 0; i < count && !list->failed; i++) {
        const char *path = path_join(list->keep, folder, names[i]);
        list->failed = path == NULL;
        if (path != NULL && path_is_folder(path))
            list_folder(list, path, depth - 1);
        else if (path != NULL)
            list_file(list, path);
    }
}

static int compare_items(const void *left, const void *right)
{
    const struct cache_item *a = left, *b = right;
    if (a->used_ns != b->used_ns)
        return a->used_ns < b->used_ns ? -1 : 1;
    return strcmp(a->path, b->path);
}

enum status cache_list(const struct cache *cache, struct arena *keep, struct cache_item **items,
                       uint32_t *count, struct fault *fault)
{
    struct listing list = {.keep = keep};

    for (int kind = 0; cache->folder != NULL && kind < CACHE_KINDS && !list.failed; kind++) {
        const char *folder = path_join(keep, cache->folder, cache_kind_name((enum cache_kind)kind));
        list.kind = (enum cache_kind)kind;
        list.failed = folder == NULL;
        if (folder != NULL) {
            list.key_at = strlen(folder) + 1;
            list_folder(&list, folder, FOLDER_DEPTH);
        }
    }
    if (list.count > 1)
        array_sort(list.items, list.count, sizeof *list.items, compare_items);
    *items = list.items;
    *count = list.count;
    return list.failed ? fault_no_memory(fault, "cache") : ERR_NONE;
}

/* Deletes partial files whose writer must have been killed. */
static void remove_abandoned(const struct cache *cache, struct arena *scratch)
{
    struct fault ignored = FAULT_INIT;
    const char *folder = path_join(scratch, cache->folder, "partial");
    const char **names = NULL;
    size_t count = 0;

    if (folder == NULL || folder_list(folder, scratch, &names, &count, &ignored) != ERR_NONE)
        return;
    for (size_t i = 0; i < count; i++) {
        const char *path = path_join(scratch, folder, names[i]);
        uint64_t bytes, changed_ns;
        if (path != NULL && path_stat(path, &bytes, &changed_ns) &&
            changed_ns + ABANDONED_NS < clock_wall_ns())
            (void)path_remove(path, &ignored);
    }
}

enum status cache_trim(const struct cache *cache, uint64_t left_bytes, const char *kept,
                       uint32_t *deleted, uint64_t *deleted_bytes, struct fault *fault)
{
    struct cache_item *items;
    struct arena scratch;
    uint64_t bytes = 0, gone_bytes = 0;
    uint32_t count, gone = 0;

    arena_init(&scratch, 0);
    (void)cache_list(cache, &scratch, &items, &count, fault);
    for (uint32_t i = 0; i < count; i++)
        bytes += items[i].bytes;
    for (uint32_t i = 0; i < count && bytes - gone_bytes > left_bytes; i++) {
        struct fault ignored = FAULT_INIT;
        if ((kept != NULL && strcmp(items[i].path, kept) == 0) ||
            path_remove(items[i].path, &ignored) != ERR_NONE)
            continue;
        gone_bytes += items[i].bytes;
        gone++;
    }
    if (cache->folder != NULL)
        remove_abandoned(cache, &scratch);
    if (deleted != NULL)
        *deleted = gone;
    if (deleted_bytes != NULL)
        *deleted_bytes = gone_bytes;
    arena_free(&scratch);
    return fault->code;
}
