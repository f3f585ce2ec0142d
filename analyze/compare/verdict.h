/* The verdict of a case. */
#ifndef COMPARE_VERDICT_H
#define COMPARE_VERDICT_H

#include "compare/input.h"

/* The case has a record or a dump. */
bool case_is_captured(const struct crash_case *crash);

/* Decides the verdict and its reason, and which engines are right. */
enum status judge_verdict(const struct compare_input *in, struct arena *keep,
                          struct case_result *out, struct fault *fault);

#endif
