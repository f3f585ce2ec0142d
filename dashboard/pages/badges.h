/* What is printed of a run's figures for others: badges, metrics. */
#ifndef PAGES_BADGES_H
#define PAGES_BADGES_H

#include <stdio.h>

#include "base/arena.h"
#include "base/fault.h"
#include "report/badge.h"

struct run_figures;

/* Prints what ADDRESS is answered with, of FIGURES. */
typedef enum status figures_fn(const struct run_figures *figures, const char *address,
                               struct arena *scratch, FILE *out, struct fault *fault);

/* METRIC.json below /badge/ in the form that shields reads, and METRIC.svg, the same as a picture.
 * Fails: ERR_ABSENT, ERR_USAGE there is no such badge. */
figures_fn figures_badge;
figures_fn figures_metrics; /* /metrics */

/* The media type of the badge of ADDRESS, which figures_badge() has printed. */
const char *figures_mime(const char *address);

/* All addresses of such answers. */
enum { FIGURES_COUNT = 1 + 2 * BADGES_COUNT };
struct figures_answer {
    const char *address;
    figures_fn *write;
};
extern const struct figures_answer figures_answers[FIGURES_COUNT];

/* What WRITE prints, in KEEP with a NUL at its end. Fails: as WRITE; ERR_IO; ERR_MEMORY. */
enum status figures_text(figures_fn *write, const struct run_figures *figures, const char *address,
                         struct arena *keep, char **text, size_t *bytes, struct fault *fault);

/* What was written to the temporary file OUT (NULL: there was none), in KEEP with a NUL at its end;
 * closes it. A fault that there was before stays. Fails: ERR_IO, ERR_MEMORY. */
enum status take_temporary(FILE *out, struct arena *keep, char **text, size_t *bytes,
                           struct fault *fault);

#endif
