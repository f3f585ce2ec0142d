/* The builds of a run, and which of them this host did not run at all: a host that lacks the 32-bit
 * half of Wine, or a .NET runtime, must not look like one on which all builds passed. */
#ifndef STUDY_LANES_H
#define STUDY_LANES_H

#include "base/json.h"
#include "study/figures.h"

/* The name of a fact in run_info.environment: the builds that toolchain.json lists and that have no
 * program. (Those of x86 are in the list of cases nevertheless, see collect_list().) */
#define RUN_FACT_NOT_BUILT "builds without a program"

/* The builds that were not run, with the reason and, of a run in a database, since when: "x86-ob0,
 * x86-ob2 (no wine32), since run 7 (abcdef012345), run 6 was good; lua-ob0 (not built)".  NULL: all
 * were, or KEEP is full. */
const char *lanes_not_run(const struct run_figures *figures, struct arena *keep);

/* How many cases of each architecture and runtime were run, of those that the run lists: "x64 664
 * of 712, x86 282 of 336".  NULL: no case, or KEEP is full. */
const char *lanes_counts(const struct run_figures *figures, struct arena *keep);

/* The members "lanes" and "not_run" of an object: see report/README.md. */
void lanes_write_json(struct json *j, const struct run_figures *figures);

/* The builds that the earlier side of DIFF ran, while the later one lists their cases and ran none:
 * "x86-ob0 (336 cases)". Cases that are gone are not counted. NULL: none. */
const char *lanes_lost(const struct run_diff *diff, struct arena *keep);

/* Counts C in LANES, which has room for LANES_MAX; texts are copied into KEEP.  A build that finds
 * no room is not counted. */
void lane_add(struct lane_total *lanes, uint32_t *count, const struct run_case *c,
              struct arena *keep);

#endif
