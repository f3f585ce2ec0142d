/* Rules about managed code: what a .NET runtime did to a stack. */
#ifndef COMPARE_CAUSE_MANAGED_H
#define COMPARE_CAUSE_MANAGED_H

#include "compare/mismatch.h"

rule_fn because_no_token;
rule_fn because_inlined_by_jit;
rule_fn because_hijacked;

/* Whether one of these explains why a frame is missing that the truth says is gone. */
bool is_managed_gap(const struct difference *d, struct arena *keep);

#endif
