/* The data side of the table: views, health, kept files. */
#include "pages/api.h"

#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "http/response.h"
#include "http/response_cache.h"
#include "http/state.h"
#include "pages/asked.h"
#include "pages/badges.h"
#include "pages/shown.h"
#include "pages/stores.h"
#include "pages/summed.h"
#include "pages/table.h"

/* The document of a view, as of x->data_version. */
struct document {
    const char *path, *search; /* of its address: without '?', and what comes after; borrowed */
    const struct view *view;
    struct http_query query;
    char *text; /* JSON, in x->keep; NULL: not there yet */
    size_t bytes;
};

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
    (void)view_make(d->view, &in, &d->text, &d->bytes, fault);
    summed_give_back(&loan);
    return fault->code;
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

/* Takes the text from the cache.  False: it is not there. */
static bool is_kept(struct exchange *x, struct document *d)
{
    uint64_t known = 0;
    const char *key = key_of(x, d);
    (void)known_of(x, d, &known);
    if (key != NULL)
        d->text = cache_get(x->dashboard->cache, key, x->data_version ^ known, &x->keep, &d->bytes);
    return d->text != NULL;
}

/* As make_document(), of a document that no other thread makes. */
static enum status make(struct exchange *x, struct document *d, const char *key, const char *known,
                        uint64_t version, struct fault *fault)
{
    struct store *store = NULL;
    if (store_pool_take(x->dashboard->stores, &store, fault) != ERR_NONE)
        return fault->code;
    store_begin_reading(store);
    d->text = key != NULL
                  ? shown_read(store, d->search[0] != '\0' ? key : d->path, &x->keep, &d->bytes)
                  : NULL;
    if ((d->text != NULL || write_view(x, store, known, d, fault) == ERR_NONE) && key != NULL)
        cache_put(x->dashboard->cache, key, version, d->text, d->bytes);
    store_end_reading(store);
    store_pool_give(x->dashboard->stores, store);
    return fault->code;
}

/* Takes the text from the cache, or makes it and keeps it there. */
static enum status make_document(struct exchange *x, struct document *d, struct fault *fault)
{
    struct cache *cache = x->dashboard->cache;
    uint64_t known_version = 0;
    const char *key = key_of(x, d);
    const char *known = known_of(x, d, &known_version);
    const uint64_t version = x->data_version ^ known_version;
    bool mine = false;
    while (!mine) {
        if (is_kept(x, d))
            return ERR_NONE;
        mine = key == NULL || cache_begin(cache, key, version);
    }
    const bool kept = is_kept(x, d); /* since the look above */
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
    if (make_document(x, &d, &fault) != ERR_NONE)
        return answer_fault(x, &fault);
    etag_of(d.text, d.bytes, etag);
    return answer_data(x, d.text, d.bytes, etag);
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

static enum status make_figures(struct exchange *x, figures_fn *write, const char *address,
                                char **text, size_t *bytes, struct fault *fault)
{
    struct store *store = NULL;
    struct summed_loan loan = {.runs = x->dashboard->summed, .version = x->data_version};
    const struct triage *triage = NULL;
    uint64_t run_id = 0;
    if (store_pool_take(x->dashboard->stores, &store, fault) != ERR_NONE)
        return fault->code;
    store_begin_reading(store);
    *text = shown_read(store, address, &x->keep, bytes);
    if (*text == NULL && store_find_run(store, "latest", &run_id, fault) == ERR_NONE &&
        summed_borrow(&loan, store, run_id, &x->keep, &triage, fault) == ERR_NONE)
        (void)figures_text(write, &triage->figures, address, &x->keep, text, bytes, fault);
    store_end_reading(store);
    store_pool_give(x->dashboard->stores, store);
    summed_give_back(&loan);
    return fault->code;
}

enum status exchange_figures(struct exchange *x, figures_fn *write, const char *address,
                             char **text, size_t *bytes, struct fault *fault)
{
    struct cache *cache = x->dashboard->cache;
    x->data_version = store_pool_version(x->dashboard->stores);
    *text = cache_get(cache, address, x->data_version, &x->keep, bytes);
    if (*text == NULL && make_figures(x, write, address, text, bytes, fault) == ERR_NONE)
        cache_put(cache, address, x->data_version, *text, *bytes);
    return fault->code;
}

int answer_badge(struct exchange *x)
{
    struct fault fault = FAULT_INIT;
    char *text = NULL, etag[ETAG_BYTES];
    size_t bytes = 0;
    const char *address = arena_printf(&x->keep, "/badge/%s", x->query.params[0]);
    if (address == NULL)
        return answer_error(x, 503, "no_memory", "There is no memory for this answer", NULL);
    if (exchange_figures(x, figures_badge, address, &text, &bytes, &fault) != ERR_NONE)
        return answer_fault(x, &fault);
    const struct answer_body body = {.mime = figures_mime(address),
                                     .body = text,
                                     .bytes = bytes,
                                     .etag = etag,
                                     .has_style = true};
    etag_of(text, bytes, etag);
    return answer_body(x, 200, &body);
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
