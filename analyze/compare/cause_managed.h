/* Rules about managed code: what a .NET runtime did to a stack. */
#ifndef COMPARE_CAUSE_MANAGED_H
#define COMPARE_CAUSE_MANAGED_H

#include "compare/difference.h"

rule_fn because_no_token;
rule_fn because_inlined_by_jit;
rule_fn because_hijacked;

#endif
