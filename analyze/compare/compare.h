/* Compares the stacks of a case with its truth and with each other.
 *
 * Rules, each with a test:
 * - Stacks are aligned as sequences, so a missing frame leaves a gap and shifts no other frame.
 * - The truth is compared with the subsequence of `own` logical frames.  An own frame that
 *   the truth lacks is a wrong extra frame; frames of other classes count only at the
 *   physical level.
 * - Files compare after '\' -> '/', relative to the case's source_root.
 * - A truth frame marked `tail` must be absent; marks (gaps) are not frames.
 * - Physical match: module identity, offset and kind are equal, up to the place where each stack
 * stops; entries past RtlUserThreadStart are cut.
 * - Every difference is a finding with a cause and evidence; without a cause it is UNEXPLAINED.
 * - Subjects decide the verdict; reference engines are only scored and shown.
 * - Threads that were sampled more than once compare as sets: the best pair counts. */
#ifndef COMPARE_COMPARE_H
#define COMPARE_COMPARE_H

#include "compare/input.h"
#include "compare/same_names.h"

/* Judges one case.  The result borrows the claims and the truth and lives in KEEP.
 * Fails: ERR_LIMIT too many claims; ERR_MEMORY. */
enum status compare_case(const struct compare_input *in, struct arena *keep,
                         struct case_result *out, struct fault *fault);

#endif
