/* Two runs compared, with the limits that the database has learned about this machine: the one
 * definition for `compare`, `gate` and the dashboard. */
#ifndef STUDY_RUN_DIFFERENCE_H
#define STUDY_RUN_DIFFERENCE_H

#include "base/json.h"
#include "model/difference.h"
#include "study/clusters.h"
#include "study/ratio.h"
#include "study/runs.h"

enum { DIFFERENCE_VERSION = 1 };

struct difference {
    const struct run_info *a, *b; /* before and now */
    struct run_diff diff;
    struct diff_limits limits;                  /* what an effect on times had to exceed */
    struct failures clusters;                   /* what broke, the most frequent first */
    const struct dump_ratio *ratio_a, *ratio_b; /* set by the caller; NULL: not read */
};

/* Compares B with A.  STORE gives the limits: the noise is what the A/A control of the newest bench
 * showed, or FLOOR (a share) if that is larger; a subject's fence is the largest deviation of its
 * medians in earlier runs of about as many cases.  What STORE does not know is 0.  OUT borrows A
 * and B. */
enum status difference_make(struct store *store, const struct diff_side *a,
                            const struct diff_side *b, double floor, struct arena *keep,
                            struct difference *out, struct fault *fault);

/* Which cases fail now and did not before, and how the environments differ: both sides may be of
 * DIFF_VERDICTS. OUT borrows A and B and has no times. Fails: ERR_MEMORY. */
enum status difference_of_verdicts(const struct diff_side *a, const struct diff_side *b,
                                   struct arena *keep, struct run_diff *out, struct fault *fault);

/* How the environments of two runs differ, whatever their cases; fills the facts of OUT. */
enum status difference_of_facts(const struct run_info *a, const struct run_info *b,
                                struct arena *keep, struct run_diff *out, struct fault *fault);

/* True when a subject's times are slower. */
bool difference_is_slower(const struct run_diff *diff);

/* What differs, in one sentence for people; returns OUT, cut if it is too long. */
enum { DIFFERENCE_SENTENCE_BYTES = 768 };
const char *difference_sentence(const struct difference *difference,
                                char out[DIFFERENCE_SENTENCE_BYTES]);

/* What a reader of a red CI job asks first, in KEEP: how many cases broke, whose fault most of them
 * are, since which commit. NULL: nothing broke. */
const char *difference_headline(const struct difference *difference, struct arena *keep);

/* Which cases of each group a document lists; counts are always of all cases. */
struct difference_rows {
    uint32_t most;         /* 0: all */
    enum diff_group group; /* of this one, AFTER cases come before those that are listed */
    uint32_t after;
};

/* The whole document. `broke`: how many cases are in its groups. */
void difference_write_json(struct json *j, const struct difference *difference,
                           const struct difference_rows *rows);

/* Its member `changes`, which lists each case once: {"new": [{scenario, variant, repeat, was, is,
 * signature, reason}...], "fixed": ..., "counts": {...}}. */
void difference_write_changes(struct json *j, const struct run_diff *diff,
                              const struct difference_rows *rows);

#endif
