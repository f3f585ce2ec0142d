/* Scenario lists of victims, kept in the Wine prefix: see list_cache.h. */
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "collect/list_cache.h"
#include "collect/runner.h"

enum { LIST_MAX_BYTES = 4 << 20, LISTS_MAX = 256, SHA256_DIGITS = 64 };

/* NULL: it cannot be read, or memory is out. */
static const char *hash_file(const char *path, struct arena *keep)
{
    struct fault ignored = FAULT_INIT;
    char hex[SHA256_DIGITS + 1];

    return path != NULL && file_sha256(path, hex, &ignored) == ERR_NONE ? arena_string(keep, hex)
                                                                        : NULL;
}

void list_cache_open(const struct collect_options *options, struct arena *keep,
                     struct list_cache *out)
{
    struct collect_host host;
    struct fault ignored = FAULT_INIT;

    memset(out, 0, sizeof *out);
    if (options->prefix_folder == NULL || options->launcher == NULL ||
        options->launcher[0] == NULL ||
        collect_describe_host(options, keep, &host, &ignored) != ERR_NONE)
        return;
    const char *launcher = hash_file(process_find(options->launcher[0], keep), keep);
    if (launcher == NULL)
        return;
    out->facts = arena_printf(keep, "%s\n%s\n%s\n%s\n%d\n", text_or_empty(host.os),
                              text_or_empty(host.cpu), text_or_empty(host.wine), launcher,
                              (int)prefix_runs_32_bits(options->prefix_folder, keep));
    const char *loader = wine32_loader(options->prefix_folder, options->launcher[0], keep);
    if (out->facts != NULL && loader != NULL)
        out->facts = arena_printf(keep, "%s%s\n", out->facts, loader);
    for (size_t i = 1; options->launcher[i] != NULL && out->facts != NULL; i++)
        out->facts = arena_printf(keep, "%s%s\n", out->facts, options->launcher[i]);
    out->folder = path_join(keep, options->prefix_folder, "twinstack-lists");
}

const char *list_cache_path(const struct list_cache *cache, const char *program, struct arena *keep)
{
    char key[SHA256_DIGITS + 1];
    const char *hash = cache->folder != NULL ? hash_file(program, keep) : NULL;
    /* managed victims list what they can show by this file; ./run may bring it later */
    const char *runtime =
        arena_printf(keep, "%.*sdotnet%s/coreclr.dll", (int)(path_base(program) - program), program,
                     strstr(path_base(program), "managed10") != NULL ? "10" : "");
    const char *facts = hash != NULL ? arena_printf(keep, "%s\n%d\n%s", hash,
                                                    runtime != NULL && path_is_file(runtime),
                                                    text_or_empty(cache->facts))
                                     : NULL;

    if (facts == NULL)
        return NULL;
    text_sha256(facts, strlen(facts), key);
    const char *name = arena_printf(keep, "list-%s.json", key);
    return name != NULL ? path_join(keep, cache->folder, name) : NULL;
}

const char *list_cache_read(const char *path, struct arena *keep)
{
    struct fault ignored = FAULT_INIT;
    char *text = NULL, sum[SHA256_DIGITS + 1];
    size_t bytes = 0;

    if (path == NULL || !path_is_file(path) ||
        file_read(path, LIST_MAX_BYTES, keep, &text, &bytes, &ignored) != ERR_NONE ||
        bytes < SHA256_DIGITS + 1 || strlen(text) != bytes)
        return NULL;
    text_sha256(text + SHA256_DIGITS + 1, bytes - SHA256_DIGITS - 1, sum);
    return strncmp(text, sum, SHA256_DIGITS) == 0 && text[SHA256_DIGITS] == '\n'
               ? text + SHA256_DIGITS + 1
               : NULL;
}

/* Deletes lists of victims that have been rebuilt since: they are never read again. */
static void drop_many(const struct list_cache *cache, struct arena *scratch)
{
    struct fault ignored = FAULT_INIT;
    const char **names = NULL;
    size_t count = 0;

    if (folder_list(cache->folder, scratch, &names, &count, &ignored) == ERR_NONE &&
        count >= LISTS_MAX)
        (void)path_remove(cache->folder, &ignored);
}

void list_cache_write(const struct list_cache *cache, const char *path, const char *text)
{
    struct fault ignored = FAULT_INIT;
    struct arena scratch;
    char sum[SHA256_DIGITS + 1];

    if (path == NULL || strlen(text) > LIST_MAX_BYTES - SHA256_DIGITS - 1)
        return;
    arena_init(&scratch, 0);
    drop_many(cache, &scratch);
    text_sha256(text, strlen(text), sum);
    const char *whole = arena_printf(&scratch, "%s\n%s", sum, text);
    if (whole != NULL && folder_make(cache->folder, &ignored) == ERR_NONE)
        (void)file_write(path, whole, strlen(whole), &ignored);
    arena_free(&scratch);
}
