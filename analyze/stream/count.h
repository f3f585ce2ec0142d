/* Resolves and counts a stream of offset stacks in one pass. A record of a crash or hang counts as
 * one stack, that of record_crash_stack(); the signature of a hang begins with "hang: ", that of a
 * capture on demand with "on demand: ".
 *
 * The caller's thread reads stacks as bytes (stacks/stack_raw.h) and counts those that it has seen
 * before; workers read, resolve and name the others. Stacks are gathered into generations of a
 * bounded size. The counts of a generation go into the tally in the order in which its stacks first
 * came, so the result does not depend on the number of workers.
 *
 * Input in other forms (JSON, records) is resolved stack by stack in the caller's thread. */
#ifndef STREAM_COUNT_H
#define STREAM_COUNT_H

#include <stdbool.h>

#include "base/fault.h"

struct signature_rules;
struct signature_tally;
struct stack_input;
struct symbol_store;

enum { COUNT_WORKERS_MAX = 64 };

struct count_options {
    struct symbol_store *store;
    const struct signature_rules *rules;
    uint32_t workers;      /* 1 to COUNT_WORKERS_MAX */
    uint32_t distinct_max; /* different stacks of one generation; 0: the usual number */
    bool record_is_one;    /* also of a record of captures on demand only the first one counts */
    bool example_is_stack; /* the example is the text of the frames, not the label */
    bool to_the_end;       /* also after a signal asked this process to end */
};

struct count_result {
    uint64_t stacks, distinct; /* distinct: those that had to be read, at most STACKS */
    uint64_t bad;              /* lines, objects and stacks that could not be read */
};

/* Adds the stacks of INPUT to TALLY and to RESULT. Fails: ERR_MEMORY; ERR_IO the stream could not
 * be read to its end. A signal that asks this process to end is the end of the stream, unless
 * `to_the_end`. */
enum status count_stacks(const struct count_options *options, struct stack_input *input,
                         struct signature_tally *tally, struct count_result *result,
                         struct fault *fault);

#endif
