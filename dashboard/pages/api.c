/* The data side of the table: views, health, kept files. */
#include "pages/api.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "http/answer.h"
#include "http/cache.h"
#include "http/state.h"
#include "pages/input.h"
#include "pages/stores.h"
#include "pages/summed.h"
#include "pages/table.h"

/* Writes the document into x->keep. */
static enum status write_view(struct exchange *x, struct store *store, const char *known_text,
                              struct document *d, struct fault *fault)
{
    struct summed_loan loan = {.runs = x->dashboard->summed, .version = x->data_version};
    const struct view_input in = {.store = store,
                                  .query = &d->query,
                                  .known_text = known_text,
                                  .loan = &loan,
                                  .keep = &x->keep};
    struct json j;
    json_to_text(&j, false);
    enum status status = d->view->write(&in, &j, fault);
    summed_give_back(&loan);
    if (status != ERR_NONE) {
        json_free(&j);
        return status;
    }
    char *text = json_take(&j, &d->bytes);
    d->text = text != NULL ? arena_text(&x->keep, text, d->bytes) : NULL;
    free(text);
    return d->text != NULL ? ERR_NONE : fault_no_memory(fault, "answer");
}

/* The known file's text and a number that changes with it. */
static char *read_known(struct exchange *x, uint64_t *version)
{
    struct fault fault = FAULT_INIT;
    char *text = NULL;
    size_t bytes = 0;
    *version = 0;
    if (x->dashboard->options.known_file == NULL ||
        file_read(x->dashboard->options.known_file, KNOWN_MAX_BYTES, &x->keep, &text, &bytes,
                  &fault) != ERR_NONE)
        return NULL;
    for (size_t i = 0; i < bytes; i++)
        *version = *version * 31 + (unsigned char)text[i];
    return text;
}

/* What the cache keeps the document under. */
static const char *key_of(struct exchange *x, const struct document *d)
{
    return arena_printf(&x->keep, "%s?%s", d->path, d->search);
}

/* The known file and its part of the version, for the one document that shows it. */
static const char *known_of(struct exchange *x, const struct document *d, uint64_t *version)
{
    *version = 0;
    return strcmp(d->path, "/api/v1/known") == 0 ? read_known(x, version) : NULL;
}

bool document_find(struct exchange *x, const char *address, struct document *out)
{
    struct fault fault = FAULT_INIT;
    const size_t size = strcspn(address, "?");
    *out = (struct document){.path = arena_text(&x->keep, address, size),
                             .search = address[size] == '?' ? address + size + 1 : ""};
    for (size_t i = 0; i < view_count && out->path != NULL && out->view == NULL; i++)
        if (http_path_match(views[i].pattern, out->path, &x->keep, &out->query))
            out->view = &views[i];
    return out->view != NULL &&
           http_query_parse(out->search, &x->keep, &out->query, &fault) == ERR_NONE;
}

bool document_kept(struct exchange *x, struct document *d)
{
    uint64_t known = 0;
    const char *key = key_of(x, d);
    (void)known_of(x, d, &known);
    if (key != NULL)
        d->text = cache_get(x->dashboard->cache, key, x->data_version ^ known, &x->keep, &d->bytes);
    return d->text != NULL;
}

/* As document_make(), of a document that no other thread makes. */
static enum status make(struct exchange *x, struct document *d, const char *key, const char *known,
                        uint64_t version, struct fault *fault)
{
    struct store *store = NULL;
    if (store_pool_take(x->dashboard->stores, &store, fault) != ERR_NONE)
        return fault->code;
    store_begin_reading(store);
    if (write_view(x, store, known, d, fault) == ERR_NONE && key != NULL)
        cache_put(x->dashboard->cache, key, version, d->text, d->bytes);
    store_end_reading(store);
    store_pool_give(x->dashboard->stores, store);
    return fault->code;
}

enum status document_make(struct exchange *x, struct document *d, struct fault *fault)
{
    struct cache *cache = x->dashboard->cache;
    uint64_t known_version = 0;
    const char *key = key_of(x, d);
    const char *known = known_of(x, d, &known_version);
    const uint64_t version = x->data_version ^ known_version;
    bool mine = false;
    while (!mine) {
        if (document_kept(x, d))
            return ERR_NONE;
        mine = key == NULL || cache_begin(cache, key, version);
    }
    const bool kept = document_kept(x, d); /* since the look above */
    const enum status status = kept ? ERR_NONE : make(x, d, key, known, version, fault);
    if (key != NULL)
        cache_made(cache, key, version);
    return status;
}

int answer_view(struct exchange *x)
{
    struct fault fault = FAULT_INIT;
    char etag[ETAG_BYTES];
    struct document d = {
        .path = x->path,
        .search = x->request->query_string != NULL ? x->request->query_string : "",
        .view = x->route->view,
        .query = x->query,
    };
    if (view_check_names(&d.query, d.view->query, &fault) != ERR_NONE)
        return answer_fault(x, &fault);
    x->data_version = store_pool_version(x->dashboard->stores);
    if (document_make(x, &d, &fault) != ERR_NONE)
        return answer_fault(x, &fault);
    etag_of(d.text, d.bytes, etag);
    return answer_data(x, 200, d.text, d.bytes, etag);
}

int answer_health(struct exchange *x)
{
    struct fault fault = FAULT_INIT;
    struct store *store = NULL;
    if (store_pool_take(x->dashboard->stores, &store, &fault) != ERR_NONE) {
        static const char bad[] = "database not usable\n";
        return answer_text(x, 503, "text/plain; charset=utf-8", bad, sizeof bad - 1);
    }
    store_pool_give(x->dashboard->stores, store);
    static const char good[] = "ok\n";
    return answer_text(x, 200, "text/plain; charset=utf-8", good, sizeof good - 1);
}

enum status exchange_take(struct exchange *x, FILE *out, char **text, size_t *bytes,
                          struct fault *fault)
{
    if (out == NULL)
        return fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "temporary file");
    if (fault->code == ERR_NONE) {
        const long size = ftell(out);
        *text = size > 0 && fseek(out, 0, SEEK_SET) == 0 ? arena_alloc(&x->keep, (size_t)size + 1)
                                                         : NULL;
        *bytes = *text != NULL ? fread(*text, 1, (size_t)size, out) : 0;
        if (*text == NULL)
            (void)fault_no_memory(fault, "answer");
        else
            (*text)[*bytes] = '\0';
    }
    (void)fclose(out);
    return fault->code;
}

static enum status write_latest(struct exchange *x, exchange_figures_fn *write, FILE *out,
                                struct fault *fault)
{
    struct store *store = NULL;
    struct summed_loan loan = {.runs = x->dashboard->summed, .version = x->data_version};
    const struct triage *triage = NULL;
    uint64_t run_id = 0;
    if (store_pool_take(x->dashboard->stores, &store, fault) != ERR_NONE)
        return fault->code;
    store_begin_reading(store);
    if (store_find_run(store, "latest", &run_id, fault) == ERR_NONE &&
        summed_borrow(&loan, store, run_id, &x->keep, &triage, fault) == ERR_NONE)
        (void)write(x, &triage->figures, out, fault);
    store_end_reading(store);
    store_pool_give(x->dashboard->stores, store);
    summed_give_back(&loan);
    return fault->code;
}

static enum status write_figures(struct exchange *x, exchange_figures_fn *write, char **text,
                                 size_t *bytes, struct fault *fault)
{
    FILE *out = tmpfile();
    if (out != NULL)
        (void)write_latest(x, write, out, fault);
    return exchange_take(x, out, text, bytes, fault);
}

/* All cases of the run are read for it, and a page with a badge or a scraper asks again and again.
 */
enum status exchange_figures(struct exchange *x, exchange_figures_fn *write, char **text,
                             size_t *bytes, struct fault *fault)
{
    const char *key = arena_printf(&x->keep, "figures %s", x->path);
    x->data_version = store_pool_version(x->dashboard->stores);
    *text =
        key != NULL ? cache_get(x->dashboard->cache, key, x->data_version, &x->keep, bytes) : NULL;
    if (*text == NULL && write_figures(x, write, text, bytes, fault) == ERR_NONE && key != NULL)
        cache_put(x->dashboard->cache, key, x->data_version, *text, *bytes);
    return fault->code;
}

/* The address of a kept file is its hash, so caches may store it forever.  Browsers never show one
 * as a page: sources are sent as plain text, records as downloads. */
int answer_artifact(struct exchange *x)
{
    struct fault fault = FAULT_INIT;
    struct store *store = NULL;
    struct case_artifact found;
    char etag[ETAG_BYTES];
    if (store_pool_take(x->dashboard->stores, &store, &fault) != ERR_NONE)
        return answer_fault(x, &fault);
    enum status status = store_read_artifact(store, x->query.params[0], &x->keep, &found, &fault);
    store_pool_give(x->dashboard->stores, store);
    if (status != ERR_NONE)
        return answer_fault(x, &fault);
    const bool is_record = found.role == ARTIFACT_RECORD;
    struct answer_body body = {
        .mime = is_record ? "application/octet-stream" : "text/plain; charset=utf-8",
        .body = found.data,
        .bytes = found.bytes,
        .etag = etag,
        .cache = "private, max-age=31536000, immutable",
        .extra = is_record ? "Content-Disposition: attachment; filename=\"record.rec\"\r\n" : NULL};
    etag_of(found.data, found.bytes, etag);
    return answer_body(x, 200, &body);
}
