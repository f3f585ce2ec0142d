/* What the files of rules share: a look at the rows around one difference, and the rules. */
#ifndef COMPARE_CAUSE_RULES_H
#define COMPARE_CAUSE_RULES_H

#include "base/text.h"
#include "compare/parts.h"

/* "module!0xOFFSET", "function" or "(no name)", and the engine's name or "truth", for evidence. */
const char *rule_where(const struct frame *frame, struct arena *keep);
const char *rule_name(const char *function);
const char *rule_engine(const struct difference *d, uint32_t column);

/* The frame of the engine in question, and the one that it is held against; NULL: none. */
const struct frame *rule_mine(const struct difference *d);
const struct frame *rule_theirs(const struct difference *d);

/* A frame is missing or too many: the column that has it, and the one that lacks it. */
bool rule_is_gap(const struct difference *d);
uint32_t rule_having(const struct difference *d);
uint32_t rule_lacking(const struct difference *d);

/* Both columns have a frame in ROW (a frame at the same place, unless one is the truth). */
bool rule_row_agrees(const struct difference *d, uint32_t row);

/* The rows around the difference that do not agree: [start, end). */
uint32_t rule_block_start(const struct difference *d);
uint32_t rule_block_end(const struct difference *d);

/* The nearest frame of COLUMN at or below ROW (further out), or above it; NULL: none. */
const struct frame *rule_next_frame(const struct difference *d, uint32_t row, uint32_t column);
const struct frame *rule_previous_frame(const struct difference *d, uint32_t row, uint32_t column);

/* The frame of COLUMN whose address decides the row: the one in it, else the next one out,
 * which holds the frames that were inlined into it.  NULL: the truth has no addresses. */
const struct frame *rule_host(const struct difference *d, uint32_t column);

/* Fills OUT; always true. */
bool rule_explain(struct explanation *out, enum cause cause, uint32_t blame, const char *evidence);

/* A rule fills OUT, its evidence in KEEP, and returns true, or passes. */
typedef bool rule_fn(const struct difference *d, struct arena *keep, struct explanation *out);

/* The shape of the stack: cause_shape.c. */
rule_fn because_scan;
rule_fn because_handler_context;
rule_fn because_recursion_elided;
rule_fn because_tail_call;
rule_fn because_inline_only;
rule_fn because_truncated;
rule_fn because_frame_pointer;

/* Addresses, symbols and names: cause_names.c. */
rule_fn because_module_unloaded;
rule_fn because_generated_code;
rule_fn because_symbols_mismatch;
rule_fn because_symbols_missing;
rule_fn because_export_only;
rule_fn because_lookup_address;
rule_fn because_folded;
rule_fn because_line_table;

#endif
