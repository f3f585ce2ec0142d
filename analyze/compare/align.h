/* The table of one thread: the truth and every stack side by side, row by row. */
#ifndef COMPARE_ALIGN_H
#define COMPARE_ALIGN_H

#include "compare/input.h"

/* What alignment needs to know about a frame, computed once. */
struct frame_key {
    uint64_t name, last_name; /* hashes; 0: unknown                       */
    uint64_t offset;
    const char *file;
    uint32_t module; /* number of the module in this case; 0: no module */
    uint32_t line;
    uint16_t inline_depth;
    bool own;       /* can be compared with the truth                  */
    bool nameless;  /* in an own image, but its name is unreliable */
    bool mark;      /* truth: a mark, not a frame                     */
    bool tail;      /* truth: demanded absent                         */
    bool qualified; /* truth: the name contains "::" */
};

/* One column of a thread's table: the truth or one engine's stack. */
struct column {
    const struct engine_claim *claim; /* NULL: the truth            */
    const struct stack *stack;        /* NULL: nothing to show      */
    const struct truth_thread *truth;
    const struct frame_key *keys;
    uint32_t count; /* frames up to the thread's start; later ones are cut off */
};

/* Rows of two columns that follow each other and disagree: [start, end). */
struct row_block {
    uint32_t column, against, start, end;
};

/* The table of one thread. */
struct table {
    uint32_t column_count, row_count;
    struct column *columns;       /* 0: truth, 1 + i: claim i */
    int32_t *cells;               /* row_count x column_count: frame or -1 */
    uint32_t reference;           /* column that the others are compared with; 0: none */
    struct row_block *last_block; /* that was asked for, by rules; NULL: it is not kept */
};

/* The distinct modules of a case, numbered, so that identities are compared once per module. */
struct module_list {
    struct module_entry {
        const struct module *module; /* NULL: known by name only */
        const char *name;
    } *entries;
    uint32_t count, room;
};

/* Makes a column's keys and cuts it after the thread's start. */
enum status column_prepare(struct column *column, const struct crash_case *crash,
                           struct module_list *modules, struct arena *scratch, struct fault *fault);

/* Aligns the columns into rows, the reference first, the truth last. */
enum status table_build(struct table *table, const char *root, struct arena *scratch,
                        struct fault *fault);

/* How alike two columns are: by the sum of similarities of the best alignment, and among equals by
 * how few frames one has more than the other. */
enum status column_similarity(const struct column *a, const struct column *b, struct arena *scratch,
                              uint64_t *out, struct fault *fault);

/* The frame at ROW of an engine's column, NULL: none. */
const struct frame *table_frame(const struct table *table, uint32_t row, uint32_t column);
const struct truth_frame *table_truth(const struct table *table, uint32_t row);
const struct frame_key *table_key(const struct table *table, uint32_t row, uint32_t column);

/* Same module: by identity where both sides know one, else by name. */
bool frames_same_module(const struct frame *a, const struct frame *b);

/* True when the case names FRAME's module as one of its own. */
bool frame_in_own_image(const struct crash_case *crash, const struct frame *frame);

/* Same module and offset. */
bool keys_same_place(const struct frame_key *a, const struct frame_key *b);

#endif
