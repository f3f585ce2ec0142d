/* A worker of the counter: reads the frames of a text, resolves as many as its signature needs, and
 * returns the signature. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "stream/count_worker.h"

/* ---- the signatures of a generation, each once ----------------------------------------- */

enum { TEXTS_FIRST = 1024 };

struct text_set {
    const char **texts; /* owned; open addressing, NULL: free */
    uint32_t slots, count;
};

static uint32_t text_slot(const struct text_set *set, const char *text)
{
    uint32_t slot = hash_fold(hash_text(HASH_START, text)) & (set->slots - 1);
    while (set->texts[slot] != NULL && strcmp(set->texts[slot], text) != 0)
        slot = (slot + 1) & (set->slots - 1);
    return slot;
}

static bool widen(struct text_set *set)
{
    struct text_set wider = {.slots = set->slots == 0 ? TEXTS_FIRST : set->slots * 2,
                             .count = set->count};
    wider.texts = (const char **)calloc(wider.slots, sizeof *wider.texts);
    if (wider.texts == NULL)
        return false;
    for (uint32_t i = 0; i < set->slots; i++)
        if (set->texts[i] != NULL)
            wider.texts[text_slot(&wider, set->texts[i])] = set->texts[i];
    free((void *)set->texts);
    *set = wider;
    return true;
}

/* The one copy of TEXT in KEEP; NULL: out of memory. */
static const char *text_once(struct text_set *set, const char *text, struct arena *keep)
{
    if (set->count >= set->slots / 2 && !widen(set))
        return NULL;
    const uint32_t slot = text_slot(set, text);
    if (set->texts[slot] == NULL && (set->texts[slot] = arena_string(keep, text)) != NULL)
        set->count++;
    return set->texts[slot];
}

/* ---- a worker -------------------------------------------------------------------------- */

bool worker_open(struct worker *worker, struct counter *counter)
{
    worker->counter = counter;
    worker->serial = UINT64_MAX;
    fault_clear(&worker->fault);
    arena_init(&worker->work, 0);
    for (uint32_t i = 0; i < GENERATIONS; i++)
        arena_init(&worker->keep[i], 0);
    worker->texts = calloc(1, sizeof *worker->texts);
    worker->builder = signature_builder_new(counter->options->rules);
    return worker->texts != NULL && worker->builder != NULL &&
           stack_input_open_text(&worker->input, &worker->fault) == ERR_NONE;
}

void worker_close(struct worker *worker)
{
    stack_input_close(worker->input);
    signature_builder_free(worker->builder);
    if (worker->texts != NULL)
        free((void *)worker->texts->texts);
    free(worker->texts);
    arena_free(&worker->work);
    for (uint32_t i = 0; i < GENERATIONS; i++)
        arena_free(&worker->keep[i]);
}

void worker_forget(struct worker *worker, uint32_t generation)
{
    arena_free(&worker->keep[generation]);
}

/* The texts of the set are those of one generation. */
static void enter_generation(struct worker *worker, uint64_t serial)
{
    if (worker->serial == serial)
        return;
    worker->serial = serial;
    worker->stated = NULL; /* its text is in a generation's arena */
    worker->texts->count = 0;
    if (worker->texts->slots > 0)
        memset((void *)worker->texts->texts, 0, worker->texts->slots * sizeof(char *));
}

void worker_restart(struct worker *worker)
{
    arena_free(&worker->keep[0]);
    enter_generation(worker, worker->serial + 1);
}

/* A frame of the capture is marked by the record. */
static enum frame_class class_of(const struct frame *frame)
{
    if (frame->frame_class == CLASS_CAPTURE)
        return CLASS_CAPTURE;
    return frame->module_name != NULL && symbol_is_system_module(frame->module_name) ? CLASS_SYSTEM
                                                                                     : CLASS_OWN;
}

const char *worker_signature(struct worker *worker, const struct stack_item *item,
                             struct arena *keep)
{
    const struct stack *stack = &item->stack;
    struct symbol_store *store = worker->counter->options->store;
    bool goes_on = true, failed = false;

    signature_builder_start(worker->builder);
    symbol_store_expect(store, stack);
    for (uint32_t i = 0; goes_on && i < stack->frame_count; i++) {
        const struct stack one = {.frames = &stack->frames[i], .frame_count = 1};
        struct stack out;
        if (symbol_resolve_stack(store, &one, &worker->work, &out, &worker->fault) != ERR_NONE)
            return NULL;
        struct frame *in = &stack->frames[i];
        const enum frame_class frame_class = class_of(in);
        in->frame_class = frame_class == CLASS_OWN ? in->frame_class : frame_class;
        const bool stable = in->module != NULL && in->symbols != SYMBOLS_JIT;
        for (uint32_t k = 0; goes_on && k < out.frame_count; k++) {
            out.frames[k].frame_class = frame_class;
            goes_on = signature_builder_add(worker->builder, &out.frames[k], stable);
        }
    }
    const char *text = signature_builder_text(worker->builder, &failed);
    if (text == NULL && !failed)
        text = signature_of_none(stack, &worker->work);
    if (text != NULL && item->kind != NULL)
        text = arena_printf(&worker->work, "%s: %s", item->kind, text);
    text = text != NULL ? text_once(worker->texts, text, keep) : NULL;
    if (text == NULL)
        (void)fault_no_memory(&worker->fault, "signatures");
    return text;
}

static void read_stated(struct worker *worker, const struct distinct_stack *stack)
{
    struct stack_item item;
    if (stack->stated == NULL || stack->stated == worker->stated ||
        stack_input_feed(worker->input, stack->stated, stack->stated_bytes, &worker->fault) !=
            ERR_NONE)
        return;
    while (stack_input_next(worker->input, &worker->work, &item))
        continue;
    worker->stated = stack->stated;
}

void worker_name(struct worker *worker, uint32_t generation, struct distinct_stack *stack)
{
    struct named_stack **end = &stack->stacks;
    struct stack_item item;

    enter_generation(worker, worker->counter->generations[generation].serial);
    arena_reset(&worker->work);
    read_stated(worker, stack);
    const size_t label = stack->labelled ? 1 : 0; /* an empty one is before the text */
    if (stack_input_feed(worker->input, stack->text - label, stack->bytes + label,
                         &worker->fault) != ERR_NONE)
        return;
    while (worker->fault.code == ERR_NONE &&
           stack_input_next(worker->input, &worker->work, &item)) {
        if (item.fault.code == ERR_MEMORY)
            (void)fault_no_memory(&worker->fault, "stacks");
        stack->bad += item.fault.code != ERR_NONE;
        if (item.fault.code != ERR_NONE)
            continue;
        struct named_stack *named = ARENA_NEW(&worker->keep[generation], struct named_stack);
        const char *text = worker_signature(worker, &item, &worker->keep[generation]);
        if (named == NULL || text == NULL) {
            (void)fault_no_memory(&worker->fault, "signatures");
            return;
        }
        named->signature = text;
        *end = named;
        end = &named->next;
    }
}
