/* What a page asks for first (web_first in web/web.h), which is sent inside the page, so that the
 * page is drawn without another request. */
#ifndef PAGES_FIRST_H
#define PAGES_FIRST_H

#include "pages/api.h"

enum { FIRST_MAX = 2 };

struct first {
    const char *addresses[FIRST_MAX]; /* as the script spells them; in the exchange's memory */
    struct document documents[FIRST_MAX];
    size_t count;
    bool begins_with_case; /* the case that the queue begins with comes second */
};

/* Finds what the page of X asks for: nothing where its address has a query that the page passes on
 * in ways of its own, nor where data need the token, since pages do not. */
void first_find(struct exchange *x, struct first *out);

/* Takes all of it from the cache.  False: a part is not there. */
bool first_kept(struct exchange *x, struct first *first);

/* Makes what has no text yet.  What fails is left out: the script asks for it again, and shows the
 * error. */
void first_make(struct exchange *x, struct first *first);

/* The end of the page: an element that is no script, with JSON {version, answers: {ADDRESS: {etag,
 * data}}}, and then TAIL.  NULL when out of memory. */
const char *first_write(struct exchange *x, const struct first *first, const char *tail,
                        size_t *bytes);

#endif
