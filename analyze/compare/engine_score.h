/* Figures of one engine on one case. */
#ifndef COMPARE_ENGINE_SCORE_H
#define COMPARE_ENGINE_SCORE_H

#include "compare/input.h"

/* Fills the scores of one claim from the marked threads. */
void score_claim(const struct compare_input *in, const struct case_result *result, uint32_t claim,
                 struct engine_score *out);

#endif
