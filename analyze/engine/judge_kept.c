/* What judges' programs print, kept in the user's cache: a start of llvm-symbolizer takes 30 ms of
 * processor time, more than all else that `check` does with a case. A version and an answer belong
 * to the program's path and stamp; what it loads from elsewhere, which comes with it, is not looked
 * at. A file is the SHA-256 of its text, a line end, and the text. */
#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "engine/judge.h"
#include "engine/judge_pool.h"
#include "symbol/symbol_store.h"

enum { KEPT_BYTES_MAX = 1 << 20, SHA256_DIGITS = 64 };

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

/* The cache of STORE; NULL: there is none. */
static const struct cache *cache_of(const struct symbol_store *store)
{
    const struct cache *cache = store != NULL ? symbol_store_cache(store) : NULL;
    return cache != NULL && cache->folder != NULL ? cache : NULL;
}

/* Names the program as it is now: an update changes its stamp. NULL: it is not found. */
static const char *key_of(const char *program, struct arena *keep)
{
    struct file_stamp stamp;
    const char *path = process_find(program, keep);
    if (path == NULL || !path_stamp(path, &stamp))
        return NULL;
    const uint64_t hash = hash_bytes(hash_text(HASH_START, path), &stamp, sizeof stamp);
    return arena_printf(keep, "%s.%016llx", path_base(path), (unsigned long long)hash);
}

/* NULL: it is not there, or it is damaged. */
static char *read_kept(const struct cache *cache, const char *key, struct arena *keep)
{
    struct fault ignored = FAULT_INIT;
    char *text = NULL, sum[SHA256_DIGITS + 1];
    size_t bytes = 0;
    uint64_t used_ns, size;
    const char *path = key != NULL ? cache_path(cache, CACHE_INDEX, key, keep) : NULL;

    if (path == NULL || !path_stat(path, &size, &used_ns) ||
        file_read(path, KEPT_BYTES_MAX, keep, &text, &bytes, &ignored) != ERR_NONE ||
        bytes <= SHA256_DIGITS || strlen(text) != bytes)
        return NULL;
    text_sha256(text + SHA256_DIGITS + 1, bytes - SHA256_DIGITS - 1, sum);
    if (memcmp(text, sum, SHA256_DIGITS) != 0 || text[SHA256_DIGITS] != '\n')
        return NULL;
    cache_used(path, used_ns);
    return text + SHA256_DIGITS + 1;
}

/* If it cannot, the program is asked again. */
static void write_kept(const struct cache *cache, const char *key, const char *text,
                       struct arena *keep)
{
    struct fault ignored = FAULT_INIT;
    char sum[SHA256_DIGITS + 1];
    const size_t bytes = strlen(text);
    const char *partial =
        key != NULL && bytes < KEPT_BYTES_MAX - SHA256_DIGITS ? cache_partial(cache, keep) : NULL;

    if (partial == NULL)
        return;
    text_sha256(text, bytes, sum);
    const char *whole = arena_printf(keep, "%s\n%s", sum, text);
    if (whole != NULL && file_write(partial, whole, strlen(whole), &ignored) == ERR_NONE)
        (void)cache_publish(cache, partial, CACHE_INDEX, key, &ignored);
}

const char *judge_version(const char *program, const struct symbol_store *store, struct arena *keep)
{
    const struct cache *cache = cache_of(store);
    const char *key = cache != NULL ? key_of(program, keep) : NULL;
    if (key != NULL)
        key = arena_printf(keep, "%s.version", key);
    const char *known = key != NULL ? read_kept(cache, key, keep) : NULL;
    if (known != NULL)
        return known;
    known = ask(program, keep);
    if (known != NULL && key != NULL)
        write_kept(cache, key, known, keep);
    return known;
}

const char *judge_answer_key(const struct judge_work *w, const struct process_request *request)
{
    char hash[SHA256_DIGITS + 1];
    const struct crash_case *crash = w->in->opened->crash;
    if (w->judge->repeats == NULL || !w->judge->repeats(crash) || cache_of(w->in->symbols) == NULL)
        return NULL;
    const char *program = key_of(request->argv[0], w->keep);
    const char *facts = judge_pool_key(crash, w->keep);
    for (size_t i = 1; request->argv[i] != NULL && facts != NULL; i++)
        facts = arena_printf(w->keep, "%s%s\n", facts, request->argv[i]);
    if (facts != NULL)
        facts = arena_printf(w->keep, "%s%.*s", facts, (int)request->input_bytes,
                             (const char *)request->input);
    if (program == NULL || facts == NULL)
        return NULL;
    text_sha256(facts, strlen(facts), hash);
    return arena_printf(w->keep, "%s.%s.answer", program, hash);
}

char *judge_answer_kept(const struct judge_work *w, const char *key)
{
    return key != NULL ? read_kept(cache_of(w->in->symbols), key, w->keep) : NULL;
}

void judge_answer_keep(const struct judge_work *w, const char *key, const char *answer)
{
    if (key != NULL)
        write_kept(cache_of(w->in->symbols), key, answer, w->keep);
}
