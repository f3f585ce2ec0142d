/* A run of cases that were judged without a database, put into one. */
#ifndef STUDY_RUN_KEEP_H
#define STUDY_RUN_KEEP_H

#include "model/run.h"
#include "store/archive.h"

/* Stores CASES as a complete run with the facts of INFO, whose id is set. Fails: as
 * store_begin_run(). */
enum status run_keep(struct store *store, struct run_info *info, struct run_case *cases,
                     uint32_t count, struct arena *keep, struct fault *fault);

/* The same for cases that are not in memory together: begin, put each, end. */
enum status run_keep_begin(struct store *store, struct run_info *info, struct arena *keep,
                           struct fault *fault);
enum status run_keep_case(struct store *store, const struct run_info *info, struct run_case *c,
                          struct fault *fault);
enum status run_keep_end(struct store *store, const struct run_info *info, bool interrupted,
                         struct fault *fault);

#endif
