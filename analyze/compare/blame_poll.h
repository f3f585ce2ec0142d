/* The vote about one row of a finding: who says what, and what a decided vote writes. Masks of
 * columns are as in blame_voters.h; they become votes by voters_weigh(). */
#ifndef COMPARE_BLAME_POLL_H
#define COMPARE_BLAME_POLL_H

#include "compare/align.h"

struct poll {
    const struct compare_input *in;
    const struct table *table;
    struct arena *keep;
    uint32_t row;
    uint32_t column, against; /* of the finding; 0: the truth */
};

/* True when the truth or COLUMN's frame in the row agrees with WANT. */
bool poll_says(const struct poll *p, uint32_t column, const struct frame *want, bool with_line);

/* True when COLUMN has a frame, inline or not, at PLACE; *IS_TRUTHS: one of them is a frame of the
 * truth. */
bool poll_holds_place(const struct poll *p, uint32_t column, const struct frame_key *place,
                      bool *is_truths);

/* Which columns have a frame at KEY's place in the row, and which have none or a different one.
 * Whether something is INLINED there, only those know that were there. */
void poll_place(const struct poll *p, const struct frame_key *key, bool inlined, uint32_t *have,
                uint32_t *lack);

/* Which columns agree with COLUMN about the row, and which disagree. */
void poll_name(const struct poll *p, uint32_t column, bool with_line, uint32_t *same,
               uint32_t *other);

/* Writes into F that COLUMN's part is to blame, and the columns of WITNESSES say so. */
void poll_settle(const struct poll *p, struct finding *f, enum blame blame, uint32_t column,
                 uint32_t witnesses);

/* Writes into F that the votes are even, unless it does not decide the verdict. */
void poll_settle_even(const struct poll *p, struct finding *f, uint32_t voters);

#endif
