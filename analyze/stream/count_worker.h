/* The workers of a counter, and the generations of texts that they name. */
#ifndef STREAM_COUNT_WORKER_H
#define STREAM_COUNT_WORKER_H

#include "base/arena.h"
#include "base/thread.h"
#include "compare/signature.h"
#include "stacks/stack_raw.h"
#include "stream/count.h"
#include "stream/count_modules.h"
#include "symbol/symbol_store.h"

enum {
    GENERATION_STACKS = 1 << 17,
    GENERATION_BYTES = 32 << 20,
    CHUNK_STACKS = 64, /* what a worker takes at a time */
    GENERATIONS = 2    /* one is filled while the other is resolved */
};

/* Another stack of the same text, where one text holds several. */
struct named_stack {
    const char *signature;
    struct named_stack *next;
};

/* A text that differs from the others of its generation. */
struct distinct_stack {
    /* written by the reader */
    const char *text; /* the frames, in the generation's arena */
    uint32_t bytes;
    bool labelled;
    const char *label;  /* of the first one; NULL: none */
    const char *stated; /* the lines about modules that apply to it; NULL: none */
    size_t stated_bytes;
    uint64_t hash, stated_hash;
    uint64_t count, number; /* number: of the first one in the stream, from 1 */
    /* written by a worker, in its arena */
    struct named_stack *stacks;
    uint32_t bad;
};

struct generation {
    struct distinct_stack *stacks; /* owned; room for distinct_max */
    uint32_t count;
    uint32_t *slots; /* owned; by hash: 1 + index, 0: free */
    uint32_t slot_count;
    struct arena keep; /* of the reader */
    uint64_t serial;   /* how often it was emptied, over all generations */
    /* under the counter's mutex */
    uint32_t ready, taken, done; /* stacks that workers may take, have taken, have finished */
};

struct worker {
    struct counter *counter;
    struct thread *thread;
    struct stack_input *input;
    const char *stated;             /* the text that INPUT read last */
    struct arena work;              /* of one stack */
    struct arena keep[GENERATIONS]; /* the signatures of each generation */
    struct text_set *texts;         /* of the generation being resolved, each once */
    struct signature_builder *builder;
    uint64_t serial; /* of the generation whose texts they are; UINT64_MAX: none */
    struct fault fault;
};

struct counter {
    const struct count_options *options;
    struct signature_tally *tally;
    struct count_result *result;
    struct generation generations[GENERATIONS];
    uint32_t filling; /* index of the generation that the reader fills */
    uint32_t distinct_max;
    uint64_t emptied; /* serial of the generation that was emptied last */
    struct worker workers[COUNT_WORKERS_MAX];
    uint32_t worker_count;
    struct mutex *mutex;
    struct signal *changed;
    bool stopping;
    struct stated_modules *modules;
    struct fault *fault;
};

bool worker_open(struct worker *worker, struct counter *counter);
void worker_close(struct worker *worker);

/* Forgets the signatures of a generation whose counts are in the tally. */
void worker_forget(struct worker *worker, uint32_t generation);

/* The same for a worker that has no thread and names stacks without generations. */
void worker_restart(struct worker *worker);

/* Reads, resolves and names a text. */
void worker_name(struct worker *worker, uint32_t generation, struct distinct_stack *stack);

/* Resolves a stack as far as its signature needs. The signature is in KEEP. NULL: see the worker's
 * fault. */
const char *worker_signature(struct worker *worker, const struct stack_item *item,
                             struct arena *keep);

#endif
