/* One difference between two columns, and the rows around it: the data that all cause rules work
 * on. */
#ifndef COMPARE_MISMATCH_H
#define COMPARE_MISMATCH_H

#include "compare/align.h"

/* One difference and its context. */
struct difference {
    const struct compare_input *in;
    const struct table *table;
    uint32_t row;
    uint32_t column;  /* the engine in question                       */
    uint32_t against; /* 0: the truth, else the reference's column    */
    enum cell_mark mark;
};

struct explanation {
    enum cause cause;
    const char *evidence;
    uint32_t blame; /* column that is wrong; 0: unknown */
    struct finding_facts facts;
};

/* "module!0xOFFSET", "function" or "(no name)", and the engine's name or "truth", for evidence. */
const char *rule_where(const struct frame *frame, struct arena *keep);
const char *rule_name(const char *function);
const char *rule_engine(const struct difference *d, uint32_t column);

/* The frame of the engine in question and the frame it is compared with; NULL: none. */
const struct frame *rule_mine(const struct difference *d);
const struct frame *rule_theirs(const struct difference *d);

/* A frame is missing or extra: the column that has it and the column that lacks it. */
bool rule_is_gap(const struct difference *d);
uint32_t rule_having(const struct difference *d);
uint32_t rule_lacking(const struct difference *d);

/* Both columns have a frame in ROW (a frame at the same place, unless one is the truth). */
bool rule_row_agrees(const struct difference *d, uint32_t row);

/* The rows around the difference that disagree too: [start, end). */
uint32_t rule_block_start(const struct difference *d);
uint32_t rule_block_end(const struct difference *d);

/* The nearest frame of COLUMN at or below ROW (further out), or above it; NULL: none. */
const struct frame *rule_next_frame(const struct difference *d, uint32_t row, uint32_t column);
const struct frame *rule_previous_frame(const struct difference *d, uint32_t row, uint32_t column);

/* The frame of COLUMN whose address decides the row: the one in it, else the next one out, into
 * which the row's frames were inlined. NULL: the truth has no addresses. */
const struct frame *rule_host(const struct difference *d, uint32_t column);

/* The offset that symbols must be asked about. It is computed separately from
 * frame_lookup_offset(), so that an error there does not also mislead the comparison. */
uint64_t rule_lookup_offset(const struct frame *frame);

/* True when FRAME is in no module, at an address above those that any system gives to programs. */
bool rule_is_made_up(const struct frame *frame);

/* Where the difference is: the function as the truth or else the other side names it, and the
 * module of the frame or, where there is none, of the next one out; NULL: unknown. */
const char *rule_function(const struct difference *d);
const char *rule_module(const struct difference *d);

/* Fills OUT, all but its facts; always true. */
bool rule_explain(struct explanation *out, enum cause cause, uint32_t blame, const char *evidence);

/* A rule either fills OUT, with its evidence in KEEP, and returns true, or returns false to
 * pass. */
typedef bool rule_fn(const struct difference *d, struct arena *keep, struct explanation *out);

/* True for causes that are no engine's fault: a stack with only such differences is right. */
bool cause_is_innocent(enum cause cause);

/* True when the walk reached the thread's start, or gives no reason for its end. */
bool stop_is_end(enum stop_reason stop);

#endif
