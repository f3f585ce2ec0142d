/* Handlers of data: views, badges, health, kept files. */
#ifndef PAGES_API_H
#define PAGES_API_H

#include "http/exchange.h"
#include "http/route.h"
#include "pages/figures.h"

/* What WRITE (figures.h) prints of the newest finished run for ADDRESS, in x->keep with a NUL at
 * its end. Fails: ERR_ABSENT there is no such run; as WRITE. */
enum status exchange_figures(struct exchange *x, figures_fn *write, const char *address,
                             char **text, size_t *bytes, struct fault *fault);

/* The document of a view, as of x->data_version. */
struct document {
    const char *path, *search; /* of its address: without '?', and what comes after; borrowed */
    const struct view *view;
    struct http_query query;
    char *text; /* JSON, in x->keep; NULL: not there yet */
    size_t bytes;
};

/* The document that GET ADDRESS answers with, without its text.  False: there is none. */
bool document_find(struct exchange *x, const char *address, struct document *out);

/* Takes the text from the cache.  False: it is not there. */
bool document_kept(struct exchange *x, struct document *d);

/* Takes the text from the cache, or writes it and keeps it there. */
enum status document_make(struct exchange *x, struct document *d, struct fault *fault);

route_handler answer_view, answer_badge, answer_health, answer_artifact;

#endif
