/* Counting a stream: see count.h. This file has the reader, the generations and the hand-over to
 * the workers; count_worker.c reads and names stacks. */
#include "stream/count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/process.h"
#include "compare/signature_tally.h"
#include "stacks/notation.h"
#include "stream/count_worker.h"

enum { EXAMPLE_BYTES = 2048 };

/* Eight bytes at a time: the texts are long, and only this process uses the hash. */
static uint64_t hash_quickly(uint64_t hash, const char *text, size_t bytes)
{
    for (; bytes >= 8; text += 8, bytes -= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash_bytes(hash, text, bytes);
}

static struct generation *filling(struct counter *c)
{
    return &c->generations[c->filling];
}

/* ---- workers --------------------------------------------------------------------------- */

/* Takes some stacks of any generation; false: there are none. Called with the mutex held. */
static bool take_chunk(struct counter *c, uint32_t *generation, uint32_t *from, uint32_t *to)
{
    for (uint32_t k = 1; k <= GENERATIONS; k++) { /* the older generation first */
        const uint32_t i = (c->filling + k) % GENERATIONS;
        struct generation *g = &c->generations[i];
        if (g->taken == g->ready)
            continue;
        *generation = i;
        *from = g->taken;
        *to = g->ready - g->taken > CHUNK_STACKS ? g->taken + CHUNK_STACKS : g->ready;
        g->taken = *to;
        return true;
    }
    return false;
}

static void name_chunk(struct worker *worker, uint32_t generation, uint32_t from, uint32_t to)
{
    struct generation *g = &worker->counter->generations[generation];
    for (uint32_t i = from; i < to && worker->fault.code == ERR_NONE; i++)
        worker_name(worker, generation, &g->stacks[i]);
}

static void work(void *context)
{
    struct worker *worker = context;
    struct counter *c = worker->counter;
    uint32_t generation, from, to;

    mutex_lock(c->mutex);
    for (;;) {
        if (take_chunk(c, &generation, &from, &to)) {
            mutex_unlock(c->mutex);
            name_chunk(worker, generation, from, to);
            mutex_lock(c->mutex);
            c->generations[generation].done += to - from;
            signal_wake_all(c->changed);
        } else if (c->stopping) {
            break;
        } else {
            signal_wait(c->changed, c->mutex);
        }
    }
    mutex_unlock(c->mutex);
}

/* False: the reader does the work itself, as the only worker. */
static bool start_workers(struct counter *c)
{
    bool any = false;
    for (uint32_t i = 0; c->worker_count > 1 && i < c->worker_count; i++) {
        if (c->workers[i].thread == NULL)
            c->workers[i].thread = thread_start(work, &c->workers[i]);
        any = any || c->workers[i].thread != NULL;
    }
    return any;
}

/* Lets workers take the stacks that were added. */
static void submit(struct counter *c)
{
    struct generation *g = filling(c);
    const uint32_t from = g->ready;
    if (!start_workers(c)) {
        g->ready = g->taken = g->done = g->count;
        name_chunk(&c->workers[0], c->filling, from, g->count);
        return;
    }
    mutex_lock(c->mutex);
    g->ready = g->count;
    signal_wake_all(c->changed);
    mutex_unlock(c->mutex);
}

/* ---- generations ----------------------------------------------------------------------- */

/* Where a stack first came: its label, or its number. Or the text of its frames. */
static const char *example_of(const struct counter *c, const struct distinct_stack *d,
                              char out[EXAMPLE_BYTES])
{
    if (c->options->example_is_stack) {
        const char *text = d->text;
        size_t bytes = d->bytes;
        for (; bytes > 0 && (*text == '\n' || *text == '\r'); bytes--)
            text++;
        (void)snprintf(out, EXAMPLE_BYTES, "%.*s",
                       (int)(bytes < EXAMPLE_BYTES ? bytes : EXAMPLE_BYTES), text);
        return out;
    }
    if (d->label != NULL)
        return d->label;
    (void)snprintf(out, EXAMPLE_BYTES, "stack %llu", (unsigned long long)d->number);
    return out;
}

static enum status add_counts(struct counter *c, const struct distinct_stack *d)
{
    char text[EXAMPLE_BYTES];
    const char *example = example_of(c, d, text);
    c->result->bad += d->bad * d->count;
    for (const struct named_stack *n = d->stacks; n != NULL; n = n->next) {
        c->result->stacks += d->count;
        if (signature_tally_add(c->tally, n->signature, d->count, example, c->fault) != ERR_NONE)
            break;
    }
    return c->fault->code;
}

/* Waits until a generation is resolved, adds its counts to the tally and empties it. */
static enum status close_generation(struct counter *c, uint32_t index)
{
    struct generation *g = &c->generations[index];
    if (c->worker_count > 1) {
        mutex_lock(c->mutex);
        while (g->done < g->ready)
            signal_wait(c->changed, c->mutex);
        mutex_unlock(c->mutex);
    }
    for (uint32_t i = 0; i < c->worker_count; i++)
        if (c->workers[i].fault.code != ERR_NONE && c->fault->code == ERR_NONE)
            *c->fault = c->workers[i].fault;
    for (uint32_t i = 0; c->fault->code == ERR_NONE && i < g->count; i++)
        (void)add_counts(c, &g->stacks[i]);
    c->result->distinct += g->count;
    mutex_lock(c->mutex);
    g->count = g->ready = g->taken = g->done = 0;
    g->serial = ++c->emptied;
    mutex_unlock(c->mutex);
    memset(g->slots, 0, g->slot_count * sizeof *g->slots);
    arena_free(&g->keep);
    for (uint32_t i = 0; i < c->worker_count; i++)
        worker_forget(&c->workers[i], index);
    return c->fault->code;
}

/* Goes on in the other generation, whose stacks are counted first. */
static enum status next_generation(struct counter *c)
{
    submit(c);
    const uint32_t next = (c->filling + 1) % GENERATIONS;
    (void)close_generation(c, next);
    mutex_lock(c->mutex);
    c->filling = next;
    mutex_unlock(c->mutex);
    return c->fault->code;
}

static bool open_generations(struct counter *c)
{
    uint32_t slots = 2;
    while (slots / 2 < c->distinct_max)
        slots *= 2;
    for (uint32_t i = 0; i < GENERATIONS; i++) {
        struct generation *g = &c->generations[i];
        arena_init(&g->keep, 0);
        g->slot_count = slots;
        g->serial = i;
        g->stacks = calloc(c->distinct_max, sizeof *g->stacks);
        g->slots = calloc(slots, sizeof *g->slots);
        if (g->stacks == NULL || g->slots == NULL)
            return false;
    }
    return true;
}

/* ---- the reader ------------------------------------------------------------------------ */

static bool is_same(const struct distinct_stack *d, const struct distinct_stack *key)
{
    return d->hash == key->hash && d->bytes == key->bytes && d->stated_hash == key->stated_hash &&
           memcmp(d->text, key->text, key->bytes) == 0;
}

/* The lines about modules that apply to the next stack; one copy serves all stacks until they
 * change. */
static enum status set_stated(struct counter *c, struct generation *g, struct distinct_stack *d)
{
    const struct distinct_stack *last = g->count > 0 ? &g->stacks[g->count - 1] : NULL;
    d->stated = NULL;
    if (d->stated_hash == 0)
        return ERR_NONE;
    if (last != NULL && last->stated_hash == d->stated_hash) {
        d->stated = last->stated;
        d->stated_bytes = last->stated_bytes;
    } else {
        d->stated = stated_modules_text(c->modules, &g->keep, &d->stated_bytes);
    }
    return d->stated != NULL ? ERR_NONE : fault_no_memory(c->fault, "stacks");
}

/* Adds a stack that this generation does not have yet. */
static enum status add_distinct(struct counter *c, struct generation *g, uint32_t slot,
                                const struct distinct_stack *key, const struct stack_raw *raw)
{
    struct distinct_stack *d = &g->stacks[g->count];
    *d = *key;
    char *text = arena_alloc(&g->keep, (size_t)key->bytes + 2);
    if (raw->label != NULL)
        d->label = arena_text(&g->keep, raw->label, raw->label_bytes);
    if (text == NULL || (raw->label != NULL && d->label == NULL))
        return fault_no_memory(c->fault, "stacks");
    *text = '>'; /* an empty label, so that a stack without frames is one */
    memcpy(text + 1, key->text, key->bytes);
    d->text = text + 1;
    if (set_stated(c, g, d) != ERR_NONE)
        return c->fault->code;
    d->count = 1;
    g->slots[slot] = ++g->count;
    if (g->count - g->ready >= CHUNK_STACKS)
        submit(c);
    if (g->count == c->distinct_max || g->keep.used_bytes > GENERATION_BYTES)
        return next_generation(c);
    return ERR_NONE;
}

static enum status count_raw(struct counter *c, const struct stack_raw *raw, uint64_t number)
{
    struct generation *g = filling(c);
    /* with the end of the label's line: see add_distinct() */
    const size_t break_bytes = raw->label != NULL && raw->frames[-1] == '\n' ? 1 : 0;
    struct distinct_stack key = {.text = raw->frames - break_bytes,
                                 .bytes = (uint32_t)(raw->frame_bytes + break_bytes),
                                 .labelled = raw->label != NULL,
                                 .stated_hash = stated_modules_hash(c->modules),
                                 .number = number};
    key.hash = hash_quickly(HASH_START ^ key.stated_hash ^ key.labelled, key.text, key.bytes);
    uint32_t slot = hash_fold(key.hash) & (g->slot_count - 1);
    for (; g->slots[slot] != 0; slot = (slot + 1) & (g->slot_count - 1))
        if (is_same(&g->stacks[g->slots[slot] - 1], &key)) {
            g->stacks[g->slots[slot] - 1].count++;
            return ERR_NONE;
        }
    return add_distinct(c, g, slot, &key, raw);
}

static bool is_to_stop(const struct counter *c)
{
    return !c->options->to_the_end && process_interrupted();
}

static enum status count_text(struct counter *c, struct stack_input *input)
{
    struct stack_raw raw;
    uint64_t number = 0;

    while (c->fault->code == ERR_NONE && stack_raw_next(input, &raw)) {
        number++;
        if (raw.too_long) {
            c->result->bad++;
            continue;
        }
        if (count_raw(c, &raw, number) == ERR_NONE && raw.states)
            (void)stated_modules_add(c->modules, raw.frames, raw.frame_bytes, c->fault);
        if ((number & 1023) == 0 && is_to_stop(c))
            break;
    }
    if (stack_input_broken(input) && !is_to_stop(c))
        (void)fault_set(c->fault, ERR_IO, FAULT_NO_OFFSET, "reading the stacks");
    return c->fault->code;
}

/* Other forms: one stack after the other, through the first worker. */
static enum status count_items(struct counter *c, struct stack_input *input)
{
    struct worker *worker = &c->workers[0];
    struct stack_item item;
    uint64_t number = 0;
    char where[64];

    while (c->fault->code == ERR_NONE && stack_input_next(input, &worker->work, &item)) {
        if (item.fault.code == ERR_INTERRUPTED)
            break;
        (void)snprintf(where, sizeof where, "stack %llu", (unsigned long long)++number);
        if (item.fault.code == ERR_IO || item.fault.code == ERR_MEMORY)
            *c->fault = item.fault;
        c->result->bad += item.fault.code != ERR_NONE;
        if (item.fault.code == ERR_NONE) {
            const char *text = worker_signature(worker, &item, &worker->keep[0]);
            c->result->stacks++;
            c->result->distinct++;
            if (text == NULL)
                *c->fault = worker->fault;
            else
                (void)signature_tally_add(c->tally, text, 1,
                                          item.label != NULL ? item.label : where, c->fault);
        }
        arena_reset(&worker->work);
        if (item.is_event || (c->options->record_is_one && item.fault.code == ERR_NONE &&
                              stack_input_notation(input) == &notation_record))
            break;
        if (worker->keep[0].used_bytes > GENERATION_BYTES)
            worker_restart(worker);
        if (is_to_stop(c))
            break;
    }
    return c->fault->code;
}

static bool open_counter(struct counter *c)
{
    const struct count_options *o = c->options;
    c->distinct_max = o->distinct_max != 0 ? o->distinct_max : GENERATION_STACKS;
    c->worker_count = o->workers;
    c->emptied = GENERATIONS;
    c->mutex = mutex_new();
    c->changed = signal_new();
    c->modules = stated_modules_new();
    for (uint32_t i = 0; i < c->worker_count; i++)
        if (!worker_open(&c->workers[i], c))
            return false;
    return c->mutex != NULL && c->changed != NULL && c->modules != NULL && open_generations(c);
}

static void close_counter(struct counter *c)
{
    if (c->mutex != NULL && c->changed != NULL) {
        mutex_lock(c->mutex);
        c->stopping = true;
        signal_wake_all(c->changed);
        mutex_unlock(c->mutex);
    }
    for (uint32_t i = 0; i < c->worker_count; i++) {
        if (c->workers[i].thread != NULL)
            thread_join(c->workers[i].thread);
        worker_close(&c->workers[i]);
    }
    for (uint32_t i = 0; i < GENERATIONS; i++) {
        free(c->generations[i].stacks);
        free(c->generations[i].slots);
        arena_free(&c->generations[i].keep);
    }
    stated_modules_free(c->modules);
    signal_free(c->changed);
    mutex_free(c->mutex);
    free(c);
}

enum status count_stacks(const struct count_options *options, struct stack_input *input,
                         struct signature_tally *tally, struct count_result *result,
                         struct fault *fault)
{
    struct counter *c = calloc(1, sizeof *c);
    if (c == NULL)
        return fault_no_memory(fault, "stacks");
    c->options = options;
    c->tally = tally;
    c->result = result;
    c->fault = fault;
    if (!open_counter(c)) {
        (void)fault_no_memory(fault, "stacks");
    } else if (stack_input_find_notation(input) != &notation_text) {
        (void)count_items(c, input);
    } else {
        if (count_text(c, input) == ERR_NONE)
            submit(c);
        for (uint32_t k = 1; k <= GENERATIONS; k++)
            (void)close_generation(c, (c->filling + k) % GENERATIONS);
    }
    close_counter(c);
    return fault->code;
}
