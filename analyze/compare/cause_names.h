/* Rules about addresses, symbols and names. */
#ifndef COMPARE_CAUSE_NAMES_H
#define COMPARE_CAUSE_NAMES_H

#include "compare/mismatch.h"

rule_fn because_own_symbols;
rule_fn because_module_unloaded;
rule_fn because_generated_code;
rule_fn because_symbols_mismatch;
rule_fn because_symbols_missing;
rule_fn because_export_only;
rule_fn because_lookup_address;
rule_fn because_folded;
rule_fn because_line_table;

/* The generated code in or around a difference, and the column that has it; NULL: none. */
const struct frame *rule_generated(const struct difference *d, uint32_t *column);

#endif
