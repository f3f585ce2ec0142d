/* Handlers of data: views, health, kept files; and the figures of the newest run. */
#ifndef PAGES_API_H
#define PAGES_API_H

#include "http/exchange.h"
#include "http/route.h"
#include <stdio.h>

/* Puts what WRITE prints about the newest finished run into x->keep, with a NUL at its end.
 * Fails: ERR_ABSENT there is no such run; as WRITE. */
struct run_figures;
typedef enum status exchange_figures_fn(struct exchange *x, const struct run_figures *report,
                                        FILE *out, struct fault *fault);
enum status exchange_figures(struct exchange *x, exchange_figures_fn *write, char **text,
                             size_t *bytes, struct fault *fault);

/* Puts what was written to the temporary file OUT (NULL: there was none) into x->keep, with a NUL
 * at its end, and closes it. A fault that there was before stays. Fails: ERR_IO, ERR_MEMORY. */
enum status exchange_take(struct exchange *x, FILE *out, char **text, size_t *bytes,
                          struct fault *fault);

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

route_handler answer_view, answer_health, answer_artifact;

#endif
