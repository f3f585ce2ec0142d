/* The page "Reference suite": what `twinstack score --html` makes of the results beside the suite.
 * It is not one of the pages of the bundle, so that there is one such page, with a server or
 * without. */
#include "pages/suite.h"

#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "http/response.h"
#include "http/response_cache.h"
#include "http/state.h"
#include "pages/badges.h"
#include "suite/result_page.h"

struct suite_files {
    const char *folder;
    const char **results; /* their paths */
    uint32_t count;
    uint64_t version; /* differs when one of them, or the suite, was changed */
};

static void add_stamp(struct suite_files *files, const char *path)
{
    struct file_stamp stamp = {0};
    (void)path_stamp(path, &stamp);
    const uint64_t parts[] = {stamp.bytes, stamp.modified_ns, stamp.changed_ns, stamp.number};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        files->version = (files->version ^ parts[i]) * UINT64_C(0x100000001b3);
}

/* suite.json has the hashes of all other files of the suite. */
static enum status find_files(struct exchange *x, struct suite_files *out, struct fault *fault)
{
    static const char ending[] = ".json";
    const char **names = NULL;
    size_t count = 0;
    *out = (struct suite_files){.folder = x->dashboard->options.suite};
    if (out->folder == NULL)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "reference suite");
    const char *suite = path_join(&x->keep, out->folder, "suite.json");
    const char *results = path_join(&x->keep, out->folder, "results");
    if (suite == NULL || results == NULL)
        return fault_no_memory(fault, "answer");
    if (folder_list(results, &x->keep, &names, &count, fault) != ERR_NONE)
        return fault->code;
    out->results = ARENA_ARRAY(&x->keep, count + 1, const char *);
    add_stamp(out, suite);
    for (size_t i = 0; i < count && out->results != NULL; i++) {
        const size_t size = strlen(names[i]);
        if (size < sizeof ending || strcmp(names[i] + size - (sizeof ending - 1), ending) != 0)
            continue;
        out->results[out->count] = path_join(&x->keep, results, names[i]);
        if (out->results[out->count] == NULL)
            return fault_no_memory(fault, "answer");
        add_stamp(out, out->results[out->count++]);
    }
    return out->results != NULL ? ERR_NONE : fault_no_memory(fault, "answer");
}

static enum status write_page(struct exchange *x, const struct suite_files *files, char **text,
                              size_t *bytes, struct fault *fault)
{
    struct suite suite;
    struct matrix matrix;
    if (suite_open(files->folder, NULL, &x->keep, &suite, fault) != ERR_NONE ||
        matrix_open(&suite, files->count, &x->keep, &matrix, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < files->count; i++)
        if (matrix_add_file(&matrix, files->results[i], &x->keep, fault) != ERR_NONE)
            return fault->code;
    FILE *out = tmpfile();
    if (out != NULL)
        (void)result_page(&matrix, "./", out, fault);
    return take_temporary(out, &x->keep, text, bytes, fault);
}

/* From the cache, or made by one thread while others wait for it. */
static enum status take_page(struct exchange *x, const struct suite_files *files, char **text,
                             size_t *bytes, struct fault *fault)
{
    struct cache *cache = x->dashboard->cache;
    while ((*text = cache_get(cache, x->path, files->version, &x->keep, bytes)) == NULL) {
        if (!cache_begin(cache, x->path, files->version))
            continue;
        if (write_page(x, files, text, bytes, fault) == ERR_NONE)
            cache_put(cache, x->path, files->version, *text, *bytes);
        cache_made(cache, x->path, files->version);
        break;
    }
    return fault->code;
}

int answer_suite(struct exchange *x)
{
    static const char none[] =
        "There is no reference suite with results where this server was started.\n"
        "`twinstack serve --suite DIR` shows those in DIR/results.\n";
    struct fault fault = FAULT_INIT;
    struct suite_files files;
    char *text = NULL, etag[ETAG_BYTES];
    size_t bytes = 0;
    if (find_files(x, &files, &fault) == ERR_ABSENT)
        return answer_text(x, 404, "text/plain; charset=utf-8", none, sizeof none - 1);
    if (fault.code != ERR_NONE || take_page(x, &files, &text, &bytes, &fault) != ERR_NONE)
        return answer_fault(x, &fault);
    const struct answer_body body = {.mime = "text/html; charset=utf-8",
                                     .body = text,
                                     .bytes = bytes,
                                     .etag = etag,
                                     .cache = "no-cache",
                                     .has_style = true};
    etag_of(text, bytes, etag);
    return answer_body(x, 200, &body);
}
