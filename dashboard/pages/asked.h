/* What requests of views name: runs, cases, numbers. */
#ifndef PAGES_ASKED_H
#define PAGES_ASKED_H

#include "pages/view.h"
#include "study/triage.h"

/* The run that parameter or query word WORD names; NULL: the latest. */
enum status view_find_run(const struct view_input *in, const char *word, uint64_t *run_id,
                          struct fault *fault);

/* The cases of run WORD in the queue's order, and its figures: those that the caller of the view
 * has, else made here. */
enum status view_get_triage(const struct view_input *in, const char *word,
                            const struct triage **out, struct fault *fault);

/* The figures that are with these cases. */
enum status view_read_figures(const struct view_input *in, uint64_t run_id, struct run_figures *out,
                              struct fault *fault);

/* A number of the query, NAME (never freed); FALLBACK when absent.  Fails: ERR_USAGE not a number
 * or over MAX; the hint is NAME. */
enum status view_get_uint(const struct view_input *in, const char *name, uint64_t fallback,
                          uint64_t max, uint64_t *out, struct fault *fault);

/* How many entries a page is to have: at least one.  Fails: as view_get_uint(). */
enum status view_get_limit(const struct view_input *in, uint64_t fallback, uint64_t *out,
                           struct fault *fault);

/* Every name of the query is one of ALLOWED ("a, b"; NULL: none) and is there once: a filter that
 * is not read would answer with everything.  Fails: ERR_USAGE; the hint is ALLOWED. */
enum status view_check_names(const struct http_query *query, const char *allowed,
                             struct fault *fault);

/* The filters `verdict`, `kind` and `cause` of a query. */
struct view_filters {
    enum case_kind kind;         /* CASE_KIND_NONE: any */
    const enum verdict *verdict; /* NULL: any           */
    const enum cause *cause;     /* NULL: any           */
    enum verdict verdict_given;  /* what these point to */
    enum cause cause_given;
};

/* Fails: ERR_USAGE for a word that this program does not know; the hint has the allowed words. */
enum status view_read_filters(const struct view_input *in, struct view_filters *out,
                              struct fault *fault);

/* The case that the path names, whole: params are run and case, the query may say repeat. */
enum status view_read_case(const struct view_input *in, struct run_case *out, struct fault *fault);

/* Where the dump of C is, in KEEP; NULL: it has none, or it is not kept any more. */
const char *view_dump_path(const struct run_case *c, struct arena *keep);

void view_write_page(struct json *out, uint64_t total, uint64_t next);

#endif
