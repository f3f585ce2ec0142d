/* Who votes when engines disagree: engines that share the part in question count as one voter. The
 * table of who does is engine_votes (model/result.h), which the report prints.
 *
 * Masks of columns: bit C is column C, bit 0 is the truth. */
#ifndef COMPARE_BLAME_VOTERS_H
#define COMPARE_BLAME_VOTERS_H

#include "compare/align.h"

typedef uint32_t voter_fn(const struct table *t, uint32_t column);

/* What COLUMN has in common with others: bits of enum engine_share; 0 for the truth. */
uint32_t voter_parts(const struct table *t, uint32_t column);

/* The column of ENGINE; 0: it has none. */
uint32_t voters_column(const struct table *t, const char *engine);

/* The column whose walk COLUMN shows: its own, unless it uses another one's frames or unwinder. */
uint32_t voter_of_walk(const struct table *t, uint32_t column);

/* Voters for names: all engines that use our lookup count as the first of them. */
uint32_t voter_of_name(const struct table *t, uint32_t column);

/* How many voters the columns of MASK are. */
uint32_t voters_weigh(const struct table *t, uint32_t mask, voter_fn *voter);

/* True when COLUMN votes on ROW: it has a frame there, or its stack continues after the row or
 * ended well. */
bool voter_reaches(const struct table *t, uint32_t column, uint32_t row);

/* True when the truth has a frame in ROW that every right stack has. */
bool voters_truth(const struct table *t, uint32_t row);

/* True when COLUMN's walk ended before ROW and before a frame of the truth: it cannot say what
 * comes after that. Chains of frame pointers end so, with a return address of 0. */
bool voter_ended_early(const struct table *t, uint32_t column, uint32_t row);

/* True when MASK has at least two walkers of the process and no other engine, and OTHERS the truth
 * and no such walker: then the writer of their record is the one voter. */
bool voters_share_record(const struct table *t, uint32_t row, uint32_t mask, uint32_t others);

#endif
