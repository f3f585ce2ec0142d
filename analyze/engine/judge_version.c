/* What `PROGRAM --version` prints, kept in the user's cache: a start of llvm-symbolizer takes 25 ms
 * of processor time, as much as its answer about one case. */
#include <string.h>

#include "base/cache.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/process.h"
#include "engine/judge.h"
#include "symbol/symbol_store.h"

enum { VERSION_BYTES_MAX = 512 };

/* The first line that says it; NULL: unknown. */
static const char *ask(const char *program, struct arena *keep)
{
    const char *const argv[] = {program, "--version", NULL};
    const struct process_request request = {.argv = argv, .limit_ms = 10000};
    struct process_result result;
    struct fault ignored = FAULT_INIT;
    if (process_run(&request, keep, &result, &ignored) != ERR_NONE || result.exit_code != 0)
        return NULL;
    for (char *line = result.output; line != NULL && *line != '\0';) {
        char *end = strchr(line, '\n');
        if (end != NULL)
            *end = '\0';
        if (strstr(line, "version") != NULL || strstr(line, "wine-") != NULL)
            return line + strspn(line, " ");
        line = end != NULL ? end + 1 : NULL;
    }
    return NULL;
}

/* Names the program as it is now: an update changes its stamp. NULL: it is not found. */
static const char *key_of(const char *program, struct arena *keep)
{
    struct file_stamp stamp;
    const char *path = process_find(program, keep);
    if (path == NULL || !path_stamp(path, &stamp))
        return NULL;
    const uint64_t hash = hash_bytes(hash_text(HASH_START, path), &stamp, sizeof stamp);
    return arena_printf(keep, "%s.%016llx.version", path_base(path), (unsigned long long)hash);
}

/* NULL: it is not there, or not one line of text. */
static const char *read_kept(const char *path, struct arena *keep)
{
    struct fault ignored = FAULT_INIT;
    char *text = NULL;
    size_t bytes = 0;
    if (!path_is_file(path) ||
        file_read(path, VERSION_BYTES_MAX, keep, &text, &bytes, &ignored) != ERR_NONE)
        return NULL;
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)text[i] < ' ')
            return NULL;
    return bytes != 0 ? text : NULL;
}

const char *judge_version(const char *program, const struct symbol_store *store, struct arena *keep)
{
    struct fault ignored = FAULT_INIT;
    const struct cache *cache = store != NULL ? symbol_store_cache(store) : NULL;
    const char *key = cache != NULL && cache->folder != NULL ? key_of(program, keep) : NULL;
    const char *path = key != NULL ? cache_path(cache, CACHE_INDEX, key, keep) : NULL;
    const char *known = path != NULL ? read_kept(path, keep) : NULL;
    uint64_t bytes, used_ns;
    if (known != NULL) {
        if (path_stat(path, &bytes, &used_ns))
            cache_used(path, used_ns);
        return known;
    }
    known = ask(program, keep);
    const char *partial = path != NULL && known != NULL ? cache_partial(cache, keep) : NULL;
    if (partial != NULL && file_write(partial, known, strlen(known), &ignored) == ERR_NONE)
        (void)cache_publish(cache, partial, CACHE_INDEX, key, &ignored);
    return known;
}
