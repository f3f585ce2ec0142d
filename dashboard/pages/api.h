/* Handlers of data: views, badges, health, kept files. */
#ifndef PAGES_API_H
#define PAGES_API_H

#include "http/exchange.h"
#include "http/route.h"
#include "pages/badges.h"

/* What WRITE (badges.h) prints of the newest finished run for ADDRESS, in x->keep with a NUL at
 * its end. Fails: ERR_ABSENT there is no such run; as WRITE. */
enum status exchange_figures(struct exchange *x, figures_fn *write, const char *address,
                             char **text, size_t *bytes, struct fault *fault);

route_handler answer_view, answer_badge, answer_health, answer_artifact;

#endif
