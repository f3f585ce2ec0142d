/* Rules about the shape of a stack: where a walk began, how it continued, and where it ended. */
#ifndef COMPARE_CAUSE_SHAPE_H
#define COMPARE_CAUSE_SHAPE_H

#include "compare/mismatch.h"

rule_fn because_scan;
rule_fn because_handler_context;
rule_fn because_recursion_elided;
rule_fn because_tail_call;
rule_fn because_inline_only;
rule_fn because_truncated;
rule_fn because_frame_pointer;
rule_fn because_beyond_truth;

#endif
