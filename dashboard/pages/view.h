/* What the pages show: one JSON document per view.
 *
 * A view is a row of one table (table.h): a path pattern and a function that writes the document.
 * Views only read, and the same database gives the same bytes. One more is a function here and its
 * row in pages.def, where the page that shows it has one, too; CONTRIBUTING.md has the recipe. */
#ifndef PAGES_VIEW_H
#define PAGES_VIEW_H

#include "base/arena.h"
#include "base/fault.h"
#include "base/json.h"
#include "http/query_string.h"
#include "study/runs.h"

struct summed_loan; /* pages/summed.h */
struct triage;      /* study/triage.h */

struct view_input {
    struct store *store;
    const struct http_query *query;
    const char *known_text;      /* the file of known mismatches; NULL: none is kept */
    const struct triage *triage; /* of the run that all views are asked about; NULL: see
                                    view_get_triage() */
    struct summed_loan *loan;    /* of a request to the server; NULL: nothing is shared */
    struct arena *keep;
};

typedef enum status view_function(const struct view_input *in, struct json *out,
                                  struct fault *fault);

/* All views. */
#define PAGE(...)
#define VIEW(address, summary, write, query) view_function write;
#include "pages/pages.def"
#undef VIEW
#undef PAGE

#endif
